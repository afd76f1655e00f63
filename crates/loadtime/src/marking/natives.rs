//! The natives of `cctrewrite.markers.Image`, and those of `cctrewrite.runtime.LoadTime` about
//! markers.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::Path;
use std::ptr;

use jni_sys as sys;

use super::{counted_classes, start};
use crate::collection;
use crate::guard::guarded;
use crate::jni::{Env, Native, jclass, jobjectArray, jstring};
use crate::marking::rules::MARKING;

/// Binds the natives. Returns whether this is a JDK with markers.
pub fn register(env: Env) -> bool {
    let natives = [
        Native::new(c"start0", c"(Ljava/lang/String;)Ljava/lang/String;", begin as *mut c_void),
        Native::new(c"enter0", c"()Ljava/lang/String;", enter as *mut c_void),
        Native::new(c"option0", c"(Ljava/lang/String;)Ljava/lang/String;", option as *mut c_void),
        Native::new(c"placed0", c"()Ljava/lang/String;", placed as *mut c_void),
        Native::new(c"notes0", c"()[Ljava/lang/String;", notes as *mut c_void),
    ];
    env.find_class("cctrewrite/markers/Image").is_some_and(|class| env.register(class, &natives))
}

fn string(env: Env, text: &str) -> jstring {
    env.new_string(text.replace('\0', "?").as_bytes())
}

/// `String start0(String folder)`
extern "system" fn begin(raw: *mut sys::JNIEnv, _: jclass, folder: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(folder) = env.text(folder) else { return string(env, "no memory") };
        start(env, Path::new(&folder)).err().map_or(ptr::null_mut(), |trouble| string(env, &trouble))
    })
}

/// `String enter0()`
extern "system" fn enter(raw: *mut sys::JNIEnv, _: jclass) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        collection::place().map_or(ptr::null_mut(), |path| string(env, &path))
    })
}

/// `String option0(String key)`
extern "system" fn option(raw: *mut sys::JNIEnv, _: jclass, key: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let value = env.text(key).and_then(|key| collection::option(&key));
        value.map_or(ptr::null_mut(), |value| string(env, &value))
    })
}

/// `String placed0()`, `String LoadTime.marked()`
pub extern "system" fn placed(raw: *mut sys::JNIEnv, _: jclass) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let placed = MARKING.get().and_then(|marking| marking.placed());
        placed.map_or(ptr::null_mut(), |placed| string(env, &placed))
    })
}

/// `String[] notes0()`, `String[] LoadTime.unmarked()`
pub extern "system" fn notes(raw: *mut sys::JNIEnv, _: jclass) -> jobjectArray {
    guarded(raw, ptr::null_mut(), |env| {
        let notes = MARKING.get().map(|marking| marking.notes());
        notes.map_or(ptr::null_mut(), |notes| env.new_strings(&notes))
    })
}

/// `String LoadTime.markers(String folder)`
pub extern "system" fn take(raw: *mut sys::JNIEnv, _: jclass, folder: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(folder) = env.text(folder) else { return string(env, "no memory") };
        counted_classes::start(Path::new(&folder))
            .err()
            .map_or(ptr::null_mut(), |trouble| string(env, &trouble))
    })
}
