//! One `for all`: the loops over the points of its merge lattice.
//!
//! | what is walked | loops |
//! |---|---|
//! | nothing | `for i in 0..n` |
//! | one operand | `for p in begin..end`, `i = crd[p]` |
//! | several | `while` all have entries left: the least coordinate, a branch for each point |
//! | some, but something happens everywhere | `for i in 0..n`, a cursor into each operand |
//! | one, and others are probed | `for p in begin..end`, `i = crd[p]`, a branch for each point |
//! | none that happens wherever something does, and others are probed | `for i in 0..n` |

use super::assemble::Assembly;
use super::{Lowering, Scope};
use crate::concrete::{Access, Direction, IndexVariable, Run, Statement};
use crate::ir::{self, BinaryOperator, Expr, Type, VariableId};
use crate::lattice::{Lattice, Point};
use crate::level::{self, Parents, Positions, Storage};

/// A loop that is being lowered.
#[derive(Clone)]
pub(super) struct Loop<'s> {
    pub variable: IndexVariable,
    pub vector: bool,
    /// The operands whose levels are walked, with the level.
    pub operands: Vec<(Access, usize)>,
    pub lattice: Lattice,
    /// Whether something happens at every coordinate.
    pub everywhere: bool,
    /// A variable that counts the coordinates at which an operand has an entry.
    pub visited: Option<VariableId>,
    /// A variable that holds the first coordinate at which no operand has an entry.
    pub gap: Option<VariableId>,
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
        if self.concrete.variables[variable.0].value.is_some() {
            return self.at_computed(variable, body, scope, out);
        }
        if let Some(share) = &self.concrete.variables[variable.0].share {
            return self.share_loop(share, run, body, scope, out);
        }
        if run == Run::Vector && scope.touched.is_some() && (self.has_choice(body) || self.reads_padding(body)) {
            // Whether some lane has a term is told by none of them.
            return self.forall(variable, Run::Serial, body, scope, out);
        }
        if let (Run::Vector, Some(flag)) = (run, scope.touched) {
            // Lanes assign nothing from outside: a sum over them has a term.
            out.push(ir::Statement::Assign(flag, Expr::Bool(true)));
            return self.forall(variable, run, body, &Scope { touched: None, ..scope.clone() }, out);
        }
        if self.bounded_loop(variable, run, body, scope, out) {
            return;
        }
        let Some(loops) = self.over_lattice(variable, run, body, scope) else { return };
        if run == Run::Serial
            && let Some((region, entries)) = self.constant_region(&loops)
        {
            return self.around_region(&region, entries, out);
        }
        if run == Run::Serial
            && let Some((region, entries)) = self.growing_region(&loops)
        {
            return self.around_gap(&region, entries, out);
        }
        if run == Run::Serial
            && let Some((statement, count)) = self.counted_entries(&loops)
        {
            return self.at_once(&statement, count, &loops, out);
        }
        match run {
            Run::Parallel => self.parallel(&loops, None, out),
            Run::ParallelOr(shares) => self.parallel(&loops, Some(shares), out),
            Run::InOrder(Direction::Down) => self.falling_loop(&loops, out),
            Run::Serial | Run::Vector | Run::InOrder(Direction::Up) => self.loops(&loops, None, out),
        }
    }

    /// The loop over the merge lattice of a body, unless there is nothing to do.
    pub(super) fn over_lattice<'s>(
        &mut self,
        variable: IndexVariable,
        run: Run,
        body: &'s Statement,
        scope: &'s Scope,
    ) -> Option<Loop<'s>> {
        let operands = self.operands(variable, body, scope);
        let accesses: Vec<Access> = operands.iter().map(|(access, _)| access.clone()).collect();
        let lattice = Lattice::new(&self.concrete.tensors, body, &accesses);
        if !operands.is_empty() {
            self.report(variable, &accesses, &lattice);
        }
        let visits_all = self.visits_all(self.assembly(body, variable).as_ref());
        let everywhere = lattice.everywhere().is_some() || visits_all;
        if lattice.points.is_empty() && !everywhere {
            return None;
        }
        let everywhere = everywhere || self.probes_all(&operands, &lattice);
        Some(Loop {
            variable,
            vector: run == Run::Vector,
            operands,
            lattice,
            everywhere,
            visited: None,
            gap: None,
            body,
            scope,
        })
    }

    /// The loops, over all of the range or a part of it.
    pub(super) fn loops(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        let kept = self.kept_coordinates(loops);
        let bounds = bounds.or(kept.as_ref());
        if let Some(walk) = self.walk_of_computed(loops) {
            return self.walk_computed(loops, &walk, bounds, out);
        }
        match (loops.everywhere, loops.operands.len()) {
            (_, 0) | (true, _) => self.range_loop(loops, bounds, out),
            (false, 1) => self.position_loop(loops, bounds, out),
            (false, _) if self.is_probed(&loops.operands).any(|probed| probed) => self.probing_loop(loops, bounds, out),
            (false, _) => self.merge_loops(loops, bounds, out),
        }
    }

    /// All coordinates, from the last one back; the scheduler sees to it that no operand is walked.
    fn falling_loop(&mut self, loops: &Loop, out: &mut Vec<ir::Statement>) {
        debug_assert!(loops.operands.is_empty(), "coordinates that are stored come in their order");
        let Some(statement) = loops.lattice.everywhere() else { return };
        out.push(self.comment(loops));
        let counter = self.fresh("step", Type::Index, false);
        let extent = self.size(self.concrete.variables[loops.variable.0].extent);
        let last = Expr::binary(BinaryOperator::Subtract, extent.clone(), Expr::Index(1));
        let coordinate = Expr::binary(BinaryOperator::Subtract, last, Expr::Variable(counter));
        let mut body = Vec::new();
        self.case(loops, coordinate, &[], statement, &mut body);
        out.push(ir::Statement::For { variable: counter, begin: Expr::Index(0), end: extent, vector: false, body });
    }

    /// The positions of an operand's level.
    pub(super) fn positions(&self, access: &Access, depth: usize, scope: &Scope) -> (Storage, Positions) {
        let (resolved, parents) = self.resolve(access, scope);
        debug_assert_eq!(resolved, depth);
        let above = depth.checked_sub(1).map(|above| self.level_variable(access, above));
        let above = above.and_then(|above| self.known_coordinate(scope, above));
        let storage = Storage { parent: parents.begin.clone(), above, ..self.storage(access.tensor, depth) };
        let positions = match self.sparse.get(&access.tensor) {
            Some(sparse) if depth == 0 => Some(sparse.positions()),
            _ => level::of(storage.format.kind).positions(&storage, &parents),
        };
        let positions = positions.expect("a walked level has positions");
        let kept = scope.kept.iter().filter_map(|kept| kept.at(access, depth));
        let positions = kept.fold(positions, |positions, kept| kept.within(positions));
        (storage, positions)
    }

    pub(super) fn name_of_level(&self, access: &Access, depth: usize) -> String {
        format!("p{}{}", self.concrete.tensor(access.tensor).name, depth + 1)
    }

    /// The first of the positions whose coordinate is not below `value`.
    pub(super) fn search(&self, storage: &Storage, positions: &Positions, value: Expr) -> Expr {
        level::of(storage.format.kind).search(storage, positions, value).expect("a walked level is searched")
    }

    pub(super) fn coordinate_at(&self, storage: &Storage, position: Expr) -> Expr {
        level::of(storage.format.kind).coordinate(storage, position).expect("a walked level has coordinates")
    }

    /// Which values of its variable a loop visits, for the reader of the generated code.
    pub(super) fn comment(&self, loops: &Loop) -> ir::Statement {
        let name = self.concrete.variable(loops.variable);
        let operands: Vec<String> =
            loops.operands.iter().map(|(access, depth)| self.show_to_level(access, *depth)).collect();
        ir::Statement::Comment(match (operands.as_slice(), loops.everywhere) {
            ([], _) => format!("every {name}"),
            (operands, true) => format!("every {name}, beside the entries of {}", operands.join(" and ")),
            ([one], false) => format!("{name} where {one} has entries"),
            (operands, false) => {
                let points = loops.lattice.minimal_points();
                let all_of = |point: &Point| -> Vec<&str> {
                    point.operands.iter().map(|operand| operands[operand].as_str()).collect()
                };
                let mut parts: Vec<String> = points.iter().map(|point| all_of(point).join(" and ")).collect();
                parts.sort();
                let is_mixed = parts.len() > 1 && points.iter().any(|point| point.operands.count() > 1);
                let all = parts.join(if is_mixed { ", or " } else { " or " });
                let have = if points.iter().all(|point| point.operands.count() == 1) { "has" } else { "have" };
                format!("{name} where {all} {have} entries")
            }
        })
    }

    /// An access as far as its levels down to `depth` go: `X(i, :, :)`.
    fn show_to_level(&self, access: &Access, depth: usize) -> String {
        let known: Vec<IndexVariable> = (0..=depth).map(|depth| self.level_variable(access, depth)).collect();
        let show =
            |variable: &IndexVariable| if known.contains(variable) { self.concrete.variable(*variable) } else { ":" };
        let indices: Vec<&str> = access.indices.iter().map(show).collect();
        format!("{}({})", self.concrete.tensor(access.tensor).name, indices.join(", "))
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
            debug_assert!(!storage.format.kind.has_vacancies());
            return self.single_position(loops, &storage, begin, &point, out);
        }
        out.push(self.comment(loops));
        if level::is_sequential(storage.format) {
            return self.sequential_loop(loops, bounds, &point, out);
        }
        if let Some(bitmap) = self.sparse.get(&access.tensor).and_then(|sparse| sparse.drained()) {
            let variable = self.fresh(self.concrete.variable(loops.variable), Type::Index, false);
            let key = Expr::Variable(variable);
            let mut body = Vec::new();
            let parents = Parents { begin: key.clone(), end: None };
            self.case(loops, key.clone(), &[(0, parents)], &point.statement, &mut body);
            self.empty_entry(access.tensor, key, &mut body);
            out.push(ir::Statement::Marked { variable, bitmap, body });
            return;
        }
        if storage.format.unique() {
            let position = self.counter(loops.variable, name);
            let mut body = Vec::new();
            let parents = Parents { begin: Expr::Variable(position), end: None };
            let coordinate = self.coordinate_at(&storage, Expr::Variable(position));
            self.case(loops, coordinate, &[(0, parents)], &point.statement, &mut body);
            if let Some(occupied) = level::of(storage.format.kind).occupied(&storage, Expr::Variable(position)) {
                body = vec![ir::Statement::If(vec![(occupied, body)], Vec::new())];
            }
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

    /// One operand whose coordinates are told one after the other, from the parent's first on; what is outside of bounds is passed
    /// by.
    fn sequential_loop(&mut self, loops: &Loop, bounds: Option<&Bounds>, point: &Point, out: &mut Vec<ir::Statement>) {
        let (access, depth) = &loops.operands[0];
        let (storage, Positions { begin, end }) = self.positions(access, *depth, loops.scope);
        let level = level::of(storage.format.kind);
        let position = self.fresh(self.name_of_level(access, *depth), Type::Index, false);
        let reached = self.fresh("reached", Type::Index, true);
        let here = Expr::Variable(position);
        out.push(ir::Statement::Let(reached, Expr::Index(0)));
        let next = level.reached(&storage, here.clone(), Expr::Variable(reached)).expect("the level is sequential");
        let mut body = Vec::new();
        let coordinate = self.fresh(self.concrete.variable(loops.variable), Type::Index, false);
        body.push(ir::Statement::Let(coordinate, Expr::Variable(reached)));
        let coordinate = Expr::Variable(coordinate);
        let parents = Parents { begin: here.clone(), end: None };
        self.case(loops, coordinate, &[(0, parents)], &point.statement, &mut body);
        let inside = bounds.map(|bounds| {
            let is_above = bounds.low.clone().less(here.clone().plus(Expr::Index(1)));
            is_above.and(here.clone().less(bounds.high.clone()))
        });
        for condition in inside.into_iter().chain(level.occupied(&storage, here)) {
            body = vec![ir::Statement::If(vec![(condition, body)], Vec::new())];
        }
        body.insert(0, ir::Statement::Assign(reached, next));
        out.push(ir::Statement::For { variable: position, begin, end, vector: false, body });
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

    pub(super) fn bind_end(&mut self, name: &str, end: Expr, out: &mut Vec<ir::Statement>) -> Expr {
        if matches!(end, Expr::Variable(_) | Expr::Index(_) | Expr::Dimension(_)) {
            return end;
        }
        let variable = self.fresh(format!("{name}_end"), Type::Index, false);
        out.push(ir::Statement::Let(variable, end));
        Expr::Variable(variable)
    }

    /// The name of a coordinate of a variable; that of a computed index is its text.
    pub(super) fn name_of_coordinate(&self, variable: IndexVariable) -> String {
        let name = self.concrete.variable(variable);
        let is_word =
            name.chars().all(|c| c.is_alphanumeric() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
        if is_word { name.to_owned() } else { "index".to_owned() }
    }

    pub(super) fn bind_coordinate(
        &mut self,
        variable: IndexVariable,
        value: Expr,
        out: &mut Vec<ir::Statement>,
    ) -> Expr {
        if matches!(value, Expr::Variable(_) | Expr::Index(_)) {
            return value;
        }
        let coordinate = self.fresh(self.name_of_coordinate(variable), Type::Index, false);
        out.push(ir::Statement::Let(coordinate, value));
        Expr::Variable(coordinate)
    }

    /// A variable that ends the run of positions, from `position` on, that have `coordinate`.
    pub(super) fn run_end(
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

    /// The position that is walked as a number, which is the position itself where children lie side by side.
    pub(super) fn position(&self, access: &Access, depth: usize, scope: &Scope, number: Expr) -> Expr {
        let storage = self.storage(access.tensor, depth);
        if level::is_contiguous(storage.format) {
            return number;
        }
        let (_, parents) = self.resolve(access, scope);
        let storage = Storage { parent: parents.begin, ..storage };
        level::of(storage.format.kind).position(&storage, number).expect("children are side by side or numbered")
    }

    /// Declares the positions of children that are numbered for each parent, and what is asked for there.
    fn bind_positions(
        &mut self,
        loops: &Loop,
        mut coordinate: Expr,
        present: &[(usize, Parents)],
        out: &mut Vec<ir::Statement>,
    ) -> (Expr, Vec<(usize, Parents)>) {
        let mut bound = Vec::with_capacity(present.len());
        for (operand, parents) in present {
            let (access, depth) = &loops.operands[*operand];
            let position = self.position(access, *depth, loops.scope, parents.begin.clone());
            if position == parents.begin {
                bound.push((*operand, parents.clone()));
                continue;
            }
            let variable = self.fresh(self.name_of_level(access, *depth), Type::Index, false);
            coordinate = replaced(coordinate, &position, variable);
            out.push(ir::Statement::Let(variable, position));
            bound.push((*operand, Parents { begin: Expr::Variable(variable), end: None }));
        }
        (coordinate, bound)
    }

    /// The body at one coordinate, where the operands in `present` have the given positions.
    pub(super) fn case(
        &mut self,
        loops: &Loop,
        coordinate: Expr,
        present: &[(usize, Parents)],
        statement: &Statement,
        out: &mut Vec<ir::Statement>,
    ) {
        if let Some(visited) = loops.visited {
            out.push(ir::Statement::Assign(visited, Expr::Variable(visited).plus(Expr::Index(1))));
        }
        let (coordinate, present) = self.bind_positions(loops, coordinate, present, out);
        let coordinate = self.bind_coordinate(loops.variable, coordinate, out);
        if let Some(gap) = loops.gap {
            let next = ir::Statement::Assign(gap, Expr::Variable(gap).plus(Expr::Index(1)));
            out.push(ir::Statement::If(vec![(Expr::Variable(gap).equals(coordinate.clone()), vec![next])], Vec::new()));
        }
        let mut scope = loops.scope.at(loops.variable, coordinate);
        self.bind_fused(&mut scope, out);
        for (operand, parents) in present {
            let (access, depth) = &loops.operands[operand];
            scope.walk(access, *depth, parents);
        }
        if let Some(condition) = self.guards(loops, &scope) {
            let mut inside = Vec::new();
            self.bind_modes(loops.variable, &mut scope, &mut inside);
            self.statement(statement, &scope, &mut inside);
            return out.push(ir::Statement::If(vec![(condition, inside)], Vec::new()));
        }
        self.bind_modes(loops.variable, &mut scope, out);
        let is_empty = *statement == Statement::Empty;
        let stores = |assembly: &Assembly| !is_empty || self.visits_all(Some(assembly));
        let mut assembly = self.assembly(loops.body, loops.variable).filter(stores);
        if let Some(assembly) = &mut assembly {
            self.open_parent(assembly, out);
        }
        self.by_wholeness(loops.variable, statement, &scope, out);
        if let Some(assembly) = &assembly {
            self.close_parent(assembly, is_empty, &scope, out);
        }
    }
}

/// An expression that asks for a variable instead of what it holds.
fn replaced(expr: Expr, value: &Expr, variable: VariableId) -> Expr {
    if expr == *value {
        return Expr::Variable(variable);
    }
    expr.map_children(&mut |child| replaced(child, value, variable))
}
