//! Indices that are probably a mistake: warnings, each with the words that say it is none.
//!
//! A misspelt index is an index all the same, which the Einstein rule sums over. It shows in a product:
//!
//! ```text
//! y(i) = A(i, jj) * x(j)          each of `jj` and `j` stands in one factor only, and not in the result
//! y(i) = sum(k)(A(i, k)) * a      an explicit reduction is meant, and so is a plain sum of one factor
//! ```

use super::extents::EXTENT;
use super::literal::is_constant;
use super::reduction;
use super::uses::index_exprs;
use crate::diagnostics::{Diagnostic, Diagnostics, codes::warnings as codes, suggest};
use crate::ir::{Domain, Function, ReduceOperator};
use crate::notation::{Tensor, UnaryOperator};
use crate::syntax::error::join;
use crate::syntax::{Access, AssignOperator, BinaryOperator, Expr, ExprKind, Ident, Statement};

/// What is probably not meant in a statement that has a meaning.
pub(super) fn check(statement: &Statement, tensors: &[Tensor], found: &mut Diagnostics) {
    let operator = match statement.operator {
        AssignOperator::Assign => ReduceOperator::Add,
        AssignOperator::Reduce(operator) => operator,
    };
    let mut names = Names { tensors, all: Vec::new() };
    names.of_access(&statement.target);
    let own = names.all.len();
    names.of_expr(&statement.value, &mut Vec::new());
    let read = names.all.len();
    statement.mask.iter().for_each(|mask| names.of_access(mask));
    let all = names.all;
    let (target, mask) = (&all[..own], &all[read..]);
    let of = Of { tensors, operator, all: &all };
    for name in target {
        let is_read = all[own..].iter().any(|other| other.name == name.name);
        if !is_read && !all[own..].is_empty() && !name.name.starts_with('_') {
            found.push(of.repeated(name, &statement.target));
        }
    }
    let mut terms = Vec::new();
    match operator {
        ReduceOperator::Add => additive_terms(&statement.value, &mut terms),
        _ => terms.push(&statement.value),
    }
    for term in terms {
        let mut names = Names { tensors, all: Vec::new() };
        names.of_expr(term, &mut Vec::new());
        let mut seen: Vec<&str> = Vec::new();
        let mut summed: Vec<&str> = Vec::new();
        for name in &names.all {
            let is_known = |known: &[&Ident]| known.iter().any(|known| known.name == name.name);
            if is_known(target) || is_known(mask) || seen.contains(&name.name.as_str()) {
                continue;
            }
            seen.push(&name.name);
            if of.is_alone(term, &name.name) {
                found.push(of.lone(name));
            } else if let Some(similar) = of.slip(name) {
                found.push(of.similar(name, similar));
            } else {
                summed.push(&name.name);
            }
        }
        if statement.operator == AssignOperator::Assign && statement.condition.is_none() {
            of.sums_of_functions(statement, term, &summed, found);
        }
    }
}

/// The terms that are added or subtracted.
fn additive_terms<'e>(expr: &'e Expr, terms: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Unary(UnaryOperator::Negate, operand) => additive_terms(operand, terms),
        ExprKind::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right) => {
            additive_terms(left, terms);
            additive_terms(right, terms);
        }
        _ => terms.push(expr),
    }
}

/// The calls of functions that are not linear and stand in no other such call.
fn nonlinear_calls<'e>(expr: &'e Expr, calls: &mut Vec<(&'e Expr, &'e str)>) {
    match &expr.kind {
        // A sum of absolute values is a norm.
        ExprKind::Call(name, arguments)
            if name.name == "abs" && matches!(arguments[..], [Expr { kind: ExprKind::Access(_), .. }]) => {}
        ExprKind::Call(name, _) if is_nonlinear(&name.name) => calls.push((expr, &name.name)),
        _ => expr.children().into_iter().for_each(|child| nonlinear_calls(child, calls)),
    }
}

/// Whether a function of a sum is another value than the sum of the function. Conversions and what chooses are left out: nobody reads a sum into
/// them.
fn is_nonlinear(name: &str) -> bool {
    let is_linear = |function| matches!(function, Function::Re | Function::Im | Function::Conj | Function::Complex);
    name == "sign" || Function::from_name(name).is_some_and(|function| !is_linear(function))
}

/// Puts another expression in the place of one.
fn replace(expr: &mut Expr, from: &Expr, to: &Expr) {
    if expr == from {
        *expr = to.clone();
        return;
    }
    expr.children_mut().into_iter().for_each(|child| replace(child, from, to));
}

/// The index variables where they stand, but for those of reductions around them.
struct Names<'a, 'e> {
    tensors: &'a [Tensor],
    all: Vec<&'e Ident>,
}

impl<'e> Names<'_, 'e> {
    fn of_expr(&mut self, expr: &'e Expr, bound: &mut Vec<&'e str>) {
        match &expr.kind {
            ExprKind::Name(name) => self.push(name, bound),
            ExprKind::Access(access) => self.of_indices(access, bound),
            ExprKind::Call(name, _) if name.name == EXTENT => {}
            ExprKind::Reduce { variables, body, .. } => {
                let outside = bound.len();
                bound.extend(variables.iter().map(|variable| variable.name.as_str()));
                self.of_expr(body, bound);
                bound.truncate(outside);
            }
            _ => expr.children().into_iter().for_each(|child| self.of_expr(child, bound)),
        }
    }

    fn of_access(&mut self, access: &'e Access) {
        self.of_indices(access, &mut Vec::new());
    }

    fn of_indices(&mut self, access: &'e Access, bound: &mut Vec<&'e str>) {
        index_exprs(access).for_each(|expr| self.of_expr(expr, bound));
    }

    fn push(&mut self, name: &'e Ident, bound: &[&str]) {
        let is_other = is_constant(&name.name) || self.tensors.iter().any(|tensor| tensor.name == name.name);
        if !is_other && !bound.contains(&name.name.as_str()) {
            self.all.push(name);
        }
    }
}

/// A statement whose indices are looked at.
struct Of<'a> {
    tensors: &'a [Tensor],
    /// What reduces over the indices that the result lacks.
    operator: ReduceOperator,
    /// All index variables, where they stand.
    all: &'a [&'a Ident],
}

impl Of<'_> {
    /// Whether all that a term has of an index stands in one factor of a product that has an operand with indices beside it.
    fn is_alone(&self, term: &Expr, name: &str) -> bool {
        let mut factors = Vec::new();
        self.factors(term, &mut factors);
        let mut with_it = factors.iter().enumerate().filter(|(_, factor)| self.has(factor, name));
        let (Some((place, factor)), None) = (with_it.next(), with_it.next()) else { return false };
        let others = || factors.iter().enumerate().filter(|(other, _)| *other != place);
        if others().any(|(_, factor)| self.has_operand(factor)) {
            return true;
        }
        match &factor.kind {
            ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Call(..) | ExprKind::Reduce { .. } => {
                let mut inside = factor.children().into_iter().filter(|child| self.has(child, name));
                let (Some(only), None) = (inside.next(), inside.next()) else { return false };
                self.is_alone(only, name)
            }
            _ => false,
        }
    }

    /// The factors of a product; what is no product is its own.
    fn factors<'e>(&self, expr: &'e Expr, factors: &mut Vec<&'e Expr>) {
        use BinaryOperator::*;
        match &expr.kind {
            ExprKind::Unary(UnaryOperator::Negate, operand) => self.factors(operand, factors),
            ExprKind::Binary(Multiply | Divide | And | BitAnd, left, right) => {
                self.factors(left, factors);
                self.factors(right, factors);
            }
            // As in the products of shortest paths.
            ExprKind::Binary(Add | Subtract, left, right) if self.operator.row().domain == Domain::Ordered => {
                self.factors(left, factors);
                self.factors(right, factors);
            }
            _ => factors.push(expr),
        }
    }

    fn has(&self, expr: &Expr, name: &str) -> bool {
        let mut names = Names { tensors: self.tensors, all: Vec::new() };
        names.of_expr(expr, &mut Vec::new());
        names.all.iter().any(|other| other.name == name)
    }

    /// Whether an expression reads an element at an index variable.
    fn has_operand(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Access(access) => {
                let mut names = Names { tensors: self.tensors, all: Vec::new() };
                names.of_access(access);
                !names.all.is_empty()
            }
            _ => expr.children().into_iter().any(|child| self.has_operand(child)),
        }
    }

    /// Another index of the statement whose name is so near that this one may be a slip, though it does no harm to the shape.
    fn slip(&self, name: &Ident) -> Option<&str> {
        self.near(name).filter(|other| is_slip(&name.name, other))
    }

    /// Another index of the statement that may be meant.
    fn near(&self, name: &Ident) -> Option<&str> {
        let mut others = self.all.iter().map(|other| other.name.as_str()).filter(|other| *other != name.name);
        others.find(|other| is_near(&name.name, other))
    }

    fn lone(&self, name: &Ident) -> Diagnostic {
        let message = format!("the index `{}` stands in one factor only, and not in the result", name.name);
        let warning = Diagnostic::new(codes::LONE_INDEX, name.span, message);
        self.with_remedy(warning.label("this factor is reduced over it, by itself"), name)
    }

    fn similar(&self, name: &Ident, similar: &str) -> Diagnostic {
        let message = format!("the index `{}` is nearly `{similar}`", name.name);
        let warning = Diagnostic::new(codes::SIMILAR_INDEX, name.span, message);
        self.with_remedy(warning.label("reduced over, as the result does not have it"), name)
    }

    /// Warns of functions that a sum may be meant inside of: those that all of a term stands in that has an index which is summed over.
    fn sums_of_functions(&self, statement: &Statement, term: &Expr, summed: &[&str], found: &mut Diagnostics) {
        let count = |expr: &Expr, name: &str| {
            let mut names = Names { tensors: self.tensors, all: Vec::new() };
            names.of_expr(expr, &mut Vec::new());
            names.all.iter().filter(|other| other.name == name).count()
        };
        let mut calls = Vec::new();
        nonlinear_calls(term, &mut calls);
        for (call, function) in calls {
            let is_inside = |name: &&&str| {
                let inside = count(call, name);
                inside > 0 && inside == count(term, name)
            };
            let inside: Vec<&str> = summed.iter().filter(is_inside).copied().collect();
            if inside.is_empty() {
                continue;
            }
            let names: Vec<String> = inside.iter().map(|name| format!("`{name}`")).collect();
            let sum = |of: &Expr| Expr {
                kind: ExprKind::Reduce {
                    operator: ReduceOperator::Add,
                    place: false,
                    variables: inside.iter().map(|name| Ident { name: (*name).to_owned(), span: of.span }).collect(),
                    body: Box::new(of.clone()),
                },
                span: of.span,
            };
            let rewritten = |from: &Expr, to: Expr| {
                let mut statement = statement.clone();
                replace(&mut statement.value, from, &to);
                statement
            };
            let outside = rewritten(term, sum(term));
            let mut within = call.clone();
            if let ExprKind::Call(_, arguments) = &mut within.kind {
                let has_any = |argument: &&mut Expr| inside.iter().any(|name| count(argument, name) > 0);
                arguments.iter_mut().filter(has_any).for_each(|argument| *argument = sum(argument));
            }
            let within = rewritten(call, within);
            let message = format!("the sum over {} is outside of `{function}`", join(&names, "and"));
            found.push(
                Diagnostic::new(codes::SUM_OF_FUNCTION, call.span, message)
                    .label(format!("computed for each {}, and then added", join(&names, "and")))
                    .help(format!("if this is meant, write `{outside}`"))
                    .help(format!("for `{function}` of the sum write `{within}`")),
            );
        }
    }

    fn with_remedy(&self, warning: Diagnostic, name: &Ident) -> Diagnostic {
        let word = reduction::name(self.operator);
        self.with_near(warning, name)
            .help(format!("if this is meant, write `{word}({})(…)` around what is reduced", name.name))
    }

    /// Says which other index may be meant.
    fn with_near(&self, warning: Diagnostic, name: &Ident) -> Diagnostic {
        match self.near(name) {
            Some(near) => warning.help(format!("did you mean `{near}`?")),
            None => warning,
        }
    }

    fn repeated(&self, name: &Ident, target: &Access) -> Diagnostic {
        let message = format!("no operand has the index `{}` of `{}`", name.name, target.name.name);
        let warning = Diagnostic::new(codes::REPEATED_RESULT, name.span, message);
        let warning = warning.label("every element along it is the same");
        self.with_near(warning, name).help(format!("if this is meant, call it `_{}`", name.name))
    }
}

/// Whether one name is a letter more or less than the other, has another letter, or two neighbours swapped. Names of one letter,
/// and those that differ in a number, are different on purpose.
fn is_near(one: &str, other: &str) -> bool {
    if suggest::edits(one, other) != 1 {
        return false;
    }
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    let first = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    if long.get(first).into_iter().chain(short.get(first)).any(|letter| letter.is_numeric() || *letter == '_') {
        return false;
    }
    match short.len() {
        0 => false,
        // A letter more: the same again.
        1 => long.len() == 2 && long[0] == long[1],
        // Of two letters, only their order.
        2 if long.len() == 2 => short[0] == long[1] && short[1] == long[0],
        _ => true,
    }
}

/// Whether names that are near are so by a slip rather than on purpose, as `rows` and `cols`, `xi` and `xj`, `ia` and `ib` are: the
/// first letter and the last tell names apart.
fn is_slip(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let is_long = one.len().min(other.len()) >= 3;
    let ends = |name: &[char]| (name.first().copied(), name.last().copied());
    is_long
        && (one.len() != other.len() && one.first() == other.first()
            || ends(&one) == ends(&other)
            || is_anagram(&one, &other))
}

fn is_anagram(one: &[char], other: &[char]) -> bool {
    let sorted = |name: &[char]| {
        let mut letters = name.to_vec();
        letters.sort_unstable();
        letters
    };
    sorted(one) == sorted(other)
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::Span;
    use crate::notation::check_expression;
    use crate::{format::resolve::Definitions, syntax, syntax::Statement};

    /// The warnings of an expression: each code with the name that it is about.
    fn warnings(text: &str) -> Vec<String> {
        let statement = syntax::parse_statement(text).unwrap();
        let kernel = check_expression(&statement, &[], &Definitions::prelude()).unwrap_or_else(|p| panic!("{p:?}"));
        let about = |span: Span| &text[span.start..span.end];
        kernel.warnings.iter().map(|found| format!("{} {}", found.code, about(found.span))).collect()
    }

    fn check(statement: &Statement) -> crate::notation::Kernel {
        check_expression(statement, &[], &Definitions::prelude()).unwrap_or_else(|p| panic!("{p:?}"))
    }

    #[test]
    fn a_sum_around_a_function_is_said_and_written_in_both_ways() {
        for (text, expected) in [
            (
                "f = sqrt(A(i, j) * A(i, j))",
                &["f = sum(i, j)(sqrt(A(i, j) * A(i, j)))", "f = sqrt(sum(i, j)(A(i, j) * A(i, j)))"][..],
            ),
            (
                "y(i) = b(i) - max(2 * A(i, j) * x(j), 0)",
                &[
                    "y(i) = b(i) - sum(j)(max(2 * A(i, j) * x(j), 0))",
                    "y(i) = b(i) - max(sum(j)(2 * A(i, j) * x(j)), 0)",
                ],
            ),
            ("d = sqrt(pow(x(i), 2))", &["d = sum(i)(sqrt(pow(x(i), 2)))", "d = sqrt(sum(i)(pow(x(i), 2)))"]),
            (
                "y(i) = 1 / exp(A(i, j) * x(j))",
                &["y(i) = sum(j)(1 / exp(A(i, j) * x(j)))", "y(i) = 1 / exp(sum(j)(A(i, j) * x(j)))"],
            ),
            ("s = pow(x(i), y(i))", &["s = sum(i)(pow(x(i), y(i)))", "s = pow(sum(i)(x(i)), sum(i)(y(i)))"]),
            ("f = sum(i, j)(sqrt(A(i, j) * A(i, j)))", &[]),
            ("f += sqrt(A(i, j) * A(i, j))", &[]),
            ("f max= exp(x(i))", &[]),
            ("f = abs(x(i))", &[]),
            ("y(i) = exp(x(i))", &[]),
            ("y(i) = exp(A(i, j)) * x(j)", &[]),
            ("s = f64(x(i)) + select(x(i) > 0, 1, 0)", &[]),
        ] {
            let statement = syntax::parse_statement(text).unwrap();
            let kernel = check(&statement);
            let lines =
                kernel.warnings.iter().flat_map(|found| &found.help).map(|help| help.split('`').nth_back(1).unwrap());
            let lines: Vec<&str> = lines.collect();
            assert_eq!(lines, expected, "{text}");
            for line in lines {
                let statement = syntax::parse_statement(line).unwrap();
                assert_eq!(check(&statement).warnings, [], "{line}");
            }
        }
    }

    #[test]
    fn an_index_of_one_factor_alone_is_a_mistake() {
        for (text, expected) in [
            ("y(i) = A(i, jj) * x(j)", &["W0101 jj", "W0101 j"][..]),
            ("y(i) += A(i, jj) * x(j)", &["W0101 jj", "W0101 j"]),
            ("y(i) = 2 * (A(i, jj) * -x(j)) + b(i)", &["W0101 jj", "W0101 j"]),
            ("y(i) = A(i, j) * x(i)", &["W0101 j"]),
            ("y(i) = (A(i, j) + B(i, j)) * x(i)", &["W0101 j"]),
            ("y(i) = exp(A(i, jj) * x(j))", &["W0101 jj", "W0101 j"]),
            ("y(i) = A(i, j) / d(i)", &["W0101 j"]),
            ("y(i) min= A(i, jj) + x(j)", &["W0101 jj", "W0101 j"]),
            ("y(i) = x(i + k) * w(kk)", &["W0101 k", "W0101 kk"]),
            ("s = sum(i)(x(i) * z(k))", &["W0101 k"]),
        ] {
            assert_eq!(warnings(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_meant_is_silent() {
        for text in [
            "y(i) = A(i, j)",
            "y(i) = alpha * A(i, j)",
            "y(i) = 2 * A(i, j) / alpha",
            "y(i) = -abs(A(i, j))",
            "y(i) = A(i, j) * w(0)",
            "y(i) = A(i, j) * x(j) + b(i)",
            "y(i) = A(i, j) * A(i, j)",
            "y(i) = sum(j)(A(i, j)) * x(i)",
            "y(i) = sum(jj)(A(i, jj)) * sum(j)(x(j))",
            "y(i) = sum(j, k)(A(i, j) * x(k))",
            "y(i) = exp(A(i, j) * x(i)) * z(j)",
            "e(j) min= d(i) + G(i, j)",
            "y(k) = A(i, k) * k",
            "y(i) = A(i, j) * x(i) where M(i, j)",
            "y(i) = x(2 * i + k) * w(k)",
            "y(i) = 3",
            "A(i, j) = alpha",
            "y(i) = i",
            "y(i, _z) = A(i, j) * x(j)",
            "y(i0) = A(i0, i1)",
            "y(p) = A(p, q)",
            "y(ia) = A(ia, ib)",
            "y(irow) = A(irow, jrow)",
            "y(rowa) = A(rowa, rowb)",
            "y(row1) = A(row1, row2)",
        ] {
            assert_eq!(warnings(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn results_that_repeat_and_slips_are_mistakes() {
        assert_eq!(warnings("y(i, z) = A(i, j) * x(j)"), ["W0102 z"]);
        assert_eq!(warnings("y(row) = A(row, col) * x(col) + b(rwo)"), ["W0103 rwo"]);
        assert_eq!(warnings("y(row) = A(row, col) * x(col) + b(roow)"), ["W0103 roow"]);
        assert_eq!(warnings("y(row) = A(rwo, col) * x(col)"), ["W0102 row", "W0101 rwo"]);
    }
}
