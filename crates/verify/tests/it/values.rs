//! Classes where values represent contexts (docs/research/pcc.md), correct ones and deliberately
//! broken ones.

use std::collections::BTreeMap;

use cct_classfile::constant_pool::tag;
use cct_classfile::{ClassFile, opcode};
use cct_pcc::MethodChoice;
use cct_settings::{Intrinsics, Settings};
use cct_verify::link_results::follow;
use cct_verify::{Expectation, check_with_links};
use rayon::prelude::*;

use super::alterations::{Place, at_instructions, helper, instead, offset};
use super::jdk::library;
use super::mutations::{Change, nothing_panics};
use super::support::{ClassLibrary, expectation, marked, rewriter, sample, sets, step, verify};

/// Some of everything: bodies, natives of all kinds, and callees that only callers can record.
const SOME: &[&str] = &[
    "java.util.**.*",
    "Sample.*",
    "java.lang.Object.*",
    "java.lang.System.*",
    "java.lang.Class.*",
    "java.lang.ref.Reference.*",
    "java.security.AccessController.*",
    "**.<clinit>",
];

fn settings(at: &[&'static str], only: &[&'static str]) -> Settings {
    let chosen = MethodChoice::parse(at.iter().copied(), only.iter().copied()).unwrap();
    Settings::default().of_values(chosen.interned())
}

#[test]
fn all_of_jdk_8() {
    library(8, settings(SOME, &[]), 1);
}

#[test]
fn some_of_jdk_17() {
    library(17, settings(SOME, &[]), step(5));
}

#[test]
fn with_each_choice() {
    library(8, settings(&[], &[]), step(8));
    library(8, settings(&["**.*"], &["java.util.**.*", "java.lang.Class.for*", "**.doPrivileged"]), step(8));
    library(17, settings(&["**.*"], &["java.lang.**.*"]), step(12));
    let native = Settings { intrinsics: Intrinsics::Native, reproducible: true, ..settings(SOME, &[]) };
    library(8, native, step(8));
    library(17, native, step(12));
}

/// Classes that are not recorded pass on the values that they got.
#[test]
fn classes_that_are_left_out() {
    let Some(library) = ClassLibrary::of(8) else { return };
    let settings = settings(SOME, &[]);
    let rewriter = library.filtered(settings, |class| !class.starts_with(b"java/util/"));
    let some: Vec<Vec<u8>> = library.classes.iter().step_by(5).cloned().collect();
    let (findings, tally, _) = verify(&some, &rewriter, expectation(&settings));
    assert!(findings.is_empty(), "{:#?}", findings.iter().take(5).collect::<Vec<_>>());
    assert!(tally.bodies > 1000);
}

#[test]
fn extents_and_starts() {
    let class = [sample()];
    for at in [&["Sample.*"][..], &[]] {
        let settings = settings(at, &[]);
        let rewriter = marked(&class, settings, "Sample.compute", "Sample.weight");
        let (findings, ..) = verify(&class, &rewriter, expectation(&settings));
        assert!(findings.is_empty(), "{findings:?}");
    }
}

/// A choice that differs from the classes' own, and a different tool.
#[test]
fn another_choice_is_found() {
    let class = vec![sample()];
    let right = settings(&["Sample.*"], &[]);
    let rewriter = rewriter(&class, right);
    assert!(verify(&class, &rewriter, expectation(&right)).0.is_empty());
    for wrong in [
        settings(&[], &[]),
        settings(&["Sample.<init>"], &[]),
        settings(&["Sample.*"], &["Other.*"]),
        settings(&["**.*"], &[]),
        Settings::default(),
        Settings { call_sites: true, metrics: cct_settings::Metrics::Calls, ..Settings::default() },
    ] {
        let expectation = Expectation { provenance: None, ..expectation(&wrong) };
        assert!(!verify(&class, &rewriter, expectation).0.is_empty(), "{wrong:?}");
    }
    let rewriter = super::support::rewriter(&class, Settings::default());
    let expectation = Expectation { provenance: None, ..expectation(&right) };
    assert!(!verify(&class, &rewriter, expectation).0.is_empty());
}

/// Changes one bit of the `long` constant at an index: `bit` from the lowest.
fn other_long(class: &ClassFile<'_>, index: u16, bit: usize) -> Vec<Change> {
    let Ok(value) = class.pool.long(index) else { return Vec::new() };
    let pool = class.pool.raw();
    let bytes = [&[tag::LONG][..], &value.to_be_bytes()].concat();
    let Some(at) = pool.windows(9).position(|w| w == bytes) else { return Vec::new() };
    let at = offset(class.bytes, pool) + at + 8 - bit / 8;
    vec![(at..at + 1, vec![class.bytes[at] ^ 1 << (bit % 8)])]
}

/// Changes the `long` constants that are pushed before these instructions.
fn constants(class: &ClassFile<'_>, before: impl Fn(&Place<'_, '_>) -> bool) -> Vec<Change> {
    at_instructions(class, |place| match place.instruction.pool_index() {
        Some(index) if place.instruction.opcode == opcode::LDC2_W && before(place) => {
            [1, 62].iter().flat_map(|&bit| other_long(class, index, bit)).collect()
        }
        _ => Vec::new(),
    })
}

fn next_is(place: &Place<'_, '_>, op: u8) -> bool {
    place.next.is_some_and(|next| next.opcode == op)
}

/// The number that a body's call adds changes.
fn another_site(class: &ClassFile<'_>) -> Vec<Change> {
    constants(class, |place| next_is(place, opcode::LADD) && is_ours(place, true))
}

/// The factor by which values are multiplied changes.
fn another_factor(class: &ClassFile<'_>) -> Vec<Change> {
    constants(class, |place| next_is(place, opcode::LMUL) && is_ours(place, false))
}

/// The id of the place changes.
fn another_place(class: &ClassFile<'_>) -> Vec<Change> {
    constants(class, |place| place.next.and_then(|next| helper(class, &next)) == Some(b"at"))
}

/// Whether a multiplication or an addition may be inserted code: a change of the program's own
/// constants changes only the program.
fn is_ours(place: &Place<'_, '_>, is_site: bool) -> bool {
    let behind = |i: cct_classfile::Instruction<'_>| place.code.instruction_at(i.end());
    let third = place.next.and_then(behind);
    let is_handed_on =
        third.is_some_and(|i| matches!(i.opcode, opcode::ACONST_NULL) || helper(place.class, &i).is_some());
    if is_site { is_handed_on } else { third.is_some() }
}

fn not_recorded(class: &ClassFile<'_>) -> Vec<Change> {
    left_out(class, b"at", &[opcode::POP2, opcode::POP2])
}

fn not_handed_on(class: &ClassFile<'_>) -> Vec<Change> {
    left_out(class, b"store", &[opcode::POP2])
}

fn left_out(class: &ClassFile<'_>, name: &[u8], pops: &[u8]) -> Vec<Change> {
    at_instructions(class, |place| match helper(class, &place.instruction) {
        Some(helper) if helper == name => instead(place, pops.to_vec()),
        _ => Vec::new(),
    })
}

/// The operator of the product or the sum changes.
fn other_operator(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match place.instruction.opcode {
        opcode::LMUL => vec![(place.at..place.at + 1, vec![opcode::LADD])],
        opcode::LADD => vec![(place.at..place.at + 1, vec![opcode::LSUB])],
        _ => Vec::new(),
    })
}

/// A helper replaces another one with the same descriptor.
fn other_helper(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let (Some(_), Some(index)) = (helper(class, &place.instruction), place.instruction.pool_index())
        else {
            return Vec::new();
        };
        let descriptor = |index| class.pool.member_ref(index).map(|m| m.descriptor).ok();
        let same = |other: &u16| *other != index && descriptor(*other) == descriptor(index);
        let other = class.pool.indices().find(same);
        other.map_or(Vec::new(), |other| vec![(place.at + 1..place.at + 3, other.to_be_bytes().to_vec())])
    })
}

/// The supertypes of a class, and the classes of methods without an instrumented body.
fn above<'c>(class: &ClassFile<'_>, all: &'c [Vec<u8>]) -> Vec<&'c Vec<u8>> {
    let named = |name: &[u8]| all.iter().find(|c| ClassFile::parse(c).is_ok_and(|c| c.name() == name));
    let mut names = vec![
        b"java/lang/Class".to_vec(),
        b"java/lang/System".to_vec(),
        b"java/security/AccessController".to_vec(),
        b"sun/reflect/Reflection".to_vec(),
    ];
    let mut next = class.super_name().map(<[u8]>::to_vec);
    while let Some(name) = next {
        next = named(&name).and_then(|c| Some(ClassFile::parse(c).ok()?.super_name()?.to_vec()));
        names.push(name);
    }
    names.iter().filter_map(|name| named(name)).collect()
}

type Kind = (&'static str, fn(&ClassFile<'_>) -> Vec<Change>);

const KINDS: &[Kind] = &[
    ("a call adds something else", another_site),
    ("values are multiplied by something else", another_factor),
    ("a value is recorded at another place", another_place),
    ("a value is not recorded", not_recorded),
    ("a value is not handed on", not_handed_on),
    ("an operator is another one", other_operator),
    ("another helper is called", other_helper),
];

#[test]
fn alterations_are_found() {
    let mut made: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (at, only) in [(SOME, &[][..]), (&["**.*"], &[]), (SOME, &["java.**.*"])] {
        let settings = settings(at, only);
        let expectation = expectation(&settings);
        for (library, step) in sets(130) {
            let classes = &library.classes;
            let rewriter = library.rewriter(settings);
            for original in classes.iter().step_by(step) {
                let Some(rewritten) = rewriter.rewrite(original).unwrap().bytes else { continue };
                let class = ClassFile::parse(&rewritten).unwrap();
                for (name, kind) in KINDS {
                    let changes = kind(&class);
                    for (range, bytes) in changes.iter().step_by(changes.len().div_ceil(6).max(1)) {
                        let mut broken = rewritten.clone();
                        broken[range.clone()].copy_from_slice(bytes);
                        let (findings, _, links) = check_with_links(original, &broken, expectation, None);
                        // Only the supertypes show which class declares a callee, and so which
                        // probe is correct.
                        let found = !findings.is_empty() || {
                            let above = above(&class, classes).into_iter().filter_map(|original| {
                                let rewritten = rewriter.rewrite(original).unwrap().bytes?;
                                check_with_links(original, &rewritten, expectation, None).2
                            });
                            !follow(&above.chain(links).collect::<Vec<_>>()).wrong.is_empty()
                        };
                        let count = made.entry(name).or_default();
                        count.0 += 1;
                        count.1 += u32::from(found);
                        let class = String::from_utf8_lossy(class.name());
                        assert!(found, "{class}, byte {}: {name}", range.start);
                    }
                }
            }
        }
    }
    println!("{made:?}");
    assert_eq!(made.len(), KINDS.len(), "{made:?}");
}

#[test]
fn nothing_makes_it_panic() {
    nothing_panics(settings(&["Sample.*", "java.lang.Object.*"], &[]));
}

/// Callers must record callees that only they can record, under the declaring class: `doPrivileged`
/// of JDK 8, and `clone` above an unknown class.
#[test]
fn callees_without_a_body_are_recorded_by_those_who_call() {
    let Some(library) = ClassLibrary::of(8) else { return };
    let with = |at: &[&'static str]| settings(at, &[]);
    let privileged = ["java.security.AccessController.doPrivileged", "java.lang.Object.clone"];
    for (made, said) in [(&privileged[..], &[][..]), (&[][..], &privileged[..])] {
        let (made, said) = (with(made), with(said));
        let rewriter = library.rewriter(made);
        let expectation = Expectation { provenance: None, ..expectation(&said) };
        // With the classes that declare these callees.
        let is_public =
            |bytes: &&Vec<u8>| ClassFile::parse(bytes).is_ok_and(|c| c.name().starts_with(b"java/"));
        let links = library.classes.par_iter().filter(is_public).filter_map(|original| {
            let rewritten = rewriter.rewrite(original).unwrap().bytes?;
            check_with_links(original, &rewritten, expectation, None).2
        });
        let wrong = follow(&links.collect::<Vec<_>>()).wrong;
        let of = |callee: &str| wrong.iter().filter(|(_, f)| f.to_string().contains(callee)).count();
        assert!(of("value") + of("record") > 50, "{}", wrong.len());
    }
}
