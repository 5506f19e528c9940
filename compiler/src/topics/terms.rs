//! Terms of the field. One word means one thing here, in the documentation and in the code; `docs/glossary.md` is made of these rows.

use super::words::{Row, of_rows};
use super::{Kind, Topic};

const TERM: Kind = Kind::Term;

pub(super) fn topics() -> Vec<Topic> {
    of_rows(ROWS)
}

const ROWS: &[Row] = &[
    // Tensors.
    (TERM, "tensor", &["matrix", "vector"], "an array with any number of modes: a vector has one, a matrix two", ""),
    (TERM, "order", &[], "the number of modes of a tensor", ""),
    (TERM, "mode", &["axis"], "one of a tensor's directions: a matrix has rows as mode 1 and columns as mode 2", ""),
    (TERM, "scalar", &[], "a tensor of order 0: declared by an element type alone, as `alpha: f64`", ""),
    (
        TERM,
        "index",
        &["index variable", "index notation"],
        "a variable of a statement that runs over the extent of a mode",
        "One that only the right-hand side has is summed over, term by term (Einstein 1916).

    fn residual(A: csr, x: dense, b: dense) -> y: dense { y(i) = b(i) - A(i, j) * x(j); }
",
    ),
    (
        TERM,
        "pack",
        &["ellipsis", "..."],
        "`i...`: as many indices as a tensor has modes in its place, so that one line serves tensors of any order",
        "It stands for `i1, i2, …`. Formats of one order tell how many, `order 3` behind a format, and files of inputs.

    fn ttv(X: csf order 4, v: dense) -> y: dense { y(i...) = X(i..., k) * v(k); }
",
    ),
    (
        TERM,
        "einsum",
        &["einsum string"],
        "`ij,j->i`: a product of operands `A`, `B`, … as NumPy's `einsum` writes it, in the place of an expression",
        "The result is `R`. `...` stands for the modes that are left.",
    ),
    (
        TERM,
        "window",
        &[],
        "a range as an index, its end left out: `A(1..4, 3..7)`",
        "The first window of each access runs with the first windows of the others.",
    ),
    (
        TERM,
        "level",
        &[],
        "a part of a format: how the coordinates under each position of the level above are stored",
        "`spc formats` lists the kinds of level.",
    ),
    (
        TERM,
        "position",
        &["pos"],
        "the place of something in a level's arrays; `pos` says where the children of each parent begin",
        "",
    ),
    (
        TERM,
        "coordinate",
        &["crd"],
        "the index, or what is computed from several, that a level stores; `crd` is the array of them",
        "",
    ),
    (
        TERM,
        "entry",
        &["nonzero", "nnz", "stored"],
        "an element that is stored, whatever its value; `nnz` counts them",
        "",
    ),
    (
        TERM,
        "missing",
        &[],
        "an element that is not stored: it is the fill value",
        "A missing element has a known value: a product with a missing zero is zero, whatever the rest is.",
    ),
    (TERM, "slice", &[], "what shares the index in one mode: of a matrix, a row or a column", ""),
    (
        TERM,
        "fiber",
        &["fibre"],
        "what shares the indices in all modes but one",
        "`spc info FILE` counts slices and fibers of each mode.",
    ),
    (TERM, "skew", &[], "how many times larger than the mean the largest slice or fiber is", ""),
    (
        TERM,
        "rank",
        &[],
        "the length of the dense mode of factors, as `r` of `A(i, r) = X(i, j, k) * B(j, r) * C(k, r)`",
        "",
    ),
    (TERM, "sparse", &[], "of a tensor, that elements may be missing; of a dense one, every element is stored", ""),
    (TERM, "iteration space", &[], "the coordinates that loops go over: all, or those that operands store", ""),
    // Kernels.
    (TERM, "SpMV", &["spmv"], "a sparse matrix times a vector: `y(i) = A(i, j) * x(j)`", ""),
    (TERM, "SpMM", &["spmm"], "a sparse matrix times a dense matrix: `Y(i, r) = A(i, j) * X(j, r)`", ""),
    (
        TERM,
        "SpGEMM",
        &["spgemm"],
        "the product of two sparse matrices, which is sparse: `C(i, j) = A(i, k) * B(k, j)`",
        "Row by row it is Gustavson's algorithm (1978): a row of `C` is collected in a workspace.",
    ),
    (
        TERM,
        "SDDMM",
        &["sddmm"],
        "a product of dense matrices at the stored coordinates of a sparse one: `Y(i, j) = S(i, j) * A(i, k) * B(j, k)`",
        "",
    ),
    (TERM, "TTV", &["ttv"], "a tensor times a vector, along one mode: `y(i, j) = X(i, j, k) * v(k)`", ""),
    (
        TERM,
        "TTM",
        &["ttm"],
        "a tensor times a matrix, along one mode: `Y(i, j, r) = X(i, j, k) * U(k, r)`",
        "Along all modes but one it is TTMc, the kernel of the Tucker decomposition.",
    ),
    (
        TERM,
        "MTTKRP",
        &["mttkrp"],
        "a matricised tensor times a Khatri-Rao product: `A(i, r) = X(i, j, k) * B(j, r) * C(k, r)`",
        "The kernel of the CP decomposition (Bader, Kolda 2007).",
    ),
    (
        TERM,
        "semiring",
        &["min-plus", "max-plus"],
        "a reduction and an operator that distributes over it, in place of `+` and `*`: `min` and `+` give shortest paths",
        "The fill value must be the identity of the reduction, as `fill inf` for `min`.",
    ),
    (TERM, "identity", &[], "the value that a reduction ignores: 0 for `+`, 1 for `*`, infinity for `min`", ""),
    // Loops.
    (
        TERM,
        "concrete index notation",
        &["loop order", "forall"],
        "the loops of a statement, in order, with their workspaces: what a schedule decides",
        "`spc compile FILE --emit concrete` prints it (Kjolstad, Ahrens, Kamil, Amarasinghe 2019).",
    ),
    (
        TERM,
        "workspace",
        &[],
        "a temporary inside of a loop that collects values in another order than the result stores them",
        "It is a scalar, a dense array, an array with a bitmap, a hash table or a list (Kjolstad, Ahrens, Kamil, Amarasinghe 2019).",
    ),
    (
        TERM,
        "hash accumulator",
        &["hash"],
        "a workspace that finds the entry of a coordinate by a hash table",
        "It is small where a dense array would not fit into a cache; entries are sorted when all are there (Nagasaka, Matsuoka, Azad, Buluç 2018).",
    ),
    (
        TERM,
        "iterate",
        &["walk"],
        "go over the stored coordinates of a level, in order; of a loop, to be led by an operand",
        "(Chou, Kjolstad, Amarasinghe 2018.)",
    ),
    (
        TERM,
        "locate",
        &[],
        "find a given coordinate in a level without a search: dense levels and hash tables can",
        "(Chou, Kjolstad, Amarasinghe 2018.)",
    ),
    (
        TERM,
        "coiteration",
        &["coiterate", "merge"],
        "one loop over several sparse operands at once, which goes on by the least coordinate of all",
        "",
    ),
    (
        TERM,
        "merge lattice",
        &["lattice"],
        "the cases of a loop over several sparse operands: one for each set of them that may have an entry",
        "`spc compile … --emit lattice` prints it (Kjolstad, Kamil, Chou, Lugato, Amarasinghe 2017).",
    ),
    (
        TERM,
        "gallop",
        &["galloping"],
        "find the next common coordinate of two sorted lists by steps that double",
        "It pays where one list is much longer than the other (Bentley, Yao 1976).",
    ),
    (
        TERM,
        "transposed copy",
        &["sorted copy", "copy", "plain copy"],
        "an operand in another order or format, made in a call for loops that can't read it as it is stored",
        "It is kept with the tensor from the second call on. `spc run` says how long each took.",
    ),
    (TERM, "appended", &[], "of a result, that its entries are written one after the other, in order", ""),
    // Parallel loops.
    (
        TERM,
        "chunk",
        &[],
        "a part of a parallel loop that one thread runs",
        "Chunks are cut by work, so that each takes as long as another, and begun in order.",
    ),
    (
        TERM,
        "load-balanced partition",
        &["nonzero partition", "share", "load balance"],
        "a cut of a loop into parts of equally many stored entries, which may begin within a row",
        "It is taken where a call finds that whole rows make uneven chunks (Merrill, Garland 2016).",
    ),
    (
        TERM,
        "conflict",
        &[],
        "what happens where several chunks write one array: each owns a part, has a copy, shares a boundary segment, or updates by atomics",
        "",
    ),
    (
        TERM,
        "privatization",
        &["private"],
        "a copy of a result for each thread, which are combined when all have ended",
        "",
    ),
    (
        TERM,
        "boundary segment",
        &["segment"],
        "the row that two neighbouring parts of a load-balanced partition both have entries of: its values are combined",
        "",
    ),
    (
        TERM,
        "deterministic",
        &[],
        "of a kernel, that its results have the same bits in every run, on any number of threads",
        "Chunks are then cut by the work alone, and combined in their order.",
    ),
    // Vector code.
    (
        TERM,
        "lane",
        &["vector loop", "simd"],
        "one of the places of a vector register; of a GPU, a thread of a group",
        "",
    ),
    (
        TERM,
        "register tiling",
        &["register tile", "tile"],
        "a row of sums kept in registers, so many at a time, while the entries of an operand are walked",
        "What is left of the row after the last full tile is a remainder.",
    ),
    (
        TERM,
        "segmented reduction",
        &["segmented"],
        "reductions of runs that lie side by side, in one pass over all of them: a value for each run",
        "(Blelloch, Heroux, Zagha 1993.)",
    ),
    (
        TERM,
        "SELL vectorization",
        &["side by side"],
        "rows of equal padded length in the lanes of a vector, an entry of each in every step",
        "(Kreutzer, Hager, Wellein, Fehske, Bishop 2014.)",
    ),
    (
        TERM,
        "Morton key",
        &[],
        "the interleaved bits of several coordinates, as one number; entries sorted by it are near in all modes",
        "(Morton 1966.)",
    ),
    // GPUs.
    (TERM, "grid", &[], "of a GPU, all threads of a launch", ""),
    (
        TERM,
        "work item",
        &[],
        "one iteration of the parallel loop of a launch: a row, an entry, a part of a partition",
        "",
    ),
    (
        TERM,
        "mapping",
        &[],
        "which threads run which work items, and how they meet in what they write",
        "`spc explain FILE --target cuda` says it for each loop, with the reason.",
    ),
    (
        TERM,
        "warp-per-row",
        &["group"],
        "a mapping: a group of neighbouring threads shares the entries of one row, and combines its values",
        "(Bell, Garland 2009.)",
    ),
    (
        TERM,
        "warp segmented scan",
        &[],
        "a mapping: a warp reads neighbouring entries of any rows, and combines the values of each row by a scan",
        "(Blelloch, Heroux, Zagha 1993.)",
    ),
    (
        TERM,
        "row binning",
        &["bins"],
        "rows in bins by how much they have to do: each bin is launched with groups of its width",
        "(Nagasaka, Nukada, Matsuoka 2017.)",
    ),
    (
        TERM,
        "shared-memory privatization",
        &[],
        "a copy of a small result for each block of threads, in its shared memory; one atomic update an element adds it",
        "",
    ),
    (TERM, "host/device split", &[], "which statements of a kernel the host runs, and which are launched", ""),
    // Performance.
    (
        TERM,
        "schedule directive",
        &["directive"],
        "one decision of a schedule, as `parallel(i)`; `spc explain DIRECTIVE` has each",
        "",
    ),
    (
        TERM,
        "cost model",
        &["cost"],
        "an estimate of the time of loops, by their operations and bytes",
        "`spc bench` sets its counts beside what was measured.",
    ),
    (
        TERM,
        "autotuning",
        &["tune"],
        "schedules tried one after the other on the data, of which the fastest is kept",
        "`spc bench FILE --tune` keeps the fastest; `spc run` takes it from then on.",
    ),
    (
        TERM,
        "roofline",
        &[],
        "the least time that memory and processor need for a kernel's bytes and operations",
        "`spc bench` sets it beside what was measured (Williams, Waterman, Patterson 2009).",
    ),
];
