//! `cctrewrite explain`: shows what the rewriter does to a class, and why.

mod constants;
mod explained_class;
mod frames;
mod listing;
mod markers;
mod method;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Mutex;

use anyhow::{Result, anyhow, bail};
use cct_archive::EntryId;
use cct_build::inputs::{BadClasses, Sources, UnfitClasses};
use cct_build::instrument::{filter, refused_by_jvms};
use cct_build::text::readable;
use cct_classfile::{ClassFile, Member};
use cct_index::mid::ClassHash;
use cct_jdk::convention::with_extension;
use cct_profile::report::grouped;
use cct_rewrite::{Error, Rewriter, Role, World};

use crate::args::Explain;
use crate::exit;
use crate::explain::explained_class::ExplainedClass;
use crate::progress::Progress;
use constants::Constants;

/// A class with the name that the user asked for.
struct Candidate {
    id: EntryId,
    place: String,
    bytes: Vec<u8>,
}

/// Runs the command.
pub fn run(arguments: &Explain) -> Result<()> {
    let wanted = arguments.class.replace('.', "/");
    let name = cct_classfile::mutf8::encode(&wanted);
    let sources = Sources::open(
        std::slice::from_ref(&arguments.input),
        &arguments.choices.library,
        &arguments.limits.limits(),
    )?;
    if let Some(text) = markers::explain(&sources, &name)? {
        return exit::text_to_stdout(|out| out.write_all(text.as_bytes()));
    }
    let filter = filter(&arguments.choices)?;
    let settings = arguments.choices.settings();

    let candidates = Mutex::new(Vec::new());
    let survey = {
        let progress = Progress::counting("reading classes", true);
        sources.survey(&settings, BadClasses::Keep, &|role, at, summary, bytes| {
            progress.step();
            if role == Role::Input && *summary.name == *name {
                let candidate = Candidate { id: at.id(), place: at.to_string(), bytes: bytes.to_vec() };
                // A poisoned lock means that another visitor panicked, which ends the survey
                // anyway.
                candidates.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(candidate);
            }
        })?
    };
    let mut candidates = candidates.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    candidates.sort_by(|a, b| a.id.cmp(&b.id));
    let Some((candidate, others)) = candidates.split_first() else {
        return Err(not_found(&wanted, arguments, &survey.world(&UnfitClasses::new())));
    };
    for other in others {
        let (other, shown) = (&other.place, &candidate.place);
        exit::say(&format!("cctrewrite: the class is also in {other}; this shows {shown}"));
    }

    let recorded = filter.clone();
    let world = survey.world(&UnfitClasses::new());
    let rewriter = Rewriter::new(world, settings, survey.provenance, move |class| recorded.records(class))?;
    let class = ClassFile::parse(&candidate.bytes)?;
    let hash = ClassHash::of(&candidate.bytes);
    let id = rewriter.world().class_hashed(hash).ok_or_else(|| Error::NotSurveyed(wanted.clone()))?;
    if rewriter.world()[id].role == Role::Library {
        bail!("{}: jlink generates this class, so the one in a jmod is not rewritten", candidate.place);
    }
    if let Some(why) = refused_by_jvms(&class) {
        bail!("{}: {why}; it is not rewritten", candidate.place);
    }
    let methods = chosen_methods(&class, arguments.method.as_deref())?;
    let rewritten = rewriter.rewrite(&candidate.bytes)?;
    let records = |class: &[u8]| filter.records(class);
    let explained =
        ExplainedClass { rewriter: &rewriter, records: &records, id, settings, rewritten: &rewritten };
    exit::text_to_stdout(|out| write(arguments, &explained, &candidate.place, &class, &methods, out))
}

fn not_found(wanted: &str, arguments: &Explain, world: &World) -> anyhow::Error {
    let simple = |name: &str| name.rsplit(['/', '$']).next().unwrap_or_default().to_owned();
    let inputs = world.ids().map(|id| &world[id]).filter(|class| class.role == Role::Input);
    let names: BTreeSet<String> = inputs.map(|class| readable(&class.summary.name)).collect();
    let similar: Vec<&str> =
        names.iter().filter(|name| simple(name) == simple(wanted)).take(5).map(String::as_str).collect();
    let hint =
        if similar.is_empty() { String::new() } else { format!("; did you mean {}?", similar.join(" or ")) };
    anyhow!("{} has no class {wanted}{hint}", arguments.input.display())
}

/// Positions of the methods with the wanted name, or name and descriptor. Without one, all
/// positions.
fn chosen_methods(class: &ClassFile<'_>, wanted: Option<&str>) -> Result<Vec<usize>> {
    let Some(wanted) = wanted else { return Ok((0..class.methods.len()).collect()) };
    let (name, descriptor) = wanted.split_at(wanted.find('(').unwrap_or(wanted.len()));
    let (name, descriptor) = (cct_classfile::mutf8::encode(name), cct_classfile::mutf8::encode(descriptor));
    let fits = |method: &Member<'_>| {
        method.name == &*name && (descriptor.is_empty() || method.descriptor == &*descriptor)
    };
    let chosen: Vec<usize> = (0..class.methods.len()).filter(|&i| fits(&class.methods[i])).collect();
    if chosen.is_empty() {
        let names: BTreeSet<String> = class.methods.iter().map(|method| readable(method.name)).collect();
        let names: Vec<String> = names.into_iter().collect();
        bail!("class {} has no method {wanted}; it has {}", readable(class.name()), names.join(", "));
    }
    Ok(chosen)
}

fn write(
    arguments: &Explain,
    explained: &ExplainedClass<'_>,
    place: &str,
    class: &ClassFile<'_>,
    methods: &[usize],
    out: &mut dyn Write,
) -> Result<()> {
    write_class(explained, place, class, out)?;
    let Some(bytes) = &explained.rewritten.bytes else {
        writeln!(out, "  The class is not rewritten.")?;
        return Ok(());
    };
    let after = ClassFile::parse(bytes)?;
    let (constants, constants_after) = (Constants::of(class)?, Constants::of(&after)?);
    for &index in methods {
        writeln!(out)?;
        method::write(explained, class, index, out)?;
        if arguments.no_code {
            continue;
        }
        let method = &class.methods[index];
        writeln!(out, "  before")?;
        listing::write(class, &constants, method, "    ", out)?;
        writeln!(out, "  after")?;
        // The methods of the original class come first, in their original order.
        listing::write(&after, &constants_after, &after.methods[index], "    ", out)?;
        let extended = with_extension(method.descriptor);
        let added = &after.methods[class.methods.len()..];
        for twin in added.iter().filter(|m| m.name == method.name && m.descriptor == extended) {
            writeln!(out, "  added")?;
            listing::write(&after, &constants_after, twin, "    ", out)?;
        }
    }
    if arguments.method.is_some() {
        return Ok(());
    }
    let is_twin = |added: &Member<'_>| {
        class.methods.iter().any(|m| m.name == added.name && with_extension(m.descriptor) == added.descriptor)
    };
    for added in after.methods[class.methods.len()..].iter().filter(|added| !is_twin(added)) {
        writeln!(out, "\n{}\n  added       belongs to the class as a whole", listing::signature(added))?;
        if !arguments.no_code {
            listing::write(&after, &constants_after, added, "    ", out)?;
        }
    }
    Ok(())
}

fn write_class(
    explained: &ExplainedClass<'_>,
    place: &str,
    class: &ClassFile<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    let kind = if class.is_interface() { "interface" } else { "class" };
    writeln!(out, "{kind} {}", readable(class.name()))?;
    writeln!(out, "  found in    {place}")?;
    writeln!(out, "  version     {}.{}", class.major_version, class.minor_version)?;
    if let Some(superclass) = class.super_name() {
        writeln!(out, "  extends     {}", readable(superclass))?;
    }
    let interfaces: Vec<String> = class.interface_names().map(readable).collect();
    if !interfaces.is_empty() {
        writeln!(out, "  implements  {}", interfaces.join(", "))?;
    }
    if !(explained.records)(class.name()) {
        writeln!(out, "  recorded    no: --include or --exclude excludes it")?;
    }
    if explained.rewriter.world()[explained.id].has_unknown_ancestor {
        writeln!(out, "  ancestors   some are unknown; name the jar or folder that has them with --library")?;
    }
    let report = &explained.rewritten.report;
    if let Some(bytes) = &explained.rewritten.bytes {
        let (before, after) = (class.bytes.len() as u128, bytes.len() as u128);
        writeln!(out, "  size        {} bytes, rewritten {}", grouped(before), grouped(after))?;
    }
    if !report.dropped.is_empty() {
        writeln!(
            out,
            "  dropped     code attributes that may hold bytecode indices: {}",
            report.dropped.join(", ")
        )?;
    }
    Ok(())
}
