//! The JDKs of a machine: homes in the usual places.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::jdk::is_home;
use crate::target_jdk::Target;

/// Folders of JDKs, below the root or, with `~`, below the user's home.
const FOLDERS: [&str; 7] = [
    // Debian, Fedora, Arch.
    "/usr/lib/jvm",
    // openSUSE.
    "/usr/lib64/jvm",
    // Oracle's packages.
    "/usr/java",
    // Archives unpacked by hand.
    "/opt",
    // SDKMAN!
    "~/.sdkman/candidates/java",
    // IntelliJ IDEA.
    "~/.jdks",
    // Gradle's tool chains.
    "~/.gradle/jdks",
];

/// A home, and the first place that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JdkHome {
    /// Without links.
    pub path: PathBuf,
    /// `java on the PATH`, `JAVA_HOME`, or a folder.
    pub named_by: String,
}

/// The homes in this process's environment: first the JDK that `cctrewrite run -- java` uses, then
/// that of `JAVA_HOME`, then those of the usual folders, by path.
pub fn find() -> Vec<JdkHome> {
    let java = Target::of(OsStr::new("java"), None).ok();
    // Without a tool it is that of JAVA_HOME.
    let java = java.filter(|target| target.tool.is_some()).map(|target| target.home);
    let java_home = env::var_os("JAVA_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let user = env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let folders = FOLDERS.iter().filter_map(|folder| match folder.strip_prefix("~/") {
        Some(below) => Some(user.as_ref()?.join(below)),
        None => Some(PathBuf::from(folder)),
    });
    among(java, java_home, folders)
}

fn among(
    java: Option<PathBuf>,
    java_home: Option<PathBuf>,
    folders: impl Iterator<Item = PathBuf>,
) -> Vec<JdkHome> {
    let mut homes = Vec::new();
    let mut add = |path: &Path, named_by: String| {
        if let Ok(path) = fs::canonicalize(path)
            && homes.iter().all(|home: &JdkHome| home.path != path)
        {
            homes.push(JdkHome { path, named_by });
        }
    };
    if let Some(home) = java {
        add(&home, "java on the PATH".to_owned());
    }
    if let Some(home) = java_home {
        add(&home, "JAVA_HOME".to_owned());
    }
    for folder in folders {
        // Several links lead to one home: the home's own name comes first, by its canonical path.
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let found: BTreeMap<PathBuf, ()> = entries
            .filter(|path| is_home(path))
            .filter_map(|path| Some((fs::canonicalize(path).ok()?, ())))
            .collect();
        for path in found.keys() {
            add(path, folder.display().to_string());
        }
    }
    homes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_home_is_found_once_and_the_one_that_runs_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for name in ["jvm/jdk-21", "jvm/jdk-17", "own/jdk"] {
            fs::create_dir_all(root.join(name).join("lib")).unwrap();
            fs::write(root.join(name).join("lib/modules"), b"").unwrap();
        }
        fs::create_dir_all(root.join("jvm/no-jdk/lib")).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("jvm/jdk-17"), root.join("jvm/default")).unwrap();
        let found = among(
            Some(root.join("jvm/jdk-21")),
            Some(root.join("own/jdk")),
            [root.join("jvm"), root.join("none")].into_iter(),
        );
        let found: Vec<_> = found
            .iter()
            .map(|home| (home.path.strip_prefix(&root).unwrap().to_str().unwrap(), &*home.named_by))
            .collect();
        let jvm = root.join("jvm").display().to_string();
        assert_eq!(
            found,
            [("jvm/jdk-21", "java on the PATH"), ("own/jdk", "JAVA_HOME"), ("jvm/jdk-17", &*jvm)]
        );
    }
}
