//! Classes with markers (docs/research/markers.md), correct ones and deliberately broken ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cct_classfile::{ClassFile, Code, NameAndType};
use cct_markers::{Library, MarkedClass, Rules, Way, World, library, mark};
use cct_verify::{Expectation, Tally, Tool, check};
use rayon::prelude::*;
use walkdir::WalkDir;

use super::support::{ClassLibrary, sample, step};

const MARKERS: Expectation = Expectation {
    tool: Some(Tool::Markers),
    rule: None,
    reproducible: None,
    call_sites: None,
    by_thread: None,
    block_ends: None,
    cost_model: None,
    allocations: None,
    columns: None,
    no_natives: None,
    renames_natives: None,
    markers: None,
    parameter_names: None,
    provenance: None,
};

/// Rules for some kinds of locations, with everything that handlers can get.
fn rules(kinds: &[&str], more: &str) -> Rules {
    let mut rules = Rules::default();
    for at in kinds {
        let context = match *at {
            "method" | "call" => "\"receiver\", \"arguments\", \"result\"",
            _ => "\"receiver\"",
        };
        rules.add(&format!("[[marker]]\ntoken = \"t\"\nat = \"{at}\"\ncontext = [{context}]\n")).unwrap();
    }
    rules.add(more).unwrap();
    rules
}

const KINDS: [&str; 9] =
    ["method", "loop", "loop-header", "block", "call", "handler", "allocation", "field-read", "field-write"];

/// All kinds at once; each alone; without objects; one-way; and per object.
fn all_rules() -> Vec<Rules> {
    let mut all = vec![
        rules(
            &KINDS,
            "[[marker]]\ntoken = \"o\"\nat = \"method\"\nmethod = \"a*\"\nper-object = true\n\
             [[marker]]\ntoken = \"l\"\nat = \"line\"\nlines = [1, 10, 20, 30, 31, 32, 33]\n",
        ),
        rules(&[], "[[marker]]\ntoken = \"m\"\nat = \"method\"\n"),
        rules(
            &[],
            "[[marker]]\ntoken = \"m\"\nat = \"method\"\ncontext = []\nper-object = true\n\
             [[marker]]\ntoken = \"c\"\nat = \"call\"\ncontext = []\n\
             [[marker]]\ntoken = \"w\"\nat = \"method\"\nkind = \"one-way\"\ncontext = [\"arguments\"]\n",
        ),
    ];
    all.extend(KINDS.iter().map(|kind| rules(&[kind], "")));
    all
}

/// Compiled fixtures of all kinds.
fn fixtures(folders: &[&str]) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let entries = folders.iter().flat_map(|folder| WalkDir::new(root.join(folder)));
    let files = entries.map(|entry| entry.unwrap().into_path());
    let mut found: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "class")).collect();
    found.sort();
    let files = found.iter().map(|path| std::fs::read(path).unwrap());
    files.chain([sample()]).collect()
}

/// Marks classes and checks the results.
fn verify(classes: &[Vec<u8>], rules: &Rules, of: Option<Library>) -> (BTreeMap<String, Vec<String>>, Tally) {
    let world = World::default();
    let all: Vec<_> = classes
        .par_iter()
        .filter_map(|original| {
            let class = ClassFile::parse(original).ok()?;
            let unmarked =
                of.filter(|of| *of != Library::Below).and_then(|_| library::unmarked(class.name()));
            let prepared = match of {
                Some(Library::BootPath | Library::Modules) => library::prepared(&class).ok()?,
                _ => None,
            };
            let objection = |_: NameAndType<'_>| unmarked;
            let way = Way { library: of, objection: &objection, ..Way::new(rules, &world) };
            let marked = mark(prepared.as_deref().unwrap_or(original), &way).ok()?;
            let bytes = marked.bytes.or(prepared).unwrap_or_else(|| original.clone());
            let (found, tally) = check(original, &bytes, MARKERS);
            let name = String::from_utf8_lossy(class.name()).into_owned();
            Some((name, found.iter().map(ToString::to_string).collect::<Vec<_>>(), tally))
        })
        .collect();
    let (mut findings, mut sum) = (BTreeMap::new(), Tally::default());
    for (name, found, tally) in all {
        sum.add(tally);
        if !found.is_empty() {
            findings.insert(name, found);
        }
    }
    (findings, sum)
}

fn are_right(classes: &[Vec<u8>], rules: &Rules, of: Option<Library>) -> Tally {
    let (findings, tally) = verify(classes, rules, of);
    for (class, found) in findings.iter().take(20) {
        println!("{class}: {} findings, first: {}", found.len(), found[0]);
    }
    assert!(findings.is_empty(), "{} classes with findings", findings.len());
    tally
}

#[test]
fn fixtures_of_all_kinds() {
    let classes = fixtures(&["semantics", "modern", "foreign", "markers", "loadtime"]);
    // As classes of a library they differ in few ways.
    let some: Vec<Vec<u8>> = classes.iter().step_by(4).cloned().collect();
    let mut pieces = 0;
    for rules in all_rules() {
        pieces += are_right(&classes, &rules, None).pieces;
        pieces += are_right(&some, &rules, Some(Library::Below)).pieces;
    }
    println!("{pieces} pieces");
    assert!(pieces > 10_000, "{pieces}");
}

fn of_jdk(feature: u32, of: Library, step: usize) {
    let Some(library) = ClassLibrary::of(feature) else { return };
    let some: Vec<Vec<u8>> = library.classes.iter().step_by(step).cloned().collect();
    for rules in &all_rules()[..3] {
        let tally = are_right(&some, rules, Some(of));
        println!("JDK {feature}: {} pieces in {} methods", tally.pieces, tally.forms["with markers"]);
        assert!(tally.pieces > 10_000);
    }
}

#[test]
fn of_jdk_8() {
    of_jdk(8, Library::BootPath, 10);
}

#[test]
fn of_jdk_17() {
    of_jdk(17, Library::Modules, 10);
}

/// The additions to a class library besides markers, for all classes with any.
#[test]
fn the_class_library_is_prepared() {
    for (feature, of) in [(8, Library::BootPath), (17, Library::Modules)] {
        let Some(library) = ClassLibrary::of(feature) else { continue };
        let names: [&[u8]; 4] =
            [b"java/lang/Thread", b"java/lang/Module", b"java/lang/Shutdown", b"sun/launcher/LauncherHelper"];
        let is_one = |bytes: &&Vec<u8>| ClassFile::parse(bytes).is_ok_and(|c| names.contains(&c.name()));
        let four: Vec<Vec<u8>> = library.classes.iter().filter(is_one).cloned().collect();
        are_right(&four, &rules(&[], "[[marker]]\ntoken = \"t\"\nat = \"line\"\nlines = [1]\n"), Some(of));
        let tally = are_right(&four, &all_rules()[0], Some(of));
        let told = &tally.unchecked["methods that report the JVM's progress to the markers' runtime"];
        assert!(told.iter().any(|name| name.ends_with(".checkAndLoadMain")), "{told:?}");
        assert!(told.iter().any(|name| name.ends_with("Shutdown.halt")), "{told:?}");
    }
}

/// Classes before and after marking.
fn subjects() -> Vec<(Vec<u8>, Vec<u8>)> {
    let world = World::default();
    let mut subjects = Vec::new();
    for rules in &all_rules()[..3] {
        for original in fixtures(&["markers"]) {
            let Ok(MarkedClass { bytes: Some(bytes), .. }) = mark(&original, &Way::new(rules, &world)) else {
                continue;
            };
            if bytes.len() < 12_000 {
                subjects.push((original, bytes));
            }
        }
    }
    subjects
}

/// Offsets that may change without changing the meaning of a class file: the stack and locals that
/// methods declare, which may be larger.
fn limits(class: &ClassFile<'_>) -> Vec<usize> {
    let codes = class.methods.iter().flat_map(|m| m.attributes.iter()).filter(|a| a.name == b"Code");
    codes
        .flat_map(|code| {
            let at = code.data.as_ptr() as usize - class.bytes.as_ptr() as usize;
            at..at + 4
        })
        .collect()
}

/// Offsets of exception entries of constructors. JVMs refuse an added entry that begins before
/// `this(..)` or `super(..)`, and the checker accepts it (docs/internals/verify.md).
fn beginnings_in_constructors(class: &ClassFile<'_>) -> Vec<usize> {
    let constructors = class.methods.iter().filter(|method| method.name == b"<init>");
    constructors
        .filter_map(|method| {
            let code = method.attributes.find(b"Code")?.data;
            let length = u32::from_be_bytes(code.get(4..8)?.try_into().ok()?) as usize;
            let entries = u16::from_be_bytes(code.get(8 + length..10 + length)?.try_into().ok()?);
            let first = code.as_ptr() as usize - class.bytes.as_ptr() as usize + 10 + length;
            Some((0..usize::from(entries)).flat_map(move |k| first + 8 * k..first + 8 * k + 2))
        })
        .flatten()
        .collect()
}

/// Offsets of the padding of switches, which has no meaning.
fn padding(class: &ClassFile<'_>) -> Vec<usize> {
    let mut padding = Vec::new();
    for method in &class.methods {
        let Some(code) = Code::of(class, method).unwrap() else { continue };
        for i in code.instructions().filter(|i| i.switch().is_some()) {
            let at = i.bytes.as_ptr() as usize - class.bytes.as_ptr() as usize;
            padding.extend(at + 1..at + 4 - i.bci as usize % 4);
        }
    }
    padding
}

/// Whether two bytes, of which one was changed, name another constant for the same class or text.
fn names_the_same(class: &ClassFile<'_>, broken: &[u8], at: usize) -> bool {
    let index = |bytes: &[u8], at: usize| u16::from_be_bytes([bytes[at], bytes[at + 1]]);
    [at - 1, at].into_iter().filter(|at| at + 1 < broken.len()).any(|at| {
        let [old, new] = [class.bytes, broken].map(|bytes| index(bytes, at));
        let same_class = class.pool.class(old).is_ok() && class.pool.class(old) == class.pool.class(new);
        same_class || class.pool.utf8(old).is_ok() && class.pool.utf8(old) == class.pool.utf8(new)
    })
}

/// Changes bytes after the constants: every one has a meaning.
#[test]
fn each_byte_means_something() {
    let subjects = subjects();
    let missed: Vec<String> = subjects
        .par_iter()
        .flat_map_iter(|(original, marked)| {
            let class = ClassFile::parse(marked).unwrap();
            assert!(check(original, marked, MARKERS).0.is_empty());
            let spared = [limits(&class), padding(&class), beginnings_in_constructors(&class)].concat();
            let mut missed = Vec::new();
            // A prime, so that all places in instructions and attributes come up.
            let some = (class.pool.end()..marked.len()).step_by(step(5));
            for at in some.filter(|at| !spared.contains(at)) {
                // One change of each byte; neighbours differ in theirs.
                let mut broken = marked.clone();
                broken[at] ^= [0x01, 0x10, 0xFF][at % 3];
                if check(original, &broken, MARKERS).0.is_empty() && !names_the_same(&class, &broken, at) {
                    let name = String::from_utf8_lossy(class.name());
                    missed.push(format!("{name}: byte {at}, {:#x} for {:#x}", broken[at], marked[at]));
                }
            }
            missed
        })
        .collect();
    let bytes: usize = subjects.iter().map(|(_, marked)| marked.len()).sum();
    println!("{} classes of {bytes} bytes", subjects.len());
    assert!(missed.is_empty(), "{}: {:#?}", missed.len(), &missed[..missed.len().min(20)]);
}

/// The output of one tool is not accepted as that of another.
#[test]
fn another_tool_is_found() {
    let profile = Expectation { tool: Some(Tool::Profile), ..MARKERS };
    for (original, marked) in subjects() {
        assert!(!check(&original, &marked, profile).0.is_empty());
        // A class itself shows that it has markers.
        assert!(check(&original, &marked, Expectation::default()).0.is_empty());
    }
}

#[test]
fn nothing_makes_it_panic() {
    let subjects = subjects();
    let mut dice: u64 = 42;
    let mut roll = |below: usize| {
        // xorshift64
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice % below as u64) as usize
    };
    let mut found = 0;
    for _ in 0..5_000 {
        let (mut original, mut marked) = subjects[roll(subjects.len())].clone();
        for _ in 0..=roll(3) {
            let byte = [0, 1, 0x7F, 0x80, 0xFF, roll(256) as u8][roll(6)];
            let file = if roll(4) == 0 { &mut original } else { &mut marked };
            let at = roll(file.len());
            file[at] = byte;
        }
        found += usize::from(!check(&original, &marked, MARKERS).0.is_empty());
    }
    assert!(found > 1_000, "{found}");
}
