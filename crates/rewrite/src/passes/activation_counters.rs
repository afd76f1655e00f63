//! Activation counters (JP 5.2): an upper bound of executed bytecodes, kept per thread, which tells the profiling agent when to report.

use cct_classfile::Result;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, CodeEdit};
use cct_flow::UpdateKind;

use crate::body::{Analysis, Body, Counts};
use crate::carrier::Emitter;
use crate::convention;

/// Updates at handlers, subroutines and loop heads. (The one on entry, with its test, is part of the prologue.) A loop head that begins a basic block takes
/// the block's count along, in one call.
pub fn apply(
    emitter: &mut Emitter<'_, '_, '_>,
    code_edit: &mut CodeEdit<'_, '_>,
    body: &Body<'_, '_>,
    analysis: &Analysis<'_>,
) -> Result<()> {
    let Some(activation) = &analysis.activation else { return Ok(()) };
    for point in activation.points.iter().skip(1) {
        let mut asm = Asm::new();
        asm.load(Kind::Long, body.context.local());
        emitter.int(&mut asm, point.decrement)?;
        if point.kind == UpdateKind::Loop {
            emitter.int(&mut asm, block_count(analysis, point.bci))?;
            emitter.helper(&mut asm, convention::LOOP)?;
        } else {
            emitter.helper(&mut asm, convention::TICK)?;
        }
        code_edit.before(point.bci, &asm);
    }
    Ok(())
}

fn block_count(analysis: &Analysis<'_>, bci: u32) -> u32 {
    let Counts::Blocks(blocks) = &analysis.counts else { return 0 };
    blocks.iter().find(|b| b.start == bci).map_or(0, |b| b.cost)
}

/// Whether the block at `bci` is counted by a loop head's update.
pub(crate) fn counts_block(analysis: &Analysis<'_>, bci: u32) -> bool {
    let Some(activation) = &analysis.activation else { return false };
    let points = &activation.points[1..];
    points.binary_search_by_key(&bci, |p| p.bci).is_ok_and(|i| points[i].kind == UpdateKind::Loop)
}
