//! The common part of the writer and the readers of a trace (docs/reference/formats/trace.md).
//!
//! * [`event`]: the events, as words of 32 bits (Caserta and Zendra 2012, 3.2.2),
//! * [`scan`]: the methods of events, found without decoding them,
//! * [`structure`]: the static data of classes: methods, basic blocks, call sites (there 3.2.1),
//! * [`file`](mod@file): the file that contains both, frame by frame,
//! * [`ring`]: the file that contains the last events alone, as long as the JVM runs.
//!
//! This crate knows nothing of class files, JVMs or profiles.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod event;
pub mod file;
mod packed;
pub mod ring;
pub mod scan;
pub mod structure;

pub use event::{Decoder, Event, Words};
pub use file::{Frame, FrameKind, FrameReader, FrameWriter, Head};
pub use structure::{Block, CallSite, Class, Handler, Method};
