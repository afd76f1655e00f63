//! Fields that the rewriter adds to classes of the library, in which the runtime keeps data of
//! their instances.

use cct_classfile::{MemberRef, NameAndType};

use crate::Mode;

/// Fields that classes of the library always get. They come last, as HotSpot relies on the
/// positions of the first fields of some classes (JDK 8's `hc_*` offsets).
const FIELDS: &[MemberRef<'_>] = &[
    // The slot for code that is entered without a context.
    MemberRef::new(b"java/lang/Thread", b"cct$context", b"J"),
    // The slot of the thread's root, once it has a tree, if recording begins and ends with extents.
    MemberRef::new(b"java/lang/Thread", b"cct$root", b"J"),
    // Whether the thread is being mounted on a carrier or unmounted, or carries one that is.
    MemberRef::new(b"java/lang/Thread", b"cct$transition", b"Z"),
    // The loader's number in the library that rewrites classes at load time.
    MemberRef::new(b"java/lang/ClassLoader", b"cct$number", b"J"),
    // Whether the class inherits `hashCode` from `Object`.
    MemberRef::new(b"java/lang/Class", b"cct$inherits", b"J"),
    // Natives of the class to which method handles and reflection have led.
    MemberRef::new(b"java/lang/Class", b"cct$natives", b"Ljava/lang/Object;"),
    // A stack trace that is being created for this thread.
    MemberRef::new(b"java/lang/Thread", b"cct$trace", b"Ljava/lang/Object;"),
    // The first frames that the VM has filled in, if the walk asked only for classes.
    MemberRef::new(
        b"java/lang/StackStreamFactory$AbstractStackWalker",
        b"cct$frames",
        b"[Ljava/lang/Object;",
    ),
];

/// Additional fields if objects are counted.
const ALLOCATION_FIELDS: &[MemberRef<'_>] = &[
    // The id under which objects of the class are counted; 1 if it is unknown.
    MemberRef::new(b"java/lang/Class", b"cct$type", b"J"),
];

/// Additional fields in traces.
const TRACE_FIELDS: &[MemberRef<'_>] = &[
    // The number of the class in the trace plus one, once it has one.
    MemberRef::new(b"java/lang/Class", b"cct$class", b"J"),
];

/// Additional fields if counted code may have markers.
const MARKER_FIELDS: &[MemberRef<'_>] = &[
    // The markers in whose regions the thread is.
    MemberRef::new(b"java/lang/Thread", b"cct$stack", b"Ljava/lang/Object;"),
];

/// The fields that this class gets, in order. `markers` is whether counted code may have markers.
pub fn added_fields(class: &[u8], mode: Mode, markers: bool) -> impl Iterator<Item = NameAndType<'static>> {
    let of_objects = if mode.allocations { ALLOCATION_FIELDS } else { &[] };
    let of_traces = if mode.traces { TRACE_FIELDS } else { &[] };
    let of_markers = if markers { MARKER_FIELDS } else { &[] };
    [FIELDS, of_objects, of_traces, of_markers]
        .into_iter()
        .flatten()
        .filter(move |field| field.class == class)
        .map(|field| field.name_and_type())
}
