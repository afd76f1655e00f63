//! The agent of JP2 (2011, section 3.3): it registers the prefix of renamed natives with the JVM,
//! and does nothing else (docs/reference/natives.md).
//!
//! `SetNativeMethodPrefix` must be called before the first of these natives is linked. Class
//! libraries link natives before any Java code of cctrewrite could make the call. So it takes an
//! agent (`-agentlib:cctrewrite_prefix`), which the JVM loads before it loads a class.

#![allow(unsafe_code)]
#![cfg_attr(test, allow(clippy::unwrap_used))]

use std::ffi::{CStr, c_char, c_void};
use std::io::Write;
use std::panic::catch_unwind;
use std::ptr;

use jni_sys::{self as sys, jint};

/// The prefix of renamed natives; the JVM looks up their code by the name without it.
pub const PREFIX: &CStr = c"cct$native$";

/// `JVMTI_VERSION_1_2`, which every HotSpot from JDK 6 on has.
const VERSION: jint = 0x3001_0200;

/// `can_set_native_method_prefix`: bit 36 of `jvmtiCapabilities`.
const CAPABILITIES: [u8; 16] = [0, 0, 0, 0, 1 << 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// Numbers of the functions in the specification, from 1.
const SET_NATIVE_METHOD_PREFIX: usize = 73;
const ADD_CAPABILITIES: usize = 142;

/// The functions of an environment, by their numbers less 1.
type Table = *const *const c_void;

/// Entry point that the JVM calls when it starts.
///
/// # Safety
/// The contract is that of the function of this name in the JVMTI specification.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut sys::JavaVM,
    _options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    // SAFETY: the JVM passes itself.
    match catch_unwind(|| unsafe { set_prefix(vm) }) {
        Ok(Ok(())) => sys::JNI_OK,
        Ok(Err(what)) => {
            // The JVM reports only that the agent failed, and ends.
            let message = format!("cctrewrite: natives cannot be renamed: {what}\n");
            let _ = std::io::stderr().write_all(message.as_bytes());
            sys::JNI_ERR
        }
        Err(_) => sys::JNI_ERR,
    }
}

/// Registers the prefix.
///
/// # Safety
/// `vm` is a JVM.
unsafe fn set_prefix(vm: *mut sys::JavaVM) -> Result<(), String> {
    let mut env: *mut c_void = ptr::null_mut();
    // SAFETY: the JVM's own invocation interface.
    let result = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut env, VERSION) };
    if result != sys::JNI_OK || env.is_null() {
        return Err(format!("this JVM has no JVMTI 1.2 (GetEnv: {result})"));
    }
    let env: *mut Table = env.cast();
    // SAFETY: the environment came from `GetEnv`; its table has these functions at these places
    // with these types (jvmti.h).
    let (add, set) = unsafe {
        let add = *(*env).add(ADD_CAPABILITIES - 1);
        let set = *(*env).add(SET_NATIVE_METHOD_PREFIX - 1);
        let add: unsafe extern "system" fn(*mut Table, *const u8) -> jint = std::mem::transmute(add);
        let set: unsafe extern "system" fn(*mut Table, *const c_char) -> jint = std::mem::transmute(set);
        (add(env, CAPABILITIES.as_ptr()), set(env, PREFIX.as_ptr()))
    };
    match (add, set) {
        (0, 0) => Ok(()),
        (0, error) => Err(format!("SetNativeMethodPrefix: JVMTI error {error}")),
        (error, _) => Err(format!("AddCapabilities(can_set_native_method_prefix): JVMTI error {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_is_the_one_by_which_natives_are_renamed() {
        assert_eq!(PREFIX.to_bytes(), cct_jdk::convention::NATIVE_PREFIX);
    }
}
