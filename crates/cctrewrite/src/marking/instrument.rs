//! `cctrewrite instrument --tool markers`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};
use cct_archive::Layout;
use cct_build::pending_file::PendingFile;

use super::all::{Manner, mark_all};
use super::{JAR, Wanted, jar, tables_of};
use crate::args::Instrument;
use crate::exit::say;
use crate::inputs::BadClasses;
use crate::instrument::lone;
use crate::instrument::opened::{Opened, say_missing};
use crate::instrument::targets::Targets;
use crate::marking::above::world;
use crate::progress::Progress;

/// Runs the command.
pub fn instrument(arguments: &Instrument) -> Result<()> {
    arguments.choices.check_marking()?;
    for (given, option) in [
        (arguments.if_changed, "--if-changed"),
        (arguments.report.is_some(), "--report"),
        (arguments.manifest, "--manifest"),
        (arguments.udi.udi.is_some(), "--udi"),
    ] {
        if given {
            bail!("{option} does not go together with --tool markers yet; leave it out");
        }
    }
    let wanted = Wanted::of(&arguments.choices)?;
    let Opened { sources, named, left_out } = Opened::of(arguments)?;
    for input in &sources.inputs {
        if input.layout() != Layout::Plain && !arguments.patches {
            bail!(
                "{}: with --tool markers the class library of a JDK from 9 on becomes patches: give --patches, or make a whole JDK by `cctrewrite jdk`",
                input.path().display()
            );
        }
    }
    let targets = Targets::new(&arguments.output, &sources, &named, arguments.patches)?;
    for notice in lone::check(&sources.inputs, &targets.list, arguments.if_changed)? {
        say(&notice);
    }
    let progress = Progress::counting("looking at classes", !arguments.quiet);
    let world = world(sources.inputs.iter().chain(&sources.libraries))?;
    drop(progress);
    let manner = Manner {
        bad: if arguments.keep_bad_classes { BadClasses::Keep } else { BadClasses::Refuse },
        level: arguments.level,
        patches: arguments.patches,
        lines: Some(wanted.lines()),
        verify: arguments.verify,
        options: None,
    };
    let mut done = mark_all(&wanted, &world, &sources.inputs, &targets.list, &manner)?;
    done.check()?;
    let jar = jar()?;
    // What manifests name has it from there.
    let given = &targets.list[..targets.list.len() - named.len()];
    let folders: BTreeSet<&Path> = given.iter().filter_map(|target| target.path().parent()).collect();
    let mut beside = Vec::new();
    for folder in folders {
        beside.push(PendingFile::write(&folder.join(JAR), |out| Ok(out.write_all(&jar)?))?);
    }
    if let Some(tables) = wanted.tables() {
        for target in &targets.list {
            let path = tables_of(target.path());
            beside.push(PendingFile::write(&path, |out| Ok(out.write_all(tables.as_bytes())?))?);
        }
    }
    for output in std::mem::take(&mut done.outputs) {
        output.commit()?;
    }
    for file in beside {
        file.commit()?;
    }
    if !arguments.quiet {
        say_missing(&left_out, &targets.list);
    }
    targets.keep();
    done.warn();
    if !arguments.quiet {
        for line in done.tally.lines(&wanted.rules) {
            say(&line);
        }
        if let Some(checked) = done.checked() {
            say(&checked);
        }
        say(&format!("{}; run with the options of `cctrewrite flags`", done.totals()));
    }
    Ok(())
}
