//! Parallel loops: what a chunk is, and how the writes of chunks come together.

use super::forall::{Bounds, Loop};
use super::{Lowering, Scope};
use crate::concrete::{Access, OutputStructure, TensorId, TensorKind};
use crate::format::LevelKind;
use crate::format::level::{self, Arrays, Parents};
use crate::ir::{self, ArrayId, Expr, ReduceOperator, Sharing, Type, VariableId, Work};
use std::collections::BTreeSet;

/// What the places of a parallel range are.
#[derive(Clone)]
enum Places {
    /// Coordinates of the loop's variable.
    Coordinates,
    /// Positions of the outermost level of an operand.
    Positions(Access),
}

impl Lowering<'_> {
    pub(super) fn parallel(&mut self, loops: &Loop, out: &mut Vec<ir::Statement>) {
        let low = self.fresh("low", Type::Index, false);
        let high = self.fresh("high", Type::Index, false);
        let (places, begin, end) = self.places(loops);
        let bounds = Bounds { low: Expr::Variable(low), high: Expr::Variable(high) };
        let outer = std::mem::take(&mut self.hoisted);
        let mut body = Vec::new();
        self.loops(loops, Some(&bounds), &mut body);
        let mut all = std::mem::replace(&mut self.hoisted, outer);
        all.extend(body);
        let written = Written::of(&all);
        let sharing: Vec<(ArrayId, Sharing)> = self
            .joined_together(&written.arrays)
            .iter()
            .map(|&array| (array, self.sharing(array, loops, &places)))
            .collect();
        reduce_into_private(&mut all, &sharing);
        let reductions: Vec<(VariableId, ReduceOperator)> =
            written.variables.iter().map(|&variable| (variable, self.reduction(variable))).collect();
        reduce_flags(&mut all, &reductions);
        let parallel = ir::Parallel {
            begin,
            end,
            low,
            high,
            work: self.work(loops, &places),
            aligned: self.aligned(&places),
            sharing,
            reductions,
            body: all,
        };
        out.push(ir::Statement::Parallel(Box::new(parallel)));
    }

    /// The written arrays, and those that their elements are positions of: these are joined together.
    fn joined_together(&self, written: &BTreeSet<ArrayId>) -> BTreeSet<ArrayId> {
        let counted = written.iter().filter_map(|&array| self.positions_of(self.kernel.array(array).role));
        written.iter().copied().chain(counted).collect()
    }

    /// How chunks combine a variable: sums are added, flags are set where any chunk sets them.
    fn reduction(&self, variable: VariableId) -> ReduceOperator {
        match self.kernel.variable(variable).ty {
            Type::Bool => ReduceOperator::Or,
            Type::Index | Type::Element(_) => ReduceOperator::Add,
        }
    }

    fn places(&self, loops: &Loop) -> (Places, Expr, Expr) {
        match loops.operands.as_slice() {
            [(access, depth)] if !loops.everywhere => {
                let (_, positions) = self.positions(access, *depth, loops.scope);
                (Places::Positions(access.clone()), positions.begin, positions.end)
            }
            _ => {
                let extent = self.concrete.variables[loops.variable.0].extent;
                (Places::Coordinates, Expr::Index(0), self.size(extent))
            }
        }
    }

    fn aligned(&self, places: &Places) -> Option<ArrayId> {
        let Places::Positions(access) = places else { return None };
        let storage = self.storage(access.tensor, 0);
        storage.coordinates.filter(|_| !storage.format.unique)
    }

    /// How much work lies before a place: the leaf positions of the operands that the range cuts.
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
            Places::Positions(access) => {
                let levels = self.concrete.tensor(access.tensor).format.levels.len();
                if let Some(leaves) = self.descend(access.tensor, 1..levels, Expr::Variable(place)) {
                    add(leaves);
                }
            }
            Places::Coordinates => {
                let mut seen: Vec<Access> = Vec::new();
                loops.body.for_each_read(&mut |access| {
                    let levels = &self.concrete.tensor(access.tensor).format.levels;
                    let starts_here = !levels.is_empty()
                        && !self.concrete.tensor(access.tensor).kind.is_workspace()
                        && levels[0].format.kind == LevelKind::Dense
                        && self.level_variable(access, 0) == loops.variable;
                    if starts_here && !seen.iter().any(|other| other.same_place(access)) {
                        seen.push(access.clone());
                        if let Some(leaves) = self.descend(access.tensor, 1..levels.len(), Expr::Variable(place)) {
                            add(leaves);
                        }
                    }
                });
            }
        }
        before.map(|before| Work { place, before })
    }

    /// The position at the last of `levels` that begins below `position`; `None` when no level on the way stores positions.
    fn descend(&self, tensor: TensorId, levels: std::ops::Range<usize>, position: Expr) -> Option<Expr> {
        let stores = |depth: usize| {
            let format = self.concrete.tensor(tensor).format.levels[depth].format;
            level::arrays(format) == Arrays::PositionsAndCoordinates
        };
        levels.clone().any(stores).then(|| self.first_below(tensor, levels, position))
    }

    /// The first position of the last of `levels` below `position` of the level above them.
    fn first_below(&self, tensor: TensorId, levels: std::ops::Range<usize>, position: Expr) -> Expr {
        levels.fold(position, |position, depth| {
            let storage = self.storage(tensor, depth);
            let format = level::of(storage.format.kind);
            let parents = Parents { begin: position.clone(), end: None };
            match format.positions(&storage, &parents) {
                Some(positions) => positions.begin,
                None => position.times(storage.extent),
            }
        })
    }

    fn sharing(&mut self, array: ArrayId, loops: &Loop, places: &Places) -> Sharing {
        let role = self.kernel.array(array).role;
        let Some(tensor) = role.tensor().and_then(|id| self.concrete_tensor(id)) else {
            return Sharing::Private(ReduceOperator::Add);
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

    /// Whether coordinates ascend with places.
    fn ascends(&self, places: &Places) -> bool {
        match places {
            Places::Coordinates => true,
            Places::Positions(access) => self.storage(access.tensor, 0).format.ordered,
        }
    }

    fn concrete_tensor(&self, id: ir::TensorId) -> Option<TensorId> {
        self.tensors.iter().find(|(_, candidate)| **candidate == id).map(|(tensor, _)| *tensor)
    }

    /// A dense output: chunks own rows when its outermost level is the loop's.
    fn owned_rows(&mut self, tensor: TensorId, loops: &Loop, places: &Places) -> Sharing {
        let Some(target) = target_of(loops, tensor) else { return Sharing::Private(ReduceOperator::Add) };
        let levels = self.concrete.tensor(tensor).format.levels.len();
        if levels == 0 {
            return Sharing::Private(ReduceOperator::Add);
        }
        let place = self.fresh("place", Type::Index, false);
        let coordinate = match places {
            Places::Coordinates => Expr::Variable(place),
            Places::Positions(access) => {
                let storage = self.storage(access.tensor, 0);
                level::of(storage.format.kind)
                    .coordinate(&storage, Expr::Variable(place))
                    .expect("walked levels have coordinates")
            }
        };
        let outermost = self.level_variable(&target, 0);
        let row = match outermost == loops.variable {
            true => self.ascends(places).then_some(coordinate),
            false => self.first_of_block(outermost, loops, coordinate),
        };
        match row {
            Some(row) => Sharing::Owned { place, start: self.first_below(tensor, 1..levels, row) },
            None => Sharing::Private(ReduceOperator::Add),
        }
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
            return Sharing::Private(ReduceOperator::Add);
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

/// A chunk's copy starts from zero and the copies are summed, so an element that is written once may as well be added.
fn reduce_into_private(statements: &mut [ir::Statement], sharing: &[(ArrayId, Sharing)]) {
    for statement in statements {
        if let ir::Statement::Store(array, index, value) = statement {
            let is_private =
                |(other, sharing): &(ArrayId, Sharing)| other == array && matches!(sharing, Sharing::Private(_));
            if sharing.iter().any(is_private) {
                *statement = ir::Statement::Reduce(*array, index.clone(), ReduceOperator::Add, value.clone());
                continue;
            }
        }
        statement.blocks_mut().into_iter().for_each(|block| reduce_into_private(block, sharing));
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

fn target_of(loops: &Loop, tensor: TensorId) -> Option<Access> {
    let mut found = None;
    loops.body.for_each_assign(&mut |assign| {
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
    variables: BTreeSet<VariableId>,
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
            variables: variables.difference(&own_variables).copied().collect(),
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
            Comment(_) | Sort { .. } | Clear(_) | Reset { .. } => {}
            Let(variable, _) | Insert { place: variable, .. } => {
                self.own_variables.insert(*variable);
            }
            Assign(variable, _) | Update(variable, ..) => {
                self.variables.insert(*variable);
            }
            Store(array, ..) | Reduce(array, ..) | Fill(array, _) | Push(array, _) | Extend { array, .. } => {
                self.arrays.insert(*array);
            }
            Allocate { array, .. } | View { array, .. } | List(array) | Table { table: array, .. } => {
                self.own_arrays.insert(*array);
            }
            For { variable, body, .. } => {
                self.own_variables.insert(*variable);
                self.block(body);
            }
            While(_, body) => self.block(body),
            If(branches, otherwise) => {
                branches.iter().for_each(|(_, body)| self.block(body));
                self.block(otherwise);
            }
            Parallel(parallel) => self.block(&parallel.body),
        }
    }
}
