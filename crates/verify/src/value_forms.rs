//! Forwarders in outputs where values represent contexts.

use cct_classfile::access;
use cct_pcc::MethodChoice;

use crate::class::Class;
use crate::convention::method_id;
use crate::forms::{ExtendedForm, ForwarderForm, ForwarderQuery};
use crate::forwarder::Entry;
use crate::values::Part;

impl<'c, 'a> Class<'c, 'a> {
    /// The forwarder that an extended form is where values represent contexts.
    pub(crate) fn forwarder_of_values(
        &self,
        chosen: &'static MethodChoice,
        asked: &ForwarderQuery<'_, 'a>,
    ) -> ForwarderForm {
        let ForwarderQuery { number, original, target, ways, lines, is } = *asked;
        let id = |slots| method_id(self.hash, number, slots);
        let part = Part::of(chosen, original.of_class(self.before.name()));
        let is_native = original.is(access::NATIVE);
        let entry = |slots: usize, calls_back: bool| Entry::Value {
            place: part.is_place.then(|| id(slots)),
            site: (part.takes_part && calls_back).then(|| part.site(None)),
        };
        let none = Entry::Value { place: None, site: None };
        // Try recorded and not recorded; one that neither records nor adds anything is both.
        let tried = |slots, calls_back, is: &dyn Fn(Entry) -> bool| {
            let recorded = entry(slots, calls_back);
            match (is(recorded), recorded == none) {
                (true, true) => Some(None),
                (true, false) => Some(Some(true)),
                (false, _) => is(none).then_some(Some(false)),
            }
        };
        let to_native = |entry| ways.iter().any(|way| is(target.to_native(entry, false, way, false)));
        let counted = |entry| lines.iter().any(|line| is(target.counted(entry, *line)));
        let bypassed = |entry| is(target.bypassed(entry));
        if let Some(recorded) = tried(1, true, &to_native).filter(|_| is_native) {
            return Some((ExtendedForm::ToNative, recorded));
        }
        if let Some(recorded) = tried(0, false, &counted) {
            return Some((ExtendedForm::Counted(0), recorded));
        }
        tried(0, false, &bypassed).map(|recorded| (ExtendedForm::Bypassed, recorded))
    }
}
