//! Whether a kernel does what its notation means: a dense oracle, and cases that every engine runs.
//!
//! A [case](case::Case) is a kernel in a `.ti` file, and in its first comments what it runs on. [`engine::Ready`] compiles it, makes
//! its data and asks the [oracle]; what an engine gives is [compared](compare) with that. The corpus of the tests and `spc test` both
//! read cases here.

pub mod case;
pub mod compare;
pub mod data;
pub mod engine;
pub mod number;
pub mod oracle;
pub mod trial;
