//! Profiles that distinguish call sites, in all commands that read profiles.

use std::path::Path;

use cct_profile::{Method, Site};

use super::support::{Context, profile_of, put, run, scratch, snapshot};

/// Depth (1 below the thread), name, bytecode index and line in the caller, calls, bytecodes.
type Node = (usize, &'static str, Option<(u16, u32)>, u64, u64);

/// `main` calls `step` from two places, which walks recursively, also through native code.
const RUN: [Node; 8] = [
    (1, "main", None, 1, 120),
    (2, "step", Some((4, 10)), 600, 6000),
    (3, "walk", Some((9, 21)), 250, 1234),
    (4, "walk", Some((2, 30)), 50, 100),
    (2, "step", Some((17, 12)), 400, 3000),
    (3, "walk", Some((9, 21)), 10, 30),
    (2, "invoke", Some((20, 0)), 2, 0),
    (3, "walk", None, 2, 60),
];

/// A profile as the runtime writes it; `sites` says whether call sites are distinguished.
fn profile(sites: bool, nodes: &[Node]) -> Vec<u8> {
    let context = |&(depth, name, site, calls, bytecodes): &Node| Context {
        depth,
        method: Method {
            class: "app/Main".into(),
            name: name.into(),
            descriptor: "(I)V".into(),
            site: site.filter(|_| sites).map(|(bci, line)| Site { bci, line }),
            mid: name.len() as u64,
            flags: if name == "invoke" { Method::NATIVE } else { 0 },
        },
        calls,
        bytecodes,
    };
    profile_of(&nodes.iter().map(context).collect::<Vec<_>>(), sites.then_some(("call-sites", "yes")))
}

/// `split.cct`, and in the folder `plain` the same run without call sites under the same name.
fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "split.cct", &profile(true, &RUN));
    put(folder.path(), "plain/split.cct", &profile(false, &RUN));
    folder
}

fn shown(folder: &Path, arguments: &[&str]) -> String {
    run(folder, arguments).succeeds().stdout
}

#[test]
fn trees_show_sites_and_tables_methods() {
    let folder = stored();
    let home = folder.path();
    snapshot("sites-report.txt", &shown(home, &["report", "split.cct", "--min-percent", "0", "--top", "9"]));
    snapshot(
        "sites-folded.txt",
        &shown(home, &["report", "split.cct", "--min-percent", "0", "--fold-recursion"]),
    );
    snapshot("sites-contexts.txt", &shown(home, &["report", "split.cct", "--format", "contexts"]));
    snapshot("sites-info.txt", &shown(home, &["info", "split.cct"]));
    let json: serde_json::Value = serde_json::from_str(&shown(
        home,
        &["report", "split.cct", "--format", "json", "--min-percent", "0"],
    ))
    .unwrap();
    let rows = json["trees"][0]["contexts"].as_array().unwrap();
    let sites: Vec<String> = rows
        .iter()
        .map(|row| {
            let number = |key: &str| row.get(key).map_or("-".to_owned(), ToString::to_string);
            format!("{} {} {}", row["name"].as_str().unwrap(), number("bci"), number("line"))
        })
        .collect();
    assert_eq!(
        sites,
        [
            "app.Main.main(I)V - -",
            "app.Main.step(I)V 4 10",
            "app.Main.walk(I)V 9 21",
            "app.Main.walk(I)V 2 30",
            "app.Main.step(I)V 17 12",
            "app.Main.walk(I)V 9 21",
            "app.Main.invoke(I)V 20 -",
            "app.Main.walk(I)V -1 -",
        ]
    );
    assert_eq!((&json["totals"]["methods"], json["table"].as_array().unwrap().len()), (&4.into(), 4));
    // Outputs by methods show no call sites at all.
    for arguments in [
        &["report", "split.cct", "--format", "csv"][..],
        &["report", "split.cct", "--format", "csv", "--by", "class"],
        &["report", "split.cct", "--format", "csv", "--focus", "app.Main.walk(I)V"],
        &["report", "--table", "library", "split.cct"],
    ] {
        assert_eq!(shown(home, arguments), shown(&home.join("plain"), arguments), "{arguments:?}");
    }
}

#[test]
fn merged_sites_are_the_profile_without() {
    let folder = stored();
    let (home, plain) = (folder.path(), folder.path().join("plain"));
    for arguments in [
        &["report", "split.cct", "--min-percent", "0", "--top", "5"][..],
        &["report", "split.cct", "--format", "json"],
        &["report", "split.cct", "--format", "contexts", "--per-thread"],
        &["report", "split.cct", "--html", "-"],
        &["report", "--table", "shape", "split.cct"],
        &["report", "--table", "natives", "split.cct"],
        &["export", "--format", "collapsed", "split.cct", "-o", "-"],
        &["export", "--format", "callgrind", "split.cct", "-o", "-"],
        &["export", "--format", "json", "split.cct", "-o", "-"],
        &["export", "--format", "svg", "split.cct", "--diff", "split.cct", "-o", "-"],
        &["report", "split.cct", "split.cct"],
    ] {
        let merging: Vec<&str> = arguments.iter().copied().chain(["--merge-sites"]).collect();
        assert_eq!(shown(home, &merging), shown(&plain, arguments), "{arguments:?}");
        assert_ne!(shown(home, arguments), shown(&plain, arguments), "{arguments:?}");
    }
    for (format, file) in [("pprof", "p.gz"), ("parquet", "p.parquet")] {
        run(home, &["export", "--format", format, "split.cct", "-o", file, "--merge-sites"]).succeeds();
        run(&plain, &["export", "--format", format, "split.cct", "-o", file]).succeeds();
        assert_eq!(std::fs::read(home.join(file)).unwrap(), std::fs::read(plain.join(file)).unwrap());
    }
    run(home, &["merge", "split.cct", "-o", "sum.cct", "--merge-sites"]).succeeds();
    run(&plain, &["merge", "split.cct", "-o", "sum.cct"]).succeeds();
    assert_eq!(std::fs::read(home.join("sum.cct")).unwrap(), std::fs::read(plain.join("sum.cct")).unwrap());
}

#[test]
fn comparisons_say_whether_call_sites_are_compared() {
    let folder = stored();
    let home = folder.path();
    let list = |name: &str, arguments: &[&str]| {
        let lines = shown(home, arguments);
        // As another tool writes it: without cctrewrite's header.
        let lines: String = lines.lines().filter(|l| !l.starts_with('#')).map(|l| format!("{l}\n")).collect();
        put(home, name, lines.as_bytes());
    };
    list("oracle.txt", &["report", "split.cct", "--format", "contexts"]);
    list("plain.txt", &["report", "plain/split.cct", "--format", "contexts"]);
    let said = "call sites of A are added up, as the other side does not distinguish them";
    for (other, contexts, is_said) in [
        ("oracle.txt", 8, false),
        ("split.cct", 8, false),
        ("plain.txt", 6, true),
        ("plain/split.cct", 6, true),
    ] {
        let compared = shown(home, &["compare", "split.cct", other]);
        assert!(compared.ends_with("A and B are equal.\n"), "{compared}");
        assert_eq!(compared.contains(said), is_said, "{compared}");
        assert!(
            compared.contains(&format!("In both {contexts:>17}"))
                || compared.contains(&format!(" {contexts}\n")),
            "{compared}"
        );
        assert!(!compared.contains("Differs"), "{compared}");
        let diff = shown(home, &["diff", "split.cct", other]);
        assert!(diff.contains("BASE and NEW are identical"), "{diff}");
        assert_eq!(diff.contains("call sites of BASE are added up"), is_said, "{diff}");
    }
    let merged = shown(home, &["compare", "split.cct", "oracle.txt", "--merge-sites"]);
    assert!(merged.contains("call sites added up") && !merged.contains(said), "{merged}");
    // The same calls from another place.
    let moved: Vec<Node> = RUN
        .iter()
        .map(|&(depth, name, site, calls, bytecodes)| {
            let site = site.map(|(bci, line)| (if bci == 17 { 18 } else { bci }, line));
            (depth, name, site, calls, bytecodes)
        })
        .collect();
    put(home, "moved.cct", &profile(true, &moved));
    let different = run(home, &["compare", "split.cct", "moved.cct"]);
    assert_eq!(different.code, Some(1));
    assert!(
        different.stdout.contains("app.Main.walk(int)@9 < app.Main.step(int)@18 < app.Main.main(int)"),
        "{}",
        different.stdout
    );
    run(home, &["compare", "split.cct", "moved.cct", "--merge-sites"]).succeeds();
    let diff = shown(home, &["diff", "split.cct", "moved.cct"]);
    assert!(diff.contains("BASE and NEW differ in 4 contexts") && !diff.contains("changed method"), "{diff}");
    assert!(shown(home, &["diff", "split.cct", "moved.cct", "--merge-sites"]).contains("identical"));
}

#[test]
fn sums_of_profiles_with_and_without_say_so() {
    let folder = stored();
    let home = folder.path();
    std::fs::rename(home.join("plain/split.cct"), home.join("plain.cct")).unwrap();
    run(home, &["merge", "split.cct", "split.cct", "-o", "both.cct"]).succeeds();
    assert!(shown(home, &["info", "both.cct"]).contains("\nCall sites  separate\n"));
    run(home, &["merge", "plain.cct", "split.cct", "-o", "mixed.cct"]).succeeds();
    let info = shown(home, &["info", "mixed.cct"]);
    assert!(!info.contains("Call sites  separate\n"), "{info}");
    assert!(
        info.contains(
            "split.cct: call sites are kept separate, but not in other profiles: \
                       contexts that differ only by them are added up"
        ),
        "{info}"
    );
    let bytes = std::fs::read(home.join("mixed.cct")).unwrap();
    assert_eq!(bytes[8..12], [0, 0, 0, 1]);
    // Pages and pictures of a difference report it on standard error.
    for arguments in [
        &["report", "plain.cct", "--diff", "split.cct", "--html", "d.html"][..],
        &["export", "plain.cct", "--diff", "split.cct", "--format", "svg", "-o", "d.svg"],
    ] {
        let said = run(home, arguments).succeeds().stderr;
        assert!(said.to_lowercase().contains("distinguishes call sites"), "{said}");
    }
    let overlap = run(home, &["report", "--table", "overlap", "split.cct", "plain.cct"]).succeeds();
    assert!(overlap.stderr.contains("call sites of split.cct are added up"), "{}", overlap.stderr);
}
