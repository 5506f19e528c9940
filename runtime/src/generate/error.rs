//! Why a tensor can't be generated.

/// The largest exponent of a power law.
pub(super) const MOST_SKEWED: f64 = 16.0;
/// The largest number of weights.
pub(super) const MOST_WEIGHTS: usize = 1 << 10;

/// Why a tensor can't be generated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// More entries are asked for than the shape has places.
    #[error(transparent)]
    TooMany(#[from] super::TooManyEntries),
    /// The entries fall on too few places.
    #[error(
        "after {draws} draws there are {found} different entries of the {nnz} asked for: they fall on too few places; ask for fewer entries, for a larger shape, or for a more even distribution"
    )]
    Concentrated {
        /// How many entries were drawn.
        draws: usize,
        /// How many of them differ.
        found: usize,
        /// How many were asked for.
        nnz: usize,
    },
    /// The initiator of a Kronecker tensor is none.
    #[error(transparent)]
    Initiator(#[from] InvalidInitiator),
    /// The initiator has another order than the shape.
    #[error("the shape has {order} modes, and {what} {found}; give one for each mode")]
    Order {
        /// The number of modes.
        order: usize,
        /// What does not fit, with its verb.
        what: &'static str,
        /// How many it is for.
        found: usize,
    },
    /// An exponent of a power law is negative or no number.
    #[error("{exponent} is no exponent of a power law: it is a number from 0, for all indices alike, to {MOST_SKEWED}")]
    Exponent {
        /// The exponent.
        exponent: f64,
    },
    /// The places can't be numbered.
    #[error("a tensor of shape {shape:?} has more than 2^128 places, more than the generator can number")]
    TooLarge {
        /// The extent of each mode.
        shape: Vec<usize>,
    },
}

/// What is wrong with an initiator.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidInitiator {
    /// It has too few or too many weights.
    #[error("an initiator of shape {shape:?} has {expected} weights, and {found} are given")]
    Count {
        /// Its shape.
        shape: Vec<usize>,
        /// How many weights that takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A weight is negative or no number, or none is above zero.
    #[error("the weights of an initiator are numbers from 0 on, and some are above 0")]
    Weights,
    /// A mode has one index or none: no power of it grows.
    #[error("an initiator of shape {shape:?} does not grow: each mode needs 2 indices or more")]
    Extent {
        /// Its shape.
        shape: Vec<usize>,
    },
    /// It has more weights than are searched through.
    #[error("an initiator has at most {MOST_WEIGHTS} weights")]
    Large,
}
