//! Decisions as directives.

use super::{Assembly, Entries, Storage, What};

impl What {
    /// The directive that asks for the same, where there is one.
    pub fn directive(&self) -> Option<String> {
        let text = match self {
            What::Inlined(name) => format!("inline({name})"),
            What::Materialized(name, _) => format!("materialize({name})"),
            What::Walked { tensors, levels, .. } => {
                let all: Vec<&str> = tensors.iter().chain(levels).map(String::as_str).collect();
                format!("walk({})", all.join(", "))
            }
            What::WalkedOnce(name) => format!("walk({name})"),
            What::Copied { tensor, order } => format!("copy({tensor}({}))", order.join(", ")),
            What::Permuted { tensor, order } => format!("copy({tensor}({}): permutation)", order.join(", ")),
            What::SamePattern(first, second) => format!("same_pattern({first}, {second})"),
            What::Assembled(name, Assembly::Dense) => format!("assemble({name}: dense)"),
            What::Assembled(name, Assembly::Shared(_)) => format!("assemble({name}: shared)"),
            What::Assembled(name, Assembly::Appended) => format!("assemble({name}: append)"),
            What::Entries(name, Entries::InOrder) => format!("assemble({name}: append)"),
            What::Entries(name, Entries::Through { inner, .. }) => {
                format!("assemble({name}: workspace({}))", names(inner)?.join(", "))
            }
            What::Entries(name, Entries::Listed) => format!("assemble({name}: list)"),
            What::Workspace { name, over, storage } => {
                let storage = match storage {
                    Storage::Bitmap(most) => format!("bitmap({})", most >> 20),
                    Storage::Flags => "bitmap".to_owned(),
                    Storage::Table => "hash".to_owned(),
                    Storage::List => "list".to_owned(),
                };
                format!("workspace({name}({}): {storage})", names(over)?.join(", "))
            }
            What::Reordered(loops) => format!("reorder({})", names(loops)?.join(", ")),
            What::Chunks { rows, by, parts: [chunks, inside], .. } => {
                names(&[rows.clone(), chunks.clone(), inside.clone()])?;
                format!("split({rows}, {chunks}, {inside}, {by})")
            }
            What::Accumulated { variable, name, over } => {
                names(std::slice::from_ref(variable))?;
                match names(over)? {
                    [] => format!("accumulate({variable}: {name})"),
                    over => format!("accumulate({variable}: {name}({}))", over.join(", ")),
                }
            }
            What::Vector(variable) => format!("vector({})", names(std::slice::from_ref(variable))?.join("")),
            What::Simd(variable, simd) => {
                format!("simd({}: {})", names(std::slice::from_ref(variable))?.join(""), simd.name())
            }
            What::Tiled(variable, tile) => {
                format!("register_tile({}, {})", names(std::slice::from_ref(variable))?.join(""), tile.word())
            }
            What::Parallel { variable, balanced: None } => {
                format!("parallel({})", names(std::slice::from_ref(variable))?.join(""))
            }
            What::Parallel { variable, balanced: Some(operand) }
            | What::Shares { of_entries: Some([variable, operand]), .. } => {
                names(std::slice::from_ref(variable))?;
                format!("parallel({variable}: balanced({operand}))")
            }
            What::Serial(variable) => format!("parallel({}: none)", names(std::slice::from_ref(variable))?.join("")),
            What::Deterministic => "deterministic()".to_owned(),
            What::CutOff(_)
            | What::Sampled(..)
            | What::AtOnce(_)
            | What::InFibers(_)
            | What::Converted(_)
            | What::Transposed { .. }
            | What::Delivered { .. }
            | What::BlockSums(_)
            | What::Unused(_)
            | What::ReducedFirst { .. }
            | What::FormedBefore { .. }
            | What::Precomputed { .. }
            | What::Shares { .. }
            | What::BalancedWhereUneven { .. }
            | What::Meeting(..) => return None,
        };
        Some(text)
    }

    /// Whether it is said to the reader of `spc explain`: the rest is in the loops themselves.
    pub fn is_told(&self) -> bool {
        !matches!(self, What::Accumulated { .. } | What::Reordered(_) | What::Copied { .. })
    }
}

/// The same names, where a directive can name all of them: loops over computed indices have none.
fn names(names: &[String]) -> Option<&[String]> {
    let is_name = |name: &String| {
        let mut letters = name.chars();
        letters.next().is_some_and(|first| first == '_' || first.is_alphabetic())
            && letters.all(|letter| letter == '_' || letter.is_alphanumeric())
    };
    names.iter().all(is_name).then_some(names)
}
