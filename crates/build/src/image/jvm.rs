//! JVMs of an image in the making: to see that it starts, and to have it make its archive of classes.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Variables by which options and class paths come into a JVM from outside.
pub const FROM_OUTSIDE: &[&str] = &["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH"];

/// Runs the image's `java`, which records nothing. Fails with what it said.
pub fn run(image: &Path, java_home: &Path, arguments: &[&str]) -> Result<()> {
    let java = image.join(java_home).join("bin").join(format!("java{}", std::env::consts::EXE_SUFFIX));
    let mut command = Command::new(&java);
    for variable in FROM_OUTSIDE {
        command.env_remove(variable);
    }
    // Its folder may be removed while the JVM runs: no `.hotspotrc`, core or log is to be found or left elsewhere.
    command.current_dir(image).arg("-Dcctrewrite.record=off").args(arguments);
    let output = command.output().with_context(|| format!("cannot start {}", java.display()))?;
    if !output.status.success() {
        let text = [&*output.stderr, &*output.stdout].concat();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(5).collect();
        bail!("the image's `java {}` fails ({}): {}", arguments.join(" "), output.status, lines.join("; "));
    }
    Ok(())
}
