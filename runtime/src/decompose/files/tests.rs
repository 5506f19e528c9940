use super::super::ktensor::tests::model;
use super::*;
use crate::tensor::ElementType;
use std::fs;
use std::process::Command;

fn tucker() -> TuckerTensor {
    let factor =
        |rows: usize, columns: usize| Factor::from_fn([rows, columns], |at| (at[0] * 3 + at[1]) as f64 - 1.5).unwrap();
    let core = Tensor::<f64, Dense<3>>::from_fn([2, 1, 3], |at| (at[0] + 5 * at[2]) as f64).unwrap();
    TuckerTensor::new(core.into_any(), vec![factor(4, 2), factor(2, 1), factor(3, 3)]).unwrap()
}

fn message<T>(result: Result<T, DecomposeError>) -> String {
    result.map(drop).unwrap_err().to_string()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["model", "model.npz", "sub.folder"] {
        let path = folder.path().join(name);
        model(&[4, 3, 5], 3, 0).write(&path).unwrap();
        assert_eq!(KTensor::read(&path).unwrap(), model(&[4, 3, 5], 3, 0));
        let error = message(TuckerTensor::read(&path));
        assert!(
            error.starts_with(&format!("{}: a Tucker tensor has `core` too, and its arrays are ", path.display())),
            "{error}"
        );
        assert!(error.ends_with("; a K-tensor has `weights`"), "{error}");
        tucker().write(&path).unwrap();
        assert_eq!(TuckerTensor::read(&path).unwrap(), tucker());
        assert!(message(KTensor::read(&path)).ends_with("; a Tucker tensor has `core`"));
    }
    assert_eq!(names(folder.path()), ["model", "model.npz", "sub.folder"]);
}

#[test]
fn a_folder_keeps_its_other_files_and_loses_those_of_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model(&[4, 3, 5, 2], 3, 0).write(&path).unwrap();
    fs::write(path.join("notes.txt"), "mine").unwrap();
    fs::copy(path.join("weights.npy"), path.join("factor_x.npy")).unwrap();
    model(&[4, 3], 2, 1).write(&path).unwrap();
    assert_eq!(names(&path), ["factor_1.npy", "factor_2.npy", "factor_x.npy", "notes.txt", "weights.npy"]);
    assert_eq!(KTensor::read(&path).unwrap(), model(&[4, 3], 2, 1));
    tucker().write(&path).unwrap();
    let expected = ["core.npy", "factor_1.npy", "factor_2.npy", "factor_3.npy", "factor_x.npy", "notes.txt"];
    assert_eq!(names(&path), expected);
}

#[test]
fn what_can_not_be_written_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let shown = |name: &str| folder.path().join(name).display().to_string();
    let written = |name: &str| message(model(&[4, 3], 2, 1).write(folder.path().join(name)));
    assert_eq!(written("file"), format!("{}: cannot write: is a file, not a folder", shown("file")));
    let error = written("model.tns");
    let expected = "several arrays are written as a folder or as a .npz archive: give it such a name";
    assert_eq!(error, format!("{}: {expected}", shown("model.tns")));
    assert!(written("none/model").starts_with(&format!("{}: cannot write: ", shown("none/model"))));
    assert!(written("none/model.npz").starts_with(&format!("{}: cannot write: ", shown("none/model.npz"))));
    assert_eq!((names(folder.path()), fs::read_to_string(file).unwrap()), (vec!["file".to_owned()], "mine".to_owned()));
}

#[test]
fn what_is_missing_or_does_not_fit_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let array = |shape: &[usize], name: &str| {
        let zeros = AnyTensor::zeros(shape.to_vec(), Format::dense(shape.len()), ElementType::F32).unwrap();
        io::write_tensor(path.join(format!("{name}.npy")), &zeros).unwrap();
    };
    let read = || message(KTensor::read(&path)).replace(&path.display().to_string(), "M");
    assert!(read().starts_with("M: cannot open: "), "{}", read());
    fs::create_dir(&path).unwrap();
    assert_eq!(read(), "M: a K-tensor has `weights`, `factor_1` too, and there are no arrays");
    array(&[2], "weights");
    array(&[4, 2], "factor_1");
    array(&[3, 2], "factor_3");
    assert_eq!(read(), "M: a K-tensor has `factor_2` too, and its arrays are `factor_1`, `factor_3`, `weights`");
    array(&[5, 3], "factor_2");
    let expected = "M: the array `factor_2` has shape 5 × 3, but there are 2 weights: it needs a column for each";
    assert_eq!(read(), expected);
    array(&[5], "factor_2");
    assert_eq!(read(), "M: the array `factor_2` has shape 5: a factor is a matrix of extent × components");
    array(&[5, 2], "factor_2");
    assert_eq!(KTensor::read(&path).unwrap().shape(), [4, 5, 3]);
    array(&[2, 1], "weights");
    assert_eq!(read(), "M: the array `weights` has shape 2 × 1: weights are a vector");
    fs::write(path.join("factor_3.npy"), "1 2\n").unwrap();
    assert!(read().starts_with("M/factor_3.npy: begins with "), "{}", read());
    array(&[3, 2], "factor_3");
    let tucker = || message(TuckerTensor::read(&path)).replace(&path.display().to_string(), "M");
    array(&[2, 2], "core");
    assert_eq!(tucker(), "M: the array `core` has 2 modes, but there are 3 factors");
    array(&[2, 2, 4], "core");
    assert_eq!(tucker(), "M: the array `factor_3` has shape 3 × 2, but `core` has shape 2 × 2 × 4: it needs 4 columns");
    fs::write(folder.path().join("x.tns"), "1 1 1\n").unwrap();
    let error = message(KTensor::read(folder.path().join("x.tns")));
    assert!(error.ends_with("x.tns: is neither a folder of .npy files nor a .npz archive"), "{error}");
    let nan = Tensor::<f64, Dense<1>>::from_vec([2], vec![1.0, f64::NAN]).unwrap();
    io::write_tensor(path.join("weights.npy"), nan.as_any()).unwrap();
    assert_eq!(read(), "M: the weight of component 2 is NaN: models have finite numbers");
}

/// Whether there is a Python with NumPy, by the variable that says one.
fn python(folder: &Path, script: &str) -> Option<String> {
    let python = std::env::var("SPC_PYTHON").ok()?;
    let run = Command::new(python).current_dir(folder).args(["-c", script]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8(run.stdout).unwrap())
}

#[test]
fn numpy_reads_what_is_written_and_writes_what_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let m = model(&[4, 3, 5], 3, 0);
    m.write(folder.path().join("model.npz")).unwrap();
    m.write(folder.path().join("model")).unwrap();
    tucker().write(folder.path().join("tucker.npz")).unwrap();
    let script = "
import numpy as np, os
a = dict(np.load('model.npz'))
b = {n[:-4]: np.load('model/' + n) for n in os.listdir('model')}
assert sorted(a) == sorted(b) == ['factor_1', 'factor_2', 'factor_3', 'weights']
assert all(np.array_equal(a[n], b[n]) and a[n].dtype == np.float64 for n in a)
print(repr(float(np.einsum('r,ir,jr,kr', a['weights'], a['factor_1'], a['factor_2'], a['factor_3'])[1, 2, 3])))
np.savez('plain.npz', **a)
np.savez_compressed('compressed.npz', **{n: np.asfortranarray(v) for n, v in a.items()})
np.savez('single.npz', **{n: v.astype('f4') for n, v in a.items()})
os.mkdir('saved')
for n, v in a.items(): np.save('saved/' + n, np.asfortranarray(v))
t = dict(np.load('tucker.npz'))
np.savez('fortran.npz', **{n: np.asfortranarray(v) for n, v in t.items()})
np.savez('whole.npz', weights=np.array([1, 2]), factor_1=np.array([[1, 2], [3, 4]]), factor_2=np.array([[True, False]]))
np.savez('positional.npz', a['weights'], a['factor_1'])
";
    let Some(printed) = python(folder.path(), script) else {
        println!("skipped: set SPC_PYTHON to a Python that has NumPy");
        return;
    };
    assert_eq!(printed.trim(), "-3.0");
    for name in ["plain.npz", "compressed.npz", "single.npz", "saved"] {
        assert_eq!(KTensor::read(folder.path().join(name)).unwrap(), m, "{name}");
    }
    assert_eq!(TuckerTensor::read(folder.path().join("fortran.npz")).unwrap(), tucker());
    let whole = KTensor::read(folder.path().join("whole.npz")).unwrap();
    assert_eq!((whole.weights(), whole.factors()[1].values()), (&[1.0, 2.0][..], &[1.0, 0.0][..]));
    let error = message(KTensor::read(folder.path().join("positional.npz")));
    assert!(
        error.ends_with("a K-tensor has `weights`, `factor_1` too, and its arrays are `arr_0`, `arr_1`"),
        "{error}"
    );
}
