//! Faults that a reader could have, each put into a reading: the comparison finds all.

use std::borrow::Cow;
use std::path::Path;

use cct_classfile::{ClassFile, NameAndType};
use walkdir::WalkDir;

use super::cafebabe_reading::Second;
use super::compare::{Part, compare};
use super::model::{Class, Code, Content, Operand, Type};
use super::own::OwnReader;
use super::{ClassView, SecondReading, Unread};
use crate::finding::Problem;

/// The change that a faulty reader makes to a class or to code. Returns whether there was anything
/// to change.
#[derive(Clone, Copy)]
enum Fault {
    Class(fn(&mut Class<'_>) -> bool),
    Code(fn(&mut Code<'_>) -> bool),
}

/// A reading of `crates/classfile`, with a fault in the class or in the code of the first method
/// where it is possible.
struct Faulty<'o, 'c, 'a> {
    own: &'o OwnReader<'c, 'a>,
    fault: Fault,
}

impl<'a> ClassView<'a> for Faulty<'_, '_, 'a> {
    fn class(&self) -> Result<Class<'a>, Unread> {
        let mut class = self.own.class()?;
        if let Fault::Class(fault) = self.fault {
            fault(&mut class);
        }
        Ok(class)
    }

    fn code(&self, method: usize) -> Result<Option<Code<'a>>, Unread> {
        let mut code = self.own.code(method)?;
        if let (Fault::Code(fault), Some(code)) = (self.fault, &mut code) {
            fault(code);
        }
        Ok(code)
    }
}

/// The class files of the fixtures.
fn fixtures() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folders = [
        "semantics/classes/sections",
        "traces/classes",
        "records/classes",
        "modern/classes",
        "frames/classes",
    ];
    let files = folders.iter().flat_map(|folder| WalkDir::new(root.join(folder)).sort_by_file_name());
    let paths = files.map(|entry| entry.unwrap().into_path());
    let paths = paths.filter(|path| path.extension() == Some("class".as_ref()));
    paths.map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn fixtures_are_read_alike() {
    let files = fixtures();
    let mut second = SecondReading::default();
    for bytes in &files {
        let class = ClassFile::parse(bytes).unwrap();
        assert_eq!(second.of(&class, super::ORIGINAL), None);
    }
    // cafebabe knows no dynamic constant among the arguments of a bootstrap method.
    let unread: Vec<&str> = second.unread.keys().map(String::as_str).collect();
    assert_eq!(unread, ["since21/PatternSwitches (original)"]);
    assert_eq!(second.alike, files.len() as u64 - 1);
    assert!(second.alike > 50, "{}", second.alike);
}

/// Alters the first content of a kind among the attributes, if there is one.
fn alter(attributes: &mut [super::model::Attribute<'_>], fault: fn(&mut Content<'_>) -> bool) -> bool {
    attributes.iter_mut().any(|attribute| fault(&mut attribute.content))
}

/// A fault: its name, its change to a reading, and the part in which the comparison must find it.
type NamedFault = (&'static str, Fault, fn(&Part) -> bool);

const FAULTS: &[NamedFault] = &[
    (
        "version",
        Fault::Class(|c| {
            c.version.0 += 1;
            true
        }),
        |p| *p == Part::Version,
    ),
    (
        "flags",
        Fault::Class(|c| {
            c.flags ^= 1;
            true
        }),
        |p| *p == Part::Flags,
    ),
    (
        "name",
        Fault::Class(|c| {
            c.name.to_mut().push(b'x');
            true
        }),
        |p| *p == Part::Name,
    ),
    ("superclass", Fault::Class(|c| c.superclass.take().is_some()), |p| *p == Part::Superclass),
    ("interfaces", Fault::Class(|c| c.interfaces.pop().is_some()), |p| *p == Part::Interfaces),
    ("a constant less", Fault::Class(|c| c.constants.pop().is_some()), |p| *p == Part::Constants),
    (
        "order of constants",
        Fault::Class(|c| {
            c.constants.swap(0, 1);
            true
        }),
        |p| *p == Part::Constant(1),
    ),
    ("a field less", Fault::Class(|c| c.fields.pop().is_some()), |p| *p == Part::Fields),
    ("a method less", Fault::Class(|c| c.methods.pop().is_some()), |p| *p == Part::Methods),
    (
        "descriptor",
        Fault::Class(|c| {
            c.methods.first_mut().is_some_and(|m| {
                m.descriptor = Cow::Borrowed(b"()J");
                true
            })
        }),
        |p| *p == Part::Descriptor,
    ),
    (
        "flags of a member",
        Fault::Class(|c| {
            c.fields.first_mut().is_some_and(|f| {
                f.flags ^= 8;
                true
            })
        }),
        |p| *p == Part::Flags,
    ),
    (
        "an attribute less",
        Fault::Class(|c| c.methods.iter_mut().any(|m| m.attributes.pop().is_some())),
        |p| *p == Part::AttributeNames,
    ),
    (
        "component of a record",
        Fault::Class(|c| {
            alter(&mut c.attributes, |content| match content {
                Content::Components(list) => list.pop().is_some(),
                _ => false,
            })
        }),
        |p| *p == Part::Attribute("Record".to_owned()),
    ),
    (
        "limits",
        Fault::Code(|c| {
            c.limits.0 += 1;
            true
        }),
        |p| *p == Part::Limits,
    ),
    (
        "bytes",
        Fault::Code(|c| {
            c.bytes = &c.bytes[1..];
            true
        }),
        |p| *p == Part::Bytes,
    ),
    (
        "a boundary",
        Fault::Code(|c| {
            c.operations.last_mut().is_some_and(|o| {
                o.bci += 1;
                true
            })
        }),
        |p| *p == Part::Boundary,
    ),
    ("an instruction less", Fault::Code(|c| c.operations.pop().is_some()), |p| *p == Part::Boundary),
    (
        "a local",
        Fault::Code(|c| {
            c.operations.iter_mut().any(|o| match &mut o.operand {
                Operand::Local(slot, _) => {
                    *slot += 1;
                    true
                }
                _ => false,
            })
        }),
        |p| *p == Part::Operand,
    ),
    (
        "the size of a local",
        Fault::Code(|c| {
            c.operations.iter_mut().any(|o| match &mut o.operand {
                Operand::Local(_, is_wide) => {
                    *is_wide = !*is_wide;
                    true
                }
                _ => false,
            })
        }),
        |p| *p == Part::Operand,
    ),
    (
        "an increment",
        Fault::Code(|c| {
            c.operations.iter_mut().any(|o| match &mut o.operand {
                Operand::Increment(_, by) => {
                    *by = by.wrapping_neg();
                    true
                }
                _ => false,
            })
        }),
        |p| *p == Part::Operand,
    ),
    (
        "a target",
        Fault::Code(|c| {
            c.operations.iter_mut().any(|o| match &mut o.operand {
                Operand::Jump(to) => {
                    *to += 1;
                    true
                }
                _ => false,
            })
        }),
        |p| *p == Part::Operand,
    ),
    (
        "a case",
        Fault::Code(|c| {
            c.operations.iter_mut().any(|o| match &mut o.operand {
                Operand::Switch(_, cases) => cases.pop().is_some(),
                _ => false,
            })
        }),
        |p| *p == Part::Operand,
    ),
    (
        "a number",
        Fault::Code(|c| {
            c.operations.iter_mut().any(|o| match &mut o.operand {
                Operand::Number(n) => {
                    *n ^= 1 << 7;
                    true
                }
                _ => false,
            })
        }),
        |p| *p == Part::Operand,
    ),
    (
        "a count",
        Fault::Code(|c| {
            c.operations.iter_mut().any(|o| match &mut o.operand {
                Operand::Counted(_, count) => {
                    *count += 1;
                    true
                }
                _ => false,
            })
        }),
        |p| *p == Part::Operand,
    ),
    (
        "the end of a handler",
        Fault::Code(|c| {
            c.handlers.first_mut().is_some_and(|h| {
                h.range.1 += 1;
                true
            })
        }),
        |p| *p == Part::Handlers,
    ),
    (
        "what a handler catches",
        Fault::Code(|c| c.handlers.iter_mut().any(|h| h.caught.take().is_some())),
        |p| *p == Part::Handlers,
    ),
    ("a frame less", Fault::Code(|c| c.frames.pop().is_some()), |p| *p == Part::Frames),
    (
        "a type of a frame",
        Fault::Code(|c| {
            c.frames.iter_mut().flat_map(|f| &mut f.locals).any(|t| {
                let is_other = *t != Type::Top;
                *t = Type::Top;
                is_other
            })
        }),
        |p| *p == Part::Frames,
    ),
    (
        "a line",
        Fault::Code(|c| {
            alter(&mut c.attributes, |content| match content {
                Content::Lines(lines) => lines.first_mut().is_some_and(|line| {
                    line.1 += 1;
                    true
                }),
                _ => false,
            })
        }),
        |p| *p == Part::Attribute("LineNumberTable".to_owned()),
    ),
];

#[test]
fn a_fault_of_our_reader_is_seen() {
    let files = fixtures();
    for (what, fault, is_expected) in FAULTS {
        let mut seen = 0;
        for bytes in &files {
            let class = ClassFile::parse(bytes).unwrap();
            let own = OwnReader::of(&class).unwrap();
            let Ok(parsed) = cafebabe::parse_class(bytes) else { continue };
            let faulty = Faulty { own: &own, fault: *fault };
            if let Some(difference) = compare(&faulty, &Second(&parsed)).unwrap().difference {
                assert!(is_expected(&difference.part), "{what}: {difference:?}");
                seen += 1;
            }
        }
        assert!(seen > 0, "{what}: seen in none of {} classes", files.len());
    }
}

/// A finding names the file, the member and the location.
#[test]
fn a_difference_is_a_finding() {
    let problem = Problem::Readers { which: "rewritten", part: Part::Operand };
    let finding = crate::Finding::at(problem, None, 7).in_member(NameAndType::new(b"m", b"()V"));
    assert_eq!(
        finding.to_string(),
        "m()V: rewritten bytecode index 7: the operands of the instruction of the rewritten class \
         file: cctrewrite and cafebabe read it differently; report this with the file"
    );
}

/// A class `C` of version 52 with one method. The method or the class has the attribute `name`.
fn with_attribute(name: &[u8], content: &[u8], on_method: bool) -> Vec<u8> {
    let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52, 0, 6];
    let mut utf8 = |text: &[u8]| {
        bytes.push(1);
        bytes.extend((text.len() as u16).to_be_bytes());
        bytes.extend(text);
    };
    [&b"C"[..], b"m", b"()V", name].into_iter().for_each(&mut utf8);
    bytes.extend([7, 0, 1]);
    // public, this class, no superclass, no interfaces, no fields.
    bytes.extend([0, 1, 0, 5, 0, 0, 0, 0, 0, 0]);
    let mut attribute = vec![0, 1, 0, 4];
    attribute.extend((content.len() as u32).to_be_bytes());
    attribute.extend(content);
    if on_method {
        bytes.extend([0, 1, 0, 1, 0, 2, 0, 3]);
        bytes.extend(attribute);
        bytes.extend([0, 0]);
    } else {
        bytes.extend([0, 0]);
        bytes.extend(attribute);
    }
    bytes
}

/// `levels` attributes `Code`, each nested in the one before.
fn nested(levels: usize) -> Vec<u8> {
    let mut content = vec![0, 0, 0, 0, 0, 0, 0, 1, 0xB1, 0, 0, 0, 0];
    for _ in 1..levels {
        let mut outer = vec![0, 0, 0, 0, 0, 0, 0, 1, 0xB1, 0, 0, 0, 1, 0, 4];
        outer.extend((content.len() as u32).to_be_bytes());
        outer.extend(content);
        content = outer;
    }
    content
}

/// Files that would make cafebabe use too much memory or stack are kept from it; the account names
/// the class.
#[test]
fn classes_that_the_other_parser_does_not_survive_are_named() {
    let unread = |bytes: &[u8]| {
        let mut second = SecondReading::default();
        assert_eq!(second.of(&ClassFile::parse(bytes).unwrap(), super::REWRITTEN), None);
        assert_eq!(second.alike, 0);
        second.unread.remove("C (rewritten)").unwrap()
    };
    let mut second = SecondReading::default();
    assert_eq!(
        second.of(&ClassFile::parse(&with_attribute(b"Code", &nested(1), true)).unwrap(), super::ORIGINAL),
        None
    );
    assert_eq!(second.alike, 1, "{:?}", second.unread);

    let misplaced = "an attribute Code in a wrong place";
    assert_eq!(unread(&with_attribute(b"Code", &nested(10_000), true)), misplaced);
    assert_eq!(unread(&with_attribute(b"Code", &nested(1), false)), misplaced);
    // An array in an array, and so on.
    let deep = [b'[', 0, 1].repeat(300_000);
    assert!(unread(&with_attribute(b"AnnotationDefault", &deep, true)).contains("AnnotationDefault"));
    // A switch of 2,147,483,647 cases.
    let switch = [&[0xAA, 0, 0, 0][..], &[0; 8], &[0x7F, 0xFF, 0xFF, 0xFE]].concat();
    let code = [&[0, 1, 0, 1, 0, 0, 0, switch.len() as u8][..], &switch, &[0; 4]].concat();
    assert!(unread(&with_attribute(b"Code", &code, true)).contains("truncated"));
    // A record in a record.
    assert!(unread(&with_attribute(b"Record", &[0, 0], true)).contains("Record in a wrong place"));
}
