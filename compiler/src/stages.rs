//! From a checked kernel to loops: all stages after the notation, one after the other.

use crate::diagnostics::Diagnostics;
use crate::schedule;
use crate::{concrete, ir, lower, notation, pass};

/// A kernel of one statement at every stage.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The loops before they were lowered.
    pub concrete: concrete::Kernel,
    /// The merge lattice of each loop over stored levels, as text.
    pub lattices: Vec<String>,
    /// The loops.
    pub kernel: ir::Verified<ir::Kernel>,
    /// What passes made of loops that they may expand.
    pub choices: Vec<ir::Choice>,
}

/// Compiled kernels that run one after the other; most programs have but one. Tensors of one name are one tensor, which some
/// kernel makes and later ones read, and dimensions of one name are one extent.
#[derive(Debug, Clone)]
pub struct Program {
    /// The statements that the kernels are of, and why there are as many as there are.
    pub chain: notation::Chain,
    /// What the kernels are together, before loops were lowered: the parameters, index variables and extents.
    pub interface: concrete::Kernel,
    /// The same as declarations of the loop IR: the parameters as inputs, and all dimensions. It has no body.
    pub declarations: ir::Kernel,
    /// The names of the results, in the order of their declaration.
    pub results: Vec<String>,
    /// The kernels, in the order in which they run.
    pub kernels: Vec<Compiled>,
    /// Those of the kernels that are repeated, if some are.
    pub rounds: Option<ir::Rounds>,
    /// The input that is to come in parts, if one is.
    pub stream: Option<schedule::Stream>,
}

impl Program {
    /// The kernel, where there is but one, which runs once.
    pub fn single(&self) -> Option<&Compiled> {
        match (&self.kernels[..], &self.rounds) {
            ([kernel], None) => Some(kernel),
            _ => None,
        }
    }
}

impl Program {
    /// The complete schedule: what was decided, each with its reason, as directives that ask for the same.
    pub fn record(&self) -> Vec<schedule::Chosen> {
        schedule::record(&self.chain, self.kernels.iter().map(choices))
    }
}

/// A kernel before it was lowered, with what passes made of its loops.
fn choices(compiled: &Compiled) -> (&concrete::Kernel, &[ir::Choice]) {
    (&compiled.concrete, &compiled.choices)
}

/// Lowers scheduled kernels and runs all passes.
///
/// # Errors
/// What a schedule asks of single loops and passes can't make of them, with its place.
pub fn compile(program: schedule::Program) -> Result<Program, Diagnostics> {
    let declarations = lower::declarations(&program.interface);
    let schedule::Program { chain, interface, results, kernels, rounds, stream } = program;
    let kernels: Vec<Compiled> = kernels.into_iter().map(compile_kernel).collect();
    let problems = schedule::unmade(&chain, kernels.iter().map(choices));
    match problems.is_empty() {
        true => Ok(Program { chain, interface, declarations, results, kernels, rounds, stream }),
        false => Err(problems),
    }
}

/// Lowers one scheduled kernel and runs all passes.
pub fn compile_kernel(concrete: concrete::Kernel) -> Compiled {
    let lowered = lower::lower(&concrete);
    let (kernel, choices) = pass::run(lowered.kernel, concrete.target);
    Compiled { concrete, lattices: lowered.lattices, kernel, choices }
}

/// Schedules, lowers and tidies a checked kernel, for extents that are known when it is called.
///
/// # Errors
/// What the language can say and the scheduler can't do yet, with its place.
pub fn compile_notation(kernel: &notation::Kernel) -> Result<Program, Diagnostics> {
    compile(schedule::schedule(kernel, schedule::Options::default())?)
}
