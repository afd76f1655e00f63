//! pprof's format: a gzip-compressed message of `profile.proto`, with the sample types `bytecodes`
//! and `calls`.
//!
//! Each context with counts is a sample with its whole stack, so recursion is kept; the label
//! `thread` keeps threads separate. There are no addresses: a location is a method, its file the
//! class file. Where call sites are distinguished, a caller's location has the line of the call;
//! otherwise there are no lines. No time is written.

use crate::locations::{LineLocation, Locations};
use crate::name::Functions;
use crate::protobuf::Message;
use crate::string_table::StringTable;
use crate::{CREATOR, ExportError, Format, Metric, Source, Stacks};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{BufWriter, Write};

/// Fields of `Profile`.
mod profile {
    pub(super) const SAMPLE_TYPE: u64 = 1;
    pub(super) const SAMPLE: u64 = 2;
    pub(super) const MAPPING: u64 = 3;
    pub(super) const LOCATION: u64 = 4;
    pub(super) const FUNCTION: u64 = 5;
    pub(super) const STRING_TABLE: u64 = 6;
    pub(super) const COMMENT: u64 = 13;
    pub(super) const DEFAULT_SAMPLE_TYPE: u64 = 14;
}

/// Fields of `ValueType`.
mod value_type {
    pub(super) const TYPE: u64 = 1;
    pub(super) const UNIT: u64 = 2;
}

/// Fields of `Sample` and its `Label`.
mod sample {
    pub(super) const LOCATION_ID: u64 = 1;
    pub(super) const VALUE: u64 = 2;
    pub(super) const LABEL: u64 = 3;
    pub(super) const LABEL_KEY: u64 = 1;
    pub(super) const LABEL_STR: u64 = 2;
}

/// Fields of `Mapping`, `Location` with its `Line`, and `Function`. Each has its number as field 1.
mod place {
    pub(super) const ID: u64 = 1;
    pub(super) const MAPPING_FILENAME: u64 = 5;
    pub(super) const MAPPING_HAS_FUNCTIONS: u64 = 7;
    pub(super) const MAPPING_HAS_LINE_NUMBERS: u64 = 9;
    pub(super) const LOCATION_MAPPING_ID: u64 = 2;
    pub(super) const LOCATION_LINE: u64 = 4;
    pub(super) const LINE_FUNCTION_ID: u64 = 1;
    pub(super) const LINE_NUMBER: u64 = 2;
    pub(super) const FUNCTION_NAME: u64 = 2;
    pub(super) const FUNCTION_SYSTEM_NAME: u64 = 3;
    pub(super) const FUNCTION_FILENAME: u64 = 4;
}

/// The only mapping: the program. It declares that functions are known, so that pprof does not
/// search for a file with symbols.
const PROGRAM: u64 = 1;

/// The format's row in the table.
pub const FORMAT: Format = Format {
    is_binary: true,
    ..Format::text("pprof", "profile.proto, compressed, for pprof", |source, out| write(source, out))
};

/// Writes the file.
///
/// # Errors
/// Fails if the output fails.
pub fn write(source: &Source, out: &mut dyn Write) -> Result<(), ExportError> {
    let out = BufWriter::with_capacity(1 << 18, out);
    // No file name and no time in the header.
    let mut out = BufWriter::with_capacity(1 << 16, GzEncoder::new(out, Compression::default()));
    let mut strings = StringTable::default();
    out.write_all(head(source, &mut strings).as_bytes())?;
    let functions = Functions::of(&source.names);
    for (id, name) in (1..).zip(functions.names(&source.names)) {
        let mut part = Message::new();
        let location = location(id, id, 0);
        let mut function = Message::new();
        function.integer(place::ID, id);
        function.integer(place::FUNCTION_NAME, strings.index(name.method_text()));
        function.integer(place::FUNCTION_SYSTEM_NAME, strings.index(&name.system_name()));
        let file = name.file().map_or(0, |file| strings.index(&file));
        function.integer(place::FUNCTION_FILENAME, file);
        part.message(profile::LOCATION, &location).message(profile::FUNCTION, &function);
        out.write_all(part.as_bytes())?;
    }
    let mut locations = Locations::new(&functions);
    for stacks in &source.stacks {
        write_samples(source, stacks, &mut locations, &mut strings, &mut out)?;
    }
    let mut part = Message::new();
    for LineLocation { number, function, line } in locations.with_lines() {
        part.clear();
        part.message(profile::LOCATION, &location(number, function, line.into()));
        out.write_all(part.as_bytes())?;
    }
    for string in strings.in_order() {
        part.clear();
        part.bytes(profile::STRING_TABLE, string.as_bytes());
        out.write_all(part.as_bytes())?;
    }
    let compressed = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    Ok(compressed.finish()?.flush()?)
}

fn location(id: u64, function: u64, number: u64) -> Message {
    let mut location = Message::new();
    let mut line = Message::new();
    line.integer(place::LINE_FUNCTION_ID, function);
    if number > 0 {
        line.integer(place::LINE_NUMBER, number);
    }
    location.integer(place::ID, id).integer(place::LOCATION_MAPPING_ID, PROGRAM);
    location.message(place::LOCATION_LINE, &line);
    location
}

/// The part before functions and samples.
fn head(source: &Source, strings: &mut StringTable) -> Message {
    let mut head = Message::new();
    for metric in source.metrics() {
        let mut value_type = Message::new();
        value_type.integer(value_type::TYPE, strings.index(metric.name()));
        value_type.integer(value_type::UNIT, strings.index("count"));
        head.message(profile::SAMPLE_TYPE, &value_type);
    }
    let mut mapping = Message::new();
    mapping.integer(place::ID, PROGRAM);
    mapping.integer(place::MAPPING_FILENAME, strings.index(source.program()));
    mapping.integer(place::MAPPING_HAS_FUNCTIONS, 1);
    mapping.integer(place::MAPPING_HAS_LINE_NUMBERS, source.has_call_sites().into());
    head.message(profile::MAPPING, &mapping);
    let made = std::iter::once(CREATOR.to_owned());
    let comments: Vec<u64> = made.chain(source.remarks()).map(|text| strings.index(&text)).collect();
    head.integers(profile::COMMENT, comments.iter().copied());
    head.integer(profile::DEFAULT_SAMPLE_TYPE, strings.index(source.metric.name()));
    head
}

fn write_samples(
    source: &Source,
    stacks: &Stacks,
    locations: &mut Locations<'_>,
    strings: &mut StringTable,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut label = Message::new();
    if let Some(thread) = &stacks.thread {
        label.integer(sample::LABEL_KEY, strings.index("thread"));
        label.integer(sample::LABEL_STR, strings.index(thread));
    }
    let metrics: Vec<Metric> = source.metrics();
    let (mut part, mut message) = (Message::new(), Message::new());
    locations.visit_stacks(&source.names, &stacks.tree, |context, stack| {
        let node = &stacks.tree.nodes()[context as usize];
        if node.is_empty() && stacks.tree.values(context).iter().all(|value| *value == 0) {
            return Ok(());
        }
        message.clear();
        // The innermost frame first.
        message.integers(sample::LOCATION_ID, stack.iter().rev().copied());
        message.integers(
            sample::VALUE,
            metrics.iter().map(|&metric| source.value(&stacks.tree, context, metric)),
        );
        if stacks.thread.is_some() {
            message.message(sample::LABEL, &label);
        }
        part.clear();
        part.message(profile::SAMPLE, &message);
        Ok(out.write_all(part.as_bytes())?)
    })
}
