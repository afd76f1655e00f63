//! Binding an unpacked JDK to the C library of its own release.
//!
//! Debian's newer packages are linked against a newer C library than an older machine has. That
//! library cannot simply be put on `LD_LIBRARY_PATH`: the programs that a JVM starts would inherit
//! it. So each ELF file of the JDK gets the new dynamic loader as its interpreter. Its run path
//! (ld.so(8)) gets the folder of the new libraries.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use walkdir::WalkDir;

use super::folder::{replace, stamp};
use crate::debian::{Archive, unpack};
use crate::process;

/// The libraries of the JVM's native code: the C library first, then C++, its exception handling,
/// and zlib. Loading any of them from the machine could mix two releases of one library.
const LIBRARIES: [&str; 4] = ["libc6", "libgcc-s1", "libstdc++6", "zlib1g"];

/// Makes the JDK at `home` use the C library of `suite`, if the machine's is older. Returns the
/// folder of the libraries if it does.
///
/// If the C library is as new as the suite's, nothing changes: JNI libraries that are built on the
/// machine may need the newer one.
///
/// # Errors
/// Fails if the libraries are missing, or a file cannot be changed.
pub fn bind_c_library(archive: &mut Archive, suite: &str, home: &Path) -> Result<Option<PathBuf>> {
    let versions = archive.versions(suite, &LIBRARIES)?;
    let [of_suite, ..] = versions.as_slice() else { return Ok(None) };
    if machines_c_library().is_some_and(|machine| Some(machine) >= major_minor(of_suite)) {
        return Ok(None);
    }
    let libraries = install(archive, suite, &versions)?;
    let patchelf = Patchelf::unpack(archive, suite, &libraries)?;
    eprintln!("  binding it to the C library {of_suite}");
    for entry in WalkDir::new(home).sort_by_file_name() {
        let entry = entry?;
        if entry.file_type().is_file() && is_linked_elf(entry.path())? {
            patchelf.bind(entry.path())?;
        }
    }
    Ok(Some(libraries.folder))
}

/// Unpacked libraries in the store; all JDKs of the same suite share them.
struct Libraries {
    folder: PathBuf,
    /// The dynamic loader among them.
    loader: PathBuf,
}

impl Libraries {
    fn at(folder: PathBuf) -> Result<Libraries> {
        let names = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
        let is_loader =
            |path: &PathBuf| path.file_name().is_some_and(|name| is_loader(&name.to_string_lossy()));
        let loader = names.into_iter().find(is_loader);
        let loader = loader.with_context(|| format!("no dynamic loader in {}", folder.display()))?;
        Ok(Libraries { folder, loader })
    }
}

/// Puts the libraries of these `versions` into the store, unless they are there.
fn install(archive: &mut Archive, suite: &str, versions: &[String]) -> Result<Libraries> {
    let folder = archive.store().join(folder_name(versions));
    if !folder.exists() {
        let work = archive.temporary_folder()?;
        let packages = archive.download(suite, &LIBRARIES)?;
        unpack(&packages, &work.path().join("root"))?;
        let new = work.path().join("libraries");
        fs::create_dir(&new)?;
        for entry in WalkDir::new(work.path().join("root")).sort_by_file_name() {
            let path = entry?.into_path();
            let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
                continue;
            };
            // A loader also has a link at its standard path, which leads out of here.
            if is_soname(&name) && path.exists() && !new.join(&name).exists() {
                fs::copy(&path, new.join(&name)).with_context(|| format!("copy {}", path.display()))?;
            }
        }
        stamp(&new, suite, packages.iter(), None)?;
        replace(&new, &folder, work.path())?;
    }
    Libraries::at(folder)
}

/// `patchelf`, from the same suite. It runs on that suite's own C library, by its loader.
struct Patchelf<'a> {
    program: PathBuf,
    libraries: &'a Libraries,
    /// The folder with `program`.
    _work: tempfile::TempDir,
}

impl<'a> Patchelf<'a> {
    fn unpack(archive: &mut Archive, suite: &str, libraries: &'a Libraries) -> Result<Patchelf<'a>> {
        let work = archive.temporary_folder()?;
        unpack(&archive.download(suite, &["patchelf"])?, work.path())?;
        Ok(Patchelf { program: work.path().join("usr/bin/patchelf"), libraries, _work: work })
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.libraries.loader);
        command.arg("--library-path").arg(&self.libraries.folder).arg(&self.program);
        command
    }

    /// Gives one ELF file the libraries and, if it is a program, the loader.
    fn bind(&self, file: &Path) -> Result<()> {
        let context = || format!("bind {} to the C library", file.display());
        let own = process::output(self.command().arg("--print-rpath").arg(file)).with_context(context)?;
        let libraries = self.libraries.folder.display();
        let path = match own.trim() {
            "" => libraries.to_string(),
            own => format!("{own}:{libraries}"),
        };
        let mut set = self.command();
        // DT_RPATH, not DT_RUNPATH: it also applies to the dependencies of this file's libraries.
        set.args(["--force-rpath", "--set-rpath", &path]);
        // A shared library has no interpreter to print.
        if process::run(self.command().arg("--print-interpreter").arg(file))?.status.success() {
            set.arg("--set-interpreter").arg(&self.libraries.loader);
        }
        process::output(set.arg(file)).with_context(context)?;
        Ok(())
    }
}

/// Whether `file` is an ELF program or shared library (ELF specification, `e_ident` and `e_type`).
fn is_linked_elf(file: &Path) -> Result<bool> {
    const ET_EXEC: u16 = 2;
    const ET_DYN: u16 = 3;
    let mut header = Vec::new();
    File::open(file)?
        .take(18)
        .read_to_end(&mut header)
        .with_context(|| format!("read {}", file.display()))?;
    let [0x7f, b'E', b'L', b'F', _, order, .., low, high] = header[..] else { return Ok(false) };
    let e_type = if order == 2 { u16::from_be_bytes([low, high]) } else { u16::from_le_bytes([low, high]) };
    Ok(header.len() == 18 && [ET_EXEC, ET_DYN].contains(&e_type))
}

/// Whether `name` is one under which programs request a library: it ends in `.so.` and a number.
fn is_soname(name: &str) -> bool {
    let number = name.rsplit_once(".so.").map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether `name` is that of the dynamic loader: `ld-linux-x86-64.so.2`, `ld64.so.2`, ...
fn is_loader(name: &str) -> bool {
    is_soname(name) && (name.starts_with("ld-") || name.starts_with("ld64."))
}

/// The folder of these versions in the store. Run paths cannot contain a `:`, which Debian's
/// versions can.
fn folder_name(versions: &[String]) -> String {
    format!("libraries-{}", versions.join("_").replace(':', "."))
}

/// The version of the C library of this machine's programs; `None` if it is not the GNU one.
fn machines_c_library() -> Option<(u32, u32)> {
    let said = process::output(Command::new("getconf").arg("GNU_LIBC_VERSION")).ok()?;
    major_minor(said.trim().strip_prefix("glibc ")?)
}

/// The first two numbers of a version: (2, 41) for `2.41-12`.
fn major_minor(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split(|c: char| !c.is_ascii_digit()).map(|digits| digits.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_library_versions_compare_as_numbers() {
        assert_eq!(major_minor("2.41-12"), Some((2, 41)));
        assert!(major_minor("2.9") < major_minor("2.36-9+deb12u14"));
        assert_eq!(major_minor("musl"), None);
    }

    #[test]
    fn sonames_and_loaders_are_told_from_other_files() {
        for name in ["libc.so.6", "libstdc++.so.6", "ld-linux-x86-64.so.2", "ld64.so.2"] {
            assert!(is_soname(name), "{name}");
        }
        for name in ["libmemusage.so", "libz.so.1.3.1", "libstdc++.so.6.0.33-gdb.py", "x.so."] {
            assert!(!is_soname(name), "{name}");
        }
        assert!(is_loader("ld-linux-aarch64.so.1") && is_loader("ld64.so.2") && !is_loader("libdl.so.2"));
    }

    #[test]
    fn folder_names_fit_into_a_run_path() {
        assert_eq!(folder_name(&["2.41-12".into(), "1:1.3-1".into()]), "libraries-2.41-12_1.1.3-1");
    }

    #[test]
    fn only_programs_and_libraries_are_linked_elf() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let mut header = *b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0";
        let check = |bytes: &[u8]| {
            fs::write(&file, bytes).unwrap();
            is_linked_elf(&file).unwrap()
        };
        assert!(check(&header), "a shared library");
        header[16] = 1;
        assert!(!check(&header), "an object file");
        assert!(!check(b"\x7fELF"));
        assert!(!check(b"#!/bin/sh\nexec java"));
        assert!(!check(b""));
    }

    #[test]
    fn an_incomplete_folder_of_libraries_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("libc.so.6"), "").unwrap();
        assert!(Libraries::at(folder.path().to_owned()).is_err());
        fs::write(folder.path().join("ld-linux-x86-64.so.2"), "").unwrap();
        let found = Libraries::at(folder.path().to_owned()).unwrap();
        assert_eq!(found.loader.file_name().unwrap(), "ld-linux-x86-64.so.2");
    }
}
