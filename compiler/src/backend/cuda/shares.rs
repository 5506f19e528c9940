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

use super::Refusal;
use super::groups::{self, Iterations};
use super::league::League;
use super::ordered::{Border, Copied};
use super::plan::{BLOCK, Function, Meet, Places, Share, Step, Threads, Total, WARP};
use super::rewrite::substituted;
use super::segment::Builder;
use super::ways::{Mapped, Way};
use crate::format::IndexWidth;
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Parallel, ReduceOperator, Sharing, Statement, Type,
    VariableId, Work,
};
use std::collections::{BTreeMap, BTreeSet};

/// Shares are as large as it takes to have so many of them, within [`SMALLEST`] and [`LARGEST`].
const SHARES: u64 = 1 << 15;

/// The same, for steps of a warp.
const WARP_SHARES: u64 = 1 << 19;

/// The fewest entries of a share: fewer are not worth the search.
const SMALLEST: u64 = 32;

/// The most entries of a share: more would leave the last ones alone on the device.
const LARGEST: u64 = 256;

/// A place of so many entries is not long, for a group of lanes and for a thread.
const LONG: (u64, u64) = (256, 64);

/// Fewer places than this leave a device idle.
const FEW_PLACES: u64 = 1 << 11;

/// Places are uneven where the longest has so many times the work of all on average.
const UNEVEN: u64 = 4;

impl Builder {
    /// The loop over what its body loops over: where a chunk only runs through the children of its places, these are the places.
    ///
    /// ```text
    /// parallel low..high in 0..n                parallel low..high in pos[0]..pos[n]
    ///     for p in pos[low]..pos[high]              for p in low..high
    ///         y[p] = 2 * x[p]                           y[p] = 2 * x[p]
    /// ```
    pub(super) fn descended(&mut self, parallel: &Parallel) -> Option<Parallel> {
        let is_comment = |statement: &&Statement| matches!(statement, Statement::Comment(_));
        let rest: Vec<&Statement> = parallel.body.iter().filter(|statement| !is_comment(statement)).collect();
        let [Statement::For { variable, begin, end, body, vector }] = rest[..] else { return None };
        let at = |place: Expr| substituted(begin.clone(), &BTreeMap::from([(parallel.low, place)]));
        let is_chunk = *begin == Expr::Variable(parallel.low) || !begin.uses(parallel.low);
        let own = [parallel.low, parallel.high];
        let is_used = own.iter().any(|variable| body.iter().any(|statement| statement.uses(*variable)));
        if is_chunk || is_used || *end != at(Expr::Variable(parallel.high)) || parallel.aligned.is_some() {
            return None;
        }
        let atomic: BTreeSet<_> = parallel.sharing.iter().filter_map(super::league::private).collect();
        let kernel = &self.module.kernel;
        let mut apart = true;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                apart &= match statement {
                    Statement::Reduce(array, ..) if atomic.contains(array) => true,
                    Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => {
                        super::rewrite::allocated(&parallel.body).contains(array)
                            || *vector
                            || groups::is_injective(kernel, *variable, begin, end, body, index)
                    }
                    _ => true,
                };
            });
        });
        if !apart {
            return None;
        }
        let kernel = &mut self.module.kernel;
        let (low, high) = (kernel.declare_index("low"), kernel.declare_index("high"));
        let comments = parallel.body.iter().filter(is_comment).cloned();
        let inner = Statement::For {
            variable: *variable,
            begin: Expr::Variable(low),
            end: Expr::Variable(high),
            vector: false,
            body: body.clone(),
        };
        // Work before a place, where it is known for that of a child.
        let work = parallel.work.as_ref().and_then(|work| {
            let child = substituted(begin.clone(), &BTreeMap::from([(parallel.low, Expr::Variable(work.place))]));
            let place = kernel.declare_index("place");
            let before = replaced(work.before.clone(), &child, &Expr::Variable(place));
            (!before.uses(work.place) && before != Expr::Variable(place)).then_some(Work {
                place,
                before,
                is_all: false,
            })
        });
        let (begin, end) = (at(parallel.begin.clone()), at(parallel.end.clone()));
        let body = comments.chain([inner]).collect();
        Some(Parallel {
            work,
            sharing: parallel.sharing.clone(),
            reductions: parallel.reductions.clone(),
            ..Parallel::over(begin, end, low, high, body)
        })
    }

    /// Launches over shares of a range: the threads of each run its body.
    pub(super) fn shares(&mut self, parallel: &Parallel, rows: Option<&Expr>) -> Result<(), Refusal> {
        let (begin, end) = (self.on_host(&parallel.begin), self.on_host(&parallel.end));
        let count = end.clone().minus(begin.clone());
        let (ordered, updated) = self.borders(parallel);
        let Cut { way, body, atomic, copied, is_apart } = self.cut(parallel, &ordered, &updated);
        let size = self.module.kernel.declare_index("size");
        let bounded = ordered.iter().chain(&updated).filter(|_| is_apart);
        let mut body = self.begun(parallel, size, &end, body, bounded);
        // Atomic operations on narrow elements touch those beside them.
        let is_wide = |border: &&Border| is_apart && self.bytes_of(border.array) >= 4;
        let owned = updated.iter().filter(is_wide).map(Border::owned).collect();
        let number = Expr::Variable(parallel.low).minus(begin.clone());
        let number = Expr::binary(BinaryOperator::Divide, number, Expr::Variable(size));
        let meetings = self.leave_at_borders(ordered, &number, &mut body);
        let lanes = self.lanes_of(&way, rows.unwrap_or(&count));
        let value = grain(&count);
        let shares = shares_of(&count, &value);
        meetings.iter().for_each(|meetings| self.make_meetings(meetings, &shares));
        let share = Some(Share { size, value: value.clone() });
        let (place, begins) = (parallel.low, begin.clone());
        let places = Places { place, begin, end, worker: None, workers: None, share, lanes: None };
        let league = League { atomic, owned, copied, ..League::of_places(places, count) };
        self.launch_way(&league, way, body, lanes, "for each equal share of entries")?;
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
        let by_lanes = self.way_apart(&parallel.body, &anywhere, &apart).map(Mapped::with_body);
        let (way, body, is_apart) = match by_lanes {
            Some((way, body)) if way != Way::Thread || has_order => (way, body, true),
            None if has_order => (Way::Thread, parallel.body.clone(), true),
            _ => {
                let (way, body) = self.way(&parallel.body, &all, true).with_body();
                let is_apart = way == Way::Thread;
                (way, body, is_apart)
            }
        };
        Cut { way, body, atomic: all, copied, is_apart }
    }

    /// Launches over shares of places that each add to one element, where that is so.
    pub(super) fn segments(&mut self, parallel: &Parallel) -> Result<bool, Refusal> {
        let [(array, Sharing::Segmented { length: Expr::Index(1), .. })] = parallel.sharing[..] else {
            return Ok(false);
        };
        if self.has_ordered_segments(parallel) {
            return Ok(false);
        }
        let (mut league, body) = self.places_of(parallel);
        let kernel = &mut self.module.kernel;
        let Some((body, segments)) = super::segments::distribute(kernel, &body, array) else { return Ok(false) };
        let size = kernel.declare_index("size");
        let steps = clamped(league.count.clone(), WARP_SHARES, 1, LARGEST / WARP);
        league.places.share = Some(Share { size, value: steps.times(Expr::Index(WARP)) });
        let lanes = Some(Expr::Index(WARP));
        self.launch_way(&league, Way::Segments(segments), body, lanes, "for equal shares of places")?;
        Ok(true)
    }

    /// The number of threads for each place, where there are several and the way does not say it: the iterations that a loop has on
    /// average, for a number of rows.
    pub(super) fn lanes_of(&mut self, way: &Way, rows: &Expr) -> Option<Expr> {
        match way {
            Way::Group(_, iterations) => Some(match iterations {
                Some(Iterations::Elements(array)) => {
                    Expr::binary(BinaryOperator::Divide, Expr::Length(*array), rows.clone())
                }
                Some(Iterations::Each(count)) => count.clone(),
                None => Expr::Index(WARP),
            }),
            Way::Segments(_) => Some(Expr::Index(WARP)),
            Way::Row(_) | Way::Thread => None,
        }
    }

    /// The steps of one way, which are not done yet.
    pub(super) fn branch(
        &mut self,
        steps: impl FnOnce(&mut Self) -> Result<(), Refusal>,
    ) -> Result<Vec<Step>, Refusal> {
        let before = std::mem::take(&mut self.module.steps);
        let done = steps(self);
        let branch = std::mem::replace(&mut self.module.steps, before);
        done.map(|()| branch)
    }

    /// Measures the longest place, and says when it is too long: `None` where it is not known what a place has to do.
    pub(super) fn measured(&mut self, parallel: &Parallel, is_grouped: bool) -> Result<Option<Expr>, Refusal> {
        let Some(work) = &parallel.work else { return Ok(None) };
        let (begin, end) = (self.on_host(&parallel.begin), self.on_host(&parallel.end));
        let before = |place: Expr| substituted(work.before.clone(), &BTreeMap::from([(work.place, place)]));
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
    way: Way,
    body: Vec<Statement>,
    /// Arrays that shares update together.
    atomic: BTreeSet<ArrayId>,
    /// Arrays that workers have copies of.
    copied: Vec<Copied>,
    /// Whether a segment that only one share touches is touched by one thread at a time.
    is_apart: bool,
}

/// How many shares some places make.
pub(super) fn shares_of(count: &Expr, size: &Expr) -> Expr {
    let up = count.clone().plus(size.clone().minus(Expr::Index(1)));
    Expr::binary(BinaryOperator::Divide, up, size.clone())
}

/// The number of entries of a share.
fn grain(count: &Expr) -> Expr {
    clamped(count.clone(), SHARES, SMALLEST, LARGEST)
}

/// A part of a number, between two others.
fn clamped(number: Expr, part: u64, least: u64, most: u64) -> Expr {
    let even = Expr::binary(BinaryOperator::Divide, number, Expr::Index(part));
    let upper = Expr::binary(BinaryOperator::Minimum, even, Expr::Index(most));
    Expr::binary(BinaryOperator::Maximum, upper, Expr::Index(least))
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

/// The expression with one in it replaced.
fn replaced(expr: Expr, from: &Expr, to: &Expr) -> Expr {
    if expr == *from {
        return to.clone();
    }
    expr.map_children(&mut |child| replaced(child, from, to))
}

/// Whether chunks reduce into segments, of which neighbours may meet.
pub(super) fn is_segmented(parallel: &Parallel) -> bool {
    parallel.sharing.iter().any(|(_, sharing)| matches!(sharing, Sharing::Segmented { .. }))
}
