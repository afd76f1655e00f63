//! Counts of single opcodes, which the paper's 19 numbers of a block do not distinguish.

use cct_events::Method;

const MONITORENTER: u8 = 194;

/// The counts of a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// `monitorenter`.
    pub monitors: u64,
    /// `caload`, `castore`.
    pub chars: u64,
    /// `iaload`, `laload`, `faload`, `daload`, `baload`, `saload` and their stores.
    pub numbers: u64,
    /// `aaload`, `aastore`.
    pub references: u64,
}

/// Counts the opcodes of a block of a method.
pub fn of(method: &Method, block: usize) -> Counts {
    let mut counts = Counts::default();
    let Some(start) = method.blocks.get(block).map(|block| block.start as usize) else { return counts };
    let end = method.blocks.get(block + 1).map_or(method.code.len(), |next| next.start as usize);
    let mut at = start;
    while let Some(&opcode) = method.code.get(at).filter(|_| at < end) {
        match opcode {
            MONITORENTER => counts.monitors += 1,
            52 | 85 => counts.chars += 1,
            50 | 83 => counts.references += 1,
            46..=49 | 51 | 53 | 79..=82 | 84 | 86 => counts.numbers += 1,
            _ => {}
        }
        match crate::position::length(opcode, method.code.get(at + 1).copied()) {
            Some(length) => at += length,
            // A switch ends its block.
            None => break,
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_events::Block;

    #[test]
    fn each_opcode_is_of_its_kind_and_operands_are_none() {
        // bipush 52, caload, iaload, aastore, monitorenter; then a block with baload.
        let code = [16, 52, 52, 46, 83, 194, 51];
        let blocks = vec![Block::default(), Block { start: 6, ..Block::default() }];
        let method = Method { code: code.into(), blocks, ..Method::default() };
        assert_eq!(of(&method, 0), Counts { monitors: 1, chars: 1, numbers: 1, references: 1 });
        assert_eq!(of(&method, 1), Counts { numbers: 1, ..Counts::default() });
        assert_eq!(of(&method, 2), Counts::default());
    }
}
