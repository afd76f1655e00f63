//! The sources compiled by a `javac`.
//!
//! First the stubs (`stubs/`: `java.lang.Thread` with our field, `sun.misc.Unsafe`, HotSpot's
//! annotations), then the sources (`java/`) with the stubs in front of the class library.
//! `--release 8` cannot do this: it hides what the stubs stand for. What programs use (`api/`)
//! stands alone, and so does what modules of users are (`udi/`), and, but for HotSpot's
//! annotations, what classes with markers call (`markers/`); the harness of `cctrewrite bench`
//! (`harness/`) uses the first.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Error, Result, at, files_below};

/// Compiles all sources of `jdk_wrap` below the folder `scratch`, which must be empty. Returns the
/// folder with a folder for each of [`crate::GROUPS`].
///
/// # Errors
/// If the compiler does not start or refuses a source, or a file cannot be written.
pub fn compile(javac: &Path, jdk_wrap: &Path, scratch: &Path) -> Result<PathBuf> {
    let sources = |name: &str| jdk_wrap.join(name);
    let classes = scratch.join("classes");
    let scratched =
        ["stubs", "annotations", "markers-gate", "markers-library", "markers-tree-gate", "markers-tree"];
    let [stubs, annotations, gate, merged, tree_gate, of_tree] = scratched.map(|name| scratch.join(name));
    let [api, harness, markers, library, tree, runtime, udi] = crate::GROUPS.map(|name| classes.join(name));

    javac_makes(javac, &sources("stubs"), &stubs, &[])?;
    for package in ["java/lang/invoke", "jdk/internal/vm/annotation"] {
        copy(&stubs.join(package), &annotations.join(package))?;
    }
    javac_makes(javac, &sources("java"), &runtime, &[&stubs])?;
    javac_makes(javac, &sources("api"), &api, &[])?;
    javac_makes(javac, &sources("harness"), &harness, &[&api])?;
    javac_makes(javac, &sources("udi"), &udi, &[])?;
    javac_makes(javac, &sources("markers"), &markers, &[&annotations])?;
    // In a class library some of it is different, and stands in place of the same files of the
    // others; and classes come in by a class of `java.lang`.
    copy(&sources("markers"), &merged)?;
    copy(&sources("markers-library"), &merged)?;
    javac_makes(javac, &sources("markers-gate"), &gate, &[&stubs, &markers])?;
    javac_makes(javac, &merged, &library, &[&gate, &annotations])?;
    copy(&gate.join("java/lang"), &library.join("java/lang"))?;
    // Beside a calling-context tree other things are different; a thread's marker stack is where it
    // is in a class library.
    copy(&sources("markers"), &of_tree)?;
    let stacks = "cctrewrite/markers/Stacks.java";
    at(&of_tree, fs::copy(sources("markers-library").join(stacks), of_tree.join(stacks)))?;
    copy(&sources("markers-tree"), &of_tree)?;
    javac_makes(javac, &sources("markers-tree-gate"), &tree_gate, &[&stubs, &markers, &runtime])?;
    javac_makes(javac, &of_tree, &tree, &[&tree_gate, &runtime, &annotations])?;
    copy(&tree_gate.join("java/lang"), &tree.join("java/lang"))?;
    Ok(classes)
}

/// What the compiler says it is: `javac 1.8.0_504`.
///
/// # Errors
/// If it does not start.
pub fn version(javac: &Path) -> Result<String> {
    let mut command = quiet(javac);
    let output = command.arg("-version").output().map_err(|source| no_compiler(javac, source))?;
    // Up to JDK 8 on standard error.
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    Ok(said.lines().find(|line| line.starts_with("javac ")).unwrap_or("an unknown javac").trim().to_owned())
}

/// The compiler, without options from outside: they could change the class files.
fn quiet(javac: &Path) -> Command {
    let mut command = Command::new(javac);
    for variable in
        ["JDK_JAVAC_OPTIONS", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"]
    {
        command.env_remove(variable);
    }
    command
}

fn no_compiler(javac: &Path, source: std::io::Error) -> Error {
    Error::NoCompiler { javac: javac.to_owned(), source }
}

fn javac_makes(javac: &Path, sources: &Path, classes: &Path, boot: &[&Path]) -> Result<()> {
    at(classes, fs::create_dir_all(classes))?;
    let mut command = quiet(javac);
    command.args(["-source", "8", "-target", "8", "-encoding", "UTF-8", "-g:source,lines"]);
    command.args(["-Xlint:-options", "-XDignore.symbol.file", "-proc:none", "-implicit:none", "-nowarn"]);
    if !boot.is_empty() {
        let mut option = OsString::from("-Xbootclasspath/p:");
        // A folder whose name has a separator of paths in it cannot be named to the compiler.
        option.push(at(classes, env::join_paths(boot).map_err(std::io::Error::other))?);
        command.arg(option);
    }
    // Without a class path of its own it would look into the working folder.
    command.arg("-cp").arg(classes).arg("-d").arg(classes).args(files_below(sources)?);
    let output = command.output().map_err(|source| no_compiler(javac, source))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Refused { javac: javac.to_owned(), sources: sources.to_owned(), messages });
    }
    Ok(())
}

/// Copies all files below a folder, over those that are there.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let target = to.join(file.strip_prefix(from).unwrap_or(&file));
        let folder = target.parent().unwrap_or(to);
        at(folder, fs::create_dir_all(folder))?;
        at(&target, fs::copy(&file, &target))?;
    }
    Ok(())
}
