//! Constant regions: what is done at all coordinates where no operand of a loop has an entry, in closed form, behind the loop over
//! those that are stored ([`Lattice::region`](crate::lattice::Lattice::region) says where there are any). With `A: csr`, before:
//!
//! ```text
//! for j in 0..n
//!     if A(i, j) has an entry: t += A(i, j) * x(j) else t += b(i)
//! ```
//!
//! After:
//!
//! ```text
//! for pA2 in A2_pos[i]..A2_pos[i + 1]: t += A_vals[pA2] * x[A2_crd[pA2]]
//! stored = A2_pos[i + 1] - A2_pos[i]
//! if stored < n
//!     times = n - stored
//!     t += b(i) * times
//! ```
//!
//! How many coordinates are stored is a difference of positions where one operand has each of them once; else the loops count.

use super::forall::Loop;
use super::{Lowering, Scope};
use crate::concrete::{Access, Assign, IndexVariable, Statement};
use crate::ir::{self, BinaryOperator, Expr, Literal, ReduceOperator, Type};
use crate::level;

/// Whether an index is more than a number in what a statement computes: a loop's variable, or a part of where a tensor is read or
/// written.
fn is_place(statement: &Statement, index: IndexVariable) -> bool {
    let mut is_place = false;
    statement.for_each_loop(&mut |variable, _, _| is_place |= variable == index);
    statement.for_each_read(&mut |access| is_place |= access.indices.contains(&index));
    statement.for_each_assign(&mut |assign| is_place |= assign.target.indices.contains(&index));
    is_place
}

impl Lowering<'_> {
    /// A loop that has a constant region: what is done there, and the loop over the other coordinates.
    pub(super) fn constant_region<'s>(&self, loops: &Loop<'s>) -> Option<(Statement, Loop<'s>)> {
        let region = loops.lattice.region(self.concrete, loops.variable)?;
        let lattice = loops.lattice.of_entries();
        let takes = self.takes_regions(loops) && !self.probes_all(&loops.operands, &lattice);
        takes.then(|| (region.clone(), Loop { lattice, everywhere: false, ..loops.clone() }))
    }

    /// The same for a region of which the first coordinate alone counts.
    pub(super) fn growing_region<'s>(&self, loops: &Loop<'s>) -> Option<(Statement, Loop<'s>)> {
        let region = loops.lattice.growing_region(self.concrete, loops.variable)?;
        let lattice = loops.lattice.of_entries();
        let is_ordered = |(access, depth): &(Access, usize)| {
            let format = self.storage(access.tensor, *depth).format;
            format.ordered() && !level::is_sequential(format)
        };
        let takes = loops.operands.iter().all(is_ordered)
            && self.takes_regions(loops)
            && !self.probes_all(&loops.operands, &lattice);
        takes.then(|| (region.clone(), Loop { lattice, everywhere: false, ..loops.clone() }))
    }

    /// A loop over the coordinates that are stored, which finds the first that is not, and what is done there:
    ///
    /// ```text
    /// gap = 0
    /// for pA2 in A2_pos[i]..A2_pos[i + 1]
    ///     if A2_crd[pA2] == gap: gap += 1
    ///     …
    /// if gap < n: t = min(t, gap)
    /// ```
    pub(super) fn around_gap(&mut self, region: &Statement, mut loops: Loop, out: &mut Vec<ir::Statement>) {
        let extent = self.size(self.concrete.variables[loops.variable.0].extent);
        let name = self.concrete.variable(loops.variable);
        let (first, comment) = if loops.operands.is_empty() {
            (Expr::Index(0), format!("the first {name}"))
        } else {
            let gap = self.fresh("gap", Type::Index, true);
            out.push(ir::Statement::Let(gap, Expr::Index(0)));
            loops.gap = Some(gap);
            self.loops(&loops, None, out);
            (Expr::Variable(gap), format!("the first other {name}"))
        };
        out.push(ir::Statement::Comment(comment));
        let mut body = Vec::new();
        let scope = loops.scope.at(loops.variable, first.clone());
        self.statement(region, &scope, &mut body);
        out.push(ir::Statement::If(vec![(first.less(extent), body)], Vec::new()));
    }

    /// Whether a loop may leave out coordinates, and do what is to be done there behind it. How many there are is told by its extent
    /// alone: a loop of a split may end before that.
    fn takes_regions(&self, loops: &Loop) -> bool {
        let is_computed_from = |other: &IndexVariable| {
            self.concrete.variables[other.0].value.is_some()
                && self.concrete.running(*other).contains(&loops.variable)
                && is_place(loops.body, *other)
        };
        !(loops.vector
            || !loops.scope.kept.is_empty()
            || self.assembly(loops.body, loops.variable).is_some()
            || !self.standing_out(loops, loops.scope).is_empty()
            || self.concrete.asked.unrolled.contains(&loops.variable)
            || loops.operands.iter().any(|(access, _)| self.sparse.contains_key(&access.tensor))
            || (0..self.concrete.variables.len()).map(IndexVariable).any(|v| is_computed_from(&v)))
    }

    /// What is done for each entry of the one operand of a loop, at the last of its levels, where that is the same for all of them.
    pub(super) fn counted_entries(&self, loops: &Loop) -> Option<(Statement, Expr)> {
        let [(access, depth)] = &loops.operands[..] else { return None };
        let is_last = depth + 1 == self.concrete.tensor(access.tensor).format.levels.len();
        if !is_last || loops.everywhere || !self.takes_regions(loops) {
            return None;
        }
        let statement = loops.lattice.region_of_entries(self.concrete, loops.variable, access)?;
        Some((statement, self.difference(loops)?))
    }

    /// A loop over entries for each of which the same is done.
    pub(super) fn at_once(&mut self, statement: &Statement, count: Expr, loops: &Loop, out: &mut Vec<ir::Statement>) {
        let mut body = Vec::new();
        let scope = self.repeating(statement, count.clone(), loops, &mut body);
        self.statement(statement, &scope, &mut body);
        out.push(self.comment(loops));
        out.push(ir::Statement::If(vec![(Expr::Index(0).less(count), body)], Vec::new()));
    }

    /// The scope in which a statement is done so many times.
    fn repeating(&mut self, statement: &Statement, count: Expr, loops: &Loop, out: &mut Vec<ir::Statement>) -> Scope {
        if !self.takes_count(statement) {
            return loops.scope.clone();
        }
        let count = match &loops.scope.repeated {
            Some(outer) => outer.clone().times(count),
            None => count,
        };
        let times = self.fresh("times", Type::Index, false);
        out.push(ir::Statement::Let(times, count));
        Scope { repeated: Some(Expr::Variable(times)), ..loops.scope.clone() }
    }

    /// A loop over the coordinates that are stored, and then what is done at all others.
    pub(super) fn around_region(&mut self, region: &Statement, mut loops: Loop, out: &mut Vec<ir::Statement>) {
        let extent = self.size(self.concrete.variables[loops.variable.0].extent);
        let is_walked = loops.lattice.points.iter().any(|point| point.statement != Statement::Empty);
        let stored = match (loops.lattice.points.is_empty(), self.difference(&loops)) {
            (true, _) => Expr::Index(0),
            (false, Some(stored)) => {
                if is_walked {
                    self.loops(&loops, None, out);
                }
                stored
            }
            (false, None) => {
                let visited = self.fresh("visited", Type::Index, true);
                out.push(ir::Statement::Let(visited, Expr::Index(0)));
                loops.visited = Some(visited);
                self.loops(&loops, None, out);
                Expr::Variable(visited)
            }
        };
        let name = self.concrete.variable(loops.variable);
        let mut body = Vec::new();
        let scope = self.repeating(region, extent.clone().minus(stored.clone()), &loops, &mut body);
        let comment = format!("{} {name}, at once", if stored == Expr::Index(0) { "every" } else { "every other" });
        self.statement(region, &scope, &mut body);
        out.push(ir::Statement::Comment(comment));
        out.push(ir::Statement::If(vec![(stored.less(extent), body)], Vec::new()));
    }

    /// How many coordinates a loop walks, where positions tell.
    fn difference(&self, loops: &Loop) -> Option<Expr> {
        let [(access, depth)] = &loops.operands[..] else { return None };
        let (storage, positions) = self.positions(access, *depth, loops.scope);
        let level = level::of(storage.format.kind);
        let is_told = storage.format.unique() && level.occupied(&storage, positions.begin.clone()).is_none();
        is_told.then(|| positions.end.minus(positions.begin))
    }

    /// Whether how often a statement is done changes what it does.
    fn takes_count(&self, statement: &Statement) -> bool {
        let mut made = Vec::new();
        statement.for_each_workspace(&mut |workspace| made.push(workspace));
        let mut takes = false;
        statement.for_each_assign(&mut |assign| {
            takes |= !made.contains(&assign.target.tensor) && self.is_counted(assign).is_some();
        });
        takes
    }

    /// The operator of an assignment that does something else when it is done again.
    fn is_counted(&self, assign: &Assign) -> Option<ReduceOperator> {
        let element = self.concrete.tensor(assign.target.tensor).element;
        assign.operator.filter(|operator| !operator.is_idempotent(element))
    }

    /// The value that has the effect of an assignment's value as often as the statement is repeated.
    pub(super) fn repeated(
        &mut self,
        assign: &Assign,
        value: Expr,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) -> Expr {
        let (Some(count), Some(operator)) = (&scope.repeated, self.is_counted(assign)) else { return value };
        let ty = Type::of(self.concrete.tensor(assign.target.tensor).element);
        let is_zero = matches!(&value, Expr::Literal(literal) if literal.is_zero());
        match operator {
            ReduceOperator::Add => {
                Expr::binary(BinaryOperator::Multiply, value, Expr::Cast(ty, Box::new(count.clone())))
            }
            ReduceOperator::Multiply if !is_zero => self.power(ty, value, count.clone(), out),
            _ => value,
        }
    }

    /// A value to the power of a count, by squaring.
    fn power(&mut self, ty: Type, value: Expr, count: Expr, out: &mut Vec<ir::Statement>) -> Expr {
        let Type::Element(element) = ty else { return value };
        let Some(one) = Literal::new(element, 1.0) else { return value };
        let square = self.fresh("square", ty, true);
        let power = self.fresh("power", ty, true);
        let left = self.fresh("left", Type::Index, true);
        let (is_odd, half) = {
            let by = |operator| Expr::binary(operator, Expr::Variable(left), Expr::Index(2));
            (by(BinaryOperator::Remainder).equals(Expr::Index(1)), by(BinaryOperator::Divide))
        };
        out.push(ir::Statement::Let(square, value));
        out.push(ir::Statement::Let(power, Expr::Literal(one)));
        out.push(ir::Statement::Let(left, count));
        let step = ir::Statement::Update(power, ReduceOperator::Multiply, Expr::Variable(square));
        let body = vec![
            ir::Statement::If(vec![(is_odd, vec![step])], Vec::new()),
            ir::Statement::Update(square, ReduceOperator::Multiply, Expr::Variable(square)),
            ir::Statement::Assign(left, half),
        ];
        out.push(ir::Statement::While(Expr::Index(0).less(Expr::Variable(left)), body));
        Expr::Variable(power)
    }
}
