//! OpenTelemetry's profiles signal: a message `ProfilesData` of the protocol's package
//! `opentelemetry.proto.profiles.v1development`, as of version 1.10.0.
//!
//! There is a profile for each metric. Each context with counts is a sample with its whole stack,
//! so recursion is kept; the attribute `thread.name` keeps threads separate. There are no
//! addresses: a location is a method, its file the class file. Where call sites are distinguished,
//! a caller's location has the line of the call. No time is written.
//!
//! Stacks take most of the file. They are written in parts: a reader of Protocol Buffers joins the
//! parts of a message's field.

use crate::locations::{LineLocation, Locations};
use crate::name::Functions;
use crate::protobuf::Message;
use crate::string_table::StringTable;
use crate::{CREATOR, ExportError, Format, Metric, Source, Stacks};
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};

/// Fields of `ProfilesData`, `ResourceProfiles` and `ScopeProfiles`.
mod data {
    pub(super) const RESOURCE_PROFILES: u64 = 1;
    pub(super) const DICTIONARY: u64 = 2;
    pub(super) const RESOURCE: u64 = 1;
    pub(super) const SCOPE_PROFILES: u64 = 2;
    pub(super) const SCOPE: u64 = 1;
    pub(super) const PROFILES: u64 = 2;
}

/// Fields of `ProfilesDictionary`.
mod dictionary {
    pub(super) const MAPPING_TABLE: u64 = 1;
    pub(super) const LOCATION_TABLE: u64 = 2;
    pub(super) const FUNCTION_TABLE: u64 = 3;
    pub(super) const LINK_TABLE: u64 = 4;
    pub(super) const STRING_TABLE: u64 = 5;
    pub(super) const ATTRIBUTE_TABLE: u64 = 6;
    pub(super) const STACK_TABLE: u64 = 7;
}

/// Fields of `Profile`, its `ValueType`, and `Sample`.
mod profile {
    pub(super) const SAMPLE_TYPE: u64 = 1;
    pub(super) const SAMPLES: u64 = 2;
    pub(super) const ATTRIBUTE_INDICES: u64 = 11;
    pub(super) const TYPE_STRINDEX: u64 = 1;
    pub(super) const UNIT_STRINDEX: u64 = 2;
    pub(super) const SAMPLE_STACK_INDEX: u64 = 1;
    pub(super) const SAMPLE_ATTRIBUTE_INDICES: u64 = 2;
    pub(super) const SAMPLE_VALUES: u64 = 4;
}

/// Fields of `Stack`, `Location` with its `Line`, `Function`, and `Link`.
mod place {
    pub(super) const STACK_LOCATION_INDICES: u64 = 1;
    pub(super) const LOCATION_LINES: u64 = 3;
    pub(super) const LOCATION_ATTRIBUTE_INDICES: u64 = 4;
    pub(super) const LINE_FUNCTION_INDEX: u64 = 1;
    pub(super) const LINE_NUMBER: u64 = 2;
    pub(super) const FUNCTION_NAME_STRINDEX: u64 = 1;
    pub(super) const FUNCTION_SYSTEM_NAME_STRINDEX: u64 = 2;
    pub(super) const FUNCTION_FILENAME_STRINDEX: u64 = 3;
    pub(super) const LINK_TRACE_ID: u64 = 1;
    pub(super) const LINK_SPAN_ID: u64 = 2;
}

/// Fields of `Resource`, `InstrumentationScope`, `KeyValue`, `KeyValueAndUnit` and `AnyValue`.
mod common {
    pub(super) const RESOURCE_ATTRIBUTES: u64 = 1;
    pub(super) const SCOPE_NAME: u64 = 1;
    pub(super) const SCOPE_VERSION: u64 = 2;
    pub(super) const KEY: u64 = 1;
    pub(super) const KEY_STRINDEX: u64 = 1;
    pub(super) const VALUE: u64 = 2;
    pub(super) const STRING_VALUE: u64 = 1;
}

/// The unit of counts, in UCUM's notation.
const UNIT: &str = "{count}";

/// A part of the dictionary is written when it has so many bytes.
const PART: usize = 1 << 16;

/// The format's row in the table.
pub const FORMAT: Format = Format {
    is_binary: true,
    ..Format::text("otlp", "OpenTelemetry's profiles signal, as Protocol Buffers", |source, out| {
        write(source, out)
    })
};

/// Writes the file.
///
/// # Errors
/// Fails if the output fails, and if there are 2^31 stacks.
pub fn write(source: &Source, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut dictionary = Dictionary::new(BufWriter::with_capacity(1 << 18, out));
    let functions = Functions::of(&source.names);
    let frame_type = dictionary.attribute("profile.frame.type", "jvm")?;
    for (index, name) in (1..).zip(functions.names(&source.names)) {
        let mut function = Message::new();
        function.integer(place::FUNCTION_NAME_STRINDEX, dictionary.strings.index(name.method_text()));
        let system_name = dictionary.strings.index(&name.system_name());
        function.integer(place::FUNCTION_SYSTEM_NAME_STRINDEX, system_name);
        let file = name.file().map_or(0, |file| dictionary.strings.index(&file));
        function.integer(place::FUNCTION_FILENAME_STRINDEX, file);
        dictionary.add(dictionary::FUNCTION_TABLE, &function)?;
        dictionary.add(dictionary::LOCATION_TABLE, &location(index, 0, frame_type))?;
    }
    // Programs show the first profile.
    let mut metrics = source.metrics();
    metrics.sort_by_key(|metric| *metric != source.metric);
    let mut profiles: Vec<Message> = metrics.iter().map(|_| Message::new()).collect();
    for (profile, metric) in profiles.iter_mut().zip(&metrics) {
        let mut value_type = Message::new();
        value_type.integer(profile::TYPE_STRINDEX, dictionary.strings.index(metric.name()));
        value_type.integer(profile::UNIT_STRINDEX, dictionary.strings.index(UNIT));
        profile.message(profile::SAMPLE_TYPE, &value_type);
    }
    let mut locations = Locations::new(&functions);
    let mut samples = Samples { source, metrics: &metrics, profiles: &mut profiles, stacks: 0 };
    for stacks in &source.stacks {
        samples.add(stacks, &mut locations, &mut dictionary)?;
    }
    for LineLocation { function, line, .. } in locations.with_lines() {
        dictionary.add(dictionary::LOCATION_TABLE, &location(function, line.into(), frame_type))?;
    }
    let remarks = source.remarks().join("\n");
    if !remarks.is_empty() {
        let remarks = dictionary.attribute("cctrewrite.remarks", &remarks)?;
        for profile in &mut profiles {
            profile.integers(profile::ATTRIBUTE_INDICES, std::iter::once(remarks));
        }
    }
    let mut out = dictionary.end()?;
    let mut scope_profiles = Message::new();
    scope_profiles.message(data::SCOPE, &scope());
    for profile in &mut profiles {
        scope_profiles.message(data::PROFILES, profile);
        // Two copies of all samples are not needed at once.
        *profile = Message::new();
    }
    let mut resource_profiles = Message::new();
    resource_profiles.message(data::RESOURCE, &resource(source));
    resource_profiles.message(data::SCOPE_PROFILES, &scope_profiles);
    let mut part = Message::new();
    part.message(data::RESOURCE_PROFILES, &resource_profiles);
    out.write_all(part.as_bytes())?;
    Ok(out.flush()?)
}

fn location(function: u64, number: u64, frame_type: u64) -> Message {
    let (mut location, mut line) = (Message::new(), Message::new());
    line.integer(place::LINE_FUNCTION_INDEX, function).integer(place::LINE_NUMBER, number);
    location.message(place::LOCATION_LINES, &line);
    location.integers(place::LOCATION_ATTRIBUTE_INDICES, std::iter::once(frame_type));
    location
}

/// The program.
fn resource(source: &Source) -> Message {
    let mut resource = Message::new();
    let java = source.meta.get("java.version");
    let attributes =
        [("service.name", Some(source.program())), ("process.runtime.version", java.map(String::as_str))];
    for (key, value) in attributes.into_iter().filter_map(|(key, value)| Some((key, value?))) {
        let (mut attribute, mut any) = (Message::new(), Message::new());
        any.bytes(common::STRING_VALUE, value.as_bytes());
        attribute.bytes(common::KEY, key.as_bytes()).message(common::VALUE, &any);
        resource.message(common::RESOURCE_ATTRIBUTES, &attribute);
    }
    resource
}

/// The tool.
fn scope() -> Message {
    let mut scope = Message::new();
    let (name, version) = CREATOR.split_once(' ').unwrap_or((CREATOR, ""));
    scope.bytes(common::SCOPE_NAME, name.as_bytes()).bytes(common::SCOPE_VERSION, version.as_bytes());
    scope
}

/// The samples of all profiles.
struct Samples<'s> {
    source: &'s Source,
    metrics: &'s [Metric],
    /// One for each metric.
    profiles: &'s mut [Message],
    /// Number of stacks so far.
    stacks: u64,
}

impl Samples<'_> {
    fn add<W: Write>(
        &mut self,
        stacks: &Stacks,
        locations: &mut Locations<'_>,
        dictionary: &mut Dictionary<W>,
    ) -> Result<(), ExportError> {
        let thread = stacks.thread.as_deref();
        let thread = thread.map(|thread| dictionary.attribute("thread.name", thread)).transpose()?;
        let mut message = Message::new();
        locations.visit_stacks(&self.source.names, &stacks.tree, |context, stack| {
            let values = self.metrics.iter().map(|&metric| self.source.value(&stacks.tree, context, metric));
            if values.clone().all(|value| value == 0) {
                return Ok(());
            }
            message.clear();
            // The innermost frame first.
            message.integers(place::STACK_LOCATION_INDICES, stack.iter().rev().copied());
            dictionary.add(dictionary::STACK_TABLE, &message)?;
            self.stacks += 1;
            if i32::try_from(self.stacks).is_err() {
                return Err(ExportError::TooManyStacks);
            }
            for (profile, value) in self.profiles.iter_mut().zip(values) {
                if value > 0 {
                    message.clear();
                    message.integer(profile::SAMPLE_STACK_INDEX, self.stacks);
                    if let Some(thread) = thread {
                        message.integers(profile::SAMPLE_ATTRIBUTE_INDICES, std::iter::once(thread));
                    }
                    message.integers(profile::SAMPLE_VALUES, std::iter::once(value));
                    profile.message(profile::SAMPLES, &message);
                }
            }
            Ok(())
        })
    }
}

/// The dictionary, written in parts. The first entry of each table is the empty one.
struct Dictionary<W: Write> {
    out: W,
    /// The part that is not yet written.
    part: Message,
    /// Written in the end.
    strings: StringTable,
    attributes: BTreeMap<(u64, String), u64>,
}

impl<W: Write> Dictionary<W> {
    fn new(out: W) -> Dictionary<W> {
        let mut part = Message::new();
        let empty = Message::new();
        for table in [
            dictionary::MAPPING_TABLE,
            dictionary::LOCATION_TABLE,
            dictionary::FUNCTION_TABLE,
            dictionary::ATTRIBUTE_TABLE,
            dictionary::STACK_TABLE,
        ] {
            part.message(table, &empty);
        }
        // Readers may expect the usual lengths.
        let mut link = Message::new();
        link.bytes(place::LINK_TRACE_ID, &[0; 16]).bytes(place::LINK_SPAN_ID, &[0; 8]);
        part.message(dictionary::LINK_TABLE, &link);
        Dictionary { out, part, strings: StringTable::default(), attributes: BTreeMap::new() }
    }

    /// Adds an entry to a table.
    fn add(&mut self, table: u64, entry: &Message) -> Result<(), ExportError> {
        self.part.message(table, entry);
        if self.part.as_bytes().len() >= PART { self.write_part() } else { Ok(()) }
    }

    fn write_part(&mut self) -> Result<(), ExportError> {
        let mut field = Message::new();
        field.message(data::DICTIONARY, &self.part);
        self.part.clear();
        Ok(self.out.write_all(field.as_bytes())?)
    }

    /// The index of an attribute.
    fn attribute(&mut self, key: &str, value: &str) -> Result<u64, ExportError> {
        let key = self.strings.index(key);
        if let Some(&index) = self.attributes.get(&(key, value.to_owned())) {
            return Ok(index);
        }
        let index = self.attributes.len() as u64 + 1;
        self.attributes.insert((key, value.to_owned()), index);
        let (mut attribute, mut any) = (Message::new(), Message::new());
        any.bytes(common::STRING_VALUE, value.as_bytes());
        attribute.integer(common::KEY_STRINDEX, key).message(common::VALUE, &any);
        self.add(dictionary::ATTRIBUTE_TABLE, &attribute)?;
        Ok(index)
    }

    /// Writes the rest.
    fn end(mut self) -> Result<W, ExportError> {
        for string in std::mem::take(&mut self.strings).in_order() {
            self.part.bytes(dictionary::STRING_TABLE, string.as_bytes());
            if self.part.as_bytes().len() >= PART {
                self.write_part()?;
            }
        }
        self.write_part()?;
        Ok(self.out)
    }
}
