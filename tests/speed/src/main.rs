//! Kernels of the macro beside the same text compiled at run time for the extents of its inputs, on the same tensors in turns.
//!
//! ```sh
//! cargo run --release --manifest-path tests/speed/Cargo.toml -- x.tns.gz a.mtx.gz --rank 10,16,32 --only mttkrp
//! ```
//!
//! Each row has the median of the loops alone at run time, of whole calls that write into a result which is there (`into`) and of calls that make a new one
//! (`call`), in ms, and the macro's as a part of those at run time. Results that differ are an error. Threads are rayon's
//! (`RAYON_NUM_THREADS`). `--most RATIO` fails where the macro takes more than that in the geometric mean of the column `into`.
//! The first file has three modes, the second two.

#![forbid(unsafe_code)]

use spc::execute::{Error, Input, Operand, Program, ProgramOptions};
use spc::io::{self, ReadOptions};
use spc::tensor::{AnyTensor, Element, StorageFormat, Tensor};
use spc_compiler::{notation, syntax};
use std::hint::black_box;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

/// How long the calls of one kernel take together on each side, about.
const BUDGET: Duration = Duration::from_millis(100);

/// What to measure.
#[derive(Default)]
struct Options {
    files: Vec<String>,
    ranks: Vec<usize>,
    only: Vec<String>,
    most: Option<f64>,
}

/// Kernels of one element type; each has the name of its function that writes into a result, and the names of its inputs.
macro_rules! kernels {
    ($module:ident $type:ident $($name:ident $into:ident ($($input:ident)*) { $($text:tt)* })*) => {
        #[allow(non_snake_case)]
        mod $module {
            use super::*;

            $(spc::tensor_kernel! { $($text)* })*

            pub(super) fn measure(options: &Options, ratios: &mut Vec<f64>) -> Result<(), Failure> {
                $(for rank in options.ranks(stringify!($name), stringify!($($text)*)) {
                    let program = options.program::<$type>(stringify!($($text)*), rank)?;
                    $(let $input = typed(&program, stringify!($input))?;)*
                    let call = || $name($(black_box(&$input)),*);
                    let row = beside(&program, call, |result| $into($(black_box(&$input),)* result))?;
                    let what = format!("{:<12} {} {rank:>4}", stringify!($name), stringify!($type));
                    println!("{what} {}", row.text());
                    ratios.push(row.into[1] / row.into[0]);
                })*
                Ok(())
            }
        }
    };
}

macro_rules! suite {
    ($module:ident $type:ident) => {
        kernels! { $module $type
            mttkrp_csf mttkrp_csf_into (X B C) {
                fn mttkrp_csf(X: $type csf, B: $type dense, C: $type dense) -> A: $type dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }
            }
            mttkrp_csf2 mttkrp_csf2_into (X B C) {
                fn mttkrp_csf2(X: $type csf, B: $type dense, C: $type dense) -> A: $type dense { A(j, r) = X(i, j, k) * B(i, r) * C(k, r); }
            }
            mttkrp_coo mttkrp_coo_into (X B C) {
                fn mttkrp_coo(X: $type coo, B: $type dense, C: $type dense) -> A: $type dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }
            }
            mttkrp_alto mttkrp_alto_into (X B C) {
                fn mttkrp_alto(X: $type alto, B: $type dense, C: $type dense) -> A: $type dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }
            }
            mttkrp_hicoo mttkrp_hicoo_into (X B C) {
                fn mttkrp_hicoo(X: $type hicoo(128), B: $type dense, C: $type dense) -> A: $type dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }
            }
            ttv ttv_into (X v) {
                fn ttv(X: $type csf, v: $type dense) -> Y: $type csf { Y(i, j) = X(i, j, k) * v(k); }
            }
            ttm ttm_into (X U) {
                fn ttm(X: $type csf, U: $type dense) -> Y: $type [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }
            }
            ttv1 ttv1_into (X v) {
                fn ttv1(X: $type csf, v: $type dense) -> Y: $type csf { Y(j, k) = X(i, j, k) * v(i); }
            }
            scalar scalar_into (X w) {
                fn scalar(X: $type csf, w: $type dense) -> Y: $type csf { Y(i, j, k) = X(i, j, k) * w(i); }
            }
            spmv spmv_into (A x) {
                fn spmv(A: $type csr, x: $type dense) -> y: $type dense { y(i) = A(i, j) * x(j); }
            }
            spmm spmm_into (A X) {
                fn spmm(A: $type csr, X: $type dense) -> Y: $type dense { Y(i, r) = A(i, j) * X(j, r); }
            }
            sddmm sddmm_into (A B C) {
                fn sddmm(A: $type csr, B: $type dense, C: $type dense) -> Y: $type csr { Y(i, j) = A(i, j) * B(i, r) * C(j, r); }
            }
            spgemm spgemm_into (A B) {
                fn spgemm(A: $type csr, B: $type csr) -> C: $type csr { C(i, j) = A(i, k) * B(k, j); }
            }
        }
    };
}

suite!(double f64);
suite!(single f32);

impl Options {
    /// What the command line says.
    fn read() -> Result<Self, Failure> {
        let mut options = Self::default();
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{argument}` needs a value"));
            match &argument[..] {
                "--rank" => options.ranks = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--most" => options.most = Some(value()?.parse()?),
                _ => options.files.push(argument),
            }
        }
        if options.files.is_empty() {
            return Err(
                "which tensor and which matrix? TENSOR MATRIX [--rank R,R] [--only NAME,NAME] [--most RATIO]".into()
            );
        }
        if options.ranks.is_empty() {
            options.ranks.push(16);
        }
        Ok(options)
    }

    /// The ranks that a kernel is measured with; none where it is left out.
    fn ranks(&self, name: &str, text: &str) -> Vec<usize> {
        let is_asked = self.only.is_empty() || self.only.iter().any(|part| name.starts_with(part.as_str()));
        match (is_asked && self.files.len() > usize::from(is_of_matrix(text)), text.contains(", r)")) {
            (false, _) => Vec::new(),
            (true, true) => self.ranks.clone(),
            (true, false) => vec![0],
        }
    }

    /// The kernel compiled for the extents of its inputs: the files, and random dense tensors.
    fn program<T: Element + io::Value>(&self, text: &str, rank: usize) -> Result<Program, Failure>
    where
        Operand: From<spc::tensor::Coordinates<T>>,
    {
        let kernels = syntax::parse_program(text).and_then(|program| notation::check(&program));
        let kernel = kernels.map_err(|problems| format!("{text}: {problems:?}"))?.remove(0);
        let file = &self.files[usize::from(is_of_matrix(text))];
        let inputs = kernel.tensors.iter().filter(|tensor| tensor.role == notation::Role::Input);
        let inputs = inputs.zip(1..).map(|(tensor, seed)| {
            let operand = match (tensor.format.is_dense(), seed) {
                (true, _) => Operand::Random { seed },
                (false, 1) => io::read_as::<T>(file, &ReadOptions::default())?.into(),
                // A product of two, which need not be square.
                (false, _) => {
                    let mut entries = io::read_as::<T>(file, &ReadOptions::default())?;
                    entries.shape.reverse();
                    entries.indices.reverse();
                    entries.into()
                }
            };
            Ok((tensor.name.clone(), operand))
        });
        let inputs: Vec<_> = inputs.collect::<Result<_, Failure>>()?;
        let dimensions = if rank > 0 { vec![("r".to_owned(), rank)] } else { Vec::new() };
        Ok(Program::new(&kernel, inputs, &dimensions, &ProgramOptions::default())?)
    }
}

/// Whether a kernel's sparse inputs are matrices.
fn is_of_matrix(text: &str) -> bool {
    text.contains("csr")
}

/// A program's input, as the macro takes it.
fn typed<T: Element, F: StorageFormat>(program: &Program, name: &str) -> Result<Tensor<T, F>, Failure> {
    let found = program.inputs().find(|(known, _)| *known == name);
    let (_, tensor) = found.ok_or_else(|| format!("there is no input `{name}`"))?;
    Ok(Tensor::try_from(tensor.clone())?)
}

/// Medians in milliseconds: at run time, and by the macro.
struct Row {
    /// The loops alone, at run time.
    kernel: f64,
    into: [f64; 2],
    call: [f64; 2],
}

impl Row {
    fn text(&self) -> String {
        let Self { kernel, into: [own, of_macro], call: [own_call, call_of_macro] } = self;
        let (into, call) = (of_macro / own, call_of_macro / own_call);
        format!(
            "{kernel:>9.4}   {own:>9.4} {of_macro:>9.4} {into:>5.2}   {own_call:>9.4} {call_of_macro:>9.4} {call:>5.2}"
        )
    }
}

/// Measures both, a call of each in turn.
fn beside<T: Element, F: StorageFormat>(
    program: &Program,
    call: impl Fn() -> Result<Tensor<T, F>, Error>,
    into: impl Fn(&mut Tensor<T, F>) -> Result<(), Error>,
) -> Result<Row, Failure> {
    let tensors: Vec<&AnyTensor> = program.inputs().map(|(_, tensor)| tensor).collect();
    let inputs: Vec<&dyn Input> = tensors.iter().map(|&tensor| tensor as &dyn Input).collect();
    let kernel = program.kernel();
    let mut result: Tensor<T, F> = kernel.call(&inputs)?.single()?;
    let mut of_macro = call()?;
    check(result.as_any(), of_macro.as_any())?;
    let into = in_turns(|| Ok(kernel.call_into(&inputs, &mut result)?), || Ok(into(&mut of_macro)?))?;
    check(result.as_any(), of_macro.as_any())?;
    let call = in_turns(
        || Ok(kernel.call(&inputs).map(|result| black_box(result).single::<Tensor<T, F>>())??),
        || Ok(call()?),
    )?;
    let runs = runs_that_fit(into[0]);
    let kernel = spc::measure::Summary::of(program.run(runs)?.run_times.iter().map(Duration::as_secs_f64).collect())
        .median
        * 1e3;
    Ok(Row { kernel, into, call })
}

/// How often something runs that takes so many milliseconds.
fn runs_that_fit(milliseconds: f64) -> usize {
    ((BUDGET.as_secs_f64() * 1e3 / milliseconds) as usize).clamp(5, 2000)
}

/// The medians of two, called in turn. What they return is dropped when the clock has stopped.
fn in_turns<A, B>(
    mut one: impl FnMut() -> Result<A, Failure>,
    mut other: impl FnMut() -> Result<B, Failure>,
) -> Result<[f64; 2], Failure> {
    fn timed<R>(run: &mut dyn FnMut() -> Result<R, Failure>) -> Result<f64, Failure> {
        let start = Instant::now();
        let result = run()?;
        let time = start.elapsed().as_secs_f64() * 1e3;
        drop(result);
        Ok(time)
    }
    let mut times = [Vec::new(), Vec::new()];
    (timed(&mut one)?, timed(&mut other)?);
    let start = Instant::now();
    while times[0].len() < 5 || start.elapsed() < 2 * BUDGET && times[0].len() < 2000 {
        times[0].push(timed(&mut one)?);
        times[1].push(timed(&mut other)?);
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }))
}

/// Refuses results that differ by more than rounding.
fn check(one: &AnyTensor, other: &AnyTensor) -> Result<(), Failure> {
    let (one, other) = (one.values(), other.values());
    let largest = (0..one.len()).map(|place| one.get_f64(place).abs()).fold(0.0, f64::max);
    let differ = |place: usize| (one.get_f64(place) - other.get_f64(place)).abs() > 1e-3 * largest;
    match one.len() != other.len() || (0..one.len()).any(differ) {
        true => Err("the macro's result is another than that at run time".into()),
        false => Ok(()),
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::read()?;
    println!("{:<12} type rank kernel ms     into ms     macro ratio     call ms     macro ratio", "kernel");
    let mut ratios = Vec::new();
    double::measure(&options, &mut ratios)?;
    single::measure(&options, &mut ratios)?;
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    println!("into: the macro takes {mean:.3} times as long in the geometric mean of {} rows", ratios.len());
    match options.most {
        Some(most) if mean > most => Err(format!("that is more than {most} times").into()),
        _ => Ok(()),
    }
}
