//! Interposed JNI functions: three that native code of the program calls without passing any Java
//! code.
//!
//! `DefineClass` rewrites the class that it defines. `ExceptionClear` and `ExceptionDescribe`,
//! which clears the exception as well, restore the native's context in the thread. A constructor
//! that throws leaves the context of some callee there (no handler may cover `this()` or
//! `super()`), and the native goes on.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

use jni_sys as sys;
use jni_sys::{jbyte, jclass, jint, jobject, jsize, jthrowable};

use cct_pcc::Value;
use cct_rewrite::hooks;

use crate::identity::DefinitionKind;
use crate::jni::Env;
use crate::members::Members;
use crate::pcc;
use crate::replay;
use crate::rewriting;
use crate::state::jvmti;
use crate::tracing::tracer;
use crate::tree::Node;

/// JNI's own functions.
struct Originals {
    define_class:
        unsafe extern "system" fn(*mut sys::JNIEnv, *const c_char, jobject, *const jbyte, jsize) -> jclass,
    exception_clear: unsafe extern "system" fn(*mut sys::JNIEnv),
    exception_describe: unsafe extern "system" fn(*mut sys::JNIEnv),
    exception_occurred: unsafe extern "system" fn(*mut sys::JNIEnv) -> jthrowable,
    throw: unsafe extern "system" fn(*mut sys::JNIEnv, jthrowable) -> jint,
    delete_local: unsafe extern "system" fn(*mut sys::JNIEnv, jobject),
}

static ORIGINALS: OnceLock<Originals> = OnceLock::new();

/// Installs the interposed functions, once, in the live phase.
pub fn install(env: Env) -> bool {
    let Some(jvmti) = jvmti(env) else { return false };
    if tracer().is_some() && ORIGINALS.get().is_none() {
        jvmti.report_classes(class_loaded);
    }
    let Some(table) = jvmti.jni_table() else { return false };
    // SAFETY: a copy of the JVM's table, which has the functions of at least JNI 1.6.
    let functions = unsafe { &mut (*table).v1_6 };
    let originals = Originals {
        define_class: functions.DefineClass,
        exception_clear: functions.ExceptionClear,
        exception_describe: functions.ExceptionDescribe,
        exception_occurred: functions.ExceptionOccurred,
        throw: functions.Throw,
        delete_local: functions.DeleteLocalRef,
    };
    if ORIGINALS.set(originals).is_err() {
        jvmti.give_back(table);
        return true;
    }
    functions.DefineClass = define_class;
    functions.ExceptionClear = exception_clear;
    functions.ExceptionDescribe = exception_describe;
    let installed = jvmti.set_jni_table(table);
    jvmti.give_back(table);
    installed
}

/// JVMTI's event ClassLoad, for a trace: records that a class was loaded.
extern "system" fn class_loaded(
    _: *mut *const *const c_void,
    raw: *mut sys::JNIEnv,
    thread: jobject,
    class: jclass,
) {
    // SAFETY: the interface that the JVM's caller uses.
    let env = unsafe { Env::new(raw) };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let (tracer, members, jvmti) = (tracer()?, Members::find(env)?, jvmti(env)?);
        // Some classes of the runtime are loaded on first use.
        let name = jvmti.class_name(class).filter(|name| !hooks::is_runtime_class(name))?;
        tracer.loaded(env.get_long(thread, members.context) as u64, &name);
        Some(())
    }));
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
        // SAFETY: JNI's caller passes this many bytes.
        let file = unsafe { std::slice::from_raw_parts(bytes.cast::<u8>(), length) };
        // SAFETY: the interface that JNI's caller uses.
        let env = unsafe { Env::new(raw) };
        let rewrite =
            || rewriting::rewrite(env, loader, std::ptr::null_mut(), file, DefinitionKind::Loaded, &[]);
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

/// JNI's function, after restoring the context: the exception prints itself by Java code, which
/// needs the right one.
unsafe extern "system" fn exception_describe(raw: *mut sys::JNIEnv) {
    let Some(originals) = ORIGINALS.get() else { return };
    // SAFETY: JNI's own functions, in an order that JNI allows.
    unsafe {
        let pending = (originals.exception_occurred)(raw);
        if !pending.is_null() {
            exception_clear(raw);
            (originals.throw)(raw, pending);
            (originals.delete_local)(raw, pending);
        }
        (originals.exception_describe)(raw);
    }
}

/// Lower bound of addresses: contexts below it are no addresses (docs/internals/runtime.md).
const LIMIT: i64 = 1024;
/// Mask of a context's address: the bits above it may hold a call site.
const ADDRESS: i64 = (1 << 48) - 1;
const CHUNK_MASK: i64 = -4096;
const ROOT: i64 = 24;
const SLOTS: u64 = 40;
const SLOT_BITS: u64 = 0x7F;

/// Puts the context of the native that is running into the current thread.
fn restore_context(env: Env) -> Option<()> {
    // In a trace all natives of a thread have the same context: the thread's record.
    if tracer().is_some() {
        return None;
    }
    let (members, jvmti) = (Members::find(env)?, jvmti(env)?);
    let thread = jvmti.current_thread()?;
    if env.get_boolean(thread, members.transition) {
        env.delete_local(thread);
        return None;
    }
    if pcc::tables().is_some() {
        if Value(env.get_long(thread, members.context) as u64).is_recorded()
            && let Some(value) = pcc::value(env, thread, 0)
        {
            env.set_long(thread, members.context, value.0 as i64);
        }
        env.delete_local(thread);
        return Some(());
    }
    let slot = env.get_long(thread, members.context) & ADDRESS;
    if slot >= LIMIT {
        // SAFETY: a context has a slot's address; the first word of its chunk leads to the tree's
        // record, and that to the root.
        let root = unsafe {
            let record = std::ptr::read_volatile((slot & CHUNK_MASK) as *const i64);
            Node::at(std::ptr::read_volatile((record + ROOT) as *const u64))
        };
        // A native: its callees have no call site.
        let native = replay::of_stack(env, thread, root, 0).map(|(node, _)| node);
        if let Some(node) = native.filter(|node| node.mid() & SLOT_BITS != 0) {
            env.set_long(thread, members.context, (node.address() + SLOTS) as i64);
        }
    }
    env.delete_local(thread);
    Some(())
}
