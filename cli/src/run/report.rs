//! What a run tells about itself.

use crate::failure::Failure;
use crate::output::{self, digits};
use crate::stderr;
use crate::{planning, settings};
use serde_json::{Map, Value, json};
use spc::complex::c64;
use spc::distribute::Written;
use spc::execute::{Copied, Outcome, Prepared, Program, Way};
use spc::tensor::{AnyTensor, Element, ElementType, Values};
use spc::with_element;
use spc_compiler::explanation;
use spc_compiler::format::Format;
use spc_compiler::notation::Kernel;
use spc_compiler::syntax::Schedule;
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::time::Duration;

/// How many entries of a result are shown.
const SHOWN: usize = 5;

/// A finished run.
pub(super) struct Report<'a> {
    pub(super) program: &'a Program,
    pub(super) outcome: &'a Outcome,
    pub(super) kernel: &'a Kernel,
    /// What is probably not meant in the kernel.
    pub(super) warnings: Value,
    pub(super) read_time: Duration,
    /// What was said of the inputs on standard error.
    pub(super) notes: &'a [String],
}

/// How each input is stored.
pub(super) fn inputs(program: &Program, kernel: &Kernel) -> Vec<String> {
    let line = |(name, tensor): (&str, &AnyTensor)| {
        let (shape, element) = (output::shape(tensor.shape()), tensor.element().name());
        let (format, bytes) = (format_of(kernel, name, tensor.format()), output::bytes(tensor.storage_bytes()));
        format!("`{name}`: {shape}, {element} {format}, {} stored in {bytes}", tensor.nnz())
    };
    program.inputs().map(line).collect()
}

/// A tensor's format, as it is declared.
pub(super) fn format_of(kernel: &Kernel, name: &str, format: &Format) -> String {
    let declared = kernel.tensors.iter().find(|tensor| tensor.name == name);
    let plain = || (*format == Format::dense(format.order)).then(|| "dense".to_owned());
    let named = declared.and_then(|tensor| tensor.format_name.clone()).or_else(plain);
    named.unwrap_or_else(|| format.to_string())
}

/// The directives of a schedule.
pub(crate) fn on_one_line(schedule: &Schedule) -> String {
    schedule.directives.iter().map(|directive| format!("{directive};")).collect::<Vec<_>>().join(" ")
}

impl Report<'_> {
    /// The results and the times, for people.
    pub(super) fn print(&self, show_code: bool) -> Result<(), Failure> {
        let mut text = self.text();
        if show_code {
            _ = write!(text, "\n{}", self.program.text());
        }
        output::print(&text)
    }

    /// The same where the standard output has a result on it.
    pub(super) fn print_on_stderr(&self) -> Result<(), Failure> {
        if !settings::is_quiet() {
            stderr::print(&self.text());
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (name, tensor) in &self.outcome.outputs {
            result(&mut text, name, &Shown::of(tensor), &self.format(name, tensor));
        }
        if let Some(rounds) = &self.outcome.rounds {
            let steps = if rounds.steps == 1 { "step" } else { "steps" };
            let all = rounds.times.iter().sum();
            let last = rounds.history.last().map_or_else(String::new, |last| format!(", the rule sees {last:?}"));
            _ = writeln!(text, "{} {steps} in {} ms{last}", rounds.steps, milliseconds(all));
        }
        let times = &self.outcome.run_times;
        let run = match times.len() {
            1 => String::new(),
            count => format!(" (median of {count})"),
        };
        let cached = if self.program.from_cache() { " (compiled before)" } else { "" };
        _ = writeln!(
            text,
            "run {} ms{run}, {} on {}; compile {} ms{cached}, read {} ms, pack {} ms{}",
            milliseconds(self.outcome.kernel_time()),
            self.program.backend(),
            self.program.place(),
            milliseconds(self.program.compile_time()),
            milliseconds(self.read_time),
            milliseconds(self.program.pack_time()),
            self.other_ways(),
        );
        _ = writeln!(text, "{}", self.call());
        if let Some(planned) = self.program.planned() {
            let (cost, written) = (&planned.cost, &planned.written);
            let operations = explanation::scientific;
            let (planned, written) = (operations(cost.operations), operations(written.operations));
            let time = milliseconds(self.program.plan_time());
            _ = writeln!(
                text,
                "planned in {time} ms: {planned} operations, as written {written}; `-v` shows the plan, `--plan as_written` takes none"
            );
        }
        if let Some(schedule) = self.program.tuned() {
            _ = writeln!(text, "tuned: {}", on_one_line(schedule));
        }
        if let Some(spent) = self.program.spent() {
            _ = writeln!(
                text,
                "in parts: wait for the file {} ms, copy in {} ms, compute {} ms, copy out {} ms, combine {} ms in all lanes together",
                milliseconds(spent.wait),
                milliseconds(spent.copy_in),
                milliseconds(spent.compute),
                milliseconds(spent.copy_out),
                milliseconds(spent.combine),
            );
            if spent.pageable {
                _ = writeln!(
                    text,
                    "note: the input could not be pinned in the host's memory, so its parts were copied more slowly"
                );
            }
        }
        text
    }

    /// How inputs came into their formats that were not packed.
    fn other_ways(&self) -> String {
        let mut parts = String::new();
        let ways = [(Way::Converted, "convert"), (Way::Generated, "generate")];
        for (way, verb) in ways {
            let of_way: Vec<&Copied> = self
                .program
                .prepared()
                .iter()
                .filter(|prepared| prepared.way == way)
                .map(|prepared| &prepared.copied)
                .collect();
            if !of_way.is_empty() {
                let time = self.program.prepare_time(way);
                _ = write!(parts, ", {verb} {} ms ({})", milliseconds(time), copies(&of_way));
            }
        }
        if self.program.compare_time() >= WORTH_A_WORD {
            _ = write!(parts, ", compare patterns {} ms", milliseconds(self.program.compare_time()));
        }
        parts
    }

    /// What a call costs, and of what that is the sum.
    fn call(&self) -> String {
        let around = &self.outcome.around;
        let mut parts = vec![format!("run {}", milliseconds(self.outcome.kernel_time()))];
        let mut add = |what: &str, time: Duration, of: &[Copied]| {
            if !of.is_empty() {
                parts.push(format!("{what} {} ({})", milliseconds(time), copies(&of.iter().collect::<Vec<_>>())));
            } else if !time.is_zero() {
                parts.push(format!("{what} {}", milliseconds(time)));
            }
        };
        if !around.copies.is_empty() {
            add("copies", around.copy_time(), &around.copies);
        }
        add("to the device", around.copy_in, &[]);
        add("memory for results", around.allocate, &[]);
        add("from the device", around.copy_out, &[]);
        if !around.deliveries.is_empty() {
            add("convert results", around.deliver_time(), &around.deliveries);
        }
        add("checks", around.other, &[]);
        format!("call {} ms: {}", milliseconds(self.outcome.call_time()), parts.join(" + "))
    }

    /// The format as it is declared.
    fn format(&self, name: &str, tensor: &AnyTensor) -> String {
        format_of(self.kernel, name, tensor.format())
    }

    /// All figures as one JSON object.
    pub(super) fn print_json(&self) -> Result<(), Failure> {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let copied = |copied: &Copied| json!({ "tensor": copied.tensor, "format": copied.format, "ms": milliseconds(copied.time) });
        let prepared = |prepared: &Prepared| {
            let mut value = copied(&prepared.copied);
            value["way"] = json!(match prepared.way {
                Way::Packed => "packed",
                Way::Converted => "converted",
                Way::Generated => "generated",
            });
            value
        };
        let around = &self.outcome.around;
        let times = &self.outcome.run_times;
        let tensors = |tensors: &mut dyn Iterator<Item = (&str, &AnyTensor)>, with_sum: bool| {
            let mut map = Map::new();
            for (name, tensor) in tensors {
                let format = self.format(name, tensor);
                let mut value = json!({
                    "shape": tensor.shape(), "element": tensor.element().name(), "format": format,
                    "nnz": tensor.nnz(), "bytes": tensor.storage_bytes(),
                });
                if with_sum {
                    value["checksum"] = Checksum::of(tensor).json();
                }
                map.insert(name.to_owned(), value);
            }
            Value::Object(map)
        };
        let outputs = &self.outcome.outputs;
        let sums = outputs.iter().map(|(_, tensor)| Checksum::of(tensor));
        let sum = sums.reduce(Checksum::plus).unwrap_or(Checksum::Real(0.0));
        let value = json!({
            "kernel": self.kernel.name,
            "backend": self.program.backend().name(),
            "tier": self.outcome.tier.name(),
            "tier_reason": self.outcome.reason,
            "without_compiler": self.program.without_compiler().map(ToString::to_string),
            "threads": spc::parallel::threads(),
            "place": self.program.place(),
            "nnz": self.sparse_entries(),
            "compile_ms": milliseconds(self.program.compile_time()),
            "from_cache": self.program.from_cache(),
            "cache_warnings": spc::execute::cache_warnings().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "tuned": self.program.tuned().map(on_one_line),
            "plan": self.program.planned().map(|planned| planning::as_json(planned, self.program.facts())),
            "plan_ms": milliseconds(self.program.plan_time()),
            "read_ms": milliseconds(self.read_time),
            "pack_ms": milliseconds(self.program.pack_time()),
            "convert_ms": milliseconds(self.program.prepare_time(Way::Converted)),
            "generate_ms": milliseconds(self.program.prepare_time(Way::Generated)),
            "compare_ms": milliseconds(self.program.compare_time()),
            "prepared": self.program.prepared().iter().map(prepared).collect::<Vec<_>>(),
            "run_ms": times.iter().map(|&time| milliseconds(time)).collect::<Vec<_>>(),
            "median_ms": milliseconds(self.outcome.kernel_time()),
            "copy_ms": milliseconds(around.copy_time()),
            "copies": around.copies.iter().map(copied).collect::<Vec<_>>(),
            "copy_in_ms": milliseconds(around.copy_in),
            "copy_out_ms": milliseconds(around.copy_out),
            "allocate_ms": milliseconds(around.allocate),
            "deliver_ms": milliseconds(around.deliver_time()),
            "deliveries": around.deliveries.iter().map(copied).collect::<Vec<_>>(),
            "check_ms": milliseconds(around.other),
            "call_ms": milliseconds(self.outcome.call_time()),
            "parts": self.program.spent().map(|spent| json!({
                "wait_ms": milliseconds(spent.wait), "copy_in_ms": milliseconds(spent.copy_in), "compute_ms": milliseconds(spent.compute),
                "copy_out_ms": milliseconds(spent.copy_out), "combine_ms": milliseconds(spent.combine),
                "bound_ms": milliseconds(spent.bound()), "pageable": spent.pageable,
            })),
            "iterated": self.outcome.rounds.as_ref().map(|rounds| json!({
                "steps": rounds.steps, "is_met": rounds.is_met, "history": rounds.history,
            })),
            "warnings": self.warnings,
            "checksum": sum.json(),
            "notes": self.notes,
            "inputs": tensors(&mut self.program.inputs(), false),
            "outputs": tensors(&mut outputs.iter().map(|(name, tensor)| (name.as_str(), tensor)), true),
        });
        output::print_json(value)
    }

    /// The stored entries of the inputs that are not dense; of all inputs where all are.
    fn sparse_entries(&self) -> usize {
        let count = |all: bool| -> usize {
            let inputs = self.program.inputs().filter(|(_, tensor)| all || !tensor.format().is_dense());
            inputs.map(|(_, tensor)| tensor.nnz()).sum()
        };
        match count(false) {
            0 => count(true),
            sparse => sparse,
        }
    }
}

/// What is shown of a result.
pub(super) struct Shown<'a> {
    shape: &'a [usize],
    element: ElementType,
    stored: usize,
    /// The first entries.
    first: Vec<(Vec<usize>, String)>,
    sum: Checksum,
}

impl<'a> Shown<'a> {
    pub(super) fn of(tensor: &'a AnyTensor) -> Self {
        let mut first = Vec::new();
        let whole = with_all(tensor);
        whole.for_each_position(|index, position| {
            if first.len() < SHOWN {
                first.push((index.to_vec(), value(whole.values(), position)));
            }
        });
        let (shape, element, stored) = (tensor.shape(), tensor.element(), tensor.nnz());
        Self { shape, element, stored, first, sum: Checksum::of(tensor) }
    }

    /// The same of what ranks have written together.
    pub(super) fn written(of: &'a Written) -> Self {
        let first = of.first.iter().take(SHOWN).enumerate();
        let first = first.map(|(place, index)| (index.clone(), value(&of.first_values, place))).collect();
        Self { shape: &of.shape, element: of.element, stored: of.stored, first, sum: Checksum::written(of) }
    }
}

/// A result: its shape, its first entries with indices as in the language, from 0, and the sum of all.
pub(super) fn result(text: &mut String, name: &str, of: &Shown<'_>, format: &str) {
    if of.shape.is_empty() {
        let value = of.first.first().map_or("", |(_, value)| value);
        _ = writeln!(text, "{name} = {value}");
        return;
    }
    let (shape, element) = (output::shape(of.shape), of.element.name());
    _ = writeln!(text, "{name}: {shape}, {element} {format}, {} stored", of.stored);
    let row = |(index, value): &(Vec<usize>, String)| {
        let index: Vec<String> = index.iter().map(usize::to_string).collect();
        vec![format!("    {name}({})", index.join(", ")), format!("= {value}")]
    };
    text.push_str(&output::table(&of.first.iter().map(row).collect::<Vec<_>>(), 2));
    if of.stored > SHOWN {
        text.push_str("    ...\n");
    }
    _ = writeln!(text, "    sum of all: {}", of.sum);
}

/// A tensor with all entries, as far as there is memory for them.
fn with_all(tensor: &AnyTensor) -> Cow<'_, AnyTensor> {
    tensor.unfolded().unwrap_or(Cow::Borrowed(tensor))
}

fn value(values: &Values, position: usize) -> String {
    fn text<T: Element>(values: &[T], position: usize) -> String {
        values[position].to_string()
    }
    with_element!(values.element(), |T| values.as_slice::<T>().map(|values| text(values, position)).unwrap_or_default())
}

/// The sum of the stored values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Checksum {
    Real(f64),
    Complex(c64),
}

impl Checksum {
    pub(super) fn of(tensor: &AnyTensor) -> Self {
        let tensor = &*with_all(tensor);
        let values = tensor.values();
        let value = |position| match tensor.element().is_complex() {
            true => Checksum::Complex(values.get_c64(position)),
            false => Checksum::Real(values.get_f64(position)),
        };
        let mut sum = if tensor.element().is_complex() { Checksum::Complex(0.0.into()) } else { Checksum::Real(0.0) };
        // Some formats have places that hold no entry.
        match tensor.nnz() == values.len() {
            true => (0..values.len()).for_each(|position| sum = sum.plus(value(position))),
            false => tensor.for_each_position(|_, position| sum = sum.plus(value(position))),
        }
        sum
    }

    /// The same of what ranks have written together.
    pub(super) fn written(of: &Written) -> Self {
        if of.element.is_complex() { Checksum::Complex(of.sum) } else { Checksum::Real(of.sum.re) }
    }

    fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Checksum::Real(a), Checksum::Real(b)) => Checksum::Real(a + b),
            (a, b) => Checksum::Complex(a.complex() + b.complex()),
        }
    }

    fn complex(self) -> c64 {
        match self {
            Checksum::Real(value) => value.into(),
            Checksum::Complex(value) => value,
        }
    }

    /// A number; of complex numbers, a list of both parts.
    pub(super) fn json(self) -> Value {
        match self {
            Checksum::Real(value) => number(value),
            Checksum::Complex(value) => json!([number(value.re), number(value.im)]),
        }
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Checksum::Real(value) => value.fmt(f),
            Checksum::Complex(value) => value.fmt(f),
        }
    }
}

/// A number, or its name where JSON has none.
pub(crate) fn number(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

/// What took a time that is worth a word.
const WORTH_A_WORD: Duration = Duration::from_micros(10);

/// `A as csr 1.5, X as [compressed] 0.2`
fn copies(copies: &[&Copied]) -> String {
    let copy = |copied: &&Copied| format!("{} as {} {}", copied.tensor, copied.format, milliseconds(copied.time));
    copies.iter().map(copy).collect::<Vec<_>>().join(", ")
}

pub(super) fn milliseconds(time: Duration) -> String {
    digits(time.as_secs_f64() * 1e3)
}
