//! One parallel loop as launches: a thread for each place, or for each place and element of a row.

use super::Refusal;
use super::append::{self, Lengths};
use super::lanes::distribute;
use super::plan::{BLOCK, Function, Places, Step, Threads, Total, WORKERS};
use super::rewrite::{loaded, replace_statements, substitute, without_dead};
use super::segment::Builder;
use crate::format::IndexWidth;
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Parallel, ReduceOperator, Sharing, Statement, Type,
    VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Arrays of at most so many elements are a thread's own: registers, where all indices are known.
const SMALL: u64 = 64;

impl Builder {
    /// Launches for a parallel loop; `views` stand before what uses them.
    pub(super) fn league(&mut self, parallel: &Parallel) -> Result<(), Refusal> {
        let (place, body) = self.one_place(parallel);
        let begin = self.on_host(&parallel.begin);
        let end = self.on_host(&parallel.end);
        let atomic: BTreeSet<ArrayId> = parallel.sharing.iter().filter_map(private).collect();
        let joined: Vec<append::Appended> = parallel.sharing.iter().filter_map(joined).collect();
        let totals = self.totals(parallel);
        let places = Places { place, begin: begin.clone(), end: end.clone(), worker: None, lane: None };
        let count = end.minus(begin.clone());
        let league = League { places, count: count.clone(), atomic, totals };
        if joined.is_empty() {
            let what = format!("a thread for each {}", self.module.kernel.variable(place).name);
            return self.launch(&league, body, &what, true);
        }
        let chunk = Expr::Variable(place).minus(begin);
        let kernel = &mut self.module.kernel;
        let parts = append::take_apart(kernel, &body, &joined, Lengths::OfChunk, &chunk, &mut self.histories)?;
        for (offsets, _) in &parts.offsets {
            let length = count.clone().plus(Expr::Index(1));
            self.module.steps.push(Step::Make { array: *offsets, length, fill: Some(Expr::Index(0)) });
        }
        let name = self.module.kernel.variable(place).name.clone();
        let counting = League { atomic: BTreeSet::new(), totals: Vec::new(), ..league.clone() };
        self.launch(&counting, parts.count, &format!("counts what each {name} appends"), false)?;
        self.lengthen(&parts.offsets, &count);
        self.launch(&league, parts.write, &format!("writes what each {name} appends"), true)
    }

    /// Room for what was counted, and where each chunk begins.
    pub(super) fn lengthen(&mut self, offsets: &[(ArrayId, Vec<ArrayId>)], chunks: &Expr) {
        for (offsets, arrays) in offsets {
            // Arrays that are appended to together have one length.
            self.module.steps.push(Step::Scan { array: *offsets, first: Expr::Length(arrays[0]) });
            for array in arrays {
                let length = Expr::load(*offsets, chunks.clone());
                self.module.steps.push(Step::Lengthen { array: *array, length });
            }
        }
    }

    /// The body for a chunk of one place.
    fn one_place(&mut self, parallel: &Parallel) -> (VariableId, Vec<Statement>) {
        let kernel = &mut self.module.kernel;
        let mut body = parallel.body.clone();
        // A loop over the chunk's places is over one: its counter is the place.
        let counters: Vec<VariableId> = body.iter().filter_map(|statement| counter(statement, parallel)).collect();
        let place = match &counters[..] {
            [only] => *only,
            _ => kernel.declare_index("place"),
        };
        body = body
            .into_iter()
            .flat_map(|statement| match statement {
                Statement::For { variable, body, .. } if counters.contains(&variable) => {
                    let is_place = variable == place;
                    let counter = (!is_place).then_some(Statement::Let(variable, Expr::Variable(place)));
                    counter.into_iter().chain(body).collect()
                }
                other => vec![other],
            })
            .collect();
        let next = Expr::Variable(place).plus(Expr::Index(1));
        let Some(array) = parallel.aligned else {
            let values = BTreeMap::from([(parallel.low, Expr::Variable(place)), (parallel.high, next)]);
            substitute(&mut body, &values);
            return (place, body);
        };
        // A run of equal elements is one chunk: that of the thread at its first place.
        let high = kernel.declare_variable("run_end", Type::Index, true);
        let own = Expr::load(array, Expr::Variable(place));
        let before = Expr::load(array, Expr::Variable(place).minus(Expr::Index(1)));
        let is_at_begin = Expr::binary(BinaryOperator::Equal, Expr::Variable(place), parallel.begin.clone());
        let differs = Expr::binary(BinaryOperator::NotEqual, before, own.clone());
        let is_first = Expr::binary(BinaryOperator::Or, is_at_begin, differs);
        let goes_on = Expr::Variable(high).less(parallel.end.clone());
        let goes_on = goes_on.and(Expr::load(array, Expr::Variable(high)).equals(own));
        let values = BTreeMap::from([(parallel.low, Expr::Variable(place)), (parallel.high, Expr::Variable(high))]);
        substitute(&mut body, &values);
        let step = Statement::Assign(high, Expr::Variable(high).plus(Expr::Index(1)));
        let mut run = vec![Statement::Let(high, next), Statement::While(goes_on, vec![step])];
        run.extend(body);
        (place, vec![Statement::If(vec![(is_first, run)], Vec::new())])
    }

    /// What a thread has of each variable that the loop reduces into.
    fn totals(&mut self, parallel: &Parallel) -> Vec<Total> {
        let total = |(variable, operator): &(VariableId, ReduceOperator)| Total {
            variable: *variable,
            operator: *operator,
            cell: self.cell(*variable),
        };
        parallel.reductions.iter().map(total).collect()
    }

    /// A launch of a body, which becomes a function.
    fn launch(&mut self, league: &League, body: Vec<Statement>, what: &str, in_lanes: bool) -> Result<(), Refusal> {
        let kernel = &mut self.module.kernel;
        let mut places = league.places.clone();
        let mut body = body;
        let mut comment = what.to_owned();
        if in_lanes
            && league.totals.is_empty()
            && let Some((distributed, lane)) = distribute(kernel, &body)
        {
            let (name, row) = (kernel.variable(places.place).name.clone(), kernel.variable(lane.variable).name.clone());
            comment = format!("a thread for each {name} and {row}");
            let why = format!("all vector loops go over {row}: neighbours in a warp are neighbours in memory");
            self.decide(format!("threads run over {name} and over {row}"), &why);
            body = distributed;
            places.lane = Some(lane);
        } else {
            let name = kernel.variable(places.place).name.clone();
            let why = "no row is shared by all that a place does, or threads would wait for each other";
            self.decide(format!("each {name} has a thread"), why);
        }
        let kernel = &mut self.module.kernel;
        let worker = kernel.declare_index("worker");
        let launched = places.lane.is_none().then_some(worker);
        let scratch = take_scratch(kernel, &mut body, Expr::Variable(worker))?;
        let has_scratch = !scratch.is_empty();
        let workers = (has_scratch || !league.totals.is_empty()).then_some(WORKERS);
        if let Some(most) = workers {
            if launched.is_none() {
                let help = "use the Rust backend".to_owned();
                return Err(Refusal::new("rows of several lengths meet in one loop", help));
            }
            places.worker = Some(worker);
            let threads = threads(&league.count, most);
            for (array, length) in scratch {
                let length = self.on_host(&length);
                self.module.steps.push(Step::Make { array, length: threads.clone().times(length), fill: None });
            }
        }
        let body = without_dead(&self.module.kernel, body, &league.totals);
        let lanes = places.lane.as_ref().map(|lane| lane.extent.clone());
        let function = self.function(Function {
            name: String::new(),
            comment,
            threads: Threads::Each(places),
            body,
            atomic: league.atomic.clone(),
            totals: league.totals.clone(),
        })?;
        self.module.steps.push(Step::Launch { function, places: league.count.clone(), lanes, workers });
        Ok(())
    }
}

/// What several launches of one loop have in common.
#[derive(Clone)]
struct League {
    places: Places,
    count: Expr,
    atomic: BTreeSet<ArrayId>,
    totals: Vec<Total>,
}

/// The number of threads that are launched for so many places, at most `most`: whole blocks.
fn threads(places: &Expr, most: u64) -> Expr {
    let blocks = Expr::binary(BinaryOperator::Divide, places.clone().plus(Expr::Index(BLOCK - 1)), Expr::Index(BLOCK));
    Expr::binary(BinaryOperator::Minimum, blocks.times(Expr::Index(BLOCK)), Expr::Index(most))
}

/// Gives every array that a thread allocates, unless it is small, a part of one in the device's memory: that, with the length
/// of a part.
pub(super) fn take_scratch(
    kernel: &mut Kernel,
    body: &mut Vec<Statement>,
    worker: Expr,
) -> Result<Vec<(ArrayId, Expr)>, Refusal> {
    let mut scratch = Vec::new();
    let mut unknown = None;
    let statements = std::mem::take(body);
    *body = replace_statements(statements, &mut |statement| match statement {
        Statement::Allocate { array, length: Expr::Index(length), fill } if length <= SMALL => {
            vec![Statement::Allocate { array, length: Expr::Index(length), fill }]
        }
        Statement::Allocate { array, length, fill } => {
            let declared = kernel.array(array).clone();
            if !constant(&length) {
                unknown = Some(declared.name.clone());
            }
            let all = kernel.declare_array(&format!("{}_scratch", declared.name), declared.element, ArrayRole::Local);
            scratch.push((all, length.clone()));
            let begin = worker.clone().times(length.clone());
            let view = Statement::View { array, of: all, begin, length, mutable: true };
            vec![view, Statement::Fill(array, fill)]
        }
        other => vec![other],
    });
    match unknown {
        Some(name) => Err(Refusal::new(
            format!("the length of the temporary `{name}` is known only where it is made"),
            "use the Rust backend",
        )),
        None => Ok(scratch),
    }
}

fn private((array, sharing): &(ArrayId, Sharing)) -> Option<ArrayId> {
    matches!(sharing, Sharing::Private(_) | Sharing::Segmented { .. }).then_some(*array)
}

fn joined((array, sharing): &(ArrayId, Sharing)) -> Option<append::Appended> {
    match sharing {
        Sharing::Joined { positions_of } => Some((*array, *positions_of)),
        _ => None,
    }
}

/// The counter of a loop over all places of a chunk.
fn counter(statement: &Statement, parallel: &Parallel) -> Option<VariableId> {
    match statement {
        Statement::For { variable, begin, end, .. }
            if *begin == Expr::Variable(parallel.low) && *end == Expr::Variable(parallel.high) =>
        {
            Some(*variable)
        }
        _ => None,
    }
}

/// Whether a body reads what several chunks update: each would see its own part alone.
pub(super) fn reads_private(parallel: &Parallel) -> bool {
    let read = loaded(&parallel.body);
    parallel.sharing.iter().filter_map(private).any(|array| read.contains(&array))
}

/// The element of a cell that holds a variable.
pub(super) fn cell_element(ty: Type) -> ArrayElement {
    match ty {
        Type::Index => ArrayElement::Index(IndexWidth::U64),
        Type::Bool => ArrayElement::Value(crate::ir::ElementType::Bool),
        Type::Element(element) => ArrayElement::Value(element),
    }
}

/// Steps that a plan has room for.
pub(super) fn constant(expr: &Expr) -> bool {
    let mut is_constant = true;
    expr.for_each(&mut |expr| is_constant &= !matches!(expr, Expr::Variable(_) | Expr::Load(..) | Expr::Search { .. }));
    is_constant
}
