//! Probabilistic calling contexts (Bond and McKinley 2007; docs/research/pcc.md): what the
//! rewriter, the runtime and the readers of their files must agree on.
//!
//! * [`value`]: a context as a number, and how a call makes the callee's out of the caller's,
//! * [`chosen`]: at which methods values are recorded, and which methods take part in them,
//! * [`file`](mod@file): what a JVM leaves behind (docs/reference/formats/pcc.md).
//!
//! Nothing here knows class files, JVMs or profiles.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod chosen;
pub mod file;
pub mod value;

pub use chosen::{BadPattern, Chosen, MethodPattern};
pub use file::{Place, ReadError, Recorded};
pub use value::{Site, Value};
