//! The profile is written however the JVM ends.

use std::fs;
use std::process::Command;

use cct_profile::Profile;

use crate::support::golden::flat;
use crate::support::{Blocks, Jdk, Library, Run};

fn calls_of_work(run: &Run) -> u64 {
    flat(run)["Ending.work()V"].0
}

#[test]
fn at_the_end_of_main_at_exit_and_at_halt() {
    let Some(jdk) = Jdk::find() else { return };
    for (how, code, calls) in
        [("return", 0, 10), ("exit", 3, 10), ("halt", 4, 10), ("throw", 1, 10), ("hook", 0, 11)]
    {
        let run = Library::whole(jdk, Blocks::Default).java(how).run("Ending", &[how]);
        run.assert_code(code);
        assert_eq!(calls_of_work(&run), calls, "{how}");
    }
}

#[test]
fn at_a_signal() {
    let Some(jdk) = Jdk::find() else { return };
    let mut jvm = Library::whole(jdk, Blocks::Default).java("signal").start("Ending", &["wait"]);
    jvm.wait_for("ready");
    assert!(Command::new("kill").arg(jvm.id().to_string()).status().unwrap().success());
    let run = jvm.wait();
    run.assert_code(128 + 15);
    assert_eq!(calls_of_work(&run), 10);
}

/// The profile is written by a thread of its own then.
#[test]
fn where_the_stack_is_full() {
    let Some(jdk) = Jdk::find() else { return };
    for mode in ["-Xmixed", "-Xint", "-Xss256k"] {
        let mut java = Library::whole(jdk, Blocks::Default).java("full");
        let run = java.option(mode).run("FullStack", &[]);
        run.assert_code(5);
        assert_eq!(run.err, "");
        assert_eq!(flat(&run)["FullStack.work()V"].0, 10, "{mode}");
        let names: Vec<String> = run.profile().threads.iter().map(|t| t.name.to_string()).collect();
        assert!(!names.iter().any(|name| name.contains("cctrewrite")), "{names:?}");
    }
}

#[test]
fn to_the_file_that_the_user_named() {
    let Some(jdk) = Jdk::find() else { return };
    let mut java = Library::whole(jdk, Blocks::Default).java("named");
    let jvm = java.option("-Dcctrewrite.out=my-%p.profile").start("Ending", &["return"]);
    let name = format!("my-{}.profile", jvm.id());
    let run = jvm.wait();
    run.assert_code(0);
    Profile::read(&fs::read(run.folder.join(name)).unwrap()).unwrap();
}

#[test]
fn by_default_to_a_file_in_the_working_directory() {
    let Some(jdk) = Jdk::find() else { return };
    let library = Library::whole(jdk, Blocks::Default);
    // The same without -Dcctrewrite.out, which the others all have.
    let mut java = library.java("unnamed");
    java.forget("-Dcctrewrite.out=");
    let jvm = java.start("Ending", &["return"]);
    let name = format!("cctrewrite-{}.cct", jvm.id());
    let run = jvm.wait();
    run.assert_code(0);
    Profile::read(&fs::read(run.folder.join(name)).unwrap()).unwrap();
}

#[test]
fn a_file_that_cannot_be_written_is_reported_and_the_exit_code_stays() {
    let Some(jdk) = Jdk::find() else { return };
    let mut java = Library::whole(jdk, Blocks::Default).java("unwritable");
    let run = java.option("-Dcctrewrite.out=no/such/folder/profile.cct").run("Ending", &["exit"]);
    run.assert_code(3);
    assert!(run.err.contains("cctrewrite: the profile could not be written"), "{}", run.err);
}
