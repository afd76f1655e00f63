//! (crate profile)
