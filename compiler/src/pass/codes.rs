//! Loops over interleaved codes take eight codes at a time.
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
//! One comparison says whether a number is below the bound, and none is left for its row: the compiler knows that it is there. The inner
//! loop is unrolled, so the processor has more entries in flight.

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
    let tables = Tables::of(&kernel);
    let views = kernel.views();
    replacing(kernel, &|kernel, statement, _, done| {
        let is_run = |before: &Statement| match before {
            Statement::View { array, .. } if kernel.is_of_input(views.source(*array)) => Some(*array),
            _ => None,
        };
        let runs = done.iter().filter_map(is_run).collect();
        let parts = Codes::of(kernel, &statement, &runs, &tables);
        let parts = parts.map(|codes| codes.in_eights(kernel, &statement));
        match parts {
            Some(parts) => done.extend(parts),
            None => done.push(statement),
        }
    })
}

/// What is decided for the loops of a kernel.
pub(super) fn decisions(kernel: &Kernel) -> Vec<Decision> {
    let views = kernel.views();
    let mut found = Vec::new();
    let mut see = |statement: &Statement| {
        let Statement::Numbers { codes, below, .. } = statement else { return };
        let name = |array: ArrayId| {
            kernel.array(views.source(array)).role.tensor().map(|tensor| kernel.tensor(tensor).name.clone())
        };
        let mut tables = Vec::new();
        below.for_each(&mut |expr| expr.for_each_array(&mut |array| tables.extend(name(array))));
        if let (Some(codes), Some(table)) = (name(*codes), tables.first()) {
            found.push(Decision {
                what: format!("{TOGETHER} entries of {codes} are taken at a time, each with its row of {table}"),
                why: "the loop is unrolled, and one comparison checks a number and its row".to_owned(),
            });
        }
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// Arrays whose length is that of what may be reached in them, wherever it is asked for.
struct Tables(BTreeSet<ArrayId>);

impl Tables {
    fn of(kernel: &Kernel) -> Self {
        let inputs = kernel.parameters().map(|(array, _)| array).filter(|array| kernel.is_of_input(*array));
        let mut tables: BTreeSet<ArrayId> = inputs.collect();
        let mut see = |statement: &Statement| {
            // A chunk has all of what is private, and of other results a part.
            let Statement::Parallel(parallel) = statement else { return };
            let private = parallel.sharing.iter().filter(|(_, sharing)| matches!(sharing, Sharing::Private(_)));
            tables.extend(private.map(|(array, _)| *array));
        };
        kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
        Self(tables)
    }

    /// A bound of a number that makes sure of the row that a statement views at it.
    fn bound(&self, statement: &Statement, number: VariableId) -> Option<Expr> {
        match statement {
            Statement::View {
                of,
                begin: Expr::Binary(BinaryOperator::Multiply, place, factor),
                length: Expr::Index(row @ 1..=LONGEST),
                ..
            } if **place == Expr::Variable(number) && **factor == Expr::Index(*row) && self.0.contains(of) => {
                let row = Box::new(Expr::Index(*row));
                Some(Expr::Binary(BinaryOperator::Divide, Box::new(Expr::Length(*of)), row))
            }
            _ => None,
        }
    }
}

/// A loop over codes.
struct Codes {
    /// Which of the statements of the body read an entry's elements of runs, into which variables.
    reads: BTreeMap<usize, (VariableId, ArrayId)>,
    /// The one of these that reads its code.
    code: usize,
    /// Which of the statements of the body declare numbers: what they declare, the mask, and a bound that makes sure of their use.
    numbers: BTreeMap<usize, (VariableId, Expr, Expr)>,
}

impl Codes {
    /// `runs` are views of what operands store, from before the loop.
    fn of(kernel: &Kernel, statement: &Statement, runs: &BTreeSet<ArrayId>, tables: &Tables) -> Option<Self> {
        let Statement::For { variable: entry, begin: Expr::Index(0), vector: false, body, .. } = statement else {
            return None;
        };
        let read = |statement: &Statement| match statement {
            Statement::Let(variable, Expr::Load(array, index)) if **index == Expr::Variable(*entry) => {
                runs.contains(array).then_some((*variable, *array))
            }
            _ => None,
        };
        let reads = body.iter().enumerate().filter_map(|(at, statement)| Some((at, read(statement)?)));
        let reads: BTreeMap<usize, (VariableId, ArrayId)> = reads.collect();
        let is_of_codes = |array: ArrayId| matches!(kernel.array(array).element, ArrayElement::Index(_));
        let (&at, &(code, _)) = reads.iter().find(|(_, (_, array))| is_of_codes(*array))?;
        let mut numbers = BTreeMap::new();
        for (place, inner) in body.iter().enumerate() {
            if let Statement::Let(number, Expr::Binary(BinaryOperator::Gather, from, mask)) = inner
                && **from == Expr::Variable(code)
                && matches!(**mask, Expr::Variable(_))
                && let Some(bound) = body[place..].iter().find_map(|user| tables.bound(user, *number))
            {
                numbers.insert(place, (*number, (**mask).clone(), bound));
            }
        }
        let is_short = |inner: &Statement| !matches!(inner, Statement::For { end, .. } if !is_at_most(end, LONGEST));
        let fits = (1..=MOST_NUMBERS).contains(&numbers.len()) && body.iter().all(is_short);
        fits.then_some(Self { reads, code: at, numbers })
    }

    fn in_eights(&self, kernel: &mut Kernel, statement: &Statement) -> Vec<Statement> {
        let Statement::For { variable: entry, end, body, .. } = statement else { unreachable!("a loop over codes") };
        let [eights, eight, place] = ["eights", "eight", "place"].map(|name| kernel.declare_index(name));
        let first = Expr::Variable(eight).times(Expr::Index(TOGETHER));
        let mut inner = body.clone();
        let mut outer = Vec::new();
        let mut codes = None;
        for (&at, &(variable, array)) in &self.reads {
            let name = kernel.array(array).name.trim_end_matches("_run").to_owned() + "_eight";
            let view = kernel.declare_array(&name, kernel.array(array).element, ArrayRole::Local);
            let (begin, length) = (first.clone(), Expr::Index(TOGETHER));
            outer.push(Statement::View { array: view, of: array, begin, length, mutable: false });
            inner[at] = Statement::Let(variable, Expr::load(view, Expr::Variable(place)));
            if at == self.code {
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
        let (code, _) = self.reads[&self.code];
        if !inner.iter().any(|statement| statement.uses(code)) {
            inner.remove(self.code);
        }
        if inner.iter().any(|statement| statement.uses(*entry)) {
            inner.insert(0, Statement::Let(*entry, first.plus(Expr::Variable(place))));
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
