//! The class files before rewriting, for agents: they see what they would see on a JVM that
//! rewrites nothing.
//!
//! Those of the program are kept, compressed, as soon as they are rewritten, since an agent may
//! attach at any time. Those of the class library are read from the JDK that the image was made
//! from, whose files the image names.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use cct_archive::Classes;
use cct_arena::IndexBytes;
use cct_classfile::constant_pool::tag;
use cct_classfile::{ClassFile, mutf8};
use cct_index::class_attribute::{ATTRIBUTE, ClassAttribute};
use cct_index::mid::ClassHash;
use cct_jdk::convention;

use crate::frames::class_by_name;
use crate::jni::{Env, jobject};
use crate::members::Members;
use crate::state::state;

/// The file in an image's own folder that names the files of the JDK's class library, one a line.
const FILES: &str = "lib/cctrewrite/originals";

/// The class file that an agent sees.
#[derive(Debug, PartialEq, Eq)]
pub enum VisibleClassFile {
    /// The class file as it is.
    AsItIs,
    /// The class file before rewriting.
    Original(Vec<u8>),
    /// The class was rewritten, and its original class file is not available, for this reason.
    Missing(&'static str),
}

/// The class file that an agent sees for one that `loader` (null for the boot class loader) defines
/// or has defined under this name.
pub fn shown(env: Env, loader: jobject, name: &[u8], file: &[u8], home: &Path) -> VisibleClassFile {
    let Ok(class) = ClassFile::parse(file) else { return VisibleClassFile::AsItIs };
    let hash = match ClassAttribute::of(&class) {
        Ok(Some(attribute)) => attribute.hash,
        Ok(None) if is_rewritten(&class) => {
            // From the JVM's memory, which drops attributes that the JVM does not know.
            let known = Members::find(env).and_then(|members| class_by_name(env, members, loader, name));
            let Some(known) = known else { return VisibleClassFile::Missing("the class is not known") };
            known.summary.hash
        }
        Ok(None) => return VisibleClassFile::AsItIs,
        Err(_) => return VisibleClassFile::Missing("it was made from a rewritten class file"),
    };
    if let Some(original) = state().originals.of_program(hash) {
        return VisibleClassFile::Original(original);
    }
    match of_library(home, &mutf8::decode_lossy(class.name())) {
        Some(original) if ClassHash::of(&original) == hash => VisibleClassFile::Original(original),
        Some(_) => VisibleClassFile::Missing("the JDK has changed since the image was made"),
        None => VisibleClassFile::Missing("the original files of the class are missing"),
    }
}

/// Whether code of a class was rewritten, even if the class attribute is lost: its constant pool
/// still has the attribute's name and names of helpers.
pub fn is_rewritten(class: &ClassFile<'_>) -> bool {
    let pool = &class.pool;
    let texts = || {
        pool.indices()
            .filter(|&index| pool.tag(index) == Some(tag::UTF8))
            .filter_map(|index| pool.utf8(index).ok())
    };
    class.attributes.find(ATTRIBUTE).is_some()
        || texts().any(|text| text == ATTRIBUTE) && texts().any(|text| text.starts_with(convention::PREFIX))
}

/// A class of the JDK that an image was made from.
fn of_library(home: &Path, name: &str) -> Option<Vec<u8>> {
    let parts = library(home);
    let found = parts.iter().find_map(|classes| classes.find(name).ok().flatten());
    found.map(Cow::into_owned)
}

/// The class library's files of the JDK that the image in this home was made from, opened once.
/// They stay mapped as long as the JVM lives.
fn library(home: &Path) -> &'static [Classes<'static>] {
    static LIBRARY: std::sync::OnceLock<Vec<Classes<'static>>> = std::sync::OnceLock::new();
    LIBRARY.get_or_init(|| {
        let list = fs::read_to_string(home.join(FILES)).unwrap_or_default();
        let open = |path: PathBuf| {
            let bytes = IndexBytes::of_file(path.to_str()?).ok()?;
            let bytes: &'static IndexBytes = Box::leak(Box::new(bytes));
            Classes::of(bytes.as_ref()).ok()
        };
        list.lines().filter_map(|line| open(PathBuf::from(line))).collect()
    })
}
