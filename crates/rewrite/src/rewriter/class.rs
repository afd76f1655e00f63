//! The rewriting of one class: each method by its treatment.

use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::{Member, access};
use cct_columns::Column;
use cct_events as events;
use cct_events::structure::Recording;
use cct_index::class_attribute::ATTRIBUTE;
use cct_index::method_flags;
use cct_index::mid::Shape;
use cct_index::record::{ClassRecord, MethodRecord};
use cct_index::treatment::Treatment;
use cct_jdk::native_hooks;
use cct_jdk::pins::Pin;
use cct_jdk::program;
use cct_markers::MarkedClass;
use cct_settings::Natives;

use super::bodies::Bodies;
use super::shared::RewrittenClass;
use super::state::ClassRewriter;
use super::treatments::{Subject, WrittenMethod};
use crate::carrier::Emitter;
use crate::error::{Error, Result};
use crate::hooks;
use crate::markers::{self, ClassFailure};
use crate::marks;
use crate::report::Fallback;
use crate::structure;
use crate::world::MethodId;
use crate::wrappers;

impl<'a> ClassRewriter<'_, '_, 'a> {
    /// Writes the class. If it exceeds the limits of class files, its markers are dropped first.
    pub(super) fn run(self) -> Result<RewrittenClass, ClassFailure> {
        let why = "its class has no room for more constants or members";
        let all = self.beside.as_ref().map(|beside| beside.left_out(why)).unwrap_or_default();
        self.written().map_err(|stopped| match stopped {
            ClassFailure::Failed(error) if !all.is_empty() && markers::is_outgrown(&error) => {
                ClassFailure::Without(all)
            }
            other => other,
        })
    }

    fn written(mut self) -> Result<RewrittenClass, ClassFailure> {
        self.raise_interface_version();
        for (index, member) in self.class.methods.iter().enumerate() {
            self.method(index, member).map_err(|e| match e {
                ClassFailure::Failed(Error::Class(e)) => ClassFailure::Failed(Error::Class(member.locate(e))),
                other => other,
            })?;
        }
        let world = &self.rewriter.world;
        for &method in self.rewriter.plan.tie_breaks(self.id) {
            let (owner, summary) = world.method(method);
            self.tie_break(owner.name_and_type(summary))?;
        }
        for form in world[self.id].summary.kept.iter().flat_map(|kept| kept.tie_breaks()) {
            self.tie_break(form.name_and_type())?;
        }
        if hooks::gets_helpers(self.class.name()) {
            self.add_helpers()?;
        }
        self.add_fields()?;
        self.check_pins();
        let marked = match self.beside.take() {
            Some(beside) => beside.finish(&mut self.edit)?,
            None => MarkedClass::default(),
        };
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
        self.edit.add_attribute(ATTRIBUTE, record.attribute(&self.rewriter.provenance).bytes())?;
        let bytes = self.edit.finish()?;
        self.report.bytes_after = bytes.len();
        let structure = self.rewriter.settings.traces().then(|| {
            let numbers = self.rewriter.numbers(self.id);
            let mut packed = Vec::new();
            let own_name = self.rewriter.shown_name.as_deref().unwrap_or(self.class.name());
            let class = events::Class {
                number: numbers.class,
                first_method: numbers.first_method,
                hash: record.hash.0,
                name: own_name.into(),
                super_name: record.super_name.as_deref().map(Into::into),
                interfaces: record.interfaces.iter().map(|name| (&**name).into()).collect(),
                access: record.access,
                field_bytes: structure::field_bytes(self.class),
                source: structure::source(self.class),
                methods: self.traced,
            };
            class.pack(&mut packed);
            packed
        });
        Ok(RewrittenClass {
            bytes: Some(bytes),
            record: Some(record),
            structure,
            report: self.report,
            marked,
        })
    }

    /// Carries out one method's treatment.
    fn method(&mut self, index: usize, member: &Member<'a>) -> Result<(), ClassFailure> {
        let id = MethodId { class: self.id, index: index as u16 };
        let planned = self
            .rewriter
            .plan
            .get(id)
            .ok_or_else(|| Error::NotSurveyed(cct_classfile::mutf8::lossy(self.class.name())))?;
        let is_unrepresented =
            self.recorded && member.is(access::NATIVE) && self.rewriter.settings.natives == Natives::None;
        let subject = Subject { index, member, number: self.number(index), is_unrepresented };
        let written = self.treat(&subject, planned.treatment)?;
        self.write_special(&subject)?;
        self.describe_without_body(&subject, &written);
        let flags = self.flags(&subject, &written);
        let WrittenMethod { treatment, bodies: Bodies { shape, positions, fallback }, .. } = written;
        self.methods.push(MethodRecord {
            name: member.name.into(),
            descriptor: member.descriptor.into(),
            access: member.access_flags,
            shape,
            flags,
            treatment,
            positions,
        });
        self.report.method(member, treatment, planned.reason, self.recorded, fallback);
        self.report_marks(id, member, treatment, fallback, shape);
        Ok(())
    }

    /// Writes what a method gets beside its treatment: calls for the runtime, and the methods by
    /// which the program calls the runtime.
    fn write_special(&mut self, subject: &Subject<'_, 'a>) -> Result<()> {
        let Subject { index, member, .. } = *subject;
        let named = member.of_class(self.class.name());
        if member.is(access::NATIVE) && native_hooks::is_called_by_the_runtime(named.member_name()) {
            self.add_call_for_the_runtime(member)?;
        }
        if let Some(method) = hooks::replacement(named) {
            let flags = member.access_flags & !access::NATIVE;
            let mut head = MemberBuilder::new(flags, member.name_index, member.descriptor_index);
            head.copy_attributes(member, |_| true);
            let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
            let method = wrappers::forwarder(&mut emitter, method, head)?;
            self.edit.replace_method(index, method);
        }
        if let Some(what) = program::switch(named) {
            self.write_switch(index, member, what)?;
        }
        if let Some(helper) = program::query(named, member.access_flags, self.rewriter.settings.mode()) {
            self.write_query(index, member, helper)?;
        }
        Ok(())
    }

    /// Adds the static side of a method without instrumented body to the trace's.
    fn describe_without_body(&mut self, subject: &Subject<'_, 'a>, written: &WrittenMethod) {
        let Subject { index, member, number, .. } = *subject;
        if number.is_none() || self.traced.len() != index {
            return;
        }
        let recording = match (self.recorded, written.leaf, written.treatment) {
            (true, Some(_), _) => Recording::Leaf,
            (true, None, Treatment::Native | Treatment::LeafNative) => Recording::Native,
            _ => Recording::None,
        };
        let id = self.id_of(index, written.bodies.shape);
        self.traced.push(structure::bodiless(member, id, recording, written.leaf.unwrap_or_default()));
    }

    /// The method's [`method_flags`].
    fn flags(&self, subject: &Subject<'_, 'a>, written: &WrittenMethod) -> u8 {
        let Subject { index, member, is_unrepresented, .. } = *subject;
        let WrittenMethod { treatment, bodies: Bodies { fallback, .. }, .. } = written;
        let (summary_class, summary) =
            self.rewriter.world.method(MethodId { class: self.id, index: index as u16 });
        let may_be_overridden =
            summary.is_virtual(summary_class) && !member.is(access::FINAL) && !self.class.is(access::FINAL);
        let has_own_extended_form = treatment.has_extended_form() && !treatment.is_redispatch();
        let is_package_private = member.access_flags & (access::PUBLIC | access::PROTECTED) == 0;
        let left_out = *treatment == Treatment::Untouched || *fallback == Some(Fallback::NotInstrumented);
        let counts_monitors = self.rewriter.settings.counts(Column::Monitors);
        [
            (member.is(access::NATIVE), method_flags::NATIVE),
            (counts_monitors && member.is(access::SYNCHRONIZED), method_flags::SYNCHRONIZED),
            (may_be_overridden && has_own_extended_form, method_flags::OVERRIDE_WOULD_MISS),
            (may_be_overridden && is_package_private, method_flags::PACKAGE_PRIVATE),
            (
                !member.is(access::ABSTRACT) && (!self.recorded || left_out || is_unrepresented),
                method_flags::NOT_RECORDED,
            ),
        ]
        .into_iter()
        .filter(|(holds, _)| *holds)
        .fold(0, |flags, (_, flag)| flags | flag)
    }

    /// Reports which named extents and starts this method matches, and whether it can be one.
    fn report_marks(
        &mut self,
        id: MethodId,
        member: &Member<'a>,
        treatment: Treatment,
        fallback: Option<Fallback>,
        shape: Shape,
    ) {
        let marks = &self.rewriter.marks;
        let named = member.of_class(self.class.name());
        let (_, summary) = self.rewriter.world.method(id);
        for extent in marks.extents_of(named) {
            let why = match fallback {
                Some(Fallback::NotInstrumented) => Some("it is too large to be instrumented"),
                _ => marks::refusal(summary, named.name, treatment),
            };
            match why {
                None => {
                    let mid = self.mid(usize::from(id.index), shape);
                    self.report.extents.push((extent, mid));
                }
                Some(why) => {
                    self.report.refused_extents.push((extent, named.to_string(), why));
                }
            }
        }
        if !member.is(access::ABSTRACT)
            && !member.is(access::NATIVE)
            && fallback != Some(Fallback::NotInstrumented)
        {
            self.report.starts.extend(marks.starts_of(named));
        }
    }

    /// Reports pins of the table that the class lacks.
    fn check_pins(&mut self) {
        if !self.rewriter.settings.reproducible {
            return;
        }
        for pin in Pin::of(self.class).filter(|pin| !self.pinned.contains(&(pin.method.name, pin.clock))) {
            let clock = pin.clock.member();
            let class = clock.class.rsplit(|&b| b == b'/').next().unwrap_or_default();
            let [method, class, clock] =
                [pin.method.name, class, clock.name].map(cct_classfile::mutf8::lossy);
            self.report.unpinned.push(format!("{method}: {class}.{clock}"));
        }
    }
}
