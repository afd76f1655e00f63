//! `cctrewrite jdk`: profiled JDKs from their users' view.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use cct_profile::Profile;
use cct_profile::contexts::{ContextsOptions, write_contexts};

use crate::support::{Jdk, assert_succeeded, fixture, folder, jdks, lasting_folder, scratch};

/// `cctrewrite jdk`, with a cache of these tests as the default.
fn jdk(home: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.arg("jdk").arg(home).args(arguments).env("CCTREWRITE_CACHE", scratch().join("cache"));
    command
}

/// A program of a JDK, without options from the environment.
fn program(home: &Path, name: &str, folder: &Path) -> Command {
    let mut command = Command::new(home.join("bin").join(name));
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        command.env_remove(variable);
    }
    command.current_dir(folder);
    command
}

fn succeed(command: &mut Command) -> String {
    let output: Output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    text(&output.stdout)
}

/// The image of a JDK, built once for all tests and moved afterwards: nothing may depend on where
/// it was built.
fn image(home: &Jdk) -> &'static Path {
    static IMAGES: [OnceLock<PathBuf>; 32] = [const { OnceLock::new() }; 32];
    IMAGES[home.version as usize].get_or_init(|| {
        let folder = lasting_folder(&format!("image-{}", home.version));
        let made = folder.join("made");
        assert_succeeded(jdk(home.home(), &["-q", "-o"]).arg(&made));
        let moved = folder.join("and moved");
        fs::rename(made, &moved).unwrap();
        moved
    })
}

/// Runs `java` of an image; returns its output, and the profile.
fn profiled(image: &Path, options: &[&str], class_path: &Path, main: &str) -> (String, Profile) {
    let folder = folder(main);
    let out = folder.join("run.cct");
    let mut java = program(image, "java", &folder);
    java.arg(format!("-Dcctrewrite.out={}", out.display()))
        .args(options)
        .arg("-cp")
        .arg(class_path)
        .arg(main);
    let printed = succeed(&mut java);
    (printed, read(&out))
}

fn read(path: &Path) -> Profile {
    let profile = Profile::read(&fs::read(path).unwrap()).unwrap();
    assert!(profile.damage.is_empty(), "{}: {:?}", path.display(), profile.damage);
    profile
}

fn contexts(profile: &Profile) -> Vec<String> {
    let mut text = Vec::new();
    write_contexts(profile, ContextsOptions::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

fn calls(profile: &Profile, frame: &str) -> bool {
    contexts(profile).iter().any(|line| line.rsplit([' ', ';']).next() == Some(frame))
}

fn leaves_a_profile(home: &'static Jdk) {
    let image = image(home);
    let classes = fixture("hello/classes");
    let here = folder("plainly");
    let printed = succeed(program(image, "java", &here).arg("-cp").arg(&classes).arg("Hello"));
    assert_eq!(printed, succeed(program(home.home(), "java", &here).arg("-cp").arg(&classes).arg("Hello")));
    let left: Vec<PathBuf> = fs::read_dir(&here).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [profile] = &*left else { panic!("{left:?}") };
    let profile = read(profile);
    assert!(calls(&profile, "Hello.main([Ljava/lang/String,)V"), "{:?}", contexts(&profile));
    // The load-time library was found.
    assert!(!profile.notes.iter().any(|note| note.contains("loadtime")), "{:?}", profile.notes);
}
jdks!(a_program_leaves_a_profile_without_any_option, leaves_a_profile, 8..);

fn compiles_as_before(home: &'static Jdk) {
    let image = image(home);
    let source = fixture("hello/Hello.java");
    let [plain, profiled] = [home.home(), image].map(|home_or_image| {
        let here = folder("javac");
        let mut javac = program(home_or_image, "javac", &here);
        succeed(javac.arg("-J-Dcctrewrite.out=javac.cct").args(["-d", "."]).arg(&source));
        here
    });
    let class = |folder: &Path| fs::read(folder.join("Hello.class")).unwrap();
    assert!(class(&plain) == class(&profiled), "JDK {}", home.version);
    assert!(read(&profiled.join("javac.cct")).contexts() > 10_000);
    assert!(!plain.join("javac.cct").exists());
}
jdks!(the_compiler_of_an_image_compiles_as_before, compiles_as_before, 8..);

/// The class library opens a jar on the class path, and may define a class for that (JDK 25 does,
/// for a multi-release jar). The runtime also reads the jar, before anything else is rewritten.
fn rewrites_what_jars_need(home: &'static Jdk) {
    let image = image(home);
    let here = folder("multi-release");
    let classes = fixture("hello/classes");
    for version in ["9", "11"] {
        let versioned = here.join("classes/META-INF/versions").join(version);
        fs::create_dir_all(&versioned).unwrap();
        fs::copy(classes.join("Hello.class"), versioned.join("Hello.class")).unwrap();
    }
    fs::copy(classes.join("Hello.class"), here.join("classes/Hello.class")).unwrap();
    fs::write(here.join("manifest"), "Multi-Release: true\n").unwrap();
    succeed(program(home.home(), "jar", &here).args(["cfm", "hello.jar", "manifest", "-C", "classes", "."]));
    let (_, profile) = profiled(image, &[], &here.join("hello.jar"), "Hello");
    let raw = profile.notes.iter().find(|note| note.contains("stayed as they are"));
    assert_eq!(raw, None, "JDK {}", home.version);
}
jdks!(classes_that_a_jar_needs_to_be_opened_are_rewritten, rewrites_what_jars_need, 11..=25);

fn prefers_the_users_options(home: &'static Jdk) {
    let image = image(home);
    let here = folder("options");
    let flag = |java: &mut Command| {
        java.args(["-Dcctrewrite.record=off", "-XX:+PrintFlagsFinal", "-version"]);
        let printed = succeed(java);
        let line = printed.lines().find(|line| line.contains(" MaxJavaStackTraceDepth ")).unwrap();
        line.split('=').nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    let java = || program(image, "java", &here);
    assert_eq!(flag(&mut java()), "4096");
    assert_eq!(flag(java().arg("-XX:MaxJavaStackTraceDepth=7")), "7");
    assert_eq!(flag(java().env("JAVA_TOOL_OPTIONS", "-XX:MaxJavaStackTraceDepth=8")), "8");
}
jdks!(options_of_the_user_go_before_those_that_are_built_in, prefers_the_users_options, 8..);

fn has_archives_of_its_own(home: &'static Jdk) {
    let image = image(home);
    let archives = |home: &Path| -> Vec<(String, Vec<u8>)> {
        let files = fs::read_dir(home.join("lib/server")).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsa"));
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        let mut found: Vec<_> = files.map(|path| (name(&path), fs::read(&path).unwrap())).collect();
        found.sort();
        found
    };
    let (plain, ours) = (archives(home.home()), archives(image));
    for (name, bytes) in &plain {
        assert!(ours.iter().any(|(n, b)| n == name && b != bytes), "JDK {}: {name}", home.version);
    }
    assert!(ours.iter().any(|(name, _)| name == "classes.jsa"), "JDK {}", home.version);
    // Plain classes must not come from an archive of the plain JDK.
    if let Some((name, bytes)) = plain.first() {
        let here = folder("foreign");
        fs::write(here.join(name), bytes).unwrap();
        let mut java = program(image, "java", &here);
        java.args(["-Xshare:on", "-Dcctrewrite.record=off", &format!("-XX:SharedArchiveFile={name}")]);
        assert!(!java.arg("-version").output().unwrap().status.success(), "JDK {}", home.version);
    }
}
jdks!(every_archive_that_the_jdk_has_the_image_has_of_its_own_classes, has_archives_of_its_own, 11..);

#[test]
fn an_image_is_made_once_and_taken_from_the_cache() {
    let Some(plain) = Jdk::find() else { return };
    let here = folder("cache");
    let printed = succeed(&mut jdk(plain.home(), &["--cache", "-q"]));
    let cached = Path::new(printed.trim_end());
    let record = cached.join("jre/lib/cctrewrite/IMAGE");
    let made = fs::metadata(&record).unwrap().modified().unwrap();
    // A second call, also from elsewhere, builds nothing.
    assert_eq!(succeed(&mut jdk(plain.home(), &["--cache", "-q"])), printed);
    let copy = here.join("copy");
    assert_eq!(succeed(jdk(plain.home(), &["--cache", "-q", "-o"]).arg(&copy)), "");
    assert_eq!(fs::metadata(&record).unwrap().modified().unwrap(), made);
    let text = |image: &Path| fs::read_to_string(image.join("jre/lib/cctrewrite/IMAGE")).unwrap();
    assert_eq!(text(&copy), text(cached));
    profiled(&copy, &[], &fixture("hello/classes"), "Hello");
    // Other options need another image.
    let other = succeed(&mut jdk(plain.home(), &["--cache", "-q", "--metrics", "calls"]));
    assert_ne!(other, printed);
    // Temporary folders are gone.
    for entry in fs::read_dir(cached.parent().unwrap()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(!name.contains("tmp"), "{name}");
    }
}

#[test]
fn an_image_is_no_jdk_to_make_an_image_from() {
    let Some(home) = Jdk::find() else { return };
    let here = folder("again");
    let output = jdk(image(home), &["-o"]).arg(here.join("new")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), said.contains("a profiled JDK already")), (Some(1), true), "{said}");
    assert!(fs::read_dir(&here).unwrap().next().is_none());
}
