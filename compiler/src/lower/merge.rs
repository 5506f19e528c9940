//! Loops that walk several operands side by side.
//!
//! Where something happens at the coordinates of operands alone, that is a [`ir::Merge`]. Where it happens at all coordinates, each
//! operand has a cursor: at a coordinate the branch is taken of the first point whose operands are all there, and their cursors move on.
//!
//! ```text
//! for i in 0..n
//!     in_a = pa < pa_end && a_crd[pa] == i
//!     if in_a … else …
//!     if in_a: pa += 1
//! ```

use super::Lowering;
use super::forall::{Bounds, Loop};
use super::mapped::TightRange;
use crate::concrete::{Access, Statement};
use crate::ir::{self, Expr, Type, VariableId, Walk};
use crate::lattice::{Lattice, Operands, Point};
use crate::level::{self, Parents, Positions, Storage};

/// An operand's place in a merge. Where the operand is probed, the position is found anew at each coordinate.
pub(super) struct Cursor {
    storage: Storage,
    access: Access,
    depth: usize,
    position: VariableId,
    end: Expr,
    /// The first position behind the current coordinate's, where there can be several.
    run_end: Option<VariableId>,
    /// Whether there is an entry at the current coordinate; `None` where there is for certain.
    present: Option<Expr>,
}

impl Cursor {
    /// Where the entry at a coordinate is, for operands that are probed.
    fn probe(&self, coordinate: &Expr) -> Option<Expr> {
        let level = level::of(self.storage.format.kind);
        level.probe(&self.storage, self.storage.parent.clone(), coordinate.clone())
    }
}

impl Lowering<'_> {
    /// Which of some operands are probed.
    pub(super) fn is_probed(&self, operands: &[(Access, usize)]) -> impl Iterator<Item = bool> {
        operands.iter().map(|(access, depth)| level::is_probed(self.storage(access.tensor, *depth).format))
    }

    /// Whether a loop goes over all coordinates because operands are probed, and no other alone has an entry wherever
    /// something happens.
    pub(super) fn probes_all(&self, operands: &[(Access, usize)], lattice: &Lattice) -> bool {
        let probed: Vec<bool> = self.is_probed(operands).collect();
        probed.contains(&true) && walked_alone(&probed, operands, lattice, self).is_none()
    }

    /// The positions of the one operand that is walked; at each the others are probed.
    pub(super) fn probing_loop(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        out.push(self.comment(loops));
        let probed: Vec<bool> = self.is_probed(&loops.operands).collect();
        let walked = probed.iter().position(|probed| !probed).expect("one operand is walked");
        let (access, depth) = loops.operands[walked].clone();
        let (storage, positions) = self.positions(&access, depth, loops.scope);
        let name = self.name_of_level(&access, depth);
        let (begin, end) = match bounds {
            None => (positions.begin, positions.end),
            Some(bounds) => {
                let search = |value: &Expr| self.search(&storage, &positions, value.clone());
                (search(&bounds.low), search(&bounds.high))
            }
        };
        let position = self.fresh(name, Type::Index, false);
        let here = Expr::Variable(position);
        let mut body = Vec::new();
        let coordinate = self.bind_coordinate(loops.variable, self.coordinate_at(&storage, here), &mut body);
        let mut cursors = Vec::new();
        for (access, depth) in &loops.operands {
            let walked = Cursor {
                storage: storage.clone(),
                access: access.clone(),
                depth: *depth,
                position,
                end: end.clone(),
                run_end: None,
                present: None,
            };
            cursors.push(self.probing_cursor(access, *depth, loops).unwrap_or(walked));
        }
        let others = Operands(Operands::all(cursors.len()).0 & !(1 << walked));
        self.presence(&mut cursors, others, &coordinate, &mut body);
        self.branches(loops, &cursors, &loops.lattice.points, coordinate, &mut body);
        out.push(ir::Statement::For { variable: position, begin, end, vector: false, body });
    }

    /// A cursor into an operand that is probed.
    fn probing_cursor(&mut self, access: &Access, depth: usize, loops: &Loop) -> Option<Cursor> {
        let storage = self.storage(access.tensor, depth);
        level::is_probed(storage.format).then_some(())?;
        let (_, parents) = self.resolve(access, loops.scope);
        let storage = Storage { parent: parents.begin, ..storage };
        let position = self.fresh(self.name_of_level(access, depth), Type::Index, false);
        let access = access.clone();
        Some(Cursor { storage, access, depth, position, end: Expr::Index(0), run_end: None, present: None })
    }

    /// A cursor into each operand, at the beginning of the range.
    fn cursors(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) -> Vec<Cursor> {
        let mut cursors = Vec::new();
        for (access, depth) in &loops.operands {
            if let Some(cursor) = self.probing_cursor(access, *depth, loops) {
                cursors.push(cursor);
                continue;
            }
            let (name, storage, positions) = self.whole(access, *depth, loops, out);
            let search = |value: &Expr| self.search(&storage, &positions, value.clone());
            let begin = bounds.map_or_else(|| positions.begin.clone(), |bounds| search(&bounds.low));
            let end = positions.end.clone();
            let position = self.fresh(name, Type::Index, true);
            out.push(ir::Statement::Let(position, begin));
            cursors.push(Cursor {
                storage,
                access: access.clone(),
                depth: *depth,
                position,
                end,
                run_end: None,
                present: None,
            });
        }
        cursors
    }

    /// The positions of an operand that a loop may come by, with their end in a variable, and what these are called.
    fn whole(
        &mut self,
        access: &Access,
        depth: usize,
        loops: &Loop,
        out: &mut Vec<ir::Statement>,
    ) -> (String, Storage, Positions) {
        let (storage, positions) = self.positions(access, depth, loops.scope);
        let name = self.name_of_level(access, depth);
        let end = self.bind_end(&name, positions.end, out);
        (name, storage, Positions { end, ..positions })
    }

    /// A cursor into each operand, at the first position whose coordinate is not below `coordinate`, and whether that is one of
    /// `coordinate`.
    pub(super) fn found(&mut self, loops: &Loop, coordinate: &Expr, out: &mut Vec<ir::Statement>) -> Vec<Cursor> {
        let mut cursors = Vec::new();
        for (access, depth) in &loops.operands {
            if let Some(cursor) = self.probing_cursor(access, *depth, loops) {
                cursors.push(cursor);
                continue;
            }
            let (name, storage, positions) = self.whole(access, *depth, loops, out);
            let search = self.search(&storage, &positions, coordinate.clone());
            let position = self.fresh(name.clone(), Type::Index, false);
            out.push(ir::Statement::Let(position, search));
            let here = Expr::Variable(position);
            let end = positions.end;
            let run_end = (!storage.format.unique()).then(|| {
                let rest = Positions { begin: here.clone(), end: end.clone() };
                let search = self.search(&storage, &rest, coordinate.clone().plus(Expr::Index(1)));
                let run_end = self.fresh(format!("{name}_run"), Type::Index, false);
                out.push(ir::Statement::Let(run_end, search));
                run_end
            });
            let present = run_end.map(|end| here.less(Expr::Variable(end)));
            let (access, depth) = (access.clone(), *depth);
            cursors.push(Cursor { storage, access, depth, position, end, run_end, present });
        }
        let is_open = |operand: &usize| cursors[*operand].present.is_none();
        let open = (0..cursors.len()).filter(is_open).fold(0, |open, operand| open | 1 << operand);
        self.presence(&mut cursors, Operands(open), coordinate, out);
        cursors
    }

    /// Every coordinate; operands that are walked have a cursor each.
    pub(super) fn range_loop(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        let extent = self.concrete.variables[loops.variable.0].extent;
        let (begin, end) = match bounds {
            Some(bounds) => (bounds.low.clone(), bounds.high.clone()),
            None => (Expr::Index(0), self.size(extent)),
        };
        if let Some(TightRange { begin, end, condition, inside }) =
            self.tight_range(loops, &end).filter(|_| bounds.is_none())
        {
            let mut scope = loops.scope.clone();
            scope.inside.extend(inside);
            let loops = Loop { scope: &scope, ..loops.clone() };
            let Some(condition) = condition else { return self.counted_loop(&loops, None, (begin, end), out) };
            let mut counted = Vec::new();
            self.counted_loop(&loops, None, (begin, end), &mut counted);
            return out.push(ir::Statement::If(vec![(condition, counted)], Vec::new()));
        }
        self.counted_loop(loops, bounds, (begin, end), out);
    }

    fn counted_loop(
        &mut self,
        loops: &Loop,
        bounds: Option<&Bounds>,
        (begin, end): (Expr, Expr),
        out: &mut Vec<ir::Statement>,
    ) {
        if let Some(count) = self.unrolled(loops, bounds, &begin) {
            return self.written_out(loops, count, end, out);
        }
        self.plain_loop(loops, bounds, (begin, end), out);
    }

    /// How many iterations a loop has that is to be written out.
    fn unrolled(&self, loops: &Loop, bounds: Option<&Bounds>, begin: &Expr) -> Option<u64> {
        let is_asked = self.concrete.asked.unrolled.contains(&loops.variable);
        let is_simple = bounds.is_none() && loops.operands.is_empty() && !loops.vector && *begin == Expr::Index(0);
        match self.size(self.concrete.variables[loops.variable.0].extent) {
            Expr::Index(count) if is_asked && is_simple => Some(count),
            _ => None,
        }
    }

    /// A loop of `count` iterations one after the other; where it may end before, as a loop then.
    fn written_out(&mut self, loops: &Loop, count: u64, end: Expr, out: &mut Vec<ir::Statement>) {
        let Some(statement) = loops.lattice.everywhere() else { return };
        let mut all = Vec::new();
        for coordinate in 0..count {
            self.case(loops, Expr::Index(coordinate), &[], statement, &mut all);
        }
        if end == Expr::Index(count) {
            return out.extend(all);
        }
        let mut rest = Vec::new();
        self.plain_loop(loops, None, (Expr::Index(0), end.clone()), &mut rest);
        out.push(ir::Statement::If(vec![(end.equals(Expr::Index(count)), all)], rest));
    }

    fn plain_loop(
        &mut self,
        loops: &Loop,
        bounds: Option<&Bounds>,
        (begin, end): (Expr, Expr),
        out: &mut Vec<ir::Statement>,
    ) {
        if !loops.vector {
            out.push(self.comment(loops));
        }
        let variable = self.counter(loops.variable, self.concrete.variable(loops.variable));
        let coordinate = Expr::Variable(variable);
        let mut cursors = self.cursors(loops, bounds, out);
        let mut body = Vec::new();
        let all = Operands::all(cursors.len());
        self.presence(&mut cursors, all, &coordinate, &mut body);
        let nothing = Point { operands: Operands(0), statement: Statement::Empty };
        let mut points: Vec<Point> = loops.lattice.points.clone();
        if loops.lattice.everywhere().is_none() {
            points.push(nothing);
        }
        self.branches(loops, &cursors, &points, coordinate, &mut body);
        self.advance(&cursors, all, &mut body);
        out.push(ir::Statement::For { variable, begin, end, vector: loops.vector, body });
    }

    /// Several operands: the coordinates at which a point has entries.
    pub(super) fn merge_loops(&mut self, loops: &Loop, bounds: Option<&Bounds>, out: &mut Vec<ir::Statement>) {
        out.push(self.comment(loops));
        let walks: Vec<Walk> =
            loops.operands.iter().map(|(access, depth)| self.walk(access, *depth, loops, bounds, out)).collect();
        let coordinate = self.fresh(self.name_of_coordinate(loops.variable), Type::Index, false);
        let points = loops.lattice.points.iter().map(|point| {
            let parents_of = |operand: usize| {
                let Walk { place, run, .. } = &walks[operand];
                (operand, Parents { begin: Expr::Variable(*place), end: run.map(Expr::Variable) })
            };
            let operands: Vec<(usize, Parents)> = point.operands.iter().map(parents_of).collect();
            let mut body = Vec::new();
            self.case(loops, Expr::Variable(coordinate), &operands, &point.statement, &mut body);
            ir::Point { operands: point.operands, body }
        });
        let points = points.collect();
        out.push(ir::Statement::Merge(ir::Merge { walks, coordinate, points, directory: None }));
    }

    /// An operand's coordinates within bounds, as a merge walks them.
    fn walk(
        &mut self,
        access: &Access,
        depth: usize,
        loops: &Loop,
        bounds: Option<&Bounds>,
        out: &mut Vec<ir::Statement>,
    ) -> Walk {
        let (name, storage, positions) = self.whole(access, depth, loops, out);
        let (begin, end) = match bounds {
            None => (positions.begin, positions.end),
            Some(bounds) => {
                let search = |value: &Expr| self.search(&storage, &positions, value.clone());
                (search(&bounds.low), search(&bounds.high))
            }
        };
        let end = self.bind_end(&format!("{name}_chunk"), end, out);
        let run = (!storage.format.unique()).then(|| self.fresh(format!("{name}_run"), Type::Index, false));
        let place = self.fresh(name, Type::Index, false);
        Walk { place, run, begin, end, at: self.coordinate_at(&storage, Expr::Variable(place)) }
    }

    /// Finds for each walked operand whether it has an entry at the coordinate, and the ends of runs where it can have
    /// several.
    fn presence(&mut self, cursors: &mut [Cursor], walked: Operands, coordinate: &Expr, out: &mut Vec<ir::Statement>) {
        for operand in walked.iter() {
            let cursor = &mut cursors[operand];
            let here = Expr::Variable(cursor.position);
            if let Some(probed) = cursor.probe(coordinate) {
                out.push(ir::Statement::Let(cursor.position, probed));
                let name = format!("in_{}", self.concrete.tensor(cursor.access.tensor).name);
                let flag = self.fresh(name, Type::Bool, false);
                let level = level::of(cursor.storage.format.kind);
                let present = level.has_entry(&cursor.storage, here).expect("what is probed is there or not");
                out.push(ir::Statement::Let(flag, present));
                cursor.present = Some(Expr::Variable(flag));
                continue;
            }
            if !cursor.storage.format.unique() {
                let name = self.name_of_level(&cursor.access, cursor.depth);
                let run_end = self.run_end(&cursor.storage, &name, here.clone(), &cursor.end, coordinate.clone(), out);
                cursor.run_end = Some(run_end);
                cursor.present = Some(here.less(Expr::Variable(run_end)));
                continue;
            }
            let stored = self.coordinate_at(&cursor.storage, here.clone());
            let condition = here.less(cursor.end.clone()).and(stored.equals(coordinate.clone()));
            let name = format!("in_{}", self.concrete.tensor(cursor.access.tensor).name);
            let flag = self.fresh(name, Type::Bool, false);
            out.push(ir::Statement::Let(flag, condition));
            cursor.present = Some(Expr::Variable(flag));
        }
    }

    /// A branch for each point; the first whose operands are all there is taken.
    pub(super) fn branches(
        &mut self,
        loops: &Loop,
        cursors: &[Cursor],
        points: &[Point],
        coordinate: Expr,
        out: &mut Vec<ir::Statement>,
    ) {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        for point in points {
            let parents_of = |operand: usize| {
                let end = cursors[operand].run_end.map(Expr::Variable);
                (operand, Parents { begin: Expr::Variable(cursors[operand].position), end })
            };
            let operands: Vec<(usize, Parents)> = point.operands.iter().map(parents_of).collect();
            let mut body = Vec::new();
            self.case(loops, coordinate.clone(), &operands, &point.statement, &mut body);
            let conditions = point.operands.iter().filter_map(|operand| cursors[operand].present.clone());
            match conditions.reduce(Expr::and) {
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
    fn advance(&mut self, cursors: &[Cursor], walked: Operands, out: &mut Vec<ir::Statement>) {
        for operand in walked.iter().filter(|&operand| !level::is_probed(cursors[operand].storage.format)) {
            let cursor = &cursors[operand];
            let here = Expr::Variable(cursor.position);
            let next = cursor.run_end.map_or_else(|| here.plus(Expr::Index(1)), Expr::Variable);
            let step = ir::Statement::Assign(cursor.position, next);
            match &cursor.present {
                // Where there is no entry, the run is empty: it ends where the cursor is.
                Some(present) if cursor.run_end.is_none() => {
                    out.push(ir::Statement::If(vec![(present.clone(), vec![step])], Vec::new()));
                }
                _ => out.push(step),
            }
        }
    }
}

/// The one operand that is walked, where it has an entry wherever something happens and all others are probed.
fn walked_alone(
    probed: &[bool],
    operands: &[(Access, usize)],
    lattice: &Lattice,
    lowering: &Lowering<'_>,
) -> Option<usize> {
    let mut walked = (0..operands.len()).filter(|&operand| !probed[operand]);
    let (Some(alone), None) = (walked.next(), walked.next()) else { return None };
    let (access, depth) = &operands[alone];
    let is_unique = lowering.storage(access.tensor, *depth).format.unique();
    let is_there = lattice.points.iter().all(|point| point.operands.contains(alone));
    (is_unique && is_there).then_some(alone)
}
