//! Instructions that the command executes for a fixed input, by valgrind: they do not depend on the
//! machine's load. More than [`TOLERANCE`] above the number in `instructions.txt` fails.

use std::path::Path;
use std::process::Command;

use crate::support::scratch;

/// In percent.
const TOLERANCE: u64 = 3;

/// Rewrites 271 classes. A change that makes it cheaper, or dearer for a reason, renews the number:
/// `BLESS=1 CARGO_INCREMENTAL=0 cargo test -p cctrewrite --test cli instructions`.
#[test]
fn rewriting_takes_no_more_instructions_than_before() {
    if std::env::var("CARGO_INCREMENTAL").as_deref() != Ok("0") {
        eprintln!("skipped: with incremental compilation (no CARGO_INCREMENTAL=0) the code is another");
        return;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("skipped: valgrind is not installed");
        return;
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/instructions.txt");
    let classes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/semantics/classes");
    let compiler = compiler();
    let is_blessed = std::env::var_os("BLESS").is_some();
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    if !is_blessed && !known.starts_with(&compiler) {
        eprintln!("skipped: the number is of another compiler than {compiler}");
        return;
    }
    let counted = instructions_of(&classes);
    if is_blessed {
        std::fs::write(&file, format!("{compiler}\n{counted}\n")).unwrap();
        return;
    }
    let expected: u64 = known.lines().nth(1).and_then(|number| number.parse().ok()).unwrap();
    eprintln!("{counted} instructions, expected {expected}");
    assert!(
        counted <= expected + expected * TOLERANCE / 100,
        "rewriting takes {counted} instructions, and took {expected}: more than {TOLERANCE}% above"
    );
}

/// The compiler that compiled the command.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn instructions_of(classes: &Path) -> u64 {
    let folder = scratch();
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_cctrewrite"))
        .args(["instrument", "--quiet", "--threads", "1"])
        .arg(classes)
        .arg("-o")
        .arg(folder.path().join("out"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let collected = said.split("Collected :").nth(1).and_then(|rest| rest.lines().next());
    collected.and_then(|number| number.trim().parse().ok()).unwrap_or_else(|| panic!("no count in {said}"))
}
