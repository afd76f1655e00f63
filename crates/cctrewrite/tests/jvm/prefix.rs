//! `--natives prefix` (JP2): natives under other names, and methods that replace them. The trees
//! equal those with wrappers of natives.

use std::process::Command;

use crate::support::golden::GoldenTree;
use crate::support::{
    Blocks, Image, Java, Jdk, Run, assert_same_lines, assert_succeeded, fixture, folder, jdks, jni_library,
    profiled,
};
use crate::{counts, modern_counts};

/// The output of a run. The JVM's messages on natives without code contain the renamed names
/// (docs/reference/natives.md); here they are mapped back.
pub fn printed(run: &Run, blocks: Blocks) -> Vec<String> {
    let own = |line: &str| {
        if blocks == Blocks::Prefix && line.contains("java.lang.UnsatisfiedLinkError: ") {
            line.replace("cct$native$", "")
        } else {
            line.to_owned()
        }
    };
    run.out.lines().map(own).collect()
}

/// All fixtures whose trees were derived by hand.
fn trees(jdk: &'static Jdk) {
    if jdk.version > 8 {
        return modern_counts::trees_by(jdk, &[Blocks::Prefix]);
    }
    for name in counts::PROGRAMS {
        counts::check_by(name, &[Blocks::Prefix]);
    }
}

/// Natives of a program are found by their old names, including those that a library registers, and
/// a program that inspects them sees no change. Each call has a context, including those by JNI and
/// by an overridden name.
fn of_a_library(jdk: &'static Jdk) {
    let library = folder("renamed").join(format!("librenamed-{}.so", jdk.version));
    let Some(library) = jni_library(jdk, "renamed/renamed.c", &library) else { return };
    let run = |mut java: Java| {
        if jdk.version >= 17 {
            java.option("--enable-native-access=ALL-UNNAMED");
        }
        java.succeed("Renamed", &[&library.display().to_string()])
    };
    let mut plain = jdk.java("renamed-plain");
    plain.class_path([fixture("renamed/classes")]);
    let (expected, found) = (run(plain), run(profiled(jdk, Blocks::Prefix, "renamed")));
    let [expected, lines] = [&expected, &found].map(|run| run.out.lines().collect::<Vec<_>>());
    assert_same_lines(&expected, &lines, &format!("JDK {}", jdk.version));
    assert_eq!(found.err, "");
    let golden = GoldenTree::read(&fixture("renamed/expected.txt"));
    golden.assert_equal(&found, &format!("JDK {}", jdk.version));
    assert_eq!(found.profile().meta["natives"], "prefix");
}

/// An image is complete when moved: its JVM finds the agent in the new place.
fn moved(jdk: &'static Jdk) {
    let image = Image::of(jdk, Blocks::Prefix).home();
    let elsewhere = folder("prefix-moved").join("image");
    let mut copy = Command::new("cp");
    assert_succeeded(copy.arg("-al").arg(image).arg(&elsewhere));
    let moved = Jdk::made(jdk.version, elsewhere);
    let run = moved.java("prefix-moved").class_path([fixture("hello/classes")]).succeed("Hello", &[]);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("Hello 0\n", ""));
    let text = std::fs::read_to_string(image.join("lib/cctrewrite/IMAGE")).unwrap();
    assert!(text.contains("jvm-option=-agentlib:cctrewrite_prefix\n"), "{text}");
    assert!(!text.contains("archive-of-classes"), "{text}");
}

jdks!(trees, trees, feature);
jdks!(of_a_library, of_a_library, feature);
jdks!(moved, moved, [17]);
