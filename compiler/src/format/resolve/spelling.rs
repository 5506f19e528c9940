//! Formats by the names that other libraries and papers have for them.

use super::{Definitions, resolve};
use crate::format::mode_name;
use crate::level;
use crate::syntax::parse_format;

/// The format that is meant by a name that no format has: the same in other letters, or another library's.
pub(super) fn format<'a>(name: &str, mut known: impl Iterator<Item = &'a str>) -> Option<String> {
    let plain = plain(name);
    if let Some(own) = known.find(|known| known.eq_ignore_ascii_case(name)) {
        return Some(own.to_owned());
    }
    let meant = match plain.as_str() {
        "crs" | "csrmatrix" | "csrarray" | "sparse" | "sparsematrix" | "lil" => "csr",
        "ccs" | "cscmatrix" | "cscarray" | "sparsematrixcsc" => "csc",
        "dcsc" => "(i, j) -> [j: compressed, i: compressed]",
        "coordinate" | "coordinates" | "coomatrix" | "cooarray" | "triplet" | "triplets" | "sparsecoo" => "coo",
        "bsr" | "bsrmatrix" | "bcrs" | "blocked" => "bcsr(4)",
        "ellpack" => "ell",
        "sellc" | "slicedellpack" => "sell(8)",
        "diamatrix" | "diagonals" | "banded" => "dia",
        "dok" | "dokmatrix" => "[hashed, hashed]",
        "densematrix" | "ndarray" | "array" | "matrix" | "vector" | "full" => "dense",
        "morton" => "mcoo",
        "sparsetensor" => "csf",
        "sparsevector" => "[compressed]",
        _ => return taco(name, None),
    };
    Some(meant.to_owned())
}

/// The level format that is meant by a name that none has.
pub(super) fn level(name: &str) -> Option<&'static str> {
    let plain = plain(name);
    let own = level::ALL.iter().map(|level| level.kind().name).find(|own| *own == plain);
    own.or(match plain.as_str() {
        "sparse" | "sparselist" | "list" => Some("compressed"),
        "sparsehash" | "hash" | "dict" | "sparsedict" => Some("hashed"),
        "sparsebytemap" | "bytemap" | "bitset" => Some("bitmap"),
        "sparseband" | "band" | "sparseinterval" => Some("banded"),
        "runlist" | "sparserunlist" | "repeatrle" | "rle" => Some("run"),
        "full" => Some("dense"),
        _ => None,
    })
}

fn plain(name: &str) -> String {
    name.chars().filter(|letter| !matches!(letter, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// A format as taco's command line says it: a letter for each level, as `ds`, and the mode that each stores, as `[1, 0]` of
/// `ds:1,0`. Gives it as it is written here, by its name where it has one.
pub fn taco(letters: &str, modes: Option<&[usize]>) -> Option<String> {
    let level = |letter: char| {
        Some(match letter {
            'd' => "dense",
            's' => "compressed",
            'u' => "compressed(nonunique)",
            'q' => "singleton",
            'c' => "singleton(nonunique)",
            _ => return None,
        })
    };
    let levels: Vec<&str> = letters.chars().map(level).collect::<Option<_>>()?;
    let order = levels.len();
    let in_order: Vec<usize> = (0..order).collect();
    let modes = modes.unwrap_or(&in_order);
    let is_permutation = modes.len() == order && in_order.iter().all(|mode| modes.contains(mode));
    if order == 0 || !is_permutation {
        return None;
    }
    let stored: Vec<String> =
        modes.iter().zip(&levels).map(|(mode, level)| format!("{}: {level}", mode_name(*mode))).collect();
    let spelled = match *modes == in_order {
        true => format!("[{}]", levels.join(", ")),
        false => format!("({}) -> [{}]", (0..order).map(mode_name).collect::<Vec<_>>().join(", "), stored.join(", ")),
    };
    let definitions = Definitions::prelude();
    let resolved = |text: &str| resolve(&parse_format(text).ok()?, order, &definitions).ok();
    let wanted = resolved(&spelled)?;
    let is_it = |name: &&str| resolved(name).is_some_and(|format| format == wanted);
    let named = ["dense", "csr", "csc", "dcsr", "coo", "csf"].into_iter().find(is_it);
    Some(named.map_or(spelled.clone(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::prelude;

    #[test]
    fn letters_of_taco_are_formats_here() {
        for (letters, modes, expected) in [
            ("ds", None, "csr"),
            ("ds", Some(&[1, 0][..]), "csc"),
            ("ds", Some(&[0, 1]), "csr"),
            ("ss", None, "dcsr"),
            ("dd", None, "dense"),
            ("sss", None, "csf"),
            ("uq", None, "coo"),
            ("sd", None, "[compressed, dense]"),
            ("dss", Some(&[2, 0, 1]), "(i, j, k) -> [k: dense, i: compressed, j: compressed]"),
        ] {
            assert_eq!(taco(letters, modes).as_deref(), Some(expected), "{letters}");
        }
        for (letters, modes) in [("", None), ("dx", None), ("ds", Some(&[0, 0][..])), ("ds", Some(&[0])), ("q", None)] {
            assert_eq!(taco(letters, modes), None, "{letters}");
        }
    }

    #[test]
    fn names_of_others_are_formats_that_there_are() {
        let known = || prelude::definitions().iter().map(|definition| definition.name.name.as_str());
        let names =
            ["CSR", "Csr", "COO", "crs", "csr_matrix", "SparseMatrixCSC", "BSR", "ELLPACK", "DOK", "dcsc", "ds"];
        for name in names {
            let meant = format(name, known()).expect(name);
            let parsed = parse_format(&meant).expect(name);
            resolve(&parsed, 2, &Definitions::prelude()).expect(name);
        }
        assert_eq!(format("nothing", known()), None);
        assert!(["Sparse", "SparseHash", "Dense", "RLE"].iter().all(|name| level(name).is_some()));
    }
}
