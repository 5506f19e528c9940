//! Which kernels run on a tensor, and in which forms.

use super::data::{Data, Packed};
use super::record::{Case, Findings, Record, Refused, Tuning};
use super::suite::{Choice, Definition, KERNELS, Parameter, SuiteKernel};
use super::timing::{Budget, Measuring, Subject};
use crate::failure::Failure;
use crate::formats::parse_format;
use crate::info::split_formats;
use crate::names;
use crate::progress::Progress;
use spc::cuda::model::Predictions;
use spc::execute::{Backend, Operand, Program, ProgramOptions, StreamOptions, Uncompiled};
use spc::measure::{Cache, Machine};
use spc_compiler::format::Format;
use spc_compiler::format::resolve::Definitions;
use spc_compiler::ir::ElementType;
use spc_compiler::{notation, syntax};
use std::time::Duration;

/// What is to be measured.
pub(crate) struct Choices {
    kernels: Vec<SuiteKernel>,
    /// From 1; all if there are none.
    modes: Vec<usize>,
    /// Those that suit the order if there are none.
    formats: Vec<String>,
    /// Definitions of formats beside those that every program has.
    definitions: syntax::Program,
    ranks: Vec<usize>,
    elements: Vec<ElementType>,
    quick: bool,
    /// Whether other schedules are measured too.
    tune: bool,
    /// Whether kernels give the same bits on any number of threads.
    deterministic: bool,
    /// What runs kernels.
    backend: Option<Backend>,
    /// What predicts how long a GPU would take.
    model: Option<Predictions>,
    /// Whether products with a mode have operands with that mode last.
    is_last: bool,
    /// Into how many parts the tensor `X` is cut, where it does not come whole.
    parts: Option<usize>,
}

/// What kernels are measured on.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub(crate) budget: Budget,
    pub(crate) machines: &'a [Machine],
    pub(crate) caches: &'a [Cache],
}

/// Where figures go.
pub(crate) trait Sink {
    /// Whether a case is to be measured.
    fn wants(&self, case: &Case) -> bool;
    /// Takes a figure.
    fn record(&mut self, record: Record) -> Result<(), Failure>;
    /// Takes a case that does not run.
    fn refused(&mut self, refused: Refused) -> Result<(), Failure>;
    /// Takes what tuning showed.
    fn tuning(&mut self, tuning: Tuning);
}

impl Sink for Findings {
    fn wants(&self, _: &Case) -> bool {
        true
    }

    fn record(&mut self, record: Record) -> Result<(), Failure> {
        self.records.push(record);
        Ok(())
    }

    fn refused(&mut self, refused: Refused) -> Result<(), Failure> {
        self.refused.push(refused);
        Ok(())
    }

    fn tuning(&mut self, tuning: Tuning) {
        self.tunings.push(tuning);
    }
}

/// So many kernels are compiled together at most,
const TOGETHER: usize = 64;

/// fewer where their operands take more bytes than that.
const BYTES: usize = 1 << 30;

/// Orders of tensors, the usual ones first.
const ORDERS: [usize; 9] = [2, 3, 4, 1, 5, 6, 7, 8, 0];

/// One form of a kernel, for one tensor in one format.
struct Form<'a> {
    kernel: &'a SuiteKernel,
    mode: usize,
    rank: usize,
}

/// A tensor in a format, and what is made of it, packed when it is asked for.
struct Operands<'a> {
    data: &'a Data,
    format: &'a str,
    definitions: &'a syntax::Program,
    element: ElementType,
    options: ProgramOptions,
    is_last: bool,
    packed: Vec<(Parameter, Packed)>,
}

impl Choices {
    pub(crate) fn new(
        kernels: &[String],
        modes: Vec<usize>,
        formats: &[String],
        ranks: &[usize],
        elements: &[ElementType],
        quick: bool,
    ) -> Result<Self, Failure> {
        let kernels = match kernels {
            [] => KERNELS.into_iter().filter(|kernel| kernel.is_usual).collect(),
            names => names.iter().map(|name| kernel(name)).collect::<Result<_, _>>()?,
        };
        if ranks.contains(&0) {
            return Err(Failure::usage("`--rank` is a length from 1 on"));
        }
        let formats = formats.iter().flat_map(|text| split_formats(text)).map(str::to_owned).collect();
        let (ranks, elements) = (ranks.to_vec(), elements.to_vec());
        Ok(Self {
            kernels,
            modes,
            formats,
            definitions: syntax::Program::default(),
            ranks,
            elements,
            quick,
            tune: false,
            deterministic: false,
            backend: None,
            model: None,
            is_last: false,
            parts: None,
        })
    }

    /// The same, where the tensor `X` of each kernel is cut into `parts`.
    pub(crate) fn in_parts(self, parts: usize) -> Self {
        Self { parts: Some(parts), ..self }
    }

    /// The same, where products with a mode have operands with that mode last, whatever their format.
    pub(crate) fn with_product_last(mut self, is_last: bool) -> Self {
        self.is_last = is_last;
        self
    }

    /// The same, with other schedules measured too if `tune` says so.
    pub(crate) fn tuned(self, tune: bool) -> Self {
        Self { tune, ..self }
    }

    /// The same, with kernels that give the same bits on any number of threads if `deterministic` says so.
    pub(crate) fn deterministic(self, deterministic: bool) -> Self {
        Self { deterministic, ..self }
    }

    /// The same, run by `backend` where one is said.
    pub(crate) fn run_by(self, backend: Option<Backend>) -> Self {
        Self { backend, ..self }
    }

    /// The same, predicted by a model where there is one.
    pub(crate) fn predicted(self, model: Option<Predictions>) -> Self {
        Self { model, ..self }
    }

    /// The same, where formats may be those that a program defines.
    pub(crate) fn defined(self, mut definitions: syntax::Program) -> Self {
        definitions.items.retain(|item| matches!(item, syntax::Item::Format(_)));
        Self { definitions, ..self }
    }

    /// Refuses what is a format for tensors of no order.
    pub(crate) fn check_formats(&self) -> Result<(), Failure> {
        let definitions = Definitions::of_program(&self.definitions);
        let check = |format: &String| {
            let mut found = ORDERS.map(|order| parse_format(format, order, &definitions).map(drop));
            if found.iter().any(Result::is_ok) { Ok(()) } else { std::mem::replace(&mut found[0], Ok(())) }
        };
        self.formats.iter().try_for_each(check)
    }

    /// Measures all on one tensor.
    pub(crate) fn measure(&self, data: &Data, setting: Setting<'_>, sink: &mut impl Sink) -> Result<(), Failure> {
        let formats = self.formats(data.order());
        let count = formats.iter().map(|format| self.forms(data, format).len()).sum::<usize>();
        let progress = Progress::of_steps(count * self.elements.len());
        for &element in &self.elements {
            for format in &formats {
                progress.step(format!("{}: packing as {format}", data.name));
                let (definitions, is_last, packed) = (&self.definitions, self.is_last, Vec::new());
                let (deterministic, backend) = (self.deterministic, self.backend);
                let model = self.model.clone();
                let stream = self.parts.map(|parts| StreamOptions::new("X", parts));
                let options = ProgramOptions { deterministic, backend, model, stream, ..ProgramOptions::default() };
                let mut operands = Operands { data, format, definitions, element, options, is_last, packed };
                let (mut batch, mut bytes) = (Vec::new(), 0);
                for form in self.forms(data, format) {
                    let cases = operands.cases(&form, setting.machines);
                    if !cases.iter().any(|case| sink.wants(case)) {
                        progress.done();
                        continue;
                    }
                    match operands.begin(&form)? {
                        Ok((prepared, program)) => {
                            bytes += program.input_bytes();
                            batch.push((cases, prepared, program));
                        }
                        Err(reason) => {
                            cases.into_iter().next().map_or(Ok(()), |case| sink.refused(Refused { case, reason }))?;
                            progress.done();
                        }
                    }
                    if batch.len() >= TOGETHER || bytes > BYTES {
                        self.measure_batch(std::mem::take(&mut batch), data, setting, sink, &progress)?;
                        bytes = 0;
                    }
                }
                self.measure_batch(batch, data, setting, sink, &progress)?;
            }
        }
        Ok(())
    }

    /// Calls `body` with each kernel on one tensor, or why there is none.
    pub(crate) fn each(
        &self,
        data: &Data,
        body: &mut dyn FnMut(Case, Result<Posed, String>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        for &element in &self.elements {
            for format in &self.formats(data.order()) {
                let (definitions, is_last, packed) = (&self.definitions, self.is_last, Vec::new());
                let options = ProgramOptions::default();
                let mut operands = Operands { data, format, definitions, element, options, is_last, packed };
                for form in self.forms(data, format) {
                    let posed = operands.posed(&form)?.map(|(posed, _)| posed);
                    body(operands.case(&form, spc::parallel::threads()), posed)?;
                }
            }
        }
        Ok(())
    }

    /// The formats for tensors of an order.
    fn formats(&self, order: usize) -> Vec<String> {
        let usual: &[&str] = match (order, self.quick) {
            _ if !self.formats.is_empty() => return self.formats.clone(),
            (0..=2, true) => &["csr"],
            (0..=2, false) => &["csr", "coo"],
            (_, true) => &["csf"],
            (_, false) => &["csf", "coo", "hicoo(128)", "alto"],
        };
        let one = |format: &str| if order == 1 && format == "csr" { "csf".to_owned() } else { format.to_owned() };
        usual.iter().map(|format| one(format)).collect()
    }

    /// The kernels that serve a tensor, in a format, a mode and rank each.
    fn forms(&self, data: &Data, format: &str) -> Vec<Form<'_>> {
        let order = data.order();
        let is_plain = matches!(format, "csr" | "csf" | "coo");
        let suits = |kernel: &&SuiteKernel| {
            kernel.serves(order)
                && kernel.suits(format)
                && (kernel.in_all_formats || is_plain || !self.formats.is_empty())
        };
        let mut forms = Vec::new();
        for kernel in self.kernels.iter().filter(suits) {
            let modes = (0..if kernel.has_modes { order } else { 1 })
                .filter(|mode| self.modes.is_empty() || !kernel.has_modes || self.modes.contains(&(mode + 1)));
            for mode in modes {
                let ranks = if kernel.has_rank { &self.ranks[..] } else { &[0] };
                forms.extend(ranks.iter().map(|&rank| Form { kernel, mode, rank }));
            }
        }
        forms
    }

    /// Compiles kernels together, and measures each with each number of threads. What is refused is noted.
    fn measure_batch(
        &self,
        batch: Vec<(Vec<Case>, Prepared, Uncompiled)>,
        data: &Data,
        setting: Setting<'_>,
        sink: &mut impl Sink,
        progress: &Progress,
    ) -> Result<(), Failure> {
        if let Some((cases, ..)) = batch.first() {
            progress.step(format!("{}: compiling {} kernels for {}", data.name, batch.len(), cases[0].format));
        }
        let (prepared, programs): (Vec<_>, Vec<_>) =
            batch.into_iter().map(|(cases, prepared, program)| ((cases, prepared), program)).unzip();
        for ((cases, prepared), program) in prepared.into_iter().zip(Uncompiled::compile_all(programs)) {
            let first = cases[0].clone();
            progress.step(format!("{}: {} as {}", data.name, first.kernel, first.format));
            match program {
                Ok(program) => self.measure_form(cases, &prepared, &program, data, setting, sink)?,
                Err(error) => sink.refused(Refused { case: first, reason: error.to_string() })?,
            }
            progress.done();
        }
        Ok(())
    }

    fn measure_form(
        &self,
        cases: Vec<Case>,
        prepared: &Prepared,
        program: &Program,
        data: &Data,
        setting: Setting<'_>,
        sink: &mut impl Sink,
    ) -> Result<(), Failure> {
        for (machine, case) in setting.machines.iter().zip(cases) {
            if !sink.wants(&case) {
                continue;
            }
            let measuring = Measuring {
                budget: setting.budget,
                machine,
                caches: setting.caches,
                backend: self.backend,
                model: self.model.as_ref(),
            };
            let mut tuned = None;
            if self.tune {
                let Posed { kernel, inputs, dimensions } = &prepared.posed;
                let mut tunings = Vec::new();
                tuned = measuring.tune(kernel, inputs, dimensions, case.clone(), &mut tunings)?;
                tunings.into_iter().for_each(|tuning| sink.tuning(tuning));
            }
            let (shape, nnz, read) = (data.shape().to_vec(), data.nnz(), data.read_time);
            let subject = Subject { case: case.clone(), shape, nnz, read, pack: prepared.pack };
            match measuring.record(tuned.as_ref().unwrap_or(program), subject) {
                Ok(record) => sink.record(record)?,
                Err(failure) => sink.refused(Refused { case, reason: failure.to_string() })?,
            }
        }
        Ok(())
    }
}

/// A kernel with its operands.
pub(crate) struct Posed {
    pub(crate) kernel: notation::Kernel,
    pub(crate) inputs: Vec<(String, Operand)>,
    pub(crate) dimensions: Vec<(String, usize)>,
}

/// The same, to be measured.
struct Prepared {
    posed: Posed,
    /// How long the operands took to pack.
    pack: Duration,
}

impl Operands<'_> {
    /// What a form is called with each number of threads.
    fn cases(&self, form: &Form, machines: &[Machine]) -> Vec<Case> {
        machines.iter().map(|machine| self.case(form, machine.threads())).collect()
    }

    fn case(&self, form: &Form, threads: usize) -> Case {
        Case {
            tensor: self.data.name.clone(),
            kernel: form.kernel.name.to_owned(),
            mode: if form.kernel.has_modes { form.mode + 1 } else { 0 },
            format: self.format.to_owned(),
            rank: form.rank,
            element: self.element.name(),
            threads,
        }
    }

    /// A kernel with its operands, to be compiled, or why there is none.
    fn begin(&mut self, form: &Form) -> Result<Result<(Prepared, Uncompiled), String>, Failure> {
        let (posed, pack) = match self.posed(form)? {
            Ok(posed) => posed,
            Err(reason) => return Ok(Err(reason)),
        };
        let program = Uncompiled::new(&posed.kernel, posed.inputs.clone(), &posed.dimensions, &self.options);
        Ok(program.map(|program| (Prepared { posed, pack }, program)).map_err(|error| error.to_string()))
    }

    /// A kernel with its operands and how long these took to pack, or why there is none.
    fn posed(&mut self, form: &Form) -> Result<Result<(Posed, Duration), String>, Failure> {
        let choice = Choice {
            order: self.data.order(),
            mode: form.mode,
            format: self.format,
            element: self.element,
            is_last: self.is_last,
        };
        let Definition { text, parameters } = form.kernel.define(&choice);
        let kernels = syntax::parse_program(&text).and_then(|kernel| {
            let items = self.definitions.items.iter().cloned().chain(kernel.items);
            notation::check(&syntax::Program { items: items.collect() })
        });
        let kernel = match kernels {
            Ok(kernels) => kernels.into_iter().next().ok_or_else(|| "it defines no kernel".to_owned()),
            Err(problems) => Err(first_problem(problems.into_sorted())),
        };
        let kernel = match kernel {
            Ok(kernel) => kernel,
            Err(reason) => return Ok(Err(reason)),
        };
        let mut pack = Duration::ZERO;
        let mut inputs = Vec::with_capacity(parameters.len());
        for (seed, (name, parameter)) in (1..).zip(parameters) {
            let operand = match parameter {
                Parameter::Random => Operand::Random { seed },
                Parameter::Two => Operand::Scalar(2.0),
                stored => match self.packed(stored) {
                    Ok(packed) => {
                        pack += packed.time;
                        Operand::Tensor(packed.tensor.clone())
                    }
                    Err(failure) => return Ok(Err(failure.to_string())),
                },
            };
            inputs.push((name.to_owned(), operand));
        }
        let dimensions = if form.rank > 0 { vec![("r".to_owned(), form.rank)] } else { Vec::new() };
        Ok(Ok((Posed { kernel, inputs, dimensions }, pack)))
    }

    fn format(&self, parameter: Parameter) -> Result<Format, Failure> {
        let choice = Choice {
            order: self.data.order(),
            mode: 0,
            format: self.format,
            element: self.element,
            is_last: self.is_last,
        };
        let blocks = choice.blocks().filter(|_| matches!(parameter, Parameter::Last(_)));
        let format = blocks.map_or_else(|| self.format.to_owned(), |[blocks, ..]| blocks);
        parse_format(&format, self.data.order(), &Definitions::of_program(self.definitions))
    }

    fn packed(&mut self, parameter: Parameter) -> Result<&Packed, Failure> {
        let place = match self.packed.iter().position(|(known, _)| *known == parameter) {
            Some(place) => place,
            None => {
                let packed = self.data.pack(parameter, &self.format(parameter)?, self.element)?;
                self.packed.push((parameter, packed));
                self.packed.len() - 1
            }
        };
        Ok(&self.packed[place].1)
    }
}

fn first_problem(problems: Vec<spc_compiler::diagnostics::Diagnostic>) -> String {
    problems.first().map_or_else(|| "it is refused".to_owned(), |problem| problem.message.clone())
}

/// The kernel of a name.
fn kernel(name: &str) -> Result<SuiteKernel, Failure> {
    let names = || KERNELS.iter().map(|kernel| kernel.name);
    if let Some(kernel) = KERNELS.into_iter().find(|kernel| kernel.name == name) {
        return Ok(kernel);
    }
    let failure = names::unknown(format!("there is no kernel `{name}` to measure"), name, names(), "they are");
    Err(failure.help("`--expression` measures any other"))
}

/// Records of one kernel in several formats whose results differ by more than rounding.
pub(crate) fn disagreements(records: &[Record]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let Some(first) = records[..place].iter().find(|other| other.case.is_same_but_format(&record.case)) else {
            continue;
        };
        let (a, b) = (first.checksum, record.checksum);
        if (a - b).abs() > 1e-3 * a.abs().max(b.abs()) {
            let Case { kernel, tensor, format, .. } = &record.case;
            let other = &first.case.format;
            warnings.push(format!("{kernel} of {tensor} sums up to {b} as {format} and to {a} as {other}"));
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(kernels: &[&str], modes: &[usize], quick: bool) -> Choices {
        let kernels: Vec<String> = kernels.iter().map(|&name| name.to_owned()).collect();
        Choices::new(&kernels, modes.to_vec(), &[], &[16, 32], &[ElementType::F64], quick).unwrap()
    }

    #[test]
    fn forms_are_those_of_the_order() {
        let data = Data::load("uniform:9x9x9:50".as_ref()).unwrap();
        let forms = |choices: &Choices, format| choices.forms(&data, format).len();
        assert_eq!(forms(&choices(&["mttkrp"], &[], false), "csf"), 3 * 2);
        assert_eq!(forms(&choices(&["mttkrp", "ttv"], &[2, 3], false), "csf"), 2 * 2 + 2);
        assert_eq!(forms(&choices(&["spmv"], &[], false), "csf"), 0);
        // Elementwise kernels are measured in plain formats, unless others are asked for.
        assert_eq!(forms(&choices(&["scalar"], &[], false), "alto"), 0);
        assert_eq!(choices(&[], &[], true).formats(3), ["csf"]);
        assert_eq!(choices(&[], &[], true).formats(2), ["csr"]);
    }

    #[test]
    fn unknown_kernels_are_refused() {
        let unknown = Choices::new(&["mtkrp".to_owned()], vec![], &[], &[16], &[], false);
        assert!(matches!(unknown, Err(Failure::Refused(problem)) if problem.help[0] == "did you mean `mttkrp`?"));
    }
}
