//! Where an output belongs in a JVM: recorded when it is made, read by `cctrewrite flags`.

use std::path::Path;

use cct_archive::Layout;

/// The entry of an output that holds its place, as one line.
pub const PLACE_NAME: &str = "cctrewrite-output/place";

/// What of a JVM an output replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Part of the boot class path.
    Boot,
    /// An installed extension (JDK 8 and before).
    Extension,
    /// The image of a JDK from 9 on, or the folder that stands for one.
    Image,
    /// A module from which images are linked.
    Jmod,
    /// Something of the user's.
    Application,
}

impl Place {
    /// The place of what was made from an input of this layout: of classes at its top that of the folder of a JDK (or JRE) 8 in which it lies; outside of one, what has `java/lang/Object` is
    /// for the boot class path and everything else is the application's.
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
        Place::ALL.into_iter().find(|place| place.line().as_bytes() == text)
    }

    const ALL: [Place; 5] = [Place::Boot, Place::Extension, Place::Image, Place::Jmod, Place::Application];

    /// The text of the entry.
    pub fn line(self) -> &'static str {
        match self {
            Place::Boot => "boot\n",
            Place::Extension => "ext\n",
            Place::Image => "image\n",
            Place::Jmod => "jmod\n",
            Place::Application => "app\n",
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
        for place in Place::ALL {
            assert_eq!(Place::parse(place.line().as_bytes()), Some(place));
        }
        assert_eq!(Place::parse(b"boot"), None);
    }
}
