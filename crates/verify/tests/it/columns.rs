//! Columns: each instruction that a column counts has its probe, and nothing else has one.

use cct_classfile::{ClassFile, Instruction, opcode};
use cct_columns::{Column, Columns};
use cct_settings::{ContextCarrier, Settings};
use cct_tables::BlockRule;
use cct_verify::{Expectation, check};

use super::alterations::{at_instructions, helper, instead};
use super::jdk::library;
use super::support::{expectation, monitors, rewriter, sample, step, verify};

fn counting() -> Settings {
    Settings { columns: Column::all().collect(), ..Settings::default() }
}

/// A class that enters monitors in many ways, and one that does not.
#[test]
fn a_class_by_itself() {
    let classes = vec![monitors(), sample()];
    for blocks in [BlockRule::Exact, BlockRule::Precise, BlockRule::Default] {
        for (call_sites, allocations, context) in [
            (false, false, ContextCarrier::Argument),
            (true, false, ContextCarrier::Argument),
            (true, true, ContextCarrier::Thread),
        ] {
            let settings = Settings { blocks, call_sites, allocations, context, ..counting() };
            let rewriter = rewriter(&classes, settings);
            let (findings, tally, _) = verify(&classes, &rewriter, expectation(&settings));
            assert!(findings.is_empty(), "{settings:?}: {findings:?}");
            assert!(tally.bodies > 5, "{tally:?}");
        }
    }
}

/// Which columns are counted is also inferred: all, or each alone.
#[test]
fn columns_are_inferred() {
    let class = vec![monitors()];
    let each_alone = Column::all().map(|column| Columns::NONE.with(column));
    for columns in each_alone.chain([Columns::NONE, counting().columns]) {
        let settings = Settings { columns, ..Settings::default() };
        let (findings, ..) = verify(&class, &rewriter(&class, settings), Expectation::default());
        assert!(findings.is_empty(), "{columns:?}: {findings:?}");
    }
}

#[test]
fn columns_are_counted_if_that_is_said() {
    let class = vec![monitors()];
    for (made_with, said) in [(counting().columns, Columns::NONE), (Columns::NONE, counting().columns)] {
        let settings = Settings { columns: made_with, ..Settings::default() };
        let expectation = expectation(&Settings { columns: said, ..settings });
        let (findings, ..) = verify(&class, &rewriter(&class, settings), expectation);
        assert!(!findings.is_empty(), "made with {made_with:?}");
    }
}

/// Each probe, removed, or with another slot or id.
#[test]
fn broken_probes_are_found() {
    let original = monitors();
    let settings = counting();
    let bytes =
        rewriter(std::slice::from_ref(&original), settings).rewrite(&original).unwrap().bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let is_column = |i: &Instruction<'_>| helper(&class, i) == Some(b"column");
    let mut broken = at_instructions(&class, |place| {
        if is_column(&place.instruction) {
            // Both longs are popped, and nothing is counted.
            instead(place, vec![opcode::POP2, opcode::POP2])
        } else {
            Vec::new()
        }
    });
    let dropped = broken.len();
    broken.extend(at_instructions(&class, |place| {
        let is_slot = place.instruction.opcode == opcode::BIPUSH
            && place
                .code
                .instructions()
                .filter(|i| i.bci > place.instruction.bci)
                .take(4)
                .any(|i| is_column(&i));
        if is_slot {
            vec![(place.at + 1..place.at + 2, vec![place.instruction.bytes[1] ^ 8])]
        } else {
            Vec::new()
        }
    }));
    let slots = broken.len() - dropped;
    broken.extend(at_instructions(&class, |place| {
        if !place.next.is_some_and(|next| is_column(&next)) {
            return Vec::new();
        }
        let id = |index| class.pool.long(index);
        let own = place.instruction.pool_index().map(id);
        let others = class.pool.indices().filter(|index| id(*index).is_ok() && Some(id(*index)) != own);
        others.map(|index| (place.at + 1..place.at + 3, index.to_be_bytes().to_vec())).collect()
    }));
    // Nine instructions, in two forms of most methods.
    let ids = broken.len() - dropped - slots;
    assert!(dropped >= 9 && slots > 5 && ids >= 9, "{dropped} {slots} {ids}");
    let found = |bytes: &[u8]| !check(&original, bytes, expectation(&settings)).0.is_empty();
    assert!(!found(&bytes));
    for (range, to) in broken {
        let mut altered = bytes.clone();
        altered[range.clone()].copy_from_slice(&to);
        assert!(found(&altered), "{range:?}");
    }
}

#[test]
fn class_libraries() {
    library(8, counting(), step(8));
    let all = Settings { allocations: true, call_sites: true, context: ContextCarrier::Thread, ..counting() };
    library(17, all, step(12));
}
