//! Faults that only several classes together show: callees that both callers and they themselves
//! count.

use cct_classfile::constant_pool::tag;
use cct_classfile::{access, opcode};
use cct_settings::Settings;
use cct_verify::link_results::{LinkResults, follow};
use cct_verify::{Problem, check_with_links};

use super::build::{Body, Builder};
use super::support::{expectation, rewriter};

const NATIVE: &str = "sun/reflect/Reflection";

/// A class with a method that calls one by this instruction.
fn caller(op: u8, owner: &str, name: &str) -> Vec<u8> {
    let mut class = Builder::new("p/Caller", Some("java/lang/Object"));
    let callee = class.member(tag::METHODREF, owner, name, "()Ljava/lang/Class;");
    let [high, low] = callee.to_be_bytes();
    let mut code = if op == opcode::INVOKESTATIC { Vec::new() } else { vec![opcode::ALOAD_0] };
    code.extend([op, high, low, opcode::POP, opcode::RETURN]);
    let body = Body { limits: (1, 1), code, ..Body::default() };
    class.method(access::PUBLIC, "m", "()V", Some(body));
    class.bytes()
}

/// The callee's class: with a native, or a method with a body.
fn callee(class: &str, name: &str, flags: u16) -> Vec<u8> {
    let mut class = Builder::new(class, (class != "java/lang/Object").then_some("java/lang/Object"));
    let code = vec![opcode::ACONST_NULL, opcode::ARETURN];
    let body = Body { limits: (1, 1), code, ..Body::default() };
    let body = (flags & access::NATIVE == 0).then_some(body);
    class.method(flags, name, "()Ljava/lang/Class;", body);
    class.bytes()
}

/// The caller as rewritten together with one callee, checked with another.
fn linked(caller: Vec<u8>, beside: Vec<u8>, with: Vec<u8>) -> LinkResults {
    let settings = Settings::default();
    let first = [caller.clone(), beside];
    let caller = (caller.clone(), rewriter(&first, settings).rewrite(&caller).unwrap().bytes.unwrap());
    let second = [with.clone()];
    let with = (with.clone(), rewriter(&second, settings).rewrite(&with).unwrap().bytes.unwrap());
    let links = [caller, with].map(|(original, rewritten)| {
        let (findings, _, links) = check_with_links(&original, &rewritten, expectation(&settings), None);
        assert!(findings.is_empty(), "{findings:?}");
        links.unwrap()
    });
    follow(&links)
}

#[test]
fn a_native_that_its_caller_counts_has_no_body() {
    let flags = access::PUBLIC | access::STATIC;
    let call = caller(opcode::INVOKESTATIC, NATIVE, "getCallerClass");
    let native = callee(NATIVE, "getCallerClass", flags | access::NATIVE);
    let right = linked(call.clone(), native.clone(), native.clone());
    assert_eq!((right.counted, right.uncounted, right.wrong.len()), (1, 0, 0));
    // The class at run time has a body for it, which counts.
    let twice = linked(call, native, callee(NATIVE, "getCallerClass", flags));
    let [(class, finding)] = &*twice.wrong else { panic!("{twice:?}") };
    assert_eq!((&**class, &finding.problem), ("p/Caller", &Problem::CountedTwice));
    assert_eq!(finding.member.as_deref(), Some("m()V"));
}

/// A callee that is counted by its name alone, for any class, must be the expected one.
#[test]
fn methods_of_object_have_no_body() {
    let object = "java/lang/Object";
    let flags = access::PUBLIC | access::FINAL;
    let call = caller(opcode::INVOKEVIRTUAL, "p/Caller", "getClass");
    let native = callee(object, "getClass", flags | access::NATIVE);
    assert_eq!(linked(call.clone(), native.clone(), native.clone()).counted, 1);
    let twice = linked(call.clone(), native.clone(), callee(object, "getClass", flags));
    assert_eq!(twice.wrong.first().map(|(_, f)| f.problem.clone()), Some(Problem::CountedTwice));
    // Another method may replace it.
    let unmatched = linked(call, native, callee(object, "getClass", access::PUBLIC | access::NATIVE));
    assert_eq!(unmatched.wrong.first().map(|(_, f)| f.problem.clone()), Some(Problem::CountedInVain));
}
