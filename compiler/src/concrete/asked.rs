//! What a `schedule` block asks for.

use super::{Access, Expr, IndexVariable, TensorId};
use crate::diagnostics::Span;
use crate::ir::{Simd, Tile};

/// What a schedule block asks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// Each pair's first is an outer loop of its second.
    pub order: Vec<(IndexVariable, IndexVariable)>,
    /// The loops to run in parallel instead of the outermost.
    pub parallel: Vec<IndexVariable>,
    /// The loop to run in vector lanes.
    pub vector: Vec<IndexVariable>,
    /// The loops to write out.
    pub unrolled: Vec<IndexVariable>,
    /// How loops that reduce are to be vectorized, and where that is asked; the last word counts.
    pub simd: Vec<(IndexVariable, Simd, Span)>,
    /// The tiles of rows, and where they are asked for; the last word counts.
    pub tiles: Vec<(IndexVariable, Tile, Span)>,
    /// Loops over what is stored that have names of their own.
    pub chains: Vec<Chain>,
    /// What is computed before it is used.
    pub parts: Parts,
    /// How chunks are to meet in results, and where that is asked.
    pub outputs: Vec<(TensorId, Output, Span)>,
    /// What chunks are to have alike, and where that is asked.
    pub balances: Vec<(IndexVariable, Balance, Span)>,
    /// Operands that are to be read from copies, or not to be.
    pub copies: Vec<AskedCopy>,
    /// Operands whose stored levels are to be walked, or not to be.
    pub walks: Vec<AskedWalk>,
    /// How results are to be assembled.
    pub assemblies: Vec<AskedAssembly>,
    /// What workspaces are to be stored in.
    pub storages: Vec<AskedStorage>,
    /// What is to be accumulated over a loop, or not to be.
    pub sums: Vec<AskedSum>,
    /// Parallel loops for which load-balanced partitions of an operand are to stand in.
    pub balanced: Vec<(IndexVariable, TensorId, Span)>,
    /// Loops that are not to run in parallel.
    pub serial: Vec<IndexVariable>,
    /// Rows that are to be cut into chunks around a walk of stored levels.
    pub chunks: Vec<AskedChunks>,
    /// The directives of these that were kept.
    pub kept: Vec<Span>,
    /// Variables of workspaces' own loops, each with the one of the statement that it stands for.
    pub renamed: Vec<(IndexVariable, IndexVariable)>,
}

/// `copy(A(j, i))`
#[derive(Debug, Clone, PartialEq)]
pub struct AskedCopy {
    /// Whose.
    pub tensor: TensorId,
    /// The indices of the copy's levels as they are written; `None`: no copy.
    pub order: Option<Vec<String>>,
    /// Whether the entries are read where they are, through a permutation.
    pub is_permutation: bool,
    /// The directive.
    pub span: Span,
}

/// `walk(A, i0, i1)`
#[derive(Debug, Clone, PartialEq)]
pub struct AskedWalk {
    /// Whose levels.
    pub tensors: Vec<TensorId>,
    /// The names of the levels' variables; `None`: they are not walked.
    pub names: Option<Vec<String>>,
    /// The directive.
    pub span: Span,
}

/// `assemble(C: list)`
#[derive(Debug, Clone, PartialEq)]
pub struct AskedAssembly {
    /// The result.
    pub tensor: TensorId,
    /// How.
    pub way: Way,
    /// The directive.
    pub span: Span,
}

/// How the entries of a result are to come about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// It has dense levels alone.
    Dense,
    /// It shares an operand's index arrays.
    Shared,
    /// Appended in the order of the loops.
    Append,
    /// Appended through a workspace over these variables.
    Workspace(Vec<String>),
    /// Listed in any order, and sorted.
    List,
}

/// `workspace(t(j): hash)`
#[derive(Debug, Clone, PartialEq)]
pub struct AskedStorage {
    /// The workspace's name.
    pub name: String,
    /// The variables that it is over, where they are said.
    pub over: Option<Vec<String>>,
    /// What it is stored in; a bitmap without a size leaves that open.
    pub storage: AskedCollect,
    /// The directive.
    pub span: Span,
}

/// What a workspace is to be stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedCollect {
    /// Dense values and a bitmap, of at most so many bytes where that is said.
    Bitmap(Option<u64>),
    /// A table.
    Hash,
    /// A list.
    List,
}

/// `accumulate(k: t)`
#[derive(Debug, Clone, PartialEq)]
pub struct AskedSum {
    /// The loop as the directive names it.
    pub variable: String,
    /// What it is accumulated in; `None`: nothing.
    pub name: Option<String>,
    /// The directive.
    pub span: Span,
}

/// `split(i, i0, i1, 512)` beside `walk(A)`.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedChunks {
    /// The rows.
    pub rows: IndexVariable,
    /// The names of chunks and of what is inside of one.
    pub names: [String; 2],
    /// How many rows a chunk has.
    pub by: u64,
    /// The directive.
    pub span: Span,
}

/// How the chunks of a parallel loop are to meet in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Each place has elements of its own.
    Owned,
    /// Chunks write segments in order, and combine those at their ends.
    Segments,
    /// Each thread has a copy.
    Private,
    /// Chunks append, and are joined.
    Joined,
}

impl Output {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Owned, Self::Segments, Self::Private, Self::Joined];

    /// As a schedule says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Owned => "owned",
            Self::Segments => "segments",
            Self::Private => "private",
            Self::Joined => "joined",
        }
    }
}

/// What the chunks of a parallel loop are to have alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Balance {
    /// Whole values of the loop's variable.
    Rows,
    /// Stored entries: a chunk may begin and end inside of a row.
    Nonzeros,
}

impl Balance {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Rows, Self::Nonzeros];

    /// As a schedule says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Nonzeros => "nonzeros",
        }
    }
}

impl Asked {
    /// How chunks are to meet in a tensor; the last word counts.
    pub(crate) fn output_of(&self, tensor: TensorId) -> Option<(Output, Span)> {
        let of_tensor = self.outputs.iter().rev().find(|(other, ..)| *other == tensor);
        of_tensor.map(|&(_, output, span)| (output, span))
    }

    /// What chunks of a loop are to have alike.
    pub(crate) fn balance_of(&self, variable: IndexVariable) -> Option<(Balance, Span)> {
        let original = self.original(variable);
        let of_loop = self.balances.iter().rev().find(|(other, ..)| *other == variable || *other == original);
        of_loop.map(|&(_, balance, span)| (balance, span))
    }

    /// Notes that what a directive asks for is had.
    pub(crate) fn keep(&mut self, span: Span) {
        if !self.kept.contains(&span) {
            self.kept.push(span);
        }
    }

    /// What is asked of the sums over a loop: by its own name rather than by that of which it is a numbered copy.
    pub(crate) fn sum(&self, variable: &str, is_called: &dyn Fn(&str, &str) -> bool) -> Option<&AskedSum> {
        let own = self.sums.iter().find(|sum| sum.variable == variable);
        own.or_else(|| self.sums.iter().find(|sum| is_called(variable, &sum.variable)))
    }

    /// How a loop that reduces is to be vectorized.
    pub(crate) fn simd_of(&self, variable: IndexVariable) -> Option<Simd> {
        last_word(&self.simd, variable)
    }

    /// The tiles that rows are to be cut into.
    pub(crate) fn tile_of(&self, variable: IndexVariable) -> Option<Tile> {
        last_word(&self.tiles, variable)
    }

    /// The variable of the statement that one stands for.
    pub(crate) fn original(&self, variable: IndexVariable) -> IndexVariable {
        let renamed = self.renamed.iter().find(|(new, _)| *new == variable);
        renamed.map_or(variable, |&(_, old)| self.original(old))
    }
}

fn last_word<T: Copy>(said: &[(IndexVariable, T, Span)], variable: IndexVariable) -> Option<T> {
    said.iter().rev().find(|(other, ..)| *other == variable).map(|&(_, choice, _)| choice)
}

/// Loops over what is stored that the schedule names as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// What it is called: after fusing, after positions were asked for, and the blocks of these.
    pub names: Vec<String>,
    /// What the loop inside of a block is called.
    pub inside: Option<String>,
    /// The loops, outermost first.
    pub variables: Vec<IndexVariable>,
    /// Whose positions it goes over.
    pub operand: Option<TensorId>,
    /// How many positions a block has.
    pub by: Option<u64>,
    /// Whether its shares run in parallel.
    pub is_parallel: bool,
    /// Loops that are to be inside of that over its blocks.
    pub around: Vec<IndexVariable>,
    /// The directive that says most of it.
    pub span: Span,
}

impl Chain {
    /// Whether there is a loop over its positions, which must then be had.
    pub(crate) fn is_wanted(&self) -> bool {
        self.operand.is_some() || self.is_parallel
    }

    pub(crate) fn is_called(&self, name: &str) -> bool {
        self.names.iter().any(|own| own == name)
    }
}

/// A part of a statement that is computed into a workspace before it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Precomputed {
    /// The workspace as it is read.
    pub read: Access,
    /// The workspace as it is written.
    pub written: Access,
    /// What is written, with the sums that go with it.
    pub value: Expr,
    /// The same over the variables that the workspace is read at.
    pub part: Expr,
    /// Those, and what is computed from them, each with what is in its place where the workspace is written.
    pub renamed: Vec<(IndexVariable, IndexVariable)>,
    /// The variables whose loops are outside of the workspace.
    pub outside: Vec<IndexVariable>,
    /// Parts of this part.
    pub inside: Vec<Precomputed>,
    /// The part in the directive.
    pub span: Span,
}

impl Precomputed {
    /// Whether it and its own parts are over some dense variables alone.
    pub(crate) fn is_block(&self, dense: &[IndexVariable]) -> bool {
        let is_own = self.read.indices.iter().all(|variable| dense.contains(variable));
        is_own && self.inside.iter().all(|part| part.is_block(dense))
    }
}

/// What a schedule wants in workspaces.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parts {
    /// What is left of the right-hand side: it reads the workspaces.
    pub rest: Option<Expr>,
    /// The parts that it reads.
    pub parts: Vec<Precomputed>,
    /// What is outside of each workspace, parts of parts included.
    pub outside: Vec<(TensorId, Vec<IndexVariable>)>,
    /// The directives that were carried out.
    pub found: Vec<Span>,
}
