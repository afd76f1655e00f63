//! The jar by which a program says what is recorded (docs/use/parts.md), or that
//! against which modules of users are compiled (docs/research/udi.md).

use std::io::{Cursor, Write};

use jdk_wrap::Class;
use zip::ZipWriter;
use zip::result::ZipResult;
use zip::write::SimpleFileOptions;

/// The module's name is that of the package that is used.
const OF_PROGRAMS: &str = "cctrewrite.api";
const OF_MODULES: &str = "cctrewrite.udi";

/// What programs bring along, and have instrumented like their own classes.
///
/// # Errors
/// None that could be expected: it is written to memory.
pub fn for_programs() -> ZipResult<Vec<u8>> {
    jar(OF_PROGRAMS, jdk_wrap::api())
}

/// What modules of users are compiled against and start from. It has classes of the runtime's, so a
/// program cannot have it.
///
/// # Errors
/// As [`for_programs`].
pub fn for_modules() -> ZipResult<Vec<u8>> {
    jar(OF_MODULES, jdk_wrap::udi().iter().chain(jdk_wrap::bypass()))
}

/// The same bytes each time: entries have the format's first date.
fn jar(name: &str, classes: impl IntoIterator<Item = &'static Class>) -> ZipResult<Vec<u8>> {
    let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let mut add = |name: &str, bytes: &[u8]| {
        jar.start_file(name, options)?;
        ZipResult::Ok(jar.write_all(bytes)?)
    };
    let manifest = format!("Manifest-Version: 1.0\r\nAutomatic-Module-Name: {name}\r\n\r\n");
    add("META-INF/MANIFEST.MF", manifest.as_bytes())?;
    for (name, bytes) in classes {
        add(&format!("{name}.class"), bytes)?;
    }
    Ok(jar.finish()?.into_inner())
}
