//! From pest's pairs to the syntax tree.
//!
//! The grammar decides which pairs a rule holds; what else can be wrong (a chain of comparisons, a number too large) is
//! reported here, and building goes on.

mod expression;

use super::ast::*;
use super::error;
use super::lexeme::Lexeme;
use super::parser::Rule;
use crate::diagnostics::{Diagnostic, Span};
use crate::format::SymmetryKind;
use crate::ir::{ElementType, ReduceOperator};
use expression::number;

type Pair<'a> = pest::iterators::Pair<'a, Rule>;
type Pairs<'a> = pest::iterators::Pairs<'a, Rule>;

/// Builds trees and collects what is wrong with them.
pub(super) struct Builder {
    /// Where lexemes end: pest's spans may end in blanks and comments.
    ends: Vec<usize>,
    /// The operators that the text declares.
    monoids: Vec<String>,
    /// What was found.
    pub(super) problems: Vec<Diagnostic>,
}

impl Builder {
    pub(super) fn new(lexemes: &[Lexeme]) -> Self {
        let ends = lexemes.iter().map(|lexeme| lexeme.span.end).collect();
        Self { ends, monoids: Vec::new(), problems: Vec::new() }
    }

    fn span(&self, pair: &Pair) -> Span {
        let span = pair.as_span();
        let last = self.ends.partition_point(|&end| end <= span.end());
        let end = last.checked_sub(1).map_or(span.end(), |last| self.ends[last]);
        Span::new(span.start(), end.max(span.start()))
    }

    /// Of `program` or `recovered_program`.
    pub(super) fn program(&mut self, pair: Pair) -> Program {
        let monoids = pair.clone().into_inner().flatten().filter(|pair| pair.as_rule() == Rule::monoid);
        let name = |pair: Pair<'_>| {
            let name = pair.into_inner().find(|pair| pair.as_rule() == Rule::name);
            name.map(|name| self.ident(name).name)
        };
        self.monoids = monoids.filter_map(name).collect();
        let mut items = Vec::new();
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::item => items.extend(self.item(pair)),
                Rule::orphan => self.orphan(pair),
                _ => {}
            }
        }
        Program { items }
    }

    /// Reads a body without a header only for what is wrong with it.
    fn orphan(&mut self, pair: Pair) {
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::statement => drop(self.statement(pair)),
                Rule::schedule => drop(self.schedule(pair)),
                _ => {}
            }
        }
    }

    fn item(&mut self, pair: Pair) -> Option<Item> {
        let mut documentation = Vec::new();
        let mut item = None;
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::documentation => documentation.push(documentation_line(pair.as_str())),
                Rule::kernel => item = Some(Item::Kernel(self.kernel(pair, std::mem::take(&mut documentation)))),
                Rule::definition => {
                    item = Some(Item::Format(self.definition(pair, std::mem::take(&mut documentation))));
                }
                Rule::function => item = Some(self.function_definition(pair, std::mem::take(&mut documentation))),
                Rule::monoid => item = Some(self.monoid_definition(pair, std::mem::take(&mut documentation))),
                _ => {}
            }
        }
        item
    }

    /// `fn relu(v) = select(v > 0, v, 0);`
    fn function_definition(&mut self, pair: Pair, documentation: Vec<String>) -> Item {
        let span = self.span(&pair);
        let (name, parameters, body, _) = self.definition_of_values(pair);
        Item::Function(FunctionDefinition { documentation, name, parameters, body, span })
    }

    /// `monoid join(a, b) = a + b - a * b with 0;`
    fn monoid_definition(&mut self, pair: Pair, documentation: Vec<String>) -> Item {
        let span = self.span(&pair);
        let (name, parameters, body, identity) = self.definition_of_values(pair);
        Item::Monoid(MonoidDefinition { documentation, name, parameters, body, identity, span })
    }

    /// The names, the expression and the value behind `with`.
    fn definition_of_values(&mut self, pair: Pair) -> (Ident, Vec<Ident>, Expr, Expr) {
        let span = self.span(&pair);
        let nothing = Expr { kind: ExprKind::Bool(false), span };
        let (mut names, mut body, mut identity) = (Vec::new(), nothing.clone(), nothing);
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => names.push(self.ident(pair)),
                Rule::expression => body = self.expression(pair).expr,
                Rule::fill_value => identity = self.value(pair),
                _ => {}
            }
        }
        let mut names = names.into_iter();
        let name = names.next().unwrap_or(Ident { name: String::new(), span });
        (name, names.collect(), body, identity)
    }

    fn kernel(&mut self, pair: Pair, documentation: Vec<String>) -> Kernel {
        let mut kernel = Kernel {
            documentation,
            visibility: String::new(),
            name: Ident { name: String::new(), span: Span::default() },
            parameters: Vec::new(),
            results: Vec::new(),
            body: Vec::new(),
            repeat: None,
            schedule: None,
            span: self.span(&pair),
        };
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::visibility => kernel.visibility = visibility(pair),
                Rule::fn_keyword => kernel.span.start = pair.as_span().start(),
                Rule::name => kernel.name = self.ident(pair),
                Rule::parameter => kernel.parameters.push(self.parameter(pair)),
                Rule::results => {
                    let parameters = pair.into_inner().filter(|pair| pair.as_rule() == Rule::parameter);
                    kernel.results = parameters.map(|pair| self.parameter(pair)).collect();
                }
                Rule::statement => {
                    let stage = if kernel.repeat.is_some() { Stage::After } else { Stage::Before };
                    kernel.body.push(Statement { stage, ..self.statement(pair) });
                }
                Rule::repeat => kernel.repeat = Some(self.repeat(pair, &mut kernel.body)),
                Rule::rbrace => kernel.span.end = pair.as_span().end(),
                Rule::schedule => kernel.schedule = Some(self.schedule(pair)),
                _ => {}
            }
        }
        kernel
    }

    /// The header of a `repeat`; its statements go into `body`.
    fn repeat(&mut self, pair: Pair, body: &mut Vec<Statement>) -> Repeat {
        let mut repeat = Repeat { counter: None, until: None, most: None, limit: None, span: self.span(&pair) };
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => {
                    let name = self.ident(pair);
                    repeat.span.end = name.span.end;
                    // The limit comes behind the rule, and behind the counter.
                    match repeat.until.is_some() || repeat.counter.is_some() {
                        true => repeat.limit = Some(name),
                        false => repeat.counter = Some(name),
                    }
                }
                Rule::expression => repeat.until = Some(self.expression(pair).expr),
                Rule::number => {
                    let span = self.span(&pair);
                    match self.whole_number(pair) {
                        FormatArgument::Number(0, _) => self.problems.push(error::no_round(span)),
                        FormatArgument::Number(most, _) => repeat.most = Some(most),
                        _ => {}
                    }
                    repeat.span.end = span.end;
                }
                Rule::statement => body.push(Statement { stage: Stage::Round, ..self.statement(pair) }),
                _ => {}
            }
        }
        repeat
    }

    fn parameter(&mut self, pair: Pair) -> Parameter {
        let span = self.span(&pair);
        let mut name = Ident { name: String::new(), span };
        let (mut element, mut format) = (None, None);
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => name = self.ident(pair),
                Rule::declaration => (element, format) = self.declaration(pair),
                _ => {}
            }
        }
        Parameter { name, element, format, span }
    }

    /// `f32 csf`
    pub(super) fn declaration(&mut self, pair: Pair) -> (Option<(ElementType, Span)>, Option<FormatExpr>) {
        let (mut element, mut format) = (None, None);
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::element_type => {
                    element = ElementType::from_name(pair.as_str()).map(|element| (element, self.span(&pair)));
                }
                Rule::format => format = self.format(pair),
                Rule::fill => {
                    let value = pair.into_inner().find(|pair| pair.as_rule() == Rule::fill_value);
                    if let (Some(format), Some(value)) = (&mut format, value) {
                        format.fill = Some(Box::new(self.value(value)));
                    }
                }
                Rule::hint => {
                    let hint = self.hint(pair);
                    if let Some(format) = &mut format {
                        format.hints.push(hint);
                    }
                }
                _ => {}
            }
        }
        (element, format)
    }

    /// `nnz 1e6`
    fn hint(&mut self, pair: Pair) -> Hint {
        let span = self.span(&pair);
        let (mut kind, mut numbers) = (HintKind::Entries, Vec::new());
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::fibers_word => kind = HintKind::Fibers,
                Rule::extent_word => kind = HintKind::Extents,
                Rule::order_word => kind = HintKind::Order,
                Rule::number => numbers.push((pair.as_str().to_owned(), self.span(&pair))),
                _ => {}
            }
        }
        Hint { kind, numbers, span }
    }

    pub(super) fn schedule(&mut self, pair: Pair) -> Schedule {
        let span = self.span(&pair);
        let mut directives = Vec::new();
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::directive => directives.push(self.directive(pair)),
                Rule::scoped => self.scoped(pair, &mut directives),
                _ => {}
            }
        }
        Schedule { directives, span }
    }

    /// `on y { … }`
    fn scoped(&mut self, pair: Pair, directives: &mut Vec<Directive>) {
        let mut scope = None;
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => scope = Some(self.ident(pair)),
                Rule::directive => {
                    let directive = self.directive(pair);
                    directives.push(Directive { scope: scope.clone(), ..directive });
                }
                _ => {}
            }
        }
    }

    fn directive(&mut self, pair: Pair) -> Directive {
        let span = self.span(&pair);
        let mut name = Ident { name: String::new(), span };
        let mut arguments = Vec::new();
        let mut choices = Vec::new();
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => name = self.ident(pair),
                Rule::expression => arguments.push(self.expression(pair).expr),
                Rule::choice => {
                    let values = pair.into_inner().filter(|inner| inner.as_rule() == Rule::expression);
                    let values = values.map(|value| self.expression(value).expr);
                    choices.extend(values.map(|value| (arguments.len() - 1, value)));
                }
                _ => {}
            }
        }
        Directive { scope: None, name, arguments, choices, span }
    }

    fn definition(&mut self, pair: Pair, documentation: Vec<String>) -> FormatDefinition {
        let span = self.span(&pair);
        let mut names = Vec::new();
        let mut map = FormatMap { modes: Vec::new(), levels: Vec::new() };
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => names.push(self.ident(pair)),
                Rule::map => map = self.map(pair),
                Rule::levels => map = self.map_in_order(pair),
                _ => {}
            }
        }
        let mut names = names.into_iter();
        let name = names.next().unwrap_or(Ident { name: String::new(), span });
        FormatDefinition { documentation, name, parameters: names.collect(), map, span }
    }

    /// Of `format`.
    pub(super) fn format(&mut self, pair: Pair) -> Option<FormatExpr> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let pair = parts.next()?;
        let symmetry = parts.next().map(|pair| self.symmetry(pair));
        let kind = match pair.as_rule() {
            Rule::map => FormatExprKind::Map(self.map(pair)),
            Rule::levels => {
                let levels = pair.into_inner().filter(|pair| pair.as_rule() == Rule::level);
                FormatExprKind::Levels(levels.map(|pair| self.level(pair)).collect())
            }
            _ => {
                let LevelExpr { name, arguments, .. } = self.level(pair);
                FormatExprKind::Named { name, arguments }
            }
        };
        Some(FormatExpr { fill: None, hints: Vec::new(), symmetry, kind, span })
    }

    /// `symmetric(i, j)`
    fn symmetry(&mut self, pair: Pair) -> SymmetryExpr {
        let span = self.span(&pair);
        let (mut kind, mut modes) = (SymmetryKind::Symmetric, Vec::new());
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::skew_word => kind = SymmetryKind::Skew,
                Rule::hermitian_word => kind = SymmetryKind::Hermitian,
                Rule::name => modes.push(self.ident(pair)),
                _ => {}
            }
        }
        SymmetryExpr { kind, modes, span }
    }

    fn map(&mut self, pair: Pair) -> FormatMap {
        let mut map = FormatMap { modes: Vec::new(), levels: Vec::new() };
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::map_mode => {
                    let variadic = has(&pair, Rule::ellipsis);
                    let name = pair.into_inner().find(|pair| pair.as_rule() == Rule::name);
                    map.modes.extend(name.map(|name| MapMode { name: self.ident(name), variadic }));
                }
                Rule::map_level => map.levels.extend(self.map_level(pair)),
                _ => {}
            }
        }
        map
    }

    /// A list of levels, of which each stores the next mode.
    fn map_in_order(&mut self, pair: Pair) -> FormatMap {
        let mut map = FormatMap { modes: Vec::new(), levels: Vec::new() };
        for (number, pair) in pair.into_inner().filter(|pair| pair.as_rule() == Rule::level).enumerate() {
            let level = self.level(pair);
            let name = Ident { name: format!("i{number}"), span: level.span };
            let coordinate = Expr { kind: ExprKind::Name(name.clone()), span: level.span };
            map.modes.push(MapMode { name, variadic: false });
            map.levels.push(MapLevel { coordinate, variadic: false, level });
        }
        map
    }

    fn map_level(&mut self, pair: Pair) -> Option<MapLevel> {
        let variadic = has(&pair, Rule::ellipsis);
        let (mut coordinate, mut level) = (None, None);
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::expression => coordinate = Some(self.expression(pair).expr),
                Rule::level => level = Some(self.level(pair)),
                _ => {}
            }
        }
        Some(MapLevel { coordinate: coordinate?, variadic, level: level? })
    }

    /// Of `level` or `named`, which look alike.
    fn level(&mut self, pair: Pair) -> LevelExpr {
        let span = self.span(&pair);
        let mut name = Ident { name: String::new(), span };
        let mut arguments = Vec::new();
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => name = self.ident(pair),
                Rule::argument => arguments.extend(self.argument(pair)),
                _ => {}
            }
        }
        LevelExpr { name, arguments, span }
    }

    fn argument(&mut self, pair: Pair) -> Option<FormatArgument> {
        let pair = pair.into_inner().next()?;
        Some(match pair.as_rule() {
            Rule::number => self.whole_number(pair),
            Rule::name => FormatArgument::Word(self.ident(pair)),
            _ => {
                let mut words = pair.into_inner().filter(|pair| matches!(pair.as_rule(), Rule::name | Rule::number));
                let (name, value) = (self.ident(words.next()?), words.next()?);
                let value = match value.as_rule() {
                    Rule::number => self.whole_number(value),
                    _ => FormatArgument::Word(self.ident(value)),
                };
                FormatArgument::Setting(name, Box::new(value))
            }
        })
    }

    fn whole_number(&mut self, pair: Pair) -> FormatArgument {
        let span = self.span(&pair);
        let (digits, suffix) = number(pair.as_str());
        match digits.and_then(|digits| digits.parse().ok()).filter(|_| suffix.is_none()) {
            Some(value) => FormatArgument::Number(value, span),
            None => {
                self.problems.push(error::not_whole(pair.as_str(), span));
                FormatArgument::Number(0, span)
            }
        }
    }

    /// Of `statement` or `bare_statement`.
    pub(super) fn statement(&mut self, pair: Pair) -> Statement {
        let span = self.span(&pair);
        let nowhere = Access { name: Ident { name: String::new(), span }, indices: Vec::new(), span };
        let mut statement = Statement {
            is_let: false,
            target: nowhere,
            element: None,
            format: None,
            operator: AssignOperator::Assign,
            operator_span: span,
            value: Expr { kind: ExprKind::Bool(false), span },
            mask: None,
            condition: None,
            stage: Stage::Before,
            span,
        };
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::let_keyword => statement.is_let = true,
                Rule::declaration => (statement.element, statement.format) = self.declaration(pair),
                Rule::condition => (statement.mask, statement.condition) = self.condition(pair),
                Rule::access => statement.target = self.access(pair),
                Rule::next => {
                    let access = pair.into_inner().find(|pair| pair.as_rule() == Rule::access);
                    statement.target = access.map_or(statement.target, |access| self.access(access));
                    statement.target.name.name.push(NEXT);
                }
                Rule::assign_operator => {
                    statement.operator_span = self.span(&pair);
                    statement.operator = self.assign_operator(pair);
                }
                Rule::expression => statement.value = self.expression(pair).expr,
                _ => {}
            }
        }
        statement
    }

    /// What follows `where`: the first tensor among what must hold together, and the rest.
    fn condition(&mut self, pair: Pair) -> (Option<Access>, Option<Expr>) {
        let Some(pair) = pair.into_inner().find(|pair| pair.as_rule() == Rule::expression) else { return (None, None) };
        let mut parts = Vec::new();
        conjuncts(self.expression(pair).expr, &mut parts);
        let is_tensor = |part: &Expr| matches!(part.kind, ExprKind::Access(_) | ExprKind::Name(_));
        let mask = parts.iter().position(is_tensor).map(|place| parts.remove(place)).and_then(|part| match part.kind {
            ExprKind::Access(access) => Some(access),
            ExprKind::Name(name) => Some(Access { span: name.span, name, indices: Vec::new() }),
            _ => None,
        });
        let rest = parts.into_iter().reduce(|left, right| {
            let span = left.span.to(right.span);
            Expr { kind: ExprKind::Binary(BinaryOperator::And, Box::new(left), Box::new(right)), span }
        });
        (mask, rest)
    }

    fn assign_operator(&mut self, pair: Pair) -> AssignOperator {
        let sign = pair.as_str().trim_end().trim_end_matches('=').trim_end();
        let named =
            pair.clone().into_inner().find_map(|pair| pair.into_inner().find(|pair| pair.as_rule() == Rule::name));
        match named.map(|name| self.ident(name)) {
            _ if ReduceOperator::from_sign(sign).is_some() => AssignOperator::of(ReduceOperator::from_sign(sign)),
            Some(name) => {
                let operator = self.operator(&name.name);
                if operator.is_none() {
                    self.problems.push(error::unknown_update(&name.name, name.span, &self.monoids));
                }
                AssignOperator::of(operator)
            }
            None => AssignOperator::Assign,
        }
    }

    /// The reduction of a name: a built-in one, or one that the text declares.
    fn operator(&self, name: &str) -> Option<ReduceOperator> {
        let declared = || self.monoids.iter().any(|monoid| monoid == name);
        let known = ReduceOperator::from_reduction(name);
        known.or_else(|| declared().then(|| ReduceOperator::declared(name, Vec::new(), Vec::new())))
    }

    fn access(&mut self, pair: Pair) -> Access {
        let span = self.span(&pair);
        let mut name = Ident { name: String::new(), span };
        let mut indices = Vec::new();
        for pair in pair.into_inner() {
            match pair.as_rule() {
                Rule::name => name = self.ident(pair),
                Rule::index_list => indices = self.indices(pair).0,
                _ => {}
            }
        }
        Access { name, indices, span }
    }

    fn indices(&mut self, pair: Pair) -> (Vec<Index>, usize) {
        let pairs = pair.into_inner().filter(|pair| pair.as_rule() == Rule::index);
        let mut depth = 0;
        let indices = pairs
            .filter_map(|pair| {
                let span = self.span(&pair);
                if let Some(pack) = pair.clone().into_inner().find(|pair| pair.as_rule() == Rule::pack) {
                    depth = depth.max(1);
                    return Some(Index::Expr(self.pack(pack)));
                }
                let mut ends = pair.into_inner().filter(|pair| pair.as_rule() == Rule::expression);
                let start = self.expression(ends.next()?);
                depth = depth.max(start.depth);
                Some(match ends.next().map(|end| self.expression(end)) {
                    None => Index::Expr(start.expr),
                    Some(end) => {
                        depth = depth.max(end.depth);
                        Index::Range { start: start.expr, end: end.expr, span }
                    }
                })
            })
            .collect();
        (indices, depth)
    }

    /// `i...`
    fn pack(&self, pair: Pair) -> Expr {
        let span = self.span(&pair);
        let name = pair.into_inner().find(|pair| pair.as_rule() == Rule::name).map(|name| self.ident(name).name);
        let name = format!("{}{PACK}", name.unwrap_or_default());
        Expr { kind: ExprKind::Name(Ident { name, span }), span }
    }

    fn ident(&self, pair: Pair) -> Ident {
        Ident { name: crate::syntax::normalized(pair.as_str()), span: self.span(&pair) }
    }
}

/// What `&&` joins.
fn conjuncts(expr: Expr, parts: &mut Vec<Expr>) {
    match expr.kind {
        ExprKind::Binary(BinaryOperator::And, left, right) => {
            conjuncts(*left, parts);
            conjuncts(*right, parts);
        }
        _ => parts.push(expr),
    }
}

fn has(pair: &Pair, rule: Rule) -> bool {
    pair.clone().into_inner().any(|pair| pair.as_rule() == rule)
}

/// What stands after `///`, without the one blank that usually follows and blanks at the end.
fn documentation_line(text: &str) -> String {
    let line = text.trim_start_matches("///").trim_end();
    line.strip_prefix(' ').unwrap_or(line).to_owned()
}

/// `pub`, `pub(crate)`, `pub(in crate::kernels)`
fn visibility(pair: Pair) -> String {
    let mut text = String::new();
    for pair in pair.into_inner().flatten() {
        match pair.as_rule() {
            Rule::in_keyword => text.push_str("in "),
            Rule::pub_keyword | Rule::lparen | Rule::rparen | Rule::word | Rule::path_separator => {
                text.push_str(pair.as_str().trim_end());
            }
            _ => {}
        }
    }
    text
}
