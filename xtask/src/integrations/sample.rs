//! `integrations/sample`: a regression that the project can switch on must fail its build, by a
//! budget of JUnit and by the Maven plugin's `check`.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use xtask_tools::workspace::{root, target_folder};

use super::maven::Maven;

/// What fails the tests.
const OF_JUNIT: [&str; 2] = [
    "WordsTest.splitsASentence executed 11,639 bytecodes of com.acme.**, 9,439 more than its budget of 2,200.",
    "10,779 bytecodes           44 calls  com.acme.text.Words.isLetter(C)Z",
];

/// What fails the check of benchmarks. How much it is depends on the JDK.
const OF_CHECK: [&str; 3] = [
    "[ERROR] Failed to execute goal dev.cctrewrite:cctrewrite-maven-plugin:",
    "FAILED: com.acme.app.Benchmarks.frequencies grew from ",
    "com.acme.text.Words.isLetter(C)Z most, +",
];

/// Goes through the sample as docs/ci/maven.md does.
///
/// # Errors
/// Fails if a build succeeds that must fail, or fails without the reason.
pub(super) fn test(maven: &Maven<'_>) -> Result<()> {
    let folder = target_folder().join("integrations");
    let sample = folder.join("sample");
    if sample.exists() {
        fs::remove_dir_all(&sample).with_context(|| format!("cannot remove {}", sample.display()))?;
    }
    copy(&root().join("integrations/sample"), &sample)?;
    // A local repository of its own, so that the user's gets no snapshots. It takes what that has.
    let repository = format!("-Dmaven.repo.local={}", folder.join("repository").display());
    let settings = root().join("integrations/sample-settings.xml");
    let settings = settings.to_str().context("a path that is not Unicode")?;
    let command = maven.property();
    let build = |folder: &Path, goals: &[&str]| {
        let all = [&["--global-settings", settings, &repository, &command], goals].concat();
        maven.plain(folder, &all)
    };
    // Without the property of the command: only then are projects in src/it left out.
    let install = ["--global-settings", settings, &repository, "install", "-DskipTests"];
    maven.succeed(&mut maven.plain(&root().join("integrations"), &install))?;

    let nothing_stored = maven.fail(&mut build(&sample, &["verify"]))?;
    expect(&nothing_stored, &["there are no stored counts", "cctrewrite:bench -Dcctrewrite.update=true"])?;
    let stored = maven.succeed(&mut build(&sample, &["verify", "-Dcctrewrite.update=true"]))?;
    expect(&stored, &["1 entry stored in "])?;
    let unchanged = maven.succeed(&mut build(&sample, &["verify"]))?;
    expect(&unchanged, &["1 entry: none grew by more than 0 %"])?;
    expect(&maven.fail(&mut build(&sample, &["clean", "verify", "-Pregression"]))?, &OF_JUNIT)?;
    let checked = &mut build(&sample, &["clean", "verify", "-Pregression", "-DskipTests"]);
    expect(&maven.fail(checked)?, &OF_CHECK)
}

fn expect(printed: &str, texts: &[&str]) -> Result<()> {
    for text in texts {
        ensure!(printed.contains(text), "not in the output of Maven: \"{text}\"\n{printed}");
    }
    Ok(())
}

/// Copies a folder, without what builds have left there.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            if entry.file_name() != "target" {
                copy(&source, &target)?;
            }
        } else {
            fs::copy(&source, &target).with_context(|| format!("cannot copy {}", source.display()))?;
        }
    }
    Ok(())
}
