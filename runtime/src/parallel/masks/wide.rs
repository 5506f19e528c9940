//! Vector registers of processors with AVX-512, whose loads and gathers leave out lanes.
//!
//! What `SAFETY` calls *the instructions* are those of AVX-512 F, BW, DQ and VL, and of what all such processors have besides, as F16C and
//! FMA. Only such processors run this module: either all is compiled for them, or it is in line in the functions of `masked`, which are
//! called where the processor has been asked. Everything here is compiled in line, so no function of it is called by others.

use super::combine::{Op, Value};
use super::coordinate::Coordinate;
use super::each::each;
use super::half::Half;
use super::loads;
use std::arch::x86_64::*;
use std::convert::identity;
use std::mem::MaybeUninit;

/// Registers that are added up in lanes of `f64`, which lose nothing of so many.
pub trait Lasting: Copy {
    /// The lanes.
    type Sums: Copy;

    /// Zeros.
    fn none() -> Self::Sums;

    /// Sums.
    fn add_to(self, sums: Self::Sums) -> Self::Sums;

    /// Sums, rounded.
    fn rounded(sums: Self::Sums) -> Self;
}

/// What operators do in lanes.
pub trait Arithmetic: Copy {
    /// What is in a lane.
    type Number: Value;

    /// One value in all lanes.
    fn splat(value: Self::Number) -> Self;

    /// What changes nothing, in all lanes.
    #[inline(always)]
    fn identity(op: Op) -> Self {
        Self::splat(Self::Number::identity(op))
    }

    /// Another in some lanes.
    fn select(self, lanes: u32, other: Self) -> Self;

    /// As [`Value::apply`].
    fn apply(op: Op, one: Self, other: Self) -> Self;

    /// As [`Value::apply`] for an operator of reductions, where the other is not NaN: it stays where the one is, of a smallest or
    /// largest.
    fn combine(op: Op, one: Self, other: Self) -> Self;

    /// The identity where there is NaN, of a smallest or largest.
    fn without_nan(self, op: Op) -> Self;

    /// `self + one * other`
    fn add_products(self, one: Self, other: Self) -> Self;

    /// The same in some lanes; the others stay.
    fn add_some_products(self, lanes: u32, one: Self, other: Self) -> Self;

    /// All lanes combined.
    fn fold(self, op: Op) -> Self::Number;
}

/// Registers that elements of two bytes are converted to.
pub trait OfHalves: Sized {
    /// The first, each the lower half of a lane of 32 bits.
    fn of_words<H: Half>(words: __m256i) -> Self;

    /// The first of sixteen.
    fn of_halves<H: Half>(halves: __m256i) -> Self;
}

/// Numbers in the lanes of a register.
pub trait Lanes: Lasting + Arithmetic + OfHalves {
    /// How many lanes there are.
    const COUNT: usize;

    /// An array of at most as many elements; zero in the other lanes.
    fn load(elements: &[Self::Number]) -> Self;

    /// Writes an array of at most as many elements as there are lanes.
    fn store(self, elements: &mut [Self::Number]);

    /// What an array has at coordinates, at most as many; zero in the other lanes.
    ///
    /// # Panics
    /// When a coordinate lies beyond the array, or the array has more than [`GATHERED`] elements.
    fn gather<C: Coordinate>(of: &[Self::Number], coordinates: &[C]) -> Self;

    /// What an array has at coordinates, at most as many; zero in the other lanes, and where a coordinate fills up.
    ///
    /// # Panics
    /// As [`Lanes::gather`].
    fn gather_some<C: Coordinate>(of: &[Self::Number], coordinates: &[C]) -> Self;

    /// The lanes whose coordinates do not fill up, of at most as many.
    fn some<C: Coordinate>(coordinates: &[C]) -> u32;

    /// Reads coordinates, at most as many, into `places`; whether there is room for all lanes, and all lie below the length of an array
    /// that can be gathered from.
    fn read_within<C: Coordinate>(of: &[Self::Number], coordinates: &[C], places: &mut [u32]) -> bool;

    /// As [`Lanes::gather`], at places that were [read](Lanes::read_within).
    ///
    /// # Safety
    /// All lie below the length of the array.
    unsafe fn load_within(of: &[Self::Number], places: &[u32]) -> Self;
}

/// Places that were read from memory once. What is checked is what is used: the memory that coordinates lie in may be somebody else's,
/// who writes to it while a kernel runs.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub struct Places<const COUNT: usize>(pub(super) [u32; COUNT]);

impl<const COUNT: usize> Places<COUNT> {
    /// Stores a register. To take numbers out of it takes longer than to load them from the stack, but compilers would do it.
    ///
    /// # Safety
    /// The register has so many numbers of 32 bits.
    #[inline(always)]
    unsafe fn stored<R>(to: &mut MaybeUninit<Self>, register: R) -> &[u32; COUNT] {
        const { assert!(size_of::<R>() == 4 * COUNT && align_of::<R>() <= align_of::<Self>()) };
        // SAFETY: all numbers are written, where there is room for them and the register is aligned.
        unsafe {
            to.as_mut_ptr().cast::<R>().write_volatile(register);
            &to.assume_init_ref().0
        }
    }
}

/// One of the places that were read. It is loaded from where they were stored.
#[inline(always)]
fn place_at(places: &[u32], lane: usize) -> usize {
    // SAFETY: a reference is valid for reads.
    unsafe { (&raw const places[lane]).read_volatile() as usize }
}

/// Numbers in eight lanes.
pub trait EightLanes: Lanes {
    /// The total in each lane of the elements from a place to another that registers have one behind the other, in pairs.
    fn totals_between<const PAIRS: usize>(op: Op, of: [[Self; 2]; PAIRS], begins: [u32; 8], ends: [u32; 8]) -> Self;

    /// The total in each lane of all lanes of one.
    fn totals(op: Op, of: [Self; 8]) -> Self;

    /// Combines in some lanes with what lies one, two or four lanes before, where another register lies before the first.
    fn combine_before<const BY: usize>(self, op: Op, lanes: u8, before: Self) -> Self;

    /// Combines in some lanes; the others stay.
    fn combine_some(self, op: Op, lanes: u8, other: Self) -> Self;

    /// Some lanes side by side.
    fn packed(self, lanes: u8) -> Self;
}

/// A number type with vector registers.
pub trait Wide: Copy {
    /// One of eight lanes: as many as there are entries in most rows, and gathers take a time for each lane, used or not.
    type Gathered: EightLanes<Number = Self>;

    /// One of few lanes, for processors that load elements one by one in less time than they gather them.
    type Loaded: Lanes<Number = Self>;

    /// The widest, for what lies side by side.
    type Row: Lanes<Number = Self>;
}

/// The most elements of an array that a second-level cache holds besides what is streamed.
const NEAR: usize = 1 << 15;

impl Wide for f32 {
    type Gathered = F32x8;
    type Loaded = F32x4;
    type Row = F32x16;
}

impl Wide for f64 {
    type Gathered = F64x8;
    type Loaded = F64x4;
    type Row = F64x8;
}

macro_rules! wide {
    ($($number:ty: $gathered:ident $loaded:ident;)*) => {
        $(impl Wide for $number {
            type Gathered = $gathered;
            type Loaded = $loaded;
            type Row = $gathered;
        })*
    };
}

wide! {
    i32: I32x8 I32x4;
    i64: I64x8 I64x4;
    u32: U32x8 U32x4;
    u64: U64x8 U64x4;
    i8: I8x8 I8x8;
    i16: I16x8 I16x8;
    u8: U8x8 U8x8;
    u16: U16x8 U16x8;
    bool: Boolx8 Boolx8;
}

/// How many elements an array may have to be gathered from: a gather takes places as signed numbers of 32 bits.
pub(super) const GATHERED: usize = i32::MAX as usize;

/// Has an element of an array, where there is one, brought near.
#[inline(always)]
pub(super) fn fetch<T>(elements: &[T], place: usize) {
    // SAFETY: this may be any address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(elements.as_ptr().wrapping_add(place).cast()) }
}

/// Which of 64 bytes, each 0 or 1, are set.
#[inline(always)]
pub(super) fn set_bytes(bytes: &[u8; 64]) -> u64 {
    if cfg!(target_feature = "avx512bw") {
        // SAFETY: all bytes are loaded, and the processor has these instructions.
        unsafe {
            let bytes = _mm512_loadu_epi8(bytes.as_ptr().cast());
            _mm512_test_epi8_mask(bytes, bytes)
        }
    } else {
        bytes.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(*byte))
    }
}

/// The lanes of an array of so many elements, or more than there are lanes: all.
#[inline(always)]
pub(super) fn lanes_of_length(length: usize) -> u32 {
    1u32.checked_shl(length as u32).unwrap_or(0).wrapping_sub(1)
}

/// Coordinates as 32-bit numbers: those that fill up, where some do, as the largest, and those that are larger as the one before.
#[inline(always)]
fn narrowed<const COUNT: usize, C: Coordinate>(coordinates: &[C], is_filled: bool) -> [u32; COUNT] {
    let mut narrow = [u32::MAX; COUNT];
    let coordinates = &coordinates[..coordinates.len().min(COUNT)];
    for (place, from) in coordinates.iter().enumerate() {
        if !(is_filled && from.is_filling()) {
            narrow[place] = u32::try_from(from.place()).unwrap_or(u32::MAX - 1);
        }
    }
    narrow
}

#[cold]
#[inline(never)]
fn beyond(length: usize) -> ! {
    panic!("a coordinate is out of bounds of the {length} elements that an array has, or can be gathered from")
}

macro_rules! lanes {
    (
        $name:ident, $number:ty, $register:ty, $count:literal, $mask_type:ty, $places:ty, $load:ident, $store:ident,
        $load_places:ident, $set_places:ident, $at_least:ident, $differ:ident, |$mask:ident, $at:ident, $of:ident| $gather:expr,
        $set:ident($($lane:literal)*)
    ) => {
        #[doc = concat!(stringify!($count), " numbers.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name($register);

        impl Lanes for $name {
            const COUNT: usize = $count;

            #[inline(always)]
            fn load(elements: &[$number]) -> Self {
                // SAFETY: the processor has the instructions. Lanes beyond the elements are not loaded.
                Self(unsafe { $load(lanes_of_length(elements.len()) as $mask_type, elements.as_ptr()) })
            }

            #[inline(always)]
            fn store(self, elements: &mut [$number]) {
                // SAFETY: the processor has the instructions. Lanes beyond the elements are not stored.
                unsafe { $store(elements.as_mut_ptr(), lanes_of_length(elements.len()) as $mask_type, self.0) }
            }

            #[inline(always)]
            fn gather<C: Coordinate>(of: &[$number], coordinates: &[C]) -> Self {
                let (places, lanes) = (Self::places(coordinates, false), lanes_of_length(coordinates.len()) as $mask_type);
                if loads::ONE_BY_ONE && Self::is_near(of) && coordinates.len() >= $count {
                    Self::load_at(of, places)
                } else {
                    Self::gather_at(of, places, lanes)
                }
            }

            #[inline(always)]
            fn gather_some<C: Coordinate>(of: &[$number], coordinates: &[C]) -> Self {
                let places = Self::places(coordinates, true);
                let some = Self::some_of(places, coordinates.len());
                if loads::ONE_BY_ONE && Self::is_near(of) && some == lanes_of_length($count) as $mask_type {
                    Self::load_at(of, places)
                } else {
                    Self::gather_at(of, places, some)
                }
            }

            #[inline(always)]
            fn some<C: Coordinate>(coordinates: &[C]) -> u32 {
                Self::some_of(Self::places(coordinates, true), coordinates.len()).into()
            }

            #[inline(always)]
            fn read_within<C: Coordinate>(of: &[$number], coordinates: &[C], places: &mut [u32]) -> bool {
                let (lanes, read) = (lanes_of_length(coordinates.len()) as $mask_type, Self::places(coordinates, false));
                let Some(places) = places.first_chunk_mut::<$count>() else { return false };
                // SAFETY: the processor has the instructions, and any bits are numbers.
                let are_beyond = unsafe {
                    *places = std::mem::transmute::<$places, [u32; $count]>(read);
                    $at_least(lanes, read, $set_places(of.len() as i32)) != 0
                };
                of.len() <= GATHERED && !are_beyond
            }

            #[inline(always)]
            unsafe fn load_within(of: &[$number], places: &[u32]) -> Self {
                match places.first_chunk::<$count>() {
                    // SAFETY: the processor has the instructions. The caller vouches for all places, which nobody else writes to.
                    Some(places) if loads::ONE_BY_ONE => unsafe {
                        let get = |lane: usize| *of.get_unchecked(place_at(places, lane));
                        Self($set($(get($lane)),*))
                    },
                    _ => Self::gather(of, places),
                }
            }
        }

        impl $name {
            /// Coordinates in lanes, as numbers of 32 bits.
            #[inline(always)]
            fn places<C: Coordinate>(coordinates: &[C], is_filled: bool) -> $places {
                // SAFETY: the processor has the instructions. Lanes beyond the coordinates are not loaded, and coordinates of four bytes are
                // `u32`; any bits of a register are numbers.
                unsafe {
                    if size_of::<C>() == 4 {
                        $load_places(lanes_of_length(coordinates.len()) as $mask_type, coordinates.as_ptr().cast())
                    } else {
                        std::mem::transmute::<[u32; $count], $places>(narrowed(coordinates, is_filled))
                    }
                }
            }

            /// The lanes whose places are those of coordinates that do not fill up, of so many.
            #[inline(always)]
            fn some_of(places: $places, length: usize) -> $mask_type {
                // SAFETY: the processor has the instructions, and there are no addresses among the operands.
                unsafe { $differ(lanes_of_length(length) as $mask_type, places, $set_places(-1)) }
            }

            /// Whether elements of an array are loaded one by one in less time: few at once, or of an array that a cache may hold. Gathers
            /// wait for more of them at the same time.
            #[inline(always)]
            fn is_near(of: &[$number]) -> bool {
                $count <= 4 || of.len() <= NEAR
            }

            /// What an array has at places, in all lanes.
            #[inline(always)]
            fn load_at(of: &[$number], at: $places) -> Self {
                if of.len() > GATHERED {
                    beyond(GATHERED);
                }
                // SAFETY: the processor has the instructions. All places are below the array's length, and below 2^31, when its elements are
                // loaded. They are those of the register, which no one else can change.
                unsafe {
                    if $at_least(lanes_of_length($count) as $mask_type, at, $set_places(of.len() as i32)) != 0 {
                        beyond(of.len());
                    }
                    let mut room = MaybeUninit::uninit();
                    let places: &[u32; $count] = Places::stored(&mut room, at);
                    if size_of::<$number>() < 4
                        && let Some(places) = places.first_chunk()
                        && let Some(words) = words_at(of, places)
                    {
                        // Truth values are all of a lane, of other numbers the lowest bits are.
                        let words = if <$number as Value>::IS_TRUTH { extended::<u8>(words) } else { words };
                        return Self(std::mem::transmute_copy::<__m256i, $register>(&words));
                    }
                    let get = |lane: usize| *of.get_unchecked(place_at(places, lane));
                    Self($set($(get($lane)),*))
                }
            }

            /// What an array has at places, zero in the lanes that are left out.
            #[inline(always)]
            fn gather_at(of: &[$number], $at: $places, $mask: $mask_type) -> Self {
                if of.len() > GATHERED {
                    beyond(GATHERED);
                }
                // SAFETY: the processor has the instructions. All places are below the array's length, and below 2^31, when its elements are
                // gathered.
                unsafe {
                    if $at_least($mask, $at, $set_places(of.len() as i32)) != 0 {
                        beyond(of.len());
                    }
                    let $of = of;
                    Self($gather)
                }
            }
        }
    };
}

lanes!(
    F64x8,
    f64,
    __m512d,
    8,
    u8,
    __m256i,
    _mm512_maskz_loadu_pd,
    _mm512_mask_storeu_pd,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), mask, at, of.as_ptr().cast()),
    _mm512_set_pd(7 6 5 4 3 2 1 0)
);
lanes!(
    F32x8,
    f32,
    __m256,
    8,
    u8,
    __m256i,
    _mm256_maskz_loadu_ps,
    _mm256_mask_storeu_ps,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_ps::<4>(_mm256_setzero_ps(), mask, at, of.as_ptr().cast()),
    _mm256_set_ps(7 6 5 4 3 2 1 0)
);
lanes!(
    F32x16,
    f32,
    __m512,
    16,
    u16,
    __m512i,
    _mm512_maskz_loadu_ps,
    _mm512_mask_storeu_ps,
    _mm512_maskz_loadu_epi32,
    _mm512_set1_epi32,
    _mm512_mask_cmpge_epu32_mask,
    _mm512_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), mask, at, of.as_ptr().cast()),
    _mm512_set_ps(15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0)
);
lanes!(
    F64x4,
    f64,
    __m256d,
    4,
    u8,
    __m128i,
    _mm256_maskz_loadu_pd,
    _mm256_mask_storeu_pd,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_pd::<8>(_mm256_setzero_pd(), mask, at, of.as_ptr().cast()),
    _mm256_set_pd(3 2 1 0)
);
lanes!(
    F32x4,
    f32,
    __m128,
    4,
    u8,
    __m128i,
    _mm_maskz_loadu_ps,
    _mm_mask_storeu_ps,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm_mmask_i32gather_ps::<4>(_mm_setzero_ps(), mask, at, of.as_ptr().cast()),
    _mm_set_ps(3 2 1 0)
);

lanes!(
    I64x8,
    i64,
    __m512i,
    8,
    u8,
    __m256i,
    _mm512_maskz_loadu_epi64,
    _mm512_mask_storeu_epi64,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm512_mask_i32gather_epi64::<8>(_mm512_setzero_si512(), mask, at, of.as_ptr().cast()),
    _mm512_set_epi64(7 6 5 4 3 2 1 0)
);
lanes!(
    I64x4,
    i64,
    __m256i,
    4,
    u8,
    __m128i,
    _mm256_maskz_loadu_epi64,
    _mm256_mask_storeu_epi64,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_epi64::<8>(_mm256_setzero_si256(), mask, at, of.as_ptr().cast()),
    _mm256_set_epi64x(3 2 1 0)
);
lanes!(
    I32x8,
    i32,
    __m256i,
    8,
    u8,
    __m256i,
    _mm256_maskz_loadu_epi32,
    _mm256_mask_storeu_epi32,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_epi32::<4>(_mm256_setzero_si256(), mask, at, of.as_ptr().cast()),
    _mm256_set_epi32(7 6 5 4 3 2 1 0)
);
lanes!(
    I32x4,
    i32,
    __m128i,
    4,
    u8,
    __m128i,
    _mm_maskz_loadu_epi32,
    _mm_mask_storeu_epi32,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm_mmask_i32gather_epi32::<4>(_mm_setzero_si128(), mask, at, of.as_ptr().cast()),
    _mm_set_epi32(3 2 1 0)
);
lanes!(
    U64x8,
    u64,
    __m512i,
    8,
    u8,
    __m256i,
    load_u64x8,
    store_u64x8,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm512_mask_i32gather_epi64::<8>(_mm512_setzero_si512(), mask, at, of.as_ptr().cast()),
    set_eight_u64(7 6 5 4 3 2 1 0)
);
lanes!(
    U64x4,
    u64,
    __m256i,
    4,
    u8,
    __m128i,
    load_u64x4,
    store_u64x4,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_epi64::<8>(_mm256_setzero_si256(), mask, at, of.as_ptr().cast()),
    set_four_u64(3 2 1 0)
);
lanes!(
    U32x8,
    u32,
    __m256i,
    8,
    u8,
    __m256i,
    load_u32x8,
    store_u32x8,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm256_mmask_i32gather_epi32::<4>(_mm256_setzero_si256(), mask, at, of.as_ptr().cast()),
    set_eight(7 6 5 4 3 2 1 0)
);
lanes!(
    U32x4,
    u32,
    __m128i,
    4,
    u8,
    __m128i,
    load_u32x4,
    store_u32x4,
    _mm_maskz_loadu_epi32,
    _mm_set1_epi32,
    _mm_mask_cmpge_epu32_mask,
    _mm_mask_cmpneq_epu32_mask,
    |mask, at, of| _mm_mmask_i32gather_epi32::<4>(_mm_setzero_si128(), mask, at, of.as_ptr().cast()),
    set_four_u32(3 2 1 0)
);
lanes!(
    U8x8,
    u8,
    __m256i,
    8,
    u8,
    __m256i,
    load_narrow,
    store_narrow,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| gather_narrow(mask, at, of),
    set_eight(7 6 5 4 3 2 1 0)
);
lanes!(
    I8x8,
    i8,
    __m256i,
    8,
    u8,
    __m256i,
    load_narrow,
    store_narrow,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| gather_narrow(mask, at, of),
    set_eight(7 6 5 4 3 2 1 0)
);
lanes!(
    I16x8,
    i16,
    __m256i,
    8,
    u8,
    __m256i,
    load_narrow,
    store_narrow,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| gather_narrow(mask, at, of),
    set_eight(7 6 5 4 3 2 1 0)
);
lanes!(
    U16x8,
    u16,
    __m256i,
    8,
    u8,
    __m256i,
    load_narrow,
    store_narrow,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| gather_narrow(mask, at, of),
    set_eight(7 6 5 4 3 2 1 0)
);
lanes!(
    Boolx8,
    bool,
    __m256i,
    8,
    u8,
    __m256i,
    load_narrow,
    store_narrow,
    _mm256_maskz_loadu_epi32,
    _mm256_set1_epi32,
    _mm256_mask_cmpge_epu32_mask,
    _mm256_mask_cmpneq_epu32_mask,
    |mask, at, of| gather_narrow(mask, at, of),
    set_eight(7 6 5 4 3 2 1 0)
);

macro_rules! unsigned_in_memory {
    ($($load:ident $store:ident $number:ident $register:ident by $load_signed:ident $store_signed:ident;)*) => {
        $(
            /// Numbers without a sign, as those with one are loaded.
            #[inline(always)]
            unsafe fn $load(mask: u8, elements: *const $number) -> $register {
                // SAFETY: the processor has the instructions. There are elements for all lanes of the mask, as the caller has it.
                unsafe { $load_signed(mask, elements.cast()) }
            }

            /// The same to be stored.
            #[inline(always)]
            unsafe fn $store(elements: *mut $number, mask: u8, lanes: $register) {
                // SAFETY: as above.
                unsafe { $store_signed(elements.cast(), mask, lanes) }
            }
        )*
    };
}

unsigned_in_memory! {
    load_u64x8 store_u64x8 u64 __m512i by _mm512_maskz_loadu_epi64 _mm512_mask_storeu_epi64;
    load_u64x4 store_u64x4 u64 __m256i by _mm256_maskz_loadu_epi64 _mm256_mask_storeu_epi64;
    load_u32x8 store_u32x8 u32 __m256i by _mm256_maskz_loadu_epi32 _mm256_mask_storeu_epi32;
    load_u32x4 store_u32x4 u32 __m128i by _mm_maskz_loadu_epi32 _mm_mask_storeu_epi32;
}

/// What lies in a lane of 32 bits.
trait InLane: Copy {
    /// Whether numbers of fewer bits are extended by their sign.
    const IS_SIGNED: bool;

    /// The bits of the lane.
    fn in_lane(self) -> i32;
}

macro_rules! in_lanes {
    ($($number:ident)*) => {
        $(impl InLane for $number {
            const IS_SIGNED: bool = $number::MIN != 0;

            #[inline(always)]
            fn in_lane(self) -> i32 {
                self as i32
            }
        })*
    };
}

in_lanes!(i8 i16 u8 u16 u32);

impl InLane for bool {
    const IS_SIGNED: bool = false;

    #[inline(always)]
    fn in_lane(self) -> i32 {
        self.into()
    }
}

/// The lowest bits of lanes of 32 bits as numbers of one or two bytes, extended to all bits.
#[inline(always)]
fn extended<T: InLane>(lanes: __m256i) -> __m256i {
    const { assert!(size_of::<T>() <= 2) };
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    unsafe {
        match (size_of::<T>(), T::IS_SIGNED) {
            (1, false) => _mm256_and_si256(lanes, _mm256_set1_epi32(0xff)),
            (1, true) => _mm256_srai_epi32::<24>(_mm256_slli_epi32::<24>(lanes)),
            (_, false) => _mm256_and_si256(lanes, _mm256_set1_epi32(0xffff)),
            (_, true) => _mm256_srai_epi32::<16>(_mm256_slli_epi32::<16>(lanes)),
        }
    }
}

/// Numbers of one or two bytes in lanes of 32 bits; zero in the lanes that are left out.
#[inline(always)]
unsafe fn load_narrow<T: InLane>(mask: u8, elements: *const T) -> __m256i {
    const { assert!(size_of::<T>() <= 2) };
    // SAFETY: the processor has the instructions. There are elements for all lanes of the mask, as the caller has it; they are numbers of
    // one or two bytes, as all types in lanes are that are not larger.
    unsafe {
        let bytes = || match mask {
            u8::MAX => _mm_loadl_epi64(elements.cast()),
            mask => _mm_maskz_loadu_epi8(mask.into(), elements.cast()),
        };
        match (size_of::<T>(), T::IS_SIGNED) {
            (1, false) => _mm256_cvtepu8_epi32(bytes()),
            (1, true) => _mm256_cvtepi8_epi32(bytes()),
            (_, false) => _mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(mask, elements.cast())),
            (_, true) => _mm256_cvtepi16_epi32(_mm_maskz_loadu_epi16(mask, elements.cast())),
        }
    }
}

/// Elements of one or two bytes at places below the array's length, each with what is behind it to four bytes: `None` where one of
/// them is so near to the end of the array that there is not as much. Words go from memory into their places of a register in one
/// instruction, which bytes do not.
#[inline(always)]
unsafe fn words_at<T>(of: &[T], places: &[u32; 8]) -> Option<__m256i> {
    let together = (4 / size_of::<T>()).max(1);
    // SAFETY: the processor has the instructions. All places are below the array's length, as the caller has it, and none is so near to its
    // end that four bytes are not there. Nobody else writes to the places.
    unsafe {
        let at = std::mem::transmute::<[u32; 8], __m256i>(*places);
        let last = of.len().checked_sub(together)?;
        if _mm256_cmpgt_epu32_mask(at, _mm256_set1_epi32(last as i32)) != 0 {
            return None;
        }
        let get = |lane: usize| of.as_ptr().add(place_at(places, lane)).cast::<i32>().read_unaligned();
        Some(_mm256_set_epi32(get(7), get(6), get(5), get(4), get(3), get(2), get(1), get(0)))
    }
}

/// Stores the lowest byte or two of some lanes.
#[inline(always)]
unsafe fn store_narrow<T: InLane>(elements: *mut T, mask: u8, lanes: __m256i) {
    const { assert!(size_of::<T>() <= 2) };
    // SAFETY: as for `load_narrow`. A lane of truth values is 0 or 1.
    unsafe {
        match size_of::<T>() {
            1 => _mm256_mask_cvtepi32_storeu_epi8(elements.cast(), mask, lanes),
            _ => _mm256_mask_cvtepi32_storeu_epi16(elements.cast(), mask, lanes),
        }
    }
}

/// Numbers in lanes of 32 bits, the last first.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn set_eight<T: InLane>(g: T, f: T, e: T, d: T, c: T, b: T, a: T, first: T) -> __m256i {
    let [g, f, e, d, c, b, a, first] = each([g, f, e, d, c, b, a, first], T::in_lane);
    // Numbers of one and two bytes go from memory into their places of a register.
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    unsafe {
        match (size_of::<T>(), T::IS_SIGNED) {
            (1, is_signed) => {
                let [g, f, e, d, c, b, a, first] = each([g, f, e, d, c, b, a, first], |number| number as i8);
                let all = _mm_set_epi8(0, 0, 0, 0, 0, 0, 0, 0, g, f, e, d, c, b, a, first);
                if is_signed { _mm256_cvtepi8_epi32(all) } else { _mm256_cvtepu8_epi32(all) }
            }
            (2, is_signed) => {
                let [g, f, e, d, c, b, a, first] = each([g, f, e, d, c, b, a, first], |number| number as i16);
                let all = _mm_set_epi16(g, f, e, d, c, b, a, first);
                if is_signed { _mm256_cvtepi16_epi32(all) } else { _mm256_cvtepu16_epi32(all) }
            }
            _ => _mm256_set_epi32(g, f, e, d, c, b, a, first),
        }
    }
}

/// The same of four.
#[inline(always)]
fn set_four_u32(c: u32, b: u32, a: u32, first: u32) -> __m128i {
    let [c, b, a, first] = each([c, b, a, first], u32::cast_signed);
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    unsafe { _mm_set_epi32(c, b, a, first) }
}

/// Numbers in lanes of 64 bits, the last first.
#[allow(clippy::too_many_arguments)]
#[inline(always)]
fn set_eight_u64(g: u64, f: u64, e: u64, d: u64, c: u64, b: u64, a: u64, first: u64) -> __m512i {
    let [g, f, e, d, c, b, a, first] = each([g, f, e, d, c, b, a, first], u64::cast_signed);
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    unsafe { _mm512_set_epi64(g, f, e, d, c, b, a, first) }
}

/// The same of four.
#[inline(always)]
fn set_four_u64(c: u64, b: u64, a: u64, first: u64) -> __m256i {
    let [c, b, a, first] = each([c, b, a, first], u64::cast_signed);
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    unsafe { _mm256_set_epi64x(c, b, a, first) }
}

/// Numbers of one or two bytes at places, which are below the array's length in the lanes of the mask. Four bytes are gathered for
/// each: from where the last four of the array begin, at the latest.
#[inline(always)]
unsafe fn gather_narrow<T: InLane>(mask: u8, at: __m256i, of: &[T]) -> __m256i {
    let together = 4 / size_of::<T>();
    let mut few = [0_u32; 1];
    // SAFETY: the processor has the instructions. All bytes that are gathered are those of the array, or of a copy that is filled up: places
    // are below the array's length, as the caller has it, and none is later than where its last four bytes begin.
    unsafe {
        let (elements, length): (*const u8, usize) = if of.len() < together {
            std::ptr::copy_nonoverlapping(of.as_ptr(), few.as_mut_ptr().cast(), of.len());
            (few.as_ptr().cast(), together)
        } else {
            (of.as_ptr().cast(), of.len())
        };
        let from = _mm256_min_epu32(at, _mm256_set1_epi32((length - together) as i32));
        let (zero, beyond) = (_mm256_setzero_si256(), _mm256_sub_epi32(at, from));
        let (words, behind) = match size_of::<T>() {
            1 => (_mm256_mmask_i32gather_epi32::<1>(zero, mask, from, elements.cast()), _mm256_slli_epi32::<3>(beyond)),
            _ => (_mm256_mmask_i32gather_epi32::<2>(zero, mask, from, elements.cast()), _mm256_slli_epi32::<4>(beyond)),
        };
        extended::<T>(_mm256_srlv_epi32(words, behind))
    }
}

macro_rules! no_halves {
    ($($name:ident)*) => {
        $(impl OfHalves for $name {
            fn of_words<H: Half>(_: __m256i) -> Self {
                undefined()
            }

            fn of_halves<H: Half>(_: __m256i) -> Self {
                undefined()
            }
        })*
    };
}

no_halves!(F64x8 F64x4 I64x8 I64x4 U64x8 U64x4 I32x8 I32x4 U32x8 U32x4 I8x8 I16x8 U8x8 U16x8 Boolx8);

impl OfHalves for F32x4 {
    #[inline(always)]
    fn of_words<H: Half>(words: __m256i) -> Self {
        // SAFETY: the processor has the instructions, and there are no addresses among the operands.
        Self(unsafe { _mm256_castps256_ps128(F32x8::of_words::<H>(words).0) })
    }

    #[inline(always)]
    fn of_halves<H: Half>(halves: __m256i) -> Self {
        // SAFETY: the processor has the instructions, and there are no addresses among the operands.
        unsafe {
            let few = _mm256_castsi256_si128(halves);
            Self(match H::IS_UPPER {
                true => _mm_castsi128_ps(_mm_slli_epi32::<16>(_mm_cvtepu16_epi32(few))),
                false => _mm_cvtph_ps(few),
            })
        }
    }
}

impl OfHalves for F32x8 {
    #[inline(always)]
    fn of_words<H: Half>(words: __m256i) -> Self {
        // SAFETY: the processor has the instructions, and there are no addresses among the operands.
        unsafe {
            Self(match H::IS_UPPER {
                true => _mm256_castsi256_ps(_mm256_slli_epi32::<16>(words)),
                false => _mm256_cvtph_ps(_mm256_cvtepi32_epi16(words)),
            })
        }
    }

    #[inline(always)]
    fn of_halves<H: Half>(halves: __m256i) -> Self {
        // SAFETY: the processor has the instructions, and there are no addresses among the operands.
        unsafe {
            let few = _mm256_castsi256_si128(halves);
            Self(match H::IS_UPPER {
                true => _mm256_castsi256_ps(_mm256_slli_epi32::<16>(_mm256_cvtepu16_epi32(few))),
                false => _mm256_cvtph_ps(few),
            })
        }
    }
}

impl OfHalves for F32x16 {
    #[inline(always)]
    fn of_words<H: Half>(words: __m256i) -> Self {
        // SAFETY: the processor has the instructions, and there are no addresses among the operands.
        Self(unsafe { _mm512_zextps256_ps512(F32x8::of_words::<H>(words).0) })
    }

    #[inline(always)]
    fn of_halves<H: Half>(halves: __m256i) -> Self {
        // SAFETY: the processor has the instructions, and there are no addresses among the operands.
        unsafe {
            Self(match H::IS_UPPER {
                true => _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(halves))),
                false => _mm512_cvtph_ps(halves),
            })
        }
    }
}

/// At most sixteen elements of two bytes; zero behind them.
#[inline(always)]
pub(super) fn load_halves<H: Half>(elements: &[H]) -> __m256i {
    const { assert!(size_of::<H>() == 2) };
    let first = elements.as_ptr();
    // SAFETY: the processor has the instructions. Elements beyond the last are not loaded, and all are two bytes.
    unsafe {
        match elements.len() {
            4 => _mm256_zextsi128_si256(_mm_loadl_epi64(first.cast())),
            8 => _mm256_zextsi128_si256(_mm_loadu_si128(first.cast())),
            length => _mm256_maskz_loadu_epi16(lanes_of_length(length) as u16, first.cast()),
        }
    }
}

/// What an array has at coordinates, at most as many as there are lanes; zero in the other lanes, and where a coordinate fills up, if
/// some may.
///
/// # Panics
/// When a coordinate lies beyond the array, or the array has more than [`GATHERED`] elements.
#[inline(always)]
pub(super) fn gather_halves<H: Half, L: Lanes, C: Coordinate>(of: &[H], coordinates: &[C], is_filled: bool) -> L {
    let (first, rest) = coordinates.split_at(coordinates.len().min(8));
    let first = gather_words(of, first, is_filled);
    if rest.is_empty() {
        return L::of_words::<H>(first);
    }
    let rest = gather_words(of, rest, is_filled);
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    L::of_halves::<H>(unsafe { _mm256_set_m128i(_mm256_cvtepi32_epi16(rest), _mm256_cvtepi32_epi16(first)) })
}

/// The same of at most eight, as the lower halves of lanes of 32 bits; what the upper ones hold does not matter.
#[inline(always)]
fn gather_words<H: Half, C: Coordinate>(of: &[H], coordinates: &[C], is_filled: bool) -> __m256i {
    const { assert!(size_of::<H>() == 2) };
    if of.len() > GATHERED {
        beyond(GATHERED);
    }
    let at = I32x8::places(coordinates, is_filled);
    // SAFETY: the processor has the instructions. All places are below the array's length, and below 2^31, when its elements are loaded, each
    // as its two bytes. They are those of the register, which no one else can change.
    unsafe {
        let all = lanes_of_length(coordinates.len()) as u8;
        let mask = match is_filled {
            true => _mm256_mask_cmpneq_epu32_mask(all, at, _mm256_set1_epi32(-1)),
            false => all,
        };
        if _mm256_mask_cmpge_epu32_mask(mask, at, _mm256_set1_epi32(of.len() as i32)) != 0 {
            beyond(of.len());
        }
        let elements: &[i16] = std::slice::from_raw_parts(of.as_ptr().cast(), of.len());
        let mut room = MaybeUninit::uninit();
        let places = Places::stored(&mut room, at);
        let get = |lane: usize| *elements.get_unchecked(place_at(places, lane));
        if loads::ONE_BY_ONE && of.len() <= NEAR && mask == u8::MAX {
            if let Some(words) = words_at(elements, places) {
                return words;
            }
        } else if loads::ONE_BY_ONE && coordinates.len() == 4 && mask == 0b1111 {
            let few = _mm_set_epi16(0, 0, 0, 0, get(3), get(2), get(1), get(0));
            return _mm256_cvtepu16_epi32(few);
        }
        gather_narrow::<i16>(mask, at, elements)
    }
}

/// What the instruction of a range takes: the smaller or the larger of two, with its own sign.
const SMALLER: i32 = 0b0100;
const LARGER: i32 = 0b0101;

macro_rules! floats {
    (
        $name:ident, $number:ty, $mask_type:ty, $splat:ident, $blend:ident,
        [$add:ident $subtract:ident $multiply:ident $divide:ident $range:ident $multiply_add:ident $some_multiply_add:ident],
        |$all:ident| $total:expr, $first:ident, $bits:ident, $from_bits:ident, $align:ident($($by:literal)*)
    ) => {
        impl Arithmetic for $name {
            type Number = $number;

            #[inline(always)]
            fn splat(value: $number) -> Self {
                // SAFETY: the processor has the instructions, and there are no addresses among the operands.
                Self(unsafe { $splat(value) })
            }

            #[inline(always)]
            fn select(self, lanes: u32, other: Self) -> Self {
                // SAFETY: as for `splat`.
                Self(unsafe { $blend(lanes as $mask_type, self.0, other.0) })
            }

            #[inline(always)]
            fn apply(op: Op, one: Self, other: Self) -> Self {
                // SAFETY: as for `splat`.
                unsafe {
                    match op {
                        Op::Add => Self($add(one.0, other.0)),
                        Op::Subtract => Self($subtract(one.0, other.0)),
                        Op::Multiply => Self($multiply(one.0, other.0)),
                        Op::Divide => Self($divide(one.0, other.0)),
                        // Of a number and NaN, the number; -0 is smaller than 0.
                        Op::Min => Self($range::<SMALLER>(one.0, other.0)),
                        Op::Max => Self($range::<LARGER>(one.0, other.0)),
                        Op::And | Op::Or => undefined(),
                    }
                }
            }

            #[inline(always)]
            fn combine(op: Op, one: Self, other: Self) -> Self {
                Self::apply(op, one, other)
            }

            #[inline(always)]
            fn without_nan(self, op: Op) -> Self {
                match op {
                    Op::Min | Op::Max => Self::combine(op, self, Self::identity(op)),
                    _ => self,
                }
            }

            #[inline(always)]
            fn add_products(self, one: Self, other: Self) -> Self {
                // SAFETY: as for `splat`.
                Self(unsafe { $multiply_add(one.0, other.0, self.0) })
            }

            #[inline(always)]
            fn add_some_products(self, lanes: u32, one: Self, other: Self) -> Self {
                // SAFETY: as for `splat`.
                Self(unsafe { $some_multiply_add(one.0, other.0, self.0, lanes as $mask_type) })
            }

            #[inline(always)]
            fn fold(self, op: Op) -> $number {
                if let Op::Add = op {
                    let $all = self.0;
                    // SAFETY: as for `splat`.
                    return unsafe { $total };
                }
                let mut all = self;
                // SAFETY: as for `splat`.
                unsafe {
                    $(all = Self::combine(op, all, Self($from_bits($align::<$by>($bits(all.0), $bits(all.0)))));)*
                    $first(all.0)
                }
            }
        }
    };
}

floats!(
    F64x8, f64, u8, _mm512_set1_pd, _mm512_mask_blend_pd,
    [_mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd _mm512_range_pd _mm512_fmadd_pd
        _mm512_mask3_fmadd_pd],
    |all| _mm512_reduce_add_pd(all),
    _mm512_cvtsd_f64, _mm512_castpd_si512, _mm512_castsi512_pd, _mm512_alignr_epi64(4 2 1)
);
floats!(
    F32x8, f32, u8, _mm256_set1_ps, _mm256_mask_blend_ps,
    [_mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps _mm256_range_ps _mm256_fmadd_ps
        _mm256_mask3_fmadd_ps],
    |all| of_four(_mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps::<1>(all))),
    _mm256_cvtss_f32, _mm256_castps_si256, _mm256_castsi256_ps, _mm256_alignr_epi32(4 2 1)
);
floats!(
    F32x16, f32, u16, _mm512_set1_ps, _mm512_mask_blend_ps,
    [_mm512_add_ps _mm512_sub_ps _mm512_mul_ps _mm512_div_ps _mm512_range_ps _mm512_fmadd_ps
        _mm512_mask3_fmadd_ps],
    |all| _mm512_reduce_add_ps(all),
    _mm512_cvtss_f32, _mm512_castps_si512, _mm512_castsi512_ps, _mm512_alignr_epi32(8 4 2 1)
);
floats!(
    F64x4, f64, u8, _mm256_set1_pd, _mm256_mask_blend_pd,
    [_mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd _mm256_range_pd _mm256_fmadd_pd
        _mm256_mask3_fmadd_pd],
    |all| {
        let half = _mm_add_pd(_mm256_castpd256_pd128(all), _mm256_extractf128_pd::<1>(all));
        _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)))
    },
    _mm256_cvtsd_f64, _mm256_castpd_si256, _mm256_castsi256_pd, _mm256_alignr_epi64(2 1)
);
floats!(
    F32x4, f32, u8, _mm_set1_ps, _mm_mask_blend_ps,
    [_mm_add_ps _mm_sub_ps _mm_mul_ps _mm_div_ps _mm_range_ps _mm_fmadd_ps
        _mm_mask3_fmadd_ps],
    |all| of_four(all),
    _mm_cvtss_f32, _mm_castps_si128, _mm_castsi128_ps, _mm_alignr_epi32(2 1)
);

macro_rules! integers {
    (
        $name:ident, $number:ty, |$value:ident| $splat:expr, $blend:ident,
        [$add:ident $subtract:ident $multiply:ident $min:ident $max:ident $and:ident $or:ident],
        |$wide:ident| $narrowed:expr, |$all:ident| $first:expr, $align:ident($($by:literal)*)
    ) => {
        impl Arithmetic for $name {
            type Number = $number;

            #[inline(always)]
            fn splat($value: $number) -> Self {
                // SAFETY: the processor has the instructions, and there are no addresses among the operands.
                Self(unsafe { $splat })
            }

            #[inline(always)]
            fn select(self, lanes: u32, other: Self) -> Self {
                // SAFETY: as for `splat`.
                Self(unsafe { $blend(lanes as u8, self.0, other.0) })
            }

            #[inline(always)]
            fn apply(op: Op, one: Self, other: Self) -> Self {
                // The lowest bits of a sum or a product depend on those of its operands alone: a number that is narrower than its lane
                // is extended again where it is compared.
                // SAFETY: as for `splat`.
                unsafe {
                    let narrowed = |$wide| $narrowed;
                    Self(match op {
                        Op::Add => $add(one.0, other.0),
                        Op::Subtract => $subtract(one.0, other.0),
                        Op::Multiply => $multiply(one.0, other.0),
                        Op::Min => $min(narrowed(one.0), narrowed(other.0)),
                        Op::Max => $max(narrowed(one.0), narrowed(other.0)),
                        Op::And => $and(one.0, other.0),
                        Op::Or => $or(one.0, other.0),
                        Op::Divide => undefined(),
                    })
                }
            }

            #[inline(always)]
            fn combine(op: Op, one: Self, other: Self) -> Self {
                Self::apply(op, one, other)
            }

            #[inline(always)]
            fn without_nan(self, _: Op) -> Self {
                self
            }

            #[inline(always)]
            fn add_products(self, one: Self, other: Self) -> Self {
                Self::apply(Op::Add, self, Self::apply(Op::Multiply, one, other))
            }

            #[inline(always)]
            fn add_some_products(self, lanes: u32, one: Self, other: Self) -> Self {
                self.select(lanes, self.add_products(one, other))
            }

            #[inline(always)]
            fn fold(self, op: Op) -> $number {
                let mut all = self;
                // SAFETY: as for `splat`.
                unsafe {
                    $(all = Self::combine(op, all, Self($align::<$by>(all.0, all.0)));)*
                    let $all = all.0;
                    $first
                }
            }
        }

        /// Integers lose nothing, however many there are.
        impl Lasting for $name {
            type Sums = Self;

            #[inline(always)]
            fn none() -> Self {
                Self::load(&[])
            }

            #[inline(always)]
            fn add_to(self, sums: Self) -> Self {
                Self::apply(Op::Add, self, sums)
            }

            #[inline(always)]
            fn rounded(sums: Self) -> Self {
                sums
            }
        }
    };
}

integers!(
    I64x8, i64, |value| _mm512_set1_epi64(value), _mm512_mask_blend_epi64,
    [_mm512_add_epi64 _mm512_sub_epi64 _mm512_mullo_epi64 _mm512_min_epi64 _mm512_max_epi64 _mm512_and_si512 _mm512_or_si512],
    |wide| wide, |all| _mm_cvtsi128_si64(_mm512_castsi512_si128(all)), _mm512_alignr_epi64(4 2 1)
);
integers!(
    I64x4, i64, |value| _mm256_set1_epi64x(value), _mm256_mask_blend_epi64,
    [_mm256_add_epi64 _mm256_sub_epi64 _mm256_mullo_epi64 _mm256_min_epi64 _mm256_max_epi64 _mm256_and_si256 _mm256_or_si256],
    |wide| wide, |all| _mm_cvtsi128_si64(_mm256_castsi256_si128(all)), _mm256_alignr_epi64(2 1)
);
integers!(
    I32x8, i32, |value| _mm256_set1_epi32(value), _mm256_mask_blend_epi32,
    [_mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32 _mm256_min_epi32 _mm256_max_epi32 _mm256_and_si256 _mm256_or_si256],
    |wide| wide, |all| _mm256_cvtsi256_si32(all), _mm256_alignr_epi32(4 2 1)
);
integers!(
    I32x4, i32, |value| _mm_set1_epi32(value), _mm_mask_blend_epi32,
    [_mm_add_epi32 _mm_sub_epi32 _mm_mullo_epi32 _mm_min_epi32 _mm_max_epi32 _mm_and_si128 _mm_or_si128],
    |wide| wide, |all| _mm_cvtsi128_si32(all), _mm_alignr_epi32(2 1)
);
integers!(
    U64x8, u64, |value| _mm512_set1_epi64(value.cast_signed()), _mm512_mask_blend_epi64,
    [_mm512_add_epi64 _mm512_sub_epi64 _mm512_mullo_epi64 _mm512_min_epu64 _mm512_max_epu64 _mm512_and_si512 _mm512_or_si512],
    |wide| wide, |all| _mm_cvtsi128_si64(_mm512_castsi512_si128(all)).cast_unsigned(), _mm512_alignr_epi64(4 2 1)
);
integers!(
    U64x4, u64, |value| _mm256_set1_epi64x(value.cast_signed()), _mm256_mask_blend_epi64,
    [_mm256_add_epi64 _mm256_sub_epi64 _mm256_mullo_epi64 _mm256_min_epu64 _mm256_max_epu64 _mm256_and_si256 _mm256_or_si256],
    |wide| wide, |all| _mm_cvtsi128_si64(_mm256_castsi256_si128(all)).cast_unsigned(), _mm256_alignr_epi64(2 1)
);
integers!(
    U32x8, u32, |value| _mm256_set1_epi32(value.cast_signed()), _mm256_mask_blend_epi32,
    [_mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32 _mm256_min_epu32 _mm256_max_epu32 _mm256_and_si256 _mm256_or_si256],
    |wide| wide, |all| _mm256_cvtsi256_si32(all).cast_unsigned(), _mm256_alignr_epi32(4 2 1)
);
integers!(
    U32x4, u32, |value| _mm_set1_epi32(value.cast_signed()), _mm_mask_blend_epi32,
    [_mm_add_epi32 _mm_sub_epi32 _mm_mullo_epi32 _mm_min_epu32 _mm_max_epu32 _mm_and_si128 _mm_or_si128],
    |wide| wide, |all| _mm_cvtsi128_si32(all).cast_unsigned(), _mm_alignr_epi32(2 1)
);
integers!(
    I8x8, i8, |value| _mm256_set1_epi32(value.in_lane()), _mm256_mask_blend_epi32,
    [_mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32 _mm256_min_epi32 _mm256_max_epi32 _mm256_and_si256 _mm256_or_si256],
    |wide| extended::<i8>(wide), |all| _mm256_cvtsi256_si32(all) as i8, _mm256_alignr_epi32(4 2 1)
);
integers!(
    I16x8, i16, |value| _mm256_set1_epi32(value.in_lane()), _mm256_mask_blend_epi32,
    [_mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32 _mm256_min_epi32 _mm256_max_epi32 _mm256_and_si256 _mm256_or_si256],
    |wide| extended::<i16>(wide), |all| _mm256_cvtsi256_si32(all) as i16, _mm256_alignr_epi32(4 2 1)
);
integers!(
    U8x8, u8, |value| _mm256_set1_epi32(value.in_lane()), _mm256_mask_blend_epi32,
    [_mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32 _mm256_min_epi32 _mm256_max_epi32 _mm256_and_si256 _mm256_or_si256],
    |wide| extended::<u8>(wide), |all| _mm256_cvtsi256_si32(all) as u8, _mm256_alignr_epi32(4 2 1)
);
integers!(
    U16x8, u16, |value| _mm256_set1_epi32(value.in_lane()), _mm256_mask_blend_epi32,
    [_mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32 _mm256_min_epi32 _mm256_max_epi32 _mm256_and_si256 _mm256_or_si256],
    |wide| extended::<u16>(wide), |all| _mm256_cvtsi256_si32(all) as u16, _mm256_alignr_epi32(4 2 1)
);
integers!(
    Boolx8, bool, |value| _mm256_set1_epi32(value.in_lane()), _mm256_mask_blend_epi32,
    [_mm256_add_epi32 _mm256_sub_epi32 _mm256_mullo_epi32 _mm256_min_epi32 _mm256_max_epi32 _mm256_and_si256 _mm256_or_si256],
    |wide| wide, |all| _mm256_cvtsi256_si32(all) != 0, _mm256_alignr_epi32(4 2 1)
);

#[cold]
#[inline(never)]
fn undefined() -> ! {
    unreachable!("operators are defined for the elements that they are applied to")
}

macro_rules! lasting {
    ($($name:ident: $sums:ty, $none:expr, |$lanes:ident, $into:ident| $add:expr, $rounded:expr;)*) => {
        $(impl Lasting for $name {
            type Sums = $sums;

            #[inline(always)]
            fn none() -> $sums {
                // SAFETY: the processor has the instructions, and there are no addresses among the operands.
                unsafe { $none }
            }

            #[inline(always)]
            fn add_to(self, $into: $sums) -> $sums {
                let $lanes = self.0;
                // SAFETY: as above.
                unsafe { $add }
            }

            #[inline(always)]
            fn rounded($into: $sums) -> Self {
                // SAFETY: as above.
                Self(unsafe { $rounded })
            }
        })*
    };
}

lasting! {
    F64x8: __m512d, _mm512_setzero_pd(), |lanes, sums| _mm512_add_pd(sums, lanes), sums;
    F64x4: __m256d, _mm256_setzero_pd(), |lanes, sums| _mm256_add_pd(sums, lanes), sums;
    F32x4: __m256d, _mm256_setzero_pd(), |lanes, sums| _mm256_add_pd(sums, _mm256_cvtps_pd(lanes)), _mm256_cvtpd_ps(sums);
    F32x8: __m512d, _mm512_setzero_pd(), |lanes, sums| _mm512_add_pd(sums, _mm512_cvtps_pd(lanes)), _mm512_cvtpd_ps(sums);
    F32x16: [__m512d; 2], [_mm512_setzero_pd(); 2], |lanes, sums| {
        let upper = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(lanes)));
        let halves = [_mm512_castps512_ps256(lanes), upper];
        each([0, 1], |half| _mm512_add_pd(sums[half], _mm512_cvtps_pd(halves[half])))
    }, {
        let [lower, upper] = each(sums, |half| _mm256_castps_pd(_mm512_cvtpd_ps(half)));
        _mm512_castpd_ps(_mm512_insertf64x4::<1>(_mm512_castpd256_pd512(lower), upper))
    };
}

macro_rules! eight_lanes {
    (
        $name:ident, |$numbers:ident| $places:expr, $blend:ident, $pick:ident, $pack:ident,
        $bits:ident, $from_bits:ident, $align:ident, |$op:ident, $of:ident| $totals:expr
    ) => {
        impl EightLanes for $name {
            #[inline(always)]
            fn totals_between<const PAIRS: usize>(
                op: Op,
                of: [[Self; 2]; PAIRS],
                begins: [u32; 8],
                ends: [u32; 8],
            ) -> Self {
                // SAFETY: the processor has the instructions, and there are no addresses among the operands. What is picked from a pair of
                // registers is in it, whatever the number.
                unsafe {
                    let [mut $numbers, ends] =
                        each([begins, ends], |numbers| std::mem::transmute::<[u32; 8], __m256i>(numbers));
                    let mut totals = Self::identity(op);
                    loop {
                        let there = _mm256_cmplt_epu32_mask($numbers, ends);
                        if there == 0 {
                            return totals;
                        }
                        let places = $places;
                        let mut found = $pick(of[0][0].0, places, of[0][1].0);
                        for (pair, [one, other]) in of.iter().enumerate().skip(1) {
                            let is_behind = _mm256_cmpge_epu32_mask($numbers, _mm256_set1_epi32(16 * pair as i32));
                            found = $blend(is_behind, found, $pick(one.0, places, other.0));
                        }
                        totals = totals.combine_some(op, there, Self(found));
                        $numbers = _mm256_add_epi32($numbers, _mm256_set1_epi32(1));
                    }
                }
            }

            #[inline(always)]
            fn totals($op: Op, $of: [Self; 8]) -> Self {
                // SAFETY: as above.
                unsafe { $totals }
            }

            #[inline(always)]
            fn combine_before<const BY: usize>(self, op: Op, lanes: u8, before: Self) -> Self {
                const { assert!(BY == 1 || BY == 2 || BY == 4) };
                // SAFETY: as above.
                unsafe {
                    let (here, before) = ($bits(self.0), $bits(before.0));
                    let shifted = match BY {
                        1 => $align::<7>(here, before),
                        2 => $align::<6>(here, before),
                        _ => $align::<4>(here, before),
                    };
                    self.combine_some(op, lanes, Self($from_bits(shifted)))
                }
            }

            #[inline(always)]
            fn combine_some(self, op: Op, lanes: u8, other: Self) -> Self {
                self.select(lanes.into(), Self::combine(op, self, other))
            }

            #[inline(always)]
            fn packed(self, lanes: u8) -> Self {
                // SAFETY: as above.
                Self(unsafe { $pack(lanes, self.0) })
            }
        }
    };
}

/// The totals of eight registers of eight numbers of 64 bits, by neighbours, then pairs, then fours. Functions, as compilers call a
/// closure that is long and used twice.
macro_rules! totals_of_64_bits {
    ($name:ident, $op:ident, $of:ident, $float:ident, $from_float:ident) => {{
        #[inline(always)]
        fn combine(op: Op, one: __m512d, other: __m512d) -> __m512d {
            // SAFETY: the processor has the instructions, and there are no addresses among the operands.
            unsafe { $float($name::combine(op, $name($from_float(one)), $name($from_float(other))).0) }
        }

        #[inline(always)]
        fn pairs(op: Op, one: __m512d, other: __m512d) -> __m512d {
            // SAFETY: the processor has the instructions, and there are no addresses among the operands.
            unsafe { combine(op, _mm512_unpacklo_pd(one, other), _mm512_unpackhi_pd(one, other)) }
        }

        #[inline(always)]
        fn halves(op: Op, one: __m512d, other: __m512d) -> __m512d {
            // SAFETY: the processor has the instructions, and there are no addresses among the operands.
            unsafe {
                let even = _mm512_shuffle_f64x2::<0b10_00_10_00>(one, other);
                combine(op, even, _mm512_shuffle_f64x2::<0b11_01_11_01>(one, other))
            }
        }

        let [a, b, c, d, e, f, g, h] = each($of, |one| $float(one.0));
        let first = halves($op, pairs($op, a, b), pairs($op, c, d));
        let second = halves($op, pairs($op, e, f), pairs($op, g, h));
        $name($from_float(halves($op, first, second)))
    }};
}

/// The same of numbers of 32 bits.
macro_rules! totals_of_32_bits {
    ($name:ident, $op:ident, $of:ident, $float:ident, $from_float:ident) => {{
        #[inline(always)]
        fn combine(op: Op, one: __m256, other: __m256) -> __m256 {
            // SAFETY: the processor has the instructions, and there are no addresses among the operands.
            unsafe { $float($name::combine(op, $name($from_float(one)), $name($from_float(other))).0) }
        }

        #[inline(always)]
        fn pairs(op: Op, one: __m256, other: __m256) -> __m256 {
            // SAFETY: the processor has the instructions, and there are no addresses among the operands.
            unsafe {
                let even = _mm256_shuffle_ps::<0b10_00_10_00>(one, other);
                combine(op, even, _mm256_shuffle_ps::<0b11_01_11_01>(one, other))
            }
        }

        let [a, b, c, d, e, f, g, h] = each($of, |one| $float(one.0));
        let first = pairs($op, pairs($op, a, b), pairs($op, c, d));
        let second = pairs($op, pairs($op, e, f), pairs($op, g, h));
        let low = _mm256_permute2f128_ps::<0b10_00_00>(first, second);
        $name($from_float(combine($op, low, _mm256_permute2f128_ps::<0b11_00_01>(first, second))))
    }};
}

/// The sums of four registers of eight numbers, by neighbours: of each half of them.
#[inline(always)]
fn sums_of_halves(one: __m256, two: __m256, three: __m256, four: __m256) -> __m256 {
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    unsafe { _mm256_hadd_ps(_mm256_hadd_ps(one, two), _mm256_hadd_ps(three, four)) }
}

eight_lanes!(
    F64x8,
    |numbers| _mm512_cvtepu32_epi64(numbers),
    _mm512_mask_blend_pd,
    _mm512_permutex2var_pd,
    _mm512_maskz_compress_pd,
    _mm512_castpd_si512,
    _mm512_castsi512_pd,
    _mm512_alignr_epi64,
    |op, of| totals_of_64_bits!(F64x8, op, of, identity, identity)
);
eight_lanes!(
    I64x8,
    |numbers| _mm512_cvtepu32_epi64(numbers),
    _mm512_mask_blend_epi64,
    _mm512_permutex2var_epi64,
    _mm512_maskz_compress_epi64,
    identity,
    identity,
    _mm512_alignr_epi64,
    |op, of| totals_of_64_bits!(I64x8, op, of, _mm512_castsi512_pd, _mm512_castpd_si512)
);
eight_lanes!(
    U64x8,
    |numbers| _mm512_cvtepu32_epi64(numbers),
    _mm512_mask_blend_epi64,
    _mm512_permutex2var_epi64,
    _mm512_maskz_compress_epi64,
    identity,
    identity,
    _mm512_alignr_epi64,
    |op, of| totals_of_64_bits!(U64x8, op, of, _mm512_castsi512_pd, _mm512_castpd_si512)
);
eight_lanes!(
    F32x8,
    |numbers| numbers,
    _mm256_mask_blend_ps,
    _mm256_permutex2var_ps,
    _mm256_maskz_compress_ps,
    _mm256_castps_si256,
    _mm256_castsi256_ps,
    _mm256_alignr_epi32,
    |op, of| match op {
        Op::Add => {
            let [a, b, c, d, e, f, g, h] = each(of, |one| one.0);
            let (first, second) = (sums_of_halves(a, b, c, d), sums_of_halves(e, f, g, h));
            let low = _mm256_permute2f128_ps::<0b10_00_00>(first, second);
            F32x8(_mm256_add_ps(low, _mm256_permute2f128_ps::<0b11_00_01>(first, second)))
        }
        op => totals_of_32_bits!(F32x8, op, of, identity, identity),
    }
);

macro_rules! eight_integers {
    ($($name:ident)*) => {
        $(eight_lanes!(
            $name,
            |numbers| numbers,
            _mm256_mask_blend_epi32,
            _mm256_permutex2var_epi32,
            _mm256_maskz_compress_epi32,
            identity,
            identity,
            _mm256_alignr_epi32,
            |op, of| totals_of_32_bits!($name, op, of, _mm256_castsi256_ps, _mm256_castps_si256)
        );)*
    };
}

eight_integers!(I32x8 U32x8 I8x8 I16x8 U8x8 U16x8 Boolx8);

/// The sum of four lanes.
#[inline(always)]
fn of_four(all: __m128) -> f32 {
    // SAFETY: the processor has the instructions, and there are no addresses among the operands.
    unsafe {
        let half = _mm_add_ps(all, _mm_movehl_ps(all, all));
        _mm_cvtss_f32(_mm_add_ss(half, _mm_movehdup_ps(half)))
    }
}
