//! Loops that conditions on indices bound. Before, with `A: dense`:
//!
//! ```text
//! for j in 0..n: t += select(j < i, A[i, j] * x[j], 0)
//! ```
//!
//! After:
//!
//! ```text
//! for j in 0..minimum(i, n): t += A[i, j] * x[j]
//! ```
//!
//! Of stored coordinates, which ascend, the first and the last one are searched for. What bounds no loop is tested.

use super::forall::{Bounds, Loop};
use super::{Lowering, Scope};
use crate::concrete::{Access, Assign, IndexVariable, Run, Statement};
use crate::ir::{self, BinaryOperator, ElementType, Expr};
use crate::level;
use crate::notation::{self, UnaryOperator};

/// What a condition leaves of the range of a variable; either end may be open.
#[derive(Default)]
struct Range {
    low: Option<Expr>,
    high: Option<Expr>,
}

/// A sum of multiples of variables and a constant.
#[derive(Default)]
struct Sum {
    constant: i64,
    terms: Vec<(IndexVariable, i64)>,
}

impl Lowering<'_> {
    /// The loop over the part of its range that conditions leave, where there are such; false where there are none.
    pub(super) fn bounded_loop(
        &mut self,
        variable: IndexVariable,
        run: Run,
        body: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) -> bool {
        let visits_all = self.visits_all(self.assembly(body, variable).as_ref());
        let is_asked = self.concrete.asked.unrolled.contains(&variable);
        if run != Run::Serial || !scope.kept.is_empty() || visits_all || is_asked {
            return false;
        }
        let mut range = Range::default();
        let mut used = Vec::new();
        for condition in self.conditions(body) {
            if self.bound(&condition, variable, scope, &mut range) {
                used.push(condition);
            }
        }
        if used.is_empty() {
            return false;
        }
        let body = self.without(body, &used);
        if !self.takes_bounds(variable, &body, scope) {
            return false;
        }
        let Some(loops) = self.over_lattice(variable, run, &body, scope) else { return true };
        let bounds = self.within(&loops, range);
        self.loops(&loops, Some(&bounds), out);
        true
    }

    /// Whether the coordinates of all operands can be searched for.
    fn takes_bounds(&self, variable: IndexVariable, body: &Statement, scope: &Scope) -> bool {
        let is_computed =
            |inner: &IndexVariable| *inner != variable && self.concrete.running(*inner).contains(&variable);
        let is_searched = |(access, depth): &(Access, usize)| {
            let format = self.storage(access.tensor, *depth).format;
            !self.sparse.contains_key(&access.tensor)
                && format.ordered()
                && level::is_walked(format)
                && !level::is_sequential(format)
                && !format.kind.has_vacancies()
        };
        // The coordinates of an index that is computed from it are walked instead.
        let is_walked = matches!(body, Statement::Forall { variable, .. } if is_computed(variable));
        let operands = self.operands(variable, body, scope);
        let is_one = |(access, depth): &(Access, usize)| {
            let (_, positions) = self.positions(access, *depth, scope);
            positions.end == positions.begin.plus(Expr::Index(1))
        };
        !is_walked && operands.iter().all(is_searched) && !(operands.len() == 1 && operands.iter().any(is_one))
    }

    /// The bounds as a loop takes them: positions where it walks those of one operand.
    fn within(&self, loops: &Loop, range: Range) -> Bounds {
        let extent = self.size(self.concrete.variables[loops.variable.0].extent);
        let walked = match &loops.operands[..] {
            [walked] if !loops.everywhere => walked,
            _ => {
                let low = range.low.unwrap_or(Expr::Index(0));
                let below = |high| Expr::binary(BinaryOperator::Minimum, high, extent.clone());
                return Bounds { low, high: range.high.map_or(extent.clone(), below) };
            }
        };
        let (storage, positions) = self.positions(&walked.0, walked.1, loops.scope);
        // No stored coordinate is at the extent or beyond.
        let search = |coordinate: Expr| self.search(&storage, &positions, coordinate);
        Bounds {
            low: range.low.map_or(positions.begin.clone(), search),
            high: range.high.map_or(positions.end.clone(), search),
        }
    }

    /// The conditions that each assignment of a statement has.
    fn conditions(&self, body: &Statement) -> Vec<notation::Expr> {
        let mut common: Option<Vec<notation::Expr>> = None;
        body.for_each_assign(&mut |assign| {
            let mut own = Vec::new();
            if let Some((condition, _)) = self.choice_of(assign) {
                condition.conjuncts(&mut own);
            }
            match &mut common {
                None => common = Some(own.into_iter().cloned().collect()),
                Some(common) => common.retain(|condition| own.contains(&condition)),
            }
        });
        common.unwrap_or_default()
    }

    /// The statement without conditions that hold.
    fn without(&self, statement: &Statement, held: &[notation::Expr]) -> Statement {
        match statement {
            Statement::Empty => Statement::Empty,
            Statement::Forall { variable, run, body } => {
                Statement::Forall { variable: *variable, run: *run, body: Box::new(self.without(body, held)) }
            }
            Statement::Where { workspace, consumer, producer } => Statement::Where {
                workspace: *workspace,
                consumer: Box::new(self.without(consumer, held)),
                producer: Box::new(self.without(producer, held)),
            },
            Statement::Assign(assign) => Statement::Assign(self.assign_without(assign, held)),
            Statement::Sequence(statements) => {
                Statement::Sequence(statements.iter().map(|statement| self.without(statement, held)).collect())
            }
        }
    }

    fn assign_without(&self, assign: &Assign, held: &[notation::Expr]) -> Assign {
        let (Some((condition, value)), notation::Expr::Select(.., nothing)) = (self.choice_of(assign), &assign.value)
        else {
            return assign.clone();
        };
        let mut left = Vec::new();
        condition.conjuncts(&mut left);
        let left = left.into_iter().filter(|condition| !held.contains(condition)).cloned();
        let and = |a, b| notation::Expr::Binary(BinaryOperator::And, Box::new(a), Box::new(b));
        let value = match left.reduce(and) {
            Some(left) => notation::Expr::Select(Box::new(left), Box::new(value.clone()), nothing.clone()),
            None => value.clone(),
        };
        Assign { value, ..assign.clone() }
    }

    /// Narrows a range by a comparison of sums in which the variable occurs once, and all else is known; false where it is none.
    fn bound(&self, condition: &notation::Expr, variable: IndexVariable, scope: &Scope, range: &mut Range) -> bool {
        use BinaryOperator::{Equal, Greater, GreaterEqual, Less, LessEqual};
        let notation::Expr::Binary(operator, left, right) = condition else { return false };
        let mut sum = Sum::default();
        if !collect(left, 1, &mut sum) || !collect(right, -1, &mut sum) {
            return false;
        }
        let Some(place) = sum.terms.iter().position(|(term, _)| *term == variable) else { return false };
        let (_, factor) = sum.terms.remove(place);
        if factor.abs() != 1 {
            return false;
        }
        // `factor * variable + rest operator 0` as a comparison of the variable with what is left.
        let Some((plus, minus)) = self.multiple(&sum, -factor, scope) else { return false };
        let at_least = |offset: u64| {
            let plus = plus.clone().plus(Expr::Index(offset));
            if minus == Expr::Index(0) {
                return plus;
            }
            Expr::binary(BinaryOperator::Maximum, plus, minus.clone()).minus(minus.clone())
        };
        let operator = match (operator, factor) {
            (Less, -1) => Greater,
            (LessEqual, -1) => GreaterEqual,
            (Greater, -1) => Less,
            (GreaterEqual, -1) => LessEqual,
            (operator, _) => *operator,
        };
        let (low, high) = match operator {
            Less => (None, Some(at_least(0))),
            LessEqual => (None, Some(at_least(1))),
            Greater => (Some(at_least(1)), None),
            GreaterEqual => (Some(at_least(0)), None),
            Equal => (Some(at_least(0)), Some(at_least(1))),
            _ => return false,
        };
        let both = |operator, one: &mut Option<Expr>, other: Option<Expr>| {
            *one = match (one.take(), other) {
                (Some(one), Some(other)) => Some(Expr::binary(operator, one, other)),
                (one, other) => one.or(other),
            };
        };
        both(BinaryOperator::Maximum, &mut range.low, low);
        both(BinaryOperator::Minimum, &mut range.high, high);
        true
    }

    /// What is added and what is subtracted in a multiple of a sum; `None` where a variable is not known.
    fn multiple(&self, sum: &Sum, by: i64, scope: &Scope) -> Option<(Expr, Expr)> {
        let (mut plus, mut minus) = (Expr::Index(0), Expr::Index(0));
        let mut add = |factor: i64, value: Expr| {
            let term = value.times(Expr::Index(factor.unsigned_abs()));
            let side = if factor > 0 { &mut plus } else { &mut minus };
            *side = std::mem::replace(side, Expr::Index(0)).plus(term);
        };
        for &(variable, factor) in &sum.terms {
            add(factor.checked_mul(by)?, self.known_coordinate(scope, variable)?);
        }
        add(sum.constant.checked_mul(by)?, Expr::Index(1));
        Some((plus, minus))
    }
}

/// Adds a multiple of an expression to a sum; false where it is no sum of multiples of variables.
fn collect(expr: &notation::Expr, by: i64, sum: &mut Sum) -> bool {
    match expr {
        notation::Expr::Literal(literal) => {
            let added = whole(*literal).and_then(|value| value.checked_mul(by));
            let total = added.and_then(|added| sum.constant.checked_add(added));
            total.is_some_and(|total| {
                sum.constant = total;
                true
            })
        }
        notation::Expr::Index(variable, ElementType::I64) => {
            match sum.terms.iter_mut().find(|(known, _)| known == variable) {
                Some((_, factor)) => *factor += by,
                None => sum.terms.push((*variable, by)),
            }
            sum.terms.retain(|(_, factor)| *factor != 0);
            true
        }
        notation::Expr::Unary(UnaryOperator::Negate, operand) => collect(operand, -by, sum),
        notation::Expr::Binary(BinaryOperator::Add, left, right) => collect(left, by, sum) && collect(right, by, sum),
        notation::Expr::Binary(BinaryOperator::Subtract, left, right) => {
            collect(left, by, sum) && collect(right, -by, sum)
        }
        notation::Expr::Binary(BinaryOperator::Multiply, left, right) => match (&**left, &**right) {
            (notation::Expr::Literal(factor), other) | (other, notation::Expr::Literal(factor)) => {
                let by =
                    whole(*factor).and_then(|factor| factor.checked_mul(by)).filter(|by| by.unsigned_abs() < 1 << 31);
                by.is_some_and(|by| collect(other, by, sum))
            }
            _ => false,
        },
        _ => false,
    }
}

/// The whole number that a literal is, where it is not too large to be multiplied.
fn whole(literal: ir::Literal) -> Option<i64> {
    match literal {
        ir::Literal::Integer(_, value) => i64::try_from(value).ok().filter(|value| value.unsigned_abs() < 1 << 31),
        _ => None,
    }
}
