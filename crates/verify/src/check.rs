//! The check of one class: everything except code must be unchanged, and every addition must be
//! known.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::descriptor::end_of_parameters;
use cct_classfile::{Attribute, ClassFile, Code, Member, MemberName, NameAndType, access, mutf8};
use cct_jdk::convention::{OBJECT, with_extension};
use cct_jdk::fields::added_fields;
use cct_jdk::native_hooks::CALLED_BY_RUNTIME;

use crate::class::Class;
use crate::convention::{ATTRIBUTE, class_hash};
use crate::expectation::{Expectation, Tool};
use crate::faults::{ClassPart, MarkerFault, OwnAttributeFault, RuntimeFault};
use crate::fields::Fields;
use crate::finding::{Finding, Problem};
use crate::forwarder::Target;
use crate::links::Links;
use crate::marked::CountedMarkers;
use crate::marked::attribute::is_list;
use crate::probe::Reader;
use crate::structure::StaticSide;
use crate::tables::is_static;
use crate::tally::Tally;
use crate::{allocations, attribute, columns, convention, events, forwarder};

impl<'c, 'a> Class<'c, 'a> {
    /// Checks a class, and the statements of a trace's static side about it, if there are any.
    pub fn check(
        before: &'c ClassFile<'a>,
        after: &'c ClassFile<'a>,
        expectation: Expectation,
        side: Option<&StaticSide>,
    ) -> (Vec<Finding>, Tally, Links) {
        let hash = class_hash(before.bytes);
        let mut class = Class {
            before,
            after,
            expectation,
            hash,
            findings: Vec::new(),
            tally: Tally::default(),
            counts: Vec::new(),
            is_recorded: None,
            may_be_recorded: Vec::new(),
            pins: (false, None),
            counts_itself: BTreeSet::new(),
            by_callers: BTreeSet::new(),
            counted: BTreeMap::new(),
            first_method: None,
            traced: BTreeMap::new(),
            bodiless: BTreeMap::new(),
            own_fields: Fields::new(),
            positions: Vec::new(),
            beside: CountedMarkers::default(),
            of_markers: Vec::new(),
        };
        class.tally.classes = 1;
        if before.is(access::MODULE) {
            class.module();
        } else {
            class.all();
            if let Some(side) = side {
                class.described(side);
            }
        }
        let counted = std::mem::take(&mut class.counted).into_values().collect();
        let Class { counts_itself, by_callers, .. } = &class;
        let mut links =
            Links::known(after, |n| counts_itself.contains(&n), |n| by_callers.contains(&n), counted);
        links.numbers = (class.first_method, before.methods.len() as u32);
        (class.findings, class.tally, links)
    }

    /// Checks a module descriptor, which may lack attributes that no longer hold.
    fn module(&mut self) {
        self.tally.modules = 1;
        let (before, after) = (self.before, self.after);
        let may_go = |a: &&Attribute<'a>| matches!(a.name, b"ModuleHashes" | b"ModulePackages");
        let kept = |class: &'c ClassFile<'a>| -> Vec<(&'a [u8], &'a [u8])> {
            class.attributes.iter().filter(|a| !may_go(a)).map(|a| (a.name, a.data)).collect()
        };
        let head = |class: &ClassFile<'a>| class.bytes.len() - class.attributes.raw.len();
        if before.bytes[..head(before)] != after.bytes[..head(after)] || kept(before) != kept(after) {
            self.find(Problem::Class(ClassPart::ModuleDescriptor));
        }
        let left = after.attributes.iter().filter(may_go);
        for attribute in left {
            if !before.attributes.iter().any(|a| (a.name, a.data) == (attribute.name, attribute.data)) {
                self.find(Problem::Attribute(mutf8::lossy(attribute.name)));
            }
        }
    }

    fn all(&mut self) {
        let (before, after) = (self.before, self.after);
        // From here on, every index of a constant means the same in both.
        if !after.pool.raw().starts_with(before.pool.raw()) {
            return self.find(Problem::Class(ClassPart::Constants));
        }
        self.heads();
        for field in &before.fields {
            self.own_fields.entry(field.name_and_type()).or_insert(field.access_flags);
        }
        match CountedMarkers::of(after) {
            Some(beside) => self.beside = beside,
            None => return self.find(Problem::Attribute("cctrewrite.Markers".to_owned())),
        }
        self.attributes();
        let rows = self.own_attribute();
        // If nothing is known of the output, the attribute shows whether call sites are separate.
        let are_apart = self.positions.iter().any(|positions| !positions.is_empty());
        self.expectation.call_sites.get_or_insert(are_apart);
        let has_place =
            after.fields.iter().chain(&after.methods).any(|m| {
                m.name == b"cct$stack" || before.name() == OBJECT && m.name.starts_with(b"cct$marker")
            });
        self.expectation.markers.get_or_insert(has_place);
        if names(after, &[b"cct$rootOf"]) {
            self.expectation.no_natives.get_or_insert(true);
        }
        if names(after, &[b"cct$event", b"cct$receiver"]) {
            self.expectation.tool.get_or_insert(Tool::Trace);
        }
        let is_trace = self.expectation.tool == Some(Tool::Trace);
        self.expectation.allocations.get_or_insert_with(|| {
            if is_trace { events::are_of_objects(after) } else { allocations::are_counted_in(after) }
        });
        let enters_monitors = rows.iter().any(attribute::enters_monitors);
        self.expectation.columns.get_or_insert_with(|| columns::of_class(after, enters_monitors));
        self.fields();
        let added = self.added();
        if is_trace {
            self.first_method = first_number(before, after);
        }
        for (number, original) in before.methods.iter().enumerate() {
            let same_name = |m: &&Member<'a>| {
                (m.name_index, m.descriptor_index) == (original.name_index, original.descriptor_index)
            };
            match after.methods.get(number).filter(same_name) {
                Some(rewritten) => {
                    let twin = added.get(&(original.name, with_extension(original.descriptor))).copied();
                    let found = self.findings.len();
                    self.method(number, original, rewritten, twin, rows.get(number).copied());
                    for finding in &mut self.findings[found..] {
                        if finding.member.is_none() {
                            *finding = finding.clone().in_member(original.name_and_type());
                        }
                    }
                }
                None => self.findings.push(Finding::of(Problem::Missing).in_member(original.name_and_type())),
            }
        }
        self.recorded_rows();
        self.pins();
        self.rule();
        self.markers();
    }

    /// Checks that each marker notifies clients, and that the class has the right additions for its
    /// markers.
    fn markers(&mut self) {
        if !self.beside.are_in_order() {
            self.find(Problem::Class(ClassPart::Markers));
        }
        // The notifications and calls are only known for correct bodies.
        if !self.findings.is_empty() {
            return;
        }
        if let Some(method) = self.beside.unreported() {
            let problem = Problem::Marker(MarkerFault::Missing);
            self.findings.push(Finding::of(problem).in_member(method));
        }
        for (method, is_there) in self.beside.wrong_methods(self.after, &self.of_markers) {
            let problem = if is_there { Problem::AddedMember } else { Problem::Missing };
            self.findings.push(Finding::of(problem).in_member(method.name_and_type()));
        }
    }

    /// Checks the clocks if nothing is known of the output: the answers of all are replaced, or of
    /// none.
    fn pins(&mut self) {
        if let (true, Some(unpinned)) = std::mem::take(&mut self.pins) {
            self.findings.push(unpinned);
        }
    }

    fn heads(&mut self) {
        let (before, after) = (self.before, self.after);
        let version = (before.major_version, before.minor_version);
        let raised = before.is_interface() && before.major_version < 52;
        let is_raised = raised && (after.major_version, after.minor_version) == (52, 0);
        if (after.major_version, after.minor_version) != version && !is_raised {
            self.find(Problem::Class(ClassPart::Version));
        }
        let flags = if is_raised {
            // Older versions may lack flags that version 52 requires.
            (before.access_flags | access::ABSTRACT) & !access::SUPER
        } else {
            before.access_flags
        };
        if after.access_flags != flags {
            self.find(Problem::Class(ClassPart::Flags));
        }
        if (after.this_class, after.super_class) != (before.this_class, before.super_class) {
            self.find(Problem::Class(ClassPart::NameOrSuperclass));
        }
        if after.raw_interfaces() != before.raw_interfaces() {
            self.find(Problem::Class(ClassPart::Interfaces));
        }
    }

    fn fields(&mut self) {
        let (before, after) = (self.before, self.after);
        for (number, field) in before.fields.iter().enumerate() {
            if after.fields.get(number).is_none_or(|f| f.raw != field.raw) {
                self.findings.push(Finding::of(Problem::Field).in_member(field.name_and_type()));
            }
        }
        let markers = self.expectation.markers == Some(true);
        let mode = convention::mode(&self.expectation);
        let expected: Vec<_> = added_fields(before.name(), mode, markers).collect();
        for &wanted in &expected {
            let added = after.fields.iter().skip(before.fields.len());
            if added.filter(|field| field.name_and_type() == wanted).count() != 1 {
                self.findings.push(Finding::of(Problem::Missing).in_member(wanted));
            }
        }
        let mut wanted: BTreeMap<Box<[u8]>, _> = BTreeMap::new();
        for gained in self.beside.fields(after) {
            wanted.insert(gained.field.name.clone(), gained);
        }
        for field in after.fields.iter().skip(before.fields.len()) {
            if let Some(gained) = wanted.remove(field.name) {
                self.tally.added_fields += 1;
                if !gained.is(after, field) {
                    let finding = Finding::of(Problem::AddedMember);
                    self.findings.push(finding.in_member(field.name_and_type()));
                }
                continue;
            }
            let is_known = expected.contains(&field.name_and_type())
                && field.access_flags == access::TRANSIENT | access::SYNTHETIC
                && field.attributes.is_empty();
            self.tally.added_fields += 1;
            if !is_known {
                self.findings.push(Finding::of(Problem::AddedMember).in_member(field.name_and_type()));
            }
        }
        if let Some(name) = wanted.into_keys().next() {
            self.findings.push(Finding::of(Problem::Missing).in_member(NameAndType::new(&name, b"")));
        }
    }

    /// Checks the class's own attributes. The last one is the rewriter's; the list of the class's
    /// markers may precede it.
    fn attributes(&mut self) {
        let mut after = self.after.attributes.iter();
        for attribute in self.before.attributes.iter() {
            if after.next().is_none_or(|a| (a.name, a.data) != (attribute.name, attribute.data)) {
                self.find(Problem::Attribute(mutf8::lossy(attribute.name)));
                return;
            }
        }
        let is_marked = !self.beside.markers.is_empty();
        if is_marked && after.next().is_none_or(|a| !is_list(a)) {
            self.find(Problem::Attribute("cctrewrite.Markers".to_owned()));
        }
        if after.next().is_none_or(|a| a.name != ATTRIBUTE) || after.next().is_some() {
            self.find(Problem::OwnAttribute(OwnAttributeFault::Missing));
        }
    }

    /// The added methods, by name and descriptor. Those that are not extended forms are checked
    /// here.
    fn added(&mut self) -> BTreeMap<(&'a [u8], Vec<u8>), &'c Member<'a>> {
        let (before, after) = (self.before, self.after);
        let is_marked = !self.beside.markers.is_empty();
        let mut twins = BTreeMap::new();
        let mut helpers = 0;
        let mut seen = BTreeSet::new();
        // Natives that the runtime calls without their hooks, with their static flag.
        let mut natives: BTreeMap<NameAndType<'_>, u16> = before
            .methods
            .iter()
            .filter(|m| m.is(access::NATIVE))
            .filter(|m| CALLED_BY_RUNTIME.contains(&MemberName::new(before.name(), m.name)))
            .map(|m| (m.name_and_type(), m.access_flags & access::STATIC))
            .collect();
        let mut renamed: BTreeMap<(Vec<u8>, &[u8]), u16> =
            self.renamed_natives().map(|(name, descriptor, flags)| ((name, descriptor), flags)).collect();
        let wanted: BTreeSet<(&[u8], Vec<u8>)> =
            before.methods.iter().map(|m| (m.name, with_extension(m.descriptor))).collect();
        for method in after.methods.iter().skip(before.methods.len()) {
            self.tally.added_methods += 1;
            let is_first = seen.insert(method.name_and_type());
            let key = (method.name, method.descriptor.to_vec());
            let mut is_known = if wanted.contains(&key) {
                twins.insert(key, method).is_none()
            } else if before.name() == OBJECT && forwarder::is_helper(after, method, &self.expectation) {
                helpers += 1;
                method.access_flags == access::PUBLIC | access::STATIC | access::SYNTHETIC
            } else if let Some(flags) = renamed.remove(&(method.name.to_vec(), method.descriptor)) {
                method.access_flags == flags && method.attributes.iter().next().is_none()
            } else if is_tie_break(after, method) {
                self.tally.tie_breaks += 1;
                method.access_flags == access::PUBLIC | access::SYNTHETIC && !method.is(access::STATIC)
            } else {
                let native = method.name.strip_prefix(b"cct$").unwrap_or_default();
                natives.remove(&NameAndType::new(native, method.descriptor)).is_some_and(|kind| {
                    method.access_flags == kind | access::FINAL | access::SYNTHETIC
                        && forwarder::is_call_for_the_runtime(after, method, is_static(kind))
                })
            };
            if !is_known && is_marked && method.name.starts_with(b"cct$") {
                // Check them once the calls of all bodies are known.
                self.of_markers.push(method);
                is_known = true;
            }
            is_known &= is_first;
            is_known &= method.attributes.iter().all(|a| {
                a.name == b"Code"
                    || a.name == b"RuntimeVisibleAnnotations" && !method.name.starts_with(b"cct$")
                    || before.name() == OBJECT && a.name == b"RuntimeVisibleAnnotations"
            });
            if !is_known {
                self.findings.push(Finding::of(Problem::AddedMember).in_member(method.name_and_type()));
            }
        }
        for (name, descriptor) in renamed.into_keys() {
            let problem = Problem::Class(ClassPart::RenamedNative);
            self.findings.push(Finding::of(problem).in_member(NameAndType::new(&name, descriptor)));
        }
        for native in natives.into_keys() {
            let problem = Problem::Runtime(RuntimeFault::NoMethod);
            self.findings.push(Finding::of(problem).in_member(native));
        }
        if before.name() == OBJECT && helpers != convention::helpers(&self.expectation).count() {
            self.find(Problem::Class(ClassPart::Helpers));
        }
        twins
    }
}

/// Whether an added method redispatches a method that the class inherits.
pub(crate) fn is_tie_break<'a>(class: &ClassFile<'a>, method: &Member<'a>) -> bool {
    let tail = end_of_parameters(method.descriptor).unwrap_or_default();
    let Some(arguments) = method.descriptor[..tail].strip_suffix(cct_jdk::convention::EXTENSION) else {
        return false;
    };
    let descriptor = [arguments, &method.descriptor[tail..]].concat();
    // The target borrows from these.
    let Ok(Some(code)) = Code::of(class, method) else { return false };
    let callee = code.instructions().filter_map(|i| class.pool.member_ref(i.pool_index()?).ok());
    let same = callee.filter(|c| c.name == method.name && c.descriptor == descriptor).last();
    same.and_then(|c| Target::of(class, c.name_and_type(), false))
        .is_some_and(|t| t.redispatch().is(class, method))
}

/// Whether code of the class names one of these helpers.
pub(crate) fn names(class: &ClassFile<'_>, helpers: &[&[u8]]) -> bool {
    let is_one = |index| matches!(class.pool.member_ref(index), Ok(member) if helpers.contains(&member.name));
    class.pool.indices().any(is_one)
}

/// The number of a class's first method, from the first method that writes its start event.
pub(crate) fn first_number(before: &ClassFile<'_>, after: &ClassFile<'_>) -> Option<u32> {
    let mut numbers: BTreeMap<(&[u8], Vec<u8>), u32> = BTreeMap::new();
    for (number, method) in (0..).zip(&before.methods) {
        numbers.insert((method.name, method.descriptor.to_vec()), number);
        numbers.insert((method.name, with_extension(method.descriptor)), number);
    }
    let started = |method: &Member<'_>| {
        let code = Code::of(after, method).ok()??;
        let reader = Reader::new(after, &code);
        (1..reader.steps.len()).find_map(|at| events::started(reader.op(at - 1), reader.op(at)))
    };
    after.methods.iter().find_map(|method| {
        let number = *numbers.get(&(method.name, method.descriptor.to_vec()))?;
        started(method)?.checked_sub(number)
    })
}
