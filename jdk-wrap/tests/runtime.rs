//! The runtime in real JVMs. `java/Program.java` makes the calls of rewritten code by hand, an
//! index written here provides names, and a reader written here reads the profile.

// A test that cannot set itself up has failed.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::path::PathBuf;
use support::files::{Class, class_file, index, mid};
use support::{Jvm, assert_succeeded, jvms};

const PROVENANCE: &str = "blocks=precise\nformat=1\nintrinsics=bytecode\njdk=12ab\nmetrics=calls+bytecodes\nreproducible=no\nscheme=1\ntool=cctrewrite 0.1.0\n";
const HASH: u64 = 0xFEDC_BA98_7654_3210;
const OBJECT: u64 = 0x8000_0000_0000_1000;

fn main_class() -> Class {
    let methods = vec![
        ("main", "([Ljava/lang/String;)V", (2, 0), 0),
        ("a", "(I)V", (1, 0), 0),
        ("b", "()V", (1, 0), 2),
        ("nat\u{e9}", "()V", (1, 0), 1),
        ("ahead", "()V", (1, 31), 0),
    ];
    Class { name: "app/Main", super_name: "java/lang/Object", hash: HASH, methods }
}

fn main_mid(k: usize) -> u64 {
    mid(HASH, k as u64, main_class().methods[k].2)
}

/// The options that pass the ids of the index to `Program`.
fn mids() -> Vec<String> {
    let mids = [
        ("main", main_mid(0)),
        ("a", main_mid(1)),
        ("b", main_mid(2)),
        ("foreign", main_mid(3)),
        ("ahead", main_mid(4)),
        ("Object", OBJECT),
    ];
    mids.map(|(name, mid)| format!("-Dmid.{name}={mid:x}")).to_vec()
}

fn with(options: &[&str]) -> Vec<String> {
    mids().into_iter().chain(options.iter().map(ToString::to_string)).collect()
}

/// A folder that is an output with this provenance.
fn output(jvm: &Jvm, name: &str, provenance: &str, more: Vec<Class>) -> PathBuf {
    let folder = jvm.path(name);
    fs::create_dir_all(folder.join("cctrewrite-output")).unwrap();
    let mut classes = vec![main_class()];
    classes.extend(more);
    let bytes = index(provenance, &classes, (OBJECT, "java/lang/Object", "<init>", "()V"));
    fs::write(folder.join("cctrewrite-output/index"), bytes).unwrap();
    folder
}

fn app(jvm: &Jvm) -> PathBuf {
    output(jvm, "app.jar", PROVENANCE, Vec::new())
}

#[test]
fn contexts_are_counted_and_named() {
    for jvm in jvms() {
        let profile = jvm.record("calls", &mids(), &[app(&jvm)]);
        let expected = "\
app/Main.main([Ljava/lang/String;)V 1 7
  app/Main.a(I)V 10 50
    app/Main.b()V 10 10
      app/Main.b()V 10 10
  app/Main.ahead()V 3 91
  app/Main.b()V 1 7
  app/Main.nat\u{e9}()V 1 0
    app/Main.b()V 1 2
      ?.1234567890abc000 1 100
  java/lang/Object.<init>()V 2 2
";
        assert_eq!(profile.text("main"), expected);
        assert_eq!(profile.trees.len(), 1);
        assert_eq!(profile.tree("main").threads, 1);
        let flags: Vec<u64> = profile.methods.iter().map(|m| m.1).collect();
        assert_eq!(flags, [2, 0, 0, 0, 0, 1, 0], "{:?}", profile.methods);
        assert_eq!(profile.methods[4].2, main_mid(0));
        assert!(
            profile.notes.iter().any(|note| note.starts_with("1 methods have no name")),
            "{:?}",
            profile.notes
        );

        assert_eq!(profile.meta["agent"], "cctrewrite.agent.AggregatingAgent");
        assert_eq!(profile.meta["blocks"], "precise");
        assert_eq!(profile.meta["exact"], "no");
        assert_eq!(profile.meta["main"], "Program");
        assert_eq!(profile.meta["tool"], "cctrewrite 0.1.0");
        assert_eq!(profile.meta["provenance"], format!("app.jar {}", PROVENANCE.trim().replace('\n', " ")));
        assert_eq!(jvm.temporary_files(), Vec::<PathBuf>::new());
        assert_eq!(jvm.record("calls", &mids(), &[app(&jvm)]), profile, "the same program, the same profile");
    }
}

#[test]
fn methods_that_take_turns_at_a_call_site_have_a_table_there() {
    for jvm in jvms() {
        let profile = jvm.record("turns", &mids(), &[app(&jvm)]);
        let text = profile.text("main");
        let calls = text.lines().skip(1).filter_map(|line| line.split(' ').rev().nth(1)?.parse::<u64>().ok());
        assert_eq!(calls.sum::<u64>(), 200 * 4200 + 1, "{text}");
        assert_eq!(text.lines().count(), 21, "{text}");
    }
}

#[test]
fn nothing_is_recorded_in_bypass_or_when_switched_off() {
    for jvm in jvms() {
        let profile = jvm.record("bypass", &mids(), &[]);
        assert_eq!(profile.text("main"), "");
        let off = jvm.run("off", &with(&["-Dcctrewrite.record=off"]), &[]);
        assert_succeeded(&off);
        assert!(!jvm.profile().exists());
    }
}

#[test]
fn without_launcher_the_profile_is_written_all_the_same() {
    for jvm in jvms() {
        let profile = jvm.record("embedded", &mids(), &[app(&jvm)]);
        assert_eq!(profile.text("main"), "app/Main.a(I)V 1 1\n");
    }
}

#[test]
fn deep_and_wide_trees() {
    for jvm in jvms() {
        let profile = jvm.record("shape", &mids(), &[app(&jvm)]);
        let tree = profile.tree("main");
        assert_eq!(tree.nodes.len(), 2 + 100_000 + 3000);
        assert_eq!(tree.nodes.iter().map(|n| n.depth).max(), Some(100_001));
        assert_eq!(tree.nodes[1].children, 3001);
        let wide = tree.nodes.iter().filter(|n| n.depth == 2 && n.calls == 2);
        assert_eq!(wide.map(|n| n.bytecodes).sum::<u64>(), 2 * (1..=3000).sum::<u64>());
    }
}

/// Children were looked for one by one: among 20,000 a call took 300 times as long as among 16.
#[test]
fn a_child_among_many_is_found_as_fast_as_among_few() {
    for jvm in jvms() {
        let profile = jvm.record("crowd", &mids(), &[app(&jvm)]);
        let tree = profile.tree("main");
        assert_eq!(tree.nodes.len(), 4 + 16 + 20_000);
        let children: Vec<_> = tree.nodes.iter().filter(|n| n.depth == 2).map(|n| n.children).collect();
        assert_eq!(children, [16, 20_000]);
        let calls: u64 = tree.nodes.iter().filter(|n| n.depth == 3).map(|n| n.calls).sum();
        assert_eq!(calls, 16 + 20_000 + 2 * 200_000);
    }
}

#[test]
fn a_tree_survives_stack_overflows() {
    for jvm in jvms() {
        // The interpreter overflows within helpers too; compiled code rarely does.
        for mode in ["-Xint", "-Xmixed"] {
            let profile = jvm.record("overflow", &with(&[mode, "-Xss512k"]), &[app(&jvm)]);
            let tree = profile.tree("main");
            assert_eq!(tree.nodes[1].children, 21, "{mode}");
            let own = profile.methods.iter().position(|m| m.2 == main_mid(1)).unwrap() + 1;
            assert_eq!(tree.nodes.iter().find(|n| n.method == own).unwrap().calls, 20);
            assert!(tree.nodes.iter().all(|n| n.children <= 1 || n.depth <= 1), "{mode}: one callee each");
            // Only the node whose helper overflowed may lack its count.
            assert!(tree.nodes.iter().all(|n| n.children == 0 || n.depth <= 1 || n.calls == 1), "{mode}");
        }
    }
}

#[test]
fn trees_of_ended_threads_are_leased() {
    for jvm in jvms() {
        let profile = jvm.record("threads", &mids(), &[app(&jvm)]);
        let workers = profile.tree("worker-#");
        assert_eq!((workers.threads, workers.flags), (100, 1));
        assert_eq!(profile.text("worker-#"), "app/Main.a(I)V 100 100\n");
        assert_eq!((profile.tree("other").threads, profile.tree("other").flags), (1, 3));
        let crowd: u64 =
            profile.trees.iter().filter(|t| t.name.starts_with("crowd")).map(|t| t.nodes[1].calls).sum();
        assert_eq!(crowd, 50);

        let profile = jvm.record("threads", &with(&["-Dcctrewrite.threads=each"]), &[app(&jvm)]);
        assert_eq!(profile.trees.len(), 1 + 100 + 1 + 50);
        assert!(profile.trees.iter().all(|tree| tree.threads == 1));
        assert_eq!(profile.text("worker-42"), "app/Main.a(I)V 1 1\n");
    }
}

#[test]
fn living_threads_keep_their_trees() {
    for jvm in jvms() {
        let profile = jvm.record("pair", &mids(), &[app(&jvm)]);
        for name in ["pair-0", "pair-1"] {
            assert_eq!(profile.tree(name).threads, 1);
            assert_eq!(profile.text(name), "app/Main.a(I)V 1 1\n");
        }
    }
}

#[test]
fn missing_jvm_options_are_noted() {
    for jvm in jvms() {
        // Later JDKs have no intrinsic of that name, and reject it.
        let intrinsics = if jvm.is_modular() {
            "-XX:DisableIntrinsic=_profileBoolean,_isCompileConstant"
        } else {
            "-XX:DisableIntrinsic=_equals,_profileBoolean,_isCompileConstant"
        };
        let exact = [
            "-XX:-OmitStackTraceInFastThrow",
            "-XX:+UnlockDiagnosticVMOptions",
            intrinsics,
            "-XX:MaxJavaStackTraceDepth=4096",
        ];
        let profile = jvm.record("embedded", &with(&exact), &[app(&jvm)]);
        assert_eq!((profile.meta["exact"].as_str(), profile.notes.len()), ("yes", 0));
        let profile = jvm.record("embedded", &with(&exact[1..]), &[app(&jvm)]);
        assert_eq!(profile.meta["exact"], "no");
        assert_eq!(profile.notes.len(), 1);
        assert!(
            profile.notes[0].starts_with("not exact without -XX:-OmitStackTraceInFastThrow: "),
            "{:?}",
            profile.notes
        );
    }
}

#[test]
fn contexts_are_merged_when_memory_runs_out() {
    for jvm in jvms() {
        let profile = jvm.record("memory", &with(&["-Dcctrewrite.max=2"]), &[app(&jvm)]);
        let tree = profile.tree("main");
        assert_eq!(tree.nodes.iter().map(|n| n.calls).sum::<u64>(), 1 + 2 * 20_000, "no call is lost");
        // Every second one counts 5 more by its id.
        assert_eq!(tree.nodes.iter().map(|n| n.bytecodes).sum::<u64>(), (2 + 5) * 20_000);
        let merged = profile.methods.iter().position(|m| m.0 == "[contexts merged: out of memory].").unwrap();
        assert_eq!((profile.methods[merged].1, profile.methods[merged].2), (4, 2));
        let node = tree.nodes.iter().find(|n| n.method == merged + 1).unwrap();
        assert_eq!((node.depth, node.children), (1, 0));
        assert!(node.calls > 10_000);
        assert_eq!(
            profile.notes.iter().filter(|note| note.starts_with("memory for the trees ran out")).count(),
            2
        );
    }
}

#[test]
fn agents_report_and_reset() {
    for jvm in jvms() {
        let out = jvm.run("agent", &with(&["-Dcctrewrite.agent=CountingAgent"]), &[app(&jvm)]);
        assert_succeeded(&out);
        let text = String::from_utf8(out.stdout).unwrap();
        // 1000 loops of 10 bytecodes each, a report every 100.
        assert!(text.contains("reports=100 sum=10000 left=1\n"), "{text}");
        assert!(text.contains("register main main\n") && text.contains("register worker worker\n"), "{text}");
        assert!(text.contains("main: app/Main.main([Ljava/lang/String;)V calls=0 bytecodes=0\n"), "{text}");
        assert!(text.contains("merged children=2 first="), "{text}");
        assert_eq!(String::from_utf8_lossy(&out.stderr), "");
        let profile = support::profile::read(&fs::read(jvm.profile()).unwrap());
        assert_eq!(profile.meta["agent"], "CountingAgent");
    }
}

#[test]
fn trees_are_merged_for_agents() {
    for jvm in jvms() {
        let agent = "-Dcctrewrite.agent=MergingAgent";
        let merged = |scenario: &str, option: &str| {
            let out = jvm.run(scenario, &with(&[agent, option]), &[app(&jvm)]);
            assert_succeeded(&out);
            String::from_utf8(out.stdout).unwrap()
        };
        let text = merged("threads", "-Dcctrewrite.threads=each");
        assert_eq!(
            text,
            "contexts=2 calls=151 bytecodes=151\nfirst: app/Main.a(I)V calls=151 bytecodes=151\n"
        );

        // There is not enough memory for two trees: the rest is merged, and no call is lost.
        let text = merged("shape", "-Dcctrewrite.max=11");
        assert!(
            text.contains(&format!(
                " calls={} bytecodes={}\n",
                1 + 100_000 + 6000,
                1 + 100_000 + 2 * 4_501_500
            )),
            "{text}"
        );
        assert!(text.contains("first: [contexts merged: out of memory]."), "{text}");
    }
}

#[test]
fn a_failing_agent_is_switched_off() {
    for jvm in jvms() {
        let out = jvm.run("agent", &with(&["-Dcctrewrite.agent=FailingAgent"]), &[app(&jvm)]);
        assert_succeeded(&out);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(
            text.matches("FailingAgent failed and was switched off: java.lang.IllegalStateException").count(),
            1,
            "{text}"
        );
        assert_eq!(String::from_utf8_lossy(&out.stdout), "");
        let profile = support::profile::read(&fs::read(jvm.profile()).unwrap());
        assert_eq!(profile.text("main"), "app/Main.main([Ljava/lang/String;)V 1 10000\n");

        let out = jvm.run("agent", &with(&["-Dcctrewrite.agent=NoSuchAgent"]), &[app(&jvm)]);
        assert_eq!(out.status.code(), Some(70));
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            text.starts_with(
                "cctrewrite: the profiling agent NoSuchAgent (-Dcctrewrite.agent) cannot be loaded"
            ),
            "{text}"
        );
        assert!(!jvm.profile().exists());
    }
}

#[test]
fn outputs_that_do_not_fit_stop_the_jvm() {
    for jvm in jvms() {
        let other = output(&jvm, "other.jar", &PROVENANCE.replace("precise", "default"), Vec::new());
        let out = jvm.run("calls", &mids(), &[app(&jvm), other]);
        assert_eq!(out.status.code(), Some(70));
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.contains("app.jar (blocks=precise) and ") && text.contains("other.jar (blocks=default)"),
            "{text}"
        );

        // A library that was built without a JDK at hand fits any.
        let none = output(&jvm, "none.jar", &PROVENANCE.replace("jdk=12ab", "jdk=none"), Vec::new());
        jvm.record("calls", &mids(), &[none.clone(), app(&jvm)]);
        let jdk = output(&jvm, "jdk.jar", &PROVENANCE.replace("jdk=12ab", "jdk=ffff"), Vec::new());
        let out = jvm.run("calls", &mids(), &[none, app(&jvm), jdk]);
        assert_eq!(out.status.code(), Some(70));

        let broken = app(&jvm).join("cctrewrite-output/index");
        fs::write(&broken, "CCTI\0\0\0\x09\0\0\0\0").unwrap();
        let out = jvm.run("calls", &mids(), &[app_folder(&broken)]);
        assert_eq!(out.status.code(), Some(70));
        assert!(String::from_utf8_lossy(&out.stderr).contains("index of version 9"));
    }
}

fn app_folder(index: &std::path::Path) -> PathBuf {
    index.ancestors().nth(2).unwrap().to_path_buf()
}

/// A library class whose method `b` an override would not replace, and below it a class that was
/// not rewritten.
fn base() -> Class {
    let methods = vec![("a", "()V", (0, 0), 0), ("b", "()V", (3, 7), 2)];
    Class { name: "lib/Base", super_name: "java/lang/Object", hash: 77, methods }
}

fn raw(name: &'static str, super_name: &'static str, method: &'static str) -> Class {
    Class { name, super_name, hash: 0, methods: vec![(method, "()V", (0, 0), 0)] }
}

fn class_option(jvm: &Jvm, files: &[(&str, Vec<u8>)]) -> String {
    let written = files.iter().map(|(name, bytes)| {
        fs::write(jvm.path(name), bytes).unwrap();
        jvm.path(name).display().to_string()
    });
    format!("-Dclasses={}", written.collect::<Vec<_>>().join(","))
}

const PUBLIC_ABSTRACT: u16 = 0x0401;

#[test]
fn rewritten_classes_are_remembered_by_name() {
    for jvm in jvms() {
        let classes =
            class_option(&jvm, &[("Base.class", class_file(&base(), PUBLIC_ABSTRACT, Some(PROVENANCE)))]);
        let enter = format!("-Denter={:x}", mid(77, 1, (3, 7)));
        let profile = jvm.record("classes", &with(&[&classes, &enter]), &[app(&jvm)]);
        assert_eq!(profile.text("main"), "lib/Base.b()V 1 8\n");
        assert!(!profile.notes.iter().any(|note| note.contains("rewritten")), "{:?}", profile.notes);
    }
}

#[test]
fn classes_of_other_provenance_are_refused() {
    for jvm in jvms() {
        let other = PROVENANCE.replace("scheme=1", "scheme=2");
        let classes =
            class_option(&jvm, &[("Base.class", class_file(&base(), PUBLIC_ABSTRACT, Some(&other)))]);
        let out = jvm.run("classes", &with(&[&classes]), &[app(&jvm)]);
        assert_succeeded(&out);
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(text.starts_with("cctrewrite: class lib/Base was rewritten with other options"), "{text}");
    }
}

#[test]
fn overrides_that_would_not_run_are_found() {
    for jvm in jvms() {
        let base_file = ("Base.class", class_file(&base(), PUBLIC_ABSTRACT, Some(PROVENANCE)));
        let middle = ("Middle.class", class_file(&raw("app/Middle", "lib/Base", "a"), PUBLIC_ABSTRACT, None));
        let bottom =
            ("Bottom.class", class_file(&raw("app/Bottom", "app/Middle", "b"), PUBLIC_ABSTRACT, None));
        let static_b = ("Static.class", class_file(&raw("app/Static", "lib/Base", "b"), 0x0009, None));
        let message = "class app/Bottom was not rewritten and overrides b()V of lib/Base";

        // Superclass first; superclasses last, as when the JVM loads them meanwhile; superclass in
        // an index only.
        let orders = [
            (vec![base_file.clone(), static_b.clone(), middle.clone(), bottom.clone()], app(&jvm)),
            (vec![bottom.clone(), static_b.clone(), middle.clone(), base_file], app(&jvm)),
            (vec![middle, static_b, bottom], output(&jvm, "lib.jar", PROVENANCE, vec![base()])),
        ];
        for (files, output) in orders {
            let classes = class_option(&jvm, &files);
            let refused = jvm.run("classes", &with(&[&classes]), std::slice::from_ref(&output));
            assert_succeeded(&refused);
            let text = String::from_utf8_lossy(&refused.stdout).into_owned();
            assert_eq!(text.lines().count(), 1, "{text}");
            assert!(text.contains(message) && text.contains("cctrewrite instrument"), "{text}");

            let warned = jvm.run(
                "classes",
                &with(&[&classes, "-Dcctrewrite.raw=warn"]),
                std::slice::from_ref(&output),
            );
            assert_succeeded(&warned);
            let text = String::from_utf8_lossy(&warned.stderr).into_owned();
            assert_eq!(text.matches(message).count(), 1, "{text}");

            let profile = jvm.record("classes", &with(&[&classes, "-Dcctrewrite.raw=allow"]), &[output]);
            assert!(profile.notes.iter().any(|note| note.starts_with(message)), "{:?}", profile.notes);
            let missing = "3 classes were not rewritten and are missing from the tree: app/Bottom, app/Middle, app/Static";
            assert!(profile.notes.iter().any(|note| note == missing), "{:?}", profile.notes);
        }
    }
}

#[test]
fn added_members_are_hidden() {
    for jvm in jvms() {
        let methods =
            [("n", "()V"), ("m", "(IJ[[[[J)V"), ("cct$x", "()V")].map(|m| (m.0, m.1, (0, 0), 0)).to_vec();
        let class = Class { name: "app/Added", super_name: "java/lang/Object", hash: 1, methods };
        let classes =
            class_option(&jvm, &[("Added.class", class_file(&class, PUBLIC_ABSTRACT | 0x1000, None))]);
        assert_succeeded(&jvm.run("hidden", &with(&[&classes]), &[]));
    }
}

#[test]
fn hashes_agree_with_the_reference() {
    for jvm in jvms() {
        let out = jvm.run("hashes", &[], &[]);
        assert_succeeded(&out);
        let bytes: Vec<u8> = (0..1400u32).map(|i| (i * 31 + (i >> 3)) as u8).collect();
        for (n, line) in String::from_utf8(out.stdout).unwrap().lines().enumerate() {
            assert_eq!(line, format!("{:x}", xxhash_rust::xxh3::xxh3_64(&bytes[..n])), "{n} bytes");
        }
    }
}

#[test]
fn settings_are_checked() {
    for jvm in jvms() {
        let out = jvm.run("calls", &with(&["-Dcctrewrite.raw=maybe"]), &[]);
        assert_eq!(out.status.code(), Some(70));
        assert_eq!(
            String::from_utf8_lossy(&out.stderr).trim(),
            "cctrewrite: -Dcctrewrite.raw=maybe: choose refuse, warn or allow"
        );
    }
}

#[test]
fn an_unwritable_profile_is_one_line_of_complaint() {
    for jvm in jvms() {
        fs::create_dir(jvm.profile()).unwrap();
        fs::write(jvm.profile().join("file"), "").unwrap();
        let out = jvm.run("calls", &mids(), &[app(&jvm)]);
        assert_succeeded(&out);
        let text = String::from_utf8_lossy(&out.stderr).into_owned();
        assert!(
            text.starts_with("cctrewrite: the profiling agent")
                || text.starts_with("cctrewrite: the profile"),
            "{text}"
        );
        assert_eq!(jvm.temporary_files(), Vec::<PathBuf>::new());
    }
}
