//! Source files and lines of methods, from the class files of the class path: annotations of CI
//! servers point to them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use cct_classfile::attributes::AttributeInfo;
use cct_classfile::{Attributes, ClassFile, Code, ConstantPool, Member, mutf8};
use walkdir::WalkDir;

/// A larger class file is not read.
const LARGEST_CLASS: u64 = 64 << 20;

/// The search for a source file stops after so many files and folders.
const FILES: usize = 200_000;

/// The place of a method in the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceLine {
    /// The file's path below the current folder, if it is there; else the package's folders and the
    /// name from the class file.
    pub file: String,
    /// The method's first line with code.
    pub line: u16,
}

/// The class path of a program, and the folder that may have its sources.
#[derive(Debug)]
pub struct Sources {
    class_path: OsString,
    root: PathBuf,
}

impl Sources {
    /// The sources of a class path, to be sought below the current folder.
    pub fn of(class_path: &OsStr) -> Sources {
        Sources { class_path: class_path.to_owned(), root: PathBuf::from(".") }
    }

    /// The place of a method that is named as in a list of contexts, `app.A$B.run(I)V`. `None` if
    /// its class is not on the class path, or has no line numbers.
    pub fn find(&self, method: &str) -> Option<SourceLine> {
        let (name, descriptor) = method.split_at(method.find('(')?);
        let (class, name) = name.rsplit_once('.')?;
        let class = class.replace('.', "/");
        let bytes = std::env::split_paths(&self.class_path)
            .find_map(|entry| class_bytes(&entry, &format!("{class}.class")))?;
        let parsed = ClassFile::parse(&bytes).ok()?;
        let is_it = |member: &&Member<'_>| {
            member.name == &*mutf8::encode(name) && member.descriptor == &*mutf8::encode(descriptor)
        };
        let line = first_line(&parsed, parsed.methods.iter().find(is_it)?)?;
        let file = source_file(&parsed.attributes, &parsed.pool)?;
        let file = class.rsplit_once('/').map_or(file.clone(), |(package, _)| format!("{package}/{file}"));
        Some(SourceLine { file: self.below_root(&file).unwrap_or(file), line })
    }

    /// The file below the root whose path ends like `file`; the shortest, then the first by name.
    fn below_root(&self, file: &str) -> Option<String> {
        let is_hidden = |name: &OsStr| name.len() > 1 && name.as_encoded_bytes().starts_with(b".");
        let walk = WalkDir::new(&self.root).sort_by_file_name().into_iter();
        let walk = walk.filter_entry(move |entry| entry.depth() == 0 || !is_hidden(entry.file_name()));
        let found = walk.take(FILES).flatten().filter(|entry| entry.file_type().is_file());
        let found = found.filter_map(|entry| {
            let path = entry.path().strip_prefix(&self.root).ok()?;
            path.ends_with(file).then(|| path.to_str().map(str::to_owned)).flatten()
        });
        found.min_by_key(|path| path.len())
    }
}

/// A file of a folder or jar of the class path.
fn class_bytes(entry: &Path, name: &str) -> Option<Vec<u8>> {
    if entry.is_dir() {
        return fs::read(entry.join(name)).ok();
    }
    let mut archive = zip::ZipArchive::new(File::open(entry).ok()?).ok()?;
    let mut bytes = Vec::new();
    archive.by_name(name).ok()?.take(LARGEST_CLASS).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

fn source_file(attributes: &Attributes<'_>, pool: &ConstantPool<'_>) -> Option<String> {
    match AttributeInfo::parse(attributes.find(b"SourceFile")?, pool).ok()? {
        AttributeInfo::SourceFile(name) => {
            let name = mutf8::decode_lossy(pool.utf8(name.0).ok()?).into_owned();
            (!name.contains(['/', '\\'])).then_some(name)
        }
        _ => None,
    }
}

fn first_line(class: &ClassFile<'_>, method: &Member<'_>) -> Option<u16> {
    let code = Code::of(class, method).ok()??;
    let table = code.attributes.find(b"LineNumberTable")?;
    match AttributeInfo::parse(table, &class.pool).ok()? {
        AttributeInfo::LineNumberTable(lines) => lines.iter().map(|line| line.line).min(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_found_in_folders_and_jars() {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/bench/before");
        let classes = fixture.join("classes");
        let folder = tempfile::tempdir().unwrap();
        let jar = folder.path().join("work.jar");
        let mut writer = zip::ZipWriter::new(File::create(&jar).unwrap());
        writer.start_file("Work.class", zip::write::SimpleFileOptions::default()).unwrap();
        std::io::Write::write_all(&mut writer, &fs::read(classes.join("Work.class")).unwrap()).unwrap();
        writer.finish().unwrap();
        let source = fs::read_to_string(fixture.join("Work.java")).unwrap();
        let first = source.lines().position(|line| line.contains("int n = 0;")).unwrap() as u16 + 1;
        for class_path in [classes.clone(), jar] {
            let sources = Sources { class_path: class_path.into(), root: fixture.clone() };
            let expected = SourceLine { file: "Work.java".to_owned(), line: first };
            assert_eq!(sources.find("Work.loop()V"), Some(expected));
            for missing in ["Work.loop(I)V", "Work.none()V", "Other.loop()V", "(library)", ""] {
                assert_eq!(sources.find(missing), None, "{missing}");
            }
        }
        // Elsewhere, the name in the class file remains.
        let elsewhere = Sources { class_path: classes.into(), root: folder.path().to_owned() };
        assert_eq!(elsewhere.find("Work.loop()V").unwrap().file, "Work.java");
        let deeper = Sources { root: fixture.join(".."), ..elsewhere };
        assert_eq!(deeper.find("Work.loop()V").unwrap().file, "after/Work.java");
    }
}
