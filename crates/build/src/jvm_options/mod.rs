//! The JVM options that outputs need, beside those that put them in place.

pub mod exactness;
pub mod reproducible;
pub mod resource;
pub mod stack_traces;
