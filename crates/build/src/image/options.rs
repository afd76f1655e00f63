//! The JVM options that are built into an image, and how they are installed.

use std::fs;
use std::path::{Path, PathBuf};

use cct_image::record;
use cct_settings::{Intrinsics, Natives};

use crate::file_error::{FileError, Operation};
use crate::image::home::{Home, Layout};
use crate::image::request::ImageRequest;
use crate::jvm_options::exactness::{self, WITHOUT_SYSTEM_THREADS};
use crate::jvm_options::{reproducible, stack_traces};
use crate::load_time::{self, PrefixError, UnpackError};

/// Why JVM options cannot be installed in an image.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no agent for renamed natives.
    #[error(transparent)]
    Prefix(#[from] PrefixError),
    /// The JVM for JDK 8 cannot be unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// The JVM for JDK 8 is neither installed nor inside this command.
    #[error(
        "{0} is not beside this command, and without it a JDK 8 has no options built in; install both together"
    )]
    NoVm(String),
    /// The `jvm.cfg` of a JDK 8 does not name HotSpot's server VM.
    #[error(
        "{}: it does not name HotSpot's server VM (a line `-server KNOWN`); only that is supported",
        .0.display()
    )]
    NoServer(PathBuf),
    /// A file of the image cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The JVM options that are built into an image of `home`.
///
/// They keep counts exact and stack traces at their usual depth. With `--reproducible` they make
/// the counts of all runs equal. Options for speed change no count. Others pass choices of the
/// request to the JVM.
pub fn built_in(home: &Home, request: &ImageRequest) -> Vec<String> {
    let version = match home.layout {
        Layout::Jars { .. } => 8,
        Layout::Modules => home.release.feature().unwrap_or(9),
    };
    let bodies = request.choices.settings().intrinsics == Intrinsics::Bytecode;
    let mut options = stack_traces::spelled(request.stack_depth, version);
    options.extend(exactness::spelled(version, bodies));
    if request.choices.settings().reproducible {
        options.extend(reproducible::spelled(u16::try_from(version).unwrap_or(reproducible::NEWEST)));
    }
    if request.choices.settings().cost_model.is_some() {
        options.push(WITHOUT_SYSTEM_THREADS.to_owned());
    }
    options.extend(request.choices.filter_properties());
    if renames_natives(request) {
        options.push(load_time::prefix_option());
    }
    options.extend(for_markers());
    options
}

/// The JVM options that make marked programs faster. Markers enlarge methods, as probes do.
pub fn for_markers() -> Vec<String> {
    exactness::FAST.iter().map(|&option| option.to_owned()).collect()
}

/// Whether the image's JVM needs the agent for renamed natives (`--natives prefix`).
pub fn renames_natives(request: &ImageRequest) -> bool {
    request.choices.settings().natives == Natives::Prefix
}

/// Copies the agent for renamed natives to the folder in which HotSpot looks for it. Does nothing
/// if the image needs no such agent.
///
/// # Errors
/// Fails if there is no such agent, or if it cannot be copied.
pub fn install_prefix(home: &Home, image: &Path, request: &ImageRequest) -> Result<(), InstallError> {
    if !renames_natives(request) {
        return Ok(());
    }
    let copy = image.join(home.libraries()).join(load_time::prefix_name());
    fs::copy(load_time::prefix()?, &copy).map_err(Operation::Make.failed_on(&copy))?;
    Ok(())
}

/// The text of an options file: one option on each line.
pub fn text(options: &[String]) -> String {
    options.iter().map(|option| format!("{option}\n")).collect()
}

/// Installs the library that passes the built-in options to HotSpot (`cct-vm`). Does nothing on JDK
/// 9 and later.
///
/// HotSpot 8 reads no options from its class library. So the launchers load this library instead of
/// HotSpot, and it puts the options before all others. It reads them from a file that users may
/// edit.
///
/// # Errors
/// Fails if the library is missing, if a file cannot be read or written, or if the JDK has no
/// server VM.
pub fn install_vm(home: &Home, image: &Path, options: &[String]) -> Result<(), InstallError> {
    let Layout::Jars { arch, .. } = &home.layout else { return Ok(()) };
    let vm = load_time::vm()?.ok_or_else(|| InstallError::NoVm(load_time::vm_name()))?;
    let write = |path: &Path, bytes: &[u8]| fs::write(path, bytes).map_err(Operation::Write.failed_on(path));
    write(&image.join(home.own_folder()).join("options"), text(options).as_bytes())?;

    let jvms = image.join(home.lib()).join(arch);
    let list = jvms.join("jvm.cfg");
    let text = fs::read_to_string(&list).map_err(Operation::Read.failed_on(&list))?;
    let text = with_our_vm(&text).ok_or_else(|| InstallError::NoServer(list.clone()))?;
    // The list may be read-only, so it is replaced.
    fs::remove_file(&list).map_err(Operation::Replace.failed_on(&list))?;
    write(&list, text.as_bytes())?;

    let folder = jvms.join(record::FOLDER);
    let library = folder.join("libjvm.so");
    let cannot = Operation::Make.failed_on(&library);
    fs::create_dir(&folder).map_err(cannot)?;
    fs::copy(vm, &library).map_err(cannot)?;
    Ok(())
}

/// The text of a `jvm.cfg` with cctrewrite's JVM first, and with `-server` as an alias for it.
/// `None` if the text has no line `-server KNOWN`.
fn with_our_vm(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 64);
    let mut found = false;
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if words.next() == Some("-server") && words.next() == Some("KNOWN") {
            // The first JVM in the list is the default.
            out.insert_str(0, "-cctrewrite KNOWN\n");
            out.push_str("-server ALIASED_TO -cctrewrite\n");
            found = true;
        } else {
            out.push_str(line);
            out.push('\n');
        }
    }
    found.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_jvm_stands_first_and_others_keep_their_lines() {
        let text = "# Comment\n-server KNOWN\n-client IGNORE\n-zero KNOWN\n";
        let expected =
            "-cctrewrite KNOWN\n# Comment\n-server ALIASED_TO -cctrewrite\n-client IGNORE\n-zero KNOWN\n";
        assert_eq!(with_our_vm(text).unwrap(), expected);
        let client_first = with_our_vm("-client IF_SERVER_CLASS -server\n-server KNOWN\n").unwrap();
        assert!(client_first.starts_with("-cctrewrite KNOWN\n"), "{client_first}");
        assert_eq!(with_our_vm("-j9vm KNOWN\n"), None);
    }
}
