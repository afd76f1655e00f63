//! `cctrewrite instrument --tool markers` without a JVM: classes that get no markers are named.

use super::support::{damaged_in_its_code, entry, jar, put, refused_by_jvms, run, sample, scratch};

const RULES: &[u8] =
    b"[[marker]]\ntoken = \"m\"\nat = \"method\"\n[[marker]]\ntoken = \"c\"\nat = \"call\"\n";

const INSTRUMENT: [&str; 7] =
    ["instrument", "app.jar", "--tool=markers", "--markers=rules.toml", "-o", "out/app.jar", "--level=1"];

/// A folder with a jar of a class, and of a sound one, and rules.
fn given(class: &[u8]) -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "app.jar", &jar(&[("Sample.class", class), ("sound/Sample.class", &sample())]));
    put(folder.path(), "rules.toml", RULES);
    std::fs::create_dir(folder.path().join("out")).unwrap();
    folder
}

/// With a larger stack and more locals than they declare, JVMs would accept them.
#[test]
fn classes_that_jvms_refuse_get_no_markers() {
    for (refused, why) in refused_by_jvms() {
        let folder = given(&refused);
        let home = folder.path();
        let instrumented = run(home, &INSTRUMENT).succeeds();
        let checked = run(home, &["markers", "check", "rules.toml", "app.jar"]).succeeds();
        for (warnings, lines) in
            [(&instrumented.stderr, &instrumented.stderr), (&checked.stderr, &checked.stdout)]
        {
            let warning = warnings.lines().find(|line| line.starts_with("warning: class Sample"));
            let warning = warning.unwrap_or_default();
            let stays = "for which JVMs refuse it; the class stays as it is, without markers";
            assert!(warning.contains(why) && warning.ends_with(stays), "{warnings}");
            // Its methods are not among those that the rule marks, either. The code of the oldest
            // version had another form, so nothing is known of these.
            let line = lines.lines().find(|line| line.contains("not marked: Sample.<init>"));
            let is_named = line.is_some_and(|l| l.ends_with("JVMs refuse its class, which is not rewritten"));
            assert_eq!(is_named, !why.contains("version"), "{lines}");
        }
        assert_eq!(entry(&home.join("out/app.jar"), "Sample.class"), refused, "{why}");
        assert_ne!(entry(&home.join("out/app.jar"), "sound/Sample.class"), sample());
    }
}

#[test]
fn classes_that_are_kept_although_they_are_damaged_are_named() {
    let (damaged, why) = damaged_in_its_code();
    for (bad, why) in [(damaged, why), (sample()[..100].to_vec(), "truncated")] {
        let folder = given(&bad);
        let home = folder.path();
        run(home, &INSTRUMENT).fails_saying(&["app.jar!/Sample.class", why]);
        let said = run(home, &[&INSTRUMENT[..], &["-q", "--keep-bad-classes"]].concat()).succeeds().stderr;
        let kept = "warning: app.jar!/Sample.class: kept as it is: ";
        assert!(said.starts_with(kept) && said.contains(why) && said.lines().count() == 1, "{said}");
        assert_eq!(entry(&home.join("out/app.jar"), "Sample.class"), bad);
        assert_ne!(entry(&home.join("out/app.jar"), "sound/Sample.class"), sample());
    }
}

/// Alone and together with counting.
#[test]
fn jars_on_the_class_path_of_a_manifest_are_marked_where_they_are_looked_for() {
    for tool in [&["--tool=markers"][..], &[]] {
        let folder = given(&sample());
        let home = folder.path();
        let manifest = b"Manifest-Version: 1.0\nClass-Path: lib/other.jar\n\n";
        put(home, "app.jar", &jar(&[("META-INF/MANIFEST.MF", manifest), ("Sample.class", &sample())]));
        put(home, "lib/other.jar", &jar(&[("sound/Sample.class", &sample())]));
        let args = ["instrument", "app.jar", "--markers=rules.toml", "-o", "out/app.jar", "--verify"];
        let args = [&args[..], tool].concat();
        let alone = run(home, &args).succeeds();
        assert!(alone.stderr.contains("names lib/other.jar (1 in all)"), "{}", alone.stderr);
        assert!(!home.join("out/lib").exists());
        let said = run(home, &[&args[..], &["--class-path"]].concat()).succeeds().stderr;
        assert!(!said.contains("not beside it"), "{said}");
        for (file, class) in [("out/app.jar", "Sample.class"), ("out/lib/other.jar", "sound/Sample.class")] {
            let marked = entry(&home.join(file), class);
            let attribute = b"cctrewrite.Markers";
            assert!(marked.windows(attribute.len()).any(|bytes| bytes == attribute), "{file} {tool:?}");
        }
        // There is one copy of the runtime, next to the program.
        let (runtime, folder) = ("cctrewrite-markers.jar", home.join("out"));
        assert_eq!(folder.join(runtime).exists(), !tool.is_empty());
        assert!(!folder.join("lib").join(runtime).exists());
    }
}

/// It used to be ignored silently.
#[test]
fn a_module_for_classes_that_only_get_markers_is_refused() {
    let folder = given(&sample());
    let refused = run(folder.path(), &[&INSTRUMENT[..], &["--udi", "udi.jar"]].concat());
    refused.fails_saying(&["--udi cannot be combined with --tool markers"]);
    assert!(!folder.path().join("out/app.jar").exists());
}
