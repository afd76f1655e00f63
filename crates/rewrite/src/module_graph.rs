//! The modules that a JVM resolves for a program on the class path: needed where options name each
//! module to the JVM.
//!
//! The rule is the JDK's since version 11 (`jdk.internal.module.DefaultRoots` and
//! `java.lang.module.Configuration.resolveAndBind`). The roots are the modules that export a
//! package to everybody. They bring in the modules that they require, and the providers of services
//! that one of them uses.

use std::collections::{BTreeMap, BTreeSet};

use cct_classfile::attributes::{AttributeInfo, module};
use cct_classfile::{ClassFile, Result};

/// The relations of a module to others, from its descriptor (JVMS 4.7.25).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// Name of the module.
    pub name: Vec<u8>,
    /// Modules that it requires at run time.
    requires: Vec<Vec<u8>>,
    /// Whether it is a root.
    is_root: bool,
    /// Services that it looks up or provides.
    uses: Vec<Vec<u8>>,
    provides: Vec<Vec<u8>>,
}

/// `ACC_STATIC_PHASE`: required at compile time only.
const STATIC_PHASE: u16 = 0x0040;

impl Descriptor {
    /// Reads a `module-info`; `None` for other classes.
    pub fn read(class: &ClassFile<'_>) -> Result<Option<Descriptor>> {
        let pool = &class.pool;
        let mut found = None;
        let mut resolution = 0;
        for attribute in class.attributes.iter() {
            match AttributeInfo::parse(attribute, pool)? {
                AttributeInfo::Module(declared) => found = Some(declared),
                AttributeInfo::ModuleResolution(flags) => resolution = flags,
                _ => {}
            }
        }
        let Some(declared) = found else { return Ok(None) };
        let requires = declared.requires.iter().filter(|required| required.flags & STATIC_PHASE == 0);
        let exports_to_all = declared.exports.iter().any(|exported| exported.to.is_empty());
        Ok(Some(Descriptor {
            name: pool.module(declared.name)?.to_vec(),
            requires: requires
                .map(|required| pool.module(required.module).map(<[u8]>::to_vec))
                .collect::<Result<_>>()?,
            is_root: exports_to_all && resolution & module::resolution::DO_NOT_RESOLVE_BY_DEFAULT == 0,
            uses: declared
                .uses
                .iter()
                .map(|used| pool.class(used.0).map(<[u8]>::to_vec))
                .collect::<Result<_>>()?,
            provides: declared
                .provides
                .iter()
                .map(|provided| pool.class(provided.service).map(<[u8]>::to_vec))
                .collect::<Result<_>>()?,
        }))
    }
}

/// Names of the modules of a JDK that a JVM resolves for a program on the class path.
pub fn resolved(modules: &[Descriptor]) -> BTreeSet<&[u8]> {
    let by_name: BTreeMap<&[u8], &Descriptor> = modules.iter().map(|m| (&*m.name, m)).collect();
    let mut providers: BTreeMap<&[u8], Vec<&[u8]>> = BTreeMap::new();
    for module in modules {
        for service in &module.provides {
            providers.entry(service).or_default().push(&module.name);
        }
    }
    let mut resolved = BTreeSet::new();
    let mut due: Vec<&[u8]> = modules.iter().filter(|m| m.is_root).map(|m| &*m.name).collect();
    while let Some(name) = due.pop() {
        let Some(module) = by_name.get(name) else { continue };
        if resolved.insert(name) {
            due.extend(module.requires.iter().map(Vec::as_slice));
            due.extend(module.uses.iter().filter_map(|service| providers.get(&**service)).flatten());
        }
    }
    resolved
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(name: &str, is_root: bool, [requires, uses, provides]: [&[&str]; 3]) -> Descriptor {
        let list = |names: &[&str]| names.iter().map(|name| name.as_bytes().to_vec()).collect();
        Descriptor {
            name: name.into(),
            requires: list(requires),
            is_root,
            uses: list(uses),
            provides: list(provides),
        }
    }

    #[test]
    fn roots_bring_what_they_require_and_who_serves_them() {
        let modules = [
            module("base", true, [&[], &["Spi"], &[]]),
            module("root", true, [&["inner", "elsewhere"], &[], &[]]),
            module("inner", false, [&["base"], &["Deep"], &[]]),
            module("spi", false, [&["spi.inner"], &[], &["Spi"]]),
            module("spi.inner", false, [&[], &[], &[]]),
            module("deep", false, [&[], &[], &["Deep"]]),
            module("tool", false, [&["root"], &["Unused"], &["Tool"]]),
        ];
        let names: Vec<_> = resolved(&modules).into_iter().map(String::from_utf8_lossy).collect();
        assert_eq!(names, ["base", "deep", "inner", "root", "spi", "spi.inner"]);
    }
}
