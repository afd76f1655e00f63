//! The static side of a trace: correct and wrong statements about classes.

// An alteration is an assignment, if there is anything to assign to.
#![allow(clippy::unit_arg)]

use cct_classfile::ClassFile;
use cct_events::structure::{CalleeEvents, Class, Method, Recording};
use cct_settings::{Settings, Tool};
use cct_verify::{Problem, StaticSide, check_with_links};

use super::support::{ClassLibrary, expectation, sample};

/// An alteration that makes one statement wrong. Returns whether there was such a statement.
type Alteration = (&'static str, fn(&mut Class) -> bool);

/// Alters the first method that has anything to alter.
fn in_method(class: &mut Class, alter: impl Fn(&mut Method) -> Option<()>) -> bool {
    class.methods.iter_mut().find_map(alter).is_some()
}

/// Only statements about a recorded body are certain.
fn recorded(method: &mut Method) -> Option<&mut Method> {
    (method.recording == Recording::Full).then_some(method)
}

const ALTERATIONS: &[Alteration] = &[
    ("name", |class| {
        class.name = (*b"another/Name").into();
        true
    }),
    ("superclass", |class| class.super_name.take().is_some()),
    ("interfaces", |class| class.interfaces.pop().is_some()),
    ("flags", |class| {
        class.access ^= 1;
        true
    }),
    ("fields", |class| {
        class.field_bytes += 4;
        true
    }),
    ("source", |class| class.source.take().is_some()),
    ("methods", |class| class.methods.pop().is_some()),
    ("number", |class| {
        class.first_method += 1;
        true
    }),
    ("method's name", |class| in_method(class, |m| Some(m.name = (*b"another").into()))),
    ("method's flags", |class| in_method(class, |m| Some(m.access ^= 1))),
    ("method's id", |class| in_method(class, |m| Some(m.id ^= 1 << 40))),
    ("recording", |class| in_method(class, |m| recorded(m).map(|m| m.recording = Recording::Calls))),
    ("native", |class| {
        in_method(class, |m| (m.recording == Recording::Native).then(|| m.recording = Recording::Leaf))
    }),
    ("leaf", |class| {
        in_method(class, |m| (m.recording == Recording::Leaf).then(|| m.recording = Recording::None))
    }),
    ("entry", |class| in_method(class, |m| recorded(m).map(|m| m.entry_is_target ^= true))),
    ("blocks", |class| in_method(class, |m| recorded(m)?.blocks.pop().map(drop))),
    ("block's start", |class| in_method(class, |m| Some(recorded(m)?.blocks.get_mut(1)?.start += 1))),
    ("bytecodes", |class| in_method(class, |m| Some(recorded(m)?.blocks.first_mut()?.metrics[0] += 1))),
    ("a metric", |class| {
        in_method(class, |m| {
            let metrics = recorded(m)?.blocks.iter_mut().flat_map(|block| &mut block.metrics[1..]);
            Some(*metrics.into_iter().find(|metric| **metric > 0)? -= 1)
        })
    }),
    ("no next", |class| {
        in_method(class, |m| recorded(m)?.blocks.iter_mut().find_map(|block| block.next.take()).map(drop))
    }),
    ("another next", |class| {
        in_method(class, |m| {
            Some(*recorded(m)?.blocks.iter_mut().find_map(|block| block.next.as_mut())? += 1)
        })
    }),
    ("end", |class| in_method(class, |m| Some(recorded(m)?.blocks.last_mut()?.is_last ^= true))),
    ("call", |class| in_method(class, |m| recorded(m)?.calls.pop().map(drop))),
    ("call's place", |class| in_method(class, |m| Some(recorded(m)?.calls.first_mut()?.place += 1))),
    ("callee", |class| {
        in_method(class, |m| Some(recorded(m)?.calls.first_mut()?.name = (*b"another").into()))
    }),
    ("opcode", |class| in_method(class, |m| Some(recorded(m)?.calls.first_mut()?.opcode ^= 1))),
    ("who tells", |class| {
        in_method(class, |m| {
            let call = recorded(m)?.calls.iter_mut().find(|call| call.counted == CalleeEvents::Always)?;
            Some(call.counted = CalleeEvents::Perhaps)
        })
    }),
    ("callee's id", |class| {
        in_method(class, |m| {
            let call = recorded(m)?.calls.iter_mut().find(|call| call.counted == CalleeEvents::Always)?;
            Some(call.id ^= 1 << 40)
        })
    }),
    ("handler", |class| in_method(class, |m| Some(recorded(m)?.handlers.first_mut()?.block += 1))),
    ("what is caught", |class| {
        in_method(class, |m| Some(recorded(m)?.handlers.first_mut()?.catches = (*b"another").into()))
    }),
    ("line", |class| in_method(class, |m| Some(recorded(m)?.lines.first_mut()?.1 += 1))),
    ("what is made", |class| in_method(class, |m| Some(recorded(m)?.makes.first_mut()?.0 += 1))),
    ("bytecode", |class| in_method(class, |m| Some(*recorded(m)?.code.last_mut()? ^= 1))),
];

/// How often each alteration was made; all are found.
fn alter(classes: &[Vec<u8>], all: &ClassLibrary) -> Vec<usize> {
    let settings = Settings { tool: Tool::Trace, allocations: true, ..Settings::default() };
    let rewriter = all.rewriter(settings);
    let mut made = vec![0; ALTERATIONS.len()];
    for original in classes {
        let rewritten = rewriter.rewrite(original).unwrap();
        let (Some(bytes), Some(structure)) = (rewritten.bytes, rewritten.structure) else { continue };
        let described = Class::unpack(&mut &structure[..]).unwrap();
        let find = |class: &Class| {
            let (mut side, mut packed) = (StaticSide::default(), Vec::new());
            class.pack(&mut packed);
            side.add(&packed).unwrap();
            let (findings, tally, _) =
                check_with_links(original, &bytes, expectation(&settings), Some(&side));
            assert!(tally.described == 1);
            findings
        };
        assert_eq!(find(&described), []);
        // A class without events has no number that could be wrong.
        let has_events = described.methods.iter().any(|method| method.recording == Recording::Full);
        for ((what, alteration), made) in ALTERATIONS.iter().zip(&mut made).filter(|_| has_events) {
            let mut altered = described.clone();
            if alteration(&mut altered) {
                *made += 1;
                let findings = find(&altered);
                let is_found = |f: &cct_verify::Finding| matches!(f.problem, Problem::Structure(_));
                assert!(findings.iter().any(is_found), "{}: {what}", rewritten.report.class);
            }
        }
        // Nothing is known of a missing class.
        let (findings, ..) =
            check_with_links(original, &bytes, expectation(&settings), Some(&StaticSide::default()));
        assert_eq!(findings.is_empty(), !has_events);
    }
    made
}

#[test]
fn statements_about_a_class_are_true() {
    let class = ClassLibrary::new(vec![sample()]);
    let made = alter(&class.classes, &class);
    assert!(made.iter().filter(|made| **made > 0).count() > 15, "{made:?}");
}

#[test]
fn of_jdk_8() {
    let Some(library) = ClassLibrary::of(8) else { return };
    let all = &library.classes;
    // Few natives return at once.
    let is_class = |bytes: &&Vec<u8>| ClassFile::parse(bytes).is_ok_and(|c| c.name() == b"java/lang/Class");
    let some: Vec<Vec<u8>> = all.iter().step_by(150).chain(all.iter().find(is_class)).cloned().collect();
    let made = alter(&some, library);
    for ((what, _), made) in ALTERATIONS.iter().zip(&made) {
        assert!(*made > 0, "{what} occurs nowhere");
    }
    println!("altered: {}", made.iter().sum::<usize>());
}

#[test]
fn other_data_than_static_sides_is_refused() {
    let mut side = StaticSide::default();
    assert!(side.add(&[5, 1, 2]).is_none() && side.add(&[]).is_some());
}
