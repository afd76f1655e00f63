//! Faults while images are built: killed commands, many at once, full disks, JVMs that hang.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cct_test_classes::executable;

use crate::support::caches::{assert_sound, cctrewrite, ended, in_cache};
use crate::support::{Jdk, copy_all, fixture, folder, jdks};

/// A run of a small program, which writes its profile to a file of its own.
fn run(jdk: &Jdk, here: &Path, number: usize) -> Command {
    let (home, classes, out) =
        (jdk.home().to_str().unwrap(), fixture("ending/classes"), format!("{number}.cct"));
    let program = ["--", "java", "-cp", classes.to_str().unwrap(), "Ending", "return"];
    cctrewrite(here, &[&["run", "-o", &out, "--jdk", home][..], &program].concat())
}

fn workshops(paths: &[PathBuf]) -> usize {
    paths.iter().filter(|path| path.to_str().unwrap().ends_with(".tmp")).count()
}

fn environment(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// `KILLS=200` for that many kills, `SEED=2` for other moments. Two runs at once, then eight, share
/// the image that remains to be built.
fn killed_and_many_at_once(jdk: &'static Jdk) {
    let here = folder("killed-images");
    let started = Instant::now();
    let output = run(jdk, &here, 0).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let longest = started.elapsed();
    assert!(assert_sound(&here));

    let (mut whole, mut abandoned, mut seed) = (0, 0, environment("SEED", 1) as u64);
    let kills = environment("KILLS", 3);
    for number in 0..kills {
        fs::remove_dir_all(here.join("cache")).unwrap_or_default();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Every third early moment is during copying, which would otherwise be hit rarely.
        let span = if number % 3 == 0 { longest / 4 } else { longest };
        let moment = span.mul_f64((seed >> 33) as f64 / (1u64 << 31) as f64);
        let mut command = run(jdk, &here, 0);
        // JVMs of the image under construction are not children of the test: they end by
        // themselves.
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(moment);
        child.kill().unwrap();
        child.wait().unwrap();
        whole += usize::from(assert_sound(&here));
        abandoned += workshops(&in_cache(&here));
        if (number + 1) % 10 == 0 {
            eprintln!(
                "JDK {}: {} kills: {whole} whole images, {abandoned} workshops",
                jdk.version,
                number + 1
            );
        }
    }
    eprintln!(
        "JDK {}: {kills} kills within {longest:.1?}: {whole} whole images, {abandoned} workshops",
        jdk.version
    );

    for count in [2, 8] {
        // A JVM of a killed run may still write into an abandoned workshop.
        fs::remove_dir_all(here.join("cache")).unwrap_or_default();
        let children: Vec<_> = (0..count)
            .map(|number| {
                run(jdk, &here, number).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
            })
            .collect();
        let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        let said: Vec<String> =
            outputs.iter().map(|output| String::from_utf8_lossy(&output.stderr).into_owned()).collect();
        assert!(outputs.iter().all(|output| output.status.code() == Some(0)), "{said:?}");
        let makers = said.iter().filter(|said| said.contains("was made in")).count();
        assert_eq!(makers, 1, "{said:?}");
        assert!(
            said.iter().filter(|said| said.contains("waits for another process")).count() < count,
            "{said:?}"
        );
        assert!((0..count).all(|number| here.join(format!("{number}.cct")).is_file()));
        assert!(assert_sound(&here));
        assert_eq!(workshops(&in_cache(&here)), 0);
    }
}
jdks!(kills, killed_and_many_at_once, [8]);

/// The next command removes the leftovers of a killed one.
fn abandoned_workshops_go(jdk: &'static Jdk) {
    let here = folder("abandoned");
    let mut child = run(jdk, &here, 0).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let has_files = |path: &PathBuf| path.ends_with("image") || path.join("image/bin").is_dir();
    while !in_cache(&here).iter().any(has_files) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(workshops(&in_cache(&here)), 1);
    let output = cctrewrite(&here, &["cache", "prune"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(workshops(&in_cache(&here)), 0);
}
jdks!(abandoned, abandoned_workshops_go, [8]);

/// A file system that is full while files are copied, and while the class library is written.
fn disks_that_are_full(jdk: &'static Jdk) {
    let tried = Command::new("unshare").args(["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no right to mount a file system");
        return;
    }
    let here = folder("full-disk");
    let mount = here.join("full");
    fs::create_dir(&mount).unwrap();
    // The remaining files are listed before the file system is gone.
    let script = "mount -t tmpfs -o size=$1 tmpfs \"$0\" && shift && { code=0; \"$@\" || code=$?; ls -A \"$0\"; find \"$0\" -type d -name image; exit $code; }";
    for size in ["20m", "130m"] {
        for to_cache in [false, true] {
            let mut shell = Command::new("unshare");
            shell.args(["-m", "sh", "-c", script]).arg(&mount).arg(size).current_dir(&here);
            shell.args([env!("CARGO_BIN_EXE_cctrewrite"), "jdk", jdk.home().to_str().unwrap(), "-q"]);
            if to_cache {
                shell.arg(format!("--cache={}", mount.join("cache").display()))
            } else {
                shell.arg("-o").arg(mount.join("image"))
            };
            let output = shell.output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let (left, said) = (text(&output.stdout), text(&output.stderr));
            assert_eq!(output.status.code(), Some(1), "{size}: {said}");
            assert!(said.contains("No space left on device"), "{size}: {said}");
            assert_eq!(said.lines().count(), 1, "{size}: {said}");
            assert_eq!(left, if to_cache { "cache\n" } else { "" }, "{size}: {said}");
        }
    }
}
jdks!(full, disks_that_are_full, [8]);

/// A JDK whose `java` is a script that ends only for some arguments.
fn with_a_java_that_hangs(jdk: &Jdk, to: &Path, script: &str) {
    // Links take no space. The folder may be on another file system.
    let linked = Command::new("cp").arg("-al").args([jdk.home(), to]).output();
    if !linked.is_ok_and(|output| output.status.success()) {
        let _ = fs::remove_dir_all(to);
        copy_all(jdk.home(), to);
    }
    for bin in [to.join("bin"), to.join("jre/bin")].iter().filter(|bin| bin.is_dir()) {
        fs::rename(bin.join("java"), bin.join("plain-java")).unwrap();
        executable::script(&bin.join("java"), script).unwrap();
    }
}

/// A JVM of the image that should start, and one that should create an archive of classes.
fn jvms_that_hang(jdk: &'static Jdk) {
    let here = folder("hanging");
    let home = here.join("jdk");
    // The process that hangs reports its id.
    let hang = "echo $$ > \"$HANGS\"; exec sleep 600";
    let (script, arguments, remedy) = match jdk.version {
        8 => (hang.to_owned(), "`java -version`", "see whether `java -version` of the JDK itself ends"),
        _ => (
            format!(
                "case \"$*\" in *-Xshare:dump*) {hang};; esac; exec \"$(dirname \"$0\")/plain-java\" \"$@\""
            ),
            "`java -Xshare:dump ",
            "`cctrewrite jdk --no-cds` makes an image without archives of classes",
        ),
    };
    with_a_java_that_hangs(jdk, &home, &script);
    let (hangs, started) = (here.join("hangs"), Instant::now());
    let command = |limit: &str| {
        let mut command = cctrewrite(&here, &["jdk", home.to_str().unwrap(), "-q", "--cache"]);
        command.env("CCTREWRITE_JVM_LIMIT", limit).env("HANGS", &hangs);
        command
    };
    let (code, said) = ended(command("3"));
    assert!(started.elapsed() < Duration::from_secs(300), "{:?}", started.elapsed());
    assert_eq!((code, said.lines().count()), (Some(1), 1), "{said}");
    let process = fs::read_to_string(&hangs).unwrap();
    for part in [arguments, "did not end within 3 s and was killed", remedy, "CCTREWRITE_JVM_LIMIT=SECONDS"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!Path::new("/proc").join(process.trim()).exists(), "{process} lives");
    // Only the lock of the image is left.
    let left = in_cache(&here);
    assert!(left.len() == 1 && left[0].extension().is_some_and(|suffix| suffix == "lock"), "{left:?}");
    let (code, said) = ended(command("soon"));
    assert!(code == Some(1) && said.contains("CCTREWRITE_JVM_LIMIT=soon: not a number of seconds"), "{said}");
}
jdks!(hanging, jvms_that_hang, [17], all[8]);

/// While one process that builds an image is stopped, another one waits no longer than the limit.
fn a_maker_that_is_stopped(jdk: &'static Jdk) {
    let here = folder("stopped");
    let mut maker = run(jdk, &here, 0).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while workshops(&in_cache(&here)) == 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let signal = |signal: &str| {
        assert!(
            Command::new("kill").args(["-s", signal, &maker.id().to_string()]).status().unwrap().success()
        );
    };
    signal("STOP");
    let mut second = run(jdk, &here, 1);
    second.env("CCTREWRITE_JVM_LIMIT", "1");
    let started = Instant::now();
    let (code, said) = ended(second);
    assert!(started.elapsed() < Duration::from_secs(120), "{:?}", started.elapsed());
    assert_eq!(code, Some(125), "{said}");
    let maker_named = format!("process {} has been making the same image for more than 14 s", maker.id());
    for part in ["waits for another process", &maker_named, "end it and run the command again"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // It continues.
    signal("CONT");
    assert!(maker.wait().unwrap().success());
    assert!(assert_sound(&here));
}
jdks!(stopped, a_maker_that_is_stopped, [8]);
