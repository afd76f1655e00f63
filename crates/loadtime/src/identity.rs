//! The identity of a class: its method ids and its name in the profile follow from it.
//!
//! The JDK numbers the classes that it generates: lambda classes, proxies, accessors. The numbers
//! depend on the program's earlier actions. So they are removed from the name, and from the
//! contents before these are hashed. Two classes that differ only in that number are the same to
//! the profile.

use cct_classfile::Result;
use cct_index::mid::ClassHash;
use cct_jdk::method_handles::is_generated_accessor;
use cct_rewrite::runtime_classes::rename;

/// How a class is defined, by the numbers that the runtime passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// By a class loader.
    Loaded,
    /// As a VM-anonymous class (JDK 8 to 16), which has a host instead of a loader, and which no
    /// other class can name.
    Anonymous,
    /// By `java.lang.reflect.Proxy`.
    Proxy,
    /// As a hidden class (JDK 15 and later), which no other class can name.
    Hidden,
}

impl DefinitionKind {
    /// Whether no class can name a class defined in this way, so that many may share a name.
    pub fn is_unnamable(self) -> bool {
        matches!(self, DefinitionKind::Anonymous | DefinitionKind::Hidden)
    }

    /// Converts the runtime's number.
    pub fn of(number: i32) -> Self {
        match number {
            1 => DefinitionKind::Anonymous,
            2 => DefinitionKind::Proxy,
            3 => DefinitionKind::Hidden,
            _ => DefinitionKind::Loaded,
        }
    }
}

/// Name and hash of a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name that profiles show.
    pub name: Box<[u8]>,
    /// Hash of the class file; the method ids follow from it.
    pub hash: ClassHash,
}

impl Identity {
    /// The identity of a class file.
    pub fn of(bytes: &[u8], name: &[u8], how: DefinitionKind) -> Result<Self> {
        let is_generated = how != DefinitionKind::Loaded || is_generated_accessor(name);
        let neutral = without_number(name);
        if !is_generated || *neutral == *name {
            return Ok(Identity { name: name.into(), hash: ClassHash::of(bytes) });
        }
        let hash = ClassHash::of(&rename(bytes, name, &neutral)?);
        Ok(Identity { name: neutral, hash })
    }
}

impl Identity {
    /// The identity of a class that a loader of this name defines, where loaders distinguish
    /// classes of equal names (JP 3.1: what makes two methods the same). Only classes that a loader
    /// has defined by name change.
    pub fn in_loader(self, loader: &[u8], how: DefinitionKind) -> Self {
        if how != DefinitionKind::Loaded || is_generated_accessor(&self.name) {
            return self;
        }
        let hash = ClassHash::of(&[&self.hash.0.to_be_bytes(), loader].concat());
        // A binary name may contain that character, but hardly any does.
        Identity { name: [&*self.name, b"~", loader].concat().into(), hash }
    }
}

/// The name of a class as the type of objects: its own, or the one without the number if profiles
/// show that. Loaders do not distinguish types.
pub fn type_name<'n>(name: &'n [u8], shown: &'n [u8]) -> &'n [u8] {
    if *shown == *without_number(name) { shown } else { name }
}

/// The name without the number at its end, and without the `$` before the number of a lambda class,
/// as reports show generated classes.
pub fn without_number(name: &[u8]) -> Box<[u8]> {
    let end = name.iter().rposition(|b| !b.is_ascii_digit()).map_or(0, |last| last + 1);
    let without = if end == 0 { name } else { &name[..end] };
    match without.strip_suffix(b"$") {
        Some(class) if class.ends_with(b"$$Lambda") => class.into(),
        _ => without.into(),
    }
}

/// The name of a VM-anonymous or hidden class in its class file: without the suffix that the JVM
/// appends, a dot or slash and a number.
pub fn anonymous_name(name: &[u8]) -> Option<&[u8]> {
    let at = name.iter().rposition(|&b| b == b'/' || b == b'.')?;
    let number = &name[at + 1..];
    let digits = number.strip_prefix(b"0x").unwrap_or(number);
    let is_number =
        number.first().is_some_and(u8::is_ascii_digit) && digits.iter().all(u8::is_ascii_hexdigit);
    is_number.then_some(&name[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loaders_make_one_class_two() {
        let of = |how| Identity { name: b"a/B"[..].into(), hash: ClassHash(7) }.in_loader(b"L#1", how);
        assert_eq!(*of(DefinitionKind::Loaded).name, *b"a/B~L#1");
        let other = Identity { name: b"a/B"[..].into(), hash: ClassHash(7) }
            .in_loader(b"L#2", DefinitionKind::Loaded);
        assert_ne!(of(DefinitionKind::Loaded).hash, other.hash);
        assert_ne!(of(DefinitionKind::Loaded).hash, ClassHash(7));
        assert_eq!(
            (&*of(DefinitionKind::Hidden).name, of(DefinitionKind::Proxy).hash),
            (&b"a/B"[..], ClassHash(7))
        );
    }

    #[test]
    fn only_the_last_number_goes() {
        assert_eq!(*without_number(b"a1/B2$$Lambda$34"), *b"a1/B2$$Lambda");
        assert_eq!(*without_number(b"com/sun/proxy/$Proxy12"), *b"com/sun/proxy/$Proxy");
        assert_eq!(*without_number(b"java/lang/invoke/LambdaForm$MH"), *b"java/lang/invoke/LambdaForm$MH");
    }
}
