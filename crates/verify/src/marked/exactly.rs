//! Expected code, exact in every instruction, of the methods that a marked class gains.

use cct_classfile::constant_pool::tag;
use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::edit::frames::{Frame, Signature, VerificationType, read};
use cct_classfile::{
    Bci, ClassFile, Code, Handler, Instruction, Member, MemberRefBuf, NameAndTypeBuf, opcode,
};

use crate::limits::{MethodCode, suffice};
use crate::marked::gate::Gate;
use crate::op::{Kind, Op, op};

/// An expected instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// An instruction without operands, by its opcode.
    Plain(u8),
    /// Loads a local.
    Load(Kind, u16),
    /// Stores a reference.
    Store(u16),
    /// Pushes a small number.
    Int(u16),
    /// Accesses a field of the class itself, by an instruction with this opcode.
    Field(u8, NameAndTypeBuf),
    /// An instruction with a class.
    Class(u8, Vec<u8>),
    /// Pushes a string.
    Text(Vec<u8>),
    /// Calls a static method, by a reference with this tag.
    Call(u8, MemberRefBuf),
    /// Calls a helper of `java.lang.Object`.
    Helper(NameAndTypeBuf),
    /// Jumps over a return, to the step with this number.
    Jump(u8, usize),
}

/// The expected code of a whole method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exactly {
    /// The expected instructions.
    pub steps: Vec<Step>,
    /// First step whose exceptions are caught, and first step of the handler.
    pub caught: Option<(usize, usize)>,
}

impl Exactly {
    /// Adds steps that run and return unless the jump is taken.
    pub fn unless(&mut self, opcode: u8, otherwise: Vec<Step>) {
        let to = self.steps.len() + 1 + otherwise.len();
        self.steps.push(Step::Jump(opcode, to));
        self.steps.extend(otherwise);
    }

    /// Whether a method has this code.
    pub fn is(&self, class: &ClassFile<'_>, member: &Member<'_>) -> bool {
        self.is_of(class, member).unwrap_or(false)
    }

    fn is_of(&self, class: &ClassFile<'_>, member: &Member<'_>) -> Option<bool> {
        let code = Code::of(class, member).ok()??;
        let instructions: Vec<Instruction<'_>> = code.instructions().collect();
        let place = |step: usize| instructions.get(step).map(|i| i.bci);
        let is_step = |(i, step): (&Instruction<'_>, &Step)| is(class, i, step, place);
        let same =
            instructions.len() == self.steps.len() && instructions.iter().zip(&self.steps).all(is_step);
        let handlers: Vec<Handler> = match self.caught {
            None => Vec::new(),
            Some((from, at)) => {
                let (start, at) = (place(from)?, place(at)?);
                vec![Handler { start, end: at, handler: at, catch_type: 0 }]
            }
        };
        Some(
            same && code.handlers == handlers
                && self.has_frames(class, member, &code, place)?
                && suffice(MethodCode { class, method: member, code: &code }),
        )
    }

    /// Whether the targets of jumps have the state of the entry, the handler has that state with
    /// the exception on the stack, and no other frame exists.
    fn has_frames(
        &self,
        class: &ClassFile<'_>,
        member: &Member<'_>,
        code: &Code<'_>,
        place: impl Fn(usize) -> Option<Bci>,
    ) -> Option<bool> {
        if class.major_version < 50 {
            return Some(code.attributes.is_empty());
        }
        let attributes: Vec<_> = code.attributes.iter().collect();
        let [attribute] = attributes[..] else { return Some(false) };
        let descriptor = MethodDescriptor::parse(member.descriptor).ok()?;
        let signature =
            Signature { this_class: class.this_class, is_static: true, is_constructor: false, descriptor };
        let locals = signature.initial_locals();
        let frames = read(attribute.cursor(), locals.clone()).ok()?;
        let targets = self.steps.iter().filter_map(|step| match step {
            Step::Jump(_, to) => Some((*to, false)),
            _ => None,
        });
        let handler = self.caught.map(|(_, at)| (at, true));
        let wanted: Vec<(usize, bool)> = targets.chain(handler).collect();
        let is_thrown = |t: &VerificationType| matches!(t, VerificationType::Object(index) if class.pool.class(*index) == Ok(b"java/lang/Throwable"));
        let is_frame = |((bci, frame), (step, has_thrown)): (&(Bci, Frame), &(usize, bool))| {
            let stack = if *has_thrown {
                frame.stack.len() == 1 && frame.stack.iter().all(is_thrown)
            } else {
                frame.stack.is_empty()
            };
            Some(*bci) == place(*step) && frame.locals == locals && stack
        };
        let is_table = attribute.name == b"StackMapTable";
        Some(is_table && frames.len() == wanted.len() && frames.iter().zip(&wanted).all(is_frame))
    }
}

/// Whether an instruction is the expected one.
fn is(class: &ClassFile<'_>, i: &Instruction<'_>, step: &Step, place: impl Fn(usize) -> Option<Bci>) -> bool {
    let pool = &class.pool;
    let index = i.pool_index();
    match step {
        Step::Plain(opcode) => i.opcode == *opcode && i.bytes.len() == 1,
        Step::Load(kind, local) => op(class, i) == Op::Load(*kind, *local),
        Step::Store(local) => op(class, i) == Op::Store(Kind::Reference, *local),
        Step::Int(value) => op(class, i) == Op::Int(i32::from(*value)),
        Step::Field(opcode, own) => {
            let field = index.filter(|_| i.opcode == *opcode).and_then(|index| pool.member_ref(index).ok());
            field == Some(own.name_and_type().of_class(class.name()))
        }
        Step::Class(opcode, name) => {
            let is_it = match *opcode {
                opcode::LDC => matches!(i.opcode, opcode::LDC | opcode::LDC_W),
                opcode => i.opcode == opcode,
            };
            is_it && index.and_then(|index| pool.class(index).ok()) == Some(&**name)
        }
        Step::Text(text) => {
            matches!(i.opcode, opcode::LDC | opcode::LDC_W)
                && index.and_then(|index| pool.string(index).ok()) == Some(&**text)
        }
        Step::Call(tag, method) => {
            let callee = index.filter(|_| i.opcode == opcode::INVOKESTATIC);
            let callee = callee.and_then(|index| pool.member_constant(index).ok());
            callee.is_some_and(|c| (c.tag, c.member) == (*tag, method.member()))
        }
        Step::Helper(helper) => {
            let callee = index.filter(|_| i.opcode == opcode::INVOKESTATIC);
            let callee = callee.and_then(|index| pool.member_constant(index).ok());
            callee.is_some_and(|c| {
                c.tag == tag::METHODREF
                    && c.member.name_and_type() == helper.name_and_type()
                    && Gate::Helpers.is_of(class, c.member.class)
            })
        }
        Step::Jump(opcode, to) => i.opcode == *opcode && i.target().is_some() && i.target() == place(*to),
    }
}
