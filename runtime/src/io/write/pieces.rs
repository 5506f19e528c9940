//! A file piece by piece: its head, and what ranks that have some of the entries each write.

use std::io::{self, Write};

use super::{About, Listed, write_entries, write_head, write_lines};
use crate::io::kind::Writer;
use crate::io::value::Numbers;
use crate::io::{FileType, npy};
use crate::tensor::{Element, Indices, Values};
use crate::with_element;
use spc_compiler::ir::{ElementType, Literal};

/// What a file of a kind says before the entries.
pub(crate) struct Head {
    pub(crate) element: ElementType,
    /// How many entries all pieces have.
    pub(crate) count: usize,
    /// What the others are, of a tensor that is not dense.
    pub(crate) fill: Option<Literal>,
}

/// Entries that come after those of other pieces, first mode first, and before those of others.
pub(crate) enum Piece<'a> {
    /// Elements of a dense tensor, row by row from a place on.
    Elements(usize, &'a Values),
    /// Entries, in any order.
    Entries(&'a [Indices], &'a Values),
}

/// Writes the pieces of a file, which are what is written of a whole tensor.
pub(crate) struct Pieces<'a> {
    pub(crate) file_type: FileType,
    pub(crate) shape: &'a [usize],
}

impl Pieces<'_> {
    /// Whether a file of a kind comes in pieces.
    pub(crate) fn of(file_type: FileType, is_dense: bool) -> bool {
        file_type.is_text() || is_dense && is_array(file_type)
    }

    pub(crate) fn head(&self, out: &mut dyn Write, head: &Head) -> io::Result<()> {
        let Self { file_type, shape } = *self;
        let Head { element, count, fill } = *head;
        let Some(text) = file_type.kind().text() else { return npy::write_header(out, element, shape) };
        let mut about = About { shape, shape_is_stated: true, element, count, fill: None, is_pattern: false };
        let Some(fill) = fill else { return write_head(text, out, &about) };
        with_element!(element, |T| {
            let fill = vec![T::from_literal(fill).unwrap_or(T::ZERO)];
            about.fill = Some(&fill as &dyn Numbers).filter(|fill| !fill.is_absent(0));
            write_head(text, out, &about)
        })
    }

    pub(crate) fn piece(&self, out: &mut dyn Write, piece: &Piece<'_>) -> io::Result<()> {
        fn of<T: Element>(values: &Values) -> &[T] {
            values.as_slice::<T>().unwrap_or_default()
        }
        let (Piece::Elements(_, values) | Piece::Entries(_, values)) = piece;
        with_element!(values.element(), |T| self.numbers(out, piece, &of::<T>(values)))
    }

    fn numbers(&self, out: &mut dyn Write, piece: &Piece<'_>, values: &dyn Numbers) -> io::Result<()> {
        let Self { file_type, shape } = *self;
        let Some(text) = file_type.kind().text() else { return npy::write_elements(out, values) };
        match *piece {
            Piece::Elements(from, _) => {
                let strides: Vec<usize> = (0..shape.len()).map(|mode| shape[mode + 1..].iter().product()).collect();
                let index = |line: usize, mode: usize| ((from + line) / strides[mode] % shape[mode]) as u64;
                write_lines((text, true), out, shape.len(), values, &|line| line, &index)
            }
            Piece::Entries(indices, _) => {
                write_entries(text, out, &Listed { shape, shape_is_stated: true, indices, values, fill: None })
            }
        }
    }
}

fn is_array(file_type: FileType) -> bool {
    file_type.kind().writer().is_some_and(Writer::is_array)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::write_tensor_to;
    use crate::tensor::{AnyTensor, LevelArrays};
    use spc_compiler::format::Format;

    /// Pieces of a dense tensor, one after the other, are the file of it.
    #[test]
    fn pieces_are_the_file() {
        for (shape, file_type) in [
            (vec![3, 4], FileType::Tns),
            (vec![3, 4], FileType::Mtx),
            (vec![12], FileType::Mtx),
            (vec![2, 3, 2], FileType::Npy),
            (vec![2, 3, 2], FileType::Tns),
        ] {
            let (order, values) = (shape.len(), (0..12_i32).map(|value| value / 2).collect::<Vec<_>>());
            let levels = vec![LevelArrays::NONE; order];
            let whole =
                AnyTensor::from_parts(shape.clone(), Format::dense(order), levels, values.clone().into()).unwrap();
            let mut expected = Vec::new();
            write_tensor_to(&mut expected, (file_type, false), &whole).unwrap();
            let pieces = Pieces { file_type, shape: &shape };
            let mut found = Vec::new();
            let head = Head { element: ElementType::I32, count: 12, fill: None };
            pieces.head(&mut found, &head).unwrap();
            for (from, to) in [(0, 5), (5, 5), (5, 12)] {
                pieces.piece(&mut found, &Piece::Elements(from, &Values::from(values[from..to].to_vec()))).unwrap();
            }
            assert_eq!(found, expected, "{shape:?} {file_type:?}");
        }
    }
}
