//! `cctrewrite typestate`, without a JVM: property files, and reports.

use std::fs;

use super::support::{put, run, scratch};

const PROPERTY: &str = "[[property]]\nname = \"File\"\nmessage = \"m\"\nexpression = \"(open read* close)*\"\nlevel = \"note\"\n[property.events]\n\
    open = { class = \"a.File\", method = \"open\" }\nread = { class = \"a.File\", method = \"read\" }\nclose = { class = \"a.File\", method = \"close\" }\n";

const VIOLATION: &str = "{\"violation\":{\"property\":\"File\",\"kind\":\"event\",\"state\":\"^\",\"event\":\"read\",\"count\":1,\
    \"object\":{\"class\":\"a.File\",\"id\":1,\"hash\":\"1b\"},\"site\":{\"class\":\"Main\",\"method\":\"main\",\"file\":\"Main.java\",\"line\":7}}}\n";

fn report(violations: &str) -> String {
    let property = "{\"property\":{\"name\":\"File\",\"level\":\"note\",\"message\":\"m\",\"expression\":\"x\",\"events\":8,\"objects\":2}}\n";
    format!("{{\"typestate\":1}}\n{violations}{property}{{\"end\":true}}\n")
}

#[test]
fn automata_are_shown() {
    let folder = scratch();
    put(folder.path(), "p.toml", PROPERTY.as_bytes());
    let text = run(folder.path(), &["typestate", "check", "p.toml"]).succeeds().stdout;
    let expected = "\
File (note): m
  (open read* close)*
  of each object
  objects may end in a final state, whether they die or the program ends
  event open at 1 kind of places
  event read at 1 kind of places
  event close at 1 kind of places
  state            heard            not heard        transitions
  ^          final  open read close  -                open -> open, read -> violation, close -> violation
  open              open close       read             open -> violation, close -> ^
  violation  sink   -                open read close

";
    let squeezed = |text: &str| {
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(squeezed(&text), squeezed(expected), "{text}");
    let dot = run(folder.path(), &["typestate", "check", "p.toml", "--format=dot"]).succeeds().stdout;
    assert!(
        dot.starts_with("digraph \"File\" {") && dot.contains("s1 -> s1 [label=\"read\" style=dashed];"),
        "{dot}"
    );
}

#[test]
fn callers_types_and_levels_are_shown() {
    let folder = scratch();
    let of = |file: &str| run(folder.path(), &["typestate", "check", file]).succeeds().stdout;
    let lock = of("lock");
    for line in [
        "  only lock of java.util.concurrent.locks.ReentrantLock, java.util.concurrent.locks.ReentrantReadWriteLock$*, ",
        "  event lock at 2 kinds of places outside the class library\n",
        "  after too many levels nothing is known of an object\n",
        "\n  not known ",
        " lock -> not known, unlock -> lock ",
    ] {
        assert!(lock.contains(line), "{line}: {lock}");
    }
    let iterators = of("iterator-of-collection");
    assert!(iterators.contains("\n  only collection of java.util.ArrayList, "), "{iterators}");
    // Of files `open`, of sockets `connect`.
    assert_eq!(of("streams").matches(" outside the class library").count(), 2);
    let rules = run(folder.path(), &["typestate", "rules", "lock"]).succeeds().stdout;
    assert_eq!(rules.matches("callers = \"program\"\n").count(), 3, "{rules}");
    put(folder.path(), "rules.toml", rules.as_bytes());
    let checked = run(folder.path(), &["markers", "check", "rules.toml"]).succeeds().stdout;
    assert_eq!(checked.matches(", outside the class library\n").count(), 3, "{checked}");
}

#[test]
fn built_in_files_can_be_printed() {
    let folder = scratch();
    let names = run(folder.path(), &["typestate", "shipped"]).succeeds().stdout;
    assert!(names.lines().count() >= 7, "{names}");
    for name in names.lines() {
        let text = run(folder.path(), &["typestate", "shipped", name]).succeeds().stdout;
        put(folder.path(), "copy.toml", text.as_bytes());
        let of = |file: &str| run(folder.path(), &["typestate", "check", file]).succeeds().stdout;
        assert_eq!(of("copy.toml"), of(name));
        run(folder.path(), &["typestate", "rules", name, "-o", "rules.toml"]).succeeds();
        assert!(fs::read_to_string(folder.path().join("rules.toml")).unwrap().starts_with("[[marker]]\n"));
        let tables = run(folder.path(), &["typestate", "tables", name]).succeeds().stdout;
        assert!(tables.starts_with("cctrewrite typestate 1\nproperty\t") && tables.ends_with("\nend\n"));
    }
}

#[test]
fn faults_are_named() {
    let folder = scratch();
    let fails = |arguments: &[&str], part: &str| {
        let run = run(folder.path(), &[&["typestate"], arguments].concat());
        assert_eq!((run.code, &*run.stdout, run.stderr.lines().count()), (Some(2), "", 1), "{}", run.stderr);
        assert!(run.stderr.contains(part), "{}", run.stderr);
    };
    fails(&["check", "none.toml"], "(built-in files: connection, file-api,");
    fails(&["shipped", "none"], "no built-in property 'none'");
    put(folder.path(), "empty.toml", b"");
    fails(&["check", "empty.toml"], "empty.toml has no [[property]]");
    put(folder.path(), "bad.toml", PROPERTY.replacen("read*", "raed*", 1).as_bytes());
    fails(&["rules", "bad.toml"], "bad.toml: line 4, column 21: 'raed' is not an event");
    fails(&["report", "bad.toml"], "bad.toml: not a report of a typestate analysis");
    fails(&["report", "none"], "cannot open none");
}

#[test]
fn reports_decide_about_exit_codes() {
    let folder = scratch();
    let home = folder.path();
    let code = |arguments: &[&str]| run(home, &[&["typestate", "report"], arguments].concat()).code;
    put(home, "good", report("").as_bytes());
    put(home, "bad", report(VIOLATION).as_bytes());
    put(home, "cut", report(VIOLATION).replace("{\"end\":true}\n", "").as_bytes());
    put(home, "cut-good", report("").replace("{\"end\":true}\n", "").as_bytes());
    assert_eq!(code(&["good"]), Some(0));
    assert_eq!(code(&["bad"]), Some(1));
    assert_eq!(code(&["good", "bad"]), Some(1));
    assert_eq!(code(&["cut"]), Some(1));
    assert_eq!(code(&["cut-good"]), Some(3));
    assert_eq!(code(&["bad", "--fail-on=warning"]), Some(0));
    assert_eq!(code(&["bad", "--fail-on=note"]), Some(1));
    assert_eq!(code(&["bad", "--fail-on=never"]), Some(0));
}

#[test]
fn reports_have_three_forms() {
    let folder = scratch();
    let home = folder.path();
    put(home, "bad", report(VIOLATION).as_bytes());
    let of = |format: &str| run(home, &["typestate", "report", "bad", "bad", "--format", format]).stdout;
    let text = of("text");
    assert!(text.starts_with("note: File: 'read' is not allowed at the beginning\n"), "{text}");
    assert!(text.contains("(number 1), and 1 more\n  here     Main.main (Main.java:7)\n"), "{text}");
    assert!(text.ends_with("File: 4 objects, 16 events, 2 violations\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&of("json")).unwrap();
    assert_eq!(
        (&json["format"], &json["version"], &json["whole"]),
        (&"cctrewrite typestate".into(), &1.into(), &true.into())
    );
    assert_eq!(json["violations"][0]["count"], 2);
    let sarif: serde_json::Value = serde_json::from_str(&of("sarif")).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "note");
    assert_eq!(sarif["runs"][0]["tool"]["driver"]["version"], env!("CARGO_PKG_VERSION"));
}
