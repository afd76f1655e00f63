//! `cctrewrite api`: writes the jar with which a program controls its recording
//! (docs/use/parts.md), or the jar for compiling user modules (docs/research/udi.md).

use anyhow::Result;
use cct_build::api_jar;
use cct_build::pending_file::PendingFile;

use crate::args::Api;

/// Runs the command.
pub fn run(arguments: &Api) -> Result<()> {
    let jar = if arguments.modules { api_jar::for_modules()? } else { api_jar::for_programs()? };
    Ok(PendingFile::write(&arguments.output, |out| out.write_all(&jar))?.commit()?)
}
