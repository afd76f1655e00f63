//! `--natives none` (JP 2005): no native has a context, and callbacks of natives are below the
//! thread's root.

use cct_profile::Method;

use crate::modern_counts;
use crate::support::golden::GoldenTree;
use crate::support::{Blocks, Image, Jdk, fixture, jdks, profiled};

/// With both carriers the expected tree, without natives; and a program whose natives call nothing
/// back has its usual tree.
fn below_the_root(jdk: &'static Jdk) {
    for blocks in [Blocks::NoNatives, Blocks::ThreadNoNatives] {
        let what = format!("JDK {}, {}", jdk.version, blocks.name());
        let run = profiled(jdk, blocks, "no-natives").succeed("Natives", &[]);
        let since = [18, 17].into_iter().find(|since| *since <= jdk.version);
        let file = since.map_or("expected.none.txt".to_owned(), |n| format!("expected.none.since{n}.txt"));
        GoldenTree::read(&fixture("natives").join(file)).without_generated().assert_equal(&run, &what);
        let profile = run.profile();
        assert_eq!(profile.meta["natives"], "none");
        assert!(profile.meta["limits"].contains("natives have no contexts"), "{:?}", profile.meta);
        let natives = profile.methods.iter().filter(|method| method.flags & Method::NATIVE != 0);
        let natives: Vec<String> =
            natives.map(|m| format!("{}.{}{}", m.class, m.name, m.descriptor)).collect();
        assert_eq!(natives, [""; 0], "{what}");

        let run = profiled(jdk, blocks, "no-natives-calls").succeed("Calls", &[]);
        modern_counts::golden("calls", blocks, jdk.version).assert_equal(&run, &what);
        // Nothing else uses images without natives.
        if jdk.version > 8 {
            Image::remove(jdk, blocks);
        }
    }
}

jdks!(below_the_root, below_the_root, feature);
