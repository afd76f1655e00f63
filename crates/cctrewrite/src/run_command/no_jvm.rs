//! Why a command has started no JVM that records, as far as that can be found out after its end.
//!
//! A JVM registers ([`super::collection`]) when it loads the load-time library. If it does not get
//! that far, it leaves no entry. Its own message goes to the command's standard error, which `run`
//! does not read. So `run` tries to start a JVM of the image ([`Probe`]). If the image works, the
//! cause lies in the command.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Result;
use cct_private::PrivateFolder;
use cct_profile::collection::{VARIABLE, entries};

/// Variables from which JVMs read options.
const OPTION_VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// Options of launchers whose value is the next argument.
const WITH_VALUES: [&str; 9] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "-d",
    "--describe-module",
];

/// Options that switch recording off.
const SWITCHED_OFF: [&str; 2] = ["-Dcctrewrite.record=off", "-Dcctrewrite.loadtime="];

/// How long a JVM of the image may take to start and end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A command that has ended and started no JVM that records.
pub struct Silent<'c> {
    /// The command.
    pub command: &'c OsStr,
    /// Its arguments.
    pub arguments: &'c [OsString],
    /// Whether it is a tool of the image itself, so that no other JDK can be involved.
    pub is_tool: bool,
    /// Its exit code.
    pub code: u8,
    /// The image.
    pub home: &'c Path,
}

impl Silent<'_> {
    /// What happened and what to do, on one line. `jdk` is the image's name in the message.
    pub fn explained(&self, jdk: &str) -> String {
        let (command, home) = (Path::new(self.command).display(), self.home.display());
        if let Some(option) = self.options().find(|option| SWITCHED_OFF.contains(&&**option)) {
            return format!("{command} records nothing because of {option}; leave that option out");
        }
        match Fault::of(self.home) {
            Some(Fault::Image(said)) => format!(
                "the {jdk} {home} does not work ({said}); remove its folder, and make it again \
                 with `cctrewrite jdk` (`cctrewrite run` makes images of the cache)"
            ),
            Some(Fault::Variables(names, said)) => {
                format!(
                    "the {jdk} {home} does not work with the options in {names} ({said}); change or unset it"
                )
            }
            None if self.is_tool => self.of_tool(),
            None => self.of_command(jdk),
        }
    }

    /// The explanation if the image works and the command is no tool of it: it starts none, or by a
    /// path of its own, or its JVM refused an option.
    fn of_command(&self, jdk: &str) -> String {
        let (command, home) = (Path::new(self.command).display(), self.home.display());
        format!(
            "{command} started no JVM of the {jdk} {home}; start java by PATH or JAVA_HOME, and \
             look for a JVM's message above"
        )
    }

    /// The explanation if the image works and the command is one of its tools.
    fn of_tool(&self) -> String {
        let (command, code) = (Path::new(self.command).display(), self.code);
        let options: Vec<String> = self.options().collect();
        match (code, options.is_empty()) {
            (0, _) => format!("{command} ended with exit code 0 and started no JVM that records"),
            (_, false) => format!(
                "{command} ended with exit code {code} before its JVM recorded anything; see its \
                 message above, and check its options: {}",
                options.join(" ")
            ),
            (_, true) => {
                format!(
                    "{command} ended with exit code {code} before its JVM recorded anything; see \
                     its message above"
                )
            }
        }
    }

    /// The options of the JVM on the command line, without their values.
    fn options(&self) -> impl Iterator<Item = String> {
        let mut skips = false;
        let words = self.arguments.iter().map(|word| word.to_string_lossy());
        let options = words.take_while(move |word| {
            let is_value = std::mem::replace(&mut skips, WITH_VALUES.contains(&&**word));
            is_value || word.starts_with(['-', '@'])
        });
        let is_option = |word: &std::borrow::Cow<'_, str>| {
            word.starts_with(['-', '@']) && !WITH_VALUES.contains(&&**word) && *word != "-jar"
        };
        options.filter(is_option).map(std::borrow::Cow::into_owned)
    }
}

/// What keeps an image from starting JVMs.
enum Fault {
    /// The image itself, with the JVM's message.
    Image(String),
    /// Options in these variables, with the JVM's message.
    Variables(String, String),
}

impl Fault {
    /// The fault of an image; `None` if it works, or cannot be tried.
    fn of(home: &Path) -> Option<Fault> {
        let with = Probe::of(home, &[]).ok()?;
        if with.has_entered {
            return None;
        }
        let set: Vec<&str> =
            OPTION_VARIABLES.into_iter().filter(|name| std::env::var_os(name).is_some()).collect();
        if !set.is_empty() && Probe::of(home, &set).is_ok_and(|without| without.has_entered) {
            return Some(Fault::Variables(set.join(", "), with.said));
        }
        Some(Fault::Image(with.said))
    }
}

/// A trial start of a JVM of an image.
struct Probe {
    has_entered: bool,
    said: String,
}

impl Probe {
    /// Starts and ends a JVM without these variables.
    fn of(home: &Path, without: &[&str]) -> Result<Probe> {
        let folder = tempfile::tempdir()?;
        let said = folder.path().join("said");
        let file = File::create(&said)?;
        let mut java = Command::new(home.join("bin/java"));
        java.arg("-version").current_dir(folder.path());
        java.env("JAVA_HOME", home).env(VARIABLE, folder.path());
        for name in without {
            java.env_remove(name);
        }
        java.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let ended = match java.spawn() {
            Ok(mut child) => wait(&mut child)?,
            Err(error) => {
                let said = format!("bin/java cannot be started: {error}");
                return Ok(Probe { has_entered: false, said });
            }
        };
        let has_entered = !entries(&PrivateFolder::open(folder.path())?)?.is_empty();
        let said = String::from_utf8_lossy(&fs::read(said)?).into_owned();
        Ok(Probe { has_entered, said: gist(&said, ended) })
    }
}

/// Waits for the end of a JVM. Kills a JVM that takes too long, and returns `None` for it.
fn wait(child: &mut std::process::Child) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait()? {
            Some(status) => return Ok(Some(status)),
            None if Instant::now() > deadline => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// The useful part of a JVM's output: a line of the runtime, or else the first two lines. The first
/// line of a JVM's message often lacks the cause.
fn gist(said: &str, ended: Option<ExitStatus>) -> String {
    let lines =
        || said.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("Picked up "));
    let ours = lines().find_map(|line| line.strip_prefix("cctrewrite: "));
    let first: Vec<&str> = lines().take(2).collect();
    match (ours, first.is_empty(), ended) {
        (_, _, None) => "its java did not end".to_owned(),
        (Some(line), ..) => line.to_owned(),
        (None, false, Some(status)) if !status.success() => first.join("; "),
        (None, _, Some(status)) if status.success() => "its java runs and does not record".to_owned(),
        (None, _, Some(status)) => format!("its java printed nothing: {status}"),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    #[test]
    fn options_of_the_jvm_are_those_before_the_main_class() {
        let options = |words: &[&str]| {
            let arguments: Vec<OsString> = words.iter().map(Into::into).collect();
            let home = Path::new("");
            let silent =
                Silent { command: OsStr::new("java"), arguments: &arguments, is_tool: true, code: 1, home };
            silent.options().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(options(&["-Xmx2m", "-cp", "a:b", "-XX:+Foo", "Main", "-x"]), "-Xmx2m -XX:+Foo");
        assert_eq!(options(&["@file", "-jar", "app.jar", "-Xmx1m"]), "@file");
        assert_eq!(options(&[]), "");
    }

    #[test]
    fn a_command_without_a_jvm_gets_a_short_message() {
        let home = Path::new("/cache/images/1");
        let silent = Silent { command: OsStr::new("true"), arguments: &[], is_tool: false, code: 0, home };
        let text = format!("cctrewrite: {}", silent.of_command("profiled JDK"));
        assert!(text.contains("true started no JVM of the profiled JDK /cache/images/1; start java by"));
        assert!(text.split(' ').count() <= 25, "{text}");
    }

    #[test]
    fn the_gist_is_the_runtimes_line_or_the_first() {
        let failed = Some(ExitStatus::from_raw(1 << 8));
        let said = "Picked up JAVA_TOOL_OPTIONS: -Xx\n\nError: no\ncctrewrite: no index\n";
        assert_eq!(gist(said, failed), "no index");
        assert_eq!(
            gist("Picked up JAVA_TOOL_OPTIONS: -Xx\nError: no\nmore\nagain\n", failed),
            "Error: no; more"
        );
        assert_eq!(gist("", failed), "its java printed nothing: exit status: 1");
        assert_eq!(gist("openjdk 17\n", Some(ExitStatus::from_raw(0))), "its java runs and does not record");
        assert_eq!(gist("x", None), "its java did not end");
    }
}
