//! The check of one method: the forms under its two signatures, and their consistency
//! (docs/internals/treatments.md).

use cct_classfile::{Code, Member, access, mutf8};
use cct_jdk::convention::OBJECT;
use cct_jdk::native_hooks::REPLACED;
use cct_jdk::program;

use crate::allocations;
use crate::attribute::{Row, flag, treatment};
use crate::body::{Body, Method};
use crate::class::Class;
use crate::columns;
use crate::convention::{method_id, mode};
use crate::debug_tables::DebugTables;
use crate::expectation::Tool;
use crate::faults::{FormsFault, ForwarderKind, MethodPart, OwnAttributeFault, RuntimeFault};
use crate::finding::{Finding, Problem};
use crate::forms::{ExtendedForm, OriginalForm};
use crate::forwarder::{self, Target};
use crate::sites::Sites;

/// A method to be checked.
#[derive(Clone, Copy)]
struct Subject<'s, 'c, 'a> {
    /// Its place in the class file.
    number: usize,
    original: &'c Member<'a>,
    /// The code of the original.
    code: Option<&'s Code<'a>>,
    /// What its forwarders call.
    target: &'s Target<'a>,
}

impl<'c, 'a> Class<'c, 'a> {
    /// Checks one method: its two forms, and their consistency.
    pub(crate) fn method(
        &mut self,
        number: usize,
        original: &'c Member<'a>,
        rewritten: &'c Member<'a>,
        twin: Option<&'c Member<'a>>,
        row: Option<Row>,
    ) {
        self.tally.methods += 1;
        let code = match Code::of(self.before, original) {
            Ok(code) => code,
            Err(e) => {
                return self.find(Problem::Unreadable { which: "original", why: e.to_string() });
            }
        };
        let slots = code.as_ref().map_or(0, |code| self.slots(code));
        let Some(target) = Target::of(self.before, original.name_and_type(), original.is(access::STATIC))
        else {
            return self.find(Problem::Head(MethodPart::Descriptors));
        };
        let subject = Subject { number, original, code: code.as_ref(), target: &target };
        let Some(first) = self.original(&subject, rewritten) else { return };
        let second = match twin {
            None => {
                self.misses_no_hook(original, &first);
                Some(ExtendedForm::Absent)
            }
            Some(twin) => self.extended(&subject, twin, &first),
        };
        let Some(second) = second else { return };
        self.without_body(number, original, &second);
        let Some((treatments, slots)) = self.treatments(&subject, &first, &second, slots, row) else {
            return self.find(Problem::Forms(FormsFault::Pair(first.name(), second.name())));
        };
        let has_code = code.is_some();
        if let Some(row) = row {
            let is_left = matches!(first, OriginalForm::Same)
                && has_code
                && matches!(second, ExtendedForm::Absent | ExtendedForm::Stored | ExtendedForm::Redispatch);
            match mismatch(row, treatments, slots, &first, &second) {
                Some(fault) => self.find(Problem::OwnAttribute(fault)),
                None => self.flags_of(number, original, row, is_left),
            }
        }
        if let (OriginalForm::Same, Some(code)) = (&first, &code) {
            self.left_out(original, code);
        }
        if counts_itself(&first, &second) {
            self.counts_itself.insert(number);
        }
        *self.tally.forms.entry(form(&first, &second, has_code)).or_default() += 1;
        let length = code.as_ref().map_or(0, Code::length);
        for (form, is_extended) in [(body_of_original(first), false), (body_of_extended(second), true)] {
            if let Some(body) = form {
                self.take(number, is_extended, length, *body);
            }
        }
    }

    /// Number of slots that the node of a method with this code has.
    fn slots(&self, code: &Code<'a>) -> usize {
        let calls = code.instructions().filter(|i| cct_classfile::opcode::is_invoke(i.opcode)).count();
        let places = match self.expectation.allocations {
            Some(true) => allocations::places(self.before, code.instructions()),
            _ => 0,
        };
        let columns = columns::of_code(self.expectation.columns(), code.instructions()).len();
        let are_apart = self.expectation.call_sites == Some(true);
        Sites { count: calls + places + columns, are_apart }.slots()
    }

    /// Finds a native without extended form that needs one, to call the runtime.
    fn misses_no_hook(&mut self, original: &Member<'a>, first: &OriginalForm) {
        let is_renamed = matches!(first, OriginalForm::Renamed(_));
        if original.is(access::NATIVE)
            && !is_renamed
            && self.native_hooks(original).iter().any(|way| !way.is_empty())
        {
            self.find(Problem::Runtime(RuntimeFault::Missing));
        }
    }

    /// Codes of the treatments that have these forms (docs/reference/formats/index.md), and the
    /// number of the node's slots; `None` if no treatment has both.
    fn treatments(
        &self,
        subject: &Subject<'_, 'c, 'a>,
        first: &OriginalForm,
        second: &ExtendedForm,
        slots: usize,
        row: Option<Row>,
    ) -> Option<(&'static [u8], usize)> {
        let Subject { original, code, .. } = subject;
        let is_native = original.is(access::NATIVE);
        Some(match (first, second) {
            (OriginalForm::Wrapper, ExtendedForm::Body(_)) => (&[0], slots),
            (OriginalForm::Body(_), ExtendedForm::Body(_)) => (&[1], slots),
            (OriginalForm::Body(_), ExtendedForm::Redispatch) => (&[2], slots),
            (OriginalForm::Body(_), ExtendedForm::Absent) => (&[4], slots),
            (OriginalForm::Same, ExtendedForm::Redispatch) if code.is_none() => (&[3], 0),
            // Too large to be instrumented.
            (OriginalForm::Same, ExtendedForm::Redispatch) => (&[0, 1, 2], 0),
            (OriginalForm::Same, ExtendedForm::ToNative) if is_native => (&[5], 1),
            (OriginalForm::Same, ExtendedForm::Counted(0)) if is_native => (&[6], 0),
            (OriginalForm::Same, ExtendedForm::Counted(0)) => (&[7, 10], 0),
            (OriginalForm::Same, ExtendedForm::Counted(_)) if !is_native => (&[7], 0),
            (OriginalForm::Renamed(renamed), ExtendedForm::Absent) => {
                // For a method that is not recorded, nothing shows whether it may call back.
                let said = row.map_or(0, |row| usize::from(row.slots).min(1));
                (&[11], renamed.slots.unwrap_or(said))
            }
            (OriginalForm::Same, ExtendedForm::Bypassed) if !is_native => (&[10], 0),
            (OriginalForm::Same, ExtendedForm::Stored) if !is_native => (&[0, 1], 0),
            (OriginalForm::Same | OriginalForm::Runtime, ExtendedForm::Absent) => {
                (self.without_forms(original), 0)
            }
            _ => return None,
        })
    }

    /// Checks the flags of a method's row, which is right otherwise.
    fn flags_of(&mut self, number: usize, original: &Member<'a>, row: Row, is_left: bool) {
        // Callers count those without a form or probe, since the class is recorded.
        let is_counted_by_callers = row.treatment == treatment::CALLER_COUNTED;
        self.flags(number, original, row, is_left && !is_counted_by_callers);
        let is_alone = is_counted_by_callers && row.flags & flag::NOT_RECORDED == 0;
        self.by_callers.extend(is_alone.then_some(number));
    }

    /// The count of straight code, including its entry.
    fn straight_cost(&self, code: &Code<'a>) -> i32 {
        let Some(model) = self.expectation.cost_model else { return code.instructions().count() as i32 };
        let (pool, size) = (&self.before.pool, code.length());
        let sum: u32 = code.instructions().map(|i| model.of(&i, pool, size)).sum();
        (sum + model.entry(size)) as i32
    }

    fn of<'m>(
        &'m self,
        number: usize,
        original: &'m Member<'a>,
        code: &'m Code<'a>,
        own: &'m [usize],
    ) -> Method<'m, 'a>
    where
        'c: 'm,
    {
        let (before, after, hash, expectation) = (self.before, self.after, self.hash, self.expectation);
        let packed_positions = self.positions.get(number).copied().unwrap_or_default();
        let fields = &self.own_fields;
        let first_method = self.first_method;
        Method {
            before,
            after,
            hash,
            number,
            original,
            code,
            expectation,
            fields,
            packed_positions,
            first_method,
            markers: &self.beside.markers,
            own,
        }
    }

    /// Checks the code under the original signature; `None` if it has a fault.
    fn original(&mut self, subject: &Subject<'_, 'c, 'a>, rewritten: &'c Member<'a>) -> Option<OriginalForm> {
        let Subject { number, original, code, target } = *subject;
        let named = original.of_class(self.before.name());
        let switch = program::switch(named);
        let is_replaced = REPLACED.contains(&named);
        let query = program::query(named, original.access_flags, mode(&self.expectation));
        if original.raw == rewritten.raw {
            if switch.is_some() || is_replaced || query.is_some() {
                self.find(Problem::Runtime(RuntimeFault::Missing));
            }
            return Some(OriginalForm::Same);
        }
        let attributes = |m: &'c Member<'a>| {
            let others = m.attributes.iter().filter(|a| a.name != b"Code");
            others.map(|a| (a.name, a.data)).collect::<Vec<_>>()
        };
        if attributes(original) != attributes(rewritten) {
            self.find(Problem::Head(MethodPart::Attributes));
            return None;
        }
        if is_replaced
            && rewritten.access_flags == original.access_flags & !access::NATIVE
            && forwarder::is_replacement(self.after, rewritten)
        {
            return Some(OriginalForm::Runtime);
        }
        let hash = self.hash;
        let id = |slots| method_id(hash, number, slots);
        if let Some(renamed) = self.in_place_of_native(original, rewritten, target, id) {
            return Some(OriginalForm::Renamed(renamed));
        }
        if rewritten.access_flags != original.access_flags {
            self.find(Problem::Head(MethodPart::Flags));
            return None;
        }
        if let Some(what) = switch
            && target.switch(what.into()).is(self.after, rewritten)
        {
            return Some(OriginalForm::Runtime);
        }
        if let Some(helper) = query
            && target.query(helper).is(self.after, rewritten)
        {
            return Some(OriginalForm::Runtime);
        }
        // A trace needs no replay: its events come in order, even if the VM calls.
        let replays: &[bool] =
            if self.expectation.tool == Some(Tool::Trace) { &[false] } else { &[false, true] };
        // The rewriter writes no wrapper for a body with unreadable tables.
        let tables = code
            .and_then(|code| DebugTables::of_wrapper(self.before, code, &target.parameter_slots()))
            .unwrap_or_default();
        let is_wrapper = |tables: &DebugTables| {
            replays.iter().any(|&replays| target.wrapper(replays).is_with(tables, self.after, rewritten))
        };
        let nameless = tables.without_names();
        let names = self.expectation.parameter_names;
        if nameless.as_ref().is_some_and(|tables| names != Some(true) && is_wrapper(tables)) {
            // All wrappers of a class name their parameters, or none does.
            self.expectation.parameter_names = Some(false);
            return Some(OriginalForm::Wrapper);
        }
        if (nameless.is_none() || names != Some(false)) && is_wrapper(&tables) {
            if nameless.is_some() {
                self.expectation.parameter_names = Some(true);
            }
            return Some(OriginalForm::Wrapper);
        }
        let Some(code) = code else {
            self.find(Problem::Forwarder(ForwarderKind::WithoutCode));
            return None;
        };
        let own = self.beside.of_method(original);
        let method = self.of(number, original, code, &own);
        match method.body(rewritten, false) {
            Ok(body) => Some(OriginalForm::Body(Box::new(body))),
            Err(finding) => {
                // Code that begins as a wrapper and is not one differs from the wrapper.
                let problem = match finding.problem {
                    Problem::Prologue => Problem::Forwarder(ForwarderKind::Original),
                    other => other,
                };
                self.findings.push(Finding { problem, ..finding });
                None
            }
        }
    }

    /// Checks the code under the extended signature; `None` if it has a fault.
    fn extended(
        &mut self,
        subject: &Subject<'_, 'c, 'a>,
        twin: &'c Member<'a>,
        first: &OriginalForm,
    ) -> Option<ExtendedForm> {
        let Subject { number, original, code, target } = *subject;
        let found = self.findings.len();
        for attribute in twin.attributes.iter().filter(|a| a.name != b"Code") {
            let its = original.attributes.find(attribute.name);
            if attribute.name != b"RuntimeVisibleAnnotations" || its.is_none_or(|a| a.data != attribute.data)
            {
                self.find(Problem::Attribute(mutf8::lossy(attribute.name)));
            }
        }
        // A subclass may have an extended form of its own that leads to a final method
        // (docs/internals/treatments.md), so none is final. HotSpot fixes the virtual table of
        // `Object`, in which final methods have no entry.
        let without = if self.before.name() == OBJECT { 0 } else { access::FINAL };
        let flags = original.access_flags & !(access::VARARGS | without) | access::SYNTHETIC;
        let of_forwarders =
            flags & !(access::NATIVE | access::SYNCHRONIZED | access::ABSTRACT | access::STRICT);
        let is_body = matches!(first, OriginalForm::Wrapper)
            || matches!(first, OriginalForm::Body(_)) && !target.redispatch().is(self.after, twin);
        if twin.access_flags != if is_body { flags } else { of_forwarders } {
            self.find(Problem::Head(MethodPart::ExtendedFlags));
        }
        if is_body {
            let Some(code) = code else {
                self.find(Problem::Forms(FormsFault::WrapperWithoutCode));
                return None;
            };
            let own = self.beside.of_method(original);
            let method = self.of(number, original, code, &own);
            return match method.body(twin, true) {
                Ok(body) => (found == self.findings.len()).then(|| ExtendedForm::Body(Box::new(body))),
                Err(finding) => {
                    self.findings.push(finding.in_member(twin.name_and_type()));
                    None
                }
            };
        }
        let length = code.map_or(0, |code| self.straight_cost(code));
        self.forwarder(number, original, twin, target, length).filter(|_| found == self.findings.len())
    }
}

/// The bodies among a method's forms.
fn bodies<'f>(original: &'f OriginalForm, extended: &'f ExtendedForm) -> impl Iterator<Item = &'f Body> {
    let first = match original {
        OriginalForm::Body(body) => Some(&**body),
        _ => None,
    };
    let second = match extended {
        ExtendedForm::Body(body) => Some(&**body),
        _ => None,
    };
    first.into_iter().chain(second)
}

fn body_of_original(form: OriginalForm) -> Option<Box<Body>> {
    match form {
        OriginalForm::Body(body) => Some(body),
        _ => None,
    }
}

fn body_of_extended(form: ExtendedForm) -> Option<Box<Body>> {
    match form {
        ExtendedForm::Body(body) => Some(body),
        _ => None,
    }
}

/// The contradiction of a method's row to its forms, if there is one.
fn mismatch(
    row: Row,
    treatments: &[u8],
    slots: usize,
    first: &OriginalForm,
    second: &ExtendedForm,
) -> Option<OwnAttributeFault> {
    if !treatments.contains(&row.treatment) {
        return Some(OwnAttributeFault::Treatment);
    }
    if usize::from(row.slots) != slots {
        return Some(OwnAttributeFault::Slots);
    }
    let is_wrong = bodies(first, second).any(|body| body.on_entry != row.on_entry)
        || row.on_entry > 0 && bodies(first, second).next().is_none();
    is_wrong.then_some(OwnAttributeFault::OnEntry)
}

/// Whether a method's own code counts it, as far as that is known: it may be recorded if nothing in
/// it shows that.
fn counts_itself(first: &OriginalForm, second: &ExtendedForm) -> bool {
    match (first, second) {
        (OriginalForm::Body(body), _) | (OriginalForm::Wrapper, ExtendedForm::Body(body)) => {
            body.is_recorded != Some(false)
        }
        (OriginalForm::Renamed(renamed), _) => renamed.slots.is_some(),
        _ => false,
    }
}

/// The name of a method's forms in the tally.
fn form(first: &OriginalForm, second: &ExtendedForm, has_code: bool) -> &'static str {
    match (first, second) {
        (OriginalForm::Same, ExtendedForm::Absent) if !has_code => "no code",
        (OriginalForm::Same, ExtendedForm::Absent | ExtendedForm::Stored) => "left as it is",
        (OriginalForm::Same, ExtendedForm::Redispatch) if has_code => "left as it is",
        (OriginalForm::Wrapper, _) => "wrapped",
        (OriginalForm::Body(_), ExtendedForm::Body(_)) => "duplicated",
        (OriginalForm::Body(_), ExtendedForm::Redispatch) => "redispatched",
        (OriginalForm::Body(_), _) => "original only",
        (OriginalForm::Same, ExtendedForm::Redispatch) => "abstract, redispatched",
        (OriginalForm::Same, ExtendedForm::ToNative) => "native",
        (OriginalForm::Same, ExtendedForm::Bypassed) => "counted, records nothing below",
        (OriginalForm::Same, _) => "counted, then called",
        (OriginalForm::Runtime, _) => "calls the runtime",
        (OriginalForm::Renamed(_), _) => "native, renamed",
    }
}
