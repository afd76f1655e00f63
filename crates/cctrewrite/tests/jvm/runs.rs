//! `cctrewrite run`: commands on the profiled image of their JDK.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use cct_profile::{Metric, Profile, Summary};

use crate::support::{Jdk, fixture, folder, jdks, scratch};

/// A command after `--`, run in a folder on the image of a JDK. All tests share the cache.
fn run(jdk: &Jdk, here: &Path, options: &[&str], command: &[&str]) -> Output {
    prepared(jdk, here, options, command).output().unwrap()
}

fn prepared(jdk: &Jdk, here: &Path, options: &[&str], command: &[&str]) -> Command {
    let mut run = Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
        run.env_remove(variable);
    }
    run.current_dir(here)
        .env("JAVA_HOME", jdk.home())
        .env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"));
    run.arg("run").args(options).arg("--").args(command);
    run
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn profile(path: impl AsRef<Path>) -> Profile {
    Profile::read(&fs::read(path).unwrap()).unwrap()
}

pub(crate) fn calls_of(profile: &Profile, name: &str) -> u64 {
    let is = |method: u32| profile.methods.get(method as usize).is_some_and(|m| &*m.name == name);
    profile.threads.iter().flat_map(|t| t.tree.nodes()).filter(|n| is(n.method)).map(|n| n.calls).sum()
}

pub(crate) fn classes() -> String {
    fixture("ending/classes").to_str().unwrap().to_owned()
}

fn passes_everything_through(jdk: &'static Jdk) {
    let here = folder("run-one");
    // By its path, as a script may do that knows the path of its JDK.
    let java = jdk.path("bin/java");
    let command = [java.to_str().unwrap(), "-cp", &classes(), "Ending", "exit"];
    let plain = Command::new(&java).args(&command[1..]).output().unwrap();
    let output = run(jdk, &here, &[], &command);
    assert_eq!((output.status.code(), &output.stdout), (Some(3), &plain.stdout), "{}", said(&output));
    assert_eq!(calls_of(&profile(here.join("cctrewrite.cct")), "work"), 10);
    assert!(said(&output).contains("the whole tree: cctrewrite report cctrewrite.cct"), "{}", said(&output));

    let again = run(jdk, &here, &["-q", "-o", "again.cct"], &command);
    assert_eq!((again.status.code(), said(&again)), (Some(3), String::new()));
    assert!(here.join("again.cct").is_file() && !here.join("again.jvms").exists());
    // As perf(1) does, `run` keeps the profile of the run before.
    let before = fs::read(here.join("again.cct")).unwrap();
    let third = run(jdk, &here, &["-o", "again.cct"], &command);
    let diff = "the profile of the run before is again.cct.old: cctrewrite diff again.cct.old again.cct";
    assert!(said(&third).lines().any(|line| line == diff), "{}", said(&third));
    assert_eq!(fs::read(here.join("again.cct.old")).unwrap(), before);
    // Nothing of the collection is left.
    let hidden = fs::read_dir(&here)
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with('.'));
    assert_eq!(hidden.count(), 0);
}

fn collects_all(jdk: &'static Jdk) {
    let here = folder("run-several");
    let script = format!(
        "java -cp {0} Ending return && \"$JAVA_HOME/bin/java\" -cp {0} Ending hook; java -version; exit 7",
        classes()
    );
    // An earlier run left more.
    fs::create_dir(here.join("all.jvms")).unwrap();
    fs::write(here.join("all.jvms/9-Old.cct"), b"").unwrap();
    let output = run(jdk, &here, &["-o", "all.cct"], &["sh", "-c", &script]);
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
    let mut names: Vec<String> = fs::read_dir(here.join("all.jvms"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["1-Ending.cct", "2-Ending.cct", "3.cct"]);
    let each: Vec<Profile> = names.iter().map(|name| profile(here.join("all.jvms").join(name))).collect();
    let sum = profile(here.join("all.cct"));
    let works: Vec<u64> = each.iter().map(|p| calls_of(p, "work")).collect();
    assert_eq!((works, calls_of(&sum, "work")), (vec![10, 11, 0], 21));
    let total = |p: &Profile| Summary::of(p).all.total(Metric::Bytecodes);
    assert_eq!(each.iter().map(total).sum::<u128>(), total(&sum));
}

fn misses_what_was_killed(jdk: &'static Jdk) {
    let here = folder("run-killed");
    let script = format!(
        "java -cp {0} Ending return; mkfifo out; java -cp {0} Ending wait > out & read line < out; kill -9 $!; wait $!; exit 0",
        classes()
    );
    let output = run(jdk, &here, &["-q"], &["sh", "-c", &script]);
    assert_eq!(output.status.code(), Some(125), "{}", said(&output));
    let said = said(&output);
    let line = said
        .lines()
        .find(|line| line.starts_with("cctrewrite: the JVM of process"))
        .unwrap_or_else(|| panic!("{said}"));
    assert!(line.contains("was recovered from its memory") && line.ends_with("Ending wait"), "{line}");
    // The other's and its own.
    assert_eq!(calls_of(&profile(here.join("cctrewrite.cct")), "work"), 10 + 10);

    let nothing = run(jdk, &here, &["-q"], &["true"]);
    assert_eq!(nothing.status.code(), Some(125));
    assert_eq!(run(jdk, &here, &["-q"], &["no-such-command"]).status.code(), Some(127));
    assert_eq!(run(jdk, &here, &["-q"], &["./out"]).status.code(), Some(126));
}

/// Like a build server that stops a job.
fn hands_signals_on(jdk: &'static Jdk) {
    let here = folder("run-signal");
    let mut command = prepared(jdk, &here, &["-q"], &["java", "-cp", &classes(), "Ending", "wait"]);
    let mut running = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 5];
    std::io::Read::read_exact(running.stdout.as_mut().unwrap(), &mut ready).unwrap();
    assert!(Command::new("kill").arg(running.id().to_string()).status().unwrap().success());
    assert_eq!(running.wait().unwrap().code(), Some(128 + 15));
    assert_eq!(calls_of(&profile(here.join("cctrewrite.cct")), "work"), 10);
}

/// Like Ctrl-C: a terminal sends the signal to `run` and to the command.
fn delivers_after_an_interrupt(jdk: &'static Jdk) {
    use std::os::unix::process::CommandExt;
    let here = folder("run-interrupt");
    let mut command = prepared(jdk, &here, &["-q"], &["java", "-cp", &classes(), "Ending", "wait"]);
    let mut running = command.stdout(Stdio::piped()).process_group(0).spawn().unwrap();
    let mut ready = [0; 5];
    std::io::Read::read_exact(running.stdout.as_mut().unwrap(), &mut ready).unwrap();
    assert!(send("INT", &format!("-{}", running.id())));
    assert_eq!(running.wait().unwrap().code(), Some(128 + 2));
    assert_eq!(calls_of(&profile(here.join("cctrewrite.cct")), "work"), 10);
}

fn send(signal: &str, to: &str) -> bool {
    Command::new("kill").args(["-s", signal, "--", to]).status().unwrap().success()
}

/// The command has ended, and `run` waits for a JVM that it left running.
fn a_signal_ends_what_is_done_after_the_command(jdk: &'static Jdk) {
    use std::os::unix::process::ExitStatusExt;
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let here = folder("run-signal-after");
        let script = format!(
            "mkfifo out; java -cp {} Ending wait > out & read line < out; echo $! > jvm; echo ended",
            classes()
        );
        let mut command = prepared(jdk, &here, &[], &["sh", "-c", &script]);
        let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut ended = [0; 6];
        std::io::Read::read_exact(running.stdout.as_mut().unwrap(), &mut ended).unwrap();
        // The shell ends now.
        std::thread::sleep(std::time::Duration::from_millis(500));
        let begun = std::time::Instant::now();
        assert!(send(signal, &running.id().to_string()));
        let status = running.wait().unwrap();
        let jvm = fs::read_to_string(here.join("jvm")).unwrap();
        assert!(send("KILL", jvm.trim()), "the JVM has ended");
        let mut said = String::new();
        std::io::Read::read_to_string(running.stderr.as_mut().unwrap(), &mut said).unwrap();
        assert_eq!(status.signal(), Some(number), "{status} {said}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(3), "{:?}", begun.elapsed());
        let line = format!("cctrewrite: ended by SIG{signal} before cctrewrite.cct was complete");
        // This test or another one makes the image.
        let of_image = ["waits for another process", "a profiled JDK of Java "];
        let mut lines = said.lines().filter(|line| !of_image.iter().any(|text| line.contains(text)));
        assert!(
            lines.next().is_some_and(|first| first.starts_with(&line)) && lines.next().is_none(),
            "{said}"
        );
        let mut left: Vec<_> = fs::read_dir(&here).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["jvm", "out"]);
    }
}

/// The last line that cctrewrite printed.
fn explanation(output: &Output) -> String {
    let said = said(output);
    let ours: Vec<&str> = said.lines().filter(|line| line.starts_with("cctrewrite: ")).collect();
    ours.last().unwrap_or_else(|| panic!("{said}")).to_string()
}

fn names_what_it_uses(jdk: &'static Jdk) {
    let here = folder("run-verbose");
    for tool in [&[][..], &["--tool", "trace"]] {
        let options = [&["-v"], tool].concat();
        let told = said(&run(jdk, &here, &options, &["java", "-cp", &classes(), "Ending", "return"]));
        for line in
            [format!("JDK: {}", jdk.home().display()), "image: ".to_owned(), "JVM 1, process ".to_owned()]
        {
            assert!(told.contains(&format!("cctrewrite: {line}")), "{line} of {told}");
        }
    }
}

fn says_why_no_jvm_records(jdk: &'static Jdk) {
    let here = folder("run-silent");
    let refused = run(jdk, &here, &["-q"], &["java", "-Xmx64m", "-XX:+NoSuchOption", "Ending"]);
    assert_eq!(refused.status.code(), Some(1));
    let why = explanation(&refused);
    assert!(why.contains("java ended with exit code 1 before its JVM recorded anything"), "{why}");
    assert!(why.ends_with("check its options: -Xmx64m -XX:+NoSuchOption"), "{why}");

    let small = run(jdk, &here, &["-q"], &["java", "-Xmx2m", "-cp", &classes(), "Ending", "return"]);
    if small.status.code() != Some(0) && !here.join("cctrewrite.cct").exists() {
        assert!(explanation(&small).ends_with("check its options: -Xmx2m"), "{}", said(&small));
    }

    let off = run(jdk, &here, &["-q"], &["java", "-Dcctrewrite.record=off", "-version"]);
    assert_eq!(
        explanation(&off),
        "cctrewrite: java records nothing because of -Dcctrewrite.record=off; leave that option out"
    );

    let mut command = prepared(jdk, &here, &["-q"], &["sh", "-c", "java -version; true"]);
    let by_variable = command.env("JAVA_TOOL_OPTIONS", "-XX:+NoSuchOption").output().unwrap();
    assert_eq!(by_variable.status.code(), Some(125));
    let why = explanation(&by_variable);
    assert!(
        why.contains("does not work with the options in JAVA_TOOL_OPTIONS (Unrecognized VM option"),
        "{why}"
    );

    let plain = jdk.path("bin/java");
    let elsewhere = run(jdk, &here, &["-q"], &["sh", "-c", &format!("{} -version", plain.display())]);
    let why = explanation(&elsewhere);
    assert!(
        why.contains("sh started no JVM of the profiled JDK") && why.contains("java by PATH or JAVA_HOME"),
        "{why}"
    );
}

/// A file of the image is missing, or has changed.
fn says_that_the_image_is_damaged(jdk: &'static Jdk) {
    let here = folder("run-damaged");
    let image = run(jdk, &here, &["-q"], &["sh", "-c", "echo $JAVA_HOME; java -version 2>/dev/null"]);
    let image = PathBuf::from(String::from_utf8(image.stdout).unwrap().trim());
    for (damage, missing) in [
        ("rm \"$(find -L . -name 'libcctrewrite_loadtime.so')\"", "libcctrewrite_loadtime.so"),
        ("rm $(find . -path '*lib/cctrewrite/index')", "lib/cctrewrite/index"),
    ] {
        let copy = here.join("image");
        // The files are shared with the image in the cache: they may be removed, but not changed.
        let script = format!("cp -al \"$0\" \"$1\" && cd \"$1\" && {damage}");
        let made = Command::new("sh").args(["-c", &script]).arg(&image).arg(&copy).status().unwrap();
        assert!(made.success(), "{damage}");
        let options = ["-q", "--jdk", copy.to_str().unwrap()];
        for command in
            [&["java", "-cp", &classes(), "Ending", "return"][..], &["sh", "-c", "java -version; exit 1"]]
        {
            let output = run(jdk, &here, &options, command);
            assert_eq!(output.status.code(), Some(125), "{damage}: {}", said(&output));
            let why = said(&output);
            let named = format!("cctrewrite: {}", copy.display());
            assert!(why.starts_with(&named) && why.contains(&format!("{missing} is missing; try ")), "{why}");
            assert!(
                why.trim_end().contains("--repair`, or make the image again with `cctrewrite jdk`"),
                "{why}"
            );
            assert_eq!(why.trim_end().lines().count(), 1, "{why}");
        }
        fs::remove_dir_all(&copy).unwrap();
    }
}

fn an_image_is_used_as_it_is(jdk: &'static Jdk) {
    let here = folder("run-image");
    let command = ["sh", "-c", "echo $JAVA_HOME; java -version 2>/dev/null"];
    let image = run(jdk, &here, &["-q"], &command);
    let image = PathBuf::from(String::from_utf8(image.stdout).unwrap().trim());
    assert_ne!(image, jdk.home());
    let again = run(jdk, &here, &["-q", "--jdk", image.to_str().unwrap()], &command);
    assert_eq!(String::from_utf8(again.stdout).unwrap().trim(), image.to_str().unwrap());
}

jdks!(everything_passes_through, passes_everything_through, [8, 17, 25]);
jdks!(profiles_of_all_jvms_are_collected, collects_all, [8, 17, 25]);
jdks!(a_jvm_without_a_profile_is_an_error, misses_what_was_killed, [17]);
jdks!(signals_are_handed_on, hands_signals_on, [17]);
jdks!(an_interrupt_from_a_terminal_leaves_the_profile, delivers_after_an_interrupt, 8..=25);
jdks!(a_signal_after_the_commands_end_ends_run, a_signal_ends_what_is_done_after_the_command, 8..=25);
jdks!(the_home_of_an_image_is_taken, an_image_is_used_as_it_is, [17]);
jdks!(details_name_jdk_image_and_jvms, names_what_it_uses, [17]);
jdks!(why_no_jvm_records_is_said, says_why_no_jvm_records, 8..=25);
jdks!(a_damaged_image_is_named, says_that_the_image_is_damaged, 8..=25);

/// An image determines how its classes are rewritten; an option that it was not built with used to
/// be ignored silently.
fn refuses_options_that_an_image_lacks(jdk: &'static Jdk) {
    let here = folder("run-image");
    let home = jdk.home().to_str().unwrap().to_owned();
    let image = here.join("image");
    let image = image.to_str().unwrap();
    let made = Command::new(env!("CARGO_BIN_EXE_cctrewrite"))
        .args(["jdk", &home, "-q", "--link", "--no-cds", "--metrics", "calls", "-o", image])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", said(&made));
    let command = ["java", "-version"];
    for (options, parts) in [
        // Also with its default.
        (
            &["--metrics", "bytecodes"][..],
            ["made with --metrics=calls, and --metrics=bytecodes is given now", image],
        ),
        (&["--blocks", "default"], ["made with --blocks=exact, and --blocks=default is given now", image]),
        (&["--allocations"], ["made without --allocations, and --allocations is given now", "leave it out"]),
        (&["--include", "a/**"], ["made without --include", "--include=a/** is given now"]),
    ] {
        let output = run(jdk, &here, &[&["--jdk", image], options].concat(), &command);
        assert_eq!(output.status.code(), Some(125), "{}", said(&output));
        assert!(parts.iter().all(|part| said(&output).contains(part)), "{}", said(&output));
        assert!(!here.join("cctrewrite.cct").exists());
    }
    let output = run(jdk, &here, &["--jdk", image, "--metrics", "calls"], &command);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(here.join("cctrewrite.cct").is_file());
}

jdks!(options_of_images, refuses_options_that_an_image_lacks, [17]);
