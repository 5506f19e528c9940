//! One coordinate for each parent position, at the same position.
//!
//! ```text
//! parent        0  1  2  3
//! crd           4  1  1  3
//! position      0  1  2  3
//! ```

use super::{Arrays, Level, Parents, Positions, Storage};
use crate::ir::{Expr, Statement};

pub(super) struct Singleton;

impl Level for Singleton {
    fn name(&self) -> &'static str {
        "singleton"
    }

    fn summary(&self) -> &'static str {
        "one coordinate for each parent position"
    }

    fn arrays(&self) -> Arrays {
        Arrays::Coordinates
    }

    fn positions(&self, _: &Storage, parents: &Parents) -> Option<Positions> {
        let begin = parents.begin.clone();
        let end = parents.end.clone().unwrap_or_else(|| begin.clone().plus(Expr::Index(1)));
        Some(Positions { begin, end })
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

    fn close_parent(&self, _: &Storage, _: Expr) -> Option<Vec<Statement>> {
        Some(Vec::new())
    }
}
