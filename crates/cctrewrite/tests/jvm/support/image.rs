//! Whole profiled JDKs, built once for all tests of the process.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use super::{ALL_BLOCKS, Blocks, Java, Jdk, Library, assert_succeeded, carrier, plain_programs, scratch};

/// A JDK of 9 or later whose class library is rewritten. Its `bin/java` profiles without options.
#[derive(Debug)]
pub struct Image {
    jdk: Jdk,
    /// Whether the verifier checks all classes in each JVM. Such JVMs use no archive of classes,
    /// so the image has none.
    verifies: bool,
}

/// The name of images with pinned chance.
const REPRODUCIBLE: &str = "reproducible";

/// Images by the JDK's version and their names.
type Images = BTreeMap<(u32, &'static str), Arc<OnceLock<&'static Image>>>;

impl Image {
    /// The image of a JDK, by a rule for blocks.
    pub fn of(jdk: &'static Jdk, blocks: Blocks) -> &'static Image {
        Image::made(jdk, blocks.name(), blocks.options())
    }

    fn made(jdk: &'static Jdk, name: &'static str, options: &[&str]) -> &'static Image {
        static IMAGES: Mutex<Images> = Mutex::new(BTreeMap::new());
        // The map is not locked while an image is built, so that those of several JDKs can be built
        // at once.
        let key = (jdk.version, name);
        let cell = IMAGES.lock().unwrap().entry(key).or_default().clone();
        cell.get_or_init(|| {
            let home = images().join(format!("jdk-{}-{name}", jdk.version));
            let verifies = ![Blocks::Exact.name(), REPRODUCIBLE].contains(&name);
            let archive: &[&str] = if verifies { &["--no-cds"] } else { &[] };
            make(jdk, &[options, archive].concat(), &home);
            Box::leak(Box::new(Image { jdk: Jdk::made(jdk.version, home), verifies }))
        })
    }

    /// Removes an image that no other test needs: together they would fill a disk.
    pub fn remove(jdk: &'static Jdk, blocks: Blocks) {
        fs::remove_dir_all(Image::of(jdk, blocks).home()).unwrap();
    }

    /// The image of a JDK with pinned chance and exact counts.
    pub fn reproducible(jdk: &'static Jdk) -> &'static Image {
        Image::made(jdk, REPRODUCIBLE, &["--reproducible", "--blocks", "exact"])
    }

    /// The rules by which images of a JDK count. All are worth the time and the space on one JDK
    /// only: JDK 8 runs everything.
    pub fn rules(jdk: &Jdk) -> &'static [Blocks] {
        if jdk.version == 21 { &ALL_BLOCKS } else { &[Blocks::Exact] }
    }

    /// The ways in which programs are run on images of a JDK to compare their output, with values
    /// of `cctrewrite.record`. They cover its rules and, on some JDKs, contexts that the thread
    /// carries and natives under other names.
    pub fn runs(jdk: &Jdk) -> impl Iterator<Item = (Blocks, &'static str)> {
        const RUNS: [(Blocks, &str); 5] = [
            (Blocks::Exact, "on"),
            (Blocks::Exact, "off"),
            (Blocks::Default, "on"),
            (Blocks::Thread, "on"),
            (Blocks::Prefix, "on"),
        ];
        let (rules, version) = (Image::rules(jdk), jdk.version);
        RUNS.into_iter().filter(move |(blocks, _)| match blocks {
            Blocks::Thread => [17, 21, 25].contains(&version),
            Blocks::Prefix => [17, 25].contains(&version),
            rule => rules.contains(rule),
        })
    }

    /// The image of a JDK, with default blocks, that does not record classes of these names.
    pub fn without(jdk: &'static Jdk, classes: &[&str]) -> &'static Image {
        let options: Vec<&str> = classes.iter().flat_map(|class| ["--exclude", *class]).collect();
        Image::made(jdk, "without", &options)
    }

    /// The image of a JDK, where the thread carries contexts, that records one class.
    pub fn of_one_class(jdk: &'static Jdk, class: &str) -> &'static Image {
        Image::made(jdk, "thread-included", &["--context", "thread", "--include", class])
    }

    /// The image's home.
    pub fn home(&self) -> &Path {
        self.jdk.home()
    }

    /// A JVM of the image. The verifier checks the classes that it loads, except for exact counts:
    /// `images::links` checks all classes of these images, once. Without the verifier JVMs start in
    /// less than half the time, and use the archive of classes as users' JVMs do. With
    /// `--reproducible` the code differs at a few calls only.
    pub fn java(&self, name: &str) -> Java {
        let mut java = Java::new(&self.jdk, name);
        if self.verifies {
            java.verify();
        }
        java
    }

    /// A JVM of the image with only the built-in options.
    pub fn java_as_it_is(&self, name: &str) -> Java {
        Java::new(&self.jdk, name)
    }
}

/// A JVM that profiles the fixtures, which are on its class path: on JDK 8 instrumented beforehand,
/// later unchanged on an image.
pub fn profiled(jdk: &'static Jdk, blocks: Blocks, name: &str) -> Java {
    if jdk.version == 8 {
        return Library::whole(jdk, blocks).java(name);
    }
    let mut java = Image::of(jdk, blocks).java(name);
    java.class_path([plain_programs()]);
    java
}

/// The folder of images, which `cargo xtask test` removes in the end: they are large.
fn images() -> PathBuf {
    let folder = scratch().join("images");
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs `cctrewrite jdk`, which must succeed.
fn make(jdk: &Jdk, options: &[&str], home: &Path) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.arg("jdk").arg(jdk.home()).arg("-o").arg(home).arg("--link").args(options).args(carrier(options));
    assert_succeeded(&mut command);
}
