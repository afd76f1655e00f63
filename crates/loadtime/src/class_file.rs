//! Class files as the JVM passes them.

use cct_classfile::{ClassFile, wellformed};

/// Reads a class file that may be rewritten.
pub(crate) fn read(bytes: &[u8]) -> cct_classfile::Result<ClassFile<'_>> {
    let class = ClassFile::parse(bytes)?;
    wellformed::check(&class)?;
    Ok(class)
}
