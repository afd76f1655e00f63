//! The crates whose code is in the command and its libraries: by `cargo tree`, which knows
//! features, with `cargo metadata` for what each says of itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde::Deserialize;

use super::packages::VERSION;
use crate::process;
use crate::workspace::{cargo_alone, root};

/// A crate of others.
#[derive(Debug, Clone)]
pub struct Crate {
    /// Its name and version.
    pub id: Id,
    /// Its licences, as SPDX states them.
    pub license: String,
    /// What it is.
    pub description: String,
    /// Where it is developed.
    pub repository: Option<String>,
    /// The SHA-256 of its package, which cargo has compared.
    pub checksum: String,
    /// The folder of its sources.
    pub folder: PathBuf,
}

/// Name and version, which identify a crate: all come from one registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    pub name: String,
    pub version: String,
}

impl Id {
    /// The package's address in SBOMs (package-url.org).
    pub fn purl(&self) -> String {
        // Versions may have a `+`, which stands for itself in this place only if it is written so.
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }
}

/// All crates in the command and its libraries.
#[derive(Debug)]
pub struct Linked {
    /// Those of others, sorted.
    pub crates: Vec<Crate>,
    /// Which crates a crate depends on; those of the workspace included.
    pub dependencies: BTreeMap<Id, BTreeSet<Id>>,
    /// The command.
    pub root: Id,
}

impl Linked {
    /// Asks cargo.
    ///
    /// # Errors
    /// If cargo fails, or a crate states no licence.
    pub fn list() -> Result<Linked> {
        let mut tree = cargo_alone();
        tree.args(["tree", "--locked", "--package", "cctrewrite", "--no-default-features"]);
        tree.args(["--target", "x86_64-unknown-linux-gnu", "--edges", "normal,no-proc-macro"]);
        tree.args(["--prefix", "depth", "--format", " {p}"]);
        let dependencies = edges(&process::output(&mut tree)?)?;
        let root = Id { name: "cctrewrite".to_owned(), version: VERSION.to_owned() };
        ensure!(dependencies.contains_key(&root), "cargo tree does not name cctrewrite {}", root.version);

        let mut metadata = cargo_alone();
        metadata.args(["metadata", "--locked", "--format-version", "1"]);
        metadata.args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
        let metadata: Metadata =
            serde_json::from_str(&process::output(&mut metadata)?).context("cargo metadata")?;
        let checksums = checksums()?;
        let mut crates = Vec::new();
        for package in metadata.packages {
            let id = Id { name: package.name, version: package.version };
            if package.source.is_none() || !dependencies.contains_key(&id) {
                continue;
            }
            let license =
                package.license.with_context(|| format!("{} {} states no licence", id.name, id.version))?;
            let checksum =
                checksums.get(&id).with_context(|| format!("Cargo.lock has no checksum of {}", id.name))?;
            let folder = package.manifest_path.parent().context("a manifest in no folder")?.to_owned();
            crates.push(Crate {
                license: license.replace('/', " OR "),
                description: package.description.unwrap_or_default().trim().to_owned(),
                repository: package.repository,
                checksum: checksum.clone(),
                folder,
                id,
            });
        }
        crates.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(Linked { crates, dependencies, root })
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
    description: Option<String>,
    repository: Option<String>,
    /// None of packages of the workspace.
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Lock {
    package: Vec<LockedPackage>,
}

#[derive(Deserialize)]
struct LockedPackage {
    name: String,
    version: String,
    checksum: Option<String>,
}

/// The checksums in `Cargo.lock`.
fn checksums() -> Result<BTreeMap<Id, String>> {
    let path = root().join("Cargo.lock");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let lock: Lock = toml::from_str(&text).context("Cargo.lock")?;
    let with_checksum = lock
        .package
        .into_iter()
        .filter_map(|package| Some((Id { name: package.name, version: package.version }, package.checksum?)));
    Ok(with_checksum.collect())
}

/// Who depends on whom, by lines such as `2 anyhow v1.0.1`: a line's crate is a dependency of the
/// last line above with the depth before.
fn edges(tree: &str) -> Result<BTreeMap<Id, BTreeSet<Id>>> {
    let mut edges: BTreeMap<Id, BTreeSet<Id>> = BTreeMap::new();
    let mut above: Vec<Id> = Vec::new();
    for line in tree.lines().filter(|line| !line.trim().is_empty()) {
        let parsed = || {
            let (depth, rest) = line.split_once(' ')?;
            let mut words = rest.split_whitespace();
            let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
            Some((depth.parse::<usize>().ok()?, Id { name: name.to_owned(), version: version.to_owned() }))
        };
        let (depth, id) =
            parsed().ok_or_else(|| anyhow!("cargo tree: {line}: a depth and a package expected"))?;
        ensure!(depth <= above.len(), "cargo tree: {line}: no package has the depth before");
        above.truncate(depth);
        edges.entry(id.clone()).or_default();
        if let Some(dependent) = above.last() {
            edges.entry(dependent.clone()).or_default().insert(id.clone());
        }
        above.push(id);
    }
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str, version: &str) -> Id {
        Id { name: name.to_owned(), version: version.to_owned() }
    }

    #[test]
    fn a_tree_of_lines_gives_dependencies() {
        let tree = "0 tool v0.1.0 (/src/tool)\n1 a v1.0.0\n2 b v2.0.0\n1 b v2.0.0\n1 c v0.3.0+1 (*)\n";
        let edges = edges(tree).unwrap();
        let of = |name, version| edges[&id(name, version)].iter().map(|id| &*id.name).collect::<Vec<_>>();
        assert_eq!(of("tool", "0.1.0"), ["a", "b", "c"]);
        assert_eq!(of("a", "1.0.0"), ["b"]);
        assert!(of("b", "2.0.0").is_empty());
        assert_eq!(id("c", "0.3.0+1").purl(), "pkg:cargo/c@0.3.0%2B1");
        assert!(super::edges("no tree").is_err());
        assert!(super::edges("1 a v1.0.0").is_err());
    }

    #[test]
    fn the_command_has_crates_of_others_and_no_macros() {
        let linked = Linked::list().unwrap();
        let names: BTreeSet<&str> = linked.crates.iter().map(|krate| &*krate.id.name).collect();
        assert!(names.contains("anyhow") && names.contains("jni-sys"), "{names:?}");
        // Neither what runs at build time, nor what only tests or the developer's tasks use, nor
        // our own.
        for name in ["serde_derive", "cc", "zstd", "tar", "cct-build", "jsonschema"] {
            assert!(!names.contains(name), "{name}");
        }
        assert!(linked.crates.iter().all(|krate| krate.checksum.len() == 64));
    }
}
