//! Equal shares of what a parallel loop has to do, and which way is taken when the data are there.
//!
//! A loop over places is launched with threads for each. Where single places have most of the work, or places are few, the same
//! is done over shares of entries ([`Parallel::uneven`]): a share is found by search, and where two of them meet in one
//! segment of a result, each adds what it has by one atomic operation (Merrill and Garland, Merge-based parallel sparse
//! matrix-vector multiplication, 2016; Liu et al., A unified optimization approach for sparse tensor operations on GPUs, 2017).
//! The host measures the longest place and chooses:
//!
//! ```text
//! measure longest                    of all places
//! if 256 < longest && …
//!     launch over shares of entries
//! else
//!     launch over places
//! ```

use super::children::replaced;
use super::grid::{Grid, shares_of};
use super::ordered::Border;
use super::places::over_places;
use super::privatized::Copied;
use super::strategy::{Emit, Loop, Refused, Strategy};
use super::warp_per_row::Iterations;
use super::work_item::{Mapped, Team};
use crate::format::IndexWidth;
use crate::gpu::plan::{BLOCK, Function, Meet, Places, Share, Step, Threads, Total};
use crate::gpu::{Builder, Refusal, clamped};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Parallel, ReduceOperator, Statement, Type, VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// Shares are as large as it takes to have so many of them, within [`SMALLEST`] and [`LARGEST`].
const SHARES: u64 = 1 << 13;

/// The fewest entries of a share: fewer are not worth the search.
const SMALLEST: u64 = 32;

/// The most entries of a share: more would leave the last ones alone on the device.
pub(super) const LARGEST: u64 = 128;

/// A place of so many entries is not long, for a group of lanes and for a thread.
const LONG: (u64, u64) = (256, 64);

/// Fewer places than this leave a device idle.
const FEW_PLACES: u64 = 1 << 11;

/// Places are uneven where the longest has so many times the work of all on average.
const UNEVEN: u64 = 4;

/// A load-balanced partition of entries where places are uneven, else places.
pub(super) struct Nonzeros;

impl Strategy for Nonzeros {
    fn name(&self) -> &'static str {
        "a load-balanced partition of entries, or a grid of places"
    }

    fn fits<'a>(&self, _: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        let uneven = node.parallel.uneven.as_deref().ok_or(Refused::NoEntries)?;
        if !node.parallel.reductions.is_empty() {
            return Err(Refused::Reduces);
        }
        Ok(Box::new(|builder| builder.shares_or_places(node, uneven)))
    }
}

impl Builder {
    /// Launches over places and over shares of entries, and what chooses.
    fn shares_or_places(&mut self, node: &Loop, uneven: &Parallel) -> Result<(), Refusal> {
        let even = &node.places;
        let rows = self.on_host(&even.end).minus(self.on_host(&even.begin));
        let mut is_grouped = false;
        let over_places = self.branch(|builder| {
            let team = over_places(builder, even)?;
            is_grouped = matches!(team, Team::Group(_, Some(Iterations::Elements { .. })));
            Ok(())
        })?;
        let scan = self.rows_scan(uneven);
        let over_shares = self.branch(|builder| match scan {
            Some(scan) => builder.launch_rows(scan),
            None => builder.shares(uneven, Some(&rows)),
        })?;
        let in_shares = over_shares.clone();
        let plain = self.branch(|builder| {
            let Some(condition) = builder.measured(even, is_grouped)? else {
                builder.module.steps.extend(over_places);
                return Ok(());
            };
            let why = "threads for each place would wait for the one with the longest place, or be too few";
            builder.decide("shares of entries are equal where places are long and uneven, or few".to_owned(), why);
            builder.module.steps.push(Step::Choose { condition, then: over_shares, otherwise: over_places });
            Ok(())
        })?;
        // Short rows are summed in a load-balanced partition, for even and uneven places.
        self.choose_tiles(&node.parallel, &in_shares, plain);
        Ok(())
    }

    /// Launches over shares of a range: the threads of each run its body.
    pub(super) fn shares(&mut self, parallel: &Parallel, rows: Option<&Expr>) -> Result<(), Refusal> {
        let (begin, end) = (self.on_host(&parallel.begin), self.on_host(&parallel.end));
        let count = end.clone().minus(begin.clone());
        let (ordered, updated) = self.borders(parallel);
        let Cut { team, body, atomic, copied, is_apart } = self.cut(parallel, &ordered, &updated);
        let body = super::empty_rows::skipped(&mut self.module.kernel, body);
        let size = self.module.kernel.declare_index("size");
        let bounded = ordered.iter().chain(&updated).filter(|_| is_apart);
        let mut body = self.begun(parallel, size, &end, body, bounded);
        // Atomic operations on narrow elements touch those beside them.
        let is_wide = |border: &&Border| is_apart && self.bytes_of(border.array) >= 4;
        let owned = updated.iter().filter(is_wide).map(Border::owned).collect();
        let number = Expr::Variable(parallel.low).minus(begin.clone());
        let number = Expr::binary(BinaryOperator::Divide, number, Expr::Variable(size));
        let meetings = self.leave_at_borders(ordered, &number, &mut body);
        let lanes = self.lanes_of(&team, rows.unwrap_or(&count));
        let value = grain(&count);
        let shares = shares_of(&count, &value);
        meetings.iter().for_each(|meetings| self.make_meetings(meetings, &shares));
        let share = Some(Share { size, value: value.clone() });
        let (place, begins) = (parallel.low, begin.clone());
        let places = Places { place, begin, end, worker: None, workers: None, share, lanes: None };
        let grid = Grid { atomic, owned, copied, ..Grid::of_places(places, count) };
        self.launch(&grid, team, body, lanes, "for each equal share of entries")?;
        meetings.iter().try_for_each(|meetings| self.combine_meetings(meetings, &begins, &value))
    }

    /// The body of a share, which begins with where the share ends and what only it touches.
    fn begun<'b>(
        &self,
        parallel: &Parallel,
        size: VariableId,
        end: &Expr,
        body: Vec<Statement>,
        borders: impl Iterator<Item = &'b Border>,
    ) -> Vec<Statement> {
        let high = Expr::Variable(parallel.low).plus(Expr::Variable(size));
        let high = Expr::binary(BinaryOperator::Minimum, high, end.clone());
        let mut begun = vec![Statement::Let(parallel.high, high)];
        let is_search = |statement: &Statement| {
            matches!(statement, Statement::Let(..) | Statement::Comment(_) | Statement::Allocate { .. })
        };
        let searches = body.iter().take_while(|statement| is_search(statement)).count();
        let mut body = body.into_iter();
        begun.extend(body.by_ref().take(searches));
        let mut bounds = Vec::new();
        for border in borders {
            let all = self.length_of(border.array);
            let of_border = border.bounds(parallel.low, parallel.high, end, &all);
            bounds.extend(of_border.map(|bound| with_known(bound, &begun)));
        }
        begun.into_iter().chain(bounds).chain(body).collect()
    }

    /// How threads run a share. What only one share touches needs no atomic operation where lanes do not meet either.
    fn cut(&mut self, parallel: &Parallel, ordered: &[Border], updated: &[Border]) -> Cut {
        let (mut copied, all) = self.updated(parallel);
        copied.retain(|copied| ordered.iter().all(|border| border.array != copied.array));
        let is_updated = |array: &ArrayId| updated.iter().any(|border| border.array == *array);
        let anywhere: BTreeSet<ArrayId> = all.iter().filter(|array| !is_updated(array)).copied().collect();
        let apart: Vec<ArrayId> = ordered.iter().chain(updated).map(|border| border.array).collect();
        let apart: Vec<ArrayId> = copied.iter().map(|copied| copied.array).chain(apart).collect();
        let has_order = !copied.is_empty() || !ordered.is_empty();
        let by_lanes = self.team_apart(&parallel.body, &anywhere, &apart).map(Mapped::with_body);
        let (team, body, is_apart) = match by_lanes {
            Some((team, body)) if team != Team::Thread || has_order => (team, body, true),
            None if has_order => (Team::Thread, parallel.body.clone(), true),
            _ => {
                let (team, body) = self.team(&parallel.body, &all, true).with_body();
                let is_apart = team == Team::Thread;
                (team, body, is_apart)
            }
        };
        Cut { team, body, atomic: all, copied, is_apart }
    }

    /// Measures the longest place, and says when it is too long: `None` where it is not known what a place has to do.
    pub(super) fn measured(&mut self, parallel: &Parallel, is_grouped: bool) -> Result<Option<Expr>, Refusal> {
        let Some(work) = &parallel.work else { return Ok(None) };
        let (begin, end) = (self.on_host(&parallel.begin), self.on_host(&parallel.end));
        let before = |place: Expr| work.before.clone().substituted(&BTreeMap::from([(work.place, place)]));
        let all = self.on_host(&before(end.clone())).minus(self.on_host(&before(begin.clone())));
        let kernel = &mut self.module.kernel;
        let cell = kernel.declare_array("longest", ArrayElement::Index(IndexWidth::U64), ArrayRole::Local);
        let longest = kernel.declare_variable("most", Type::Index, true);
        let place = kernel.declare_index("place");
        let worker = kernel.declare_index("worker");
        let next = before(Expr::Variable(place).plus(Expr::Index(1)));
        let own = Expr::binary(BinaryOperator::Subtract, next, before(Expr::Variable(place)));
        let places = Places {
            place,
            begin: begin.clone(),
            end: end.clone(),
            worker: Some(worker),
            workers: None,
            share: None,
            lanes: None,
        };
        let function = self.function(Function {
            name: String::new(),
            comment: "measures the place that has most to do".to_owned(),
            threads: Threads::Each(Box::new(places)),
            body: vec![Statement::Update(longest, ReduceOperator::Max, own)],
            atomic: BTreeSet::new(),
            owned: Vec::new(),
            tiles: Vec::new(),
            tables: Vec::new(),
            block: BLOCK,
            totals: vec![Total { variable: longest, operator: ReduceOperator::Max, meet: Meet::Cell(cell) }],
        })?;
        let count = end.minus(begin);
        self.module.steps.push(Step::Measure { array: cell, function, places: count.clone() });
        let longest = Expr::load(cell, Expr::Index(0));
        let long = Expr::Index(if is_grouped { LONG.0 } else { LONG.1 });
        let uneven = all.times(Expr::Index(UNEVEN)).less(longest.clone().times(count.clone()));
        let few = count.less(Expr::Index(FEW_PLACES));
        Ok(Some(long.less(longest).and(Expr::binary(BinaryOperator::Or, uneven, few))))
    }
}

/// How threads run a share.
struct Cut {
    team: Team,
    body: Vec<Statement>,
    /// Arrays that shares update together.
    atomic: BTreeSet<ArrayId>,
    /// Arrays that workers have copies of.
    copied: Vec<Copied>,
    /// Whether a segment that only one share touches is touched by one thread at a time.
    is_apart: bool,
}

/// The number of entries of a share.
fn grain(count: &Expr) -> Expr {
    clamped(count.clone(), SHARES, SMALLEST, LARGEST)
}

/// A statement with variables in place of searches whose results they have.
fn with_known(statement: Statement, before: &[Statement]) -> Statement {
    let one = || Expr::Index(1);
    let mut statement = statement;
    for known in before {
        let (search, result) = match known {
            Statement::Let(variable, search @ Expr::Search { .. }) => (search, Expr::Variable(*variable)),
            Statement::Let(variable, Expr::Binary(BinaryOperator::Subtract, search, less))
                if **less == one() && matches!(**search, Expr::Search { .. }) =>
            {
                (&**search, Expr::Variable(*variable).plus(one()))
            }
            _ => continue,
        };
        statement.for_each_expr_mut(&mut |expr| {
            let with_result = replaced(std::mem::replace(expr, Expr::Index(0)), search, &result);
            *expr = replaced(with_result, &result.clone().minus(one()), &less_one(&result));
        });
    }
    statement
}

/// One less.
fn less_one(expr: &Expr) -> Expr {
    match expr {
        Expr::Binary(BinaryOperator::Add, expr, one) if **one == Expr::Index(1) => (**expr).clone(),
        other => other.clone().minus(Expr::Index(1)),
    }
}
