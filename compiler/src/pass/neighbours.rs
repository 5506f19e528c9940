//! Sums over runs that lie one behind the other, as the entries of rows and of fibers do, are formed for many runs at once: most
//! runs are short, and several short ones are one vector.
//!
//! ```text
//! parallel low..high in 0..I
//!     for i in low..high
//!         let t = 0
//!         for p in A_pos[i]..A_pos[i + 1]: t += A_vals[p] * x[A_crd[p]]
//!         y[i] = t
//!
//! parallel low..high in 0..I
//!     let count = high - low
//!     let A_pos_run = A_pos[low..low + count + 1]
//!     let places = A_pos_run[count]
//!     let A_run = A_vals[0..places]
//!     let A_crd_run = A_crd[0..places]
//!     let y_run = y[low..low + count]
//!     y_run[n] = the sum of A_run[p] * x[A_crd_run[p]] for p in A_pos_run[n]..A_pos_run[n + 1], for each n
//! ```
//!
//! Where a sum is not all that is stored, some runs' sums are formed at a time:
//!
//! ```text
//! parallel low..high in 0..I
//!     for block in 0..(high - low + 63) / 64
//!         let first = low + block * 64
//!         let count = minimum(high - first, 64)
//!         …
//!         let sums = [0; 64]
//!         sums[n] = the sum of …, for each n < count
//!         for i in first..first + count
//!             let t = sums[i - first]
//!             y[i] = 2 * t + z[i]
//! ```
//!
//! What is short and what is long is found at run time, a few runs at a time. Each sum may add in another order, as `dots` does.

use super::dots::{Sum, is_identity, totals};
use super::replacing;
use super::runs::is_run_of_parent;
use super::slices::{changes, divided_up};
use super::views::{base, declare, is_touched};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, ElementType, Expr, Factor, Kernel, Parallel, ReduceOperator,
    Sharing, Simd, Statement, Term, VariableId,
};
use crate::notation::Decision;
use std::collections::BTreeMap;

/// The kernel with its sums over neighbouring runs formed for many at once.
pub(super) fn neighbours(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, _, done| {
        done.push(match statement {
            Statement::Parallel(mut node) => {
                let body = std::mem::take(&mut node.body);
                node.body = in_block(kernel, &node, body, false);
                Statement::Parallel(node)
            }
            other => other,
        });
    })
}

/// The sums of a kernel that are formed for many runs at once, with the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let views = kernel.views();
    let mut found: Vec<Decision> = Vec::new();
    let mut see = |statement: &Statement| {
        let Statement::Folds { terms: Expr::Fold(operator, _), between: Some(positions), .. } = statement else {
            return;
        };
        let ArrayRole::Positions { tensor, level } = kernel.array(views.source(*positions)).role else { return };
        found.push(Decision {
            what: format!(
                "{} over runs of level {} of {} are taken for eight at once where they are short",
                totals(*operator),
                level + 1,
                kernel.tensor(tensor).name
            ),
            why: format!(
                "runs lie one behind the other, so that the entries of several are one vector, with {} of each in a lane",
                if *operator == ReduceOperator::Add { "a sum" } else { "a total" }
            ),
        });
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// How many sums are formed at a time where more is done with them than to store them.
const BLOCK: u64 = 64;

/// The statements of a block of a parallel loop with loops over neighbours replaced, also in those inside.
fn in_block(kernel: &mut Kernel, node: &Parallel, statements: Vec<Statement>, is_inside: bool) -> Vec<Statement> {
    let mut done = Vec::with_capacity(statements.len());
    let mut rest = statements.into_iter();
    while let Some(statement) = rest.next() {
        let found = Neighbours::of(kernel, &statement, is_inside);
        if let Some(neighbours) = &found {
            kernel.vectorized(neighbours.counter, Simd::Segmented);
        }
        match found {
            Some(neighbours) if neighbours.is_stored(kernel, node, rest.as_slice()) => {
                done.extend(neighbours.stored(kernel, node));
            }
            Some(neighbours) => done.push(neighbours.in_blocks(kernel)),
            None => done.push(match statement {
                Statement::For { variable, begin, end, vector: false, body } => {
                    let body = in_block(kernel, node, body, true);
                    Statement::For { variable, begin, end, vector: false, body }
                }
                other => other,
            }),
        }
    }
    done
}

/// `for row in begin..end: … let total = 0; for p in positions[place]..positions[place + 1]: total += factor * …; …`
struct Neighbours {
    row: VariableId,
    /// The counter of the loop over a run.
    counter: VariableId,
    begin: Expr,
    end: Expr,
    /// What is done with a row, with its sum as the statement at a place.
    body: Vec<Statement>,
    at: usize,
    total: VariableId,
    operator: ReduceOperator,
    term: Term,
    positions: ArrayId,
    /// What the place of a row's positions is beside the row.
    base: Expr,
    element: ElementType,
}

impl Neighbours {
    fn of(kernel: &Kernel, statement: &Statement, is_inside: bool) -> Option<Neighbours> {
        let Statement::For { variable: row, begin, end, vector: false, body } = statement else { return None };
        // Inside of other loops there may be few neighbours, but for those of a dense mode.
        if is_inside && *begin != Expr::Index(0) {
            return None;
        }
        (0..body.len()).find_map(|at| {
            let sum = Sum::of(kernel, &body[at], &body[at + 1..])?;
            if !kernel.allows(sum.counter, Simd::Segmented) {
                return None;
            }
            let (Expr::Load(positions, place), true) = (&sum.begin, is_run_of_parent(&sum.begin, &sum.end)) else {
                return None;
            };
            let base = fixed_base(place, *row, body)?;
            let of_inputs = kernel.is_of_input(*positions)
                && sum.term.factors().iter().all(|factor| kernel.is_of_input(factor.run()));
            let starts = |statement: &Statement| match statement {
                Statement::Let(variable, value) => {
                    *variable == sum.total && is_identity(sum.operator, sum.element, value)
                }
                _ => false,
            };
            let start = body[..at].iter().position(starts)?;
            // What is the same at every place of a run may differ from row to row.
            let is_of_row = |statement: &Statement| match statement {
                Statement::Let(variable, _) => sum.term.uses(*variable),
                _ => false,
            };
            if sum.term.uses(*row) || body.iter().any(is_of_row) {
                return None;
            }
            let is_free = !body[start + 1..at].iter().any(|inner| changes(inner, sum.total) || inner.uses(sum.total));
            (of_inputs && is_free).then(|| Neighbours {
                row: *row,
                counter: sum.counter,
                begin: begin.clone(),
                end: end.clone(),
                body: body.clone(),
                at,
                total: sum.total,
                term: sum.term.clone(),
                operator: sum.operator,
                element: sum.element,
                positions: *positions,
                base,
            })
        })
    }

    /// The array that all sums are stored in side by side, and what the place of a row's is beside the row, where nothing else is
    /// done.
    fn target(&self, kernel: &Kernel) -> Option<(ArrayId, Expr)> {
        let [Statement::Store(array, index, value)] = &self.body[self.at + 1..] else { return None };
        // What is stored in another type is converted.
        if kernel.array(*array).element != ArrayElement::Value(self.element) {
            return None;
        }
        let is_start =
            |statement: &Statement| matches!(statement, Statement::Let(variable, _) if *variable == self.total);
        let is_comment = |statement: &Statement| matches!(statement, Statement::Comment(_));
        let is_all = self.body[..self.at].iter().all(|statement| is_start(statement) || is_comment(statement));
        let base = fixed_base(index, self.row, &self.body)?;
        (is_all && *value == Expr::Variable(self.total)).then_some((*array, base))
    }

    /// Whether the sums can be formed where they are stored. `behind` is what follows in the loop's block.
    fn is_stored(&self, kernel: &Kernel, node: &Parallel, behind: &[Statement]) -> bool {
        let is_owned = |array: ArrayId| {
            let is_it =
                |(other, sharing): &(ArrayId, Sharing)| *other == array && matches!(sharing, Sharing::Owned { .. });
            node.sharing.iter().any(is_it)
        };
        self.target(kernel).is_some_and(|(array, _)| is_owned(array) && !is_touched(behind, array, true))
    }

    /// The sums of all rows, where they are stored.
    fn stored(self, kernel: &mut Kernel, node: &Parallel) -> Vec<Statement> {
        let (array, base) = self.target(kernel).expect("asked before");
        let mut statements = self.comments();
        let (first, count) = self.rows(kernel, node, &mut statements);
        let (terms, positions) = self.terms(kernel, &first, &count, &mut statements);
        let sums = declare(kernel, array, "_run");
        let begin = base.plus(first);
        statements.push(Statement::View { array: sums, of: array, begin, length: count, mutable: true });
        statements.push(Statement::Folds { totals: sums, terms, between: Some(positions) });
        statements
    }

    /// The first row and how many there are.
    fn rows(&self, kernel: &mut Kernel, node: &Parallel, statements: &mut Vec<Statement>) -> (Expr, Expr) {
        let mut name = |name: &str, value: Expr| match value {
            value @ (Expr::Variable(_) | Expr::Index(_) | Expr::Dimension(_)) => value,
            value => {
                let id = kernel.declare_index(name);
                statements.push(Statement::Let(id, value));
                Expr::Variable(id)
            }
        };
        let first = name("first", self.begin.clone());
        if first == Expr::Index(0) {
            return (first, name("count", self.end.clone()));
        }
        // No chunk ends before it begins.
        let is_chunk = self.begin == Expr::Variable(node.low) && self.end == Expr::Variable(node.high);
        let end = if is_chunk { self.end.clone() } else { at_least(&self.end, &first) };
        let count = name("count", end.minus(first.clone()));
        (first, count)
    }

    /// The place of the comment that says what is added up.
    fn comment(&self) -> Option<usize> {
        self.at.checked_sub(1).filter(|before| matches!(self.body[*before], Statement::Comment(_)))
    }

    fn comments(&self) -> Vec<Statement> {
        let is_comment = |statement: &&Statement| matches!(statement, Statement::Comment(_));
        self.body[..self.at].iter().filter(is_comment).cloned().collect()
    }

    /// The terms whose totals are those of `count` rows from `first` on, and the positions between which these are.
    fn terms(
        &self,
        kernel: &mut Kernel,
        first: &Expr,
        count: &Expr,
        statements: &mut Vec<Statement>,
    ) -> (Expr, ArrayId) {
        let mut view = |kernel: &mut Kernel, of: ArrayId, begin: Expr, length: Expr| {
            let array = declare(kernel, of, "_run");
            statements.push(Statement::View { array, of, begin, length, mutable: false });
            array
        };
        let bounds = count.clone().plus(Expr::Index(1));
        let positions = view(kernel, self.positions, self.base.clone().plus(first.clone()), bounds);
        let places = Expr::load(positions, count.clone());
        let mut views: BTreeMap<ArrayId, ArrayId> = BTreeMap::new();
        let mut run =
            |of: ArrayId| *views.entry(of).or_insert_with(|| view(kernel, of, Expr::Index(0), places.clone()));
        let term = self.term.clone().map_factors(&mut |factor| match factor {
            Factor::Run(of) => Factor::Run(run(of)),
            Factor::At { of, run: coordinates, filled } => Factor::At { of, run: run(coordinates), filled },
        });
        (Expr::Fold(self.operator, Box::new(term)), positions)
    }

    /// The loop over blocks of rows.
    fn in_blocks(self, kernel: &mut Kernel) -> Statement {
        let block = kernel.declare_index("block");
        let [first, count] = ["first", "count"].map(|name| kernel.declare_index(name));
        let [at, first_row, rows] = [block, first, count].map(Expr::Variable);
        let place = self.begin.clone().plus(at.times(Expr::Index(BLOCK)));
        let rest = self.end.clone().minus(first_row.clone());
        let mut body = vec![
            Statement::Let(first, place),
            Statement::Let(count, Expr::binary(BinaryOperator::Minimum, rest, Expr::Index(BLOCK))),
        ];
        let (terms, positions) = self.terms(kernel, &first_row, &rows, &mut body);
        let sums = kernel.declare_array("sums", ArrayElement::Value(self.element), ArrayRole::Local);
        let identity = self.operator.identity(self.element).expect("what is folded has an identity");
        let fill = Expr::Literal(identity);
        body.push(Statement::Allocate { array: sums, length: Expr::Index(BLOCK), fill });
        let run = declare(kernel, sums, "_run");
        let begin = Expr::Index(0);
        body.push(Statement::View { array: run, of: sums, begin, length: rows.clone(), mutable: true });
        body.extend(self.comment().map(|place| self.body[place].clone()));
        body.push(Statement::Folds { totals: run, terms, between: Some(positions) });
        let sum = Expr::load(run, Expr::Variable(self.row).minus(first_row.clone()));
        let is_changed = |(place, statement): (usize, &Statement)| place != self.at && changes(statement, self.total);
        kernel.variables[self.total.index()].mutable = self.body.iter().enumerate().any(is_changed);
        let comment = self.comment();
        let of_row = self.body.into_iter().enumerate();
        let of_row = of_row.filter(|(place, _)| *place != self.at && Some(*place) != comment);
        let of_row = of_row.map(|(_, statement)| match statement {
            Statement::Let(variable, _) if variable == self.total => Statement::Let(variable, sum.clone()),
            other => other,
        });
        let of_rows = Statement::For {
            variable: self.row,
            begin: first_row.clone(),
            end: first_row.plus(rows),
            vector: false,
            body: of_row.collect(),
        };
        body.push(of_rows);
        let end = at_least(&self.end, &self.begin);
        let end = divided_up(end.minus(self.begin), BLOCK);
        Statement::For { variable: block, begin: Expr::Index(0), end, vector: false, body }
    }
}

fn at_least(end: &Expr, begin: &Expr) -> Expr {
    Expr::binary(BinaryOperator::Maximum, end.clone(), begin.clone())
}

/// What a place is beside the row, the same for all rows.
fn fixed_base(place: &Expr, row: VariableId, body: &[Statement]) -> Option<Expr> {
    let base = base(place, row)?;
    let is_of_row = |statement: &Statement| match statement {
        Statement::Let(variable, _) => base.uses(*variable),
        _ => false,
    };
    (!body.iter().any(is_of_row)).then_some(base)
}
