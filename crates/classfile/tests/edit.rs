//! Code editing, checked against itself over every method of a class library (JDK 8, by JAVA8_HOME)
//! and of the small classes in this folder. An edit that changes nothing gives the same code, and
//! one that moves everything gives the same code moved.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::iter;

use cct_classfile::edit::frames::{self, Frame, Signature, VerificationType};
use cct_classfile::edit::moves::{Move, original_bci};
use cct_classfile::edit::{Asm, ClassEdit, CodeEdit};
use cct_classfile::{ClassFile, Code, ErrorKind, Handler, Member, opcode};
use rayon::prelude::*;

/// Class files for the tests: embedded ones always, rt.jar if there is one.
fn corpus() -> Vec<Vec<u8>> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let files = walkdir::WalkDir::new(data).sort_by_file_name().into_iter().map(|e| e.unwrap().into_path());
    let files = files.filter(|path| path.extension().is_some_and(|e| e == "class"));
    let mut classes: Vec<Vec<u8>> = files.map(|p| std::fs::read(p).unwrap()).collect();
    assert!(!classes.is_empty(), "no class files in {data}");
    match std::env::var("JAVA8_HOME") {
        Ok(home) => {
            let jar = ["jre/lib/rt.jar", "lib/rt.jar"].map(|p| std::path::Path::new(&home).join(p));
            let jar = jar.iter().find(|p| p.exists()).expect("JAVA8_HOME has an rt.jar");
            let mut zip = zip::ZipArchive::new(std::fs::File::open(jar).unwrap()).unwrap();
            for i in 0..zip.len() {
                let mut entry = zip.by_index(i).unwrap();
                if entry.name().unwrap().ends_with(".class") {
                    let mut bytes = Vec::new();
                    std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
                    classes.push(bytes);
                }
            }
        }
        Err(_) => println!("skipped: rt.jar (JAVA8_HOME is not set)"),
    }
    classes
}

/// Runs `check` on every method with code; prints how many there were.
fn for_each_method(check: impl Fn(&ClassFile<'_>, &Member<'_>, &Code<'_>) + Sync) {
    let total: usize = corpus()
        .par_iter()
        .map(|bytes| {
            let class = ClassFile::parse(bytes).unwrap();
            let mut n = 0;
            for member in &class.methods {
                if let Some(code) = Code::of(&class, member).unwrap() {
                    check(&class, member, &code);
                    n += 1;
                }
            }
            n
        })
        .sum();
    println!("{total} methods");
}

/// The states of a method's frames; empty without a table.
fn states(code: &Code<'_>, signature: &Signature<'_>) -> Vec<(u32, Frame)> {
    match code.attributes.find(b"StackMapTable") {
        Some(table) => frames::read(table.cursor(), signature.initial_locals()).unwrap(),
        None => Vec::new(),
    }
}

/// States with class names instead of indices, and of types that only the descriptor states.
fn named(
    class: &ClassFile<'_>,
    signature: &Signature<'_>,
    states: Vec<(u32, Frame)>,
) -> Vec<(u32, Vec<String>, Vec<String>)> {
    use cct_classfile::descriptor::FieldType;
    let name = |t: &VerificationType| match *t {
        VerificationType::Object(index) => class.pool.class(index).unwrap().escape_ascii().to_string(),
        VerificationType::Argument(0) if !signature.is_static => class.name().escape_ascii().to_string(),
        VerificationType::Argument(n) => {
            let argument = usize::from(n) - usize::from(!signature.is_static);
            match signature.descriptor.arguments().nth(argument).unwrap() {
                FieldType::Class(name) | FieldType::Array(name) => name.escape_ascii().to_string(),
                FieldType::Base(b) => panic!("argument {n} is a {}", b as char),
            }
        }
        other => format!("{other:?}"),
    };
    states
        .into_iter()
        .map(|(bci, f)| (bci, f.locals.iter().map(name).collect(), f.stack.iter().map(name).collect()))
        .collect()
}

/// Applies `edit` and passes the edited method to `check`.
fn edited<'a>(
    class: &ClassFile<'a>,
    member: &Member<'a>,
    code: &Code<'a>,
    at: u16,
    added: &[VerificationType],
    edit: impl FnOnce(&mut CodeEdit<'_, 'a>),
    check: impl FnOnce(&ClassFile<'_>, &Code<'_>, &Signature<'_>, &[Move]),
) -> cct_classfile::Result<()> {
    use cct_classfile::edit::class_edit::MemberBuilder;
    let signature = Signature::of(class, member)?;
    let mut class_edit = ClassEdit::new(class);
    let mut code_edit = CodeEdit::new(code, at, added);
    code_edit.report_moves();
    edit(&mut code_edit);
    let mut names = std::mem::take(&mut class_edit.names);
    let code_name = names.code(&mut class_edit.additions)?;
    let mut head = MemberBuilder::new(member.access_flags, member.name_index, member.descriptor_index);
    let finished = head.attribute(code_name, |out| {
        code_edit.finish(&signature, &signature, &mut names, &mut class_edit.additions, out)
    })?;
    class_edit.names = names;
    let position = class.methods.iter().position(|m| m.raw.as_ptr() == member.raw.as_ptr()).unwrap();
    class_edit.replace_method(position, head.finish());
    let bytes = class_edit.finish()?;
    let again = ClassFile::parse(&bytes)?;
    let method = &again.methods[position];
    let new_code = Code::of(&again, method)?.unwrap();
    check(&again, &new_code, &Signature::of(&again, method)?, &finished.moves);
    Ok(())
}

#[test]
fn an_edit_that_changes_nothing_gives_the_same_code() {
    for_each_method(|class, member, code| {
        edited(
            class,
            member,
            code,
            code.max_locals,
            &[],
            |_| {},
            |again, new, signature, moves| {
                let place = || {
                    format!("{}.{}", class.pool.utf8_lossy(member.name_index), class.name().escape_ascii())
                };
                assert_eq!(new.bytes, code.bytes, "{}", place());
                assert_eq!(moves, [], "{}", place());
                assert_eq!((new.max_stack, new.max_locals), (code.max_stack, code.max_locals), "{}", place());
                assert_eq!(new.handlers, code.handlers, "{}", place());
                let old = Signature::of(class, member).unwrap();
                assert_eq!(
                    named(again, signature, states(new, signature)),
                    named(class, &old, states(code, &old)),
                    "{}",
                    place()
                );
                for name in [&b"LineNumberTable"[..], b"LocalVariableTable", b"LocalVariableTypeTable"] {
                    let data = |c: &Code<'_>| c.attributes.find(name).map(|a| a.data.to_vec());
                    assert_eq!(data(new), data(code), "{}", place());
                }
            },
        )
        .unwrap();
    });
}

/// A `nop` before each instruction and two more on entry, all locals moved up by two.
#[test]
fn an_edit_that_moves_everything_gives_the_same_code_moved() {
    for_each_method(|class, member, code| {
        let signature = Signature::of(class, member).unwrap();
        let mut nop = Asm::new();
        nop.op(opcode::NOP);
        let mut prologue = Asm::new();
        prologue.op(opcode::NOP).op(opcode::NOP);
        let at = signature.argument_slots();
        let result = edited(
            class,
            member,
            code,
            at,
            &[VerificationType::Long],
            |edit| {
                edit.prologue(&prologue);
                code.instructions().for_each(|i| edit.before(i.bci, &nop));
            },
            |again, new, new_signature, moves| {
                // Without the inserted ones, the instructions are the same, and jumps lead to the
                // `nop` before the same target.
                let kept: Vec<_> = new.instructions().skip(2).skip(1).step_by(2).collect();
                let old: Vec<_> = code.instructions().collect();
                assert_eq!(kept.len(), old.len());
                let label = |bci: u32| {
                    let k = old.binary_search_by_key(&bci, |i| i.bci).unwrap_or(old.len());
                    kept.get(k).map_or(new.length(), |i| i.bci - 1)
                };
                for (a, b) in old.iter().zip(&kept) {
                    let same = a.opcode == b.opcode
                        || a.local().is_some()
                        || opcode::is_unconditional_jump(a.opcode);
                    assert!(same, "{a:?} became {b:?}");
                    let moved = a.local().map(|(l, two)| (if l >= at { l + 2 } else { l }, two));
                    assert_eq!(b.local(), moved);
                    let original = |index| original_bci(moves.iter().copied(), index);
                    assert_eq!([b.bci - 1, b.bci].map(original), [a.bci; 2]);
                    let (mut from, mut to) = (Vec::new(), Vec::new());
                    a.for_each_target(|t| from.push(label(t)));
                    b.for_each_target(|t| to.push(t));
                    // A far conditional jump leads through a trampoline, whose `goto_w` is not in
                    // `kept`.
                    if from != to {
                        let through: Vec<_> =
                            to.iter().map(|t| new.instruction_at(*t).unwrap().target().unwrap()).collect();
                        assert_eq!(through, from);
                    }
                }
                // If the `nop` before a handler that covers itself throws, the handler resumes
                // after it.
                let goes_on = |h: &Handler| (h.start..h.end).contains(&h.handler);
                let entries = code.handlers.iter().flat_map(|h| {
                    let (start, end, at) = (label(h.start), label(h.end), label(h.handler));
                    if goes_on(h) {
                        vec![(start, at, at), (at, at + 1, at + 1), (at + 1, end, at)]
                    } else {
                        vec![(start, end, at)]
                    }
                });
                let entries = entries.filter(|(start, end, _)| start < end);
                for (a, b) in entries.zip(&new.handlers) {
                    assert_eq!(a, (b.start, b.end, b.handler));
                }
                let goes_on_at = |bci| code.handlers.iter().any(|h| h.handler == bci && goes_on(h));
                let expected: Vec<_> = states(code, &signature)
                    .into_iter()
                    .flat_map(|(bci, mut frame)| {
                        frames::insert_locals(&mut frame.locals, at, &[VerificationType::Long]).unwrap();
                        let types = frame.locals.iter_mut().chain(&mut frame.stack);
                        types.for_each(|t| {
                            if let VerificationType::Uninitialized(bci) = t {
                                // The `new` itself, after its `nop`.
                                *bci = label(*bci) + 1;
                            }
                        });
                        let behind = goes_on_at(bci).then(|| (label(bci) + 1, frame.clone()));
                        iter::once((label(bci), frame)).chain(behind)
                    })
                    .collect();
                assert_eq!(
                    named(again, new_signature, states(new, new_signature)),
                    named(class, &signature, expected)
                );
            },
        );
        match result {
            Ok(()) => {}
            // Methods near the limit exceed it; no other error may occur.
            Err(e) => assert!(
                matches!(e.kind(), ErrorKind::MethodTooLarge(_) | ErrorKind::StraddlingLocal(_)),
                "{e}"
            ),
        }
    });
}
