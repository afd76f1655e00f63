//! Markers together with the calling-context tree (docs/research/markers.md): the profile is
//! unchanged, clients are called as without a tree, and get the current node.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use cct_classfile::access;
use serde_json::Value;

use super::markers::{SWITCHED, every_place};
use super::modern_counts::{TREES, golden};
use crate::support::assembler::ClassAssembler;
use crate::support::{
    Blocks, Java, Jdk, Run, assert_same_lines, copy_all, fixture, folder, instrument, jdks, lasting_folder,
};

/// A class library with marked methods of iterators and counts; built once for each JDK.
fn library(jdk: &'static Jdk) -> PathBuf {
    static MADE: Mutex<Vec<(u32, PathBuf)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, library)) = made.iter().find(|(version, _)| *version == jdk.version) {
        return library.clone();
    }
    let output = lasting_folder(&format!("tree-library-{}", jdk.version)).join("library.jar");
    let rules = fixture("markers").join("library.toml");
    let rules = rules.to_str().unwrap();
    match jdk.version {
        8 => instrument(&[jdk.rt_jar()], &[], &output, &["--markers", rules]),
        _ => instrument(&[jdk.path("lib/modules")], &[], &output, &["--patches", "--markers", rules]),
    };
    made.push((jdk.version, output.clone()));
    output
}

/// Classes with markers and counts, for that class library.
fn program(jdk: &'static Jdk, name: &str, classes: &[PathBuf], options: &[&str]) -> PathBuf {
    let here = folder(&format!("tree-{name}-{}", jdk.version));
    let plain = here.join("plain");
    classes.iter().for_each(|classes| copy_all(classes, &plain));
    let part = if jdk.version == 8 { jdk.rt_jar() } else { jdk.path("lib/modules") };
    let output = here.join("classes");
    instrument(&[plain], &[part], &output, options);
    output
}

/// A JVM with both, by the options of `flags`.
fn java(jdk: &'static Jdk, name: &str, classes: &Path) -> Java {
    let mut flags = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let flags = flags.arg("flags").arg(library(jdk)).arg(classes).output().unwrap();
    assert!(flags.status.success(), "{flags:?}");
    let mut java = jdk.java(&format!("tree-{name}-run"));
    java.verify().class_path([classes]);
    for flag in String::from_utf8(flags.stdout).unwrap().lines() {
        java.option(flag);
    }
    java
}

/// A folder with the client that subscribes to everything and does nothing; other fixtures have
/// classes of the same names as those next to it.
fn client(name: &str, jdk: &Jdk) -> PathBuf {
    let folder = folder(&format!("{name}-{}", jdk.version));
    fs::copy(fixture("markers").join("classes/Nothing.class"), folder.join("Nothing.class")).unwrap();
    folder
}

/// Markers at each location of the programs whose trees were derived by hand, and a client of all:
/// the trees are unchanged.
fn trees(jdk: &'static Jdk) {
    let rules = lasting_folder(&format!("tree-rules-{}", jdk.version)).join("all.toml");
    fs::write(&rules, every_place()).unwrap();
    let rules = rules.to_str().unwrap();
    let client = client("tree-client", jdk);
    for (name, _) in TREES.iter().filter(|(_, since)| *since <= jdk.version) {
        let classes = [fixture(name).join("classes"), client.clone()];
        let classes = program(jdk, name, &classes, &["--markers", rules]);
        let golden = golden(name, Blocks::Exact, jdk.version);
        let mut java = java(jdk, name, &classes);
        if golden.threads.as_deref() == Some("each") {
            java.option("-Dcctrewrite.threads=each");
        }
        let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        java.option("-Dcctrewrite.markers.clients=Nothing");
        let run = java.succeed(&main, &[]);
        golden.assert_equal(&run, &format!("{name} on JDK {}, with markers", jdk.version));
        let delivered = run.err.lines().find_map(|line| line.strip_prefix("cctrewrite: markers: "));
        let delivered = delivered.and_then(|line| line.split(' ').next()).unwrap().parse::<u64>().unwrap();
        assert!(delivered > 10, "{name}: {}", run.err);
    }
}

/// Clients are called for the same events as without a tree: exits on every path, arguments,
/// threads.
fn places(jdk: &'static Jdk) {
    let markers = fixture("markers");
    let rules = markers.join("rules.toml");
    let classes = program(jdk, "places", &[markers.join("classes")], &["--markers", rules.to_str().unwrap()]);
    let out = folder(&format!("tree-heard-{}", jdk.version)).join("heard.txt");
    let mut java = java(jdk, "places", &classes);
    java.option(format!("-Dcctrewrite.markers.out={}", out.display()));
    // The marked methods of the class library.
    java.option("-Dcctrewrite.markers.off=others,library");
    let run = java.option("-Dcctrewrite.markers.clients=Recorder").succeed("Places", &[]);
    assert_eq!(run.out, "0 1 2 bottom 2\nx1 4\n5 -1 -1\nleft 2\n3\n");
    let heard = fs::read_to_string(out).unwrap();
    // Those of the class library have markers, too, though they are switched off.
    let is_event = |line: &&str| !line.starts_with("cctrewrite: ") && !line.ends_with("methods with markers");
    let events: Vec<&str> = heard.lines().filter(is_event).collect();
    let expected = fs::read_to_string(markers.join("expected.txt")).unwrap();
    assert_eq!(events, expected.lines().filter(is_event).collect::<Vec<_>>());
    // A client's actions are not counted as the program's.
    let contexts = run.contexts(false);
    assert!(contexts.iter().any(|line| line.contains("Places.recursion")));
    assert!(!contexts.iter().any(|line| line.contains("Recorder") || line.contains("cctrewrite")));
}

/// The client's output for `InTree`.
pub const IN_TREE: &str = "\
> leaf in 0 [InTree.leaf(I)I, InTree.one()I, InTree.main([Ljava/lang/String;)V], leaf below 2
< leaf in 0 [InTree.leaf(I)I, InTree.one()I, InTree.main([Ljava/lang/String;)V], leaf below 2
> leaf in 1 [InTree.leaf(I)I, InTree.two()I, InTree.main([Ljava/lang/String;)V], leaf below 2
< leaf in 1 [InTree.leaf(I)I, InTree.two()I, InTree.main([Ljava/lang/String;)V], leaf below 2
> leaf in 1 [InTree.leaf(I)I, InTree.two()I, InTree.main([Ljava/lang/String;)V], leaf below 2
< leaf in 1 [InTree.leaf(I)I, InTree.two()I, InTree.main([Ljava/lang/String;)V], leaf below 2
> leaf in 0 [InTree.leaf(I)I, InTree.one()I, InTree.main([Ljava/lang/String;)V], leaf below 2
< leaf in 0 [InTree.leaf(I)I, InTree.one()I, InTree.main([Ljava/lang/String;)V], leaf below 2
> leaf in 2 [InTree.leaf(I)I, InTree.deep(I)I, InTree.deep(I)I, InTree.deep(I)I, InTree.main([Ljava/lang/String;)V], leaf below 4
< leaf in 2 [InTree.leaf(I)I, InTree.deep(I)I, InTree.deep(I)I, InTree.deep(I)I, InTree.main([Ljava/lang/String;)V], leaf below 4
> leaf in 3 [InTree.leaf(I)I, InTree.thrown()Ljava/lang/String;, InTree.main([Ljava/lang/String;)V], leaf below 2
! leaf in 3 [InTree.leaf(I)I, InTree.thrown()Ljava/lang/String;, InTree.main([Ljava/lang/String;)V], leaf below 2
";

/// Clients get the node: equal for equal contexts, different otherwise, in all threads and runs;
/// its path is that of the stack.
fn nodes(jdk: &'static Jdk) {
    let markers = fixture("markers");
    let rules = markers.join("in-tree.toml");
    let classes = program(jdk, "nodes", &[markers.join("classes")], &["--markers", rules.to_str().unwrap()]);
    let run = java(jdk, "nodes", &classes)
        .option("-Dcctrewrite.markers.clients=InTree$Heard")
        .succeed("InTree", &[]);
    assert_eq!(run.out, "2 3 2 1 negative\n");
    let heard: String =
        run.err.lines().filter(|line| line.contains(" leaf in ")).map(|l| format!("{l}\n")).collect();
    assert!(heard.starts_with(IN_TREE), "{heard}");
    let other = &heard[IN_TREE.len()..];
    assert!(other.starts_with("> leaf in 4 [InTree.leaf(I)I, InTree.one()I, InTree$1.run()V"), "{heard}");
    // The profile has these nodes.
    let lines = run.contexts(false);
    let leaf = |path: &str| {
        lines.iter().find(|line| line.ends_with(path)).map(|line| line.split(' ').next().unwrap())
    };
    assert_eq!(leaf(";InTree.two()I;InTree.leaf(I)I"), Some("2"), "{lines:#?}");

    let ids = || {
        let mut java = java(jdk, "ids", &classes);
        let run = java.option("-Dcctrewrite.markers.clients=InTree$Ids").succeed("InTree", &[]);
        run.err.lines().find(|line| line.starts_with("ids ")).unwrap().to_owned()
    };
    let first = ids();
    assert_eq!(first, ids());
    assert_eq!(first.split(' ').nth(1).unwrap().len(), 16, "{first}");
}

/// A violation has the node in which it happened, in each format.
fn properties(jdk: &'static Jdk) {
    let typestate = fixture("typestate");
    let classes = program(jdk, "properties", &[typestate.join("classes")], &["--typestate", "file-api"]);
    let report = folder(&format!("tree-report-{}", jdk.version)).join("report");
    let mut java = java(jdk, "properties", &classes);
    java.option(format!("-Dcctrewrite.typestate.out={}", report.display()));
    let run = java.succeed("tests.file.NoOpen", &[]);
    assert!(run.contexts(false).iter().any(|line| line.contains("tests.file.NoOpen.main")));
    let written = |format: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        let output = command.args(["typestate", "report", "--format", format]).arg(&report).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let json: Value = serde_json::from_str(&written("json")).unwrap();
    let violation = &json["violations"][0];
    let node = violation["node"].as_str().unwrap();
    assert_eq!(node.len(), 16);
    let path: Vec<&str> = violation["path"].as_array().unwrap().iter().map(|m| m.as_str().unwrap()).collect();
    assert_eq!(path.last(), Some(&"tests/file/NoOpen.main([Ljava/lang/String;)V"), "{path:?}");
    let (text, sarif) = (written("text"), written("sarif"));
    assert!(text.contains(&format!("  node     {node} of the calling-context tree")), "{text}");
    assert!(sarif.contains(&format!("path to node {node}")), "{sarif}");
}

/// Programs with markers at each location and a tree behave as before, with the verifier on.
fn everywhere(jdk: &'static Jdk) {
    let rules = lasting_folder(&format!("tree-everywhere-{}", jdk.version)).join("all.toml");
    fs::write(&rules, every_place()).unwrap();
    let classes = [fixture("semantics").join("classes"), client("tree-everywhere-client", jdk)];
    let marked = program(jdk, "everywhere", &classes, &["--markers", rules.to_str().unwrap()]);
    // Profiled class libraries from 9 on have more packages (`sections.rs`).
    let without: &[&str] = if jdk.version == 8 { &[] } else { &["-LibraryPackages"] };
    let prepare = |java: &mut Java| {
        java.option("-Xmx512m").option("-XX:-OmitStackTraceInFastThrow");
        if jdk.version >= 17 {
            java.option("--enable-native-access=ALL-UNNAMED");
        }
    };
    let mut plain = jdk.java("tree-everywhere-plain");
    prepare(&mut plain);
    let plain = plain.verify().class_path([&classes[0]]).succeed("Semantics", without);
    let mut java = java(jdk, "everywhere", &marked);
    prepare(&mut java);
    let heard = java.option("-Dcctrewrite.markers.clients=Nothing").succeed("Semantics", without);
    let lines = |run: &Run| run.out.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(lines(&plain).len() > 2000, "{}", plain.out);
    assert_same_lines(&lines(&plain), &lines(&heard), "with markers at each place");
}

/// Outputs that do not run together are rejected: a program with markers on a class library
/// without.
#[test]
fn libraries_without_markers_are_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let markers = fixture("markers");
    let rules = markers.join("in-tree.toml");
    let classes = program(jdk, "misfit", &[markers.join("classes")], &["--markers", rules.to_str().unwrap()]);
    let plain = folder("tree-misfit-library").join("library.jar");
    instrument(&[jdk.rt_jar()], &[], &plain, &[]);
    let mut flags = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let flags = flags.arg("flags").arg(&plain).arg(&classes).output().unwrap();
    let said = String::from_utf8_lossy(&flags.stderr);
    assert!(
        !flags.status.success() && said.contains("markers=none") && said.contains("markers=yes"),
        "{said}"
    );
    let mut java = jdk.java("tree-misfit");
    java.option(format!("-Xbootclasspath/p:{}", plain.display())).class_path([&classes]);
    let run = java.run("InTree", &[]);
    assert!(run.err.contains("not made for each other") || run.err.contains("markers"), "{}", run.err);
    assert_ne!(run.code, Some(0), "{}", run.err);
}

/// Clients are added and removed, tokens and objects are switched, from inside and from outside, as
/// without a tree.
fn switches(jdk: &'static Jdk) {
    let markers = fixture("markers");
    let rules = markers.join("switches.toml");
    let classes =
        program(jdk, "switches", &[markers.join("classes")], &["--markers", rules.to_str().unwrap()]);
    let control = folder(&format!("tree-control-{}", jdk.version)).join("control");
    let mut java = java(jdk, "switches", &classes);
    java.option(format!("-Dcctrewrite.markers.control={}", control.display()));
    let run = java.option("-Dcctrewrite.markers.off=others,library").succeed("Switches", &[]);
    assert_eq!(run.out, SWITCHED);
    for line in [
        " not delivered, since clients came there themselves",
        "client Switches$2 threw java.lang.IllegalStateException: d and gets no more notifications",
    ] {
        assert!(run.err.contains(line), "{line}: {}", run.err);
    }
    // Calls with switched-off markers are counted all the same.
    assert!(
        run.contexts(false).iter().any(|line| line.ends_with(";Switches.one()V")),
        "{:#?}",
        run.contexts(false)
    );
}

/// A region in which a virtual thread moves from one carrier to another: each event has the node of
/// its own tree.
fn virtual_threads(jdk: &'static Jdk) {
    let rules = folder(&format!("tree-virtual-rules-{}", jdk.version)).join("rules.toml");
    fs::write(
        &rules,
        "[[marker]]\ntoken = \"leaf\"\nat = \"method\"\nclass = \"Virtual\"\nmethod = \"deeper\"\n",
    )
    .unwrap();
    let classes = folder(&format!("tree-virtual-classes-{}", jdk.version));
    for (from, class) in [("virtual", "Virtual"), ("markers", "InTree$Heard")] {
        let class = format!("{class}.class");
        fs::copy(fixture(from).join("classes").join(&class), classes.join(&class)).unwrap();
    }
    let classes = program(jdk, "virtual", &[classes], &["--markers", rules.to_str().unwrap()]);
    let run = java(jdk, "virtual", &classes)
        .option("-Dcctrewrite.markers.clients=InTree$Heard")
        .succeed("Virtual", &[]);
    // 10 + 20 + ... + 80, in threads that all call it in the same context.
    let path = " leaf in 0 [Virtual.deeper(I)I, Virtual.work(I)V, Virtual.run()V, ";
    for what in ["> ", "< "] {
        let heard = run.err.lines().filter(|line| line.starts_with(&format!("{what}{}", &path[1..]))).count();
        assert_eq!(heard, 360, "{what}: {}", run.err);
    }
    let leaf = ";Virtual.run()V;Virtual.work(I)V;Virtual.deeper(I)I;Virtual.leaf()I";
    assert!(run.contexts(false).iter().any(|line| line.starts_with("360 ") && line.ends_with(leaf)));
}

/// Methods that become too large with markers have none, and are counted normally. A method that is
/// too large to be counted is counted less precisely, and has no markers either.
fn too_large(jdk: &'static Jdk) {
    use cct_classfile::opcode as op;
    let mut class = ClassAssembler::new(50, "Large", "java/lang/Object");
    let public = access::PUBLIC | access::STATIC;
    class.method(public, "called()V", 0, 0, |code| {
        code.ops(&[op::RETURN]);
    });
    // Below 8,000 bytes; below 64 KB; so close to that that not all of its bytecodes can be
    // counted.
    for (name, calls) in [("small", 200), ("medium", 1000), ("large", 2800), ("huge", 21_000)] {
        class.method(public, &format!("{name}()V"), 0, 0, |code| {
            for _ in 0..calls {
                code.call(op::INVOKESTATIC, "Large.called:()V");
            }
            code.ops(&[op::RETURN]);
        });
    }
    class.method(public, "main([Ljava/lang/String;)V", 0, 1, |code| {
        for name in ["small", "medium", "large", "huge"] {
            code.call(op::INVOKESTATIC, &format!("Large.{name}:()V"));
        }
        code.ops(&[op::RETURN]);
    });
    let here = folder(&format!("tree-large-{}", jdk.version));
    let plain = here.join("plain");
    fs::create_dir(&plain).unwrap();
    fs::write(plain.join("Large.class"), class.finish()).unwrap();
    let rules = here.join("rules.toml");
    fs::write(&rules, "[[marker]]\ntoken = \"t\"\nat = \"call\"\nclass = \"Large\"\n\n[[marker]]\ntoken = \"m\"\nat = \"method\"\nclass = \"Large\"\nmethod = \"huge\"\n").unwrap();
    let part = if jdk.version == 8 { jdk.rt_jar() } else { jdk.path("lib/modules") };
    let outputs = [here.join("counted"), here.join("marked")];
    instrument(
        std::slice::from_ref(&plain),
        std::slice::from_ref(&part),
        &outputs[0],
        &["--markers", fixture("markers").join("in-tree.toml").to_str().unwrap()],
    );
    let report = here.join("report.json");
    let options = ["--markers", rules.to_str().unwrap(), "--verify", "--report", report.to_str().unwrap()];
    let said = instrument(&[plain], &[part], &outputs[1], &options);
    let report = fs::read_to_string(report).unwrap();
    for line in [
        "not marked: Large.medium()V: with markers and counting it would exceed 8,000 bytes, the \
         limit of HotSpot's compilers",
        "not marked: Large.large()V: with markers and counting it would exceed the size limit of methods",
        "204 markers in 1 class",
    ] {
        assert!(said.contains(line) && report.contains(line), "{line}: {said}");
    }
    assert!(said.contains("Large.huge()V: "), "{said}");
    let lines = |classes: &Path| {
        let mut java = java(jdk, "large", classes);
        java.option("-Dcctrewrite.markers.counts=all").option("-Dcctrewrite.markers.off=others,library");
        let run = java.succeed("Large", &[]);
        let lines: Vec<String> =
            run.contexts(false).into_iter().filter(|line| line.contains("Large")).collect();
        (lines, run.err)
    };
    let (counted, _) = lines(&outputs[0]);
    let (marked, heard) = lines(&outputs[1]);
    assert_eq!(marked, counted);
    assert!(
        counted
            .iter()
            .any(|line| line.starts_with("2800 ") && line.ends_with(";Large.large()V;Large.called()V")),
        "{counted:#?}"
    );
    // 200 calls, and those of `main`.
    assert!(heard.contains("cctrewrite: markers: 204 delivered"), "{heard}");
}

/// `verify` checks both the counts and the locations of markers. It detects a class with a marker
/// at another location than declared, and one that counts differently.
fn checked_against_originals(jdk: &'static Jdk) {
    let markers = fixture("markers");
    let here = folder(&format!("tree-verify-{}", jdk.version));
    let rules = here.join("all.toml");
    fs::write(&rules, every_place()).unwrap();
    let plain = here.join("plain");
    [markers.join("classes"), fixture("semantics").join("classes")]
        .iter()
        .for_each(|classes| copy_all(classes, &plain));
    let part = if jdk.version == 8 { jdk.rt_jar() } else { jdk.path("lib/modules") };
    let made = here.join("classes");
    let rules = ["--markers", rules.to_str().unwrap(), "--verify"];
    let said = instrument(std::slice::from_ref(&plain), &[part], &made, &rules);
    assert!(said.contains("checked against their originals: ") && said.contains("no findings"), "{said}");
    let verify = |original: &Path, made: &Path| {
        let mut verify = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
        let output = verify.arg("verify").arg(original).arg(made).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = verify(&plain, &made);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("pieces of code that notify clients of markers: "), "{said}");
    // A single class, and the same with a changed declaration of its markers.
    let (original, class) = (plain.join("Places.class"), made.join("Places.class"));
    assert_eq!(verify(&original, &class).0, Some(0));
    let bytes = fs::read(&class).unwrap();
    let text = b"\x01method\x01recursion\x01";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    let mut wrong = bytes;
    wrong[at + 8..at + 10].copy_from_slice(b"RE");
    fs::write(&class, &wrong).unwrap();
    let (code, said) = verify(&original, &class);
    assert_eq!(code, Some(1), "{said}");
}

jdks!(golden_trees, trees, [25], all [8, 17]);
jdks!(heard, places, feature);
jdks!(told, nodes, feature);
jdks!(checked, properties, feature);
jdks!(verified, checked_against_originals, feature);
jdks!(switched, switches, feature);
jdks!(on_virtual_threads, virtual_threads, [21, 25]);
jdks!(large, too_large, feature);
jdks!(behaves, everywhere, [8], all [17, 25]);
