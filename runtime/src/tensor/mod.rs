//! Tensors: valid by construction.

mod coordinates;

pub use coordinates::{Coordinates, Indices};
