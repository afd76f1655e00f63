//! Classes of `--tool markers` (docs/research/markers.md): without the inserted code they must be
//! the originals, and the inserted code must be consistent.
//!
//! The code is compared with the class's own attribute, and the attribute with the original. The
//! given rules are not known here.

pub(crate) mod attribute;
mod bare_body;
mod body;
mod exactly;
mod gate;
mod helpers;
mod method;
mod order;
mod piece_index;
mod pieces;
mod places;
mod skipped_pieces;

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::{ClassFile, Code, Member, MemberRef, NameAndType, NameAndTypeBuf, access, mutf8, opcode};

use crate::faults::{ClassPart, MarkerFault, MethodPart};
use crate::finding::{Finding, Problem};
use crate::marked::gate::Gate;
use crate::marked::method::Method;
use crate::op::{Callee, Op};
use crate::probe::Reader;
use crate::tally::Tally;
use attribute::Descriptor;
use helpers::{AddedField, Gains, Helper};

pub(crate) use attribute::Descriptor as Marker;
pub(crate) use bare_body::{BareBody, CountedMarkers};
pub(crate) use helpers::Helper as MarkerHelper;
pub(crate) use skipped_pieces::SkippedPieces;

/// The class that classes of programs call.
const GATE: &[u8] = b"cctrewrite/markers/Gate";
/// The class that classes of a marked class library call, and programs that run on it.
const LIBRARY_GATE: &[u8] = b"java/lang/CctMarkers";

/// A field that a class of the class library gains.
const STACK: MemberRef<'_> = MemberRef::new(b"java/lang/Thread", b"cct$stack", b"Ljava/lang/Object;");

/// Reports of the class library to the runtime besides markers: the method, and its callee.
const PROGRESS_REPORTS: [(&[u8], &[u8]); 3] = [
    (b"sun/launcher/LauncherHelper", b"launched"),
    (b"java/lang/Shutdown", b"halting"),
    (b"java/lang/Module", b"packages"),
];

/// Whether a class has markers.
pub(crate) fn is_marked(class: &ClassFile<'_>) -> bool {
    class.attributes.find(attribute::NAME).is_some()
}

/// Checks one class against its original.
pub(crate) fn check(before: &ClassFile<'_>, after: &ClassFile<'_>) -> (Vec<Finding>, Tally) {
    let mut class =
        Class { before, after, findings: Vec::new(), tally: Tally { classes: 1, ..Tally::default() } };
    class.all();
    (class.findings, class.tally)
}

/// The numbers of the markers of each method.
type OfMethods<'m> = BTreeMap<NameAndType<'m>, Vec<usize>>;

struct Class<'c, 'a> {
    before: &'c ClassFile<'a>,
    after: &'c ClassFile<'a>,
    findings: Vec<Finding>,
    tally: Tally,
}

impl<'c, 'a> Class<'c, 'a> {
    fn find(&mut self, problem: Problem) {
        self.findings.push(Finding::of(problem));
    }

    fn all(&mut self) {
        let (before, after) = (self.before, self.after);
        // From here on, every index of a constant means the same in both.
        if !after.pool.raw().starts_with(before.pool.raw()) {
            return self.find(Problem::Class(ClassPart::Constants));
        }
        self.heads();
        let markers = self.attributes();
        let markers: Vec<Descriptor<'a>> = match markers.map(|attribute| attribute::read(&attribute)) {
            None => Vec::new(),
            Some(Some(markers)) if !markers.is_empty() => markers,
            Some(_) => return self.find(Problem::Attribute("cctrewrite.Markers".to_owned())),
        };
        let calls_library =
            |index| matches!(after.pool.member_ref(index), Ok(member) if member.class == LIBRARY_GATE);
        let gate = if after.pool.indices().any(calls_library) { LIBRARY_GATE } else { GATE };
        let gate = Gate::Class(gate);
        let gains = Gains { class: after, gate, markers: &markers };
        self.fields(&gains);
        let mut of_methods: OfMethods<'_> = BTreeMap::new();
        for (number, marker) in markers.iter().enumerate() {
            of_methods.entry(marker.method).or_default().push(number);
        }
        self.numbers(&markers, &of_methods);
        let mut called = BTreeMap::new();
        for (number, original) in before.methods.iter().enumerate() {
            let same_name = |m: &&Member<'a>| {
                (m.name_index, m.descriptor_index) == (original.name_index, original.descriptor_index)
            };
            let found = self.findings.len();
            match after.methods.get(number).filter(same_name) {
                Some(rewritten) => self.method(original, rewritten, &gains, &of_methods, &mut called),
                None => self.find(Problem::Missing),
            }
            for finding in &mut self.findings[found..] {
                if finding.member.is_none() {
                    *finding = finding.clone().in_member(original.name_and_type());
                }
            }
        }
        self.added(&gains, &called);
    }

    fn heads(&mut self) {
        let head = |class: &ClassFile<'a>| {
            (
                (class.major_version, class.minor_version, class.access_flags),
                (class.this_class, class.super_class),
                class.raw_interfaces().to_vec(),
            )
        };
        if head(self.before) != head(self.after) {
            self.find(Problem::Class(ClassPart::Heads));
        }
    }

    /// Checks the class's own attributes, which its list of markers follows. Returns the last one.
    fn attributes(&mut self) -> Option<cct_classfile::Attribute<'a>> {
        let mut after = self.after.attributes.iter();
        for attribute in self.before.attributes.iter() {
            if after.next().is_none_or(|a| (a.name, a.data) != (attribute.name, attribute.data)) {
                self.find(Problem::Attribute(mutf8::lossy(attribute.name)));
                return None;
            }
        }
        let own = after.next().copied();
        if own.as_ref().is_some_and(|own| own.name != attribute::NAME) || after.next().is_some() {
            self.find(Problem::Attribute("after the original ones".to_owned()));
        }
        own
    }

    /// Checks that per-object markers come first, since these have bits for 32, and that the
    /// method of each marker exists.
    fn numbers(&mut self, markers: &[Descriptor<'_>], of_methods: &OfMethods<'_>) {
        let asking = markers.iter().filter(|marker| marker.per_object).count();
        let first = markers.iter().take(asking).all(|marker| marker.per_object);
        let there: BTreeSet<NameAndType<'_>> =
            self.before.methods.iter().map(Member::name_and_type).collect();
        if asking > 32 || !first || !of_methods.keys().all(|method| there.contains(method)) {
            self.find(Problem::Class(ClassPart::Markers));
        }
    }

    fn fields(&mut self, gains: &Gains<'_, '_>) {
        let (before, after) = (self.before, self.after);
        for (number, field) in before.fields.iter().enumerate() {
            if after.fields.get(number).is_none_or(|f| f.raw != field.raw) {
                self.findings.push(Finding::of(Problem::Field).in_member(field.name_and_type()));
            }
        }
        let mut wanted = Vec::new();
        if before.name() == STACK.class {
            let flags = access::TRANSIENT | access::SYNTHETIC;
            wanted.push(AddedField { field: STACK.name_and_type().into(), flags, all_on: false });
        }
        if !gains.markers.is_empty() {
            wanted.extend(gains.fields());
        }
        let added: Vec<&Member<'a>> = after.fields.iter().skip(before.fields.len()).collect();
        self.tally.added_fields += added.len() as u64;
        for (field, gained) in added.iter().zip(&wanted) {
            if !gained.is(after, field) {
                self.findings.push(Finding::of(Problem::AddedMember).in_member(field.name_and_type()));
            }
        }
        if added.len() != wanted.len() {
            self.find(Problem::Class(ClassPart::AddedFields));
        }
    }

    fn method(
        &mut self,
        original: &Member<'a>,
        rewritten: &Member<'a>,
        gains: &Gains<'_, 'a>,
        of_methods: &OfMethods<'_>,
        called: &mut BTreeMap<Helper, u16>,
    ) {
        self.tally.methods += 1;
        let is_code = |a: &&cct_classfile::Attribute<'a>| a.name == b"Code";
        let others = |member: &Member<'a>| -> Vec<(&'a [u8], &'a [u8])> {
            member.attributes.iter().filter(|a| !is_code(a)).map(|a| (a.name, a.data)).collect()
        };
        if original.access_flags != rewritten.access_flags || others(original) != others(rewritten) {
            self.find(Problem::Head(MethodPart::FlagsOrAttributes));
        }
        let own = of_methods.get(&original.name_and_type()).map_or(&[][..], |own| own);
        if original.raw == rewritten.raw {
            if !own.is_empty() {
                self.find(Problem::Marker(MarkerFault::Missing));
            }
            *self.tally.forms.entry("unchanged").or_default() += 1;
            return;
        }
        let code = match Code::of(self.before, original) {
            Ok(Some(code)) => code,
            Ok(None) => return self.find(Problem::Head(MethodPart::Codes)),
            Err(e) => return self.find(Problem::Unreadable { which: "original", why: e.to_string() }),
        };
        if let Some(reports) = self.progress_reports(rewritten) {
            // Marking begins after the insertion of these calls, so its indices include them.
            called.extend(reports);
            let what = "methods that report the JVM's progress to the markers' runtime";
            return self.tally.not_checked(what, original.of_class(self.before.name()).member_name());
        }
        if own.is_empty() {
            return self.find(Problem::Marker(MarkerFault::Unlisted));
        }
        let (before, after, markers, gate) = (self.before, self.after, gains.markers, gains.gate);
        match (Method { before, after, original, code: &code, markers, own, gate }).body(rewritten) {
            Ok(body) => {
                self.tally.pieces += body.pieces;
                *self.tally.forms.entry("with markers").or_default() += 1;
                called.extend(body.called);
                for name in body.dropped {
                    *self.tally.dropped.entry(name).or_default() += 1;
                }
                if own.iter().any(|number| markers[*number].is_loop()) {
                    self.tally
                        .not_checked("where loops are left", original.of_class(before.name()).member_name());
                }
            }
            Err(finding) => self.findings.push(finding),
        }
    }

    /// Checks a method of the class library that reports to the runtime. Returns the helpers that
    /// it calls, with numbers of markers.
    fn progress_reports(&self, rewritten: &Member<'a>) -> Option<Vec<(Helper, u16)>> {
        let (_, call) = PROGRESS_REPORTS.iter().find(|(class, _)| *class == self.before.name())?;
        let code = Code::of(self.after, rewritten).ok()??;
        let reader = Reader::new(self.after, &code);
        let callee = |at| match reader.op(at) {
            Op::Invoke(opcode::INVOKESTATIC, callee, _) => Some(callee),
            _ => None,
        };
        let is_told = |c: Callee<'_>| c.method.class == LIBRARY_GATE && c.method.name == *call;
        let all = 0..reader.steps.len();
        all.clone().filter_map(callee).find(|c| is_told(*c))?;
        let helper = |at: usize| {
            let helper = Helper::of(self.after, &callee(at)?, Gate::Class(LIBRARY_GATE))?;
            let index = match (helper.is_own, reader.op(at.checked_sub(1)?)) {
                (true, _) => helper.number,
                (false, Op::Int(index)) => u16::try_from(index).ok()?,
                _ => return None,
            };
            Some((helper, index))
        };
        Some(all.filter_map(helper).collect())
    }

    /// Checks the added methods: those that marked code calls, and those that these need.
    fn added(&mut self, gains: &Gains<'_, '_>, called: &BTreeMap<Helper, u16>) {
        let mut wanted =
            if gains.markers.is_empty() { helpers::ExpectedMethods::new() } else { gains.methods(called) };
        for method in self.after.methods.iter().skip(self.before.methods.len()) {
            self.tally.added_methods += 1;
            let codes = wanted.remove(&NameAndTypeBuf::from(method.name_and_type()));
            let is_right = method.access_flags == access::PRIVATE | access::STATIC | access::SYNTHETIC
                && method.attributes.iter().all(|a| a.name == b"Code")
                && codes.is_some_and(|codes| codes.iter().any(|code| code.is(self.after, method)));
            if !is_right {
                let finding = Finding::of(Problem::AddedMember);
                self.findings.push(finding.in_member(method.name_and_type()));
            }
        }
        for method in wanted.into_keys() {
            self.findings.push(Finding::of(Problem::Missing).in_member(method.name_and_type()));
        }
    }
}
