//! Parallel loops: what a chunk is, and how the writes of chunks come together.

use super::forall::{Bounds, Loop};
use super::{Lowering, Scope};
use crate::concrete::{
    Access, Computed, ExtentOf, IndexVariable, OutputStructure, Run, Statement, Target, TensorId, TensorKind, absent,
    simplify,
};
use crate::format::level::{self, Arrays, Parents};
use crate::format::{Level, LevelKind};
use crate::ir::{self, ArrayId, Expr, ReduceOperator, Sharing, Type, VariableId, Work};
use std::collections::{BTreeMap, BTreeSet};

/// What the places of a parallel range are.
#[derive(Clone)]
enum Places {
    /// Coordinates of the loop's variable.
    Coordinates,
    /// Positions of a level of an operand, the outermost one unless those above it are at computed indices.
    Positions(Access, usize),
}

impl Lowering<'_> {
    /// The loop in chunks of its range; where their work is uneven, in shares that the variable `shares` numbers, if there is one.
    pub(super) fn parallel(&mut self, loops: &Loop, shares: Option<IndexVariable>, out: &mut Vec<ir::Statement>) {
        if !self.can_share(loops) {
            return self.loops(loops, None, out);
        }
        let (places, begin, end) = self.places(loops);
        let mut parallel = self.cut(
            (begin, end),
            &mut |lowering, bounds, body| lowering.loops(loops, Some(bounds), body),
            &mut |lowering, array| lowering.sharing(array, loops, &places),
        );
        parallel.work = self.work(loops, &places);
        parallel.aligned = self.aligned(&places);
        let appends = |(_, sharing): &(ArrayId, Sharing)| matches!(sharing, Sharing::Joined { .. });
        parallel.is_bounded = parallel.sharing.iter().any(appends) && self.is_bounded(loops, &places);
        let shares = shares.and_then(|shares| self.concrete.variables[shares.0].share.as_ref());
        if let Some(share) = shares {
            let whole =
                Statement::Forall { variable: loops.variable, run: Run::Serial, body: Box::new(loops.body.clone()) };
            parallel.uneven = Some(Box::new(self.parallel_shares(share, &whole, loops.scope)));
        }
        out.push(ir::Statement::Parallel(Box::new(parallel)));
    }

    /// A parallel loop over a range: what a chunk does, and how what it writes is shared.
    pub(super) fn cut(
        &mut self,
        (begin, end): (Expr, Expr),
        chunk: &mut dyn FnMut(&mut Self, &Bounds, &mut Vec<ir::Statement>),
        share: &mut dyn FnMut(&mut Self, ArrayId) -> Sharing,
    ) -> ir::Parallel {
        let low = self.fresh("low", Type::Index, false);
        let high = self.fresh("high", Type::Index, false);
        let bounds = Bounds { low: Expr::Variable(low), high: Expr::Variable(high) };
        let outer = std::mem::take(&mut self.hoisted);
        let mut body = Vec::new();
        chunk(self, &bounds, &mut body);
        let mut all = std::mem::replace(&mut self.hoisted, outer);
        all.extend(body);
        let written = Written::of(&all);
        let sharing: Vec<(ArrayId, Sharing)> =
            self.joined_together(&written.arrays).iter().map(|&array| (array, share(self, array))).collect();
        reduce_into_copies(&mut all, &sharing);
        let reductions: Vec<(VariableId, ReduceOperator)> = written
            .variables
            .iter()
            .map(|(&variable, &operator)| (variable, self.reduction(variable, operator)))
            .collect();
        reduce_flags(&mut all, &reductions);
        let (work, aligned, uneven, is_bounded) = (None, None, None, false);
        ir::Parallel { begin, end, low, high, work, aligned, is_bounded, sharing, reductions, body: all, uneven }
    }

    /// The written arrays, and those that their elements are positions of: these are joined together.
    fn joined_together(&self, written: &BTreeSet<ArrayId>) -> BTreeSet<ArrayId> {
        let counted = written.iter().filter_map(|&array| self.positions_of(self.kernel.array(array).role));
        written.iter().copied().chain(counted).collect()
    }

    /// How chunks combine a variable: as it is updated; flags are set where any chunk sets them.
    fn reduction(&self, variable: VariableId, operator: Option<ReduceOperator>) -> ReduceOperator {
        operator.unwrap_or(match self.kernel.variable(variable).ty {
            Type::Bool => ReduceOperator::Or,
            Type::Index | Type::Element(_) => ReduceOperator::Add,
        })
    }

    /// Whether the chunks' writes can come together: what they write at distinct places, but have to copy for it, must be
    /// told from what they do not write.
    fn can_share(&self, loops: &Loop) -> bool {
        let mut can_share = true;
        loops.body.for_each_assign(&mut |assign| {
            let tensor = assign.target.tensor;
            let is_owned = match &self.concrete.tensor(tensor).kind {
                TensorKind::Output(OutputStructure::Appended) => true,
                TensorKind::Output(OutputStructure::Shared { access, .. }) => {
                    self.level_variable(access, 0) == loops.variable
                }
                TensorKind::Output(OutputStructure::Dense) => {
                    !assign.target.indices.is_empty() && self.level_variable(&assign.target, 0) == loops.variable
                        || self.fused_rows(&assign.target, loops.variable).is_some_and(|(levels, _)| levels == 2)
                }
                _ => matches!(self.workspaces.get(&tensor), None | Some(super::Workspace::Scalar(_))),
            };
            can_share &= is_owned || self.combining(tensor, loops).is_some();
        });
        can_share
    }

    /// The operator that combines the chunks' copies of a tensor. Where each element is written at most once, it is one that
    /// lets the others as they are; minima and maxima lose NaN.
    fn combining(&self, tensor: TensorId, loops: &Loop) -> Option<ReduceOperator> {
        let mut operator = None;
        loops.body.for_each_assign(&mut |assign| {
            if assign.target.tensor == tensor {
                operator = operator.or(assign.operator);
            }
        });
        let declaration = self.concrete.tensor(tensor);
        operator.or_else(|| loops.body.operator_that_keeps(tensor, declaration.fill))
    }

    /// Copies for each chunk.
    fn private(&self, tensor: TensorId, loops: &Loop) -> Sharing {
        let element = self.concrete.tensor(tensor).element;
        Sharing::Private(self.combining(tensor, loops).unwrap_or(ReduceOperator::of_any(element)))
    }

    fn places(&self, loops: &Loop) -> (Places, Expr, Expr) {
        match loops.operands.as_slice() {
            [(access, depth)] if !loops.everywhere => {
                let (_, positions) = self.positions(access, *depth, loops.scope);
                (Places::Positions(access.clone(), *depth), positions.begin, positions.end)
            }
            _ => {
                let extent = self.concrete.variables[loops.variable.0].extent;
                let whole = || Bounds { low: Expr::Index(0), high: self.size(extent) };
                let Bounds { low, high } = self.kept_coordinates(loops).unwrap_or_else(whole);
                (Places::Coordinates, low, high)
            }
        }
    }

    fn aligned(&self, places: &Places) -> Option<ArrayId> {
        let Places::Positions(access, depth) = places else { return None };
        let storage = self.storage(access.tensor, *depth);
        storage.coordinates.filter(|_| !storage.format.unique)
    }

    /// How much work lies before a place: the leaf positions of the operands that the range cuts. Where several are merged, coordinates
    /// between their entries are no work.
    fn work(&mut self, loops: &Loop, places: &Places) -> Option<Work> {
        let place = self.fresh("place", Type::Index, false);
        let mut before: Option<Expr> = None;
        let mut add = |expr: Expr| {
            before = Some(match before.take() {
                None => expr,
                Some(sum) if sum == expr => sum,
                Some(sum) => sum.plus(expr),
            });
        };
        match places {
            Places::Positions(access, depth) => {
                let levels = self.concrete.tensor(access.tensor).format.levels.len();
                let position = self.position(access, *depth, loops.scope, Expr::Variable(place));
                if let Some(leaves) = self.descend(access.tensor, depth + 1..levels, position) {
                    add(leaves);
                }
            }
            Places::Coordinates => {
                for access in self.rows(loops) {
                    let levels = self.concrete.tensor(access.tensor).format.levels.len();
                    if let Some(leaves) = self.descend(access.tensor, 1..levels, Expr::Variable(place)) {
                        add(leaves);
                    }
                }
                for (access, depth) in &loops.operands {
                    if let Some(leaves) = self.leaves_before(access, *depth, loops.scope, Expr::Variable(place)) {
                        add(leaves);
                    }
                }
            }
        }
        let is_all = matches!(places, Places::Coordinates) && !loops.everywhere;
        let before = before.or_else(|| self.chunks_before(loops, Expr::Variable(place)));
        before.map(|before| Work { place, before, is_all })
    }

    /// The operands whose outermost level is dense and has the coordinates of a loop, each once.
    fn rows(&self, loops: &Loop) -> Vec<Access> {
        let mut rows: Vec<Access> = Vec::new();
        loops.body.for_each_read(&mut |access| {
            let levels = &self.concrete.tensor(access.tensor).format.levels;
            let starts_here = !levels.is_empty()
                && !self.concrete.tensor(access.tensor).kind.is_workspace()
                && levels[0].format.kind == LevelKind::Dense
                && self.level_variable(access, 0) == loops.variable;
            if starts_here && !rows.iter().any(|other| other.same_place(access)) {
                rows.push(access.clone());
            }
        });
        rows
    }

    /// Whether a chunk appends no more entries than it has work: each is where an operand has one whose entries the work is. What is
    /// multiplied with the entries of a row, say, has no such bound.
    fn is_bounded(&self, loops: &Loop, places: &Places) -> bool {
        let counted = match places {
            Places::Positions(access, depth) => vec![(access.clone(), *depth)],
            Places::Coordinates => {
                let rows = self.rows(loops).into_iter().map(|access| (access, 0));
                let walked = loops.operands.iter().cloned();
                walked
                    .filter(|(access, depth)| !level::is_probed(self.storage(access.tensor, *depth).format))
                    .chain(rows)
                    .collect()
            }
        };
        // Its leaf positions are counted, or each place of the range is one.
        let is_whole = |(access, depth): &&(Access, usize)| {
            let levels = &self.concrete.tensor(access.tensor).format.levels;
            let (below, one) = (depth + 1..levels.len(), Expr::Index(1));
            let is_counted = self.descend(access.tensor, below.clone(), one.clone()).is_some()
                || self.first_below(access.tensor, below, one.clone()) == one;
            is_counted && levels.iter().all(|level| level::is_contiguous(level.format))
        };
        let counted: Vec<&Access> = counted.iter().filter(is_whole).map(|(access, _)| access).collect();
        let mut is_bounded = true;
        loops.body.for_each_assign(&mut |assign| {
            let target = &assign.target;
            let tensor = self.concrete.tensor(target.tensor);
            if tensor.kind != TensorKind::Output(OutputStructure::Appended) {
                return;
            }
            let has_coordinates = |level: &Level| level::arrays(level.format) != Arrays::None;
            let tells_all = |access: &&&Access| target.indices.iter().all(|index| access.indices.contains(index));
            let elsewhere = counted
                .iter()
                .filter(tells_all)
                .fold(loops.body.clone(), |statement, access| absent(&self.concrete.tensors, &statement, access));
            is_bounded &= tensor.listed.is_none()
                && tensor.format.levels.iter().skip(1).all(has_coordinates)
                && !simplify(&self.concrete.tensors, elsewhere).writes(target.tensor);
        });
        is_bounded
    }

    /// How much work lies before a chunk of rows that outer levels of an operand come by again and again: each row counts once for
    /// each of their positions.
    fn chunks_before(&self, loops: &Loop, chunk: Expr) -> Option<Expr> {
        let extent = self.concrete.variables[loops.variable.0].extent;
        let Some(ExtentOf::Blocks { by, .. }) = self.concrete.extents[extent].of else { return None };
        if self.concrete.target != Target::Cpu {
            return None;
        }
        let mut repeated = None;
        loops.body.for_each_read(&mut |access| {
            let is_input = !self.concrete.tensor(access.tensor).kind.is_workspace();
            let levels = if is_input { self.concrete.tensor(access.tensor).format.levels.len() } else { 0 };
            let is_cut = |depth: &usize| self.concrete.is_block_of(loops.variable, self.level_variable(access, *depth));
            let Some(depth) = (1..levels).find(is_cut) else { return };
            repeated = repeated.take().or_else(|| self.descend(access.tensor, 0..depth, Expr::Index(1)));
        });
        repeated.map(|repeated| chunk.times(Expr::Index(by)).times(repeated))
    }

    /// How many leaf positions of a walked operand have a coordinate below one at a level.
    fn leaves_before(&self, access: &Access, depth: usize, scope: &Scope, coordinate: Expr) -> Option<Expr> {
        let levels = self.concrete.tensor(access.tensor).format.levels.len();
        if level::is_probed(self.storage(access.tensor, depth).format) {
            return None;
        }
        let (storage, positions) = self.positions(access, depth, scope);
        let first = self.search(&storage, &positions, coordinate);
        let first = self.position(access, depth, scope, first);
        Some(self.descend(access.tensor, depth + 1..levels, first.clone()).unwrap_or(first))
    }

    /// The position at the last of `levels` that begins below `position`; `None` when no level on the way stores positions.
    pub(super) fn descend(&self, tensor: TensorId, levels: std::ops::Range<usize>, position: Expr) -> Option<Expr> {
        let stores = |depth: usize| {
            let format = self.concrete.tensor(tensor).format.levels[depth].format;
            level::arrays(format) == Arrays::PositionsAndCoordinates
        };
        levels.clone().any(stores).then(|| self.first_below(tensor, levels, position))
    }

    /// The first position of the last of `levels` below `position` of the level above them.
    pub(super) fn first_below(&self, tensor: TensorId, levels: std::ops::Range<usize>, position: Expr) -> Expr {
        levels.fold(position, |position, depth| {
            let storage = self.storage(tensor, depth);
            let format = level::of(storage.format.kind);
            let parents = Parents { begin: position.clone(), end: None };
            match format.first_position(&storage, &parents) {
                Some(first) => first,
                None => position.times(storage.extent),
            }
        })
    }

    fn sharing(&mut self, array: ArrayId, loops: &Loop, places: &Places) -> Sharing {
        let role = self.kernel.array(array).role;
        let Some(tensor) = role.tensor().and_then(|id| self.concrete_tensor(id)) else {
            return match self.workspace_in(array) {
                Some(workspace) => self.private(workspace, loops),
                None => Sharing::Private(ReduceOperator::Add),
            };
        };
        let kind = self.concrete.tensor(tensor).kind.clone();
        match kind {
            TensorKind::Output(OutputStructure::Appended) => Sharing::Joined { positions_of: self.positions_of(role) },
            TensorKind::Output(OutputStructure::Shared { access, levels }) => {
                self.owned_below(&access, levels, tensor, loops, places)
            }
            _ => self.owned_rows(tensor, loops, places),
        }
    }

    pub(super) fn workspace_in(&self, array: ArrayId) -> Option<TensorId> {
        let is_there = |place: &super::Workspace| matches!(place, super::Workspace::Array(other) if *other == array);
        self.workspaces.iter().find(|(_, place)| is_there(place)).map(|(tensor, _)| *tensor)
    }

    /// Whether coordinates ascend with places.
    fn ascends(&self, places: &Places) -> bool {
        match places {
            Places::Coordinates => true,
            Places::Positions(access, depth) => level::ascends(self.storage(access.tensor, *depth).format),
        }
    }

    pub(super) fn concrete_tensor(&self, id: ir::TensorId) -> Option<TensorId> {
        self.tensors.iter().find(|(_, candidate)| **candidate == id).map(|(tensor, _)| *tensor)
    }

    /// A dense output: chunks own rows when its outermost level is the loop's.
    fn owned_rows(&mut self, tensor: TensorId, loops: &Loop, places: &Places) -> Sharing {
        let Some(target) = target_of(loops.body, tensor) else { return self.private(tensor, loops) };
        let levels = self.concrete.tensor(tensor).format.levels.len();
        if let Some((told, row)) = self.fused_rows(&target, loops.variable) {
            return self.fused_part(&target, loops, told, row);
        }
        if levels == 0 {
            return self.private(tensor, loops);
        }
        let place = self.fresh("place", Type::Index, false);
        let coordinate = match places {
            Places::Coordinates => Expr::Variable(place),
            Places::Positions(access, depth) => {
                let (storage, _) = self.positions(access, *depth, loops.scope);
                self.coordinate_at(&storage, Expr::Variable(place))
            }
        };
        let outermost = self.level_variable(&target, 0);
        let row = match outermost == loops.variable {
            true => self.ascends(places).then_some(coordinate),
            false => self.first_of_block(outermost, loops, coordinate),
        };
        match row {
            Some(row) => Sharing::Owned { place, start: self.first_below(tensor, 1..levels, row) },
            None => {
                // Nobody asks for the place.
                self.kernel.variables.pop();
                self.private(tensor, loops)
            }
        }
    }

    /// How many outermost levels of a dense result the number of an iteration of two fused loops tells, and the extent of the
    /// inner one.
    fn fused_rows(&self, target: &Access, variable: IndexVariable) -> Option<(usize, usize)> {
        let part = |depth: usize| {
            let index = (depth < target.indices.len()).then(|| self.level_variable(target, depth))?;
            match self.concrete.variables[index.0].value {
                Some(Computed::Fused { whole, row, is_outer }) if whole == variable => Some((row, is_outer)),
                _ => None,
            }
        };
        let (row, _) = part(0).filter(|(_, is_outer)| *is_outer)?;
        Some((if part(1).is_some() { 2 } else { 1 }, row))
    }

    /// What a chunk of two fused loops writes of a dense result: rows of its own, or ones that it shares at its ends.
    fn fused_part(&mut self, target: &Access, loops: &Loop, told: usize, row: usize) -> Sharing {
        let place = self.fresh("place", Type::Index, false);
        let levels = self.concrete.tensor(target.tensor).format.levels.len();
        let below = |position: Expr| self.first_below(target.tensor, told..levels, position);
        if told == 2 {
            return Sharing::Owned { place, start: below(Expr::Variable(place)) };
        }
        let number = Expr::binary(ir::BinaryOperator::Divide, Expr::Variable(place), self.size(row));
        let (start, length) = (below(number), below(Expr::Index(1)));
        let element = self.concrete.tensor(target.tensor).element;
        let operator = self.combining(target.tensor, loops).unwrap_or(ReduceOperator::of_any(element));
        Sharing::Segmented { place, start, length, operator }
    }

    /// An output that shares an operand's structure: chunks own the positions below theirs.
    fn owned_below(
        &mut self,
        shared: &Access,
        levels: usize,
        tensor: TensorId,
        loops: &Loop,
        places: &Places,
    ) -> Sharing {
        if self.level_variable(shared, 0) != loops.variable {
            return self.private(tensor, loops);
        }
        let place = self.fresh("place", Type::Index, false);
        let is_walked = self.walked_level(shared, loops.variable, &Scope::default()) == Some(0);
        let first = match places {
            Places::Coordinates if is_walked => {
                let (storage, positions) = self.positions(shared, 0, &Scope::default());
                self.search(&storage, &positions, Expr::Variable(place))
            }
            _ => Expr::Variable(place),
        };
        let position = self.first_below(shared.tensor, 1..levels, first);
        let all = self.concrete.tensor(tensor).format.levels.len();
        Sharing::Owned { place, start: self.first_below(tensor, levels..all, position) }
    }
}

/// A chunk's copy starts from the identity and the copies are combined, so an element that is written once may as well be
/// combined with it. The same goes for segments.
fn reduce_into_copies(statements: &mut [ir::Statement], sharing: &[(ArrayId, Sharing)]) {
    for statement in statements {
        if let ir::Statement::Store(array, index, value) = statement {
            let operator = sharing.iter().find_map(|(other, sharing)| match sharing {
                Sharing::Private(operator) | Sharing::Segmented { operator, .. } if other == array => Some(*operator),
                _ => None,
            });
            if let Some(operator) = operator {
                *statement = ir::Statement::Reduce(*array, index.clone(), operator, value.clone());
                continue;
            }
        }
        statement.blocks_mut().into_iter().for_each(|block| reduce_into_copies(block, sharing));
    }
}

/// What a parallel loop sets from outside, it updates.
fn reduce_flags(statements: &mut [ir::Statement], reductions: &[(VariableId, ReduceOperator)]) {
    for statement in statements {
        if let ir::Statement::Assign(variable, value) = statement
            && let Some((_, operator)) = reductions.iter().find(|(other, _)| other == variable)
        {
            *statement = ir::Statement::Update(*variable, *operator, value.clone());
            continue;
        }
        statement.blocks_mut().into_iter().for_each(|block| reduce_flags(block, reductions));
    }
}

/// The access by which a statement writes a tensor.
pub(super) fn target_of(statement: &Statement, tensor: TensorId) -> Option<Access> {
    let mut found = None;
    statement.for_each_assign(&mut |assign| {
        if assign.target.tensor == tensor {
            found = Some(assign.target.clone());
        }
    });
    found
}

/// What some statements write that they did not make.
#[derive(Default)]
struct Written {
    arrays: BTreeSet<ArrayId>,
    /// And the operators that update them.
    variables: BTreeMap<VariableId, Option<ReduceOperator>>,
    own_arrays: BTreeSet<ArrayId>,
    own_variables: BTreeSet<VariableId>,
}

impl Written {
    fn of(statements: &[ir::Statement]) -> Written {
        let mut written = Written::default();
        written.block(statements);
        let Written { arrays, variables, own_arrays, own_variables } = written;
        Written {
            arrays: arrays.difference(&own_arrays).copied().collect(),
            variables: variables.into_iter().filter(|(variable, _)| !own_variables.contains(variable)).collect(),
            own_arrays,
            own_variables,
        }
    }

    fn block(&mut self, statements: &[ir::Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &ir::Statement) {
        use ir::Statement::*;
        match statement {
            // What they change is made inside.
            Comment(_) | Sort { .. } | Clear(_) | Reset { .. } | Mark(..) => {}
            Let(variable, _) | Insert { place: variable, .. } => {
                self.own_variables.insert(*variable);
            }
            Assign(variable, _) => {
                self.variables.entry(*variable).or_insert(None);
            }
            Update(variable, operator, _) => {
                self.variables.insert(*variable, Some(*operator));
            }
            Store(array, ..)
            | Reduce(array, ..)
            | Fill(array, _)
            | Dots { sums: array, .. }
            | Push(array, _)
            | Extend { array, .. } => {
                self.arrays.insert(*array);
            }
            Allocate { array, .. }
            | View { array, .. }
            | Numbers { array, .. }
            | List(array)
            | Table { table: array, .. }
            | Bitmap { bitmap: array, .. } => {
                self.own_arrays.insert(*array);
            }
            For { variable, body, .. } | Marked { variable, body, .. } => {
                self.own_variables.insert(*variable);
                self.block(body);
            }
            While(_, body) => self.block(body),
            Intersect { walks, body } => {
                self.own_variables.extend(walks.iter().map(|walk| walk.place));
                self.block(body);
            }
            If(branches, otherwise) => {
                branches.iter().for_each(|(_, body)| self.block(body));
                self.block(otherwise);
            }
            Parallel(parallel) => parallel.alternatives().for_each(|node| self.block(&node.body)),
        }
    }
}
