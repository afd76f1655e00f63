//! `cctrewrite jdk`: makes a profiled JDK by [`cct_build::image`] (docs/reference/images.md).

mod check;

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cct_build::image::check::{Archives, Finding, forget_stamp, in_full};
use cct_build::image::home::Home;
use cct_build::image::plan::Plan;
use cct_build::image::tree::{CopyMode, Tree};
use cct_build::image::workshop::{Place, Workshop};
use cct_build::image::{copying, permissions};
use cct_build::observer::Observer;
use cct_build::pending_file::PendingFile;
use cct_build::threads::with_threads;
use cct_image::record;

use crate::args;
use crate::exit::to_stdout;

/// Runs the command.
pub fn run(arguments: &args::Jdk) -> Result<()> {
    with_threads(arguments.threads, || if arguments.check { check::run(arguments) } else { make(arguments) })
}

fn make(arguments: &args::Jdk) -> Result<()> {
    let started = Instant::now();
    let terminal = arguments.verbosity.terminal();
    let request = arguments.request()?;
    let plan = Plan::new(&request)?;
    let place = arguments.output.as_ref().map(|path| Place::new(path, &plan.home.path)).transpose()?;
    let report = arguments.report.as_deref();
    if let Some(report) = report.filter(|report| report.is_dir()) {
        bail!("report {} is a folder; name a file", report.display());
    }
    let Some(cache) = &request.cache else {
        // clap requires an output if there is no cache.
        let place = place.context("no --output")?;
        let workshop = Workshop::open(place.parent())?;
        let made = plan.build(&workshop.image(), &terminal)?;
        let report = report.map(|path| made.summary.write_report(path)).transpose()?.flatten();
        workshop.deliver(&place)?;
        report.map(PendingFile::commit).transpose()?;
        return Ok(plan.say_made(&made, place.path(), started, &terminal)?);
    };

    let (slot, made) = plan.fill_slot(cache, &terminal)?;
    let report = report.map(|path| copy_of_report(&slot.path, &plan.home, path)).transpose()?;
    if let Some(place) = &place {
        let workshop = Workshop::open(place.parent())?;
        copy_out(&slot.path, &workshop.image(), request.copy_mode, &terminal)?;
        workshop.deliver(place)?;
    }
    report.map(PendingFile::commit).transpose()?;
    let path = place.as_ref().map_or(&*slot.path, Place::path);
    match made {
        Some(made) => plan.say_made(&made, path, started, &terminal)?,
        None => terminal.note(&format!("{}: taken from the cache ({})", path.display(), plan.key)),
    }
    match place {
        Some(_) => Ok(()),
        None => to_stdout(|out| writeln!(out, "{}", path.display())),
    }
}

/// Copies an image out of the cache, and checks the copy in full.
fn copy_out(image: &Path, to: &Path, mode: CopyMode, observer: &dyn Observer) -> Result<()> {
    copying::copy(&Tree::list(image)?, to, mode, observer)?;
    permissions::forbid_others_to_write(to)?;
    match in_full(to, Archives::Fixed)? {
        Finding::Damaged(damage) => {
            forget_stamp(image);
            bail!("{damage}, and so has the image in the cache; run the command again to make that one again")
        }
        Finding::Sound { .. } | Finding::NoManifest => Ok(()),
    }
}

/// A copy of the completeness report that an image in the cache carries, to be committed.
fn copy_of_report(image: &Path, home: &Home, path: &Path) -> Result<PendingFile> {
    let file = image.join(home.own_folder()).join(record::COMPLETENESS);
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(PendingFile::write(path, |out| out.write_all(&bytes))?)
}
