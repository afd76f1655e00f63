//! `cctrewrite jdk --check`: reads images and reports damaged files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_build::image::cache::{self, Slot};
use cct_build::image::check::{self, Archives, Damage, Finding};
use cct_build::image::prune;
use cct_build::image::repair::repair;
use cct_build::image::use_of_image::remedy;
use cct_build::image::workshop::Workshop;
use cct_build::text::counted;

use crate::args;
use crate::exit::{say, to_stdout};

/// Runs the command.
pub fn run(arguments: &args::Jdk) -> Result<()> {
    let cache = arguments.cache.as_ref().and_then(|cache| cache.as_deref());
    let folder = cache.map_or_else(cache::default_folder, |folder| Ok(folder.to_path_buf()));
    if let Some(image) = &arguments.home {
        let image = fs::canonicalize(image).with_context(|| format!("{}: cannot find", image.display()))?;
        let folder = folder.ok().and_then(|folder| fs::canonicalize(folder).ok());
        let in_cache = folder.filter(|folder| image.parent() == Some(folder));
        return match in_cache {
            Some(folder) => check_cached(arguments, &folder, vec![image]),
            None => check_given(arguments, &image, cache),
        };
    }
    let folder = folder?;
    let images = prune::list(&folder)?.into_iter().map(|image| image.path).collect();
    check_cached(arguments, &folder, images)
}

/// Checks an image outside of the cache.
fn check_given(arguments: &args::Jdk, image: &Path, cache: Option<&Path>) -> Result<()> {
    match check::in_full(image, Archives::MayChange)? {
        Finding::Sound { remade } => {
            for archive in remade {
                let archive = image.join(archive);
                say(&format!("note: {}: a JVM rewrote this archive; it is sound", archive.display()));
            }
            sound(arguments, image)
        }
        Finding::NoManifest => bail!("{}", no_manifest(image)),
        Finding::Damaged(damage) if arguments.repair => {
            if let Some(path) = repair(image, &damage, cache)? {
                let path = image.join(path);
                let home = "cctrewrite jdk JAVA_HOME -o";
                bail!(
                    "{damage}; no sound copy of {} was found: make the image again with `{home} {}`",
                    path.display(),
                    image.display()
                );
            }
            if let Finding::Damaged(damage) = check::in_full(image, Archives::MayChange)? {
                bail!("{damage} after the repair; {}", remedy(image));
            }
            let files = counted(damage.files.len() as u64, "file");
            say(&format!("{}: {files} replaced with sound copies", image.display()));
            sound(arguments, image)
        }
        Finding::Damaged(damage) => bail!("{damage}; {}", remedy(image)),
    }
}

/// Checks images of the cache.
fn check_cached(arguments: &args::Jdk, folder: &Path, images: Vec<PathBuf>) -> Result<()> {
    let (count, mut bad) = (images.len(), 0);
    for image in images {
        match check::in_full(&image, Archives::Fixed) {
            Ok(Finding::Sound { .. }) => sound(arguments, &image)?,
            // Another process has removed it.
            Err(_) if !image.exists() => {}
            Ok(Finding::Damaged(damage)) => bad += usize::from(!mend(arguments, folder, &image, &damage)?),
            Ok(Finding::NoManifest) => {
                bad += 1;
                say(&format!("cctrewrite: {}", no_manifest(&image)));
            }
            Err(error) => {
                bad += 1;
                say(&format!("cctrewrite: {error}"));
            }
        }
    }
    if bad > 0 {
        bail!("{bad} of {} damaged", counted(count as u64, "image"));
    }
    if count == 0 && !arguments.verbosity.quiet {
        say(&format!("{}: no images", folder.display()));
    }
    Ok(())
}

/// Reports the damage. With `--repair`, removes the image if it is not in use; the next run makes
/// it again. Returns whether it removed the image.
fn mend(arguments: &args::Jdk, folder: &Path, image: &Path, damage: &Damage) -> Result<bool> {
    if !arguments.repair {
        check::forget_stamp(image);
        say(&format!("cctrewrite: {damage}; the next run that needs the image makes it again"));
        return Ok(false);
    }
    let key = image.file_name().unwrap_or_default().to_string_lossy();
    let Some(slot) = Slot::take_unused(folder, &key)? else {
        check::forget_stamp(image);
        say(&format!(
            "cctrewrite: {damage}; it is in use, so the next run that needs the image makes it again"
        ));
        return Ok(false);
    };
    Workshop::open(folder)?.discard(image)?;
    slot.remove_files();
    say(&format!("cctrewrite: {damage}; the image is removed, and made again when it is needed"));
    Ok(true)
}

fn sound(arguments: &args::Jdk, image: &Path) -> Result<()> {
    if arguments.verbosity.quiet {
        Ok(())
    } else {
        to_stdout(|out| writeln!(out, "{}: sound", image.display()))
    }
}

fn no_manifest(image: &Path) -> String {
    format!(
        "{}: an earlier version made this image, without hashes of its files; make it again to check it",
        image.display()
    )
}
