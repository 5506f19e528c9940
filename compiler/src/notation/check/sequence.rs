//! Statements in their order: what is read is made before, what is made is read, and nothing is lost by being made again.

use super::uses;
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes};
use crate::notation::{Role, Tensor};
use crate::syntax::{AssignOperator, Statement};

/// Checks results and temporaries from statement to statement; rounds read those of `kept`, too.
pub(super) fn check(body: &[Statement], tensors: &[Tensor], kept: &[&str], found: &mut Diagnostics) {
    for (place, statement) in body.iter().enumerate() {
        check_reads(body, place, tensors, found);
        check_target(statement, &body[..place], tensors, found);
    }
    let is_read = |name: &str| {
        kept.contains(&name) || body.iter().any(|statement| reads(statement).any(|used| used.name.name == name))
    };
    for tensor in tensors.iter().filter(|tensor| tensor.role == Role::Temporary && !is_read(&tensor.name)) {
        found.push(unused(tensor));
    }
}

/// What a statement reads, masks included.
fn reads(statement: &Statement) -> impl Iterator<Item = uses::Use<'_>> {
    uses::of_statement(statement).into_iter().skip(1)
}

fn assigns(statement: &Statement, name: &str) -> bool {
    statement.target.name.name == name
}

/// What the statement at a place reads before it is made. Where it is never made, that is the problem.
fn check_reads(body: &[Statement], place: usize, tensors: &[Tensor], found: &mut Diagnostics) {
    let mut seen: Vec<&str> = Vec::new();
    for used in reads(&body[place]) {
        let name = used.name.name.as_str();
        let is_made = |tensor: &&Tensor| tensor.name == name && tensor.role != Role::Input;
        let (Some(tensor), false) = (tensors.iter().find(is_made), seen.contains(&name)) else { continue };
        seen.push(name);
        // A statement that reads what it assigns is told so.
        if body[..=place].iter().any(|statement| assigns(statement, name)) {
            continue;
        }
        if let Some(later) = body[place..].iter().find(|statement| assigns(statement, name)) {
            let message = format!("`{}` is read before it is made", tensor.name);
            found.push(
                Diagnostic::new(codes::READ_BEFORE_MADE, used.span, message)
                    .label("read here")
                    .related(later.target.span, "made here")
                    .help("statements run in the order in which they are written: move the one that makes it up"),
            );
        }
    }
}

/// Whether a statement may assign its target, after those before it.
fn check_target(statement: &Statement, before: &[Statement], tensors: &[Tensor], found: &mut Diagnostics) {
    let name = &statement.target.name.name;
    let is_it = |tensor: &&Tensor| tensor.name == *name && tensor.role != Role::Input;
    // A second `let` declares its name twice, and is told so.
    let (Some(tensor), false) = (tensors.iter().find(is_it), statement.is_let) else { return };
    let earlier = before.iter().find(|earlier| assigns(earlier, name));
    let target = &statement.target;
    match earlier {
        Some(earlier) if statement.operator == AssignOperator::Assign => found.push(
            Diagnostic::new(codes::ASSIGNED_TWICE, target.span, format!("`{name}` is assigned twice"))
                .label("what it holds would be lost")
                .related(earlier.target.span, "assigned first here")
                .help(format!("to add to what is there, write `{target} += …`; else give one of them another name")),
        ),
        None if tensor.role == Role::Temporary => found.push(
            Diagnostic::new(codes::READ_BEFORE_MADE, target.span, format!("`{name}` is updated before it is made"))
                .label("updated here")
                .related(tensor.span, "made here")
                .help(format!("begin with `let {target} = …`")),
        ),
        _ => {}
    }
}

/// A temporary that no statement reads.
fn unused(tensor: &Tensor) -> Diagnostic {
    let message = format!("the temporary `{}` is not used", tensor.name);
    Diagnostic::new(codes::UNUSED_TEMPORARY, tensor.span, message)
        .label("no statement reads it")
        .help("remove the statement, or declare it as a result behind the `->`")
}
