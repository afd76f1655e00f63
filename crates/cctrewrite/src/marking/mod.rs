//! `--tool markers`: programs get markers and nothing else.

mod driver;
mod place;

pub use place::flags;

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use cct_archive::{Input, Layout, RewriteOptions, Staged};
use cct_classfile::ClassFile;
use cct_markers::{Descriptor, Library, Marked, Rules, World, attribute};
use cct_profile::report::grouped;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::args::Instrument;
use crate::exit::say;
use crate::inputs::{BadClasses, Sources, TOOL};
use crate::instrument::targets::Targets;
use crate::jdk;
use crate::output;
use crate::pending_file::PendingFile;
use crate::progress::Progress;
use crate::text::{counted, readable};
use driver::Driver;

/// The entry by which an output of this tool is known: lines of `key=value`.
pub const ENTRY: &str = "cctrewrite-output/markers";

/// The jar with what marked classes call; it lies beside outputs.
pub const JAR: &str = "cctrewrite-markers.jar";

/// The line of that entry which says that there are properties.
const TYPESTATE: &str = "typestate=yes";

/// The client that checks properties.
const CHECKER: &str = "cctrewrite.typestate.Typestate";

/// What the runtime reads of properties lies beside each output, under its name and this.
const TABLES: &str = ".typestate";

/// A file larger than this is none of rules.
const LARGEST: u64 = 16 << 20;

/// The rules in files.
pub fn rules(files: &[PathBuf]) -> Result<Rules> {
    let mut rules = Rules::default();
    for file in files {
        let cannot = || format!("cannot read {}", file.display());
        let about = fs::metadata(file).with_context(cannot)?;
        if about.len() > LARGEST {
            bail!("{} has {} bytes, too many for a file of markers", file.display(), about.len());
        }
        let text = fs::read_to_string(file).with_context(cannot)?;
        rules.add(&text).with_context(|| file.display().to_string())?;
    }
    Ok(rules)
}

/// What is above which class.
pub fn world(sources: &Sources) -> Result<World> {
    let mut world = World::default();
    for input in sources.inputs.iter().chain(&sources.libraries) {
        type Above = Option<(Vec<u8>, Vec<Vec<u8>>)>;
        let survey = input.survey(|_, bytes| -> Result<Above> {
            let Ok(class) = ClassFile::parse(bytes) else { return Ok(None) };
            let above = class.super_name().into_iter().chain(class.interface_names());
            Ok(Some((class.name().to_vec(), above.map(<[u8]>::to_vec).collect())))
        })?;
        for (name, above) in survey.classes.into_iter().flatten() {
            world.insert(&name, above.iter().map(Vec::as_slice));
        }
    }
    Ok(world)
}

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

/// A marker on a line.
pub fn shown(descriptor: &Descriptor) -> String {
    let mut text = format!(
        "{}{} at {} {}{}",
        descriptor.token,
        if descriptor.predicate.is_empty() { String::new() } else { format!(":{}", descriptor.predicate) },
        descriptor.place,
        readable(&descriptor.method),
        readable(&descriptor.descriptor)
    );
    if descriptor.place != "method" {
        text += &format!(" bci {}", descriptor.bci);
    }
    if let Some(line) = descriptor.line {
        text += &format!(" line {line}");
    }
    if !descriptor.detail.is_empty() {
        text += &format!(" {}", readable(&descriptor.detail));
    }
    text
}

/// How often rules matched, and what they could not mark.
#[derive(Debug)]
pub struct Tally {
    places: Vec<u64>,
    refused: Vec<std::collections::BTreeMap<&'static str, (u64, String)>>,
}

impl Tally {
    /// Nothing yet.
    pub fn new(rules: &Rules) -> Tally {
        Tally { places: vec![0; rules.list.len()], refused: vec![Default::default(); rules.list.len()] }
    }

    /// A class more.
    pub fn add(&mut self, marked: &Marked) {
        for &rule in &marked.rules {
            self.places[rule] += 1;
        }
        for refusal in &marked.refused {
            let first = || (0, refusal.method.clone());
            self.refused[refusal.rule].entry(refusal.why).or_insert_with(first).0 += 1;
        }
    }

    /// A line for each rule, and one for each reason for which places are not marked.
    pub fn lines(&self, rules: &Rules) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, rule) in rules.list.iter().enumerate() {
            let name = format!("line {} ({} at {})", rule.line, rule.token, rule.at.name());
            match self.places[number] {
                0 => lines.push(format!("{name}: matches nothing")),
                count => lines.push(format!("{name}: {}", counted(count, "place"))),
            }
            for (why, (count, first)) in &self.refused[number] {
                let others = match count {
                    1 => String::new(),
                    count => format!(" and {} more", grouped(u128::from(count - 1))),
                };
                lines.push(format!("  not marked: {}{others}: {why}", readable(first.as_bytes())));
            }
        }
        lines
    }
}

/// Runs `instrument`.
pub fn instrument(arguments: &Instrument) -> Result<()> {
    arguments.choices.check_markers()?;
    for (given, option) in [
        (arguments.class_path, "--class-path"),
        (arguments.if_changed, "--if-changed"),
        (arguments.report.is_some(), "--report"),
        (arguments.verify, "--verify"),
        (arguments.manifest, "--manifest"),
    ] {
        if given {
            bail!("{option} does not go together with --tool markers yet; leave it out");
        }
    }
    let mut rules = rules(&arguments.choices.markers)?;
    let properties = crate::typestate_command::all(&arguments.choices.typestate)?;
    if !properties.is_empty() {
        let first = rules.list.len();
        rules.add(&cct_typestate::rules::rules(&properties)).context("rules of the properties")?;
        // Messages go by the lines of the file that the user wrote.
        let places = properties.iter().flat_map(|p| &p.events).flat_map(|event| &event.places);
        for (rule, place) in rules.list.iter_mut().skip(first).zip(places) {
            rule.line = place.line;
        }
    }
    let sources = Sources::open(&arguments.inputs, &arguments.choices.library, &arguments.limits.limits())?;
    for input in &sources.inputs {
        if input.layout() != Layout::Plain && !arguments.patches {
            bail!(
                "{}: with --tool markers the class library of a JDK from 9 on becomes patches: give --patches",
                input.path().display()
            );
        }
    }
    let targets = Targets::new(&arguments.output, &sources, &[], arguments.patches)?;
    let progress = Progress::counting("looking at classes", !arguments.quiet);
    let world = world(&sources)?;
    drop(progress);
    let bad = if arguments.keep_bad_classes { BadClasses::Keep } else { BadClasses::Refuse };
    let driver = |input: &Input| Driver {
        rules: &rules,
        world: &world,
        bad,
        lines: lines(&rules, !properties.is_empty()),
        library: library(input),
        patches: arguments.patches,
        modules: Mutex::default(),
    };
    let options = RewriteOptions { level: arguments.level, ..RewriteOptions::default() };
    let mut tally = Tally::new(&rules);
    let mut outputs: Vec<Staged<driver::Record>> = Vec::new();
    let (mut classes, mut markers) = (0, 0);
    let mut dropped = std::collections::BTreeSet::new();
    for (input, target) in sources.inputs.iter().zip(&targets.list) {
        let driver = driver(input);
        let output = match arguments.patches {
            true => input.rewrite_as_patches(target, &options, &driver)?,
            false => input.rewrite(target, &options, &driver)?,
        };
        for record in &output.account().records {
            tally.add(&record.marked);
            classes += u64::from(record.changed);
            markers += record.marked.descriptors.len() as u64;
            dropped.extend(record.marked.dropped_attributes.iter().cloned());
        }
        for notice in &output.account().notices {
            say(&format!("cctrewrite: {notice}"));
        }
        outputs.push(output);
    }
    let jar = jar()?;
    let mut folders: Vec<&Path> = targets.list.iter().filter_map(|target| target.path().parent()).collect();
    folders.dedup();
    let mut jars = Vec::new();
    for folder in folders {
        jars.push(PendingFile::write(&folder.join(JAR), |out| Ok(out.write_all(&jar)?))?);
    }
    if !properties.is_empty() {
        let tables = cct_typestate::encoded::encoded(&properties);
        for target in &targets.list {
            let path = tables_of(target.path());
            jars.push(PendingFile::write(&path, |out| Ok(out.write_all(tables.as_bytes())?))?);
        }
    }
    for output in outputs {
        output.commit()?;
    }
    for jar in jars {
        jar.commit()?;
    }
    targets.keep();
    for name in dropped {
        say(&format!("cctrewrite: attribute {name} of code may hold bytecode indices and was left out"));
    }
    if !arguments.quiet {
        for line in tally.lines(&rules) {
            say(&line);
        }
        say(&format!(
            "{} in {}; run with the options of `cctrewrite flags`",
            counted(markers, "marker"),
            counted(classes, "class")
        ));
    }
    Ok(())
}

/// The file beside an output.
fn tables_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(TABLES);
    PathBuf::from(name)
}

/// What a class that has markers says of them; `None` if it has none.
pub fn explain(sources: &Sources, name: &[u8]) -> Result<Option<String>> {
    let mut text = None;
    for input in &sources.inputs {
        let survey = input.survey(|at, bytes| -> Result<Option<String>> {
            let Some(class) = ClassFile::parse(bytes).ok().filter(|class| class.name() == name) else {
                return Ok(None);
            };
            if class.attributes.find(attribute::NAME).is_none() {
                return Ok(None);
            }
            let again =
                || format!("{at}: its markers are of another version of cctrewrite; mark the original again");
            let descriptors = attribute::read(&class).with_context(again)?;
            let mut text = format!("class {}\n  found in    {at}\n", readable(name));
            text += &format!("  markers     {}\n\n", counted(descriptors.len() as u64, "marker"));
            for (number, descriptor) in descriptors.iter().enumerate() {
                let kind = match (descriptor.pair, descriptor.per_object) {
                    (true, false) => "pair",
                    (false, false) => "one-way",
                    (true, true) => "pair, per object",
                    (false, true) => "one-way, per object",
                };
                text += &format!("  {number:>5}  {}  ({kind})\n", shown(descriptor));
            }
            Ok(Some(text))
        })?;
        text = text.or(survey.classes.into_iter().flatten().next());
    }
    Ok(text)
}

/// The class library that an input is part of.
fn library(input: &Input) -> Option<Library> {
    let is_library = jdk::home_around(input.path()).is_some() || output::has_object(input);
    is_library.then_some(if input.layout() == Layout::Plain { Library::BootPath } else { Library::Modules })
}

fn lossy(name: &[u8]) -> String {
    cct_classfile::mutf8::decode_lossy(name).into_owned()
}

/// What an output says of itself.
fn lines(rules: &Rules, has_properties: bool) -> String {
    let typestate = if has_properties { format!("{TYPESTATE}\n") } else { String::new() };
    format!("rules={:016x}\ntool={TOOL}\n{typestate}", rules.hash())
}
