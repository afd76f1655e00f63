//! Call sites, and the contexts that they pass on.

use cct_classfile::Bci;
use cct_jdk::convention::SLOTS_OFFSET;

use crate::convention::MAX_SLOTS;

/// The context that an invocation passes to its callee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandedOn {
    /// The offset of the slot in the node; 0 if a slot is passed on.
    pub offset: i64,
    /// The bytecode index plus one if call sites are kept separate; otherwise 0.
    pub site: u16,
    /// Whether other sites may use the slot, so that the probe must check whose child it remembers.
    pub is_shared: bool,
}

/// The call sites of a method.
#[derive(Debug, Clone, Copy)]
pub struct Sites {
    /// Number of sites.
    pub count: usize,
    /// Whether they are kept separate.
    pub are_apart: bool,
}

impl Sites {
    /// Number of slots of the method's nodes: one for each site, and one more if sites are kept
    /// separate.
    pub fn slots(self) -> usize {
        (self.count + usize::from(self.are_apart)).min(MAX_SLOTS)
    }

    /// The context that the site with this number passes on.
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
