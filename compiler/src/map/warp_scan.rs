//! Places that each add to one element, in the order of these elements: a warp takes a share of places, each of its lanes one at a
//! time, and what neighbouring lanes have of one element is summed by shuffles before it is added (Liu et al., A unified
//! optimization approach for sparse tensor operations on GPUs, 2017, section 4.2).
//!
//! ```text
//! let i = crd[p]                     let i = crd[p]
//! y[i] += x[p] * c[k]                element = i
//!                                    value = x[p] * c[k]
//! ```

use super::grid::is_segmented;
use super::nonzeros::{LARGEST, clamped};
use super::strategy::{Emit, Loop, Refused, Strategy};
use super::work_item::Team;
use crate::gpu::Builder;
use crate::gpu::plan::{Segments, Share, WARP};
use crate::gpu::rewrite::{allocated, loaded, replace_statements};
use crate::ir::{ArrayElement, ArrayId, Expr, Kernel, Sharing, Statement, Type};

/// A warp scan of segments.
pub(super) struct WarpScan;

/// Shares of a warp are as large as it takes to have so many of its steps.
const WARP_SHARES: u64 = 1 << 19;

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
        let (body, segments) = distribute(kernel, &body, array).ok_or(Refused::AddsMore)?;
        let size = kernel.declare_index("size");
        let steps = clamped(grid.count.clone(), WARP_SHARES, 1, LARGEST / WARP);
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
fn distribute(kernel: &mut Kernel, body: &[Statement], array: ArrayId) -> Option<(Vec<Statement>, Segments)> {
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
    Some((body, Segments { array, operator, element: place, value }))
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
