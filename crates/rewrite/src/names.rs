//! Names for people.

/// A name for people.
pub(crate) fn lossy(name: &[u8]) -> String {
    cct_classfile::mutf8::decode_lossy(name).into_owned()
}
