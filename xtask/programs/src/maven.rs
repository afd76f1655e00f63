//! Artifacts of Maven Central: resolved once by `mvn`, checked against a lock file, kept in the
//! cache folder.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail, ensure};
use sha2::{Digest, Sha256};
use xtask_tools::process;

/// Value of a program's suite for Maven Central: the packages are Maven coordinates,
/// `group:artifact:version` or `group:artifact:version:classifier`.
pub const CENTRAL: &str = "maven";

/// The plugin that resolves. Its version determines the order of the class path.
const PLUGIN: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath";

/// An artifact in a lock file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockedArtifact {
    /// The jar's name on the class path.
    pub name: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// Reads a lock file: a line `sha256  name` for each jar, in the order of the class path.
///
/// # Errors
/// Fails if a line has a different form.
pub fn parse_lock(text: &str) -> Result<Vec<LockedArtifact>> {
    let line = |line: &str| {
        let (sha256, name) = line.split_once("  ").with_context(|| format!("damaged lock line {line:?}"))?;
        ensure!(
            sha256.len() == 64 && sha256.bytes().all(|digit| digit.is_ascii_hexdigit()),
            "damaged lock line {line:?}"
        );
        ensure!(!name.contains('/') && name.ends_with(".jar"), "damaged lock line {line:?}");
        Ok(LockedArtifact { name: name.to_owned(), sha256: sha256.to_owned() })
    };
    text.lines().map(line).collect()
}

/// The text of a lock file.
pub fn lock_text(jars: &[LockedArtifact]) -> String {
    jars.iter().fold(String::new(), |mut text, LockedArtifact { name, sha256 }| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{sha256}  {name}");
        text
    })
}

/// Resolves coordinates with all their run-time dependencies and copies the jars into the new
/// folder `into`. Returns them in the order of the class path.
///
/// # Errors
/// Fails if there is no `mvn`, or an artifact is missing.
pub fn resolve(coordinates: &[&str], into: &Path) -> Result<Vec<LockedArtifact>> {
    fs::create_dir_all(into).with_context(|| format!("make {}", into.display()))?;
    let work = tempfile::tempdir()?;
    fs::write(work.path().join("pom.xml"), pom(coordinates)?)?;
    let list = work.path().join("class-path");
    eprintln!("  resolving by Maven: {}", coordinates.join(" "));
    let mut maven = Command::new("mvn");
    maven.current_dir(work.path()).args(["--batch-mode", "--quiet", "--no-transfer-progress", PLUGIN]);
    maven.arg(format!("-Dmdep.outputFile={}", list.display())).arg("-DincludeScope=runtime");
    process::output(&mut maven).context("mvn")?;
    let paths = fs::read_to_string(&list).context("mvn left no class path")?;
    let mut names = BTreeSet::new();
    let mut jars = Vec::new();
    for path in paths.trim().split(':').filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        let name =
            path.file_name().and_then(|name| name.to_str()).context("a jar without a name")?.to_owned();
        // Two groups may have artifacts of one name and version; a class path has each name once.
        let name = if names.contains(&name) { format!("{}-{name}", names.len()) } else { name };
        names.insert(name.clone());
        let bytes = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        fs::write(into.join(&name), &bytes).with_context(|| format!("write {name}"))?;
        jars.push(LockedArtifact { name, sha256: hex(&Sha256::digest(&bytes)) });
    }
    ensure!(!jars.is_empty(), "mvn resolved no jar for {}", coordinates.join(" "));
    Ok(jars)
}

/// Compares resolved jars with those of a lock file.
///
/// # Errors
/// Fails if a jar differs, is missing, or is unexpected.
pub fn check(resolved: &[LockedArtifact], locked: &[LockedArtifact]) -> Result<()> {
    for jar in locked {
        match resolved.iter().find(|other| other.name == jar.name) {
            Some(other) if other.sha256 == jar.sha256 => {}
            Some(other) => bail!(
                "{}: SHA-256 is {}, the lock file says {}; for a new version, run `cargo xtask \
                 programs --lock`",
                jar.name,
                other.sha256,
                jar.sha256
            ),
            None => bail!(
                "{} was not resolved; if it is no longer needed, run `cargo xtask programs --lock`",
                jar.name
            ),
        }
    }
    match resolved.iter().find(|jar| !locked.contains(jar)) {
        Some(jar) => bail!("{} is not in the lock file; run `cargo xtask programs --lock`", jar.name),
        None => Ok(()),
    }
}

/// A folder name for a set of coordinates.
pub fn folder_name(coordinates: &[&str]) -> String {
    let digest = Sha256::digest(coordinates.join("\n"));
    let first = coordinates.first().and_then(|first| first.split(':').nth(1)).unwrap_or("none");
    format!("{first}-{}", &hex(&digest)[..16])
}

/// `artifact version` of a coordinate.
pub fn version(coordinate: &str) -> String {
    let mut parts = coordinate.split(':').skip(1);
    let (artifact, version) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    format!("{artifact} {version}")
}

fn pom(coordinates: &[&str]) -> Result<String> {
    let mut dependencies = String::new();
    for coordinate in coordinates {
        let parts: Vec<&str> = coordinate.split(':').collect();
        let plain = |part: &&str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
        };
        ensure!(
            (3..=4).contains(&parts.len()) && parts.iter().all(plain),
            "no Maven coordinate: {coordinate}"
        );
        let names = ["groupId", "artifactId", "version", "classifier"];
        let elements: String =
            names.iter().zip(&parts).map(|(name, part)| format!("<{name}>{part}</{name}>")).collect();
        let _ = writeln!(dependencies, "    <dependency>{elements}</dependency>");
    }
    Ok(format!(
        "<project xmlns=\"http://maven.apache.org/POM/4.0.0\">\n  <modelVersion>4.0.0</modelVersion>\n  \
         <groupId>program</groupId><artifactId>program</artifactId><version>1</version>\n  \
         <dependencies>\n{dependencies}  </dependencies>\n</project>\n"
    ))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jar(name: &str, digit: char) -> LockedArtifact {
        LockedArtifact { name: name.to_owned(), sha256: digit.to_string().repeat(64) }
    }

    #[test]
    fn lock_files_are_read_as_they_are_written() {
        let jars = [jar("a-1.jar", '0'), jar("b-2.jar", 'f')];
        assert_eq!(parse_lock(&lock_text(&jars)).unwrap(), jars);
        for damaged in ["a-1.jar", "00  a.jar", &format!("{}  ../a.jar", "0".repeat(64))] {
            assert!(parse_lock(damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn other_bytes_and_other_jars_are_named() {
        let locked = [jar("a-1.jar", '0'), jar("b-2.jar", '1')];
        assert!(check(&locked, &locked).is_ok());
        let why = |resolved: &[LockedArtifact]| check(resolved, &locked).unwrap_err().to_string();
        assert!(why(&[jar("a-1.jar", '0'), jar("b-2.jar", '2')]).starts_with("b-2.jar: SHA-256 is 22"));
        assert!(why(&locked[..1]).starts_with("b-2.jar was not resolved"));
        let more = [locked[0].clone(), locked[1].clone(), jar("c-3.jar", '3')];
        assert!(why(&more).starts_with("c-3.jar is not in the lock file"));
    }

    #[test]
    fn coordinates_become_a_project() {
        let text = pom(&["g:a:1", "g.h:b-c:2.0-rc1:tests"]).unwrap();
        assert!(text.contains(
            "<dependency><groupId>g</groupId><artifactId>a</artifactId><version>1</version></dependency>"
        ));
        assert!(text.contains("<version>2.0-rc1</version><classifier>tests</classifier></dependency>"));
        for wrong in ["g:a", "g:a:1:c:more", "g:a:<1>", "g::1"] {
            assert!(pom(&[wrong]).is_err(), "{wrong}");
        }
    }
}
