//! The library as those who call it from elsewhere have it.

mod calls;
mod fuzz;
mod header;
mod programs;
