//! Two JNI functions do more than they did: code of a program's own libraries calls them, past everything in Java.
//!
//! `DefineClass` rewrites what it defines. `ExceptionClear` puts the native's context back into the thread: a constructor that throws leaves
//! the context of some callee there (no handler may cover `this()` or `super()`), and the native goes on.

#![allow(unsafe_code)]

use std::ffi::c_char;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use jni_sys as sys;
use jni_sys::{jbyte, jclass, jobject, jsize};

use crate::identity::How;
use crate::jni::Env;
use crate::replay;
use crate::rewriting;
use crate::state::{Members, jvmti};
use crate::tree::Node;

/// JNI's own functions.
struct Originals {
    define_class:
        unsafe extern "system" fn(*mut sys::JNIEnv, *const c_char, jobject, *const jbyte, jsize) -> jclass,
    exception_clear: unsafe extern "system" fn(*mut sys::JNIEnv),
}

static ORIGINALS: OnceLock<Originals> = OnceLock::new();

/// Puts ours in their place, once, in the live phase.
pub fn install(env: Env) -> bool {
    let Some(jvmti) = jvmti(env) else { return false };
    let Some(table) = jvmti.jni_table() else { return false };
    // SAFETY: a copy of the JVM's table, which has the functions of at least JNI 1.6.
    let functions = unsafe { &mut (*table).v1_6 };
    let originals =
        Originals { define_class: functions.DefineClass, exception_clear: functions.ExceptionClear };
    if ORIGINALS.set(originals).is_err() {
        jvmti.give_back(table);
        return true;
    }
    functions.DefineClass = define_class;
    functions.ExceptionClear = exception_clear;
    let installed = jvmti.set_jni_table(table);
    jvmti.give_back(table);
    installed
}

unsafe extern "system" fn define_class(
    raw: *mut sys::JNIEnv,
    name: *const c_char,
    loader: jobject,
    bytes: *const jbyte,
    length: jsize,
) -> jclass {
    let Some(originals) = ORIGINALS.get() else { return std::ptr::null_mut() };
    let rewritten = usize::try_from(length).ok().filter(|_| !bytes.is_null()).and_then(|length| {
        // SAFETY: JNI's caller gives this many bytes.
        let file = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
        // SAFETY: the interface that JNI's caller uses.
        let env = unsafe { Env::new(raw) };
        let rewrite = || rewriting::rewrite(env, loader, std::ptr::null_mut(), file, How::Loaded, &[]);
        catch_unwind(AssertUnwindSafe(rewrite)).ok().flatten()
    });
    let (bytes, length) = match &rewritten {
        Some(file) => (file.as_ptr().cast(), file.len() as jsize),
        None => (bytes, length),
    };
    // SAFETY: JNI's own function, with its caller's arguments.
    unsafe { (originals.define_class)(raw, name, loader, bytes, length) }
}

unsafe extern "system" fn exception_clear(raw: *mut sys::JNIEnv) {
    let Some(originals) = ORIGINALS.get() else { return };
    // SAFETY: JNI's own function.
    unsafe { (originals.exception_clear)(raw) };
    // SAFETY: the interface that JNI's caller uses.
    let env = unsafe { Env::new(raw) };
    let _ = catch_unwind(AssertUnwindSafe(|| restore_context(env)));
}

/// Contexts below this are no addresses (docs/runtime.md).
const LIMIT: i64 = 1024;
const CHUNK_MASK: i64 = -4096;
const ROOT: i64 = 24;
const SLOTS: u64 = 48;
const SLOT_BITS: u64 = 0x7F;

/// The current thread carries the context of the native that is running.
fn restore_context(env: Env) -> Option<()> {
    let (members, jvmti) = (Members::find(env)?, jvmti(env)?);
    let thread = jvmti.current_thread()?;
    let context = env.get_long(thread, members.context);
    if context >= LIMIT {
        // SAFETY: a context is a slot's address; the first word of its chunk leads to the tree's record, and that to the root.
        let root = unsafe {
            let record = std::ptr::read_volatile((context & CHUNK_MASK) as *const i64);
            Node::at(std::ptr::read_volatile((record + ROOT) as *const u64))
        };
        if let Some(node) = replay::node(env, root, 0).filter(|node| node.mid() & SLOT_BITS != 0) {
            env.set_long(thread, members.context, (node.address() + SLOTS) as i64);
        }
    }
    env.delete_local(thread);
    Some(())
}
