//! Rows at the numbers of interleaved codes are found to be there for eight codes at a time.
//!
//! ```text
//! for p in 0..n
//!     i = gather(codes[p], i_bits)
//!     let B_row = B[i * 16..i * 16 + 16]: …
//!
//! let eights = n / 8
//! for eight in 0..eights
//!     let codes_eight = codes[eight * 8..eight * 8 + 8]
//!     numbers i_eight of codes_eight at i_bits below B.len() / 16
//!     for place in 0..8
//!         i = i_eight[place]
//!         let B_row = B[i * 16..i * 16 + 16]: …
//! for p in eights * 8..n: as above
//! ```
//!
//! Each row is there if that of the largest number is. For codes a bound of all numbers costs little: they are sorted, so most bits
//! of neighbours are alike, and a number of all bits that any of them has is not much larger than theirs. What is left for an entry
//! is to fetch and to compute, and the processor has more entries in flight.

use super::replacing;
use crate::format::IndexWidth;
use crate::ir::{ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Sharing, Statement, VariableId};
use crate::notation::Decision;
use std::collections::{BTreeMap, BTreeSet};

/// How many codes are looked at together.
const TOGETHER: u64 = 8;

/// Longer rows stay: the bounds are little of what they take, and LLVM finds no vectors in two such loops that it writes out.
const LONGEST: u64 = 16;

/// Loops that need more numbers stay: they have no registers for eight entries in flight.
const MOST_NUMBERS: usize = 4;

/// The kernel with eight entries at a time in its loops over codes.
pub(super) fn codes(kernel: Kernel) -> Kernel {
    let known = Known::of(&kernel);
    replacing(kernel, &|kernel, statement, _, done| {
        let parts = Codes::of(kernel, &statement, &known);
        let parts = parts.map(|codes| codes.in_eights(kernel, &statement));
        match parts {
            Some(parts) => done.extend(parts),
            None => done.push(statement),
        }
    })
}

/// What is decided for the loops of a kernel.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let viewed = kernel.viewed();
    let mut found = Vec::new();
    let mut see = |statement: &Statement| {
        let Statement::Numbers { codes, below, .. } = statement else { return };
        let name = |array: ArrayId| {
            let array = viewed.get(&array).copied().unwrap_or(array);
            kernel.array(array).role.tensor().map(|tensor| kernel.tensor(tensor).name.clone())
        };
        let mut tables = Vec::new();
        below.for_each(&mut |expr| expr.for_each_array(&mut |array| tables.extend(name(array))));
        if let (Some(codes), Some(table)) = (name(*codes), tables.first()) {
            found.push(Decision {
                what: format!("rows of {table} are found to be there for {TOGETHER} entries of {codes} at a time"),
                why: "a bound of all numbers in neighbouring codes costs less than to compare each".to_owned(),
            });
        }
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// What the pass has to know of a kernel's arrays.
struct Known {
    /// Views of what is stored of inputs.
    runs: BTreeSet<ArrayId>,
    /// Arrays whose length is that of what may be reached in them, wherever it is asked for.
    tables: BTreeSet<ArrayId>,
}

impl Known {
    fn of(kernel: &Kernel) -> Self {
        let is_input = |array: &ArrayId| {
            let tensor = kernel.array(*array).role.tensor();
            tensor.is_some_and(|tensor| !kernel.is_output(tensor))
        };
        let runs = kernel.viewed().into_iter().filter(|(_, of)| is_input(of)).map(|(view, _)| view).collect();
        let mut tables: BTreeSet<ArrayId> = kernel.parameters().map(|(array, _)| array).filter(is_input).collect();
        let mut see = |statement: &Statement| {
            // A chunk has all of what is private, and of other results a part.
            let Statement::Parallel(parallel) = statement else { return };
            let private = parallel.sharing.iter().filter(|(_, sharing)| matches!(sharing, Sharing::Private(_)));
            tables.extend(private.map(|(array, _)| *array));
        };
        kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
        Self { runs, tables }
    }

    /// A bound of a number that makes sure of the row that a statement views at it.
    fn bound(&self, statement: &Statement, number: VariableId) -> Option<Expr> {
        match statement {
            Statement::View {
                of,
                begin: Expr::Binary(BinaryOperator::Multiply, place, factor),
                length: Expr::Index(row @ 1..=LONGEST),
                ..
            } if **place == Expr::Variable(number) && **factor == Expr::Index(*row) && self.tables.contains(of) => {
                let row = Box::new(Expr::Index(*row));
                Some(Expr::Binary(BinaryOperator::Divide, Box::new(Expr::Length(*of)), row))
            }
            _ => None,
        }
    }
}

/// A loop over codes.
struct Codes {
    /// The arrays that every entry reads its element of.
    runs: BTreeSet<ArrayId>,
    /// That of codes.
    run: ArrayId,
    /// The variable that holds that of an entry.
    code: VariableId,
    /// Which of the statements of the body declare numbers: what they declare, the mask, and a bound that makes sure of their use.
    numbers: BTreeMap<usize, (VariableId, Expr, Expr)>,
}

impl Codes {
    fn of(kernel: &Kernel, statement: &Statement, known: &Known) -> Option<Self> {
        let Statement::For { variable: entry, begin: Expr::Index(0), vector: false, body, .. } = statement else {
            return None;
        };
        let runs = runs_at(body, *entry, known);
        let is_of_codes = |array: &ArrayId| matches!(kernel.array(*array).element, ArrayElement::Index(_));
        let (code, run) = runs.iter().copied().find(|(_, array)| is_of_codes(array))?;
        let mut numbers = BTreeMap::new();
        for (place, inner) in body.iter().enumerate() {
            if let Statement::Let(number, Expr::Binary(BinaryOperator::Gather, from, mask)) = inner
                && **from == Expr::Variable(code)
                && matches!(**mask, Expr::Variable(_))
                && let Some(bound) = body[place..].iter().find_map(|user| known.bound(user, *number))
            {
                numbers.insert(place, (*number, (**mask).clone(), bound));
            }
        }
        let is_short = |inner: &Statement| !matches!(inner, Statement::For { end, .. } if !is_at_most(end, LONGEST));
        let fits = (1..=MOST_NUMBERS).contains(&numbers.len()) && body.iter().all(is_short);
        fits.then_some(Self { runs: runs.into_iter().map(|(_, array)| array).collect(), run, code, numbers })
    }

    fn in_eights(&self, kernel: &mut Kernel, statement: &Statement) -> Vec<Statement> {
        let Statement::For { variable: entry, end, body, .. } = statement else { unreachable!("a loop over codes") };
        let [eights, eight, place] = ["eights", "eight", "place"].map(|name| kernel.declare_index(name));
        let first = Expr::Variable(eight).times(Expr::Index(TOGETHER));
        let mut inner = body.clone();
        let mut outer = Vec::new();
        let mut codes = None;
        for &array in &self.runs {
            let name = kernel.array(array).name.trim_end_matches("_run").to_owned() + "_eight";
            let view = kernel.declare_array(&name, kernel.array(array).element, ArrayRole::Local);
            let (begin, length) = (first.clone(), Expr::Index(TOGETHER));
            outer.push(Statement::View { array: view, of: array, begin, length, mutable: false });
            inner.iter_mut().for_each(|statement| read_from(statement, array, *entry, view, place));
            if array == self.run {
                codes = Some(view);
            }
        }
        let codes = codes.expect("the codes are read at the entry");
        for (&at, (number, mask, below)) in &self.numbers {
            let name = kernel.variable(*number).name.clone() + "_eight";
            let array = kernel.declare_array(&name, ArrayElement::Index(IndexWidth::U64), ArrayRole::Local);
            outer.push(Statement::Numbers { array, codes, mask: mask.clone(), below: below.clone() });
            inner[at] = Statement::Let(*number, Expr::load(array, Expr::Variable(place)));
        }
        if inner.iter().any(|statement| statement.uses(*entry)) {
            inner.insert(0, Statement::Let(*entry, first.plus(Expr::Variable(place))));
        }
        if !inner.iter().any(|statement| statement.uses(self.code)) {
            inner.retain(|statement| !matches!(statement, Statement::Let(variable, _) if *variable == self.code));
        }
        let places = Expr::Index(TOGETHER);
        outer.push(Statement::For { variable: place, begin: Expr::Index(0), end: places, vector: false, body: inner });
        let count = Expr::Binary(BinaryOperator::Divide, Box::new(end.clone()), Box::new(Expr::Index(TOGETHER)));
        let rest = Expr::Variable(eights).times(Expr::Index(TOGETHER));
        let end_of_eights = Expr::Variable(eights);
        vec![
            Statement::Let(eights, count),
            Statement::For { variable: eight, begin: Expr::Index(0), end: end_of_eights, vector: false, body: outer },
            Statement::For { variable: *entry, begin: rest, end: end.clone(), vector: false, body: body.clone() },
        ]
    }
}

fn is_at_most(length: &Expr, most: u64) -> bool {
    matches!(length, Expr::Index(length) if *length <= most)
}

/// The runs from outside a loop that every entry reads its element of, with the variable that holds it.
fn runs_at(body: &[Statement], entry: VariableId, known: &Known) -> Vec<(VariableId, ArrayId)> {
    let mut inside = BTreeSet::new();
    let mut see = |statement: &Statement| {
        if let Statement::View { array, .. } = statement {
            inside.insert(*array);
        }
    };
    body.iter().for_each(|statement| statement.for_each(&mut see));
    let run = |statement: &Statement| match statement {
        Statement::Let(variable, Expr::Load(array, index)) if **index == Expr::Variable(entry) => {
            Some((*variable, *array))
        }
        _ => None,
    };
    body.iter().filter_map(run).filter(|(_, run)| known.runs.contains(run) && !inside.contains(run)).collect()
}

/// Reads the element of an entry from a view of some.
fn read_from(statement: &mut Statement, array: ArrayId, entry: VariableId, view: ArrayId, place: VariableId) {
    statement.for_each_expr_mut(&mut |expr| {
        let taken = std::mem::replace(expr, Expr::Index(0));
        *expr = replaced(taken, array, entry, view, place);
    });
    statement.blocks_mut().into_iter().flatten().for_each(|inner| read_from(inner, array, entry, view, place));
}

fn replaced(expr: Expr, array: ArrayId, entry: VariableId, view: ArrayId, place: VariableId) -> Expr {
    match expr {
        Expr::Load(of, index) if of == array && *index == Expr::Variable(entry) => {
            Expr::load(view, Expr::Variable(place))
        }
        other => other.map_children(&mut |child| replaced(child, array, entry, view, place)),
    }
}
