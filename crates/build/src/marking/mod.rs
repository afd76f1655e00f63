//! `--tool markers`: programs get markers and nothing else (docs/research/markers.md); or they get
//! them beside what counts ([`tree_marking`]).
//!
//! What is to be marked ([`rules`]), how classes of inputs are marked ([`all`], [`marks`]), and
//! what became of it ([`tally`]); beforehand ([`instrument`]) or as a whole JDK ([`image`]).

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
pub use instrument::instrument;
pub use marks::unless_refused;
pub use place::{flags, flags_beside};
pub use rules::{Marking, rules};
pub use tally::{Tally, shown};
pub use tree_marking::{Account, TreeMarking};

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The entry by which an output of this tool is known: lines of `key=value`.
pub const ENTRY: &str = "cctrewrite-output/markers";

/// The jar with what marked classes call; it lies beside outputs.
pub const JAR: &str = "cctrewrite-markers.jar";

/// The line of that entry which says that the output is counted, too.
const BESIDE: &str = "beside=tree";

/// The line of that entry which says that there are properties.
const TYPESTATE: &str = "typestate=yes";

/// The client that checks properties.
const CHECKER: &str = "cctrewrite.typestate.Typestate";

/// What the runtime reads of properties lies beside each output, under its name and this.
const TABLES: &str = ".typestate";

/// The jar of the runtime: the same bytes each time, since entries have the format's first date.
pub fn jar() -> Result<Vec<u8>> {
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

/// The file beside an output.
fn tables_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(TABLES);
    PathBuf::from(name)
}
