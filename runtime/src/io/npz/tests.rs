//! Archives that are damaged or lie.

use spc_compiler::format::Format;

use super::{parse, write_entries, write_tensor};
use crate::io::ReadErrorKind;
use crate::io::write::Listed;
use crate::tensor::{AnyTensor, Coordinates, Duplicates, ElementType, Indices, pack};

fn entries() -> Coordinates<f64> {
    Coordinates {
        shape: vec![3, 4],
        shape_is_stated: true,
        indices: vec![Indices::U32(vec![0, 2, 2]), Indices::U32(vec![1, 0, 3])],
        values: vec![1.5, -0.0, f64::MIN_POSITIVE],
    }
}

fn archives() -> Vec<Vec<u8>> {
    let written = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = Vec::new();
        write(&mut bytes);
        bytes
    };
    let packed = |format: &Format| -> AnyTensor { pack(entries(), format, Duplicates::Sum).unwrap() };
    let (csr, dense) = (packed(&Format::csf(2)), packed(&Format::dense(2)));
    vec![
        written(&|out| write_entries(out, &Listed::of(&entries(), None)).unwrap()),
        written(&|out| write_tensor(out, &csr).unwrap()),
        written(&|out| write_tensor(out, &dense).unwrap()),
    ]
}

#[test]
fn archives_that_are_cut_short_or_changed_are_refused_or_read() {
    for archive in archives() {
        assert!(parse::<f64>(&archive, ElementType::F64, None).is_ok());
        for length in 0..archive.len() {
            assert!(
                parse::<f64>(&archive[..length], ElementType::F64, None).is_err(),
                "{length} of {} bytes",
                archive.len()
            );
        }
        for place in 0..archive.len() {
            for change in [1, 0x80, 0xff] {
                let mut changed = archive.clone();
                changed[place] ^= change;
                // Some bytes, as those of a time, say nothing of the arrays.
                _ = parse::<f64>(&changed, ElementType::F64, None);
            }
        }
    }
}

#[test]
fn fill_values_and_scalars_that_scipy_has_not_are_refused() {
    let mut out = Vec::new();
    let error = write_entries(&mut out, &Listed::of(&entries(), Some(&vec![7.0]))).unwrap_err();
    assert_eq!(error.to_string(), "the fill value is 7, and in a sparse .npz file it is zero: write it as .tns");
    let scalar = Coordinates { shape: vec![], shape_is_stated: true, indices: vec![], values: vec![1.0] };
    assert!(
        write_entries(&mut out, &Listed::of(&scalar, None))
            .unwrap_err()
            .to_string()
            .starts_with("a scalar is no sparse")
    );
    assert_eq!(parse::<f64>(b"PK", ElementType::F64, None).unwrap_err().kind(), ReadErrorKind::Header);
}
