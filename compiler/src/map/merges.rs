//! Sorted lists that the places of a loop merge.
//!
//! ```text
//! for i in low..high                                                  row i, lists A and B
//!     merge j of pA in A_pos[i]..A_pos[i + 1] at A_crd[pA], pB …      coordinate j
//!             where pA, pB … where pA … where pB …                    points {A, B}, {A}, {B}
//!     push C_pos, length(C_crd)                                       behind
//! ```

use super::strategy::Refused;
use crate::gpu::Builder;
use crate::gpu::append::Appended;
use crate::gpu::rewrite::{changed, declared, loaded, mentioned, written};
use crate::ir::{
    ArrayId, ArrayRole, Effect, Expr, Kernel, Operands, Parallel, Part, Point, Sharing, Statement, Type, VariableId,
    Walk, expand,
};
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

impl Merge {
    /// The merge of a loop, if its entries can be taken by themselves.
    pub(super) fn of(builder: &mut Builder, parallel: &Parallel) -> Result<Self, Refused> {
        let (row, body) = rows_of(parallel).ok_or(Refused::NoMerge)?;
        let is_merge = |statement: &Statement| matches!(statement, Statement::Merge(_));
        let first = body.iter().position(is_merge).ok_or(Refused::NoMerge)?;
        let Statement::Merge(node) = &body[first] else { return Err(Refused::NoMerge) };
        let (before, behind) = (&body[..first], &body[first + 1..]);
        let end = builder.on_host(&parallel.end);
        let list = |walk: &Walk| List::of(builder, walk, before, row, &end);
        let lists: Option<Vec<List>> = node.walks.iter().map(list).collect();
        let lists = lists.filter(|lists| lists.len() > 1 && parallel.begin == Expr::Index(0));
        let mut lists = lists.ok_or(Refused::OtherMerge)?;
        let kernel = &mut builder.module.kernel;
        for list in &mut lists {
            let tensor = kernel.array(list.coordinates).role.tensor().expect("lists are levels of tensors");
            let name = format!("in_{}", kernel.tensor(tensor).name);
            list.present = kernel.declare_variable(&name, Type::Bool, false);
        }
        let mut points = node.points.clone();
        points.iter_mut().for_each(|point| expand(kernel, &mut point.body, &|_, _| false));
        let is_comment = |statement: &&Statement| matches!(statement, Statement::Comment(_));
        let rest: Vec<Statement> = before.iter().filter(|statement| !is_comment(statement)).cloned().collect();
        let known = known(kernel, &points, &lists, &rest);
        let (appended, others) = (Vec::new(), Vec::new());
        let (coordinate, behind) = (node.coordinate, behind.to_vec());
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
            let others = Operands(point.operands.0 & !(1 << list));
            let is_before = point.operands.0 & Operands::all(list).0 != 0;
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

impl List {
    /// A list, if those of all rows are the entries of a level one after the other.
    fn of(builder: &Builder, walk: &Walk, before: &[Statement], row: VariableId, rows: &Expr) -> Option<List> {
        let kernel = &builder.module.kernel;
        let (cursor, coordinates) = (walk.place, walk.array()?);
        let value = |wanted: VariableId| {
            before.iter().find_map(|statement| match statement {
                Statement::Let(variable, value) if *variable == wanted => Some(value),
                _ => None,
            })
        };
        let Expr::Load(positions, place) = &walk.begin else { return None };
        let end = match &walk.end {
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
        let (positions, end, present) = (*positions, walk.end.clone(), cursor);
        (is_list && is_input).then_some(List { positions, coordinates, cursor, end, present })
    }
}

/// The variables of a row that its entries need, in their order.
fn known(kernel: &Kernel, points: &[Point], lists: &[List], before: &[Statement]) -> Vec<Statement> {
    let mut needed: BTreeSet<VariableId> = lists.iter().filter_map(|list| variable(&list.end)).collect();
    needed.extend(points.iter().flat_map(|point| mentioned(&point.body)));
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
    let mut see = |part: Part<'_>| only &= !matches!(part, Part::Array(_, effect) if effect != Effect::Appends);
    block.iter().for_each(|statement| statement.for_each(&mut |statement| statement.parts(&mut see)));
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
