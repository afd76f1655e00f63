//! The configuration file, `cctrewrite.toml`: options that a user always wants
//! (docs/reference/configuration.md).
//!
//! A table of the file has the name of a command, and its keys are the names of options. Options of
//! the file precede those of the command line, which win.
//!
//! A file in the current folder may be part of somebody else's project. So options that run code,
//! or say where something is written, are accepted only from a file that the user names
//! (`--config`).

mod file;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, Command};

pub use file::Table;

/// Name of the file that is looked for in the current folder.
pub const NAME: &str = "cctrewrite.toml";

/// The option that names another file.
const OPTION: &str = "--config";

/// Options that run code, name what is run, or say where something is written.
const TRUSTED_ONLY: [&str; 17] = [
    "output",
    "html",
    "history",
    "summary",
    "open",
    "jdk",
    "cache",
    "java-option",
    "udi",
    "udi-java",
    "client",
    "client-path",
    "marker-control",
    "profiles",
    "report",
    "baseline",
    "repair",
];

/// A configuration and the file that it comes from.
#[derive(Debug)]
pub struct Configuration {
    /// The file.
    pub path: PathBuf,
    /// Whether the user named it.
    is_named: bool,
    /// Its tables, in order.
    pub tables: Vec<Table>,
}

/// The place of the command on a command line, and the configuration file named before it.
struct Line {
    config: Option<PathBuf>,
    /// Position of the command.
    at: usize,
}

impl Line {
    /// Finds the command on a command line. `None` if there is none.
    fn of(words: &[OsString]) -> Option<Line> {
        let mut config = None;
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.to_string_lossy();
            if text == OPTION {
                config = words.get(at + 1).map(PathBuf::from);
                at += 2;
            } else if let Some(path) = text.strip_prefix(OPTION).and_then(|rest| rest.strip_prefix('=')) {
                config = Some(PathBuf::from(path));
                at += 1;
            } else if text.starts_with('-') {
                at += 1;
            } else {
                return Some(Line { config, at });
            }
        }
        None
    }
}

/// A command line with the configured options inserted after the command.
///
/// # Errors
/// Fails if the file cannot be read, is not TOML, or names an option that the command does not
/// have.
pub fn expanded(words: Vec<OsString>, commands: &Command) -> Result<Vec<OsString>> {
    let Some(line) = Line::of(&words) else { return Ok(words) };
    let Some(configuration) = Configuration::find(line.config.as_deref())? else { return Ok(words) };
    configuration.check(commands)?;
    let command = words[line.at].to_string_lossy().into_owned();
    if has_subcommand(commands, &command, words.get(line.at + 1)) {
        return Ok(words);
    }
    let Some(table) = configuration.tables.iter().find(|table| table.command == command) else {
        return Ok(words);
    };
    let mut all: Vec<OsString> = words[..=line.at].to_vec();
    all.extend(table.words().map(OsString::from));
    all.extend_from_slice(&words[line.at + 1..]);
    Ok(all)
}

/// Whether the word after a command is a subcommand of it, which has options of its own.
fn has_subcommand(commands: &Command, command: &str, next: Option<&OsString>) -> bool {
    let command = commands.find_subcommand(command);
    command.zip(next).is_some_and(|(command, next)| command.find_subcommand(next).is_some())
}

/// The option `--config` for the command line.
pub fn argument() -> Arg {
    Arg::new("config")
        .long("config")
        .value_name("FILE.toml")
        .action(ArgAction::Set)
        .help("Read options from this file [default: cctrewrite.toml in the current folder, if it exists]")
}

impl Configuration {
    /// The named file, or the one in the current folder.
    ///
    /// # Errors
    /// Fails if a named file does not exist, or if the file cannot be read.
    pub fn find(named: Option<&Path>) -> Result<Option<Configuration>> {
        let path = named.unwrap_or(Path::new(NAME));
        if named.is_none() && !path.is_file() {
            return Ok(None);
        }
        let tables = file::read(path).with_context(|| path.display().to_string())?;
        Ok(Some(Configuration { path: path.to_path_buf(), is_named: named.is_some(), tables }))
    }

    /// Fails if a table or a key is unknown, or if an option must not come from this file.
    pub fn check(&self, commands: &Command) -> Result<()> {
        let shown = self.path.display();
        for Table { command: name, options } in &self.tables {
            let Some(command) = commands.find_subcommand(name) else {
                bail!("{shown}: [{name}] is not a command; `cctrewrite --help` lists all commands");
            };
            for (key, value) in options {
                let argument = command.get_arguments().find(|argument| argument.get_long() == Some(&**key));
                let Some(argument) = argument else {
                    bail!("{shown}: [{name}] {key}: `cctrewrite {name}` has no option --{key}");
                };
                if !self.is_named && TRUSTED_ONLY.contains(&&**key) {
                    bail!(
                        "{shown}: [{name}] {key} is ignored in a configuration file that was not \
                         named, since it runs code or names an output; give --{key} on the command \
                         line, or name the file: {OPTION} {shown}"
                    );
                }
                let takes_values = argument.get_action().takes_values();
                if takes_values == value.is_switch() {
                    let expected =
                        if takes_values { "a text, a number or a list of these" } else { "true or false" };
                    bail!("{shown}: [{name}] {key}: expected {expected}");
                }
            }
        }
        Ok(())
    }
}

/// `cctrewrite config`: the options that the configuration sets, as text.
pub fn show(named: Option<&OsStr>, commands: &Command) -> Result<String> {
    let Some(configuration) = Configuration::find(named.map(Path::new))? else {
        return Ok(format!("no configuration file: the current folder has no {NAME}\n"));
    };
    configuration.check(commands)?;
    let mut text = format!("{}:\n", configuration.path.display());
    for table in &configuration.tables {
        let words: Vec<String> = table.words().collect();
        text += &format!("  cctrewrite {} {}\n", table.command, words.join(" "));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn found(line: &str) -> Option<(Option<PathBuf>, usize)> {
        Line::of(&words(line)).map(|line| (line.config, line.at))
    }

    /// Options whose values name files or folders that are only read.
    const READ_ONLY: [&str; 11] = [
        "library",
        "markers",
        "typestate",
        "blocks",
        "cost-model",
        "classes",
        "class-path",
        "diff",
        "config",
        "sites",
        "mine-from",
    ];

    /// A new option that names a file or a folder must be in one of the two lists.
    #[test]
    fn options_with_paths_are_known_to_be_read_or_to_need_trust() {
        let commands = crate::args::command();
        let words = ["FILE", "PATH", "DIR", "FOLDER", "JAR", "OUT", "HOME", "BASE"];
        let mut seen = 0;
        for command in commands.get_subcommands() {
            for argument in command.get_arguments() {
                let names_path = if argument.get_action().takes_values() {
                    argument.get_value_names().unwrap_or_default()
                } else {
                    &[]
                };
                let names_path = names_path.iter().any(|name| words.iter().any(|word| name.contains(word)));
                let Some(long) = argument.get_long().filter(|_| names_path) else { continue };
                seen += 1;
                let is_known = TRUSTED_ONLY.contains(&long) || READ_ONLY.contains(&long);
                assert!(is_known, "--{long} of {} is on neither list", command.get_name());
            }
        }
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn a_subcommand_gets_no_options_of_its_command() {
        let commands = crate::args::command();
        let has = |command: &str, next: &str| has_subcommand(&commands, command, Some(&next.into()));
        assert!(has("bench", "history"));
        assert!(!has("bench", "app.A.b") && !has("run", "history"));
        assert!(!has_subcommand(&commands, "bench", None));
    }

    #[test]
    fn the_command_is_found_after_options() {
        assert_eq!(found("cctrewrite run -- java"), Some((None, 1)));
        assert_eq!(found("cctrewrite --config a.toml report x"), Some((Some("a.toml".into()), 3)));
        assert_eq!(found("cctrewrite --config=a.toml report x"), Some((Some("a.toml".into()), 2)));
        // Options after the command belong to the command.
        assert_eq!(found("cctrewrite run -- sh --config x"), Some((None, 1)));
        assert_eq!(found("cctrewrite --help"), None);
        assert_eq!(found("cctrewrite"), None);
    }
}
