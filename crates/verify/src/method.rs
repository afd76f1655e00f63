//! The check of one method: the forms under its two signatures, and their consistency
//! (docs/internals/treatments.md).

use cct_classfile::{Code, Member, NameAndType, access, mutf8};
use cct_jdk::convention::{OBJECT, with_extension};
use cct_jdk::native_hooks::REPLACED;
use cct_jdk::program;

use crate::allocations;
use crate::attribute::{Row, flag, treatment};
use crate::body::{Body, MAY_OUTGROW, Method};
use crate::class::{Class, Traced};
use crate::columns;
use crate::convention::method_id;
use crate::debug_tables::DebugTables;
use crate::expectation::Tool;
use crate::faults::{ClockFault, FormsFault, ForwarderKind, MethodPart, OwnAttributeFault, RuntimeFault};
use crate::finding::{Finding, Problem};
use crate::forms::{Extended, Original};
use crate::forwarder::{self, Target};
use crate::links::Counted;
use crate::rule::Rule;
use crate::sites::Sites;
use crate::traces::Level;

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
        let count = code.as_ref().map_or(0, |code| {
            code.instructions().filter(|i| cct_classfile::opcode::is_invoke(i.opcode)).count()
        });
        let places = match (&code, self.expectation.allocations) {
            (Some(code), Some(true)) => allocations::places(self.before, code.instructions()),
            _ => 0,
        };
        let columns = code
            .as_ref()
            .map_or(0, |code| columns::of_code(self.expectation.columns(), code.instructions()).len());
        let slots =
            Sites { count: count + places + columns, are_apart: self.expectation.call_sites == Some(true) }
                .slots();
        let Some(target) = Target::of(self.before, original.name_and_type(), original.is(access::STATIC))
        else {
            return self.find(Problem::Head(MethodPart::Descriptors));
        };
        let is_native = original.is(access::NATIVE);
        let Some(first) = self.original(number, original, rewritten, code.as_ref(), &target) else { return };
        let second = match twin {
            None => {
                let is_renamed = matches!(first, Original::Renamed(_));
                if is_native && !is_renamed && self.native_hooks(original).iter().any(|way| !way.is_empty()) {
                    self.find(Problem::Runtime(RuntimeFault::Missing));
                }
                Extended::Absent
            }
            Some(twin) => {
                let length = code.as_ref().map_or(0, |c| self.straight_cost(c));
                match self.extended(number, original, twin, code.as_ref(), &target, &first, length) {
                    Some(form) => form,
                    None => return,
                }
            }
        };
        self.without_body(number, original, &second);
        // Codes of the treatments that have these forms (docs/reference/formats/index.md), and the
        // number of the node's slots.
        let (treatments, slots): (&[u8], usize) = match (&first, &second) {
            (Original::Wrapper, Extended::Body(_)) => (&[0], slots),
            (Original::Body(_), Extended::Body(_)) => (&[1], slots),
            (Original::Body(_), Extended::Redispatch) => (&[2], slots),
            (Original::Body(_), Extended::Absent) => (&[4], slots),
            (Original::Same, Extended::Redispatch) if code.is_none() => (&[3], 0),
            // Too large to be instrumented.
            (Original::Same, Extended::Redispatch) => (&[0, 1, 2], 0),
            (Original::Same, Extended::ToNative) if is_native => (&[5], 1),
            (Original::Same, Extended::Counted(0)) if is_native => (&[6], 0),
            (Original::Same, Extended::Counted(n)) if !is_native => {
                if *n == 0 {
                    (&[7, 10], 0)
                } else {
                    (&[7], 0)
                }
            }
            (Original::Renamed(renamed), Extended::Absent) => {
                // For a method that is not recorded, nothing shows whether it may call back.
                let said = row.map_or(0, |row| usize::from(row.slots).min(1));
                (&[11], renamed.slots.unwrap_or(said))
            }
            (Original::Same, Extended::Bypassed) if !is_native => (&[10], 0),
            (Original::Same, Extended::Stored) if !is_native => (&[0, 1], 0),
            (Original::Same | Original::Runtime, Extended::Absent) => (self.without_forms(original), 0),
            _ => {
                return self.find(Problem::Forms(FormsFault::Pair(first.name(), second.name())));
            }
        };
        let is_left = matches!(first, Original::Same)
            && code.is_some()
            && matches!(second, Extended::Absent | Extended::Stored | Extended::Redispatch);
        if let Some(row) = row {
            if !treatments.contains(&row.treatment) {
                self.find(Problem::OwnAttribute(OwnAttributeFault::Treatment));
            } else if usize::from(row.slots) != slots {
                self.find(Problem::OwnAttribute(OwnAttributeFault::Slots));
            } else if bodies(&first, &second).any(|body| body.on_entry != row.on_entry)
                || row.on_entry > 0 && bodies(&first, &second).next().is_none()
            {
                self.find(Problem::OwnAttribute(OwnAttributeFault::OnEntry));
            } else {
                // Callers count those without a form or probe, since the class is recorded.
                let is_left = is_left && row.treatment != treatment::CALLER_COUNTED;
                self.flags(number, original, row, is_left);
                let is_alone =
                    row.treatment == treatment::CALLER_COUNTED && row.flags & flag::NOT_RECORDED == 0;
                self.by_callers.extend(is_alone.then_some(number));
            }
        }
        if let (Original::Same, Some(code)) = (&first, &code) {
            self.left_out(original, code);
        }
        let counts_itself = match (&first, &second) {
            // It may be recorded if nothing in it shows that.
            (Original::Body(body), _) => body.is_recorded != Some(false),
            (Original::Renamed(renamed), _) => renamed.slots.is_some(),
            (Original::Wrapper, Extended::Body(body)) => body.is_recorded != Some(false),
            _ => false,
        };
        if counts_itself {
            self.counts_itself.insert(number);
        }
        let form = match (&first, &second) {
            (Original::Same, Extended::Absent) if code.is_none() => "no code",
            (Original::Same, Extended::Absent | Extended::Stored) => "left as it is",
            (Original::Same, Extended::Redispatch) if code.is_some() => "left as it is",
            (Original::Wrapper, _) => "wrapped",
            (Original::Body(_), Extended::Body(_)) => "duplicated",
            (Original::Body(_), Extended::Redispatch) => "redispatched",
            (Original::Body(_), _) => "original only",
            (Original::Same, Extended::Redispatch) => "abstract, redispatched",
            (Original::Same, Extended::ToNative) => "native",
            (Original::Same, Extended::Bypassed) => "counted, records nothing below",
            (Original::Same, _) => "counted, then called",
            (Original::Runtime, _) => "calls the runtime",
            (Original::Renamed(_), _) => "native, renamed",
        };
        *self.tally.forms.entry(form).or_default() += 1;
        let length = code.as_ref().map_or(0, Code::length);
        for (form, is_extended) in [(body_of_original(first), false), (body_of_extended(second), true)] {
            if let Some(body) = form {
                self.take(number, is_extended, length, *body);
            }
        }
    }

    /// Adds the results of a body.
    fn take(&mut self, number: usize, is_extended: bool, length: u32, body: Body) {
        if let Some(is_recorded) = body.is_recorded {
            self.recorded(is_recorded);
        }
        self.tally.bodies += 1;
        self.tally.probes += body.probes;
        self.tally.pieces += body.pieces;
        self.tally.pinned += u64::from(body.pinned);
        self.tally.hooks += u64::from(body.hooks);
        for name in body.dropped {
            *self.tally.dropped.entry(name).or_default() += 1;
        }
        let method = &self.before.methods[number];
        let own = self.beside.of_method(method);
        if own.iter().any(|number| self.beside.markers[*number].is_loop()) {
            self.tally.not_checked("where loops are left", method.of_class(self.before.name()).member_name());
        }
        self.beside.add(&own, body.called);
        if let Some(level) = body.level {
            self.traced.insert(number, Traced { level, telling: body.telling });
        }
        if body.level.is_some_and(|level| level != Level::Full) {
            let what = "events of methods that are too large for all of them";
            self.tally.not_checked(what, method.of_class(self.before.name()).member_name());
        }
        for callee in body.counted {
            self.tally.unknown_ids += u64::from(!callee.is_known);
            let key = (callee.opcode, callee.callee.clone(), callee.means.key());
            let place = callee.place.clone().in_member(method.name_and_type());
            self.counted.entry(key).or_insert(Counted { sites: 0, place, ..callee }).sites += 1;
        }
        if let Some(at) = body.unpinned {
            let problem = Problem::Clock(ClockFault::NotReplaced);
            let finding = Finding::at(problem, at, None).in_member(method.name_and_type());
            match self.expectation.reproducible {
                Some(_) => self.findings.push(finding),
                None => self.pins.1 = self.pins.1.take().or(Some(finding)),
            }
        }
        self.pins.0 |= body.pinned > 0;
        if body.is_unfollowed {
            let what = "counts of methods with too many handlers";
            self.tally.not_checked(what, method.of_class(self.before.name()).member_name());
            *self.tally.rules.entry("not followed").or_default() += 1;
            return;
        }
        match body.is_recorded {
            _ if self.expectation.tool == Some(Tool::Trace) => {
                *self.tally.rules.entry("none, since events are recorded").or_default() += 1;
            }
            _ if self.expectation.chosen().is_some() => {
                *self.tally.rules.entry("none, since contexts are values").or_default() += 1;
            }
            Some(true) => self.counts.push((number, is_extended, length, body.counts)),
            _ => *self.tally.rules.entry("not recorded").or_default() += 1,
        }
    }

    /// The count of straight code, including its entry.
    fn straight_cost(&self, code: &Code<'a>) -> i32 {
        let Some(model) = self.expectation.cost_model else { return code.instructions().count() as i32 };
        let (pool, size) = (&self.before.pool, code.length());
        let sum: u32 = code.instructions().map(|i| model.of(&i, pool, size)).sum();
        (sum + model.entry(size)) as i32
    }

    /// Notes whether the class is recorded: all its bodies are, or none.
    pub(crate) fn recorded(&mut self, is_recorded: bool) {
        if self.is_recorded.replace(is_recorded).is_some_and(|before| before != is_recorded) {
            self.find(Problem::Forms(FormsFault::PartlyRecorded));
        }
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
    fn original(
        &mut self,
        number: usize,
        original: &'c Member<'a>,
        rewritten: &'c Member<'a>,
        code: Option<&Code<'a>>,
        target: &Target<'a>,
    ) -> Option<Original> {
        let named = original.of_class(self.before.name());
        let switch = program::switch(named);
        let is_replaced = REPLACED.contains(&named);
        let is_question = self.is_question(original);
        if original.raw == rewritten.raw {
            if switch.is_some() || is_replaced || is_question {
                self.find(Problem::Runtime(RuntimeFault::Missing));
            }
            return Some(Original::Same);
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
            return Some(Original::Runtime);
        }
        let hash = self.hash;
        let id = |slots| method_id(hash, number, slots);
        if let Some(renamed) = self.in_place_of_native(original, rewritten, target, id) {
            return Some(Original::Renamed(renamed));
        }
        if rewritten.access_flags != original.access_flags {
            self.find(Problem::Head(MethodPart::Flags));
            return None;
        }
        if let Some(what) = switch
            && target.switch(what.into()).is(self.after, rewritten)
        {
            return Some(Original::Runtime);
        }
        if is_question && target.question().is(self.after, rewritten) {
            return Some(Original::Runtime);
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
            return Some(Original::Wrapper);
        }
        if (nameless.is_none() || names != Some(false)) && is_wrapper(&tables) {
            if nameless.is_some() {
                self.expectation.parameter_names = Some(true);
            }
            return Some(Original::Wrapper);
        }
        let Some(code) = code else {
            self.find(Problem::Forwarder(ForwarderKind::WithoutCode));
            return None;
        };
        let own = self.beside.of_method(original);
        let method = self.of(number, original, code, &own);
        match method.body(rewritten, false) {
            Ok(body) => Some(Original::Body(Box::new(body))),
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
    #[allow(clippy::too_many_arguments)]
    fn extended(
        &mut self,
        number: usize,
        original: &'c Member<'a>,
        twin: &'c Member<'a>,
        code: Option<&Code<'a>>,
        target: &Target<'a>,
        first: &Original,
        length: i32,
    ) -> Option<Extended> {
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
        let is_body = matches!(first, Original::Wrapper)
            || matches!(first, Original::Body(_)) && !target.redispatch().is(self.after, twin);
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
                Ok(body) => (found == self.findings.len()).then(|| Extended::Body(Box::new(body))),
                Err(finding) => {
                    self.findings.push(finding.in_member(twin.name_and_type()));
                    None
                }
            };
        }
        self.forwarder(number, original, twin, target, length).filter(|_| found == self.findings.len())
    }

    /// Checks the bodies against the rule by which the class is counted: the requested one, or else
    /// the one that fits best.
    pub(crate) fn rule(&mut self) {
        let position = |rule: Rule| Rule::ALL.iter().position(|r| *r == rule).unwrap_or_default();
        let contradictions =
            |rule: &Rule| self.counts.iter().filter(|(.., counts)| counts[position(*rule)].is_some()).count();
        let rule = match self.expectation.rule {
            Some(rule) => rule,
            None => Rule::ALL.into_iter().min_by_key(contradictions).unwrap_or(Rule::Exact),
        };
        for (number, is_extended, length, counts) in std::mem::take(&mut self.counts) {
            let holds = |rule: Rule| counts[position(rule)].is_none();
            // The precise rule gives the same counts as the exact one; large methods may fall back.
            let others: &[Rule] = match (rule, length >= MAY_OUTGROW) {
                (Rule::Exact, false) => &[Rule::Precise],
                (Rule::Exact, true) => &[Rule::Precise, Rule::Default, Rule::None],
                (Rule::Precise, true) => &[Rule::Default, Rule::None],
                (Rule::Default, true) => &[Rule::None],
                _ => &[],
            };
            let by = std::iter::once(&rule).chain(others).find(|rule| holds(**rule));
            match (by, &counts[position(rule)]) {
                (Some(by), _) => {
                    let is_table = *by == Rule::Precise && self.expectation.block_ends.is_some();
                    *self.tally.rules.entry(if is_table { "by a table" } else { by.name() }).or_default() +=
                        1;
                    if *by > Rule::Precise && *by != rule {
                        let method = &self.before.methods[number];
                        let what = "counts of methods that are too large for the rule";
                        self.tally.not_checked(what, method.of_class(self.before.name()).member_name());
                    }
                }
                (None, Some(finding)) => {
                    *self.tally.rules.entry("by another rule, or incorrectly").or_default() += 1;
                    let method = &self.before.methods[number];
                    let descriptor = with_extension(method.descriptor);
                    let descriptor = if is_extended { &*descriptor } else { method.descriptor };
                    let member = NameAndType::new(method.name, descriptor);
                    self.findings.push(finding.clone().in_member(member));
                }
                (None, None) => {}
            }
        }
    }
}

/// The bodies among a method's forms.
fn bodies<'f>(original: &'f Original, extended: &'f Extended) -> impl Iterator<Item = &'f Body> {
    let first = match original {
        Original::Body(body) => Some(&**body),
        _ => None,
    };
    let second = match extended {
        Extended::Body(body) => Some(&**body),
        _ => None,
    };
    first.into_iter().chain(second)
}

fn body_of_original(form: Original) -> Option<Box<Body>> {
    match form {
        Original::Body(body) => Some(body),
        _ => None,
    }
}

fn body_of_extended(form: Extended) -> Option<Box<Body>> {
    match form {
        Extended::Body(body) => Some(body),
        _ => None,
    }
}
