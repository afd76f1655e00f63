//! The packages of the class library that this JVM has.
//!
//! The index has the class library as on disk. A JVM may have less of it: `--limit-modules`, or a
//! main module that requires few. The application class loader then takes a missing class from the
//! class path, where the class of that name may be a different one.

use std::ffi::CString;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::jni::{Env, jobject};
use crate::jvmti::{Jvmti, NamedModule};
use crate::loaders::Number;

/// Cached answers, by the number of the asking loader and the package.
type Answers = FxHashMap<(Number, Box<[u8]>), bool>;

static FOUND: LazyLock<Mutex<Answers>> = LazyLock::new(Mutex::default);

/// Prefixes of the names of the JDK's modules. Modules of the program may be in the application
/// class loader, too.
const PREFIXES: [&str; 2] = ["java.", "jdk."];

/// Loaders above the application class loader, with room to spare.
const MAX_PARENTS: usize = 4;

/// Whether the class library's class on disk is the one that this JDK loader finds under its
/// (internal) name.
///
/// True on JDKs without modules, and while the JVM cannot be asked yet. Takes no lock of the state:
/// the JVM may suspend the thread.
pub fn has(env: Env, jvmti: Option<Jvmti>, loader: jobject, number: Number, name: &[u8]) -> bool {
    // Only the JDK defines classes of these packages.
    if name.starts_with(b"java/") {
        return true;
    }
    let Some(jvmti) = jvmti else { return true };
    let package = &name[..name.iter().rposition(|&b| b == b'/').unwrap_or(0)];
    let key = (number, Box::from(package));
    let found = || FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&known) = found().get(&key) {
        return known;
    }
    let has = env.frame(16, || is_in_module(env, jvmti, loader, package)).flatten();
    if let Some(has) = has {
        found().insert(key, has);
    }
    has.unwrap_or(true)
}

/// Whether a module of the JDK in this loader, or in a loader above it, has the package; `None` if
/// that is unknown.
fn is_in_module(env: Env, jvmti: Jvmti, loader: jobject, package: &[u8]) -> Option<bool> {
    let name = CString::new(package).ok()?;
    let parent = env.field(env.find_class("java/lang/ClassLoader")?, "parent", "Ljava/lang/ClassLoader;")?;
    let mut next = loader;
    for at in 0..MAX_PARENTS {
        if let NamedModule::Module(module) = jvmti.named_module(next, &name)? {
            return Some(at > 0 || is_of_jdk(env, module)?);
        }
        if next.is_null() {
            return Some(false);
        }
        next = env.get_object(next, parent);
    }
    None
}

/// Whether a module has a name like those of the JDK.
fn is_of_jdk(env: Env, module: jobject) -> Option<bool> {
    let field = env.field(env.object_class(module)?, "name", "Ljava/lang/String;")?;
    let name = env.text(env.get_object(module, field))?;
    Some(PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}
