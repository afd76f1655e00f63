//! The shell steps of the GitHub Action and of the GitLab template, run as their hosts run them,
//! with a release archive that has the built command.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_yaml_ng::Value;

use crate::support::{Jdk, fixture, folder, jdks, scratch};

fn integrations() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations")
}

/// A folder of a job: a release archive, its checksum, a baseline of two entries.
struct Job {
    jdk: &'static Jdk,
    folder: PathBuf,
    sha256: String,
}

impl Job {
    fn new(jdk: &'static Jdk, name: &str) -> Job {
        let folder = folder(name);
        let release = folder.join("cctrewrite-0.1.0-x86_64-linux/bin");
        fs::create_dir_all(&release).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_cctrewrite"), release.join("cctrewrite")).unwrap();
        succeed(Command::new("sh").current_dir(&folder).args([
            "-c",
            "tar -cf - cctrewrite-0.1.0-x86_64-linux | gzip -1 > release.tar.gz && rm -r cctrewrite-0.1.0-x86_64-linux",
        ]));
        let sum = succeed(Command::new("sha256sum").arg(folder.join("release.tar.gz")));
        let sha256 = sum.split(' ').next().unwrap().to_owned();
        let job = Job { jdk, folder, sha256 };
        let mut update = job.environment(Command::new(env!("CARGO_BIN_EXE_cctrewrite")));
        update.args(["bench", "-q", "--update", "--runs", "1", "Work.loop", "Work.fill", "-c"]);
        succeed(update.arg(classes("before")));
        job
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The text of a file; empty if there is none.
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    fn environment(&self, mut command: Command) -> Command {
        let java = self.jdk.home().join("bin");
        let path = format!("{}:{}", java.display(), std::env::var("PATH").unwrap());
        command.current_dir(&self.folder).env("PATH", path).env("JAVA_HOME", self.jdk.home());
        command.env("CCTREWRITE_CACHE", scratch().join("cache-of-runs")).env("TMPDIR", &self.folder);
        command
    }
}

fn classes(version: &str) -> String {
    fixture("bench").join(version).join("classes").to_str().unwrap().to_owned()
}

fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What both outputs of a step say.
fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A step of the action with these inputs, as a runner of GitHub runs it. The runner adds what
/// `GITHUB_PATH` has to the PATH.
fn step_of_the_action(job: &Job, name: &str, inputs: &[(&str, &str)]) -> Output {
    let text = fs::read_to_string(integrations().join("github-action/action.yml")).unwrap();
    let action: Value = serde_yaml_ng::from_str(&text).unwrap();
    let steps = action["runs"]["steps"].as_sequence().unwrap();
    let step = steps.iter().find(|step| step["name"] == name).unwrap();
    assert_eq!(step["shell"], "bash");
    let script = job.file("step.sh");
    fs::write(&script, step["run"].as_str().unwrap()).unwrap();
    let mut command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-e", "-o", "pipefail"]).arg(script);
    let mut command = job.environment(command);
    let added = job.text("path");
    let path = format!("{}:{}:{}", added.trim(), job.jdk.home().join("bin").display(), "/usr/bin:/bin");
    command.env("PATH", path.trim_start_matches(':'));
    for (variable, expression) in step["env"].as_mapping().unwrap() {
        let expression = expression.as_str().unwrap();
        let value = match expression.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}")) {
            Some(input) => {
                let given = inputs.iter().find(|(name, _)| *name == input).map(|(_, value)| *value);
                given.unwrap_or_else(|| action["inputs"][input]["default"].as_str().unwrap())
            }
            None => "3f2a1c",
        };
        command.env(variable.as_str().unwrap(), value);
    }
    command.env("GITHUB_ACTION_PATH", integrations().join("github-action"));
    command.env("RUNNER_TEMP", job.file("temporary"));
    for (variable, file) in [("PATH", "path"), ("OUTPUT", "output"), ("STEP_SUMMARY", "summary")] {
        command.env(format!("GITHUB_{variable}"), job.file(file));
    }
    fs::create_dir_all(job.file("temporary")).unwrap();
    let _ = fs::remove_file(job.file("output"));
    command.output().unwrap()
}

fn the_action_installs_the_command_and_is_a_gate(jdk: &'static Jdk) {
    let job = Job::new(jdk, "github-action");
    let install = |inputs: &[(&str, &str)]| step_of_the_action(&job, "Install cctrewrite", inputs);
    let other = "0".repeat(64);
    for (inputs, what) in [
        (&[][..], "cctrewrite is not on the PATH"),
        (&[("archive", "release.tar.gz")], "the input sha256 must be the SHA-256"),
        (&[("archive", "release.tar.gz"), ("sha256", &other)], "is expected; nothing was installed"),
        (&[("archive", "none.tar.gz"), ("sha256", &other)], "cannot read none.tar.gz"),
        (&[("archive", "http://localhost/x"), ("sha256", &other)], "only https addresses and paths"),
    ] {
        let output = install(inputs);
        assert_eq!(output.status.code(), Some(2), "{inputs:?}: {}", said(&output));
        let said = said(&output);
        assert!(said.contains("::error title=cctrewrite bench::") && said.contains(what), "{said}");
        let unpacked = fs::read_dir(job.file("temporary/cctrewrite/unpacked"));
        assert!(!job.file("path").exists() && unpacked.map_or(0, Iterator::count) == 0, "{inputs:?}");
    }
    let installed = install(&[("archive", "release.tar.gz"), ("sha256", &job.sha256)]);
    assert!(installed.status.success(), "{}", said(&installed));
    assert!(job.text("path").ends_with("cctrewrite-0.1.0-x86_64-linux/bin\n"), "{}", job.text("path"));

    let bench = |inputs: &[(&str, &str)]| {
        let output = step_of_the_action(&job, "Run cctrewrite bench", inputs);
        (output.status.code(), said(&output))
    };
    let (before, after) = (classes("before"), classes("after"));
    let (code, text) = bench(&[("class-path", &before)]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("::notice title=cctrewrite bench::2 entries: none grew"), "{text}");
    assert!(job.text("output").contains("verdict=passed\n"), "{}", job.text("output"));
    assert!(
        job.text("summary").starts_with("**cctrewrite bench passed.** 2 entries"),
        "{}",
        job.text("summary")
    );
    assert_eq!(job.text("cctrewrite-history.jsonl").lines().count(), 2);

    let (code, text) = bench(&[("class-path", &after)]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("::error file=Work.java,line=10,title=cctrewrite bench::Work.loop grew"), "{text}");
    assert!(job.text("output").contains("verdict=failed\n"), "{}", job.text("output"));
    assert!(job.text("summary").contains("| ▁█ +200 (+21.98 %) in 2 runs |"), "{}", job.text("summary"));
    let history = job.text("cctrewrite-history.jsonl");
    assert_eq!((history.lines().count(), history.matches("\"revision\":\"3f2a1c\"").count()), (4, 4));
    assert!(job.text("output").contains("page=cctrewrite-history.html\n"), "{}", job.text("output"));
    assert!(job.text("cctrewrite-history.html").contains("regression: exceeds the limit"));

    // Lines of the inputs are words, whatever is in them.
    let entries = "Work.loop\n\nWork.take(\"$(touch injected) `touch injected` * '\")\n";
    let (code, text) = bench(&[
        ("class-path", &after),
        ("entries", entries),
        ("options", "--fail-above=22%\n--runs=1"),
        ("history", ""),
    ]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("is not in the baseline") && !text.contains("Work.loop grew"), "{text}");
    assert!(!job.file("injected").exists());

    let (code, text) = bench(&[("class-path", "nowhere")]);
    assert_eq!(code, Some(2), "{text}");
    assert!(job.text("output").contains("verdict=error\n"), "{}", job.text("output"));
    assert!(job.text("summary").contains("could not judge anything"), "{}", job.text("summary"));
    assert_eq!(job.text("cctrewrite-history.jsonl"), history);
}

/// The script of the template, as a runner of GitLab runs it: by a POSIX shell that stops at the
/// first failure.
fn script_of_the_template(job: &Job, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let text = fs::read_to_string(integrations().join("gitlab/cctrewrite.yml")).unwrap();
    let template: Value = serde_yaml_ng::from_str(&text).unwrap();
    let template = &template[".cctrewrite-bench"];
    let lines = template["script"].as_sequence().unwrap().iter().map(|line| line.as_str().unwrap());
    let script = job.file("script.sh");
    fs::write(&script, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let mut command = Command::new("sh");
    command.arg("-e").arg(script);
    let mut command = job.environment(command);
    command.env("CI_COMMIT_SHA", "3f2a1c");
    for (name, value) in template["variables"].as_mapping().unwrap() {
        command.env(name.as_str().unwrap(), value.as_str().unwrap());
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    (output.status.code(), said(&output))
}

fn the_template_installs_the_command_and_is_a_gate(jdk: &'static Jdk) {
    let job = Job::new(jdk, "gitlab-template");
    let run = |version: &str, sha256: &str, also: &[(&str, &str)]| {
        let class_path = classes(version);
        let given = [
            ("CCTREWRITE_ARCHIVE", "release.tar.gz"),
            ("CCTREWRITE_SHA256", sha256),
            ("CCTREWRITE_CLASS_PATH", &class_path),
        ];
        script_of_the_template(&job, &[&given, also].concat())
    };
    let (code, text) = run("before", &"0".repeat(64), &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("nothing was installed") && !job.file("cctrewrite-junit.xml").exists(), "{text}");

    let (code, text) = run("before", &job.sha256, &[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.starts_with("**cctrewrite bench passed.** 2 entries"), "{text}");
    let (code, text) = run("after", &job.sha256, &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("| ▁█ +200 (+21.98 %) in 2 runs |"), "{text}");
    let junit = job.text("cctrewrite-junit.xml");
    assert!(junit.contains("failures=\"1\"") && junit.contains("Work.loop grew from 910"), "{junit}");
    assert!(job.text("cctrewrite-history.html").contains("regression: exceeds the limit"));
    assert_eq!(job.text("cctrewrite-history.jsonl").lines().count(), 4);

    let also = [
        ("CCTREWRITE_ENTRIES", "Work.take(\"$(touch injected) * '\")\nWork.loop"),
        ("CCTREWRITE_OPTIONS", "--fail-above=22%\n--runs=1"),
    ];
    let (code, text) = run("after", &job.sha256, &also);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("1 not in the baseline") && !text.contains("exceeds"), "{text}");
    assert!(!job.file("injected").exists());
    assert_eq!(run("nowhere", &job.sha256, &[]).0, Some(2));
    assert!(!job.file("cctrewrite-junit.xml").exists());
}

jdks!(github, the_action_installs_the_command_and_is_a_gate, [17]);
jdks!(gitlab, the_template_installs_the_command_and_is_a_gate, [17]);
