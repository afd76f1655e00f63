//! The calling convention between rewritten classes and the runtime: names, descriptors, offsets.
//! docs/internals/runtime.md documents the same convention.

use cct_classfile::descriptor::end_of_parameters;

/// Version of the convention. Outputs with different versions must not meet in one JVM.
pub const SCHEME: &str = "5";

/// Parameters after the original ones: the caller's slot, and a marker that is always null.
///
/// The marker is an array of a primitive type because resolving it never asks a class loader (JVMS
/// 5.3.3); compilers and reflection do resolve every class that a descriptor names.
pub const EXTENSION: &[u8] = b"J[[[[J";

/// Slots of [`EXTENSION`].
pub const EXTENSION_SLOTS: u16 = 3;

/// Maximum number of argument slots of a method (JVMS 4.3.3).
pub const MAX_ARGUMENT_SLOTS: u16 = 255;

/// Offset of the first call-site slot in a node.
pub const SLOTS_OFFSET: u16 = 40;

/// The position of the call site in a context, if call sites are kept separate: the bytecode index
/// plus one, in the bits above the slot's address.
pub const SITE_SHIFT: u32 = 48;

/// The context of code below which nothing is recorded; contexts below 1024 are not addresses
/// (docs/internals/runtime.md).
pub const BYPASS: u16 = 8;

/// Prefix of the names of members that the rewriter adds under new names.
pub const PREFIX: &[u8] = b"cct$";

/// Prefix of the name of a renamed native (docs/reference/natives.md). The agent `cct-prefix`
/// announces it to the JVM, which then looks for the native's code without it.
pub const NATIVE_PREFIX: &[u8] = b"cct$native$";

/// The class that every loader knows, and which therefore has the helpers.
pub const OBJECT: &[u8] = b"java/lang/Object";

/// The line of a forwarder's frames, by which the runtime recognises frames that the program must
/// not see. Source files do not have that many lines, and code inside the JVM could not see an
/// attribute of cctrewrite. (At index 0 a wrapper has the original's line: it represents the
/// original there.)
pub const FORWARDER_LINE: u16 = 65535;

/// The line of the frames of a forwarder to a native, by which the runtime recognises them. If the
/// native has no frame, because compiled code replaces it or a hook runs instead, the forwarder's
/// frame represents it.
pub const NATIVE_FORWARDER_LINE: u16 = 65534;

/// The extended form of a descriptor.
pub fn with_extension(descriptor: &[u8]) -> Vec<u8> {
    let close = end_of_parameters(descriptor).unwrap_or(descriptor.len());
    [&descriptor[..close], EXTENSION, &descriptor[close..]].concat()
}

/// The original form of an extended descriptor; `None` if the descriptor is not extended.
pub fn without_extension(descriptor: &[u8]) -> Option<Vec<u8>> {
    let close = end_of_parameters(descriptor)?;
    let arguments = descriptor[..close].strip_suffix(EXTENSION)?;
    Some([arguments, &descriptor[close..]].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_extended_after_their_parameters() {
        for (original, extended) in [(&b"(I)V"[..], &b"(IJ[[[[J)V"[..]), (b"()[J", b"(J[[[[J)[J")] {
            assert_eq!(with_extension(original), extended);
            assert_eq!(without_extension(extended).as_deref(), Some(original));
            assert_eq!(without_extension(original), None);
        }
    }
}
