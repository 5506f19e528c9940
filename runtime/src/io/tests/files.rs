//! Files as the system sees them.

use std::fs;
use std::io;

use super::narrow;
use crate::io::write::to_file;
use crate::io::{
    Contents, Filled, ReadErrorKind, ReadOptions, TensorFile, WriteErrorKind, read_as, read_tensor, write, write_mtx,
    write_tensor, write_tensor_stating_fill, write_tns,
};
use crate::tensor::{AnyTensor, Coordinates, Duplicates, IndexArray, LevelArrays, Values, pack_filled};
use spc_compiler::format::{Format, LevelFormat};

fn x() -> Coordinates<f64> {
    let indices = vec![narrow(&[1, 0, 1]), narrow(&[0, 2, 0])];
    Coordinates { shape: vec![2, 3], shape_is_stated: true, indices, values: vec![-1.0, 2.5, 1e-7] }
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn texts() {
    let mut tns = Vec::new();
    write_tns(&mut tns, &x()).unwrap();
    assert_eq!(String::from_utf8(tns).unwrap(), "# shape: 2 3\n1 3 2.5\n2 1 -1\n2 1 1e-7\n");
    let mut mtx = Vec::new();
    write_mtx(&mut mtx, &x()).unwrap();
    let head = "%%MatrixMarket matrix coordinate real general\n2 3 3\n";
    assert_eq!(String::from_utf8(mtx).unwrap(), format!("{head}1 3 2.5\n2 1 -1\n2 1 1e-7\n"));
    let mut vector = Vec::new();
    let y = Coordinates { shape: vec![4], shape_is_stated: true, indices: vec![narrow(&[2])], values: vec![7_u8] };
    write_mtx(&mut vector, &y).unwrap();
    assert_eq!(vector, b"%%MatrixMarket matrix coordinate integer general\n% shape: 4\n% element: u8\n4 1 1\n3 1 7\n");
    let mut scalar = Vec::new();
    let z = Coordinates { shape: vec![], shape_is_stated: true, indices: vec![], values: vec![7_i32] };
    write_mtx(&mut scalar, &z).unwrap();
    assert_eq!(scalar, b"%%MatrixMarket matrix coordinate integer general\n% shape:\n% element: i32\n1 1 1\n1 1 7\n");
}

#[test]
fn a_failure_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("y.tns");
    fs::write(&path, "1 1\n").unwrap();
    for compressed in [false, true] {
        let error = to_file(&path, compressed, |out| {
            out.write_all(&[b'x'; 1 << 20])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        })
        .unwrap_err();
        assert_eq!(error.kind(), WriteErrorKind::Io);
        assert_eq!(error.to_string(), format!("{}: cannot write: no storage space", path.display()));
        assert_eq!(fs::read_to_string(&path).unwrap(), "1 1\n");
        assert_eq!(names(folder.path()), ["y.tns"]);
    }
    write(&path, &x()).unwrap();
    assert_eq!(names(folder.path()), ["y.tns"]);
    assert_eq!(read_as::<f64>(&path, &ReadOptions::default()).unwrap().values, [2.5, -1.0, 1e-7]);
}

#[cfg(unix)]
#[test]
fn links_permissions_and_devices_stay_what_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("y.tns"), folder.path().join("link.tns"));
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("y.tns", &link).unwrap();
    write(&link, &x()).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(&file).unwrap(), "# shape: 2 3\n1 3 2.5\n2 1 -1\n2 1 1e-7\n");
    to_file(std::path::Path::new("/dev/null"), false, |out| write_tns(out, &x())).unwrap();
    let full = to_file(std::path::Path::new("/dev/full"), false, |out| write_tns(out, &x()));
    assert!(full.unwrap_err().to_string().starts_with("/dev/full: cannot write: No space left on device"));
}

#[test]
fn refusals() {
    let folder = tempfile::tempdir().unwrap();
    let of = |name: &str, x: &Coordinates<f64>| {
        let error = write(folder.path().join(name), x).unwrap_err();
        (error.kind(), error.to_string().replace(&format!("{}/", folder.path().display()), ""))
    };
    let third = Coordinates { shape: vec![1 << 40; 3], indices: vec![narrow(&[0; 3]); 3], ..x() };
    let ragged = Coordinates { indices: vec![narrow(&[0, 1, 1]), narrow(&[0])], ..x() };
    let beyond = Coordinates { shape: vec![2, 2], ..x() };
    let unsupported = |message: &str| (WriteErrorKind::NotSupported, message.to_owned());
    assert_eq!(
        of("y.mtx", &third),
        unsupported("y.mtx: a .mtx file holds a matrix, but this tensor has order 3: write it as .tns")
    );
    assert_eq!(of("y.tns", &ragged), unsupported("y.tns: mode 2 has 1 indices, but there are 3 values"));
    assert_eq!(of("y.mtx", &beyond), unsupported("y.mtx: index 2 of mode 2, from 0, is beyond its extent 2"));
    assert_eq!(
        of("y.npy", &third),
        (
            WriteErrorKind::Memory,
            "y.npy: a dense array of shape [1099511627776, 1099511627776, 1099511627776], \
             10633823966279326983230456482242756608 bytes, does not fit into the memory here: write it as .tns or .spct"
                .to_owned()
        )
    );
    assert_eq!(
        of("y.npy", &x()),
        unsupported("y.npy: an entry occurs twice: pack the entries first, which adds them up")
    );
    assert_eq!(
        of("y.spct", &x()),
        unsupported("y.spct: a .spct file holds a packed tensor: pack the entries first, or write them as .tns")
    );
    assert_eq!(of("y", &x()).0, WriteErrorKind::UnknownFormat);
    assert_eq!(of("no/y.tns", &x()).0, WriteErrorKind::Io);
    assert!(names(folder.path()).is_empty());
}

#[test]
fn packed_tensors() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let columns = LevelArrays::of(IndexArray::from(vec![0u32, 1, 3]), IndexArray::from(vec![1u32, 0, 2]));
    let csr = Format::of_levels([LevelFormat::DENSE, LevelFormat::COMPRESSED]);
    let csr =
        AnyTensor::from_parts(vec![2, 3], csr, vec![LevelArrays::NONE, columns], Values::from(vec![2.0, 0.0, 4.0]))
            .unwrap();
    let options = ReadOptions::default();
    for name in ["a.spct", "a.spct.gz"] {
        write_tensor(path(name), &csr).unwrap();
        assert_eq!(read_tensor(path(name), &options).unwrap(), csr);
        assert_eq!(read_as::<i32>(path(name), &options).unwrap().values, [2, 0, 4]);
    }
    // An explicit zero of a compressed level is an entry; a zero of a dense level is not.
    write_tensor(path("a.tns"), &csr).unwrap();
    assert_eq!(fs::read_to_string(path("a.tns")).unwrap(), "# shape: 2 3\n1 2 2\n2 1 0\n2 3 4\n");
    write_tensor(path("a.npy"), &csr).unwrap();
    let dense = read_tensor(path("a.npy"), &options).unwrap();
    assert_eq!(dense.values_of::<f64>(), Some(&[0.0, 2.0, 0.0, 0.0, 0.0, 4.0][..]));
    write_tensor(path("b.tns"), &dense).unwrap();
    assert_eq!(fs::read_to_string(path("b.tns")).unwrap(), "# shape: 2 3\n1 1 0\n1 2 2\n1 3 0\n2 1 0\n2 2 0\n2 3 4\n");
    write_tensor_stating_fill(path("b.tns"), &dense).unwrap();
    assert_eq!(fs::read_to_string(path("b.tns")).unwrap(), "# shape: 2 3\n# fill: 0\n1 2 2\n2 3 4\n");
    let error = read_tensor(path("b.tns"), &options).unwrap_err();
    assert_eq!(error.message(), "the file holds entries and not a packed tensor: read the entries, and pack them");
}

#[cfg(unix)]
#[test]
fn a_file_is_a_tensor_in_a_format_that_suits_it() {
    let folder = tempfile::tempdir().unwrap();
    let read_text = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        crate::io::read(path)
    };
    let shown = |name: &str, text: &str| format!("{:?}", read_text(name, text).unwrap());
    assert_eq!(shown("a.tns", "1 2 3 4\n2 1 1 5\n"), "f64 [2, 2, 3] [compressed, compressed, compressed], 2 stored");
    assert_eq!(shown("b.tns", "1 2 3\n1 2 4\n"), "f64 [1, 2] [dense, compressed], 1 stored");
    let coordinate = "%%MatrixMarket matrix coordinate integer general\n3 4 1\n3 1 7\n";
    assert_eq!(read_text("a.mtx", coordinate).unwrap().shape(), [3, 4]);
    let array = "%%MatrixMarket matrix array real general\n2 1\n7\n8\n";
    assert_eq!(shown("b.mtx", array), "f64 [2, 1] [dense, dense], 2 stored");
    assert!(read_text("c.tns", "0 1 2\n").unwrap_err().to_string().contains("c.tns:1:1"));
}

#[test]
fn pipes_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe.tns");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: no mkfifo here");
        return;
    }
    let writer = std::thread::spawn({
        let path = path.clone();
        move || fs::write(path, "1 3 2.5\n".repeat(50_000)).unwrap()
    });
    assert_eq!(read_as::<f64>(&path, &ReadOptions::default()).unwrap().values.len(), 50_000);
    writer.join().unwrap();
}

#[test]
fn large_files_are_read_in_parts() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.tns");
    let count = 700_000;
    let lines: String = (1..=count).map(|line| format!("{line} 5 0.25\n")).collect();
    assert!(lines.len() > 8 << 20);
    fs::write(&path, &lines).unwrap();
    let x = read_as::<f64>(&path, &ReadOptions::default()).unwrap();
    assert_eq!(x.shape, [count, 5]);
    assert_eq!(x.indices[0], crate::tensor::Indices::U32((0..count as u32).collect()));
    let (magic, gzip) = (folder.path().join("y.tns"), folder.path().join("y.tns.gz"));
    write(&gzip, &x).unwrap();
    assert!(fs::metadata(&gzip).unwrap().len() < lines.len() as u64 / 2);
    // Without `.gz`, its first bytes tell.
    fs::rename(&gzip, &magic).unwrap();
    assert_eq!(read_as::<f64>(&magic, &ReadOptions::default()).unwrap(), x);
}

#[test]
fn what_is_missing_and_not_zero_is_not_lost() {
    let folder = tempfile::tempdir().unwrap();
    let entries = Coordinates {
        shape: vec![2, 2],
        shape_is_stated: true,
        indices: vec![narrow(&[0, 0]), narrow(&[0, 1])],
        values: vec![0.0, 2.0],
    };
    let rows = Format::permuted(&[0, 1], &[LevelFormat::COMPRESSED, LevelFormat::DENSE]);
    let tensor = pack_filled(entries.clone(), &rows, Duplicates::Refuse, f64::INFINITY).unwrap();
    let packed = folder.path().join("x.spct");
    write_tensor(&packed, &tensor).unwrap();
    let error = read_as::<f64>(&packed, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::NotSupported);
    assert_eq!(read_tensor(&packed, &ReadOptions::default()).unwrap(), tensor);

    let text = folder.path().join("x.tns");
    write_tensor(&text, &tensor).unwrap();
    assert_eq!(std::fs::read_to_string(&text).unwrap(), "# shape: 2 2\n# fill: inf\n1 1 0\n1 2 2\n");
    let error = read_as::<f64>(&text, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::NotSupported);
    let contents = TensorFile::open(&text, &ReadOptions::default()).unwrap().contents::<f64>().unwrap();
    assert_eq!(contents, Contents::Entries(Filled { entries, fill: Some(f64::INFINITY) }));
    let array = folder.path().join("x.npy");
    write_tensor(&array, &tensor).unwrap();
    let dense = read_tensor(&array, &ReadOptions::default()).unwrap();
    assert_eq!(dense.values_of::<f64>(), Some(&[0.0, 2.0, f64::INFINITY, f64::INFINITY][..]));
}
