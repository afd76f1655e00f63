//! The beginning of an instrumented body: the node is found, and nothing of the program has run yet.

use crate::convention::{EXTENSION_SLOTS, FACTOR, Helper};
use crate::op::{Kind, Op};
use crate::probe::{Carries, Locals, Reader};

/// A prologue that was recognised.
#[derive(Debug, Clone, Copy)]
pub struct Prologue {
    /// The locals that it made.
    pub locals: Locals,
    /// The id and the bytecodes with which the method is entered, if it is recorded.
    pub entered: Option<(i64, i32)>,
    /// The id under which the method's value is recorded, if it is.
    pub recorded_at: Option<i64>,
    /// The number of the instruction behind it.
    pub end: usize,
}

/// All ways to read what stands at the beginning of a body as a prologue. There may be two, as the original may begin with what looks like the last
/// instructions of one. `arguments` are the original's argument slots, `max_locals` its locals.
pub fn prologues(code: &Reader<'_, '_>, is_extended: bool, arguments: u16, max_locals: u16) -> Vec<Prologue> {
    // Behind the arguments, or behind everything, where a local of two slots lies across the end of the arguments.
    let mut found = Vec::new();
    let behind_all = max_locals.max(arguments.saturating_add(EXTENSION_SLOTS));
    // There must be room for ours.
    for at in [arguments, behind_all].into_iter().filter(|at| *at < u16::MAX - 8) {
        let read = if is_extended { extended(code, arguments, at) } else { original(code, at) };
        found.extend(read);
    }
    // The longest first.
    found.sort_by_key(|p| std::cmp::Reverse(p.end));
    found
}

fn start(code: &Reader<'_, '_>) -> usize {
    usize::from(code.op(0) == Op::Helper(Helper::StartAt))
}

fn extended(code: &Reader<'_, '_>, slot: u16, node: u16) -> Vec<Prologue> {
    let by = if slot == node { EXTENSION_SLOTS } else { 2 };
    let locals = Locals { at: node, by, node, pending: None, thread: None, carries: Carries::Same };
    entering(code, start(code), slot, locals, slot == node)
}

fn original(code: &Reader<'_, '_>, at: u16) -> Vec<Prologue> {
    let (node, saved, thread) = (at, at + 2, at + 4);
    let begin = start(code);
    let reads = [
        Op::Helper(Helper::Thread),
        Op::Store(Kind::Reference, thread),
        Op::Load(Kind::Reference, thread),
        Op::Helper(Helper::Context),
        Op::Store(Kind::Long, saved),
    ];
    if !code.has(begin, &reads) {
        return Vec::new();
    }
    let mut next = begin + reads.len();
    let mut context = saved;
    for helper in [Helper::Replay, Helper::Begin] {
        let asks = [
            Op::Load(Kind::Reference, thread),
            Op::Load(Kind::Long, context),
            Op::Helper(helper),
            Op::Store(Kind::Long, node),
        ];
        if code.has(next, &asks) {
            next += asks.len();
            context = node;
        }
    }
    let locals =
        Locals { at, by: 5, node, pending: None, thread: Some((saved, thread)), carries: Carries::Same };
    entering(code, next, context, locals, context == node)
}

/// The node of this call, from the slot in a local. `is_there` is whether that is the node's local already.
fn entering(code: &Reader<'_, '_>, at: usize, slot: u16, locals: Locals, is_there: bool) -> Vec<Prologue> {
    let stores = Op::Store(Kind::Long, locals.node);
    if let (true, Op::Long(id)) = (code.op(at) == Op::Load(Kind::Long, slot), code.op(at + 1)) {
        let (n, next) = match (code.op(at + 2), code.op(at + 3), code.op(at + 4)) {
            (Op::Int(n), Op::Helper(Helper::Enter), _) => (n, at + 4),
            (Op::Int(_), Op::Int(n), Op::Helper(Helper::EnterAndTick | Helper::EnterAndPoll)) => (n, at + 5),
            _ => (0, 0),
        };
        if next > 0 && code.op(next) == stores {
            let locals = Locals { carries: Carries::Node, ..locals };
            let plain = Prologue { locals, entered: Some((id, n)), recorded_at: None, end: next + 1 };
            let pending = locals.at + locals.by;
            let mut found = vec![plain];
            if code.has(next + 1, &[Op::Int(0), Op::Store(Kind::Int, pending)]) {
                let locals = Locals { pending: Some(pending), by: locals.by + 1, ..locals };
                found.push(Prologue { locals, entered: Some((id, n)), recorded_at: None, end: next + 3 });
            }
            return found;
        }
    }
    let mut found = Vec::new();
    let first = Op::Load(Kind::Long, slot);
    if let (true, Op::Long(id), Op::Helper(Helper::At)) =
        (code.op(at) == first, code.op(at + 1), code.op(at + 2))
    {
        found.extend(handing_on(code, at + 3, slot, locals, is_there, Some(id)));
    }
    // The same may stand before the method's first instruction, if that is a call.
    found.extend(handing_on(code, at, slot, locals, is_there, None));
    found
}

/// What callees are given where the method has no node.
fn handing_on(
    code: &Reader<'_, '_>,
    at: usize,
    slot: u16,
    locals: Locals,
    is_there: bool,
    recorded_at: Option<i64>,
) -> Option<Prologue> {
    let (load, stores) = (Op::Load(Kind::Long, slot), Op::Store(Kind::Long, locals.node));
    let triples = [load, Op::Long(FACTOR), Op::LongMultiply, stores];
    let (carries, end) = match code.has(at, &triples) {
        true => (Carries::Value, at + triples.len()),
        false if is_there => (Carries::Same, at),
        false if code.has(at, &[load, stores]) => (Carries::Same, at + 2),
        false => return None,
    };
    Some(Prologue { locals: Locals { carries, ..locals }, entered: None, recorded_at, end })
}
