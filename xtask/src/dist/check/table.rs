//! The table of results, for docs/get-started/install.md.

use anyhow::Result;
use xtask_tools::print::print_line;

/// The result of one package in one root.
pub struct Row {
    /// The package, and how it was installed.
    pub what: &'static str,
    /// The root: its system, glibc and JDK.
    pub root: String,
    /// Size of the command and its libraries, in bytes.
    pub size: u64,
    /// How exact the program's profile is, in the profile's words.
    pub profile: String,
    /// The files that are left after the package is removed.
    pub left: String,
}

/// Prints all rows.
///
/// # Errors
/// Fails if standard output is closed.
pub fn print(rows: &[Row]) -> Result<()> {
    print_line(
        &"| installed | in | installed size | `cctrewrite run -- java -jar js.jar` | left after removal |",
    )?;
    print_line(&"|---|---|---:|---|---|")?;
    for Row { what, root, size, profile, left } in rows {
        let megabytes = *size as f64 / 1e6;
        print_line(&format!("| {what} | {root} | {megabytes:.1} MB | {profile} | {left} |"))?;
    }
    Ok(())
}
