//! What is known of the sizes of a kernel's tensors.

use crate::notation::{Access, Assignment, Expr, IndexVariable, Kernel, Role, Tensor};
use crate::syntax;
use std::collections::{BTreeMap, BTreeSet};

/// A set of modes, a bit each: bit 0 is the first mode.
pub type Modes = u32;

/// What is known when a plan is made. Nothing need be: an empty set of facts is what a macro without hints has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facts {
    /// Extents of index variables by name, where they are stated.
    pub extents: BTreeMap<String, u64>,
    /// Tensors by name.
    pub tensors: BTreeMap<String, TensorFacts>,
    /// The bytes that temporaries may take together, where that is limited.
    pub memory: Option<u64>,
    /// The threads that loops run on.
    pub threads: usize,
    /// How often the kernel is expected to be called with inputs of one pattern: what is paid once, as a sorted copy, is spread over
    /// so many calls.
    pub calls: f64,
}

/// What is known of a tensor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TensorFacts {
    /// The extent of each mode; empty where none is known.
    pub shape: Vec<Option<u64>>,
    /// Stored entries, where they are known.
    pub entries: Option<Known>,
    /// Distinct coordinates of a set of modes. Those of all prefixes of the order of storage cost nothing to know.
    pub distinct: BTreeMap<Modes, Known>,
    /// How entries spread over the coordinates of a set of modes.
    pub degrees: BTreeMap<Modes, Degrees>,
    /// The orders of modes in which the tensor is stored or a copy is kept.
    pub orders: Vec<Vec<usize>>,
}

/// A figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// What it is taken to be.
    pub estimate: f64,
    /// What it is at most.
    pub bound: f64,
    /// Where it comes from.
    pub source: Source,
}

/// Where a figure comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// It was counted, or estimated from the data.
    Measured,
    /// The text says so.
    Hint,
    /// It was assumed.
    Assumed,
}

/// Entries under one coordinate of a set of modes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Degrees {
    /// The mean over coordinates that have entries.
    pub mean: f64,
    /// The most.
    pub largest: f64,
    /// The root of the sum of the squares, over all coordinates: with it the join of two tensors over the modes is bounded.
    pub norm: f64,
}

impl Known {
    /// A figure that was counted.
    pub fn measured(count: f64) -> Self {
        Self { estimate: count, bound: count, source: Source::Measured }
    }
}

impl Facts {
    /// What a text and its caller say before there is any data: extents that the text fixes and those of `dimensions`, by the names of index
    /// variables, and the shapes of tensors that follow from them.
    pub fn stated(kernel: &Kernel, dimensions: &[(String, usize)]) -> Self {
        let mut facts = Self { threads: 1, calls: 1.0, ..Self::default() };
        for variable in &kernel.variables {
            let stated = |name: &str| {
                let name = syntax::normalized(name);
                let (_, extent) = dimensions.iter().find(|(known, _)| syntax::normalized(known) == name)?;
                Some(*extent as u64)
            };
            let written = variable.written.as_ref().map(|written| written.name.as_str());
            if let Some(extent) = variable.extent.or_else(|| stated(written?)).or_else(|| stated(&variable.name)) {
                facts.extents.insert(variable.name.clone(), extent);
            }
        }
        for tensor in &kernel.tensors {
            facts.tensors.insert(tensor.name.clone(), TensorFacts::of_text(tensor));
        }
        facts.spread_extents(kernel);
        facts
    }

    /// The same with figures rounded to powers of the fourth root of two: facts that are as good as the same for a plan are equal.
    #[must_use]
    pub fn rounded(&self) -> Self {
        let mut facts = self.clone();
        let round = |figure: f64| if figure > 0.0 { (4.0 * figure.log2()).round() } else { -1.0 };
        let round_whole = |figure: u64| round(figure as f64).max(0.0) as u64;
        facts.extents.values_mut().for_each(|extent| *extent = round_whole(*extent));
        // What is free changes from moment to moment.
        facts.memory = facts.memory.map(|bytes| u64::from(bytes.checked_ilog2().unwrap_or(0)));
        facts.calls = round(facts.calls);
        for tensor in facts.tensors.values_mut() {
            tensor.shape.iter_mut().flatten().for_each(|extent| *extent = round_whole(*extent));
            for known in tensor.entries.iter_mut().chain(tensor.distinct.values_mut()) {
                (known.estimate, known.bound) = (round(known.estimate), round(known.bound));
            }
            for degrees in tensor.degrees.values_mut() {
                let Degrees { mean, largest, norm } = *degrees;
                *degrees = Degrees { mean: round(mean), largest: round(largest), norm: round(norm) };
            }
        }
        facts
    }

    /// Has shapes and extents of index variables say the same, where one says what the other does not.
    fn spread_extents(&mut self, kernel: &Kernel) {
        let mut accesses = Vec::new();
        for statement in &kernel.statements {
            accesses.extend(statement.value.accesses());
            accesses.extend([&statement.target].into_iter().chain(&statement.mask));
        }
        // What one access says of a variable another may need.
        for _ in 0..kernel.statements.len().max(1) {
            for access in &accesses {
                let Some(tensor) = self.tensors.get_mut(&kernel.tensor(access.tensor).name) else { continue };
                for (extent, index) in tensor.shape.iter_mut().zip(&access.indices) {
                    let variable = &kernel.variables[index.0];
                    if variable.value.is_some() {
                        continue;
                    }
                    match (*extent, self.extents.get(&variable.name)) {
                        (None, Some(&known)) => *extent = Some(known),
                        (Some(known), None) => _ = self.extents.insert(variable.name.clone(), known),
                        _ => {}
                    }
                }
            }
        }
    }

    /// The same with what is known of some tensors from their data, by name.
    #[must_use]
    pub fn measured(mut self, kernel: &Kernel, tensors: impl IntoIterator<Item = (String, TensorFacts)>) -> Self {
        self.tensors.extend(tensors);
        self.spread_extents(kernel);
        self
    }
}

/// A hint that is so many times more or less than what there is deserves a note.
const WRONG: f64 = 10.0;

impl TensorFacts {
    /// What the text says of a tensor.
    fn of_text(tensor: &Tensor) -> Self {
        let hints = &tensor.hints;
        let hint = |count: &u64| Known { estimate: *count as f64, bound: *count as f64, source: Source::Hint };
        let shape = match &hints.extents[..] {
            [] => vec![None; tensor.format.order],
            extents => extents.iter().map(|&extent| Some(extent)).collect(),
        };
        let order = tensor.format.mode_order();
        let mut facts = Self { shape, entries: hints.entries.as_ref().map(hint), ..Self::default() };
        if let Some((fibers, (_, prefix))) =
            hints.fibers.as_ref().zip(order.as_ref().and_then(|order| order.split_last()))
        {
            facts.distinct.insert(prefix.iter().map(|&mode| 1 << mode).sum(), hint(fibers));
        }
        facts.orders.extend(order);
        facts
    }

    /// The hints of a tensor's text that these figures, measured, are ten times more or less than, in words.
    pub fn wrong_hints(&self, tensor: &Tensor) -> Vec<String> {
        let mut notes = Vec::new();
        let mut compare = |what: &str, said: Option<u64>, found: Option<f64>| {
            let (Some(said), Some(found)) = (said, found) else { return };
            let (least, most) = (found.min(said as f64).max(1.0), found.max(said as f64));
            if most >= WRONG * least {
                let name = &tensor.name;
                notes.push(format!("the hint on `{name}` says {said} {what}, and there are {found}: plans that are made without the data are for the hint"));
            }
        };
        compare("entries", tensor.hints.entries, self.entries.map(|entries| entries.estimate));
        let order = tensor.format.mode_order().unwrap_or_default();
        let prefix = order.iter().rev().skip(1).map(|&mode| 1 << mode).sum::<Modes>();
        compare("fibers", tensor.hints.fibers, self.distinct.get(&prefix).map(|fibers| fibers.estimate.round()));
        for (mode, (said, found)) in tensor.hints.extents.iter().zip(&self.shape).enumerate() {
            compare(&format!("coordinates in mode {}", mode + 1), Some(*said), found.map(|extent| extent as f64));
        }
        notes
    }
}

/// The sets of modes of each sparse input of which the number of distinct coordinates decides between plans, by the name of the input;
/// `None` where there is nothing to plan: no statement sums a product of more than two factors, or of two of which one has an
/// index of its own to be summed over.
///
/// A set is wanted where it is what remains of a tensor's indices when the tensor is joined with some of the other factors and
/// what no one else needs is summed over. Sets of one mode are wanted always, of tensors of order three or less all.
///
/// ```
/// use spc_compiler::{notation, plan, syntax};
///
/// let of = |text: &str| {
///     let kernels = notation::check(&syntax::parse_program(text).unwrap()).unwrap();
///     plan::wanted(&kernels[0])
/// };
/// assert_eq!(of("fn spmv(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }"), None);
/// let sets = of("fn ttmc(X: csf, V: dense, W: dense) -> Y: dense { Y(i, q, r) = X(i, j, k) * V(j, q) * W(k, r); }");
/// assert_eq!(sets.unwrap()["X"].len(), 6);
/// ```
pub fn wanted(kernel: &Kernel) -> Option<BTreeMap<String, BTreeSet<Modes>>> {
    let mut sets: BTreeMap<String, BTreeSet<Modes>> = BTreeMap::new();
    let products: Vec<Product> = kernel.statements.iter().map(|statement| Product::of(kernel, statement)).collect();
    let joins_temporaries = kernel.tensors.iter().any(|tensor| tensor.role == Role::Temporary && !tensor.declared)
        && products.iter().map(|product| product.factors.len()).sum::<usize>() > 3;
    if !joins_temporaries && !products.iter().any(Product::has_choices) {
        return None;
    }
    for product in &products {
        for (place, factor) in product.factors.iter().enumerate() {
            let tensor = kernel.tensor(factor.tensor);
            if tensor.role != Role::Input || tensor.format.is_dense() || factor.indices.len() > Modes::BITS as usize {
                continue;
            }
            let found = sets.entry(tensor.name.clone()).or_default();
            product.remaining(place, found);
        }
    }
    Some(sets)
}

/// The tensors that a statement reads.
struct Product<'a> {
    target: &'a [IndexVariable],
    factors: Vec<&'a Access>,
    /// Whether anything is summed, or reduced otherwise.
    reduces: bool,
}

fn reduces(expr: &Expr) -> bool {
    matches!(expr, Expr::Reduce(..)) || expr.children().into_iter().any(reduces)
}

/// Of so many other factors all subsets are looked at; of more each one and all but one.
const MOST_SUBSETS: usize = 10;
/// Tensors of at most so many modes have all sets of modes counted.
const ALL_SETS: usize = 3;

impl<'a> Product<'a> {
    fn of(kernel: &Kernel, statement: &'a Assignment) -> Self {
        let mut factors = statement.value.accesses();
        factors.extend(&statement.mask);
        factors.retain(|access| kernel.tensor(access.tensor).format.order > 0);
        Self { target: &statement.target.indices, factors, reduces: reduces(&statement.value) }
    }

    /// Whether its factors can be joined in more than one order, or one of two be summed before.
    fn has_choices(&self) -> bool {
        let is_alone = |index: &IndexVariable| {
            let readers = self.factors.iter().filter(|factor| factor.indices.contains(index)).count();
            readers == 1 && !self.target.contains(index)
        };
        let count = self.factors.len();
        self.reduces
            && (count > 2 || count == 2 && self.factors.iter().flat_map(|factor| &factor.indices).any(is_alone))
    }

    /// What remains of a factor's modes when it is joined with some of the others.
    fn remaining(&self, place: usize, found: &mut BTreeSet<Modes>) {
        let own = &self.factors[place].indices;
        let all: Modes = (0..own.len()).map(|mode| 1 << mode).sum();
        found.extend((0..own.len()).map(|mode| 1 << mode));
        if own.len() <= ALL_SETS {
            found.extend(1..all);
        }
        let others: Vec<&Access> =
            self.factors.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, factor)| *factor).collect();
        let count = others.len();
        let mut add = |is_joined: &dyn Fn(usize) -> bool| {
            let is_needed = |index: &IndexVariable| {
                let rest = others.iter().enumerate().filter(|(other, _)| !is_joined(*other));
                self.target.contains(index) || rest.into_iter().any(|(_, factor)| factor.indices.contains(index))
            };
            let modes = own.iter().enumerate().filter(|(_, index)| is_needed(index));
            let set: Modes = modes.map(|(mode, _)| 1 << mode).sum();
            if set != 0 && set != all {
                found.insert(set);
            }
        };
        if count <= MOST_SUBSETS {
            (0..1u32 << count).for_each(|joined| add(&|other| joined >> other & 1 == 1));
        } else {
            (0..count).for_each(|one| add(&|other| other == one));
            (0..count).for_each(|one| add(&|other| other != one));
        }
    }
}
