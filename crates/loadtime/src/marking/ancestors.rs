//! The ancestors of a class that is about to be defined.
//!
//! The JVM passes a class file to the hook before it loads the superclass and the superinterfaces.
//! Then it asks the class's loader for these at once. Where rules depend on ancestors, this module
//! asks the same loader for them a moment earlier. So it asks for no name that the JVM would not
//! ask for. It asks for none twice, since the JVM finds what `Class.forName` asked the loader for.
//! (If the JVM then rejects the class file, its superclass is loaded already.)

use std::cell::RefCell;

use cct_classfile::ClassFile;
use cct_markers::World;

use crate::jni::{Env, jclass, jobject};
use crate::jvmti::Jvmti;

thread_local! {
    /// Classes whose ancestors this thread is asking for. Stops an endless search for a class that
    /// is its own ancestor, which the JVM rejects.
    static ASKED: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// Adds all ancestors of a class. Returns whether all of them are known.
pub fn add(env: Env, jvmti: Jvmti, loader: jobject, class: &ClassFile<'_>, world: &mut World) -> bool {
    let is_asked = ASKED.with_borrow_mut(|asked| {
        let is_asked = asked.iter().any(|name| **name == *class.name());
        if !is_asked {
            asked.push(class.name().into());
        }
        is_asked
    });
    if is_asked {
        return false;
    }
    let mut all = true;
    for name in class.super_name().into_iter().chain(class.interface_names()) {
        all &= world.knows(name)
            || env
                .frame(64, || {
                    let found = env.class_for_name(name, loader)?;
                    add_loaded(env, jvmti, found, world)
                })
                .flatten()
                .is_some();
    }
    ASKED.with_borrow_mut(Vec::pop);
    all
}

/// Adds a loaded class and all its ancestors.
fn add_loaded(env: Env, jvmti: Jvmti, class: jclass, world: &mut World) -> Option<()> {
    let mut work = vec![class];
    while let Some(class) = work.pop() {
        let name = jvmti.class_name(class)?;
        if world.knows(&name) {
            continue;
        }
        let superclass = env.superclass(class);
        let above: Vec<jclass> = std::iter::once(superclass)
            .filter(|class| !class.is_null())
            .chain(env.interfaces(class)?)
            .collect();
        let names: Vec<Vec<u8>> =
            above.iter().map(|&class| jvmti.class_name(class)).collect::<Option<_>>()?;
        world.insert(&name, names.iter().map(Vec::as_slice));
        work.extend(above);
    }
    Some(())
}
