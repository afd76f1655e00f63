//! The run's folder of `cctrewrite run` (docs/use/run.md): each JVM that records registers itself
//! there, and its profile goes there.
//!
//! The environment is read here and not in Java, where the program's first use of it initialises a
//! class.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cct_profile::collection::{Options, VARIABLE, enter};

/// The folder of the run that started this JVM.
#[derive(Debug)]
struct Collection {
    folder: PathBuf,
    options: Options,
}

/// Registers this JVM. Returns the path at which its profile is expected, or `None` if nobody waits
/// for it.
pub fn place() -> Option<String> {
    let arguments = fs::read("/proc/self/cmdline").unwrap_or_default();
    let profile = enter(&collection()?.folder, std::process::id(), &arguments).ok()?;
    profile.into_os_string().into_string().ok()
}

/// The value of an option for JVMs of the run; `None` if the run does not set it.
pub fn option(key: &str) -> Option<String> {
    collection()?.options.get(key).map(str::to_owned)
}

/// The folder and its options, read once. Options name classes that the JVM loads. So without a
/// folder that can be trusted, this JVM runs as if nobody waited for it.
fn collection() -> Option<&'static Collection> {
    static COLLECTION: OnceLock<Option<Collection>> = OnceLock::new();
    let open = || {
        let folder = std::env::var(VARIABLE).ok().filter(|folder| !folder.is_empty())?;
        let options = Options::read(Path::new(&folder)).inspect_err(|error| {
            // A JVM may outlive the run, or belong to another user.
            if !error.is_absence() {
                // The program may have closed the stream.
                let _ = writeln!(
                    io::stderr(),
                    "cctrewrite: {VARIABLE} is ignored: {error}; run the command again"
                );
            }
        });
        Some(Collection { folder: folder.into(), options: options.ok()? })
    };
    COLLECTION.get_or_init(open).as_ref()
}
