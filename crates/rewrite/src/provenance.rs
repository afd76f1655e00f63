//! Where an output comes from, as far as outputs must agree to run together (docs/formats/index.md).

use cct_flow::BlockRule;
use cct_pcc::Chosen;
use cct_pcc::chosen::{joined, separated};
use cct_tables::{BlockEnds, CostModel};
use xxhash_rust::xxh3::xxh3_64;

use crate::convention;
use crate::mid::ClassHash;
use crate::settings::{ContextCarrier, Intrinsics, Metrics, Natives, Settings, Tool};
use crate::survey::ClassSummary;

/// The provenance of one run's outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    lines: String,
}

impl Provenance {
    /// The provenance of a run. `jdk` is the hash of the surveyed class library, if there was one.
    pub fn new(tool: &str, settings: &Settings, jdk: Option<u64>) -> Self {
        let jdk = jdk.map_or("none".to_owned(), |h| format!("{h:016x}"));
        let (blocks, metrics) = (settings.blocks_name(), settings.metrics_name());
        let intrinsics = settings.intrinsics_name();
        let reproducible = settings.reproducible_name();
        let activation = settings.activation_name();
        let call_sites = settings.call_sites_name();
        let context = settings.context_name();
        let natives = settings.natives_name();
        let allocations = settings.allocations_name();
        let scheme = convention::SCHEME;
        let ends = match settings.block_rule() {
            Some(BlockRule::Custom(ends)) => format!("block-ends={}\n", ends.encoded()),
            _ => String::new(),
        };
        // Outputs without are what they were before there were cost models.
        let costs = settings
            .cost_model
            .map_or(String::new(), |model| format!("cost-model={}\ncosts={}\n", model.id(), model.encoded()));
        // Nor were there markers beside a tree.
        let markers = if settings.markers { "markers=yes\n" } else { "" };
        // Nor traces.
        let trace = if settings.traces() { "trace=yes\n" } else { "" };
        // Nor values of contexts.
        let pcc = settings.pcc().map_or(String::new(), |chosen| {
            format!("pcc-at={}\npcc-only={}\npcc=yes\n", joined(&chosen.at), joined(&chosen.only))
        });
        let lines = format!(
            "activation={activation}\nallocations={allocations}\n{ends}blocks={blocks}\ncall-sites={call_sites}\ncontext={context}\n{costs}format=1\nintrinsics={intrinsics}\njdk={jdk}\n{markers}metrics={metrics}\nnatives={natives}\n{pcc}reproducible={reproducible}\nscheme={scheme}\ntool={tool}\n{trace}"
        );
        Provenance { lines }
    }

    /// The same, of classes that a user-defined module was given first.
    pub fn with_udi(mut self, module: &str) -> Self {
        // The last of all keys.
        self.lines.push_str(&format!("udi={module}\n"));
        self
    }

    /// The provenance that an output states.
    pub fn of_lines(lines: &str) -> Self {
        Provenance { lines: lines.to_owned() }
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.lines.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }

    /// The settings that the outputs were made with; `None` if this version knows no such ones.
    pub fn settings(&self) -> Option<Settings> {
        let cost_model = match (self.value("cost-model"), self.value("costs")) {
            (None, None) => None,
            (Some(id), Some(costs)) => {
                Some(CostModel::decode(costs).filter(|model| model.id() == id)?.interned())
            }
            _ => return None,
        };
        let metrics = match (self.value("metrics")?, cost_model) {
            ("calls", None) => Metrics::Calls,
            ("calls+bytecodes", None) => Metrics::CallsAndBytecodes,
            (metrics, Some(model)) if metrics.strip_prefix("calls+") == Some(model.unit()) => {
                Metrics::CallsAndBytecodes
            }
            _ => return None,
        };
        let ends = match self.value("block-ends") {
            None => None,
            Some(text) => Some(BlockEnds::decode(text)?),
        };
        let blocks = match self.value("blocks")? {
            id if ends.as_ref().is_some_and(|ends| ends.id() == id) => BlockRule::Custom(ends?.interned()),
            _ if ends.is_some() => return None,
            "precise" => BlockRule::Precise,
            "exact" => BlockRule::Exact,
            "default" => BlockRule::Default,
            "none" => Settings::default().blocks,
            _ => return None,
        };
        let intrinsics = match self.value("intrinsics")? {
            "bytecode" => Intrinsics::Bytecode,
            "native" => Intrinsics::Native,
            _ => return None,
        };
        let yes = |key| match self.value(key)? {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        let (reproducible, activation) = (yes("reproducible")?, yes("activation")?);
        let (call_sites, allocations) = (yes("call-sites")?, yes("allocations")?);
        let natives = match self.value("natives")? {
            "wrap" => Natives::Wrap,
            "prefix" => Natives::Prefix,
            "none" => Natives::None,
            _ => return None,
        };
        let context = match self.value("context")? {
            "argument" => ContextCarrier::Argument,
            "thread" => ContextCarrier::Thread,
            _ => return None,
        };
        let markers = match self.value("markers") {
            None => false,
            Some("yes") => true,
            Some(_) => return None,
        };
        let tool = match (self.value("trace"), self.value("pcc")) {
            (None, None) => Tool::Profile,
            (Some("yes"), None) => Tool::Trace,
            (None, Some("yes")) => {
                let [at, only] = ["pcc-at", "pcc-only"].map(|key| self.value(key));
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
            markers,
        })
    }

    /// `key=value` lines, sorted.
    pub fn lines(&self) -> &str {
        &self.lines
    }

    /// Hash of the lines.
    pub fn hash(&self) -> u64 {
        xxh3_64(self.lines.as_bytes())
    }
}

/// Hash over the classes of a surveyed class library: their contents, in any order, each once. `None` unless `java/lang/Object` is among
/// them, without which it is none.
///
/// Each class comes with the hash of its original, which is not that of what a module made of it.
pub fn library_hash<'s>(classes: impl IntoIterator<Item = (&'s ClassSummary, ClassHash)>) -> Option<u64> {
    let mut has_object = false;
    let mut hashes: Vec<u64> = Vec::new();
    for (class, original) in classes {
        has_object |= *class.name == *convention::OBJECT;
        hashes.push(original.0);
    }
    hashes.sort_unstable();
    hashes.dedup();
    let bytes: Vec<u8> = hashes.iter().flat_map(|h| h.to_be_bytes()).collect();
    has_object.then(|| xxh3_64(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_for_blocks_comes_along_whole() {
        let rule = BlockEnds::parse(BlockEnds::shipped("calls").unwrap()).unwrap().interned();
        let settings = Settings { blocks: BlockRule::Custom(rule), ..Settings::default() };
        let provenance = Provenance::new("test", &settings, None);
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(provenance.settings(), Some(settings));
        for (old, new) in [
            ("blocks=calls@", "blocks=calls@0"),
            ("block-ends=calls", "block-ends=other"),
            ("blocks=calls", "blocks=exact #"),
        ] {
            let other = provenance.lines().replacen(old, new, 1);
            assert_ne!(other, provenance.lines());
            assert_eq!(Provenance::of_lines(&other).settings(), None, "{other}");
        }
    }

    #[test]
    fn a_cost_model_comes_along_whole() {
        let model = CostModel::parse(CostModel::shipped("jop").unwrap()).unwrap();
        let settings = Settings { cost_model: Some(model.clone().interned()), ..Settings::default() };
        let provenance = Provenance::new("test", &settings, None);
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(provenance.settings(), Some(settings));
        assert_eq!(provenance.value("metrics"), Some("calls+cycles"));
        for (old, new) in
            [("jop@", "jop@0"), ("costs=jop;cycles", "costs=jop;ticks"), ("calls+cycles", "calls+bytecodes")]
        {
            let other = provenance.lines().replacen(old, new, 1);
            assert_eq!(Provenance::of_lines(&other).settings(), None, "{other}");
        }
        assert!(!Provenance::new("test", &Settings::default(), None).lines().contains("cost"));
    }

    #[test]
    fn a_trace_is_said_to_be_one() {
        let settings = Settings { tool: Tool::Trace, ..Settings::default() };
        let provenance = Provenance::new("test", &settings, None);
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(provenance.settings(), Some(settings));
        let other = provenance.lines().replace("trace=yes", "trace=2");
        assert_eq!(Provenance::of_lines(&other).settings(), None);
        assert!(!Provenance::new("test", &Settings::default(), None).lines().contains("trace"));
    }

    #[test]
    fn values_are_said_to_be_those_with_what_was_chosen() {
        let chosen = Chosen::parse(["a.B.m", "a.*.n(I)V"], ["a.**.*"]).unwrap().interned();
        let settings = Settings::default().of_values(chosen);
        let provenance = Provenance::new("test", &settings, None);
        assert!(provenance.lines().lines().is_sorted(), "{}", provenance.lines());
        assert_eq!(provenance.settings(), Some(settings));
        for (old, new) in [("pcc=yes", "pcc=2"), ("pcc-at=a", "pcc-at=[a"), ("pcc-only=a", "pcc-=a")] {
            let other = provenance.lines().replace(old, new);
            assert_ne!(other, provenance.lines());
            assert_eq!(Provenance::of_lines(&other).settings(), None, "{other}");
        }
        assert!(!Provenance::new("test", &Settings::default(), None).lines().contains("pcc"));
    }

    #[test]
    fn a_module_is_the_last_key() {
        let plain = Provenance::new("test", &Settings::default(), None);
        let provenance = plain.clone().with_udi("count@0123456789abcdef");
        assert!(provenance.lines().lines().is_sorted());
        assert_eq!(provenance.value("udi"), Some("count@0123456789abcdef"));
        assert_eq!((provenance.settings(), plain.value("udi")), (plain.settings(), None));
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
                    let provenance = Provenance::new("test", &settings, None);
                    assert!(provenance.lines().lines().is_sorted());
                    assert_eq!(provenance.settings(), Some(settings));
                }
            }
        }
        assert_eq!(Provenance::of_lines("blocks=default\nmetrics=calls\n").settings(), None);
    }
}
