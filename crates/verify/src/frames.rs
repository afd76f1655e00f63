//! Frames (JVMS 4.7.4): the original's with the added locals, and those of appended code.

use cct_classfile::descriptor::FieldType;
use cct_classfile::edit::frames::{Frame, Signature, VerificationType as V, read};
use cct_classfile::{Bci, ClassFile, Code, Member};
use cct_jdk::convention::OBJECT;

use crate::convention::MARKER;
use crate::faults::FrameFault;
use crate::finding::{Check, Finding, Problem};
use crate::probe::Carries;
use crate::tables::Tables;

/// Class files before this version have no frames.
const FIRST_VERSION: u16 = 50;

/// A verification type, with names instead of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type<'a> {
    Top,
    Integer,
    Float,
    Double,
    Long,
    Null,
    UninitializedThis,
    Object(&'a [u8]),
    Uninitialized(Bci),
}

impl Type<'_> {
    fn slots(self) -> u32 {
        if matches!(self, Type::Long | Type::Double) { 2 } else { 1 }
    }
}

/// The types of locals and stack in a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State<'a> {
    locals: Vec<Type<'a>>,
    stack: Vec<Type<'a>>,
}

/// The frames of a method, with names; `None` if the table is invalid.
fn states<'a>(class: &ClassFile<'a>, member: &Member<'a>, code: &Code<'a>) -> Option<Vec<(Bci, State<'a>)>> {
    let Some(attribute) = code.attributes.find(b"StackMapTable") else { return Some(Vec::new()) };
    if class.major_version < FIRST_VERSION {
        return Some(Vec::new());
    }
    let signature = Signature::of(class, member).ok()?;
    let frames = read(attribute.cursor(), signature.initial_locals()).ok()?;
    // Parse them once, not for each type of each frame.
    let arguments: Vec<_> = signature.descriptor.arguments().collect();
    let named = |t: &V| named(class, signature.is_static, &arguments, *t);
    let named = |types: &[V]| types.iter().map(named).collect::<Option<Vec<_>>>();
    let state = |f: &Frame| Some(State { locals: named(&f.locals)?, stack: named(&f.stack)? });
    frames.iter().map(|(bci, frame)| Some((*bci, state(frame)?))).collect()
}

fn named<'a>(class: &ClassFile<'a>, is_static: bool, arguments: &[FieldType<'a>], t: V) -> Option<Type<'a>> {
    Some(match t {
        V::Top => Type::Top,
        V::Integer => Type::Integer,
        V::Float => Type::Float,
        V::Double => Type::Double,
        V::Long => Type::Long,
        V::Null => Type::Null,
        V::UninitializedThis => Type::UninitializedThis,
        V::Uninitialized(bci) => Type::Uninitialized(bci),
        V::Object(index) => Type::Object(class.pool.class(index).ok()?),
        V::Argument(0) if !is_static => Type::Object(class.name()),
        V::Argument(n) => match arguments.get(usize::from(n) - usize::from(!is_static))? {
            FieldType::Class(name) | FieldType::Array(name) => Type::Object(name),
            FieldType::Base(_) => return None,
        },
    })
}

/// Compares the frames of a body with the original's.
pub fn check<'a>(tables: &Tables<'_, 'a>, original: &Member<'a>, rewritten: &Member<'a>) -> Check {
    let unreadable = |what| Finding::of(Problem::Frame(what));
    let before = if tables.before.major_version < FIRST_VERSION {
        // Before that version, such attributes mean nothing.
        Vec::new()
    } else {
        states(tables.before, original, tables.original)
            .ok_or_else(|| unreadable(FrameFault::OriginalTable))?
    };
    let after =
        states(tables.after, rewritten, tables.rewritten).ok_or_else(|| unreadable(FrameFault::Table))?;
    // They are in the order of the code, each index once.
    let there = |at: Bci| after.binary_search_by_key(&at, |(bci, _)| *bci).ok();
    let mut is_original = vec![false; after.len()];
    for (bci, state) in &before {
        let number = tables.aligned.number(*bci);
        let Some(number) = number else {
            return Err(Finding::at(Problem::Frame(FrameFault::Inside), *bci, None));
        };
        let wanted = moved(tables, state).ok_or_else(|| unreadable(FrameFault::Local))?;
        let at = tables.aligned.labels[number];
        match there(at).filter(|frame| after[*frame].1 == wanted) {
            Some(frame) => is_original[frame] = true,
            None => return Err(Finding::at(Problem::Frame(FrameFault::Differs), *bci, at)),
        }
    }
    let resumed = tables.all_resumed();
    for ((at, state), _) in after.iter().zip(&is_original).filter(|(_, is_original)| !**is_original) {
        let is_right = match tables.aligned.trampoline(*at) {
            Some(target) => there(target).is_some_and(|frame| after[frame].1 == *state),
            None => match resumed.binary_search_by_key(at, |(behind, _)| *behind) {
                Ok(entry) => there(resumed[entry].1).is_some_and(|frame| after[frame].1 == *state),
                Err(_) => is_handlers(tables, *at, state),
            },
        };
        if !is_right {
            return Err(Finding::at(Problem::Frame(FrameFault::Unknown), None, *at));
        }
    }
    if tables.after.major_version >= FIRST_VERSION {
        for handler in &tables.aligned.appended {
            if there(handler.at).is_none() {
                return Err(Finding::at(Problem::Frame(FrameFault::Missing), None, handler.at));
            }
        }
    }
    Ok(())
}

/// The locals that instrumentation adds, as all frames of the original code state them.
fn added(tables: &Tables<'_, '_>) -> Vec<Type<'static>> {
    let locals = &tables.locals;
    if locals.carries == Carries::Tokens {
        return vec![Type::Object(OBJECT); locals.by.into()];
    }
    let mut types = vec![Type::Long];
    let behind = locals.by - 2 - u16::from(locals.pending.is_some()) - locals.tokens;
    match locals.thread {
        Some(_) => types.extend([Type::Long, Type::Object(OBJECT)]),
        None if behind == 1 => types.push(Type::Object(MARKER)),
        None => {}
    }
    if locals.pending.is_some() {
        types.push(Type::Integer);
    }
    types.extend((0..locals.tokens).map(|_| Type::Object(OBJECT)));
    types
}

/// A state of the original, with the added locals and the new positions of `new` instructions.
fn moved<'a>(tables: &Tables<'_, 'a>, state: &State<'a>) -> Option<State<'a>> {
    let at = u32::from(tables.locals.at);
    let (mut locals, mut slot, mut is_put) = (Vec::new(), 0, false);
    let place = |t: Type<'a>| match t {
        Type::Uninitialized(bci) => {
            Some(Type::Uninitialized(tables.aligned.places[tables.aligned.number(bci)?]))
        }
        t => Some(t),
    };
    if tables.locals.by == 0 {
        // Nothing has moved, and nothing is padded.
        let all = |types: &[Type<'a>]| types.iter().map(|t| place(*t)).collect::<Option<_>>();
        return Some(State { locals: all(&state.locals)?, stack: all(&state.stack)? });
    }
    for t in &state.locals {
        if slot == at {
            locals.extend(added(tables));
            is_put = true;
        }
        if slot < at && slot + t.slots() > at {
            return None;
        }
        locals.push(place(*t)?);
        slot += t.slots();
    }
    if !is_put {
        locals.extend(std::iter::repeat_n(Type::Top, at.checked_sub(slot)? as usize));
        locals.extend(added(tables));
    }
    Some(State { locals, stack: state.stack.iter().map(|t| place(*t)).collect::<Option<_>>()? })
}

/// Whether this is the state of an appended handler: only the locals that it uses are known.
fn is_handlers(tables: &Tables<'_, '_>, at: Bci, state: &State<'_>) -> bool {
    let Some(handler) = tables.aligned.handler(at) else { return false };
    let mut slots = Vec::new();
    for t in &state.locals {
        slots.push(*t);
        slots.extend(std::iter::repeat_n(Type::Top, t.slots() as usize - 1));
    }
    let locals = &tables.locals;
    let begin = usize::from(locals.at);
    let forgets = slots
        .iter()
        .take(begin)
        .enumerate()
        .all(|(slot, t)| *t == Type::Top || slot == 0 && *t == Type::UninitializedThis);
    if locals.carries == Carries::Tokens {
        let tokens = slots.get(begin..).unwrap_or_default();
        let are_tokens =
            tokens.len() == usize::from(locals.by) && tokens.iter().all(|t| *t == Type::Object(OBJECT));
        let is_thrown = state.stack == [Type::Object(b"java/lang/Throwable")];
        return is_thrown && are_tokens && slots.iter().take(begin).all(|t| *t == Type::Top);
    }
    let has = |slot: u16, t: Type<'_>| slots.get(usize::from(slot)) == Some(&t);
    let counts = !handler.counts
        || has(locals.node, Type::Long) && locals.pending.is_some_and(|p| has(p, Type::Integer));
    let restores = !handler.restores
        || locals
            .thread
            .is_some_and(|(saved, thread)| has(saved, Type::Long) && has(thread, Type::Object(OBJECT)));
    let ends =
        !handler.ends || has(locals.node, Type::Long) && locals.pending.is_none_or(|p| has(p, Type::Integer));
    let end = usize::from(locals.at) + usize::from(locals.by);
    let tokens = slots.get(end.saturating_sub(locals.tokens.into())..end);
    let tells =
        !handler.tells || tokens.is_some_and(|tokens| tokens.iter().all(|t| *t == Type::Object(OBJECT)));
    forgets && counts && restores && ends && tells && state.stack == [Type::Object(b"java/lang/Throwable")]
}

/// Whether the only frame of a forwarder is that of its handler at `at`, with these locals:
/// contexts, or the thread.
pub fn is_forwarders<'a>(
    class: &ClassFile<'a>,
    method: &Member<'a>,
    code: &Code<'a>,
    at: Bci,
    ours: &[(u16, bool)],
) -> bool {
    let Some(states) = states(class, method, code) else { return false };
    if class.major_version < FIRST_VERSION {
        return true;
    }
    let [(bci, state)] = &*states else { return false };
    let mut slot = 0;
    let mut seen = 0;
    let is_right = state.locals.iter().all(|t| {
        let wanted = match ours.iter().find(|(local, _)| u32::from(*local) == slot) {
            Some((_, true)) => Type::Object(OBJECT),
            Some((_, false)) => Type::Long,
            None => Type::Top,
        };
        seen += usize::from(wanted != Type::Top);
        slot += t.slots();
        *t == wanted
    });
    *bci == at && is_right && seen == ours.len() && state.stack == [Type::Object(b"java/lang/Throwable")]
}
