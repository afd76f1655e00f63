//! Fields that the rewriter adds to classes of the library, in which the runtime keeps data of
//! their instances.

use crate::Mode;

/// A field that the rewriter adds to a class of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddedField {
    /// Internal name of the class.
    pub class: &'static [u8],
    /// Name of the field.
    pub name: &'static [u8],
    /// Descriptor of the field.
    pub descriptor: &'static [u8],
}

const fn field(class: &'static [u8], name: &'static [u8], descriptor: &'static [u8]) -> AddedField {
    AddedField { class, name, descriptor }
}

/// Fields that classes of the library always get. They come last, as HotSpot relies on the
/// positions of the first fields of some classes (JDK 8's `hc_*` offsets).
const FIELDS: &[AddedField] = &[
    // The slot for code that is entered without a context.
    field(b"java/lang/Thread", b"cct$context", b"J"),
    // The slot of the thread's root, once it has a tree, if recording begins and ends with extents.
    field(b"java/lang/Thread", b"cct$root", b"J"),
    // Whether the thread is being mounted on a carrier or unmounted, or carries one that is.
    field(b"java/lang/Thread", b"cct$transition", b"Z"),
    // The loader's number in the library that rewrites classes at load time.
    field(b"java/lang/ClassLoader", b"cct$number", b"J"),
    // Whether the class inherits `hashCode` from `Object`.
    field(b"java/lang/Class", b"cct$inherits", b"J"),
    // Natives of the class to which method handles and reflection have led.
    field(b"java/lang/Class", b"cct$natives", b"Ljava/lang/Object;"),
    // A stack trace that is being created for this thread.
    field(b"java/lang/Thread", b"cct$trace", b"Ljava/lang/Object;"),
    // The first frames that the VM has filled in, if the walk asked only for classes.
    field(b"java/lang/StackStreamFactory$AbstractStackWalker", b"cct$frames", b"[Ljava/lang/Object;"),
];

/// Additional fields if objects are counted.
const ALLOCATION_FIELDS: &[AddedField] = &[
    // The id under which objects of the class are counted; 1 if it is unknown.
    field(b"java/lang/Class", b"cct$type", b"J"),
];

/// Additional fields in traces.
const TRACE_FIELDS: &[AddedField] = &[
    // The number of the class in the trace plus one, once it has one.
    field(b"java/lang/Class", b"cct$class", b"J"),
];

/// Additional fields if counted code may have markers.
const MARKER_FIELDS: &[AddedField] = &[
    // The markers in whose regions the thread is.
    field(b"java/lang/Thread", b"cct$stack", b"Ljava/lang/Object;"),
];

/// The fields that this class gets, in order. `markers` is whether counted code may have markers.
pub fn added_fields(class: &[u8], mode: Mode, markers: bool) -> impl Iterator<Item = &'static AddedField> {
    let of_objects = if mode.allocations { ALLOCATION_FIELDS } else { &[] };
    let of_traces = if mode.traces { TRACE_FIELDS } else { &[] };
    let of_markers = if markers { MARKER_FIELDS } else { &[] };
    [FIELDS, of_objects, of_traces, of_markers]
        .into_iter()
        .flatten()
        .filter(move |field| field.class == class)
}
