//! StackMapTable (JVMS 4.7.4): frames are **patched, never recomputed**.
//!
//! # Why this can work
//! A frame states what the verifier may assume at a bytecode index: the types of the locals and of
//! the operand stack. To compute frames, an editor needs the common superclass of any two classes,
//! hence the class hierarchy at run time, which an offline tool can only guess. So this module
//! computes none. Edits are restricted instead:
//!
//! * Inserted code is straight. It begins and ends with the stack as it found it, apart from values
//!   that it exists to push, and it stores only into locals that the editor itself added. So it
//!   adds no join point, and a correct frame stays correct with the new locals inserted.
//! * New locals are added in one place. All original locals with an index at or above some `at`
//!   move up. The new ones begin at `at`, and have the same types at every frame of the original
//!   code (they are set once, in the prologue).
//! * New join points (catch-all handlers, trampolines of far jumps) are created only where the
//!   whole state is known: a handler that forgets everything except the added locals, a trampoline
//!   whose state is that of the frame at its target.
//!
//! # How it is done
//! The table is a list of *differences*: `same`, `chop` and `append` refer to the frame before, and
//! the first one to the state that the method's descriptor implies. The reader resolves the
//! differences to explicit states and inserts the new locals into each state. The writer turns
//! states into differences again, each in its shortest form. Nothing is assumed about the
//! compiler's choice of forms. A `chop` that reaches into the arguments, a frame with fewer locals
//! than arguments (padded with Top up to `at`), or a first frame at bci 0 need no special case.
//!
//! * `Uninitialized(offset)` names the `new` instruction itself: it follows the instruction, not
//!   the code inserted before it. A jump or a frame at that index does refer to the inserted code
//!   (the layout keeps two maps, one for labels and one for instructions).
//! * `long` and `double` are one entry and two slots. One that lies across `at` cannot be split,
//!   and is an error ([`ErrorKind::StraddlingLocal`]); the caller then puts its locals after all
//!   others.
//! * No constants exist for the initial state's reference types. They stay symbolic
//!   ([`VerificationType::Argument`]) and become a constant only in the rare case that a full frame
//!   must name them.
//! * A frame in unreachable code is kept like any other: compilers since JDK 6 state them.

use crate::access;
use crate::bytes::{Cursor, PutBytes};
use crate::class::{ClassFile, Member};
use crate::code::Bci;
use crate::constant_pool::{Index, PoolAdditions};
use crate::descriptor::{FieldType, MethodDescriptor};
use crate::edit::layout::Layout;
use crate::error::{Error, ErrorKind, Result};

/// A verification type (JVMS 4.10.1.2) as frames state it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum VerificationType {
    Top,
    Integer,
    Float,
    Double,
    Long,
    Null,
    UninitializedThis,
    /// A class or array type, by the index of its `CONSTANT_Class`.
    Object(Index),
    /// The result of the `new` at this (original) bytecode index.
    Uninitialized(Bci),
    /// The reference type of the method's argument with this ordinal (`this` being 0 in instance
    /// methods), as in its descriptor.
    Argument(u8),
}

use VerificationType as V;

impl VerificationType {
    fn slots(self) -> u16 {
        if matches!(self, V::Long | V::Double) { 2 } else { 1 }
    }
}

/// The state at one bytecode index.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frame {
    /// Types of the locals; long and double are one entry.
    pub locals: Vec<VerificationType>,
    /// Types of the operand stack, bottom first.
    pub stack: Vec<VerificationType>,
}

/// The method of a table, as far as its initial state depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Signature<'a> {
    /// Index of the class's own `CONSTANT_Class`.
    pub this_class: Index,
    /// Whether the method is static.
    pub is_static: bool,
    /// Whether `this` is uninitialised on entry.
    pub is_constructor: bool,
    /// The descriptor.
    pub descriptor: MethodDescriptor<'a>,
}

impl<'a> Signature<'a> {
    /// The signature of a method of a class.
    pub fn of(class: &ClassFile<'a>, method: &Member<'a>) -> Result<Self> {
        Ok(Signature {
            this_class: class.this_class,
            is_static: method.is(access::STATIC),
            // Object's own constructor has an initialised `this` (JVMS 4.10.1.9, invokespecial).
            is_constructor: method.name == b"<init>" && class.super_class != 0,
            descriptor: MethodDescriptor::parse(method.descriptor)?,
        })
    }

    /// Slots of all arguments, `this` included.
    pub fn argument_slots(&self) -> u16 {
        self.descriptor.argument_slots().saturating_add(u16::from(!self.is_static))
    }

    /// Number of arguments, `this` included.
    pub fn arguments(&self) -> usize {
        self.descriptor.arguments().count() + usize::from(!self.is_static)
    }

    /// The locals on entry.
    pub fn initial_locals(&self) -> Vec<VerificationType> {
        let mut locals = Vec::with_capacity(8);
        if !self.is_static {
            locals.push(if self.is_constructor { V::UninitializedThis } else { V::Argument(0) });
        }
        for t in self.descriptor.arguments() {
            let ordinal = locals.len() as u8;
            locals.push(match t {
                FieldType::Base(b'J') => V::Long,
                FieldType::Base(b'D') => V::Double,
                FieldType::Base(b'F') => V::Float,
                FieldType::Base(_) => V::Integer,
                FieldType::Class(_) | FieldType::Array(_) => V::Argument(ordinal),
            });
        }
        locals
    }

    /// The constant for a symbolic argument type.
    fn argument_class(&self, ordinal: u8, additions: &mut PoolAdditions) -> Result<Index> {
        let ordinal = usize::from(ordinal);
        let position = match (self.is_static, ordinal) {
            (false, 0) => return Ok(self.this_class),
            (false, n) => n - 1,
            (true, n) => n,
        };
        match self.descriptor.arguments().nth(position) {
            Some(FieldType::Class(name) | FieldType::Array(name)) => additions.class_named(name),
            _ => Err(ErrorKind::Malformed("a frame names an argument that is no reference").into()),
        }
    }
}

/// Maximum number of types that the frames of a method may state together. A frame of one byte
/// repeats all locals of the one before, so 90 KB could otherwise state 4 billion types. A method
/// of 1,000 locals may still have 16,000 frames.
const MAX_STATED: usize = 1 << 24;

/// Reads a StackMapTable into explicit states, in order of bytecode index.
pub fn read(cursor: Cursor<'_>, initial: Vec<VerificationType>) -> Result<Vec<(Bci, Frame)>> {
    let mut states = States::of(cursor, initial)?;
    let mut frames = Vec::with_capacity(states.left.min(states.cursor.remaining()));
    while let Some(bci) = states.next()? {
        frames.push((bci, states.frame.clone()));
    }
    Ok(frames)
}

/// The states of a StackMapTable, one after the other.
pub(crate) struct States<'a> {
    cursor: Cursor<'a>,
    /// Number of frames still to read.
    left: usize,
    /// The state of the last frame.
    pub(crate) frame: Frame,
    next: Bci,
    /// Number of types stated so far.
    stated: usize,
}

impl<'a> States<'a> {
    pub(crate) fn of(mut cursor: Cursor<'a>, initial: Vec<VerificationType>) -> Result<Self> {
        let left = usize::from(cursor.u2()?);
        Ok(States { cursor, left, frame: Frame { locals: initial, stack: Vec::new() }, next: 0, stated: 0 })
    }

    /// Advances to the next frame, and returns its bytecode index.
    pub(crate) fn next(&mut self) -> Result<Option<Bci>> {
        let cursor = &mut self.cursor;
        let Some(left) = self.left.checked_sub(1) else {
            cursor.finish()?;
            return Ok(None);
        };
        self.left = left;
        let Frame { locals, stack } = &mut self.frame;
        stack.clear();
        let at = cursor.offset();
        let form = cursor.u1()?;
        let delta = match form {
            0..=63 => Bci::from(form),
            64..=127 => {
                stack.push(read_type(cursor)?);
                Bci::from(form - 64)
            }
            247 => {
                let delta = cursor.u2()?;
                stack.push(read_type(cursor)?);
                Bci::from(delta)
            }
            248..=250 => {
                let chopped = usize::from(251 - form);
                let keep = locals.len().checked_sub(chopped);
                locals.truncate(keep.ok_or_else(|| {
                    Error::at(ErrorKind::Malformed("a chop_frame chops more locals than there are"), at)
                })?);
                Bci::from(cursor.u2()?)
            }
            251 => Bci::from(cursor.u2()?),
            252..=254 => {
                let delta = cursor.u2()?;
                for _ in 251..form {
                    locals.push(read_type(cursor)?);
                }
                Bci::from(delta)
            }
            255 => {
                let delta = cursor.u2()?;
                locals.clear();
                for _ in 0..cursor.u2()? {
                    locals.push(read_type(cursor)?);
                }
                for _ in 0..cursor.u2()? {
                    stack.push(read_type(cursor)?);
                }
                Bci::from(delta)
            }
            128..=246 => {
                return Err(Error::at(ErrorKind::Malformed("a reserved frame type (128 to 246)"), at));
            }
        };
        let bci = self.next + delta;
        self.next = bci + 1;
        self.stated += locals.len() + stack.len();
        if self.stated > MAX_STATED {
            return Err(Error::at(ErrorKind::TooMany("types in the frames of a method"), at));
        }
        Ok(Some(bci))
    }
}

fn read_type(cursor: &mut Cursor<'_>) -> Result<VerificationType> {
    Ok(match cursor.u1()? {
        0 => V::Top,
        1 => V::Integer,
        2 => V::Float,
        3 => V::Double,
        4 => V::Long,
        5 => V::Null,
        6 => V::UninitializedThis,
        7 => V::Object(cursor.u2()?),
        8 => V::Uninitialized(Bci::from(cursor.u2()?)),
        _ => return Err(cursor.error(ErrorKind::Malformed("an unknown verification type"))),
    })
}

/// Inserts `added` at slot `at` of a state's locals; locals from there on move up.
pub fn insert_locals(locals: &mut Vec<VerificationType>, at: u16, added: &[VerificationType]) -> Result<()> {
    let before = std::mem::take(locals);
    with_locals(&before, at, added, locals)
}

/// Appends a state's locals with `added` at slot `at` to an empty vector.
pub(crate) fn with_locals(
    locals: &[VerificationType],
    at: u16,
    added: &[VerificationType],
    out: &mut Vec<VerificationType>,
) -> Result<()> {
    if added.is_empty() {
        out.extend_from_slice(locals);
        return Ok(());
    }
    let mut slot = 0;
    let mut before = 0;
    for local in locals {
        if slot == at {
            break;
        }
        slot += local.slots();
        if slot > at {
            return Err(ErrorKind::StraddlingLocal(slot - 2).into());
        }
        before += 1;
    }
    let (before, behind) = locals.split_at(before);
    out.extend_from_slice(before);
    out.extend(std::iter::repeat_n(V::Top, usize::from(at - slot)));
    out.extend_from_slice(added);
    out.extend_from_slice(behind);
    Ok(())
}

/// Writes a table: states in order of new bytecode index become differences again.
pub(crate) struct Writer<'s, 'a> {
    signature: &'s Signature<'a>,
    layout: &'s Layout,
    /// The previous state, to which differences refer.
    previous: Vec<VerificationType>,
    next: Bci,
    count: u16,
    bytes: Vec<u8>,
}

impl<'s, 'a> Writer<'s, 'a> {
    /// A writer for a method whose (new) descriptor implies `signature`.
    pub(crate) fn new(signature: &'s Signature<'a>, layout: &'s Layout) -> Self {
        Writer {
            signature,
            layout,
            previous: signature.initial_locals(),
            next: 0,
            count: 0,
            bytes: {
                // The number of frames is filled in at the end.
                let mut bytes = Vec::with_capacity(64);
                bytes.put2(0);
                bytes
            },
        }
    }

    /// Adds the frame at the new bytecode index `at`.
    pub(crate) fn frame(
        &mut self,
        at: Bci,
        locals: &[VerificationType],
        stack: &[VerificationType],
        additions: &mut PoolAdditions,
    ) -> Result<()> {
        let delta = at
            .checked_sub(self.next)
            .and_then(|d| u16::try_from(d).ok())
            .ok_or_else(|| Error::new(ErrorKind::Malformed("two frames at one bytecode index")))?;
        self.next = at + 1;
        self.count = self.count.checked_add(1).ok_or(ErrorKind::TooMany("frames"))?;
        let common = self.previous.iter().zip(locals).take_while(|(a, b)| a == b).count();
        let (before, now) = (self.previous.len(), locals.len());
        match stack {
            [] if common == before && now == before && delta < 64 => self.bytes.put1(delta as u8),
            [] if common == before && now - before <= 3 => {
                // same_frame_extended, or append_frame with one to three locals.
                self.bytes.put1(251 + (now - before) as u8);
                self.bytes.put2(delta);
                self.write_types(&locals[common..], additions)?;
            }
            [] if common == now && before - now <= 3 => {
                self.bytes.put1(251 - (before - now) as u8);
                self.bytes.put2(delta);
            }
            [_] if common == before && now == before => {
                if delta < 64 {
                    self.bytes.put1(64 + delta as u8);
                } else {
                    self.bytes.put1(247);
                    self.bytes.put2(delta);
                }
                self.write_types(stack, additions)?;
            }
            _ => {
                self.bytes.put1(255);
                self.bytes.put2(delta);
                self.bytes.put2(u16::try_from(now).map_err(|_| ErrorKind::TooMany("locals in a frame"))?);
                self.write_types(locals, additions)?;
                self.bytes.put2(stack.len() as u16);
                self.write_types(stack, additions)?;
            }
        }
        self.previous.clear();
        self.previous.extend_from_slice(locals);
        Ok(())
    }

    fn write_types(&mut self, types: &[VerificationType], additions: &mut PoolAdditions) -> Result<()> {
        for &t in types {
            let (tag, operand) = match t {
                V::Top => (0, None),
                V::Integer => (1, None),
                V::Float => (2, None),
                V::Double => (3, None),
                V::Long => (4, None),
                V::Null => (5, None),
                V::UninitializedThis => (6, None),
                V::Object(class) => (7, Some(class)),
                V::Argument(n) => (7, Some(self.signature.argument_class(n, additions)?)),
                V::Uninitialized(bci) => (8, Some(self.layout.instruction(bci)? as u16)),
            };
            self.bytes.put1(tag);
            if let Some(operand) = operand {
                self.bytes.put2(operand);
            }
        }
        Ok(())
    }

    /// The attribute's content; `None` when no frame was added.
    pub(crate) fn finish(mut self) -> Option<Vec<u8>> {
        self.bytes[..2].copy_from_slice(&self.count.to_be_bytes());
        (self.count > 0).then_some(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locals_are_inserted_after_the_arguments() {
        let mut locals = vec![V::Argument(0), V::Long, V::Integer];
        insert_locals(&mut locals, 3, &[V::Long]).unwrap();
        assert_eq!(locals, [V::Argument(0), V::Long, V::Long, V::Integer]);
    }

    #[test]
    fn missing_arguments_are_padded_with_top() {
        let mut locals = vec![V::Argument(0)];
        insert_locals(&mut locals, 4, &[V::Long]).unwrap();
        assert_eq!(locals, [V::Argument(0), V::Top, V::Top, V::Top, V::Long]);
    }

    #[test]
    fn a_long_across_the_boundary_is_refused() {
        let mut locals = vec![V::Argument(0), V::Double, V::Integer];
        let e = insert_locals(&mut locals, 2, &[V::Long]).unwrap_err();
        assert_eq!(*e.kind(), ErrorKind::StraddlingLocal(1));
    }

    #[test]
    fn chops_appends_and_fulls_are_read_as_states() {
        // append int; same; chop 1; full [long] [null]
        let table = [0, 4, 252, 0, 5, 1, 3, 250, 0, 1, 255, 0, 0, 0, 1, 4, 0, 1, 5];
        let frames = read(Cursor::new(&table, 0), vec![V::Argument(0)]).unwrap();
        let bcis: Vec<_> = frames.iter().map(|(b, _)| *b).collect();
        assert_eq!(bcis, [5, 9, 11, 12]);
        assert_eq!(frames[1].1.locals, [V::Argument(0), V::Integer]);
        assert_eq!(frames[2].1.locals, [V::Argument(0)]);
        assert_eq!(frames[3].1, Frame { locals: vec![V::Long], stack: vec![V::Null] });
    }
}
