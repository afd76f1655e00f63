//! Descriptors of extended forms.

use cct_classfile::descriptor::end_of_parameters;

use crate::convention;

/// The extended form of a descriptor.
pub fn with_extension(descriptor: &[u8]) -> Vec<u8> {
    let close = end_of_parameters(descriptor).unwrap_or(descriptor.len());
    [&descriptor[..close], convention::EXTENSION, &descriptor[close..]].concat()
}

/// The original form of an extended descriptor; `None` of one that is not extended.
pub fn without_extension(descriptor: &[u8]) -> Option<Vec<u8>> {
    let close = end_of_parameters(descriptor)?;
    let arguments = descriptor[..close].strip_suffix(convention::EXTENSION)?;
    Some([arguments, &descriptor[close..]].concat())
}
