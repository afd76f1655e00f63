//! The trial run: `cctrewrite run` profiles a tiny program whose counts are known.

use std::env;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use cct_build::temporary_folder::{Kind, TemporaryFolder};
use cct_build::text::{counted, readable_lines};
use cct_profile::{Exactness, Metric, Profile};

/// `Trial.java`, compiled.
const CLASS: &[u8] = include_bytes!("Trial.class");

/// What the program prints.
const OUTPUT: &[u8] = b"55\n";

/// Calls and bytecodes of `Trial.fibonacci`; `Trial.java` derives them by hand.
const COUNTS: (u64, u64) = (177, 1589);

/// Profiles the program on the JDK of this home as a user would. Returns the counts in words.
///
/// # Errors
/// Fails if the command fails, the program prints something else, or the counts are wrong or not
/// exact.
pub fn run(home: &Path) -> Result<String> {
    let parent = env::temp_dir();
    let folder = TemporaryFolder::make(&parent, Kind::Doctor)
        .with_context(|| format!("cannot make a folder in {}", parent.display()))?;
    let class = folder.path().join("Trial.class");
    cct_private::write(&class, CLASS).with_context(|| format!("cannot write {}", class.display()))?;
    let profile = folder.path().join("trial.cct");
    let mut command = Command::new(env::current_exe().context("cannot find this command's own file")?);
    // This folder has no configuration file of the user's.
    command.current_dir(folder.path()).stdin(Stdio::null());
    command.arg("run").arg("--jdk").arg(home).arg("-o").arg(&profile);
    command.args(["--", "java", "-cp"]).arg(folder.path()).arg("Trial");
    let output = command.output().context("cannot start `cctrewrite run`")?;
    let said = readable_lines(&output.stderr);
    if !output.status.success() {
        bail!("`cctrewrite run` failed ({}): {said}", output.status);
    }
    if output.stdout != OUTPUT {
        bail!("the program printed {:?} instead of 55", readable_lines(&output.stdout));
    }
    let file = File::open(&profile).with_context(|| format!("`cctrewrite run` wrote no profile: {said}"))?;
    check(&Profile::read_from(file)?)
}

/// Checks the counts of `Trial.fibonacci`, and that all counts are exact.
fn check(profile: &Profile) -> Result<String> {
    let (calls, bytecodes) = counts(profile);
    ensure!(
        (calls, bytecodes) == COUNTS,
        "Trial.fibonacci has {}, {} instead of {}, {}",
        counted(calls, "call"),
        counted(bytecodes, "bytecode"),
        counted(COUNTS.0, "call"),
        counted(COUNTS.1, "bytecode"),
    );
    let damaged = !profile.damage.is_empty();
    match Exactness::of(&profile.meta, &profile.notes, damaged, Metric::Bytecodes) {
        None => bail!("the profile does not say whether it is exact"),
        Some(exactness @ Exactness::No(_)) => bail!("the counts are not exact: {exactness}"),
        Some(exactness) => {
            let [calls, bytecodes] = [counted(calls, "call"), counted(bytecodes, "bytecode")];
            Ok(format!("{calls}, {bytecodes} as expected; exact: {exactness}"))
        }
    }
}

/// Calls and bytecodes of `Trial.fibonacci` in all contexts.
fn counts(profile: &Profile) -> (u64, u64) {
    let is_it = |method: u32| {
        let method = profile.methods.get(method as usize);
        method.is_some_and(|method| (&*method.class, &*method.name) == ("Trial", "fibonacci"))
    };
    let nodes = profile.threads.iter().flat_map(|thread| thread.tree.nodes().iter().skip(1));
    nodes
        .filter(|node| is_it(node.method))
        .fold((0, 0), |(calls, bytecodes), node| (calls + node.calls, bytecodes + node.bytecodes))
}
