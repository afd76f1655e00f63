//! Whole programs on real JDKs, instrumented by the built command.
//!
//! `JAVA8_HOME`, `JAVA11_HOME` and so on name the JDKs (`cargo xtask jdks` finds or fetches them);
//! without its JDK a test prints that it is skipped. Tests without a version in their name run on
//! JDK 8, those of `profiled_jdks` on all versions. Those of `archives`, `forms`, `images`,
//! `sections`, `steady`, `tools`, `walks` and `modern_counts` run on all later ones. The programs
//! are those of `fixtures/`, with their class files, so that no compiler affects the expected
//! numbers.

// A test that cannot set itself up has failed.
#![allow(clippy::unwrap_used)]

mod support;

mod agents;
mod allocations;
mod archives;
mod attacks;
mod batches;
mod bench;
mod boot;
mod bound;
mod cache_bounds;
mod change;
mod clock_jumps;
mod compilations;
mod compiler;
mod costs;
mod counts;
mod crowded;
mod custom_blocks;
mod damaged_images;
mod debug_tables;
mod debuggers;
mod doctor;
mod drift;
mod endings;
mod event_counts;
mod event_modes;
mod events;
mod exactness;
mod faults;
mod filters;
mod flight_recorder;
mod foreign;
mod forms;
mod gates;
mod hooks;
mod identity;
mod image_faults;
mod images;
mod intrinsics;
mod java_agents;
mod killed_runs;
mod library_calls;
mod loadtime;
mod lone_command;
mod marked_jdks;
mod marked_tree_jdks;
mod marked_trees;
mod markers;
mod misfits;
mod modern_counts;
mod monitors;
mod mutants;
mod no_natives;
mod oom;
mod open_frames;
mod overflows;
mod own_counts;
mod packed;
mod prefix;
mod private;
mod profiled_jdks;
mod pull_requests;
mod raw;
mod recover;
mod recursion;
mod replaced_classes;
mod reproducible;
mod runs;
mod runtime_classes;
mod sections;
mod selective;
mod semantics;
mod shapes;
mod sites;
mod steady;
mod swarm;
mod thread_carrier;
mod throws;
mod tools;
mod top;
mod tour;
mod traces;
mod transitions;
mod typestate;
mod typestate_corpus;
mod udi;
mod values;
mod walks;
