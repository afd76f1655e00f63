//! Natives of the class library that are called in other ways than most.
//! docs/internals/treatments.md has the evidence for each row.

use cct_classfile::MemberName;

use crate::native_hooks;

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
        && !native_hooks::is_hooked(native)
}

/// Whether a leaf native may make the VM call a method, such as the constructor of an exception, a
/// class initialiser, or the loader of a class that the native names. Such a native has an event
/// for its end, so that readers know the caller.
pub fn leaf_throws(native: MemberName<'_>) -> bool {
    matches!(
        (native.class, native.name),
        (b"java/lang/System", b"arraycopy")
            | (
                b"java/lang/Class",
                b"isAssignableFrom"
                    | b"isInstance"
                    | b"getConstantPool"
                    | b"getDeclaringClass0"
                    | b"getSimpleBinaryName0"
                    | b"getNestHost0"
            )
            | (b"jdk/internal/reflect/Reflection", b"areNestMates")
            | (b"java/lang/Thread", b"holdsLock")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
