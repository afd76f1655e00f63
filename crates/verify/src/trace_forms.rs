//! Forwarders in outputs that record events.

use cct_classfile::{MemberName, access};
use cct_jdk::natives::leaf_throws;

use crate::class::Class;
use crate::forms::{ExtendedForm, ForwarderForm, ForwarderQuery};
use crate::forwarder::Entry;

impl<'c, 'a> Class<'c, 'a> {
    /// The forwarder that an extended form is in an output that records events.
    pub(crate) fn forwarder_of_traces(&self, asked: &ForwarderQuery<'_, 'a>) -> ForwarderForm {
        let ForwarderQuery { number, original, target, ways, lines, is } = *asked;
        let is_native = original.is(access::NATIVE);
        let number = self.first_method.and_then(|first| first.checked_add(number as u32));
        let entry = number.map_or(Entry::None, Entry::Event);
        let objects = self.expectation.allocations == Some(true);
        let found = |form| Some((form, Some(number.is_some())));
        if is_native && ways.iter().any(|way| is(target.to_native(entry, false, way, objects))) {
            return found(ExtendedForm::ToNative);
        }
        if is_native && let Some(number) = number {
            let makes = target.started_with_result(number).filter(|_| objects);
            let is_right = match (leaf_throws(MemberName::new(self.before.name(), original.name)), makes) {
                (true, _) => is(target.ended(number)),
                (false, Some(makes)) => is(makes),
                (false, None) => lines.iter().any(|line| is(target.counted(entry, *line))),
            };
            return found(ExtendedForm::Counted(0)).filter(|_| is_right);
        }
        if lines.iter().any(|line| is(target.counted(entry, *line))) {
            return found(ExtendedForm::Counted(0));
        }
        found(ExtendedForm::Bypassed).filter(|_| is(target.bypassed(entry)))
    }
}
