//! Constants of classes, by the functions of HotSpot's library that the class library's own
//! reflection uses (`jvm.h`). JVMTI does not give the constant pool of a class whose initialiser
//! has failed.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::transmute;
use std::ptr;
use std::sync::OnceLock;

use jni_sys as sys;

use crate::jni::{Env, jclass, jint, jlong, jobject};
use crate::vm_flags::Jvm;

/// `JVM_GetClassConstantPool`: an object that stands for the pool.
type OfClass = unsafe extern "system" fn(*mut sys::JNIEnv, jclass) -> jobject;

/// `JVM_ConstantPoolGetLongAt` as `ConstantPool.getLongAt0(int)` calls it.
type LongAt = unsafe extern "system" fn(*mut sys::JNIEnv, jobject, jint) -> jlong;

/// `JVM_ConstantPoolGetLongAt` as `getLongAt0(Object, int)` calls it, with an additional unused
/// argument (up to JDK 25).
type LongAtWithUnused = unsafe extern "system" fn(*mut sys::JNIEnv, jobject, jobject, jint) -> jlong;

/// The `long` at an index of a class's constant pool; `None` if there is none, or if this JVM lacks
/// these functions.
pub fn long(env: Env, class: jclass, index: u16) -> Option<u64> {
    static FUNCTIONS: OnceLock<Option<(OfClass, LongAt, LongAtWithUnused)>> = OnceLock::new();
    let functions = FUNCTIONS.get_or_init(|| {
        let jvm = Jvm::of(env)?;
        let of_class = jvm.function(c"JVM_GetClassConstantPool")?;
        let long_at = jvm.function(c"JVM_ConstantPoolGetLongAt")?;
        // SAFETY: the types of these functions in HotSpot. The second one has two; the right one is
        // chosen before the call.
        let functions = unsafe {
            (
                transmute::<*mut c_void, OfClass>(of_class),
                transmute::<*mut c_void, LongAt>(long_at),
                transmute::<*mut c_void, LongAtWithUnused>(long_at),
            )
        };
        Some(functions)
    });
    let (of_class, long_at, long_at_with_unused) = (*functions)?;
    // SAFETY: the calling thread's interface, and references of this JVM. An index out of bounds,
    // or of another constant, is an exception.
    unsafe {
        let pool = of_class(env.raw(), class);
        if env.failed() || pool.is_null() {
            return None;
        }
        let its_class = env.object_class(pool)?;
        let has = |descriptor| env.method(its_class, "getLongAt0", descriptor);
        let value = if has("(I)J").is_some() {
            Some(long_at(env.raw(), pool, jint::from(index)))
        } else if has("(Ljava/lang/Object;I)J").is_some() {
            Some(long_at_with_unused(env.raw(), pool, ptr::null_mut(), jint::from(index)))
        } else {
            None
        };
        let failed = env.failed();
        env.delete_local(its_class);
        env.delete_local(pool);
        value.filter(|_| !failed).map(|value| value as u64)
    }
}
