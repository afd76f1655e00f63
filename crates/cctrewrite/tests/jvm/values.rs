//! Values of contexts (docs/research/pcc.md). The tests cover a program with known contexts, all
//! contexts of the fixtures compared with the profiler's trees, and the commands for values.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use cct_pcc::{Place, RecordedValues, Site, Value};
use cct_profile::Profile;

use crate::support::{
    Blocks, Image, Java, Jdk, Run, assert_same_lines, assert_succeeded, fixture, folder, jdks, profiled,
    scratch,
};

fn cctrewrite(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    command.args(arguments);
    command
}

/// All methods of the fixtures, which are in no package, and some of the class library. The latter
/// are one with a body, natives of all kinds, and methods that callers count.
const CHOSEN: [&str; 6] = [
    "*.*",
    "java.util.HashMap.put*",
    "java.lang.System.{nanoTime,arraycopy}",
    "java.lang.Object.{<init>,hashCode,getClass}",
    "java.lang.Class.forName0",
    "java.lang.reflect.Method.invoke",
];

/// A JDK that records values of contexts, built once for all tests.
fn valuing(jdk: &'static Jdk) -> &'static Jdk {
    static JDKS: Mutex<BTreeMap<u32, Arc<OnceLock<&'static Jdk>>>> = Mutex::new(BTreeMap::new());
    let cell = JDKS.lock().unwrap().entry(jdk.version).or_default().clone();
    cell.get_or_init(|| {
        let home = scratch().join(format!("values-{}", jdk.version));
        make(jdk, &CHOSEN.map(|chosen| ["--pcc-at", chosen]).concat(), &home);
        Box::leak(Box::new(Jdk::made(jdk.version, home)))
    })
}

fn make(jdk: &Jdk, options: &[&str], home: &Path) {
    let mut command = cctrewrite(&["jdk", "--tool", "pcc", "--no-cds", "--link", "-q"]);
    assert_succeeded(command.args(options).arg(jdk.home()).arg("-o").arg(home));
}

/// A program on it; the file of values has the path of a profile.
fn java(jdk: &'static Jdk, name: &str, classes: &str) -> Java {
    let mut java = Java::new(valuing(jdk), &format!("values-{name}"));
    java.verify().class_path([fixture(classes).join("classes")]);
    if classes == "pcc" {
        java.class_path([crate::selective::api()]);
    }
    java
}

fn recorded(run: &Run) -> RecordedValues {
    RecordedValues::of_bytes(&fs::read(run.profile_path()).unwrap()).unwrap()
}

fn place(class: &str, name: &str, descriptor: &str) -> Place {
    Place { class: class.to_owned(), name: name.to_owned(), descriptor: descriptor.to_owned() }
}

/// The value after calls from these bytecodes of methods of `Values`: `name(descriptor)@index`.
fn value(calls: &[(&str, u16)]) -> Value {
    calls.iter().fold(Value::ROOT, |value, &(method, bci)| {
        let (name, descriptor) = method.split_at(method.find('(').unwrap());
        let (class, name) = name.rsplit_once('.').unwrap_or(("Values", name));
        value.call(Site::of(class, name, descriptor, Some(bci)))
    })
}

const MAIN: &str = "main([Ljava/lang/String;)V";

/// The chains of `leaf`, except the threads', with their numbers.
fn chains_of_leaf() -> Vec<(Vec<(&'static str, u16)>, u64)> {
    let down = "down(I)V";
    vec![
        (vec![(MAIN, 9), ("middle()V", 0)], 1000),
        (vec![(MAIN, 18), ("twice()V", 0), ("middle()V", 0)], 1),
        (vec![(MAIN, 18), ("twice()V", 3)], 1),
        (vec![(MAIN, 18), ("twice()V", 6), ("middle()V", 0)], 1),
        (vec![(MAIN, 22), (down, 13), (down, 13), (down, 13), (down, 4)], 1),
        (vec![(MAIN, 25), ("shapes()V", 54), ("draw(LValues$Shape;)V", 1), ("Values$Circle.draw()V", 0)], 2),
        (vec![(MAIN, 25), ("shapes()V", 54), ("draw(LValues$Shape;)V", 1), ("Values$Square.draw()V", 0)], 1),
        (vec![(MAIN, 31), ("switched()V", 27)], 1),
        (vec![(MAIN, 70)], 1),
    ]
}

fn counts<'r>(recorded: &'r RecordedValues, name: &str) -> &'r BTreeMap<Value, u64> {
    &recorded.counts[&place("Values", name, "()V")]
}

/// Each known context has its value and its count, and the only other one is the threads'.
fn known(jdk: &'static Jdk) {
    let run = java(jdk, "known", "pcc").succeed("Values", &[]);
    let asked = value(&[(MAIN, 28), ("ask()V", 9), ("asked()J", 0)]);
    assert_eq!(run.out, format!("same\nsame\nanother\n{:x}\nfalse\ntrue\n", asked.0));
    let recorded = recorded(&run);
    let mut of_leaf = counts(&recorded, "leaf").clone();
    for (chain, count) in chains_of_leaf() {
        assert_eq!(of_leaf.remove(&value(&chain)), Some(count), "{chain:?}");
    }
    // Three successive threads have one context.
    assert_eq!(of_leaf.values().collect::<Vec<_>>(), [&3]);
    // All callees of one call site share a value.
    let draw = value(&[(MAIN, 25), ("shapes()V", 54), ("draw(LValues$Shape;)V", 1)]);
    for (class, count) in [("Values$Circle", 2), ("Values$Square", 1)] {
        assert_eq!(recorded.counts[&place(class, "draw", "()V")], BTreeMap::from([(draw, count)]));
    }
    assert_eq!(recorded.lost, 0);
    assert_eq!(recorded.meta["pcc-at"], CHOSEN.join(" "));
    assert!(recorded.meta["provenance"].contains("pcc=yes"), "{:?}", recorded.meta);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(fs::metadata(run.profile_path()).unwrap().permissions().mode() & 0o777, 0o600);
}

jdks!(contexts_that_are_known, known, feature);

/// A tree's contexts with their values, computed step by step: place, value, calls.
fn of_tree(profile: &Profile) -> Vec<(Place, Value, u64)> {
    let mut all = Vec::new();
    for thread in &profile.threads {
        let mut open = vec![(0, None::<(Place, Value)>)];
        while let Some((node, above)) = open.pop() {
            for child in thread.tree.children(node) {
                let node = thread.tree.nodes()[child as usize];
                let method = &profile.methods[node.method as usize];
                let own = place(&method.class, &method.name, &method.descriptor);
                let value = match &above {
                    None => Value::ROOT,
                    Some((caller, value)) => {
                        let bci = method.site.map(|site| site.bci);
                        value.call(Site::of(&caller.class, &caller.name, &caller.descriptor, bci))
                    }
                };
                all.push((own.clone(), value, node.calls));
                open.push((child, Some((own, value))));
            }
        }
    }
    all
}

/// Fixtures that behave the same in each run.
const FIXTURES: [&str; 11] = [
    "calls",
    "causes",
    "control",
    "exceptions",
    "initialisers",
    "lambdas",
    "natives",
    "recursion",
    "sites",
    "threads",
    "types",
];

/// The values recorded at chosen methods are those of the tree. That includes calls by the JVM
/// itself, natives and their callbacks, and generated classes. For the fixtures' own methods all
/// are equal. For the class library's, those that two profiles share are equal; profiles differ in
/// code that runs once and in tables that grow randomly.
fn as_in_trees(jdk: &'static Jdk) {
    for name in FIXTURES {
        let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        // With the same class path, where there is an image: launchers search it.
        let mut profiled = match jdk.version {
            8 => profiled(jdk, Blocks::Sites, name),
            _ => Image::of(jdk, Blocks::Sites).java(name),
        };
        let tree = profiled.class_path([fixture(name).join("classes")]).succeed(&main, &[]);
        let recorded = recorded(&java(jdk, name, name).succeed(&main, &[]));
        let mut expected: BTreeMap<(Place, Value), u64> = BTreeMap::new();
        for (place, value, calls) in of_tree(&tree.profile()) {
            *expected.entry((place, value)).or_default() += calls;
        }
        let what = format!("{name} on JDK {}", jdk.version);
        let own = |place: &Place| !place.class.contains('/');
        for ((place, value), calls) in expected.iter().filter(|((place, _), calls)| own(place) && **calls > 0)
        {
            let count = recorded.counts.get(place).and_then(|of_place| of_place.get(value));
            assert_eq!(count, Some(calls), "{what}: {place:?} {value}");
        }
        let (mut found, mut missing) = (0, Vec::new());
        for (place, values) in &recorded.counts {
            for value in values.keys() {
                if expected.contains_key(&(place.clone(), *value)) {
                    found += 1;
                } else if own(place) {
                    panic!("{what}: {place:?} {value}");
                } else {
                    missing.push((place, value));
                }
            }
        }
        eprintln!("{what}: {found} values, and {} that are not in the tree", missing.len());
        // On 8 the trees are of a class library before the JDK's, with another boot class path to
        // search.
        let chance = if jdk.version == 8 { usize::MAX } else { found / 100 + 1 };
        assert!(found > 50 && missing.len() < chance, "{what}: {found}, {missing:?}");
    }
}

jdks!(all_contexts_of_fixtures, as_in_trees, feature);

/// Values lead back to the contexts of a tree, with their lines.
fn translated(jdk: &'static Jdk) {
    let mut profiled = profiled(jdk, Blocks::Sites, "pcc");
    let tree = profiled.class_path([fixture("pcc/classes"), crate::selective::api()]).succeed("Values", &[]);
    let run = java(jdk, "translated", "pcc").succeed("Values", &[]);
    let mut command = cctrewrite(&["pcc", "contexts"]);
    let output = command.arg(run.profile_path()).arg("--tree").arg(tree.profile_path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let of_leaf: Vec<&str> = text
        .lines()
        .skip_while(|line| *line != "Values.leaf()V")
        .skip(1)
        .take_while(|line| line.starts_with(' '))
        .collect();
    let by_main = |line: &str| format!("    Values.main([Ljava/lang/String,)V@{line}");
    let expected = [
        format!("  {} 1,000 times", value(&[(MAIN, 9), ("middle()V", 0)])),
        "    Values.leaf()V".to_owned(),
        "    Values.middle()V@0:32".to_owned(),
        by_main("9:96"),
    ];
    assert_eq!(of_leaf[..4], expected);
    assert!(
        !of_leaf.iter().any(|line| line.contains("one of") || line.contains("not in the tree")),
        "{text}"
    );
    // A context that the program has queried is found, too.
    let asked = value(&[(MAIN, 28), ("ask()V", 9), ("asked()J", 0)]).to_string();
    let output = cctrewrite(&["pcc", "contexts", "--value", &asked, "--tree"])
        .arg(tree.profile_path())
        .output()
        .unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(found.starts_with(&format!("cctrewrite.api.Pcc.current()J\n  {asked}\n    cctrewrite.api.Pcc.current()J\n    Values.asked()J@0:")), "{found}");
    let dump = cctrewrite(&["pcc", "dump"]).arg(run.profile_path()).output().unwrap();
    let dump = String::from_utf8(dump.stdout).unwrap();
    assert!(
        dump.contains(&format!("1000\t{}\tValues.leaf()V\n", value(&[(MAIN, 9), ("middle()V", 0)]))),
        "{dump}"
    );
    let info = cctrewrite(&["pcc", "info"]).arg(run.profile_path()).output().unwrap();
    let info = String::from_utf8(info.stdout).unwrap();
    assert!(info.contains("  main: Values\n") && !info.contains("INCOMPLETE"), "{info}");
    // Chains of calls, none of which has the value of another.
    let output = cctrewrite(&["pcc", "collisions"]).arg(tree.profile_path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("              0  collisions: chains minus values"), "{text}");
    // Without call sites no values can be computed.
    let plain = crate::support::profiled(jdk, Blocks::Exact, "values-plain")
        .class_path([fixture("pcc/classes"), crate::selective::api()])
        .succeed("Values", &[]);
    let output = cctrewrite(&["pcc", "collisions"]).arg(plain.profile_path()).output().unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("--call-sites"), "{output:?}");
}

jdks!(contexts_again, translated, [17]);

/// Recording by regions, from a method on, and in extents.
fn selected(jdk: &'static Jdk) {
    let run = java(jdk, "regions", "pcc").option("-Dcctrewrite.record=regions").succeed("Values", &[]);
    let recorded_ = recorded(&run);
    // `switched` begins, and only its thread is recorded.
    let expected = [&[(MAIN, 31), ("switched()V", 27)][..], &[(MAIN, 70)]].map(|chain| (value(chain), 1));
    assert_eq!(counts(&recorded_, "leaf"), &BTreeMap::from(expected));

    let run =
        java(jdk, "start-at", "pcc").option("-Dcctrewrite.start-at=Values.switched").succeed("Values", &[]);
    let recorded_ = recorded(&run);
    let of_leaf = counts(&recorded_, "leaf");
    assert_eq!(of_leaf.get(&value(&[(MAIN, 31), ("switched()V", 27)])), Some(&1));
    assert_eq!((of_leaf.len(), of_leaf.values().sum::<u64>()), (3, 5));

    let run = java(jdk, "extents", "pcc").option("-Dcctrewrite.extent=Values.twice").succeed("Values", &[]);
    let recorded_ = recorded(&run);
    // An extent is outermost.
    let expected = [
        (value(&[("twice()V", 0), ("middle()V", 0)]), 1),
        (value(&[("twice()V", 3)]), 1),
        (value(&[("twice()V", 6), ("middle()V", 0)]), 1),
    ];
    assert_eq!(counts(&recorded_, "leaf"), &BTreeMap::from(expected));
    assert_eq!(counts(&recorded_, "twice"), &BTreeMap::from([(Value::ROOT, 1)]));
}

jdks!(parts_of_programs, selected, [8, 17]);

/// Entries without room are counted, and reported.
fn bounded(jdk: &'static Jdk) {
    let calls = 1 << 17;
    let run = java(jdk, "many", "pcc").succeed("Many", &["17"]);
    let of_leaf = &recorded(&run).counts[&place("Many", "leaf", "()V")];
    assert_eq!((of_leaf.len(), of_leaf.values().sum::<u64>()), (calls, calls as u64));
    let run = java(jdk, "bounded", "pcc").option("-Dcctrewrite.pcc-memory=2").succeed("Many", &["17"]);
    let recorded = recorded(&run);
    let counted: u64 = recorded.counts.values().flat_map(|values| values.values()).sum();
    assert!(recorded.lost > 0 && counted > 10_000, "{} {counted}", recorded.lost);
    assert!(
        recorded.notes.iter().any(|note| note.contains("since the tables were full")),
        "{:?}",
        recorded.notes
    );
    let info = cctrewrite(&["pcc", "info"]).arg(run.profile_path()).output().unwrap();
    assert!(String::from_utf8_lossy(&info.stdout).contains("INCOMPLETE"), "{info:?}");
    let run = java(jdk, "bad-bound", "pcc").option("-Dcctrewrite.pcc-memory=much").run("Many", &["3"]);
    run.assert_code(70);
    assert!(run.err.contains("pcc-memory"), "{}", run.err);
}

jdks!(bounds, bounded, [17], all[8]);

/// If few methods take part, values depend on these alone.
fn few(jdk: &'static Jdk) {
    let home = folder("values-few").join("jdk");
    make(
        jdk,
        &["--pcc-at", "Values.leaf", "--pcc-at", "No.such", "--pcc-only", "Values.{main,twice}"],
        &home,
    );
    let made = Jdk::made(jdk.version, home.clone());
    let mut java = Java::new(&made, "values-only");
    java.verify().class_path([fixture("pcc/classes"), crate::selective::api()]);
    let run = java.succeed("Values", &[]);
    let recorded = recorded(&run);
    let mut expected = BTreeMap::new();
    for (chain, count) in chains_of_leaf() {
        let chain: Vec<_> = chain.into_iter().filter(|(m, _)| *m == MAIN || *m == "twice()V").collect();
        *expected.entry(value(&chain)).or_insert(0) += count;
    }
    // No caller of the threads' takes part.
    expected.insert(Value::ROOT, 3);
    assert_eq!(counts(&recorded, "leaf"), &expected);
    assert_eq!(recorded.counts.len(), 1);
    assert!(recorded.notes.iter().any(|note| note.contains("No.such")), "{:?}", recorded.notes);
    fs::remove_dir_all(home.parent().unwrap()).unwrap();
}

jdks!(methods_that_take_part, few, [17]);

/// Classes that were rewritten beforehand have the same values as those rewritten at load time.
fn beforehand(jdk: &'static Jdk) {
    let out = folder("values-beforehand").join("out");
    let mut command = cctrewrite(&["instrument", "--tool", "pcc", "-q"]);
    for chosen in CHOSEN {
        command.args(["--pcc-at", chosen]);
    }
    command.arg(fixture("pcc/classes")).arg("--library").arg(valuing(jdk).home()).arg("-o").arg(&out);
    assert_succeeded(&mut command);
    let mut before = Java::new(valuing(jdk), "values-before");
    let run = before.verify().class_path([&out, &crate::selective::api()]).succeed("Values", &[]);
    let at_load_time = java(jdk, "at-load-time", "pcc").succeed("Values", &[]);
    assert_eq!(run.out, at_load_time.out);
    let own = |run: &Run| {
        let counts = recorded(run).counts.into_iter();
        counts.filter(|(place, _)| !place.class.contains('/')).collect::<BTreeMap<_, _>>()
    };
    assert_eq!(own(&run), own(&at_load_time));
    // A different choice of methods does not fit.
    let other = folder("values-other").join("out");
    let mut command = cctrewrite(&["instrument", "--tool", "pcc", "-q", "--pcc-at", "Values.leaf"]);
    command.arg(fixture("pcc/classes")).arg("-o").arg(&other);
    assert_succeeded(&mut command);
    let mut java = Java::new(valuing(jdk), "values-misfit");
    let run = java.class_path([&other, &crate::selective::api()]).run("Values", &[]);
    run.assert_code(70);
    assert!(run.err.contains("pcc-at"), "{}", run.err);
}

jdks!(rewritten_beforehand, beforehand, [8, 17]);

/// `cctrewrite run --tool pcc` writes values to the requested path, and rejects options of
/// profiles, and JDKs that were built differently.
fn runs(jdk: &'static Jdk) {
    let folder = folder("values-run");
    let file = folder.join("out.pcc");
    let run = |options: &[&str], home: &Path| {
        let mut command = cctrewrite(&["run", "-q", "-o"]);
        command.arg(&file).args(options).arg("--jdk").arg(home).args(["--", "java", "-cp"]);
        command.arg(fixture("pcc").join("classes")).args(["Many", "3"]).current_dir(&folder).output().unwrap()
    };
    let home = valuing(jdk).home();
    for options in [
        &["--tool", "pcc", "--max-contexts", "5"][..],
        &["--tool", "pcc", "--call-sites"],
        &["--tool", "pcc", "--metrics", "calls"],
        &["--tool", "pcc", "--pcc-at", "Many.leaf"],
        &["--pcc-at", "Many.leaf"],
        &["--pcc-memory", "1"],
        &[],
    ] {
        let output = run(options, home);
        assert_eq!(output.status.code(), Some(125), "{options:?}: {output:?}");
        let named = options.iter().rev().find(|option| option.starts_with("--")).unwrap_or(&"--tool pcc");
        assert!(String::from_utf8_lossy(&output.stderr).contains(named), "{options:?}: {output:?}");
        assert!(!file.exists());
    }
    let output = run(&["--tool", "pcc", "--pcc-memory", "1"], home);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "8\n", "{output:?}");
    let recorded = RecordedValues::of_bytes(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(recorded.counts[&place("Many", "leaf", "()V")].len(), 8);
    for option in ["-Dcctrewrite.max-contexts=5", "-Dcctrewrite.identity=loader"] {
        let run = java(jdk, "refused", "pcc").option(option).run("Many", &["3"]);
        run.assert_code(70);
        assert!(run.err.contains("--tool pcc"), "{}", run.err);
    }
}

jdks!(through_run, runs, [17]);

/// The checker finds nothing in a whole JDK.
fn is_right(jdk: &'static Jdk) {
    let mut command = cctrewrite(&["verify", "-q"]);
    assert_succeeded(command.arg(jdk.home()).arg(valuing(jdk).home()));
}

jdks!(checked, is_right, [8], all[17]);

/// Every class of the class library loads, links and verifies.
fn links(jdk: &'static Jdk) {
    let jars = match jdk.version {
        8 => [jdk.boot_jars(), jdk.extension_jars(), vec![jdk.tools_jar()]].concat(),
        _ => Vec::new(),
    };
    let home = jdk.home();
    let link = |jdk: &Jdk, name: &str| {
        let mut java = Java::new(jdk, name);
        java.verify();
        let (main, classes) = match jdk.version {
            8 => ("LinkAll", "link/classes"),
            _ => ("LinkModules", "link/modules/classes"),
        };
        if jdk.version > 8 {
            java.option("--add-modules").option("ALL-SYSTEM");
        }
        let jars: Vec<String> = jars
            .iter()
            .map(|jar| jdk.home().join(jar.strip_prefix(home).unwrap()).display().to_string())
            .collect();
        java.class_path([fixture(classes)]);
        if jdk.version == 8 {
            java.class_path([jdk.tools_jar()]);
        }
        java.succeed(main, &jars.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let expected = link(jdk, "values-link-plain");
    let found = link(valuing(jdk), "values-link");
    let what = format!("JDK {}: {}", jdk.version, found.err);
    let [before, now] = [&expected, &found].map(|run| run.out.lines().collect::<Vec<_>>());
    assert!(expected.out.ends_with(" bad 0\n"), "{}", expected.out);
    assert_same_lines(&before, &now, &what);
}

jdks!(all_classes_link, links, feature);
