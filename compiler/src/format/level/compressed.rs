//! The coordinates that occur under each parent, one parent after the other.
//!
//! ```text
//! parent        0        1     2
//! pos           0        2     2        5
//! crd           1  4           0  2  3
//! position      0  1           2  3  4
//! ```
//!
//! `(nonunique)`: a coordinate may occur several times in a row under one parent, as the first level of COO does.

use super::{Arrays, Level, Parents, Positions, Storage};
use crate::ir::{Expr, Statement};

pub(super) struct Compressed;

impl Level for Compressed {
    fn name(&self) -> &'static str {
        "compressed"
    }

    fn summary(&self) -> &'static str {
        "the coordinates that occur under each parent"
    }

    fn arrays(&self) -> Arrays {
        Arrays::PositionsAndCoordinates
    }

    fn positions(&self, storage: &Storage, parents: &Parents) -> Option<Positions> {
        let positions = storage.positions?;
        let end = parents.end.clone().unwrap_or_else(|| parents.begin.clone().plus(Expr::Index(1)));
        Some(Positions { begin: Expr::load(positions, parents.begin.clone()), end: Expr::load(positions, end) })
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::load(storage.coordinates?, position))
    }

    fn locate(&self, _: &Storage, _: Expr, _: Expr) -> Option<Expr> {
        None
    }

    fn append(&self, storage: &Storage, coordinate: Expr) -> Option<Vec<Statement>> {
        Some(vec![Statement::Push(storage.coordinates?, coordinate)])
    }

    fn close_parent(&self, storage: &Storage, children: Expr) -> Option<Vec<Statement>> {
        Some(vec![Statement::Push(storage.positions?, children)])
    }
}
