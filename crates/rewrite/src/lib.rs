//! (crate rewrite)
