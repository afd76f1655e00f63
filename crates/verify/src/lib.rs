//! An independent check that a rewritten class is its original with probes.
//!
//! Nothing here knows how classes are rewritten. The shapes of probes, the added members and the
//! rules for counts are stated a second time, from the documents (docs/internals/scheme.md,
//! docs/internals/runtime.md, docs/internals/treatments.md), and compared with the bytes:
//!
//! 1. [`check`]: everything except code is unchanged; each added member is one of a few known ones.
//!    `method`: the two forms of each method belong together.
//! 2. [`forwarder`]: straight code, compared operation by operation.
//! 3. [`prologue`], [`probe`], [`align`]: a body without its prologue, its probes and the appended
//!    code is the original, with locals moved up and jumps to the same instructions.
//! 4. [`tables`], [`frames`], [`limits`]: the attributes and limits of the code.
//! 5. [`counts`]: on every path the node has the executed count, where the rule says so. Where
//!    events are recorded, the code around each instruction follows from the original ([`traces`],
//!    [`events`]). Where contexts are [`values`], nothing is counted, and the number that each call
//!    adds is recomputed. The static side of a trace is compared with both classes
//!    ([`StaticSide`]).
//! 6. [`pins`], [`hooks`], [`native_hooks`]: the locations where the class library must call the
//!    runtime, and where answers of clocks are replaced. [`attribute`]: the class's statements
//!    about itself.
//! 7. `marked`: classes with markers. Some have only markers; in others, which are also counted,
//!    both markers and probes are removed.
//! 8. [`readers`]: a second reader, which shares no code with the one used by all these checks,
//!    reads both files.
//! 9. [`linked`], over a [`hierarchy`]: for all classes together, the extended forms that they call
//!    exist, and nobody else counts what callers count.
//!
//! Anything else in a class is a [`Finding`]. Recognised but unproven parts are counted by name
//! ([`Tally::unchecked`]). docs/internals/verify.md names the limits of the check.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod align;
mod allocations;
pub mod attribute;
mod bodies;
pub mod body;
mod check;
pub mod class;
mod columns;
pub mod convention;
pub mod counts;
mod debug_tables;
pub mod events;
mod expectation;
pub mod faults;
mod fields;
pub mod finding;
mod forms;
pub mod forwarder;
pub mod frames;
pub mod handlers;
pub mod hierarchy;
pub mod hooks;
pub mod limits;
pub mod link_results;
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
pub mod readers;
mod renamed_native;
mod rule;
pub mod silent_events;
mod sites;
mod structure;
pub mod tables;
mod tally;
pub mod throws;
mod trace_forms;
pub mod traces;
mod value_forms;
pub mod values;

use cct_classfile::ClassFile;

use readers::{ORIGINAL, REWRITTEN};

pub use expectation::{Expectation, Tool};
pub use finding::{Finding, Problem};
pub use links::Links;
pub use readers::SecondReading;
pub use rule::Rule;
pub use structure::StaticSide;
pub use tally::Tally;

/// Checks a rewritten class against its original. Files that are equal byte for byte are correct.
pub fn check(original: &[u8], rewritten: &[u8], expectation: Expectation) -> (Vec<Finding>, Tally) {
    let (findings, tally, _) = check_with_links(original, rewritten, expectation, None);
    (findings, tally)
}

/// Checks a rewritten class against its original. Returns also the forms that it offers and calls,
/// for [`links::follow`]; `None` for a file that is no class. If the static side of a trace is
/// given, its statements about the class are checked too.
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
    match (parse(original, ORIGINAL), parse(rewritten, REWRITTEN)) {
        (Ok(before), Ok(after)) => {
            let (mut findings, mut tally, links) = compare(&before, &after, expectation, side);
            findings.extend(tally.second.of(&before, ORIGINAL));
            findings.extend(tally.second.of(&after, REWRITTEN));
            (findings, tally, links)
        }
        (before, after) => {
            let findings = before.err().into_iter().chain(after.err()).collect();
            (findings, Tally { classes: 1, ..Tally::default() }, Links::of(rewritten))
        }
    }
}

/// Compares a parsed class with its original.
fn compare(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    expectation: Expectation,
    side: Option<&StaticSide>,
) -> (Vec<Finding>, Tally, Option<Links>) {
    if expectation.tool == Some(Tool::Markers)
        || expectation.tool.is_none() && marked::is_marked(after) && !is_counted(after)
    {
        let (findings, tally) = marked::check(before, after);
        return (findings, tally, None);
    }
    let (findings, tally, links) = class::Class::check(before, after, expectation, side);
    (findings, tally, Some(links))
}

/// Whether a class's attribute says that it was rewritten to be counted.
fn is_counted(class: &ClassFile<'_>) -> bool {
    class.attributes.find(convention::ATTRIBUTE).is_some()
}

#[cfg(test)]
mod tests {
    use cct_settings::{Metrics, Settings};
    use cct_tables::BlockRule;

    use super::*;

    #[test]
    fn an_output_says_by_which_rule_it_counts() {
        let lines = |settings: Settings| -> String {
            settings.entries().iter().map(|(key, value)| format!("{key}={value}\n")).collect()
        };
        let precise = lines(Settings { blocks: BlockRule::Precise, ..Settings::default() });
        let of = |lines: &str| Expectation::of(lines).unwrap();
        assert_eq!((of(&precise).rule, of(&precise).reproducible), (Some(Rule::Precise), Some(false)));
        let calls = lines(Settings { metrics: Metrics::Calls, reproducible: true, ..Settings::default() });
        assert_eq!((of(&calls).rule, of(&calls).reproducible), (Some(Rule::None), Some(true)));
        assert_ne!(of(&precise).provenance, of(&calls).provenance);
        assert!(Expectation::of(&precise.replace("precise", "other")).is_err());
    }

    #[test]
    fn a_file_that_is_no_class_is_a_finding() {
        let (findings, _) = check(b"no class", b"nor this", Expectation::default());
        assert_eq!(findings.len(), 2);
        assert_eq!(check(b"equal", b"equal", Expectation::default()).1.unchanged, 1);
    }
}
