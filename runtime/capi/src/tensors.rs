//! Tensors.

use crate::handles::{self, Object};
use crate::memory::{self, Indices, Keeper, Level, Owner, Pointer, Values};
use crate::status::{Failure, Status, guard};
use spc::tensor::{AnyTensor, Coordinates, Duplicates, IndexArray, LevelArrays, pack};
use spc::with_element;
use spc_compiler::diagnostics::render::render;
use spc_compiler::format::Format;
use spc_compiler::format::resolve::{self, Definitions};
use spc_compiler::syntax;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::Arc;

/// Tensors of more modes than this are refused: their shape is hardly one.
const MOST_MODES: u32 = 255;

/// `spc_info`: how large a tensor is.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Info {
    /// The type of the elements: `SPC_F64` and so on.
    pub element: i32,
    /// The number of modes.
    pub order: u32,
    /// The number of levels, of which some formats have more than modes.
    pub levels: u64,
    /// The number of stored entries.
    pub entries: u64,
    /// The number of values.
    pub values: u64,
    /// The bytes of all arrays.
    pub bytes: u64,
}

/// The format of a text for tensors of an order.
fn format(text: &str, order: usize) -> Result<Format, Failure> {
    let none = syntax::Program::default();
    let parsed = syntax::parse_format(text);
    let resolved = parsed.and_then(|format| resolve::resolve(&format, order, &Definitions::of_program(&none)));
    resolved.map_err(|found| Failure::new(Status::Text, render(text, "<format>", &found.into_sorted(), false)))
}

fn shape(pointer: Pointer<u64>, order: u32) -> Result<Vec<usize>, Failure> {
    if order > MOST_MODES {
        return Err(Failure::argument(format!("a tensor has at most {MOST_MODES} modes, not {order}")));
    }
    memory::shape(pointer, order)
}

fn give(tensor: AnyTensor, result: *mut u64) -> Result<(), Failure> {
    memory::put(result, "result", handles::keep(Object::Tensor(Arc::new(tensor))))
}

/// A tensor of arrays, which are released with it once it is there.
fn make(
    shape: Vec<usize>,
    text: &str,
    levels: &[Level],
    values: Pointer<Values>,
    owner: Pointer<Owner>,
    result: *mut u64,
) -> Result<(), Failure> {
    memory::check(result, "result")?;
    let format = format(text, shape.len())?;
    if levels.len() != format.levels.len() {
        let (wanted, found) = (format.levels.len(), levels.len());
        return Err(Failure::argument(format!(
            "the format {format} has {wanted} levels, but there are arrays of {found}"
        )));
    }
    let keeper = Keeper::of(owner)?;
    let arrays = |level: &Level| {
        let positions = memory::indices(level.positions, keeper.as_ref(), "positions")?;
        Ok(LevelArrays::new(positions, memory::indices(level.coordinates, keeper.as_ref(), "coordinates")?))
    };
    let levels = levels.iter().map(arrays).collect::<Result<Vec<_>, Failure>>()?;
    let values = memory::values(memory::value(values, "values")?, keeper.as_ref())?;
    let tensor = AnyTensor::from_parts(shape, format, levels, values).map_err(Failure::tensor)?;
    if let Some(keeper) = keeper {
        keeper.take();
    }
    give(tensor, result)
}

const NO_ARRAY: Indices = Indices { data: ptr::null(), length: 0, bytes: 0 };
const NO_LEVEL: Level = Level { positions: NO_ARRAY, coordinates: NO_ARRAY };

/// A dense tensor whose last mode is contiguous; of order 0, a number.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_dense(
    order: u32,
    extents: *const u64,
    values: *const Values,
    owner: *const Owner,
    result: *mut u64,
) -> Status {
    guard(|| {
        let shape = shape(extents, order)?;
        let levels = vec![NO_LEVEL; shape.len()];
        make(shape, "dense", &levels, values, owner, result)
    })
}

/// What the levels of a format say of the width of their coordinates and positions.
fn widths(coordinates: Indices, positions: Indices) -> Result<String, Failure> {
    let name = |array: Indices| match array.bytes {
        1 => Ok("u8"),
        2 => Ok("u16"),
        4 => Ok("u32"),
        8 => Ok("u64"),
        other => Err(Failure::argument(format!("an index has 1, 2, 4 or 8 bytes, not {other}"))),
    };
    Ok(match (name(coordinates)?, name(positions)?) {
        ("u32", "u32") => String::new(),
        (coordinates, positions) => format!("({coordinates}, pos = {positions})"),
    })
}

/// A matrix in compressed rows.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_csr(
    rows: u64,
    columns: u64,
    positions: *const Indices,
    coordinates: *const Indices,
    values: *const Values,
    owner: *const Owner,
    result: *mut u64,
) -> Status {
    guard(|| {
        let shape = memory::shape([rows, columns].as_ptr(), 2)?;
        let positions = memory::value(positions, "positions")?;
        let coordinates = memory::value(coordinates, "coordinates")?;
        let text = format!("[dense, compressed{}]", widths(coordinates, positions)?);
        make(shape, &text, &[NO_LEVEL, Level { positions, coordinates }], values, owner, result)
    })
}

/// Sorted coordinates, an array for each mode.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_coo(
    order: u32,
    extents: *const u64,
    coordinates: *const Indices,
    values: *const Values,
    owner: *const Owner,
    result: *mut u64,
) -> Status {
    guard(|| {
        let shape = shape(extents, order)?;
        let coordinates = memory::list(coordinates, u64::from(order), "coordinates")?;
        let Some(first) = coordinates.first() else {
            return Err(Failure::argument("a tensor of coordinates has a mode at least"));
        };
        if coordinates.iter().any(|array| array.bytes != first.bytes) {
            return Err(Failure::argument("the coordinates of all modes have one width"));
        }
        let is_wide = first.bytes == 8;
        let text = match (is_wide, order) {
            (false, 1) => "[compressed]".to_owned(),
            (true, 1) => "[compressed(u64, pos = u64)]".to_owned(),
            (false, _) => "coo".to_owned(),
            (true, _) => {
                let rest = ", singleton(nonunique, u64)".repeat(order as usize - 1);
                format!("[compressed(nonunique, u64, pos = u64){rest}]")
            }
        };
        // Where the entries of the whole begin and end. They are the library's: an array for either width.
        let (narrow, wide) = ([0_u32, u32::try_from(first.length).unwrap_or(u32::MAX)], [0_u64, first.length]);
        let data = if is_wide { wide.as_ptr().cast::<c_void>() } else { narrow.as_ptr().cast() };
        with_ends(
            shape,
            &text,
            Indices { data, length: 2, bytes: if is_wide { 8 } else { 4 } },
            coordinates,
            values,
            owner,
            result,
        )
    })
}

/// As [`make`], for coordinates below positions that are copied.
fn with_ends(
    shape: Vec<usize>,
    text: &str,
    ends: Indices,
    coordinates: &[Indices],
    values: Pointer<Values>,
    owner: Pointer<Owner>,
    result: *mut u64,
) -> Result<(), Failure> {
    memory::check(result, "result")?;
    let format = format(text, shape.len())?;
    let keeper = Keeper::of(owner)?;
    let arrays = |(mode, array): (usize, &Indices)| {
        let positions = if mode == 0 { memory::indices(ends, None, "positions")? } else { None };
        // Coordinates are there also where there are none.
        let coordinates = memory::indices(*array, keeper.as_ref(), "coordinates")?;
        Ok(LevelArrays::new(positions, coordinates))
    };
    let levels = coordinates.iter().enumerate().map(arrays).collect::<Result<Vec<_>, Failure>>()?;
    let values = memory::values(memory::value(values, "values")?, keeper.as_ref())?;
    let tensor = AnyTensor::from_parts(shape, format, levels, values).map_err(Failure::tensor)?;
    if let Some(keeper) = keeper {
        keeper.take();
    }
    give(tensor, result)
}

/// A tensor of any format: the arrays of each level, outermost first.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_levels(
    order: u32,
    extents: *const u64,
    format: *const c_char,
    levels: *const Level,
    level_count: u64,
    values: *const Values,
    owner: *const Owner,
    result: *mut u64,
) -> Status {
    guard(|| {
        let shape = shape(extents, order)?;
        let text = memory::text(format, "format")?;
        if level_count > 8 * u64::from(MOST_MODES) {
            return Err(Failure::argument(format!("there are no formats of {level_count} levels")));
        }
        make(shape, &text, memory::list(levels, level_count, "levels")?, values, owner, result)
    })
}

/// A tensor of entries in any order, packed into a format.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_entries(
    order: u32,
    extents: *const u64,
    text: *const c_char,
    coordinates: *const Indices,
    values: *const Values,
    is_summed: i32,
    result: *mut u64,
) -> Status {
    guard(|| {
        memory::check(result, "result")?;
        let shape = shape(extents, order)?;
        let format = format(&memory::text(text, "format")?, shape.len())?;
        let coordinates = memory::list(coordinates, u64::from(order), "coordinates")?;
        let values = memory::values(memory::value(values, "values")?, None)?;
        let mode = |(mode, array): (usize, &Indices)| {
            let found = memory::indices(*array, None, "coordinates")?;
            let found = found.unwrap_or_else(|| IndexArray::from(Vec::<u32>::new()));
            if found.len() != values.len() {
                let (found, wanted) = (found.len(), values.len());
                return Err(Failure::argument(format!(
                    "mode {} has {found} coordinates for {wanted} values",
                    mode + 1
                )));
            }
            Ok(spc::tensor::Indices::U64(found.iter().map(|index| index as u64).collect()))
        };
        let indices = coordinates.iter().enumerate().map(mode).collect::<Result<Vec<_>, Failure>>()?;
        let duplicates = if is_summed == 0 { Duplicates::Refuse } else { Duplicates::Sum };
        let packed = with_element!(values.element(), |T| {
            let values = values.as_slice::<T>().unwrap_or_default().to_vec();
            pack::<T>(Coordinates { shape, shape_is_stated: true, indices, values }, &format, duplicates)
        });
        give(packed.map_err(Failure::tensor)?, result)
    })
}

/// The same tensor in another format.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_convert(tensor: u64, text: *const c_char, result: *mut u64) -> Status {
    guard(|| {
        memory::check(result, "result")?;
        let tensor = handles::tensor(tensor)?;
        let format = format(&memory::text(text, "format")?, tensor.order())?;
        give(tensor.convert(&format).map_err(Failure::tensor)?, result)
    })
}

/// The tensor that a file holds.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_read(path: *const c_char, result: *mut u64) -> Status {
    guard(|| {
        memory::check(result, "result")?;
        give(spc::io::read(memory::text(path, "path")?).map_err(Failure::file)?, result)
    })
}

/// Writes a file of the kind that its name says.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_write(tensor: u64, path: *const c_char) -> Status {
    guard(|| {
        let tensor = handles::tensor(tensor)?;
        spc::io::write_tensor(memory::text(path, "path")?, &tensor).map_err(Failure::file)
    })
}

/// How large a tensor is.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_info(tensor: u64, info: *mut Info) -> Status {
    guard(|| {
        let tensor = handles::tensor(tensor)?;
        let found = Info {
            element: memory::number_of(tensor.element()),
            order: tensor.order() as u32,
            levels: tensor.levels().len() as u64,
            entries: tensor.nnz() as u64,
            values: tensor.values().len() as u64,
            bytes: tensor.storage_bytes() as u64,
        };
        memory::put(info, "info", found)
    })
}

/// The extent of each mode.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_shape(tensor: u64, extents: *mut u64, capacity: u64) -> Status {
    guard(|| {
        let tensor = handles::tensor(tensor)?;
        let order = tensor.order() as u64;
        if capacity < order {
            return Err(Failure::argument(format!(
                "the tensor has {order} modes, but there is room for {capacity} extents"
            )));
        }
        let places = memory::room(extents, order, "shape")?;
        places.iter_mut().zip(tensor.shape()).for_each(|(place, extent)| *place = *extent as u64);
        Ok(())
    })
}

/// The format, level by level.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_format(tensor: u64, buffer: *mut c_char, capacity: u64, length: *mut u64) -> Status {
    guard(|| memory::give_text(&handles::tensor(tensor)?.format().to_string(), buffer, capacity, length))
}

/// The arrays of a level, in the tensor's memory.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_level(tensor: u64, level: u64, arrays: *mut Level) -> Status {
    guard(|| {
        let tensor = handles::tensor(tensor)?;
        let levels = tensor.levels();
        let found = usize::try_from(level).ok().and_then(|level| levels.get(level)).ok_or_else(|| {
            Failure::argument(format!("there is no level {level}: the tensor has {}, counted from 0", levels.len()))
        })?;
        let of = |array: Option<&IndexArray>| {
            array.map_or(NO_ARRAY, |array| Indices {
                data: array.as_bytes().as_ptr().cast(),
                length: array.len() as u64,
                bytes: array.width().bytes() as u64,
            })
        };
        memory::put(arrays, "arrays", Level { positions: of(found.positions()), coordinates: of(found.coordinates()) })
    })
}

/// The values, in the tensor's memory.
#[unsafe(no_mangle)]
pub extern "C" fn spc_tensor_values(tensor: u64, values: *mut Values) -> Status {
    guard(|| {
        let tensor = handles::tensor(tensor)?;
        let found = tensor.values();
        let (data, length) = (found.as_bytes().as_ptr().cast(), found.len() as u64);
        memory::put(values, "values", Values { data, length, element: memory::number_of(tensor.element()) })
    })
}

/// Frees a tensor, a builder or a kernel; 0 is none.
#[unsafe(no_mangle)]
pub extern "C" fn spc_free(handle: u64) -> Status {
    guard(|| if handle == 0 { Ok(()) } else { handles::forget(handle) })
}
