//! Classes that jlink generates, instead of those in the jmods (plugins `system-modules` and
//! `generate-jli-classes`).
//!
//! Generated classes have no extended forms, and no caller may rely on such forms. So these classes
//! stay unchanged in jmods.

/// Whether jlink generates a class of this name.
pub fn makes(name: &[u8]) -> bool {
    let of_module_system = |tail: &[u8]| tail == b"Map" || tail.starts_with(b"$");
    let of_invocation =
        |tail: &[u8]| tail.ends_with(b"$Holder") || tail.starts_with(b"BoundMethodHandle$Species_");
    name.strip_prefix(b"jdk/internal/module/SystemModules").is_some_and(of_module_system)
        || name.strip_prefix(b"java/lang/invoke/").is_some_and(of_invocation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_recognised_by_their_names() {
        for name in [
            "jdk/internal/module/SystemModulesMap",
            "jdk/internal/module/SystemModules$all",
            "java/lang/invoke/DirectMethodHandle$Holder",
            "java/lang/invoke/BoundMethodHandle$Species_LL",
        ] {
            assert!(makes(name.as_bytes()), "{name}");
        }
        for name in [
            // The interface of the generated ones.
            "jdk/internal/module/SystemModules",
            "jdk/internal/module/SystemModuleFinders",
            "java/lang/invoke/BoundMethodHandle",
            "java/lang/Holder",
        ] {
            assert!(!makes(name.as_bytes()), "{name}");
        }
    }
}
