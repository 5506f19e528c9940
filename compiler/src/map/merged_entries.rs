//! Entries of lists that are merged, each by itself: an entry searches its coordinate in the other lists of its row, and the first list that
//! has a coordinate does what the merge does there. As lists ascend, and rows do, what comes before an entry in the result is what the
//! entries before it have appended, and those of the other lists before the place where the search ends.
//!
//! ```text
//! for i in low..high                     launch for entries of A and B: bits[p / 32] = which of 32 append,
//!     while pa < … && pb < …                                            offsets[p / 32] = how many
//!         if in_a && in_b                scan offsets, lengthen C_crd
//!             push C_crd, j              launch for entries of A and B: C_crd[sums of both at pa and pb] = j
//!         …                              parallel low..high in 0..n
//!     push C_pos, length(C_crd)              push C_pos, sums of both at the ends of row i
//! ```
//!
//! What takes a thread as long as a row is then spread over all lanes, however long rows are. Where each entry of the first list appends
//! one element, the sum of these is the entry's position, and nothing counts them. Warps take shares of the lists in turn: what they
//! write lies side by side, and whole sectors of it meet in the cache.

use super::grid::Grid;
use super::merges::{List, Merge, lengths};
use super::strategy::{Emit, Loop, Refused, Strategy};
use super::warp_scan::share_of_rows;
use super::work_item::Team;
use crate::format::IndexWidth;
use crate::gpu::append::{Appends, Group, Lengths, joined, pushes};
use crate::gpu::plan::{Flags, Lists, Places, Rows, Segments, Share, Step, Together, WARP};
use crate::gpu::rewrite::{replace_statements, rewrite, substitute, writes, written};
use crate::gpu::{Builder, Refusal};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Find, Kernel, Parallel, Statement, Type, UnaryOperator,
    VariableId,
};
use crate::lattice::Operands;
use std::collections::BTreeMap;

/// The most steps of a warp in a share of one of several lists: with more, what they write side by side is written too far apart in time.
const STEPS_OF_LISTS: u64 = 4;

/// Lanes for the entries of merged lists.
pub(super) struct MergedEntries;

impl Strategy for MergedEntries {
    fn name(&self) -> &'static str {
        "entries of merged lists"
    }

    fn fits<'a>(&self, builder: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        let parallel = &node.merged;
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
        let groups = appends.groups();
        let is_constant = groups.iter().all(|group| merge.pushes_constants(group));
        let of_group = |group| Counts::of(kernel, group, &merge, is_constant);
        let groups: Vec<Counts> = groups.into_iter().map(of_group).collect();
        let of = |array: ArrayId| groups.iter().find(|counts| counts.group.offsets == array).expect("a group counts");
        let place = |list: &List| {
            let name = kernel.variable(list.cursor).name.clone();
            kernel.declare_index(&name)
        };
        let places: Vec<VariableId> = merge.lists.iter().map(place).collect();
        for counts in &groups {
            let fill = Some(Expr::Index(0));
            if let Some(ones) = &counts.ones {
                let length = counts.count.clone();
                self.module.steps.push(Step::Make { array: ones.bits, length, fill: fill.clone() });
            }
            let length = counts.count.clone().plus(Expr::Index(1));
            self.module.steps.push(Step::Make { array: counts.group.offsets, length, fill });
        }
        let lists: Vec<usize> = (0..places.len()).filter(|&list| !merge.cases(list).is_empty()).collect();
        let counted =
            |list: usize| -> Vec<&Counts> { groups.iter().filter(|counts| counts.begins[list].is_some()).collect() };
        let counting: Vec<usize> = lists.iter().copied().filter(|&list| !counted(list).is_empty()).collect();
        let is_counted = |list: usize| groups.iter().map(|counts| counts.begins[list].is_some()).collect();
        for lists in self.side_by_side(&merge, &counting, &is_counted) {
            let entries = self.entries(&merge, &lists, &places, |kernel, list, places| {
                let own = Expr::Variable(places[list]);
                merge.counted(list, &counted(list), &own).unwrap_or_else(|| {
                    let at = |array: ArrayId| of(array).place(list, &own);
                    let body = appends.count(kernel, &merge.chain(list), &at);
                    without_counts(body, &merge, &groups)
                })
            });
            let flags = counted(lists[0]).into_iter().filter_map(|counts| counts.flags(&lists)).collect();
            self.launch_entries(entries, flags, "counts what each appends")?;
        }
        self.lengthen_counted(&merge, &groups);
        for lists in self.side_by_side(&merge, &lists, &|_| Vec::new()) {
            let entries = self.entries(&merge, &lists, &places, |kernel, list, places| {
                let at = |list: usize| Expr::Variable(places[list]);
                let body = appends.write(kernel, &merge.chain(list), &|array| of(array).before(&at));
                without_counts(body, &merge, &groups)
            });
            self.launch_entries(entries, Vec::new(), "writes what each appends")?;
        }
        self.rest_of_rows(parallel, merge, &groups)
    }

    /// Lists whose entries one launch is for: those whose positions have one type, and of which the same is asked.
    fn side_by_side(&self, merge: &Merge, lists: &[usize], asked: &dyn Fn(usize) -> Vec<bool>) -> Vec<Vec<usize>> {
        let key = |list: usize| (self.module.kernel.array(merge.lists[list].positions).element, asked(list));
        let mut launches: Vec<Vec<usize>> = Vec::new();
        for &list in lists {
            match launches.iter_mut().find(|launch| key(launch[0]) == key(list)) {
                Some(launch) => launch.push(list),
                None => launches.push(vec![list]),
            }
        }
        launches
    }

    /// The entries of some lists, with what `own` says that is done with one of a list where no list before it has the coordinate.
    fn entries(
        &mut self,
        merge: &Merge,
        lists: &[usize],
        places: &[VariableId],
        mut own: impl FnMut(&mut Kernel, usize, &[VariableId]) -> Vec<Statement>,
    ) -> Entries {
        let kernel = &mut self.module.kernel;
        let positions = lists.iter().map(|&list| merge.lists[list].positions).collect();
        let ends: Vec<Expr> = lists.iter().map(|&list| merge.lists[list].length()).collect();
        let name_of = |list: usize| {
            let coordinates = merge.lists[list].coordinates;
            match kernel.array(coordinates).role {
                ArrayRole::Coordinates { tensor, .. } => kernel.tensor(tensor).name.clone(),
                _ => kernel.array(coordinates).name.clone(),
            }
        };
        let names: Vec<String> = lists.iter().map(|&list| name_of(list)).collect();
        let rows = Rows { positions, row: merge.row };
        if let [only] = lists[..] {
            let own = own(kernel, only, places);
            let body = merge.entry(only, places, own);
            return Entries { place: places[only], lists: None, ends, rows, body, names };
        }
        let (place, list) = (kernel.declare_index("place"), kernel.declare_index("list"));
        let mut bodies = lists.iter().map(|&list| {
            let mut places = places.to_vec();
            places[list] = place;
            let own = own(kernel, list, &places);
            merge.entry(list, &places, own)
        });
        let (first, mut others) = (bodies.next().unwrap_or_default(), bodies.collect::<Vec<_>>());
        let last = others.pop().unwrap_or_default();
        let is = |number: usize| Expr::Variable(list).equals(Expr::Index(number as u64));
        let branches = std::iter::once(first).chain(others).enumerate().map(|(number, body)| (is(number), body));
        let body = vec![Statement::If(branches.collect(), last)];
        Entries { place, lists: Some(Lists { list, ends: ends.clone() }), ends, rows, body, names }
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

    /// A launch with a lane for each entry.
    fn launch_entries(&mut self, entries: Entries, flags: Vec<Flags>, what: &str) -> Result<(), Refusal> {
        let Entries { place, lists, ends, rows, body, names } = entries;
        let longest = |longest, end| Expr::binary(BinaryOperator::Maximum, longest, end);
        let (number, end) = (ends.len() as u64, ends.into_iter().reduce(longest).unwrap_or(Expr::Index(0)));
        let Share { size, value } = share_of_rows(&mut self.module.kernel, &end, STEPS_OF_LISTS);
        // The last share of each list may not be whole, and lists have shares in turn.
        let count = match lists {
            None => end.clone(),
            Some(_) => end.clone().plus(Expr::Index(STEPS_OF_LISTS * WARP)).times(Expr::Index(number)),
        };
        let share = Some(Share { size, value });
        let places = Places { place, begin: Expr::Index(0), end, worker: None, workers: None, share, lanes: None };
        let together = (!flags.is_empty()).then_some(Together::Flags(flags));
        let team = Team::Segments(Segments { lists, rows: Some(rows), together });
        let what = format!("for equal shares of the entries of {}: {what}", names.join(" and "));
        self.launch(&Grid::of_places(places, count), team, body, Some(Expr::Index(WARP)), &what)
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

/// The entries of some lists.
struct Entries {
    place: VariableId,
    lists: Option<Lists>,
    /// How many each list has.
    ends: Vec<Expr>,
    rows: Rows,
    /// What a lane does.
    body: Vec<Statement>,
    /// Whose lists they are.
    names: Vec<String>,
}

/// Where entries count what they append to a group of arrays: those of one list behind those of the list before.
struct Counts {
    group: Group,
    /// Where each entry appends one element or none: one bit for each, and a count for each word of them.
    ones: Option<Ones>,
    /// Where those of each list begin, if they count.
    begins: Vec<Option<Expr>>,
    /// How many there are.
    count: Expr,
    /// Whether each entry of the first list appends one element, which nothing counts.
    is_first_known: bool,
}

/// Which entries append.
struct Ones {
    /// What an entry sets.
    flag: VariableId,
    bits: ArrayId,
}

impl Counts {
    /// `is_constant`: whether cases say how many elements they append to all groups.
    fn of(kernel: &mut Kernel, group: Group, merge: &Merge, is_constant: bool) -> Self {
        let appends = |&list: &usize| written(&merge.chain(list)).contains(&group.arrays[0]);
        let lists: Vec<usize> = (0..merge.lists.len()).filter(appends).collect();
        let is_first_known = lists.len() > 1 && lists[0] == 0 && merge.appends_one(0, &group);
        let counted = &lists[usize::from(is_first_known)..];
        let is_bit = is_constant
            && counted.iter().all(|&list| {
                merge.cases(list).iter().all(|(_, body)| pushes(body, &group.arrays).is_some_and(|count| count <= 1))
            });
        let ones = is_bit.then(|| {
            let name = group.arrays.last().map_or_else(String::new, |&array| kernel.array(array).name.clone());
            let bits = ArrayElement::Index(IndexWidth::U32);
            let bits = kernel.declare_array(&format!("{name}_bits"), bits, ArrayRole::Local);
            Ones { flag: kernel.declare_variable("appends", Type::Bool, true), bits }
        });
        let mut begins = vec![None; merge.lists.len()];
        let mut count = Expr::Index(0);
        for &list in counted {
            begins[list] = Some(count.clone());
            let length = merge.lists[list].length();
            count = count.plus(if is_bit { word(length).plus(Expr::Index(1)) } else { length });
        }
        Self { group, ones, begins, count, is_first_known }
    }

    /// Where an entry of a list counts, if it does.
    fn place(&self, list: usize, entry: &Expr) -> Option<Expr> {
        Some(self.begins[list].clone()?.plus(entry.clone()))
    }

    /// What the entries of some lists set, if it is bits.
    fn flags(&self, lists: &[usize]) -> Option<Flags> {
        let Ones { flag, bits } = *self.ones.as_ref()?;
        let begins = lists.iter().filter_map(|&list| self.begins[list].clone()).collect();
        Some(Flags { flag, bits, counts: self.group.offsets, begins })
    }

    /// What the entries of a list append that come before one of them, and what all that count before the list.
    fn sum(&self, begin: &Expr, entry: Expr) -> Expr {
        let Some(Ones { bits, .. }) = self.ones else {
            return Expr::load(self.group.offsets, begin.clone().plus(entry));
        };
        let place = begin.clone().plus(word(entry.clone()));
        let lower = Expr::binary(BinaryOperator::Remainder, entry, Expr::Index(WARP));
        let ones = Expr::binary(BinaryOperator::Rank, Expr::load(bits, place.clone()), lower);
        Expr::load(self.group.offsets, place).plus(ones)
    }

    /// How long the arrays are before what is appended at a row and coordinate: `at` says which entry of each list is the first that
    /// does not come before. Sums of the first list that counts begin with how long the arrays were.
    fn before(&self, at: &dyn Fn(usize) -> Expr) -> Expr {
        let mut counted = self.begins.iter().enumerate().filter_map(|(list, begin)| Some((list, begin.as_ref()?)));
        let first = counted.next().map(|(list, begin)| self.sum(begin, at(list)));
        let first = first.unwrap_or_else(|| Expr::load(self.group.offsets, Expr::Index(0)));
        let known = if self.is_first_known { at(0) } else { Expr::Index(0) };
        counted.fold(known.plus(first), |all, (list, begin)| {
            all.plus(self.sum(begin, at(list))).minus(Expr::load(self.group.offsets, begin.clone()))
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
        let branches = self.points.iter().map(|point| (branch(point.operands), point.body.clone()));
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

    /// Whether each case says how many elements it appends to a group of arrays.
    fn pushes_constants(&self, group: &Group) -> bool {
        self.points.iter().all(|point| pushes(&point.body, &group.arrays).is_some())
    }

    /// Whether each entry of a list that has to do with its coordinate appends one element to a group of arrays.
    fn appends_one(&self, list: usize, group: &Group) -> bool {
        let cases = self.cases(list);
        let is_always = cases.last().is_some_and(|(lists, _)| *lists == Operands(0));
        is_always && cases.iter().all(|(_, body)| pushes(body, &group.arrays) == Some(1))
    }

    /// What counts for an entry of a list, where cases say how many elements they append: entries that append none leave zero.
    fn counted(&self, list: usize, groups: &[&Counts], entry: &Expr) -> Option<Vec<Statement>> {
        let store = |counts: &&Counts, count: usize| {
            if let Some(ones) = &counts.ones {
                return Some(Statement::Assign(ones.flag, Expr::Bool(true)));
            }
            let place = counts.place(list, entry)?;
            Some(Statement::Store(counts.group.offsets, place, Expr::Index(count as u64)))
        };
        if groups.iter().all(|counts| self.appends_one(list, &counts.group)) {
            return groups.iter().map(|counts| store(counts, 1)).collect();
        }
        self.chain_of(list, &|body| {
            let mut stores = Vec::new();
            for counts in groups {
                match pushes(body, &counts.group.arrays)? {
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

/// The word that has the bit of an entry.
fn word(entry: Expr) -> Expr {
    Expr::binary(BinaryOperator::Divide, entry, Expr::Index(WARP))
}

/// A body in which nothing is added to how many elements an entry has appended, where that is none before it appends.
fn without_counts(body: Vec<Statement>, merge: &Merge, groups: &[Counts]) -> Vec<Statement> {
    let is_once = |counts: &&Counts| {
        let appends_once = |body: &[Statement]| pushes(body, &counts.group.arrays).is_some_and(|count| count <= 1);
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
