//! Renamed options. The earlier names still work, and a note says the current one.

use clap::ArgMatches;
use clap::parser::ValueSource;

/// Earlier names, each with its current names. A command has at most one of these.
const RENAMED: &[(&str, &[&str])] = &[("ignore", &["drop", "except"])];

/// A note for each earlier name on the command line.
pub fn notes(matches: &ArgMatches) -> Vec<String> {
    let Some((command, matches)) = matches.subcommand() else { return Vec::new() };
    let has = |name: &str| matches.try_contains_id(name).is_ok();
    let is_given = |name: &str| has(name) && matches.value_source(name) == Some(ValueSource::CommandLine);
    let given = RENAMED.iter().filter(|(before, _)| is_given(before));
    given
        .filter_map(|(before, now)| {
            let now = now.iter().find(|name| has(name))?;
            Some(format!("note: --{before} of `cctrewrite {command}` is called --{now} now"))
        })
        .collect()
}
