//! Threads and class loaders that come and go: no count is lost, and what has ended takes no more
//! room than its merged tree.

use crate::support::golden::flat;
use crate::support::{Blocks, Jdk, Library, Run, jdks, plain_programs, profiled};

/// How long a swarm lives, in seconds; by hand longer: `SWARM_SECONDS=60`.
fn seconds() -> u64 {
    std::env::var("SWARM_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(10)
}

/// `Swarm.LANES`: threads that live at the same time.
const LANES: usize = 64;

fn run(jdk: &'static Jdk, threads: &str, seconds: u64) -> (Run, u64) {
    let mut java = profiled(jdk, Blocks::Exact, threads);
    java.option(format!("-Dcctrewrite.threads={threads}"));
    // One class file as the compiler made it, rewritten when it is defined; and, on JDK 8, one that
    // was rewritten before.
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

    // What each thread must have executed.
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
    // A thread may overlook a free tree among many; not for long.
    assert!(workers.len() <= 2 * LANES, "{} trees for {threads} threads", workers.len());
    assert_eq!(workers.iter().map(|t| t.threads).sum::<u64>(), threads);
    // Sixty-four ways through fork(), and what defining a class takes.
    let largest = workers.iter().map(|t| t.tree.contexts()).max().unwrap();
    assert!(largest < 6000, "{largest} contexts");
}

fn a_tree_for_each_thread_loses_nothing(jdk: &'static Jdk) {
    let (run, threads) = run(jdk, "each", seconds().div_ceil(2));
    let profile = run.profile();
    let workers = profile.threads.iter().filter(|t| t.name.starts_with("worker-"));
    assert_eq!(workers.map(|t| t.threads).collect::<Vec<_>>(), vec![1; threads as usize]);
}

/// `Thread.stop` strikes at any instruction: while a tree is made, while it grows, in wrappers.
#[test]
fn threads_that_are_stopped_leave_nothing_half_done() {
    let Some(jdk) = Jdk::find() else { return };
    for threads in ["lease", "each"] {
        let mut java = Library::whole(jdk, Blocks::Exact).java("stopped");
        let run = java.option(format!("-Dcctrewrite.threads={threads}")).succeed("Stopped", &[]);
        assert_eq!(run.out, "hanging 0\n");
        let profile = run.profile();
        // What others do afterwards, and no thread's nodes in another's tree.
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
jdks!(a_tree_for_each_thread_loses_nothing, a_tree_for_each_thread_loses_nothing, [8, 17, 25]);
