//! A guard around each native: no panic unwinds into the JVM.
// JNI is C; each block says why it is sound.
#![allow(unsafe_code)]

use jni_sys as sys;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::jni::Env;
use crate::state::state;

/// Runs a native's body; returns `otherwise` after a panic, which would be a defect.
pub(crate) fn guarded<T>(raw: *mut sys::JNIEnv, otherwise: T, body: impl FnOnce(Env) -> T) -> T {
    // SAFETY: the JVM calls natives with the interface of their thread.
    let env = unsafe { Env::new(raw) };
    catch_unwind(AssertUnwindSafe(|| body(env))).unwrap_or_else(|_| {
        state().note("defects in the load-time library (its natives gave up)", "?");
        otherwise
    })
}
