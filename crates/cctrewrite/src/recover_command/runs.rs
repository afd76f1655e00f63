//! `cctrewrite recover` of folders: the profiles of killed runs.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_arena::ReadError;
use cct_build::pending_file::PendingFile;
use cct_profile::Profile;

use crate::exit::{Outcome, say};
use crate::profile_file::{is_stdin, open};
use crate::run_command::delivery::{Places, WrittenParts, deliver};
use crate::run_command::files::{UNKNOWN, file_name, with_suffix};
use crate::run_command::markers::{put_printed, put_report};
use crate::run_command::{traces, valued};
use crate::run_folder::Jvm;
use crate::run_folder::abandoned_folder::{
    AbandonedFolder, FolderState, NOTHING, find, is_run_folder, named, unknown,
};

/// Extensions of files without value once everything else in their folder has been collected.
const WORTHLESS: [&str; 3] = ["jvm", "arena", "tmp"];

/// Collects what killed runs have left in a folder. The default is the current folder and the
/// folder for temporary files.
pub fn recover(folder: Option<&Path>, output: Option<&Path>) -> Result<Outcome> {
    if output.is_some_and(is_stdin) {
        bail!("a killed run may leave several files; name a file with --output instead of `-`");
    }
    let (all, places) = match folder {
        Some(folder) if is_run_folder(folder) => (vec![named(folder)?], folder.display().to_string()),
        Some(folder) => (find(folder)?, folder.display().to_string()),
        None => {
            let (here, temporary) = (Path::new("."), std::env::temp_dir());
            let mut all = find(here)?;
            if fs::canonicalize(here).ok() != fs::canonicalize(&temporary).ok() {
                all.extend(find(&temporary)?);
            }
            (all, format!("the current folder or in {}", temporary.display()))
        }
    };
    let collectable = |found: &&FolderState| matches!(found, FolderState::Abandoned(one) if one.user().is_none() && !one.is_empty());
    let count = all.iter().filter(collectable).count();
    if output.is_some() && count != 1 {
        bail!(
            "--output is for one killed run, but there are {count}; name the folder of one, or \
             leave out --output"
        );
    }
    if all.is_empty() {
        say(&format!("cctrewrite: no files of killed runs in {places}"));
    }
    let mut is_whole = true;
    for found in all {
        match found {
            FolderState::InUse(path) => {
                say(&format!("cctrewrite: {}: its run is still running", path.display()))
            }
            FolderState::Unknown(path) => {
                is_whole = false;
                say(&format!("cctrewrite: {}", unknown(&path)));
            }
            FolderState::Abandoned(abandoned) => is_whole &= collect(abandoned, output)?,
        }
    }
    Ok(if is_whole { Outcome::Complete } else { Outcome::Damaged })
}

/// Collects what is in a folder, and removes the folder. Returns whether nothing is missing.
fn collect(abandoned: AbandonedFolder, output: Option<&Path>) -> Result<bool> {
    let shown = abandoned.folder.path().display().to_string();
    if let Some(user) = abandoned.user() {
        say(&format!(
            "cctrewrite: {shown}: its run was killed, and {user}; once it has ended, use this command again"
        ));
        return Ok(false);
    }
    if abandoned.is_empty() {
        abandoned.folder.remove();
        say(&format!("cctrewrite: {shown}: removed; {NOTHING}"));
        return Ok(true);
    }
    say(&format!("cctrewrite: {shown}: {}", abandoned.contents()));
    let AbandonedFolder { folder, record, mut jvms, .. } = abandoned;
    let in_folder = folder.path().parent().unwrap_or(Path::new("")).join(&record.output);
    // Keeps two of these commands from choosing the same name, where folders can be locked.
    let parent = in_folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let locked = File::open(parent).ok().filter(|parent| parent.lock().is_ok());
    let places = Places::of(&match output {
        Some(output) => output.to_owned(),
        None if parent.is_dir() => free_name(&in_folder),
        // The folder of the run's output no longer exists.
        None => free_name(Path::new(in_folder.file_name().unwrap_or(in_folder.as_os_str()))),
    })?;
    let (mut is_whole, mut stays) = (true, false);
    for jvm in &mut jvms {
        match profile_of(jvm) {
            Remains::Profile { is_whole: true } => {}
            // `deliver` reads the profile and reports its damage.
            Remains::Profile { is_whole: false } => is_whole = false,
            Remains::Nothing if has_other_files(jvm) => {}
            Remains::Nothing => {
                is_whole = false;
                say(&format!(
                    "cctrewrite: the JVM of process {} left no files: it refused to run, was \
                     killed early, or its profile was already delivered: {}",
                    jvm.process,
                    jvm.command()
                ));
            }
            Remains::Unreadable(error) => {
                (is_whole, stays) = (false, true);
                say(&format!(
                    "cctrewrite: nothing can be recovered of the JVM of process {} ({error:#}): {}",
                    jvm.process,
                    jvm.command()
                ));
            }
        }
    }
    let (with_profile, others): (Vec<Jvm>, Vec<Jvm>) =
        jvms.into_iter().partition(|jvm| jvm.profile.is_some());
    let done: Vec<PathBuf> = with_profile.iter().map(|jvm| jvm.place.clone()).collect();
    let others: Vec<Jvm> = others.into_iter().filter(has_other_files).collect();
    deliver(&places, &WrittenParts::default(), with_profile, false, put_others)?;
    for jvm in &others {
        put_others(jvm, &place_of(jvm, &places, others.len(), done.len())?)?;
    }
    drop(locked);
    let unknown: Vec<String> = folder.private().names()?.into_iter().filter(has_worth).collect();
    if !stays && unknown.is_empty() {
        folder.remove();
        return Ok(is_whole);
    }
    // Without these files the next `recover` does not collect the same profiles again.
    for place in done {
        for extension in ["jvm", "cct.arena"] {
            let _ = fs::remove_file(place.with_extension(extension));
        }
    }
    say(&format!(
        "cctrewrite: {shown}: not removed, since {} in it cannot be collected; remove it if you do \
         not need it",
        if unknown.is_empty() { "a file".to_owned() } else { unknown.join(", ") }
    ));
    Ok(false)
}

/// What a JVM left of its profile.
enum Remains {
    Profile {
        is_whole: bool,
    },
    Nothing,
    /// Data that this version cannot read now. Another version may, or this one after a repair of
    /// the disk.
    Unreadable(anyhow::Error),
}

/// Finds the profile of a JVM that has ended, or recovers it.
fn profile_of(jvm: &mut Jvm) -> Remains {
    let written = jvm.profile.take().map(|path| {
        let profile = Profile::read_from(open(&path)?).with_context(|| path.display().to_string())?;
        Ok((path, profile.damage.is_empty()))
    });
    let recovered = match written {
        Some(Ok((path, is_whole))) => {
            jvm.profile = Some(path);
            return Remains::Profile { is_whole };
        }
        Some(Err(error)) if jvm.arena.is_none() => return Remains::Unreadable(error),
        _ => jvm.arena.as_deref().map(|arena| recover_to(arena, &jvm.place)),
    };
    match recovered {
        Some(Ok(is_whole)) => {
            jvm.profile = Some(jvm.place.clone());
            Remains::Profile { is_whole }
        }
        // The JVM was killed before it had recorded anything.
        Some(Err(error)) if is_unborn(&error) => Remains::Nothing,
        Some(Err(error)) => Remains::Unreadable(error),
        None => Remains::Nothing,
    }
}

/// Makes a profile of a JVM's memory. Returns whether nothing of it is missing.
fn recover_to(arena: &Path, place: &Path) -> Result<bool> {
    let recovered = super::of_file(arena)?;
    // The profile's notes say what is wrong with it, and the summary shows them.
    PendingFile::write_profile(place, |out| recovered.profile.write(out))?.commit()?;
    Ok(recovered.problems.is_empty())
}

/// Whether a JVM's memory has no contents yet.
fn is_unborn(error: &anyhow::Error) -> bool {
    let reasons = error.chain().filter_map(|cause| cause.downcast_ref::<ReadError>());
    reasons.into_iter().any(|reason| matches!(reason, ReadError::NoArena | ReadError::Short(_)))
}

/// A name for the output that says that it was recovered, and that no file has yet.
fn free_name(output: &Path) -> PathBuf {
    let stem = output.file_stem().unwrap_or(output.as_os_str()).to_owned();
    let extension = output.extension().unwrap_or("cct".as_ref());
    let name = |number: u32| {
        let mut name = stem.clone();
        name.push(if number == 1 { ".recovered.".to_owned() } else { format!(".recovered-{number}.") });
        name.push(extension);
        output.with_file_name(name)
    };
    let is_free = |path: &PathBuf| {
        let beside = ["jvms"].into_iter().chain(EXTENSIONS).map(|extension| path.with_extension(extension));
        std::iter::once(path.clone()).chain(beside).all(|path| fs::symlink_metadata(path).is_err())
    };
    (1..).map(name).find(is_free).unwrap_or_else(|| output.to_owned())
}

/// Extensions of files that JVMs leave beside a profile, or instead of one.
const EXTENSIONS: [&str; 4] = ["trace", "pcc", "typestate", "markers"];

fn has_other_files(jvm: &Jvm) -> bool {
    EXTENSIONS.iter().any(|extension| with_suffix(&jvm.place, &format!(".{extension}")).is_file())
}

/// The place for files of a JVM without a profile.
fn place_of(jvm: &Jvm, places: &Places, count: usize, profiles: usize) -> Result<PathBuf> {
    if count + profiles == 1 {
        return Ok(places.sum.clone());
    }
    cct_private::create_folders(&places.each)
        .with_context(|| format!("cannot make {}", places.each.display()))?;
    Ok(places.each.join(file_name(jvm.number, count + profiles, UNKNOWN)))
}

/// Moves the other files of a JVM to the place of its profile. A JVM without a profile has such a
/// place, too.
fn put_others(jvm: &Jvm, profile: &Path) -> Result<()> {
    type PutFile = fn(&Path, &Path) -> Result<()>;
    let puts: [PutFile; 4] = [
        |from, to| traces::put(from, &|_| to.to_owned(), false),
        |from, to| valued::put(from, &|_| to.to_owned(), false),
        |from, to| put_report(from, to, false),
        |from, to| put_printed(from, to, false),
    ];
    for (extension, put) in EXTENSIONS.into_iter().zip(puts) {
        let from = with_suffix(&jvm.place, &format!(".{extension}"));
        if from.is_file()
            && let Err(error) = put(&from, &profile.with_extension(extension))
        {
            // The file stays in its folder, and the command's last message says so.
            say(&format!("cctrewrite: {error:#}"));
        }
    }
    Ok(())
}

/// Whether a file that was not collected may still be of use.
fn has_worth(name: &String) -> bool {
    let extension = Path::new(name).extension().unwrap_or_default();
    !["lock", "options"].contains(&&**name) && !WORTHLESS.iter().any(|worthless| extension == *worthless)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_are_and_are_free() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("all.cct");
        let expect = |name: &str| assert_eq!(free_name(&output), folder.path().join(name));
        expect("all.recovered.cct");
        fs::write(folder.path().join("all.recovered.cct"), b"").unwrap();
        expect("all.recovered-2.cct");
        fs::create_dir(folder.path().join("all.recovered-2.jvms")).unwrap();
        expect("all.recovered-3.cct");
        std::os::unix::fs::symlink("nowhere", folder.path().join("all.recovered-3.markers")).unwrap();
        expect("all.recovered-4.cct");
        assert_eq!(free_name(Path::new("plain")), Path::new("plain.recovered.cct"));
    }
}
