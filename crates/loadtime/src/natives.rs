//! The natives of `cctrewrite.runtime.LoadTime`. They call no Java code and take no Java lock, and
//! no panic unwinds out of them.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::path::Path;
use std::ptr;

use jni_sys as sys;
use jni_sys::{jboolean, jint, jlong};

use cct_arena::IndexBytes;
use cct_arena::log::Entry;
use cct_index::mid::Mid;

use crate::collection;
use crate::guard::guarded;
use crate::hash_code;
use crate::hook;
use crate::identity::DefinitionKind;
use crate::interpose;
use crate::jni::{Env, Native, jbyteArray, jclass, jlongArray, jobject, jobjectArray, jstring};
use crate::marking;
use crate::members::Members;
use crate::module;
use crate::native_methods;
use crate::originals::{self, VisibleClassFile};
use crate::pcc;
use crate::replay;
use crate::rewriting;
use crate::selection;
use crate::state::state;
use crate::tracing;
use crate::tree::{Node, Record};
use crate::types;
use crate::vm_flags;
use crate::writing::{self, Tree, TreeMethods, pending};
use crate::{arena, arena_natives};

/// Entry point that `System.load` calls.
///
/// # Safety
/// The JVM calls it.
#[unsafe(no_mangle)]
pub unsafe extern "system" fn JNI_OnLoad(vm: *mut sys::JavaVM, _: *mut c_void) -> jint {
    let mut raw = ptr::null_mut();
    // SAFETY: the JVM passes its own interface.
    let result = unsafe { ((**vm).v1_2.GetEnv)(vm, &mut raw, sys::JNI_VERSION_1_6) };
    if result != sys::JNI_OK {
        return sys::JNI_ERR;
    }
    // SAFETY: the interface of this thread.
    let env = unsafe { Env::new(raw.cast()) };
    let natives = [
        Native::new(c"add", c"([BLjava/lang/String;)Ljava/lang/String;", add as *mut c_void),
        Native::new(c"addFile", c"(Ljava/lang/String;)Ljava/lang/String;", add_file as *mut c_void),
        Native::new(c"flag", c"(Ljava/lang/String;)Ljava/lang/String;", flag as *mut c_void),
        Native::new(
            c"rewrite",
            c"(Ljava/lang/ClassLoader;Ljava/lang/Class;[BIII[Ljava/lang/Object;)[B",
            rewrite as *mut c_void,
        ),
        Native::new(
            c"module",
            c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;",
            module as *mut c_void,
        ),
        Native::new(c"last", c"()Ljava/lang/String;", last as *mut c_void),
        Native::new(
            c"original",
            c"(Ljava/lang/ClassLoader;Ljava/lang/String;[BLjava/lang/String;)[B",
            original as *mut c_void,
        ),
        Native::new(
            c"isToComeLast",
            c"(Ljava/lang/String;Ljava/lang/String;)Z",
            is_to_come_last as *mut c_void,
        ),
        Native::new(c"raw", c"()[Ljava/lang/String;", raw_classes as *mut c_void),
        Native::new(c"fold", c"()V", fold as *mut c_void),
        Native::new(c"replay", c"(Ljava/lang/Thread;J)J", replay as *mut c_void),
        Native::new(c"inheritsHashCode", c"(Ljava/lang/Class;)J", inherits_hash_code as *mut c_void),
        Native::new(
            c"nativeMethod",
            c"(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/Class;[Ljava/lang/Class;)J",
            native_method as *mut c_void,
        ),
        Native::new(c"typeId", c"(Ljava/lang/Class;)J", type_id as *mut c_void),
        Native::new(c"index", c"()[B", index as *mut c_void),
        Native::new(c"method", c"(J)[Ljava/lang/String;", method as *mut c_void),
        Native::new(c"notes", c"()[Ljava/lang/String;", notes as *mut c_void),
        Native::new(
            c"markers",
            c"(Ljava/lang/String;)Ljava/lang/String;",
            marking::natives::take as *mut c_void,
        ),
        Native::new(c"marked", c"()Ljava/lang/String;", marking::natives::placed as *mut c_void),
        Native::new(c"unmarked", c"()[Ljava/lang/String;", marking::natives::notes as *mut c_void),
        Native::new(c"place", c"()Ljava/lang/String;", place as *mut c_void),
        Native::new(c"option", c"(Ljava/lang/String;)Ljava/lang/String;", option as *mut c_void),
        Native::new(
            c"select",
            c"(Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;Ljava/lang/String;)Ljava/lang/String;",
            select as *mut c_void,
        ),
        Native::new(c"selected", c"([J)[Ljava/lang/String;", selected as *mut c_void),
        Native::new(c"collect", c"([J)[J", collect as *mut c_void),
        Native::new(
            c"write",
            c"(JI[Ljava/lang/String;[J[Ljava/lang/String;[J)Ljava/lang/String;",
            write as *mut c_void,
        ),
    ];
    match env.find_class("cctrewrite/runtime/LoadTime") {
        // A class library that is marked and not counted. In one that is both, `LoadTime` has these
        // natives.
        None if marking::natives::register(env) => sys::JNI_VERSION_1_6,
        Some(class)
            if env.register(class, &natives)
                && arena_natives::register(env)
                && tracing::register(env)
                && pcc::register(env) =>
        {
            sys::JNI_VERSION_1_6
        }
        _ => sys::JNI_ERR,
    }
}

/// `String add(byte[] index, String jar)`
extern "system" fn add(raw: *mut sys::JNIEnv, _: jclass, index: jbyteArray, jar: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let bytes = env.bytes(index, 0, env.length(index));
        // Megabytes, which need not be in memory twice if they can be read again.
        let jar = if jar.is_null() { None } else { env.text(jar) };
        if let (Some(bytes), None) = (&bytes, &jar) {
            arena::log(&Entry::Index(bytes));
        }
        let trouble = added(env, bytes.map(IndexBytes::Owned).ok_or_else(|| "no memory".to_owned()));
        if let Some(jar) = jar {
            log_index(&jar, trouble, |path, provenance| Entry::IndexInJar(path, provenance));
        }
        trouble
    })
}

/// `String addFile(String index)`
extern "system" fn add_file(raw: *mut sys::JNIEnv, _: jclass, index: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(path) = env.text(index) else { return added(env, Err("no memory".to_owned())) };
        let trouble = added(env, IndexBytes::of_file(&path).map_err(|e| e.to_string()));
        log_index(&path, trouble, |path, provenance| Entry::IndexFile(path, provenance));
        trouble
    })
}

/// Logs, for readers of the trees, where the index is that was added last, if it was usable.
fn log_index(path: &str, trouble: jstring, entry: for<'a> fn(&'a str, &'a [u8]) -> Entry<'a>) {
    let state = state();
    if trouble.is_null()
        && let Some(provenance) = state.library.last_provenance()
    {
        // Readers may run in another folder.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
        arena::log(&entry(&path.to_string_lossy(), provenance));
    }
}

/// Adds an index; returns an error message.
fn added(env: Env, index: Result<IndexBytes, String>) -> jstring {
    // The runtime calls this, and its loader is the boot class loader. For a native of the program,
    // names would go to the program's loader.
    if Members::find(env).is_some() {
        interpose::install(env);
    }
    match index.and_then(|bytes| state().library.add(bytes)) {
        Ok(()) => ptr::null_mut(),
        Err(trouble) => env.new_string(trouble.as_bytes()),
    }
}

/// `String flag(String name)`
extern "system" fn flag(raw: *mut sys::JNIEnv, _: jclass, name: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let value = env.text(name).and_then(|name| vm_flags::value(env, &name));
        value.map_or(ptr::null_mut(), |value| env.new_string(value.as_bytes()))
    })
}

/// `byte[] rewrite(ClassLoader loader, Class<?> host, byte[] b, int off, int len, int how, Object[]
/// patches)`
#[allow(clippy::too_many_arguments)]
extern "system" fn rewrite(
    raw: *mut sys::JNIEnv,
    _: jclass,
    loader: jobject,
    host: jclass,
    bytes: jbyteArray,
    offset: jint,
    length: jint,
    how: jint,
    patches: jobjectArray,
) -> jbyteArray {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(bytes) = env.bytes(bytes, offset, length) else { return ptr::null_mut() };
        let patched = env.elements_set(patches);
        match rewriting::rewrite(env, loader, host, &bytes, DefinitionKind::of(how), &patched) {
            // If memory runs out, the error stays pending and the definition fails. The class must
            // not be defined unchanged, since others may already rely on its extended forms.
            Some(rewritten) => env.new_bytes(&rewritten),
            None => ptr::null_mut(),
        }
    })
}

/// Frames of the runtime's own above the one that the VM called: this native, `CctRuntime.replay`,
/// the helper in `Object`, and itself.
const OWN_FRAMES: jint = 4;

/// `String module(String path, String java, String host, String seconds)`
extern "system" fn module(
    raw: *mut sys::JNIEnv,
    _: jclass,
    path: jstring,
    java: jstring,
    host: jstring,
    seconds: jstring,
) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let text = |string: jstring| if string.is_null() { None } else { env.text(string) };
        let [path, java, host, seconds] = [path, java, host, seconds].map(text);
        let trouble = match (path, seconds) {
            (Some(path), Some(seconds)) => {
                module::start(&path, java.as_deref(), host.as_deref(), &seconds).err()
            }
            _ => Some("no memory".to_owned()),
        };
        trouble.map_or(ptr::null_mut(), |trouble| env.new_string(trouble.as_bytes()))
    })
}

/// `String last()`
extern "system" fn last(raw: *mut sys::JNIEnv, _: jclass) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        hook::come_last(env).err().map_or(ptr::null_mut(), |trouble| env.new_string(trouble.as_bytes()))
    })
}

/// `byte[] original(ClassLoader loader, String name, byte[] file, String home)`
extern "system" fn original(
    raw: *mut sys::JNIEnv,
    _: jclass,
    loader: jobject,
    name: jstring,
    file: jbyteArray,
    home: jstring,
) -> jbyteArray {
    guarded(raw, ptr::null_mut(), |env| {
        let (Some(name), Some(home)) = (env.text(name), env.text(home)) else { return ptr::null_mut() };
        let Some(file) = env.bytes(file, 0, env.length(file)) else { return ptr::null_mut() };
        match originals::shown(env, loader, name.as_bytes(), &file, Path::new(&home)) {
            VisibleClassFile::AsItIs => ptr::null_mut(),
            VisibleClassFile::Original(original) => env.new_bytes(&original),
            VisibleClassFile::Missing(why) => {
                state().note(
                    format!("classes that agents were shown in their rewritten form, since {why}"),
                    &name,
                );
                ptr::null_mut()
            }
        }
    })
}

/// `boolean isToComeLast(String bootPath, String home)`
extern "system" fn is_to_come_last(
    raw: *mut sys::JNIEnv,
    _: jclass,
    boot_path: jstring,
    home: jstring,
) -> jboolean {
    guarded(raw, false, |env| {
        let text = |string: jstring| if string.is_null() { None } else { env.text(string) };
        hook::is_wanted(env, text(boot_path).as_deref(), &text(home).unwrap_or_default())
    })
}

/// `String[] raw()`
extern "system" fn raw_classes(raw: *mut sys::JNIEnv, _: jclass) -> jobjectArray {
    guarded(raw, ptr::null_mut(), |env| env.new_strings(&hook::raw_of_library(env)))
}

/// `void fold()`
extern "system" fn fold(raw: *mut sys::JNIEnv, _: jclass) {
    guarded(raw, (), |_| replay::fold());
}

/// `long replay(Thread thread, long root)`
extern "system" fn replay(raw: *mut sys::JNIEnv, _: jclass, thread: jobject, root: jlong) -> jlong {
    guarded(raw, 0, |env| {
        // SAFETY: the runtime passes the root of the current thread's tree.
        let root = unsafe { Node::at(root as u64) };
        replay::context(env, thread, root, OWN_FRAMES).map_or(0, |context| context as jlong)
    })
}

/// `long inheritsHashCode(Class<?> type)`
extern "system" fn inherits_hash_code(raw: *mut sys::JNIEnv, _: jclass, class: jclass) -> jlong {
    guarded(raw, 0, |env| match env.frame(16, || hash_code::is_inherited(env, class)).flatten() {
        Some(true) => 1,
        Some(false) => 2,
        None => 0,
    })
}

/// `long nativeMethod(Class<?> type, String name, Class<?> result, Class<?>[] parameters)`
extern "system" fn native_method(
    raw: *mut sys::JNIEnv,
    _: jclass,
    class: jclass,
    name: jstring,
    result: jclass,
    parameters: jobjectArray,
) -> jlong {
    guarded(raw, 0, |env| {
        let found = env.frame(300, || match pcc::tables() {
            None => native_methods::find(env, class, name, result, parameters).map(|mid| mid.0),
            Some(_) => pcc::of_native(env, class, name, result, parameters).map(|site| site.0),
        });
        found.flatten().map_or(0, |found| found as jlong)
    })
}

/// `long typeId(Class<?> type)`
extern "system" fn type_id(raw: *mut sys::JNIEnv, _: jclass, class: jclass) -> jlong {
    guarded(raw, 0, |env| types::id(env, class).map_or(0, |mid| mid.0 as jlong))
}

/// `byte[] index()`
extern "system" fn index(raw: *mut sys::JNIEnv, _: jclass) -> jbyteArray {
    guarded(raw, ptr::null_mut(), |env| {
        // The lock is free again before the next line.
        let index = state().index();
        match index {
            Ok(bytes) => env.new_bytes(&bytes),
            Err(trouble) => {
                state().note("names of classes rewritten at load time are missing", &trouble);
                ptr::null_mut()
            }
        }
    })
}

/// `String[] method(long mid)`
extern "system" fn method(raw: *mut sys::JNIEnv, _: jclass, mid: jlong) -> jobjectArray {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(method) = state().library.method(Mid(mid as u64)) else { return ptr::null_mut() };
        let parts = [&*method.class, &method.name, &method.descriptor];
        let mut texts = parts.map(cct_classfile::mutf8::lossy).to_vec();
        // Properties of the method: native, synchronized.
        let letters = [(method.is_native, 'n'), (method.is_synchronized, 's')];
        let letters: String = letters.into_iter().filter(|(is, _)| *is).map(|(_, letter)| letter).collect();
        if !letters.is_empty() {
            texts.push(letters);
        }
        env.new_strings(&texts)
    })
}

/// `String[] notes()`
extern "system" fn notes(raw: *mut sys::JNIEnv, _: jclass) -> jobjectArray {
    guarded(raw, ptr::null_mut(), |env| {
        let lines = state().notes.lines();
        env.new_strings(&lines)
    })
}

/// `String place()`
extern "system" fn place(raw: *mut sys::JNIEnv, _: jclass) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        collection::place().map_or(ptr::null_mut(), |path| env.new_string(path.as_bytes()))
    })
}

/// `String option(String key)`
extern "system" fn option(raw: *mut sys::JNIEnv, _: jclass, key: jstring) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let value = env.text(key).and_then(|key| collection::option(&key));
        value.map_or(ptr::null_mut(), |value| env.new_string(value.as_bytes()))
    })
}

/// `String select(String startAt, String extents, String include, String exclude, String identity)`
#[allow(clippy::too_many_arguments)]
extern "system" fn select(
    raw: *mut sys::JNIEnv,
    _: jclass,
    start_at: jstring,
    extents: jstring,
    include: jstring,
    exclude: jstring,
    identity: jstring,
) -> jstring {
    guarded(raw, ptr::null_mut(), |env| {
        let text = |string: jstring| if string.is_null() { None } else { env.text(string) };
        let given = [start_at, extents, include, exclude, identity];
        let [start_at, extents, include, exclude, identity] = given.map(text);
        match selection::select(
            start_at.as_deref(),
            extents.as_deref(),
            include.as_deref(),
            exclude.as_deref(),
            identity.as_deref(),
        ) {
            Ok(()) => ptr::null_mut(),
            Err(trouble) => env.new_string(trouble.as_bytes()),
        }
    })
}

/// `String[] selected(long[] records)`
extern "system" fn selected(raw: *mut sys::JNIEnv, _: jclass, records: jlongArray) -> jobjectArray {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(records) = env.longs(records) else { return ptr::null_mut() };
        // SAFETY: as in `collect`.
        let records = records.iter().map(|&address| unsafe { Record::at(address as u64) });
        let mids = writing::callees(records).mids();
        let remarks = state().selected.remarks(|mid| mids.contains(&mid));
        env.new_strings(&remarks)
    })
}

/// `long[] collect(long[] records)`
extern "system" fn collect(raw: *mut sys::JNIEnv, _: jclass, records: jlongArray) -> jlongArray {
    guarded(raw, ptr::null_mut(), |env| {
        let Some(records) = env.longs(records) else { return ptr::null_mut() };
        // SAFETY: the runtime passes the records of its trees.
        let records = records.iter().map(|&address| unsafe { Record::at(address as u64) });
        let collected = TreeMethods::of(env, records);
        let nameless = collected.nameless();
        let number = pending().keep(collected);
        let result: Vec<jlong> = [number].into_iter().chain(nameless).map(|value| value as jlong).collect();
        env.new_longs(&result)
    })
}

/// `String write(long number, int file, String[] names, long[] flags, String[] threads, long[]
/// rows)`
#[allow(clippy::too_many_arguments)]
extern "system" fn write(
    raw: *mut sys::JNIEnv,
    _: jclass,
    number: jlong,
    file: jint,
    names: jobjectArray,
    flags: jlongArray,
    threads: jobjectArray,
    rows: jlongArray,
) -> jstring {
    let failed = |env: Env, trouble: &str| env.new_string(trouble.as_bytes());
    guarded(raw, ptr::null_mut(), |env| {
        let Some(collected) = pending().take(number as u64) else {
            return failed(env, "the trees were already written, or never read");
        };
        let arguments =
            || Some((env.texts(names)?, env.longs(flags)?, env.texts(threads)?, env.longs(rows)?));
        let Some((names, flags, threads, rows)) = arguments() else { return failed(env, "no memory") };
        let found = names.chunks_exact(3).zip(flags).map(|(name, flags)| (name, flags as u64));
        let trees = threads.iter().zip(rows.chunks_exact(3)).map(|(name, row)| Tree {
            name,
            // SAFETY: as above.
            record: unsafe { Record::at(row[0] as u64) },
            threads: row[1] as u64,
            flags: row[2] as u64,
        });
        // SAFETY: the runtime passes the descriptor of a file that it keeps open meanwhile.
        let file = ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
        match collected.write(&mut &*file, found, trees.collect()) {
            Ok(()) => ptr::null_mut(),
            // With its cause: that the disk is full, say.
            Err(e) => {
                let cause = std::error::Error::source(&e).map(|cause| format!(": {cause}"));
                failed(env, &format!("{e}{}", cause.unwrap_or_default()))
            }
        }
    })
}
