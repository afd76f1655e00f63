//! The options of `cctrewrite run` that the runtime handles, one row each. They do not affect the
//! rewriting of classes.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::choices::ToolName;
use crate::heading::Heading;
use crate::refusal::RefusedOptions;
use crate::word::{NamedValues, Word};

/// An option that the runtime in each JVM handles, as a property `cctrewrite.PROPERTY`.
#[derive(Debug)]
pub struct RecordingOption {
    /// Name without the dashes.
    pub flag: &'static str,
    /// Text for `--help`; `-h` shows its first sentence alone.
    pub help: &'static str,
    /// The heading below which `--help` lists it.
    pub heading: Heading,
    /// Whether `-h` lists it too.
    pub is_common: bool,
    /// The kind of its value.
    pub kind: Kind,
    /// The runtime's name for it, without `cctrewrite.`.
    pub property: &'static str,
    /// The tools that accept it.
    pub tools: &'static [ToolName],
    /// An option of [`crate::OPTIONS`] that it requires.
    pub requires: Option<&'static str>,
    /// A recording option with which it cannot be combined.
    pub conflicts: Option<&'static str>,
}

/// The kind of an option's value.
#[derive(Debug, Clone)]
pub enum Kind {
    /// No value. The property has this one.
    Switch(&'static str),
    /// One of these words. The first is the default and sets no property.
    OneOf(&'static [Word]),
    /// A number in a range.
    Number {
        /// Placeholder in `--help`.
        value: &'static str,
        /// Least and greatest.
        range: RangeInclusive<u64>,
    },
    /// A method, by class, name and optional descriptor.
    Method,
    /// Methods; the property separates them with commas.
    Methods,
    /// Names of classes; the property separates them with commas.
    Classes,
    /// A path; the property has it absolute.
    Path,
    /// Paths; the property has them absolute, separated with colons.
    Paths,
    /// Text that is checked.
    Text {
        /// Placeholder in `--help`.
        value: &'static str,
        /// The default, if there is one. It sets no property.
        default: Option<&'static str>,
        /// Fails with the reason if a text is invalid.
        check: fn(&str) -> Result<(), String>,
    },
}

/// Whether threads are ordered in traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceMode {
    Thread,
    Shared,
}

crate::word::words! { TraceMode:
    Thread "thread" "One trace for each thread";
    Shared "shared" "One trace for all threads, in global order: slower";
}

/// The properties that make two classes the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Identity {
    Name,
    Loader,
}

crate::word::words! { Identity:
    Name "name" "If names are equal";
    Loader "loader" "If names are equal and, for the program's loaders, the loaders: \
                     `com.acme.Task~PluginLoader#2` is from the second PluginLoader that defined a \
                     class";
}

use ToolName::{Markers, Pcc, Profile, Trace};

/// An option of profiles; rows state only differences.
const PROFILES: RecordingOption = RecordingOption {
    flag: "",
    help: "",
    heading: Heading::Recording,
    is_common: false,
    kind: Kind::Switch(""),
    property: "",
    tools: &[Profile],
    requires: None,
    conflicts: None,
};

/// The tools that record calls.
const CALLS: &[ToolName] = &[Profile, Trace, Pcc];

/// All options, in the order of `--help`.
pub const RECORDING: &[RecordingOption] = &[
    RecordingOption {
        flag: "regions",
        is_common: true,
        help: "Record only between start() and stop() of cctrewrite.api.Recording. The program \
               calls them for one thread or for all. `cctrewrite api` writes the jar with that \
               class",
        kind: Kind::Switch("regions"),
        property: "record",
        tools: CALLS,
        ..PROFILES
    },
    RecordingOption {
        flag: "start-at",
        help: "Record everything after the first entry of this method, in all threads: \
               `com.acme.Main.run`, or with a descriptor `com.acme.Main.run(I)V`. It must be a \
               method of the program",
        kind: Kind::Method,
        property: "start-at",
        tools: CALLS,
        ..PROFILES
    },
    RecordingOption {
        flag: "extent",
        is_common: true,
        help: "Record only what this method executes and calls, whatever its caller (repeatable). \
               The rest of the program is not recorded. It must be a method of the program, with a \
               body, and not a constructor",
        kind: Kind::Methods,
        property: "extent",
        tools: CALLS,
        ..PROFILES
    },
    RecordingOption {
        flag: "system-threads",
        help: "With --cost-model: also record the JVM's own threads (finalization, references, \
               cleaners), which do not run on the target",
        kind: Kind::Switch("yes"),
        property: "system-threads",
        requires: Some("cost-model"),
        ..PROFILES
    },
    RecordingOption {
        flag: "trace-mode",
        heading: Heading::Traces,
        help: "With --tool trace: the order of events",
        kind: Kind::OneOf(TraceMode::WORDS),
        property: "trace-mode",
        tools: &[Trace],
        ..PROFILES
    },
    RecordingOption {
        flag: "trace-last",
        heading: Heading::Traces,
        help: "With --tool trace: keep only the last events of each thread, at least this many, \
               however the JVM ends",
        kind: Kind::Number { value: "N", range: 1..=1 << 30 },
        property: "trace-last",
        tools: &[Trace],
        conflicts: Some("trace-memory"),
        ..PROFILES
    },
    RecordingOption {
        flag: "trace-memory",
        heading: Heading::Traces,
        help: "With --tool trace: keep up to this many bytes of events (500m, 4g) in memory, and \
               write them when the JVM ends",
        kind: Kind::Text { value: "SIZE", default: None, check: |_| Ok(()) },
        property: "trace-memory",
        tools: &[Trace],
        ..PROFILES
    },
    RecordingOption {
        flag: "trace-receivers",
        heading: Heading::Traces,
        help: "With --tool trace: record the class of each method's receiver",
        kind: Kind::Switch("yes"),
        property: "trace-receivers",
        tools: &[Trace],
        ..PROFILES
    },
    RecordingOption {
        flag: "client",
        heading: Heading::Markers,
        help: "With --markers: your class that implements cctrewrite.markers.Client (repeatable). \
               Without a client or a property, the events of each marker are counted",
        kind: Kind::Classes,
        property: "markers.clients",
        tools: &[Profile, Markers],
        ..PROFILES
    },
    RecordingOption {
        flag: "client-path",
        heading: Heading::Markers,
        help: "With --markers: a jar or folder with clients that are not on the program's class \
               path (repeatable)",
        kind: Kind::Paths,
        property: "markers.client-path",
        tools: &[Profile, Markers],
        ..PROFILES
    },
    RecordingOption {
        flag: "marker-control",
        heading: Heading::Markers,
        help: "With --markers: a file that switches markers while the program runs. It has lines \
               `on TOKEN` and `off TOKEN`, and is read whenever it changes",
        kind: Kind::Path,
        property: "markers.control",
        tools: &[Profile, Markers],
        ..PROFILES
    },
    RecordingOption {
        flag: "typestate-budget",
        heading: Heading::Typestate,
        help: "With --typestate: maximum share of time for the analysis, in percent, above 0 and \
               at most 100. If it needs more, it does not follow all objects, and the report says \
               so",
        kind: Kind::Text { value: "PERCENT", default: None, check: percent },
        property: "typestate.budget",
        tools: &[Profile, Markers],
        ..PROFILES
    },
    RecordingOption {
        flag: "pcc-memory",
        heading: Heading::Values,
        help: "With --tool pcc: memory for the tables of counts, in MiB. The profile names how \
               many values found no room [default: 256]",
        kind: Kind::Number { value: "MIB", range: 1..=u32::MAX as u64 },
        property: "pcc-memory",
        tools: &[Pcc],
        ..PROFILES
    },
    RecordingOption {
        flag: "max-contexts",
        help: "Maximum number of contexts of a JVM, over all its threads. Later contexts are added \
               up under one marked node in each tree. Sums stay exact, and the profile has a note \
               [default: limited by memory]",
        kind: Kind::Number { value: "N", range: 1..=i64::MAX as u64 },
        property: "max-contexts",
        ..PROFILES
    },
    RecordingOption {
        flag: "recursion",
        help: "How often a method may be on the stack of a context: `unbounded` or a number; \
               `fold` is 1. A further call returns to the method's context on that stack, and has \
               its callees below it",
        kind: Kind::Text { value: "TIMES", default: Some("unbounded"), check: recursion },
        property: "recursion",
        ..PROFILES
    },
    RecordingOption {
        flag: "identity",
        help: "When two classes are the same in the profile",
        kind: Kind::OneOf(Identity::WORDS),
        property: "identity",
        tools: &[Profile, Trace],
        ..PROFILES
    },
];

/// Checks a share of time, in percent.
fn percent(text: &str) -> Result<(), String> {
    let number = text.parse().ok().filter(|number: &f64| (0.0..=100.0).contains(number) && *number > 0.0);
    number.map(|_| ()).ok_or_else(|| "expected a percentage above 0 and at most 100".to_owned())
}

/// Checks a limit of recursion in the runtime's notation.
fn recursion(text: &str) -> Result<(), String> {
    let is_number = text.parse::<i32>().is_ok_and(|times| times > 0);
    match text {
        "unbounded" | "fold" => Ok(()),
        _ if is_number => Ok(()),
        _ => Err("expected unbounded, fold, or a number from 1".to_owned()),
    }
}

/// The recording options of a run that were given with values other than their defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recording(BTreeMap<&'static str, Vec<String>>);

impl Recording {
    /// Adds a value of an option; paths must be absolute. A switch takes none.
    pub fn set(&mut self, option: &RecordingOption, value: &str) {
        let is_default = match &option.kind {
            Kind::OneOf(words) => words.first().is_some_and(|word| word.name == value),
            Kind::Text { default, .. } => *default == Some(value),
            _ => false,
        };
        let value = if let Kind::Switch(on) = option.kind { on } else { value };
        if !is_default {
            self.0.entry(option.flag).or_default().push(value.to_owned());
        }
    }

    /// Whether an option was given, by its flag.
    pub fn is_given(&self, flag: &str) -> bool {
        self.0.contains_key(flag)
    }

    /// The first given option that concerns markers.
    pub fn of_markers(&self) -> Option<&'static str> {
        let of_markers = |row: &&RecordingOption| row.tools.contains(&Markers) && self.is_given(row.flag);
        RECORDING.iter().find(of_markers).map(|row| row.flag)
    }

    /// The properties for the runtime, without `cctrewrite.`, in the order of [`RECORDING`].
    pub fn properties(&self) -> impl Iterator<Item = (&'static str, String)> {
        RECORDING.iter().filter_map(|row| {
            let values = self.0.get(row.flag)?;
            let between = if matches!(row.kind, Kind::Paths) { ":" } else { "," };
            Some((row.property, values.join(between)))
        })
    }

    /// Fails if this tool does not accept a given option.
    ///
    /// # Errors
    /// The first such option, with the tools that accept it.
    pub fn check(&self, tool: ToolName) -> Result<(), RefusedOptions> {
        let is_wrong = |row: &&RecordingOption| self.is_given(row.flag) && !row.tools.contains(&tool);
        let Some(row) = RECORDING.iter().find(is_wrong) else { return Ok(()) };
        let tools: Vec<String> = row.tools.iter().map(|tool| format!("--tool {}", tool.name())).collect();
        Err(RefusedOptions::new(format!(
            "--{flag} is for {} and has no effect with --tool {}; leave --{flag} out, or choose that tool",
            tools.join(" and "),
            tool.name(),
            flag = row.flag
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(flag: &str) -> &'static RecordingOption {
        RECORDING.iter().find(|row| row.flag == flag).unwrap()
    }

    #[test]
    fn given_options_are_properties_and_defaults_are_not() {
        let mut recording = Recording::default();
        for (flag, value) in [
            ("client-path", "/a"),
            ("client-path", "/b"),
            ("extent", "a.B.m"),
            ("extent", "a.B.n"),
            ("regions", ""),
            ("identity", "name"),
            ("recursion", "unbounded"),
            ("trace-mode", "thread"),
        ] {
            recording.set(row(flag), value);
        }
        let properties: Vec<_> = recording.properties().collect();
        let of = |key, value: &str| (key, value.to_owned());
        assert_eq!(
            properties,
            [of("record", "regions"), of("extent", "a.B.m,a.B.n"), of("markers.client-path", "/a:/b")]
        );
    }

    #[test]
    fn an_option_is_refused_with_each_tool_that_it_is_not_for() {
        for row in RECORDING {
            let mut recording = Recording::default();
            recording.set(row, "7");
            for &tool in ToolName::VALUES {
                let checked = recording.check(tool);
                assert_eq!(checked.is_ok(), row.tools.contains(&tool), "{} {tool:?}", row.flag);
                if let Err(refused) = checked {
                    assert!(refused.to_string().contains(row.flag), "{refused}");
                }
            }
        }
    }

    #[test]
    fn wrong_values_are_refused() {
        for wrong in ["", "0", "-1", "folded"] {
            assert!(recursion(wrong).is_err(), "{wrong}");
        }
        for right in ["unbounded", "fold", "1", "40"] {
            assert_eq!(recursion(right), Ok(()));
        }
        for wrong in ["", "0", "100.5", "NaN", "inf", "-3"] {
            assert!(percent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(percent("0.5"), Ok(()));
    }

    #[test]
    fn flags_and_properties_are_there_once() {
        let mut flags: Vec<_> = RECORDING.iter().map(|row| row.flag).collect();
        flags.extend(crate::OPTIONS.iter().map(|row| row.flag));
        let mut properties: Vec<_> = RECORDING.iter().map(|row| row.property).collect();
        for list in [&mut flags, &mut properties] {
            let length = list.len();
            list.sort_unstable();
            list.dedup();
            assert_eq!(list.len(), length);
        }
    }
}
