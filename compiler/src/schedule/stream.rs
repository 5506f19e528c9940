//! A tensor that comes in parts: what is computed of each, and how results of parts become the result.
//!
//! `stream(X, 16)` cuts the stored entries of `X` into 16 parts. Each is a tensor by itself, with the shape of the whole, and
//! goes through the kernel alone; what comes out is combined by the operator that the statement reduces by. That gives what
//! the whole gives where the right-hand side is, wherever `X` has no entry, what changes nothing for that operator:
//!
//! ```text
//! y(i) = sum(j)(X(i, j) * x(j))      zero without X(i, j)         y = y₀ + y₁ + …
//! d(i) = min(j)(X(i, j) + t(j))      infinite without X(i, j)     d = min(d₀, d₁, …)
//! y(i) = sum(j)(X(i, j) * X(j, i))   two entries at once          refused
//! ```

use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes};
use crate::ir::{Domain, ReduceOperator};
use crate::notation::{self, Access, Assignment, BinaryOperator, Expr, IndexVariable, Role, TensorId, UnaryOperator};
use crate::syntax::{Directive, ExprKind};

/// A tensor that comes in parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Stream {
    /// Its name.
    pub tensor: String,
    /// How many parts.
    pub parts: u64,
    /// What results of parts are combined by.
    pub operator: ReduceOperator,
    /// What makes one result of two: results so far, and those of a part.
    pub combine: notation::Kernel,
}

/// The tensor that a kernel's schedule asks for in parts, if it does.
pub fn streamed(kernel: &notation::Kernel) -> Option<&str> {
    match &directives(kernel).next()?.arguments.first()?.kind {
        ExprKind::Name(tensor) => Some(&tensor.name),
        _ => None,
    }
}

/// The directives of a kernel that ask for parts.
fn directives(kernel: &notation::Kernel) -> impl Iterator<Item = &Directive> {
    let all = kernel.schedule.iter().flat_map(|schedule| &schedule.directives);
    all.filter(|directive| directive.name.name == "stream")
}

/// The directive of a kernel that asks for parts, if one does.
pub(super) fn asked(kernel: &notation::Kernel) -> Result<Option<Stream>, Diagnostics> {
    let mut streams = directives(kernel);
    let Some(directive) = streams.next() else { return Ok(None) };
    if let Some(second) = streams.next() {
        let help = "a kernel reads one tensor in parts";
        return Err(refusal(second, "two tensors in parts".to_owned(), help.to_owned()).into());
    }
    let [tensor, parts] = &directive.arguments[..] else { return Ok(None) };
    let ExprKind::Name(tensor) = &tensor.kind else { return Ok(None) };
    let parts = match &parts.kind {
        ExprKind::Number { digits, .. } => digits.parse::<u64>().ok().filter(|&parts| parts > 0),
        _ => None,
    };
    let Some(parts) = parts else {
        return Err(refusal(directive, "no parts".to_owned(), "there is at least 1".to_owned()).into());
    };
    let stream = stream(kernel, &tensor.name, parts);
    stream.map(Some).map_err(|(message, help)| refusal(directive, message, help).into())
}

pub(super) fn refusal(directive: &Directive, message: String, help: String) -> Diagnostic {
    let problem = Diagnostic::new(codes::SCHEDULE_REFUSED, directive.span, message);
    problem.label("can't be kept to").help(help)
}

/// The stream of a kernel that reads a tensor in so many parts.
///
/// # Errors
/// Why its results are not made of those of parts, and what to do about it.
pub fn stream(kernel: &notation::Kernel, tensor: &str, parts: u64) -> Result<Stream, (String, String)> {
    let is_it = |found: &notation::Tensor| found.name == tensor && found.role == Role::Input;
    let Some(place) = kernel.tensors.iter().position(is_it) else {
        return Err((format!("`{tensor}` is no parameter"), "parts are of what comes from outside".to_owned()));
    };
    let [statement] = &kernel.statements[..] else {
        let help = "make a kernel of the statement that reads it".to_owned();
        return Err(("a kernel of several statements needs all parts at once".to_owned(), help));
    };
    if kernel.repeat.is_some() {
        let help = "take the statement out of the `repeat`";
        return Err(("each round needs all parts".to_owned(), help.to_owned()));
    }
    if statement.is_recurrent() {
        let help = "a recurrence needs all parts, one after the other";
        return Err(("the statement reads its own result".to_owned(), help.to_owned()));
    }
    if kernel.has_symmetric() {
        return Err(symmetric());
    }
    let of = Parts { kernel, tensor: TensorId(place), statement };
    if of.kernel.tensors[place].format.is_dense() {
        return Err((format!("`{tensor}` is dense"), "parts are of stored entries: store it as sparse".to_owned()));
    }
    if super::pattern::has_another(kernel, tensor) {
        let help = "leave `same_pattern` out: parts of one are not at the places of the other";
        return Err((format!("`{tensor}` has the pattern of another input"), help.to_owned()));
    }
    let operator = of.operator();
    let unequal = |reason: Reason| {
        let message = format!("the result is not made of those of parts of `{tensor}`: {}", reason.what);
        (message, reason.help.to_owned())
    };
    of.check(operator).map_err(unequal)?;
    let combine = combination(kernel, &statement.target, operator);
    Ok(Stream { tensor: tensor.to_owned(), parts, operator, combine })
}

/// Why a kernel of symmetric tensors does not run on parts.
pub(super) fn symmetric() -> (String, String) {
    let help = "declare its tensors without: parts are of all entries".to_owned();
    ("a kernel with symmetric tensors needs all entries at once".to_owned(), help)
}

/// Why a result is not made of those of parts.
struct Reason {
    what: String,
    help: &'static str,
}

impl Reason {
    fn new(what: impl Into<String>, help: &'static str) -> Self {
        Self { what: what.into(), help }
    }
}

/// A statement that is asked whether it can take a tensor in parts.
struct Parts<'a> {
    kernel: &'a notation::Kernel,
    tensor: TensorId,
    statement: &'a Assignment,
}

impl Parts<'_> {
    /// What combines results: what the statement reduces by, or what leaves alone what one part has written.
    fn operator(&self) -> ReduceOperator {
        let by_fill = || {
            let fill = self.kernel.begins_with(self.statement);
            let leaves =
                |operator: &ReduceOperator| operator.row().domain != Domain::Bits && operator.is_identity(fill);
            ReduceOperator::ALL.into_iter().find(leaves).unwrap_or(ReduceOperator::Add)
        };
        self.statement.operator.or_else(|| reduction(&self.statement.value)).unwrap_or_else(by_fill)
    }

    fn check(&self, operator: ReduceOperator) -> Result<(), Reason> {
        let target = self.kernel.tensor(self.statement.target.tensor);
        let begins = self.kernel.begins_with(self.statement);
        if !operator.is_identity(begins) {
            let what = format!("`{}` begins with {begins}", target.name);
            return Err(Reason::new(what, "declare the fill value that the reduction begins with"));
        }
        match &self.statement.mask {
            Some(mask) if mask.tensor == self.tensor => self.masked(mask, &self.statement.value),
            _ => self.separable(operator, &self.statement.value),
        }
    }

    /// Whether what is computed at an entry reads no other.
    fn masked(&self, mask: &Access, value: &Expr) -> Result<(), Reason> {
        let others =
            value.accesses().into_iter().any(|access| access.tensor == self.tensor && !access.same_place(mask));
        let reason = || Reason::new("what is computed at an entry reads others", AT_ONCE);
        if others { Err(reason()) } else { Ok(()) }
    }

    /// Whether a value is the reduction of what it is of parts.
    fn separable(&self, operator: ReduceOperator, value: &Expr) -> Result<(), Reason> {
        match value {
            Expr::Reduce(by, _, body) if *by == operator => self.separable(operator, body),
            Expr::Binary(BinaryOperator::Add | BinaryOperator::Subtract, left, right)
                if operator == ReduceOperator::Add =>
            {
                self.separable(operator, left).and_then(|()| self.separable(operator, right))
            }
            Expr::Unary(UnaryOperator::Negate, operand) if operator == ReduceOperator::Add => {
                self.separable(operator, operand)
            }
            _ => self.gated(operator, value),
        }
    }

    /// Whether a value is of one entry alone, and nothing without it.
    fn gated(&self, operator: ReduceOperator, value: &Expr) -> Result<(), Reason> {
        let own: Vec<&Access> = value.accesses().into_iter().filter(|access| access.tensor == self.tensor).collect();
        let Some((first, others)) = own.split_first() else {
            return Err(Reason::new("a term does not read it", NOTHING));
        };
        if others.iter().any(|access| !access.same_place(first)) {
            return Err(Reason::new("a term reads two of its entries at once", AT_ONCE));
        }
        if self.reduces(value) {
            let help = "make the reduction in a kernel of its own, and the rest in another";
            return Err(Reason::new("more is done with a reduction over its entries", help));
        }
        let missing = |access: &Access| (access.tensor == self.tensor).then(|| self.kernel.tensor(self.tensor).fill);
        match notation::simplify::known(value, &missing) {
            Some(known) if operator.is_identity(known) => Ok(()),
            _ => Err(Reason::new("a term is something where it has no entry", NOTHING)),
        }
    }

    /// Whether a reduction in a value is over its entries.
    fn reduces(&self, value: &Expr) -> bool {
        let reads = |expr: &Expr| expr.accesses().iter().any(|access| access.tensor == self.tensor);
        matches!(value, Expr::Reduce(..)) && reads(value)
            || value.children().into_iter().any(|child| self.reduces(child))
    }
}

const AT_ONCE: &str = "let the other entry come from a parameter of its own, which stays whole";

const NOTHING: &str = "each term must be nothing where it has no entry, as a product with it is";

/// The first reduction of a value.
fn reduction(value: &Expr) -> Option<ReduceOperator> {
    match value {
        Expr::Reduce(operator, ..) => Some(*operator),
        _ => value.children().into_iter().find_map(reduction),
    }
}

/// `R(i, …) = so_far(i, …) operator part(i, …)`
fn combination(kernel: &notation::Kernel, target: &Access, operator: ReduceOperator) -> notation::Kernel {
    let result = kernel.tensor(target.tensor);
    let operand = |name: &str| {
        let name = if result.name == name { format!("{name}_") } else { name.to_owned() };
        notation::Tensor { name, role: Role::Input, declared: true, ..result.clone() }
    };
    let tensors = vec![operand("so_far"), operand("part"), result.clone()];
    let indices: Vec<IndexVariable> = (0..result.format.order).map(IndexVariable).collect();
    let variable = |place: usize| {
        let name = format!("i{place}");
        notation::Variable { name, written: None, span: target.span, value: None, extent: None, mode: None }
    };
    let access = |tensor| Access::new(TensorId(tensor), indices.clone(), target.span);
    let value = notation::combine::combine(operator, result.element, Expr::Access(access(0)), Expr::Access(access(1)));
    notation::Kernel {
        name: format!("{}_combine", kernel.name),
        documentation: Vec::new(),
        tensors,
        variables: (0..result.format.order).map(variable).collect(),
        statements: vec![Assignment {
            target: access(2),
            operator: None,
            value,
            mask: None,
            stage: notation::Stage::Before,
            span: target.span,
        }],
        schedule: None,
        warnings: Vec::new(),
        ..kernel.clone()
    }
}
