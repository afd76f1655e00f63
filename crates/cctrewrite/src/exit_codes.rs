//! The exit codes of all commands. One table serves `--help`, manual pages,
//! docs/reference/command.md and the code of a failure.

use std::fmt::Write;

/// Exit codes of one or several commands.
#[derive(Debug)]
pub struct ExitCodes {
    /// The commands.
    pub commands: &'static [&'static str],
    /// The code after a failure that the command reports itself.
    pub failure: u8,
    /// Codes and their meanings.
    pub meanings: &'static [(&'static str, &'static str)],
}

/// The exit code of clap.
const USAGE: (&str, &str) = ("2", "the command line is wrong");

/// A wrong configuration counts as a wrong command line.
pub static CONFIGURATION: ExitCodes = ExitCodes { commands: &[], failure: 2, meanings: &[USAGE] };

/// Commands that either succeed or fail.
pub static WORK: ExitCodes = ExitCodes {
    commands: &[
        "instrument",
        "flags",
        "jdk",
        "cache",
        "explain",
        "api",
        "trace",
        "pcc",
        "markers",
        "config",
        "completions",
        "man",
    ],
    failure: 1,
    meanings: &[
        ("0", "success"),
        ("1", "the command failed and wrote nothing; the message gives the reason"),
        USAGE,
    ],
};

/// Commands that use the sound part of a damaged input.
pub static PROFILES: ExitCodes = ExitCodes {
    commands: &["report", "info", "merge", "export", "snapshot", "top", "recover"],
    failure: 1,
    meanings: &[
        ("0", "success"),
        ("1", "the command failed and wrote nothing; the message gives the reason"),
        USAGE,
        ("3", "an input is damaged or incomplete; the output has its sound part"),
    ],
};

/// The codes of `view`.
pub static VIEW: ExitCodes = ExitCodes {
    commands: &["view"],
    failure: 2,
    meanings: &[
        ("0", "the user has ended it"),
        ("2", "the command line is wrong, there is no terminal, or the files cannot be read or compared"),
        ("3", "the user has ended it, and an input is damaged or incomplete"),
    ],
};

/// The codes of `compare`, which follow diff(1).
pub static COMPARE: ExitCodes = ExitCodes {
    commands: &["compare"],
    failure: 2,
    meanings: &[
        ("0", "equal: the same contexts and counts"),
        ("1", "different"),
        ("2", "the command line is wrong, or the files cannot be read or compared"),
        ("3", "an input is damaged or incomplete"),
    ],
};

/// The codes of `diff`.
pub static DIFF: ExitCodes = ExitCodes {
    commands: &["diff"],
    failure: 2,
    meanings: &[
        ("0", "no limit is given, or none is exceeded"),
        ("1", "a limit (--fail-above, --fail-method-above) is exceeded"),
        ("2", "the command line is wrong, or the files cannot be read or compared"),
        ("3", "an input is damaged or incomplete, whatever the limits"),
    ],
};

/// The codes of `bench`.
pub static BENCH: ExitCodes = ExitCodes {
    commands: &["bench"],
    failure: 2,
    meanings: &[
        ("0", "no entry grew by more than the limit"),
        ("1", "an entry did, is not in the baseline, or differs between two JVMs"),
        ("2", "the command line is wrong, there is no baseline, or an entry cannot be run"),
    ],
};

/// The codes of `verify`.
pub static VERIFY: ExitCodes = ExitCodes {
    commands: &["verify"],
    failure: 2,
    meanings: &[
        ("0", "no finding"),
        ("1", "at least one finding"),
        ("2", "the command line is wrong, or the files cannot be read"),
    ],
};

/// The codes of `doctor`.
pub static DOCTOR: ExitCodes = ExitCodes {
    commands: &["doctor"],
    failure: 2,
    meanings: &[
        ("0", "no fault"),
        ("1", "at least one fault; each has a remedy"),
        ("2", "the command line is wrong, or the output cannot be written"),
    ],
};

/// The codes of `typestate`.
pub static TYPESTATE: ExitCodes = ExitCodes {
    commands: &["typestate"],
    failure: 2,
    meanings: &[
        ("0", "success; `report` found no violation"),
        ("1", "`report` found at least one violation"),
        ("2", "the command line is wrong, or the command failed"),
        ("3", "for `report`: the report is truncated, without a violation so far"),
    ],
};

/// The codes of `run`, which follow env(1).
pub static RUN: ExitCodes = ExitCodes {
    commands: &["run"],
    failure: 125,
    meanings: &[
        ("N", "the command's own exit code; 128 + N if signal N ended it"),
        USAGE,
        ("125", "the command's exit code was 0 but a profile is missing, or cctrewrite itself failed"),
        ("126", "the command cannot be started"),
        ("127", "the command is not found"),
    ],
};

/// The exit codes of all commands, in the order of docs/reference/command.md.
static ALL: [&ExitCodes; 10] =
    [&WORK, &PROFILES, &VIEW, &COMPARE, &DIFF, &BENCH, &VERIFY, &TYPESTATE, &DOCTOR, &RUN];

/// The heading of exit codes in help texts.
pub const HEAD: &str = "Exit codes:\n";

impl ExitCodes {
    /// The exit codes of a command.
    pub fn of(command: &str) -> Option<&'static ExitCodes> {
        ALL.into_iter().find(|codes| codes.commands.contains(&command))
    }

    /// The section on exit codes in a command's help.
    pub fn help(&self) -> String {
        let mut text = HEAD.to_owned();
        for (code, meaning) in self.meanings {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {code:<3}  {meaning}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of docs/reference/command.md.
    fn markdown() -> String {
        let mut text = "| command | exit code | |\n|---|---|---|\n".to_owned();
        for codes in ALL {
            let mut commands =
                codes.commands.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            for (code, meaning) in codes.meanings {
                text += &format!("| {commands} | {code} | {meaning} |\n");
                commands.clear();
            }
        }
        text.replace("|  |", "| |")
    }

    #[test]
    fn the_manual_has_the_table() {
        let page = include_str!("../../../docs/reference/command.md");
        assert!(page.contains(&markdown()), "docs/reference/command.md should have:\n{}", markdown());
    }

    #[test]
    fn each_command_has_its_exit_codes_once() {
        for command in crate::args::command().get_subcommands() {
            let found = ALL.iter().filter(|codes| codes.commands.contains(&command.get_name())).count();
            assert_eq!(found, 1, "{}", command.get_name());
        }
        let listed: usize = ALL.iter().map(|codes| codes.commands.len()).sum();
        assert_eq!(listed, crate::args::command().get_subcommands().count());
    }

    #[test]
    fn failures_are_in_the_table() {
        for codes in ALL {
            assert!(codes.meanings.iter().any(|(code, _)| *code == codes.failure.to_string()), "{codes:?}");
        }
    }
}
