//! Conversion of Debian's packages to a self-contained JDK home in the cache folder.
//!
//! Debian's packages expect to be installed: their homes have links to configuration files in /etc,
//! and they need the C library of their release. A home created here has the files instead of the
//! links and knows the path of its libraries. So it can be used from any folder.

use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use walkdir::WalkDir;

use super::folder::{replace, stamp};
use super::home::{VersionOutput, tool};
use super::relink;
use crate::debian::{Archive, unpack};
use crate::process;

/// Creates a JDK `version` from the packages of `suite`, at `home`. Replaces an existing home only
/// after the new one is complete and has been seen to run.
///
/// # Errors
/// Fails if the suite does not have it, or if the result does not run here.
pub fn jdk(archive: &mut Archive, version: u32, suite: &str, home: &Path) -> Result<()> {
    eprintln!("JDK {version}: not found; unpacking it from Debian's packages");
    let work = archive.temporary_folder()?;
    let root = work.path().join("root");
    let names = ["jdk", "jre"].map(|part| format!("openjdk-{version}-{part}-headless"));
    let packages = archive.download(suite, &names.each_ref().map(String::as_str))?;
    unpack(&packages, &root)?;
    let unpacked = unpacked_home(&root)?;
    resolve_links(&root, &unpacked)?;
    let libraries = relink::bind_c_library(archive, suite, &unpacked)?;
    let version = VersionOutput::by_java(&unpacked)?.version;
    complete_release_file(&unpacked, &version)?;
    check(&unpacked, work.path(), &version)?;
    stamp(&unpacked, suite, packages.iter(), libraries.as_deref())?;
    replace(&unpacked, home, work.path())?;
    eprintln!("  done: {}", home.display());
    Ok(())
}

/// The home in the unpacked packages. The other entries next to it are links to it.
fn unpacked_home(root: &Path) -> Result<PathBuf> {
    let folder = root.join("usr/lib/jvm");
    for entry in fs::read_dir(&folder).context("the packages have no /usr/lib/jvm")? {
        let entry = entry?;
        if entry.file_type()?.is_dir() && entry.path().join("bin/javac").exists() {
            return Ok(entry.path());
        }
    }
    bail!("the packages have no JDK in /usr/lib/jvm")
}

/// Replaces each link in `home` that leads out of it by a copy of its target below `root`. Removes
/// broken links, which lead to packages that were not unpacked: documentation, the sources, the
/// machine's root certificates.
fn resolve_links(root: &Path, home: &Path) -> Result<()> {
    let entries = WalkDir::new(home).sort_by_file_name().into_iter().collect::<Result<Vec<_>, _>>()?;
    for link in entries.iter().filter(|entry| entry.path_is_symlink()).map(|entry| entry.path()) {
        let target = follow(root, link)?;
        if target.starts_with(home) && target.exists() {
            continue;
        }
        fs::remove_file(link)?;
        if target.exists() {
            copy(&target, link)?;
        }
    }
    Ok(())
}

/// The target of `link` if `root` is the root folder.
fn follow(root: &Path, link: &Path) -> Result<PathBuf> {
    // The kernel's own limit (path_resolution(7)).
    const MOST: usize = 40;
    let mut path = link.to_owned();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = match target.strip_prefix("/") {
            Ok(absolute) => root.join(absolute),
            Err(_) => normal(&path.parent().unwrap_or(root).join(target)),
        };
    }
    bail!("{}: too many links", link.display())
}

/// `path` with its `..` resolved.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        if component == Component::ParentDir {
            normal.pop();
        } else {
            normal.push(component);
        }
    }
    normal
}

/// Copies a file or a folder.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for entry in WalkDir::new(from).follow_links(true) {
        let entry = entry?;
        let to = to.join(entry.path().strip_prefix(from)?);
        // `join("")` leaves a '/' at the end, which no file may have.
        let to: PathBuf = to.components().collect();
        if entry.file_type().is_dir() {
            fs::create_dir_all(&to)?;
        } else {
            fs::copy(entry.path(), &to).with_context(|| format!("copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}

/// Gives a home without `release` file (Debian's JDK 8) one with its version, as the JDK's own
/// build does.
fn complete_release_file(home: &Path, version: &str) -> Result<()> {
    let file = home.join("release");
    if !file.exists() {
        fs::write(&file, format!("JAVA_VERSION=\"{version}\"\n"))?;
    }
    Ok(())
}

/// Compiles and runs a class, and checks for the header of JNI.
fn check(home: &Path, work: &Path, version: &str) -> Result<()> {
    const SOURCE: &str = "public class Check {\n    public static void main(String[] arguments) {\n        \
                          System.out.print(System.getProperty(\"java.version\"));\n    }\n}\n";
    let folder = work.join("check");
    fs::create_dir(&folder)?;
    fs::write(folder.join("Check.java"), SOURCE)?;
    process::output(tool(home, "javac").arg("Check.java").current_dir(&folder))?;
    let said = process::output(tool(home, "java").args(["-cp", ".", "Check"]).current_dir(&folder))?;
    ensure!(said == version, "a class that prints its JVM's version {version} printed {said}");
    ensure!(home.join("include/jni.h").is_file(), "include/jni.h is missing");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A root with a home and configuration outside of it, as in Debian's packages.
    fn unpacked() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("root");
        let home = root.join("usr/lib/jvm/jdk");
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::create_dir_all(root.join("etc/java/security")).unwrap();
        fs::write(root.join("etc/java/security/policy"), "grant").unwrap();
        fs::write(home.join("bin/javac"), "").unwrap();
        (temporary, root, home)
    }

    #[test]
    fn links_out_of_the_home_become_what_they_lead_to() {
        let (_temporary, root, home) = unpacked();
        symlink("/etc/java/security/policy", home.join("file")).unwrap();
        symlink("/etc/java/security", home.join("folder")).unwrap();
        symlink("../../../../etc/java/security/policy", home.join("relative")).unwrap();
        symlink("/etc/java/again", home.join("chain")).unwrap();
        symlink("security/policy", root.join("etc/java/again")).unwrap();
        resolve_links(&root, &home).unwrap();
        for file in ["file", "folder/policy", "relative", "chain"] {
            assert!(!home.join(file).is_symlink(), "{file}");
            assert_eq!(fs::read_to_string(home.join(file)).unwrap(), "grant", "{file}");
        }
    }

    #[test]
    fn links_within_the_home_stay_and_broken_ones_go() {
        let (_temporary, root, home) = unpacked();
        symlink("../bin/javac", home.join("bin/javac-too")).unwrap();
        symlink("/usr/share/doc/none", home.join("docs")).unwrap();
        symlink("round", home.join("bin/javac-gone")).unwrap();
        resolve_links(&root, &home).unwrap();
        assert!(home.join("bin/javac-too").is_symlink());
        assert!(!home.join("docs").is_symlink());
        assert!(!home.join("bin/javac-gone").is_symlink());
    }

    #[test]
    fn links_in_a_circle_are_an_error() {
        let (_temporary, root, home) = unpacked();
        symlink("b", home.join("a")).unwrap();
        symlink("a", home.join("b")).unwrap();
        assert!(resolve_links(&root, &home).unwrap_err().to_string().contains("too many links"));
    }

    #[test]
    fn the_home_is_the_folder_with_the_compiler() {
        let (_temporary, root, home) = unpacked();
        symlink("jdk", home.with_file_name("java-link")).unwrap();
        assert_eq!(unpacked_home(&root).unwrap(), home);
    }

    #[test]
    fn a_release_file_is_added_but_not_changed() {
        let (_temporary, _, home) = unpacked();
        complete_release_file(&home, "1.8.0_1").unwrap();
        complete_release_file(&home, "other").unwrap();
        assert_eq!(super::super::home::released_version(&home), Some(8));
    }
}
