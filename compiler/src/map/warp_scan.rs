//! Places that each add to one element, in the order of these elements: a warp takes a share of places, each of its lanes one at a
//! time, and what neighbouring lanes have of one element is summed by shuffles before it is added (Liu et al., A unified
//! optimization approach for sparse tensor operations on GPUs, 2017, section 4.2).
//!
//! ```text
//! let i = crd[p]                     let i = crd[p]
//! y[i] += x[p] * c[k]                element = i
//!                                    value = x[p] * c[k]
//! ```
//!
//! Where rows of entries are summed, and are uneven, the entries are such places: a warp finds the rows of its lanes together.
//!
//! ```text
//! for i in first..end                i: how many rows have ended
//!     let t = 0                      element = i
//!     for p in pos[i]..pos[i + 1]    value = x[p] * c[crd[p]]
//!         t += x[p] * c[crd[p]]
//!     y[i] += t
//! ```

use super::grid::{Grid, is_segmented};
use super::strategy::{Emit, Loop, Refused, Strategy};
use super::work_item::Team;
use crate::gpu::plan::{Places, Rows, Segments, Share, Summed, Together, WARP};
use crate::gpu::rewrite::{allocated, declared, loaded, mentioned, replace_statements};
use crate::gpu::{Builder, Refusal, clamped};
use crate::ir::{ArrayElement, ArrayId, BinaryOperator, Expr, Kernel, Parallel, Sharing, Statement, Type, VariableId};

/// A warp scan of segments.
pub(super) struct WarpScan;

/// The most steps of a warp in a share: more would leave the last ones alone on the device.
const STEPS: u64 = 8;

/// Shares of a warp are as large as it takes to have so many of its steps.
const WARP_SHARES: u64 = 1 << 19;

/// The same where a share has to find its rows, which takes as long as some steps.
const SEARCHED_SHARES: u64 = 1 << 18;

impl Strategy for WarpScan {
    fn name(&self) -> &'static str {
        "a warp segmented scan"
    }

    fn fits<'a>(&self, builder: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        node.check_plain()?;
        let parallel = &node.places;
        if !is_segmented(parallel) {
            return Err(Refused::NoSegments);
        }
        let [(array, Sharing::Segmented { length: Expr::Index(1), .. })] = parallel.sharing[..] else {
            return Err(Refused::LongSegments);
        };
        if builder.has_ordered_segments(parallel) {
            return Err(Refused::InOrder);
        }
        let (mut grid, body) = builder.places_of(parallel);
        let kernel = &mut builder.module.kernel;
        let (body, sum) = distribute(kernel, &body, array).ok_or(Refused::AddsMore)?;
        let segments = Segments { lists: None, rows: None, together: Some(Together::Sum(sum)) };
        let size = kernel.declare_index("size");
        let steps = clamped(grid.count.clone(), WARP_SHARES, 1, STEPS);
        grid.places.share = Some(Share { size, value: steps.times(Expr::Index(WARP)) });
        Ok(Box::new(move |builder| {
            builder.in_tiles(node, |builder| {
                let (team, lanes) = (Team::Segments(segments), Some(Expr::Index(WARP)));
                builder.launch(&grid, team, body, lanes, "for equal shares of places")
            })
        }))
    }
}

/// The body of a place that says what it adds to which element of an array, where it adds once, and writes nothing else.
fn distribute(kernel: &mut Kernel, body: &[Statement], array: ArrayId) -> Option<(Vec<Statement>, Summed)> {
    let ArrayElement::Value(element) = kernel.array(array).element else { return None };
    if !adds_once(body, array) || loaded(body).contains(&array) {
        return None;
    }
    let mut operator = None;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Reduce(_, _, by, _) = statement {
                operator = Some(*by);
            }
        });
    });
    let operator = operator?;
    operator.identity(element)?;
    let place = kernel.declare_variable("element", Type::Index, true);
    let value = kernel.declare_variable("value", Type::of(element), true);
    let body = replace_statements(body.to_vec(), &mut |statement| match statement {
        Statement::Reduce(other, index, _, added) if other == array => {
            vec![Statement::Assign(place, index), Statement::Assign(value, added)]
        }
        other => vec![other],
    });
    Some((body, Summed { array, operator, element: place, value }))
}

/// A warp segmented scan over the entries of rows.
pub(super) struct RowsScan {
    grid: Grid,
    segments: Segments,
    body: Vec<Statement>,
}

impl Builder {
    /// The scan of a partition of entries, where each entry adds one term to one element, which follows from its row.
    pub(super) fn rows_scan(&mut self, entries: &Parallel) -> Option<RowsScan> {
        let [(array, Sharing::Segmented { length: Expr::Index(1), .. })] = entries.sharing[..] else { return None };
        let (copied, atomic) = self.updated(entries);
        if !copied.is_empty() || self.has_ordered_segments(entries) {
            return None;
        }
        let of = EntriesOfRows::of(entries, array)?;
        let (begin, end) = (self.on_host(&entries.begin), self.on_host(&entries.end));
        let rows = Rows { positions: vec![of.positions], row: of.row };
        let body = of.body(entries, array)?;
        let kernel = &mut self.module.kernel;
        let (body, sum) = distribute(kernel, &body, array)?;
        let count = end.clone().minus(begin.clone());
        let share = Some(share_of_rows(kernel, &count, STEPS));
        let places = Places { place: of.entry, begin, end, worker: None, workers: None, share, lanes: None };
        let grid = Grid { atomic, ..Grid::of_places(places, count) };
        let segments = Segments { lists: None, rows: Some(rows), together: Some(Together::Sum(sum)) };
        Some(RowsScan { grid, segments, body })
    }

    /// Launches it.
    pub(super) fn launch_rows(&mut self, scan: RowsScan) -> Result<(), Refusal> {
        let RowsScan { grid, segments, body } = scan;
        self.launch(&grid, Team::Segments(segments), body, Some(Expr::Index(WARP)), "for equal shares of entries")
    }
}

/// What a warp takes of entries whose rows it finds, in so many steps at most.
pub(super) fn share_of_rows(kernel: &mut Kernel, count: &Expr, most: u64) -> Share {
    let steps = clamped(count.clone(), SEARCHED_SHARES, 1, most);
    Share { size: kernel.declare_index("size"), value: steps.times(Expr::Index(WARP)) }
}

/// The loop over the entries of a row, in loops over rows.
struct EntriesOfRows<'a> {
    positions: ArrayId,
    row: VariableId,
    entry: VariableId,
    /// What the loop over rows does: a sum is begun, entries are added, the sum is added to an element.
    of_row: &'a [Statement],
}

impl<'a> EntriesOfRows<'a> {
    /// The innermost loops of a share.
    fn of(entries: &'a Parallel, array: ArrayId) -> Option<Self> {
        let mut block = &entries.body[..];
        let mut row = None;
        loop {
            let loops = block.iter().filter_map(|statement| match statement {
                Statement::For { variable, begin, body, .. } => Some((*variable, begin, &body[..])),
                _ => None,
            });
            let [(variable, begin, body)] = loops.collect::<Vec<_>>()[..] else { return None };
            let adds = |statement: &Statement| matches!(statement, Statement::Reduce(other, ..) if *other == array);
            if block.iter().any(adds) {
                let Expr::Binary(BinaryOperator::Maximum, position, low) = begin else { return None };
                let (Expr::Load(positions, place), Expr::Variable(low)) = (&**position, &**low) else { return None };
                let row = row.filter(|row| **place == Expr::Variable(*row) && *low == entries.low)?;
                return Some(Self { positions: *positions, row, entry: variable, of_row: block });
            }
            row = Some(variable);
            block = body;
        }
    }

    /// What an entry adds, where nothing but its row and itself decides about it.
    fn body(&self, entries: &Parallel, array: ArrayId) -> Option<Vec<Statement>> {
        let (index, operator, sum) = self.of_row.iter().find_map(|statement| match statement {
            Statement::Reduce(other, index, operator, Expr::Variable(sum)) if *other == array => {
                Some((index, *operator, *sum))
            }
            _ => None,
        })?;
        let mut body = Vec::new();
        for statement in self.of_row {
            match statement {
                Statement::Comment(_) => {}
                Statement::Let(variable, _) if *variable == sum => {}
                Statement::Let(..) => body.push(statement.clone()),
                Statement::For { variable, body: terms, .. } if *variable == self.entry => {
                    body.extend(terms.iter().cloned());
                }
                Statement::Reduce(other, ..) if *other == array => {}
                _ => return None,
            }
        }
        let mut is_same = true;
        let body = replace_statements(body, &mut |statement| match statement {
            Statement::Update(variable, by, term) if variable == sum => {
                is_same &= by == operator;
                vec![Statement::Reduce(array, index.clone(), by, term)]
            }
            other => vec![other],
        });
        let own = declared(&body);
        let outer = declared(&entries.body);
        let is_known = |variable: &VariableId| {
            let is_outer = outer.contains(variable) || [entries.low, entries.high].contains(variable);
            own.contains(variable) || [self.entry, self.row].contains(variable) || !is_outer
        };
        (is_same && mentioned(&body).iter().all(is_known)).then_some(body)
    }
}

/// Whether all that a body does to memory is that it reduces into an array once, not in a loop.
fn adds_once(body: &[Statement], array: ArrayId) -> bool {
    let mut count = 0;
    let mut is_simple = allocated(body).is_empty();
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| match statement {
            Statement::Reduce(other, ..) if *other == array => count += 1,
            Statement::For { body, .. } | Statement::While(_, body) => is_simple &= !crate::gpu::rewrite::writes(body),
            Statement::Comment(_)
            | Statement::Let(..)
            | Statement::Assign(..)
            | Statement::Update(..)
            | Statement::If(..)
            | Statement::View { mutable: false, .. } => {}
            _ => is_simple = false,
        });
    });
    count == 1 && is_simple
}
