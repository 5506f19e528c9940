//! Reductions over runs of stored entries, as sums of products, and over dense rows, become one expression, which a target computes in the
//! lanes that it has.
//!
//! ```text
//! for p in A_pos[i]..A_pos[i + 1]: t += A_vals[p] * x[A_crd[p]]
//!
//! let first = A_pos[i]
//! let entries = A_pos[i + 1] - first
//! let A_run = A_vals[first..first + entries]
//! let A_crd_run = A_crd[first..first + entries]
//! t += dot(A_run, x at A_crd_run)
//! ```
//!
//! ```text
//! for r in 0..R: t += B[i * R + r] * C[j * R + r]
//!
//! let B_row = B[i * R..i * R + R]
//! let C_row = C[j * R..j * R + R]
//! t += dot(B_row, C_row)
//! ```
//!
//! Rows that are filled up to one width are taken whole: the coordinates tell in the lanes where there is nothing, which takes less
//! than to look for the end of each row.
//!
//! ```text
//! for p in i * w..search(A_crd, i * w, i * w + w, ∞): t += A_vals[p] * x[A_crd[p]]
//!
//! let first = i * w
//! let A_run = A_vals[first..first + w]
//! let A_crd_run = A_crd[first..first + w]
//! t += dot(A_run, x at filled A_crd_run)
//! ```
//!
//! So it is for any operator that has an identity, and for a term that is a tree of loads and operators: a sum of lengths in a graph is
//! `fold(min, (A_run + x at A_crd_run))`. That combines in another order, as `lanes` does, and for the same reason. Here nothing is
//! computed but what lies side by side, what inputs have at coordinates that do, and what is the same at every place: a lane without
//! an entry can hold what changes nothing.
//!
//! Dense rows of integers stay loops: a target's compiler takes these in vectors itself, as their order makes no difference.

use super::lanes::size;
use super::replacing;
use super::runs::{is_run_of_parent, walked};
use super::views::{base, declare, is_touched, where_any};
use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Factor, Find, Kernel, Literal, ReduceOperator, Simd,
    Statement, TensorId, Term, Type, UnaryOperator, VariableId,
};
use crate::notation::Decision;
use std::collections::BTreeMap;

/// The kernel with its reductions over runs as one expression each.
pub(super) fn dots(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, behind, done| match Sum::of(kernel, &statement, behind) {
        Some(sum) if kernel.allows(sum.counter, Simd::Lanes) => {
            kernel.vectorized(sum.counter, Simd::Lanes);
            done.extend(sum.into_dot(kernel));
        }
        _ => done.push(statement),
    })
}

/// The sums of a kernel that are one expression, each once, with the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let views = kernel.views();
    let mut found: Vec<Decision> = Vec::new();
    let source = |array: ArrayId| kernel.array(views.source(array));
    let name = |array: ArrayId| source(array).name.trim_end_matches("_vals").to_owned();
    let mut see = |expr: &Expr| {
        let Expr::Fold(operator, term) = expr else { return };
        let factors = term.factors();
        let term = shown(term, &name);
        let mut walked = factors.iter().filter_map(|factor| source(factor.run()).role.tensor());
        let is_walked = |tensor: &TensorId| !kernel.tensor(*tensor).format.is_dense();
        let over = match walked.find(is_walked) {
            Some(tensor) => format!("entries of {}", kernel.tensor(tensor).name),
            None => "dense rows".to_owned(),
        };
        found.push(Decision {
            what: format!("{} of {term} over {over} are taken in vector lanes", totals(*operator)),
            why: match operator {
                ReduceOperator::Add => {
                    "a sum in one variable waits for each addition before it begins the next; in lanes it adds in another order"
                }
                _ => {
                    "a total in one variable waits for each operation before it begins the next; in lanes it combines in another order"
                }
            }
            .to_owned(),
        });
    };
    kernel.body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| statement.for_each_expr(&mut |expr| expr.for_each(&mut see)));
    });
    found
}

/// What totals by an operator are called.
pub(super) fn totals(operator: ReduceOperator) -> &'static str {
    match operator {
        ReduceOperator::Add => "sums",
        ReduceOperator::Multiply => "products",
        ReduceOperator::Min => "minima",
        ReduceOperator::Max => "maxima",
        ReduceOperator::Or => "unions",
        ReduceOperator::And => "intersections",
        ReduceOperator::Declared(_) => "reductions",
    }
}

/// A term with the names of tensors.
fn shown(term: &Term, name: &dyn Fn(ArrayId) -> String) -> String {
    let operand = |operand: &Term, is_right: bool| match operand {
        Term::Binary(BinaryOperator::Multiply, ..) if !is_right => shown(operand, name),
        Term::Binary(..) => format!("({})", shown(operand, name)),
        operand => shown(operand, name),
    };
    match term {
        Term::Load(factor) => name(factor.values()),
        Term::Same(value) => match **value {
            Expr::Literal(Literal::Float(_, number)) => number.to_string(),
            Expr::Literal(Literal::Integer(_, number)) => number.to_string(),
            _ => "a value".to_owned(),
        },
        Term::Binary(operator, left, right) => {
            format!("{} {} {}", operand(left, false), operator.symbol(), operand(right, true))
        }
        Term::Call(function, left, right) => {
            format!("{}({}, {})", function.name(), shown(left, name), shown(right, name))
        }
    }
}

/// `for counter in begin..end: total = total operator term`
pub(super) struct Sum {
    pub(super) counter: VariableId,
    pub(super) begin: Expr,
    pub(super) end: Expr,
    pub(super) total: VariableId,
    pub(super) operator: ReduceOperator,
    pub(super) element: ElementType,
    pub(super) term: Term,
    /// For each factor of the term, the place of the loop's first in what its run is a part of; `None`: the loop's own.
    begins: Vec<Option<Expr>>,
}

/// Rows that are shorter are combined in one variable.
const LEAST_ROW: u64 = 4;

/// The element type of a variable, if it holds a value.
pub(super) fn element_of(kernel: &Kernel, variable: VariableId) -> Option<ElementType> {
    match kernel.variable(variable).ty {
        Type::Element(element) => Some(element),
        Type::Bool => Some(ElementType::Bool),
        Type::Index => None,
    }
}

impl Sum {
    /// `behind` is what follows in the loop's block.
    pub(super) fn of(kernel: &Kernel, statement: &Statement, behind: &[Statement]) -> Option<Sum> {
        let Statement::For { variable: counter, begin, end, vector: false, body } = statement else { return None };
        let (last, lets) = body.split_last()?;
        let Statement::Update(total, operator, value) = last else { return None };
        let element = element_of(kernel, *total).filter(|element| operator.folds(*element))?;
        let is_row = *begin == Expr::Index(0) && size(kernel, end).is_none_or(|size| size >= LEAST_ROW);
        if !is_row && walked(kernel, begin).is_none() || is_row && !element.is_float() {
            return None;
        }
        let mut coordinates = BTreeMap::new();
        for inner in lets {
            match inner {
                Statement::Comment(_) => {}
                Statement::Let(variable, value) if !is_row && !kernel.variable(*variable).mutable => {
                    coordinates.insert(*variable, run_of(kernel, value, *counter)?);
                }
                _ => return None,
            }
        }
        let (filled, with_filling) = with_filling(end);
        let of = |filled: Option<ArrayId>| {
            let mut begins = Vec::new();
            let coordinates = coordinates.clone();
            let terms = Terms { kernel, counter: *counter, total: *total, element, is_row, coordinates, filled };
            let term = terms.find(value, &mut begins)?;
            (!begins.is_empty()).then_some((term, begins))
        };
        // Something must be gathered by what tells where there is nothing.
        let tells = |(term, _): &(Term, Vec<_>)| {
            term.factors().iter().any(|factor| matches!(factor, Factor::At { filled: true, .. }))
        };
        let ((term, begins), end) = match of(filled).filter(tells) {
            Some(found) => (found, with_filling),
            None => (of(None)?, end.clone()),
        };
        let are_apart = term.factors().iter().all(|factor| !is_touched(behind, factor.run(), false));
        are_apart.then(|| Sum {
            counter: *counter,
            begin: begin.clone(),
            end,
            total: *total,
            operator: *operator,
            element,
            term,
            begins,
        })
    }

    fn into_dot(self, kernel: &mut Kernel) -> Vec<Statement> {
        let mut statements = Vec::new();
        let is_row = self.begin == Expr::Index(0);
        let (first, length) =
            if is_row { (self.begin, self.end) } else { run(kernel, self.begin, self.end, &mut statements) };
        let mut views: Vec<(ArrayId, Option<Expr>, ArrayId)> = Vec::new();
        let mut view = |kernel: &mut Kernel, of: ArrayId, begin: Option<Expr>| {
            if let Some((.., known)) = views.iter().find(|(array, place, _)| *array == of && *place == begin) {
                return *known;
            }
            let array = declare(kernel, of, if is_row { "_row" } else { "_run" });
            views.push((of, begin.clone(), array));
            let (begin, length) = (begin.unwrap_or_else(|| first.clone()), length.clone());
            statements.push(Statement::View { array, of, begin, length, mutable: false });
            array
        };
        let mut begins = self.begins.into_iter();
        let term = self.term.map_factors(&mut |factor| {
            let begin = begins.next().flatten();
            match factor {
                Factor::Run(run) => Factor::Run(view(kernel, run, begin)),
                Factor::At { of, run, filled } => Factor::At { of, run: view(kernel, run, begin), filled },
            }
        });
        let fold = Expr::Fold(self.operator, Box::new(term));
        where_any(statements, Statement::Update(self.total, self.operator, fold))
    }
}

/// Where a run ends that is searched for what fills it up: with all of that; and the array that tells.
fn with_filling(end: &Expr) -> (Option<ArrayId>, Expr) {
    match end {
        Expr::Search { array, end, find: Find::Filling, .. } => (Some(*array), (**end).clone()),
        Expr::Binary(operator @ BinaryOperator::Minimum, one, other) => {
            let (array, one) = with_filling(one);
            (array, Expr::binary(*operator, one, (**other).clone()))
        }
        end => (None, end.clone()),
    }
}

/// The first place and the number of entries of a run, declared.
fn run(kernel: &mut Kernel, begin: Expr, end: Expr, statements: &mut Vec<Statement>) -> (Expr, Expr) {
    let mut name = |name: &str, value: Expr| {
        let id = kernel.declare_index(name);
        statements.push(Statement::Let(id, value));
        Expr::Variable(id)
    };
    if let Expr::Binary(BinaryOperator::Add, from, length) = &end
        && **from == begin
    {
        return (name("first", begin), (**length).clone());
    }
    let is_whole = is_run_of_parent(&begin, &end);
    let first = name("first", begin);
    // A share of a run may end before it begins.
    let end = if is_whole { end } else { Expr::binary(BinaryOperator::Maximum, end, first.clone()) };
    let length = name("entries", end.minus(first.clone()));
    (first, length)
}

/// The index array that a loop reaches at its counter.
pub(super) fn run_of(kernel: &Kernel, expr: &Expr, counter: VariableId) -> Option<ArrayId> {
    match expr {
        Expr::Load(run, place) if **place == Expr::Variable(counter) => {
            matches!(kernel.array(*run).element, ArrayElement::Index(_)).then_some(*run)
        }
        _ => None,
    }
}

/// Whether a value is an operator's identity.
pub(super) fn is_identity(operator: ReduceOperator, element: ElementType, value: &Expr) -> bool {
    match (operator.identity(element), value) {
        (Some(identity), Expr::Literal(literal)) => *literal == identity,
        (Some(Literal::Integer(ElementType::Bool, identity)), Expr::Bool(value)) => *value == (identity != 0),
        _ => false,
    }
}

/// What a term is made of.
pub(super) struct Terms<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) counter: VariableId,
    pub(super) total: VariableId,
    pub(super) element: ElementType,
    /// Whether the loop goes over a dense mode.
    pub(super) is_row: bool,
    /// Variables that hold what an index array has at the counter.
    pub(super) coordinates: BTreeMap<VariableId, ArrayId>,
    /// The index array whose places may be filled up.
    pub(super) filled: Option<ArrayId>,
}

impl Terms<'_> {
    /// The term, unless something else is in it, with the places that its factors begin at.
    pub(super) fn find(&self, term: &Expr, begins: &mut Vec<Option<Expr>>) -> Option<Term> {
        if !self.differs(term) {
            return Some(Term::Same(Box::new(term.clone())));
        }
        match term {
            Expr::Load(of, place) if self.is_of_element(*of) => {
                let (factor, begin) =
                    if self.is_row { self.in_row(*of, place)? } else { (self.in_run(*of, place)?, None) };
                begins.push(begin);
                Some(Term::Load(factor))
            }
            Expr::Binary(BinaryOperator::Multiply, left, right) if self.element.is_float() => {
                let left = self.find(left, begins)?;
                self.times(left, right, begins)
            }
            Expr::Binary(operator, left, right) if Term::has_operator(*operator, self.element) => {
                let left = Box::new(self.find(left, begins)?);
                Some(Term::Binary(*operator, left, Box::new(self.find(right, begins)?)))
            }
            Expr::Unary(UnaryOperator::Negate, operand) if self.element != ElementType::Bool => {
                // What is taken from the negative zero has another sign, whatever it is.
                let zero = match self.element.zero() {
                    Literal::Float(element, _) => Literal::Float(element, -0.0),
                    zero => zero,
                };
                let operand = Box::new(self.find(operand, begins)?);
                Some(Term::Binary(
                    BinaryOperator::Subtract,
                    Box::new(Term::Same(Box::new(Expr::Literal(zero)))),
                    operand,
                ))
            }
            Expr::Call(function, arguments) if Term::has_function(*function, self.element) => {
                let [left, right] = &arguments[..] else { return None };
                let left = Box::new(self.find(left, begins)?);
                Some(Term::Call(*function, left, Box::new(self.find(right, begins)?)))
            }
            _ => None,
        }
    }

    /// Whether an array's elements are computed with in the type of the terms.
    fn is_of_element(&self, array: ArrayId) -> bool {
        matches!(self.kernel.array(array).element, ArrayElement::Value(element) if element.computed() == self.element)
    }

    /// A term times the factors of a product, from left to right.
    fn times(&self, left: Term, right: &Expr, begins: &mut Vec<Option<Expr>>) -> Option<Term> {
        match right {
            Expr::Binary(BinaryOperator::Multiply, one, other) if self.differs(right) => {
                let left = self.times(left, one, begins)?;
                self.times(left, other, begins)
            }
            right => {
                let right = Box::new(self.find(right, begins)?);
                Some(Term::Binary(BinaryOperator::Multiply, Box::new(left), right))
            }
        }
    }

    /// Whether an expression may have another value in another iteration.
    fn differs(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.for_each(&mut |expr| {
            if let Expr::Variable(variable) = expr {
                found |= [self.counter, self.total].contains(variable) || self.coordinates.contains_key(variable);
            }
        });
        found
    }

    fn in_row(&self, of: ArrayId, place: &Expr) -> Option<(Factor, Option<Expr>)> {
        base(place, self.counter).map(|base| (Factor::Run(of), Some(base)))
    }

    fn in_run(&self, of: ArrayId, place: &Expr) -> Option<Factor> {
        let run = match place {
            Expr::Variable(variable) if *variable == self.counter => return Some(Factor::Run(of)),
            Expr::Variable(variable) => *self.coordinates.get(variable)?,
            place => run_of(self.kernel, place, self.counter)?,
        };
        self.kernel.is_of_input(of).then_some(Factor::At { of, run, filled: self.filled == Some(run) })
    }
}
