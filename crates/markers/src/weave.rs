//! Marking a class: calls at the places that rules match, what these calls need, and the attribute that says what was marked.
//!
//! A region that was entered has a token that is not 0, in a local of the method; who leaves it says the token, and what leaves it unseen, an exception above all,
//! is found out by the next one who does. So exits can stand wherever control may come from a region, and say nothing when it comes from elsewhere; each
//! entry that was told has its exit, whatever is enabled or disabled between them.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::{Frame, Signature};
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit, Finished, VerificationType};
use cct_classfile::{Bci, ClassFile, Code, ErrorKind, Member, access, mutf8, opcode};
use cct_flow::initialisation;

use crate::attribute::{self, Descriptor};
use crate::helpers::{Exit, Helper, Helpers, PREFIX};
use crate::places::{self, Found, Refusal, Shape, Spot};
use crate::rules::{At, Rule, Rules};
use crate::world::World;

/// Markers of a class: the code that hands its descriptors over has eight bytes for each.
const MOST: usize = 4096;

/// Why a class cannot be marked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is damaged.
    #[error(transparent)]
    Class(#[from] cct_classfile::Error),
    /// It was marked before.
    #[error("class {0} has markers already; give the original instead")]
    AlreadyMarked(String),
    /// It uses a name of ours.
    #[error("class {class} declares {member}, a name that markers need for themselves")]
    NameTaken {
        /// The class.
        class: String,
        /// Its member.
        member: String,
    },
}

type Result<T, E = Error> = std::result::Result<T, E>;

/// A class after its markers.
#[derive(Debug, Clone, Default)]
pub struct Marked {
    /// The new class file; `None` if nothing in it is marked.
    pub bytes: Option<Vec<u8>>,
    /// Its markers.
    pub descriptors: Vec<Descriptor>,
    /// By whose rules they are, by positions.
    pub rules: Vec<usize>,
    /// What was matched and is not marked, or not as its rule says.
    pub refused: Vec<Refusal>,
    /// Attributes of code that are unknown, may hold bytecode indices, and were left out.
    pub dropped_attributes: Vec<String>,
}

/// A method with places.
struct Place<'a> {
    position: usize,
    shape: Shape<'a>,
    found: Vec<Found>,
}

/// Marks a class by the rules; `world` knows what is above which class.
pub fn mark(bytes: &[u8], rules: &Rules, world: &World) -> Result<Marked> {
    let class = ClassFile::parse(bytes)?;
    mark_class(&class, rules, world).map_err(|error| match error {
        Error::Class(error) => Error::Class(class.locate(error)),
        other => other,
    })
}

/// What the rules match in a class, without marking it.
pub fn matches(class: &ClassFile<'_>, rules: &Rules, world: &World) -> Result<Marked> {
    let of_class = places::of_class(class, rules, world);
    let mut marked = Marked::default();
    if of_class.is_empty() || class.is(access::MODULE) {
        return Ok(marked);
    }
    let places = find(class, &of_class, rules, &BTreeSet::new(), &mut marked.refused)?;
    for (descriptor, rule) in describe(class, &places, rules) {
        marked.descriptors.push(descriptor);
        marked.rules.push(rule);
    }
    Ok(marked)
}

fn mark_class(class: &ClassFile<'_>, rules: &Rules, world: &World) -> Result<Marked> {
    let of_class = places::of_class(class, rules, world);
    if of_class.is_empty() || class.is(access::MODULE) {
        return Ok(Marked::default());
    }
    let mut left_out = BTreeSet::new();
    let mut refused_for_size = Vec::new();
    loop {
        let mut marked = Marked { refused: refused_for_size.clone(), ..Marked::default() };
        let places = find(class, &of_class, rules, &left_out, &mut marked.refused)?;
        if places.is_empty() {
            return Ok(marked);
        }
        check_names(class)?;
        let mut refuse = |place: &Place<'_>, why| {
            let method = method_name(class, &class.methods[place.position]);
            let rules: BTreeSet<usize> = place.found.iter().map(|found| found.rule).collect();
            refused_for_size
                .extend(rules.into_iter().map(|rule| Refusal { rule, method: method.clone(), why }));
            left_out.insert(place.position);
        };
        match write(class, &places, rules, &mut marked) {
            Ok(()) => return Ok(marked),
            Err((Some(at), error)) if is_outgrown(&error) => {
                refuse(&places[at], "it would be larger than methods may be");
            }
            Err((None, error)) if matches!(error.kind(), ErrorKind::PoolTooLarge | ErrorKind::TooMany(_)) => {
                for place in &places {
                    refuse(place, "its class has no room for more constants or members");
                }
            }
            Err((_, error)) => return Err(error.into()),
        }
    }
}

fn is_outgrown(error: &cct_classfile::Error) -> bool {
    matches!(error.kind(), ErrorKind::MethodTooLarge(_) | ErrorKind::JumpTooFar(_) | ErrorKind::TooMany(_))
}

fn method_name(class: &ClassFile<'_>, member: &Member<'_>) -> String {
    let name = [class.name(), b".", member.name, member.descriptor].concat();
    mutf8::decode_lossy(&name).into_owned()
}

fn check_names(class: &ClassFile<'_>) -> Result<()> {
    let name = || mutf8::decode_lossy(class.name()).into_owned();
    if class.attributes.find(attribute::NAME).is_some() {
        return Err(Error::AlreadyMarked(name()));
    }
    let taken = [&b"markers"[..], b"skipped", b"table", b"exit", b"thrown", b"enter$", b"at$"];
    let is_ours = |member: &&Member<'_>| {
        let rest = member.name.strip_prefix(PREFIX);
        rest.is_some_and(|rest| taken.iter().any(|taken| rest.starts_with(taken)))
    };
    match class.methods.iter().chain(&class.fields).find(is_ours) {
        None => Ok(()),
        Some(member) => Err(Error::NameTaken {
            class: name(),
            member: mutf8::decode_lossy(member.name).into_owned(),
        }),
    }
}

/// All places of a class, by methods.
fn find<'a>(
    class: &ClassFile<'a>,
    of_class: &[(usize, &Rule)],
    rules: &Rules,
    left_out: &BTreeSet<usize>,
    refused: &mut Vec<Refusal>,
) -> Result<Vec<Place<'a>>> {
    let mut places = Vec::new();
    let mut total = 0;
    for (position, member) in class.methods.iter().enumerate() {
        let matching: Vec<(usize, &Rule)> = of_class
            .iter()
            .copied()
            .filter(|(_, rule)| places::matches_method(class, member, rule))
            .collect();
        if matching.is_empty() || left_out.contains(&position) || member.name.starts_with(PREFIX) {
            continue;
        }
        let mut refuse = |rule, why| {
            refused.push(Refusal { rule, method: method_name(class, member), why });
        };
        for (rule, why) in matching.iter().filter_map(|&(r, rule)| Some((r, places::refusal(member, rule)?))) {
            refuse(rule, why);
        }
        let Some(code) = Code::of(class, member).map_err(|e| member.locate(e))? else { continue };
        let mut shape = Shape::of(class, member, code);
        let mut found = Vec::new();
        for &(number, rule) in &matching {
            let (some, reasons) =
                places::find(class, &mut shape, number, rule).map_err(|e| member.locate(e))?;
            let count = found.len();
            for one in some {
                match objection(class, member, &shape, rule, &one) {
                    Some(why) => refuse(number, why),
                    None => found.push(one),
                }
            }
            if found.len() > count && total + found.len() > MOST {
                found.truncate(count);
                refuse(number, "its class has more markers than 4096 already");
            }
            for why in reasons {
                refuse(number, why);
            }
        }
        // In the order in which they are entered.
        found.sort_by_key(|one| (one.bci, rules.list[one.rule].at, one.rule));
        total += found.len();
        if !found.is_empty() {
            places.push(Place { position, shape, found });
        }
    }
    Ok(places)
}

/// Why a place cannot be marked.
fn objection(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    shape: &Shape<'_>,
    rule: &Rule,
    found: &Found,
) -> Option<&'static str> {
    if class.is_interface() && class.major_version < 52 {
        return Some("it stands in an interface of a version below 52, which can have no methods to call");
    }
    if [member.name, member.descriptor, &found.detail].iter().any(|text| text.contains(&1)) {
        return Some("a name has a control character");
    }
    if member.name.len() + member.descriptor.len() + found.detail.len() > 60_000 {
        return Some("its names are too long for a descriptor");
    }
    if member.name == b"finalize" && member.descriptor == b"()V" && shape.code.bytes == [opcode::RETURN] {
        return Some("an empty finalize(): with code in it, the JVM would keep its objects to run it");
    }
    if let Some(regions) = &shape.regions {
        if rule.at == At::Method && regions.is_empty() {
            return Some("a constructor whose paths disagree on whether this() or super() was called");
        }
        if rule.at != At::Method && rule.pair && !shape.has_this(found.bci) {
            return Some("a region in a constructor before this() or super() has returned, where exceptions cannot be caught");
        }
    }
    if rule.per_object {
        let has_object = !member.is(access::STATIC) && !class.is_interface() && member.name != b"<init>";
        if !has_object || class.attributes.find(b"Record").is_some() {
            return Some(
                "per-object is for methods of classes with objects of their own: no static ones, constructors, interfaces and records",
            );
        }
    }
    let arguments = match (&found.spot, rule.arguments) {
        (Spot::Method, true) => MethodDescriptor::parse(member.descriptor).ok(),
        (Spot::Call { .. }, true) => {
            let opening = found.detail.iter().rposition(|&b| b == b'(');
            opening.and_then(|at| MethodDescriptor::parse(&found.detail[at..]).ok())
        }
        _ => None,
    };
    if arguments.is_some_and(|descriptor| descriptor.argument_slots() > 253) {
        return Some("its arguments are too many to be handed over");
    }
    if rule.arguments && member.name == b"<init>" && rule.at == At::Method {
        let slots = MethodDescriptor::parse(member.descriptor).map_or(0, |d| d.argument_slots());
        if (1..=slots).any(|slot| is_stored(&shape.code, slot)) {
            return Some("a constructor that gives its parameters other values: the arguments are gone when super() has returned");
        }
    }
    None
}

/// Whether code writes to a local.
fn is_stored(code: &Code<'_>, slot: u16) -> bool {
    code.instructions().any(|i| {
        let stores = (opcode::ISTORE..=opcode::ASTORE_3).contains(&i.opcode) || i.opcode == opcode::IINC;
        stores && i.local().is_some_and(|(local, two)| local == slot || two && local + 1 == slot)
    })
}

/// What the class says of its markers, in the order of their numbers: those that ask objects first, since these have bits for 32.
fn describe(class: &ClassFile<'_>, places: &[Place<'_>], rules: &Rules) -> Vec<(Descriptor, usize)> {
    let mut all = Vec::new();
    for place in places {
        let member = &class.methods[place.position];
        for found in &place.found {
            let rule = &rules.list[found.rule];
            let descriptor = Descriptor {
                token: rule.token.clone(),
                predicate: rule.predicate.clone(),
                pair: rule.pair,
                per_object: rule.per_object,
                place: rule.at.name().to_owned(),
                method: member.name.into(),
                descriptor: member.descriptor.into(),
                bci: found.bci,
                line: place.shape.line(found.bci),
                detail: found.detail.clone().into(),
            };
            all.push((descriptor, found.rule));
        }
    }
    all
}

type Written = std::result::Result<(), (Option<usize>, cct_classfile::Error)>;

fn write(class: &ClassFile<'_>, places: &[Place<'_>], rules: &Rules, marked: &mut Marked) -> Written {
    let whole = |error| (None, error);
    let described = describe(class, places, rules);
    // A marker's number by its position among all.
    let mut order: Vec<usize> = (0..described.len()).collect();
    order.sort_by_key(|&at| !described[at].0.per_object);
    if described.iter().filter(|(descriptor, _)| descriptor.per_object).count() > 32 {
        let error = ErrorKind::TooMany("markers that ask objects in a class; 32 at most");
        return Err((None, error.into()));
    }
    let mut numbers = vec![0u16; described.len()];
    for (number, &at) in order.iter().enumerate() {
        numbers[at] = number as u16;
    }
    let mut edit = ClassEdit::new(class);
    let helpers = Helpers::new(&edit);
    let mut list: Vec<Option<Helper>> = vec![None; described.len()];
    let mut at = 0;
    for (which, place) in places.iter().enumerate() {
        let numbers = &numbers[at..at + place.found.len()];
        at += place.found.len();
        let member = &class.methods[place.position];
        let mut method = Method { class, member, place, rules, numbers, helpers: &helpers, list: &mut list };
        let (bytes, dropped) =
            method.write(&mut edit).map_err(|error| (Some(which), member.locate(error)))?;
        edit.replace_method(place.position, bytes);
        marked.dropped_attributes.extend(dropped);
    }
    let mut descriptors: Vec<Option<(Descriptor, usize)>> = vec![None; described.len()];
    for (position, described) in described.into_iter().enumerate() {
        descriptors[usize::from(numbers[position])] = Some(described);
    }
    for (descriptor, rule) in descriptors.into_iter().flatten() {
        marked.descriptors.push(descriptor);
        marked.rules.push(rule);
    }
    let texts: Vec<Vec<u8>> = marked.descriptors.iter().map(Descriptor::text).collect();
    let list: Vec<Helper> = list.into_iter().flatten().collect();
    helpers.add(&mut edit, &list, &texts).map_err(whole)?;
    edit.add_attribute(attribute::NAME, attribute::write(&marked.descriptors)).map_err(whole)?;
    marked.bytes = Some(edit.finish().map_err(whole)?);
    Ok(())
}

/// A region's token: regions that exclude each other share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Token {
    Method(usize),
    Loop(u16, usize),
    /// By its head, where loops may be entered in their middle.
    LoopAt(Bci, usize),
    Block(usize),
    Call(usize),
}

impl Token {
    fn of(found: &Found) -> Token {
        match found.spot {
            Spot::Loop { depth: Some(depth), .. } => Token::Loop(depth, found.rule),
            Spot::Loop { .. } => Token::LoopAt(found.bci, found.rule),
            Spot::Block { .. } => Token::Block(found.rule),
            Spot::Call { .. } => Token::Call(found.rule),
            _ => Token::Method(found.rule),
        }
    }
}

/// A method that gets its markers.
struct Method<'m, 'c, 'a> {
    class: &'c ClassFile<'a>,
    member: &'c Member<'a>,
    place: &'m Place<'a>,
    rules: &'m Rules,
    numbers: &'m [u16],
    helpers: &'m Helpers,
    list: &'m mut Vec<Option<Helper>>,
}

type Edited<T> = cct_classfile::Result<T>;

impl<'c, 'a> Method<'_, 'c, 'a> {
    fn write(&mut self, edit: &mut ClassEdit<'c, 'a>) -> Edited<(Vec<u8>, Vec<String>)> {
        let signature = Signature::of(self.class, self.member)?;
        let at = signature.argument_slots();
        match self.write_at(edit, &signature, at) {
            // Some local of two slots lies across the end of the arguments: ours go behind all others.
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
    ) -> Edited<(Vec<u8>, Vec<String>)> {
        let code = &self.place.shape.code;
        let is_pair = |found: &&Found| self.rules.list[found.rule].pair;
        let tokens: BTreeSet<Token> = self.place.found.iter().filter(is_pair).map(Token::of).collect();
        let tokens: Vec<Token> = tokens.into_iter().collect();
        let count = u16::try_from(tokens.len()).ok().filter(|count| at.checked_add(*count).is_some());
        let count = count.ok_or(ErrorKind::TooMany("local variables"))?;
        let mut code_edit = CodeEdit::new(code, at, &vec![VerificationType::Integer; count.into()]);
        let locals: BTreeMap<Token, u16> = tokens.iter().copied().zip(at..).collect();
        let mut pieces = Pieces::default();
        for local in locals.values() {
            pieces.prologue.int(0).store(Kind::Int, *local);
        }
        let mut stack = 4;
        for (found, &number) in self.place.found.iter().zip(self.numbers) {
            let rule = &self.rules.list[found.rule];
            let local = locals.get(&Token::of(found)).copied().filter(|_| rule.pair);
            let helper = self.helper(rule, found, number)?;
            stack = stack.max(4 + helper.arguments.as_ref().map_or(0, |a| a.len() as u16));
            self.insert(edit, &mut code_edit, &mut pieces, signature, found, &helper, local)?;
            self.list[usize::from(number)] = Some(helper);
        }
        pieces.insert(edit, self.helpers, &mut code_edit, code)?;
        self.exits(edit, &mut code_edit, &locals, signature, at)?;
        code_edit.need_stack(stack);
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
        let Finished { dropped, .. } = finished?;
        Ok((head.finish(), dropped))
    }

    fn helper(&self, rule: &Rule, found: &Found, number: u16) -> Edited<Helper> {
        let arguments = match (&found.spot, rule.arguments) {
            (Spot::Method, true) => Some(self.member.descriptor),
            (Spot::Call { .. }, true) => {
                found.detail.iter().rposition(|&b| b == b'(').map(|at| &found.detail[at..])
            }
            _ => None,
        };
        let inner = |descriptor: &[u8]| {
            let end = descriptor.iter().rposition(|&b| b == b')').unwrap_or(1);
            descriptor[1..end].to_vec()
        };
        let again = rule.pair && matches!(found.spot, Spot::Loop { .. });
        Ok(Helper {
            index: number,
            pair: rule.pair,
            again,
            per_object: rule.per_object,
            arguments: arguments.map(inner),
        })
    }

    /// Whether local 0 is `this`, and an object.
    fn has_this(&self, bci: Bci) -> bool {
        let shape = &self.place.shape;
        !self.member.is(access::STATIC) && !is_stored(&shape.code, 0) && shape.has_this(bci) && shape.is_reached(bci)
    }

    #[allow(clippy::too_many_arguments)]
    fn insert(
        &self,
        edit: &mut ClassEdit<'c, 'a>,
        code_edit: &mut CodeEdit<'_, 'a>,
        pieces: &mut Pieces,
        signature: &Signature<'a>,
        found: &Found,
        helper: &Helper,
        local: Option<u16>,
    ) -> Edited<()> {
        let code = &self.place.shape.code;
        let rule = &self.rules.list[found.rule];
        let bci = found.bci;
        let at = |bci| code.instruction_at(bci).ok_or(ErrorKind::BadTarget(bci));
        let mut asm = Asm::new();
        let finish = |asm: &mut Asm, edit: &mut ClassEdit<'c, 'a>| {
            self.helpers.call(edit, helper, asm)?;
            if let Some(local) = local {
                asm.store(Kind::Int, local);
            }
            Edited::Ok(())
        };
        let this = |asm: &mut Asm, is_there: bool| {
            match rule.receiver && is_there {
                true => asm.load(Kind::Reference, 0),
                false => asm.op(opcode::ACONST_NULL),
            };
        };
        match &found.spot {
            Spot::Method => {
                let is_constructor = signature.is_constructor;
                let is_object = !signature.is_static && (!is_constructor || !is_stored(code, 0));
                // The object is asked, whether handlers get it or not.
                match rule.per_object {
                    true => asm.load(Kind::Reference, 0),
                    false => {
                        this(&mut asm, is_object);
                        &mut asm
                    }
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
                    asm.load(Kind::Int, local);
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
                    after.load(Kind::Int, local);
                    self.helpers.exit(edit, Exit::Normal, &mut after)?;
                    after.store(Kind::Int, local);
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

    /// The object and the arguments of a call are on the stack: they are put aside as far as they are in the way, and back.
    fn before_call(
        &self,
        code_edit: &mut CodeEdit<'_, 'a>,
        call: &cct_classfile::Instruction<'_>,
        rule: &Rule,
        asm: &mut Asm,
        tell: impl FnOnce(&mut Asm) -> Edited<()>,
    ) -> Edited<()> {
        let pool = &self.class.pool;
        let index = call.pool_index().ok_or(ErrorKind::BadTarget(call.bci))?;
        let (name, descriptor) = match call.opcode {
            opcode::INVOKEDYNAMIC => {
                let (_, name, descriptor) = pool.dynamic(index)?;
                (name, descriptor)
            }
            _ => {
                let callee = pool.member_ref(index)?;
                (callee.name, callee.descriptor)
            }
        };
        let descriptor = MethodDescriptor::parse(descriptor)?;
        let has_object = !matches!(call.opcode, opcode::INVOKESTATIC | opcode::INVOKEDYNAMIC)
            && name != b"<init>"
            && rule.receiver;
        if !rule.arguments && !has_object {
            asm.op(opcode::ACONST_NULL);
            return tell(asm);
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
        tell(asm)?;
        for &(kind, slot) in &places {
            asm.load(kind, slot);
        }
        Ok(())
    }

    fn before_field(&self, access: &cct_classfile::Instruction<'_>, rule: &Rule, asm: &mut Asm) -> Edited<()> {
        let index = access.pool_index().ok_or(ErrorKind::BadTarget(access.bci))?;
        let field = self.class.pool.member_ref(index)?;
        let slots = cct_classfile::descriptor::field_type(field.descriptor)?.slots();
        match access.opcode {
            opcode::GETFIELD if rule.receiver => asm.op(opcode::DUP),
            // Before super() it may be an object that is none yet.
            opcode::PUTFIELD if rule.receiver && self.place.shape.has_this(access.bci) => match slots {
                1 => asm.op(opcode::DUP2).op(opcode::POP),
                _ => asm.op(opcode::DUP2_X1).op(opcode::POP2).op(opcode::DUP_X2),
            },
            _ => asm.op(opcode::ACONST_NULL),
        };
        Ok(())
    }

    /// The ways out of the method: returns, and exceptions that it does not catch.
    fn exits(
        &self,
        edit: &mut ClassEdit<'c, 'a>,
        code_edit: &mut CodeEdit<'_, 'a>,
        locals: &BTreeMap<Token, u16>,
        signature: &Signature<'a>,
        at: u16,
    ) -> Edited<()> {
        if locals.is_empty() {
            return Ok(());
        }
        let code = &self.place.shape.code;
        for instruction in code.instructions().filter(|i| opcode::is_return(i.opcode)) {
            let mut asm = Asm::new();
            for (token, &local) in locals.iter().rev() {
                asm.load(Kind::Int, local);
                let is_made = matches!(token, Token::Method(rule) if self.rules.list[*rule].receiver)
                    && signature.is_constructor
                    && self.has_this(instruction.bci);
                if is_made {
                    asm.load(Kind::Reference, 0);
                }
                self.helpers.exit(edit, if is_made { Exit::With } else { Exit::Normal }, &mut asm)?;
                asm.op(opcode::POP);
            }
            code_edit.before(instruction.bci, &asm);
        }
        let mut asm = Asm::new();
        for &local in locals.values().rev() {
            asm.load(Kind::Int, local);
            self.helpers.exit(edit, Exit::Thrown, &mut asm)?;
            asm.op(opcode::POP);
        }
        asm.op(opcode::ATHROW);
        let throwable = edit.additions.class_named(b"java/lang/Throwable")?;
        let mut types = vec![VerificationType::Top; at.into()];
        types.resize(usize::from(at) + locals.len(), VerificationType::Integer);
        let handler =
            code_edit.handler(asm, Frame { locals: types, stack: vec![VerificationType::Object(throwable)] });
        match &self.place.shape.regions {
            None => code_edit.catch_all(0, code.length(), handler),
            Some(regions) => regions
                .iter()
                .filter(|region| region.initialised)
                .for_each(|region| code_edit.catch_all(region.start, region.end, handler)),
        }
        Ok(())
    }
}

/// What is inserted at the labels of a method.
#[derive(Default)]
struct Pieces {
    prologue: Asm,
    labels: BTreeMap<Bci, Label>,
}

#[derive(Default)]
struct Label {
    /// Tokens of regions that may have been left.
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

    fn insert<'c, 'a>(
        self,
        edit: &mut ClassEdit<'c, 'a>,
        helpers: &Helpers,
        code_edit: &mut CodeEdit<'_, 'a>,
        code: &Code<'a>,
    ) -> Edited<()> {
        if !self.prologue.bytes.is_empty() {
            code_edit.prologue(&self.prologue);
        }
        for (bci, label) in self.labels {
            let is_handler = code.handlers.iter().any(|handler| handler.handler == bci);
            let mut asm = Asm::new();
            for &local in label.exits.iter().rev() {
                asm.load(Kind::Int, local);
                helpers.exit(edit, if is_handler { Exit::Thrown } else { Exit::Normal }, &mut asm)?;
                asm.store(Kind::Int, local);
            }
            for enter in label.enters {
                asm.bytes.extend_from_slice(&enter.bytes);
            }
            code_edit.before(bci, &asm);
        }
        Ok(())
    }
}
