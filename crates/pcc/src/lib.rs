//! Probabilistic calling contexts (Bond and McKinley 2007; docs/research/pcc.md): the common part
//! of the rewriter, the runtime and the readers of their files.
//!
//! * [`value`]: a context as a number, and the computation of a callee's value from its caller's,
//! * [`chosen`]: at which methods values are recorded, and which methods take part in them,
//! * [`file`](mod@file): the file that a JVM writes (docs/reference/formats/pcc.md).
//!
//! This crate knows nothing of class files, JVMs or profiles.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod file;
pub mod method_choice;
pub mod value;

pub use file::{Place, ReadError, RecordedValues};
pub use method_choice::{BadPattern, MethodChoice, MethodPattern};
pub use value::{Site, Value};
