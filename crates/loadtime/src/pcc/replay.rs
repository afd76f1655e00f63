//! Values of the contexts in which the VM or a native calls methods. A value is computed from the
//! stack, frame by frame from the oldest, as the calls themselves would compute it. Each frame that
//! takes part contributes its call site; others are skipped. ([`crate::replay`] finds nodes of
//! trees in the same way.)

use std::sync::{Arc, Mutex, PoisonError};

use cct_classfile::mutf8::lossy;
use cct_classfile::{MemberRef, NameAndType};
use cct_index::treatment::Treatment;
use cct_jdk::convention::without_extension;
use cct_pcc::value::caller;
use cct_pcc::{MethodChoice, Site, Value};
use cct_rewrite::plan;
use rustc_hash::FxHashMap;

use crate::archived;
use crate::frames::known_class;
use crate::identity::{anonymous_name, without_number};
use crate::jni::{Env, jclass, jint, jmethodID, jobject, jobjectArray, jstring};
use crate::jvmti::Jvmti;
use crate::known_class::{Appearance, Bytecodes, KnownClass};
use crate::members::Members;
use crate::native_methods;
use crate::replay::Site as Place;
use crate::state::{jvmti, state};

/// A method on the stack that trees would represent.
#[derive(Debug, Clone)]
struct Frame {
    /// The prefix of the names of its call sites. `None` if it takes no part in contexts and passes
    /// on the value that it got.
    caller: Option<String>,
    code: Bytecodes,
    /// Whether recording starts with it.
    is_extent: bool,
}

/// Maximum number of cached methods.
const REMEMBERED: usize = 1 << 16;

static FRAMES: Mutex<Option<FxHashMap<usize, Arc<Option<Frame>>>>> = Mutex::new(None);

/// The value of the context that the frame `skip` of `thread` calls. `thread` must be the calling
/// one; frames count from the newest. `None` if the stack cannot be walked, as before the JVM's
/// live phase, or if nothing is recorded there.
pub fn value(env: Env, thread: jobject, skip: jint) -> Option<Value> {
    let jvmti = jvmti(env)?;
    let members = Members::find(env)?;
    let stack = jvmti.stack(env, thread, skip)?;
    let mut value = Value::ROOT;
    let mut has_begun = state().selected.marks.extents.is_empty();
    for called in stack.iter().rev() {
        let frame = frame(env, jvmti, members, called.method);
        let Some(frame) = &*frame else { continue };
        has_begun |= frame.is_extent;
        let Some(caller) = frame.caller.as_ref().filter(|_| has_begun) else { continue };
        let bci = match Place::of(&frame.code, called.location) {
            Place::At(bci) => bci,
            Place::Unknown => {
                state().note(
                    "code that the JVM calls by itself may have the value of another call \
                              of its caller",
                    "?",
                );
                None
            }
        };
        value = value.call(Site::of_caller(caller, bci));
    }
    has_begun.then_some(value)
}

fn frame(env: Env, jvmti: Jvmti, members: &Members, method: jmethodID) -> Arc<Option<Frame>> {
    let key = method as usize;
    let known = FRAMES
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|known| known.get(&key).cloned());
    if let Some(frame) = known {
        return frame;
    }
    let found = env.frame(8, || look_up(env, jvmti, members, method)).flatten();
    let frame = Arc::new(found);
    let mut frames = FRAMES.lock().unwrap_or_else(PoisonError::into_inner);
    let known = frames.get_or_insert_default();
    // The JVM never reuses an id, so without this limit those of unloaded classes would stay for
    // ever.
    if known.len() >= REMEMBERED {
        known.clear();
    }
    known.insert(key, frame.clone());
    frame
}

/// The user's choice of methods in this JVM.
fn chosen() -> Option<&'static MethodChoice> {
    state().library.provenance().and_then(|(settings, _)| settings.pcc())
}

fn look_up(env: Env, jvmti: Jvmti, members: &Members, method: jmethodID) -> Option<Frame> {
    let named = jvmti.method_name(method)?;
    let class = jvmti.declaring_class(method)?;
    let class_name = jvmti.class_name(class)?;
    let known = known_class(env, jvmti, members, class, &class_name);
    let (shown, code) = match known {
        Some(known) => {
            let shown: Box<[u8]> = state().shown_name(&class_name).into();
            (shown, code(&known, named.name_and_type())?)
        }
        None => match anonymous_name(&class_name) {
            Some(common) => {
                let shown = without_number(common);
                let state = state();
                let classes = state.anonymous.get(&*shown)?;
                // For this purpose all classes of the name are equal, so the first with the method
                // will do.
                let code = classes.iter().find_map(|class| code(class, named.name_and_type()))?;
                (shown, code)
            }
            None => {
                // A class from a user's archive: the JVM has not kept the positions of its
                // bytecodes.
                archived::is_given(env).then_some(())?;
                archived::mid(jvmti, class, method)?;
                let code = if jvmti.is_native(method) {
                    Bytecodes::Native
                } else {
                    Bytecodes::Rewritten(cct_index::positions::Form::Extended, Default::default())
                };
                (class_name.into(), code)
            }
        },
    };
    let original = without_extension(&named.descriptor);
    let original = original.as_deref().unwrap_or(&named.descriptor);
    let original = MemberRef::new(&shown, &named.name, original);
    let is_extent = state().selected.marks.extents.iter().any(|extent| extent.is(original));
    let [class, name, descriptor] = [original.class, original.name, original.descriptor].map(lossy);
    let takes_part = chosen()?.takes_part(&class, &name, &descriptor);
    Some(Frame { caller: takes_part.then(|| caller(&class, &name, &descriptor)), code, is_extent })
}

/// The bytecodes that a method executes; `None` if trees have no node for it.
fn code(known: &KnownClass, method: NameAndType<'_>) -> Option<Bytecodes> {
    match known.appearance(method) {
        Appearance::None => None,
        Appearance::Node(body) => Some(body.code),
        // Apart from natives, callers count only the constructor of `Object`.
        Appearance::CountedByCaller => {
            Some(if method.name == b"<init>" { Bytecodes::Original } else { Bytecodes::Native })
        }
    }
}

/// The call site whose constant a native adds to its value before callbacks. `None` for a native
/// that takes no part in contexts or never calls back.
pub fn of_native(
    env: Env,
    class: jclass,
    name: jstring,
    result: jclass,
    parameters: jobjectArray,
) -> Option<Site> {
    let (known, k) = native_methods::row(env, class, name, result, parameters)?;
    let calls_back = match known.rows[k].treatment {
        Treatment::Native => true,
        Treatment::CallerCounted => plan::counted_native(&known.summary, k)?.calls_back,
        _ => false,
    };
    let method = &known.summary.methods[k];
    let shown = state().shown_name(&known.summary.name).to_vec();
    let NameAndType { name, descriptor } = known.summary.name_and_type(method);
    let [class, name, descriptor] = [&shown[..], name, descriptor].map(lossy);
    (calls_back && chosen()?.takes_part(&class, &name, &descriptor))
        .then(|| Site::of(&class, &name, &descriptor, None))
}
