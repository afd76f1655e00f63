//! Images of JDK 9 and later boot, and every class of them loads, links and verifies.

use crate::support::{Image, Jdk, assert_same_lines, fixture, jdks};

fn boots(jdk: &'static Jdk) {
    for &blocks in Image::rules(jdk) {
        let image = Image::of(jdk, blocks);
        for record in ["on", "off"] {
            let mut java = image.java("hello");
            java.option(format!("-Dcctrewrite.record={record}"));
            let run = java.class_path([fixture("hello/classes")]).succeed("Hello", &["a", "b"]);
            assert_eq!((run.out.as_str(), run.err.as_str()), ("Hello 2\n", ""), "{blocks:?}, {record}");
            assert_eq!(run.profile_path().exists(), record == "on");
        }
    }
}

/// All modules, including those that are resolved only on request.
fn links(jdk: &'static Jdk) {
    let link = |mut java: crate::support::Java| {
        // The program runs once through everything: the optimizing compiler takes longer than it
        // saves.
        java.verify().option("-XX:TieredStopAtLevel=1").option("--add-modules").option("ALL-SYSTEM");
        java.class_path([fixture("link/modules/classes")]).succeed("LinkModules", &[])
    };
    let expected = link(jdk.java("link-plain"));
    assert!(expected.out.ends_with(" bad 0\n"), "{}", expected.out);
    // Recording does not affect class files: once is enough.
    let is_worth_it = |record| record == "on" || jdk.version == 21;
    for (blocks, record) in Image::runs(jdk).filter(|(_, record)| is_worth_it(*record)) {
        let image = Image::of(jdk, blocks);
        let mut java = image.java("link");
        java.option(format!("-Dcctrewrite.record={record}"));
        let found = link(java);
        let what = format!("JDK {}, {blocks:?}, record={record}: {}", jdk.version, found.err);
        let [before, now] = [&expected, &found].map(|run| run.out.lines().collect::<Vec<_>>());
        assert_same_lines(&before, &now, &what);
    }
}

jdks!(boots, boots, 11..);
jdks!(links, links, [17, 27], all [11, 21, 25, 26]);
