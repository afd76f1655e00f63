//! Special rules for methods of the class library. docs/internals/treatments.md has the evidence
//! for each row.

use cct_classfile::{Member, MemberName, MemberRef, NameAndType};

use crate::hooks;

/// Annotations that make a method caller-sensitive (8; 9 and later).
pub const CALLER_SENSITIVE: &[&[u8]] =
    &[b"Lsun/reflect/CallerSensitive;", b"Ljdk/internal/reflect/CallerSensitive;"];

/// Annotations that HotSpot reads from methods of the class library. A body keeps them under either
/// signature.
pub const VM_ANNOTATIONS: &[&[u8]] = &[
    b"Lsun/reflect/CallerSensitive;",
    b"Ljdk/internal/reflect/CallerSensitive;",
    b"Ljava/lang/invoke/ForceInline;",
    b"Ljava/lang/invoke/DontInline;",
    b"Ljava/lang/invoke/LambdaForm$Hidden;",
    b"Ljdk/internal/vm/annotation/ForceInline;",
    b"Ljdk/internal/vm/annotation/DontInline;",
    b"Ljdk/internal/vm/annotation/Hidden;",
    b"Ljdk/internal/vm/annotation/ReservedStackAccess;",
    b"Ljdk/internal/vm/annotation/ChangesCurrentThread;",
    b"Ljdk/internal/vm/annotation/JvmtiMountTransition;",
    b"Ljdk/internal/vm/annotation/JvmtiHideEvents;",
    b"Ljdk/internal/misc/ScopedMemoryAccess$Scoped;",
];

/// The overridable methods of `java/lang/Object`. Its virtual table has exactly these five entries
/// (HotSpot's `compute_Object_vtable`) and arrays share it, so these methods have no extended form
/// anywhere.
pub const OBJECT_METHODS: &[NameAndType<'_>] = &[
    NameAndType::new(b"clone", b"()Ljava/lang/Object;"),
    NameAndType::new(b"equals", b"(Ljava/lang/Object;)Z"),
    NameAndType::new(b"finalize", b"()V"),
    NameAndType::new(b"hashCode", b"()I"),
    NameAndType::new(b"toString", b"()Ljava/lang/String;"),
];

/// Final natives of `java/lang/Object`: a reference to one leads here for any owner. (`wait(J)V` is
/// not a native since JDK 19.)
pub const OBJECT_FINAL_NATIVES: &[NameAndType<'_>] = &[
    NameAndType::new(b"getClass", b"()Ljava/lang/Class;"),
    NameAndType::new(b"notify", b"()V"),
    NameAndType::new(b"notifyAll", b"()V"),
    NameAndType::new(b"wait", b"(J)V"),
];

/// Natives that inspect the stack and must be called by the frame that they are about, although not
/// all are annotated: their callers count them (CCCP 4.3).
pub const STACK_INSPECTING_NATIVES: &[MemberName<'_>] = &[
    MemberName::new(b"sun/reflect/Reflection", b"getCallerClass"),
    MemberName::new(b"java/security/AccessController", b"doPrivileged"),
];

/// Natives that have a wrapper in every run, caller-sensitive or not, and that super calls from
/// other runs rely on. The wrapper removes frames that are not the program's from the result. A
/// class that overrides one of them is refused unless it is rewritten.
pub const FRAME_LISTING_NATIVES: &[MemberName<'_>] = &[
    MemberName::new(b"java/lang/SecurityManager", b"getClassContext"),
    MemberName::new(b"java/lang/SecurityManager", b"classDepth"),
];

/// Whether a native's frame appears in no stack, so that its forwarder's must not replace it. A
/// virtual thread leaves its carrier by this native, with its caller as the youngest frame. (Since
/// JDK 27 HotSpot itself lists the frames of such threads.)
pub fn never_has_a_frame(native: MemberName<'_>) -> bool {
    native == MemberName::new(b"jdk/internal/vm/Continuation", b"doYield")
}

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

/// The class file version of JDK 22, the last one in which Flight Recorder inserts code into the
/// class library at run time (`jdk.jfr.internal.instrument`). Later class libraries commit these
/// events themselves, and Flight Recorder relies on the frames between.
const LAST_VERSION_INSTRUMENTED_BY_JFR: u16 = 66;

/// Methods into which Flight Recorder copies code. It finds them by their original signatures, so
/// these must have the bodies.
pub const INSTRUMENTED_BY_JFR: &[MemberName<'_>] = &[
    MemberName::new(b"java/io/FileInputStream", b"read"),
    MemberName::new(b"java/io/FileOutputStream", b"write"),
    MemberName::new(b"java/io/RandomAccessFile", b"read"),
    MemberName::new(b"java/io/RandomAccessFile", b"write"),
    MemberName::new(b"java/net/Socket$SocketInputStream", b"read"),
    MemberName::new(b"java/net/Socket$SocketOutputStream", b"write"),
    MemberName::new(b"java/net/SocketInputStream", b"read"),
    MemberName::new(b"java/net/SocketOutputStream", b"socketWrite"),
    MemberName::new(b"sun/nio/ch/FileChannelImpl", b"force"),
    MemberName::new(b"sun/nio/ch/FileChannelImpl", b"read"),
    MemberName::new(b"sun/nio/ch/FileChannelImpl", b"write"),
    MemberName::new(b"sun/nio/ch/SocketChannelImpl", b"read"),
    MemberName::new(b"sun/nio/ch/SocketChannelImpl", b"write"),
];

/// Whether Flight Recorder copies code into this method, in a class file of this version.
pub fn is_instrumented_by_jfr(version: u16, method: MemberName<'_>) -> bool {
    version <= LAST_VERSION_INSTRUMENTED_BY_JFR && INSTRUMENTED_BY_JFR.contains(&method)
}

/// Whether Flight Recorder inserts code that reports the object at the end of this constructor. A
/// wrapper would report it a second time.
pub fn is_constructor_instrumented_by_jfr(version: u16, method: MemberName<'_>) -> bool {
    version <= LAST_VERSION_INSTRUMENTED_BY_JFR
        && method.name == b"<init>"
        && matches!(method.class, b"java/lang/Error" | b"java/lang/Throwable")
}

/// Whether Flight Recorder copies this class's code into another class, and so must find it as
/// compiled.
pub fn is_copied_by_jfr(class: &[u8]) -> bool {
    class.starts_with(b"jdk/jfr/internal/instrument/") && class.ends_with(b"Instrumentor")
}

/// Methods whose original body the VM replaces with magic that a copy would lose.
pub const MAGIC: &[MemberName<'_>] = &[MemberName::new(b"java/lang/ref/Reference", b"get")];

/// Whether a class with a method of [`MAGIC`] has the native to which JDK 21.0.13, 26 and later
/// moved the magic. The method itself is then ordinary: the VM executes its body, which calls the
/// native. `declares` says whether the class declares a method.
pub fn has_native_for_magic(declares: impl Fn(NameAndType<'_>) -> bool) -> bool {
    declares(NameAndType::new(b"get0", b"()Ljava/lang/Object;"))
}

/// Methods that HotSpot itself calls within a bytecode, besides class initialisers, `loadClass`,
/// and the constructors of the exceptions that it throws (`vmSymbols`, `JavaCalls`; 8 to 27).
const CALLED_BY_VM: &[MemberName<'_>] = &[
    MemberName::new(b"java/lang/ClassLoader", b"addClass"),
    MemberName::new(b"java/lang/ClassLoader", b"checkPackageAccess"),
    MemberName::new(b"java/lang/ClassLoader", b"findNative"),
    MemberName::new(b"java/lang/ClassLoader", b"getSystemClassLoader"),
    MemberName::new(b"java/lang/ClassLoader", b"loadClassInternal"),
    MemberName::new(b"java/lang/Throwable", b"getCause"),
    // Since JDK 17: for an exception that leaves a class initialiser, to use in later errors.
    MemberName::new(b"java/lang/Throwable", b"getStackTrace"),
    MemberName::new(b"java/lang/Throwable", b"initCause"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"findMethodHandleType"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkCallSite"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkDynamicConstant"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkMethod"),
    MemberName::new(b"java/lang/invoke/MethodHandleNatives", b"linkMethodHandleConstant"),
    MemberName::new(b"java/lang/ref/Finalizer", b"register"),
    MemberName::new(b"java/security/ProtectionDomain", b"impliesCreateAccessControlContext"),
    MemberName::new(b"jdk/internal/misc/Unsafe", b"throwIllegalAccessError"),
    MemberName::new(b"jdk/internal/misc/Unsafe", b"throwNoSuchMethodError"),
    MemberName::new(b"sun/instrument/InstrumentationImpl", b"transform"),
    MemberName::new(b"sun/misc/Unsafe", b"throwIllegalAccessError"),
    MemberName::new(b"sun/misc/Unsafe", b"throwNoSuchMethodError"),
];

/// The exceptions that HotSpot creates by calling their constructors (`vmSymbols`, 8 to 27).
const THROWN_BY_VM: &[&[u8]] = &[
    b"java/lang/AbstractMethodError",
    b"java/lang/ArithmeticException",
    b"java/lang/ArrayIndexOutOfBoundsException",
    b"java/lang/ArrayStoreException",
    b"java/lang/BootstrapMethodError",
    b"java/lang/ClassCastException",
    b"java/lang/ClassCircularityError",
    b"java/lang/ClassFormatError",
    b"java/lang/ClassNotFoundException",
    b"java/lang/CloneNotSupportedException",
    b"java/lang/Error",
    b"java/lang/Exception",
    b"java/lang/ExceptionInInitializerError",
    b"java/lang/IdentityException",
    b"java/lang/IllegalAccessError",
    b"java/lang/IllegalAccessException",
    b"java/lang/IllegalArgumentException",
    b"java/lang/IllegalCallerException",
    b"java/lang/IllegalMonitorStateException",
    b"java/lang/IllegalStateException",
    b"java/lang/IllegalThreadStateException",
    b"java/lang/IncompatibleClassChangeError",
    b"java/lang/IndexOutOfBoundsException",
    b"java/lang/InstantiationError",
    b"java/lang/InstantiationException",
    b"java/lang/InternalError",
    b"java/lang/InterruptedException",
    b"java/lang/LinkageError",
    b"java/lang/NegativeArraySizeException",
    b"java/lang/NoClassDefFoundError",
    b"java/lang/NoSuchFieldError",
    b"java/lang/NoSuchFieldException",
    b"java/lang/NoSuchMethodError",
    b"java/lang/NoSuchMethodException",
    b"java/lang/NullPointerException",
    b"java/lang/OutOfMemoryError",
    b"java/lang/RuntimeException",
    b"java/lang/SecurityException",
    b"java/lang/StackOverflowError",
    b"java/lang/StringIndexOutOfBoundsException",
    b"java/lang/UnsatisfiedLinkError",
    b"java/lang/UnsupportedClassVersionError",
    b"java/lang/UnsupportedOperationException",
    b"java/lang/VerifyError",
    b"java/lang/VirtualMachineError",
    b"java/lang/invoke/WrongMethodTypeException",
    b"java/lang/reflect/InvocationTargetException",
    b"java/security/PrivilegedActionException",
];

/// Whether HotSpot itself creates exceptions of this class.
pub fn is_thrown_by_vm(class: &[u8]) -> bool {
    THROWN_BY_VM.binary_search(&class).is_ok()
}

/// Whether the VM itself may call this method, so that the thread may carry a context other than
/// the one that caused the call (docs/internals/scheme.md).
pub fn is_called_by_vm(class: &[u8], method: &Member<'_>) -> bool {
    match method.name {
        b"<clinit>" => true,
        b"<init>" => is_thrown_by_vm(class),
        b"loadClass" => {
            method.descriptor == b"(Ljava/lang/String;)Ljava/lang/Class;"
                && !method.is(cct_classfile::access::STATIC)
        }
        name => CALLED_BY_VM.binary_search(&MemberName::new(class, name)).is_ok(),
    }
}

/// Natives that never call back into Java, so that the thread needs no context for them. `*` stands
/// for all natives of the class except those with a minus.
pub const LEAF_NATIVES: &[(&[u8], &[&str])] = &[
    (
        b"java/lang/Class",
        &[
            "isInstance",
            "isAssignableFrom",
            "isInterface",
            "isArray",
            "isPrimitive",
            "getName0",
            "getSuperclass",
            "getInterfaces0",
            "getComponentType",
            "getModifiers",
            "getSigners",
            "desiredAssertionStatus0",
            "getPrimitiveClass",
            "getGenericSignature0",
            "getRawAnnotations",
            "getRawTypeAnnotations",
            "getConstantPool",
            "getDeclaringClass0",
            "getProtectionDomain0",
            "isHidden",
            "isRecord0",
            "getClassAccessFlagsRaw0",
            "getClassFileVersion0",
            "getNestHost0",
            "getSimpleBinaryName0",
            "initClassName",
        ],
    ),
    (b"java/lang/Double", &["doubleToRawLongBits", "longBitsToDouble"]),
    (b"java/lang/Float", &["floatToRawIntBits", "intBitsToFloat"]),
    (b"java/lang/Runtime", &["availableProcessors", "freeMemory", "totalMemory", "maxMemory"]),
    (b"java/lang/StrictMath", &["*"]),
    (b"java/lang/String", &["intern"]),
    (b"java/lang/System", &["arraycopy", "currentTimeMillis", "identityHashCode", "nanoTime"]),
    (
        b"java/lang/Thread",
        &[
            "currentThread",
            "isAlive",
            "isInterrupted",
            "holdsLock",
            "yield",
            "yield0",
            "setPriority0",
            "interrupt0",
            "clearInterruptEvent",
            "currentCarrierThread",
            "setCurrentThread",
            "scopedValueCache",
            "setScopedValueCache",
            "findScopedValueBindings",
            "ensureMaterializedForStackWalk",
            "getNextThreadIdOffset",
        ],
    ),
    (b"java/lang/Throwable", &["fillInStackTrace"]),
    (
        b"java/lang/reflect/Array",
        &[
            "getLength",
            "newArray",
            "getInt",
            "getLong",
            "getByte",
            "getChar",
            "setInt",
            "setLong",
            "setByte",
            "setChar",
        ],
    ),
    // Its methods run while the thread changes. There contexts must not be left in "the current"
    // thread: the virtual thread carries its own from one mounting to the next
    // (docs/internals/runtime.md).
    (b"java/lang/VirtualThread", &["*", "-registerNatives", "-takeVirtualThreadListToUnblock"]),
    (b"java/lang/ref/PhantomReference", &["refersTo0", "clear0"]),
    (
        b"java/lang/ref/Reference",
        &["get0", "refersTo0", "clear0", "hasReferencePendingList", "getAndClearReferencePendingList"],
    ),
    (b"java/lang/reflect/Executable", &["getTypeAnnotationBytes0"]),
    (b"java/util/concurrent/atomic/AtomicLong", &["VMSupportsCS8"]),
    (b"java/util/zip/Adler32", &["*"]),
    (b"java/util/zip/CRC32", &["*"]),
    (
        b"sun/misc/Unsafe",
        &[
            "*",
            "-defineClass",
            "-defineAnonymousClass",
            "-allocateInstance",
            "-ensureClassInitialized",
            "-throwException",
            "-staticFieldBase",
            "-registerNatives",
        ],
    ),
    (
        b"jdk/internal/misc/Unsafe",
        &[
            "*",
            "-defineClass0",
            "-defineAnonymousClass0",
            "-allocateInstance",
            "-ensureClassInitialized0",
            "-throwException",
            "-staticFieldBase0",
            "-registerNatives",
        ],
    ),
    // As for VirtualThread. The callees of `enterSpecial` belong to the virtual thread's tree, not
    // below it.
    (b"jdk/internal/vm/Continuation", &["*", "-registerNatives"]),
    (b"sun/reflect/Reflection", &["getClassAccessFlags"]),
    (b"jdk/internal/reflect/Reflection", &["getClassAccessFlags", "areNestMates"]),
    (b"jdk/internal/reflect/ConstantPool", &["*", "-getClassAt0", "-getMethodAt0", "-getFieldAt0"]),
    (b"sun/reflect/ConstantPool", &["*", "-getClassAt0", "-getMethodAt0", "-getFieldAt0"]),
];

/// Whether a native is a leaf. One with a hook is not: the hook is in its wrapper, and calls of
/// leaves bypass wrappers.
pub fn is_leaf(native: MemberName<'_>) -> bool {
    let Some((_, names)) = LEAF_NATIVES.iter().find(|(c, _)| *c == native.class) else { return false };
    let excluded = |n: &&str| n.strip_prefix('-').is_some_and(|n| n.as_bytes() == native.name);
    names.iter().any(|n| *n == "*" || n.as_bytes() == native.name)
        && !names.iter().any(excluded)
        && !hooks::is_hooked(native)
}

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

/// Whether methods of this class run while the current thread changes from a virtual one to its
/// carrier or back. The thread that such a method has read on entry may not be the current one when
/// it calls or returns, so a store there would set another thread's context. These methods use
/// arguments even where threads carry contexts elsewhere. They are virtual threads and
/// continuations, and what they call during the change: `Thread`, its access through `System`, and
/// `Unsafe`.
pub fn changes_the_current_thread(class: &[u8]) -> bool {
    let outer = class.split(|&b| b == b'$').next().unwrap_or(class);
    match outer {
        b"java/lang/System" => outer != class,
        _ => matches!(
            outer,
            b"java/lang/Thread"
                | b"java/lang/VirtualThread"
                | b"jdk/internal/access/JavaLangAccess"
                | b"jdk/internal/misc/Unsafe"
                | b"jdk/internal/vm/Continuation"
        ),
    }
}

/// The reason why the natives of a class keep their names where others are renamed
/// (`--natives prefix`).
pub fn keeps_names_of_natives(class: &[u8]) -> Option<&'static str> {
    // HotSpot's intrinsics of JDK 8 (`vmIntrinsics`), which have no annotation there.
    const REPLACED: &[&[u8]] = &[
        b"java/lang/Double",
        b"java/lang/Float",
        b"java/lang/reflect/Array",
        b"java/util/zip/CRC32",
        b"jdk/jfr/internal/JVM",
        b"sun/reflect/Reflection",
    ];
    // Natives that the runtime calls on both paths, recording or not; they include intrinsics of
    // JDK 8.
    const CALLED: &[&[u8]] = &[
        b"java/lang/Class",
        b"java/lang/Runtime",
        b"java/lang/String",
        b"java/lang/System",
        b"java/lang/Throwable",
        b"java/lang/ref/PhantomReference",
        b"java/lang/ref/Reference",
        b"sun/misc/Unsafe",
    ];
    // Natives of `libjava` that are linked before the class library's `findNative` can be called
    // (`-Xlog:jni+resolve`, 8 to 27, up to the launcher), and through which `findNative` finds
    // others. HotSpot looks up a renamed native's code by the new name first, in that case too.
    const LINKED_EARLY: &[&[u8]] = &[
        b"java/io/Console",
        b"java/io/FileCleanable",
        b"java/io/FileDescriptor",
        b"java/io/FileInputStream",
        b"java/io/FileOutputStream",
        b"java/io/RandomAccessFile",
        b"java/io/UnixFileSystem",
        b"java/io/WinNTFileSystem",
        b"java/lang/ClassLoader",
        b"java/lang/ClassLoader$NativeLibrary",
        b"java/lang/Compiler",
        b"java/lang/Module",
        b"java/lang/NullPointerException",
        b"java/lang/ProcessEnvironment",
        b"java/lang/Shutdown",
        b"java/lang/StringCoding",
        b"java/lang/StringUTF16",
        b"java/lang/ref/Finalizer",
        b"java/security/AccessController",
        b"java/util/concurrent/atomic/AtomicLong",
        b"jdk/internal/loader/BootLoader",
        b"jdk/internal/loader/NativeLibraries",
        b"jdk/internal/loader/NativeLibrary",
        b"jdk/internal/loader/RawNativeLibraries",
        b"jdk/internal/misc/CDS",
        b"jdk/internal/misc/ScopedMemoryAccess",
        b"jdk/internal/misc/Signal",
        b"jdk/internal/misc/VM",
        b"jdk/internal/perf/Perf",
        b"jdk/internal/reflect/Reflection",
        b"jdk/internal/util/SystemProps$Raw",
        b"jdk/internal/vm/ContinuationSupport",
        b"sun/misc/Perf",
        b"sun/misc/Signal",
        b"sun/misc/VM",
    ];
    if LINKED_EARLY.contains(&class) {
        return Some("not renamed: the JVM links natives of this class before it can look for renamed ones");
    }
    if REPLACED.contains(&class) {
        return Some(
            "not renamed: HotSpot has code of its own for natives of this class, which it finds by their names",
        );
    }
    CALLED.contains(&class).then_some("not renamed: the runtime calls natives of this class while it records")
}

/// Whether the class has signature-polymorphic methods (JVMS 2.9.3).
pub fn has_signature_polymorphic_methods(class: &[u8]) -> bool {
    matches!(class, b"java/lang/invoke/MethodHandle" | b"java/lang/invoke/VarHandle")
}

/// Whether reflection has generated this class: another loader than the class's own resolves its
/// names.
pub fn is_generated_accessor(class: &[u8]) -> bool {
    class.starts_with(b"jdk/internal/reflect/Generated") || class.starts_with(b"sun/reflect/Generated")
}

/// The class with HotSpot's linkers (`linkTo*`), by which method handles call the method that the
/// last argument, a `MemberName`, names. `linkToStatic` and `linkToSpecial` call that very method;
/// the others look at the receiver's class.
pub const METHOD_HANDLE: &[u8] = b"java/lang/invoke/MethodHandle";

/// The descriptor of `linkToVirtual` in a call of `hashCode`.
pub const LINKED_HASH_CODE: &[u8] = b"(Ljava/lang/Object;Ljava/lang/invoke/MemberName;)I";

/// Whether a method is signature-polymorphic or a linker (JVMS 2.9.3, and HotSpot's `linkTo*`): no
/// argument may be added anywhere.
pub fn is_signature_polymorphic(method: MemberRef<'_>, access_flags: u16) -> bool {
    use cct_classfile::access::{NATIVE, VARARGS};
    has_signature_polymorphic_methods(method.class)
        && access_flags & (NATIVE | VARARGS) == NATIVE | VARARGS
        && method.descriptor.starts_with(b"([Ljava/lang/Object;)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_searched_are_sorted() {
        assert!(CALLED_BY_VM.is_sorted() && THROWN_BY_VM.is_sorted());
    }

    #[test]
    fn leaves_are_found_by_name_and_by_class() {
        let is_leaf = |class: &[u8], name: &[u8]| is_leaf(MemberName::new(class, name));
        assert!(is_leaf(b"java/lang/System", b"arraycopy"));
        assert!(!is_leaf(b"java/lang/System", b"initProperties"));
        assert!(is_leaf(b"sun/misc/Unsafe", b"getLong"));
        assert!(!is_leaf(b"sun/misc/Unsafe", b"defineClass"));
        assert!(!is_leaf(b"java/lang/Shutdown", b"halt0"));
    }
}
