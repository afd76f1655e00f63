//! Bytecode counting (JP 4): at the beginning of each basic block, the block's bytecodes are added to the node, or what they cost (CCCP 5.2).

use cct_classfile::Result;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, CodeEdit};

use crate::body::{Analysis, Body, Counts};
use crate::carrier::Emitter;
use crate::convention;
use crate::passes::activation_counters;

/// Counts every block but those that the prologue or a loop head's update counts already.
pub fn apply(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    analysis: &Analysis<'_>,
) -> Result<()> {
    let Counts::Blocks(blocks) = &analysis.counts else { return Ok(()) };
    for block in blocks.iter() {
        let counted_on_entry = block.start == 0 && !body.entry_is_target;
        if counted_on_entry || block.cost == 0 || activation_counters::counts_block(analysis, block.start) {
            continue;
        }
        let mut asm = Asm::new();
        asm.load(Kind::Long, body.context.local());
        emitter.int(&mut asm, block.cost)?;
        emitter.helper(&mut asm, convention::COUNT)?;
        code_edit.before(block.start, &asm);
    }
    Ok(())
}
