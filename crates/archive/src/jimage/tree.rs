//! The image's listings of itself. Each folder has a resource, `/modules/java.base/java/lang`, with
//! the locations of its contents; each package has one, `/packages/java.lang`, with its modules.
//!
//! `jdk.internal.jimage.ImageReader` lists folders by them. HotSpot's boot loader, while it knows
//! no modules yet, and jrt file systems find the module of a package there. They are recreated
//! for every written image, since they contain offsets of locations and strings.

use std::collections::BTreeMap;

use super::format::Version;
use super::packages::{Link, Packages};

/// The contents of a listing, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// A folder: for each item, the index of its resource or of its folder's listing.
    Folder(Vec<Item>),
    /// A package: the modules that have it, and the flags of its location.
    Package(Vec<Link>, u32),
}

impl Listing {
    /// Size of its contents, in bytes.
    pub(super) fn size(&self) -> u64 {
        match self {
            Listing::Folder(items) => 4 * items.len() as u64,
            Listing::Package(modules, _) => 8 * modules.len() as u64,
        }
    }
}

/// An item of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// The resource at this index of the paths given.
    Resource(usize),
    /// The listing at this index of the result.
    Listing(usize),
}

#[derive(Debug, Default)]
struct Node<'p> {
    /// Sorted by bytes, which is also the order of Java's strings, since names are in modified
    /// UTF-8.
    children: BTreeMap<&'p [u8], Node<'p>>,
    /// The resource at this path.
    resource: Option<usize>,
}

/// Lists resources of these paths (`java.base/java/lang/Object.class`): pairs of the listing's name
/// and the listing, in the order in which their contents are written. Listings in a folder precede
/// the folder's.
pub(super) fn listings<P: AsRef<[u8]>>(paths: &[P], version: Version) -> Vec<(Vec<u8>, Listing)> {
    let mut modules = Node::default();
    let mut packages = Packages::default();
    let mut sorted: Vec<usize> = (0..paths.len()).collect();
    sorted.sort_by_key(|&index| paths[index].as_ref());
    if version == Version::Previews {
        sorted.reverse();
    }
    for index in sorted {
        insert(&mut modules, paths[index].as_ref(), index, version, &mut packages);
    }
    let mut all = Vec::new();
    list_folder(&modules, b"/modules".to_vec(), &mut all);
    let mut items = Vec::new();
    for (package, links, flags) in packages.links(version) {
        items.push(Item::Listing(all.len()));
        all.push(([b"/packages/", &*package].concat(), Listing::Package(links, flags)));
    }
    all.push((b"/packages".to_vec(), Listing::Folder(items)));
    all
}

fn insert<'p>(
    modules: &mut Node<'p>,
    path: &'p [u8],
    index: usize,
    version: Version,
    packages: &mut Packages<'p>,
) {
    let mut folders: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    let (Some(file), Some(&module)) = (folders.pop(), folders.first()) else { return };
    let (root, is_preview) = package_root(&folders, version);
    if version == Version::Previews && folders.iter().skip(root).any(|folder| folder.contains(&b'.')) {
        // No package can have this name. It is found by its name, but not listed, as in jlink.
        return;
    }
    let mut node = modules;
    for depth in 0..folders.len() {
        node = node.children.entry(folders[depth]).or_default();
        if node.resource.is_some() {
            // A resource instead of a folder: paths below it are found by name, but not listed, as
            // in jlink.
            return;
        }
        if depth >= root {
            packages.add(&folders[root..=depth], module, is_preview, false);
        }
    }
    if !node.children.contains_key(file) {
        node.children.entry(file).or_default().resource = Some(index);
        packages.add(folders.get(root..).unwrap_or_default(), module, is_preview, true);
    }
}

/// The index of the folder with which the package's name starts, and whether it is a package for
/// previews.
fn package_root(folders: &[&[u8]], version: Version) -> (usize, bool) {
    match folders {
        [_, b"META-INF", b"preview", ..] if version == Version::Previews => (3, true),
        [_, b"META-INF", ..] if version == Version::Previews => (folders.len(), false),
        _ => (1, false),
    }
}

fn list_folder(node: &Node<'_>, name: Vec<u8>, all: &mut Vec<(Vec<u8>, Listing)>) -> Item {
    let mut items = Vec::with_capacity(node.children.len());
    for (child, below) in &node.children {
        items.push(match below.resource {
            Some(resource) => Item::Resource(resource),
            None => list_folder(below, [&*name, b"/", child].concat(), all),
        });
    }
    all.push((name, Listing::Folder(items)));
    Item::Listing(all.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_after_what_is_in_them_and_packages_know_their_modules() {
        let paths = ["b/p/q/Y.class", "a/module-info.class", "a/p/X.class", "a/META-INF/services/s"];
        let listings = listings(&paths, Version::Plain);
        let names: Vec<&str> = listings.iter().map(|(name, _)| str::from_utf8(name).unwrap()).collect();
        assert_eq!(
            names,
            [
                "/modules/a/META-INF/services",
                "/modules/a/META-INF",
                "/modules/a/p",
                "/modules/a",
                "/modules/b/p/q",
                "/modules/b/p",
                "/modules/b",
                "/modules",
                "/packages/p",
                "/packages/p.q",
                "/packages"
            ]
        );
        use Item::{Listing as Below, Resource};
        assert_eq!(listings[3].1, Listing::Folder(vec![Below(1), Resource(1), Below(2)]));
        let package = |of: &[(&str, bool)]| {
            let link = |&(module, is_empty): &(&str, bool)| link(module, u32::from(is_empty));
            Listing::Package(of.iter().map(link).collect(), 0)
        };
        assert_eq!(listings[8].1, package(&[("a", false), ("b", true)]));
        assert_eq!(listings[9].1, package(&[("b", false)]));
        assert_eq!(listings[10].1, Listing::Folder(vec![Below(8), Below(9)]));
    }

    fn link(module: &str, flags: u32) -> Link {
        Link { module: module.as_bytes().to_vec(), flags }
    }

    #[test]
    fn packages_know_their_versions_for_previews() {
        let paths = [
            "a/p/X.class",
            "b/META-INF/preview/p/q/New.class",
            "b/META-INF/preview/r/R.class",
            "b/META-INF/services/s",
            "c/p/q/r/Y.class",
            "c/META-INFO/Y.class",
            "c/x.y/Y.class",
        ];
        let all = listings(&paths, Version::Previews);
        let package = |wanted: &str| {
            let name = format!("/packages/{wanted}");
            all.iter().find(|(n, _)| *n == name.as_bytes()).map(|(_, listing)| listing)
        };
        assert_eq!(package("p"), Some(&Listing::Package(vec![link("b", 1), link("a", 6), link("c", 2)], 1)));
        assert_eq!(package("p.q"), Some(&Listing::Package(vec![link("b", 5), link("c", 2)], 1)));
        assert_eq!(package("p.q.r"), Some(&Listing::Package(vec![link("c", 6)], 0)));
        assert_eq!(package("r"), Some(&Listing::Package(vec![link("b", 5)], 5)));
        assert_eq!(package("META-INFO"), Some(&Listing::Package(vec![link("c", 6)], 0)));
        let unlisted = ["META-INF", "META-INF.preview", "META-INF.services", "x.y", "x"];
        assert_eq!(unlisted.map(package), [const { None }; 5]);
        assert!(all.iter().any(|(name, _)| name == b"/modules/b/META-INF/preview/p/q"));
        assert!(!all.iter().any(|(name, _)| name == b"/modules/c/x.y"));
    }

    #[test]
    fn a_folder_stays_the_folder_where_there_are_previews() {
        let listings = listings(&["a/p", "a/p/X.class"], Version::Previews);
        assert_eq!(listings[0], (b"/modules/a/p".to_vec(), Listing::Folder(vec![Item::Resource(1)])));
    }

    #[test]
    fn a_resource_in_a_folder_s_place_stays_the_resource() {
        let listings = listings(&["a/p", "a/p/X.class"], Version::Plain);
        assert_eq!(listings[0], (b"/modules/a".to_vec(), Listing::Folder(vec![Item::Resource(0)])));
    }
}
