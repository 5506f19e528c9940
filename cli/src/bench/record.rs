//! What was measured.

use crate::predicted::as_json;
use serde_json::{Map, Value, json};
use spc::cuda::model::{Description, Limit, Predicted};
use spc::execute::{Around, Spent, Tuned};
use spc::measure::{Cache, Machine, Summary};
use spc_compiler::model::Model;
use std::fmt;
use std::time::Duration;

/// One figure: a kernel on a tensor, with all that may change it.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) case: Case,
    /// The extent of each mode of the tensor.
    pub(crate) shape: Vec<usize>,
    pub(crate) nnz: usize,
    pub(crate) backend: &'static str,
    /// The kernel's times in seconds.
    pub(crate) times: Summary,
    /// Those of whole calls that write into a result which is there; none where an input comes in parts.
    pub(crate) into: Option<Summary>,
    /// Those of whole calls that make a new result.
    pub(crate) call: Option<Summary>,
    /// Reading or generating the tensor, in seconds, as all times here.
    pub(crate) read: f64,
    pub(crate) compile: f64,
    pub(crate) pack: f64,
    /// Copies that the kernel asks for each time that it is called, of operands before and of results after, where it does.
    pub(crate) copies: Option<f64>,
    /// The format that loops walk, where it is not the one that the case names: that is only stored.
    pub(crate) ran_as: Option<String>,
    /// What each call takes beside the kernel, copies among it.
    pub(crate) around: Around,
    pub(crate) estimate: Option<Estimate>,
    /// The sum of the stored values of all results.
    pub(crate) checksum: f64,
    /// Where the time is predicted: of what.
    pub(crate) foreseen: Option<Foreseen>,
    /// Where an input comes in parts: what the lanes have spent on them together.
    pub(crate) spent: Option<Spent>,
}

/// What a model of a GPU says of a kernel, which was not measured.
#[derive(Debug, Clone)]
pub(crate) struct Foreseen {
    pub(crate) gpu: Description,
    pub(crate) predicted: Predicted,
}

impl Foreseen {
    /// What limits the launch that takes longest.
    pub(crate) fn limit(&self) -> Option<Limit> {
        let counted = self.predicted.launches.iter().filter(|launch| !launch.is_once);
        Some(counted.max_by(|a, b| a.time.seconds.total_cmp(&b.time.seconds))?.time.limit)
    }
}

/// What a time includes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// The loops alone.
    Kernel,
    /// A call that writes into a result which is there: checks, what the result begins as, copies that each call makes, the loops.
    Into,
    /// A call that makes a new result: that, and the memory for it.
    Call,
}

impl Clock {
    pub(crate) const ALL: [Clock; 3] = [Clock::Kernel, Clock::Into, Clock::Call];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Clock::Kernel => "kernel",
            Clock::Into => "into",
            Clock::Call => "call",
        }
    }
}

/// What tells a figure from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) tensor: String,
    pub(crate) kernel: String,
    /// From 1; 0 where there is none.
    pub(crate) mode: usize,
    pub(crate) format: String,
    /// 0 where there is none.
    pub(crate) rank: usize,
    pub(crate) element: &'static str,
    pub(crate) threads: usize,
}

/// What a model says of a kernel on the machine.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    pub(crate) operations: f64,
    pub(crate) bytes: f64,
    pub(crate) footprint: f64,
    /// The roofline, in seconds.
    pub(crate) least: f64,
    /// The cache that holds the footprint.
    pub(crate) fits: Option<u32>,
}

/// A kernel that does not run in a format, and why.
#[derive(Debug, Clone)]
pub(crate) struct Refused {
    pub(crate) case: Case,
    pub(crate) reason: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { kernel, tensor, format, .. } = &self.case;
        write!(f, "{kernel} of {tensor} as {format} was left out: {}", self.reason)
    }
}

/// What tuning showed for a case.
#[derive(Debug, Clone)]
pub(crate) struct Tuning {
    pub(crate) case: Case,
    pub(crate) tuned: Tuned,
    /// Whether a model says so, and nothing was measured.
    pub(crate) is_predicted: bool,
}

/// What was found out of a line of many factors.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    pub(crate) name: String,
    pub(crate) tensor: String,
    pub(crate) threads: usize,
    /// In seconds, the least of several: by the plan, as split by hand, as written.
    pub(crate) times: [Option<f64>; 3],
    pub(crate) operations: Option<(f64, f64)>,
    pub(crate) plan: Option<String>,
}

/// All that a run of the benchmarks found out.
#[derive(Debug, Clone)]
pub(crate) struct Findings {
    pub(crate) machines: Vec<Machine>,
    pub(crate) caches: Vec<Cache>,
    pub(crate) records: Vec<Record>,
    pub(crate) refused: Vec<Refused>,
    pub(crate) tunings: Vec<Tuning>,
    /// Lines beside their splits.
    pub(crate) plans: Vec<Compared>,
}

impl Estimate {
    /// Of a model, on a machine.
    pub(crate) fn of(model: &Model, machine: &Machine, caches: &[Cache], element: usize) -> Self {
        let footprint = model.footprint();
        // Caches but the last belong to a core each.
        let held = |(place, cache): (usize, &Cache)| {
            let cores = if place + 1 < caches.len() { machine.threads() } else { 1 };
            ((cache.bytes * cores) as f64 >= footprint).then_some(cache.level)
        };
        Self {
            operations: model.operations,
            bytes: model.bytes(),
            footprint,
            least: machine.least_time(model, element),
            fits: caches.iter().enumerate().find_map(held),
        }
    }
}

impl Record {
    /// The median by a clock, in seconds.
    pub(crate) fn median(&self, clock: Clock) -> Option<f64> {
        let times = match clock {
            Clock::Kernel => Some(&self.times),
            Clock::Into => self.into.as_ref(),
            Clock::Call => self.call.as_ref(),
        };
        times.map(|times| times.median)
    }

    /// Operations a second.
    pub(crate) fn flops(&self) -> Option<f64> {
        self.estimate.as_ref().map(|estimate| estimate.operations / self.times.median)
    }

    /// Bytes a second.
    pub(crate) fn bandwidth(&self) -> Option<f64> {
        self.estimate.as_ref().map(|estimate| estimate.bytes / self.times.median)
    }

    /// The least time as a part of the median.
    pub(crate) fn share(&self) -> Option<f64> {
        self.estimate.as_ref().map(|estimate| estimate.least / self.times.median)
    }

    pub(crate) fn as_json(&self) -> Value {
        let mut map = self.case.as_json();
        let milliseconds = |seconds: f64| seconds * 1e3;
        let mut put = |name: &str, value: Value| _ = map.insert(name.to_owned(), value);
        put("shape", json!(self.shape));
        put("nnz", json!(self.nnz));
        put("backend", json!(self.backend));
        put("kernel_ms", json!(milliseconds(self.times.median)));
        put("into_ms", json!(self.median(Clock::Into).map(milliseconds)));
        put("call_ms", json!(self.median(Clock::Call).map(milliseconds)));
        put("lower_quartile_ms", json!(milliseconds(self.times.lower)));
        put("upper_quartile_ms", json!(milliseconds(self.times.upper)));
        put("least_ms", json!(milliseconds(self.times.least)));
        put("runs", json!(self.times.count));
        put("read_ms", json!(milliseconds(self.read)));
        put("compile_ms", json!(milliseconds(self.compile)));
        put("pack_ms", json!(milliseconds(self.pack)));
        put("copies_ms", json!(self.copies.map(milliseconds)));
        put("ran_as", json!(self.ran_as));
        let spent = |time: Duration| json!(milliseconds(time.as_secs_f64()));
        put("copy_ms", spent(self.around.copy_time()));
        put("copy_in_ms", spent(self.around.copy_in));
        put("copy_out_ms", spent(self.around.copy_out));
        put("allocate_ms", spent(self.around.allocate));
        put("deliver_ms", spent(self.around.deliver_time()));
        put("check_ms", spent(self.around.other));
        if let Some(estimate) = &self.estimate {
            put("operations", json!(estimate.operations));
            put("bytes", json!(estimate.bytes));
            put("footprint_bytes", json!(estimate.footprint));
            put("fits_cache_level", json!(estimate.fits));
            put("roofline_ms", json!(milliseconds(estimate.least)));
            put("gflops", json!(self.flops().map(|rate| rate / 1e9)));
            put("gbytes_per_second", json!(self.bandwidth().map(|rate| rate / 1e9)));
            put("roofline_share", json!(self.share()));
        }
        if let Some(spent) = self.spent {
            let ms = |time: Duration| milliseconds(time.as_secs_f64());
            let serial = ms(spent.copy_in + spent.compute + spent.copy_out + spent.combine);
            put(
                "also",
                json!({
                    "copy_in_ms": ms(spent.copy_in), "compute_ms": ms(spent.compute),
                    "copy_out_ms": ms(spent.copy_out), "combine_ms": ms(spent.combine),
                    "serial_over_pipelined": serial / milliseconds(self.times.median),
                }),
            );
        }
        put("predicted", json!(self.foreseen.as_ref().map(|foreseen| as_json(&foreseen.predicted, &foreseen.gpu))));
        put(
            "checksum",
            if self.checksum.is_finite() { json!(self.checksum) } else { json!(self.checksum.to_string()) },
        );
        Value::Object(map)
    }
}

impl Case {
    pub(crate) fn as_json(&self) -> Map<String, Value> {
        let optional = |number: usize| if number == 0 { Value::Null } else { json!(number) };
        let fields = [
            ("tensor", json!(self.tensor)),
            ("kernel", json!(self.kernel)),
            ("mode", optional(self.mode)),
            ("format", json!(self.format)),
            ("rank", optional(self.rank)),
            ("element", json!(self.element)),
            ("threads", json!(self.threads)),
        ];
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// The cells of a table that say which it is: kernel, mode, format, rank, type, threads.
    pub(crate) fn cells(&self) -> [String; 6] {
        let optional = |number: usize| if number == 0 { "-".to_owned() } else { number.to_string() };
        let (mode, rank) = (optional(self.mode), optional(self.rank));
        [self.kernel.clone(), mode, self.format.clone(), rank, self.element.to_owned(), self.threads.to_string()]
    }

    /// Whether two differ in nothing but the format.
    pub(crate) fn is_same_but_format(&self, other: &Self) -> bool {
        Self { format: other.format.clone(), ..self.clone() } == *other
    }

    /// Whether a record of an earlier run is of the same case.
    pub(crate) fn is_that_of(&self, record: &Value) -> bool {
        self.as_json().iter().all(|(name, value)| record.get(name) == Some(value))
    }
}

impl Findings {
    /// All figures, as they are written to a file.
    pub(crate) fn as_json(&self) -> Value {
        let refused = |refused: &Refused| {
            let mut map = refused.case.as_json();
            map.insert("reason".to_owned(), json!(refused.reason));
            Value::Object(map)
        };
        json!({
            "spc": env!("CARGO_PKG_VERSION"),
            "machine": {
                "architecture": std::env::consts::ARCH,
                "caches": self.caches.iter().map(|cache| json!({ "level": cache.level, "bytes": cache.bytes })).collect::<Vec<_>>(),
                "measured": self.machines.iter().map(machine).collect::<Vec<_>>(),
            },
            "records": self.records.iter().map(Record::as_json).collect::<Vec<_>>(),
            "refused": self.refused.iter().map(refused).collect::<Vec<_>>(),
            "plans": self.plans.iter().map(Compared::as_json).collect::<Vec<_>>(),
            "tuned": self.tunings.iter().map(Tuning::as_json).collect::<Vec<_>>(),
        })
    }
}

fn machine(machine: &Machine) -> Value {
    let giga = |rate: f64| rate / 1e9;
    let points: Vec<Value> = machine
        .points()
        .iter()
        .map(|point| {
            json!({
                "footprint_bytes": point.footprint, "triad": giga(point.triad), "read": giga(point.read),
                "gather_8": giga(point.gather[0]), "gather_64": giga(point.gather[1]),
                "gather_256": giga(point.gather[2]),
            })
        })
        .collect();
    json!({
        "threads": machine.threads(), "gflops_f64": giga(machine.flops(8)), "gflops_f32": giga(machine.flops(4)),
        "gbytes_per_second": points,
    })
}
