//! The natives of `cctrewrite.runtime.Tracing`. Like those of `LoadTime`, they call no Java code
//! and take no Java lock.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use cct_events::FrameKind;
use cct_events::file::Thread;
use jni_sys as sys;
use jni_sys::{jboolean, jint, jlong};

use super::options::Options;
use super::record::Record;
use super::{Tracer, tracer};
use crate::archived;
use crate::guard::guarded;
use crate::jni::{Env, Native, jclass, jobject, jobjectArray, jstring};
use crate::state::jvmti;

/// Binds the natives.
pub fn register(env: Env) -> bool {
    let natives = [
        Native::new(
            c"start",
            c"(Ljava/lang/String;Ljava/lang/String;[Ljava/lang/String;)Ljava/lang/String;",
            start as *mut c_void,
        ),
        Native::new(c"identity", c"(Ljava/lang/Object;)I", identity as *mut c_void),
        Native::new(c"order", c"()J", order as *mut c_void),
        Native::new(c"nest", c"(JI)V", nest as *mut c_void),
        Native::new(c"make", c"(Ljava/lang/Thread;Ljava/lang/String;I)J", make as *mut c_void),
        Native::new(c"renew", c"(JLjava/lang/Thread;Ljava/lang/String;I)Z", renew as *mut c_void),
        Native::new(c"flush", c"(J)J", flush as *mut c_void),
        Native::new(c"turn", c"(JZLjava/lang/String;)V", turn as *mut c_void),
        Native::new(c"isActive", c"(J)Z", is_active as *mut c_void),
        Native::new(c"number", c"(Ljava/lang/Class;)J", number as *mut c_void),
        Native::new(c"name", c"(JLjava/lang/Thread;Ljava/lang/String;)V", name as *mut c_void),
        Native::new(c"meta", c"([Ljava/lang/String;)V", meta as *mut c_void),
        Native::new(c"end", c"([Ljava/lang/String;)Ljava/lang/String;", end as *mut c_void),
    ];
    env.find_class("cctrewrite/runtime/Tracing").is_some_and(|class| env.register(class, &natives))
}

/// Refusal of archived classes: rewritten code contains method numbers of the JVM that rewrote it;
/// in another JVM they belong to other methods.
const ARCHIVED: &str = "classes from an archive (-XX:SharedArchiveFile, -XX:AOTCache) have method \
                        numbers of another JVM, so the trace would name wrong methods; leave the \
                        option out";

/// `String start(String file, String structure, String[] options)`
extern "system" fn start(
    raw: *mut sys::JNIEnv,
    _: jclass,
    file: jstring,
    structure: jstring,
    options: jobjectArray,
) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let (Some(file), Some(structure), Some(options)) =
            (env.text(file), env.text(structure), env.texts(options))
        else {
            return env.new_string(b"no memory");
        };
        if archived::is_given(env) {
            return env.new_string(ARCHIVED.as_bytes());
        }
        let started =
            Options::of(&options).and_then(|options| Tracer::start(&file, Path::new(&structure), options));
        match started {
            Ok(()) => ptr::null_mut(),
            Err(trouble) => env.new_string(trouble.as_bytes()),
        }
    })
}

/// `int identity(Object object)`
extern "system" fn identity(raw: *mut sys::JNIEnv, _: jclass, object: jobject) -> jint {
    guarded(raw, 0, |env| jvmti(env).and_then(|jvmti| jvmti.identity(object)).unwrap_or(0))
}

/// `long order()`
extern "system" fn order(raw: *mut sys::JNIEnv, _: jclass) -> jlong {
    guarded(raw, 0, |_| tracer().and_then(Tracer::order).map_or(0, |order| order.as_ptr() as jlong))
}

/// `Thread.VIRTUAL`, and the class of virtual threads.
const VIRTUAL: (u32, &[u8]) = (Thread::VIRTUAL, b"java/lang/VirtualThread");

/// The description of a thread.
fn thread(env: Env, thread: jobject, name: jstring, flags: jint) -> Thread {
    let id = env
        .find_class("java/lang/Thread")
        .and_then(|class| env.field(class, "tid", "J"))
        .map_or(0, |field| env.get_long(thread, field) as u64);
    let name = if name.is_null() { String::new() } else { env.text(name).unwrap_or_default() };
    // Not by Java code: a class that is asked for its name caches it.
    let class = env.object_class(thread).and_then(|class| jvmti(env)?.class_name(class));
    let is_virtual = class.is_some_and(|class| class == VIRTUAL.1);
    Thread { name, id, flags: flags as u32 | if is_virtual { VIRTUAL.0 } else { 0 } }
}

/// `long make(Thread thread, String name, int flags)`
extern "system" fn make(raw: *mut sys::JNIEnv, _: jclass, of: jobject, name: jstring, flags: jint) -> jlong {
    guarded(raw, 0, |env| {
        let record = tracer().and_then(|tracer| tracer.open(&thread(env, of, name, flags)));
        record.map_or(0, |record| record.address() as jlong)
    })
}

/// `boolean renew(long record, Thread thread, String name, int flags)`
extern "system" fn renew(
    raw: *mut sys::JNIEnv,
    _: jclass,
    record: jlong,
    of: jobject,
    name: jstring,
    flags: jint,
) -> jboolean {
    guarded(raw, false, |env| {
        let Some(tracer) = tracer() else { return false };
        // SAFETY: the runtime passes a record that it was given, and whose thread has ended.
        tracer.renew(unsafe { Record::at(record as u64) }, &thread(env, of, name, flags));
        true
    })
}

/// `long flush(long record)`
extern "system" fn flush(raw: *mut sys::JNIEnv, _: jclass, record: jlong) -> jlong {
    // SAFETY: the runtime passes the record of the thread that calls.
    let record = unsafe { Record::at(record as u64) };
    let flushed = guarded(raw, 0, |_| tracer().map_or(0, |tracer| tracer.flush(record)) as jlong);
    // After a panic, which would be a defect, the buffer starts again empty.
    if flushed == 0 { record.rewind() as jlong } else { flushed }
}

/// `void turn(long record, boolean recorded, String name)`
extern "system" fn turn(raw: *mut sys::JNIEnv, _: jclass, record: jlong, recorded: jboolean, name: jstring) {
    guarded(raw, (), |env| {
        // SAFETY: the runtime passes 0, or a record that it was given.
        let record = (record != 0).then(|| unsafe { Record::at(record as u64) });
        let name = if name.is_null() { None } else { env.text(name) };
        if let Some(tracer) = tracer() {
            tracer.switch(record, recorded, name.as_deref());
        }
    })
}

/// `void nest(long record, int deeper)`
extern "system" fn nest(raw: *mut sys::JNIEnv, _: jclass, record: jlong, deeper: jint) {
    guarded(raw, (), |_| {
        // SAFETY: the runtime passes the current thread's record.
        unsafe { Record::at(record as u64) }.nest(deeper);
    });
}

/// `boolean isActive(long record)`
extern "system" fn is_active(raw: *mut sys::JNIEnv, _: jclass, record: jlong) -> jboolean {
    // SAFETY: the runtime passes the current thread's record.
    guarded(raw, false, |_| !unsafe { Record::at(record as u64) }.will_be_paused())
}

/// `long number(Class<?> type)`
extern "system" fn number(raw: *mut sys::JNIEnv, _: jclass, class: jclass) -> jlong {
    guarded(raw, 1, |env| {
        // Arrays have no name but their descriptor.
        let name =
            jvmti(env).and_then(|jvmti| jvmti.class_name(class).or_else(|| jvmti.class_signature(class)));
        let name = name.unwrap_or_default();
        tracer().map_or(1, |tracer| i64::from(tracer.class_number(&name)) + 1)
    })
}

/// `void name(long record, Thread thread, String name)`
extern "system" fn name(raw: *mut sys::JNIEnv, _: jclass, record: jlong, of: jobject, name: jstring) {
    guarded(raw, (), |env| {
        if let Some(tracer) = tracer() {
            // SAFETY: the runtime passes a record that it was given.
            let record = unsafe { Record::at(record as u64) };
            tracer.rename(record, &thread(env, of, name, 0).name);
        }
    })
}

/// `void meta(String[] lines)`
extern "system" fn meta(raw: *mut sys::JNIEnv, _: jclass, lines: jobjectArray) {
    guarded(raw, (), |env| {
        if let (Some(tracer), Some(lines)) = (tracer(), env.texts(lines)) {
            tracer.lines(FrameKind::Meta, &lines);
        }
    })
}

/// `String end(String[] notes)`
extern "system" fn end(raw: *mut sys::JNIEnv, _: jclass, notes: jobjectArray) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(tracer) = tracer() else { return ptr::null_mut() };
        let trouble = tracer.end(&env.texts(notes).unwrap_or_default());
        trouble.map_or(ptr::null_mut(), |trouble| env.new_string(trouble.as_bytes()))
    })
}
