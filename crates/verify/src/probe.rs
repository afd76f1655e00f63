//! The shapes of probes: short straight code that leaves the operand stack as it found it, stores
//! only into the rewriter's own locals, and calls only the runtime's helpers.

use cct_classfile::{Bci, ClassFile, Code, Instruction};
use cct_jdk::helpers::Helper;

use crate::convention::FACTOR;
use crate::op::{Callee, Kind, Op, op};
use crate::sites::HandedOn;

/// The context that a body has for its callees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// A node of its own: callees get the addresses of slots in it.
    Node,
    /// Three times its value: each call adds a number of its own.
    Value,
    /// The context that it got itself.
    Same,
    /// None: the locals are tokens of markers' regions, and callees get no context.
    Tokens,
}

/// The locals that were added to a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locals {
    /// The first added local: the original's locals from here on have moved up.
    pub at: u16,
    /// Number of slots by which they have moved.
    pub by: u16,
    /// The local with the context for callees.
    pub node: u16,
    /// The local with the pending count.
    pub pending: Option<u16>,
    /// The locals with the context that the thread carried, and with the thread, in bodies under
    /// the original signature.
    pub thread: Option<(u16, u16)>,
    /// The kind of context in `node`.
    pub carries: Carries,
    /// Number of tokens of markers' regions, which are the last locals.
    pub tokens: u16,
}

impl Locals {
    /// Whether the body has a node of its own.
    pub fn has_node(&self) -> bool {
        self.carries == Carries::Node
    }
}

/// The effect of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe<'a> {
    /// Adds a number to the node.
    Count(i32),
    /// Adds the local and a number to the node.
    CountLocal(i32),
    /// Sets the local to a number.
    Set(i32),
    /// Adds a number to the local.
    Add(i32),
    /// Adds a number to the local, and moves it into the node when it is large.
    Drain(i32),
    /// Updates the activation counter.
    Tick,
    /// Updates and tests the activation counter; adds a number to the node.
    Loop(i32),
    /// Gives the thread back its context.
    Restore,
    /// Prepares an invocation.
    Call(HandedOn, Call<'a>),
}

/// The values that a caller sets for a callee without an instrumented body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalleeEntry {
    /// The id under which the value is recorded, if it is.
    pub place: Option<i64>,
    /// The number that the callee's own calls add, if the thread gets their value; `None` if it
    /// gets the callee's own, or none.
    pub site: Option<i64>,
    /// Whether the thread gets a value.
    pub stores: bool,
}

/// The way in which an invocation passes its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'a> {
    /// As arguments: this is the invocation itself.
    Extended(u8, Callee<'a>, u8),
    /// In the thread: the one that the body has read on entry, or the current one.
    Stored {
        /// Whether it is the one that the body has read on entry.
        held: bool,
    },
    /// In the thread, as the context of the root: the callee is a native that is not represented.
    Rooted {
        /// Whether it is the thread that the body has read on entry.
        held: bool,
    },
    /// The caller counts the callee: its id, its bytecodes, and whether it may call back.
    Counted(i64, i32, bool),
    /// The caller counts the callee if it is `Object.hashCode`; its id.
    HashCode(i64),
    /// Where values represent contexts: the caller sets the value of a callee without an
    /// instrumented body.
    Entered(CalleeEntry),
    /// The caller records the callee's value if it is `Object.hashCode`; its id.
    EnteredHashCode(i64),
    /// The last step of a method handle.
    Linked,
    /// The last step of a method handle that may lead to `hashCode`.
    LinkedHashCode,
}

/// Rewritten code, instruction by instruction.
pub struct Reader<'r, 'a> {
    class: &'r ClassFile<'a>,
    /// The instructions.
    pub steps: Vec<Instruction<'a>>,
    /// The code's length.
    pub length: Bci,
}

impl<'r, 'a> Reader<'r, 'a> {
    /// A reader of a method's code.
    pub fn new(class: &'r ClassFile<'a>, code: &Code<'a>) -> Self {
        Reader { class, steps: code.instructions().collect(), length: code.length() }
    }

    /// The operation of the instruction with this number; [`Op::Other`] after the last.
    pub fn op(&self, at: usize) -> Op<'a> {
        self.steps.get(at).map_or(Op::Other, |i| op(self.class, i))
    }

    /// The bytecode index of the instruction with this number; the code's length after the last.
    pub fn bci(&self, at: usize) -> Bci {
        self.steps.get(at).map_or(self.length, |i| i.bci)
    }

    /// The number of the instruction at an index.
    pub fn number(&self, bci: Bci) -> Option<usize> {
        self.steps.binary_search_by_key(&bci, |i| i.bci).ok()
    }

    /// Whether the code has these operations at `at`.
    pub fn has(&self, at: usize, ops: &[Op<'_>]) -> bool {
        ops.iter().enumerate().all(|(i, wanted)| self.op(at + i) == *wanted)
    }

    /// The probe that begins with the instruction `at`, and the number of the instruction after it.
    pub fn probe(&self, at: usize, locals: &Locals) -> Option<(Probe<'a>, usize)> {
        let node = Op::Load(Kind::Long, locals.node);
        match self.op(at) {
            Op::Dup if self.op(at + 1) == node => self.call(at + 1, Some(false), locals),
            Op::Dup2 if self.op(at + 1) == node => self.call(at + 1, Some(true), locals),
            first if first == node => self.counting(at + 1, locals).or_else(|| self.call(at, None, locals)),
            first if is_thread(first, locals) && self.op(at + 1) == node => {
                // A probe that gives the thread back its context has a different local on the
                // stack, except in bodies that pass on the context that they got.
                self.carried(at + 1, locals).or_else(|| self.restore(at, locals))
            }
            _ => self.pending(at, locals).or_else(|| self.restore(at, locals)),
        }
    }

    /// The probe that follows the node on the stack.
    fn counting(&self, at: usize, locals: &Locals) -> Option<(Probe<'a>, usize)> {
        if !locals.has_node() {
            return None;
        }
        if let Op::Int(n) = self.op(at) {
            return match (self.op(at + 1), self.op(at + 2)) {
                (Op::Helper(Helper::Count), _) => Some((Probe::Count(n), at + 2)),
                (Op::Helper(Helper::Tick), _) => Some((Probe::Tick, at + 2)),
                (Op::Int(count), Op::Helper(Helper::Loop)) => Some((Probe::Loop(count), at + 3)),
                _ => None,
            };
        }
        let (n, next) = self.sum(at, locals)?;
        match self.op(next) {
            Op::Helper(Helper::Count) => Some((Probe::CountLocal(n), next + 1)),
            Op::Helper(Helper::Drain) if self.op(next + 1) == Op::Store(Kind::Int, locals.pending?) => {
                Some((Probe::Drain(n), next + 2))
            }
            _ => None,
        }
    }

    /// The local, and a number added to it.
    fn sum(&self, at: usize, locals: &Locals) -> Option<(i32, usize)> {
        if self.op(at) != Op::Load(Kind::Int, locals.pending?) {
            return None;
        }
        match (self.op(at + 1), self.op(at + 2)) {
            (Op::Int(n), Op::IntAdd) => Some((n, at + 3)),
            _ => Some((0, at + 1)),
        }
    }

    /// The probe that changes only the local.
    fn pending(&self, at: usize, locals: &Locals) -> Option<(Probe<'a>, usize)> {
        let pending = locals.pending?;
        match self.op(at) {
            Op::Increment(local, n) if local == pending => Some((Probe::Add(n), at + 1)),
            Op::Int(n) if self.op(at + 1) == Op::Store(Kind::Int, pending) => Some((Probe::Set(n), at + 2)),
            _ => {
                let (n, next) = self.sum(at, locals)?;
                (self.op(next) == Op::Store(Kind::Int, pending)).then_some((Probe::Add(n), next + 1))
            }
        }
    }

    fn restore(&self, at: usize, locals: &Locals) -> Option<(Probe<'a>, usize)> {
        self.has(at, &restoring(locals)?).then_some((Probe::Restore, at + 3))
    }

    /// The probe of an invocation that follows the thread on the stack.
    fn carried(&self, at: usize, locals: &Locals) -> Option<(Probe<'a>, usize)> {
        let (handed_on, next) = self.handed_on(at, locals)?;
        let (call, next) = match self.op(next) {
            Op::Helper(Helper::RootOf) => (Call::Rooted { held: true }, next + 1),
            _ => (Call::Stored { held: true }, next),
        };
        (self.op(next) == Op::Helper(Helper::Carry)).then_some((Probe::Call(handed_on, call), next + 1))
    }

    /// The context for a callee, and the number of the instruction after the code that computes it.
    fn handed_on(&self, at: usize, locals: &Locals) -> Option<(HandedOn, usize)> {
        Some(match (locals.carries, self.op(at + 1)) {
            (Carries::Value, Op::Long(site)) if self.op(at + 2) == Op::LongAdd => {
                (HandedOn { offset: site, site: 0, is_shared: false }, at + 3)
            }
            // The body passes its own context on unchanged.
            (Carries::Same, _) => (HandedOn { offset: 0, site: 0, is_shared: false }, at + 1),
            (Carries::Node, Op::Int(offset)) if self.has(at + 2, &[Op::IntToLong, Op::LongAdd]) => {
                (HandedOn { offset: offset.into(), site: 0, is_shared: false }, at + 4)
            }
            (Carries::Node, Op::Long(place)) if self.op(at + 2) == Op::LongAdd => {
                let is_shared = self.op(at + 3) == Op::Helper(Helper::Site);
                let (offset, site) = (place & 0xFFFF_FFFF_FFFF, (place >> 48) as u16);
                (HandedOn { offset, site, is_shared }, at + 3 + usize::from(is_shared))
            }
            _ => return None,
        })
    }

    /// The probe of an invocation; `copied` is whether it duplicated one word or two.
    fn call(&self, at: usize, copied: Option<bool>, locals: &Locals) -> Option<(Probe<'a>, usize)> {
        let (handed_on, next) = self.handed_on(at, locals)?;
        let (call, next) = match (copied, self.op(next)) {
            (None, Op::Null) => match self.op(next + 1) {
                Op::Invoke(opcode, callee, count) => (Call::Extended(opcode, callee, count), next + 2),
                _ => return None,
            },
            (None, Op::Helper(Helper::Store)) => (Call::Stored { held: false }, next + 1),
            (None, Op::Helper(Helper::RootOf)) if self.op(next + 1) == Op::Helper(Helper::Store) => {
                (Call::Rooted { held: false }, next + 2)
            }
            (None, Op::Long(place)) if self.op(next + 1) == Op::Helper(Helper::At) => {
                let (stores, site, behind) = match self.below(next + 2, handed_on, locals) {
                    Some((site, behind)) => (true, site, behind),
                    None => (false, None, next + 2),
                };
                (Call::Entered(CalleeEntry { place: Some(place), site, stores }), behind)
            }
            (None, Op::Long(FACTOR)) if self.op(next + 1) == Op::LongMultiply => {
                let (site, behind) = self.below(at, handed_on, locals)?;
                (Call::Entered(CalleeEntry { place: None, site, stores: true }), behind)
            }
            (None, Op::Long(id)) => match (self.op(next + 1), self.op(next + 2)) {
                (Op::Int(n), Op::Helper(Helper::Leaf)) => (Call::Counted(id, n, false), next + 3),
                (Op::Int(n), Op::Helper(Helper::Call)) => (Call::Counted(id, n, true), next + 3),
                _ => return None,
            },
            (Some(false), Op::Helper(Helper::Link)) => (Call::Linked, next + 1),
            (Some(false), Op::Long(id)) if self.op(next + 1) == Op::Helper(Helper::HashCode) => {
                (Call::HashCode(id), next + 2)
            }
            (Some(false), Op::Long(id)) if self.op(next + 1) == Op::Helper(Helper::AtHashCode) => {
                (Call::EnteredHashCode(id), next + 2)
            }
            (Some(true), Op::Helper(Helper::LinkHashCode)) => (Call::LinkedHashCode, next + 1),
            _ => return None,
        };
        Some((Probe::Call(handed_on, call), next))
    }
}

impl Reader<'_, '_> {
    /// A value that the thread gets: that of a callee's own calls, which add a number, or the
    /// callee's.
    fn below(&self, at: usize, callees: HandedOn, locals: &Locals) -> Option<(Option<i64>, usize)> {
        if self.op(at) != Op::Load(Kind::Long, locals.node) {
            return None;
        }
        let (_, next) = self.handed_on(at, locals).filter(|(handed_on, _)| *handed_on == callees)?;
        if self.op(next) == Op::Helper(Helper::Store) {
            return Some((None, next + 1));
        }
        let Op::Long(site) = self.op(next + 2) else { return None };
        let adds =
            [Op::Long(FACTOR), Op::LongMultiply, Op::Long(site), Op::LongAdd, Op::Helper(Helper::Store)];
        self.has(next, &adds).then_some((Some(site), next + adds.len()))
    }
}

fn is_thread(op: Op<'_>, locals: &Locals) -> bool {
    locals.thread.is_some_and(|(_, thread)| op == Op::Load(Kind::Reference, thread))
}

/// The code that gives the thread back its context.
pub fn restoring(locals: &Locals) -> Option<[Op<'static>; 3]> {
    let (saved, thread) = locals.thread?;
    Some([Op::Load(Kind::Reference, thread), Op::Load(Kind::Long, saved), Op::Helper(Helper::Restore)])
}
