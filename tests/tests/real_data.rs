//! Kernels on real tensors and matrices, against two independent computations: a plain loop over the entries here, and
//! NumPy and SciPy in `tests/python/check.py`.
//!
//! The data lies beside the project, in `../shared/data`; where it does not, the tests are ignored, as is the second computation
//! where no Python has SciPy.

use spc::execute::{Entries, Operand, Program, ProgramOptions};
use spc::io::{ReadOptions, read_as};
use spc::tensor::{AnyTensor, Coordinates, Indices, LevelArrays, Values};
use spc_compiler::format::Format;
use spc_compiler::{notation, syntax};
use spc_tests::harness::{Skip, Suite, options};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A kernel on a file: one sparse operand times dense ones.
struct Case {
    file: &'static str,
    kernel: &'static str,
    /// Index names of the sparse operand `X`, of the result, and of the dense operands in the order of the parameters.
    sparse: &'static str,
    result: &'static str,
    dense: &'static [&'static str],
}

/// The extent of indices that the sparse operand does not have.
const RANK: usize = 5;

const CASES: &[Case] = &[
    Case {
        file: "arc130.mtx.gz",
        kernel: "fn spmv(X: csr, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }",
        sparse: "ij",
        result: "i",
        dense: &["j"],
    },
    Case {
        file: "1138-bus.mtx.gz",
        kernel: "fn spmv(X: csc, x: dense) -> y: dense { y(i) = X(i, j) * x(j); }",
        sparse: "ij",
        result: "i",
        dense: &["j"],
    },
    Case {
        file: "bcsstk12.mtx.gz",
        kernel: "fn spmm(X: dcsr, B: dense) -> Y: dense { Y(i, r) = X(i, j) * B(j, r); }",
        sparse: "ij",
        result: "ir",
        dense: &["jr"],
    },
    Case {
        file: "email-eu-core.mtx.gz",
        kernel: "fn spmm(X: coo, B: dense) -> Y: dense { Y(i, r) = X(i, j) * B(j, r); }",
        sparse: "ij",
        result: "ir",
        dense: &["jr"],
    },
    Case {
        file: "lp-scsd1.mtx.gz",
        kernel: "fn sddmm(X: csr, C: dense, D: dense) -> Y: csr { Y(i, j) = X(i, j) * C(i, k) * D(j, k); }",
        sparse: "ij",
        result: "ij",
        dense: &["ik", "jk"],
    },
    Case {
        file: "powergrid-goc10480.mtx.gz",
        kernel: "fn sddmm(X: coo, C: dense, D: dense) -> Y: coo { Y(i, j) = X(i, j) * C(i, k) * D(j, k); }",
        sparse: "ij",
        result: "ij",
        dense: &["ik", "jk"],
    },
    Case {
        file: "nations-subj-rel-obj.tns.gz",
        kernel: "fn mttkrp(X: csf, B: dense, C: dense) -> A: dense { A(i, r) = X(i, j, k) * B(j, r) * C(k, r); }",
        sparse: "ijk",
        result: "ir",
        dense: &["jr", "kr"],
    },
    Case {
        file: "bitcoinotc-rater-ratee-week.tns.gz",
        kernel: "fn mttkrp(X: coo, A: dense, C: dense) -> B: dense { B(j, r) = X(i, j, k) * A(i, r) * C(k, r); }",
        sparse: "ijk",
        result: "jr",
        dense: &["ir", "kr"],
    },
    Case {
        file: "kinships-subj-rel-obj.tns.gz",
        kernel: "fn ttv(X: csf, v: dense) -> Y: csf { Y(i, j) = X(i, j, k) * v(k); }",
        sparse: "ijk",
        result: "ij",
        dense: &["k"],
    },
    Case {
        file: "wn18-subj-rel-obj.tns.gz",
        kernel: "fn ttm(X: coo, U: dense) -> Y: scoo { Y(j, k, r) = X(i, j, k) * U(i, r); }",
        sparse: "ijk",
        result: "jkr",
        dense: &["ir"],
    },
    Case {
        file: "tiny-parti-4d.tns.gz",
        kernel: "fn ttv(X: coo, v: dense) -> Y: csf { Y(j, k, l) = X(i, j, k, l) * v(i); }",
        sparse: "ijkl",
        result: "jkl",
        dense: &["i"],
    },
    Case {
        file: "tiny-uber-day-hour-lat-lon.tns.gz",
        kernel: "fn mttkrp(X: csf, A: dense, B: dense, D: dense) -> C: dense {
                     C(k, r) = X(i, j, k, l) * A(i, r) * B(j, r) * D(l, r);
                 }",
        sparse: "ijkl",
        result: "kr",
        dense: &["ir", "jr", "lr"],
    },
    Case {
        file: "tiny-lastfm-user-artist-tag-month-year.tns.gz",
        kernel: "fn mttkrp(X: coo, A: dense, B: dense, C: dense, D: dense) -> E: dense {
                     E(m, r) = X(i, j, k, l, m) * A(i, r) * B(j, r) * C(k, r) * D(l, r);
                 }",
        sparse: "ijklm",
        result: "mr",
        dense: &["ir", "jr", "kr", "lr"],
    },
];

/// An element of the dense operand number `operand`; small multiples of 1/16, as in `check.py`.
fn element(operand: usize, index: &[usize]) -> f64 {
    let total: usize = index.iter().enumerate().map(|(mode, part)| part * (7 + operand + 3 * mode)).sum();
    ((total + operand) % 13 + 1) as f64 / 16.0
}

fn at(indices: &Indices, entry: usize) -> usize {
    match indices {
        Indices::U32(indices) => indices[entry] as usize,
        Indices::U64(indices) => usize::try_from(indices[entry]).expect("extents fit the machine"),
    }
}

impl Case {
    fn extents(&self, x: &Coordinates<f64>) -> BTreeMap<char, usize> {
        let mut extents: BTreeMap<char, usize> = self.sparse.chars().zip(x.shape.iter().copied()).collect();
        for name in self.dense.concat().chars().chain(self.result.chars()) {
            extents.entry(name).or_insert(RANK);
        }
        extents
    }

    fn dense_operand(&self, operand: usize, extents: &BTreeMap<char, usize>) -> AnyTensor {
        let shape: Vec<usize> = self.dense[operand].chars().map(|name| extents[&name]).collect();
        let mut values = Vec::new();
        spc_tests::data::for_each_index(&shape, &mut |index| values.push(element(operand, index)));
        let levels = vec![LevelArrays::NONE; shape.len()];
        let format = Format::dense(shape.len());
        AnyTensor::from_parts(shape, format, levels, Values::from(values)).expect("dense operands are valid")
    }

    /// The result by its index, from a loop over entries and over the indices that only dense operands have.
    fn reference(&self, x: &Coordinates<f64>, extents: &BTreeMap<char, usize>) -> BTreeMap<Vec<usize>, f64> {
        let is_free = |name: &char| !self.sparse.contains(*name);
        let free: Vec<char> = extents.keys().copied().filter(is_free).collect();
        let ranges: Vec<usize> = free.iter().map(|name| extents[name]).collect();
        let mut result = BTreeMap::new();
        for (entry, value) in x.values.iter().enumerate() {
            let sparse = self.sparse.chars().zip(&x.indices).map(|(name, indices)| (name, at(indices, entry)));
            let mut place: BTreeMap<char, usize> = sparse.collect();
            spc_tests::data::for_each_index(&ranges, &mut |point| {
                place.extend(free.iter().copied().zip(point.iter().copied()));
                let index = |names: &str| names.chars().map(|name| place[&name]).collect::<Vec<usize>>();
                let factors = self.dense.iter().enumerate().map(|(operand, names)| element(operand, &index(names)));
                *result.entry(index(self.result)).or_insert(0.0) += value * factors.product::<f64>();
            });
        }
        result
    }

    fn run(&self, x: &Coordinates<f64>, extents: &BTreeMap<char, usize>) -> AnyTensor {
        let kernels = syntax::parse_program(self.kernel).and_then(|program| notation::check(&program));
        let kernel = kernels.unwrap_or_else(|problems| panic!("{}: {problems:?}", self.kernel)).remove(0);
        let names = kernel.tensors.iter().map(|tensor| tensor.name.clone());
        let dense = (0..self.dense.len()).map(|operand| Operand::Tensor(self.dense_operand(operand, extents)));
        let operands = std::iter::once(Operand::Entries(Entries::F64(x.clone()))).chain(dense);
        let program = Program::new(&kernel, names.zip(operands).collect(), &[], &ProgramOptions::default());
        let outcome =
            program.and_then(|program| program.run(2)).unwrap_or_else(|error| panic!("{}: {error}", self.file));
        outcome.outputs.into_iter().next().expect("a kernel has a result").1
    }

    /// The file, where the data is.
    fn path(&self) -> Result<PathBuf, Skip> {
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data"));
        if folder.is_dir() {
            Ok(folder.join(self.file))
        } else {
            Err(Skip(format!("{} is not there", folder.display())))
        }
    }

    fn read(path: &Path) -> Coordinates<f64> {
        read_as::<f64>(path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
    }

    fn agrees_with_a_loop(&self) -> Result<(), Skip> {
        let x = Self::read(&self.path()?);
        let extents = self.extents(&x);
        let result = self.run(&x, &extents);
        result.validate().unwrap_or_else(|error| panic!("{}: {error}", self.file));
        let mut expected = self.reference(&x, &extents);
        let scale = expected.values().fold(1.0, |scale: f64, value| scale.max(value.abs()));
        let visited = result.for_each_entry::<f64>(|index, value| {
            let reference = expected.remove(index).unwrap_or(0.0);
            assert!((value - reference).abs() <= 1e-11 * scale, "{}: {value} at {index:?}, not {reference}", self.file);
        });
        visited.expect("results are of f64");
        expected.retain(|_, value| *value != 0.0);
        assert!(expected.is_empty(), "{}: no entry at {:?}", self.file, expected.keys().next());
        Ok(())
    }

    fn agrees_with_python(&self) -> Result<(), Skip> {
        let path = self.path()?;
        let python = options().python_for("import scipy.io, scipy.sparse", "NumPy and SciPy")?;
        let x = Self::read(&path);
        let result = self.run(&x, &self.extents(&x));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("result.tns");
        spc::io::write_tensor(&file, &result).expect("the result can be written");
        let mut command = Command::new(python);
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/python/check.py")).arg(path);
        command.args([self.sparse, self.result, &RANK.to_string()]).arg(&file).args(self.dense);
        let output = command.output().expect("Python starts");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{said}");
        Ok(())
    }
}

/// Adds the tests of this module: each file with both computations.
pub(crate) fn tests(suite: &mut Suite) {
    for case in CASES {
        let name = case.file.split('.').next().unwrap_or_default();
        suite.test(format!("real_data::{name}"), || case.agrees_with_a_loop());
        suite.whole(format!("real_data::{name}_in_python"), || case.agrees_with_python());
    }
}
