//! `cctrewrite api`: the jar by which a program says what is recorded (docs/selective.md), and against which modules of users are compiled (docs/udi.md).

use std::io::{Cursor, Write};

use anyhow::Result;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::args::Api;
use crate::pending_file::PendingFile;

/// The module's name is that of the package that programs use.
const MANIFEST: &[u8] = b"Manifest-Version: 1.0\r\nAutomatic-Module-Name: cctrewrite.api\r\n\r\n";

/// Runs the command.
pub fn run(arguments: &Api) -> Result<()> {
    let jar = jar()?;
    PendingFile::write(&arguments.output, |out| Ok(out.write_all(&jar)?))?.commit()
}

/// The same bytes each time: entries have the format's first date.
pub fn jar() -> zip::result::ZipResult<Vec<u8>> {
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let mut add = |name: &str, bytes: &[u8]| {
        jar.start_file(name, options)?;
        Ok::<(), zip::result::ZipError>(jar.write_all(bytes)?)
    };
    add("META-INF/MANIFEST.MF", MANIFEST)?;
    for (name, bytes) in jdk_wrap::api().iter().chain(jdk_wrap::udi()).chain(jdk_wrap::bypass()) {
        add(&format!("{name}.class"), bytes)?;
    }
    Ok(jar.finish()?.into_inner())
}
