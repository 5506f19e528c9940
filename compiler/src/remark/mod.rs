//! What was decided, and why: data, as errors are. The words are in `words` alone.
//!
//! A [`Remark`] is made where a decision is taken, with the numbers, names and costs that it was taken from. It prints in two ways:
//! as a sentence and its reason for `spc explain`, and, where a schedule can ask for the same, as the directive that does.

mod directive;
mod words;

/// A decision and its reason, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub what: String,
    /// Why.
    pub why: String,
}

/// What a value reduced several times comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosedForm {
    /// The value, if there is one at all.
    Once,
    /// The value times their count.
    Times,
    /// The value to the power of their count.
    Power,
}

/// A decision and its reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// What was decided.
    pub what: What,
    /// Why.
    pub why: Why,
}

impl Remark {
    /// A decision and its reason.
    pub fn new(what: What, why: Why) -> Self {
        Self { what, why }
    }
}

impl From<&Remark> for Decision {
    fn from(remark: &Remark) -> Self {
        Decision { what: remark.what.to_string(), why: remark.why.to_string() }
    }
}

/// What was decided. Names are those of tensors, loops and workspaces; expressions are as they print.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// A temporary is not made: its value is computed where it is read.
    Inlined(String),
    /// A temporary is made, in this format; a scalar has none.
    Materialized(String, Option<String>),
    /// A part of a statement is made first, as a temporary of this name.
    CutOff(String),
    /// A temporary is computed only where another tensor has entries.
    Sampled(String, String),
    /// What a loop does where no operand has an entry is done at once.
    AtOnce(String),
    /// Operands are walked by the levels that they store.
    Walked {
        /// Whose.
        tensors: Vec<String>,
        /// How they are stored.
        format: String,
        /// The variable of each level.
        levels: Vec<String>,
    },
    /// An operand is read by its fibers.
    InFibers(String),
    /// An operand is read from a copy in a format that loops walk.
    Converted(String),
    /// The stored entries of a symmetric operand are walked, with the updates of all that follow from each.
    WalkedOnce(String),
    /// An operand is read from a copy whose levels are in another order.
    Transposed {
        /// Its name.
        tensor: String,
        /// The variable of each level of the copy.
        order: Vec<String>,
    },
    /// An operand's entries are read in another order, where they are.
    Permuted {
        /// Its name.
        tensor: String,
        /// The variables by which they are sorted.
        order: Vec<String>,
    },
    /// The entries of the first are walked for the second.
    SamePattern(String, String),
    /// How the index arrays of a result come about.
    Assembled(String, Assembly),
    /// A result is computed in one format and converted into that which the caller gets.
    Delivered {
        /// Its name.
        tensor: String,
        /// What it is computed in.
        computed: String,
        /// What the caller gets.
        delivered: String,
    },
    /// How the entries of an appended result come.
    Entries(String, Entries),
    /// What a workspace whose entries come in any order is stored in.
    Workspace {
        /// Its name.
        name: String,
        /// The variables that it is over.
        over: Vec<String>,
        /// What it is stored in.
        storage: Storage,
    },
    /// The innermost loop runs in vector lanes.
    Vector(String),
    /// How a loop that reduces is vectorized.
    Simd(String, crate::ir::Simd),
    /// How rows are cut into tiles.
    Tiled(String, crate::ir::Tile),
    /// A directive that changes nothing.
    Unused(String),
    /// A sum for each of these variables is kept while blocks are walked.
    BlockSums(Vec<String>),
    /// Rows in chunks, and an outer loop for each chunk.
    Chunks {
        /// The loop over rows.
        rows: String,
        /// How many rows a chunk has.
        by: u64,
        /// The loop that runs for each chunk.
        outer: String,
        /// The loops over chunks and inside of one.
        parts: [String; 2],
    },
    /// A reduction comes first, and what it does not depend on is combined with its result.
    ReducedFirst {
        /// The loop.
        variable: String,
        /// Whether it is a sum, and so what follows a product.
        is_sum: bool,
        /// The factors that follow.
        factors: Vec<String>,
    },
    /// A product is formed before a loop.
    FormedBefore {
        /// Of what.
        factors: Vec<String>,
        /// The loop.
        variable: String,
    },
    /// A part is formed in a workspace that the schedule asks for.
    Precomputed {
        /// The part.
        part: String,
        /// What the workspace is over.
        over: Vec<String>,
        /// The loops outside of it.
        outside: Vec<String>,
    },
    /// What a loop reduces is kept in an accumulator, and stored when the loop is done.
    Accumulated {
        /// The loop.
        variable: String,
        /// The accumulator.
        name: String,
        /// The variables that it is over.
        over: Vec<String>,
    },
    /// The order of a nest's loops, outermost first.
    Reordered(Vec<String>),
    /// An operand is read from a copy.
    Copied {
        /// Its name.
        tensor: String,
        /// The index of each level of the copy.
        order: Vec<String>,
    },
    /// The range of a loop is cut into chunks that run in parallel.
    Parallel {
        /// The loop.
        variable: String,
        /// The operand whose load-balanced partition is taken where chunks are uneven.
        balanced: Option<String>,
    },
    /// A loop does not run in parallel.
    Serial(String),
    /// The parts of a load-balanced partition of an operand's positions run in parallel.
    Shares {
        /// The operand as it is read.
        operand: String,
        /// Where they are of stored entries, without other loops around: the loop that they stand in for, and the operand's name.
        of_entries: Option<[String; 2]>,
        /// How many positions a block has, where shares are of blocks.
        by: Option<u64>,
    },
    /// A load-balanced partition of positions stands in for chunks of a loop that turn out uneven.
    BalancedWhereUneven {
        /// The loop.
        variable: String,
        /// The operand as it is read.
        operand: String,
    },
    /// How what chunks or shares write meets in a result.
    Meeting(String, Meeting),
    /// Results have the same bits in every run.
    Deterministic,
}

/// How the index arrays of a result come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assembly {
    /// It has none.
    Dense,
    /// They are an operand's.
    Shared(String),
    /// They are appended.
    Appended,
}

/// How the entries of an appended result come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entries {
    /// In the order of the loops.
    InOrder,
    /// In order of some loops, and through a workspace over the others.
    Through {
        /// The loops in order.
        outer: Vec<String>,
        /// What the workspace is over.
        inner: Vec<String>,
    },
    /// Listed as they come, and sorted at the end.
    Listed,
}

/// What a workspace whose entries come in any order is stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// Dense values and a bitmap; a table where the values take more than so many bytes for each thread.
    Bitmap(u64),
    /// Dense values and a flag for each.
    Flags,
    /// A table that finds entries.
    Table,
    /// A list that is sorted.
    List,
}

/// How what chunks or shares write meets in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meeting {
    /// Chunks append on their own.
    Joined,
    /// Chunks own distinct parts.
    Owned,
    /// Shares write distinct parts.
    OwnedByShares,
    /// Chunks write in order, and meet in rows at their ends.
    RowsAtEnds,
    /// Shares write in order, and meet in segments at their ends.
    Segments,
    /// A copy for each thread; the copies are combined.
    Copies,
    /// The same with sums, where the copies are added.
    CopiesAdded,
    /// The same with another operator.
    CopiesReduced(crate::ir::ReduceOperator),
}

/// What would be done again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A sum.
    Sum,
    /// Functions.
    Functions,
}

/// Why something was decided.
#[derive(Debug, Clone, PartialEq)]
pub enum Why {
    /// The schedule asks for it.
    Asked,
    /// An element is made of those that have been assigned before.
    Recurrent,
    /// How terms of a reduction lie.
    Vectorized(crate::ir::Simd),
    /// Whether rows fit into registers.
    Registers(crate::ir::Tile),
    /// A GPU's threads are its lanes.
    ThreadsAreLanes,
    /// The schedule asks for a loop over positions.
    PositionsAsked,

    /// A sum in a register is not stored in each iteration.
    NotStoredEachTime,
    /// Levels that are walked or appended ask for it, or that is the order of the result.
    LevelsInOrder,

    /// All terms of a reduction are alike where operands have no entry.
    SameElsewhere {
        /// The operands.
        operands: Vec<String>,
        /// A term there.
        value: String,
        /// What they come to.
        closed: ClosedForm,
    },
    /// What a loop does where no operand has an entry does not depend on its index.
    SameWithoutEntries,
    /// How many terms are not stored follows from how many are.
    CountsEntries,
    /// No other element of a temporary is read.
    ReadThere,

    // Temporaries.
    /// Its value takes few operations.
    FewOperations,
    /// It is read once, and its work is done no more often there.
    OnceThere(Work),
    /// Fusing is switched off.
    NotFused,
    /// It has a declared format.
    FormatDeclared,
    /// It goes from one round of a `repeat` to the next, or from what is before the rounds to them, or behind.
    Crosses,
    /// A mask chooses its entries.
    Masked,
    /// Its indices are computed where it is made.
    ComputedWhereMade,
    /// Nothing else knows the extent of an index.
    OwnIndex,
    /// It takes the extent of an index for which there is another where it is read.
    CountsIndex,
    /// It is compared with a reduction of its values.
    Compared,
    /// It is read where entries come to computed indices.
    ReadWhereScattered,
    /// It is a mask.
    IsMask,
    /// It is read at a computed index, so that work is done again.
    ReadAtComputed(Work),
    /// It is read inside of a loop, where work is done again.
    RepeatedOver(Work, String),
    /// It is read so many times, and work is done again each time.
    ReadTimes(Work, usize),
    /// The statement would get too long.
    TooLong,
    /// Too many operands would meet.
    TooManyMeet,
    /// A sum would be formed again for each entry.
    FormedAgain,
    /// So many operands have too many cases.
    TooManyCases(usize),

    // Operands.
    /// All other operands are dense.
    OthersDense,
    /// All other operands and the result are dense.
    AnyOrder,
    /// Entries at the same indices store the same coordinates.
    SameCoordinates,
    /// Loops do not walk a format.
    NotWalked(String),
    /// A symmetric operand does not store all entries, and they are met by others here, or no two make the same update.
    StoredOnce,
    /// Each stored entry of a symmetric operand stands for others, and makes so many updates.
    Exchanges(usize),
    /// The storage order is against that of the loops.
    AgainstLoops,
    /// The result has entries where the copy has them.
    LendsArrays,
    /// Chunks of the result have entries of their own.
    OwnEntries,
    /// Loops search it, which has coordinates side by side.
    SearchedInFibers,
    /// Entries are at the same places.
    SamePlaces,

    // Results.
    /// Every level of the result is dense.
    AllDense,
    /// The result has an entry where this operand has one.
    EntriesOf(String),
    /// The result has an entry for each fiber of the operand.
    EntryForEachFiber,
    /// No operand has the structure of the result.
    NoStructure,
    /// Loops do not write a format.
    NotWritten(String),
    /// What each way costs in steps; infinite where it is not possible.
    Steps {
        /// With loops in the order of the result.
        in_order: f64,
        /// Through a workspace.
        through: f64,
        /// As a list.
        listed: f64,
    },
    /// What each storage of a workspace costs in steps, each time it is filled.
    Collected {
        /// How many terms come.
        terms: f64,
        /// In how many entries they meet.
        entries: f64,
        /// With a bitmap; infinite where there is none.
        bitmap: f64,
        /// With a table.
        table: f64,
        /// With a list.
        list: f64,
    },
    /// Threads of a device have no lists that grow.
    NothingGrows,

    // Loops.
    /// A variable is dense wherever it is an index.
    DenseAlong(String),
    /// Blocks have a constant size.
    ConstantBlocks,
    /// Each iteration of one loop comes by the same values of another.
    ComesAgain {
        /// The one.
        outer: String,
        /// The other.
        rows: String,
    },
    /// A factor does not change in a sum.
    FactorIsFixed,
    /// A product does not change in a loop.
    ProductIsFixed,

    // Parallel loops.
    /// It is the outermost loop.
    Outermost,
    /// Positions are the outermost loop, and runs of them may be cut.
    OutermostRuns,
    /// A chunk has whole values of a variable.
    WholeValues(String),
    /// Entries come in order.
    InOrder,
    /// A variable comes in any order.
    ComesInAnyOrder(String),
    /// A variable is the outermost level of the result.
    IsOutermostLevel(String),
    /// A variable numbers the outermost level of the result with another.
    NumbersOutermostLevel(String),
    /// A variable numbers both outermost levels of the result.
    NumbersBothLevels(String),
    /// Chunks would write the same places, and no operator leaves what is there at first as it is.
    NothingCombines {
        /// The result.
        result: String,
        /// What it holds at first.
        fill: String,
    },
    /// A variable goes through blocks of the outermost level.
    GoesThroughBlocks(String),
    /// Chunks of a variable write the same places.
    SamePlacesWritten {
        /// The variable.
        variable: String,
        /// The result.
        result: String,
    },
    /// Each position has its own element.
    OwnElement,
    /// Entries are sorted by the indices of the result.
    SortedByResult,
    /// Entries of all shares meet.
    AllMeet,
    /// The work alone says how loops are cut.
    CutByWork,
}
