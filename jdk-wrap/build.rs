//! Compiles the Java sources of the runtime with the machine's `javac` and lists the classes for `lib.rs` to embed.
//!
//! Two runs: first the stubs (`stubs/`: `java.lang.Thread` with our field, `sun.misc.Unsafe`, HotSpot's annotations), then the sources
//! (`java/`) with the stubs in front of the class library. `--release 8` cannot do this: it hides what the stubs stand for. What programs use
//! (`api/`) stands alone, and so does what modules of users are (`udi/`); the harness of `cctrewrite bench` (`harness/`) uses the former.
//! What classes with markers call (`markers/`) stands alone, too.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result<()> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    tell_cargo("rerun-if-env-changed=JAVA_HOME");
    tell_cargo("rerun-if-changed=java");
    tell_cargo("rerun-if-changed=stubs");
    tell_cargo("rerun-if-changed=api");
    tell_cargo("rerun-if-changed=harness");
    tell_cargo("rerun-if-changed=udi");
    tell_cargo("rerun-if-changed=markers");
    tell_cargo("rerun-if-changed=markers-library");
    tell_cargo("rerun-if-changed=markers-gate");

    let javac = find_javac()?;
    fs::write(out.join("compiler.txt"), version(&javac)?)?;
    let stubs = fresh_folder(&out.join("stubs"))?;
    let classes = fresh_folder(&out.join("classes"))?;
    compile(&javac, &root.join("stubs"), &stubs, &[])?;
    compile(&javac, &root.join("java"), &classes, &[&stubs])?;
    fs::write(out.join("classes.rs"), table(&classes)?)?;
    let api = fresh_folder(&out.join("api"))?;
    compile(&javac, &root.join("api"), &api, &[])?;
    fs::write(out.join("api.rs"), table(&api)?)?;
    let harness = fresh_folder(&out.join("harness"))?;
    compile(&javac, &root.join("harness"), &harness, &[&api])?;
    fs::write(out.join("harness.rs"), table(&harness)?)?;
    let udi = fresh_folder(&out.join("udi"))?;
    compile(&javac, &root.join("udi"), &udi, &[])?;
    fs::write(out.join("udi.rs"), table(&udi)?)?;
    let markers = fresh_folder(&out.join("markers"))?;
    compile(&javac, &root.join("markers"), &markers, &[])?;
    fs::write(out.join("markers.rs"), table(&markers)?)?;
    // In a class library some of it is different, and stands in place of the same files of the others; and classes come in by a class of `java.lang`.
    let sources = fresh_folder(&out.join("markers-library-sources"))?;
    for folder in ["markers", "markers-library"] {
        let folder = root.join(folder);
        for file in files_below(&folder)? {
            let target = sources.join(file.strip_prefix(&folder)?);
            fs::create_dir_all(target.parent().ok_or("a source without a folder")?)?;
            fs::copy(&file, target)?;
        }
    }
    let gate = fresh_folder(&out.join("markers-gate"))?;
    compile(&javac, &root.join("markers-gate"), &gate, &[&stubs, &markers])?;
    let library = fresh_folder(&out.join("markers-library"))?;
    compile(&javac, &sources, &library, &[&gate])?;
    fs::create_dir_all(library.join("java/lang"))?;
    fs::copy(gate.join("java/lang/CctMarkers.class"), library.join("java/lang/CctMarkers.class"))?;
    fs::write(out.join("markers-library.rs"), table(&library)?)?;
    Ok(())
}

/// Cargo reads build scripts' directives from their standard output.
#[allow(clippy::print_stdout)]
fn tell_cargo(directive: &str) {
    println!("cargo::{directive}");
}

/// `javac` of `JAVA_HOME`, else the first on the `PATH`.
fn find_javac() -> Result<PathBuf> {
    let name = format!("javac{}", env::consts::EXE_SUFFIX);
    let home = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = env::var_os("PATH").unwrap_or_default();
    home.into_iter()
        .chain(env::split_paths(&path))
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
        .ok_or_else(|| {
            "no javac found: the runtime inside the JVM is compiled from Java sources. \
             Install a JDK (8 or newer) and set JAVA_HOME to it, or put its bin folder on the PATH."
                .into()
        })
}

/// What the compiler says it is: `javac 17.0.15`. Compilers of different releases make different class files of the same sources.
fn version(javac: &Path) -> Result<String> {
    let mut command = Command::new(javac);
    command.env_remove("JDK_JAVAC_OPTIONS").env_remove("JAVA_TOOL_OPTIONS").arg("-version");
    let output = command.output().map_err(|e| format!("{} cannot be started: {e}", javac.display()))?;
    // Up to JDK 8 on standard error.
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    Ok(said.lines().find(|line| line.starts_with("javac ")).unwrap_or("an unknown javac").trim().to_owned())
}

fn fresh_folder(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(folder.to_path_buf())
}

fn compile(javac: &Path, sources: &Path, classes: &Path, boot: &[&Path]) -> Result<()> {
    let mut command = Command::new(javac);
    // Options from outside could change the class files.
    command.env_remove("JDK_JAVAC_OPTIONS").env_remove("JAVA_TOOL_OPTIONS");
    command.args(["-source", "8", "-target", "8", "-encoding", "UTF-8", "-g:source,lines"]);
    command.args(["-Xlint:-options", "-XDignore.symbol.file", "-proc:none", "-implicit:none", "-nowarn"]);
    if !boot.is_empty() {
        let mut option = OsString::from("-Xbootclasspath/p:");
        option.push(env::join_paths(boot)?);
        command.arg(option);
    }
    command.arg("-d").arg(classes).args(files_below(sources)?);
    let output = command
        .output()
        .map_err(|e| format!("{} cannot be started: {e}. Set JAVA_HOME to a JDK.", javac.display()))?;
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!(
            "{} cannot compile {}: a JDK from 8 on whose javac still accepts `-source 8` is needed; choose one with \
             JAVA_HOME.\n{messages}",
            javac.display(),
            sources.display()
        )
        .into());
    }
    Ok(())
}

/// All files below a folder, in an order that does not depend on the file system.
fn files_below(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_below(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The elements of `lib.rs`'s slice, sorted by class name.
fn table(classes: &Path) -> Result<String> {
    let mut named = Vec::new();
    for file in files_below(classes)? {
        let relative = file.strip_prefix(classes)?.with_extension("");
        let parts: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        named.push((parts.join("/"), file));
    }
    named.sort();
    let mut text = String::from("&[\n");
    for (name, file) in named {
        let path = file.to_str().ok_or_else(|| format!("{}: a path that is not Unicode", file.display()))?;
        text.push_str(&format!("    ({name:?}, include_bytes!({path:?})),\n"));
    }
    text.push_str("]\n");
    Ok(text)
}
