//! What machine code calls: the run time's own memory, lists, tables, sets, sorts and functions, each behind an `extern "C"` door.
//!
//! Nothing unwinds through machine code: a panic, also of an array that there is no memory for, is noted in the [`Run`], and the door says
//! that it failed. Machine code then returns at once.

use super::drive::drive;
use super::layout::Kind;
use super::session::{Failure, Local, Run, Session, Words, put, take, with_kind};
use crate::complex::{c32, c64};
use crate::execute::native::abi::Array;
use crate::half::{bf16, f16};
use crate::parallel::{self, Bitmap, Bits, Key, NoMemory, Table};
use spc_compiler::format::interleave;
use spc_compiler::ir::{ArrayId, Function};
use std::slice;

/// Changes a vector by its parts. Where the change panics, what it has left is dropped.
///
/// # Safety
/// As for [`take`].
unsafe fn change<T, R>(array: &mut Array, body: impl FnOnce(&mut Vec<T>) -> R) -> R {
    // SAFETY: as the caller promises.
    let mut vector = unsafe { take::<T>(array) };
    let result = body(&mut vector);
    put(array, vector);
    result
}

fn kind(number: u64) -> Kind {
    Kind::ALL[number as usize]
}

/// Evaluates an expression with a type of keys that stands for a kind.
macro_rules! with_key {
    ($kind:expr, |$type:ident| $result:expr) => {{
        macro_rules! of {
            ($actual:ty) => {{
                type $type = $actual;
                $result
            }};
        }
        match kind($kind) {
            Kind::One => of!(u8),
            Kind::Two => of!(u16),
            Kind::Four => of!(u32),
            _ => of!(u64),
        }
    }};
}

/// The factors of a length.
///
/// # Safety
/// There are so many words.
unsafe fn shape(shape: *const u64, count: u64) -> Vec<usize> {
    // SAFETY: as the caller promises.
    let words: &[u64] = unsafe { slice::from_raw_parts(shape, count as usize) };
    words.iter().map(|&word| word as usize).collect()
}

fn length_of<T>(shape: &[usize]) -> usize {
    parallel::length(shape).unwrap_or_else(|| NoMemory::new(shape, size_of::<T>()).unwind())
}

/// What machine code found wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wrong {
    Index,
    View,
    Division,
    Remainder,
    Runs,
    Key,
    Code,
    Mask,
}

impl Wrong {
    const ALL: [Wrong; 8] = [
        Wrong::Index,
        Wrong::View,
        Wrong::Division,
        Wrong::Remainder,
        Wrong::Runs,
        Wrong::Key,
        Wrong::Code,
        Wrong::Mask,
    ];
}

// What machine code passes as a reference is the address of its session, of the run or of an array in it, which the host has given it, or of
// words on its own stack: valid and of that type, and used by nothing else until the door returns. Where a door takes an address, its caller
// has to vouch for what lies there.

pub(super) extern "C" fn fail(run: &Run<'_>, code: u64, one: u64, other: u64) {
    let name = |place: u64| run.tables.arrays.get(place as usize).map_or("an array", |array| array.0.as_str());
    let array = name(code >> 8);
    let said = match Wrong::ALL[(code & 0xff) as usize] {
        Wrong::Index => format!("{array} has length {other}, index {one} is out of bounds"),
        Wrong::View => format!("{array} is viewed from {one} for {other} elements, which is out of bounds"),
        Wrong::Division => "attempt to divide by zero".to_owned(),
        Wrong::Remainder => "attempt to calculate the remainder with a divisor of zero".to_owned(),
        Wrong::Runs => format!("runs of {array} are of {one} and {other} places"),
        Wrong::Key => format!("the key {one} is not below {other}, which {array} is for"),
        Wrong::Code => format!("the number {one} in a code of {array} is not below {other}"),
        Wrong::Mask => "interleaved numbers take more than 64 bits".to_owned(),
    };
    run.fail(Failure::Stopped(said));
}

/// An array of so many elements, in place of what the array was before; null where it failed.
///
/// # Safety
/// There are so many factors.
pub(super) unsafe extern "C" fn allocate(
    session: &mut Session<'_>,
    array: u64,
    factors: *const u64,
    count: u64,
    low: u64,
    high: u64,
) -> *mut Array {
    // SAFETY: as the caller promises.
    let factors = unsafe { shape(factors, count) };
    let (run, kind) = (session.run, session.run.tables.arrays[array as usize].1);
    let local = &mut session.locals[array as usize];
    run.guarded(std::ptr::null_mut(), || {
        // What was there is freed first.
        drop(std::mem::replace(local, Local::None));
        let mut parts = Array { data: std::ptr::null_mut(), length: 0, capacity: 0 };
        with_kind!(kind, |T| put(
            &mut parts,
            parallel::array(<T as Words>::of([low, high]), [length_of::<T>(&factors)])
        ));
        *local = Local::Vector(parts, kind);
        match local {
            Local::Vector(parts, _) => parts,
            _ => std::ptr::null_mut(),
        }
    })
}

/// An empty list, in place of what the array was before.
pub(super) extern "C" fn list(session: &mut Session<'_>, array: u64) -> *mut Array {
    let kind = session.run.tables.arrays[array as usize].1;
    let local = &mut session.locals[array as usize];
    if !matches!(local, Local::Vector(..)) {
        let mut parts = Array { data: std::ptr::null_mut(), length: 0, capacity: 0 };
        with_kind!(kind, |T| put(&mut parts, Vec::<T>::new()));
        *local = Local::Vector(parts, kind);
    }
    match local {
        Local::Vector(parts, _) => {
            parts.length = 0;
            parts
        }
        _ => std::ptr::null_mut(),
    }
}

/// # Safety
/// There are so many factors.
pub(super) unsafe extern "C" fn table(
    session: &mut Session<'_>,
    array: u64,
    factors: *const u64,
    count: u64,
) -> *mut Table {
    // SAFETY: as the caller promises.
    let factors = unsafe { shape(factors, count) };
    let run = session.run;
    let local = &mut session.locals[array as usize];
    run.guarded(std::ptr::null_mut(), || {
        *local = Local::Table(Table::new([length_of::<usize>(&factors)]));
        match local {
            Local::Table(table) => table,
            _ => std::ptr::null_mut(),
        }
    })
}

pub(super) extern "C" fn bitmap(session: &mut Session<'_>, array: u64, extent: u64) -> *mut Bitmap {
    let run = session.run;
    let local = &mut session.locals[array as usize];
    run.guarded(std::ptr::null_mut(), || {
        *local = Local::Bitmap(Bitmap::new(extent as usize));
        match local {
            Local::Bitmap(bitmap) => bitmap,
            _ => std::ptr::null_mut(),
        }
    })
}

/// The key is below the extent.
pub(super) extern "C" fn mark(bitmap: &mut Bitmap, key: u64) {
    bitmap.mark(key as usize);
}

/// Marks those of the keys that are below an extent, and gives the largest of all.
///
/// # Safety
/// There are so many keys of that kind.
pub(super) unsafe extern "C" fn mark_all(
    bitmap: &mut Bitmap,
    of: u64,
    keys: *const u8,
    begin: u64,
    end: u64,
    extent: u64,
) -> u64 {
    with_key!(of, |K| {
        let (begin, count) = (begin as usize, end.saturating_sub(begin) as usize);
        // SAFETY: as the caller promises.
        let keys = unsafe { slice::from_raw_parts(keys.cast::<K>().wrapping_add(begin), count) };
        let mut largest = 0;
        for key in keys.iter().map(|key| key.wide()) {
            largest = largest.max(key);
            if key < extent {
                bitmap.mark(key as usize);
            }
        }
        largest
    })
}

/// The keys, whose number is written to `count`.
pub(super) extern "C" fn drain(bitmap: &mut Bitmap, count: &mut u64) -> *const u32 {
    let keys = bitmap.drained();
    *count = keys.len() as u64;
    keys.as_ptr()
}

/// # Safety
/// There are so many elements of that kind, which nothing else uses.
pub(super) unsafe extern "C" fn fill(data: *mut u8, length: u64, of: u64, low: u64, high: u64) {
    // SAFETY: as the caller promises.
    unsafe {
        with_kind!(kind(of), |T| {
            slice::from_raw_parts_mut(data.cast::<T>(), length as usize).fill(<T as Words>::of([low, high]))
        });
    }
}

/// Makes room for one more element.
///
/// # Safety
/// The list is one of that kind.
pub(super) unsafe extern "C" fn grow(run: &Run<'_>, list: &mut Array, of: u64) -> u64 {
    run.guarded(1, || {
        // SAFETY: as the caller promises.
        unsafe { with_kind!(kind(of), |T| change::<T, ()>(list, |vector| parallel::reserve(vector, 1))) };
        0
    })
}

/// # Safety
/// The list is one of that kind, and there are so many factors.
pub(super) unsafe extern "C" fn extend(
    run: &Run<'_>,
    list: &mut Array,
    of: u64,
    factors: *const u64,
    count: u64,
    low: u64,
    high: u64,
) -> u64 {
    // SAFETY: as the caller promises.
    let factors = unsafe { shape(factors, count) };
    run.guarded(1, || {
        // SAFETY: as the caller promises.
        unsafe {
            with_kind!(kind(of), |T| change::<T, ()>(list, |vector| {
                parallel::extend(vector, [length_of::<T>(&factors)], <T as Words>::of([low, high]));
            }));
        }
        0
    })
}

/// The place of a key in a list; the largest number where it failed.
///
/// # Safety
/// The list is one of these keys.
unsafe fn insert<K: Key>(run: &Run<'_>, table: &mut Table, keys: &mut Array, key: u64) -> u64 {
    // SAFETY: as the caller promises.
    run.guarded(u64::MAX, || unsafe { change::<K, u64>(keys, |keys| table.insert(keys, K::narrow(key)) as u64) })
}

macro_rules! inserts {
    ($($name:ident $type:ty;)*) => {
        $(/// # Safety
        /// The list is one of these keys.
        pub(super) unsafe extern "C" fn $name(run: &Run<'_>, table: &mut Table, keys: &mut Array, key: u64) -> u64 {
            // SAFETY: as the caller promises.
            unsafe { insert::<$type>(run, table, keys, key) }
        })*
    };
}

inserts! {
    insert_8 u8;
    insert_16 u16;
    insert_32 u32;
    insert_64 u64;
}

/// Sorts a list; the table may be null, which is `None`.
///
/// # Safety
/// The list is one of keys of that kind, and the places are 32-bit numbers.
pub(super) unsafe extern "C" fn sort(
    run: &Run<'_>,
    of: u64,
    keys: &mut Array,
    places: &mut Array,
    table: Option<&mut Table>,
) -> u64 {
    run.guarded(1, || {
        with_key!(of, |K| {
            let sort = |keys: &mut Vec<K>, places: &mut Vec<u32>| match table {
                Some(table) => table.sort(keys, places),
                None => parallel::sort(keys, places),
            };
            // SAFETY: as the caller promises.
            unsafe { change(places, |places| change(keys, |keys| sort(keys, places))) };
        });
        0
    })
}

/// # Safety
/// The list is one of keys of that kind.
pub(super) unsafe extern "C" fn reset(table: &mut Table, of: u64, keys: &mut Array) {
    with_key!(of, |K| {
        // SAFETY: as the caller promises.
        unsafe { change::<K, ()>(keys, |keys| table.reset(keys)) };
    });
}

/// Runs a parallel loop.
pub(super) extern "C" fn parallel_loop(session: &mut Session<'_>, frame: *mut u64, plan: u64) -> u64 {
    let run = session.run;
    run.guarded((), || drive(session, frame, &run.tables.plans[plan as usize]));
    u64::from(run.has_failed())
}

pub(super) extern "C" fn gather(code: u64, mask: u64) -> u64 {
    Bits::at(mask as usize).gather(code as usize) as u64
}

/// # Safety
/// The processor has the instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
pub(super) unsafe extern "C" fn gather_in_one(code: u64, mask: u64) -> u64 {
    std::arch::x86_64::_pext_u64(code, mask)
}

/// The door that takes the numbers at a mask out of codes, for this processor.
pub(super) fn numbers() -> *const u8 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("bmi2") {
        return numbers_in_one as *const u8;
    }
    numbers_of as *const u8
}

/// Writes the numbers at a mask of codes, and gives the largest.
///
/// # Safety
/// There are so many codes of that kind, and room for as many numbers.
unsafe extern "C" fn numbers_of(of: u64, codes: *const u8, count: u64, mask: u64, into: *mut u64) -> u64 {
    let bits = Bits::at(mask as usize);
    // SAFETY: as the caller promises.
    unsafe { take_numbers(of, codes, count, into, |code| bits.gather(code as usize) as u64) }
}

/// The same in one instruction each.
///
/// # Safety
/// As above, and the processor has the instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi2")]
unsafe extern "C" fn numbers_in_one(of: u64, codes: *const u8, count: u64, mask: u64, into: *mut u64) -> u64 {
    // SAFETY: as the caller promises.
    unsafe { take_numbers(of, codes, count, into, |code| std::arch::x86_64::_pext_u64(code, mask)) }
}

/// # Safety
/// As for [`numbers_of`].
#[inline(always)]
unsafe fn take_numbers(of: u64, codes: *const u8, count: u64, into: *mut u64, gather: impl Fn(u64) -> u64) -> u64 {
    with_key!(of, |K| {
        // SAFETY: as the caller promises.
        let (codes, into) = unsafe {
            let count = count as usize;
            (slice::from_raw_parts(codes.cast::<K>(), count), slice::from_raw_parts_mut(into, count))
        };
        let mut largest = 0;
        for (code, into) in codes.iter().zip(into) {
            *into = gather(code.wide());
            largest = largest.max(*into);
        }
        largest
    })
}

pub(super) extern "C" fn scatter(number: u64, mask: u64) -> u64 {
    Bits::at(mask as usize).scatter(number as usize) as u64
}

/// A mask; zero where there is none.
///
/// # Safety
/// There are so many extents.
pub(super) unsafe extern "C" fn mask(part: u64, extents: *const u64, count: u64) -> u64 {
    // SAFETY: as the caller promises.
    let extents = unsafe { slice::from_raw_parts(extents, count as usize) };
    interleave::mask(extents, part as usize).unwrap_or(0)
}

pub(super) extern "C" fn of_f64(function: u64, one: f64, other: f64) -> f64 {
    let function = Function::ALL[function as usize];
    function.of_f64(&[one, other][..function.arity()]).unwrap_or(f64::NAN)
}

pub(super) extern "C" fn of_f32(function: u64, one: f32, other: f32) -> f32 {
    let function = Function::ALL[function as usize];
    function.of_f32(&[one, other][..function.arity()]).unwrap_or(f32::NAN)
}

pub(super) extern "C" fn remainder_f64(one: f64, other: f64) -> f64 {
    one % other
}

pub(super) extern "C" fn remainder_f32(one: f32, other: f32) -> f32 {
    one % other
}

macro_rules! complex {
    ($($type:ident $part:ident $function:ident $quotient:ident;)*) => {
        $(
            /// A function of a complex number: two parts, or one real number.
            pub(super) extern "C" fn $function(function: u64, re: $part, im: $part, result: &mut [$part; 2]) {
                let number = $type::new(re, im);
                let value = match Function::ALL[function as usize] {
                    Function::Sqrt => parallel::root(number),
                    Function::Exp => parallel::exponential(number),
                    _ => number.norm().into(),
                };
                *result = [value.re, value.im];
            }

            pub(super) extern "C" fn $quotient(re: $part, im: $part, by_re: $part, by_im: $part, result: &mut [$part; 2]) {
                let value = parallel::quotient($type::new(re, im), $type::new(by_re, by_im));
                *result = [value.re, value.im];
            }
        )*
    };
}

complex! {
    c32 f32 of_c32 quotient_c32;
    c64 f64 of_c64 quotient_c64;
}

pub(super) extern "C" fn half_to_f32(bits: u32) -> f32 {
    f16::from_bits(bits as u16).into()
}

pub(super) extern "C" fn f32_to_half(number: f32) -> u32 {
    u32::from(f16::from(number).to_bits())
}

pub(super) extern "C" fn f32_to_bf16(number: f32) -> u32 {
    u32::from(bf16::from(number).to_bits())
}

/// The place of an array among those of a kernel, with what is wrong.
pub(super) fn code(wrong: Wrong, array: Option<ArrayId>) -> u64 {
    array.map_or(u64::from(u32::MAX), |array| u64::from(array.0)) << 8 | wrong as u64
}
