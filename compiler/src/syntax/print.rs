//! The syntax tree as text: canonical, with as few parentheses as mean the same, and parsed back to an equal tree.

use super::ast::*;
use super::precedence::Precedence;
use crate::diagnostics::Span;
use crate::ir::ElementType;
use std::fmt::{self, Display, Formatter};

/// Items with commas between them.
struct List<'a, T>(&'a [T]);

impl<T: Display> Display for List<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, item) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// An operand, in parentheses where it holds together more loosely than its place asks.
struct Operand<'a>(&'a Expr, Precedence);

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.precedence() < self.1 { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (place, item) in self.items.iter().enumerate() {
            if place > 0 {
                writeln!(f)?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for Item {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Item::Kernel(kernel) => kernel.fmt(f),
            Item::Format(definition) => definition.fmt(f),
            Item::Function(definition) => definition.fmt(f),
            Item::Monoid(definition) => definition.fmt(f),
        }
    }
}

fn documentation(lines: &[String], f: &mut Formatter<'_>) -> fmt::Result {
    for line in lines {
        writeln!(f, "///{}{line}", if line.is_empty() { "" } else { " " })?;
    }
    Ok(())
}

impl Display for Kernel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        documentation(&self.documentation, f)?;
        if !self.visibility.is_empty() {
            write!(f, "{} ", self.visibility)?;
        }
        write!(f, "fn {}({}) -> ", self.name, List(&self.parameters))?;
        match self.results.as_slice() {
            [result] => write!(f, "{result}")?,
            results => write!(f, "({})", List(results))?,
        }
        f.write_str(" {\n")?;
        let of_stage = |stage, f: &mut Formatter<'_>, indent: &str| {
            let mut statements = self.body.iter().filter(|statement| statement.stage == stage);
            statements.try_for_each(|statement| writeln!(f, "{indent}{statement};"))
        };
        of_stage(Stage::Before, f, "    ")?;
        if let Some(repeat) = &self.repeat {
            writeln!(f, "    {repeat} {{")?;
            of_stage(Stage::Round, f, "        ")?;
            f.write_str("    }\n")?;
            of_stage(Stage::After, f, "    ")?;
        }
        f.write_str("}")?;
        if let Some(schedule) = &self.schedule {
            write!(f, " {schedule}")?;
        }
        writeln!(f)
    }
}

impl Display for Repeat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("repeat")?;
        if let Some(counter) = &self.counter {
            write!(f, " {counter}")?;
        }
        if let Some(until) = &self.until {
            write!(f, " until {until} or")?;
        }
        self.most.map_or(Ok(()), |most| write!(f, " {most}"))?;
        self.limit.as_ref().map_or(Ok(()), |limit| write!(f, " {limit}"))
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        declared(self.element, self.format.as_ref(), f)
    }
}

/// What follows the colon of a declaration.
fn declared(element: Option<(ElementType, Span)>, format: Option<&FormatExpr>, f: &mut Formatter<'_>) -> fmt::Result {
    if let Some((element, _)) = element {
        write!(f, " {}", element.name())?;
    }
    format.map_or(Ok(()), |format| write!(f, " {format}"))
}

impl Display for Schedule {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("schedule {\n")?;
        let scope = |directive: &Directive| directive.scope.as_ref().map(|scope| scope.name.clone());
        for same in self.directives.chunk_by(|one, next| scope(one) == scope(next)) {
            match scope(&same[0]) {
                None => same.iter().try_for_each(|directive| writeln!(f, "    {directive};"))?,
                Some(scope) => {
                    writeln!(f, "    on {scope} {{")?;
                    same.iter().try_for_each(|directive| writeln!(f, "        {directive};"))?;
                    f.write_str("    }\n")?;
                }
            }
        }
        f.write_str("}")
    }
}

impl Display for Directive {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (place, argument) in self.arguments.iter().enumerate() {
            let comma = if place == 0 { "" } else { ", " };
            write!(f, "{comma}{argument}")?;
            self.choices.iter().filter(|(of, _)| *of == place).try_for_each(|(_, value)| write!(f, ": {value}"))?;
        }
        f.write_str(")")
    }
}

impl Display for FormatDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        documentation(&self.documentation, f)?;
        write!(f, "format {}", self.name)?;
        if !self.parameters.is_empty() {
            write!(f, "({})", List(&self.parameters))?;
        }
        writeln!(f, " = {};", self.map)
    }
}

impl Display for FunctionDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        documentation(&self.documentation, f)?;
        writeln!(f, "fn {}({}) = {};", self.name, List(&self.parameters), self.body)
    }
}

impl Display for MonoidDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        documentation(&self.documentation, f)?;
        let (name, parameters) = (&self.name, List(&self.parameters));
        writeln!(f, "monoid {name}({parameters}) = {} with {};", self.body, self.identity)
    }
}

impl Display for FormatExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            FormatExprKind::Levels(levels) => write!(f, "[{}]", List(levels)),
            FormatExprKind::Map(map) => map.fmt(f),
            FormatExprKind::Named { name, arguments } => with_arguments(name, arguments, f),
        }?;
        self.symmetry.as_ref().map_or(Ok(()), |symmetry| write!(f, " {symmetry}"))?;
        self.fill.as_ref().map_or(Ok(()), |fill| write!(f, " fill {fill}"))?;
        self.hints.iter().try_for_each(|hint| write!(f, " {hint}"))
    }
}

impl Display for SymmetryExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if self.modes.is_empty() { Ok(()) } else { write!(f, "({})", List(&self.modes)) }
    }
}

impl Display for Hint {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let numbers: Vec<&str> = self.numbers.iter().map(|(text, _)| text.as_str()).collect();
        match self.kind {
            HintKind::Extents => write!(f, "{}({})", self.kind.name(), numbers.join(", ")),
            kind => write!(f, "{} {}", kind.name(), numbers.join(" ")),
        }
    }
}

fn with_arguments(name: &Ident, arguments: &[FormatArgument], f: &mut Formatter<'_>) -> fmt::Result {
    if arguments.is_empty() { name.fmt(f) } else { write!(f, "{name}({})", List(arguments)) }
}

impl Display for FormatMap {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}) -> [{}]", List(&self.modes), List(&self.levels))
    }
}

impl Display for MapMode {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.name, if self.variadic { "..." } else { "" })
    }
}

impl Display for MapLevel {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", self.coordinate, if self.variadic { "..." } else { "" }, self.level)
    }
}

impl Display for LevelExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        with_arguments(&self.name, &self.arguments, f)
    }
}

impl Display for FormatArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            FormatArgument::Word(word) => word.fmt(f),
            FormatArgument::Number(number, _) => number.fmt(f),
            FormatArgument::Setting(name, value) => write!(f, "{name} = {value}"),
        }
    }
}

impl Display for Statement {
    /// Without its semicolon.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let word = if self.is_let { "let " } else { "" };
        write!(f, "{word}{}", self.target)?;
        if self.element.is_some() || self.format.is_some() {
            f.write_str(":")?;
            declared(self.element, self.format.as_ref(), f)?;
        }
        write!(f, " {} {}", self.operator, self.value)?;
        match (&self.mask, &self.condition) {
            (None, None) => Ok(()),
            (Some(mask), None) => write!(f, " where {mask}"),
            (None, Some(condition)) => write!(f, " where {condition}"),
            (Some(mask), Some(condition)) => write!(f, " where {mask} && {}", Operand(condition, Precedence::And)),
        }
    }
}

impl Display for AssignOperator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            AssignOperator::Assign => f.write_str("="),
            AssignOperator::Reduce(operator) => write!(f, "{operator}="),
        }
    }
}

impl Display for Access {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.indices.is_empty() { self.name.fmt(f) } else { write!(f, "{}({})", self.name, List(&self.indices)) }
    }
}

impl Display for Index {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Index::Expr(expr) => expr.fmt(f),
            Index::Range { start, end, .. } => write!(f, "{start}..{end}"),
        }
    }
}

impl Display for Ident {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ExprKind::Number { digits, suffix } => write!(f, "{digits}{}", suffix.map_or("", |suffix| suffix.name())),
            ExprKind::Bool(value) => value.fmt(f),
            ExprKind::Name(name) => name.fmt(f),
            // Without its list, an access to a scalar would be a bare name.
            ExprKind::Access(access) => write!(f, "{}({})", access.name, List(&access.indices)),
            ExprKind::Unary(operator, operand) => {
                write!(f, "{}{}", operator.symbol(), Operand(operand, Precedence::Prefix))
            }
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (Operand(left, operator.left()), Operand(right, operator.right()));
                write!(f, "{left} {} {right}", operator.symbol())
            }
            ExprKind::Call(function, arguments) if SUMMARIES.contains(&function.name.as_str()) => {
                match &arguments[..] {
                    [variables @ .., body] => write!(f, "{function}({})({body})", List(variables)),
                    [] => write!(f, "{function}()"),
                }
            }
            ExprKind::Call(function, arguments) if function.name == WHERE => match &arguments[..] {
                [of, condition] => write!(f, "{of} where {condition}"),
                _ => Ok(()),
            },
            ExprKind::Call(function, arguments) => write!(f, "{function}({})", List(arguments)),
            ExprKind::Reduce { operator, place, variables, body } => {
                let word = PLACES.iter().find(|(_, of)| *place && of == operator).map(|(word, _)| *word);
                write!(f, "{}({})({body})", word.unwrap_or(operator.row().reduction), List(variables))
            }
        }
    }
}
