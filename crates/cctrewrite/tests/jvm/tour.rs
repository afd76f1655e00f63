//! The tour (docs/get-started/tour.md) and the page on one's own code (docs/use/my-code.md): their
//! commands run in order and print the output on the page.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Jdk, assert_same_lines, fixture, folder, jdks, scratch};

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name)
}

/// Prefix of a command; its output is below it.
const PROMPT: &str = "    $ ";

/// Runs all commands of a page; returns the page with their outputs.
fn replayed(text: &str, mut run: impl FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(command) = line.strip_prefix(PROMPT) else { continue };
        // The output on the page. A blank line within it ends it only before a line with less
        // indentation.
        let mut ends = "";
        while let Some(next) = lines.peek() {
            let is_output = next.starts_with("    ") && !next.starts_with(PROMPT);
            if !is_output && !next.is_empty() {
                break;
            }
            ends = if next.is_empty() { "\n" } else { "" };
            lines.next();
        }
        for printed in run(command).trim_end().lines() {
            out.push_str(format!("    {printed}").trim_end());
            out.push('\n');
        }
        out.push_str(ends);
    }
    out
}

/// The part that is equal on every machine: all words, and the numbers of the method that can be
/// counted by hand. Other numbers depend on the release of the class library, and on the names of
/// folders.
fn the_same_everywhere(text: &str) -> Vec<String> {
    let line = |line: &str| {
        let is_exact = line.contains("Sample$Words.insert(");
        let is_kept = |word: &&str| {
            let is_number = word.contains(|c: char| c.is_ascii_digit());
            !is_number || is_exact && !word.contains('.') || word.contains("insert")
        };
        line.split_whitespace().filter(is_kept).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(line).collect()
}

fn prints_what_stands_there(jdk: &'static Jdk) {
    holds(jdk, "get-started/tour.md", "Sample.java");
}

fn the_view_of_my_code(jdk: &'static Jdk) {
    holds(jdk, "use/my-code.md", "Cache.java");
}

/// Runs the commands of a page on a program of the quickstart.
fn holds(jdk: &'static Jdk, page_name: &str, program: &str) {
    let here = folder(&format!("tour-{program}"));
    fs::copy(fixture("quickstart").join(program), here.join(program)).unwrap();
    let bin = PathBuf::from(env!("CARGO_BIN_EXE_cctrewrite"));
    let mut path = std::ffi::OsString::from(bin.parent().unwrap());
    for next in [jdk.path("bin").as_os_str(), std::env::var_os("PATH").unwrap_or_default().as_os_str()] {
        path.push(":");
        path.push(next);
    }
    let run = |command: &str| {
        let mut shell = Command::new("bash");
        shell.current_dir(&here).env("PATH", &path).env("JAVA_HOME", jdk.home());
        for variable in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "COLUMNS"] {
            shell.env_remove(variable);
        }
        shell.env("CCTREWRITE_CACHE", scratch().join("cache-of-runs"));
        let output = shell.args(["-c", &format!("{{ {command}\n}} 2>&1")]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // The messages of a JDK's first use appear here.
    run(
        "cctrewrite run -q -o first.cct -- java -version; cctrewrite run -q --reproducible -o first.cct -- java -version",
    );
    let text = fs::read_to_string(page(page_name)).unwrap();
    let now = replayed(&text, run);
    if std::env::var_os("BLESS").is_some() {
        return fs::write(page(page_name), now).unwrap();
    }
    assert_same_lines(
        &the_same_everywhere(&text),
        &the_same_everywhere(&now),
        "the page and what its commands print",
    );
}

jdks!(the_commands, prints_what_stands_there, [17]);
jdks!(my_code, the_view_of_my_code, [17]);
