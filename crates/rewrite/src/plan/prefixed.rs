//! Natives that are renamed (`--natives prefix`, JP2 3.3), and the reasons why others keep their
//! names.

use cct_index::treatment::Treatment;
use cct_jdk::allocations;
use cct_jdk::native_hooks;
use cct_jdk::native_names;
use cct_jdk::threads;

use crate::planned_treatment::{PlannedTreatment, planned};
use crate::survey::{ClassSummary, MethodSummary, trait_bits};

/// The plan for a native with `--natives prefix`. A native that must keep its name is counted as
/// with `--natives wrap`, and the reason says so.
pub(super) fn planned_native(
    class: &ClassSummary,
    method: &MethodSummary,
    base: PlannedTreatment,
) -> PlannedTreatment {
    if !matches!(base.treatment, Treatment::Native | Treatment::LeafNative) {
        return base;
    }
    match keeps_its_name(class, method) {
        Some(reason) => planned(base.treatment, reason),
        None => planned(Treatment::Prefixed, ""),
    }
}

/// The reason why a native keeps its name; `None` if it may be renamed.
fn keeps_its_name(class: &ClassSummary, method: &MethodSummary) -> Option<&'static str> {
    let native = class.member(method).member_name();
    if class.has_host {
        return Some("not renamed: VM-anonymous, and cannot call itself");
    }
    if method.has(trait_bits::NATIVE_INTRINSIC) {
        return Some("not renamed: HotSpot has code of its own for it, which it finds by its name");
    }
    if threads::changes_the_current_thread(&class.name) {
        return Some("not renamed: the current thread may be another one when it returns");
    }
    if let Some(reason) = native_names::keeps_names_of_natives(&class.name) {
        return Some(reason);
    }
    if native_hooks::is_hooked(native) || native_hooks::is_called_by_the_runtime(native) {
        return Some("not renamed: the runtime has work to do where it is called");
    }
    if allocations::of_native(native).is_some() {
        return Some("not renamed: makes objects, which its wrapper counts");
    }
    None
}

#[cfg(test)]
mod tests {
    use cct_classfile::access::{FINAL, NATIVE, PUBLIC, STATIC, SYNCHRONIZED};

    use crate::plan::Plan;
    use crate::testing::{declared, world};
    use cct_index::treatment::Treatment as T;
    use cct_settings::{ContextCarrier, Natives, Settings};
    use cct_test_classes::{TestClass, class, object};

    fn plan_of(inputs: &[TestClass], of: &[(&str, &str)]) -> Vec<(T, &'static str)> {
        let world = world(inputs, &[]);
        let settings =
            Settings { natives: Natives::Prefix, context: ContextCarrier::Thread, ..Settings::default() };
        let plan = Plan::new(&world, &settings).unwrap();
        let planned = |&(class, name)| plan.get(declared(&world, class, name)).unwrap();
        of.iter().map(planned).map(|planned| (planned.treatment, planned.reason)).collect()
    }

    #[test]
    fn natives_are_renamed_unless_there_is_a_reason() {
        let inputs = [
            object(),
            class("A")
                .method(PUBLIC | NATIVE | SYNCHRONIZED, "m", "()V")
                .method(PUBLIC | STATIC | NATIVE, "s", "(J)[I")
                .method(PUBLIC, "body", "()V"),
            class("java/lang/Float").method(STATIC | NATIVE, "floatToRawIntBits", "(F)I"),
            class("java/lang/Class").method(NATIVE, "getName0", "()Ljava/lang/String;"),
            class("java/lang/Module").method(STATIC | NATIVE, "addReads0", "()V"),
            class("java/lang/reflect/Proxy").method(STATIC | NATIVE, "defineClass0", "()V"),
            class("java/lang/Thread").method(STATIC | NATIVE, "currentThread", "()Ljava/lang/Thread;"),
        ];
        let planned = plan_of(
            &inputs,
            &[
                ("A", "m"),
                ("A", "s"),
                ("A", "body"),
                ("java/lang/Float", "floatToRawIntBits"),
                ("java/lang/Class", "getName0"),
                ("java/lang/Module", "addReads0"),
                ("java/lang/reflect/Proxy", "defineClass0"),
                ("java/lang/Thread", "currentThread"),
            ],
        );
        let treatments: Vec<T> = planned.iter().map(|(treatment, _)| *treatment).collect();
        assert_eq!(
            treatments,
            [
                T::Prefixed,
                T::Prefixed,
                T::OriginalOnly,
                T::LeafNative,
                T::LeafNative,
                T::Native,
                T::Native,
                T::LeafNative
            ]
        );
        assert!(planned[3..].iter().all(|(_, reason)| reason.starts_with("not renamed: ")), "{planned:?}");
    }

    /// A renamed one would inherit the extended form of the method that it overrides, and callers
    /// would bypass it.
    #[test]
    fn natives_that_override_extended_forms_keep_their_names() {
        let inputs = [
            object(),
            class("java/lang/Thread").method(PUBLIC, "m", "()V").method(PUBLIC | FINAL, "n", "()V"),
            class("B").extends("java/lang/Thread").method(PUBLIC | NATIVE, "m", "()V"),
            class("C").method(PUBLIC, "m", "()V"),
            class("D").extends("C").method(PUBLIC | NATIVE, "m", "()V"),
        ];
        let planned = plan_of(&inputs, &[("B", "m"), ("D", "m"), ("C", "m")]);
        assert_eq!(planned[0].0, T::Native);
        assert_eq!(planned[1], (T::Prefixed, ""));
        assert_eq!(planned[2].0, T::OriginalOnly);
    }
}
