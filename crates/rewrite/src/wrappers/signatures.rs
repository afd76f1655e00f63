//! Wrappers between the two signatures for methods with a body: native-to-bytecode, and redispatch.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::VerificationType;
use cct_classfile::{Result, opcode};
use cct_jdk::convention::{EXTENSION_SLOTS, FORWARDER_LINE};
use cct_jdk::helpers::Helper;

use crate::carrier::Emitter;

use super::Target;
use super::debug_tables::DebugTables;
use super::straight::{Catch, Straight, forgotten};

/// N2B: the original signature takes the context from the thread, calls the ESI, and restores the
/// context that callees replaced. Methods that the VM itself calls do not trust the thread: the
/// wrapper `replays` the stack. `tables` are for readers of class files.
pub fn native_to_bytecode(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    replays: bool,
    tables: &DebugTables,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let (thread, context) = (arguments, arguments + 1);
    let mut asm = Asm::new();
    emitter.read_thread(&mut asm, thread, context)?;
    let mut passed = context;
    if replays {
        passed = arguments + 3;
        emitter.replay(&mut asm, thread, context, passed)?;
    }
    let start = asm.bytes.len() as u16;
    target.push_arguments(&mut asm);
    asm.load(Kind::Long, passed).op(opcode::ACONST_NULL);
    target.invoke_special(emitter, &mut asm, target.extended_index)?;
    let end = asm.bytes.len() as u16;
    let mut restore = Asm::new();
    emitter.restore_thread(&mut restore, thread, context)?;
    asm.bytes.extend_from_slice(&restore.bytes);
    asm.ret(target.result());
    // No handler may cover the initialisation of `this`. HotSpot's verifier compares it both with
    // the state before the call, in which `this` is uninitialised, and with the state after it. So
    // an exception that leaves a constructor through this wrapper restores nothing.
    let catch = if target.signature.is_constructor {
        None
    } else {
        let object = emitter.constants.object(emitter.edit)?;
        let locals = forgotten(target, &[VerificationType::Object(object), VerificationType::Long]);
        Some(Catch { start, end, restore, locals })
    };
    let max_stack = (arguments + EXTENSION_SLOTS).max(target.result_slots() + 3).max(4);
    Straight { asm, max_stack, max_locals: passed + 2, catch, line: FORWARDER_LINE }
        .write_with(tables, emitter, &mut head)?;
    Ok(head.finish())
}

/// Redispatch: the extended signature stores the context in the thread and calls the original
/// virtually.
pub fn redispatch(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let mut asm = Asm::new();
    asm.load(Kind::Long, arguments);
    emitter.helper(&mut asm, Helper::Store)?;
    target.push_arguments(&mut asm);
    let index = target.reference(emitter, target.descriptor_index)?;
    if emitter.edit.class().is_interface() {
        asm.invoke_interface(index, arguments as u8);
    } else {
        asm.indexed(opcode::INVOKEVIRTUAL, index);
    }
    asm.ret(target.result());
    let max_stack = arguments.max(target.result_slots()).max(2);
    Straight { asm, max_stack, max_locals: arguments + EXTENSION_SLOTS, catch: None, line: FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}
