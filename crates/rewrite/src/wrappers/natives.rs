//! Wrappers of natives. They set the thread's context for methods that the native calls back, and
//! restore it afterwards.

use cct_classfile::Result;
use cct_classfile::descriptor::FieldType;
use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::VerificationType;
use cct_events::Event;
use cct_index::mid::Mid;
use cct_jdk::allocations::NativeAllocation;
use cct_jdk::convention::NATIVE_FORWARDER_LINE;
use cct_jdk::helpers::Helper;
use cct_jdk::native_hooks::{self, NativeHook};

use super::Target;
use super::makes::count_made;
use super::straight::{Catch, Straight, forgotten};
use crate::carrier::{Emitter, push_first_slot_offset};
use crate::pcc::{self};

/// The node below which a running native's callees appear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// The native's own node, or its caller's node if the native is not recorded.
    Itself(Option<Mid>),
    /// The thread's root: natives have no nodes.
    Root,
}

/// Writes the B2N wrapper of a native (CCCP 4.2). It creates the native's node, which the thread
/// carries while the native runs.
pub fn bytecode_to_native(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    below: Below,
    hook: Option<&NativeHook>,
    makes: Option<NativeAllocation>,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let mid = match below {
        Below::Itself(mid) => mid,
        Below::Root => None,
    };
    // The node overwrites the caller's slot in its local.
    let (node, (thread, saved)) = (arguments, thread_locals(target));
    let mut asm = Asm::new();
    if let Some(NativeHook::Define(method)) = hook {
        target.push_arguments(&mut asm);
        emitter.runtime(&mut asm, *method)?;
        replace_class_file(emitter, target, &mut asm, arguments + 5)?;
    }
    if let Some(NativeHook::Last(method)) = hook {
        // The last argument is a reference, which takes one local.
        let last = arguments - 1;
        asm.load(Kind::Reference, last);
        emitter.runtime(&mut asm, *method)?;
        asm.store(Kind::Reference, last);
    }
    if let Some(NativeHook::Arguments(replaced)) = hook {
        for (number, method) in *replaced {
            target.push_arguments(&mut asm);
            emitter.runtime(&mut asm, *method)?;
            target.store_argument(&mut asm, *number);
        }
    }
    match (mid, target.traced) {
        _ if let Some(part) = target.values => {
            pcc::record(emitter, &mut asm, node, part.place)?;
            if part.site.is_some() {
                asm.load(Kind::Long, node);
                pcc::call(emitter, &mut asm, part.site)?;
                asm.store(Kind::Long, node);
            }
        }
        (Some(_), Some(method)) => {
            let start = Event::Start { method, has_receiver: false, ends_at_once: false };
            target.event(emitter, &mut asm, start)?;
        }
        (Some(mid), None) => emitter.enter(&mut asm, node, node, mid, 0, None)?,
        (None, _) => {}
    }
    emitter.read_thread(&mut asm, thread, saved)?;
    // From here on the saved context is known, so the handler also covers the store in the thread.
    let start = asm.bytes.len() as u16;
    asm.load(Kind::Reference, thread).load(Kind::Long, node);
    match below {
        Below::Itself(Some(_)) if target.traced.is_none() && target.values.is_none() => {
            push_first_slot_offset(&mut asm);
        }
        Below::Itself(_) => {}
        Below::Root => emitter.helper(&mut asm, Helper::RootOf)?,
    }
    emitter.helper(&mut asm, Helper::Carry)?;
    if let Some(NativeHook::Entered(method)) = hook {
        target.push_arguments(&mut asm);
        emitter.runtime(&mut asm, *method)?;
    }
    let makes = makes.filter(|_| mid.is_some());
    // Only a method with a start event has an end event.
    let target = &Target { traced: target.traced.filter(|_| mid.is_some()), ..*target };
    then_original_and_restore(emitter, target, asm, start, hook, makes, head)
}

/// Writes the replacement of a renamed native (JP2 3.3). Like a body under the original signature,
/// it takes its context from the thread. If the native never calls back, `slots` is 0 and the
/// thread's context stays. If the native is not recorded, `mid` is `None` and the replacement only
/// calls it.
pub fn in_place_of_native(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mid: Option<Mid>,
    slots: u8,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let (thread, saved, node) = (arguments, arguments + 1, arguments + 3);
    let mut asm = Asm::new();
    let mut catch = None;
    let start = match mid {
        None => None,
        Some(mid) if slots == 0 => {
            emitter.helper(&mut asm, Helper::Thread)?;
            emitter.helper(&mut asm, Helper::Context)?;
            emitter.mid(&mut asm, mid)?;
            asm.int(0);
            emitter.helper(&mut asm, Helper::Leaf)?;
            None
        }
        Some(mid) => {
            emitter.read_thread(&mut asm, thread, saved)?;
            emitter.enter(&mut asm, saved, node, mid, 0, None)?;
            let start = asm.bytes.len() as u16;
            asm.load(Kind::Reference, thread).load(Kind::Long, node);
            push_first_slot_offset(&mut asm);
            emitter.helper(&mut asm, Helper::Carry)?;
            Some(start)
        }
    };
    target.push_arguments(&mut asm);
    target.invoke_special(emitter, &mut asm, target.descriptor_index)?;
    if let Some(start) = start {
        let end = asm.bytes.len() as u16;
        let mut restore = Asm::new();
        emitter.restore_thread(&mut restore, thread, saved)?;
        asm.bytes.extend_from_slice(&restore.bytes);
        let object = emitter.constants.object(emitter.edit)?;
        let ours = [VerificationType::Object(object), VerificationType::Long, VerificationType::Long];
        catch = Some(Catch { start, end, restore, locals: forgotten(target, &ours) });
    }
    asm.ret(target.result());
    let max_locals = if start.is_some() { arguments + 5 } else { arguments };
    let max_stack = arguments.max(target.result_slots() + 3).max(6);
    Straight { asm, max_stack, max_locals, catch, line: NATIVE_FORWARDER_LINE }.write(emitter, &mut head)?;
    Ok(head.finish())
}

/// The locals in which wrappers of originals keep the current thread and the context that it
/// carried. They follow the local of the caller's slot. The first one overwrites the marker
/// argument.
pub(super) fn thread_locals(target: &Target<'_, '_>) -> (u16, u16) {
    let marker = target.signature.argument_slots() + 2;
    (marker, marker + 1)
}

/// Appends the call of the original, without dispatch, or of the hook's method instead. Restores
/// the thread's context from [`thread_locals`] and finishes the method. The handler covers the code
/// from `start` to the end of the call.
pub(super) fn then_original_and_restore(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mut asm: Asm,
    start: u16,
    hook: Option<&NativeHook>,
    makes: Option<NativeAllocation>,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let (thread, saved) = thread_locals(target);
    match hook {
        Some(NativeHook::Instead(method)) => {
            target.push_arguments(&mut asm);
            target.result_of(emitter, &mut asm, *method)?;
        }
        Some(NativeHook::After(_)) => {
            let depth = emitter.constants.runtime_method(native_hooks::DEPTH, emitter.edit)?;
            target.push_arguments_but(&mut asm, Some(depth));
            target.invoke_special(emitter, &mut asm, target.descriptor_index)?;
        }
        _ => {
            target.push_arguments(&mut asm);
            target.invoke_special(emitter, &mut asm, target.descriptor_index)?;
        }
    }
    let end = asm.bytes.len() as u16;
    let mut restore = Asm::new();
    emitter.restore_thread(&mut restore, thread, saved)?;
    asm.bytes.extend_from_slice(&restore.bytes);
    if let Some(method) = target.traced {
        target.event(emitter, &mut asm, Event::End { method, by_exception: false })?;
        target.event(emitter, &mut restore, Event::End { method, by_exception: true })?;
    }
    match hook {
        Some(NativeHook::Result(method)) => target.result_of(emitter, &mut asm, *method)?,
        Some(NativeHook::After(method)) => {
            target.push_arguments(&mut asm);
            target.result_of(emitter, &mut asm, *method)?;
        }
        _ => {}
    }
    if let Some(makes) = makes {
        count_made(emitter, &mut asm, makes, arguments)?;
    }
    asm.ret(target.result());
    let object = emitter.constants.object(emitter.edit)?;
    let ours = [VerificationType::Long, VerificationType::Object(object), VerificationType::Long];
    let catch = Catch { start, end, restore, locals: forgotten(target, &ours) };
    let max_stack = (arguments + target.result_slots()).max(target.result_slots() + 3).max(6);
    Straight { asm, max_stack, max_locals: arguments + 6, catch: Some(catch), line: NATIVE_FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// Replaces the class file among the arguments with the one on the stack. Adjusts the offset and
/// length arguments that follow it, if there are any. `free` is a local that nothing else uses.
fn replace_class_file(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    asm: &mut Asm,
    free: u16,
) -> Result<()> {
    let mut slot = u16::from(!target.is_static());
    let mut arguments = target.signature.descriptor.arguments();
    for t in arguments.by_ref() {
        if matches!(t, FieldType::Array(b"[B") | FieldType::Class(b"java/nio/ByteBuffer")) {
            break;
        }
        slot += t.slots();
    }
    asm.store(Kind::Reference, free);
    if arguments.next() == Some(FieldType::Base(b'I')) {
        for (which, place) in
            [(native_hooks::DEFINE_OFFSET, slot + 1), (native_hooks::DEFINE_LENGTH, slot + 2)]
        {
            asm.load(Kind::Reference, free).load(Kind::Reference, slot).load(Kind::Int, place);
            emitter.runtime(asm, which)?;
            asm.store(Kind::Int, place);
        }
    }
    asm.load(Kind::Reference, free).store(Kind::Reference, slot);
    Ok(())
}
