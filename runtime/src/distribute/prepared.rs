//! A kernel that runs on ranks again and again: who sends which rows to whom is found out once, as the kernel is compiled.

use super::DistributeError;
use super::communicator::Communicator;
use super::dense_rows::row_bytes;
use super::held::{Held, Part};
use super::operand_rows::{Feed, OperandRows, Source};
use super::overlap::{Cut, Cuts, Overlap};
use super::owners::Returns;
use super::plan::Plan;
use super::problem::Problem;
use super::run::Local;
use crate::execute::{Outcome, Program, ProgramError, Uncompiled};
use crate::tensor::AnyTensor;
use spc_compiler::format::Format;
use std::fmt;
use std::time::{Duration, Instant};

/// One rank's part of a kernel, compiled for what the rank has. Its dense inputs may have other elements in each run.
///
/// Here `x` becomes `A x`, twice, and no rank has all of it in between:
///
/// ```
/// use spc::distribute::{Machine, Problem, on_threads};
/// use spc::execute::{Operand, ProgramOptions};
/// use spc::tensor::{Coordinates, Indices};
/// use spc_compiler::{notation, syntax};
///
/// let text = "fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }";
/// let kernel = notation::check(&syntax::parse_program(text).unwrap()).unwrap().remove(0);
/// let indices = vec![Indices::U32(vec![0, 1, 1]), Indices::U32(vec![1, 0, 1])];
/// let a = Coordinates { shape: vec![2, 2], shape_is_stated: true, indices, values: vec![2.0, 3.0, 4.0] };
/// let inputs = vec![("A".to_owned(), a.into()), ("x".to_owned(), Operand::Ones)];
///
/// let problem = Problem::new(&kernel, inputs, &[], &ProgramOptions::default())?;
/// let plan = problem.plans(2, Machine::default())?.remove(0);
/// let results = on_threads(2, None, |ranks| {
///     let mut spmv = problem.prepare(&plan, ranks)?;
///     let y = spmv.run()?;
///     spmv.feed("x", &y, "y")?;
///     problem.gather(&plan, spmv.run()?, ranks)
/// })?;
/// let y = &results[0].as_ref().unwrap()[0].1;
/// assert_eq!(y.values_of::<f64>(), Some(&[14.0, 34.0][..]));
/// # Ok::<(), spc::distribute::DistributeError>(())
/// ```
pub struct Prepared<'a> {
    local: Local<'a>,
    program: Program,
    /// What the kernel reads, in its order.
    inputs: Vec<AnyTensor>,
    dimensions: Vec<(String, usize)>,
    /// The dense inputs of which this rank has some rows.
    rows: Vec<OperandRows>,
    feeds: Vec<Feed>,
    /// Which entries need none of these rows from others.
    cuts: Cuts,
    exchange_time: Duration,
    compile_time: Duration,
}

/// What a kernel has made, by the places of results.
type Made = Vec<(usize, AnyTensor)>;

/// Messages that have come, what the kernel has made meanwhile, and how long that took.
struct Exchanged {
    taken: Vec<Vec<u8>>,
    made: Option<Outcome>,
    worked: Duration,
}

impl fmt::Debug for Prepared<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("plan", self.local.plan)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}

impl Problem {
    /// Compiles the kernel for this rank's part, and finds out which rows go where. All ranks call it with one plan.
    ///
    /// # Errors
    /// When the kernel can't be compiled, or another rank has stopped.
    ///
    /// # Panics
    /// When the plan is for another number of ranks.
    pub fn prepare<'a>(&'a self, plan: &'a Plan, ranks: &'a dyn Communicator) -> Result<Prepared<'a>, DistributeError> {
        assert_eq!(plan.ranks, ranks.size(), "the plan is for these ranks");
        let needed = plan.rows.iter().map(|rows| rows.needed(ranks.rank())).collect();
        let returns = Returns::new(plan.rows.len());
        let local = Local { problem: self, plan, ranks, needed, returns };
        let start = Instant::now();
        let inputs = local.inputs()?;
        let exchange_time = start.elapsed();
        let start = Instant::now();
        let dimensions = local.dimensions();
        let program = Uncompiled::new(&self.kernel, inputs, &dimensions, &self.options)?.compile()?;
        let compile_time = start.elapsed();
        let inputs = program.inputs().map(|(_, tensor)| tensor.clone()).collect();
        let rows = self.inputs().filter_map(|(place, (name, tensor))| {
            let of = plan.cut(place).filter(|_| local.is_dense(place))?;
            let input = program.inputs().position(|(other, _)| other == name)?;
            Some(OperandRows::of(&local, (place, input, name), tensor, of))
        });
        let rows = rows.collect();
        let cuts = Cuts::of(&local, program.inputs().map(|(name, _)| name));
        Ok(Prepared { local, program, inputs, dimensions, rows, feeds: Vec::new(), cuts, exchange_time, compile_time })
    }
}

impl Prepared<'_> {
    /// Whether the kernel works on entries that need no rows of other ranks while these are under way; where it pays if nothing is said. It does not
    /// where results are to have the same bits on any number of ranks, where an index is cut, where another input is sparse, too, and where the
    /// format stores more than the entries. Ranks need not say the same.
    pub fn overlap(&mut self, overlap: Overlap) {
        self.cuts.overlap = overlap;
    }

    /// Runs it once. All ranks call it. Rows of dense inputs are sent in the first run, and where they have been [set](Self::set) or
    /// [fed](Self::feed) since the one before.
    ///
    /// # Errors
    /// When the kernel stops, here or on another rank.
    pub fn run(&mut self) -> Result<Part, DistributeError> {
        let mut part = Part {
            results: Vec::new(),
            exchange_time: std::mem::take(&mut self.exchange_time),
            compile_time: std::mem::take(&mut self.compile_time),
            kernel_time: Duration::ZERO,
            combine_time: Duration::ZERO,
            overlapped: 0,
        };
        let made = match self.exchange(&mut part)? {
            None => self.call(None, &mut part)?,
            Some((made, None)) => made,
            Some((first, Some(outer))) => {
                let second = self.call(Some(&outer), &mut part)?;
                let start = Instant::now();
                let of_both = |((place, first), (_, second))| Ok((place, self.local.of_both(place, first, second)?));
                let both = first.into_iter().zip(second).map(of_both).collect::<Result<Made, DistributeError>>()?;
                part.combine_time += start.elapsed();
                both
            }
        };
        let start = Instant::now();
        for (place, tensor) in made {
            part.results.push((place, self.local.result(place, tensor)?));
        }
        part.combine_time += start.elapsed();
        Ok(part)
    }

    /// Sends rows of dense inputs in the next run as if each had been [set](Self::set) to what it was set to last: for what measures runs. All
    /// ranks call it.
    pub fn send_anew(&mut self) {
        self.rows.iter_mut().for_each(|rows| rows.source = Source::Owners);
    }

    /// Takes another tensor for a dense input, from the next run on. On each rank its rows are those of the input that the rank owns; others may
    /// be anything. All ranks call it.
    ///
    /// # Errors
    /// When there is no such input, it is sparse, or it has another shape or other elements.
    pub fn set(&mut self, name: &str, tensor: &AnyTensor) -> Result<(), DistributeError> {
        self.takes(name, tensor)?;
        let (place, input) = self.dense_input(name)?;
        let before = self.rows_of(place);
        match before {
            None => self.inputs[input] = self.local.declared(place, tensor.clone())?,
            Some(rows) => {
                let by_rows = tensor.convert(&Format::dense(tensor.order()));
                self.rows[rows].tensor = by_rows.map_err(|source| DistributeError::pack(name, source))?;
                self.rows[rows].source = Source::Owners;
            }
        }
        Ok(())
    }

    /// Whether [`set`](Self::set) takes a tensor.
    ///
    /// # Errors
    /// As there.
    pub fn takes(&self, name: &str, tensor: &AnyTensor) -> Result<(), DistributeError> {
        let (place, input) = self.dense_input(name)?;
        let known = self.rows_of(place).map_or(&self.inputs[input], |rows| &self.rows[rows].tensor);
        if (tensor.shape(), tensor.element()) == (known.shape(), known.element()) {
            return Ok(());
        }
        let shown = |tensor: &AnyTensor| format!("{:?} of {}", tensor.shape(), tensor.element().name());
        let what = format!("`{name}` is {}, and not {}", shown(known), shown(tensor));
        Err(refused(what, "a kernel is prepared for the shapes that it was planned with"))
    }

    /// Makes a dense result of a run a dense input of the next one: each row goes from the rank that owns it in the result to those that need it in
    /// the input. All ranks call it.
    ///
    /// # Errors
    /// When there is no such input or result, one of them is sparse, their rows are not alike, or another rank has stopped.
    pub fn feed(&mut self, name: &str, part: &Part, result: &str) -> Result<(), DistributeError> {
        let (place, input) = self.dense_input(name)?;
        let problem = self.local.problem;
        let found = part.results.iter().find(|(place, _)| problem.kernel.tensors[*place].name == result);
        let Some((result_place, held)) = found else {
            return Err(refused(format!("there is no result `{result}`"), "name one of the kernel's"));
        };
        let (shape, target) = (problem.shape(result), problem.shape(name));
        let elements = [*result_place, place].map(|place| problem.kernel.tensors[place].element);
        if shape != target || elements[0] != elements[1] {
            let what = format!("`{result}` and `{name}` have other shapes or elements");
            return Err(refused(what, "feed an input that is like the result"));
        }
        let rows = match held {
            Held::Whole(tensor) => return self.set(name, tensor),
            Held::Rows(rows) => rows,
            Held::Entries(_) | Held::Elements(_) => {
                let what = format!("ranks have no rows of `{result}`");
                return Err(refused(what, "declare it dense, and feed it before it is written"));
            }
        };
        let of_result = self.local.plan.cut(*result_place).expect("rows are of an index");
        let Some(at) = self.rows_of(place) else {
            // Each rank has the whole input.
            let all = self.local.ranks.gather_all(rows)?;
            let whole = problem.of_all_rows(self.local.plan, *result_place, &all)?;
            self.inputs[input] = self.local.declared(place, whole)?;
            return Ok(());
        };
        if self.rows[at].of.0 != of_result.0 {
            let what = format!("`{result}` has rows of another mode than `{name}`");
            return Err(refused(what, "feed an input whose rows are of the same mode"));
        }
        let known = self.feeds.iter().position(|feed| (feed.result, feed.input) == (*result_place, place));
        let known = known.unwrap_or_else(|| {
            let (of_result, of_input) = ((*result_place, of_result.1), (place, self.rows[at].index));
            self.feeds.push(Feed::of(&self.local, of_result, of_input));
            self.feeds.len() - 1
        });
        let OperandRows { of, shape, source, .. } = &mut self.rows[at];
        self.feeds[known].take(rows, row_bytes(shape, *of));
        *source = Source::Feed(known);
        Ok(())
    }

    /// A dense input by its name: its place in the kernel, and among the inputs.
    fn dense_input(&self, name: &str) -> Result<(usize, usize), DistributeError> {
        let problem = self.local.problem;
        let input = self.program.inputs().position(|(other, _)| other == name);
        let Some(input) = input.filter(|_| problem.is_input(name)) else {
            return Err(refused(format!("there is no input `{name}`"), "name one of the kernel's"));
        };
        let place = problem.place(name);
        match self.local.is_dense(place) {
            true => Ok((place, input)),
            false => Err(refused(format!("`{name}` is sparse"), "a kernel is prepared for its entries: plan anew")),
        }
    }

    /// Which of the inputs that ranks have rows of it is.
    fn rows_of(&self, place: usize) -> Option<usize> {
        self.rows.iter().position(|rows| rows.place == place)
    }

    /// Runs the kernel on all of this rank's entries, or on some of them; gives the results by their places.
    fn call(&self, entries: Option<&AnyTensor>, part: &mut Part) -> Result<Made, DistributeError> {
        let call = self.calling(entries);
        let Outcome { outputs, run_times, .. } = call()?;
        part.kernel_time += run_times.iter().sum::<Duration>();
        Ok(self.placed(outputs))
    }

    /// What runs the kernel.
    fn calling<'a>(
        &'a self,
        entries: Option<&'a AnyTensor>,
    ) -> impl Fn() -> Result<Outcome, ProgramError> + Send + use<'a> {
        let mut inputs: Vec<&AnyTensor> = self.inputs.iter().collect();
        if let Some((input, entries)) = self.cuts.input().zip(entries) {
            inputs[input] = entries;
        }
        let (kernel, dimensions) = (self.program.kernel(), &self.dimensions);
        move || {
            let stated: Vec<(&str, usize)> = dimensions.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
            Ok(kernel.measure(&inputs, &stated, 1)?)
        }
    }

    fn placed(&self, outputs: Vec<(String, AnyTensor)>) -> Made {
        outputs.into_iter().map(|(name, tensor)| (self.local.problem.place(&name), tensor)).collect()
    }

    /// Brings rows of dense inputs to where they are needed. Gives what the kernel has made meanwhile, if it has, and the entries that are left to
    /// it then, if some are.
    fn exchange(&mut self, part: &mut Part) -> Result<Option<(Made, Option<AnyTensor>)>, DistributeError> {
        // All ranks have the same inputs, and know whether there is something to send.
        if !self.rows.iter().any(OperandRows::is_coming) {
            return Ok(None);
        }
        let start = Instant::now();
        let cut = self.cuts.next(&self.local, (&self.rows, &self.feeds), &self.inputs)?;
        part.compile_time += start.elapsed();
        let start = Instant::now();
        let messages = self.send();
        let Exchanged { taken, made, worked } = match &cut {
            Cut::Nothing => {
                let taken = self.local.ranks.exchange(messages)?;
                Exchanged { taken, made: None, worked: Duration::ZERO }
            }
            Cut::All => self.exchange_during(messages, None)?,
            Cut::Two(halves) => self.exchange_during(messages, Some(&halves.inner))?,
        };
        let own = self.local.ranks.rank();
        taken.iter().enumerate().filter(|(rank, _)| *rank != own).for_each(|(rank, message)| self.put(rank, message));
        self.make()?;
        self.rows.iter_mut().for_each(OperandRows::end);
        part.exchange_time += start.elapsed().saturating_sub(worked);
        let Some(Outcome { outputs, run_times, .. }) = made else { return Ok(None) };
        part.kernel_time += run_times.iter().sum::<Duration>();
        let outer = match cut {
            Cut::Two(halves) => {
                part.overlapped = halves.inner.nnz();
                Some(halves.outer.clone())
            }
            Cut::All | Cut::Nothing => {
                part.overlapped = self.cuts.input().map_or(0, |input| self.inputs[input].nnz());
                None
            }
        };
        Ok(Some((self.placed(outputs), outer)))
    }

    /// Puts this rank's own rows at their places, and gives what goes to others.
    fn send(&mut self) -> Vec<Vec<u8>> {
        let Self { local, rows, feeds, inputs, .. } = self;
        let (mut messages, mut own) = (vec![Vec::new(); local.ranks.size()], Vec::new());
        for rows in rows.iter_mut().filter(|rows| rows.is_coming()) {
            rows.begin(local, &inputs[rows.input]);
            rows.send(feeds, &mut messages, &mut own, local.ranks.rank());
        }
        self.put(self.local.ranks.rank(), &own);
        messages
    }

    /// Puts rows that a rank has sent at their places.
    fn put(&mut self, rank: usize, mut message: &[u8]) {
        for rows in self.rows.iter_mut().filter(|rows| rows.is_coming()) {
            message = rows.take(&self.feeds, rank, message, &mut self.inputs[rows.input]);
        }
    }

    /// Makes inputs of the rows that have come so far.
    fn make(&mut self) -> Result<(), DistributeError> {
        for rows in &self.rows {
            if let Some(made) = rows.made(&self.local)? {
                self.inputs[rows.input] = made;
            }
        }
        Ok(())
    }

    /// Exchanges messages while the kernel runs.
    fn exchange_during(
        &mut self,
        messages: Vec<Vec<u8>>,
        entries: Option<&AnyTensor>,
    ) -> Result<Exchanged, DistributeError> {
        self.make()?;
        let call = self.calling(entries);
        let (mut made, mut worked) = (None, Duration::ZERO);
        let mut work = || {
            let start = Instant::now();
            made = Some(call());
            worked = start.elapsed();
        };
        let taken = self.local.ranks.exchange_during(messages, &mut work)?;
        Ok(Exchanged { taken, made: made.transpose()?, worked })
    }
}

fn refused(what: String, help: &str) -> DistributeError {
    DistributeError::Refused { what, help: help.to_owned() }
}

#[cfg(test)]
mod tests;
