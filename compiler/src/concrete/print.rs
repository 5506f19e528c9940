//! Concrete notation as text.

use super::{
    Access, Assign, Collect, Expr, IndexVariable, Kernel, OutputStructure, Reading, Run, Statement, TensorKind,
};
use crate::notation::{BinaryOperator, Direction, UnaryOperator, reduction_name};
use crate::syntax::AssignOperator;
use std::fmt;

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel {}", self.name)?;
        for tensor in &self.tensors {
            let kind = match &tensor.kind {
                TensorKind::Input => "input".to_owned(),
                TensorKind::SortedCopy(of) => format!("sorted copy of {}", self.tensor(*of).name),
                TensorKind::Permutation(of) => format!("permutation of {}", self.tensor(*of).name),
                TensorKind::Fibers(of) => format!("fibers of {}", self.tensor(*of).name),
                TensorKind::Output(OutputStructure::Dense) => "output".to_owned(),
                TensorKind::Output(OutputStructure::Appended) => "output, appended".to_owned(),
                TensorKind::Output(OutputStructure::Shared { access: with, levels }) => {
                    format!("output, shares {levels} levels of {}", access(self, with))
                }
                TensorKind::Workspace => "workspace".to_owned(),
                TensorKind::SparseWorkspace(Collect::Bitmap(_)) => "workspace, dense with a bitmap".to_owned(),
                TensorKind::SparseWorkspace(Collect::Table) => "workspace, found by a table".to_owned(),
                TensorKind::SparseWorkspace(Collect::List) => "workspace, a list that is sorted".to_owned(),
            };
            let delivered =
                tensor.delivered.as_ref().map_or(String::new(), |format| format!(", delivered as {format}"));
            let fill = match tensor.delivered_fill.equals(tensor.element.zero()) || tensor.kind.is_workspace() {
                true => String::new(),
                false => format!(" fill {}", tensor.delivered_fill.text()),
            };
            let element = tensor.element.name();
            writeln!(f, "    {}: {element} {}{fill} ({kind}{delivered})", tensor.name, tensor.format)?;
        }
        write_statement(self, &self.body, 1, f)
    }
}

fn write_statement(kernel: &Kernel, statement: &Statement, depth: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let indent = "    ".repeat(depth);
    match statement {
        Statement::Empty => writeln!(f, "{indent}nothing"),
        Statement::Forall { variable, run, body } => {
            let how = match run {
                Run::Serial => "",
                Run::InOrder(Direction::Up) => "in order ",
                Run::InOrder(Direction::Down) => "in falling order ",
                Run::Parallel | Run::ParallelOr(_) => "parallel ",
                Run::Vector => "vector ",
            };
            write!(f, "{indent}{how}for all {}", range(kernel, *variable))?;
            match run {
                Run::ParallelOr(shares) => writeln!(f, ", or for all {}", range(kernel, *shares))?,
                _ => writeln!(f)?,
            }
            write_statement(kernel, body, depth + 1, f)
        }
        Statement::Where { workspace, consumer, producer } => {
            writeln!(f, "{indent}with {}", kernel.tensor(*workspace).name)?;
            write_statement(kernel, producer, depth + 1, f)?;
            writeln!(f, "{indent}then")?;
            write_statement(kernel, consumer, depth + 1, f)
        }
        Statement::Assign(assign) => writeln!(f, "{indent}{}", assignment(kernel, assign)),
        Statement::Sequence(statements) => {
            statements.iter().try_for_each(|statement| write_statement(kernel, statement, depth, f))
        }
    }
}

/// What a loop goes over.
fn range(kernel: &Kernel, variable: IndexVariable) -> String {
    let name = kernel.variable(variable);
    match &kernel.variables[variable.0].share {
        None => name.to_owned(),
        Some(share) => {
            let positions = format!("positions of {}", access(kernel, &share.access));
            match share.by {
                None => format!("{name} in {positions}"),
                Some(by) => format!("{name} in blocks of {by} {positions}"),
            }
        }
    }
}

/// An assignment as text.
pub(crate) fn assignment(kernel: &Kernel, assign: &Assign) -> String {
    let operator = AssignOperator::of(assign.operator);
    let masks: Vec<String> = assign.masks.iter().map(|mask| access(kernel, mask)).collect();
    let masks = if masks.is_empty() { String::new() } else { format!(" where {}", masks.join(", ")) };
    format!("{} {operator} {}{masks}", access(kernel, &assign.target), expr(kernel, &assign.value))
}

/// A statement of the notation as text.
pub(crate) fn summary(kernel: &Kernel, assignment: &crate::notation::Assignment) -> String {
    let operator = AssignOperator::of(assignment.operator);
    let mask = assignment.mask.as_ref().map_or(String::new(), |mask| format!(" where {}", access(kernel, mask)));
    format!("{} {operator} {}{mask}", access(kernel, &assignment.target), expr(kernel, &assignment.value))
}

/// An access as text.
pub(crate) fn access(kernel: &Kernel, access: &Access) -> String {
    let name = &kernel.tensor(access.values()).name;
    if access.indices.is_empty() {
        return name.clone();
    }
    let indices: Vec<&str> = access.indices.iter().map(|&variable| kernel.variable(variable)).collect();
    format!("{name}({})", indices.join(", "))
}

/// An expression as text.
pub(crate) fn expr(kernel: &Kernel, value: &Expr) -> String {
    let atom = |operand: &Expr| match operand {
        Expr::Binary(..) | Expr::Unary(..) => format!("({})", expr(kernel, operand)),
        _ => expr(kernel, operand),
    };
    match value {
        Expr::Literal(literal) => literal.to_string(),
        Expr::Access(place) if place.reads == Reading::Stored => format!("stored({})", access(kernel, place)),
        Expr::Access(place) => access(kernel, place),
        Expr::Index(variable, _) => kernel.variable(*variable).to_owned(),
        Expr::Unary(UnaryOperator::Negate, operand) => format!("-{}", atom(operand)),
        Expr::Unary(UnaryOperator::Not, operand) => format!("!{}", atom(operand)),
        Expr::Binary(operator, left, right) => {
            let chained = |operand: &Expr| match operand {
                Expr::Binary(inner, ..) if inner == operator => expr(kernel, operand),
                Expr::Binary(BinaryOperator::Multiply, ..) if *operator == BinaryOperator::Add => expr(kernel, operand),
                _ => atom(operand),
            };
            format!("{} {} {}", chained(left), operator.symbol(), atom(right))
        }
        Expr::Cast(element, operand) => format!("{}({})", element.name(), expr(kernel, operand)),
        Expr::Call(function, arguments) => {
            let arguments: Vec<String> = arguments.iter().map(|argument| expr(kernel, argument)).collect();
            format!("{}({})", function.name(), arguments.join(", "))
        }
        Expr::Select(condition, yes, no) => {
            format!("select({}, {}, {})", expr(kernel, condition), expr(kernel, yes), expr(kernel, no))
        }
        Expr::Reduce(operator, variables, body) => {
            let names: Vec<&str> = variables.iter().map(|&variable| kernel.variable(variable)).collect();
            format!("{}({})({})", reduction_name(*operator), names.join(", "), expr(kernel, body))
        }
    }
}

/// A statement as text, a line each.
pub(crate) fn statement(kernel: &Kernel, statement: &Statement) -> String {
    struct Shown<'a>(&'a Kernel, &'a Statement);
    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write_statement(self.0, self.1, 0, f)
        }
    }
    Shown(kernel, statement).to_string()
}
