//! Arrays of indices: an access that stands as an index of another.
//!
//! Such an array is a tensor with one mode more, which has one entry for each of its own indices: `src(e, n)` where `src(e)` is `n`. An
//! access at `src(e)` is the product with it:
//!
//! ```text
//! y(e) = x(src(e))            →      y(e) = sum(src_1)(select(stored(src(e, src_1)), x(src_1), 0))
//! y(dst(e)) += w(e)           →      y(dst_1) += sum(e)(select(stored(dst(e, dst_1)), w(e), 0))
//! y(dst(e)) max= w(e)         →      y(dst_1) max= w(e) where dst(e, dst_1)
//! ```

use super::extents::for_each_access;
use super::functions::STORED;
use super::uses;
use crate::diagnostics::Span;
use crate::ir::ReduceOperator;
use crate::syntax::{Access, AssignOperator, BinaryOperator, Expr, ExprKind, FormatExpr, Ident, Index, Statement};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The format of an array of indices of which nothing says how it is stored.
pub(super) fn format() -> &'static FormatExpr {
    static FORMAT: OnceLock<FormatExpr> = OnceLock::new();
    FORMAT.get_or_init(|| crate::syntax::parse_format("map").expect("it is a name"))
}

/// The statements with products in the places of accesses at stored indices, and the names of the arrays; `is_tensor` says whether a
/// name that is none of a function stands for a tensor.
pub(super) fn expand(body: &mut [Statement], is_tensor: &dyn Fn(&str) -> bool) -> BTreeSet<String> {
    let mut arrays = BTreeSet::new();
    for statement in body.iter_mut() {
        let mut names = BTreeSet::new();
        for_each_access(statement, &mut |access| {
            names.insert(access.name.name.clone());
        });
        names.extend(uses::index_names(statement).into_iter().map(|name| name.name.clone()));
        let mut expansion = Expansion { names, is_tensor, arrays: &mut arrays };
        expansion.statement(statement);
    }
    arrays
}

/// A place in an array of indices, with the variable that stands for what is stored there.
#[derive(Clone)]
struct Place {
    /// The array at its own indices.
    array: Access,
    variable: Ident,
}

impl Place {
    /// `src(e, src_1)`
    fn entry(&self) -> Access {
        let mut access = self.array.clone();
        let variable = Expr { kind: ExprKind::Name(self.variable.clone()), span: self.variable.span };
        access.indices.push(Index::Expr(variable));
        access
    }

    /// `stored(src(e, src_1))`
    fn condition(&self) -> Expr {
        let span = self.array.span;
        let entry = Expr { kind: ExprKind::Access(self.entry()), span };
        Expr { kind: ExprKind::Call(Ident { name: STORED.to_owned(), span }, vec![entry]), span }
    }
}

struct Expansion<'a> {
    /// The names in the statement.
    names: BTreeSet<String>,
    is_tensor: &'a dyn Fn(&str) -> bool,
    arrays: &'a mut BTreeSet<String>,
}

impl Expansion<'_> {
    fn statement(&mut self, statement: &mut Statement) {
        let mut of_target = Vec::new();
        self.access(&mut statement.target, &mut of_target);
        let mut of_mask = Vec::new();
        if let Some(mask) = &mut statement.mask {
            self.access(mask, &mut of_mask);
        }
        if let Some(condition) = &mut statement.condition {
            self.places_of(condition, &mut of_mask);
        }
        let is_sum = matches!(statement.operator, AssignOperator::Assign | AssignOperator::Reduce(ReduceOperator::Add));
        let is_chosen = statement.mask.is_some() || statement.condition.is_some();
        let mut own: BTreeSet<String> =
            uses::names_in(&statement.target).iter().map(|name| name.name.clone()).collect();
        if is_chosen {
            own.extend(uses::index_names(statement).into_iter().map(|name| name.name.clone()));
        }
        let (known, outside) = match is_sum && !is_chosen {
            true => (Vec::new(), of_target.clone()),
            false => (of_target.clone(), Vec::new()),
        };
        self.terms(&mut statement.value, is_sum, &known, &outside, &own);
        let chosen = if is_sum && !is_chosen { of_mask } else { [of_target, of_mask].concat() };
        for place in chosen {
            choose(statement, &place);
        }
    }

    /// Each term with the places in it, and those `outside`, as factors. Those that are `known` are conditions of the statement; the
    /// indices in `own` are not summed here.
    fn terms(&mut self, expr: &mut Expr, is_sum: bool, known: &[Place], outside: &[Place], own: &BTreeSet<String>) {
        match &mut expr.kind {
            ExprKind::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) if is_sum => {
                self.terms(left, is_sum, known, outside, own);
                self.terms(right, is_sum, known, outside, own);
            }
            ExprKind::Unary(crate::syntax::UnaryOperator::Negate, operand) if is_sum => {
                self.terms(operand, is_sum, known, outside, own);
            }
            _ => {
                let mut places = [known, outside].concat();
                self.places_of(expr, &mut places);
                let inner: Vec<Place> = places.split_off(known.len());
                if !inner.is_empty() {
                    let mut bound: Vec<Ident> = Vec::new();
                    for place in &inner {
                        let names = uses::names_in(&place.array).into_iter().chain([&place.variable]);
                        for name in names.filter(|name| !own.contains(&name.name)) {
                            if bound.iter().all(|bound| bound.name != name.name) {
                                bound.push(name.clone());
                            }
                        }
                    }
                    // What other reductions are over is summed by the statement.
                    let bound =
                        bound.into_iter().filter(|name| is_sum || inner.iter().any(|place| place.variable == *name));
                    wrap(expr, &inner, bound.collect());
                }
            }
        }
    }

    /// Puts variables in the places of stored indices, and adds those places that are not there yet. Those in a reduction are its own.
    fn places_of(&mut self, expr: &mut Expr, places: &mut Vec<Place>) {
        match &mut expr.kind {
            ExprKind::Number { .. } | ExprKind::Bool(_) | ExprKind::Name(_) => {}
            ExprKind::Access(access) => self.access(access, places),
            ExprKind::Unary(_, operand) => self.places_of(operand, places),
            ExprKind::Binary(_, left, right) => {
                self.places_of(left, places);
                self.places_of(right, places);
            }
            ExprKind::Call(_, arguments) => arguments.iter_mut().for_each(|argument| self.places_of(argument, places)),
            ExprKind::Reduce { variables, body, .. } => {
                let mut inner = places.clone();
                let outer = inner.len();
                self.places_of(body, &mut inner);
                let new = inner.split_off(outer);
                // What does not change with the variables of the reduction is found outside of it.
                let depends = |place: &Place, on: &[Ident]| {
                    uses::names_in(&place.array).iter().any(|name| on.iter().any(|on| on.name == name.name))
                };
                let mut bound = variables.clone();
                let mut own: Vec<Place> = Vec::new();
                for place in new {
                    match depends(&place, &bound) {
                        true => {
                            bound.push(place.variable.clone());
                            own.push(place);
                        }
                        false => places.push(place),
                    }
                }
                if !own.is_empty() {
                    let bound = own.iter().map(|place| place.variable.clone()).collect();
                    wrap(body, &own, bound);
                }
            }
        }
    }

    fn access(&mut self, access: &mut Access, places: &mut Vec<Place>) {
        let nested = |index: &Index| matches!(index, Index::Expr(expr) if holds_access(expr));
        let value = |index: &Index| matches!(index, Index::Expr(expr) if is_value(expr));
        let is_call = access.indices.iter().any(value) || !(self.is_tensor)(&access.name.name);
        if is_call || !access.indices.iter().any(nested) {
            return;
        }
        for index in &mut access.indices {
            if let Index::Expr(expr) = index {
                self.index(expr, places);
            }
        }
    }

    fn index(&mut self, expr: &mut Expr, places: &mut Vec<Place>) {
        match &mut expr.kind {
            ExprKind::Access(access) if !access.indices.is_empty() => {
                self.arrays.insert(access.name.name.clone());
                for index in &mut access.indices {
                    if let Index::Expr(inner) = index {
                        self.index(inner, places);
                    }
                }
                let text = access.to_string();
                let known =
                    places.iter().find(|place| place.array.to_string() == text).map(|place| place.variable.clone());
                let variable = known.unwrap_or_else(|| {
                    let variable = self.fresh(&access.name);
                    places.push(Place { array: access.clone(), variable: variable.clone() });
                    variable
                });
                expr.kind = ExprKind::Name(variable);
            }
            ExprKind::Unary(_, operand) => self.index(operand, places),
            ExprKind::Binary(_, left, right) => {
                self.index(left, places);
                self.index(right, places);
            }
            _ => {}
        }
    }

    /// A name for what an array stores that nothing in the statement has.
    fn fresh(&mut self, array: &Ident) -> Ident {
        let mut candidates = (1..).map(|number| format!("{}_{number}", array.name));
        let name = candidates.find(|name| !self.names.contains(name)).unwrap_or_default();
        self.names.insert(name.clone());
        Ident { name, span: array.span }
    }
}

/// Whether a product of names stands in an index, which is none, but may be the argument of a function.
fn is_value(expr: &Expr) -> bool {
    let has_names = |expr: &Expr| {
        let mut names = Vec::new();
        uses::names_of_expr(expr, &mut names);
        matches!(expr.kind, ExprKind::Name(_)) || !names.is_empty()
    };
    matches!(&expr.kind, ExprKind::Binary(BinaryOperator::Multiply, left, right) if has_names(left) && has_names(right))
        || expr.children().into_iter().any(is_value)
}

fn holds_access(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Access(access) if !access.indices.is_empty())
        || expr.children().into_iter().any(holds_access)
}

/// `sum(bound)(select(stored(…) && stored(…), expr, 0))`
fn wrap(expr: &mut Expr, places: &[Place], bound: Vec<Ident>) {
    let span = expr.span;
    let Some(condition) = places.iter().map(Place::condition).reduce(|left, right| both(left, right, span)) else {
        return;
    };
    let number = |kind| Expr { kind, span };
    let zero = number(ExprKind::Number { digits: "0".to_owned(), suffix: None });
    let value = std::mem::replace(expr, zero.clone());
    let chosen = number(ExprKind::Call(Ident { name: "select".to_owned(), span }, vec![condition, value, zero]));
    *expr = match bound.is_empty() {
        true => chosen,
        false => number(ExprKind::Reduce {
            operator: ReduceOperator::Add,
            place: false,
            variables: bound,
            body: Box::new(chosen),
        }),
    };
}

/// Adds `where src(e, src_1)`.
fn choose(statement: &mut Statement, place: &Place) {
    let entry = place.entry();
    if statement.mask.is_none() && statement.condition.is_none() {
        statement.mask = Some(entry);
        return;
    }
    let span = entry.span;
    let entry = Expr { kind: ExprKind::Access(entry), span };
    statement.condition = Some(match statement.condition.take() {
        Some(condition) => both(condition, entry, span),
        None => entry,
    });
}

fn both(left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(BinaryOperator::And, Box::new(left), Box::new(right)), span }
}
