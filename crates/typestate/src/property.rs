//! What a file says of one property.

use crate::automaton::Automaton;
use crate::expression::Expression;

/// In which order what may be done with an object, or with one that belongs to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Property {
    /// Its name: the token of its markers.
    pub name: String,
    /// One line: what is demanded.
    pub message: String,
    /// The line of the file it begins on.
    pub line: usize,
    /// The expression, as it stands in the file.
    pub text: String,
    /// The same, understood.
    pub expression: Expression,
    /// Its automaton.
    pub automaton: Automaton,
    /// Events, in the order of the file.
    pub events: Vec<Event>,
    /// What objects are called.
    pub objects: Objects,
    /// When it matters whether an object is in an accepting state.
    pub ends: Ends,
    /// How bad a violation is.
    pub level: Level,
}

/// Objects of a property.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Objects {
    /// Each by itself.
    One(String),
    /// Those that come from another, each with it (thesis 7.2).
    Pair {
        /// What the other is called.
        parent: String,
        /// What they are called.
        child: String,
    },
}

/// When final states are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    /// When an object was found dead by the garbage collector.
    pub death: bool,
    /// When the program ends.
    pub exit: bool,
}

/// How bad a violation is: SARIF's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// It is an error.
    Error,
    /// It deserves a look.
    Warning,
    /// It is told.
    Note,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 3] = [Level::Error, Level::Warning, Level::Note];

    /// Its word.
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
    /// Its name: the predicate of its markers.
    pub name: String,
    /// To whom it happens.
    pub of: Of,
    /// Where it happens: any of these.
    pub places: Vec<Place>,
}

/// To whom an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// To an object, in pairs to the child.
    Object,
    /// To the parent: to all of its children.
    Parent,
    /// A child comes from a parent.
    Creation,
}

impl Of {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Of::Object => "object",
            Of::Parent => "parent",
            Of::Creation => "creation",
        }
    }
}

/// Places at which an event happens: a marker's rule, and who is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The line of the file.
    pub line: usize,
    /// Keys of the rule, as `[[marker]]` has them.
    pub rule: Vec<(String, Words)>,
    /// When it happens.
    pub when: When,
    /// The object, or the child.
    pub object: Option<Role>,
    /// The parent.
    pub parent: Option<Role>,
}

/// A value of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// A string.
    One(String),
    /// Numbers.
    Numbers(Vec<i64>),
    /// Yes or no.
    Flag(bool),
}

/// When an event happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// When the place is reached.
    Enter,
    /// When it is left without an exception: for constructors, and for what may fail.
    Return,
}

impl When {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            When::Enter => "enter",
            When::Return => "return",
        }
    }
}

/// Which of a call's objects is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The object that the method belongs to.
    Receiver,
    /// What it returns.
    Result,
    /// An argument, from 0.
    Argument(u8),
}

impl Role {
    /// `receiver`, `result`, `argument 0`.
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
    /// What a state is called: the events of a shortest way there, `^` where objects begin.
    pub fn state_name(&self, state: usize) -> String {
        let path = &self.automaton.states[state].path;
        if path.is_empty() {
            return "^".to_owned();
        }
        path.iter().map(|&event| self.events[event].name.as_str()).collect::<Vec<_>>().join(" ")
    }

    /// The names of a set of events.
    pub fn names(&self, set: u64) -> Vec<&str> {
        let events = self.events.iter().enumerate();
        events.filter(|(at, _)| set >> at & 1 != 0).map(|(_, event)| event.name.as_str()).collect()
    }
}
