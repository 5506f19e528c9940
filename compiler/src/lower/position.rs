//! Where the entry of an access lies.

use super::{Lowering, Scope, Workspace};
use crate::concrete::{Access, IndexVariable, OutputStructure, TensorId, TensorKind};
use crate::format::Coordinate;
use crate::ir::{self, ArrayRole, Expr};
use crate::level::{self, Parents, Storage};

impl Lowering<'_> {
    /// The arrays and extent of one level.
    pub(super) fn storage(&self, tensor: TensorId, depth: usize) -> Storage {
        if let Some(sparse) = self.sparse.get(&tensor) {
            return self.sparse_storage(tensor, sparse, depth);
        }
        let declaration = self.concrete.tensor(tensor);
        let level = &declaration.format.levels[depth];
        let mode = self.mode(tensor, depth);
        let id = self.tensors.get(&tensor).copied();
        let array = |role: Option<ArrayRole>| role.and_then(|role| self.arrays.get(&role).copied());
        let is_below = depth >= declaration.format.level_of_entries();
        Storage {
            format: level.format,
            positions: array(id.map(|tensor| ArrayRole::Positions { tensor, level: depth })),
            coordinates: array(id.map(|tensor| ArrayRole::Coordinates { tensor, level: depth })),
            extent: self.size(declaration.extents[mode]),
            parent: Expr::Index(0),
            above: None,
            order: self.orders.get(&tensor).copied().filter(|_| is_below),
        }
    }

    fn mode(&self, tensor: TensorId, depth: usize) -> usize {
        match self.concrete.tensor(tensor).format.levels[depth].coordinate {
            Coordinate::Mode(mode) => mode,
            _ => unreachable!("what has computed coordinates is read from a stand-in"),
        }
    }

    /// The index variable of a level of an access.
    pub(super) fn level_variable(&self, access: &Access, depth: usize) -> IndexVariable {
        access.indices[self.mode(access.tensor, depth)]
    }

    /// How many of the access's levels have a known position, and the position of the last of them.
    pub(super) fn resolve(&self, access: &Access, scope: &Scope) -> (usize, Parents) {
        let levels = &self.concrete.tensor(access.tensor).format.levels;
        let mut parents = Parents { begin: Expr::Index(0), end: None };
        let key = |depth: usize| (access.tensor, access.indices.clone(), depth);
        let mut walked = scope.positions.range(key(0)..=key(levels.len())).peekable();
        for (depth, stored) in levels.iter().enumerate() {
            if let Some((_, walked)) = walked.next_if(|((.., walked), _)| *walked == depth) {
                parents = walked.clone();
                continue;
            }
            let storage = self.storage(access.tensor, depth);
            let coordinate = self.known_coordinate(scope, self.level_variable(access, depth));
            let located = coordinate.and_then(|coordinate| {
                level::of(stored.format.kind).locate(&storage, parents.begin.clone(), coordinate)
            });
            match located {
                Some(position) => parents = Parents { begin: position, end: None },
                None => return (depth, parents),
            }
        }
        (levels.len(), parents)
    }

    /// The level of an access that the loop over `variable` walks or probes, where there is one.
    pub(super) fn walked_level(&self, access: &Access, variable: IndexVariable, scope: &Scope) -> Option<usize> {
        let format = &self.concrete.tensor(access.tensor).format;
        let (depth, _) = self.resolve(access, scope);
        let stored = format.levels.get(depth)?;
        let has_positions = level::has_positions(stored.format) && !level::is_located(stored.format);
        let is_walked = has_positions || level::is_probed(stored.format);
        (is_walked && self.level_variable(access, depth) == variable).then_some(depth)
    }

    /// The array and the position of the element that an access names.
    pub(super) fn place(&self, access: &Access, scope: &Scope) -> (ir::ArrayId, Expr) {
        if let Some(Workspace::Array(array)) = self.workspaces.get(&access.tensor) {
            return (*array, self.dense_place(access, 0, Expr::Index(0), scope));
        }
        if let Some(sparse) = self.sparse.get(&access.tensor) {
            let place = self.sparse_place(access, sparse, scope);
            return (sparse.values, self.dense_place(access, sparse.levels(), place, scope));
        }
        let values = self.values(access.values());
        match &self.concrete.tensor(access.tensor).kind {
            TensorKind::Output(OutputStructure::Shared { access: shared, levels }) => {
                let start = self.shared_position(shared, *levels, scope);
                (values, self.dense_place(access, *levels, start, scope))
            }
            TensorKind::Output(OutputStructure::Appended) => {
                let stored = self.stored_levels(access.tensor);
                let start = scope.appended.clone().expect("an entry is appended before its values are written");
                (values, self.dense_place(access, stored, start, scope))
            }
            _ => {
                let (depth, position) = self.resolve(access, scope);
                debug_assert_eq!(depth, access.indices.len(), "every level has a position where a value is used");
                (values, level::in_order(self.orders.get(&access.tensor).copied(), position.begin))
            }
        }
    }

    /// The position of the first `levels` levels of an access whose structure an output shares.
    pub(super) fn shared_position(&self, shared: &Access, levels: usize, scope: &Scope) -> Expr {
        let mut parents = Parents { begin: Expr::Index(0), end: None };
        for depth in 0..levels {
            let key = (shared.tensor, shared.indices.clone(), depth);
            parents = match scope.positions.get(&key) {
                Some(walked) => walked.clone(),
                None => {
                    let coordinate = self.coordinate(scope, self.level_variable(shared, depth));
                    let kind = self.concrete.tensor(shared.tensor).format.levels[depth].format.kind;
                    let storage = self.storage(shared.tensor, depth);
                    let position = level::of(kind).locate(&storage, parents.begin, coordinate);
                    let position = position.expect("a level is walked or located");
                    Parents { begin: position, end: None }
                }
            };
        }
        parents.begin
    }

    /// The position under `start` once the dense levels from `depth` on are located.
    pub(super) fn dense_place(&self, access: &Access, depth: usize, start: Expr, scope: &Scope) -> Expr {
        let levels = self.concrete.tensor(access.tensor).format.levels.len();
        self.dense_place_of(access, depth..levels, start, scope)
    }

    /// The position under `start` once some levels are located as if they were dense.
    pub(super) fn dense_place_of(
        &self,
        access: &Access,
        levels: std::ops::Range<usize>,
        start: Expr,
        scope: &Scope,
    ) -> Expr {
        levels.fold(start, |position, depth| {
            let extent = self.concrete.tensor(access.tensor).extents[self.mode(access.tensor, depth)];
            position.times(self.size(extent)).plus(self.coordinate(scope, self.level_variable(access, depth)))
        })
    }

    /// The number of an output's levels down to the last that is not dense.
    pub(super) fn stored_levels(&self, tensor: TensorId) -> usize {
        let levels = &self.concrete.tensor(tensor).format.levels;
        let is_stored = |stored: &crate::format::Level| !level::is_located(stored.format);
        levels.iter().rposition(is_stored).map_or(0, |last| last + 1)
    }
}
