//! Methods of the class library whose bodies must have the original signature.
//! docs/internals/treatments.md has the evidence for each row.

use cct_classfile::{MemberName, NameAndType};

/// Methods that must keep their original signature.
pub const ORIGINAL_ONLY: &[(MemberName<'_>, &str)] = &[
    (
        MemberName::new(b"java/lang/reflect/Method", b"invoke"),
        "HotSpot skips this frame by its original signature when it looks for a caller",
    ),
    (
        MemberName::new(b"java/lang/ref/Finalizer", b"runFinalizer"),
        "called in a loop by a thread that is older than the first context",
    ),
    (
        MemberName::new(b"java/lang/ref/Reference", b"tryHandlePending"),
        "called in a loop by a thread that is older than the first context",
    ),
];

/// The reason why all methods of a class keep their original signature; `None` if they need not.
pub fn original_only_class(class: &[u8]) -> Option<&'static str> {
    const EVENT: &str = "an event: Flight Recorder replaces the methods by their original signatures";
    const WRITER: &str = "Flight Recorder counts its frames, and HotSpot checks by whose frame it is called";
    match class {
        b"jdk/jfr/Event" => return Some(EVENT),
        b"jdk/jfr/internal/EventWriter"
        | b"jdk/jfr/internal/EventWriterFactoryRecipe"
        | b"jdk/jfr/internal/JVM"
        | b"jdk/jfr/internal/event/EventWriter"
        | b"jdk/jfr/internal/event/EventWriterFactory" => return Some(WRITER),
        _ => {}
    }
    const PREFIXES: &[(&[u8], &str)] = &[
        (b"jdk/internal/event/", EVENT),
        (b"jdk/jfr/events/", EVENT),
        // Generated; under the second name up to JDK 17.
        (b"jdk/jfr/internal/handlers/EventHandler", WRITER),
        (b"jdk/jfr/proxy/internal/EventHandler", WRITER),
        (b"java/lang/invoke/", "java.lang.invoke: its frames and descriptors are known to the VM"),
        (
            b"jdk/internal/reflect/Generated",
            "a generated accessor, which cannot refer to itself: names in it are resolved by another loader",
        ),
        (
            b"sun/reflect/Generated",
            "a generated accessor, which cannot refer to itself: names in it are resolved by another loader",
        ),
    ];
    PREFIXES.iter().find(|(prefix, _)| class.starts_with(prefix)).map(|(_, reason)| *reason)
}

/// Methods whose original body the VM replaces with magic that a copy would lose.
pub const MAGIC: &[MemberName<'_>] = &[MemberName::new(b"java/lang/ref/Reference", b"get")];

/// Whether a class with a method of [`MAGIC`] has the native to which JDK 21.0.13, 26 and later
/// moved the magic. The method itself is then ordinary: the VM executes its body, which calls the
/// native. `declares` says whether the class declares a method.
pub fn has_native_for_magic(declares: impl Fn(NameAndType<'_>) -> bool) -> bool {
    declares(NameAndType::new(b"get0", b"()Ljava/lang/Object;"))
}
