//! The part of `cargo xtask bench rewrite` that processes classes itself. It is a separate program,
//! so that its time and memory are measured like those of the others:
//!
//! ```text
//! copier copy FOLDER INPUT...      read, parse and write everything, on one thread: a lower bound
//! copier jar IMAGE JAR             the contents of a JDK's modules as a jar, for other tools
//! copier part INPUT JAR PART OF    the first PART of each OF classes of a jar
//! copier survey INPUT...           two readers on each class (`cargo xtask foreign`)
//! ```
//!
//! `copy` and `part` print the number of classes and their bytes. It is a package next to `xtask`,
//! which need not be fast and should build quickly.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a failing unwrap fails its test, as it should

mod class;
#[cfg(test)]
mod fixtures;
mod jars;
mod survey;

use std::ffi::OsString;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Result, bail};

/// The allocator of the command `cctrewrite`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&Path> = arguments.iter().map(Path::new).collect();
    let counted = match words.as_slice() {
        [task, folder, inputs @ ..] if *task == Path::new("copy") => jars::copy(inputs, folder)?,
        [task, image, jar] if *task == Path::new("jar") => jars::jar(image, jar, &|_| true)?,
        [task, input, jar, part, of] if *task == Path::new("part") => {
            let (part, of): (usize, usize) = (number(part)?, number(of)?);
            jars::jar(input, jar, &|index| index % of.max(1) < part)?
        }
        [task, inputs @ ..] if *task == Path::new("survey") => {
            return survey::survey(inputs, &mut BufWriter::new(std::io::stdout()));
        }
        _ => bail!(
            "copier copy FOLDER INPUT... | copier survey INPUT... | copier jar IMAGE JAR | copier part INPUT JAR PART OF"
        ),
    };
    writeln!(std::io::stdout(), "{} {}", counted.classes, counted.bytes)?;
    Ok(())
}

fn number(word: &Path) -> Result<usize> {
    Ok(word.to_string_lossy().parse()?)
}
