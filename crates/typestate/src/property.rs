//! A property as its file defines it.

use crate::automaton::{Automaton, State};
use crate::expression::Expression;

/// The allowed orders of operations on an object, or on one that belongs to another object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Name of the property: the token of its markers.
    pub name: String,
    /// The requirement, in one line.
    pub message: String,
    /// First line of the property in the file.
    pub line: usize,
    /// The expression, as in the file.
    pub text: String,
    /// The parsed expression.
    pub expression: Expression,
    /// The automaton of the expression.
    pub automaton: Automaton,
    /// Events, in the order of the file.
    pub events: Vec<Event>,
    /// The names of its objects.
    pub objects: Objects,
    /// The classes of its objects; in pairs of the children.
    pub object_types: Types,
    /// The classes of the parents in pairs.
    pub parent_types: Types,
    /// The times at which an object must be in an accepting state.
    pub ends: Ends,
    /// The severity of a violation.
    pub level: Level,
}

/// Objects of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objects {
    /// Single objects, by this name.
    One(String),
    /// Pairs: objects that come from another object, each with that object (thesis 7.2).
    Pair {
        /// Name of the other object.
        parent: String,
        /// Name of the objects.
        child: String,
    },
}

/// The classes of objects: those that are one of these types or inherit from one, and from no
/// excluded type. An empty list stands for all classes. A `*` at the end of a name stands for any
/// rest; a `!` before a name excludes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Types(pub Vec<String>);

impl Types {
    /// Whether a text can be in the list.
    pub fn is_type(text: &str) -> bool {
        let name = text.strip_prefix('!').unwrap_or(text);
        let name = name.strip_suffix('*').unwrap_or(name);
        let is_part = |c: char| !c.is_whitespace() && !c.is_control() && !"!*/,".contains(c);
        !name.is_empty() && name.chars().all(is_part)
    }
}

/// The times at which final states are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// When the garbage collector finds an object dead.
    pub death: bool,
    /// When the program ends.
    pub exit: bool,
}

/// The severity of a violation, in SARIF's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// An error.
    Error,
    /// A possible error.
    Warning,
    /// For information only.
    Note,
}

impl Level {
    /// All levels.
    pub const ALL: [Level; 3] = [Level::Error, Level::Warning, Level::Note];

    /// The word for the level.
    pub fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// An event: a letter of the expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Name of the event: the predicate of its markers.
    pub name: String,
    /// The object to which it happens.
    pub of: Of,
    /// The locations at which it happens.
    pub places: Vec<Place>,
}

/// The object to which an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// An object; in pairs the child.
    Object,
    /// The parent: the event applies to all of its children.
    Parent,
    /// A pair: a parent creates a child.
    Creation,
}

impl Of {
    /// The word for the object.
    pub fn word(self) -> &'static str {
        match self {
            Of::Object => "object",
            Of::Parent => "parent",
            Of::Creation => "creation",
        }
    }
}

/// Locations at which an event happens: a marker's rule, and the roles of its objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line of the file.
    pub line: usize,
    /// Keys of the rule, as in `[[marker]]`.
    pub rule: Vec<(String, Words)>,
    /// The time of the event.
    pub when: EventTime,
    /// The role of the object, or of the child.
    pub object: Option<Role>,
    /// The role of the parent.
    pub parent: Option<Role>,
    /// Whether the event happens only if the call returns something other than `false` or `null`,
    /// or returns nothing.
    pub if_result: bool,
}

impl Place {
    /// The value of a key of the rule.
    pub fn said(&self, key: &str) -> Option<&Words> {
        self.rule.iter().find(|(known, _)| known == key).map(|(_, value)| value)
    }

    /// Whether the location is a call.
    pub fn is_call(&self) -> bool {
        self.said("at") == Some(&Words::One("call".to_owned()))
    }

    /// Whether the location is a method: the default.
    pub fn is_method(&self) -> bool {
        self.said("at").is_none_or(|at| *at == Words::One("method".to_owned()))
    }

    /// Whether only calls outside the class library are events: the default at calls.
    pub fn is_of_program(&self) -> bool {
        let is_program = |callers: &Words| *callers == Words::One("program".to_owned());
        self.said("callers").map_or(self.is_call(), is_program)
    }
}

/// A value of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// A string.
    One(String),
    /// Numbers.
    Numbers(Vec<i64>),
    /// A boolean.
    Flag(bool),
}

/// The time of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTime {
    /// On entry to the location.
    Enter,
    /// On exit from the location without an exception: for constructors, and for calls that may
    /// fail.
    Return,
}

impl EventTime {
    /// The word for the time.
    pub fn word(self) -> &'static str {
        match self {
            EventTime::Enter => "enter",
            EventTime::Return => "return",
        }
    }
}

/// The role of an object in a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The receiver of the call.
    Receiver,
    /// The return value.
    Result,
    /// An argument, counted from 0.
    Argument(u8),
}

impl Role {
    /// Parses `receiver`, `result` or `argument 0`.
    pub fn parse(text: &str) -> Option<Role> {
        match text {
            "receiver" => Some(Role::Receiver),
            "result" => Some(Role::Result),
            _ => text.strip_prefix("argument ")?.parse().ok().map(Role::Argument),
        }
    }
}

impl std::fmt::Display for Role {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Role::Receiver => f.write_str("receiver"),
            Role::Result => f.write_str("result"),
            Role::Argument(at) => write!(f, "argument {at}"),
        }
    }
}

impl Property {
    /// Name of a state: the events of a shortest path to it; `^` for the initial state.
    pub fn state_name(&self, state: usize) -> String {
        let path = &self.automaton.states[state].path;
        if path.is_empty() {
            return "^".to_owned();
        }
        path.iter().map(|&event| self.events[event].name.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The state after which nothing is known: more levels of `nested` than the expression allows.
    pub fn unknown(&self) -> Option<usize> {
        let names: Vec<String> = self.events.iter().map(|event| event.name.clone()).collect();
        if !Expression::has_levels(&self.text, &names) {
            return None;
        }
        let mut states = self.automaton.states.iter().enumerate();
        let stays = |(at, state): (usize, &State)| state.accepting && state.next.iter().all(|&to| to == at);
        states.position(stays)
    }

    /// The names of a set of events.
    pub fn names(&self, set: u64) -> Vec<&str> {
        let events = self.events.iter().enumerate();
        events.filter(|(at, _)| set >> at & 1 != 0).map(|(_, event)| event.name.as_str()).collect()
    }
}
