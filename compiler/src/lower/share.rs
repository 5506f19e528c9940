//! Loops over load-balanced parts of an operand's positions.
//!
//! A share is a range of positions of a level. The loops over this level and those above it are kept to the positions that lie
//! in the share or above one that does; the first and the last of each level follow from those of the level below. With `A: csr`:
//!
//! ```text
//! for all p in positions of A(i, j)
//!     for all i
//!         with t
//!             for all j: t += A(i, j) * x(j)
//!         then y(i) += t
//! ```
//!
//! becomes, where a chunk has the positions `low..high`:
//!
//! ```text
//! i_first = the last i with A2_pos[i] <= low
//! i_end = the first i behind the last with A2_pos[i] <= high - 1
//! for i in i_first..i_end
//!     t = 0
//!     for pA2 in max(A2_pos[i], low)..min(A2_pos[i + 1], high)
//!         t += A_vals[pA2] * x[A2_crd[pA2]]
//!     y[i] += t
//! ```

use super::forall::{Bounds, Loop};
use super::{Lowering, Scope};
use crate::concrete::{self, Access, OutputStructure, Run, Share, Statement, TensorKind};
use crate::ir::{self, ArrayId, BinaryOperator, Expr, ReduceOperator, Sharing, Type, Work};
use crate::level::{self, Positions};
use crate::schedule::{Conflict, Cut, Meeting, Told};

/// The positions of an operand that loops over its levels are kept to.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    access: Access,
    /// For some of its levels, the positions.
    levels: Vec<KeptLevel>,
}

/// The positions of one level.
#[derive(Debug, Clone)]
pub(super) struct KeptLevel {
    depth: usize,
    begin: Expr,
    end: Expr,
    /// Whether no loop outside is over the same positions: then the loop has no others.
    is_outermost: bool,
}

impl Kept {
    /// The positions at a level of an operand, where a share keeps its loops to some.
    pub(super) fn at(&self, access: &Access, depth: usize) -> Option<&KeptLevel> {
        let is_it = self.access.same_place(access);
        self.levels.iter().find(|level| is_it && level.depth == depth)
    }
}

impl KeptLevel {
    /// Those of the positions that are kept.
    pub(super) fn within(&self, positions: Positions) -> Positions {
        let (begin, end) = (self.begin.clone(), self.end.clone());
        match self.is_outermost {
            true => Positions { begin, end },
            false => Positions {
                begin: Expr::binary(BinaryOperator::Maximum, positions.begin, begin),
                end: Expr::binary(BinaryOperator::Minimum, positions.end, end),
            },
        }
    }
}

impl Lowering<'_> {
    /// The loop over shares, or over all positions where it is not cut.
    pub(super) fn share_loop(
        &mut self,
        share: &Share,
        run: Run,
        body: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        if run == Run::Parallel {
            let parallel = self.parallel_shares(share, body, scope);
            return out.push(ir::Statement::Parallel(Box::new(parallel)));
        }
        match share.by {
            None => self.statement(body, scope, out),
            Some(by) => {
                let (begin, end) = self.shared_positions(share, scope);
                let count = blocks(begin, end, by);
                self.blocks(share, by, &Bounds { low: Expr::Index(0), high: count }, body, scope, out);
            }
        }
    }

    /// The parallel loop over shares.
    pub(super) fn parallel_shares(&mut self, share: &Share, body: &Statement, scope: &Scope) -> ir::Parallel {
        let (begin, end) = self.shared_positions(share, scope);
        let range = match share.by {
            None => (begin, end),
            Some(by) => (Expr::Index(0), blocks(begin, end, by)),
        };
        let meetings = self.concrete.meetings(Cut::Positions(share), body).unwrap_or_default();
        let mut parallel = self.cut(
            range,
            &mut |lowering, bounds, out| match share.by {
                None => {
                    let operand = concrete::show_access(lowering.concrete, &share.access);
                    out.push(ir::Statement::Comment(format!("a share of the entries of {operand}")));
                    lowering.in_share(share, bounds, body, scope, out);
                }
                Some(by) => lowering.blocks(share, by, bounds, body, scope, out),
            },
            &mut |lowering, array| lowering.sharing_of(share, array, &meetings, scope),
        );
        parallel.work = self.work_of(share, scope);
        parallel
    }

    /// The positions that shares are of.
    fn shared_positions(&self, share: &Share, scope: &Scope) -> (Expr, Expr) {
        let (_, parents) = self.resolve(&share.access, scope);
        let below = |parent: Expr| self.first_below(share.access.tensor, share.levels.clone(), parent);
        let next = parents.end.unwrap_or_else(|| parents.begin.clone().plus(Expr::Index(1)));
        (below(parents.begin), below(next))
    }

    /// The first position of a place of the range that is cut.
    fn position_of(&self, share: &Share, place: Expr, scope: &Scope) -> Expr {
        match share.by {
            None => place,
            Some(by) => {
                let (begin, end) = self.shared_positions(share, scope);
                Expr::binary(BinaryOperator::Minimum, begin.plus(place.times(Expr::Index(by))), end)
            }
        }
    }

    /// One block after the other.
    fn blocks(
        &mut self,
        share: &Share,
        by: u64,
        range: &Bounds,
        body: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let (begin, end) = self.shared_positions(share, scope);
        let name = self.concrete.tensor(share.access.tensor).name.clone();
        out.push(ir::Statement::Comment(format!("blocks of {by} positions of {name}")));
        let block = self.fresh("block", Type::Index, false);
        let mut inside = Vec::new();
        let low = self.fresh("first", Type::Index, false);
        inside.push(ir::Statement::Let(low, begin.plus(Expr::Variable(block).times(Expr::Index(by)))));
        let next = Expr::Variable(low).plus(Expr::Index(by));
        let high = self.fresh("last", Type::Index, false);
        inside.push(ir::Statement::Let(high, Expr::binary(BinaryOperator::Minimum, next, end)));
        let bounds = Bounds { low: Expr::Variable(low), high: Expr::Variable(high) };
        self.in_share(share, &bounds, body, scope, &mut inside);
        let (begin, end) = (range.low.clone(), range.high.clone());
        out.push(ir::Statement::For { variable: block, begin, end, vector: false, body: inside });
    }

    /// The body over one share, which is not empty.
    fn in_share(
        &mut self,
        share: &Share,
        bounds: &Bounds,
        body: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let mut levels = Vec::new();
        let (mut begin, mut end) = (bounds.low.clone(), bounds.high.clone());
        for depth in share.levels.clone().rev() {
            // Vacancies behind the entries of a parent are not walked.
            let kind = self.storage(share.access.tensor, depth).format.kind;
            let is_outermost = depth == share.levels.start && !kind.has_vacancies();
            levels.push(KeptLevel { depth, begin: begin.clone(), end: end.clone(), is_outermost });
            if depth == share.levels.start {
                break;
            }
            let first = self.parent(share, depth, begin);
            let last = self.parent(share, depth, end.minus(Expr::Index(1)));
            begin = self.bind_place(share, depth - 1, "first", first, out);
            end = self.bind_place(share, depth - 1, "end", last.plus(Expr::Index(1)), out);
        }
        let mut scope = scope.clone();
        scope.kept.push(Kept { access: share.access.clone(), levels });
        self.statement(body, &scope, out);
    }

    /// A variable for the first position of a level in a share, or the end of them.
    fn bind_place(
        &mut self,
        share: &Share,
        depth: usize,
        what: &str,
        value: Expr,
        out: &mut Vec<ir::Statement>,
    ) -> Expr {
        if matches!(value, Expr::Variable(_) | Expr::Index(_)) {
            return value;
        }
        // At a dense outermost level, positions are coordinates.
        let is_coordinate = depth == 0 && self.storage(share.access.tensor, 0).format.kind.is_dense();
        let name = match is_coordinate {
            true => self.concrete.variable(self.level_variable(&share.access, 0)).to_owned(),
            false => self.name_of_level(&share.access, depth),
        };
        let variable = self.fresh(format!("{name}_{what}"), Type::Index, false);
        out.push(ir::Statement::Let(variable, value));
        Expr::Variable(variable)
    }

    /// The position at the level above `depth` of a position there.
    fn parent(&self, share: &Share, depth: usize, position: Expr) -> Expr {
        let storage = self.storage(share.access.tensor, depth);
        level::of(storage.format.kind).parent(&storage, position).expect("levels of shares have parents")
    }

    /// The position at `depth` of a position at the level that is shared.
    fn ancestor(&self, share: &Share, depth: usize, position: Expr) -> Expr {
        (depth + 1..share.levels.end).rev().fold(position, |position, below| self.parent(share, below, position))
    }

    /// The coordinates of a loop over a dense level whose positions are kept to some.
    pub(super) fn kept_coordinates(&self, loops: &Loop) -> Option<Bounds> {
        let scope = loops.scope;
        let (kept, level, depth, parents) = scope.kept.iter().find_map(|kept| {
            let (depth, parents) = self.resolve_before(&kept.access, loops.variable, scope)?;
            Some((kept, kept.at(&kept.access, depth)?, depth, parents))
        })?;
        let storage = self.storage(kept.access.tensor, depth);
        let first = parents.times(storage.extent.clone());
        let all = Positions { begin: first.clone(), end: first.clone().plus(storage.extent) };
        let within = level.within(all);
        Some(Bounds { low: within.begin.minus(first.clone()), high: within.end.minus(first) })
    }

    /// The dense level of an operand that a loop is over, and the position of the level above.
    fn resolve_before(
        &self,
        access: &Access,
        variable: crate::concrete::IndexVariable,
        scope: &Scope,
    ) -> Option<(usize, Expr)> {
        let (depth, parents) = self.resolve(access, scope);
        let stored = self.concrete.tensor(access.tensor).format.levels.get(depth)?;
        let is_dense = stored.format.kind.is_dense();
        (is_dense && self.level_variable(access, depth) == variable).then_some((depth, parents.begin))
    }

    /// How much work lies before a place: the entries below it, and the parents passed by, some of which may have no children.
    fn work_of(&mut self, share: &Share, scope: &Scope) -> Option<Work> {
        let place = self.fresh("place", Type::Index, false);
        let position = self.position_of(share, Expr::Variable(place), scope);
        let levels = self.concrete.tensor(share.access.tensor).format.levels.len();
        let leaves = self.descend(share.access.tensor, share.levels.end..levels, position.clone());
        let root = self.storage(share.access.tensor, 0).format.kind;
        let passed = (root.is_dense() && share.levels.start == 0 && share.by.is_none())
            .then(|| self.ancestor(share, 0, position));
        let before = match (leaves, passed) {
            (Some(leaves), Some(passed)) => leaves.plus(passed),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => {
                // The place is not read.
                self.kernel.variables.pop();
                return None;
            }
        };
        Some(Work { place, before, is_all: false })
    }

    /// How shares write an array.
    fn sharing_of(&mut self, share: &Share, array: ArrayId, meetings: &[Meeting], scope: &Scope) -> Sharing {
        let any = match self.kernel.array(array).element {
            ir::ArrayElement::Value(element) => ReduceOperator::of_any(element),
            ir::ArrayElement::Index(_) => ReduceOperator::Add,
        };
        let Some(Meeting { target, conflict }) = self.meeting(array, meetings) else {
            return Sharing::Private(share.operator.unwrap_or(any));
        };
        let (Conflict::Owned(Told::Levels(levels)) | Conflict::Segments(Told::Levels(levels), _)) = *conflict else {
            return Sharing::Private(share.operator.unwrap_or(any));
        };
        let place = self.fresh("place", Type::Index, false);
        let position = self.position_of(share, Expr::Variable(place), scope);
        let (start, length) = self.segment(share, target, levels, position);
        match *conflict {
            Conflict::Segments(_, operator) => Sharing::Segmented { place, start, length, operator, anew: false },
            _ => Sharing::Owned { place, start },
        }
    }

    /// The first element of the segment of a result that a position of the shared level has, and how many it has: all whose
    /// first indices are those of the operand's first `levels` levels there.
    fn segment(&self, share: &Share, target: &Access, levels: usize, position: Expr) -> (Expr, Expr) {
        let above = self.ancestor(share, levels - 1, position);
        let all = self.concrete.tensor(target.tensor).format.levels.len();
        match &self.concrete.tensor(target.tensor).kind {
            TensorKind::Output(OutputStructure::Shared { access, levels: shared }) => {
                let first = self.first_below(access.tensor, levels..*shared, above);
                (self.first_below(target.tensor, *shared..all, first), self.extents(target, *shared..all))
            }
            _ => {
                let row = self.dense_position(share, levels - 1, above);
                (self.first_below(target.tensor, levels..all, row), self.extents(target, levels..all))
            }
        }
    }

    /// How many elements some dense levels have under each position.
    fn extents(&self, target: &Access, levels: std::ops::Range<usize>) -> Expr {
        levels.fold(Expr::Index(1), |product, depth| product.times(self.storage(target.tensor, depth).extent))
    }

    /// The position that the coordinates of an operand down to a position at `depth` would have if all levels were dense.
    fn dense_position(&self, share: &Share, depth: usize, position: Expr) -> Expr {
        let tensor = share.access.tensor;
        let is_dense = |depth: usize| self.storage(tensor, depth).format.kind.is_dense();
        if (0..=depth).all(is_dense) {
            return position;
        }
        let storage = self.storage(tensor, depth);
        let above = depth.checked_sub(1).map(|above| (above, self.parent(share, depth, position.clone())));
        let (parent, outer) = match above {
            None => (Expr::Index(0), Expr::Index(0)),
            Some((above, parent)) => (parent.clone(), self.dense_position(share, above, parent)),
        };
        let coordinate = match is_dense(depth) {
            true => position.minus(parent.times(storage.extent.clone())),
            false => self.coordinate_below(share, depth, parent, position),
        };
        outer.times(storage.extent).plus(coordinate)
    }

    /// The coordinate of a position at a walked level under a parent.
    fn coordinate_below(&self, share: &Share, depth: usize, parent: Expr, position: Expr) -> Expr {
        let mut storage = self.storage(share.access.tensor, depth);
        if storage.format.kind.is_diagonal() {
            let above = self.coordinate_of(share, depth - 1, parent.clone());
            storage.above = Some(above);
        }
        storage.parent = parent.clone();
        let coordinate = self.coordinate_at(&storage, position);
        if storage.format.kind.has_vacancies() {
            // What fills a row up stands before the next row, behind all coordinates of this one.
            return Expr::binary(BinaryOperator::Minimum, coordinate, storage.extent);
        }
        match self.is_below_entry(share, depth, parent) {
            Some(is_below) => Expr::Select(Box::new(is_below), Box::new(coordinate), Box::new(Expr::Index(0))),
            None => coordinate,
        }
    }

    /// Whether a position above `depth` is that of an entry, where it may only fill up a row: then what is stored below it means
    /// nothing.
    fn is_below_entry(&self, share: &Share, depth: usize, position: Expr) -> Option<Expr> {
        let above = depth.checked_sub(1)?;
        let storage = self.storage(share.access.tensor, above);
        match storage.format.kind {
            kind if kind.has_vacancies() => Some(self.coordinate_at(&storage, position).less(storage.extent)),
            kind if kind.is_singleton() => self.is_below_entry(share, above, position),
            _ => None,
        }
    }

    /// The coordinate of a position at any level.
    fn coordinate_of(&self, share: &Share, depth: usize, position: Expr) -> Expr {
        let storage = self.storage(share.access.tensor, depth);
        let parent = match depth {
            0 => Expr::Index(0),
            _ => self.parent(share, depth, position.clone()),
        };
        match storage.format.kind.is_dense() {
            true => position.minus(parent.times(storage.extent)),
            false => self.coordinate_below(share, depth, parent, position),
        }
    }
}

/// How many blocks some positions make.
fn blocks(begin: Expr, end: Expr, by: u64) -> Expr {
    let count = if matches!(begin, Expr::Index(0)) { end } else { end.minus(begin) };
    Expr::binary(BinaryOperator::Divide, count.plus(Expr::Index(by - 1)), Expr::Index(by))
}
