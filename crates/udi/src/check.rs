//! The changes that a module may make to a class.
//!
//! Other classes, the JVM's own assumptions about the class library, reflection and serialisation
//! all see the members of a class. So a module may change code and add private methods. Its state
//! belongs in classes of its own.

use cct_classfile::mutf8::lossy;
use cct_classfile::{ClassFile, Code, Member, access, wellformed};

use crate::module::RUNTIME_PACKAGE;

/// The reason why a module's class file is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// It is not a class file.
    #[error("its output is not a valid class file: {0}")]
    Unreadable(#[from] cct_classfile::Error),
    /// It differs in a part that must not change.
    #[error("it changed the {0} of the class, which is not allowed")]
    Changed(&'static str),
    /// A field or method is missing, has moved, or has other flags.
    #[error(
        "it removed, moved or changed the declaration of {0}; fields and methods must stay in their order, with their flags"
    )]
    Member(String),
    /// It has an additional field.
    #[error("it added the field {0}; put the state of a module into a class of its own in {RUNTIME_PACKAGE}")]
    AddedField(String),
    /// An added method is visible to other classes.
    #[error("it added the method {0}; only private methods with a body may be added, after the others")]
    AddedMethod(String),
    /// The name of a class of the module's own is not allowed.
    #[error(
        "its own class {0} is not in the package {RUNTIME_PACKAGE}, or takes the name of one of cctrewrite's"
    )]
    NotInPackage(String),
}

/// The runtime's own classes in the package of modules' classes.
const OWN_CLASSES: &[&[u8]] = &[b"cctrewrite/udi/runtime/Bypass"];

/// First version in which interfaces may have private methods.
const PRIVATE_IN_INTERFACES: u16 = 52;

/// Checks that these bytes may replace a class.
pub fn check(original: &ClassFile<'_>, replacement: &[u8]) -> Result<(), Misfit> {
    let new = sound(replacement)?;
    let version = |class: &ClassFile<'_>| (class.major_version, class.minor_version);
    let interfaces = |class: &ClassFile<'_>| class.interface_names().map(<[u8]>::to_vec).collect::<Vec<_>>();
    for (what, is_same) in [
        ("name", original.name() == new.name()),
        ("superclass", original.super_name() == new.super_name()),
        ("interfaces", interfaces(original) == interfaces(&new)),
        ("flags", original.access_flags == new.access_flags),
        ("version", version(original) == version(&new)),
    ] {
        if !is_same {
            return Err(Misfit::Changed(what));
        }
    }
    if let Some(field) = kept(&original.fields, &new.fields)?.first() {
        return Err(Misfit::AddedField(shown(field)));
    }
    // Its callers count its one bytecode, and HotSpot registers finalizable objects at its return.
    if original.name() == b"java/lang/Object" && constructor(original)? != constructor(&new)? {
        return Err(Misfit::Changed("constructor"));
    }
    for method in kept(&original.methods, &new.methods)? {
        let flags = access::ABSTRACT | access::NATIVE | access::PRIVATE;
        let has_room = !new.is_interface() || new.major_version >= PRIVATE_IN_INTERFACES;
        if method.access_flags & flags != access::PRIVATE || method.name.starts_with(b"<") || !has_room {
            return Err(Misfit::AddedMethod(shown(method)));
        }
    }
    Ok(())
}

/// Checks that a class may be added to the class library for inserted code to call. Returns its
/// name.
pub fn check_runtime(bytes: &[u8]) -> Result<String, Misfit> {
    let class = sound(bytes)?;
    let name = lossy(class.name());
    let is_ours = OWN_CLASSES.contains(&class.name());
    if name.starts_with(RUNTIME_PACKAGE) && !is_ours { Ok(name) } else { Err(Misfit::NotInPackage(name)) }
}

/// Parses a class file and checks it for faults that rewriting would hide; every instruction can be
/// read.
fn sound(bytes: &[u8]) -> Result<ClassFile<'_>, Misfit> {
    let class = ClassFile::parse(bytes)?;
    wellformed::check(&class).map_err(|e| class.locate(e))?;
    for method in &class.methods {
        let has_body = !(method.is(access::ABSTRACT) || method.is(access::NATIVE));
        let code = Code::of(&class, method).map_err(|e| class.locate(method.locate(e)))?;
        if code.is_some() != has_body {
            return Err(Misfit::Member(shown(method)));
        }
    }
    Ok(class)
}

/// The bytes of the first constructor's code.
fn constructor(class: &ClassFile<'_>) -> Result<Option<Vec<u8>>, Misfit> {
    let Some(method) = class.methods.iter().find(|method| method.name == b"<init>") else { return Ok(None) };
    Ok(Code::of(class, method)?.map(|code| code.bytes.to_vec()))
}

/// The members after those of the original, all of which must exist.
fn kept<'n, 'a>(old: &[Member<'_>], new: &'n [Member<'a>]) -> Result<&'n [Member<'a>], Misfit> {
    for (index, member) in old.iter().enumerate() {
        let is_same = |other: &Member<'_>| {
            (other.name, other.descriptor, other.access_flags)
                == (member.name, member.descriptor, member.access_flags)
        };
        if !new.get(index).is_some_and(is_same) {
            return Err(Misfit::Member(shown(member)));
        }
    }
    Ok(&new[old.len()..])
}

fn shown(member: &Member<'_>) -> String {
    member.name_and_type().to_string()
}
