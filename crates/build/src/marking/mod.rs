//! Markers in programs (docs/research/markers.md): alone by `--tool markers`, or with a
//! calling-context tree ([`tree_marking`]).
//!
//! [`rules`] reads rules and properties. [`all`] and [`marks`] mark the classes of inputs, and
//! [`tally`] counts the results. [`instrument`] does so for outputs, [`image`] for a whole JDK.

mod above;
mod all;
pub mod image;
mod instrument;
mod marks;
mod place;
pub mod properties;
mod rules;
mod tally;
mod tree_marking;

pub use above::world;
pub use all::OutputOptions;
pub use instrument::{MarkProgramError, instrument};
pub use marks::unless_refused;
pub use place::{FlagsError, flags, flags_beside};
pub use rules::{Marking, MarkingError, RulesFileError, rules};
pub use tally::{Tally, shown};
pub use tree_marking::{Account, TreeMarking, TreeMarkingError};

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;

/// The entry that identifies an output with markers: lines of `key=value`.
pub const ENTRY: &str = "cctrewrite-output/markers";

/// The jar with the runtime that marked classes call. It lies beside outputs.
pub const JAR: &str = "cctrewrite-markers.jar";

/// The line of [`ENTRY`] in outputs that also have a calling-context tree.
const BESIDE: &str = "beside=tree";

/// The line of [`ENTRY`] in outputs with typestate properties.
const TYPESTATE: &str = "typestate=yes";

/// The client that checks properties.
const CHECKER: &str = "cctrewrite.typestate.Typestate";

/// The tables of properties for the runtime lie beside each output, under its name with this
/// suffix.
const TABLES: &str = ".typestate";

/// The jar of the runtime. Its bytes are always the same: entries have the format's first date.
///
/// # Errors
/// None that could be expected: it is written to memory.
pub fn jar() -> ZipResult<Vec<u8>> {
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    jar.start_file("META-INF/MANIFEST.MF", options)?;
    jar.write_all(b"Manifest-Version: 1.0\r\nAutomatic-Module-Name: cctrewrite.markers\r\n\r\n")?;
    for (name, bytes) in jdk_wrap::markers() {
        jar.start_file(format!("{name}.class"), options)?;
        jar.write_all(bytes)?;
    }
    Ok(jar.finish()?.into_inner())
}

/// The path of the tables of properties, which lie beside an output.
fn tables_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(TABLES);
    PathBuf::from(name)
}
