//! Rewriting one class by the plan.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::edit::ClassEdit;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::Signature;
use cct_classfile::{Bci, ClassFile, Code, ErrorKind, Instruction, Member, access, opcode};
use cct_flow::{ActivationPlanner, BlockRule};

use crate::body::{self, Analysis, Form};
use crate::carrier::{Constants, Emitter};
use crate::convention;
use crate::error::{Error, Result};
use crate::hooks;
use crate::index::{ClassRecord, ForeignRecord, MethodRecord, method_flags};
use crate::intrinsics;
use crate::local_names;
use crate::mid::{ClassHash, Mid};
use crate::module_descriptor;
use crate::pins::{self, Clock, Pin};
use crate::plan::{CallTarget, Plan, Treatment, with_extension};
use crate::provenance::Provenance;
use crate::report::{ClassReport, Fallback};
use crate::rules;
use crate::settings::Settings;
use crate::survey::{ClassSummary, MethodSummary, annotation_types};
use crate::world::{ClassId, MethodId, World};
use crate::wrappers::{self, Target};

/// Decides by a class's internal name whether it is recorded.
type Recorded = Box<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// Rewrites classes; shared by all threads.
pub struct Rewriter {
    world: World,
    plan: Plan,
    settings: Settings,
    provenance: Provenance,
    /// Which classes are recorded, by internal name.
    recorded: Recorded,
    /// Whether locals without a name get one.
    names_locals: bool,
}

/// A rewritten class.
#[derive(Debug)]
pub struct Rewritten {
    /// The new class file; `None` when the class stays as it is.
    pub bytes: Option<Vec<u8>>,
    /// Its row in the index.
    pub record: Option<ClassRecord>,
    /// What was done to it.
    pub report: ClassReport,
}

thread_local! {
    // One per worker: analyses reuse their memory.
    static PLANNER: RefCell<ActivationPlanner> = RefCell::default();
}

impl Rewriter {
    /// A rewriter for the inputs of a world.
    pub fn new(
        world: World,
        settings: Settings,
        provenance: Provenance,
        recorded: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
    ) -> Result<Self> {
        let plan = Plan::new(&world, settings.intrinsics)?;
        let names_locals = world
            .class_named(b"java/lang/NullPointerException")
            .is_some_and(|id| tells_of_null_references(&world[id].summary));
        Ok(Rewriter { world, plan, settings, provenance, recorded: Box::new(recorded), names_locals })
    }

    /// For a world that need not have `NullPointerException` in it: whether the one of the class library
    /// [tells of null references](tells_of_null_references).
    pub fn with_local_names(self, names_locals: bool) -> Self {
        Rewriter { names_locals, ..self }
    }

    /// The world.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The provenance of the outputs.
    pub fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    /// How an invocation in `class`, which is `caller` in the world, calls its callee. One that is not recorded is not counted.
    pub fn call_target<'x>(
        &'x self,
        caller: ClassId,
        class: &ClassFile<'x>,
        invocation: &Instruction<'_>,
    ) -> cct_classfile::Result<CallTarget<'x>> {
        let target = match invocation.pool_index() {
            Some(index) if invocation.opcode != opcode::INVOKEDYNAMIC => {
                let callee = class.pool.member_ref(index)?;
                self.plan.call_target(&self.world, caller, invocation.opcode, &callee)
            }
            _ => CallTarget::Stored { known: true },
        };
        Ok(match target {
            CallTarget::Counted(f) | CallTarget::Dispatched(f) if !(self.recorded)(f.class) => {
                CallTarget::Stored { known: true }
            }
            other => other,
        })
    }

    /// Rewrites a class that was surveyed as an input.
    pub fn rewrite(&self, bytes: &[u8]) -> Result<Rewritten> {
        let class = ClassFile::parse(bytes)?;
        let not_surveyed = || Error::NotSurveyed(crate::plan::lossy(class.name()));
        let id = self.world.class_hashed(ClassHash::of(bytes)).ok_or_else(not_surveyed)?;
        self.rewrite_as(&class, id)
    }

    /// Rewrites the class that is `id` in the world. Its method ids follow from the hash in its summary.
    pub fn rewrite_as(&self, class: &ClassFile<'_>, id: ClassId) -> Result<Rewritten> {
        if class.is(access::MODULE) {
            let bytes = module_descriptor::without(class, module_descriptor::HASHES);
            return Ok(Rewritten { bytes, record: None, report: ClassReport::untouched(class.name()) });
        }
        ClassRewriter::new(self, class, id).run().map_err(|e| match e {
            Error::Class(e) => Error::Class(class.locate(e)),
            other => other,
        })
    }
}

/// Whether `NullPointerException` is that of a JVM whose messages name locals, or number them (JEP 358; JDK 14).
pub fn tells_of_null_references(exception: &ClassSummary) -> bool {
    exception.methods.iter().any(|m| exception.method_name(m) == b"getExtendedNPEMessage")
}

/// The state of rewriting one class.
struct ClassRewriter<'r, 'c, 'a> {
    rewriter: &'r Rewriter,
    class: &'c ClassFile<'a>,
    id: ClassId,
    edit: ClassEdit<'c, 'a>,
    constants: Constants,
    recorded: bool,
    report: ClassReport,
    methods: Vec<MethodRecord>,
    foreign: BTreeMap<Mid, ForeignRecord>,
    /// The clocks that are pinned, by the names of the methods that ask them.
    pinned: BTreeSet<(&'c [u8], Clock)>,
}

/// How much of the instrumentation a body gets. Each level is smaller than the one before.
const LEVELS: [Level; 3] = [Level::AsPlanned, Level::DefaultBlocks, Level::CallsOnly];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    AsPlanned,
    DefaultBlocks,
    CallsOnly,
}

impl<'r, 'c, 'a> ClassRewriter<'r, 'c, 'a> {
    fn new(rewriter: &'r Rewriter, class: &'c ClassFile<'a>, id: ClassId) -> Self {
        ClassRewriter {
            rewriter,
            class,
            id,
            edit: ClassEdit::new(class),
            constants: Constants::default(),
            recorded: (rewriter.recorded)(class.name()),
            report: ClassReport::new(class.name(), class.bytes.len()),
            methods: Vec::with_capacity(class.methods.len()),
            foreign: BTreeMap::new(),
            pinned: BTreeSet::new(),
        }
    }

    fn run(mut self) -> Result<Rewritten> {
        self.raise_interface_version();
        for (index, member) in self.class.methods.iter().enumerate() {
            self.method(index, member).map_err(|e| match e {
                Error::Class(e) => Error::Class(member.locate(e)),
                other => other,
            })?;
        }
        for &method in self.rewriter.plan.tie_breaks(self.id) {
            self.tie_break(method)?;
        }
        if hooks::gets_helpers(self.class.name()) {
            self.add_helpers()?;
        }
        for (_, name, descriptor) in hooks::added_fields(self.class.name()) {
            let (name, descriptor) = (self.edit.additions.utf8(name)?, self.edit.additions.utf8(descriptor)?);
            let flags = access::TRANSIENT | access::SYNTHETIC;
            self.edit.add_field(MemberBuilder::new(flags, name, descriptor).finish());
        }
        self.check_pins();
        let record = ClassRecord {
            name: self.class.name().into(),
            super_name: self.class.super_name().map(Into::into),
            interfaces: self.class.interface_names().map(Into::into).collect(),
            access: self.class.access_flags,
            major_version: self.class.major_version,
            hash: self.rewriter.world[self.id].summary.hash,
            methods: self.methods,
            foreign: self.foreign.into_values().collect(),
        };
        self.edit
            .add_attribute(convention::ATTRIBUTE, record.attribute(&self.rewriter.provenance).bytes())?;
        let bytes = self.edit.finish()?;
        self.report.bytes_after = bytes.len();
        Ok(Rewritten { bytes: Some(bytes), record: Some(record), report: self.report })
    }

    /// Carries out one method's treatment.
    fn method(&mut self, index: usize, member: &Member<'a>) -> Result<()> {
        let id = MethodId { class: self.id, index: index as u16 };
        let planned =
            self.rewriter.plan.get(id).ok_or(Error::NotSurveyed(crate::plan::lossy(self.class.name())))?;
        let mut treatment = planned.treatment;
        let mut fallback = None;
        let mut slots = 0;
        match treatment {
            Treatment::Wrapped
            | Treatment::Duplicated
            | Treatment::Redispatched
            | Treatment::OriginalOnly => {
                (slots, fallback) = self.bodies(index, member, treatment)?;
                if fallback == Some(Fallback::NotInstrumented) && !treatment.has_extended_form() {
                    treatment = Treatment::Untouched;
                }
            }
            Treatment::AbstractRedispatched => self.redispatch(member)?,
            Treatment::Native => {
                slots = 1;
                let mid = self.mid(index, slots);
                let is_static = member.is(access::STATIC);
                let Settings { reproducible, .. } = self.rewriter.settings;
                let (class, name) = (self.class.name(), member.name);
                let hook = hooks::native_hook(class, name, member.descriptor, is_static, reproducible);
                self.forward(member, |emitter, target, head| {
                    wrappers::bytecode_to_native(emitter, target, mid, hook, head)
                })?;
            }
            Treatment::LeafNative | Treatment::Magic => {
                let mid = self.mid(index, slots);
                // Magic has a body, a straight one, which counts as if it were executed: whether it is depends on VM and collector.
                let bytecodes = match self.rewriter.settings.block_rule() {
                    Some(_) => {
                        Code::of(self.class, member)?.map_or(0, |code| code.instructions().count() as u32)
                    }
                    None => 0,
                };
                self.forward(member, |emitter, target, head| {
                    wrappers::counted_original(emitter, target, mid, bytecodes, head)
                })?;
            }
            Treatment::Intrinsic => {
                let mid = self.mid(index, slots);
                let Rewriter { world, plan, .. } = self.rewriter;
                let is_closed = match Code::of(self.class, member)? {
                    Some(code) => intrinsics::is_closed(world, plan, self.class, &code)?,
                    None => false,
                };
                self.forward(member, |emitter, target, head| match is_closed {
                    true => wrappers::counted_original(emitter, target, mid, 0, head),
                    false => wrappers::bypassed_original(emitter, target, mid, head),
                })?;
            }
            Treatment::CallerCounted | Treatment::Untouched => {}
        }
        if member.is(access::NATIVE) && hooks::is_called_by_the_runtime(self.class.name(), member.name) {
            self.add_call_for_the_runtime(member)?;
        }
        if let Some(method) = hooks::replacement(self.class.name(), member.name, member.descriptor) {
            let flags = member.access_flags & !access::NATIVE;
            let mut head = MemberBuilder::new(flags, member.name_index, member.descriptor_index);
            head.copy_attributes(member, |_| true);
            let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
            let method = wrappers::forwarder(&mut emitter, method, head)?;
            self.edit.replace_method(index, method);
        }
        let (summary_class, summary) = self.rewriter.world.method(id);
        let mut flags = 0;
        if member.is(access::NATIVE) {
            flags |= method_flags::NATIVE;
        }
        let may_be_overridden =
            summary.is_virtual(summary_class) && !member.is(access::FINAL) && !self.class.is(access::FINAL);
        if treatment.has_extended_form() && !treatment.is_redispatch() && may_be_overridden {
            flags |= method_flags::OVERRIDE_WOULD_MISS;
        }
        let has_body = !member.is(access::ABSTRACT);
        if may_be_overridden && member.access_flags & (access::PUBLIC | access::PROTECTED) == 0 {
            flags |= method_flags::PACKAGE_PRIVATE;
        }
        let left_out = treatment == Treatment::Untouched || fallback == Some(Fallback::NotInstrumented);
        if has_body && (!self.recorded || left_out) {
            flags |= method_flags::NOT_RECORDED;
        }
        self.methods.push(MethodRecord {
            name: member.name.into(),
            descriptor: member.descriptor.into(),
            access: member.access_flags,
            slots,
            flags,
            treatment,
        });
        self.report.method(member, treatment, planned.reason, self.recorded, fallback);
        Ok(())
    }

    /// Reports what the table of pins has and the class has not.
    fn check_pins(&mut self) {
        if !self.rewriter.settings.reproducible {
            return;
        }
        for pin in Pin::of(self.class).filter(|pin| !self.pinned.contains(&(pin.method, pin.clock))) {
            let class = pin.clock.class().rsplit(|&b| b == b'/').next().unwrap_or_default();
            let [method, class, clock] = [pin.method, class, pin.clock.name()].map(crate::plan::lossy);
            self.report.unpinned.push(format!("{method}: {class}.{clock}"));
        }
    }

    fn mid(&self, index: usize, slots: u8) -> Option<Mid> {
        let hash = self.rewriter.world[self.id].summary.hash;
        self.recorded.then(|| hash.method(index, slots))
    }

    /// Instrumented bodies of a method. Returns the number of slots, and what had to be left out for the sake of size.
    fn bodies(
        &mut self,
        index: usize,
        member: &Member<'a>,
        treatment: Treatment,
    ) -> Result<(u8, Option<Fallback>)> {
        let code = Code::of(self.class, member)?.ok_or_else(|| {
            cct_classfile::Error::new(ErrorKind::Malformed(
                "a method without Code is neither native nor abstract",
            ))
        })?;
        let calls = self.call_targets(&code)?;
        let slots = body::slot_count(&calls);
        let mid = self.mid(index, slots);
        let pinned = match self.rewriter.settings.reproducible {
            true => pins::reads(self.class, member.name, &code)?,
            false => Vec::new(),
        };
        for level in LEVELS {
            let blocks = match level {
                Level::AsPlanned => self.rewriter.settings.block_rule(),
                Level::DefaultBlocks if self.rewriter.settings.block_rule() == Some(BlockRule::Precise) => {
                    Some(BlockRule::Default)
                }
                Level::DefaultBlocks => continue,
                Level::CallsOnly => None,
            };
            let (calls, pins) = (calls.clone(), pinned.clone());
            let mut analysis = PLANNER.with_borrow_mut(|planner| {
                Analysis::of(&code, &self.class.pool, planner, blocks, calls, pins)
            })?;
            let reproducible = self.rewriter.settings.reproducible;
            analysis.hooks = hooks::body_hooks(self.class.name(), member.name, reproducible).collect();
            if self.rewriter.names_locals {
                let arguments = Signature::of(self.class, member)?.argument_slots();
                analysis.unnamed_locals = local_names::unnamed(self.class, &code, arguments)?;
            }
            match self.write_bodies(member, &code, &analysis, treatment, mid) {
                Ok(()) => {
                    self.report.pinned += pinned.len() as u32;
                    self.pinned.extend(pinned.iter().map(|&(_, clock)| (member.name, clock)));
                    let fallback = match level {
                        Level::AsPlanned => None,
                        Level::DefaultBlocks => Some(Fallback::DefaultBlocks),
                        Level::CallsOnly => Some(Fallback::CallsOnly),
                    };
                    return Ok((slots, fallback.filter(|_| self.recorded)));
                }
                Err(e) if matches!(e.kind(), ErrorKind::MethodTooLarge(_) | ErrorKind::JumpTooFar(_)) => {}
                Err(e) => return Err(e.into()),
            }
        }
        // The body does not fit in any form: it stays, and what it calls hangs under its caller. Super calls may come by the extended form
        // unless it was planned to redispatch: it must not do so now.
        if treatment == Treatment::Redispatched || self.rewriter.world[self.id].summary.has_host {
            self.redispatch(member)?;
        } else if treatment.has_extended_form() {
            self.forward(member, |emitter, target, head| wrappers::stored_original(emitter, target, head))?;
        }
        Ok((0, Some(Fallback::NotInstrumented)))
    }

    fn write_bodies(
        &mut self,
        member: &Member<'a>,
        code: &Code<'a>,
        analysis: &Analysis<'_>,
        treatment: Treatment,
        mid: Option<Mid>,
    ) -> cct_classfile::Result<()> {
        let position = self.position(member);
        let extended = with_extension(member.descriptor);
        let original = |this: &mut Self| {
            let head = this.original_head(member);
            body::write(
                &mut this.edit,
                &mut this.constants,
                member,
                code,
                analysis,
                Form::Original,
                mid,
                head,
                &extended,
            )
        };
        if treatment == Treatment::OriginalOnly {
            let written = original(self)?;
            self.take(position, written);
            return Ok(());
        }
        if treatment == Treatment::Redispatched {
            let written = original(self)?;
            self.redispatch(member)?;
            self.take(position, written);
            return Ok(());
        }
        let head = self.extended_head(member, body::extended_flags(member.access_flags))?;
        let extended_body = body::write(
            &mut self.edit,
            &mut self.constants,
            member,
            code,
            analysis,
            Form::Extended,
            mid,
            head,
            &extended,
        )?;
        if treatment == Treatment::Duplicated {
            let written = original(self)?;
            self.take(position, written);
        } else {
            let head = self.original_head(member);
            let signature = Signature::of(self.class, member)?;
            let extended_index = self.edit.additions.utf8(&extended)?;
            let target = Target::of(member, &signature, extended_index);
            let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
            let replays = rules::is_called_by_vm(self.class.name(), member);
            let wrapper = wrappers::native_to_bytecode(&mut emitter, &target, replays, head)?;
            self.edit.replace_method(position, wrapper);
        }
        self.report.dropped_attributes(&extended_body.dropped_attributes);
        self.edit.add_method(extended_body.method_info);
        Ok(())
    }

    fn take(&mut self, position: usize, written: body::Written) {
        self.report.dropped_attributes(&written.dropped_attributes);
        self.edit.replace_method(position, written.method_info);
    }

    fn position(&self, member: &Member<'a>) -> usize {
        self.class.methods.iter().position(|m| std::ptr::eq(m, member)).unwrap_or_default()
    }

    /// How each invocation of a body calls.
    fn call_targets<'x>(&mut self, code: &Code<'a>) -> Result<Vec<(Bci, CallTarget<'x>)>>
    where
        'a: 'x,
        'r: 'x,
    {
        let rewriter: &'x Rewriter = self.rewriter;
        let mut calls = Vec::new();
        for instruction in code.instructions().filter(|i| opcode::is_invoke(i.opcode)) {
            let target = rewriter.call_target(self.id, self.class, &instruction)?;
            if let CallTarget::Counted(f) | CallTarget::Dispatched(f) = target {
                self.foreign.entry(f.mid()).or_insert_with(|| f.into());
            }
            if target == (CallTarget::Stored { known: false }) {
                self.report.unknown_owner_sites += 1;
            }
            calls.push((instruction.bci, target));
        }
        Ok(calls)
    }

    fn original_head(&self, member: &Member<'a>) -> MemberBuilder {
        let mut head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
        head.copy_attributes(member, |name| name != b"Code");
        head
    }

    /// Head of an added method: flags, name, extended descriptor, and the annotations that the VM reads.
    fn extended_head(&mut self, member: &Member<'a>, flags: u16) -> cct_classfile::Result<MemberBuilder> {
        let descriptor = self.edit.additions.utf8(&with_extension(member.descriptor))?;
        let mut head = MemberBuilder::new(flags, member.name_index, descriptor);
        if let Some(annotations) = member.attributes.find(b"RuntimeVisibleAnnotations") {
            let types = annotation_types(self.class, annotations)?;
            if types.iter().any(|t| rules::VM_ANNOTATIONS.contains(t)) {
                head.copy_attributes(member, |name| name == b"RuntimeVisibleAnnotations");
            }
        }
        Ok(head)
    }

    /// Adds an extended form that only forwards.
    fn forward(
        &mut self,
        member: &Member<'a>,
        write: impl FnOnce(
            &mut Emitter<'_, 'c, 'a>,
            &Target<'_, 'a>,
            MemberBuilder,
        ) -> cct_classfile::Result<Vec<u8>>,
    ) -> cct_classfile::Result<()> {
        let signature = Signature::of(self.class, member)?;
        // The monitor is taken by the original, and once is enough.
        let without = access::NATIVE | access::SYNCHRONIZED | access::ABSTRACT | access::STRICT;
        let head = self.extended_head(member, body::extended_flags(member.access_flags) & !without)?;
        let extended_index = self.edit.additions.utf8(&with_extension(member.descriptor))?;
        let target = Target::of(member, &signature, extended_index);
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let method = write(&mut emitter, &target, head)?;
        self.edit.add_method(method);
        Ok(())
    }

    /// Adds the method by which the runtime calls a private native.
    fn add_call_for_the_runtime(&mut self, member: &Member<'a>) -> cct_classfile::Result<()> {
        let name = self.edit.additions.utf8(&[convention::PREFIX, member.name].concat())?;
        let flags = member.access_flags & access::STATIC | access::FINAL | access::SYNTHETIC;
        let head = MemberBuilder::new(flags, name, member.descriptor_index);
        let signature = Signature::of(self.class, member)?;
        let target = Target::of(member, &signature, member.descriptor_index);
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let method = wrappers::call_for_the_runtime(&mut emitter, &target, head)?;
        self.edit.add_method(method);
        Ok(())
    }

    fn redispatch(&mut self, member: &Member<'a>) -> cct_classfile::Result<()> {
        self.forward(member, |emitter, target, head| wrappers::redispatch(emitter, target, head))
    }

    /// Interfaces that get concrete methods need class version 52 (JVMS 4.6).
    fn raise_interface_version(&mut self) {
        let plan = &self.rewriter.plan;
        let gains = plan.of_class(self.id).iter().any(|p| p.treatment.is_redispatch())
            || !plan.tie_breaks(self.id).is_empty();
        if self.class.is_interface() && gains {
            self.edit.require_version(52);
        }
    }

    /// A redispatching form of a method that is inherited from unrelated interfaces.
    fn tie_break(&mut self, method: MethodId) -> Result<()> {
        let rewriter = self.rewriter;
        let (owner, summary): (_, &MethodSummary) = rewriter.world.method(method);
        let (name, descriptor) = (owner.method_name(summary), owner.method_descriptor(summary));
        let additions = &mut self.edit.additions;
        let (name_index, descriptor_index) = (additions.utf8(name)?, additions.utf8(descriptor)?);
        let extended_index = additions.utf8(&with_extension(descriptor))?;
        let signature = Signature {
            this_class: self.class.this_class,
            is_static: false,
            is_constructor: false,
            descriptor: cct_classfile::descriptor::MethodDescriptor::parse(descriptor)?,
        };
        let target = Target {
            access_flags: access::PUBLIC,
            name_index,
            signature: &signature,
            descriptor_index,
            extended_index,
        };
        let head = MemberBuilder::new(access::PUBLIC | access::SYNTHETIC, name_index, extended_index);
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let added = wrappers::redispatch(&mut emitter, &target, head)?;
        self.edit.add_method(added);
        self.report.tie_breaks += 1;
        Ok(())
    }

    /// `java/lang/Object` gets the helpers. They are inlined by force: each body begins with one.
    fn add_helpers(&mut self) -> Result<()> {
        for helper in convention::HELPERS {
            let additions = &mut self.edit.additions;
            let (name, descriptor) = (additions.utf8(helper.name)?, additions.utf8(helper.descriptor)?);
            let annotations = additions.utf8(b"RuntimeVisibleAnnotations")?;
            let names = [&b"Ljava/lang/invoke/ForceInline;"[..], b"Ljdk/internal/vm/annotation/ForceInline;"];
            let mut types = Vec::new();
            for name in names {
                types.push(additions.utf8(name)?);
            }
            let mut head =
                MemberBuilder::new(access::PUBLIC | access::STATIC | access::SYNTHETIC, name, descriptor);
            head.attribute(annotations, |out| {
                use cct_classfile::bytes::PutBytes;
                out.put2(types.len() as u16);
                for t in &types {
                    out.put2(*t);
                    out.put2(0);
                }
                Ok(())
            })?;
            let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
            let method = wrappers::forwarder(&mut emitter, helper.target(), head)?;
            self.edit.add_method(method);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cct_classfile::access::PUBLIC;

    use super::*;
    use crate::testing::class;

    fn rewriter_of(bytes: &[u8]) -> Rewriter {
        rewriter_with(Settings::default(), bytes)
    }

    fn rewriter_with(settings: Settings, bytes: &[u8]) -> Rewriter {
        let summary = crate::ClassSummary::parse(bytes).unwrap();
        let provenance = Provenance::new("test", &settings, None);
        Rewriter::new(World::new([(crate::Role::Input, summary)]), settings, provenance, |_| true).unwrap()
    }

    /// A super call reaches the extended form; were it virtual, it would come back for ever.
    #[test]
    fn a_method_too_large_to_instrument_is_called_without_dispatch() {
        // Each `iload_1` grows by a byte, as the locals move up: 44,001 bytes become more than a method may have.
        let mut code = [opcode::ILOAD_0 + 1, opcode::POP].repeat(22_000);
        code.push(opcode::RETURN);
        let large = class("A").method(PUBLIC, "m", "()V").with_code(code).bytes();
        let rewritten = rewriter_of(&large).rewrite(&large).unwrap();
        assert_eq!(rewritten.report.fallbacks[0].1, Fallback::NotInstrumented);

        let bytes = rewritten.bytes.unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let extended = class.methods.iter().find(|m| m.descriptor == b"(J[[[[J)V").unwrap();
        let code = Code::of(&class, extended).unwrap().unwrap();
        let calls: Vec<_> =
            code.instructions().map(|i| i.opcode).filter(|&op| opcode::is_invoke(op)).collect();
        assert_eq!(calls, [opcode::INVOKESTATIC, opcode::INVOKESPECIAL]);
    }

    /// The line is what the runtime knows forwarders by.
    #[test]
    fn forwarders_and_nothing_else_have_the_lines_of_forwarders() {
        use cct_classfile::access::{ABSTRACT, NATIVE};
        let bytes = class("A")
            .flags(ABSTRACT)
            .method(PUBLIC, "m", "()V")
            .method(PUBLIC | NATIVE, "n", "()V")
            .method(PUBLIC | ABSTRACT, "a", "()V")
            .method(PUBLIC, "toString", "()Ljava/lang/String;")
            .bytes();
        let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let mut lines = Vec::new();
        for method in &class.methods {
            let Some(code) = Code::of(&class, method).unwrap() else { continue };
            let table = code.attributes.find(b"LineNumberTable").map(|a| a.data.to_vec());
            lines.push(([method.name, method.descriptor].concat(), table));
        }
        let line = |number: u16| [&[0, 1, 0, 0][..], &number.to_be_bytes()].concat();
        let (forwarder, to_native) = (Some(line(65535)), Some(line(65534)));
        assert_eq!(
            lines,
            [
                (b"m()V".to_vec(), forwarder.clone()),
                (b"toString()Ljava/lang/String;".to_vec(), None),
                (b"m(J[[[[J)V".to_vec(), None),
                (b"n(J[[[[J)V".to_vec(), to_native),
                (b"a(J[[[[J)V".to_vec(), forwarder),
            ]
        );
    }

    /// The clock is asked and counted as before; only its answer is another. So it is in every form of the body.
    #[test]
    fn a_pinned_call_is_made_and_its_result_replaced() {
        let code = vec![opcode::INVOKESTATIC, 0, 6, opcode::POP2, opcode::RETURN];
        let random = class("java/util/Random").reference("java/lang/System", "nanoTime", "()J");
        let random = random.method(access::STATIC, "<init>", "()V").with_code(code).bytes();
        let rewritten = |reproducible| {
            let settings = Settings { reproducible, ..Settings::default() };
            rewriter_with(settings, &random).rewrite(&random).unwrap()
        };
        let constants = |rewritten: &Rewritten| {
            let class = ClassFile::parse(rewritten.bytes.as_ref().unwrap()).unwrap();
            let extended = class.methods.iter().find(|m| m.descriptor == b"(J[[[[J)V").unwrap();
            let code = Code::of(&class, extended).unwrap().unwrap();
            let code: Vec<_> = code.instructions().collect();
            let is_clock = |i: &Instruction<'_>| {
                i.opcode == opcode::INVOKESTATIC
                    && class.pool.member_ref(i.pool_index().unwrap()).unwrap().name == b"nanoTime"
            };
            let at = code.iter().position(is_clock).unwrap();
            let [discarded, pushed] = [&code[at + 1], &code[at + 2]];
            assert_eq!(discarded.opcode, opcode::POP2);
            let is_constant = pushed.opcode == opcode::LDC2_W;
            is_constant.then(|| class.pool.long(pushed.pool_index().unwrap()).unwrap())
        };
        let (pinned, plain) = (rewritten(true), rewritten(false));
        assert_eq!(constants(&pinned), Some(Clock::Nanos.constant()));
        assert_eq!((pinned.report.pinned, &*pinned.report.unpinned), (1, &[][..]));
        assert_eq!(constants(&plain), None);
        assert_eq!(plain.report.pinned, 0);
    }

    #[test]
    fn what_should_be_pinned_and_is_not_there_is_reported() {
        let random = class("java/util/Random").method(PUBLIC, "<init>", "()V").bytes();
        let settings = Settings { reproducible: true, ..Settings::default() };
        let report = rewriter_with(settings, &random).rewrite(&random).unwrap().report;
        assert_eq!((report.pinned, report.unpinned), (0, vec!["<init>: System.nanoTime".to_owned()]));
        let report = rewriter_of(&random).rewrite(&random).unwrap().report;
        assert!(report.unpinned.is_empty());
    }

    #[test]
    fn reflection_finds_a_replaced_native_too() {
        use cct_classfile::access::{NATIVE, STATIC};
        let bytes = class("sun/reflect/Reflection")
            .method(PUBLIC | STATIC | NATIVE, "getCallerClass", "()Ljava/lang/Class;")
            .method(PUBLIC | STATIC | NATIVE, "getCallerClass", "(I)Ljava/lang/Class;")
            .bytes();
        let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        let natives: Vec<_> = class.methods.iter().map(|m| m.is(NATIVE)).collect();
        assert_eq!(natives, [true, false]);
    }

    /// Versions below 49 let an interface have `ACC_SUPER` and lack `ACC_ABSTRACT`; version 52 does not.
    #[test]
    fn an_interface_raised_to_version_52_has_the_flags_of_one() {
        let old =
            crate::testing::interface("I").flags(access::SUPER).method(PUBLIC | access::ABSTRACT, "m", "()V");
        let mut bytes = old.bytes();
        bytes[6..8].copy_from_slice(&46u16.to_be_bytes());
        let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
        let class = ClassFile::parse(&bytes).unwrap();
        assert_eq!(class.major_version, 52);
        assert!(class.is(access::INTERFACE | access::ABSTRACT) && !class.is(access::SUPER));
    }
}
