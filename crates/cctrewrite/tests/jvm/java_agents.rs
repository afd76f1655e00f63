//! Java agents, redefinitions, and classes that the boot class loader takes from elsewhere.
//! Programs behave with them as on the plain JDK, and their counts continue.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use walkdir::{DirEntry, WalkDir};

use crate::support::{Blocks, Image, Java, Jdk, Run, assert_succeeded, folder, jdks};

/// The fixture's parts, compiled by the JDK itself: agents process the compiler output of that
/// release.
struct Kitchen {
    jdk: &'static Jdk,
    folder: PathBuf,
}

impl Kitchen {
    fn of(jdk: &'static Jdk) -> Kitchen {
        let kitchen = Kitchen { jdk, folder: folder("kitchen") };
        for part in ["tally", "agent", "shelf", "app", "again"] {
            kitchen.compile(part, &[]);
        }
        let manifest = kitchen.path("manifest");
        let lines = "Premain-Class: Weaver\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\nBoot-Class-Path: shelf.jar\n";
        fs::write(&manifest, lines).unwrap();
        kitchen.pack("agent.jar", "cfm", &[manifest], "agent");
        kitchen.pack("tally.jar", "cf", &[], "tally");
        kitchen.pack("shelf.jar", "cf", &[], "shelf");
        kitchen
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn compile(&self, part: &str, options: &[&str]) {
        let mut sources = Vec::new();
        list(&source(part), &mut sources);
        let mut javac = Command::new(self.jdk.path("bin/javac"));
        javac.args(["-g", "-nowarn", "-d"]).arg(self.path(part)).arg("-cp").arg(self.path("agent"));
        fs::create_dir_all(self.path(part)).unwrap();
        assert_succeeded(javac.args(options).args(sources));
    }

    fn pack(&self, jar: &str, how: &str, manifest: &[PathBuf], part: &str) {
        let mut command = Command::new(self.jdk.path("bin/jar"));
        command.arg(how).arg(self.path(jar)).args(manifest).arg("-C").arg(self.path(part)).arg(".");
        assert_succeeded(&mut command);
    }

    /// The agent option, with these arguments after the jar of its callees.
    fn agent(&self, arguments: &str) -> String {
        let (agent, tally) = (self.path("agent.jar"), self.path("tally.jar"));
        format!("-javaagent:{}={}{arguments}", agent.display(), tally.display())
    }

    /// Runs a program plain and profiled, which must behave equally. Returns the profiled run.
    fn same(&self, options: &[String], main: &str, arguments: &[&str]) -> Run {
        let run = |mut java: Java| {
            java.class_path([self.path("app")]);
            for option in options {
                java.option(option.clone());
            }
            java.run(main, arguments)
        };
        let plain = run(self.jdk.java("plain"));
        let profiled = run(Image::of(self.jdk, Blocks::Exact).java("profiled"));
        // An image has an archive of classes, which the plain JDK may lack; the JVM prints that it
        // cannot use it here.
        let is_kept = |line: &&str| !line.contains("Sharing is only supported for boot loader classes");
        let all = |run: &Run| {
            let said: Vec<&str> = run.out.lines().chain(run.err.lines()).filter(is_kept).collect();
            format!("exit code {:?}\n{}", run.code, said.join("\n"))
        };
        assert_eq!(all(&plain), all(&profiled), "{main} with {options:?}: plain and profiled");
        assert_eq!(plain.code, Some(0), "{}", plain.err);
        profiled
    }
}

/// The folder with the sources of a part.
fn source(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/instrumentation").join(part)
}

fn list(folder: &Path, into: &mut Vec<PathBuf>) {
    let entries = WalkDir::new(folder).sort_by_file_name().into_iter().map(Result::unwrap);
    into.extend(entries.filter(|entry| !entry.file_type().is_dir()).map(DirEntry::into_path));
}

/// Calls of a method by another one, in all contexts.
pub fn calls(run: &Run, caller: &str, callee: &str) -> u64 {
    let profile = run.profile();
    let is = |method: u32, name: &str| {
        let method = &profile.methods[method as usize];
        format!("{}.{}", method.class, method.name) == name
    };
    let mut sum = 0;
    for thread in &profile.threads {
        let nodes = thread.tree.nodes();
        for node in (1..nodes.len() as u32).filter(|&node| is(nodes[node as usize].method, caller)) {
            let called = thread.tree.children(node).map(|child| nodes[child as usize]);
            sum += called.filter(|child| is(child.method, callee)).map(|child| child.calls).sum::<u64>();
        }
    }
    sum
}

/// Advice of an agent runs for every caller, and its calls are counted.
fn advice_runs(jdk: &'static Jdk) {
    let kitchen = Kitchen::of(jdk);
    let run = kitchen.same(&[kitchen.agent("")], "Kitchen", &[]);
    for (line, expected) in [("Cook.stir(I)I", "7"), ("Cook.taste(I)I", "7"), ("Kitchen.open(I)I", "2")] {
        assert!(run.out.contains(&format!("{line} {expected}\n")), "{}", run.out);
    }
    assert_eq!(calls(&run, "Cook.stir", "Tally.hit"), 7);
    assert_eq!(calls(&run, "java/util/StringJoiner.add", "Tally.hit"), 2);
    // The other kind of transformer, which is called first and once.
    kitchen.same(&[kitchen.agent(",plain")], "Kitchen", &[]);
}

/// An agent that starts after classes have been loaded sees their class files, and changes them.
fn advice_comes_late(jdk: &'static Jdk) {
    let kitchen = Kitchen::of(jdk);
    let run = kitchen.same(&[kitchen.agent(",late")], "Kitchen", &["late"]);
    assert!(run.out.contains("Cook.stir(I)I 5\n"), "{}", run.out);
    assert_eq!(calls(&run, "Kitchen.open", "Cook.stir"), 12);
    assert_eq!(calls(&run, "Cook.stir", "Tally.hit"), 5);
}

/// A class is redefined twice with compiler output; counts continue in its new bodies.
fn redefinition(jdk: &'static Jdk) {
    let kitchen = Kitchen::of(jdk);
    let again = kitchen.path("again");
    let run = kitchen.same(&[kitchen.agent(",late")], "Kitchen", &[again.to_str().unwrap()]);
    assert_eq!(calls(&run, "Kitchen.open", "Cook.stir"), 3 + 4 + 5 + 6);
    // Only the new body calls it.
    assert_eq!(calls(&run, "Cook.taste", "java/lang/Object.hashCode"), 5 + 6);
}

/// Classes of the boot class loader outside the class library are rewritten: their overrides of its
/// methods run.
fn boot_class_path(jdk: &'static Jdk) {
    let kitchen = Kitchen::of(jdk);
    let expected = "2571 null\n";
    let append = format!("-Xbootclasspath/a:{}", kitchen.path("shelf.jar").display());
    for options in [append, kitchen.agent("")] {
        let run = kitchen.same(&[options], "Eat", &[]);
        assert!(run.out.ends_with(expected), "{}", run.out);
        assert_eq!(calls(&run, "java/io/OutputStream.write", "shelf/Pantry$Counting.write"), 7);
    }
}

/// A replaced class of the library is rewritten, too.
fn patched_module(jdk: &'static Jdk) {
    let kitchen = Kitchen::of(jdk);
    kitchen.compile("patch", &["--patch-module", &format!("java.base={}", source("patch").display())]);
    let option = format!("--patch-module=java.base={}", kitchen.path("patch").display());
    let run = kitchen.same(&[option], "Patched", &[]);
    assert!(run.out.ends_with("p42\n"), "{}", run.out);
    assert_eq!(calls(&run, "Patched.main", "java/util/Stack.search"), 1);
}

jdks!(advice, advice_runs, [8, 17, 25, 27], all [11, 21, 26]);
jdks!(late_advice, advice_comes_late, [8, 25], all [17, 21]);
jdks!(redefined, redefinition, [8, 17, 25], all [11, 21]);
jdks!(boot_append, boot_class_path, [8, 25], all[17]);
jdks!(patched, patched_module, [17, 25], all[11]);
