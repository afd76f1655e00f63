//! Classes with events (docs/research/trace.md), correct ones and deliberately broken ones.

use std::collections::BTreeMap;

use cct_classfile::{ClassFile, Code, access, constant_pool::tag, opcode};
use cct_rewrite::Rewriter;
use cct_settings::{Intrinsics, Settings, Tool};
use cct_verify::link_results::follow;
use cct_verify::{Expectation, Finding, Problem, check, check_with_links};

use super::alterations::{Place, at_instructions, helper, instead, offset};
use super::build::{Body, Builder};
use super::jdk::library;
use super::mutations::{Change, nothing_panics};
use super::support::{ClassLibrary, expectation, marked, rewriter, sample, sets, step, verify};

fn settings(allocations: bool) -> Settings {
    Settings { tool: Tool::Trace, allocations, ..Settings::default() }
}

#[test]
fn all_of_jdk_8() {
    library(8, settings(false), 1);
}

#[test]
fn some_of_jdk_17() {
    library(17, settings(false), step(5));
}

#[test]
fn with_objects_and_monitors() {
    library(8, settings(true), step(8));
    library(17, Settings { intrinsics: Intrinsics::Native, reproducible: true, ..settings(true) }, step(12));
}

#[test]
fn classes_that_are_left_out() {
    let Some(library) = ClassLibrary::of(8) else { return };
    let settings = settings(true);
    let rewriter = library.filtered(settings, |class| !class.starts_with(b"java/util/"));
    let some: Vec<Vec<u8>> = library.classes.iter().step_by(5).cloned().collect();
    let (findings, tally, _) = verify(&some, &rewriter, expectation(&settings));
    assert!(findings.is_empty(), "{:#?}", findings.iter().take(5).collect::<Vec<_>>());
    assert!(tally.bodies > 1000);
}

/// The entry and exit of an extent have events of their own, on each exit path.
#[test]
fn extents_and_starts() {
    let class = [sample()];
    for settings in [settings(false), settings(true)] {
        let rewriter = marked(&class, settings, "Sample.compute", "Sample.weight");
        let expectation = expectation(&settings);
        let (findings, ..) = verify(&class, &rewriter, expectation);
        assert!(findings.is_empty(), "{findings:?}");
        let rewritten = rewriter.rewrite(&class[0]).unwrap().bytes.unwrap();
        let leaves = |c: &ClassFile<'_>| {
            at_instructions(c, |place| match helper(c, &place.instruction) {
                Some(b"extent") => instead(place, vec![opcode::POP, opcode::POP2]),
                _ => Vec::new(),
            })
        };
        let changes = leaves(&ClassFile::parse(&rewritten).unwrap());
        // On entry, at the return, and by an exception.
        assert_eq!(changes.len(), 3);
        for (range, bytes) in changes {
            let mut broken = rewritten.clone();
            broken[range].copy_from_slice(&bytes);
            assert!(!check(&class[0], &broken, expectation).0.is_empty());
        }
    }
}

/// An object of a native has an event after that of the native's start, and nothing is counted: in
/// traces with objects, the wrapper of this one entered a node.
#[test]
fn natives_that_make_what_they_return() {
    let mut class = Builder::new("java/lang/reflect/Array", Some("java/lang/Object"));
    let flags = access::PRIVATE | access::STATIC | access::NATIVE;
    class.method(flags, "newArray", "(Ljava/lang/Class;I)Ljava/lang/Object;", None);
    class.method(flags, "multiNewArray", "(Ljava/lang/Class;[I)Ljava/lang/Object;", None);
    class.method(flags, "getLength", "(Ljava/lang/Object;)I", None);
    let class = [class.bytes()];
    for settings in [settings(true), settings(false), Settings { tool: Tool::Profile, ..settings(true) }] {
        let (findings, tally, _) = verify(&class, &rewriter(&class, settings), expectation(&settings));
        assert!(findings.is_empty(), "{settings:?}: {findings:?}");
        assert_eq!(tally.forms.get("counted, then called"), Some(&2), "{tally:?}");
    }
}

/// Methods that would be too large with all events have fewer, which the check reports; the rest is
/// checked.
#[test]
fn methods_too_large_for_all_events() {
    let flags = access::PUBLIC | access::STATIC;
    let method = |piece: &[u8], times: usize, limits: (u16, u16)| {
        let mut class = Builder::new("p/Large", Some("java/lang/Object"));
        let mut code = piece.repeat(times);
        code.push(opcode::RETURN);
        class.method(flags, "m", "()V", Some(Body { limits, code, ..Body::default() }));
        class.method(flags, "small", "()V", Some(Body { code: vec![opcode::RETURN], ..Body::default() }));
        class.old().bytes()
    };
    let divisions = [opcode::ICONST_1, opcode::ICONST_1, opcode::IDIV, opcode::POP];
    // One choice each, so that no block is implied by the one before.
    let jumps = [opcode::ICONST_0, opcode::IFEQ, 0, 3];
    for (class, is_partly) in [
        (method(&divisions, 1_200, (2, 0)), false),
        (method(&divisions, 12_000, (2, 0)), true),
        (method(&jumps, 1_400, (1, 0)), false),
        (method(&jumps, 14_000, (1, 0)), true),
    ] {
        let (class, settings) = ([class], settings(true));
        let rewriter = rewriter(&class, settings);
        let (findings, tally, _) = verify(&class, &rewriter, expectation(&settings));
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(tally.unchecked.len(), usize::from(is_partly), "{:?}", tally.unchecked);
        // None of the remaining events may be missing.
        let rewritten = rewriter.rewrite(&class[0]).unwrap().bytes.unwrap();
        let parsed = ClassFile::parse(&rewritten).unwrap();
        let changes = not_written(&parsed);
        assert!(changes.len() >= 2);
        for (range, bytes) in changes.iter().step_by(changes.len().div_ceil(8)) {
            let mut broken = rewritten.clone();
            broken[range.clone()].copy_from_slice(bytes);
            assert!(!check(&class[0], &broken, expectation(&settings)).0.is_empty(), "byte {}", range.start);
        }
    }
}

/// A different tool, and objects recorded or not.
#[test]
fn other_outputs_are_found() {
    let class = vec![sample()];
    let ways = [settings(false), settings(true), Settings::default()];
    for made in ways {
        let rewriter = rewriter(&class, made);
        for said in ways {
            let expectation = Expectation { provenance: None, ..expectation(&said) };
            let (findings, ..) = verify(&class, &rewriter, expectation);
            assert_eq!(findings.is_empty(), made == said, "{made:?}, {said:?}: {findings:?}");
        }
        // The tool may also be inferred.
        let (findings, ..) = verify(&class, &rewriter, Expectation::default());
        assert!(findings.is_empty(), "{made:?}: {findings:?}");
    }
}

/// A helper that writes an event.
fn writes(class: &ClassFile<'_>, i: &cct_classfile::Instruction<'_>) -> bool {
    let names: [&[u8]; 9] = [
        b"event",
        b"receiver",
        b"wide",
        b"caught",
        b"caughtWide",
        b"array",
        b"traceArrays",
        b"monitor",
        b"traceHashCode",
    ];
    helper(class, i).is_some_and(|name| names.contains(&name))
}

/// The word of an event before its helper changes: one bit of its low part, of the method, or of
/// the kind.
fn another_word(class: &ClassFile<'_>) -> Vec<Change> {
    let mut changes = at_instructions(class, |place| {
        let is_word = matches!(place.instruction.opcode, opcode::LDC | opcode::LDC_W);
        let Some(index) = place.instruction.pool_index().filter(|_| is_word) else { return Vec::new() };
        if !place.next.is_some_and(|next| writes(class, &next)) {
            return Vec::new();
        }
        let Ok(word) = class.pool.integer(index) else { return Vec::new() };
        let pool = class.pool.raw();
        let bytes = [&[tag::INTEGER][..], &word.to_be_bytes()].concat();
        let Some(at) = pool.windows(5).position(|w| w == bytes) else { return Vec::new() };
        let at = offset(class.bytes, pool) + at + 1;
        [(at, 0x40), (at + 2, 0x10), (at + 3, 1)]
            .map(|(at, bit)| (at..at + 1, vec![class.bytes[at] ^ bit]))
            .into()
    });
    // A single method may have any number.
    let bodies = class.methods.iter().filter(|m| Code::of(class, m).is_ok_and(|code| code.is_some())).count();
    changes.retain(|_| bodies > 4);
    changes
}

fn not_written(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match helper(class, &place.instruction) {
        Some(b"event") => instead(place, vec![opcode::POP, opcode::POP2]),
        Some(b"caught") => instead(place, vec![opcode::POP2, opcode::POP2]),
        _ => Vec::new(),
    })
}

/// The progress of a block changes: another number, or another local.
fn another_place(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let stores = place.next.is_some_and(|i| matches!(i.opcode, opcode::ISTORE | 59..=62));
        match place.instruction.opcode {
            op @ opcode::ICONST_0..=opcode::ICONST_4 if stores => {
                vec![(place.at..place.at + 1, vec![op + 1])]
            }
            opcode::BIPUSH if stores => {
                vec![(place.at + 1..place.at + 2, vec![place.instruction.bytes[1] ^ 1])]
            }
            _ => Vec::new(),
        }
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

/// The record of the thread is loaded from another local.
fn other_record(class: &ClassFile<'_>) -> Vec<Change> {
    let is_pushed = |place: &Place<'_, '_>| {
        let behind = place.next.and_then(|next| place.code.instruction_at(next.end()));
        behind.is_some_and(|i| writes(class, &i))
    };
    at_instructions(class, |place| match place.instruction.opcode {
        op @ 30..=32 if is_pushed(place) => vec![(place.at..place.at + 1, vec![op + 1])],
        opcode::LLOAD if is_pushed(place) && !place.instruction.is_wide() => {
            vec![(place.at + 1..place.at + 2, vec![place.instruction.bytes[1].wrapping_add(1)])]
        }
        _ => Vec::new(),
    })
}

type Kind = (&'static str, fn(&ClassFile<'_>) -> Vec<Change>);

const KINDS: &[Kind] = &[
    ("another event", another_word),
    ("an event is not written", not_written),
    ("a block came further, or less far", another_place),
    ("another helper is called", other_helper),
    ("another record", other_record),
];

#[test]
fn alterations_are_found() {
    let mut made: BTreeMap<&str, u32> = BTreeMap::new();
    for allocations in [false, true] {
        let settings = settings(allocations);
        let expectation = expectation(&settings);
        for (library, step) in sets(130) {
            let rewriter = library.rewriter(settings);
            for original in library.classes.iter().step_by(step) {
                let Some(rewritten) = rewriter.rewrite(original).unwrap().bytes else { continue };
                let class = ClassFile::parse(&rewritten).unwrap();
                for (name, kind) in KINDS {
                    let changes = kind(&class);
                    for (range, bytes) in changes.iter().step_by(changes.len().div_ceil(12).max(1)) {
                        let mut broken = rewritten.clone();
                        broken[range.clone()].copy_from_slice(bytes);
                        let (found, _) = check(original, &broken, expectation);
                        let class = String::from_utf8_lossy(class.name());
                        assert!(!found.is_empty(), "{class}, byte {}: {name}", range.start);
                        *made.entry(name).or_default() += 1;
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
    for allocations in [false, true] {
        nothing_panics(settings(allocations));
    }
}

/// The findings for all classes of these together.
fn linked(parts: &[(&Rewriter, &[Vec<u8>])], expectation: Expectation) -> Vec<(String, Finding)> {
    let pairs = parts.iter().flat_map(|(rewriter, classes)| classes.iter().map(move |c| (rewriter, c)));
    let links = pairs.filter_map(|(rewriter, original)| {
        let rewritten = rewriter.rewrite(original).unwrap().bytes?;
        let (findings, _, links) = check_with_links(original, &rewritten, expectation, None);
        assert!(findings.is_empty(), "{findings:?}");
        links
    });
    follow(&links.collect::<Vec<_>>()).wrong
}

/// No two methods may share a number: classes that were numbered separately do.
#[test]
fn numbers_that_two_methods_have_are_found() {
    let Some(library) = ClassLibrary::of(8) else { return };
    let all = library.classes[..400].to_vec();
    let settings = settings(false);
    let expectation = expectation(&settings);
    let (first, second) = all.split_at(200);
    let together = rewriter(&all, settings);
    assert_eq!(linked(&[(&together, &all)], expectation), []);
    // A class file in two archives has one number.
    assert_eq!(linked(&[(&together, &all), (&together, first)], expectation), []);
    let [one, other] = [first, second].map(|part| rewriter(part, settings));
    let wrong = linked(&[(&one, first), (&other, second)], expectation);
    assert!(wrong.iter().filter(|(_, f)| f.problem == Problem::Numbers).count() > 50, "{}", wrong.len());
}
