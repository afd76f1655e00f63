//! Entries, and how messages and callers name them.

use std::fmt;
use std::path::Path;

use crate::layout::Layout;

/// What an entry is, judged by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// A name ending in `.class`, including `META-INF/versions/N/` ones. Whether it holds a class is not known.
    Class,
    /// A name ending in `.jar`, `.war` or `.ear` (in any case).
    NestedArchive,
    /// A signature file or block directly in `META-INF/` (JAR File Specification, "Signed JAR File").
    Signature,
    /// `META-INF/MANIFEST.MF` (in any case, as `java.util.jar.JarFile` finds it).
    Manifest,
    /// A directory.
    Directory,
    /// Everything else.
    Resource,
}

impl EntryKind {
    /// The kind of an entry of this name; directories end in `/`.
    pub fn of(name: &str) -> EntryKind {
        if name.ends_with('/') {
            EntryKind::Directory
        } else if name.ends_with(".class") {
            EntryKind::Class
        } else if [".jar", ".war", ".ear"].iter().any(|suffix| ends_with_ignore_case(name, suffix)) {
            EntryKind::NestedArchive
        } else if name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") {
            EntryKind::Manifest
        } else if is_signature(name) {
            EntryKind::Signature
        } else {
            EntryKind::Resource
        }
    }
}

fn ends_with_ignore_case(name: &str, suffix: &str) -> bool {
    let (name, suffix) = (name.as_bytes(), suffix.as_bytes());
    name.len() >= suffix.len() && name[name.len() - suffix.len()..].eq_ignore_ascii_case(suffix)
}

/// `META-INF/*.SF`, `*.RSA`, `*.DSA`, `*.EC` and `META-INF/SIG-*` with an extension of at most three characters.
fn is_signature(name: &str) -> bool {
    const FOLDER: &str = "META-INF/";
    let Some((folder, file)) = name.split_at_checked(FOLDER.len()) else { return false };
    if !folder.eq_ignore_ascii_case(FOLDER) || file.contains('/') {
        return false;
    }
    if [".SF", ".RSA", ".DSA", ".EC"].iter().any(|suffix| ends_with_ignore_case(file, suffix)) {
        return true;
    }
    let named_sig = file.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("SIG-"));
    named_sig && file.rsplit_once('.').is_none_or(|(_, extension)| extension.len() <= 3)
}

/// How an entry's bytes are kept in a jar. Folders do not compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// As they are (zip method 0).
    Stored,
    /// Deflated (zip method 8).
    Deflated,
}

/// One entry of an archive or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, with `/` between its parts. Bytes that are not UTF-8 are shown as U+FFFD; the output keeps them.
    pub name: Box<str>,
    /// What the name says it is.
    pub kind: EntryKind,
    /// Size of its contents in bytes, as the archive declares it; checked when it is read.
    pub size: u64,
}

/// Where an archive is: an input, or an archive inside it.
#[derive(Debug, Clone, Copy)]
pub struct ArchivePath<'a> {
    place: Place<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Place<'a> {
    Input { path: &'a Path, is_folder: bool, layout: Layout },
    Nested(&'a Location<'a>),
}

impl<'a> ArchivePath<'a> {
    pub(crate) fn input(path: &'a Path, is_folder: bool, layout: Layout) -> ArchivePath<'a> {
        ArchivePath { place: Place::Input { path, is_folder, layout } }
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

    /// Where it has its classes.
    pub fn layout(&self) -> Layout {
        match self.place {
            Place::Input { layout, .. } => layout,
            Place::Nested(_) => Layout::Plain,
        }
    }

    /// How messages name an entry of this archive, existing or not.
    pub(crate) fn entry(&self, name: &str) -> String {
        format!("{self}{}{name}", self.separator())
    }

    fn separator(&self) -> &'static str {
        match self.place {
            Place::Input { is_folder: true, .. } => "/",
            _ => "!/",
        }
    }

    /// The path of the input that this archive is or lies in.
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

/// Where an entry is. Displays as `outer.jar!/lib/inner.jar!/a/B.class`, or `folder/a/B.class`.
#[derive(Debug, Clone, Copy)]
pub struct Location<'a> {
    /// The archive or folder it lies in.
    pub archive: &'a ArchivePath<'a>,
    /// Its position among that archive's entries.
    pub index: usize,
    /// The entry itself.
    pub entry: &'a Entry,
}

impl Location<'_> {
    /// An owned key of this entry, the same in every pass over the same input.
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
        write!(f, "{}{}{}", self.archive, self.archive.separator(), self.entry.name)
    }
}

/// Names an entry within its input by its positions, outermost archive first. Ordered as the input is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryId(Vec<usize>);

impl EntryId {
    /// The position in the input, then in the nested archive at that position, and so on.
    pub fn indices(&self) -> &[usize] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_by_name() {
        for (name, kind) in [
            ("a/B.class", EntryKind::Class),
            ("META-INF/versions/9/a/B.class", EntryKind::Class),
            ("module-info.class", EntryKind::Class),
            ("a/B.CLASS", EntryKind::Resource),
            ("a.class/", EntryKind::Directory),
            ("lib/x.jar", EntryKind::NestedArchive),
            ("x.WAR", EntryKind::NestedArchive),
            ("META-INF/MANIFEST.MF", EntryKind::Manifest),
            ("meta-inf/Manifest.mf", EntryKind::Manifest),
            ("META-INF/KEY.SF", EntryKind::Signature),
            ("META-INF/key.rsa", EntryKind::Signature),
            ("META-INF/KEY.DSA", EntryKind::Signature),
            ("META-INF/KEY.EC", EntryKind::Signature),
            ("META-INF/SIG-KEY", EntryKind::Signature),
            ("META-INF/sig-key.abc", EntryKind::Signature),
            ("META-INF/SIG-KEY.html", EntryKind::Resource),
            ("META-INF/sub/KEY.SF", EntryKind::Resource),
            ("META-INF/INDEX.LIST", EntryKind::Resource),
            ("KEY.SF", EntryKind::Resource),
            ("META-ÄÄÄÄ", EntryKind::Resource),
            ("", EntryKind::Resource),
        ] {
            assert_eq!(EntryKind::of(name), kind, "{name}");
        }
    }

    #[test]
    fn locations_display_as_urls_do_and_order_as_the_input() {
        let entry = |name: &str| Entry { name: name.into(), kind: EntryKind::of(name), size: 0 };
        let (jar, class) = (entry("lib/in.jar"), entry("a/B.class"));
        let root = ArchivePath::input(Path::new("out.jar"), false, Layout::Plain);
        let outer = Location { archive: &root, index: 2, entry: &jar };
        let nested = ArchivePath::nested(&outer);
        let inner = Location { archive: &nested, index: 7, entry: &class };
        assert_eq!(inner.to_string(), "out.jar!/lib/in.jar!/a/B.class");
        assert_eq!(inner.id().indices(), [2, 7]);
        assert_eq!(nested.depth(), 1);
        assert!(outer.id() < inner.id());
        assert!(inner.id() < Location { index: 3, ..outer }.id());

        let folder = ArchivePath::input(Path::new("classes"), true, Layout::Plain);
        assert_eq!(Location { archive: &folder, index: 0, entry: &class }.to_string(), "classes/a/B.class");
    }
}
