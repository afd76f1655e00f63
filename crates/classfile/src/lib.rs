//! (crate classfile)
