//! What loops of constant lengths read of an operand lies in one block: it gets a name, so that its bounds are checked once.
//!
//! ```text
//! for i in 0..3
//!     for j in 0..3: t[i] += A_vals[(p * 3 + i) * 3 + j] * x[b * 3 + j]
//!
//! let A_block = A_vals[p * 9..p * 9 + 9]
//! let x_block = x[b * 3..b * 3 + 3]
//! for i in 0..3
//!     for j in 0..3: t[i] += A_block[i * 3 + j] * x_block[j]
//! ```

use super::over_body;
use super::views::declare;
use crate::ir::{ArrayElement, ArrayId, BinaryOperator, Expr, Kernel, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// The kernel with a view for each block that loops of constant lengths read.
pub(super) fn blocks(kernel: Kernel) -> Kernel {
    over_body(kernel, block)
}

fn block(kernel: &mut Kernel, statements: &mut Vec<Statement>) {
    let mut done = Vec::with_capacity(statements.len());
    for mut statement in std::mem::take(statements) {
        if is_short(&statement) {
            done.extend(views(kernel, &mut statement));
        }
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner));
        done.push(statement);
    }
    *statements = done;
}

/// Longer loops have rows enough for a view of each.
const MOST: u64 = 64;

/// Whether a statement is a loop of a constant length.
fn is_short(statement: &Statement) -> bool {
    matches!(statement, Statement::For { begin: Expr::Index(0), end: Expr::Index(1..=MOST), .. })
}

/// Views of what a loop of a constant length, and such loops in it, read; the loop reads those.
fn views(kernel: &mut Kernel, statement: &mut Statement) -> Vec<Statement> {
    let mut loops = Loops::default();
    loops.collect(statement);
    let mut reads = Reads { loops: &loops, found: BTreeMap::new(), certain: BTreeSet::new() };
    reads.see(statement, true);
    let Reads { found, certain, .. } = reads;
    let is_operand =
        |array: &ArrayId| kernel.is_of_input(*array) && matches!(kernel.array(*array).element, ArrayElement::Value(_));
    // Under a condition that never holds, a block may lie beyond the array.
    let found = found.into_iter().filter(|(array, _)| is_operand(array) && certain.contains(array));
    let blocks: Vec<(ArrayId, Block)> = found.filter_map(|(array, block)| Some((array, block?))).collect();
    let mut made = Vec::new();
    for (array, Block { begin, length }) in blocks.into_iter().filter(|(_, block)| block.length > 1) {
        let view = declare(kernel, array, "_block");
        replace(statement, array, view, &loops);
        made.push(Statement::View { array: view, of: array, begin, length: Expr::Index(length), mutable: false });
    }
    made
}

/// What a loop reads of each array.
struct Reads<'a> {
    loops: &'a Loops,
    /// The one block that all reads are in, if they are in one.
    found: BTreeMap<ArrayId, Option<Block>>,
    /// The arrays with a read that no condition is around.
    certain: BTreeSet<ArrayId>,
}

impl Reads<'_> {
    fn see(&mut self, statement: &Statement, is_certain: bool) {
        statement.for_each_expr(&mut |expr| self.see_expr(expr, is_certain));
        if let Statement::View { of, .. } = statement {
            self.found.insert(*of, None);
        }
        let is_certain = is_certain && is_short(statement);
        statement.blocks().into_iter().flatten().for_each(|inner| self.see(inner, is_certain));
    }

    fn see_expr(&mut self, expr: &Expr, is_certain: bool) {
        match expr {
            Expr::Load(array, index) => {
                let place = self.loops.place(index);
                let block = place.map(|place| Block { begin: place.base.clone(), length: self.loops.length(&place) });
                let known = self.found.entry(*array).or_insert_with(|| block.clone());
                if *known != block {
                    *known = None;
                }
                if is_certain {
                    self.certain.insert(*array);
                }
                self.see_expr(index, is_certain);
            }
            Expr::Select(..) | Expr::Binary(BinaryOperator::And | BinaryOperator::Or, ..) => {
                expr.for_each_child(&mut |child| self.see_expr(child, false));
            }
            _ => {
                // What else reads an array reads all of it.
                expr.for_each_array(&mut |array| {
                    self.found.insert(array, None);
                });
                expr.for_each_child(&mut |child| self.see_expr(child, is_certain));
            }
        }
    }
}

fn replace(statement: &mut Statement, from: ArrayId, to: ArrayId, loops: &Loops) {
    statement.for_each_expr_mut(&mut |expr| {
        let taken = std::mem::replace(expr, Expr::Index(0));
        *expr = replace_loads(taken, from, to, loops);
    });
    for inner in statement.blocks_mut().into_iter().flatten() {
        replace(inner, from, to, loops);
    }
}

fn replace_loads(expr: Expr, from: ArrayId, to: ArrayId, loops: &Loops) -> Expr {
    match expr {
        Expr::Load(array, index) if array == from => {
            let place = loops.place(&index).expect("all places were looked at");
            Expr::load(to, place.inside())
        }
        other => other.map_children(&mut |child| replace_loads(child, from, to, loops)),
    }
}

/// What is read of an array.
#[derive(Clone, PartialEq)]
struct Block {
    begin: Expr,
    length: u64,
}

/// `base`, and the counters of loops times what each is multiplied by, and a constant.
struct Place {
    base: Expr,
    terms: Vec<(VariableId, u64)>,
    constant: u64,
}

impl Place {
    /// The place in the block.
    fn inside(&self) -> Expr {
        let sum = self.terms.iter().fold(Expr::Index(0), |sum, (counter, factor)| {
            sum.plus(Expr::Variable(*counter).times(Expr::Index(*factor)))
        });
        sum.plus(Expr::Index(self.constant))
    }

    fn times(self, by: u64) -> Option<Place> {
        let terms = self.terms.into_iter().map(|(counter, factor)| Some((counter, factor.checked_mul(by)?)));
        let base = match self.base {
            Expr::Binary(BinaryOperator::Multiply, base, factor) if matches!(*factor, Expr::Index(_)) => {
                let Expr::Index(factor) = *factor else { return None };
                base.times(Expr::Index(factor.checked_mul(by)?))
            }
            base => base.times(Expr::Index(by)),
        };
        Some(Place { base, terms: terms.collect::<Option<_>>()?, constant: self.constant.checked_mul(by)? })
    }

    fn plus(self, other: Place) -> Place {
        let terms = self.terms.into_iter().chain(other.terms).collect();
        Place { base: self.base.plus(other.base), terms, constant: self.constant + other.constant }
    }
}

/// Loops of constant lengths in each other.
#[derive(Default)]
struct Loops {
    lengths: BTreeMap<VariableId, u64>,
    /// What else is declared in them.
    others: BTreeSet<VariableId>,
}

impl Loops {
    fn collect(&mut self, statement: &Statement) {
        statement.for_each(&mut |inner| match inner {
            Statement::For { variable, begin: Expr::Index(0), end: Expr::Index(length), .. } if *length > 0 => {
                self.lengths.insert(*variable, *length);
            }
            Statement::For { variable, .. } | Statement::Let(variable, _) | Statement::Marked { variable, .. } => {
                self.others.insert(*variable);
            }
            Statement::Assign(variable, _) | Statement::Update(variable, ..) => {
                self.others.insert(*variable);
            }
            Statement::Insert { place: variable, .. } => {
                self.others.insert(*variable);
            }
            _ => {}
        });
    }

    /// An index as what the loops add to a base that they leave as it is.
    fn place(&self, index: &Expr) -> Option<Place> {
        match index {
            Expr::Index(constant) => Some(Place { base: Expr::Index(0), terms: Vec::new(), constant: *constant }),
            Expr::Variable(counter) if self.lengths.contains_key(counter) => {
                Some(Place { base: Expr::Index(0), terms: vec![(*counter, 1)], constant: 0 })
            }
            index if !self.change(index) => Some(Place { base: index.clone(), terms: Vec::new(), constant: 0 }),
            Expr::Binary(BinaryOperator::Add, left, right) => Some(self.place(left)?.plus(self.place(right)?)),
            Expr::Binary(BinaryOperator::Multiply, left, right) => match (&**left, &**right) {
                (Expr::Index(by), of) | (of, Expr::Index(by)) => self.place(of)?.times(*by),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether an expression may change in the loops.
    fn change(&self, expr: &Expr) -> bool {
        let mut found = false;
        expr.for_each(&mut |expr| match expr {
            Expr::Variable(variable) => found |= self.lengths.contains_key(variable) || self.others.contains(variable),
            Expr::Load(..) | Expr::Search { .. } => found = true,
            _ => {}
        });
        found
    }

    /// How many elements lie from the first that is read to the last.
    fn length(&self, place: &Place) -> u64 {
        let last = place.terms.iter().map(|(counter, factor)| (self.lengths[counter] - 1).saturating_mul(*factor));
        last.fold(place.constant, u64::saturating_add).saturating_add(1)
    }
}
