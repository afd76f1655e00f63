//! Where in a constructor `this` is initialised (JVMS 4.10.1.9, `invokespecial`).

use cct_classfile::{Bci, Code, ConstantPool, opcode};

/// A stretch of code in which `this` is, or is not yet, initialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Region {
    pub(crate) start: Bci,
    pub(crate) end: Bci,
    pub(crate) initialised: bool,
}

/// State before an instruction: objects made by `new` and not yet initialised, and whether `this` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    pending: u32,
    initialised: bool,
}

/// The regions of a constructor, in order; code that is not reached belongs to none.
///
/// Follows control flow and pairs each call of an `<init>` with the latest `new`; one without such a `new` initialises `this`. Where paths
/// that disagree meet (no compiler makes such code) the stretch is left out: it is then not covered by a handler of ours. So is the
/// initialising call itself, which no handler may cover (see [`crate::wrappers`]).
pub(crate) fn regions(code: &Code<'_>, pool: &ConstantPool<'_>) -> Vec<Region> {
    let mut states: Vec<Option<State>> = vec![None; code.bytes.len()];
    let mut left_out = vec![false; code.bytes.len()];
    let mut work = vec![(0, State { pending: 0, initialised: false })];
    while let Some((bci, state)) = work.pop() {
        let at = bci as usize;
        match states.get(at) {
            None => continue,
            Some(Some(old)) => {
                left_out[at] |= old.initialised != state.initialised;
                continue;
            }
            Some(None) => states[at] = Some(state),
        }
        let Some(instruction) = code.instruction_at(bci) else { continue };
        let mut after = state;
        match instruction.opcode {
            opcode::NEW => after.pending += 1,
            opcode::INVOKESPECIAL => {
                let name = instruction.pool_index().and_then(|i| pool.member_ref(i).ok()).map(|m| m.name);
                if name == Some(b"<init>") {
                    match after.pending.checked_sub(1) {
                        Some(left) => after.pending = left,
                        None => {
                            after.initialised = true;
                            left_out[at] = true;
                        }
                    }
                }
            }
            _ => {}
        }
        for handler in code.handlers.iter().filter(|h| (h.start..h.end).contains(&bci)) {
            // The operand stack is gone, and the objects on it.
            work.push((handler.handler, State { pending: 0, initialised: state.initialised }));
        }
        instruction.for_each_target(|t| work.push((t, after)));
        if !opcode::ends_flow(instruction.opcode) {
            work.push((instruction.end(), after));
        }
    }
    let mut regions: Vec<Region> = Vec::new();
    for instruction in code.instructions() {
        let at = instruction.bci as usize;
        let Some(state) = states[at].filter(|_| !left_out[at]) else { continue };
        match regions.last_mut() {
            Some(r) if r.end == instruction.bci && r.initialised == state.initialised => {
                r.end = instruction.end()
            }
            _ => regions.push(Region {
                start: instruction.bci,
                end: instruction.end(),
                initialised: state.initialised,
            }),
        }
    }
    regions
}
