//! Reading of memory that is written as the runtime writes it.

#![allow(unsafe_code)]
// A test that cannot set itself up has failed.
#![allow(clippy::unwrap_used)]

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use cct_arena::layout::{header, node, record};
use cct_arena::log::{Entry, PackedMethod};
use cct_arena::{Arena, Memory, ReadError, Recovery, State, recover};
use cct_classfile::{MemberRef, NameAndType};
use cct_index::mid::{ClassHash, Mid, Shape};
use cct_profile::{Method, Profile, ROOT, ThreadTree};

const CLASS: ClassHash = ClassHash(77);

/// The id of the class's method.
fn mid(k: usize) -> u64 {
    CLASS.method(k, Shape::of_slots(1)).0
}

/// A minimal runtime.
struct Jvm {
    folder: tempfile::TempDir,
    arena: Arena,
    next: u64,
    end: u64,
}

impl Jvm {
    fn new() -> Jvm {
        let folder = tempfile::tempdir().unwrap();
        let mut arena = Arena::create(&folder.path().join("x.arena")).unwrap();
        let mut methods = Vec::new();
        for name in ["a", "b", "c"] {
            PackedMethod {
                shape: Shape::of_slots(1),
                flags: 0,
                method: NameAndType::new(name.as_bytes(), b"()V"),
                positions: &[],
            }
            .pack(&mut methods);
        }
        arena.log(&Entry::Class(b"p/C", CLASS, &methods));
        arena.log(&Entry::Meta("tool", "test"));
        let own = arena.text("");
        let jvm = Jvm { folder, arena, next: 0, end: 0 };
        jvm.board(header::ALL, own);
        jvm
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("x.arena")
    }

    fn board(&self, word: u64, value: u64) {
        self.put(self.arena.board() + 8 * word, value);
    }

    fn put(&self, address: u64, value: u64) {
        // SAFETY: addresses of the arena, which is mapped.
        unsafe { (address as *mut u64).write_volatile(value) }
    }

    fn get(&self, address: u64) -> u64 {
        // SAFETY: an address of the arena, which is mapped.
        unsafe { (address as *const u64).read_volatile() }
    }

    fn take(&mut self, bytes: u64) -> u64 {
        if self.end - self.next < bytes {
            self.next = self.arena.memory().unwrap();
            self.end = self.next + (1 << 20);
        }
        self.next += bytes;
        self.next - bytes
    }

    fn node(&mut self, mid: u64, calls: u64, bytecodes: u64) -> u64 {
        let place = self.take(48);
        self.put(place + node::MID, mid);
        self.put(place + node::CALLS, calls);
        self.put(place + node::BYTECODES, bytecodes);
        place
    }

    /// A record with its root, in no list yet.
    fn record(&mut self, name: &str) -> u64 {
        let (root, merged) = (self.node(1, 0, 0), self.node(2, 0, 0));
        let place = self.take(160);
        self.put(root + node::NEXT, place.wrapping_neg() | node::LAST);
        self.put(place + record::ROOT, root);
        self.put(place + record::MERGED, merged);
        self.put(place + record::THREADS, 1);
        let name = self.arena.text(name);
        self.put(place + record::NAME, name);
        place
    }

    fn thread(&mut self, serial: u64, name: &str) -> u64 {
        let place = self.record(name);
        self.put(place + record::SERIAL, serial);
        let newest = self.arena.board() + 8 * header::NEWEST;
        self.put(place + record::NEXT_TREE, self.get(newest));
        self.put(newest, place);
        place
    }

    fn root(&self, of: u64) -> u64 {
        self.get(of + record::ROOT)
    }

    fn child(&mut self, parent: u64, mid: u64, calls: u64, bytecodes: u64) -> u64 {
        let place = self.node(mid, calls, bytecodes);
        let first = self.get(parent + node::FIRST_CHILD);
        let next = if first == 0 { parent.wrapping_neg() | node::LAST } else { first.wrapping_neg() };
        self.put(place + node::NEXT, next);
        self.put(parent + node::FIRST_CHILD, place);
        place
    }

    fn recover(&self) -> Recovery {
        recover(&Memory::open(File::open(self.path()).unwrap()).unwrap(), State::Killed, &|_| {
            Err("no jar".to_owned())
        })
        .unwrap()
    }
}

/// Thread, path of methods, calls, bytecodes.
fn lines(profile: &Profile) -> Vec<String> {
    let mut lines = Vec::new();
    for thread in &profile.threads {
        let nodes = thread.tree.nodes();
        let mut stack = vec![(0, thread.name.to_string())];
        while let Some((place, path)) = stack.pop() {
            let of = &nodes[place as usize];
            if of.method != ROOT {
                lines.push(format!("{path} {} {}", of.calls, of.bytecodes));
            }
            for child in thread.tree.children(place) {
                let Method { class, name, .. } = &profile.methods[nodes[child as usize].method as usize];
                stack.push((child, format!("{path};{class}.{name}")));
            }
        }
    }
    lines.sort();
    lines
}

#[test]
fn trees_names_and_description() {
    let mut jvm = Jvm::new();
    let main = jvm.thread(0, "main");
    let a = jvm.child(jvm.root(main), mid(0), 1, 10);
    jvm.child(a, mid(2), 3, 30);
    jvm.child(a, mid(1), 2, 20);
    let pool = jvm.thread(1, "pool-1");
    let group = jvm.arena.text("pool-#");
    jvm.put(pool + record::GROUP, group);
    jvm.put(pool + record::THREADS, 4);
    jvm.put(pool + record::DAEMON, 1);
    jvm.arena.log(&Entry::Foreign(Mid(0x9980), MemberRef::new(b"n/N", b"n", b"()V")));
    // Their bits 7 to 11 say what each call counts: 19, and 1.
    jvm.child(jvm.root(pool), 0x9980, 5, 0);
    jvm.child(jvm.root(pool), 0x1_0080, 6, 0);
    let Recovery { profile, problems, ended } = jvm.recover();
    assert_eq!((problems, ended), (Vec::new(), false));
    assert_eq!(
        lines(&profile),
        [
            "main;p/C.a 1 10",
            "main;p/C.a;p/C.b 2 20",
            "main;p/C.a;p/C.c 3 30",
            "pool-#;?.10080 6 6",
            "pool-#;n/N.n 5 95"
        ]
    );
    assert_eq!(profile.meta["tool"], "test");
    assert_eq!(profile.meta["recovered"], "killed");
    assert_eq!((profile.threads[1].threads, profile.threads[1].flags), (4, ThreadTree::DAEMON));
    let has = |text: &str| profile.notes.iter().any(|note| note.contains(text));
    assert!(
        has("the JVM has not written its profile") && has("1 methods have no name"),
        "{:?}",
        profile.notes
    );
    // It is in the order that writing asks for.
    profile.to_bytes().unwrap();
}

/// Where call sites are distinguished, nodes have the bytecode index, and the log has the callers'
/// lines.
#[test]
fn call_sites_and_their_lines() {
    let mut jvm = Jvm::new();
    let hash = ClassHash(4711);
    // One line from index 3 on, in the 40th line; no body has moved.
    let positions = [1, 3, 80, 0, 0];
    let mut methods = Vec::new();
    PackedMethod {
        shape: Shape::of_slots(1),
        flags: 0,
        method: NameAndType::new(b"s", b"()V"),
        positions: &positions,
    }
    .pack(&mut methods);
    jvm.arena.log(&Entry::Class(b"q/S", hash, &methods));
    let main = jvm.thread(0, "main");
    let caller = jvm.child(jvm.root(main), hash.method(0, Shape::of_slots(1)).0, 1, 9);
    for (bci, calls) in [(2_u64, 5), (7, 6)] {
        let callee = jvm.child(caller, mid(0), calls, 0);
        let below = jvm.child(callee, mid(1), 1, 1);
        for (node, bci) in [(callee, bci), (below, 65_534)] {
            let first = jvm.get(node + node::FIRST_CHILD);
            jvm.put(node + node::FIRST_CHILD, first | (bci + 1) << node::SITE_SHIFT);
        }
    }
    let Recovery { profile, problems, .. } = jvm.recover();
    assert_eq!(problems, Vec::<String>::new());
    let sites = |name: &str| {
        let of = profile.methods.iter().filter(|m| &*m.name == name);
        of.map(|m| m.site.map(|site| (site.bci, site.line))).collect::<Vec<_>>()
    };
    assert_eq!(sites("s"), [None]);
    assert_eq!(sites("a"), [Some((2, 0)), Some((7, 40))]);
    // The lines of these two methods' class are unknown.
    assert_eq!(sites("b"), [Some((65_534, 0))]);
    let calls: Vec<u64> = profile.threads[0].tree.nodes().iter().map(|node| node.calls).collect();
    assert_eq!(calls, [0, 1, 5, 1, 6, 1]);
    profile.to_bytes().unwrap();
}

#[test]
fn memory_that_grows_while_it_is_read_is_read_on() {
    let mut jvm = Jvm::new();
    let main = jvm.thread(0, "main");
    let memory = Memory::open(File::open(jvm.path()).unwrap()).unwrap();
    let mut at = jvm.root(main);
    for _ in 0..100_000 {
        at = jvm.child(at, mid(0), 1, 1);
    }
    let profile = recover(&memory, State::Running, &|_| Err("no jar".to_owned())).unwrap().profile;
    assert_eq!(profile.contexts(), 100_000);
    assert_eq!(profile.meta["recovered"], "running");
}

#[test]
fn merged_contexts_are_marked() {
    let mut jvm = Jvm::new();
    let main = jvm.thread(0, "main");
    jvm.child(jvm.root(main), mid(0), 1, 10);
    jvm.arena.log(&Entry::Meta("max-contexts", "9"));
    let merged = jvm.get(main + record::MERGED);
    jvm.put(merged + node::CALLS, 7);
    jvm.put(main + record::LACK, record::BOUND_REACHED);
    let profile = jvm.recover().profile;
    assert_eq!(lines(&profile), ["main;[contexts merged: bound of 9]. 7 0", "main;p/C.a 1 10"]);
    assert!(profile.notes.iter().any(|n| n.contains("in 1 tree of 1")), "{:?}", profile.notes);
}

/// Found by fuzzing: damaged memory said that a call had entered merged contexts, and the profile
/// that was written of it could not be read.
#[test]
fn merged_contexts_have_no_call_site() {
    let mut jvm = Jvm::new();
    let main = jvm.thread(0, "main");
    let caller = jvm.child(jvm.root(main), mid(0), 1, 10);
    let child = jvm.child(caller, node::MERGED_MID, 1, 0);
    jvm.put(child + node::FIRST_CHILD, 8 << node::SITE_SHIFT);
    let profile = jvm.recover().profile;
    let read = Profile::read(&profile.to_bytes().unwrap()).unwrap();
    assert_eq!(lines(&read), lines(&profile));
}

/// A region that is being recorded contains its thread's counts at its start, negated.
#[test]
fn regions_that_are_open_have_what_their_thread_has_executed_since() {
    let mut jvm = Jvm::new();
    jvm.board(header::ALL, 0);
    jvm.board(header::SWITCHES, 3);
    let main = jvm.thread(0, "main");
    let a = jvm.child(jvm.root(main), mid(0), 10, 100);
    jvm.child(a, mid(1), 5, 50);
    let region = jvm.record("hot");
    let copy = jvm.child(jvm.root(region), mid(0), 4_u64.wrapping_neg(), 40_u64.wrapping_neg());
    jvm.child(copy, mid(1), 5_u64.wrapping_neg(), 50_u64.wrapping_neg());
    let closed = jvm.record("done");
    jvm.child(jvm.root(closed), mid(2), 1, 2);
    jvm.put(region + record::REGIONS, closed);
    jvm.put(main + record::REGIONS, region);
    jvm.put(main + record::OPEN, region);
    // Nothing was recorded of this one.
    let other = jvm.thread(1, "other");
    jvm.child(jvm.root(other), mid(0), 1, 1);
    let profile = jvm.recover().profile;
    assert_eq!(lines(&profile), ["main [done];p/C.c 1 2", "main [hot];p/C.a 6 60"]);
    assert_eq!(profile.meta["selection"], "regions");
    jvm.put(main + record::OPEN, record::SWITCHING);
    let Recovery { profile, problems, .. } = jvm.recover();
    assert_eq!(profile.threads.len(), 0);
    assert!(problems.iter().any(|p| p.contains("was being switched")), "{problems:?}");
}

#[test]
fn classes_that_were_not_rewritten_change_the_description() {
    let mut jvm = Jvm::new();
    jvm.arena.log(&Entry::Meta("exact", "yes"));
    jvm.arena.log(&Entry::MetaWithRawClasses("exact", "no"));
    jvm.arena.log(&Entry::NoteWithRawClasses("boxing"));
    assert_eq!(jvm.recover().profile.meta["exact"], "yes");
    jvm.arena.log(&Entry::RawClass("q/R"));
    let profile = jvm.recover().profile;
    assert_eq!(profile.meta["exact"], "no");
    let raw = "1 class was not rewritten and is missing from the tree: q/R";
    assert!(
        profile.notes.iter().any(|note| note == raw) && profile.notes.iter().any(|note| note == "boxing")
    );
}

#[test]
fn who_runs_and_who_has_ended_is_known() {
    let mut jvm = Jvm::new();
    let memory = Memory::open(File::open(jvm.path()).unwrap()).unwrap();
    assert!(memory.is_in_use());
    jvm.arena.end();
    assert!(recover(&memory, State::Killed, &|_| Err("no jar".to_owned())).unwrap().ended);
    drop(jvm.arena);
    assert!(!memory.is_in_use());
}

#[test]
fn other_files_than_arenas_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let read = |bytes: &[u8]| {
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        Memory::open(File::open(&path).unwrap()).err()
    };
    assert!(matches!(read(b""), Some(ReadError::NoArena)));
    assert!(matches!(read(&[7; 100_000]), Some(ReadError::NoArena)));
    let mut head = b"\x89CCTMEM\n\x03\0\0\0\0\0\0\0".to_vec();
    assert!(matches!(read(&head), Some(ReadError::Version(3))));
    head[8] = 2;
    assert!(matches!(read(&head), Some(ReadError::Short(16))));
}

/// Reading ends for any contents of the file, and reports what it could not read.
#[test]
fn damage_is_named_and_never_followed_for_ever() {
    let mut jvm = Jvm::new();
    let main = jvm.thread(0, "main");
    let a = jvm.child(jvm.root(main), mid(0), 1, 10);
    let b = jvm.child(a, mid(1), 2, 20);
    jvm.put(b + node::FIRST_CHILD, a);
    // Sound contents occur once.
    assert_eq!(lines(&jvm.recover().profile), ["main;p/C.a 1 10", "main;p/C.a;p/C.b 2 20"]);
    assert!(jvm.recover().problems.iter().any(|p| p.contains("has a wrong pointer")));
    jvm.put(b + node::FIRST_CHILD, 0x1234_5678);
    let astray = jvm.recover();
    assert!(astray.problems.iter().any(|p| p.contains("points outside the memory")), "{:?}", astray.problems);
    assert_eq!(lines(&astray.profile).len(), 2);
    jvm.put(b + node::FIRST_CHILD, 0);
    jvm.put(main + record::NEXT_TREE, main);
    assert_eq!(lines(&jvm.recover().profile).len(), 2);
    assert!(jvm.recover().problems.iter().any(|p| p.contains("list of trees is damaged")));
    jvm.put(main + record::NEXT_TREE, 0);

    // Each word of the header, and of the first nodes, with some values.
    let path = jvm.path();
    let other = jvm.folder.path().join("copy.arena");
    let first = first_trees(&path);
    let values = [0, 1, u64::MAX, a, b, main, 1 << 63, 0x7FFF_FFFF_FFFF_FFF8, 4096];
    let places = (16..1200).step_by(8).chain((first..first + 520).step_by(8));
    let mut tried = 0;
    for place in places {
        for value in values {
            std::fs::copy(&path, &other).unwrap();
            let file = OpenOptions::new().read(true).write(true).open(&other).unwrap();
            file.write_all_at(&value.to_le_bytes(), place).unwrap();
            let memory = Memory::open(file).unwrap();
            let recovered = recover(&memory, State::Killed, &|_| Err("no jar".to_owned())).unwrap();
            recovered.profile.to_bytes().unwrap();
            tried += 1;
        }
    }
    assert!(tried > 1500, "{tried}");
    // And each length.
    for length in (0..std::fs::metadata(&path).unwrap().len()).step_by(8191) {
        std::fs::copy(&path, &other).unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&other).unwrap();
        file.set_len(length).unwrap();
        if let Ok(memory) = Memory::open(file) {
            recover(&memory, State::Killed, &|_| Err("no jar".to_owned()))
                .unwrap()
                .profile
                .to_bytes()
                .unwrap();
        }
    }
}

/// The file offset of the first extent for trees.
fn first_trees(path: &Path) -> u64 {
    let file = File::open(path).unwrap();
    let word = |number: u64| {
        let mut bytes = [0; 8];
        file.read_exact_at(&mut bytes, 8 * number).unwrap();
        u64::from_le_bytes(bytes)
    };
    let count = word(header::EXTENTS);
    let entry = (0..count).map(|i| header::TABLE + 4 * i).find(|&entry| word(entry + 3) == 1).unwrap();
    word(entry + 1)
}
