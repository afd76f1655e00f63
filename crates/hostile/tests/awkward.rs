//! Class files and jars that compilers do not generate: all are rewritten, or skipped with an
//! error.

#![allow(clippy::unwrap_used)]

use std::io::{Cursor, Write};

use cct_archive::{Input, Limits};
use cct_classfile::access::{ABSTRACT, NATIVE};
use cct_classfile::{opcode as op, wellformed};
use cct_hostile::target;
use cct_rewrite::{ClassSummary, Rewriter, Role, World};
use cct_settings::Settings;
use cct_tables::BlockRule;
use cct_udi::wire::MAGIC;
use zip::write::{SimpleFileOptions, ZipWriter};

#[path = "../../cctrewrite/tests/jvm/support/assembler.rs"]
#[allow(dead_code, clippy::expect_used)]
mod assembler;

use assembler::flags::{PUBLIC, STATIC};
use assembler::{ClassAssembler, CodeAssembler, Type};

const OBJECT: &str = "java/lang/Object";

/// A class with one static method.
fn class(version: u16, name: &str, max_locals: u16, code: impl FnOnce(&mut CodeAssembler<'_>)) -> Vec<u8> {
    let mut class = ClassAssembler::new(version, name, OBJECT);
    class.method(PUBLIC | STATIC, "m()V", 4, max_locals, code);
    class.finish()
}

/// Checks a class with all targets. Returns the number of methods of the rewritten class, for each
/// rule for blocks.
fn rewritten(bytes: &[u8]) -> Vec<usize> {
    for name in ["class", "rewrite", "loadtime", "marked"] {
        (target(name).run)(bytes);
    }
    let methods = |blocks| {
        let settings = Settings { blocks, activation: true, ..Settings::default() };
        let world = World::new([(Role::Input, ClassSummary::parse(bytes).unwrap())]);
        let rewriter =
            Rewriter::new(world, settings, cct_rewrite::provenance(&settings, "test", None), |_| true)
                .unwrap();
        let bytes = rewriter.rewrite(bytes).unwrap().bytes.unwrap();
        cct_classfile::ClassFile::parse(&bytes).unwrap().methods.len()
    };
    [BlockRule::Default, BlockRule::Precise, BlockRule::Exact].map(methods).to_vec()
}

/// Checks a class that may be too large for the inserted code with all targets. Returns its number
/// of methods afterwards, for each rule for blocks.
fn rewritten_or_left(bytes: &[u8]) -> Vec<usize> {
    for name in ["class", "rewrite", "loadtime", "marked"] {
        (target(name).run)(bytes);
    }
    let methods = |blocks| {
        let settings = Settings { blocks, ..Settings::default() };
        let world = World::new([(Role::Input, ClassSummary::parse(bytes).unwrap())]);
        let rewriter =
            Rewriter::new(world, settings, cct_rewrite::provenance(&settings, "test", None), |_| true)
                .unwrap();
        let bytes = match rewriter.rewrite(bytes) {
            Ok(rewritten) => rewritten.bytes.unwrap_or_else(|| bytes.to_vec()),
            // The caller gets an error, and keeps the class unchanged.
            Err(error) => {
                assert!(error.to_string().contains("65535"), "{error}");
                bytes.to_vec()
            }
        };
        cct_classfile::ClassFile::parse(&bytes).unwrap().methods.len()
    };
    [BlockRule::Default, BlockRule::Precise, BlockRule::Exact].map(methods).to_vec()
}

#[test]
fn every_version() {
    for version in 45..=72 {
        let mut bytes = class(version, "A", 1, |code| {
            code.ops(&[op::NOP, op::RETURN]);
        });
        // Before 45.3 code had another form.
        bytes[5] = if version == 45 { 3 } else { 0 };
        assert_eq!(rewritten(&bytes), [2; 3], "version {version}");
        // As compilers mark classes that need --enable-preview.
        if version >= 56 {
            bytes[4..6].copy_from_slice(&[0xFF, 0xFF]);
            assert_eq!(rewritten(&bytes), [2; 3], "version {version} with previews");
        }
    }
}

#[test]
fn wide_everything() {
    let bytes = class(49, "Wide", 65_500, |code| {
        for (load, store) in [
            (op::ILOAD, op::ISTORE),
            (op::LLOAD, op::LSTORE),
            (op::FLOAD, op::FSTORE),
            (op::DLOAD, op::DSTORE),
        ] {
            for local in [[0, 0], [0, 255], [1, 0], [0xFF, 0xD0]] {
                code.ops(&[op::WIDE, load, local[0], local[1], op::WIDE, store, local[0], local[1]]);
            }
        }
        code.ops(&[op::WIDE, op::IINC, 0, 0, 0, 1, op::WIDE, op::IINC, 0xFF, 0, 0x80, 0]);
        let subroutine = code.label();
        code.jump(op::JSR_W, subroutine).ops(&[op::RETURN]).place(subroutine);
        code.ops(&[op::WIDE, op::ASTORE, 0, 7, op::WIDE, op::RET, 0, 7]);
    });
    assert_eq!(rewritten(&bytes), [2; 3]);
}

#[test]
fn huge_switches() {
    for opcode in [op::TABLESWITCH, op::LOOKUPSWITCH] {
        let bytes = class(52, "Switch", 1, |code| {
            code.ops(&[op::ICONST_0, opcode]);
            // bci 1: two bytes of padding. All cases lead to the `return` after it.
            let cases = if opcode == op::TABLESWITCH { 15_000i32 } else { 8_000 };
            let length = 3 + if opcode == op::TABLESWITCH { 12 + 4 * cases } else { 8 + 8 * cases };
            code.ops(&[0, 0]).ops(&length.to_be_bytes());
            if opcode == op::TABLESWITCH {
                code.ops(&i32::MIN.to_be_bytes()).ops(&(i32::MIN + cases - 1).to_be_bytes());
            } else {
                code.ops(&cases.to_be_bytes());
            }
            for case in 0..cases {
                if opcode == op::LOOKUPSWITCH {
                    code.ops(&case.to_be_bytes());
                }
                code.ops(&length.to_be_bytes());
            }
            code.frame(&[], &[]).ops(&[op::RETURN]);
        });
        assert_eq!(rewritten(&bytes), [2; 3]);
    }
}

/// Two heads of one loop, of which neither dominates the other.
#[test]
fn irreducible_flow() {
    let bytes = class(52, "Tangle", 1, |code| {
        let (left, right, out) = (code.label(), code.label(), code.label());
        code.ops(&[op::ICONST_0]).jump(op::IFEQ, right).place(left).frame(&[], &[]);
        code.ops(&[op::ICONST_0])
            .jump(op::IFEQ, out)
            .call(op::INVOKESTATIC, "Tangle.m:()V")
            .place(right)
            .frame(&[], &[]);
        code.ops(&[op::ICONST_1]).jump(op::IFEQ, left).place(out).frame(&[], &[]).ops(&[op::RETURN]);
    });
    assert_eq!(rewritten(&bytes), [2; 3]);
}

#[test]
fn dead_code() {
    // With the frame that version 50 and later require, and without.
    for version in [49, 52] {
        let bytes = class(version, "Dead", 1, |code| {
            code.ops(&[op::RETURN]);
            if version >= 50 {
                code.frame(&[], &[]);
            }
            let here = code.here();
            code.call(op::INVOKESTATIC, "Dead.m:()V").jump(op::GOTO, here);
        });
        assert_eq!(rewritten(&bytes), [2; 3]);
    }
}

/// Each handler covers itself and the others, in part or whole; the last covers nothing that can
/// throw.
#[test]
fn handlers_that_cover_themselves_and_each_other() {
    let thrown = [Type::Object("java/lang/Throwable")];
    let bytes = class(52, "Covered", 1, |code| {
        let (first, second, third, end) = (code.here(), code.label(), code.label(), code.label());
        code.ops(&[op::ICONST_1, op::ICONST_0, op::IDIV, op::POP, op::RETURN]);
        code.place(second).frame(&[], &thrown).ops(&[
            op::POP,
            op::ICONST_1,
            op::ICONST_0,
            op::IDIV,
            op::POP,
            op::RETURN,
        ]);
        code.place(third).frame(&[], &thrown).ops(&[op::ATHROW]).place(end);
        for (start, end, handler) in [
            (first, end, second),
            (second, end, second),
            (first, third, third),
            (third, end, third),
            (first, second, second),
        ] {
            code.handler(start, end, handler, Some("java/lang/Throwable")).handler(start, end, handler, None);
        }
    });
    assert_eq!(rewritten(&bytes), [2; 3]);
}

#[test]
fn odd_attributes() {
    let bytes = class(52, "Odd", 2, |code| {
        let (name, descriptor) = (code.utf8("x"), code.utf8("I"));
        code.ops(&[op::NOP, op::RETURN]);
        let variable: Vec<u8> =
            [1, 0, 2, name, descriptor, 0].iter().flat_map(|part: &u16| part.to_be_bytes()).collect();
        for _ in 0..2 {
            code.attribute("LineNumberTable", vec![0, 2, 0, 0, 0, 7, 0, 1, 0, 8]);
            code.attribute("LocalVariableTable", variable.clone())
                .attribute("LocalVariableTypeTable", variable.clone());
        }
        code.attribute("LineNumberTable", vec![0, 0])
            .attribute("org.example.Own", vec![1, 2, 3])
            .attribute("", Vec::new());
    });
    assert_eq!(rewritten(&bytes), [2; 3]);
}

/// The class file with attributes of its own, given by the constants of their names, and contents.
fn with_attributes(mut bytes: Vec<u8>, attributes: &[(u16, Vec<u8>)]) -> Vec<u8> {
    // It ends with the number of its attributes, which was 0.
    bytes.truncate(bytes.len() - 2);
    bytes.extend((attributes.len() as u16).to_be_bytes());
    for (name, content) in attributes {
        bytes.extend(name.to_be_bytes());
        bytes.extend((content.len() as u32).to_be_bytes());
        bytes.extend(content);
    }
    bytes
}

/// A class may have each of these once (JVMS 4.7). JVMs refuse some that occur twice, and so may
/// the rewriter; a rewritten class stays valid.
#[test]
fn attributes_of_a_class_that_are_there_twice() {
    for (name, content) in [
        ("SourceFile", vec![0, 1]),
        ("Signature", vec![0, 1]),
        ("InnerClasses", vec![0, 0]),
        ("BootstrapMethods", vec![0, 0]),
        ("NestMembers", vec![0, 0]),
        ("PermittedSubclasses", vec![0, 0]),
        ("Record", vec![0, 0]),
        ("RuntimeVisibleAnnotations", vec![0, 0]),
        ("Deprecated", vec![]),
        ("Synthetic", vec![1, 2, 3]),
        ("Code", vec![0; 12]),
        ("StackMapTable", vec![0, 0]),
        ("", vec![7; 300]),
    ] {
        let index = std::cell::Cell::new(0);
        let bytes = class(61, "Twice", 1, |code| {
            index.set(code.utf8(name));
            code.ops(&[op::RETURN]);
        });
        for times in 1..=3 {
            let bytes = with_attributes(bytes.clone(), &vec![(index.get(), content.clone()); times]);
            for target_name in ["class", "rewrite", "loadtime", "marked"] {
                (target(target_name).run)(&bytes);
            }
        }
    }
}

/// Two tables of frames for one body: both must be moved, or neither.
#[test]
fn two_tables_of_frames() {
    let bytes = class(52, "Frames", 1, |code| {
        let end = code.label();
        code.ops(&[op::ICONST_0]).jump(op::IFEQ, end).ops(&[op::NOP]).place(end);
        code.frame(&[], &[]).attribute("StackMapTable", vec![0, 1, 5]).ops(&[op::RETURN]);
    });
    for target_name in ["class", "rewrite", "loadtime", "marked"] {
        (target(target_name).run)(&bytes);
    }
}

/// Bodies of the maximum length, and slightly shorter ones: the probes fit, or the method stays
/// unchanged.
#[test]
fn bodies_as_long_as_can_be() {
    for length in [65_535, 65_534, 65_500, 65_000, 60_000] {
        let bytes = class(52, "Long", 1, |code| {
            code.ops(&vec![op::NOP; length - 1]).ops(&[op::RETURN]);
        });
        for methods in rewritten_or_left(&bytes) {
            assert!((1..=2).contains(&methods), "{length}: {methods}");
        }
    }
}

/// A full constant pool, and pools with room for one more, two more and so on: rewritten whole, or
/// not at all.
#[test]
fn constants_as_many_as_can_be() {
    for free in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
        let bytes = class(52, "Constants", 1, |code| {
            let mut number = 0;
            // The class, its name, Object, its name, the method's name and descriptor, `Code`: at
            // most 7 constants are still to come.
            while code.utf8(&format!("constant {number}")) < 65_534 - 7 - free {
                number += 1;
            }
            code.ops(&[op::RETURN]);
        });
        let count = u16::from_be_bytes([bytes[8], bytes[9]]);
        assert!(count >= 65_535 - 9 - free, "{count}");
        let _ = rewritten_or_left(&bytes);
    }
}

/// JVMs refuse both. A native method's wrapper had two bodies, its own and the superfluous one.
#[test]
fn bodies_where_none_may_be_and_none_where_one_must() {
    let fault = |bytes: &[u8]| {
        for target_name in ["class", "rewrite", "loadtime", "marked"] {
            (target(target_name).run)(bytes);
        }
        for how in 0..4 {
            assert!(cctrewrite_loadtime::trial::rewrite(bytes, how).is_err(), "rewritten at load time");
        }
        wellformed::check(&cct_classfile::ClassFile::parse(bytes).unwrap()).unwrap_err().to_string()
    };
    for access in [NATIVE, ABSTRACT] {
        for number in 0..8 {
            // The settings of `rewrite` follow from the bytes.
            let mut class = ClassAssembler::new(52, &format!("Bodied{number}"), OBJECT);
            class.method(PUBLIC | STATIC | access, "m()V", 1, 1, |code| {
                code.ops(&[op::RETURN]);
            });
            assert!(fault(&class.finish()).contains("code in a method that is native or abstract"));
        }
    }
    let mut class = ClassAssembler::new(52, "Bodiless", OBJECT);
    class.abstract_method("m", "()V");
    let mut bytes = class.finish();
    // Its access flags precede the name, the descriptor, no attributes, and the class's none.
    let at = bytes.len() - 2 - 8;
    assert_eq!(bytes[at..at + 2], (PUBLIC | ABSTRACT).to_be_bytes());
    bytes[at..at + 2].copy_from_slice(&PUBLIC.to_be_bytes());
    assert!(fault(&bytes).contains("no code in a method that is neither native nor abstract"));
}

/// A character beyond the first 65,536, half of one, and a zero, in class, method and field:
/// modified UTF-8 (JVMS 4.4.7).
#[test]
fn names_that_are_no_words() {
    let mut class = ClassAssembler::new(52, "WHOLE_", OBJECT);
    class.field(PUBLIC | STATIC, "HLF", "I");
    class.method(PUBLIC | STATIC, "ZR()V", 1, 1, |code| {
        code.field(op::GETSTATIC, "WHOLE_.HLF:I")
            .ops(&[op::POP])
            .call(op::INVOKESTATIC, "WHOLE_.ZR:()V")
            .ops(&[op::RETURN]);
    });
    let mut bytes = class.finish();
    let names: [(&[u8], &[u8]); 3] =
        [(b"WHOLE_", b"\xED\xA0\xBD\xED\xB8\x80"), (b"HLF", b"\xED\xA0\x80"), (b"ZR", b"\xC0\x80")];
    for (word, name) in names {
        let at = bytes.windows(word.len()).position(|window| window == word).unwrap();
        bytes[at..at + word.len()].copy_from_slice(name);
    }
    assert_eq!(rewritten(&bytes), [2; 3]);
}

/// In a world of its own, each class is what its name says. Its methods are treated by the rules
/// for that class, with hooks that have no location.
#[test]
fn classes_named_like_those_that_are_special() {
    for name in [
        OBJECT,
        "java/lang/Thread",
        "java/lang/Class",
        "java/lang/ClassLoader",
        "java/lang/Throwable",
        "java/lang/System",
        "java/lang/Shutdown",
        "java/lang/invoke/MethodHandle",
        "java/lang/invoke/LambdaForm$MH",
        "java/lang/ref/Reference",
        "java/util/Random",
        "java/lang/CctRuntime",
        "java/lang/CctHooks",
        "cctrewrite/runtime/LoadTime",
        "cctrewrite/api/Recording",
        "cctrewrite/api/Counts",
    ] {
        let mut bytes = ClassAssembler::new(52, name, "java/lang/Other");
        for method in [
            "<init>()V",
            "run()V",
            "finalize()V",
            "start()V",
            "halt()V",
            "getClass()Ljava/lang/Class;",
            "m(J[[[[J)V",
        ] {
            bytes.method(PUBLIC, method, 1, 10, |code| {
                code.ops(&[op::ACONST_NULL, op::ATHROW]);
            });
        }
        let bytes = bytes.finish();
        for target_name in ["class", "rewrite", "loadtime", "marked"] {
            (target(target_name).run)(&bytes);
        }
    }
}

fn jar(names: impl IntoIterator<Item = String>) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for name in names {
        zip.start_file(name, options).unwrap();
        zip.write_all(b"contents").unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// The names of the entries: the target skips archives that it cannot open.
fn listed(bytes: &[u8]) -> Vec<String> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let input = Input::open(file.path(), &Limits::default()).unwrap();
    input.entries().iter().map(|entry| entry.name.to_string()).collect()
}

/// Nothing is ever extracted: such names are copied, and classes below them are rewritten.
#[test]
fn names_that_lead_elsewhere() {
    let names = [
        "../up.class",
        "a/../../up.class",
        "/etc/passwd",
        "/root.class",
        "C:\\x.class",
        "..\\up.class",
        "./a.class",
        "a//b.class",
        "a/./b.class",
    ];
    let bytes = jar(names.map(str::to_owned));
    assert_eq!(listed(&bytes), names);
    (target("jar").run)(&bytes);
    let mut nul = jar(["a/NUL.class".to_owned()]);
    while let Some(at) = nul.windows(3).position(|window| window == b"NUL") {
        nul[at..at + 3].copy_from_slice(b"\0\0\0");
    }
    assert_eq!(listed(&nul), ["a/\0\0\0.class"]);
    (target("jar").run)(&nul);
}

#[test]
fn a_hundred_thousand_entries() {
    let name = |k: usize| if k.is_multiple_of(100) { format!("a/C{k}.class") } else { format!("a/{k}.txt") };
    let bytes = jar((0..100_000).map(name));
    assert_eq!(listed(&bytes).len(), 100_000);
    (target("jar").run)(&bytes);
}

/// A module's reason that is not valid text, but is together with the length before it: a character
/// of two bytes begins there. The target took the two for one text, and the answer for one that is
/// written differently.
#[test]
fn a_reason_that_is_a_text_with_its_length() {
    let reason = [b"\xA9".as_slice(), &[b'a'; 0xC3 - 1]].concat();
    let answer = [b"\x02\0\0\0\xC3".as_slice(), &reason].concat();
    assert!(std::str::from_utf8(&reason).is_err() && std::str::from_utf8(&answer).is_ok());
    let greeting = [MAGIC.as_slice(), &0_u32.to_be_bytes()].concat();
    (target("module").run)(&[greeting, answer].concat());
}

/// Names of classes may contain parentheses. The added parameters were inserted before the last
/// one, in the name of the method's return type.
#[test]
fn a_type_with_parentheses_in_its_name() {
    let descriptor = "(La(b;La)b;)La)b;";
    let mut class = ClassAssembler::new(52, "A", OBJECT);
    class.method(PUBLIC | STATIC, &format!("m{descriptor}"), 1, 2, |code| {
        code.ops(&[op::ALOAD_1, op::ARETURN]);
    });
    let bytes = class.finish();
    rewritten(&bytes);
    let extended = cct_jdk::convention::with_extension(descriptor.as_bytes());
    assert!(extended.starts_with(b"(La(b;La)b;") && extended.ends_with(b")La)b;"));
    assert_eq!(cct_jdk::convention::without_extension(&extended).as_deref(), Some(descriptor.as_bytes()));
}

/// The second slot of the stored value exceeded the number of locals.
#[test]
fn a_constructor_that_writes_after_the_last_local() {
    let mut class = ClassAssembler::new(52, "A", OBJECT);
    class.method(PUBLIC, "<init>(I)V", 2, u16::MAX, |code| {
        code.ops(&[op::ALOAD_0, op::WIDE, op::LSTORE, 0xFF, 0xFF, op::NOP, op::RETURN]);
    });
    (target("marked").run)(&class.finish());
}
