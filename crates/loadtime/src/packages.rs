//! Which packages of the class library this JVM has.
//!
//! The index has the class library as it is on disk. A JVM may have less of it: `--limit-modules`,
//! or a main module that requires few. What is missing the application class loader takes from the
//! class path, where classes of these names may be others.

use std::ffi::CString;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::jni::{Env, jobject};
use crate::jvmti::{Jvmti, NamedModule};
use crate::loaders::Number;

/// Answers by the number of the loader that asks and the package.
type Answers = FxHashMap<(Number, Box<[u8]>), bool>;

static FOUND: LazyLock<Mutex<Answers>> = LazyLock::new(Mutex::default);

/// How modules of the JDK are called. Those of the program may lie in the application class loader,
/// too.
const PREFIXES: [&str; 2] = ["java.", "jdk."];

/// Loaders above the application class loader, with room to spare.
const MAX_PARENTS: usize = 4;

/// Whether a class that the class library has on disk is the one that this loader of the JDK's own
/// finds under its (internal) name.
///
/// It is where the JDK has no modules, and where the JVM cannot be asked yet. Takes no lock of the
/// state: the JVM may have the thread wait.
pub fn has(env: Env, jvmti: Option<Jvmti>, loader: jobject, number: Number, name: &[u8]) -> bool {
    // Nobody but the JDK defines classes of these.
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

/// Whether a module of the JDK in this loader, or in one above it, has the package; `None` where
/// nobody can say.
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

/// Whether a module is called as those of the JDK are.
fn is_of_jdk(env: Env, module: jobject) -> Option<bool> {
    let field = env.field(env.object_class(module)?, "name", "Ljava/lang/String;")?;
    let name = env.text(env.get_object(module, field))?;
    Some(PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}
