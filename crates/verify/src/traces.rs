//! Bodies with events (docs/research/trace.md): which events, with which numbers, are where. All of
//! it follows from the original, the method's number, and the amount that is recorded.

use std::ops::Range;

use cct_classfile::{Bci, ClassFile, Code, Instruction, Member, access, opcode};
use cct_jdk::helpers::Helper;

use crate::events::Event;
use crate::fields::Fields;
use crate::op::{Kind, Op};
use crate::probe::Locals;
use crate::silent_events::{Cut, SilentEvents};
use crate::throws::may_throw;

/// The amount of a body that is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Everything.
    Full,
    /// Everything except the progress of a block that an exception left.
    Blocks,
    /// Starts, ends and calls.
    Calls,
    /// Starts, ends and calls, in an output without events of objects and monitors.
    CallsWithoutObjects,
}

impl Level {
    /// All levels, the largest first. The others are for methods that would be too large.
    pub const ALL: [Level; 4] = [Level::Full, Level::Blocks, Level::Calls, Level::CallsWithoutObjects];
}

/// The expected events of a body.
#[derive(Debug)]
pub struct Plan {
    /// The method's number; `None` if it is not recorded.
    pub method: Option<u32>,
    /// Whether a local keeps the progress of a block.
    pub uses_local: bool,
    /// Whether objects and monitors have events.
    pub objects: bool,
    has_receiver: bool,
    takes_monitor: bool,
    /// By instruction: the block whose start is written before it, and whether it is a handler that
    /// only exceptions reach.
    blocks: Vec<Option<(u32, bool)>>,
    /// By instruction: the local's new value before it.
    marks: Vec<Option<i32>>,
    /// The blocks, by their instructions, whether or not they have events.
    pub cut: Vec<Range<usize>>,
    /// The implied events; empty where there is no local.
    pub quiet: SilentEvents,
    /// Whether a jump or a handler leads to the first block.
    pub entry_is_target: bool,
}

impl Plan {
    /// The plan for a body. `objects` is whether the output records objects and monitors.
    #[allow(clippy::too_many_arguments)]
    pub fn of<'a>(
        class: &ClassFile<'a>,
        fields: &Fields<'a>,
        member: &Member<'a>,
        code: &Code<'a>,
        originals: &[Instruction<'a>],
        method: Option<u32>,
        level: Level,
        objects: bool,
    ) -> Plan {
        let objects = objects && level != Level::CallsWithoutObjects && method.is_some();
        let is_static = member.is(access::STATIC);
        let mut plan = Plan {
            method,
            uses_local: false,
            objects,
            has_receiver: !is_static && member.name != b"<init>",
            takes_monitor: objects && member.is(access::SYNCHRONIZED) && !is_static,
            blocks: vec![None; originals.len()],
            marks: vec![None; originals.len()],
            cut: Vec::new(),
            quiet: SilentEvents::default(),
            entry_is_target: false,
        };
        plan.lay_out(class, code, originals, level);
        if plan.uses_local {
            let blocks = &plan.cut;
            plan.quiet = SilentEvents::of(&Cut { class, fields, member, code, originals, blocks });
            for event in &mut plan.blocks {
                if event.is_some_and(|(block, _)| plan.quiet.implied[block as usize]) {
                    *event = None;
                }
            }
        }
        if method.is_none() || !matches!(level, Level::Full | Level::Blocks) {
            plan.uses_local = false;
            plan.blocks.fill(None);
            plan.marks.fill(None);
        }
        plan
    }

    /// Cuts the code into blocks: they end after jumps, switches, returns and `athrow`. Where a
    /// handler is also reached without an exception, or there are subroutines, they also end after
    /// every instruction that may throw. Elsewhere the local keeps their progress.
    fn lay_out(
        &mut self,
        class: &ClassFile<'_>,
        code: &Code<'_>,
        originals: &[Instruction<'_>],
        level: Level,
    ) {
        let count = originals.len();
        let number = |bci: Bci| originals.binary_search_by_key(&bci, |i| i.bci).ok();
        let (mut is_jumped_to, mut is_handler) = (vec![false; count], vec![false; count]);
        for i in originals {
            i.for_each_target(|target| {
                if let Some(target) = number(target) {
                    is_jumped_to[target] = true;
                }
            });
        }
        for handler in code.handlers.iter().filter_map(|handler| number(handler.handler)) {
            is_handler[handler] = true;
        }
        let falls_into =
            |n: usize| n.checked_sub(1).is_none_or(|before| !opcode::ends_flow(originals[before].opcode));
        let is_reached = |n: usize| is_jumped_to[n] || falls_into(n);
        let has_subroutines =
            |i: &Instruction<'_>| opcode::is_subroutine_call(i.opcode) || i.opcode == opcode::RET;
        let is_plain =
            !originals.iter().any(has_subroutines) && !(0..count).any(|n| is_handler[n] && is_reached(n));
        let ends_at_throws = !is_plain && level == Level::Full;
        self.uses_local = is_plain && level == Level::Full;
        self.entry_is_target = count > 0 && (is_jumped_to[0] || is_handler[0]);
        let (mut block, mut place) = (0, 0);
        for (n, i) in originals.iter().enumerate() {
            let is_first = n == 0;
            let begins = is_first || is_jumped_to[n] || is_handler[n] || {
                let before = &originals[n - 1];
                opcode::is_conditional(before.opcode)
                    || opcode::ends_flow(before.opcode)
                    || ends_at_throws && may_throw(class, before)
            };
            if begins {
                block += u32::from(!is_first);
                place = 0;
                self.cut.push(n..n);
                // The method's start implies its first block, unless a jump leads there.
                let is_announced = !is_first || self.entry_is_target;
                self.blocks[n] = is_announced.then_some((block, is_handler[n] && self.uses_local));
            }
            place += 1;
            if let Some(block) = self.cut.last_mut() {
                block.end = n + 1;
            }
            if self.uses_local && may_throw(class, i) {
                self.marks[n] = Some(place);
            }
        }
    }

    /// The code in the prologue after the record is in its local.
    pub fn start(&self, locals: &Locals, is_extent: bool) -> Vec<Op<'static>> {
        let Some(method) = self.method else { return Vec::new() };
        let record = Op::Load(Kind::Long, locals.node);
        let mut ops = if is_extent { extent(locals, 1) } else { Vec::new() };
        let start = Event::Start { method, ends_at_once: false };
        if self.has_receiver && start.is_single() {
            ops.extend([Op::Load(Kind::Reference, 0), record, start.word(), Op::Helper(Helper::Receiver)])
        } else {
            ops.extend(start.ops(locals.node, None))
        }
        if self.takes_monitor {
            let monitor =
                [Op::Load(Kind::Reference, 0), record, Event::Locked.word(), Op::Helper(Helper::Monitor)];
            ops.extend(monitor);
        }
        ops
    }

    /// The code before an instruction, except for calls: the start of a block, the local's new
    /// value, a monitor, the method's end.
    pub fn before(
        &self,
        n: usize,
        i: &Instruction<'_>,
        locals: &Locals,
        is_extent: bool,
    ) -> Vec<Op<'static>> {
        let Some(method) = self.method else { return Vec::new() };
        let mut ops = Vec::new();
        if let Some((block, is_handler)) = self.blocks[n] {
            let partial = locals.pending.filter(|_| is_handler);
            ops.extend(Event::Block { method, block }.ops(locals.node, partial));
        }
        if let (Some(mark), Some(local)) = (self.marks[n], locals.pending) {
            ops.extend([Op::Int(mark), Op::Store(Kind::Int, local)]);
        }
        let monitor = match i.opcode {
            opcode::MONITORENTER => Some(Event::Lock(i.bci)),
            opcode::MONITOREXIT => Some(Event::Unlock(i.bci)),
            _ => None,
        };
        if let Some(event) = monitor.filter(|_| self.objects) {
            let record = Op::Load(Kind::Long, locals.node);
            ops.extend([Op::Dup, record, event.word(), Op::Helper(Helper::Monitor)]);
        }
        if opcode::is_return(i.opcode) {
            if self.says_end(n) {
                ops.extend(self.end(locals, is_extent, false));
            } else if is_extent {
                ops.extend(extent(locals, -1));
            }
        }
        ops
    }

    /// Whether a return here has an event of the method's end.
    fn says_end(&self, n: usize) -> bool {
        let block = self.cut.partition_point(|block| block.end <= n);
        !self.uses_local || self.quiet.silent.get(block) != Some(&true)
    }

    /// The code of the method's end, by an exception or not.
    pub fn end(&self, locals: &Locals, is_extent: bool, by_exception: bool) -> Vec<Op<'static>> {
        let Some(method) = self.method else { return Vec::new() };
        let partial = locals.pending.filter(|_| by_exception);
        let mut ops = Event::End { method, by_exception }.ops(locals.node, partial);
        if is_extent {
            ops.extend(extent(locals, -1));
        }
        ops
    }
}

/// The code of an extent: the thread has entered one, or left it.
fn extent(locals: &Locals, deeper: i32) -> Vec<Op<'static>> {
    vec![Op::Load(Kind::Long, locals.node), Op::Int(deeper), Op::Helper(Helper::Extent)]
}
