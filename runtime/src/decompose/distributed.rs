//! A tensor of which each rank has some entries.

use super::DecomposeError;
use super::entries::{Scaled, checked, entries, largest, scaled_by};
use crate::distribute::{Communicator, PartError, SharedFile, cut, reduced, summed};
use crate::tensor::{AnyTensor, Coordinates, ElementType};

/// A tensor to be decomposed on many ranks, of which each has some entries. Where it comes from a file, no rank has had all of them.
///
/// ```
/// use spc::decompose::{AlsOptions, CpOptions, DecomposeError, DistributedTensor, cp_of};
/// use spc::distribute::{SharedFile, on_threads};
/// use spc::io::{ReadOptions, TensorFile};
/// use spc::tensor::ElementType;
/// use std::ops::ControlFlow;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("x.tns");
/// std::fs::write(&path, "1 1 1 2\n1 2 2 3\n2 1 2 1\n2 2 1 4\n")?;
/// let file = TensorFile::begin(&path, &ReadOptions::default())?;
/// let file = SharedFile::of(&file, ElementType::F64)?.ok_or("each rank reads all of it")?;
/// let (options, method) = (CpOptions::new(2), AlsOptions::default());
/// let go_on = |_: &_| ControlFlow::Continue(());
/// let fitted = on_threads(2, None, |ranks| {
///     let x = DistributedTensor::of_file(&file, ranks)?;
///     assert_eq!((x.shape(), x.stored()), (&[2, 2, 2][..], 4));
///     cp_of(&x, &method, &options, ranks, &mut { go_on })
/// })?;
/// assert_eq!(fitted[0].model.weights(), fitted[1].model.weights());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct DistributedTensor {
    element: ElementType,
    shape_is_stated: bool,
    stored: u64,
    /// Those of this rank, without zeros.
    pub(super) entries: Coordinates<f64>,
}

impl DistributedTensor {
    /// Reads this rank's part of a file. All ranks call it. Of a text, entries of the same coordinates become their sum. A `.spct` file whose
    /// format does not come in parts is read as a whole by each rank, which keeps its share.
    ///
    /// # Errors
    /// When the file can't be read or is damaged, on each rank; as [`cp`](super::cp) where it is no tensor to decompose; and when another
    /// rank has stopped.
    pub fn of_file(file: &SharedFile, ranks: &dyn Communicator) -> Result<Self, DecomposeError> {
        if let Some(stored) = file.whole() {
            return Self::of_tensor(&stored.read()?, ranks);
        }
        let (own, shape_is_stated) = file.tensor(ranks).map_err(|error| match error {
            PartError::Read(error) => DecomposeError::from(error),
            PartError::Pack(error) => error.into(),
            PartError::Communication(error) => error.into(),
        })?;
        checked(&own, 3, 8)?;
        let stored = total(own.nnz() as f64, ranks)? as u64;
        Ok(Self { element: own.element(), shape_is_stated, stored, entries: entries(&own)? })
    }

    /// This rank's share of a tensor that all ranks have: as many entries as any other.
    ///
    /// # Errors
    /// As [`cp`](super::cp) where it is no tensor to decompose.
    pub fn of_tensor(x: &AnyTensor, ranks: &dyn Communicator) -> Result<Self, DecomposeError> {
        let x = &*x.unfolded()?;
        checked(x, 3, 8)?;
        let all = entries(x)?;
        let bound = |rank: usize| cut(all.values.len(), ranks.size(), rank);
        let chosen: Vec<usize> = (bound(ranks.rank())..bound(ranks.rank() + 1)).collect();
        let entries = Coordinates {
            shape: all.shape.clone(),
            shape_is_stated: true,
            indices: all.indices.iter().map(|column| column.chosen(&chosen)).collect(),
            values: chosen.iter().map(|&entry| all.values[entry]).collect(),
        };
        Ok(Self { element: x.element(), shape_is_stated: true, stored: x.nnz() as u64, entries })
    }

    /// The extent of each mode.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.entries.shape
    }

    /// Whether the file states the shape; if not, extents are the largest indices.
    #[must_use]
    pub fn shape_is_stated(&self) -> bool {
        self.shape_is_stated
    }

    /// The type of its elements; entries are worked on as `f64`, and by kernels as their options say.
    #[must_use]
    pub fn element(&self) -> ElementType {
        self.element
    }

    /// How many entries are stored, those of all ranks together.
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.stored
    }

    /// The largest absolute value of all ranks.
    pub(super) fn largest(&self, ranks: &dyn Communicator) -> Result<f64, DecomposeError> {
        of_all(largest(self.entries.values.iter().copied()), ranks)
    }

    /// Its entries scaled, as those of all ranks ask for it.
    pub(super) fn scaled(&self, ranks: &dyn Communicator) -> Result<Scaled, DecomposeError> {
        let scaled = scaled_by(self.entries.clone(), |largest| of_all(largest, ranks))?;
        let norm = total(scaled.norm * scaled.norm, ranks)?.sqrt();
        Ok(Scaled { norm, ..scaled })
    }
}

/// The largest of a number of each rank.
fn of_all(own: f64, ranks: &dyn Communicator) -> Result<f64, DecomposeError> {
    Ok(reduced(ranks, &[own], f64::max)?.first().copied().unwrap_or(own))
}

/// The sum of a number of each rank.
pub(super) fn total(own: f64, ranks: &dyn Communicator) -> Result<f64, DecomposeError> {
    Ok(summed(ranks, &[own])?.first().copied().unwrap_or(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decompose::{
        AlsOptions, CpMethod, CpOptions, Engine, Fitted, Start, TuckerMethod, TuckerOptions, cp, cp_of, tucker,
        tucker_of,
    };
    use crate::distribute::{ThreadRank, on_threads};
    use crate::execute::Backend;
    use crate::generate;
    use crate::io::{self, ReadOptions, StoredTensor, TensorFile, TextParts};
    use crate::tensor::{Duplicates, Indices, pack};
    use spc_compiler::format::Format;
    use std::fmt::Write;
    use std::ops::ControlFlow;
    use std::path::Path;

    /// Entries of 30 x 20 x 12, of which the last slice of each mode has none but one that says the extent; some come twice.
    fn entries() -> Coordinates<f64> {
        let mut entries = generate::uniform(&[28, 18, 10], 500, 7).unwrap();
        entries.values.iter_mut().enumerate().for_each(|(entry, value)| *value += (entry % 5) as f64 - 1.5);
        let again = |column: &Indices, last: u64| {
            let column = (0..500).chain((0..500).step_by(9)).map(|entry| column.at(entry));
            Indices::U64(column.chain([last - 1]).collect())
        };
        let extents = [30, 20, 12];
        entries.indices = entries.indices.iter().zip(extents).map(|(column, extent)| again(column, extent)).collect();
        entries.values.extend((0..56).map(|entry| f64::from(entry) / 40.0));
        entries.values.push(2.5);
        entries.shape = vec![30, 20, 12];
        entries
    }

    fn text(entries: &Coordinates<f64>) -> String {
        let mut text = String::new();
        for (entry, value) in entries.values.iter().enumerate() {
            entries.indices.iter().for_each(|column| _ = write!(text, "{} ", column.at(entry) + 1));
            _ = writeln!(text, "{value:?}");
        }
        text
    }

    fn text_file(path: &Path, element: ElementType) -> SharedFile {
        let file = TensorFile::begin(path, &ReadOptions::default()).unwrap();
        TextParts::of(&file, element).expect("it comes in parts").into()
    }

    fn engine() -> Engine {
        Engine { backend: Some(Backend::Interpreter), ..Engine::default() }
    }

    fn near<M>(found: &Fitted<M>, one: &Fitted<M>, close: f64) {
        assert_eq!(found.iterations.len(), one.iterations.len());
        for (found, one) in found.iterations.iter().zip(&one.iterations) {
            assert!((found.fit.unwrap() - one.fit.unwrap()).abs() < close, "{found:?}, not {one:?}");
        }
    }

    /// Texts and stored tensors, those that do not come in parts among them: models are those of one rank that has all.
    #[test]
    fn ranks_decompose_what_they_have_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let entries = entries();
        std::fs::write(path("x.tns"), text(&entries)).unwrap();
        let x = pack(entries, &Format::csf(3), Duplicates::Sum).unwrap();
        let stored = |name: &str, format: &Format| {
            io::write_tensor(path(name), &x.convert(format).unwrap()).unwrap();
            SharedFile::from(StoredTensor::open(path(name)).unwrap())
        };
        let files = [
            text_file(&path("x.tns"), ElementType::F64),
            stored("coo.spct", &Format::coo(3)),
            stored("csf.spct", &Format::csf(3)),
            stored("dense.spct", &Format::dense(3)),
        ];
        let cp_options =
            |start| CpOptions { engine: engine(), iterations: 4, tolerance: 0.0, start, ..CpOptions::new(3) };
        let starts = [Start::Random { seed: 3 }, Start::Hosvd { seed: 3 }];
        let tucker_options =
            TuckerOptions { engine: engine(), iterations: 3, tolerance: 0.0, ..TuckerOptions::new([3, 2, 4]) };
        let go_on = |_: &_| ControlFlow::Continue(());
        let own = AlsOptions::default();
        let ones = starts.clone().map(|start| {
            cp(&x, &CpMethod::Als(own.clone()), &cp_options(start), &mut |_| ControlFlow::Continue(())).unwrap()
        });
        let of_tucker = tucker(&x, TuckerMethod::Hooi, &tucker_options, &mut |_| ControlFlow::Continue(())).unwrap();
        for (number, file) in files.iter().enumerate() {
            for ranks in if number == 0 { &[1, 2, 3, 7, 64][..] } else { &[3, 16] } {
                let read = |ranks: &ThreadRank| DistributedTensor::of_file(file, ranks);
                let parts = on_threads(*ranks, None, read).unwrap();
                let is_dense = number == 3;
                for part in &parts {
                    assert_eq!((part.shape(), part.element()), (x.shape(), ElementType::F64));
                    assert!(is_dense || part.stored() == x.nnz() as u64, "{} of {}", part.stored(), x.nnz());
                }
                // No rank has many more than its share.
                let most = parts.iter().map(|part| part.entries.values.len()).max().unwrap();
                assert!(most <= 500 / ranks + 500 / ranks / 3 + 2, "{most} on one of {ranks} ranks");
                for (start, one) in starts.iter().zip(&ones) {
                    let options = cp_options(start.clone());
                    let body = |rank: &ThreadRank| cp_of(&parts[rank.rank()], &own, &options, rank, &mut { go_on });
                    let all = on_threads(*ranks, None, body).unwrap();
                    near(&all[0], one, 1e-9);
                    assert!(all.iter().all(|found| found.model.factors() == all[0].model.factors()));
                }
                let body = |rank: &ThreadRank| {
                    tucker_of(&parts[rank.rank()], TuckerMethod::Hooi, &tucker_options, rank, &mut { go_on })
                };
                near(&on_threads(*ranks, None, body).unwrap()[0], &of_tucker, 1e-9);
            }
        }
        assert!(files[3].whole().is_some() && files[2].whole().is_none());
    }

    #[test]
    fn what_is_no_tensor_to_decompose_is_refused_on_all_ranks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.tns");
        let refused = |text: &str, element| {
            std::fs::write(&path, text).unwrap();
            let file = text_file(&path, element);
            on_threads(3, None, |ranks| DistributedTensor::of_file(&file, ranks)).unwrap_err().to_string()
        };
        let error = refused("1 1 1 1\n2 1 1 nan\n1 2 1 2\n2 2 2 3\n", ElementType::F64);
        assert!(error.contains("the entry at (2, 1, 1) is NaN"), "{error}");
        let error = refused("1 1 1\n2 1 2\n", ElementType::F64);
        assert!(error.contains("has 2 modes"), "{error}");
        let error = refused("1 1 1 1\n2 1 1 x\n", ElementType::F64);
        assert!(error.contains("x.tns:2:7"), "{error}");
        let error = refused("1 1 1 1 0\n1 1 2 2 0\n", ElementType::C64);
        assert!(error.contains("takes real numbers"), "{error}");
    }
}
