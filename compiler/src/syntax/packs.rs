//! Packs of indices: lines for tensors of any order.
//!
//! `i...` stands for as many indices as a tensor has modes in its place; so one line serves every order:
//!
//! ```text
//! y(i...) = X(i..., k) * v(k), X of order 3      →      y(i1, i2) = X(i1, i2, k) * v(k)
//! ```
//!
//! A pack belongs to its statement, and stands for as many indices everywhere in it. What is known of some tensors tells the rest: an
//! access with one pack that is unknown and a tensor of known order gives the pack, one whose packs are known the tensor's order. A
//! tensor without a mode left for its packs gives them all: they stand for none.

use super::ast::*;
use crate::diagnostics::codes::notation as codes;
use crate::diagnostics::{Diagnostic, Diagnostics, words};
use std::collections::{BTreeMap, BTreeSet};

/// Puts indices in the places of packs, where the orders of tensors tell how many; `order` is what is known of them. Packs of which
/// nothing is known stay.
///
/// # Errors
/// Packs that stand for several numbers of indices.
pub fn expand(body: &mut [Statement], order: &dyn Fn(&str) -> Option<usize>) -> Result<(), Diagnostics> {
    if !body.iter().any(|statement| first(statement).is_some()) {
        return Ok(());
    }
    let mut found = Diagnostics::new();
    let lengths = lengths(body, order, &mut found);
    if !found.is_empty() {
        return Err(found);
    }
    let names = names(body);
    for (statement, lengths) in body.iter_mut().zip(&lengths) {
        let known: BTreeMap<String, Vec<String>> =
            lengths.iter().map(|(pack, &length)| (pack.clone(), indices(pack, length, &names))).collect();
        put(statement, &known);
    }
    Ok(())
}

/// The packs that are left in statements: for how many indices these stand is not known.
pub fn left(body: &[Statement]) -> Diagnostics {
    let packs = body.iter().filter_map(first);
    let unknown = packs.map(|(pack, tensor)| {
        let message = format!("nothing tells for how many indices `{}` stands", pack.name);
        let problem = Diagnostic::new(codes::UNKNOWN_PACK, pack.span, message).label("as many as there are modes");
        let Some(tensor) = tensor else { return problem.help("write it as an index of a tensor too") };
        problem.help(format!(
            "say how many modes a tensor has, as in `{tensor}: csf order 3`, or give a file of it, as in `-i {tensor}=x.tns`"
        ))
    });
    unknown.collect()
}

/// How many indices each pack of each statement stands for, where that can be told.
fn lengths(
    body: &[Statement],
    order: &dyn Fn(&str) -> Option<usize>,
    found: &mut Diagnostics,
) -> Vec<BTreeMap<String, usize>> {
    let accesses: Vec<Vec<Access>> = body.iter().map(accesses).collect();
    let mut orders: BTreeMap<String, usize> = BTreeMap::new();
    let mut lengths: Vec<BTreeMap<String, usize>> = vec![BTreeMap::new(); body.len()];
    for access in accesses.iter().flatten() {
        let name = &access.name.name;
        let written = packs(access).is_empty().then_some(access.indices.len());
        if let Some(known) = order(name).or(written) {
            orders.entry(name.clone()).or_insert(known);
        }
    }
    loop {
        let before = (orders.len(), lengths.iter().map(BTreeMap::len).sum::<usize>());
        for (accesses, lengths) in accesses.iter().zip(&mut lengths) {
            for access in accesses.iter().filter(|access| !packs(access).is_empty()) {
                if let Err(problem) = settle(access, &mut orders, lengths) {
                    found.push(problem);
                    return Vec::new();
                }
            }
        }
        if before == (orders.len(), lengths.iter().map(BTreeMap::len).sum::<usize>()) {
            return lengths;
        }
    }
}

/// What an access tells: its pack, or the order of its tensor.
fn settle(
    access: &Access,
    orders: &mut BTreeMap<String, usize>,
    lengths: &mut BTreeMap<String, usize>,
) -> Result<(), Diagnostic> {
    let packs = packs(access);
    let plain = access.indices.len() - packs.len();
    let known: usize = packs.iter().filter_map(|pack| lengths.get(&pack.name)).sum();
    let unknown: Vec<&Ident> = packs.iter().filter(|pack| !lengths.contains_key(&pack.name)).copied().collect();
    let Some(&order) = orders.get(&access.name.name) else {
        if unknown.is_empty() {
            orders.insert(access.name.name.clone(), plain + known);
        }
        return Ok(());
    };
    let wrong = |needed: usize| {
        let (name, modes) = (&access.name.name, words::count(order, "mode"));
        let message = format!("`{name}` has {modes}, and `{access}` needs {needed}");
        let least = if unknown.is_empty() { "" } else { "at least " };
        Diagnostic::new(codes::UNKNOWN_PACK, access.span, message)
            .label(format!("{least}{}", words::count(needed, "index")))
            .help("a pack stands for as many indices everywhere in its statement")
    };
    let Some(left) = order.checked_sub(plain + known) else { return Err(wrong(plain + known)) };
    match unknown.first() {
        None if left > 0 => Err(wrong(plain + known)),
        Some(_) if left == 0 => {
            lengths.extend(unknown.iter().map(|pack| (pack.name.clone(), 0)));
            Ok(())
        }
        Some(pack) if unknown.iter().all(|other| other.name == pack.name) => {
            if left % unknown.len() != 0 {
                return Err(wrong(plain + known + left / unknown.len() * unknown.len()));
            }
            lengths.insert(pack.name.clone(), left / unknown.len());
            Ok(())
        }
        _ => Ok(()),
    }
}

/// `i1, i2` for `i...`, with other names where these are taken.
fn indices(pack: &str, length: usize, taken: &BTreeSet<String>) -> Vec<String> {
    let name = pack.trim_end_matches(PACK);
    let numbered = |marks: usize| -> Vec<String> {
        (1..=length).map(|number| format!("{name}{}{number}", "_".repeat(marks))).collect()
    };
    let mut candidates = (0..).map(numbered);
    candidates.find(|names| !names.iter().any(|name| taken.contains(name))).unwrap_or_default()
}

fn packs(access: &Access) -> Vec<&Ident> {
    access.indices.iter().filter_map(pack).collect()
}

fn pack(index: &Index) -> Option<&Ident> {
    match index {
        Index::Expr(Expr { kind: ExprKind::Name(name), .. }) if name.is_pack() => Some(name),
        _ => None,
    }
}

/// The first pack of a statement, with the tensor that it is an index of; none where it follows a reduction alone.
fn first(statement: &Statement) -> Option<(Ident, Option<String>)> {
    let read = accesses(statement).into_iter().rev();
    let of_access = |access: Access| packs(&access).first().map(|&pack| (pack.clone(), Some(access.name.name.clone())));
    let reduced = || variables(&statement.value).into_iter().find(|name| name.is_pack()).map(|name| (name, None));
    read.into_iter().find_map(of_access).or_else(reduced)
}

/// Every access of a statement.
fn accesses(statement: &Statement) -> Vec<Access> {
    let mut found = vec![statement.target.clone()];
    for expr in [&statement.value].into_iter().chain(&statement.condition) {
        collect(expr, &mut |expr| {
            if let ExprKind::Access(access) = &expr.kind {
                found.push(access.clone());
            }
        });
    }
    found.extend(statement.mask.clone());
    found
}

/// The variables of all reductions.
fn variables(value: &Expr) -> Vec<Ident> {
    let mut found = Vec::new();
    collect(value, &mut |expr| {
        if let ExprKind::Reduce { variables, .. } = &expr.kind {
            found.extend(variables.iter().cloned());
        }
    });
    found
}

/// Visits every part of an expression.
fn collect(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    if let ExprKind::Access(access) = &expr.kind {
        for index in &access.indices {
            match index {
                Index::Expr(expr) => collect(expr, visit),
                Index::Range { start, end, .. } => [start, end].into_iter().for_each(|expr| collect(expr, visit)),
            }
        }
    }
    expr.children().into_iter().for_each(|child| collect(child, visit));
}

/// Every name in some statements.
fn names(body: &[Statement]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for statement in body {
        for access in accesses(statement) {
            names.insert(access.name.name.clone());
            let whole = Expr { span: access.span, kind: ExprKind::Access(access) };
            collect(&whole, &mut |expr| {
                if let ExprKind::Name(name) = &expr.kind {
                    names.insert(name.name.clone());
                }
            });
        }
        for expr in [&statement.value].into_iter().chain(&statement.condition) {
            collect(expr, &mut |expr| {
                if let ExprKind::Name(name) = &expr.kind {
                    names.insert(name.name.clone());
                }
            });
        }
        names.extend(variables(&statement.value).into_iter().map(|name| name.name));
    }
    names
}

type Known = BTreeMap<String, Vec<String>>;

fn put(statement: &mut Statement, known: &Known) {
    put_in_access(&mut statement.target, known);
    put_in_expr(&mut statement.value, known);
    statement.mask.iter_mut().for_each(|mask| put_in_access(mask, known));
    statement.condition.iter_mut().for_each(|condition| put_in_expr(condition, known));
}

fn put_in_access(access: &mut Access, known: &Known) {
    let indices = std::mem::take(&mut access.indices);
    for mut index in indices {
        match pack(&index).and_then(|pack| Some((known.get(&pack.name)?, pack.span))) {
            Some((names, span)) => access.indices.extend(names.iter().map(|name| {
                let name = Ident { name: name.clone(), span };
                Index::Expr(Expr { kind: ExprKind::Name(name), span })
            })),
            None => {
                if let Index::Expr(expr) = &mut index {
                    put_in_expr(expr, known);
                }
                access.indices.push(index);
            }
        }
    }
}

fn put_in_expr(expr: &mut Expr, known: &Known) {
    match &mut expr.kind {
        ExprKind::Number { .. } | ExprKind::Bool(_) | ExprKind::Name(_) => {}
        ExprKind::Access(access) => put_in_access(access, known),
        ExprKind::Unary(_, operand) => put_in_expr(operand, known),
        ExprKind::Binary(_, left, right) => {
            put_in_expr(left, known);
            put_in_expr(right, known);
        }
        ExprKind::Call(_, arguments) => arguments.iter_mut().for_each(|argument| put_in_expr(argument, known)),
        ExprKind::Reduce { variables, body, place, .. } => {
            put_in_expr(body, known);
            let of = |variable: Ident| match known.get(&variable.name) {
                Some(names) => {
                    names.iter().map(|name| Ident { name: name.clone(), span: variable.span }).collect::<Vec<_>>()
                }
                None => vec![variable],
            };
            *variables = std::mem::take(variables).into_iter().flat_map(of).collect();
            if variables.is_empty() && !*place {
                // Over no index: what is reduced, once.
                *expr = Expr { span: expr.span, ..(**body).clone() };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parse_statement;

    fn expanded(text: &str, orders: &[(&str, usize)]) -> String {
        let mut body = vec![parse_statement(text).unwrap_or_else(|found| panic!("{text}: {found:?}"))];
        assert_eq!(parse_statement(&body[0].to_string()).unwrap().to_string(), body[0].to_string());
        let order = |name: &str| orders.iter().find(|(known, _)| *known == name).map(|(_, order)| *order);
        match expand(&mut body, &order) {
            Err(found) => found.into_sorted().remove(0).message,
            Ok(()) => match left(&body).into_sorted().into_iter().next() {
                Some(problem) => problem.message,
                None => body[0].to_string(),
            },
        }
    }

    #[test]
    fn packs_are_as_long_as_orders_say() {
        for (text, orders, expected) in [
            ("Y(i...) = X(i...) * alpha", &[("X", 3)][..], "Y(i1, i2, i3) = X(i1, i2, i3) * alpha"),
            ("Y(i...) = X(i...) * alpha", &[("Y", 1)], "Y(i1) = X(i1) * alpha"),
            ("Y(i...) = X(i...) + Z(i...) where M(i...)", &[("M", 1)], "Y(i1) = X(i1) + Z(i1) where M(i1)"),
            ("y(i...) = X(i..., k) * v(k)", &[("X", 3)], "y(i1, i2) = X(i1, i2, k) * v(k)"),
            ("y(i...) = X(i..., k) * v(k)", &[("X", 1)], "y = X(k) * v(k)"),
            ("Y(i..., j...) = A(i...) * B(j...)", &[("A", 1), ("Y", 3)], "Y(i1, j1, j2) = A(i1) * B(j1, j2)"),
            ("s = sum(i...)(X(i...) * X(i...))", &[("X", 2)], "s = sum(i1, i2)(X(i1, i2) * X(i1, i2))"),
            ("s = sum(i...)(X(i...))", &[("X", 0)], "s = X()"),
            ("d(i...) = A(i..., i...)", &[("A", 4)], "d(i1, i2) = A(i1, i2, i1, i2)"),
            ("d(i...) = A(i..., i...)", &[("A", 3)], "`A` has 3 modes, and `A(i..., i...)` needs 2"),
            ("Y(i...) = X(i..., i1) * i_1", &[("X", 3)], "Y(i__1, i__2) = X(i__1, i__2, i1) * i_1"),
            ("y(k) = X(i..., j..., k)", &[("X", 1)], "y(k) = X(k)"),
            ("Y(i...) = X(i..., k)", &[("X", 0)], "`X` has 0 modes, and `X(i..., k)` needs 1"),
            ("Y(i...) = X(i...) + Z(i...)", &[("X", 2), ("Z", 3)], "`Z` has 3 modes, and `Z(i...)` needs 2"),
            ("Y(i...) = X(i...)", &[], "nothing tells for how many indices `i...` stands"),
        ] {
            assert_eq!(expanded(text, orders), expected, "{text}");
        }
    }
}
