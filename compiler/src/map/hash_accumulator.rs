//! Sets of keys that a team of threads collects in shared memory, as hash tables, in place of those that a thread keeps as flags
//! over all keys (Nagasaka et al., High-performance and memory-saving sparse general matrix-matrix multiplication for NVIDIA Pascal
//! GPU, 2017; Parger et al., spECK: accelerating GPU sparse matrix-matrix multiplication through lightweight analysis, 2020).
//!
//! ```text
//! for p in pos[i]..pos[i + 1]                    reset keys
//!     for q in pos_b[j]..pos_b[j + 1]            for p in pos[i]..pos[i + 1] vector
//!         mark t_keys, k                             for q in pos_b[j]..pos_b[j + 1] vector
//!         t[k] += x[p] * y[q]                            insert place = k in keys
//! marked k in t_keys                                     t[place] += x[p] * y[q]
//!     push crd, k                                sort keys
//!     push vals, t[k]                            for n in 0..length(keys) vector
//!     t[k] = 0                                       crd[first + count + n] = keys[places[n]]
//!                                                    vals[first + count + n] = t[places[n]]
//! ```
//!
//! All threads of a team run the body; the loops that insert, and those over the keys, are shared out. What else writes memory is
//! done by one of them. `bins` says which rows have room in the tables.

use super::warp_per_row::is_injective;
use crate::format::IndexWidth;
use crate::gpu::Builder;
use crate::gpu::bitmaps::flattened;
use crate::gpu::plan::{COUNTS, TEAM_BLOCK, Table, Teams};
use crate::gpu::rewrite::{
    allocated, changed, declared, loaded, only_first, replace_statements, rewrite, without_dead,
};
use crate::ir::{ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Parallel, Statement, VariableId};
use std::collections::{BTreeMap, BTreeSet};

/// What a team does.
pub(super) struct Collected {
    /// Of all threads.
    pub body: Vec<Statement>,
    /// What they share.
    pub tables: Vec<Table>,
    /// Who they are.
    pub teams: Teams,
    /// What they may update at the same time.
    pub atomic: BTreeSet<ArrayId>,
    /// About how many iterations the inner of two nested loops has.
    pub inner: Expr,
}

/// Whether a parallel loop collects keys in sets, and appends what comes of them.
pub(super) fn collects(parallel: &Parallel) -> bool {
    let mut marks = false;
    parallel.body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| marks |= matches!(statement, Statement::Mark(..)));
    });
    marks
        && parallel.reductions.is_empty()
        && parallel.sharing.iter().all(|sharing| crate::gpu::append::joined(sharing).is_some())
}

/// The kernel with arrays in place of lists and sets, but in the loops that teams may run.
pub(super) fn flattened_elsewhere(kernel: &Kernel) -> Kernel {
    let mut rest = kernel.clone();
    let mut kept = BTreeMap::new();
    for (place, statement) in rest.body.iter_mut().enumerate() {
        if matches!(statement, Statement::Parallel(parallel) if collects(parallel)) {
            kept.insert(place, std::mem::replace(statement, Statement::Comment(String::new())));
        }
    }
    let mut rest = flattened(&rest);
    let lost = rest.body.len() - kernel.body.len();
    debug_assert_eq!(lost, 0, "lists and sets are made in loops");
    for (place, statement) in kept {
        rest.body[place] = statement;
    }
    rest
}

impl Builder {
    /// What a team does of a body, where it can: nothing is updated but sets, what belongs to their keys, and elements that one
    /// thread may write for all.
    pub(super) fn collected(&mut self, body: &[Statement], sets: &[Set]) -> Option<Collected> {
        let in_order = self.needs_order(body, sets);
        let lane = self.module.kernel.declare_index("lane");
        let mut rewriting = Rewriting { kernel: &mut self.module.kernel, sets, is_possible: true };
        let body = rewriting.block(body.to_vec());
        if !rewriting.is_possible {
            return None;
        }
        let body = without_dead(&self.module.kernel, body, &[]);
        let tables = tables(&body, sets)?;
        let (own, of_tables) = (allocated(&body), tables.iter().flat_map(Table::arrays).collect());
        if !is_simple(&body, &own, &of_tables) {
            return None;
        }
        let mut sharing =
            Sharing { kernel: &self.module.kernel, own, of_tables, lane, in_order, inner: None, is_possible: true };
        let body = sharing.block(body);
        let (is_possible, inner) = (sharing.is_possible, sharing.inner.take());
        let bytes = tables.iter().map(|table| table.slot(&self.module.kernel)).sum::<u64>();
        let room = self.options.shared.saturating_sub(COUNTS * tables.len() as u64) / bytes.max(1);
        // Their places are numbers of 16 bits.
        let slots = 1 << room.min(1 << 16).checked_ilog2()?;
        if !is_possible || slots < TEAM_BLOCK / crate::gpu::plan::SMALLEST_TEAM {
            return None;
        }
        let values = tables.iter().flat_map(|table| table.values.iter().map(|(array, _)| *array));
        let atomic = if in_order { BTreeSet::new() } else { values.collect() };
        let row = self.module.kernel.declare_index("row");
        let inner = inner.unwrap_or(Expr::Index(crate::gpu::plan::SMALLEST_TEAM));
        Some(Collected { body, tables, teams: Teams { row, lane, slots, in_order }, atomic, inner })
    }

    /// The sets of a body, each with what belongs to its keys.
    pub(super) fn sets(&mut self, body: &[Statement]) -> Vec<Set> {
        let width = self.key_width(body);
        let kernel = &mut self.module.kernel;
        let mut bitmaps = Vec::new();
        let mut fills = BTreeMap::new();
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| match statement {
                Statement::Bitmap { bitmap, .. } => bitmaps.push(*bitmap),
                Statement::Allocate { array, fill, .. } => _ = fills.insert(*array, fill.clone()),
                _ => {}
            });
        });
        let mut sets = Vec::new();
        for bitmap in bitmaps {
            let name = kernel.array(bitmap).name.replace("_bitmap", "");
            let mut index = |what: &str, width| {
                kernel.declare_array(&format!("{name}_{what}"), ArrayElement::Index(width), ArrayRole::Local)
            };
            let (keys, places) = (index("keys", width), index("places", IndexWidth::U16));
            let values = updated_with(body, bitmap);
            let values = values.into_iter().filter_map(|array| Some((array, fills.get(&array)?.clone()))).collect();
            sets.push(Set { bitmap, list: list_of(body, bitmap), keys, places, values });
        }
        sets
    }

    /// Whether keys take 64 bits.
    pub(super) fn has_wide_keys(&self, sets: &[Set]) -> bool {
        let wide = ArrayElement::Index(IndexWidth::U64);
        sets.iter().any(|set| self.module.kernel.array(set.keys).element == wide)
    }

    /// Keys are as wide as the coordinates that become of them.
    fn key_width(&self, body: &[Statement]) -> IndexWidth {
        let mut width = IndexWidth::U32;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Some(array) = statement.written_array()
                    && let declared = self.module.kernel.array(array)
                    && matches!(declared.role, ArrayRole::Coordinates { .. })
                    && declared.element == ArrayElement::Index(IndexWidth::U64)
                {
                    width = IndexWidth::U64;
                }
            });
        });
        width
    }

    /// Whether what belongs to a key has to come together in an order that is known.
    fn needs_order(&self, body: &[Statement], sets: &[Set]) -> bool {
        let mut needs = false;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Statement::Reduce(array, _, operator, _) = statement
                    && sets.iter().any(|set| set.has(*array))
                {
                    needs |= self.is_ordered(self.module.kernel.array(*array).element.ty(), *operator);
                }
            });
        });
        needs
    }
}

/// A set of keys.
pub(super) struct Set {
    bitmap: ArrayId,
    /// The list that takes its keys in order.
    list: Option<ArrayId>,
    keys: ArrayId,
    places: ArrayId,
    /// Arrays of which its keys are the indices.
    values: Vec<(ArrayId, Expr)>,
}

impl Set {
    fn has(&self, array: ArrayId) -> bool {
        self.values.iter().any(|(value, _)| *value == array)
    }
}

/// The arrays that are updated where a key is marked, at that key.
fn updated_with(body: &[Statement], bitmap: ArrayId) -> BTreeSet<ArrayId> {
    let mut arrays = BTreeSet::new();
    let mut keys: Vec<&Expr> = Vec::new();
    for statement in body {
        match statement {
            Statement::Mark(other, key) if *other == bitmap => keys.push(key),
            Statement::Reduce(array, index, ..) if keys.contains(&index) => _ = arrays.insert(*array),
            other => other.blocks().into_iter().for_each(|inner| arrays.extend(updated_with(inner, bitmap))),
        }
    }
    arrays
}

/// The list that takes the keys of a set, all of them in order.
fn list_of(body: &[Statement], bitmap: ArrayId) -> Option<ArrayId> {
    let mut list = None;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Marked { variable, bitmap: other, body } = statement
                && *other == bitmap
            {
                let pushed = body.iter().find_map(|statement| match statement {
                    Statement::Push(array, Expr::Variable(key)) if key == variable => Some(*array),
                    _ => None,
                });
                list = list.or(pushed);
            }
        });
    });
    let mut makes = false;
    body.iter().for_each(|statement| {
        statement
            .for_each(&mut |statement| makes |= matches!(statement, Statement::List(other) if Some(*other) == list));
    });
    list.filter(|_| makes)
}

/// The tables of a body, and none where something else is done with what they have.
fn tables(body: &[Statement], sets: &[Set]) -> Option<Vec<Table>> {
    let (read, updates) = (loaded(body), written(body));
    let mut tables = Vec::new();
    for set in sets {
        let places = read.contains(&set.places).then_some(set.places);
        let is_updated = |array: ArrayId| updates.contains(&array) || read.contains(&array);
        let values = set.values.iter().filter(|(array, _)| is_updated(*array)).cloned().collect();
        tables.push(Table { table: set.bitmap, keys: set.keys, places, values });
    }
    let mut is_used = true;
    let lists: BTreeSet<ArrayId> = sets.iter().filter_map(|set| set.list).collect();
    let is_place = |index: &Expr| {
        matches!(index, Expr::Variable(_))
            || matches!(index, Expr::Load(array, _) if sets.iter().any(|set| set.places == *array))
    };
    let all: BTreeSet<ArrayId> = sets.iter().flat_map(|set| set.values.iter().map(|(array, _)| *array)).collect();
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            is_used &= statement.written_array().is_none_or(|array| !lists.contains(&array));
            is_used &=
                !matches!(statement, Statement::Store(array, ..) | Statement::Fill(array, _) if all.contains(array));
            statement.for_each_expr(&mut |expr| {
                expr.for_each(&mut |expr| match expr {
                    Expr::Load(array, index) if all.contains(array) => is_used &= is_place(index),
                    Expr::Load(array, _) | Expr::Length(array) | Expr::Search { array, .. } => {
                        is_used &= !lists.contains(array) && !all.contains(array);
                    }
                    _ => {}
                });
            });
        });
    });
    is_used.then_some(tables)
}

/// The arrays that a block writes.
fn written(body: &[Statement]) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    body.iter().for_each(|statement| statement.for_each(&mut |statement| written.extend(statement.written_array())));
    written
}

/// Puts tables in place of sets.
struct Rewriting<'a> {
    kernel: &'a mut Kernel,
    sets: &'a [Set],
    is_possible: bool,
}

impl Rewriting<'_> {
    fn set(&self, bitmap: ArrayId) -> &Set {
        self.sets.iter().find(|set| set.bitmap == bitmap).expect("all sets are known")
    }

    fn of_value(&self, array: ArrayId) -> Option<&Set> {
        self.sets.iter().find(|set| set.has(array))
    }

    fn is_list(&self, array: ArrayId) -> bool {
        self.sets.iter().any(|set| set.list == Some(array))
    }

    fn block(&mut self, block: Vec<Statement>) -> Vec<Statement> {
        let resets = self.resets(&block);
        let mut done = Vec::with_capacity(block.len());
        // The slots of keys that the block has inserted.
        let mut inserted: Vec<(ArrayId, Expr, VariableId)> = Vec::new();
        for (number, mut statement) in block.into_iter().enumerate() {
            for bitmap in resets.iter().filter(|(first, _)| *first == number).map(|(_, bitmap)| *bitmap) {
                let reset = Statement::Reset { keys: self.set(bitmap).keys, table: bitmap };
                // What a comment says is about the loop behind it.
                let place = done.len() - usize::from(matches!(done.last(), Some(Statement::Comment(_))));
                done.insert(place, reset);
            }
            statement.for_each_expr_mut(&mut |expr| *expr = self.expr(std::mem::replace(expr, Expr::Index(0))));
            match statement {
                Statement::Bitmap { .. } => {}
                Statement::Allocate { array, .. } if self.of_value(array).is_some() => {}
                Statement::List(array) | Statement::Clear(array) if self.is_list(array) => {}
                // What is left to its keys is not read after the next reset.
                Statement::Store(array, Expr::Load(keys, _), _)
                    if self.of_value(array).is_some_and(|set| set.keys == keys) => {}
                Statement::Mark(bitmap, key) => {
                    if inserted.iter().all(|(other, known, _)| (*other, known) != (bitmap, &key)) {
                        let place = self.kernel.declare_index("place");
                        let keys = self.set(bitmap).keys;
                        inserted.push((bitmap, key.clone(), place));
                        done.push(Statement::Insert { place, key, keys, table: bitmap });
                    }
                }
                Statement::Reduce(array, index, operator, value) if self.of_value(array).is_some() => {
                    let bitmap = self.of_value(array).map(|set| set.bitmap);
                    let place = inserted.iter().find(|(other, key, _)| Some(*other) == bitmap && *key == index);
                    self.is_possible &= place.is_some();
                    let index = place.map_or(index, |(_, _, place)| Expr::Variable(*place));
                    done.push(Statement::Reduce(array, index, operator, value));
                }
                Statement::Marked { variable, bitmap, body } => {
                    self.is_possible &= resets.iter().any(|(_, other)| *other == bitmap);
                    self.each(variable, bitmap, body, &mut done);
                }
                mut other => {
                    for inner in other.blocks_mut() {
                        *inner = self.block(std::mem::take(inner));
                    }
                    done.push(other);
                }
            }
        }
        done
    }

    /// The sets whose keys a block goes through, each with the first statement that marks some: there it is emptied.
    fn resets(&mut self, block: &[Statement]) -> Vec<(usize, ArrayId)> {
        let mut resets = Vec::new();
        for (place, statement) in block.iter().enumerate() {
            let Statement::Marked { bitmap, .. } = statement else { continue };
            let is_first = resets.iter().all(|(_, other)| other != bitmap);
            let first = block[..place].iter().position(|statement| marks(statement, *bitmap));
            let after = block[place..].iter().any(|statement| marks(statement, *bitmap));
            self.is_possible &= is_first && !after;
            // No key is marked where none is marked here.
            resets.push((first.unwrap_or(place), *bitmap));
        }
        resets
    }

    /// What is done for each key, in order.
    fn each(&mut self, variable: VariableId, bitmap: ArrayId, body: Vec<Statement>, done: &mut Vec<Statement>) {
        let Set { keys, places, list, .. } = *self.set(bitmap);
        let key = Expr::Variable(variable);
        let mut body = replace_statements(body, &mut |statement| match statement {
            Statement::Push(array, value) if Some(array) == list && value == key => Vec::new(),
            Statement::Store(array, index, _) if self.set(bitmap).has(array) && index == key => Vec::new(),
            other => vec![other],
        });
        let (number, slot) = (self.kernel.declare_index("number"), self.kernel.declare_index("slot"));
        let count = self.kernel.declare_index("count");
        rewrite(&mut body, &mut |expr| match expr {
            Expr::Load(array, index) if self.set(bitmap).has(array) && *index == key => {
                Expr::load(array, Expr::Variable(slot))
            }
            other => other,
        });
        let mut body = self.block(body);
        let after = counted_up(&mut body, number, count);
        let own = declared(&body);
        let is_straight = body
            .iter()
            .all(|statement| matches!(statement, Statement::Comment(_) | Statement::Let(..) | Statement::Store(..)));
        let is_shared = is_straight && changed(&body).is_subset(&own);
        let of_key = [
            Statement::Let(slot, Expr::load(places, Expr::Variable(number))),
            Statement::Let(variable, Expr::load(keys, Expr::Variable(slot))),
        ];
        body.splice(0..0, of_key);
        done.push(Statement::Sort { keys, places, table: Some(bitmap) });
        done.push(Statement::Let(count, Expr::Length(keys)));
        let (begin, end) = (Expr::Index(0), Expr::Variable(count));
        done.push(Statement::For { variable: number, begin, end, vector: is_shared, body });
        done.extend(after);
    }

    /// What the keys of a set are, in order, and what belongs to them.
    fn expr(&self, expr: Expr) -> Expr {
        let expr = expr.map_children(&mut |child| self.expr(child));
        let of_list = |list: ArrayId| self.sets.iter().find(|set| set.list == Some(list));
        match expr {
            Expr::Length(list) if self.is_list(list) => of_list(list).map_or(expr, |set| Expr::Length(set.keys)),
            Expr::Load(list, number) if self.is_list(list) => match of_list(list) {
                Some(set) => Expr::load(set.keys, Expr::load(set.places, *number)),
                None => Expr::Load(list, number),
            },
            Expr::Load(array, index) => match (*index, self.of_value(array)) {
                (Expr::Load(keys, place), Some(set)) if set.keys == keys => Expr::Load(array, place),
                (index, _) => Expr::load(array, index),
            },
            other => other,
        }
    }
}

pub(super) fn marks(statement: &Statement, bitmap: ArrayId) -> bool {
    let mut marks = false;
    statement.for_each(&mut |statement| marks |= matches!(statement, Statement::Mark(other, _) if *other == bitmap));
    marks
}

/// Takes variables that count up once in each iteration of a loop out of it: each is what it was before, and as much more as there
/// were iterations. Gives what has to be added behind the loop.
///
/// ```text
/// for n in 0..count                  for n in 0..count
///     crd[first + c] = k                 crd[first + (c + n)] = k
///     c = c + 1                      c = c + count
/// ```
fn counted_up(body: &mut Vec<Statement>, number: VariableId, count: VariableId) -> Vec<Statement> {
    let mut after = Vec::new();
    for variable in changed(body) {
        let next = Expr::Variable(variable).plus(Expr::Index(1));
        let step = Statement::Assign(variable, next);
        let Some(place) = body.iter().position(|statement| *statement == step) else { continue };
        let rest: Vec<Statement> =
            body.iter().enumerate().filter(|(n, _)| *n != place).map(|(_, s)| s.clone()).collect();
        if changed(&rest).contains(&variable) || declared(body).contains(&variable) {
            continue;
        }
        let now = Expr::Variable(variable).plus(Expr::Variable(number));
        let then = now.clone().plus(Expr::Index(1));
        for (n, statement) in body.iter_mut().enumerate() {
            let value = if n < place { now.clone() } else { then.clone() };
            crate::gpu::rewrite::substitute(std::slice::from_mut(statement), &BTreeMap::from([(variable, value)]));
        }
        body.remove(place);
        after.push(Statement::Assign(variable, Expr::Variable(variable).plus(Expr::Variable(count))));
    }
    after
}

/// Whether a body has only statements that each thread of a team may do, and reads nothing that one of them writes: others would
/// read it before it is there.
fn is_simple(body: &[Statement], own: &BTreeSet<ArrayId>, of_tables: &BTreeSet<ArrayId>) -> bool {
    let read = loaded(body);
    let mut is_simple = true;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            is_simple &= match statement {
                Statement::Insert { .. } | Statement::Sort { .. } | Statement::Reset { .. } => true,
                Statement::Store(array, ..) | Statement::Reduce(array, ..) => {
                    own.contains(array) || of_tables.contains(array) || !read.contains(array)
                }
                Statement::Fill(array, _) => own.contains(array),
                other => crate::gpu::rewrite::is_of_one_thread(other),
            };
        });
    });
    is_simple
}

/// Shares out the loops of a team.
struct Sharing<'a> {
    kernel: &'a Kernel,
    /// Arrays that each thread has for itself.
    own: BTreeSet<ArrayId>,
    of_tables: BTreeSet<ArrayId>,
    lane: VariableId,
    in_order: bool,
    inner: Option<Expr>,
    is_possible: bool,
}

impl Sharing<'_> {
    fn block(&mut self, block: Vec<Statement>) -> Vec<Statement> {
        let mut done = Vec::with_capacity(block.len());
        for statement in block {
            match statement {
                Statement::For { variable, begin, end, body, .. } if inserts(&body) => {
                    done.push(self.inserting(variable, begin, end, body));
                }
                Statement::For { variable, begin, end, vector, body } => {
                    let vector =
                        vector && changed(&body).is_subset(&declared(&body)) && self.own.is_disjoint(&written(&body));
                    let body = if vector { body } else { self.block(body) };
                    done.push(Statement::For { variable, begin, end, vector, body });
                }
                Statement::Store(array, ..) | Statement::Reduce(array, ..) if !self.own.contains(&array) => {
                    self.is_possible &= !self.of_tables.contains(&array);
                    only_first(self.lane, statement, &mut done);
                }
                Statement::Insert { .. } => self.is_possible = false,
                mut other => {
                    for inner in other.blocks_mut() {
                        *inner = self.block(std::mem::take(inner));
                    }
                    done.push(other);
                }
            }
        }
        done
    }

    /// A loop that inserts: shared out, with the innermost in it, or run by all until there is one that can be.
    fn inserting(&mut self, variable: VariableId, begin: Expr, end: Expr, body: Vec<Statement>) -> Statement {
        let is_innermost = !body.iter().any(has_inner);
        let may_share = self.may_share(&body);
        let is_apart = || keys(&body).iter().all(|key| is_injective(self.kernel, variable, &begin, &end, &body, key));
        if may_share && (!self.in_order || is_innermost && is_apart()) {
            let body = self.inner_loops(body);
            return Statement::For { variable, begin, end, vector: true, body };
        }
        let body = self.block(body);
        Statement::For { variable, begin, end, vector: false, body }
    }

    /// The innermost loops that insert, shared out among the lanes of a part of the team.
    fn inner_loops(&mut self, block: Vec<Statement>) -> Vec<Statement> {
        let shared = block.into_iter().map(|statement| match statement {
            Statement::For { variable, begin, end, body, .. } if inserts(&body) => {
                let is_innermost = !body.iter().any(has_inner);
                let vector = is_innermost && self.may_share(&body);
                if vector {
                    self.inner = self.inner.take().or_else(|| self.mean(&begin, &end));
                }
                let body = if vector { body } else { self.inner_loops(body) };
                Statement::For { variable, begin, end, vector, body }
            }
            mut other => {
                if !matches!(other, Statement::While(..)) {
                    for inner in other.blocks_mut() {
                        *inner = self.inner_loops(std::mem::take(inner));
                    }
                }
                other
            }
        });
        shared.collect()
    }

    /// Whether iterations may be those of different threads: they meet in tables alone.
    fn may_share(&self, body: &[Statement]) -> bool {
        let mut meets = false;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                let is_of_team = matches!(statement, Statement::Sort { .. } | Statement::Reset { .. });
                meets |= is_of_team || statement.written_array().is_some_and(|array| !self.of_tables.contains(&array));
            });
        });
        !meets && changed(body).is_subset(&declared(body))
    }

    /// How many children a parent has on average, of a loop over those of one.
    fn mean(&self, begin: &Expr, end: &Expr) -> Option<Expr> {
        let (Expr::Load(positions, _), Expr::Load(other, _)) = (begin, end) else { return None };
        let ArrayRole::Positions { tensor, level } = self.kernel.array(*positions).role else { return None };
        let coordinates = ArrayRole::Coordinates { tensor, level };
        let coordinates = self.kernel.parameters().find(|(_, array)| array.role == coordinates)?.0;
        (positions == other)
            .then(|| Expr::binary(BinaryOperator::Divide, Expr::Length(coordinates), Expr::Length(*positions)))
    }
}

/// Whether a block inserts keys.
fn inserts(block: &[Statement]) -> bool {
    !keys(block).is_empty()
}

fn has_inner(statement: &Statement) -> bool {
    let mut has = false;
    statement.for_each(&mut |statement| {
        has |= matches!(statement, Statement::For { body, .. } if inserts(body));
    });
    has
}

/// The keys that a block inserts.
fn keys(block: &[Statement]) -> Vec<Expr> {
    let mut keys = Vec::new();
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Insert { key, .. } = statement {
                keys.push(key.clone());
            }
        });
    });
    keys
}
