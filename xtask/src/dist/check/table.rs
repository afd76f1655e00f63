//! The table of what was tried, for docs/get-started/install.md.

use anyhow::Result;

use crate::print::print_line;

/// One package in one root.
pub struct Row {
    /// What was installed, and how.
    pub what: &'static str,
    /// The root: its system, glibc and JDK.
    pub root: String,
    /// The command and its libraries, in bytes.
    pub size: u64,
    /// What the profile of the program says.
    pub profile: String,
    /// What is left after its removal.
    pub left: String,
}

/// Prints all rows.
///
/// # Errors
/// If nobody reads it.
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
