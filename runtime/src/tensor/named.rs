//! The formats of the language as types. Made from the compiler's `prelude.ti`: see its `tests/marker_types.rs`. Do not edit.

use super::mapped::{constant, difference, each, interleave, linear, mode, named_formats, one, quotient, remainder};
use spc_compiler::format::{IndexWidth, LevelFormat, Order};

named_formats! {
    /// Every coordinate, in the order of the modes.
    Dense [N] [] = 0, [
        each(0..N, mode, LevelFormat::DENSE),
    ];
    /// Compressed sparse rows: for each row, the columns that occur in it.
    Csr [] [] = 2, [
        one(mode(0), LevelFormat::DENSE),
        one(mode(1), LevelFormat::COMPRESSED),
    ];
    /// Compressed sparse columns: for each column, the rows that occur in it.
    Csc [] [] = 2, [
        one(mode(1), LevelFormat::DENSE),
        one(mode(0), LevelFormat::COMPRESSED),
    ];
    /// Doubly compressed sparse rows: only the rows that have entries.
    Dcsr [] [] = 2, [
        one(mode(0), LevelFormat::COMPRESSED),
        one(mode(1), LevelFormat::COMPRESSED),
    ];
    /// Coordinates, sorted: one coordinate of each mode for each entry.
    Coo [N] [] = 1, [
        one(mode(0), LevelFormat::COMPRESSED.nonunique()),
        each(1..N, mode, LevelFormat::SINGLETON.nonunique()),
    ];
    /// Compressed sparse fibers: a tree with a level for each mode (Smith 2015).
    Csf [N] [] = 0, [
        each(0..N, mode, LevelFormat::COMPRESSED),
    ];
    /// Compressed sparse rows of dense blocks of B × B.
    Bcsr [] [B] = 2, [
        one(quotient(mode(0), constant(B)), LevelFormat::DENSE),
        one(quotient(mode(1), constant(B)), LevelFormat::COMPRESSED),
        one(remainder(mode(0), constant(B)), LevelFormat::DENSE),
        one(remainder(mode(1), constant(B)), LevelFormat::DENSE),
    ];
    /// Compressed sparse blocks: coordinates within blocks of B × B, in 16 bits (Buluç 2009).
    Csb [] [B] = 2, [
        one(quotient(mode(0), constant(B)), LevelFormat::DENSE),
        one(quotient(mode(1), constant(B)), LevelFormat::DENSE),
        one(remainder(mode(0), constant(B)), LevelFormat::COMPRESSED.nonunique().with_coordinates(IndexWidth::U16)),
        one(remainder(mode(1), constant(B)), LevelFormat::SINGLETON.with_coordinates(IndexWidth::U16)),
    ];
    /// Diagonals: those that have entries, each dense along the rows.
    Dia [] [] = 2, [
        one(difference(mode(1), mode(0)), LevelFormat::COMPRESSED),
        one(mode(0), LevelFormat::DENSE),
    ];
    /// Dense blocks of edge B, one after the other.
    Tiled [N] [B] = 0, [
        each(0..N, |at| quotient(mode(at), constant(B)), LevelFormat::DENSE),
        each(0..N, |at| remainder(mode(at), constant(B)), LevelFormat::DENSE),
    ];
    /// A tree of the blocks of edge B that have entries, each dense.
    Bcsf [N] [B] = 0, [
        each(0..N, |at| quotient(mode(at), constant(B)), LevelFormat::COMPRESSED),
        each(0..N, |at| remainder(mode(at), constant(B)), LevelFormat::DENSE),
    ];
    /// Semi-sparse coordinates: the last mode is dense (Li 2016).
    Scoo [N] [] = 2, [
        one(mode(0), LevelFormat::COMPRESSED.nonunique()),
        each(1..N - 1, mode, LevelFormat::SINGLETON.nonunique()),
        one(mode(N - 1), LevelFormat::DENSE),
    ];
    /// Coordinates sorted by their interleaved bits.
    Mcoo [N] [] = 1, [
        one(mode(0), LevelFormat::COMPRESSED.nonunique().with_order(Order::Morton)),
        each(1..N, mode, LevelFormat::SINGLETON.nonunique()),
    ];
    /// One number for each entry, row-major (Harrison 2018).
    Lco [N] [] = 0, [
        one(linear(0..N), LevelFormat::COMPRESSED.with_coordinates(IndexWidth::U64)),
    ];
    /// One number for each entry, of the interleaved bits of its coordinates (Helal 2021); several where they are more than 64.
    Alto [N] [] = 0, [
        one(interleave(0..N), LevelFormat::COMPRESSED.with_coordinates(IndexWidth::U64)),
    ];
    /// Blocks of edge B by their coordinates in Morton order, then the coordinates within each block, in 8 bits (Li 2018).
    Hicoo [N] [B] = 1, [
        one(quotient(mode(0), constant(B)), LevelFormat::COMPRESSED.nonunique().with_order(Order::Morton)),
        each(1..N, |at| quotient(mode(at), constant(B)), LevelFormat::SINGLETON.nonunique()),
        one(remainder(mode(0), constant(B)), LevelFormat::COMPRESSED.nonunique().with_coordinates(IndexWidth::U8)),
        each(1..N, |at| remainder(mode(at), constant(B)), LevelFormat::SINGLETON.nonunique().with_coordinates(IndexWidth::U8)),
    ];
    /// As `hicoo` over all modes but the last, whose coordinates are whole.
    Ghicoo [N] [B] = 2, [
        one(quotient(mode(0), constant(B)), LevelFormat::COMPRESSED.nonunique().with_order(Order::Morton)),
        each(1..N - 1, |at| quotient(mode(at), constant(B)), LevelFormat::SINGLETON.nonunique()),
        one(remainder(mode(0), constant(B)), LevelFormat::COMPRESSED.nonunique().with_coordinates(IndexWidth::U8)),
        each(1..N - 1, |at| remainder(mode(at), constant(B)), LevelFormat::SINGLETON.nonunique().with_coordinates(IndexWidth::U8)),
        one(mode(N - 1), LevelFormat::SINGLETON),
    ];
    /// As `hicoo` over all modes but the last, which is dense (Li 2019).
    Shicoo [N] [B] = 2, [
        one(quotient(mode(0), constant(B)), LevelFormat::COMPRESSED.nonunique().with_order(Order::Morton)),
        each(1..N - 1, |at| quotient(mode(at), constant(B)), LevelFormat::SINGLETON.nonunique()),
        one(remainder(mode(0), constant(B)), LevelFormat::COMPRESSED.nonunique().with_coordinates(IndexWidth::U8)),
        each(1..N - 1, |at| remainder(mode(at), constant(B)), LevelFormat::SINGLETON.nonunique().with_coordinates(IndexWidth::U8)),
        one(mode(N - 1), LevelFormat::DENSE),
    ];
    /// Dense in all modes but the last, which is compressed (Yang 2019).
    Hocsr [N] [] = 1, [
        each(0..N - 1, mode, LevelFormat::DENSE),
        one(mode(N - 1), LevelFormat::COMPRESSED),
    ];
    /// Fibers by one number each, of the coordinates of the other modes, with a bucket of indices (Yang 2019).
    Cfb [N] [] = 2, [
        one(linear(0..N - 1), LevelFormat::COMPRESSED.with_coordinates(IndexWidth::U64)),
        one(mode(N - 1), LevelFormat::COMPRESSED),
    ];
    /// Rows of one width, filled up (ELLPACK): for each row, the columns that occur in it.
    Ell [N] [] = 1, [
        each(0..N - 1, mode, LevelFormat::DENSE),
        one(mode(N - 1), LevelFormat::PADDED),
    ];
    /// Slices of C rows side by side, each slice filled up to the width of its longest row (SELL-C: Kreutzer 2014).
    Sell [N] [C] = 1, [
        each(0..N - 1, mode, LevelFormat::DENSE),
        one(mode(N - 1), LevelFormat::SLICED.with_count(C)),
    ];
    /// Non-empty slices, their non-empty fibers, then the coordinates in each fiber, filled up to one width for each slice (Yang 2019).
    HocfsEll [N] [] = 1, [
        each(0..N - 1, mode, LevelFormat::COMPRESSED),
        one(mode(N - 1), LevelFormat::GROUPED),
    ];
    /// As `hocfs_ell` in slices that then take at most two places for each entry, as `hocfs_csr` in others (Yang 2019).
    Hocfs [N] [] = 1, [
        each(0..N - 1, mode, LevelFormat::COMPRESSED),
        one(mode(N - 1), LevelFormat::GROUPED.with_count(2)),
    ];
    /// For the product with the last mode: the fibers by their coordinates, then the coordinates in each fiber, the first of each
    /// fiber flagged (Liu 2017).
    Fcoo [N] [] = 2, [
        one(mode(0), LevelFormat::COMPRESSED.nonunique()),
        each(1..N - 1, mode, LevelFormat::SINGLETON.nonunique()),
        one(mode(N - 1), LevelFormat::FLAGGED),
    ];
    /// Structured sparsity: in each run of M columns, at most N entries.
    Structured [] [N, M] = 2, [
        one(mode(0), LevelFormat::DENSE),
        one(quotient(mode(1), constant(M)), LevelFormat::DENSE),
        one(remainder(mode(1), constant(M)), LevelFormat::PADDED.with_count(N).with_coordinates(IndexWidth::U8)),
    ];
    /// The square matrices, and slices of higher order, that have entries on the diagonal of the first two modes only.
    Diagonal [N] [] = 2, [
        one(mode(0), LevelFormat::DENSE),
        one(mode(1), LevelFormat::DIAGONAL),
        each(2..N, mode, LevelFormat::DENSE),
    ];
    /// For each row, one interval of columns from its first entry to its last (skyline).
    Skyline [N] [] = 1, [
        each(0..N - 1, mode, LevelFormat::DENSE),
        one(mode(N - 1), LevelFormat::BANDED),
    ];
    /// An array of indices, as `src` in `x(src(e))`: one for each index of the modes before.
    Map [N] [] = 1, [
        each(0..N - 1, mode, LevelFormat::DENSE),
        one(mode(N - 1), LevelFormat::SINGLETON),
    ];
}

/// Coordinates, by the name of Yang 2019.
pub type Hocoo<const N: usize> = Coo<N>;
/// Non-empty slices, their non-empty fibers, then the coordinates in each fiber.
pub type HocfsCsr<const N: usize> = Csf<N>;
