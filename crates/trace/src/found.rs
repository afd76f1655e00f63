//! Methods of a trace, by their numbers.

use cct_events::{Class, Method};

/// A method found in the trace.
#[derive(Debug, Clone, Copy)]
pub struct TracedMethod<'p> {
    /// The index of the method's class.
    pub place: u32,
    /// The method's class.
    pub class: &'p Class,
    /// The method's number in the class.
    pub index: u16,
    /// The method's index in the class.
    pub method: &'p Method,
}

impl TracedMethod<'_> {
    /// The method's number.
    pub fn number(self) -> u32 {
        self.class.first_method + u32::from(self.index)
    }
}
