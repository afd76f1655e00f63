//! The libraries inside this command, for an installation that is a single file (`cargo install`).
//!
//! They take 5 MB. Packages that install them beside the command leave them out of it
//! (`--no-default-features`).

use cct_build::load_time::EmbeddedLibraries;

/// The libraries, if this build has them.
#[cfg(feature = "embed")]
pub static LIBRARIES: EmbeddedLibraries = EmbeddedLibraries {
    load_time: cct_embed::library!(cctrewrite_loadtime),
    vm: cct_embed::library!(cctrewrite_vm),
    prefix: cct_embed::library!(cctrewrite_prefix),
};

/// This build has no libraries inside.
#[cfg(not(feature = "embed"))]
pub static LIBRARIES: EmbeddedLibraries = EmbeddedLibraries { load_time: None, vm: None, prefix: None };

#[cfg(all(test, feature = "embed"))]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_are_those_that_cargo_built() {
        let folder = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
        let of_build = |name: &str| {
            let file = format!("{}{name}{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
            std::fs::read(folder.join(file)).unwrap()
        };
        assert!(LIBRARIES.load_time.unwrap() == of_build("cctrewrite_loadtime"));
        assert!(LIBRARIES.vm.unwrap() == of_build("cctrewrite_vm"));
        assert!(LIBRARIES.prefix.unwrap() == of_build("cctrewrite_prefix"));
    }
}
