//! The packages of the workspace: their manifests, the roots of their crates, and their
//! dependencies.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::{Error, Result, read};

/// A package of the workspace.
#[derive(Debug)]
pub struct Package {
    /// The package's name.
    pub name: String,
    /// The root files of its crates, relative to the workspace: `src/lib.rs`, `src/main.rs`, or
    /// both.
    pub roots: Vec<PathBuf>,
    /// The packages of the workspace that it depends on, without dependencies for tests; sorted.
    pub dependencies: Vec<String>,
}

#[derive(Deserialize)]
struct Manifest {
    workspace: Option<Workspace>,
    package: Option<PackageTable>,
    #[serde(default)]
    dependencies: BTreeMap<String, toml::Value>,
    #[serde(default, rename = "build-dependencies")]
    build: BTreeMap<String, toml::Value>,
}

#[derive(Deserialize)]
struct Workspace {
    members: Vec<String>,
}

#[derive(Deserialize)]
struct PackageTable {
    name: String,
}

/// The packages of the workspace in a folder, in the order of their folders.
pub fn of_workspace(root: &Path) -> Result<Vec<Package>> {
    let workspace = manifest(&root.join("Cargo.toml"))?.workspace;
    let mut folders = Vec::new();
    for member in workspace.map(|workspace| workspace.members).unwrap_or_default() {
        match member.strip_suffix("/*") {
            None => folders.push(PathBuf::from(member)),
            Some(parent) => {
                let path = root.join(parent);
                let entries = fs::read_dir(&path).map_err(|error| Error::Io { path: path.clone(), error })?;
                let names = entries.flatten().map(|entry| Path::new(parent).join(entry.file_name()));
                folders.extend(names.filter(|folder| root.join(folder).join("Cargo.toml").is_file()));
            }
        }
    }
    folders.sort();
    let mut packages = Vec::new();
    for folder in folders {
        let Manifest { package: Some(package), dependencies, build, .. } =
            manifest(&root.join(&folder).join("Cargo.toml"))?
        else {
            continue;
        };
        let roots = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
        let roots = roots.into_iter().filter(|file| root.join(file).is_file()).collect();
        let mut dependencies: Vec<String> = dependencies.into_keys().chain(build.into_keys()).collect();
        dependencies.sort();
        dependencies.dedup();
        packages.push(Package { name: package.name, roots, dependencies });
    }
    let names: Vec<String> = packages.iter().map(|package| package.name.clone()).collect();
    for package in &mut packages {
        package.dependencies.retain(|dependency| names.contains(dependency));
    }
    Ok(packages)
}

fn manifest(path: &Path) -> Result<Manifest> {
    toml::from_str(&read(path)?)
        .map_err(|error| Error::Toml { path: path.to_owned(), error: Box::new(error) })
}
