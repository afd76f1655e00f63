//! Classes that JVMs refuse.

use cct_classfile::{ClassFile, wellformed};

/// The reason why JVMs refuse a class; `None` if no reason is found. A refused class must stay
/// unchanged, since rewriting could make it acceptable. Load-time rewriting leaves it unchanged,
/// too.
pub fn refused_by_jvms(class: &ClassFile<'_>) -> Option<String> {
    wellformed::check(class).err().map(|fault| refusal(class, fault))
}

pub(crate) fn refusal(class: &ClassFile<'_>, fault: cct_classfile::Error) -> String {
    format!("{}, for which JVMs refuse it", class.locate(fault))
}
