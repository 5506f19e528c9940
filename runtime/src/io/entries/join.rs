//! The chunks' columns, one behind another.

use super::chunk::Chunk;
use super::{Entries, Fault};
use crate::memory;
use crate::tensor::{Indices, OutOfMemory, tasks};

/// The entries of all chunks in order, up to and including the first that has a fault.
///
/// Mode by mode, so that at most one mode is held twice at a time.
pub(super) fn join<T: Copy + Send + Sync>(mut chunks: Vec<Chunk<T>>, order: usize) -> Result<Entries<T>, OutOfMemory> {
    let faulty = chunks.iter().position(|chunk| chunk.fault.is_some());
    chunks.truncate(faulty.map_or(chunks.len(), |number| number + 1));
    let fault: Option<Fault> = chunks.last_mut().and_then(|chunk| chunk.fault.take());

    let mut largest = vec![0; order];
    let mut columns: Vec<Vec<Indices>> = (0..order).map(|_| Vec::with_capacity(chunks.len())).collect();
    let mut values = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        for ((mode, column), largest) in chunk.modes.into_iter().zip(&mut columns).zip(&mut largest) {
            *largest = mode.largest.max(*largest);
            column.push(mode.indices);
        }
        values.push(chunk.values);
    }
    let indices = columns.into_iter().map(join_indices).collect::<Result<_, _>>()?;
    Ok(Entries { indices, largest, values: join_parts(values)?, fault })
}

/// One mode: 32 bits wide unless a part is not.
fn join_indices(parts: Vec<Indices>) -> Result<Indices, OutOfMemory> {
    if parts.iter().any(|part| matches!(part, Indices::U64(_))) {
        let parts = parts.into_iter().map(into_wide).collect::<Result<_, _>>()?;
        join_parts(parts).map(Indices::U64)
    } else {
        join_parts(parts.into_iter().filter_map(into_narrow).collect()).map(Indices::U32)
    }
}

fn into_wide(part: Indices) -> Result<Vec<u64>, OutOfMemory> {
    match part {
        Indices::U32(narrow) => memory::try_collected(narrow.into_iter().map(u64::from)),
        Indices::U64(wide) => Ok(wide),
    }
}

fn into_narrow(part: Indices) -> Option<Vec<u32>> {
    match part {
        Indices::U32(narrow) => Some(narrow),
        Indices::U64(_) => None,
    }
}

/// The parts in one vector, copied by all threads.
fn join_parts<T: Copy + Send + Sync>(mut parts: Vec<Vec<T>>) -> Result<Vec<T>, OutOfMemory> {
    if parts.len() < 2 {
        return Ok(parts.pop().unwrap_or_default());
    }
    let Some(&filler) = parts.iter().flatten().next() else { return Ok(Vec::new()) };
    let count = parts.iter().map(Vec::len).sum();
    let mut joined = memory::try_room(count)?;
    joined.resize(count, filler);
    let mut rest = joined.as_mut_slice();
    let mut places = Vec::with_capacity(parts.len());
    for part in &parts {
        let (place, behind) = rest.split_at_mut(part.len());
        places.push(place);
        rest = behind;
    }
    let parts = parts.into_iter().zip(places).collect();
    tasks::each(parts, &|_, (part, place): (Vec<T>, &mut [T])| place.copy_from_slice(&part));
    Ok(joined)
}
