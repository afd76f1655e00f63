//! A debugger stops at the same places as on the plain JDK, shows the same stacks, and redefines
//! classes (`jdb`, over JDWP).

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::support::{Blocks, Image, Jdk, assert_succeeded, folder, jdks};

/// Time limit: no session takes nearly as long.
const LIMIT: Duration = Duration::from_secs(240);

/// Commands for `jdb`, and the words that end each answer.
const SESSION: &[(&str, &str)] = &[
    ("stop in Workshop.total", "Deferring"),
    ("stop in Workshop$Adder.apply", "Deferring"),
    ("stop in Workshop$Adder.run", "Deferring"),
    ("stop in Workshop.<init>", "Deferring"),
    ("stop at Workshop:55", "Deferring"),
    ("run", "Workshop.total(), line=41"),
    ("where", "Workshop.main"),
    ("cont", "Workshop.<init>(), line=36"),
    ("where", "Workshop.main"),
    ("cont", "Workshop$Adder.run(), line=32"),
    ("where", "Workshop$Adder.run (Workshop.java:32)"),
    ("redefine Workshop$Adder second/Workshop$Adder.class", ""),
    // A redefinition removes breakpoints. Methods that run meanwhile keep the old form on the
    // stack.
    ("stop in Workshop$Adder.apply", "Set breakpoint"),
    ("cont", "Workshop$Adder.apply(), line=21"),
    ("next", "line=22"),
    ("print sum", "sum = 7"),
    ("cont", "Workshop$Adder.apply(), line=21"),
    ("cont", "Workshop.main(), line=55"),
    ("cont", "exited"),
];

fn compile(jdk: &Jdk, part: &str, into: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/debuggers").join(part);
    fs::create_dir_all(into).unwrap();
    let mut javac = Command::new(jdk.path("bin/javac"));
    assert_succeeded(javac.args(["-g", "-nowarn", "-d"]).arg(into).arg(source.join("Workshop.java")));
}

/// A program that waits for a debugger; and the address on which it waits.
fn debugged(home: &Path, folder: &Path) -> (Child, String) {
    let mut java = Command::new(home.join("bin/java"));
    java.args(["-agentlib:jdwp=transport=dt_socket,server=y,suspend=y,address=127.0.0.1:0", "-cp", "first"]);
    java.arg("-Dcctrewrite.out=profile.cct").arg("Workshop").current_dir(folder);
    let mut child = java.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    // One byte at a time: the rest belongs to the program.
    let (mut line, mut byte) = (Vec::new(), [0]);
    let out = child.stdout.as_mut().unwrap();
    while byte[0] != b'\n' && out.read(&mut byte).unwrap() == 1 {
        line.push(byte[0]);
    }
    let line = String::from_utf8(line).unwrap();
    (child, line.trim().rsplit(' ').next().unwrap().to_owned())
}

struct Jdb {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Jdb {
    fn attach(jdk: &Jdk, folder: &Path, port: &str) -> Jdb {
        let mut jdb = Command::new(jdk.path("bin/jdb"));
        jdb.args(["-attach", &format!("127.0.0.1:{port}")]).current_dir(folder);
        let errors = File::create(folder.join("jdb-errors")).unwrap();
        let mut child = jdb.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Jdb { child, to, from }
    }

    /// Reads until the answer contains these words and the rest of their line.
    fn read(&mut self, words: &str) -> String {
        let mut text = String::new();
        while !text.contains(words) {
            let mut line = String::new();
            let length = self.from.read_line(&mut line).unwrap();
            assert!(length > 0, "jdb has ended, and never said {words:?}: {text}");
            text.push_str(&line);
        }
        text
    }
}

/// The output of `jdb` in the session, without the parts that vary between runs.
fn session(jdk: &Jdk, home: &Path, name: &str) -> (String, String) {
    let folder: PathBuf = folder(name);
    compile(jdk, "first", &folder.join("first"));
    compile(jdk, "second", &folder.join("second"));
    let (mut program, port) = debugged(home, &folder);
    let mut jdb = Jdb::attach(jdk, &folder, &port);
    // If the words never come, the message shows what came instead.
    let (ended, end) = mpsc::channel::<()>();
    let processes = [jdb.child.id(), program.id()].map(|id| id.to_string());
    let watch = thread::spawn(move || {
        if end.recv_timeout(LIMIT).is_err() {
            let _ = Command::new("kill").arg("-KILL").args(processes).status();
        }
    });
    let mut said = jdb.read("No frames on the current call stack");
    for (command, words) in SESSION {
        writeln!(jdb.to, "{command}").unwrap();
        said.push_str(&format!("[{command}] {}", jdb.read(words)));
    }
    drop(jdb.to);
    jdb.child.wait().unwrap();
    ended.send(()).unwrap();
    watch.join().unwrap();
    let mut out = String::new();
    program.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert!(program.wait().unwrap().success(), "{out}");
    // Bytecode indices are those of the rewritten code; prompts come at any time. If a breakpoint
    // is hit before jdb has ended a command, it may print that the thread of that command runs.
    let said = said.replace("Current thread isn't suspended.", "");
    let words = said.split_whitespace().filter(|word| {
        !word.starts_with("bci=") && *word != ">" && !word.ends_with(']') && !word.starts_with('[')
    });
    (words.collect::<Vec<_>>().join(" "), out)
}

fn a_debugger_stops_and_redefines(jdk: &'static Jdk) {
    let plain = session(jdk, jdk.home(), "plain");
    let profiled = session(jdk, Image::of(jdk, Blocks::Exact).home(), "profiled");
    assert_eq!(plain, profiled);
    // Redefined: 1 + 6, and once more.
    assert!(plain.1.contains("run 13"), "{}", plain.1);
}

jdks!(sessions, a_debugger_stops_and_redefines, 8..=25);
