//! What runs inside the JVM: the classes of the runtime (`docs/runtime.md`), compiled from `java/` by the build script.
//!
//! `java.lang.CctRuntime` and `java.lang.CctMemory` are in that package because every loader may link to it and because they use the
//! field that the rewriter adds to `java.lang.Thread`; `cctrewrite.runtime` holds the internals and `cctrewrite.agent` what a profiling
//! agent sees. All of them belong on the boot class path (JDK 8) or into `java.base`. They are class files of version 52 that use the
//! operations `sun.misc.Unsafe` shares with `jdk.internal.misc.Unsafe`: for JDK 9 and later the name of that class is to be replaced.

/// A class of the runtime: its binary name with slashes, and its class file.
pub type Class = (&'static str, &'static [u8]);

/// All classes of the runtime, sorted by name.
pub fn classes() -> &'static [Class] {
    CLASSES
}

static CLASSES: &[Class] = include!(concat!(env!("OUT_DIR"), "/classes.rs"));

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

    #[test]
    fn stubs_are_not_among_them() {
        let names: Vec<_> = classes().iter().map(|class| class.0).collect();
        assert!(names.contains(&"java/lang/CctRuntime"));
        assert!(
            names.iter().all(|name| name.starts_with("cctrewrite/") || name.starts_with("java/lang/Cct")),
            "{names:?}"
        );
    }
}
