//! `--cost-model`: messages for invalid models, and profiles whose numbers are cycles.

use std::fs;
use std::path::Path;

use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};

use super::support::{Run, plain, put, run, sample, scratch};

/// A profile of two contexts, with a cost model or without.
fn profile(model: Option<&str>) -> Vec<u8> {
    let method = |name: &str| Method {
        class: "app/Main".into(),
        name: name.into(),
        descriptor: "()V".into(),
        site: None,
        mid: 128,
        flags: 0,
    };
    let mut tree = TreeBuilder::new();
    tree.enter(0, 1, 300).unwrap();
    tree.enter(1, 2, 1700).unwrap();
    let mut meta = vec![("blocks", "exact"), ("main", "app.Main")];
    match model {
        Some(model) => meta.extend([("cost-model", model), ("metrics", "calls+cycles")]),
        None => meta.push(("metrics", "calls+bytecodes")),
    }
    let tree = tree.finish();
    let profile = Profile {
        meta: meta.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        notes: Vec::new(),
        methods: vec![method("main"), method("step")],
        threads: vec![ThreadTree { name: "main".into(), threads: 1, flags: ThreadTree::ENDED, tree }],
        damage: Vec::new(),
    };
    profile.to_bytes().unwrap()
}

fn stored() -> tempfile::TempDir {
    let folder = scratch();
    put(folder.path(), "a.cct", &profile(Some("jop@1")));
    put(folder.path(), "b.cct", &profile(Some("jop@1")));
    put(folder.path(), "other.cct", &profile(Some("jop@2")));
    put(folder.path(), "plain.cct", &profile(None));
    folder
}

fn of(folder: &Path, line: &str) -> Run {
    run(folder, &line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn what_shows_them_says_cycles() {
    let folder = stored();
    for line in [
        "report a.cct",
        "report a.cct --top 5",
        "report a.cct --table shape",
        "info a.cct",
        "diff a.cct b.cct",
        "compare a.cct b.cct",
        "export --format speedscope a.cct -o out",
        "export --format svg a.cct -o out",
        "export --format callgrind a.cct -o out",
        "export --format svg --diff a.cct b.cct -o out",
    ] {
        let found = of(folder.path(), line).succeeds();
        let text = if line.ends_with(" out") {
            fs::read_to_string(folder.path().join("out")).unwrap()
        } else {
            found.stdout
        };
        assert!(text.to_lowercase().contains("cycles"), "{line}: {text}");
        assert!(!text.to_lowercase().contains("bytecode"), "{line}: {text}");
    }
    assert!(of(folder.path(), "info a.cct").succeeds().stdout.contains("Cost model  jop@1"));
    let json = of(folder.path(), "report a.cct --format json").succeeds().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["metric"], "cycles");
}

#[test]
fn numbers_of_different_models_do_not_meet() {
    let folder = stored();
    for other in ["other.cct", "plain.cct"] {
        for line in
            ["diff a.cct OTHER", "compare a.cct OTHER", "export --format svg --diff a.cct OTHER -o out"]
        {
            let found = of(folder.path(), &line.replace("OTHER", other));
            assert_ne!(found.code, Some(0), "{line}");
            assert!(found.stderr.contains("different cost models (jop@1 and "), "{line}: {}", found.stderr);
        }
        let found = of(folder.path(), &format!("merge a.cct {other} -o sum.cct"));
        assert_ne!(found.code, Some(0));
        assert!(found.stderr.contains("their numbers cannot be added up"), "{}", found.stderr);
        assert!(!folder.path().join("sum.cct").exists());
        // Calls can be compared with any model.
        of(folder.path(), &format!("diff a.cct {other} --calls-only")).succeeds();
        of(folder.path(), &format!("compare a.cct {other} --calls-only")).succeeds();
        of(folder.path(), &format!("export --format svg --metric calls --diff a.cct {other} -o out"))
            .succeeds();
        let page = of(folder.path(), &format!("report --html page.html --diff a.cct {other}")).succeeds();
        assert!(page.stderr.contains("count by different cost models"), "{other}: {}", page.stderr);
    }
    of(folder.path(), "merge a.cct b.cct -o sum.cct").succeeds();
    assert!(of(folder.path(), "info sum.cct").succeeds().stdout.contains("Cycles      4,000"));
}

#[test]
fn invalid_models_are_refused_with_their_lines() {
    let folder = scratch();
    put(folder.path(), "in.jar", &super::support::jar(&[("A.class", &plain("A"))]));
    let head = "name = \"x\"\nunit = \"cycles\"\ndefault = 1\n";
    for (text, said) in [
        ("name = \"x\"\n", "line 2: the file has no"),
        (&*format!("{head}[opcodes]\nidvi = 3\n"), "line 5: unknown key 'idvi'"),
        (&*format!("{head}[opcodes]\nidiv = -3\n"), "line 5: idiv = -3: it must be 0 to 30000"),
        (&*format!("{head}[opcodes]\nidiv = 40000\n"), "line 5: idiv = 40000: it must be 0 to 30000"),
        (&*format!("{head}[timing]\n"), "line 4: unknown table [timing]"),
        (&*format!("{head}other = 1\n"), "line 4: unknown key 'other'"),
        (&*format!("{head}[caller]\nper-word = 9000\n"), "line 5: a method of 65,535 bytes would cost"),
    ] {
        put(folder.path(), "model.toml", text.as_bytes());
        let found = of(folder.path(), "instrument in.jar -o out.jar --cost-model model.toml");
        assert_eq!(found.code, Some(2), "{}", found.stderr);
        assert!(found.stderr.contains("model.toml, ") && found.stderr.contains(said), "{}", found.stderr);
    }
    let found = of(folder.path(), "instrument in.jar -o out.jar --cost-model none.toml");
    assert!(found.stderr.contains("(jop, unit)"), "{}", found.stderr);
    let both = of(folder.path(), "instrument in.jar -o out.jar --cost-model jop --metrics calls");
    both.fails_saying(&["--cost-model", "--metrics calls"]);
    assert!(!folder.path().join("out.jar").exists());
}

/// The file in the documentation is valid, and gives other bytes than the number of bytecodes.
#[test]
fn a_file_of_ones_own() {
    let page = include_str!("../../../../docs/research/cost-models.md");
    let example: String = page
        .lines()
        .skip_while(|line| *line != "    name = \"my-board\"              # a-z, 0-9 and -, at most 24")
        .take_while(|line| line.is_empty() || line.starts_with("    "))
        .map(|line| format!("{line}\n"))
        .collect();
    let folder = scratch();
    put(folder.path(), "model.toml", example.as_bytes());
    put(folder.path(), "in.jar", &super::support::jar(&[("Sample.class", &sample())]));
    let made = |options: &str, to: &str| {
        of(folder.path(), &format!("instrument in.jar -o {to} --verify --manifest {options}")).succeeds();
        fs::read(folder.path().join(to)).unwrap()
    };
    let (costs, plain, jop) =
        (made("--cost-model model.toml", "a.jar"), made("", "b.jar"), made("--cost-model jop", "c.jar"));
    assert!(costs != plain && costs != jop);
    let manifest = super::support::entry(&folder.path().join("a.jar"), "META-INF/MANIFEST.MF");
    let manifest = String::from_utf8(manifest).unwrap().replace("\r\n ", "");
    assert!(manifest.contains(" cost-model=my-board@") && !manifest.contains("costs="), "{manifest}");
    of(folder.path(), "verify in.jar a.jar").succeeds();
    let wrong = of(folder.path(), "verify in.jar a.jar --cost-model jop");
    assert_eq!(wrong.code, Some(1), "{}", wrong.stdout);
}

/// Neither a name without a path nor the file's location matters.
#[test]
fn the_same_model_from_another_file_is_the_same() {
    let folder = scratch();
    put(folder.path(), "in.jar", &super::support::jar(&[("Sample.class", &sample())]));
    let text = "name = \"x\"\nunit = \"cycles\"\ndefault = 3\n";
    put(folder.path(), "one.toml", text.as_bytes());
    put(folder.path(), "two.toml", format!("# The same.\n{text}\n").as_bytes());
    for file in ["one", "two"] {
        of(folder.path(), &format!("instrument in.jar -o {file}.jar --cost-model {file}.toml")).succeeds();
    }
    let [one, two] = ["one.jar", "two.jar"].map(|jar| fs::read(folder.path().join(jar)).unwrap());
    assert!(one == two);
}
