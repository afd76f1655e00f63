//! Natives of the class library that allocate objects for their callers.

use cct_classfile::MemberName;

/// The objects that a native allocates, which its wrapper counts with `--allocations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeAllocation {
    /// The result of the native.
    Result,
    /// An array of arrays. The array of their lengths is in this local.
    Arrays(u16),
}

/// The objects of natives that allocate what their caller names: natives of reflection, and those
/// of `Unsafe` by which method handles allocate.
pub fn of_native(native: MemberName<'_>) -> Option<NativeAllocation> {
    Some(match (native.class, native.name) {
        (b"java/lang/reflect/Array", b"newArray") => NativeAllocation::Result,
        (b"java/lang/reflect/Array", b"multiNewArray") => NativeAllocation::Arrays(1),
        (b"sun/misc/Unsafe" | b"jdk/internal/misc/Unsafe", b"allocateInstance") => NativeAllocation::Result,
        (
            b"sun/reflect/NativeConstructorAccessorImpl"
            | b"jdk/internal/reflect/NativeConstructorAccessorImpl"
            | b"jdk/internal/reflect/DirectConstructorHandleAccessor$NativeAccessor",
            b"newInstance0",
        ) => NativeAllocation::Result,
        _ => return None,
    })
}
