//! Natives that method handles lead to, and the nodes of such calls.

use std::sync::Arc;

use cct_classfile::NameAndType;
use cct_index::mid::Mid;
use cct_index::record::ForeignRecord;
use cct_index::treatment::Treatment;
use cct_rewrite::plan;

use crate::frames::known_class;
use crate::jni::{Env, jclass, jobjectArray, jstring};
use crate::known_class::KnownClass;
use crate::members::Members;
use crate::state::{jvmti, state};

/// Finds a method by its class, name and types: the record of its class, if that was rewritten, and
/// the method's row.
pub fn row(
    env: Env,
    class: jclass,
    name: jstring,
    result: jclass,
    parameters: jobjectArray,
) -> Option<(Arc<KnownClass>, usize)> {
    let (jvmti, members) = (jvmti(env)?, Members::find(env)?);
    let class_name = jvmti.class_name(class)?;
    let name = env.text(name)?;
    let mut descriptor = vec![b'('];
    for parameter in env.elements(parameters) {
        descriptor.extend(jvmti.class_signature(parameter)?);
    }
    descriptor.push(b')');
    descriptor.extend(jvmti.class_signature(result)?);

    let known = known_class(env, jvmti, members, class, &class_name)?;
    let k = known.summary.find(NameAndType::new(name.as_bytes(), &descriptor))?;
    Some((known, k))
}

/// The id of a native by its class, name and types. `None` if its class was not rewritten, or the
/// native has no node.
pub fn find(env: Env, class: jclass, name: jstring, result: jclass, parameters: jobjectArray) -> Option<Mid> {
    let (known, k) = row(env, class, name, result, parameters)?;
    let row = &known.rows[k];
    if state().library.leaves_natives_out() {
        return None;
    }
    match row.treatment {
        Treatment::Native | Treatment::LeafNative => Some(known.summary.hash.method(k, row.shape)),
        Treatment::CallerCounted => {
            let native = ForeignRecord::from(plan::counted_native(&known.summary, k)?);
            let mid = native.mid;
            state().add_foreign(native);
            Some(mid)
        }
        _ => None,
    }
}
