//! Flight Recorder together with a profile. It replaces the methods of events, and inserts code
//! into the class library at run time, by names and original signatures.

use cct_archive::{Input, Limits};
use cct_classfile::ClassFile;
use cct_jdk::flight_recorder;

use crate::support::{Blocks, Image, Java, Jdk, Library, assert_same_lines, fixture, jdks};

/// A JVM of the profiled JDK that rewrites the program when it is loaded.
fn profiled(jdk: &'static Jdk) -> Java {
    match jdk.version {
        8 => Library::whole(jdk, Blocks::Exact).java("recordings"),
        _ => Image::of(jdk, Blocks::Exact).java("recordings"),
    }
}

/// The program's own events (also those of a class that was loaded before its caller), files,
/// sockets, exceptions; and the newest frame of each.
fn events_are_recorded_as_without_a_profile(jdk: &'static Jdk) {
    let run = |mut java: Java| {
        let run = java.class_path([fixture("recordings/classes")]).run("Recordings", &[]);
        run.assert_code(0);
        run.out
    };
    let expected = run(jdk.java("recordings-plain"));
    let found = run(profiled(jdk));
    let [expected, found] = [&expected, &found].map(|out| out.lines().collect::<Vec<_>>());
    assert_same_lines(&expected, &found, &format!("JDK {}", jdk.version));
    for event in
        ["own.First 4", "own.Loaded 7", "jdk.FileRead 100", "jdk.SocketWrite", "jdk.JavaErrorThrow own"]
    {
        assert!(expected.iter().any(|line| line.starts_with(event)), "{event}: {expected:?}");
    }
}

/// The rewriter knows each method into which Flight Recorder copies code: those of its
/// `Instrumentor` classes with an annotation.
fn methods_that_it_instruments_are_known(jdk: &'static Jdk) {
    let library = if jdk.version == 8 { jdk.path("jre/lib/jfr.jar") } else { jdk.path("lib/modules") };
    let input = Input::open(&library, &Limits::default()).unwrap();
    let survey = input.survey(|_, bytes| {
        let class = ClassFile::parse(bytes)?;
        if !flight_recorder::is_copied_by_jfr(class.name()) {
            return Ok(Vec::new());
        }
        let is_known = |method: &[u8]| {
            let mut rows = flight_recorder::INSTRUMENTED_BY_JFR.iter().filter(|row| row.name == method);
            // An annotation of the class names the target.
            rows.any(|row| {
                let target = String::from_utf8_lossy(row.class).replace('/', ".");
                class.pool.find_utf8(target.as_bytes()).is_some()
            })
        };
        let copied =
            class.methods.iter().filter(|m| m.attributes.find(b"RuntimeVisibleAnnotations").is_some());
        let copied = copied.map(|m| {
            let [class, name] = [class.name(), m.name].map(String::from_utf8_lossy);
            (format!("{class}.{name}"), is_known(m.name))
        });
        Ok::<_, cct_classfile::Error>(copied.collect::<Vec<_>>())
    });
    let copied: Vec<(String, bool)> = survey.unwrap().classes.into_iter().flatten().collect();
    let unknown: Vec<_> = copied.iter().filter(|(_, known)| !known).collect();
    assert!(unknown.is_empty(), "JDK {}: {unknown:?}", jdk.version);
    assert_eq!(copied.is_empty(), jdk.version > 22, "JDK {}: {copied:?}", jdk.version);
}

jdks!(recordings, events_are_recorded_as_without_a_profile, 8..=25);
jdks!(instrumented, methods_that_it_instruments_are_known, 8..);
