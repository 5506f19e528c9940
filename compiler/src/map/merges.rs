//! Sorted lists that the places of a loop merge, recognized in the form in which they are lowered.
//!
//! ```text
//! for i in low..high                                     row i, lists A and B
//!     let pa = a_pos[i], pb = b_pos[i]
//!     while pa < a_pos[i + 1] && pb < b_pos[i + 1]
//!         let j = min(a_crd[pa], b_crd[pb])              coordinate j
//!         let in_a = a_crd[pa] == j, in_b = …
//!         if in_a && in_b …                              points {A, B}, {A}, {B}
//!         else if in_a …
//!         else if in_b …
//!         if in_a: pa += 1
//!         if in_b: pb += 1
//!     for pa in pa..a_pos[i + 1] …                       no others than the points say
//!     for pb in pb..b_pos[i + 1] …
//!     push c_pos, length(c_crd)                          behind
//! ```

use super::strategy::Refused;
use crate::gpu::Builder;
use crate::gpu::append::Appended;
use crate::gpu::rewrite::{changed, declared, loaded, mentioned, written};
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, Parallel, Sharing, Statement, VariableId};
use crate::lattice::Operands;
use std::collections::BTreeSet;

/// A loop over rows, each of which merges lists of entries.
pub(super) struct Merge {
    pub row: VariableId,
    pub lists: Vec<List>,
    pub coordinate: VariableId,
    /// What is done at a coordinate: the first of them is, all of whose lists have it.
    pub points: Vec<Point>,
    /// The variables of the row that an entry needs.
    pub known: Vec<Statement>,
    /// What a row does before it merges.
    pub before: Vec<Statement>,
    /// And behind that.
    pub behind: Vec<Statement>,
    /// What the points append to.
    pub appended: Vec<Appended>,
    /// What the rest of a row appends to.
    pub others: Vec<(ArrayId, Sharing)>,
}

/// A list of each row.
pub(super) struct List {
    pub positions: ArrayId,
    pub coordinates: ArrayId,
    /// The position of the next entry.
    pub cursor: VariableId,
    /// Where the list of the row ends.
    pub end: Expr,
    /// Whether the list has the coordinate.
    pub present: VariableId,
}

/// What is done where some lists have the coordinate.
pub(super) struct Point {
    pub lists: Operands,
    pub body: Vec<Statement>,
}

impl Merge {
    /// The merge of a loop, if its entries can be taken by themselves.
    pub(super) fn of(builder: &mut Builder, parallel: &Parallel) -> Result<Self, Refused> {
        let (row, body) = rows_of(parallel).ok_or(Refused::NoMerge)?;
        let is_loop = |statement: &Statement| matches!(statement, Statement::While(..));
        let first = body.iter().position(is_loop).ok_or(Refused::NoMerge)?;
        let walk = Walk::of(&body[first]).ok_or(Refused::OtherMerge)?;
        let tails: Vec<Tail> = body[first + 1..].iter().map_while(|tail| walk.tail(tail)).collect();
        let (before, behind) = (&body[..first], &body[first + 1 + tails.len()..]);
        let end = builder.on_host(&parallel.end);
        let list = |number: usize| walk.list(builder, before, row, number, &end);
        let lists: Option<Vec<List>> = (0..walk.cursors.len()).map(list).collect();
        let lists = lists.filter(|lists| lists.len() > 1 && parallel.begin == Expr::Index(0) && walk.has_all(&tails));
        let lists = lists.ok_or(Refused::OtherMerge)?;
        let is_cursor = |statement: &&Statement| {
            matches!(statement, Statement::Let(variable, _) if walk.cursors.contains(variable))
                || matches!(statement, Statement::Comment(_))
        };
        let rest: Vec<Statement> = before.iter().filter(|statement| !is_cursor(statement)).cloned().collect();
        let known = known(&builder.module.kernel, &walk, &lists, &rest);
        let Walk { coordinate, points, .. } = walk;
        let (appended, others) = (Vec::new(), Vec::new());
        let behind = behind.to_vec();
        let merge = Self { row, lists, coordinate, points, known, before: rest, behind, appended, others };
        merge.sharing(parallel).ok_or(Refused::OtherMerge)
    }

    /// Takes apart what points append to from what the rest of a row does, where nothing else leaves a row.
    fn sharing(mut self, parallel: &Parallel) -> Option<Self> {
        let points: Vec<&Statement> = self.points.iter().flat_map(|point| &point.body).collect();
        let points: Vec<Statement> = points.into_iter().cloned().collect();
        let rest: Vec<Statement> = self.before.iter().chain(&self.behind).cloned().collect();
        let (own, of_rest) = (written(&points), written(&rest));
        let all: BTreeSet<ArrayId> = parallel.sharing.iter().map(|(array, _)| *array).collect();
        let is_apart = own.is_disjoint(&of_rest) && own.is_disjoint(&loaded(&rest)) && own.is_subset(&all);
        let entry: Vec<Statement> = self.known.iter().chain(&points).cloned().collect();
        let foreign = lengths(&points).intersection(&all).all(|array| own.contains(array));
        let is_known = lengths(&self.known).is_disjoint(&all) && loaded(&entry).is_disjoint(&all);
        if !(is_apart && foreign && is_known && only_appends(&points) && self.is_of_entries(parallel, &entry)) {
            return None;
        }
        let cursors: BTreeSet<VariableId> = self.lists.iter().map(|list| list.cursor).collect();
        if own.is_empty() || !mentioned(&rest).is_disjoint(&cursors) {
            return None;
        }
        for (array, sharing) in &parallel.sharing {
            let Sharing::Joined { positions_of } = sharing else { return None };
            match (own.contains(array), positions_of.filter(|children| own.contains(children))) {
                (true, children) if children == *positions_of => self.appended.push((*array, children)),
                (true, _) => return None,
                // What is pushed says how long the whole array is.
                (false, Some(_)) => self.others.push((*array, Sharing::Joined { positions_of: None })),
                (false, None) => self.others.push((*array, sharing.clone())),
            }
        }
        Some(self)
    }

    /// Whether what is done with an entry follows from its row, its coordinate and where lists have it.
    fn is_of_entries(&self, parallel: &Parallel, entry: &[Statement]) -> bool {
        let own = declared(entry);
        let cursors = self.lists.iter().map(|list| list.cursor);
        let given: BTreeSet<VariableId> = cursors.chain([self.row, self.coordinate]).collect();
        let mut foreign = declared(&parallel.body);
        foreign.extend([parallel.low, parallel.high]);
        let is_given =
            |variable: &VariableId| own.contains(variable) || given.contains(variable) || !foreign.contains(variable);
        mentioned(entry).iter().all(is_given) && changed(entry).is_subset(&own)
    }

    /// What is left to do with an entry of a list where no list before it has the coordinate: the first whose lists have it as well.
    pub(super) fn cases(&self, list: usize) -> Vec<(Operands, &[Statement])> {
        let mut cases: Vec<(Operands, &[Statement])> = Vec::new();
        for point in &self.points {
            let others = Operands(point.lists.0 & !(1 << list));
            let is_before = point.lists.0 & Operands::all(list).0 != 0;
            if !is_before && !cases.iter().any(|(lists, _)| lists.is_subset(others)) {
                cases.push((others, &point.body));
            }
        }
        while cases.last().is_some_and(|(_, body)| written(body).is_empty()) {
            cases.pop();
        }
        cases
    }
}

/// The one loop over places that a loop consists of: its counter and its body.
fn rows_of(parallel: &Parallel) -> Option<(VariableId, &[Statement])> {
    let is_other = |statement: &&Statement| !matches!(statement, Statement::Comment(_));
    let [Statement::For { variable, begin, end, body, .. }] =
        parallel.body.iter().filter(is_other).collect::<Vec<_>>()[..]
    else {
        return None;
    };
    let is_whole = *begin == Expr::Variable(parallel.low) && *end == Expr::Variable(parallel.high);
    is_whole.then_some((*variable, &body[..]))
}

/// A loop that walks lists side by side.
struct Walk {
    /// The position in each list.
    cursors: Vec<VariableId>,
    ends: Vec<Expr>,
    coordinates: Vec<ArrayId>,
    coordinate: VariableId,
    present: Vec<VariableId>,
    points: Vec<Point>,
}

/// A loop over what is left of some lists: which, and the points of it.
type Tail = (Operands, Vec<Operands>);

impl Walk {
    fn of(statement: &Statement) -> Option<Self> {
        let Statement::While(condition, body) = statement else { return None };
        let bound = |condition: &Expr| match condition {
            Expr::Binary(BinaryOperator::Less, cursor, end) => Some((variable(cursor)?, (**end).clone())),
            _ => None,
        };
        let bounds: Option<Vec<(VariableId, Expr)>> = conjuncts(condition).into_iter().map(bound).collect();
        let (cursors, ends): (Vec<VariableId>, Vec<Expr>) = bounds?.into_iter().unzip();
        let count = cursors.len();
        let body: Vec<&Statement> =
            body.iter().filter(|statement| !matches!(statement, Statement::Comment(_))).collect();
        let (known, rest) = body.split_at_checked(2 * count + 1)?;
        let (chain, steps) = rest.split_at_checked(rest.len().checked_sub(count)?)?;
        let own = |(statement, cursor): (&&Statement, &VariableId)| match statement {
            Statement::Let(own, Expr::Load(array, place)) if **place == Expr::Variable(*cursor) => Some((*own, *array)),
            _ => None,
        };
        let loads: Option<Vec<(VariableId, ArrayId)>> = known.iter().zip(&cursors).map(own).collect();
        let (own, coordinates): (Vec<VariableId>, Vec<ArrayId>) = loads?.into_iter().unzip();
        let minimum = |least, other| Expr::binary(BinaryOperator::Minimum, least, other);
        let least = own.iter().map(|own| Expr::Variable(*own)).reduce(minimum)?;
        let Statement::Let(coordinate, value) = known[count] else { return None };
        let is_there = |(statement, own): (&&Statement, &VariableId)| match statement {
            Statement::Let(present, value) if *value == Expr::Variable(*own).equals(Expr::Variable(*coordinate)) => {
                Some(*present)
            }
            _ => None,
        };
        let present: Option<Vec<VariableId>> = known[count + 1..].iter().zip(&own).map(is_there).collect();
        let present = present?;
        let step = |(cursor, present): (&VariableId, &VariableId)| {
            let next = Expr::Variable(*cursor).plus(Expr::Index(1));
            let step = Statement::Assign(*cursor, next);
            Statement::If(vec![(Expr::Variable(*present), vec![step])], Vec::new())
        };
        let is_walked = *value == least && steps.iter().copied().cloned().eq(cursors.iter().zip(&present).map(step));
        let points = match chain {
            [] => Vec::new(),
            [Statement::If(branches, otherwise)] if otherwise.is_empty() => points(branches, &present)?,
            _ => return None,
        };
        is_walked.then_some(Self { cursors, ends, coordinates, coordinate: *coordinate, present, points })
    }

    /// A loop over what is left of some of the lists.
    fn tail(&self, statement: &Statement) -> Option<Tail> {
        let number = |cursor: &VariableId, end: &Expr| {
            let number = self.cursors.iter().position(|own| own == cursor)?;
            (self.ends[number] == *end).then_some(number)
        };
        if let Statement::For { begin, end, .. } = statement {
            let only = Operands(1 << number(&variable(begin)?, end)?);
            return Some((only, vec![only]));
        }
        let tail = Walk::of(statement)?;
        let numbers: Option<Vec<usize>> =
            tail.cursors.iter().zip(&tail.ends).map(|(cursor, end)| number(cursor, end)).collect();
        let numbers = numbers?;
        let is_same = numbers.iter().zip(&tail.coordinates).all(|(&number, array)| self.coordinates[number] == *array);
        let here = |lists: Operands| Operands(lists.iter().fold(0, |all, list| all | 1 << numbers[list]));
        let points = tail.points.iter().map(|point| here(point.lists)).collect();
        is_same.then_some((here(Operands::all(numbers.len())), points))
    }

    /// Whether what is done behind the first loop is what its points say, where lists have no more entries.
    fn has_all(&self, tails: &[Tail]) -> bool {
        let acts = |point: &&Point| !written(&point.body).is_empty();
        let is_like = |(walked, points): &Tail| {
            let own: Vec<&Point> = self.points.iter().filter(|point| point.lists.is_subset(*walked)).collect();
            let both = own.iter().map(|point| point.lists).filter(|lists| points.contains(lists));
            both.eq(points.iter().copied()) && own.into_iter().filter(acts).all(|own| points.contains(&own.lists))
        };
        let all = Operands::all(self.cursors.len());
        let is_walked = |point: &Point| point.lists == all || tails.iter().any(|(walked, _)| *walked == point.lists);
        tails.iter().all(is_like) && self.points.iter().filter(acts).all(is_walked)
    }

    /// A list, if those of all rows are the entries of a level one after the other.
    fn list(
        &self,
        builder: &Builder,
        before: &[Statement],
        row: VariableId,
        number: usize,
        rows: &Expr,
    ) -> Option<List> {
        let kernel = &builder.module.kernel;
        let (cursor, coordinates) = (self.cursors[number], self.coordinates[number]);
        let value = |wanted: VariableId| {
            before.iter().find_map(|statement| match statement {
                Statement::Let(variable, value) if *variable == wanted => Some(value),
                _ => None,
            })
        };
        let Expr::Load(positions, place) = value(cursor)? else { return None };
        let end = match &self.ends[number] {
            Expr::Variable(end) => value(*end)?,
            other => other,
        };
        let next = Expr::Variable(row).plus(Expr::Index(1));
        if **place != Expr::Variable(row) || *end != Expr::load(*positions, next) {
            return None;
        }
        let ArrayRole::Coordinates { tensor, level } = kernel.array(coordinates).role else { return None };
        let format = kernel.tensor(tensor).format.levels[level].format;
        let is_list = format.kind.is_compressed() && format.unique() && format.ordered();
        let is_input = kernel.array(*positions).role == ArrayRole::Positions { tensor, level }
            && !kernel.is_output(tensor)
            && builder.parents(tensor, level).as_ref() == Some(rows);
        let (end, present) = (self.ends[number].clone(), self.present[number]);
        (is_list && is_input).then_some(List { positions: *positions, coordinates, cursor, end, present })
    }
}

/// What branches do where some lists have the coordinate.
fn points(branches: &[(Expr, Vec<Statement>)], present: &[VariableId]) -> Option<Vec<Point>> {
    let point = |(condition, body): &(Expr, Vec<Statement>)| {
        let mut lists = Operands(0);
        for condition in conjuncts(condition) {
            let list = variable(condition)?;
            lists.0 |= 1 << present.iter().position(|present| *present == list)?;
        }
        Some(Point { lists, body: body.clone() })
    };
    branches.iter().map(point).collect()
}

/// The variables of a row that its entries need, in their order.
fn known(kernel: &Kernel, walk: &Walk, lists: &[List], before: &[Statement]) -> Vec<Statement> {
    let mut needed: BTreeSet<VariableId> = lists.iter().filter_map(|list| variable(&list.end)).collect();
    needed.extend(walk.points.iter().flat_map(|point| mentioned(&point.body)));
    let mut known = Vec::new();
    for statement in before.iter().rev() {
        if let Statement::Let(variable, _) = statement
            && needed.contains(variable)
            && !kernel.variable(*variable).mutable
        {
            needed.extend(mentioned(std::slice::from_ref(statement)));
            known.push(statement.clone());
        }
    }
    known.reverse();
    known
}

/// Whether all that leaves a block is appended, and it makes nothing of its own but variables.
fn only_appends(block: &[Statement]) -> bool {
    let mut only = true;
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            only &= matches!(
                statement,
                Statement::Comment(_)
                    | Statement::Let(..)
                    | Statement::Assign(..)
                    | Statement::Update(..)
                    | Statement::For { .. }
                    | Statement::While(..)
                    | Statement::If(..)
                    | Statement::Push(..)
                    | Statement::Extend { .. }
            );
        });
    });
    only
}

/// The arrays whose lengths a block asks for.
pub(super) fn lengths(block: &[Statement]) -> BTreeSet<ArrayId> {
    let mut lengths = BTreeSet::new();
    let mut see = |expr: &Expr| {
        if let Expr::Length(array) = expr {
            lengths.insert(*array);
        }
    };
    block.iter().for_each(|statement| {
        statement.for_each(&mut |statement| statement.for_each_expr(&mut |expr| expr.for_each(&mut see)));
    });
    lengths
}

fn variable(expr: &Expr) -> Option<VariableId> {
    match expr {
        Expr::Variable(variable) => Some(*variable),
        _ => None,
    }
}

/// What has to hold all together.
fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Binary(BinaryOperator::And, left, right) => [conjuncts(left), conjuncts(right)].concat(),
        other => vec![other],
    }
}
