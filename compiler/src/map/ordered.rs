//! Reductions of which the order is known: no thread adds to what another adds to, and what they have is combined in order.
//!
//! Sums of floating point numbers depend on their order. Where every run has to give the same bits, and for products of complex
//! numbers, which no device forms atomically, one of these takes the place of atomic operations:
//!
//! * **Copies**, where threads may meet anywhere: each of a number of threads has an array of its own, which it updates for every
//!   so-many-th place, in order; a second launch combines the copies of each element, the first copy first.
//! * **Borders**, where shares meet in their first and last segments only: these go to memory of the share, all others are its
//!   own. A second launch combines what neighbouring shares have of one segment, in order.
//! * **Sorted terms** (`sorted`), where threads may meet anywhere and the array is long.
//! * **Parts**, for a variable: each warp leaves what it has, and one group of lanes combines that.
//!
//! ```text
//! launch for places by 1024 workers         A_copies[worker * length + crd[p]] += x[p]
//! launch for each element                   for w in 0..1024: A[element] += A_copies[w * length + element]
//! ```

use super::grid::Grid;
use super::privatized::{Copied, Copies};
use super::warp_per_row::Iterations;
use super::work_item::Team;
use crate::format::IndexWidth;
use crate::gpu::plan::{Meet, Owned, Places, Step, Total, WARP};
use crate::gpu::rewrite::replace_statements;
use crate::gpu::{Builder, Refusal};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Find, Parallel, ReduceOperator, Sharing, Statement,
    VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// So many threads combine copies: groups for each element are as wide as that allows.
const COMBINING: u64 = 1 << 16;

/// An array whose segments ascend with places: neighbouring shares may meet in one.
pub(super) struct Border {
    pub array: ArrayId,
    operator: ReduceOperator,
    place: VariableId,
    start: Expr,
    length: Expr,
    /// The first element that only one share touches, and one past the last.
    own: (VariableId, VariableId),
}

/// What shares leave of the segments where they meet.
pub(super) struct Meetings {
    border: Border,
    /// What each share adds to the segment that it begins in.
    first: ArrayId,
    /// What it adds to the segment that the next share begins in, where that is another.
    last: ArrayId,
    /// The first element of the segment that each share begins in.
    segments: ArrayId,
}

impl Meetings {
    /// The number of shares.
    fn shares(&self) -> Expr {
        Expr::Length(self.segments)
    }
}

impl Border {
    /// Where the segment of a place begins.
    fn start(&self, place: Expr) -> Expr {
        self.start.clone().substituted(&BTreeMap::from([(self.place, place)]))
    }

    /// What only one share touches.
    pub(super) fn owned(&self) -> Owned {
        Owned { array: self.array, begin: self.own.0, end: self.own.1 }
    }

    /// The elements that only the share `low..high` touches: neither those of the segment that it begins in, nor those of the
    /// segment that the next share begins in.
    pub(super) fn bounds(&self, low: VariableId, high: VariableId, end: &Expr, length: &Expr) -> [Statement; 2] {
        let begins = self.start(Expr::Variable(low)).plus(self.length.clone());
        let next = self.start(Expr::Variable(high));
        let is_last = Expr::Variable(high).less(end.clone());
        let ends = Expr::Select(Box::new(is_last), Box::new(next), Box::new(length.clone()));
        [Statement::Let(self.own.0, begins), Statement::Let(self.own.1, ends)]
    }
}

impl Builder {
    /// The arrays of a loop whose segments ascend with places: those that are combined in order, and the others.
    pub(super) fn borders(&mut self, parallel: &Parallel) -> (Vec<Border>, Vec<Border>) {
        let mut borders = Vec::new();
        for (array, sharing) in &parallel.sharing {
            let Sharing::Segmented { place, start, length, operator, .. } = sharing else { continue };
            let kernel = &mut self.module.kernel;
            let name = kernel.array(*array).name.clone();
            let own = (kernel.declare_index(&format!("{name}_own")), kernel.declare_index(&format!("{name}_own_end")));
            let (start, length) = (start.clone(), length.clone());
            borders.push(Border { array: *array, operator: *operator, place: *place, start, length, own });
        }
        borders.into_iter().partition(|border| self.is_ordered_array(border.array, border.operator))
    }

    /// A launch of a body, which becomes a function, and what combines the copies that workers have; `what` it is done for.
    pub(super) fn launch(
        &mut self,
        grid: &Grid,
        team: Team,
        body: Vec<Statement>,
        lanes: Option<Expr>,
        what: &str,
    ) -> Result<(), Refusal> {
        for copies in self.launch_all(grid, team, body, lanes, what)? {
            self.combine_copies(&copies)?;
        }
        grid.totals.iter().try_for_each(|total| self.combine_parts(*total))
    }

    /// Launches what combines copies.
    fn combine_copies(&mut self, copies: &Copies) -> Result<(), Refusal> {
        let Copied { array, operator } = copies.of;
        let length = self.length_of(array);
        let kernel = &mut self.module.kernel;
        let (element, worker) = (kernel.declare_index("element"), kernel.declare_index("worker"));
        let sum = kernel.declare_variable("sum", kernel.array(array).element.ty(), true);
        let place = Expr::Variable(worker).times(length.clone()).plus(Expr::Variable(element));
        let body = vec![
            Statement::Let(sum, self.identity_of(array, operator)),
            Statement::For {
                variable: worker,
                begin: Expr::Index(0),
                end: Expr::binary(BinaryOperator::Divide, Expr::Length(copies.copies), length.clone()),
                vector: false,
                body: vec![Statement::Update(sum, operator, Expr::load(copies.copies, place))],
            },
            Statement::Reduce(array, Expr::Variable(element), operator, Expr::Variable(sum)),
        ];
        let lanes = Expr::binary(BinaryOperator::Divide, Expr::Index(COMBINING), length.clone());
        self.combine(element, length, &body, Some(lanes), "for each element: combines its copies, in order")
    }

    /// Launches what combines the parts of a variable.
    fn combine_parts(&mut self, total: Total) -> Result<(), Refusal> {
        let Meet::Parts(parts) = total.meet else { return Ok(()) };
        let cell = self.cell(total.variable);
        let kernel = &mut self.module.kernel;
        let (place, part) = (kernel.declare_index("place"), kernel.declare_index("part"));
        let sum = kernel.declare_variable("sum", kernel.array(parts).element.ty(), true);
        let body = vec![
            Statement::Let(sum, self.identity_of(parts, total.operator)),
            Statement::For {
                variable: part,
                begin: Expr::Index(0),
                end: Expr::Length(parts),
                vector: false,
                body: vec![Statement::Update(sum, total.operator, Expr::load(parts, Expr::Variable(part)))],
            },
            Statement::Reduce(cell, Expr::Variable(place), total.operator, Expr::Variable(sum)),
        ];
        let lanes = Some(Expr::Index(WARP));
        self.combine(place, Expr::Index(1), &body, lanes, "for all warps: combines what they have, in order")
    }

    /// A launch over `0..count` of what combines.
    fn combine(
        &mut self,
        place: VariableId,
        count: Expr,
        body: &[Statement],
        lanes: Option<Expr>,
        what: &str,
    ) -> Result<(), Refusal> {
        let (team, body) = self.team(body, &BTreeSet::new(), true).with_body();
        let lanes = match &team {
            Team::Group(_, Some(Iterations::Each(_))) if lanes.is_some() => lanes,
            team => self.lanes_of(team, &count),
        };
        let begin = Expr::Index(0);
        let places = Places { place, begin, end: count.clone(), worker: None, workers: None, share: None, lanes: None };
        self.launch(&Grid::of_places(places, count), team, body, lanes, what)
    }

    /// A body that leaves in memory of a share what it adds to segments that others may add to.
    pub(super) fn leave_at_borders(
        &mut self,
        borders: Vec<Border>,
        share: &Expr,
        body: &mut Vec<Statement>,
    ) -> Vec<Meetings> {
        let mut all = Vec::new();
        for border in borders {
            let (first, last) = (self.array_like(border.array, "first"), self.array_like(border.array, "last"));
            let (own, own_end) = (Expr::Variable(border.own.0), Expr::Variable(border.own.1));
            let begin = share.clone().times(border.length.clone());
            let statements = std::mem::take(body);
            *body = replace_statements(statements, &mut |statement| match statement {
                Statement::Reduce(array, index, operator, value) if array == border.array => {
                    let from = |start: Expr| begin.clone().plus(index.clone().minus(start));
                    let at = |array, index| vec![Statement::Reduce(array, index, operator, value.clone())];
                    let of_first = begin.clone().plus(index.clone().plus(border.length.clone()).minus(own.clone()));
                    let is_first = index.clone().less(own.clone());
                    let is_last = Expr::binary(BinaryOperator::GreaterEqual, index.clone(), own_end.clone());
                    let branches = vec![(is_first, at(first, of_first)), (is_last, at(last, from(own_end.clone())))];
                    vec![Statement::If(branches, at(array, index.clone()))]
                }
                other => vec![other],
            });
            let name = format!("{}_segments", self.module.kernel.array(border.array).name);
            let width = ArrayElement::Index(IndexWidth::U64);
            let segments = self.module.kernel.declare_array(&name, width, ArrayRole::Local);
            all.push(Meetings { border, first, last, segments });
        }
        all
    }

    /// Room for what shares leave where they meet.
    pub(super) fn make_meetings(&mut self, meetings: &Meetings, shares: &Expr) {
        let Meetings { border, first, last, segments } = meetings;
        self.module.steps.push(Step::Make { array: *segments, length: shares.clone(), fill: None });
        let length = meetings.shares().times(border.length.clone());
        let fill = Some(self.identity_of(border.array, border.operator));
        for array in [*first, *last] {
            self.module.steps.push(Step::Make { array, length: length.clone(), fill: fill.clone() });
        }
        let name = &self.module.kernel.array(border.array).name;
        let what = format!("what shares have of {name} where they meet is combined in order");
        self.decide(what, "all other segments are a share's own: every run gives the same bits");
    }

    /// Launches what combines what neighbouring shares have of one segment; a share begins at each multiple of `size`.
    pub(super) fn combine_meetings(&mut self, meetings: &Meetings, begin: &Expr, size: &Expr) -> Result<(), Refusal> {
        let Meetings { border, first, last, segments } = meetings;
        let (all, shares) = (self.length_of(border.array), meetings.shares());
        let kernel = &mut self.module.kernel;
        let [share, segment, end, part, element] =
            ["share", "segment", "share_end", "part", "element"].map(|name| kernel.declare_index(name));
        let sum = kernel.declare_variable("sum", kernel.array(border.array).element.ty(), true);
        let number = Expr::Variable(share);
        // Where each share begins.
        let place = begin.clone().plus(number.clone().times(size.clone()));
        let body = vec![Statement::Store(*segments, number.clone(), border.start(place))];
        self.combine(share, shares.clone(), &body, None, "for each share: the segment that it begins in")?;
        // The first share of each segment.
        let at = |share: Expr| Expr::load(*segments, share);
        let own = Expr::Variable(segment);
        let is_begin = number.clone().equals(Expr::Index(0));
        let before = number.clone().minus(Expr::Index(1));
        let differs = Expr::binary(BinaryOperator::NotEqual, at(before.clone()), own.clone());
        let is_first = Expr::binary(BinaryOperator::Or, is_begin, differs);
        // What fills up the last row may lie behind all segments.
        let is_there = Expr::binary(BinaryOperator::LessEqual, own.clone().plus(border.length.clone()), all);
        let next = Expr::Search {
            array: *segments,
            begin: Box::new(number.clone()),
            end: Box::new(shares.clone()),
            value: Box::new(own.clone().plus(Expr::Index(1))),
            stride: 1,
            find: Find::Element,
        };
        let is_row = border.length != Expr::Index(1);
        let of_row = if is_row { Expr::Variable(element) } else { Expr::Index(0) };
        let row = |share: Expr| share.times(border.length.clone()).plus(of_row.clone());
        let add = |array, share| Statement::Update(sum, border.operator, Expr::load(array, row(share)));
        let combined = vec![
            Statement::Let(sum, self.identity_of(border.array, border.operator)),
            Statement::For {
                variable: part,
                begin: number.clone(),
                end: Expr::Variable(end),
                vector: false,
                body: vec![add(*first, Expr::Variable(part))],
            },
            Statement::If(vec![(Expr::Index(0).less(number.clone()), vec![add(*last, before)])], Vec::new()),
            Statement::Reduce(border.array, own.clone().plus(of_row.clone()), border.operator, Expr::Variable(sum)),
        ];
        let combined = match is_row {
            true => {
                let (begin, end) = (Expr::Index(0), border.length.clone());
                vec![Statement::For { variable: element, begin, end, vector: true, body: combined }]
            }
            false => combined,
        };
        let of_segment = std::iter::once(Statement::Let(end, next)).chain(combined).collect();
        let body = vec![
            Statement::Let(segment, at(number)),
            Statement::If(vec![(is_first.and(is_there), of_segment)], Vec::new()),
        ];
        let what = "for each share that is the first of a segment: combines what shares have of it, in order";
        self.combine(share, shares, &body, None, what)
    }
}
