//! `cctrewrite cache`: lists and removes images and unpacked libraries of the cache
//! (docs/reference/images.md).

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Result;
use cct_build::image::cache;
use cct_build::image::prune;
use cct_build::load_time::stale;
use cct_build::text::{counted, size};
use prune::{CachedImage, DAY, Policy, Removal};

use crate::args::{CacheCommand, CacheFolder, CacheList, CachePrune};
use crate::exit::{say, text_to_stdout, to_stdout};

/// Runs the command.
pub fn run(command: &CacheCommand) -> Result<()> {
    match command {
        CacheCommand::List(arguments) => list(arguments),
        CacheCommand::Prune(arguments) => prune(arguments),
        CacheCommand::Path(arguments) => {
            let folder = folder(arguments)?;
            to_stdout(|out| writeln!(out, "{}", folder.display()))
        }
    }
}

fn folder(arguments: &CacheFolder) -> Result<PathBuf> {
    Ok(arguments.folder.clone().map_or_else(cache::default_folder, Ok)?)
}

fn list(arguments: &CacheList) -> Result<()> {
    let folder = folder(&arguments.cache)?;
    let images = prune::list(&folder)?;
    let now = SystemTime::now();
    let all: u64 = images.iter().map(|image| image.size).sum();
    let cache = cache_of_libraries(&arguments.cache)?;
    let libraries = cache.as_deref().map_or(Ok(Vec::new()), stale::list)?;
    let unpacked: u64 = libraries.iter().map(|library| library.size).sum();
    text_to_stdout(|out| {
        for image in &images {
            writeln!(out, "{}  {}  used {}", image.key, size(image.size), ago(image.age(now)))?;
            writeln!(out, "    {}", jdk(image))?;
            writeln!(out, "    {}", options(image))?;
        }
        let count = counted(images.len() as u64, "image");
        writeln!(out, "{count}, {} in {}", size(all), folder.display())?;
        match libraries.len() as u64 {
            0 => Ok(()),
            number => writeln!(out, "{}, {}", counted_libraries(number), size(unpacked)),
        }
    })
}

/// The cache that has unpacked libraries: that of the environment, unless another folder of images
/// is named.
fn cache_of_libraries(arguments: &CacheFolder) -> Result<Option<PathBuf>> {
    Ok(if arguments.folder.is_none() { Some(cache::root()?) } else { None })
}

fn counted_libraries(number: u64) -> String {
    if number == 1 { "1 unpacked library".to_owned() } else { format!("{number} unpacked libraries") }
}

fn prune(arguments: &CachePrune) -> Result<()> {
    let folder = folder(&arguments.cache)?;
    let unused_for = arguments.unused_for.map(|days| Duration::from_secs(u64::from(days) * DAY));
    let given = Policy { all: arguments.all, gone: arguments.gone, unused_for, max_size: arguments.max_size };
    let policy =
        if given == Policy::default() { prune::default_policy()?.unwrap_or_default() } else { given };
    let (mut count, mut bytes) = (0, 0);
    let would = would(arguments.dry_run);
    prune::prune(&folder, policy, arguments.dry_run, |image, removal| {
        if let Removal::Removed(_) = removal {
            count += 1;
            bytes += image.size;
        }
        say(&format!("{}: {}", image.key, outcome(removal, image.size, would)));
    })?;
    let images = counted(count, "image");
    say(&format!("{images} {would}, {}", size(bytes)));
    let cache = cache_of_libraries(&arguments.cache)?;
    cache.map_or(Ok(()), |cache| prune_libraries(&cache, policy, arguments.dry_run))
}

/// Removes libraries that other builds have unpacked.
fn prune_libraries(cache: &Path, policy: Policy, is_trial: bool) -> Result<()> {
    let (mut count, mut bytes) = (0, 0);
    let would = would(is_trial);
    stale::prune(cache, policy, is_trial, |library, removal| {
        if let Removal::Removed(_) = removal {
            count += 1;
            bytes += library.size;
        }
        say(&format!("library {}: {}", library.key, outcome(removal, library.size, would)));
    })?;
    if count > 0 {
        say(&format!("{} {would}, {}", counted_libraries(count), size(bytes)));
    }
    Ok(())
}

fn would(is_trial: bool) -> &'static str {
    if is_trial { "would be removed" } else { "removed" }
}

fn outcome(removal: Removal, bytes: u64, would: &str) -> String {
    match removal {
        Removal::Removed(reason) => format!("{would} ({}, {})", size(bytes), reason.words()),
        Removal::InUse(Some(process)) => format!("in use by process {process}; kept"),
        Removal::InUse(None) => "in use; kept".to_owned(),
    }
}

/// An age in words, such as `3 days ago`.
fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (number, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "minute"),
        3600..DAY => (seconds / 3600, "hour"),
        _ => (seconds / DAY, "day"),
    };
    format!("{} ago", counted(number, unit))
}

fn jdk(image: &CachedImage) -> String {
    let version = image.record.as_ref().and_then(|record| record.value("java")).unwrap_or("unknown");
    match &image.jdk {
        None => format!("Java {version}"),
        Some(home) if image.is_jdk_gone() => format!("Java {version}, {} (gone)", home.display()),
        Some(home) => format!("Java {version}, {}", home.display()),
    }
}

fn options(image: &CachedImage) -> String {
    let Some(record) = &image.record else { return "damaged".to_owned() };
    let options = record.value("options").unwrap_or_default();
    let has = |option: &str| options.split(' ').any(|given| given.starts_with(option));
    let leaves = match () {
        () if has("--tool=trace") => "traces",
        () if has("--tool=pcc") => "values of contexts",
        () if has("--tool=markers") => "markers",
        () if has("--markers=") || has("--typestate=") => "profiles and markers",
        () => "profiles",
    };
    format!("{leaves}: {options}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_for_people() {
        let sizes = [0, 1, 412_000_000, 10_400_000_000].map(size);
        assert_eq!(sizes, ["0 MB", "1 MB", "412 MB", "10.4 GB"]);
        let times = [59, 60, 7_200, DAY, 40 * DAY].map(|seconds| ago(Duration::from_secs(seconds)));
        assert_eq!(times, ["just now", "1 minute ago", "2 hours ago", "1 day ago", "40 days ago"]);
    }
}
