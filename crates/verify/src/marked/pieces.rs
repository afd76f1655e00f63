//! The shapes of inserted code in a marked method: reports of entries and exits. All are straight
//! code and leave the operand stack as they found it, apart from a call's arguments, which they
//! save and restore.

use cct_classfile::constant_pool::tag;
use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::{ClassFile, NameAndType, opcode};

use super::attribute::Descriptor;
use super::helpers::Helper;
use crate::marked::gate::{Gate, RegionExit};
use crate::op::{Kind, Op};
use crate::probe::{Locals, Reader};

/// The way in which a region is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// Any way.
    Normal,
    /// By an exception.
    Thrown,
    /// With the new object.
    Made,
    /// With the object that the method or the call returns.
    Result,
    /// With the boolean that the method or the call returns.
    Answer,
}

/// The object that an entry reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Receiver {
    /// None.
    Null,
    /// `this`.
    This,
    /// The object on top of the stack.
    Top,
    /// The object below the top, which has one slot or two.
    Below(u16),
}

/// A report of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enter {
    /// The helper.
    pub helper: Helper,
    /// The marker's number.
    pub index: u16,
    /// The token that the helper gets, of an earlier entry.
    pub again: Option<u16>,
    /// The local that gets the token.
    pub token: Option<u16>,
    /// The reported object.
    pub receiver: Receiver,
    /// Locals that are passed after the object.
    pub handed: Vec<(Kind, u16)>,
    /// The saved arguments of the call, the first one first.
    pub aside: Vec<(Kind, u16)>,
}

/// A piece of inserted code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// An entry.
    Enter(Enter),
    /// An exit by a token, and whether it sets the token to null.
    Exit(u16, ExitKind, bool),
    /// Sets a token to null initially.
    Init(u16),
}

/// Reads pieces.
pub struct Pieces<'p, 'a> {
    /// The rewritten class.
    pub class: &'p ClassFile<'a>,
    /// The code.
    pub code: &'p Reader<'p, 'a>,
    /// The locals of tokens.
    pub locals: Locals,
    /// The first local that nothing else uses.
    pub scratch: u16,
    /// The route to the runtime.
    pub gate: Gate,
    /// In programs that are also counted: the local with the thread's position in its tree, and the
    /// number added to it.
    pub node: Option<(u16, i32)>,
    /// The markers of the class.
    pub markers: &'p [Descriptor<'a>],
}

impl Pieces<'_, '_> {
    fn token(&self, op: Op<'_>) -> Option<u16> {
        match op {
            Op::Load(Kind::Reference, local) if self.is_token(local) => Some(local),
            _ => None,
        }
    }

    fn stored(&self, op: Op<'_>) -> Option<u16> {
        match op {
            Op::Store(Kind::Reference, local) if self.is_token(local) => Some(local),
            _ => None,
        }
    }

    fn is_token(&self, local: u16) -> bool {
        local >= self.locals.at && local - self.locals.at < self.locals.by
    }

    /// Whether the gate is called at an instruction.
    fn is_gate(&self, at: usize, leaving: RegionExit) -> bool {
        let Op::Invoke(opcode::INVOKESTATIC, callee, 0) = self.code.op(at) else { return false };
        let name = self.gate.exit(leaving);
        callee.tag == tag::METHODREF
            && callee.method.name_and_type() == NameAndType::new(name, leaving.descriptor())
            && self.gate.is_of(self.class, callee.method.class)
    }

    /// Skips the number added to the node's local, if helpers get the position.
    fn node(&self, at: usize) -> Option<usize> {
        let Some((node, offset)) = self.node else { return Some(at) };
        if self.code.op(at) != Op::Load(Kind::Long, node) {
            return None;
        }
        match offset {
            0 => Some(at + 1),
            offset => {
                let adds = [Op::Int(offset), Op::IntToLong, Op::LongAdd];
                self.code.has(at + 1, &adds).then_some(at + 1 + adds.len())
            }
        }
    }

    /// The piece that begins with the instruction `at`, and the number of the instruction after it.
    pub fn piece(&self, at: usize) -> Option<(Piece, usize)> {
        if let (Op::Null, Some(token)) = (self.code.op(at), self.stored(self.code.op(at + 1))) {
            return Some((Piece::Init(token), at + 2));
        }
        self.exit(at).or_else(|| self.enter(at))
    }

    fn exit(&self, at: usize) -> Option<(Piece, usize)> {
        let op = |behind| self.code.op(at + behind);
        let (token, how, next) = if let Some(token) = self.token(op(0)) {
            if self.is_gate(at + 1, RegionExit::Left) {
                (token, ExitKind::Normal, at + 2)
            } else if self.is_gate(at + 1, RegionExit::Thrown) {
                (token, ExitKind::Thrown, at + 2)
            } else if op(1) == Op::Load(Kind::Reference, 0) && self.is_gate(at + 2, RegionExit::Made) {
                (token, ExitKind::Made, at + 3)
            } else {
                return None;
            }
        } else {
            let token = self.token(op(1)).filter(|_| op(0) == Op::Dup && op(2) == Op::Swap)?;
            let exits = [(RegionExit::Returned, ExitKind::Result), (RegionExit::Answered, ExitKind::Answer)];
            let (_, how) = exits.into_iter().find(|(exit, _)| self.is_gate(at + 3, *exit))?;
            (token, how, at + 4)
        };
        let is_cleared = self.code.op(next) == Op::Null && self.stored(self.code.op(next + 1)) == Some(token);
        Some((Piece::Exit(token, how, is_cleared), next + if is_cleared { 2 } else { 0 }))
    }

    fn enter(&self, mut at: usize) -> Option<(Piece, usize)> {
        let again = self.token(self.code.op(at));
        at += usize::from(again.is_some());
        let mut aside = Vec::new();
        while let Op::Store(kind, local) = self.code.op(at)
            && local >= self.scratch
        {
            aside.insert(0, (kind, local));
            at += 1;
        }
        let ops = |count: usize| (0..count).map(|behind| self.code.op(at + behind)).collect::<Vec<_>>();
        let (receiver, count) = match ops(3)[..] {
            [Op::Null, ..] => (Receiver::Null, 1),
            [Op::Load(Kind::Reference, 0), ..] => (Receiver::This, 1),
            [Op::Dup, ..] => (Receiver::Top, 1),
            [Op::Dup2, Op::Pop, _] => (Receiver::Below(1), 2),
            [Op::Dup2X1, Op::Pop2, Op::DupX2] => (Receiver::Below(2), 3),
            _ => return None,
        };
        at += count;
        let mut handed = Vec::new();
        while let Op::Load(kind, local) = self.code.op(at)
            && self.node.is_none_or(|(node, _)| node != local)
        {
            handed.push((kind, local));
            at += 1;
        }
        let pushed = match self.code.op(at) {
            Op::Int(index) => Some(u16::try_from(index).ok()?),
            _ => None,
        };
        at = self.node(at + usize::from(pushed.is_some()))?;
        let Op::Invoke(opcode::INVOKESTATIC, callee, _) = self.code.op(at) else { return None };
        let helper = Helper::of(self.class, &callee, self.gate)?;
        let index = match (pushed, helper.is_own) {
            (Some(index), false) if index / 32 == helper.number => index,
            (None, true) => helper.number,
            _ => return None,
        };
        // One more would be the program's own, before the piece.
        let arguments = helper.arguments(self.markers.get(usize::from(index))?)?;
        let arguments = [b"(", arguments, b")V"].concat();
        if handed.len() != MethodDescriptor::parse(&arguments).ok()?.arguments().count() {
            return None;
        }
        at += 1;
        let token = self.stored(self.code.op(at)).filter(|_| helper.enters);
        at += usize::from(token.is_some());
        for (kind, local) in &aside {
            if self.code.op(at) != Op::Load(*kind, *local) {
                return None;
            }
            at += 1;
        }
        Some((Piece::Enter(Enter { helper, index, again, token, receiver, handed, aside }), at))
    }
}
