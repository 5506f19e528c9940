//! Sums over rows that lie side by side are formed for all rows of a slice at once: the n-th entries of the rows are a vector.
//!
//! ```text
//! parallel low..high in 0..I
//!     for i in low..high
//!         let t = 0
//!         for n in 0..(search(A_crd, A_pos[i / 8] + i % 8, …, ∞; 8) - …) / 8
//!             let p = A_pos[i / 8] + i % 8 + n * 8
//!             t += A_vals[p] * x[A_crd[p]]
//!         y[i] = t
//!
//! parallel low..high in 0..(I + 7) / 8
//!     for slice in low..high
//!         let begin = A_pos[slice]
//!         let entries = A_pos[slice + 1] - begin
//!         let A_slice = A_vals[begin..begin + entries]
//!         let A_crd_slice = A_crd[begin..begin + entries]
//!         let sums = [0; 8]
//!         sums[n % 8] = the sum of A_slice[n] * x[A_crd_slice[n]], for each n that is no filling
//!         for i in slice * 8..minimum(slice * 8 + 8, I)
//!             let t = sums[i - slice * 8]
//!             y[i] = t
//! ```
//!
//! Each sum adds in the order of its row.

use super::dots::{Terms, element_of, is_identity, run_of, totals};
use super::replacing;
use super::views::declare;
use crate::format::Children;
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, ElementType, Expr, Factor, Kernel, Parallel, ReduceOperator,
    Sharing, Simd, Statement, Term, VariableId,
};
use crate::level::{self, Parents, Positions, Storage};
use crate::notation::Decision;
use std::collections::BTreeMap;

/// The kernel with its sums over sliced rows formed for all rows of a slice at once.
pub(super) fn slices(kernel: Kernel) -> Kernel {
    replacing(kernel, &|kernel, statement, _, done| {
        done.push(match statement {
            Statement::Parallel(node) => Statement::Parallel(Box::new(match Rows::of(kernel, &node) {
                Some(rows) => {
                    kernel.vectorized(rows.counter, Simd::SideBySide);
                    rows.side_by_side(kernel, *node)
                }
                None => *node,
            })),
            other => other,
        });
    })
}

/// The sums of a kernel that are formed for several rows at once, with the reason.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let views = kernel.views();
    let mut found: Vec<Decision> = Vec::new();
    let mut see = |statement: &Statement| {
        let Statement::Folds { terms: Expr::Fold(operator, term), between: None, .. } = statement else { return };
        let factors = term.factors();
        let runs = factors.iter().map(|factor| views.source(factor.run()));
        let Some(tensor) = runs.filter_map(|run| kernel.array(run).role.tensor()).next() else { return };
        found.push(Decision {
            what: format!(
                "{} over rows of {} are taken for all rows of a slice at once",
                totals(*operator),
                kernel.tensor(tensor).name
            ),
            why: format!(
                "entries of rows that lie side by side are one vector, with {} of each row in a lane",
                if *operator == ReduceOperator::Add { "a sum" } else { "a total" }
            ),
        });
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// `for row in low..high: … let total = 0; for n in …: total += factor * factor * …; …`
struct Rows {
    /// The counter of the loop over a row's entries.
    counter: VariableId,
    /// What comes before the loop over rows.
    before: Vec<Statement>,
    row: VariableId,
    /// What is done with a row, with its sum as the statement at a place.
    body: Vec<Statement>,
    sum: usize,
    total: VariableId,
    operator: ReduceOperator,
    term: Term,
    /// How many lie side by side.
    count: u64,
    /// Where slices begin.
    positions: ArrayId,
    element: ElementType,
}

impl Rows {
    fn of(kernel: &Kernel, node: &Parallel) -> Option<Rows> {
        let is_apart = |(_, sharing): &(ArrayId, Sharing)| !matches!(sharing, Sharing::Segmented { .. });
        let is_plain = node.begin == Expr::Index(0) && node.aligned.is_none() && node.uneven.is_none();
        let (last, before) = node.body.split_last()?;
        let Statement::For { variable: row, begin, end, vector: false, body } = last else { return None };
        let is_whole = *begin == Expr::Variable(node.low) && *end == Expr::Variable(node.high);
        let is_comment = |statement: &Statement| matches!(statement, Statement::Comment(_));
        if !(is_plain && is_whole && before.iter().all(is_comment) && node.sharing.iter().all(is_apart)) {
            return None;
        }
        (0..body.len()).find_map(|sum| {
            let Found { counter, total, operator, element, term, slices } = sum_over_slices(kernel, *row, &body[sum])?;
            let is_start = |statement: &Statement| match statement {
                Statement::Let(variable, value) => *variable == total && is_identity(operator, element, value),
                _ => false,
            };
            // Totals of all rows are formed before anything is done with one.
            let is_of_row = |statement: &Statement| match statement {
                Statement::Let(variable, _) => term.uses(*variable),
                _ => false,
            };
            if term.uses(*row) || body[..sum].iter().any(is_of_row) {
                return None;
            }
            body[..sum].iter().any(is_start).then(|| Rows {
                counter,
                before: before.to_vec(),
                row: *row,
                body: body.clone(),
                sum,
                total,
                operator,
                element,
                term,
                count: slices.format.count().unwrap_or(1),
                positions: slices.positions.expect("slices begin somewhere"),
            })
        })
    }

    fn side_by_side(self, kernel: &mut Kernel, mut node: Parallel) -> Parallel {
        let (rows, count) = (node.end.clone(), Expr::Index(self.count));
        let [slice, begin, entries, first] =
            ["slice", "begin", "entries", "first"].map(|name| kernel.declare_index(name));
        let [at, from, length, first_row] = [slice, begin, entries, first].map(Expr::Variable);
        let next = Expr::load(self.positions, at.clone().plus(Expr::Index(1)));
        let mut body = vec![
            Statement::Let(begin, Expr::load(self.positions, at.clone())),
            Statement::Let(entries, next.minus(from.clone())),
        ];
        let mut views: BTreeMap<ArrayId, ArrayId> = BTreeMap::new();
        let mut view = |kernel: &mut Kernel, of: ArrayId| {
            *views.entry(of).or_insert_with(|| {
                let array = declare(kernel, of, "_slice");
                let (begin, length) = (from.clone(), length.clone());
                body.push(Statement::View { array, of, begin, length, mutable: false });
                array
            })
        };
        let term = self.term.map_factors(&mut |factor| match factor {
            Factor::Run(run) => Factor::Run(view(kernel, run)),
            Factor::At { of, run, filled } => Factor::At { of, run: view(kernel, run), filled },
        });
        let terms = Expr::Fold(self.operator, Box::new(term));
        let sums = kernel.declare_array("sums", ArrayElement::Value(self.element), ArrayRole::Local);
        let fill = Expr::Literal(self.operator.identity(self.element).expect("what is folded has an identity"));
        body.push(Statement::Allocate { array: sums, length: count.clone(), fill });
        let comment = self.sum.checked_sub(1).map(|before| &self.body[before]);
        let comment = comment.filter(|statement| matches!(statement, Statement::Comment(_))).cloned();
        let spoken = comment.as_ref().map(|_| self.sum - 1);
        body.extend(comment);
        body.push(Statement::Folds { totals: sums, terms, between: None });
        body.push(Statement::Let(first, at.times(count.clone())));
        let sum = Expr::load(sums, Expr::Variable(self.row).minus(first_row.clone()));
        let is_changed = |(place, statement): (usize, &Statement)| place != self.sum && changes(statement, self.total);
        kernel.variables[self.total.index()].mutable = self.body.iter().enumerate().any(is_changed);
        let behind = Expr::binary(BinaryOperator::Minimum, first_row.clone().plus(count.clone()), rows.clone());
        let of_row =
            self.body.into_iter().enumerate().filter(|(place, _)| *place != self.sum && Some(*place) != spoken);
        let of_row = of_row.map(|(_, statement)| match statement {
            Statement::Let(variable, _) if variable == self.total => Statement::Let(variable, sum.clone()),
            other => other,
        });
        body.push(Statement::For {
            variable: self.row,
            begin: first_row,
            end: behind,
            vector: false,
            body: of_row.collect(),
        });
        let of_slices = Statement::For {
            variable: slice,
            begin: Expr::Variable(node.low),
            end: Expr::Variable(node.high),
            vector: false,
            body,
        };
        node.body = self.before;
        node.body.push(of_slices);
        node.end = divided_up(rows.clone(), self.count);
        if let Some(work) = &mut node.work {
            // Behind the last slice there may be fewer rows than it has room for.
            let row = Expr::binary(BinaryOperator::Minimum, Expr::Variable(work.place).times(count.clone()), rows);
            work.before = of_slice(work.before.clone(), work.place, self.count, &row);
        }
        for (_, sharing) in &mut node.sharing {
            if let Sharing::Owned { place, start } = sharing {
                *start = replaced(start.clone(), *place, &Expr::Variable(*place).times(count.clone()));
            }
        }
        node
    }
}

/// Whether a statement changes a variable.
pub(super) fn changes(statement: &Statement, variable: VariableId) -> bool {
    let mut found = false;
    statement.for_each(&mut |inner| {
        found |= matches!(inner, Statement::Assign(other, _) | Statement::Update(other, ..) if *other == variable);
    });
    found
}

pub(super) fn divided_up(number: Expr, by: u64) -> Expr {
    match by {
        1 => number,
        by => Expr::binary(BinaryOperator::Divide, number.plus(Expr::Index(by - 1)), Expr::Index(by)),
    }
}

/// An expression that asks for the slice of a row, or else for the row, of a slice.
fn of_slice(expr: Expr, row: VariableId, count: u64, first: &Expr) -> Expr {
    match expr {
        Expr::Binary(BinaryOperator::Divide, number, by)
            if *number == Expr::Variable(row) && *by == Expr::Index(count) =>
        {
            Expr::Variable(row)
        }
        Expr::Variable(other) if other == row => first.clone(),
        other => other.map_children(&mut |child| of_slice(child, row, count, first)),
    }
}

/// An expression with a variable replaced.
fn replaced(expr: Expr, variable: VariableId, value: &Expr) -> Expr {
    match expr {
        Expr::Variable(other) if other == variable => value.clone(),
        other => other.map_children(&mut |child| replaced(child, variable, value)),
    }
}

/// `for n in …: let p = …; total = total operator term`
struct Found {
    counter: VariableId,
    total: VariableId,
    operator: ReduceOperator,
    element: ElementType,
    term: Term,
    slices: Storage,
}

/// The reduction over the entries of a row, where rows lie side by side.
fn sum_over_slices(kernel: &Kernel, row: VariableId, statement: &Statement) -> Option<Found> {
    let Statement::For { variable: number, begin, end, vector: false, body } = statement else { return None };
    if !kernel.allows(*number, Simd::SideBySide) {
        return None;
    }
    let slices = sliced_levels(kernel, row).find(|storage| {
        let parents = Parents { begin: Expr::Variable(row), end: None };
        let places = Positions { begin: begin.clone(), end: end.clone() };
        level::of(storage.format.kind).positions(storage, &parents) == Some(places)
    })?;
    let position = level::of(slices.format.kind).position(&slices, Expr::Variable(*number))?;
    let (last, lets) = body.split_last()?;
    let Statement::Update(total, operator, value) = last else { return None };
    let (total, operator) = (*total, *operator);
    let element = element_of(kernel, total).filter(|element| operator.folds(*element))?;
    let mut lets = lets.iter().filter(|statement| !matches!(statement, Statement::Comment(_)));
    let Some(Statement::Let(here, place)) = lets.next() else { return None };
    if *place != position {
        return None;
    }
    let mut coordinates = BTreeMap::new();
    for statement in lets {
        let Statement::Let(variable, place) = statement else { return None };
        coordinates.insert(*variable, run_of(kernel, place, *here)?);
    }
    let filled = slices.coordinates;
    let term = Terms { kernel, counter: *here, total, element, is_row: false, coordinates, filled };
    let term = term.find(value, &mut Vec::new())?;
    if term.uses(*number) {
        return None;
    }
    let factors = term.factors();
    let is_of_slices = |factor: &Factor| match factor {
        Factor::Run(run) => {
            let role = kernel.array(*run).role;
            role.tensor() == slices.coordinates.and_then(|crd| kernel.array(crd).role.tensor())
        }
        Factor::At { filled, .. } => *filled,
    };
    let tells = |factor: &Factor| matches!(factor, Factor::At { .. });
    (factors.iter().all(is_of_slices) && factors.iter().any(tells)).then_some(Found {
        counter: *number,
        total,
        operator,
        element,
        term,
        slices,
    })
}

/// The levels of inputs with rows side by side, as a parent's.
fn sliced_levels(kernel: &Kernel, parent: VariableId) -> impl Iterator<Item = Storage> {
    let with_role =
        |role: ArrayRole| (0u32..).map(ArrayId).zip(&kernel.arrays).find(move |(_, array)| array.role == role);
    let of = move |role: ArrayRole| {
        let ArrayRole::Coordinates { tensor, level } = role else { return None };
        let format = kernel.tensor(tensor).format.levels[level].format;
        let positions = with_role(ArrayRole::Positions { tensor, level }).map(|(id, _)| id);
        (format.kind.children == Children::Slices && !kernel.is_output(tensor)).then_some(Storage {
            format,
            positions,
            coordinates: with_role(role).map(|(id, _)| id),
            extent: Expr::Index(0),
            parent: Expr::Variable(parent),
            above: None,
            order: None,
        })
    };
    kernel.arrays.iter().filter_map(move |array| of(array.role))
}
