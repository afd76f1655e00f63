//! Whole programs on a real JDK 8, instrumented by the built command.
//!
//! `JAVA8_HOME` names the JDK (`cargo xtask jdks` finds or fetches one); without it each test says that it is skipped. The programs are those
//! of `fixtures/`, with their class files, so that no compiler stands between a test and the numbers it expects.

// A test that cannot set itself up has failed.
#![allow(clippy::unwrap_used)]

mod support;

mod agents;
mod batches;
mod boot;
mod compiler;
mod counts;
mod drift;
mod endings;
mod exactness;
mod filters;
mod intrinsics;
mod loadtime;
mod misfits;
mod open_frames;
mod overflows;
mod raw;
mod reproducible;
mod semantics;
mod shapes;
mod swarm;
mod traces;
