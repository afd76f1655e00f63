//! Call sites, and what they hand on.

use cct_classfile::Bci;
use cct_jdk::convention::SLOTS_OFFSET;

use crate::convention::MAX_SLOTS;

/// What an invocation hands on to its callee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandedOn {
    /// The offset of the slot in the node; 0 where a slot is handed on.
    pub offset: i64,
    /// Where call sites are told apart, the bytecode index plus one; otherwise 0.
    pub site: u16,
    /// Whether others may use the slot, so that it is asked whose child it remembers.
    pub is_shared: bool,
}

/// The call sites of a method.
#[derive(Debug, Clone, Copy)]
pub struct Sites {
    /// How many there are.
    pub count: usize,
    /// Whether they are told apart.
    pub are_apart: bool,
}

impl Sites {
    /// Number of slots of the method's nodes: one for each site, and one more where they are told
    /// apart.
    pub fn slots(self) -> usize {
        (self.count + usize::from(self.are_apart)).min(MAX_SLOTS)
    }

    /// What the site with this number hands on.
    pub fn handed_on(self, number: usize, bci: Bci) -> HandedOn {
        let slot = if self.are_apart { 1 + number % (MAX_SLOTS - 1) } else { number % MAX_SLOTS };
        HandedOn {
            offset: i64::from(SLOTS_OFFSET) + 8 * slot as i64,
            // Code has at most 65,535 bytes (JVMS 4.7.3).
            site: if self.are_apart { bci as u16 + 1 } else { 0 },
            is_shared: self.are_apart && self.count >= MAX_SLOTS,
        }
    }
}
