//! What inserted code may name, as docs/runtime.md and docs/formats/index.md state it. Written down here once more: a checker that shared the
//! rewriter's tables would share their faults.

use xxhash_rust::xxh3::xxh3_64;

/// What stands behind the parameters of extended forms.
pub const EXTENSION: &[u8] = b"J[[[[J";

/// The type of the second of them.
pub const MARKER: &[u8] = b"[[[[J";

/// Slots of both.
pub const EXTENSION_SLOTS: u16 = 3;

/// Offset of a node's first slot.
pub const SLOTS_OFFSET: i32 = 40;

/// Slots that a node has at most.
pub const MAX_SLOTS: usize = 64;

/// The context of code below which nothing is recorded.
pub const BYPASS: i32 = 8;

/// The line of forwarders, and of those to natives.
pub const FORWARDER_LINE: u16 = 65535;
/// See [`FORWARDER_LINE`].
pub const NATIVE_FORWARDER_LINE: u16 = 65534;

/// The attribute of rewritten classes.
pub const ATTRIBUTE: &[u8] = b"cctrewrite";

/// The root of all classes, which has the helpers.
pub const OBJECT: &[u8] = b"java/lang/Object";

/// What the helpers forward to.
pub const RUNTIME: &[u8] = b"java/lang/CctRuntime";

/// A helper that inserted code calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Helper {
    Enter,
    EnterAndTick,
    EnterAndPoll,
    Count,
    Drain,
    Tick,
    Loop,
    Store,
    Leaf,
    Call,
    Thread,
    Context,
    HashCode,
    Link,
    LinkHashCode,
    Restore,
    Replay,
    Carry,
    Begin,
    StartAt,
    Record,
}

/// All helpers: name and descriptor.
pub const HELPERS: &[(Helper, &[u8], &[u8])] = &[
    (Helper::Enter, b"cct$enter", b"(JJI)J"),
    (Helper::EnterAndTick, b"cct$enterAndTick", b"(JJII)J"),
    (Helper::EnterAndPoll, b"cct$enterAndPoll", b"(JJII)J"),
    (Helper::Count, b"cct$count", b"(JI)V"),
    (Helper::Drain, b"cct$drain", b"(JI)I"),
    (Helper::Tick, b"cct$tick", b"(JI)V"),
    (Helper::Loop, b"cct$loop", b"(JII)V"),
    (Helper::Store, b"cct$store", b"(J)V"),
    (Helper::Leaf, b"cct$leaf", b"(JJI)V"),
    (Helper::Call, b"cct$call", b"(JJI)V"),
    (Helper::Thread, b"cct$thread", b"()Ljava/lang/Object;"),
    (Helper::Context, b"cct$context", b"(Ljava/lang/Object;)J"),
    (Helper::HashCode, b"cct$hashCode", b"(Ljava/lang/Object;JJ)V"),
    (Helper::Link, b"cct$link", b"(Ljava/lang/Object;J)V"),
    (Helper::LinkHashCode, b"cct$linkHashCode", b"(Ljava/lang/Object;Ljava/lang/Object;J)V"),
    (Helper::Restore, b"cct$restore", b"(Ljava/lang/Object;J)V"),
    (Helper::Replay, b"cct$replay", b"(Ljava/lang/Object;J)J"),
    (Helper::Carry, b"cct$carry", b"(Ljava/lang/Object;J)V"),
    (Helper::Begin, b"cct$begin", b"(Ljava/lang/Object;J)J"),
    (Helper::StartAt, b"cct$startAt", b"()V"),
    (Helper::Record, b"cct$record", b"(Ljava/lang/Object;I)Z"),
];

/// Fields that classes of the library get.
pub const FIELDS: &[(&[u8], &[u8], &[u8])] = &[
    (b"java/lang/Thread", b"cct$context", b"J"),
    (b"java/lang/Thread", b"cct$root", b"J"),
    (b"java/lang/Thread", b"cct$trace", b"Ljava/lang/Object;"),
    (b"java/lang/ClassLoader", b"cct$number", b"J"),
    (b"java/lang/Class", b"cct$inherits", b"J"),
    (b"java/lang/Class", b"cct$natives", b"Ljava/lang/Object;"),
    (b"java/lang/StackStreamFactory$AbstractStackWalker", b"cct$frames", b"[Ljava/lang/Object;"),
];

/// A clock (class, name, descriptor), and the constant that `--reproducible` puts in the place of what it says.
pub type Pin = (&'static [u8], &'static [u8], &'static [u8], i64);

/// See [`Pin`].
pub const PINS: &[Pin] = &[
    (b"java/lang/System", b"nanoTime", b"()J", 123_456_789_012_345),
    (b"java/lang/System", b"currentTimeMillis", b"()J", 1_000_000_000_000),
    (b"java/lang/ref/SoftReference", b"clock", b"J", 0),
];

/// The methods by which a program switches the recording, and the number that stands for each.
pub const SWITCHES: &[(&[u8], &[u8], i32)] = &[
    (b"start", b"()V", 0),
    (b"start", b"(Ljava/lang/String;)V", 0),
    (b"stop", b"()V", 1),
    (b"startAll", b"()V", 2),
    (b"startAll", b"(Ljava/lang/String;)V", 2),
    (b"stopAll", b"()V", 3),
    (b"active", b"()Z", 4),
];

/// Their class.
pub const RECORDING: &[u8] = b"cctrewrite/api/Recording";

/// Natives that the runtime calls past their hooks.
pub const CALLED_BY_RUNTIME: &[(&[u8], &[u8])] = &[
    (b"java/lang/StackTraceElement", b"initStackTraceElement"),
    (b"java/lang/StackTraceElement", b"initStackTraceElements"),
    (b"java/lang/StackStreamFactory$AbstractStackWalker", b"fetchStackFrames"),
];

/// The native that becomes a Java method which calls the runtime.
pub const REPLACED_NATIVE: (&[u8], &[u8], &[u8]) =
    (b"sun/reflect/Reflection", b"getCallerClass", b"(I)Ljava/lang/Class;");

/// What `REPLACED_NATIVE` and hooks of the stack call.
pub const STACKS: &[u8] = b"java/lang/CctStacks";

/// Natives whose extended form calls the runtime beside them or in their stead: class, and names (docs/runtime.md).
pub const HOOKED_NATIVES: &[(&[u8], &[&[u8]])] = &[
    (b"java/lang/ClassLoader", &[b"defineClass0", b"defineClass1", b"defineClass2"]),
    (b"sun/misc/Unsafe", &[b"defineClass", b"defineAnonymousClass"]),
    (b"jdk/internal/misc/Unsafe", &[b"defineClass0", b"defineAnonymousClass0"]),
    (b"java/lang/reflect/Proxy", &[b"defineClass0"]),
    (b"java/lang/Module", &[b"defineModule0"]),
    (b"java/lang/Class", &[b"getDeclaredMethods0", b"getDeclaredConstructors0", b"getDeclaredFields0"]),
    (b"java/lang/Throwable", &[b"getStackTraceDepth", b"getStackTraceElement"]),
    (b"java/lang/Thread", &[b"dumpThreads", b"getStackTrace0"]),
    (b"sun/management/ThreadImpl", &[b"getThreadInfo1", b"dumpThreads0"]),
    (b"java/lang/SecurityManager", &[b"getClassContext", b"classDepth", b"classLoaderDepth0"]),
    (b"java/lang/StackTraceElement", &[b"initStackTraceElements"]),
    (b"jdk/internal/vm/ThreadSnapshot", &[b"create"]),
    (b"java/lang/NullPointerException", &[b"getExtendedNPEMessage"]),
    (b"java/lang/StackFrameInfo", &[b"expandStackFrameInfo"]),
    (b"java/lang/StackStreamFactory$AbstractStackWalker", &[b"fetchStackFrames", b"callStackWalk"]),
    (b"sun/reflect/NativeMethodAccessorImpl", &[b"invoke0"]),
    (b"jdk/internal/reflect/NativeMethodAccessorImpl", &[b"invoke0"]),
    (b"jdk/internal/reflect/DirectMethodHandleAccessor$NativeAccessor", &[b"invoke0"]),
];

/// The runtime's classes that hooks call.
pub const HOOK_CLASSES: &[&[u8]] =
    &[b"java/lang/CctHooks", STACKS, b"java/lang/CctNatives", b"java/lang/CctWalks"];

/// Where a body calls the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Behind the prologue.
    Entry,
    /// Behind the prologue, with the reference in a local.
    EntryWith(u16),
    /// Behind the prologue, with `this` and all arguments; the result becomes an `int` argument.
    Argument(u16),
    /// Before each return.
    Return,
    /// Before each return, with `this`.
    ReturnWithThis,
    /// Behind each read of a field of `this`, with the value and `this`.
    Read(&'static [u8]),
}

/// Bodies with calls of the runtime: class, method, place, and the runtime's class, name and descriptor (docs/runtime.md, docs/reproducible.md).
pub type BodyHook = (&'static [u8], &'static [u8], Place, &'static [u8], &'static [u8], &'static [u8]);

/// See [`BodyHook`].
pub const BODY_HOOKS: &[BodyHook] = &[
    (b"java/lang/System", b"initializeSystemClass", Place::Return, b"java/lang/CctHooks", b"boot", b"()V"),
    (b"java/lang/System", b"initPhase2", Place::Return, b"java/lang/CctHooks", b"boot", b"()V"),
    (
        b"sun/launcher/LauncherHelper",
        b"checkAndLoadMain",
        Place::Entry,
        b"java/lang/CctHooks",
        b"launch",
        b"()V",
    ),
    (b"java/lang/Shutdown", b"halt", Place::Entry, b"java/lang/CctHooks", b"finish", b"()V"),
    (b"java/lang/Shutdown", b"shutdown", Place::Return, b"java/lang/CctHooks", b"finish", b"()V"),
    (
        b"java/lang/Throwable",
        b"getOurStackTrace",
        Place::Read(b"depth"),
        STACKS,
        b"depth",
        b"(ILjava/lang/Throwable;)I",
    ),
    (
        b"java/lang/StackStreamFactory$AbstractStackWalker",
        b"doStackWalk",
        Place::Argument(4),
        b"java/lang/CctWalks",
        b"num$doStackWalk",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIIII)I",
    ),
    (
        b"java/lang/StackStreamFactory$AbstractStackWalker",
        b"doStackWalk",
        Place::Argument(6),
        b"java/lang/CctWalks",
        b"end$doStackWalk",
        b"(Ljava/lang/StackStreamFactory$AbstractStackWalker;JIIII)I",
    ),
    (
        b"java/lang/invoke/MemberName",
        b"expandFromVM",
        Place::ReturnWithThis,
        b"java/lang/CctWalks",
        b"expanded",
        b"(Ljava/lang/Object;)V",
    ),
    keep(b"java/lang/invoke/MethodTypeForm", b"findForm", 0),
    keep(b"java/lang/invoke/CallSite", b"makeSite", 1),
    keep(b"java/lang/invoke/MethodHandleNatives", b"linkMethod", 3),
    keep(b"java/lang/invoke/MethodHandleNatives", b"linkMethodHandleConstant", 3),
];

const fn keep(class: &'static [u8], method: &'static [u8], local: u16) -> BodyHook {
    (class, method, Place::EntryWith(local), b"java/lang/CctHooks", b"keep", b"(Ljava/lang/Object;)V")
}

/// The extended form of a descriptor.
pub fn extended(descriptor: &[u8]) -> Vec<u8> {
    let close = descriptor.iter().rposition(|&b| b == b')').unwrap_or(descriptor.len());
    [&descriptor[..close], EXTENSION, &descriptor[close..]].concat()
}

/// Hash of a class file.
pub fn class_hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The id of a class's `k`-th method.
pub fn method_id(hash: u64, k: usize, slots: usize) -> i64 {
    let step = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    id(hash.wrapping_add(step), slots)
}

/// The id of a method that its callers count.
pub fn foreign_id(owner: &[u8], name: &[u8], descriptor: &[u8], slots: usize) -> i64 {
    id(xxh3_64(&[owner, b".", name, b":", descriptor].concat()), slots)
}

/// `mix` is the finaliser of splitmix64; ids below 0x80 are the runtime's.
fn id(seed: u64, slots: usize) -> i64 {
    let mut z = seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    let hash = if z & !0x7F == 0 { z | 0x80 } else { z };
    (hash & !0x7F | slots as u64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_documents() {
        // splitmix64, seeded with 0, begins with this number.
        assert_eq!(method_id(0, 0, 5) as u64, 0xE220_A839_7B1D_CDAF & !0x7F | 5);
        assert_ne!(method_id(1, 0, 5), method_id(1, 1, 5));
        assert_eq!(foreign_id(b"A", b"m", b"()V", 1), id(class_hash(b"A.m:()V"), 1));
        assert_eq!(id(0, 0), 0x80, "ids below are the runtime's");
    }

    #[test]
    fn descriptors_are_extended_behind_their_parameters() {
        assert_eq!(extended(b"(I)V"), b"(IJ[[[[J)V");
        assert_eq!(extended(b"()[J"), b"(J[[[[J)[J");
    }
}
