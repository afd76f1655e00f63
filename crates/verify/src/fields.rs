//! A class's own fields.

use std::collections::HashMap;

/// A class's own fields: flags by name and descriptor.
pub type Fields<'a> = HashMap<(&'a [u8], &'a [u8]), u16>;
