//! What the checks of a class's bodies add up to: the tally, whether the class is recorded, and the
//! rule by which it is counted.

use cct_classfile::NameAndType;
use cct_jdk::convention::with_extension;

use crate::body::{Body, MAY_OUTGROW};
use crate::class::{Class, MethodEvents};
use crate::expectation::Tool;
use crate::faults::{ClockFault, FormsFault};
use crate::finding::{Finding, Problem};
use crate::links::CountedCallee;
use crate::rule::Rule;
use crate::traces::Level;

impl Class<'_, '_> {
    /// Adds the results of a body.
    pub(crate) fn take(&mut self, number: usize, is_extended: bool, length: u32, body: Body) {
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
            self.traced.insert(number, MethodEvents { level, telling: body.telling });
        }
        if body.level.is_some_and(|level| level != Level::Full) {
            let what = "events of methods that are too large for all of them";
            self.tally.not_checked(what, method.of_class(self.before.name()).member_name());
        }
        for callee in body.counted {
            self.tally.unknown_ids += u64::from(!callee.is_known);
            let key = (callee.opcode, callee.callee.clone(), callee.means.key());
            let place = callee.place.clone().in_member(method.name_and_type());
            self.counted.entry(key).or_insert(CountedCallee { sites: 0, place, ..callee }).sites += 1;
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

    /// Notes whether the class is recorded: all its bodies are, or none.
    pub(crate) fn recorded(&mut self, is_recorded: bool) {
        if self.is_recorded.replace(is_recorded).is_some_and(|before| before != is_recorded) {
            self.find(Problem::Forms(FormsFault::PartlyRecorded));
        }
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
