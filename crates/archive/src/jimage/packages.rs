//! The modules of each package, which the image's listing `/packages/java.lang` contains.

use std::collections::BTreeMap;

use super::format::Version;
use super::previews;

/// The first folder of paths that look like a package of a module but are none.
const META_INF: &[u8] = b"META-INF";

/// Packages by their names, with dots.
#[derive(Debug, Default)]
pub(super) struct Packages<'p>(BTreeMap<Vec<u8>, Package<'p>>);

#[derive(Debug, Default)]
struct Package<'p> {
    modules: BTreeMap<&'p [u8], Presence>,
    /// The module with contents in the package. If several have some (which no layer of modules
    /// allows for classes), the last one.
    filled: Option<&'p [u8]>,
}

/// Presence with and without `--enable-preview`, perhaps only for the packages below it.
#[derive(Debug, Default, Clone, Copy)]
struct Presence {
    plain: bool,
    preview: bool,
}

/// A module that has a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The module's name.
    pub(super) module: Vec<u8>,
    /// The module's flags in the listing.
    pub(super) flags: u32,
}

/// Flags of links in images with previews; in others the only flag says that the package is empty.
mod flag {
    pub(super) const EMPTY: u32 = 1;
    pub(super) const PREVIEW: u32 = 1;
    pub(super) const PLAIN: u32 = 2;
    pub(super) const FILLED: u32 = 4;
}

impl<'p> Packages<'p> {
    /// Notes that a module has these nested folders, and contents in the last one if it is
    /// `filled`.
    pub(super) fn add(&mut self, folders: &[&'p [u8]], module: &'p [u8], is_preview: bool, filled: bool) {
        if folders.is_empty() {
            return;
        }
        let package = self.0.entry(folders.join(&b'.')).or_default();
        let presence = package.modules.entry(module).or_default();
        if is_preview {
            presence.preview = true
        } else {
            presence.plain = true
        }
        if filled {
            package.filled = Some(module);
        }
    }

    /// For each package, by name: its links in the order of the listing, and the flags of its
    /// location.
    pub(super) fn links(self, version: Version) -> impl Iterator<Item = (Vec<u8>, Vec<Link>, u32)> {
        let is_package = move |name: &[u8]| match (version, name.strip_prefix(META_INF)) {
            (Version::Plain, below) => below.is_none(),
            (Version::Previews, below) => below.is_none_or(|below| !matches!(below, [] | [b'.', ..])),
        };
        let packages = self.0.into_iter().filter(move |(name, _)| is_package(name));
        packages.map(move |(name, package)| match version {
            Version::Plain => (name, package.plain_links(), 0),
            Version::Previews => {
                let flags = package.flags();
                (name, package.links(), flags)
            }
        })
    }
}

impl Package<'_> {
    fn plain_links(&self) -> Vec<Link> {
        let flags = |module| if self.filled == Some(module) { 0 } else { flag::EMPTY };
        let modules = self.modules.keys();
        modules.map(|&module| Link { module: module.to_vec(), flags: flags(module) }).collect()
    }

    /// The package's links; those with the package for previews come first.
    fn links(&self) -> Vec<Link> {
        let flags = |module, presence: Presence| {
            let set = |flag, is_set| if is_set { flag } else { 0 };
            set(flag::PREVIEW, presence.preview)
                | set(flag::PLAIN, presence.plain)
                | set(flag::FILLED, self.filled == Some(module))
        };
        let (first, last): (Vec<_>, Vec<_>) = self.modules.iter().partition(|(_, presence)| presence.preview);
        let modules = first.into_iter().chain(last);
        modules.map(|(&module, &is)| Link { module: module.to_vec(), flags: flags(module, is) }).collect()
    }

    fn flags(&self) -> u32 {
        let mut presences = self.modules.values();
        if presences.clone().all(|presence| !presence.plain) {
            previews::HAS | previews::ONLY
        } else if presences.any(|presence| presence.preview) {
            previews::HAS
        } else {
            0
        }
    }
}
