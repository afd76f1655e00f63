//! Locations of entries, for messages and callers.

use std::fmt;

use std::path::Path;

use crate::entry::Entry;
use crate::kind::InputKind;
use crate::layout::Layout;

/// The path of an archive: an input, or an archive inside it.
#[derive(Debug, Clone, Copy)]
pub struct ArchivePath<'a> {
    place: Place<'a>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    Input { path: &'a Path, kind: InputKind, layout: Layout },
    Nested(&'a Location<'a>),
}

impl<'a> ArchivePath<'a> {
    pub(crate) fn input(path: &'a Path, kind: InputKind, layout: Layout) -> ArchivePath<'a> {
        ArchivePath { place: Place::Input { path, kind, layout } }
    }

    pub(crate) fn nested(at: &'a Location<'a>) -> ArchivePath<'a> {
        ArchivePath { place: Place::Nested(at) }
    }

    /// Levels below the input: 0 for the input itself, 1 for a jar inside it.
    pub fn depth(&self) -> usize {
        match self.place {
            Place::Input { .. } => 0,
            Place::Nested(at) => at.archive.depth() + 1,
        }
    }

    /// The archive's layout.
    pub fn layout(&self) -> Layout {
        match self.place {
            Place::Input { layout, .. } => layout,
            Place::Nested(_) => Layout::Plain,
        }
    }

    /// The location of an entry of this archive, for messages. The entry need not exist.
    pub(crate) fn entry(&self, name: &str) -> String {
        match self.separator() {
            Some(separator) => format!("{self}{separator}{name}"),
            None => self.to_string(),
        }
    }

    /// The separator between the path and an entry's name; `None` for a class file, which is its
    /// own entry.
    fn separator(&self) -> Option<&'static str> {
        match self.place {
            Place::Input { kind: InputKind::Folder, .. } => Some("/"),
            Place::Input { kind: InputKind::Class, .. } => None,
            _ => Some("!/"),
        }
    }

    /// The path of the input that is or contains this archive.
    pub fn input_path(&self) -> &'a Path {
        match self.place {
            Place::Input { path, .. } => path,
            Place::Nested(at) => at.archive.input_path(),
        }
    }
}

impl fmt::Display for ArchivePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Input { path, .. } => path.display().fmt(f),
            Place::Nested(at) => at.fmt(f),
        }
    }
}

/// The location of an entry. Displayed as `outer.jar!/lib/inner.jar!/a/B.class`,
/// `folder/a/B.class`, or `B.class` for a single class file.
#[derive(Debug, Clone, Copy)]
pub struct Location<'a> {
    /// The archive or folder that contains it.
    pub archive: &'a ArchivePath<'a>,
    /// The entry's position among that archive's entries.
    pub index: usize,
    /// The entry itself.
    pub entry: &'a Entry,
}

impl Location<'_> {
    /// An owned key of the entry. It is equal in every pass over the same input.
    pub fn id(&self) -> EntryId {
        let mut indices = match self.archive.place {
            Place::Input { .. } => Vec::new(),
            Place::Nested(at) => at.id().0,
        };
        indices.push(self.index);
        EntryId(indices)
    }
}

impl fmt::Display for Location<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.archive.separator() {
            Some(separator) => write!(f, "{}{separator}{}", self.archive, self.entry.name),
            None => self.archive.fmt(f),
        }
    }
}

/// Key of an entry within its input: its positions, outermost archive first. Keys have the order of
/// the entries in the input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(Vec<usize>);

impl EntryId {
    /// The entry's position in the input, then in the nested archive at that position, and so on.
    pub fn indices(&self) -> &[usize] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::EntryKind;

    #[test]
    fn locations_display_as_urls_do_and_order_as_the_input() {
        let entry = |name: &str| Entry { name: name.into(), kind: EntryKind::of(name), size: 0 };
        let (jar, class) = (entry("lib/in.jar"), entry("a/B.class"));
        let root = ArchivePath::input(Path::new("out.jar"), InputKind::Jar, Layout::Plain);
        let outer = Location { archive: &root, index: 2, entry: &jar };
        let nested = ArchivePath::nested(&outer);
        let inner = Location { archive: &nested, index: 7, entry: &class };
        assert_eq!(inner.to_string(), "out.jar!/lib/in.jar!/a/B.class");
        assert_eq!(inner.id().indices(), [2, 7]);
        assert_eq!(nested.depth(), 1);
        assert!(outer.id() < inner.id());
        assert!(inner.id() < Location { index: 3, ..outer }.id());

        let folder = ArchivePath::input(Path::new("classes"), InputKind::Folder, Layout::Plain);
        assert_eq!(Location { archive: &folder, index: 0, entry: &class }.to_string(), "classes/a/B.class");

        let lone = ArchivePath::input(Path::new("x/B.class"), InputKind::Class, Layout::Plain);
        assert_eq!(Location { archive: &lone, index: 0, entry: &class }.to_string(), "x/B.class");
    }
}
