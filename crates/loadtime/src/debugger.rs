//! Support for a debugger on the program (JDWP, whose agent is `libjdwp`).
//!
//! A debugger must find the methods that the program's class files declare, with their bodies. So
//! bodies of classes that are defined from then on keep their original signatures, and JVMTI's
//! lists of methods omit those that the rewriter added.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use cct_jdk::convention;
use cct_jdk::convention::without_extension;

use crate::jni::{Env, jclass, jint, jmethodID};
use crate::jvmti::{GET_CLASS_METHODS, GetClassMethods, Jvmti, original};
use crate::vm_arguments;

static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Whether a debugger may inspect classes that are defined now.
pub fn is_there() -> bool {
    IS_THERE.load(Ordering::Relaxed)
}

/// Whether the JVM has loaded a debugger's agent; called before the program starts.
pub fn look(env: Env, jvmti: Jvmti) -> bool {
    const OPTIONS: [&str; 3] = ["-agentlib:jdwp", "-Xrunjdwp", "-agentpath:"];
    let arguments = vm_arguments::of(env);
    let may_be = if arguments.is_empty() {
        // JDK 8 does not report its arguments.
        true
    } else {
        arguments.iter().any(|argument| OPTIONS.iter().any(|option| argument.starts_with(option)))
    };
    let maps = if may_be { fs::read_to_string("/proc/self/maps").unwrap_or_default() } else { String::new() };
    if !maps.lines().any(|line| line.ends_with("/libjdwp.so")) {
        return false;
    }
    IS_THERE.store(true, Ordering::Relaxed);
    if let Some(address) = jvmti.address_of_get_class_methods().filter(|&address| is_writable(&maps, address))
    {
        // SAFETY: the entry of HotSpot's only table of JVMTI functions, which is writable memory;
        // the function has the entry's type.
        unsafe {
            let own = std::ptr::read(address as *const GetClassMethods);
            if GET_CLASS_METHODS.set(own).is_ok() {
                std::ptr::write_volatile(address as *mut GetClassMethods, get_class_methods);
            }
        }
    }
    true
}

/// Whether an address lies in memory that may be written to, by `/proc/self/maps`.
fn is_writable(maps: &str, address: usize) -> bool {
    maps.lines().any(|line| {
        let range = line.split(' ').next().and_then(|range| range.split_once('-'));
        let number = |text: &str| usize::from_str_radix(text, 16).ok();
        let range = range.and_then(|(from, to)| Some(number(from)?..number(to)?));
        range.is_some_and(|range| range.contains(&address))
            && line.split(' ').nth(1).is_some_and(|p| p.contains('w'))
    })
}

/// `GetClassMethods` without the methods that the rewriter added.
unsafe extern "system" fn get_class_methods(
    env: *mut *const *const c_void,
    class: jclass,
    count: *mut jint,
    methods: *mut *mut jmethodID,
) -> jint {
    let Some(own) = original() else { return 113 };
    // SAFETY: JVMTI's own function, with its caller's arguments.
    let result = unsafe { own(env, class, count, methods) };
    if result == 0 && !count.is_null() && !methods.is_null() {
        let _ = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the function has just returned an array of this many elements.
            let (jvmti, all) = unsafe {
                (Jvmti::from_raw(env), std::slice::from_raw_parts_mut(*methods, (*count).max(0) as usize))
            };
            let mut kept = 0;
            for k in 0..all.len() {
                if !is_added(jvmti, all[k]) {
                    all[kept] = all[k];
                    kept += 1;
                }
            }
            // SAFETY: not null.
            unsafe { *count = kept as jint };
        }));
    }
    result
}

fn is_added(jvmti: Jvmti, method: jmethodID) -> bool {
    let Some(named) = jvmti.method_name(method) else { return false };
    named.name.starts_with(convention::PREFIX) || without_extension(&named.descriptor).is_some()
}

#[cfg(test)]
mod tests {
    use super::is_writable;

    #[test]
    fn memory_that_may_be_written_to_is_known_by_its_permissions() {
        let maps = "7f00-7f10 r--p 00000000 00:00 0\n7f10-7f20 rw-p 00000000 00:00 0 /libjvm.so\n";
        assert!(!is_writable(maps, 0x7f08));
        assert!(is_writable(maps, 0x7f10));
        assert!(!is_writable(maps, 0x7f20));
    }
}
