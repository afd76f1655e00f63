//! Modules: the declaration of JVMS 4.7.25, and the attributes that the JDK's tools add
//! (`ModuleResolution`, `ModuleHashes`; `ModuleTarget` is a plain name). The formats of the latter
//! are those of `jdk.internal.module.ClassFileConstants`.

use crate::bytes::PutBytes;
use crate::constant_pool::{ConstantPool, Index};
use crate::error::{ErrorKind, Result};

use super::constants::ClassIndex;
use super::structure::{Reader, Structure};

/// Flags of `ModuleResolution`.
#[allow(missing_docs)]
pub mod resolution {
    pub const DO_NOT_RESOLVE_BY_DEFAULT: u16 = 0x0001;
    pub const WARN_DEPRECATED: u16 = 0x0002;
    pub const WARN_DEPRECATED_FOR_REMOVAL: u16 = 0x0004;
    pub const WARN_INCUBATING: u16 = 0x0008;
}

/// Index of a `CONSTANT_Module`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleIndex(pub Index);

/// Index of a `CONSTANT_Package`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackageIndex(pub Index);

/// A module's declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Module {
    /// `CONSTANT_Module` of the module itself.
    pub name: Index,
    /// `ACC_OPEN` (0x0020), `ACC_SYNTHETIC`, `ACC_MANDATED`.
    pub flags: u16,
    /// Index of its version; 0 for none.
    pub version: Index,
    /// Modules it depends on.
    pub requires: Vec<RequiredModule>,
    /// Packages that others may use.
    pub exports: Vec<PackageAccess>,
    /// Packages that others may reflect upon.
    pub opens: Vec<PackageAccess>,
    /// Services it looks up.
    pub uses: Vec<ClassIndex>,
    /// Services it implements.
    pub provides: Vec<ProvidedService>,
}

/// A required module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequiredModule {
    /// `CONSTANT_Module` of the required module.
    pub module: Index,
    /// `ACC_TRANSITIVE` (0x0020), `ACC_STATIC_PHASE` (0x0040), `ACC_SYNTHETIC`, `ACC_MANDATED`.
    pub flags: u16,
    /// Index of the version it had at compile time; 0 for none.
    pub version: Index,
}

/// A package that is exported or opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageAccess {
    /// `CONSTANT_Package` of the package.
    pub package: Index,
    /// `ACC_SYNTHETIC`, `ACC_MANDATED`.
    pub flags: u16,
    /// The modules that may use it; empty for all.
    pub to: Vec<ModuleIndex>,
}

/// A service that is implemented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvidedService {
    /// `CONSTANT_Class` of the service.
    pub service: Index,
    /// The classes that implement it.
    pub with: Vec<ClassIndex>,
}

/// Hashes of other modules, by one algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleHashes<'a> {
    /// Index of the algorithm's name, such as `SHA-256`.
    pub algorithm: Index,
    /// The hashes.
    pub hashes: Vec<ModuleHash<'a>>,
}

/// The hash of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModuleHash<'a> {
    /// `CONSTANT_Module` of the module.
    pub module: Index,
    /// Hash of the module.
    pub hash: &'a [u8],
}

impl<'a> Structure<'a> for ModuleIndex {
    const MIN_LENGTH: usize = 2;
    const PLURAL: &'static str = "modules";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        r.index(ConstantPool::module).map(ModuleIndex)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        self.0.write(out)
    }
}

impl<'a> Structure<'a> for PackageIndex {
    const MIN_LENGTH: usize = 2;
    const PLURAL: &'static str = "packages";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        r.index(ConstantPool::package).map(PackageIndex)
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        self.0.write(out)
    }
}

impl<'a> Structure<'a> for Module {
    const MIN_LENGTH: usize = 16;
    const PLURAL: &'static str = "module declarations";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(Module {
            name: r.index(ConstantPool::module)?,
            flags: r.u2()?,
            version: r.optional_index(ConstantPool::utf8)?,
            requires: r.read()?,
            exports: r.read()?,
            opens: r.read()?,
            uses: r.read()?,
            provides: r.read()?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.name);
        out.put2(self.flags);
        out.put2(self.version);
        self.requires.write(out)?;
        self.exports.write(out)?;
        self.opens.write(out)?;
        self.uses.write(out)?;
        self.provides.write(out)
    }
}

impl<'a> Structure<'a> for RequiredModule {
    const MIN_LENGTH: usize = 6;
    const PLURAL: &'static str = "required modules";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(RequiredModule {
            module: r.index(ConstantPool::module)?,
            flags: r.u2()?,
            version: r.optional_index(ConstantPool::utf8)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.module);
        out.put2(self.flags);
        out.put2(self.version);
        Ok(())
    }
}

impl<'a> Structure<'a> for PackageAccess {
    const MIN_LENGTH: usize = 6;
    const PLURAL: &'static str = "exported or opened packages";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(PackageAccess { package: r.index(ConstantPool::package)?, flags: r.u2()?, to: r.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.package);
        out.put2(self.flags);
        self.to.write(out)
    }
}

impl<'a> Structure<'a> for ProvidedService {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "provided services";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(ProvidedService { service: r.index(ConstantPool::class)?, with: r.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.service);
        self.with.write(out)
    }
}

impl<'a> Structure<'a> for ModuleHashes<'a> {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "tables of module hashes";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        Ok(ModuleHashes { algorithm: r.index(ConstantPool::utf8)?, hashes: r.read()? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        out.put2(self.algorithm);
        self.hashes.write(out)
    }
}

impl<'a> Structure<'a> for ModuleHash<'a> {
    const MIN_LENGTH: usize = 4;
    const PLURAL: &'static str = "module hashes";

    fn read(r: &mut Reader<'a, '_>) -> Result<Self> {
        let module = r.index(ConstantPool::module)?;
        let length = r.u2()?;
        Ok(ModuleHash { module, hash: r.take(usize::from(length))? })
    }

    fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let length =
            u16::try_from(self.hash.len()).map_err(|_| ErrorKind::TooMany("bytes in a module's hash"))?;
        out.put2(self.module);
        out.put2(length);
        out.extend_from_slice(self.hash);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::AttributeInfo;
    use super::super::testing::{CLASS, MODULE, PACKAGE, UTF8, expect_bad_index, round_trip};
    use super::*;

    #[test]
    fn a_declaration_with_one_of_everything() {
        #[rustfmt::skip]
        let bytes = [
            0, MODULE, 0, 0x20, 0, UTF8,
            0, 1, 0, MODULE, 0x80, 0, 0, 0, // requires
            0, 1, 0, PACKAGE, 0, 0, 0, 1, 0, MODULE, // exports
            0, 1, 0, PACKAGE, 0, 0, 0, 0, // opens
            0, 1, 0, CLASS, // uses
            0, 1, 0, CLASS, 0, 1, 0, CLASS, // provides
        ];
        let info = round_trip(b"Module", &bytes);
        let (class, package) = (u16::from(CLASS), u16::from(PACKAGE));
        let expected = Module {
            name: MODULE.into(),
            flags: 0x20,
            version: UTF8.into(),
            requires: vec![RequiredModule { module: MODULE.into(), flags: 0x8000, version: 0 }],
            exports: vec![PackageAccess { package, flags: 0, to: vec![ModuleIndex(MODULE.into())] }],
            opens: vec![PackageAccess { package, flags: 0, to: vec![] }],
            uses: vec![ClassIndex(class)],
            provides: vec![ProvidedService { service: class, with: vec![ClassIndex(class)] }],
        };
        assert_eq!(info, AttributeInfo::Module(expected));
        // Each index in turn names a constant of the wrong kind.
        for at in [0, 4, 8, 12, 16, 22, 26, 34, 38, 42] {
            let mut wrong = bytes;
            let is_utf8 = wrong[at + 1] == UTF8 || at == 12;
            wrong[at + 1] = if is_utf8 { CLASS } else { UTF8 };
            expect_bad_index(b"Module", &wrong, at);
        }
    }

    #[test]
    fn packages_hashes_and_resolution() {
        round_trip(b"ModulePackages", &[0, 1, 0, PACKAGE]);
        expect_bad_index(b"ModulePackages", &[0, 1, 0, MODULE], 2);
        round_trip(b"ModuleMainClass", &[0, CLASS]);
        round_trip(b"ModuleTarget", &[0, UTF8]);
        let flags = resolution::DO_NOT_RESOLVE_BY_DEFAULT | resolution::WARN_INCUBATING;
        assert_eq!(round_trip(b"ModuleResolution", &[0, 9]), AttributeInfo::ModuleResolution(flags));
        let info = round_trip(b"ModuleHashes", &[0, UTF8, 0, 1, 0, MODULE, 0, 3, 7, 8, 9]);
        let hashes = vec![ModuleHash { module: MODULE.into(), hash: &[7, 8, 9] }];
        assert_eq!(info, AttributeInfo::ModuleHashes(ModuleHashes { algorithm: UTF8.into(), hashes }));
        expect_bad_index(b"ModuleHashes", &[0, UTF8, 0, 1, 0, CLASS, 0, 0], 4);
    }
}
