//! Distinguished call sites (JP2): the trees of the fixtures, split by the bytecode index of the
//! call, and merged again.

use std::fs;

use cct_profile::Site;
use cct_profile::contexts::{ContextsOptions, write_contexts};

use crate::support::golden::GoldenTree;
use crate::support::{Blocks, Jdk, Library, Run, fixture, jdks, profiled};
use crate::{counts, modern_counts};

/// Fixtures with an expected tree whose call sites are merged.
const MERGED: [&str; 9] =
    ["calls", "recursion", "exceptions", "control", "natives", "types", "lambdas", "initialisers", "causes"];

fn run(jdk: &'static Jdk) -> Run {
    run_by(jdk, Blocks::Sites)
}

fn run_by(jdk: &'static Jdk, blocks: Blocks) -> Run {
    let mut java = profiled(jdk, blocks, "sites");
    java.class_path([fixture("sites/classes")]).succeed("Sites", &[])
}

fn golden() -> GoldenTree {
    GoldenTree::read(&fixture("sites/expected.txt")).without_generated()
}

/// The number of the line of `Sites.java` with this text.
fn line(text: &str) -> u32 {
    let source = fs::read_to_string(fixture("sites/Sites.java")).unwrap();
    let found: Vec<usize> =
        source.lines().enumerate().filter(|(_, line)| line.trim() == text).map(|(i, _)| i + 1).collect();
    assert_eq!(found.len(), 1, "{text}");
    found[0] as u32
}

/// With the example of the paper, more sites than slots, calls by the JVM itself, and natives and
/// constructors that their callers count.
fn each_call_site_has_a_context_of_its_own(jdk: &'static Jdk) {
    check(&run(jdk));
}

/// Distinguished call sites where the thread carries contexts.
pub fn by_the_thread(jdk: &'static Jdk) {
    check(&run_by(jdk, Blocks::ThreadSites));
}

fn check(run: &Run) {
    golden().assert_equal(run, "sites");
    let profile = run.profile();
    assert_eq!(profile.meta["call-sites"], "yes");
    let counted = [
        "java.lang.Object.<init>()V@20",
        "java.lang.Object.<init>()V@28",
        "java.lang.Object.hashCode()I@33",
        "java.lang.Object.hashCode()I@37",
        "java.lang.Object.hashCode()I@66",
        "java.lang.Object.hashCode()I@76",
        "java.lang.String.hashCode()I@2",
        "java.lang.String.hashCode()I@10",
        "java.lang.System.nanoTime()J@51",
        "java.lang.System.nanoTime()J@55",
    ];
    let lines = run.contexts(false);
    for callee in counted {
        let path = format!("Sites.main([Ljava/lang/String,)V;Sites.kinds()V@12;{callee}");
        assert!(lines.iter().any(|l| l.starts_with("1 ") && l.ends_with(&path)), "{path}");
    }
}

jdks!(apart, each_call_site_has_a_context_of_its_own, 8..=25);

fn lines_are_those_of_the_calls(jdk: &'static Jdk) {
    let profile = run(jdk).profile();
    let site_of = |name: &str| {
        let of: Vec<Option<Site>> = profile
            .methods
            .iter()
            .filter(|m| (&*m.class, &*m.name) == ("Sites", name))
            .map(|m| m.site)
            .collect();
        assert_eq!(of.len(), 1, "{name}: {of:?}");
        of[0]
    };
    assert_eq!(site_of("h"), Some(Site { bci: 9, line: line("h();") }));
    assert_eq!(site_of("g"), Some(Site { bci: 14, line: line("g(i);") }));
    assert_eq!(site_of("reflect"), Some(Site { bci: 50, line: line("reflect();") }));
    // Called by the JVM.
    assert_eq!(site_of("main"), None);
}

jdks!(lines, lines_are_those_of_the_calls, feature);

/// For a class that was rewritten beforehand, of which the load-time library sees only the
/// attribute.
#[test]
fn lines_of_classes_that_were_rewritten_beforehand() {
    let Some(jdk) = Jdk::find() else { return };
    let run = Library::whole(jdk, Blocks::Sites).java("sites-before").succeed("Causes", &[]);
    let profile = run.profile();
    let sites: Vec<Site> = profile.methods.iter().filter_map(|m| m.site).collect();
    assert!(sites.iter().filter(|site| site.line > 0).count() * 10 > sites.len() * 9, "{}", sites.len());
    // The fixture has no lines; the position of the initialiser shows that its code was found
    // nevertheless.
    let initialiser = |m: &&cct_profile::Method| &*m.class == "Causes$Init" && &*m.name == "<clinit>";
    let sites: Vec<Option<Site>> = profile.methods.iter().filter(initialiser).map(|m| m.site).collect();
    assert!(matches!(sites[..], [Some(Site { bci: 1.., line: 0 })]), "{sites:?}");
}

/// With the sites merged, a run gives the tree of a run without call sites.
fn added_up_they_are_the_merged_tree(jdk: &'static Jdk) {
    for name in MERGED {
        let golden = match jdk.version {
            8 => counts::golden(name, Blocks::Sites),
            version => modern_counts::golden(name, Blocks::Sites, version),
        };
        let mut java = profiled(jdk, Blocks::Sites, name);
        let main = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        java.class_path([fixture(name).join("classes")]);
        let merged = java.succeed(&main, &[]).profile().without_call_sites().unwrap();
        let mut text = Vec::new();
        write_contexts(&merged, ContextsOptions::default(), &mut text).unwrap();
        golden.assert_lines(&String::from_utf8(text).unwrap());
    }
}

jdks!(added_up, added_up_they_are_the_merged_tree, feature);

/// The runtime's own writer has no lines, and says so; calls by the JVM itself are below the
/// context stored last.
#[test]
fn without_the_load_time_library() {
    let Some(jdk) = Jdk::find() else { return };
    let run = Library::whole(jdk, Blocks::Sites).java_without_load_time("sites-alone").succeed("Calls", &[]);
    let profile = run.profile();
    let sites: Vec<Site> = profile.methods.iter().filter_map(|m| m.site).collect();
    assert!(sites.len() > 1000 && sites.iter().all(|site| site.line == 0), "{}", sites.len());
    assert!(
        profile.meta["limits"].contains("source lines of call sites are not known"),
        "{:?}",
        profile.meta
    );
    let merged = profile.without_call_sites().unwrap();
    let mut text = Vec::new();
    write_contexts(&merged, ContextsOptions::default(), &mut text).unwrap();
    GoldenTree::read(&fixture("calls/expected.txt")).assert_lines(&String::from_utf8(text).unwrap());
}
