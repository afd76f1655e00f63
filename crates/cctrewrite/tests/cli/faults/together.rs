//! Two runs that write to one place at the same time. In the end one of the two outputs is there,
//! complete, and nobody ever sees anything else.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{WORKS, contents, ended, names, number, stored};

#[test]
fn two_runs_to_one_output() {
    let rounds = number("ROUNDS", 15);
    for work in &WORKS {
        let folder = stored();
        let home = folder.path();
        let [old, new] = work.outputs(home);
        let before = names(home);
        let mut of_the_first = 0;
        for round in 0..rounds {
            // Every third time the place is empty.
            if round % 3 == 0 {
                let place = home.join(work.output);
                let _ = std::fs::remove_dir_all(&place).or_else(|_| std::fs::remove_file(&place));
            }
            let start = |arguments: &[&str]| {
                let mut command = super::command();
                command
                    .current_dir(home)
                    .args(arguments)
                    .stdout(Stdio::null())
                    .stderr(Stdio::piped())
                    .spawn()
                    .unwrap()
            };
            let started = [start(work.arguments), start(work.earlier)];
            for child in started {
                let run = ended(child.wait_with_output().unwrap());
                assert_eq!(run.code, Some(0), "{}: {}", work.output, run.stderr);
            }
            let found = contents(&home.join(work.output));
            assert!(found == old || found == new, "{}: neither", work.output);
            of_the_first += usize::from(found == new);
            assert_eq!(names(home), before, "{}", work.output);
        }
        eprintln!("{}: {of_the_first} of {rounds} were the first run's", work.output);
    }
}

/// A folder's name leads to one folder or to the other at every instant.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_is_replaced_in_one_step() {
    let work = &WORKS[1];
    let folder = stored();
    let home = folder.path();
    work.outputs(home);
    let (place, done) = (home.join(work.output), AtomicBool::new(false));
    let index = place.join("cctrewrite-output/index");
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let (mut looks, mut absent) = (0u64, 0u64);
            while !done.load(Ordering::Relaxed) {
                looks += 1;
                absent += u64::from(!index.exists());
            }
            (looks, absent)
        });
        for _ in 0..number("ROUNDS", 15) {
            for arguments in [work.arguments, work.earlier] {
                super::run(home, arguments).succeeds();
            }
        }
        done.store(true, Ordering::Relaxed);
        let (looks, absent) = watcher.join().unwrap();
        assert!(looks > 1000, "{looks}");
        assert_eq!(absent, 0, "of {looks} looks");
    });
}
