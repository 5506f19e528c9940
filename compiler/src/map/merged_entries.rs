//! Entries of lists that are merged, each by itself: an entry searches its coordinate in the other lists of its row, and the first list that
//! has a coordinate does what the merge does there. As lists ascend, and rows do, what comes before an entry in the result is what the
//! entries before it have appended, and those of the other lists before the place where the search ends.
//!
//! ```text
//! for i in low..high                     launch for entries of A: a_offsets[pa] = how many
//!     while pa < … && pb < …             launch for entries of B that A has not: b_offsets[pb] = how many
//!         if in_a && in_b                scan a_offsets with b_offsets behind, lengthen C_crd
//!             push C_crd, j              launch for entries of A, of B: C_crd[sums of both at pa and pb] = j
//!         …                              parallel low..high in 0..n
//!     push C_pos, length(C_crd)              push C_pos, sums of both at the ends of row i
//! ```
//!
//! What takes a thread as long as a row is then spread over all lanes, however long rows are. Where each entry of the first list appends
//! one element, the sum of these is the entry's position, and nothing counts them.

use super::grid::Grid;
use super::merges::{List, Merge, lengths, written};
use super::strategy::{Emit, Loop, Refused, Strategy};
use super::warp_scan::share_of_rows;
use super::work_item::Team;
use crate::gpu::append::{Appends, Group, Lengths, joined};
use crate::gpu::plan::{Places, Rows, Segments, Step, WARP};
use crate::gpu::rewrite::{replace_statements, rewrite, substitute, writes};
use crate::gpu::{Builder, Refusal};
use crate::ir::{ArrayId, ArrayRole, BinaryOperator, Expr, Find, Parallel, Statement, UnaryOperator, VariableId};
use crate::lattice::Operands;
use std::collections::BTreeMap;

/// Lanes for the entries of merged lists.
pub(super) struct MergedEntries;

impl Strategy for MergedEntries {
    fn name(&self) -> &'static str {
        "entries of merged lists"
    }

    fn fits<'a>(&self, builder: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        let parallel = &node.parallel;
        if !parallel.sharing.iter().any(|sharing| joined(sharing).is_some()) {
            return Err(Refused::NothingAppended);
        }
        node.check_plain()?;
        let merge = Merge::of(builder, parallel)?;
        Ok(Box::new(move |builder| builder.merged_entries(parallel, merge)))
    }
}

impl Builder {
    /// Launches that count and write what the entries of each list append, and the loop over rows without its merge.
    fn merged_entries(&mut self, parallel: &Parallel, merge: Merge) -> Result<(), Refusal> {
        let kernel = &mut self.module.kernel;
        let appends = Appends::of(kernel, &merge.all(), &merge.appended, Lengths::OfChunk, &mut self.histories);
        let groups: Vec<Counts> = appends.groups().into_iter().map(|group| Counts::of(group, &merge)).collect();
        let of = |array: ArrayId| groups.iter().find(|counts| counts.group.offsets == array).expect("a group counts");
        let place = |list: &List| {
            let name = kernel.variable(list.cursor).name.clone();
            kernel.declare_index(&name)
        };
        let places: Vec<VariableId> = merge.lists.iter().map(place).collect();
        for counts in &groups {
            let length = counts.count.clone().plus(Expr::Index(1));
            let fill = Some(Expr::Index(0));
            self.module.steps.push(Step::Make { array: counts.group.offsets, length, fill });
        }
        let lists: Vec<usize> = (0..places.len()).filter(|&list| !merge.cases(list).is_empty()).collect();
        for &list in &lists {
            let counted: Vec<&Counts> = groups.iter().filter(|counts| counts.begins[list].is_some()).collect();
            if counted.is_empty() {
                continue;
            }
            let own = Expr::Variable(places[list]);
            let body = merge.counted(list, &counted, &own).unwrap_or_else(|| {
                let at = |array: ArrayId| of(array).place(list, &own);
                let body = appends.count(&self.module.kernel, &merge.chain(list), &at);
                without_counts(body, &merge, &groups)
            });
            let body = merge.entry(list, &places, body);
            self.launch_entries(&merge, list, places[list], body, "counts what each appends")?;
        }
        self.lengthen_counted(&merge, &groups);
        for &list in &lists {
            let at = |list: usize| Expr::Variable(places[list]);
            let chain = merge.chain(list);
            let body = appends.write(&mut self.module.kernel, &chain, &|array| of(array).before(&at));
            let body = without_counts(body, &merge, &groups);
            let body = merge.entry(list, &places, body);
            self.launch_entries(&merge, list, places[list], body, "writes what each appends")?;
        }
        self.rest_of_rows(parallel, merge, &groups)
    }

    /// Room for what entries of all lists append.
    fn lengthen_counted(&mut self, merge: &Merge, groups: &[Counts]) {
        for counts in groups {
            let Group { offsets, arrays, .. } = &counts.group;
            // Arrays that are appended to together have one length.
            self.module.steps.push(Step::Scan { array: *offsets, first: Expr::Length(arrays[0]) });
            let all = Expr::load(*offsets, counts.count.clone());
            let length = if counts.is_first_known { merge.lists[0].length().plus(all) } else { all };
            let lengthen = |&array: &ArrayId| Step::Lengthen { array, length: length.clone() };
            self.module.steps.extend(arrays.iter().map(lengthen));
        }
    }

    /// A launch with a lane for each entry of a list.
    fn launch_entries(
        &mut self,
        merge: &Merge,
        list: usize,
        place: VariableId,
        body: Vec<Statement>,
        what: &str,
    ) -> Result<(), Refusal> {
        let List { positions, coordinates, .. } = merge.lists[list];
        let kernel = &mut self.module.kernel;
        let name = match kernel.array(coordinates).role {
            ArrayRole::Coordinates { tensor, .. } => kernel.tensor(tensor).name.clone(),
            _ => kernel.array(coordinates).name.clone(),
        };
        let (begin, end) = (Expr::Index(0), merge.lists[list].length());
        let share = Some(share_of_rows(kernel, &end));
        let places = Places { place, begin, end: end.clone(), worker: None, workers: None, share, lanes: None };
        let rows = Some(Rows { positions, row: merge.row });
        let team = Team::Segments(Segments { rows, sum: None });
        let what = format!("for equal shares of the entries of {name}: {what}");
        self.launch(&Grid::of_places(places, end), team, body, Some(Expr::Index(WARP)), &what)
    }

    /// What rows do besides: how long an array is that entries append to follows from where their lists begin and end.
    fn rest_of_rows(&mut self, parallel: &Parallel, merge: Merge, groups: &[Counts]) -> Result<(), Refusal> {
        let with_lengths = |block: &mut [Statement], row: Expr| {
            let at = |list: usize| Expr::load(merge.lists[list].positions, row.clone());
            rewrite(block, &mut |expr| match expr {
                Expr::Length(array) => match groups.iter().find(|counts| counts.group.arrays.contains(&array)) {
                    Some(counts) => counts.before(&at),
                    None => Expr::Length(array),
                },
                other => other,
            });
        };
        let (mut body, mut behind) = (merge.before.clone(), merge.behind.clone());
        let row = Expr::Variable(merge.row);
        with_lengths(&mut body, row.clone());
        with_lengths(&mut behind, row.plus(Expr::Index(1)));
        body.append(&mut behind);
        if !writes(&body) {
            return Ok(());
        }
        let (begin, end) = (Expr::Variable(parallel.low), Expr::Variable(parallel.high));
        let rows = vec![Statement::For { variable: merge.row, begin, end, vector: false, body }];
        let (begin, end) = (parallel.begin.clone(), parallel.end.clone());
        let over = Parallel::over(begin, end, parallel.low, parallel.high, rows);
        (self.map)(self, &Parallel { sharing: merge.others, ..over }, None)
    }
}

/// Where entries count what they append to a group of arrays: those of one list behind those of the list before.
struct Counts {
    group: Group,
    /// Where those of each list begin, if they count.
    begins: Vec<Option<Expr>>,
    /// How many there are.
    count: Expr,
    /// Whether each entry of the first list appends one element, which nothing counts.
    is_first_known: bool,
}

impl Counts {
    fn of(group: Group, merge: &Merge) -> Self {
        let appends = |&list: &usize| written(&merge.chain(list)).contains(&group.arrays[0]);
        let lists: Vec<usize> = (0..merge.lists.len()).filter(appends).collect();
        let is_first_known = lists.len() > 1 && lists[0] == 0 && merge.appends_one(0, &group);
        let mut begins = vec![None; merge.lists.len()];
        let mut count = Expr::Index(0);
        for list in lists.into_iter().skip(usize::from(is_first_known)) {
            begins[list] = Some(count.clone());
            count = count.plus(merge.lists[list].length());
        }
        Self { group, begins, count, is_first_known }
    }

    /// Where an entry of a list counts, if it does.
    fn place(&self, list: usize, entry: &Expr) -> Option<Expr> {
        Some(self.begins[list].clone()?.plus(entry.clone()))
    }

    /// How long the arrays are before what is appended at a row and coordinate: `at` says which entry of each list is the first that
    /// does not come before. Sums of the first list that counts begin with how long the arrays were.
    fn before(&self, at: &dyn Fn(usize) -> Expr) -> Expr {
        let sum = |place: Expr| Expr::load(self.group.offsets, place);
        let mut counted = self.begins.iter().enumerate().filter_map(|(list, begin)| Some((list, begin.clone()?)));
        let first = counted.next().map_or(Expr::Index(0), |(list, begin)| begin.plus(at(list)));
        let known = if self.is_first_known { at(0) } else { Expr::Index(0) };
        counted.fold(known.plus(sum(first)), |all, (list, begin)| {
            all.plus(sum(begin.clone().plus(at(list)))).minus(sum(begin))
        })
    }
}

impl List {
    /// How many entries all rows have.
    fn length(&self) -> Expr {
        Expr::Length(self.coordinates)
    }
}

impl Merge {
    /// All points, as of one statement.
    fn all(&self) -> Vec<Statement> {
        let branch = |lists: Operands| self.present(lists).unwrap_or(Expr::Bool(true));
        let branches = self.points.iter().map(|point| (branch(point.lists), point.body.clone()));
        vec![Statement::If(branches.collect(), Vec::new())]
    }

    /// Whether some lists have the coordinate.
    fn present(&self, lists: Operands) -> Option<Expr> {
        lists.iter().map(|list| Expr::Variable(self.lists[list].present)).reduce(Expr::and)
    }

    /// What is left to do with an entry of a list where no list before it has the coordinate.
    fn chain(&self, list: usize) -> Vec<Statement> {
        self.chain_of(list, &|body| Some(body.to_vec())).unwrap_or_default()
    }

    /// The same with other blocks for those of its cases.
    fn chain_of(&self, list: usize, block: &dyn Fn(&[Statement]) -> Option<Vec<Statement>>) -> Option<Vec<Statement>> {
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        for (lists, body) in self.cases(list) {
            match self.present(lists) {
                Some(condition) => branches.push((condition, block(body)?)),
                None => otherwise = block(body)?,
            }
        }
        Some(if branches.is_empty() { otherwise } else { vec![Statement::If(branches, otherwise)] })
    }

    /// Whether each entry of a list that has to do with its coordinate appends one element to a group of arrays.
    fn appends_one(&self, list: usize, group: &Group) -> bool {
        let cases = self.cases(list);
        let is_always = cases.last().is_some_and(|(lists, _)| *lists == Operands(0));
        is_always && cases.iter().all(|(_, body)| pushes(body, group) == Some(1))
    }

    /// What counts for an entry of a list, where cases say how many elements they append: entries that append none leave zero.
    fn counted(&self, list: usize, groups: &[&Counts], entry: &Expr) -> Option<Vec<Statement>> {
        let store = |counts: &&Counts, count: usize| {
            let place = counts.place(list, entry)?;
            Some(Statement::Store(counts.group.offsets, place, Expr::Index(count as u64)))
        };
        if groups.iter().all(|counts| self.appends_one(list, &counts.group)) {
            return groups.iter().map(|counts| store(counts, 1)).collect();
        }
        self.chain_of(list, &|body| {
            let mut stores = Vec::new();
            for counts in groups {
                match pushes(body, &counts.group)? {
                    0 => {}
                    count => stores.push(store(counts, count)?),
                }
            }
            Some(stores)
        })
    }

    /// What a lane does with an entry of a list: it does something where no list before has the coordinate.
    fn entry(&self, list: usize, places: &[VariableId], own: Vec<Statement>) -> Vec<Statement> {
        let List { coordinates, .. } = self.lists[list];
        let coordinate = Expr::Variable(self.coordinate);
        let mut body = self.known.clone();
        body.push(Statement::Let(self.coordinate, Expr::load(coordinates, Expr::Variable(places[list]))));
        for (other, place) in self.lists.iter().zip(places).filter(|(_, place)| **place != places[list]) {
            let search = Expr::Search {
                array: other.coordinates,
                begin: Box::new(Expr::load(other.positions, Expr::Variable(self.row))),
                end: Box::new(other.end.clone()),
                value: Box::new(coordinate.clone()),
                stride: 1,
                find: Find::Element,
            };
            let here = Expr::Variable(*place);
            let found = Expr::load(other.coordinates, here.clone()).equals(coordinate.clone());
            body.push(Statement::Let(*place, search));
            body.push(Statement::Let(other.present, here.less(other.end.clone()).and(found)));
        }
        let is_absent = |other: &List| Expr::Unary(UnaryOperator::Not, Box::new(Expr::Variable(other.present)));
        match self.lists[..list].iter().map(is_absent).reduce(Expr::and) {
            Some(is_first) => body.push(Statement::If(vec![(is_first, own)], Vec::new())),
            None => body.extend(own),
        }
        let cursors = self.lists.iter().zip(places).map(|(list, place)| (list.cursor, Expr::Variable(*place)));
        substitute(&mut body, &cursors.collect::<BTreeMap<_, _>>());
        body
    }
}

/// How many elements a block appends to each of a group of arrays, where it does so outside of loops and conditions.
fn pushes(block: &[Statement], group: &Group) -> Option<usize> {
    let array = group.arrays[0];
    let is_inside = |statement: &Statement| match statement {
        Statement::Push(..) => false,
        other => written(std::slice::from_ref(other)).contains(&array),
    };
    let is_push = |statement: &&Statement| matches!(statement, Statement::Push(other, _) if *other == array);
    (!block.iter().any(is_inside)).then(|| block.iter().filter(is_push).count())
}

/// A body in which nothing is added to how many elements an entry has appended, where that is none before it appends.
fn without_counts(body: Vec<Statement>, merge: &Merge, groups: &[Counts]) -> Vec<Statement> {
    let is_once = |counts: &&Counts| {
        let appends_once = |body: &[Statement]| pushes(body, &counts.group).is_some_and(|count| count <= 1);
        let asked = lengths(&merge.all());
        merge.points.iter().all(|point| appends_once(&point.body))
            && !counts.group.arrays.iter().any(|array| asked.contains(array))
    };
    let once: Vec<VariableId> = groups.iter().filter(is_once).map(|counts| counts.group.count).collect();
    let mut body = body;
    rewrite(&mut body, &mut |expr| match expr {
        Expr::Binary(BinaryOperator::Add, left, right) => match (*left, *right) {
            (Expr::Variable(count), other) | (other, Expr::Variable(count)) if once.contains(&count) => other,
            (left, right) => Expr::binary(BinaryOperator::Add, left, right),
        },
        other => other,
    });
    // A count that is stored is read at the end; one that is not read need not be counted.
    let is_read = |count: &VariableId| body.iter().any(|statement| statement.uses(*count));
    let unread: Vec<VariableId> = once.iter().filter(|count| !is_read(count)).copied().collect();
    replace_statements(body, &mut |statement| match statement {
        Statement::Let(count, _) | Statement::Assign(count, _) if unread.contains(&count) => Vec::new(),
        other => vec![other],
    })
}
