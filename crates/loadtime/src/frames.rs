//! How the methods on a stack appear in the tree, cached by their JVM ids.

use std::sync::Arc;

use cct_classfile::MemberRef;
use cct_index::positions::{Form, PackedPositions};

use crate::archived;
use crate::frame_bodies::{FrameBodies, REMEMBERED};
use crate::identity::{anonymous_name, without_number};
use crate::jni::{Env, jclass, jmethodID, jobject};
use crate::jvmti::Jvmti;
use crate::known_class::{Appearance, Body, Bytecodes, KnownClass};
use crate::loaders::Number;
use crate::members::Members;
use crate::state::state;

/// How frames of a method appear in the tree.
pub fn shown(env: Env, jvmti: Jvmti, members: &Members, method: jmethodID) -> FrameBodies {
    let key = method as usize;
    if let Some(shown) = state().frames.known.get(&key) {
        return shown.clone();
    }
    let (shown, is_final) =
        env.frame(8, || look_up(env, jvmti, members, method)).flatten().unwrap_or_default();
    if is_final {
        let known = &mut state().frames.known;
        // The JVM never reuses an id, so those of unloaded classes would stay for ever.
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert(key, shown.clone());
    }
    shown
}

/// The record of the class of this name that a loader (null for the boot class loader) has defined.
pub fn class_by_name(env: Env, members: &Members, loader: jobject, name: &[u8]) -> Option<Arc<KnownClass>> {
    let number: Number = if loader.is_null() { 0 } else { env.get_long(loader, members.loader_number) };
    let mut state = state();
    let library = loader.is_null().then(|| state.library.class(name)).flatten();
    library.or_else(|| state.loaders.class(number, name))
}

/// Clears the cache: a class has been redefined.
pub fn forget() {
    state().frames.known.clear();
}

/// The record of a loaded class, by the name that the JVM has for it.
pub fn known_class(
    env: Env,
    jvmti: Jvmti,
    members: &Members,
    class: jclass,
    name: &[u8],
) -> Option<Arc<KnownClass>> {
    class_by_name(env, members, jvmti.class_loader(class)?, name)
}

/// Nodes of a method in the forms that agents have made of its class.
fn in_versions(
    env: Env,
    jvmti: Jvmti,
    members: &Members,
    class: jclass,
    method: MemberRef<'_>,
) -> Option<Vec<Body>> {
    let loader = jvmti.class_loader(class)?;
    let number: Number = if loader.is_null() { 0 } else { env.get_long(loader, members.loader_number) };
    let state = state();
    let versions = state.versions.get(&(number, method.class.into()))?;
    let bodies = versions.iter().filter_map(|version| match version.appearance(method.name_and_type()) {
        Appearance::Node(body) => Some(body),
        _ => None,
    });
    Some(bodies.collect())
}

/// How frames of a method appear, and whether that is final. (More anonymous classes of a name may
/// follow.)
fn look_up(env: Env, jvmti: Jvmti, members: &Members, method: jmethodID) -> Option<(FrameBodies, bool)> {
    let named = jvmti.method_name(method)?;
    let named = named.name_and_type();
    let class = jvmti.declaring_class(method)?;
    let class_name = jvmti.class_name(class)?;
    // Loaders may define classes whose names end with a number, too.
    let known = known_class(env, jvmti, members, class, &class_name);
    if known.is_none()
        && let Some(common) = anonymous_name(&class_name)
    {
        let state = state();
        let classes = state.anonymous.get(&*without_number(common)).map_or(&[][..], Vec::as_slice);
        let mut bodies: Vec<Body> = classes
            .iter()
            .filter_map(|class| match class.appearance(named) {
                Appearance::Node(body) => Some(body),
                _ => None,
            })
            .collect();
        bodies.sort_unstable_by_key(|body| body.mid);
        if !bodies.is_empty() || !archived::is_given(env) {
            return Some((bodies.into(), false));
        }
    }
    if known.is_none() && archived::is_given(env) {
        // Any of the bodies will do: the JVM has not kept the positions of its bytecodes.
        let code = if jvmti.is_native(method) {
            Bytecodes::Native
        } else {
            Bytecodes::Rewritten(Form::Extended, PackedPositions::default())
        };
        let body = archived::mid(jvmti, class, method).map(|mid| Body { mid, code });
        return Some((body.into_iter().collect(), true));
    }
    if let Some(mut bodies) = in_versions(env, jvmti, members, class, named.of_class(&class_name)) {
        if let Some(Appearance::Node(body)) = known.map(|known| known.appearance(named)) {
            bodies.push(body);
        }
        bodies.sort_unstable_by_key(|body| body.mid);
        bodies.dedup_by_key(|body| body.mid);
        // Only methods of the library without a body are counted by their callers, and agents do
        // not change those.
        return Some((bodies.into(), false));
    }
    Some(match known {
        None => (FrameBodies::default(), true),
        Some(known) => match known.appearance(named) {
            Appearance::None => (FrameBodies::default(), true),
            Appearance::Node(body) => ([body].into(), true),
            Appearance::CountedByCaller => {
                // With a slot if it may call back, otherwise without (`Foreign::mid`).
                let body = |slots| {
                    let mid = cct_index::mid::Mid::foreign(named.of_class(&class_name), slots).0;
                    // Apart from natives only Object's constructor.
                    let code = if named.name == b"<init>" { Bytecodes::Original } else { Bytecodes::Native };
                    Body { mid, code }
                };
                let mut bodies = [body(0), body(1)];
                bodies.sort_unstable_by_key(|body| body.mid);
                (bodies.into(), true)
            }
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anonymous_classes_are_recognised_by_the_number_after_their_name() {
        assert_eq!(anonymous_name(b"a/B$$Lambda$1/1234567"), Some(&b"a/B$$Lambda$1"[..]));
        assert_eq!(anonymous_name(b"a/B$$Lambda$1.1234567"), Some(&b"a/B$$Lambda$1"[..]));
        assert_eq!(anonymous_name(b"a/B$$Lambda$14/0x00007f1c4c000a08"), Some(&b"a/B$$Lambda$14"[..]));
        assert_eq!(anonymous_name(b"a/B$1"), None);
        assert_eq!(anonymous_name(b"B"), None);
    }
}
