//! Additions to a class: extended forms that forward, tie breaks, helpers, fields.

use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::frames::Signature;
use cct_classfile::{ClassFile, Member, NameAndType, access, mutf8};
use cct_index::mid::Shape;
use cct_jdk::annotations;
use cct_jdk::convention;
use cct_jdk::convention::with_extension;
use cct_jdk::fields::added_fields;
use cct_jdk::helpers::{self, Helper};

use super::state::ClassRewriter;
use crate::body;
use crate::carrier::Emitter;
use crate::error::Result;
use crate::survey::annotation_types;
use crate::wrappers::{self, Target};

impl<'c, 'a> ClassRewriter<'_, 'c, 'a> {
    /// Head of an added method: flags, name, extended descriptor, and the annotations that the VM
    /// reads.
    pub(super) fn extended_head(
        &mut self,
        member: &Member<'a>,
        flags: u16,
    ) -> cct_classfile::Result<MemberBuilder> {
        let descriptor = self.constants.extended_descriptor(member.descriptor_index, &mut self.edit)?;
        let mut head = MemberBuilder::new(flags, member.name_index, descriptor);
        if let Some(annotations) = member.attributes.find(b"RuntimeVisibleAnnotations") {
            let types = annotation_types(self.class, annotations)?;
            if types.iter().any(|t| annotations::VM_ANNOTATIONS.contains(t)) {
                head.copy_attributes(member, |name| name == b"RuntimeVisibleAnnotations");
            }
        }
        Ok(head)
    }

    /// Adds an extended form that only forwards.
    pub(super) fn forward(
        &mut self,
        member: &Member<'a>,
        write: impl FnOnce(
            &mut Emitter<'_, 'c, 'a>,
            &Target<'_, 'a>,
            MemberBuilder,
        ) -> cct_classfile::Result<Vec<u8>>,
    ) -> cct_classfile::Result<()> {
        let signature = Signature::of(self.class, member)?;
        // The original locks the monitor, and once is enough.
        let without = access::NATIVE | access::SYNCHRONIZED | access::ABSTRACT | access::STRICT;
        let flags = body::extended_flags(self.class.name(), member.access_flags);
        let head = self.extended_head(member, flags & !without)?;
        let extended_index = self.constants.extended_descriptor(member.descriptor_index, &mut self.edit)?;
        let target = Target::of(member, &signature, extended_index);
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let method = write(&mut emitter, &target, head)?;
        self.edit.add_method(method);
        Ok(())
    }

    /// Adds the method through which the runtime calls a private native.
    pub(super) fn add_call_for_the_runtime(&mut self, member: &Member<'a>) -> cct_classfile::Result<()> {
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

    /// Renames a native. The native's own name goes to a method that counts and calls it. The
    /// monitor, if there is one, is locked where it was.
    pub(super) fn rename(
        &mut self,
        index: usize,
        member: &Member<'a>,
        shape: Shape,
    ) -> cct_classfile::Result<()> {
        let name = self.edit.additions.utf8(&[convention::NATIVE_PREFIX, member.name].concat())?;
        let kept = member.access_flags & (access::STATIC | access::SYNCHRONIZED);
        let flags = kept | access::PRIVATE | access::NATIVE | access::SYNTHETIC;
        self.edit.add_method(MemberBuilder::new(flags, name, member.descriptor_index).finish());

        let flags = member.access_flags & !(access::NATIVE | access::SYNCHRONIZED);
        let mut head = MemberBuilder::new(flags, member.name_index, member.descriptor_index);
        head.copy_attributes(member, |_| true);
        let signature = Signature::of(self.class, member)?;
        let target = Target::of(member, &signature, member.descriptor_index).named(name);
        let mid = self.mid(index, shape);
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let method = wrappers::in_place_of_native(&mut emitter, &target, mid, shape.slots, head)?;
        self.edit.replace_method(index, method);
        Ok(())
    }

    pub(super) fn redispatch(&mut self, member: &Member<'a>) -> cct_classfile::Result<()> {
        self.forward(member, |emitter, target, head| wrappers::redispatch(emitter, target, head))
    }

    /// Raises the class version to 52 for interfaces that get concrete methods (JVMS 4.6). An
    /// interface whose own methods violate the rules of its version keeps it. Version 52 might
    /// allow them, and a JVM must not accept an interface that it refused before.
    pub(super) fn raise_interface_version(&mut self) {
        let plan = &self.rewriter.plan;
        let kept = self.rewriter.world[self.id].summary.kept.as_ref();
        let gains = plan.of_class(self.id).iter().any(|p| p.treatment.is_redispatch())
            || !plan.tie_breaks(self.id).is_empty()
            || kept.is_some_and(|kept| !kept.tie_breaks().is_empty());
        let members = self.class.methods.iter().chain(&self.class.fields).map(|member| member.name);
        let is_sound = self.class.methods.iter().all(|method| may_be_in_interface(self.class, method))
            && members.chain([self.class.name()]).all(|name| may_be_name(self.class, name));
        if self.class.is_interface() && gains && is_sound {
            self.edit.require_version(52);
        }
    }

    /// Adds a redispatching form of a method that the class inherits from unrelated interfaces.
    pub(super) fn tie_break(&mut self, method: NameAndType<'_>) -> Result<()> {
        let additions = &mut self.edit.additions;
        let (name_index, descriptor_index) =
            (additions.utf8(method.name)?, additions.utf8(method.descriptor)?);
        let extended_index = additions.utf8(&with_extension(method.descriptor))?;
        let signature = Signature {
            this_class: self.class.this_class,
            is_static: false,
            is_constructor: false,
            descriptor: cct_classfile::descriptor::MethodDescriptor::parse(method.descriptor)?,
        };
        let target = Target {
            access_flags: access::PUBLIC,
            name_index,
            signature: &signature,
            descriptor_index,
            extended_index,
            traced: None,
            values: None,
        };
        let head = MemberBuilder::new(access::PUBLIC | access::SYNTHETIC, name_index, extended_index);
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let added = wrappers::redispatch(&mut emitter, &target, head)?;
        self.edit.add_method(added);
        self.report.tie_breaks += 1;
        Ok(())
    }

    /// Gives a method through which the program switches the recording its effect.
    pub(super) fn write_switch(
        &mut self,
        index: usize,
        member: &Member<'a>,
        what: i16,
    ) -> cct_classfile::Result<()> {
        let head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
        let signature = Signature::of(self.class, member)?;
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let method = wrappers::switch(&mut emitter, &signature, what, head)?;
        self.edit.replace_method(index, method);
        Ok(())
    }

    /// Gives a method through which the program queries the runtime its body.
    pub(super) fn write_query(
        &mut self,
        index: usize,
        member: &Member<'a>,
        helper: Helper,
    ) -> cct_classfile::Result<()> {
        let head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
        let signature = Signature::of(self.class, member)?;
        let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
        let method = wrappers::query(&mut emitter, &signature, helper, head)?;
        self.edit.replace_method(index, method);
        Ok(())
    }

    /// Adds the helpers to `java/lang/Object`.
    pub(super) fn add_helpers(&mut self) -> Result<()> {
        let settings = self.rewriter.settings;
        let usual = Helper::all().filter_map(|helper| Some((helper.name(), helper.target(settings.mode())?)));
        let of_markers = cct_markers::helpers_of_object()
            .into_iter()
            .map(|helper| (helper.name, helpers::runtime_method(helpers::MARKERS_RUNTIME, helper)));
        for (name, target) in usual.chain(of_markers.filter(|_| settings.markers)) {
            let additions = &mut self.edit.additions;
            let (name, descriptor) = (additions.utf8(name)?, additions.utf8(target.member.descriptor)?);
            let head =
                MemberBuilder::new(access::PUBLIC | access::STATIC | access::SYNTHETIC, name, descriptor);
            let mut emitter = Emitter { edit: &mut self.edit, constants: &mut self.constants };
            let method = wrappers::helper(&mut emitter, target, head)?;
            self.edit.add_method(method);
        }
        Ok(())
    }

    /// Adds fields to classes of the library, in which the runtime keeps data of their instances.
    pub(super) fn add_fields(&mut self) -> Result<()> {
        let settings = self.rewriter.settings;
        for field in added_fields(self.class.name(), settings.mode(), settings.markers) {
            let additions = &mut self.edit.additions;
            let (name, descriptor) = (additions.utf8(field.name)?, additions.utf8(field.descriptor)?);
            let flags = access::TRANSIENT | access::SYNTHETIC;
            self.edit.add_field(MemberBuilder::new(flags, name, descriptor).finish());
        }
        Ok(())
    }
}

/// Whether an interface may have a method with these flags. Below version 52 all methods except the
/// initialiser are public and abstract, and few other flags are allowed (JVMS 4.6).
fn may_be_in_interface(class: &ClassFile<'_>, method: &Member<'_>) -> bool {
    if class.major_version >= 52 || method.name == b"<clinit>" {
        return true;
    }
    let mut refused = access::STATIC | access::FINAL | access::NATIVE;
    if class.major_version >= 49 {
        refused |= access::PRIVATE | access::PROTECTED | access::SYNCHRONIZED | access::STRICT;
    }
    let asked = access::PUBLIC | access::ABSTRACT;
    method.access_flags & (asked | refused) == asked
}

/// Whether a name is valid below version 49, which requires the letters of Java's identifiers. A
/// name with a character that cannot be such a letter is not.
fn may_be_name(class: &ClassFile<'_>, name: &[u8]) -> bool {
    let no_letter = |c: char| c.is_control() || c == char::REPLACEMENT_CHARACTER;
    class.major_version >= 49 || !mutf8::decode_lossy(name).contains(no_letter)
}
