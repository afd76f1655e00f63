//! Versions of resources for `--enable-preview`: `/java.base/META-INF/preview/p/X.class` then
//! replaces `/java.base/p/X.class`. The locations of both have flags that say so, and so do those
//! of their folders.

use std::collections::HashSet;

use super::format::Location;

/// Flag: the resource has another version, for previews.
pub(super) const HAS: u32 = 1;
/// Flag: the resource is a version for previews.
const IS: u32 = 2;
/// Flag: the resource exists only with previews.
pub(super) const ONLY: u32 = 4;

/// The folder of a module's versions for previews.
const FOLDER: &[u8] = b"/META-INF/preview";
const META_INF: &[u8] = b"/META-INF/";

/// Sets the flags of the locations with these full names, except for packages: the writer sets
/// theirs.
pub(super) fn mark(names: &[Vec<u8>], locations: &mut [Location]) {
    let all: HashSet<&[u8]> = names.iter().map(Vec::as_slice).collect();
    for (name, location) in names.iter().zip(locations) {
        if !name.starts_with(b"/packages/") {
            location.previews = flags(name, |name| all.contains(name));
        }
    }
}

fn flags(name: &[u8], exists: impl Fn(&[u8]) -> bool) -> u32 {
    // A resource's name starts with its module, a folder's with "/modules" and its module.
    let start = if name.starts_with(b"/modules/") { b"/modules/".len() } else { 1 };
    let end = name.iter().skip(start).position(|&byte| byte == b'/');
    let Some(end) = end.map(|end| start + end) else { return 0 };
    let (module, path) = name.split_at(end);
    match path.strip_prefix(FOLDER) {
        Some(plain) if plain.starts_with(b"/") => {
            IS | if exists(&[module, plain].concat()) { 0 } else { ONLY }
        }
        _ if path.starts_with(META_INF) => 0,
        _ => u32::from(exists(&[module, FOLDER, path].concat())) * HAS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_and_their_folders_are_marked() {
        let cases = [
            ("/a/META-INF/preview/p/X.class", IS),
            ("/a/META-INF/preview/p/New.class", IS | ONLY),
            ("/a/META-INF/services/s", 0),
            ("/a/META-INF/previews", 0),
            ("/a/p/X.class", HAS),
            ("/a/p/Y.class", 0),
            ("/b/p/X.class", 0),
            ("/modules", 0),
            ("/modules/a", 0),
            ("/modules/a/META-INF", 0),
            ("/modules/a/META-INF/preview", 0),
            ("/modules/a/META-INF/preview/p", IS),
            ("/modules/a/p", HAS),
            ("/modules/b/p", 0),
            ("/packages", 0),
            ("/packages/p", 0),
        ];
        let names: Vec<Vec<u8>> = cases.iter().map(|(name, _)| name.as_bytes().to_vec()).collect();
        let mut locations = vec![Location::default(); names.len()];
        mark(&names, &mut locations);
        for ((name, expected), location) in cases.iter().zip(locations) {
            assert_eq!(location.previews, *expected, "{name}");
        }
    }
}
