//! `--identity loader`: one name in two class loaders is two methods.

use std::collections::BTreeMap;

use crate::support::{Blocks, Jdk, Run, fixture, jdks, profiled};

/// Calls of `Twin.run` by the class's name in the profile, and the total bytecodes of `Twin`.
fn twins(run: &Run) -> BTreeMap<String, (u64, u64)> {
    let profile = run.profile();
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for node in profile.threads.iter().flat_map(|thread| thread.tree.nodes()) {
        let Some(method) = profile.methods.get(node.method as usize) else { continue };
        if method.class.split('~').next() == Some("Twin") {
            let (calls, bytecodes) = sums.entry(method.class.to_string()).or_default();
            *calls += if &*method.name == "run" { node.calls } else { 0 };
            *bytecodes += node.bytecodes;
        }
    }
    sums
}

fn run(jdk: &'static Jdk, option: Option<&str>, classes: [&str; 2]) -> Run {
    let mut java = profiled(jdk, Blocks::Exact, "identity");
    option.map(|option| java.option(option));
    let [one, two] = classes.map(|classes| format!("{}/", fixture(classes).display()));
    java.class_path([fixture("loaders/classes")]).succeed("Loaders", &[&one, &two])
}

fn loaders_are_distinguished(jdk: &'static Jdk) {
    let by_loader = Some("-Dcctrewrite.identity=loader");
    for classes in
        [["loaders/one/classes", "loaders/two/classes"], ["loaders/one/classes", "loaders/one/classes"]]
    {
        let merged = twins(&run(jdk, None, classes));
        assert_eq!(merged.keys().collect::<Vec<_>>(), ["Twin"]);
        assert_eq!(merged["Twin"].0, 200);
        let run = run(jdk, by_loader, classes);
        let apart = twins(&run);
        assert_eq!(apart.keys().collect::<Vec<_>>(), ["Twin~URLClassLoader#1", "Twin~URLClassLoader#2"]);
        assert!(apart.values().all(|(calls, _)| *calls == 100), "{apart:?}");
        // Nothing else changes.
        assert_eq!(apart.values().map(|(_, bytecodes)| bytecodes).sum::<u64>(), merged["Twin"].1);
        let same = classes[0] == classes[1];
        assert_eq!(apart["Twin~URLClassLoader#1"] == apart["Twin~URLClassLoader#2"], same, "{apart:?}");
        let profile = run.profile();
        assert_eq!(profile.meta["identity"], "loader");
        let mids = |class: &str| -> Vec<u64> {
            profile.methods.iter().filter(|m| &*m.class == class).map(|m| m.mid).collect()
        };
        let [one, two] = ["Twin~URLClassLoader#1", "Twin~URLClassLoader#2"].map(mids);
        assert!(one.iter().all(|mid| !two.contains(mid)), "ids are their own");
        // The program's own class loader is not in the names of its classes.
        assert!(profile.methods.iter().any(|m| &*m.class == "Loaders" && &*m.name == "main"));
        assert!(profile.notes.iter().all(|note| !note.contains("Twin")), "{:?}", profile.notes);
    }
}

jdks!(apart, loaders_are_distinguished, [8, 17, 25]);

#[test]
fn other_choices_are_refused() {
    let Some(jdk) = Jdk::find() else { return };
    let mut java = profiled(jdk, Blocks::Exact, "identity-wrong");
    let run = java.option("-Dcctrewrite.identity=class").run("Calls", &[]);
    run.assert_code(70);
    assert!(run.err.contains("cctrewrite.identity=class: choose name or loader"), "{}", run.err);
}
