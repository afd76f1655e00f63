//! The options of this JVM, from all sources (including `JAVA_TOOL_OPTIONS` and files of options).

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::transmute;

use jni_sys as sys;

use crate::jni::{Env, jobjectArray};
use crate::vm_flags::Jvm;

/// `JVM_GetVmArguments` (JDK 9 and later), which `jdk.internal.misc.VM.getRuntimeArguments` uses.
type GetVmArguments = unsafe extern "system" fn(*mut sys::JNIEnv) -> jobjectArray;

/// Options of this JVM; empty if it does not report them (JDK 8).
pub fn of(env: Env) -> Vec<String> {
    let function = Jvm::of(env).and_then(|jvm| jvm.function(c"JVM_GetVmArguments"));
    let Some(function) = function else { return Vec::new() };
    // SAFETY: its type in HotSpot, called with the interface of this thread.
    let array = unsafe { transmute::<*mut c_void, GetVmArguments>(function)(env.raw()) };
    if env.failed() || array.is_null() {
        return Vec::new();
    }
    let texts = env.texts(array).unwrap_or_default();
    env.delete_local(array);
    texts
}
