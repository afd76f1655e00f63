//! Module descriptors without attributes that no longer hold.
//!
//! `java.base` carries hashes of all modules that were built with it (attribute `ModuleHashes`,
//! JDK-internal). jlink compares the given modules with them. Rewritten modules have other hashes,
//! so the attribute goes; its constants stay. A running JVM does not read it, since it does not
//! check modules in an image.
//!
//! The list of packages (`ModulePackages`, JVMS 4.7.26) must be complete for jlink, and the runtime
//! adds packages to `java.base`. jlink writes the list of a descriptor that has none.

use cct_classfile::ClassFile;

/// Name of the attribute that is removed from every descriptor.
pub const HASHES: &[u8] = b"ModuleHashes";

/// Name of the attribute that is removed where jlink must write it.
pub const PACKAGES: &[u8] = b"ModulePackages";

/// The descriptor without the attribute of this name; `None` if it has none.
pub fn without(descriptor: &ClassFile<'_>, name: &[u8]) -> Option<Vec<u8>> {
    descriptor.attributes.find(name)?;
    // A class's attributes are the last in its file (JVMS 4.1).
    let head = descriptor.bytes.len() - descriptor.attributes.raw.len();
    let mut bytes = descriptor.bytes[..head].to_vec();
    let kept: Vec<_> = descriptor.attributes.iter().filter(|a| a.name != name).collect();
    // The count of the attributes only decreases, and so does their length.
    bytes.extend((kept.len() as u16).to_be_bytes());
    for attribute in kept {
        bytes.extend(attribute.name_index.to_be_bytes());
        bytes.extend((attribute.data.len() as u32).to_be_bytes());
        bytes.extend(attribute.data);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A descriptor with these attributes, whose names are its only constants.
    fn descriptor(attributes: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 53];
        bytes.extend((attributes.len() as u16 + 3).to_be_bytes());
        bytes.extend(b"\x07\0\x02\x01\0\x0bmodule-info");
        for (name, _) in attributes {
            bytes.push(1);
            bytes.extend((name.len() as u16).to_be_bytes());
            bytes.extend(name.bytes());
        }
        bytes.extend([0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
        bytes.extend((attributes.len() as u16).to_be_bytes());
        for (index, (_, data)) in attributes.iter().enumerate() {
            bytes.extend((index as u16 + 3).to_be_bytes());
            bytes.extend((data.len() as u32).to_be_bytes());
            bytes.extend(*data);
        }
        bytes
    }

    #[test]
    fn one_attribute_goes_and_all_else_stays() {
        let before = descriptor(&[("X", b"first"), ("ModuleHashes", b"hash"), ("Y", b"last")]);
        let class = ClassFile::parse(&before).unwrap();
        let after = without(&class, HASHES).unwrap();
        assert_eq!(after.len(), before.len() - 6 - 4);
        let class = ClassFile::parse(&after).unwrap();
        let left: Vec<_> = class.attributes.iter().map(|a| (a.name, a.data)).collect();
        assert_eq!(left, [(&b"X"[..], &b"first"[..]), (b"Y", b"last")]);
        assert_eq!(without(&class, HASHES), None);
    }
}
