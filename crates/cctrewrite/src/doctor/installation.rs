//! The command's libraries, its cache, and the environment variables that affect JVMs.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;
use cct_build::image::cache;
use cct_build::image::jvm::FROM_OUTSIDE;
use cct_build::image::prune;
use cct_build::load_time::{self, Source};
use cct_build::text::{counted, size, with_causes};

use super::page::{Page, Verdict};

/// Free space below which images do not fit: one takes 300 to 500 MB.
const SPACE: u64 = 1_000_000_000;

/// Lists the libraries and where they are.
pub fn libraries(page: &mut Page) -> Result<()> {
    page.heading("Libraries")?;
    for (name, source) in load_time::sources() {
        match source {
            Source::Installed(path) => page.line(Verdict::Good, &path.display().to_string())?,
            Source::Inside(_) => {
                let text = format!(
                    "{name} is embedded in this command, which unpacks it into its cache when needed"
                );
                page.line(Verdict::Good, &text)?;
            }
            Source::Missing => page.line(
                Verdict::Fault,
                &format!("{name} is not beside this command: install both from the same package"),
            )?,
        }
    }
    let text = format!("the code inside the JVM is in this command, compiled by {}", jdk_wrap::COMPILER);
    page.line(Verdict::Good, &text)
}

/// Checks the cache of images and the free space on its disk. Creates nothing.
pub fn cache(page: &mut Page) -> Result<()> {
    page.heading("Cache")?;
    let folder = match cache::default_folder() {
        Ok(folder) => folder,
        Err(error) => return page.line(Verdict::Fault, &error.to_string()),
    };
    let shown = folder.display();
    if folder.exists()
        && let Err(error) = cache::check_writers(&folder)
    {
        return page.line(Verdict::Fault, &with_causes(&error));
    }
    match prune::list(&folder) {
        Ok(images) => {
            let bytes: u64 = images.iter().map(|image| image.size).sum();
            let images = counted(images.len() as u64, "image");
            page.line(Verdict::Good, &format!("{shown}: {images}, {}", size(bytes)))?;
        }
        Err(error) => page.line(Verdict::Fault, &with_causes(&error))?,
    }
    let Some(free) = free_space(&folder) else { return Ok(()) };
    let free_size = size(free);
    if free < SPACE {
        let text = format!(
            "its disk has {free_size} free, and an image needs up to 500 MB: free some space, or \
             set CCTREWRITE_CACHE to another folder"
        );
        return page.line(Verdict::Fault, &text);
    }
    page.line(Verdict::Good, &format!("its disk has {free_size} free"))
}

/// Free bytes for this user on the disk of a folder, which need not exist yet.
fn free_space(folder: &Path) -> Option<u64> {
    let there: PathBuf = folder.ancestors().find(|folder| folder.exists())?.to_owned();
    let space = rustix::fs::statvfs(&there).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// Options without the values of system properties. These may be passwords, and the output goes
/// into bug reports.
fn without_values(options: &str) -> String {
    // A quoted value may contain spaces.
    if options.contains(['"', '\'']) {
        return "...".to_owned();
    }
    let hidden = |word: &str| match word.split_once('=') {
        Some((property, _)) if property.starts_with("-D") => format!("{property}=..."),
        _ => word.to_owned(),
    };
    options.split(' ').map(hidden).collect::<Vec<_>>().join(" ")
}

/// Lists the variables by which JVMs get options, and the variables of cctrewrite.
pub fn environment(page: &mut Page) -> Result<()> {
    page.heading("Environment")?;
    let mut is_clean = true;
    for name in FROM_OUTSIDE {
        if let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) {
            is_clean = false;
            let value = without_values(&value.to_string_lossy());
            page.line(
                Verdict::Note,
                &format!("{name}={value}: every JVM reads this variable, profiled or not"),
            )?;
        }
    }
    let mut own: Vec<_> = env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
        .filter(|(name, _)| name.starts_with("CCTREWRITE_"))
        .collect();
    own.sort();
    for (name, value) in own {
        is_clean = false;
        page.line(Verdict::Note, &format!("{name}={}", value.to_string_lossy()))?;
    }
    if is_clean {
        page.line(Verdict::Good, "no environment variable adds options to JVMs")?;
    }
    Ok(())
}
