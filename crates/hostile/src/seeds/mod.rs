//! Valid inputs from which mutators start: the repository's own classes, and archives and profiles
//! created here.

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cct_arena::layout;
use cct_arena::log::{Entry, PackedMethod};
use cct_classfile::{MemberRef, NameAndType};
use cct_index::mid::{ClassHash, Mid, Shape};
use cct_profile::{Method, Profile, Site, ThreadTree, TreeBuilder};
use cct_rewrite::{ClassSummary, Rewriter, Role, World};
use cct_settings::Settings;
use walkdir::WalkDir;
use zip::write::{SimpleFileOptions, ZipWriter};

mod image_files;
mod texts;
mod traces;
mod values;

pub use image_files::{manifests, options};
pub use texts::{answers, marker_rules, properties, violations};
pub use traces::{frames, lasts, traces};
pub use values::values;

#[path = "../../../archive/tests/it/image_builder.rs"]
#[allow(dead_code, reason = "its other users ask where things are")]
mod image_builder;

/// Folders of class files, from the repository's root: all versions, all attributes, and all forms
/// of code that `javac` generates.
const CLASSES: &[&str] = &[
    "crates/classfile/tests/data/classes",
    "fixtures/control/classes",
    "fixtures/exceptions/classes",
    "fixtures/extents/classes",
    "fixtures/lambdas/classes",
    "fixtures/switches/classes",
    "fixtures/types/classes",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of class files, which are roots of packages.
pub fn class_folders() -> Vec<PathBuf> {
    CLASSES.iter().map(|folder| repository().join(folder)).collect()
}

/// Class files.
pub fn classes() -> Vec<Vec<u8>> {
    let entries = class_folders().into_iter().flat_map(WalkDir::new);
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().into_path()).collect();
    for name in ["Old45", "Old48", "Old49"] {
        files.push(repository().join(format!("fixtures/loadtime/classes/{name}.class")));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "class"));
    files.sort();
    files.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// A few class files, read only once.
pub fn some_classes() -> &'static [Vec<u8>] {
    static SOME: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    SOME.get_or_init(|| classes().into_iter().step_by(20).collect())
}

/// Jars: plain, with a jar inside, signed, streamed, and a jmod.
pub fn jars() -> Vec<Vec<u8>> {
    let inner = zip_of(&[("a/A.class", b"inner class", false), ("x.txt", b"text", true)]);
    let manifest = b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\nName: a/A.class\r\nSHA-256-Digest: AAAA\r\n\r\n";
    let outer = zip_of(&[
        ("META-INF/", b"", true),
        ("META-INF/MANIFEST.MF", manifest, true),
        ("META-INF/A.SF", b"Signature-Version: 1.0\r\n", true),
        ("META-INF/A.RSA", b"0000", true),
        ("a/A.class", &[b'c'; 300], true),
        ("META-INF/versions/9/a/A.class", b"newer", false),
        ("lib/inner.jar", &inner, true),
    ]);
    let jmod = [
        b"JM\x01\0".as_slice(),
        &zip_of(&[("classes/module-info.class", b"m", true), ("bin/x", b"x", false)]),
    ]
    .concat();
    let mut streamed = ZipWriter::new_stream(Vec::new());
    for name in ["a/A.class", "a/B.class"] {
        streamed.start_file(name, SimpleFileOptions::default()).unwrap();
        streamed.write_all(&[b's'; 100]).unwrap();
    }
    vec![inner, outer, jmod, streamed.finish().unwrap().into_inner(), zip_of(&[])]
}

/// An archive of entries: name, contents, whether it is deflated.
fn zip_of(entries: &[(&str, &[u8], bool)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes, deflated) in entries {
        let method =
            if *deflated { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
        let options = SimpleFileOptions::default().compression_method(method);
        if name.ends_with('/') {
            zip.add_directory(*name, options).unwrap();
            continue;
        }
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Images of modules, of both byte orders and versions.
pub fn images() -> Vec<Vec<u8>> {
    let resources = vec![
        ("/java.base/java/lang/Object.class", b"object".to_vec()),
        ("/java.base/module-info.class", b"info".to_vec()),
        ("/java.sql/java/sql/Driver.class", b"driver".to_vec()),
        ("/java.base/META-INF/preview/java/lang/Object.class", b"another".to_vec()),
        ("/java.base/empty", Vec::new()),
    ];
    [(false, 0), (false, 1), (true, 0)]
        .map(|(big, minor_version)| {
            image_builder::Builder { big, minor_version, resources: resources.clone() }.build().bytes
        })
        .into()
}

/// Indexes of outputs.
pub fn indexes() -> Vec<Vec<u8>> {
    let settings = Settings::default();
    let provenance = cct_rewrite::provenance(&settings, "test", None);
    let records = classes().into_iter().take(6).filter_map(|bytes| {
        let world = World::new([(Role::Input, ClassSummary::parse(&bytes).unwrap())]);
        Rewriter::new(world, settings, provenance.clone(), |_| true).unwrap().rewrite(&bytes).unwrap().record
    });
    vec![
        cct_index::write(&provenance, &records.collect::<Vec<_>>()).unwrap(),
        cct_index::write(&provenance, &[]).unwrap(),
    ]
}

fn small_profile() -> Profile {
    let method = |class: &str, name: &str, flags| Method {
        class: class.into(),
        name: name.into(),
        descriptor: "([Ljava/lang/String;I)V".into(),
        site: None,
        mid: 7,
        flags,
    };
    let mut profile = Profile {
        methods: vec![
            method("a/A", "f", 0),
            method("a/A", "g", Method::NATIVE),
            method("a/B$$Lambda$1", "run", 0),
            method("java/lang/Thread", "run", 0),
            Method { descriptor: "".into(), ..method("stack overflow", "", Method::MARKER) },
        ],
        ..Profile::default()
    };
    for (key, value) in
        [("blocks", "exact"), ("main", "a.A"), ("metrics", "calls+bytecodes"), ("exact", "yes")]
    {
        profile.meta.insert(key.into(), value.into());
    }
    profile.notes = vec!["a note".into()];
    for (name, flags) in [("main", 1), ("worker-1", 3)] {
        let mut builder = TreeBuilder::with_root(0, 0);
        for method in [3, 0, 1, 2, 4] {
            builder.enter(method, 3, 1000).unwrap();
            if method == 1 {
                builder.leave();
            }
        }
        profile.threads.push(ThreadTree { name: name.into(), threads: 1, flags, tree: builder.finish() });
    }
    profile
}

/// A profile of the same methods, called from several call sites, which are kept separate.
pub(crate) fn split_profile() -> Profile {
    let small = small_profile();
    let at =
        |method: usize, bci, line| Method { site: Some(Site { bci, line }), ..small.methods[method].clone() };
    let mut methods = vec![at(0, 3, 10), at(0, 9, 10), at(0, 9, 11), at(1, Site::LAST, 0), at(2, 0, 70_000)];
    methods.extend(small.methods.iter().cloned());
    methods.sort();
    let place = |method: &Method| methods.iter().position(|other| other == method).unwrap() as u32;
    let thread = place(&small.methods[3]);
    let (native, marker) = (place(&small.methods[1]), place(&small.methods[4]));
    let mut builder = TreeBuilder::with_root(0, 0);
    builder.enter(thread, 1, 10).unwrap();
    for method in (0..methods.len() as u32).filter(|&m| methods[m as usize].site.is_some()) {
        builder.enter(method, 2, 100).unwrap();
        builder.enter(native, 1, 0).unwrap();
        builder.leave();
        builder.leave();
    }
    builder.leave();
    builder.enter(marker, 5, 0).unwrap();
    let mut meta = small.meta;
    meta.insert("call-sites".into(), "yes".into());
    let tree = builder.finish();
    let threads = vec![ThreadTree { name: "main".into(), threads: 1, flags: 1, tree }];
    Profile { meta, methods, threads, ..Profile::default() }
}

/// A profile of the same methods, with numbers of two columns, one of which the table lacks.
fn columns_profile() -> Profile {
    let mut profile = small_profile();
    profile.meta.insert("columns".into(), "joules monitors".into());
    for thread in &mut profile.threads {
        let mut builder = TreeBuilder::with_root(0, 0).with_columns(2);
        for method in [3, 0, 1, 2, 4] {
            builder.enter(method, 3, 1000).unwrap();
            builder.numbers().copy_from_slice(&[u64::from(method) * 100, u64::from(method % 2)]);
        }
        thread.tree = builder.finish();
    }
    profile
}

/// Profiles.
pub fn profiles() -> Vec<Vec<u8>> {
    [small_profile(), split_profile(), columns_profile(), Profile::default()]
        .map(|profile| profile.to_bytes().unwrap())
        .into()
}

/// A file of the memory of trees: a thread with three contexts and a region with recording on, and
/// one with merged contexts.
pub fn arenas() -> Vec<Vec<u8>> {
    let mut log = Vec::new();
    let mut text = |text: &str| {
        let name = log.len() as u64 + 1;
        Entry::Text(text).encode(&mut log);
        name
    };
    let (own, main, pool, group, region) = (text(""), text("main"), text("p-1"), text("p-#"), text("hot"));
    let hash = ClassHash(5);
    let mut methods = Vec::new();
    // A line from index 3 on, and no moves.
    let positions = [1, 3, 80, 0, 0];
    let shape = Shape { slots: 2, on_entry: 5 };
    PackedMethod { shape, flags: 0, method: NameAndType::new(b"m", b"()V"), positions: &positions }
        .pack(&mut methods);
    PackedMethod {
        shape: Shape::of_slots(1),
        flags: 1,
        method: NameAndType::new(b"n", b"(I)J"),
        positions: &[],
    }
    .pack(&mut methods);
    let foreign = MemberRef::new(b"f/F", b"f", b"()V");
    let entries = [
        Entry::Class(b"p/C", hash, &methods),
        Entry::Meta("exact", "yes"),
        Entry::MetaWithRawClasses("exact", "no"),
        Entry::NoteWithRawClasses("a note"),
        Entry::RawClass("q/R"),
        Entry::Trouble("odd", "q/S"),
        Entry::Foreign(Mid::foreign(foreign, 0), foreign),
    ];
    entries.iter().for_each(|entry| entry.encode(&mut log));

    // Nodes of the trees' part, at their addresses in the JVM; each node has 64 bytes, each record
    // 192.
    const BASE: u64 = 0x7F00_0000_0000;
    let mut words = vec![0_u64; 256];
    let mut put = |address: u64, value: u64| words[((address - BASE) / 8) as usize] = value;
    let mut thread = |at: u64, name: u64, children: &[(u64, u64)]| {
        let (root, merged) = (at + 192, at + 256);
        let record = [(24, root), (64, 1), (72, merged), (120, name)];
        record.into_iter().for_each(|(offset, value)| put(at + offset, value));
        [(root, 1), (merged, 2)].into_iter().for_each(|(node, mid)| put(node, mid));
        let mut parent = root;
        for (place, &(mid, counts)) in (0..).zip(children) {
            let node = at + 320 + 64 * place;
            put(parent + 24, node);
            put(node + 32, parent.wrapping_neg() | 1);
            [(0, mid), (8, counts), (16, counts.wrapping_mul(10))]
                .into_iter()
                .for_each(|(o, value)| put(node + o, value));
            parent = node;
        }
    };
    let (m, n) = (hash.method(0, shape).0, hash.method(1, Shape::of_slots(1)).0);
    thread(BASE, main, &[(m, 3), (n, 4), (Mid::foreign(foreign, 0).0, 5)]);
    thread(BASE + 512, pool, &[(n, 6)]);
    thread(BASE + 1024, region, &[(m, 1_u64.wrapping_neg())]);
    let more = [
        // Called from index 7 of its caller.
        (BASE + 320 + 64 + 24, 8 << 48 | (BASE + 320 + 128)),
        (BASE + 144, BASE + 1024),
        (BASE + 152, BASE + 1024),
        (BASE + 512 + 16, BASE),
        (BASE + 512 + 128, group),
        (BASE + 512 + 40, 3),
        (BASE + 512 + 256 + 8, 9),
    ];
    more.into_iter().for_each(|(address, value)| put(address, value));

    let mut files = Vec::new();
    for switches in [0, 2] {
        let mut header = vec![0_u64; (layout::HEADER / 8) as usize];
        header[..4].copy_from_slice(&[layout::MAGIC, layout::VERSION, 2, log.len() as u64]);
        header[8..11].copy_from_slice(&[BASE + 512, own, switches]);
        let trees = 8 * words.len() as u64;
        let extents =
            [BASE, layout::HEADER, trees, 1, BASE + 4096, layout::HEADER + trees, log.len() as u64, 2];
        header[128..136].copy_from_slice(&extents);
        let mut file: Vec<u8> = header.iter().chain(&words).flat_map(|word| word.to_le_bytes()).collect();
        file.extend_from_slice(&log);
        files.push(file);
    }
    files
}

/// Lists of contexts, in cctrewrite's format and another tool's.
pub fn lists() -> Vec<Vec<u8>> {
    let mut lists = vec![b"1 10 [main];a.A.f(I)V\n2 20 [main];a.A.f(I)V;a.A.g()V\n".to_vec()];
    for per_thread in [false, true] {
        let options = cct_profile::contexts::ContextsOptions { per_thread, ..Default::default() };
        let mut list = Vec::new();
        cct_profile::contexts::write_contexts(&small_profile(), options, &mut list).unwrap();
        lists.push(list);
        let mut list = Vec::new();
        cct_profile::contexts::write_contexts(&split_profile(), options, &mut list).unwrap();
        lists.push(list);
    }
    lists
}

/// Patterns, one on each line.
pub fn patterns() -> Vec<Vec<u8>> {
    vec![
        b"a/**,b.{C,D}.*\njava.lang.String.charAt\njava/lang/String.indexOf(Ljava/lang/String;I)I\nworker-*\n".to_vec(),
        b"*.run\n[a-z]?/*\n{a,b{c,d}}\na.A.f\n".to_vec(),
    ]
}
