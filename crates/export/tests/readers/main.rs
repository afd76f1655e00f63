//! Exports, read by the programs that they are for.
//!
//! Each format is written of profiles made by hand and of a stored one, read by a program of
//! somebody else, and what that says is held against numbers that come from the list of contexts,
//! by none of the code that is tested. `cargo xtask readers` fetches the programs; where one is not
//! to be had, its tests say so and count as skipped.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod callgrind;
mod duckdb;
mod expected;
mod pprof;
mod programs;
mod speedscope;
