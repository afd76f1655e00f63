//! What inserted code may name, as docs/runtime.md and docs/formats/index.md state it. Written down here once more: a checker that shared the
//! rewriter's tables would share their faults.

use cct_classfile::descriptor::end_of_parameters;
use cct_classfile::{Bci, mutf8};
use xxhash_rust::xxh3::xxh3_64;

use crate::expectation::{Expectation, Tool};

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

/// What stands before the names of natives that were renamed.
pub const NATIVE_PREFIX: &[u8] = b"cct$native$";

/// The attribute of rewritten classes.
pub const ATTRIBUTE: &[u8] = b"cctrewrite";

/// The root of all classes, which has the helpers.
pub const OBJECT: &[u8] = b"java/lang/Object";

/// What the helpers forward to.
pub const RUNTIME: &[u8] = b"java/lang/CctRuntime";

/// What those helpers forward to that take a call site's context, where call sites are told apart.
pub const SITES_RUNTIME: &[u8] = b"java/lang/CctSites";

/// Those helpers, and one that is called by nobody otherwise.
const OF_SITES: &[Helper] = &[
    Helper::Enter,
    Helper::EnterAndTick,
    Helper::EnterAndPoll,
    Helper::Store,
    Helper::Leaf,
    Helper::Call,
    Helper::HashCode,
    Helper::Link,
    Helper::LinkHashCode,
    Helper::Site,
];

/// What those helpers forward to that count objects.
pub const ALLOCATIONS_RUNTIME: &[u8] = b"java/lang/CctAllocations";

/// Those helpers, which there are only where objects are counted.
const OF_ALLOCATIONS: &[Helper] =
    &[Helper::Object, Helper::Arrays, Helper::Copy, Helper::Result, Helper::ResultArrays];

/// The field that there is only then.
pub const ALLOCATION_FIELDS: &[(&[u8], &[u8], &[u8])] = &[(b"java/lang/Class", b"cct$type", b"J")];

/// What those helpers forward to that take contexts, where these are values (docs/pcc.md).
pub const VALUES_RUNTIME: &[u8] = b"java/lang/CctPcc";

/// Those among the usual helpers.
const OF_VALUES: &[Helper] = &[
    Helper::Store,
    Helper::Context,
    Helper::Link,
    Helper::Replay,
    Helper::Carry,
    Helper::Begin,
    Helper::StartAt,
    Helper::Record,
];

/// Those that there are only then.
const VALUES_ALONE: &[Helper] = &[Helper::At, Helper::AtHashCode, Helper::Value];

/// What helpers forward to that write events (docs/trace.md).
pub const TRACE_RUNTIME: &[u8] = b"java/lang/CctTrace";

/// Those helpers, which there are only in traces.
const OF_TRACES: &[Helper] = &[
    Helper::Event,
    Helper::Receiver,
    Helper::Wide,
    Helper::Caught,
    Helper::CaughtWide,
    Helper::LeafById,
    Helper::TraceHashCode,
    Helper::TraceLink,
    Helper::TraceLinkHashCode,
    Helper::Extent,
];

/// Those that there are only in traces with objects and monitors.
const OF_TRACED_OBJECTS: &[Helper] = &[Helper::Array, Helper::TraceArrays, Helper::Monitor];

/// Those that otherwise count objects, and there write events of them.
const OF_BOTH: &[Helper] = &[Helper::Copy, Helper::Result, Helper::ResultArrays];

/// The field that there is only in traces.
pub const TRACE_FIELDS: &[(&[u8], &[u8], &[u8])] = &[(b"java/lang/Class", b"cct$class", b"J")];

/// By what a caller's value is multiplied.
pub const FACTOR: i64 = 3;

/// The method by which a program asks for its value: class, name and descriptor.
pub const QUESTION: (&[u8], &[u8], &[u8]) = (b"cctrewrite/api/Pcc", b"current", b"()J");

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
    Site,
    RootOf,
    Object,
    Arrays,
    Copy,
    Result,
    ResultArrays,
    At,
    AtHashCode,
    Value,
    Event,
    Receiver,
    Wide,
    Caught,
    CaughtWide,
    LeafById,
    TraceHashCode,
    TraceLink,
    TraceLinkHashCode,
    Extent,
    Array,
    TraceArrays,
    Monitor,
}

/// Instructions `nop` at the beginning of a helper: with the call behind them it is more than HotSpot's first compiler inlines, 35 bytes.
pub const PADDING: usize = 35;

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
    (Helper::Site, b"cct$site", b"(J)J"),
    (Helper::RootOf, b"cct$rootOf", b"(J)J"),
    (Helper::Object, b"cct$object", b"(JJ)V"),
    (Helper::Arrays, b"cct$arrays", b"(Ljava/lang/Object;JJI)V"),
    (Helper::Copy, b"cct$copy", b"(Ljava/lang/Object;J)V"),
    (Helper::Result, b"cct$result", b"(Ljava/lang/Object;J)V"),
    (Helper::ResultArrays, b"cct$resultArrays", b"(Ljava/lang/Object;Ljava/lang/Object;J)V"),
    (Helper::At, b"cct$at", b"(JJ)V"),
    (Helper::AtHashCode, b"cct$atHashCode", b"(Ljava/lang/Object;JJ)V"),
    (Helper::Value, b"cct$value", b"()J"),
    (Helper::Event, b"cct$event", b"(JI)V"),
    (Helper::Receiver, b"cct$receiver", b"(Ljava/lang/Object;JI)V"),
    (Helper::Wide, b"cct$wide", b"(JJ)V"),
    (Helper::Caught, b"cct$caught", b"(JII)V"),
    (Helper::CaughtWide, b"cct$caughtWide", b"(JIJ)V"),
    (Helper::LeafById, b"cct$leafById", b"(JJ)V"),
    (Helper::TraceHashCode, b"cct$traceHashCode", b"(Ljava/lang/Object;JIJ)V"),
    (Helper::TraceLink, b"cct$traceLink", b"(Ljava/lang/Object;J)V"),
    (Helper::TraceLinkHashCode, b"cct$traceLinkHashCode", b"(Ljava/lang/Object;Ljava/lang/Object;J)V"),
    (Helper::Extent, b"cct$extent", b"(JI)V"),
    (Helper::Array, b"cct$array", b"(IJI)V"),
    (Helper::TraceArrays, b"cct$traceArrays", b"(Ljava/lang/Object;JI)V"),
    (Helper::Monitor, b"cct$monitor", b"(Ljava/lang/Object;JI)V"),
];

/// What those helpers forward to that tell of markers.
pub const MARKERS_RUNTIME: &[u8] = b"java/lang/CctMarkers";

/// Those that there are where markers may stand beside what counts: name and descriptor.
const OF_MARKERS: &[(&[u8], &[u8])] = &[
    (b"cct$markerReady", b"()Z"),
    (b"cct$markerBits", b"(Ljava/lang/Object;I)I"),
    (b"cct$markerSettled", b"(Ljava/lang/Object;)V"),
    (b"cct$markerAbandoned", b"()V"),
    (b"cct$markerTable", b"(Ljava/lang/Object;)Ljava/lang/Object;"),
    (b"cct$markerIsOn", b"(Ljava/lang/Object;I)Z"),
    (b"cct$markerEnter", b"(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/Object;J)Ljava/lang/Object;"),
    (b"cct$markerAt", b"(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/Object;J)V"),
    (b"cct$markerExit", b"(Ljava/lang/Object;)V"),
    (b"cct$markerMade", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
    (b"cct$markerThrown", b"(Ljava/lang/Object;)V"),
    (b"cct$markerReturned", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
    (b"cct$markerRow", b"(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    (b"cct$markerRegister", b"(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
    (b"cct$markerArray", b"(I)Ljava/lang/Object;"),
    (b"cct$markerPut", b"(Ljava/lang/Object;ILjava/lang/Object;)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;IZ)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;IB)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;IC)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;IS)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;II)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;IJ)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;IF)V"),
    (b"cct$markerPut", b"(Ljava/lang/Object;ID)V"),
];

/// The helpers that `java/lang/Object` gets in an output, each with its name, its descriptor, and the class of the runtime that it forwards to.
pub fn helpers(
    expectation: &Expectation,
) -> impl Iterator<Item = (&'static [u8], &'static [u8], &'static [u8])> {
    let allocations = expectation.allocations == Some(true);
    let are_apart = expectation.call_sites == Some(true);
    let values = matches!(expectation.tool, Some(Tool::Values(_)));
    let traces = expectation.tool == Some(Tool::Trace);
    let of_markers = if expectation.markers == Some(true) { OF_MARKERS } else { &[] };
    let of_markers = of_markers.iter().map(|(name, descriptor)| (*name, *descriptor, MARKERS_RUNTIME));
    let counting = HELPERS.iter().filter_map(move |(helper, name, descriptor)| {
        let runtime = match helper {
            helper if OF_TRACES.contains(helper) => Some(TRACE_RUNTIME).filter(|_| traces),
            helper if OF_TRACED_OBJECTS.contains(helper) => {
                Some(TRACE_RUNTIME).filter(|_| traces && allocations)
            }
            helper if traces && OF_ALLOCATIONS.contains(helper) => {
                Some(TRACE_RUNTIME).filter(|_| allocations && OF_BOTH.contains(helper))
            }
            helper if OF_ALLOCATIONS.contains(helper) => Some(ALLOCATIONS_RUNTIME).filter(|_| allocations),
            helper if VALUES_ALONE.contains(helper) => Some(VALUES_RUNTIME).filter(|_| values),
            helper if values && OF_VALUES.contains(helper) => Some(VALUES_RUNTIME),
            Helper::Site => Some(SITES_RUNTIME),
            helper if are_apart && OF_SITES.contains(helper) => Some(SITES_RUNTIME),
            _ => Some(RUNTIME),
        };
        Some((*name, *descriptor, runtime?))
    });
    counting.chain(of_markers)
}

/// Fields that classes of the library get.
pub const FIELDS: &[(&[u8], &[u8], &[u8])] = &[
    (b"java/lang/Thread", b"cct$context", b"J"),
    (b"java/lang/Thread", b"cct$root", b"J"),
    (b"java/lang/Thread", b"cct$trace", b"Ljava/lang/Object;"),
    (b"java/lang/Thread", b"cct$transition", b"Z"),
    (b"java/lang/ClassLoader", b"cct$number", b"J"),
    (b"java/lang/Class", b"cct$inherits", b"J"),
    (b"java/lang/Class", b"cct$natives", b"Ljava/lang/Object;"),
    (b"java/lang/StackStreamFactory$AbstractStackWalker", b"cct$frames", b"[Ljava/lang/Object;"),
];

/// Those that they get where markers may stand beside what counts.
pub const MARKER_FIELDS: &[(&[u8], &[u8], &[u8])] =
    &[(b"java/lang/Thread", b"cct$stack", b"Ljava/lang/Object;")];

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
    (b"java/lang/Class", b"getDeclaredFields0"),
    (b"java/lang/Class", b"getDeclaredMethods0"),
    (b"java/lang/StackTraceElement", b"initStackTraceElement"),
    (b"java/lang/StackTraceElement", b"initStackTraceElements"),
    (b"java/lang/StackStreamFactory$AbstractStackWalker", b"fetchStackFrames"),
];

/// The native that becomes a Java method which calls the runtime.
pub const REPLACED_NATIVE: (&[u8], &[u8], &[u8]) =
    (b"sun/reflect/Reflection", b"getCallerClass", b"(I)Ljava/lang/Class;");

/// What `REPLACED_NATIVE` and hooks of the stack call.
pub const STACKS: &[u8] = b"java/lang/CctStacks";

/// Classes whose methods run while the current thread changes, with the classes nested in them; of `System` only the latter (docs/scheme.md).
const CHANGE_THE_CURRENT_THREAD: [&[u8]; 6] = [
    b"java/lang/Thread",
    b"java/lang/VirtualThread",
    b"jdk/internal/access/JavaLangAccess",
    b"jdk/internal/misc/Unsafe",
    b"jdk/internal/vm/Continuation",
    b"java/lang/System",
];

/// Whether a class is one of them.
pub fn changes_the_current_thread(class: &[u8]) -> bool {
    let outer = class.split(|&b| b == b'$').next().unwrap_or(class);
    CHANGE_THE_CURRENT_THREAD.contains(&outer) && class != b"java/lang/System"
}

/// The extended form of a descriptor.
pub fn extended(descriptor: &[u8]) -> Vec<u8> {
    let close = end_of_parameters(descriptor).unwrap_or(descriptor.len());
    [&descriptor[..close], EXTENSION, &descriptor[close..]].concat()
}

/// Hash of a class file.
pub fn class_hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The id of a class's `k`-th method, whose entries count nothing by it.
pub fn method_id(hash: u64, k: usize, slots: usize) -> i64 {
    let step = (k as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    id(hash.wrapping_add(step), slots)
}

/// The same of one whose entries do.
pub fn counting_id(hash: u64, k: usize, slots: usize, on_entry: u8) -> i64 {
    method_id(hash, k, slots) | i64::from(on_entry) << 7
}

/// How many bytecodes an entry counts by its method's id.
pub fn counted_by_id(id: i64) -> u8 {
    (id >> 7 & 0x1F) as u8
}

/// The id of a method that its callers count.
pub fn foreign_id(owner: &[u8], name: &[u8], descriptor: &[u8], slots: usize) -> i64 {
    id(xxh3_64(&[owner, b".", name, b":", descriptor].concat()), slots)
}

/// What a call adds to three times its caller's value: the hash of the caller's name and the bytecode index of the call, -1 of what a native calls, even
/// (docs/pcc.md, *Values*).
pub fn call_site(class: &[u8], name: &[u8], descriptor: &[u8], bci: Option<Bci>) -> i64 {
    let [class, name, descriptor] = [class, name, descriptor].map(mutf8::decode_lossy);
    let bci = bci.map_or(-1, i64::from);
    (xxh3_64(format!("{class}.{name}{descriptor}@{bci}").as_bytes()) & !1) as i64
}

/// `mix` is the finaliser of splitmix64; ids below 0x1000 are the runtime's.
fn id(seed: u64, slots: usize) -> i64 {
    let mut z = seed;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    let hash = if z & !0xFFF == 0 { z | 0x1000 } else { z };
    (hash & !0xFFF | slots as u64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_the_documents() {
        // splitmix64, seeded with 0, begins with this number.
        assert_eq!(method_id(0, 0, 5) as u64, 0xE220_A839_7B1D_CDAF & !0xFFF | 5);
        let counting = counting_id(0, 0, 5, 31);
        assert_eq!((counting - method_id(0, 0, 5), counted_by_id(counting)), (31 << 7, 31));
        assert_ne!(method_id(1, 0, 5), method_id(1, 1, 5));
        assert_eq!(foreign_id(b"A", b"m", b"()V", 1), id(class_hash(b"A.m:()V"), 1));
        assert_eq!(id(0, 0), 0x1000, "ids below are the runtime's");
    }

    #[test]
    fn call_sites_add_what_the_documents_say() {
        let add = call_site(b"java/util/ArrayList", b"add", b"(Ljava/lang/Object;)Z", Some(7));
        assert_eq!(add as u64, 0xff9e_b2bc_d181_e9d4);
        assert_ne!(add, call_site(b"java/util/ArrayList", b"add", b"(Ljava/lang/Object;)Z", None));
    }

    #[test]
    fn descriptors_are_extended_behind_their_parameters() {
        assert_eq!(extended(b"(I)V"), b"(IJ[[[[J)V");
        assert_eq!(extended(b"()[J"), b"(J[[[[J)[J");
    }
}
