//! Classes that a JVM takes from elsewhere than the class library on disk, or lacks: limited and
//! upgraded modules, small runtimes, endorsed jars.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use walkdir::{DirEntry, WalkDir};

use crate::java_agents::calls;
use crate::support::{Blocks, Image, Java, Jdk, Run, assert_succeeded, fixture, folder, jdks};

/// Compiles the sources of folders of the fixture into a new one.
fn compile(jdk: &Jdk, sources: &[PathBuf], options: &[&str]) -> PathBuf {
    let mut files = Vec::new();
    for source in sources {
        list(source, &mut files);
    }
    let classes = folder("classes");
    let mut javac = Command::new(jdk.path("bin/javac"));
    assert_succeeded(javac.args(["-g", "-nowarn", "-d"]).arg(&classes).args(options).args(files));
    classes
}

/// A part of the fixture.
fn part(name: &str) -> PathBuf {
    fixture("replaced").join(name)
}

fn list(path: &Path, into: &mut Vec<PathBuf>) {
    let entries = WalkDir::new(path).sort_by_file_name().into_iter().map(Result::unwrap);
    into.extend(entries.filter(|entry| !entry.file_type().is_dir()).map(DirEntry::into_path));
}

/// Packs classes into a jar of that name, in a folder of its own.
fn pack(jdk: &Jdk, classes: &Path, name: &str) -> PathBuf {
    let jar = folder("jars").join(name);
    let mut command = Command::new(jdk.path("bin/jar"));
    assert_succeeded(command.arg("cf").arg(&jar).arg("-C").arg(classes).arg("."));
    jar
}

/// Runs a program plain and profiled; both must print the same and end alike. Returns the profiled
/// run.
fn same(plain: &Jdk, profiled: Java, options: &[String], classes: &Path, main: &str) -> Run {
    let run = |mut java: Java| {
        for option in options {
            java.option(option.clone());
        }
        java.class_path([classes]).run(main, &[])
    };
    let (plain, profiled) = (run(plain.java("plain")), run(profiled));
    let all = |run: &Run| format!("{:?}\n{}{}", run.code, run.out, run.err);
    assert_eq!(all(&plain), all(&profiled), "{main} with {options:?}: plain and profiled");
    profiled
}

/// A class of the class path has the name of one in a module that the JVM leaves out. Its shape
/// differs.
fn limited_modules(jdk: &'static Jdk) {
    let image = Image::of(jdk, Blocks::Exact);
    let classes = compile(jdk, &[part("limited")], &["--limit-modules", "java.base"]);
    let run =
        same(jdk, image.java("limited"), &["--limit-modules=java.base".to_owned()], &classes, "Limited");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.starts_with("10\n9\nsub own limited event\nfalse\n"), "{}", run.out);
    assert_eq!(calls(&run, "Limited.main", "Limited$Branch.getFormatId"), 1);
    assert_eq!(calls(&run, "javax/sql/RowSetEvent.told", "Limited$Event.getSource"), 1);
    // Patching with a missing folder changes nothing.
    let options = ["--limit-modules=java.base", "--patch-module=java.base=/missing/patch"].map(str::to_owned);
    let run = same(jdk, image.java("missing-patch"), &options, &classes, "Limited");
    assert_eq!(calls(&run, "Limited.main", "Limited$Branch.getFormatId"), 1);
}

/// A module that replaces the JDK's: the class library calls its classes, which have a different
/// shape.
fn upgraded_module(jdk: &'static Jdk) {
    let extracted = folder("extracted");
    let mut extract = Command::new(jdk.path("bin/jimage"));
    extract.args(["extract", "--include", "regex:/java.compiler/.*", "--dir"]).arg(&extracted);
    assert_succeeded(extract.arg(jdk.path("lib/modules")));
    let source = part("upgraded");
    let patch = format!("java.compiler={}", source.display());
    let own = compile(jdk, &[source], &["--patch-module", &patch]);
    crate::support::copy_all(&own, &extracted.join("java.compiler"));
    let module = pack(jdk, &extracted.join("java.compiler"), "java.compiler.jar");
    let classes = compile(jdk, &[part("compiler")], &[]);
    let option = format!("--upgrade-module-path={}", module.display());
    let java = Image::of(jdk, Blocks::Exact).java("upgraded");
    let run = same(jdk, java, &[option], &classes, "Compile");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.out.ends_with("1 field\n"), "{}", run.out);
    let wrapper = "com/sun/tools/javac/api/ClientCodeWrapper$WrappedJavaFileObject.getKind";
    assert!(calls(&run, wrapper, "javax/tools/SimpleJavaFileObject.getKind") > 0);
}

/// A linked runtime of two modules is a JDK like others.
fn linked_runtime(jdk: &'static Jdk) {
    let runtime = folder("linked").join("runtime");
    let mut jlink = Command::new(jdk.path("bin/jlink"));
    assert_succeeded(jlink.args(["--add-modules", "java.base,java.logging", "--output"]).arg(&runtime));
    let plain = Jdk::made(jdk.version, runtime);
    if !Command::new(plain.path("bin/java")).arg("-version").output().is_ok_and(|run| run.status.success()) {
        eprintln!("skipped: what jlink of JDK {} makes does not run on this machine", jdk.version);
        return;
    }
    let home = folder("image").join("jdk");
    let mut make = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    assert_succeeded(make.arg("jdk").arg(plain.home()).arg("-o").arg(&home).args(Blocks::Exact.options()));
    let classes = compile(jdk, &[part("app/Log.java")], &[]);
    let java = Jdk::made(jdk.version, home).java("profiled");
    let run = same(&plain, java, &[], &classes, "Log");
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(calls(&run, "java/util/logging/Logger.log", "Log$Lines.publish"), 1);
}

/// Endorsed jars come first on the boot class path: those that an option names, and those of a
/// home's own folder.
#[test]
fn endorsed_jars() {
    let Some(jdk) = Jdk::of_version(8) else { return };
    let sources = [part("endorsed"), fixture("instrumentation/shelf")];
    let endorsed = pack(jdk, &compile(jdk, &sources, &[]), "endorsed.jar");
    let path = format!("-Xbootclasspath/p:{}", endorsed.display());
    let classes = compile(jdk, &[part("app/Endorsed.java")], &[&path]);
    let image = Image::of(jdk, Blocks::Exact);
    let check = |run: Run| {
        assert_eq!(run.code, Some(0), "{}", run.err);
        assert!(run.out.starts_with("2571\n"), "{}", run.out);
        assert!(run.out.ends_with("Endorsed$Worse: worse, own endorsed\n"), "{}", run.out);
        assert_eq!(calls(&run, "java/io/OutputStream.write", "shelf/Pantry$Counting.write"), 7);
    };
    let option = format!("-Djava.endorsed.dirs={}", endorsed.parent().unwrap().display());
    check(same(jdk, image.java("option"), &[option], &classes, "Endorsed"));
    // Linked copies: separate homes, as cheap as possible.
    let homes = [jdk.home(), image.home()].map(|home| {
        let copy = folder("home").join("jdk");
        assert_succeeded(Command::new("cp").args(["-aL", "--link"]).arg(home).arg(&copy));
        let own = copy.join("jre/lib/endorsed");
        fs::create_dir_all(&own).unwrap();
        fs::copy(&endorsed, own.join("endorsed.jar")).unwrap();
        Jdk::made(8, copy)
    });
    check(same(&homes[0], homes[1].java("home"), &[], &classes, "Endorsed"));
}

jdks!(limited, limited_modules, [25], all[17]);
jdks!(upgraded, upgraded_module, [17], all[25]);
jdks!(linked, linked_runtime, [25], all[17]);
