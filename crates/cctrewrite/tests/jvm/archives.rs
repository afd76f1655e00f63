//! Archives of classes that a user creates with an image's JVM, and with a plain one
//! (docs/reference/images.md).

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::golden::of_classes;
use crate::support::{Blocks, Image, Java, Jdk, Run, fixture, folder, jdks};

/// Programs whose trees depend on class initialisers, which the VM calls by itself, and on call
/// sites that are linked at run time.
const PROGRAMS: [&str; 2] = ["Initialisers", "Lambdas"];

/// A jar with a program. JVMs do not create archives of folders.
fn jar(jdk: &Jdk, main: &str) -> PathBuf {
    let jar = folder("archived").join("app.jar");
    jdk.pack(&jar, &[fixture(&main.to_lowercase()).join("classes")]);
    jar
}

/// Runs a program; the JVM's log of loaded classes goes to a file.
fn run(mut java: Java, jar: &Path, main: &str, options: &[String]) -> Run {
    java.option("-Xlog:class+load:file=loads");
    for option in options {
        java.option(option);
    }
    java.class_path([jar]).succeed(main, &[])
}

/// Whether the program's main class came from an archive.
fn is_from_archive(run: &Run, main: &str) -> bool {
    let loads = fs::read_to_string(run.folder.join("loads")).unwrap();
    let line = loads.lines().find(|line| line.contains(&format!(" {main} source: ")));
    line.unwrap().contains("shared objects file")
}

/// Runs a program with an archive from the image, and without: it has the same contexts, and all of
/// them have names.
fn assert_the_same(jdk: &'static Jdk, jar: &Path, main: &str, with_archive: &[String]) {
    let image = Image::of(jdk, Blocks::Exact);
    let without = run(image.java_as_it_is("without"), jar, main, &[]);
    let with = run(image.java_as_it_is("with"), jar, main, with_archive);
    let what = format!("{main} on JDK {}, {with_archive:?}", jdk.version);
    assert_eq!([&without, &with].map(|run| is_from_archive(run, main)), [false, true], "{what}");
    // An AOT cache contains the objects of lambdas without captures: no constructor runs for them.
    let is_made_ahead = |line: &String| line.ends_with("$$Lambda.<init>()V") && what.contains("AOTCache");
    let [expected, found] = [&without, &with].map(|run| {
        let lines = of_classes(&run.contexts(false), &[main]).into_iter();
        lines.filter(|line| !is_made_ahead(line)).collect::<Vec<String>>()
    });
    assert!(expected.len() > 8, "{expected:#?}");
    crate::support::assert_same_lines(&expected, &found, &what);
    let notes = with.profile().notes;
    assert!(!notes.iter().any(|note| note.contains("no name")), "{what}: {notes:?}");
}

/// `-XX:ArchiveClassesAtExit`, since JDK 13.
fn made_when_a_program_ends(jdk: &'static Jdk) {
    for main in PROGRAMS {
        let jar = jar(jdk, main);
        let archive = jar.with_file_name("app.jsa");
        let image = Image::of(jdk, Blocks::Exact);
        let at_exit = format!("-XX:ArchiveClassesAtExit={}", archive.display());
        run(image.java_as_it_is("dump"), &jar, main, &[at_exit]);
        assert_the_same(jdk, &jar, main, &[format!("-XX:SharedArchiveFile={}", archive.display())]);
    }
}

/// `-Xshare:dump` of a list of classes. (`Initialisers` has a class whose initialiser fails. No
/// other kind of archive contains such a class.)
fn made_of_a_list(jdk: &'static Jdk) {
    for main in ["Initialisers", "Types", "Lambdas"] {
        made_of_the_classes_of(jdk, main);
    }
}

fn made_of_the_classes_of(jdk: &'static Jdk, main: &str) {
    let jar = jar(jdk, main);
    let image = Image::of(jdk, Blocks::Exact);
    let [list, archive] = ["app.list", "app.jsa"].map(|name| jar.with_file_name(name));
    run(image.java_as_it_is("list"), &jar, main, &[format!("-XX:DumpLoadedClassList={}", list.display())]);
    let names: String = fs::read_to_string(&list)
        .unwrap()
        .lines()
        .filter(|line| !line.starts_with('@'))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(&list, names).unwrap();
    let mut dump = image.java_as_it_is("static-dump");
    dump.forget("-XX:+UseSerialGC").option("-Xshare:dump");
    dump.option(format!("-XX:SharedClassListFile={}", list.display()));
    dump.option(format!("-XX:SharedArchiveFile={}", archive.display()));
    dump.class_path([&jar]).succeed("-version", &[]);
    assert_the_same(jdk, &jar, main, &[format!("-XX:SharedArchiveFile={}", archive.display())]);
}

/// `-XX:AOTCacheOutput`, since JDK 25. (For a program without method handles, such as
/// `Initialisers`, the image of JDK 27 creates none: docs/reference/images.md.)
fn made_ahead_of_time(jdk: &'static Jdk) {
    let programs = if jdk.version < 27 { &PROGRAMS[..] } else { &PROGRAMS[1..] };
    for main in programs {
        let jar = jar(jdk, main);
        let cache = jar.with_file_name("app.aot");
        let image = Image::of(jdk, Blocks::Exact);
        run(image.java_as_it_is("train"), &jar, main, &[format!("-XX:AOTCacheOutput={}", cache.display())]);
        assert_the_same(jdk, &jar, main, &[format!("-XX:AOTCache={}", cache.display())]);
    }
}

/// It contains plain classes. HotSpot detects that it does not fit, and continues without it.
fn made_with_the_plain_jdk(jdk: &'static Jdk) {
    let main = PROGRAMS[0];
    let jar = jar(jdk, main);
    let archive = jar.with_file_name("plain.jsa");
    run(jdk.java("plain-dump"), &jar, main, &[format!("-XX:ArchiveClassesAtExit={}", archive.display())]);
    let use_it = [format!("-XX:SharedArchiveFile={}", archive.display())];
    assert!(is_from_archive(&run(jdk.java("plain-use"), &jar, main, &use_it), main));
    let image = Image::of(jdk, Blocks::Exact);
    let without = run(image.java_as_it_is("without"), &jar, main, &[]);
    let with = run(image.java_as_it_is("with-plain"), &jar, main, &use_it);
    assert!(!is_from_archive(&with, main), "JDK {}", jdk.version);
    let [expected, found] = [&without, &with].map(|run| of_classes(&run.contexts(false), &[main]));
    crate::support::assert_same_lines(&expected, &found, &format!("JDK {}", jdk.version));
}

jdks!(made_when_a_program_ends, made_when_a_program_ends, [17, 27], all [21, 25, 26]);
jdks!(made_of_a_list, made_of_a_list, [17, 27], all [11, 21, 25, 26]);
jdks!(made_ahead_of_time, made_ahead_of_time, 25..);
jdks!(made_with_the_plain_jdk, made_with_the_plain_jdk, 17..);
