//! Layouts of containers: the folder of package folders, at the top or further in.

use crate::INDEX_NAME;
use crate::entry::Entry;

/// Prefix of the names of entries that correspond to the top of a jar on the class path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// `java/lang/Object.class`: jars, folders of classes.
    Plain,
    /// `java.base/java/lang/Object.class`: images, and folders with a subfolder for each module,
    /// `java.base` among them.
    Modules,
    /// `classes/java/lang/Object.class`: a module packed for jlink. Its other sections hold no
    /// classes.
    Jmod,
}

/// The first bytes of a jmod, before its first zip entry: `JM`, version 1.0.
pub(crate) const JMOD_MAGIC: &[u8] = b"JM\x01\x00";

/// The module of the class library in which the runtime lives.
const BASE: &str = "java.base/";

impl Layout {
    /// The layout of a folder.
    pub(crate) fn of_folder(entries: &[Entry]) -> Layout {
        let has_base = entries.iter().any(|entry| &*entry.name == "java.base/module-info.class");
        if has_base { Layout::Modules } else { Layout::Plain }
    }

    /// The layout of what precedes the first entry of a zip archive.
    pub(crate) fn of_prefix(prefix: &[u8]) -> Layout {
        if prefix == JMOD_MAGIC { Layout::Jmod } else { Layout::Plain }
    }

    fn root(self) -> &'static str {
        match self {
            Layout::Plain => "",
            Layout::Modules => BASE,
            Layout::Jmod => "classes/",
        }
    }

    /// The name of the entry for a jar's entry at `path`. Of several modules it is the one of
    /// `java.base`.
    pub fn name(self, path: &str) -> String {
        format!("{}{path}", self.root())
    }

    /// Names that an output's index may have.
    pub(crate) fn index_names() -> [String; 3] {
        [Layout::Plain, Layout::Modules, Layout::Jmod].map(|layout| layout.name(INDEX_NAME))
    }

    /// The part of an entry's name that the class path uses, and its module if the container has
    /// several: `java.base/java/lang/Object.class` is `java/lang/Object.class` of `java.base`.
    /// `None` if it is in no module.
    pub fn path(self, name: &str) -> Option<(Option<&str>, &str)> {
        match self {
            Layout::Plain => Some((None, name)),
            Layout::Modules => name.split_once('/').map(|(module, path)| (Some(module), path)),
            Layout::Jmod => name.strip_prefix(self.root()).map(|path| (None, path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_paths_and_back() {
        for layout in [Layout::Plain, Layout::Modules, Layout::Jmod] {
            let name = layout.name("a/B.class");
            assert_eq!(layout.path(&name).map(|(_, path)| path), Some("a/B.class"));
        }
        assert_eq!(Layout::Modules.path("m/a/B.class"), Some((Some("m"), "a/B.class")));
        assert_eq!(Layout::Modules.path("release"), None);
        assert_eq!(Layout::Jmod.path("lib/libjava.so"), None);
    }
}
