//! Ways to alter a rewritten class, one change at a time.

use std::ops::Range;

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{ClassFile, Code, Instruction, access, constant_pool::tag, opcode};

use super::mutations::{Builder, Change, Kind};

/// An instruction of a rewritten class, and its position in the file.
pub struct Place<'c, 'a> {
    pub class: &'c ClassFile<'a>,
    pub code: &'c Code<'a>,
    pub instruction: Instruction<'a>,
    /// The instruction after it.
    pub next: Option<Instruction<'a>>,
    pub at: usize,
}

/// Offset of a slice in a file.
pub fn offset(file: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - file.as_ptr() as usize
}

pub fn at_instructions(class: &ClassFile<'_>, change: impl Fn(&Place<'_, '_>) -> Vec<Change>) -> Vec<Change> {
    let mut changes = Vec::new();
    for method in &class.methods {
        let Ok(Some(code)) = Code::of(class, method) else { continue };
        let base = offset(class.bytes, code.bytes);
        let instructions: Vec<_> = code.instructions().collect();
        for (n, &instruction) in instructions.iter().enumerate() {
            let at = base + instruction.bci as usize;
            let next = instructions.get(n + 1).copied();
            changes.extend(change(&Place { class, code: &code, instruction, next, at }));
        }
    }
    changes
}

/// The helper that an instruction calls.
pub fn helper<'a>(class: &ClassFile<'a>, i: &Instruction<'_>) -> Option<&'a [u8]> {
    if i.opcode != opcode::INVOKESTATIC {
        return None;
    }
    let name = class.pool.member_ref(i.pool_index()?).ok()?.name;
    name.strip_prefix(b"cct$")
}

/// Changes that replace an instruction with these bytes, padded with `nop`.
pub fn instead(place: &Place<'_, '_>, mut bytes: Vec<u8>) -> Vec<Change> {
    let length = place.instruction.bytes.len();
    if bytes.len() > length {
        return Vec::new();
    }
    bytes.resize(length, opcode::NOP);
    vec![(place.at..place.at + length, bytes)]
}

fn added(value: u8) -> u8 {
    value.wrapping_add(1)
}

// The following kinds alter the program.

fn dropped_instruction(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match place.instruction.opcode {
        opcode::NOP => Vec::new(),
        _ => instead(place, Vec::new()),
    })
}

fn swapped_operator(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let other = match place.instruction.opcode {
            opcode::IADD => opcode::ISUB,
            opcode::IFEQ => opcode::IFNE,
            opcode::IF_ICMPLT => opcode::IF_ICMPGE,
            opcode::IFNULL => opcode::IFNONNULL,
            opcode::AALOAD => opcode::IALOAD,
            opcode::DUP => opcode::NOP,
            _ => return Vec::new(),
        };
        vec![(place.at..place.at + 1, vec![other])]
    })
}

fn changed_small_constant(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match place.instruction.opcode {
        // As the address of a slot, or a number of bytecodes, the value matters as much.
        op @ opcode::ICONST_0..=opcode::ICONST_4 => vec![(place.at..place.at + 1, vec![op + 1])],
        opcode::BIPUSH => {
            vec![(place.at + 1..place.at + 2, vec![added(place.instruction.bytes[1])])]
        }
        opcode::SIPUSH => {
            vec![(place.at + 2..place.at + 3, vec![added(place.instruction.bytes[2])])]
        }
        _ => Vec::new(),
    })
}

fn other_local(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match place.instruction.opcode {
        opcode::ILOAD..=opcode::ALOAD | opcode::ISTORE..=opcode::ASTORE if !place.instruction.is_wide() => {
            vec![(place.at + 1..place.at + 2, vec![added(place.instruction.bytes[1])])]
        }
        op @ (opcode::ALOAD_0 | opcode::ILOAD_0..=27) => vec![(place.at..place.at + 1, vec![op + 1])],
        _ => Vec::new(),
    })
}

/// A jump leads to another instruction of the same method.
fn other_target(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let i = &place.instruction;
        let short = opcode::is_conditional(i.opcode) || matches!(i.opcode, opcode::GOTO);
        let (Some(target), true) = (i.target(), short) else { return Vec::new() };
        let others = place.code.instructions().map(|o| o.bci).filter(|bci| *bci != target);
        // The instruction after the target, and the first one.
        let nearest = others.clone().find(|bci| *bci > target);
        let jump = |to: u32| {
            let offset = (i64::from(to) - i64::from(i.bci)) as i16;
            (place.at + 1..place.at + 3, offset.to_be_bytes().to_vec())
        };
        nearest.into_iter().chain(others.take(1)).map(jump).collect()
    })
}

fn other_case(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        if place.instruction.opcode != opcode::LOOKUPSWITCH || place.instruction.switch().is_none() {
            return Vec::new();
        }
        let padding = 3 - place.instruction.bci as usize % 4;
        let first_key = place.at + 1 + padding + 8;
        if place.instruction.switch().is_some_and(|s| !s.is_empty()) {
            vec![(first_key..first_key + 1, vec![place.class.bytes[first_key] ^ 0x40])]
        } else {
            Vec::new()
        }
    })
}

/// An instruction names another member of the same kind and descriptor, or another constant of the
/// same kind.
fn other_constant(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let (i, pool) = (&place.instruction, &class.pool);
        let Some(index) = i.pool_index() else { return Vec::new() };
        let kind = pool.tag(index);
        let same = |other: &u16| {
            *other != index
                && pool.tag(*other) == kind
                && match (pool.member_ref(index), pool.member_ref(*other)) {
                    (Ok(a), Ok(b)) => a.descriptor == b.descriptor && a.name != b.name,
                    _ => true,
                }
        };
        let Some(other) = pool.indices().find(same) else { return Vec::new() };
        match i.opcode {
            opcode::LDC => match u8::try_from(other) {
                Ok(other) => vec![(place.at + 1..place.at + 2, vec![other])],
                Err(_) => Vec::new(),
            },
            _ => vec![(place.at + 1..place.at + 3, other.to_be_bytes().to_vec())],
        }
    })
}

/// A call replaces an instruction that takes and leaves nothing.
fn extra_call(class: &ClassFile<'_>) -> Vec<Change> {
    let call = class.pool.indices().find(|index| {
        class.pool.tag(*index) == Some(tag::METHODREF)
            && class.pool.member_ref(*index).is_ok_and(|m| m.descriptor == b"()V")
    });
    let Some(call) = call else { return Vec::new() };
    at_instructions(class, |place| match (place.instruction.bytes.len(), helper(class, &place.instruction)) {
        (3, Some(b"count")) => {
            let mut bytes = vec![opcode::INVOKESTATIC];
            bytes.extend(call.to_be_bytes());
            instead(place, bytes)
        }
        _ => Vec::new(),
    })
}

fn handlers(class: &ClassFile<'_>, change: impl Fn(usize, &[u8], &Code<'_>) -> Vec<Change>) -> Vec<Change> {
    let mut changes = Vec::new();
    for method in &class.methods {
        let Ok(Some(code)) = Code::of(class, method) else { continue };
        let table = offset(class.bytes, code.bytes) + code.bytes.len() + 2;
        for n in 0..code.handlers.len() {
            let at = table + 8 * n;
            changes.extend(change(at, &class.bytes[at..at + 8], &code));
        }
    }
    changes
}

/// An exception entry covers only one instruction, the first of its range.
fn shrunk_handler(class: &ClassFile<'_>) -> Vec<Change> {
    handlers(class, |at, entry, code| {
        let start = u32::from(u16::from_be_bytes([entry[0], entry[1]]));
        let end = u32::from(u16::from_be_bytes([entry[2], entry[3]]));
        let first = code.instruction_at(start).map(|i| i.end()).filter(|first| *first < end);
        first.map_or(Vec::new(), |first| vec![(at + 2..at + 4, (first as u16).to_be_bytes().to_vec())])
    })
}

fn other_catch_type(class: &ClassFile<'_>) -> Vec<Change> {
    handlers(class, |at, entry, _| {
        let caught = if entry[6..8] == [0, 0] { class.this_class } else { 0 };
        vec![(at + 6..at + 8, caught.to_be_bytes().to_vec())]
    })
}

/// An exception entry leads to the handler of another, or to the beginning.
fn other_handler(class: &ClassFile<'_>) -> Vec<Change> {
    handlers(
        class,
        |at, entry, _| if entry[4..6] == [0, 0] { Vec::new() } else { vec![(at + 4..at + 6, vec![0, 0])] },
    )
}

fn flags(class: &ClassFile<'_>) -> Vec<Change> {
    let members = class.fields.iter().chain(&class.methods);
    let of_members = members.flat_map(|m| {
        let at = offset(class.bytes, m.raw);
        [access::FINAL, access::SYNTHETIC, access::SYNCHRONIZED]
            .map(move |flag| (at..at + 2, (m.access_flags ^ flag).to_be_bytes().to_vec()))
    });
    let at = class.pool.end();
    let own = (at..at + 2, (class.access_flags ^ access::FINAL).to_be_bytes().to_vec());
    of_members.chain([own]).collect()
}

fn superclass(class: &ClassFile<'_>) -> Vec<Change> {
    let at = class.pool.end() + 4;
    vec![(at..at + 2, class.this_class.to_be_bytes().to_vec())]
}

/// A constant of the original changes.
fn original_constant(class: &ClassFile<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for index in class.pool.indices().take(20) {
        if let Ok(text) = class.pool.utf8(index)
            && !text.is_empty()
        {
            let at = offset(class.bytes, text);
            changes.push((at..at + 1, vec![text[0] ^ 1]));
        }
    }
    changes
}

fn attributes_of_members(class: &ClassFile<'_>) -> Vec<Change> {
    let members = class.fields.iter().chain(&class.methods);
    let tables = members.map(|m| &m.attributes).chain([&class.attributes]);
    let attributes = tables.flat_map(|t| t.iter()).filter(|a| a.name != b"Code" && !a.data.is_empty());
    attributes
        .map(|a| a.offset + a.data.len() - 1)
        .map(|last| (last..last + 1, vec![class.bytes[last] ^ 1]))
        .collect()
}

fn attributes_of_code(class: &ClassFile<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for method in &class.methods {
        let Ok(Some(code)) = Code::of(class, method) else { continue };
        for a in code.attributes.iter().filter(|a| a.data.len() > 2) {
            let last = a.offset + a.data.len() - 1;
            changes.push((last..last + 1, vec![class.bytes[last] ^ 1]));
            // The first line, variable or frame.
            changes.push((a.offset + 3..a.offset + 4, vec![class.bytes[a.offset + 3] ^ 2]));
        }
    }
    changes
}

fn too_little_stack(class: &ClassFile<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for method in &class.methods {
        let Ok(Some(code)) = Code::of(class, method) else { continue };
        let at = offset(class.bytes, code.bytes) - 8;
        changes.push((at..at + 2, vec![0, 1]));
        // One less than the arguments need, used or not; compilers may have asked for more than
        // necessary.
        let arguments = MethodDescriptor::parse(method.descriptor).unwrap().argument_slots();
        let all = arguments + u16::from(!method.is(access::STATIC));
        changes.push((at + 2..at + 4, all.max(1).saturating_sub(1).to_be_bytes().to_vec()));
    }
    changes
}

// The following kinds alter contexts and counts.

/// The number before a call of `count`, `enter` or `drain` changes.
fn wrong_amount(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let counts = place.next.is_some_and(|i| {
            matches!(helper(class, &i), Some(b"count" | b"enter" | b"leaf")) || i.opcode == opcode::IADD
        });
        match place.instruction.opcode {
            op @ opcode::ICONST_0..=opcode::ICONST_4 if counts => {
                vec![(place.at..place.at + 1, vec![op + 1])]
            }
            opcode::BIPUSH if counts => {
                vec![(place.at + 1..place.at + 2, vec![added(place.instruction.bytes[1])])]
            }
            opcode::IINC => {
                let at = place.at + place.instruction.bytes.len() - 1;
                vec![(at..at + 1, vec![added(class.bytes[at])])]
            }
            _ => Vec::new(),
        }
    })
}

/// A helper is not called: its arguments are popped.
fn dropped_probe(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match helper(class, &place.instruction) {
        Some(b"store") => instead(place, vec![opcode::POP2]),
        Some(b"count") => instead(place, vec![opcode::POP, opcode::POP2]),
        Some(b"restore") => instead(place, vec![opcode::POP2, opcode::POP]),
        _ => Vec::new(),
    })
}

/// The id under which a body is entered becomes another method's, or has another number of slots or
/// of bytecodes that an entry counts.
fn other_id(class: &ClassFile<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for index in class.pool.indices() {
        let Ok(id) = class.pool.long(index) else { continue };
        let is_ours = class.methods.iter().any(|m| {
            let Ok(Some(code)) = Code::of(class, m) else { return false };
            let instructions: Vec<_> = code.instructions().collect();
            instructions.windows(3).any(|w| {
                w[0].opcode == opcode::LDC2_W
                    && w[0].pool_index() == Some(index)
                    && helper(class, &w[2]) == Some(b"enter")
            })
        });
        if is_ours {
            // The tag and eight bytes.
            let pool = class.pool.raw();
            let bytes = [&[tag::LONG][..], &id.to_be_bytes()].concat();
            let Some(at) = pool.windows(9).position(|w| w == bytes) else { continue };
            let at = offset(class.bytes, pool) + at + 8;
            changes.push((at..at + 1, vec![class.bytes[at] ^ 1]));
            changes.push((at..at + 1, vec![class.bytes[at] ^ 0x80]));
            changes.push((at - 4..at - 3, vec![class.bytes[at - 4] ^ 1]));
        }
    }
    changes
}

// The following kinds alter the class's statements about itself.

/// Offset of the data of the attribute `cctrewrite`.
fn own_attribute(class: &ClassFile<'_>) -> Option<usize> {
    class.attributes.find(b"cctrewrite").map(|a| a.offset)
}

fn provenance(class: &ClassFile<'_>) -> Vec<Change> {
    let at = own_attribute(class).map(|at| at + 10);
    at.map_or(Vec::new(), |at| vec![(at..at + 1, vec![class.bytes[at] ^ 1])])
}

/// Range of its rows.
fn rows(class: &ClassFile<'_>) -> Range<usize> {
    let Some(at) = own_attribute(class) else { return 0..0 };
    let count = u16::from_be_bytes([class.bytes[at + 18], class.bytes[at + 19]]);
    at + 20..at + 20 + 4 * usize::from(count)
}

/// The flags change: native, override refused, not recorded, package-private, and an undefined
/// flag.
fn flags_of_rows(class: &ClassFile<'_>) -> Vec<Change> {
    let flags = rows(class).skip(2).step_by(4);
    let all = flags.flat_map(|at| [1, 2, 4, 8, 16].map(|flag| (at..at + 1, vec![class.bytes[at] ^ flag])));
    // A single method does not show whether the class is recorded.
    let count = class.methods.len();
    all.filter(|_| count > 2).collect()
}

/// The number of bytecodes that an entry counts by the method's id changes.
fn on_entry_of_rows(class: &ClassFile<'_>) -> Vec<Change> {
    rows(class).skip(1).step_by(4).map(|at| (at..at + 1, vec![class.bytes[at] ^ 1])).collect()
}

/// Methods that callers count become methods that nobody counts, and the reverse.
fn untouched_rows(class: &ClassFile<'_>) -> Vec<Change> {
    let treatments = rows(class).skip(3).step_by(4);
    let alike = treatments.filter(|&at| matches!(class.bytes[at], 8 | 9));
    alike.map(|at| (at..at + 1, vec![class.bytes[at] ^ 1])).collect()
}

/// The number of lines, the first line, or the distance that the body's first instruction has moved
/// changes.
fn positions(class: &ClassFile<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut at = rows(class).end;
    let end = class.bytes.len();
    while at + 4 < end {
        let length = class.bytes[at..at + 4].iter().fold(0, |length, &b| length << 8 | usize::from(b));
        let [count, step, ..] = class.bytes[at + 4..] else { break };
        if length > 4 {
            changes.push((at + 4..at + 5, vec![count ^ 1]));
            if count > 0 {
                changes.push((at + 5..at + 6, vec![step ^ 1]));
            } else {
                // The number of moves, and the first move: the prologue's position and its length.
                changes.push((at + 7..at + 8, vec![class.bytes[at + 7] ^ 1]));
            }
        }
        at += 4 + length;
    }
    changes
}

/// The call site that a call passes on changes, or its slot.
fn call_site(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let is_place = place.instruction.opcode == opcode::LDC2_W
            && place.next.is_some_and(|next| next.opcode == opcode::LADD);
        let Some(index) = place.instruction.pool_index().filter(|_| is_place) else { return Vec::new() };
        let Ok(value) = class.pool.long(index) else { return Vec::new() };
        let pool = class.pool.raw();
        let bytes = [&[tag::LONG][..], &value.to_be_bytes()].concat();
        let Some(at) = pool.windows(9).position(|w| w == bytes) else { return Vec::new() };
        let at = offset(class.bytes, pool) + at + 1;
        // The upper bits hold a site, or the runtime's.
        if value >> 48 == 0 {
            return Vec::new();
        }
        [at + 1, at + 7].map(|at| (at..at + 1, vec![class.bytes[at] ^ 8])).into()
    })
}

/// The number of lines or variables of a wrapper changes, or a number in one of them.
fn tables_of_wrappers(class: &ClassFile<'_>) -> Vec<Change> {
    let mut changes = Vec::new();
    for method in &class.methods {
        let Ok(Some(code)) = Code::of(class, method) else { continue };
        let begins = code.instructions().next().and_then(|first| helper(class, &first));
        if begins != Some(b"thread") {
            continue;
        }
        let names: [&[u8]; 3] = [b"LineNumberTable", b"LocalVariableTable", b"LocalVariableTypeTable"];
        for table in code.attributes.iter().filter(|table| names.contains(&table.name)) {
            let base = offset(class.bytes, table.data);
            let numbers = (base..base + table.data.len()).skip(1).step_by(2);
            changes.extend(numbers.map(|at| (at..at + 1, vec![class.bytes[at] ^ 1])));
        }
    }
    changes
}

pub const ORIGINAL_CONSTANT: &str = "a constant of the original changes";

pub const FOUND: &[(&str, Kind)] = &[
    ("an instruction becomes nop", dropped_instruction),
    ("an operator becomes another", swapped_operator),
    ("a constant in the code changes", changed_small_constant),
    ("another local is used", other_local),
    ("a jump leads elsewhere", other_target),
    ("a case of a switch changes", other_case),
    ("another member or constant is used", other_constant),
    ("a probe calls something else", extra_call),
    ("an exception entry covers less", shrunk_handler),
    ("an exception entry catches something else", other_catch_type),
    ("an exception entry leads elsewhere", other_handler),
    ("flags change", flags),
    ("the superclass changes", superclass),
    (ORIGINAL_CONSTANT, original_constant),
    ("an attribute changes", attributes_of_members),
    ("an attribute of code changes", attributes_of_code),
    ("a debug table of a wrapper changes", tables_of_wrappers),
    ("a limit of code shrinks", too_little_stack),
    ("a probe adds another number", wrong_amount),
    ("a probe is left out", dropped_probe),
    ("a method is entered under another id", other_id),
    ("the attribute names another provenance", provenance),
    ("a flag of a method changes in the attribute", flags_of_rows),
    ("what an entry counts changes in the attribute", on_entry_of_rows),
    ("caller-counted becomes untouched in the attribute, or the reverse", untouched_rows),
    ("the attribute says otherwise where bytecodes were", positions),
    ("a call hands on another call site or slot", call_site),
];

// The following kinds remove whole parts.

/// Files without the last entry of an exception table, one for each table.
fn removed_handler(class: &ClassFile<'_>) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for method in &class.methods {
        let Ok(Some(code)) = Code::of(class, method) else { continue };
        let Some(left) = code.handlers.len().checked_sub(1) else { continue };
        let base = offset(class.bytes, code.bytes);
        let count = base + code.bytes.len();
        let mut file = class.bytes.to_vec();
        file.drain(count + 2 + 8 * left..count + 10 + 8 * left);
        file[count..count + 2].copy_from_slice(&(left as u16).to_be_bytes());
        // max_stack, max_locals and code_length follow the length of the attribute.
        let length = base - 12;
        let shorter = u32::from_be_bytes(file[length..length + 4].try_into().unwrap()) - 8;
        file[length..length + 4].copy_from_slice(&shorter.to_be_bytes());
        files.push(file);
    }
    files
}

/// Files without one method, one for each method.
fn removed_method(class: &ClassFile<'_>) -> Vec<Vec<u8>> {
    let Some(first) = class.methods.first() else { return Vec::new() };
    let count = offset(class.bytes, first.raw) - 2;
    let without = |method: &cct_classfile::Member<'_>| {
        let mut file = class.bytes.to_vec();
        let at = offset(class.bytes, method.raw);
        file.drain(at..at + method.raw.len());
        file[count..count + 2].copy_from_slice(&(class.methods.len() as u16 - 1).to_be_bytes());
        file
    };
    class.methods.iter().map(without).collect()
}

/// Files with one method twice, one for each method.
fn doubled_method(class: &ClassFile<'_>) -> Vec<Vec<u8>> {
    let (Some(first), Some(last)) = (class.methods.first(), class.methods.last()) else { return Vec::new() };
    let count = offset(class.bytes, first.raw) - 2;
    let end = offset(class.bytes, last.raw) + last.raw.len();
    let mut file = class.bytes.to_vec();
    file.splice(end..end, last.raw.to_vec());
    file[count..count + 2].copy_from_slice(&(class.methods.len() as u16 + 1).to_be_bytes());
    vec![file]
}

pub const BUILT: &[(&str, Builder)] = &[
    ("an exception entry is missing", removed_handler),
    ("a method is missing", removed_method),
    ("a method is there twice", doubled_method),
];
