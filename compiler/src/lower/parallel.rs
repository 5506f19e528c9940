//! Parallel loops: what a chunk is, and the part of each array that it has, for what scheduling has decided of how chunks meet.

use super::forall::{Bounds, Loop};
use super::{Lowering, Scope};
use crate::concrete::{
    Access, ExtentOf, IndexVariable, OutputStructure, Run, Statement, Target, TensorId, TensorKind, absent, simplify,
};
use crate::format::{Level, Role};
use crate::ir::{self, ArrayId, Binding, Effect, Expr, Part, ReduceOperator, Sharing, Type, VariableId, Work};
use crate::level::{self, Parents};
use crate::schedule::{Conflict, Cut, Meeting, Told};
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
        let Ok(meetings) = self.concrete.meetings(Cut::Loop(loops.variable), loops.body) else {
            debug_assert!(false, "scheduling makes no such loop parallel");
            return self.loops(loops, None, out);
        };
        let (places, begin, end) = self.places(loops);
        let mut parallel = self.cut(
            (begin, end),
            &mut |lowering, bounds, body| lowering.loops(loops, Some(bounds), body),
            &mut |lowering, array| lowering.sharing(array, loops, &places, &meetings),
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
        storage.coordinates.filter(|_| !storage.format.unique())
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
                && levels[0].format.kind.is_dense()
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
            let has_coordinates = |level: &Level| level.format.array(Role::Coordinates).is_some();
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
            format.array(Role::Positions).is_some()
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

    /// How chunks meet in the tensor that an array belongs to.
    pub(super) fn meeting<'m>(&self, array: ArrayId, meetings: &'m [Meeting]) -> Option<&'m Meeting> {
        let of_role = self.kernel.array(array).role.tensor().and_then(|id| self.concrete_tensor(id));
        let tensor = of_role.or_else(|| self.workspace_in(array))?;
        meetings.iter().find(|meeting| meeting.target.tensor == tensor)
    }

    fn sharing(&mut self, array: ArrayId, loops: &Loop, places: &Places, meetings: &[Meeting]) -> Sharing {
        // What is no tensor's is counted.
        let Some(Meeting { target, conflict }) = self.meeting(array, meetings) else {
            return Sharing::Private(ReduceOperator::Add);
        };
        match *conflict {
            Conflict::Joined => Sharing::Joined { positions_of: self.positions_of(self.kernel.array(array).role) },
            Conflict::Private(operator) => Sharing::Private(operator),
            Conflict::Owned(told) => {
                let (place, start, _) = self.part(target, told, loops, places);
                Sharing::Owned { place, start }
            }
            Conflict::Segments(told, operator) => {
                let (place, start, length) = self.part(target, told, loops, places);
                Sharing::Segmented { place, start, length, operator, anew: false }
            }
        }
    }

    pub(super) fn workspace_in(&self, array: ArrayId) -> Option<TensorId> {
        let is_there = |place: &super::Workspace| matches!(place, super::Workspace::Array(other) if *other == array);
        self.workspaces.iter().find(|(_, place)| is_there(place)).map(|(tensor, _)| *tensor)
    }

    pub(super) fn concrete_tensor(&self, id: ir::TensorId) -> Option<TensorId> {
        self.tensors.iter().find(|(_, candidate)| **candidate == id).map(|(tensor, _)| *tensor)
    }

    /// What a place of a loop's range has of a result: a variable for the place, its first element, and how many elements are told
    /// alike.
    fn part(&mut self, target: &Access, told: Told, loops: &Loop, places: &Places) -> (VariableId, Expr, Expr) {
        let place = self.fresh("place", Type::Index, false);
        let number = Expr::Variable(place);
        let tensor = target.tensor;
        let all = self.concrete.tensor(tensor).format.levels.len();
        let (first, levels) = match told {
            Told::Coordinate | Told::Levels(_) => (self.coordinate_of_place(loops, places, number), 1),
            Told::Block(outermost) => {
                let block = self.coordinate_of_place(loops, places, number);
                (self.first_of_block(outermost, loops, block.clone()).unwrap_or(block), 1)
            }
            Told::Fused { levels: 1, row } => (Expr::binary(ir::BinaryOperator::Divide, number, self.size(row)), 1),
            Told::Fused { levels, .. } => (number, levels),
            Told::Structure => return (place, self.first_shared(tensor, loops, places, number), Expr::Index(1)),
        };
        let below = |position: Expr| self.first_below(tensor, levels..all, position);
        (place, below(first), below(Expr::Index(1)))
    }

    /// The coordinate of the loop's variable at a place.
    fn coordinate_of_place(&mut self, loops: &Loop, places: &Places, place: Expr) -> Expr {
        match places {
            Places::Coordinates => place,
            Places::Positions(access, depth) => {
                let (storage, _) = self.positions(access, *depth, loops.scope);
                self.coordinate_at(&storage, place)
            }
        }
    }

    /// The first element of an output that shares an operand's structure: chunks own the positions below theirs.
    fn first_shared(&mut self, tensor: TensorId, loops: &Loop, places: &Places, place: Expr) -> Expr {
        let kind = &self.concrete.tensor(tensor).kind;
        let TensorKind::Output(OutputStructure::Shared { access: shared, levels }) = kind else { return place };
        let is_walked = self.walked_level(shared, loops.variable, &Scope::default()) == Some(0);
        let first = match places {
            Places::Coordinates if is_walked => {
                let (storage, positions) = self.positions(shared, 0, &Scope::default());
                self.search(&storage, &positions, place)
            }
            _ => place,
        };
        let position = self.first_below(shared.tensor, 1..*levels, first);
        let all = self.concrete.tensor(tensor).format.levels.len();
        self.first_below(tensor, *levels..all, position)
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
        statement.parts(&mut |part| match part {
            Part::Expr(_) => {}
            Part::Variable(variable, Binding::Declares) => _ = self.own_variables.insert(*variable),
            Part::Variable(variable, Binding::Changes) => match statement {
                ir::Statement::Update(_, operator, _) => _ = self.variables.insert(*variable, Some(*operator)),
                ir::Statement::Assign(..) => _ = self.variables.entry(*variable).or_insert(None),
                _ => {}
            },
            Part::Array(array, Effect::Makes) => _ = self.own_arrays.insert(*array),
            Part::Array(array, Effect::Writes | Effect::Appends) => _ = self.arrays.insert(*array),
            // Sets are made inside.
            Part::Array(_, Effect::Reads | Effect::Sets | Effect::Shares) => {}
            Part::Block(block, _) => self.block(block),
        });
    }
}
