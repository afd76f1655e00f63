//! Settings in the provenance of outputs (docs/reference/formats/index.md).

use std::collections::BTreeMap;

use cct_pcc::Chosen;
use cct_pcc::chosen::{joined, separated};
use cct_tables::{BlockEnds, BlockRule, CostModel};

use crate::choices::Choices;
use crate::options::{Access, OPTIONS};
use crate::settings::{Metrics, Settings, Tool};

/// How the provenance of outputs has an option.
#[derive(Debug, Clone, Copy)]
pub enum Record {
    /// Not at all: outputs that differ in it run together, or another option's keys say it.
    No,
    /// By its word, or `yes` and `no`, under this key.
    Word(&'static str),
    /// In its own way.
    With {
        /// The keys that it may give.
        keys: &'static [&'static str],
        /// The keys and values that it gives.
        write: fn(&Settings) -> Vec<(&'static str, String)>,
        /// Reads them; `None` if they are wrong. Keys that `write` would not give again are found later.
        read: fn(&mut Settings, &Entries<'_>) -> Option<()>,
    },
}

/// The `key=value` lines of a provenance.
pub struct Entries<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> Entries<'t> {
    fn of(lines: &'t str) -> Entries<'t> {
        // Of a key that stands twice the first line counts, as for other readers.
        Entries(lines.lines().rev().filter_map(|line| line.split_once('=')).collect())
    }

    fn value(&self, key: &str) -> Option<&'t str> {
        self.0.get(key).copied()
    }
}

/// Provenance lines whose settings this version does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the output was made with settings that this version of cctrewrite does not know; use the version that made it, or make it again"
)]
pub struct UnknownSettings;

impl Settings {
    /// The settings as `key=value` entries, sorted.
    pub fn entries(&self) -> BTreeMap<&'static str, String> {
        let choices = Choices { direct: *self, ..Choices::default() };
        OPTIONS.iter().flat_map(|row| row.record.write(&row.access, &choices)).collect()
    }

    /// The settings of the outputs with these provenance lines. Keys of no option are ignored.
    ///
    /// # Errors
    /// A value that is unknown or does not agree with another.
    pub fn of_entries(lines: &str) -> Result<Settings, UnknownSettings> {
        let entries = Entries::of(lines);
        let mut choices = Choices::default();
        for row in OPTIONS {
            row.record.read(&row.access, &mut choices, &entries).ok_or(UnknownSettings)?;
        }
        let settings = choices.direct;
        // What was read gives these entries and no others, or something was not understood.
        let written = settings.entries();
        let is_same = |key: &'static str| written.get(key).map(String::as_str) == entries.value(key);
        let keys = OPTIONS.iter().flat_map(|row| row.record.keys());
        let agrees = OPTIONS.iter().all(|row| (row.conflict)(&choices).is_none());
        if agrees && keys.copied().all(is_same) { Ok(settings) } else { Err(UnknownSettings) }
    }
}

impl Record {
    fn keys(&self) -> &[&'static str] {
        match self {
            Record::No => &[],
            Record::Word(key) => std::slice::from_ref(key),
            Record::With { keys, .. } => keys,
        }
    }

    fn write(&self, access: &Access, choices: &Choices) -> Vec<(&'static str, String)> {
        match (self, access) {
            (Record::With { write, .. }, _) => write(&choices.direct),
            (Record::Word(key), Access::Switch { get, .. }) => {
                vec![(key, if get(choices) { "yes" } else { "no" }.to_owned())]
            }
            (Record::Word(key), Access::OneOf { words, get, .. }) => {
                words.get(get(choices)).map(|word| (*key, word.name.to_owned())).into_iter().collect()
            }
            (Record::Word(_), Access::Table { .. } | Access::List { .. }) | (Record::No, _) => Vec::new(),
        }
    }

    fn read(&self, access: &Access, choices: &mut Choices, entries: &Entries<'_>) -> Option<()> {
        match (self, access) {
            (Record::With { read, .. }, _) => read(&mut choices.direct, entries),
            (Record::Word(key), Access::Switch { set, .. }) => {
                if entries.value(key)? == "yes" {
                    set(choices);
                }
                Some(())
            }
            (Record::Word(key), Access::OneOf { words, set, .. }) => {
                let value = entries.value(key)?;
                set(choices, words.iter().position(|word| word.name == value)?);
                Some(())
            }
            (Record::Word(_), Access::Table { .. } | Access::List { .. }) | (Record::No, _) => Some(()),
        }
    }
}

/// `trace=yes`, or `pcc=yes` with the chosen methods. Profiles have neither, as before there were other tools.
pub(crate) fn write_tool(settings: &Settings) -> Vec<(&'static str, String)> {
    match settings.tool {
        Tool::Profile => Vec::new(),
        Tool::Trace => vec![("trace", "yes".to_owned())],
        Tool::Pcc(chosen) => vec![
            ("pcc", "yes".to_owned()),
            ("pcc-at", joined(&chosen.at)),
            ("pcc-only", joined(&chosen.only)),
        ],
    }
}

pub(crate) fn read_tool(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    settings.tool = match (entries.value("trace"), entries.value("pcc")) {
        (None, None) => Tool::Profile,
        (Some(_), None) => Tool::Trace,
        (None, Some(_)) => {
            let [at, only] = ["pcc-at", "pcc-only"].map(|key| entries.value(key));
            Tool::Pcc(Chosen::parse(separated(at?), separated(only?)).ok()?.interned())
        }
        (Some(_), Some(_)) => return None,
    };
    Some(())
}

/// `markers=yes` where they stand beside what counts.
pub(crate) fn write_markers(settings: &Settings) -> Vec<(&'static str, String)> {
    if settings.markers { vec![("markers", "yes".to_owned())] } else { Vec::new() }
}

pub(crate) fn read_markers(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    settings.markers = entries.value("markers").is_some();
    Some(())
}

pub(crate) fn read_metrics(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    // Which unit it is says the cost model.
    let is_calls = entries.value("metrics")? == "calls";
    settings.metrics = if is_calls { Metrics::Calls } else { Metrics::CallsAndBytecodes };
    Some(())
}

/// The rule's name, and a table's contents: classes that are loaded while the program runs are counted by the same table.
pub(crate) fn write_blocks(settings: &Settings) -> Vec<(&'static str, String)> {
    let ends = match settings.block_rule() {
        Some(BlockRule::Custom(ends)) => Some(("block-ends", ends.encoded())),
        _ => None,
    };
    [("blocks", settings.blocks_name().into_owned())].into_iter().chain(ends).collect()
}

pub(crate) fn read_blocks(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    let name = entries.value("blocks")?;
    settings.blocks = match entries.value("block-ends") {
        Some(text) => BlockRule::Custom(BlockEnds::decode(text)?.interned()),
        None if name == "none" => Settings::default().blocks,
        None => BlockRule::BUILT_IN.into_iter().find(|rule| rule.name() == name)?,
    };
    Some(())
}

/// The model's name and contents. Outputs without one are as they were before there were cost models.
pub(crate) fn write_costs(settings: &Settings) -> Vec<(&'static str, String)> {
    let costs = settings.cost_model.map(|model| [("cost-model", model.id()), ("costs", model.encoded())]);
    costs.into_iter().flatten().collect()
}

pub(crate) fn read_costs(settings: &mut Settings, entries: &Entries<'_>) -> Option<()> {
    if let Some(costs) = entries.value("costs") {
        settings.cost_model = Some(CostModel::decode(costs)?.interned());
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::settings::{ContextCarrier, Intrinsics};

    fn lines(settings: &Settings) -> String {
        settings.entries().iter().map(|(key, value)| format!("{key}={value}\n")).collect()
    }

    /// The settings are read again, and not with any of these replacements.
    #[track_caller]
    fn is_read_again(settings: Settings, wrong: &[(&str, &str)]) {
        let lines = lines(&settings);
        assert_eq!(Settings::of_entries(&lines), Ok(settings), "{lines}");
        for (old, new) in wrong {
            let other = lines.replacen(old, new, 1);
            assert_ne!(other, lines, "{old}");
            assert_eq!(Settings::of_entries(&other), Err(UnknownSettings), "{other}");
        }
    }

    #[test]
    fn a_table_of_blocks_is_recorded_whole() {
        let ends = BlockEnds::parse(BlockEnds::shipped("calls").unwrap()).unwrap().interned();
        let settings = Settings { blocks: BlockRule::Custom(ends), ..Settings::default() };
        is_read_again(
            settings,
            &[
                ("blocks=calls@", "blocks=calls@0"),
                ("block-ends=calls", "block-ends=other"),
                ("blocks=calls", "blocks=exact #"),
                ("metrics=calls+bytecodes", "metrics=calls"),
            ],
        );
    }

    #[test]
    fn a_cost_model_is_recorded_whole() {
        let model = CostModel::parse(CostModel::shipped("jop").unwrap()).unwrap().interned();
        let settings = Settings { cost_model: Some(model), ..Settings::default() };
        assert_eq!(settings.entries().get("metrics").map(String::as_str), Some("calls+cycles"));
        is_read_again(
            settings,
            &[
                ("jop@", "jop@0"),
                ("costs=jop;cycles", "costs=jop;ticks"),
                ("calls+cycles", "calls+bytecodes"),
                ("calls+cycles", "calls"),
                ("cost-model=", "cost-mode="),
            ],
        );
        assert!(!lines(&Settings::default()).contains("cost"));
    }

    #[test]
    fn tools_are_recorded() {
        is_read_again(Settings { tool: Tool::Trace, ..Settings::default() }, &[("trace=yes", "trace=2")]);
        let chosen = Chosen::parse(["a.B.m", "a.*.n(I)V"], ["a.**.*"]).unwrap().interned();
        let wrong = [
            ("pcc=yes", "pcc=2"),
            ("pcc-at=a", "pcc-at=[a"),
            ("pcc-only=a", "pcc-=a"),
            ("pcc=yes", "trace=yes"),
        ];
        is_read_again(Settings::default().of_values(chosen), &wrong);
        is_read_again(Settings { markers: true, ..Settings::default() }, &[("markers=yes", "markers=no")]);
        for absent in ["trace", "pcc", "markers"] {
            assert!(!lines(&Settings::default()).contains(absent));
        }
    }

    #[test]
    fn all_combinations_are_read_again() {
        for metrics in [Metrics::Calls, Metrics::CallsAndBytecodes] {
            for intrinsics in [Intrinsics::Bytecode, Intrinsics::Native] {
                for (reproducible, activation) in [(false, true), (true, false)] {
                    let settings = Settings {
                        context: if activation { ContextCarrier::Thread } else { ContextCarrier::Argument },
                        metrics,
                        intrinsics,
                        reproducible,
                        activation,
                        call_sites: reproducible,
                        allocations: reproducible,
                        ..Settings::default()
                    };
                    is_read_again(settings, &[("context=", "context=x"), ("activation=", "activation=x")]);
                }
            }
        }
        assert_eq!(Settings::of_entries("blocks=default\nmetrics=calls\n"), Err(UnknownSettings));
    }

    #[test]
    fn each_key_is_that_of_one_option() {
        let chosen = Chosen::default().interned();
        let mut keys = BTreeSet::new();
        for settings in [Settings::default(), Settings::default().of_values(chosen)] {
            let choices = Choices { direct: settings, ..Choices::default() };
            let entries = OPTIONS.iter().flat_map(|row| row.record.write(&row.access, &choices));
            let given: Vec<&str> = entries.map(|(key, _)| key).collect();
            let known: Vec<&str> = OPTIONS.iter().flat_map(|row| row.record.keys()).copied().collect();
            assert!(given.iter().all(|key| known.contains(key)), "{given:?}");
            assert_eq!(given.len(), given.iter().collect::<BTreeSet<_>>().len());
            keys.extend(given);
        }
        assert!(keys.len() >= 9, "{keys:?}");
    }
}
