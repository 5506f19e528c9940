//! Outputs whose entries are appended in order.
//!
//! An entry's coordinates are appended when its value is known, innermost level first: an outer coordinate is appended
//! after the loop over its children, and only if they appended something. Levels that are not unique form a chain with the
//! singletons below; a chain is appended as a whole, so that every entry of COO stores all its coordinates.

use super::{Lowering, Scope};
use crate::concrete::{Access, IndexVariable, Statement, TensorId};
use crate::ir::{self, ArrayRole, Expr, Type};
use crate::level;

/// The level of an appended output that a loop assembles.
pub(super) struct Assembly {
    target: Access,
    depth: usize,
    /// How many coordinates the level below had before the loop's body.
    before: Option<ir::VariableId>,
}

impl Lowering<'_> {
    fn appended_outputs(&self) -> Vec<TensorId> {
        let ids = (0..self.concrete.tensors.len()).map(TensorId);
        ids.filter(|&tensor| self.is_appended(tensor)).collect()
    }

    /// What stands before all loops: positions start from 0.
    pub(super) fn open_outputs(&mut self) -> Vec<ir::Statement> {
        let mut out = Vec::new();
        for tensor in self.appended_outputs() {
            for depth in 0..self.concrete.tensor(tensor).format.levels.len() {
                if let Some(positions) = self.storage(tensor, depth).positions {
                    out.push(ir::Statement::Push(positions, Expr::Index(0)));
                }
            }
        }
        out
    }

    /// What stands after all loops: the outermost level ends.
    pub(super) fn close_outputs(&mut self, out: &mut Vec<ir::Statement>) {
        for tensor in self.appended_outputs() {
            self.close_children(tensor, 0, out);
        }
    }

    /// Ends the children that `depth` has under one parent.
    fn close_children(&self, tensor: TensorId, depth: usize, out: &mut Vec<ir::Statement>) {
        let storage = self.storage(tensor, depth);
        if let Some(coordinates) = storage.coordinates {
            let level = level::of(storage.format.kind);
            let count = Expr::Length(coordinates);
            out.extend(level.close_parent(&storage, count).expect("outputs are made of levels that append"));
        }
    }

    /// Ends the children that `depth`, without any, has under one parent; each coordinate of a dense level is a parent too.
    fn close_empty(&mut self, tensor: TensorId, depth: usize, out: &mut Vec<ir::Statement>) {
        let storage = self.storage(tensor, depth);
        if !level::is_located(storage.format) {
            return self.close_children(tensor, depth, out);
        }
        let mut body = Vec::new();
        self.close_empty(tensor, depth + 1, &mut body);
        let variable = self.fresh("parent", Type::Index, false);
        let end = storage.extent.clone();
        out.push(ir::Statement::For { variable, begin: Expr::Index(0), end, vector: false, body });
    }

    /// The levels of the chain that ends at `depth`.
    fn chain(&self, tensor: TensorId, depth: usize) -> std::ops::RangeInclusive<usize> {
        let levels = &self.concrete.tensor(tensor).format.levels;
        let mut first = depth;
        while first > 0 && levels[first].format.kind.is_singleton() && !levels[first - 1].format.unique() {
            first -= 1;
        }
        first..=depth
    }

    fn append_chain(&self, target: &Access, depth: usize, scope: &Scope, out: &mut Vec<ir::Statement>) {
        for depth in self.chain(target.tensor, depth) {
            let storage = self.storage(target.tensor, depth);
            let coordinate = self.coordinate(scope, self.level_variable(target, depth));
            let append = level::of(storage.format.kind).append(&storage, coordinate);
            out.extend(append.expect("outputs are made of levels that append"));
        }
    }

    /// Appends the coordinates of an entry.
    pub(super) fn append_coordinates(&self, target: &Access, scope: &Scope, out: &mut Vec<ir::Statement>) {
        let stored = self.stored_levels(target.tensor);
        self.append_chain(target, stored - 1, scope, out);
    }

    /// The appended output that `statement` writes in loops of its own, before which its entry must be appended.
    pub(super) fn missing_entry(&self, statement: &Statement, scope: &Scope) -> Option<Access> {
        if scope.appended.is_some() || !matches!(statement, Statement::Forall { .. }) {
            return None;
        }
        let target = self.appended_target(statement)?;
        let stored = self.stored_levels(target.tensor);
        let is_known = |depth| scope.coordinates.contains_key(&self.level_variable(&target, depth));
        (0..stored).all(is_known).then_some(target)
    }

    /// Appends an entry with the fill value for all its values.
    pub(super) fn append_block(&mut self, target: &Access, scope: &Scope, out: &mut Vec<ir::Statement>) -> Scope {
        let inside = self.entry_to_come(target, scope, out);
        self.append_filled(target, scope, out);
        inside
    }

    /// Leaves the entry to whoever computes the first of its values: there may be none.
    pub(super) fn expect_block(&mut self, target: &Access, scope: &Scope, out: &mut Vec<ir::Statement>) -> Scope {
        Scope { pending: Some(target.clone()), ..self.entry_to_come(target, scope, out) }
    }

    /// Appends the entry that is pending, unless that was done before.
    pub(super) fn append_pending(&mut self, target: &Access, scope: &Scope, out: &mut Vec<ir::Statement>) {
        let position = scope.appended.clone().expect("what is pending has a position");
        let mut entry = Vec::new();
        self.append_filled(target, scope, &mut entry);
        let is_missing = position.equals(Expr::Length(self.last_coordinates(target)));
        out.push(ir::Statement::If(vec![(is_missing, entry)], Vec::new()));
    }

    /// The scope of an entry that is appended next.
    fn entry_to_come(&mut self, target: &Access, scope: &Scope, out: &mut Vec<ir::Statement>) -> Scope {
        let position = self.fresh(format!("p{}", self.concrete.tensor(target.tensor).name), Type::Index, false);
        out.push(ir::Statement::Let(position, Expr::Length(self.last_coordinates(target))));
        Scope { appended: Some(Expr::Variable(position)), ..scope.clone() }
    }

    fn last_coordinates(&self, target: &Access) -> ir::ArrayId {
        let stored = self.stored_levels(target.tensor);
        self.storage(target.tensor, stored - 1).coordinates.expect("a stored level has coordinates")
    }

    fn append_filled(&self, target: &Access, scope: &Scope, out: &mut Vec<ir::Statement>) {
        self.append_coordinates(target, scope, out);
        let stored = self.stored_levels(target.tensor);
        let declaration = self.concrete.tensor(target.tensor);
        let order = declaration.format.mode_order().expect("outputs store plain modes");
        let block =
            order[stored..].iter().fold(Expr::Index(1), |n, &mode| n.times(self.size(declaration.extents[mode])));
        let fill = Expr::Literal(declaration.fill);
        out.push(ir::Statement::Extend { array: self.values(target.tensor), count: block, fill });
    }

    fn appended_target(&self, statement: &Statement) -> Option<Access> {
        let mut target = None;
        statement.for_each_assign(&mut |assign| {
            if self.is_appended(assign.target.tensor) {
                target = Some(assign.target.clone());
            }
        });
        target
    }

    /// The level of an appended output over `variable`, above its last stored level.
    pub(super) fn assembly(&self, body: &Statement, variable: IndexVariable) -> Option<Assembly> {
        let target = self.appended_target(body)?;
        let stored = self.stored_levels(target.tensor);
        let depth = (0..stored.saturating_sub(1)).find(|&depth| self.level_variable(&target, depth) == variable)?;
        Some(Assembly { target, depth, before: None })
    }

    /// Whether the loop must visit every coordinate because each is a parent in the output.
    pub(super) fn visits_all(&self, assembly: Option<&Assembly>) -> bool {
        assembly.is_some_and(|assembly| {
            let levels = &self.concrete.tensor(assembly.target.tensor).format.levels;
            levels[assembly.depth].format.kind.is_dense()
        })
    }

    /// Closes the parents of a dense level of an appended output that a body would visit, where nothing is done: one where loops
    /// outside give its coordinate, as those over both parts of a split do.
    pub(super) fn close_inside(&mut self, body: &Statement, scope: &Scope, out: &mut Vec<ir::Statement>) {
        let mut inside = None;
        body.for_each_loop(&mut |variable, _, _| inside = inside.take().or_else(|| self.assembly(body, variable)));
        if self.visits_all(inside.as_ref())
            && let Some(Assembly { target, depth, .. }) = inside
        {
            let is_one = self.known_coordinate(scope, self.level_variable(&target, depth)).is_some();
            self.close_empty(target.tensor, depth + usize::from(is_one), out);
        }
    }

    /// What stands before the body of a loop that assembles a level.
    pub(super) fn open_parent(&mut self, assembly: &mut Assembly, out: &mut Vec<ir::Statement>) {
        let stored = self.storage(assembly.target.tensor, assembly.depth).format;
        let below = self.storage(assembly.target.tensor, assembly.depth + 1);
        let is_counted = !level::is_located(stored) && stored.unique();
        assembly.before = below.coordinates.filter(|_| is_counted).map(|coordinates| {
            let name = format!("{}_begin", self.kernel.array(coordinates).name);
            let before = self.fresh(name, Type::Index, false);
            out.push(ir::Statement::Let(before, Expr::Length(coordinates)));
            before
        });
    }

    /// What stands after the body of a loop that assembles a level. `is_empty` says that the body did nothing.
    pub(super) fn close_parent(
        &mut self,
        assembly: &Assembly,
        is_empty: bool,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let Assembly { target, depth, before } = assembly;
        let stored = self.storage(target.tensor, *depth).format;
        if level::is_located(stored) {
            return match is_empty {
                true => self.close_empty(target.tensor, depth + 1, out),
                false => self.close_children(target.tensor, depth + 1, out),
            };
        }
        if !stored.unique() {
            return;
        }
        let mut close = Vec::new();
        self.append_chain(target, *depth, scope, &mut close);
        let below = self.storage(target.tensor, depth + 1);
        match (before, below.coordinates) {
            (Some(before), Some(coordinates)) => {
                self.close_children(target.tensor, depth + 1, &mut close);
                let grew = Expr::Variable(*before).less(Expr::Length(coordinates));
                out.push(ir::Statement::If(vec![(grew, close)], Vec::new()));
            }
            _ => out.extend(close),
        }
    }

    /// The appended arrays of an output's level that hold positions, with the coordinates they are positions of.
    pub(super) fn positions_of(&self, role: ArrayRole) -> Option<ir::ArrayId> {
        match role {
            ArrayRole::Positions { tensor, level } => {
                self.arrays.get(&ArrayRole::Coordinates { tensor, level }).copied()
            }
            _ => None,
        }
    }
}
