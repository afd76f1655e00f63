//! Forwarders between the two signatures: native-to-bytecode (N2B), bytecode-to-native (B2N), and redispatching ones.
//!
//! A wrapper calls its twin with `invokespecial`: virtual dispatch would lead a super call back to where it came from. Redispatching
//! forms are the opposite on purpose: virtual, so that any override wins.

use cct_classfile::bytes::PutBytes;
use cct_classfile::descriptor::{FieldType, MethodDescriptor};
use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Signature, VerificationType};
use cct_classfile::{Index, Member, Result, access, constant_pool::tag, opcode};
use cct_events::Event;

use crate::allocation::NativeMakes;
use crate::carrier::{Emitter, push_first_slot_offset};
use crate::convention::{self, EXTENSION_SLOTS, FORWARDER_LINE, Helper, NATIVE_FORWARDER_LINE};
use crate::hooks::{self, NativeHook, RuntimeMethod};
use crate::mid::Mid;
use crate::passes::allocation_counts;
use crate::pcc::{self, WrappersPart};
use crate::rules;

/// A method, seen by the wrapper that stands for it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'t, 'a> {
    /// Flags of the original.
    pub access_flags: u16,
    /// Index of the name.
    pub name_index: Index,
    /// The original signature.
    pub signature: &'t Signature<'a>,
    /// Index of the original descriptor.
    pub descriptor_index: Index,
    /// Index of the extended descriptor.
    pub extended_index: Index,
    /// The method's number, where events are recorded in the place of counts.
    pub traced: Option<u32>,
    /// Its part in values, if contexts are such.
    pub values: Option<WrappersPart>,
}

impl<'t, 'a> Target<'t, 'a> {
    /// A declared method.
    pub fn of(member: &Member<'_>, signature: &'t Signature<'a>, extended_index: Index) -> Self {
        Target {
            access_flags: member.access_flags,
            name_index: member.name_index,
            signature,
            descriptor_index: member.descriptor_index,
            extended_index,
            traced: None,
            values: None,
        }
    }

    /// The same, where the twin goes by another name.
    pub fn named(self, name_index: Index) -> Self {
        Target { name_index, ..self }
    }

    /// An event of the method, by the record in the slot's place.
    fn event(&self, emitter: &mut Emitter<'_, '_, '_>, asm: &mut Asm, event: Event) -> Result<()> {
        emitter.event(asm, self.signature.argument_slots(), None, event)
    }

    fn is_static(&self) -> bool {
        self.access_flags & access::STATIC != 0
    }

    /// Pushes `this` and the arguments.
    fn push_arguments(&self, asm: &mut Asm) {
        self.push_arguments_but(asm, None);
    }

    /// Pushes `this` and the arguments, those of type `int` changed by a static method, `(I)I`.
    fn push_arguments_but(&self, asm: &mut Asm, change: Option<Index>) {
        let mut slot = 0;
        if !self.is_static() {
            asm.load(Kind::Reference, 0);
            slot = 1;
        }
        for t in self.signature.descriptor.arguments() {
            if let Some(kind) = Kind::of(t) {
                asm.load(kind, slot);
            }
            if let (Some(change), FieldType::Base(b'I')) = (change, t) {
                asm.indexed(opcode::INVOKESTATIC, change);
            }
            slot += t.slots();
        }
    }

    /// Pops a value into the argument with this number.
    fn store_argument(&self, asm: &mut Asm, number: usize) {
        let mut slot = u16::from(!self.is_static());
        for (i, t) in self.signature.descriptor.arguments().enumerate() {
            if let (true, Some(kind)) = (i == number, Kind::of(t)) {
                asm.store(kind, slot);
            }
            slot += t.slots();
        }
    }

    /// Invokes the twin in this class without dispatch.
    fn invoke_special(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        asm: &mut Asm,
        descriptor: Index,
    ) -> Result<()> {
        let op = if self.is_static() { opcode::INVOKESTATIC } else { opcode::INVOKESPECIAL };
        let index = self.reference(emitter, descriptor)?;
        asm.indexed(op, index);
        Ok(())
    }

    /// Calls a runtime method whose result is this method's.
    fn result_of(
        &self,
        emitter: &mut Emitter<'_, '_, '_>,
        asm: &mut Asm,
        method: RuntimeMethod,
    ) -> Result<()> {
        emitter.runtime(asm, method)?;
        if let (true, FieldType::Class(class) | FieldType::Array(class)) =
            (method.gives_any(), self.signature.descriptor.result)
            && class != convention::OBJECT
        {
            let class = emitter.edit.additions.class_named(class)?;
            asm.indexed(opcode::CHECKCAST, class);
        }
        Ok(())
    }

    fn reference(&self, emitter: &mut Emitter<'_, '_, '_>, descriptor: Index) -> Result<Index> {
        let class = emitter.edit.class();
        let tag = if class.is_interface() { tag::INTERFACE_METHODREF } else { tag::METHODREF };
        emitter.edit.additions.member_ref(tag, class.this_class, self.name_index, descriptor)
    }

    fn result(&self) -> Option<Kind> {
        Kind::of(self.signature.descriptor.result)
    }

    fn result_slots(&self) -> u16 {
        self.signature.descriptor.result.slots()
    }
}

/// A straight piece of code with at most one catch-all over a part of it, all in one line.
struct Straight {
    asm: Asm,
    max_stack: u16,
    max_locals: u16,
    catch: Option<Catch>,
    line: u16,
}

/// The handler behind the code: restores, and throws on.
struct Catch {
    start: u16,
    end: u16,
    restore: Asm,
    locals: Vec<VerificationType>,
}

impl Straight {
    /// Adds the `Code` attribute.
    fn write(self, emitter: &mut Emitter<'_, '_, '_>, head: &mut MemberBuilder) -> Result<()> {
        let code_name = emitter.edit.names.code(&mut emitter.edit.additions)?;
        let lines_name = emitter.edit.names.line_number_table(&mut emitter.edit.additions)?;
        let mut frame = Vec::new();
        if let Some(catch) = &self.catch {
            let at = self.asm.bytes.len() as u16;
            // full_frame (JVMS 4.7.4), one Throwable on the stack
            frame.put2(1);
            frame.put1(255);
            frame.put2(at);
            frame.put2(catch.locals.len() as u16);
            for &t in &catch.locals {
                match t {
                    VerificationType::Long => frame.put1(4),
                    VerificationType::Object(class) => {
                        frame.put1(7);
                        frame.put2(class);
                    }
                    _ => frame.put1(0),
                }
            }
            frame.put2(1);
            frame.put1(7);
            frame.put2(emitter.constants.throwable(emitter.edit)?);
        }
        // Before version 50 the verifier infers types and takes no table.
        let version = emitter.edit.version();
        let frame_name = match !frame.is_empty() && version.has_frames() {
            true => Some(emitter.edit.names.stack_map_table(&mut emitter.edit.additions)?),
            false => None,
        };
        head.attribute(code_name, |out| {
            let handler = self.asm.bytes.len();
            let length = handler + self.catch.as_ref().map_or(0, |c| c.restore.bytes.len() + 1);
            version.put_code_head(self.max_stack, self.max_locals, length as u32, out)?;
            out.extend_from_slice(&self.asm.bytes);
            if let Some(catch) = &self.catch {
                out.extend_from_slice(&catch.restore.bytes);
                out.put1(opcode::ATHROW);
                out.put2(1);
                out.put2(catch.start);
                out.put2(catch.end);
                out.put2(handler as u16);
                out.put2(0);
            } else {
                out.put2(0);
            }
            out.put2(1 + u16::from(frame_name.is_some()));
            out.put2(lines_name);
            out.put4(6);
            out.put2(1);
            out.put2(0);
            out.put2(self.line);
            if let Some(name) = frame_name {
                out.put2(name);
                out.put4(frame.len() as u32);
                out.extend_from_slice(&frame);
            }
            Ok(())
        })
    }
}

/// N2B: the original signature takes the context from the thread, calls the ESI, and puts back what callees stored. What the VM calls by
/// itself does not trust the thread: it `replays` the stack.
pub fn native_to_bytecode(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    replays: bool,
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
    // No handler may cover the initialisation of `this`: HotSpot's verifier compares it both with the state before the call, in which `this`
    // is uninitialised, and with the one after it. So an exception that leaves a constructor by this wrapper restores nothing.
    let catch = if target.signature.is_constructor {
        None
    } else {
        let object = emitter.constants.object(emitter.edit)?;
        let locals = forgotten(target, &[VerificationType::Object(object), VerificationType::Long]);
        Some(Catch { start, end, restore, locals })
    };
    let max_stack = (arguments + EXTENSION_SLOTS).max(target.result_slots() + 3).max(4);
    Straight { asm, max_stack, max_locals: passed + 2, catch, line: FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// Handler state: all arguments forgotten.
fn forgotten(target: &Target<'_, '_>, ours: &[VerificationType]) -> Vec<VerificationType> {
    let mut locals = vec![VerificationType::Top; usize::from(target.signature.argument_slots())];
    locals.extend_from_slice(ours);
    locals
}

/// Redispatch: the extended signature stores the context in the thread and calls the original virtually.
pub fn redispatch(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let mut asm = Asm::new();
    asm.load(Kind::Long, arguments);
    emitter.helper(&mut asm, convention::STORE)?;
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

/// The extended form of a method that could not be instrumented and cannot be overridden: stores the context and calls the original.
pub fn stored_original(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    asm.load(Kind::Long, target.signature.argument_slots());
    emitter.helper(&mut asm, convention::STORE)?;
    then_original(emitter, target, asm, 2, None, head)
}

/// What stands in `asm` and needs `stack` words, then the original without dispatch, and what it `makes`, by the node in the slot's place.
fn then_original(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mut asm: Asm,
    stack: u16,
    makes: Option<NativeMakes>,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    target.push_arguments(&mut asm);
    target.invoke_special(emitter, &mut asm, target.descriptor_index)?;
    if let Some(makes) = makes {
        allocation_counts::of_native(emitter, &mut asm, makes, arguments)?;
    }
    asm.ret(target.result());
    let max_stack = arguments.max(target.result_slots()).max(stack);
    let class = emitter.edit.class();
    let never_seen = rules::never_has_a_frame(class.name(), class.pool.utf8(target.name_index)?);
    let line = match target.access_flags & access::NATIVE {
        0 => FORWARDER_LINE,
        _ if never_seen => FORWARDER_LINE,
        _ => NATIVE_FORWARDER_LINE,
    };
    Straight { asm, max_stack, max_locals: arguments + EXTENSION_SLOTS, catch: None, line }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// The extended form of a leaf native or of VM magic: counted here, with its `bytecodes`, then the original. `mid` is `None` where it is not
/// recorded.
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

/// The same for a leaf native that makes what it returns: that is counted below its node.
pub fn counted_original_that_makes(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mid: Mid,
    makes: NativeMakes,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    // The node takes the slot's place.
    let node = target.signature.argument_slots();
    match target.traced {
        Some(_) => count_leaf(emitter, target, &mut asm, Some(mid), 0)?,
        None => emitter.enter(&mut asm, node, node, mid, 0, None)?,
    }
    then_original(emitter, target, asm, 5, Some(makes), head)
}

/// The extended form of a leaf native that may throw: it starts and ends.
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

/// Counts a method without a body of ours, if it is recorded.
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
    emitter.helper(asm, convention::LEAF)
}

/// The extended form of an intrinsic whose original body calls instrumented code: counted here, and nothing is recorded while the original runs,
/// as it may or may not be replaced.
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
    emitter.helper(&mut asm, convention::RESTORE)?;
    // It was over when it was counted.
    let target = &Target { traced: None, ..*target };
    then_original_and_restore(emitter, target, asm, start, None, None, head)
}

/// What hangs below which node while a native runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Below {
    /// What it calls below its own node; below its caller's where it is not recorded.
    Itself(Option<Mid>),
    /// What it calls below the thread's root: natives are not represented.
    Root,
}

/// B2N: the native's node is made, and stands in the thread while the native runs (CCCP 4.2).
pub fn bytecode_to_native(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    below: Below,
    hook: Option<&NativeHook>,
    makes: Option<NativeMakes>,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let arguments = target.signature.argument_slots();
    let mid = match below {
        Below::Itself(mid) => mid,
        Below::Root => None,
    };
    // The node takes the slot's place.
    let (node, (thread, saved)) = (arguments, thread_locals(target));
    let mut asm = Asm::new();
    if let Some(NativeHook::Define(method)) = hook {
        target.push_arguments(&mut asm);
        emitter.runtime(&mut asm, *method)?;
        replace_class_file(emitter, target, &mut asm, arguments + 5)?;
    }
    if let Some(NativeHook::Last(method)) = hook {
        // A reference, which is one slot.
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
    // From here on the saved context is known, so the handler may cover the store too.
    let start = asm.bytes.len() as u16;
    asm.load(Kind::Reference, thread).load(Kind::Long, node);
    match below {
        Below::Itself(Some(_)) if target.traced.is_none() && target.values.is_none() => {
            push_first_slot_offset(&mut asm);
        }
        Below::Itself(_) => {}
        Below::Root => emitter.helper(&mut asm, convention::ROOT_OF)?,
    }
    emitter.helper(&mut asm, convention::CARRY)?;
    if let Some(NativeHook::Entered(method)) = hook {
        target.push_arguments(&mut asm);
        emitter.runtime(&mut asm, *method)?;
    }
    let makes = makes.filter(|_| mid.is_some());
    // Only what has a beginning has an end.
    let target = &Target { traced: target.traced.filter(|_| mid.is_some()), ..*target };
    then_original_and_restore(emitter, target, asm, start, hook, makes, head)
}

/// What stands in the place of a native that was renamed (JP2 3.3): its context comes from the thread, like that of a body under the original signature. One that
/// never calls back, and so has no `slots`, leaves the thread alone; one that is not recorded is called and nothing else.
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
            emitter.helper(&mut asm, convention::CURRENT_THREAD)?;
            emitter.helper(&mut asm, convention::CONTEXT)?;
            emitter.mid(&mut asm, mid)?;
            asm.int(0);
            emitter.helper(&mut asm, convention::LEAF)?;
            None
        }
        Some(mid) => {
            emitter.read_thread(&mut asm, thread, saved)?;
            emitter.enter(&mut asm, saved, node, mid, 0, None)?;
            let start = asm.bytes.len() as u16;
            asm.load(Kind::Reference, thread).load(Kind::Long, node);
            push_first_slot_offset(&mut asm);
            emitter.helper(&mut asm, convention::CARRY)?;
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

/// The locals behind the slot in which wrappers of originals keep the current thread, and the context that it carried: the first is the
/// marker's.
fn thread_locals(target: &Target<'_, '_>) -> (u16, u16) {
    let marker = target.signature.argument_slots() + 2;
    (marker, marker + 1)
}

/// What stands in `asm`, then the original without dispatch, and the thread gets back what it carried, as it stands in
/// [`thread_locals`] from `start` on.
fn then_original_and_restore(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mut asm: Asm,
    start: u16,
    hook: Option<&NativeHook>,
    makes: Option<NativeMakes>,
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
            let depth = emitter.constants.runtime_method(hooks::DEPTH, emitter.edit)?;
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
        allocation_counts::of_native(emitter, &mut asm, makes, arguments)?;
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

/// The class file on the stack takes the place of the one among the arguments, and offset and length behind it, if there are any, follow. `free` is a
/// local that nothing else uses.
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
        for (which, place) in [(hooks::DEFINE_OFFSET, slot + 1), (hooks::DEFINE_LENGTH, slot + 2)] {
            asm.load(Kind::Reference, free).load(Kind::Reference, slot).load(Kind::Int, place);
            emitter.runtime(asm, which)?;
            asm.store(Kind::Int, place);
        }
    }
    asm.load(Kind::Reference, free).store(Kind::Reference, slot);
    Ok(())
}

/// A method that calls the original, for the runtime, which cannot call what is private.
pub fn call_for_the_runtime(
    emitter: &mut Emitter<'_, '_, '_>,
    target: &Target<'_, '_>,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    target.push_arguments(&mut asm);
    target.invoke_special(emitter, &mut asm, target.descriptor_index)?;
    asm.ret(target.result());
    let arguments = target.signature.argument_slots();
    let max_stack = arguments.max(target.result_slots());
    Straight { asm, max_stack, max_locals: arguments, catch: None, line: FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// A static method that calls a method of the runtime with the same descriptor.
pub fn forwarder(
    emitter: &mut Emitter<'_, '_, '_>,
    method: RuntimeMethod,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let parsed = MethodDescriptor::parse(method.descriptor)?;
    let mut asm = Asm::new();
    let mut slot = 0;
    for t in parsed.arguments() {
        if let Some(kind) = Kind::of(t) {
            asm.load(kind, slot);
        }
        slot += t.slots();
    }
    emitter.runtime(&mut asm, method)?;
    asm.ret(Kind::of(parsed.result));
    let max_stack = slot.max(parsed.result.slots());
    Straight { asm, max_stack, max_locals: slot, catch: None, line: FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// A static method by which the program switches the recording: its argument, if it has one, is the region's name, and its result, if it has one,
/// whether the thread is recorded.
pub fn switch(
    emitter: &mut Emitter<'_, '_, '_>,
    signature: &Signature<'_>,
    what: i16,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    match signature.argument_slots() {
        0 => asm.op(opcode::ACONST_NULL),
        _ => asm.load(Kind::Reference, 0),
    };
    asm.int(what);
    emitter.helper(&mut asm, convention::RECORD)?;
    let result = Kind::of(signature.descriptor.result);
    if result.is_none() {
        asm.op(opcode::POP);
    }
    asm.ret(result);
    let max_locals = signature.argument_slots();
    Straight { asm, max_stack: 2, max_locals, catch: None, line: FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}

/// A static method without parameters whose result is a helper's.
pub fn question(
    emitter: &mut Emitter<'_, '_, '_>,
    signature: &Signature<'_>,
    helper: Helper,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    emitter.helper(&mut asm, helper)?;
    asm.ret(Kind::of(signature.descriptor.result));
    let max_stack = signature.descriptor.result.slots();
    Straight { asm, max_stack, max_locals: 0, catch: None, line: FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}
