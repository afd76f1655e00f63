//! The place of an output in a JVM: recorded when it is built, read by `cctrewrite flags`.

use std::path::Path;

use cct_archive::Layout;

/// The entry of an output whose first line is its place. The second line says what it was made from
/// ([`made_from`]).
pub const PLACE_NAME: &str = "cctrewrite-output/place";

/// Prefix of the hash in the second line.
const MADE_FROM: &str = "made-from ";

/// The second line of the entry.
pub fn made_from_line(hash: &str) -> String {
    format!("{MADE_FROM}{hash}\n")
}

/// The hash of an output's inputs, from the text of its entry.
pub fn made_from(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text).ok()?.lines().nth(1)?.strip_prefix(MADE_FROM)
}

/// The entry of patches that lists, one on each line, the modules that a JVM resolves when the
/// program is on the class path.
pub const RESOLVED_NAME: &str = "cctrewrite-output/resolved";

/// The part of a JVM that an output replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Part of the boot class path.
    Boot,
    /// An installed extension (JDK 8 and before).
    Extension,
    /// The image of a JDK from 9 on, or the corresponding folder.
    Image,
    /// A module from which images are linked.
    Jmod,
    /// A folder of jars for `--patch-module`, each named after its module.
    Patches,
    /// One such jar, and its module.
    Patch(String),
    /// A part of the user's program.
    Application,
}

impl Place {
    /// The place of an output of an input with this layout. A jar of classes in a folder of a JDK
    /// (or JRE) 8 has that folder's place. Elsewhere, an input with `java/lang/Object` is for the
    /// boot class path, and others belong to the application.
    pub fn of(input: &Path, layout: Layout, has_object: bool) -> Place {
        match layout {
            Layout::Modules => return Place::Image,
            Layout::Jmod => return Place::Jmod,
            Layout::Plain => {}
        }
        let canonical = std::fs::canonicalize(input).unwrap_or_else(|_| input.to_path_buf());
        let folder = canonical.parent();
        let holds_library = |folder: &Path| folder.join("rt.jar").is_file();
        if has_object || folder.is_some_and(holds_library) {
            Place::Boot
        } else if folder.is_some_and(|f| f.ends_with("ext") && f.parent().is_some_and(holds_library)) {
            Place::Extension
        } else {
            Place::Application
        }
    }

    /// The place by the text of its entry.
    pub fn parse(text: &[u8]) -> Option<Place> {
        let (line, _) = std::str::from_utf8(text).ok()?.split_once('\n')?;
        let known =
            [Place::Boot, Place::Extension, Place::Image, Place::Jmod, Place::Patches, Place::Application];
        match line.strip_prefix("patch ") {
            Some(module) => Some(Place::Patch(module.to_owned())),
            None => known.into_iter().find(|place| place.word() == line),
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Place::Boot => "boot",
            Place::Extension => "ext",
            Place::Image => "image",
            Place::Jmod => "jmod",
            Place::Patches => "patches",
            Place::Patch(_) => "patch",
            Place::Application => "app",
        }
    }

    /// The text of the entry.
    pub fn line(&self) -> String {
        match self {
            Place::Patch(module) => format!("{} {module}\n", self.word()),
            _ => format!("{}\n", self.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_s_folder_decides() {
        let home = tempfile::tempdir().unwrap();
        let ext = home.path().join("lib/ext");
        std::fs::create_dir_all(&ext).unwrap();
        let file = |path: &str| {
            let path = home.path().join(path);
            std::fs::write(&path, b"").unwrap();
            path
        };
        assert_eq!(Place::of(&file("lib/jce.jar"), Layout::Plain, false), Place::Application);
        file("lib/rt.jar");
        assert_eq!(Place::of(&file("lib/jce.jar"), Layout::Plain, false), Place::Boot);
        assert_eq!(Place::of(&file("lib/ext/zipfs.jar"), Layout::Plain, false), Place::Extension);
        assert_eq!(Place::of(&file("app.jar"), Layout::Plain, false), Place::Application);
        assert_eq!(Place::of(&file("copy-of-rt.jar"), Layout::Plain, true), Place::Boot);
        assert_eq!(Place::of(&file("lib/modules"), Layout::Modules, true), Place::Image);
        assert_eq!(Place::of(&file("java.base.jmod"), Layout::Jmod, true), Place::Jmod);
    }

    #[test]
    fn places_are_read_as_they_are_written() {
        let patch = Place::Patch("java.base".to_owned());
        for place in [
            Place::Boot,
            Place::Extension,
            Place::Image,
            Place::Jmod,
            Place::Patches,
            patch,
            Place::Application,
        ] {
            assert_eq!(Place::parse(place.line().as_bytes()), Some(place.clone()));
            let text = place.line() + &made_from_line("0f");
            assert_eq!(
                (Place::parse(text.as_bytes()), made_from(text.as_bytes())),
                (Some(place), Some("0f"))
            );
        }
        assert_eq!(Place::parse(b"boot"), None);
        assert_eq!(Place::parse(b"patch\n"), None);
        assert_eq!(made_from(b"app\n"), None);
    }
}
