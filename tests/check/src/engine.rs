//! A case on its way through the compiler and the engines.

use crate::case::Case;
use crate::compare;
use crate::data::{Entries, for_each_index};
use crate::number::Number;
use crate::oracle::{self, Expected};
use spc::execute::{Backend, Chain};
use spc::tensor::AnyTensor;
use spc_compiler::concrete::{self, OutputStructure, TensorKind};
use spc_compiler::diagnostics::{Diagnostics, render::render};
use spc_compiler::ir::{Rounds, Size, Until};
use spc_compiler::notation::{self, Kernel, Role};
use spc_compiler::schedule;
use spc_compiler::{Compiled, Program, compile, syntax};
use std::collections::BTreeMap;

/// A case that was compiled, with its data and what the oracle says.
#[derive(Debug)]
pub struct Ready {
    /// The kernel in index notation.
    pub notation: Kernel,
    /// The kernel in later stages.
    pub program: Program,
    /// The inputs, in their formats.
    pub tensors: Vec<AnyTensor>,
    /// The same as entries.
    pub inputs: Vec<Entries>,
    /// The results.
    pub expected: Vec<Expected>,
    /// For each result, the entries that it should store.
    structures: Vec<(OutputStructure, Entries)>,
    /// The extents of index variables.
    pub dims: Vec<(String, usize)>,
    /// Whether some index runs over nothing.
    is_any_empty: bool,
}

/// Why a case does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The compiler refuses it.
    Refused {
        /// The codes of its diagnostics.
        codes: Vec<String>,
        /// What it says.
        message: String,
    },
    /// Its data can't be stored.
    Data(String),
}

/// Compiles a case, without its data.
///
/// # Errors
/// The compiler refuses it.
pub fn program(case: &Case, options: schedule::Options, extents: &[(&str, u64)]) -> Result<Program, Stop> {
    compiled(case, &checked(case)?, options, extents)
}

/// The one kernel of a case.
fn checked(case: &Case) -> Result<Kernel, Stop> {
    let refuse = |diagnostics: Diagnostics| refused(&case.text, diagnostics);
    let program = syntax::parse_program(&case.text).map_err(refuse)?;
    let mut kernels = notation::check(&program).map_err(refuse)?;
    match kernels.len() {
        1 => Ok(kernels.remove(0)),
        count => Err(Stop::Data(format!("{} has {count} kernels, not one", case.name))),
    }
}

fn compiled(
    case: &Case,
    notation: &Kernel,
    options: schedule::Options,
    extents: &[(&str, u64)],
) -> Result<Program, Stop> {
    let refuse = |diagnostics: Diagnostics| refused(&case.text, diagnostics);
    let mut program = schedule::schedule(notation, options).map_err(refuse)?;
    let is_it = |name: &str| program.interface.variables.iter().find(|variable| variable.name == name);
    let places: Vec<(usize, u64)> =
        extents.iter().filter_map(|(name, size)| is_it(name).map(|variable| (variable.extent, *size))).collect();
    places.into_iter().for_each(|(place, size)| program.set_size(place, Size::Constant(size)));
    compile(program).map_err(refuse)
}

impl Ready {
    /// Compiles a case, makes its data and asks the oracle.
    ///
    /// # Errors
    /// What the compiler says against it.
    pub fn new(case: &Case) -> Result<Ready, Stop> {
        Ready::scheduled(case, schedule::Options::default())
    }

    /// The same with other wishes for the scheduler.
    ///
    /// # Errors
    /// What the compiler says against it.
    pub fn scheduled(case: &Case, options: schedule::Options) -> Result<Ready, Stop> {
        Ready::fixed(case, options, &[])
    }

    /// The same where kernels are for some extents alone.
    ///
    /// # Errors
    /// What the compiler says against it.
    pub fn fixed(case: &Case, options: schedule::Options, extents: &[(&str, u64)]) -> Result<Ready, Stop> {
        Ready::of(case, checked(case)?, options, extents)
    }

    /// The same of a kernel that was checked, whatever the case's text is.
    ///
    /// # Errors
    /// What the compiler says against it.
    pub fn of(
        case: &Case,
        notation: Kernel,
        options: schedule::Options,
        extents: &[(&str, u64)],
    ) -> Result<Ready, Stop> {
        let program = compiled(case, &notation, options, extents)?;
        Ready::with(case, notation, program)
    }

    fn with(case: &Case, notation: Kernel, program: Program) -> Result<Ready, Stop> {
        let parameters = notation.tensors.iter().filter(|tensor| tensor.role == Role::Input);
        let pack = |(mut entries, tensor): (Entries, &notation::Tensor)| {
            // Such a format stores no explicit zeros.
            if tensor.format.pads() {
                let fill = Number::of_literal(tensor.fill);
                entries.stored.retain(|_, number| !number.equals(fill));
            }
            let packed =
                entries.pack_unsorted(tensor.element, &tensor.format, tensor.fill).map_err(|error| error.to_string());
            let expected = entries.into();
            let checked = packed.and_then(|packed| compare::check(&expected, tensor.fill, &packed).map(|()| packed));
            checked.map_err(|error| Stop::Data(format!("{}: {error}", tensor.name)))
        };
        let tensors: Vec<AnyTensor> =
            case.inputs(&notation).into_iter().zip(parameters).map(pack).collect::<Result<_, _>>()?;
        // What is stored counts: formats may store more than there was.
        let inputs: Vec<Entries> = tensors.iter().map(Entries::of).collect();
        let dims = case.extents(&notation.variables);
        let expected = oracle::evaluate(&notation, &inputs, &dims);
        let extents = oracle::Extents::of(&notation, &inputs, &dims);
        let (sizes, is_any_empty) = (extents.of_modes(&notation), extents.is_any_empty());
        let structures = structures(&program, &inputs, &|kernel| {
            // Statements as they are run may have lost a name that says an extent.
            [case.extents(&kernel.variables), sizes.clone()].concat()
        })?;
        Ok(Ready { notation, program, tensors, inputs, expected, structures, dims, is_any_empty })
    }

    /// Runs the kernel in the interpreter and checks its results.
    ///
    /// # Errors
    /// What went wrong.
    pub fn interpret(&self, seed: u64) -> Result<(), String> {
        self.run(&self.interpreter()?.with_seed(seed)).map_err(|error| format!("interpreter, seed {seed}: {error}"))
    }

    /// The kernel in the interpreter.
    ///
    /// # Errors
    /// None that is known.
    pub fn interpreter(&self) -> Result<Chain, String> {
        Chain::new(&self.program, Backend::Interpreter).map_err(|error| error.to_string())
    }

    /// Runs the kernel and checks its results.
    ///
    /// # Errors
    /// What went wrong.
    pub fn run(&self, chain: &Chain) -> Result<(), String> {
        self.check(&self.results(chain)?)
    }

    /// Runs the kernel and gives what comes out.
    ///
    /// # Errors
    /// Why it does not run.
    pub fn results(&self, chain: &Chain) -> Result<Vec<AnyTensor>, String> {
        let inputs: Vec<&AnyTensor> = self.tensors.iter().collect();
        let outcome = chain.run(&inputs, &self.stated(), 1).map_err(|error| error.to_string())?;
        Ok(outcome.outputs.into_iter().map(|(_, tensor)| tensor).collect())
    }

    /// The extents that the case says, by their names in the compiled program.
    pub fn stated(&self) -> Vec<(&str, usize)> {
        let interface = &self.program.interface;
        // Of variables of one name, later statements number theirs.
        let names = |variable: &concrete::Variable, name: &str| {
            let numbered = variable.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('_'));
            let is_number = |number: &str| number.parse::<usize>().is_ok();
            variable.name == name || numbered.is_some_and(|numbers| numbers.split('_').all(is_number))
        };
        let mut stated: Vec<(&str, usize)> = Vec::new();
        for (name, size) in &self.dims {
            let variables = interface.variables.iter().filter(|variable| names(variable, name));
            let of_variables = variables.map(|variable| &interface.extents[variable.extent]);
            let of_modes = interface.extents.iter().filter(|extent| extent.name == *name);
            stated.extend(of_variables.chain(of_modes).map(|extent| (extent.name.as_str(), *size)));
        }
        stated
    }

    /// Checks results against the oracle's.
    ///
    /// # Errors
    /// What differs.
    pub fn check(&self, results: &[AnyTensor]) -> Result<(), String> {
        self.check_values(results)?;
        let outputs = self.notation.tensors.iter().filter(|tensor| tensor.role == Role::Output);
        for ((tensor, (structure, entries)), result) in outputs.zip(&self.structures).zip(results) {
            // Where something is reduced over nothing, it may or may not count as computed.
            if !self.is_any_empty {
                compare::check_structure(structure, entries, result)
                    .map_err(|error| format!("{}: {error}", tensor.name))?;
            }
        }
        Ok(())
    }

    /// The elements of results that differ from the oracle's, each with its tensor.
    pub fn differences(&self, results: &[AnyTensor]) -> Vec<(String, compare::Difference)> {
        let outputs = self.notation.tensors.iter().filter(|tensor| tensor.role == Role::Output);
        let of_result = |((tensor, expected), result): ((&notation::Tensor, &Expected), &AnyTensor)| {
            let is_whole = result.validate().is_ok() && result.shape() == expected.entries.shape;
            let all = if is_whole { compare::differences(expected, tensor.fill, result) } else { Vec::new() };
            all.into_iter().map(|difference| (tensor.name.clone(), difference)).collect::<Vec<_>>()
        };
        outputs.zip(&self.expected).zip(results).flat_map(of_result).collect()
    }

    /// Checks the values of results, whichever zeros they store.
    ///
    /// # Errors
    /// What differs.
    pub fn check_values(&self, results: &[AnyTensor]) -> Result<(), String> {
        if results.len() != self.expected.len() {
            return Err(format!("{} results instead of {}", results.len(), self.expected.len()));
        }
        let outputs = self.notation.tensors.iter().filter(|tensor| tensor.role == Role::Output);
        for ((tensor, expected), result) in outputs.zip(&self.expected).zip(results) {
            compare::check(expected, tensor.fill, result).map_err(|error| format!("{}: {error}", tensor.name))?;
        }
        Ok(())
    }
}

/// For each result, the entries that it should store, found link by link: a link reads what those before it have stored.
fn structures(
    program: &Program,
    inputs: &[Entries],
    dims: &dyn Fn(&Kernel) -> Vec<(String, usize)>,
) -> Result<Vec<(OutputStructure, Entries)>, Stop> {
    // What a link says may leave the extents of what it makes open.
    let whole = &program.chain.kernel;
    let extents = oracle::Extents::of(whole, inputs, &dims(whole));
    let names = program.interface.tensors.iter().map(|tensor| tensor.name.clone());
    let mut known: BTreeMap<String, Entries> = names.zip(inputs.iter().cloned()).collect();
    let mut made: BTreeMap<String, (OutputStructure, Entries)> = BTreeMap::new();
    let mut run = |number: usize, known: &mut BTreeMap<String, Entries>| -> Result<(), Stop> {
        let (link, compiled) = (&program.chain.links[number], &program.kernels[number]);
        let kernel = &link.kernel;
        let of_role = |role: Role| kernel.tensors.iter().filter(move |tensor| tensor.role == role);
        let mut inputs: Vec<Entries> = of_role(Role::Input).map(|tensor| known[tensor.name.as_str()].clone()).collect();
        // What lists entries in any order asks values, where places alone do not say which are entries.
        let lists = compiled.kernel.tensors.iter().any(|tensor| tensor.listed.is_some());
        for (tensor, held) in of_role(Role::Input).zip(&mut inputs).filter(|_| lists) {
            if !tensor.format.tells_entries() {
                let fill = Number::of_literal(tensor.fill);
                held.stored.retain(|_, number| !number.equals(fill));
            }
        }
        let results = oracle::evaluate(kernel, &inputs, &extents.of_link(whole, link));
        for (tensor, computed) in of_role(Role::Output).zip(results) {
            let structure = output_structure(&tensor.name, compiled);
            let stored = stored(kernel, compiled, structure, computed.entries, &inputs);
            // A format may store more than there was, as blocks do.
            // Of a symmetric result, a link computes what is stored.
            let stored = stored.of_symmetry(&tensor.format);
            let packed = stored.pack(tensor.element, &tensor.format, tensor.fill);
            let packed = packed.map_err(|error| Stop::Data(format!("{}: {error}", tensor.name)))?;
            let held = if tensor.format.pads() { stored.clone() } else { Entries::of(&packed) };
            known.insert(tensor.name.clone(), held);
            made.insert(tensor.name.clone(), (structure.clone(), stored));
        }
        Ok(())
    };
    let count = program.kernels.len();
    let rounds = program.rounds.as_ref().map_or(count..count, |rounds| rounds.kernels.clone());
    (0..rounds.start).try_for_each(|number| run(number, &mut known))?;
    if let Some(Rounds { kernels, repetition }) = &program.rounds {
        let limit = repetition.limit.as_ref().map(|limit| oracle::real(&known[limit]) as usize);
        let most = limit.map_or(repetition.most, |limit| limit.min(repetition.most)).max(1);
        for round in 1..=most {
            kernels.clone().try_for_each(|number| run(number, &mut known))?;
            let is_over = |until: &Until| oracle::holds(until, &known[&until.result]);
            if repetition.until.as_ref().is_some_and(is_over) || round == most {
                break;
            }
            let taken = repetition.feeds.iter().map(|(old, new)| (old.clone(), known[new].clone()));
            let taken: Vec<(String, Entries)> = taken.collect();
            known.extend(taken);
        }
    }
    (rounds.end..count).try_for_each(|number| run(number, &mut known))?;
    Ok(program.results.iter().filter_map(|name| made.remove(name.as_str())).collect())
}

fn output_structure<'a>(name: &str, compiled: &'a Compiled) -> &'a OutputStructure {
    let mut outputs = compiled.concrete.tensors.iter().filter(|tensor| tensor.name == name);
    let structure = outputs.find_map(|tensor| match &tensor.kind {
        TensorKind::Output(structure) => Some(structure),
        _ => None,
    });
    structure.expect("a link makes its result")
}

/// What a link stores of what it computes.
fn stored(
    kernel: &Kernel,
    compiled: &Compiled,
    structure: &OutputStructure,
    computed: Entries,
    inputs: &[Entries],
) -> Entries {
    let zero = Number::of(kernel.tensor(kernel.statements[0].target.tensor).element, 0.0);
    let value = |index: &[usize]| computed.stored.get(index).copied().unwrap_or(zero);
    let mut stored = BTreeMap::new();
    match structure {
        OutputStructure::Dense => for_each_index(&computed.shape, &mut |index| {
            stored.insert(index.to_vec(), value(index));
        }),
        OutputStructure::Shared { access, .. } => {
            let statement = &kernel.statements[0];
            let original = compiled.concrete.original(access.tensor);
            // Where loops see levels as modes, the text has the operand's indices.
            let mut indices = access.indices.clone();
            if compiled.concrete.tensor(access.tensor).stored.is_some() {
                let mut find = |read: &notation::Access| {
                    if read.tensor == original {
                        indices.clone_from(&read.indices);
                    }
                };
                statement.mask.iter().for_each(&mut find);
                statement.value.for_each_access(&mut find);
            }
            let place = |index: &Vec<usize>| -> Vec<usize> {
                let find = |variable| indices.iter().position(|other| other == variable);
                statement.target.indices.iter().map(|variable| find(variable).map_or(0, |mode| index[mode])).collect()
            };
            let operand = inputs.get(original.0).into_iter().flat_map(|operand| operand.stored.keys());
            // Modes that the operand lacks are dense, and may have no coordinate at all.
            let is_there = |index: &Vec<usize>| index.iter().zip(&computed.shape).all(|(index, extent)| index < extent);
            stored.extend(operand.map(place).filter(is_there).map(|index| (index.clone(), value(&index))));
            stored.extend(computed.stored.clone());
        }
        _ => return computed,
    }
    Entries { shape: computed.shape.clone(), stored }
}

fn refused(text: &str, diagnostics: Diagnostics) -> Stop {
    let diagnostics = diagnostics.into_sorted();
    let codes = diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()).collect();
    Stop::Refused { codes, message: render(text, "case.ti", &diagnostics, false) }
}
