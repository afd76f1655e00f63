//! `report --html`: a page for browsers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_build::pending_file::PendingFile;
use cct_export::html::{Page, PageLibrary, PageOptions, ProfileFacts};
use cct_profile::labels::By;
use cct_profile::origin::Origins;
use cct_profile::report::header_lines;
use cct_profile::{Method, Metric, Profile, Summary};

use crate::args::{Library, Report};
use crate::exit::{self, Outcome};
use crate::info_command;
use crate::profile_file::{ReadOptions, check_stdin, read, read_sum, shown};
use crate::report_command::report_contents::names;

/// The path of the page; `None` if the user wants none.
pub fn output(arguments: &Report) -> Result<Option<PathBuf>> {
    match (&arguments.html, arguments.open) {
        (Some(output), true) if output == Path::new("-") => {
            bail!("--open needs a file; name one with --html, or leave --html out")
        }
        (Some(output), _) => Ok(Some(output.clone())),
        (None, false) => Ok(None),
        (None, true) => {
            let name = arguments.profiles.iter().find_map(|profile| profile.file_stem());
            let name = name.filter(|name| *name != "-").unwrap_or("cctrewrite".as_ref());
            let mut file = name.to_owned();
            file.push(".html");
            Ok(Some(PathBuf::from(file)))
        }
    }
}

/// Writes the page.
pub fn run(arguments: &Report, output: &Path, origins: &Origins) -> Result<Outcome> {
    check(arguments, output)?;
    let view = super::view(arguments);
    let mut reading = ReadOptions::new(&arguments.parts, view)?;
    // The page collapses the library itself, by labels: those of methods and classes are of one.
    let asked = match By::from(arguments.by) {
        By::Method | By::Class => reading.library.take(),
        _ => None,
    };
    let is_collapsed = asked.is_some();
    let library = asked.unwrap_or_else(Library::jdk);
    let (new, damage) = read_sum(&arguments.profiles, &reading)?;
    let base = arguments.diff.as_deref().map(|base| reading.of(read(base)?)).transpose()?;
    let damaged = !damage.is_empty() || base.as_ref().is_some_and(|base| !base.damage.is_empty());
    let files: Vec<String> = arguments.profiles.iter().map(|path| shown(path)).collect();
    let files = files.join(", ");
    let about = match (&base, &arguments.diff) {
        (Some(base), Some(file)) => {
            vec![about(&format!("NEW: {files}"), &new), about(&format!("BASE: {}", shown(file)), base)]
        }
        _ => vec![about(&files, &new)],
    };
    let is_library = |method: &Method| library.has(method);
    let library = PageLibrary { is_library: &is_library, which: library.which(), is_collapsed };
    let page = Page::new(new, base, about, origins, library, &options(arguments)).with_context(|| files)?;
    for what in &page.differing {
        exit::say(&format!("cctrewrite: warning: {what}"));
    }
    for pattern in &page.unmatched {
        let pattern = cct_build::text::readable(pattern.as_bytes());
        exit::say(&format!("cctrewrite: no method matches --drop '{pattern}'"));
    }
    if let Some(pruning) = &page.pruning {
        exit::say(&format!("cctrewrite: {pruning}"));
    }
    if output == Path::new("-") {
        exit::to_stdout(|out| page.write(out))?;
    } else {
        PendingFile::write(output, |out| page.write(out))?.commit()?;
    }
    if arguments.open {
        let path = fs::canonicalize(output).with_context(|| format!("cannot find {}", output.display()))?;
        open::that_detached(&path).with_context(|| {
            format!("{} was written, but no browser can be started; open the file yourself", output.display())
        })?;
        exit::say(&format!("{}: opened in the browser", output.display()));
    }
    Ok(if damaged { Outcome::Damaged } else { Outcome::Complete })
}

/// Refuses arguments that contradict each other.
fn check(arguments: &Report, output: &Path) -> Result<()> {
    if By::from(arguments.by) == By::Thread {
        bail!("a page always shows threads separately; use --by thread with another format");
    }
    let inputs = || arguments.profiles.iter().chain(&arguments.diff);
    check_stdin(inputs())?;
    if let Ok(place) = fs::canonicalize(output)
        && let Some(input) = inputs().find(|input| fs::canonicalize(input).is_ok_and(|input| input == place))
    {
        bail!("the output would replace the input {}", input.display());
    }
    Ok(())
}

fn options(arguments: &Report) -> PageOptions {
    let selection = &arguments.selection;
    let thread = selection.thread.iter().map(|thread| format!("threads '{thread}'"));
    PageOptions {
        selection: selection.selection(),
        selected: thread.chain(selection.in_words()).collect(),
        by: arguments.by.into(),
        names: names(arguments),
        metric: arguments.metric.map(Metric::from),
        fold_recursion: arguments.fold_recursion,
        most_contexts: arguments.max_contexts,
    }
}

/// The facts about a profile, as `info` shows them.
fn about(name: &str, profile: &Profile) -> ProfileFacts {
    let summary = Summary::of(profile);
    let facts = header_lines(&summary, &info_command::facts(&summary));
    let mut trees = info_command::trees(&summary).into_iter().map(|row| row.to_vec());
    ProfileFacts {
        name: cct_build::text::readable(name.as_bytes()),
        facts: facts.into_iter().map(|(key, text)| (key.to_owned(), text)).collect(),
        head: trees.next().unwrap_or_default(),
        trees: trees.collect(),
    }
}
