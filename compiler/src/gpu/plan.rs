//! What a device is to do for one kernel: functions that run on it, and the steps of the host between them.
//!
//! A [`Module`] is data. Its functions are loops of the IR, in which all that a thread needs to know is a variable; the
//! printer turns them into text, and the host's executor follows the steps.

use crate::ir::{
    ArrayElement, ArrayId, BinaryOperator, ElementType, Expr, Kernel, Literal, ReduceOperator, Statement, VariableId,
};
use crate::notation::Decision;
use std::collections::BTreeSet;

/// A kernel for a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Module {
    /// What the names of its functions begin with.
    pub name: String,
    /// The declarations of the kernel, which has no body here. Behind its own there are those that the device needs besides:
    /// counts, offsets, scratch memory, and the cells of variables that several functions share. All of its arrays are in the
    /// device's memory.
    pub kernel: Kernel,
    /// What runs on the device.
    pub functions: Vec<Function>,
    /// What the host does, in order.
    pub steps: Vec<Step>,
    /// Why it is so.
    pub decisions: Vec<Decision>,
}

/// A function that runs on the device.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it is for, for the reader.
    pub comment: String,
    /// Who runs it.
    pub threads: Threads,
    /// What each thread does. Loops of threads have been taken apart, nothing is allocated but arrays of a few elements, and
    /// nothing is appended.
    pub body: Vec<Statement>,
    /// The arrays in which several threads may update one element: every [`Statement::Reduce`] is atomic.
    pub atomic: BTreeSet<ArrayId>,
    /// Elements of these arrays that only one share touches.
    pub owned: Vec<Owned>,
    /// What blocks sum in shared memory.
    pub tiles: Vec<Tile>,
    /// The sets of keys that teams collect in shared memory.
    pub tables: Vec<Table>,
    /// The number of threads of a block.
    pub block: u64,
    /// Variables whose values in all threads are combined, each into an array of one element.
    pub totals: Vec<Total>,
}

/// Elements of an array that only one share touches: between them and those of other shares lie what several touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owned {
    /// The array.
    pub array: ArrayId,
    /// The first of them.
    pub begin: VariableId,
    /// One past the last. There may be none.
    pub end: VariableId,
}

/// What a block has of a short array for itself, in the memory that its threads share: as many elements, which change nothing at
/// first. At its end the block combines them into the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// The array.
    pub array: ArrayId,
    /// The block's own, which the body updates.
    pub tile: ArrayId,
    /// By which operator.
    pub operator: ReduceOperator,
}

/// A set of keys that a team collects, in the memory that the threads of a block share: a hash table with open addressing, of
/// which each team has as many slots ([`Teams::slots`]). In a body,
///
/// * [`Statement::Reset`] empties it and gives all `values` what they begin with,
/// * [`Statement::Insert`] finds the slot of a key, or gives it one: there is room, or the team would not have got the row,
/// * [`Statement::Sort`] puts the slots that have keys into `places`, ascending by key,
/// * the length of `keys` is the number of keys there are.
///
/// The whole team comes to each of the first and third, and waits there.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What names it.
    pub table: ArrayId,
    /// The key of each slot, where it has one.
    pub keys: ArrayId,
    /// The slots in the order of their keys; none where keys are only counted.
    pub places: Option<ArrayId>,
    /// What each slot has beside its key, and what that is at first.
    pub values: Vec<(ArrayId, Expr)>,
}

/// A variable that all threads reduce into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    /// The variable.
    pub variable: VariableId,
    /// By which operator.
    pub operator: ReduceOperator,
    /// Where it goes.
    pub meet: Meet,
}

/// Where the threads of a warp leave what they have of a variable, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meet {
    /// It is combined into the only element of an array.
    Cell(ArrayId),
    /// In an element for each warp, to be combined in order.
    Parts(ArrayId),
}

impl Meet {
    /// The array.
    pub fn array(self) -> ArrayId {
        match self {
            Meet::Cell(array) | Meet::Parts(array) => array,
        }
    }
}

/// Who runs a function.
#[derive(Debug, Clone, PartialEq)]
pub enum Threads {
    /// A single thread.
    One,
    /// Threads for the places of a range.
    Each(Box<Places>),
    /// A team of threads for each of some rows.
    Teams(Teams),
}

/// Threads of a block, part of a warp or all, that work at one row: all run the body and come to the same, but of a loop that is
/// marked as a vector loop each takes a part of the iterations. Of two that are nested, parts of the team share the outer, and the
/// lanes of a part the inner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Teams {
    /// The place of the row among those that the function is launched for.
    pub row: VariableId,
    /// The number of a thread in its team.
    pub lane: VariableId,
    /// How many slots the tables of a block have: each of its teams as many as the others.
    pub slots: u64,
    /// Whether no two lanes meet in one slot between two times that the team waits: it waits after each vector loop that inserts.
    pub in_order: bool,
}

/// Threads for the places of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Places {
    /// The place of a thread.
    pub place: VariableId,
    /// The first.
    pub begin: Expr,
    /// One past the last.
    pub end: Expr,
    /// The number of a thread, where threads may take several places, one after the other: those that have memory of their own.
    /// Where several threads work at one place they have one number.
    pub worker: Option<VariableId>,
    /// So many of them take places, where that is said: others have nothing to do. `None`: all that were launched.
    pub workers: Option<Expr>,
    /// What a thread takes where that is more than a place.
    pub share: Option<Share>,
    /// How several threads work at one place, or share.
    pub lanes: Option<Lanes>,
}

/// Neighbouring places that a thread takes: [`Places::place`] is the first of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// How many there are, in a share that is not the last.
    pub size: VariableId,
    /// What that is.
    pub value: Expr,
}

/// How several threads work at one place.
#[derive(Debug, Clone, PartialEq)]
pub enum Lanes {
    /// Each computes an element of a row.
    Row(Lane),
    /// They do the same, and share out loops.
    Group(Group),
    /// The lanes of a warp take neighbouring places of the warp's share.
    Segments(Segments),
}

/// What a warp has of its share, of which each of its lanes takes one place at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Segments {
    /// The lists of places, where there are several.
    pub lists: Option<Lists>,
    /// The rows that the places are entries of, where the body asks for that of a place.
    pub rows: Option<Rows>,
    /// What lanes do together; none where the body of a place writes all there is.
    pub together: Option<Together>,
}

/// Lists that warps take shares of in turn, so that what is written for neighbours in several lists is written at about the same time.
/// [`Places::end`] is the end of the longest of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Lists {
    /// Which of them the body is for.
    pub list: VariableId,
    /// One past the last place of each. All begin at zero.
    pub ends: Vec<Expr>,
}

/// What the lanes of a warp do together with what their places have said.
#[derive(Debug, Clone, PartialEq)]
pub enum Together {
    /// They sum.
    Sum(Summed),
    /// They collect bits.
    Flags(Vec<Flags>),
}

/// A bit of each place, and the number of ones in each word of them. Places begin at a multiple of [`WARP`].
#[derive(Debug, Clone, PartialEq)]
pub struct Flags {
    /// What the body of a place sets.
    pub flag: VariableId,
    /// The words of [`WARP`] bits.
    pub bits: ArrayId,
    /// How many of each are ones.
    pub counts: ArrayId,
    /// The first word of each list.
    pub begins: Vec<Expr>,
}

/// What the places of a share add to the elements of an array, of which neighbours have the same. The body of a place says which
/// element it is and what is added; a warp combines what its lanes have of one element and updates each by one operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summed {
    /// The array.
    pub array: ArrayId,
    /// How it is updated.
    pub operator: ReduceOperator,
    /// Which element.
    pub element: VariableId,
    /// What is added.
    pub value: VariableId,
}

/// Rows of entries. A warp finds the first of its share by a search, and those of its lanes by the ends of the next rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Where each begins, in each of the lists of places: arrays of one element type.
    pub positions: Vec<ArrayId>,
    /// The row of a place.
    pub row: VariableId,
}

/// A group of lanes of a warp: all of them run the body, but each takes only every `width`-th iteration of a loop that is marked
/// as a vector loop. At the end of such a loop what the lanes have of the variables that it updates is combined, for each of
/// them; until then such a variable holds the operator's identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The number of a lane in its group.
    pub lane: VariableId,
    /// How many lanes the group has: a power of two, at most [`WARP`].
    pub width: VariableId,
    /// Of a loop over a row that lies in memory, a lane takes neighbours at a time: the first of them.
    pub first: VariableId,
    /// Which of them a lane is at.
    pub strip: VariableId,
}

/// The elements of a row, one for a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct Lane {
    /// The number of a thread.
    pub variable: VariableId,
    /// How many threads there are.
    pub extent: Expr,
    /// The element of a row that it is about: the thread itself, or one of several that a thread has.
    pub element: VariableId,
    /// How many elements a row has.
    pub row: Expr,
    /// Whether threads beyond the last have nothing to do. Else the body tells them apart.
    pub ends: bool,
    /// What a thread has, where that is neighbouring elements.
    pub vector: Option<Vector>,
}

/// Neighbouring elements of a row, all of which a thread has, and which move as one: a loop of the body goes over them. The number of a row's
/// elements is a multiple of theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vector {
    /// The counter of the loop.
    pub counter: VariableId,
    /// The first element.
    pub first: VariableId,
    /// How many there are.
    pub count: u64,
}

/// What the host does. Its expressions are over dimensions, lengths of arrays, and elements of arrays.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Makes an array.
    Make {
        /// Which.
        array: ArrayId,
        /// How many elements.
        length: Expr,
        /// Their first value, a constant; `None`: whatever was there.
        fill: Option<Expr>,
    },
    /// Sets every element of an array.
    Fill {
        /// Which.
        array: ArrayId,
        /// To what: a constant.
        value: Expr,
    },
    /// Runs a function.
    Launch {
        /// Its place in [`Module::functions`].
        function: usize,
        /// The number of places that there are threads for, one for each or for a share of them; one thread for none.
        places: Expr,
        /// The number of threads for each place: the elements of a row, or for a group how many iterations are to be shared
        /// out, of which the group has the largest power of two that is no more, at most [`WARP`].
        lanes: Option<Expr>,
        /// At most so many threads, or so many rows or groups of them: they take several places. There may be more, up to a whole
        /// block.
        workers: Option<Expr>,
        /// At most so many blocks, but one.
        blocks: Option<Expr>,
    },
    /// Runs a function of [`Teams`].
    Teams {
        /// Its place in [`Module::functions`].
        function: usize,
        /// The first row.
        first: Expr,
        /// One past the last.
        end: Expr,
        /// How many threads a team has: a power of two.
        width: u64,
        /// About how many iterations the inner of two nested loops has.
        inner: Expr,
    },
    /// Finds out a number that follows from what a function reads, which is the only element of an array that the function
    /// combines it into. Of the same inputs it need not be found twice. Only the host asks for it.
    Measure {
        /// The array: zero at first.
        array: ArrayId,
        /// The place of the function in [`Module::functions`].
        function: usize,
        /// The number of places that its threads go through.
        places: Expr,
    },
    /// Replaces the counts in an array, of which the last element is zero, by sums: each of the counts before it and `first`.
    Scan {
        /// Which.
        array: ArrayId,
        /// The first sum.
        first: Expr,
    },
    /// Sorts keys, and tells where each one was: those that are equal stay in their order.
    Sort {
        /// The keys, of 32 bits.
        keys: ArrayId,
        /// As many places, of 32 bits, which are written.
        places: ArrayId,
        /// All keys are smaller.
        most: Expr,
    },
    /// Goes on with one of two ways to do the same.
    Choose {
        /// Decides, over what the host knows: one or zero.
        condition: Expr,
        /// The steps where it holds.
        then: Vec<Step>,
        /// The steps elsewhere.
        otherwise: Vec<Step>,
    },
    /// Copies a short array to the host, which then knows its elements: they do not change any more.
    Read {
        /// The array.
        array: ArrayId,
    },
    /// Makes room in an array that grows. What it holds is kept.
    Lengthen {
        /// Which.
        array: ArrayId,
        /// Its new length.
        length: Expr,
    },
}

/// The bytes that a thread moves by one instruction at most.
pub(crate) const VECTOR_BYTES: u64 = 16;

/// A thread has at most so many elements of a row.
pub(crate) const STRIPS: u64 = 4;

/// How many elements a thread has that move as one, of so many bytes each: none where one alone is as wide as that.
pub(crate) fn vector_of(bytes: u64) -> Option<u64> {
    let count = (VECTOR_BYTES / bytes).min(STRIPS);
    (count > 1).then_some(count)
}

/// Whether an atomic operation can update [`STRIPS`] neighbours of an array at once.
pub(crate) fn together(kernel: &Kernel, array: ArrayId, operator: ReduceOperator) -> bool {
    operator == ReduceOperator::Add && kernel.array(array).element == ArrayElement::Value(ElementType::F32)
}

/// The threads of a block of teams.
pub const TEAM_BLOCK: u64 = 256;

/// The number of threads of a block, where nothing is said against it.
pub const BLOCK: u64 = 128;

/// How many iterations of a loop that a group of lanes shares out are written one behind the other: their loads are then under way together.
pub(crate) const UNROLLED: u64 = 4;

/// The most threads that have memory of their own: as many as the largest devices run at a time.
pub const WORKERS: u64 = 1 << 18;

/// The bytes that threads have for themselves, all together; more than that only where a block would have less than it needs.
pub(crate) const SCRATCH: u64 = 1 << 31;

/// The bytes of a word of shared memory.
pub(crate) const WORD: u64 = 8;

/// The fewest threads of a team.
pub(crate) const SMALLEST_TEAM: u64 = 8;

/// The bytes of the counts of a block: one for each team.
pub(crate) const COUNTS: u64 = TEAM_BLOCK / SMALLEST_TEAM * 4;

/// The lanes of a warp.
pub const WARP: u64 = 32;

/// The number of counts that a block of [`Module::scan`] takes.
pub const SCANNED: u64 = 1024;

/// The threads of a block of [`Module::scan`] and [`Module::shift`], and of [`Module::digits`] and [`Module::sort`]; and how many digits
/// a key may have in one place.
pub const SCAN_BLOCK: u64 = 256;

/// The number of keys that a block of [`Module::digits`] and [`Module::sort`] takes.
pub const SORTED: u64 = 4096;

impl Module {
    /// Whether a step scans, for which the text has functions of its own.
    pub fn scans(&self) -> bool {
        self.has(|step| matches!(step, Step::Scan { .. } | Step::Sort { .. }))
    }

    /// Whether a step sorts.
    pub fn sorts(&self) -> bool {
        self.has(|step| matches!(step, Step::Sort { .. }))
    }

    fn has(&self, is: impl Fn(&Step) -> bool) -> bool {
        let mut has = false;
        self.steps.iter().for_each(|step| step.for_each(&mut |step| has |= is(step)));
        has
    }

    /// The names of all functions of the module's text.
    pub fn function_names(&self) -> Vec<String> {
        let own = self.functions.iter().map(|function| function.name.clone());
        let scans = self.scans().then(|| [self.scan(), self.shift()]);
        let sorts = self.sorts().then(|| [self.digits(), self.sort()]);
        own.chain([scans, sorts].into_iter().flatten().flatten()).collect()
    }

    /// The name of the function that scans, `(length, counts, totals)`: each block those of its counts, [`SCANNED`] of them, and
    /// leaves their total.
    pub fn scan(&self) -> String {
        format!("{}_scan", self.name)
    }

    /// The name of the function that adds totals, `(length, first, counts, totals)`.
    pub fn shift(&self) -> String {
        format!("{}_shift", self.name)
    }

    /// The name of the function that counts digits, `(length, shift, keys, counts)`: each block those of its keys, [`SORTED`] of them,
    /// eight bits from `shift` on; `counts` has those of all blocks for one digit, then for the next.
    pub fn digits(&self) -> String {
        format!("{}_digits", self.name)
    }

    /// The name of the function that sorts by one digit, `(length, shift, is_first, begins, keys, places, sorted_keys,
    /// sorted_places)`: `begins` are the sums of the counts before each. There are no places yet where it `is_first`.
    pub fn sort(&self) -> String {
        format!("{}_sort", self.name)
    }
}

impl Step {
    /// Calls `visit` on this step and all in its branches.
    pub fn for_each(&self, visit: &mut dyn FnMut(&Step)) {
        visit(self);
        if let Step::Choose { then, otherwise, .. } = self {
            then.iter().chain(otherwise).for_each(|step| step.for_each(visit));
        }
    }
}

impl Places {
    /// The group of lanes that works at each place, where one does.
    pub fn group(&self) -> Option<Group> {
        match self.lanes {
            Some(Lanes::Group(group)) => Some(group),
            _ => None,
        }
    }

    /// The row that threads share at each place, where they do.
    pub fn row(&self) -> Option<&Lane> {
        match &self.lanes {
            Some(Lanes::Row(lane)) => Some(lane),
            _ => None,
        }
    }
}

impl Teams {
    /// How many slots a team of so many threads has.
    pub fn slots_of(&self, width: u64) -> u64 {
        self.slots * width / TEAM_BLOCK
    }
}

impl Table {
    /// The arrays of the threads of a block, one behind the other, each with the bytes of a slot.
    pub(crate) fn arrays(&self) -> impl Iterator<Item = ArrayId> {
        // The widest come first, so that all lie well.
        self.values.iter().map(|(array, _)| *array).chain([self.keys]).chain(self.places)
    }

    /// The bytes of a slot.
    pub(crate) fn slot(&self, kernel: &Kernel) -> u64 {
        self.arrays().map(|array| bytes(kernel, array)).sum()
    }
}

impl Tile {
    /// The words of shared memory that it takes.
    pub(crate) fn words(&self, kernel: &Kernel) -> Expr {
        let (length, bytes) = (Expr::Length(self.array), bytes(kernel, self.array));
        match bytes % WORD {
            0 => length.times(Expr::Index(bytes / WORD)),
            _ => Expr::binary(
                BinaryOperator::Divide,
                length.times(Expr::Index(bytes)).plus(Expr::Index(WORD - 1)),
                Expr::Index(WORD),
            ),
        }
    }
}

/// The bytes of an element.
pub(crate) fn bytes(kernel: &Kernel, array: ArrayId) -> u64 {
    match kernel.array(array).element {
        ArrayElement::Index(width) => width.bytes() as u64,
        ArrayElement::Value(element) => element.bytes() as u64,
    }
}

impl Function {
    /// The group of lanes that works at each place, where one does.
    pub fn group(&self) -> Option<Group> {
        self.places()?.group()
    }

    /// Whether threads have several elements of rows.
    pub fn has_strips(&self) -> bool {
        self.places().and_then(Places::row).is_some_and(|lane| lane.element != lane.variable)
    }

    /// The places that it has threads for, where there is not just one thread.
    pub fn places(&self) -> Option<&Places> {
        match &self.threads {
            Threads::Each(places) => Some(places),
            Threads::One | Threads::Teams(_) => None,
        }
    }

    /// The teams that run it.
    pub fn teams(&self) -> Option<Teams> {
        match self.threads {
            Threads::Teams(teams) => Some(teams),
            Threads::One | Threads::Each(_) => None,
        }
    }

    /// What a warp has of its share, where its lanes take places of one.
    pub(crate) fn segments(&self) -> Option<&Segments> {
        match &self.places()?.lanes {
            Some(Lanes::Segments(segments)) => Some(segments),
            _ => None,
        }
    }

    /// The variables that somebody reads behind the body: what the threads of a warp combine, and what bounds elements of a share.
    pub fn results(&self) -> Vec<VariableId> {
        let of_owned = self.owned.iter().flat_map(|owned| [owned.begin, owned.end]);
        let of_totals = self.totals.iter().map(|total| total.variable).chain(of_owned);
        let of_segments = match self.segments().and_then(|segments| segments.together.as_ref()) {
            Some(Together::Sum(sum)) => vec![sum.element, sum.value],
            Some(Together::Flags(flags)) => flags.iter().map(|flags| flags.flag).collect(),
            None => Vec::new(),
        };
        of_totals.chain(of_segments).collect()
    }

    /// The bytes of memory that the threads of a block share: one tile behind the other, or one array of a table, in whole words.
    pub fn shared(&self, kernel: &Kernel) -> Expr {
        let bytes = self.tiles.iter().map(|tile| tile.words(kernel).times(Expr::Index(WORD)));
        let of_tables = self.table_words(kernel).last().map_or(0, |(_, end)| end * WORD);
        bytes.fold(Expr::Index(of_tables), Expr::plus)
    }

    /// The arrays of the tables in the order in which they lie, and the count of keys of each table behind them (`None`), with the
    /// word behind each of them.
    pub(crate) fn table_words(&self, kernel: &Kernel) -> Vec<(Option<ArrayId>, u64)> {
        let Some(teams) = self.teams() else { return Vec::new() };
        let mut end = 0;
        let mut words = Vec::new();
        for table in &self.tables {
            for array in table.arrays() {
                end += (bytes(kernel, array) * teams.slots).div_ceil(WORD);
                words.push((Some(array), end));
            }
            end += COUNTS / WORD;
            words.push((None, end));
        }
        words
    }
}

/// The bytes of a constant as an element of an array; `None` where it is no constant of these.
pub fn constant_bytes(element: ArrayElement, value: &Expr) -> Option<Vec<u8>> {
    let bytes = match (element, value) {
        (ArrayElement::Index(width), Expr::Index(index)) => index.to_le_bytes()[..width.bytes()].to_vec(),
        (ArrayElement::Value(ElementType::Bool), Expr::Bool(value)) => vec![u8::from(*value)],
        (_, Expr::Literal(Literal::Float(ElementType::F64, value))) => value.to_le_bytes().to_vec(),
        (_, Expr::Literal(Literal::Float(ElementType::F32, value))) => (*value as f32).to_le_bytes().to_vec(),
        (_, Expr::Literal(Literal::Float(ElementType::C64, value))) => [value.to_le_bytes(), [0; 8]].concat(),
        (_, Expr::Literal(Literal::Float(ElementType::C32, value))) => [(*value as f32).to_le_bytes(), [0; 4]].concat(),
        (_, Expr::Literal(Literal::Integer(element, value))) => value.to_le_bytes()[..element.bytes()].to_vec(),
        _ => return None,
    };
    Some(bytes)
}
