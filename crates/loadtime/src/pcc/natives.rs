//! The natives of `cctrewrite.runtime.Pcc`. Like those of `LoadTime`, they call no Java code and
//! take no Java lock.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use jni_sys as sys;
use jni_sys::{jboolean, jlong};

use super::table::Record;
use super::{Tables, replay, tables};
use crate::guard::guarded;
use crate::jni::{Env, Native, jclass, jobjectArray, jstring};

/// Binds the natives.
pub fn register(env: Env) -> bool {
    let natives = [
        Native::new(
            c"start",
            c"(Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;",
            start as *mut c_void,
        ),
        Native::new(c"make", c"()J", make as *mut c_void),
        Native::new(c"grow", c"(J)Z", grow as *mut c_void),
        Native::new(c"replay", c"(Ljava/lang/Thread;)J", replay as *mut c_void),
        Native::new(
            c"end",
            c"([Ljava/lang/String;[Ljava/lang/String;J)Ljava/lang/String;",
            end as *mut c_void,
        ),
    ];
    env.find_class("cctrewrite/runtime/Pcc").is_some_and(|class| env.register(class, &natives))
}

/// `String start(String file, String memory)`
extern "system" fn start(raw: *mut sys::JNIEnv, _: jclass, file: jstring, memory: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let (Some(file), Some(memory)) = (env.text(file), env.text(memory)) else {
            return env.new_string(b"no memory");
        };
        match Tables::start(&file, &memory) {
            Ok(()) => ptr::null_mut(),
            Err(trouble) => env.new_string(trouble.as_bytes()),
        }
    })
}

/// `long make()`
extern "system" fn make(raw: *mut sys::JNIEnv, _: jclass) -> jlong {
    guarded(raw, 0, |_| tables().and_then(Tables::make).map_or(0, |record| record.address() as jlong))
}

/// `boolean grow(long record)`
extern "system" fn grow(raw: *mut sys::JNIEnv, _: jclass, record: jlong) -> jboolean {
    guarded(raw, false, |_| {
        // SAFETY: the runtime passes the record of the thread that calls.
        let record = unsafe { Record::at(record as u64) };
        tables().is_some_and(|tables| tables.grow(record))
    })
}

/// Frames of the runtime's own above the one that the VM called: this native, `CctPcc.replay`, the
/// helper in `Object`, and itself.
const OWN_FRAMES: sys::jint = 4;

/// `long replay(Thread thread)`
extern "system" fn replay(raw: *mut sys::JNIEnv, _: jclass, thread: sys::jobject) -> jlong {
    guarded(raw, 0, |env| replay::value(env, thread, OWN_FRAMES).map_or(0, |value| value.0 as jlong))
}

/// `String end(String[] lines, String[] notes, long lost)`
extern "system" fn end(
    raw: *mut sys::JNIEnv,
    _: jclass,
    lines: jobjectArray,
    notes: jobjectArray,
    lost: jlong,
) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(tables) = tables() else { return ptr::null_mut() };
        let (Some(lines), Some(notes)) = (env.texts(lines), env.texts(notes)) else {
            return env.new_string(b"no memory");
        };
        match tables.end(env, &lines, notes, lost as u64) {
            Ok(()) => ptr::null_mut(),
            Err(trouble) => env.new_string(trouble.as_bytes()),
        }
    })
}
