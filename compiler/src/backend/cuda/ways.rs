//! How threads run the body of a place: one, one for each element of a row, a group of lanes, or a warp for several places; and the
//! functions that become of it.

use super::groups::{self, Iterations};
use super::lanes::{self, Elements, Row};
use super::plan::{Group, Lanes, Segments};
use super::segment::Builder;
use super::strips::{STRIPS, Strips};
use crate::ir::{ArrayId, Expr, Statement, VariableId};
use std::collections::BTreeSet;

/// What becomes a function, and how it is launched.
pub(super) struct Launched {
    pub lanes: Option<Lanes>,
    /// The number of threads for each place, where there are several.
    pub threads: Option<Expr>,
    pub body: Vec<Statement>,
    pub comment: String,
}

/// What a function says of itself.
fn commented(what: &str, who: &str) -> String {
    if what.starts_with("for ") { format!("{who} {what}") } else { format!("{what}: {who} for each") }
}

/// How threads run the body of a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// One thread.
    Thread,
    /// Threads for the elements of a row: the body is still one for all of them.
    Row(Row),
    /// A group of lanes, with what tells how wide it should be.
    Group(Group, Option<Iterations>),
    /// A warp for a share of places that each add to one element.
    Segments(Segments),
}

/// A way with the body for it.
pub(super) struct Mapped {
    way: Way,
    body: Vec<Statement>,
}

impl Way {
    pub(super) fn holding(self, body: Vec<Statement>) -> Mapped {
        Mapped { way: self, body }
    }
}

impl Mapped {
    pub(super) fn with_body(self) -> (Way, Vec<Statement>) {
        (self.way, self.body)
    }
}

impl Builder {
    /// How threads run a body.
    pub(super) fn way(&mut self, body: &[Statement], atomic: &BTreeSet<ArrayId>, in_groups: bool) -> Mapped {
        let mapped = self.row_or_thread(body.to_vec());
        if mapped.way != Way::Thread || !in_groups {
            return mapped;
        }
        match groups::distribute(&mut self.module.kernel, body, atomic) {
            Some(grouped) => Way::Group(grouped.group, grouped.iterations).holding(grouped.body),
            None => mapped,
        }
    }

    pub(super) fn row_or_thread(&mut self, body: Vec<Statement>) -> Mapped {
        let way = Row::of(&self.module.kernel, &body).map_or(Way::Thread, Way::Row);
        way.holding(body)
    }

    /// The functions that a body becomes, each where its condition holds, or none behind it does.
    pub(super) fn mapped(
        &mut self,
        way: &Way,
        body: Vec<Statement>,
        lanes: Option<Expr>,
        what: &str,
    ) -> Vec<(Option<Expr>, Launched)> {
        let launched = |lanes, threads, body, who| Launched { lanes, threads, body, comment: commented(what, who) };
        let one = |lanes_of: Option<Lanes>, who| vec![(None, launched(lanes_of, lanes.clone(), body.clone(), who))];
        let row = match way {
            Way::Row(row) => row,
            Way::Group(group, _) => return one(Some(Lanes::Group(*group)), "a group of lanes"),
            Way::Segments(segments) => return one(Some(Lanes::Segments(*segments)), "a warp"),
            Way::Thread => return one(None, "a thread"),
        };
        let ways = match row.elements(&self.module.kernel) {
            Elements::Known(strips) => vec![(None, strips)],
            Elements::Either { is_long, strips } => vec![(None, None), (Some(is_long), Some(strips))],
        };
        let mut distributed = |(condition, strips): (Option<Expr>, Option<Strips>)| {
            let comment = match (what.starts_with("for "), strips.is_some()) {
                (true, false) => format!("a thread {what} and {}", row.name),
                (true, true) => format!("a thread {what} and several {}", row.name),
                (false, false) => format!("{what}: a thread for each, and each {}", row.name),
                (false, true) => format!("{what}: a thread for each, and several {}", row.name),
            };
            let (body, lane) = lanes::distribute(&mut self.module.kernel, &body, row, strips);
            let threads = Some(lane.extent.clone());
            (condition, Launched { lanes: Some(Lanes::Row(lane)), threads, body, comment })
        };
        ways.into_iter().map(&mut distributed).collect()
    }

    /// Says how threads run the body of a place, and why.
    pub(super) fn decide_way(&mut self, way: &Way, place: VariableId) {
        let place = self.module.kernel.variable(place).name.clone();
        match way {
            Way::Row(row) => {
                let name = &row.name;
                let why = format!("all vector loops go over {name}: neighbours in a warp are neighbours in memory");
                self.decide(format!("threads run over {place} and over {name}"), &why);
                let why = "what a place reads besides its row, and the ways to it, are for all elements of a thread";
                match row.elements(&self.module.kernel) {
                    Elements::Known(None) => {}
                    Elements::Known(Some(_)) => {
                        self.decide(
                            format!("a thread has several elements of {name}, with their sums in registers"),
                            why,
                        );
                    }
                    Elements::Either { is_long, .. } => {
                        let is_long = self.module.kernel.show(&is_long).to_string();
                        let what = format!(
                            "a thread has {} elements of {name}, with their sums in registers, where {}, and else one",
                            STRIPS,
                            super::print::readable(&is_long)
                        );
                        self.decide(what, why);
                    }
                }
            }
            Way::Group(..) => {
                let why = "its entries are neighbours in memory, and sums of lanes meet by shuffles; \
                           the group is as wide as places are long on average";
                self.decide(format!("each {place} has a group of lanes"), why);
            }
            Way::Segments(_) => {
                let why =
                    "each adds to one element, and neighbours to the same: lanes sum by shuffles what they have of it";
                self.decide(format!("a warp takes equal shares of {place}"), why);
            }
            Way::Thread => {
                let why = "no row is shared by all that a place does, or threads would wait for each other";
                self.decide(format!("each {place} has a thread"), why);
            }
        }
    }
}
