//! What the tests of each level need, and the laws that hold for all of them.

use super::*;
use crate::format::Order;
use crate::ir::VariableId;

/// A level with its arrays: positions `a0`, coordinates `a1`, extent `d0`.
pub(super) fn storage(format: LevelFormat) -> Storage {
    Storage { extent: Expr::Dimension(crate::ir::DimensionId(0)), parent: v(0), ..anywhere(format) }
}

/// A variable of the test: `v0`, …
pub(super) fn v(id: u32) -> Expr {
    Expr::Variable(VariableId(id))
}

/// One parent, `v0`.
pub(super) fn one_parent() -> Parents {
    Parents { begin: v(0), end: None }
}

/// The parents `v0..v1`.
pub(super) fn parents() -> Parents {
    Parents { begin: v(0), end: Some(v(1)) }
}

fn storages() -> impl Iterator<Item = (&'static dyn Level, Storage)> {
    ALL.iter().map(|&level| (level, storage(LevelFormat::new(level.kind()))))
}

#[test]
fn every_level_has_a_name_of_its_own() {
    for level in ALL {
        let kind = level.kind();
        assert_eq!(named(kind.name), Some(kind));
        assert_eq!(of(kind).kind(), kind);
        assert!(!kind.summary.is_empty());
        assert!(page(kind).contains(kind.name) || page(kind).len() > 100, "{}", kind.name);
    }
    assert_eq!(named("sparse"), None);
}

#[test]
fn positions_have_coordinates() {
    for (level, storage) in storages() {
        let positions = level.positions(&storage, &one_parent());
        let (reached, coordinate) = (level.reached(&storage, v(0), v(1)), level.coordinate(&storage, v(0)));
        assert!(reached.is_none() || coordinate.is_none(), "{}", level.kind().name);
        assert_eq!(positions.is_some(), reached.or(coordinate).is_some(), "{}", level.kind().name);
        let is_found = is_sequential(storage.format)
            || positions.is_none_or(|positions| level.search(&storage, &positions, v(1)).is_some());
        assert!(is_found, "{}", level.kind().name);
        let is_probed = level.probe(&storage, v(0), v(1)).is_some();
        assert_eq!(is_probed, level.has_entry(&storage, v(0)).is_some(), "{}", level.kind().name);
    }
}

#[test]
fn positions_have_parents() {
    for (level, storage) in storages() {
        let is_direct = is_walked(storage.format) && is_contiguous(storage.format) || is_located(storage.format);
        assert_eq!(level.parent(&storage, v(0)).is_some(), is_direct, "{}", level.kind().name);
    }
}

#[test]
fn parameters_are_of_what_is_stored() {
    for (level, Storage { format, .. }) in storages() {
        let kind = level.kind();
        for role in Role::ALL {
            assert!(!kind.takes_width(role) || kind.array(role).is_some(), "{}", kind.name);
            for width in IndexWidth::ALL {
                let is_taken = format.with_width(role, width).width(role) == width;
                assert_eq!(is_taken, kind.takes_width(role) || format.width(role) == width, "{}", kind.name);
            }
        }
        assert!(format.has_sense() && format.unique(), "{}", kind.name);
        assert_eq!(format.nonunique().unique(), !kind.takes_nonunique(), "{}", kind.name);
        assert_eq!(format.with_order(Order::Any) != format, kind.takes_unordered(), "{}", kind.name);
        if let Some(count) = kind.count() {
            assert!(format.with_count(count.least).has_sense() && format.with_count(count.most).has_sense());
            assert_eq!(format.with_count(0).has_sense(), count.usual == 0, "{}", kind.name);
        }
        // What a type spells is said by the parameters that it lists.
        assert!(!kind.types.is_empty(), "{}", kind.name);
    }
}

#[test]
fn what_is_appended_is_stored_and_closed() {
    for (level, storage) in storages() {
        let appends = level.append(&storage, v(0));
        assert!(appends.is_none() || !level.kind().arrays.is_empty(), "{}", level.kind().name);
        assert_eq!(appends.is_some(), level.close_parent(&storage, v(0)).is_some(), "{}", level.kind().name);
    }
}

#[test]
fn a_level_touches_the_arrays_that_it_says_and_no_others() {
    for (level, storage) in storages() {
        let mut touched: Vec<ArrayId> = Vec::new();
        let mut see = |expr: &Expr| {
            expr.for_each(&mut |expr| {
                if let Expr::Load(array, _) | Expr::Length(array) | Expr::Search { array, .. } = expr {
                    touched.push(*array)
                }
            });
        };
        if let Some(positions) = level.positions(&storage, &parents()) {
            see(&positions.begin);
            see(&positions.end);
        }
        level.coordinate(&storage, v(0)).iter().for_each(&mut see);
        level.reached(&storage, v(0), v(1)).iter().for_each(&mut see);
        level.parent(&storage, v(0)).iter().for_each(&mut see);
        level.locate(&storage, v(0), v(1)).iter().for_each(&mut see);
        level.probe(&storage, v(0), v(1)).iter().for_each(&mut see);
        level.has_entry(&storage, v(0)).iter().for_each(&mut see);
        level.occupied(&storage, v(0)).iter().for_each(&mut see);
        let statements = level.append(&storage, v(0)).into_iter().chain(level.close_parent(&storage, v(0)));
        touched.extend(statements.flatten().filter_map(|statement| statement.written_array()));
        touched.sort_unstable();
        touched.dedup();
        let declared: Vec<ArrayId> = storage.positions.into_iter().chain(storage.coordinates).collect();
        let is_read = is_direct(storage.format) || has_positions(storage.format);
        let expected = if is_read { declared } else { Vec::new() };
        assert_eq!(touched, expected, "{}", level.kind().name);
    }
}
