//! Locations of markers: their descriptors checked against the original's code.

use crate::faults::MarkerFault;
use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::attributes::AttributeInfo;
use cct_classfile::attributes::debug::LineNumber;
use cct_classfile::descriptor::{MethodDescriptor, end_of_parameters, field_type};
use cct_classfile::{Bci, ClassFile, Code, Instruction, Member, access, opcode};

use super::attribute::Descriptor;
use super::pieces::{Enter, Receiver};
use crate::marked::method::Method;
use crate::marked::piece_index::EntryLocation;
use crate::op::Kind;

/// The code of a method, indexed for repeated questions.
pub struct Places<'p, 'm, 'a> {
    method: &'p Method<'m, 'a>,
    originals: &'p [Instruction<'a>],
    /// The lines of the code, in order.
    lines: Vec<LineNumber>,
    /// Targets of backward jumps, and of exceptions that a handler before their throw catches.
    heads: BTreeSet<Bci>,
    /// First instructions of handlers, with the types that each catches.
    handlers: BTreeMap<Bci, BTreeSet<u16>>,
    /// Whether local 0 gets another value.
    is_stored: bool,
}

impl<'p, 'm, 'a> Places<'p, 'm, 'a> {
    /// The index of a method with these instructions.
    pub fn of(method: &'p Method<'m, 'a>, originals: &'p [Instruction<'a>]) -> Self {
        let mut lines = Vec::new();
        for attribute in method.code.attributes.iter().filter(|a| a.name == b"LineNumberTable") {
            if let Ok(AttributeInfo::LineNumberTable(table)) =
                AttributeInfo::parse(attribute, &method.before.pool)
            {
                lines.extend(table);
            }
        }
        lines.sort_by_key(|line| line.start);
        let mut heads = BTreeSet::new();
        for jump in originals {
            jump.for_each_target(|target| heads.extend((target <= jump.bci).then_some(target)));
        }
        let mut handlers: BTreeMap<Bci, BTreeSet<u16>> = BTreeMap::new();
        for h in &method.code.handlers {
            handlers.entry(h.handler).or_default().insert(h.catch_type);
            heads.extend((h.handler < h.end).then_some(h.handler));
        }
        let is_stored = originals.iter().any(|i| stores(i, 0));
        Places { method, originals, lines, heads, handlers, is_stored }
    }

    /// Whether a handler begins at a bytecode index.
    pub fn is_handler(&self, bci: Bci) -> bool {
        self.handlers.contains_key(&bci)
    }

    /// The line of a location, by the original's table; the last of several entries wins.
    fn line(&self, bci: Bci) -> Option<u16> {
        let behind = self.lines.partition_point(|line| Bci::from(line.start) <= bci);
        behind.checked_sub(1).map(|at| self.lines[at].line)
    }
}

/// The reason why an entry does not fit its marker, if any.
pub fn wrong(
    places: &Places<'_, '_, '_>,
    marker: &Descriptor<'_>,
    at: EntryLocation,
    enter: &Enter,
    scratch: u16,
) -> Option<MarkerFault> {
    let (method, originals) = (places.method, places.originals);
    let member = method.original;
    let i = match at {
        EntryLocation::Entry => originals.first(),
        EntryLocation::Before(number) | EntryLocation::Behind(number) => originals.get(number),
    };
    let Some(i) = i else { return Some(MarkerFault::NoCode) };
    if marker.line != places.line(marker.bci) {
        return Some(MarkerFault::Line);
    }
    let is_there = match (marker.place, at) {
        (b"method", EntryLocation::Entry) => marker.bci == 0 && member.name != b"<init>",
        (b"method", EntryLocation::Behind(_)) => marker.bci == 0 && initialises(method.before, i).is_some(),
        (b"allocation", EntryLocation::Behind(_)) => is_made(method, marker, i),
        (_, EntryLocation::Before(_)) => i.bci == marker.bci,
        _ => false,
    };
    if !is_there {
        return Some(MarkerFault::Place);
    }
    if !is_what_it_says(places, marker, i) {
        return Some(MarkerFault::Kind);
    }
    if !may_have(places, marker, at, i, enter.receiver) {
        return Some(MarkerFault::Object);
    }
    hands_over(method, marker, i, enter, scratch)
}

/// The class whose constructor an instruction calls on `this`, as far as one instruction shows.
fn initialises<'a>(class: &ClassFile<'a>, i: &Instruction<'_>) -> Option<&'a [u8]> {
    let callee = i.pool_index().filter(|_| i.opcode == opcode::INVOKESPECIAL)?;
    let callee = class.pool.member_ref(callee).ok()?;
    let is_own = callee.class == class.name() || Some(callee.class) == class.super_name();
    (callee.name == b"<init>" && is_own).then_some(callee.class)
}

/// Whether an allocation is complete after an instruction.
pub fn is_made(method: &Method<'_, '_>, marker: &Descriptor<'_>, i: &Instruction<'_>) -> bool {
    match method.code.instruction_at(marker.bci) {
        Some(new) if new.opcode == opcode::NEW => {
            let callee = i.pool_index().filter(|_| i.opcode == opcode::INVOKESPECIAL);
            let callee = callee.and_then(|index| method.before.pool.member_ref(index).ok());
            i.bci > new.bci && callee.is_some_and(|c| c.name == b"<init>" && c.class == marker.detail)
        }
        Some(new) => new.bci == i.bci,
        None => false,
    }
}

/// Whether the code at the marker's location is of the kind that its descriptor states.
fn is_what_it_says(places: &Places<'_, '_, '_>, marker: &Descriptor<'_>, i: &Instruction<'_>) -> bool {
    let method = places.method;
    let pool = &method.before.pool;
    let index = i.pool_index();
    let member = || index.and_then(|index| pool.member_ref(index).ok());
    let is_empty = marker.detail.is_empty();
    match marker.place {
        b"method" => is_empty,
        b"loop" | b"loop-header" => places.heads.contains(&marker.bci) && is_empty,
        b"block" => is_empty,
        b"line" => marker.line.is_some() && is_empty,
        b"handler" => places.handlers.get(&marker.bci).into_iter().flatten().any(|catch_type| {
            let caught = match *catch_type {
                0 => Some(&b"java/lang/Throwable"[..]),
                index => pool.class(index).ok(),
            };
            caught == Some(marker.detail)
        }),
        b"call" if i.opcode == opcode::INVOKEDYNAMIC => {
            let dynamic = index.and_then(|index| pool.dynamic(index).ok());
            dynamic.is_some_and(|(_, named)| {
                marker.detail == [b"invokedynamic.", named.name, named.descriptor].concat()
            })
        }
        b"call" if opcode::is_invoke(i.opcode) => {
            member().is_some_and(|m| marker.detail == [m.class, b".", m.name, m.descriptor].concat())
        }
        b"field-read" if matches!(i.opcode, opcode::GETFIELD | opcode::GETSTATIC) => {
            member().is_some_and(|m| marker.detail == [m.class, b".", m.name, b":", m.descriptor].concat())
        }
        b"field-write" if matches!(i.opcode, opcode::PUTFIELD | opcode::PUTSTATIC) => {
            member().is_some_and(|m| marker.detail == [m.class, b".", m.name, b":", m.descriptor].concat())
        }
        b"allocation" => {
            let made = method.code.instruction_at(marker.bci);
            made.and_then(|new| type_made(method.before, &new)).as_deref() == Some(marker.detail)
        }
        _ => false,
    }
}

/// The type that an instruction allocates, as in descriptors of markers.
fn type_made(class: &ClassFile<'_>, new: &Instruction<'_>) -> Option<Vec<u8>> {
    const NAMES: [&[u8]; 8] = [b"boolean", b"char", b"float", b"double", b"byte", b"short", b"int", b"long"];
    let of = || class.pool.class(new.pool_index()?).ok();
    Some(match new.opcode {
        opcode::NEW => of()?.to_vec(),
        opcode::NEWARRAY => {
            let name = NAMES.get(usize::from(new.bytes.get(1)?.wrapping_sub(4))).copied().unwrap_or(b"?");
            [name, b"[]"].concat()
        }
        opcode::ANEWARRAY => [&readable(of()?)[..], b"[]"].concat(),
        opcode::MULTIANEWARRAY => readable(of()?),
        _ => return None,
    })
}

/// The name of a class as in Java source: for an array its element, and brackets.
fn readable(name: &[u8]) -> Vec<u8> {
    let Some(element) = name.strip_prefix(b"[") else { return name.to_vec() };
    let element = match element {
        b"Z" => b"boolean".to_vec(),
        b"C" => b"char".to_vec(),
        b"F" => b"float".to_vec(),
        b"D" => b"double".to_vec(),
        b"B" => b"byte".to_vec(),
        b"S" => b"short".to_vec(),
        b"I" => b"int".to_vec(),
        b"J" => b"long".to_vec(),
        array if array.starts_with(b"[") => return nested(array),
        other => other.strip_prefix(b"L").and_then(|n| n.strip_suffix(b";")).unwrap_or(other).to_vec(),
    };
    [&element[..], b"[]"].concat()
}

fn nested(array: &[u8]) -> Vec<u8> {
    [&readable(array)[..], b"[]"].concat()
}

/// Whether an entry may report this object at its location. No object is valid too: the class does
/// not say whether the rule asks for one.
fn may_have(
    places: &Places<'_, '_, '_>,
    marker: &Descriptor<'_>,
    at: EntryLocation,
    i: &Instruction<'_>,
    receiver: Receiver,
) -> bool {
    let method = places.method;
    let is_static = method.original.is(access::STATIC);
    if marker.per_object {
        return marker.place == b"method" && receiver == Receiver::This && !is_static;
    }
    let is_stored = places.is_stored;
    let member = || i.pool_index().and_then(|index| method.before.pool.member_ref(index).ok());
    match (receiver, marker.place) {
        (Receiver::Null, _) => true,
        (Receiver::This, b"method") => !is_static && (at == EntryLocation::Entry || !is_stored),
        (Receiver::This, b"loop" | b"loop-header" | b"block" | b"line") => !is_static && !is_stored,
        (Receiver::Top, b"handler") => true,
        (Receiver::Top, b"call") => {
            let has_object = !matches!(i.opcode, opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC);
            has_object && member().is_some_and(|callee| callee.name != b"<init>")
        }
        (Receiver::Top, b"allocation") => matches!(at, EntryLocation::Behind(_)),
        (Receiver::Top, b"field-read") => i.opcode == opcode::GETFIELD,
        (Receiver::Below(slots), b"field-write") if i.opcode == opcode::PUTFIELD => {
            member().is_some_and(|f| field_type(f.descriptor).is_ok_and(|t| t.slots() == slots))
        }
        _ => false,
    }
}

/// Whether an instruction stores into a local.
fn stores(i: &Instruction<'_>, wanted: u16) -> bool {
    let is_store = (opcode::ISTORE..=opcode::ASTORE_3).contains(&i.opcode) || i.opcode == opcode::IINC;
    is_store && i.local().is_some_and(|(local, two)| local == wanted || two && local + 1 == wanted)
}

/// The reason why the passed arguments are not those of the helper, or are not saved and restored
/// correctly, if any.
fn hands_over(
    method: &Method<'_, '_>,
    marker: &Descriptor<'_>,
    i: &Instruction<'_>,
    enter: &Enter,
    scratch: u16,
) -> Option<MarkerFault> {
    const WRONG: Option<MarkerFault> = Some(MarkerFault::Arguments);
    let Some(arguments) = enter.helper.arguments(marker) else {
        return Some(MarkerFault::Helper);
    };
    let pool = &method.before.pool;
    let callee = match (marker.place, i.opcode) {
        (b"call", opcode::INVOKEDYNAMIC) => {
            i.pool_index().and_then(|index| pool.dynamic(index).ok()).map(|(_, named)| named.descriptor)
        }
        (b"call", _) => i.pool_index().and_then(|index| pool.member_ref(index).ok()).map(|m| m.descriptor),
        (b"method", _) => Some(method.original.descriptor),
        _ => None,
    };
    let Some(descriptor) = callee else {
        return if arguments.is_empty() && enter.handed.is_empty() && enter.aside.is_empty() {
            None
        } else {
            WRONG
        };
    };
    let Ok(parsed) = MethodDescriptor::parse(descriptor) else { return WRONG };
    let inner = &descriptor[1..end_of_parameters(descriptor).unwrap_or(1)];
    let is_call = marker.place == b"call";
    let mut slot = match (is_call, method.original.is(access::STATIC)) {
        (true, _) => scratch,
        (false, is_static) => u16::from(!is_static),
    };
    let mut all = Vec::new();
    for argument in parsed.arguments() {
        all.extend(Kind::of(argument).map(|kind| (kind, slot)));
        slot = slot.saturating_add(argument.slots());
    }
    let are_handed = !arguments.is_empty();
    if are_handed && arguments != inner || enter.handed != if are_handed { &all[..] } else { &[] } {
        return WRONG;
    }
    // An entry may pass an empty list too: then its helper is the marker's own.
    let are_wanted = are_handed || enter.receiver == Receiver::Top;
    let aside: &[(Kind, u16)] = if is_call && are_wanted { &all } else { &[] };
    (enter.aside != aside).then_some(MarkerFault::Aside)
}

/// Whether an exception may leave a method. None can leave methods that only move values between
/// locals and fields of `this`, without jumps.
pub fn can_throw(class: &ClassFile<'_>, member: &Member<'_>, originals: &[Instruction<'_>]) -> bool {
    let has_this =
        !member.is(access::STATIC) && member.name != b"<init>" && !originals.iter().any(|i| stores(i, 0));
    let is_own = |i: &Instruction<'_>, without: u16| {
        let field = i.pool_index().and_then(|index| class.pool.member_ref(index).ok());
        field.is_some_and(|f| {
            f.class == class.name()
                && class.fields.iter().any(|own| {
                    own.name_and_type() == f.name_and_type()
                        && own.access_flags & (access::STATIC | without) == 0
                })
        })
    };
    // For each value on the stack, whether it is `this`.
    let mut stack: Vec<bool> = Vec::new();
    !originals.iter().all(|i| match i.opcode {
        opcode::NOP | opcode::IINC | opcode::IRETURN..=opcode::RETURN => true,
        opcode::ACONST_NULL..=opcode::SIPUSH
        | opcode::ILOAD..=opcode::DLOAD
        | opcode::ILOAD_0..=opcode::DLOAD_3 => {
            stack.push(false);
            true
        }
        opcode::ALOAD | opcode::ALOAD_0..=opcode::ALOAD_3 => {
            stack.push(has_this && i.local().is_some_and(|(local, _)| local == 0));
            true
        }
        opcode::ISTORE..=opcode::ASTORE_3 => stack.pop().is_some(),
        opcode::GETFIELD => {
            let is_this = stack.pop() == Some(true);
            stack.push(false);
            is_this && is_own(i, 0)
        }
        opcode::PUTFIELD => stack.pop().is_some() && stack.pop() == Some(true) && is_own(i, access::FINAL),
        _ => false,
    })
}

/// The instructions that run with an initialised `this`: all, except those of a constructor before
/// its call of `this(..)` or `super(..)`, which no handler can cover.
pub fn initialised(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    code: &Code<'_>,
    originals: &[Instruction<'_>],
) -> Vec<bool> {
    if member.name != b"<init>" || class.super_class == 0 {
        return vec![true; originals.len()];
    }
    let number = |bci: Bci| originals.binary_search_by_key(&bci, |i| i.bci).ok();
    let mut reached = vec![false; originals.len()];
    let mut seen: BTreeSet<(usize, u8)> = BTreeSet::new();
    // After the call, and before it with the number of uninitialised objects of the same classes.
    let mut work: Vec<(usize, Option<u8>)> = vec![(0, Some(0))];
    while let Some((at, state)) = work.pop() {
        let is_new = match state {
            None => !std::mem::replace(&mut reached[at], true),
            Some(making) => seen.insert((at, making)),
        };
        let Some(i) = originals.get(at).filter(|_| is_new) else { continue };
        let made = i.pool_index().filter(|_| i.opcode == opcode::NEW);
        let made = made.and_then(|index| class.pool.class(index).ok());
        let is_own = |name: &[u8]| name == class.name() || Some(name) == class.super_name();
        let after = match state {
            Some(making) if made.is_some_and(is_own) => Some(making.saturating_add(1).min(8)),
            Some(0) if initialises(class, i).is_some() => None,
            Some(making) if initialises(class, i).is_some() => Some(making - 1),
            state => state,
        };
        let mut next = Vec::new();
        i.for_each_target(|target| next.extend(number(target)));
        if !opcode::ends_flow(i.opcode) && at + 1 < originals.len() {
            next.push(at + 1);
        }
        work.extend(next.into_iter().map(|next| (next, after)));
        let covers = |h: &&cct_classfile::Handler| (h.start..h.end).contains(&i.bci);
        let handlers = code.handlers.iter().filter(covers).filter_map(|h| number(h.handler));
        work.extend(handlers.map(|handler| (handler, state)));
    }
    // Where paths disagree, no handler is possible.
    let uninitialised: BTreeSet<usize> = seen.into_iter().map(|(at, _)| at).collect();
    reached.iter().enumerate().map(|(at, reached)| *reached && !uninitialised.contains(&at)).collect()
}
