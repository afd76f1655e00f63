//! The class-file hook that runs after all agents. It rewrites classes that agents have changed,
//! and classes that the boot class loader takes from elsewhere than the image
//! (docs/internals/loadtime.md).
//!
//! HotSpot calls environments that may retransform after all others, and these in order of their
//! creation. So this library creates a new environment whenever an agent may have created one.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use cct_classfile::mutf8;
use cct_index::class_attribute::ATTRIBUTE;
use cct_rewrite::hooks;
use jni_sys as sys;
use jni_sys::{jclass, jint, jobject};

use crate::jni::Env;
use crate::jvmti::{CAN_GENERATE_ALL_CLASS_HOOK_EVENTS, CAN_RETRANSFORM_CLASSES, Jvmti};
use crate::state::{jvmti, state};
use crate::{debugger, rewriting, vm_arguments};

/// The environment that the JVM calls last.
static LAST: Mutex<Option<Jvmti>> = Mutex::new(None);

/// Makes this library's hook the last one from now on. Returns an error message on failure.
pub fn come_last(env: Env) -> Result<(), String> {
    let next = Jvmti::of(env).ok_or("the JVM has no JVMTI environment")?;
    if !next.add_capabilities(&[CAN_GENERATE_ALL_CLASS_HOOK_EVENTS, CAN_RETRANSFORM_CLASSES]) {
        next.dispose();
        return Err("the JVM does not allow to retransform classes".to_owned());
    }
    if !next.report_class_files(class_file, None) {
        next.dispose();
        return Err("the JVM does not report class files".to_owned());
    }
    // The JVM calls both meanwhile: the second leaves unchanged what the first has rewritten.
    let before = LAST.lock().unwrap_or_else(PoisonError::into_inner).replace(next);
    if let Some(before) = before {
        before.dispose();
    }
    Ok(())
}

/// JVM options by which the boot class loader takes classes from elsewhere than the class library,
/// or by which a native agent may redefine classes. (Java agents report themselves.)
const OPTIONS: [&str; 8] = [
    "-Xbootclasspath/a:",
    "-Xbootclasspath/p:",
    "--patch-module",
    "-Djdk.module.patch.",
    "-agentlib:",
    "-agentpath:",
    "-Xrun",
    "-Xdebug",
];

/// Names of native libraries of agents that have no class-file hook of their own, or that this
/// library knows.
const QUIET_AGENTS: [&str; 4] = ["jdwp", "instrument", "hprof", "cctrewrite_prefix"];

/// Notes native agents that the JVM may call before this library: they see rewritten classes.
fn note_native_agents(arguments: &[String]) {
    for argument in arguments {
        let library =
            ["-agentlib:", "-agentpath:", "-Xrun"].iter().find_map(|option| argument.strip_prefix(option));
        let Some(library) = library.and_then(|library| library.split(['=', ':']).next()) else { continue };
        if !QUIET_AGENTS.iter().any(|quiet| library == *quiet || library.contains(&format!("lib{quiet}"))) {
            state().note("native agents, which may see rewritten class files", library);
        }
    }
}

/// Whether this library's hook must be the last one from the beginning. `boot_path` is the boot
/// class path of JDK 8.
pub fn is_wanted(env: Env, boot_path: Option<&str>, home: &str) -> bool {
    // A JDK's home has folders for other classes, `lib/endorsed` and `classes`.
    let own = Path::new(home).join("lib");
    let is_elsewhere = |entry: &str| {
        let entry = Path::new(entry);
        entry.parent().is_some_and(|folder| folder != own) && entry.exists()
    };
    let is_debugged = jvmti(env).is_some_and(|jvmti| debugger::look(env, jvmti));
    let arguments = vm_arguments::of(env);
    note_native_agents(&arguments);
    is_debugged
        || arguments.iter().any(|argument| OPTIONS.iter().any(|option| argument.starts_with(option)))
        || boot_path.is_some_and(|path| path.split(':').any(is_elsewhere))
}

/// Classes of the library that the boot class loader has taken from elsewhere before they could be
/// rewritten. Their callers rely on extended forms that they lack.
pub fn raw_of_library(env: Env) -> Vec<String> {
    let Some(jvmti) = jvmti(env) else { return Vec::new() };
    let mut raw = Vec::new();
    for class in jvmti.loaded_classes().unwrap_or_default() {
        env.frame(4, || {
            let name = jvmti.class_name(class)?;
            let loader = jvmti.class_loader(class)?;
            if !loader.is_null() || hooks::is_runtime_class(&name) || state().library.class(&name).is_none() {
                return None;
            }
            let (_, pool) = jvmti.constant_pool(class)?;
            let is_rewritten = pool.windows(ATTRIBUTE.len()).any(|text| text == ATTRIBUTE);
            (!is_rewritten).then(|| raw.push(mutf8::decode_lossy(&name).replace('/', ".")))
        });
        env.delete_local(class);
    }
    raw.sort();
    raw
}

/// JVMTI's event ClassFileLoadHook. After a panic, which would be a defect, the class stays
/// unchanged.
///
/// # Safety
/// The JVM calls it.
unsafe extern "system" fn class_file(
    raw_jvmti: *mut *const *const c_void,
    raw: *mut sys::JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    length: jint,
    bytes: *const u8,
    new_length: *mut jint,
    new_bytes: *mut *mut u8,
) {
    let Ok(length) = usize::try_from(length) else { return };
    // VM-anonymous classes, which are rewritten when they are defined; and classes that native code
    // defines without a name.
    if name.is_null() || bytes.is_null() {
        return;
    }
    // SAFETY: the interface of the thread that defines the class; the class file and its length.
    let (env, file) = unsafe { (Env::new(raw), std::slice::from_raw_parts(bytes, length)) };
    let rewritten = catch_unwind(AssertUnwindSafe(|| rewriting::rewrite_last(env, loader, redefined, file)));
    let Ok(Some(rewritten)) = rewritten else { return };
    let Ok(length) = jint::try_from(rewritten.len()) else { return };
    // SAFETY: the environment that the JVM asks.
    let copy = unsafe { Jvmti::from_raw(raw_jvmti) }.copied(&rewritten);
    if !copy.is_null() {
        // SAFETY: the JVM passes where the new class file goes, and takes its memory over.
        unsafe {
            *new_bytes = copy;
            *new_length = length;
        }
    }
}
