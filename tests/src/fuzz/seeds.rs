//! Good inputs, which damage is done to.

use crate::corpus;
use crate::engine::Ready;
use spc::io::{npy, spct, write_mtx, write_tns};
use spc::tensor::{Coordinates, Indices};
use spc_compiler::format::prelude;

/// Every case of the corpus, without its header.
pub(super) fn programs() -> Vec<Vec<u8>> {
    corpus::cases().into_iter().map(|case| case.text.into_bytes()).collect()
}

/// The formats that the corpus declares, and the definitions of the prelude.
pub(super) fn formats() -> Vec<Vec<u8>> {
    let texts = corpus::cases().into_iter().map(|case| case.text).chain([prelude::TEXT.to_owned()]);
    let mut formats: Vec<Vec<u8>> = Vec::new();
    for text in texts {
        let behind = text.split([':', '=']).skip(1);
        formats.extend(behind.map(|text| text.split(['{', ';', '\n']).next().unwrap_or_default().trim().into()));
    }
    formats
}

/// The loop IR of some cases.
pub(super) fn loop_ir() -> Vec<Vec<u8>> {
    let cases = corpus::cases().into_iter().step_by(7);
    let ready = cases.filter_map(|case| Ready::new(&case).ok());
    ready.flat_map(|ready| ready.program.kernels).map(|compiled| compiled.kernel.to_string().into_bytes()).collect()
}

fn matrix() -> Coordinates<f64> {
    Coordinates {
        shape: vec![4, 5],
        shape_is_stated: true,
        indices: vec![Indices::U32(vec![0, 0, 2, 3]), Indices::U32(vec![0, 4, 1, 3])],
        values: vec![1.5, -2.0, 0.0, 1e300],
    }
}

fn written(write: impl Fn(&mut Vec<u8>) -> std::io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("memory takes all");
    bytes
}

pub(super) fn tns() -> Vec<Vec<u8>> {
    let comments = b"# a comment\n\n1 1 1 2.5\n  3 2\t4 -1e-3\r\n1 1 1 nan".to_vec();
    vec![written(|out| write_tns(out, &matrix())), comments, b"2.5\n".to_vec()]
}

pub(super) fn mtx() -> Vec<Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        written(|out| write_mtx(out, &matrix())),
        text("%%MatrixMarket matrix coordinate pattern symmetric\n% words\n3 3 2\n1 1\n3 2\n"),
        text("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n3 2 7\n"),
        text("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n"),
        text("%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n2 1 1.5 -2\n"),
    ]
}

pub(super) fn npy() -> Vec<Vec<u8>> {
    let as_f32 = Coordinates {
        shape: vec![3],
        shape_is_stated: true,
        indices: vec![Indices::U32(vec![0, 2])],
        values: vec![1.0f32, 4.0],
    };
    vec![written(|out| npy::write(out, &matrix())), written(|out| npy::write(out, &as_f32))]
}

/// The operands of some cases, packed.
pub(super) fn spct() -> Vec<Vec<u8>> {
    let cases = corpus::cases().into_iter().step_by(5);
    let tensors = cases.filter_map(|case| Ready::new(&case).ok()).flat_map(|ready| ready.tensors);
    tensors.map(|tensor| written(|out| spct::write(out, &tensor))).filter(|file| file.len() < 4000).collect()
}

/// Files behind a byte that says what they are.
pub(super) fn files() -> Vec<Vec<u8>> {
    let text = tns().remove(0);
    let plain = [(0u8, text.clone()), (2, mtx().remove(0)), (6, npy().remove(0)), (7, spct().remove(0))];
    let mut files: Vec<Vec<u8>> = plain.into_iter().map(|(kind, file)| [vec![kind], file].concat()).collect();
    // As gzip has it: one block, stored as it is. What is behind is not looked at before that is unpacked.
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    let length = text.len() as u16;
    files.push([&[1u8][..], &header, &length.to_le_bytes(), &(!length).to_le_bytes(), &text, &[0; 8]].concat());
    files
}

/// A `.spct` file with the checksum of what stands before it, so that damage comes further than to its test.
pub(super) fn with_checksum(file: &[u8]) -> Vec<u8> {
    let Some(body) = file.len().checked_sub(4).map(|end| &file[..end]) else { return file.to_vec() };
    let mut sum = u32::MAX;
    for byte in body {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        }
    }
    [body, &(!sum).to_le_bytes()].concat()
}
