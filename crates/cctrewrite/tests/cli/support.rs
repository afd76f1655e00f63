//! Runs of the command, small handmade inputs, and snapshots.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};
use walkdir::WalkDir;
use zip::write::SimpleFileOptions;

/// The result of a run.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    // clap uses it as the width of the terminal.
    command.env_remove("COLUMNS").stdin(Stdio::null());
    command
}

/// Runs the command in a folder.
pub fn run(folder: &Path, arguments: &[&str]) -> Run {
    let output = command().current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

impl Run {
    pub fn succeeds(self) -> Run {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Checks exit code 1 and one line on standard error that contains these parts.
    pub fn fails_saying(self, parts: &[&str]) {
        assert_eq!((self.code, &*self.stdout), (Some(1), ""), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("cctrewrite: "), "{}", self.stderr);
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is not in {}", self.stderr);
        }
    }
}

pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// A class without members (JVMS 4.1). Without a superclass it is `java/lang/Object`.
pub fn class(name: &str, superclass: Option<&str>) -> Vec<u8> {
    let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52];
    let names: Vec<&str> = std::iter::once(name).chain(superclass).collect();
    out.extend((2 * names.len() as u16 + 1).to_be_bytes());
    for (i, name) in names.iter().enumerate() {
        out.push(1);
        out.extend((name.len() as u16).to_be_bytes());
        out.extend(name.as_bytes());
        out.push(7);
        out.extend((2 * i as u16 + 1).to_be_bytes());
    }
    let superclass = if superclass.is_some() { 4 } else { 0 };
    for field in [0x21u16, 2, superclass, 0, 0, 0, 0] {
        out.extend(field.to_be_bytes());
    }
    out
}

pub fn object() -> Vec<u8> {
    class("java/lang/Object", None)
}

/// A class below `java/lang/Object`.
pub fn plain(name: &str) -> Vec<u8> {
    class(name, Some("java/lang/Object"))
}

/// A module's descriptor, with a package that it exports to everybody or without (JVMS 4.7.25).
pub fn module_info(name: &str, exports: bool) -> Vec<u8> {
    let mut out = vec![0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 53, 0, 8];
    let mut utf8 = |text: &str, reference: &[u8]| {
        out.push(1);
        out.extend((text.len() as u16).to_be_bytes());
        out.extend(text.as_bytes());
        out.extend(reference);
    };
    utf8("module-info", &[7, 0, 1]);
    utf8(name, &[19, 0, 3]);
    utf8("Module", &[]);
    utf8("p", &[20, 0, 6]);
    let exported: &[u16] = if exports { &[1, 7, 0, 0] } else { &[0] };
    let module = [&[4, 0, 0, 0], exported, &[0, 0, 0]].concat();
    let header = [0x8000, 2, 0, 0, 0, 0, 1, 5, 0, 2 * module.len() as u16];
    for field in header.into_iter().chain(module) {
        out.extend(field.to_be_bytes());
    }
    out
}

/// The stored class of tests/data, which has methods.
pub fn sample() -> Vec<u8> {
    fs::read(data("Sample.class")).unwrap()
}

/// Variants of the sample that JVMs reject, and why: rewriting would give the method enough locals
/// and stack, and an end.
pub fn refused_by_jvms() -> [(Vec<u8>, &'static str); 4] {
    let original = sample();
    let class = cct_classfile::ClassFile::parse(&original).unwrap();
    let constructor = class.methods.iter().find(|method| method.name == b"<init>").unwrap();
    let code = constructor.attributes.find(b"Code").unwrap();
    let length = u32::from_be_bytes(code.data[4..8].try_into().unwrap()) as usize;
    assert_eq!((original[code.offset], original[code.offset + 2]), (0, 0), "a small stack, few locals");
    let changed = |at: usize, byte: u8| {
        let mut bytes = original.clone();
        bytes[at] = byte;
        bytes
    };
    [
        (changed(code.offset + 3, 0), "arguments that do not fit into the local variables"),
        (changed(code.offset + 1, 0), "code that needs more stack than it states"),
        (changed(code.offset + 8 + length - 1, 0), "code whose end is reached"),
        (changed(7, 44), "a version before the first one"),
    ]
}

/// The sample with an invalid reference in its code, and the message about it.
pub fn damaged_in_its_code() -> (Vec<u8>, &'static str) {
    let mut bytes = sample();
    let class = cct_classfile::ClassFile::parse(&bytes).unwrap();
    let constructor = class.methods.iter().find(|method| method.name == b"<init>").unwrap();
    let code = constructor.attributes.find(b"Code").unwrap();
    let text = class.pool.indices().find(|&index| class.pool.tag(index) == Some(1)).unwrap();
    // aload_0; invokespecial
    let at = code.offset + 9;
    assert_eq!(bytes[at], 0xb7);
    bytes[at + 1..at + 3].copy_from_slice(&text.to_be_bytes());
    (bytes, "is not a field or method reference")
}

pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The bytes of a jar.
pub fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in entries {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Writes a file, and the folders above it.
pub fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

/// The contents of an entry of a jar.
pub fn entry(jar: &Path, name: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(fs::File::open(jar).unwrap()).unwrap();
    let mut bytes = Vec::new();
    std::io::copy(&mut archive.by_name(name).unwrap(), &mut bytes).unwrap();
    bytes
}

/// The name of the first entry of a jar.
pub fn first_entry(jar: &Path) -> String {
    let mut archive = zip::ZipArchive::new(fs::File::open(jar).unwrap()).unwrap();
    let first = archive.by_index(0).unwrap();
    first.name().unwrap().into_owned()
}

/// All files below a folder with their contents, sorted.
pub fn files(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let paths = WalkDir::new(folder).min_depth(1).into_iter().map(|entry| entry.unwrap().into_path());
    let read = |path: PathBuf| {
        let contents = fs::read(&path).ok().filter(|_| path.is_file());
        (path, contents)
    };
    let mut found: Vec<_> = paths.map(read).collect();
    found.sort();
    found
}

/// Compares text with `snapshots/NAME`; with `BLESS` set, writes it.
pub fn snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/snapshots").join(name);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == text,
        "{} differs (BLESS=1 cargo test writes it anew, if the change is meant):\n{text}",
        path.display()
    );
}

/// A context of a made-up run: its depth (1 below the thread), its method, calls and bytecodes.
pub struct Context {
    pub depth: usize,
    pub method: Method,
    pub calls: u64,
    pub bytecodes: u64,
}

/// A profile of these contexts in preorder, as the runtime writes it; `also` is an additional entry
/// of its description.
pub fn profile_of(contexts: &[Context], also: Option<(&str, &str)>) -> Vec<u8> {
    let mut methods: Vec<Method> = contexts.iter().map(|context| context.method.clone()).collect();
    methods.sort();
    methods.dedup();
    let mut tree = TreeBuilder::new();
    let mut current = 0;
    for context in contexts {
        (context.depth..=current).for_each(|_| tree.leave());
        let index = methods.iter().position(|method| *method == context.method).unwrap();
        tree.enter(index as u32, context.calls, context.bytecodes).unwrap();
        current = context.depth;
    }
    let usual = [("blocks", "exact"), ("exact", "yes"), ("main", "app.Main"), ("metrics", "calls+bytecodes")];
    let meta = usual.into_iter().chain(also);
    let tree = tree.finish();
    let profile = Profile {
        meta: meta.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        methods,
        threads: vec![ThreadTree { name: "main".into(), threads: 1, flags: ThreadTree::ENDED, tree }],
        ..Profile::default()
    };
    let canonical = MergeOptions { threads: Threads::Apart, ..MergeOptions::default() };
    merge(&[&profile], canonical).unwrap().to_bytes().unwrap()
}
