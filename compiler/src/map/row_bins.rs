//! Rows in bins, by how large a table they need: each bin is launched with teams of its own size, and rows that no table has room
//! for go the way that all went before.
//!
//! ```text
//! launch bounds                  terms[i]: how many keys row i may have, as its loops tell
//! launch sorting, scan, listing  rows: those for 8 threads, for 32, for 256, and those that need more
//! launch counting for teams of 8 threads, 32, 256; for a thread each
//! scan, make room                keys[i]: how many keys row i has
//! launch sorting, scan, listing
//! launch writing for teams of 8 threads, 32, 256; for a thread each
//! ```
//!
//! Rows are written by teams that are as large as their terms are many, even where they have few keys. The host reads where bins begin
//! in one copy. The bounds are those of the products of Gustavson's algorithm, for any expression: how often its loops mark a key.

use super::grid::Grid;
use super::hash_accumulator::{Collected, collects};
use super::key_bounds;
use super::strategy::{Emit, Loop, Refused, Strategy};
use super::work_item::Team;
use crate::format::IndexWidth;
use crate::gpu::Builder;
use crate::gpu::Refusal;
use crate::gpu::append::{self, Appended, Lengths};
use crate::gpu::bitmaps::flattened_body;
use crate::gpu::plan::{Function, Places, SMALLEST_TEAM, Step, TEAM_BLOCK, Teams, Threads, WARP};
use crate::ir::{ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Parallel, Size, Statement, Type, VariableId};
use std::collections::BTreeSet;

/// The sizes of teams.
const WIDTHS: [u64; 3] = [SMALLEST_TEAM, WARP, TEAM_BLOCK];

/// One more than the largest key in 32 bits: the largest number says that a slot has none.
const KEYS: u64 = u32::MAX as u64;

/// The rows of a loop that appends.
struct Rows {
    grid: Grid,
    /// What the loop makes once for all of its rows.
    keeps: bool,
    /// How many terms each has, and so keys at most.
    terms: ArrayId,
    name: String,
}

/// Rows by the table that they need.
struct Bins {
    /// The rows, one bin behind the other.
    rows: ArrayId,
    /// Where each bin of a row would begin to list it.
    offsets: ArrayId,
    /// Where each bin begins, and the last one ends.
    borders: ArrayId,
    /// The number of rows.
    count: Expr,
}

impl Bins {
    /// Where a bin begins among the rows.
    fn begin(&self, bin: usize) -> Expr {
        Expr::load(self.borders, Expr::Index(bin as u64))
    }

    /// The rows that no table has room for.
    fn others(&self) -> Expr {
        self.begin(WIDTHS.len() + 1).minus(self.begin(WIDTHS.len()))
    }
}

/// So many terms of a row, for each thread of a team, are worth no larger team.
const TERMS: u64 = 32;

/// What tells the bin of a row.
struct BinOfRow {
    row: VariableId,
    bin: VariableId,
    /// Declares the bin.
    begin: Vec<Statement>,
}

/// How many keys a team of each size takes: smaller ones half as many as they have room for, so that they are found quickly.
fn rooms(teams: &Teams) -> [u64; 3] {
    WIDTHS.map(|width| if width == TEAM_BLOCK { teams.slots } else { teams.slots_of(width) / 2 })
}

/// Teams with hash tables.
pub(super) struct HashAccumulator;

impl Strategy for HashAccumulator {
    fn name(&self) -> &'static str {
        "hash accumulators"
    }

    fn fits<'a>(&self, _: &mut Builder, node: &'a Loop) -> Result<Emit<'a>, Refused> {
        if !collects(&node.parallel) {
            return Err(Refused::NoKeys);
        }
        Ok(Box::new(|builder| {
            if builder.collected_places(&node.parallel)? {
                return Ok(());
            }
            let loops = vec![Statement::Parallel(Box::new(node.parallel.clone()))];
            let mut loops = flattened_body(&mut builder.module.kernel, loops);
            let Some(Statement::Parallel(parallel)) = loops.pop() else { return Ok(()) };
            let map = builder.map;
            map(builder, &parallel, Some(HashAccumulator.name()))
        }))
    }
}

impl Builder {
    /// Launches for a loop that appends what it has collected in sets, where teams can do that.
    fn collected_places(&mut self, parallel: &Parallel) -> Result<bool, Refusal> {
        let before = (self.module.clone(), self.histories.clone());
        let is_done = self.try_collected_places(parallel)?;
        if !is_done {
            (self.module, self.histories) = before;
            let why = match self.options.deterministic {
                true => "lanes of a team would meet at one key in an order that is not known",
                false => "what is collected is used in ways that lanes of a team can't share",
            };
            self.decide("one thread collects the keys of a row, in flags over all that there may be".to_owned(), why);
        }
        Ok(is_done)
    }

    fn try_collected_places(&mut self, parallel: &Parallel) -> Result<bool, Refusal> {
        let joined: Vec<Appended> = parallel.sharing.iter().filter_map(crate::gpu::append::joined).collect();
        let (grid, body) = self.places_of(parallel);
        let chunk = Expr::Variable(grid.places.place).minus(grid.places.begin.clone());
        let sets = self.sets(&body);
        let kernel = &mut self.module.kernel;
        let most = kernel.declare_variable("most", Type::Index, true);
        let hidden = joined.iter().map(|(array, _)| *array).chain(lists(&body)).collect();
        let Some(mut bounding) = key_bounds::bounding(kernel, &body, &hidden, most) else { return Ok(false) };
        let (chunks, histories) = (Some(&grid.count), &mut self.histories);
        let parts = append::take_apart(kernel, &body, &joined, Lengths::OfChunk, &chunk, chunks, histories)?;
        let mut count = key_bounds::measuring(&mut self.module.kernel, &parts.count, most);
        let name = self.module.kernel.variable(grid.places.place).name.clone();
        let element = ArrayElement::Index(IndexWidth::U64);
        let mut array =
            |what: &str| self.module.kernel.declare_array(&format!("{name}_{what}"), element, ArrayRole::Local);
        let (terms, keys) = (array("terms"), array("keys"));
        let store = |array, value: Expr| Statement::Store(array, chunk.clone(), value);
        let is_wide = self.has_wide_keys(&sets);
        let most_terms = Expr::Variable(most);
        bounding.push(store(terms, if is_wide { most_terms } else { self.in_narrow_keys(&body, most_terms) }));
        count.push(store(keys, Expr::Variable(most)));
        let (Some(counting), Some(writing)) = (self.collected(&count, &sets), self.collected(&parts.write, &sets))
        else {
            return Ok(false);
        };
        let keeps = !grid.kept.is_empty();
        let rows = Rows { grid, keeps, terms, name };
        self.decide_teams(&rows, &counting, &writing);
        for (offsets, _) in &parts.offsets {
            let length = rows.grid.count.clone().plus(Expr::Index(1));
            self.module.steps.push(Step::Make { array: *offsets, length, fill: Some(Expr::Index(0)) });
        }
        for array in [terms, keys] {
            self.module.steps.push(Step::Make { array, length: rows.grid.count.clone(), fill: None });
        }
        self.launch_bounds(&rows, bounding)?;
        self.launch_bins(&rows, terms, counting, count, "counts what each NAME appends")?;
        self.lengthen(&parts, &rows.grid.count);
        self.launch_bins(&rows, keys, writing, parts.write, "writes what each NAME appends")?;
        Ok(true)
    }

    /// The bound, or one that no table has room for where keys may be too large.
    fn in_narrow_keys(&self, body: &[Statement], bound: Expr) -> Expr {
        let mut fits: Option<Expr> = None;
        body.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Statement::Bitmap { extent, .. } = statement
                    && !self.is_short(extent)
                {
                    let own = Expr::binary(BinaryOperator::LessEqual, extent.clone(), Expr::Index(KEYS));
                    fits = Some(match fits.take() {
                        Some(others) => others.and(own),
                        None => own,
                    });
                }
            });
        });
        match fits {
            Some(fits) => Expr::Select(Box::new(fits), Box::new(bound), Box::new(Expr::Index(KEYS))),
            None => bound,
        }
    }

    fn is_short(&self, extent: &Expr) -> bool {
        match extent {
            Expr::Index(extent) => *extent <= KEYS,
            Expr::Dimension(id) => {
                matches!(self.module.kernel.dimension(*id).size, Size::Constant(size) if size <= KEYS)
            }
            _ => false,
        }
    }

    fn launch_bounds(&mut self, rows: &Rows, body: Vec<Statement>) -> Result<(), Refusal> {
        let (team, body) = self.team(&body, &BTreeSet::new(), true).with_body();
        let lanes = self.lanes_of(&team, &rows.grid.count);
        let grid = Grid::of_places(rows.grid.places.clone(), rows.grid.count.clone());
        self.launch(&grid, team, body, lanes, &format!("bounds how many keys each {} has", rows.name))
    }

    /// The rows by the tables that they need.
    fn bins(&mut self, rows: &Rows, keys: ArrayId, teams: &Teams) -> Result<Bins, Refusal> {
        let kernel = &mut self.module.kernel;
        let element = ArrayElement::Index(IndexWidth::U64);
        let mut array = |what: &str| kernel.declare_array(&format!("{}_{what}", rows.name), element, ArrayRole::Local);
        let (offsets, borders, of_bins) = (array("bins"), array("borders"), array("rows"));
        let bins = Bins { offsets, borders, rows: of_bins, count: rows.grid.count.clone() };
        let borders = Expr::Index(WIDTHS.len() as u64 + 2);
        let length = bins.count.clone().times(Expr::Index(WIDTHS.len() as u64 + 1)).plus(Expr::Index(1));
        self.module.steps.push(Step::Make { array: bins.offsets, length, fill: Some(Expr::Index(0)) });
        let counts = |place: Expr, _: Expr| vec![Statement::Store(bins.offsets, place, Expr::Index(1))];
        let of_row = self.bin_of_row(rows, keys, teams);
        self.launch_each(&bins, &of_row, "sorts rows by the tables that they need", &counts)?;
        self.module.steps.push(Step::Scan { array: bins.offsets, first: Expr::Index(0) });
        self.module.steps.push(Step::Make { array: bins.borders, length: borders.clone(), fill: None });
        self.launch_borders(&bins, borders)?;
        self.module.steps.push(Step::Read { array: bins.borders });
        self.module.steps.push(Step::Make { array: bins.rows, length: bins.count.clone(), fill: None });
        let lists = |place: Expr, row: Expr| vec![Statement::Store(bins.rows, Expr::load(bins.offsets, place), row)];
        self.launch_each(&bins, &of_row, "lists rows by the tables that they need", &lists)?;
        Ok(bins)
    }

    /// A thread for each border of a bin, so that the host reads all of them at once.
    fn launch_borders(&mut self, bins: &Bins, count: Expr) -> Result<(), Refusal> {
        let bin = self.module.kernel.declare_index("bin");
        // The last border is that of no bin: it ends the last one.
        let border = Expr::load(bins.offsets, bins.count.clone().times(Expr::Variable(bin)));
        let statements = vec![Statement::Store(bins.borders, Expr::Variable(bin), border)];
        let grid = Grid::of_places(all_places(bin, count.clone()), count);
        self.launch(&grid, Team::Thread, statements, None, "for each border of a bin: where it is")
    }

    /// The bin of a row that has so many keys, and the variables for the row and for the bin: where terms are much more than keys, teams
    /// are larger than keys need.
    fn bin_of_row(&mut self, rows: &Rows, keys: ArrayId, teams: &Teams) -> BinOfRow {
        let kernel = &mut self.module.kernel;
        let (row, own, bin) = (kernel.declare_index("row"), kernel.declare_index("keys"), kernel.declare_index("bin"));
        let smallest = |number: VariableId, rooms: &[u64]| {
            let fits = |room: u64| Expr::binary(BinaryOperator::LessEqual, Expr::Variable(number), Expr::Index(room));
            rooms.iter().enumerate().rev().fold(Expr::Index(rooms.len() as u64), |others, (n, room)| {
                Expr::Select(Box::new(fits(*room)), Box::new(Expr::Index(n as u64)), Box::new(others))
            })
        };
        let of_row = |array| Expr::load(array, Expr::Variable(row));
        let mut begin = vec![Statement::Let(own, of_row(keys))];
        let mut of_keys = smallest(own, &rooms(teams));
        if keys != rows.terms {
            let terms = kernel.declare_index("terms");
            begin.push(Statement::Let(terms, of_row(rows.terms)));
            // Of all sizes but the largest: that takes any number.
            let most: Vec<u64> = WIDTHS[..WIDTHS.len() - 1].iter().map(|width| width * TERMS).collect();
            of_keys = Expr::binary(BinaryOperator::Maximum, of_keys, smallest(terms, &most));
        }
        begin.push(Statement::Let(bin, of_keys));
        BinOfRow { row, bin, begin }
    }

    /// A thread for each row, with the place that the row has in its bin.
    fn launch_each(
        &mut self,
        bins: &Bins,
        of_row: &BinOfRow,
        what: &str,
        body: &dyn Fn(Expr, Expr) -> Vec<Statement>,
    ) -> Result<(), Refusal> {
        let BinOfRow { row, bin, begin } = of_row;
        let place = Expr::Variable(*bin).times(bins.count.clone()).plus(Expr::Variable(*row));
        let statements = begin.iter().cloned().chain(body(place, Expr::Variable(*row))).collect();
        let places = all_places(*row, bins.count.clone());
        let grid = Grid::of_places(places, bins.count.clone());
        self.launch(&grid, Team::Thread, statements, None, what)
    }

    /// Launches of one body for all rows, each for those of a bin.
    fn launch_bins(
        &mut self,
        rows: &Rows,
        keys: ArrayId,
        collected: Collected,
        plain: Vec<Statement>,
        what: &str,
    ) -> Result<(), Refusal> {
        let teams = collected.teams;
        let bins = self.bins(rows, keys, &teams)?;
        let begin = rows.grid.places.begin.clone();
        let of_row = |row: VariableId| Expr::load(bins.rows, Expr::Variable(row)).plus(begin.clone());
        let place = rows.grid.places.place;
        let what = what.replace("NAME", &rows.name);
        let mut body = vec![Statement::Let(place, of_row(teams.row))];
        body.extend(collected.body);
        let function = self.function(Function {
            name: String::new(),
            comment: format!("{what}: a team of threads for each, with the keys in shared memory"),
            threads: Threads::Teams(collected.teams),
            body,
            atomic: collected.atomic,
            owned: Vec::new(),
            tiles: Vec::new(),
            tables: collected.tables,
            block: TEAM_BLOCK,
            totals: Vec::new(),
        })?;
        for (bin, width) in WIDTHS.into_iter().enumerate() {
            let (first, end, inner) = (bins.begin(bin), bins.begin(bin + 1), collected.inner.clone());
            self.module.steps.push(Step::Teams { function, first, end, width, inner });
        }
        let others = self.branch(|builder| builder.launch_others(rows, &bins, plain, &what))?;
        let condition = Expr::Index(0).less(bins.others());
        self.module.steps.push(Step::Choose { condition, then: others, otherwise: Vec::new() });
        Ok(())
    }

    /// A launch for the rows that no table has room for, with flags over all keys.
    fn launch_others(&mut self, rows: &Rows, bins: &Bins, body: Vec<Statement>, what: &str) -> Result<(), Refusal> {
        let kernel = &mut self.module.kernel;
        let body = flattened_body(kernel, body);
        let number = kernel.declare_index("number");
        let row = Expr::load(bins.rows, bins.begin(WIDTHS.len()).plus(Expr::Variable(number)));
        let row = row.plus(rows.grid.places.begin.clone());
        let body: Vec<Statement> = std::iter::once(Statement::Let(rows.grid.places.place, row)).chain(body).collect();
        let kept = if rows.keeps { crate::gpu::rewrite::allocated(&body) } else { BTreeSet::new() };
        let grid = Grid { kept, ..Grid::of_places(all_places(number, bins.others()), bins.others()) };
        self.launch(&grid, Team::Thread, body, None, &format!("{what}, where that is too much for a table"))
    }

    fn decide_teams(&mut self, rows: &Rows, counting: &Collected, writing: &Collected) {
        let name = &rows.name;
        let what = format!(
            "each {name} has a team of 8, 32 or 256 threads, by how many keys and terms it has: up to {} are counted, and up to {} written, \
             from hash tables in shared memory",
            counting.teams.slots, writing.teams.slots
        );
        let why =
            "a thread alone would need flags for all keys in the device's memory, as one does where there are more";
        self.decide(what, why);
        if writing.teams.in_order {
            let what = format!("the terms of each {name} come one inner loop after the other");
            self.decide(what, "no two of a loop have one key, so that all sums are formed in the same order");
        }
    }
}

fn all_places(place: VariableId, count: Expr) -> Places {
    Places { place, begin: Expr::Index(0), end: count, worker: None, workers: None, share: None, lanes: None }
}

/// The lists of a body.
fn lists(body: &[Statement]) -> Vec<ArrayId> {
    let mut lists = Vec::new();
    body.iter().for_each(|statement| {
        statement.for_each(&mut |statement| {
            if let Statement::List(array) = statement {
                lists.push(*array);
            }
        });
    });
    lists
}
