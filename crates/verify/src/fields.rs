//! A class's own fields.

use std::collections::HashMap;

use cct_classfile::NameAndType;

/// A class's own fields: flags by name and descriptor.
pub type Fields<'a> = HashMap<NameAndType<'a>, u16>;
