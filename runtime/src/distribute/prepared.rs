//! A kernel that runs on ranks again and again: who sends which rows to whom is found out once, as the kernel is compiled.

use super::DistributeError;
use super::communicator::Communicator;
use super::dense_rows::{copy_row, put_row, row_bytes};
use super::held::{Held, Part};
use super::owners::Returns;
use super::plan::Plan;
use super::problem::Problem;
use super::run::Local;
use crate::execute::{Program, ProgramError, Uncompiled};
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
    rows: Vec<DenseRows>,
    feeds: Vec<Feed>,
    exchange_time: Duration,
    compile_time: Duration,
}

/// A dense input, of whose rows a rank has those that it needs.
struct DenseRows {
    /// Its place in the kernel, and among the inputs.
    place: usize,
    input: usize,
    /// Which mode has the rows, and the bytes of an element.
    of: (usize, usize),
    /// As the rank knows it: of its own rows.
    tensor: AnyTensor,
    /// For each rank, the coordinates of this one's rows that it needs.
    to: Vec<Vec<usize>>,
    /// For each rank, the numbers here of the rows that it sends.
    from: Vec<Vec<usize>>,
    /// The numbers of the own rows, and their coordinates.
    own: Vec<(usize, usize)>,
    /// The shape of what is here, before other modes are cut.
    shape: Vec<usize>,
    /// Whether its rows have come already.
    is_here: bool,
}

/// How rows of a result become those of an input.
struct Feed {
    /// Their places in the kernel.
    result: usize,
    input: usize,
    /// For each rank, which of the result's rows here it needs.
    to: Vec<Vec<usize>>,
    /// For each rank, the numbers here of the rows that it sends.
    from: Vec<Vec<usize>>,
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
            Some(DenseRows::of(&local, (place, input, name), tensor, of))
        });
        let rows = rows.collect();
        Ok(Prepared { local, program, inputs, dimensions, rows, feeds: Vec::new(), exchange_time, compile_time })
    }
}

impl DenseRows {
    fn of(
        local: &Local<'_>,
        (place, input, name): (usize, usize, &str),
        tensor: &AnyTensor,
        (mode, index): (usize, usize),
    ) -> Self {
        let (own, size) = (local.ranks.rank() as u32, local.ranks.size());
        let mut rows = Self {
            place,
            input,
            of: (mode, tensor.element().bytes()),
            tensor: tensor.clone(),
            to: vec![Vec::new(); size],
            from: vec![Vec::new(); size],
            own: Vec::new(),
            shape: tensor.shape().to_vec(),
            is_here: false,
        };
        rows.shape[mode] = local.needed[index].len();
        for (number, &coordinate) in local.needed[index].iter().enumerate() {
            match local.owner(name, index, coordinate) {
                owner if owner == own => rows.own.push((number, coordinate as usize)),
                owner => rows.from[owner as usize].push(number),
            }
        }
        if !local.plan.is_replicated(name) {
            let of_all = local.rows(index);
            for coordinate in of_all.shared().filter(|&coordinate| of_all.owner(coordinate) == own) {
                of_all.others(coordinate).for_each(|user| rows.to[user as usize].push(coordinate as usize));
            }
        }
        rows
    }
}

impl Prepared<'_> {
    /// Runs it once. All ranks call it.
    ///
    /// # Errors
    /// When the kernel stops, here or on another rank.
    pub fn run(&mut self) -> Result<Part, DistributeError> {
        let start = Instant::now();
        self.exchange()?;
        let exchange_time = std::mem::take(&mut self.exchange_time) + start.elapsed();
        let inputs: Vec<&AnyTensor> = self.inputs.iter().collect();
        let stated: Vec<(&str, usize)> =
            self.dimensions.iter().map(|(name, extent)| (name.as_str(), *extent)).collect();
        let outcome = self.program.kernel().measure(&inputs, &stated, 1).map_err(ProgramError::from)?;
        let kernel_time = outcome.run_times.iter().sum();
        let start = Instant::now();
        let mut results = Vec::new();
        for (name, tensor) in outcome.outputs {
            let place = self.local.problem.place(&name);
            results.push((place, self.local.result(place, tensor)?));
        }
        let (compile_time, combine_time) = (std::mem::take(&mut self.compile_time), start.elapsed());
        Ok(Part { results, exchange_time, compile_time, kernel_time, combine_time })
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
                self.rows[rows].is_here = false;
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
            self.feeds.push(self.feed_of(*result_place, of_result.1, place));
            self.feeds.len() - 1
        });
        let (feed, DenseRows { of, shape, .. }) = (&self.feeds[known], &self.rows[at]);
        let size = row_bytes(shape, *of);
        let message = |numbers: &Vec<usize>| {
            let mut message = Vec::with_capacity(numbers.len() * size);
            numbers.iter().for_each(|number| message.extend_from_slice(&rows[number * size..(number + 1) * size]));
            message
        };
        let taken = self.local.ranks.exchange(feed.to.iter().map(message).collect())?;
        let mut bytes = vec![0u8; shape[of.0] * size];
        for (numbers, message) in feed.from.iter().zip(&taken) {
            for (&number, row) in numbers.iter().zip(message.chunks_exact(size.max(1))) {
                put_row(&mut bytes, shape, *of, number, row);
            }
        }
        self.inputs[input] = self.local.of_rows(place, bytes, (of.0, shape.clone()))?;
        self.rows[at].is_here = true;
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

    /// Which rows of a result go where as those of an input.
    fn feed_of(&self, result: usize, of_result: usize, input: usize) -> Feed {
        let Local { plan, ranks, needed, .. } = &self.local;
        let (_, of_input) = plan.cut(input).expect("its rows are of an index");
        let (mut to, mut from) = (vec![Vec::new(); ranks.size()], vec![Vec::new(); ranks.size()]);
        for (number, coordinate) in plan.rows[of_result].owned(ranks.rank()).into_iter().enumerate() {
            plan.rows[of_input].users(coordinate).for_each(|user| to[user as usize].push(number));
        }
        for (number, &coordinate) in needed[of_input].iter().enumerate() {
            from[plan.rows[of_result].owner(coordinate) as usize].push(number);
        }
        Feed { result, input, to, from }
    }

    /// Brings rows of dense inputs to where they are needed.
    fn exchange(&mut self) -> Result<(), DistributeError> {
        let Self { local, rows, inputs, .. } = self;
        let coming = || rows.iter().filter(|rows| !rows.is_here);
        // All ranks have the same inputs, and know whether there is something to send.
        if coming().next().is_none() {
            return Ok(());
        }
        let mut messages = vec![Vec::new(); local.ranks.size()];
        for DenseRows { tensor, of, to, .. } in coming() {
            let (bytes, shape) = (tensor.values().as_bytes(), tensor.shape());
            for (message, coordinates) in messages.iter_mut().zip(to) {
                coordinates.iter().for_each(|&coordinate| copy_row(bytes, shape, *of, coordinate, message));
            }
        }
        let taken = local.ranks.exchange(messages)?;
        let mut from: Vec<&[u8]> = taken.iter().map(Vec::as_slice).collect();
        for DenseRows { place, input, of, tensor, from: numbers, own, shape, .. } in coming() {
            let size = row_bytes(shape, *of);
            let mut bytes = vec![0u8; shape[of.0] * size];
            let mut row = Vec::with_capacity(size);
            for &(number, coordinate) in own {
                row.clear();
                copy_row(tensor.values().as_bytes(), tensor.shape(), *of, coordinate, &mut row);
                put_row(&mut bytes, shape, *of, number, &row);
            }
            for (from, numbers) in from.iter_mut().zip(numbers) {
                for &number in numbers {
                    let (row, rest) = from.split_at(size);
                    put_row(&mut bytes, shape, *of, number, row);
                    *from = rest;
                }
            }
            inputs[*input] = local.of_rows(*place, bytes, (of.0, shape.clone()))?;
        }
        Ok(())
    }
}

fn refused(what: String, help: &str) -> DistributeError {
    DistributeError::Refused { what, help: help.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribute::{Placement, ThreadRank, on_threads};
    use crate::execute::{Backend, Operand, ProgramOptions};
    use crate::generate;
    use crate::tensor::{Coordinates, LevelArrays};
    use spc_compiler::{notation, syntax};

    fn kernel(text: &str) -> notation::Kernel {
        notation::check(&syntax::parse_program(text).unwrap()).unwrap().remove(0)
    }

    fn options() -> ProgramOptions {
        ProgramOptions { backend: Some(Backend::Interpreter), ..ProgramOptions::default() }
    }

    /// Whole numbers, so that sums are exact in any order; the last rows and columns have no entries.
    fn matrix(extent: usize, entries: usize) -> Coordinates<f64> {
        let mut a = generate::uniform(&[extent - 2, extent - 3], entries, 5).unwrap();
        a.values.iter_mut().enumerate().for_each(|(entry, value)| *value = (entry % 7) as f64 - 3.0);
        a.shape = vec![extent, extent];
        a
    }

    fn tensor(shape: &[usize], value: impl Fn(usize) -> f64) -> AnyTensor {
        let values: Vec<f64> = (0..shape.iter().product()).map(value).collect();
        let levels = vec![LevelArrays::NONE; shape.len()];
        AnyTensor::from_parts(shape.to_vec(), Format::dense(shape.len()), levels, values.into()).unwrap()
    }

    /// A times the columns of x, times `times`.
    fn expected(a: &Coordinates<f64>, x: &AnyTensor, times: usize) -> Vec<f64> {
        let columns = x.shape().get(1).copied().unwrap_or(1);
        let mut x = x.values_of::<f64>().unwrap().to_vec();
        for _ in 0..times {
            let mut y = vec![0.0; x.len()];
            for (entry, value) in a.values.iter().enumerate() {
                let [row, column] = [0, 1].map(|mode| a.indices[mode].at(entry) as usize);
                (0..columns).for_each(|r| y[row * columns + r] += value * x[column * columns + r]);
            }
            x = y;
        }
        x
    }

    fn placement(text: &str) -> Placement {
        Placement::parse(text, &|name| name == "A").unwrap()
    }

    /// A result becomes the input of the next run, however both are shared out.
    #[test]
    fn what_a_run_gives_is_fed_to_the_next() {
        let a = matrix(24, 90);
        let texts = [
            ("fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }", &[24][..]),
            ("fn f(A: coo, x: dense) -> y: dense { y(i, r) = A(i, j) * x(j, r); }", &[24, 3]),
            ("fn f(A: csc, x: (j, r) -> [r: dense, j: dense]) -> y: dense { y(i, r) = A(i, j) * x(j, r); }", &[24, 2]),
            ("fn f(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); } schedule { replicate(x); }", &[24]),
        ];
        for (text, shape) in texts {
            let kernel = kernel(text);
            let x = tensor(shape, |place| (place % 5) as f64 - 1.0);
            let wanted = expected(&a, &x, 3);
            for (ranks, by) in [(1, "A"), (2, "A"), (3, "i"), (4, "A:2x2"), (7, "A:bisection"), (40, "A")] {
                let inputs = vec![("A".to_owned(), a.clone().into()), ("x".to_owned(), Operand::Ones)];
                let columns = shape.get(1).map(|columns| ("r".to_owned(), *columns));
                let problem = Problem::new(&kernel, inputs, columns.as_slice(), &options()).unwrap();
                let plan = problem.plan(&placement(by), ranks).unwrap();
                let body = |own: &ThreadRank| {
                    let mut prepared = problem.prepare(&plan, own)?;
                    // What it was prepared with is of no matter.
                    prepared.set("x", &x)?;
                    let mut part = prepared.run()?;
                    for _ in 0..2 {
                        prepared.feed("x", &part, "y")?;
                        part = prepared.run()?;
                    }
                    problem.gather(&plan, part, own)
                };
                let found = on_threads(ranks, None, body).unwrap().swap_remove(0).unwrap().swap_remove(0).1;
                assert_eq!(found.values_of::<f64>().unwrap(), wanted, "{text}: {ranks} ranks, {by}");
            }
        }
    }

    /// Other elements in each run, also for inputs that each rank has as a whole.
    #[test]
    fn inputs_are_set_anew() {
        let a = matrix(20, 60);
        let kernel = kernel("fn f(A: csr, x: dense, s: dense) -> y: dense { y(i) = A(i, j) * x(j) * s(k) * s(k); }");
        let inputs = vec![
            ("A".to_owned(), a.clone().into()),
            ("x".to_owned(), Operand::Ones),
            ("s".to_owned(), tensor(&[3], |_| 1.0).into()),
        ];
        let problem = Problem::new(&kernel, inputs, &[], &options()).unwrap();
        let plan = problem.plan(&placement("A"), 3).unwrap();
        let body = |own: &ThreadRank| {
            let mut prepared = problem.prepare(&plan, own)?;
            let mut found = Vec::new();
            for (x, s) in [(1, 1.0), (2, 2.0), (3, 0.0)] {
                prepared.set("x", &tensor(&[20], |place| (place * x) as f64))?;
                prepared.set("s", &tensor(&[3], |_| s))?;
                let part = prepared.run()?;
                // It is still there to be gathered again.
                assert_eq!(problem.gather(&plan, &part, own)?.is_some(), own.rank() == 0);
                found.push(problem.gather(&plan, part, own)?);
            }
            Ok::<_, DistributeError>(found)
        };
        let found = on_threads(3, None, body).unwrap().swap_remove(0);
        for (found, (x, s)) in found.into_iter().zip([(1, 1.0), (2, 2.0), (3, 0.0)]) {
            let product = expected(&a, &tensor(&[20], |place| (place * x) as f64), 1);
            let wanted: Vec<f64> = product.iter().map(|value| value * 3.0 * s * s).collect();
            assert_eq!(found.unwrap()[0].1.values_of::<f64>().unwrap(), wanted);
        }
    }

    /// Rows of a result that each rank needs as a whole.
    #[test]
    fn what_no_rank_has_a_part_of_is_gathered() {
        let a = matrix(16, 50);
        let text = "fn f(A: csr, x: dense, w: dense) -> y: dense { y(i) = A(i, j) * x(j) * w(k); }";
        let inputs = vec![
            ("A".to_owned(), a.clone().into()),
            ("x".to_owned(), Operand::Ones),
            ("w".to_owned(), tensor(&[16], |_| 1.0).into()),
        ];
        let problem = Problem::new(&kernel(text), inputs, &[], &options()).unwrap();
        let plan = problem.plan(&placement("A"), 4).unwrap();
        let body = |own: &ThreadRank| {
            let mut prepared = problem.prepare(&plan, own)?;
            let part = prepared.run()?;
            prepared.feed("w", &part, "y")?;
            problem.gather(&plan, prepared.run()?, own)
        };
        let found = on_threads(4, None, body).unwrap().swap_remove(0).unwrap().swap_remove(0).1;
        let first: Vec<f64> = expected(&a, &tensor(&[16], |_| 16.0), 1);
        let sum: f64 = first.iter().sum();
        let wanted: Vec<f64> = expected(&a, &tensor(&[16], |_| 1.0), 1).iter().map(|value| value * sum).collect();
        assert_eq!(found.values_of::<f64>().unwrap(), wanted);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let kernel = kernel("fn f(A: csr, B: dense) -> Y: dense { Y(i, r) = A(i, j) * B(j, r); }");
        let inputs = vec![("A".to_owned(), matrix(12, 20).into()), ("B".to_owned(), Operand::Ones)];
        let problem = Problem::new(&kernel, inputs, &[("r".to_owned(), 2)], &options()).unwrap();
        let plan = problem.plan(&placement("A"), 2).unwrap();
        let body = |own: &ThreadRank| {
            let mut prepared = problem.prepare(&plan, own)?;
            let part = prepared.run()?;
            let mut said = vec![
                prepared.set("B", &tensor(&[12, 3], |_| 0.0)),
                prepared.takes("B", &tensor(&[2, 12], |_| 0.0)),
                prepared.set("A", &tensor(&[12, 12], |_| 0.0)),
                prepared.set("Y", &tensor(&[12, 2], |_| 0.0)),
                prepared.feed("B", &part, "B"),
            ];
            Ok::<_, DistributeError>(said.drain(..).map(|said| said.unwrap_err().to_string()).collect::<Vec<_>>())
        };
        let said = on_threads(2, None, body).unwrap().swap_remove(0);
        let wrong = ["`B` is [12, 2] of f64, and not [12, 3]", "and not [2, 12]"];
        let parts = [wrong[0], wrong[1], "`A` is sparse", "no input `Y`", "no result `B`"];
        assert!(said.iter().zip(parts).all(|(said, part)| said.contains(part)), "{said:?}");
    }
}
