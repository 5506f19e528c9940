//! Tensors whose levels store computed coordinates: extents of levels, index variables from stored coordinates, and what keeps them
//! inside of the tensor.
//!
//! A block of 4 rows may stand out over the last row. Where loops count through a block, they stop at the last row; where that
//! can't be said by the range of a loop, a condition is tested:
//!
//! ```text
//! for i_inside in 0..min(4, i_extent - i_block * 4)        i = i_block * 4 + i_inside
//! if i_extent <= d + 1 + i && …                             j = d + 1 + i - i_extent
//! ```

use super::forall::Loop;
use super::{Lowering, Scope};
use crate::concrete::{
    self, Computed, IndexVariable, OutputStructure, Statement, Stored, Target, TensorId, TensorKind,
};
use crate::format::Number;
use crate::ir::{self, BinaryOperator, Expr};

/// Blocks with more indices of a mode have one version of their loops: those are long enough to take a length at run time.
const MOST_IN_BLOCK: u64 = 32;

/// The part of a loop's range whose values keep indices inside.
pub(super) struct TightRange {
    pub begin: Expr,
    pub end: Expr,
    /// What must hold for there to be such values: else the range is not one.
    pub condition: Option<Expr>,
    /// The indices.
    pub inside: Vec<IndexVariable>,
}

impl Number for Expr {
    fn constant(value: u64) -> Self {
        Expr::Index(value)
    }

    fn plus(self, other: Self) -> Self {
        Expr::plus(self, other)
    }

    fn minus(self, other: Self) -> Self {
        Expr::minus(self, other)
    }

    fn times(self, other: Self) -> Self {
        Expr::times(self, other)
    }

    fn divided_by(self, other: Self) -> Self {
        match (&self, &other) {
            (Expr::Index(number), Expr::Index(by @ 1..)) => Expr::Index(number / by),
            _ => Expr::binary(BinaryOperator::Divide, self, other),
        }
    }

    fn remainder(self, other: Self) -> Self {
        Expr::binary(BinaryOperator::Remainder, self, other)
    }

    fn minimum(self, other: Self) -> Self {
        match (&self, &other) {
            (Expr::Index(one), Expr::Index(other)) => Expr::Index(*one.min(other)),
            _ => Expr::binary(BinaryOperator::Minimum, self, other),
        }
    }

    fn interleave(parts: &[(Self, Self)]) -> Option<Self> {
        let extents: Vec<Expr> = parts.iter().map(|(_, extent)| extent.clone()).collect();
        let scatter = |(part, (number, _)): (usize, &(Expr, Expr))| {
            let mask = Expr::Mask { part, extents: extents.clone() };
            Expr::binary(BinaryOperator::Scatter, number.clone(), mask)
        };
        Some(parts.iter().enumerate().map(scatter).fold(Expr::Index(0), Expr::plus))
    }

    fn part(self, extents: &[Self], part: usize) -> Option<Self> {
        let mask = Expr::Mask { part, extents: extents.to_vec() };
        Some(Expr::binary(BinaryOperator::Gather, self, mask))
    }
}

impl Lowering<'_> {
    fn stored(&self, tensor: TensorId) -> &Stored {
        self.concrete.tensor(tensor).stored.as_ref().expect("the tensor is seen by its levels")
    }

    /// The extent of a level that stores a computed coordinate.
    pub(super) fn extent_of_level(&self, tensor: TensorId, level: usize) -> Expr {
        let stored = self.stored(tensor);
        let extent = stored.map.extent(level, &|mode| self.size(stored.extents[mode]));
        extent.expect("the scheduler takes maps that the loop IR can say")
    }

    /// The index in a mode, from what the levels store: a number, and what is subtracted from it.
    fn mode_parts(
        &self,
        tensor: TensorId,
        mode: usize,
        levels: &[IndexVariable],
        scope: &Scope,
    ) -> (Expr, Option<Expr>) {
        let stored = self.stored(tensor);
        let coordinate = |level: usize| self.coordinate(scope, levels[level]);
        let parts = stored.map.mode_parts(mode, &coordinate, &|mode| self.size(stored.extents[mode]));
        parts.expect("the scheduler takes maps that the loop IR can say")
    }

    /// The index in a mode, from what the levels store.
    pub(super) fn index_in_mode(&self, tensor: TensorId, mode: usize, levels: &[IndexVariable], scope: &Scope) -> Expr {
        let (index, less) = self.mode_parts(tensor, mode, levels, scope);
        less.map_or(index.clone(), |less| index.minus(less))
    }

    /// The value of a computed variable: a number, and what is subtracted from it.
    fn parts(&self, variable: IndexVariable, scope: &Scope) -> (Expr, Option<Expr>) {
        match &self.concrete.variables[variable.0].value {
            Some(Computed::Mode { tensor, mode, levels, .. }) => self.mode_parts(*tensor, *mode, levels, scope),
            _ => (self.coordinate(scope, variable), None),
        }
    }

    /// The variables that are known once the loop's is, and may lie outside of their tensors.
    fn unguarded(&self, loops: &Loop, scope: &Scope) -> Vec<IndexVariable> {
        let is_known = |used: &IndexVariable| *used == loops.variable || scope.coordinates.contains_key(used);
        let mut unguarded = self.standing_out(loops, scope);
        unguarded.retain(|id| self.concrete.running(*id).iter().all(is_known));
        unguarded
    }

    /// The variables that are computed from the loop's, and may lie outside of their tensors: not all that the loop and those inside
    /// count is there.
    pub(super) fn standing_out(&self, loops: &Loop, scope: &Scope) -> Vec<IndexVariable> {
        let touches = |tensor: TensorId| {
            let mut touches = loops.body.reads(tensor);
            loops.body.for_each_assign(&mut |assign| touches |= assign.target.tensor == tensor);
            touches
        };
        // Entries of another tensor with the same map are entries of this one's shape.
        let mut walks = false;
        loops.body.for_each_read(&mut |access| {
            walks |= self.concrete.tensor(access.tensor).stored.is_some() && access.indices.contains(&loops.variable);
        });
        let ids = (0..self.concrete.variables.len()).map(IndexVariable);
        ids.filter(|id| {
            let is_guarded = match &self.concrete.variables[id.0].value {
                // What is made before the entries are walked counts over all that is between them.
                Some(Computed::Mode { guarded, tensor, .. }) => *guarded || !walks && !touches(*tensor),
                Some(Computed::Index { guarded, .. }) => *guarded,
                _ => false,
            };
            is_guarded && !scope.inside.contains(id) && self.concrete.running(*id).contains(&loops.variable)
        })
        .collect()
    }

    /// Gives names to the modes that are known once `variable` is, where they take more than a sum to compute.
    pub(super) fn bind_modes(&mut self, variable: IndexVariable, scope: &mut Scope, out: &mut Vec<ir::Statement>) {
        let concrete = self.concrete;
        for (id, declaration) in concrete.variables.iter().enumerate() {
            let id = IndexVariable(id);
            let Some(Computed::Mode { .. }) = &declaration.value else { continue };
            let is_new = !scope.coordinates.contains_key(&id) && self.concrete.running(id).contains(&variable);
            if let Some(value) = self.known_coordinate(scope, id).filter(|value| is_new && is_costly(value)) {
                let bound = self.bind_coordinate(id, value, out);
                scope.coordinates.insert(id, bound);
            }
        }
    }

    /// What must hold for all variables that are known once the loop's is to lie inside of their tensors.
    pub(super) fn guards(&self, loops: &Loop, scope: &Scope) -> Option<Expr> {
        let conditions = self.unguarded(loops, scope).into_iter().map(|guarded| {
            let extent = self.size(self.concrete.variables[guarded.0].extent);
            match self.parts(guarded, scope) {
                (index, None) => index.less(extent),
                (index, Some(less)) => {
                    let is_above = Expr::binary(BinaryOperator::LessEqual, less.clone(), index.clone());
                    is_above.and(index.less(extent.plus(less)))
                }
            }
        });
        conditions.reduce(Expr::and)
    }

    /// The part of a loop's range whose values keep what they make known inside.
    pub(super) fn tight_range(&self, loops: &Loop, end: &Expr) -> Option<TightRange> {
        let guarded = self.unguarded(loops, loops.scope);
        let ranges: Vec<(Expr, Expr, Option<Expr>)> =
            guarded.iter().map(|&guarded| self.range_inside(guarded, loops, end)).collect::<Option<_>>()?;
        let conditions = ranges.iter().filter_map(|(.., condition)| condition.clone());
        let condition = conditions.reduce(|one, other| if one == other { one } else { one.and(other) });
        let ranges = ranges.into_iter().map(|(begin, end, _)| (begin, end));
        let both = |operator, one: Expr, other: Expr| match one == other {
            true => one,
            false => Expr::binary(operator, one, other),
        };
        let (begin, end) = ranges.reduce(|(begin, end), (other_begin, other_end)| {
            let begin = match (begin, other_begin) {
                (Expr::Index(0), begin) | (begin, Expr::Index(0)) => begin,
                (begin, other) => both(BinaryOperator::Maximum, begin, other),
            };
            (begin, both(BinaryOperator::Minimum, end, other_end))
        })?;
        Some(TightRange { begin, end, condition, inside: guarded })
    }

    /// The part of a loop's range whose values keep one index inside, and what must hold for there to be any.
    fn range_inside(&self, guarded: IndexVariable, loops: &Loop, end: &Expr) -> Option<(Expr, Expr, Option<Expr>)> {
        let declaration = &self.concrete.variables[guarded.0];
        let used = self.concrete.running(guarded);
        let at = |coordinate: u64| self.parts(guarded, &loops.scope.at(loops.variable, Expr::Index(coordinate)));
        let ((first, less), (second, _)) = (at(0), at(1));
        if !is_next(&first, &second) {
            return None;
        }
        let extent = self.size(declaration.extent);
        if let (Some(Computed::Index { block: Some(_), .. }), 2) = (&declaration.value, used.len())
            && let (Expr::Index(extent), Expr::Index(by)) = (&extent, end)
            && extent.is_multiple_of(*by)
        {
            return Some((Expr::Index(0), end.clone(), None));
        }
        let at_least = |value: Expr| Expr::binary(BinaryOperator::Maximum, value, first.clone()).minus(first.clone());
        let (begin, inside, condition) = match less {
            Some(less) => (at_least(less.clone()), at_least(extent.plus(less)), None),
            // An outer block may stand out as a whole, but the outermost does not.
            None if used.len() > 2 => {
                (Expr::Index(0), extent.clone().minus(first.clone()), Some(first.clone().less(extent)))
            }
            None => (Expr::Index(0), extent.minus(first), None),
        };
        Some((begin, Expr::binary(BinaryOperator::Minimum, end.clone(), inside), condition))
    }

    /// A statement inside of the loop over `variable`; where that numbers small blocks, once for those that lie inside of the tensor
    /// as a whole, whose loops have constant lengths, and once for those that stand out.
    pub(super) fn by_wholeness(
        &mut self,
        variable: IndexVariable,
        statement: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let Some((index, is_whole)) = self.whole_block(variable, scope) else {
            return self.statement(statement, scope, out);
        };
        let mut inside = scope.clone();
        inside.inside.insert(index);
        let mut whole = Vec::new();
        self.statement(statement, &inside, &mut whole);
        let Some(is_whole) = is_whole else { return out.extend(whole) };
        let mut rest = Vec::new();
        self.statement(statement, &Scope { stands_out: true, ..scope.clone() }, &mut rest);
        out.push(ir::Statement::If(vec![(is_whole, whole)], rest));
    }

    /// The index in a mode that a loop tells the block of, and when all of the block lies inside of the mode; `None` for always.
    fn whole_block(&self, variable: IndexVariable, scope: &Scope) -> Option<(IndexVariable, Option<Expr>)> {
        let appends = |tensor: &concrete::Tensor| {
            matches!(tensor.kind, TensorKind::Output(OutputStructure::Appended) | TensorKind::SparseWorkspace(_))
        };
        if self.concrete.target != Target::Cpu || scope.stands_out || self.concrete.tensors.iter().any(appends) {
            return None;
        }
        let ids = (0..self.concrete.variables.len()).map(IndexVariable);
        let mut open = ids.filter(|id| !scope.inside.contains(id));
        open.find_map(|index| {
            let last = self.last_in_block(index, variable, scope)?;
            let largest = self.largest(index, &last)?;
            let extent = self.size(self.concrete.variables[index.0].extent);
            let is_always = self.is_whole_mode(index, variable, scope, &last, &extent);
            Some((index, (!is_always).then(|| largest.less(extent))))
        })
    }

    /// The scope at the last place of a small block of a mode, which the loop over `variable` is the last to tell.
    fn last_in_block(&self, index: IndexVariable, variable: IndexVariable, scope: &Scope) -> Option<Scope> {
        let Some(Computed::Mode { guarded: true, .. }) = &self.concrete.variables[index.0].value else { return None };
        let used = self.concrete.running(index);
        let is_inner = |used: &&IndexVariable| !scope.coordinates.contains_key(used);
        let mut size = 1u64;
        let mut last = scope.clone();
        for &inner in used.iter().filter(is_inner) {
            let Expr::Index(extent @ 1..) = self.size(self.concrete.variables[inner.0].extent) else { return None };
            size = size.saturating_mul(extent);
            last = last.at(inner, Expr::Index(extent - 1));
        }
        (used.contains(&variable) && used.iter().any(|used| is_inner(&used)) && size <= MOST_IN_BLOCK).then_some(last)
    }

    /// The index in a mode at a place, where nothing is subtracted for it.
    fn largest(&self, index: IndexVariable, last: &Scope) -> Option<Expr> {
        let Some(Computed::Mode { tensor, mode, levels, .. }) = &self.concrete.variables[index.0].value else {
            return None;
        };
        match self.mode_parts(*tensor, *mode, levels, last) {
            (largest, None) => Some(largest),
            (_, Some(_)) => None,
        }
    }

    /// Whether the last block ends where the mode does, or before.
    fn is_whole_mode(
        &self,
        index: IndexVariable,
        variable: IndexVariable,
        scope: &Scope,
        last: &Scope,
        extent: &Expr,
    ) -> bool {
        let is_outermost = |used: &IndexVariable| *used == variable || !scope.coordinates.contains_key(used);
        let (Expr::Index(extent), Expr::Index(blocks @ 1..)) =
            (extent, self.size(self.concrete.variables[variable.0].extent))
        else {
            return false;
        };
        let largest = self.largest(index, &last.at(variable, Expr::Index(blocks - 1)));
        self.concrete.running(index).iter().all(is_outermost)
            && matches!(largest, Some(Expr::Index(largest)) if largest < *extent)
    }

    /// The first index in a mode that lies in the block, or beyond the block, whose number is `block`: where blocks are what a loop
    /// goes through in order.
    pub(super) fn first_of_block(&self, index: IndexVariable, loops: &Loop, block: Expr) -> Option<Expr> {
        if !self.concrete.is_block_of(loops.variable, index) {
            return None;
        }
        let used = self.concrete.variables[index.0].value.as_ref()?.variables();
        let mut scope = loops.scope.at(loops.variable, block);
        for other in used.into_iter().filter(|&other| other != loops.variable) {
            scope = scope.at(other, Expr::Index(0));
        }
        Some(self.coordinate(&scope, index))
    }
}

/// Whether a sum is by one larger than another.
fn is_next(first: &Expr, second: &Expr) -> bool {
    let (mut terms, mut others) = (Vec::new(), Vec::new());
    let (constant, other) = (add_terms(first, &mut terms), add_terms(second, &mut others));
    terms == others && other == constant + 1
}

/// Adds the terms of a sum to some, and returns what of it is constant.
fn add_terms<'e>(sum: &'e Expr, terms: &mut Vec<&'e Expr>) -> u64 {
    match sum {
        Expr::Index(constant) => *constant,
        Expr::Binary(BinaryOperator::Add, left, right) => add_terms(left, terms) + add_terms(right, terms),
        term => {
            terms.push(term);
            0
        }
    }
}

/// Whether to compute an index again where it is used costs more than to keep it.
fn is_costly(index: &Expr) -> bool {
    use BinaryOperator::{Divide, Gather, Remainder};
    let mut costly = false;
    index.for_each(&mut |part| costly |= matches!(part, Expr::Binary(Divide | Remainder | Gather, ..)));
    costly
}
