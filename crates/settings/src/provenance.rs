//! Settings in the provenance of outputs (docs/reference/formats/index.md).

use std::collections::BTreeMap;

use crate::access::Access;
use crate::choices::Choices;
use crate::options::{ChoiceOption, OPTIONS};
use crate::record::{Entries, Record};
use crate::settings::Settings;

/// Provenance lines with settings that this version does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "this version of cctrewrite does not know the settings of the output; use the version that \
     made it, or make it again"
)]
pub struct UnknownSettings;

impl Settings {
    /// The settings as `key=value` entries, sorted.
    pub fn entries(&self) -> BTreeMap<&'static str, String> {
        let choices = Choices { direct: *self, ..Choices::default() };
        OPTIONS.iter().flat_map(|row| row.write(&choices)).collect()
    }

    /// The settings of the outputs with these provenance lines. Keys of no option are ignored.
    ///
    /// # Errors
    /// A value that is unknown or contradicts another one.
    pub fn of_entries(lines: &str) -> Result<Settings, UnknownSettings> {
        let entries = Entries::of(lines);
        let mut choices = Choices::default();
        for row in OPTIONS {
            row.read(&mut choices, &entries).ok_or(UnknownSettings)?;
        }
        let settings = choices.direct;
        // If these settings give other entries, something was not understood.
        let written = settings.entries();
        let is_same = |key: &'static str| written.get(key).map(String::as_str) == entries.value(key);
        let keys = OPTIONS.iter().flat_map(|row| row.record.keys());
        let agrees = OPTIONS.iter().all(|row| (row.conflict)(&choices).is_none());
        if agrees && keys.copied().all(is_same) { Ok(settings) } else { Err(UnknownSettings) }
    }
}

impl ChoiceOption {
    fn write(&self, choices: &Choices) -> Vec<(&'static str, String)> {
        match (&self.record, self.access) {
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

    fn read(&self, choices: &mut Choices, entries: &Entries<'_>) -> Option<()> {
        match (&self.record, self.access) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cct_columns::{Column, Columns};
    use cct_pcc::MethodChoice;
    use cct_tables::{BlockEnds, BlockRule, CostModel};

    use super::*;
    use crate::settings::{ContextCarrier, Intrinsics, Metrics, Tool};

    fn lines(settings: &Settings) -> String {
        settings.entries().iter().map(|(key, value)| format!("{key}={value}\n")).collect()
    }

    /// Checks that the settings are read back, and that each of these replacements is refused.
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
        let chosen = MethodChoice::parse(["a.B.m", "a.*.n(I)V"], ["a.**.*"]).unwrap().interned();
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
    fn each_column_has_an_option_that_is_recorded() {
        for column in Column::all() {
            let columns = Columns::default().with(column);
            let settings = Settings { columns, ..Settings::default() };
            let is_of_it = |option: &&ChoiceOption| match option.access {
                Access::Switch { set, .. } => {
                    let mut choices = Choices::default();
                    set(&mut choices);
                    choices.settings().columns == columns
                }
                _ => false,
            };
            let option = OPTIONS.iter().find(is_of_it);
            let option = option.unwrap_or_else(|| panic!("no option counts {}", column.name()));
            // Messages name the option by the column.
            assert_eq!(option.flag, column.name());
            assert!(matches!(option.record, Record::With { keys: ["columns"], .. }), "{}", option.flag);
            assert!(lines(&settings).contains(&format!("columns={}", column.name())));
        }
    }

    #[test]
    fn columns_are_recorded_by_name() {
        let columns = Columns::parse("monitors").unwrap();
        let wrong = [("columns=monitors", "columns=others"), ("columns=monitors", "columns=")];
        is_read_again(Settings { columns, ..Settings::default() }, &wrong);
        assert!(!lines(&Settings::default()).contains("columns"));
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
        let chosen = MethodChoice::default().interned();
        let mut keys = BTreeSet::new();
        for settings in [Settings::default(), Settings::default().of_values(chosen)] {
            let choices = Choices { direct: settings, ..Choices::default() };
            let entries = OPTIONS.iter().flat_map(|row| row.write(&choices));
            let given: Vec<&str> = entries.map(|(key, _)| key).collect();
            let known: Vec<&str> = OPTIONS.iter().flat_map(|row| row.record.keys()).copied().collect();
            assert!(given.iter().all(|key| known.contains(key)), "{given:?}");
            assert_eq!(given.len(), given.iter().collect::<BTreeSet<_>>().len());
            keys.extend(given);
        }
        assert!(keys.len() >= 9, "{keys:?}");
    }
}
