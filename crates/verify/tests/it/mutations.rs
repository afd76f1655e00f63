//! Rewritten classes with one thing altered: the checker must find it.
//!
//! Two hundred classes and more are broken in each of the ways below, at places spread over all their methods. All alterations that mean something
//! to the program, or to what is counted, must be found. What cannot be found in one class alone is named at the end, and held to that too: a
//! checker that suddenly finds it has learned something that the documents should say.

use std::collections::BTreeMap;
use std::ops::Range;

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{ClassFile, Code, Instruction, access, constant_pool::tag, opcode};
use cct_rewrite::{BlockRule, Settings};
use cct_verify::{Expectation, check};

use super::support::{class_library, classes, expectation, rewriter, sample};

/// A class, and its original.
struct Subject {
    original: Vec<u8>,
    rewritten: Vec<u8>,
    expectation: Expectation,
}

/// An instruction of a rewritten class, and where it is in the file.
struct Place<'c, 'a> {
    class: &'c ClassFile<'a>,
    code: &'c Code<'a>,
    instruction: Instruction<'a>,
    /// The instruction behind it.
    next: Option<Instruction<'a>>,
    at: usize,
}

/// What is done to a class file: bytes that are replaced by others, as many.
type Change = (Range<usize>, Vec<u8>);

/// Where a slice lies in a file.
fn offset(file: &[u8], part: &[u8]) -> usize {
    part.as_ptr() as usize - file.as_ptr() as usize
}

/// All changes of one kind in a class.
type Kind = fn(&ClassFile<'_>) -> Vec<Change>;

fn at_instructions(class: &ClassFile<'_>, change: impl Fn(&Place<'_, '_>) -> Vec<Change>) -> Vec<Change> {
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
fn helper<'a>(class: &ClassFile<'a>, i: &Instruction<'_>) -> Option<&'a [u8]> {
    if i.opcode != opcode::INVOKESTATIC {
        return None;
    }
    let name = class.pool.member_ref(i.pool_index()?).ok()?.name;
    name.strip_prefix(b"cct$")
}

/// Bytes in the place of an instruction, filled up with `nop`.
fn instead(place: &Place<'_, '_>, mut bytes: Vec<u8>) -> Vec<Change> {
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

// What follows alters the program.

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
        // As the address of a slot, or a number of bytecodes, it matters as much.
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

/// A jump to another instruction of the same method.
fn other_target(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let i = &place.instruction;
        let short = opcode::is_conditional(i.opcode) || matches!(i.opcode, opcode::GOTO);
        let (Some(target), true) = (i.target(), short) else { return Vec::new() };
        let others = place.code.instructions().map(|o| o.bci).filter(|bci| *bci != target);
        // The one behind the target, and the first.
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
        match place.instruction.switch().is_some_and(|s| !s.is_empty()) {
            true => vec![(first_key..first_key + 1, vec![place.class.bytes[first_key] ^ 0x40])],
            false => Vec::new(),
        }
    })
}

/// Another member of the same kind and descriptor, or another constant of the same kind.
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

/// A call in the place of an instruction that takes and leaves nothing.
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

/// An entry that covers one instruction alone, the first of its range.
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

/// An entry that leads to where another one leads, or to the beginning.
fn other_handler(class: &ClassFile<'_>) -> Vec<Change> {
    handlers(class, |at, entry, _| match entry[4..6] == [0, 0] {
        true => Vec::new(),
        false => vec![(at + 4..at + 6, vec![0, 0])],
    })
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

/// A constant of the original.
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
        // Two treatments look alike in `cctrewrite`: see `UNSEEN`.
        .filter(|&last| !(last == class.bytes.len() - 1 && matches!(class.bytes[last], 8 | 9)))
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
        // One less than the arguments take, used or not; compilers may have asked for more than is needed.
        let arguments = MethodDescriptor::parse(method.descriptor).unwrap().argument_slots();
        let all = arguments + u16::from(!method.is(access::STATIC));
        changes.push((at + 2..at + 4, all.max(1).saturating_sub(1).to_be_bytes().to_vec()));
    }
    changes
}

// What follows alters contexts and counts.

/// The number in front of a call of `count`, `enter` or `drain`.
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

/// A helper is not called: what it would take is popped.
fn dropped_probe(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match helper(class, &place.instruction) {
        Some(b"store") => instead(place, vec![opcode::POP2]),
        Some(b"count") => instead(place, vec![opcode::POP, opcode::POP2]),
        Some(b"restore") => instead(place, vec![opcode::POP2, opcode::POP]),
        _ => Vec::new(),
    })
}

/// The id under which a body is entered: another method's, or with another number of slots.
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
            changes.push((at - 4..at - 3, vec![class.bytes[at - 4] ^ 1]));
        }
    }
    changes
}

const ORIGINAL_CONSTANT: &str = "a constant of the original changes";

const FOUND: &[(&str, Kind)] = &[
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
    ("a limit of code shrinks", too_little_stack),
    ("a probe adds another number", wrong_amount),
    ("a probe is left out", dropped_probe),
    ("a method is entered under another id", other_id),
];

// What follows takes whole parts away.

/// A file without its last entry of an exception table, for each table.
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
        // Behind the length of the attribute stand max_stack, max_locals and code_length.
        let length = base - 12;
        let shorter = u32::from_be_bytes(file[length..length + 4].try_into().unwrap()) - 8;
        file[length..length + 4].copy_from_slice(&shorter.to_be_bytes());
        files.push(file);
    }
    files
}

/// A file without one of its methods.
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

/// A file with one of its methods twice.
fn doubled_method(class: &ClassFile<'_>) -> Vec<Vec<u8>> {
    let (Some(first), Some(last)) = (class.methods.first(), class.methods.last()) else { return Vec::new() };
    let count = offset(class.bytes, first.raw) - 2;
    let end = offset(class.bytes, last.raw) + last.raw.len();
    let mut file = class.bytes.to_vec();
    file.splice(end..end, last.raw.to_vec());
    file[count..count + 2].copy_from_slice(&(class.methods.len() as u16 + 1).to_be_bytes());
    vec![file]
}

/// What makes whole files, each with something wrong.
type Builder = fn(&ClassFile<'_>) -> Vec<Vec<u8>>;

const BUILT: &[(&str, Builder)] = &[
    ("an exception entry is missing", removed_handler),
    ("a method is missing", removed_method),
    ("a method is there twice", doubled_method),
];

// What follows means nothing to the program, and is not to be seen in one class.

/// Where the data of the attribute `cctrewrite` begin.
fn own_attribute(class: &ClassFile<'_>) -> Option<usize> {
    class.attributes.find(b"cctrewrite").map(|a| a.offset)
}

fn provenance(class: &ClassFile<'_>) -> Vec<Change> {
    let at = own_attribute(class).map(|at| at + 10);
    at.map_or(Vec::new(), |at| vec![(at..at + 1, vec![class.bytes[at] ^ 1])])
}

/// Whether overriding a method in a class that is not rewritten is refused.
fn flags_of_rows(class: &ClassFile<'_>) -> Vec<Change> {
    let Some(rows) = own_attribute(class).map(|at| at + 20) else { return Vec::new() };
    (rows + 1..class.bytes.len()).step_by(3).map(|at| (at..at + 1, vec![class.bytes[at] ^ 2])).collect()
}

/// Natives that callers count, and those that nobody counts.
fn untouched_rows(class: &ClassFile<'_>) -> Vec<Change> {
    let Some(rows) = own_attribute(class).map(|at| at + 20) else { return Vec::new() };
    let treatments = (rows + 2..class.bytes.len()).step_by(3);
    let alike = treatments.filter(|&at| matches!(class.bytes[at], 8 | 9));
    alike.map(|at| (at..at + 1, vec![class.bytes[at] ^ 1])).collect()
}

const UNSEEN: &[(&str, Kind)] = &[
    ("the hash of the provenance", provenance),
    ("flags of methods in the attribute", flags_of_rows),
    ("caller-counted or untouched in the attribute", untouched_rows),
];

/// How a class is broken.
enum Altered {
    Changed(Kind),
    Built(Builder),
}

impl Altered {
    /// A few broken files of a class, spread over it.
    fn of(&self, class: &ClassFile<'_>, subject: &Subject, name: &str) -> Vec<Vec<u8>> {
        let mut files: Vec<Vec<u8>> = match self {
            Altered::Built(build) => build(class),
            Altered::Changed(kind) => {
                let mut changes = kind(class);
                if name == ORIGINAL_CONSTANT {
                    // What inserted code does not refer to is nothing to anybody.
                    let end = ClassFile::parse(&subject.original).unwrap().pool.end();
                    changes.retain(|(range, _)| range.end <= end);
                }
                changes.retain(|(range, bytes)| subject.rewritten[range.clone()] != **bytes);
                let broken = |(range, bytes): &Change| {
                    let mut file = subject.rewritten.clone();
                    file[range.clone()].copy_from_slice(bytes);
                    file
                };
                let step = changes.len().div_ceil(PER_CLASS).max(1);
                return changes.iter().step_by(step).map(broken).collect();
            }
        };
        let step = files.len().div_ceil(PER_CLASS).max(1);
        files = files.into_iter().step_by(step).collect();
        files
    }
}

/// Broken files of a kind that are made of each class.
const PER_CLASS: usize = 4;

/// Classes with code of many shapes, by each rule.
fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    let all = class_library(8).map_or(Vec::new(), |path| classes(&path));
    let lone = vec![sample()];
    for (blocks, from) in [(BlockRule::Exact, 0), (BlockRule::Precise, 7), (BlockRule::Default, 13)] {
        let settings = Settings { blocks, ..Settings::default() };
        let expectation = expectation(&settings);
        for (classes, step) in [(&all, 260), (&lone, 1)] {
            let rewriter = rewriter(classes, settings);
            for original in classes.iter().skip(if step == 1 { 0 } else { from }).step_by(step) {
                let Some(rewritten) = rewriter.rewrite(original).unwrap().bytes else { continue };
                subjects.push(Subject { original: original.clone(), rewritten, expectation });
            }
        }
    }
    if all.is_empty() {
        println!("skipped: no JDK 8 was found, only one class was altered");
    }
    subjects
}

#[test]
fn what_one_class_does_not_tell_is_not_found() {
    for subject in subjects().iter().step_by(20) {
        let class = ClassFile::parse(&subject.rewritten).unwrap();
        for (name, kind) in UNSEEN {
            for (range, bytes) in kind(&class).into_iter().take(3) {
                let mut altered = subject.rewritten.clone();
                altered[range].copy_from_slice(&bytes);
                let (findings, _) = check(&subject.original, &altered, subject.expectation);
                assert!(findings.is_empty(), "{name}: {findings:?}");
            }
        }
    }
}

/// Whatever stands in a file, the checker comes to an end.
#[test]
fn nothing_makes_it_panic() {
    let subjects = subjects();
    let mut dice: u64 = 42;
    let mut roll = |below: usize| {
        // xorshift64
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice % below as u64) as usize
    };
    let mut found = 0;
    for _ in 0..20_000 {
        let subject = &subjects[roll(subjects.len())];
        if subject.rewritten.len() > 20_000 {
            continue;
        }
        let (mut original, mut rewritten) = (subject.original.clone(), subject.rewritten.clone());
        for _ in 0..=roll(3) {
            // Large numbers are where sums overflow.
            let byte = [0, 1, 0x7F, 0x80, 0xFF, roll(256) as u8][roll(6)];
            let file = if roll(4) == 0 { &mut original } else { &mut rewritten };
            let at = roll(file.len());
            file[at] = byte;
        }
        found += usize::from(!check(&original, &rewritten, subject.expectation).0.is_empty());
    }
    assert!(found > 1000, "{found}");
}

#[test]
fn what_was_altered_is_found() {
    let subjects = subjects();
    let mut missed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut made, mut found) = (0, 0);
    let built = BUILT.iter().map(|(name, build)| (*name, Altered::Built(*build)));
    for (name, kind) in FOUND.iter().map(|(name, kind)| (*name, Altered::Changed(*kind))).chain(built) {
        let (mut of_kind, mut found_of_kind) = (0, 0);
        for subject in &subjects {
            let class = ClassFile::parse(&subject.rewritten).unwrap();
            for broken in kind.of(&class, subject, name) {
                of_kind += 1;
                let (findings, _) = check(&subject.original, &broken, subject.expectation);
                if findings.is_empty() {
                    let class = String::from_utf8_lossy(class.name());
                    let at = broken.iter().zip(&subject.rewritten).position(|(a, b)| a != b);
                    missed.entry(name).or_default().push(format!("{class}, byte {at:?}"));
                } else {
                    found_of_kind += 1;
                }
            }
        }
        println!("{name}: {found_of_kind} of {of_kind} found");
        made += of_kind;
        found += found_of_kind;
    }
    println!("{found} of {made} alterations found, in {} classes", subjects.len());
    for (kind, places) in &missed {
        println!("missed, {kind}: {:#?}", &places[..places.len().min(5)]);
    }
    assert!(made > 100, "only {made} alterations");
    assert_eq!(found, made);
}
