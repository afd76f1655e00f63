use cct_classfile::access::{ABSTRACT, FINAL, NATIVE, PUBLIC, STATIC};
use cct_classfile::{MemberRef, NameAndType, opcode};
use cct_index::treatment::Treatment;
use cct_jdk::convention::OBJECT;
use cct_test_classes::{TestClass, class, interface, object};

use super::*;
use crate::planned_treatment::PlannedTreatment;
use crate::testing::{declared, world};
use crate::world::MethodId;
use cct_settings::{ContextCarrier, Intrinsics};

fn treatment(inputs: &[TestClass], class: &str, name: &str) -> Treatment {
    let world = world(inputs, &[]);
    Plan::new(&world, &Settings::default()).unwrap().get(declared(&world, class, name)).unwrap().treatment
}

#[test]
fn each_kind_of_method_has_its_treatment() {
    use Treatment as T;
    let inputs = [
        object(),
        class("A")
            .flags(ABSTRACT)
            .method(PUBLIC, "<init>", "()V")
            .method(STATIC, "<clinit>", "()V")
            .method(PUBLIC | STATIC, "s", "()V")
            .method(PUBLIC | ABSTRACT, "a", "()V")
            .method(PUBLIC | NATIVE, "n", "()V")
            .method(PUBLIC, "toString", "()Ljava/lang/String;")
            .method(PUBLIC | STATIC, "fits", format!("({})V", "I".repeat(252)))
            .method(PUBLIC | STATIC, "full", format!("({})V", "I".repeat(253))),
        class("java/lang/System").method(PUBLIC | STATIC | NATIVE, "nanoTime", "()J"),
        class("java/lang/ref/Reference").method(PUBLIC, "get", "()Ljava/lang/Object;"),
        class("java/lang/reflect/Method").method(PUBLIC, "invoke", "()V"),
    ];
    for (class, name, expected) in [
        ("A", "<init>", T::Wrapped),
        ("A", "<clinit>", T::OriginalOnly),
        ("A", "s", T::Wrapped),
        ("A", "a", T::AbstractRedispatched),
        ("A", "n", T::Native),
        ("A", "toString", T::OriginalOnly),
        ("A", "fits", T::Wrapped),
        ("A", "full", T::OriginalOnly),
        ("java/lang/Object", "<init>", T::CallerCounted),
        ("java/lang/Object", "hashCode", T::CallerCounted),
        ("java/lang/System", "nanoTime", T::LeafNative),
        ("java/lang/ref/Reference", "get", T::Magic),
        ("java/lang/reflect/Method", "invoke", T::OriginalOnly),
    ] {
        assert_eq!(treatment(&inputs, class, name), expected, "{class}.{name}");
    }
}

/// Since JDK 21.0.13 and 26 `Reference.get` calls a native, which has the magic.
#[test]
fn a_reference_with_a_native_has_no_magic_of_its_own() {
    let reference = class("java/lang/ref/Reference").method(PUBLIC, "get", "()Ljava/lang/Object;").method(
        NATIVE,
        "get0",
        "()Ljava/lang/Object;",
    );
    let inputs = [object(), reference];
    assert_eq!(treatment(&inputs, "java/lang/ref/Reference", "get"), Treatment::Wrapped);
    assert_eq!(treatment(&inputs, "java/lang/ref/Reference", "get0"), Treatment::LeafNative);
}

/// `Object.wait(long)` is a native up to JDK 18, which callers count. Since then it has a body,
/// which counts itself.
#[test]
fn what_object_has_a_body_for_its_callers_do_not_count() {
    for (flags, is_counted) in [(NATIVE, true), (0, false)] {
        let object = object().method(PUBLIC | FINAL | flags, "wait", "(J)V");
        let world = world(&[object, class("A")], &[]);
        let plan = Plan::new(&world, &Settings::default()).unwrap();
        let to = |class| call(&plan, &world, opcode::INVOKEVIRTUAL, class, "wait", "(J)V");
        assert_eq!(matches!(to("A"), CallTarget::Counted(_)), is_counted, "{:?}", to("A"));
        assert_eq!(to("A") == CallTarget::Extended, !is_counted);
        // The class that the reference names does not matter.
        assert_eq!(matches!(to("Gone"), CallTarget::Counted(_)), is_counted);
    }
}

#[test]
fn intrinsics_are_left_to_the_vm_where_that_is_chosen() {
    use Treatment as T;
    let string = "(Ljava/lang/String;)I";
    let inputs = [
        object(),
        class("java/lang/Math").method(PUBLIC | STATIC, "max", "(II)I").method(
            PUBLIC | STATIC,
            "max",
            "(FF)F",
        ),
        class("java/lang/String")
            .flags(FINAL)
            .method(PUBLIC, "equals", "(Ljava/lang/Object;)Z")
            .method(PUBLIC, "indexOf", string),
        class("java/lang/StringBuilder").method(PUBLIC, "<init>", "()V"),
        class("java/lang/ref/Reference").method(PUBLIC, "get", "()Ljava/lang/Object;"),
        class("java/nio/Buffer").method(PUBLIC, "checkIndex", "(I)I"),
        class("Caller"),
    ];
    let raw = [class("Raw").extends("java/nio/Buffer").method(PUBLIC, "checkIndex", "(I)I")];
    let world = world(&inputs, &raw);
    let plans = [Intrinsics::Bytecode, Intrinsics::Native]
        .map(|intrinsics| Plan::new(&world, &Settings { intrinsics, ..Settings::default() }).unwrap());
    for (class, name, descriptor, expected) in [
        ("java/lang/Math", "max", "(II)I", [T::Wrapped, T::Intrinsic]),
        ("java/lang/Math", "max", "(FF)F", [T::Wrapped, T::Wrapped]),
        ("java/lang/String", "equals", "(Ljava/lang/Object;)Z", [T::OriginalOnly, T::CallerCounted]),
        ("java/lang/String", "indexOf", string, [T::Wrapped, T::Intrinsic]),
        ("java/lang/StringBuilder", "<init>", "()V", [T::Wrapped, T::Wrapped]),
        ("java/lang/ref/Reference", "get", "()Ljava/lang/Object;", [T::Magic, T::Magic]),
        // An override that is not rewritten must win over it.
        ("java/nio/Buffer", "checkIndex", "(I)I", [T::Redispatched, T::Redispatched]),
    ] {
        let id = world.class_named(class.as_bytes()).unwrap();
        let index =
            world[id].summary.find(NameAndType::new(name.as_bytes(), descriptor.as_bytes())).unwrap() as u16;
        let method = MethodId { class: id, index };
        let found = plans.each_ref().map(|plan| plan.get(method).unwrap().treatment);
        assert_eq!(found, expected, "{class}.{name}{descriptor}");
    }
    let equals = |plan, op, class| call(plan, &world, op, class, "equals", "(Ljava/lang/Object;)Z");
    let [bytecode, native] = &plans;
    let stored = CallTarget::Stored { known: true };
    assert_eq!(equals(bytecode, opcode::INVOKEVIRTUAL, "java/lang/String"), stored);
    let CallTarget::Counted(callee) = equals(native, opcode::INVOKEVIRTUAL, "java/lang/String") else {
        panic!()
    };
    assert_eq!((callee.bytecodes, callee.calls_back), (0, false));
}

#[test]
fn an_interface_gains_no_first_default_if_it_has_an_initialiser() {
    let plain = interface("I").method(PUBLIC | ABSTRACT, "m", "()V");
    let initialised = plain.clone().method(STATIC, "<clinit>", "()V");
    let with_default = initialised.clone().method(PUBLIC, "d", "()V");
    assert_eq!(treatment(&[object(), plain], "I", "m"), Treatment::AbstractRedispatched);
    assert_eq!(treatment(&[object(), initialised], "I", "m"), Treatment::Untouched);
    assert_eq!(treatment(&[object(), with_default], "I", "m"), Treatment::AbstractRedispatched);
}

#[test]
fn names_of_ours_are_refused() {
    let taken = class("A").method(PUBLIC, "cct$enter", "()V");
    let world_of = |c: TestClass| Plan::new(&world(&[object(), c], &[]), &Settings::default()).unwrap_err();
    assert!(matches!(world_of(taken), Error::NameTaken { .. }));
    assert!(matches!(world_of(class("A").method(PUBLIC, "m", "(IJ[[[[J)V")), Error::NameTaken { .. }));
}

fn call<'x>(
    plan: &Plan,
    world: &'x World,
    op: u8,
    class: &'x str,
    name: &'x str,
    descriptor: &'x str,
) -> CallTarget<'x> {
    let callee = MemberRef::new(class.as_bytes(), name.as_bytes(), descriptor.as_bytes());
    let caller = world.class_named(b"Caller").or(world.class_named(b"A")).unwrap();
    plan.call_target(world, caller, op, callee)
}

#[test]
fn call_sites_find_their_way() {
    use opcode::{INVOKEINTERFACE, INVOKESPECIAL, INVOKESTATIC, INVOKEVIRTUAL};
    let inputs = [
        object(),
        class("A").method(PUBLIC, "m", "()V").method(PUBLIC, "r", "()V"),
        class("B").extends("A"),
        class("F").flags(FINAL),
        interface("I").method(PUBLIC, "d", "()V"),
    ];
    let raw = [
        class("Raw").extends("A").method(PUBLIC, "r", "()V").method(PUBLIC | STATIC | NATIVE, "n", "()V"),
        class("Lost").extends("Gone"),
    ];
    let world = world(&inputs, &raw);
    let plan = Plan::new(&world, &Settings::default()).unwrap();
    let to = |op, class, name, descriptor| call(&plan, &world, op, class, name, descriptor);
    let stored = CallTarget::Stored { known: true };
    let unknown = CallTarget::Stored { known: false };
    assert_eq!(to(INVOKEVIRTUAL, "B", "m", "()V"), CallTarget::Extended);
    assert_eq!(to(INVOKESPECIAL, "A", "m", "()V"), CallTarget::Extended);
    // r redispatches, since Raw overrides it: a super call through it would come back.
    assert_eq!(to(INVOKEVIRTUAL, "A", "r", "()V"), CallTarget::Extended);
    assert_eq!(to(INVOKESPECIAL, "A", "r", "()V"), stored);
    assert_eq!(to(INVOKEINTERFACE, "I", "d", "()V"), CallTarget::Extended);
    assert_eq!(to(INVOKESPECIAL, "I", "d", "()V"), stored);
    assert_eq!(to(INVOKEVIRTUAL, "Raw", "r", "()V"), stored);
    assert_eq!(to(INVOKEVIRTUAL, "Gone", "m", "()V"), unknown);
    assert_eq!(to(INVOKEVIRTUAL, "Lost", "m", "()V"), unknown);
    assert_eq!(to(INVOKEVIRTUAL, "A", "toString", "()Ljava/lang/String;"), stored);

    let counted = |target| match target {
        CallTarget::Counted(f) => Some((f.bytecodes, f.calls_back)),
        _ => None,
    };
    assert_eq!(counted(to(INVOKESPECIAL, "java/lang/Object", "<init>", "()V")), Some((1, false)));
    assert_eq!(counted(to(INVOKEVIRTUAL, "Gone", "getClass", "()Ljava/lang/Class;")), Some((0, false)));
    assert_eq!(counted(to(INVOKEVIRTUAL, "[I", "clone", "()Ljava/lang/Object;")), Some((0, false)));
    assert_eq!(counted(to(INVOKESTATIC, "Raw", "n", "()V")), Some((0, true)));
    // A super call of a companion's native is counted here, with any treatment of the native there.
    let companion = crate::testing::companion(&object(), &class("A").method(PUBLIC | NATIVE, "n", "()V"));
    let plan_beside = Plan::new(&companion, &Settings::default()).unwrap();
    assert_eq!(counted(call(&plan_beside, &companion, INVOKESPECIAL, "A", "n", "()V")), Some((0, true)));
    assert_eq!(call(&plan_beside, &companion, INVOKEVIRTUAL, "A", "n", "()V"), CallTarget::Extended);
    // The last step of a method handle leads to one method, or to the method of the receiver's
    // class.
    let linkers = ["linkToStatic", "linkToSpecial", "linkToVirtual", "linkToInterface"];
    let link = |name| {
        to(
            INVOKESTATIC,
            "java/lang/invoke/MethodHandle",
            name,
            "(Ljava/lang/Object;Ljava/lang/invoke/MemberName;)I",
        )
    };
    assert_eq!(
        linkers.map(link),
        [CallTarget::Linked, CallTarget::Linked, CallTarget::LinkedToHashCode, unknown]
    );
    let to_string = "(Ljava/lang/Object;Ljava/lang/invoke/MemberName;)Ljava/lang/Object;";
    assert_eq!(to(INVOKESTATIC, "java/lang/invoke/MethodHandle", "linkToVirtual", to_string), unknown);
    // hashCode may lead to any class, unless the receiver's class is final or the call is not
    // virtual.
    let dispatched = |target| matches!(target, CallTarget::Dispatched(f) if f.method.class == OBJECT);
    assert!(dispatched(to(INVOKEVIRTUAL, "A", "hashCode", "()I")));
    assert!(dispatched(to(INVOKEVIRTUAL, "Gone", "hashCode", "()I")));
    assert!(!dispatched(to(INVOKEVIRTUAL, "Gone", "hashCode", "(I)I")));
    assert_eq!(counted(to(INVOKEVIRTUAL, "F", "hashCode", "()I")), Some((0, false)));
    assert_eq!(counted(to(INVOKESPECIAL, "java/lang/Object", "hashCode", "()I")), Some((0, false)));
}

/// Treatments where the thread carries contexts.
fn by_thread(inputs: &[TestClass]) -> impl Fn(&str, &str) -> PlannedTreatment + use<> {
    let world = world(inputs, &[]);
    let settings = Settings { context: ContextCarrier::Thread, ..Settings::default() };
    let plan = Plan::new(&world, &settings).unwrap();
    move |class, name| plan.get(declared(&world, class, name)).unwrap()
}

#[test]
fn the_thread_leaves_signatures_as_they_are() {
    use Treatment as T;
    let planned = by_thread(&[
        object(),
        class("A")
            .flags(ABSTRACT)
            .method(PUBLIC, "<init>", "()V")
            .method(PUBLIC, "m", "()V")
            .method(PUBLIC | ABSTRACT, "a", "()V")
            .method(PUBLIC | NATIVE, "n", "()V")
            .method(PUBLIC | STATIC | NATIVE, "s", "()V"),
        interface("I").method(PUBLIC | ABSTRACT, "a", "()V").method(PUBLIC, "d", "()V"),
        class("java/lang/Math").method(PUBLIC | STATIC, "max", "(II)I").method(PUBLIC | STATIC, "of", "()V"),
        class("java/lang/VirtualThread$1").method(PUBLIC, "run", "()V"),
        class("java/lang/System").method(PUBLIC | STATIC, "exit", "(I)V"),
        class("java/lang/LinkageError").method(PUBLIC, "<init>", "()V").method(PUBLIC, "m", "()V"),
    ]);
    for (class, name, expected) in [
        ("A", "<init>", T::OriginalOnly),
        ("A", "m", T::OriginalOnly),
        ("A", "a", T::Untouched),
        ("A", "n", T::Native),
        ("A", "s", T::Native),
        ("I", "a", T::Untouched),
        ("I", "d", T::OriginalOnly),
        // HotSpot would replace the body with its own code.
        ("java/lang/Math", "max", T::Wrapped),
        ("java/lang/Math", "of", T::OriginalOnly),
        // The current thread may differ on entry and on exit.
        ("java/lang/VirtualThread$1", "run", T::Wrapped),
        ("java/lang/System", "exit", T::OriginalOnly),
        // Callers by the original signature are asked for the stack.
        ("java/lang/LinkageError", "<init>", T::Wrapped),
        ("java/lang/LinkageError", "m", T::OriginalOnly),
    ] {
        assert_eq!(planned(class, name).treatment, expected, "{class}.{name}");
    }
}
