//! How many tuples a join has: what loops run over, and what temporaries store.
//!
//! An estimate takes coordinates to be spread evenly and independently over what is known of each operand: distinct coordinates of
//! sets of modes, and the norms of their degrees where two operands meet in an index. A bound takes nothing for granted: it is the
//! least product, over orders of the operands, of the most entries that each has under what is known of the coordinates so far (the
//! chain bound for degree constraints; Abo Khamis, Ngo, Suciu, *What do Shannon-type inequalities, submodular width, and disjunctive
//! Datalog have to do with one another?*, 2017).

use super::facts::{Degrees, Facts, Known, Modes, TensorFacts};
use super::sets::{Set, Vars, members, permutations};
use crate::notation::{Access, Kernel, TensorId};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

/// The most operands of which all orders are tried for a bound.
const MOST_ORDERED: usize = 4;

/// Where a sparse operand may have entries.
#[derive(Debug, Clone)]
pub(super) struct Pattern {
    tensor: TensorId,
    /// The variable of each mode.
    indices: Vec<usize>,
    pub vars: Vars,
    /// Those whose coordinates are stored.
    pub walked: Vars,
    entries: Known,
    facts: TensorFacts,
}

/// An estimate, and what it is at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    pub estimate: f64,
    pub bound: f64,
}

/// What is known of the factors of one product.
pub(super) struct Estimator {
    /// The extent of each variable.
    pub extents: Vec<f64>,
    /// The patterns of each factor.
    pub patterns: Rc<Vec<Vec<Pattern>>>,
    /// Whether every size is taken to be what it is at most.
    is_pessimistic: bool,
    tuples: RefCell<Figures<f64>>,
    sizes: RefCell<Figures<Size>>,
}

/// Factors whose patterns share variables.
struct Join {
    /// The variables of all of them.
    vars: Vars,
    /// Those whose coordinates are stored.
    walked: Vars,
    factors: Set,
}

/// Figures by variables and factors.
type Figures<T> = HashMap<(Vars, Set, Vars), T, BuildHasherDefault<Mixed>>;

/// A hash of a few words, which no one chooses (the multiplier is that of P. L'Ecuyer's generators).
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0xda94_2042_e4dd_58b5).rotate_left(31);
    }

    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0xda94_2042_e4dd_58b5)
    }
}

/// The extent of every variable of a kernel, as far as it is known, or assumed of some of them.
pub(super) fn extents(kernel: &Kernel, facts: &Facts, assumed: &[(usize, f64)]) -> Vec<Option<f64>> {
    let mut found: Vec<Option<f64>> =
        kernel.variables.iter().map(|variable| variable.extent.map(|e| e as f64)).collect();
    for (extent, variable) in found.iter_mut().zip(&kernel.variables) {
        let names = variable.written.iter().map(|written| &written.name).chain([&variable.name]);
        let mut stated = names.filter_map(|name| facts.extents.get(name)).map(|&extent| extent as f64);
        *extent = extent.or_else(|| stated.next());
    }
    let mut modes: Vec<Vec<Option<f64>>> =
        kernel.tensors.iter().map(|tensor| vec![None; tensor.format.order]).collect();
    for (modes, tensor) in modes.iter_mut().zip(&kernel.tensors) {
        let shape = facts.tensors.get(&tensor.name).map(|facts| &facts.shape[..]).unwrap_or_default();
        modes.iter_mut().zip(shape).for_each(|(mode, extent)| *mode = extent.map(|extent| extent as f64));
    }
    assumed.iter().for_each(|&(variable, extent)| found[variable] = Some(extent));
    // What one access tells of a variable, others tell of their modes.
    for _ in 0..=kernel.statements.len() {
        let mut named: BTreeMap<(usize, &str), f64> = BTreeMap::new();
        let mut note = |access: &Access| {
            for (mode, index) in access.indices.iter().enumerate() {
                let known = modes[access.tensor.0][mode].or(found[index.0]);
                modes[access.tensor.0][mode] = known;
                found[index.0] = found[index.0].or(known);
            }
        };
        for statement in &kernel.statements {
            note(&statement.target);
            statement.reads().for_each(&mut note);
        }
        let written = |id: usize| kernel.variables[id].written.as_ref().map(|w| (w.statement, w.name.as_str()));
        for (id, extent) in found.iter().enumerate() {
            if let (Some(key), Some(extent)) = (written(id), *extent) {
                named.insert(key, extent);
            }
        }
        for (id, extent) in found.iter_mut().enumerate() {
            *extent = extent.or_else(|| named.get(&written(id)?).copied());
        }
    }
    found
}

impl Pattern {
    /// The pattern of a sparse access whose indices run; `None` where its entries can't be told.
    pub(super) fn of(
        kernel: &Kernel,
        access: &Access,
        walked: Vars,
        extents: &[Option<f64>],
        facts: &Facts,
    ) -> Option<Self> {
        let tensor = kernel.tensor(access.tensor);
        let facts = facts.tensors.get(&tensor.name).cloned().unwrap_or_default();
        let indices: Vec<usize> = access.indices.iter().map(|index| index.0).collect();
        let places: f64 = indices.iter().map(|&index| extents[index]).product::<Option<f64>>()?;
        let whole: Modes = (1 << indices.len()) - 1;
        let entries = facts.entries.or_else(|| facts.distinct.get(&whole).copied())?;
        let entries =
            Known { estimate: entries.estimate.clamp(0.0, places), bound: entries.bound.min(places), ..entries };
        let vars = indices.iter().fold(0, |all, &index| all | 1 << index);
        Some(Self { tensor: access.tensor, indices, vars, walked, entries, facts })
    }

    /// Its entries.
    pub(super) fn count(&self) -> f64 {
        self.entries.estimate
    }

    fn same_place(&self, other: &Self) -> bool {
        self.tensor == other.tensor && self.indices == other.indices
    }

    fn modes(&self, vars: Vars) -> Modes {
        let has = |(_, index): &(usize, &usize)| vars >> **index & 1 == 1;
        self.indices.iter().enumerate().filter(has).fold(0, |all, (mode, _)| all | 1 << mode)
    }

    /// Distinct coordinates of some of its variables, of which there are so many places.
    fn distinct(&self, vars: Vars, places: f64) -> Size {
        let modes = self.modes(vars);
        if modes.count_ones() as usize == self.indices.len() {
            return Size { estimate: self.entries.estimate, bound: self.entries.bound };
        }
        let most = places.min(self.entries.bound);
        match self.facts.distinct.get(&modes) {
            Some(known) => Size { estimate: known.estimate.min(places), bound: known.bound.min(most) },
            None => Size { estimate: occupied(self.entries.estimate, places), bound: most },
        }
    }

    /// The most entries under one coordinate of some of its variables, where so many places differ in the others.
    fn most_under(&self, seen: Vars, new_places: f64) -> f64 {
        let degrees = self.facts.degrees.get(&self.modes(seen));
        degrees.map_or(self.entries.bound, |degrees| degrees.largest).min(self.entries.bound).min(new_places)
    }

    fn degrees(&self, vars: Vars) -> Option<&Degrees> {
        self.facts.degrees.get(&self.modes(vars))
    }
}

/// How many of so many places have something, where so many things fall on them at random.
fn occupied(things: f64, places: f64) -> f64 {
    if places <= 0.0 { 0.0 } else { (-places * (-things / places).exp_m1()).min(things).min(places) }
}

impl Estimator {
    pub(super) fn new(extents: Vec<f64>, patterns: Vec<Vec<Pattern>>) -> Self {
        let patterns = Rc::new(patterns);
        Self { extents, patterns, is_pessimistic: false, tuples: RefCell::default(), sizes: RefCell::default() }
    }

    /// The same with every size as large as it may be.
    pub(super) fn pessimistic(&self) -> Self {
        let (extents, patterns) = (self.extents.clone(), self.patterns.clone());
        Self { extents, patterns, is_pessimistic: true, tuples: RefCell::default(), sizes: RefCell::default() }
    }

    /// The coordinates of some variables.
    pub(super) fn places(&self, vars: Vars) -> f64 {
        members(vars).map(|variable| self.extents[variable]).product()
    }

    /// The patterns of some factors that bound loops over some variables, each once.
    fn among(&self, vars: Vars, live: Set) -> Vec<&Pattern> {
        let mut found: Vec<&Pattern> = Vec::new();
        for pattern in members(live).flat_map(|factor| &self.patterns[factor]) {
            if pattern.walked & vars != 0 && !found.iter().any(|other| other.same_place(pattern)) {
                found.push(pattern);
            }
        }
        found
    }

    /// The iterations of loops over some variables that walk the patterns of some factors, in a nest over `all`: over what else factors
    /// have they were reduced before.
    pub(super) fn tuples(&self, vars: Vars, live: Set, all: Vars) -> f64 {
        if let Some(&known) = self.tuples.borrow().get(&(vars, live, all)) {
            return known;
        }
        let (alone, joins) = self.joins(all, live);
        let patterns = self.among(vars, alone);
        let mut estimate = self.places(vars);
        for pattern in &patterns {
            let own = pattern.vars & vars;
            let places = self.places(own);
            estimate *= if places > 0.0 { pattern.distinct(own, places).estimate / places } else { 0.0 };
        }
        estimate *= self.skew(vars, &patterns);
        let mut bound = self.chain(vars, &self.among(vars, live));
        for Join { vars: joined, walked, factors } in joins.iter().filter(|join| join.walked & vars != 0) {
            let places = self.places(joined & vars);
            let found = occupied(self.tuples(*joined, *factors, *joined), places);
            estimate *= if places > 0.0 { found / places } else { 0.0 };
            bound = bound.min(self.chain(vars | walked, &self.among(vars | walked, live)));
        }
        let estimate = if self.is_pessimistic { bound } else { estimate.min(bound) };
        self.tuples.borrow_mut().insert((vars, live, all), estimate);
        estimate
    }

    /// The factors whose patterns share no variable but some of `loops` with others, and the joins of the rest: what temporaries store.
    fn joins(&self, loops: Vars, live: Set) -> (Set, Vec<Join>) {
        let (mut alone, mut joins): (Set, Vec<Join>) = (0, Vec::new());
        for factor in members(live) {
            let of =
                |vars: fn(&Pattern) -> Vars| self.patterns[factor].iter().fold(0, |all, pattern| all | vars(pattern));
            let (vars, walked) = (of(|pattern| pattern.vars), of(|pattern| pattern.walked));
            let mut join = Join { vars, walked, factors: 1 << factor };
            let meets = |other: &Join| other.vars & join.vars & !loops != 0;
            let (met, others): (Vec<Join>, Vec<Join>) = joins.into_iter().partition(meets);
            joins = others;
            for other in met {
                join.vars |= other.vars;
                join.walked |= other.walked;
                join.factors |= other.factors;
            }
            joins.push(join);
        }
        joins.retain(|join| {
            let is_alone = join.factors.count_ones() == 1;
            alone |= if is_alone { join.factors } else { 0 };
            !is_alone
        });
        (alone, joins)
    }

    /// How many more tuples there are than of even degrees, where the degrees of two patterns are known in what they share: the mean
    /// of that and the bound that their norms give.
    fn skew(&self, vars: Vars, patterns: &[&Pattern]) -> f64 {
        let mut component: Vec<usize> = (0..patterns.len()).collect();
        let mut skew = 1.0;
        for (place, one) in patterns.iter().enumerate() {
            for (other_place, other) in patterns.iter().enumerate().skip(place + 1) {
                let shared = one.vars & other.vars;
                let is_whole = (one.vars | other.vars) & !vars == 0;
                if shared == 0 || !is_whole || component[place] == component[other_place] {
                    continue;
                }
                if let (Some(a), Some(b)) = (one.degrees(shared), other.degrees(shared)) {
                    let even = one.entries.estimate * other.entries.estimate / self.places(shared).max(1.0);
                    skew *= (a.norm * b.norm / even.max(1.0)).sqrt().max(1.0);
                    let (from, to) = (component[other_place], component[place]);
                    component.iter_mut().filter(|c| **c == from).for_each(|c| *c = to);
                }
            }
        }
        skew
    }

    /// The chain bound.
    fn chain(&self, vars: Vars, patterns: &[&Pattern]) -> f64 {
        let mut least = self.places(vars);
        let mut try_order = |order: &[usize]| {
            let (mut seen, mut most): (Vars, f64) = (0, 1.0);
            for &place in order {
                let own = patterns[place].vars & vars;
                let (old, new) = (own & seen, own & !seen);
                if new != 0 {
                    let places = self.places(new);
                    most *= match old {
                        0 => patterns[place].distinct(own, places).bound,
                        _ => patterns[place]
                            .most_under(old, places)
                            .min(patterns[place].distinct(own, self.places(own)).bound),
                    };
                    seen |= own;
                }
            }
            least = least.min(most * self.places(vars & !seen));
        };
        let mut order: Vec<usize> = (0..patterns.len()).collect();
        match patterns.len() {
            0 => {}
            1..=MOST_ORDERED => permutations(&mut order, 0, &mut try_order),
            _ => try_order(&order),
        }
        // Two that meet: at most the product of the norms of their degrees.
        if let [one, other] = patterns
            && (one.vars | other.vars) == vars
            && one.vars & other.vars != 0
            && let (Some(a), Some(b)) = (one.degrees(one.vars & other.vars), other.degrees(one.vars & other.vars))
        {
            least = least.min(a.norm * b.norm);
        }
        least
    }

    /// The distinct coordinates of some variables in the join of some factors: at most those of any join over more variables.
    pub(super) fn size(&self, vars: Vars, live: Set) -> Size {
        if let Some(&known) = self.sizes.borrow().get(&(vars, live, vars)) {
            return known;
        }
        let patterns = self.among(vars, live);
        let bound = self.chain(vars, &patterns);
        let mut size = Size { estimate: self.tuples(vars, live, Vars::MAX).min(bound), bound };
        let (all, walked): (Vec<Vars>, Vec<Vars>) =
            members(live).flat_map(|factor| &self.patterns[factor]).map(|p| (p.vars, p.walked)).unzip();
        let together = walked.iter().fold(0, |all, own| all | own);
        for shared in members(together & !vars) {
            if all.iter().filter(|own| **own >> shared & 1 == 1).count() > 1 {
                let more = self.size(vars | 1 << shared, live);
                let places = self.places(vars);
                size.estimate = size.estimate.min(occupied(more.estimate, places));
                size.bound = size.bound.min(more.bound);
            }
        }
        if self.is_pessimistic {
            size.estimate = size.bound;
        }
        self.sizes.borrow_mut().insert((vars, live, vars), size);
        size
    }
}
