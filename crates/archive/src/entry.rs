//! Entries, and how messages and callers name them.

/// The kind of an entry, judged by its name alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EntryKind {
    /// A name ending in `.class`, including `META-INF/versions/N/` ones. The contents may be
    /// something else.
    Class,
    /// A name ending in `.jar`, `.war` or `.ear` (in any case).
    NestedArchive,
    /// A signature file or block directly in `META-INF/` (JAR File Specification, "Signed JAR
    /// File").
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

/// `META-INF/*.SF`, `*.RSA`, `*.DSA`, `*.EC` and `META-INF/SIG-*` with an extension of at most
/// three characters.
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

/// How a jar stores an entry's bytes. Folders do not compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Uncompressed (zip method 0).
    Stored,
    /// Deflated (zip method 8).
    Deflated,
}

/// One entry of an archive or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, with `/` between its parts. Bytes that are not UTF-8 are displayed as U+FFFD; the
    /// output keeps them.
    pub name: Box<str>,
    /// The kind by its name.
    pub kind: EntryKind,
    /// Size of its contents in bytes, as the archive declares it; checked when it is read.
    pub size: u64,
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
}
