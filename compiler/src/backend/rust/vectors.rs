//! Loops over rows of any length in vectors, where the helpers have such of the processors that a function is compiled for: `f64x8`,
//! `f32x16` and so on, and [`Tile::Masked`](crate::ir::Tile::Masked) has cut the rows.
//!
//! ```text
//! let r_lanes = r_left.min(32);
//! let masks = parallel::Masks8::<4, 3>::of(r_lanes);
//! let mut t = [parallel::f64x8::splat(0.0); 4];
//! …
//!     for vector in 0..4 {
//!         t[vector] = parallel::f64x8::splat(X_val).times_plus(parallel::f64x8::load(C_row, &masks, vector), t[vector]);
//!     }
//! ```

use super::body::{factors, reads};
use super::expr::number;
use super::{Printer, ident};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, ElementType, Expr, Function, Kernel, ReduceOperator, Statement,
    VariableId, vectors,
};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use std::collections::{BTreeMap, BTreeSet};

/// The most lanes of a tile.
const MOST: u64 = 64;

/// What of a kernel is in vectors.
#[derive(Debug, Default)]
pub(super) struct Held {
    /// The lanes of a vector.
    lanes: u64,
    /// Local rows that only loops in vectors use, with how many vectors they are.
    rows: BTreeMap<ArrayId, u64>,
    /// How many elements rows have that are loaded and stored under masks, with the vectors that hold them.
    lengths: BTreeMap<VariableId, Vectors>,
    /// The names of the masks, once they are declared.
    masks: BTreeMap<VariableId, Ident>,
}

/// The vectors that hold a row.
#[derive(Debug, Clone, Copy)]
struct Vectors {
    count: u64,
    /// How many are known to have an element in each lane.
    full: u64,
}

impl Held {
    pub(super) fn of(kernel: &Kernel) -> Self {
        let lanes = vectors::lanes(kernel);
        let mut held = Self { lanes, lengths: lengths(kernel, lanes), ..Self::default() };
        if held.lengths.is_empty() {
            return held;
        }
        let mut rows: BTreeMap<ArrayId, BTreeSet<Option<u64>>> = BTreeMap::new();
        kernel.body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Statement::Allocate { array, length, .. } = statement {
                    let count = match (length, kernel.array(*array).element) {
                        (Expr::Index(length), ArrayElement::Value(ElementType::F32 | ElementType::F64)) => {
                            count(*length, lanes)
                        }
                        _ => None,
                    };
                    rows.entry(*array).or_default().insert(count);
                }
            });
        });
        let is_one = |(array, counts): (ArrayId, BTreeSet<Option<u64>>)| {
            let count = counts.first().copied().flatten()?;
            (counts.len() == 1 && kernel.array(array).role == ArrayRole::Local).then_some((array, count))
        };
        held.rows = rows.into_iter().filter_map(is_one).collect();
        // A loop that is not in vectors takes rows out, which may take others.
        loop {
            let mut spoiled = BTreeSet::new();
            kernel.body.iter().for_each(|statement| held.find_spoiled(kernel, statement, &mut spoiled));
            let before = held.rows.len();
            held.rows.retain(|row, _| !spoiled.contains(row));
            if held.rows.len() == before {
                return held;
            }
        }
    }

    /// The arrays that a statement uses in another way than as vectors.
    fn find_spoiled(&self, kernel: &Kernel, statement: &Statement, spoiled: &mut BTreeSet<ArrayId>) {
        if let (Some(count), Statement::For { body, .. }) = (self.holds(kernel, statement), statement) {
            let mut see = |array: ArrayId| {
                if self.rows.get(&array).is_some_and(|own| *own != count) {
                    spoiled.insert(array);
                }
            };
            arrays(body, &mut see);
            return;
        }
        match statement {
            Statement::Allocate { .. } | Statement::Fill(..) => {}
            Statement::View { of, .. } => spoiled.extend([*of]),
            Statement::Parallel(parallel) => spoiled.extend(parallel.sharing.iter().map(|(array, _)| *array)),
            other => spoiled.extend(other.written_array()),
        }
        statement.for_each_expr(&mut |expr| {
            expr.for_each(&mut |expr| {
                expr.for_each_array(&mut |array| spoiled.extend([array]));
            });
        });
        statement.blocks().into_iter().flatten().for_each(|inner| self.find_spoiled(kernel, inner, spoiled));
    }

    /// How many vectors a loop goes through, if it is printed as vectors.
    pub(super) fn holds(&self, kernel: &Kernel, statement: &Statement) -> Option<u64> {
        if self.lengths.is_empty() {
            return None;
        }
        let Statement::For { variable, begin: Expr::Index(0), end, vector: true, body } = statement else {
            return None;
        };
        let found = match end {
            Expr::Variable(length) => self.lengths.get(length).map(|vectors| vectors.count),
            Expr::Index(length) => {
                // Without masks, there are vectors of local rows alone.
                let mut all = true;
                arrays(body, &mut |array| all &= self.rows.contains_key(&array));
                count(*length, self.lanes).filter(|_| all)
            }
            _ => None,
        };
        found.filter(|_| vectors::hold(kernel, body, *variable))
    }

    /// Whether rows of a length are loaded and stored under masks.
    pub(super) fn has_length(&self, length: &Expr) -> bool {
        matches!(length, Expr::Variable(length) if self.lengths.contains_key(length))
    }

    /// How many vectors a local row is.
    pub(super) fn count(&self, array: ArrayId) -> Option<u64> {
        self.rows.get(&array).copied()
    }
}

/// How many vectors so many elements are, if no part of one is left.
fn count(elements: u64, lanes: u64) -> Option<u64> {
    (elements.is_multiple_of(lanes) && (1..=MOST).contains(&elements)).then_some(elements / lanes)
}

/// The variables that say how long a tile is: the lesser of what is left of a row and the width of a tile, behind a condition that
/// says what it is more than.
fn lengths(kernel: &Kernel, lanes: u64) -> BTreeMap<VariableId, Vectors> {
    let bounded = kernel.bounded();
    let mut found = BTreeMap::new();
    let mut see_block = |more_than: Option<(&Expr, u64)>, block: &[Statement]| {
        for statement in block {
            if let Statement::Let(variable, Expr::Binary(BinaryOperator::Minimum, left, _)) = statement
                && let Some(count) = bounded.get(variable).and_then(|most| count(*most, lanes))
            {
                let fewer = more_than.filter(|(length, _)| *length == &**left).map_or(0, |(_, fewer)| fewer);
                found.insert(*variable, Vectors { count, full: (fewer / lanes).min(count) });
            }
        }
    };
    let mut see = |statement: &Statement| {
        let Statement::If(branches, otherwise) = statement else { return };
        for (condition, block) in branches {
            let more_than = match condition {
                Expr::Binary(BinaryOperator::Less, fewer, length) => match **fewer {
                    Expr::Index(fewer) => Some((&**length, fewer)),
                    _ => None,
                },
                _ => None,
            };
            see_block(more_than, block);
        }
        see_block(None, otherwise);
    };
    kernel.body.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// Calls `visit` on each array that the statements of a loop over a row read or write.
fn arrays(body: &[Statement], visit: &mut dyn FnMut(ArrayId)) {
    for statement in body {
        statement.written_array().into_iter().for_each(&mut *visit);
        statement.for_each_expr(&mut |expr| expr.for_each(&mut |expr| expr.for_each_array(visit)));
    }
}

/// A loop that is printed in vectors.
struct Loop<'a> {
    counter: VariableId,
    length: &'a Expr,
    /// The name of what runs over the vectors.
    vector: Ident,
    body: &'a [Statement],
}

impl Loop<'_> {
    fn writes(&self, array: ArrayId) -> bool {
        self.body.iter().any(|statement| statement.written_array() == Some(array))
    }
}

impl Printer<'_> {
    /// The masks of rows of a length, behind its declaration.
    pub(super) fn masks_of(&mut self, length: VariableId) -> TokenStream {
        let Some(&Vectors { count, full }) = self.held.lengths.get(&length) else { return TokenStream::new() };
        let (helpers, count, full, name) =
            (&self.options.parallel, number(count), number(full), &self.variables[&length]);
        let masks = ident(&self.namer.name("masks"));
        let ty = ident(&format!("Masks{}", self.held.lanes));
        let tokens = quote!(let #masks = #helpers::#ty::<#count, #full>::of(#name););
        self.held.masks.insert(length, masks);
        tokens
    }

    /// A local row, each of whose elements is the same.
    pub(super) fn filled(&self, array: ArrayId, fill: &Expr) -> TokenStream {
        let count = number(self.held.rows[&array]);
        let (ty, fill) = (self.vector_of(self.array_element(array)), self.stored(array, fill));
        quote!([#ty::splat(#fill); #count])
    }

    /// The loop over a row, in vectors.
    pub(super) fn in_vectors(&mut self, counter: VariableId, end: &Expr, body: &[Statement]) -> TokenStream {
        let count = match end {
            Expr::Variable(length) => self.held.lengths[length].count,
            Expr::Index(length) => length / self.held.lanes,
            _ => unreachable!("such loops are held by vectors"),
        };
        self.namer.enter();
        let vector = ident(&self.namer.name("vector"));
        let row = Loop { counter, length: end, vector: vector.clone(), body };
        let statements: Vec<TokenStream> =
            body.iter().map(|statement| self.vector_statement(&row, statement)).collect();
        self.namer.leave();
        let count = number(count);
        quote!(for #vector in 0..#count { #(#statements)* })
    }

    fn vector_statement(&self, row: &Loop<'_>, statement: &Statement) -> TokenStream {
        match statement {
            Statement::Store(array, index, value) => {
                let value = self.in_lanes(row, value);
                self.store(row, *array, index, &value)
            }
            Statement::Reduce(array, index, operator, value) => {
                let current = self.element_in_lanes(row, *array, index);
                let element = self.array_element(*array);
                let value = match factors(*operator, element, value).filter(|_| !reads(value, *array)) {
                    Some((one, other)) => {
                        let (one, other) = (self.in_lanes(row, one), self.in_lanes(row, other));
                        quote!(#one.times_plus(#other, #current))
                    }
                    None => {
                        let value = self.in_lanes(row, value);
                        let method = ident(match operator {
                            ReduceOperator::Add => "plus",
                            ReduceOperator::Multiply => "times",
                            ReduceOperator::Min => "lesser",
                            ReduceOperator::Max => "greater",
                            _ => unreachable!("vectors hold no others"),
                        });
                        quote!(#current.#method(#value))
                    }
                };
                self.store(row, *array, index, &value)
            }
            _ => TokenStream::new(),
        }
    }

    fn store(&self, row: &Loop<'_>, array: ArrayId, index: &Expr, value: &TokenStream) -> TokenStream {
        let vector = &row.vector;
        if self.held.count(array).is_some() {
            let name = &self.arrays[&array];
            return quote!(#name[#vector] = #value;);
        }
        let (elements, masks) = (self.elements(row, array, index), self.masks(row));
        quote!(#value.store(&mut #elements, &#masks, #vector);)
    }

    fn masks(&self, row: &Loop<'_>) -> &Ident {
        let Expr::Variable(length) = row.length else { unreachable!("rows in memory have masks") };
        &self.held.masks[length]
    }

    /// The elements of a row in memory.
    fn elements(&self, row: &Loop<'_>, array: ArrayId, index: &Expr) -> TokenStream {
        let name = &self.arrays[&array];
        let base = vectors::base(index, row.counter).expect("vectors hold elements side by side");
        let end = self.expr(&base.clone().plus(row.length.clone()));
        let begin = if base == Expr::Index(0) { TokenStream::new() } else { self.expr(&base) };
        quote!(#name[#begin..#end])
    }

    fn element_in_lanes(&self, row: &Loop<'_>, array: ArrayId, index: &Expr) -> TokenStream {
        let vector = &row.vector;
        if self.held.count(array).is_some() {
            let name = &self.arrays[&array];
            return quote!(#name[#vector]);
        }
        let (elements, masks) = (self.elements(row, array, index), self.masks(row));
        let ty = self.vector_of(self.array_element(array));
        let load = ident(if row.writes(array) { "load_written" } else { "load" });
        quote!(#ty::#load(&#elements, &#masks, #vector))
    }

    /// An expression's values in a vector.
    fn in_lanes(&self, row: &Loop<'_>, value: &Expr) -> TokenStream {
        let element = vectors::number(self.kernel, value);
        let method = |name: &str, left: &Expr, right: &Expr| {
            let (left, name, right) = (self.in_lanes(row, left), ident(name), self.in_lanes(row, right));
            quote!(#left.#name(#right))
        };
        match value {
            value if !value.uses(row.counter) => {
                let (ty, value) = (self.vector_of(element), self.expr(value));
                quote!(#ty::splat(#value))
            }
            Expr::Load(array, index) => self.element_in_lanes(row, *array, index),
            Expr::Cast(_, operand) => {
                let converted = self.in_lanes(row, operand);
                match (vectors::number(self.kernel, operand), element) {
                    (Some(ElementType::F32), Some(ElementType::F64)) => quote!(#converted.widened()),
                    (Some(ElementType::F64), Some(ElementType::F32)) => quote!(#converted.rounded()),
                    _ => converted,
                }
            }
            Expr::Unary(_, operand) => {
                let operand = self.in_lanes(row, operand);
                quote!(#operand.negated())
            }
            Expr::Binary(operator, left, right) => {
                let name = match operator {
                    BinaryOperator::Add => "plus",
                    BinaryOperator::Subtract => "minus",
                    BinaryOperator::Multiply => "times",
                    BinaryOperator::Divide => "over",
                    BinaryOperator::Minimum => "lesser",
                    BinaryOperator::Maximum => "greater",
                    _ => unreachable!("vectors hold no others"),
                };
                method(name, left, right)
            }
            Expr::Call(function, operands) => {
                let name = if *function == Function::Min { "lesser" } else { "greater" };
                method(name, &operands[0], &operands[1])
            }
            _ => unreachable!("vectors hold no others"),
        }
    }

    /// The type of vectors of some elements.
    fn vector_of(&self, element: Option<ElementType>) -> TokenStream {
        let helpers = &self.options.parallel;
        let ty = if element == Some(ElementType::F32) { "f32" } else { "f64" };
        let name = ident(&format!("{ty}x{}", self.held.lanes));
        quote!(#helpers::#name)
    }
}
