//! The expected structure: the layers of crates, crates that must not know each other, and
//! permitted circles, each with its reason.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use crate::circles::Circle;
use crate::error::{Error, Result, read};
use crate::packages::Package;

/// The file of expectations, next to the workspace's manifest.
pub const EXPECTATIONS: &str = "structure.toml";

/// The expectations of a workspace.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectations {
    /// Packages from the bottom to the top: each depends on packages of lower layers only.
    #[serde(default)]
    layers: Vec<Vec<String>>,
    /// Packages that must not depend on others, not even indirectly.
    #[serde(default)]
    apart: Vec<SeparatePackage>,
    /// Permitted circles.
    #[serde(default)]
    circle: Vec<AllowedCircle>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeparatePackage {
    package: String,
    from: Vec<String>,
    reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AllowedCircle {
    files: BTreeSet<String>,
    reason: String,
}

impl Expectations {
    /// Reads the file of expectations.
    pub fn read(path: &Path) -> Result<Expectations> {
        toml::from_str(&read(path)?)
            .map_err(|error| Error::Toml { path: path.to_owned(), error: Box::new(error) })
    }

    /// Whether a circle is listed, with exactly its files, and with a reason.
    pub fn knows(&self, circle: &Circle) -> bool {
        self.circle.iter().any(|kept| kept.files == circle.files && !kept.reason.trim().is_empty())
    }

    /// Listed circles that no longer exist.
    pub fn gone(&self, found: &[Circle]) -> Vec<String> {
        let is_gone = |kept: &&AllowedCircle| !found.iter().any(|circle| circle.files == kept.files);
        let gone = self.circle.iter().filter(is_gone);
        gone.map(|kept| {
            let files: Vec<&str> = kept.files.iter().map(String::as_str).collect();
            format!(
                "{}: these files are not a circle (any more); correct or remove the entry: {}",
                EXPECTATIONS,
                files.join(", ")
            )
        })
        .collect()
    }

    /// The violations of the expectations: packages that are in no layer or in several, that depend
    /// on one of their own layer or above, or on one that they must not know.
    pub fn misplaced(&self, packages: &[Package]) -> Vec<String> {
        let mut findings = Vec::new();
        let mut layer_of: BTreeMap<&str, usize> = BTreeMap::new();
        for (layer, names) in self.layers.iter().enumerate() {
            for name in names {
                if layer_of.insert(name, layer).is_some() {
                    findings.push(format!("package {name} is in two layers; name it once"));
                }
                if !packages.iter().any(|package| package.name == *name) {
                    findings.push(format!("package {name} is in a layer, but not in the workspace"));
                }
            }
        }
        for package in packages {
            let Some(own) = layer_of.get(&*package.name) else {
                findings.push(format!(
                    "package {} is in no layer; add it to {} above all that it depends on",
                    package.name, EXPECTATIONS
                ));
                continue;
            };
            for dependency in &package.dependencies {
                if layer_of.get(&**dependency).is_some_and(|layer| layer >= own) {
                    findings.push(format!(
                        "package {} depends on {dependency}, which is not in a lower layer",
                        package.name
                    ));
                }
            }
        }
        for apart in &self.apart {
            let known = reached(packages, &apart.package);
            for other in apart.from.iter().filter(|other| known.contains(&***other)) {
                findings
                    .push(format!("package {} must not depend on {other}: {}", apart.package, apart.reason));
            }
        }
        findings
    }
}

/// All packages that a package depends on, directly or indirectly.
fn reached<'p>(packages: &'p [Package], from: &str) -> BTreeSet<&'p str> {
    let of = |name: &str| packages.iter().find(|package| package.name == name);
    let mut known = BTreeSet::new();
    let mut open: Vec<&Package> = of(from).into_iter().collect();
    while let Some(package) = open.pop() {
        for dependency in &package.dependencies {
            if known.insert(&**dependency) {
                open.extend(of(dependency));
            }
        }
    }
    known
}
