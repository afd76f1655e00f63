//! The rules file (docs/research/markers.md): the locations to mark, their tokens, and the
//! arguments of handlers.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::callee::CalleePattern;
use crate::patterns::NamePattern;

/// A fault of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct RulesError {
    /// The line, from 1.
    pub line: usize,
    /// The fault in that line.
    pub problem: Problem,
}

/// The fault of a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Invalid TOML.
    #[error("{0}")]
    Syntax(String),
    /// A table other than `[[marker]]`.
    #[error("unknown key '{0}': a rules file has only tables [[marker]]")]
    NotAMarker(String),
    /// An unknown key.
    #[error("unknown key '{key}': a [[marker]] has {KEYS}")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A missing key.
    #[error("the [[marker]] needs the key '{0}'")]
    Missing(&'static str),
    /// A value of the wrong kind.
    #[error("'{key}' must be {kind}")]
    Kind {
        /// The key.
        key: String,
        /// The required kind.
        kind: &'static str,
    },
    /// An unknown word.
    #[error("{key} = \"{value}\": it must be {known}")]
    Word {
        /// The key.
        key: String,
        /// Value of the key.
        value: String,
        /// The known ones.
        known: String,
    },
    /// A bad pattern.
    #[error("{key}: bad glob \"{pattern}\": {why}")]
    Pattern {
        /// The key.
        key: String,
        /// The pattern.
        pattern: String,
        /// The reason.
        why: String,
    },
    /// Keys that contradict each other.
    #[error("{0}")]
    Contradiction(String),
}

const KEYS: &str = "token, predicate, at, kind, class, method, descriptor, subtypes-of, annotated, callee, callee-subtypes, callers, type, field, lines, context, per-object, sample";

/// A kind of location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum At {
    /// A method, from its entry to its exits.
    Method,
    /// A loop, from its head to its exits.
    Loop,
    /// Each pass of a loop's head.
    LoopHeader,
    /// A basic block.
    Block,
    /// The start of a line.
    Line,
    /// The start of an exception handler.
    Handler,
    /// An invocation.
    Call,
    /// The allocation of an object or array, after it is complete.
    Allocation,
    /// A read of a field.
    FieldRead,
    /// A write of a field.
    FieldWrite,
}

impl At {
    const ALL: [(At, &'static str); 10] = [
        (At::Method, "method"),
        (At::Loop, "loop"),
        (At::LoopHeader, "loop-header"),
        (At::Block, "block"),
        (At::Line, "line"),
        (At::Handler, "handler"),
        (At::Call, "call"),
        (At::Allocation, "allocation"),
        (At::FieldRead, "field-read"),
        (At::FieldWrite, "field-write"),
    ];

    /// The word for it in rules and descriptors.
    pub fn name(self) -> &'static str {
        At::ALL.iter().find(|(at, _)| *at == self).map_or("", |(_, name)| name)
    }

    /// Whether it has an extent, so that it may have an exit.
    pub fn has_extent(self) -> bool {
        matches!(self, At::Method | At::Loop | At::Block | At::Call)
    }
}

/// The classes whose calls a rule matches, apart from its other conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callers {
    /// All classes.
    All,
    /// Classes outside the class library.
    Program,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Line of the rule in its file.
    pub line: usize,
    /// Name to which clients subscribe.
    pub token: String,
    /// Text for clients.
    pub predicate: String,
    /// The kind of location that it marks.
    pub at: At,
    /// Whether there is an exit.
    pub pair: bool,
    /// Whether handlers get the object.
    pub receiver: bool,
    /// Whether handlers get the arguments.
    pub arguments: bool,
    /// Whether handlers get the return value.
    pub result: bool,
    /// Whether clients can ignore single objects.
    pub per_object: bool,
    /// The classes whose calls match.
    pub callers: Callers,
    pub(crate) class: Option<NamePattern>,
    pub(crate) method: Option<String>,
    pub(crate) descriptor: Option<String>,
    pub(crate) subtypes_of: Option<Vec<u8>>,
    pub(crate) annotated: Option<NamePattern>,
    pub(crate) callee: Option<CalleePattern>,
    pub(crate) made: Option<NamePattern>,
    pub(crate) field: Option<NamePattern>,
    pub(crate) lines: Vec<u16>,
    pub(crate) sample: Option<u64>,
}

impl Rule {
    /// Whether a class of that name may have matching locations, apart from the rule's other
    /// conditions.
    pub(crate) fn may_match(&self, class: &[u8]) -> bool {
        self.class.as_ref().is_none_or(|pattern| pattern.matches(class))
    }
}

/// All rules of a run.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The rules in the order of their files and lines.
    pub list: Vec<Rule>,
    /// The text that decides about outputs.
    text: String,
}

impl Rules {
    /// Adds the rules of a file.
    ///
    /// # Errors
    /// The first unknown, missing or contradictory item, by its line.
    pub fn add(&mut self, text: &str) -> Result<(), RulesError> {
        let line = |at: usize| 1 + text.bytes().take(at).filter(|&b| b == b'\n').count();
        let root = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(text.len(), |span| span.start);
            RulesError { line: line(at), problem: Problem::Syntax(shown(error.message())) }
        })?;
        let mut found = Vec::new();
        for (key, value) in root.get_ref() {
            let not = || {
                let problem = Problem::NotAMarker(shown(key.get_ref()));
                RulesError { line: line(key.span().start), problem }
            };
            let DeValue::Array(items) = value.get_ref() else { return Err(not()) };
            if key.get_ref() != "marker" {
                return Err(not());
            }
            for item in items {
                let DeValue::Table(table) = item.get_ref() else { return Err(not()) };
                found.push(rule(table, line(item.span().start), &line)?);
            }
        }
        found.sort_by_key(|rule| rule.line);
        self.list.append(&mut found);
        self.text.push_str(text);
        self.text.push('\0');
        Ok(())
    }

    /// The joined text of the files. [`Rules::add`] of it gives the same rules, with the lines of
    /// the joined text.
    pub fn text(&self) -> String {
        self.text.replace('\0', "\n")
    }

    /// Whether some rule may match in a class of that name, apart from its other conditions.
    pub fn may_match(&self, class: &[u8]) -> bool {
        self.list.iter().any(|rule| rule.may_match(class))
    }

    /// Whether the matches in a class of that name depend on its supertypes.
    pub fn ask_what_is_above(&self, class: &[u8]) -> bool {
        self.list.iter().any(|rule| rule.subtypes_of.is_some() && rule.may_match(class))
    }

    /// A hash of the files.
    pub fn hash(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(self.text.as_bytes())
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

type Table<'i> = DeTable<'i>;

/// The keys of a table, with the names of their lines in messages.
struct Keys<'t, 'i, L> {
    table: &'t Table<'i>,
    start: usize,
    line: &'t L,
}

impl<'t, 'i, L: Fn(usize) -> usize> Keys<'t, 'i, L> {
    fn wrong<T>(&self, key: &str, problem: Problem) -> Result<T, RulesError> {
        let at = self.table.iter().find(|(k, _)| k.get_ref() == key);
        Err(RulesError { line: at.map_or(self.start, |(k, _)| (self.line)(k.span().start)), problem })
    }

    fn value(&self, key: &str) -> Option<&'t DeValue<'i>> {
        self.table.iter().find(|(k, _)| k.get_ref() == key).map(|(_, value)| value.get_ref())
    }

    fn kind<T>(&self, key: &str, kind: &'static str) -> Result<T, RulesError> {
        self.wrong(key, Problem::Kind { key: key.to_owned(), kind })
    }

    fn text(&self, key: &str) -> Result<Option<String>, RulesError> {
        match self.value(key) {
            None => Ok(None),
            // They become parts of lines of text.
            Some(DeValue::String(text)) if text.len() <= 1000 && !text.contains(char::is_control) => {
                Ok(Some(text.to_string()))
            }
            Some(_) => self.kind(key, "a \"string\" of at most 1000 bytes without control characters"),
        }
    }

    fn pattern(&self, key: &str) -> Result<Option<NamePattern>, RulesError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        match NamePattern::new(&text) {
            Ok(pattern) => Ok(Some(pattern)),
            Err(why) => self.wrong(key, Problem::Pattern { key: key.to_owned(), pattern: shown(&text), why }),
        }
    }

    /// The pattern of callees.
    fn callee(&self) -> Result<Option<CalleePattern>, RulesError> {
        let with_subtypes = self.flag("callee-subtypes")?;
        let Some(glob) = self.text("callee")? else {
            return if with_subtypes { self.wrong("", Problem::Missing("callee")) } else { Ok(None) };
        };
        let pattern =
            if with_subtypes { CalleePattern::with_subtypes(&glob) } else { CalleePattern::exactly(&glob) };
        match pattern {
            Ok(pattern) => Ok(Some(pattern)),
            Err(why) => {
                let (key, pattern) = ("callee".to_owned(), shown(&glob));
                self.wrong("callee", Problem::Pattern { key, pattern, why })
            }
        }
    }

    fn callers(&self) -> Result<Callers, RulesError> {
        match self.text("callers")?.as_deref() {
            None | Some("all") => Ok(Callers::All),
            Some("program") => Ok(Callers::Program),
            Some(other) => {
                let (key, known) = ("callers".to_owned(), "all, program".to_owned());
                self.wrong("callers", Problem::Word { key, value: shown(other), known })
            }
        }
    }

    fn integer(&self, key: &str, value: &DeValue<'_>, most: i64) -> Result<i64, RulesError> {
        let number = match value {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        match number.filter(|number| (0..=most).contains(number)) {
            Some(number) => Ok(number),
            None if most == 100 => self.kind(key, "an integer from 0 to 100"),
            None => self.kind(key, "a list of line numbers, 0 to 65535"),
        }
    }

    fn words(&self, key: &str) -> Result<Option<Vec<String>>, RulesError> {
        match self.value(key) {
            None => Ok(None),
            Some(DeValue::Array(items)) => {
                let words = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
                match words {
                    Some(words) => Ok(Some(words)),
                    None => self.kind(key, "a list of strings"),
                }
            }
            Some(_) => self.kind(key, "a list of strings"),
        }
    }

    fn flag(&self, key: &str) -> Result<bool, RulesError> {
        match self.value(key) {
            None => Ok(false),
            Some(DeValue::Boolean(flag)) => Ok(*flag),
            Some(_) => self.kind(key, "true or false"),
        }
    }
}

fn rule(table: &Table<'_>, start: usize, line: &impl Fn(usize) -> usize) -> Result<Rule, RulesError> {
    let keys = Keys { table, start, line };
    if let Some((key, _)) = table.iter().find(|(k, _)| !KEYS.split(", ").any(|known| known == k.get_ref())) {
        let key = key.get_ref();
        return keys.wrong(key, Problem::UnknownKey { key: shown(key) });
    }
    let missing = |what| keys.wrong("", Problem::Missing(what));
    let Some(token) = keys.text("token")?.filter(|token| !token.is_empty()) else { return missing("token") };
    let Some(word) = keys.text("at")? else { return missing("at") };
    let Some((at, _)) = At::ALL.iter().copied().find(|(_, name)| *name == word) else {
        let known = At::ALL.map(|(_, name)| name).join(", ");
        return keys.wrong("at", Problem::Word { key: "at".into(), value: shown(&word), known });
    };
    let pair = match keys.text("kind")?.as_deref() {
        None => at.has_extent(),
        Some("one-way") => false,
        Some("pair") if at.has_extent() => true,
        Some("pair") => {
            let what = format!("a {} has no extent; it is one-way", at.name());
            return keys.wrong("kind", Problem::Contradiction(what));
        }
        Some(other) => {
            let known = "pair, one-way".to_owned();
            return keys.wrong("kind", Problem::Word { key: "kind".into(), value: shown(other), known });
        }
    };
    for (key, wanted) in [
        ("callee", &[At::Call][..]),
        ("callee-subtypes", &[At::Call]),
        ("callers", &[At::Call]),
        ("type", &[At::Allocation, At::Handler]),
        ("field", &[At::FieldRead, At::FieldWrite]),
        ("lines", &[At::Line]),
        ("per-object", &[At::Method]),
    ] {
        if keys.value(key).is_some() && !wanted.contains(&at) {
            let names: Vec<&str> = wanted.iter().map(|at| at.name()).collect();
            let what =
                format!("'{key}' is for at = \"{}\", not for \"{}\"", names.join("\" or \""), at.name());
            return keys.wrong(key, Problem::Contradiction(what));
        }
    }
    let (mut receiver, mut arguments, mut result) = (true, false, false);
    if let Some(words) = keys.words("context")? {
        receiver = words.iter().any(|word| word == "receiver");
        arguments = words.iter().any(|word| word == "arguments");
        result = words.iter().any(|word| word == "result");
        let known = ["receiver", "arguments", "result"];
        if let Some(other) = words.iter().find(|word| !known.contains(&word.as_str())) {
            let known = known.join(", ");
            return keys
                .wrong("context", Problem::Word { key: "context".into(), value: shown(other), known });
        }
        if arguments && !matches!(at, At::Method | At::Call) {
            let what = format!("a {} has no arguments; only methods and calls have", at.name());
            return keys.wrong("context", Problem::Contradiction(what));
        }
        if result && !(pair && matches!(at, At::Method | At::Call)) {
            let what = "only exits of methods and calls have a result: at = \"method\" or \
                        \"call\", kind = \"pair\"";
            return keys.wrong("context", Problem::Contradiction(what.to_owned()));
        }
    }
    let mut lines = Vec::new();
    match keys.value("lines") {
        Some(DeValue::Array(items)) => {
            for item in items {
                let item: &Spanned<DeValue<'_>> = item;
                lines.push(keys.integer("lines", item.get_ref(), 65535)? as u16);
            }
        }
        Some(_) => return keys.kind("lines", "a list of line numbers, 0 to 65535"),
        None if at == At::Line => return missing("lines"),
        None => {}
    }
    let sample = keys.value("sample").map(|value| keys.integer("sample", value, 100)).transpose()?;
    Ok(Rule {
        line: start,
        token,
        predicate: keys.text("predicate")?.unwrap_or_default(),
        at,
        pair,
        receiver,
        arguments,
        result,
        per_object: keys.flag("per-object")?,
        callers: keys.callers()?,
        class: keys.pattern("class")?,
        method: keys.text("method")?,
        descriptor: keys.text("descriptor")?.map(|text| text.replace('.', "/")),
        subtypes_of: keys.text("subtypes-of")?.map(|text| text.replace('.', "/").into_bytes()),
        annotated: keys.pattern("annotated")?,
        callee: keys.callee()?,
        made: keys.pattern("type")?,
        field: keys.pattern("field")?,
        lines,
        sample: sample.map(|sample| sample as u64),
    })
}

/// The form in which a message shows a text of unknown origin.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 { short + "..." } else { short }
}

#[cfg(test)]
mod tests;
