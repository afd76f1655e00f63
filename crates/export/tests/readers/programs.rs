//! The foreign programs, and profiles for them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use cct_export::{ExportError, NameForm, Options, Source};
use cct_profile::merge::{MergeOptions, Threads, merge};
use cct_profile::{Method, Profile, Site, ThreadTree, TreeBuilder};

use crate::expected::ExpectedNumbers;

/// The path of a program: a file or folder in that of the readers. Prints a message if it is
/// missing.
pub fn place(reader: &str, file: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("CCTREWRITE_READERS") else {
        println!("skipped: readers of exports are not known (cargo xtask test, or CCTREWRITE_READERS)");
        return None;
    };
    let place = Path::new(&folder).join(reader).join(file);
    if !place.exists() {
        println!("skipped: {reader} is missing (cargo xtask readers says why)");
        return None;
    }
    Some(place)
}

/// Whether an interpreter is installed.
pub fn has(interpreter: &str) -> bool {
    let is_there = Command::new(interpreter).arg("--version").output().is_ok_and(|run| run.status.success());
    if !is_there {
        println!("skipped: {interpreter} is not on this machine");
    }
    is_there
}

/// The output of a program.
pub fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}\n{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stdout).unwrap()
}

/// The path of a script next to this file.
pub fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers").join(name)
}

/// A profile and its export options.
pub struct Case {
    pub name: &'static str,
    pub profile: Profile,
    pub options: Options,
}

impl Case {
    pub fn source(&self) -> Source {
        Source::new(self.profile.clone(), &self.options).unwrap()
    }

    /// Writes an export to a file in the folder.
    pub fn write(
        &self,
        folder: &Path,
        file: &str,
        write: fn(&Source, &mut dyn Write) -> Result<(), ExportError>,
    ) -> PathBuf {
        let mut bytes = Vec::new();
        write(&self.source(), &mut bytes).unwrap();
        let path = folder.join(format!("{}-{file}", self.name));
        fs::write(&path, bytes).unwrap();
        path
    }
}

/// The stored profile of the quickstart's program, and a handmade one; threads added up, and
/// separate. Methods have the names of the list of contexts.
pub fn cases() -> Vec<Case> {
    let stored = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/sample.cct")).unwrap();
    let stored = Profile::read(&stored).unwrap();
    assert!(stored.damage.is_empty());
    let exact = |per_thread| Options { form: NameForm::Exact, per_thread, ..Options::default() };
    vec![
        Case { name: "sample", profile: stored.clone(), options: exact(false) },
        Case { name: "sample-threads", profile: stored, options: exact(true) },
        Case { name: "hard", profile: hard(), options: exact(false) },
        Case { name: "hard-threads", profile: hard(), options: exact(true) },
    ]
}

/// The cases, and one whose profile distinguishes call sites, in which each method must have the
/// same numbers as without.
pub fn cases_of_methods() -> Vec<(Case, ExpectedNumbers)> {
    let with = |case: Case| (ExpectedNumbers::of(&case), case);
    let mut cases: Vec<(ExpectedNumbers, Case)> = cases().into_iter().map(with).collect();
    let options = Options { form: NameForm::Exact, ..Options::default() };
    let merged = split().without_call_sites().unwrap();
    let expected = ExpectedNumbers::of(&Case { name: "merged", profile: merged, options: options.clone() });
    cases.push((expected, Case { name: "split", profile: split(), options }));
    cases.into_iter().map(|(expected, case)| (case, expected)).collect()
}

/// The handmade profile with a separate call site for every context; the lines of two are unknown.
pub fn split() -> Profile {
    let mut profile = hard();
    let mut methods = Vec::new();
    for thread in &mut profile.threads {
        let mut tree = TreeBuilder::new();
        let mut open = Vec::new();
        for (index, node) in (0u32..).zip(thread.tree.nodes()).skip(1) {
            while open.pop_if(|end| *end <= index).is_some() {
                tree.leave();
            }
            let bci = methods.len() as u16;
            let line = if methods.len() % 7 == 3 { 0 } else { 100 + u32::from(bci) / 2 };
            let site = (!open.is_empty()).then_some(Site { bci, line });
            let method = Method { site, ..profile.methods[node.method as usize].clone() };
            methods.push(method);
            tree.enter(u32::from(bci), node.calls, node.bytecodes).unwrap();
            open.push(thread.tree.subtree(index).end);
        }
        thread.tree = tree.finish();
    }
    profile.methods = methods;
    profile.meta.insert("call-sites".to_owned(), "yes".to_owned());
    merge(&[&profile], MergeOptions { threads: Threads::Apart, ..MergeOptions::default() }).unwrap()
}

/// Recursion of a single method, of three in a circle, and of one that is also outermost; names
/// with blanks, quotes, and other scripts.
fn hard() -> Profile {
    let method = |class: &str, name: &str, descriptor: &str| Method {
        class: class.into(),
        name: name.into(),
        descriptor: descriptor.into(),
        site: None,
        mid: 1,
        flags: 0,
    };
    let methods = vec![
        method("a/Main", "main", "([Ljava/lang/String;)V"),     // 0
        method("a/Main", "with blanks and \"quotes\"", "(I)V"), // 1
        method("a/Main$1", "größe<&>'`", "()V"),                // 2
        method("a/Main", "(7) brackets", "()V"),                // 3
        method("Default", "名前", "()V"),                       // 4
        method("a/Main", "run", "()V"),                         // 5
    ];
    let main = [
        (1, 0, 1, 100),
        (2, 1, 3, 30),
        (3, 1, 2, 20),
        (4, 1, 1, 10),
        (5, 2, 1, 7),
        (2, 2, 1, 5),
        (3, 3, 2, 6),
        (4, 4, 3, 7),
        (5, 2, 4, 8),
        (6, 3, 5, 9),
        (3, 4, 1, 0),
        (2, 5, 6, 60),
        (1, 4, 1, 3),
        (1, 5, 1, 2),
    ];
    let worker = [(1, 5, 1, 50), (2, 4, 2, 1), (3, 5, 1, 25), (4, 0, 1, 13)];
    let thread = |name: &str, nodes: &[(usize, u32, u64, u64)]| {
        let mut tree = TreeBuilder::new();
        let mut current = 0;
        for &(depth, method, calls, bytecodes) in nodes {
            (depth..=current).for_each(|_| tree.leave());
            tree.enter(method, calls, bytecodes).unwrap();
            current = depth;
        }
        ThreadTree { name: name.into(), threads: 1, flags: ThreadTree::ENDED, tree: tree.finish() }
    };
    let threads = vec![thread("main", &main), thread("pool \"1\" thread 2", &worker)];
    let meta = [("main", "a.Main"), ("metrics", "calls+bytecodes")];
    let meta = meta.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let notes = vec!["made by hand".to_owned()];
    let profile = Profile { meta, notes, methods, threads, damage: Vec::new() };
    merge(&[&profile], MergeOptions { threads: Threads::Apart, ..MergeOptions::default() }).unwrap()
}

/// Three profiles with contexts in common: the handmade one, its second thread alone, and both with
/// the methods in reverse order.
pub fn several() -> [Profile; 3] {
    let whole = hard();
    let mut worker = whole.clone();
    worker.threads.remove(0);
    let mut reversed = whole.clone();
    reversed.methods.reverse();
    let last = reversed.methods.len() as u32 - 1;
    for thread in &mut reversed.threads {
        let mut tree = TreeBuilder::new();
        let mut open = Vec::new();
        for (index, node) in (0u32..).zip(thread.tree.nodes()).skip(1) {
            while open.pop_if(|end| *end <= index).is_some() {
                tree.leave();
            }
            tree.enter(last - node.method, 3 * node.calls, 5 * node.bytecodes).unwrap();
            open.push(thread.tree.subtree(index).end);
        }
        thread.tree = tree.finish();
    }
    [whole, worker, reversed]
}
