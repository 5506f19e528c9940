//! The tensors that go from one kernel of a chain to the next.
//!
//! Tensors go by names, and names say the same in every call: a [`Route`] is found once for a chain. A call of it then costs little
//! beside the loops, which of a small tensor take less than a microsecond.

use super::around::{Around, Copied};
use super::array::Parameter;
use super::call::{Call, Extents, Inputs, Kept, Operand, check_inputs, declared_inputs};
use super::error::Error;
use super::extents::extents;
use super::value::Sink;
use crate::tensor::{AnyTensor, Element};
use crate::with_element;
use spc_compiler::ir::{Kernel, Repetition, Rounds, Source};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Inputs that stay with the caller, with room for so many tensors.
pub(super) fn lent<'a>(inputs: &[&'a AnyTensor], count: usize) -> Vec<Option<Operand<'a>>> {
    let mut tensors = Vec::with_capacity(count.max(inputs.len()));
    tensors.extend(inputs.iter().map(|&input| Some(Operand::Lent(input))));
    tensors
}

/// The extents of the last call, which most often are those of the next.
#[derive(Debug, Default)]
struct Remembered(Mutex<Option<Arc<Found>>>);

/// The extents of a call, and what they were found from.
#[derive(Debug)]
struct Found {
    from: From,
    /// Those of each kernel.
    links: Vec<Vec<usize>>,
}

/// What extents are found from: of a chain whose inputs have the orders that it declares, so that no two calls have the same.
#[derive(Debug, PartialEq, Eq)]
struct From {
    /// The extents of all modes of the inputs, and of the results as they are to be.
    modes: Vec<usize>,
    stated: Vec<(String, usize)>,
}

impl From {
    /// The shapes of the inputs, and of the results as they are to be.
    fn shapes<'i>(
        inputs: &'i [Option<Operand<'_>>],
        results: usize,
        sink: &'i dyn Sink,
    ) -> impl Iterator<Item = &'i [usize]> {
        // A shape that is not wished is told from one of order 0.
        let wished = (0..results).map_while(|result| sink.shape(result)).flat_map(|shape| [shape, &[usize::MAX]]);
        inputs.iter().flatten().map(|input| input.shape()).chain(wished)
    }

    fn is<'i>(&self, mut shapes: impl Iterator<Item = &'i [usize]>, stated: &[(&str, usize)]) -> bool {
        let mut rest = &self.modes[..];
        let mut is_next = |shape: &[usize]| rest.strip_prefix(shape).map(|others| rest = others).is_some();
        let own = self.stated.iter().map(|(name, extent)| (name.as_str(), *extent));
        shapes.all(&mut is_next) && rest.is_empty() && own.eq(stated.iter().copied())
    }
}

impl Remembered {
    fn get(&self) -> Option<Arc<Found>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, found: Found) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(found));
    }
}

/// The kernels of a chain.
pub(super) trait Kernels {
    /// How many there are.
    fn count(&self) -> usize;

    /// One of them, by its number.
    fn kernel(&self, number: usize) -> &Kernel;
}

impl Kernels for Vec<Kernel> {
    fn count(&self) -> usize {
        self.len()
    }

    fn kernel(&self, number: usize) -> &Kernel {
        &self[number]
    }
}

/// What the kernels of a chain are together.
#[derive(Debug)]
pub(super) struct Whole {
    /// The parameters, and all dimensions.
    pub(super) declarations: Kernel,
    pub(super) results: Arc<[String]>,
    route: Route,
    remembered: Remembered,
}

impl Whole {
    /// Kernels that run one after the other, some of them again and again.
    pub(super) fn new(
        declarations: Kernel,
        results: Vec<String>,
        rounds: Option<Rounds>,
        kernels: &dyn Kernels,
    ) -> Self {
        let route = Route::new(&declarations, &results, rounds, kernels);
        Self { declarations, results: results.into(), route, remembered: Remembered::default() }
    }

    /// Whether some of the kernels run again and again.
    pub(super) fn has_rounds(&self) -> bool {
        self.route.rounds.is_some()
    }

    /// How many tensors there are in all.
    pub(super) fn count(&self) -> usize {
        self.route.count
    }
}

/// Where the tensors of a chain are, each by its place: first the inputs, then what each kernel makes.
#[derive(Debug)]
struct Route {
    /// How many tensors there are.
    count: usize,
    /// What each kernel does.
    steps: Vec<Step>,
    /// What is done again and again.
    rounds: Option<Loop>,
    /// Where the results are in the end.
    results: Vec<usize>,
    /// A result that no kernel makes.
    missing: Option<String>,
}

/// Steps that are done again and again.
#[derive(Debug)]
struct Loop {
    steps: Range<usize>,
    /// What a round reads, and what of it takes its place in the next.
    feeds: Vec<(usize, usize)>,
    /// Where the rule looks.
    rule: Option<usize>,
    /// Where the number is that says the most rounds.
    limit: Option<usize>,
    /// The tensors that are the same in each round.
    fixed: BTreeSet<usize>,
    repetition: Repetition,
}

impl Loop {
    /// What the rounds say, where `tensors` are all that there are by name, and `steps` what makes them.
    fn new(rounds: Rounds, tensors: &[(String, usize)], steps: &[Step], inputs: usize) -> Option<Self> {
        let place = |name: &String| tensors.iter().rev().find(|(known, _)| known == name).map(|(_, place)| *place);
        let Rounds { kernels, repetition } = rounds;
        let feed = |(old, new): &(String, String)| Some((place(old)?, place(new)?));
        let feeds = repetition.feeds.iter().map(feed).collect::<Option<Vec<_>>>()?;
        let rule = match &repetition.until {
            Some(until) => Some(place(&until.result)?),
            None => None,
        };
        let limit = match &repetition.limit {
            Some(limit) => Some(place(limit)?),
            None => None,
        };
        let before = steps[..kernels.start].iter().flat_map(|step| step.outputs.iter().map(|(place, _)| *place));
        let mut fixed: BTreeSet<usize> = (0..inputs).chain(before).collect();
        fixed.retain(|place| feeds.iter().all(|(old, _)| old != place));
        for step in &steps[kernels.clone()] {
            if step.inputs.iter().all(|place| fixed.contains(place)) {
                fixed.extend(step.outputs.iter().map(|(place, _)| place));
            }
        }
        Some(Self { steps: kernels, feeds, rule, limit, fixed, repetition })
    }
}

/// How a loop went.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Repeated {
    /// The number of rounds.
    pub steps: usize,
    /// Whether the rule held after the last; true where there is no rule.
    pub is_met: bool,
    /// The value that the rule compares, after each round.
    pub history: Vec<f64>,
    /// How long each round took.
    pub times: Vec<Duration>,
}

/// What one kernel of a chain reads and makes.
#[derive(Debug)]
struct Step {
    parameters: Vec<Parameter>,
    inputs: Vec<usize>,
    /// An input that no kernel before it makes.
    missing: Option<String>,
    /// What it makes, in order; where that is a result, with its number.
    outputs: Vec<(usize, Option<usize>)>,
    /// The tensors without a further reader.
    done: Vec<usize>,
}

impl Route {
    fn new(declarations: &Kernel, results: &[String], rounds: Option<Rounds>, kernels: &dyn Kernels) -> Self {
        let all = || (0..kernels.count()).map(|number| kernels.kernel(number));
        let mut tensors: Vec<(&str, usize)> = inputs_of(declarations).zip(0..).collect();
        let mut count = tensors.len();
        let inputs = count;
        let mut every: Vec<(String, usize)> =
            tensors.iter().map(|(name, place)| ((*name).to_owned(), *place)).collect();
        let mut steps = Vec::with_capacity(kernels.count());
        for (number, kernel) in all().enumerate() {
            let (inputs, missing) = places(&tensors, inputs_of(kernel));
            let made = outputs_of(kernel).zip(count..);
            let outputs = made.clone().map(|(name, place)| (place, results.iter().position(|result| result == name)));
            let outputs: Vec<(usize, Option<usize>)> = outputs.collect();
            count += outputs.len();
            every.extend(made.clone().map(|(name, place)| (name.to_owned(), place)));
            tensors.extend(made);
            let is_read = |name: &str| all().skip(number + 1).any(|next| inputs_of(next).any(|input| input == name));
            let is_limit = |name: &str| {
                let before = rounds.as_ref().filter(|rounds| number < rounds.kernels.start);
                before.is_some_and(|rounds| rounds.repetition.limit.as_deref() == Some(name))
            };
            let stays = |name: &str| results.iter().any(|result| result == name) || is_read(name) || is_limit(name);
            let done = tensors.iter().filter(|(name, _)| !stays(name)).map(|&(_, place)| place).collect();
            tensors.retain(|(name, _)| stays(name));
            let parameters = Parameter::all_of(kernel);
            steps.push(Step { parameters, inputs, missing, outputs, done });
        }
        let (results, missing) = places(&tensors, results.iter().map(String::as_str));
        let is_repeated = rounds.is_some();
        let rounds = rounds.and_then(|rounds| Loop::new(rounds, &every, &steps, inputs));
        let missing = missing.or_else(|| (is_repeated && rounds.is_none()).then(|| "what rounds read".to_owned()));
        Self { count, steps, rounds, results, missing }
    }
}

/// The places of tensors of these names, and the first name that there is none of.
fn places<'n>(tensors: &[(&str, usize)], names: impl Iterator<Item = &'n str>) -> (Vec<usize>, Option<String>) {
    let (mut found, mut missing) = (Vec::new(), None);
    for name in names {
        match tensors.iter().find(|(known, _)| *known == name) {
            Some((_, place)) => found.push(*place),
            None => missing = missing.or_else(|| Some(name.to_owned())),
        }
    }
    (found, missing)
}

/// The tensors of a chain while it runs.
pub(super) struct Flow<'a> {
    whole: &'a Whole,
    kernels: &'a dyn Kernels,
    /// What the extents follow from.
    extents: Origin<'a>,
    /// What there is by now, by its place on the route.
    tensors: Vec<Option<Operand<'a>>>,
    /// What is the same in each round.
    kept: Option<Kept>,
}

/// What a flow is run with.
struct Run<'r> {
    around: Option<&'r mut Around>,
    sink: &'r mut dyn Sink,
    work: &'r mut dyn FnMut(usize, &mut Call<'_>) -> Result<(), Error>,
    deliveries: Vec<Copied>,
    /// Whether the last result has gone to the sink.
    is_taken: bool,
}

/// Where a flow has its extents from.
enum Origin<'a> {
    /// From the last call.
    Known(Arc<Found>),
    /// From this one: those of all dimensions by name, and for the next call those of the kernels so far.
    Fresh(Vec<(&'a str, usize)>, Found),
}

impl<'a> Flow<'a> {
    /// Before the first of the kernels runs. The results are to have the shapes of where they go, where nothing else says an extent.
    pub(super) fn new(
        whole: &'a Whole,
        kernels: &'a dyn Kernels,
        inputs: Vec<Option<Operand<'a>>>,
        stated: &[(&str, usize)],
        sink: &dyn Sink,
    ) -> Result<Self, Error> {
        let declarations = &whole.declarations;
        let of_inputs = inputs.iter().flatten().map(|input| &**input);
        check_inputs(declarations, of_inputs.clone())?;
        let shapes = || From::shapes(&inputs, whole.results.len(), sink);
        let extents = match whole.remembered.get().filter(|found| found.from.is(shapes(), stated)) {
            Some(found) => Origin::Known(found),
            None => {
                let declared: Vec<_> = declared_inputs(declarations).zip(of_inputs).collect();
                let found = extents(declarations, &declared, stated, &wished(whole, kernels, sink))?;
                let names = declarations.dimensions.iter().map(|dimension| dimension.name.as_str());
                let stated = stated.iter().map(|&(name, extent)| (name.to_owned(), extent)).collect();
                let from = From { modes: shapes().flatten().copied().collect(), stated };
                Origin::Fresh(names.zip(found).collect(), Found { from, links: Vec::new() })
            }
        };
        Ok(Self { whole, kernels, extents, tensors: inputs, kept: None })
    }

    /// Gives `sink` the results, once `work` has run the call of each kernel, by its number. What calls take beside that is added to
    /// `around`, where somebody asks for it. Gives how rounds went, if there are some.
    pub(super) fn run(
        mut self,
        around: Option<&mut Around>,
        sink: &mut dyn Sink,
        work: &mut dyn FnMut(usize, &mut Call<'_>) -> Result<(), Error>,
    ) -> Result<Option<Repeated>, Error> {
        let whole = self.whole;
        let mut run = Run { around, sink, work, deliveries: Vec::new(), is_taken: false };
        self.tensors.resize_with(whole.count().max(self.tensors.len()), || None);
        let count = whole.route.steps.len();
        let range = whole.route.rounds.as_ref().map_or(count..count, |rounds| rounds.steps.clone());
        (0..range.start).try_for_each(|number| self.step(number, &mut run))?;
        let rounds = whole.route.rounds.as_ref();
        let repeated = rounds.map(|rounds| self.rounds(rounds, &mut run)).transpose()?;
        (range.end..count).try_for_each(|number| self.step(number, &mut run))?;
        if let Some(around) = run.around {
            around.deliveries.append(&mut run.deliveries);
        }
        self.finish(run.is_taken, run.sink)?;
        Ok(repeated)
    }

    /// Runs one kernel.
    fn step(&mut self, number: usize, run: &mut Run<'_>) -> Result<(), Error> {
        let steps = &self.whole.route.steps;
        let step = &steps[number];
        let is_in_round = self.kept.is_some();
        if let Some(made) = self.kept.as_ref().and_then(|kept| kept.made(number)) {
            self.put(step, made);
            return Ok(());
        }
        let mut call = self.call(number, run.around.is_some())?;
        for (output, &(place, result)) in step.outputs.iter().enumerate() {
            match result {
                _ if is_in_round => {
                    if let Some(mut spare) = self.spare(place).filter(|spare| call.check_reuse(output, spare).is_ok()) {
                        call.reuse(output, &mut spare)?;
                    }
                }
                Some(result) => run.sink.lend(result, &mut call, output)?,
                None => {}
            }
        }
        call.allocate()?;
        if let Some(around) = &mut run.around {
            around.copies.extend_from_slice(call.copies());
            around.allocate += call.allocate_time();
        }
        (run.work)(number, &mut call)?;
        call.check_pivots()?;
        if let Origin::Fresh(_, found) = &mut self.extents
            && found.links.len() == number
        {
            found.links.push(call.dimensions().to_vec());
        }
        // Nothing can be refused any more, when the last kernel has run.
        run.is_taken = match step.outputs[..] {
            [(_, Some(result))] if number + 1 == steps.len() && !is_in_round => {
                run.sink.take_back(result, &mut call, 0)?
            }
            _ => false,
        };
        if run.is_taken {
            return Ok(());
        }
        let made: Vec<_> = call.finish_with(&mut run.deliveries)?.into_iter().map(Arc::new).collect();
        let is_fixed = |kept: &&Kept| step.outputs.iter().all(|&(place, _)| kept.is_fixed(place));
        if let Some(kept) = self.kept.as_ref().filter(is_fixed).filter(|_| !step.outputs.is_empty()) {
            kept.set_made(number, made.clone());
        }
        self.put(step, made);
        if !is_in_round {
            step.done.iter().for_each(|&place| self.tensors[place] = None);
        }
        Ok(())
    }

    /// The tensor that a round before has left where it is to be made again, as memory: a dense one that is not shared.
    fn spare(&mut self, place: usize) -> Option<AnyTensor> {
        let Some(Operand::Own(tensor)) = self.tensors[place].take() else { return None };
        let tensor = Arc::try_unwrap(tensor).ok()?;
        (tensor.format().is_dense() && tensor.order() > 0).then_some(tensor)
    }

    /// Runs kernels again and again, until the rule holds.
    fn rounds(&mut self, of: &Loop, run: &mut Run<'_>) -> Result<Repeated, Error> {
        let Repetition { most, until, .. } = &of.repetition;
        self.kept = Some(Kept::new(of.fixed.clone()));
        let mut repeated = Repeated { is_met: until.is_none(), ..Repeated::default() };
        let limit = of.limit.and_then(|place| self.tensors[place].as_deref().and_then(number));
        let most = limit.map_or(*most, |limit| (*most).min(limit as usize)).max(1);
        while repeated.steps < most {
            let start = Instant::now();
            of.steps.clone().try_for_each(|number| self.step(number, run))?;
            repeated.times.push(start.elapsed());
            repeated.steps += 1;
            if let (Some(until), Some(place)) = (until, of.rule) {
                let value = self.tensors[place].as_deref().and_then(number).unwrap_or(f64::NAN);
                repeated.history.push(value);
                if value.is_nan() {
                    let (result, step) = (&until.result, repeated.steps);
                    let reason = format!("`{result}` is NaN after step {step}: the rule `{until}` sees no number");
                    return Err(self.repetition(reason));
                }
                repeated.is_met = until.comparison.holds(value, until.bound);
                if repeated.is_met {
                    break;
                }
            }
            if repeated.steps < most {
                self.feed(of)?;
            }
        }
        self.kept = None;
        let done = of.steps.clone().flat_map(|number| &self.whole.route.steps[number].done);
        done.for_each(|&place| self.tensors[place] = None);
        Ok(repeated)
    }

    /// Puts what a round has made in the place of what it has read.
    fn feed(&mut self, of: &Loop) -> Result<(), Error> {
        for (number, &(old, new)) in of.feeds.iter().enumerate() {
            // What several take is where the first of them has put it.
            if let Some(&(first, _)) = of.feeds[..number].iter().find(|(_, other)| *other == new) {
                self.tensors[old] = match &self.tensors[first] {
                    Some(Operand::Own(tensor)) => Some(Operand::Own(tensor.clone())),
                    _ => None,
                };
                continue;
            }
            if let (Some(taken), Some(made)) = (&self.tensors[old], &self.tensors[new])
                && (taken.shape() != made.shape()
                    || taken.format() != made.format()
                    || taken.element() != made.element())
            {
                let (name, result) = &of.repetition.feeds[number];
                let (shape, made) = (taken.shape(), made.shape());
                let reason =
                    format!("`{name}` of shape {shape:?} can't be `{result}` of shape {made:?} in the next step");
                return Err(self.repetition(reason));
            }
            self.tensors.swap(old, new);
        }
        Ok(())
    }

    fn repetition(&self, reason: String) -> Error {
        Error::Repetition { kernel: self.whole.declarations.name.clone(), reason }
    }

    /// A call of a kernel, without memory for its outputs. Whether it reads the clock for what is done around the kernel.
    pub(super) fn call(&self, number: usize, is_timed: bool) -> Result<Call<'a>, Error> {
        let kernel = self.kernels.kernel(number);
        let step = &self.whole.route.steps[number];
        if let Some(name) = &step.missing {
            return Err(self.missing(name));
        }
        let kept = self.kept.as_ref().map(|kept| (kept, number));
        let inputs = Inputs { all: &self.tensors, places: &step.inputs, kept };
        let declared = (kernel, &step.parameters[..]);
        match &self.extents {
            Origin::Known(found) => Call::prepare(declared, inputs, Extents::Known(&found.links[number]), is_timed),
            Origin::Fresh(_, found) if number < found.links.len() => {
                Call::prepare(declared, inputs, Extents::Known(&found.links[number]), is_timed)
            }
            Origin::Fresh(extents, _) => {
                let is_its = |name: &str| kernel.dimensions.iter().any(|dimension| dimension.name == name);
                let stated: Vec<(&str, usize)> = extents.iter().copied().filter(|(name, _)| is_its(name)).collect();
                Call::prepare(declared, inputs, Extents::Find(&stated), is_timed)
            }
        }
    }

    /// Puts what a kernel has made in its places.
    fn put(&mut self, step: &Step, outputs: Vec<Arc<AnyTensor>>) {
        for (&(place, _), output) in step.outputs.iter().zip(outputs) {
            self.tensors[place] = Some(Operand::Own(output));
        }
    }

    /// The results, when all kernels have run; but for the last one's, where it has been taken.
    fn finish(mut self, is_taken: bool, sink: &mut dyn Sink) -> Result<(), Error> {
        let route = &self.whole.route;
        if let Some(name) = &route.missing {
            return Err(self.missing(name));
        }
        let taken = if is_taken { route.steps.last().and_then(|step| step.outputs[0].1) } else { None };
        for (result, &place) in route.results.iter().enumerate().filter(|(result, _)| Some(*result) != taken) {
            if let Some(tensor) = self.tensors[place].take() {
                sink.set(result, tensor.into_owned())?;
            }
        }
        if let Origin::Fresh(_, found) = self.extents {
            self.whole.remembered.set(found);
        }
        Ok(())
    }

    fn missing(&self, name: &str) -> Error {
        let reason = format!("no kernel makes `{name}` before it is read");
        Error::Declaration { kernel: self.whole.declarations.name.clone(), reason }
    }
}

/// The extents that results would have where they go, by name.
fn wished<'a>(whole: &'a Whole, kernels: &'a dyn Kernels, sink: &dyn Sink) -> Vec<(&'a str, usize)> {
    let mut wished = Vec::new();
    for (result, name) in whole.results.iter().enumerate() {
        let Some(shape) = sink.shape(result) else { break };
        for kernel in (0..kernels.count()).map(|number| kernels.kernel(number)) {
            for made in kernel.tensors.iter().filter(|made| made.name == *name) {
                let names = made.dimensions.iter().map(|dimension| kernel.dimension(*dimension).name.as_str());
                wished.extend(names.zip(shape.iter().copied()));
            }
        }
    }
    wished
}

/// The number that a tensor without modes is.
fn number(tensor: &AnyTensor) -> Option<f64> {
    with_element!(tensor.element(), |T| tensor.values_of::<T>().and_then(|values| Some(values.first()?.to_f64())))
}

fn inputs_of(kernel: &Kernel) -> impl Iterator<Item = &str> {
    declared_inputs(kernel).map(|tensor| tensor.name.as_str())
}

/// The names of a kernel's outputs, in order.
pub(super) fn outputs_of(kernel: &Kernel) -> impl Iterator<Item = &str> + Clone {
    let outputs = kernel.tensors.iter().filter(|tensor| matches!(tensor.source, Source::Output { .. }));
    outputs.map(|tensor| tensor.name.as_str())
}
