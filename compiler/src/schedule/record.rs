//! The schedule of a program, complete: every decision that a directive can ask for, as that directive, with its reason.
//!
//! It is read off the [remarks](crate::remark) that stages leave where they decide, and the loops. Written behind the kernel's body it
//! asks for the same loops:
//!
//! ```text
//! schedule {
//!     assemble(y: dense);    // every level of the result is dense
//!     reorder(i, j);         // …
//!     accumulate(j: t);      // …
//!     parallel(i: balanced(A));
//! }
//! ```

use super::directives::is_called;
use super::{IndexVariable, Kernel, Run, Statement, Target, TensorKind, level_variables};
use crate::ir::Choice;
use crate::notation::Chain;
use crate::remark::{Remark, What, Why};
use crate::syntax::{Directive, ExprKind};

/// A directive of a complete schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The tensor that the statement makes which it is said of; all where there is none.
    pub scope: Option<String>,
    /// The directive; `None` where there is none for what was decided, which is in the reason.
    pub directive: Option<String>,
    /// Why.
    pub why: String,
}

/// The order in which directives are printed: that of the stages which they are about. Those that change loops stay in the order of the
/// text.
const STAGES: &[&[&str]] = &[
    &["same_pattern"],
    &["inline", "materialize"],
    &["walk"],
    &["copy"],
    &["assemble"],
    &["workspace"],
    &["stream", "distribute", "replicate"],
    &["split", "fuse", "positions", "precompute", "unroll", "reorder"],
    &["accumulate"],
    &["vector"],
    &["simd", "register_tile"],
    &["parallel"],
    &[],
    &["deterministic"],
];

/// The place in [`STAGES`] of directives that change loops.
const CHANGES_LOOPS: usize = 7;

fn stage(directive: &str) -> usize {
    let name = directive.split('(').next().unwrap_or_default();
    let unknown = STAGES.iter().position(|names| names.is_empty()).unwrap_or_default();
    STAGES.iter().position(|names| names.contains(&name)).unwrap_or(unknown)
}

/// All that was decided of scheduled kernels, statement by statement; with each comes what passes made of its loops, where they ran.
pub fn record<'a>(chain: &Chain, kernels: impl Iterator<Item = (&'a Kernel, &'a [Choice])>) -> Vec<Chosen> {
    let (kernels, choices): (Vec<&Kernel>, Vec<&[Choice]>) = kernels.unzip();
    let mut all = chosen(None, chain, chain.decisions.iter());
    for (kernel, choices) in kernels.iter().zip(choices) {
        let scope = (kernels.len() > 1).then(|| result(kernel)).flatten();
        let mut remarks: Vec<Remark> =
            kernel.decisions.iter().filter(|remark| is_last_word(remark, kernel)).cloned().collect();
        // The order of its loops, their sums and vectors follow from such a walk.
        if remarks.iter().any(|remark| matches!(remark.what, What::WalkedOnce(_))) {
            let is_inside =
                |what: &What| matches!(what, What::Accumulated { .. } | What::Reordered(_) | What::Vector(_));
            remarks.retain(|remark| !is_inside(&remark.what));
            all.extend(chosen(scope, chain, remarks.iter()));
            continue;
        }
        remarks.extend(copies(kernel));
        remarks.extend(vectors(kernel));
        if kernel.target == Target::Cpu {
            remarks.extend(super::directive::made(kernel, choices));
        }
        let mut nests = Vec::new();
        collect(kernel, &kernel.body, &mut Vec::new(), &mut nests);
        nests.iter_mut().for_each(|nest| nest.retain(|name| is_nameable(chain, name)));
        let orders = orders(&nests);
        remarks.extend(orders.into_iter().map(|loops| Remark::new(What::Reordered(loops), Why::LevelsInOrder)));
        all.extend(chosen(scope, chain, remarks.iter()));
    }
    let asked = asked(chain, &all);
    let mut record: Vec<Chosen> = asked.into_iter().chain(all).collect();
    let scopes: Vec<Option<String>> =
        std::iter::once(None).chain(kernels.iter().map(|kernel| result(kernel))).collect();
    let place = |scope: &Option<String>| scopes.iter().position(|known| known == scope);
    record.sort_by_key(|chosen| {
        let stage = chosen.directive.as_deref().map_or(STAGES.len(), stage);
        // Within a stage names sort, but for what changes loops.
        let keeps_order = chosen.directive.is_none() || stage == CHANGES_LOOPS;
        let text = if keeps_order { None } else { chosen.directive.clone() };
        (place(&chosen.scope), stage, text)
    });
    let mut seen: Vec<Chosen> = Vec::new();
    for chosen in record {
        let is_seen = |other: &Chosen| {
            other.directive == chosen.directive && (other.scope.is_none() || other.scope == chosen.scope)
        };
        if chosen.directive.is_none() || !seen.iter().any(is_seen) {
            seen.push(chosen);
        }
    }
    seen
}

/// A complete schedule as text: it parses.
pub fn text(record: &[Chosen]) -> String {
    let mut text = "schedule {\n".to_owned();
    for same in record.chunk_by(|one, next| one.scope == next.scope) {
        let indent = if same[0].scope.is_some() { "        " } else { "    " };
        if let Some(scope) = &same[0].scope {
            text += &format!("    on {scope} {{\n");
        }
        let lines = same.iter().filter_map(|chosen| chosen.directive.as_ref().map(|text| (text, &chosen.why)));
        let width = lines.clone().map(|(line, _)| line.chars().count()).filter(|&width| width < 60).max().unwrap_or(0);
        for (line, why) in lines {
            text += &format!("{indent}{:<width$}  // {why}\n", format!("{line};"), width = width + 1);
        }
        for note in same.iter().filter(|chosen| chosen.directive.is_none()) {
            text += &format!("{indent}// {}\n", note.why);
        }
        if same[0].scope.is_some() {
            text += "    }\n";
        }
    }
    text + "}\n"
}

fn chosen<'a>(scope: Option<String>, chain: &Chain, remarks: impl Iterator<Item = &'a Remark>) -> Vec<Chosen> {
    let can_be_said = |remark: &Remark| match &remark.what {
        What::Vector(name)
        | What::Simd(name, _)
        | What::Tiled(name, _)
        | What::Parallel { variable: name, .. }
        | What::Accumulated { variable: name, .. } => is_nameable(chain, name),
        _ => true,
    };
    let of = |remark: &Remark| match remark.what.directive().filter(|_| can_be_said(remark)) {
        Some(directive) => {
            Some(Chosen { scope: scope.clone(), directive: Some(directive), why: remark.why.to_string() })
        }
        None => {
            let why = format!("{}: {}", remark.what, remark.why);
            remark.what.is_told().then(|| Chosen { scope: scope.clone(), directive: None, why })
        }
    };
    remarks.filter_map(of).collect()
}

/// The result of a kernel of one statement.
fn result(kernel: &Kernel) -> Option<String> {
    let is_result = |tensor: &&super::Tensor| matches!(tensor.kind, TensorKind::Output(_));
    kernel.tensors.iter().find(is_result).map(|tensor| tensor.name.clone())
}

/// Whether the text has a name for a loop: windows have none.
fn is_nameable(chain: &Chain, name: &str) -> bool {
    !chain.kernel.variables.iter().any(|variable| variable.name == name && variable.written.is_none())
}

/// Whether nothing that is said of the same thing says more, as how entries are appended does; and whether it holds for all loops of
/// the name. Vector loops are read off the loops.
fn is_last_word(remark: &Remark, kernel: &Kernel) -> bool {
    match &remark.what {
        What::Assembled(name, _) => {
            let is_more = |other: &Remark| matches!(&other.what, What::Entries(of, _) if name == of);
            !kernel.decisions.iter().any(is_more)
        }
        What::Parallel { variable, .. } => {
            all_run(kernel, variable, &|run| matches!(run, Run::Parallel | Run::ParallelOr(_)))
        }
        What::Vector(_) => false,
        _ => true,
    }
}

/// Whether all loops over variables of a name run in one way.
fn all_run(kernel: &Kernel, name: &str, is_it: &dyn Fn(Run) -> bool) -> bool {
    let mut all = true;
    kernel.body.for_each_loop(&mut |variable, run, _| {
        all &= !is_same(kernel.variable(variable), name) || is_it(run);
    });
    all
}

/// The loops in vector lanes, where all of a name are.
fn vectors(kernel: &Kernel) -> Vec<Remark> {
    let mut found: Vec<Remark> = Vec::new();
    kernel.body.for_each_loop(&mut |variable, run, _| {
        let name = kernel.variable(variable).to_owned();
        if run == Run::Vector && all_run(kernel, &name, &|run| run == Run::Vector) {
            let remark = Remark::new(What::Vector(name.clone()), Why::DenseAlong(name));
            if !found.contains(&remark) {
                found.push(remark);
            }
        }
    });
    found
}

/// The copies that loops read.
fn copies(kernel: &Kernel) -> Vec<Remark> {
    let mut found: Vec<Remark> = Vec::new();
    kernel.body.for_each_read(&mut |access| {
        let tensor = kernel.tensor(access.tensor);
        if !matches!(tensor.kind, TensorKind::SortedCopy(_)) {
            return;
        }
        let name = kernel.original_name(access.tensor);
        let order = kernel.names(&level_variables(access, &tensor.format));
        let reason = kernel.decisions.iter().find(|remark| match &remark.what {
            What::Transposed { tensor, .. } | What::Converted(tensor) => *tensor == name,
            _ => false,
        });
        let why = reason.map_or(Why::AgainstLoops, |remark| remark.why.clone());
        let remark = Remark::new(What::Copied { tensor: name, order }, why);
        if !found.contains(&remark) {
            found.push(remark);
        }
    });
    found
}

/// The orders of loops, as far as none contradicts another: names stand for the loops of all terms.
fn orders(nests: &[Vec<String>]) -> Vec<Vec<String>> {
    let comes_behind = |outer: &str, inner: &str| {
        nests.iter().any(|nest| {
            let last = nest.iter().rposition(|name| is_same(name, outer));
            let first = nest.iter().position(|name| is_same(name, inner));
            matches!((last, first), (Some(outer), Some(inner)) if inner < outer)
        })
    };
    let mut orders: Vec<Vec<String>> = Vec::new();
    let mut open: Vec<Vec<String>> = nests.to_vec();
    while let Some(mut nest) = open.pop() {
        nest = nest
            .iter()
            .enumerate()
            .filter(|(place, name)| !nest[..*place].contains(name))
            .map(|(_, name)| name.clone())
            .collect();
        let pairs = || (0..nest.len()).flat_map(|outer| (outer + 1..nest.len()).map(move |inner| (outer, inner)));
        if let Some((outer, inner)) = pairs().find(|&(outer, inner)| comes_behind(&nest[outer], &nest[inner])) {
            for left_out in [outer, inner] {
                let mut part = nest.clone();
                part.remove(left_out);
                open.push(part);
            }
        } else if nest.len() > 1 && !orders.iter().any(|other| is_part(&nest, other)) {
            orders.retain(|other| !is_part(other, &nest));
            orders.push(nest);
        }
    }
    orders.reverse();
    orders
}

fn is_same(one: &str, other: &str) -> bool {
    is_called(one, other) || is_called(other, one)
}

/// Whether some names come in another list in the same order.
fn is_part(some: &[String], all: &[String]) -> bool {
    let mut rest = all.iter();
    some.iter().all(|name| rest.any(|other| other == name))
}

/// The loops around each assignment by their names.
fn collect(kernel: &Kernel, statement: &Statement, around: &mut Vec<IndexVariable>, nests: &mut Vec<Vec<String>>) {
    match statement {
        Statement::Empty => {}
        Statement::Assign(_) => {
            let is_named = |name: &String| name.chars().all(|letter| letter == '_' || letter.is_alphanumeric());
            let ranges = around.iter().filter(|variable| kernel.variables[variable.0].share.is_none());
            let names: Vec<String> = ranges.map(|&variable| kernel.variable(variable).to_owned()).collect();
            nests.push(names.into_iter().filter(is_named).collect());
        }
        Statement::Forall { variable, body, .. } => {
            around.push(*variable);
            collect(kernel, body, around, nests);
            around.pop();
        }
        Statement::Where { consumer, producer, .. } => {
            collect(kernel, producer, around, nests);
            collect(kernel, consumer, around, nests);
        }
        Statement::Sequence(statements) => {
            statements.iter().for_each(|inner| collect(kernel, inner, around, nests));
        }
    }
}

/// What the schedule asks for and the record does not say again.
fn asked(chain: &Chain, all: &[Chosen]) -> Vec<Chosen> {
    let directives = chain.kernel.schedule.iter().flat_map(|schedule| &schedule.directives);
    let is_said = |directive: &&Directive| {
        all.iter().filter_map(|chosen| chosen.directive.as_deref()).any(|said| says(said, directive))
    };
    let of = |directive: &Directive| Chosen {
        scope: directive.scope.as_ref().map(|scope| scope.name.clone()).filter(|_| chain.links.len() > 1),
        directive: Some(directive.to_string()),
        why: Why::Asked.to_string(),
    };
    directives.filter(|directive| !is_said(directive)).map(of).collect()
}

/// Whether a directive of the record says what was asked for, or more of the same.
fn says(said: &str, asked: &Directive) -> bool {
    let text = asked.to_string();
    let head = |text: &str| text.split([')', ':', ',']).next().unwrap_or_default().to_owned();
    let name = |text: &str| head(text).splitn(3, '(').take(2).collect::<Vec<_>>().join("(");
    match asked.name.name.as_str() {
        "assemble" | "workspace" | "accumulate" | "inline" | "materialize" => name(said) == name(&text),
        "walk" => asked.choices.is_empty() && head(said) == head(&text),
        "parallel" => asked.choices.is_empty() && head(said) == head(&text),
        "reorder" => {
            let loops = said.strip_prefix("reorder(").and_then(|rest| rest.strip_suffix(')'));
            let loops: Vec<String> = loops.unwrap_or_default().split(", ").map(str::to_owned).collect();
            let wanted: Vec<String> = asked
                .arguments
                .iter()
                .filter_map(|argument| match &argument.kind {
                    ExprKind::Name(name) => Some(name.name.clone()),
                    _ => None,
                })
                .collect();
            is_part(&wanted, &loops)
        }
        _ => said == text,
    }
}
