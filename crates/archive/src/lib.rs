//! Containers of class files: jars, jars within jars, jmods, images of modules, folders, and single
//! class files. This crate knows names and bytes, never what a class means.
//!
//! A run goes through it twice:
//!
//! 1. [`Input::open`] lists an input, [`Input::survey`] passes every class to a visitor, in
//!    parallel, and returns the visitor's results in input order.
//! 2. [`Input::rewrite`] asks a [`Rewriter`] for an action for each class, and lets it add entries
//!    to each archive. It writes the result to a temporary neighbour of the [`Target`];
//!    [`StagedOutput::commit`] moves it to its place.
//!
//! # What a rewritten jar keeps
//! An entry that the rewriter keeps is copied verbatim: compressed bytes, local header, extra
//! fields, data descriptor, DOS time, comments, and also the bytes before the first entry (a
//! launcher script). A jar without changes comes out byte for byte, with two exceptions.
//! Unreferenced gaps between its entries are dropped. Entries are laid out in the order of the
//! central directory. A replaced entry keeps its name, time, attributes, extra fields and its
//! method, stored or deflated. Invalid signatures are removed, see [`Notice::SignatureRemoved`].
//!
//! The output depends on the input, the options and the rewriter alone, not on the number of
//! threads. Work runs on the current rayon pool (install one to choose its size); compression is
//! part of the parallel work.
//!
//! # Duplicate names
//! A zip archive may have two entries of one name. Both are visited, rewritten and kept, in order.
//! The JVM, when loading a class, takes the *last* of them. (Its table of names is filled front to
//! back and searched from the newest. Seen on JDK 8, 17 and 25, on class path and boot class path.)
//!
//! # Memory
//! An input file is read into memory whole, and classes that are stored are borrowed from it.
//! Output is produced in windows of [`RewriteOptions::window_bytes`]; two windows exist at a time,
//! one being computed while the other is written. A signed jar is one single window, because its
//! manifest comes first and depends on whether any of its entries changes. A nested jar's output is
//! held in memory until it is complete.
//!
//! # Whole or not at all
//! Output goes to `.cctrewrite-*.tmp` next to the target and is renamed in the end. An error
//! removes the temporary file; a killed process may leave it, where it is harmless and may be
//! deleted. Nothing is flushed to the disk explicitly: this protects against a failing run, not
//! against a failing machine.
//!
//! # Another kind of container
//! is a file that implements `Container` (list entries, read one) and a function that writes it
//! from a `Pass`'s decisions, as `jar/rewrite.rs` and `folder.rs` do, plus one variant in
//! `input.rs`.

#![cfg_attr(test, allow(clippy::unwrap_used))]

mod classes;
mod codec;
mod container;
mod entry;
mod error;
mod folder;
mod input;
mod jar;
mod jimage;
mod kind;
mod layout;
mod limits;
mod location;
mod lone_class;
pub mod manifest;
mod patches;
mod pipeline;
mod rewrite;
mod staging;
mod survey;
mod target;

pub use classes::Classes;
pub use entry::{Entry, EntryKind, Method};
pub use error::{ArchiveProblem, EntryProblem, Error, Failure, Notice, TargetProblem};
pub use input::{Input, Survey};
pub use kind::InputKind;
pub use layout::Layout;
pub use limits::Limits;
pub use rewrite::{Action, NewEntry, RewriteAccount, RewriteOptions, Rewriter, Tally};
pub use target::{StagedOutput, Target};

pub use crate::location::{ArchivePath, EntryId, Location};

/// The entry, relative to the root of a [`Layout`], that marks a container as output of this tool
/// chain. A non-empty folder that has it may be replaced by a new output.
///
/// No package can have its folder's name: two modules may not have the same package. It is not
/// below `META-INF`, whose entries `java.util.jar.JarFile` scans.
pub const INDEX_NAME: &str = "cctrewrite-output/index";
