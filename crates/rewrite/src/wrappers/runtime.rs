//! Methods between rewritten code and the runtime, which one side calls under a name that
//! cctrewrite reserves.

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::Signature;
use cct_classfile::{Result, opcode};
use cct_jdk::convention::FORWARDER_LINE;
use cct_jdk::helpers::Helper;
use cct_jdk::runtime_method::RuntimeMethod;

use crate::carrier::Emitter;

use super::Target;
use super::straight::Straight;

/// A method that calls the original for the runtime, which cannot call private methods.
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

/// A static method that calls a runtime method with the same descriptor.
pub fn forwarder(
    emitter: &mut Emitter<'_, '_, '_>,
    method: RuntimeMethod,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    forwarder_after(Asm::new(), emitter, method, head)
}

/// Maximum number of code bytes that C1 inlines: `MaxInlineSize` of JDK 8, `C1MaxInlineSize` of
/// later versions.
const C1_INLINES: usize = 35;

/// A forwarder that is a helper of `java/lang/Object`, padded so that C1 does not inline it.
///
/// HotSpot's second compiler (C2) inlines it where it is hot, up to 325 bytes, along with callees
/// that it must inline. The first compiler (C1) must not inline it. In the code that C1 generates
/// for C2's profile, each inlined call, branch and method has counters of its own. Methods with
/// inlined helpers took more than twice as long as with calls of helpers, which C2 compiles soon
/// (docs/benchmarks.md).
pub fn helper(
    emitter: &mut Emitter<'_, '_, '_>,
    method: RuntimeMethod,
    head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    // With the call after them, more than that.
    for _ in 0..C1_INLINES {
        asm.op(opcode::NOP);
    }
    forwarder_after(asm, emitter, method, head)
}

fn forwarder_after(
    mut asm: Asm,
    emitter: &mut Emitter<'_, '_, '_>,
    method: RuntimeMethod,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let parsed = MethodDescriptor::parse(method.member.descriptor)?;
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

/// A static method through which the program switches the recording. Its argument, if it has one,
/// is the region's name; its result, if it has one, says whether the thread is recorded.
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
    emitter.helper(&mut asm, Helper::Record)?;
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

/// A static method that returns the result of a helper with the same descriptor.
pub fn query(
    emitter: &mut Emitter<'_, '_, '_>,
    signature: &Signature<'_>,
    helper: Helper,
    mut head: MemberBuilder,
) -> Result<Vec<u8>> {
    let mut asm = Asm::new();
    let mut slot = 0;
    for t in signature.descriptor.arguments() {
        if let Some(kind) = Kind::of(t) {
            asm.load(kind, slot);
        }
        slot += t.slots();
    }
    emitter.helper(&mut asm, helper)?;
    asm.ret(Kind::of(signature.descriptor.result));
    let max_stack = slot.max(signature.descriptor.result.slots());
    Straight { asm, max_stack, max_locals: slot, catch: None, line: FORWARDER_LINE }
        .write(emitter, &mut head)?;
    Ok(head.finish())
}
