//! The runtime's own classes, fitted to a class library.
//!
//! They are compiled once, against `sun.misc.Unsafe`. From JDK 9 on, `jdk.internal.misc.Unsafe` has
//! the same operations. `java.base` may use it, and it stays when the other one is removed. So the
//! name is replaced in the constant pool, both alone and inside descriptors.

use cct_classfile::bytes::PutBytes;
use cct_classfile::constant_pool::tag;
use cct_classfile::{ClassFile, Result};

/// Owner of the operations in the sources.
pub const UNSAFE: &[u8] = b"sun/misc/Unsafe";

/// Owner of the operations since JDK 9.
pub const INTERNAL_UNSAFE: &[u8] = b"jdk/internal/misc/Unsafe";

/// Methods of `sun.misc.Unsafe` with a different name in `jdk.internal.misc.Unsafe` since JDK 12.
const RENAMED_METHODS: [(&[u8], &[u8]); 2] =
    [(b"getObject", b"getReference"), (b"putObject", b"putReference")];

/// A class of the runtime, fitted to a class library whose `jdk.internal.misc.Unsafe` has methods
/// of these names; `None` if there is no such class.
pub fn fit(bytes: &[u8], internal_unsafe: Option<&[&[u8]]>) -> Result<Vec<u8>> {
    let Some(methods) = internal_unsafe else { return Ok(bytes.to_vec()) };
    let mut bytes = rename(bytes, UNSAFE, INTERNAL_UNSAFE)?;
    for (old, new) in RENAMED_METHODS {
        if methods.contains(&new) {
            bytes = rename(&bytes, old, new)?;
        }
    }
    Ok(bytes)
}

/// The class file with every mention of class or member `from` replaced by `to`.
pub fn rename(bytes: &[u8], from: &[u8], to: &[u8]) -> Result<Vec<u8>> {
    let class = ClassFile::parse(bytes)?;
    let descriptor = |name: &[u8]| [b"L", name, b";"].concat();
    let (old, new) = (descriptor(from), descriptor(to));
    let mut out = Vec::with_capacity(bytes.len() + 256);
    out.extend_from_slice(&bytes[..10]);
    // Constants follow each other: copy everything from the end of one text to the beginning of the
    // next.
    let mut copied = 10;
    for index in class.pool.indices().filter(|&i| class.pool.tag(i) == Some(tag::UTF8)) {
        let text = class.pool.utf8(index)?;
        let renamed = if text == from { to.to_vec() } else { replace(text, &old, &new) };
        let start = text.as_ptr() as usize - bytes.as_ptr() as usize;
        out.extend_from_slice(&bytes[copied..start - 2]);
        out.put2(renamed.len() as u16);
        out.extend_from_slice(&renamed);
        copied = start + text.len();
    }
    out.extend_from_slice(&bytes[copied..]);
    Ok(out)
}

fn replace(text: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.windows(old.len()).position(|w| w == old) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(new);
        rest = &rest[at + old.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_classfile::access::{NATIVE, PUBLIC};
    use cct_test_classes::class;

    #[test]
    fn methods_are_renamed_where_the_class_library_has_the_new_names() {
        let calls = |method: &'static str| class("A").method(PUBLIC | NATIVE, method, "()V").bytes();
        assert_eq!(fit(&calls("getObject"), None).unwrap(), calls("getObject"));
        assert_eq!(fit(&calls("getObject"), Some(&[b"getObject"])).unwrap(), calls("getObject"));
        let newer: &[&[u8]] = &[b"getObject", b"getReference"];
        assert_eq!(fit(&calls("getObject"), Some(newer)).unwrap(), calls("getReference"));
    }

    #[test]
    fn names_and_descriptors_change_and_nothing_else() {
        let before = class("A").extends("sun/misc/Unsafe").method(
            PUBLIC | NATIVE,
            "m",
            "(ILsun/misc/Unsafe;Lsun/misc/Unsafe2;)Lsun/misc/Unsafe;",
        );
        let after = class("A").extends("jdk/internal/misc/Unsafe").method(
            PUBLIC | NATIVE,
            "m",
            "(ILjdk/internal/misc/Unsafe;Lsun/misc/Unsafe2;)Ljdk/internal/misc/Unsafe;",
        );
        assert_eq!(rename(&before.bytes(), UNSAFE, INTERNAL_UNSAFE).unwrap(), after.bytes());
        assert_eq!(rename(&before.bytes(), b"no/such/Class", b"x/Y").unwrap(), before.bytes());
    }
}
