//! A system clock that jumps while images are built and used: no image is wrong, and no wait is
//! endless.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use cct_profile::Profile;

use crate::support::caches::{assert_sound, cached_images, cctrewrite, ended, in_cache};
use crate::support::{Jdk, assert_succeeded, fixture, folder, jdks};

/// A clock that changes every third of a second: 40 days ahead, ten years back, and right.
const JUMPS: &str = "333 3456000 -315360000 0";

/// A wrong clock: 40 days ahead.
const AHEAD: &str = "1 3456000";

/// A wrong clock: ten years back.
const BACK: &str = "1 -315360000";

/// Upper bound of all waits here, on a busy machine. A wait by the system's clock would take days
/// or years.
const PATIENCE: Duration = Duration::from_secs(3_000);

/// The library that shows a process another clock; `None`, with a message, if there is no C
/// compiler.
fn clock(here: &Path) -> Option<PathBuf> {
    let library = here.join("libjump.so");
    let mut compile = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(fixture("clock/jump.c"));
    if compile.output().is_err() {
        eprintln!("skipped: no C compiler");
        return None;
    }
    assert_succeeded(&mut compile);
    // The library works: otherwise the test would prove nothing.
    let mut date = Command::new("date");
    let output = with_clock(date.arg("+%s"), &library, BACK).output().unwrap();
    let seen: u64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    assert!(now - seen > 300_000_000, "{seen} at {now}");
    Some(library)
}

fn with_clock<'c>(command: &'c mut Command, library: &Path, jumps: &str) -> &'c mut Command {
    command.env("LD_PRELOAD", library).env("CLOCK_JUMPS", jumps)
}

/// A run of a small program; its profile goes to a file of its own.
fn run(jdk: &Jdk, here: &Path, output: &str, options: &[&str]) -> Command {
    let (home, classes) = (jdk.home().to_str().unwrap(), fixture("ending/classes"));
    let program = ["--", "java", "-cp", classes.to_str().unwrap(), "Ending", "return"];
    cctrewrite(here, &[&["run", "-o", output, "--jdk", home], options, &program].concat())
}

/// The calls of the program's own method in a profile.
fn calls_of_work(profile: &Path) -> u64 {
    let profile = Profile::read(&fs::read(profile).unwrap()).unwrap();
    let is_work = |method: u32| profile.methods.get(method as usize).is_some_and(|m| &*m.name == "work");
    let nodes = profile.threads.iter().flat_map(|thread| thread.tree.nodes());
    nodes.filter(|node| is_work(node.method)).map(|node| node.calls).sum()
}

fn a_clock_that_jumps(jdk: &'static Jdk) {
    let here = folder("clock");
    let Some(library) = clock(&here) else { return };
    let started = Instant::now();

    // Three processes at once need the image: one builds it, two wait.
    let children: Vec<_> = (0..3)
        .map(|number| {
            let mut run = run(jdk, &here, &format!("{number}.cct"), &[]);
            with_clock(&mut run, &library, JUMPS)
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let said: Vec<String> =
        outputs.iter().map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect();
    assert!(outputs.iter().all(|output| output.status.code() == Some(0)), "{said:?}");
    assert_eq!(said.iter().filter(|said| said.contains("was made in")).count(), 1, "{said:?}");
    assert!((0..3).all(|number| calls_of_work(&here.join(format!("{number}.cct"))) == 10));
    assert!(assert_sound(&here));
    let [image] = <[PathBuf; 1]>::try_from(cached_images(&here)).unwrap();

    // Built by one clock and used by another: it is unchanged, and is not built again.
    for jumps in [AHEAD, BACK, JUMPS] {
        let mut run = run(jdk, &here, "again.cct", &[]);
        with_clock(&mut run, &library, jumps);
        let (code, said) = ended(run);
        assert!(code == Some(0) && !said.contains("made"), "{jumps}: {said}");
        assert_eq!(calls_of_work(&here.join("again.cct")), 10);
        fs::remove_file(here.join("again.cct")).unwrap();
    }

    // By a clock that is ahead the image has not been used for 40 days: the run that builds another
    // one removes it. That only costs time.
    let mut ahead = run(jdk, &here, "ahead.cct", &["--stack-depth", "2001"]);
    with_clock(&mut ahead, &library, AHEAD);
    let (code, said) = ended(ahead);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("removed {}", image.display())) && !image.exists(), "{said}");
    // By a clock that is back it will be used in ten years: it stays, and so do the files of the
    // other run.
    let mut back = run(jdk, &here, "back.cct", &["--stack-depth", "2002"]);
    with_clock(&mut back, &library, BACK);
    let (code, said) = ended(back);
    assert!(code == Some(0) && !said.contains("removed"), "{said}");
    assert_eq!(cached_images(&here).len(), 2);
    assert!(assert_sound(&here));
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());

    files_of_other_times(jdk, &here);
}

/// File times from a wrong clock: a stamp compares them. Files with different times are read, and
/// found unchanged or changed.
fn files_of_other_times(jdk: &'static Jdk, here: &Path) {
    let options = ["--stack-depth", "2002"];
    let images = cached_images(here);
    let is_of_run = |image: &&PathBuf| {
        let record = ["lib", "jre/lib"].map(|lib| image.join(lib).join("cctrewrite/IMAGE"));
        record.iter().any(|record| fs::read_to_string(record).is_ok_and(|text| text.contains("2002")))
    };
    let image = images.iter().find(is_of_run).unwrap();
    let library =
        if jdk.version == 8 { "jre/lib/libcctrewrite_loadtime.so" } else { "lib/libcctrewrite_loadtime.so" };
    let library = image.join(library);
    let day = Duration::from_secs(24 * 60 * 60);
    let set = |time| fs::File::options().append(true).open(&library).unwrap().set_modified(time).unwrap();
    for time in [SystemTime::UNIX_EPOCH, SystemTime::now() + 4_000 * day, SystemTime::now() - 4_000 * day] {
        set(time);
        let (code, said) = ended(run(jdk, here, "times.cct", &options));
        assert!(code == Some(0) && !said.contains("made"), "{said}");
    }
    // The clock was set back while somebody changed the file: it is older than the image, and
    // different from the manifest.
    let mut bytes = fs::read(&library).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&library, bytes).unwrap();
    set(SystemTime::now() - 4_000 * day);
    let (code, said) = ended(run(jdk, here, "times.cct", &options));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("libcctrewrite_loadtime.so has other contents; the image is made again"), "{said}");
    assert!(
        assert_sound(here) && in_cache(here).iter().all(|path| path.extension().is_none_or(|e| e != "tmp"))
    );
}
jdks!(jumps, a_clock_that_jumps, [8], all[25]);
