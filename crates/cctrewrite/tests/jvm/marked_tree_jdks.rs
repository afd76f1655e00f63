//! Whole JDKs with markers and the tree (docs/research/markers.md): `cctrewrite jdk --markers` and
//! `cctrewrite run --markers`, with unchanged and with instrumented programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

use cct_profile::Profile;
use cct_profile::contexts::{ContextsOptions, write_contexts};
use serde_json::Value;

use super::marked_trees::IN_TREE;
use super::modern_counts::{TREES, golden};
use crate::support::{
    Blocks, Java, Jdk, assert_succeeded, fixture, folder, instrument, jdks, lasting_folder,
};

/// Rules of every image of these tests: those of the programs, all locations of programs without a
/// package, and iterators of the class library.
fn rules(here: &Path) -> PathBuf {
    let markers = fixture("markers");
    let mut rules = String::new();
    for file in ["in-tree.toml", "loaded.toml", "library.toml"] {
        rules += &fs::read_to_string(markers.join(file)).unwrap();
    }
    for at in ["method", "loop", "call", "handler", "allocation", "field-write"] {
        rules += &format!("[[marker]]\ntoken = \"others\"\nat = \"{at}\"\nclass = \"*\"\n");
    }
    let file = here.join("rules.toml");
    fs::write(&file, rules).unwrap();
    file
}

/// The cache of these tests' images, each built once.
fn cache(jdk: &Jdk) -> PathBuf {
    lasting_folder(&format!("tree-jdks-{}", jdk.version))
}

/// An image with markers and the tree, by rules and a property, moved after it was built.
fn image(jdk: &'static Jdk) -> Jdk {
    static MADE: Mutex<Vec<(u32, PathBuf)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((version, home)) = made.iter().find(|(version, _)| *version == jdk.version) {
        return Jdk::made(*version, home.clone());
    }
    let here = cache(jdk);
    let rules = rules(&here);
    let mut make = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    make.arg("jdk").arg(jdk.home()).arg("-o").arg(here.join("made")).arg("--link");
    let said = assert_succeeded(make.arg("--markers").arg(&rules).args(["--typestate", "file-api"]));
    for part in [
        ": a marked and profiled JDK of Java",
        "(nowhere at method): matches nothing in the class library",
        " markers in ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let home = here.join("moved");
    fs::rename(here.join("made"), &home).unwrap();
    made.push((jdk.version, home.clone()));
    Jdk::made(jdk.version, home)
}

/// `java` of that image, with the client that records nodes.
fn java(jdk: &'static Jdk, name: &str, classes: &Path) -> Java {
    let mut java = Java::new(&image(jdk), &format!("tree-jdk-{name}"));
    java.verify().class_path([classes]).option("-Dcctrewrite.markers.off=others,library");
    java
}

fn nodes(text: &str) -> String {
    text.lines().filter(|line| line.contains(" leaf in ")).map(|line| format!("{line}\n")).collect()
}

/// Classes that are defined while the program runs are marked and counted like instrumented ones.
/// Clients are called for the same events, in nodes of the same paths, and the profiles are equal.
fn a_jdk_to_keep(jdk: &'static Jdk) {
    let plain = fixture("markers").join("classes");
    let instrumented = folder(&format!("tree-jdk-instrumented-{}", jdk.version)).join("classes");
    let part = if jdk.version == 8 { jdk.rt_jar() } else { jdk.path("lib/modules") };
    let in_tree = fixture("markers").join("in-tree.toml");
    instrument(
        std::slice::from_ref(&plain),
        &[part],
        &instrumented,
        &["--markers", in_tree.to_str().unwrap()],
    );
    let mut profiles = Vec::new();
    for (name, classes) in [("plain", &plain), ("instrumented", &instrumented)] {
        let mut java = java(jdk, name, classes);
        let run = java.option("-Dcctrewrite.markers.clients=InTree$Heard").succeed("InTree", &[]);
        assert_eq!(run.out, "2 3 2 1 negative\n");
        let heard = nodes(&run.err);
        assert!(heard.starts_with(IN_TREE), "{name}: {}", run.err);
        let said = run.err.contains("markers were inserted into classes of the program at load time");
        assert_eq!(said, name == "plain", "{}", run.err);
        // `Thread.join` waits only for a thread that has not ended yet.
        let steady = |line: &String| line.contains("InTree") && !line.contains("Thread.join(");
        profiles.push(run.contexts(false).into_iter().filter(steady).collect::<Vec<_>>());
    }
    assert!(
        profiles[0]
            .iter()
            .any(|line| line.starts_with("2 ") && line.ends_with(";InTree.two()I;InTree.leaf(I)I"))
    );
    assert_eq!(profiles[0], profiles[1]);
}

/// Markers at many locations of the programs whose trees were derived by hand, and a client of all:
/// the trees are unchanged.
fn trees(jdk: &'static Jdk) {
    let client = folder(&format!("tree-jdk-client-{}", jdk.version));
    fs::copy(fixture("markers").join("classes/Nothing.class"), client.join("Nothing.class")).unwrap();
    let image = image(jdk);
    for (name, _) in TREES.iter().filter(|(_, since)| *since <= jdk.version) {
        let golden = golden(name, Blocks::Exact, jdk.version);
        let mut java = Java::new(&image, &format!("tree-jdk-{name}"));
        java.verify().class_path([&fixture(name).join("classes"), &client]);
        if golden.threads.as_deref() == Some("each") {
            java.option("-Dcctrewrite.threads=each");
        }
        let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        let run = java.option("-Dcctrewrite.markers.clients=Nothing").succeed(&main, &[]);
        golden.assert_equal(&run, &format!("{name} on a marked and profiled JDK {}", jdk.version));
        let placed = "markers were inserted into classes of the program at load time: ";
        assert!(run.err.contains(placed), "{name}: {}", run.err);
    }
}

/// Classes that are loaded before the ancestors that a rule refers to are listed: no loader is
/// asked for these. Other unmarked classes are listed, too.
fn unmarked_places_are_reported(jdk: &'static Jdk) {
    let plain = fixture("markers").join("classes");
    let mut java = java(jdk, "loaded", &plain);
    let run = java.option("-Dcctrewrite.markers.counts=all").succeed("Loaded", &[]);
    assert_eq!(run.out, "3, asked for Loaded$Leaf Loaded$Middle Loaded$Base Loaded$Top\n");
    for line in [
        "classes that were loaded before their supertypes: rules with subtypes-of may have missed them",
        "hidden classes of the JVM (lambdas, method references), which cannot be marked: ",
        "the rule for nowhere at method matches nothing, neither in the class library nor in a \
         class of this run",
    ] {
        assert!(run.err.contains(line), "{line}: {}", run.err);
    }
    let next = " next:p method Loaded$Three.next()Ljava/lang/Integer;";
    let three = run.err.lines().find(|line| line.ends_with(next)).unwrap();
    assert!(three.starts_with("cctrewrite: markers: 3 Loaded$Three "), "{three}");
}

/// `cctrewrite run` in a folder.
fn run(jdk: &Jdk, here: &Path, options: &[&str], command: &[&str]) -> Output {
    let mut run = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        run.env_remove(variable);
    }
    run.current_dir(here).env("JAVA_HOME", jdk.home()).env("CCTREWRITE_CACHE", here.join("cache"));
    run.arg("run").args(options).arg("--").args(command).output().unwrap()
}

fn contexts(profile: &Path) -> String {
    let profile = Profile::read(&fs::read(profile).unwrap()).unwrap();
    let mut text = Vec::new();
    write_contexts(&profile, ContextsOptions::default(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// Profile, clients' output, and the report of a property come from one run; from several JVMs one
/// each.
fn programs_as_they_are(jdk: &'static Jdk) {
    let here = folder(&format!("tree-run-{}", jdk.version));
    let (markers, typestate) = (fixture("markers"), fixture("typestate"));
    let rules = text(&markers.join("in-tree.toml"));
    let rules = ["--markers", &rules, "--typestate", "file-api"];
    let classes = text(&markers.join("classes"));
    let java = text(&jdk.path("bin/java"));
    // The client is on no class path of the program.
    let program = folder(&format!("tree-run-program-{}", jdk.version));
    for class in ["InTree.class", "InTree$1.class"] {
        fs::copy(markers.join("classes").join(class), program.join(class)).unwrap();
    }
    let client = ["--client", "InTree$Heard", "--client-path", &classes];
    let heard = run(jdk, &here, &[&rules[..], &client].concat(), &[&java, "-cp", &text(&program), "InTree"]);
    assert_eq!(heard.status.code(), Some(0), "{}", said(&heard));
    assert_eq!(heard.stdout, b"2 3 2 1 negative\n");
    let printed = fs::read_to_string(here.join("cctrewrite.markers")).unwrap();
    assert!(nodes(&printed).starts_with(IN_TREE), "{printed}");
    for line in [
        "a marked and profiled JDK of Java",
        "cctrewrite: cctrewrite.cct: ",
        "cctrewrite: cctrewrite.typestate: 0 violations",
        "the whole tree: cctrewrite report cctrewrite.cct",
        "markers were inserted into classes of the program at load time: 1 in 1",
    ] {
        assert!(said(&heard).contains(line), "{line}: {}", said(&heard));
    }
    let contexts = contexts(&here.join("cctrewrite.cct"));
    assert!(contexts.contains(";InTree.two()I;InTree.leaf(I)I\n"), "{contexts}");
    assert!(!contexts.contains("InTree$Heard"), "{contexts}");

    // A violation has its node, and its path in the tree.
    let options = [&rules[..], &["-o", "found.cct"]].concat();
    let class_path = text(&typestate.join("classes"));
    let found = run(jdk, &here, &options, &[&java, "-cp", &class_path, "tests.file.NoOpen"]);
    assert_eq!(found.status.code(), Some(0), "{}", said(&found));
    assert!(here.join("found.cct").is_file() && here.join("found.markers").is_file());
    let mut shown = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    shown.args(["typestate", "report", "--format", "json"]).arg(here.join("found.typestate"));
    let shown = shown.output().unwrap();
    assert_eq!(shown.status.code(), Some(1), "{}", said(&shown));
    let json: Value = serde_json::from_slice(&shown.stdout).unwrap();
    let violation = &json["violations"][0];
    assert_eq!(violation["node"].as_str().unwrap().len(), 16);
    let path = violation["path"].as_array().unwrap();
    assert_eq!(path.last().unwrap(), "tests/file/NoOpen.main([Ljava/lang/String;)V");

    // Markers that a file switches off before the program begins are off; several JVMs write three
    // files each.
    let control = here.join("control");
    fs::write(&control, "off leaf\n").unwrap();
    let options = [&rules[..], &["-q", "--marker-control", control.to_str().unwrap()]].concat();
    let script = format!("java -cp {0} InTree; java -cp {0} InTree", text(&program));
    let several = run(jdk, &here, &options, &["sh", "-c", &script]);
    assert_eq!((several.status.code(), said(&several)), (Some(0), String::new()));
    let mut names: Vec<String> = fs::read_dir(here.join("cctrewrite.jvms"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = ["1-InTree.cct", "1-InTree.markers", "1-InTree.typestate"];
    assert_eq!(names[..3], expected);
    assert_eq!(names.len(), 6);
    let printed = fs::read_to_string(here.join("cctrewrite.jvms/1-InTree.markers")).unwrap();
    assert!(printed.contains("0 delivered"), "{printed}");
    // The folder is cctrewrite's own, and is created again.
    let again = run(jdk, &here, &[&rules[..], &["-q"]].concat(), &["sh", "-c", &script]);
    assert_eq!((again.status.code(), said(&again)), (Some(0), String::new()));
    // A halted JVM writes all three; a killed one is missing.
    let endings = text(&fixture("ending/classes"));
    let options = [&rules[..], &["-q", "-o", "halted.cct"]].concat();
    let halted = run(jdk, &here, &options, &[&java, "-cp", &endings, "Ending", "halt"]);
    assert_eq!((halted.status.code(), said(&halted)), (Some(4), String::new()));
    for file in ["halted.cct", "halted.markers", "halted.typestate"] {
        assert!(here.join(file).is_file(), "{file}");
    }
    let killed = format!(
        "mkfifo out; java -cp {endings} Ending wait > out & read line < out; kill -9 $!; wait $!; exit 0"
    );
    let killed = run(jdk, &here, &[&rules[..], &["-q"]].concat(), &["sh", "-c", &killed]);
    assert_eq!(killed.status.code(), Some(125), "{}", said(&killed));
    assert!(said(&killed).contains("left no output of its markers"), "{}", said(&killed));
}

jdks!(kept, a_jdk_to_keep, feature);
jdks!(golden_trees, trees, [8], all [17, 25]);
jdks!(left_out, unmarked_places_are_reported, feature);
jdks!(runs, programs_as_they_are, feature);
