//! The few JNI functions that are needed. Only [`Env::class_for_name`] runs Java code, since it
//! asks a class loader.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_void};
use std::ptr;

use jni_sys as sys;
pub use jni_sys::{
    jbyteArray, jclass, jfieldID, jint, jlong, jlongArray, jmethodID, jobject, jobjectArray, jsize, jstring,
    jweak,
};

/// A native of a class, and the function to bind to it.
#[derive(Debug, Clone, Copy)]
pub struct Native {
    name: &'static CStr,
    descriptor: &'static CStr,
    function: *mut c_void,
}

impl Native {
    /// The native of this name and descriptor, bound to this function.
    pub fn new(name: &'static CStr, descriptor: &'static CStr, function: *mut c_void) -> Self {
        Native { name, descriptor, function }
    }
}

/// The calling thread's JNI interface.
#[derive(Clone, Copy)]
pub struct Env(*mut sys::JNIEnv);

/// Calls a function of JNI's table.
macro_rules! jni {
    ($env:expr, $name:ident $(, $argument:expr)*) => {{
        let env = $env.0;
        // SAFETY: `Env::new` got a valid interface of this thread; references and ids come from the
        // same JVM.
        unsafe { ((**env).v1_6.$name)(env $(, $argument)*) }
    }};
}

impl Env {
    /// Wraps the interface.
    ///
    /// # Safety
    /// `env` must be the calling thread's interface, as the JVM passes it to natives.
    pub unsafe fn new(env: *mut sys::JNIEnv) -> Self {
        Env(env)
    }

    /// The raw interface.
    pub fn raw(self) -> *mut sys::JNIEnv {
        self.0
    }

    /// The JVM.
    pub fn vm(self) -> Option<*mut sys::JavaVM> {
        let mut vm = ptr::null_mut();
        (jni!(self, GetJavaVM, &mut vm) == sys::JNI_OK).then_some(vm)
    }

    /// Whether this JDK has virtual threads, which are a preview in `JNI_VERSION_19` and 20.
    pub fn has_virtual_threads(self) -> bool {
        const JNI_VERSION_19: jint = 0x0013_0000;
        jni!(self, GetVersion) >= JNI_VERSION_19
    }

    /// The address of some function of the JVM.
    pub fn any_function(self) -> *const c_void {
        // SAFETY: the calling thread's interface.
        unsafe { (**self.0).v1_6.GetVersion as *const c_void }
    }

    /// A string's text; `None` if memory runs out. Replaces ill-formed characters.
    pub fn text(self, string: jstring) -> Option<String> {
        let chars = jni!(self, GetStringUTFChars, string, ptr::null_mut());
        if chars.is_null() {
            self.failed();
            return None;
        }
        // SAFETY: JNI terminates the text with a zero byte.
        let bytes = unsafe { std::ffi::CStr::from_ptr(chars) }.to_bytes();
        let text = cct_classfile::mutf8::lossy(bytes);
        jni!(self, ReleaseStringUTFChars, string, chars);
        Some(text)
    }

    /// Whether an exception was pending; clears it.
    pub fn failed(self) -> bool {
        let pending = jni!(self, ExceptionCheck);
        if pending {
            jni!(self, ExceptionClear);
        }
        pending
    }

    /// Runs `body` in a frame of local references of its own.
    pub fn frame<T>(self, references: jint, body: impl FnOnce() -> T) -> Option<T> {
        if jni!(self, PushLocalFrame, references) != 0 {
            self.failed();
            return None;
        }
        let result = body();
        jni!(self, PopLocalFrame, ptr::null_mut());
        Some(result)
    }

    /// A class of the boot class loader.
    pub fn find_class(self, name: &str) -> Option<jclass> {
        let name = CString::new(name).ok()?;
        let class = jni!(self, FindClass, name.as_ptr());
        (!self.failed() && !class.is_null()).then_some(class)
    }

    /// The superclass; null for `Object`, interfaces and primitive types.
    pub fn superclass(self, class: jclass) -> jclass {
        jni!(self, GetSuperclass, class)
    }

    /// The class of an object.
    pub fn object_class(self, object: jobject) -> Option<jclass> {
        let class = jni!(self, GetObjectClass, object);
        (!class.is_null()).then_some(class)
    }

    /// An instance field.
    pub fn field(self, class: jclass, name: &str, descriptor: &str) -> Option<jfieldID> {
        let (name, descriptor) = (CString::new(name).ok()?, CString::new(descriptor).ok()?);
        let field = jni!(self, GetFieldID, class, name.as_ptr(), descriptor.as_ptr());
        (!self.failed() && !field.is_null()).then_some(field)
    }

    /// An instance method.
    pub fn method(self, class: jclass, name: &str, descriptor: &str) -> Option<jmethodID> {
        let (name, descriptor) = (CString::new(name).ok()?, CString::new(descriptor).ok()?);
        let method = jni!(self, GetMethodID, class, name.as_ptr(), descriptor.as_ptr());
        (!self.failed() && !method.is_null()).then_some(method)
    }

    /// Calls a native method with one reference as argument. (A method with a body would be Java
    /// code.)
    pub fn call_native(self, object: jobject, method: jmethodID, argument: jobject) -> jobject {
        let arguments = [sys::jvalue { l: argument }];
        let result = jni!(self, CallObjectMethodA, object, method, arguments.as_ptr());
        if self.failed() { ptr::null_mut() } else { result }
    }

    /// The class that `Class.forName(name, false, loader)` returns; `None` if there is no such
    /// class. The JVM asks the loader for the class as it does for a superclass, and remembers the
    /// answer. This runs no Java code of the class library itself, but it runs the loader's.
    pub fn class_for_name(self, name: &[u8], loader: jobject) -> Option<jclass> {
        let class = self.find_class("java/lang/Class")?;
        // With a caller, for security managers, up to JDK 25.
        let of = |descriptor: &CStr| {
            let method = jni!(self, GetStaticMethodID, class, c"forName0".as_ptr(), descriptor.as_ptr());
            (!self.failed() && !method.is_null()).then_some(method)
        };
        let method = of(c"(Ljava/lang/String;ZLjava/lang/ClassLoader;Ljava/lang/Class;)Ljava/lang/Class;")
            .or_else(|| of(c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;"))?;
        let external: Vec<u8> = name.iter().map(|&b| if b == b'/' { b'.' } else { b }).collect();
        let name = self.new_string(&external);
        if name.is_null() {
            return None;
        }
        let caller = sys::jvalue { l: ptr::null_mut() };
        let arguments =
            [sys::jvalue { l: name }, sys::jvalue { z: false }, sys::jvalue { l: loader }, caller];
        let found = jni!(self, CallStaticObjectMethodA, class, method, arguments.as_ptr());
        (!self.failed() && !found.is_null()).then_some(found)
    }

    /// The direct superinterfaces of a class, linked or not, as new local references. Runs no Java
    /// code.
    pub fn interfaces(self, class: jclass) -> Option<Vec<jclass>> {
        let method = self.method(self.object_class(class)?, "getInterfaces0", "()[Ljava/lang/Class;")?;
        let interfaces = jni!(self, CallObjectMethodA, class, method, ptr::null());
        (!self.failed() && !interfaces.is_null()).then(|| self.elements(interfaces))
    }

    /// A `long` field.
    pub fn get_long(self, object: jobject, field: jfieldID) -> jlong {
        jni!(self, GetLongField, object, field)
    }

    /// A field of a reference type, as a new local reference.
    pub fn get_object(self, object: jobject, field: jfieldID) -> jobject {
        jni!(self, GetObjectField, object, field)
    }

    /// A `boolean` field.
    pub fn get_boolean(self, object: jobject, field: jfieldID) -> bool {
        jni!(self, GetBooleanField, object, field)
    }

    /// Sets a `long` field.
    pub fn set_long(self, object: jobject, field: jfieldID, value: jlong) {
        jni!(self, SetLongField, object, field, value);
    }

    /// The bytes of a part of an array.
    pub fn bytes(self, array: jbyteArray, offset: jint, length: jint) -> Option<Vec<u8>> {
        if array.is_null() || length < 0 {
            return None;
        }
        let mut bytes = vec![0u8; length as usize];
        jni!(self, GetByteArrayRegion, array, offset, length, bytes.as_mut_ptr().cast());
        (!self.failed()).then_some(bytes)
    }

    /// The elements of an array.
    pub fn longs(self, array: jlongArray) -> Option<Vec<jlong>> {
        let mut longs = vec![0; usize::try_from(jni!(self, GetArrayLength, array)).ok()?];
        jni!(self, GetLongArrayRegion, array, 0, longs.len() as jint, longs.as_mut_ptr());
        (!self.failed()).then_some(longs)
    }

    /// The strings of an array; null counts as the empty string. `None` if memory runs out.
    pub fn texts(self, array: jobjectArray) -> Option<Vec<String>> {
        let text = |i| {
            let string = jni!(self, GetObjectArrayElement, array, i);
            let text = if string.is_null() { Some(String::new()) } else { self.text(string) };
            self.delete_local(string);
            text
        };
        (0..jni!(self, GetArrayLength, array)).map(text).collect()
    }

    /// Positions of the array's elements that are not null; none for a null array.
    pub fn elements_set(self, array: jobjectArray) -> Vec<usize> {
        if array.is_null() {
            return Vec::new();
        }
        let is_set = |&i: &jint| {
            let element = jni!(self, GetObjectArrayElement, array, i);
            self.delete_local(element);
            !element.is_null()
        };
        (0..jni!(self, GetArrayLength, array)).filter(is_set).map(|i| i as usize).collect()
    }

    /// The elements of an array, as new local references.
    pub fn elements(self, array: jobjectArray) -> Vec<jobject> {
        if array.is_null() {
            return Vec::new();
        }
        (0..jni!(self, GetArrayLength, array)).map(|i| jni!(self, GetObjectArrayElement, array, i)).collect()
    }

    /// Length of an array.
    pub fn length(self, array: jbyteArray) -> jint {
        jni!(self, GetArrayLength, array)
    }

    /// A new `byte` array; null if memory runs out, with the error pending.
    pub fn new_bytes(self, bytes: &[u8]) -> jbyteArray {
        let Ok(length) = jsize::try_from(bytes.len()) else { return ptr::null_mut() };
        let array = jni!(self, NewByteArray, length);
        if array.is_null() {
            return ptr::null_mut();
        }
        jni!(self, SetByteArrayRegion, array, 0, length, bytes.as_ptr().cast());
        array
    }

    /// A new `long` array; null if memory runs out, with the error pending.
    pub fn new_longs(self, longs: &[jlong]) -> jlongArray {
        let Ok(length) = jsize::try_from(longs.len()) else { return ptr::null_mut() };
        let array = jni!(self, NewLongArray, length);
        if !array.is_null() {
            jni!(self, SetLongArrayRegion, array, 0, length, longs.as_ptr());
        }
        array
    }

    /// A new string, from modified UTF-8 without zero bytes; null if memory runs out.
    pub fn new_string(self, text: &[u8]) -> jstring {
        let Ok(text) = CString::new(text) else { return ptr::null_mut() };
        let string = jni!(self, NewStringUTF, text.as_ptr());
        if self.failed() { ptr::null_mut() } else { string }
    }

    /// A new array of strings; null if memory runs out.
    pub fn new_strings(self, texts: &[String]) -> jobjectArray {
        let Some(class) = self.find_class("java/lang/String") else { return ptr::null_mut() };
        let Ok(length) = jsize::try_from(texts.len()) else { return ptr::null_mut() };
        let array = jni!(self, NewObjectArray, length, class, ptr::null_mut());
        if self.failed() || array.is_null() {
            return ptr::null_mut();
        }
        for (i, text) in texts.iter().enumerate() {
            // JNI's UTF-8 is modified UTF-8. The two may differ outside ASCII, which messages
            // contain only in names.
            let ascii: Vec<u8> =
                text.bytes().map(|b| if b.is_ascii() && b != 0 { b } else { b'?' }).collect();
            let string = self.new_string(&ascii);
            jni!(self, SetObjectArrayElement, array, i as jsize, string);
            jni!(self, DeleteLocalRef, string);
        }
        array
    }

    /// A reference that does not keep its object alive.
    pub fn new_weak(self, object: jobject) -> jweak {
        jni!(self, NewWeakGlobalRef, object)
    }

    /// Whether the object of a weak reference has been collected.
    pub fn is_collected(self, weak: jweak) -> bool {
        jni!(self, IsSameObject, weak, ptr::null_mut())
    }

    /// Deletes a weak reference.
    pub fn delete_weak(self, weak: jweak) {
        jni!(self, DeleteWeakGlobalRef, weak);
    }

    /// Deletes a local reference.
    pub fn delete_local(self, object: jobject) {
        jni!(self, DeleteLocalRef, object);
    }

    /// Binds the natives of a class.
    pub fn register(self, class: jclass, natives: &[Native]) -> bool {
        let methods: Vec<sys::JNINativeMethod> = natives
            .iter()
            .map(|native| sys::JNINativeMethod {
                name: native.name.as_ptr().cast_mut(),
                signature: native.descriptor.as_ptr().cast_mut(),
                fnPtr: native.function,
            })
            .collect();
        jni!(self, RegisterNatives, class, methods.as_ptr(), methods.len() as jint) == 0 && !self.failed()
    }
}
