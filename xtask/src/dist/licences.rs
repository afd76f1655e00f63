//! The licences of all linked code, as one text: a list of the crates with their licences, then
//! each licence text once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use walkdir::WalkDir;
use xtask_tools::process;

use super::linked_crates::{Crate, LinkedCrates};

/// First parts of the names of licence files, in lower case.
const NAMES: [&str; 6] = ["license", "licence", "copying", "notice", "unlicense", "copyright"];

/// Extensions of files that are not licence texts, although their names match.
const OTHER_EXTENSIONS: [&str; 9] = ["rs", "toml", "json", "py", "c", "h", "yml", "yaml", "sh"];

/// Files of the compiler's documentation that contain the licences of the standard library.
const STANDARD_LIBRARY_LICENCES: [&str; 5] =
    ["MIT.txt", "Apache-2.0.txt", "BSD-2-Clause.txt", "Unicode-3.0.txt", "LLVM-exception.txt"];

/// Files of Zig's package that contain the licences of the code that Zig adds, relative to Zig's
/// home.
const ZIG_LICENCES: [&str; 2] = ["LICENSE", "lib/libunwind/LICENSE.TXT"];

/// The start of the text.
const HEAD: &str = "\
Licences of third-party software in cctrewrite
==============================================

cctrewrite itself is licensed under the Apache License 2.0. Its programs contain the software below. \"A OR B\"
means that you may choose. The sources of each crate are on crates.io under its name and version.
";

/// Folder of the workspace with the licence texts of crates whose packages have none; each file is
/// named like its crate.
const OWN_TEXTS: &str = "packaging/licences";

/// Linked code that is not a crate.
struct LinkedLibrary {
    what: String,
    license: &'static str,
    texts: Vec<PathBuf>,
}

/// Builds the text. `zig` is Zig's home, if Zig was the linker.
///
/// # Errors
/// Fails if a licence cannot be found.
pub fn text(linked: &LinkedCrates, zig: Option<&Path>) -> Result<String> {
    let mut texts = Texts::default();
    let mut list = String::new();
    for krate in &linked.crates {
        let numbers = texts.add_all(&of_crate(krate)?)?;
        let Crate { id, license, repository, .. } = krate;
        writeln!(list, "\n{} {}\n    licence: {license}", id.name, id.version)?;
        if let Some(repository) = repository {
            writeln!(list, "    sources: {repository}")?;
        }
        writeln!(list, "    texts:   {numbers}")?;
    }
    for LinkedLibrary { what, license, texts: files } in others(zig)? {
        let numbers = texts.add_all(&files)?;
        writeln!(list, "\n{what}\n    licence: {license}\n    texts:   {numbers}")?;
    }
    Ok(format!("{HEAD}{list}{}", texts.text()))
}

/// Linked code that is not a crate: the standard library, and the code that Zig adds.
fn others(zig: Option<&Path>) -> Result<Vec<LinkedLibrary>> {
    let version = process::output(std::process::Command::new("rustc").arg("--version"))?;
    let sysroot = process::output(std::process::Command::new("rustc").args(["--print", "sysroot"]))?;
    let docs = Path::new(sysroot.trim()).join("share/doc/rust/licenses");
    let mut others = vec![LinkedLibrary {
        what: format!("the standard library of {}", version.trim()),
        license: "MIT OR Apache-2.0, parts under BSD-2-Clause, Unicode-3.0 or Apache-2.0 WITH LLVM-exception",
        texts: STANDARD_LIBRARY_LICENCES.iter().map(|name| docs.join(name)).collect(),
    }];
    if let Some(zig) = zig {
        others.push(LinkedLibrary {
            what: "compiler-rt and libunwind of Zig".to_owned(),
            license: "MIT; Apache-2.0 WITH LLVM-exception",
            texts: ZIG_LICENCES.iter().map(|name| zig.join(name)).collect(),
        });
    }
    Ok(others)
}

/// The licence files in a crate's package, including those of its C sources. If there are none, the
/// crate's file in [`OWN_TEXTS`].
fn of_crate(krate: &Crate) -> Result<Vec<PathBuf>> {
    let mut found = below(&krate.folder, usize::MAX)?;
    found.retain(|path| is_license(path));
    if found.is_empty() {
        let own = xtask_tools::workspace::root().join(OWN_TEXTS).join(&krate.id.name);
        ensure!(
            own.is_file(),
            "{} {} has no file with its licence ({}); put its text into {OWN_TEXTS}/{}",
            krate.id.name,
            krate.id.version,
            krate.license,
            krate.id.name
        );
        found.push(own);
    }
    Ok(found)
}

/// All files below a folder, sorted.
fn below(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in WalkDir::new(folder).max_depth(depth).sort_by_file_name() {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        if entry.file_type().is_file() {
            found.push(entry.into_path());
        }
    }
    Ok(found)
}

fn is_license(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    NAMES.iter().any(|start| name.starts_with(start)) && !OTHER_EXTENSIONS.contains(&&*ending)
}

/// Distinct texts, numbered from 1 in the order in which they were first seen.
#[derive(Default)]
struct Texts {
    numbers: BTreeMap<String, usize>,
}

impl Texts {
    /// Adds the texts of these files; returns their numbers as a list.
    fn add_all(&mut self, files: &[PathBuf]) -> Result<String> {
        let mut numbers = Vec::new();
        for file in files {
            let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            let text = normal(&String::from_utf8_lossy(&text));
            if text.is_empty() {
                continue;
            }
            let next = self.numbers.len() + 1;
            let number = *self.numbers.entry(text).or_insert(next);
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        Ok(numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
    }

    fn text(&self) -> String {
        let mut sorted: Vec<(usize, &String)> =
            self.numbers.iter().map(|(text, number)| (*number, text)).collect();
        sorted.sort_unstable();
        let part =
            |(number, text): (usize, &String)| format!("\n{:-^78}\n\n{text}\n", format!(" text {number} "));
        sorted.into_iter().map(part).collect()
    }
}

/// The text without trailing blanks and without blank lines at its start and end. Copies of the
/// same licence differ in these.
fn normal(text: &str) -> String {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_licences_are_known() {
        for name in [
            "LICENSE",
            "LICENSE-MIT",
            "license.txt",
            "COPYING",
            "NOTICE.md",
            "LICENSE.Apache-2.0",
            "UNLICENSE",
        ] {
            assert!(is_license(Path::new(name)), "{name}");
        }
        for name in ["license.rs", "Cargo.toml", "licenses.json", "README.md"] {
            assert!(!is_license(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn equal_texts_appear_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let (one, same, other) =
            (file("a", "MIT \r\nfree\n"), file("b", "\nMIT\nfree\n\n"), file("c", "Apache"));
        let mut texts = Texts::default();
        assert_eq!(texts.add_all(&[one.clone(), other]).unwrap(), "1, 2");
        assert_eq!(texts.add_all(&[same, one]).unwrap(), "1");
        assert_eq!(texts.text().matches("MIT\nfree").count(), 1);
    }

    #[test]
    fn every_crate_has_its_text() {
        let text = text(&LinkedCrates::list().unwrap(), None).unwrap();
        assert!(text.contains("\nanyhow 1.") && text.contains("\ninferno 0."), "{}", &text[..2_000]);
        // The allocator's C sources have a licence of their own.
        assert!(text.contains("Microsoft Corporation, Daan Leijen"));
        assert!(text.contains("COMMON DEVELOPMENT AND DISTRIBUTION LICENSE"));
        assert!(!text.contains("texts:   \n"));
    }
}
