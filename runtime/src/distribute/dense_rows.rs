//! Rows of dense tensors as bytes: what lies at one coordinate of a mode, `of` a mode and the bytes of an element.

use crate::tensor::Element;
use bytemuck::checked::pod_read_unaligned;
use bytemuck::{CheckedBitPattern, bytes_of};

/// The bytes of a row.
pub(super) fn row_bytes(shape: &[usize], of: (usize, usize)) -> usize {
    let (count, piece, _) = pieces(shape, of);
    count * piece
}

/// How a row of a dense tensor lies in memory: so many pieces of so many bytes, each one so many bytes after the other.
fn pieces(shape: &[usize], (mode, width): (usize, usize)) -> (usize, usize, usize) {
    let piece = shape[mode + 1..].iter().product::<usize>() * width;
    (shape[..mode].iter().product(), piece, piece * shape[mode])
}

/// Puts a row after others.
pub(super) fn copy_row(bytes: &[u8], shape: &[usize], of: (usize, usize), coordinate: usize, into: &mut Vec<u8>) {
    let (count, piece, stride) = pieces(shape, of);
    for number in 0..count {
        let begin = number * stride + coordinate * piece;
        into.extend_from_slice(&bytes[begin..begin + piece]);
    }
}

/// Puts a row at its coordinate.
pub(super) fn put_row(bytes: &mut [u8], shape: &[usize], of: (usize, usize), coordinate: usize, row: &[u8]) {
    let (count, piece, stride) = pieces(shape, of);
    for number in 0..count {
        let begin = number * stride + coordinate * piece;
        bytes[begin..begin + piece].copy_from_slice(&row[number * piece..(number + 1) * piece]);
    }
}

/// Adds a row to the one at its coordinate; `add` adds elements to as many others.
pub(super) fn add_row(
    bytes: &mut [u8],
    shape: &[usize],
    of: (usize, usize),
    coordinate: usize,
    row: &[u8],
    add: fn(&mut [u8], &[u8]),
) {
    let (count, piece, stride) = pieces(shape, of);
    for number in 0..count {
        let begin = number * stride + coordinate * piece;
        add(&mut bytes[begin..begin + piece], &row[number * piece..(number + 1) * piece]);
    }
}

/// Adds elements to as many others.
pub(super) fn add<T: Element + CheckedBitPattern>(total: &mut [u8], values: &[u8]) {
    let totals = total.chunks_exact_mut(size_of::<T>());
    for (total, value) in totals.zip(values.chunks_exact(size_of::<T>())) {
        let sum = pod_read_unaligned::<T>(total).plus(pod_read_unaligned(value));
        total.copy_from_slice(bytes_of(&sum));
    }
}

/// Puts rows, which come one after the other, at some coordinates.
pub(super) fn put_rows(bytes: &mut [u8], shape: &[usize], of: (usize, usize), coordinates: &[usize], rows: &[u8]) {
    for (&coordinate, row) in coordinates.iter().zip(rows.chunks_exact(row_bytes(shape, of).max(1))) {
        put_row(bytes, shape, of, coordinate, row);
    }
}

/// The rows of a dense tensor, one after the other.
pub(super) fn rows_of(bytes: Vec<u8>, shape: &[usize], of: (usize, usize)) -> Vec<u8> {
    if of.0 == 0 {
        return bytes;
    }
    let mut rows = Vec::with_capacity(bytes.len());
    (0..shape[of.0]).for_each(|coordinate| copy_row(&bytes, shape, of, coordinate, &mut rows));
    rows
}

/// A dense tensor of some coordinates of a mode.
pub(super) fn chosen(
    bytes: &[u8],
    mut shape: Vec<usize>,
    of: (usize, usize),
    coordinates: &[u64],
) -> (Vec<u8>, Vec<usize>) {
    let before = shape.clone();
    shape[of.0] = coordinates.len();
    let mut chosen = vec![0; shape.iter().product::<usize>() * of.1];
    let mut row = Vec::new();
    for (place, &coordinate) in coordinates.iter().enumerate() {
        row.clear();
        copy_row(bytes, &before, of, coordinate as usize, &mut row);
        put_row(&mut chosen, &shape, of, place, &row);
    }
    (chosen, shape)
}
