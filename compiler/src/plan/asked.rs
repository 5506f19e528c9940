//! What a schedule says of plans: `plan(as_written)`, `plan(memory: 1e9)`; `plan(keep(T))` is for temporaries of the text.

use crate::diagnostics::Span;
use crate::notation::Kernel;
use crate::syntax::{Directive, Expr, ExprKind};

/// What is asked of plans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asked {
    /// Whether statements stay as they are written.
    pub as_written: bool,
    /// The bytes that temporaries may take together.
    pub memory: Option<u64>,
}

/// Directives that say nothing of the loops of a statement.
const ABOUT_ALL: [&str; 2] = ["plan", "deterministic"];

impl Asked {
    /// What one directive asks.
    ///
    /// # Errors
    /// Where it says what can't be asked, in words, and what can.
    pub fn of(directive: &Directive) -> Result<Self, (Span, String, String)> {
        let Some(argument) = directive.arguments.first() else { return Ok(Self::default()) };
        let said = directive.choices.iter().find(|(place, _)| *place == 0).map(|(_, said)| said);
        let help = "write `plan(as_written)`, `plan(memory: 1e9)` with the bytes that temporaries may take, or `plan(keep(T))` with a temporary that is to be made";
        let wrong = |span: Span, message: String| Err((span, message, help.to_owned()));
        match (&argument.kind, said) {
            _ if directive.is_as_written() => Ok(Self { as_written: true, memory: None }),
            (ExprKind::Name(name), Some(said)) if name.name == "memory" => match bytes(said) {
                Some(memory) => Ok(Self { as_written: false, memory: Some(memory) }),
                None => wrong(said.span, "a number of bytes must stand here".to_owned()),
            },
            _ if directive.kept().is_some() => Ok(Self::default()),
            _ => wrong(argument.span, "plans have no such choice".to_owned()),
        }
    }

    /// What the schedule of a kernel asks. One that is about loops leaves all as it is written.
    pub fn of_kernel(kernel: &Kernel) -> Self {
        let mut asked = Self::default();
        for directive in kernel.schedule.iter().flat_map(|schedule| &schedule.directives) {
            let own =
                if directive.name.name == "plan" { Self::of(directive).unwrap_or_default() } else { Self::default() };
            asked.as_written |= own.as_written || !ABOUT_ALL.contains(&directive.name.name.as_str());
            asked.memory = own.memory.or(asked.memory);
        }
        asked
    }
}

/// A number of bytes: `1e9`, `500000`.
fn bytes(said: &Expr) -> Option<u64> {
    let ExprKind::Number { digits, .. } = &said.kind else { return None };
    let bytes: f64 = digits.replace('_', "").parse().ok()?;
    (bytes >= 0.0 && bytes.fract() == 0.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}
