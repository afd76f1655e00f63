//! The classes of the runtime inside the JVM (`docs/internals/runtime.md`), which
//! `cargo xtask runtime` compiled from `java/` into `classes/`.
//!
//! `java.lang.CctRuntime` and `java.lang.CctMemory` are in that package because every loader may
//! link to it. They also use the field that the rewriter adds to `java.lang.Thread`.
//! `cctrewrite.runtime` contains the internals and `cctrewrite.agent` the API for profiling agents.
//! All of them belong on the boot class path (JDK 8) or into `java.base`. They are class files of
//! version 52 that use the operations `sun.misc.Unsafe` shares with `jdk.internal.misc.Unsafe`. For
//! JDK 9 and later, the name of that class must be replaced.

// A test that cannot set itself up has failed.
#![cfg_attr(test, allow(clippy::unwrap_used))]

/// A class of the runtime: its binary name with slashes, and its class file.
pub type Class = (&'static str, &'static [u8]);

/// All classes of the runtime, sorted by name.
pub fn classes() -> &'static [Class] {
    CLASSES
}

/// The compiler of the classes: `javac 1.8.0_504`. One of another release produces different class
/// files with the same behaviour.
pub const COMPILER: &str = include_str!(concat!(env!("OUT_DIR"), "/compiler.txt"));

static CLASSES: &[Class] = include!(concat!(env!("OUT_DIR"), "/runtime.rs"));

/// The classes with which a program controls recording (`docs/use/parts.md`), sorted by name. They
/// are not part of the runtime: a program contains them, and on a plain JDK they do nothing.
pub fn api() -> &'static [Class] {
    API
}

/// The program that runs a method and records it (`docs/ci/bench.md`), sorted by name. It needs
/// [`api`].
pub fn harness() -> &'static [Class] {
    HARNESS
}

/// The classes that users' modules are compiled against and run with (`docs/research/udi.md`). They
/// are not part of the runtime.
pub fn udi() -> &'static [Class] {
    UDI
}

/// The runtime's classes that classes of users' modules may call.
pub fn bypass() -> impl Iterator<Item = &'static Class> {
    CLASSES.iter().filter(|(name, _)| name.starts_with("cctrewrite/udi/"))
}

static UDI: &[Class] = include!(concat!(env!("OUT_DIR"), "/udi.rs"));

/// The classes that classes with markers call, and that clients of markers implement
/// (`docs/research/markers.md`), sorted by name. They need nothing of the program.
pub fn markers() -> &'static [Class] {
    MARKERS
}

static MARKERS: &[Class] = include!(concat!(env!("OUT_DIR"), "/markers.rs"));

/// The marker classes for a marked class library, which has them next to `java.lang.Object`.
pub fn markers_of_library() -> &'static [Class] {
    MARKERS_OF_LIBRARY
}

static MARKERS_OF_LIBRARY: &[Class] = include!(concat!(env!("OUT_DIR"), "/markers-library.rs"));

/// The marker classes for a class library that is also rewritten for a calling-context tree.
pub fn markers_of_tree() -> &'static [Class] {
    MARKERS_OF_TREE
}

static MARKERS_OF_TREE: &[Class] = include!(concat!(env!("OUT_DIR"), "/markers-tree.rs"));

static HARNESS: &[Class] = include!(concat!(env!("OUT_DIR"), "/harness.rs"));

static API: &[Class] = include!(concat!(env!("OUT_DIR"), "/api.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_sorted_and_of_version_52() {
        assert!(classes().is_sorted_by(|a, b| a.0 < b.0));
        for (name, bytes) in classes() {
            assert_eq!(bytes[..4], [0xCA, 0xFE, 0xBA, 0xBE], "{name}");
            assert_eq!(bytes[4..8], [0, 0, 0, 52], "{name}");
        }
    }

    /// Programs of any age must compile and run with it.
    #[test]
    fn the_api_needs_nothing() {
        let names: Vec<_> = api().iter().map(|class| class.0).collect();
        let counts = ["", "$Body", "$Method"].map(|nested| format!("cctrewrite/api/Counts{nested}"));
        assert_eq!(names[..3], counts);
        assert_eq!(names[3..], ["cctrewrite/api/Pcc", "cctrewrite/api/Recording"]);
        for (_, bytes) in api() {
            let class = cct_classfile::ClassFile::parse(bytes).unwrap();
            assert!(class.major_version <= 52);
            let classes = class.pool.indices().filter_map(|index| class.pool.class(index).ok());
            for name in classes {
                let is_known =
                    matches!(name, b"java/lang/Object" | b"java/lang/String" | b"java/lang/Throwable");
                assert!(is_known || name.starts_with(b"cctrewrite/api/") || name.starts_with(b"["));
            }
        }
    }

    #[test]
    fn stubs_are_not_among_them() {
        let names: Vec<_> = classes().iter().map(|class| class.0).collect();
        assert!(names.contains(&"java/lang/CctRuntime"));
        assert!(
            names.iter().all(|name| name.starts_with("cctrewrite/") || name.starts_with("java/lang/Cct")),
            "{names:?}"
        );
    }

    /// From JDK 9 on `ByteBuffer` and its kin override these methods with a narrower result; JDK 8
    /// has them in `Buffer` only. A newer `javac` links to the narrower ones, and on JDK 8 the
    /// first class defined from a buffer then fails with `NoSuchMethodError`.
    #[test]
    fn buffers_are_moved_by_methods_that_jdk_8_has() {
        let moved: [&[u8]; 7] = [b"clear", b"flip", b"limit", b"mark", b"position", b"reset", b"rewind"];
        for (name, bytes) in classes() {
            let pool = cct_classfile::ClassFile::parse(bytes).unwrap().pool;
            for member in pool.indices().filter_map(|index| pool.member_ref(index).ok()) {
                let narrower = member.class.starts_with(b"java/nio/") && member.class != b"java/nio/Buffer";
                assert!(!(narrower && moved.contains(&member.name)), "{name}: {member:?}");
            }
        }
    }
}
