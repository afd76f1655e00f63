//! Small inputs that once caused much work: time or memory that grew with the product of two
//! numbers, each of which may be 65,535 in a class file. Each test ends at once, or practically
//! never.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use cct_classfile::bytes::PutBytes;
use cct_classfile::{ErrorKind, opcode as op};
use cct_hostile::target;
use cct_rewrite::{ClassSummary, Error, Rewriter, Role, World};
use cct_settings::Settings;

#[path = "../../cctrewrite/tests/jvm/support/assembler.rs"]
#[allow(dead_code, clippy::expect_used)]
mod assembler;

use assembler::flags::{PUBLIC, STATIC};
use assembler::{ClassAssembler, CodeAssembler};

/// A class with one method.
fn class(max_locals: u16, code: impl FnOnce(&mut CodeAssembler<'_>)) -> Vec<u8> {
    let mut class = ClassAssembler::new(52, "Large", "java/lang/Object");
    class.method(PUBLIC | STATIC, "m()V", 4, max_locals, code);
    class.finish()
}

fn rewrite(bytes: &[u8]) -> Result<Option<Vec<u8>>, Error> {
    let settings = Settings::default();
    let world = World::new([(Role::Input, ClassSummary::parse(bytes)?)]);
    let rewriter =
        Rewriter::new(world, settings, cct_rewrite::provenance(&settings, "test", None), |_| true)?;
    Ok(rewriter.with_local_names(true).rewrite(bytes)?.bytes)
}

/// Runs work that takes a second on a busy machine and took ten or more on an idle one.
fn in_time(work: impl FnOnce()) {
    let start = Instant::now();
    work();
    assert!(start.elapsed() < Duration::from_secs(8), "it took {:?}", start.elapsed());
}

/// The item of which there are too many; the class then stays unchanged.
fn too_many(result: Result<Option<Vec<u8>>, Error>) -> &'static str {
    match result {
        Err(Error::Class(e)) => match *e.kind() {
            ErrorKind::TooMany(what) => what,
            _ => panic!("{e}"),
        },
        other => panic!("{:?}", other.map(|bytes| bytes.map(|bytes| bytes.len()))),
    }
}

/// 20,000 locals in the first frame, repeated by 60,000 frames of one byte: 1.2 billion types from
/// 140 KB.
#[test]
fn frames_that_repeat_many_locals() {
    let mut table = Vec::new();
    table.put2(60_000);
    table.put1(255);
    table.put2(0);
    table.put2(20_000);
    table.extend([1; 20_000]);
    table.put2(0);
    table.extend([0; 59_999]);
    let bytes = class(20_000, |code| {
        code.ops(&[op::NOP; 60_000]).ops(&[op::RETURN]).attribute("StackMapTable", table);
    });
    assert_eq!(too_many(rewrite(&bytes)), "types in the frames of a method");
}

/// As many locals as a frame can state, and an added one: their number became 0, and the rest was
/// read as another frame.
#[test]
fn a_frame_with_as_many_locals_as_can_be() {
    let mut table = vec![0, 1, 255, 0, 0, 0xFF, 0xFF];
    table.resize(table.len() + 65_535, 0);
    table.put2(0);
    let bytes = class(1, |code| {
        code.ops(&[op::NOP, op::RETURN]).attribute("StackMapTable", table);
    });
    assert_eq!(too_many(rewrite(&bytes)), "locals in a frame");
}

/// As many locals as a method can have, and a local of two slots where the added ones would go:
/// after all others there is no room.
#[test]
fn as_many_locals_as_can_be_and_none_to_be_moved() {
    let mut class = ClassAssembler::new(52, "Large", "java/lang/Object");
    class.method(PUBLIC | STATIC, "m(I)V", 4, 65_535, |code| {
        code.ops(&[op::LCONST_0, op::LSTORE_0, op::RETURN]);
    });
    assert_eq!(too_many(rewrite(&class.finish())), "local variables");
}

/// 2,500 jumps that no longer reach their targets use trampolines, which 60,000 exception ranges
/// must exclude: 150 million ranges.
#[test]
fn exception_ranges_around_many_trampolines() {
    let bytes = class(2, |code| {
        let (start, far, end, handler) = (code.here(), code.label(), code.label(), code.label());
        for _ in 0..2_500 {
            // A gap for each trampoline, and a call that makes the code grow.
            let near = code.label();
            code.ops(&[op::ICONST_0]).jump(op::IFEQ, far).jump(op::GOTO, near).place(near).frame(&[], &[]);
        }
        code.call(op::INVOKESTATIC, "Large.m:()V");
        code.ops(&vec![op::NOP; 32_760 - 8 * 2_500]);
        code.place(far).frame(&[], &[]).ops(&[op::RETURN]).place(end).place(handler);
        code.frame(&[], &[assembler::Type::Object("java/lang/Throwable")]).ops(&[op::ATHROW]);
        for _ in 0..60_000 {
            code.handler(start, end, handler, Some("java/lang/Error"));
        }
    });
    assert_eq!(too_many(rewrite(&bytes)), "exception handlers");
}

/// 30,000 reads of a local, and 1.3 million variables in other slots: the names of locals are
/// looked up by their slots.
#[test]
fn variable_tables_of_many_entries() {
    let bytes = class(2_000, |code| {
        let (name, descriptor) = (code.utf8("x"), code.utf8("I"));
        code.ops(&[op::ILOAD_0, op::POP].repeat(30_000)).ops(&[op::RETURN]);
        let mut table = Vec::new();
        table.put2(65_535);
        for k in 0..65_535 {
            [0, 60_001, name, descriptor, 1 + k % 1_999].into_iter().for_each(|part| table.put2(part));
        }
        for _ in 0..20 {
            code.attribute("LocalVariableTable", table.clone());
        }
        // The last variable is the one.
        let own = [1, 0, 60_001, name, descriptor, 0].map(u16::to_be_bytes);
        code.attribute("LocalVariableTable", own.concat());
    });
    in_time(|| drop(rewrite(&bytes).unwrap()));
}

/// 65,000 empty tables of variables of 60,000 instructions.
#[test]
fn many_variable_tables() {
    let bytes = class(1, |code| {
        code.ops(&[op::NOP; 60_000]).ops(&[op::RETURN]);
        for _ in 0..65_000 {
            code.attribute("LocalVariableTable", vec![0, 0]);
        }
    });
    in_time(|| (target("loadtime").run)(&bytes));
}

/// 60,000 instructions that may throw, and 65,000 handlers for one instruction.
#[test]
fn handlers_that_cover_little() {
    let bytes = class(2, |code| {
        code.ops(&[op::ICONST_1, op::ICONST_1]);
        code.ops(&[op::IDIV; 60_000]);
        let start = code.here();
        code.ops(&[op::NOP]);
        let end = code.here();
        code.ops(&[op::RETURN]);
        let handler = code.here();
        code.ops(&[op::ATHROW]);
        for _ in 0..65_000 {
            code.handler(start, end, handler, None);
        }
    });
    in_time(|| (0..12).for_each(|_| drop(rewrite(&bytes))));
}

/// 60,000 instructions in a constructor, each covered by 65,000 handlers.
#[test]
fn a_constructor_under_many_handlers() {
    let mut class = ClassAssembler::new(49, "Large", "java/lang/Object");
    class.method(PUBLIC, "<init>()V", 1, 1, |code| {
        code.ops(&[op::ALOAD_0]).call(op::INVOKESPECIAL, "java/lang/Object.<init>:()V");
        let start = code.here();
        code.ops(&[op::NOP; 60_000]);
        let end = code.here();
        code.ops(&[op::RETURN]);
        let handler = code.here();
        code.ops(&[op::ATHROW]);
        for _ in 0..65_000 {
            code.handler(start, end, handler, None);
        }
    });
    let bytes = class.finish();
    in_time(|| drop(rewrite(&bytes)));
}

/// A method whose positions, in the memory of a JVM and so of unknown origin, have 200,000 lines.
/// Each call site searched all lines of its caller.
#[test]
fn call_sites_of_a_method_with_many_lines() {
    // 200,000 lines, each one further at the same index.
    let mut positions = vec![0xC0, 0x9A, 0x0C];
    positions.extend([0, 2].repeat(200_000));
    positions.extend([0, 0]);
    let mut callees = cct_arena::Callees::default();
    (0..60_000).for_each(|bci| callees.add(7, 0x80, Some(bci)));
    let method = |mid| cct_profile::Method {
        class: "a/A".into(),
        name: "f".into(),
        descriptor: "()V".into(),
        site: None,
        mid,
        flags: 0,
    };
    in_time(|| {
        let rows = callees.rows(method, |_| Some(&positions));
        assert_eq!(rows.methods.len(), 60_000);
    });
}

#[test]
fn a_long_chain_of_classes_in_reverse_order() {
    let name = |k: usize| format!("c/C{k}");
    let classes = (0..120_000).map(|k| {
        let bytes = ClassAssembler::new(52, &name(k), &name(k + 1)).finish();
        (Role::Library, ClassSummary::parse(&bytes).unwrap())
    });
    let classes: Vec<_> = classes.collect();
    let mut world = World::default();
    in_time(|| world = World::new(classes));
    assert!(world.ids().all(|id| world[id].has_unknown_ancestor));
}
