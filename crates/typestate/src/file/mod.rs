//! The property file: `[[property]]` tables. It may also have `[[marker]]` tables, which the crate
//! `markers` reads.

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};

use crate::automaton::{Automaton, MOST_EVENTS};
use crate::error::{FileError, Problem, shown};
use crate::expression::{self, Expression};
use crate::property::{Ends, Event, EventTime, Level, Objects, Of, Place, Property, Role, Types, Words};
use crate::toml::{Entry, Source};

/// Maximum number of characters of a name.
const LONGEST_NAME: usize = 60;

/// Keys that name the locations of a rule, as in rules of markers.
const RULE: [&str; 12] = [
    "per-object",
    "at",
    "class",
    "method",
    "descriptor",
    "subtypes-of",
    "annotated",
    "callee",
    "callee-subtypes",
    "callers",
    "type",
    "lines",
];

/// Reads the properties of a file.
///
/// # Errors
/// The first unknown, missing or wrong item, by its line and column.
pub fn parse(text: &str) -> Result<Vec<Property>, FileError> {
    let source = Source(text);
    let root = source.parse()?;
    let mut properties: Vec<Property> = Vec::new();
    for entry in source.entries(root.get_ref(), &["property", "marker"])? {
        if entry.key == "marker" {
            continue;
        }
        let kind = "a list of tables: [[property]]";
        for item in entry.list(kind)? {
            let table = item.get_ref().as_table().ok_or_else(|| entry.kind(kind))?;
            let property = Reader { source, at: item.span().start }.property(table)?;
            if properties.iter().any(|p| p.name == property.name) {
                return Err(source.error(item.span().start, Problem::Twice(property.name)));
            }
            properties.push(property);
        }
    }
    Ok(properties)
}

struct Reader<'a> {
    source: Source<'a>,
    /// Offset of the property.
    at: usize,
}

/// The parsed parts of a table.
#[derive(Default)]
struct Parts<'a> {
    name: Option<&'a str>,
    message: Option<&'a str>,
    expression: Option<Entry<'a>>,
    events: Option<Entry<'a>>,
    objects: Option<Objects>,
    types: Option<Entry<'a>>,
    ends: Option<Ends>,
    level: Option<Level>,
}

impl<'a> Reader<'a> {
    fn property(&self, table: &'a DeTable<'a>) -> Result<Property, FileError> {
        let parts = self.parts(table)?;
        let missing = |of: &str, key| self.source.error(self.at, Problem::Missing { of: of.to_owned(), key });
        let name = parts.name.ok_or_else(|| missing("a property", "name"))?;
        let called = format!("property \"{name}\"");
        let message = parts.message.ok_or_else(|| missing(&called, "message"))?;
        let events = parts.events.ok_or_else(|| missing(&called, "events"))?;
        let written = parts.expression.ok_or_else(|| missing(&called, "expression"))?;
        let objects = parts.objects.unwrap_or_else(|| Objects::One("object".to_owned()));
        let is_pair = matches!(objects, Objects::Pair { .. });
        let [object_types, parent_types] = self.types(parts.types, &objects)?;
        let (entries, events) = self.events(&events, name, is_pair)?;
        for (entry, event) in entries.iter().zip(&events) {
            // Of a child it is known where it comes from.
            let is_known = |place: &Place| match (place.object, place.parent) {
                (_, Some(Role::Receiver)) => !parent_types.0.is_empty(),
                (Some(Role::Receiver), _) if !is_pair => !object_types.0.is_empty(),
                _ => true,
            };
            let with_subtypes = |place: &Place| place.said("callee-subtypes") == Some(&Words::Flag(true));
            if event.places.iter().any(|place| with_subtypes(place) && !is_known(place)) {
                return Err(entry.wrong(Problem::NoTypes(entry.key.to_owned())));
            }
        }

        let text = written.text()?;
        let names: Vec<String> = events.iter().map(|event| event.name.clone()).collect();
        let expression = Expression::parse(text, &names).map_err(|error| {
            let at = self.source.within(written.value, text, error.at);
            self.source.error(at, Problem::Expression(error))
        })?;
        let mut used = BTreeSet::new();
        letters(&expression, events.len(), &mut used);
        if let Some(unused) = (0..events.len()).find(|at| !used.contains(at)) {
            return Err(entries[unused].wrong(Problem::Unused(names[unused].clone())));
        }
        let automaton = Automaton::of(&expression, events.len())
            .map_err(|error| written.wrong_value(Problem::TooLarge(error)))?;
        let ends = parts.ends.unwrap_or(Ends { death: true, exit: true });
        let is_checked = automaton.has_open_ends() && (ends.death || ends.exit);
        if automaton.sink.is_none() && !is_checked {
            return Err(written.wrong_value(Problem::AcceptsAll(name.to_owned())));
        }
        if is_pair && events.iter().all(|event| event.of != Of::Creation) {
            return Err(self.source.error(self.at, Problem::NoCreation(name.to_owned())));
        }
        Ok(Property {
            name: name.to_owned(),
            message: message.to_owned(),
            line: self.source.line(self.at),
            text: text.split_whitespace().collect::<Vec<_>>().join(" "),
            expression,
            automaton,
            events,
            objects,
            object_types,
            parent_types,
            ends,
            level: parts.level.unwrap_or(Level::Warning),
        })
    }

    fn parts(&self, table: &'a DeTable<'a>) -> Result<Parts<'a>, FileError> {
        let mut parts = Parts::default();
        let known = ["name", "message", "expression", "events", "objects", "types", "ends", "level"];
        for entry in self.source.entries(table, &known)? {
            match entry.key {
                "name" => {
                    let name = entry.text()?;
                    if !is_name(name) {
                        return Err(entry.wrong_value(Problem::PropertyName(shown(name))));
                    }
                    parts.name = Some(name);
                }
                "message" => parts.message = Some(entry.line_of_text()?),
                "expression" => parts.expression = Some(entry),
                "events" => parts.events = Some(entry),
                "objects" => parts.objects = Some(objects(&entry)?),
                "types" => parts.types = Some(entry),
                "ends" => parts.ends = Some(ends(&entry)?),
                _ => {
                    let word = entry.text()?;
                    let level = Level::ALL.into_iter().find(|level| level.word() == word);
                    let kind = "\"error\", \"warning\" or \"note\"";
                    parts.level = Some(level.ok_or_else(|| entry.kind(kind))?);
                }
            }
        }
        Ok(parts)
    }

    /// The classes of objects (in pairs: of children), and of parents.
    fn types(&self, types: Option<Entry<'a>>, objects: &Objects) -> Result<[Types; 2], FileError> {
        let mut all = [Types::default(), Types::default()];
        let Some(types) = types else { return Ok(all) };
        let table = types.value.get_ref().as_table();
        let table = table.ok_or_else(|| types.kind("a table: [property.types]"))?;
        let known: Vec<&str> = match objects {
            Objects::One(object) => vec![object.as_str()],
            Objects::Pair { parent, child } => vec![child.as_str(), parent.as_str()],
        };
        let kind = "a list of class names: \"a.B\", \"a.*\", or excluded \"!a.B\"; one at least is \
                    not excluded";
        for entry in self.source.entries(table, &known)? {
            let names = entry.texts(kind)?;
            let is_some = names.iter().any(|name| !name.starts_with('!'));
            if !is_some || !names.iter().all(|name| Types::is_type(name)) {
                return Err(entry.kind(kind));
            }
            let names = Types(names.into_iter().map(str::to_owned).collect());
            for (types, _) in all.iter_mut().zip(&known).filter(|(_, name)| **name == entry.key) {
                types.clone_from(&names);
            }
        }
        Ok(all)
    }

    /// The events, each with its entry in the file.
    fn events(
        &self,
        events: &Entry<'a>,
        property: &str,
        is_pair: bool,
    ) -> Result<(Vec<Entry<'a>>, Vec<Event>), FileError> {
        let table =
            events.value.get_ref().as_table().ok_or_else(|| events.kind("a table: [property.events]"))?;
        let entries = self.source.entries(table, &[])?;
        if entries.len() > MOST_EVENTS {
            return Err(events.wrong(Problem::Events(property.to_owned())));
        }
        let read = entries.iter().map(|entry| self.event(entry, is_pair)).collect::<Result<_, _>>()?;
        Ok((entries, read))
    }

    fn event(&self, entry: &Entry<'a>, is_pair: bool) -> Result<Event, FileError> {
        if !is_name(entry.key) {
            return Err(entry.wrong(Problem::EventName(shown(entry.key))));
        }
        let kind = "a place { class = ..., method = ... } or a list of them";
        let places: Vec<Place> = match entry.value.get_ref() {
            DeValue::Table(table) => vec![self.place(table, entry, entry.at, is_pair)?],
            DeValue::Array(items) if !items.is_empty() => {
                let place = |item: &'a toml::Spanned<DeValue<'a>>| match item.get_ref() {
                    DeValue::Table(table) => self.place(table, entry, item.span().start, is_pair),
                    _ => Err(entry.kind(kind)),
                };
                items.iter().map(place).collect::<Result<_, _>>()?
            }
            _ => return Err(entry.kind(kind)),
        };
        let of = |place: &Place| match (place.object, place.parent) {
            (_, None) => Of::Object,
            (None, Some(_)) => Of::Parent,
            (Some(_), Some(_)) => Of::Creation,
        };
        let first = places.first().map_or(Of::Object, of);
        if places.iter().any(|place| of(place) != first) {
            return Err(entry.wrong(Problem::Mixed(entry.key.to_owned())));
        }
        Ok(Event { name: entry.key.to_owned(), of: first, places })
    }

    fn place(
        &self,
        table: &'a DeTable<'a>,
        event: &Entry<'a>,
        at: usize,
        is_pair: bool,
    ) -> Result<Place, FileError> {
        let known: Vec<&str> = ["when", "object", "child", "parent", "if"].into_iter().chain(RULE).collect();
        let (mut rule, mut when, mut object, mut parent) = (Vec::new(), EventTime::Enter, None, None);
        let mut if_result = false;
        for entry in self.source.entries(table, &known)? {
            match entry.key {
                "when" => {
                    when = match entry.text()? {
                        "enter" => EventTime::Enter,
                        "return" => EventTime::Return,
                        _ => return Err(entry.kind("\"enter\" or \"return\"")),
                    }
                }
                "object" if is_pair => return Err(entry.wrong(Problem::NoRole)),
                "child" | "object" if is_pair || entry.key == "object" => object = Some(role(&entry)?),
                "parent" if is_pair => parent = Some(role(&entry)?),
                "child" => return Err(entry.wrong(Problem::NoPair("child"))),
                "parent" => return Err(entry.wrong(Problem::NoPair("parent"))),
                "if" => {
                    if_result = entry.text()? == "result";
                    if !if_result {
                        return Err(entry.kind("\"result\""));
                    }
                }
                "callers" if !["all", "program"].contains(&entry.text()?) => {
                    return Err(entry.kind("\"all\" or \"program\""));
                }
                "per-object" | "callee-subtypes" => {
                    let flag = entry.value.get_ref().as_bool().ok_or_else(|| entry.kind("true or false"))?;
                    rule.push((entry.key.to_owned(), Words::Flag(flag)));
                }
                "lines" => rule.push((entry.key.to_owned(), Words::Numbers(numbers(&entry)?))),
                _ => rule.push((entry.key.to_owned(), Words::One(entry.line_of_text()?.to_owned()))),
            }
        }
        let wrong = |problem| Err(self.source.error(at, problem));
        let says_where = |(key, _): &(String, Words)| {
            ["class", "subtypes-of", "annotated", "callee", "type"].contains(&key.as_str())
        };
        if !rule.iter().any(says_where) {
            return wrong(Problem::Nowhere(event.key.to_owned()));
        }
        if is_pair && object.is_none() && parent.is_none() {
            return wrong(Problem::NoRole);
        }
        if when == EventTime::Enter {
            for (key, role) in [(if is_pair { "child" } else { "object" }, object), ("parent", parent)] {
                if role == Some(Role::Result) {
                    return wrong(Problem::ResultBefore(key));
                }
            }
            if if_result {
                return wrong(Problem::ResultBefore("if"));
            }
        }
        if !is_pair {
            object = object.or(Some(Role::Receiver));
        }
        Ok(Place { line: self.source.line(at), rule, when, object, parent, if_result })
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= LONGEST_NAME && expression::is_event_name(name)
}

fn letters(expression: &Expression, events: usize, used: &mut BTreeSet<usize>) {
    match expression {
        Expression::Event(event) => {
            used.insert(*event);
        }
        Expression::Any => used.extend(0..events),
        Expression::Sequence(all) | Expression::Alternatives(all) => {
            all.iter().for_each(|e| letters(e, events, used));
        }
        Expression::Repeated { what, .. } => letters(what, events, used),
    }
}

fn objects(entry: &Entry<'_>) -> Result<Objects, FileError> {
    let kind = "what an object is called, or two of them: [\"PARENT\", \"CHILD\"]";
    let is_word =
        |word: &str| (1..=LONGEST_NAME).contains(&word.len()) && !word.chars().any(char::is_control);
    if let Some(one) = entry.value.get_ref().as_str() {
        return if is_word(one) { Ok(Objects::One(one.to_owned())) } else { Err(entry.kind(kind)) };
    }
    match entry.texts(kind)?[..] {
        [parent, child] if is_word(parent) && is_word(child) => {
            Ok(Objects::Pair { parent: parent.to_owned(), child: child.to_owned() })
        }
        _ => Err(entry.kind(kind)),
    }
}

fn ends(entry: &Entry<'_>) -> Result<Ends, FileError> {
    let kind = "a list of \"death\" and \"exit\"; [] where it does not matter how objects end";
    let mut ends = Ends { death: false, exit: false };
    for word in entry.texts(kind)? {
        match word {
            "death" => ends.death = true,
            "exit" => ends.exit = true,
            _ => return Err(entry.kind(kind)),
        }
    }
    Ok(ends)
}

fn role(entry: &Entry<'_>) -> Result<Role, FileError> {
    let text = entry.text()?;
    Role::parse(text)
        .filter(|role| *role != Role::Argument(255))
        .ok_or_else(|| entry.wrong_value(Problem::Role(shown(text))))
}

fn numbers(entry: &Entry<'_>) -> Result<Vec<i64>, FileError> {
    let kind = "a list of numbers";
    let number = |value: &DeValue<'_>| {
        let number = value.as_integer()?;
        i64::from_str_radix(number.as_str(), number.radix()).ok()
    };
    let items = entry.list(kind)?.iter();
    items.map(|item| number(item.get_ref()).ok_or_else(|| entry.kind(kind))).collect()
}

#[cfg(test)]
mod tests;
