//! `--intrinsics`: methods whose Java body HotSpot may replace.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::OnceLock;

use crate::support::{Blocks, Image, Jdk, Library, Run, fixture, folder, instrument, jdks};

/// Rounds of the program's loop.
const ROUNDS: u64 = 20_000;

/// The callees of each method of the program, one call in each round. (Lists of contexts have
/// commas in descriptors.)
const CALLED: [(&str, &str); 12] = [
    ("math", "java.lang.Math.sin(D)D"),
    ("math", "java.lang.Math.max(II)I"),
    ("math", "java.lang.Math.abs(D)D"),
    ("math", "java.lang.Math.addExact(II)I"),
    ("strings", "java.lang.String.equals(Ljava/lang/Object,)Z"),
    ("strings", "java.lang.String.indexOf(Ljava/lang/String,)I"),
    ("strings", "java.lang.String.compareTo(Ljava/lang/String,)I"),
    ("bits", "java.lang.Integer.bitCount(I)I"),
    ("bits", "java.lang.Long.numberOfTrailingZeros(J)I"),
    ("arrays", "java.util.Arrays.copyOf([Ljava/lang/Object,ILjava/lang/Class,)[Ljava/lang/Object,"),
    ("arrays", "java.util.Arrays.equals([C[C)Z"),
    ("overflow", "java.lang.Math.addExact(II)I"),
];

/// The class library and the program, `rt.jar` alone, with intrinsics left to HotSpot.
fn native(jdk: &'static Jdk) -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = folder("native-intrinsics");
        let (boot, programs) = (folder.join("rt.jar"), folder.join("programs"));
        let choice = ["--intrinsics", "native"];
        instrument(&[jdk.rt_jar()], &[], &boot, &choice);
        instrument(&[fixture("intrinsics/classes")], std::slice::from_ref(&boot), &programs, &choice);
        Library::of(jdk, vec![boot], programs)
    })
}

/// The contexts at and below the program's methods: path to calls and bytecodes.
fn contexts(run: &Run) -> BTreeMap<String, (u64, u64)> {
    let mut found = BTreeMap::new();
    for line in run.contexts(false) {
        let columns: Vec<&str> = line.splitn(3, ' ').collect();
        let Some(at) = columns[2].find("Intrinsics.main(") else { continue };
        found.insert(columns[2][at..].to_owned(), (columns[0].parse().unwrap(), columns[1].parse().unwrap()));
    }
    found
}

/// The contexts at or below a call of an intrinsic.
fn at_and_below<'c>(
    contexts: &'c BTreeMap<String, (u64, u64)>,
    caller: &str,
    callee: &str,
) -> Vec<(&'c str, (u64, u64))> {
    let (caller, callee) = (format!(";Intrinsics.{caller}("), format!(";{callee}"));
    let is_there = |path: &str| {
        path.find(&caller).is_some_and(|at| {
            path[at + 1..].find(';').is_some_and(|i| path[at + 1 + i..].starts_with(&callee))
        })
    };
    contexts.iter().filter(|(path, _)| is_there(path)).map(|(path, &counts)| (&**path, counts)).collect()
}

fn run(library: &Library, options: &[&str]) -> Run {
    let mut java = library.java("intrinsics");
    for option in options {
        java.option(*option);
    }
    java.succeed("Intrinsics", &[])
}

/// Ways of execution, all of which give the same numbers.
const EXECUTION: [&[&str]; 3] = [&[], &["-Xint"], &["-Xcomp"]];

#[test]
fn native_intrinsics_are_calls_without_bytecodes() {
    let Some(jdk) = Jdk::find() else { return };
    let plain =
        jdk.java("plain-intrinsics").class_path([fixture("intrinsics/classes")]).succeed("Intrinsics", &[]);
    let library = native(jdk);
    let runs = EXECUTION.map(|options| run(library, options));
    for (run, options) in runs.iter().zip(EXECUTION) {
        assert_eq!(run.out, plain.out, "{options:?}");
        let profile = run.profile();
        assert_eq!(profile.meta["intrinsics"], "native");
        assert!(!profile.notes.iter().any(|note| note.contains("_equals")), "{:?}", profile.notes);
        let contexts = contexts(run);
        for (caller, callee) in CALLED {
            let found = at_and_below(&contexts, caller, callee);
            assert_eq!(found[0].1, (ROUNDS, 0), "{options:?}: {caller} {callee}: {found:?}");
            // Only the exception that one of them throws is below them.
            let throws = |path: &str| path.contains(";java.lang.ArithmeticException.<init>(");
            assert!(found[1..].iter().all(|(path, _)| throws(path)), "{options:?}: {found:?}");
        }
        // AtomicInteger is an ordinary class, which calls one.
        let getters = contexts.iter().filter(|(path, _)| {
            path.contains(";Intrinsics.unsafe(") && path.contains(";sun.misc.Unsafe.getAndAddInt(")
        });
        assert_eq!(getters.map(|(_, counts)| *counts).collect::<Vec<_>>(), [(ROUNDS, 0)]);
    }
    let [first, interpreted, compiled] = runs.each_ref().map(contexts);
    assert!(first == interpreted, "interpreted: {:?}", difference(&first, &interpreted));
    assert!(first == compiled, "compiled: {:?}", difference(&first, &compiled));
}

#[test]
fn by_default_their_bodies_are_counted() {
    let Some(jdk) = Jdk::find() else { return };
    let whole = Library::whole(jdk, Blocks::Exact);
    let exact = ["-XX:+UnlockDiagnosticVMOptions", "-XX:DisableIntrinsic=_equals"];
    let runs = EXECUTION.map(|options| run(whole, &[&exact, options].concat()));
    for run in &runs {
        assert_eq!(run.profile().meta["intrinsics"], "bytecode");
        let contexts = contexts(run);
        for (caller, callee) in CALLED {
            let found = at_and_below(&contexts, caller, callee);
            let (_, (own_calls, bytecodes)) = found[0];
            assert_eq!(own_calls, ROUNDS, "{caller} {callee}: {found:?}");
            assert!(bytecodes >= own_calls, "{caller} {callee}: {found:?}");
        }
    }
    let [first, interpreted, compiled] = runs.each_ref().map(contexts);
    assert!(first == interpreted, "interpreted: {:?}", difference(&first, &interpreted));
    assert!(first == compiled, "compiled: {:?}", difference(&first, &compiled));
}

/// `Math.fma`, which JDK 8 does not have.
const FUSED: &str = "
public class Fused {
    static double fused(int i) {
        return Math.fma(i, 0.5, 1.0) + Math.fma(i, 0.25f, 1.0f);
    }

    public static void main(String[] args) {
        double sum = 0;
        for (int i = 0; i < 20000; i++) {
            sum += fused(i);
        }
        System.out.println(sum);
    }
}";

/// A program that lives on `Math.fma` took 24 times as long, since its Java body, which no HotSpot
/// with the instruction ever executes, computes with `BigDecimal`.
fn natives_are_calls_without_bytecodes(jdk: &'static Jdk) {
    let folder = folder("fused");
    let source = folder.join("Fused.java");
    std::fs::write(&source, FUSED).unwrap();
    let compiled = Command::new(jdk.path("bin/javac")).arg("-d").arg(&folder).arg(&source).status().unwrap();
    assert!(compiled.success(), "JDK {}", jdk.version);
    let plain = jdk.java("plain-fused").class_path([&folder]).succeed("Fused", &[]);
    let image = Image::of(jdk, Blocks::Exact);
    for options in [&[][..], &["-Xint"]] {
        let mut java = image.java("fused");
        options.iter().for_each(|option| {
            java.option(*option);
        });
        let run = java.class_path([&folder]).succeed("Fused", &[]);
        assert_eq!(run.out, plain.out, "JDK {} {options:?}", jdk.version);
        let below: Vec<String> =
            run.contexts(false).into_iter().filter(|line| line.contains(";java.lang.Math.fma(")).collect();
        let expected = ["(DDD)D", "(FFF)F"].map(|descriptor| {
            format!("Fused.main([Ljava/lang/String,)V;Fused.fused(I)D;java.lang.Math.fma{descriptor}")
        });
        assert_eq!(below.len(), 2, "JDK {} {options:?}: {below:?}", jdk.version);
        for end in expected {
            let is_it = |line: &&String| line.starts_with("20000 0 ") && line.ends_with(&end);
            assert_eq!(below.iter().filter(is_it).count(), 1, "JDK {} {options:?}: {below:?}", jdk.version);
        }
    }
}

jdks!(fused, natives_are_calls_without_bytecodes, 11..);

/// The differences.
fn difference(a: &BTreeMap<String, (u64, u64)>, b: &BTreeMap<String, (u64, u64)>) -> Vec<String> {
    let paths = a.keys().chain(b.keys().filter(|path| !a.contains_key(*path)));
    let different = paths.filter(|path| a.get(*path) != b.get(*path)).take(20);
    different.map(|path| format!("{path}: {:?}, {:?}", a.get(path), b.get(path))).collect()
}

#[test]
fn the_table_has_methods_that_the_class_library_has() {
    let Some(jdk) = Jdk::find() else { return };
    let table: BTreeMap<String, Vec<String>> =
        cct_jdk::intrinsics::of_jdk_8().fold(BTreeMap::new(), |mut table, method| {
            let class = String::from_utf8(method.class.to_vec()).unwrap();
            table.entry(class).or_default().push(method.name_and_type().to_string());
            table
        });
    for (class, methods) in table {
        let jar = if class.starts_with("com/sun/crypto/") {
            jdk.path("jre/lib/ext/sunjce_provider.jar")
        } else {
            jdk.rt_jar()
        };
        let input = cct_archive::Input::open(&jar, &cct_archive::Limits::default()).unwrap();
        let entry = input.entries().iter().position(|e| *e.name == *format!("{class}.class")).unwrap();
        let bytes = input.read(entry).unwrap().unwrap();
        let summary = cct_rewrite::ClassSummary::parse(&bytes).unwrap();
        let found = summary.methods.iter().filter(|m| m.has(cct_rewrite::survey::trait_bits::INTRINSIC));
        let mut found: Vec<String> = found.map(|m| summary.name_and_type(m).to_string()).collect();
        found.sort();
        let mut methods = methods;
        methods.sort();
        assert_eq!(found, methods, "{class}");
    }
}
