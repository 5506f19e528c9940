//! The search: which factors are combined first, and what is made on the way.
//!
//! A tree says for a set of factors what its parts are: factors themselves, or temporaries that trees of their own make. The best
//! tree of each set is found by dynamic programming over connected sets (G. Moerkotte, T. Neumann, *Dynamic programming strikes back*,
//! 2008; for tensor networks R. Pfeifer, J. Haegeman, F. Verstraete, *Faster identification of optimal contraction sequences for tensor
//! networks*, 2014). A set is cut into two parts, or into three, or into one part and factors; or all its factors are in one nest.

use super::cost::{self, Machine, Nest, Operand, Result, View};
use super::estimate::Estimator;
use super::{Set, Vars, members};

/// Products of more factors are cut greedily.
const MOST_EXACT: usize = 12;
/// Products of more factors are cut into two parts only.
const MOST_IN_THREE: usize = 8;
/// Parts that share no index are combined first where that gives so few elements.
const OUTER: f64 = 8192.0;
/// A temporary that is so full is dense.
const FULL: f64 = 0.25;
/// One that is so full is dense where it takes so few bytes.
const HALF_FULL: (f64, f64) = (0.02, (8 << 20) as f64);
/// The bytes that temporaries may take where nothing is said.
const MEMORY: f64 = (4u64 << 30) as f64;
/// Complete plans that are remembered.
const KEPT: usize = 6;

/// A part of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A factor.
    Factor(usize),
    /// The temporary that the best tree of some factors makes.
    Made(Set),
}

/// How some factors are combined.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub parts: Vec<Part>,
    pub nest: Nest,
    /// Nanoseconds, with all that is made before.
    pub time: f64,
    pub operations: f64,
    pub bytes: f64,
    /// Bytes of all temporaries.
    pub memory: f64,
}

/// A temporary.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub tree: Tree,
    pub result: Result,
    operand: Operand,
}

/// What is searched.
pub(super) struct Search {
    pub of: Estimator,
    /// The factors.
    pub factors: Vec<Operand>,
    /// What chooses where the result is computed.
    pub mask: Option<Operand>,
    /// The result.
    pub result: Result,
    pub machine: Machine,
    pub memory: Option<f64>,
    /// Whether no temporary may hold what the operands have no entry for.
    pub keeps_patterns: bool,
    made: Vec<Option<Made>>,
    /// Nests whose cost was estimated.
    pub visited: usize,
}

impl Search {
    pub(super) fn new(
        of: Estimator,
        factors: Vec<Operand>,
        mask: Option<Operand>,
        result: Result,
        machine: Machine,
    ) -> Self {
        Self { of, factors, mask, result, machine, memory: None, keeps_patterns: false, made: Vec::new(), visited: 0 }
    }

    fn vars(&self, set: Set) -> Vars {
        members(set.into()).fold(0, |all, factor| all | self.factors[factor].vars)
    }

    fn all(&self) -> Set {
        (1 << self.factors.len()) - 1
    }

    /// The variables of what some factors make: those that the result or another factor has.
    fn open(&self, set: Set) -> Vars {
        let target = self.result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
        self.vars(set) & (target | self.vars(self.all() & !set))
    }

    /// The temporary of a set.
    pub(super) fn made(&self, set: Set) -> &Made {
        self.made[set as usize].as_ref().expect("trees are made of what was found")
    }

    /// All factors in one nest.
    pub(super) fn written(&mut self) -> Tree {
        let parts: Vec<Part> = (0..self.factors.len()).map(Part::Factor).collect();
        self.tree(&parts, None).expect("a nest needs no memory")
    }

    /// The best trees, the cheapest first.
    pub(super) fn best(&mut self) -> Vec<Tree> {
        let all = self.all();
        let count = self.factors.len();
        if count > MOST_EXACT {
            return Vec::new();
        }
        self.made = vec![None; 1 << count];
        let mut sets: Vec<Set> = (1..all).collect();
        sets.sort_by_key(|set| (set.count_ones(), *set));
        for set in sets {
            let open = self.open(set);
            let reduces = open != self.vars(set);
            let is_outer = !self.is_connected(set);
            let is_worth = if set.count_ones() == 1 { reduces } else { !is_outer || self.of.places(open) <= OUTER };
            if is_worth {
                self.made[set as usize] = self.make(set);
            }
        }
        let mut found: Vec<Tree> = Vec::new();
        let least = std::cell::Cell::new(f64::INFINITY);
        self.candidates(all, &mut |search, parts| {
            let before: f64 = parts.iter().map(|part| search.time_of(*part)).sum();
            if before >= least.get() {
                return;
            }
            if let Some(tree) = search.tree(parts, None) {
                found.push(tree);
                found.sort_by(|a, b| a.time.total_cmp(&b.time));
                found.truncate(KEPT);
                least.set(if found.len() < KEPT { f64::INFINITY } else { found[KEPT - 1].time });
            }
        });
        found
    }

    fn is_connected(&self, set: Set) -> bool {
        let first = set & set.wrapping_neg();
        let mut reached = first;
        loop {
            let vars = self.vars(reached);
            let more = members(set.into()).filter(|&factor| self.factors[factor].vars & vars != 0);
            let more = more.fold(0, |all, factor| all | 1 << factor);
            if more == reached {
                return reached == set;
            }
            reached = more;
        }
    }

    fn time_of(&self, part: Part) -> f64 {
        match part {
            Part::Factor(_) => 0.0,
            Part::Made(set) => self.made[set as usize].as_ref().map_or(f64::INFINITY, |made| made.tree.time),
        }
    }

    /// The ways to cut a set.
    fn candidates(&mut self, set: Set, visit: &mut dyn FnMut(&mut Self, &[Part])) {
        let factors = |set: Set| members(set.into()).map(Part::Factor);
        visit(self, &factors(set).collect::<Vec<_>>());
        let low = set & set.wrapping_neg();
        if set == low {
            return;
        }
        let is_made = |search: &Self, part: Set| search.made[part as usize].is_some();
        // Every proper part that has the first factor, and what is left.
        let rest = set & !low;
        let mut sub = rest;
        loop {
            sub = sub.wrapping_sub(1) & rest;
            let (one, other) = (sub | low, rest & !sub);
            for (a, b) in [(one, other)] {
                let ways = |part: Set, search: &Self| {
                    let mut ways: Vec<Vec<Part>> = Vec::new();
                    if is_made(search, part) {
                        ways.push(vec![Part::Made(part)]);
                    }
                    if part.count_ones() == 1 {
                        ways.push(factors(part).collect());
                    }
                    ways
                };
                let (of_a, of_b) = (ways(a, self), ways(b, self));
                for left in &of_a {
                    for right in &of_b {
                        if left.iter().chain(right).any(|part| matches!(part, Part::Made(_))) {
                            visit(self, &[&left[..], right].concat());
                        }
                    }
                }
                // One part, and all others as they are.
                for (part, others) in [(a, b), (b, a)] {
                    if others.count_ones() > 1 && is_made(self, part) {
                        let parts: Vec<Part> = [Part::Made(part)].into_iter().chain(factors(others)).collect();
                        visit(self, &parts);
                    }
                }
                if self.factors.len() <= MOST_IN_THREE && b.count_ones() > 1 {
                    let first = b & b.wrapping_neg();
                    let more = b & !first;
                    let mut third = more;
                    loop {
                        third = third.wrapping_sub(1) & more;
                        let (x, y) = (third | first, more & !third);
                        for left in &of_a {
                            for middle in &ways(x, self) {
                                for right in &ways(y, self) {
                                    let parts = [&left[..], middle, right].concat();
                                    let made = parts.iter().filter(|part| matches!(part, Part::Made(_))).count();
                                    if made > 1 || made == 1 && set.count_ones() == 3 {
                                        visit(self, &parts);
                                    }
                                }
                            }
                        }
                        if third == 0 {
                            break;
                        }
                    }
                }
            }
            if sub == 0 {
                break;
            }
        }
    }

    /// The best temporary of a set.
    fn make(&mut self, set: Set) -> Option<Made> {
        let mut best: Option<Made> = None;
        self.candidates(set, &mut |search, parts| {
            let before: f64 = parts.iter().map(|part| search.time_of(*part)).sum();
            if best.as_ref().is_none_or(|best| before < best.tree.time)
                && let Some(made) = search.temporary(set, parts)
                && best.as_ref().is_none_or(|best| made.tree.time < best.tree.time)
            {
                best = Some(made);
            }
        });
        best
    }

    fn operands(&self, parts: &[Part]) -> Vec<&Operand> {
        let operand = |part: &Part| match part {
            Part::Factor(factor) => &self.factors[*factor],
            Part::Made(set) => &self.made(*set).operand,
        };
        parts.iter().map(operand).collect()
    }

    /// What a temporary costs that parts make.
    fn temporary(&mut self, set: Set, parts: &[Part]) -> Option<Made> {
        let open = self.open(set);
        let operands = self.operands(parts);
        let live = operands.iter().fold(0, |all, operand| all | operand.live);
        let sparse = self.levels(open, &operands, true);
        let places = self.of.places(open);
        let entries = cost::elements(&self.of, &sparse, live, open);
        let bytes = places * sparse.bytes;
        let limit = self.memory.unwrap_or(MEMORY);
        let fill = if places > 0.0 { entries / places } else { 1.0 };
        let is_full = fill >= FULL || fill >= HALF_FULL.0 && bytes <= HALF_FULL.1;
        let is_dense = sparse.stored == 0 || !self.keeps_patterns && is_full && bytes <= limit / 4.0;
        let result = match is_dense {
            true => Result { stored: 0, ..self.levels(open, &operands, false) },
            false => sparse,
        };
        if self.keeps_patterns && live != 0 && result.stored == 0 {
            return None;
        }
        let tree = self.tree(parts, Some(&result))?;
        if result.stored != 0 && !tree.nest.in_order && result.levels.len() > 2 {
            return None;
        }
        let live = if result.stored == 0 { 0 } else { live };
        let view = View {
            levels: result.levels.clone(),
            walked: result.stored,
            last: result.levels.last().copied(),
            entries: if result.stored == 0 { places } else { entries },
            may_be_copied: false,
        };
        let operand = Operand { vars: open, views: vec![view], live };
        Some(Made { tree, result, operand })
    }

    /// The levels of a temporary: first those that store coordinates, in the order in which an operand has them; then those that
    /// another factor stores, and those of the result last, as rows are along these.
    fn levels(&self, open: Vars, operands: &[&Operand], is_sparse: bool) -> Result {
        let shared =
            |view: &&View| std::cmp::Reverse(view.levels.iter().filter(|&&level| open >> level & 1 == 1).count());
        let mut views: Vec<&View> =
            operands.iter().filter(|o| o.live != 0).flat_map(|operand| &operand.views).collect();
        views.sort_by_key(shared);
        let walked = views.iter().fold(0, |all, view| all | view.walked) & open;
        let mut elsewhere: Vec<&View> = self.factors.iter().filter(|o| o.live != 0).flat_map(|o| &o.views).collect();
        elsewhere.sort_by_key(shared);
        let mut levels: Vec<usize> = Vec::new();
        let mut add = |variable: usize| {
            if open >> variable & 1 == 1 && !levels.contains(&variable) {
                levels.push(variable);
            }
        };
        for view in views.into_iter().chain(elsewhere) {
            let stored =
                view.levels.iter().rposition(|&level| view.walked >> level & 1 == 1).map_or(0, |last| last + 1);
            view.levels[..stored].iter().for_each(|&level| add(level));
        }
        let own = self.result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
        members(open & !own).chain(self.result.levels.iter().copied()).for_each(add);
        Result { levels, stored: if is_sparse { walked } else { 0 }, bytes: self.result.bytes, is_temporary: true }
    }

    /// What a tree of parts costs; `None` where its temporaries take too much memory.
    fn tree(&mut self, parts: &[Part], temporary: Option<&Result>) -> Option<Tree> {
        self.visited += 1;
        let mut operands = self.operands(parts);
        if temporary.is_none() {
            operands.extend(&self.mask);
        }
        let result = temporary.unwrap_or(&self.result);
        let nest = cost::nest(&self.of, &operands, result, self.machine);
        let live = operands.iter().fold(0, |all, operand| all | operand.live);
        let own = temporary.map_or(0.0, |result| {
            let target = result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
            cost::elements(&self.of, result, live, target) * result.bytes
        });
        let mut tree = Tree {
            parts: parts.to_vec(),
            time: nest.time,
            operations: nest.operations,
            bytes: nest.bytes,
            memory: own,
            nest,
        };
        for part in parts {
            if let Part::Made(set) = part {
                let made = &self.made(*set).tree;
                tree.time += made.time;
                tree.operations += made.operations;
                tree.bytes += made.bytes;
                tree.memory += made.memory;
            }
        }
        (tree.memory <= self.memory.unwrap_or(MEMORY)).then_some(tree)
    }
}
