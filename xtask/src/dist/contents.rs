//! The installed files: the command, its libraries, manual pages, completions, licences and the
//! bill of materials.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask_tools::process;
use xtask_tools::workspace::root;

use super::archive::gzip;
use super::build::{Binaries, LIBRARIES};
use super::checksums;
use super::tree::{DATA, PROGRAM, Tree};

/// The folders into which the files are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Relative to any prefix.
    Tarball,
    /// The paths of Debian's policy.
    Debian,
    /// Below `/usr/local`: only the command, its libraries and their licences.
    Container,
}

/// A shell, and the paths of its completions.
struct Shell {
    name: &'static str,
    /// Relative to the prefix.
    file: &'static str,
    debian: &'static str,
}

const SHELLS: [Shell; 3] = [
    Shell {
        name: "bash",
        file: "share/bash-completion/completions/cctrewrite",
        debian: "share/bash-completion/completions/cctrewrite",
    },
    Shell {
        name: "zsh",
        file: "share/zsh/site-functions/_cctrewrite",
        debian: "share/zsh/vendor-completions/_cctrewrite",
    },
    Shell {
        name: "fish",
        file: "share/fish/vendor_completions.d/cctrewrite.fish",
        debian: "share/fish/vendor_completions.d/cctrewrite.fish",
    },
];

/// The contents of all packages.
pub struct Product {
    command: Vec<u8>,
    libraries: Vec<Vec<u8>>,
    /// Manual pages by their names.
    pages: Vec<(String, Vec<u8>)>,
    /// In the order of [`SHELLS`].
    completions: Vec<Vec<u8>>,
    licences: String,
    sbom: String,
}

impl Product {
    /// Reads the built files, and runs the command to write its manual pages and completions.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or if the command does not run on this machine.
    pub fn of(binaries: Binaries, licences: String, sbom: String) -> Result<Product> {
        let read = |path: &std::path::Path| {
            fs::read(path).with_context(|| format!("cannot read {}", path.display()))
        };
        let folder = tempfile::tempdir()?;
        process::output(Command::new(&binaries.command).args(["man", "-o"]).arg(folder.path()))?;
        let mut pages = Vec::new();
        for entry in fs::read_dir(folder.path())? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            pages.push((name, read(&path)?));
        }
        pages.sort();
        ensure!(!pages.is_empty(), "cctrewrite man wrote no page");
        let completions = SHELLS.iter().map(|shell| {
            let script = process::output(Command::new(&binaries.command).args(["completions", shell.name]))?;
            Ok(script.into_bytes())
        });
        Ok(Product {
            completions: completions.collect::<Result<_>>()?,
            command: read(&binaries.command)?,
            libraries: binaries.libraries.iter().map(|path| read(path)).collect::<Result<_>>()?,
            pages,
            licences,
            sbom,
        })
    }

    /// The installed files in this layout.
    ///
    /// # Errors
    /// Fails if a page of the repository cannot be read.
    pub fn tree(&self, layout: Layout) -> Result<Tree> {
        let prefix = match layout {
            Layout::Tarball => "",
            Layout::Debian => "usr/",
            Layout::Container => "usr/local/",
        };
        let mut tree = Tree::default();
        let mut add = |path: &str, mode, bytes: Vec<u8>| tree.add(&format!("{prefix}{path}"), mode, bytes);
        add("bin/cctrewrite", PROGRAM, self.command.clone());
        for (name, library) in LIBRARIES.iter().zip(&self.libraries) {
            add(&format!("lib/cctrewrite/{name}"), DATA, library.clone());
        }
        let doc = |name: &str| format!("share/doc/cctrewrite/{name}");
        match layout {
            // Debian systems have the licence's text already; the policy asks for long texts to be
            // compressed.
            Layout::Debian => {
                add(&doc("THIRD-PARTY.txt.gz"), DATA, gzip(self.licences.as_bytes())?);
                add(&doc("sbom.cdx.json.gz"), DATA, gzip(self.sbom.as_bytes())?);
                add(&doc("CHANGELOG.md.gz"), DATA, gzip(&of_repository("CHANGELOG.md")?)?);
            }
            Layout::Tarball | Layout::Container => {
                add(&doc("LICENSE"), DATA, of_repository("LICENSE")?);
                add(&doc("THIRD-PARTY.txt"), DATA, self.licences.clone().into_bytes());
                add(&doc("sbom.cdx.json"), DATA, self.sbom.clone().into_bytes());
            }
        }
        if layout != Layout::Container {
            for (name, page) in &self.pages {
                match layout {
                    Layout::Debian => add(&format!("share/man/man1/{name}.gz"), DATA, gzip(page)?),
                    _ => add(&format!("share/man/man1/{name}"), DATA, page.clone()),
                }
            }
            for (shell, script) in SHELLS.iter().zip(&self.completions) {
                let file = if layout == Layout::Debian { shell.debian } else { shell.file };
                add(file, DATA, script.clone());
            }
        }
        if layout == Layout::Tarball {
            add(&doc("CHANGELOG.md"), DATA, of_repository("CHANGELOG.md")?);
            add(&doc("INSTALL.txt"), DATA, of_repository("packaging/INSTALL.txt")?);
            let sums = checksums::of_tree(&tree);
            tree.add(&doc(checksums::NAME), DATA, sums.into_bytes());
        }
        Ok(tree)
    }
}

/// A file of the repository.
pub fn of_repository(name: &str) -> Result<Vec<u8>> {
    fs::read(root().join(name)).with_context(|| format!("cannot read {name}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn product() -> Product {
        Product {
            command: b"command".to_vec(),
            libraries: vec![b"loadtime".to_vec(), b"prefix".to_vec(), b"vm".to_vec()],
            pages: vec![("cctrewrite.1".to_owned(), b"page".to_vec())],
            completions: vec![b"bash".to_vec(), b"zsh".to_vec(), b"fish".to_vec()],
            licences: "licences".to_owned(),
            sbom: "{}".to_owned(),
        }
    }

    fn paths(layout: Layout) -> BTreeSet<String> {
        product().tree(layout).unwrap().files().map(|(path, _)| path.to_owned()).collect()
    }

    #[test]
    fn libraries_lie_where_the_command_looks() {
        for (layout, prefix) in
            [(Layout::Tarball, ""), (Layout::Debian, "usr/"), (Layout::Container, "usr/local/")]
        {
            let paths = paths(layout);
            assert!(paths.contains(&format!("{prefix}bin/cctrewrite")));
            for name in LIBRARIES {
                assert!(paths.contains(&format!("{prefix}lib/cctrewrite/{name}")), "{layout:?} {name}");
            }
            assert!(paths.iter().all(|path| path.starts_with(prefix)), "{layout:?}");
            assert!(paths.iter().any(|path| path.contains("THIRD-PARTY.txt")), "{layout:?}");
            assert!(paths.iter().any(|path| path.contains("sbom.cdx.json")), "{layout:?}");
        }
    }

    #[test]
    fn a_tarball_has_the_sums_of_all_its_other_files() {
        let tree = product().tree(Layout::Tarball).unwrap();
        let (_, sums) = tree.files().find(|(path, _)| path.ends_with(checksums::NAME)).unwrap();
        let sums = String::from_utf8(sums.bytes.clone()).unwrap();
        assert_eq!(sums.lines().count() + 1, tree.files().count());
        // The instructions in INSTALL.txt remove the files that the checksum file names.
        assert!(sums.lines().any(|line| &line[66..] == "bin/cctrewrite"), "{sums}");
    }
}
