//! Files that require much work: the work of the checks grows with their size, not with its square.

use std::time::{Duration, Instant};

use cct_classfile::constant_pool::tag;
use cct_classfile::{access, opcode};
use cct_settings::Settings;
use cct_verify::link_results::follow;
use cct_verify::links::Links;
use cct_verify::{Tally, check};

use super::build::{Body, Builder};
use super::support::{expectation, rewriter};

/// Longer than any of these takes, unoptimised and on a busy machine; without the tables each takes
/// many minutes.
const LONG: Duration = Duration::from_secs(60);

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let done = work();
    println!("{what}: {:?}", begin.elapsed());
    assert!(begin.elapsed() < LONG, "{what}: {:?}", begin.elapsed());
    done
}

fn checked(what: &str, class: Builder) -> Tally {
    let original = class.bytes();
    let settings = Settings::default();
    let all = vec![original.clone()];
    let rewritten = rewriter(&all, settings).rewrite(&original).unwrap().bytes.unwrap();
    let (findings, tally) = timed(what, || check(&original, &rewritten, expectation(&settings)));
    assert!(findings.is_empty(), "{findings:?}");
    tally
}

/// `idiv`s, all covered by this many handlers that rethrow.
fn covered(handlers: u16, divisions: usize) -> Builder {
    let mut class = Builder::new("p/Covered", Some("java/lang/Object"));
    let divide = [opcode::ICONST_0 + 1, opcode::ICONST_0 + 1, opcode::IDIV, opcode::POP];
    let mut code = divide.repeat(divisions);
    code.push(opcode::RETURN);
    let end = code.len() as u16;
    code.push(opcode::ATHROW);
    // full_frame: no locals, a Throwable on the stack.
    let throwable = class.class("java/lang/Throwable").to_be_bytes();
    let [high, low] = end.to_be_bytes();
    let frame = vec![255, high, low, 0, 0, 0, 1, 7, throwable[0], throwable[1]];
    let caught = class.class("java/lang/Error");
    let handlers = vec![[0, end, end, caught]; usize::from(handlers)];
    let body = Body { limits: (2, 0), code, handlers, frames: Some((1, frame)) };
    class.method(access::PUBLIC | access::STATIC, "m", "()V", Some(body));
    class
}

#[test]
fn many_handlers() {
    let tally = checked("100 handlers of 32,000 instructions", covered(100, 8_000));
    assert!(tally.unchecked.is_empty(), "{tally:?}");
    // More than the limit: this is reported, not ignored.
    let tally = checked("30,000 handlers of 32,000 instructions", covered(30_000, 8_000));
    assert_eq!(tally.unchecked.len(), 1, "{tally:?}");
}

#[test]
fn many_fields() {
    let mut class = Builder::new("p/Fields", Some("java/lang/Object"));
    let mut code = Vec::new();
    for n in 0..20_000 {
        class.field(access::STATIC, &format!("f{n}"), "I");
    }
    // The last ones, for a search that begins at the first.
    for n in 15_000..20_000 {
        let field = class.member(tag::FIELDREF, "p/Fields", &format!("f{n}"), "I");
        let [high, low] = field.to_be_bytes();
        code.extend([opcode::GETSTATIC, high, low, opcode::POP]);
    }
    code.push(opcode::RETURN);
    for n in 0..20 {
        let body = Body { limits: (1, 0), code: code.clone(), ..Body::default() };
        class.method(access::STATIC, &format!("m{n}"), "()V", Some(body));
    }
    checked("100,000 reads of 20,000 fields", class);
}

#[test]
fn many_frames() {
    let mut class = Builder::new("p/Frames", Some("java/lang/Object"));
    let mut code = vec![opcode::NOP; 40_000];
    code.push(opcode::RETURN);
    // same_frame after same_frame: each one instruction further.
    let body = Body { limits: (0, 0), code, frames: Some((40_000, vec![0; 40_000])), ..Body::default() };
    class.method(access::STATIC, "m", "()V", Some(body));
    checked("40,000 frames", class);
}

/// A class that names extended forms of another one.
fn naming(name: &str, above: &str, owner: &str, references: usize) -> Links {
    let mut class = Builder::new(name, Some(above));
    for n in 0..references {
        class.member(tag::METHODREF, owner, &format!("m{n}"), "(J[[[[J)V");
    }
    Links::of(&class.bytes()).unwrap()
}

#[test]
fn many_superclasses() {
    let object = Links::of(&Builder::new("java/lang/Object", None).bytes()).unwrap();
    let mut classes = vec![object];
    for n in 0..20_000 {
        let above = if n == 0 { "java/lang/Object".to_owned() } else { format!("p/C{}", n - 1) };
        classes.push(naming(&format!("p/C{n}"), &above, "p/C19999", 10));
    }
    let linked = timed("200,000 references to the last of 20,000 classes", || follow(&classes));
    assert_eq!((linked.found, linked.unknown, linked.missing.len()), (0, 0, 200_000));
}

#[test]
fn many_interfaces() {
    let object = Links::of(&Builder::new("java/lang/Object", None).bytes()).unwrap();
    let mut classes = vec![object];
    let count = 4_000;
    for n in 0..count {
        let mut class = Builder::new(&format!("p/I{n}"), Some("java/lang/Object"))
            .flags(access::PUBLIC | access::INTERFACE | access::ABSTRACT);
        if n > 0 {
            class = class.implements(&[&format!("p/I{}", n - 1)]);
        }
        for m in 0..20 {
            class.member(tag::INTERFACE_METHODREF, &format!("p/I{n}"), &format!("m{m}"), "(J[[[[J)V");
        }
        classes.push(Links::of(&class.bytes()).unwrap());
    }
    let linked = timed("20 references to each of 4,000 interfaces", || follow(&classes));
    assert_eq!((linked.found, linked.unknown, linked.missing.len()), (0, 0, 20 * count));
}
