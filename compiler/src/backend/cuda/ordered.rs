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

use super::Refusal;
use super::groups::Iterations;
use super::league::League;
use super::plan::{BLOCK, Meet, Owned, Places, Step, Total, WARP, bytes};
use super::rewrite::{replace_statements, substituted};
use super::segment::Builder;
use super::ways::{Mapped, Way};
use crate::format::IndexWidth;
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Parallel, ReduceOperator, Sharing, Statement, Type,
    VariableId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes that all copies of arrays have together, unless a single one takes more.
pub(super) const COPIES: u64 = 1 << 29;

/// The most copies of an array.
const MOST_COPIES: u64 = 1 << 14;

/// Fewer places than this are not worth a copy.
const PLACES_OF_COPY: u64 = 8;

/// So many threads combine copies: groups for each element are as wide as that allows.
const COMBINING: u64 = 1 << 16;

/// An array that threads have copies of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    pub array: ArrayId,
    pub operator: ReduceOperator,
}

/// Copies of an array, one for each worker, one behind the other.
pub(super) struct Copies {
    of: Copied,
    copies: ArrayId,
}

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
        substituted(self.start.clone(), &BTreeMap::from([(self.place, place)]))
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
    /// Whether what threads reduce has to come together in an order that is known.
    pub(super) fn is_ordered(&self, ty: Type, operator: ReduceOperator) -> bool {
        let Type::Element(element) = ty else { return false };
        // The parts of a complex number are added one by one; nothing else can be done with both at once.
        let is_atomic = !element.is_complex() || operator == ReduceOperator::Add;
        !is_atomic || self.options.deterministic && operator.is_ordered(element)
    }

    fn is_ordered_array(&self, array: ArrayId, operator: ReduceOperator) -> bool {
        self.is_ordered(self.module.kernel.array(array).element.ty(), operator)
    }

    /// The arrays that chunks of a loop update together: those that threads need copies of, and those that they update by atomic
    /// operations.
    pub(super) fn updated(&self, parallel: &Parallel) -> (Vec<Copied>, BTreeSet<ArrayId>) {
        let updates = parallel.sharing.iter().filter_map(|(array, sharing)| match sharing {
            Sharing::Private(operator) | Sharing::Segmented { operator, .. } => {
                Some(Copied { array: *array, operator: *operator })
            }
            _ => None,
        });
        let (copied, atomic): (Vec<Copied>, Vec<Copied>) =
            updates.partition(|update| self.is_ordered_array(update.array, update.operator));
        (copied, atomic.into_iter().map(|update| update.array).collect())
    }

    /// The arrays of a loop whose segments ascend with places: those that are combined in order, and the others.
    pub(super) fn borders(&mut self, parallel: &Parallel) -> (Vec<Border>, Vec<Border>) {
        let mut borders = Vec::new();
        for (array, sharing) in &parallel.sharing {
            let Sharing::Segmented { place, start, length, operator } = sharing else { continue };
            let kernel = &mut self.module.kernel;
            let name = kernel.array(*array).name.clone();
            let own = (kernel.declare_index(&format!("{name}_own")), kernel.declare_index(&format!("{name}_own_end")));
            let (start, length) = (start.clone(), length.clone());
            borders.push(Border { array: *array, operator: *operator, place: *place, start, length, own });
        }
        borders.into_iter().partition(|border| self.is_ordered_array(border.array, border.operator))
    }

    /// Whether a loop has segments that are combined in order.
    pub(super) fn has_ordered_segments(&self, parallel: &Parallel) -> bool {
        let is_ordered = |(array, sharing): &(ArrayId, Sharing)| match sharing {
            Sharing::Segmented { operator, .. } => self.is_ordered_array(*array, *operator),
            _ => false,
        };
        parallel.sharing.iter().any(is_ordered)
    }

    /// How threads run a body, if what several of them have of some arrays is apart: no two threads at one place, and no two lanes
    /// at different ones, touch one element.
    pub(super) fn way_apart(
        &mut self,
        body: &[Statement],
        atomic: &BTreeSet<ArrayId>,
        apart: &[ArrayId],
    ) -> Option<Mapped> {
        let (way, body) = self.way(body, atomic, true).with_body();
        let is_apart = match &way {
            Way::Row(row) => row.is_apart(&body, apart),
            _ => true,
        };
        is_apart.then(|| way.holding(body))
    }

    /// The number of elements of an array, for host and device.
    pub(super) fn length_of(&self, array: ArrayId) -> Expr {
        let view = self.views.iter().find_map(|view| match view {
            Statement::View { array: other, length, .. } if *other == array => Some(length.clone()),
            _ => None,
        });
        view.unwrap_or(Expr::Length(array))
    }

    pub(super) fn bytes_of(&self, array: ArrayId) -> u64 {
        bytes(&self.module.kernel, array)
    }

    /// How many workers have copies, for so many tasks.
    pub(super) fn most_copies(&self, copied: &[Copied], tasks: Expr) -> Expr {
        let bytes = |copied: &Copied| self.length_of(copied.array).times(Expr::Index(self.bytes_of(copied.array)));
        let bytes = copied.iter().map(bytes).fold(Expr::Index(1), Expr::plus);
        let fit = Expr::binary(BinaryOperator::Divide, Expr::Index(COPIES), bytes);
        let worth = Expr::binary(BinaryOperator::Divide, tasks, Expr::Index(PLACES_OF_COPY));
        let both = Expr::binary(BinaryOperator::Minimum, fit, worth);
        let most = Expr::binary(BinaryOperator::Minimum, both, Expr::Index(MOST_COPIES));
        Expr::binary(BinaryOperator::Maximum, most, Expr::Index(1))
    }

    /// A body that updates its worker's copies.
    pub(super) fn copies(&mut self, league: &League, worker: VariableId, body: &mut Vec<Statement>) -> Vec<Copies> {
        let mut all = Vec::new();
        for &of in &league.copied {
            let length = self.length_of(of.array);
            let copies = self.array_like(of.array, "copies");
            let begin = Expr::Variable(worker).times(length);
            let statements = std::mem::take(body);
            *body = replace_statements(statements, &mut |statement| match statement {
                Statement::Reduce(array, index, operator, value) if array == of.array => {
                    vec![Statement::Reduce(copies, begin.clone().plus(index), operator, value)]
                }
                other => vec![other],
            });
            all.push(Copies { of, copies });
        }
        all
    }

    /// An array for parts of another.
    fn array_like(&mut self, array: ArrayId, what: &str) -> ArrayId {
        let declared = self.module.kernel.array(array).clone();
        self.module.kernel.declare_array(&format!("{}_{what}", declared.name), declared.element, ArrayRole::Local)
    }

    pub(super) fn identity_of(&self, array: ArrayId, operator: ReduceOperator) -> Expr {
        match self.module.kernel.array(array).element {
            ArrayElement::Value(element) => Expr::Literal(operator.identity(element).unwrap_or(element.zero())),
            ArrayElement::Index(_) => Expr::Index(0),
        }
    }

    /// Room for copies, all of which hold what changes nothing.
    pub(super) fn make_copies(&mut self, copies: &Copies, workers: &Expr) {
        let length = workers.clone().times(self.length_of(copies.of.array));
        let fill = Some(self.identity_of(copies.of.array, copies.of.operator));
        self.module.steps.push(Step::Make { array: copies.copies, length, fill });
        let name = &self.module.kernel.array(copies.of.array).name;
        let what = format!("workers have copies of {name}, which are combined in order");
        self.decide(what, "places are dealt out to workers by their number: every run gives the same bits");
    }

    /// Launches what combines copies.
    pub(super) fn combine_copies(&mut self, copies: &Copies) -> Result<(), Refusal> {
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
    pub(super) fn combine_parts(&mut self, total: Total) -> Result<(), Refusal> {
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
        let (way, body) = self.way(body, &BTreeSet::new(), true).with_body();
        let lanes = match &way {
            Way::Group(_, Some(Iterations::Each(_))) if lanes.is_some() => lanes,
            way => self.lanes_of(way, &count),
        };
        let begin = Expr::Index(0);
        let places = Places { place, begin, end: count.clone(), worker: None, workers: None, share: None, lanes: None };
        self.launch_way(&League::of_places(places, count), way, body, lanes, what)
    }

    /// What threads leave of a variable: in a cell, or in parts that are combined in order.
    pub(super) fn meeting(&mut self, variable: VariableId, operator: ReduceOperator) -> Meet {
        let cell = self.cell(variable);
        match self.is_ordered(self.module.kernel.variable(variable).ty, operator) {
            true => Meet::Parts(self.array_like(cell, "parts")),
            false => Meet::Cell(cell),
        }
    }

    /// Room for a part of each warp that is launched.
    pub(super) fn make_parts(&mut self, league: &League, workers: &Expr) {
        for total in &league.totals {
            let Meet::Parts(parts) = total.meet else { continue };
            let threads = Expr::binary(BinaryOperator::Minimum, league.tasks(), workers.clone());
            let length = rounded_up(threads, BLOCK).times(Expr::Index(BLOCK / WARP));
            let fill = Some(self.identity_of(parts, total.operator));
            self.module.steps.push(Step::Make { array: parts, length, fill });
            let name = self.module.kernel.variable(total.variable).name.clone();
            let why = "each warp leaves what it has: every run gives the same bits";
            self.decide(format!("{name} is combined in order"), why);
        }
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

/// A number of blocks that is no less.
fn rounded_up(number: Expr, block: u64) -> Expr {
    Expr::binary(BinaryOperator::Divide, number.plus(Expr::Index(block - 1)), Expr::Index(block))
}
