//! `spc test`: a kernel in every engine of this machine, against a dense oracle.

use crate::arguments::{KernelArguments, Named, dimension, named};
use crate::failure::{Failure, Problem};
use crate::output;
use crate::settings;
use crate::source::Source;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use spc::execute::with_stack_for;
use spc_check::case::Case;
use spc_check::compare::Difference;
use spc_check::engine::Stop;
use spc_check::number::Number;
use spc_check::trial::{Engine, Fault, Inputs, Report, Trial};
use spc_compiler::notation;
use spc_compiler::schedule;
use std::fmt::Write;
use std::num::NonZeroUsize;

/// Run a kernel in every engine, and compare
///
/// Makes small inputs of several shapes, runs the kernel in each engine that this machine has (the interpreter, native code, a GPU;
/// NVRTC compiles), and compares with an oracle that knows no formats and no schedules. The first comments of a file may
/// say on what: `// dims: i=4 j=5`, `// seed: 7`, `// density: X=0.3`, `// data X: (0, 1)=1.5 (2, 0)=-2`, `// pattern Y: X`. The exit
/// status is 1 where something differs.
#[derive(Debug, Args)]
pub(crate) struct Test {
    #[command(flatten)]
    kernel: KernelArguments,
    /// The extent of an index: `r=16`; chosen at random if not given
    #[arg(long = "dim", value_name = "INDEX=EXTENT", value_parser = dimension)]
    dimensions: Vec<(String, usize)>,
    /// The share of places with an entry: `X=0.3`; 0.4 for sparse operands and 1 for dense ones if not given
    #[arg(long, value_name = "NAME=SHARE", value_parser = named)]
    density: Vec<Named>,
    /// What random inputs start from
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many shapes
    #[arg(long, value_name = "N", default_value = "8")]
    shapes: NonZeroUsize,
    /// The engines; all that this machine has if not given
    #[arg(long, value_enum, value_name = "ENGINE,..", value_delimiter = ',')]
    engine: Vec<EngineName>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EngineName {
    Interpreter,
    Native,
    Cuda,
    Nvrtc,
}

/// The most elements that are shown of a result.
const SHOWN: usize = 10;

/// The most inputs that are shown of an engine.
const FAULTS: usize = 3;

/// A kernel and what came of it.
type Tested<'a> = (&'a notation::Kernel, Report);

impl Test {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let source = Source::load(&self.kernel)?;
        if source.kernels.is_empty() {
            return source.single().map(drop);
        }
        let case = self.case(&source)?;
        let mut tested: Vec<Tested<'_>> = Vec::new();
        for kernel in &source.kernels {
            with_stack_for(kernel, || schedule::schedule(kernel, schedule::Options::default()).map(drop))
                .map_err(|problems| source.refuse(problems))?;
            let report = with_stack_for(kernel, || self.test(&case, kernel));
            tested.push((kernel, report.map_err(|stop| refuse(stop, kernel))?));
        }
        let asked = self.engine.iter().find_map(|engine| missing(&tested, engine.engine()));
        let differs = || match tested.iter().map(|(_, report)| report.faults.len()).sum::<usize>() {
            0 => None,
            1 => Some(Failure::refused("1 result differs from what the notation means")),
            count => Some(Failure::refused(format!("{count} results differ from what the notation means"))),
        };
        let failure: Option<Failure> = asked.or_else(differs);
        if settings::json() {
            let errors = failure.as_ref().map(Failure::errors).unwrap_or_default();
            output::print_json(as_json(&tested, &errors))?;
            return failure.map_or(Ok(()), |_| Err(Failure::Reported));
        }
        output::print(&as_text(&tested))?;
        failure.map_or(Ok(()), Err)
    }

    /// What the file and the options say of inputs.
    fn case(&self, source: &Source) -> Result<Case, Failure> {
        let refused = |message: String| Failure::refused(format!("{}: {message}", source.origin()));
        let mut case = Case::of_file(source.origin(), source.text()).map_err(refused)?;
        case.dims.retain(|(name, _)| self.dimensions.iter().all(|(given, _)| given != name));
        case.dims.extend(self.dimensions.iter().cloned());
        case.seed = self.seed.unwrap_or(case.seed);
        for Named { name, text } in &self.density {
            let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
            let share =
                share.ok_or_else(|| Failure::refused(format!("`{text}` is not a share: a number from 0 to 1")))?;
            case.density.insert(name.clone(), share);
        }
        self.check_names(&case, source)?;
        Ok(case)
    }

    /// What is said of inputs is said of some kernel's.
    fn check_names(&self, case: &Case, source: &Source) -> Result<(), Failure> {
        let kernels = || source.kernels.iter();
        let tensors = || kernels().flat_map(|kernel| kernel.tensors.iter().map(|tensor| tensor.name.as_str()));
        // Those of one name are numbered.
        let written = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_').len();
        let variables = || kernels().flat_map(|kernel| kernel.variables.iter().map(|variable| variable.name.as_str()));
        let indices = || variables().flat_map(|name| [name, &name[..written(name)]]);
        let of_tensors = case.density.keys().chain(case.data.keys()).chain(case.patterns.keys());
        for name in of_tensors.chain(case.patterns.values()) {
            unknown("tensor", name, tensors)?;
        }
        let is_of_mode = |name: &str| name.ends_with("_size");
        case.dims
            .iter()
            .filter(|(name, _)| !is_of_mode(name))
            .try_for_each(|(name, _)| unknown("index", name, indices))?;
        for kernel in kernels() {
            case.check_data(kernel).map_err(|message| Failure::refused(format!("{}: {message}", source.origin())))?;
        }
        Ok(())
    }

    fn test(&self, case: &Case, kernel: &notation::Kernel) -> Result<Report, Stop> {
        let case = case.clone();
        let engines = match &self.engine[..] {
            [] => Engine::ALL.to_vec(),
            asked => asked.iter().map(|engine| engine.engine()).collect(),
        };
        Trial { case, shapes: self.shapes.get(), engines }.run(kernel)
    }
}

impl EngineName {
    fn engine(self) -> Engine {
        match self {
            EngineName::Interpreter => Engine::Interpreter,
            EngineName::Native => Engine::Native,
            EngineName::Cuda => Engine::Cuda,
            EngineName::Nvrtc => Engine::Nvrtc,
        }
    }
}

/// Refuses a name that is none of those.
fn unknown<'a, I: Iterator<Item = &'a str>>(what: &str, name: &str, names: impl Fn() -> I) -> Result<(), Failure> {
    if names().any(|known| known == name) {
        return Ok(());
    }
    let failure =
        Failure::refused(format!("no kernel has {} `{name}`", if what == "index" { "an index" } else { "a tensor" }));
    Err(match spc_compiler::diagnostics::suggest::similar(name, names()) {
        Some(similar) => failure.help(format!("did you mean `{similar}`?")),
        None => failure,
    })
}

/// An engine that was asked for and is not there.
fn missing(tested: &[Tested<'_>], engine: Engine) -> Option<Failure> {
    let mut tried = tested.iter().flat_map(|(_, report)| &report.engines).filter(|tried| tried.engine == engine);
    let reason = tried.find_map(|tried| tried.missing.as_ref())?;
    Some(Failure::refused(format!("{} can't run here: {reason}", engine.name())))
}

fn refuse(stop: Stop, kernel: &notation::Kernel) -> Failure {
    match stop {
        Stop::Refused { codes, message } => {
            let problems = codes.iter().map(|code| Problem::new(code, &message)).collect();
            Failure::Rendered(message, problems)
        }
        Stop::Data(message) => Failure::refused(format!("`{}`: {message}", kernel.name))
            .help("`--dim INDEX=EXTENT` says an extent, a comment `// data X: (0, 1)=1.5` the entries of an input"),
    }
}

fn as_text(tested: &[Tested<'_>]) -> String {
    let mut text = String::new();
    for (kernel, report) in tested {
        let shapes = report.inputs.len();
        _ = writeln!(text, "{} on inputs of {shapes} {}", kernel.name, if shapes == 1 { "shape" } else { "shapes" });
        for tried in &report.engines {
            let said = match (&tried.missing, tried.engine) {
                (Some(reason), _) => format!("is not on this machine: {reason}"),
                (None, Engine::Nvrtc) if tried.wrong == 0 => "compiles".to_owned(),
                (None, _) if tried.wrong == 0 => "agrees with the oracle".to_owned(),
                (None, _) => format!("differs on {} of {}", tried.wrong, tried.inputs),
            };
            _ = writeln!(text, "  {:<13} {said}", tried.engine.name());
        }
        if let Some((_, reason)) = report.without.first() {
            _ = writeln!(text, "  {} other shapes do not fit: {reason}", report.without.len());
        }
        for engine in Engine::ALL {
            let faults = || report.faults.iter().filter(move |fault| fault.engine == engine);
            faults().take(FAULTS).for_each(|fault| describe(&mut text, fault));
            if faults().count() > FAULTS {
                _ = writeln!(text, "\n{} differs on {} more", engine.name(), faults().count() - FAULTS);
            }
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text + "\n"
}

/// What is wrong, and the comments with which the file shows it again.
fn describe(text: &mut String, fault: &Fault) {
    _ = writeln!(text, "\n{} differs: {}", fault.engine.name(), fault.message);
    let rows = fault.differences.iter().take(SHOWN).map(|(tensor, Difference { index, expected, found })| {
        let index: Vec<String> = index.iter().map(usize::to_string).collect();
        vec![format!("  {tensor}({})", index.join(", ")), expected.to_string(), found.to_string()]
    });
    if !fault.differences.is_empty() {
        let head = vec!["  index from 0".to_owned(), "oracle".to_owned(), fault.engine.name().to_owned()];
        text.push_str(&output::table(&std::iter::once(head).chain(rows).collect::<Vec<_>>(), 1));
        let more = fault.differences.len().saturating_sub(SHOWN);
        if more > 0 {
            _ = writeln!(text, "  and {more} more");
        }
    }
    let Inputs { dims, seed } = &fault.inputs;
    let dims: Vec<String> = dims.iter().map(|(name, extent)| format!("{name}={extent}")).collect();
    _ = writeln!(text, "  // dims: {}\n  // seed: {seed}", dims.join(" "));
}

fn as_json(tested: &[Tested<'_>], errors: &[Value]) -> Value {
    let inputs = |Inputs { dims, seed }: &Inputs| {
        let dims: serde_json::Map<String, Value> =
            dims.iter().map(|(name, size)| (name.clone(), json!(size))).collect();
        json!({ "dims": dims, "seed": seed })
    };
    let fault = |fault: &Fault| {
        let element = |(tensor, Difference { index, expected, found }): &(String, Difference)| json!({ "tensor": tensor, "index": index, "oracle": number(*expected), "found": number(*found) });
        let elements: Vec<Value> = fault.differences.iter().map(element).collect();
        json!({
            "engine": fault.engine.name(), "inputs": inputs(&fault.inputs), "message": fault.message, "elements": elements,
        })
    };
    let kernel = |(kernel, report): &Tested<'_>| {
        let engines = report.engines.iter().map(|tried| {
            json!({
                "engine": tried.engine.name(), "inputs": tried.inputs, "wrong": tried.wrong, "missing": tried.missing,
            })
        });
        let without = report.without.iter().map(|(of, reason)| json!({ "inputs": inputs(of), "reason": reason }));
        json!({
            "kernel": kernel.name,
            "inputs": report.inputs.iter().map(inputs).collect::<Vec<_>>(),
            "without": without.collect::<Vec<_>>(),
            "engines": engines.collect::<Vec<_>>(),
            "differences": report.faults.iter().map(fault).collect::<Vec<_>>(),
        })
    };
    json!({ "kernels": tested.iter().map(kernel).collect::<Vec<_>>(), "errors": errors })
}

/// A number; as text where JSON has none.
fn number(number: Number) -> Value {
    match number {
        Number::F64(number) if number.is_finite() => json!(number),
        Number::F32(number) if number.is_finite() => json!(number),
        other => serde_json::from_str(&other.to_string()).unwrap_or_else(|_| Value::String(other.to_string())),
    }
}
