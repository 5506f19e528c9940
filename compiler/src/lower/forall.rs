//! One `for all`: the loops over the points of its merge lattice.
//!
//! | what is walked | loops |
//! |---|---|
//! | nothing | `for i in 0..n` |
//! | one operand | `for p in begin..end`, `i = crd[p]` |
//! | several | `while` all have entries left: the least coordinate, a branch for each point |
//! | some, but something happens everywhere | `for i in 0..n`, a cursor into each operand |

use super::assemble::Assembly;
use super::{Lowering, Scope};
use crate::concrete::{Access, IndexVariable, Run, Statement};
use crate::format::level::{self, Parents, Positions, Storage};
use crate::ir::{self, BinaryOperator, Expr, Type, VariableId};
use crate::lattice::{Lattice, Operands, Point};

/// A loop that is being lowered.
pub(super) struct Loop<'s> {
    pub variable: IndexVariable,
    pub vector: bool,
    /// The operands whose levels are walked, with the level.
    pub operands: Vec<(Access, usize)>,
    pub lattice: Lattice,
    /// Whether something happens at every coordinate.
    pub everywhere: bool,
    /// The body, before anything is known of its operands.
    pub body: &'s Statement,
    pub scope: &'s Scope,
}

/// The part of a loop's range that a chunk runs.
#[derive(Clone)]
pub(super) struct Bounds {
    pub low: Expr,
    pub high: Expr,
}

/// An operand's place in a merge.
struct Cursor {
    storage: Storage,
    access: Access,
    depth: usize,
    position: VariableId,
    end: Expr,
    /// The first position behind the current coordinate's, where there can be several.
    run_end: Option<VariableId>,
}

impl Lowering<'_> {
    /// The operands of `body` whose levels the loop over `variable` walks.
    pub(super) fn operands(&self, variable: IndexVariable, body: &Statement, scope: &Scope) -> Vec<(Access, usize)> {
        let mut operands: Vec<(Access, usize)> = Vec::new();
        body.for_each_read(&mut |access| {
            if self.workspaces_contains(access) || operands.iter().any(|(seen, _)| seen.same_place(access)) {
                return;
            }
            if let Some(depth) = self.walked_level(access, variable, scope) {
                operands.push((access.clone(), depth));
            }
        });
        operands
    }

    fn workspaces_contains(&self, access: &Access) -> bool {
        self.concrete.tensor(access.tensor).kind == crate::concrete::TensorKind::Workspace
    }

    pub(super) fn forall(
        &mut self,
        variable: IndexVariable,
        run: Run,
        body: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let operands = self.operands(variable, body, scope);
        let accesses: Vec<Access> = operands.iter().map(|(access, _)| access.clone()).collect();
        let lattice = Lattice::new(body, &accesses);
        if !operands.is_empty() {
            self.report(variable, &accesses, &lattice);
        }
        let everywhere = lattice.everywhere().is_some() || self.visits_all(self.assembly(body, variable).as_ref());
        if lattice.points.is_empty() && !everywhere {
            return;
        }
        let loops = Loop { variable, vector: run == Run::Vector, operands, lattice, everywhere, body, scope };
        match run {
            Run::Parallel => self.parallel(&loops, out),
            Run::Serial | Run::Vector => self.loops(&loops, None, out),
        }
    }

    /// The loops, over all of the range or a part of it.
    pub(super) fn loops(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        match (loops.everywhere, loops.operands.len()) {
            (_, 0) | (true, _) => self.range_loop(loops, bounds, out),
            (false, 1) => self.position_loop(loops, bounds, out),
            (false, _) => self.merge_loops(loops, bounds, out),
        }
    }

    /// The positions of an operand's level.
    pub(super) fn positions(&self, access: &Access, depth: usize, scope: &Scope) -> (Storage, Positions) {
        let storage = self.storage(access.tensor, depth);
        let (resolved, parents) = self.resolve(access, scope);
        debug_assert_eq!(resolved, depth);
        let positions = level::of(storage.format.kind).positions(&storage, &parents);
        (storage, positions.expect("a walked level has positions"))
    }

    fn name_of_level(&self, access: &Access, depth: usize) -> String {
        format!("p{}{}", self.concrete.tensor(access.tensor).name, depth + 1)
    }

    fn coordinate_at(&self, storage: &Storage, position: Expr) -> Expr {
        level::of(storage.format.kind).coordinate(storage, position).expect("a walked level has coordinates")
    }

    fn comment(&self, loops: &Loop) -> ir::Statement {
        let name = self.concrete.variable(loops.variable);
        let operands: Vec<String> =
            loops.operands.iter().map(|(access, _)| crate::concrete::show_access(self.concrete, access)).collect();
        let text = match (operands.as_slice(), loops.everywhere) {
            ([], _) => format!("every {name}"),
            (operands, true) => format!("every {name}, beside the entries of {}", operands.join(", ")),
            ([one], false) => format!("{name} where {one} has entries"),
            (operands, false) => format!("{name} where entries of {} meet", operands.join(", ")),
        };
        ir::Statement::Comment(text)
    }

    /// One operand: every position is a coordinate.
    fn position_loop(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        let (access, depth) = &loops.operands[0];
        let (storage, positions) = self.positions(access, *depth, loops.scope);
        let (begin, end) = match bounds {
            Some(bounds) => (bounds.low.clone(), bounds.high.clone()),
            None => (positions.begin, positions.end),
        };
        let point = loops.lattice.points.last().expect("a loop with one operand has its point").clone();
        let name = self.name_of_level(access, *depth);
        if end == begin.clone().plus(Expr::Index(1)) {
            return self.single_position(loops, &storage, begin, &point, out);
        }
        out.push(self.comment(loops));
        if storage.format.unique {
            let position = self.fresh(name, Type::Index, false);
            let mut body = Vec::new();
            let parents = Parents { begin: Expr::Variable(position), end: None };
            let coordinate = self.coordinate_at(&storage, Expr::Variable(position));
            self.case(loops, coordinate, &[(0, parents)], &point.statement, &mut body);
            out.push(ir::Statement::For { variable: position, begin, end, vector: false, body });
            return;
        }
        let position = self.fresh(name.clone(), Type::Index, true);
        let end = self.bind_end(&name, end, out);
        out.push(ir::Statement::Let(position, begin));
        let mut body = Vec::new();
        let here = Expr::Variable(position);
        let coordinate = self.bind_coordinate(loops.variable, self.coordinate_at(&storage, here.clone()), &mut body);
        let run_end = self.run_end(&storage, &name, here.clone(), &end, coordinate.clone(), &mut body);
        let parents = Parents { begin: here.clone(), end: Some(Expr::Variable(run_end)) };
        self.case(loops, coordinate, &[(0, parents)], &point.statement, &mut body);
        body.push(ir::Statement::Assign(position, Expr::Variable(run_end)));
        out.push(ir::Statement::While(here.less(end), body));
    }

    /// One operand with one position: no loop.
    fn single_position(
        &mut self,
        loops: &Loop,
        storage: &Storage,
        position: Expr,
        point: &Point,
        out: &mut Vec<ir::Statement>,
    ) {
        let coordinate = self.coordinate_at(storage, position.clone());
        let parents = Parents { begin: position, end: None };
        self.case(loops, coordinate, &[(0, parents)], &point.statement, out);
    }

    fn bind_end(&mut self, name: &str, end: Expr, out: &mut Vec<ir::Statement>) -> Expr {
        if matches!(end, Expr::Variable(_) | Expr::Index(_) | Expr::Dimension(_)) {
            return end;
        }
        let variable = self.fresh(format!("{name}_end"), Type::Index, false);
        out.push(ir::Statement::Let(variable, end));
        Expr::Variable(variable)
    }

    fn bind_coordinate(&mut self, variable: IndexVariable, value: Expr, out: &mut Vec<ir::Statement>) -> Expr {
        if matches!(value, Expr::Variable(_)) {
            return value;
        }
        let coordinate = self.fresh(self.concrete.variable(variable), Type::Index, false);
        out.push(ir::Statement::Let(coordinate, value));
        Expr::Variable(coordinate)
    }

    /// A variable that ends the run of positions, from `position` on, that have `coordinate`.
    fn run_end(
        &mut self,
        storage: &Storage,
        name: &str,
        position: Expr,
        end: &Expr,
        coordinate: Expr,
        out: &mut Vec<ir::Statement>,
    ) -> VariableId {
        let run_end = self.fresh(format!("{name}_run"), Type::Index, true);
        out.push(ir::Statement::Let(run_end, position));
        let here = Expr::Variable(run_end);
        let goes_on = here.clone().less(end.clone()).and(self.coordinate_at(storage, here.clone()).equals(coordinate));
        let step = ir::Statement::Assign(run_end, here.plus(Expr::Index(1)));
        out.push(ir::Statement::While(goes_on, vec![step]));
        run_end
    }

    /// The body at one coordinate, where the operands in `present` have the given positions.
    fn case(
        &mut self,
        loops: &Loop,
        coordinate: Expr,
        present: &[(usize, Parents)],
        statement: &Statement,
        out: &mut Vec<ir::Statement>,
    ) {
        let coordinate = self.bind_coordinate(loops.variable, coordinate, out);
        let mut scope = loops.scope.at(loops.variable, coordinate);
        for (operand, parents) in present {
            let (access, depth) = &loops.operands[*operand];
            scope.walk(access, *depth, parents.clone());
        }
        if let Some(flag) = scope.touched.filter(|_| !has_inner_loop(statement)) {
            out.push(ir::Statement::Assign(flag, Expr::Bool(true)));
            scope.touched = None;
        }
        let mut assembly: Option<Assembly> = self.assembly(loops.body, loops.variable);
        if let Some(assembly) = &mut assembly {
            self.open_parent(assembly, out);
        }
        self.statement(statement, &scope, out);
        if let Some(assembly) = &assembly {
            self.close_parent(assembly, *statement == Statement::Empty, &scope, out);
        }
    }

    fn cursors(
        &mut self,
        loops: &Loop,
        bounds: Option<&Bounds>,
        ends: bool,
        out: &mut Vec<ir::Statement>,
    ) -> Vec<Cursor> {
        let mut cursors = Vec::new();
        for (access, depth) in &loops.operands {
            let (storage, positions) = self.positions(access, *depth, loops.scope);
            let name = self.name_of_level(access, *depth);
            let full_end = self.bind_end(&name, positions.end, out);
            let search = |value: &Expr| Expr::Search {
                array: storage.coordinates.expect("a walked level has coordinates"),
                begin: Box::new(positions.begin.clone()),
                end: Box::new(full_end.clone()),
                value: Box::new(value.clone()),
            };
            let (begin, end) = match bounds {
                None => (positions.begin.clone(), full_end.clone()),
                Some(bounds) if ends => (search(&bounds.low), search(&bounds.high)),
                Some(bounds) => (search(&bounds.low), full_end.clone()),
            };
            let end = self.bind_end(&format!("{name}_chunk"), end, out);
            let position = self.fresh(name, Type::Index, true);
            out.push(ir::Statement::Let(position, begin));
            cursors.push(Cursor { storage, access: access.clone(), depth: *depth, position, end, run_end: None });
        }
        cursors
    }

    /// Every coordinate; operands that are walked have a cursor each.
    fn range_loop(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        let extent = self.concrete.variables[loops.variable.0].extent;
        let (begin, end) = match bounds {
            Some(bounds) => (bounds.low.clone(), bounds.high.clone()),
            None => (Expr::Index(0), self.size(extent)),
        };
        if !loops.vector {
            out.push(self.comment(loops));
        }
        let variable = self.fresh(self.concrete.variable(loops.variable), Type::Index, false);
        let coordinate = Expr::Variable(variable);
        let mut cursors = self.cursors(loops, bounds, false, out);
        let mut body = Vec::new();
        let all = Operands::all(cursors.len());
        let present = self.presence(&mut cursors, all, &coordinate, None, &mut body);
        let nothing = Point { operands: Operands(0), statement: Statement::Empty };
        let mut points: Vec<Point> = loops.lattice.points.clone();
        if loops.lattice.everywhere().is_none() {
            points.push(nothing);
        }
        self.branches(loops, &cursors, &points, Operands(0), &present, coordinate, &mut body);
        self.advance(&cursors, all, &present, &mut body);
        out.push(ir::Statement::For { variable, begin, end, vector: loops.vector, body });
    }

    /// Several operands: the coordinates at which a point has entries.
    fn merge_loops(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        out.push(self.comment(loops));
        let mut cursors = self.cursors(loops, bounds, true, out);
        for walked in loops.lattice.loops() {
            let last = walked.iter().next().filter(|_| walked.count() == 1);
            if let Some(operand) = last.filter(|&operand| cursors[operand].storage.format.unique) {
                self.tail_loop(loops, &cursors[operand], operand, out);
                continue;
            }
            let has_more =
                |operand: usize| Expr::Variable(cursors[operand].position).less(cursors[operand].end.clone());
            let mut operands = walked.iter();
            let first = has_more(operands.next().expect("a loop walks something"));
            let condition = operands.fold(first, |all, operand| all.and(has_more(operand)));
            let mut body = Vec::new();
            let coordinates = self.coordinates(&cursors, walked, &mut body);
            let least = self.least(loops.variable, &coordinates, &mut body);
            let present = self.presence(&mut cursors, walked, &least, Some(&coordinates), &mut body);
            let points: Vec<Point> = loops.lattice.within(walked).cloned().collect();
            let certain = if walked.count() == 1 { walked } else { Operands(0) };
            self.branches(loops, &cursors, &points, certain, &present, least, &mut body);
            self.advance(&cursors, walked, &present, &mut body);
            out.push(ir::Statement::While(condition, body));
        }
    }

    /// What is left of one operand when the others are exhausted.
    fn tail_loop(&mut self, loops: &Loop, cursor: &Cursor, operand: usize, out: &mut Vec<ir::Statement>) {
        let name = self.name_of_level(&cursor.access, cursor.depth);
        let position = self.fresh(name, Type::Index, false);
        let statement =
            loops.lattice.within(Operands(1 << operand)).next().expect("a loop has a point").statement.clone();
        let mut body = Vec::new();
        let parents = Parents { begin: Expr::Variable(position), end: None };
        let coordinate = self.coordinate_at(&cursor.storage, Expr::Variable(position));
        self.case(loops, coordinate, &[(operand, parents)], &statement, &mut body);
        let begin = Expr::Variable(cursor.position);
        out.push(ir::Statement::For { variable: position, begin, end: cursor.end.clone(), vector: false, body });
    }

    /// The current coordinate of each walked operand, indexed by operand.
    fn coordinates(&mut self, cursors: &[Cursor], walked: Operands, out: &mut Vec<ir::Statement>) -> Vec<Option<Expr>> {
        let mut coordinates = vec![None; cursors.len()];
        for operand in walked.iter() {
            let cursor = &cursors[operand];
            let name = format!("{}{}_coordinate", self.concrete.tensor(cursor.access.tensor).name, cursor.depth + 1);
            let value = self.coordinate_at(&cursor.storage, Expr::Variable(cursor.position));
            let variable = self.fresh(name, Type::Index, false);
            out.push(ir::Statement::Let(variable, value));
            coordinates[operand] = Some(Expr::Variable(variable));
        }
        coordinates
    }

    fn least(&mut self, variable: IndexVariable, coordinates: &[Option<Expr>], out: &mut Vec<ir::Statement>) -> Expr {
        let mut known = coordinates.iter().flatten().cloned();
        let first = known.next().expect("a loop walks something");
        let least = known.fold(first, |least, other| Expr::binary(BinaryOperator::Minimum, least, other));
        self.bind_coordinate(variable, least, out)
    }

    /// For each walked operand whether it has an entry at the coordinate; ends of runs where entries can be several.
    fn presence(
        &mut self,
        cursors: &mut [Cursor],
        walked: Operands,
        coordinate: &Expr,
        known: Option<&[Option<Expr>]>,
        out: &mut Vec<ir::Statement>,
    ) -> Vec<Option<Expr>> {
        let mut present = vec![None; cursors.len()];
        for operand in walked.iter() {
            let here = Expr::Variable(cursors[operand].position);
            let storage = cursors[operand].storage;
            let end = cursors[operand].end.clone();
            if !storage.format.unique {
                let name = self.name_of_level(&cursors[operand].access.clone(), cursors[operand].depth);
                let run_end = self.run_end(&storage, &name, here.clone(), &end, coordinate.clone(), out);
                cursors[operand].run_end = Some(run_end);
                present[operand] = Some(here.less(Expr::Variable(run_end)));
                continue;
            }
            let condition = match known.and_then(|known| known[operand].clone()) {
                Some(own) if own == *coordinate => Expr::Bool(true),
                Some(own) => own.equals(coordinate.clone()),
                None => here.clone().less(end).and(self.coordinate_at(&storage, here).equals(coordinate.clone())),
            };
            let name = format!("in_{}", self.concrete.tensor(cursors[operand].access.tensor).name);
            let flag = self.fresh(name, Type::Bool, false);
            out.push(ir::Statement::Let(flag, condition));
            present[operand] = Some(Expr::Variable(flag));
        }
        present
    }

    /// A branch for each point; the first whose operands are all there is taken.
    #[allow(clippy::too_many_arguments)]
    fn branches(
        &mut self,
        loops: &Loop,
        cursors: &[Cursor],
        points: &[Point],
        certain: Operands,
        present: &[Option<Expr>],
        coordinate: Expr,
        out: &mut Vec<ir::Statement>,
    ) {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        for point in points {
            let mut body = Vec::new();
            let operands: Vec<(usize, Parents)> = point
                .operands
                .iter()
                .map(|operand| {
                    let cursor = &cursors[operand];
                    let end = cursor.run_end.map(Expr::Variable);
                    (operand, Parents { begin: Expr::Variable(cursor.position), end })
                })
                .collect();
            self.case(loops, coordinate.clone(), &operands, &point.statement, &mut body);
            let conditions = point.operands.iter().filter(|operand| !certain.contains(*operand));
            let condition = conditions
                .map(|operand| present[operand].clone().expect("a point's operands are walked"))
                .reduce(Expr::and);
            match condition {
                Some(condition) => branches.push((condition, body)),
                None => {
                    otherwise = body;
                    break;
                }
            }
        }
        match branches.is_empty() {
            true => out.extend(otherwise),
            false => out.push(ir::Statement::If(branches, otherwise)),
        }
    }

    /// Moves the cursors of the operands that had an entry.
    fn advance(
        &mut self,
        cursors: &[Cursor],
        walked: Operands,
        present: &[Option<Expr>],
        out: &mut Vec<ir::Statement>,
    ) {
        for operand in walked.iter() {
            let cursor = &cursors[operand];
            let step = |next: Expr| ir::Statement::Assign(cursor.position, next);
            match cursor.run_end {
                Some(run_end) => out.push(step(Expr::Variable(run_end))),
                None => {
                    let next = Expr::Variable(cursor.position).plus(Expr::Index(1));
                    let is_present = present[operand].clone().expect("a walked operand is present or not");
                    out.push(ir::Statement::If(vec![(is_present, vec![step(next)])], Vec::new()));
                }
            }
        }
    }
}

fn has_inner_loop(statement: &Statement) -> bool {
    match statement {
        Statement::Empty | Statement::Assign(_) => false,
        Statement::Forall { run, .. } => *run != Run::Vector,
        Statement::Where { producer, consumer, .. } => has_inner_loop(producer) || has_inner_loop(consumer),
        Statement::Sequence(statements) => statements.iter().any(has_inner_loop),
    }
}
