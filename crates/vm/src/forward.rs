//! The three functions that a launcher looks up in a `libjvm.so`, forwarded to HotSpot's.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::ptr;

use jni_sys::{self as sys, jint, jsize};

use crate::options;

/// dlfcn.h, as the C libraries of Linux have it; the standard library links them.
#[repr(C)]
struct DlInfo {
    file: *const c_char,
    base: *mut c_void,
    symbol: *const c_char,
    address: *mut c_void,
}

const RTLD_NOW: c_int = 2;
/// HotSpot's own libraries are linked against `libjvm.so` and find it because it is loaded
/// globally, as the launcher would load it.
const RTLD_GLOBAL: c_int = if cfg!(target_os = "macos") { 8 } else { 0x100 };

unsafe extern "C" {
    fn dlopen(file: *const c_char, mode: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
    fn dladdr(address: *const c_void, info: *mut DlInfo) -> c_int;
}

type CreateJavaVm = unsafe extern "system" fn(*mut *mut sys::JavaVM, *mut *mut c_void, *mut c_void) -> jint;
type GetDefaultArguments = unsafe extern "system" fn(*mut c_void) -> jint;
type GetCreatedJavaVms = unsafe extern "system" fn(*mut *mut sys::JavaVM, jsize, *mut jsize) -> jint;

/// Starts HotSpot with the image's options before the given ones.
///
/// # Safety
/// The contract is that of the function of this name in the JNI specification.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_CreateJavaVM(
    vm: *mut *mut sys::JavaVM,
    env: *mut *mut c_void,
    arguments: *mut c_void,
) -> jint {
    guarded(|| {
        let home = Home::find()?;
        // SAFETY: this is the type of HotSpot's function of that name.
        let create: CreateJavaVm = unsafe { std::mem::transmute(home.function(c"JNI_CreateJavaVM")?) };
        // SAFETY: the caller passes the arguments that the specification asks for.
        let theirs = unsafe { &*arguments.cast::<sys::JavaVMInitArgs>() };
        let ours = home.options()?;
        let mut all: Vec<sys::JavaVMOption> =
            Vec::with_capacity(ours.len() + theirs.nOptions.max(0) as usize);
        let option = |text: &CString| sys::JavaVMOption {
            optionString: text.as_ptr().cast_mut(),
            extraInfo: ptr::null_mut(),
        };
        all.extend(ours.iter().map(option));
        for i in 0..theirs.nOptions.max(0) as usize {
            // SAFETY: there are as many options as the field says.
            let theirs = unsafe { &*theirs.options.add(i) };
            all.push(sys::JavaVMOption { optionString: theirs.optionString, extraInfo: theirs.extraInfo });
        }
        let mut with_ours = sys::JavaVMInitArgs {
            version: theirs.version,
            nOptions: all.len() as jint,
            options: all.as_mut_ptr(),
            ignoreUnrecognized: theirs.ignoreUnrecognized,
        };
        // SAFETY: the caller's own arguments; HotSpot copies the options that it keeps.
        Ok(unsafe { create(vm, env, (&raw mut with_ours).cast()) })
    })
}

/// Forwards the call to HotSpot.
///
/// # Safety
/// The contract is that of the function of this name in the JNI specification.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_GetDefaultJavaVMInitArgs(arguments: *mut c_void) -> jint {
    guarded(|| {
        let function = Home::find()?.function(c"JNI_GetDefaultJavaVMInitArgs")?;
        // SAFETY: this is the type of HotSpot's function of that name.
        let function: GetDefaultArguments = unsafe { std::mem::transmute(function) };
        // SAFETY: the caller's own arguments.
        Ok(unsafe { function(arguments) })
    })
}

/// Forwards the call to HotSpot.
///
/// # Safety
/// The contract is that of the function of this name in the JNI specification.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_GetCreatedJavaVMs(
    vms: *mut *mut sys::JavaVM,
    room: jsize,
    count: *mut jsize,
) -> jint {
    guarded(|| {
        let function = Home::find()?.function(c"JNI_GetCreatedJavaVMs")?;
        // SAFETY: this is the type of HotSpot's function of that name.
        let function: GetCreatedJavaVms = unsafe { std::mem::transmute(function) };
        // SAFETY: the caller's own arguments.
        Ok(unsafe { function(vms, room, count) })
    })
}

/// Runs the body of a function that C calls; prints an error.
fn guarded(body: impl FnOnce() -> Result<jint, String>) -> jint {
    let result = catch_unwind(AssertUnwindSafe(body));
    match result.unwrap_or_else(|_| Err("a defect in the library that starts the JVM".to_owned())) {
        Ok(code) => code,
        Err(what) => {
            // There is nowhere else to report to.
            let _ = writeln!(std::io::stderr(), "cctrewrite: {what}");
            sys::JNI_ERR
        }
    }
}

/// The image, found from this library's path: `<java.home>/lib/<arch>/cctrewrite/libjvm.so`.
struct Home {
    folder: PathBuf,
}

impl Home {
    fn find() -> Result<Home, String> {
        let mut info = DlInfo {
            file: ptr::null(),
            base: ptr::null_mut(),
            symbol: ptr::null(),
            address: ptr::null_mut(),
        };
        // SAFETY: the address of a function of this library, and a result to be written.
        let found = unsafe { dladdr(JNI_CreateJavaVM as *const c_void, &mut info) };
        if found == 0 || info.file.is_null() {
            return Err("cannot find the library that starts the JVM".to_owned());
        }
        // SAFETY: a string that stays as long as the library is loaded.
        let file = Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(info.file) }.to_bytes()));
        let folder = file.parent().ok_or("the library that starts the JVM is in no folder")?;
        Ok(Home { folder: folder.to_path_buf() })
    }

    /// The address of a function of HotSpot; loads HotSpot if necessary.
    fn function(&self, name: &CStr) -> Result<*mut c_void, String> {
        let file = self.folder.join("../server/libjvm.so");
        // HotSpot finds `java.home` from this path, and shows it: it should look as it does without
        // this library.
        let file = std::fs::canonicalize(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let path = CString::new(file.into_os_string().into_vec()).map_err(|e| e.to_string())?;
        // SAFETY: each is a string; loading a library runs its initialisers, as the launcher would.
        let address = unsafe {
            let library = dlopen(path.as_ptr(), RTLD_NOW | RTLD_GLOBAL);
            if library.is_null() { library } else { dlsym(library, name.as_ptr()) }
        };
        if address.is_null() {
            return Err(format!("cannot load {}: {}", path.to_string_lossy(), last_error()));
        }
        Ok(address)
    }

    /// The image's options, without those that the environment sets.
    fn options(&self) -> Result<Vec<CString>, String> {
        let file = self.folder.join("../../..").join(options::FILE);
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        let environment = std::env::var_os(options::ENVIRONMENT).unwrap_or_default();
        let chosen = options::chosen(&text, &environment.to_string_lossy());
        chosen.into_iter().map(|option| CString::new(option).map_err(|e| e.to_string())).collect()
    }
}

fn last_error() -> String {
    // SAFETY: a string, or null, of this thread.
    let text = unsafe { dlerror() };
    if text.is_null() {
        return "unknown reason".to_owned();
    }
    // SAFETY: not null, ended by a zero.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
