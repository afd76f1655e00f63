//! Compilation of the sources with a `javac`.
//!
//! The stubs are compiled first (`stubs/`: `java.lang.Thread` with the added field,
//! `sun.misc.Unsafe`, HotSpot's annotations), then the sources (`java/`) with the stubs before the
//! class library. `--release 8` cannot do this: it hides the classes that the stubs replace. Three
//! groups need nothing else: the programs' API (`api/`), the users' modules (`udi/`), and the code
//! that classes with markers call (`markers/`), which only uses HotSpot's annotations. The harness
//! of `cctrewrite bench` (`harness/`) uses the API.

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
/// Fails if the compiler does not start or rejects a source, or if a file cannot be written.
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
    // In a class library some of these files differ, and replace those of the same name; and
    // classes reach them through a class of `java.lang`.
    copy(&sources("markers"), &merged)?;
    copy(&sources("markers-library"), &merged)?;
    javac_makes(javac, &sources("markers-gate"), &gate, &[&stubs, &markers])?;
    javac_makes(javac, &merged, &library, &[&gate, &annotations])?;
    copy(&gate.join("java/lang"), &library.join("java/lang"))?;
    // With a calling-context tree other files differ; a thread's marker stack is in the same place
    // as in a class library.
    copy(&sources("markers"), &of_tree)?;
    let stacks = "cctrewrite/markers/Stacks.java";
    at(&of_tree, fs::copy(sources("markers-library").join(stacks), of_tree.join(stacks)))?;
    copy(&sources("markers-tree"), &of_tree)?;
    javac_makes(javac, &sources("markers-tree-gate"), &tree_gate, &[&stubs, &markers, &runtime])?;
    javac_makes(javac, &of_tree, &tree, &[&tree_gate, &runtime, &annotations])?;
    copy(&tree_gate.join("java/lang"), &tree.join("java/lang"))?;
    Ok(classes)
}

/// The version that the compiler reports: `javac 1.8.0_504`.
///
/// # Errors
/// Fails if it does not start.
pub fn version(javac: &Path) -> Result<String> {
    let mut command = quiet(javac);
    let output = command.arg("-version").output().map_err(|source| no_compiler(javac, source))?;
    // JDK 8 and earlier write it to standard error.
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    Ok(said.lines().find(|line| line.starts_with("javac ")).unwrap_or("an unknown javac").trim().to_owned())
}

/// The compiler, without options from the environment: they could change the class files.
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
    // It ends long before code of the optimizing compiler pays.
    command.args(["-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"]);
    command.args(["-source", "8", "-target", "8", "-encoding", "UTF-8", "-g:source,lines"]);
    command.args(["-Xlint:-options", "-XDignore.symbol.file", "-proc:none", "-implicit:none", "-nowarn"]);
    if !boot.is_empty() {
        let mut option = OsString::from("-Xbootclasspath/p:");
        // The compiler cannot take a folder whose name contains a path separator.
        option.push(at(classes, env::join_paths(boot).map_err(std::io::Error::other))?);
        command.arg(option);
    }
    // Without a class path of its own it would search the working folder.
    command.arg("-cp").arg(classes).arg("-d").arg(classes).args(files_below(sources)?);
    let output = command.output().map_err(|source| no_compiler(javac, source))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(Error::Refused { javac: javac.to_owned(), sources: sources.to_owned(), messages });
    }
    Ok(())
}

/// Copies all files below a folder, overwriting existing ones.
fn copy(from: &Path, to: &Path) -> Result<()> {
    for file in files_below(from)? {
        let target = to.join(file.strip_prefix(from).unwrap_or(&file));
        let folder = target.parent().unwrap_or(to);
        at(folder, fs::create_dir_all(folder))?;
        at(&target, fs::copy(&file, &target))?;
    }
    Ok(())
}
