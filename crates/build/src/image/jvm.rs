//! JVMs of an image under construction: to check that it starts, and to create its archive of
//! classes.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Instant;

use super::time_limit::TimeLimit;

/// A JVM of an image that did not do what it was started for.
#[derive(Debug, thiserror::Error)]
pub enum JvmError {
    /// It cannot be started, or its output cannot be read.
    #[error("cannot start {}", .java.display())]
    Start {
        /// Its launcher.
        java: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It ended with an error.
    #[error("the image's `java {arguments}` fails ({status}): {said}")]
    Failed {
        /// The arguments of its launcher.
        arguments: String,
        /// How it ended.
        status: ExitStatus,
        /// The first lines of its output.
        said: String,
    },
    /// It exceeded the time limit.
    #[error(
        "the image's `java {arguments}` did not end within {limit} and was killed; {remedy}, or give it more time ({}){}",
        TimeLimit::HOW_TO_CHANGE,
        sentence(.said)
    )]
    TooSlow {
        /// The arguments of its launcher.
        arguments: String,
        /// The limit.
        limit: TimeLimit,
        /// The user's remedy.
        remedy: String,
        /// The first lines of its output.
        said: String,
    },
}

/// Environment variables that pass options and class paths to a JVM.
pub const FROM_OUTSIDE: &[&str] = &["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"];

/// What a JVM said, as a further sentence of a message.
fn sentence(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(". It said: {said}") }
}

/// A JVM of an image that records nothing.
#[derive(Debug, Clone, Copy)]
pub struct Jvm<'a> {
    /// The image.
    pub image: &'a Path,
    /// `java.home` within the image.
    pub java_home: &'a Path,
    /// The arguments of its launcher.
    pub arguments: &'a [&'a str],
    /// The JVM's time limit.
    pub limit: TimeLimit,
    /// The user's remedy if it takes longer.
    pub remedy: &'a str,
}

impl Jvm<'_> {
    /// Runs it to its end.
    ///
    /// # Errors
    /// Fails if the JVM cannot be started, ends with an error, or exceeds the time limit.
    pub fn run(self) -> Result<(), JvmError> {
        let Jvm { image, java_home, arguments, limit, remedy } = self;
        let java = image.join(java_home).join("bin").join(format!("java{}", std::env::consts::EXE_SUFFIX));
        let cannot = |source| JvmError::Start { java: java.clone(), source };
        let mut command = Command::new(&java);
        for variable in FROM_OUTSIDE {
            command.env_remove(variable);
        }
        // Its folder may be removed while the JVM runs: it must not find a `.hotspotrc` elsewhere,
        // nor leave a core or log there.
        command.current_dir(image).arg("-Dcctrewrite.record=off").args(arguments);
        let said = [memory().map_err(cannot)?, memory().map_err(cannot)?];
        let [errors, output] = [said[0].try_clone().map_err(cannot)?, said[1].try_clone().map_err(cannot)?];
        command.stdin(Stdio::null()).stderr(errors).stdout(output);
        let mut child = command.spawn().map_err(cannot)?;
        let ended = wait(&mut child, limit).map_err(cannot)?;
        if ended.is_some_and(|status| status.success()) {
            return Ok(());
        }
        let said = gist(said).map_err(cannot)?;
        let arguments = arguments.join(" ");
        Err(match ended {
            Some(status) => JvmError::Failed { arguments, status, said },
            None => JvmError::TooSlow { arguments, limit, remedy: remedy.to_owned(), said },
        })
    }
}

/// A file without a name, for a JVM's output. A pipe would have to be read until the last process
/// that has it ends.
fn memory() -> io::Result<File> {
    #[cfg(target_os = "linux")]
    return Ok(rustix::fs::memfd_create("said", rustix::fs::MemfdFlags::CLOEXEC)?.into());
    #[cfg(not(target_os = "linux"))]
    tempfile::tempfile()
}

/// Waits for the end of a JVM. Kills one that takes too long; then there is no status.
fn wait(child: &mut Child, limit: TimeLimit) -> io::Result<Option<ExitStatus>> {
    let started = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if limit.is_exceeded_since(started) => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            None => std::thread::sleep(TimeLimit::POLL),
        }
    }
}

/// The first lines of its output, errors first.
fn gist(said: [File; 2]) -> io::Result<String> {
    let mut bytes = Vec::new();
    for mut file in said {
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(5).collect();
    Ok(lines.join("; "))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use cct_test_classes::executable;

    use super::*;

    /// An image whose `java` is a script.
    fn image(script: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("bin")).unwrap();
        let java = folder.path().join("bin/java");
        executable::script(&java, script).unwrap();
        folder
    }

    fn run(script: &str) -> Result<(), JvmError> {
        let image = image(script);
        let jvm = Jvm {
            image: image.path(),
            java_home: Path::new(""),
            arguments: &["-version"],
            limit: TimeLimit::of("60").unwrap(),
            remedy: "mend it",
        };
        jvm.run()
    }

    #[test]
    fn output_of_the_jvm_is_in_the_error() {
        run("exit 0").unwrap();
        let error = run("echo out; echo err >&2; exit 3").unwrap_err().to_string();
        assert_eq!(error, "the image's `java -version` fails (exit status: 3): err; out");
    }

    #[test]
    fn a_jvm_that_takes_too_long_is_killed() {
        let image = image("echo begins; exec sleep 600");
        let mut child = Command::new(image.path().join("bin/java")).stdout(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        let limit = TimeLimit::of("1").unwrap();
        assert_eq!(wait(&mut child, limit).unwrap(), None);
        assert!((Duration::from_secs(1)..Duration::from_secs(60)).contains(&started.elapsed()));
        assert!(child.try_wait().unwrap().is_some());
    }
}
