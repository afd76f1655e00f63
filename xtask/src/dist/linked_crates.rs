//! The crates whose code is in the command and its libraries. `cargo tree`, which respects
//! features, lists them; `cargo metadata` has the description of each.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde::Deserialize;
use xtask_tools::process;
use xtask_tools::workspace::{cargo_alone, root};

use super::packages::VERSION;

/// A third-party crate.
#[derive(Debug, Clone)]
pub struct Crate {
    /// Name and version.
    pub id: Id,
    /// Its licences, as an SPDX expression.
    pub license: String,
    /// Its description; may be empty.
    pub description: String,
    /// The address of its repository.
    pub repository: Option<String>,
    /// The SHA-256 of its package, which cargo has verified.
    pub checksum: String,
    /// The folder of its sources.
    pub folder: PathBuf,
}

/// Name and version. They identify a crate, since all crates come from one registry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    pub name: String,
    pub version: String,
}

impl Id {
    /// The package's address in SBOMs (package-url.org).
    pub fn purl(&self) -> String {
        // A version may contain a `+`, which must be escaped here.
        format!("pkg:cargo/{}@{}", self.name, self.version.replace('+', "%2B"))
    }
}

/// All crates in the command and its libraries.
#[derive(Debug)]
pub struct LinkedCrates {
    /// The third-party crates, sorted.
    pub crates: Vec<Crate>,
    /// The dependencies of each crate, including the crates of the workspace.
    pub dependencies: BTreeMap<Id, BTreeSet<Id>>,
    /// The command.
    pub root: Id,
}

impl LinkedCrates {
    /// Lists the crates with cargo.
    ///
    /// # Errors
    /// Fails if cargo fails, or if a crate states no licence.
    pub fn list() -> Result<LinkedCrates> {
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
        Ok(LinkedCrates { crates, dependencies, root })
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
    /// `None` for packages of the workspace.
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

/// Parses the dependencies from lines such as `2 anyhow v1.0.1`: a depth and a crate. The crate is
/// a dependency of the crate in the last line above whose depth is smaller by one.
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
        let linked = LinkedCrates::list().unwrap();
        let names: BTreeSet<&str> = linked.crates.iter().map(|krate| &*krate.id.name).collect();
        assert!(names.contains("anyhow") && names.contains("jni-sys"), "{names:?}");
        // The list has no crates that run at build time, that only tests or developer tasks use, or
        // that belong to the workspace.
        for name in ["serde_derive", "cc", "zstd", "tar", "cct-build", "jsonschema"] {
            assert!(!names.contains(name), "{name}");
        }
        assert!(linked.crates.iter().all(|krate| krate.checksum.len() == 64));
    }
}
