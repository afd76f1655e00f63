//! The groups of commands in `cctrewrite --help`.

use std::fmt::Write;

use clap::Command;

/// Headings and their commands, the most needed ones first.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Commands", &["run", "report", "view", "diff", "export", "bench", "top"]),
    ("Build", &["jdk", "instrument", "flags", "explain", "verify", "cache", "api"]),
    ("Research", &["trace", "pcc", "markers", "typestate", "compare"]),
    ("Maintenance", &["doctor", "info", "merge", "recover", "snapshot", "config", "completions", "man"]),
];

/// The template of the help. clap by itself would list all commands below one heading.
pub fn template(command: &Command) -> String {
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    let longest = command.get_subcommands().map(|command| command.get_name().len()).max().unwrap_or_default();
    for (heading, names) in GROUPS {
        let _ = write!(text, "\n{heading}:\n");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:longest$}  {about}");
        }
    }
    text.push_str("\nOptions:\n{options}{after-help}");
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Arguments;

    #[test]
    fn each_command_is_in_one_group() {
        let mut named: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let command = Arguments::command();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        named.sort_unstable();
        commands.sort_unstable();
        assert_eq!(named, commands);
    }
}
