//! Every coordinate of the mode, in order; nothing is stored.
//!
//! ```text
//! parent        0          1
//! coordinate    0  1  2    0  1  2
//! position      0  1  2    3  4  5      position = parent · extent + coordinate
//! ```

use super::{Arrays, Level, Parents, Positions, Storage};
use crate::ir::{Expr, Statement};

pub(super) struct Dense;

impl Level for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn summary(&self) -> &'static str {
        "every coordinate, none stored"
    }

    fn arrays(&self) -> Arrays {
        Arrays::None
    }

    fn positions(&self, _: &Storage, _: &Parents) -> Option<Positions> {
        None
    }

    fn coordinate(&self, _: &Storage, _: Expr) -> Option<Expr> {
        None
    }

    fn locate(&self, storage: &Storage, parent: Expr, coordinate: Expr) -> Option<Expr> {
        Some(parent.times(Expr::Dimension(storage.extent)).plus(coordinate))
    }

    fn append(&self, _: &Storage, _: Expr) -> Option<Vec<Statement>> {
        None
    }

    fn close_parent(&self, _: &Storage, _: Expr) -> Option<Vec<Statement>> {
        None
    }
}
