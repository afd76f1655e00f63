//! Treatments of methods that must [keep](crate::kept_members) a property.

use cct_classfile::access;
use cct_index::treatment::Treatment;

use crate::kept_members::{KeptMembers, KeptProperty};
use crate::planned_treatment::{PlannedTreatment, planned};
use crate::survey::{ClassSummary, MethodSummary};

const REASON: &str = "its class takes the place of one that was rewritten before";

/// The treatment of a method that may have to keep a property. `own` is the treatment that its
/// class file alone would give.
pub(super) fn planned_as_kept(
    kept: &KeptMembers,
    class: &ClassSummary,
    method: &MethodSummary,
    own: PlannedTreatment,
) -> PlannedTreatment {
    let treatment = match kept.find(class.name_and_type(method)) {
        None => return own,
        Some(KeptProperty::Treatment(kept)) if has_form_for(kept, method) => kept,
        Some(KeptProperty::Treatment(kept)) => of_form(kept.has_extended_form(), method),
        Some(KeptProperty::ExtendedForm(extended)) if own.treatment.has_extended_form() == extended => {
            return own;
        }
        Some(KeptProperty::ExtendedForm(extended)) => of_form(extended, method),
    };
    if treatment == own.treatment { own } else { planned(treatment, REASON) }
}

/// Whether a method of this kind can have the treatment. A native of the original may have a body
/// in the new class file. If agents prefix natives, a method with a body may become a native.
fn has_form_for(treatment: Treatment, method: &MethodSummary) -> bool {
    use Treatment as T;
    match treatment {
        T::Wrapped | T::Duplicated | T::Redispatched | T::OriginalOnly => method.is_concrete(),
        T::AbstractRedispatched => method.is(access::ABSTRACT) || method.is(access::NATIVE),
        T::Native | T::LeafNative | T::Prefixed => method.is(access::NATIVE),
        T::Magic | T::Intrinsic | T::CallerCounted | T::Untouched => true,
    }
}

/// The treatment of a method with an extended form, or of one without.
fn of_form(extended: bool, method: &MethodSummary) -> Treatment {
    match (extended, method.is(access::ABSTRACT), method.is(access::NATIVE)) {
        (true, true, _) => Treatment::AbstractRedispatched,
        (true, _, true) => Treatment::Native,
        (true, ..) => Treatment::Duplicated,
        (false, false, false) => Treatment::OriginalOnly,
        (false, ..) => Treatment::Untouched,
    }
}

#[cfg(test)]
mod tests {
    use cct_classfile::NameAndType;
    use cct_classfile::access::{NATIVE, PRIVATE, PUBLIC, STATIC};

    use super::*;
    use crate::plan::Plan;
    use crate::testing::{declared, world};
    use crate::world::{Role, World};
    use cct_index::treatment::Treatment as T;
    use cct_settings::Settings;
    use cct_test_classes::{class, object};

    fn treatments(kept: KeptMembers) -> Vec<T> {
        let methods = class("A")
            .method(PUBLIC, "bytecode", "()V")
            .method(PUBLIC | NATIVE, "native", "()V")
            .method(PRIVATE | STATIC, "fresh", "()V");
        let inputs = [object(), methods];
        let plain = world(&inputs, &[]);
        let all = plain.ids().map(|id| {
            let mut summary = (*plain[id].summary).clone();
            if *summary.name == *b"A" {
                summary.kept = Some(kept.clone().into());
            }
            (Role::Input, std::sync::Arc::new(summary))
        });
        let world = World::new(all.collect::<Vec<_>>());
        let plan = Plan::new(&world, &Settings::default()).unwrap();
        ["bytecode", "native", "fresh"]
            .map(|name| plan.get(declared(&world, "A", name)).unwrap().treatment)
            .to_vec()
    }

    #[test]
    fn a_redefinition_keeps_the_extended_forms_that_the_class_has() {
        let mut kept = KeptMembers::of_loaded(Vec::new());
        kept.add(NameAndType::new(b"bytecode", b"()V"), KeptProperty::Treatment(T::Redispatched));
        kept.add(NameAndType::new(b"native", b"()V"), KeptProperty::ExtendedForm(false));
        assert_eq!(treatments(kept), [T::Redispatched, T::Untouched, T::OriginalOnly]);
    }

    #[test]
    fn a_native_that_got_a_body_keeps_its_extended_form() {
        let mut kept = KeptMembers::of_loaded(Vec::new());
        kept.add(NameAndType::new(b"bytecode", b"()V"), KeptProperty::Treatment(T::LeafNative));
        kept.add(NameAndType::new(b"native", b"()V"), KeptProperty::Treatment(T::Wrapped));
        assert_eq!(treatments(kept), [T::Duplicated, T::Native, T::OriginalOnly]);
    }

    #[test]
    fn a_class_that_is_not_loaded_may_have_new_methods() {
        let mut kept = KeptMembers::of_callers();
        kept.add(NameAndType::new(b"bytecode", b"()V"), KeptProperty::Treatment(T::OriginalOnly));
        assert_eq!(treatments(kept), [T::OriginalOnly, T::Native, T::Wrapped]);
    }
}
