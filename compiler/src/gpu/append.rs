//! Appending: one launch counts, a scan turns counts into places, a second launch writes.
//!
//! ```text
//!                                count                       write
//!                                let n = 0                   let first = offsets[i]; let n = 0
//! for p in pos[i]..pos[i + 1]    for p in …                  for p in …
//!     if x[p] > 0                    if x[p] > 0                 if x[p] > 0
//!         push crd, c[p]                 n = n + 1                   crd[first + n] = c[p]; n = n + 1
//!                                offsets[i] = n
//! ```
//!
//! Arrays that are always appended to together, an entry's coordinates and its value, are counted once. Where every chunk appends one
//! element, as rows do to positions, nothing is counted: `offsets[i]` is what was there, and i.

use super::Refusal;
use super::rewrite::{allocated, loaded, replace_statements, rewrite, without_dead, written};
use crate::format::IndexWidth;
use crate::ir::{ArrayElement, ArrayId, ArrayRole, Expr, Kernel, Sharing, Statement, Type, VariableId};
use std::collections::BTreeMap;

/// An array that is appended to, and the one that its elements are positions of, where they are.
pub(crate) type Appended = (ArrayId, Option<ArrayId>);

/// How lengths are meant in a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lengths {
    /// Of what the chunk itself has appended.
    OfChunk,
    /// Of the whole arrays.
    OfArray,
}

/// How an array has grown so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Growth {
    /// By so many elements.
    By(u64),
    /// By what these counts say.
    Counted(ArrayId),
}

/// How arrays have grown so far: those with one history have one length.
pub(crate) type Histories = BTreeMap<ArrayId, Vec<Growth>>;

/// A body in two parts.
pub(crate) struct Appending {
    /// Counts.
    pub count: Vec<Statement>,
    /// Writes.
    pub write: Vec<Statement>,
    /// What each chunk counts into, with the arrays that grow by it.
    pub offsets: Vec<(ArrayId, Vec<ArrayId>)>,
    /// Arrays to which each chunk appends one element.
    pub by_one: Vec<ArrayId>,
}

/// Takes a body apart; `chunk` is the number of the chunk that runs it, of so many `chunks` where the host knows that.
pub(crate) fn take_apart(
    kernel: &mut Kernel,
    body: &[Statement],
    arrays: &[Appended],
    lengths: Lengths,
    chunk: &Expr,
    chunks: Option<&Expr>,
    histories: &mut Histories,
) -> Result<Appending, Refusal> {
    let appends = Appends::of(kernel, body, arrays, lengths, histories);
    let is_by_one = |group: &Group| chunks.is_some() && pushes(body, &group.arrays) == Some(1);
    let (by_one, counted): (Vec<Group>, Vec<Group>) = appends.groups().into_iter().partition(is_by_one);
    let is_counted = |offsets: ArrayId| counted.iter().any(|group| group.offsets == offsets);
    let first = |offsets: ArrayId| match (by_one.iter().find(|group| group.offsets == offsets), chunks) {
        (Some(group), Some(chunks)) => Expr::Length(group.arrays[0]).minus(chunks.clone()).plus(chunk.clone()),
        _ => Expr::load(offsets, chunk.clone()),
    };
    let write = appends.write(kernel, body, &first);
    let count = appends.count(kernel, body, &|offsets| is_counted(offsets).then(|| chunk.clone()));
    let needs_values = loaded(&count).into_iter().find(|array| appends.appends.contains_key(array));
    if let Some(array) = needs_values {
        let name = &kernel.array(array).name;
        let help = "use the Rust backend, or write a result that is dense";
        return Err(Refusal::new(format!("how much is stored depends on what `{name}` holds already"), help));
    }
    let offsets = counted.into_iter().map(|group| (group.offsets, group.arrays)).collect();
    let by_one = by_one.into_iter().flat_map(|group| group.arrays).collect();
    Ok(Appending { count, write, offsets, by_one })
}

/// How many elements a block appends to each of some arrays that are always appended to together, where it does so outside of loops and
/// conditions.
pub(crate) fn pushes(block: &[Statement], arrays: &[ArrayId]) -> Option<usize> {
    let is_inside = |statement: &Statement| match statement {
        Statement::Push(..) => false,
        other => written(std::slice::from_ref(other)).contains(&arrays[0]),
    };
    let is_push = |statement: &&Statement| matches!(statement, Statement::Push(other, _) if *other == arrays[0]);
    (!block.iter().any(is_inside)).then(|| block.iter().filter(is_push).count())
}

/// Arrays of one length in groups of which every member is appended to wherever one is, with the member that comes last.
fn groups(body: &[Statement], arrays: &[Appended], histories: &Histories) -> Vec<(Vec<ArrayId>, ArrayId)> {
    let mut places: BTreeMap<ArrayId, Option<Vec<Run>>> =
        arrays.iter().map(|(array, _)| (*array, Some(Vec::new()))).collect();
    runs(body, &mut Vec::new(), &mut places);
    let mut groups: Vec<(Vec<ArrayId>, Option<Vec<Run>>)> = Vec::new();
    for (array, runs) in places {
        let is_like = |other: &ArrayId| histories.get(other) == histories.get(&array);
        match groups.iter_mut().find(|(group, other)| runs.is_some() && *other == runs && is_like(&group[0])) {
            Some((group, _)) => group.push(array),
            None => groups.push((vec![array], runs)),
        }
    }
    let mut order = Vec::new();
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::Push(array, _) = statement {
                order.push(*array);
            }
        });
    });
    let last = |group: &[ArrayId]| order.iter().rev().find(|array| group.contains(array)).copied().unwrap_or(group[0]);
    groups.into_iter().map(|(group, _)| (group.clone(), last(&group))).collect()
}

/// Where pushes follow each other: the way to the first of them.
type Run = Vec<usize>;

/// The runs of pushes that each array takes part in; `None` for one that grows in other ways, or whose length is asked for
/// in the middle of a run.
fn runs(block: &[Statement], team: &mut Run, places: &mut BTreeMap<ArrayId, Option<Vec<Run>>>) {
    let mut begin = 0;
    for (place, statement) in block.iter().enumerate() {
        if !matches!(statement, Statement::Push(..)) {
            begin = place + 1;
        }
        match statement {
            Statement::Push(array, value) => {
                let run: Run = team.iter().copied().chain([begin]).collect();
                value.for_each(&mut |expr| {
                    if let Expr::Length(other) = expr
                        && block[begin..place].iter().any(|before| before.written_array() == Some(*other))
                    {
                        places.entry(*other).and_modify(|runs| *runs = None);
                    }
                });
                if let Some(Some(runs)) = places.get_mut(array) {
                    let is_twice = runs.last() == Some(&run);
                    runs.push(run);
                    if is_twice {
                        places.insert(*array, None);
                    }
                }
            }
            Statement::Extend { array, .. } => {
                places.entry(*array).and_modify(|runs| *runs = None);
            }
            _ => {}
        }
        for (number, inner) in statement.blocks().into_iter().enumerate() {
            team.extend([place, number]);
            runs(inner, team, places);
            team.truncate(team.len() - 2);
        }
    }
}

/// What becomes of one array.
#[derive(Clone, Copy)]
struct Append {
    offsets: ArrayId,
    /// Where the chunk begins to write.
    first: VariableId,
    /// How many elements the chunk has appended.
    count: VariableId,
    /// Whether the array is the one of its group that is counted.
    counts: bool,
}

/// Arrays that are always appended to together.
pub(crate) struct Group {
    /// What each chunk counts into.
    pub offsets: ArrayId,
    /// How many elements a chunk has appended.
    pub count: VariableId,
    /// All of them.
    pub arrays: Vec<ArrayId>,
}

/// How a body becomes one that counts, and one that writes.
pub(crate) struct Appends {
    appends: BTreeMap<ArrayId, Append>,
    positions_of: BTreeMap<ArrayId, Option<ArrayId>>,
    lengths: Lengths,
}

impl Appends {
    /// Of a body that appends to these arrays. Parts of it can be rewritten by themselves.
    pub(crate) fn of(
        kernel: &mut Kernel,
        body: &[Statement],
        arrays: &[Appended],
        lengths: Lengths,
        histories: &mut Histories,
    ) -> Self {
        let mut appends = Vec::new();
        for (arrays, last) in groups(body, arrays, histories) {
            let name = kernel.array(last).name.clone();
            let element = ArrayElement::Index(IndexWidth::U64);
            let offsets = kernel.declare_array(&format!("{name}_offsets"), element, ArrayRole::Local);
            let first = kernel.declare_index(&format!("{name}_first"));
            let count = kernel.declare_variable(&format!("{name}_count"), Type::Index, true);
            for array in &arrays {
                histories.entry(*array).or_default().push(Growth::Counted(offsets));
            }
            let of_group = |array| (array, Append { offsets, first, count, counts: array == last });
            appends.extend(arrays.into_iter().map(of_group));
        }
        Self { appends: appends.into_iter().collect(), positions_of: arrays.iter().copied().collect(), lengths }
    }

    /// The members of each group that count for it.
    fn counting(&self) -> impl Iterator<Item = &Append> {
        self.appends.values().filter(|append| append.counts)
    }

    /// Arrays that are appended to, in their groups.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let members = |offsets: ArrayId| {
            let members = self.appends.iter().filter(move |(_, append)| append.offsets == offsets);
            members.map(|(array, _)| *array).collect()
        };
        let group = |append: &Append| {
            let Append { offsets, count, .. } = *append;
            Group { offsets, count, arrays: members(offsets) }
        };
        self.counting().map(group).collect()
    }

    /// The body that counts; `place` says where in the offsets of a group, if it does.
    pub(crate) fn count(
        &self,
        kernel: &Kernel,
        body: &[Statement],
        place: &dyn Fn(ArrayId) -> Option<Expr>,
    ) -> Vec<Statement> {
        let begin = self.counting().map(|append| Statement::Let(append.count, Expr::Index(0)));
        let end = self.counting().filter_map(|append| {
            Some(Statement::Store(append.offsets, place(append.offsets)?, Expr::Variable(append.count)))
        });
        let own = allocated(body);
        let counted = replace_statements(body.to_vec(), &mut |statement| match statement {
            Statement::Push(array, value) => match self.appends.get(&array) {
                Some(append) => add(append, Expr::Index(1)),
                None => vec![Statement::Push(array, value)],
            },
            Statement::Extend { array, count, fill } => match self.appends.get(&array) {
                Some(append) => add(append, count),
                None => vec![Statement::Extend { array, count, fill }],
            },
            // All that leaves the body is for the second launch.
            Statement::Store(array, ..) | Statement::Reduce(array, ..) | Statement::Fill(array, _)
                if !own.contains(&array) =>
            {
                Vec::new()
            }
            other => vec![other],
        });
        let mut body: Vec<Statement> = begin.chain(counted).collect();
        rewrite(&mut body, &mut |expr| self.length(expr, Lengths::OfChunk));
        body.extend(end);
        let unread: Vec<VariableId> =
            self.counting().map(|append| append.count).filter(|count| !is_asked(&body, *count)).collect();
        let body = replace_statements(body, &mut |statement| match statement {
            Statement::Let(count, _) | Statement::Assign(count, _) if unread.contains(&count) => Vec::new(),
            other => vec![other],
        });
        without_dead(kernel, body, &[])
    }

    /// The body that writes; `first` says where in the arrays of a group it begins, given the group's offsets.
    pub(crate) fn write(
        &self,
        kernel: &mut Kernel,
        body: &[Statement],
        first: &dyn Fn(ArrayId) -> Expr,
    ) -> Vec<Statement> {
        let begin = self.counting().flat_map(|append| {
            let first = first(append.offsets);
            [Statement::Let(append.first, first), Statement::Let(append.count, Expr::Index(0))]
        });
        let mut written = replace_statements(body.to_vec(), &mut |statement| match statement {
            Statement::Push(array, value) => match self.appends.get(&array) {
                Some(append) => {
                    let value = self.position(array, value);
                    let place = Expr::Variable(append.first).plus(Expr::Variable(append.count));
                    let store = Statement::Store(array, place, value);
                    std::iter::once(store).chain(add(append, Expr::Index(1))).collect()
                }
                None => vec![Statement::Push(array, value)],
            },
            Statement::Extend { array, count, fill } => match self.appends.get(&array) {
                Some(append) => self.extend(kernel, array, *append, count, fill),
                None => vec![Statement::Extend { array, count, fill }],
            },
            Statement::Store(array, index, value) => {
                Statement::Store(array, self.element(array, index), value).into_block()
            }
            Statement::Reduce(array, index, operator, value) => {
                Statement::Reduce(array, self.element(array, index), operator, value).into_block()
            }
            other => vec![other],
        });
        rewrite(&mut written, &mut |expr| match expr {
            Expr::Load(array, index) => Expr::load(array, self.element(array, *index)),
            other => self.length(other, self.lengths),
        });
        without_dead(kernel, begin.chain(written).collect(), &[])
    }

    /// A row of elements, a vector loop.
    fn extend(&self, kernel: &mut Kernel, array: ArrayId, append: Append, count: Expr, fill: Expr) -> Vec<Statement> {
        let place = Expr::Variable(append.first).plus(Expr::Variable(append.count));
        let counted = add(&append, count.clone());
        let set = match count {
            Expr::Index(1) => Statement::Store(array, place, fill),
            count => {
                let variable = kernel.declare_index("element");
                let body = vec![Statement::Store(array, place.plus(Expr::Variable(variable)), fill)];
                Statement::For { variable, begin: Expr::Index(0), end: count, vector: true, body }
            }
        };
        std::iter::once(set).chain(counted).collect()
    }

    /// What is stored for a position: chunks count from zero.
    fn position(&self, array: ArrayId, value: Expr) -> Expr {
        let children =
            self.positions_of.get(&array).copied().flatten().and_then(|children| self.appends.get(&children));
        match children {
            Some(children) if self.lengths == Lengths::OfChunk => Expr::Variable(children.first).plus(value),
            _ => value,
        }
    }

    /// The place of an element that the chunk has appended.
    fn element(&self, array: ArrayId, index: Expr) -> Expr {
        match self.appends.get(&array) {
            Some(append) if self.lengths == Lengths::OfChunk => Expr::Variable(append.first).plus(index),
            _ => index,
        }
    }

    fn length(&self, expr: Expr, lengths: Lengths) -> Expr {
        match expr {
            Expr::Length(array) => match self.appends.get(&array) {
                Some(append) if lengths == Lengths::OfChunk => Expr::Variable(append.count),
                Some(append) => Expr::Variable(append.first).plus(Expr::Variable(append.count)),
                None => Expr::Length(array),
            },
            other => other,
        }
    }
}

/// Whether something else than its own growth asks for a count.
fn is_asked(body: &[Statement], count: VariableId) -> bool {
    let mut is_asked = false;
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            let grows = matches!(statement, Statement::Let(other, _) | Statement::Assign(other, _) if *other == count);
            if !grows {
                statement.for_each_expr(&mut |expr| {
                    expr.for_each(&mut |expr| is_asked |= *expr == Expr::Variable(count));
                });
            }
        });
    });
    is_asked
}

/// `count = count + by`, where the array is the one that is counted.
fn add(append: &Append, by: Expr) -> Vec<Statement> {
    let sum = Expr::Variable(append.count).plus(by);
    if append.counts { vec![Statement::Assign(append.count, sum)] } else { Vec::new() }
}

impl Statement {
    fn into_block(self) -> Vec<Statement> {
        vec![self]
    }
}

pub(crate) fn joined((array, sharing): &(ArrayId, Sharing)) -> Option<Appended> {
    match sharing {
        Sharing::Joined { positions_of } => Some((*array, *positions_of)),
        _ => None,
    }
}
