//! Entries of a row that a lane takes as a chunk of neighbours.
//!
//! Rows of entries begin anywhere, but chunks begin at multiples of their size: those of coordinates and of values are loaded by one
//! instruction each, and a lane passes over what is of the rows beside its own. So the loads of a chunk are under way together.

use super::plan::Function;
use super::rewrite::{certain_loads, writes};
use crate::ir::{ArrayId, ArrayRole, Expr, Kernel, Statement, TensorId, VariableId};

/// The number of entries of a chunk.
pub(crate) const CHUNK: u64 = 4;

/// The arrays of which a loop that lanes share out reads the element of its counter, where it takes chunks: those of one input, which
/// has as many elements in each.
pub(crate) fn chunked(kernel: &Kernel, counter: VariableId, begin: &Expr, body: &[Statement]) -> Option<Vec<ArrayId>> {
    let is_straight = |statement: &Statement| {
        let mut is_straight = true;
        statement.for_each(&mut |statement| {
            is_straight &= matches!(
                statement,
                Statement::Comment(_) | Statement::Let(..) | Statement::Update(..) | Statement::If(..)
            );
        });
        is_straight
    };
    if matches!(begin, Expr::Index(_)) || writes(body) || !body.iter().all(is_straight) {
        return None;
    }
    let mut arrays: Vec<ArrayId> = Vec::new();
    let mut of: Option<TensorId> = None;
    for (array, index) in certain_loads(body) {
        let (ArrayRole::Coordinates { tensor, .. } | ArrayRole::Values { tensor }) = kernel.array(array).role else {
            continue;
        };
        let is_own = index == Expr::Variable(counter) && !kernel.is_output(tensor);
        if is_own && *of.get_or_insert(tensor) == tensor && !arrays.contains(&array) {
            arrays.push(array);
        }
    }
    (!arrays.is_empty()).then_some(arrays)
}

impl Function {
    /// The array that says how many entries there are, of each loop that lanes take in chunks.
    pub(crate) fn chunked_lengths(&self, kernel: &Kernel) -> Vec<ArrayId> {
        let mut lengths = Vec::new();
        if self.group().is_none() {
            return lengths;
        }
        for statement in &self.body {
            statement.for_each(&mut |statement| {
                if let Statement::For { variable, begin, vector: true, body, .. } = statement {
                    lengths.extend(chunked(kernel, *variable, begin, body).map(|arrays| arrays[0]));
                }
            });
        }
        lengths
    }
}
