//! What a loop nest costs.
//!
//! The order of loops is what the scheduler makes of a statement: storage orders decide, then the result's levels, then the order of
//! appearance; a dense index of the result is innermost, in vector lanes. Factors are hoisted, so a level costs its iterations times
//! what is formed there: a row of the vector loop, or a scalar. The constants were fitted to measured kernels of two threads.

use super::estimate::Estimator;
use super::sets::{Set, Vars, members};

/// What a plan costs, estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// Operations on elements.
    pub operations: f64,
    /// Bytes that are read and written.
    pub bytes: f64,
    /// Bytes of temporaries.
    pub memory: f64,
    /// Nanoseconds.
    pub time: f64,
    /// Nanoseconds at most, if every estimate is as wrong as its bound allows.
    pub bound: f64,
}

/// Nanoseconds of a row of a vector loop that goes into registers: for the row, and for each element.
const ROW: (f64, f64) = (0.25, 0.03);
/// The same for a row that is added to memory: for the row where that is near, in a cache, or farther.
const UPDATED_ROW: [f64; 3] = [0.5, 2.0, 5.5];
/// What is near, and what a cache holds, in bytes.
const CACHES: [f64; 2] = [(32 << 10) as f64, (1 << 20) as f64];
/// An element of a row that is read at a distance from the one before.
const STRIDED: f64 = 0.6;
/// A scalar multiply-add into a register, its operand gathered.
const STEP: f64 = 0.25;
/// A scalar update of memory, where that is near, in a cache, or farther.
const SCALAR_UPDATE: [f64; 3] = [0.3, 1.0, 2.5];
/// An iteration of a loop around others.
const LOOP: f64 = 0.5;
/// An entry that is walked where lists meet.
const MEET: f64 = 0.3;
/// A product that goes into a sparse result in any order, with its part in putting it in order.
const COLLECT: f64 = 2.5;
/// An entry of a sparse result that is appended, and an element of one: chunks of it are put into one another's place at the end.
const APPEND: f64 = 2.0;
const APPENDED: f64 = 1.5;
/// An element of a temporary that is filled, written and read, in a cache.
const NEAR: f64 = 0.1;
/// The same in memory.
const FAR: f64 = 0.6;
/// An entry of a sorted copy.
const SORTED: f64 = 15.0;
/// The start of a nest.
const START: f64 = 300.0;
/// Rows of so many elements are worth vector lanes.
const LANES: f64 = 4.0;
/// What of a temporary is near.
const NEAR_BYTES: f64 = (16 << 20) as f64;

/// How an operand is accessed.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct View {
    /// The variables of its levels, outermost first.
    pub levels: Vec<usize>,
    /// Those of levels whose positions are walked.
    pub walked: Vars,
    /// The variable of its last level, where that is it as it is.
    pub last: Option<usize>,
    /// Its entries, for a copy.
    pub entries: f64,
    /// Whether loops may read a sorted copy.
    pub may_be_copied: bool,
    /// Whether it is all of a factor, with each mode in a level of its own.
    pub is_plain: bool,
    /// Whether it is a sorted copy, whose index arrays no result shares.
    pub is_copy: bool,
}

/// A factor of a nest.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Operand {
    pub vars: Vars,
    pub views: Vec<View>,
    /// The factors whose patterns bound the loops over it.
    pub live: Set,
}

/// What a nest writes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Result {
    /// The variables of its levels, outermost first.
    pub levels: Vec<usize>,
    /// Those of levels that store coordinates.
    pub stored: Vars,
    /// Bytes of an element.
    pub bytes: f64,
    /// Whether it is a temporary.
    pub is_temporary: bool,
}

/// Loops, and what they cost.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Nest {
    /// Their variables, outermost first.
    pub order: Vec<usize>,
    /// Whether the entries of a sparse result come in order.
    pub in_order: bool,
    /// Whether operands are read from sorted copies.
    pub reads_copies: bool,
    pub operations: f64,
    pub bytes: f64,
    pub time: f64,
    /// The part of the time that it takes to start the loops and to have a temporary in memory.
    pub kept: f64,
}

impl View {
    /// For each variable, those that loops must be over before.
    fn edges(&self, before: &mut [Vars]) {
        let mut outside: Vars = 0;
        for &variable in &self.levels {
            if self.walked >> variable & 1 == 1 {
                before[variable] |= outside & !(1 << variable);
            }
            outside |= 1 << variable;
        }
    }

    /// Whether a loop over a variable may be innermost as far as this operand is concerned.
    fn is_dense_along(&self, variable: usize) -> bool {
        let place = self.levels.iter().position(|&level| level == variable);
        place.is_none_or(|place| self.levels[place..].iter().all(|&level| self.walked >> level & 1 == 0))
    }

    fn vars(&self) -> Vars {
        self.levels.iter().fold(0, |all, &level| all | 1 << level)
    }

    /// The same operand as a sorted copy: its levels in the order of the loops, each stored as the level at its place was.
    pub(super) fn copied(&self, order: &[usize]) -> Self {
        let mut levels = self.levels.clone();
        levels.sort_by_key(|level| order.iter().position(|variable| variable == level));
        let kinds = self.levels.iter().map(|level| self.walked >> level & 1 == 1);
        let walked =
            levels.iter().zip(kinds).filter(|(_, is_walked)| *is_walked).fold(0, |all, (level, _)| all | 1 << level);
        Self { last: self.last.and(levels.last().copied()), levels, walked, is_copy: true, ..self.clone() }
    }
}

/// An order of variables that keeps to what must come before what, taking of those that may come next the one of least rank.
fn topological(vars: Vars, before: &[Vars], rank: &dyn Fn(usize) -> usize) -> Option<Vec<usize>> {
    let mut rest = vars;
    let mut order = Vec::with_capacity(vars.count_ones() as usize);
    while rest != 0 {
        let next =
            members(rest).filter(|&variable| before[variable] & rest == 0).min_by_key(|&variable| rank(variable))?;
        rest &= !(1 << next);
        order.push(next);
    }
    Some(order)
}

/// What kernels are run with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Machine {
    pub threads: f64,
    pub calls: f64,
}

impl Machine {
    /// How many times as long as on the two threads of the constants loops take.
    fn share(self) -> f64 {
        2.0 / self.threads.max(1.0)
    }
}

/// What it costs to make a pattern of so many entries.
pub(super) fn pattern(entries: f64) -> f64 {
    entries * LOOP + START
}

/// What it costs to make a sorted copy of so many entries, for each of some calls.
pub(super) fn copy(entries: f64, machine: Machine) -> f64 {
    SORTED * entries / machine.calls.max(1.0)
}

/// The loops of a product and their cost.
pub(super) fn nest(of: &Estimator, operands: &[&Operand], result: &Result, machine: Machine) -> Nest {
    let vars = operands.iter().fold(0, |all, operand| all | operand.vars);
    let views: Vec<&View> = operands.iter().flat_map(|operand| &operand.views).collect();
    let target = result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
    let vector = vector(&views, result);
    let rank = |variable: usize| match result.levels.iter().position(|&level| level == variable) {
        _ if Some(variable) == vector => usize::MAX,
        Some(place) => place,
        None => result.levels.len() + variable,
    };
    // A sparse result is appended where its coordinates come in order and sums are inside, else collected.
    let count = of.extents.len();
    let mut appended = vec![0; count];
    let mut outside: Vars = 0;
    for &level in &result.levels {
        if result.stored & !outside != 0 {
            appended[level] |= outside;
            outside |= 1 << level;
        }
    }
    members(vars & !outside).for_each(|inner| appended[inner] |= outside);
    let order_of = |copied: u64, is_appended: bool| {
        let mut before = if is_appended { appended.clone() } else { vec![0; count] };
        let read = views.iter().enumerate().filter(|(place, _)| copied >> place & 1 == 0);
        read.for_each(|(_, view)| view.edges(&mut before));
        topological(vars, &before, &rank)
    };
    let walks: Vec<usize> = (0..views.len().min(63)).filter(|&place| views[place].walked != 0).rev().collect();
    let single = walks.iter().map(|&place| 1u64 << place);
    let tries: Vec<u64> = [0].into_iter().chain(single).chain([u64::MAX >> 1]).collect();
    let is_sparse = result.stored != 0;
    let found = tries.iter().find_map(|&copied| {
        let in_order = is_sparse.then(|| order_of(copied, true)).flatten().map(|order| (order, true));
        in_order
            .or_else(|| order_of(copied, false).map(|order| (order, !is_sparse)))
            .map(|(order, ok)| (copied, order, ok))
    });
    let (copied, order, in_order) = found.unwrap_or_else(|| (0, members(vars).collect(), false));
    let mut place = 0;
    let read_in_order = |operand: &&Operand| {
        let mut operand = (*operand).clone();
        for view in &mut operand.views {
            if copied >> place & 1 == 1 && view.walked != 0 {
                *view = view.copied(&order);
            }
            place += 1;
        }
        operand
    };
    let in_loops: Vec<Operand> = if copied == 0 { Vec::new() } else { operands.iter().map(read_in_order).collect() };
    let in_loops: Vec<&Operand> = in_loops.iter().collect();
    let read = if copied == 0 { operands } else { &in_loops };
    let mut nest = walked(of, read, result, order, vector, in_order);
    for (place, view) in views.iter().enumerate() {
        if copied >> place & 1 == 1 && view.walked != 0 {
            // What a statement before has made is sorted in each call.
            let calls = if view.may_be_copied { machine.calls } else { 1.0 };
            nest.time += copy(view.entries, Machine { calls, ..machine });
        }
    }
    nest.reads_copies = copied & walks.iter().fold(0, |all, place| all | 1 << place) != 0;
    let live = operands.iter().fold(0, |all, operand| all | operand.live);
    let stored = result.stored_levels();
    let shares = |view: &View| !view.is_copy && view.levels.starts_with(stored);
    let is_shared = read.iter().flat_map(|operand| &operand.views).any(shares);
    let kept = kept(of, result, live, target, in_order && !is_shared, &mut nest.bytes);
    nest.kept = kept * machine.share() + START;
    nest.time = nest.time * machine.share() + nest.kept;
    nest
}

/// The loops of a product in a given order, if its operands can be read in it, and their cost without that of a temporary.
pub(super) fn nest_in_order(
    of: &Estimator,
    operands: &[&Operand],
    result: &Result,
    machine: Machine,
    order: &[usize],
) -> Option<Nest> {
    let views: Vec<&View> = operands.iter().flat_map(|operand| &operand.views).collect();
    let mut before = vec![0; of.extents.len()];
    views.iter().for_each(|view| view.edges(&mut before));
    let mut seen: Vars = 0;
    for &variable in order {
        (before[variable] & !seen == 0).then_some(())?;
        seen |= 1 << variable;
    }
    let vector = vector(&views, result);
    (vector.is_none() || vector == order.last().copied()).then_some(())?;
    let mut nest = walked(of, operands, result, order.to_vec(), vector, true);
    nest.time *= machine.share();
    Some(nest)
}

/// What loops that go through so many tuples take at least.
pub(super) fn least(tuples: f64, machine: Machine) -> f64 {
    tuples * ROW.1 * machine.share() + START
}

/// What it costs to fill and read a workspace of so many elements so many times, in a cache.
pub(super) fn workspace(elements: f64, times: f64, machine: Machine) -> f64 {
    times * (LOOP + elements * ROW.1) * machine.share()
}

/// The index of the result whose loop is in vector lanes: one along which everything is dense, and most is contiguous.
fn vector(views: &[&View], result: &Result) -> Option<usize> {
    let own = View {
        levels: result.levels.clone(),
        walked: result.stored,
        last: result.levels.last().copied(),
        ..View::default()
    };
    let count = |variable: usize| {
        let along = views.iter().copied().chain([&own]).filter(|view| view.vars() >> variable & 1 == 1);
        let mut contiguous = 0;
        for view in along {
            if !view.is_dense_along(variable) {
                return None;
            }
            contiguous += usize::from(view.last == Some(variable));
        }
        (contiguous > 0).then_some(contiguous)
    };
    let places = result.levels.iter().enumerate();
    let found = places.filter_map(|(place, &variable)| Some((count(variable)?, place, variable)));
    found.max().map(|(.., variable)| variable)
}

/// The cost of the loops alone.
fn walked(
    of: &Estimator,
    operands: &[&Operand],
    result: &Result,
    order: Vec<usize>,
    vector: Option<usize>,
    in_order: bool,
) -> Nest {
    let live = operands.iter().fold(0, |all, operand| all | operand.live);
    let all = operands.iter().fold(0, |all, operand| all | operand.vars);
    let target = result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
    let row = vector.map_or(1.0, |variable| of.extents[variable]);
    let loops: Vec<usize> = order.iter().copied().filter(|&variable| Some(variable) != vector).collect();
    let vector_set = vector.map_or(0, |variable| 1 << variable);
    // The depth of the last loop that an operand depends on.
    let depth_of = |vars: Vars| loops.iter().rposition(|&variable| vars >> variable & 1 == 1);
    let depths: Vec<Option<usize>> = operands.iter().map(|operand| depth_of(operand.vars)).collect();
    let innermost = loops.len().checked_sub(1);
    // Where a sum is outside of an index of the result other than the vector's, results are updated in memory.
    let first_sum = loops.iter().position(|&variable| target >> variable & 1 == 0);
    let last_own = loops.iter().rposition(|&variable| target >> variable & 1 == 1);
    let updates = first_sum.zip(last_own).is_some_and(|(sum, own)| sum < own);
    let inside_of_sum =
        first_sum.map_or(0, |sum| loops[sum..].iter().fold(0, |all: Vars, &variable| all | 1 << variable));
    let spread = of.places((inside_of_sum | vector_set) & target) * result.bytes;
    let mut nest = Nest { in_order, ..Nest::default() };
    let mut outside: Vars = 0;
    if loops.is_empty() {
        nest.operations = row * operands.len() as f64;
        nest.time = ROW.0 + row * ROW.1;
    }
    for (depth, &variable) in loops.iter().enumerate() {
        let around = outside;
        outside |= 1 << variable;
        let iterations = of.tuples(outside, live, all);
        let walkers: Vec<&View> = operands
            .iter()
            .flat_map(|operand| &operand.views)
            .filter(|view| view.walked >> variable & 1 == 1)
            .collect();
        if walkers.len() > 1 {
            for operand in
                operands.iter().filter(|operand| operand.views.iter().any(|view| view.walked >> variable & 1 == 1))
            {
                nest.time += MEET * met(of, operands, operand, (around, all), variable);
            }
        } else if Some(depth) != innermost {
            nest.time += LOOP * iterations;
        }
        let formed = depths.iter().filter(|&&last| last == Some(depth)).count();
        let is_innermost = Some(depth) == innermost;
        if formed == 0 && !is_innermost {
            continue;
        }
        let is_row = operands
            .iter()
            .zip(&depths)
            .any(|(operand, &last)| operand.vars & vector_set != 0 && (last >= Some(depth) || is_innermost));
        let width = if is_row { row } else { 1.0 };
        let operations = iterations * width;
        nest.operations += operations * (formed + usize::from(is_innermost)).max(1) as f64;
        let is_vector = is_row && width >= LANES;
        let formed_here = operands.iter().zip(&depths).filter(|(_, last)| **last == Some(depth) || is_innermost);
        let along = |view: &View| vector.is_some_and(|v| view.levels.contains(&v) && view.last != Some(v));
        let strided = formed_here.flat_map(|(operand, _)| &operand.views).filter(|view| along(view)).count();
        if is_vector {
            nest.time += operations * STRIDED * strided as f64;
        }
        let distance = CACHES.iter().filter(|&&bytes| spread > bytes).count();
        nest.time += match (is_innermost && updates, is_vector) {
            (true, true) => iterations * (UPDATED_ROW[distance] + width * ROW.1),
            (true, false) => operations * SCALAR_UPDATE[distance],
            (false, true) => iterations * (ROW.0 + width * ROW.1),
            (false, false) => operations * STEP,
        };
        nest.bytes += iterations * 12.0;
        if is_innermost && !in_order {
            nest.time += operations * COLLECT;
        }
    }
    nest.order = loops;
    nest.order.extend(vector);
    nest
}

/// The entries of an operand that are walked in a loop in which it meets others: under each iteration of the loops around, of those over
/// `all`.
fn met(of: &Estimator, operands: &[&Operand], operand: &Operand, (around, all): (Vars, Vars), variable: usize) -> f64 {
    let others = operands.iter().filter(|other| other.vars >> variable & 1 == 0);
    let live = others.fold(operand.live, |all, other| all | other.live);
    of.tuples(around | 1 << variable, live, all).max(of.tuples(around, live, all))
}

/// What it costs to have the result in memory.
fn kept(of: &Estimator, result: &Result, live: Set, target: Vars, is_appended: bool, bytes: &mut f64) -> f64 {
    if !result.is_temporary {
        return 0.0;
    }
    let elements = elements(of, result, live, target);
    *bytes += 2.0 * elements * result.bytes;
    let place = if elements * result.bytes <= NEAR_BYTES { NEAR } else { FAR };
    let made = match result.stored != 0 && is_appended {
        true => APPEND * of.size(target & stored_part(result), live).estimate + APPENDED * elements,
        false => 0.0,
    };
    elements * place + made
}

/// The elements of a result that are stored.
pub(super) fn elements(of: &Estimator, result: &Result, live: Set, target: Vars) -> f64 {
    let stored = stored_part(result);
    if result.stored == 0 { of.places(target) } else { of.size(stored, live).estimate * of.places(target & !stored) }
}

/// The variables of the levels down to the last that stores coordinates.
pub(super) fn stored_part(result: &Result) -> Vars {
    result.stored_levels().iter().fold(0, |all, &level| all | 1 << level)
}

impl Result {
    /// The levels down to the last that stores coordinates.
    fn stored_levels(&self) -> &[usize] {
        let last = self.levels.iter().rposition(|&level| self.stored >> level & 1 == 1).map_or(0, |last| last + 1);
        &self.levels[..last]
    }
}
