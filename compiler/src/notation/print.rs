//! Checked index notation as text: the language itself, with every sum and every level written out.

use super::check::reduction_name;
use super::{Access, Assignment, BinaryOperator, Expr, Hints, IndexVariable, Kernel, Reading, Role, Stage, Tensor};
use crate::ir::{ElementType, Literal, ReduceOperator};
use crate::syntax::precedence::Precedence;
use crate::syntax::{AssignOperator, HintKind, NEXT};
use std::fmt::{self, Write};

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.documentation {
            writeln!(f, "{}", format!("/// {line}").trim_end())?;
        }
        if !self.visibility.is_empty() {
            write!(f, "{} ", self.visibility)?;
        }
        let results = declarations(self, Role::Output);
        let results = if results.len() == 1 { results[0].clone() } else { format!("({})", results.join(", ")) };
        writeln!(f, "fn {}({}) -> {results} {{", self.name, declarations(self, Role::Input).join(", "))?;
        f.write_str(&self.body("    "))?;
        f.write_str("}")
    }
}

fn declarations(kernel: &Kernel, role: Role) -> Vec<String> {
    kernel.tensors.iter().filter(|tensor| tensor.role == role).map(Tensor::to_string).collect()
}

impl fmt::Display for Tensor {
    /// `X: f64 [dense, compressed]`, `alpha: f32`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        storage(self, f)
    }
}

/// What follows the colon of a declaration.
fn storage(tensor: &Tensor, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str(tensor.element.name())?;
    if tensor.format.order == 0 {
        return Ok(());
    }
    write!(f, " {}", tensor.format)?;
    if tensor.fill.is_negative_zero() || !tensor.fill.equals(tensor.element.zero()) {
        write!(f, " fill {}", tensor.fill.text())?;
    }
    write!(f, "{}", tensor.hints)
}

impl fmt::Display for Hints {
    /// ` nnz 1000000 fibers 20000 extent(1000, 500)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (kind, number) in [(HintKind::Entries, self.entries), (HintKind::Fibers, self.fibers)] {
            if let Some(number) = number {
                write!(f, " {} {number}", kind.name())?;
            }
        }
        let extents: Vec<String> = self.extents.iter().map(u64::to_string).collect();
        if extents.is_empty() { Ok(()) } else { write!(f, " {}({})", HintKind::Extents.name(), extents.join(", ")) }
    }
}

impl Kernel {
    /// Its statements, a line each, with those of a `repeat` in its braces.
    pub fn body(&self, indent: &str) -> String {
        let mut text = String::new();
        let of_stage = |stage, text: &mut String, indent: &str| {
            for statement in self.statements.iter().filter(|statement| statement.stage == stage) {
                _ = writeln!(text, "{indent}{}", StatementText { kernel: self, statement });
            }
        };
        of_stage(Stage::Before, &mut text, indent);
        if let Some(repeat) = &self.repeat {
            let until = repeat.until.iter().map(|until| format!("until {until} or ")).collect::<String>();
            let most = repeat.limit.clone().unwrap_or_else(|| repeat.most.to_string());
            _ = writeln!(text, "{indent}repeat {until}{most} {{");
            let inner = &format!("{indent}    ");
            of_stage(Stage::Round, &mut text, inner);
            for (old, new) in &repeat.feeds {
                _ = writeln!(text, "{inner}{old}{NEXT} = {new};");
            }
            _ = writeln!(text, "{indent}}}");
            of_stage(Stage::After, &mut text, indent);
        }
        text
    }

    /// An expression as text.
    pub fn expression<'a>(&'a self, expr: &'a Expr) -> impl fmt::Display + 'a {
        ExprText { kernel: self, expr }
    }

    /// An access as text.
    pub fn access<'a>(&'a self, access: &'a Access) -> impl fmt::Display + 'a {
        AccessText { kernel: self, access }
    }

    /// A statement as text.
    pub fn statement<'a>(&'a self, statement: &'a Assignment) -> impl fmt::Display + 'a {
        StatementText { kernel: self, statement }
    }
}

struct StatementText<'a> {
    kernel: &'a Kernel,
    statement: &'a Assignment,
}

impl fmt::Display for StatementText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, statement } = *self;
        if kernel.tensor(statement.target.tensor).role == Role::Temporary {
            f.write_str("let ")?;
        }
        let target = kernel.tensor(statement.target.tensor);
        write!(f, "{}", kernel.access(&statement.target))?;
        if target.role == Role::Temporary {
            f.write_str(": ")?;
            storage(target, f)?;
        }
        write!(f, " {} {}", AssignOperator::of(statement.operator), kernel.expression(&statement.value))?;
        if let Some(mask) = &statement.mask {
            write!(f, " where {}", kernel.access(mask))?;
        }
        f.write_str(";")
    }
}

struct AccessText<'a> {
    kernel: &'a Kernel,
    access: &'a Access,
}

impl fmt::Display for AccessText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.kernel.tensor(self.access.tensor).name;
        let names: Vec<&str> = self.access.indices.iter().map(|variable| self.kernel.variable(*variable)).collect();
        match (names.is_empty(), self.access.reads) {
            (true, _) => f.write_str(name),
            (false, Reading::Stored) => write!(f, "stored({name}({}))", names.join(", ")),
            (false, _) => write!(f, "{name}({})", names.join(", ")),
        }
    }
}

struct ExprText<'a> {
    kernel: &'a Kernel,
    expr: &'a Expr,
}

impl ExprText<'_> {
    /// `expr`, in parentheses where it binds looser than `least`.
    fn operand(&self, f: &mut fmt::Formatter<'_>, expr: &Expr, least: Precedence) -> fmt::Result {
        let text = ExprText { kernel: self.kernel, expr };
        if precedence(expr) < least { write!(f, "({text})") } else { write!(f, "{text}") }
    }

    /// The index whose extent is counted.
    fn extent(&self, variables: &[IndexVariable], one: &Expr) -> Option<&str> {
        let [variable] = variables else { return None };
        let is_one = matches!(one, Expr::Literal(literal) if literal.is_one());
        self.kernel.variables[variable.0].counted().filter(|_| is_one)
    }

    fn list(&self, f: &mut fmt::Formatter<'_>, name: &str, arguments: &[&Expr]) -> fmt::Result {
        let arguments: Vec<String> =
            arguments.iter().map(|expr| ExprText { kernel: self.kernel, expr }.to_string()).collect();
        write!(f, "{name}({})", arguments.join(", "))
    }
}

impl fmt::Display for ExprText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.expr {
            Expr::Literal(literal) => write!(f, "{}", literal.text()),
            Expr::Access(access) => write!(f, "{}", self.kernel.access(access)),
            Expr::Index(variable, _) => f.write_str(self.kernel.variable(*variable)),
            Expr::Unary(operator, operand) => {
                f.write_str(operator.symbol())?;
                self.operand(f, operand, Precedence::Prefix)
            }
            // Indices and numbers alone would be divided as real numbers.
            Expr::Binary(BinaryOperator::Divide, left, right) if is_untyped(left) && is_untyped(right) => {
                self.list(f, ElementType::I64.name(), &[left])?;
                f.write_str(" / ")?;
                self.operand(f, right, BinaryOperator::Divide.right())
            }
            Expr::Reduce(ReduceOperator::Add, variables, one) if self.extent(variables, one).is_some() => {
                write!(f, "extent({})", self.extent(variables, one).unwrap_or_default())
            }
            Expr::Binary(operator, left, right) => {
                self.operand(f, left, operator.left())?;
                write!(f, " {} ", operator.symbol())?;
                self.operand(f, right, operator.right())
            }
            Expr::Cast(element, operand) => self.list(f, element.name(), &[operand]),
            Expr::Call(function, arguments) => self.list(f, function.name(), &arguments.iter().collect::<Vec<_>>()),
            Expr::Select(condition, a, b) => self.list(f, "select", &[condition, a, b]),
            Expr::Reduce(operator, variables, body) => {
                let names: Vec<&str> = variables.iter().map(|variable| self.kernel.variable(*variable)).collect();
                let body = ExprText { kernel: self.kernel, expr: body };
                write!(f, "{}({})({body})", reduction_name(*operator), names.join(", "))
            }
        }
    }
}

/// Whether it is made of indices and whole numbers, which take the type of what they are combined with.
fn is_untyped(expr: &Expr) -> bool {
    match expr {
        Expr::Index(_, ElementType::I64) | Expr::Literal(Literal::Integer(ElementType::I64, _)) => true,
        Expr::Unary(..) | Expr::Binary(..) => expr.children().into_iter().all(is_untyped),
        _ => false,
    }
}

fn precedence(expr: &Expr) -> Precedence {
    match expr {
        Expr::Binary(operator, ..) => BinaryOperator::precedence(*operator),
        Expr::Unary(..) => Precedence::Prefix,
        Expr::Literal(literal) if is_negative(*literal) => Precedence::Prefix,
        _ => Precedence::Atom,
    }
}

fn is_negative(literal: Literal) -> bool {
    match literal {
        Literal::Float(_, value) => value.is_sign_negative(),
        Literal::Integer(_, value) => value < 0,
    }
}

impl Literal {
    /// The value as the language writes it.
    pub(crate) fn text(self) -> String {
        match self {
            Literal::Float(_, value) if value.is_nan() => "nan".to_owned(),
            Literal::Float(_, value) if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
            Literal::Float(ElementType::F32, value) => format!("{:?}", value as f32),
            Literal::Float(_, value) => format!("{value:?}"),
            Literal::Integer(ElementType::Bool, value) => (value != 0).to_string(),
            Literal::Integer(_, value) => value.to_string(),
        }
    }
}
