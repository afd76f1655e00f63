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

/// The regions of a constructor, in order; code that is not reached belongs to none, nor does the initialising call itself, which no
/// handler may cover (see [`crate::wrappers`]).
///
/// Follows control flow and pairs each call of an `<init>` with the latest `new`; one without such a `new` initialises `this`. Where paths
/// meet that disagree (no compiler makes such code) nothing is certain, and there are no regions.
pub(crate) fn regions(code: &Code<'_>, pool: &ConstantPool<'_>) -> Vec<Region> {
    let mut states: Vec<Option<State>> = vec![None; code.bytes.len()];
    let mut initialising = vec![false; code.bytes.len()];
    let mut torn = false;
    let mut work = Vec::new();
    // Each instruction is queued once, when its state becomes known.
    let mut reach =
        |bci: Bci, state: State, states: &mut Vec<Option<State>>, work: &mut Vec<Bci>| match states
            .get_mut(bci as usize)
        {
            None => {}
            Some(Some(old)) => torn |= old.initialised != state.initialised,
            Some(slot) => {
                *slot = Some(state);
                work.push(bci);
            }
        };
    reach(0, State { pending: 0, initialised: false }, &mut states, &mut work);
    while let Some(bci) = work.pop() {
        let at = bci as usize;
        let (Some(state), Some(instruction)) = (states[at], code.instruction_at(bci)) else { continue };
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
                            initialising[at] = true;
                        }
                    }
                }
            }
            _ => {}
        }
        for handler in code.handlers.iter().filter(|h| (h.start..h.end).contains(&bci)) {
            // The operand stack is gone, and the objects on it.
            let caught = State { pending: 0, initialised: state.initialised };
            reach(handler.handler, caught, &mut states, &mut work);
        }
        instruction.for_each_target(|t| reach(t, after, &mut states, &mut work));
        if !opcode::ends_flow(instruction.opcode) {
            reach(instruction.end(), after, &mut states, &mut work);
        }
    }
    if torn {
        return Vec::new();
    }
    let mut regions: Vec<Region> = Vec::new();
    for instruction in code.instructions() {
        let at = instruction.bci as usize;
        let Some(state) = states[at].filter(|_| !initialising[at]) else { continue };
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
