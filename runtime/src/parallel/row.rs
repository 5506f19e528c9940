//! Rows of a length that is known to the compiler, and rows that are filled up to one.

/// A row of an array of rows: one comparison says whether it is there, and none is left for its elements.
///
/// ```
/// let rows = [1.0, 2.0, 3.0, 4.0];
/// assert_eq!(spc::parallel::row::<2, _>(&rows, 1), &[3.0, 4.0]);
/// ```
///
/// # Panics
/// When there is no such row.
#[inline(always)]
pub fn row<const LENGTH: usize, T>(rows: &[T], place: usize) -> &[T; LENGTH] {
    &rows.as_chunks().0[place]
}

/// So many elements of an array from a place on: as [`row`], where rows do not begin at multiples of their length.
///
/// ```
/// let elements = [1.0, 2.0, 3.0, 4.0];
/// assert_eq!(spc::parallel::row_at::<2, _>(&elements, 1), &[2.0, 3.0]);
/// ```
///
/// # Panics
/// When the array ends before.
#[inline(always)]
pub fn row_at<const LENGTH: usize, T>(elements: &[T], first: usize) -> &[T; LENGTH] {
    // In a loop this is the same each time, which leaves one comparison.
    let last = elements.len().checked_sub(LENGTH);
    match last {
        // SAFETY: from `first` on there are at least `LENGTH` elements, and an array lies in memory as so many elements do.
        Some(last) if first <= last => unsafe { &*elements.as_ptr().add(first).cast::<[T; LENGTH]>() },
        _ => no_row(),
    }
}

#[cold]
#[inline(never)]
pub(super) fn no_row() -> ! {
    panic!("a row lies beyond its array")
}

/// As [`row`], to write to.
///
/// ```
/// let mut rows = [1.0, 2.0, 3.0, 4.0];
/// spc::parallel::row_mut::<2, _>(&mut rows, 1)[0] = 0.5;
/// assert_eq!(rows, [1.0, 2.0, 0.5, 4.0]);
/// ```
///
/// # Panics
/// When there is no such row.
#[inline(always)]
pub fn row_mut<const LENGTH: usize, T>(rows: &mut [T], place: usize) -> &mut [T; LENGTH] {
    &mut rows.as_chunks_mut().0[place]
}

/// Sets each element, as the method of slices does. That one is a function which kernels compiled at run time share with others, and an
/// array that a function is given lies in memory: loops over it would go by single elements.
///
/// ```
/// let mut row = [1.0, 2.0];
/// spc::parallel::fill(&mut row, 0.5);
/// assert_eq!(row, [0.5, 0.5]);
/// ```
#[inline(always)]
pub fn fill<T: Copy>(row: &mut [T], value: T) {
    for element in row {
        *element = value;
    }
}

/// The elements of a row of `LENGTH` but for the first ones.
///
/// ```
/// let beyond = spc::parallel::beyond::<f64, 4>(2);
/// assert_eq!([0, 1, 2, 3].map(|place| beyond.of(place, 5.0)), [0.0, 0.0, 5.0, 5.0]);
/// ```
///
/// # Panics
/// When the row has fewer, or more than 64 elements.
#[inline(always)]
pub fn beyond<T: Masked, const LENGTH: usize>(first: usize) -> Beyond<T, LENGTH> {
    Beyond(row_at(T::MASKS, MOST_MASKED - first))
}

/// What [`beyond`] gives: masks, as compilers make a branch of a choice for each element.
#[derive(Debug, Clone, Copy)]
pub struct Beyond<T: Masked, const LENGTH: usize>(&'static [T::Mask; LENGTH]);

impl<T: Masked, const LENGTH: usize> Beyond<T, LENGTH> {
    /// A value for an element, zero for one of the first.
    #[inline(always)]
    pub fn of(self, place: usize, value: T) -> T {
        value.masked(self.0[place])
    }
}

/// The most elements of a row that are masked.
const MOST_MASKED: usize = 64;

/// Numbers that are zero where all their bits are.
pub trait Masked: Copy {
    /// As many bits.
    type Mask: Copy + std::fmt::Debug + 'static;

    /// Those of no element, and as many of whole ones.
    const MASKS: &'static [Self::Mask];

    /// The bits that a mask has.
    fn masked(self, mask: Self::Mask) -> Self;
}

macro_rules! masked {
    ($($number:ident $bits:ident)*) => {
        $(impl Masked for $number {
            type Mask = $bits;

            const MASKS: &'static [$bits] = &{
                let mut masks = [0; 2 * MOST_MASKED];
                let mut place = MOST_MASKED;
                while place < masks.len() {
                    masks[place] = $bits::MAX;
                    place += 1;
                }
                masks
            };

            #[inline(always)]
            fn masked(self, mask: $bits) -> Self {
                Self::from_bits(self.to_bits() & mask)
            }
        })*
    };
}

masked!(f32 u32 f64 u64);

/// How many elements a row has before what fills it up, which is larger than all of them.
///
/// ```
/// assert_eq!(spc::parallel::filled(&[2_u32, 5, u32::MAX, u32::MAX], u32::MAX), 2);
/// ```
///
/// Most rows are short: to count all of them takes less than a search, whose every step waits for the one before it.
#[inline(always)]
pub fn filled<T: Copy + PartialOrd>(row: &[T], filling: T) -> usize {
    if row.len() > SEARCHED {
        return row.partition_point(|&element| element < filling);
    }
    let count: u32 = row.iter().map(|&element| u32::from(element < filling)).sum();
    count as usize
}

/// As [`filled`], of a row whose elements are `stride` apart: the first place of `begin`, `begin + stride`, … that is filled up,
/// `end` where none is.
///
/// # Panics
/// When a place lies beyond the array.
#[inline(always)]
pub fn filled_side_by_side<T: Copy + PartialOrd>(
    rows: &[T],
    begin: usize,
    end: usize,
    stride: usize,
    filling: T,
) -> usize {
    search_by(begin, end, stride, |place| rows[place] < filling)
}

/// The first place of `begin`, `begin + stride`, … before `end` whose element is not below a value, `end` where none is.
///
/// ```
/// assert_eq!(spc::parallel::search_side_by_side(&[1_u32, 2, 3, 9, 5, 9], 0, 6, 2, 5), 4);
/// ```
///
/// # Panics
/// When a place lies beyond the array.
#[inline(always)]
pub fn search_side_by_side<T: Copy + TryInto<usize>>(
    rows: &[T],
    begin: usize,
    end: usize,
    stride: usize,
    value: usize,
) -> usize {
    search_by(begin, end, stride, |place| rows[place].try_into().is_ok_and(|element| element < value))
}

#[inline(always)]
fn search_by(begin: usize, end: usize, stride: usize, is_below: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end.saturating_sub(begin) / stride);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_below(begin + middle * stride) { low = middle + 1 } else { high = middle }
    }
    begin + low * stride
}

/// Rows that are longer are searched.
const SEARCHED: usize = 64;
