//! Work that is done while rows are under way gives what is given without, and is done before they have come.

use super::*;
use crate::distribute::{
    CommunicationError, Communicator, DistributeError, Part, Placement, Plan, Prepared, Problem, ThreadRank, Traffic,
    on_threads,
};
use crate::execute::{Backend, Entries, Operand, Program, ProgramOptions};
use crate::generate;
use crate::tensor::{Coordinates, Element, Indices, LevelArrays, Values};
use spc_compiler::format::Format;
use spc_compiler::{notation, syntax};
use std::sync::Mutex;

fn kernel(text: &str) -> notation::Kernel {
    notation::check(&syntax::parse_program(text).unwrap()).unwrap().remove(0)
}

fn options() -> ProgramOptions {
    ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() }
}

/// Small whole numbers, so that sums are exact in any order.
fn sparse<T: Element>(shape: &[usize], entries: usize, seed: u64) -> Operand
where
    Entries: From<Coordinates<T>>,
{
    let Coordinates { shape, shape_is_stated, indices, values } =
        generate::uniform(shape, entries, seed).expect("it has that many places");
    let values = (0..values.len()).map(|place| T::from_f64((place % 7 + 1) as f64)).collect();
    Operand::Entries(Coordinates { shape, shape_is_stated, indices, values }.into())
}

fn values<T: Element>(shape: &[usize], first: usize) -> Values {
    let count: usize = shape.iter().product();
    T::wrap((0..count).map(|place| T::from_f64(((place + first) % 5) as f64)).collect::<Vec<T>>())
}

fn table<T: Element>(shape: &[usize], first: usize) -> AnyTensor {
    let levels = vec![LevelArrays::NONE; shape.len()];
    AnyTensor::from_parts(shape.to_vec(), Format::dense(shape.len()), levels, values::<T>(shape, first)).unwrap()
}

/// A kernel, its sparse input, and the shapes of its dense ones.
type Case = (&'static str, (&'static str, Operand), Vec<(&'static str, Vec<usize>)>);

/// Runs a kernel on ranks, again with other elements, and a third time with those. Gives what came out on each rank, and the results.
fn run<T: Element>(
    problem: &Problem,
    plan: &Plan,
    tables: &[(&'static str, Vec<usize>)],
    overlap: Overlap,
) -> (Vec<Vec<Part>>, Vec<AnyTensor>) {
    let body = |own: &ThreadRank| {
        let mut prepared = problem.prepare(plan, own)?;
        prepared.overlap(overlap);
        let (mut parts, mut results) = (Vec::new(), Vec::new());
        for first in [1, 3, 3] {
            if first != 3 || parts.len() < 2 {
                for (name, shape) in tables {
                    prepared.set(name, &table::<T>(shape, first))?;
                }
            }
            let part = prepared.run()?;
            results.extend(problem.gather(plan, &part, own)?.map(|mut results| results.remove(0).1));
            parts.push(part);
        }
        Ok::<_, DistributeError>((parts, results))
    };
    let found = on_threads(plan.ranks(), None, body).unwrap_or_else(|error| panic!("{plan}: {error}"));
    let (parts, mut results): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    (parts, results.swap_remove(0))
}

/// What a kernel gives with work during exchanges is what it gives without, and what one rank gives. Says on how many entries it worked so.
fn check<T: Element>((text, (name, shared), tables): Case, dimensions: &[(&str, usize)]) -> usize {
    let kernel = kernel(text);
    let inputs = |first: usize| {
        let tables = tables.iter().map(|(name, shape)| ((*name).to_owned(), table::<T>(shape, first).into()));
        std::iter::once((name.to_owned(), shared.clone())).chain(tables).collect::<Vec<(String, Operand)>>()
    };
    let dimensions: Vec<(String, usize)> =
        dimensions.iter().map(|(name, extent)| ((*name).to_owned(), *extent)).collect();
    let whole = [1, 3].map(|first| {
        let program = Program::new(&kernel, inputs(first), &dimensions, &options()).unwrap();
        program.run(1).unwrap().outputs.remove(0).1
    });
    let problem = Problem::new(&kernel, inputs(0), &dimensions, &options()).unwrap();
    let mut overlapped = 0;
    for ranks in [1, 2, 3, 5, 8] {
        for placement in Placement::of_entries(name, problem.shape(name), ranks) {
            let plan = problem.plan(&placement, ranks).unwrap();
            let entries = |tensor: &AnyTensor| {
                let mut entries = tensor.entries::<T>().unwrap();
                entries.sort_by(|one, other| one.0.cmp(&other.0));
                entries
            };
            for overlap in [Overlap::Always, Overlap::Never, Overlap::default()] {
                let (parts, results) = run::<T>(&problem, &plan, &tables, overlap);
                for (found, expected) in results.iter().zip([&whole[0], &whole[1], &whole[1]]) {
                    assert_eq!(entries(found), entries(expected), "{text} {plan} {overlap:?}");
                    assert_eq!(found.format(), expected.format(), "{text} {plan} {overlap:?}");
                }
                let worked = |part: &Part| part.overlapped;
                // Nothing is under way in the last run.
                assert_eq!(parts.iter().map(|parts| worked(&parts[2])).sum::<usize>(), 0);
                match overlap {
                    Overlap::Always => overlapped += parts.iter().map(|parts| worked(&parts[1])).sum::<usize>(),
                    Overlap::Never => assert!(parts.iter().flatten().all(|part| part.overlapped == 0)),
                    Overlap::WherePays(_) => {}
                }
            }
        }
    }
    overlapped
}

#[test]
fn results_are_those_without() {
    let a = || ("A", sparse::<f64>(&[40, 30], 90, 1));
    let x = || ("X", sparse::<f64>(&[20, 15, 25], 80, 4));
    let mttkrp = "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let of_alto = "fn mttkrp(X: alto, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }";
    let turned = "fn turned(X: coo, B: (j, r) -> [r: dense, j: dense], C: dense) -> A: dense { A(r, i) = X(i, j, k) * B(j, r) * C(k, r); }";
    let tables = || vec![("B", vec![15, 4]), ("C", vec![25, 4])];
    let spmv = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let by_columns = "fn spmv(A: csc, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let spmm = "fn spmm(A: coo, B: dense) -> C: dense { C(i, r) = A(i, j) * B(j, r); }";
    let ttv = "fn ttv(X: csf, v: dense) -> Y: csr { Y(i, j) = X(i, j, k) * v(k); }";
    let ttm = "fn ttm(X: csf, U: dense) -> Y: [compressed, compressed, dense] { Y(i, j, r) = X(i, j, k) * U(k, r); }";
    let sddmm = "fn sddmm(A: csr, B: dense, C: dense) -> D: csr { D(i, j) = A(i, j) * B(i, r) * C(j, r); }";
    let form = "fn form(A: csr, x: dense) -> s: f64 { s = x(i) * A(i, j) * x(j); }";
    let shortest = "fn step(A: csr fill inf, d: dense) -> e: dense { e(i) = min(j)(A(i, j) + d(j)); }";
    let square = ("A", sparse::<f64>(&[30, 30], 90, 3));
    let cases: Vec<Case> = vec![
        (mttkrp, x(), tables()),
        (of_alto, x(), tables()),
        (turned, x(), tables()),
        (spmv, a(), vec![("x", vec![30])]),
        (by_columns, a(), vec![("x", vec![30])]),
        (spmm, a(), vec![("B", vec![30, 3])]),
        (ttv, x(), vec![("v", vec![25])]),
        (ttm, x(), vec![("U", vec![25, 3])]),
        (sddmm, a(), vec![("B", vec![40, 3]), ("C", vec![30, 3])]),
        (form, square, vec![("x", vec![30])]),
        (shortest, a(), vec![("d", vec![30])]),
    ];
    for case in cases {
        let text = case.0;
        assert!(check::<f64>(case, &[]) > 0, "{text}");
    }
    let of_f32 = "fn spmm(A: f32 csr, B: f32 dense) -> C: f32 dense { C(i, r) = A(i, j) * B(j, r); }";
    assert!(check::<f32>((of_f32, ("A", sparse::<f32>(&[40, 30], 90, 1)), vec![("B", vec![30, 3])]), &[]) > 0);
    let of_i64 = "fn spmv(A: i64 csr, x: i64 dense) -> y: i64 dense { y(i) = A(i, j) * x(j); }";
    assert!(check::<i64>((of_i64, ("A", sparse::<i64>(&[40, 30], 90, 1)), vec![("x", vec![30])]), &[]) > 0);
    let of_bool = "fn reach(A: bool csr, x: bool dense) -> y: bool dense { y(i) = any(j)(A(i, j) && x(j)); }";
    assert!(check::<bool>((of_bool, ("A", sparse::<bool>(&[40, 30], 90, 1)), vec![("x", vec![30])]), &[]) > 0);
}

/// Few entries, or none; more ranks than rows.
#[test]
fn ranks_without_entries() {
    let spmv = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    for entries in [0, 1, 4] {
        check::<f64>((spmv, ("A", sparse::<f64>(&[3, 3], entries, 7)), vec![("x", vec![3])]), &[]);
    }
}

/// Where a rank has whole blocks of the matrix it waits for nothing, and where its columns are all another's it has nothing to do.
#[test]
fn all_entries_or_none() {
    let text = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let of = |columns: fn(u32) -> u32| {
        let indices = vec![Indices::U32((0..40).collect()), Indices::U32((0..40).map(columns).collect())];
        let values = (0..40).map(f64::from).collect();
        Operand::from(Coordinates { shape: vec![40, 40], shape_is_stated: true, indices, values })
    };
    let worked = |a: Operand| {
        let inputs = vec![("A".to_owned(), a), ("x".to_owned(), Operand::Ones)];
        let problem = Problem::new(&kernel(text), inputs, &[], &options()).unwrap();
        let plan = problem.plan(&Placement::Shares { tensor: "A".to_owned() }, 4).unwrap();
        let (parts, _) = run::<f64>(&problem, &plan, &[("x", vec![40])], Overlap::Always);
        parts.iter().map(|parts| parts[1].overlapped).collect::<Vec<_>>()
    };
    assert_eq!(worked(of(|row| row)), [10; 4]);
    // All read the first column, which one of them owns.
    let mut of_one = worked(of(|_| 0));
    of_one.sort_unstable();
    assert_eq!(of_one, [0, 0, 0, 10]);
}

/// What makes parts of entries something else than parts of the kernel's work keeps it from them.
#[test]
fn some_kernels_run_when_all_has_come() {
    let a = || ("A".to_owned(), sparse::<f64>(&[40, 30], 150, 1));
    let x = || ("x".to_owned(), Operand::Ones);
    let spmv = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let both = "fn both(A: csr, B: csr, x: dense) -> y: dense { y(i) = A(i, j) * B(i, j) * x(j); }";
    let in_blocks = "fn spmv(A: bcsr(2), x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
    let deterministic = ProgramOptions { deterministic: true, ..options() };
    for (text, placement, inputs, options) in [
        (spmv, "A", vec![a(), x()], deterministic),
        (spmv, "i", vec![a(), x()], options()),
        (in_blocks, "A", vec![a(), x()], options()),
        (both, "A", vec![a(), ("B".to_owned(), sparse::<f64>(&[40, 30], 150, 1)), x()], options()),
    ] {
        let problem = Problem::new(&kernel(text), inputs, &[], &options).unwrap();
        let placement = Placement::parse(placement, &|name| name == "A").unwrap();
        let plan = problem.plan(&placement, 3).unwrap();
        let (parts, _) = run::<f64>(&problem, &plan, &[("x", vec![30])], Overlap::Always);
        assert!(parts.iter().flatten().all(|part| part.overlapped == 0), "{text} {plan}");
    }
}

/// A problem of which each of four ranks has inner and outer entries.
fn problem() -> (Problem, Plan) {
    let text = "fn spmm(A: csr, B: dense) -> C: dense { C(i, r) = A(i, j) * B(j, r); }";
    let inputs =
        vec![("A".to_owned(), sparse::<f64>(&[40, 40], 200, 1)), ("B".to_owned(), table::<f64>(&[40, 3], 1).into())];
    let problem = Problem::new(&kernel(text), inputs, &[], &options()).unwrap();
    let plan = problem.plan(&Placement::Shares { tensor: "A".to_owned() }, 4).unwrap();
    (problem, plan)
}

/// By the model a rank cuts its entries where messages take long, and in the second run that waits for the same rows.
#[test]
fn entries_are_cut_where_it_pays() {
    let (problem, plan) = problem();
    let worked = |machine: Machine| {
        let body = |own: &ThreadRank| {
            let mut prepared = problem.prepare(&plan, own)?;
            prepared.overlap(Overlap::WherePays(machine));
            let mut run = || {
                prepared.send_anew();
                prepared.run().map(|part| part.overlapped)
            };
            Ok::<_, DistributeError>([run()?, run()?, run()?])
        };
        on_threads(4, None, body).unwrap()
    };
    let slow = Machine { entry: 1e-3, latency: 1e-3, ..Machine::default() };
    for [first, second, third] in worked(slow) {
        assert!(first == 0 && second > 0 && second == third, "{first} {second} {third}");
    }
    assert_eq!(worked(Machine::default()), [[0; 3]; 4]);
    assert_eq!(worked(Machine { memory: 1.0, ..slow }), [[0; 3]; 4]);
}

/// Rows that have not changed are not sent again.
#[test]
fn rows_are_sent_once() {
    let (problem, plan) = problem();
    for overlap in [Overlap::Always, Overlap::Never] {
        let body = |own: &ThreadRank| {
            let mut prepared = problem.prepare(&plan, own)?;
            prepared.overlap(overlap);
            let counts = plan.counts()[own.rank()];
            let mut sent = |change: &dyn Fn(&mut Prepared<'_>) -> Result<(), DistributeError>| {
                change(&mut prepared)?;
                let before = own.traffic();
                let part = prepared.run()?;
                let Traffic { bytes, .. } = own.traffic().since(before);
                let result = problem.gather(&plan, part, own)?;
                Ok::<_, DistributeError>((bytes - counts.results_sent, result))
            };
            let (first, expected) = sent(&|_| Ok(()))?;
            let (second, again) = sent(&|_| Ok(()))?;
            let (anew, _) = sent(&|prepared| {
                prepared.send_anew();
                Ok(())
            })?;
            let (of_set, _) = sent(&|prepared| prepared.set("B", &table::<f64>(&[40, 3], 2)))?;
            assert_eq!([first, second, anew, of_set], [counts.sent, 0, counts.sent, counts.sent]);
            assert_eq!(expected, again);
            Ok::<_, DistributeError>(())
        };
        on_threads(4, None, body).unwrap();
    }
}

/// What a rank has done, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    Worked,
    Sent,
    Arrived,
}

/// A network that sends nothing before all work that can be done without it is done.
struct Withheld<'a> {
    inner: &'a ThreadRank,
    events: Mutex<Vec<Event>>,
    /// Whether this rank fails while its messages are under way.
    fails: bool,
}

impl<'a> Withheld<'a> {
    fn new(inner: &'a ThreadRank, fails: bool) -> Self {
        Self { inner, events: Mutex::default(), fails }
    }

    fn note(&self, event: Event) {
        self.events.lock().unwrap().push(event);
    }
}

impl Communicator for Withheld<'_> {
    fn rank(&self) -> usize {
        self.inner.rank()
    }

    fn size(&self) -> usize {
        self.inner.size()
    }

    fn exchange(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, CommunicationError> {
        self.note(Event::Sent);
        let taken = self.inner.exchange(messages)?;
        self.note(Event::Arrived);
        Ok(taken)
    }

    fn exchange_during(
        &self,
        messages: Vec<Vec<u8>>,
        work: &mut (dyn FnMut() + Send),
    ) -> Result<Vec<Vec<u8>>, CommunicationError> {
        work();
        self.note(Event::Worked);
        match self.fails {
            true => Err(CommunicationError::Mpi("the cable is out".to_owned())),
            false => self.exchange(messages),
        }
    }

    fn traffic(&self) -> Traffic {
        self.inner.traffic()
    }
}

/// The kernel has run on inner entries before any row was sent.
#[test]
fn inner_entries_are_worked_on_before_rows_come() {
    use Event::{Arrived, Sent, Worked};
    let (problem, plan) = problem();
    let result = |overlap: Overlap| {
        let body = |own: &ThreadRank| {
            let own = Withheld::new(own, false);
            let mut prepared = problem.prepare(&plan, &own)?;
            prepared.overlap(overlap);
            own.events.lock().unwrap().clear();
            let part = prepared.run()?;
            let events = own.events.lock().unwrap().clone();
            Ok::<_, DistributeError>((part.overlapped, events, problem.gather(&plan, part, &own)?))
        };
        on_threads(4, None, body).unwrap()
    };
    let (with, without) = (result(Overlap::Always), result(Overlap::Never));
    for ((overlapped, events, _), (none, others, _)) in with.iter().zip(&without) {
        assert!(*overlapped > 0 && *none == 0);
        // Rows of operands, and rows of results.
        assert_eq!(events[..], [Worked, Sent, Arrived, Sent, Arrived]);
        assert_eq!(others[..], [Sent, Arrived, Sent, Arrived]);
    }
    assert_eq!(with[0].2, without[0].2);
}

/// A rank that fails while messages are under way ends all.
#[test]
fn a_rank_that_fails_meanwhile_ends_all() {
    let (problem, plan) = problem();
    let body = |own: &ThreadRank| {
        let own = Withheld::new(own, own.rank() == 2);
        let mut prepared = problem.prepare(&plan, &own)?;
        prepared.overlap(Overlap::Always);
        prepared.run().map(|_| ())
    };
    let error = on_threads(4, None, body).unwrap_err().to_string();
    assert_eq!(error, "MPI: the cable is out");
}
