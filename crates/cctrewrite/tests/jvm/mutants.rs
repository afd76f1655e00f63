//! Randomly changed classes in a JVM's verifier: it accepts the rewritten class if and only if it
//! accepts the original.
//!
//! `MUTANTS=20000` sets a larger number (docs/internals/fuzzing.md).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cct_classfile::ClassFile;
use cct_hostile::{Dice, mutate, seeds};

use crate::support::{Blocks, Java, Jdk, Run, fixture, folder, jdks, profiled};

/// The number without the variable.
const MUTANTS: usize = 1500;

/// The result for an accepted class.
const LINKED: &str = "linked";

/// The error for a class that was not rewritten, with a message to the program: it exceeds the
/// limits of class files (docs/internals/loadtime.md).
const MISFIT: &str = "was not rewritten and overrides";

/// Classes that JVMs reject and would accept after a normal rewriting. They have arguments that do
/// not fit into the locals, an insufficient stack, or (for an interface) a version before the
/// first.
fn refused() -> Vec<Vec<u8>> {
    let seeds = seeds::classes();
    let parsed: Vec<ClassFile<'_>> = seeds.iter().map(|seed| ClassFile::parse(seed).unwrap()).collect();
    // `max_stack` and `max_locals` of a constructor.
    let [stack, locals] = [0, 2].map(|at| {
        let changed = parsed.iter().zip(&seeds).find_map(|(class, seed)| {
            let code = class.methods.iter().find(|m| m.name == b"<init>")?.attributes.find(b"Code")?;
            let mut changed = seed.clone();
            changed[code.offset + at..code.offset + at + 2].fill(0);
            Some(changed)
        });
        changed.unwrap()
    });
    let mut interface = parsed.iter().position(ClassFile::is_interface).map(|at| seeds[at].clone()).unwrap();
    interface[6..8].copy_from_slice(&44_u16.to_be_bytes());
    vec![stack, locals, interface]
}

/// Changed classes that cctrewrite's reader accepts. Most have one change, since JVMs rarely accept
/// others.
fn mutants(count: usize) -> Vec<Vec<u8>> {
    let seeds = seeds::classes();
    let mut found = refused();
    let mut case = 0;
    while found.len() < count {
        let mut dice = Dice::new(case);
        case += 1;
        let mut class = dice.pick(&seeds).clone();
        for _ in 0..=dice.below(3) / 2 {
            class = mutate::class(&class, &mut dice);
        }
        if ClassFile::parse(&class).is_ok() {
            found.push(class);
        }
    }
    found
}

/// The file that `DefineAll` reads.
fn write(mutants: &[Vec<u8>], file: &Path) {
    let mut bytes = Vec::new();
    for mutant in mutants {
        bytes.extend_from_slice(&u32::try_from(mutant.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(mutant);
    }
    fs::write(file, bytes).unwrap();
}

fn ends(run: &Run, count: usize) -> Vec<&str> {
    let ends: Vec<&str> = run.out.lines().collect();
    assert_eq!(ends.len(), count, "{}", run.err);
    ends
}

/// The kind of an error.
fn kind(end: &str) -> &str {
    end.split(':').next().unwrap()
}

/// Rules for locations of every kind.
fn rules() -> String {
    let kinds = [
        "method",
        "loop",
        "loop-header",
        "block",
        "call",
        "handler",
        "allocation",
        "field-read",
        "field-write",
    ];
    kinds.map(|at| format!("[[marker]]\ntoken = \"t\"\nat = \"{at}\"\ncontext = [\"receiver\"]\n")).concat()
}

/// Instruments each as a file of its own, all in one run; returns them in the same order. Classes
/// that cannot be rewritten stay unchanged. So do those with the name of a class of the class
/// library, which nobody may define: one named `java.lang.Object` would be taken for a class
/// library.
fn instrumented(jdk: &Jdk, mutants: &[Vec<u8>], options: &[&str], folder: &Path) -> Vec<Vec<u8>> {
    let (before, after) = (folder.join("before"), folder.join("after"));
    fs::create_dir_all(&before).unwrap();
    // `instrument` also rejects names of the runtime's classes.
    let is_ours = |mutant: &[u8]| {
        let class = ClassFile::parse(mutant).unwrap();
        ![&b"java/"[..], b"cctrewrite/"].iter().any(|package| class.name().starts_with(package))
    };
    for (number, mutant) in mutants.iter().enumerate().filter(|(_, mutant)| is_ours(mutant)) {
        fs::write(before.join(format!("{number}.class")), mutant).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command
        .args(["instrument", "--keep-bad-classes"])
        .args(options)
        .arg("--library")
        .arg(jdk.home())
        .arg(&before)
        .arg("-o")
        .arg(&after);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rewritten = mutants.iter().enumerate().map(|(number, mutant)| {
        if is_ours(mutant) {
            fs::read(after.join(format!("{number}.class"))).unwrap()
        } else {
            mutant.clone()
        }
    });
    rewritten.collect()
}

/// Defines and links them.
fn define(java: &mut Java, outputs: &[PathBuf], classes: &[Vec<u8>], file: &Path) -> Run {
    write(classes, file);
    java.forget_class_path()
        .class_path([fixture("mutants/classes")])
        .class_path(seeds::class_folders())
        .class_path(outputs);
    java.succeed("DefineAll", &[file.to_str().unwrap()])
}

fn verifier_agrees(jdk: &'static Jdk) {
    let count = std::env::var("MUTANTS").map_or(MUTANTS, |count| count.parse().unwrap());
    let mutants = mutants(count);
    let folder = folder("mutants");
    let file = folder.join("mutants");
    let plain = define(jdk.java("mutants-plain").verify(), &[], &mutants, &file);
    let at_load_time = define(&mut profiled(jdk, Blocks::Exact, "mutants"), &[], &mutants, &file);
    agree(jdk, &mutants, (&plain, &at_load_time), &folder);
    let beforehand = instrumented(jdk, &mutants, &["--blocks", "exact"], &folder);
    let mut java = profiled(jdk, Blocks::Exact, "mutants-beforehand");
    // The runtime finds outputs by their indexes on the class path.
    let beforehand = define(&mut java, &[folder.join("after")], &beforehand, &file);
    agree(jdk, &mutants, (&plain, &beforehand), &folder);
    let marked = folder.join("marked");
    fs::create_dir(&marked).unwrap();
    fs::write(marked.join("rules.toml"), rules()).unwrap();
    let options =
        ["--tool", "markers", "--markers", marked.join("rules.toml").to_str().unwrap()].map(str::to_owned);
    let classes = instrumented(jdk, &mutants, &options.each_ref().map(String::as_str), &marked);
    let changed = classes.iter().zip(&mutants).filter(|(marked, plain)| marked != plain).count();
    assert!(changed > count / 20, "{changed} of {count} have markers, which says little");
    let jar = format!("-Xbootclasspath/a:{}", marked.join("cctrewrite-markers.jar").display());
    let marked = define(jdk.java("mutants-marked").verify().option(jar), &[], &classes, &file);
    agree(jdk, &mutants, (&plain, &marked), &folder);
}

/// Compares the results for the rewritten classes with those for the others.
fn agree(jdk: &Jdk, mutants: &[Vec<u8>], (plain, rewritten): (&Run, &Run), folder: &Path) {
    let count = mutants.len();
    let (before, now) = (ends(plain, count), ends(rewritten, count));
    let mut kinds: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let (mut wrong, mut misfits) = (Vec::new(), 0);
    for (number, (before, now)) in before.iter().zip(&now).enumerate() {
        *kinds.entry((kind(before), kind(now))).or_default() += 1;
        // A rejected class may be rejected for another reason: added code may be checked first.
        if *before == LINKED && now.contains(MISFIT) {
            misfits += 1;
        } else if (*before == LINKED) != (*now == LINKED) {
            fs::write(folder.join(format!("{number}.class")), &mutants[number]).unwrap();
            wrong.push(format!("{number}.class: {before} -> {now}"));
        }
    }
    for ((before, now), number) in &kinds {
        eprintln!("JDK {}: {number} of {count}: {before} -> {now}", jdk.version);
    }
    let accepted = before.iter().filter(|end| **end == LINKED).count();
    assert!(accepted > count / 20 && count - accepted > count / 20, "{accepted} of {count} say little");
    eprintln!("JDK {}: {misfits} of {count} misfits", jdk.version);
    assert!(misfits <= count / 100, "{misfits} of {count} are not rewritten");
    let shown = wrong.iter().take(40).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count}, in {}:\n{shown}", wrong.len(), folder.display());
}
jdks!(what_the_verifier_accepts, verifier_agrees, [8, 25], all[17]);
