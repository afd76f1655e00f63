//! Excluded classes hand contexts through and are not recorded.

use crate::support::golden::{Golden, flat};
use crate::support::{Blocks, Jdk, Library, fixture, folder, instrument};

#[test]
fn what_an_excluded_class_calls_hangs_under_its_caller() {
    let Some(jdk) = Jdk::find() else { return };
    let output = folder("excluded").join("types");
    let options = ["--exclude", "Types$Loud", "--exclude", "Types$Greeter"];
    instrument(&[fixture("types/classes")], &[jdk.rt_jar()], &output, &options);
    let mut java = Library::whole(jdk, Blocks::Default).java("excluded");
    let run = java.forget_class_path().class_path([&output]).succeed("Types", &[]);
    Golden::read(&fixture("types/expected.excluded.txt")).assert_equal(&run, "types without some");
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
    let mut java = Library::whole(jdk, Blocks::Default).java("included");
    let run = java.forget_class_path().class_path([&output]).succeed("Types", &[]);
    let methods = flat(&run);
    let own: Vec<(&str, (u64, u64))> = methods
        .iter()
        .filter(|(m, _)| m.starts_with("Types"))
        .map(|(m, counts)| (m.as_str(), *counts))
        .collect();
    assert_eq!(own, [("Types$Plain.<init>()V", (2, 6)), ("Types$Plain.name(I)I", (4, 8))]);
}
