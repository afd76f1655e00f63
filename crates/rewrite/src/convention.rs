//! The calling convention between rewritten classes and the runtime: names, descriptors, offsets. One page with `docs/runtime.md`.

use std::sync::LazyLock;

use crate::runtime_method::RuntimeMethod;
use crate::settings::Settings;

/// Version of the convention. Outputs with different versions must not meet in one JVM.
pub const SCHEME: &str = "5";

/// Parameters behind the original ones: the caller's slot, and a marker that is always null.
///
/// The marker is an array of a primitive type because resolving it never asks a class loader (JVMS 5.3.3); compilers and
/// reflection do resolve every class that a descriptor names.
pub const EXTENSION: &[u8] = b"J[[[[J";

/// Slots of [`EXTENSION`].
pub const EXTENSION_SLOTS: u16 = 3;

/// A method may have 255 argument slots (JVMS 4.3.3).
pub const MAX_ARGUMENT_SLOTS: u16 = 255;

/// Offset of the first call-site slot in a node.
pub const SLOTS_OFFSET: u16 = 40;

/// Where a context has the call site, if these are told apart: above the slot's address, the bytecode index plus one.
pub const SITE_SHIFT: u32 = 48;

/// The context of code below which nothing is recorded; contexts below 1024 are no addresses (docs/runtime.md).
pub const BYPASS: u16 = 8;

/// With this begin the names of members that the rewriter adds under names of their own.
pub const PREFIX: &[u8] = b"cct$";

/// What stands before the name of a native that was renamed (docs/natives.md). The agent `cct-prefix` tells the JVM of it, which looks for the native's code without.
pub const NATIVE_PREFIX: &[u8] = b"cct$native$";

/// The class that every loader knows, and that therefore holds the helpers.
pub const OBJECT: &[u8] = b"java/lang/Object";

/// The class that helpers forward to which count objects.
pub const ALLOCATIONS_RUNTIME: &[u8] = b"java/lang/CctAllocations";

/// The class that helpers forward to which write events.
pub const TRACE_RUNTIME: &[u8] = b"java/lang/CctTrace";

/// The class that those helpers forward to which take contexts, where these are values.
pub const PCC_RUNTIME: &[u8] = b"java/lang/CctPcc";

/// The class that those helpers forward to which tell of markers.
pub const MARKERS_RUNTIME: &[u8] = b"java/lang/CctMarkers";

/// What the helpers forward to.
pub const RUNTIME: &[u8] = b"java/lang/CctRuntime";

/// The class that those helpers forward to which take a call site's context, where call sites are told apart.
pub const SITES_RUNTIME: &[u8] = b"java/lang/CctSites";

/// Fields that classes of the library get: class, name, descriptor. They come last, as HotSpot counts on the places of the first ones of
/// some classes (JDK 8's `hc_*` offsets).
pub const FIELDS: &[(&[u8], &[u8], &[u8])] = &[
    // The slot to be used by code that is entered without a context.
    (b"java/lang/Thread", b"cct$context", b"J"),
    // The slot of the thread's root, once it has a tree, where recording begins and ends with extents.
    (b"java/lang/Thread", b"cct$root", b"J"),
    // Whether the thread is being mounted on a carrier or unmounted, or carries one that is.
    (b"java/lang/Thread", b"cct$transition", b"Z"),
    // The loader's number in the library that rewrites classes at load time.
    (b"java/lang/ClassLoader", b"cct$number", b"J"),
    // Whether the class inherits `hashCode` from `Object`.
    (b"java/lang/Class", b"cct$inherits", b"J"),
    // Natives of the class that method handles and reflection have led to.
    (b"java/lang/Class", b"cct$natives", b"Ljava/lang/Object;"),
    // A stack trace that this thread is being given.
    (b"java/lang/Thread", b"cct$trace", b"Ljava/lang/Object;"),
    // The first frames that the VM has filled in, where the walk asked for classes alone.
    (b"java/lang/StackStreamFactory$AbstractStackWalker", b"cct$frames", b"[Ljava/lang/Object;"),
];

/// Fields that there are where objects are counted.
pub const ALLOCATION_FIELDS: &[(&[u8], &[u8], &[u8])] = &[
    // The id under which objects of the class are counted; 1 if that is not known.
    (b"java/lang/Class", b"cct$type", b"J"),
];

/// Fields that there are in traces.
pub const TRACE_FIELDS: &[(&[u8], &[u8], &[u8])] = &[
    // The number of the class in the trace plus one, once it has one.
    (b"java/lang/Class", b"cct$class", b"J"),
];

/// Fields that there are where markers may stand beside what counts.
pub const MARKER_FIELDS: &[(&[u8], &[u8], &[u8])] = &[
    // The markers that the thread is in.
    (b"java/lang/Thread", b"cct$stack", b"Ljava/lang/Object;"),
];

/// The line of a forwarder's frames: by it the runtime tells the frames that the program must not see. Source files do not have that many
/// lines, and an attribute of our own would not be seen from inside the JVM. (At index 0 a wrapper has the original's line: it stands for it there.)
pub const FORWARDER_LINE: u16 = 65535;

/// The same for a forwarder to a native. Where the native has no frame, because compiled code replaces it or a hook runs in its stead, the
/// forwarder's stands for it.
pub const NATIVE_FORWARDER_LINE: u16 = 65534;

/// A static method added to `java/lang/Object`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Helper {
    /// Name in `java/lang/Object`; in the runtime class it is the same without `cct$`.
    pub name: &'static [u8],
    /// Descriptor, the same in both.
    pub descriptor: &'static [u8],
    /// Its position among [`HELPERS`]; behind all of them if it is no pass's.
    pub(crate) place: usize,
}

macro_rules! helpers {
    ($($id:ident = $name:literal $descriptor:literal;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Place { $($id),* }
        $(
            #[allow(missing_docs)]
            pub const $id: Helper =
                Helper { name: $name, descriptor: $descriptor, place: Place::$id as usize };
        )*
        /// All helpers.
        pub const HELPERS: &[Helper] = &[$($id),*];
    };
}

helpers! {
    ENTER = b"cct$enter" b"(JJI)J";
    ENTER_AND_TICK = b"cct$enterAndTick" b"(JJII)J";
    ENTER_AND_POLL = b"cct$enterAndPoll" b"(JJII)J";
    COUNT = b"cct$count" b"(JI)V";
    DRAIN = b"cct$drain" b"(JI)I";
    TICK = b"cct$tick" b"(JI)V";
    LOOP = b"cct$loop" b"(JII)V";
    STORE = b"cct$store" b"(J)V";
    LEAF = b"cct$leaf" b"(JJI)V";
    CALL = b"cct$call" b"(JJI)V";
    CURRENT_THREAD = b"cct$thread" b"()Ljava/lang/Object;";
    CONTEXT = b"cct$context" b"(Ljava/lang/Object;)J";
    HASH_CODE = b"cct$hashCode" b"(Ljava/lang/Object;JJ)V";
    LINK = b"cct$link" b"(Ljava/lang/Object;J)V";
    LINK_HASH_CODE = b"cct$linkHashCode" b"(Ljava/lang/Object;Ljava/lang/Object;J)V";
    RESTORE = b"cct$restore" b"(Ljava/lang/Object;J)V";
    REPLAY = b"cct$replay" b"(Ljava/lang/Object;J)J";
    CARRY = b"cct$carry" b"(Ljava/lang/Object;J)V";
    BEGIN = b"cct$begin" b"(Ljava/lang/Object;J)J";
    START_AT = b"cct$startAt" b"()V";
    RECORD = b"cct$record" b"(Ljava/lang/Object;I)Z";
    SITE = b"cct$site" b"(J)J";
    ROOT_OF = b"cct$rootOf" b"(J)J";
    OBJECT_MADE = b"cct$object" b"(JJ)V";
    ARRAYS_MADE = b"cct$arrays" b"(Ljava/lang/Object;JJI)V";
    COPY_MADE = b"cct$copy" b"(Ljava/lang/Object;J)V";
    RESULT_MADE = b"cct$result" b"(Ljava/lang/Object;J)V";
    TRACE_EVENT = b"cct$event" b"(JI)V";
    TRACE_RECEIVER = b"cct$receiver" b"(Ljava/lang/Object;JI)V";
    TRACE_WIDE = b"cct$wide" b"(JJ)V";
    TRACE_CAUGHT = b"cct$caught" b"(JII)V";
    TRACE_CAUGHT_WIDE = b"cct$caughtWide" b"(JIJ)V";
    TRACE_LEAF = b"cct$leafById" b"(JJ)V";
    TRACE_HASH_CODE = b"cct$traceHashCode" b"(Ljava/lang/Object;JIJ)V";
    TRACE_LINK = b"cct$traceLink" b"(Ljava/lang/Object;J)V";
    TRACE_LINK_HASH_CODE = b"cct$traceLinkHashCode" b"(Ljava/lang/Object;Ljava/lang/Object;J)V";
    TRACE_EXTENT = b"cct$extent" b"(JI)V";
    TRACE_ARRAY = b"cct$array" b"(IJI)V";
    TRACE_ARRAYS = b"cct$traceArrays" b"(Ljava/lang/Object;JI)V";
    TRACE_MONITOR = b"cct$monitor" b"(Ljava/lang/Object;JI)V";
    RESULT_ARRAYS_MADE = b"cct$resultArrays" b"(Ljava/lang/Object;Ljava/lang/Object;J)V";
    PCC_AT = b"cct$at" b"(JJ)V";
    PCC_HASH_CODE = b"cct$atHashCode" b"(Ljava/lang/Object;JJ)V";
    PCC_VALUE = b"cct$value" b"()J";
}

/// The helpers that [`MARKERS_RUNTIME`] has, and that there are where markers may stand beside what counts. No pass calls them: the crate of markers does.
pub fn marker_helpers() -> &'static [Helper] {
    static ALL: LazyLock<Vec<Helper>> = LazyLock::new(|| {
        let all = cct_markers::helpers_of_object().into_iter();
        all.map(|(name, descriptor)| Helper { name, descriptor, place: HELPERS.len() }).collect()
    });
    &ALL
}

/// The helpers that [`SITES_RUNTIME`] has.
const OF_SITES: &[Helper] =
    &[ENTER, ENTER_AND_TICK, ENTER_AND_POLL, STORE, LEAF, CALL, HASH_CODE, LINK, LINK_HASH_CODE, SITE];

/// The helpers that [`ALLOCATIONS_RUNTIME`] has, and that there are where objects are counted.
const OF_ALLOCATIONS: &[Helper] = &[OBJECT_MADE, ARRAYS_MADE, COPY_MADE, RESULT_MADE, RESULT_ARRAYS_MADE];

/// The helpers that [`TRACE_RUNTIME`] has, and that there are in traces.
const OF_TRACES: &[Helper] = &[
    TRACE_EVENT,
    TRACE_RECEIVER,
    TRACE_WIDE,
    TRACE_CAUGHT,
    TRACE_CAUGHT_WIDE,
    TRACE_LEAF,
    TRACE_HASH_CODE,
    TRACE_LINK,
    TRACE_LINK_HASH_CODE,
    TRACE_EXTENT,
];

/// Those that there are in traces with objects and monitors.
const OF_TRACED_OBJECTS: &[Helper] = &[TRACE_ARRAY, TRACE_ARRAYS, TRACE_MONITOR];

/// Those of counting that write events in traces.
const OF_BOTH: &[Helper] = &[COPY_MADE, RESULT_MADE, RESULT_ARRAYS_MADE];

/// Those that there are where contexts are values.
const OF_PCC: &[Helper] = &[PCC_AT, PCC_HASH_CODE, PCC_VALUE];

/// The helpers that [`PCC_RUNTIME`] has there, beside those.
const OF_VALUES: &[Helper] = &[STORE, CONTEXT, LINK, REPLAY, CARRY, BEGIN, START_AT, RECORD];

/// The helpers that there are.
pub fn helpers(settings: &Settings) -> impl Iterator<Item = &'static Helper> {
    let of_markers = if settings.markers { marker_helpers() } else { &[] };
    let (allocations, traces, values) = (settings.allocations, settings.traces(), settings.pcc().is_some());
    let usual = HELPERS.iter().filter(move |helper| {
        let counts = allocations && (!traces || OF_BOTH.contains(helper));
        (counts || !OF_ALLOCATIONS.contains(helper))
            && (traces || !OF_TRACES.contains(helper))
            && (traces && allocations || !OF_TRACED_OBJECTS.contains(helper))
            && (values || !OF_PCC.contains(helper))
    });
    usual.chain(of_markers)
}

impl Helper {
    /// The method of the runtime that the helper forwards to.
    pub fn target(&self, settings: &Settings) -> RuntimeMethod {
        let (call_sites, traces, values) = (settings.call_sites, settings.traces(), settings.pcc().is_some());
        let class = match self {
            _ if settings.markers && marker_helpers().contains(self) => MARKERS_RUNTIME,
            _ if OF_ALLOCATIONS.contains(self) && !traces => ALLOCATIONS_RUNTIME,
            _ if [OF_TRACES, OF_TRACED_OBJECTS, OF_BOTH].iter().any(|helpers| helpers.contains(self)) => {
                TRACE_RUNTIME
            }
            _ if values && (OF_PCC.contains(self) || OF_VALUES.contains(self)) => PCC_RUNTIME,
            // What is there alone is called by nobody otherwise.
            _ if OF_SITES.contains(self) && (call_sites || *self == SITE) => SITES_RUNTIME,
            _ => RUNTIME,
        };
        RuntimeMethod { class, name: &self.name[PREFIX.len()..], descriptor: self.descriptor }
    }
}
