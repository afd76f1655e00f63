//! The cache's bounds, age and size, as applied by commands that build an image
//! (docs/reference/images.md, *The cache*).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::support::caches::{cached_images, cctrewrite, ended, in_cache};
use crate::support::{Jdk, fixture, folder, jdks};

/// A run on an image of its own: each depth of stack traces needs another image.
fn run(jdk: &Jdk, here: &Path, depth: u32) -> Command {
    let (home, depth, classes) = (jdk.home().to_str().unwrap(), depth.to_string(), fixture("ending/classes"));
    let program = ["--", "java", "-cp", classes.to_str().unwrap(), "Ending", "return"];
    cctrewrite(here, &[&["run", "--jdk", home, "--stack-depth", &depth][..], &program].concat())
}

/// Lets the run build its image; returns its messages, and the image.
fn made(here: &Path, run: Command) -> (String, PathBuf) {
    let before = cached_images(here);
    let (code, said) = ended(run);
    assert!(code == Some(0) && said.contains("was made in"), "{said}");
    let new: Vec<PathBuf> = cached_images(here).into_iter().filter(|image| !before.contains(image)).collect();
    let [image] = <[PathBuf; 1]>::try_from(new).unwrap();
    (said, image)
}

/// Sets the times of an image to those of one that nobody has used for this many days.
fn age(image: &Path, days: u64) {
    let past = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    let times = fs::FileTimes::new().set_accessed(past).set_modified(past);
    for path in
        [image.with_extension("used"), image.to_owned(), image.join("bin/java"), image.join("jre/bin/java")]
    {
        fs::File::open(path).unwrap().set_times(times).unwrap();
    }
}

fn run_keeps_the_cache_within_its_bounds(jdk: &'static Jdk) {
    let here = folder("bounds");
    let (_, first) = made(&here, run(jdk, &here, 2001));
    age(&first, 29);
    let (said, second) = made(&here, run(jdk, &here, 2002));
    assert!(first.is_dir() && !said.contains("removed"), "{said}");

    // Age: the run that builds an image removes the one that nobody has used for 30 days, and
    // reports it.
    age(&first, 31);
    let (said, third) = made(&here, run(jdk, &here, 2003));
    let removed = |image: &Path, why: &str| format!("removed {} from the cache: {why}", image.display());
    assert!(said.contains(&removed(&first, "it was not used for too long")), "{said}");
    assert_eq!([&first, &second, &third].map(|image| image.is_dir()), [false, true, true]);
    let left = in_cache(&here);
    assert!(!left.iter().any(|path| path.file_stem() == first.file_name()), "{left:?}");

    // A run that takes its image from the cache removes nothing.
    age(&second, 31);
    let (code, said) = ended(run(jdk, &here, 2003));
    assert!(code == Some(0) && second.is_dir() && !said.contains("removed"), "{said}");

    // Without bounds it stays.
    let mut unbounded = run(jdk, &here, 2004);
    unbounded.env("CCTREWRITE_CACHE_LIMIT", "none");
    let (said, fourth) = made(&here, unbounded);
    assert!(second.is_dir() && !said.contains("removed"), "{said}");

    // Size: the least recently used images are removed first, and no more than necessary. The image
    // of the run itself stays, however small the bound is.
    age(&second, 2);
    age(&third, 1);
    let size =
        Command::new("du").args(["-s", "--block-size=1", "--apparent-size"]).arg(&fourth).output().unwrap();
    let size: u64 =
        String::from_utf8(size.stdout).unwrap().split_whitespace().next().unwrap().parse().unwrap();
    let mut bounded = run(jdk, &here, 2005);
    bounded.env("CCTREWRITE_CACHE_LIMIT", (size * 7 / 2).to_string());
    let (said, fifth) = made(&here, bounded);
    assert!(said.contains(&removed(&second, "the cache is too large")), "{said}");
    assert_eq!(
        [&second, &third, &fourth, &fifth].map(|image| image.is_dir()),
        [false, true, true, true],
        "{said}"
    );
    let mut bounded = run(jdk, &here, 2006);
    bounded.env("CCTREWRITE_CACHE_LIMIT", "1");
    let (said, sixth) = made(&here, bounded);
    for image in [&third, &fourth, &fifth] {
        assert!(said.contains(&removed(image, "the cache is too large")), "{said}");
    }
    assert_eq!(cached_images(&here), [sixth]);

    // An invalid bound is an error before anything is built.
    let mut wrong = run(jdk, &here, 2007);
    wrong.env("CCTREWRITE_CACHE_LIMIT", "much");
    let (code, said) = ended(wrong);
    assert!(code == Some(125) && said.contains("CCTREWRITE_CACHE_LIMIT=much: not "), "{said}");
    assert_eq!(cached_images(&here).len(), 1);
}
jdks!(bounds, run_keeps_the_cache_within_its_bounds, [8]);
