//! The class-file hook of a marked JDK.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use cct_classfile::{ClassFile, wellformed};
use cct_markers::{Error, Library, Way, World, library, mark};
use cct_rewrite::hooks;
use jni_sys as sys;
use jni_sys::{jclass, jint, jobject};

use super::ancestors;
use crate::jni::Env;
use crate::jvmti::Jvmti;
use crate::marking::rules::{CLIENTS, MARKING, Marking};
use crate::rewriting::PARENT_FIRST;
use crate::state::jvmti;

/// JVMTI's event ClassFileLoadHook. After a panic, which would be a defect, the class stays
/// unchanged.
///
/// # Safety
/// The JVM calls it.
pub unsafe extern "system" fn class_file(
    _: *mut *const *const c_void,
    raw: *mut sys::JNIEnv,
    redefined: jclass,
    loader: jobject,
    name: *const c_char,
    _: jobject,
    length: jint,
    bytes: *const u8,
    new_length: *mut jint,
    new_bytes: *mut *mut u8,
) {
    // SAFETY: the interface of the thread that defines the class.
    let env = unsafe { Env::new(raw) };
    let Some(marking) = MARKING.get() else { return };
    let Ok(length) = usize::try_from(length) else { return };
    // SAFETY: the JVM passes the class file and its length.
    let file = unsafe { std::slice::from_raw_parts(bytes, length) };
    let definition =
        Definition { loader, is_named: !name.is_null(), is_redefined: !redefined.is_null(), file };
    let marked = catch_unwind(AssertUnwindSafe(|| marking.marked(env, &definition)));
    let Ok(Some((jvmti, marked))) = marked else { return };
    let Ok(length) = jint::try_from(marked.len()) else { return };
    let copy = jvmti.copied(&marked);
    if !copy.is_null() {
        // SAFETY: the JVM passes where the new class file goes, and takes its memory over.
        unsafe {
            *new_bytes = copy;
            *new_length = length;
        }
    }
}

/// JVMTI's event ClassLoad: hidden classes raise this event alone.
pub extern "system" fn class_loaded(
    _: *mut *const *const c_void,
    raw: *mut sys::JNIEnv,
    _: jobject,
    class: jclass,
) {
    // SAFETY: the interface of the thread that loads the class.
    let env = unsafe { Env::new(raw) };
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let (marking, jvmti) = (MARKING.get()?, jvmti(env)?);
        let name = jvmti.class_name(class)?;
        let end = hidden(&name)?;
        let is_ours = hooks::is_runtime_class(&name) || library::unmarked(&name).is_some();
        marking.tally().hidden(&name[..end], !is_ours && marking.rules.may_match(&name[..end]));
        Some(())
    }));
}

/// Notes the classes that were loaded before the first event, which should be the class library's
/// alone.
pub fn look_back(env: Env, jvmti: Jvmti, marking: &Marking) {
    for class in jvmti.loaded_classes().unwrap_or_default() {
        env.frame(8, || {
            let loader = jvmti.class_loader(class)?;
            let name = jvmti.class_name(class)?;
            if hidden(&name).is_none() && marking.may_be_marked(env, jvmti, loader, &name) {
                marking.note("classes that were loaded before they could be marked (by an agent, or from an archive of classes)", &name);
            }
            Some(())
        });
        env.delete_local(class);
    }
}

/// The position of the suffix in the name of a class that has no name of its own: `a/B.0x1234` of a
/// hidden class (JDK 15), `a/B/1234` of a VM-anonymous one.
fn hidden(name: &[u8]) -> Option<usize> {
    if let Some(dot) = name.iter().position(|&b| b == b'.') {
        return Some(dot);
    }
    let slash = name.iter().rposition(|&b| b == b'/')?;
    let number = &name[slash + 1..];
    (!number.is_empty() && number.iter().all(u8::is_ascii_digit)).then_some(slash)
}

/// A class file, and its definer.
struct Definition<'d> {
    loader: jobject,
    is_named: bool,
    is_redefined: bool,
    file: &'d [u8],
}

impl Marking {
    /// Whether markers go into a class of this name. The class library has its own; the runtime and
    /// clients get none.
    fn may_be_marked(&self, env: Env, jvmti: Jvmti, loader: jobject, name: &[u8]) -> bool {
        if hooks::is_runtime_class(name) || !self.rules.may_match(name) {
            return false;
        }
        let loader = if loader.is_null() {
            None
        } else {
            env.object_class(loader).and_then(|class| jvmti.class_name(class))
        };
        match loader {
            None => !self.library.has(name),
            Some(loader) if PARENT_FIRST.contains(&&*loader) => !self.library.has(name),
            Some(loader) => loader != CLIENTS,
        }
    }

    /// The class file with markers; `None` if it has none. Every location that a rule matches has
    /// its marker, or there is a note.
    fn marked(&self, env: Env, definition: &Definition<'_>) -> Option<(Jvmti, Vec<u8>)> {
        let jvmti = jvmti(env)?;
        // The JVM will report what is wrong with it.
        let class = ClassFile::parse(definition.file).ok()?;
        let name = class.name();
        let wanted = env.frame(8, || self.may_be_marked(env, jvmti, definition.loader, name));
        if wanted != Some(true) {
            return None;
        }
        if !definition.is_named {
            // A VM-anonymous class, which its load event will show; or else a class of native code.
            *self.tally().nameless.entry(name.into()).or_default() += 1;
            return None;
        }
        if definition.is_redefined {
            self.note("classes that an agent redefined, which are not marked", name);
            return None;
        }
        let mut world = World::over(self.library.clone());
        if self.rules.ask_what_is_above(name)
            && !ancestors::add(env, jvmti, definition.loader, &class, &mut world)
        {
            self.note("classes with unknown supertypes: rules with subtypes-of may have missed them", name);
        }
        let way = Way { library: Some(Library::Below), ..Way::new(&self.rules, &world) };
        match mark(definition.file, &way) {
            Ok(mut marked) => {
                // With markers it would have more stack and locals than it declares, and might be
                // accepted.
                if marked.bytes.is_some()
                    && let Err(fault) = wellformed::check(&class)
                {
                    marked.give_up(name, "JVMs refuse its class, which is not rewritten");
                    self.note(format!("classes that JVMs refuse, and that have no markers: {fault}"), name);
                }
                self.add(&marked);
                Some((jvmti, marked.bytes?))
            }
            Err(Error::AlreadyMarked(_)) => {
                self.note("classes that already had markers, and got no others", name);
                None
            }
            Err(error) => {
                self.note(format!("classes that cannot be marked: {error}"), name);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::hidden;

    #[test]
    fn classes_without_names_are_recognised() {
        for (name, end) in [
            ("a/B$$Lambda.0x00007f0001", Some(11)),
            ("a/B$$Lambda$1/250421012", Some(13)),
            ("a/B", None),
            ("B", None),
            ("a/B/C1", None),
            ("a/1/B", None),
        ] {
            assert_eq!(hidden(name.as_bytes()), end, "{name}");
        }
    }
}
