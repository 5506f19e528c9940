//! A load-balanced partition of places whose results are segments: a part sums each segment in registers, and only those at its ends meet those of
//! other shares.
//!
//! ```text
//! parallel low..high in 0..n            launch for n places in shares of 32
//!     sharing y segmented                   the first and the last segment of a share: atomic
//!     y[crd[p]] += x[p]                     those between: y[crd[p]] += x[p]
//! ```

use super::grid::is_segmented;
use super::lanes::Row;
use super::strategy::{Emit, Loop, Refused, Strategy};
use crate::gpu::Builder;

/// Shares of places with boundary segments.
pub(super) struct BoundarySegments;

impl Strategy for BoundarySegments {
    fn name(&self) -> &'static str {
        "load-balanced parts with boundary segments"
    }

    fn fits<'a>(&self, builder: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        node.check_plain()?;
        if !is_segmented(&node.places) {
            return Err(Refused::NoSegments);
        }
        let is_by_rows = Row::of(&builder.module.kernel, &node.places.body).is_some();
        if !is_by_rows && !builder.has_ordered_segments(&node.places) {
            return Err(Refused::ShortSegments);
        }
        Ok(Box::new(|builder| {
            builder.in_tiles(node, |builder| {
                let why = "what a share adds to one segment is summed in registers, and meets that of others once";
                builder.decide("places are taken in load-balanced parts".to_owned(), why);
                builder.shares(&node.places, None)
            })
        }))
    }
}
