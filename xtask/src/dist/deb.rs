//! The Debian package, built by dpkg-deb from a staging folder.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use xtask_tools::process;

use super::archive::gzip;
use super::contents::{Layout, Product, of_repository};
use super::date::SourceDate;
use super::glibc::Version;
use super::maintainer::Maintainer;
use super::packages::VERSION;
use super::tree::{DATA, PROGRAM, Tree};

/// What the control files say beside the version.
pub struct Facts {
    /// The version of glibc that the command needs.
    pub glibc: Version,
    /// The time of all files.
    pub date: SourceDate,
    /// The maintainer.
    pub maintainer: Maintainer,
}

/// Writes the package.
///
/// # Errors
/// Fails if dpkg-deb is missing or fails.
pub fn write(product: &Product, facts: &Facts, output: &Path) -> Result<()> {
    let mut tree = product.tree(Layout::Debian)?;
    let fill = |name: &str, size: u64| -> Result<String> {
        let text = String::from_utf8(of_repository(&format!("packaging/debian/{name}"))?)?;
        Ok(facts.fill(&text, size))
    };
    tree.add("usr/share/doc/cctrewrite/copyright", DATA, of_repository("packaging/debian/copyright")?);
    // A native package: it has only Debian's changelog and no separate one from upstream.
    tree.add("usr/share/doc/cctrewrite/changelog.gz", DATA, gzip(fill("changelog", 0)?.as_bytes())?);

    let folder = output.parent().context("a package in no folder")?;
    let stage = tempfile::Builder::new().prefix(".deb-").tempdir_in(folder)?;
    // The package contains the root folder with its mode.
    fs::set_permissions(stage.path(), Permissions::from_mode(PROGRAM))?;
    tree.write_below(stage.path())?;
    let mut control = Tree::default();
    control.add("DEBIAN/control", DATA, fill("control", size_in_kib(&tree))?.into_bytes());
    control.add("DEBIAN/md5sums", DATA, md5_sums(&tree, stage.path())?.into_bytes());
    control.write_below(stage.path())?;
    let mut build = Command::new("dpkg-deb");
    // One thread, since the compressed bytes depend on the number of threads.
    build.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]).arg(stage.path()).arg(output);
    // dpkg-deb lowers the times of newer files to this one.
    build.env("SOURCE_DATE_EPOCH", facts.date.seconds().to_string());
    process::output(&mut build).map(|_| ())
}

impl Facts {
    /// A control file with values instead of placeholders.
    fn fill(&self, text: &str, size: u64) -> String {
        text.replace("@VERSION@", VERSION)
            .replace("@MAINTAINER@", &self.maintainer.to_string())
            .replace("@SIZE@", &size.to_string())
            .replace("@GLIBC@", &self.glibc.to_string())
            .replace("@DATE@", &self.date.rfc_5322())
    }
}

/// Installed-Size as defined by Debian's policy, in KiB: each file is rounded up to 1 KiB, and each
/// folder counts as 1 KiB.
fn size_in_kib(tree: &Tree) -> u64 {
    let files: u64 = tree.files().map(|(_, file)| (file.bytes.len() as u64).div_ceil(1024)).sum();
    files + tree.folders().len() as u64
}

/// The contents of `md5sums`, with which dpkg checks installed files.
fn md5_sums(tree: &Tree, root: &Path) -> Result<String> {
    let mut sums = Command::new("md5sum");
    sums.current_dir(fs::canonicalize(root)?).args(tree.files().map(|(path, _)| path));
    process::output(&mut sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_files_have_no_blanks_left() {
        let facts = Facts {
            glibc: Version { major: 2, minor: 28 },
            date: SourceDate::get().unwrap(),
            maintainer: "Ada Lovelace <ada@lovelace.org>".parse().unwrap(),
        };
        for name in ["control", "changelog"] {
            let text =
                String::from_utf8(of_repository(&format!("packaging/debian/{name}")).unwrap()).unwrap();
            let filled = facts.fill(&text, 77);
            assert!(filled.contains("Ada Lovelace <ada@lovelace.org>"), "{filled}");
            assert!(filled.contains(VERSION), "{filled}");
            let is_blank = |word: &str| word.len() > 2 && word.starts_with('@') && word.ends_with('@');
            assert!(!filled.split(|c: char| !c.is_ascii_uppercase() && c != '@').any(is_blank), "{filled}");
        }
    }

    #[test]
    fn sizes_are_rounded_up_file_by_file() {
        let mut tree = Tree::default();
        tree.add("usr/bin/a", DATA, vec![0; 1]);
        tree.add("usr/bin/b", DATA, vec![0; 1025]);
        assert_eq!(size_in_kib(&tree), 1 + 2 + 2);
    }
}
