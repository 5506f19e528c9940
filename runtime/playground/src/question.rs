//! What the page asks.

use serde::Deserialize;
use std::collections::BTreeMap;

/// What the page asks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Question {
    /// An assignment, or a text of kernels.
    pub text: String,
    /// The kernel of a text that has several; the first if none of this name is there.
    pub kernel: Option<String>,
    /// How the tensors of an assignment are stored.
    pub formats: BTreeMap<String, String>,
    /// Extents, by the names of indices.
    pub extents: BTreeMap<String, usize>,
    /// The entries of inputs: lines of indices from 0 and a value. Inputs that it does not name have small examples.
    pub data: BTreeMap<String, String>,
}
