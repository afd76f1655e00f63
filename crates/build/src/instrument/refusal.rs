//! Classes that JVMs refuse.

use cct_classfile::{ClassFile, wellformed};

/// Why JVMs refuse a class that rewriting would make acceptable; it must stay as it is, as when it
/// is rewritten while it is loaded.
pub fn refused_by_jvms(class: &ClassFile<'_>) -> Option<String> {
    wellformed::check(class).err().map(|fault| refusal(class, fault))
}

pub(crate) fn refusal(class: &ClassFile<'_>, fault: cct_classfile::Error) -> String {
    format!("{}, for which JVMs refuse it", class.locate(fault))
}
