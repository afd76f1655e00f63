//! JDKs that are installed on this machine.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use super::home::{Jdk, Origin, VersionOutput, feature, released_version};

/// Folders in which installers put JDKs side by side. They are only a list to search; missing ones
/// are skipped.
const USUAL_FOLDERS: [&str; 5] = [
    // Debian, Fedora, Arch, SUSE and their kin: their packages put every JDK here.
    "/usr/lib/jvm",
    // Oracle's packages.
    "/usr/java",
    // Container images and archives unpacked by hand.
    "/opt",
    "/opt/java",
    // macOS; the home is two folders further down.
    "/Library/Java/JavaVirtualMachines",
];

/// Folders below the user's home in which IntelliJ IDEA and SDKMAN! put JDKs.
const USUAL_FOLDERS_OF_A_USER: [&str; 2] = [".jdks", ".sdkman/candidates/java"];

/// The first installed JDK of `version` that runs.
pub fn find(version: u32) -> Option<Jdk> {
    candidates().into_iter().filter(|home| is_of(version, home)).find_map(|home| {
        Jdk::of_version(version, &home, Origin::Machine)
            .inspect_err(|error| eprintln!("JDK {version}: passed over: {error:#}"))
            .ok()
    })
}

/// Whether `home` is a JDK of `version`: by its `release` file or, without one, by running it.
fn is_of(version: u32, home: &Path) -> bool {
    let found = released_version(home)
        .or_else(|| VersionOutput::by_java(home).ok().and_then(|stated| feature(&stated.version)));
    found == Some(version)
}

/// The homes of all JDKs found, each once: that of the `javac` which a shell would run,
/// `JAVA_HOME`, then those in the usual folders by name.
fn candidates() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("javac")).find(|file| file.is_file());
    let user = env::home_dir();
    let of_user = USUAL_FOLDERS_OF_A_USER.iter().filter_map(|folder| Some(user.as_ref()?.join(folder)));
    let homes = on_path
        .and_then(|javac| home_of(&javac))
        .into_iter()
        .chain(env::var_os("JAVA_HOME").map(PathBuf::from))
        .chain(USUAL_FOLDERS.iter().map(PathBuf::from).chain(of_user).flat_map(|folder| homes_in(&folder)));
    distinct_jdks(homes)
}

/// The home of a `javac`, through the links that lead to it (such as Debian's alternatives).
fn home_of(javac: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(javac).ok()?.parent()?.parent()?.to_owned())
}

/// The folders in `folder` that may be homes, by name.
fn homes_in(folder: &Path) -> BTreeSet<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeSet::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| [path.join("Contents/Home"), path]).collect()
}

/// The JDKs among `homes`, links resolved, each at its first position.
fn distinct_jdks(homes: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    homes
        .filter_map(|home| fs::canonicalize(home).ok())
        .filter(|home| home.join("bin/javac").is_file())
        .filter(|home| seen.insert(home.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake_jdk(home: &Path) {
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(home.join("bin/javac"), "").unwrap();
    }

    #[test]
    fn a_folder_of_jdks_is_listed_by_name_and_without_doubles() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        fake_jdk(&folder.join("jdk-b"));
        fake_jdk(&folder.join("jdk-a"));
        fake_jdk(&folder.join("mac.jdk/Contents/Home"));
        fs::create_dir(folder.join("only-a-runtime")).unwrap();
        std::os::unix::fs::symlink(folder.join("jdk-b"), folder.join("java-current")).unwrap();

        let found = distinct_jdks(homes_in(&folder).into_iter());
        let expected = ["jdk-b", "jdk-a", "mac.jdk/Contents/Home"].map(|name| folder.join(name));
        assert_eq!(found, expected, "the link java-current comes first and stands for jdk-b");
    }

    #[test]
    fn the_home_of_a_linked_compiler_is_the_jdk() {
        let folder = tempfile::tempdir().unwrap();
        let folder = fs::canonicalize(folder.path()).unwrap();
        fake_jdk(&folder.join("jdk"));
        std::os::unix::fs::symlink(folder.join("jdk/bin/javac"), folder.join("javac")).unwrap();
        assert_eq!(home_of(&folder.join("javac")), Some(folder.join("jdk")));
    }
}
