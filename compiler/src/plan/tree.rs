//! The search: which factors are combined first, and what is made on the way.
//!
//! A tree says for a set of factors what its parts are: factors themselves, or temporaries that trees of their own make. The best
//! tree of each set is found by dynamic programming over connected sets (G. Moerkotte, T. Neumann, *Dynamic programming strikes back*,
//! 2008; for tensor networks R. Pfeifer, J. Haegeman, F. Verstraete, *Faster identification of optimal contraction sequences for tensor
//! networks*, 2014). A set is cut into two parts, or into three, or into one part and factors; or all its factors are in one nest.

use super::cost::{self, Machine, Nest, Operand, Result, View};
use super::estimate::Estimator;
use super::sets::{Set, Vars, members, permutations};
use crate::notation::Stage;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Products of more factors are cut greedily.
const MOST_EXACT: usize = 12;
/// Products of more factors are cut into two parts only.
const MOST_IN_THREE: usize = 8;
/// After so many nests sets are cut into two parts only, after twice as many not at all: what was found is taken.
pub(super) const MOST_VISITED: usize = 4000;
/// Parts that share no index are combined first where that gives so few elements.
const OUTER: f64 = 8192.0;
/// A temporary that is so full is dense.
const FULL: f64 = 0.6;
/// The bytes that temporaries may take where nothing is said.
const MEMORY: f64 = (4u64 << 30) as f64;
/// Complete plans that are remembered.
const KEPT: usize = 12;
/// Temporaries of at most so many modes are compared up to the order of their modes.
const MOST_PERMUTED: usize = 4;
/// Of so many plans it is tried to have temporaries inside of loops.
const MOST_FUSED: usize = 4;
/// Temporaries of fewer bytes are in a core's cache wherever they are made.
const SMALL: f64 = (64 << 10) as f64;
/// The most bytes of a workspace inside of loops.
const WORKSPACE: f64 = (256 << 10) as f64;

/// A part of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// A factor.
    Factor(usize),
    /// A temporary of some factors, by its number: see [`number`].
    Made(usize),
}

/// The number of the temporary of a set that the best tree makes which stores all places, or only some.
fn number(set: Set, is_sparse: bool) -> usize {
    2 * set as usize + usize::from(is_sparse)
}

/// What chooses the entries of a temporary: a factor that all of it is multiplied by later.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mask {
    pub factor: usize,
    /// Its first levels, which are all where it is a mask itself; else a pattern is made of them.
    pub levels: Vec<usize>,
    pub is_whole: bool,
    operand: Operand,
}

/// A temporary as others see it.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// The same for what is the same up to names of index variables.
    pub key: String,
    /// Its variables, in an order that goes with the key.
    pub arrangement: Vec<usize>,
    pub nest: Nest,
    pub memory: f64,
}

/// A factor as others see it: the text of it, and the variables in it.
#[derive(Debug, Clone, Default)]
pub(super) struct Shape {
    pub text: String,
    pub variables: Vec<usize>,
}

/// How some factors are combined.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    pub parts: Vec<Part>,
    pub nest: Nest,
    /// All temporaries, each once: filled in for complete plans.
    pub nodes: Vec<Node>,
    /// Nanoseconds, with all that is made before.
    pub time: f64,
    pub operations: f64,
    pub bytes: f64,
    /// Bytes of all temporaries.
    pub memory: f64,
    /// The temporaries that are sums inside of the loops of what reads them, by number, and the order of the loops of each.
    pub inside: Vec<(usize, Vec<usize>)>,
}

/// A temporary.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub tree: Tree,
    pub result: Result,
    pub mask: Option<Mask>,
    /// The same for what is the same up to names of index variables, where the product has factors that are the same.
    twin: Option<String>,
    /// The factors whose patterns bound the loops that make it.
    live: Set,
    operand: Operand,
}

/// The loops of a nest with sums inside.
#[derive(Debug, Clone, Default)]
struct Loops {
    order: Vec<usize>,
    /// The time of its own loops.
    time: f64,
    operations: f64,
    /// The time of the loops inside, with their workspaces.
    more: f64,
    /// What it took to make what is inside before.
    saved: f64,
    inside: Vec<(usize, Vec<usize>)>,
}

/// What is searched.
pub(super) struct Search {
    pub of: Rc<Estimator>,
    /// The factors.
    pub factors: Vec<Operand>,
    /// What tells factors from each other.
    pub shapes: Vec<Shape>,
    /// What chooses where the result is computed.
    pub mask: Option<Operand>,
    /// The factors that are read from copies, and the order of the levels there.
    pub copied: Vec<(usize, Vec<usize>)>,
    /// The result.
    pub result: Result,
    pub machine: Machine,
    pub memory: Option<f64>,
    /// When its statement runs: what a round makes is not what another one reads.
    pub stage: Stage,
    /// Whether no temporary may hold what the operands have no entry for.
    pub keeps_patterns: bool,
    /// Whether temporaries may be sums inside of the loops of what reads them.
    pub may_fuse: bool,
    /// Whether trees are searched for that are best with sparse temporaries inside of loops, where they need not be kept.
    pub keeps_nothing: bool,
    made: BTreeMap<usize, Made>,
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
        Self {
            of: Rc::new(of),
            factors,
            shapes: Vec::new(),
            mask,
            copied: Vec::new(),
            result,
            machine,
            memory: None,
            stage: Stage::Before,
            keeps_patterns: false,
            may_fuse: false,
            keeps_nothing: false,
            made: BTreeMap::new(),
            visited: 0,
        }
    }

    /// The same search before anything is found.
    pub(super) fn again(&self) -> Self {
        Self {
            of: self.of.clone(),
            factors: self.factors.clone(),
            shapes: self.shapes.clone(),
            mask: self.mask.clone(),
            copied: self.copied.clone(),
            result: self.result.clone(),
            machine: self.machine,
            memory: self.memory,
            stage: self.stage,
            keeps_patterns: self.keeps_patterns,
            may_fuse: self.may_fuse,
            keeps_nothing: self.keeps_nothing,
            made: BTreeMap::new(),
            visited: 0,
        }
    }

    /// The same with everything as large as it may be.
    pub(super) fn pessimistic(mut self) -> Self {
        self.of = Rc::new(self.of.pessimistic());
        self
    }

    /// What a tree of another search costs with what is known here.
    pub(super) fn replay(&mut self, other: &Search, tree: &Tree) -> Option<Tree> {
        self.made.clear();
        self.memory = Some(f64::INFINITY);
        let mut numbers: Vec<usize> = Vec::new();
        other.numbers(tree, &mut numbers);
        for number in numbers {
            let Made { tree, result, mask, .. } = other.made(number).clone();
            let tree = self.tree(&tree.parts, Some(&result), mask.as_ref())?;
            let made = self.temporary_of(tree, result, mask);
            self.keep(number, made);
        }
        let mut tree = self.tree(&tree.parts, None, None)?;
        self.complete(&mut tree);
        Some(tree)
    }

    /// Reads a factor from a copy whose levels are in another order.
    pub(super) fn read_copy(&mut self, factor: usize, levels: Vec<usize>) {
        let view = &mut self.factors[factor].views[0];
        *view = View { may_be_copied: false, ..view.copied(&levels) };
        self.copied.push((factor, levels));
    }

    fn vars(&self, set: Set) -> Vars {
        members(set).fold(0, |all, factor| all | self.factors[factor].vars)
    }

    fn all(&self) -> Set {
        (1 << self.factors.len()) - 1
    }

    /// The variables of what some factors make: those that the result or another factor has.
    fn open(&self, set: Set) -> Vars {
        let target = self.result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
        self.vars(set) & (target | self.vars(self.all() & !set))
    }

    /// Remembers a temporary.
    fn keep(&mut self, number: usize, made: Made) {
        self.made.insert(number, made);
        if self.has_twins() {
            let key = self.node(number).key;
            self.made.entry(number).and_modify(|made| made.twin = Some(key));
        }
    }

    /// Whether two factors read the same.
    fn has_twins(&self) -> bool {
        let is_twin =
            |(place, shape): (usize, &Shape)| self.shapes[..place].iter().any(|other| other.text == shape.text);
        self.shapes.iter().enumerate().any(is_twin)
    }

    /// The parts of a tree that are made before, each once: two that are the same up to the names of index variables are one.
    fn made_before(&self, parts: &[Part]) -> impl Iterator<Item = Option<&Made>> {
        let made = |part: &Part| match part {
            Part::Made(number) => Some(self.made.get(number)),
            Part::Factor(_) => None,
        };
        let all: Vec<Option<&Made>> = parts.iter().filter_map(made).collect();
        let is_new = |place: usize| {
            let twin = |of: Option<&Made>| of.and_then(|made| made.twin.clone());
            let own = twin(all[place]);
            own.is_none() || all[..place].iter().all(|other| twin(*other) != own)
        };
        let new: Vec<bool> = (0..all.len()).map(is_new).collect();
        all.into_iter().zip(new).filter(|(_, is_new)| *is_new).map(|(made, _)| made)
    }

    /// The time that it takes to make the parts of a tree.
    fn time_before(&self, parts: &[Part]) -> f64 {
        self.made_before(parts).map(|made| made.map_or(f64::INFINITY, |made| made.tree.time)).sum()
    }

    /// What the loops of some parts take at least.
    fn least_time(&self, parts: &[Part]) -> f64 {
        let (mut vars, mut live) = (0, 0);
        for operand in self.operands(parts) {
            vars |= operand.vars;
            live |= operand.live;
        }
        cost::least(self.of.tuples(vars, live, vars), self.machine)
    }

    /// A temporary by its number.
    pub(super) fn made(&self, number: usize) -> &Made {
        self.made.get(&number).expect("trees are made of what was found")
    }

    /// All factors in one nest.
    pub(super) fn written(&mut self) -> Tree {
        let parts: Vec<Part> = (0..self.factors.len()).map(Part::Factor).collect();
        self.tree(&parts, None, None).expect("a nest needs no memory")
    }

    /// Whether factors are combined pair by pair, as there are too many to compare all trees.
    pub(super) fn is_greedy(&self) -> bool {
        self.factors.len() > MOST_EXACT
    }

    /// The best trees, the cheapest first.
    pub(super) fn best(&mut self) -> Vec<Tree> {
        let all = self.all();
        if self.is_greedy() {
            return self.greedy().into_iter().collect();
        }
        self.made.clear();
        let mut sets: Vec<Set> = (1..all).collect();
        sets.sort_by_key(|set| (set.count_ones(), *set));
        for set in sets {
            let open = self.open(set);
            let reduces = open != self.vars(set);
            let is_outer = !self.is_connected(set);
            let is_worth = if set.count_ones() == 1 { reduces } else { !is_outer || self.of.places(open) <= OUTER };
            if is_worth {
                let [dense, sparse] = self.make(set);
                for (made, is_sparse) in [(dense, false), (sparse, true)] {
                    if let Some(made) = made {
                        self.keep(number(set, is_sparse), made);
                    }
                }
            }
        }
        let mut found: Vec<Tree> = Vec::new();
        let least = std::cell::Cell::new(f64::INFINITY);
        self.candidates(all, &mut |search, parts| {
            if search.time_before(parts) + search.least_time(parts) >= least.get() {
                return;
            }
            if let Some(tree) = search.tree(parts, None, None) {
                found.push(tree);
                found.sort_by(|a, b| a.time.total_cmp(&b.time));
                found.truncate(KEPT);
                least.set(if found.len() < KEPT { f64::INFINITY } else { found[KEPT - 1].time });
            }
        });
        found.iter_mut().for_each(|tree| self.complete(tree));
        let fused: Vec<Tree> = found.iter().take(MOST_FUSED).filter_map(|tree| self.fused(tree)).collect();
        if self.keeps_nothing {
            found.clear();
        }
        found.extend(fused);
        found.sort_by(|a, b| a.time.total_cmp(&b.time));
        found
    }

    /// The same with temporaries as sums inside of the loops of what reads them, where that takes less time: in memory there is
    /// only what one iteration of the loops that both have needs.
    fn fused(&self, tree: &Tree) -> Option<Tree> {
        let is_possible = self.may_fuse && self.result.stored == 0 && self.mask.is_none() && !tree.nest.reads_copies;
        is_possible.then_some(())?;
        let mut numbers = Vec::new();
        self.numbers(tree, &mut numbers);
        let key = |number: usize| self.made(number).twin.as_ref();
        let is_once = |number: usize| {
            let is_same = |other: &&usize| **other == number || key(number).is_some() && key(**other) == key(number);
            numbers.iter().filter(is_same).count() == 1
        };
        let mut nest = tree.nest.clone();
        nest.time -= self.time_to_copy();
        let loops = self.inside(&tree.parts, &self.result, &nest, 0, &is_once);
        (!loops.inside.is_empty()).then_some(())?;
        let mut fused = tree.clone();
        for (number, _) in &loops.inside {
            let made = self.made(*number);
            let node = self.node(*number);
            fused.nodes.retain(|other| other.key != node.key);
            fused.time -= made.tree.nest.time;
            fused.bytes -= 2.0 * node.memory;
            fused.memory -= node.memory;
        }
        let instead = loops.time + loops.more - (nest.time - nest.kept);
        fused.time += instead;
        fused.nest.time += instead;
        fused.nest.operations = loops.operations;
        fused.operations = fused.nest.operations + fused.nodes.iter().map(|node| node.nest.operations).sum::<f64>();
        fused.nest.order = loops.order;
        fused.inside = loops.inside;
        (fused.time < tree.time).then_some(fused)
    }

    /// The loops of a nest with those parts inside that are cheaper there than made before. Its first loops stay where they are.
    fn inside(
        &self,
        parts: &[Part],
        result: &Result,
        nest: &Nest,
        fixed: usize,
        is_once: &dyn Fn(usize) -> bool,
    ) -> Loops {
        let mut loops = Loops {
            order: nest.order.clone(),
            time: nest.time - nest.kept,
            operations: nest.operations,
            ..Loops::default()
        };
        let mut fixed = fixed;
        let operands = self.operands(parts);
        for part in parts {
            let Part::Made(number) = *part else { continue };
            let made = self.made(number);
            let own = &made.tree.nest;
            let bytes = made.operand.views[0].entries * made.result.bytes;
            if made.mask.is_some() || own.reads_copies || !is_once(number) || bytes < SMALL {
                continue;
            }
            let vars = made.result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
            if own.order.iter().all(|&variable| vars >> variable & 1 == 1) {
                // Nothing is summed.
                continue;
            }
            let longest = own.order.iter().take_while(|&&variable| vars >> variable & 1 == 1).count();
            let mut best: Option<(Nest, Loops, usize)> = None;
            for shared in (1..=longest).rev() {
                let prefix = &own.order[..shared];
                let inner = prefix.iter().fold(vars, |rest, variable| rest & !(1 << variable));
                let elements = self.of.places(inner);
                let agrees = loops.order.iter().zip(prefix).take(fixed).all(|(a, b)| a == b);
                if made.result.stored & inner != 0 || elements * made.result.bytes > WORKSPACE || !agrees {
                    continue;
                }
                let rest = loops.order.iter().skip(shared.min(fixed)).copied();
                let order: Vec<usize> = match shared <= fixed {
                    true => loops.order.clone(),
                    false => prefix.iter().copied().chain(rest.filter(|variable| !prefix.contains(variable))).collect(),
                };
                let Some(around) = cost::nest_in_order(&self.of, &operands, result, self.machine, &order) else {
                    continue;
                };
                let mut inside = self.inside(&made.tree.parts, &made.result, own, shared, is_once);
                // Both have the loops that they share in the same order.
                let common = |order: &[usize]| order.iter().copied().filter(|v| vars >> v & 1 == 1).collect::<Vec<_>>();
                if common(&order) != common(&inside.order) {
                    continue;
                }
                let walked = prefix.iter().fold(0, |all, variable| all | 1 << variable);
                inside.more += cost::workspace(elements, self.of.tuples(walked, made.live, Vars::MAX), self.machine);
                let total = |around: &Nest, inside: &Loops| around.time + inside.time + inside.more - inside.saved;
                if best.as_ref().is_none_or(|(nest, loops, _)| total(&around, &inside) < total(nest, loops)) {
                    best = Some((around, inside, shared));
                }
            }
            let Some((around, inside, shared)) = best else { continue };
            let before = loops.time + own.time;
            if around.time + inside.time + inside.more - inside.saved < before {
                loops.order = around.order;
                loops.time = around.time;
                loops.operations += inside.operations;
                loops.more += inside.time + inside.more;
                loops.saved += inside.saved + own.time;
                loops.inside.push((number, inside.order));
                loops.inside.extend(inside.inside);
                fixed = fixed.max(shared);
            }
        }
        loops
    }

    /// A tree of many factors: of the parts that share an index, those two are joined first whose temporary is smallest beside what
    /// they are themselves.
    fn greedy(&mut self) -> Option<Tree> {
        self.made.clear();
        let mut parts: Vec<(Set, Part)> =
            (0..self.factors.len()).map(|factor| (1 << factor, Part::Factor(factor))).collect();
        while parts.len() > 2 {
            let size = |search: &Self, set: Set, parts: &[Part]| {
                let live = search.operands(parts).iter().fold(0, |all, operand| all | operand.live);
                search.of.size(search.open(set), live).estimate
            };
            let mut best: Option<(f64, usize, usize)> = None;
            for one in 0..parts.len() {
                for other in one + 1..parts.len() {
                    let (a, b) = (parts[one], parts[other]);
                    let gain = size(self, a.0 | b.0, &[a.1, b.1]) - size(self, a.0, &[a.1]) - size(self, b.0, &[b.1]);
                    let is_joined = self.vars(a.0) & self.vars(b.0) != 0;
                    let gain = if is_joined { gain } else { gain.abs() + f64::MAX / 2.0 };
                    if best.is_none_or(|(least, ..)| gain < least) {
                        best = Some((gain, one, other));
                    }
                }
            }
            let (_, one, other) = best?;
            let (b, a) = (parts.remove(other), parts.remove(one));
            let set = a.0 | b.0;
            let made = [false, true]
                .map(|is_sparse| (number(set, is_sparse), self.temporary(set, &[a.1, b.1], is_sparse, None)));
            let made = made.into_iter().filter_map(|(number, made)| Some((number, made?)));
            let (number, made) = made.min_by(|a, b| a.1.tree.time.total_cmp(&b.1.tree.time))?;
            self.keep(number, made);
            parts.push((set, Part::Made(number)));
        }
        let parts: Vec<Part> = parts.into_iter().map(|(_, part)| part).collect();
        let mut tree = self.tree(&parts, None, None)?;
        self.complete(&mut tree);
        Some(tree)
    }

    /// The costs of a complete plan: what is made several times is made once.
    fn complete(&self, tree: &mut Tree) {
        tree.nodes = self.nodes(tree);
        let nests = || [&tree.nest].into_iter().chain(tree.nodes.iter().map(|node| &node.nest));
        tree.time = nests().map(|nest| nest.time).sum();
        tree.operations = nests().map(|nest| nest.operations).sum();
        tree.bytes = nests().map(|nest| nest.bytes).sum();
        tree.memory = tree.nodes.iter().fold(0.0, |sum, node| sum + node.memory);
        let time = self.time_to_copy();
        tree.nest.time += time;
        tree.time += time;
        for (factor, levels) in &self.copied {
            tree.memory += self.entries(*factor) * (self.result.bytes + 4.0 * levels.len() as f64);
        }
    }

    fn entries(&self, factor: usize) -> f64 {
        self.factors[factor].views.iter().map(|view| view.entries).sum()
    }

    /// Whether temporaries may be so large that it matters where they are.
    pub(super) fn has_large_temporaries(&self) -> bool {
        (0..self.factors.len()).any(|factor| self.entries(factor) * self.result.bytes >= SMALL)
    }

    /// What it costs in each call to have factors sorted.
    pub(super) fn time_to_copy(&self) -> f64 {
        self.copied.iter().map(|(factor, _)| cost::copy(self.entries(*factor), self.machine)).sum()
    }

    /// The temporaries of a tree, each once.
    fn nodes(&self, tree: &Tree) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut numbers: Vec<usize> = Vec::new();
        self.numbers(tree, &mut numbers);
        for number in numbers {
            let node = self.node(number);
            if !nodes.iter().any(|known| known.key == node.key) {
                nodes.push(node);
            }
        }
        nodes
    }

    /// What identifies a tree among others: its parts, and those of each temporary.
    pub(super) fn outline(&self, tree: &Tree) -> Vec<(usize, Vec<Part>, Option<usize>)> {
        let mut numbers = Vec::new();
        self.numbers(tree, &mut numbers);
        let made = |number: usize| {
            let made = self.made(number);
            (number, made.tree.parts.clone(), made.mask.as_ref().map(|mask| mask.factor))
        };
        numbers.into_iter().map(made).chain([(usize::MAX, tree.parts.clone(), None)]).collect()
    }

    /// The numbers of the temporaries of a tree, each behind those that it reads.
    fn numbers(&self, tree: &Tree, found: &mut Vec<usize>) {
        for part in &tree.parts {
            if let Part::Made(number) = part {
                self.numbers(&self.made(*number).tree, found);
                found.push(*number);
            }
        }
    }

    /// A temporary as others see it: its text with variables by number, the least of those that orders of its modes give.
    pub(super) fn node(&self, number: usize) -> Node {
        let made = self.made(number);
        let mut least: Option<(String, Vec<usize>)> = None;
        let mut levels = made.result.levels.clone();
        let may_be_permuted = made.result.stored == 0 && levels.len() <= MOST_PERMUTED;
        let mut visit = |order: &[usize]| {
            let mut numbers = order.to_vec();
            let text = self.text(number, &mut numbers);
            if least.as_ref().is_none_or(|(known, _)| text < *known) {
                least = Some((text, order.to_vec()));
            }
        };
        match may_be_permuted {
            true => permutations(&mut levels, 0, &mut visit),
            false => visit(&levels),
        }
        let (text, arrangement) = least.unwrap_or_default();
        let own: Vec<&Tree> = made
            .tree
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Made(number) => Some(&self.made(*number).tree),
                Part::Factor(_) => None,
            })
            .collect();
        let memory = made.tree.memory - own.iter().map(|tree| tree.memory).sum::<f64>();
        // The text numbers what is summed behind what is not.
        let Result { levels, stored, .. } = &made.result;
        let key = format!("{:?} {} {} {text}", self.stage, *stored != 0, levels.len());
        Node { key, arrangement, nest: made.tree.nest.clone(), memory }
    }

    fn text(&self, made: usize, numbers: &mut Vec<usize>) -> String {
        let mut number = |variable: usize| {
            numbers.iter().position(|&other| other == variable).unwrap_or_else(|| {
                numbers.push(variable);
                numbers.len() - 1
            })
        };
        let shape = |factor: usize, number: &mut dyn FnMut(usize) -> usize| {
            let shape = &self.shapes[factor];
            let variables: Vec<String> = shape.variables.iter().map(|&variable| number(variable).to_string()).collect();
            format!("{}[{}]", shape.text, variables.join(","))
        };
        let made = self.made(made);
        let mut parts: Vec<String> = Vec::new();
        for part in self.ordered(&made.tree.parts) {
            parts.push(match part {
                Part::Factor(factor) => shape(factor, &mut number),
                Part::Made(inner) => {
                    let levels: Vec<usize> =
                        self.made(inner).result.levels.iter().map(|&level| number(level)).collect();
                    let mut own = self.made(inner).result.levels.clone();
                    format!("({levels:?} {})", self.text(inner, &mut own))
                }
            });
        }
        if let Some(mask) = &made.mask {
            let levels: Vec<usize> = mask.levels.iter().map(|&level| number(level)).collect();
            parts.push(format!("where {}{levels:?}", self.shapes[mask.factor].text));
        }
        parts.join("*")
    }

    /// The parts of a product, what is sparse first, as loops walk it.
    pub(super) fn ordered(&self, parts: &[Part]) -> Vec<Part> {
        let mut parts = parts.to_vec();
        parts.sort_by_key(|part| match part {
            Part::Factor(factor) => (self.factors[*factor].live == 0, *factor),
            Part::Made(number) => (self.made(*number).result.stored == 0, (number / 2).trailing_zeros() as usize),
        });
        parts
    }

    fn is_connected(&self, set: Set) -> bool {
        let first = set & set.wrapping_neg();
        let mut reached = first;
        loop {
            let vars = self.vars(reached);
            let more = members(set).filter(|&factor| self.factors[factor].vars & vars != 0);
            let more = more.fold(0, |all, factor| all | 1 << factor);
            if more == reached {
                return reached == set;
            }
            reached = more;
        }
    }

    /// The ways to cut a set.
    fn candidates(&mut self, set: Set, visit: &mut dyn FnMut(&mut Self, &[Part])) {
        let factors = |set: Set| members(set).map(Part::Factor);
        visit(self, &factors(set).collect::<Vec<_>>());
        let low = set & set.wrapping_neg();
        if set == low || self.visited > 2 * MOST_VISITED {
            return;
        }
        // A part as it is, and as each of its temporaries.
        let made = |part: Set, search: &Self| {
            let numbers = [number(part, false), number(part, true)].into_iter();
            numbers.filter(|number| search.made.contains_key(number)).map(Part::Made).collect::<Vec<_>>()
        };
        let ways = |part: Set, search: &Self| {
            let mut ways = made(part, search);
            if part.count_ones() == 1 {
                ways.extend(factors(part));
            }
            ways
        };
        // Every proper part that has the first factor, and what is left.
        let rest = set & !low;
        let mut sub = rest;
        loop {
            sub = sub.wrapping_sub(1) & rest;
            let (one, other) = (sub | low, rest & !sub);
            let (of_one, of_other) = (ways(one, self), ways(other, self));
            for &left in &of_one {
                for &right in &of_other {
                    if matches!((left, right), (Part::Made(_), _) | (_, Part::Made(_))) {
                        visit(self, &[left, right]);
                    }
                }
            }
            // One part, and all others as they are.
            for (part, others) in [(one, other), (other, one)] {
                if others.count_ones() > 1 {
                    for first in made(part, self) {
                        visit(self, &[first].into_iter().chain(factors(others)).collect::<Vec<_>>());
                    }
                }
            }
            if self.factors.len() <= MOST_IN_THREE && self.visited < MOST_VISITED && other.count_ones() > 1 {
                let first = other & other.wrapping_neg();
                let more = other & !first;
                let mut third = more;
                loop {
                    third = third.wrapping_sub(1) & more;
                    let (of_second, of_third) = (ways(third | first, self), ways(more & !third, self));
                    for &left in &of_one {
                        for &middle in &of_second {
                            for &right in &of_third {
                                let parts = [left, middle, right];
                                let made = parts.iter().filter(|part| matches!(part, Part::Made(_))).count();
                                // One alone was there before.
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
            if sub == 0 {
                break;
            }
        }
    }

    /// The best temporaries of a set: one that stores all places, and one that does not.
    fn make(&mut self, set: Set) -> [Option<Made>; 2] {
        let mut best: [Option<Made>; 2] = [None, None];
        let masks: Vec<Option<Mask>> = [None].into_iter().chain(self.masks(set).into_iter().map(Some)).collect();
        self.candidates(set, &mut |search, parts| {
            let before = search.time_before(parts) + search.least_time(parts);
            for (best, is_sparse) in best.iter_mut().zip([false, true]) {
                for mask in &masks {
                    if best.as_ref().is_none_or(|best| before < best.tree.time)
                        && (is_sparse || mask.is_none())
                        && let Some(made) = search.temporary(set, parts, is_sparse, mask.as_ref())
                        && best.as_ref().is_none_or(|best| made.tree.time < best.tree.time)
                    {
                        *best = Some(made);
                    }
                }
            }
        });
        best
    }

    /// What may choose the entries of the temporary of a set: sparse factors outside, or their first levels, that have no other
    /// variables.
    fn masks(&self, set: Set) -> Vec<Mask> {
        let open = self.open(set);
        let outside = (0..self.factors.len()).filter(|&factor| set >> factor & 1 == 0);
        let masks = outside.filter_map(|factor| {
            let operand = &self.factors[factor];
            let [view] = &operand.views[..] else { return None };
            let known = view.levels.iter().take_while(|&&level| open >> level & 1 == 1).count();
            let levels = view.levels[..known].to_vec();
            let own = levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
            let is_whole = known == view.levels.len();
            let is_pattern = view.is_plain && view.walked & own != 0 && (is_whole || known > 1);
            let view = View { levels: levels.clone(), walked: view.walked & own, ..view.clone() };
            let operand = Operand { vars: own, views: vec![view], live: operand.live };
            is_pattern.then_some(Mask { factor, levels, is_whole, operand })
        });
        masks.collect()
    }

    fn operands(&self, parts: &[Part]) -> Vec<&Operand> {
        let operand = |part: &Part| match part {
            Part::Factor(factor) => &self.factors[*factor],
            Part::Made(number) => &self.made(*number).operand,
        };
        parts.iter().map(operand).collect()
    }

    /// A temporary that parts make, at the places of a mask only where there is one; `None` where it can't be had.
    fn temporary(&mut self, set: Set, parts: &[Part], is_sparse: bool, mask: Option<&Mask>) -> Option<Made> {
        let open = self.open(set);
        let mut operands = self.operands(parts);
        operands.extend(mask.map(|mask| &mask.operand));
        let live = operands.iter().fold(0, |all, operand| all | operand.live);
        let result = self.levels(open, &operands, is_sparse);
        let places = self.of.places(open);
        // Which entries a sparse result has depends on all patterns that its loops walk.
        let chosen = live & !mask.map_or(0, |mask| mask.operand.live);
        let keeps = !self.keeps_patterns || chosen == 0 || mask.is_none() && self.stores_the_join(&result, live);
        let is_possible = match is_sparse {
            true => result.stored != 0,
            false => places * result.bytes <= self.memory.unwrap_or(MEMORY) / 4.0,
        };
        if !is_possible || !keeps {
            return None;
        }
        let entries = cost::elements(&self.of, &result, live, open);
        let tree = self.tree(parts, Some(&result), mask)?;
        // Entries in any order are put in order row by row.
        let is_too_deep = result.levels.len() > 2 || mask.is_some();
        if is_sparse && (!tree.nest.in_order && is_too_deep || entries > FULL * places && !self.keeps_patterns) {
            return None;
        }
        Some(self.temporary_of(tree, result, mask.cloned()))
    }

    /// Whether a temporary has an entry exactly where the join of its factors' patterns has one: then what is multiplied with it later
    /// has the entries of the whole product.
    fn stores_the_join(&self, result: &Result, live: Set) -> bool {
        let stored = if result.stored == 0 { 0 } else { cost::stored_part(result) };
        let open = result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
        let is_stored = |vars: Vars| vars & open != 0 && vars & open & !stored == 0;
        members(live).flat_map(|factor| &self.of.patterns[factor]).all(|pattern| is_stored(pattern.vars))
    }

    /// A temporary as an operand.
    fn temporary_of(&self, tree: Tree, result: Result, mask: Option<Mask>) -> Made {
        let operands = self.operands(&tree.parts);
        let mut live = operands.iter().fold(0, |all, operand| all | operand.live);
        live |= mask.as_ref().map_or(0, |mask| mask.operand.live);
        let vars = result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
        let entries = cost::elements(&self.of, &result, live, vars);
        let bounding = if result.stored == 0 { 0 } else { live };
        let (levels, walked, last) = (result.levels.clone(), result.stored, result.levels.last().copied());
        let view = View { levels, walked, last, entries, ..View::default() };
        let operand = Operand { vars, views: vec![view], live: bounding };
        Made { tree, result, mask, twin: None, live, operand }
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
    fn tree(&mut self, parts: &[Part], temporary: Option<&Result>, mask: Option<&Mask>) -> Option<Tree> {
        self.visited += 1;
        let mut operands = self.operands(parts);
        operands.extend(if temporary.is_none() { self.mask.as_ref() } else { mask.map(|mask| &mask.operand) });
        let result = temporary.unwrap_or(&self.result);
        let mut nest = cost::nest(&self.of, &operands, result, self.machine);
        if let Some(mask) = mask.filter(|mask| !mask.is_whole) {
            nest.time += cost::pattern(self.entries(mask.factor));
        }
        let live = operands.iter().fold(0, |all, operand| all | operand.live);
        let own = temporary.map_or(0.0, |result| {
            let target = result.levels.iter().fold(0, |all: Vars, &level| all | 1 << level);
            cost::elements(&self.of, result, live, target) * result.bytes
        });
        let is_inside = self.keeps_nothing && temporary.is_some_and(|result| result.stored != 0);
        let mut tree = Tree {
            parts: parts.to_vec(),
            nodes: Vec::new(),
            time: if is_inside { nest.time - nest.kept } else { nest.time },
            operations: nest.operations,
            bytes: nest.bytes,
            memory: own,
            inside: Vec::new(),
            nest,
        };
        for made in self.made_before(parts).flatten().map(|made| &made.tree) {
            tree.time += made.time;
            tree.operations += made.operations;
            tree.bytes += made.bytes;
            tree.memory += made.memory;
        }
        (tree.memory <= self.memory.unwrap_or(MEMORY)).then_some(tree)
    }
}
