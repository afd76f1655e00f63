//! The JDK that a command would use.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// There is no JDK that a command would use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Neither the environment nor the `PATH` names one.
    #[error("no JDK: JAVA_HOME is not set and there is no java on the PATH; name one with --jdk")]
    NotNamed,
    /// The `java` on the `PATH` belongs to no JDK.
    #[error(
        "{} is not part of a JDK; name the JDK with --jdk, or in the variable JAVA_HOME",
        .0.display()
    )]
    NotOfJdk(PathBuf),
}

/// A command's relation to JDKs.
#[derive(Debug, PartialEq, Eq)]
pub struct Target {
    /// The home of the JDK that it would use.
    pub home: PathBuf,
    /// The command's place within that home, if it is one of the JDK's own (`bin/java`).
    pub tool: Option<PathBuf>,
}

impl Target {
    /// Looks up the command as a shell would.
    ///
    /// `chosen` is the JDK that the user wants instead.
    ///
    /// # Errors
    /// Fails if there is no such JDK.
    pub fn of(command: &OsStr, chosen: Option<&Path>) -> Result<Target, TargetError> {
        let path = env::var_os("PATH").unwrap_or_default();
        let own = find(command, &path).and_then(|file| of_tool(&file));
        if let Some(chosen) = chosen {
            return Ok(Target { home: chosen.to_path_buf(), tool: own.and_then(|target| target.tool) });
        }
        if let Some(own) = own {
            return Ok(own);
        }
        if let Some(home) = env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
            return Ok(Target { home: home.into(), tool: None });
        }
        let java = find(OsStr::new("java"), &path).ok_or(TargetError::NotNamed)?;
        let target = of_tool(&java).ok_or(TargetError::NotOfJdk(java))?;
        Ok(Target { tool: None, ..target })
    }
}

/// The file of a command's name: a path is used unchanged, a name is searched in the folders.
fn find(command: &OsStr, folders: &OsStr) -> Option<PathBuf> {
    if Path::new(command).components().count() > 1 {
        return Some(command.into());
    }
    env::split_paths(folders).map(|folder| folder.join(command)).find(|file| file.is_file())
}

/// The JDK of one of its tools. Links are followed: systems have several between `/usr/bin/java`
/// and the JDK.
fn of_tool(file: &Path) -> Option<Target> {
    let file = std::fs::canonicalize(file).ok()?;
    let (name, bin) = (file.file_name()?, file.parent()?);
    let mut home = bin.parent()?;
    if bin.file_name()? != "bin" {
        return None;
    }
    // The tools that a JRE has, too, are in both folders of a JDK 8.
    if home.file_name() == Some(OsStr::new("jre"))
        && let Some(around) = home.parent().filter(|around| around.join("bin").join(name).is_file())
    {
        home = around;
    }
    let is_home =
        ["lib/modules", "jre/lib/rt.jar", "lib/rt.jar"].iter().any(|file| home.join(file).is_file());
    is_home.then(|| Target { home: home.to_path_buf(), tool: Some(Path::new("bin").join(name)) })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn files(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, b"").unwrap();
        }
        folder
    }

    #[test]
    fn tools_belong_to_the_home_around_them() {
        let folder = files(&[
            "17/bin/java",
            "17/lib/modules",
            "8/bin/java",
            "8/jre/bin/java",
            "8/jre/lib/rt.jar",
            "usr/bin/mvn",
        ]);
        let at = |name: &str| fs::canonicalize(folder.path().join(name)).unwrap();
        let of = |home: &str| Some(Target { home: at(home), tool: Some("bin/java".into()) });
        assert_eq!(of_tool(&at("17/bin/java")), of("17"));
        assert_eq!(of_tool(&at("8/jre/bin/java")), of("8"));
        assert_eq!(of_tool(&at("8/bin/java")), of("8"));
        assert_eq!(of_tool(&at("usr/bin/mvn")), None);
    }

    #[cfg(unix)]
    #[test]
    fn names_are_looked_up_and_links_followed() {
        let folder = files(&["17/bin/java", "17/lib/modules", "usr/bin/other"]);
        let bin = folder.path().join("usr/bin");
        std::os::unix::fs::symlink(folder.path().join("17/bin/java"), bin.join("java")).unwrap();
        let found = find(OsStr::new("java"), bin.as_os_str()).unwrap();
        assert_eq!(found, bin.join("java"));
        assert_eq!(of_tool(&found).unwrap().home, fs::canonicalize(folder.path().join("17")).unwrap());
        assert_eq!(find(OsStr::new("none"), bin.as_os_str()), None);
        assert_eq!(find(OsStr::new("./none"), bin.as_os_str()), Some("./none".into()));
    }
}
