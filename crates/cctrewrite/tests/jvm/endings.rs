//! The profile is written however the JVM ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use cct_profile::Profile;

use crate::support::golden::flat;
use crate::support::{Blocks, Jdk, Run, RunningJvm, fixture, folder, jdks, profiled};

fn calls_of_work(run: &Run) -> u64 {
    flat(run)["Ending.work()V"].0
}

fn at_the_end_of_main_at_exit_and_at_halt(jdk: &'static Jdk) {
    for (how, code, calls) in
        [("return", 0, 10), ("exit", 3, 10), ("halt", 4, 10), ("throw", 1, 10), ("hook", 0, 11)]
    {
        let run = profiled(jdk, Blocks::Exact, how).run("Ending", &[how]);
        run.assert_code(code);
        assert_eq!(calls_of_work(&run), calls, "{how}");
        // For its owner alone, whatever the umask.
        let mode = fs::metadata(run.profile_path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{how}: {mode:o}");
    }
}

fn at_a_signal(jdk: &'static Jdk) {
    let mut jvm = profiled(jdk, Blocks::Exact, "signal").start("Ending", &["wait"]);
    jvm.wait_for("ready");
    assert!(Command::new("kill").arg(jvm.id().to_string()).status().unwrap().success());
    let run = jvm.wait();
    run.assert_code(128 + 15);
    assert_eq!(calls_of_work(&run), 10);
}

/// A separate thread writes the profile then.
fn where_the_stack_is_full(jdk: &'static Jdk) {
    for mode in ["-Xmixed", "-Xint", "-Xss256k"] {
        let mut java = profiled(jdk, Blocks::Exact, "full");
        let run = java.option(mode).run("FullStack", &[]);
        run.assert_code(5);
        // From JDK 21 on exit first looks up a logger, for which there may be no stack left; the
        // JDK itself prints that.
        let ours = run.err.lines().filter(|line| !line.starts_with("Runtime.exit(5) logging failed"));
        assert_eq!(ours.collect::<Vec<_>>(), [""; 0]);
        assert_eq!(flat(&run)["FullStack.work()V"].0, 10, "{mode}");
        let names: Vec<String> = run.profile().threads.iter().map(|t| t.name.to_string()).collect();
        assert!(!names.iter().any(|name| name.contains("cctrewrite")), "{names:?}");
    }
}

fn to_the_file_that_the_user_named(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Exact, "named");
    let jvm = java.option("-Dcctrewrite.out=my-%p.profile").start("Ending", &["return"]);
    let name = format!("my-{}.profile", jvm.id());
    let run = jvm.wait();
    run.assert_code(0);
    Profile::read(&fs::read(run.folder.join(name)).unwrap()).unwrap();
}

fn by_default_to_a_file_in_the_working_directory(jdk: &'static Jdk) {
    // Also without -Dcctrewrite.out, which all other cases have.
    let mut java = profiled(jdk, Blocks::Exact, "unnamed");
    java.forget("-Dcctrewrite.out=");
    let jvm = java.start("Ending", &["return"]);
    let name = format!("cctrewrite-{}.cct", jvm.id());
    let run = jvm.wait();
    run.assert_code(0);
    Profile::read(&fs::read(run.folder.join(name)).unwrap()).unwrap();
}

fn a_file_that_cannot_be_written_is_reported_and_the_exit_code_stays(jdk: &'static Jdk) {
    let mut java = profiled(jdk, Blocks::Exact, "unwritable");
    let run = java.option("-Dcctrewrite.out=no/such/folder/profile.cct").run("Ending", &["exit"]);
    run.assert_code(3);
    assert!(run.err.contains("cctrewrite: the profile could not be written"), "{}", run.err);
}

/// For a policy that lets the program end the JVM, and for one that denies everything: the runtime
/// writes with its own rights.
fn under_any_security_policy(jdk: &'static Jdk) {
    let ending = "permission java.lang.RuntimePermission \"exitVM.*\"; permission java.lang.RuntimePermission \"shutdownHooks\";";
    for (name, granted) in [("ending", ending), ("nothing", "")] {
        let policy = folder("policy").join(name);
        fs::write(&policy, format!("grant {{ {granted} }};")).unwrap();
        let manager =
            ["-Djava.security.manager".to_owned(), format!("-Djava.security.policy=={}", policy.display())];
        for how in ["return", "exit", "halt", "throw", "hook"] {
            let mut plain = jdk.java("policy-plain");
            manager.iter().for_each(|option| _ = plain.option(option));
            let plain = plain.class_path([fixture("ending/classes")]).run("Ending", &[how]);
            for library in [&[][..], &["-Dcctrewrite.loadtime=", "-Dcctrewrite.raw=allow"]] {
                let mut java = profiled(jdk, Blocks::Exact, "policy");
                manager.iter().for_each(|option| _ = java.option(option));
                library.iter().for_each(|&option| _ = java.option(option));
                let run = java.run("Ending", &[how]);
                let what = format!("JDK {}, {how}, the policy grants {name}, {library:?}", jdk.version);
                assert_eq!((run.code, &run.out, &run.err), (plain.code, &plain.out, &plain.err), "{what}");
                let profile = run.profile();
                assert_eq!(profile.damage, [], "{what}");
                assert!(profile.contexts() > 100, "{what}: {}", profile.contexts());
                if library.is_empty() {
                    // Without the library nothing rewrites the program on an image.
                    assert!(calls_of_work(&run) >= 10, "{what}");
                }
            }
        }
        let mut java = profiled(jdk, Blocks::Exact, "policy-full");
        manager.iter().for_each(|option| _ = java.option(option));
        let run = java.run("FullStack", &[]);
        assert_eq!(flat(&run)["FullStack.work()V"].0, 10, "JDK {}, {name}: {}", jdk.version, run.err);
    }
}

/// Each writes a file of its own and renames it; the last one stays.
fn many_jvms_may_write_to_one_file(jdk: &'static Jdk) {
    let place = folder("together");
    let file = place.join("one.cct");
    let started: Vec<RunningJvm> = (0..8)
        .map(|_| {
            let mut java = profiled(jdk, Blocks::Exact, "together");
            java.option(format!("-Dcctrewrite.out={}", file.display())).start("Ending", &["return"])
        })
        .collect();
    for jvm in started {
        let run = jvm.wait();
        run.assert_code(0);
        assert_eq!(run.err, "");
    }
    let profile = Profile::read(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(profile.damage, []);
    assert_eq!(fs::read_dir(&place).unwrap().count(), 1);
}

/// Another user who may write to the folder has replaced the runtime's temporary file by a link.
fn a_link_in_the_place_of_its_temporary_file_is_not_followed(jdk: &'static Jdk) {
    let mut jvm = profiled(jdk, Blocks::Exact, "link").start("Ending", &["wait"]);
    jvm.wait_for("ready");
    let victim = folder("victim").join("file");
    fs::write(&victim, "precious").unwrap();
    let profile = jvm.profile_path();
    let link = profile.with_extension(format!("cct.{}.tmp", jvm.id()));
    std::os::unix::fs::symlink(&victim, &link).unwrap();
    assert!(Command::new("kill").arg(jvm.id().to_string()).status().unwrap().success());
    let run = jvm.wait();
    assert_eq!(calls_of_work(&run), 10);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    assert!(link.is_symlink() && !profile.is_symlink());
}

/// The permissions in a `chmod` call, from strace's output: `chmod("/a/b", 040700) = 0`.
fn permissions(call: &str) -> Option<u32> {
    let (_, mode) = call.split_once(", ")?;
    let mode = mode.split([')', ',', ' ']).next()?;
    Some(u32::from_str_radix(mode, 8).ok()? & 0o777)
}

/// With any umask: it is created in a folder that is closed to others before, so nobody can open it
/// while it is empty.
fn no_other_user_can_open_it_at_any_moment(jdk: &'static Jdk) {
    let can_trace = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).status();
    if !can_trace.is_ok_and(|status| status.success()) {
        eprintln!("skipped: there is no strace, or it may not look");
        return;
    }
    for options in [&[][..], &["-Dcctrewrite.loadtime=", "-Dcctrewrite.raw=allow"]] {
        let mut java = profiled(jdk, Blocks::Exact, "private");
        options.iter().for_each(|&option| _ = java.option(option));
        let log = java.folder.join("calls");
        let script = "umask 0; exec strace -f -qq -o \"$0\" -e trace=mkdir,chmod,open,openat \"$@\"";
        java.through(&["sh", "-c", script, log.to_str().unwrap()]);
        let run = java.run("Ending", &["exit"]);
        run.assert_code(3);
        let profile = run.profile_path();
        assert_eq!(fs::metadata(&profile).unwrap().permissions().mode() & 0o777, 0o600);

        let name = profile.display().to_string();
        let (mut folder, mut made) = (0, 0);
        for call in fs::read_to_string(&log).unwrap().lines().filter(|call| call.contains(&name)) {
            if call.contains("O_CREAT") {
                assert!(call.contains(".tmp/"), "{call}");
                assert_eq!(folder, 0o700, "{call}");
                made += 1;
            } else if call.contains(".tmp\"") {
                folder = permissions(call).unwrap_or(folder);
            }
        }
        // Once to reserve the name, once for writing.
        assert_eq!(made, 2, "JDK {}, {options:?}", jdk.version);
    }
}

/// The load-time library writes the trees; without it the runtime does. In both cases names,
/// methods, threads and children are in the order that readers rely on. So reading and writing the
/// profile again gives the same bytes.
fn in_canonical_order(jdk: &'static Jdk) {
    for options in [&[][..], &["-Dcctrewrite.loadtime=", "-Dcctrewrite.raw=allow"]] {
        for (main, argument) in [("Threads", ""), ("Ending", "hook")] {
            let mut java = profiled(jdk, Blocks::Exact, "canonical");
            options.iter().for_each(|&option| _ = java.option(option));
            let run = java.run(main, &[argument]);
            let file = fs::read(run.profile_path()).unwrap();
            let profile = Profile::read(&file).unwrap();
            assert!(profile.contexts() > 100, "JDK {}: {}", jdk.version, profile.contexts());
            assert!(file == profile.to_bytes().unwrap(), "JDK {}: {main} {options:?}", jdk.version);
        }
    }
}

jdks!(in_canonical_order, in_canonical_order, [8, 17, 25]);
jdks!(at_the_end_of_main_at_exit_and_at_halt, at_the_end_of_main_at_exit_and_at_halt, [8, 17, 25]);
jdks!(at_a_signal, at_a_signal, [8, 17, 25]);
jdks!(where_the_stack_is_full, where_the_stack_is_full, [8, 17, 25]);
jdks!(to_the_file_that_the_user_named, to_the_file_that_the_user_named, [8, 17, 25]);
jdks!(
    by_default_to_a_file_in_the_working_directory,
    by_default_to_a_file_in_the_working_directory,
    [8, 17, 25]
);
jdks!(many_jvms_may_write_to_one_file, many_jvms_may_write_to_one_file, [8, 17]);
jdks!(
    a_link_in_the_place_of_its_temporary_file_is_not_followed,
    a_link_in_the_place_of_its_temporary_file_is_not_followed,
    [8, 17]
);
jdks!(no_other_user_can_open_it_at_any_moment, no_other_user_can_open_it_at_any_moment, [8, 17, 25]);
jdks!(
    a_file_that_cannot_be_written_is_reported_and_the_exit_code_stays,
    a_file_that_cannot_be_written_is_reported_and_the_exit_code_stays,
    [8, 17, 25]
);
// Later JDKs reject a security manager.
jdks!(under_any_security_policy, under_any_security_policy, [8, 21], all [11, 17]);
