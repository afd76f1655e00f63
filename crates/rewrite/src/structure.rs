//! The static side of a traced class (Caserta and Zendra 2012, 3.2.1): the items that events name
//! by number.

use cct_classfile::attributes::AttributeInfo;
use cct_classfile::{Bci, ClassFile, Code, Instruction, Member, NameAndType, Result, access, opcode};
use cct_events::structure::{Block, CallSite, CalleeEvents, Handler, METRICS, Method, Name, Recording};

use crate::allocation::Allocation;
use crate::plan::CallTarget;
use crate::tracing::TracePlan;

/// The entry of a method without an instrumented body, which has a start and perhaps an end.
pub fn bodiless(member: &Member<'_>, id: u64, recording: Recording, bytecodes: u32) -> Method {
    let mut method = head(member, id, recording);
    if recording == Recording::Leaf {
        let mut block = Block::default();
        block.metrics[0] = bytecodes;
        method.blocks.push(block);
    }
    method
}

/// The entry of a method before its code is known.
pub fn head(member: &Member<'_>, id: u64, recording: Recording) -> Method {
    Method {
        name: member.name.into(),
        descriptor: member.descriptor.into(),
        access: member.access_flags,
        id,
        recording,
        ..Method::default()
    }
}

/// Adds the details of a method with a body that this plan traces.
pub fn describe(
    method: &mut Method,
    class: &ClassFile<'_>,
    code: &Code<'_>,
    plan: &TracePlan,
    calls: &[(Bci, CallTarget<'_>)],
) -> Result<()> {
    method.recording = plan.recording;
    method.entry_is_target = plan.entry_is_target;
    method.code = code.bytes.into();
    let mut calls = calls.iter().peekable();
    for (number, block) in plan.blocks.iter().enumerate() {
        let mut metrics = [0; METRICS.len()];
        for (place, instruction) in (1..).zip(block.instructions(code)) {
            count(class, &instruction, &mut metrics)?;
            if let Some(&(bci, target)) = calls.next_if(|(bci, _)| *bci == instruction.bci) {
                method.calls.push(call_site(class, &instruction, bci, place, target)?);
            }
        }
        let next = plan.implied.next(number);
        let is_last = plan.implied.is_last.get(number) == Some(&true);
        method.blocks.push(Block { start: block.start, metrics, next, is_last });
    }
    for handler in &code.handlers {
        let block = plan.blocks.containing(handler.handler).unwrap_or_default();
        let catches = match handler.catch_type {
            0 => &[][..],
            index => class.pool.class(index)?,
        };
        let (start, end) = (handler.start, handler.end);
        method.handlers.push(Handler { start, end, block, catches: catches.into() });
    }
    for table in code.attributes.iter().filter(|attribute| attribute.name == b"LineNumberTable") {
        // An invalid entry names no line (JVMS 4.7.12).
        let mut cursor = table.cursor();
        let Ok(count) = cursor.u2() else { continue };
        for _ in 0..count {
            let (Ok(bci), Ok(line)) = (cursor.u2(), cursor.u2()) else { break };
            method.lines.push((bci.into(), line.into()));
        }
    }
    method.lines.sort_by_key(|&(bci, _)| bci);
    Ok(())
}

/// The types that the instructions of a body allocate.
pub fn makes(allocations: &[Allocation]) -> Vec<(Bci, Name)> {
    let of =
        |allocation: &Allocation| Some((allocation.bci, Name::from(&**allocation.made.types().first()?)));
    allocations.iter().filter_map(of).collect()
}

/// Size in bytes of a class's own instance fields, as in HotSpot with a heap of up to 32 GB:
/// references have four bytes.
pub fn field_bytes(class: &ClassFile<'_>) -> u32 {
    let bytes = |field: &Member<'_>| match field.descriptor.first() {
        Some(b'J' | b'D') => 8,
        Some(b'S' | b'C') => 2,
        Some(b'B' | b'Z') => 1,
        _ => 4,
    };
    class.fields.iter().filter(|field| !field.is(access::STATIC)).map(bytes).sum()
}

/// The source file of a class.
pub fn source(class: &ClassFile<'_>) -> Option<Name> {
    let attribute = class.attributes.find(b"SourceFile")?;
    match AttributeInfo::parse(attribute, &class.pool).ok()? {
        AttributeInfo::SourceFile(index) => class.pool.utf8(index.0).ok().map(Into::into),
        _ => None,
    }
}

fn call_site(
    class: &ClassFile<'_>,
    instruction: &Instruction<'_>,
    bci: Bci,
    place: u32,
    target: CallTarget<'_>,
) -> Result<CallSite> {
    let mut site = CallSite { bci, place, opcode: instruction.opcode, ..CallSite::default() };
    if let Some(index) = instruction.pool_index() {
        if instruction.opcode == opcode::INVOKEDYNAMIC {
            let (_, NameAndType { name, descriptor }) = class.pool.dynamic(index)?;
            (site.name, site.descriptor) = (name.into(), descriptor.into());
        } else {
            let callee = class.pool.member_ref(index)?;
            site.class = callee.class.into();
            (site.name, site.descriptor) = (callee.name.into(), callee.descriptor.into());
        }
    }
    if let CallTarget::Counted(callee) | CallTarget::Dispatched(callee) = target {
        site.counted = if matches!(target, CallTarget::Counted(_)) {
            CalleeEvents::Always
        } else {
            CalleeEvents::Perhaps
        };
        site.callee = callee.method.class.into();
        site.bytecodes = callee.bytecodes.into();
        site.id = callee.mid().0;
    }
    Ok(site)
}

/// Adds an instruction to the metrics of its block.
fn count(
    class: &ClassFile<'_>,
    instruction: &Instruction<'_>,
    metrics: &mut [u32; METRICS.len()],
) -> Result<()> {
    use opcode::*;
    let op = instruction.opcode;
    let mut add = |metric: usize, is_one: bool| metrics[metric] += u32::from(is_one);
    add(0, true);
    add(1, (IALOAD..=SALOAD).contains(&op));
    add(2, (IASTORE..=SASTORE).contains(&op));
    add(3, is_floating(op));
    add(4, op == ALOAD || (ALOAD_0..=ALOAD_3).contains(&op));
    add(5, is_conditional(op) || is_switch(op));
    add(6, is_unconditional_jump(op) || op == RET);
    add(16, matches!(op, NEW | NEWARRAY | ANEWARRAY | MULTIANEWARRAY));
    add(17, matches!(op, INVOKEVIRTUAL | INVOKEINTERFACE));
    add(18, op == INVOKESTATIC);
    let Some(index) = instruction.pool_index() else { return Ok(()) };
    if (GETSTATIC..=PUTFIELD).contains(&op) {
        let field = class.pool.member_ref(index)?;
        let is_primitive = !matches!(field.descriptor.first(), Some(b'L' | b'['));
        let writes = matches!(op, PUTSTATIC | PUTFIELD);
        let own = if field.class == class.name() { 7 } else { 11 };
        add(own + 2 * usize::from(is_primitive) + usize::from(writes), true);
    } else if is_invoke(op) && op != INVOKEDYNAMIC {
        add(15, class.pool.member_ref(index)?.class != class.name());
    }
    Ok(())
}

/// Whether an instruction is floating-point arithmetic, a conversion or comparison included.
fn is_floating(op: opcode::Opcode) -> bool {
    use opcode::*;
    match op {
        // Groups of four: int, long, float, double.
        IADD..=DNEG => (op - IADD) % 4 >= 2,
        FCMPL..=DCMPG | I2F | I2D | L2F | L2D | F2I..=D2F => true,
        _ => false,
    }
}
