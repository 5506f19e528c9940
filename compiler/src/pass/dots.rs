//! Sums of products over runs of stored entries, and over dense rows, become one expression, which a target computes in the
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
//! That adds in another order, as `lanes` does, and for the same reason. Here nothing is computed but products of what lies side by
//! side, and of what inputs have at coordinates that do: a lane without an entry can hold zeros.

use super::lanes::size;
use super::replacing;
use super::runs::{is_run_of_parent, walked};
use super::views::{base, declare, is_touched, where_any};
use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Factor, Kernel, ReduceOperator, Statement, TensorId,
    Type, VariableId,
};
use crate::level::vacancy;
use crate::notation::Decision;
use std::collections::BTreeMap;

/// The kernel with its sums of products over runs as one expression each.
pub(super) fn dots(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, behind, done| match Sum::of(kernel, &statement, behind) {
        Some(sum) => done.extend(sum.into_dot(kernel)),
        None => done.push(statement),
    })
}

/// The sums of a kernel that are one expression, each once, with the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let views = kernel.views();
    let mut found: Vec<Decision> = Vec::new();
    let source = |array: ArrayId| kernel.array(views.source(array));
    let name = |array: ArrayId| source(array).name.trim_end_matches("_vals").to_owned();
    let mut see = |expr: &Expr| {
        let Expr::Dot(factors) = expr else { return };
        let terms: Vec<String> = factors.iter().map(|factor| name(factor.values())).collect();
        let mut walked = factors.iter().filter_map(|factor| source(factor.run()).role.tensor());
        let is_walked = |tensor: &TensorId| !kernel.tensor(*tensor).format.is_dense();
        let over = match walked.find(is_walked) {
            Some(tensor) => format!("entries of {}", kernel.tensor(tensor).name),
            None => "dense rows".to_owned(),
        };
        found.push(Decision {
            what: format!("sums of {} over {over} are taken in vector lanes", terms.join(" * ")),
            why: "a sum in one variable waits for each addition before it begins the next; in lanes it adds in another order"
                .to_owned(),
        });
    };
    kernel.body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| statement.for_each_expr(&mut |expr| expr.for_each(&mut see)));
    });
    found
}

/// `for counter in begin..end: total += factor * factor * …`
pub(super) struct Sum {
    pub(super) begin: Expr,
    pub(super) end: Expr,
    pub(super) total: VariableId,
    /// Each with what its run is a part of, and the place there of the loop's first; `None`: the loop's own.
    pub(super) factors: Vec<(Factor, Option<Expr>)>,
}

/// Rows that are shorter are added in one sum.
const LEAST_ROW: u64 = 4;

impl Sum {
    /// `behind` is what follows in the loop's block.
    pub(super) fn of(kernel: &Kernel, statement: &Statement, behind: &[Statement]) -> Option<Sum> {
        let Statement::For { variable: counter, begin, end, vector: false, body } = statement else { return None };
        let (last, lets) = body.split_last()?;
        let Statement::Update(total, ReduceOperator::Add, term) = last else { return None };
        let Type::Element(element @ (ElementType::F32 | ElementType::F64)) = kernel.variable(*total).ty else {
            return None;
        };
        let is_row = *begin == Expr::Index(0) && size(kernel, end).is_none_or(|size| size >= LEAST_ROW);
        if !is_row && walked(kernel, begin).is_none() {
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
        let (filled, with_filling) = with_filling(kernel, end);
        let of = |filled: Option<ArrayId>| {
            let mut factors = Vec::new();
            let coordinates = coordinates.clone();
            let product = Product { kernel, counter: *counter, element, is_row, coordinates, filled };
            product.find(term, &mut factors).map(|()| factors)
        };
        // Something must be gathered by what tells where there is nothing.
        let tells =
            |factors: &Vec<_>| factors.iter().any(|(factor, _)| matches!(factor, Factor::At { filled: true, .. }));
        let (factors, end) = match of(filled).filter(tells) {
            Some(factors) => (factors, with_filling),
            None => (of(None)?, end.clone()),
        };
        let are_apart = factors.iter().all(|(factor, _)| !is_touched(behind, factor.run(), false));
        are_apart.then(|| Sum { begin: begin.clone(), end, total: *total, factors })
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
        let factors = self.factors.into_iter().map(|(factor, begin)| match factor {
            Factor::Run(run) => Factor::Run(view(kernel, run, begin)),
            Factor::At { of, run, filled } => Factor::At { of, run: view(kernel, run, begin), filled },
        });
        let dot = Expr::Dot(factors.collect());
        where_any(statements, Statement::Update(self.total, ReduceOperator::Add, dot))
    }
}

/// Where a run ends that is searched for what fills it up: with all of that; and the array that tells.
fn with_filling(kernel: &Kernel, end: &Expr) -> (Option<ArrayId>, Expr) {
    match end {
        Expr::Search { array, end, value, .. } if is_filling(kernel, *array, value) => (Some(*array), (**end).clone()),
        Expr::Binary(operator @ BinaryOperator::Minimum, one, other) => {
            let (array, one) = with_filling(kernel, one);
            (array, Expr::binary(*operator, one, (**other).clone()))
        }
        end => (None, end.clone()),
    }
}

/// Whether it is the largest number that an index array holds, which is no coordinate where one is searched for.
fn is_filling(kernel: &Kernel, array: ArrayId, value: &Expr) -> bool {
    let ArrayElement::Index(width) = kernel.array(array).element else { return false };
    *value == Expr::Index(vacancy(width))
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

/// Whether a value is zero.
pub(super) fn is_zero(value: &Expr) -> bool {
    matches!(value, Expr::Literal(literal) if *literal == literal.zero())
}

/// Where the factors of a product come from.
pub(super) struct Product<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) counter: VariableId,
    pub(super) element: ElementType,
    /// Whether the loop goes over a dense mode.
    pub(super) is_row: bool,
    /// Variables that hold what an index array has at the counter.
    pub(super) coordinates: BTreeMap<VariableId, ArrayId>,
    /// The index array whose places may be filled up.
    pub(super) filled: Option<ArrayId>,
}

impl Product<'_> {
    /// The factors, unless something else is in it.
    pub(super) fn find(&self, term: &Expr, factors: &mut Vec<(Factor, Option<Expr>)>) -> Option<()> {
        match term {
            Expr::Binary(BinaryOperator::Multiply, left, right) => {
                self.find(left, factors)?;
                self.find(right, factors)
            }
            Expr::Load(of, place) if self.kernel.array(*of).element == ArrayElement::Value(self.element) => {
                factors.push(if self.is_row { self.in_row(*of, place)? } else { (self.in_run(*of, place)?, None) });
                Some(())
            }
            _ => None,
        }
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
