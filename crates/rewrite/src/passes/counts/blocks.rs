//! Bytecodes counted by basic blocks (JP 4): the start of each block adds its bytecodes, or their
//! cost (CCCP 5.2), to the node.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::{Bci, Code, ConstantPool, Result, opcode};
use cct_flow::Blocks;
use cct_jdk::helpers::Helper;
use cct_jdk::program;
use cct_tables::BlockRule;
use cct_tables::CostModel;

use crate::pass::BodyWriter;

/// Counts every block except those that other code counts.
pub fn insert(
    body: &mut BodyWriter<'_, '_, '_>,
    blocks: &Blocks,
    counted_elsewhere: impl Fn(Bci) -> bool,
) -> Result<()> {
    for block in blocks.iter() {
        if block.cost == 0 || counted_elsewhere(block.start) {
            continue;
        }
        let mut asm = Asm::new();
        asm.load(Kind::Long, body.context.local());
        body.emitter.int(&mut asm, block.cost)?;
        body.emitter.helper(&mut asm, Helper::Count)?;
        body.edit.before(block.start, &asm);
    }
    Ok(())
}

/// The blocks of a method by a rule, with their costs by a model. Code after a switch of the
/// recording is counted after the switch, by any rule.
pub fn weighed(
    code: &Code<'_>,
    pool: &ConstantPool<'_>,
    rule: BlockRule,
    model: Option<&CostModel>,
) -> Blocks {
    let mut blocks = Blocks::of(code, pool, rule);
    for call in code.instructions().filter(|i| i.opcode == opcode::INVOKESTATIC) {
        let callee = call.pool_index().and_then(|index| pool.member_ref(index).ok());
        if callee.is_some_and(|callee| program::switch(callee).is_some()) {
            blocks.cut(code, call.end());
        }
    }
    if let Some(model) = model {
        blocks.weigh(code, pool, model);
    }
    blocks
}
