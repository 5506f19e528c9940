//! The loop IR: typed, structured, target-free. Every target prints it, the interpreter runs it.
//!
//! # Meaning
//!
//! A [`Kernel`] declares dimensions, tensors, arrays and variables, and has a body of statements. Expressions are pure;
//! effects happen in statements only, in order. There are three types: `index` (an unsigned 64-bit integer: positions,
//! coordinates, extents), `bool`, and element types. An element of type `bool` is a `bool` like any other, so that what an
//! array of them holds is a condition; [`Type::of`] says so, and no expression is of type `Element(Bool)`.
//!
//! * **Dimensions** (`d0`) are the extents of index variables. Their sizes come with the call, or are constants. A
//!   **bound** says which computed index runs over a dimension: the host finds sizes by it and checks them.
//! * **Tensors** (`t0`) are what the caller hands in or gets back; the run time makes their arrays (see [`Source`]).
//! * **Arrays** (`a0`) hold coordinates and positions (an index width) or values (an element type). Loading an index
//!   array gives an `index`; storing an `index` narrows. An order-0 tensor is an array of one value. Arrays are parameters
//!   (role `Coordinates`, `Positions`, `Values`) or locals, made by [`Statement::Allocate`] or [`Statement::View`].
//! * **Variables** (`v0`) hold one value. [`Statement::Let`] declares one; only those declared `mutable` are assigned.
//! * **Appended arrays** (all arrays of an output whose structure is [`Structure::Appended`]) start empty and grow by
//!   [`Statement::Push`] and [`Statement::Extend`]. So do **lists**, local arrays made by [`Statement::List`], which can be
//!   cleared and sorted.
//! * **Tables** are local arrays made by [`Statement::Table`]. A table knows for the keys in a list where in the list they
//!   stand. How is the target's affair; only [`Statement::Insert`] and [`Statement::Reset`] mention it.
//! * **Bitmaps** are local arrays made by [`Statement::Bitmap`]: sets of keys, to which [`Statement::Mark`] adds one and which
//!   [`Statement::Marked`] goes through in order. Nothing else mentions them.
//! * **Directories** are local arrays made by [`Statement::Directory`], which only [`Statement::Merge`] mentions.
//! * **[`Statement::Parallel`]** cuts `begin..end` into chunks and runs its body once a chunk, in any order or at the same time.
//!   What the body writes and does not allocate itself must be named in `sharing` or `reductions`, which say how the
//!   chunks' writes come together. Nothing inside depends on how the range was cut. No chunk is empty.
//! * Arithmetic on `index` must not wrap: the verifier can't see it, the interpreter reports it.
//!
//! A reduction is a node with an operator, never a pattern.

mod build;
mod choice;
pub(crate) mod constant;
mod function;
#[doc(hidden)]
pub mod half;
mod index;
mod merge;
mod nameless;
#[doc(hidden)]
pub mod numbers;
mod operations;
mod ordered;
mod parse;
mod policy;
pub(crate) mod precedence;
mod print;
mod radix;
mod repetition;
pub mod tables;
mod term;
mod types;
pub(crate) mod vectors;
mod verify;
mod walk;

pub use choice::{Choice, Find, Simd, Tile};
pub use function::Function;
pub use index::{Affine, IndexExpr, IndexOperator, LARGEST_IN_INDEX};
pub use merge::{LookUp, Merge, Operands, Point, Walk, with_loops};
pub(crate) use merge::{UNEVEN, expand, expanded, is_of_two_runs};
pub use operations::{Binding, Effect, OPERATIONS, Operation, Part, PartMut, Place};
pub use ordered::Ordered;
pub use parse::{ParseError, parse};
pub use policy::{ChunkPolicy, Count, Weights};
pub use print::Shown;
pub use repetition::{Comparison, NotARule, Repetition, Rounds, Until};
pub use tables::{
    BinaryOperator, Combine, Definition, Domain, ElementKind, ElementType, Monoid, Precedence, ReduceOperator,
    UnaryOperator,
};
pub use term::{Factor, Term};
pub use vectors::Rows;
pub(crate) use verify::violations;
pub use verify::{Verified, Violation, verify};
pub(crate) use walk::{changed, declared, substitute};

use crate::format::{Format, IndexWidth, Role};
use std::collections::BTreeMap;
use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in the kernel's list.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// Names a dimension of a kernel: `d0`.
    DimensionId, "d");
id!(
    /// Names a tensor of a kernel: `t0`.
    TensorId, "t");
id!(
    /// Names an array of a kernel: `a0`.
    ArrayId, "a");
id!(
    /// Names a variable of a kernel: `v0`.
    VariableId, "v");

/// The type of an expression or variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    /// Positions, coordinates, extents.
    Index,
    /// Conditions.
    Bool,
    /// Values.
    Element(ElementType),
}

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayElement {
    /// Coordinates or positions.
    Index(IndexWidth),
    /// Values.
    Value(ElementType),
}

/// A kernel: what the host must provide and what to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The lines of its documentation.
    pub documentation: Vec<String>,
    /// Extents of index variables.
    pub dimensions: Vec<Dimension>,
    /// What must hold between dimensions for all computed indices to be inside.
    pub bounds: Vec<Bound>,
    /// What outputs are divided by, which are made of elements of their own.
    pub pivots: Vec<Pivot>,
    /// Inputs in the caller's order, then outputs in the caller's order, then sorted copies.
    pub tensors: Vec<Tensor>,
    /// Parameters first, in tensor order and within a tensor in level order (positions before coordinates), values last; then locals.
    pub arrays: Vec<Array>,
    /// Variables.
    pub variables: Vec<Variable>,
    /// Whether results have the same bits in every run: chunks of parallel loops follow from the work alone, for any number of
    /// threads.
    pub deterministic: bool,
    /// The loops that passes may expand, by their counters, until passes ran; loops that one is cut into share it.
    pub choices: BTreeMap<VariableId, Choice>,
    /// What to do.
    pub body: Vec<Statement>,
}

/// An input whose elements divide those of a dense output, or an output that others of its elements are divided by on its diagonal. Where
/// one is zero, as of a singular matrix, the output is not finite there, nor in what is made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pivot {
    /// The output.
    pub output: TensorId,
    /// The input, or the output itself.
    pub input: TensorId,
    /// The output's mode for each of the input's; none for a diagonal.
    pub modes: Vec<usize>,
}

/// The extent of an index variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dimension {
    /// The index variable's name, or one that no other dimension has.
    pub name: String,
    /// What messages call it: the index variable's name as the program writes it.
    pub written: String,
    /// Where its size comes from.
    pub size: Size,
}

/// Where the size of a dimension comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// With the call.
    Runtime,
    /// It is this number: the kernel is for it alone.
    Constant(u64),
    /// With the call, but known where the target's compiler runs (a const generic in Rust, a macro in CUDA).
    Generic,
}

/// A computed index of a tensor's mode: its values must lie below the mode's size. Where a size is not known otherwise, the
/// host takes the largest that keeps all indices inside. One that is only a number, as the place of a greatest value, must be
/// one that can be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The dimension of the mode; `None`: it is only a number.
    pub dimension: Option<DimensionId>,
    /// The index; a dimension stands for every index below its size.
    pub index: IndexExpr<DimensionId>,
}

/// A tensor that crosses the kernel's border.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: ElementType,
    /// Its storage.
    pub format: Format,
    /// The extent of each mode.
    pub dimensions: Vec<DimensionId>,
    /// What an entry is that is not stored.
    pub fill: Literal,
    /// Where it comes from.
    pub source: Source,
    /// The input before it at whose entries' places an input's own are, as each call makes sure: its index arrays are no
    /// parameters.
    pub pattern: Option<TensorId>,
    /// The format that the caller gets an output in, where it is not the one that the kernel writes: the same entries,
    /// converted when the kernel is done.
    pub delivered: Option<Format>,
    /// How entries of equal coordinates come together when an output is delivered that lists entries in any order.
    pub listed: Option<ReduceOperator>,
}

impl Tensor {
    /// Whether the array of coordinates at a level holds positions of another tensor's entries.
    pub fn is_order_of_entries(&self, level: usize) -> bool {
        matches!(self.source, Source::Permutation { .. }) && level == self.format.level_of_entries()
    }
}

/// Where a tensor comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The caller hands it in.
    Input,
    /// The run time makes it from an input before the kernel starts: the same entries in this tensor's format.
    SortedCopy {
        /// The input.
        of: TensorId,
    },
    /// The run time finds in which order this tensor's format has the entries of an input: its levels down to that of the entries are
    /// stored, where that holds the positions of the input's entries instead of coordinates ([`Tensor::is_order_of_entries`]). These and
    /// the values are read from the input.
    Permutation {
        /// The input.
        of: TensorId,
    },
    /// The caller gets it back.
    Output {
        /// How its index arrays come about.
        structure: Structure,
        /// What its values hold when the kernel starts.
        initial: Initial,
    },
}

/// How the index arrays of an output come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// It has none: every level is dense.
    Dense,
    /// The index arrays of its first `levels` levels are those of `operand`; its further levels are dense. Only its
    /// values are an array of the kernel.
    Shared {
        /// Whose arrays it shares.
        operand: TensorId,
        /// How many levels.
        levels: usize,
    },
    /// The kernel appends to all its arrays, which start empty.
    Appended,
}

/// What an output's values hold when the kernel starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Initial {
    /// This value, each.
    Filled(Literal),
    /// Anything: the kernel writes every one.
    Overwritten,
    /// Nothing: appended.
    Empty,
}

/// An array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    /// A readable name, such as `X2_crd`; unique among the kernel's arrays.
    pub name: String,
    /// What it holds.
    pub element: ArrayElement,
    /// What it is for.
    pub role: ArrayRole,
}

/// What an array is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArrayRole {
    /// Where the children of each position of the level above begin and end: one more than there are parents.
    Positions {
        /// Whose.
        tensor: TensorId,
        /// At which level.
        level: usize,
    },
    /// The coordinates of a level.
    Coordinates {
        /// Whose.
        tensor: TensorId,
        /// At which level.
        level: usize,
    },
    /// The values.
    Values {
        /// Whose.
        tensor: TensorId,
    },
    /// Made by an [`Statement::Allocate`], [`Statement::View`], [`Statement::Numbers`], [`Statement::List`],
    /// [`Statement::Table`], [`Statement::Bitmap`] or [`Statement::Directory`].
    Local,
}

impl ArrayRole {
    /// The array of a level that has a role there.
    pub fn of_level(role: Role, tensor: TensorId, level: usize) -> Self {
        match role {
            Role::Positions => ArrayRole::Positions { tensor, level },
            Role::Coordinates => ArrayRole::Coordinates { tensor, level },
        }
    }

    /// The tensor it belongs to.
    pub fn tensor(self) -> Option<TensorId> {
        match self {
            ArrayRole::Positions { tensor, .. }
            | ArrayRole::Coordinates { tensor, .. }
            | ArrayRole::Values { tensor } => Some(tensor),
            ArrayRole::Local => None,
        }
    }
}

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// A readable name; several variables may share one.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Whether [`Statement::Assign`] and [`Statement::Update`] may change it.
    pub mutable: bool,
}

/// A pure expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// An `index` constant.
    Index(u64),
    /// A truth value.
    Bool(bool),
    /// A value, as Rust prints it: `0.0`, `1e-3`, `inf`, `NaN`, `3`, `true`.
    Literal(Literal),
    /// A variable's value.
    Variable(VariableId),
    /// The size of a dimension, an `index`.
    Dimension(DimensionId),
    /// The number of elements of an array, an `index`.
    Length(ArrayId),
    /// An element of an array.
    Load(ArrayId, Box<Expr>),
    /// An operator before one operand.
    Unary(UnaryOperator, Box<Expr>),
    /// An operator between two operands of the same type.
    Binary(BinaryOperator, Box<Expr>, Box<Expr>),
    /// A function of values, all of one type.
    Call(Function, Vec<Expr>),
    /// The second where the first is true, else the third.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// Conversion, as Rust's `as`.
    Cast(Type, Box<Expr>),
    /// The first of the positions `begin`, `begin + stride`, … before `end` of an index array, in which the elements there ascend,
    /// whose element is not below `value`; `end` if none is. From `begin` to `end` is a multiple of `stride`.
    Search {
        /// The array.
        array: ArrayId,
        /// Where to begin.
        begin: Box<Expr>,
        /// Where to end.
        end: Box<Expr>,
        /// What to look for.
        value: Box<Expr>,
        /// How far a position is from the next; 1 in most.
        stride: u64,
        /// What is found there.
        find: Find,
    },
    /// An `index` with ones where one of several numbers has its bits when those of all are interleaved, as
    /// [`interleave`](crate::format::interleave) says. They must need no more than 64 bits together.
    Mask {
        /// The place of the number among them.
        part: usize,
        /// One more than the largest that each of them may be.
        extents: Vec<Expr>,
    },
    /// The terms of all places of runs combined, in any order: of the first place, of the second, and so on. All runs are of one
    /// length; where that is none, it is the operator's identity. Sums of floating point numbers lose nothing, however long.
    Fold(ReduceOperator, Box<Term>),
}

/// The text of what numbers of two bytes are, for kernels that are compiled without this crate.
#[doc(hidden)]
pub const HALF_TEXT: &str = include_str!("half.rs");

/// The text of what numbers do at the ends of their range, for the same.
#[doc(hidden)]
pub const NUMBERS_TEXT: &str = include_str!("numbers.rs");

/// A value of an element type.
#[derive(Debug, Clone, Copy)]
pub enum Literal {
    /// Also for `f32`, exactly representable there; of a complex type, a real number.
    Float(ElementType, f64),
    /// Of an integer type.
    Integer(ElementType, i128),
}

impl PartialEq for Literal {
    /// By bits: NaN equals NaN, and zero differs from negative zero.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Literal::Float(a, x), Literal::Float(b, y)) => a == b && x.to_bits() == y.to_bits(),
            (Literal::Integer(a, x), Literal::Integer(b, y)) => a == b && x == y,
            _ => false,
        }
    }
}

impl Eq for Literal {}

impl Literal {
    /// `value` as a literal; `None` for what the element type can't hold.
    pub fn new(element: ElementType, value: f64) -> Option<Self> {
        let range = match element.kind() {
            ElementKind::Float | ElementKind::Complex => {
                return Some(Literal::Float(element.computed(), element.stored(value)));
            }
            // Whole numbers that `f64` has exactly.
            _ if element.bytes() == 8 => -9_007_199_254_740_992.0..=9_007_199_254_740_992.0,
            _ => element.range().0 as f64..=element.range().1 as f64,
        };
        (range.contains(&value) && value.fract() == 0.0).then_some(Literal::Integer(element, value as i128))
    }

    /// Its element type.
    pub fn element(self) -> ElementType {
        match self {
            Literal::Float(element, _) | Literal::Integer(element, _) => element,
        }
    }

    /// Zero, or `false`, of the same element type.
    pub fn zero(self) -> Literal {
        self.element().zero()
    }

    /// Whether it is the same value: zeros of either sign are, and so is NaN.
    pub fn equals(self, other: Literal) -> bool {
        match (self, other) {
            (Literal::Float(a, x), Literal::Float(b, y)) => a == b && (x == y || x.is_nan() && y.is_nan()),
            (one, other) => one == other,
        }
    }

    /// Whether it is the zero with a sign.
    pub fn is_negative_zero(self) -> bool {
        matches!(self, Literal::Float(_, value) if value == 0.0 && value.is_sign_negative())
    }

    /// Whether it is NaN.
    pub fn is_nan(self) -> bool {
        matches!(self, Literal::Float(_, value) if value.is_nan())
    }

    /// Whether it is an infinity. A complex number is none: what it absorbs has two parts.
    pub fn is_infinite(self) -> bool {
        matches!(self, Literal::Float(element, value) if value.is_infinite() && !element.is_complex())
    }

    /// Whether it is zero (of either sign) or `false`.
    pub fn is_zero(self) -> bool {
        match self {
            Literal::Float(_, value) => value == 0.0,
            Literal::Integer(_, value) => value == 0,
        }
    }

    /// Whether it is neither an infinity nor NaN.
    pub fn is_finite(self) -> bool {
        match self {
            Literal::Float(_, value) => value.is_finite(),
            Literal::Integer(..) => true,
        }
    }

    /// Whether it is one or `true`.
    pub fn is_one(self) -> bool {
        match self {
            Literal::Float(_, value) => value == 1.0,
            Literal::Integer(_, value) => value == 1,
        }
    }
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// A line for the reader of the generated code.
    Comment(String),
    /// Declares a variable and gives it its value.
    Let(VariableId, Expr),
    /// Gives a mutable variable another value.
    Assign(VariableId, Expr),
    /// `variable = variable operator value`
    Update(VariableId, ReduceOperator, Expr),
    /// `array[index] = value`
    Store(ArrayId, Expr, Expr),
    /// `array[index] = array[index] operator value`
    Reduce(ArrayId, Expr, ReduceOperator, Expr),
    /// Makes a local array of `length` elements, all `fill`.
    Allocate {
        /// Which; declared with role `Local`.
        array: ArrayId,
        /// How many elements.
        length: Expr,
        /// Their first value.
        fill: Expr,
    },
    /// Sets the elements of an array to totals of terms.
    Folds {
        /// The array; not empty, where nothing says what each total is between.
        totals: ArrayId,
        /// An [`Expr::Fold`].
        terms: Expr,
        /// An index array of one element more than there are totals, ascending: the `n`-th total is that of the terms at the places
        /// from its `n`-th element up to the next. `None`: the places are a multiple of the totals, and of `n` totals the first is that of
        /// places 0, n, 2n, …, in this order.
        between: Option<ArrayId>,
    },
    /// Sets every element of a local array.
    Fill(ArrayId, Expr),
    /// Gives `of[begin..begin + length]` a name for the rest of the block. While a mutable view is in scope, `of` itself
    /// is not touched; another view of `of` in the same block ends it.
    View {
        /// The name; declared with role `Local`.
        array: ArrayId,
        /// The array that is viewed.
        of: ArrayId,
        /// Its first element.
        begin: Expr,
        /// How many.
        length: Expr,
        /// Whether elements are written through it.
        mutable: bool,
    },
    /// Gives the numbers in interleaved codes a name for the rest of the block: an array of as many, whose `n`-th element is
    /// `gather(codes[n], mask)`. All of them must be below a bound: an engine checks each here, or where it is read.
    Numbers {
        /// The name; an index array declared with role `Local`.
        array: ArrayId,
        /// An index array of a constant length.
        codes: ArrayId,
        /// Where the bits of the numbers are.
        mask: Expr,
        /// More than each of the numbers.
        below: Expr,
    },
    /// Makes an empty local array that grows.
    List(ArrayId),
    /// Makes an empty table of keys below `extent`.
    Table {
        /// Which; an index array declared with role `Local`.
        table: ArrayId,
        /// One more than the largest key that may come.
        extent: Expr,
    },
    /// Makes a directory of a level: where under each parent each coordinate stands. A target may do without.
    Directory {
        /// Which; an index array declared with role `Local`.
        directory: ArrayId,
        /// The positions of the level.
        positions: ArrayId,
        /// Its coordinates.
        coordinates: ArrayId,
        /// One more than the largest coordinate that may come.
        extent: Expr,
        /// As many as this array's elements are going to be looked for.
        sought: ArrayId,
    },
    /// Declares `place`, where in the list `keys` the `key` stands. If it is not there, it is appended. A target may append it
    /// also if it is, where that costs less than to find it: equal keys are not told apart, and meet by a
    /// [`Statement::Sort`] at the latest.
    Insert {
        /// The variable; an immutable index.
        place: VariableId,
        /// What to look for.
        key: Expr,
        /// A list of indices, all of which came by this statement since the last [`Statement::Reset`].
        keys: ArrayId,
        /// The table that knows their places.
        table: ArrayId,
    },
    /// Sorts a list of indices, ascending; equal ones stay in the order that they had. Then `places`, also a list, holds for
    /// each the place where it stood.
    Sort {
        /// The list.
        keys: ArrayId,
        /// Where its elements come from; what it held before is gone.
        places: ArrayId,
        /// The table that knows the keys, where one does: it may know their order too.
        table: Option<ArrayId>,
    },
    /// Forgets the elements of a list.
    Clear(ArrayId),
    /// Forgets the keys of a list, which may have been sorted, and what the table knows of them.
    Reset {
        /// The list.
        keys: ArrayId,
        /// Its table.
        table: ArrayId,
    },
    /// Makes an empty set of keys below `extent`.
    Bitmap {
        /// Which; an index array declared with role `Local`.
        bitmap: ArrayId,
        /// One more than the largest key that may come.
        extent: Expr,
    },
    /// Adds a key to a set, unless it is there.
    Mark(ArrayId, Expr),
    /// For each key of a set, ascending. Then the set is empty. The body does not mention it.
    Marked {
        /// The key.
        variable: VariableId,
        /// The set.
        bitmap: ArrayId,
        /// What to do.
        body: Vec<Statement>,
    },
    /// Appends one element to an appended array or a list.
    Push(ArrayId, Expr),
    /// Appends `count` elements `fill` to an appended array or a list.
    Extend {
        /// The array.
        array: ArrayId,
        /// How many.
        count: Expr,
        /// Which.
        fill: Expr,
    },
    /// For each `variable` in `begin..end`, ascending.
    For {
        /// The counter.
        variable: VariableId,
        /// Its first value.
        begin: Expr,
        /// One past its last.
        end: Expr,
        /// Whether iterations are independent but for reductions into distinct elements: SIMD on a CPU, lanes on a GPU.
        vector: bool,
        /// What to do.
        body: Vec<Statement>,
    },
    /// While the condition holds.
    While(Expr, Vec<Statement>),
    /// Visits the coordinates of several lists, each once, in order. There the first point is done all of whose lists have the coordinate, or
    /// nothing. A list has the places `begin..end` of ascending coordinates, which are `at` each place. A merge of one point that needs all
    /// lists is an intersection. A target that has nothing better has loops ([`with_loops`]).
    Merge(Merge),
    /// The first branch whose condition holds, else the last block.
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    /// Runs the body for chunks of a range, in any order or at the same time.
    Parallel(Box<Parallel>),
}

/// A parallel loop over chunks of a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Parallel {
    /// The whole range.
    pub begin: Expr,
    /// One past its last.
    pub end: Expr,
    /// Set to each chunk's first place.
    pub low: VariableId,
    /// Set to one past each chunk's last place.
    pub high: VariableId,
    /// How much work lies before a place, ascending: chunks get load-balanced parts of it. `None`: a place is a unit of work.
    pub work: Option<Work>,
    /// A chunk never begins between two equal elements of this array, which is indexed by the range.
    pub aligned: Option<ArrayId>,
    /// Whether a chunk appends to no array more elements than it has work, where the array holds no positions.
    pub is_bounded: bool,
    /// How writes to arrays from outside come together.
    pub sharing: Vec<(ArrayId, Sharing)>,
    /// Mutable variables from outside that the body only [`Statement::Update`]s: each chunk starts from the identity, and the
    /// results are combined in the order of the chunks.
    pub reductions: Vec<(VariableId, ReduceOperator)>,
    /// What a chunk does.
    pub body: Vec<Statement>,
    /// Does the same over another range, for where single places of this one have so much work that its chunks have no equal
    /// shares. A target weighs the chunks and chooses; it may as well ignore this.
    pub uneven: Option<Box<Parallel>>,
}

/// The work before a place of a parallel range.
#[derive(Debug, Clone, PartialEq)]
pub struct Work {
    /// Stands for the place, `begin..=end`; not read where the range has no place.
    pub place: VariableId,
    /// How much work lies before it.
    pub before: Expr,
    /// Whether that is all: else a place is a unit of work beside, also where there is none before the next.
    pub is_all: bool,
}

/// How the writes of several chunks to one array come together.
#[derive(Debug, Clone, PartialEq)]
pub enum Sharing {
    /// Chunks write distinct, ascending parts: a chunk that begins at `place` writes from `start` on, up to where the next begins.
    Owned {
        /// Stands for a chunk's first place. It is never `end`.
        place: VariableId,
        /// The first element that such a chunk may touch.
        start: Expr,
    },
    /// Chunks reduce into ascending segments of `length` elements, and neighbours may meet in one: a chunk that begins at `place`
    /// touches elements from `start` on, up to where the next begins, and the segment that begins there. Where segments
    /// meet they are combined; nothing else is synchronised.
    Segmented {
        /// Stands for a chunk's first place. It is never `end`.
        place: VariableId,
        /// The first element of the segment that such a chunk begins in.
        start: Expr,
        /// How many elements a segment has; the same everywhere.
        length: Expr,
        /// How what meets is combined.
        operator: ReduceOperator,
        /// Whether all elements of the array are the operator's identity at first, whatever they were.
        anew: bool,
    },
    /// Each chunk has a copy that starts from the operator's identity; the copies are combined into the array.
    Private(ReduceOperator),
    /// Each chunk appends to an empty array of its own; they are joined in order. Where the elements are positions into another
    /// appended array, a chunk's elements grow by the length of what earlier chunks appended to it.
    Joined {
        /// The array that the elements are positions of.
        positions_of: Option<ArrayId>,
    },
}

impl Parallel {
    /// A loop over `begin..end`, of which every place is a unit of work, whose chunks share nothing.
    pub fn over(begin: Expr, end: Expr, low: VariableId, high: VariableId, body: Vec<Statement>) -> Self {
        Self {
            begin,
            end,
            low,
            high,
            work: None,
            aligned: None,
            is_bounded: false,
            sharing: Vec::new(),
            reductions: Vec::new(),
            body,
            uneven: None,
        }
    }
}

impl Kernel {
    /// The declaration of a dimension.
    pub fn dimension(&self, id: DimensionId) -> &Dimension {
        &self.dimensions[id.index()]
    }

    /// The declaration of a tensor.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.index()]
    }

    /// The declaration of an array.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.index()]
    }

    /// The declaration of a variable.
    pub fn variable(&self, id: VariableId) -> &Variable {
        &self.variables[id.index()]
    }

    /// The arrays that the host passes, in order.
    pub fn parameters(&self) -> impl Iterator<Item = (ArrayId, &Array)> {
        let ids = (0u32..).map(ArrayId);
        ids.zip(&self.arrays).filter(|(_, array)| array.role != ArrayRole::Local)
    }

    /// Whether a tensor is one of the kernel's results.
    pub fn is_output(&self, id: TensorId) -> bool {
        matches!(self.tensor(id).source, Source::Output { .. })
    }

    /// Whether an array is of one of the kernel's operands, which no statement changes.
    pub fn is_of_input(&self, array: ArrayId) -> bool {
        self.array(array).role.tensor().is_some_and(|tensor| !self.is_output(tensor))
    }

    /// Whether the schedule lets the reduction by the loop with a counter be vectorized so.
    pub(crate) fn allows(&self, counter: VariableId, simd: Simd) -> bool {
        self.choices.get(&counter).is_none_or(|choice| choice.allows(simd))
    }

    /// The tiles that the schedule asks for in the loop with a counter.
    pub(crate) fn tile(&self, counter: VariableId) -> Option<Tile> {
        self.choices.get(&counter)?.tile
    }

    /// Notes how the reduction by a loop was vectorized.
    pub(crate) fn vectorized(&mut self, counter: VariableId, simd: Simd) {
        if let Some(choice) = self.choices.get_mut(&counter) {
            choice.vectorized = Some(simd);
        }
    }

    /// Notes how the rows of a loop were cut.
    pub(crate) fn tiled(&mut self, counter: VariableId, tile: Tile) {
        if let Some(choice) = self.choices.get_mut(&counter) {
            choice.tiled = Some(tile);
        }
    }

    /// What the kernel's views show.
    pub fn views(&self) -> Views {
        Views::of(&self.body)
    }

    /// The variables that are declared as the lesser of something and a number, with that number: none is larger.
    pub(crate) fn bounded(&self) -> BTreeMap<VariableId, u64> {
        let mut bounded = BTreeMap::new();
        let mut see = |statement: &Statement| {
            if let Statement::Let(variable, Expr::Binary(BinaryOperator::Minimum, _, most)) = statement
                && let Expr::Index(most) = **most
                && !self.variable(*variable).mutable
            {
                bounded.insert(*variable, most);
            }
        };
        self.body.iter().for_each(|statement| statement.for_each(&mut see));
        bounded
    }
}

/// For each view of a kernel, the array that it shows elements of, which is no view.
#[derive(Clone, Debug, Default)]
pub struct Views(BTreeMap<ArrayId, ArrayId>);

impl Views {
    /// What the views in some statements show.
    pub fn of(statements: &[Statement]) -> Views {
        let mut views = Views::default();
        statements.iter().for_each(|statement| {
            statement.for_each(&mut |statement| {
                if let Statement::View { array, of, .. } = statement {
                    // A view is declared before the views of it.
                    views.0.insert(*array, views.source(*of));
                }
            });
        });
        views
    }

    /// The array that the elements of an array are stored in: itself, if it is no view.
    pub fn source(&self, array: ArrayId) -> ArrayId {
        self.0.get(&array).copied().unwrap_or(array)
    }
}
