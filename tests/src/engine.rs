//! A case on its way through the compiler and the engines.

use crate::case::Case;
use crate::compare;
use crate::data::Entries;
use crate::oracle;
use spc::execute::{Backend, Call, Executable};
use spc::tensor::AnyTensor;
use spc_compiler::concrete::{OutputStructure, TensorKind};
use spc_compiler::diagnostics::{Diagnostics, render::render};
use spc_compiler::notation::{self, Kernel, Role};
use spc_compiler::{Compiled, compile_notation, syntax};

/// A case that was compiled, with its data and what the oracle says.
#[derive(Debug)]
pub struct Ready {
    /// The kernel in index notation.
    pub notation: Kernel,
    /// The kernel in later stages.
    pub compiled: Compiled,
    /// The inputs, in their formats.
    pub tensors: Vec<AnyTensor>,
    /// The same as entries.
    pub inputs: Vec<Entries>,
    /// The results.
    pub expected: Vec<Entries>,
    /// The extents of index variables.
    pub dims: Vec<(String, usize)>,
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

impl Ready {
    /// Compiles a case, makes its data and asks the oracle.
    ///
    /// # Errors
    /// What the compiler says against it.
    pub fn new(case: &Case) -> Result<Ready, Stop> {
        let refuse = |diagnostics: Diagnostics| refused(&case.text, diagnostics);
        let program = syntax::parse_program(&case.text).map_err(refuse)?;
        let mut kernels = notation::check(&program).map_err(refuse)?;
        if kernels.len() != 1 {
            return Err(Stop::Data(format!("{} has {} kernels, not one", case.name, kernels.len())));
        }
        let notation = kernels.remove(0);
        let compiled = compile_notation(&notation).map_err(refuse)?;
        Ready::with(case, notation, compiled)
    }

    fn with(case: &Case, notation: Kernel, compiled: Compiled) -> Result<Ready, Stop> {
        let parameters = notation.tensors.iter().filter(|tensor| tensor.role == Role::Input);
        let pack = |(entries, tensor): (Entries, &notation::Tensor)| {
            entries.pack(&tensor.format, tensor.fill).map_err(|error| Stop::Data(format!("{}: {error}", tensor.name)))
        };
        let tensors: Vec<AnyTensor> =
            case.inputs(&notation).into_iter().zip(parameters).map(pack).collect::<Result<_, _>>()?;
        // What is stored counts: formats may store more than there was.
        let inputs: Vec<Entries> = tensors.iter().map(Entries::of).collect();
        let dims = case.extents(&notation.variables);
        let expected = oracle::evaluate(&notation, &inputs, &dims);
        Ok(Ready { notation, compiled, tensors, inputs, expected, dims })
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
    pub fn interpreter(&self) -> Result<Executable, String> {
        Executable::new(self.compiled.kernel.clone(), None, Backend::Interpreter).map_err(|error| error.to_string())
    }

    /// Runs the kernel and checks its results.
    ///
    /// # Errors
    /// What went wrong.
    pub fn run(&self, executable: &Executable) -> Result<(), String> {
        self.check(&self.results(executable)?)
    }

    /// Runs the kernel and gives what comes out.
    ///
    /// # Errors
    /// Why it does not run.
    pub fn results(&self, executable: &Executable) -> Result<Vec<AnyTensor>, String> {
        let kernel = executable.kernel();
        let inputs: Vec<&AnyTensor> = self.tensors.iter().collect();
        let named: Vec<&str> = kernel.dimensions.iter().map(|dimension| dimension.name.as_str()).collect();
        let extra: Vec<(&str, usize)> = self
            .dims
            .iter()
            .filter(|(name, _)| named.contains(&name.as_str()))
            .map(|(name, extent)| (name.as_str(), *extent))
            .collect();
        let mut call = Call::with_dimensions(kernel, &inputs, &extra).map_err(|error| error.to_string())?;
        executable.run(&mut call).map_err(|error| error.to_string())?;
        call.finish().map_err(|error| error.to_string())
    }

    /// Checks results against the oracle's.
    ///
    /// # Errors
    /// What differs.
    pub fn check(&self, results: &[AnyTensor]) -> Result<(), String> {
        let outputs = self.compiled.concrete.tensors.iter().filter_map(|tensor| match &tensor.kind {
            TensorKind::Output(structure) => Some((tensor, structure)),
            _ => None,
        });
        for (((tensor, structure), expected), result) in outputs.zip(&self.expected).zip(results) {
            let wrong = |error: String| format!("{}: {error}", tensor.name);
            compare::check(expected, tensor.fill, result).map_err(wrong)?;
            // Where a sum is over nothing, it may or may not count as computed.
            if self.dims.iter().all(|(_, extent)| *extent > 0) {
                let shared = self.shared(structure).unwrap_or_else(|| expected.clone());
                compare::check_structure(expected, structure, &shared, result).map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// The operand whose structure an output shares, in the modes of the output.
    fn shared(&self, structure: &OutputStructure) -> Option<Entries> {
        let OutputStructure::Shared { access, .. } = structure else { return None };
        let original = match self.compiled.concrete.tensor(access.tensor).kind {
            TensorKind::SortedCopy(of) => of,
            _ => access.tensor,
        };
        let operand = self.inputs.get(original.0)?;
        let target = &self.notation.statements[0].target;
        let shape = &self.expected[0].shape;
        let place = |index: &Vec<usize>| {
            let find = |variable| access.indices.iter().position(|other| other == variable);
            target.indices.iter().map(|variable| find(variable).map_or(0, |mode| index[mode])).collect()
        };
        let stored = operand.stored.iter().map(|(index, &value)| (place(index), value)).collect();
        Some(Entries { shape: shape.clone(), stored })
    }
}

fn refused(text: &str, diagnostics: Diagnostics) -> Stop {
    let diagnostics = diagnostics.into_sorted();
    let codes = diagnostics.iter().map(|diagnostic| diagnostic.code.to_string()).collect();
    Stop::Refused { codes, message: render(text, "case.ti", &diagnostics, false) }
}
