//! Type ids of counted objects, where only the object tells its type: copies, and objects that
//! reflection and method handles allocate.

use cct_index::mid::Mid;
use cct_index::record::ForeignRecord;

use crate::identity::{anonymous_name, without_number};
use crate::jni::{Env, jclass};
use crate::state::{State, jvmti, state};

/// The id of a type, whose name is remembered. `None` if the JVM does not give its name.
pub fn id(env: Env, class: jclass) -> Option<Mid> {
    let signature = jvmti(env)?.class_signature(class)?;
    let mut state = state();
    let record = ForeignRecord::of_type(&name(&state, &signature)?);
    let mid = record.mid;
    state.add_foreign(record);
    Some(mid)
}

/// The name that profiles show of a type with this signature.
fn name(state: &State, signature: &[u8]) -> Option<Vec<u8>> {
    shown(signature, |class| match anonymous_name(class) {
        Some(common) => without_number(common),
        None => state.shown_name(class).into(),
    })
}

/// A class's name, as `of_class` shows it, or an array's descriptor; `None` for a primitive type,
/// which has no objects.
pub fn shown(signature: &[u8], of_class: impl Fn(&[u8]) -> Box<[u8]>) -> Option<Vec<u8>> {
    let dimensions = signature.iter().take_while(|&&b| b == b'[').count();
    let (brackets, element) = signature.split_at(dimensions);
    let Some(class) = element.strip_prefix(b"L") else {
        return (dimensions > 0).then(|| signature.to_vec());
    };
    // Names of hidden classes may end differently on some JVMs.
    let class = of_class(class.strip_suffix(b";").unwrap_or(class));
    Some(match dimensions {
        0 => class.into_vec(),
        _ => [brackets, b"L", &class, b";"].concat(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_called_what_profiles_call_their_classes() {
        let state = State::default();
        let shown = |signature: &[u8]| String::from_utf8(name(&state, signature).unwrap()).unwrap();
        assert_eq!(shown(b"Ljava/lang/String;"), "java/lang/String");
        assert_eq!(shown(b"[[I"), "[[I");
        assert_eq!(shown(b"[Ljava/lang/String;"), "[Ljava/lang/String;");
        assert_eq!(shown(b"La/B$$Lambda$14.0x00007f1c4c000a08;"), "a/B$$Lambda");
        assert_eq!(shown(b"[La/B$$Lambda$1/12345;"), "[La/B$$Lambda;");
    }
}
