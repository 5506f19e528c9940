//! How elements at coordinates are loaded.

/// Whether the processor loads elements one by one in less time than it gathers them: AMD's, which are known by instructions that
/// no other has.
pub(super) const ONE_BY_ONE: bool = cfg!(target_feature = "sse4a");
