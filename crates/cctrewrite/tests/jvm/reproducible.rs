//! `--reproducible`: a program that depends on chance behaves the same in every run.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cct_classfile::{ClassFile, Code, MemberName};
use cct_jdk::pins::{Clock, PINS};
use cct_rewrite::pins::reads;

use crate::support::{
    Blocks, Java, Jdk, Library, assert_succeeded, fixture, folder, instrument, lasting_folder,
};

const RUNS: usize = 5;

/// The class library, `rt.jar` alone, with everything pinned, and the program.
struct PinnedLibrary {
    library: Library,
    /// The options that `cctrewrite flags` prints for it.
    options: Vec<String>,
}

fn pinned(jdk: &'static Jdk) -> &'static PinnedLibrary {
    static PINNED: OnceLock<PinnedLibrary> = OnceLock::new();
    PINNED.get_or_init(|| {
        let folder = lasting_folder("pinned");
        let (boot, programs) = (folder.join("rt.jar"), folder.join("programs"));
        instrument(&[jdk.rt_jar()], &[], &boot, &["--reproducible"]);
        let library = std::slice::from_ref(&boot);
        instrument(&[fixture("chance/classes")], library, &programs, &["--reproducible"]);
        let mut flags = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        let flags = flags.arg("flags").arg("--no-load-time").arg(&boot).output().unwrap();
        let options = String::from_utf8(flags.stdout).unwrap();
        let options = options.lines().filter(|line| !line.starts_with("-Xbootclasspath")).map(str::to_owned);
        PinnedLibrary { options: options.collect(), library: Library::of(jdk, vec![boot], programs) }
    })
}

/// A JVM with all options except those with this prefix.
fn java(jdk: &'static Jdk, without: &str) -> Java {
    let pinned = pinned(jdk);
    let mut java = pinned.library.java("chance");
    for option in pinned.options.iter().filter(|o| without.is_empty() || !o.starts_with(without)) {
        java.option(option);
    }
    java
}

#[test]
fn profiles_are_identical_where_chance_is_pinned() {
    let Some(jdk) = Jdk::find() else { return };
    let runs: Vec<_> = (0..RUNS).map(|_| java(jdk, "").succeed("Chance", &[])).collect();
    let profile = runs[0].profile();
    assert_eq!((profile.meta["reproducible"].as_str(), &*profile.notes), ("yes", &[][..]));
    let bytes = std::fs::read(runs[0].profile_path()).unwrap();
    for run in &runs[1..] {
        assert_eq!(run.out, runs[0].out);
        assert!(bytes == std::fs::read(run.profile_path()).unwrap(), "profiles differ");
    }
    // HotSpot's order is that of the names' addresses.
    let members: Vec<&str> = runs[0].out.split_whitespace().skip(6).collect();
    assert!(members.len() > 5 && members.is_sorted(), "{members:?}");
}

#[test]
fn otherwise_they_differ() {
    let Some(jdk) = Jdk::find() else { return };
    let plain = || {
        let mut java = Library::whole(jdk, Blocks::Exact).java("no-pins");
        java.class_path([fixture("chance/classes")]).succeed("Chance", &[]).out
    };
    let outputs: BTreeSet<String> = (0..RUNS).map(|_| plain()).collect();
    assert!(outputs.len() > 1, "{outputs:?}");
}

#[test]
fn missing_options_are_named() {
    let Some(jdk) = Jdk::find() else { return };
    for (option, named) in [
        ("-XX:hashCode", "-XX:hashCode=3"),
        ("-XX:ActiveProcessorCount", "-XX:ActiveProcessorCount=1"),
        ("-XX:SoftRef", "-XX:SoftRefLRUPolicyMSPerMB=2147483647"),
        ("-XX:-BytecodeVerification", "-XX:-BytecodeVerificationRemote"),
        ("-Dsun.io", "-Dsun.io.useCanonCaches=false"),
    ] {
        let profile = java(jdk, option).succeed("Chance", &[]).profile();
        assert_eq!(profile.meta["reproducible"], "partly");
        let [note] = &*profile.notes else { panic!("{option}: {:?}", profile.notes) };
        assert!(note.starts_with("not reproducible without ") && note.contains(named), "{note}");
    }
}

/// The user's own value is later on the command line, and wins.
#[test]
fn other_values_pin_as_well() {
    let Some(jdk) = Jdk::find() else { return };
    let mut java = java(jdk, "");
    for option in ["-XX:hashCode=2", "-XX:ActiveProcessorCount=4", "-XX:SoftRefLRUPolicyMSPerMB=0"] {
        java.option(option);
    }
    assert_eq!(java.succeed("Chance", &[]).profile().meta["reproducible"], "yes");
}

#[test]
fn a_collection_is_reported() {
    let Some(jdk) = Jdk::find() else { return };
    let collected = |memory: &str| {
        let mut java = java(jdk, "");
        java.option(memory);
        let profile = java.succeed("Chance", &["32"]).profile();
        profile.notes.iter().any(|note| note.contains("the garbage collector ran"))
    };
    assert_eq!([collected("-Xmn4m"), collected("-Xmn200m")], [true, false]);
}

/// The table of pins matches the class library of each JDK.
#[test]
fn the_pins_of_every_jdk_are_there() {
    for jdk in cct_jdk::TESTED.map(|release| u16::try_from(release).unwrap()) {
        let variable = format!("JAVA{jdk}_HOME");
        let Some(home) = std::env::var_os(&variable).map(PathBuf::from) else {
            eprintln!("skipped: JDK {jdk}, since {variable} is not set");
            continue;
        };
        let expected: BTreeSet<(MemberName<'_>, Clock)> = PINS
            .iter()
            .filter(|pin| (pin.since..=pin.until).contains(&jdk))
            .map(|pin| (pin.method, pin.clock))
            .collect();
        let mut found = BTreeSet::new();
        for class in PINS.iter().map(|pin| pin.method.class).collect::<BTreeSet<_>>() {
            let Some(bytes) = class_of(&home, jdk, std::str::from_utf8(class).unwrap()) else { continue };
            let parsed = ClassFile::parse(&bytes).unwrap();
            for member in &parsed.methods {
                let Some(code) = Code::of(&parsed, member).unwrap() else { continue };
                for (_, clock) in reads(&parsed, member.name, &code).unwrap() {
                    found.insert((class, member.name.to_vec(), clock));
                }
            }
        }
        let expected: BTreeSet<_> =
            expected.into_iter().map(|(m, clock)| (m.class, m.name.to_vec(), clock)).collect();
        assert_eq!(found, expected, "JDK {jdk}");
        assert!(found.len() >= 5);
    }
}

/// A class of `java.base`.
fn class_of(home: &Path, jdk: u16, name: &str) -> Option<Vec<u8>> {
    let output = folder("class-of");
    let mut command = if jdk == 8 {
        let mut jar = Command::new(home.join("bin/jar"));
        jar.arg("xf").arg(home.join("jre/lib/rt.jar")).arg(format!("{name}.class"));
        jar
    } else {
        let mut jimage = Command::new(home.join("bin/jimage"));
        jimage.arg("extract").arg("--include").arg(format!("glob:/java.base/{name}.class"));
        jimage.arg(home.join("lib/modules"));
        jimage
    };
    assert_succeeded(command.current_dir(&output));
    let place = if jdk == 8 { output } else { output.join("java.base") };
    std::fs::read(place.join(format!("{name}.class"))).ok()
}
