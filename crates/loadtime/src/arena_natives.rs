//! The natives of `cctrewrite.runtime.Arena`. Like those of `LoadTime`, they call no Java code and
//! take no Java lock.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;

use cct_arena::log::Entry;
use cct_index::mid::ClassHash;
use jni_sys as sys;
use jni_sys::{jint, jlong};

use crate::arena::{self, arena};
use crate::guard::guarded;
use crate::jni::{Env, Native, jbyteArray, jclass, jstring};

/// Binds the natives.
pub fn register(env: Env) -> bool {
    let natives = [
        Native::new(c"make", c"(Ljava/lang/String;)Ljava/lang/String;", make as *mut c_void),
        Native::new(c"board", c"()J", board as *mut c_void),
        Native::new(c"path", c"()Ljava/lang/String;", path as *mut c_void),
        Native::new(c"memory", c"()J", memory as *mut c_void),
        Native::new(c"text", c"(Ljava/lang/String;)J", text as *mut c_void),
        Native::new(c"say", c"(ILjava/lang/String;Ljava/lang/String;)V", say as *mut c_void),
        Native::new(c"remember", c"(Ljava/lang/String;J[B)V", remember as *mut c_void),
        Native::new(c"ended", c"()V", ended as *mut c_void),
    ];
    env.find_class("cctrewrite/runtime/Arena").is_some_and(|class| env.register(class, &natives))
}

/// `String make(String path)`
extern "system" fn make(raw: *mut sys::JNIEnv, _: jclass, path: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let path = if path.is_null() { None } else { env.text(path) };
        match arena::make(path.as_deref()) {
            Ok(()) => ptr::null_mut(),
            Err(trouble) => env.new_string(trouble.as_bytes()),
        }
    })
}

/// `long board()`
extern "system" fn board(raw: *mut sys::JNIEnv, _: jclass) -> jlong {
    guarded(raw, 0, |_| arena().as_ref().map_or(0, |arena| arena.board() as jlong))
}

/// `String path()`
extern "system" fn path(raw: *mut sys::JNIEnv, _: jclass) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let path = arena().as_ref().and_then(|arena| {
            Some(arena.path().filter(|path| path.exists())?.to_string_lossy().into_owned())
        });
        path.map_or(ptr::null_mut(), |path| env.new_string(path.as_bytes()))
    })
}

/// `long memory()`
extern "system" fn memory(raw: *mut sys::JNIEnv, _: jclass) -> jlong {
    guarded(raw, 0, |_| {
        arena().as_mut().and_then(|arena| arena.memory()).map_or(0, |address| address as jlong)
    })
}

/// `long text(String text)`
extern "system" fn text(raw: *mut sys::JNIEnv, _: jclass, text: jstring) -> jlong {
    guarded(raw, 0, |env| {
        let Some(text) = env.text(text) else { return 0 };
        arena().as_mut().map_or(0, |arena| arena.text(&text) as jlong)
    })
}

/// `void say(int kind, String first, String second)`
extern "system" fn say(raw: *mut sys::JNIEnv, _: jclass, kind: jint, first: jstring, second: jstring) {
    guarded(raw, (), |env| {
        let (Some(first), Some(second)) = (env.text(first), env.text(second)) else { return };
        // The numbers are those of the runtime.
        let record = match kind {
            2 => Entry::Meta(&first, &second),
            4 => Entry::NoteWithRawClasses(&first),
            5 => Entry::MetaWithRawClasses(&first, &second),
            6 => Entry::RawClass(&first),
            8 => Entry::IndexFile(&first, second.as_bytes()),
            12 => Entry::IndexInJar(&first, second.as_bytes()),
            _ => Entry::Note(&first),
        };
        arena::log(&record);
    })
}

/// `void remember(String name, long hash, byte[] methods)`
extern "system" fn remember(
    raw: *mut sys::JNIEnv,
    _: jclass,
    name: jstring,
    hash: jlong,
    methods: jbyteArray,
) {
    guarded(raw, (), |env| {
        let methods = env.bytes(methods, 0, env.length(methods));
        let (Some(name), Some(methods)) = (env.text(name), methods) else { return };
        arena::log(&Entry::Class(name.as_bytes(), ClassHash(hash as u64), &methods));
    })
}

/// `void ended()`
extern "system" fn ended(raw: *mut sys::JNIEnv, _: jclass) {
    guarded(raw, (), |_| {
        if let Some(arena) = arena().as_mut() {
            arena.end();
        }
    })
}
