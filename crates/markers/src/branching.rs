//! Code of added methods, which jump over early returns.

use cct_classfile::edit::Asm;
use cct_classfile::opcode;

/// Code with jumps over early returns, whose targets all have the state of the entry.
pub(crate) struct BranchingCode {
    pub(crate) asm: Asm,
    pub(crate) targets: Vec<u16>,
    /// Range of the exception handler: the first covered offset, and the handler's, which follows
    /// the rest.
    pub(crate) handler: Option<(u16, u16)>,
}

impl BranchingCode {
    pub(crate) fn new() -> Self {
        BranchingCode { asm: Asm::new(), targets: Vec::new(), handler: None }
    }

    /// Adds code that runs and returns unless the jump is taken.
    pub(crate) fn unless(&mut self, jump: opcode::Opcode, otherwise: impl FnOnce(&mut Asm)) {
        let mut skipped = Asm::new();
        otherwise(&mut skipped);
        let offset = 3 + skipped.bytes.len() as u16;
        let target = self.asm.bytes.len() as u16 + offset;
        self.asm.indexed(jump, offset);
        self.asm.bytes.extend_from_slice(&skipped.bytes);
        self.targets.push(target);
    }
}
