//! Expressions: precedence climbing over the flat list of operands and operators that the grammar leaves.

use super::{Builder, Pair, Pairs};
use crate::diagnostics::Span;
use crate::diagnostics::codes::syntax as codes;
use crate::ir::{ElementType, ReduceOperator};
use crate::syntax::ast::*;
use crate::syntax::error;
use crate::syntax::parser::Rule;
use crate::syntax::precedence::Precedence;
use crate::syntax::{MAXIMUM_DEPTH, functions};
use std::iter::Peekable;

/// An expression and how many operators, calls and reductions stand inside one another in it.
pub(super) struct Built {
    pub(super) expr: Expr,
    pub(super) depth: usize,
}

impl Built {
    fn leaf(kind: ExprKind, span: Span) -> Self {
        Self { expr: Expr { kind, span }, depth: 1 }
    }
}

impl Builder {
    pub(super) fn expression(&mut self, pair: Pair) -> Built {
        let nothing = Built::leaf(ExprKind::Bool(false), self.span(&pair));
        self.climb(&mut pair.into_inner().peekable(), Precedence::Or).unwrap_or(nothing)
    }

    /// Precedence climbing: an operand, and what follows it as long as it binds at least as tightly as `minimum`.
    fn climb(&mut self, pairs: &mut Peekable<Pairs>, minimum: Precedence) -> Option<Built> {
        let mut left = self.operand(pairs.next()?);
        let mut comparison: Option<Span> = None;
        while let Some((operator, span)) = pairs.peek().and_then(|pair| self.binary_operator(pair)) {
            if operator.precedence() < minimum {
                break;
            }
            pairs.next();
            let right = self.climb(pairs, operator.right())?;
            if operator.precedence() == Precedence::Comparison
                && let Some(first) = comparison.replace(span)
            {
                self.problems.push(error::chained_comparison(first, span));
            }
            let whole = left.expr.span.to(right.expr.span);
            left = self.deeper(left, right, span, |left, right| Expr {
                kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)),
                span: whole,
            });
        }
        Some(left)
    }

    fn binary_operator(&self, pair: &Pair) -> Option<(BinaryOperator, Span)> {
        if pair.as_rule() != Rule::binary_operator {
            return None;
        }
        let span = pair.as_span();
        let symbol = pair.as_str().trim_end();
        let operator = BinaryOperator::from_symbol(symbol)?;
        Some((operator, Span::new(span.start(), span.start() + symbol.len())))
    }

    /// One node over two expressions, unless that is too deep: then only the left one stays.
    fn deeper(&mut self, left: Built, right: Built, at: Span, node: impl FnOnce(Expr, Expr) -> Expr) -> Built {
        let depth = left.depth.max(right.depth) + 1;
        if depth > MAXIMUM_DEPTH {
            // Of a chain that is too long, only the first operator beyond the limit is reported.
            if depth == MAXIMUM_DEPTH + 1 && !self.too_deep() {
                self.problems.push(error::deep_expression(at));
            }
            return left;
        }
        Built { expr: node(left.expr, right.expr), depth }
    }

    fn too_deep(&self) -> bool {
        self.problems.last().is_some_and(|problem| problem.code == codes::TOO_DEEP)
    }

    /// A literal or a name, with or without a sign.
    pub(super) fn value(&mut self, pair: Pair) -> Expr {
        self.operand(pair).expr
    }

    fn operand(&mut self, pair: Pair) -> Built {
        let span = self.span(&pair);
        let mut prefixes = Vec::new();
        let mut built = Built::leaf(ExprKind::Bool(false), span);
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::negate => prefixes.push((UnaryOperator::Negate, pair.as_span().start())),
                Rule::not => prefixes.push((UnaryOperator::Not, pair.as_span().start())),
                _ => built = self.atom(pair),
            }
        }
        for (operator, start) in prefixes.into_iter().rev() {
            if built.depth == MAXIMUM_DEPTH {
                self.problems.push(error::deep_expression(Span::new(start, start + 1)));
                break;
            }
            let span = Span::new(start, built.expr.span.end);
            let kind = ExprKind::Unary(operator, Box::new(built.expr));
            built = Built { expr: Expr { kind, span }, depth: built.depth + 1 };
        }
        built
    }

    fn atom(&mut self, pair: Pair) -> Built {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::number => self.number(pair),
            Rule::boolean => Built::leaf(ExprKind::Bool(pair.as_str() == "true"), span),
            Rule::group => {
                let inner = pair.into_inner().find(|pair| pair.as_rule() == Rule::expression);
                let built = inner.map(|pair| self.expression(pair));
                let mut built = built.unwrap_or(Built::leaf(ExprKind::Bool(false), span));
                built.expr.span = span;
                built
            }
            _ => self.call(pair),
        }
    }

    fn number(&mut self, pair: Pair) -> Built {
        let span = self.span(&pair);
        let (digits, suffix) = number(pair.as_str());
        if digits.is_none() {
            self.problems.push(error::too_large(pair.as_str(), span));
        }
        Built::leaf(ExprKind::Number { digits: digits.unwrap_or_default(), suffix }, span)
    }

    /// A name with no list, one list, or a list and a body.
    fn call(&mut self, pair: Pair) -> Built {
        let span = self.span(&pair);
        let mut name = Ident { name: String::new(), span };
        let (mut list, mut body) = (None, None);
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => name = self.ident(pair),
                Rule::index_list => list = Some(self.indices(pair)),
                Rule::expression => body = Some(self.expression(pair)),
                Rule::condition => {
                    let condition = pair.into_inner().next().map(|pair| self.expression(pair));
                    body = body.zip(condition).map(|(of, condition)| chosen(of, condition));
                }
                _ => {}
            }
        }
        let Some((indices, depth)) = list else {
            return Built::leaf(ExprKind::Name(name), span);
        };
        let (kind, depth) = match body {
            Some(body) => {
                let depth = depth.max(body.depth);
                (self.reduction(name, indices, body.expr), depth)
            }
            None if functions().any(|function| function == name.name) => (self.function(name, indices), depth),
            None => (ExprKind::Access(Access { name, indices, span }), depth),
        };
        if depth >= MAXIMUM_DEPTH {
            if !self.too_deep() {
                self.problems.push(error::deep_expression(span));
            }
            return Built::leaf(ExprKind::Bool(false), span);
        }
        Built { expr: Expr { kind, span }, depth: depth + 1 }
    }

    fn function(&mut self, name: Ident, indices: Vec<Index>) -> ExprKind {
        let arguments = indices.into_iter().filter_map(|index| match index {
            Index::Expr(expr) => Some(expr),
            Index::Range { span, .. } => {
                self.problems.push(error::misplaced_range(span, &format!("`{}` takes values", name.name)));
                None
            }
        });
        let arguments = arguments.collect();
        ExprKind::Call(name, arguments)
    }

    fn reduction(&mut self, name: Ident, indices: Vec<Index>, body: Expr) -> ExprKind {
        let place = PLACES.iter().find(|(word, _)| *word == name.name).map(|(_, operator)| *operator);
        let operator = place.or_else(|| self.operator(&name.name));
        let is_summary = operator.is_none() && SUMMARIES.contains(&name.name.as_str());
        if operator.is_none() && !is_summary {
            let built_in = ReduceOperator::ALL.map(|operator| operator.row().reduction);
            let places = PLACES.iter().map(|(word, _)| *word);
            let names: Vec<&str> = built_in
                .into_iter()
                .chain(places)
                .chain(SUMMARIES)
                .chain(self.monoids.iter().map(String::as_str))
                .collect();
            self.problems.push(error::unknown_reduction(&name.name, name.span, &names));
        }
        let mut variables = Vec::new();
        for index in indices {
            match index {
                Index::Expr(Expr { kind: ExprKind::Name(variable), .. }) => variables.push(variable),
                // The list of what is no reduction may be anything.
                _ if operator.is_none() && !is_summary => {}
                Index::Expr(expr) => self.problems.push(error::not_a_variable(expr.span)),
                Index::Range { span, .. } => {
                    let takes = "a reduction takes names of index variables";
                    self.problems.push(error::misplaced_range(span, takes));
                }
            }
        }
        if (is_summary || place.is_some())
            && let ExprKind::Call(word, _) = &body.kind
            && word.name == WHERE
        {
            self.problems.push(error::misplaced_condition(&name.name, word.span));
        }
        if is_summary {
            let variable = |name: Ident| Expr { span: name.span, kind: ExprKind::Name(name) };
            return ExprKind::Call(name, variables.into_iter().map(variable).chain([body]).collect());
        }
        let (operator, place) = (operator.unwrap_or(ReduceOperator::Add), place.is_some());
        ExprKind::Reduce { operator, place, variables, body: Box::new(body) }
    }
}

/// What a reduction is of, where a condition chooses its terms.
fn chosen(of: Built, condition: Built) -> Built {
    let name = Ident { name: WHERE.to_owned(), span: condition.expr.span };
    let span = Span { end: condition.expr.span.end, ..of.expr.span };
    let depth = of.depth.max(condition.depth) + 1;
    Built { expr: Expr { kind: ExprKind::Call(name, vec![of.expr, condition.expr]), span }, depth }
}

/// The digits of a literal in base ten, without underscores, and its suffix. `None` for a whole number too large.
pub(super) fn number(text: &str) -> (Option<String>, Option<ElementType>) {
    let text: String = text.chars().filter(|&c| c != '_').collect();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            // In base 16, what looks like a suffix is digits; in the others, a suffix begins with the first letter.
            let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
            let value = u64::from_str_radix(&digits[..end], radix).ok();
            return (value.map(|value| value.to_string()), ElementType::from_name(&digits[end..]));
        }
    }
    let suffix = ElementType::ALL.into_iter().find(|element| text.ends_with(element.name()));
    let digits = suffix.and_then(|suffix| text.strip_suffix(suffix.name())).unwrap_or(&text);
    let digits = if digits.ends_with('.') { format!("{digits}0") } else { digits.to_owned() };
    (Some(digits), suffix)
}
