//! (crate flow)
