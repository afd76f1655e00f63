//! `cctrewrite flags`.

use std::fs;
use std::path::Path;

use super::support::{jar, module_info, object, plain, put, run, scratch, snapshot};

/// A folder with the outputs of a small JDK and of an application.
fn outputs() -> tempfile::TempDir {
    let folder = scratch();
    let home = folder.path();
    put(
        home,
        "jdk/jre/lib/rt.jar",
        &jar(&[("java/lang/Object.class", &object()), ("a/A.class", &plain("a/A"))]),
    );
    put(home, "jdk/jre/lib/jce.jar", &jar(&[("b/B.class", &plain("b/B"))]));
    put(home, "jdk/jre/lib/ext/zipfs.jar", &jar(&[("c/C.class", &plain("c/C"))]));
    put(home, "app.jar", &jar(&[("d/D.class", &plain("d/D"))]));
    let lib = "jdk/jre/lib";
    let (rt, jce) = (format!("{lib}/rt.jar"), format!("{lib}/jce.jar"));
    run(home, &["instrument", "-q", &rt, &jce, "-o", "boot"]).succeeds();
    fs::create_dir(home.join("ext")).unwrap();
    run(home, &["instrument", "-q", "jdk/jre/lib/ext/zipfs.jar", "-o", "ext"]).succeeds();
    run(home, &["instrument", "-q", "app.jar", "--library", "jdk/jre/lib/rt.jar", "-o", "my app.jar"])
        .succeeds();
    folder
}

fn shown(text: &str, folder: &Path) -> String {
    let library = option(text).map(|path| path.trim_matches('\'').to_owned());
    let text = text.replace(fs::canonicalize(folder).unwrap().to_str().unwrap(), "$HERE");
    library.map_or(text.clone(), |library| text.replace(&library, "$LIBRARY"))
}

/// The load-time library in the printed options.
fn option(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix("-Dcctrewrite.loadtime="))
}

#[test]
fn the_load_time_library_is_beside_the_command_and_optional() {
    let folder = outputs();
    let printed = run(folder.path(), &["flags", "boot/rt.jar"]).succeeds().stdout;
    assert!(Path::new(option(&printed).unwrap()).is_file(), "{printed}");
    let without = run(folder.path(), &["flags", "boot/rt.jar", "--no-load-time"]).succeeds().stdout;
    assert_eq!(option(&without), None);
    // The option belongs to the class library.
    assert_eq!(option(&run(folder.path(), &["flags", "my app.jar"]).succeeds().stdout), None);
}

#[test]
fn each_output_goes_to_its_place() {
    let folder = outputs();
    let flags = ["flags", "boot/jce.jar", "boot/rt.jar", "ext/zipfs.jar", "my app.jar"];
    let printed = run(folder.path(), &flags).succeeds();
    let both = format!("{}--- standard error\n{}", printed.stdout, printed.stderr);
    snapshot("flags.txt", &shown(&both, folder.path()));
}

#[test]
fn one_line_and_speed_are_options() {
    let folder = outputs();
    let lines = run(folder.path(), &["flags", "boot/rt.jar"]).succeeds();
    assert_eq!(lines.stderr, "");
    let line = run(folder.path(), &["flags", "boot/rt.jar", "--one-line"]).succeeds().stdout;
    assert_eq!(line, lines.stdout.trim_end().replace('\n', " ") + "\n");
    let fast = run(folder.path(), &["flags", "boot/rt.jar", "--fast"]).succeeds().stdout;
    let added = fast.strip_prefix(&lines.stdout).expect("the same options in front");
    // Large methods are compiled, too; C2 compiles them thirty times later than by default and only
    // if their graph stays small.
    let expected = [
        "-XX:-DontCompileHugeMethods",
        "-XX:Tier4InvocationThreshold=150000",
        "-XX:Tier4MinInvocationThreshold=18000",
        "-XX:Tier4CompileThreshold=450000",
        "-XX:Tier4BackEdgeThreshold=1200000",
        "-XX:MaxNodeLimit=30000",
        "-XX:LiveNodeCountInliningCutoff=15000",
    ];
    assert_eq!(added.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn a_shell_gets_special_characters_in_quotes() {
    let folder = outputs();
    let home = folder.path().join("it's here");
    fs::create_dir(&home).unwrap();
    fs::copy(folder.path().join("boot/rt.jar"), home.join("rt.jar")).unwrap();
    let printed = run(&home, &["flags", "rt.jar"]).succeeds().stdout;
    let first = shown(printed.lines().next().unwrap(), folder.path());
    assert_eq!(first, r"'-Xbootclasspath/p:$HERE/it'\''s here/rt.jar'");
}

#[test]
fn a_folder_of_extensions_is_looked_at() {
    let folder = outputs();
    put(folder.path(), "ext/raw.jar", &jar(&[]));
    let printed = run(folder.path(), &["flags", "boot/rt.jar", "ext/zipfs.jar"]).succeeds();
    assert!(printed.stderr.contains("not outputs for the extension folder: raw.jar"), "{}", printed.stderr);
}

#[test]
fn options_that_exclude_each_other_are_refused() {
    let folder = outputs();
    let home = folder.path();
    run(home, &["flags", "app.jar"]).fails_saying(&["app.jar", "not an output"]);
    run(home, &["flags", "boot/rt.jar", "boot/missing.jar"]).fails_saying(&["boot/missing.jar"]);
    run(home, &["instrument", "-q", "app.jar", "--blocks", "precise", "-o", "precise.jar"]).succeeds();
    run(home, &["flags", "boot/rt.jar", "precise.jar"]).fails_saying(&[
        "boot/rt.jar",
        "precise.jar",
        "blocks",
    ]);
    fs::copy(home.join("boot/rt.jar"), home.join("other.jar")).unwrap();
    run(home, &["flags", "boot/rt.jar", "other.jar"]).fails_saying(&["both have java.lang.Object"]);
}

#[test]
fn without_a_class_library_there_is_a_hint() {
    let folder = outputs();
    let printed = run(folder.path(), &["flags", "my app.jar"]).succeeds();
    assert!(printed.stderr.contains("none of these outputs has java.lang.Object"), "{}", printed.stderr);
    assert!(printed.stderr.contains("put my app.jar on the class path"), "{}", printed.stderr);
    assert!(!printed.stdout.contains("-Xbootclasspath"));
}

#[test]
fn a_limit_of_the_user_s_own_is_kept() {
    let folder = outputs();
    let printed =
        |depth: &[&str]| run(folder.path(), &[&["flags", "boot/rt.jar"], depth].concat()).succeeds().stdout;
    let usual = printed(&[]);
    assert_eq!(printed(&["--stack-depth", "1024"]), usual);
    let own = usual.replace("Depth=4096", "Depth=8000\n-Dcctrewrite.depth=2000");
    assert_eq!(printed(&["--stack-depth", "2000"]), own);
}

/// A folder of modules of JDK 17, one of which a JVM does not resolve by default.
fn modules() -> tempfile::TempDir {
    let folder = scratch();
    let put = |name: &str, bytes: &[u8]| put(&folder.path().join("modules"), name, bytes);
    let mut of_17 = object();
    of_17[7] = 61;
    put("java.base/module-info.class", &module_info("java.base", true));
    put("java.base/java/lang/Object.class", &of_17);
    put("java.base/java/lang/data.bin", b"data");
    put("m.inner/module-info.class", &module_info("m.inner", false));
    put("m.inner/q/Q.class", &plain("q/Q"));
    put("m.outer/module-info.class", &module_info("m.outer", true));
    put("m.outer/p/P.class", &plain("p/P"));
    folder
}

#[test]
fn patches_are_named_to_the_jvm_with_the_options_of_its_release() {
    let folder = modules();
    let home = folder.path();
    run(home, &["instrument", "-q", "modules", "--patches", "-o", "patches"]).succeeds();
    let printed = run(home, &["flags", "patches"]).succeeds();
    let both = format!("{}--- standard error\n{}", printed.stdout, printed.stderr);
    snapshot("flags_patches.txt", &shown(&both, home));
}

#[test]
fn a_folder_of_modules_takes_the_place_of_another() {
    let folder = modules();
    let home = folder.path();
    run(home, &["instrument", "-q", "modules", "-o", "made"]).succeeds();
    let printed = run(home, &["flags", "made"]).succeeds();
    assert!(printed.stderr.contains("made replaces modules"), "{}", printed.stderr);
    assert!(!printed.stdout.contains("patch"), "{}", printed.stdout);
    assert!(printed.stdout.contains("DisableIntrinsic=_profileBoolean,"), "{}", printed.stdout);
}

#[test]
fn a_library_that_is_given_as_a_home_is_found_in_it() {
    let folder = outputs();
    let home = folder.path();
    for library in ["jdk", "jdk/jre"] {
        run(home, &["instrument", "-q", "app.jar", "--library", library, "-o", "by home.jar"]).succeeds();
        let [a, b] = ["my app.jar", "by home.jar"].map(|jar| fs::read(home.join(jar)).unwrap());
        assert!(a == b, "{library}");
    }
    run(home, &["instrument", "jdk", "-o", "out"]).fails_saying(&["jdk/jre/lib/rt.jar", "cctrewrite jdk"]);
}

#[test]
fn programs_with_markers_have_options_for_speed_too() {
    let folder = scratch();
    let home = folder.path();
    put(home, "app.jar", &jar(&[("d/D.class", &plain("d/D"))]));
    put(home, "rules.toml", b"[[marker]]\ntoken = \"m\"\nat = \"method\"\n");
    fs::create_dir(home.join("out")).unwrap();
    run(home, &["instrument", "-q", "app.jar", "--tool", "markers", "--markers", "rules.toml", "-o", "out"])
        .succeeds();
    let printed = run(home, &["flags", "out/app.jar"]).succeeds().stdout;
    assert!(!printed.contains("-XX:"), "{printed}");
    let fast = run(home, &["flags", "--fast", "out/app.jar"]).succeeds().stdout;
    let more = fast.strip_prefix(&printed).expect("the others come first");
    assert!(more.lines().any(|option| option == "-XX:MaxNodeLimit=30000"), "{fast}");
}
