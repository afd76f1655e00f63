//! The protocol between the command and a module (`docs/research/udi.md`, *The protocol*). Numbers
//! are unsigned and big-endian.
//!
//! The command begins with [`MAGIC`]. The module answers with [`MAGIC`] and its runtime classes.
//! Then, for each class, the command sends name and bytes, and the module sends one answer. The
//! command closes its end when there are no more classes.

use std::io::{self, BufReader, BufWriter, Read, Write};

use cct_classfile::ClassFile;
use cct_classfile::mutf8::decode_lossy;

use crate::module::{Module, Outcome, RuntimeClass};

/// The first bytes in both directions: the name and version of the protocol.
pub const MAGIC: [u8; 8] = *b"CCTUDI01";

/// Maximum length of a field in bytes.
pub const LARGEST: u32 = 256 << 20;

/// Maximum number of runtime classes.
const MOST_CLASSES: u32 = 10_000;

const KEEP: u8 = 0;
const REPLACE: u8 = 1;
const ABORT: u8 = 2;
const FAILED: u8 = 3;

/// A module's answer for a class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The outcome of the class.
    Outcome(Outcome),
    /// The module failed, for this reason.
    Failed(String),
}

/// A violation of the protocol.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The pipe ended, or cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The first bytes are wrong.
    #[error(
        "its first bytes are {0:02x?} instead of a module's; it must print nothing else to standard output"
    )]
    NoModule([u8; 8]),
    /// An answer of an unknown kind.
    #[error("its answer begins with {0}, which is not a kind of answer")]
    BadKind(u8),
    /// The length of a field exceeds the limit.
    #[error("it announced {0} bytes, of {LARGEST} at most")]
    TooLong(u32),
    /// The number of runtime classes exceeds the limit.
    #[error("it announced {0} classes of its own, of {MOST_CLASSES} at most")]
    TooMany(u32),
}

/// Reads a length and that many bytes.
pub fn read_field(input: &mut impl Read) -> Result<Vec<u8>, WireError> {
    let length = read_number(input)?;
    if length > LARGEST {
        return Err(WireError::TooLong(length));
    }
    let mut bytes = Vec::new();
    // The memory grows with the actual bytes, not with the announced length.
    let read = input.take(length.into()).read_to_end(&mut bytes)?;
    if read == length as usize {
        Ok(bytes)
    } else {
        Err(io::Error::from(io::ErrorKind::UnexpectedEof).into())
    }
}

fn read_number(input: &mut impl Read) -> Result<u32, WireError> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

/// Writes a length and the bytes.
pub fn write_field(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|length| *length <= LARGEST);
    let length = length.ok_or(io::ErrorKind::InvalidInput)?;
    out.write_all(&length.to_be_bytes())?;
    out.write_all(bytes)
}

/// Reads the start of a module's output: its runtime classes.
pub fn read_greeting(input: &mut impl Read) -> Result<Vec<RuntimeClass>, WireError> {
    let mut magic = [0; 8];
    input.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(WireError::NoModule(magic));
    }
    let count = read_number(input)?;
    if count > MOST_CLASSES {
        return Err(WireError::TooMany(count));
    }
    let class = |_| {
        let name = String::from_utf8_lossy(&read_field(input)?).into_owned();
        Ok(RuntimeClass { name, bytes: read_field(input)? })
    };
    (0..count).map(class).collect()
}

/// Reads an answer.
pub fn read_answer(input: &mut impl Read) -> Result<Answer, WireError> {
    let mut kind = [0];
    input.read_exact(&mut kind)?;
    let mut text = || Ok::<_, WireError>(String::from_utf8_lossy(&read_field(input)?).into_owned());
    Ok(match kind[0] {
        KEEP => Answer::Outcome(Outcome::Keep),
        ABORT => Answer::Outcome(Outcome::Abort(text()?)),
        FAILED => Answer::Failed(text()?),
        REPLACE => Answer::Outcome(Outcome::Replace(read_field(input)?)),
        other => return Err(WireError::BadKind(other)),
    })
}

/// Writes an answer.
pub fn write_answer(out: &mut impl Write, answer: &Answer) -> io::Result<()> {
    let (kind, field) = match answer {
        Answer::Outcome(Outcome::Keep) => return out.write_all(&[KEEP]),
        Answer::Outcome(Outcome::Replace(bytes)) => (REPLACE, &bytes[..]),
        Answer::Outcome(Outcome::Abort(why)) => (ABORT, why.as_bytes()),
        Answer::Failed(why) => (FAILED, why.as_bytes()),
    };
    out.write_all(&[kind])?;
    write_field(out, field)
}

/// Runs a module: answers requests from standard input on standard output until the input ends. It
/// is the whole of a module's `main`. The module must not print to standard output itself.
pub fn serve(module: &dyn Module) -> Result<(), WireError> {
    let (input, out) = (io::stdin().lock(), io::stdout().lock());
    converse(module, &mut BufReader::new(input), &mut BufWriter::new(out))
}

/// Answers requests over any pipes until the input ends.
pub fn converse(module: &dyn Module, input: &mut impl Read, out: &mut impl Write) -> Result<(), WireError> {
    let mut magic = [0; 8];
    input.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Err(WireError::NoModule(magic));
    }
    let runtime = module.runtime();
    out.write_all(&MAGIC)?;
    out.write_all(&(runtime.len() as u32).to_be_bytes())?;
    for class in &runtime {
        write_field(out, class.name.as_bytes())?;
        write_field(out, &class.bytes)?;
    }
    out.flush()?;
    loop {
        let mut first = [0];
        if input.read(&mut first)? == 0 {
            return Ok(());
        }
        let _name = read_field(&mut (&first[..]).chain(&mut *input))?;
        let bytes = read_field(input)?;
        write_answer(out, &answer(module, &bytes))?;
        out.flush()?;
    }
}

fn answer(module: &dyn Module, bytes: &[u8]) -> Answer {
    let outcome = match ClassFile::parse(bytes) {
        Ok(class) => module.transform(&class).map_err(|e| format!("{}: {e}", decode_lossy(class.name()))),
        Err(e) => Err(e.to_string()),
    };
    outcome.map_or_else(Answer::Failed, Answer::Outcome)
}
