//! Sparse workspaces: entries come in any order, and are walked in order when all are there.
//!
//! A row of `C(i, j) = A(i, k) * B(k, j)`, all CSR. While the producer runs, a table finds the place of each `j`:
//!
//! ```text
//! for pA, k where A(i, k) has entries
//!     for pB, j where B(k, j) has entries
//!         insert place = j in keys by table
//!         if place == length(values): push values, A[pA] * B[pB]
//!         else: values[place] += A[pA] * B[pB]
//! sort keys from places
//! combine the values of equal keys, of which count are left
//! for p in 0..count: append (i, keys[p]), values[places[p]]
//! reset keys by table; clear values
//! ```
//!
//! Without a table, all terms are pushed; with one, it is the table that decides from how many keys on it looks for one that
//! is there. So equal keys meet after the sort at the latest. The key of several coordinates is their place in a dense array of these modes; the scheduler sees to it that it fits in 64 bits. Where the
//! innermost modes are dense, an entry is a block of values.
//!
//! Where dense values of all coordinates fit in a cache, no place is looked for, and no key is sorted:
//!
//! ```text
//!     mark j in bitmap; values[j] += A[pA] * B[pB]
//! for marked j: append (i, j), values[j]; values[j] = 0
//! ```
//!
//! Where an operand chooses which entries are read, as a mask of a product does, its coordinates are flagged first, and no other entry is
//! made:
//!
//! ```text
//! for j where M(i, j) has entries: flags[j] = 1
//!     …  if 0 < flags[j]: flags[j] = 2; values[j] += A[pA] * B[pB]
//! for j where M(i, j) has entries: if flags[j] == 2: push keys, j; flags[j] = 0
//! ```
//!
//! How long the modes are is known at the call only. So there are two versions of the loops, of which one runs.
//!
//! Only what was touched is cleared, and the memory is made once a chunk of the parallel loop outside.

use super::{Lowering, Scope};
use crate::concrete::{Access, Assign, Collect, Run, Statement, Target, TensorId, TensorKind};
use crate::format::IndexWidth;
use crate::ir::{self, ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, ReduceOperator, Type};
use crate::lattice::chooser;
use crate::level::{Positions, Storage};

/// The arrays of a sparse workspace.
#[derive(Debug, Clone)]
pub(super) struct Sparse {
    entries: Entries,
    pub(super) values: ArrayId,
    /// The number of levels that have coordinates.
    levels: usize,
    /// The coordinates of each of them, in order; with one level, the keys.
    coordinates: Vec<ArrayId>,
    /// How many entries there are, once they are in order.
    count: Expr,
}

/// Where the entries of a sparse workspace lie.
#[derive(Debug, Clone, Copy)]
enum Entries {
    /// As they came.
    Listed {
        keys: ArrayId,
        /// What finds a key, where something does.
        table: Option<ArrayId>,
        /// Where the entry of each key lies in the values, once the keys are sorted.
        places: ArrayId,
    },
    /// At their keys.
    Dense {
        marks: Marks,
        /// The marked keys in order; `None` where the one loop over them is that over the bitmap.
        keys: Option<ArrayId>,
    },
}

/// What tells which entries a dense workspace has.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Marks {
    Bitmap(ArrayId),
    /// For each coordinate whether an entry there would be read, and whether there is one: see [`WANTED`] and [`FOUND`].
    Flags(ArrayId),
}

/// The flag of a coordinate at which an entry would be read.
const WANTED: Expr = Expr::Index(1);
/// The flag of one at which there is one.
const FOUND: Expr = Expr::Index(2);

/// The entries of an operand that choose those of a workspace.
struct Chooser {
    storage: Storage,
    positions: Positions,
    name: String,
}

impl Sparse {
    /// The number of levels that have coordinates.
    pub(super) fn levels(&self) -> usize {
        self.levels
    }

    /// The bitmap that the one loop over the entries goes through.
    pub(super) fn drained(&self) -> Option<ArrayId> {
        match self.entries {
            Entries::Dense { marks: Marks::Bitmap(bitmap), keys: None } => Some(bitmap),
            _ => None,
        }
    }

    /// The positions of the outermost level.
    pub(super) fn positions(&self) -> Positions {
        Positions { begin: Expr::Index(0), end: self.count.clone() }
    }
}

impl Lowering<'_> {
    pub(super) fn sparse_storage(&self, tensor: TensorId, sparse: &Sparse, depth: usize) -> Storage {
        let declaration = self.concrete.tensor(tensor);
        Storage {
            format: declaration.format.levels[depth].format,
            positions: None,
            coordinates: sparse.coordinates.get(depth).copied(),
            extent: self.size(declaration.extents[depth]),
            parent: Expr::Index(0),
            above: None,
            order: None,
        }
    }

    /// Where the values of an entry lie that is walked.
    pub(super) fn sparse_place(&self, access: &Access, sparse: &Sparse, scope: &Scope) -> Expr {
        let key = (access.tensor, access.indices.clone(), sparse.levels() - 1);
        let position = scope.positions.get(&key).expect("a sparse workspace is walked").begin.clone();
        match sparse.entries {
            Entries::Listed { places, .. } => Expr::load(places, position),
            Entries::Dense { keys: Some(keys), .. } => Expr::load(keys, position),
            Entries::Dense { keys: None, .. } => position,
        }
    }

    /// The loops, once for where the values of workspaces may be dense and once for where that would be too much, if any
    /// workspace asks for it.
    pub(super) fn versions(&mut self, body: &Statement, out: &mut Vec<ir::Statement>) {
        let tensors = (0..self.concrete.tensors.len()).map(TensorId);
        let most = |tensor: TensorId| match self.concrete.tensor(tensor).kind {
            TensorKind::SparseWorkspace(Collect::Bitmap(most)) => Some((tensor, most)),
            _ => None,
        };
        let dense: Vec<(TensorId, u64)> = tensors.filter_map(most).collect();
        if self.concrete.target == Target::Gpu {
            // There they are always dense: the number of threads follows from the memory that they take.
            self.with_bitmaps = !dense.is_empty();
            return self.statement(body, &Scope::default(), out);
        }
        let mut are_short: Vec<Expr> = Vec::new();
        for (workspace, most) in dense {
            let is_short = self.is_short(workspace, most);
            if !are_short.contains(&is_short) {
                are_short.push(is_short);
            }
        }
        let Some(condition) = are_short.into_iter().reduce(Expr::and) else {
            return self.statement(body, &Scope::default(), out);
        };
        let mut version = |with_bitmaps: bool| {
            self.with_bitmaps = with_bitmaps;
            let outer = std::mem::take(&mut self.hoisted);
            let mut loops = Vec::new();
            self.statement(body, &Scope::default(), &mut loops);
            let mut all = std::mem::replace(&mut self.hoisted, outer);
            all.extend(loops);
            all
        };
        let (short, long) = (version(true), version(false));
        out.push(ir::Statement::If(vec![(condition, short)], long));
    }

    /// Whether dense values of a workspace take so many bytes at most. No product is taken that could wrap.
    fn is_short(&self, workspace: TensorId, most: u64) -> Expr {
        let declaration = self.concrete.tensor(workspace);
        let most = || Expr::Index(most / declaration.element.bytes() as u64);
        let is_less = |expr: &Expr| Expr::binary(BinaryOperator::LessEqual, expr.clone(), most());
        let mut sizes = declaration.extents.iter().map(|&extent| self.size(extent));
        let mut product = sizes.next().expect("a sparse workspace has a level with coordinates");
        let mut condition = is_less(&product);
        for size in sizes {
            condition = condition.and(is_less(&size));
            product = product.times(size);
            condition = condition.and(is_less(&product));
        }
        condition
    }

    pub(super) fn with_sparse_workspace(
        &mut self,
        workspace: TensorId,
        collect: Collect,
        consumer: &Statement,
        producer: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let is_drained = self.drains(workspace, consumer, scope);
        let chooser = self.chooser(workspace, consumer, scope);
        self.open_sparse(workspace, collect, is_drained, chooser.is_some());
        if let (Some(chooser), Entries::Dense { marks: Marks::Flags(flags), .. }) =
            (&chooser, self.sparse[&workspace].entries)
        {
            self.for_each_chosen(chooser, |key| vec![ir::Statement::Store(flags, key, WANTED)], out);
        }
        let inside = Scope { touched: None, appended: None, pending: None, placed: None, ..scope.clone() };
        self.statement(producer, &inside, out);
        let fill = self.concrete.tensor(workspace).fill;
        let operator = reduction(producer, workspace).or_else(|| ReduceOperator::that_keeps(fill));
        self.drain(workspace, operator, chooser.as_ref(), out);
        self.statement(consumer, scope, out);
        let Sparse { entries, values, .. } = self.sparse[&workspace];
        match entries {
            Entries::Listed { keys, table, .. } => {
                out.push(match table {
                    Some(table) => ir::Statement::Reset { keys, table },
                    None => ir::Statement::Clear(keys),
                });
                out.push(ir::Statement::Clear(values));
            }
            Entries::Dense { keys: Some(keys), .. } => {
                let position = self.fresh("position", Type::Index, false);
                let mut body = Vec::new();
                self.empty_entry(workspace, Expr::load(keys, Expr::Variable(position)), &mut body);
                let end = Expr::Length(keys);
                out.push(ir::Statement::For { variable: position, begin: Expr::Index(0), end, vector: false, body });
                out.push(ir::Statement::Clear(keys));
            }
            Entries::Dense { keys: None, .. } => {}
        }
    }

    /// The entries of the operand that alone chooses which entries of a workspace are read.
    fn chooser(&self, workspace: TensorId, consumer: &Statement, scope: &Scope) -> Option<Chooser> {
        let (variable, access) = chooser(self.concrete, workspace, consumer).filter(|_| self.with_bitmaps)?;
        let (depth, _) = self.resolve(&access, scope);
        (self.level_variable(&access, depth) == variable).then_some(())?;
        let (storage, positions) = self.positions(&access, depth, scope);
        Some(Chooser { storage, positions, name: self.name_of_level(&access, depth) })
    }

    /// A loop over the coordinates that a chooser has.
    fn for_each_chosen(
        &mut self,
        chooser: &Chooser,
        body: impl FnOnce(Expr) -> Vec<ir::Statement>,
        out: &mut Vec<ir::Statement>,
    ) {
        let variable = self.fresh(chooser.name.clone(), Type::Index, false);
        let key = self.fresh("key", Type::Index, false);
        let coordinate = self.coordinate_at(&chooser.storage, Expr::Variable(variable));
        let body = [ir::Statement::Let(key, coordinate)].into_iter().chain(body(Expr::Variable(key))).collect();
        let Positions { begin, end } = chooser.positions.clone();
        out.push(ir::Statement::For { variable, begin, end, vector: false, body });
    }

    /// Makes the values at a key of a dense workspace what they were at first.
    pub(super) fn empty_entry(&mut self, workspace: TensorId, key: Expr, out: &mut Vec<ir::Statement>) {
        let values = self.sparse[&workspace].values;
        let fill = Expr::Literal(self.concrete.tensor(workspace).fill);
        out.push(match self.block(workspace) {
            Expr::Index(1) => ir::Statement::Store(values, key, fill),
            block => {
                let variable = self.fresh("offset", Type::Index, false);
                let place = key.times(block.clone()).plus(Expr::Variable(variable));
                let body = vec![ir::Statement::Store(values, place, fill)];
                ir::Statement::For { variable, begin: Expr::Index(0), end: block, vector: true, body }
            }
        });
    }

    /// Whether a consumer is one loop over the entries of a workspace and of nothing else, which can go through its bitmap.
    fn drains(&mut self, workspace: TensorId, consumer: &Statement, scope: &Scope) -> bool {
        let Statement::Forall { variable, run: Run::Serial, body } = consumer else { return false };
        let declaration = &self.concrete.variables[variable.0];
        if self.stored_levels(workspace) > 1 || declaration.value.is_some() || declaration.share.is_some() {
            return false;
        }
        let Some(loops) = self.over_lattice(*variable, Run::Serial, body, scope) else { return false };
        let is_alone = matches!(&loops.operands[..], [(access, 0)] if access.tensor == workspace);
        is_alone
            && !loops.everywhere
            && self.kept_coordinates(&loops).is_none()
            && self.walk_of_computed(&loops).is_none()
    }

    /// Makes the arrays, unless that was done where they are still in scope.
    fn open_sparse(&mut self, workspace: TensorId, collect: Collect, is_drained: bool, is_chosen: bool) {
        let is_made = |sparse: &Sparse| {
            self.hoisted.iter().any(|made| match (made, sparse.entries) {
                (ir::Statement::List(list), Entries::Listed { keys, .. }) => *list == keys,
                (ir::Statement::Bitmap { bitmap: made, .. }, Entries::Dense { marks: Marks::Bitmap(bitmap), .. }) => {
                    *made == bitmap && !is_chosen
                }
                (ir::Statement::Allocate { array, .. }, Entries::Dense { marks: Marks::Flags(flags), .. }) => {
                    *array == flags && is_chosen
                }
                _ => false,
            })
        };
        if self.sparse.get(&workspace).is_some_and(|sparse| is_made(sparse) && sparse.drained().is_some() == is_drained)
        {
            return;
        }
        let declaration = self.concrete.tensor(workspace);
        let name = declaration.name.clone();
        let levels = self.stored_levels(workspace);
        let extents = declaration.extents[..levels].iter().map(|&extent| self.size(extent));
        let extent = extents.reduce(Expr::times).expect("a sparse workspace has a level with coordinates");
        let widths: Vec<IndexWidth> =
            declaration.format.levels[..levels].iter().map(|level| level.format.coordinates()).collect();
        let element = ArrayElement::Value(declaration.element);
        let fill = Expr::Literal(declaration.fill);
        let block = declaration.extents[levels..].iter().fold(Expr::Index(1), |n, &extent| n.times(self.size(extent)));
        let key = ArrayElement::Index(if levels == 1 { widths[0] } else { IndexWidth::U64 });
        let (entries, values) = if matches!(collect, Collect::Bitmap(_)) && self.with_bitmaps {
            let values = self.declare_array(format!("{name}_vals"), element, ArrayRole::Local);
            let length = extent.clone().times(block);
            self.hoisted.push(ir::Statement::Allocate { array: values, length, fill });
            let marks = if is_chosen {
                let flag = ArrayElement::Index(IndexWidth::U8);
                let flags = self.declare_array(format!("{name}_flags"), flag, ArrayRole::Local);
                self.hoisted.push(ir::Statement::Allocate { array: flags, length: extent, fill: Expr::Index(0) });
                Marks::Flags(flags)
            } else {
                let bits = ArrayElement::Index(IndexWidth::U64);
                let bitmap = self.declare_array(format!("{name}_bitmap"), bits, ArrayRole::Local);
                self.hoisted.push(ir::Statement::Bitmap { bitmap, extent });
                Marks::Bitmap(bitmap)
            };
            let keys = (!is_drained).then(|| self.list(format!("{name}_keys"), key));
            (Entries::Dense { marks, keys }, values)
        } else {
            let keys = self.list(format!("{name}_keys"), key);
            let places = self.list(format!("{name}_places"), ArrayElement::Index(IndexWidth::U32));
            let values = self.list(format!("{name}_vals"), element);
            let table = (collect != Collect::List).then(|| {
                let element = ArrayElement::Index(IndexWidth::U32);
                let table = self.declare_array(format!("{name}_table"), element, ArrayRole::Local);
                self.hoisted.push(ir::Statement::Table { table, extent });
                table
            });
            (Entries::Listed { keys, table, places }, values)
        };
        let keys = match entries {
            Entries::Listed { keys, .. } => Some(keys),
            Entries::Dense { keys, .. } => keys,
        };
        let coordinates = match levels {
            1 => keys.into_iter().collect(),
            _ => {
                let list = |(level, width)| self.list(format!("{name}{}_crd", level + 1), ArrayElement::Index(width));
                widths.into_iter().enumerate().map(list).collect()
            }
        };
        let count = keys.map_or(Expr::Index(0), Expr::Length);
        self.sparse.insert(workspace, Sparse { entries, values, levels, coordinates, count });
    }

    fn list(&mut self, name: String, element: ArrayElement) -> ArrayId {
        let list = self.declare_array(name, element, ArrayRole::Local);
        self.hoisted.push(ir::Statement::List(list));
        list
    }

    // Entries come.

    /// The number of values of an entry.
    fn block(&self, workspace: TensorId) -> Expr {
        let extents = &self.concrete.tensor(workspace).extents[self.sparse[&workspace].levels()..];
        extents.iter().fold(Expr::Index(1), |block, &extent| block.times(self.size(extent)))
    }

    fn key(&self, target: &Access, scope: &Scope) -> Expr {
        self.dense_place_of(target, 0..self.sparse[&target.tensor].levels(), Expr::Index(0), scope)
    }

    /// One term.
    pub(super) fn scatter(&mut self, assign: &Assign, scope: &Scope, out: &mut Vec<ir::Statement>) {
        let target = &assign.target;
        let operator = assign.operator.unwrap_or(ReduceOperator::of_any(self.concrete.tensor(target.tensor).element));
        let Sparse { entries, values, .. } = self.sparse[&target.tensor];
        let value = self.expr(&assign.value, scope);
        let mut entry = Vec::new();
        let is_block = self.sparse[&target.tensor].levels() < target.indices.len();
        if is_block || scope.placed.is_some() || matches!(entries, Entries::Dense { .. }) {
            let place = match &scope.placed {
                Some(place) => place.clone(),
                None => self.find_block(target, scope, &mut entry),
            };
            let levels = self.sparse[&target.tensor].levels();
            let index = self.dense_place(target, levels, place, scope);
            entry.push(match assign.operator {
                Some(operator) => ir::Statement::Reduce(values, index, operator, value),
                None => ir::Statement::Store(values, index, value),
            });
        } else if let Entries::Listed { keys, table: Some(table), .. } = entries {
            let place = self.fresh("place", Type::Index, false);
            let term = self.fresh("term", Type::of(self.concrete.tensor(target.tensor).element), false);
            entry.push(ir::Statement::Insert { place, key: self.key(target, scope), keys, table });
            entry.push(ir::Statement::Let(term, value));
            let (place, term) = (Expr::Variable(place), Expr::Variable(term));
            let is_new = place.clone().equals(Expr::Length(values));
            let push = ir::Statement::Push(values, term.clone());
            let add = ir::Statement::Reduce(values, place, operator, term);
            entry.push(ir::Statement::If(vec![(is_new, vec![push])], vec![add]));
        } else if let Entries::Listed { keys, table: None, .. } = entries {
            entry.push(ir::Statement::Push(keys, self.key(target, scope)));
            entry.push(ir::Statement::Push(values, value));
        }
        if let Entries::Dense { marks: Marks::Flags(flags), .. } = entries {
            let is_wanted = Expr::Index(0).less(Expr::load(flags, self.key(target, scope)));
            entry = vec![ir::Statement::If(vec![(is_wanted, entry)], Vec::new())];
        }
        self.guard_of(&Statement::Assign(assign.clone()), scope, &|tensor| tensor == target.tensor, entry, out);
    }

    /// The sparse workspace of which `statement` writes a whole block of values.
    pub(super) fn missing_block(&self, statement: &Statement, scope: &Scope) -> Option<Access> {
        if scope.placed.is_some() || !matches!(statement, Statement::Forall { .. }) {
            return None;
        }
        let mut found = None;
        statement.for_each_assign(&mut |assign| {
            if self.sparse.contains_key(&assign.target.tensor) {
                found = Some(assign.target.clone());
            }
        });
        let target = found?;
        let levels = self.sparse[&target.tensor].levels();
        let is_known = |variable| scope.coordinates.contains_key(variable);
        let is_block = levels < target.indices.len() && target.indices[..levels].iter().all(is_known);
        (is_block && self.promises_a_term(statement, scope)).then_some(target)
    }

    /// Finds the block once, for all values that `statement` writes.
    pub(super) fn scatter_block(
        &mut self,
        target: &Access,
        statement: &Statement,
        scope: &Scope,
        out: &mut Vec<ir::Statement>,
    ) {
        let mut entry = Vec::new();
        let place = self.find_block(target, scope, &mut entry);
        self.statement(statement, &Scope { placed: Some(place), ..scope.clone() }, &mut entry);
        self.guard_of(statement, scope, &|tensor| tensor == target.tensor, entry, out);
    }

    /// The place of a block, which is made if it is not there.
    fn find_block(&mut self, target: &Access, scope: &Scope, out: &mut Vec<ir::Statement>) -> Expr {
        let Sparse { entries, values, .. } = self.sparse[&target.tensor];
        let key = self.key(target, scope);
        let (keys, table) = match entries {
            Entries::Dense { marks, .. } => {
                out.push(match marks {
                    Marks::Bitmap(bitmap) => ir::Statement::Mark(bitmap, key.clone()),
                    Marks::Flags(flags) => ir::Statement::Store(flags, key.clone(), FOUND),
                });
                return key;
            }
            Entries::Listed { keys, table, .. } => (keys, table),
        };
        let fill = Expr::Literal(self.concrete.tensor(target.tensor).fill);
        let count = self.block(target.tensor);
        let place = self.fresh("place", Type::Index, false);
        let extend = ir::Statement::Extend { array: values, count: count.clone(), fill };
        match table {
            Some(table) => {
                out.push(ir::Statement::Insert { place, key, keys, table });
                let is_new = Expr::Length(values).equals(Expr::Variable(place).times(count));
                out.push(ir::Statement::If(vec![(is_new, vec![extend])], Vec::new()));
            }
            None => {
                out.push(ir::Statement::Let(place, Expr::Length(keys)));
                out.push(ir::Statement::Push(keys, key));
                out.push(extend);
            }
        }
        Expr::Variable(place)
    }

    // Entries are there.

    /// Puts the entries in order, one for each key.
    fn drain(
        &mut self,
        workspace: TensorId,
        operator: Option<ReduceOperator>,
        chooser: Option<&Chooser>,
        out: &mut Vec<ir::Statement>,
    ) {
        match self.sparse[&workspace].entries {
            Entries::Listed { keys, places, table } => {
                out.push(ir::Statement::Sort { keys, places, table });
                let count = self.combine(workspace, (keys, places), operator, out);
                self.sparse.entry(workspace).and_modify(|sparse| sparse.count = count);
            }
            Entries::Dense { marks: Marks::Flags(flags), keys: Some(keys) } => {
                let chooser = chooser.expect("an operand chooses the entries");
                let found = |key: Expr| {
                    let is_found = Expr::load(flags, key.clone()).equals(FOUND);
                    let push = ir::Statement::Push(keys, key.clone());
                    let reset = ir::Statement::Store(flags, key, Expr::Index(0));
                    vec![ir::Statement::If(vec![(is_found, vec![push])], Vec::new()), reset]
                };
                self.for_each_chosen(chooser, found, out);
            }
            Entries::Dense { marks: Marks::Bitmap(bitmap), keys: Some(keys) } => {
                let variable = self.fresh("key", Type::Index, false);
                let body = vec![ir::Statement::Push(keys, Expr::Variable(variable))];
                out.push(ir::Statement::Marked { variable, bitmap, body });
            }
            Entries::Dense { keys: None, .. } => return,
        }
        if self.sparse[&workspace].levels() > 1 {
            self.decode(workspace, out);
        }
    }

    /// Combines the entries of equal keys, which stand side by side; without an operator, one of them at most is not the fill value. Gives
    /// the number of those that are left.
    fn combine(
        &mut self,
        workspace: TensorId,
        (keys, places): (ArrayId, ArrayId),
        operator: Option<ReduceOperator>,
        out: &mut Vec<ir::Statement>,
    ) -> Expr {
        let values = self.sparse[&workspace].values;
        let fill = self.concrete.tensor(workspace).fill;
        let count = self.fresh("count", Type::Index, true);
        let from = self.fresh("from", Type::Index, false);
        let end = Expr::Variable(count);
        let last = || end.clone().minus(Expr::Index(1));
        let same = Expr::load(keys, last()).equals(Expr::load(keys, Expr::Variable(from)));
        let is_same = Expr::Index(0).less(end.clone()).and(same);
        let place = |position: Expr| Expr::load(places, position);
        let block = self.block(workspace);
        let add = |offset: Option<Expr>| {
            let at = |position: Expr| match &offset {
                Some(offset) => place(position).times(block.clone()).plus(offset.clone()),
                None => place(position),
            };
            let next = Expr::load(values, at(Expr::Variable(from)));
            let Some(operator) = operator else {
                let [so_far, own] = [Expr::load(values, at(last())), next.clone()].map(Box::new);
                let chosen = match fill.is_nan() {
                    true => Expr::Select(Box::new(next.clone().equals(next)), own, so_far),
                    false => Expr::Select(Box::new(next.equals(Expr::Literal(fill))), so_far, own),
                };
                return ir::Statement::Store(values, at(last()), chosen);
            };
            ir::Statement::Reduce(values, at(last()), operator, next)
        };
        let combine = match block {
            Expr::Index(1) => add(None),
            _ => {
                let variable = self.fresh("offset", Type::Index, false);
                let body = vec![add(Some(Expr::Variable(variable)))];
                ir::Statement::For { variable, begin: Expr::Index(0), end: block.clone(), vector: false, body }
            }
        };
        let keep = vec![
            ir::Statement::Store(keys, end.clone(), Expr::load(keys, Expr::Variable(from))),
            ir::Statement::Store(places, end.clone(), place(Expr::Variable(from))),
            ir::Statement::Assign(count, end.clone().plus(Expr::Index(1))),
        ];
        let body = vec![ir::Statement::If(vec![(is_same, vec![combine])], keep)];
        out.push(ir::Statement::Let(count, Expr::Index(0)));
        let end = Expr::Length(keys);
        out.push(ir::Statement::For { variable: from, begin: Expr::Index(0), end, vector: false, body });
        Expr::Variable(count)
    }

    /// Takes the keys apart.
    fn decode(&mut self, workspace: TensorId, out: &mut Vec<ir::Statement>) {
        let Sparse { entries, coordinates, count, .. } = self.sparse[&workspace].clone();
        let (Entries::Listed { keys, .. } | Entries::Dense { keys: Some(keys), .. }) = entries else { return };
        let extents: Vec<Expr> =
            self.concrete.tensor(workspace).extents.iter().map(|&extent| self.size(extent)).collect();
        out.extend(coordinates.iter().map(|list| ir::Statement::Clear(*list)));
        let position = self.fresh("position", Type::Index, false);
        let mut body = Vec::new();
        for (level, list) in coordinates.iter().enumerate() {
            let key = Expr::load(keys, Expr::Variable(position));
            let below = extents[level + 1..coordinates.len()].iter().cloned().reduce(Expr::times);
            let prefix = match below {
                Some(below) => Expr::binary(BinaryOperator::Divide, key, below),
                None => key,
            };
            let coordinate = match level {
                0 => prefix,
                _ => Expr::binary(BinaryOperator::Remainder, prefix, extents[level].clone()),
            };
            body.push(ir::Statement::Push(*list, coordinate));
        }
        out.push(ir::Statement::For { variable: position, begin: Expr::Index(0), end: count, vector: false, body });
    }
}

/// How terms of a workspace meet; `None` where none does.
fn reduction(producer: &Statement, workspace: TensorId) -> Option<ReduceOperator> {
    let mut operator = None;
    producer.for_each_assign(&mut |assign| {
        if assign.target.tensor == workspace {
            operator = operator.or(assign.operator);
        }
    });
    operator
}
