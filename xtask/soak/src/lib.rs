//! `cargo xtask soak`: a profiled server under load for a long time (docs/internals/soak.md).
//!
//! The server is `fixtures/soak`, on the JDK's own HTTP server. This task generates the load, over
//! persistent connections, and takes snapshots meanwhile. It checks that each answer was counted,
//! in every snapshot and in the final profile; that contexts never disappear; and that memory stops
//! growing.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use cct_profile::Profile;
use clap::Args;
use xtask_tools::jdks::{self, Fetch, Jdk};
use xtask_tools::print::print_line;
use xtask_tools::process;
use xtask_tools::workspace::{self, ReleaseBuild};

/// Arguments of the task.
#[derive(Args)]
pub struct Arguments {
    /// How long, in minutes
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1440), value_name = "N")]
    minutes: u32,

    /// The JDK
    #[arg(long, default_value_t = 17, value_parser = jdks::supported, value_name = "VERSION")]
    jdk: u32,

    /// Requests each second, at most
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    rate: u32,

    /// Snapshots in all
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(8..=1000), value_name = "N")]
    snapshots: u32,
}

/// Number of connections.
const CLIENTS: u32 = 8;

/// The Java heap in MiB, so that the JVM's memory settles soon.
const HEAP: u32 = 128;

/// Maximum growth of memory from the second to the last quarter of the time, in percent.
const GROWTH: f64 = 10.0;

/// Numbers of requests and answers.
#[derive(Default)]
struct Counts {
    asked: AtomicU64,
    answered: AtomicU64,
    stop: AtomicBool,
}

/// A snapshot of the server.
struct Look {
    seconds: u64,
    answered: u64,
    calls: u64,
    total: u64,
    contexts: usize,
    resident: u64,
}

/// Runs the task.
///
/// # Errors
/// Fails if something is missing or cannot run, or if a check fails.
pub fn run(arguments: &Arguments) -> Result<()> {
    let jdk = jdk(arguments.jdk)?;
    let ReleaseBuild { program, .. } = workspace::build_release(&jdk)?;
    let folder = tempfile::tempdir()?;
    let image = folder.path().join("image");
    process::output(Command::new(&program).arg("jdk").arg(&jdk.home).arg("-o").arg(&image))?;
    let profile = folder.path().join("soak.cct");
    let (mut server, port) = start(&jdk, &image, folder.path(), &profile)?;
    let counts = Counts::default();
    let duration = Duration::from_secs(60 * u64::from(arguments.minutes));
    let looks = thread::scope(|scope| -> Result<Vec<Look>> {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let counts = &counts;
                scope.spawn(move || load(client, port, arguments.rate, counts))
            })
            .collect();
        let looks = watch(&program, &server, arguments, duration, &counts);
        counts.stop.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
        }
        looks
    });
    let looks = match looks {
        Ok(looks) => looks,
        Err(e) => {
            // It may be the cause of the failure; nobody waits for it any more.
            let _ = server.kill();
            let _ = server.wait();
            return Err(e);
        }
    };
    ask(&mut connect(port)?, "/stop")?;
    let status = server.wait()?;
    ensure!(status.success(), "the server ended with {status}");
    report(&looks, &Profile::read(&fs::read(&profile)?)?, counts.answered.into_inner())
}

fn jdk(version: u32) -> Result<Jdk> {
    let answer = jdks::get(&[version], Fetch::IfMissing)?.pop().context("no answer")?;
    answer.jdk.with_context(|| format!("JDK {version} is missing"))
}

/// Starts the server; returns its port, too.
fn start(jdk: &Jdk, image: &Path, folder: &Path, profile: &Path) -> Result<(Child, u16)> {
    let classes = folder.join("classes");
    fs::create_dir(&classes)?;
    let source = workspace::root().join("fixtures/soak/Soak.java");
    process::output(jdks::tool(&jdk.home, "javac").args(["-nowarn", "-d"]).arg(&classes).arg(source))?;
    let mut server = jdks::tool(image, "java")
        .args([&format!("-Xmx{HEAP}m"), &format!("-Xms{HEAP}m"), "-XX:+UseSerialGC"])
        .arg(format!("-Dcctrewrite.out={}", profile.display()))
        .arg("-cp")
        .arg(&classes)
        .arg("Soak")
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start the server")?;
    let mut line = String::new();
    let out = server.stdout.take().context("no output")?;
    BufReader::new(out).read_line(&mut line)?;
    let port = line.trim().parse().with_context(|| format!("the server said '{line}'"))?;
    Ok((server, port))
}

fn connect(port: u16) -> Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port)).context("cannot reach the server")?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    Ok(BufReader::new(stream))
}

/// Sends a request, and reads the whole answer.
fn ask(connection: &mut BufReader<TcpStream>, path: &str) -> Result<()> {
    write!(connection.get_mut(), "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
    let mut line = String::new();
    connection.read_line(&mut line)?;
    ensure!(line.starts_with("HTTP/1.1 200"), "the server answered '{}'", line.trim_end());
    let mut length = 0;
    loop {
        line.clear();
        ensure!(connection.read_line(&mut line)? > 0, "the answer ends in its header");
        let header = line.trim_end().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
    }
    let mut body = vec![0; length];
    Ok(connection.read_exact(&mut body)?)
}

/// One client: sends requests at its share of the rate until it is told to stop. Now and then it
/// pauses, so that the server's threads end.
fn load(client: u32, port: u16, rate: u32, counts: &Counts) -> Result<()> {
    let mut connection = connect(port)?;
    let pause = Duration::from_secs_f64(f64::from(CLIENTS) / f64::from(rate));
    let mut next = Instant::now();
    let mut number = client;
    while !counts.stop.load(Ordering::Relaxed) {
        counts.asked.fetch_add(1, Ordering::SeqCst);
        ask(&mut connection, &format!("/work?{}", number % 1000))?;
        counts.answered.fetch_add(1, Ordering::SeqCst);
        number = number.wrapping_add(CLIENTS);
        next += pause;
        if (number / CLIENTS).is_multiple_of(500) {
            next += Duration::from_millis(300);
        }
        thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(())
}

/// Takes snapshots, evenly over the time.
fn watch(
    program: &Path,
    server: &Child,
    arguments: &Arguments,
    duration: Duration,
    counts: &Counts,
) -> Result<Vec<Look>> {
    let started = Instant::now();
    let mut looks = Vec::new();
    print_line(&"seconds  answered  counted   calls in all  contexts  resident MiB")?;
    for number in 1..=arguments.snapshots {
        thread::sleep((duration * number / arguments.snapshots).saturating_sub(started.elapsed()));
        let before = counts.answered.load(Ordering::SeqCst);
        let snapshot = snapshot(program, server.id())?;
        let after = counts.asked.load(Ordering::SeqCst);
        let look = Look {
            seconds: started.elapsed().as_secs(),
            answered: before,
            calls: calls(&snapshot),
            total: snapshot.threads.iter().flat_map(|t| t.tree.nodes()).map(|n| n.calls).sum(),
            contexts: snapshot.contexts(),
            resident: resident(server.id())?,
        };
        print_line(&format!(
            "{:7}  {:8}  {:8}  {:12}  {:8}  {:12}",
            look.seconds, look.answered, look.calls, look.total, look.contexts, look.resident
        ))?;
        ensure!(
            before <= look.calls && look.calls <= after,
            "{before} requests had been answered and {after} asked, but {} were counted",
            look.calls
        );
        looks.push(look);
    }
    Ok(looks)
}

fn snapshot(program: &Path, process: u32) -> Result<Profile> {
    let output = Command::new(program)
        .args(["snapshot", &process.to_string(), "-o", "-"])
        .output()
        .context("cannot run cctrewrite")?;
    if !output.status.success() {
        bail!("no snapshot: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(Profile::read(&output.stdout)?)
}

/// Number of times that the server's work was done.
fn calls(profile: &Profile) -> u64 {
    let is = |method: u32| {
        profile.methods.get(method as usize).is_some_and(|m| &*m.class == "Soak" && &*m.name == "work")
    };
    profile.threads.iter().flat_map(|t| t.tree.nodes()).filter(|n| is(n.method)).map(|n| n.calls).sum()
}

/// Resident memory of a process, in MiB.
fn resident(process: u32) -> Result<u64> {
    let status = fs::read_to_string(PathBuf::from(format!("/proc/{process}/status")))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kibibytes: u64 = line.split_whitespace().next().context("no number")?.parse()?;
    Ok(kibibytes / 1024)
}

/// The checks after the server has ended.
fn report(looks: &[Look], last: &Profile, answered: u64) -> Result<()> {
    let counted = calls(last);
    print_line(&format!("at the end: {answered} answered, {counted} counted, {} contexts", last.contexts()))?;
    ensure!(answered == counted, "{answered} requests were answered, but {counted} counted");
    for pair in looks.windows(2) {
        ensure!(
            pair[0].total <= pair[1].total && pair[0].contexts <= pair[1].contexts,
            "counts shrank after {} seconds",
            pair[0].seconds
        );
    }
    let quarter = looks.len() / 4;
    let mean = |looks: &[Look]| looks.iter().map(|l| l.resident as f64).sum::<f64>() / looks.len() as f64;
    let (second, fourth) = (mean(&looks[quarter..2 * quarter]), mean(&looks[3 * quarter..]));
    print_line(&format!(
        "resident memory: {second:.0} MiB in the second quarter of the time, {fourth:.0} in the last"
    ))?;
    ensure!(fourth <= second * (1.0 + GROWTH / 100.0), "memory grew from {second:.0} to {fourth:.0} MiB");
    print_line(&"nothing was lost, and nothing grew")?;
    Ok(())
}
