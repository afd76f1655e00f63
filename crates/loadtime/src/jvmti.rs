//! The few JVMTI functions that are needed. Any native library may use them while the program runs,
//! without being an agent and without a capability (JVMTI specification, *GetStackTrace* and
//! others: "Capabilities: Required"). Only reading the code of methods takes capabilities. HotSpot
//! grants these at any time, and they change nothing else in it.

#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_void};
use std::ptr;

use cct_classfile::NameAndTypeBuf;
use jni_sys as sys;
use std::sync::OnceLock;

use crate::jni::{Env, jclass, jint, jmethodID, jobject};

/// `JVMTI_VERSION_1_2`, which every HotSpot from JDK 6 on has.
const VERSION: jint = 0x3001_0200;

/// Numbers of the functions in the specification, from 1.
mod number {
    pub const SET_EVENT_NOTIFICATION_MODE: usize = 2;
    pub const GET_CURRENT_THREAD: usize = 18;
    pub const GET_FRAME_COUNT: usize = 16;
    pub const GET_NAMED_MODULE: usize = 40;
    pub const ALLOCATE: usize = 46;
    pub const DEALLOCATE: usize = 47;
    pub const GET_CLASS_SIGNATURE: usize = 48;
    pub const GET_CLASS_METHODS: usize = 52;
    pub const GET_CLASS_LOADER: usize = 57;
    pub const GET_OBJECT_HASH_CODE: usize = 58;
    pub const GET_METHOD_NAME: usize = 64;
    pub const GET_METHOD_DECLARING_CLASS: usize = 65;
    pub const GET_METHOD_MODIFIERS: usize = 66;
    pub const GET_BYTECODES: usize = 75;
    pub const IS_METHOD_NATIVE: usize = 76;
    pub const GET_LOADED_CLASSES: usize = 78;
    pub const GET_STACK_TRACE: usize = 104;
    pub const SET_JNI_FUNCTION_TABLE: usize = 120;
    pub const GET_JNI_FUNCTION_TABLE: usize = 121;
    pub const SET_EVENT_CALLBACKS: usize = 122;
    pub const DISPOSE_ENVIRONMENT: usize = 127;
    pub const ADD_CAPABILITIES: usize = 142;
    pub const GET_CONSTANT_POOL: usize = 146;
}

/// A JVMTI capability, by its bit in `jvmtiCapabilities`.
#[derive(Debug, Clone, Copy)]
pub struct Capability(usize);

/// `can_get_bytecodes`.
pub const CAN_GET_BYTECODES: Capability = Capability(3);
/// `can_generate_all_class_hook_events`.
pub const CAN_GENERATE_ALL_CLASS_HOOK_EVENTS: Capability = Capability(26);
/// `can_get_constant_pool`.
pub const CAN_GET_CONSTANT_POOL: Capability = Capability(35);
/// `can_retransform_classes`.
pub const CAN_RETRANSFORM_CLASSES: Capability = Capability(37);

/// Numbers of events in the specification.
mod event {
    use super::jint;

    pub const FIRST: jint = 50;
    pub const CLASS_FILE_LOAD_HOOK: jint = 54;
    pub const CLASS_LOAD: jint = 55;
}

/// `jvmtiFrameInfo`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FrameInfo {
    /// The method.
    pub method: jmethodID,
    /// The bytecode index, -1 in a native.
    pub location: i64,
}

/// A callback for the event that a class is loaded.
pub type ClassLoaded = extern "system" fn(*mut *const *const c_void, *mut sys::JNIEnv, jobject, jclass);

/// A callback for the event that a class file is about to be parsed. Its arguments are the class
/// that is redefined (null for a new one), its loader (null for the boot class loader), its name
/// (null if the definer gave none), its protection domain, and the class file. The last ones say
/// where to store the replacement.
pub type ClassFileLoaded = unsafe extern "system" fn(
    *mut *const *const c_void,
    *mut sys::JNIEnv,
    jclass,
    jobject,
    *const c_char,
    jobject,
    jint,
    *const u8,
    *mut jint,
    *mut *mut u8,
);

/// JVMTI's function `GetClassMethods`.
pub type GetClassMethods =
    unsafe extern "system" fn(*mut *const *const c_void, jclass, *mut jint, *mut *mut jmethodID) -> jint;

/// Result of a query for the named module of a class loader that has a package.
#[derive(Debug, Clone, Copy)]
pub enum NamedModule {
    /// The module, as a new local reference.
    Module(jobject),
    /// No named module has the package.
    None,
}

/// A JVMTI environment. All threads may use it.
#[derive(Debug, Clone, Copy)]
pub struct Jvmti(*mut *const *const c_void);

// SAFETY: JVMTI environments belong to the JVM, not to a thread.
unsafe impl Send for Jvmti {}
// SAFETY: several threads may call an environment's functions at once (JVMTI, *Environments*).
unsafe impl Sync for Jvmti {}

/// Calls a function of JVMTI's table, by its number, its type and its arguments.
macro_rules! jvmti {
    ($jvmti:expr, $number:expr, ($($type:ty),*) $(, $argument:expr)*) => {{
        let env = $jvmti.0;
        // SAFETY: the environment came from `GetEnv`; its table has these functions at these places
        // with these types (jvmti.h).
        unsafe {
            let function = *(*env).add($number - 1);
            let function: unsafe extern "system" fn(*mut *const *const c_void $(, $type)*) -> jint = std::mem::transmute(function);
            function(env $(, $argument)*) == 0
        }
    }};
}

/// Depth that most stacks do not exceed. One call asks for this many frames.
const USUAL_DEPTH: usize = 256;

impl Jvmti {
    /// Wraps the environment that the JVM passes to a callback.
    ///
    /// # Safety
    /// The pointer must be a JVMTI environment.
    pub unsafe fn from_raw(raw: *mut *const *const c_void) -> Jvmti {
        Jvmti(raw)
    }

    /// Disposes of the environment: its events stop.
    pub fn dispose(self) {
        let _ = jvmti!(self, number::DISPOSE_ENVIRONMENT, ());
    }

    /// A new environment of the JVM; `None` before its live phase.
    pub fn of(env: Env) -> Option<Jvmti> {
        let vm = env.vm()?;
        let mut jvmti = ptr::null_mut();
        // SAFETY: the JVM's own invocation interface.
        let result = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut jvmti, VERSION) };
        (result == sys::JNI_OK && !jvmti.is_null()).then(|| Jvmti(jvmti.cast()))
    }

    /// The frames of `thread`, which must be the calling one, from `skip` on, the newest first. The
    /// thread must not be a virtual thread in a transition (`Thread.cct$transition`): HotSpot would
    /// wait for its end.
    ///
    /// Null means the calling thread, too. But then HotSpot waits until no virtual thread at all is
    /// in a transition.
    pub fn stack(self, env: Env, thread: jobject, skip: jint) -> Option<Vec<FrameInfo>> {
        // On JDKs without virtual threads, null saves HotSpot a search through all threads.
        let thread = if env.has_virtual_threads() { thread } else { ptr::null_mut() };
        let none = FrameInfo { method: ptr::null_mut(), location: -1 };
        let mut frames = vec![none; USUAL_DEPTH];
        // HotSpot counts frames by a second, slower walk, so only deep stacks are asked for their
        // depth.
        match self.newest(thread, skip, &mut frames) {
            Some(got) if got < frames.len() => frames.truncate(got),
            // The stack is deeper; or no frame is left after the skipped ones, which JVMTI reports
            // as an error.
            _ => {
                let mut count: jint = 0;
                let is_counted =
                    jvmti!(self, number::GET_FRAME_COUNT, (jobject, *mut jint), thread, &mut count);
                let wanted = usize::try_from(count.checked_sub(skip)?).ok().filter(|_| is_counted)?;
                frames.resize(wanted, none);
                if wanted > 0 {
                    let got = self.newest(thread, skip, &mut frames)?;
                    frames.truncate(got);
                }
            }
        }
        Some(frames)
    }

    /// Fills in the frames of a thread from `skip` on. Returns their number, at most the length of
    /// the slice.
    fn newest(self, thread: jobject, skip: jint, frames: &mut [FrameInfo]) -> Option<usize> {
        let mut got: jint = 0;
        let found = jvmti!(
            self,
            number::GET_STACK_TRACE,
            (jobject, jint, jint, *mut FrameInfo, *mut jint),
            thread,
            skip,
            jint::try_from(frames.len()).ok()?,
            frames.as_mut_ptr(),
            &mut got
        );
        found.then(|| usize::try_from(got).unwrap_or(0))
    }

    /// The current thread, as a new local reference.
    pub fn current_thread(self) -> Option<jobject> {
        let mut thread = ptr::null_mut();
        jvmti!(self, number::GET_CURRENT_THREAD, (*mut jobject), &mut thread).then_some(thread)
    }

    /// Name and descriptor of a method.
    pub fn method_name(self, method: jmethodID) -> Option<NameAndTypeBuf> {
        let (mut name, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
        let found = jvmti!(
            self,
            number::GET_METHOD_NAME,
            (jmethodID, *mut *mut c_char, *mut *mut c_char, *mut *mut c_char),
            method,
            &mut name,
            &mut descriptor,
            ptr::null_mut()
        );
        found.then(|| NameAndTypeBuf {
            name: self.take(name).into(),
            descriptor: self.take(descriptor).into(),
        })
    }

    /// The class of a method, as a new local reference.
    pub fn declaring_class(self, method: jmethodID) -> Option<jclass> {
        let mut class = ptr::null_mut();
        jvmti!(self, number::GET_METHOD_DECLARING_CLASS, (jmethodID, *mut jclass), method, &mut class)
            .then_some(class)
    }

    /// The methods that a class declares, including those that the rewriter added.
    pub fn class_methods(self, class: jclass) -> Option<Vec<jmethodID>> {
        let mut count: jint = 0;
        let mut methods: *mut jmethodID = ptr::null_mut();
        let found = match original() {
            // SAFETY: JVMTI's own function, with an environment of the same JVM.
            Some(own) => unsafe { own(self.0, class, &mut count, &mut methods) == 0 },
            None => jvmti!(
                self,
                number::GET_CLASS_METHODS,
                (jclass, *mut jint, *mut *mut jmethodID),
                class,
                &mut count,
                &mut methods
            ),
        };
        found.then(|| self.take_all(methods, count))
    }

    /// The address of the entry `GetClassMethods` in JVMTI's function table.
    pub fn address_of_get_class_methods(self) -> Option<usize> {
        // SAFETY: the environment came from the JVM.
        let table = unsafe { *self.0 };
        (!table.is_null()).then(|| table as usize + (number::GET_CLASS_METHODS - 1) * size_of::<usize>())
    }

    /// The bytecodes of a method as defined; `None` for natives and abstract methods.
    pub fn bytecodes(self, method: jmethodID) -> Option<Vec<u8>> {
        self.may_read_code().then_some(())?;
        let (mut count, mut bytes): (jint, *mut u8) = (0, ptr::null_mut());
        let found = jvmti!(
            self,
            number::GET_BYTECODES,
            (jmethodID, *mut jint, *mut *mut u8),
            method,
            &mut count,
            &mut bytes
        );
        found.then(|| self.take_all(bytes, count))
    }

    /// The constant pool of a class as in a class file: the number of entries plus one, and the
    /// entries.
    pub fn constant_pool(self, class: jclass) -> Option<(u16, Vec<u8>)> {
        self.may_read_code().then_some(())?;
        let (mut count, mut length, mut bytes): (jint, jint, *mut u8) = (0, 0, ptr::null_mut());
        let found = jvmti!(
            self,
            number::GET_CONSTANT_POOL,
            (jclass, *mut jint, *mut jint, *mut *mut u8),
            class,
            &mut count,
            &mut length,
            &mut bytes
        );
        let bytes = found.then(|| self.take_all(bytes, length))?;
        Some((u16::try_from(count).ok()?, bytes))
    }

    /// All classes, as new local references.
    pub fn loaded_classes(self) -> Option<Vec<jclass>> {
        let (mut count, mut classes): (jint, *mut jclass) = (0, ptr::null_mut());
        let found =
            jvmti!(self, number::GET_LOADED_CLASSES, (*mut jint, *mut *mut jclass), &mut count, &mut classes);
        found.then(|| self.take_all(classes, count))
    }

    /// Registers a callback for loaded classes, which runs in the thread that loads the class. This
    /// takes no capability.
    pub fn report_classes(self, loaded: ClassLoaded) -> bool {
        self.set_callbacks(&[(event::CLASS_LOAD, loaded as *const c_void)]) && self.enable(event::CLASS_LOAD)
    }

    /// Registers a callback for class files, which may replace each one before the JVM parses it;
    /// and optionally one for loaded classes. Neither takes a capability.
    pub fn report_class_files(self, file: ClassFileLoaded, loaded: Option<ClassLoaded>) -> bool {
        let loaded = loaded.map(|loaded| (event::CLASS_LOAD, loaded as *const c_void));
        let file = (event::CLASS_FILE_LOAD_HOOK, file as *const c_void);
        let all: Vec<(jint, *const c_void)> = loaded.into_iter().chain([file]).collect();
        self.set_callbacks(&all) && all.iter().all(|&(event, _)| self.enable(event))
    }

    fn set_callbacks(self, given: &[(jint, *const c_void)]) -> bool {
        // `jvmtiEventCallbacks`: one function for each event, starting with the first.
        let mut callbacks: [*const c_void; 36] = [ptr::null(); 36];
        for &(event, function) in given {
            callbacks[(event - event::FIRST) as usize] = function;
        }
        let size = size_of_val(&callbacks) as jint;
        jvmti!(self, number::SET_EVENT_CALLBACKS, (*const *const c_void, jint), callbacks.as_ptr(), size)
    }

    /// Enables an event in all threads.
    fn enable(self, event: jint) -> bool {
        const ENABLE: jint = 1;
        jvmti!(
            self,
            number::SET_EVENT_NOTIFICATION_MODE,
            (jint, jint, jobject),
            ENABLE,
            event,
            ptr::null_mut()
        )
    }

    /// A copy of some bytes that the JVM may keep and free; null if memory runs out.
    pub fn copied(self, bytes: &[u8]) -> *mut u8 {
        let mut memory: *mut u8 = ptr::null_mut();
        if jvmti!(self, number::ALLOCATE, (i64, *mut *mut u8), bytes.len() as i64, &mut memory)
            && !memory.is_null()
        {
            // SAFETY: JVMTI has just allocated this many bytes.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), memory, bytes.len()) };
        }
        memory
    }

    /// Whether a method is a native.
    pub fn is_native(self, method: jmethodID) -> bool {
        let mut native: u8 = 0;
        jvmti!(self, number::IS_METHOD_NATIVE, (jmethodID, *mut u8), method, &mut native) && native != 0
    }

    /// Whether a method is synchronized.
    pub fn is_synchronized(self, method: jmethodID) -> bool {
        let mut modifiers: jint = 0;
        jvmti!(self, number::GET_METHOD_MODIFIERS, (jmethodID, *mut jint), method, &mut modifiers)
            && modifiers & jint::from(cct_classfile::access::SYNCHRONIZED) != 0
    }

    /// Requests the capabilities to read code.
    fn may_read_code(self) -> bool {
        self.add_capabilities(&[CAN_GET_BYTECODES, CAN_GET_CONSTANT_POOL])
    }

    /// Requests capabilities, which HotSpot grants at any time or not at all.
    pub fn add_capabilities(self, all: &[Capability]) -> bool {
        let mut bits = [0u8; 16];
        for Capability(bit) in all {
            bits[bit / 8] |= 1 << (bit % 8);
        }
        jvmti!(self, number::ADD_CAPABILITIES, (*const u8), bits.as_ptr())
    }

    /// The internal name of a class. For a VM-anonymous class a dot or slash and a number follow
    /// the name.
    pub fn class_name(self, class: jclass) -> Option<Vec<u8>> {
        let signature = self.class_signature(class)?;
        Some(signature.strip_prefix(b"L")?.strip_suffix(b";")?.to_vec())
    }

    /// An object's identity hash code.
    pub fn identity(self, object: jobject) -> Option<jint> {
        let mut hash: jint = 0;
        jvmti!(self, number::GET_OBJECT_HASH_CODE, (jobject, *mut jint), object, &mut hash).then_some(hash)
    }

    /// The descriptor of a class, primitive types and arrays included.
    pub fn class_signature(self, class: jclass) -> Option<Vec<u8>> {
        let mut signature = ptr::null_mut();
        let found = jvmti!(
            self,
            number::GET_CLASS_SIGNATURE,
            (jclass, *mut *mut c_char, *mut *mut c_char),
            class,
            &mut signature,
            ptr::null_mut()
        );
        found.then(|| self.take(signature))
    }

    /// The named module of a loader (null for the boot class loader) that has a package, by the
    /// package's internal name. `None` on JDKs without modules.
    pub fn named_module(self, loader: jobject, package: &CStr) -> Option<NamedModule> {
        // SAFETY: the environment came from the JVM, and its table has more places. Up to JDK 8
        // this one is empty.
        if unsafe { (*(*self.0).add(number::GET_NAMED_MODULE - 1)).is_null() } {
            return None;
        }
        let mut module = ptr::null_mut();
        let found = jvmti!(
            self,
            number::GET_NAMED_MODULE,
            (jobject, *const c_char, *mut jobject),
            loader,
            package.as_ptr(),
            &mut module
        );
        found.then(|| if module.is_null() { NamedModule::None } else { NamedModule::Module(module) })
    }

    /// The defining loader of a class, as a new local reference; null for the boot class loader.
    pub fn class_loader(self, class: jclass) -> Option<jobject> {
        let mut loader = ptr::null_mut();
        jvmti!(self, number::GET_CLASS_LOADER, (jclass, *mut jobject), class, &mut loader).then_some(loader)
    }

    /// A copy of this JVM's JNI function table, in full length.
    pub fn jni_table(self) -> Option<*mut sys::JNINativeInterface_> {
        let mut table = ptr::null_mut();
        let found =
            jvmti!(self, number::GET_JNI_FUNCTION_TABLE, (*mut *mut sys::JNINativeInterface_), &mut table);
        (found && !table.is_null()).then_some(table)
    }

    /// Replaces JNI's function table by a copy from [`Jvmti::jni_table`].
    pub fn set_jni_table(self, table: *mut sys::JNINativeInterface_) -> bool {
        jvmti!(self, number::SET_JNI_FUNCTION_TABLE, (*const sys::JNINativeInterface_), table)
    }

    /// Frees memory that JVMTI allocated.
    pub fn give_back<T>(self, memory: *mut T) {
        let _ = jvmti!(self, number::DEALLOCATE, (*mut T), memory);
    }

    /// The elements of an array that JVMTI allocated; frees the array.
    fn take_all<T: Copy>(self, array: *mut T, count: jint) -> Vec<T> {
        if array.is_null() {
            return Vec::new();
        }
        // SAFETY: JVMTI allocated an array of this length.
        let copy = unsafe { std::slice::from_raw_parts(array, count.max(0) as usize) }.to_vec();
        self.give_back(array);
        copy
    }

    /// The text of a string that JVMTI allocated; frees the string.
    fn take(self, text: *mut c_char) -> Vec<u8> {
        if text.is_null() {
            return Vec::new();
        }
        // SAFETY: JVMTI's strings end with a zero byte.
        let copy = unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        self.give_back(text);
        copy
    }
}

/// JVMTI's own function, once a debugger's view has replaced it.
pub(crate) static GET_CLASS_METHODS: OnceLock<GetClassMethods> = OnceLock::new();

/// JVMTI's own function, which the replacement calls.
pub fn original() -> Option<GetClassMethods> {
    GET_CLASS_METHODS.get().copied()
}
