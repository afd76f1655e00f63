//! The class library of JDK 9 and later in other forms than a whole profiled JDK: patches, linked
//! images, folders of modules. Also applications that are instrumented beforehand for it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::golden::GoldenTree;
use crate::support::{
    Blocks, Image, Java, Jdk, assert_succeeded, copy_all, fixture, folder, instrument, jdks,
};

/// The output of `cctrewrite flags` for these outputs.
fn flags(outputs: &[PathBuf]) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    let output = command.arg("flags").args(outputs).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    // No path of these tests needs quotes.
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Runs a fixture with an expected tree on a class library that these options select; returns the
/// notes of the profile.
fn assert_tree(jdk: &Jdk, options: &[String], name: &str, class_path: &Path, what: &str) -> Vec<String> {
    let mut java = Java::new(jdk, name);
    for option in options {
        java.option(option);
    }
    java.verify().class_path([class_path]);
    let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
    let run = java.succeed(&main, &[]);
    // No warning of an unknown module, or of a descriptor in a patch.
    assert_eq!(run.err, "", "{what}");
    // Without the classes that the JVM generates.
    let files = ["expected.raw.txt", "expected.txt"].map(|file| fixture(name).join(file));
    let golden = GoldenTree::read(files.iter().find(|file| file.is_file()).unwrap()).without_generated();
    golden.assert_equal(&run, &format!("{name}, {what}"));
    run.profile().notes
}

/// The modules that a JVM of the plain JDK resolves for a program on the class path.
fn resolved(jdk: &Jdk) -> BTreeSet<String> {
    let mut java = jdk.java("resolved");
    java.option("--show-module-resolution").class_path([fixture("hello/classes")]);
    let out = java.succeed("Hello", &[]).out;
    // `root java.se jrt:/java.se`, `a binds b jrt:/b`, `a requires b jrt:/b`.
    let lines = out.lines().filter_map(|line| line.split_once(" jrt:/"));
    lines.map(|(line, _)| line.rsplit(' ').next().unwrap().to_owned()).collect()
}

fn patches(jdk: &'static Jdk) {
    let what = format!("patches of JDK {}", jdk.version);
    let patches = folder("patches").join("patches");
    instrument(&[jdk.path("lib/modules")], &[], &patches, &["--patches", "--level", "1"]);
    let options = flags(std::slice::from_ref(&patches));
    let patched: BTreeSet<String> = options
        .iter()
        .filter_map(|option| option.strip_prefix("--patch-module="))
        .map(|patch| patch.split('=').next().unwrap().to_owned())
        .collect();
    let mut resolved = resolved(jdk);
    // Some, such as java.se, have no classes.
    resolved.retain(|module| patches.join(format!("{module}.jar")).is_file());
    assert_eq!(patched, resolved, "{what}");
    for name in ["lambdas", "calls"] {
        let notes = assert_tree(jdk, &options, name, &fixture(name).join("classes"), &what);
        assert_eq!(notes, Vec::<String>::new(), "{what}");
    }
    // The patches are a library for programs that run on them.
    let application = folder("application").join("calls");
    instrument(&[fixture("calls/classes")], &[patches], &application, &[]);
    assert_tree(jdk, &options, "calls", &application, &what);
}

/// The jmod of `java.base`, and a runtime image that jlink links from it.
fn linked(jdk: &'static Jdk) {
    if !jdk.path("jmods/java.base.jmod").is_file() {
        eprintln!("skipped: JDK {} has no jmods", jdk.version);
        return;
    }
    let what = format!("linked by JDK {}", jdk.version);
    let folder = folder("linked");
    let modules = folder.join("jmods");
    fs::create_dir(&modules).unwrap();
    let base = modules.join("java.base.jmod");
    let said = instrument(&[jdk.path("jmods/java.base.jmod")], &[], &base, &["--level", "1"]);
    assert!(said.contains("jlink"), "{said}");
    let options = flags(&[base]);
    let linked = link(jdk, &modules, folder.join("image"));
    // JDKs of the cache are bound to a newer C library, and images linked from them are not
    // (docs/internals/jdks.md).
    if !starts(&linked) && !starts(&link(jdk, &jdk.path("jmods"), folder.join("plain"))) {
        eprintln!("skipped: what jlink of JDK {} makes does not run on this machine", jdk.version);
        return;
    }
    for name in ["lambdas", "calls"] {
        let notes = assert_tree(&linked, &options, name, &fixture(name).join("classes"), &what);
        assert!(notes.iter().any(|note| note.contains("jlink")), "{what}: {notes:?}");
    }
}

/// A runtime image with `java.base` of these jmods.
fn link(jdk: &Jdk, modules: &Path, home: PathBuf) -> Jdk {
    let mut jlink = Command::new(jdk.path("bin/jlink"));
    jlink.arg("--module-path").arg(modules).args(["--add-modules", "java.base", "--output"]).arg(&home);
    assert_succeeded(&mut jlink);
    Jdk::made(jdk.version, home)
}

fn starts(jdk: &Jdk) -> bool {
    let mut java = Command::new(jdk.path("bin/java"));
    let output = java.args(["-Dcctrewrite.record=off", "-version"]).output();
    output.is_ok_and(|output| output.status.success())
}

/// A JDK whose classes are in folders, as its build leaves them.
fn folders(jdk: &'static Jdk) {
    if !jdk.path("jmods/java.base.jmod").is_file() {
        eprintln!("skipped: JDK {} has no jmods", jdk.version);
        return;
    }
    let what = format!("folders of JDK {}", jdk.version);
    let folder = folder("folders");
    let [home, plain] = ["home", "plain"].map(|name| folder.join(name));
    for part in ["bin", "conf", "lib"] {
        copy_all(&jdk.path(part), &home.join(part));
    }
    fs::remove_file(home.join("lib/modules")).unwrap();
    // jlink's output is not in folders.
    let extracted = folder.join("extracted");
    let mut jmod = Command::new(jdk.path("bin/jmod"));
    jmod.arg("extract").arg("--dir").arg(&extracted).arg(jdk.path("jmods/java.base.jmod"));
    assert_succeeded(&mut jmod);
    fs::create_dir(&plain).unwrap();
    fs::rename(extracted.join("classes"), plain.join("java.base")).unwrap();

    let exploded = Jdk::made(jdk.version, home.clone());
    let modules = home.join("modules");
    copy_all(&plain, &modules);
    let patches = folder.join("patches");
    instrument(std::slice::from_ref(&modules), &[], &patches, &["--patches", "--level", "1"]);
    let classes = fixture("lambdas/classes");
    assert_tree(&exploded, &flags(&[patches]), "lambdas", &classes, &what);

    fs::remove_dir_all(&modules).unwrap();
    instrument(&[plain], &[], &modules, &[]);
    assert_tree(&exploded, &flags(&[modules]), "lambdas", &classes, &what);
}

/// Instrumented for the original JDK or for the image, an application runs on the image without
/// rewriting at run time.
fn applications(jdk: &'static Jdk) {
    let image = Image::of(jdk, Blocks::Exact);
    let folder = folder("applications");
    let jar = folder.join("app.jar");
    jdk.pack(&jar, &[fixture("calls/classes")]);
    let places = ["", "lib/modules"];
    let libraries = [jdk.home(), image.home()].map(|home| places.map(|place| home.join(place)));
    for (number, library) in libraries.iter().flatten().enumerate() {
        let application = folder.join(format!("{number}.jar"));
        instrument(std::slice::from_ref(&jar), std::slice::from_ref(library), &application, &[]);
        let mut java = image.java("application");
        // None: an empty path.
        java.option("-Dcctrewrite.loadtime=").class_path([&application]);
        let run = java.succeed("Calls", &[]);
        let golden = GoldenTree::read(&fixture("calls/expected.txt"));
        golden.assert_equal(&run, &format!("for {}, JDK {}", library.display(), jdk.version));
    }
}

// Folders need no image, so they also work for JDKs whose images have a format of their own (27
// has).
jdks!(patches, patches, [25], all [11, 17, 21, 26, 27]);
jdks!(linked, linked, [17], all [11, 21, 25, 26, 27]);
jdks!(folders, folders, [25], all [11, 17, 21, 26, 27]);
jdks!(applications, applications, [17, 27], all [11, 21, 25, 26]);
