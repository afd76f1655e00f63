//! The checker against rewritten classes: all classes of class libraries, and classes that were
//! broken on purpose.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod alterations;
mod build;
mod columns;
mod hostile;
mod jdk;
mod library;
mod linked;
mod marked;
mod mutations;
mod structure;
mod support;
mod traces;
mod values;
