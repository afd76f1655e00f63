//! (crate archive)
