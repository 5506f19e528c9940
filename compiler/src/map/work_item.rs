//! How threads run the body of a place: one, one for each element of a row, a group of lanes, or a warp for several places; and the
//! functions that become of it.

use super::lanes::{self, Elements, Row, Scatter};
use super::register_values::Strips;
use super::warp_per_row::{self, Iterations};
use crate::gpu::chunks::CHUNK;
use crate::gpu::plan::{Group, Lanes, Segments, Together, UNROLLED, WARP};
use crate::gpu::{Builder, clamped};
use crate::ir::{ArrayId, BinaryOperator, Expr, Statement, VariableId};
use std::collections::BTreeSet;

/// A lane has one iteration of rows of up to twice as many, and one more for each so many more: with few, all lanes wait for the first
/// loads; with many, they read far apart.
const FEW_OF_LANE: u64 = 8;

/// Since rows begin and end within chunks, a lane has two of four entries of a short row on average, and three of a long one. Half of a
/// warp takes rows of up to so many entries for each lane of a whole one.
const LONG_FOR_CHUNKS: u64 = 32;

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
pub(super) enum Team {
    /// One thread.
    Thread,
    /// Threads for the elements of a row: the body is still one for all of them.
    Row(Row),
    /// A group of lanes, with what tells how wide it should be.
    Group(Group, Option<Iterations>),
    /// A warp for a share of places.
    Segments(Segments),
}

/// A way with the body for it.
pub(super) struct Mapped {
    team: Team,
    body: Vec<Statement>,
}

impl Team {
    pub(super) fn holding(self, body: Vec<Statement>) -> Mapped {
        Mapped { team: self, body }
    }
}

impl Mapped {
    pub(super) fn with_body(self) -> (Team, Vec<Statement>) {
        (self.team, self.body)
    }
}

impl Builder {
    /// How threads run a body.
    pub(super) fn team(&mut self, body: &[Statement], atomic: &BTreeSet<ArrayId>, in_groups: bool) -> Mapped {
        let mapped = self.row_or_thread(body.to_vec());
        if mapped.team != Team::Thread || !in_groups {
            return mapped;
        }
        match warp_per_row::distribute(&mut self.module.kernel, body, atomic) {
            Some(grouped) => Team::Group(grouped.group, grouped.iterations).holding(grouped.body),
            None => mapped,
        }
    }

    pub(super) fn row_or_thread(&mut self, body: Vec<Statement>) -> Mapped {
        let team = Row::of(&self.module.kernel, &body).map_or(Team::Thread, Team::Row);
        team.holding(body)
    }

    /// How threads run a body, if what several of them have of some arrays is apart: no two threads at one place, and no two lanes
    /// at different ones, touch one element.
    pub(super) fn team_apart(
        &mut self,
        body: &[Statement],
        atomic: &BTreeSet<ArrayId>,
        apart: &[ArrayId],
    ) -> Option<Mapped> {
        let (team, body) = self.team(body, atomic, true).with_body();
        let is_apart = match &team {
            Team::Row(row) => row.is_apart(&body, apart),
            _ => true,
        };
        is_apart.then(|| team.holding(body))
    }

    /// The number of threads for each place, where there are several and the way does not say it: by the iterations that a loop has on
    /// average, for a number of rows, of which a lane has several at a time.
    pub(super) fn lanes_of(&mut self, team: &Team, rows: &Expr) -> Option<Expr> {
        match team {
            Team::Group(_, iterations) => Some(match iterations {
                Some(Iterations::Elements { array, in_chunks: true }) => {
                    let mean = Expr::binary(BinaryOperator::Divide, Expr::Length(*array), rows.clone());
                    let short = clamped(mean.clone().plus(Expr::Index(1)), CHUNK / 2, 1, WARP / 4);
                    let even = Expr::binary(BinaryOperator::Divide, mean.clone(), Expr::Index(CHUNK - 1));
                    let even = Expr::binary(BinaryOperator::Minimum, even, Expr::Index(WARP / 2));
                    let long = Expr::binary(BinaryOperator::Divide, mean, Expr::Index(LONG_FOR_CHUNKS));
                    let even = Expr::binary(BinaryOperator::Maximum, short, even);
                    Expr::binary(BinaryOperator::Maximum, even, long)
                }
                Some(Iterations::Elements { array, in_chunks: false }) => {
                    let mean = Expr::binary(BinaryOperator::Divide, Expr::Length(*array), rows.clone());
                    let beyond = mean.clone().minus(Expr::Index(FEW_OF_LANE));
                    let each = clamped(beyond, FEW_OF_LANE, 1, UNROLLED);
                    Expr::binary(BinaryOperator::Divide, mean, each)
                }
                Some(Iterations::Each(count)) => {
                    Expr::binary(BinaryOperator::Divide, count.clone(), Expr::Index(UNROLLED))
                }
                None => Expr::Index(WARP),
            }),
            Team::Segments(_) => Some(Expr::Index(WARP)),
            Team::Row(_) | Team::Thread => None,
        }
    }

    /// The functions that a body becomes, each where its condition holds, or none behind it does.
    pub(super) fn mapped(
        &mut self,
        team: &Team,
        body: Vec<Statement>,
        lanes: Option<Expr>,
        scatters: Scatter,
        what: &str,
    ) -> Vec<(Option<Expr>, Launched)> {
        let launched = |lanes, threads, body, who| Launched { lanes, threads, body, comment: commented(what, who) };
        let one = |lanes_of: Option<Lanes>, who| vec![(None, launched(lanes_of, lanes.clone(), body.clone(), who))];
        let row = match team {
            Team::Row(row) => row,
            Team::Group(group, _) => return one(Some(Lanes::Group(*group)), "a group of lanes"),
            Team::Segments(segments) => return one(Some(Lanes::Segments(segments.clone())), "a warp"),
            Team::Thread => return one(None, "a thread"),
        };
        let ways = match row.elements(&self.module.kernel, scatters) {
            Elements::Known(strips) => vec![(None, strips)],
            Elements::Either { condition, strips } => vec![(None, None), (Some(condition), Some(strips))],
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
    pub(super) fn decide_team(&mut self, team: &Team, place: VariableId, scatters: Scatter) {
        let place = self.module.kernel.variable(place).name.clone();
        match team {
            Team::Row(row) => {
                let name = &row.name;
                let why = format!("all vector loops go over {name}: neighbours in a warp are neighbours in memory");
                self.decide(format!("threads run over {place} and over {name}"), &why);
                self.decide_elements(name, row.elements(&self.module.kernel, scatters));
            }
            Team::Group(..) => {
                let why = "its entries are neighbours in memory, and sums of lanes meet by shuffles; \
                           the group is as wide as places are long on average, and narrower for long ones";
                self.decide(format!("each {place} has a group of lanes"), why);
            }
            Team::Segments(Segments { lists: Some(_), .. }) => {
                let why =
                    "lanes have neighbours in memory, and what lists write side by side is written at about one time";
                self.decide("warps take equal parts of the entries of all lists in turn".to_owned(), why);
            }
            Team::Segments(Segments { together: None | Some(Together::Flags(_)), .. }) => {
                let why = "lanes have neighbours in memory, and a warp finds the rows of its lanes together";
                self.decide(format!("a warp takes equal parts of {place}"), why);
            }
            Team::Segments(_) => {
                let why =
                    "each adds to one element, and neighbours to the same: lanes sum by shuffles what they have of it";
                self.decide(format!("a warp takes load-balanced parts of {place}"), why);
            }
            Team::Thread => {
                let why = "no row is shared by all that a place does, or threads would wait for each other";
                self.decide(format!("each {place} has a thread"), why);
            }
        }
    }

    /// Says how many elements of a row a thread has, and why.
    fn decide_elements(&mut self, name: &str, elements: Elements) {
        let (condition, strips) = match elements {
            Elements::Known(None) => return,
            Elements::Known(Some(strips)) => (None, strips),
            Elements::Either { condition, strips } => (Some(condition), strips),
        };
        let has = match strips.is_vector() {
            true => format!("a thread has {} neighbours of {name}, which move as one", strips.count),
            false => format!("a thread has {} elements of {name}, with their sums in registers", strips.count),
        };
        let what = match condition {
            None => has,
            Some(condition) => {
                let condition = self.module.kernel.show(&condition).to_string();
                format!("{has}, where {}, and else one", crate::gpu::readable(&condition))
            }
        };
        self.decide(what, "what a place reads besides its row, and the ways to it, are for all elements of a thread");
    }
}
