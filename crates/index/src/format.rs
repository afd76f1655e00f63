//! Numbers that the writer and the reader of an index share (docs/reference/formats/index.md).

/// First bytes of an index.
pub(crate) const MAGIC: u32 = 0x4343_5449;

/// Version of the format.
pub const VERSION: u32 = 5;

/// Value for a missing string.
pub(crate) const NONE: u32 = u32::MAX;

/// First bytes of the checksum at the end of an index.
pub(crate) const CHECKSUM_MAGIC: u32 = 0x4343_5458;

/// Length in bytes of the checksum with its magic number.
pub(crate) const CHECKSUM_SIZE: usize = 12;
