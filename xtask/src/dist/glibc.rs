//! Finds the version of glibc that a program needs: the highest version among the glibc symbols
//! that it uses (`.gnu.version_r`).

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow, ensure};
use object::Endianness;
use object::read::elf::ElfFile64;
use xtask_tools::print::print_line;

/// A version of glibc, such as 2.28.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl Version {
    /// Parses a symbol version such as `GLIBC_2.2.5`. Ignores the third number, which never
    /// matters. Returns `None` for symbols of other libraries, such as `GCC_3.0`.
    fn of_symbol(text: &str) -> Option<Version> {
        let mut numbers = text.strip_prefix("GLIBC_")?.split('.').map(str::parse);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(Version { major, minor })
    }
}

/// The newest version that one of these files needs. Prints a line for each.
///
/// # Errors
/// Fails if a file is not a 64-bit ELF file, or if no file needs glibc.
pub fn needed_by_all(files: &[&Path]) -> Result<Version> {
    let mut newest = None;
    for path in files {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let needed = needed(&bytes).with_context(|| path.display().to_string())?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let shown = needed.map_or("none".to_owned(), |version| version.to_string());
        print_line(&format!("{:>12} bytes, glibc {shown:<5} {name}", bytes.len()))?;
        newest = newest.max(needed);
    }
    newest.context("no file takes a symbol with a version from glibc")
}

/// Checks that the packages need no newer version of glibc than promised.
///
/// # Errors
/// Fails if `needed` is newer than `promised`.
pub fn check(needed: Version, promised: Version) -> Result<()> {
    ensure!(needed <= promised, "the files need glibc {needed}; the packages promise {promised}");
    Ok(())
}

/// The version of glibc that a file needs; `None` if it uses no glibc symbol.
fn needed(bytes: &[u8]) -> Result<Option<Version>> {
    let elf = ElfFile64::<Endianness>::parse(bytes).context("not an ELF file of 64 bits")?;
    let (endian, sections) = (elf.endian(), elf.elf_section_table());
    let Some((mut libraries, link)) = sections.gnu_verneed(endian, bytes)? else { return Ok(None) };
    let strings = sections.strings(endian, bytes, link)?;
    let mut newest = None;
    while let Some((_, mut symbols)) = libraries.next()? {
        while let Some(symbol) = symbols.next()? {
            let name = symbol.name(endian, strings)?;
            let name = std::str::from_utf8(name).map_err(|_| anyhow!("a version that is not UTF-8"))?;
            newest = newest.max(Version::of_symbol(name));
        }
    }
    Ok(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let version = |text| Version::of_symbol(text).unwrap();
        assert!(version("GLIBC_2.4") < version("GLIBC_2.28"));
        assert_eq!(version("GLIBC_2.2.5"), Version { major: 2, minor: 2 });
        assert_eq!(Version::of_symbol("GCC_3.0"), None);
        let promised = Version { major: 2, minor: 28 };
        assert!(check(version("GLIBC_2.28"), promised).is_ok());
        let error = check(version("GLIBC_2.34"), promised).unwrap_err().to_string();
        assert!(error.contains("need glibc 2.34"), "{error}");
    }

    #[test]
    fn this_program_needs_glibc() {
        let bytes = fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(needed(&bytes).unwrap() >= Some(Version { major: 2, minor: 2 }));
        assert!(needed(b"no ELF file").is_err());
    }
}
