//! Debug tables of an instrumented jar's class files: names of parameters and lines of methods, as
//! tools and the running program see them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use cct_classfile::attributes::{AttributeInfo, LocalVariable};
use cct_classfile::{ClassFile, Code, access};

use crate::support::{Blocks, Image, Jdk, assert_succeeded, fixture, folder, instrument, jdks};

/// For each method: its first line, and name, type and slot of its parameters, by descriptors and
/// by generic types.
type Tables = (Option<u16>, [Vec<(String, String, u16)>; 2]);

/// The tables under the original signatures, as a bytecode reader finds them.
fn tables(file: &Path, is_original: bool) -> BTreeMap<String, Tables> {
    let bytes = fs::read(file).unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let text = |index| String::from_utf8(class.pool.utf8(index).unwrap().to_vec()).unwrap();
    let mut all = BTreeMap::new();
    let is_extended = |descriptor: &[u8]| descriptor.windows(7).any(|part| part == b"J[[[[J)");
    for method in class.methods.iter().filter(|method| !is_extended(method.descriptor)) {
        let Some(code) = Code::of(&class, method).unwrap() else { continue };
        let slots =
            cct_classfile::descriptor::MethodDescriptor::parse(method.descriptor).unwrap().argument_slots()
                + u16::from(!method.is(access::STATIC));
        let starts: Vec<u32> = code.instructions().map(|i| i.bci).collect();
        let mut found: Tables = (None, Default::default());
        let parameters = |entries: &[LocalVariable]| {
            let entries = entries.iter().filter(|entry| entry.start == 0 && entry.slot < slots);
            entries.map(|e| (text(e.name), text(e.descriptor), e.slot)).collect::<Vec<_>>()
        };
        for attribute in code.attributes.iter() {
            match AttributeInfo::parse(attribute, &class.pool).unwrap() {
                AttributeInfo::LineNumberTable(lines) => {
                    let mut read = lines.iter().filter(|entry| starts.contains(&entry.start.into()));
                    found.0 = read.next().map(|entry| entry.line);
                    assert!(is_original || read.all(|entry| entry.line < 65_534), "a mark is read");
                }
                AttributeInfo::LocalVariableTable(entries) => found.1[0] = parameters(&entries),
                AttributeInfo::LocalVariableTypeTable(entries) => found.1[1] = parameters(&entries),
                _ => {}
            }
        }
        let name = [method.name, method.descriptor].concat();
        all.insert(String::from_utf8(name).unwrap(), found);
    }
    all
}

/// Names and lines are those of the original; frames of wrappers are never visible.
fn names_and_lines(jdk: &'static Jdk) {
    let home = folder("names");
    let [plain, rewritten] = ["plain", "rewritten"].map(|name| home.join(name));
    fs::create_dir(&plain).unwrap();
    let mut javac = Command::new(jdk.path("bin/javac"));
    javac.args(["-g", "-parameters", "-nowarn", "-d"]).arg(&plain);
    assert_succeeded(javac.arg(fixture("parameter_names/Names.java")));
    let image = Image::of(jdk, Blocks::Exact);
    let options = [Blocks::Exact.options(), &["--verify"]].concat();
    instrument(std::slice::from_ref(&plain), &[image.home().to_owned()], &rewritten, &options);
    let (before, after) =
        (tables(&plain.join("Names.class"), true), tables(&rewritten.join("Names.class"), false));
    let named = |tables: &BTreeMap<String, Tables>| tables.values().filter(|t| t.1[0].len() > 1).count();
    assert!(named(&before) >= 4, "{before:#?}");
    assert_eq!(before, after);
    let run =
        |mut java: crate::support::Java, classes: &Path| java.class_path([classes]).succeed("Names", &[]).out;
    let expected = run(jdk.java("plain"), &plain);
    assert!(expected.contains("final S limit") || expected.contains("S limit named"), "{expected}");
    assert_eq!(expected, run(image.java("profiled"), &rewritten), "plain and instrumented");
    let mut javap = Command::new(jdk.path("bin/javap"));
    let shown = javap.args(["-c", "-l", "-cp"]).arg(&rewritten).arg("Names").output().unwrap();
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let words: Vec<&str> = shown.split_whitespace().collect();
    assert!(words.windows(2).any(|pair| pair == ["kind", "Ljava/lang/String;"]), "{shown}");
}

jdks!(names, names_and_lines, [8, 17, 25]);
