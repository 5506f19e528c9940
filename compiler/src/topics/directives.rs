//! The directives of a schedule, in the terms of Senanayake 2020 (*A Sparse Iteration Space Transformation Framework for Sparse
//! Tensor Algebra*).

use super::{Kind, Topic};
use Argument::{
    Chosen, ChosenOld, Expression, ExpressionOr, Made, MadeOr, New, Number, Old, OldOr, Olds, Pairs, Tensor, TensorOr,
    TensorsOrNews,
};

/// What an argument of a directive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// An index variable that exists.
    Old,
    /// The name of a new index variable.
    New,
    /// A tensor.
    Tensor,
    /// A whole number.
    Number,
    /// Any further index variables that exist.
    Olds,
    /// A part of a statement.
    Expression,
    /// Pairs of an index variable that exists and a new one.
    Pairs,
    /// A name, expression or access, of which something is said behind a colon: `j: lanes(8)`. The rule of the directive checks both.
    Chosen,
    /// An index variable that exists, of which something may be said behind a colon.
    OldOr,
    /// A tensor, of which something may be said behind a colon.
    TensorOr,
    /// A tensor, or one that is made on the way to one, as `y_1`.
    Made,
    /// The same, of which something may be said behind a colon.
    MadeOr,
    /// An expression, of which something may be said behind a colon.
    ExpressionOr,
    /// Any further tensors, and names of new index variables.
    TensorsOrNews,
    /// An index variable that exists, of which something is said behind a colon.
    ChosenOld,
}

/// A directive, declared once: checks of a schedule, `spc explain` and docs/reference/directives.md follow from this. How it is applied is in a file of
/// its name in `schedule/directive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Directive {
    /// Its name.
    pub name: &'static str,
    /// Its arguments.
    pub arguments: &'static [Argument],
    /// An example.
    pub example: &'static str,
    /// What the example asks for, as docs/reference/directives.md says it.
    pub asks: &'static str,
    /// A kernel that has it.
    pub kernel: &'static str,
}

/// All directives.
pub const ALL: &[Directive] = &[
    Directive {
        name: "inline",
        arguments: &[Made],
        example: "inline(t)",
        asks: "the temporary `t` computed where it is read, and not stored",
        kernel: "fn step(A: csr, x: dense, b: dense) -> (y: dense, z: dense) { let t(i) = A(i, j) * x(j); y(i) = t(i) + b(i); z(i) = t(i) * b(i); }
schedule { inline(t); }",
    },
    Directive {
        name: "materialize",
        arguments: &[Made],
        example: "materialize(t)",
        asks: "the temporary `t` made and stored by a statement of its own",
        kernel: "fn step(A: csr, x: dense, b: dense) -> y: dense { let t(i) = A(i, j) * x(j); y(i) = t(i) + b(i); }
schedule { materialize(t); }",
    },
    Directive {
        name: "walk",
        arguments: &[TensorOr, TensorsOrNews],
        example: "walk(A, i0, j0, i1, j1)",
        asks: "loops over the stored levels of `A`, with these names where a level stores a computed coordinate; indices are computed from them; of a symmetric `A`, one loop over its stored entries for the updates of all that follow from them. `walk(A: none)` forbids it, and a plain copy is read",
        kernel: "fn product(A: bcsr(4), x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { walk(A, i0, j0, i1, j1); }",
    },
    Directive {
        name: "copy",
        arguments: &[ExpressionOr],
        example: "copy(A(j, i))",
        asks: "`A` read from a copy whose levels are in this order; of an `A` that lists its entries, as `coo` does, `copy(A(j, i): permutation)` makes no copy: entries are read in the order of the first index where they are, through a permutation that is found once and kept (the result is dense, and has no other of these indices); `copy(A: none)` forbids copies of it where another order of loops needs none",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(j) = A(i, j) * x(i); }
schedule { copy(A(j, i)); }",
    },
    Directive {
        name: "assemble",
        arguments: &[MadeOr],
        example: "assemble(C: list)",
        asks: "how the entries of a result come about: `dense`; `shared`, with the index arrays of an operand; `append`, in the order of the loops; `workspace(j)`, through one over `j`; or `list`, in any order and sorted at the end",
        kernel: "fn product(A: csr, B: csr) -> C: csr { C(i, j) = A(i, k) * B(k, j); }
schedule { assemble(C: list); }",
    },
    Directive {
        name: "workspace",
        arguments: &[Chosen],
        example: "workspace(t(j): hash)",
        asks: "what a workspace of entries in any order is stored in: `bitmap(4)`, dense values up to 4 MB for each thread, `hash` or `list`",
        kernel: "fn product(A: csr, B: csr) -> C: csr { C(i, j) = A(i, k) * B(k, j); }
schedule { workspace(t(j): hash); }",
    },
    Directive {
        name: "accumulate",
        arguments: &[OldOr],
        example: "accumulate(j: t)",
        asks: "what the loop over `j` reduces kept in `t`, and stored when the loop is done; `accumulate(j: none)` updates the result each time",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { accumulate(j: sum); }",
    },
    Directive {
        name: "reorder",
        arguments: &[Old, Old, Olds],
        example: "reorder(i, k, j)",
        asks: "these loops in this order, outermost first; operands stored otherwise are read from transposed copies",
        kernel: "fn product(A: csr, B: dense) -> C: dense { C(i, j) = A(i, k) * B(k, j); }
schedule { reorder(i, k, j); }",
    },
    Directive {
        name: "split",
        arguments: &[Old, New, New, Number],
        example: "split(k, k0, k1, 32)",
        asks: "blocks of 32: a loop over their numbers and one inside of each, also where `k` is walked",
        kernel: "fn product(A: dense, x: dense) -> y: dense { y(i) = A(i, k) * x(k); }
schedule { split(k, k0, k1, 32); }",
    },
    Directive {
        name: "fuse",
        arguments: &[Old, Old, New],
        example: "fuse(i, j, f)",
        asks: "one loop over both: over their coordinates where all that they index is dense, else over what an operand stores",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { fuse(i, j, f); }",
    },
    Directive {
        name: "positions",
        arguments: &[Old, Tensor, New],
        example: "positions(f, X, p)",
        asks: "the loop over `f` goes over the positions of `X`; `split(p, p0, p1, 256)` cuts them in blocks",
        kernel: "fn product(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }
schedule { fuse(i, j, f); positions(f, X, p); parallel(p); }",
    },
    Directive {
        name: "precompute",
        arguments: &[Expression, Pairs],
        example: "precompute(B(i, k) * C(k, j), j, jw)",
        asks: "this part of the right-hand side in a workspace over `j` before it is used, in a loop over `jw`; what is summed in the part alone is summed there, and loops over what else it has are outside",
        kernel: "fn product(B: csr, C: csr) -> A: csr { A(i, j) = B(i, k) * C(k, j); }
schedule { precompute(B(i, k) * C(k, j), j, jw); }",
    },
    Directive {
        name: "same_pattern",
        arguments: &[Tensor, Tensor],
        example: "same_pattern(X, Z)",
        asks: "the entries of `X` walked for those of `Z` too, which are at the same places: each call makes sure",
        kernel: "fn sum(X: csr, Z: csr) -> Y: csr { Y(i, j) = X(i, j) + Z(i, j); }
schedule { same_pattern(X, Z); }",
    },
    Directive {
        name: "stream",
        arguments: &[Tensor, Number],
        example: "stream(X, 16)",
        asks: "the entries of `X` in 16 parts, each a call of its own; results of parts are combined by the operator that the statement reduces by",
        kernel: "fn product(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }
schedule { stream(X, 16); }",
    },
    Directive {
        name: "distribute",
        arguments: &[ExpressionOr],
        example: "distribute(X)",
        asks: "the entries of `X` in equal numbers on each rank, where a kernel runs on ranks; `distribute(X: grid(4, 2, 1))` for a grid over its modes, a rank for each cell; `distribute(X: bisection)` to cut them in two again and again, so that ranks have few coordinates in common; `distribute(i)` for the range of an index of the result. On one rank it changes nothing",
        kernel: "fn product(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }
schedule { distribute(X); }",
    },
    Directive {
        name: "replicate",
        arguments: &[Tensor],
        example: "replicate(x)",
        asks: "`x` as a whole on every rank, which then sends nothing of it, where a kernel runs on ranks; without it a rank has what its entries need. On one rank it changes nothing",
        kernel: "fn product(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }
schedule { distribute(X); replicate(x); }",
    },
    Directive {
        name: "parallel",
        arguments: &[OldOr],
        example: "parallel(i)",
        asks: "this loop on all cores, instead of the outermost; of positions, load-balanced parts of the stored entries. `parallel(i: balanced(A))` cuts the entries of `A` instead where chunks of `i` are uneven, and `parallel(i: none)` runs it on one",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { parallel(i); }",
    },
    Directive {
        name: "balance",
        arguments: &[Chosen],
        example: "balance(i: nonzeros)",
        asks: "chunks of a parallel loop that have equal numbers of stored entries, and may begin inside of a row; `rows` for whole rows of equal work. Without it each call weighs which",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { balance(i: nonzeros); }",
    },
    Directive {
        name: "output",
        arguments: &[Chosen],
        example: "output(y: private)",
        asks: "a copy of `y` for each thread, which are combined; `owned` for parts that chunks have for themselves, `segments` for parts in order that are combined at the ends of chunks, `joined` for what is appended",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { output(y: private); }",
    },
    Directive {
        name: "vector",
        arguments: &[Old],
        example: "vector(r)",
        asks: "this loop innermost, in vector lanes",
        kernel: "fn product(A: csr, B: dense) -> C: dense { C(i, r) = A(i, k) * B(k, r); }
schedule { vector(r); }",
    },
    Directive {
        name: "unroll",
        arguments: &[Old],
        example: "unroll(k1)",
        asks: "this loop written out: it has at most 64 iterations, and their number is known; loops written out in each other come to at most 1024 copies",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(k) = A(k, j) * x(j); }
schedule { split(k, k0, k1, 4); unroll(k1); }",
    },
    Directive {
        name: "simd",
        arguments: &[ChosenOld],
        example: "simd(j: lanes)",
        asks: "how the loop over `j`, which reduces, is vectorized: the terms of a run in `lanes`; runs that lie one behind the other as `segmented` reductions, many at once, and parts of cut runs in lanes; runs that lie `side_by_side`, one in each lane; or `none`, one term after the other. It is for processors: on a GPU it changes nothing",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { simd(j: lanes); }",
    },
    Directive {
        name: "register_tile",
        arguments: &[Old, Expression],
        example: "register_tile(r, 16)",
        asks: "rows over `r` in tiles of 16 elements, whose accumulators stay in registers, and one of what is left; `register_tile(r, overlapped(64))` in strips of up to 64, each of two tiles that overlap; `register_tile(r, none)` leaves rows whole. It is for processors: on a GPU it changes nothing",
        kernel: "fn product(A: csr, X: dense) -> Y: dense { Y(i, r) = A(i, j) * X(j, r); }
schedule { register_tile(r, 16); }",
    },
    Directive {
        name: "deterministic",
        arguments: &[],
        example: "deterministic()",
        asks: "results that have the same bits in every run, on any number of threads",
        kernel: "fn product(A: csr, x: dense) -> y: dense { y(i) = A(i, j) * x(j); }
schedule { deterministic(); }",
    },
    Directive {
        name: "plan",
        arguments: &[ExpressionOr],
        example: "plan(as_written)",
        asks: "statements computed as they are written: no sums pushed into products, and no temporaries but those of the text. `plan(memory: 1e9)` has plans whose temporaries take so many bytes at most, `plan(keep(T))` has a temporary of the text made",
        kernel: "fn product(A: csr, B: csr, x: dense) -> y: dense { y(i) = A(i, j) * B(j, k) * x(k); }
schedule { plan(as_written); }",
    },
];

pub(super) fn topics() -> Vec<Topic> {
    let topic = |directive: &Directive| {
        let kernel = directive.kernel.replace('\n', "\n    ");
        let text = format!(
            "`{}` asks for {}.\n\n    {kernel}\n\n`spc explain FILE` says what came of it; what a kernel can't keep to is refused with the reason.\n",
            directive.example, directive.asks
        );
        Topic {
            kind: Kind::Directive,
            name: directive.name.to_owned(),
            others: &[],
            summary: directive.asks.split(&[':', ';'][..]).next().unwrap_or_default().to_owned(),
            text,
        }
    };
    ALL.iter().map(topic).collect()
}
