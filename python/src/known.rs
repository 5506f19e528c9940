//! Which index arrays have been looked through.
//!
//! Whether index arrays are right depends on their elements, the shape and the format, and on nothing else. So what is remembered is a
//! digest of these: a matrix that is handed in again is read once at the speed of memory, and not looked through again; one that was
//! changed in place has another digest, and is.

use spc::tensor::{AnyTensor, IndexArray, InvalidTensor, LevelArrays, Values};
use spc_compiler::format::Format;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};

/// So many digests are remembered; then all are forgotten.
const MOST: usize = 4096;
/// Arrays of more bytes are read by several threads, in parts of this size.
const PART: usize = 1 << 18;

struct Known {
    /// Digests begin with numbers that nobody outside knows.
    seed: RandomState,
    digests: Mutex<HashSet<u128>>,
}

static KNOWN: LazyLock<Known> =
    LazyLock::new(|| Known { seed: RandomState::new(), digests: Mutex::new(HashSet::new()) });

/// A tensor of these parts, checked unless the same were checked before.
pub(crate) fn tensor(
    shape: Vec<usize>,
    format: Format,
    levels: Vec<LevelArrays>,
    values: Values,
) -> Result<AnyTensor, InvalidTensor> {
    let is_dense = levels.iter().all(|level| level.positions().is_none() && level.coordinates().is_none());
    if is_dense {
        return AnyTensor::from_parts(shape, format, levels, values);
    }
    let digest = digest(&shape, &format, &levels, values.len());
    if KNOWN.digests.lock().unwrap_or_else(PoisonError::into_inner).contains(&digest) {
        // SAFETY: parts with this shape, format, number of values and these indices were accepted, and it depends on nothing else
        // whether they are.
        return Ok(unsafe { AnyTensor::from_known_parts(shape, format, levels, values) });
    }
    let tensor = AnyTensor::from_parts(shape, format, levels, values)?;
    let mut digests = KNOWN.digests.lock().unwrap_or_else(PoisonError::into_inner);
    if digests.len() >= MOST {
        digests.clear();
    }
    digests.insert(digest);
    Ok(tensor)
}

fn digest(shape: &[usize], format: &Format, levels: &[LevelArrays], values: usize) -> u128 {
    let half = |number: u64| {
        let mut hasher = KNOWN.seed.build_hasher();
        (number, shape, format, values).hash(&mut hasher);
        hasher
    };
    let (mut first, mut second) = (half(1), half(2));
    for level in levels {
        for array in [level.positions(), level.coordinates()] {
            let sums = array.map(|array| (array.width().bytes(), array.len(), sums(array)));
            sums.map(|(width, length, [one, _])| (width, length, one)).hash(&mut first);
            sums.map(|(width, length, [_, other])| (width, length, other)).hash(&mut second);
        }
    }
    u128::from(first.finish()) << 64 | u128::from(second.finish())
}

/// Two sums of the elements, each weighted by where it stands.
fn sums(array: &IndexArray) -> [u64; 2] {
    use rayon::prelude::*;
    let bytes = array.as_bytes();
    let keys = [KNOWN.seed.hash_one(3_u8) | 1, KNOWN.seed.hash_one(4_u8) | 1];
    if bytes.len() <= PART {
        return part(bytes, keys);
    }
    let parts: Vec<[u64; 2]> = bytes.par_chunks(PART).map(|bytes| part(bytes, keys)).collect();
    parts
        .iter()
        .fold(keys, |all, sums| [0, 1].map(|half| (all[half].rotate_left(23) ^ sums[half]).wrapping_mul(keys[half])))
}

/// Polynomials of the words in four lanes each, so that a processor multiplies several at a time.
fn part(bytes: &[u8], keys: [u64; 2]) -> [u64; 2] {
    const LANES: usize = 4;
    let mut lanes = [[keys[1]; LANES], [keys[0]; LANES]];
    let (blocks, rest) = bytes.as_chunks::<{ LANES * 8 }>();
    for block in blocks {
        let (words, _) = block.as_chunks::<8>();
        for (lane, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word);
            lanes[0][lane] = (lanes[0][lane] ^ word).wrapping_mul(keys[0]).rotate_left(29);
            lanes[1][lane] = (lanes[1][lane].wrapping_add(word)).wrapping_mul(keys[1]).rotate_left(31);
        }
    }
    let mut sums =
        lanes.map(|lanes| lanes.iter().fold(0_u64, |all, lane| (all.rotate_left(19) ^ lane).wrapping_mul(keys[0])));
    for &byte in rest {
        sums = [0, 1].map(|half| (sums[half].rotate_left(11) ^ u64::from(byte)).wrapping_mul(keys[half]));
    }
    sums
}
