//! Compiles what the inserted code calls, against `cctrewrite.udi.runtime.Bypass`, with the
//! machine's `javac`.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let source = root.join("runtime/cctrewrite/udi/runtime/Monitors.java");
    // Cargo reads build scripts' directives from their standard output.
    #[allow(clippy::print_stdout)]
    {
        println!("cargo::rerun-if-env-changed=JAVA_HOME");
        println!("cargo::rerun-if-changed={}", source.display());
    }
    for (name, bytes) in jdk_wrap::bypass() {
        let file = out.join("api").join(format!("{name}.class"));
        fs::create_dir_all(file.parent().ok_or("a class without a folder")?)?;
        fs::write(file, bytes)?;
    }
    let name = format!("javac{}", env::consts::EXE_SUFFIX);
    let javac = env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin").join(&name));
    let javac = javac.filter(|javac| javac.is_file()).unwrap_or_else(|| name.into());
    let mut command = Command::new(&javac);
    command.env_remove("JDK_JAVAC_OPTIONS").env_remove("JAVA_TOOL_OPTIONS");
    command.args(["-source", "8", "-target", "8", "-Xlint:-options", "-proc:none", "-nowarn", "-cp"]);
    let status = command.arg(out.join("api")).arg("-d").arg(&out).arg(&source).status();
    match status.map_err(|e| format!("{} cannot be started: {e}; set JAVA_HOME to a JDK", javac.display()))? {
        status if status.success() => Ok(()),
        status => Err(format!("{} cannot compile {}: {status}", javac.display(), source.display()).into()),
    }
}
