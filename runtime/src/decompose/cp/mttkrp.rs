//! The MTTKRPs of all modes, as an iteration needs them one after the other.
//!
//! Everything is one kind of kernel, `Y(i0, r) = X(i0, i1, i2) * U1(i1, r) * U2(i2, r)`, on trees of coordinates that have the
//! rows of the result outermost, so that every row belongs to one thread: the MTTKRP of a mode, a partial product that several modes share
//! ([`plan`]), and the MTTKRP of a mode from such a product, which is one more operand, with a row for each of its tuples. Trees with
//! as many levels share a kernel, whatever the mode. Where there is no memory for copies, kernels read the tensor as it is stored.

mod plan;

use super::batch::{Batch, Compiled};
use crate::decompose::engine::indices;
use crate::decompose::entries::entries;
use crate::decompose::{DecomposeError, Engine};
use crate::execute::Input;
use crate::memory::budget;
use crate::tensor::{
    AnyTensor, Coordinates, Duplicates, Element, ElementType, Indices, InvalidTensor, LevelArrays, Parts, Values, pack,
};
use plan::{Modes, Part, Planner, Tree, members};
use rayon::prelude::*;
use spc_compiler::format::{Format, LevelFormat};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a mode of a stored tree is multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// The factor of a mode.
    Factor(usize),
    /// The rows of a node.
    Node(usize),
}

/// A stored tensor, and the kernel that multiplies it.
#[derive(Debug)]
struct Product {
    tensor: AnyTensor,
    operands: Vec<Operand>,
    kernel: usize,
}

/// A product that several modes share.
#[derive(Debug)]
struct Node {
    product: Product,
    /// The factors that it is made of, also through the node above it.
    made_of: Modes,
    rows: AnyTensor,
    is_fresh: bool,
}

/// The MTTKRP of each mode of a tensor.
#[derive(Debug)]
pub(super) struct Mttkrp {
    nodes: Vec<Node>,
    leaves: Vec<Product>,
    /// What was decided and why, a line each.
    pub(super) notes: Vec<String>,
}

/// How a tensor is multiplied.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setting<'a> {
    pub(super) engine: &'a Engine,
    pub(super) rank: usize,
    /// Of factors and of copies of the tensor.
    pub(super) element: ElementType,
    /// The most bytes of copies.
    pub(super) memory: Option<u64>,
}

impl Mttkrp {
    /// Decides what is shared, makes the copies, and adds the kernels to a batch. `entries` are those of `x`.
    pub(super) fn new(
        x: &AnyTensor,
        entries: &Coordinates<f64>,
        setting: Setting<'_>,
        batch: &mut Batch<'_>,
    ) -> Result<Self, DecomposeError> {
        let size = if setting.element == ElementType::F32 { 4 } else { 8 };
        let count = |modes| distinct(&entries.indices, entries.values.len(), modes);
        let mut planner = Planner::new(&entries.shape, setting.rank, size, count);
        let (tree, note) = chosen(&mut planner, budget(setting.memory) as f64);
        let made = Self { nodes: Vec::new(), leaves: Vec::new(), notes: vec![note] };
        let Some(tree) = tree else {
            return Ok(made.in_place(x, setting, batch));
        };
        let mut growth = Growth { made, setting, batch, planner, leaves: entries.shape.iter().map(|_| None).collect() };
        if setting.element == ElementType::F32 {
            let values: Vec<f32> = entries.values.iter().map(|&value| value as f32).collect();
            growth.grow(&Table::whole(entries, &values), &tree.parts)?;
        } else {
            growth.grow(&Table::whole(entries, &entries.values), &tree.parts)?;
        }
        let Growth { mut made, leaves, .. } = growth;
        made.leaves = leaves.into_iter().flatten().collect();
        Ok(made)
    }

    /// Each mode from the tensor as it is stored: its entries in the order of the mode, where it lists them and there is memory for their
    /// permutations (Phipps and Kolda, Software for Sparse Tensor Decomposition on Emerging Computing Architectures, 2019, section 6).
    fn in_place(mut self, x: &AnyTensor, setting: Setting<'_>, batch: &mut Batch<'_>) -> Self {
        let (names, element) = (indices(x.order()), setting.element.name());
        let (entry, tensor) = (format!("X({})", names.join(", ")), format!("X: {} {}", x.element().name(), x.format()));
        let entry = if x.element() == setting.element { entry } else { format!("{element}({entry})") };
        let size = (x.order() - 1) as u64 * x.nnz() as u64 * size_of::<u32>() as u64;
        let is_permuted = *x.format() == Format::coo(x.order()) && size <= budget(setting.memory);
        if is_permuted {
            self.notes.push(format!("permutations give its entries in the order of each mode ({})", mega(size as f64)));
        }
        for mode in 0..x.order() {
            let others: Vec<usize> = (0..x.order()).filter(|&other| other != mode).collect();
            let (mut operands, mut product) = (tensor.clone(), entry.clone());
            for other in &others {
                operands += &format!(", U{}: {element} dense", other + 1);
                product += &format!(" * U{}({}, r)", other + 1, names[*other]);
            }
            let result = &names[mode];
            let mut text = format!("fn mttkrp({operands}) -> Y: {element} dense {{ Y({result}, r) = {product}; }}");
            if is_permuted && mode > 0 {
                let order: Vec<&str> = [mode].iter().chain(&others).map(|&mode| &names[mode][..]).collect();
                text += &format!(" schedule {{ copy(X({}): permutation); }}", order.join(", "));
            }
            let builder = setting.engine.builder(text).dimension("r", setting.rank);
            let operands = others.into_iter().map(Operand::Factor).collect();
            self.leaves.push(Product { tensor: x.clone(), operands, kernel: batch.add(builder) });
        }
        self
    }

    /// The MTTKRP of a mode with these factors into `result`. Factors are those of the call before but for those that were
    /// [updated](Self::updated).
    pub(super) fn leaf(
        &mut self,
        mode: usize,
        factors: &[AnyTensor],
        result: &mut AnyTensor,
        compiled: &Compiled,
    ) -> Result<(), DecomposeError> {
        if let Some(Operand::Node(node)) = self.leaves[mode].operands.last().copied() {
            self.refresh(node, factors, compiled)?;
        }
        self.leaves[mode].multiply(&self.nodes, factors, result, compiled)
    }

    /// Makes a node of the newest factors, unless it is.
    fn refresh(&mut self, node: usize, factors: &[AnyTensor], compiled: &Compiled) -> Result<(), DecomposeError> {
        if self.nodes[node].is_fresh {
            return Ok(());
        }
        if let Some(Operand::Node(above)) = self.nodes[node].product.operands.last().copied() {
            self.refresh(above, factors, compiled)?;
        }
        // A node is made of nodes before it.
        let (before, rest) = self.nodes.split_at_mut(node);
        let Node { product, rows, is_fresh, .. } = &mut rest[0];
        product.multiply(before, factors, rows, compiled)?;
        *is_fresh = true;
        Ok(())
    }

    /// A factor has changed: what was made of it is stale.
    pub(super) fn updated(&mut self, mode: usize) {
        for node in self.nodes.iter_mut().filter(|node| node.made_of >> mode & 1 == 1) {
            node.is_fresh = false;
        }
    }
}

impl Product {
    fn multiply(
        &self,
        nodes: &[Node],
        factors: &[AnyTensor],
        result: &mut AnyTensor,
        compiled: &Compiled,
    ) -> Result<(), DecomposeError> {
        let operand = |operand: &Operand| -> &dyn Input {
            match *operand {
                Operand::Factor(mode) => &factors[mode],
                Operand::Node(node) => &nodes[node].rows,
            }
        };
        let tensor: &dyn Input = &self.tensor;
        let inputs: Vec<&dyn Input> = [tensor].into_iter().chain(self.operands.iter().map(operand)).collect();
        compiled.call(self.kernel, &inputs, result)
    }
}

/// By which factor sharing is to be faster: below that it was as often slower, where it was measured.
const PAYS: f64 = 1.15;

/// The tree with the least time whose copies there is memory for, and why it is chosen.
fn chosen(planner: &mut Planner<'_>, budget: f64) -> (Option<Tree>, String) {
    let (separate, best) = (planner.separate(), planner.best());
    let gain = separate.time / best.time;
    if gain >= PAYS && best.memory <= budget {
        let (parts, memory) = (described(&best.parts), mega(best.memory));
        let note = format!("modes share products: {parts}; {memory}, estimated {gain:.2} times as fast as without");
        return (Some(best), note);
    }
    if separate.memory <= budget {
        let memory = mega(separate.memory);
        let reason = if gain >= PAYS {
            "there is no memory for products that modes share"
        } else {
            "to share products would not be faster"
        };
        return (Some(separate), format!("a sorted copy for each mode ({memory}): {reason}"));
    }
    let (needed, given) = (mega(separate.memory), mega(budget));
    (None, format!("the tensor is read as it is stored: sorted copies would take {needed} of {given}"))
}

fn mega(bytes: f64) -> String {
    format!("{:.1} MB", bytes / 1e6)
}

/// `{1 2} 3`: modes in braces share a product.
fn described(parts: &[Part]) -> String {
    let one = |part: &Part| match part {
        Part::Leaf(mode) => (mode + 1).to_string(),
        Part::Node(_, parts) => format!("{{{}}}", described(parts)),
    };
    parts.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Entries of the tensor, or the tuples of a node, which have a row of the node as one more mode, behind the others.
struct Table<'t, T> {
    /// Of each mode here.
    extents: &'t [usize],
    indices: &'t [Indices],
    values: &'t [T],
    /// The tensor's modes.
    modes: Vec<usize>,
    node: Option<usize>,
}

/// A tree under construction.
struct Growth<'g, 'e> {
    made: Mttkrp,
    setting: Setting<'g>,
    batch: &'g mut Batch<'e>,
    planner: Planner<'g>,
    leaves: Vec<Option<Product>>,
}

impl Growth<'_, '_> {
    fn grow<T: Element>(&mut self, table: &Table<'_, T>, parts: &[Part]) -> Result<(), DecomposeError> {
        let from: Modes = table.modes.iter().map(|mode| 1 << mode).sum();
        for part in parts {
            match part {
                Part::Leaf(mode) => {
                    let order = [vec![*mode], self.planner.order(1 << mode, from & !(1 << mode))].concat();
                    let Parts { shape, levels, values, .. } = table.stored(&order, true)?;
                    self.leaves[*mode] = Some(self.product(table, &order[1..], shape, levels, values));
                }
                Part::Node(kept, below) => self.node(table, from, kept, below)?,
            }
        }
        Ok(())
    }

    /// A node, and what is made from it.
    fn node<T: Element>(
        &mut self,
        table: &Table<'_, T>,
        from: Modes,
        kept: &[usize],
        below: &[Part],
    ) -> Result<(), DecomposeError> {
        let set: Modes = kept.iter().map(|mode| 1 << mode).sum();
        let (kept, rest) = (self.planner.order(0, set), self.planner.order(set, from & !set));
        let Parts { shape, levels, values, .. } = table.stored(&[&kept[..], &rest].concat(), false)?;
        let depth = kept.len();
        let rows = levels[depth - 1].coordinates().map_or(0, |coordinates| coordinates.len());
        // The levels of what is kept are the tuples of the node.
        let ones = vec![T::ONE; rows];
        let tuples = AnyTensor::from_parts_trusted(
            shape[..depth].to_vec(),
            Format::csf(depth),
            levels[..depth].to_vec(),
            T::wrap(ones),
        );
        let listed = tuples.try_to_coordinates::<T>().map_err(InvalidTensor::Memory)?;
        let number = u32::try_from(rows).map_err(|_| InvalidTensor::TooLarge { level: 0 })?;
        let indices: Vec<Indices> = listed.indices.into_iter().chain([Indices::U32((0..number).collect())]).collect();
        let extents: Vec<usize> = shape[..depth].iter().copied().chain([rows]).collect();
        // The levels behind them are what its rows are sums of.
        let shape = [rows].into_iter().chain(shape[depth..].iter().copied()).collect();
        let levels = [LevelArrays::NONE].into_iter().chain(levels.into_iter().skip(depth)).collect();
        let product = self.product(table, &rest, shape, levels, values);
        let all: Modes = (1 << self.leaves.len()) - 1;
        let room = AnyTensor::zeros(vec![rows, self.setting.rank], Format::dense(2), self.setting.element)?;
        self.made.nodes.push(Node { product, made_of: all & !set, rows: room, is_fresh: false });
        let node = Some(self.made.nodes.len() - 1);
        self.grow(&Table { extents: &extents, indices: &indices, values: &listed.values, modes: kept, node }, below)
    }

    /// A stored tensor whose first level is the rows of the result, and the next ones these modes, then the row of the table's node.
    fn product<T>(
        &mut self,
        table: &Table<'_, T>,
        modes: &[usize],
        shape: Vec<usize>,
        levels: Vec<LevelArrays>,
        values: Values,
    ) -> Product {
        let kind = |level: &LevelArrays| match level.positions() {
            None => LevelFormat::DENSE,
            Some(_) => LevelFormat::COMPRESSED,
        };
        let format = Format::of_levels(levels.iter().map(kind));
        let tensor = AnyTensor::from_parts_trusted(shape, format, levels, values);
        let operands: Vec<Operand> =
            modes.iter().map(|&mode| Operand::Factor(mode)).chain(table.node.map(Operand::Node)).collect();
        let names: Vec<String> = (0..=operands.len()).map(|level| format!("i{level}")).collect();
        let mut text = format!("Y(i0, r) = X({})", names.join(", "));
        (1..names.len()).for_each(|level| text += &format!(" * U{level}(i{level}, r)"));
        let element = self.setting.element.name();
        let mut builder = self.setting.engine.builder(&text).dimension("r", self.setting.rank);
        builder = builder.format("X", format!("{element} {}", tensor.format())).format("Y", format!("{element} dense"));
        for level in 1..names.len() {
            builder = builder.format(format!("U{level}"), format!("{element} dense"));
        }
        let kernel = self.batch.add_once(format!("{text} {}", tensor.format()), builder);
        Product { tensor, operands, kernel }
    }
}

impl<'t, T: Element> Table<'t, T> {
    /// All entries, with other values.
    fn whole(entries: &'t Coordinates<f64>, values: &'t [T]) -> Self {
        let Coordinates { shape, indices, .. } = entries;
        Self { extents: shape, indices, values, modes: (0..shape.len()).collect(), node: None }
    }

    /// The table as a tree whose levels are these modes, the outermost first, as modes 1, 2, …; behind them the row of the node. `rows`:
    /// where the first is a mode of the result, which has a row for each coordinate.
    fn stored(&self, modes: &[usize], rows: bool) -> Result<Parts, DecomposeError> {
        let place = |mode: &usize| self.modes.iter().position(|known| known == mode).unwrap_or(0);
        let places: Vec<usize> = modes.iter().map(place).chain(self.node.map(|_| self.modes.len())).collect();
        let mut levels = vec![LevelFormat::COMPRESSED; places.len()];
        // Where most rows have entries, their coordinates need not be stored.
        if rows && self.extents[places[0]] <= 4 * self.values.len() {
            levels[0] = LevelFormat::DENSE;
        }
        let entries = Coordinates {
            shape: places.iter().map(|&place| self.extents[place]).collect(),
            shape_is_stated: true,
            indices: places.iter().map(|&place| self.indices[place].clone()).collect(),
            values: self.values.to_vec(),
        };
        Ok(pack(entries, &Format::of_levels(levels), Duplicates::Sum)?.into_parts())
    }
}

/// The entries of a tensor that was checked, without zeros. They have to be finite as `element` too.
pub(super) fn entries_of(x: &AnyTensor, element: ElementType) -> Result<Coordinates<f64>, DecomposeError> {
    let entries = entries(x)?;
    fit(&entries, element)?;
    Ok(entries)
}

/// Refuses entries that are not finite as `element`.
pub(super) fn fit(entries: &Coordinates<f64>, element: ElementType) -> Result<(), DecomposeError> {
    match entries.values.iter().find(|value| element == ElementType::F32 && !(**value as f32).is_finite()) {
        Some(value) => Err(DecomposeError::Option(format!("{value} is no value of f32: choose factors of f64"))),
        None => Ok(()),
    }
}

/// Entries as a tree whose levels are these modes, the outermost first, as modes 1, 2, …
pub(super) fn tree(
    entries: &Coordinates<f64>,
    modes: &[usize],
    element: ElementType,
) -> Result<AnyTensor, DecomposeError> {
    let Parts { shape, format, levels, values } = match element {
        ElementType::F32 => {
            let values: Vec<f32> = entries.values.iter().map(|&value| value as f32).collect();
            Table::whole(entries, &values).stored(modes, true)?
        }
        _ => Table::whole(entries, &entries.values).stored(modes, true)?,
    };
    Ok(AnyTensor::from_parts_trusted(shape, format, levels, values))
}

impl<T> Coordinates<T> {
    /// The index of an entry in each mode.
    pub(super) fn index(&self, entry: usize) -> Vec<usize> {
        self.indices.iter().map(|mode| mode.at(entry) as usize).collect()
    }
}

/// About how many distinct tuples of coordinates entries have in these modes, by linear counting (Whang, Vander-Zanden and Taylor, A
/// linear-time probabilistic counting algorithm for database applications, 1990): hashes set bits, and the bits that none sets tell how many there are.
fn distinct(indices: &[Indices], entries: usize, modes: Modes) -> f64 {
    let bits = (4 * entries).next_power_of_two().clamp(1 << 12, 1 << 31);
    let words: Vec<AtomicU64> = (0..bits / 64).map(|_| AtomicU64::new(0)).collect();
    let columns: Vec<&Indices> = members(modes).map(|mode| &indices[mode]).collect();
    const BLOCK: usize = 1 << 14;
    (0..entries.div_ceil(BLOCK)).into_par_iter().for_each(|block| {
        for entry in block * BLOCK..((block + 1) * BLOCK).min(entries) {
            let mut hash = 0u64;
            for column in &columns {
                hash = (hash ^ column.at(entry)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                hash ^= hash >> 29;
            }
            hash = hash.wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let bit = (hash >> 20) as usize & (bits - 1);
            let (word, mask) = (&words[bit / 64], 1 << (bit % 64));
            if word.load(Ordering::Relaxed) & mask == 0 {
                word.fetch_or(mask, Ordering::Relaxed);
            }
        }
    });
    let set: u64 = words.iter().map(|word| u64::from(word.load(Ordering::Relaxed).count_ones())).sum();
    let share = set as f64 / bits as f64;
    (bits as f64 * -(-share).ln_1p()).min(entries as f64)
}
