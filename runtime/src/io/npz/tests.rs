//! Archives that are damaged or lie.

use spc_compiler::format::Format;

use super::read::parse;
use super::write::archive;
use super::write::{write_entries, write_tensor};
use crate::io::write::Listed;
use crate::io::{Contents, Filled, ReadErrorKind};
use crate::tensor::{AnyTensor, Coordinates, Dense, Duplicates, ElementType, Indices, Tensor, pack};

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

/// What PyData's `sparse.save_npz` writes: no format, and a fill value.
#[test]
fn archives_of_pydata_have_fill_values() {
    let numbers =
        |values: &[i64]| Tensor::<i64, Dense<1>>::from_vec([values.len()], values.to_vec()).unwrap().into_any();
    let reals = |values: &[f64]| Tensor::<f64, Dense<1>>::from_vec([values.len()], values.to_vec()).unwrap().into_any();
    let read = |arrays: &[(&str, AnyTensor)]| {
        let arrays: Vec<(String, &AnyTensor)> =
            arrays.iter().map(|(name, array)| ((*name).to_owned(), array)).collect();
        let mut out = Vec::new();
        super::write_arrays(&mut out, &arrays).unwrap();
        parse::<f64>(&out, ElementType::F64, None)
    };
    let data = || ("data", reals(&[2.0, 3.0]));
    let matrix = |axis: i64| {
        read(&[
            data(),
            ("indices", numbers(&[1, 0])),
            ("indptr", numbers(&[0, 1, 2])),
            ("compressed_axes", numbers(&[axis])),
            ("shape", numbers(&[2, 2])),
            ("fill_value", reals(&[7.0])),
        ])
    };
    for (axis, columns) in [(0, [1, 0]), (1, [0, 1])] {
        let Contents::Entries(Filled { entries, fill }) = matrix(axis).unwrap() else { panic!("no entries") };
        assert_eq!((fill, entries.values, entries.indices[1].at(0)), (Some(7.0), vec![2.0, 3.0], columns[0]));
    }
    let error = read(&[data(), ("compressed_axes", numbers(&[0, 1])), ("shape", numbers(&[2, 2, 2]))]).unwrap_err();
    assert_has(error.message(), "no array `indptr`");
    let error =
        read(&[data(), ("coords", numbers(&[0])), ("shape", numbers(&[2])), ("fill_value", reals(&[1.0, 2.0]))]);
    assert!(error.is_err());
}

fn assert_has(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

/// A small archive does not fill the memory.
#[test]
fn lengths_are_compared_before_arrays_are_unpacked() {
    let mut npy = Vec::new();
    crate::io::npy::write_header(&mut npy, ElementType::F64, &[10]).unwrap();
    npy.resize(npy.len() + (1 << 20), 0);
    let mut out = Vec::new();
    archive(&mut out, |members| members.add("A\u{1b}]0;x", &mut |out| out.write_all(&npy))).unwrap();
    let error = parse::<f64>(&out, ElementType::F64, None).unwrap_err();
    assert_has(error.message(), r"the array `A\u{1b}]0;x` has");
    assert_has(error.message(), "which is not what its header says");
}

/// Files that PyData's `sparse` 0.19.3 wrote: a tensor of 2 × 3 × 4 that is -1 but at three places, as `COO` and as `GCXS` with the compressed axes
/// (1) and (0, 2).
#[test]
fn files_of_pydata_have_their_entries_and_fill_value() {
    let files: [&[u8]; 3] = [
        include_bytes!("../tests/pydata/coo.npz"),
        include_bytes!("../tests/pydata/gcxs_1.npz"),
        include_bytes!("../tests/pydata/gcxs_0_2.npz"),
    ];
    for file in files {
        let contents = parse::<f64>(file, ElementType::F64, None).unwrap();
        let Contents::Entries(Filled { entries, fill }) = contents else { panic!("no entries") };
        let mut found: Vec<([u64; 3], f64)> = entries
            .values
            .iter()
            .enumerate()
            .map(|(entry, &value)| ([0, 1, 2].map(|mode| entries.indices[mode].at(entry)), value))
            .collect();
        found.sort_by_key(|(index, _)| *index);
        assert_eq!(found, [([0, 1, 2], 5.0), ([1, 0, 0], 0.0), ([1, 2, 3], 7.0)]);
        assert_eq!((entries.shape, fill), (vec![2, 3, 4], Some(-1.0)));
        let about = super::read::description(file, None).unwrap();
        assert_eq!((about.order, about.fill.as_deref()), (Some(3), Some("-1")));
    }
}

/// Each archive with one member more is refused, and the message names it.
#[test]
fn unknown_members_are_refused() {
    let one = Tensor::<f64, Dense<1>>::from_vec([1], vec![1.0]).unwrap().into_any();
    let numbers =
        |values: &[i64]| Tensor::<i64, Dense<1>>::from_vec([values.len()], values.to_vec()).unwrap().into_any();
    let (shape, zero) = (numbers(&[1, 1]), numbers(&[0]));
    let sparse = [("shape", &shape), ("data", &one)];
    let (row, pointers) = (numbers(&[0, 0]), numbers(&[0, 1]));
    let coords =
        Tensor::<i64, Dense<2>>::from_vec([2, 1], row.values_of::<i64>().unwrap().to_vec()).unwrap().into_any();
    let good: [&[(&str, &AnyTensor)]; 3] = [
        &[sparse[0], sparse[1], ("coords", &coords)],
        &[sparse[0], sparse[1], ("indptr", &pointers), ("indices", &zero), ("compressed_axes", &zero)],
        &[("arr_0", &one)],
    ];
    let read = |arrays: &[(&str, &AnyTensor)], other: Option<&str>| {
        let mut out = Vec::new();
        archive(&mut out, |members| {
            for (name, array) in arrays {
                members.add(name, &mut |out| crate::io::FileType::Npy.writer()?.write_tensor(out, array))?;
            }
            other.map_or(Ok(()), |name| members.add_file(name, &mut |out| out.write_all(b"{}")))
        })
        .unwrap();
        parse::<f64>(&out, ElementType::F64, None)
    };
    for arrays in good {
        assert!(read(arrays, None).is_ok());
        assert_has(read(arrays, Some("meta.json")).unwrap_err().message(), "the archive has `meta.json`");
        let more = [arrays, &[("symmetry", &one)]].concat();
        let error = read(&more, None).unwrap_err();
        assert_has(error.message(), "symmetry");
    }
}
