//! Exports, read by the programs that they are for.
//!
//! Each test writes a format from handmade profiles and from a stored one, and lets a foreign
//! program read it. It compares that program's output with numbers from the list of contexts, which
//! no tested code produced. `cargo xtask readers` fetches the programs; if one is missing, its
//! tests say so and count as skipped.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout)]

mod callgrind;
mod duckdb;
mod expected;
mod pprof;
mod programs;
mod speedscope;
