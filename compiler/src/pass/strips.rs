//! Rows are worked on in strips of a fixed width, so that what is summed up for a strip stays in registers.
//!
//! ```text
//! let t = [0; R]
//! for p in low..high
//!     for r in 0..R: t[r] += X_vals[p] * C[X_crd[p] * R + r]
//! for r in 0..R: A[i * R + r] = t[r]
//!
//! for r_strip in 0..R / 16
//!     let r_first = r_strip * 16
//!     let t = [0; 16]
//!     for p in low..high
//!         for r in 0..16: t[r] += X_vals[p] * C[X_crd[p] * R + r_first + r]
//!     for r in 0..16: A[i * R + r_first + r] = t[r]
//! ```
//!
//! and the same once more for what is left of the row. The loops over stored entries run again for each strip: their
//! coordinates are few bytes beside the rows that they lead to. It is done where the length of rows is known only at run time,
//! and where it is known and too large; a schedule may ask for another width, or for whole rows.
//!
//! Where the length is known only at run time, strips are about as long as each other, and none is longer than two tiles. The
//! second tile of a strip ends where the strip ends, and so overlaps the first, unless the strip is as long as both:
//!
//! ```text
//! let r_strips = max((R + 63) / 64, 1)
//! let r_width = (R + r_strips * 8 - 1) / (r_strips * 8) * 8
//! for r_strip in 0..r_strips
//!     let r_first = r_strip * r_width
//!     let r_left = min(R - r_first, r_width)
//!     if r_left > 32
//!         let r_second = r_first + (r_left - 32)
//!         let t = [0; 32], u = [0; 32]
//!         for p in low..high
//!             for r in 0..32: t[r] += X_vals[p] * C[X_crd[p] * R + r_first + r]
//!             for r in 0..32: u[r] += X_vals[p] * C[X_crd[p] * R + r_second + r]
//!         for r in 0..32: A[i * R + r_first + r] = t[r]
//!         for r in 0..32: A[i * R + r_second + r] = u[r]
//!     else if r_left > 16 …, else if r_left > 7 …
//!     else as many as there are
//! ```
//!
//! So all loops over elements but those of less than eight have a length that compilers know, and no element is left for a loop of
//! its own. Elements where both tiles are get the same value twice. What is reduced into an array is reduced by the first tile; the
//! second has the operator's identity for it. Where a new value depends on the old one in another way, the first tile works on a
//! copy, which is stored after the second has read what was there.
//!
//! Where a target has vectors in which a mask says which lanes have an element, it asks for strips of one tile, in place of the two
//! ([`Tile::Masked`]): what computes in such vectors alone ([`vectors`]) has fewer loops then, and computes nothing twice.
//! There loops that add to rows in memory are in strips too, whatever is collected in them:
//!
//! ```text
//!         if r_left > 32
//!             let r_lanes = min(r_left, 64)
//!             let t = [0; 64]
//!             for p in low..high
//!                 for r in 0..r_lanes: t[r] += X_vals[p] * C[X_crd[p] * R + r_first + r]
//!             for r in 0..r_lanes: A[i * R + r_first + r] = t[r]
//!         else if r_left > 24 …, else if r_left > 16 …, else if r_left > 8 …, else …
//! ```
//!
//! Loops are worked on in strips as far out as that is possible, so that how wide tiles are is decided once for many entries.

use super::over_body;
use super::views::{self, base};
use crate::ir::{
    ArrayElement, ArrayId, ArrayRole, BinaryOperator, Expr, Kernel, ReduceOperator, Size, Statement, Tile, VariableId,
    vectors,
};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of a strip of rows whose length is known. Sums of a strip are in the first cache, if not in registers. Shorter strips
/// walk stored entries more often, and touch few sets of a cache where rows lie a power of two apart.
const STRIP: u64 = 1024;

/// The bytes of two tiles of rows whose length is known only at run time: each kernel has loops for these, for half as many and so
/// on, and registers of AVX-512 hold sums and factors.
const TILES: u64 = 512;

/// The most elements of two tiles, so that kernels over short element types have no more loops.
const MOST: u64 = 128;

/// The elements of the least tile of rows whose length is known only at run time, if asked for no less.
const LEAST: u64 = 8;

/// The kernel with its long rows in strips.
pub(super) fn strips(kernel: Kernel) -> Kernel {
    over_body(kernel, |kernel, body| {
        let mut hoisted = Hoisted { lengths: BTreeMap::new(), fills: fills(body) };
        let mut shortened = BTreeMap::new();
        block(kernel, body, &mut hoisted, &mut shortened);
        shorten(body, &shortened);
    })
}

/// Arrays that are made before the loops that use them, from one [`Statement::Fill`] to the end of its block.
struct Hoisted {
    lengths: BTreeMap<ArrayId, Expr>,
    /// How often each array is filled.
    fills: BTreeMap<ArrayId, usize>,
}

impl Hoisted {
    fn insert(&mut self, array: ArrayId, length: &Expr) {
        if self.fills.get(&array) == Some(&1) {
            self.lengths.insert(array, length.clone());
        }
    }
}

fn fills(statements: &[Statement]) -> BTreeMap<ArrayId, usize> {
    let mut fills = BTreeMap::new();
    let mut see = |statement: &Statement| {
        if let Statement::Fill(array, _) = statement {
            *fills.entry(*array).or_default() += 1;
        }
    };
    statements.iter().for_each(|statement| statement.for_each(&mut see));
    fills
}

/// Arrays that are made before all loops and made ready in them hold no more than what is left of a row.
fn shorten(statements: &mut [Statement], shortened: &BTreeMap<ArrayId, u64>) {
    for statement in statements {
        if let Statement::Allocate { array, length, .. } = statement
            && let Some(&width) = shortened.get(array)
        {
            *length = Expr::Index(width);
        }
        statement.blocks_mut().into_iter().for_each(|inner| shorten(inner, shortened));
    }
}

/// `shortened` gets the elements that hoisted arrays need which are used in strips.
fn block(
    kernel: &mut Kernel,
    statements: &mut Vec<Statement>,
    hoisted: &mut Hoisted,
    shortened: &mut BTreeMap<ArrayId, u64>,
) {
    for statement in &*statements {
        if let Statement::Allocate { array, length, .. } = statement {
            hoisted.insert(*array, length);
        }
    }
    // What a loop ends with, to go on to its next place, happens once.
    let steps = |statement: &Statement| matches!(statement, Statement::Assign(..) | Statement::Update(..));
    let end = statements.iter().rposition(|statement| !steps(statement)).map_or(0, |last| last + 1);
    let first = (0..end).find_map(|place| {
        let (place, length, is_loop) = start(kernel, statements, place, hoisted)?;
        let (inside, behind) = statements[place..].split_at(end - place);
        Region::of(kernel, inside, behind, length, is_loop, hoisted).map(|region| (place, region))
    });
    let (inside, behind) = match &first {
        Some((place, _)) => {
            let behind = statements.split_off(end);
            (statements.split_off(*place), behind)
        }
        None => Default::default(),
    };
    for statement in statements.iter_mut() {
        statement.blocks_mut().into_iter().for_each(|inner| block(kernel, inner, hoisted, shortened));
    }
    if let Some((_, region)) = first {
        shortened.extend(
            region.rows.iter().filter(|row| hoisted.lengths.contains_key(row)).map(|row| (*row, region.room())),
        );
        statements.extend(region.in_strips(kernel, inside));
        statements.extend(behind);
    }
}

/// The length of the array that a statement makes, or makes ready again.
fn opened(statement: &Statement, hoisted: &Hoisted) -> Option<Expr> {
    match statement {
        Statement::Allocate { length, .. } => Some(length.clone()),
        Statement::Fill(array, _) => hoisted.lengths.get(array).cloned(),
        _ => None,
    }
}

/// Where a region may begin that has a statement, the length of its rows, and whether it begins with a loop over something else, which
/// works on rows whose length is known only at run time: else with a row in which something is collected.
fn start(kernel: &Kernel, statements: &[Statement], place: usize, hoisted: &Hoisted) -> Option<(usize, Expr, bool)> {
    let statement = &statements[place];
    let (Statement::For { vector: false, .. } | Statement::While(..) | Statement::Merge(_)) = statement else {
        return Some((place, opened(statement, hoisted)?, false));
    };
    let mut length = None;
    statement.for_each(&mut |inner| {
        if let Statement::For { end: Expr::Dimension(dimension), vector: true, .. } = inner
            && kernel.dimension(*dimension).size == Size::Runtime
        {
            length.get_or_insert(Expr::Dimension(*dimension));
        }
    });
    Some((begin(kernel, statements, place), length?, true))
}

/// Where a loop begins with the variables that it moves on.
fn begin(kernel: &Kernel, statements: &[Statement], place: usize) -> usize {
    let moves =
        |statement: &Statement| matches!(statement, Statement::Let(variable, _) if kernel.variable(*variable).mutable);
    statements[..place].iter().rposition(|statement| !moves(statement)).map_or(0, |last| last + 1)
}

/// Statements that do the same for each element of a row, whatever they do for the others.
struct Region {
    /// The length of the row.
    length: Expr,
    /// The name of the index that runs over it.
    name: String,
    /// How the row is cut: in tiles.
    tile: Tile,
    /// The most elements of a strip.
    width: u64,
    /// The local rows.
    rows: BTreeSet<ArrayId>,
}

impl Region {
    /// `None` where the elements of rows are not independent, what is behind depends on them, or strips are no better.
    fn of(
        kernel: &mut Kernel,
        statements: &[Statement],
        behind: &[Statement],
        length: Expr,
        is_loop: bool,
        hoisted: &Hoisted,
    ) -> Option<Self> {
        let mut check =
            Check { length: &length, hoisted, rows: BTreeSet::new(), own: BTreeSet::new(), counters: Vec::new() };
        if !check.block(kernel, statements) {
            return None;
        }
        let Check { rows, own, counters, .. } = check;
        if behind.iter().any(|statement| own.iter().any(|variable| statement.uses(*variable))) {
            return None;
        }
        let written = written(statements);
        if !statements.iter().chain(behind).all(|statement| reads_by_rows(statement, &written, &rows, &length)) {
            return None;
        }
        let bytes = rows.iter().filter_map(|row| match kernel.array(*row).element {
            ArrayElement::Value(element) => Some(element.bytes() as u64),
            ArrayElement::Index(_) => None,
        });
        let bytes = bytes.max();
        let is_of_any_length = match &length {
            Expr::Dimension(dimension) => kernel.dimension(*dimension).size == Size::Runtime,
            _ => false,
        };
        let usual = match (&length, bytes) {
            (Expr::Index(length), Some(bytes)) if length * bytes > STRIP => Tile::By(STRIP / bytes),
            (_, Some(bytes)) if is_of_any_length => Tile::Overlapped((TILES / bytes).clamp(2 * LEAST, MOST)),
            _ => Tile::Whole,
        };
        let name = kernel.variable(*counters.last()?).name.clone();
        let tile = match counters.iter().find_map(|counter| kernel.tile(*counter)).unwrap_or(usual) {
            Tile::Masked(width) if is_of_any_length && vectors::hold_rows(kernel, statements) => Tile::Masked(width),
            Tile::Masked(_) => usual,
            tile => tile,
        };
        let tile = match tile {
            // Which of two places a tile updates is not known.
            Tile::Overlapped(width) if !all_update_one_place(kernel, statements, &rows) => Tile::By(width),
            tile => tile,
        };
        // Where strips have a rest of any length, they begin where rows do that are collected in.
        if is_loop && !matches!(tile, Tile::Overlapped(_) | Tile::Masked(_)) {
            return None;
        }
        // Nothing is collected: a row in memory is no better in strips than whole, unless vectors are what it gains.
        if rows.is_empty() && !(matches!(tile, Tile::Masked(_)) && reduce_into_rows(statements)) {
            return None;
        }
        counters.iter().for_each(|counter| kernel.tiled(*counter, tile));
        let width = match tile {
            Tile::Whole => return None,
            Tile::By(width) | Tile::Overlapped(width) | Tile::Masked(width) => width,
        };
        let region = Region { length, name, tile, width, rows };
        // Rows that one tile holds are one.
        let is_one = match region.length {
            Expr::Index(length) => length <= width || matches!(tile, Tile::By(_)) && region.count(length) == 0,
            _ => false,
        };
        (!is_one).then_some(region)
    }

    /// How many strips rows of a known length have.
    fn count(&self, length: u64) -> u64 {
        // A few elements take as long as a strip: they go with the last one.
        let is_short = (1..=self.width / 2).contains(&(length % self.width));
        length / self.width - u64::from(is_short)
    }

    /// What strips leave of rows of a known length.
    fn rest(&self, length: u64) -> u64 {
        length - self.count(length) * self.width
    }

    /// The elements that a row made before all loops needs.
    fn room(&self) -> u64 {
        match self.length {
            _ if self.is_of_equal_strips() => *self.tiles().last().expect("there is one"),
            Expr::Index(length) => self.rest(length),
            _ => self.width,
        }
    }

    /// Whether strips are about as long as each other.
    fn is_of_equal_strips(&self) -> bool {
        matches!(self.tile, Tile::Overlapped(_) | Tile::Masked(_))
    }

    /// The widths of masked tiles, of which one makes a strip: few vectors, or as many as are asked for.
    fn masked(&self, kernel: &Kernel) -> Vec<u64> {
        let lanes = vectors::lanes(kernel);
        let few = (1..=4).rev().map(|count| count * lanes).filter(|width| *width < self.width);
        [self.width].into_iter().chain(few).collect()
    }

    /// The widths of tiles that overlap, two of which make a strip: each half of the one before.
    fn tiles(&self) -> Vec<u64> {
        let mut tiles = vec![self.width.div_ceil(2)];
        while let Some(&last) = tiles.last().filter(|last| **last > LEAST) {
            tiles.push(last.div_ceil(2));
        }
        tiles
    }

    fn in_strips(self, kernel: &mut Kernel, statements: Vec<Statement>) -> Vec<Statement> {
        match self.tile {
            Tile::Overlapped(_) => return self.in_equal_strips(kernel, statements, Self::overlapping_tiles),
            Tile::Masked(_) => return self.in_equal_strips(kernel, statements, Self::masked_tiles),
            Tile::By(_) | Tile::Whole => {}
        }
        let (width, length) = (Expr::Index(self.width), self.length.clone());
        let strip = kernel.declare_index(&format!("{}_strip", self.name));
        let first = kernel.declare_index(&format!("{}_first", self.name));
        let count = match &length {
            Expr::Index(length) => Expr::Index(self.count(*length)),
            length => Expr::binary(BinaryOperator::Divide, length.clone(), width.clone()),
        };
        let whole = match &count {
            Expr::Index(count) => Expr::Index(count * self.width),
            count => count.clone().times(width.clone()),
        };
        let rest = match &length {
            Expr::Index(length) => Expr::Index(self.rest(*length)),
            length => length.clone().minus(Expr::Variable(first)),
        };
        let each = self.part(kernel, first, "_strip");
        let mut body = vec![Statement::Let(first, Expr::Variable(strip).times(width.clone()))];
        body.extend(
            Cut { region: &self, width, room: None, parts: vec![each], overlap: Expr::Index(0) }
                .block(kernel, statements.clone()),
        );
        let strips = Statement::For { variable: strip, begin: Expr::Index(0), end: count, vector: false, body };
        if rest == Expr::Index(0) {
            return vec![strips];
        }
        let parts = vec![Part { first, renamed: BTreeMap::new() }];
        let last = match rest {
            Expr::Index(_) => {
                Cut { region: &self, width: rest, room: None, parts, overlap: Expr::Index(0) }.block(kernel, statements)
            }
            rest => {
                let left = kernel.declare_index(&format!("{}_rest", self.name));
                let mut body = vec![Statement::Let(left, rest)];
                body.extend(
                    Cut { region: &self, width: Expr::Variable(left), room: None, parts, overlap: Expr::Index(0) }
                        .block(kernel, statements),
                );
                vec![Statement::If(vec![(Expr::Variable(first).less(length), body)], Vec::new())]
            }
        };
        let mut all = vec![strips, Statement::Let(first, whole)];
        all.extend(last);
        all
    }

    /// `tiles` gives what is done for a strip, of its first element and of how many it has.
    fn in_equal_strips(
        self,
        kernel: &mut Kernel,
        statements: Vec<Statement>,
        tiles: fn(&Self, &mut Kernel, Vec<Statement>, [VariableId; 2]) -> Vec<Statement>,
    ) -> Vec<Statement> {
        let [strips, width, strip, first, left] = ["strips", "width", "strip", "first", "left"]
            .map(|word| kernel.declare_index(&format!("{}_{word}", self.name)));
        let divided = |of: Expr, by: Expr| Expr::binary(BinaryOperator::Divide, of, by);
        let most = Expr::Index(self.width);
        let count = divided(self.length.clone().plus(Expr::Index(self.width - 1)), most);
        // A row of no elements has a strip of none.
        let count = Expr::binary(BinaryOperator::Maximum, count, Expr::Index(1));
        // Strips begin where vectors do that are as long as the least tile.
        let step = Expr::Index(if self.width.is_multiple_of(LEAST) { LEAST } else { 1 });
        let steps = Expr::Variable(strips).times(step.clone());
        let equal = divided(self.length.clone().plus(steps.clone().minus(Expr::Index(1))), steps).times(step);
        let rest = self.length.clone().minus(Expr::Variable(first));
        let rest = Expr::binary(BinaryOperator::Minimum, rest, Expr::Variable(width));
        let inside = tiles(&self, kernel, statements, [first, left]);
        let mut body =
            vec![Statement::Let(first, Expr::Variable(strip).times(Expr::Variable(width))), Statement::Let(left, rest)];
        body.extend(inside);
        vec![
            Statement::Let(strips, count),
            Statement::Let(width, equal),
            Statement::For { variable: strip, begin: Expr::Index(0), end: Expr::Variable(strips), vector: false, body },
        ]
    }

    fn overlapping_tiles(
        &self,
        kernel: &mut Kernel,
        statements: Vec<Statement>,
        [first, left]: [VariableId; 2],
    ) -> Vec<Statement> {
        let tiles = self.tiles();
        let branches = tiles.iter().enumerate().map(|(place, tile)| {
            let fewer = tiles.get(place + 1).map_or(tile - 1, |next| 2 * next);
            let second = kernel.declare_index(&format!("{}_second", self.name));
            let begin = Expr::Variable(first).plus(Expr::Variable(left).minus(Expr::Index(*tile)));
            let overlap = Expr::Index(2 * tile).minus(Expr::Variable(left));
            let parts = vec![self.part(kernel, first, "_tile"), self.part(kernel, second, "_second")];
            let mut body = vec![Statement::Let(second, begin)];
            let cut = Cut { region: self, width: Expr::Index(*tile), room: None, parts, overlap };
            body.extend(cut.block(kernel, statements.clone()));
            (Expr::Index(fewer).less(Expr::Variable(left)), body)
        });
        let branches = branches.collect();
        let parts = vec![Part { first, renamed: BTreeMap::new() }];
        let (width, room) = (Expr::Variable(left), Some(self.room()));
        let few = Cut { region: self, width, room, parts, overlap: Expr::Index(0) }.block(kernel, statements);
        vec![Statement::If(branches, few)]
    }

    fn masked_tiles(
        &self,
        kernel: &mut Kernel,
        statements: Vec<Statement>,
        [first, left]: [VariableId; 2],
    ) -> Vec<Statement> {
        let tiles = self.masked(kernel);
        let bodies = tiles.iter().map(|tile| {
            let lanes = kernel.declare_index(&format!("{}_lanes", self.name));
            let most = Expr::binary(BinaryOperator::Minimum, Expr::Variable(left), Expr::Index(*tile));
            let parts = vec![self.part(kernel, first, "_tile")];
            let mut body = vec![Statement::Let(lanes, most)];
            let (width, room) = (Expr::Variable(lanes), Some(*tile));
            let cut = Cut { region: self, width, room, parts, overlap: Expr::Index(0) };
            body.extend(cut.block(kernel, statements.clone()));
            body
        });
        let mut bodies: Vec<Vec<Statement>> = bodies.collect();
        let narrowest = bodies.pop().expect("there is one");
        if bodies.is_empty() {
            return narrowest;
        }
        let fewer = tiles[1..].iter().map(|next| Expr::Index(*next).less(Expr::Variable(left)));
        vec![Statement::If(fewer.zip(bodies).collect(), narrowest)]
    }

    /// A part of the row that begins at an element, with local rows of its own.
    fn part(&self, kernel: &mut Kernel, first: VariableId, suffix: &str) -> Part {
        Part { first, renamed: self.rows.iter().map(|row| (*row, views::declare(kernel, *row, suffix))).collect() }
    }
}

/// Whether statements may run for one strip after the other.
struct Check<'a> {
    length: &'a Expr,
    hoisted: &'a Hoisted,
    /// The local rows seen.
    rows: BTreeSet<ArrayId>,
    /// The variables declared inside.
    own: BTreeSet<VariableId>,
    /// The counters of the loops over rows.
    counters: Vec<VariableId>,
}

impl Check<'_> {
    fn block(&mut self, kernel: &Kernel, statements: &[Statement]) -> bool {
        statements.iter().all(|statement| self.statement(kernel, statement))
    }

    fn statement(&mut self, kernel: &Kernel, statement: &Statement) -> bool {
        match statement {
            Statement::Comment(_) => true,
            Statement::Let(variable, _) => {
                self.own.insert(*variable);
                true
            }
            Statement::Assign(variable, _) | Statement::Update(variable, ..) => self.own.contains(variable),
            Statement::Allocate { array, length, .. } => {
                self.rows.insert(*array);
                length == self.length
            }
            Statement::Fill(array, _) => {
                let is_first = self.rows.insert(*array);
                is_first && self.hoisted.lengths.get(array) == Some(self.length)
            }
            Statement::For { variable, begin: Expr::Index(0), end, vector: true, body } => {
                self.counters.push(*variable);
                end == self.length && body.iter().all(|inner| self.element(inner, *variable))
            }
            Statement::For { variable, vector: false, body, .. } => {
                self.own.insert(*variable);
                self.block(kernel, body)
            }
            Statement::While(_, body) => self.block(kernel, body),
            Statement::Merge(merge) => {
                self.own.extend(merge.declared());
                merge.points.iter().all(|point| self.block(kernel, &point.body))
            }
            Statement::If(branches, otherwise) => {
                branches.iter().all(|(_, body)| self.block(kernel, body)) && self.block(kernel, otherwise)
            }
            _ => false,
        }
    }

    /// A statement of a loop over a row touches one element of rows.
    fn element(&self, statement: &Statement, counter: VariableId) -> bool {
        match statement {
            Statement::Comment(_) | Statement::Let(..) => true,
            Statement::Store(array, index, _) | Statement::Reduce(array, index, ..) => {
                self.rows.contains(array) && *index == Expr::Variable(counter)
                    || !self.rows.contains(array) && is_in_row(index, counter, self.length)
            }
            _ => false,
        }
    }
}

/// Whether an index is an element of a row that begins at a multiple of the length.
fn is_in_row(index: &Expr, counter: VariableId, length: &Expr) -> bool {
    match base(index, counter) {
        Some(Expr::Index(0)) => true,
        Some(Expr::Binary(BinaryOperator::Multiply, _, last)) => *last == *length,
        _ => false,
    }
}

fn written(statements: &[Statement]) -> BTreeSet<ArrayId> {
    let mut written = BTreeSet::new();
    statements.iter().for_each(|statement| statement.for_each(&mut |inner| written.extend(inner.written_array())));
    written
}

/// Whether arrays that are written are read only by an element of a row for the same element.
fn reads_by_rows(statement: &Statement, written: &BTreeSet<ArrayId>, rows: &BTreeSet<ArrayId>, length: &Expr) -> bool {
    let counter = match statement {
        Statement::For { variable, vector: true, .. } => Some(*variable),
        _ => None,
    };
    let mut is_fine = true;
    let mut see = |expr: &Expr| match expr {
        Expr::Load(array, index) if rows.contains(array) => {
            is_fine &= counter.is_some_and(|counter| **index == Expr::Variable(counter));
        }
        Expr::Load(array, index) if written.contains(array) => {
            is_fine &= counter.is_some_and(|counter| is_in_row(index, counter, length));
        }
        Expr::Length(array) | Expr::Search { array, .. } => is_fine &= !written.contains(array),
        _ => {}
    };
    if counter.is_some() {
        statement
            .blocks()
            .into_iter()
            .flatten()
            .for_each(|inner| inner.for_each_expr(&mut |expr| expr.for_each(&mut see)));
        return is_fine;
    }
    statement.for_each_expr(&mut |expr| expr.for_each(&mut see));
    is_fine && statement.blocks().into_iter().flatten().all(|inner| reads_by_rows(inner, written, rows, length))
}

/// What a loop over a row changes of arrays that are no local rows, whose old values matter.
struct Updates {
    /// The arrays that it reduces into and does not read.
    reduced: BTreeSet<ArrayId>,
    /// The others that it reads and writes, each with the place.
    changed: BTreeMap<ArrayId, Expr>,
}

impl Updates {
    /// `None` where one of the others is reached in two places.
    fn of(kernel: &Kernel, body: &[Statement], rows: &BTreeSet<ArrayId>) -> Option<Updates> {
        let (mut reduced, mut stored, mut loaded) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let mut places: BTreeMap<ArrayId, Vec<Expr>> = BTreeMap::new();
        for statement in body {
            match statement {
                Statement::Store(array, index, _) => {
                    stored.insert(*array);
                    places.entry(*array).or_default().push(index.clone());
                }
                Statement::Reduce(array, index, operator, _) => {
                    reduced.insert(*array);
                    if identity(kernel, *array, *operator).is_none() {
                        loaded.insert(*array);
                    }
                    places.entry(*array).or_default().push(index.clone());
                }
                _ => {}
            }
            statement.for_each_expr(&mut |expr| {
                expr.for_each(&mut |expr| {
                    if let Expr::Load(array, index) = expr {
                        loaded.insert(*array);
                        places.entry(*array).or_default().push((**index).clone());
                    }
                });
            });
        }
        let written = reduced.union(&stored).filter(|array| !rows.contains(array));
        let mut changed = BTreeMap::new();
        for array in written.filter(|array| loaded.contains(array) || reduced.contains(array) && stored.contains(array))
        {
            let [first, others @ ..] = &places[array][..] else { continue };
            if others.iter().any(|place| place != first) {
                return None;
            }
            changed.insert(*array, first.clone());
        }
        reduced.retain(|array| !rows.contains(array) && !changed.contains_key(array));
        Some(Updates { reduced, changed })
    }
}

/// What changes nothing where it is reduced into an array.
fn identity(kernel: &Kernel, array: ArrayId, operator: ReduceOperator) -> Option<Expr> {
    operator.identity_of(kernel.array(array).element.ty())
}

/// Whether a loop over a row combines its elements with others.
fn reduce_into_rows(statements: &[Statement]) -> bool {
    let mut found = false;
    let mut see = |statement: &Statement| {
        if let Statement::For { vector: true, body, .. } = statement {
            found |= body.iter().any(|inner| matches!(inner, Statement::Reduce(..)));
        }
    };
    statements.iter().for_each(|statement| statement.for_each(&mut see));
    found
}

/// Whether no loop over a row updates an array in two places.
fn all_update_one_place(kernel: &Kernel, statements: &[Statement], rows: &BTreeSet<ArrayId>) -> bool {
    let mut all = true;
    let mut see = |statement: &Statement| {
        if let Statement::For { vector: true, body, .. } = statement {
            all &= Updates::of(kernel, body, rows).is_some();
        }
    };
    statements.iter().for_each(|statement| statement.for_each(&mut see));
    all
}

/// A part of the row.
struct Part {
    /// The first element.
    first: VariableId,
    /// Local rows that it has for itself, made where they were made ready.
    renamed: BTreeMap<ArrayId, ArrayId>,
}

/// The statements of a region for parts of the row.
struct Cut<'a> {
    region: &'a Region,
    /// How many elements each part has.
    width: Expr,
    /// The elements of its local rows, if there is room for more.
    room: Option<u64>,
    /// One, or two that overlap.
    parts: Vec<Part>,
    /// How many elements two parts have in common.
    overlap: Expr,
}

impl Cut<'_> {
    fn block(&self, kernel: &mut Kernel, statements: Vec<Statement>) -> Vec<Statement> {
        statements.into_iter().flat_map(|statement| self.statement(kernel, statement)).collect()
    }

    fn statement(&self, kernel: &mut Kernel, mut statement: Statement) -> Vec<Statement> {
        let each = |array: ArrayId, fill: &Expr| {
            let length = self.room.map_or_else(|| self.width.clone(), Expr::Index);
            let make = |part: &Part| Statement::Allocate {
                array: part.row(array),
                length: length.clone(),
                fill: fill.clone(),
            };
            self.parts.iter().map(make).collect()
        };
        match statement {
            Statement::Allocate { array, fill, .. } => each(array, &fill),
            Statement::Fill(array, fill) if self.parts.iter().all(|part| part.renamed.contains_key(&array)) => {
                each(array, &fill)
            }
            Statement::For { variable, vector: true, body, .. } => self.row_loops(kernel, variable, &body),
            _ => {
                for inner in statement.blocks_mut() {
                    *inner = self.block(kernel, std::mem::take(inner));
                }
                vec![statement]
            }
        }
    }

    /// A loop over a row, for each part.
    fn row_loops(&self, kernel: &mut Kernel, counter: VariableId, body: &[Statement]) -> Vec<Statement> {
        let of = |part: &Part| body.iter().map(|inner| self.element(inner.clone(), counter, part)).collect::<Vec<_>>();
        let over = |body| self.over(counter, body);
        let [first, second] = &self.parts[..] else { return self.parts.iter().map(|part| over(of(part))).collect() };
        let updates = Updates::of(kernel, body, &self.region.rows).expect("regions of overlapping tiles have them");
        let (mut one, other) = (of(first), of(second));
        let (mut before, mut behind) = (Vec::new(), Vec::new());
        for (array, index) in updates.changed {
            let ArrayElement::Value(element) = kernel.array(array).element else { unreachable!("rows are of values") };
            let copy = views::declare(kernel, array, "_copy");
            let (at, place) = (Expr::Variable(counter), self.place(array, index, counter, first).1);
            let fill = Expr::Literal(element.zero());
            before.push(Statement::Allocate { array: copy, length: self.width.clone(), fill });
            before.push(over(vec![Statement::Store(copy, at.clone(), Expr::load(array, place.clone()))]));
            behind.push(over(vec![Statement::Store(array, place, Expr::load(copy, at))]));
            one.iter_mut().for_each(|statement| views::rename(statement, array, copy, counter));
        }
        before.extend(self.apart(kernel, counter, one));
        let mut second = self.apart(kernel, counter, other);
        second.iter_mut().for_each(|row| self.beyond_overlap(kernel, counter, row, &updates.reduced));
        before.extend(second);
        before.extend(behind);
        before
    }

    /// Has a loop over the second tile reduce nothing into elements of the first. It computes them all the same, as vectors do.
    fn beyond_overlap(&self, kernel: &Kernel, counter: VariableId, row: &mut Statement, reduced: &BTreeSet<ArrayId>) {
        let Statement::For { body, .. } = row else { return };
        for statement in body {
            if let Statement::Reduce(array, _, operator, value) = statement
                && reduced.contains(array)
                && let Some(identity) = identity(kernel, *array, *operator)
            {
                let is_both = Expr::Variable(counter).less(self.overlap.clone());
                let taken = std::mem::replace(value, Expr::Index(0));
                *value = Expr::Select(Box::new(is_both), Box::new(identity), Box::new(taken));
            }
        }
    }

    /// The loop over a part.
    fn over(&self, counter: VariableId, body: Vec<Statement>) -> Statement {
        Statement::For { variable: counter, begin: Expr::Index(0), end: self.width.clone(), vector: true, body }
    }

    /// The loop over a part, where it reads operands and writes a row that may lie in the same memory for all that the target's compiler
    /// knows: what it computes is collected in a local row first. A short loop of both would be unrolled element by element.
    fn apart(&self, kernel: &mut Kernel, counter: VariableId, body: Vec<Statement>) -> Vec<Statement> {
        let is_own = |array: ArrayId| kernel.array(array).role == ArrayRole::Local;
        let written = |statement: &Statement| match statement {
            Statement::Store(array, ..) | Statement::Reduce(array, ..) => Some(*array),
            _ => None,
        };
        let mut reads = false;
        for statement in &body {
            statement.for_each_expr(&mut |expr| {
                expr.for_each(&mut |expr| reads |= matches!(expr, Expr::Load(array, _) if !is_own(*array)));
            });
        }
        let stores: Vec<usize> = (0..body.len()).filter(|&place| written(&body[place]).is_some()).collect();
        let [store] = stores[..] else { return vec![self.over(counter, body)] };
        let array = written(&body[store]).filter(|array| !is_own(*array));
        let (Some(array), true, true) = (array, reads, store + 1 == body.len()) else {
            return vec![self.over(counter, body)];
        };
        // Elements that are computed with as wider ones are rounded once, when they are written.
        let element = match kernel.array(array).element {
            ArrayElement::Value(element) if !element.is_stored_only() => element,
            _ => return vec![self.over(counter, body)],
        };
        let terms = views::declare(kernel, array, "_terms");
        let (at, fill) = (Expr::Variable(counter), Expr::Literal(element.zero()));
        let (mut collect, mut write) = (body, Vec::new());
        for statement in &mut collect {
            let (Statement::Store(_, _, value) | Statement::Reduce(_, _, _, value)) = statement else { continue };
            let value = std::mem::replace(value, Expr::load(terms, at.clone()));
            write.push(std::mem::replace(statement, Statement::Store(terms, at.clone(), value)));
        }
        let (collect, write) = (self.over(counter, collect), self.over(counter, write));
        vec![Statement::Allocate { array: terms, length: self.width.clone(), fill }, collect, write]
    }

    fn element(&self, statement: Statement, counter: VariableId, part: &Part) -> Statement {
        match statement {
            Statement::Store(array, index, value) => {
                let (array, index) = self.place(array, index, counter, part);
                Statement::Store(array, index, self.expr(value, counter, part))
            }
            Statement::Reduce(array, index, operator, value) => {
                let (array, index) = self.place(array, index, counter, part);
                Statement::Reduce(array, index, operator, self.expr(value, counter, part))
            }
            mut other => {
                other.for_each_expr_mut(&mut |expr| {
                    let taken = std::mem::replace(expr, Expr::Index(0));
                    *expr = self.expr(taken, counter, part);
                });
                other
            }
        }
    }

    fn expr(&self, expr: Expr, counter: VariableId, part: &Part) -> Expr {
        match expr {
            Expr::Load(array, index) => {
                let (array, index) = self.place(array, *index, counter, part);
                Expr::load(array, index)
            }
            Expr::Variable(variable) if variable == counter => Expr::Variable(part.first).plus(expr),
            other => other.map_children(&mut |child| self.expr(child, counter, part)),
        }
    }

    /// The element of an array that stands for one of the whole row's.
    fn place(&self, array: ArrayId, index: Expr, counter: VariableId, part: &Part) -> (ArrayId, Expr) {
        if self.region.rows.contains(&array) {
            return (part.row(array), index);
        }
        let index = match base(&index, counter) {
            Some(base) => base.plus(Expr::Variable(part.first)).plus(Expr::Variable(counter)),
            None => self.expr(index, counter, part),
        };
        (array, index)
    }
}

impl Part {
    fn row(&self, array: ArrayId) -> ArrayId {
        self.renamed.get(&array).copied().unwrap_or(array)
    }
}
