//! Kernels that run one after the other.
//!
//! In: a kernel of the notation, of one statement or several. Out: [`Program`], a scheduled kernel for each statement that is
//! left after fusing. Before and after, with `A: csr` and the rest dense:
//!
//! ```text
//! let p(i) = A(i, j) * x(j);               kernel step_p(A, x) -> p
//! y(i) = A(i, j) * p(j);             →     kernel step_y(A, p) -> y
//! ```
//!
//! Names tie them together: tensors of one name are one tensor, extents of one name are one extent.

use super::extents::{extents, mode_extents};
use super::scheduler::kernel;
use super::state::{Options, Scope};
use super::{Extent, IndexVariable, Kernel, Statement, Stream, TensorKind, Variable};
use crate::diagnostics::{Diagnostic, Diagnostics, codes::notation as codes};
use crate::ir::Rounds;
use crate::notation::{self, Chain, Link, Role, Stage, TensorId};
use crate::syntax::{Directive, Schedule};
use std::borrow::Cow;

/// Scheduled kernels, and what they are together.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The statements that the kernels are of, and why there are as many as there are.
    pub chain: Chain,
    /// What the kernels are together: the parameters, all index variables and extents. It has no loops.
    pub interface: Kernel,
    /// The names of the results, in the order of their declaration.
    pub results: Vec<String>,
    /// The kernels, in the order in which they run.
    pub kernels: Vec<Kernel>,
    /// Those of the kernels that are repeated, if some are.
    pub rounds: Option<Rounds>,
    /// The input that is to come in parts, if one is.
    pub stream: Option<Stream>,
}

/// The most sparse operands of one statement: their merge lattice has a point for each set of them.
const MOST_OPERANDS: usize = 12;

/// So many are tried where even these have too many cases.
const FEWER_OPERANDS: [usize; 3] = [6, 3, 2];

/// The default schedule of a kernel: fused where that is not more work, a scheduled kernel for each statement that is left.
///
/// # Errors
/// What the language can say and the scheduler can't do yet, with its place.
pub fn schedule(kernel: &notation::Kernel, options: Options) -> Result<Program, Diagnostics> {
    let stream = super::stream::asked(kernel)?;
    super::distribute::placed(kernel)?;
    super::distribute::replicated(kernel)?;
    loops(kernel, options).map(|program| Program { stream, ..program })
}

fn loops(kernel: &notation::Kernel, options: Options) -> Result<Program, Diagnostics> {
    let kernel = &*kernel.with_stored_results();
    let attempt = |(fuse, most)| program(kernel, notation::chain(kernel, fuse, most), options);
    let problems = match attempt((options.fuse, MOST_OPERANDS)) {
        Ok(program) => return Ok(program),
        Err(problems) => problems,
    };
    // What is too much for one loop nest may not be for several.
    let made = (options.fuse && kernel.statements.len() > 1).then_some((false, MOST_OPERANDS));
    let are_too_many = problems.iter().any(|problem| problem.code == codes::TOO_MANY_OPERANDS);
    let narrower = FEWER_OPERANDS.into_iter().filter(|_| are_too_many).map(|most| (options.fuse, most));
    made.into_iter().chain(narrower).find_map(|way| attempt(way).ok()).ok_or(problems)
}

fn program(whole: &notation::Kernel, chain: Chain, options: Options) -> Result<Program, Diagnostics> {
    if !chain.problems.is_empty() {
        return Err(chain.problems);
    }
    let (variables, mut extents) = extents(&chain.kernel);
    name_apart(&mut extents);
    let scope = Scope { variables, extents };
    let mut problems = Diagnostics::new();
    let mut kernels = Vec::with_capacity(chain.links.len());
    for link in &chain.links {
        problems.extend(too_many_operands(&link.kernel));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for link in &chain.links {
        match kernel(&of_its_own(&link.kernel), scope.of(&link.variables), options) {
            Ok(kernel) => kernels.push(kernel),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        problems = super::precompute::missing(&chain.kernel, &kernels);
        problems.extend(super::directive::unkept(&chain, &kernels));
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let results = chain.kernel.tensors.iter().filter(|tensor| tensor.role == Role::Output);
    let results = results.map(|tensor| tensor.name.clone()).collect();
    let mut scope = scope;
    restore_names(whole, &chain.kernel, &mut scope);
    let interface = interface(&chain, scope);
    let rounds = rounds(whole, &chain);
    Ok(Program { chain, interface, results, kernels, rounds, stream: None })
}

/// Which of the links a `repeat` has.
fn rounds(whole: &notation::Kernel, chain: &Chain) -> Option<Rounds> {
    let repetition = whole.repeat.clone()?;
    let is_of_round = |link: &Link| link.stage == Stage::Round;
    let start = chain.links.iter().position(is_of_round)?;
    let end = chain.links.iter().rposition(is_of_round)? + 1;
    Some(Rounds { kernels: start..end, repetition })
}

/// A kernel of one statement with what the schedule says of all statements and of this one.
fn of_its_own(kernel: &notation::Kernel) -> Cow<'_, notation::Kernel> {
    let Some(schedule) = &kernel.schedule else { return Cow::Borrowed(kernel) };
    let made = kernel.statements.first().map(|statement| &kernel.tensor(statement.target.tensor).name);
    let is_own = |directive: &&Directive| directive.scope.as_ref().is_none_or(|scope| Some(&scope.name) == made);
    let directives = schedule.directives.iter().filter(is_own).cloned().collect();
    Cow::Owned(kernel.with_schedule(Schedule { directives, span: schedule.span }))
}

/// What is wrong with a statement that has more sparse operands than loops can merge.
fn too_many_operands(kernel: &notation::Kernel) -> Option<Diagnostic> {
    let found =
        kernel.statements.iter().map(|statement| (statement.span, notation::operands(kernel, &statement.value)));
    let (span, count) = found.max_by_key(|(_, count)| *count).filter(|(_, count)| *count > MOST_OPERANDS)?;
    let message = format!("{count} sparse operands are too many for one statement");
    let problem = Diagnostic::new(codes::TOO_MANY_OPERANDS, span, message);
    let problem = problem.label(format!("at most {MOST_OPERANDS} can be merged"));
    Some(problem.help("make parts of it first: `let T(i) = …;`"))
}

/// Extents of different size that are named after variables of one name get names of their own.
fn name_apart(extents: &mut [Extent]) {
    for place in 1..extents.len() {
        let is_taken = |name: &str| extents[..place].iter().any(|earlier| earlier.name == name);
        let wish = extents[place].name.clone();
        let others: Vec<String> = extents.iter().map(|extent| extent.name.clone()).collect();
        if is_taken(&wish) {
            let fresh = (1..).map(|number| format!("{wish}_{number}")).find(|name| !others.contains(name));
            extents[place].name = fresh.unwrap_or(wish);
        }
    }
}

/// Adds the names that the chain has lost, as `i` of `A(i) = 1; A(k) += x(k);`: who states their extents calls them so.
fn restore_names(whole: &notation::Kernel, chain: &notation::Kernel, scope: &mut Scope) {
    let (variables, extents) = extents(whole);
    for (id, tensor) in whole.tensors.iter().enumerate() {
        let Some(kept) = chain.tensors.iter().position(|other| other.name == tensor.name) else { continue };
        let before = mode_extents(whole, TensorId(id), &variables);
        let after = mode_extents(chain, TensorId(kept), &scope.variables);
        for (before, after) in before.into_iter().zip(after) {
            for name in &extents[before].written {
                if !scope.extents[after].is_called(name) {
                    scope.extents[after].written.push(name.clone());
                }
            }
        }
    }
}

impl Scope {
    /// Some of the variables, and the extents that they run over.
    fn of(&self, chosen: &[IndexVariable]) -> Scope {
        let mut kept: Vec<usize> = Vec::new();
        let mut place = |extent: usize| {
            kept.iter().position(|&other| other == extent).unwrap_or_else(|| {
                kept.push(extent);
                kept.len() - 1
            })
        };
        let own = |variable| IndexVariable(chosen.iter().position(|&other| other == variable).unwrap_or_default());
        let variable = |&id: &IndexVariable| {
            let variable = self.variables[id.0].clone();
            let value = variable.value.map(|value| value.map(&mut |&made_of| own(made_of)));
            Variable { extent: place(variable.extent), value, ..variable }
        };
        let variables = chosen.iter().map(variable).collect();
        Scope { variables, extents: kept.into_iter().map(|extent| self.extents[extent].clone()).collect() }
    }
}

/// What a chain is together.
fn interface(chain: &Chain, scope: Scope) -> Kernel {
    let mut interface = Kernel::declared(&chain.kernel, scope);
    interface.tensors.retain(|tensor| tensor.kind == TensorKind::Input);
    interface.body = Statement::Empty;
    interface
}

impl Program {
    /// The kernel, where there is but one, which runs once.
    pub fn single(&self) -> Option<&Kernel> {
        match (&self.kernels[..], &self.rounds) {
            ([kernel], None) => Some(kernel),
            _ => None,
        }
    }

    /// Makes an extent, by its place among the interface's, what `size` says, in every kernel.
    pub fn set_size(&mut self, extent: usize, size: crate::ir::Size) {
        let name = self.interface.extents[extent].name.clone();
        let kernels = self.kernels.iter_mut().chain([&mut self.interface]);
        let extents = kernels.flat_map(|kernel| &mut kernel.extents);
        extents.filter(|extent| extent.name == name).for_each(|extent| extent.size = size);
    }

    /// The places among the interface's extents of those of vector loops, or sums over dense rows: knowing them when the target's
    /// compiler runs is worth up to twice the speed.
    pub fn vector_extents(&self) -> Vec<usize> {
        let mut places = Vec::new();
        for kernel in &self.kernels {
            for extent in kernel.vector_extents() {
                let name = &kernel.extents[extent].name;
                let place = self.interface.extents.iter().position(|known| known.name == *name);
                places.extend(place.filter(|place| !places.contains(place)));
            }
        }
        places
    }
}
