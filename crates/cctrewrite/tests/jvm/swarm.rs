//! Short-lived threads and class loaders: no count is lost, and ended ones take no more room than
//! their merged tree.

use crate::support::golden::flat;
use crate::support::{Blocks, Jdk, Library, Run, jdks, plain_programs, profiled};

/// Running time of a swarm in seconds; manually longer: `SWARM_SECONDS=60`.
fn seconds() -> u64 {
    std::env::var("SWARM_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(10)
}

/// `Swarm.LANES`: number of concurrent threads.
const LANES: usize = 64;

fn run(jdk: &'static Jdk, threads: &str, seconds: u64) -> (Run, u64) {
    let mut java = profiled(jdk, Blocks::Exact, threads);
    java.option(format!("-Dcctrewrite.threads={threads}"));
    // One class file as compiled, rewritten when it is defined; and, on JDK 8, one that was
    // rewritten before.
    let rewritten = (jdk.version == 8).then(|| &*Library::whole(jdk, Blocks::Exact).programs);
    let guests = [plain_programs(), rewritten.unwrap_or(plain_programs())]
        .map(|folder| folder.join("Swarm$Guest.class").display().to_string());
    let run = java.succeed("Swarm", &[&(seconds * 1000).to_string(), &guests[0], &guests[1]]);
    eprintln!("{threads}: {}", run.out);
    let number = |word: &str| -> u64 {
        let mut words = run.out.split_whitespace();
        words.find(|w| *w == word);
        words.next().unwrap().parse().unwrap()
    };
    let (threads, classes) = (number("threads"), number("classes"));
    assert!(threads > 1000 && classes > 100 && number("troubles") == 0, "{}{}", run.out, run.err);
    assert_eq!(number("works"), 3 * threads);

    // The bytecodes that each thread must have executed.
    let methods = flat(&run);
    for (method, calls, bytecodes) in [
        ("Swarm.work(I)I", 3 * threads, 9 + 10 * 10),
        ("Swarm.one(I)I", 30 * threads, 2),
        ("Swarm$Guest.run()V", classes, 2 + 5 * 7 + 4),
        ("Swarm$Guest.step()V", 5 * classes, 7),
    ] {
        assert_eq!(methods[method], (calls, calls * bytecodes), "{method}");
    }
    assert_eq!(methods["Swarm$Worker.run()V"].0, threads);
    assert_eq!(methods["Swarm.fork(II)V"].0, 7 * threads);
    assert_eq!(methods["Swarm.left(II)V"].0 + methods["Swarm.right(II)V"].0, 7 * threads);
    (run, threads)
}

fn trees_that_are_leased_lose_nothing_and_stay_few(jdk: &'static Jdk) {
    let (run, threads) = run(jdk, "lease", seconds());
    let profile = run.profile();
    let workers: Vec<_> = profile.threads.iter().filter(|t| t.name.starts_with("worker-")).collect();
    // A thread may miss a free tree among many; not for long.
    assert!(workers.len() <= 2 * LANES, "{} trees for {threads} threads", workers.len());
    assert_eq!(workers.iter().map(|t| t.threads).sum::<u64>(), threads);
    // Sixty-four ways through fork(), and the contexts of defining a class.
    let largest = workers.iter().map(|t| t.tree.contexts()).max().unwrap();
    assert!(largest < 6000, "{largest} contexts");
}

fn a_tree_for_each_thread_loses_nothing(jdk: &'static Jdk) {
    let (run, threads) = run(jdk, "each", seconds().div_ceil(2));
    let profile = run.profile();
    let workers = profile.threads.iter().filter(|t| t.name.starts_with("worker-"));
    assert_eq!(workers.map(|t| t.threads).collect::<Vec<_>>(), vec![1; threads as usize]);
}

/// `Thread.stop` hits any instruction: while a tree is created, while it grows, in wrappers.
#[test]
fn threads_that_are_stopped_leave_nothing_half_done() {
    let Some(jdk) = Jdk::find() else { return };
    for threads in ["lease", "each"] {
        let mut java = Library::whole(jdk, Blocks::Exact).java("stopped");
        let run = java.option(format!("-Dcctrewrite.threads={threads}")).succeed("Stopped", &[]);
        assert_eq!(run.out, "hanging 0\n");
        let profile = run.profile();
        // Later work of other threads, and no thread's nodes in another's tree.
        let (mut work, mut one) = ((0, 0), (0, 0));
        for thread in &profile.threads {
            for node in &thread.tree.nodes()[1..] {
                let method = &profile.methods[node.method as usize];
                let grows = ["left", "right", "fork"].contains(&&*method.name) && &*method.class == "Stopped";
                assert!(!grows || thread.name.starts_with("grower"), "{} in {}", method.name, thread.name);
                let sum = match (&*method.class, &*method.name) {
                    ("Stopped", "work") => &mut work,
                    ("Stopped", "one") => &mut one,
                    _ => continue,
                };
                *sum = (sum.0 + node.calls, sum.1 + node.bytecodes);
            }
        }
        assert_eq!((work, one), ((20, 20 * (9 + 10 * 7)), (140, 280)), "{threads}");
    }
}

jdks!(
    trees_that_are_leased_lose_nothing_and_stay_few,
    trees_that_are_leased_lose_nothing_and_stay_few,
    [8, 17, 25]
);
jdks!(a_tree_for_each_thread_loses_nothing, a_tree_for_each_thread_loses_nothing, feature);
