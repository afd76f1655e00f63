//! Excluded classes pass contexts on and are not recorded.

use crate::support::golden::{GoldenTree, flat};
use crate::support::{Blocks, Image, Jdk, Library, fixture, folder, instrument, jdks, profiled};

#[test]
fn callees_of_excluded_classes_hang_below_their_caller() {
    let Some(jdk) = Jdk::find() else { return };
    let output = folder("excluded").join("types");
    let options = ["--exclude", "Types$Loud", "--exclude", "Types$Greeter"];
    instrument(&[fixture("types/classes")], &[jdk.rt_jar()], &output, &options);
    let mut java = Library::whole(jdk, Blocks::Exact).java("excluded");
    let run = java.forget_class_path().class_path([&output]).succeed("Types", &[]);
    GoldenTree::read(&fixture("types/expected.excluded.txt")).assert_equal(&run, "types without some");
    let methods = flat(&run);
    assert!(
        !methods.keys().any(|m| m.starts_with("Types$Loud.") || m.starts_with("Types$Greeter.")),
        "{methods:?}"
    );
}

#[test]
fn only_included_classes_are_recorded() {
    let Some(jdk) = Jdk::find() else { return };
    let output = folder("included").join("types");
    instrument(&[fixture("types/classes")], &[jdk.rt_jar()], &output, &["--include", "Types$Plain"]);
    let mut java = Library::whole(jdk, Blocks::Exact).java("included");
    let run = java.forget_class_path().class_path([&output]).succeed("Types", &[]);
    let methods = flat(&run);
    let own: Vec<(&str, (u64, u64))> = methods
        .iter()
        .filter(|(m, _)| m.starts_with("Types"))
        .map(|(m, counts)| (m.as_str(), *counts))
        .collect();
    assert_eq!(own, [("Types$Plain.<init>()V", (2, 6)), ("Types$Plain.name(I)I", (4, 8))]);
}

/// Classes that are rewritten at load time obey the image's options, or the JVM's.
fn filters_hold_at_load_time(jdk: &'static Jdk) {
    let (excluded, included) = ("Types$Loud,Types$Greeter", "Types$Plain");
    let run = |options: &[String], name: &str| {
        let mut java = profiled(jdk, Blocks::Exact, name);
        java.forget_class_path().class_path([fixture("types/classes")]);
        options.iter().for_each(|option| {
            java.option(option);
        });
        java.run("Types", &[])
    };
    let without = run(&[format!("-Dcctrewrite.exclude={excluded}")], "excluded-at-load-time");
    GoldenTree::read(&fixture("types/expected.excluded.txt")).assert_equal(&without, "types without some");
    let only = flat(&run(&[format!("-Dcctrewrite.include={included}")], "included-at-load-time"));
    let own: Vec<&str> = only.keys().map(String::as_str).filter(|m| m.starts_with("Types")).collect();
    assert_eq!(own, ["Types$Plain.<init>()V", "Types$Plain.name(I)I"]);
    let refused = run(&["-Dcctrewrite.include=a[".to_owned()], "bad-glob");
    refused.assert_code(70);
    assert!(refused.err.contains("bad glob"), "{}", refused.err);
}

fn an_image_remembers_its_filters(jdk: &'static Jdk) {
    let run = Image::without(jdk, &["Types$Loud", "Types$Greeter"])
        .java("excluded-by-the-image")
        .class_path([fixture("types/classes")])
        .succeed("Types", &[]);
    GoldenTree::read(&fixture("types/expected.excluded.txt"))
        .assert_equal(&run, "types on an image without some");
}

jdks!(at_load_time, filters_hold_at_load_time, feature);
jdks!(of_an_image, an_image_remembers_its_filters, [17]);
