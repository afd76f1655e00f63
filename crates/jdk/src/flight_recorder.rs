//! What Flight Recorder does to methods of the class library at run time.

use cct_classfile::MemberName;

/// The class file version of JDK 22, the last one in which Flight Recorder inserts code into the
/// class library at run time (`jdk.jfr.internal.instrument`). Later class libraries commit these
/// events themselves, and Flight Recorder relies on the frames between.
const LAST_VERSION_INSTRUMENTED_BY_JFR: u16 = 66;

/// Methods into which Flight Recorder copies code. It finds them by their original signatures, so
/// these must have the bodies.
pub const INSTRUMENTED_BY_JFR: &[MemberName<'_>] = &[
    MemberName::new(b"java/io/FileInputStream", b"read"),
    MemberName::new(b"java/io/FileOutputStream", b"write"),
    MemberName::new(b"java/io/RandomAccessFile", b"read"),
    MemberName::new(b"java/io/RandomAccessFile", b"write"),
    MemberName::new(b"java/net/Socket$SocketInputStream", b"read"),
    MemberName::new(b"java/net/Socket$SocketOutputStream", b"write"),
    MemberName::new(b"java/net/SocketInputStream", b"read"),
    MemberName::new(b"java/net/SocketOutputStream", b"socketWrite"),
    MemberName::new(b"sun/nio/ch/FileChannelImpl", b"force"),
    MemberName::new(b"sun/nio/ch/FileChannelImpl", b"read"),
    MemberName::new(b"sun/nio/ch/FileChannelImpl", b"write"),
    MemberName::new(b"sun/nio/ch/SocketChannelImpl", b"read"),
    MemberName::new(b"sun/nio/ch/SocketChannelImpl", b"write"),
];

/// Whether Flight Recorder copies code into this method, in a class file of this version.
pub fn is_instrumented_by_jfr(version: u16, method: MemberName<'_>) -> bool {
    version <= LAST_VERSION_INSTRUMENTED_BY_JFR && INSTRUMENTED_BY_JFR.contains(&method)
}

/// Whether Flight Recorder inserts code that reports the object at the end of this constructor. A
/// wrapper would report it a second time.
pub fn is_constructor_instrumented_by_jfr(version: u16, method: MemberName<'_>) -> bool {
    version <= LAST_VERSION_INSTRUMENTED_BY_JFR
        && method.name == b"<init>"
        && matches!(method.class, b"java/lang/Error" | b"java/lang/Throwable")
}

/// Whether Flight Recorder copies this class's code into another class, and so must find it as
/// compiled.
pub fn is_copied_by_jfr(class: &[u8]) -> bool {
    class.starts_with(b"jdk/jfr/internal/instrument/") && class.ends_with(b"Instrumentor")
}
