//! One parallel loop as launches: a thread for each place, a group of them, or one for each place and element of a row.

use super::Refusal;
use super::append::{self, Lengths};
use super::groups::Iterations;
use super::lanes::Row;
use super::once::once;
use super::ordered::Copied;
use super::plan::{BLOCK, Function, Owned, Places, SCRATCH, Step, Threads, Total, WORKERS};
use super::rewrite::{loaded, replace_statements, substitute};
use super::segment::Builder;
use super::shares::{is_segmented, shares_of};
use super::tables::{collects, flattened_body};
use super::ways::Way;
use crate::format::IndexWidth;
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Parallel, ReduceOperator, Sharing, Statement, Type,
    VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Arrays of at most so many elements are a thread's own: registers, where all indices are known.
pub(super) const SMALL: u64 = 64;

impl Builder {
    /// Launches for a parallel loop; `views` stand before what uses them.
    pub(super) fn league(&mut self, parallel: &Parallel) -> Result<(), Refusal> {
        self.sorted_or_copied(parallel, |builder| builder.plain_league(parallel))
    }

    /// The same, where what it adds is not sorted.
    pub(super) fn plain_league(&mut self, parallel: &Parallel) -> Result<(), Refusal> {
        if collects(parallel) {
            if self.collected_places(parallel)? {
                return Ok(());
            }
            let loops = vec![Statement::Parallel(Box::new(parallel.clone()))];
            let mut loops = flattened_body(&mut self.module.kernel, loops);
            if let Some(Statement::Parallel(parallel)) = loops.pop() {
                return self.appended_places(&parallel);
            }
        }
        if parallel.sharing.iter().any(|sharing| joined(sharing).is_some()) {
            return self.appended_places(parallel);
        }
        let even = self.descended(parallel).unwrap_or_else(|| parallel.clone());
        let Some(uneven) = parallel.uneven.as_deref().filter(|_| parallel.reductions.is_empty()) else {
            let plain = self.branch(|builder| builder.one_way(&even))?;
            self.choose_tiles(parallel, &plain.clone(), plain);
            return Ok(());
        };
        let rows = self.on_host(&even.end).minus(self.on_host(&even.begin));
        let mut is_grouped = false;
        let over_places = self.branch(|builder| {
            let way = builder.over_places(&even)?;
            is_grouped = matches!(way, Way::Group(_, Some(Iterations::Elements(_))));
            Ok(())
        })?;
        let over_shares = self.branch(|builder| builder.shares(uneven, Some(&rows)))?;
        let in_shares = over_shares.clone();
        let plain = self.branch(|builder| {
            let Some(condition) = builder.measured(&even, is_grouped)? else {
                builder.module.steps.extend(over_places);
                return Ok(());
            };
            let why = "threads for each place would wait for the one with the longest place, or be too few";
            builder.decide("shares of entries are equal where places are long and uneven, or few".to_owned(), why);
            builder.module.steps.push(Step::Choose { condition, then: over_shares, otherwise: over_places });
            Ok(())
        })?;
        // What is short gets sums of equal shares, whatever the places are like.
        self.choose_tiles(parallel, &in_shares, plain);
        Ok(())
    }

    /// Launches for a loop that runs in one way, whatever the data are.
    fn one_way(&mut self, parallel: &Parallel) -> Result<(), Refusal> {
        let is_plain = parallel.aligned.is_none() && parallel.reductions.is_empty();
        let is_by_rows = || Row::of(&self.module.kernel, &parallel.body).is_some();
        if is_plain && is_segmented(parallel) && (self.has_ordered_segments(parallel) || is_by_rows()) {
            let why = "what a share adds to one segment is summed in registers, and meets that of others once";
            self.decide("places are taken in equal shares".to_owned(), why);
            return self.shares(parallel, None);
        }
        if is_plain && self.segments(parallel)? {
            return Ok(());
        }
        self.over_places(parallel).map(|_| ())
    }

    /// A launch with threads for each place.
    fn over_places(&mut self, parallel: &Parallel) -> Result<Way, Refusal> {
        let (league, body) = self.places_of(parallel);
        let what = format!("for each {}", self.module.kernel.variable(league.places.place).name);
        let apart: Vec<ArrayId> = league.copied.iter().map(|copied| copied.array).collect();
        let way = match league.totals.is_empty() && (apart.is_empty() || parallel.aligned.is_none()) {
            true if apart.is_empty() => self.way(&body, &league.atomic, parallel.aligned.is_none()),
            true => self.way_apart(&body, &league.atomic, &apart).unwrap_or_else(|| Way::Thread.holding(body)),
            false => Way::Thread.holding(body),
        };
        let (way, body) = way.with_body();
        let lanes = self.lanes_of(&way, &league.count);
        self.launch_way(&league, way.clone(), body, lanes, &what)?;
        Ok(way)
    }

    /// The places of a loop, with the body for one of them.
    pub(super) fn places_of(&mut self, parallel: &Parallel) -> (League, Vec<Statement>) {
        let (place, body) = self.one_place(parallel);
        let body = once(&self.module.kernel, body, place);
        let begin = self.on_host(&parallel.begin);
        let end = self.on_host(&parallel.end);
        let (copied, atomic) = self.updated(parallel);
        let totals = self.totals(parallel);
        let count = end.clone().minus(begin.clone());
        let places = Places { place, begin, end, worker: None, workers: None, share: None, lanes: None };
        (League { atomic, copied, totals, kept: kept(parallel), ..League::of_places(places, count) }, body)
    }

    /// Launches for a loop that appends: one counts, one writes.
    fn appended_places(&mut self, parallel: &Parallel) -> Result<(), Refusal> {
        let joined: Vec<append::Appended> = parallel.sharing.iter().filter_map(joined).collect();
        let (league, body) = self.places_of(parallel);
        let chunk = Expr::Variable(league.places.place).minus(league.places.begin.clone());
        let kernel = &mut self.module.kernel;
        let parts = append::take_apart(kernel, &body, &joined, Lengths::OfChunk, &chunk, &mut self.histories)?;
        for (offsets, _) in &parts.offsets {
            let length = league.count.clone().plus(Expr::Index(1));
            self.module.steps.push(Step::Make { array: *offsets, length, fill: Some(Expr::Index(0)) });
        }
        let name = self.module.kernel.variable(league.places.place).name.clone();
        let counting = League { atomic: BTreeSet::new(), copied: Vec::new(), totals: Vec::new(), ..league.clone() };
        let what = format!("counts what each {name} appends");
        self.launch_way(&counting, Way::Thread, parts.count, None, &what)?;
        self.lengthen(&parts.offsets, &league.count);
        let what = format!("writes what each {name} appends");
        let (way, body) = match league.totals.is_empty() && league.copied.is_empty() {
            true => self.row_or_thread(parts.write).with_body(),
            false => (Way::Thread, parts.write),
        };
        let lanes = self.lanes_of(&way, &league.count);
        self.launch_way(&league, way, body, lanes, &what)
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
        let mut total = |(variable, operator): &(VariableId, ReduceOperator)| Total {
            variable: *variable,
            operator: *operator,
            meet: self.meeting(*variable, *operator),
        };
        parallel.reductions.iter().map(&mut total).collect()
    }

    /// A launch of a body, which becomes a function; `what` it is done for.
    pub(super) fn launch_way(
        &mut self,
        league: &League,
        way: Way,
        body: Vec<Statement>,
        lanes: Option<Expr>,
        what: &str,
    ) -> Result<(), Refusal> {
        let mut places = league.places.clone();
        let mut body = body;
        self.decide_way(&way, places.place);
        self.decide_meetings(league);
        let worker = self.module.kernel.declare_index("worker");
        let copies = self.copies(league, worker, &mut body);
        let mut all = self.mapped(&way, body, lanes, what);
        let mut scratch = Vec::new();
        for (_, mapped) in &mut all {
            let kernel = &mut self.module.kernel;
            scratch.extend(take_scratch(kernel, &mut mapped.body, Expr::Variable(worker), &league.kept)?);
        }
        let has_scratch = !scratch.is_empty();
        if way != Way::Thread && (has_scratch || !league.totals.is_empty()) {
            let help = "use the Rust backend".to_owned();
            return Err(Refusal::new("rows of several lengths meet in one loop", help));
        }
        let mut workers = (has_scratch || !league.totals.is_empty()).then_some(Expr::Index(WORKERS));
        if has_scratch {
            workers = Some(self.most_workers(&scratch));
        }
        if !copies.is_empty() {
            let most = self.most_copies(&league.copied, league.tasks());
            let most = match workers {
                Some(other) => Expr::binary(BinaryOperator::Minimum, most, other),
                None => most,
            };
            places.workers = Some(most.clone());
            workers = Some(most);
        }
        if let Some(most) = &workers {
            places.worker = Some(worker);
            let threads = places.workers.clone().unwrap_or_else(|| threads(&league.count, most));
            for Scratch { array, length, fill } in scratch {
                let length = self.on_host(&length);
                self.module.steps.push(Step::Make { array, length: threads.clone().times(length), fill });
            }
            copies.iter().for_each(|copies| self.make_copies(copies, most));
            self.make_parts(league, most);
        }
        let mut launches = Vec::new();
        for (condition, mapped) in all {
            let places = Places { lanes: mapped.lanes, ..places.clone() };
            let function = self.function(Function {
                name: String::new(),
                comment: mapped.comment,
                threads: Threads::Each(Box::new(places)),
                body: mapped.body,
                atomic: league.atomic.clone(),
                owned: league.owned.clone(),
                tiles: Vec::new(),
                tables: Vec::new(),
                block: BLOCK,
                totals: league.totals.clone(),
            })?;
            let (places, lanes, workers) = (league.count.clone(), mapped.threads, workers.clone());
            let launch = Step::Launch { function, places, lanes, workers, blocks: None };
            launches = match condition {
                Some(condition) => vec![Step::Choose { condition, then: vec![launch], otherwise: launches }],
                None => vec![launch],
            };
        }
        self.module.steps.append(&mut launches);
        for copies in copies {
            self.combine_copies(&copies)?;
        }
        league.totals.iter().try_for_each(|total| self.combine_parts(*total))
    }
}

impl Builder {
    /// Says where threads meet.
    fn decide_meetings(&mut self, league: &League) {
        for &array in &league.atomic {
            let name = self.module.kernel.array(array).name.clone();
            if league.owned.iter().any(|owned| owned.array == array) {
                let why = "others may add to these; all segments between them are the share's own";
                self.decide(format!("the first and the last segment of {name} in a share are updated atomically"), why);
            } else {
                let why = "they may meet in any element; where a format has the indices of the result outermost, \
                           as a csf with that mode first, each place owns its rows";
                self.decide(format!("threads update {name} atomically"), why);
            }
        }
    }

    /// As many threads as there is memory for, whole blocks.
    fn most_workers(&mut self, scratch: &[Scratch]) -> Expr {
        let bytes = |builder: &mut Self, scratch: &Scratch| {
            let width = builder.bytes_of(scratch.array);
            builder.on_host(&scratch.length).times(Expr::Index(width))
        };
        let bytes = scratch.iter().map(|scratch| bytes(self, scratch)).fold(Expr::Index(BLOCK), Expr::plus);
        let blocks = Expr::binary(BinaryOperator::Divide, Expr::Index(SCRATCH / BLOCK), bytes);
        let blocks = Expr::binary(BinaryOperator::Maximum, blocks, Expr::Index(1));
        Expr::binary(BinaryOperator::Minimum, blocks, Expr::Index(WORKERS / BLOCK)).times(Expr::Index(BLOCK))
    }
}

/// What several launches of one loop have in common.
#[derive(Clone)]
pub(super) struct League {
    pub places: Places,
    pub count: Expr,
    pub atomic: BTreeSet<ArrayId>,
    /// Elements of these that only one share touches.
    pub owned: Vec<Owned>,
    /// Arrays that threads have copies of.
    pub copied: Vec<Copied>,
    pub totals: Vec<Total>,
    /// Arrays that a chunk makes once for all of its places: each place leaves them as it found them.
    pub kept: BTreeSet<ArrayId>,
}

impl League {
    /// Places at which threads meet in nothing.
    pub(super) fn of_places(places: Places, count: Expr) -> Self {
        let (owned, copied, totals) = (Vec::new(), Vec::new(), Vec::new());
        Self { places, count, atomic: BTreeSet::new(), owned, copied, totals, kept: BTreeSet::new() }
    }

    /// How many places, or shares of them, there are.
    pub(super) fn tasks(&self) -> Expr {
        match &self.places.share {
            Some(share) => shares_of(&self.count, &share.value),
            None => self.count.clone(),
        }
    }
}

/// What a chunk makes before the only loop over its places. Where a chunk begins is nobody's concern, so each place leaves all as
/// it was at first.
fn kept(parallel: &Parallel) -> BTreeSet<ArrayId> {
    let is_loop = |statement: &&Statement| counter(statement, parallel).is_some();
    let is_other = |statement: &&Statement| {
        let is_count = matches!(statement, Statement::Let(_, Expr::Index(_)));
        let is_made = matches!(statement, Statement::Allocate { .. } | Statement::Bitmap { .. } | Statement::List(_));
        !is_count && !is_made && !matches!(statement, Statement::Comment(_))
    };
    let others: Vec<&Statement> = parallel.body.iter().filter(is_other).collect();
    if others.len() != 1 || !is_loop(&others[0]) || parallel.aligned.is_some() {
        return BTreeSet::new();
    }
    let made = parallel.body.iter().filter_map(|statement| match statement {
        Statement::Allocate { array, .. } => Some(*array),
        _ => None,
    });
    made.collect()
}

/// The number of threads that are launched for so many places, at most `most`: whole blocks.
fn threads(places: &Expr, most: &Expr) -> Expr {
    let blocks = Expr::binary(BinaryOperator::Divide, places.clone().plus(Expr::Index(BLOCK - 1)), Expr::Index(BLOCK));
    Expr::binary(BinaryOperator::Minimum, blocks.times(Expr::Index(BLOCK)), most.clone())
}

/// Memory that threads have for themselves.
pub(super) struct Scratch {
    /// An array of all threads.
    pub array: ArrayId,
    /// The length of a thread's part.
    pub length: Expr,
    /// What it holds at first, where threads do not fill it themselves.
    pub fill: Option<Expr>,
}

/// Gives every array that a thread allocates, unless it is small, a part of one in the device's memory. Those that are `kept` are
/// not filled for each place.
pub(super) fn take_scratch(
    kernel: &mut Kernel,
    body: &mut Vec<Statement>,
    worker: Expr,
    kept: &BTreeSet<ArrayId>,
) -> Result<Vec<Scratch>, Refusal> {
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
            let is_kept = kept.contains(&array) && constant(&fill);
            let first = is_kept.then(|| fill.clone());
            scratch.push(Scratch { array: all, length: length.clone(), fill: first });
            let begin = worker.clone().times(length.clone());
            let view = Statement::View { array, of: all, begin, length, mutable: true };
            std::iter::once(view).chain((!is_kept).then_some(Statement::Fill(array, fill))).collect()
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

pub(super) fn private((array, sharing): &(ArrayId, Sharing)) -> Option<ArrayId> {
    matches!(sharing, Sharing::Private(_) | Sharing::Segmented { .. }).then_some(*array)
}

pub(super) fn joined((array, sharing): &(ArrayId, Sharing)) -> Option<append::Appended> {
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
