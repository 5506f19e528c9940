//! The synthetic tensors of a benchmark suite, at any scale.
//!
//! Li, Lakshminarasimhan, Wu, Li, Barker, *A Parallel Sparse Tensor Benchmark Suite on CPUs and GPUs* (2020), generate six
//! tensors of order 3 and nine of order 4. *Regular* ones (`reg`) have modes of one length and are Kronecker tensors;
//! *irregular* ones (`irr`, with one short mode, `irr2`, with two) follow power laws in their long modes. Names are theirs:
//! `S`, `M` and `L` have about one, ten and a hundred million entries.
//!
//! The extents and numbers of entries below have the orders of magnitude that the names stand for; they were not checked against
//! the published table, and the suite's parameters are not published. The initiator is [`Initiator::usual`], and the exponent of long modes [`EXPONENT`]: what
//! was measured on these tensors compares with other measurements on these tensors.

use super::{GenerateError, Initiator, kronecker, power_law};
use crate::tensor::Coordinates;

/// The exponent of the power law in long modes.
pub const EXPONENT: f64 = 0.8;

/// Modes that are shorter keep their length when a tensor is scaled, and have no power law.
const SHORT: usize = 1000;

/// One of the tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuiteTensor {
    /// What it is called.
    pub name: &'static str,
    /// How its entries are spread.
    pub kind: Kind,
    /// The extent of each mode.
    pub shape: &'static [usize],
    /// The number of entries.
    pub nnz: usize,
}

/// How entries are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As in [`kronecker`].
    Kronecker,
    /// As in [`power_law`].
    PowerLaw,
}

const fn tensor(name: &'static str, kind: Kind, shape: &'static [usize], nnz: usize) -> SuiteTensor {
    SuiteTensor { name, kind, shape, nnz }
}

/// The tensors.
pub const TENSORS: [SuiteTensor; 15] = [
    tensor("regS", Kind::Kronecker, &[65_536; 3], 1_100_000),
    tensor("regM", Kind::Kronecker, &[1_048_576; 3], 11_500_000),
    tensor("regL", Kind::Kronecker, &[8_388_608; 3], 94_000_000),
    tensor("irrS", Kind::PowerLaw, &[32_768, 32_768, 76], 1_000_000),
    tensor("irrM", Kind::PowerLaw, &[524_288, 524_288, 126], 10_000_000),
    tensor("irrL", Kind::PowerLaw, &[4_194_304, 4_194_304, 168], 84_000_000),
    tensor("regS4d", Kind::Kronecker, &[8_192; 4], 1_000_000),
    tensor("regM4d", Kind::Kronecker, &[2_097_152; 4], 11_200_000),
    tensor("regL4d", Kind::Kronecker, &[8_388_608; 4], 110_000_000),
    tensor("irrS4d", Kind::PowerLaw, &[1_048_576, 1_048_576, 1_048_576, 82], 1_000_000),
    tensor("irrM4d", Kind::PowerLaw, &[2_621_440, 2_621_440, 2_621_440, 144], 10_800_000),
    tensor("irrL4d", Kind::PowerLaw, &[4_194_304, 4_194_304, 4_194_304, 226], 100_000_000),
    tensor("irr2S4d", Kind::PowerLaw, &[1_048_576, 1_048_576, 122, 436], 1_600_000),
    tensor("irr2M4d", Kind::PowerLaw, &[4_194_304, 4_194_304, 232, 746], 19_900_000),
    tensor("irr2L4d", Kind::PowerLaw, &[8_388_608, 8_388_608, 952, 324], 109_000_000),
];

/// The tensor of a name.
pub fn find(name: &str) -> Option<SuiteTensor> {
    TENSORS.into_iter().find(|tensor| tensor.name == name)
}

impl SuiteTensor {
    /// The shape at a scale: long modes are as many times longer as there are more entries, short ones stay.
    pub fn scaled_shape(&self, scale: f64) -> Vec<usize> {
        scaled(self.shape, self.nnz, scale).0
    }

    /// The number of entries at a scale.
    pub fn scaled_nnz(&self, scale: f64) -> usize {
        times(self.nnz, scale)
    }

    /// Its entries at a scale; 1 is the size that the suite has.
    ///
    /// # Errors
    /// When they do not fit the scaled shape.
    pub fn generate(&self, scale: f64, seed: u64) -> Result<Coordinates<f64>, GenerateError> {
        let (shape, nnz) = (self.scaled_shape(scale), self.scaled_nnz(scale));
        match self.kind {
            Kind::Kronecker => kronecker(&shape, nnz, &Initiator::usual(shape.len()), seed),
            Kind::PowerLaw => {
                let exponent = |&extent: &usize| if extent < SHORT { 0.0 } else { EXPONENT };
                let exponents: Vec<f64> = self.shape.iter().map(exponent).collect();
                power_law(&shape, nnz, &exponents, seed)
            }
        }
    }
}

/// A shape and a number of entries at a scale, as those of [`SuiteTensor`] are scaled.
pub fn scaled(shape: &[usize], nnz: usize, scale: f64) -> (Vec<usize>, usize) {
    let scaled = |&extent: &usize| if extent < SHORT { extent } else { times(extent, scale) };
    (shape.iter().map(scaled).collect(), times(nnz, scale))
}

fn times(count: usize, scale: f64) -> usize {
    ((count as f64 * scale).round() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::Indices;

    #[test]
    fn names_differ_and_tell_the_order() {
        for (place, tensor) in TENSORS.iter().enumerate() {
            assert_eq!(TENSORS.iter().position(|other| other.name == tensor.name), Some(place));
            assert_eq!(tensor.shape.len(), if tensor.name.ends_with("4d") { 4 } else { 3 });
            assert_eq!(tensor.kind == Kind::Kronecker, tensor.name.starts_with("reg"));
        }
        assert_eq!(find("irrM").map(|tensor| tensor.nnz), Some(10_000_000));
        assert_eq!(find("irr"), None);
    }

    #[test]
    fn scales_keep_short_modes() {
        let tensor = find("irr2S4d").unwrap();
        assert_eq!(tensor.scaled_shape(0.5), [524_288, 524_288, 122, 436]);
        assert_eq!((tensor.scaled_nnz(0.5), tensor.scaled_nnz(1e-9)), (800_000, 1));
    }

    /// FNV-1a over all indices and the bits of all values.
    fn hash(entries: &Coordinates<f64>) -> u64 {
        let mut hash = 0xCBF2_9CE4_8422_2325u64;
        let mut take = |word: u64| hash = (hash ^ word).wrapping_mul(0x0100_0000_01B3);
        for mode in &entries.indices {
            match mode {
                Indices::U32(indices) => indices.iter().for_each(|&index| take(index.into())),
                Indices::U64(indices) => indices.iter().copied().for_each(&mut take),
            }
        }
        entries.values.iter().for_each(|value| take(value.to_bits()));
        hash
    }

    #[test]
    fn tensors_are_the_same_everywhere() {
        let hashes = ["regS", "irrS", "regS4d", "irr2S4d"].map(|name| {
            let entries = find(name).unwrap().generate(0.01, 42).unwrap();
            assert_eq!(entries.values.len(), find(name).unwrap().scaled_nnz(0.01));
            hash(&entries)
        });
        assert_eq!(
            hashes,
            [0x8D7F_3B68_7FB0_3675, 0x48E5_7F34_899D_3A8B, 0x47E1_F8F2_3385_7D26, 0x4D50_C1EA_F85F_D095]
        );
    }
}
