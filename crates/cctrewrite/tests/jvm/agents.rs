//! Profiling agents (JP, section 5).

use crate::support::golden::{flat, of_classes};
use crate::support::{Blocks, Java, Jdk, Run, assert_same_lines, jdks, profiled};

fn java(jdk: &'static Jdk, agent: &str) -> Java {
    let mut java = profiled(jdk, Blocks::Reporting, agent);
    java.option(format!("-Dcctrewrite.agent={agent}")).option("-Dcctrewrite.threads=each");
    java
}

/// The numbers after the words of the line that begins with `word`.
fn numbers(run: &Run, word: &str) -> Vec<i64> {
    let line = run.out.lines().find(|line| line.split(' ').next() == Some(word));
    let line = line.unwrap_or_else(|| panic!("no line {word}: {}{}", run.out, run.err));
    line.split(' ').filter_map(|w| w.parse().ok()).collect()
}

fn reports_come_in_time_and_tell_the_current_context(jdk: &'static Jdk) {
    let run = java(jdk, "GranularityAgent").succeed("AgentWork", &[]);
    // The agent itself prints failures.
    assert!(run.out.starts_with("done "), "{}", run.out);
    assert_eq!(run.err, "");
    let [main, fine, coarse] = ["main", "fine", "coarse"].map(|thread| numbers(&run, thread));
    eprintln!("{}", run.out);
    // Reports, and how many of them were made within the program's own methods.
    assert!(fine[0] > 500 && coarse[0] > 10 && fine[0] > 10 * coarse[0] && main[0] > 100, "{}", run.out);
    assert!(fine[1] > 500 && coarse[1] > 10, "{}", run.out);
}

/// The counter is an upper bound of the executed bytecodes, but a tight one: the number of reports
/// is about the requested one.
fn reports_are_not_far_too_many(jdk: &'static Jdk) {
    let run = java(jdk, "GranularityAgent").succeed("AgentWork", &[]);
    let executed: u64 =
        flat(&run).iter().filter(|(m, _)| m.starts_with("AgentWork.")).map(|(_, (_, b))| b).sum();
    // The main thread does the work four times, the others once each.
    let once = i64::try_from(executed / 6).unwrap();
    let fine = numbers(&run, "fine")[0];
    assert!(fine < 4 * once / 500, "{fine} reports for {once} bytecodes: {}", run.out);
}

fn the_merged_tree_has_the_sums_of_all_threads(jdk: &'static Jdk) {
    let run = java(jdk, "GranularityAgent").succeed("AgentWork", &[]);
    let (apart, merged) = (numbers(&run, "apart"), numbers(&run, "merged"));
    assert!(apart[0] > 1_000_000, "{apart:?}");
    assert_eq!(apart, merged);
}

fn an_agent_leaves_no_trace_in_the_profile(jdk: &'static Jdk) {
    let with = java(jdk, "GranularityAgent").succeed("AgentWork", &[]);
    let without = java(jdk, "cctrewrite.agent.AggregatingAgent").succeed("AgentWork", &[]);
    // Threads that start after the agent: everything. The main thread: the program's own, since the
    // agent may have loaded and initialised classes through the program's class loader.
    let own = |run: &Run| {
        let lines = run.contexts(true);
        let is_thread = |line: &&String| {
            ["[fine]", "[coarse]"].iter().any(|t| line.contains(t)) && !line.contains("Thread.exit(")
        };
        let mut own: Vec<String> = lines.iter().filter(is_thread).cloned().collect();
        own.extend(of_classes(&lines, &["AgentWork"]));
        own
    };
    assert_same_lines(&own(&without), &own(&with), "with an agent");
    assert!(
        !with
            .contexts(true)
            .iter()
            .any(|line| line.contains("GranularityAgent") || line.contains("cctrewrite."))
    );
}

fn counters_that_were_reset_count_on(jdk: &'static Jdk) {
    let run = java(jdk, "ResettingAgent").succeed("AgentWork", &[]);
    assert!(!run.out.contains("not empty"), "{}", run.out);
    let reports = numbers(&run, "reports");
    assert!(reports[0] > 100 && reports[1] < 10_000, "{}", run.out);
    let plain = java(jdk, "cctrewrite.agent.AggregatingAgent").succeed("AgentWork", &[]);
    let profile = plain.profile();
    let fine = profile.threads.iter().find(|t| &*t.name == "fine").unwrap();
    let nodes =
        fine.tree.nodes()[1..].iter().filter(|n| &*profile.methods[n.method as usize].class == "AgentWork");
    let sums = nodes.fold([0, 0], |sum: [u64; 2], n| [sum[0] + n.calls, sum[1] + n.bytecodes]);
    assert_eq!(numbers(&run, "fine"), sums.map(|n| i64::try_from(n).unwrap()), "{}", run.out);
}

fn an_agent_that_throws_is_reported_once_and_the_program_goes_on(jdk: &'static Jdk) {
    let run = java(jdk, "ThrowingAgent").succeed("AgentWork", &[]);
    assert!(run.out.starts_with("done ") && !run.out.contains("never"), "{}", run.out);
    assert_eq!(run.err.matches("ThrowingAgent failed and was switched off").count(), 1, "{}", run.err);
    // As without an agent.
    assert_eq!(flat(&run)["AgentWork.run()V"].0, 6);
}

/// The exception used to count as the agent's failure, and the thread went on.
fn a_thread_that_is_stopped_in_an_agent_ends(jdk: &'static Jdk) {
    let run = java(jdk, "SlowAgent").succeed("StopInAgent", &[]);
    let death = "java.lang.ThreadDeath";
    let expected = format!(
        "registered: {death}\nregistered has ended\nreporting: {death}\nreporting has ended\nasked at the end\n"
    );
    assert_eq!((&*run.out, &*run.err), (&*expected, ""));
}

/// Also in a loop without calls, the node is exact whenever the agent reads it. A round has eleven
/// bytecodes and subtracts as many from the counter, so that 1100 are 100 of the 100,000 rounds.
fn numbers_that_an_agent_reads_in_a_loop_are_exact(jdk: &'static Jdk) {
    let run = java(jdk, "ReadingAgent").succeed("Spin", &[]);
    let [differences, least, most] = numbers(&run, "spin")[..] else { panic!("{}", run.out) };
    assert!((998..1000).contains(&differences) && (least, most) == (1100, 1100), "{}", run.out);
}

/// It is created, and its `end` is called, but nothing would make it report.
fn an_agent_without_activation_counters_is_warned(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Exact, "without-counters");
    let run = java.option("-Dcctrewrite.agent=GranularityAgent").succeed("AgentWork", &[]);
    let said = "the profiling agent GranularityAgent is not asked to report while the program runs";
    assert_eq!(run.err.matches(said).count(), 1, "{}", run.err);
    let notes = run.profile().notes;
    assert!(
        notes.iter().any(|note| note.starts_with(said) && note.contains("--activation-counters")),
        "{notes:?}"
    );
    // The default agent has nothing to report.
    let run = profiled(jdk, Blocks::Exact, "default-agent").succeed("AgentWork", &[]);
    assert!(!run.err.contains("activation"), "{}", run.err);
}

fn an_agent_that_cannot_be_loaded_stops_the_jvm(jdk: &'static Jdk) {
    for agent in ["No.Such", "Hello"] {
        let run = java(jdk, agent).run("AgentWork", &[]);
        run.assert_code(70);
        assert!(run.err.contains(agent) && run.err.contains("-Dcctrewrite.agent"), "{}", run.err);
    }
}

jdks!(
    reports_come_in_time_and_tell_the_current_context,
    reports_come_in_time_and_tell_the_current_context,
    [8, 17, 25]
);
jdks!(reports_are_not_far_too_many, reports_are_not_far_too_many, [8, 17, 25]);
jdks!(the_merged_tree_has_the_sums_of_all_threads, the_merged_tree_has_the_sums_of_all_threads, [8, 17, 25]);
jdks!(an_agent_leaves_no_trace_in_the_profile, an_agent_leaves_no_trace_in_the_profile, [8, 17, 25]);
jdks!(counters_that_were_reset_count_on, counters_that_were_reset_count_on, [8, 17, 25]);
// Since JDK 20 Thread.stop only throws an exception.
jdks!(a_thread_that_is_stopped_in_an_agent_ends, a_thread_that_is_stopped_in_an_agent_ends, [8, 17]);
jdks!(
    numbers_that_an_agent_reads_in_a_loop_are_exact,
    numbers_that_an_agent_reads_in_a_loop_are_exact,
    [8, 17, 25]
);
jdks!(
    an_agent_without_activation_counters_is_warned,
    an_agent_without_activation_counters_is_warned,
    [8, 25]
);
jdks!(
    an_agent_that_throws_is_reported_once_and_the_program_goes_on,
    an_agent_that_throws_is_reported_once_and_the_program_goes_on,
    [8, 17, 25]
);
jdks!(
    an_agent_that_cannot_be_loaded_stops_the_jvm,
    an_agent_that_cannot_be_loaded_stops_the_jvm,
    [8, 17, 25]
);
