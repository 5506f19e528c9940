//! Index variables computed by the arithmetic of an access: their values, and the loops of one iteration that look for what is stored there.
//!
//! Before, with `A: csr`:
//!
//! ```text
//! for all i
//!     for all i + 1
//!         y(i) = A(i, i + 1)
//! ```
//!
//! After:
//!
//! ```text
//! for i in 0..n
//!     j = i + 1
//!     p = the first position of A2_crd in A2_pos[i]..A2_pos[i + 1] whose coordinate is not below j
//!     if p < A2_pos[i + 1] && A2_crd[p] == j
//!         y[i] = A_vals[p]
//! ```

use super::forall::{Bounds, Loop};
use super::{Lowering, Scope};
use crate::concrete::{Access, Computed, IndexVariable, Run, Statement};
use crate::ir::{self, BinaryOperator, Expr, IndexExpr, IndexOperator, Type};
use crate::lattice::{Lattice, Operands, Point};
use crate::level::{self, Parents, Positions};

/// A loop whose variable serves to compute another, where the other's coordinates are stored and can be walked instead.
pub(super) struct Walk<'s> {
    /// The computed variable: `factor * v + …`, where `v` is the loop's.
    variable: IndexVariable,
    factor: Expr,
    /// The operand that stores it, and its level.
    operand: (Access, usize),
    /// What is done where it has an entry.
    body: &'s Statement,
}

/// The value of a computed index, where all that it is made of is known. What is subtracted stands last, so that nothing in between
/// is below zero.
pub(super) fn value(
    index: &IndexExpr<IndexVariable>,
    scope: &Scope,
    size: &dyn Fn(IndexVariable) -> Expr,
) -> Option<Expr> {
    let mut terms = Vec::new();
    let constant = collect(index, 1, scope, size, &mut terms)?;
    let magnitude = |factor: i64| Expr::Index(factor.unsigned_abs());
    let sum_of = |positive: bool| {
        let constant = if (constant > 0) == positive { magnitude(constant) } else { Expr::Index(0) };
        let chosen = terms.iter().filter(|(factor, _)| (*factor > 0) == positive);
        let sum = chosen.fold(Expr::Index(0), |sum, (factor, term)| sum.plus(term.clone().times(magnitude(*factor))));
        sum.plus(constant)
    };
    Some(sum_of(true).minus(sum_of(false)))
}

/// Adds `factor * index` to `terms`, and returns what of it is constant.
fn collect(
    index: &IndexExpr<IndexVariable>,
    factor: i64,
    scope: &Scope,
    size: &dyn Fn(IndexVariable) -> Expr,
    terms: &mut Vec<(i64, Expr)>,
) -> Option<i64> {
    match index {
        IndexExpr::Variable(variable) => {
            terms.push((factor, scope.coordinates.get(variable)?.clone()));
            Some(0)
        }
        IndexExpr::Constant(value) => value.checked_mul(factor),
        IndexExpr::Extent(variable) => match size(*variable) {
            Expr::Index(extent) => i64::try_from(extent).ok()?.checked_mul(factor),
            extent => {
                terms.push((factor, extent));
                Some(0)
            }
        },
        IndexExpr::Binary(operator, left, right) => match operator {
            IndexOperator::Add | IndexOperator::Subtract => {
                let sign = if *operator == IndexOperator::Add { factor } else { factor.checked_neg()? };
                let left = collect(left, factor, scope, size, terms)?;
                left.checked_add(collect(right, sign, scope, size, terms)?)
            }
            IndexOperator::Multiply => {
                let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
                let left = collect(left, factor, scope, size, &mut of_left)?;
                let right = collect(right, 1, scope, size, &mut of_right)?;
                // Term by term, so that nothing that is subtracted is multiplied before it is.
                let mut by = |terms_of: &[(i64, Expr)], number: i64| -> Option<()> {
                    for (factor, term) in terms_of.iter().filter(|_| number != 0) {
                        terms.push((factor.checked_mul(number)?, term.clone()));
                    }
                    Some(())
                };
                by(&of_left, right)?;
                by(&of_right, left)?;
                for (one, left) in &of_left {
                    for (other, right) in &of_right {
                        terms.push((one.checked_mul(*other)?, left.clone().times(right.clone())));
                    }
                }
                left.checked_mul(right)
            }
            IndexOperator::Divide | IndexOperator::Remainder => {
                let by = Expr::Index(u64::try_from(right.constant()?).ok()?);
                let operator = match operator {
                    IndexOperator::Divide => BinaryOperator::Divide,
                    _ => BinaryOperator::Remainder,
                };
                terms.push((factor, Expr::binary(operator, value(left, scope, size)?, by)));
                Some(0)
            }
        },
    }
}

impl Lowering<'_> {
    /// Names for the coordinates of fused loops, where they are known now.
    pub(super) fn bind_fused(&mut self, scope: &mut Scope, out: &mut Vec<ir::Statement>) {
        for id in (0..self.concrete.variables.len()).map(IndexVariable) {
            let is_fused = matches!(self.concrete.variables[id.0].value, Some(Computed::Fused { .. }));
            if is_fused
                && !scope.coordinates.contains_key(&id)
                && let Some(value) = self.known_coordinate(scope, id)
            {
                let coordinate = self.bind_coordinate(id, value, out);
                scope.coordinates.insert(id, coordinate);
            }
        }
    }

    /// The body at the one value of a computed variable, with a branch for each set of operands that have an entry there.
    pub(super) fn at_computed(
        &mut self,
        variable: IndexVariable,
        body: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let value = self.coordinate(scope, variable);
        let Some(loops) = self.over_lattice(variable, Run::Serial, body, scope) else {
            return self.close_inside(body, scope, out);
        };
        let visits_all = self.visits_all(self.assembly(body, variable).as_ref());
        let mut points: Vec<Point> = loops.lattice.points.clone();
        if visits_all && loops.lattice.everywhere().is_none() {
            points.push(Point { operands: Operands(0), statement: Statement::Empty });
        }
        let coordinate = self.bind_coordinate(variable, value, out);
        let cursors = self.found(&loops, &coordinate, out);
        let before = out.len();
        self.branches(&loops, &cursors, &points, coordinate, out);
        if let Some(ir::Statement::If(_, otherwise)) = out[before..].last_mut()
            && otherwise.is_empty()
        {
            let mut closed = Vec::new();
            self.close_inside(body, scope, &mut closed);
            *otherwise = closed;
        }
    }

    /// Whether a loop does nothing but at the stored coordinates of a computed index that ascends with its variable.
    pub(super) fn walk_of_computed<'s>(&self, loops: &Loop<'s>) -> Option<Walk<'s>> {
        let Statement::Forall { variable, body, .. } = loops.body else { return None };
        if loops.vector || !loops.operands.is_empty() {
            return None;
        }
        let Some(Computed::Index { index, .. }) = &self.concrete.variables[variable.0].value else { return None };
        let factor = self.factor_of(loops.variable, index)?;
        let inside = loops.scope.at(loops.variable, Expr::Index(0));
        self.known_coordinate(&inside, *variable)?;
        let [operand] = &self.operands(*variable, body, &inside)[..] else { return None };
        // The rows that are walked do not change with the variable.
        let (resolved, _) = self.resolve(&operand.0, loops.scope);
        (resolved == operand.1).then_some(())?;
        let is_ordered = level::is_walked(self.storage(operand.0.tensor, operand.1).format);
        let visits_all =
            [loops.variable, *variable].iter().any(|&v| self.visits_all(self.assembly(loops.body, v).as_ref()));
        let is_everywhere =
            Lattice::new(&self.concrete.tensors, body, std::slice::from_ref(&operand.0)).everywhere().is_some();
        let walk = Walk { variable: *variable, factor, operand: operand.clone(), body };
        (is_ordered && !visits_all && !is_everywhere).then_some(walk)
    }

    /// What a variable is multiplied by in an index that ascends with it.
    fn factor_of(&self, variable: IndexVariable, index: &IndexExpr<IndexVariable>) -> Option<Expr> {
        let (number, extents) = index.factor(&variable, &|one, other| self.concrete.alike(*one, *other))?;
        let number = u64::try_from(number).ok()?;
        let extents = extents.into_iter().map(|counted| self.size(self.concrete.variables[counted.0].extent));
        Some(extents.fold(Expr::Index(number), Expr::times))
    }

    /// Walks the stored coordinates of a computed index, and computes the loop's variable from them:
    ///
    /// ```text
    /// for p in the positions of x_crd whose coordinates lie between those of the first k and the last
    ///     k = (x_crd[p] - 2 * i) / 3, where that has no remainder
    /// ```
    pub(super) fn walk_computed(
        &mut self,
        loops: &Loop,
        walk: &Walk,
        bounds: Option<&Bounds>,
        out: &mut Vec<ir::Statement>,
    ) {
        let extent = self.size(self.concrete.variables[loops.variable.0].extent);
        let (low, high) = match bounds {
            Some(bounds) => (bounds.low.clone(), bounds.high.clone()),
            None => (Expr::Index(0), extent),
        };
        let (access, depth) = &walk.operand;
        let (storage, positions) = self.positions(access, *depth, loops.scope);
        let name = self.name_of_level(access, *depth);
        let full_end = self.bind_end(&name, positions.end, out);
        let coordinate_of = |value: Expr| self.coordinate(&loops.scope.at(loops.variable, value), walk.variable);
        let positions = Positions { end: full_end, ..positions };
        let search = |coordinate: Expr| self.search(&storage, &positions, coordinate);
        let (begin, end) = (search(coordinate_of(low)), search(coordinate_of(high)));
        let rest = coordinate_of(Expr::Index(0));
        let end = self.bind_end(&format!("{name}_window"), end, out);
        let is_unique = storage.format.unique();
        let position = self.fresh(name.clone(), Type::Index, !is_unique);
        let here = Expr::Variable(position);

        let mut body = Vec::new();
        let stored = self.coordinate_at(&storage, here.clone());
        let coordinate = self.bind_coordinate(walk.variable, stored, &mut body);
        let run_end = (!is_unique)
            .then(|| Expr::Variable(self.run_end(&storage, &name, here.clone(), &end, coordinate.clone(), &mut body)));
        let offset = coordinate.clone().minus(rest);
        let by = |operator, offset: Expr| Expr::binary(operator, offset, walk.factor.clone());
        let mut inside = Vec::new();
        let is_one = walk.factor == Expr::Index(1);
        let value = if is_one { offset.clone() } else { by(BinaryOperator::Divide, offset.clone()) };
        let value = self.bind_coordinate(loops.variable, value, &mut inside);
        let scope = loops.scope.at(loops.variable, value);
        let operands = vec![walk.operand.clone()];
        let lattice = Lattice::new(&self.concrete.tensors, walk.body, std::slice::from_ref(access));
        let point = lattice.points.last().cloned();
        let inner = Loop {
            variable: walk.variable,
            vector: false,
            operands,
            lattice,
            everywhere: false,
            visited: None,
            gap: None,
            body: walk.body,
            scope: &scope,
        };
        if let Some(point) = point {
            let parents = Parents { begin: here.clone(), end: run_end.clone() };
            let guard = self.guards(loops, &scope);
            let mut entry = Vec::new();
            let mut assembly = self.assembly(loops.body, loops.variable);
            if let Some(assembly) = &mut assembly {
                self.open_parent(assembly, &mut entry);
            }
            self.case(&inner, coordinate, &[(0, parents)], &point.statement, &mut entry);
            if let Some(assembly) = &assembly {
                self.close_parent(assembly, point.statement == Statement::Empty, &scope, &mut entry);
            }
            match guard {
                None => inside.extend(entry),
                Some(condition) => inside.push(ir::Statement::If(vec![(condition, entry)], Vec::new())),
            }
        }
        match is_one {
            true => body.extend(inside),
            false => {
                let divides = by(BinaryOperator::Remainder, offset).equals(Expr::Index(0));
                body.push(ir::Statement::If(vec![(divides, inside)], Vec::new()));
            }
        }
        match run_end {
            None => out.push(ir::Statement::For { variable: position, begin, end, vector: false, body }),
            Some(next) => {
                out.push(ir::Statement::Let(position, begin));
                body.push(ir::Statement::Assign(position, next));
                out.push(ir::Statement::While(here.less(end), body));
            }
        }
    }
}
