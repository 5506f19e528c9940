//! What loops cost, roughly: enough to tell an order of loops that walks entries from one that walks a whole dimension.
//!
//! Nothing is known of the data, so all sparse tensors are taken to be alike: a mode has [`SPARSE_EXTENT`] coordinates where
//! some tensor stores it, or has a stored level below it, and is short elsewhere; under a parent there are [`CHILDREN`]
//! entries. A step is the visit of one coordinate or entry by one loop.

use super::{Access, Collect, Expr, IndexVariable, Kernel, Target};
use super::{level_variables, stored_levels};
use crate::format::Format;
use crate::ir::Literal;
use crate::level::is_located;
use crate::notation::simplify::decisive;
use crate::notation::{BinaryOperator, Reading};

/// The extent of a mode that is stored sparsely somewhere, or above one that is.
const SPARSE_EXTENT: f64 = 100_000.0;
/// The extent of any other mode: a rank.
const DENSE_EXTENT: f64 = 16.0;
/// The part of a mode whose coordinates occur in an outermost level.
const ROOTS: f64 = 0.25;
/// The entries under one parent.
pub(super) const CHILDREN: f64 = 8.0;
/// Steps to sort one entry of many into another order and store it.
pub(super) const SORTED: f64 = 20.0;
/// Steps to find the entry that a term belongs to.
const FOUND: f64 = 3.0;

/// Steps to read an entry off a bitmap and empty its place.
const READ_OFF: f64 = 2.0;
/// Steps to look at the word of a bitmap that tells of so many coordinates.
const LOOKED_AT: f64 = 0.25 / 4096.0;
/// So many bytes are dense values of a workspace at most, for each thread: what is left of a cache that the operands go
/// through as well.
pub(super) const DENSE_BYTES: u64 = 1 << 25;
/// So many where few terms come each time. Each of them then waits for memory that is not in the thread's own cache, and to sort
/// a short list takes less time.
const DENSE_BYTES_FOR_FEW: u64 = 1 << 22;
/// Up to so many terms are few.
const FEW: f64 = 1024.0;

/// Steps to search for one coordinate.
const SEARCHED: f64 = 8.0;

/// Where one of two operands has so many times as many coordinates, loops over what both have search it.
const UNEVEN: f64 = 8.0;

/// What a nest of loops costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cost {
    /// The steps of all loops.
    pub steps: f64,
    /// How often the innermost statement is reached.
    pub terms: f64,
}

/// What a workspace costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Collecting {
    /// The cheapest way.
    pub collect: Collect,
    /// Steps with dense values and a bitmap; infinite where the target has none.
    pub bitmap: f64,
    /// Steps with a table that finds entries.
    pub table: f64,
    /// Steps with a list that is sorted.
    pub list: f64,
}

impl Collecting {
    /// For workspaces that are filled with `terms` terms in `entries` entries. Dense ones have `dense` coordinates.
    pub(super) fn of(terms: f64, entries: f64, dense: Option<f64>) -> Self {
        let sort = |count: f64| count * count.max(2.0).log2();
        let (table, list) = (FOUND * terms + sort(entries), sort(terms));
        let read = |coordinates: f64| terms + READ_OFF * entries + LOOKED_AT * coordinates;
        let bitmap = dense.map_or(f64::INFINITY, read);
        let collect = match bitmap <= table.min(list) {
            true => Collect::Bitmap(if terms <= FEW { DENSE_BYTES_FOR_FEW } else { DENSE_BYTES }),
            false if table <= list => Collect::Table,
            false => Collect::List,
        };
        Self { collect, bitmap, table, list }
    }

    /// The steps of the cheapest way.
    pub(super) fn steps(self) -> f64 {
        self.bitmap.min(self.table).min(self.list)
    }
}

impl Kernel {
    /// How many coordinates an index variable is taken to have.
    pub(super) fn typical_extent(&self, variable: IndexVariable) -> f64 {
        self.typical_size(self.variables[variable.0].extent)
    }

    fn typical_size(&self, extent: usize) -> f64 {
        let is_sparse = self.tensors.iter().filter(|tensor| !tensor.kind.is_workspace()).any(|tensor| {
            let modes = tensor.format.mode_order().unwrap_or_default();
            let mut stored = modes.into_iter().take(stored_levels(&tensor.format));
            stored.any(|mode| tensor.extents[mode] == extent)
        });
        if is_sparse { SPARSE_EXTENT } else { DENSE_EXTENT }
    }

    /// How many entries a tensor in a format is taken to have.
    pub(super) fn typical_entries(&self, access: &Access, format: &Format) -> f64 {
        let levels = level_variables(access, format).into_iter().zip(&format.levels).enumerate();
        levels.fold(1.0, |entries, (depth, (variable, level))| match (is_located(level.format), depth) {
            (true, _) => entries * self.typical_extent(variable),
            (false, 0) => entries * ROOTS * self.typical_extent(variable),
            (false, _) => entries * CHILDREN,
        })
    }

    /// A value of which loops in several orders are compared.
    pub(super) fn costed<'a>(&'a self, value: &'a Expr) -> Costed<'a> {
        let fill = |access: &Access| self.tensor(access.values()).fill;
        let mut count = 0;
        Costed {
            kernel: self,
            value,
            accesses: value.accesses(),
            chance: Chance::of(value, &mut count, &fill),
            is_product: is_product(value, &fill),
            extents: (0..self.variables.len()).map(|place| self.typical_extent(IndexVariable(place))).collect(),
        }
    }

    /// Whether an expression has an entry only where all that it reads have one.
    pub(super) fn is_product(&self, expr: &Expr) -> bool {
        is_product(expr, &|access| self.tensor(access.values()).fill)
    }
}

/// A value, and what of its costs no order of loops changes.
pub(super) struct Costed<'a> {
    kernel: &'a Kernel,
    value: &'a Expr,
    accesses: Vec<&'a Access>,
    chance: Chance,
    is_product: bool,
    /// How many coordinates each index variable is taken to have.
    extents: Vec<f64>,
}

/// An access as it is stored.
struct Stored {
    format: Format,
    levels: Vec<IndexVariable>,
}

impl Costed<'_> {
    /// What loops, outermost first, cost that compute the value wherever it has an entry. `format` is how an access is stored.
    pub(super) fn cost(&self, loops: &[IndexVariable], format: &dyn Fn(&Access) -> Format) -> Cost {
        let stored = |access: &&Access| {
            let format = format(access);
            Stored { levels: level_variables(access, &format), format }
        };
        let stored: Vec<Stored> = self.accesses.iter().map(stored).collect();
        let mut cost = Cost { steps: 0.0, terms: 1.0 };
        for (place, &variable) in loops.iter().enumerate() {
            let is_computed = self.kernel.variables[variable.0].value.is_some();
            let extent = if is_computed { 1.0 } else { self.extents[variable.0] };
            let parts: Vec<f64> = stored.iter().map(|stored| self.part(stored, variable)).collect();
            let mut chance = self.chance.at(&parts);
            let mut walked: f64 = parts.iter().filter(|part| **part < 1.0).map(|part| part * extent).sum();
            if let Some(([one, other], is_searched)) = self.intersected(&stored, &parts, variable) {
                let (least, most) = (one.min(other), one.max(other));
                if contracts(self.value, &loops[..place], variable) {
                    chance = least;
                }
                if is_searched && most > UNEVEN * least && self.kernel.target == Target::Cpu {
                    walked = walked.min(least * extent * SEARCHED.max((most / least).log2()));
                }
            }
            let visited = if is_computed {
                SEARCHED
            } else if chance >= 1.0 || walked == 0.0 {
                extent
            } else {
                walked.min(extent)
            };
            cost.steps += cost.terms * visited;
            cost.terms *= extent * chance;
        }
        cost
    }

    /// The parts of a variable's coordinates that two operands have, of which a loop visits what both have; and whether each stores
    /// every coordinate once, in order, so that one can be searched for those of the other.
    fn intersected(&self, stored: &[Stored], parts: &[f64], variable: IndexVariable) -> Option<([f64; 2], bool)> {
        let mut walked = stored.iter().zip(parts).filter(|(_, part)| **part < 1.0);
        let (Some(one), Some(other), None) = (walked.next(), walked.next(), walked.next()) else { return None };
        let is_searched = |stored: &Stored| {
            let depth = stored.levels.iter().rposition(|&other| other == variable);
            let level = depth.map(|depth| stored.format.levels[depth].format);
            level.is_some_and(|level| level.kind.is_compressed() && level.unique() && level.ordered())
        };
        self.is_product.then(|| ([*one.1, *other.1], is_searched(one.0) && is_searched(other.0)))
    }

    /// The part of a variable's coordinates at which an access has an entry.
    fn part(&self, stored: &Stored, variable: IndexVariable) -> f64 {
        let depth = stored.levels.iter().rposition(|&other| other == variable);
        match depth {
            Some(depth) if !is_located(stored.format.levels[depth].format) => match depth {
                0 => ROOTS,
                _ => (CHILDREN / self.extents[variable.0]).min(1.0),
            },
            _ => 1.0,
        }
    }
}

/// The chance that an expression has an entry where its accesses have one with theirs.
enum Chance {
    /// That of an access, by its place.
    Access(usize),
    Known(f64),
    Sum(Vec<Chance>),
    Product(Vec<Chance>),
}

impl Chance {
    /// `count` accesses came before.
    fn of(expr: &Expr, count: &mut usize, fill: &dyn Fn(&Access) -> Literal) -> Self {
        let is_mask = |mask: &Expr| matches!(mask, Expr::Access(mask) if mask.reads == Reading::Stored);
        match expr {
            Expr::Access(_) => {
                *count += 1;
                Chance::Access(*count - 1)
            }
            // A sign in front of bytes: `0 - x`.
            Expr::Literal(literal) => Chance::Known(if literal.is_zero() { 0.0 } else { 1.0 }),
            Expr::Index(..) => Chance::Known(1.0),
            Expr::Reduce(_, _, body) => Self::of(body, count, fill),
            Expr::Unary(_, operand) => Self::of(operand, count, fill),
            // A value where a mask has entries.
            Expr::Binary(BinaryOperator::And, mask, value) if is_mask(mask) => {
                Chance::Product(vec![Self::of(mask, count, fill), Self::of(value, count, fill)])
            }
            expr => {
                let decisive = decisive(expr, fill);
                let mut decide = Vec::new();
                let mut others = Vec::new();
                for (place, child) in expr.children().into_iter().enumerate() {
                    let chance = Self::of(child, count, fill);
                    let is_decisive = decisive.iter().any(|other| std::ptr::eq(*other, child));
                    match (is_decisive, expr) {
                        (true, _) => decide.push(chance),
                        // Of a choice the condition has no entries.
                        (false, Expr::Select(..)) if place == 0 => {}
                        (false, _) => others.push(chance),
                    }
                }
                if decide.is_empty() { Chance::Sum(others) } else { Chance::Product(decide) }
            }
        }
    }

    /// The chance where accesses have these.
    fn at(&self, parts: &[f64]) -> f64 {
        match self {
            Chance::Access(place) => parts[*place],
            Chance::Known(chance) => *chance,
            Chance::Sum(chances) => chances.iter().map(|chance| chance.at(parts)).sum::<f64>().min(1.0),
            Chance::Product(chances) => chances.iter().map(|chance| chance.at(parts)).product(),
        }
    }
}

/// Whether a sum over several indices runs over one in a product of operands that share another, which has its loop outside: of
/// tuples that one operand has, the other is then taken to have most.
fn contracts(value: &Expr, outside: &[IndexVariable], variable: IndexVariable) -> bool {
    let Expr::Reduce(_, summed, body) = value else { return false };
    let is_shared = |other: &IndexVariable| {
        let mut shared = true;
        body.for_each_access(&mut |access| {
            let has = |index: &IndexVariable| access.indices.contains(index);
            shared &= !has(&variable) || has(other);
        });
        shared
    };
    summed.contains(&variable) && outside.iter().any(|other| summed.contains(other) && is_shared(other))
}

/// Whether an expression has an entry only where all that it reads have one.
fn is_product(expr: &Expr, fill: &dyn Fn(&Access) -> Literal) -> bool {
    match expr {
        Expr::Access(_) | Expr::Literal(_) | Expr::Index(..) => true,
        Expr::Reduce(_, _, body) => is_product(body, fill),
        expr => {
            let decisive = decisive(expr, fill);
            let is_constant = |child: &Expr| {
                let mut reads = 0;
                child.for_each_access(&mut |_| reads += 1);
                reads == 0
            };
            let is_part = |child: &Expr| {
                is_constant(child)
                    || decisive.iter().any(|&other| std::ptr::eq(other, child)) && is_product(child, fill)
            };
            expr.children().into_iter().all(is_part)
        }
    }
}
