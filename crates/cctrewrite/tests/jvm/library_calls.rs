//! Calls below a program that are easily lost: natives called without a name, actions that happen
//! once in a JVM, and requests to class loaders.

use std::process::Command;

use crate::support::{Blocks, Image, Java, Jdk, fixture, jdks, profiled};

/// Calls by path.
type Calls = Vec<(String, u64)>;

fn calls(jdk: &'static Jdk, main: &str) -> Calls {
    let image = Image::of(jdk, Blocks::Exact);
    let classes = fixture(&main.to_lowercase()).join("classes");
    let run = image.java("library-calls").without_archive().class_path([classes]).succeed(main, &[]);
    let call = |line: String| {
        let [calls, _, path] = *line.splitn(3, ' ').collect::<Vec<_>>() else { panic!("{line}") };
        (path.to_owned(), calls.parse().unwrap())
    };
    run.contexts(false).into_iter().map(call).collect()
}

/// Parts of the names of callers that do not name their callee: forms of method handles, and
/// reflection.
const FORMS: [&str; 3] =
    ["java.lang.invoke.LambdaForm$", "java.lang.invoke.DirectMethodHandle$Holder.", "Accessor"];

/// Calls of a native below one method of the program, by callers that do not name it.
fn led_to(all: &Calls, below: &str, native: &str) -> u64 {
    let is_led = |path: &str| {
        let frames: Vec<&str> = path.split(';').collect();
        let [.., caller, callee] = *frames else { return false };
        frames.iter().any(|frame| frame.starts_with(below))
            && callee.starts_with(native)
            && FORMS.iter().any(|form| caller.contains(form))
    };
    all.iter().filter(|(path, _)| is_led(path)).map(|(_, calls)| calls).sum()
}

fn natives_that_method_handles_and_reflection_lead_to(jdk: &'static Jdk) {
    let all = calls(jdk, "Handles");
    let expected = [
        ("Handles.copies(", "java.lang.System.arraycopy(", 3),
        ("Handles.instances(", "java.lang.Class.isInstance(", 4),
        ("Handles.hashCodes(", "java.lang.Object.hashCode(", 5),
        ("Handles.classes(", "java.lang.Object.getClass(", 6),
        ("Handles.reflection(", "java.lang.System.arraycopy(", 7),
        ("Handles.reflection(", "java.lang.Class.isInstance(", 7),
        ("Handles.reflection(", "java.lang.Object.hashCode(", 7),
    ];
    for (below, native, calls) in expected {
        let found = led_to(&all, below, native);
        assert_eq!(found, calls, "JDK {}: {native} below {below}", jdk.version);
    }
}

/// The runtime uses the class library, too. It must not be the first where that could be seen.
fn first_uses_are_the_programs(jdk: &'static Jdk) {
    let all = calls(jdk, "Firsts");
    let calls = |below: &str, frame: &str| -> u64 {
        let is = |path: &str| {
            path.contains(&format!(";{below}")) && path.rsplit(';').next().unwrap().starts_with(frame)
        };
        all.iter().filter(|(path, _)| is(path)).map(|(_, calls)| calls).sum()
    };
    const LOOKUP: &str = "Firsts.property()Ljava/lang/String,;java.lang.System.getProperty(";
    let linkage = "java.lang.invoke.MethodHandleNatives.linkCallSiteImpl(";
    assert_eq!(calls("Firsts.joins(", linkage), 4, "JDK {}", jdk.version);
    assert_eq!(calls(LOOKUP, "java.lang.StringLatin1.hashCode("), 1, "JDK {}", jdk.version);
    // Earlier and later releases have no such initialiser.
    if [21, 25].contains(&jdk.version) {
        assert_eq!(calls("Firsts.stream(", "java.io.DataInputStream.<clinit>("), 1, "JDK {}", jdk.version);
    }
}

/// The native that `Reference.get` calls on JDK 21.0.13, 26 and later has a context below it.
/// Elsewhere `get` is a field read.
fn references_call_their_native(jdk: &'static Jdk) {
    let all = calls(jdk, "Firsts");
    let of = |frames: &str| -> u64 {
        all.iter().filter(|(path, _)| path.ends_with(frames)).map(|(_, calls)| calls).sum()
    };
    const GET: &str = "java.lang.ref.Reference.get()Ljava/lang/Object,";
    const GET0: &str = "java.lang.ref.Reference.get0()Ljava/lang/Object,";
    let javap = Command::new(jdk.path("bin/javap")).args(["-p", "java.lang.ref.Reference"]).output().unwrap();
    let has_native = String::from_utf8_lossy(&javap.stdout).contains(" get0()");
    assert!(of(GET) > 0, "JDK {}", jdk.version);
    let expected = if has_native { of(GET) } else { 0 };
    assert_eq!(of(&format!("{GET};{GET0}")), expected, "JDK {}", jdk.version);
}

/// Data that a class caches at the first request (fields, methods, its name), and the
/// initialisation of `Long`: the program is the first.
fn nothing_is_left_in_caches(jdk: &'static Jdk) {
    let run = profiled(jdk, Blocks::Exact, "caches")
        .without_archive()
        .class_path([fixture("firsts/classes")])
        .succeed("Caches", &[]);
    let lines = run.contexts(false);
    let calls = |below: &str, frame: &str| -> u64 {
        let of = |line: &String| {
            let (calls, path) = line.split_once(' ')?;
            let path = &path[path.find("Caches.main(")?..];
            let frames: Vec<&str> = path.split(';').collect();
            let is = frames.iter().any(|f| f.starts_with(below)) && frames.last()?.starts_with(frame);
            is.then(|| calls.parse::<u64>().unwrap())
        };
        lines.iter().filter_map(of).sum()
    };
    // As by single-stepping on the plain JDK. JDK 8 has requested the fields of one class by
    // itself; from 9 on its loader has requested a class's name.
    let (fields, methods, names) = match jdk.version {
        8 => (5, 6, 1),
        11 => (9, 9, 0),
        _ => (10, 10, 0),
    };
    let found = [
        calls("Caches.fields(", "java.lang.Class.getDeclaredFields0("),
        calls("Caches.methods(", "java.lang.Class.getDeclaredMethods0("),
        calls("Caches.name(", "java.lang.Class.getName0("),
    ];
    assert_eq!(found, [fields, methods, names], "JDK {}", jdk.version);
    let initialised = calls("java.lang.Long.<clinit>(", "java.lang.Class.getPrimitiveClass(");
    assert_eq!(initialised, u64::from(jdk.version > 8), "JDK {}", jdk.version);
}

/// Code inserted into a class names no class that its loader has not been asked for.
fn loaders_are_asked_for_the_same_classes(jdk: &'static Jdk) {
    let run = |mut java: Java| java.class_path([fixture("firsts/classes")]).succeed("Asked", &[]).out;
    let expected = run(jdk.java("asked-plain"));
    assert!(expected.starts_with("asked for Asked$Below\nasked for Asked$Above\n"), "{expected}");
    assert_eq!(run(Image::of(jdk, Blocks::Exact).java("asked")), expected, "JDK {}", jdk.version);
}

jdks!(natives, natives_that_method_handles_and_reflection_lead_to, 11..);
jdks!(firsts, first_uses_are_the_programs, 11..);
jdks!(loaders, loaders_are_asked_for_the_same_classes, 11..);
jdks!(caches, nothing_is_left_in_caches, 8..=25);
jdks!(references, references_call_their_native, 17..);
