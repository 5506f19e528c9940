//! Losses: functions of an entry `x` and of what the model has there, `m`.

use crate::decompose::DecomposeError;
use crate::decompose::entries::within;
use crate::execute::{Input, ProgramError, rendered};
use crate::tensor::AnyTensor;
use spc_compiler::diagnostics::codes::notation as codes;
use spc_compiler::diagnostics::{Diagnostic, Diagnostics, Span};
use spc_compiler::notation;
use spc_compiler::syntax::{self, AssignOperator, Expr, ExprKind};

/// A loss: a function of an entry and of what the model has there.
#[derive(Debug, Clone, PartialEq)]
pub enum Loss {
    /// (x - m)².
    Gaussian,
    /// m - x log m, for counts; m > 0. Entries are not negative.
    Poisson,
    /// log(1 + m) - x log m, for truth values; m are odds. Entries are from 0 to 1: truth values, or probabilities.
    Bernoulli,
    /// log(1 + exp m) - x m, for the same; m are the logarithms of odds, and factors may be of any sign.
    BernoulliLogit,
    /// Lines of the language over `x` and `m`: the loss, its derivative by `m`, and the least that factors may be, if any. The loss is
    /// summed over all places of the tensor, also those that are not stored (`x` is 0 there). A tensor is refused where the loss of the start is
    /// not finite at an entry.
    Given {
        /// `m - x * ln(m + 1e-10)`.
        value: String,
        /// `1 - x / (m + 1e-10)`.
        derivative: String,
        /// The least that elements of factors may be.
        least: Option<f64>,
    },
}

/// A loss as kernels compute it.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    /// The whole loss.
    pub(super) value: Expression,
    /// Its derivative by `m`.
    pub(super) derivative: Expression,
    /// The least that elements of factors may be.
    pub(super) least: f64,
    /// Where the loss of a place that is not stored has a sum in closed form.
    pub(super) closed: Option<Closed>,
}

/// A loss of which what does not depend on `x` is summed over all places in closed form.
#[derive(Debug, Clone)]
pub(super) struct Closed {
    /// What does not depend on `x`.
    pub(super) rest: Rest,
    /// The loss less that: a product with `x`, so that it is one sum over the stored entries.
    pub(super) value: Expression,
    /// Its derivative by `m`.
    pub(super) derivative: Expression,
}

/// The part of a loss that does not depend on `x`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// m², whose sum is that of the Hadamard product of the factors' Gram matrices.
    Square,
    /// m, whose sum is that of the products of the factors' column sums. Factors are not negative.
    Linear,
}

impl Loss {
    /// Refuses a tensor with an entry that the loss is not defined for.
    pub(in crate::decompose::cp) fn admit(&self, x: &AnyTensor) -> Result<(), DecomposeError> {
        match self {
            Loss::Gaussian | Loss::Given { .. } => Ok(()),
            Loss::Poisson => within(x, (0.0, f64::INFINITY), "Poisson"),
            Loss::Bernoulli => within(x, (0.0, 1.0), "Bernoulli"),
            Loss::BernoulliLogit => within(x, (0.0, 1.0), "Bernoulli-logit"),
        }
    }

    /// What kernels compute.
    pub(super) fn terms(&self) -> Result<Terms, DecomposeError> {
        let closed = |rest, value, derivative| -> Result<Option<Closed>, DecomposeError> {
            let (value, derivative) = (Expression::of("value", value)?, Expression::of("derivative", derivative)?);
            Ok(Some(Closed { rest, value, derivative }))
        };
        let (value, derivative, least, closed) = match self {
            Loss::Gaussian => {
                let closed = closed(Rest::Square, "x * (x - 2 * m)", "-2 * x")?;
                ("(x - m) * (x - m)", "2 * (m - x)", None, closed)
            }
            Loss::Poisson => {
                let closed = closed(Rest::Linear, "-x * ln(m + 1e-10)", "-x / (m + 1e-10)")?;
                ("m - x * ln(m + 1e-10)", "1 - x / (m + 1e-10)", Some(0.0), closed)
            }
            Loss::Bernoulli => ("ln(m + 1) - x * ln(m + 1e-10)", "1 / (m + 1) - x / (m + 1e-10)", Some(0.0), None),
            // The exponent is never positive, so that nothing overflows.
            Loss::BernoulliLogit => {
                let derivative = "select(m > 0, 1, exp(-abs(m))) / (1 + exp(-abs(m))) - x";
                ("max(m, 0) + ln(1 + exp(-abs(m))) - x * m", derivative, None, None)
            }
            Loss::Given { value, derivative, least } => (&value[..], &derivative[..], *least, None),
        };
        if least.is_some_and(|least| !least.is_finite()) {
            return Err(DecomposeError::Option("the least element of factors is a finite number".to_owned()));
        }
        Ok(Terms {
            value: Expression::of("value", value)?,
            derivative: Expression::of("derivative", derivative)?,
            least: least.unwrap_or(f64::NEG_INFINITY),
            closed,
        })
    }
}

/// An expression of the language over `x` and `m`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expression {
    text: String,
    /// Where `x` and `m` are, in order.
    names: Vec<(Span, String)>,
}

const STATEMENT: &str = "loss = ";
const KERNEL: &str = "fn f(x: f64, m: f64) -> (loss: f64, both: f64) { both = x * m; loss = (";

impl Expression {
    /// Checks an expression; `what` it is of a loss is said with what is wrong.
    fn of(what: &str, text: &str) -> Result<Self, DecomposeError> {
        if text.trim().is_empty() {
            let message = format!("the {what} of the loss is missing: it is an expression over `x` and `m`");
            return Err(DecomposeError::Option(message));
        }
        let refuse = |found: Diagnostics, begin: usize| {
            let found = found.into_iter().map(|problem| moved(problem, begin, text.len())).collect();
            DecomposeError::Kernel(ProgramError::Text(rendered(text, &format!("<{what} of the loss>"), found)))
        };
        let parsed = syntax::parse_statement(&format!("{STATEMENT}{text}"));
        let statement = parsed.map_err(|found| refuse(found, STATEMENT.len()))?;
        let mut problems = Diagnostics::new();
        if statement.mask.is_some() || statement.is_let || statement.operator != AssignOperator::Assign {
            let problem = "a loss is one expression over `x` and `m`";
            problems.push(Diagnostic::new(codes::UNKNOWN_NAME, statement.span, problem));
        }
        let mut names = Vec::new();
        collect(&statement.value, &mut names, &mut problems);
        if !problems.is_empty() {
            return Err(refuse(problems, STATEMENT.len()));
        }
        let kernel = format!("{KERNEL}{text}\n); }}");
        let checked = syntax::parse_program(&kernel).and_then(|program| notation::check(&program));
        checked.map_err(|found| refuse(found, KERNEL.len()))?;
        for (span, _) in &mut names {
            *span = shifted(*span, STATEMENT.len(), text.len());
        }
        Ok(Self { text: text.to_owned(), names })
    }

    /// Whether it reads `x` or `m`.
    fn reads(&self, name: &str) -> bool {
        self.names.iter().any(|(_, read)| read == name)
    }

    /// The expression with an access in the place of each.
    pub(super) fn with(&self, x: &str, m: &str) -> String {
        let mut text = self.text.clone();
        for (span, name) in self.names.iter().rev() {
            text.replace_range(span.start..span.end, if name == "x" { x } else { m });
        }
        // The line may end in a comment.
        format!("({text}\n)")
    }
}

/// Finds the names in an expression, in order, and what a loss may not have.
fn collect(expression: &Expr, names: &mut Vec<(Span, String)>, problems: &mut Diagnostics) {
    let help = "a loss is computed at each place by itself, of the entry `x` and of what the model has there, `m`";
    match &expression.kind {
        ExprKind::Name(name) if name.name == "x" || name.name == "m" => names.push((name.span, name.name.clone())),
        ExprKind::Name(name) => {
            let problem = format!("there is no `{}` in a loss", name.name);
            problems.push(Diagnostic::new(codes::UNKNOWN_NAME, name.span, problem).help(help));
        }
        // The checks of the language refuse indices, and functions that there are not.
        ExprKind::Access(_) => {}
        ExprKind::Reduce { .. } => {
            let problem = "a reduction in a loss";
            problems.push(Diagnostic::new(codes::REDUCTION_VARIABLE, expression.span, problem).help(help));
        }
        _ => expression.children().into_iter().for_each(|child| collect(child, names, problems)),
    }
}

/// A problem of a longer text as one of the part that begins there.
fn moved(mut problem: Diagnostic, begin: usize, length: usize) -> Diagnostic {
    problem.span = shifted(problem.span, begin, length);
    problem.related.clear();
    problem
}

fn shifted(span: Span, begin: usize, length: usize) -> Span {
    let place = |at: usize| at.saturating_sub(begin).min(length);
    Span::new(place(span.start), place(span.end))
}

/// Which of the tensor and the model an expression reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reads {
    pub(super) x: bool,
    pub(super) m: bool,
}

impl Reads {
    pub(super) fn of(expression: &Expression) -> Self {
        Self { x: expression.reads("x"), m: expression.reads("m") }
    }

    /// `X` and `M`, as kernels call them.
    pub(super) fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        [self.x.then_some("X"), self.m.then_some("M")].into_iter().flatten()
    }

    /// Those that are read.
    pub(super) fn inputs<'t>(self, x: &'t AnyTensor, m: &'t AnyTensor) -> Vec<&'t dyn Input> {
        let [x, m] = [x, m].map(|tensor| tensor as &dyn Input);
        [self.x.then_some(x), self.m.then_some(m)].into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Expression::of("value", text).unwrap_err().to_string()
    }

    #[test]
    fn names_are_replaced_where_they_are_names() {
        let expression = Expression::of("value", "max(m, x) - exp(x*m) // x").unwrap();
        assert_eq!(expression.with("X(i)", "M(i)"), "(max(M(i), X(i)) - exp(X(i)*M(i)) // x\n)");
        assert!(expression.reads("x") && expression.reads("m"));
        assert!(!Expression::of("value", "2 * m").unwrap().reads("x"));
    }

    #[test]
    fn what_is_wrong_is_said_at_its_place() {
        for (text, place, problem) in [
            ("m - x * lg(m)", "1:9", "no tensor `lg`"),
            ("m - x * y", "1:9", "no `y` in a loss"),
            ("m - x * ", "1:8", "expected"),
            ("m -\n x * q", "2:6", "no `q`"),
            ("x(i) - m", "1:1", "`x`"),
            ("m - sum(i)(x)", "1:5", "a reduction"),
            ("m; both = 3", "1:4", "expected the end"),
            ("m where x", "1:1", "one expression"),
            ("m) + (x", "1:2", ""),
            ("x < m", "1:1", ""),
        ] {
            let text = message(text);
            assert!(text.contains(&format!("<value of the loss>:{place}")) && text.contains(problem), "{text}");
        }
        assert_eq!(message(" "), "the value of the loss is missing: it is an expression over `x` and `m`");
    }

    #[test]
    fn a_bound_is_a_number() {
        let given = Loss::Given { value: "m".to_owned(), derivative: "1".to_owned(), least: Some(f64::NAN) };
        assert!(given.terms().unwrap_err().to_string().contains("finite"));
    }
}
