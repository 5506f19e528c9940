//! Sets of keys as flags: one for each key, and one for each run of keys, so that few are looked at where most are empty.
//!
//! ```text
//! bitmap keys of n                 allocate keys_flags[n] = 0, keys_runs[(n + 63) / 64] = 0
//! mark keys, j                     keys_flags[j] = 1, keys_runs[j / 64] = 1
//! marked j in keys                 for run in 0..(n + 63) / 64
//!     …                                if keys_runs[run] != 0
//!                                          keys_runs[run] = 0
//!                                          for j in run * 64..min(run * 64 + 64, n)
//!                                              if keys_flags[j] != 0
//!                                                  keys_flags[j] = 0
//!                                                  …
//! ```

use super::rewrite::replace_statements;
use crate::format::IndexWidth;
use crate::ir::{ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Statement};
use std::collections::BTreeMap;

/// The keys of a run.
const RUN: u64 = 64;

/// The arrays that a set is kept in.
struct Flags {
    keys: ArrayId,
    runs: ArrayId,
    extent: Expr,
}

/// The kernel with flags in place of bitmaps.
pub(crate) fn as_flags(kernel: &Kernel) -> Kernel {
    let mut kernel = kernel.clone();
    let mut sets: BTreeMap<ArrayId, Flags> = BTreeMap::new();
    let body = std::mem::take(&mut kernel.body);
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Bitmap { bitmap, extent } = statement {
                let name = kernel.array(*bitmap).name.clone();
                let mut flags = |what: &str| {
                    let element = ArrayElement::Index(IndexWidth::U8);
                    kernel.declare_array(&format!("{name}_{what}"), element, ArrayRole::Local)
                };
                sets.insert(*bitmap, Flags { keys: flags("flags"), runs: flags("runs"), extent: extent.clone() });
            }
        });
    });
    kernel.body = replace_statements(body, &mut |statement| match statement {
        Statement::Bitmap { bitmap, .. } => sets[&bitmap].made(),
        Statement::Mark(bitmap, key) => sets[&bitmap].marked(&key),
        Statement::Marked { variable, bitmap, body } => vec![sets[&bitmap].each(&mut kernel, variable, body)],
        other => vec![other],
    });
    kernel
}

impl Flags {
    /// The number of runs.
    fn count(&self) -> Expr {
        let up = self.extent.clone().plus(Expr::Index(RUN - 1));
        Expr::binary(BinaryOperator::Divide, up, Expr::Index(RUN))
    }

    fn made(&self) -> Vec<Statement> {
        let made = |array, length| Statement::Allocate { array, length, fill: Expr::Index(0) };
        vec![made(self.keys, self.extent.clone()), made(self.runs, self.count())]
    }

    fn marked(&self, key: &Expr) -> Vec<Statement> {
        let run = Expr::binary(BinaryOperator::Divide, key.clone(), Expr::Index(RUN));
        vec![Statement::Store(self.keys, key.clone(), Expr::Index(1)), Statement::Store(self.runs, run, Expr::Index(1))]
    }

    fn each(&self, kernel: &mut Kernel, variable: crate::ir::VariableId, body: Vec<Statement>) -> Statement {
        let run = kernel.declare_index("run");
        let is_set = |array, place: &Expr| {
            Expr::binary(BinaryOperator::NotEqual, Expr::load(array, place.clone()), Expr::Index(0))
        };
        let only_if = |condition, body| Statement::If(vec![(condition, body)], Vec::new());
        let (place, key) = (Expr::Variable(run), Expr::Variable(variable));
        let begin = place.clone().times(Expr::Index(RUN));
        let end = begin.clone().plus(Expr::Index(RUN));
        let end = Expr::binary(BinaryOperator::Minimum, end, self.extent.clone());
        let mut of_key = vec![Statement::Store(self.keys, key.clone(), Expr::Index(0))];
        of_key.extend(body);
        let keys = vec![only_if(is_set(self.keys, &key), of_key)];
        let of_run = vec![
            Statement::Store(self.runs, place.clone(), Expr::Index(0)),
            Statement::For { variable, begin, end, vector: false, body: keys },
        ];
        let runs = vec![only_if(is_set(self.runs, &place), of_run)];
        Statement::For { variable: run, begin: Expr::Index(0), end: self.count(), vector: false, body: runs }
    }
}

/// The kernel with arrays in place of lists and sets.
pub(crate) fn flattened(kernel: &Kernel) -> Kernel {
    as_flags(&super::lists::as_arrays(kernel))
}

/// A body with arrays in place of lists and sets.
pub(crate) fn flattened_body(kernel: &mut Kernel, body: Vec<Statement>) -> Vec<Statement> {
    let mut whole = flattened(&Kernel { body, ..kernel.clone() });
    let body = std::mem::take(&mut whole.body);
    *kernel = whole;
    body
}
