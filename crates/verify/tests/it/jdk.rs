//! Every class of class libraries, rewritten, is its original with probes.

use cct_settings::{ContextCarrier, Intrinsics, Metrics, Natives, Settings};
use cct_tables::BlockRule;
use cct_tables::{BlockEnds, CostModel};
use cct_verify::{Expectation, Rule};

use super::support::{ClassLibrary, expectation, rewriter, sample, step, verify};

/// Checks every `step`-th class of a JDK; all of its classes decide the plan.
pub fn library(feature: u32, settings: Settings, step: usize) {
    let Some(library) = ClassLibrary::of(feature) else { return };
    let rewriter = library.rewriter(settings);
    let some: Vec<Vec<u8>> = library.classes.iter().step_by(step).cloned().collect();
    let (findings, tally, linked) = verify(&some, &rewriter, expectation(&settings));
    println!("JDK {feature}, {settings:?}: {tally:#?}");
    println!("counted by callers: {} right, {} unknown", linked.counted, linked.uncounted);
    for (class, found) in findings.iter().take(40) {
        println!("{class}: {} findings, first: {}", found.len(), found[0]);
    }
    assert!(findings.is_empty(), "{} classes with findings", findings.len());
    assert!(tally.classes + tally.unchanged == some.len() as u64);
    if step == 1 {
        // A class library contains everything that it calls.
        assert!(
            linked.counted > 10_000 && linked.uncounted == 0,
            "{} and {}",
            linked.counted,
            linked.uncounted
        );
        assert_eq!(linked.ids, tally.unknown_ids, "ids of other classes than those that are named");
        let large = "counts of methods that are too large for the rule";
        assert!(tally.unchecked.keys().all(|what| *what == large), "{:?}", tally.unchecked);
    }
}

/// Without a JDK: one class, with all options.
#[test]
fn a_class_by_itself() {
    let class = vec![sample()];
    for blocks in [BlockRule::Exact, BlockRule::Precise, BlockRule::Default] {
        for (metrics, activation, call_sites) in [
            (Metrics::CallsAndBytecodes, false, false),
            (Metrics::CallsAndBytecodes, true, true),
            (Metrics::Calls, false, false),
            (Metrics::Calls, false, true),
        ] {
            let allocations = activation || metrics == Metrics::Calls;
            let settings =
                Settings { blocks, metrics, activation, call_sites, allocations, ..Settings::default() };
            // The rule is given, or inferred.
            for expectation in [expectation(&settings), Expectation::default()] {
                let (findings, tally, _) = verify(&class, &rewriter(&class, settings), expectation);
                assert!(findings.is_empty(), "{settings:?}: {findings:?}");
                assert!(tally.bodies > 5 && tally.forms.contains_key("native"), "{tally:?}");
            }
        }
    }
}

/// A class that does not follow the rule is found.
#[test]
fn another_rule_is_found() {
    let class = vec![sample()];
    for (blocks, expected) in [
        (BlockRule::Default, Rule::Exact),
        (BlockRule::Default, Rule::Precise),
        (BlockRule::Exact, Rule::Precise),
        (BlockRule::Exact, Rule::Default),
        (BlockRule::Exact, Rule::None),
    ] {
        let rewriter = rewriter(&class, Settings { blocks, ..Settings::default() });
        let expectation = Expectation { rule: Some(expected), ..Expectation::default() };
        assert!(!verify(&class, &rewriter, expectation).0.is_empty(), "{blocks:?} as {expected:?}");
    }
}

#[test]
fn jdk_8() {
    library(8, Settings::default(), 1);
}

#[test]
fn jdk_17() {
    library(17, Settings::default(), 1);
}

#[test]
fn by_each_rule() {
    for blocks in [BlockRule::Precise, BlockRule::Default] {
        library(8, Settings { blocks, ..Settings::default() }, 10);
    }
    library(8, Settings { metrics: Metrics::Calls, ..Settings::default() }, 10);
}

/// With both carriers; an output that names one is not accepted as the other.
#[test]
fn without_natives() {
    let class = vec![sample()];
    for context in [ContextCarrier::Argument, ContextCarrier::Thread] {
        let natives = |natives| Settings { natives, context, ..Settings::default() };
        library(8, natives(Natives::None), step(8));
        let settings = natives(Natives::None);
        for right in [expectation(&settings), Expectation::default()] {
            let (findings, ..) = verify(&class, &rewriter(&class, settings), right);
            assert!(findings.is_empty(), "{context:?}, {right:?}: {findings:?}");
        }
        for (made, said) in [(Natives::None, Natives::Wrap), (Natives::Wrap, Natives::None)] {
            let provenance = None;
            let wrong = Expectation { provenance, ..expectation(&natives(said)) };
            let (findings, ..) = verify(&class, &rewriter(&class, natives(made)), wrong);
            assert!(!findings.is_empty(), "{context:?}: {made:?} as {said:?}");
        }
    }
}

/// Renamed natives; an output that claims to have none is not accepted as one that has some.
#[test]
fn with_renamed_natives() {
    let settings =
        Settings { natives: Natives::Prefix, context: ContextCarrier::Thread, ..Settings::default() };
    library(8, settings, step(4));
    library(17, Settings { call_sites: true, allocations: true, ..settings }, step(10));
    let class = vec![sample()];
    let rewriter = rewriter(&class, settings);
    for right in [expectation(&settings), Expectation::default()] {
        let (findings, tally, _) = verify(&class, &rewriter, right);
        assert!(findings.is_empty(), "{right:?}: {findings:?}");
        assert!(tally.forms.contains_key("native, renamed"), "{tally:?}");
    }
    for natives in [Natives::Wrap, Natives::None] {
        let wrong = Expectation { provenance: None, ..expectation(&Settings { natives, ..settings }) };
        assert!(!verify(&class, &rewriter, wrong).0.is_empty(), "{natives:?}");
    }
}

/// The model that the output names checks sums of costs, and no other model.
#[test]
fn with_a_cost_model() {
    let model = |name| CostModel::parse(CostModel::shipped(name).unwrap()).unwrap().interned();
    for blocks in [BlockRule::Exact, BlockRule::Precise, BlockRule::Default] {
        for activation in [false, true] {
            let cost_model = Some(model("jop"));
            let settings = Settings { blocks, activation, cost_model, ..Settings::default() };
            if activation == (blocks == BlockRule::Exact) {
                library(8, settings, step(10));
            }
            let class = vec![sample()];
            let rewriter = rewriter(&class, settings);
            let right = expectation(&settings);
            assert_eq!(right.cost_model, settings.cost_model);
            assert!(verify(&class, &rewriter, right).0.is_empty());
            for other in [None, Some(model("unit"))] {
                let wrong = Expectation { cost_model: other, ..right };
                assert!(!verify(&class, &rewriter, wrong).0.is_empty(), "{settings:?}");
            }
        }
    }
    library(17, Settings { cost_model: Some(model("jop")), ..Settings::default() }, step(10));
}

/// The table that the output names checks the ends of blocks, and no other table.
#[test]
fn with_a_rule_of_ones_own() {
    let rule = |ends: &str| {
        let rule = BlockEnds::parse(&format!("name = \"x\"\nends = [{ends}]\n"));
        BlockRule::Custom(rule.unwrap().interned())
    };
    let settings = |blocks| Settings { blocks, ..Settings::default() };
    library(8, settings(rule("\"calls\"")), 10);
    library(8, settings(rule("\"fields\", \"divisions\", \"dup\"")), 10);
    let class = vec![sample()];
    let calls = rewriter(&class, settings(rule("\"calls\"")));
    let found = |ends: &str| verify(&class, &calls, expectation(&settings(rule(ends)))).0;
    // The provenance differs, and so do the sums.
    let counts =
        |ends: &str| found(ends).values().flatten().filter(|f| f.to_string().contains("count")).count();
    assert!(found("\"calls\"").is_empty());
    assert!(counts("") + counts("\"throwing\"") > 0);
    assert_eq!(counts("\"calls\""), 0);
}

#[test]
fn with_call_sites() {
    for feature in [8, 17] {
        library(feature, Settings { call_sites: true, ..Settings::default() }, step(8));
    }
}

#[test]
fn with_objects() {
    library(8, Settings { allocations: true, ..Settings::default() }, step(8));
    library(17, Settings { allocations: true, call_sites: true, ..Settings::default() }, step(12));
}

/// Probes that count objects are found where none belong, and their absence where they do.
#[test]
fn objects_are_counted_if_that_is_said() {
    let class = vec![sample()];
    for (made_with, said) in [(true, false), (false, true)] {
        let settings = Settings { allocations: made_with, ..Settings::default() };
        let expectation = expectation(&Settings { allocations: said, ..settings });
        let (findings, ..) = verify(&class, &rewriter(&class, settings), expectation);
        assert!(!findings.is_empty(), "made with {made_with}");
    }
}

#[test]
fn with_each_choice() {
    let all = Settings {
        activation: true,
        reproducible: true,
        intrinsics: Intrinsics::Native,
        ..Settings::default()
    };
    library(17, all, 10);
    library(8, Settings { blocks: BlockRule::Default, ..all }, 10);
}
