//! The settings of a run in the [provenance](Provenance) of its outputs (docs/formats/index.md).

use cct_columns::Columns;
use cct_flow::BlockRule;
use cct_index::provenance::Provenance;
use cct_jdk::convention;
use cct_pcc::Chosen;
use cct_pcc::chosen::{joined, separated};
use cct_tables::{BlockEnds, CostModel};

use crate::settings::{ContextCarrier, Intrinsics, Metrics, Natives, Settings, Tool};

impl Settings {
    /// The provenance of a run with these settings. `jdk` is the hash of the surveyed class library, if there was one.
    pub fn provenance(&self, tool: &str, jdk: Option<u64>) -> Provenance {
        let jdk = jdk.map_or("none".to_owned(), |h| format!("{h:016x}"));
        let (blocks, metrics) = (self.blocks_name(), self.metrics_name());
        let intrinsics = self.intrinsics_name();
        let reproducible = self.reproducible_name();
        let activation = self.activation_name();
        let call_sites = self.call_sites_name();
        let context = self.context_name();
        let natives = self.natives_name();
        let allocations = self.allocations_name();
        let scheme = convention::SCHEME;
        let ends = match self.block_rule() {
            Some(BlockRule::Custom(ends)) => format!("block-ends={}\n", ends.encoded()),
            _ => String::new(),
        };
        // Outputs without are what they were before there were cost models.
        let costs = self
            .cost_model
            .map_or(String::new(), |model| format!("cost-model={}\ncosts={}\n", model.id(), model.encoded()));
        // Nor were there columns.
        let columns = match self.columns.is_empty() {
            true => String::new(),
            false => format!("columns={}\n", self.columns.names()),
        };
        // Nor markers beside a tree.
        let markers = if self.markers { "markers=yes\n" } else { "" };
        // Nor traces.
        let trace = if self.traces() { "trace=yes\n" } else { "" };
        // Nor values of contexts.
        let pcc = self.pcc().map_or(String::new(), |chosen| {
            format!("pcc-at={}\npcc-only={}\npcc=yes\n", joined(&chosen.at), joined(&chosen.only))
        });
        let lines = format!(
            "activation={activation}\nallocations={allocations}\n{ends}blocks={blocks}\ncall-sites={call_sites}\n{columns}context={context}\n{costs}format=1\nintrinsics={intrinsics}\njdk={jdk}\n{markers}metrics={metrics}\nnatives={natives}\n{pcc}reproducible={reproducible}\nscheme={scheme}\ntool={tool}\n{trace}"
        );
        Provenance::of_lines(&lines)
    }

    /// The settings that the outputs were made with; `None` if this version does not know them.
    pub fn of_provenance(provenance: &Provenance) -> Option<Settings> {
        let cost_model = match (provenance.value("cost-model"), provenance.value("costs")) {
            (None, None) => None,
            (Some(id), Some(costs)) => {
                Some(CostModel::decode(costs).filter(|model| model.id() == id)?.interned())
            }
            _ => return None,
        };
        let metrics = match (provenance.value("metrics")?, cost_model) {
            ("calls", None) => Metrics::Calls,
            ("calls+bytecodes", None) => Metrics::CallsAndBytecodes,
            (metrics, Some(model)) if metrics.strip_prefix("calls+") == Some(model.unit()) => {
                Metrics::CallsAndBytecodes
            }
            _ => return None,
        };
        let ends = match provenance.value("block-ends") {
            None => None,
            Some(text) => Some(BlockEnds::decode(text)?),
        };
        let blocks = match provenance.value("blocks")? {
            id if ends.as_ref().is_some_and(|ends| ends.id() == id) => BlockRule::Custom(ends?.interned()),
            _ if ends.is_some() => return None,
            "precise" => BlockRule::Precise,
            "exact" => BlockRule::Exact,
            "default" => BlockRule::Default,
            "none" => Settings::default().blocks,
            _ => return None,
        };
        let intrinsics = match provenance.value("intrinsics")? {
            "bytecode" => Intrinsics::Bytecode,
            "native" => Intrinsics::Native,
            _ => return None,
        };
        let yes = |key| match provenance.value(key)? {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        let (reproducible, activation) = (yes("reproducible")?, yes("activation")?);
        let (call_sites, allocations) = (yes("call-sites")?, yes("allocations")?);
        let natives = match provenance.value("natives")? {
            "wrap" => Natives::Wrap,
            "prefix" => Natives::Prefix,
            "none" => Natives::None,
            _ => return None,
        };
        let context = match provenance.value("context")? {
            "argument" => ContextCarrier::Argument,
            "thread" => ContextCarrier::Thread,
            _ => return None,
        };
        let markers = match provenance.value("markers") {
            None => false,
            Some("yes") => true,
            Some(_) => return None,
        };
        let columns = match provenance.value("columns") {
            None => Columns::NONE,
            Some(names) => Columns::parse(names).filter(|columns| !columns.is_empty())?,
        };
        let tool = match (provenance.value("trace"), provenance.value("pcc")) {
            (None, None) => Tool::Profile,
            (Some("yes"), None) => Tool::Trace,
            (None, Some("yes")) => {
                let [at, only] = ["pcc-at", "pcc-only"].map(|key| provenance.value(key));
                Tool::Pcc(Chosen::parse(separated(at?), separated(only?)).ok()?.interned())
            }
            _ => return None,
        };
        Some(Settings {
            tool,
            context,
            metrics,
            blocks,
            intrinsics,
            natives,
            reproducible,
            activation,
            call_sites,
            cost_model,
            allocations,
            columns,
            markers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_for_blocks_comes_along_whole() {
        let rule = BlockEnds::parse(BlockEnds::shipped("calls").unwrap()).unwrap().interned();
        let settings = Settings { blocks: BlockRule::Custom(rule), ..Settings::default() };
        let provenance = settings.provenance("test", None);
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(Settings::of_provenance(&provenance), Some(settings));
        for (old, new) in [
            ("blocks=calls@", "blocks=calls@0"),
            ("block-ends=calls", "block-ends=other"),
            ("blocks=calls", "blocks=exact #"),
        ] {
            let other = provenance.lines().replacen(old, new, 1);
            assert_ne!(other, provenance.lines());
            assert_eq!(Settings::of_provenance(&Provenance::of_lines(&other)), None, "{other}");
        }
    }

    #[test]
    fn a_cost_model_comes_along_whole() {
        let model = CostModel::parse(CostModel::shipped("jop").unwrap()).unwrap();
        let settings = Settings { cost_model: Some(model.clone().interned()), ..Settings::default() };
        let provenance = settings.provenance("test", None);
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(Settings::of_provenance(&provenance), Some(settings));
        assert_eq!(provenance.value("metrics"), Some("calls+cycles"));
        for (old, new) in
            [("jop@", "jop@0"), ("costs=jop;cycles", "costs=jop;ticks"), ("calls+cycles", "calls+bytecodes")]
        {
            let other = provenance.lines().replacen(old, new, 1);
            assert_eq!(Settings::of_provenance(&Provenance::of_lines(&other)), None, "{other}");
        }
        assert!(!Settings::default().provenance("test", None).lines().contains("cost"));
    }

    #[test]
    fn a_trace_is_said_to_be_one() {
        let settings = Settings { tool: Tool::Trace, ..Settings::default() };
        let provenance = settings.provenance("test", None);
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(Settings::of_provenance(&provenance), Some(settings));
        let other = provenance.lines().replace("trace=yes", "trace=2");
        assert_eq!(Settings::of_provenance(&Provenance::of_lines(&other)), None);
        assert!(!Settings::default().provenance("test", None).lines().contains("trace"));
    }

    #[test]
    fn values_are_said_to_be_those_with_what_was_chosen() {
        let chosen = Chosen::parse(["a.B.m", "a.*.n(I)V"], ["a.**.*"]).unwrap().interned();
        let settings = Settings::default().of_values(chosen);
        let provenance = settings.provenance("test", None);
        assert!(provenance.lines().lines().is_sorted(), "{}", provenance.lines());
        assert_eq!(Settings::of_provenance(&provenance), Some(settings));
        for (old, new) in [("pcc=yes", "pcc=2"), ("pcc-at=a", "pcc-at=[a"), ("pcc-only=a", "pcc-=a")] {
            let other = provenance.lines().replace(old, new);
            assert_ne!(other, provenance.lines());
            assert_eq!(Settings::of_provenance(&Provenance::of_lines(&other)), None, "{other}");
        }
        assert!(!Settings::default().provenance("test", None).lines().contains("pcc"));
    }

    #[test]
    fn columns_are_said_by_name() {
        let settings = Settings { columns: Columns::parse("monitors").unwrap(), ..Settings::default() };
        let provenance = settings.provenance("test", None);
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(Settings::of_provenance(&provenance), Some(settings));
        for other in ["columns=others", "columns="] {
            let lines = provenance.lines().replace("columns=monitors", other);
            assert_eq!(Settings::of_provenance(&Provenance::of_lines(&lines)), None, "{other}");
        }
        assert!(!Settings::default().provenance("test", None).lines().contains("columns"));
    }

    #[test]
    fn a_module_is_the_last_key() {
        let plain = Settings::default().provenance("test", None);
        let provenance = plain.clone().with_udi("count@0123456789abcdef");
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(provenance.value("udi"), Some("count@0123456789abcdef"));
        assert_eq!(
            (Settings::of_provenance(&provenance), plain.value("udi")),
            (Settings::of_provenance(&plain), None)
        );
    }

    #[test]
    fn settings_come_back_from_the_lines() {
        for metrics in [Metrics::Calls, Metrics::CallsAndBytecodes] {
            for intrinsics in [Intrinsics::Bytecode, Intrinsics::Native] {
                for (reproducible, activation, call_sites) in [(false, true, false), (true, false, true)] {
                    let settings = Settings {
                        context: if activation { ContextCarrier::Thread } else { ContextCarrier::Argument },
                        metrics,
                        intrinsics,
                        reproducible,
                        activation,
                        call_sites,
                        allocations: call_sites,
                        markers: activation,
                        ..Settings::default()
                    };
                    let provenance = settings.provenance("test", None);
                    assert!(provenance.lines().lines().is_sorted());
                    assert_eq!(Settings::of_provenance(&provenance), Some(settings));
                }
            }
        }
        assert_eq!(Settings::of_provenance(&Provenance::of_lines("blocks=default\nmetrics=calls\n")), None);
    }
}
