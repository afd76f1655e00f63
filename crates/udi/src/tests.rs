//! Tests of the allowed changes, and of the conversation with a module.

use cct_classfile::edit::ClassEdit;
use cct_classfile::{ClassFile, access, opcode};

use cct_test_classes::{class, interface, object};

use crate::check::{Misfit, check, check_runtime};
use crate::module::{Failure, Module, Outcome, RuntimeClass};
use crate::wire::{self, Answer, MAGIC, WireError};

fn misfit(old: &[u8], new: &[u8]) -> Option<Misfit> {
    check(&ClassFile::parse(old).unwrap(), new).err()
}

#[test]
fn code_may_change_and_private_methods_may_be_appended() {
    let base = || class("p/A").method(access::PUBLIC, "f", "()V");
    let old = base().bytes();
    assert_eq!(misfit(&old, &old), None);
    assert_eq!(misfit(&old, &base().with_code(vec![opcode::RETURN]).bytes()), None);
    let private = access::PRIVATE | access::STATIC;
    assert_eq!(misfit(&old, &base().method(private, "g", "()V").bytes()), None);
    for (flags, name) in [
        (access::PUBLIC, "g"),
        (0, "g"),
        (private | access::NATIVE, "g"),
        (access::PRIVATE, "<init>"),
        (private, "<clinit>"),
    ] {
        let added = misfit(&old, &base().method(flags, name, "()V").bytes());
        assert_eq!(added, Some(Misfit::AddedMethod(format!("{name}()V"))));
    }
    let f = Some(Misfit::Member("f()V".to_owned()));
    let g_first = class("p/A").method(private, "g", "()V").method(access::PUBLIC, "f", "()V");
    for other in [class("p/A"), class("p/A").method(0, "f", "()V"), g_first] {
        assert_eq!(misfit(&old, &other.bytes()), f);
    }
}

#[test]
fn the_visible_parts_of_a_class_must_stay() {
    let old = class("p/A").bytes();
    for (new, what) in [
        (class("p/B"), "name"),
        (class("p/A").extends("p/B"), "superclass"),
        (class("p/A").implements("p/I"), "interfaces"),
        (class("p/A").flags(access::FINAL), "flags"),
    ] {
        assert_eq!(misfit(&old, &new.bytes()), Some(Misfit::Changed(what)));
    }
    let mut newer = old.clone();
    newer[7] += 1;
    assert_eq!(misfit(&old, &newer), Some(Misfit::Changed("version")));
    assert!(matches!(misfit(&old, &old[..old.len() - 1]), Some(Misfit::Unreadable(_))));
    assert!(matches!(misfit(&old, b"no class"), Some(Misfit::Unreadable(_))));
}

#[test]
fn fields_are_not_added() {
    let old = class("p/A").bytes();
    let parsed = ClassFile::parse(&old).unwrap();
    let mut edit = ClassEdit::new(&parsed);
    let (name, descriptor) = (edit.additions.utf8(b"n").unwrap(), edit.additions.utf8(b"I").unwrap());
    let field = [access::PRIVATE, name, descriptor, 0].iter().flat_map(|n| n.to_be_bytes()).collect();
    edit.add_field(field);
    let new = edit.finish().unwrap();
    assert_eq!(misfit(&old, &new), Some(Misfit::AddedField("nI".to_owned())));
    assert_eq!(misfit(&new, &old), Some(Misfit::Member("nI".to_owned())));
}

/// Interfaces of old versions have public methods only.
#[test]
fn methods_of_interfaces() {
    let mut old = interface("p/I").bytes();
    let mut new = interface("p/I").method(access::PRIVATE | access::STATIC, "g", "()V").bytes();
    assert_eq!(misfit(&old, &new).is_some(), old[7] < 52);
    (old[7], new[7]) = (51, 51);
    assert_eq!(misfit(&old, &new), Some(Misfit::AddedMethod("g()V".to_owned())));
}

#[test]
fn the_constructor_of_object_stays() {
    let other = object().with_code(vec![opcode::NOP, opcode::RETURN]).bytes();
    assert_eq!(misfit(&object().bytes(), &other), Some(Misfit::Changed("constructor")));
}

#[test]
fn code_that_cannot_be_read_is_refused() {
    let base = || class("p/A").method(access::PUBLIC, "f", "()V");
    let jumps_out = base().with_code(vec![opcode::GOTO, 0, 100, opcode::RETURN]).bytes();
    let no_end = base().with_code(vec![opcode::NOP, opcode::NOP]).bytes();
    for new in [jumps_out, no_end, base().with_code(vec![0xfd]).bytes()] {
        let found = misfit(&base().bytes(), &new);
        assert!(matches!(found, Some(Misfit::Unreadable(_))), "{found:?}");
    }
}

#[test]
fn classes_of_the_modules_own_are_in_their_package() {
    assert_eq!(
        check_runtime(&class("cctrewrite/udi/runtime/A").bytes()).unwrap(),
        "cctrewrite/udi/runtime/A"
    );
    for name in ["cctrewrite/udi/runtime/Bypass", "cctrewrite/runtime/A", "java/lang/A"] {
        assert_eq!(check_runtime(&class(name).bytes()), Err(Misfit::NotInPackage(name.to_owned())));
    }
}

/// Keeps `p/Keep`, replaces `p/Replace` with nonsense, aborts `p/Abort`, fails at others.
struct Sample;

impl Module for Sample {
    fn transform(&self, class: &ClassFile<'_>) -> Result<Outcome, Failure> {
        match class.name() {
            b"p/Keep" => Ok(Outcome::Keep),
            b"p/Replace" => Ok(Outcome::Replace(b"other".to_vec())),
            b"p/Abort" => Ok(Outcome::Abort("too hard".to_owned())),
            _ => Err("it is broken".into()),
        }
    }

    fn runtime(&self) -> Vec<RuntimeClass> {
        vec![RuntimeClass { name: "cctrewrite/udi/runtime/R".to_owned(), bytes: b"bytes".to_vec() }]
    }
}

#[test]
fn a_conversation() {
    let mut asked = MAGIC.to_vec();
    for name in ["p/Keep", "p/Replace", "p/Abort", "p/Other"] {
        wire::write_field(&mut asked, name.as_bytes()).unwrap();
        wire::write_field(&mut asked, &class(name).bytes()).unwrap();
    }
    let mut said = Vec::new();
    wire::converse(&Sample, &mut &asked[..], &mut said).unwrap();
    let mut said = &said[..];
    assert_eq!(wire::read_greeting(&mut said).unwrap(), Sample.runtime());
    let expected = [
        Answer::Outcome(Outcome::Keep),
        Answer::Outcome(Outcome::Replace(b"other".to_vec())),
        Answer::Outcome(Outcome::Abort("too hard".to_owned())),
        Answer::Failed("p/Other: it is broken".to_owned()),
    ];
    for answer in expected {
        assert_eq!(wire::read_answer(&mut said).unwrap(), answer);
    }
    assert!(said.is_empty());
    // The input ends in the middle of a request.
    assert!(wire::converse(&Sample, &mut &asked[..asked.len() - 1], &mut Vec::new()).is_err());
}

#[test]
fn malformed_answers_are_distinguished() {
    let answer = |bytes: &[u8]| wire::read_answer(&mut &bytes[..]).unwrap_err();
    assert!(matches!(answer(&[9]), WireError::BadKind(9)));
    assert!(matches!(answer(&[1, 0xff, 0, 0, 0]), WireError::TooLong(0xff00_0000)));
    assert!(matches!(answer(&[1, 0, 0, 0, 2, 7]), WireError::Io(_)));
    let greeting = |bytes: &[u8]| wire::read_greeting(&mut &bytes[..]).unwrap_err();
    assert!(matches!(greeting(b"Hello, world"), WireError::NoModule(_)));
    assert!(matches!(greeting(b"CCTUDI01\x7f\xff\xff\xff"), WireError::TooMany(0x7fff_ffff)));
}
