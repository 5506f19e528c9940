//! Damage: a good input with a few changes.

use crate::data::Random;

/// What damaged text has in the place of something else: numbers at the edge of what types hold, and signs.
const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "255",
    "256",
    "65536",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "1e308",
    "1e999",
    "nan",
    "inf",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    "=",
    "+=",
    "->",
    "...",
    "/",
    "%",
    "*",
    "+",
    "-",
    "where",
    "let",
    "fill",
    "dense",
    "compressed",
    "singleton",
    "padded",
    "csf",
    "(u8)",
    "sum(i)",
    "i",
    "j",
    "A(i, j)",
    "schedule",
    "split(i, i0, i1, 0);",
    "\n",
    " ",
    "//",
    "/*",
    "\u{e9}",
    "\0",
    "\u{feff}",
];

/// A copy of one of `seeds`, damaged: the same for the same number.
///
/// # Panics
/// Without seeds.
pub fn mutated(seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut random = Random::new(number);
    let mut bytes = random.choose(seeds).clone();
    for _ in 0..1 + random.below(4) {
        let (begin, end) = range(&bytes, &mut random);
        match random.below(8) {
            0 => bytes.truncate(begin),
            1 => drop(bytes.drain(begin..end)),
            2 => {
                let copy = bytes[begin..end].to_vec();
                bytes.splice(end..end, copy);
            }
            3 => {
                let bits = random.bits();
                bytes.iter_mut().skip(begin).take(1).for_each(|byte| *byte ^= 1 << (bits % 8));
            }
            4 => {
                let bits = random.bits();
                bytes.iter_mut().skip(begin).take(1).for_each(|byte| *byte = bits as u8);
            }
            5 => {
                let other = random.choose(seeds).clone();
                let (from, to) = range(&other, &mut random);
                bytes.splice(begin..end, other[from..to].iter().copied());
            }
            _ => drop(bytes.splice(begin..end.min(begin + 4), random.choose(WORDS).bytes())),
        }
    }
    bytes
}

/// Some of the bytes: mostly few.
fn range(bytes: &[u8], random: &mut Random) -> (usize, usize) {
    let begin = random.below(bytes.len() + 1);
    let most = if random.chance(0.8) { 8 } else { 200 };
    (begin, (begin + random.below(most)).min(bytes.len()))
}
