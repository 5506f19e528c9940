//! One coordinate for each parent position, at the same position.
//!
//! ```text
//! parent        0  1  2  3
//! crd           4  1  1  3
//! position      0  1  2  3
//! ```

use super::{Arrays, Level, Parents, Positions, Property, Storage};
use crate::format::LevelFormat;
use crate::ir::{Expr, Statement};

pub(super) struct Singleton;

impl Level for Singleton {
    fn name(&self) -> &'static str {
        "singleton"
    }

    fn summary(&self) -> &'static str {
        "one coordinate for each parent position"
    }

    fn arrays(&self, _: LevelFormat) -> Arrays {
        Arrays::Coordinates
    }

    fn properties(&self) -> &'static [Property] {
        &[Property::Nonunique, Property::Unordered, Property::Coordinates]
    }

    fn positions(&self, _: &Storage, parents: &Parents) -> Option<Positions> {
        let begin = parents.begin.clone();
        let end = parents.end.clone().unwrap_or_else(|| begin.clone().plus(Expr::Index(1)));
        Some(Positions { begin, end })
    }

    fn coordinate(&self, storage: &Storage, position: Expr) -> Option<Expr> {
        Some(Expr::load(storage.coordinates?, position))
    }

    fn parent(&self, _: &Storage, position: Expr) -> Option<Expr> {
        Some(position)
    }

    fn append(&self, storage: &Storage, coordinate: Expr) -> Option<Vec<Statement>> {
        Some(vec![Statement::Push(storage.coordinates?, coordinate)])
    }

    fn close_parent(&self, _: &Storage, _: Expr) -> Option<Vec<Statement>> {
        Some(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{one_parent, parents, storage, v};
    use super::*;
    use crate::ir::ArrayId;

    #[test]
    fn a_parent_s_position_is_the_position() {
        let storage = storage(LevelFormat::SINGLETON);
        let positions = Singleton.positions(&storage, &one_parent()).expect("it is walked");
        assert_eq!(positions, Positions { begin: v(0), end: v(0).plus(Expr::Index(1)) });
        assert_eq!(Singleton.coordinate(&storage, v(0)), Some(Expr::load(ArrayId(1), v(0))));
    }

    #[test]
    fn each_of_several_parents_has_one() {
        let positions = Singleton.positions(&storage(LevelFormat::SINGLETON), &parents()).expect("it is walked");
        assert_eq!(positions, Positions { begin: v(0), end: v(1) });
    }

    #[test]
    fn a_coordinate_is_appended_and_nothing_closes_a_parent() {
        let storage = storage(LevelFormat::SINGLETON);
        assert_eq!(Singleton.append(&storage, v(0)), Some(vec![Statement::Push(ArrayId(1), v(0))]));
        assert_eq!(Singleton.close_parent(&storage, v(1)), Some(Vec::new()));
        assert_eq!(Singleton.locate(&storage, v(0), v(1)), None);
    }
}
