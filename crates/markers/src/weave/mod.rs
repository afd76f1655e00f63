//! The marking of a class: calls at the locations that rules match, the members that these calls
//! need, and the attribute that lists the markers.
//!
//! An entered region has a token that is not null, in a local of the method, and its exit reports
//! the token. A region may be left without a report, above all by an exception; the next reported
//! exit reveals that. So exits may be wherever control may come from a region, and report nothing
//! if it comes from elsewhere. Each reported entry has its exit, even if markers are enabled or
//! disabled between them.

pub mod class_markers;
mod method;
mod place;
#[cfg(test)]
mod tests;
mod throwing;

use std::collections::BTreeSet;

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::edit::ClassEdit;
use cct_classfile::{ClassFile, Code, ErrorKind, Member, NameAndType, access, mutf8, opcode};

use crate::attribute::{self, Descriptor};
use crate::gate::Gate;
use crate::helpers::{Helper, Helpers, PREFIX};
use crate::places::{self, MatchedPlace, Refusal, Shape, Spot};
use crate::rules::{At, Rule, Rules};
use crate::world::World;
use method::Method;
use place::{Place, is_instant};
use throwing::is_stored;

/// Maximum number of markers of a class: the code that passes its descriptors has eight bytes for
/// each.
const MOST: usize = 4096;

/// The reason why a class cannot be marked at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is malformed.
    #[error(transparent)]
    Class(#[from] cct_classfile::Error),
    /// It was marked before.
    #[error("class {0} already has markers; give the original instead")]
    AlreadyMarked(String),
    /// It uses a name that cctrewrite reserves.
    #[error("class {class} declares {member}, a name that markers need")]
    NameTaken {
        /// The class.
        class: String,
        /// The member with the name.
        member: String,
    },
}

type Result<T, E = Error> = std::result::Result<T, E>;

/// The result of marking a class.
#[derive(Debug, Clone, Default)]
pub struct MarkedClass {
    /// The new class file; `None` if nothing in it is marked.
    pub bytes: Option<Vec<u8>>,
    /// The markers of the class.
    pub descriptors: Vec<Descriptor>,
    /// The positions of the markers' rules.
    pub rules: Vec<usize>,
    /// Matched locations that are not marked, or not as their rule says.
    pub refused: Vec<Refusal>,
    /// Omitted attributes of code: unknown ones that may hold bytecode indices.
    pub dropped_attributes: Vec<String>,
}

impl MarkedClass {
    /// Removes all markers of a class, for a reason: the locations that its rules match become
    /// refusals.
    pub fn give_up(&mut self, class: &[u8], why: &'static str) {
        let places = self.descriptors.drain(..).zip(self.rules.drain(..));
        self.refused.extend(places.map(|(place, rule)| Refusal {
            rule,
            method: place.name_and_type().of_class(class).to_string(),
            why,
        }));
        self.dropped_attributes.clear();
        self.bytes = None;
    }
}

/// The kind of library with the runtime, if it is not on the program's class path: the runtime is
/// then in a package that all loaders know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    /// The class library of a JDK up to 8, which has the class.
    BootPath,
    /// The class library of a JDK from 9 on, which has the class.
    Modules,
    /// A marked class library on which the class's program runs.
    Below,
    /// A class library that is also counted, or a program on one: classes reach the runtime through
    /// helpers of `java.lang.Object`.
    Counted,
}

/// The reason why a method of the class can have no markers; `None` if it can.
pub type Objection<'w> = &'w dyn Fn(NameAndType<'_>) -> Option<&'static str>;

/// The inputs of marking besides the class itself.
#[derive(Clone, Copy)]
pub struct Way<'w> {
    /// The rules.
    pub rules: &'w Rules,
    /// The class hierarchy.
    pub world: &'w World,
    /// The library with the runtime, if it is not on the program's class path.
    pub library: Option<Library>,
    /// The reason why a method can have no markers, apart from its class.
    pub objection: Objection<'w>,
}

impl<'w> Way<'w> {
    /// The inputs for a program.
    pub fn new(rules: &'w Rules, world: &'w World) -> Self {
        Way { rules, world, library: None, objection: &|_| None }
    }

    fn gate(&self) -> Gate {
        Gate::Class(if self.library.is_some() { b"java/lang/CctMarkers" } else { b"cctrewrite/markers/Gate" })
    }
}

/// Marks a class.
pub fn mark(bytes: &[u8], way: &Way<'_>) -> Result<MarkedClass> {
    let class = ClassFile::parse(bytes)?;
    mark_class(&class, way).map_err(|error| match error {
        Error::Class(error) => Error::Class(class.locate(error)),
        other => other,
    })
}

/// The locations that the rules match in a class, without marking it.
pub fn matches(class: &ClassFile<'_>, way: &Way<'_>) -> Result<MarkedClass> {
    let rules = way.rules;
    let of_class = places::of_class(class, rules, way.world);
    let mut marked = MarkedClass::default();
    if of_class.is_empty() || class.is(access::MODULE) {
        return Ok(marked);
    }
    let places = find(class, &of_class, way, &BTreeSet::new(), &mut marked.refused)?;
    for (descriptor, rule) in describe(class, &places, rules) {
        marked.descriptors.push(descriptor);
        marked.rules.push(rule);
    }
    Ok(marked)
}

fn mark_class(class: &ClassFile<'_>, way: &Way<'_>) -> Result<MarkedClass> {
    let of_class = places::of_class(class, way.rules, way.world);
    if of_class.is_empty() || class.is(access::MODULE) {
        return Ok(MarkedClass::default());
    }
    let mut left_out = BTreeSet::new();
    let mut refused_for_size = Vec::new();
    loop {
        let mut marked = MarkedClass { refused: refused_for_size.clone(), ..MarkedClass::default() };
        let places = find(class, &of_class, way, &left_out, &mut marked.refused)?;
        if places.is_empty() {
            return Ok(marked);
        }
        check_names(class)?;
        let mut leave_out = |place: &Place<'_>, why| {
            let method = method_name(class, &class.methods[place.position]);
            let rules: BTreeSet<usize> = place.found.iter().map(|found| found.rule).collect();
            refuse(&mut refused_for_size, rules, &method, why);
            left_out.insert(place.position);
        };
        match write(class, &places, way, &mut marked) {
            Ok(()) => return Ok(marked),
            Err((Some(at), error)) if is_outgrown(&error) => {
                leave_out(&places[at], "it would exceed the size limit of methods");
            }
            Err((None, error)) if matches!(error.kind(), ErrorKind::PoolTooLarge | ErrorKind::TooMany(_)) => {
                for place in &places {
                    leave_out(place, "its class has no room for more constants or members");
                }
            }
            Err((_, error)) => return Err(error.into()),
        }
    }
}

/// Adds a refusal for each rule that would mark a method that cannot be marked.
fn refuse(
    refused: &mut Vec<Refusal>,
    rules: impl IntoIterator<Item = usize>,
    method: &str,
    why: &'static str,
) {
    refused.extend(rules.into_iter().map(|rule| Refusal { rule, method: method.to_owned(), why }));
}

fn is_outgrown(error: &cct_classfile::Error) -> bool {
    matches!(error.kind(), ErrorKind::MethodTooLarge(_) | ErrorKind::JumpTooFar(_) | ErrorKind::TooMany(_))
}

fn method_name(class: &ClassFile<'_>, member: &Member<'_>) -> String {
    member.of_class(class.name()).to_string()
}

fn check_names(class: &ClassFile<'_>) -> Result<()> {
    let name = || mutf8::lossy(class.name());
    if class.attributes.find(attribute::NAME).is_some() {
        return Err(Error::AlreadyMarked(name()));
    }
    let taken = [&b"markers"[..], b"skipped", b"table", b"register", b"enter", b"pass"];
    let is_ours = |member: &&Member<'_>| {
        let rest = member.name.strip_prefix(PREFIX);
        rest.is_some_and(|rest| taken.iter().any(|taken| rest.starts_with(taken)))
    };
    match class.methods.iter().chain(&class.fields).find(is_ours) {
        None => Ok(()),
        Some(member) => Err(Error::NameTaken { class: name(), member: mutf8::lossy(member.name) }),
    }
}

/// All matching locations of a class, by method.
fn find<'a>(
    class: &ClassFile<'a>,
    of_class: &[(usize, &Rule)],
    way: &Way<'_>,
    left_out: &BTreeSet<usize>,
    refused: &mut Vec<Refusal>,
) -> Result<Vec<Place<'a>>> {
    let mut places = Vec::new();
    let mut total = 0;
    for (position, member) in class.methods.iter().enumerate() {
        let matching: Vec<(usize, &Rule)> = of_class
            .iter()
            .copied()
            .filter(|(_, rule)| places::matches_method(class, member, rule))
            .collect();
        let why = (way.objection)(member.name_and_type());
        if let (Some(why), false) = (why, member.is(access::ABSTRACT)) {
            let method = method_name(class, member);
            refused.extend(matching.iter().map(|&(rule, _)| Refusal { rule, method: method.clone(), why }));
            continue;
        }
        if matching.is_empty() || left_out.contains(&position) || member.name.starts_with(PREFIX) {
            continue;
        }
        let mut refuse = |rule, why| {
            refused.push(Refusal { rule, method: method_name(class, member), why });
        };
        for (rule, why) in matching.iter().filter_map(|&(r, rule)| Some((r, places::refusal(member, rule)?)))
        {
            refuse(rule, why);
        }
        let Some(code) = Code::of(class, member).map_err(|e| member.locate(e))? else { continue };
        let mut shape = Shape::of(class, member, code);
        let mut found = Vec::new();
        for &(number, rule) in &matching {
            let (some, reasons) =
                places::find(class, &mut shape, number, rule, way.world).map_err(|e| member.locate(e))?;
            let count = found.len();
            for one in some {
                match objection(class, member, &shape, rule, &one, way) {
                    Some(why) => refuse(number, why),
                    None => found.push(one),
                }
            }
            if found.len() > count && total + found.len() > MOST {
                found.truncate(count);
                refuse(number, "its class already has more than 4096 markers");
            }
            for why in reasons {
                refuse(number, why);
            }
        }
        // In the order of their entries.
        found.sort_by_key(|one| (one.bci, way.rules.list[one.rule].at, one.rule));
        total += found.len();
        if !found.is_empty() {
            places.push(Place { position, shape, found });
        }
    }
    Ok(places)
}

/// The reason why a location cannot be marked, if any.
fn objection(
    class: &ClassFile<'_>,
    member: &Member<'_>,
    shape: &Shape<'_>,
    rule: &Rule,
    found: &MatchedPlace,
    way: &Way<'_>,
) -> Option<&'static str> {
    if matches!(way.library, Some(Library::BootPath | Library::Counted)) && class.major_version < 49 {
        return Some("its class file is older than version 49, and has no class constants");
    }
    if class.is_interface() && class.major_version < 52 {
        return Some("it is in an interface of a version below 52, which cannot have methods with code");
    }
    if [member.name, member.descriptor, &found.detail].iter().any(|text| text.contains(&1)) {
        return Some("a name has a control character");
    }
    if member.name.len() + member.descriptor.len() + found.detail.len() > 60_000 {
        return Some("its names are too long for a descriptor");
    }
    if member.name == b"finalize" && member.descriptor == b"()V" && shape.code.bytes == [opcode::RETURN] {
        return Some("an empty finalize(): with code, the JVM would keep its objects to run it");
    }
    if let Some(regions) = &shape.regions {
        if rule.at == At::Method && regions.is_empty() {
            return Some("a constructor whose paths disagree on whether this() or super() was called");
        }
        if rule.at != At::Method && rule.pair && !shape.has_this(found.bci) {
            return Some(
                "a region in a constructor before this() or super() has returned, where exceptions cannot be caught",
            );
        }
    }
    if rule.per_object {
        let has_object = !member.is(access::STATIC) && !class.is_interface() && member.name != b"<init>";
        if !has_object || class.attributes.find(b"Record").is_some() {
            return Some(
                "per-object is for instance methods of classes, not for static methods, \
                 constructors, interfaces and records",
            );
        }
    }
    let arguments = match (&found.spot, rule.arguments) {
        (Spot::Method, true) => MethodDescriptor::parse(member.descriptor).ok(),
        (Spot::Call { .. }, true) => {
            let opening = found.detail.iter().rposition(|&b| b == b'(');
            opening.and_then(|at| MethodDescriptor::parse(&found.detail[at..]).ok())
        }
        _ => None,
    };
    // The helper also gets an object, and the slot if the program is counted.
    let most = if way.library == Some(Library::Counted) { 251 } else { 253 };
    if arguments.is_some_and(|descriptor| descriptor.argument_slots() > most) {
        return Some("it has too many arguments to pass");
    }
    if rule.arguments && member.name == b"<init>" && rule.at == At::Method {
        let slots = MethodDescriptor::parse(member.descriptor).map_or(0, |d| d.argument_slots());
        if (1..=slots).any(|slot| is_stored(&shape.code, slot)) {
            return Some(
                "a constructor that assigns its parameters: the arguments are lost when super() has returned",
            );
        }
    }
    None
}

/// The descriptors of a class's markers, in the order of their numbers: per-object markers first,
/// since these have bits for 32.
fn describe(class: &ClassFile<'_>, places: &[Place<'_>], rules: &Rules) -> Vec<(Descriptor, usize)> {
    let mut all = Vec::new();
    for place in places {
        let member = &class.methods[place.position];
        for found in &place.found {
            let rule = &rules.list[found.rule];
            let descriptor = Descriptor {
                token: rule.token.clone(),
                predicate: rule.predicate.clone(),
                pair: rule.pair,
                per_object: rule.per_object,
                instant: is_instant(class, member, place, found, rule),
                place: rule.at.name().to_owned(),
                method: member.name.into(),
                descriptor: member.descriptor.into(),
                bci: found.bci,
                line: place.shape.line(found.bci),
                detail: found.detail.clone().into(),
            };
            all.push((descriptor, found.rule));
        }
    }
    all
}

/// Descriptors, each with the position of its rule.
type Descriptors = Vec<(Descriptor, usize)>;

/// Markers in the order of their numbers, and the number of each in the order of locations.
fn number(described: Descriptors) -> cct_classfile::Result<(Descriptors, Vec<u16>)> {
    if described.iter().filter(|(descriptor, _)| descriptor.per_object).count() > 32 {
        return Err(ErrorKind::TooMany("markers that ask objects in a class; 32 at most").into());
    }
    let mut order: Vec<usize> = (0..described.len()).collect();
    order.sort_by_key(|&at| !described[at].0.per_object);
    let mut numbers = vec![0u16; described.len()];
    for (number, &at) in order.iter().enumerate() {
        numbers[at] = number as u16;
    }
    // The sort must be stable.
    let mut described = described;
    described.sort_by_key(|(descriptor, _)| !descriptor.per_object);
    Ok((described, numbers))
}

type WriteResult = std::result::Result<(), (Option<usize>, cct_classfile::Error)>;

fn write(
    class: &ClassFile<'_>,
    places: &[Place<'_>],
    way: &Way<'_>,
    marked: &mut MarkedClass,
) -> WriteResult {
    let rules = way.rules;
    let whole = |error| (None, error);
    let (descriptors, numbers) = number(describe(class, places, rules)).map_err(whole)?;
    let mut edit = ClassEdit::new(class);
    let helpers = Helpers::new(&edit, way.gate(), way.library == Some(Library::BootPath));
    let mut list: Vec<Option<Helper>> = vec![None; descriptors.len()];
    let mut at = 0;
    for (which, place) in places.iter().enumerate() {
        let numbers = &numbers[at..at + place.found.len()];
        at += place.found.len();
        let member = &class.methods[place.position];
        let (helpers, list) = (&helpers, &mut list);
        let mut method = Method { class, member, place, rules, numbers, helpers, list, slot: None };
        let (bytes, dropped) =
            method.write(&mut edit).map_err(|error| (Some(which), member.locate(error)))?;
        edit.replace_method(place.position, bytes);
        marked.dropped_attributes.extend(dropped);
    }
    for (descriptor, rule) in descriptors {
        marked.descriptors.push(descriptor);
        marked.rules.push(rule);
    }
    let texts: Vec<Vec<u8>> = marked.descriptors.iter().map(Descriptor::text).collect();
    let list: Vec<Helper> = list.into_iter().flatten().collect();
    helpers.add(&mut edit, &list, &texts).map_err(whole)?;
    edit.add_attribute(attribute::NAME, attribute::write(&marked.descriptors)).map_err(whole)?;
    marked.bytes = Some(edit.finish().map_err(whole)?);
    Ok(())
}
