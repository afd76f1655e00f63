//! The class files in the repository match their sources. JDK 8's compiler produces the same bytes,
//! and every other compiler class files with the same meaning.

// A test that cannot set itself up has failed.
#![allow(clippy::unwrap_used)]

#[path = "support/meaning.rs"]
mod meaning;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use cct_classfile::constant_pool::tag;
use cct_classfile::{ClassFile, Code, opcode};
use cct_runtime_sources::{RELEASE, compile, files_below, version};
use meaning::meaning;

/// Class files by their paths.
type Classes = BTreeMap<String, Vec<u8>>;

fn class_files(folder: &Path) -> Classes {
    let files = files_below(folder)
        .unwrap()
        .into_iter()
        .filter(|file| file.extension().is_some_and(|e| e == "class"));
    files
        .map(|file| {
            let name = file.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
            (name, fs::read(file).unwrap())
        })
        .collect()
}

/// The class files that this `javac` produces from the sources.
fn compiled(javac: &Path) -> Classes {
    let scratch = tempfile::tempdir().unwrap();
    class_files(&compile(javac, Path::new(env!("CARGO_MANIFEST_DIR")), scratch.path()).unwrap())
}

fn kept() -> Classes {
    class_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("classes"))
}

/// The compilers of the releases with long-term support, and the machine's own.
fn compilers() -> Vec<PathBuf> {
    let homes = [8, 11, 17, 21, 25].iter().filter_map(|version| env::var_os(format!("JAVA{version}_HOME")));
    let homes = homes.chain(env::var_os("JAVA_HOME")).map(|home| PathBuf::from(home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<_> = homes
        .chain(env::split_paths(&path))
        .filter_map(|folder| folder.join("javac").canonicalize().ok())
        .collect();
    found.sort();
    found.dedup();
    found
}

fn is_of_release(javac: &Path) -> bool {
    version(javac).unwrap().starts_with(&format!("javac 1.{RELEASE}."))
}

#[test]
fn the_class_files_are_those_of_the_compiler() {
    let Some(javac) = compilers().into_iter().find(|javac| is_of_release(javac)) else {
        eprintln!("skipped: no JDK {RELEASE} whose compiler makes the class files (JAVA{RELEASE}_HOME)");
        return;
    };
    let (kept, made) = (kept(), compiled(&javac));
    assert_eq!(kept.keys().collect::<Vec<_>>(), made.keys().collect::<Vec<_>>());
    let others: Vec<_> = kept.keys().filter(|name| kept[*name] != made[*name]).collect();
    assert!(others.is_empty(), "{}: `cargo xtask runtime` makes others: {others:?}", javac.display());
}

#[test]
fn every_compiler_says_the_same() {
    // JDK 8's compiler has produced the same bytes.
    let compilers: Vec<_> = compilers().into_iter().filter(|javac| !is_of_release(javac)).collect();
    if compilers.is_empty() {
        eprintln!("skipped: no javac but that of JDK {RELEASE} on this machine");
    }
    let kept = kept();
    // Each takes ten seconds, mostly on one core.
    let made: Vec<Classes> = thread::scope(|scope| {
        let running: Vec<_> = compilers.iter().map(|javac| scope.spawn(|| compiled(javac))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for (javac, made) in compilers.iter().zip(made) {
        let (mut bodies, mut alike) = (0, 0);
        for (name, bytes) in made {
            let who = format!("{} of {}", name, javac.display());
            let ours = meaning(kept.get(&name).unwrap_or_else(|| panic!("{who} is not kept")));
            let theirs = meaning(&bytes);
            assert_eq!(ours.declarations, theirs.declarations, "{who}");
            assert!(ours.bodies.keys().eq(theirs.bodies.keys()), "{who}");
            for (method, body) in &ours.bodies {
                let other = &theirs.bodies[method];
                assert_eq!(body.effects, other.effects, "{who}: {method}");
                bodies += 1;
                alike += usize::from(body.instructions == other.instructions);
            }
        }
        eprintln!("{}: {alike} of {bodies} bodies are alike", version(javac).unwrap());
        // Other compilers arrange `finally` differently, number locals differently, or omit a cast:
        // seventeen of 1,516 when this was written.
        assert!(
            bodies - alike <= bodies / 50,
            "{}: only {alike} of {bodies} bodies are alike",
            javac.display()
        );
    }
}

/// A lambda would make the JVM generate a class while the program runs, which profiles report as
/// missing. It would also set up method handles in programs that use none.
#[test]
fn nothing_that_runs_beside_programs_has_lambdas() {
    for (name, bytes) in kept() {
        let class = ClassFile::parse(&bytes).unwrap();
        let mut tags = (1..u16::MAX).filter_map(|index| class.pool.tag(index));
        assert!(tags.all(|tag| tag != tag::INVOKE_DYNAMIC), "{name}");
    }
}

/// A class file with different behaviour is detected as such, not only as a different file.
#[test]
fn another_meaning_is_seen() {
    let kept = kept();
    let bytes = &kept["runtime/java/lang/CctRuntime.class"];
    let class = ClassFile::parse(bytes).unwrap();
    let sound = meaning(bytes);
    let mut changed = bytes.clone();
    let mut other = |at: usize, to: u8| {
        let before = std::mem::replace(&mut changed[at], to);
        assert_ne!(meaning(&changed), sound, "byte {at}: {to} in the place of {before}");
        changed[at] = before;
    };
    let mut seen = 0;
    for method in &class.methods {
        let Some(code) = Code::of(&class, method).unwrap() else { continue };
        let begin = code.bytes.as_ptr() as usize - bytes.as_ptr() as usize;
        for instruction in code.instructions() {
            // Another local, another sum, another direction.
            let opposite = match instruction.opcode {
                opcode::ILOAD_0..=opcode::ALOAD_3 => instruction.opcode ^ 1,
                opcode::IADD | opcode::LADD => instruction.opcode + 4,
                opcode::IFEQ | opcode::IFNULL => instruction.opcode + 1,
                _ => continue,
            };
            other(begin + instruction.bci as usize, opposite);
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}
