//! How a temporary is stored of which the text does not say it.
//!
//! A value that is known where sparse operands have no entry is stored sparse, else dense; a vector of sums is dense. Its modes
//! are in the order of the operands' levels, so that entries come in order; a mode is dense where every operand stores it so:
//!
//! ```text
//! let T(i, r) = X(i, j, k) * B(k, r);     X: csf       T: [compressed, dense]
//! let n(i) = A(i, j) * A(i, j);           A: csr       n: [dense]
//! ```

use crate::format::{Coordinate, Format, Level, LevelFormat};
use crate::ir::Literal;
use crate::notation::{Access, Assignment, Expr, IndexVariable, Kernel, Tensor, Variable, simplify};

/// What is missing in what a statement makes: what its value is where no operand has an entry, so that a temporary that is made
/// says the same as its value in its place. Where that is not known, and where a mask or computed indices leave elements out, it is
/// what the statement begins with.
pub(in crate::notation) fn fill(statement: &Assignment, tensors: &[Tensor], variables: &[Variable]) -> Literal {
    let target = &statement.target;
    let is_computed = |index: &IndexVariable| variables[index.0].value.is_some();
    let leaves_out = statement.mask.is_some() || target.indices.iter().any(is_computed);
    let missing = |access: &Access| tensors[access.tensor.0].missing();
    let known = || simplify::known(&statement.value, &missing);
    let start = tensors[target.tensor.0].fill;
    if leaves_out { start } else { known().unwrap_or(start) }
}

/// The format of what a statement makes. Where `is_pattern`, it has to tell the entries of the value from other places.
pub(in crate::notation) fn format(
    statement: &Assignment,
    tensors: &[Tensor],
    variables: &[Variable],
    is_pattern: bool,
) -> Format {
    let order = statement.target.indices.len();
    let sparse = |access: &Access| tensors[access.tensor.0].is_sparse();
    let masked = statement.mask.as_ref().is_some_and(sparse);
    // What is summed over each index of one mode has few values beside what it is summed from.
    let is_vector_of_sums = order <= 1 && matches!(statement.value, Expr::Reduce(..)) && !is_pattern;
    // What an array of indices scatters comes in any order.
    let is_scattered = |access: &Access| {
        let last = access.indices.last().filter(|_| tensors[access.tensor.0].format.is_map());
        last.is_some_and(|index| statement.target.indices.contains(index))
    };
    if !is_pattern && statement.reads().any(is_scattered) {
        return Format::dense(order);
    }
    let missing = |access: &Access| tensors[access.tensor.0].missing();
    let fill = tensors[statement.target.tensor.0].fill;
    let is_fill = || simplify::known(&statement.value, &missing).is_some_and(|known| known.equals(fill));
    if !masked && (is_vector_of_sums || !is_fill()) {
        return Format::dense(order);
    }
    let operands: Vec<Stored<'_>> = (statement.mask.iter().chain(statement.value.accesses()))
        .filter(|access| sparse(access))
        .map(|access| Stored { access, format: &tensors[access.tensor.0].format })
        .collect();
    let driver = operands.iter().rev().max_by_key(|operand| operand.over(&statement.target).count());
    let mut modes: Vec<usize> = (0..order).collect();
    if let Some(driver) = driver {
        let least = |variable| operands.iter().map(|operand| operand.depth(variable)).min();
        modes.sort_by_key(|&mode| {
            let variable = statement.target.indices[mode];
            (least(variable), driver.depth(variable))
        });
        let shared = driver.levels_of(&statement.target, &modes).filter(|_| operands.len() == 1);
        if let Some(levels) = shared.filter(|levels| !is_pattern || levels.iter().any(|level| !level.kind.fills)) {
            return Format::permuted(&modes, &levels);
        }
    }
    // What an index of the target is computed from.
    let running = |mode: usize| {
        let index = statement.target.indices[mode];
        let made_of = variables[index.0].value.as_ref().map(|value| value.variables());
        made_of.unwrap_or_else(|| vec![index])
    };
    let is_walked =
        |mode: usize| running(mode).iter().any(|&index| operands.iter().any(|operand| operand.walks(index)));
    // Modes of different sparse operands meet only where these do.
    let is_met = |place: usize| {
        let has = |operand: &Stored<'_>, mode: usize| {
            running(mode).iter().any(|index| operand.access.indices.contains(index))
        };
        let with = |mode: usize| operands.iter().filter(move |operand| has(operand, mode));
        let here = modes[place];
        with(here).next().is_some()
            && modes[..place]
                .iter()
                .any(|&above| with(above).next().is_some() && !with(here).any(|operand| has(operand, above)))
    };
    let level = |place: usize| match is_walked(modes[place]) || is_met(place) {
        true => LevelFormat::COMPRESSED,
        false => LevelFormat::DENSE,
    };
    let mut levels: Vec<LevelFormat> = (0..order).map(level).collect();
    if let Some(last) = levels.last_mut().filter(|_| is_pattern) {
        *last = LevelFormat::COMPRESSED;
    }
    Format::permuted(&modes, &levels)
}

/// The format that stores no more of a result than the entries that its statement makes: as that of a temporary. None where one index
/// chooses whole rows, as in a product with a dense matrix: a dense result stores little more. None where several statements make the
/// result.
pub fn sparsest(kernel: &Kernel, result: &Tensor) -> Option<Format> {
    let makes = |statement: &&Assignment| kernel.tensors[statement.target.tensor.0].name == result.name;
    let mut statements = kernel.statements.iter().filter(makes);
    let (Some(statement), None) = (statements.next(), statements.next()) else { return None };
    let is_computed = |index: &IndexVariable| kernel.variables[index.0].value.is_some();
    if statement.target.indices.iter().any(is_computed) {
        return None;
    }
    let is_sparse = |format: &Format| match format.levels.iter().rposition(|level| !level.format.kind.is_dense()) {
        Some(last) => last > 0 || format.levels.len() == 1,
        None => false,
    };
    Some(format(statement, &kernel.tensors, &kernel.variables, false)).filter(is_sparse)
}

/// A sparse operand as it is accessed.
struct Stored<'a> {
    access: &'a Access,
    format: &'a Format,
}

impl Stored<'_> {
    /// The index variables of the target that it has.
    fn over(&self, target: &Access) -> impl Iterator<Item = &IndexVariable> {
        self.access.indices.iter().filter(|variable| target.indices.contains(variable))
    }

    /// The first level that stores a variable's mode, whole or in parts; the number of levels where none does.
    fn depth(&self, variable: IndexVariable) -> usize {
        let stores = |level: &Level| self.modes(variable).any(|mode| mentions(&level.coordinate, mode));
        self.format.levels.iter().position(stores).unwrap_or(self.format.levels.len())
    }

    /// Whether some coordinate of a variable may have no entry.
    fn walks(&self, variable: IndexVariable) -> bool {
        let mut levels = self.format.levels.iter();
        levels.any(|level| {
            let stores = self.modes(variable).any(|mode| mentions(&level.coordinate, mode));
            stores && (!level.format.kind.is_dense() || !matches!(level.coordinate, Coordinate::Mode(_)))
        })
    }

    fn modes(&self, variable: IndexVariable) -> impl Iterator<Item = usize> {
        let indices = self.access.indices.iter().enumerate();
        indices.filter(move |(_, other)| **other == variable).map(|(mode, _)| mode)
    }

    /// Its outer levels, where they are exactly those of the target's modes in this order: then the structure can be shared.
    fn levels_of(&self, target: &Access, modes: &[usize]) -> Option<Vec<LevelFormat>> {
        let levels = self.format.levels.get(..modes.len())?;
        let same = levels.iter().zip(modes).all(|(level, &mode)| {
            matches!(level.coordinate, Coordinate::Mode(of) if self.access.indices.get(of) == target.indices.get(mode))
        });
        let unique = levels.last().is_none_or(|level| level.format.unique());
        (same && unique).then(|| levels.iter().map(|level| level.format).collect())
    }
}

/// Whether a level may store a mode, whole or in part.
fn mentions(coordinate: &Coordinate, mode: usize) -> bool {
    !matches!(coordinate, Coordinate::Mode(other) if *other != mode)
}
