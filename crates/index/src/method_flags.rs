//! Flags of a method in index and class attribute (docs/reference/formats/index.md).

/// A native.
pub const NATIVE: u8 = 1;
/// Concrete, with an extended form that would bypass an override in a class that is not rewritten.
pub const OVERRIDE_WOULD_MISS: u8 = 2;
/// Not recorded.
pub const NOT_RECORDED: u8 = 4;
/// Synchronized, in an output that counts monitors: each of its calls enters one (JVMS 2.11.10).
pub const SYNCHRONIZED: u8 = 16;
/// Neither public nor protected nor private: only its own package can override it.
pub const PACKAGE_PRIVATE: u8 = 8;
