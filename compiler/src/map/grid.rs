//! Launches of a body over a grid of places: a thread for each place, a group of them, or one for each place and element of a row.

use super::lanes::Scatter;
use super::once::once;
use super::privatized::{Copied, Copies};
use super::work_item::Team;
use crate::gpu::plan::{BLOCK, Function, Owned, Places, SCRATCH, Step, Threads, Total, WORKERS, together};
use crate::gpu::rewrite::substitute;
use crate::gpu::{Builder, Refusal, Scratch, take_scratch};
use crate::ir::{
    ArrayId, BinaryOperator, Expr, Kernel, Parallel, ReduceOperator, Sharing, Statement, Type, VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

impl Builder {
    /// The places of a loop, with the body for one of them.
    pub(super) fn places_of(&mut self, parallel: &Parallel) -> (Grid, Vec<Statement>) {
        let (place, body) = self.one_place(parallel);
        let body = once(&self.module.kernel, body, place);
        let begin = self.on_host(&parallel.begin);
        let end = self.on_host(&parallel.end);
        let (copied, atomic) = self.updated(parallel);
        let totals = self.totals(parallel);
        let count = end.clone().minus(begin.clone());
        let places = Places { place, begin, end, worker: None, workers: None, share: None, lanes: None };
        (Grid { atomic, copied, totals, kept: kept(parallel), ..Grid::of_places(places, count) }, body)
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

    /// A launch of a body, which becomes a function; `what` it is done for. What workers have copies of is still to be combined.
    pub(super) fn launch_all(
        &mut self,
        grid: &Grid,
        team: Team,
        body: Vec<Statement>,
        lanes: Option<Expr>,
        what: &str,
    ) -> Result<Vec<Copies>, Refusal> {
        let mut places = grid.places.clone();
        let mut body = body;
        let scatters = grid.scatters(&self.module.kernel, &body);
        self.decide_team(&team, places.place, scatters);
        self.decide_meetings(grid, &team);
        let worker = self.module.kernel.declare_index("worker");
        let copies = self.copies(&grid.copied, worker, &mut body);
        let mut all = self.mapped(&team, body, lanes, scatters, what);
        let mut scratch = Vec::new();
        for (_, mapped) in &mut all {
            let kernel = &mut self.module.kernel;
            scratch.extend(take_scratch(kernel, &mut mapped.body, Expr::Variable(worker), &grid.kept)?);
        }
        let has_scratch = !scratch.is_empty();
        if team != Team::Thread && (has_scratch || !grid.totals.is_empty()) {
            let help = "use the Rust backend".to_owned();
            return Err(Refusal::new("rows of several lengths meet in one loop", help));
        }
        let mut workers = (has_scratch || !grid.totals.is_empty()).then_some(Expr::Index(WORKERS));
        if has_scratch {
            workers = Some(self.most_workers(&scratch));
        }
        if !copies.is_empty() {
            let most = self.most_copies(&grid.copied, grid.tasks());
            let most = match workers {
                Some(other) => Expr::binary(BinaryOperator::Minimum, most, other),
                None => most,
            };
            places.workers = Some(most.clone());
            workers = Some(most);
        }
        if let Some(most) = &workers {
            places.worker = Some(worker);
            let threads = places.workers.clone().unwrap_or_else(|| threads(&grid.count, most));
            for Scratch { array, length, fill } in scratch {
                let length = self.on_host(&length);
                self.module.steps.push(Step::Make { array, length: threads.clone().times(length), fill });
            }
            copies.iter().for_each(|copies| self.make_copies(copies, most));
            self.make_parts(&grid.totals, &grid.tasks(), most);
        }
        let mut launches = Vec::new();
        for (condition, mapped) in all {
            let places = Places { lanes: mapped.lanes, ..places.clone() };
            let function = self.function(Function {
                name: String::new(),
                comment: mapped.comment,
                threads: Threads::Each(Box::new(places)),
                body: mapped.body,
                atomic: grid.atomic.clone(),
                owned: grid.owned.clone(),
                tiles: Vec::new(),
                tables: Vec::new(),
                block: BLOCK,
                totals: grid.totals.clone(),
            })?;
            let (places, lanes, workers) = (grid.count.clone(), mapped.threads, workers.clone());
            let launch = Step::Launch { function, places, lanes, workers, blocks: None };
            launches = match condition {
                Some(condition) => vec![Step::Choose { condition, then: vec![launch], otherwise: launches }],
                None => vec![launch],
            };
        }
        self.module.steps.append(&mut launches);
        Ok(copies)
    }
}

impl Builder {
    /// Says where threads meet.
    fn decide_meetings(&mut self, grid: &Grid, team: &Team) {
        for &array in &grid.atomic {
            let name = self.module.kernel.array(array).name.clone();
            if grid.owned.iter().any(|owned| owned.array == array) {
                let why = "others may add to these; all segments between them are the share's own";
                self.decide(format!("the first and the last segment of {name} in a share are updated atomically"), why);
            } else if matches!(team, Team::Segments(_)) {
                let why = "the warps before and behind it may have more of it";
                self.decide(format!("a warp adds what it has of an element of {name} by one atomic operation"), why);
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
pub(super) struct Grid {
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

impl Grid {
    /// Places at which threads meet in nothing.
    pub(super) fn of_places(places: Places, count: Expr) -> Self {
        let (owned, copied, totals) = (Vec::new(), Vec::new(), Vec::new());
        Self { places, count, atomic: BTreeSet::new(), owned, copied, totals, kept: BTreeSet::new() }
    }

    /// Where a body adds to elements that others add to as well, other than at the ends of shares.
    fn scatters(&self, kernel: &Kernel, body: &[Statement]) -> Scatter {
        let is_shared =
            |array: &ArrayId| self.atomic.contains(array) && self.owned.iter().all(|owned| owned.array != *array);
        let adds = |statement: &Statement| matches!(statement, Statement::Reduce(array, ..) if is_shared(array));
        let is_loop = |statement: &Statement| matches!(statement, Statement::For { vector: false, .. });
        let is_together = |statement: &Statement| match statement {
            Statement::Reduce(array, _, operator, _) => together(kernel, *array, *operator),
            _ => true,
        };
        let mut scatter = Scatter::Nowhere;
        let mut is_neighbours = true;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if adds(statement) {
                    is_neighbours &= is_together(statement);
                    scatter = scatter.max(Scatter::Rows);
                }
                if is_loop(statement) {
                    let inside = || statement.blocks().into_iter().flatten();
                    if any(inside(), &adds) && !any(inside(), &is_loop) {
                        scatter = Scatter::Entries;
                    }
                }
            });
        });
        if is_neighbours && scatter != Scatter::Nowhere { Scatter::Neighbours } else { scatter }
    }

    /// How many places, or shares of them, there are.
    pub(super) fn tasks(&self) -> Expr {
        match &self.places.share {
            Some(share) => shares_of(&self.count, &share.value),
            None => self.count.clone(),
        }
    }
}

/// Whether some statement, or one in it, is such.
fn any<'s>(statements: impl Iterator<Item = &'s Statement>, is: &dyn Fn(&Statement) -> bool) -> bool {
    let mut found = false;
    statements.for_each(|statement| statement.for_each(&mut |statement| found |= is(statement)));
    found
}

/// What a chunk makes before the only loop over its places. Results do not depend on where chunks begin, so each place leaves all as
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

/// How many shares some places make.
pub(super) fn shares_of(count: &Expr, size: &Expr) -> Expr {
    let up = count.clone().plus(size.clone().minus(Expr::Index(1)));
    Expr::binary(BinaryOperator::Divide, up, size.clone())
}

/// Whether chunks reduce into segments, of which neighbours may meet.
pub(super) fn is_segmented(parallel: &Parallel) -> bool {
    parallel.sharing.iter().any(|(_, sharing)| matches!(sharing, Sharing::Segmented { .. }))
}
