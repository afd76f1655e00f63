//! The image's list of itself: a resource for each folder, `/modules/java.base/java/lang`, with the locations of what is in it,
//! and one for each package, `/packages/java.lang`, with the modules that have it.
//!
//! `jdk.internal.jimage.ImageReader` lists folders by them, and HotSpot's boot loader, while it knows no modules yet, and jrt
//! file systems find the module of a package there. They are made anew for every image that is written, since they speak of
//! offsets of locations and strings.

use std::collections::{BTreeMap, BTreeSet};

/// What a listing holds, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Listing {
    /// A folder: of each item, the index of its resource or of its folder's listing.
    Folder(Vec<Item>),
    /// A package: the modules that have it, and whether it is an empty folder there, made only for packages below it.
    Package(Vec<(Vec<u8>, bool)>),
}

impl Listing {
    /// Bytes of its contents.
    pub(super) fn size(&self) -> u64 {
        match self {
            Listing::Folder(items) => 4 * items.len() as u64,
            Listing::Package(modules) => 8 * modules.len() as u64,
        }
    }
}

/// What is in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// The resource at this index of the paths given.
    Resource(usize),
    /// The listing at this index of the result.
    Listing(usize),
}

#[derive(Debug, Default)]
struct Node<'p> {
    /// Sorted by bytes, which is the order of Java's strings, too, as names are in modified UTF-8.
    children: BTreeMap<&'p [u8], Node<'p>>,
    /// The resource that it is.
    resource: Option<usize>,
}

/// Lists resources of these paths (`java.base/java/lang/Object.class`): pairs of the listing's name and the listing, in the
/// order in which their contents are written, that is what is in a folder before the folder.
pub(super) fn listings<P: AsRef<[u8]>>(paths: &[P]) -> Vec<(Vec<u8>, Listing)> {
    let mut modules = Node::default();
    let mut packages = Packages::default();
    let mut sorted: Vec<usize> = (0..paths.len()).collect();
    sorted.sort_by_key(|&index| paths[index].as_ref());
    for index in sorted {
        insert(&mut modules, paths[index].as_ref(), index, &mut packages);
    }
    let mut all = Vec::new();
    list_folder(&modules, b"/modules".to_vec(), &mut all);
    let mut items = Vec::new();
    for (package, of) in packages.0 {
        let modules = of.modules.into_iter().map(|module| (module.to_vec(), of.filled != Some(module)));
        items.push(Item::Listing(all.len()));
        all.push(([b"/packages/", &*package].concat(), Listing::Package(modules.collect())));
    }
    all.push((b"/packages".to_vec(), Listing::Folder(items)));
    all
}

/// Packages by their names, with dots.
#[derive(Debug, Default)]
struct Packages<'p>(BTreeMap<Vec<u8>, PackageModules<'p>>);

#[derive(Debug, Default)]
struct PackageModules<'p> {
    modules: BTreeSet<&'p [u8]>,
    /// The module that has something in it. If several have (which no layer of modules allows for classes), the last one.
    filled: Option<&'p [u8]>,
}

fn insert<'p>(modules: &mut Node<'p>, path: &'p [u8], index: usize, packages: &mut Packages<'p>) {
    let mut parts: Vec<&[u8]> = path.split(|&byte| byte == b'/').collect();
    let (Some(file), Some(&module)) = (parts.pop(), parts.first()) else { return };
    let mut node = modules;
    for depth in 0..parts.len() {
        node = node.children.entry(parts[depth]).or_default();
        if node.resource.is_some() {
            // A resource where a folder should be: what is below is found by its name, but not listed. So does jlink.
            return;
        }
        if let Some(package) = package_name(&parts[1..=depth]) {
            packages.0.entry(package).or_default().modules.insert(module);
        }
    }
    if node.resource.is_none() {
        node.children.entry(file).or_default().resource = Some(index);
        if let Some(package) = package_name(&parts[1..]) {
            packages.0.entry(package).or_default().filled = Some(module);
        }
    }
}

/// The package of a folder below a module; the module's own folder has none, nor has `META-INF`.
fn package_name(folders: &[&[u8]]) -> Option<Vec<u8>> {
    let first = folders.first()?;
    (!first.starts_with(b"META-INF")).then(|| folders.join(&b'.'))
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
        let listings = listings(&paths);
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
            Listing::Package(of.iter().map(|(m, e)| (m.as_bytes().to_vec(), *e)).collect())
        };
        assert_eq!(listings[8].1, package(&[("a", false), ("b", true)]));
        assert_eq!(listings[9].1, package(&[("b", false)]));
        assert_eq!(listings[10].1, Listing::Folder(vec![Below(8), Below(9)]));
    }

    #[test]
    fn a_resource_in_a_folder_s_place_stays_the_resource() {
        let listings = listings(&["a/p", "a/p/X.class"]);
        assert_eq!(listings[0], (b"/modules/a".to_vec(), Listing::Folder(vec![Item::Resource(0)])));
    }
}
