//! The calling convention between rewritten classes and the runtime: names, descriptors, offsets.
//! One page with docs/internals/runtime.md.

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

/// A method may have 255 argument slots (JVMS 4.3.3).
pub const MAX_ARGUMENT_SLOTS: u16 = 255;

/// Offset of the first call-site slot in a node.
pub const SLOTS_OFFSET: u16 = 40;

/// Where a context holds its call site, if call sites are kept separate: the bytecode index plus
/// one, above the slot's address.
pub const SITE_SHIFT: u32 = 48;

/// The context of code below which nothing is recorded; contexts below 1024 are no addresses
/// (docs/internals/runtime.md).
pub const BYPASS: u16 = 8;

/// Prefix of the names of members that the rewriter adds under names of their own.
pub const PREFIX: &[u8] = b"cct$";

/// What stands before the name of a native that was renamed (docs/reference/natives.md). The agent
/// `cct-prefix` tells the JVM of it, which looks for the native's code without.
pub const NATIVE_PREFIX: &[u8] = b"cct$native$";

/// The class that every loader knows, and that therefore holds the helpers.
pub const OBJECT: &[u8] = b"java/lang/Object";

/// The line of a forwarder's frames: by it the runtime tells the frames that the program must not
/// see. Source files do not have that many lines, and an attribute of our own would not be seen
/// from inside the JVM. (At index 0 a wrapper has the original's line: it stands for it there.)
pub const FORWARDER_LINE: u16 = 65535;

/// The same for a forwarder to a native. Where the native has no frame, because compiled code
/// replaces it or a hook runs in its stead, the forwarder's stands for it.
pub const NATIVE_FORWARDER_LINE: u16 = 65534;

/// The extended form of a descriptor.
pub fn with_extension(descriptor: &[u8]) -> Vec<u8> {
    let close = end_of_parameters(descriptor).unwrap_or(descriptor.len());
    [&descriptor[..close], EXTENSION, &descriptor[close..]].concat()
}

/// The original form of an extended descriptor; `None` of one that is not extended.
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
