//! Extended forms of methods without an instrumented body: they count or store their caller's
//! context, and call the original.

use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::VerificationType;
use cct_classfile::{MemberName, Result, access, opcode};
use cct_events::Event;
use cct_index::mid::Mid;
use cct_jdk::allocations::NativeAllocation;
use cct_jdk::convention::{self, EXTENSION_SLOTS, FORWARDER_LINE, NATIVE_FORWARDER_LINE};
use cct_jdk::helpers::Helper;
use cct_jdk::natives;

use super::Target;
use super::makes::count_made;
use super::natives::{then_original_and_restore, thread_locals};
use super::straight::{Catch, Straight, forgotten};
use crate::carrier::Emitter;
use crate::pcc::{self};

/// The extended form of a method that could not be instrumented and cannot be overridden: it stores
/// the context and calls the original.
pub fn stored_original(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    asm.load(Kind::Long, target.signature.argument_slots());
    emitter.helper(&mut asm, Helper::Store)?;
    then_original(emitter, target, asm, 2, None, head)
}

/// Appends to `asm`, which needs `stack` words, the call of the original without dispatch and the
/// count of the objects that it `makes`. The slot's local holds the node.
fn then_original(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mut asm: Asm,
    stack: u16,
    makes: Option<NativeAllocation>,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    target.push_arguments(&mut asm);
    target.invoke_special(emitter, &mut asm, target.descriptor_index)?;
    if let Some(makes) = makes {
        count_made(emitter, &mut asm, makes, arguments)?;
    }
    asm.ret(target.result());
    let max_stack = arguments.max(target.result_slots()).max(stack);
    let class = emitter.edit.class();
    let method = MemberName::new(class.name(), class.pool.utf8(target.name_index)?);
    let line = match target.access_flags & access::NATIVE {
        0 => FORWARDER_LINE,
        _ if natives::never_has_a_frame(method) => FORWARDER_LINE,
        _ => NATIVE_FORWARDER_LINE,
    };
    Straight { asm, max_stack, max_locals: arguments + EXTENSION_SLOTS, catch: None, line }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// The extended form of a leaf native or of VM magic: it counts the method with its `bytecodes`,
/// then calls the original. `mid` is `None` if the method is not recorded.
pub fn counted_original(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mid: Option<Mid>,
    bytecodes: u32,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    count_leaf(emitter, target, &mut asm, mid, bytecodes)?;
    then_original(emitter, target, asm, 5, None, head)
}

/// The extended form of a leaf native that allocates its result: it counts the native, calls the
/// original, and counts the objects below the native's node.
pub fn counted_original_that_makes(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mid: Mid,
    makes: NativeAllocation,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    // The node replaces the slot in its local.
    let node = target.signature.argument_slots();
    match target.traced {
        Some(_) => count_leaf(emitter, target, &mut asm, Some(mid), 0)?,
        None => emitter.enter(&mut asm, node, node, mid, 0, None)?,
    }
    then_original(emitter, target, asm, 5, Some(makes), head)
}

/// The extended form of a leaf native that may throw: it has a start and an end event.
pub fn traced_original(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    method: u32,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let mut asm = Asm::new();
    target.event(emitter, &mut asm, Event::Start { method, has_receiver: false, ends_at_once: false })?;
    let start = asm.bytes.len() as u16;
    target.push_arguments(&mut asm);
    target.invoke_special(emitter, &mut asm, target.descriptor_index)?;
    let end = asm.bytes.len() as u16;
    target.event(emitter, &mut asm, Event::End { method, by_exception: false })?;
    asm.ret(target.result());
    let mut thrown = Asm::new();
    target.event(emitter, &mut thrown, Event::End { method, by_exception: true })?;
    let catch = Catch { start, end, restore: thrown, locals: forgotten(target, &[VerificationType::Long]) };
    let max_stack = arguments.max(target.result_slots() + 4).max(5);
    Straight {
        asm,
        max_stack,
        max_locals: arguments + EXTENSION_SLOTS,
        catch: Some(catch),
        line: NATIVE_FORWARDER_LINE,
    }
    .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// Counts a method without an instrumented body, if it is recorded.
fn count_leaf(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    asm: &mut Asm,
    mid: Option<Mid>,
    bytecodes: u32,
) -> Result<()> {
    if let Some(part) = target.values {
        return pcc::record(emitter, asm, target.signature.argument_slots(), part.place);
    }
    let Some(mid) = mid else { return Ok(()) };
    if let Some(method) = target.traced {
        return target.event(emitter, asm, Event::Start { method, has_receiver: false, ends_at_once: true });
    }
    asm.load(Kind::Long, target.signature.argument_slots());
    emitter.mid(asm, mid)?;
    emitter.int(asm, bytecodes)?;
    emitter.helper(asm, Helper::Leaf)
}

/// The extended form of an intrinsic whose original body calls instrumented code. It counts the
/// intrinsic, and suspends recording while the original runs, since HotSpot may or may not replace
/// that code.
pub fn bypassed_original(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mid: Option<Mid>,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let (thread, saved) = thread_locals(target);
    let mut asm = Asm::new();
    count_leaf(emitter, target, &mut asm, mid, 0)?;
    emitter.read_thread(&mut asm, thread, saved)?;
    let start = asm.bytes.len() as u16;
    asm.load(Kind::Reference, thread).int(convention::BYPASS as i16).op(opcode::I2L);
    emitter.helper(&mut asm, Helper::Restore)?;
    // Its end came with its count.
    let target = &Target { traced: None, ..*target };
    then_original_and_restore(emitter, target, asm, start, None, None, head)
}
