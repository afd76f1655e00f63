//! Whether a rewritten class is its original and probes: a judge that has no part in the rewriting.
//!
//! Nothing here knows how classes are rewritten. What a probe looks like, what members are added and what counts must be right
//! where, is stated once more, from the documents (docs/scheme.md, docs/runtime.md, docs/treatments.md), and held against the bytes:
//!
//! 1. [`class`]: all that is no code is as it was; each added member is one of a few known ones. `method`: the two forms of each method belong
//!    together.
//! 2. [`forwarder`]: straight pieces of code, compared operation by operation.
//! 3. [`prologue`], [`probe`], [`align`]: a body without its prologue, its probes and what was appended behind it is the original, with
//!    locals moved up and jumps leading where they led.
//! 4. [`tables`], [`frames`], [`limits`]: what goes with the code.
//! 5. [`counts`]: on every path the node has what was executed, where the rule says so.
//!    Where events are recorded, what stands around each instruction follows from the original ([`traces`], [`events`]); where contexts are [`values`] nothing is counted, and what each call adds is recomputed.
//!    What the static side of a trace says of a class is held against both ([`StaticSide`]).
//! 6. [`pins`], [`hooks`], [`native_hooks`]: where the class library is to call the runtime, and where answers of clocks are replaced. [`attribute`]: what the
//!    class says of itself.
//! 7. `marked`: classes with markers, which have nothing of all that, or stand beside what counts: then both are taken out.
//! 8. [`links`], over a [`hierarchy`]: of all classes together, the extended forms that they call are there, and what callers count nobody else counts.
//!
//! What stands in a class and is nothing of that is a [`Finding`]; what is recognised but not proven is counted by name
//! ([`Tally::unchecked`]), and what is left out docs/verify.md says.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod align;
mod allocations;
pub mod attribute;
pub mod body;
pub mod class;
pub mod convention;
pub mod counts;
mod debug_tables;
pub mod events;
pub mod finding;
mod forms;
pub mod forwarder;
pub mod frames;
pub mod handlers;
pub mod hierarchy;
pub mod hooks;
pub mod limits;
pub mod links;
mod marked;
mod method;
pub mod native_hooks;
pub mod op;
pub mod pins;
mod places;
mod positions;
pub mod probe;
pub mod prologue;
pub mod quiet;
mod renamed;
mod sites;
mod structure;
pub mod tables;
pub mod throws;
pub mod traces;
pub mod values;

use std::collections::BTreeMap;

use cct_classfile::{ClassFile, mutf8};
use cct_pcc::chosen::separated;
use cct_pcc::{BadPattern, Chosen};
use cct_tables::{BlockEnds, CostModel};
use xxhash_rust::xxh3::xxh3_64;

pub use counts::Rule;
pub use finding::{Finding, Problem};
pub use links::Links;
pub use structure::StaticSide;

/// What the rewritten program leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// A profile.
    Profile,
    /// With which values of calling contexts methods that were chosen were entered (docs/pcc.md).
    Values(&'static Chosen),
    /// Its events, in order (docs/trace.md).
    Trace,
    /// What clients of markers say (docs/markers.md).
    Markers,
}

/// What is known of how a class was rewritten. What is not known is found out, as far as one class tells.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expectation {
    /// What it is to leave behind.
    pub tool: Option<Tool>,
    /// The rule by which bytecodes are counted.
    pub rule: Option<Rule>,
    /// Whether results of clocks may be replaced.
    pub reproducible: Option<bool>,
    /// Whether call sites are told apart.
    pub call_sites: Option<bool>,
    /// Whether contexts are carried by the thread alone.
    pub by_thread: Option<bool>,
    /// Where blocks end, if a table says so; [`Rule::Precise`] stands for it then.
    pub block_ends: Option<&'static BlockEnds>,
    /// What bytecodes cost; `None` where each counts one.
    pub cost_model: Option<&'static CostModel>,
    /// Whether objects are counted.
    pub allocations: Option<bool>,
    /// Whether natives are left out.
    pub no_natives: Option<bool>,
    /// Whether natives may have been renamed.
    pub renames_natives: Option<bool>,
    /// Whether markers may stand beside what counts.
    pub markers: Option<bool>,
    /// Whether wrappers name their parameters: not where the class library was rewritten in the same run.
    pub parameter_names: Option<bool>,
    /// Hash of the lines that say so, which each class names.
    pub provenance: Option<u64>,
}

impl Expectation {
    /// What the provenance lines of an output say (docs/formats/index.md). Patterns over methods may be none.
    pub fn of(provenance: &str) -> Result<Self, BadPattern> {
        let value = |key: &str| provenance.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        let rule = value("blocks").and_then(|name| Rule::ALL.into_iter().find(|rule| rule.name() == name));
        let block_ends = value("block-ends").and_then(BlockEnds::decode).map(BlockEnds::interned);
        let rule = block_ends.map(|_| Rule::Precise).or(rule);
        let reproducible = value("reproducible").map(|v| v == "yes");
        let call_sites = value("call-sites").map(|v| v == "yes");
        let allocations = value("allocations").map(|v| v == "yes");
        let no_natives = value("natives").map(|v| v == "none");
        let renames_natives = value("natives").map(|v| v == "prefix");
        let by_thread = value("context").map(|v| v == "thread");
        let cost_model = value("costs").and_then(CostModel::decode).map(CostModel::interned);
        let tool = match (value("pcc"), value("trace")) {
            (_, Some("yes")) => Tool::Trace,
            (Some("yes"), _) => {
                let [at, only] = ["pcc-at", "pcc-only"].map(|key| separated(value(key).unwrap_or_default()));
                Tool::Values(Chosen::parse(at, only)?.interned())
            }
            _ => Tool::Profile,
        };
        let markers = Some(value("markers") == Some("yes"));
        let provenance = Some(xxh3_64(provenance.as_bytes()));
        Ok(Expectation {
            tool: Some(tool),
            rule,
            reproducible,
            call_sites,
            by_thread,
            block_ends,
            cost_model,
            allocations,
            no_natives,
            renames_natives,
            markers,
            parameter_names: None,
            provenance,
        })
    }

    /// What was chosen, if contexts are values.
    pub(crate) fn chosen(&self) -> Option<&'static Chosen> {
        match self.tool {
            Some(Tool::Values(chosen)) => Some(chosen),
            _ => None,
        }
    }
}

/// What was checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Classes that were compared with their originals.
    pub classes: u64,
    /// Classes that are their originals, byte for byte.
    pub unchanged: u64,
    /// Module descriptors among those compared.
    pub modules: u64,
    /// Methods of the originals.
    pub methods: u64,
    /// Methods by their forms.
    pub forms: BTreeMap<&'static str, u64>,
    /// Instrumented bodies.
    pub bodies: u64,
    /// Bodies by the rule by which they count.
    pub rules: BTreeMap<&'static str, u64>,
    /// Probes that change counts.
    pub probes: u64,
    /// Pieces of code that tell clients of markers.
    pub pieces: u64,
    /// Methods that were added.
    pub added_methods: u64,
    /// Fields that were added.
    pub added_fields: u64,
    /// Added methods that settle which of several inherited extended forms is meant.
    pub tie_breaks: u64,
    /// Results of clocks that are replaced.
    pub pinned: u64,
    /// Calls of the runtime at places of the class library.
    pub hooks: u64,
    /// Call sites that count a native under an id whose class the reference does not name.
    pub unknown_ids: u64,
    /// Attributes of code that were left out, by name.
    pub dropped: BTreeMap<String, u64>,
    /// Classes that the static side of a trace tells of, as they are.
    pub described: u64,
    /// What was recognised and not proven: methods by what it is.
    pub unchecked: BTreeMap<&'static str, Vec<String>>,
}

impl Tally {
    /// Adds another one.
    pub fn add(&mut self, other: Tally) {
        self.classes += other.classes;
        self.unchanged += other.unchanged;
        self.modules += other.modules;
        self.methods += other.methods;
        self.bodies += other.bodies;
        self.probes += other.probes;
        self.pieces += other.pieces;
        self.added_methods += other.added_methods;
        self.added_fields += other.added_fields;
        self.tie_breaks += other.tie_breaks;
        self.pinned += other.pinned;
        self.hooks += other.hooks;
        self.unknown_ids += other.unknown_ids;
        self.described += other.described;
        for (name, n) in other.forms {
            *self.forms.entry(name).or_default() += n;
        }
        for (name, n) in other.rules {
            *self.rules.entry(name).or_default() += n;
        }
        for (name, n) in other.dropped {
            *self.dropped.entry(name).or_default() += n;
        }
        for (what, methods) in other.unchecked {
            self.unchecked.entry(what).or_default().extend(methods);
        }
    }

    pub(crate) fn not_checked(&mut self, what: &'static str, class: &[u8], method: &[u8]) {
        let name = format!("{}.{}", mutf8::decode_lossy(class), mutf8::decode_lossy(method));
        let methods = self.unchecked.entry(what).or_default();
        if !methods.contains(&name) {
            methods.push(name);
        }
    }
}

/// Checks a rewritten class against its original. What is equal byte for byte is right.
pub fn check(original: &[u8], rewritten: &[u8], expectation: Expectation) -> (Vec<Finding>, Tally) {
    let (findings, tally, _) = check_with_links(original, rewritten, expectation, None);
    (findings, tally)
}

/// The same, and what the class gives to others and wants of them, for [`links::follow`]; nothing of what is no class. With the static side of a trace, what
/// that says of the class is checked, too.
pub fn check_with_links(
    original: &[u8],
    rewritten: &[u8],
    expectation: Expectation,
    side: Option<&StaticSide>,
) -> (Vec<Finding>, Tally, Option<Links>) {
    if original == rewritten {
        return (Vec::new(), Tally { unchanged: 1, ..Tally::default() }, Links::of(rewritten));
    }
    let parse = |bytes, which| {
        ClassFile::parse(bytes).map_err(|e| Finding::of(Problem::Unreadable { which, why: e.to_string() }))
    };
    match (parse(original, "original"), parse(rewritten, "rewritten")) {
        (Ok(before), Ok(after))
            if expectation.tool == Some(Tool::Markers)
                || expectation.tool.is_none() && marked::is_marked(&after) && !counts(&after) =>
        {
            let (findings, tally) = marked::check(&before, &after);
            (findings, tally, None)
        }
        (Ok(before), Ok(after)) => {
            let (findings, tally, links) = class::Class::check(&before, &after, expectation, side);
            (findings, tally, Some(links))
        }
        (before, after) => {
            let findings = before.err().into_iter().chain(after.err()).collect();
            (findings, Tally { classes: 1, ..Tally::default() }, Links::of(rewritten))
        }
    }
}

/// Whether a class says that it was rewritten to be counted.
fn counts(class: &ClassFile<'_>) -> bool {
    class.attributes.find(convention::ATTRIBUTE).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_says_by_which_rule_it_counts() {
        let of = |lines| Expectation::of(lines).unwrap();
        assert_eq!(of("activation=no\nblocks=precise\nreproducible=yes\n").rule, Some(Rule::Precise));
        assert_eq!(of("blocks=none\nreproducible=no").reproducible, Some(false));
        let other = of("blocks=other");
        assert_eq!((other.rule, other.reproducible), (None, None));
        assert_ne!(other.provenance, of("blocks=others").provenance);
    }

    #[test]
    fn what_is_no_class_is_a_finding() {
        let (findings, _) = check(b"no class", b"nor this", Expectation::default());
        assert_eq!(findings.len(), 2);
        assert_eq!(check(b"equal", b"equal", Expectation::default()).1.unchanged, 1);
    }
}
