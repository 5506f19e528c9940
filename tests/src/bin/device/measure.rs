//! Kernels on tensors: how long they take, how near that is to what the memory gives, and whether the results are right.

use crate::cusparse::{Cusparse, Peer};
use crate::data::{Data, Kind};
use crate::kernels::{Comes, KERNELS, Kernel, Operation};
use crate::link::Link;
use crate::{Arguments, Result, Table, aims, data, median};
use serde_json::{Value, json};
use spc::cuda::{Gpu, Usage};
use spc::execute::{Backend, Entries, Operand, Outcome, Program, ProgramOptions, StreamOptions};
use spc::generate;
use spc::tensor::{AnyTensor, Coordinates, Indices, Values};
use spc_compiler::backend::cuda::{self, Module, Parameter};
use spc_compiler::ir::{ArrayId, ArrayRole, Kernel as Loops};
use spc_compiler::{notation, syntax};
use std::collections::BTreeSet;
use std::time::Duration;

/// The largest copy, in bytes.
const COPIED: usize = 1 << 30;

/// A kernel on a tensor.
pub(crate) struct Row {
    pub(crate) tensor: String,
    pub(crate) kind: Kind,
    kernel: String,
    pub(crate) group: &'static str,
    nnz: usize,
    /// That it must move at least; of an input in parts, those that are copied to the device.
    bytes: usize,
    pub(crate) median: Duration,
    /// The part of a copy's bandwidth that it moves them at.
    pub(crate) of_copy: f64,
    /// The part of the link's that an input in parts comes at, or its result goes, whichever takes longer.
    pub(crate) of_link: Option<f64>,
    pub(crate) entries_per_second: f64,
    /// Whether the dense inputs together fit the second-level cache.
    pub(crate) in_cache: bool,
    pub(crate) peer: Option<Peer>,
    /// Why there is none.
    no_peer: Option<String>,
    /// How far the result is from cuSPARSE's, and from that of the first kernel of its group: relative, of the worst element.
    difference: Option<f64>,
    is_right: bool,
    parts: Option<Value>,
    /// What each function takes of the device; nothing where its machine code was found on disk.
    usage: Vec<Usage>,
}

/// What kernels are measured with.
struct Bench<'a> {
    arguments: &'a Arguments,
    gpu: &'a Gpu,
    link: Link,
    cusparse: std::result::Result<Cusparse, String>,
    cache_bytes: usize,
}

/// A tensor, with what was made of it.
struct Subject {
    name: String,
    kind: Kind,
    entries: Coordinates<f64>,
    /// Operands that were packed, by their names: kernels of one format and type share them, also on the device.
    packed: Vec<(String, AnyTensor)>,
    /// The first result of each group, to compare others with.
    results: Vec<(&'static str, AnyTensor)>,
}

/// All rows with what they say of the aims, and whether all results agree.
pub(crate) fn all(arguments: &Arguments, gpu: &Gpu, table: Table) -> Result<(Value, bool)> {
    let bytes = COPIED.min(arguments.nnz.saturating_mul(32)).max(1 << 10);
    let link = Link::measure(gpu, bytes, arguments.repeat)?;
    table.line(&link.text());
    let cusparse = Cusparse::open(gpu);
    match &cusparse {
        Ok(cusparse) => table.line(&format!("cuSPARSE {}", cusparse.version())),
        Err(missing) => table.line(&format!("no library beside ours: {missing}")),
    }
    let library =
        json!({ "version": cusparse.as_ref().ok().map(Cusparse::version), "missing": cusparse.as_ref().err() });
    let bench = Bench { arguments, gpu, link, cusparse, cache_bytes: gpu.cache_bytes()? };
    table.line("");
    table.line(&format!(
        "{:<26} {:<30} {:>10} {:>6} {:>8} {:>10} {:>8} {:>10} {:>6}",
        "tensor", "kernel", "ms", "of B", "of link", "G entries/s", "GFLOP/s", "cuSPARSE", "times"
    ));
    let (mut rows, mut failed) = (Vec::new(), Vec::new());
    let asked = &arguments.kernels;
    let is_asked = |kernel: &&Kernel| asked.is_empty() || asked.iter().any(|name| kernel.name.starts_with(name));
    let kernels = |kind| KERNELS.iter().filter(|kernel| suits(kernel, kind)).filter(is_asked).collect::<Vec<_>>();
    let all = data::all(arguments)?;
    let measured: Vec<&Data> = all.iter().filter(|data| !kernels(data.kind).is_empty()).collect();
    data::each_made(&measured, |data, entries| {
        bench.rows(data, entries, &kernels(data.kind), (&mut rows, &mut failed), table)
    })?;
    let is_right = rows.iter().all(|row| row.is_right) && failed.is_empty();
    let aims = aims::all(&rows, table);
    let rows: Vec<Value> = rows.iter().map(Row::json).collect();
    let all =
        json!({ "bandwidth": bench.link.json(), "cusparse": library, "aims": aims, "rows": rows, "failed": failed });
    Ok((all, is_right))
}

impl Bench<'_> {
    fn rows(
        &self,
        data: &Data,
        entries: Coordinates<f64>,
        kernels: &[&Kernel],
        (rows, failed): (&mut Vec<Row>, &mut Vec<Value>),
        table: Table,
    ) {
        let (packed, results) = (Vec::new(), Vec::new());
        let mut subject = Subject { name: data.name.clone(), kind: data.kind, entries, packed, results };
        for kernel in kernels {
            let in_parts = Some(self.arguments.parts);
            let ways: &[Option<usize>] = match kernel.comes {
                Comes::Whole => &[None],
                Comes::InParts => &[in_parts],
                Comes::Both => &[None, in_parts],
            };
            for &parts in ways {
                match self.row(kernel, &mut subject, parts) {
                    Ok(row) => {
                        table.line(&row.text());
                        rows.push(row);
                    }
                    // One kernel that does not run is no reason not to measure the others.
                    Err(error) => {
                        table.line(&format!("{:<26} {:<30} {error}", data.name, kernel.name));
                        failed.push(json!({ "tensor": data.name, "kernel": kernel.name, "error": error.to_string() }));
                    }
                }
            }
        }
    }

    /// One kernel on one tensor; in parts if so many are asked for.
    fn row(&self, kernel: &Kernel, subject: &mut Subject, parts: Option<usize>) -> Result<Row> {
        let program = self.program(kernel, subject, parts)?;
        let repeat = if parts.is_some() { self.arguments.repeat.div_ceil(3) } else { self.arguments.repeat };
        let outcome = program.run(repeat)?;
        let median = median(&outcome.run_times);
        let seconds = median.as_secs_f64();
        let nnz = subject.entries.values.len();
        let inputs: Vec<&AnyTensor> = program.inputs().map(|(_, tensor)| tensor).collect();
        let result = &outcome.outputs.first().ok_or("the kernel makes nothing")?.1;
        let modules = modules(&program)?;
        let bytes = match parts {
            None => moved(&program, &modules, &outcome),
            Some(_) => inputs.first().map_or(0, |x| x.storage_bytes()),
        };
        let of_link = parts.map(|_| {
            let (to, from) =
                (bytes as f64 / self.link.to_device, result.storage_bytes() as f64 / self.link.from_device);
            to.max(from) / seconds
        });
        let dense: usize =
            inputs.iter().filter(|input| input.format().is_dense()).map(|input| input.storage_bytes()).sum();
        let (peer, no_peer) = match (kernel.peer.filter(|_| parts.is_none()), &self.cusparse) {
            (None, _) => (None, None),
            (Some(_), Err(missing)) => (None, Some(missing.clone())),
            (Some(operation), Ok(library)) => match library.measure(operation, &inputs, result, repeat) {
                Ok(peer) => (Some(peer), None),
                Err(error) => (None, Some(error)),
            },
        };
        let of_peer = peer.as_ref().zip(kernel.peer).map(|(peer, operation)| from_peer(result, operation, peer));
        let difference = [of_peer, subject.difference(kernel.group, result)].into_iter().flatten().reduce(f64::max);
        // Sums of millions of terms, in different orders.
        let tolerance = if kernel.width == 4 { 5e-3 } else { 1e-9 };
        Ok(Row {
            tensor: subject.name.clone(),
            kind: subject.kind,
            kernel: parts.map_or_else(|| kernel.name.to_owned(), |parts| format!("{} in {parts}", kernel.name)),
            group: kernel.group,
            nnz,
            bytes,
            median,
            of_copy: bytes as f64 / seconds / self.link.copy,
            of_link,
            entries_per_second: nnz as f64 / seconds,
            in_cache: dense <= self.cache_bytes,
            peer,
            no_peer,
            difference,
            is_right: difference.is_none_or(|difference| difference <= tolerance),
            usage: modules.iter().filter_map(|module| self.gpu.usage(module).ok()).flatten().collect(),
            parts: program.spent().map(|spent| {
                let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
                json!({
                    "copy_in_ms": milliseconds(spent.copy_in), "compute_ms": milliseconds(spent.compute),
                    "copy_out_ms": milliseconds(spent.copy_out), "combine_ms": milliseconds(spent.combine),
                    "pageable": spent.pageable,
                })
            }),
        })
    }

    /// A kernel on the GPU, whose dense operands are random.
    fn program(&self, kernel: &Kernel, subject: &mut Subject, parts: Option<usize>) -> Result<Program> {
        let parsed = syntax::parse_program(kernel.text).and_then(|program| notation::check(&program));
        let notation = parsed.map_err(|problems| format!("{}: {problems:?}", kernel.text))?.remove(0);
        let mut inputs = Vec::new();
        for (tensor, seed) in notation.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input).zip(1..) {
            let operand =
                if tensor.is_sparse() { subject.operand(tensor, kernel.width) } else { Operand::Random { seed } };
            inputs.push((tensor.name.clone(), operand));
        }
        let has_rank = notation.variables.iter().any(|variable| variable.name == "r");
        let dimensions = if has_rank { vec![("r".to_owned(), kernel.rank)] } else { Vec::new() };
        let stream = parts.map(|parts| StreamOptions::new("X", parts));
        let devices = vec![self.gpu.ordinal()];
        let options = ProgramOptions { backend: Some(Backend::Cuda), devices, stream, ..ProgramOptions::default() };
        let program = Program::new(&notation, inputs, &dimensions, &options)?;
        for (name, tensor) in program.inputs().filter(|(_, tensor)| !tensor.format().is_dense()) {
            subject.keep(name, tensor);
        }
        Ok(program)
    }
}

/// Whether a kernel is measured on such a tensor: products of two sparse matrices are on small ones alone.
fn suits(kernel: &Kernel, kind: Kind) -> bool {
    let is_product = kernel.peer == Some(Operation::SpGemm);
    match kind {
        Kind::Small => is_product,
        Kind::Tensor => kernel.order == 3,
        Kind::Regular | Kind::Mixed => kernel.order == 2 && !is_product,
    }
}

impl Subject {
    /// `X` as it is; `Z` with its columns in reverse order, so that it has entries elsewhere.
    fn operand(&self, tensor: &notation::Tensor, width: usize) -> Operand {
        let is_it = |(name, packed): &&(String, AnyTensor)| {
            *name == tensor.name && *packed.format() == tensor.format && packed.element() == tensor.element
        };
        if let Some((_, packed)) = self.packed.iter().find(is_it) {
            return Operand::Tensor(packed.clone());
        }
        let mut entries = self.entries.clone();
        if tensor.name == "Z" {
            reverse(&mut entries);
        }
        Operand::Entries(match width {
            4 => Entries::from(generate::typed::<f32>(entries)),
            _ => Entries::from(entries),
        })
    }

    fn keep(&mut self, name: &str, tensor: &AnyTensor) {
        let is_it = |(other, packed): &(String, AnyTensor)| {
            other == name && packed.format() == tensor.format() && packed.element() == tensor.element()
        };
        if !self.packed.iter().any(is_it) {
            self.packed.push((name.to_owned(), tensor.clone()));
        }
    }

    /// How far a result is from the first one of its group, which it becomes where it is the first of several.
    fn difference(&mut self, group: &'static str, result: &AnyTensor) -> Option<f64> {
        if let Some((_, first)) = self.results.iter().find(|(other, _)| *other == group) {
            return Some(apart(first.values(), result.values()));
        }
        let of_group = KERNELS.iter().filter(|kernel| kernel.group == group);
        let ways = of_group.map(|kernel| if kernel.comes == Comes::Both { 2 } else { 1 });
        // Some results take gigabytes.
        if ways.sum::<usize>() > 1 {
            self.results.push((group, result.clone()));
        }
        None
    }
}

/// Reverses the order of the last mode.
fn reverse(entries: &mut Coordinates<f64>) {
    let Some((extent, indices)) = entries.shape.last().zip(entries.indices.last_mut()) else { return };
    match indices {
        Indices::U32(indices) => indices.iter_mut().for_each(|index| *index = (*extent - 1) as u32 - *index),
        Indices::U64(indices) => indices.iter_mut().for_each(|index| *index = (*extent - 1) as u64 - *index),
    }
}

/// How far a result is from cuSPARSE's: the values of a dense one or of a known pattern, the sums of rows of a product.
fn from_peer(result: &AnyTensor, operation: Operation, peer: &Peer) -> f64 {
    if !matches!(operation, Operation::SpGemm | Operation::Add) {
        return apart(result.values(), &peer.values);
    }
    let values = result.values();
    // Entries that a sum leaves at zero are there in both.
    let (true, Some(positions)) = (result.nnz() == peer.entries, result.positions(1)) else { return f64::INFINITY };
    let bounds: Vec<usize> = positions.iter().collect();
    let sum = |row: &[usize]| (row[0]..row[1]).map(|place| values.get_f64(place)).sum();
    apart(&bounds.windows(2).map(sum).collect::<Vec<f64>>().into(), &peer.values)
}

/// The largest difference of two numbers, in relation to the larger; all are sums of what is not negative.
fn apart(ones: &Values, others: &Values) -> f64 {
    fn most(pairs: impl Iterator<Item = (f64, f64)>) -> f64 {
        let difference = |(one, other): (f64, f64)| {
            if one == other { 0.0 } else { (one - other).abs() / one.abs().max(other.abs()) }
        };
        // What is no number is as far as can be.
        let larger = |most: f64, next: f64| if next.is_nan() { f64::INFINITY } else { most.max(next) };
        pairs.map(difference).fold(0.0, larger)
    }
    if ones.len() != others.len() {
        return f64::INFINITY;
    }
    match (ones.as_slice::<f32>(), others.as_slice::<f32>()) {
        (Some(ones), Some(others)) => most(ones.iter().zip(others).map(|(&one, &other)| (one.into(), other.into()))),
        _ => most((0..ones.len()).map(|place| (ones.get_f64(place), others.get_f64(place)))),
    }
}

/// The bytes of all arrays of inputs and results that functions of the device take: each counts once.
fn moved(program: &Program, modules: &[Module], outcome: &Outcome) -> usize {
    let mut arrays = BTreeSet::new();
    for module in modules {
        // It may have arrays that the kernel has not.
        let kernel: &Loops = &module.kernel;
        for parameter in module.functions.iter().flat_map(|function| function.parameters(kernel)) {
            if let Parameter::Array { array, .. } = parameter {
                arrays.extend(array_of(program, outcome, kernel, array));
            }
        }
    }
    arrays.into_iter().map(|(_, bytes)| bytes).sum()
}

/// What a program is on a device.
fn modules(program: &Program) -> Result<Vec<Module>> {
    let module = |compiled: &spc_compiler::Compiled| cuda::module(&compiled.kernel, None, cuda::Options::default());
    let modules: std::result::Result<_, _> = program.compiled().kernels.iter().map(module).collect();
    modules.map_err(|refusal| format!("it can't run on a device: {}", refusal.what).into())
}

/// Where an array of an input or a result is on the host, and how many bytes it has.
fn array_of(program: &Program, outcome: &Outcome, kernel: &Loops, array: ArrayId) -> Option<(usize, usize)> {
    let role = kernel.array(array).role;
    let name = &kernel.tensor(role.tensor()?).name;
    let outputs = outcome.outputs.iter().map(|(name, tensor)| (name.as_str(), tensor));
    let (_, tensor) = program.inputs().chain(outputs).find(|(other, _)| other == name)?;
    let bytes = match role {
        ArrayRole::Positions { level, .. } => tensor.positions(level)?.as_bytes(),
        ArrayRole::Coordinates { level, .. } => tensor.coordinates(level)?.as_bytes(),
        ArrayRole::Values { .. } => tensor.values().as_bytes(),
        ArrayRole::Local => return None,
    };
    Some((bytes.as_ptr().addr(), bytes.len()))
}

impl Row {
    fn gflops(&self) -> f64 {
        let rank = KERNELS.iter().find(|kernel| kernel.group == self.group).map_or(1, |kernel| kernel.rank);
        2.0 * self.entries_per_second * rank as f64 / 1e9
    }

    fn text(&self) -> String {
        let part = |part: Option<f64>| part.map_or_else(String::new, |part| format!("{part:.2}"));
        let milliseconds = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
        let peer = self.peer.as_ref().map(|peer| peer.median);
        let times = peer.map(|peer| peer.as_secs_f64() / self.median.as_secs_f64());
        let beside = match (&self.no_peer, self.is_right) {
            (_, false) => format!("WRONG: {:e}", self.difference.unwrap_or(f64::INFINITY)),
            (Some(why), true) if !why.contains("was not found") => why.clone(),
            _ => String::new(),
        };
        let line = format!(
            "{:<26} {:<30} {:>10} {:>6.2} {:>8} {:>10.2} {:>8.0} {:>10} {:>6} {beside}",
            self.tensor,
            self.kernel,
            milliseconds(self.median),
            self.of_copy,
            part(self.of_link),
            self.entries_per_second / 1e9,
            self.gflops(),
            peer.map_or_else(String::new, milliseconds),
            part(times),
        );
        line.trim_end().to_owned()
    }

    fn json(&self) -> Value {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let peer = self.peer.as_ref().map(|peer| {
            let algorithm = |(name, time): &(&str, std::result::Result<Duration, String>)| match time {
                Ok(time) => json!({ "algorithm": name, "median_ms": milliseconds(*time) }),
                Err(error) => json!({ "algorithm": name, "error": error }),
            };
            let algorithms: Vec<Value> = peer.algorithms.iter().map(algorithm).collect();
            let times = peer.median.as_secs_f64() / self.median.as_secs_f64();
            json!({ "median_ms": milliseconds(peer.median), "times": times, "algorithms": algorithms })
        });
        json!({
            "tensor": self.tensor, "kernel": self.kernel, "nnz": self.nnz, "bytes": self.bytes,
            "median_ms": milliseconds(self.median), "of_copy_bandwidth": self.of_copy, "of_link_bandwidth": self.of_link,
            "g_entries_per_s": self.entries_per_second / 1e9, "gflops": self.gflops(), "factors_in_cache": self.in_cache,
            "cusparse": peer, "no_cusparse": self.no_peer, "difference": self.difference, "right": self.is_right,
            "parts": self.parts, "functions": self.usage.iter().map(of_usage).collect::<Vec<_>>(),
        })
    }
}

fn of_usage(usage: &Usage) -> Value {
    json!({
        "function": usage.function, "registers": usage.registers, "shared_bytes": usage.shared,
        "spill_bytes": usage.spill_stores + usage.spill_loads,
    })
}
