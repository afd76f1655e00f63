//! The tools of a JDK on its image: they work, and print the same as those of the plain JDK. (Each
//! writes a profile of itself, too.)

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::support::{Blocks, Image, Jdk, folder, jdks};

/// Prints that it runs, and waits.
const PROGRAM: &str = "\
public class Waiting {
    public static void main(String[] arguments) throws Exception {
        System.out.println(\"ready\");
        Thread.sleep(arguments.length == 0 ? 1 : 300_000);
    }
}
";

/// The tools of one home, in a folder of their own.
struct Tools<'a> {
    home: &'a Path,
    folder: PathBuf,
}

/// The output of a tool.
#[derive(Debug, PartialEq, Eq)]
struct ToolOutput {
    ok: bool,
    out: String,
    err: String,
}

impl ToolOutput {
    fn has(&self, text: &str) -> bool {
        self.out.contains(text) || self.err.contains(text)
    }
}

impl Tools<'_> {
    fn command(&self, tool: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.home.join("bin").join(tool));
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"] {
            command.env_remove(variable);
        }
        command.current_dir(&self.folder).args(arguments);
        command
    }

    fn run_with_input(&self, tool: &str, arguments: &[&str], input: &str) -> ToolOutput {
        let mut command = self.command(tool, arguments);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A tool that reads nothing may have ended.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        let output = child.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        ToolOutput { ok: output.status.success(), out: text(&output.stdout), err: text(&output.stderr) }
    }

    fn run(&self, tool: &str, arguments: &[&str]) -> ToolOutput {
        self.run_with_input(tool, arguments, "")
    }

    /// Checks that the tool succeeds and prints this.
    fn says(&self, tool: &str, arguments: &[&str], text: &str) -> ToolOutput {
        let said = self.run(tool, arguments);
        assert!(said.ok && said.has(text), "{}: {tool} {arguments:?}: {said:?}", self.home.display());
        said
    }

    /// Starts the waiting program.
    fn waiting(&self) -> WaitingJvm {
        let arguments = ["-XX:NativeMemoryTracking=summary", "-cp", ".", "Waiting", "long"];
        let mut child = self.command("java", &arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        WaitingJvm(child)
    }
}

/// A JVM that is killed in the end.
struct WaitingJvm(Child);

impl Drop for WaitingJvm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn both(jdk: &'static Jdk) -> [Tools<'static>; 2] {
    let image = Image::of(jdk, Blocks::Exact);
    [jdk.home(), image.home()].map(|home| {
        let folder = folder("tools");
        fs::write(folder.join("Waiting.java"), PROGRAM).unwrap();
        Tools { home, folder }
    })
}

/// Tools for files print the same.
fn say_the_same(jdk: &'static Jdk) {
    let [plain, image] = both(jdk);
    for (tool, arguments) in [
        ("java", &["-version"][..]),
        ("java", &["Waiting.java"]),
        ("javac", &["-Xlint:all", "Waiting.java"]),
        ("java", &["-cp", ".", "Waiting"]),
        ("javap", &["-c", "-p", "-cp", ".", "Waiting"]),
        ("jar", &["--create", "--file", "waiting.jar", "--main-class", "Waiting", "Waiting.class"]),
        ("jar", &["--list", "--file", "waiting.jar"]),
        ("java", &["-jar", "waiting.jar"]),
        ("jdeps", &["Waiting.class"]),
        ("jdeps", &["--print-module-deps", "waiting.jar"]),
    ] {
        let [expected, mut found] = [&plain, &image].map(|tools| tools.run(tool, arguments));
        // Whether an archive of classes is in use.
        found.err = found.err.replace("mixed mode)", "mixed mode, sharing)");
        let expected =
            ToolOutput { err: expected.err.replace("mixed mode)", "mixed mode, sharing)"), ..expected };
        assert!(expected.ok, "{tool} {arguments:?}: {expected:?}");
        assert_eq!(found, expected, "JDK {}: {tool} {arguments:?}", jdk.version);
    }
    let [expected, found] = [&plain, &image].map(|t| fs::read(t.folder.join("Waiting.class")).unwrap());
    assert_eq!(expected, found);
}

/// Tools that inspect a JVM.
fn look_at_a_running_program(jdk: &'static Jdk) {
    for tools in both(jdk) {
        tools.says("javac", &["Waiting.java"], "");
        let program = tools.waiting();
        let id = program.0.id().to_string();
        let version = format!("JDK {}", jdk.version);
        tools.says("jcmd", &[&id, "VM.version"], &version);
        let dump = tools.says("jcmd", &[&id, "Thread.print"], "at Waiting.main(Waiting.java:4)");
        assert!(dump.has("\"main\" #") && dump.has("java.lang.Thread.sleep"), "{dump:?}");
        tools.says("jcmd", &[&id, "GC.class_histogram"], "java.lang.String");
        tools.says("jcmd", &[&id, "VM.native_memory"], "Total: reserved=");
        tools.says("jstack", &[&id], "at Waiting.main(Waiting.java:4)");
        tools.says("jps", &["-l"], &format!("{id} Waiting\n"));
    }
}

/// The JVM's own log, and Flight Recorder.
fn log_and_record(jdk: &'static Jdk) {
    let [_, tools] = both(jdk);
    tools.says("javac", &["Waiting.java"], "");
    tools.says("java", &["-Xlog:gc", "-XX:+UseSerialGC", "-cp", ".", "Waiting"], "Using Serial");
    let loads = tools.says("java", &["-Xlog:class+load", "-cp", ".", "Waiting"], "java.lang.Object source: ");
    assert!(loads.has("] Waiting source: file:") && loads.has("\nready\n"), "{loads:?}");
    let recording = ["-XX:StartFlightRecording=filename=run.jfr", "-cp", ".", "Waiting"];
    tools.says("java", &recording, "ready\n");
    let summary = tools.says("jfr", &["summary", "run.jfr"], "jdk.JVMInformation");
    assert!(summary.has("Version: 2."), "{summary:?}");
    let events = tools.says("jfr", &["print", "--events", "JVMInformation", "run.jfr"], "jvmVersion = ");
    assert!(events.has("Waiting"), "{events:?}");
}

/// A JVM that starts another one and communicates with it; by default it gives up after five
/// seconds, which a busy machine may exceed.
fn evaluate(jdk: &'static Jdk) {
    let [_, tools] = both(jdk);
    let said = tools.run_with_input(
        "jshell",
        &["--execution", "jdi:hostname(127.0.0.1),timeout(120000)", "-s", "-"],
        "int n = 6 * 7;\nSystem.out.println(\"n \" + List.of(n).stream().mapToInt(i -> i).sum());\n",
    );
    assert_eq!((said.ok, said.out.as_str()), (true, "n 42\n"), "JDK {}: {said:?}", jdk.version);
}

fn collect_in_every_way(jdk: &'static Jdk) {
    let [plain, image] = both(jdk);
    for folder in [&plain.folder, &image.folder] {
        plain.says("javac", &["-d", &folder.display().to_string(), "Waiting.java"], "");
    }
    for collector in ["Serial", "Parallel", "G1", "Z", "Shenandoah"] {
        let option = format!("-XX:+Use{collector}GC");
        let arguments = ["-XX:+UnlockExperimentalVMOptions", &option, "-cp", ".", "Waiting"];
        let [expected, found] = [&plain, &image].map(|tools| tools.run("java", &arguments));
        if !expected.ok {
            eprintln!("skipped: JDK {} has no {option}", jdk.version);
            continue;
        }
        assert_eq!(found, expected, "JDK {}: {option}", jdk.version);
    }
}

/// Linking from an image would give classes that are neither plain nor profiled.
fn refuse_to_link(jdk: &'static Jdk) {
    let [_, image] = both(jdk);
    let said = image.run("jlink", &["--add-modules", "java.base", "--output", "linked"]);
    assert!(!said.ok && said.has("Error: "), "JDK {}: {said:?}", jdk.version);
    assert!(!image.folder.join("linked").exists());
}

jdks!(say_the_same, say_the_same, [25], all [11, 17, 21, 26, 27]);
jdks!(look_at_a_running_program, look_at_a_running_program, [17], all [11, 21, 25, 26, 27]);
jdks!(log_and_record, log_and_record, [17, 25, 27], all [11, 21, 26]);
jdks!(evaluate, evaluate, [25, 27], all [11, 17, 21, 26]);
jdks!(collect_in_every_way, collect_in_every_way, [17, 27], all [11, 21, 25, 26]);
jdks!(refuse_to_link, refuse_to_link, 11..);
