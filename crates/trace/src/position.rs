//! Position in an unfinished block: the location of its last call.
//!
//! The trace has the running block, and the callee, but usually not the call site. The calls of a
//! block are in its code in execution order. So name and descriptor of each callee identify the
//! sites, one after the other. Calls by the VM itself in between (class initialisers, class
//! loaders) come from no call site.

use cct_events::Method;

use crate::found::TracedMethod;
use crate::program::Program;

/// A callee that began while a block ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Began {
    /// A method, by number.
    Method(u32),
    /// The callee of the call site at this bytecode index.
    At(u32),
    /// An unknown callee.
    Unknown,
}

/// Number of bytecodes of the block that were executed when the last callee began; `None` if no
/// call site is known to have called.
pub fn of_last(program: &Program, found: TracedMethod<'_>, block: usize, began: &[Began]) -> Option<u32> {
    let TracedMethod { method, .. } = found;
    let start = method.blocks.get(block)?.start;
    let end = method.blocks.get(block + 1).map_or(u32::MAX, |next| next.start);
    let [first, end] = [start, end].map(|bci| method.calls.partition_point(|site| site.bci < bci));
    let sites = program.sites();
    let mut next = first;
    for what in began {
        let at = match *what {
            Began::At(bci) => site_at(method, bci, next),
            Began::Method(number) => program.method(number).and_then(|callee| {
                let called = sites.next(found, sites.signature(callee)?, next).filter(|&at| at < end);
                called.or_else(|| sites.next_any(found, next).filter(|&any| any == next))
            }),
            Began::Unknown => sites.next_any(found, next),
        };
        if let Some(at) = at.filter(|&at| at < end) {
            next = at + 1;
        }
    }
    let last = next.checked_sub(1).filter(|&last| last >= first)?;
    Some(method.calls.get(last)?.place)
}

/// The call site at a bytecode index, if its index is at least `from`.
pub fn site_at(method: &Method, bci: u32, from: usize) -> Option<usize> {
    let at = method.calls.partition_point(|site| site.bci < bci).max(from);
    method.calls.get(at).is_some_and(|site| site.bci == bci).then_some(at)
}

/// Number of bytecodes of a block up to the first that may suspend the thread or run other code.
/// `--blocks exact` counts this many if only the beginning of the block is known.
pub fn of_first(method: &Method, block: usize) -> Option<u32> {
    let of = method.blocks.get(block)?;
    let end = method.blocks.get(block + 1).map_or(method.code.len(), |next| next.start as usize);
    let (mut at, mut place) = (of.start as usize, 0);
    let reads_others = of.metrics[11..=14].iter().any(|&fields| fields > 0);
    while place < of.bytecodes() && at < end {
        let &opcode = method.code.get(at)?;
        place += 1;
        // Static fields of other classes, which may need initialisation.
        let initialises = matches!(opcode, 178 | 179) && reads_others;
        // Invocations, new, monitorenter, returns, athrow.
        if initialises || matches!(opcode, 182..=187 | 194 | 172..=177 | 191) {
            return Some(place);
        }
        at += length(opcode, method.code.get(at + 1).copied())?;
    }
    None
}

/// The length of an instruction; `None` for a switch, which ends its block.
pub(crate) fn length(opcode: u8, operand: Option<u8>) -> Option<usize> {
    Some(match opcode {
        16 | 18 | 21..=25 | 54..=58 | 169 | 188 => 2,
        17 | 19 | 20 | 132 | 153..=168 | 178..=184 | 187 | 189 | 192 | 193 | 198 | 199 => 3,
        197 => 4,
        185 | 186 | 200 | 201 => 5,
        // wide: of iinc, and of all others
        196 => {
            if operand == Some(132) {
                6
            } else {
                4
            }
        }
        170 | 171 => return None,
        _ => 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_events::{Block, CallSite, Class};

    fn site(bci: u32, name: &str, opcode: u8) -> CallSite {
        CallSite {
            bci,
            place: bci + 1,
            opcode,
            name: name.as_bytes().into(),
            descriptor: (*b"()V").into(),
            ..CallSite::default()
        }
    }

    #[test]
    fn a_block_is_counted_up_to_where_its_thread_may_wait() {
        // wide iload, iinc, aload_0, monitorenter, aload_0, invokevirtual; then a block of ldc,
        // pop.
        let code = [196, 21, 1, 0, 132, 1, 1, 42, 194, 42, 182, 0, 1, 18, 1, 87];
        let mut blocks = vec![Block::default(), Block { start: 13, ..Block::default() }];
        (blocks[0].metrics[0], blocks[1].metrics[0]) = (6, 2);
        let method = Method { blocks, code: code.into(), ..Method::default() };
        assert_eq!((of_first(&method, 0), of_first(&method, 1), of_first(&method, 2)), (Some(4), None, None));
    }

    #[test]
    fn calls_are_distinguished_by_their_order() {
        let calls = vec![
            site(1, "a", 184),
            site(2, "b", 184),
            site(3, "a", 184),
            site(4, "x", 186),
            site(9, "a", 184),
        ];
        let blocks = vec![Block::default(), Block { start: 8, ..Block::default() }];
        let named = |name: &str| Method {
            name: name.as_bytes().into(),
            descriptor: (*b"()V").into(),
            ..Method::default()
        };
        let caller = Method { blocks, calls, ..named("caller") };
        let methods = vec![named("a"), named("b"), named("<clinit>"), caller];
        let mut packed = Vec::new();
        Class { methods, ..Class::default() }.pack(&mut packed);
        let mut program = Program::default();
        program.add(&packed).unwrap();
        program.complete();
        let caller = program.method(3).unwrap();
        let of = |block, began: &[u32]| {
            let began: Vec<Began> = began.iter().map(|&number| Began::Method(number)).collect();
            of_last(&program, caller, block, &began)
        };
        assert_eq!(
            (of(0, &[]), of(0, &[0]), of(0, &[0, 1]), of(0, &[0, 1, 0])),
            (None, Some(2), Some(3), Some(4))
        );
        // An initialiser in between, and a call of an unknown callee.
        assert_eq!((of(0, &[2]), of(0, &[0, 2, 1]), of(0, &[0, 1, 0, 2])), (None, Some(3), Some(5)));
        assert_eq!(of(1, &[0]), Some(10));
        assert_eq!(of_last(&program, caller, 0, &[Began::At(2)]), Some(3));
    }
}
