//! The prologue of an instrumented body: it finds the node before any code of the program runs.

use cct_jdk::convention::EXTENSION_SLOTS;
use cct_jdk::helpers::Helper;

use crate::convention::{FACTOR, counted_by_id};
use crate::op::{Kind, Op};
use crate::probe::{Carries, Locals, Reader};
use crate::traces::Plan;

/// A recognised prologue.
#[derive(Debug, Clone, Copy)]
pub struct Prologue {
    /// The locals that it defines.
    pub locals: Locals,
    /// The id and the bytecodes with which it enters the method, if the method is recorded.
    pub entered: Option<(i64, i32)>,
    /// The id under which it records the method's value, if it does.
    pub recorded_at: Option<i64>,
    /// Whether the method is an extent of recording, and its prologue says so.
    pub is_extent: bool,
    /// The number of the instruction after it.
    pub end: usize,
}

impl Prologue {
    /// Number of bytecodes that the entry counts by the method's id.
    pub fn counted_by_id(&self) -> u8 {
        self.entered.map_or(0, |(id, _)| counted_by_id(id))
    }
}

/// All prologues that the beginning of a body may be. There may be two, since the original may
/// begin with code that looks like the end of one. `arguments` are the original's argument slots,
/// `max_locals` its locals; `events` are those of a body with recorded events.
pub fn prologues(
    code: &Reader<'_, '_>,
    is_extended: bool,
    arguments: u16,
    max_locals: u16,
    events: Option<&Plan>,
) -> Vec<Prologue> {
    // The added locals follow the arguments, or all locals if one of two slots lies across the end
    // of the arguments.
    let mut found = Vec::new();
    let behind_all = max_locals.max(arguments.saturating_add(EXTENSION_SLOTS));
    // There must be room for the added ones.
    for at in [arguments, behind_all].into_iter().filter(|at| *at < u16::MAX - 8) {
        let read =
            if is_extended { extended(code, arguments, at) } else { original(code, at, events.is_some()) };
        found.extend(read.into_iter().flat_map(|begun| match events {
            Some(plan) => begun.traced(code, plan).into_iter().collect(),
            None => entering(code, begun),
        }));
    }
    // The longest first.
    found.sort_by_key(|p| std::cmp::Reverse(p.end));
    found
}

fn start(code: &Reader<'_, '_>) -> usize {
    usize::from(code.op(0) == Op::Helper(Helper::StartAt))
}

fn extended(code: &Reader<'_, '_>, slot: u16, node: u16) -> Option<PrologueStart> {
    let by = if slot == node { EXTENSION_SLOTS } else { 2 };
    let locals =
        Locals { at: node, by, node, pending: None, thread: None, carries: Carries::Same, tokens: 0 };
    Some(PrologueStart { at: start(code), slot, locals })
}

fn original(code: &Reader<'_, '_>, at: u16, are_events: bool) -> Option<PrologueStart> {
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
        return None;
    }
    let mut next = begin + reads.len();
    let mut context = saved;
    // A trace needs no replay: its events come in order, even if the VM calls.
    for helper in [Helper::Replay, Helper::Begin].into_iter().skip(are_events.into()) {
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
    let thread = Some((saved, thread));
    let locals = Locals { at, by: 5, node, pending: None, thread, carries: Carries::Same, tokens: 0 };
    Some(PrologueStart { at: next, slot: context, locals })
}

/// A prologue up to the point where the incoming context is in a local.
struct PrologueStart {
    /// The number of the next instruction.
    at: usize,
    /// The local with the context: the one in which the body keeps it, or another one.
    slot: u16,
    locals: Locals,
}

impl PrologueStart {
    /// The prologue of a body with events: it keeps the thread's record and writes the method's
    /// start.
    fn traced(self, code: &Reader<'_, '_>, plan: &Plan) -> Option<Prologue> {
        let PrologueStart { mut at, slot, mut locals } = self;
        if slot != locals.node {
            let moves = [Op::Load(Kind::Long, slot), Op::Store(Kind::Long, locals.node)];
            at += code.has(at, &moves).then_some(moves.len())?;
        }
        let is_extent = plan.method.is_some() && code.op(at + 2) == Op::Helper(Helper::Extent);
        let start = plan.start(&locals, is_extent);
        at += code.has(at, &start).then_some(start.len())?;
        if plan.uses_local {
            let pending = locals.at + locals.by;
            at += code.has(at, &[Op::Int(0), Op::Store(Kind::Int, pending)]).then_some(2)?;
            locals = Locals { pending: Some(pending), by: locals.by + 1, ..locals };
        }
        Some(Prologue { locals, entered: None, recorded_at: None, is_extent, end: at })
    }
}

/// The prologues that find the node or the value of this call from the context in a local.
fn entering(code: &Reader<'_, '_>, begun: PrologueStart) -> Vec<Prologue> {
    let PrologueStart { at, slot, locals } = begun;
    let is_there = slot == locals.node;
    let stores = Op::Store(Kind::Long, locals.node);
    if let (true, Op::Long(id)) = (code.op(at) == Op::Load(Kind::Long, slot), code.op(at + 1)) {
        let (n, next) = match (code.op(at + 2), code.op(at + 3), code.op(at + 4)) {
            (Op::Int(n), Op::Helper(Helper::Enter), _) => (n, at + 4),
            (Op::Int(_), Op::Int(n), Op::Helper(Helper::EnterAndTick | Helper::EnterAndPoll)) => (n, at + 5),
            _ => (0, 0),
        };
        if next > 0 && code.op(next) == stores {
            let locals = Locals { carries: Carries::Node, ..locals };
            let plain = Prologue {
                locals,
                entered: Some((id, n)),
                recorded_at: None,
                is_extent: false,
                end: next + 1,
            };
            let pending = locals.at + locals.by;
            let mut found = vec![plain];
            if code.has(next + 1, &[Op::Int(0), Op::Store(Kind::Int, pending)]) {
                let locals = Locals { pending: Some(pending), by: locals.by + 1, ..locals };
                found.push(Prologue {
                    locals,
                    entered: Some((id, n)),
                    recorded_at: None,
                    is_extent: false,
                    end: next + 3,
                });
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
    // The same code may precede the method's first instruction, if that is a call.
    found.extend(handing_on(code, at, slot, locals, is_there, None));
    found
}

/// The context for callees if the method has no node.
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
    let (carries, end) = if code.has(at, &triples) {
        (Carries::Value, at + triples.len())
    } else if is_there {
        (Carries::Same, at)
    } else if code.has(at, &[load, stores]) {
        (Carries::Same, at + 2)
    } else {
        return None;
    };
    Some(Prologue { locals: Locals { carries, ..locals }, entered: None, recorded_at, is_extent: false, end })
}
