//! Treatments that the class hierarchy demands (CCCP 4.3, *non-overloadable methods*).
//!
//! An extended call dispatches on the extended signature. It would silently bypass a class that
//! overrides only the original one. CCCP makes all methods related to such an override
//! non-overloadable, up and down the hierarchy. That closure is not needed where the overridden
//! method's extended form *redispatches*: it stores the context and calls the original signature
//! virtually, so that any override wins. Three cases remain:
//!
//! 1. A class that stays raw overrides a concrete method of an input: that method redispatches.
//! 2. An input's method has no extended form of its own, but would inherit one that does not
//!    redispatch: it gets one that does.
//! 3. A class inherits extended forms of one method from two unrelated interfaces. An input gets a
//!    *tie break*: a redispatching form of its own. Nothing can be added to a raw class, so there
//!    the interfaces' methods lose their extended form.
//!
//! Where the thread carries contexts, most methods have no extended form. Natives have one (B2N),
//! and so have methods that HotSpot may replace with code that counts nothing. A method that one of
//! these overrides gets a redispatching form, so that callers reach the override.

use cct_classfile::{NameAndType, access};
use cct_index::treatment::Treatment;
use cct_jdk::convention;
use cct_jdk::method_handles;
use cct_jdk::natives;
use cct_jdk::threads;
use cct_settings::ContextCarrier;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::rows::Plan;
use crate::plan::treatment::leading_below;
use crate::planned_treatment::{PlannedTreatment, planned};
use crate::world::{ClassId, MethodId, Role, World};

/// Applies the rules in their order.
pub(crate) fn close(world: &World, plan: &mut Plan, context: ContextCarrier) {
    if context == ContextCarrier::Thread {
        lead_to_extended_forms(world, plan);
    }
    respect_raw_overrides(world, plan);
    redispatch_overrides_without_extended_form(world, plan);
    // Search for conflicts from the top of the hierarchy down: a tie break settles one for all
    // subtypes.
    let mut order: Vec<(usize, ClassId)> = world
        .ids()
        .filter(|id| !world[*id].summary.is_rewritten())
        .map(|id| (world.superclasses(id).count() + world.superinterfaces(id).len(), id))
        .collect();
    order.sort_unstable();
    for raw in [true, false] {
        for &(_, id) in order.iter().filter(|(_, id)| is_raw(world, *id) == raw) {
            settle_conflicts(world, plan, id);
        }
    }
}

/// Changes a treatment, unless an earlier run rewrote the method by it or the class must keep it.
/// (The runtime refuses raw classes that would need such a change.)
fn change(world: &World, plan: &mut Plan, method: MethodId, to: PlannedTreatment) {
    let (class, summary) = world.method(method);
    if !class.is_rewritten() && !class.keeps(summary) {
        plan.set(method, to);
    }
}

/// Whether nothing can be added to the class.
fn is_raw(world: &World, class: ClassId) -> bool {
    world[class].role == Role::Library && !world[class].summary.is_rewritten()
}

/// The declarations of the same virtual method in the superclasses of its class, nearest first.
fn overridden<'w>(world: &'w World, method: MethodId) -> impl Iterator<Item = MethodId> + 'w {
    let (class, summary) = world.method(method);
    let named = class.name_and_type(summary);
    world.superclasses(method.class).skip(1).filter_map(move |c| {
        let super_class = &world[c].summary;
        let index = super_class.find(named)?;
        super_class.methods[index]
            .is_virtual(super_class)
            .then_some(MethodId { class: c, index: index as u16 })
    })
}

fn virtual_methods(world: &World, class: ClassId) -> impl Iterator<Item = MethodId> + '_ {
    let summary = &world[class].summary;
    let methods = summary.methods.iter().enumerate().filter(|(_, m)| m.is_virtual(summary));
    methods.map(move |(i, _)| MethodId { class, index: i as u16 })
}

fn lists_frames(world: &World, method: MethodId) -> bool {
    let (class, summary) = world.method(method);
    natives::FRAME_LISTING_NATIVES.contains(&class.member(summary).member_name())
}

fn lead_to_extended_forms(world: &World, plan: &mut Plan) {
    let inputs = || world.ids().filter(|id| !is_raw(world, *id) && !world[*id].summary.is_rewritten());
    let only_extended = |plan: &Plan, method: MethodId| {
        let counts = |t: Treatment| t.has_extended_form() && !t.is_redispatch();
        plan.get(method).is_some_and(|p| counts(p.treatment))
            && !threads::changes_the_current_thread(&world[method.class].summary.name)
    };
    let mut names: FxHashSet<NameAndType<'_>> = FxHashSet::default();
    for id in world.ids().filter(|id| !is_raw(world, *id)) {
        let methods = virtual_methods(world, id).filter(|&m| only_extended(plan, m));
        for below in methods.collect::<Vec<MethodId>>() {
            let (class, summary) = world.method(below);
            names.insert(class.name_and_type(summary));
            for above in overridden(world, below).collect::<Vec<MethodId>>() {
                lead(world, plan, above, below);
            }
        }
    }
    // A class may inherit the implementation of an interface's method from a superclass that does
    // not know the interface.
    for id in inputs().filter(|id| !world[*id].summary.is(access::INTERFACE)) {
        for interface in world.superinterfaces(id) {
            let declared = virtual_methods(world, interface);
            let named = declared.filter(|&m| {
                let (class, summary) = world.method(m);
                names.contains(&class.name_and_type(summary))
            });
            for above in named.collect::<Vec<MethodId>>() {
                if let Some(below) = implementation(world, id, above).filter(|&m| only_extended(plan, m)) {
                    lead(world, plan, above, below);
                }
            }
        }
    }
}

/// Lets callers of the extended form of `above` reach the extended form of `below`, which overrides
/// it.
fn lead(world: &World, plan: &mut Plan, above: MethodId, below: MethodId) {
    if plan.get(above).is_some_and(|p| p.treatment.has_extended_form()) {
        return;
    }
    let (class, summary) = world.method(above);
    let is_settled = is_raw(world, above.class) || class.is_rewritten() || class.keeps(summary);
    if let Some(treatment) = leading_below(class, summary).filter(|_| !is_settled) {
        let reason = "overridden by a method that is counted in its extended form only";
        plan.set(above, planned(treatment, reason));
    } else if let Some(PlannedTreatment { treatment, .. }) = plan.get(below)
        && world.method(below).1.is(access::NATIVE)
    {
        let reason = "not counted where it is called as a method that it overrides";
        change(world, plan, below, planned(treatment, reason));
    }
}

/// The method with which a class implements an interface's method: its own or an inherited one.
fn implementation(world: &World, class: ClassId, method: MethodId) -> Option<MethodId> {
    let (interface, summary) = world.method(method);
    let named = interface.name_and_type(summary);
    world.superclasses(class).find_map(|class| {
        let summary = &world[class].summary;
        let index = summary.find(named)?;
        summary.methods[index].is_virtual(summary).then_some(MethodId { class, index: index as u16 })
    })
}

fn respect_raw_overrides(world: &World, plan: &mut Plan) {
    for id in world.ids().filter(|id| is_raw(world, *id)) {
        for method in virtual_methods(world, id) {
            for above in overridden(world, method).filter(|&m| !lists_frames(world, m)) {
                match plan.get(above).map(|p| p.treatment) {
                    Some(Treatment::Wrapped | Treatment::Duplicated | Treatment::Intrinsic) => {
                        let reason = "overridden by a class that is not rewritten";
                        change(world, plan, above, planned(Treatment::Redispatched, reason));
                    }
                    // A native that can be overridden: callers would bypass its extended form in
                    // the same way.
                    Some(Treatment::Native | Treatment::LeafNative | Treatment::Magic) => {
                        let reason =
                            "overridden by a class that is not rewritten; not counted where called virtually";
                        change(world, plan, above, planned(Treatment::CallerCounted, reason));
                    }
                    _ => {}
                }
            }
        }
    }
}

fn redispatch_overrides_without_extended_form(world: &World, plan: &mut Plan) {
    for id in world.ids().filter(|id| !is_raw(world, *id) && !world[*id].summary.is_rewritten()) {
        for method in virtual_methods(world, id) {
            let to = match plan.get(method).map(|p| p.treatment) {
                Some(Treatment::OriginalOnly) => Treatment::Redispatched,
                // A native whose original stays unchanged.
                Some(Treatment::CallerCounted) => Treatment::AbstractRedispatched,
                // A renamed native has no extended form either; it gets one, and keeps its name.
                Some(Treatment::Prefixed) => Treatment::Native,
                _ => continue,
            };
            // The nearest extended form above is the inherited one.
            let mut above = overridden(world, method).filter_map(|m| plan.get(m)).map(|p| p.treatment);
            let inherited = above.find(|t| t.has_extended_form());
            // There may be an extended form above an unknown class, but not above a generated
            // accessor: its superclasses call by the original signature, and an added method could
            // not name the accessor's class.
            let summary = &world[id].summary;
            let may_inherit = summary.is_debugged
                && !method_handles::is_generated_accessor(&summary.name)
                && !is_known_to_the_top(world, id);
            if may_inherit || inherited.is_some_and(|t| !t.is_redispatch()) {
                let reason = "keeps to its original signature, but overrides a method with an extended one";
                change(world, plan, method, planned(to, reason));
            }
        }
    }
}

/// Whether all superclasses of a class are known.
fn is_known_to_the_top(world: &World, class: ClassId) -> bool {
    world.superclasses(class).last().is_some_and(|top| world[top].summary.super_name.is_none())
}

/// Settles the conflicts of a class: methods of which it inherits several extended forms without a
/// most specific one.
fn settle_conflicts(world: &World, plan: &mut Plan, class: ClassId) {
    if world[class].summary.kept.as_ref().is_some_and(|kept| kept.is_loaded()) {
        return;
    }
    let interfaces = world.superinterfaces(class);
    if interfaces.len() < 2 {
        return;
    }
    // In the order of declaration, so that the result does not depend on hashing.
    let mut candidates: Vec<Vec<MethodId>> = Vec::new();
    let mut position: FxHashMap<NameAndType<'_>, usize> = FxHashMap::default();
    for &i in &interfaces {
        let summary = &world[i].summary;
        for (index, m) in summary.methods.iter().enumerate() {
            let id = MethodId { class: i, index: index as u16 };
            let extended = plan.get(id).is_some_and(|p| p.treatment.is_redispatch());
            if extended && !m.is(access::STATIC) {
                let key = summary.name_and_type(m);
                let at = *position.entry(key).or_insert_with(|| {
                    candidates.push(Vec::new());
                    candidates.len() - 1
                });
                candidates[at].push(id);
            }
        }
    }
    for group in candidates.iter().filter(|g| g.len() > 1) {
        let most_specific = |m: &MethodId| group.iter().all(|o| o == m || world.is_subtype(m.class, o.class));
        if group.iter().any(most_specific) || is_settled_above(world, plan, class, group[0]) {
            continue;
        }
        if !is_raw(world, class) {
            plan.add_tie_break(class, group[0]);
            continue;
        }
        for &m in group {
            let treatment = match plan.get(m).map(|p| p.treatment) {
                Some(Treatment::Redispatched) => Treatment::OriginalOnly,
                _ => Treatment::Untouched,
            };
            let reason = "a class that is not rewritten inherits it from two unrelated interfaces";
            change(world, plan, m, planned(treatment, reason));
        }
    }
}

/// Whether the class chain, or a tie break in a superinterface, already decides which extended form
/// is inherited.
fn is_settled_above(world: &World, plan: &Plan, class: ClassId, method: MethodId) -> bool {
    let (owner, summary) = world.method(method);
    let named = owner.name_and_type(summary);
    let same = |m: &MethodId| {
        let (o, s) = world.method(*m);
        o.name_and_type(s) == named
    };
    let breaks_tie = |c: ClassId| plan.tie_breaks(c).iter().any(same);
    let declares = |c: ClassId| {
        world[c].summary.find(named).is_some_and(|index| {
            let id = MethodId { class: c, index: index as u16 };
            plan.get(id).is_some_and(|p| p.treatment.has_extended_form())
        })
    };
    // If a class above is unknown, `Object` is still certain.
    let object = world.class_named(convention::OBJECT);
    world.superclasses(class).chain(object).any(|c| declares(c) || breaks_tie(c))
        || world.superinterfaces(class).into_iter().any(breaks_tie)
}

#[cfg(test)]
mod tests {
    use cct_classfile::access::{ABSTRACT, NATIVE, PUBLIC};

    use super::*;
    use crate::testing::{declared, world};
    use cct_index::treatment::Treatment as T;
    use cct_settings::Settings;
    use cct_test_classes::{TestClass, class, interface, object};

    fn treatment(inputs: &[TestClass], raw: &[TestClass], class: &str, name: &str) -> T {
        let world = world(inputs, raw);
        Plan::new(&world, &Settings::default()).unwrap().get(declared(&world, class, name)).unwrap().treatment
    }

    #[test]
    fn a_method_that_a_raw_class_overrides_redispatches_and_others_do_not() {
        let inputs = [
            object(),
            class("A").method(PUBLIC, "m", "()V").method(PUBLIC, "n", "()V"),
            class("B").extends("A").method(PUBLIC, "m", "()V"),
        ];
        // R overrides A.m although a class lies between them; B is no ancestor of R.
        let raw = [class("Q").extends("A"), class("R").extends("Q").method(PUBLIC, "m", "()V")];
        assert_eq!(treatment(&inputs, &raw, "A", "m"), T::Redispatched);
        assert_eq!(treatment(&inputs, &raw, "A", "n"), T::Wrapped);
        assert_eq!(treatment(&inputs, &raw, "B", "m"), T::Wrapped);
        assert_eq!(treatment(&inputs, &[], "A", "m"), T::Wrapped);
    }

    #[test]
    fn an_override_that_keeps_its_signature_gets_a_redispatching_form() {
        let inputs = [
            object(),
            class("A").method(PUBLIC, "m", "()V"),
            class("java/lang/invoke/X").extends("A").method(PUBLIC, "m", "()V").method(PUBLIC, "own", "()V"),
        ];
        assert_eq!(treatment(&inputs, &[], "java/lang/invoke/X", "m"), T::Redispatched);
        assert_eq!(treatment(&inputs, &[], "java/lang/invoke/X", "own"), T::OriginalOnly);
        let native = class("java/lang/invoke/N").extends("A").method(PUBLIC | NATIVE, "m", "()V");
        assert_eq!(
            treatment(&[inputs[0].clone(), inputs[1].clone(), native], &[], "java/lang/invoke/N", "m"),
            T::AbstractRedispatched
        );
    }

    #[test]
    fn calls_of_what_a_native_or_an_intrinsic_overrides_lead_to_it() {
        let inputs = [
            object(),
            interface("I").method(PUBLIC | ABSTRACT, "m", "()V"),
            class("A").flags(ABSTRACT).implements("I").method(PUBLIC | ABSTRACT, "m", "()V"),
            class("B").extends("A").method(PUBLIC, "m", "()V").method(PUBLIC, "o", "()V"),
            class("N").extends("B").method(PUBLIC | NATIVE, "m", "()V"),
            class("L").extends("N").method(PUBLIC, "m", "()V"),
            interface("K").method(PUBLIC | ABSTRACT, "m", "()V"),
            class("O").extends("N").implements("K"),
            class("M").extends("A").method(PUBLIC, "m", "()V"),
            interface("java/lang/Comparable").method(PUBLIC | ABSTRACT, "compareTo", "(Ljava/lang/String;)I"),
            class("java/lang/String").implements("java/lang/Comparable").method(
                PUBLIC,
                "compareTo",
                "(Ljava/lang/String;)I",
            ),
        ];
        let world = world(&inputs, &[]);
        let by_thread = Settings { context: ContextCarrier::Thread, ..Settings::default() };
        let plan = Plan::new(&world, &by_thread).unwrap();
        let of = |class, name| plan.get(declared(&world, class, name)).unwrap().treatment;
        for (class, expected) in [
            ("I", T::AbstractRedispatched),
            ("A", T::AbstractRedispatched),
            ("B", T::Redispatched),
            ("N", T::Native),
            // L would inherit the native's form.
            ("L", T::Redispatched),
            ("M", T::OriginalOnly),
        ] {
            assert_eq!(of(class, "m"), expected, "{class}");
        }
        assert_eq!(of("B", "o"), T::OriginalOnly);
        // K knows no native, and L's superclass does not know K.
        assert_eq!(of("K", "m"), T::AbstractRedispatched);
        // HotSpot has its own code for it.
        assert_eq!(of("java/lang/String", "compareTo"), T::Wrapped);
        assert_eq!(of("java/lang/Comparable", "compareTo"), T::AbstractRedispatched);
        // A class rewritten in another run cannot change: the plan reports the conflict.
        let raw = [class("A").method(PUBLIC, "m", "()V")];
        let world = crate::testing::world(
            &[object(), class("N").extends("A").method(PUBLIC | NATIVE, "m", "()V")],
            &raw,
        );
        let plan = Plan::new(&world, &by_thread).unwrap();
        let native = plan.get(declared(&world, "N", "m")).unwrap();
        assert_eq!(
            (native.treatment, native.reason),
            (T::Native, "not counted where it is called as a method that it overrides")
        );
    }

    fn two_interfaces() -> Vec<TestClass> {
        let m = |name| interface(name).method(PUBLIC | ABSTRACT, "m", "()V");
        vec![object(), m("I"), m("J")]
    }

    #[test]
    fn a_tie_is_broken_once_at_the_top_of_the_hierarchy() {
        let mut inputs = two_interfaces();
        inputs.push(class("C").implements("I").implements("J").flags(ABSTRACT));
        inputs.push(class("D").extends("C").flags(ABSTRACT));
        inputs.push(class("E").implements("I").implements("J").method(PUBLIC, "m", "()V"));
        let world = world(&inputs, &[]);
        let plan = Plan::new(&world, &Settings::default()).unwrap();
        let ties = |name: &[u8]| plan.tie_breaks(world.class_named(name).unwrap()).len();
        assert_eq!((ties(b"C"), ties(b"D"), ties(b"E")), (1, 0, 0));
    }

    #[test]
    fn no_tie_where_one_interface_is_more_specific() {
        let mut inputs = two_interfaces();
        inputs.push(interface("K").implements("I").implements("J").method(PUBLIC | ABSTRACT, "m", "()V"));
        inputs.push(class("C").implements("I").implements("J").implements("K").flags(ABSTRACT));
        let world = world(&inputs, &[]);
        let plan = Plan::new(&world, &Settings::default()).unwrap();
        assert!(world.ids().all(|id| plan.tie_breaks(id).is_empty()));
    }

    #[test]
    fn a_tie_in_a_raw_class_takes_the_extended_forms_away() {
        let raw = [class("R").implements("I").implements("J").method(PUBLIC, "m", "()V")];
        assert_eq!(treatment(&two_interfaces(), &raw, "I", "m"), T::Untouched);
        assert_eq!(treatment(&two_interfaces(), &raw, "J", "m"), T::Untouched);
        assert_eq!(treatment(&two_interfaces(), &[], "I", "m"), T::AbstractRedispatched);
    }

    #[test]
    fn a_cyclic_hierarchy_ends() {
        let inputs = [object(), class("A").extends("B").method(PUBLIC, "m", "()V"), class("B").extends("A")];
        assert_eq!(treatment(&inputs, &[], "A", "m"), T::Wrapped);
    }
}
