//! `top`, and snapshots one after the other, of a JVM that goes on meanwhile.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use cct_profile::{Metric, Profile};

use crate::support::{Blocks, Jdk, RunningJvm, fixture, jdks, profiled};

fn cctrewrite(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cctrewrite")).args(arguments).output().unwrap()
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

/// A program that works for so many seconds.
fn churn(jdk: &'static Jdk, name: &str, seconds: &str) -> RunningJvm {
    let mut java = profiled(jdk, Blocks::Exact, name);
    let mut jvm = java.class_path([fixture("recover/classes")]).start("Churn", &[seconds]);
    jvm.wait_for("1000");
    jvm
}

/// The numbers in a text, without the commas between groups of digits.
fn numbers(line: &str) -> Vec<f64> {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    line.replace(',', "").split(|c| !is_number(c)).filter_map(|word| word.parse().ok()).collect()
}

/// Rates are the growth of the totals by the time between two tables.
fn rates_are_growth_by_time(jdk: &'static Jdk) {
    let jvm = churn(jdk, "top", "60");
    let process = jvm.id().to_string();
    let output = cctrewrite(&["top", &process, "--batch", "3", "--every", "300ms", "--lines", "4"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let shown = text(&output.stdout);
    let tables: Vec<Vec<&str>> = shown.split("\n\nChurn ").map(|table| table.lines().collect()).collect();
    assert_eq!(tables.len(), 3, "{shown}");
    assert!(shown.starts_with(&format!("Churn (process {process}): ")), "{shown}");
    for pair in tables.windows(2) {
        // Total and calls since the start, in both tables.
        let (before, after) = (numbers(pair[0][1]), numbers(pair[1][1]));
        // The process id (cut off with the name or not), the rates, the seconds.
        let rates = numbers(pair[1][0].split_once("): ").unwrap().1);
        let [bytecodes, calls, seconds] = rates[..] else { panic!("{rates:?} in {shown}") };
        for (rate, growth) in [(bytecodes, after[0] - before[0]), (calls, after[1] - before[1])] {
            // The seconds have one decimal.
            assert!(rate > 0.0 && growth > 0.0, "{shown}");
            let (least, most) = (growth / (seconds + 0.06), growth / (seconds - 0.06));
            assert!(rate >= least && rate <= most, "{rate} is not {growth} by {seconds}: {shown}");
        }
        let method = pair[1].iter().find(|line| line.ends_with("Churn.unit(int, int)"));
        let of_unit = numbers(method.unwrap_or_else(|| panic!("{shown}")));
        assert!(of_unit[0] > 0.0 && of_unit[2] >= of_unit[0] && of_unit[3] > 0.0, "{shown}");
        assert!(pair[1].iter().any(|line| line.contains(" < Churn.unit(int, int) < ")), "{shown}");
    }
    // Whether the counts are exact stands in the head of each table.
    assert!(tables.iter().all(|table| table[2].starts_with("Exact: yes, except: ")), "{shown}");
    // By name: other tests may run the same program meanwhile.
    let by_name = cctrewrite(&["top", "Churn", "--once", "--every", "50ms", "--collapse-library"]);
    match by_name.status.code() {
        Some(0) => assert!(text(&by_name.stdout).starts_with(&format!("Churn (process {process}): "))),
        _ => {
            let said = text(&by_name.stderr);
            assert!(said.contains("several JVMs run 'Churn'") && said.contains(&process), "{said}");
        }
    }
    let none = cctrewrite(&["top", "NoSuchProgram", "--once"]);
    assert_eq!(none.status.code(), Some(1));
    let said = text(&none.stderr);
    assert!(
        said.contains("no profiled JVM runs 'NoSuchProgram'") && said.contains(&format!("{process} (Churn)")),
        "{said}"
    );
    // The JVM has not been disturbed, and the end of it is that of `top`.
    assert!(Command::new("kill").arg(&process).status().unwrap().success());
    let end = cctrewrite(&["top", &process, "--every", "100ms"]);
    let said = text(&end.stderr);
    assert!(said.contains(" has ended") || said.contains("no process"), "{said}");
    let profile = jvm.wait().profile();
    assert!(profile.methods.iter().any(|method| &*method.class == "Churn"));
}

/// The series ends with the JVM, and counts only grow.
fn snapshots_follow_each_other(jdk: &'static Jdk) {
    let jvm = churn(jdk, "series", "60");
    let process = jvm.id().to_string();
    let folder = jvm.profile_path().parent().unwrap().to_path_buf();
    let output = folder.join("now.cct").display().to_string();
    let three = cctrewrite(&["snapshot", &process, "-o", &output, "--every", "500ms", "--count", "3"]);
    assert_eq!((three.status.code(), text(&three.stderr)), (Some(0), String::new()));
    let total = |number: u32| -> u64 {
        let bytes = fs::read(folder.join(format!("now-{number}.cct"))).unwrap();
        let profile = Profile::read(&bytes).unwrap();
        let nodes = profile.threads.iter().flat_map(|thread| thread.tree.nodes());
        nodes.map(|node| Metric::Calls.of_node(node)).sum()
    };
    // A busy machine may let it wait.
    let totals = [1, 2, 3].map(total);
    assert!(totals.is_sorted() && totals[0] < totals[2], "{totals:?}");
    assert!(!folder.join("now-4.cct").exists());
    let refused = cctrewrite(&["snapshot", &process, "-o", "-", "--every", "1s"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("name one with --output"));
    let mut series = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    series.args(["snapshot", &process, "-o", &output, "--every", "100ms"]);
    let series = series.stderr(Stdio::piped()).spawn().unwrap();
    while !folder.join("now-4.cct").exists() {
        sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").arg(&process).status().unwrap().success());
    let until_the_end = series.wait_with_output().unwrap();
    let said = text(&until_the_end.stderr);
    assert_eq!((until_the_end.status.code(), said.contains(" has ended")), (Some(0), true), "{said}");
    jvm.wait();
}

/// Merged contexts are named in the head of the table.
fn the_head_names_what_is_missing(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Exact, "top-merged");
    java.option("-Dcctrewrite.max-contexts=10");
    let mut jvm = java.class_path([fixture("recover/classes")]).start("Churn", &["60"]);
    jvm.wait_for("1000");
    let output = cctrewrite(&["top", &jvm.id().to_string(), "--once", "--every", "50ms"]);
    let shown = text(&output.stdout);
    let head: Vec<&str> = shown.lines().take_while(|line| !line.is_empty()).collect();
    let is_said = head.iter().any(|line| line.starts_with("INCOMPLETE: ") && line.contains("bound of 10"));
    assert!(is_said, "{shown}");
    assert!(Command::new("kill").arg(jvm.id().to_string()).status().unwrap().success());
}

jdks!(merged, the_head_names_what_is_missing, [17]);
jdks!(rates_are_growth_by_time, rates_are_growth_by_time, [17, 25]);
jdks!(snapshots_follow_each_other, snapshots_follow_each_other, [17]);
