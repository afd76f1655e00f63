//! Target for jars, jmods and images: opened, surveyed, rewritten.

use std::cell::RefCell;
use std::convert::Infallible;
use std::fs;
use std::io::{Cursor, Read};
use std::sync::LazyLock;

use cct_archive::{
    Action, ArchivePath, EntryKind, INDEX_NAME, Input, InputKind, Limits, Location, Method, NewEntry,
    RewriteOptions, Rewriter, Target,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Small limits, so that no input can cause much work.
const LIMITS: Limits =
    Limits { max_depth: 3, max_entry_bytes: 1 << 20, max_total_bytes: 4 << 20, max_ratio: 100 };

/// A pool with one thread, which is started once.
static POOL: LazyLock<ThreadPool> =
    LazyLock::new(|| ThreadPoolBuilder::new().num_threads(1).build().unwrap());

/// The class that is added before the others.
const ADDED: &str = "first/Added.class";

/// Runs work on a thread that does everything itself; on this one, if it is such a thread.
fn alone<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if rayon::current_num_threads() == 1 && rayon::current_thread_index().is_some() {
        return work();
    }
    POOL.install(work)
}

thread_local! {
    static FOLDER: RefCell<Option<tempfile::TempDir>> = const { RefCell::new(None) };
}

/// Opens an archive and does everything possible with it. An unchanged archive is written
/// identically, or with the same meaning; a written one can be read, by cctrewrite and by other
/// tools.
pub fn archive(bytes: &[u8]) {
    FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| tempfile::tempdir().unwrap()).path();
        let [path, output] = ["in.jar", "out.jar"].map(|name| folder.join(name));
        fs::write(&path, bytes).unwrap();
        let Ok(input) = Input::open(&path, &LIMITS) else { return };
        let _ = (input.layout(), input.read(0), input.read(input.entries().len()));
        let visit = |at: &Location<'_>, bytes: &[u8]| Ok::<_, Infallible>((at.to_string(), bytes.to_vec()));
        let surveyed = alone(|| input.survey(visit));

        let write = |rewriter: &AddingRewriter| {
            let target = Target::new(&output, &[&input]).unwrap();
            let staged = alone(|| input.rewrite(&target, &RewriteOptions::default(), rewriter));
            staged.map(|staged| drop(staged.commit().unwrap())).is_ok().then(|| fs::read(&output).unwrap())
        };
        let Some(kept) = write(&AddingRewriter { adds: false, replaces: false }) else { return };
        let again = reopened(&kept, &path);
        let (mut left, mut right) = (names(&again), names(&input));
        if input.kind() == InputKind::Image {
            // They are listed by position, and several without contents may have the same one.
            left.sort_unstable();
            right.sort_unstable();
        }
        assert_eq!(left, right, "entries that nothing changed");
        if input.kind() == InputKind::Jar {
            // A gap between entries is dropped once.
            let target = Target::new(&folder.join("again.jar"), &[&again]).unwrap();
            let nothing = AddingRewriter { adds: false, replaces: false };
            let staged = alone(|| again.rewrite(&target, &RewriteOptions::default(), &nothing));
            staged.unwrap().commit().unwrap();
            assert!(
                fs::read(target.path()).unwrap() == kept,
                "what nothing changes is another one the second time"
            );
        }
        let Some(changed) = write(&AddingRewriter { adds: true, replaces: true }) else { return };
        let again = reopened(&changed, &path);
        // The second pass reads everything that the first could read, twice as long.
        if let (Ok(old), true) = (&surveyed, input.kind() == InputKind::Jar) {
            let new = alone(|| again.survey(visit)).unwrap();
            let added = |name: &str| name.ends_with(ADDED);
            let new: Vec<_> = new.classes.into_iter().filter(|(name, _)| !added(name)).collect();
            let old: Vec<_> = old.classes.iter().filter(|(name, _)| !added(name)).collect();
            assert_eq!(old.len(), new.len());
            for ((name, old), (new_name, new)) in old.into_iter().zip(&new) {
                assert_eq!((name, &[&old[..], old].concat()), (new_name, new));
            }
            read_by_others(&changed, &again);
        }
        let target = Target::new(&folder.join("patches"), &[&again]).unwrap();
        let _ = alone(|| {
            again.rewrite_as_patches(
                &target,
                &RewriteOptions::default(),
                &AddingRewriter { adds: true, replaces: true },
            )
        });
    });
}

fn names(input: &Input) -> Vec<&str> {
    // An image's lists of itself are not entries, and entries that no list could name stay
    // nevertheless.
    input.entries().iter().map(|entry| &*entry.name).collect()
}

fn reopened(bytes: &[u8], path: &std::path::Path) -> Input {
    fs::write(path, bytes).unwrap();
    Input::open(
        path,
        &Limits { max_entry_bytes: 8 << 20, max_total_bytes: 64 << 20, max_ratio: 2000, ..LIMITS },
    )
    .unwrap()
}

/// Reads the classes of a written jar with the `zip` crate, if it can read the archive at all: it
/// accepts other names and features.
fn read_by_others(bytes: &[u8], ours: &Input) {
    let Ok(mut theirs) = zip::ZipArchive::new(Cursor::new(bytes)) else { return };
    if theirs.len() != ours.entries().len() {
        return;
    }
    for index in 0..theirs.len() {
        let Ok(mut file) = theirs.by_index(index) else { continue };
        let mut contents = Vec::new();
        if ours.entries()[index].kind == EntryKind::Class && file.read_to_end(&mut contents).is_ok() {
            assert!(
                *ours.read(index).unwrap().unwrap() == contents,
                "entry {index} is another one to others"
            );
        }
    }
}

/// Writes classes twice and adds an entry at either end, or does nothing at all.
struct AddingRewriter {
    adds: bool,
    replaces: bool,
}

impl Rewriter for AddingRewriter {
    type Record = ();
    type Error = Infallible;

    fn rewrite(&self, _: &Location<'_>, bytes: &[u8]) -> Result<(Action, Option<()>), Infallible> {
        Ok((if self.replaces { Action::Replace([bytes, bytes].concat()) } else { Action::Keep }, Some(())))
    }

    fn leading(&self, archive: &ArchivePath<'_>) -> Result<Vec<NewEntry>, Infallible> {
        let name = archive.layout().name(ADDED);
        let entry = NewEntry { name, bytes: vec![b'f'; 50], method: Method::Deflated };
        Ok(if self.adds { vec![entry] } else { Vec::new() })
    }

    fn trailing(&self, archive: &ArchivePath<'_>, _: &[()]) -> Result<Vec<NewEntry>, Infallible> {
        let entry = NewEntry {
            name: archive.layout().name(INDEX_NAME),
            bytes: vec![b'i'; 50],
            method: Method::Stored,
        };
        Ok(if self.adds { vec![entry] } else { Vec::new() })
    }
}
