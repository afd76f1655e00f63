//! Every class of every available JDK is read to the last index and written back unchanged, and an
//! independent reader reads the same.
//!
//! The JDKs are those of `JAVA8_HOME`, `JAVA11_HOME`, `JAVA17_HOME`, `JAVA21_HOME` and
//! `JAVA25_HOME`. Missing ones are skipped, and the test says so.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use cafebabe::ParseOptions;
use cafebabe::attributes::AttributeData;
use cct_classfile::{ClassFile, Code, mutf8};
use support::walk::{ItemCounts, walk};

/// Version of the newest class files that cafebabe knows: those of Java 21.
const CAFEBABE_NEWEST: u16 = 65;

/// Prints past the test harness, which would capture it.
fn say(line: &str) {
    std::io::stderr().write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn test_jdk(version: u16) {
    let variable = format!("JAVA{version}_HOME");
    let Some(home) = std::env::var_os(&variable).map(PathBuf::from) else {
        say(&format!("skipped: JDK {version}, since {variable} is not set"));
        return;
    };
    let start = Instant::now();
    let containers = support::jdk::each_class(&home, |class| {
        let compared = compare_with_cafebabe(class);
        (walk(class), compared)
    });
    let mut total = ItemCounts::default();
    let mut too_new = 0;
    for (name, results) in containers {
        if version == 8 && !results.is_empty() {
            say(&format!("{} classes in {name}", results.len()));
        }
        for (seen, compared) in results {
            total = total.and(seen);
            too_new += usize::from(!compared);
        }
    }
    if too_new > 0 {
        say(&format!("skipped: cafebabe, for {too_new} classes newer than it knows (Java 21)"));
    }
    say(&format!(
        "{} classes of JDK {version}: {} methods, {} instructions, {} attributes; unknown attributes: {:?}; {:.1} s",
        total.classes,
        total.methods,
        total.instructions,
        total.attributes,
        total.unknown,
        start.elapsed().as_secs_f64()
    ));
    assert!(total.classes > 5000, "{variable} leads to no JDK: only {} classes", total.classes);
    let some: Vec<_> = total.errors.iter().take(20).collect();
    assert!(some.is_empty(), "{} errors, among them {some:#?}", total.errors.len());
}

#[test]
fn jdk_8() {
    test_jdk(8);
}

#[test]
fn jdk_11() {
    test_jdk(11);
}

#[test]
fn jdk_17() {
    test_jdk(17);
}

#[test]
fn jdk_21() {
    test_jdk(21);
}

#[test]
fn jdk_25() {
    test_jdk(25);
}

#[test]
fn fixtures() {
    for (path, bytes) in support::fixtures() {
        let seen = walk(&bytes);
        assert!(seen.errors.is_empty(), "{path}: {:#?}", seen.errors);
        assert!(seen.unknown.is_empty(), "{path}: {:?}", seen.unknown);
        assert!(compare_with_cafebabe(&bytes), "{path} is too new for cafebabe");
    }
}

/// Whether cafebabe reads the same content from a class; false if the class is newer than cafebabe
/// knows.
fn compare_with_cafebabe(bytes: &[u8]) -> bool {
    let ours = ClassFile::parse(bytes).unwrap();
    if ours.major_version > CAFEBABE_NEWEST {
        return false;
    }
    let name = mutf8::decode_lossy(ours.name());
    let theirs =
        match cafebabe::parse_class_with_options(bytes, ParseOptions::default().parse_bytecode(false)) {
            Ok(theirs) => theirs,
            Err(e) => panic!("{name}: cafebabe does not read it: {e}"),
        };
    assert_eq!(name, &*theirs.this_class);
    let text = |b| mutf8::lossy(b);
    assert_eq!(ours.super_name().map(text), theirs.super_class.as_ref().map(|c| c.to_string()), "{name}");
    assert!(ours.interface_names().map(text).eq(theirs.interfaces.iter().map(|c| c.to_string())), "{name}");
    assert_eq!(ours.access_flags, theirs.access_flags.bits(), "{name}");
    assert_eq!(ours.fields.len(), theirs.fields.len(), "{name}");
    assert_eq!(ours.methods.len(), theirs.methods.len(), "{name}");
    for (ours, theirs) in ours.fields.iter().zip(&theirs.fields) {
        assert_eq!(text(ours.name), theirs.name, "{name}");
        assert_eq!(text(ours.descriptor), theirs.descriptor.to_string(), "{name}");
    }
    for (method, theirs) in ours.methods.iter().zip(&theirs.methods) {
        assert_eq!(text(method.name), theirs.name, "{name}");
        assert_eq!(text(method.descriptor), theirs.descriptor.to_string(), "{name}");
        let code = Code::of(&ours, method).unwrap();
        let their_code = theirs.attributes.iter().find_map(|a| match &a.data {
            AttributeData::Code(code) => Some(code),
            _ => None,
        });
        assert_eq!(
            code.map(|c| (c.max_stack, c.max_locals, c.bytes, c.handlers.len())),
            their_code.map(|c| (c.max_stack, c.max_locals, c.code, c.exception_table.len())),
            "{name}.{}",
            theirs.name
        );
    }
    true
}
