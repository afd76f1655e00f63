//! Equality of the code without its probes and the original: instruction for instruction, jump for
//! jump.

use cct_classfile::{Bci, Instruction, opcode};

use crate::align::alignment::Alignment;
use crate::finding::{Check, Finding, Problem};
use crate::probe::Reader;

pub(crate) fn mnemonic(i: &Instruction<'_>) -> &'static str {
    opcode::MNEMONICS.get(usize::from(i.opcode)).copied().unwrap_or("?")
}

/// Whether two instructions are equal apart from jumps. Locals from `at` on have moved up by `by`.
/// Constants keep their indices.
pub(crate) fn is_same(original: &Instruction<'_>, rewritten: &Instruction<'_>, at: u16, by: u16) -> bool {
    if let Some((local, two)) = original.local() {
        let moved = if local >= at { local.checked_add(by) } else { Some(local) };
        let straddles = two && local < at && local + 1 >= at;
        return !straddles
            && moved == rewritten.local().map(|(local, _)| local)
            && general(original) == general(rewritten)
            && increment(original) == increment(rewritten);
    }
    let widened = |op| match op {
        opcode::GOTO_W => opcode::GOTO,
        opcode::JSR_W => opcode::JSR,
        op => op,
    };
    if original.target().is_some() {
        return widened(original.opcode) == widened(rewritten.opcode);
    }
    match (original.switch(), rewritten.switch()) {
        (Some(a), Some(b)) => {
            let keys = |s: cct_classfile::Switch<'_>| s.cases().map(|(key, _)| key).collect::<Vec<_>>();
            original.opcode == rewritten.opcode && a.low == b.low && keys(a) == keys(b)
        }
        _ => original.bytes == rewritten.bytes,
    }
}

/// The opcode with which an instruction names its local as an operand.
fn general(i: &Instruction<'_>) -> u8 {
    use opcode as o;
    match i.opcode {
        op @ o::ILOAD_0..=o::ALOAD_3 => o::ILOAD + (op - o::ILOAD_0) / 4,
        op @ o::ISTORE_0..=o::ASTORE_3 => o::ISTORE + (op - o::ISTORE_0) / 4,
        op => op,
    }
}

fn increment(i: &Instruction<'_>) -> Option<i16> {
    (i.opcode == opcode::IINC).then(|| {
        if i.is_wide() { i16::from_be_bytes([i.bytes[4], i.bytes[5]]) } else { i16::from(i.bytes[2] as i8) }
    })
}

/// Checks that all jumps lead to the same instructions as in the original.
pub(crate) fn jumps(aligned: &Alignment<'_>, code: &Reader<'_, '_>) -> Check {
    for (original, &place) in aligned.originals.iter().zip(&aligned.places) {
        if original.target().is_none() && original.switch().is_none() {
            continue;
        }
        let rewritten = code.number(place).map(|number| code.steps[number]);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        original.for_each_target(|t| before.push(t));
        if let Some(i) = rewritten {
            i.for_each_target(|t| after.push(t));
        }
        let leads_there = |(old, new): (&Bci, &Bci)| {
            let label = aligned.number(*old).map(|number| aligned.labels[number]);
            let by = || aligned.trampoline(*new);
            label == Some(*new) || opcode::is_conditional(original.opcode) && label.is_some() && label == by()
        };
        if before.len() != after.len() || !before.iter().zip(&after).all(leads_there) {
            return Err(Finding::at(Problem::Jump, original.bci, place));
        }
    }
    Ok(())
}
