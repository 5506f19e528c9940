//! Example programs and the data they run on.
