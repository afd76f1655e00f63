//! Rewritten classes with one alteration, which the checker must find.
//!
//! More than two hundred classes are broken in each of the ways of [`super::alterations`], at
//! locations spread over all their methods. The checker must find every alteration that changes the
//! program or the counts.

use std::collections::BTreeMap;
use std::ops::Range;

use cct_classfile::ClassFile;
use cct_columns::Column;
use cct_settings::Settings;
use cct_tables::BlockRule;
use cct_verify::{Expectation, check};

use super::alterations::{BUILT, FOUND, ORIGINAL_CONSTANT};
use super::support::{ClassLibrary, expectation, monitors, rewriter, sample, sample_with_names};

/// A class, and its original.
struct Subject {
    original: Vec<u8>,
    rewritten: Vec<u8>,
    expectation: Expectation,
}

/// A change of a class file: a range of bytes, and as many new bytes.
pub type Change = (Range<usize>, Vec<u8>);

/// All changes of one kind in a class.
pub type Kind = fn(&ClassFile<'_>) -> Vec<Change>;

/// Creates whole files, each with one fault.
pub type Builder = fn(&ClassFile<'_>) -> Vec<Vec<u8>>;

/// The ways in which a class is broken.
enum Alteration {
    Changed(Kind),
    Built(Builder),
}

impl Alteration {
    /// A few broken files of a class, spread over it.
    fn of(&self, class: &ClassFile<'_>, subject: &Subject, name: &str) -> Vec<Vec<u8>> {
        let mut files: Vec<Vec<u8>> = match self {
            Alteration::Built(build) => build(class),
            Alteration::Changed(kind) => {
                let mut changes = kind(class);
                if name == ORIGINAL_CONSTANT {
                    // Constants that inserted code does not refer to have no meaning.
                    let end = ClassFile::parse(&subject.original).unwrap().pool.end();
                    changes.retain(|(range, _)| range.end <= end);
                }
                changes.retain(|(range, bytes)| subject.rewritten[range.clone()] != **bytes);
                let broken = |(range, bytes): &Change| {
                    let mut file = subject.rewritten.clone();
                    file[range.clone()].copy_from_slice(bytes);
                    file
                };
                let step = changes.len().div_ceil(PER_CLASS).max(1);
                return changes.iter().step_by(step).map(broken).collect();
            }
        };
        let step = files.len().div_ceil(PER_CLASS).max(1);
        files = files.into_iter().step_by(step).collect();
        files
    }
}

/// Number of broken files of a kind for each class.
const PER_CLASS: usize = 3;

/// Classes with code of many shapes, by each rule.
fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    let lone = ClassLibrary::new(vec![sample(), sample_with_names(), monitors()]);
    let sets: Vec<_> = ClassLibrary::of(8).map(|all| (all, 400)).into_iter().chain([(&lone, 1)]).collect();
    for (blocks, call_sites, allocations, from) in [
        (BlockRule::Exact, false, false, 0),
        (BlockRule::Precise, false, false, 7),
        (BlockRule::Default, false, false, 13),
        (BlockRule::Exact, true, false, 21),
        (BlockRule::Exact, false, true, 34),
        (BlockRule::Exact, true, true, 55),
    ] {
        // Outputs that count objects also count columns.
        let columns = Column::all().filter(|_| allocations).collect();
        let settings = Settings { blocks, call_sites, allocations, columns, ..Settings::default() };
        let expectation = expectation(&settings);
        for &(library, step) in &sets {
            let rewriter = library.rewriter(settings);
            for original in library.classes.iter().skip(if step == 1 { 0 } else { from }).step_by(step) {
                let Some(rewritten) = rewriter.rewrite(original).unwrap().bytes else { continue };
                subjects.push(Subject { original: original.clone(), rewritten, expectation });
            }
        }
    }
    subjects
}

/// The checker terminates on any file.
#[test]
fn nothing_makes_it_panic() {
    let found = shaken(&subjects(), 20_000);
    assert!(found > 1000, "{found}");
}

/// Checks one class, rewritten with these settings, with random changes: the checker must not
/// panic.
pub fn nothing_panics(settings: Settings) {
    let original = sample();
    let rewritten =
        rewriter(std::slice::from_ref(&original), settings).rewrite(&original).unwrap().bytes.unwrap();
    let found = shaken(&[Subject { original, rewritten, expectation: expectation(&settings) }], 3_000);
    assert!(found > 300, "{found}");
}

/// Checks this many files with random changes of bytes. Returns how many had findings.
fn shaken(subjects: &[Subject], times: u32) -> usize {
    let mut dice: u64 = 42;
    let mut roll = |below: usize| {
        // xorshift64
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice % below as u64) as usize
    };
    let mut found = 0;
    for _ in 0..times {
        let subject = &subjects[roll(subjects.len())];
        if subject.rewritten.len() > 20_000 {
            continue;
        }
        let (mut original, mut rewritten) = (subject.original.clone(), subject.rewritten.clone());
        for _ in 0..=roll(3) {
            // Large numbers make sums overflow.
            let byte = [0, 1, 0x7F, 0x80, 0xFF, roll(256) as u8][roll(6)];
            let file = if roll(4) == 0 { &mut original } else { &mut rewritten };
            let at = roll(file.len());
            file[at] = byte;
        }
        found += usize::from(!check(&original, &rewritten, subject.expectation).0.is_empty());
    }
    found
}

#[test]
fn an_alteration_is_found() {
    let subjects = subjects();
    let mut missed: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut made, mut found) = (0, 0);
    let built = BUILT.iter().map(|(name, build)| (*name, Alteration::Built(*build)));
    for (name, kind) in FOUND.iter().map(|(name, kind)| (*name, Alteration::Changed(*kind))).chain(built) {
        let (mut of_kind, mut found_of_kind) = (0, 0);
        for subject in &subjects {
            let class = ClassFile::parse(&subject.rewritten).unwrap();
            for broken in kind.of(&class, subject, name) {
                of_kind += 1;
                let (findings, _) = check(&subject.original, &broken, subject.expectation);
                if findings.is_empty() {
                    let class = String::from_utf8_lossy(class.name());
                    let at = broken.iter().zip(&subject.rewritten).position(|(a, b)| a != b);
                    missed.entry(name).or_default().push(format!("{class}, byte {at:?}"));
                } else {
                    found_of_kind += 1;
                }
            }
        }
        println!("{name}: {found_of_kind} of {of_kind} found");
        made += of_kind;
        found += found_of_kind;
    }
    println!("{found} of {made} alterations found, in {} classes", subjects.len());
    for (kind, places) in &missed {
        println!("missed, {kind}: {:#?}", &places[..places.len().min(5)]);
    }
    assert!(made > 100, "only {made} alterations");
    assert_eq!(found, made);
}
