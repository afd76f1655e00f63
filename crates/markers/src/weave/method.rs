//! The insertion of markers into a method.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::descriptor::{MethodDescriptor, end_of_parameters};
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Frame, Signature};
use cct_classfile::edit::{Asm, ClassEdit, CodeChanges, CodeEdit, VerificationType};
use cct_classfile::{Bci, ClassFile, Code, ErrorKind, Instruction, Member, access, opcode};
use cct_flow::initialisation;

use super::place::{Place, is_instant};
use super::throwing::{can_throw, is_stored};
use crate::gate::Exit;
use crate::helpers::{Helper, Helpers, Slot};
use crate::places::{MatchedPlace, Spot};
use crate::rules::{Rule, Rules};

/// A region's token: regions that exclude each other share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Token {
    Method(usize),
    Loop(u16, usize),
    /// A loop by its head, if control may enter loops in their middle.
    LoopAt(Bci, usize),
    Block(usize),
    Call(usize),
}

impl Token {
    fn of(found: &MatchedPlace) -> Token {
        match found.spot {
            Spot::Loop { depth: Some(depth), .. } => Token::Loop(depth, found.rule),
            Spot::Loop { .. } => Token::LoopAt(found.bci, found.rule),
            Spot::Block { .. } => Token::Block(found.rule),
            Spot::Call { .. } => Token::Call(found.rule),
            _ => Token::Method(found.rule),
        }
    }
}

/// A method with its markers.
pub(super) struct Method<'m, 'c, 'a> {
    pub(super) class: &'c ClassFile<'a>,
    pub(super) member: &'c Member<'a>,
    pub(super) place: &'m Place<'a>,
    pub(super) rules: &'m Rules,
    pub(super) numbers: &'m [u16],
    pub(super) helpers: &'m Helpers,
    pub(super) list: &'m mut Vec<Option<Helper>>,
    /// The thread's position in its calling-context tree, if the program is also counted.
    pub(super) slot: Option<Slot>,
}

type EditResult<T> = cct_classfile::Result<T>;

impl<'c, 'a> Method<'_, 'c, 'a> {
    pub(super) fn write(&mut self, edit: &mut ClassEdit<'c, 'a>) -> EditResult<(Vec<u8>, Vec<String>)> {
        let signature = Signature::of(self.class, self.member)?;
        let at = signature.argument_slots();
        match self.write_at(edit, &signature, at) {
            // A local of two slots lies across the end of the arguments: append the added locals
            // after all others.
            Err(e) if matches!(e.kind(), ErrorKind::StraddlingLocal(_)) => {
                self.write_at(edit, &signature, self.place.shape.code.max_locals.max(at))
            }
            result => result,
        }
    }

    fn write_at(
        &mut self,
        edit: &mut ClassEdit<'c, 'a>,
        signature: &Signature<'a>,
        at: u16,
    ) -> EditResult<(Vec<u8>, Vec<String>)> {
        let count = self.tokens().len() as u16;
        at.checked_add(count).ok_or(ErrorKind::TooMany("local variables"))?;
        let object = VerificationType::Object(edit.additions.class_named(b"java/lang/Object")?);
        let mut code_edit = CodeEdit::new(&self.place.shape.code, at, &vec![object; count.into()]);
        if let Some(thrown) = self.weave(edit, &mut code_edit, signature, at)? {
            self.catch(edit, &mut code_edit, thrown, at, count)?;
        }
        let mut head = MemberBuilder::new(
            self.member.access_flags,
            self.member.name_index,
            self.member.descriptor_index,
        );
        head.copy_attributes(self.member, |name| name != b"Code");
        let mut names = std::mem::take(&mut edit.names);
        let name = names.code(&mut edit.additions)?;
        let additions = &mut edit.additions;
        let finished =
            head.attribute(name, |out| code_edit.finish(signature, signature, &mut names, additions, out));
        edit.names = names;
        let CodeChanges { dropped, .. } = finished?;
        Ok((head.finish(), dropped))
    }

    /// The tokens of the regions that are kept in locals; regions that exclude each other share a
    /// local.
    fn tokens(&self) -> Vec<Token> {
        let has_token = |found: &&MatchedPlace| self.has_token(found);
        let tokens: BTreeSet<Token> = self.place.found.iter().filter(has_token).map(Token::of).collect();
        tokens.into_iter().collect()
    }

    /// Number of locals that the markers need.
    pub(super) fn token_count(&self) -> usize {
        self.tokens().len()
    }

    /// Inserts the markers into the code; their tokens are in locals from `first` on. Returns the
    /// code to run when an exception leaves the method, if there is any.
    pub(super) fn weave(
        &mut self,
        edit: &mut ClassEdit<'_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        signature: &Signature<'_>,
        first: u16,
    ) -> EditResult<Option<Asm>> {
        let code = &self.place.shape.code;
        let locals: BTreeMap<Token, u16> = self.tokens().into_iter().zip(first..).collect();
        let mut pieces = Pieces::default();
        for (token, local) in &locals {
            // A method that reports its entry at once has its token from the beginning.
            if signature.is_constructor || !matches!(token, Token::Method(_)) {
                pieces.prologue.op(opcode::ACONST_NULL).store(Kind::Reference, *local);
            }
        }
        let usual = if self.slot.is_some() { 6 } else { 4 };
        let mut stack = usual;
        for (found, &number) in self.place.found.iter().zip(self.numbers) {
            let rule = &self.rules.list[found.rule];
            let local = locals.get(&Token::of(found)).copied().filter(|_| self.has_token(found));
            let helper = self.helper(rule, found, number)?;
            stack = stack.max(usual + helper.argument_slots()?);
            self.insert(edit, code_edit, &mut pieces, signature, found, &helper, local)?;
            self.list[usize::from(number)] = Some(helper);
        }
        pieces.insert(edit, self.helpers, code_edit, code)?;
        code_edit.need_stack(stack);
        self.exits(edit, code_edit, &locals, signature)
    }

    /// Whether a location is a region whose end has a report of its own.
    fn has_token(&self, found: &MatchedPlace) -> bool {
        let rule = &self.rules.list[found.rule];
        rule.pair && !is_instant(self.class, self.member, self.place, found, rule)
    }

    fn helper(&self, rule: &Rule, found: &MatchedPlace, number: u16) -> EditResult<Helper> {
        let arguments = match (&found.spot, rule.arguments) {
            (Spot::Method, true) => Some(self.member.descriptor),
            (Spot::Call { .. }, true) => {
                found.detail.iter().rposition(|&b| b == b'(').map(|at| &found.detail[at..])
            }
            _ => None,
        };
        let inner = |descriptor: &[u8]| {
            let end = end_of_parameters(descriptor).unwrap_or(1);
            descriptor[1..end].to_vec()
        };
        let again = rule.pair && matches!(found.spot, Spot::Loop { .. });
        Ok(Helper {
            index: number,
            pair: self.has_token(found),
            again,
            per_object: rule.per_object,
            arguments: arguments.map(inner),
        })
    }

    /// Whether local 0 is `this`, and an initialised object.
    fn has_this(&self, bci: Bci) -> bool {
        let shape = &self.place.shape;
        !self.member.is(access::STATIC)
            && !is_stored(&shape.code, 0)
            && shape.has_this(bci)
            && shape.is_reached(bci)
    }

    #[allow(clippy::too_many_arguments)]
    fn insert(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        pieces: &mut Pieces,
        signature: &Signature<'_>,
        found: &MatchedPlace,
        helper: &Helper,
        local: Option<u16>,
    ) -> EditResult<()> {
        let code = &self.place.shape.code;
        let rule = &self.rules.list[found.rule];
        let bci = found.bci;
        let at = |bci| code.instruction_at(bci).ok_or(ErrorKind::BadTarget(bci));
        let mut asm = Asm::new();
        let finish = |asm: &mut Asm, edit: &mut ClassEdit<'_, '_>| {
            self.helpers.call(edit, helper, self.slot, asm)?;
            if let Some(local) = local {
                asm.store(Kind::Reference, local);
            }
            EditResult::Ok(())
        };
        let this = |asm: &mut Asm, is_there: bool| {
            if rule.receiver && is_there {
                asm.load(Kind::Reference, 0)
            } else {
                asm.op(opcode::ACONST_NULL)
            };
        };
        match &found.spot {
            Spot::Method => {
                let is_constructor = signature.is_constructor;
                let is_object = !signature.is_static && (!is_constructor || !is_stored(code, 0));
                // The object is checked, whether handlers get it or not.
                if rule.per_object {
                    asm.load(Kind::Reference, 0)
                } else {
                    this(&mut asm, is_object);
                    &mut asm
                };
                if rule.arguments {
                    let mut slot = u16::from(!signature.is_static);
                    for argument in signature.descriptor.arguments() {
                        if let Some(kind) = Kind::of(argument) {
                            asm.load(kind, slot);
                        }
                        slot += argument.slots();
                    }
                }
                finish(&mut asm, edit)?;
                if is_constructor {
                    for call in initialisation::initialising_calls(code, &self.class.pool) {
                        code_edit.after(&at(call)?, &asm);
                    }
                } else {
                    pieces.prologue.bytes.extend_from_slice(&asm.bytes);
                }
            }
            Spot::Loop { exits, .. } => {
                if let Some(local) = local {
                    asm.load(Kind::Reference, local);
                    pieces.exits_at(exits, local);
                }
                this(&mut asm, self.has_this(bci));
                finish(&mut asm, edit)?;
                pieces.at(bci).enters.push(asm);
            }
            Spot::Block { exits } => {
                if let Some(local) = local {
                    pieces.exits_at(exits, local);
                }
                this(&mut asm, self.has_this(bci));
                finish(&mut asm, edit)?;
                pieces.at(bci).enters.push(asm);
            }
            Spot::LoopHeader | Spot::Line => {
                this(&mut asm, self.has_this(bci));
                finish(&mut asm, edit)?;
                pieces.at(bci).enters.push(asm);
            }
            Spot::Handler => {
                asm.op(if rule.receiver { opcode::DUP } else { opcode::ACONST_NULL });
                finish(&mut asm, edit)?;
                pieces.at(bci).enters.push(asm);
            }
            Spot::Call { exits } => {
                let call = at(bci)?;
                self.before_call(code_edit, &call, rule, &mut asm, |asm| finish(asm, edit))?;
                pieces.at(bci).enters.push(asm);
                if let Some(local) = local {
                    pieces.exits_at(exits, local);
                    let mut after = Asm::new();
                    let how = if rule.result { self.exit_of_call(&call)? } else { Exit::Normal };
                    self.leave(edit, local, how, &mut after)?;
                    after.op(opcode::ACONST_NULL).store(Kind::Reference, local);
                    code_edit.after(&call, &after);
                }
            }
            Spot::Allocation { made_by: Some(made_by) } => {
                asm.op(if rule.receiver { opcode::DUP } else { opcode::ACONST_NULL });
                finish(&mut asm, edit)?;
                code_edit.after(&at(*made_by)?, &asm);
            }
            Spot::Allocation { made_by: None } => {
                asm.op(opcode::ACONST_NULL);
                finish(&mut asm, edit)?;
                pieces.at(bci).enters.push(asm);
            }
            Spot::FieldRead | Spot::FieldWrite => {
                self.before_field(&at(bci)?, rule, &mut asm)?;
                finish(&mut asm, edit)?;
                pieces.at(bci).enters.push(asm);
            }
        }
        Ok(())
    }

    /// Moves the object and the arguments of a call from the stack to locals as far as necessary,
    /// and back.
    fn before_call(
        &self,
        code_edit: &mut CodeEdit<'_, '_>,
        call: &Instruction<'_>,
        rule: &Rule,
        asm: &mut Asm,
        notify: impl FnOnce(&mut Asm) -> EditResult<()>,
    ) -> EditResult<()> {
        let pool = &self.class.pool;
        let index = call.pool_index().ok_or(ErrorKind::BadTarget(call.bci))?;
        let callee = match call.opcode {
            opcode::INVOKEDYNAMIC => pool.dynamic(index)?.1,
            _ => pool.member_ref(index)?.name_and_type(),
        };
        let descriptor = MethodDescriptor::parse(callee.descriptor)?;
        let has_object = !matches!(call.opcode, opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC)
            && callee.name != b"<init>"
            && rule.receiver;
        if !rule.arguments && !has_object {
            asm.op(opcode::ACONST_NULL);
            return notify(asm);
        }
        let first = code_edit.scratch(descriptor.argument_slots())?;
        let mut places = Vec::new();
        let mut slot = first;
        for argument in descriptor.arguments() {
            places.extend(Kind::of(argument).map(|kind| (kind, slot)));
            slot += argument.slots();
        }
        for &(kind, slot) in places.iter().rev() {
            asm.store(kind, slot);
        }
        asm.op(if has_object { opcode::DUP } else { opcode::ACONST_NULL });
        if rule.arguments {
            places.iter().for_each(|&(kind, slot)| {
                asm.load(kind, slot);
            });
        }
        notify(asm)?;
        for &(kind, slot) in &places {
            asm.load(kind, slot);
        }
        Ok(())
    }

    /// Reports the exit of a region. A reported result is on top of the stack, and stays there.
    fn leave(&self, edit: &mut ClassEdit<'_, '_>, local: u16, how: Exit, asm: &mut Asm) -> EditResult<()> {
        if matches!(how, Exit::Result | Exit::Answer) {
            asm.op(opcode::DUP).load(Kind::Reference, local).op(opcode::SWAP);
        } else {
            asm.load(Kind::Reference, local);
        }
        self.helpers.exit(edit, how, asm)
    }

    /// The exit after a call that reports what the call returns.
    fn exit_of_call(&self, call: &Instruction<'_>) -> EditResult<Exit> {
        let pool = &self.class.pool;
        let index = call.pool_index().ok_or(ErrorKind::BadTarget(call.bci))?;
        let descriptor = match call.opcode {
            opcode::INVOKEDYNAMIC => pool.dynamic(index)?.1.descriptor,
            _ => pool.member_ref(index)?.descriptor,
        };
        exit_with(descriptor)
    }

    fn before_field(&self, access: &Instruction<'_>, rule: &Rule, asm: &mut Asm) -> EditResult<()> {
        let index = access.pool_index().ok_or(ErrorKind::BadTarget(access.bci))?;
        let field = self.class.pool.member_ref(index)?;
        let slots = cct_classfile::descriptor::field_type(field.descriptor)?.slots();
        match access.opcode {
            opcode::GETFIELD if rule.receiver => asm.op(opcode::DUP),
            // Before super() it may be an uninitialised object.
            opcode::PUTFIELD if rule.receiver && self.place.shape.has_this(access.bci) => match slots {
                1 => asm.op(opcode::DUP2).op(opcode::POP),
                _ => asm.op(opcode::DUP2_X1).op(opcode::POP2).op(opcode::DUP_X2),
            },
            _ => asm.op(opcode::ACONST_NULL),
        };
        Ok(())
    }

    /// Adds the exits of the method by returns. Returns the code to run for exceptions that it does
    /// not catch.
    fn exits(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        locals: &BTreeMap<Token, u16>,
        signature: &Signature<'_>,
    ) -> EditResult<Option<Asm>> {
        if locals.is_empty() {
            return Ok(None);
        }
        let code = &self.place.shape.code;
        for instruction in code.instructions().filter(|i| opcode::is_return(i.opcode)) {
            let mut asm = Asm::new();
            for (token, &local) in locals.iter().rev() {
                let has_result = matches!(token, Token::Method(rule) if self.rules.list[*rule].result);
                let how = if has_result { exit_with(self.member.descriptor)? } else { Exit::Normal };
                let with = [(Exit::Result, opcode::ARETURN), (Exit::Answer, opcode::IRETURN)];
                if with.contains(&(how, instruction.opcode)) {
                    self.leave(edit, local, how, &mut asm)?;
                    continue;
                }
                asm.load(Kind::Reference, local);
                let is_made = matches!(token, Token::Method(rule) if self.rules.list[*rule].receiver)
                    && signature.is_constructor
                    && self.has_this(instruction.bci);
                if is_made {
                    asm.load(Kind::Reference, 0);
                }
                self.helpers.exit(edit, if is_made { Exit::With } else { Exit::Normal }, &mut asm)?;
            }
            code_edit.before(instruction.bci, &asm);
        }
        if !can_throw(self.class, self.member, code) {
            return Ok(None);
        }
        let mut asm = Asm::new();
        for &local in locals.values().rev() {
            asm.load(Kind::Reference, local);
            self.helpers.exit(edit, Exit::Thrown, &mut asm)?;
        }
        Ok(Some(asm))
    }

    /// Adds a handler for all exceptions that leave the method; in a constructor once `this` is
    /// initialised, before which there is no token.
    fn catch(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        code_edit: &mut CodeEdit<'_, '_>,
        mut asm: Asm,
        at: u16,
        tokens: u16,
    ) -> EditResult<()> {
        asm.op(opcode::ATHROW);
        let throwable = edit.additions.class_named(b"java/lang/Throwable")?;
        let mut types = vec![VerificationType::Top; at.into()];
        let object = VerificationType::Object(edit.additions.class_named(b"java/lang/Object")?);
        types.resize(usize::from(at) + usize::from(tokens), object);
        let handler =
            code_edit.handler(asm, Frame { locals: types, stack: vec![VerificationType::Object(throwable)] });
        match &self.place.shape.regions {
            None => code_edit.catch_all(0, self.place.shape.code.length(), handler),
            Some(regions) => regions
                .iter()
                .filter(|region| region.initialised)
                .for_each(|region| code_edit.catch_all(region.start, region.end, handler)),
        }
        Ok(())
    }
}

/// The exit of a method with this descriptor that reports the result: an object, an array or a
/// boolean. Other results are not reported.
fn exit_with(descriptor: &[u8]) -> EditResult<Exit> {
    Ok(match (descriptor.ends_with(b")Z"), Kind::of(MethodDescriptor::parse(descriptor)?.result)) {
        (true, _) => Exit::Answer,
        (false, Some(Kind::Reference)) => Exit::Result,
        _ => Exit::Normal,
    })
}

/// The code to insert at the labels of a method.
#[derive(Default)]
struct Pieces {
    prologue: Asm,
    labels: BTreeMap<Bci, Label>,
}

#[derive(Default)]
struct Label {
    /// Tokens of regions that control may leave there.
    exits: BTreeSet<u16>,
    enters: Vec<Asm>,
}

impl Pieces {
    fn at(&mut self, bci: Bci) -> &mut Label {
        self.labels.entry(bci).or_default()
    }

    fn exits_at(&mut self, exits: &[Bci], local: u16) {
        for &exit in exits {
            self.at(exit).exits.insert(local);
        }
    }

    fn insert(
        self,
        edit: &mut ClassEdit<'_, '_>,
        helpers: &Helpers,
        code_edit: &mut CodeEdit<'_, '_>,
        code: &Code<'_>,
    ) -> EditResult<()> {
        if !self.prologue.bytes.is_empty() {
            code_edit.prologue(&self.prologue);
        }
        for (bci, label) in self.labels {
            let is_handler = code.handlers.iter().any(|handler| handler.handler == bci);
            let mut asm = Asm::new();
            for &local in label.exits.iter().rev() {
                asm.load(Kind::Reference, local);
                helpers.exit(edit, if is_handler { Exit::Thrown } else { Exit::Normal }, &mut asm)?;
                asm.op(opcode::ACONST_NULL).store(Kind::Reference, local);
            }
            for enter in label.enters {
                asm.bytes.extend_from_slice(&enter.bytes);
            }
            code_edit.before(bci, &asm);
        }
        Ok(())
    }
}
