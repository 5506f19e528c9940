//! Rows are worked on in strips of a fixed width, so that what is summed up for a strip stays in registers.
//!
//! ```text
//! let t = [0; R]
//! for p in low..high
//!     for r in 0..R: t[r] += X_vals[p] * C[X_crd[p] * R + r]
//! for r in 0..R: A[i * R + r] = t[r]
//!
//! for r_strip in 0..R / 16
//!     let r_first = r_strip * 16
//!     let t = [0; 16]
//!     for p in low..high
//!         for r in 0..16: t[r] += X_vals[p] * C[X_crd[p] * R + r_first + r]
//!     for r in 0..16: A[i * R + r_first + r] = t[r]
//! ```
//!
//! and the same once more for what is left of the row. The loops over stored entries run again for each strip: their
//! coordinates are few bytes beside the rows that they lead to. It is done where the length of rows is known only at run time,
//! and where it is known and too large for registers; a schedule may ask for another width, or for whole rows.

use super::over_body;
use super::views::{self, base};
use crate::ir::{ArrayElement, ArrayId, BinaryOperator, Expr, Kernel, Size, Statement, Tile, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of a strip: two cache lines, which with as many for what they are multiplied by fit any processor's registers.
const STRIP: u64 = 128;

/// Rows of a known length stay whole up to this many bytes.
const WHOLE: u64 = 512;

/// The kernel with its long rows in strips.
pub(super) fn strips(kernel: Kernel) -> Kernel {
    over_body(kernel, |kernel, body| {
        let mut hoisted = Hoisted { lengths: BTreeMap::new(), fills: fills(body) };
        let mut shortened = BTreeMap::new();
        block(kernel, body, &mut hoisted, &mut shortened);
        shorten(body, &shortened);
    })
}

/// Arrays that are made before the loops that use them, from one [`Statement::Fill`] to the end of its block.
struct Hoisted {
    lengths: BTreeMap<ArrayId, Expr>,
    /// How often each array is filled.
    fills: BTreeMap<ArrayId, usize>,
}

impl Hoisted {
    fn insert(&mut self, array: ArrayId, length: &Expr) {
        if self.fills.get(&array) == Some(&1) {
            self.lengths.insert(array, length.clone());
        }
    }
}

fn fills(statements: &[Statement]) -> BTreeMap<ArrayId, usize> {
    let mut fills = BTreeMap::new();
    let mut see = |statement: &Statement| {
        if let Statement::Fill(array, _) = statement {
            *fills.entry(*array).or_default() += 1;
        }
    };
    statements.iter().for_each(|statement| statement.for_each(&mut see));
    fills
}

/// Arrays that are made before all loops and made ready in them hold no more than what is left of a row.
fn shorten(statements: &mut [Statement], shortened: &BTreeMap<ArrayId, u64>) {
    for statement in statements {
        if let Statement::Allocate { array, length, .. } = statement
            && let Some(&width) = shortened.get(array)
        {
            *length = Expr::Index(width);
        }
        statement.blocks_mut().into_iter().for_each(|inner| shorten(inner, shortened));
    }
}

/// `shortened` gets the elements that hoisted arrays need which are used in strips.
fn block(
    kernel: &mut Kernel,
    statements: &mut Vec<Statement>,
    hoisted: &mut Hoisted,
    shortened: &mut BTreeMap<ArrayId, u64>,
) {
    // What a loop ends with, to go on to its next place, happens once.
    let steps = |statement: &Statement| matches!(statement, Statement::Assign(..) | Statement::Update(..));
    let end = statements.iter().rposition(|statement| !steps(statement)).map_or(0, |last| last + 1);
    let first = (0..end).find_map(|place| {
        let opened = opened(&statements[place], hoisted)?;
        let (inside, behind) = statements[place..].split_at(end - place);
        Region::of(kernel, inside, behind, opened, hoisted).map(|region| (place, region))
    });
    let (inside, behind) = match &first {
        Some((place, _)) => {
            let behind = statements.split_off(end);
            (statements.split_off(*place), behind)
        }
        None => Default::default(),
    };
    for statement in statements.iter_mut() {
        if let Statement::Allocate { array, length, .. } = statement {
            hoisted.insert(*array, length);
        }
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner, hoisted, shortened));
    }
    if let Some((_, region)) = first {
        shortened.extend(
            region.rows.iter().filter(|row| hoisted.lengths.contains_key(row)).map(|row| (*row, region.room())),
        );
        statements.extend(region.in_strips(kernel, inside));
        statements.extend(behind);
    }
}

/// The length of the array that a statement makes, or makes ready again.
fn opened(statement: &Statement, hoisted: &Hoisted) -> Option<Expr> {
    match statement {
        Statement::Allocate { length, .. } => Some(length.clone()),
        Statement::Fill(array, _) => hoisted.lengths.get(array).cloned(),
        _ => None,
    }
}

/// Statements that do the same for each element of a row, whatever they do for the others.
struct Region {
    /// The length of the row.
    length: Expr,
    /// The name of the index that runs over it.
    name: String,
    /// The elements of a strip.
    width: u64,
    /// The local rows.
    rows: BTreeSet<ArrayId>,
}

impl Region {
    /// `None` where the elements of rows are not independent, what is behind depends on them, or strips are no better.
    fn of(
        kernel: &mut Kernel,
        statements: &[Statement],
        behind: &[Statement],
        length: Expr,
        hoisted: &Hoisted,
    ) -> Option<Self> {
        let mut check =
            Check { length: &length, hoisted, rows: BTreeSet::new(), own: BTreeSet::new(), counters: Vec::new() };
        if !check.block(kernel, statements) {
            return None;
        }
        let Check { rows, own, counters, .. } = check;
        if behind.iter().any(|statement| own.iter().any(|variable| statement.uses(*variable))) {
            return None;
        }
        let written = written(statements);
        if !statements.iter().chain(behind).all(|statement| reads_by_rows(statement, &written, &rows, &length)) {
            return None;
        }
        let bytes = rows.iter().filter_map(|row| match kernel.array(*row).element {
            ArrayElement::Value(element) => Some(element.bytes() as u64),
            ArrayElement::Index(_) => None,
        });
        let bytes = bytes.max()?;
        let is_long = match &length {
            Expr::Index(length) => length * bytes > WHOLE,
            Expr::Dimension(dimension) => kernel.dimension(*dimension).size == Size::Runtime,
            _ => false,
        };
        let name = kernel.variable(*counters.last()?).name.clone();
        let is_within = |width: u64| matches!(length, Expr::Index(length) if length <= width);
        let tile = match counters.iter().find_map(|counter| kernel.tile(*counter)) {
            // Rows that one tile holds are one.
            Some(tile) => tile,
            None if is_long => Tile::By(STRIP / bytes),
            None => Tile::Whole,
        };
        counters.iter().for_each(|counter| kernel.tiled(*counter, tile));
        let Tile::By(width) = tile else { return None };
        if is_within(width) {
            return None;
        }
        Some(Region { length, name, width, rows })
    }

    /// How many strips rows of a known length have.
    fn count(&self, length: u64) -> u64 {
        // A few elements take as long as a strip: they go with the last one.
        let is_short = (1..=self.width / 2).contains(&(length % self.width));
        length / self.width - u64::from(is_short)
    }

    /// What strips leave of rows of a known length.
    fn rest(&self, length: u64) -> u64 {
        length - self.count(length) * self.width
    }

    /// The elements that a row made before all loops needs.
    fn room(&self) -> u64 {
        if let Expr::Index(length) = self.length { self.rest(length) } else { self.width }
    }

    fn in_strips(self, kernel: &mut Kernel, statements: Vec<Statement>) -> Vec<Statement> {
        let (width, length) = (Expr::Index(self.width), self.length.clone());
        let strip = kernel.declare_index(&format!("{}_strip", self.name));
        let first = kernel.declare_index(&format!("{}_first", self.name));
        let count = match &length {
            Expr::Index(length) => Expr::Index(self.count(*length)),
            length => Expr::binary(BinaryOperator::Divide, length.clone(), width.clone()),
        };
        let whole = match &count {
            Expr::Index(count) => Expr::Index(count * self.width),
            count => count.clone().times(width.clone()),
        };
        let rest = match &length {
            Expr::Index(length) => Expr::Index(self.rest(*length)),
            length => length.clone().minus(Expr::Variable(first)),
        };
        let fresh: BTreeMap<ArrayId, ArrayId> =
            self.rows.iter().map(|row| (*row, views::declare(kernel, *row, "_strip"))).collect();
        let each = Cut { region: &self, first, width: width.clone(), renamed: fresh };
        let mut body = vec![Statement::Let(first, Expr::Variable(strip).times(width))];
        body.extend(each.block(statements.clone()));
        let strips = Statement::For { variable: strip, begin: Expr::Index(0), end: count, vector: false, body };
        if rest == Expr::Index(0) {
            return vec![strips];
        }
        let last = match rest {
            Expr::Index(_) => Cut { region: &self, first, width: rest, renamed: BTreeMap::new() }.block(statements),
            rest => {
                let left = kernel.declare_index(&format!("{}_rest", self.name));
                let cut = Cut { region: &self, first, width: Expr::Variable(left), renamed: BTreeMap::new() };
                let mut body = vec![Statement::Let(left, rest)];
                body.extend(cut.block(statements));
                vec![Statement::If(vec![(Expr::Variable(first).less(length), body)], Vec::new())]
            }
        };
        let mut all = vec![strips, Statement::Let(first, whole)];
        all.extend(last);
        all
    }
}

/// Whether statements may run for one strip after the other.
struct Check<'a> {
    length: &'a Expr,
    hoisted: &'a Hoisted,
    /// The local rows seen.
    rows: BTreeSet<ArrayId>,
    /// The variables declared inside.
    own: BTreeSet<VariableId>,
    /// The counters of the loops over rows.
    counters: Vec<VariableId>,
}

impl Check<'_> {
    fn block(&mut self, kernel: &Kernel, statements: &[Statement]) -> bool {
        statements.iter().all(|statement| self.statement(kernel, statement))
    }

    fn statement(&mut self, kernel: &Kernel, statement: &Statement) -> bool {
        match statement {
            Statement::Comment(_) => true,
            Statement::Let(variable, _) => {
                self.own.insert(*variable);
                true
            }
            Statement::Assign(variable, _) | Statement::Update(variable, ..) => self.own.contains(variable),
            Statement::Allocate { array, length, .. } => {
                self.rows.insert(*array);
                length == self.length
            }
            Statement::Fill(array, _) => {
                let is_first = self.rows.insert(*array);
                is_first && self.hoisted.lengths.get(array) == Some(self.length)
            }
            Statement::For { variable, begin: Expr::Index(0), end, vector: true, body } => {
                self.counters.push(*variable);
                end == self.length && body.iter().all(|inner| self.element(inner, *variable))
            }
            Statement::For { variable, vector: false, body, .. } => {
                self.own.insert(*variable);
                self.block(kernel, body)
            }
            Statement::While(_, body) => self.block(kernel, body),
            Statement::If(branches, otherwise) => {
                branches.iter().all(|(_, body)| self.block(kernel, body)) && self.block(kernel, otherwise)
            }
            _ => false,
        }
    }

    /// A statement of a loop over a row touches one element of rows.
    fn element(&self, statement: &Statement, counter: VariableId) -> bool {
        match statement {
            Statement::Comment(_) | Statement::Let(..) => true,
            Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => {
                self.rows.contains(array) && *index == Expr::Variable(counter)
                    || !self.rows.contains(array) && is_in_row(index, counter, self.length)
            }
            _ => false,
        }
    }
}

/// Whether an index is an element of a row that begins at a multiple of the length.
fn is_in_row(index: &Expr, counter: VariableId, length: &Expr) -> bool {
    match base(index, counter) {
        Some(Expr::Index(0)) => true,
        Some(Expr::Binary(BinaryOperator::Multiply, _, last)) => *last == *length,
        _ => false,
    }
}

fn written(statements: &[Statement]) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    statements.iter().for_each(|statement| statement.for_each(&mut |inner| written.extend(inner.written_array())));
    written
}

/// Whether arrays that are written are read only by an element of a row for the same element.
fn reads_by_rows(statement: &Statement, written: &BTreeSet<ArrayId>, rows: &BTreeSet<ArrayId>, length: &Expr) -> bool {
    let counter = match statement {
        Statement::For { variable, vector: true, .. } => Some(*variable),
        _ => None,
    };
    let mut is_fine = true;
    let mut see = |expr: &Expr| match expr {
        Expr::Load(array, index) if rows.contains(array) => {
            is_fine &= counter.is_some_and(|counter| **index == Expr::Variable(counter));
        }
        Expr::Load(array, index) if written.contains(array) => {
            is_fine &= counter.is_some_and(|counter| is_in_row(index, counter, length));
        }
        Expr::Length(array) | Expr::Search { array, .. } => is_fine &= !written.contains(array),
        _ => {}
    };
    if counter.is_some() {
        statement
            .blocks()
            .into_iter()
            .flatten()
            .for_each(|inner| inner.for_each_expr(&mut |expr| expr.for_each(&mut see)));
        return is_fine;
    }
    statement.for_each_expr(&mut |expr| expr.for_each(&mut see));
    is_fine && statement.blocks().into_iter().flatten().all(|inner| reads_by_rows(inner, written, rows, length))
}

/// The statements of a region for a part of the row.
struct Cut<'a> {
    region: &'a Region,
    /// The first element of the part.
    first: VariableId,
    /// How many there are.
    width: Expr,
    /// Local rows that the part has for itself, made where they were made ready.
    renamed: BTreeMap<ArrayId, ArrayId>,
}

impl Cut<'_> {
    fn block(&self, statements: Vec<Statement>) -> Vec<Statement> {
        statements.into_iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&self, mut statement: Statement) -> Statement {
        match statement {
            Statement::Allocate { array, fill, .. } => {
                Statement::Allocate { array: self.row(array), length: self.width.clone(), fill }
            }
            Statement::Fill(array, fill) if self.renamed.contains_key(&array) => {
                Statement::Allocate { array: self.row(array), length: self.width.clone(), fill }
            }
            Statement::For { variable, begin, vector: true, body, .. } => {
                let body = body.into_iter().map(|inner| self.element(inner, variable)).collect();
                Statement::For { variable, begin, end: self.width.clone(), vector: true, body }
            }
            _ => {
                for inner in statement.blocks_mut() {
                    *inner = self.block(std::mem::take(inner));
                }
                statement
            }
        }
    }

    fn row(&self, array: ArrayId) -> ArrayId {
        self.renamed.get(&array).copied().unwrap_or(array)
    }

    fn element(&self, statement: Statement, counter: VariableId) -> Statement {
        match statement {
            Statement::Store(array, index, value) => {
                let (array, index) = self.place(array, index, counter);
                Statement::Store(array, index, self.expr(value, counter))
            }
            Statement::Reduce(array, index, operator, value) => {
                let (array, index) = self.place(array, index, counter);
                Statement::Reduce(array, index, operator, self.expr(value, counter))
            }
            mut other => {
                other.for_each_expr_mut(&mut |expr| {
                    let taken = std::mem::replace(expr, Expr::Index(0));
                    *expr = self.expr(taken, counter);
                });
                other
            }
        }
    }

    fn expr(&self, expr: Expr, counter: VariableId) -> Expr {
        match expr {
            Expr::Load(array, index) => {
                let (array, index) = self.place(array, *index, counter);
                Expr::load(array, index)
            }
            Expr::Variable(variable) if variable == counter => Expr::Variable(self.first).plus(expr),
            other => other.map_children(&mut |child| self.expr(child, counter)),
        }
    }

    /// The element of an array that stands for one of the whole row's.
    fn place(&self, array: ArrayId, index: Expr, counter: VariableId) -> (ArrayId, Expr) {
        if self.region.rows.contains(&array) {
            return (self.row(array), index);
        }
        let index = match base(&index, counter) {
            Some(base) => base.plus(Expr::Variable(self.first)).plus(Expr::Variable(counter)),
            None => self.expr(index, counter),
        };
        (array, index)
    }
}
