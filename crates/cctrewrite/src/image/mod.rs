//! `cctrewrite jdk`: a profiled JDK (docs/reference/images.md).
//!
//! The files of a home are listed ([`tree`](cct_build::image::tree)) and copied; its class library
//! is rewritten ([`class_library`]), the options that exact numbers need are built in
//! ([`options`]), and the image says what it is ([`Record`](cct_image::Record)). All this happens
//! in a temporary folder ([`workshop`](cct_build::image::workshop)) that takes its place in the
//! end, or in the cache ([`cache`](cct_build::image::cache)).

mod check_command;
mod class_library;
mod copying;
mod key;
mod options;
pub(crate) mod order;
pub mod prune;
mod use_of_image;

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use cct_build::image::{check, permissions};
use cct_image::record;

use crate::args;
use crate::exit::{say, to_stdout};
use crate::image::order::Order;
use crate::instrument::with_threads;
use cct_build::image::home::Home;
use cct_build::image::tree::{Manner, Tree};
use cct_build::pending_file::PendingFile;
use class_library::Made;

use cct_build::image::workshop::{Place, Workshop};

pub use use_of_image::{ImageInUse, of_home};

/// Runs the command.
pub fn run(arguments: &args::Jdk) -> Result<()> {
    with_threads(arguments.threads, || {
        if arguments.check { check_command::run(arguments) } else { make(arguments) }
    })
}

fn make(arguments: &args::Jdk) -> Result<()> {
    let started = Instant::now();
    let order = Order::new(arguments)?;
    let place = arguments.output.as_ref().map(|path| Place::new(path, &order.home.path)).transpose()?;
    let report = arguments.report.as_deref();
    if let Some(report) = report.filter(|report| report.is_dir()) {
        bail!("report {} is a folder; name a file", report.display());
    }
    let Some(cache) = &arguments.cache else {
        // Without a cache there is an output, says clap.
        let place = place.context("no --output")?;
        let workshop = Workshop::open(place.parent())?;
        let made = order.build(&workshop.image())?;
        let report = report.map(|path| made.summary.write_report(path)).transpose()?.flatten();
        workshop.deliver(&place)?;
        report.map(PendingFile::commit).transpose()?;
        return order.say_made(&made, place.path(), started);
    };

    let (slot, made) = order.fill_slot(cache.as_deref())?;
    let report = report.map(|path| copy_of_report(&slot.path, &order.home, path)).transpose()?;
    if let Some(place) = &place {
        let workshop = Workshop::open(place.parent())?;
        copy_out(&slot.path, &workshop.image(), order.manner, arguments.quiet)?;
        workshop.deliver(place)?;
    }
    report.map(PendingFile::commit).transpose()?;
    let path = place.as_ref().map_or(&*slot.path, Place::path);
    match made {
        Some(made) => order.say_made(&made, path, started)?,
        None if arguments.quiet => {}
        None => say(&format!("{}: made before ({}); taken from the cache", path.display(), order.key)),
    }
    match place {
        Some(_) => Ok(()),
        None => to_stdout(|out| writeln!(out, "{}", path.display())),
    }
}

/// Copies an image out of the cache. The copy is checked in full.
fn copy_out(image: &Path, to: &Path, manner: Manner, quiet: bool) -> Result<()> {
    copying::copy(&Tree::list(image)?, to, manner, quiet)?;
    permissions::forbid_others_to_write(to)?;
    match check::in_full(to, check::Archives::Fixed)? {
        check::Finding::Damaged(damage) => {
            check::forget_stamp(image);
            bail!("{damage}, and so has the image in the cache; run the command again, which makes that anew")
        }
        check::Finding::Sound { .. } | check::Finding::NoManifest => Ok(()),
    }
}

/// The completeness report that an image in the cache carries.
fn copy_of_report(image: &Path, home: &Home, path: &Path) -> Result<PendingFile> {
    let file = image.join(home.own_folder()).join(record::COMPLETENESS);
    let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
    PendingFile::write(path, |out| Ok(out.write_all(&bytes)?))
}
