//! `cctrewrite api`: the jar by which a program says what is recorded (docs/use/parts.md), or that
//! against which modules of users are compiled (docs/research/udi.md).

use anyhow::Result;
use cct_build::api_jar;
use cct_build::pending_file::PendingFile;

use crate::args::Api;

/// Runs the command.
pub fn run(arguments: &Api) -> Result<()> {
    let jar = if arguments.modules { api_jar::for_modules()? } else { api_jar::for_programs()? };
    PendingFile::write(&arguments.output, |out| Ok(out.write_all(&jar)?))?.commit()
}
