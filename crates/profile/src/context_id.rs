//! Ids of contexts: hashes of their paths, equal for equal paths in all profiles.

use std::fmt;
use std::str::FromStr;

use xxhash_rust::xxh3::xxh3_64;

use crate::names::{Frame, FrameTable};
use crate::tree::Tree;

/// The hash of a frame's text ([`Frame::bytes`]): XXH3 with 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameId(pub u64);

impl FrameId {
    /// The id of a frame.
    pub fn of(frame: &Frame<'_>) -> FrameId {
        FrameId(xxh3_64(&frame.bytes().collect::<Vec<u8>>()))
    }

    /// The id of a text that stands for a frame.
    pub fn of_text(text: &str) -> FrameId {
        FrameId(xxh3_64(text.as_bytes()))
    }

    /// The ids of all frames of a table, in its order.
    pub fn of_table(table: &FrameTable<'_>) -> Vec<FrameId> {
        table.frames().iter().map(FrameId::of).collect()
    }
}

/// The id of a context: XXH3 with 64 bits over the id of its caller and that of its frame, 8 bytes
/// each, little endian. An outermost context has 0 as its caller's id. Threads are no frames: the
/// same path has one id in all threads.
///
/// Names that differ between runs should be normalised ([`crate::names::NameStyle`]), or the ids
/// differ, too. Two paths of a profile with a million contexts have the same id with a probability
/// of 3 in 10^8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(pub u64);

impl ContextId {
    /// The caller of outermost contexts.
    pub const ROOT: ContextId = ContextId(0);

    /// The id of the context of a frame below this one.
    #[must_use]
    pub fn callee(self, frame: FrameId) -> ContextId {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.0.to_le_bytes());
        bytes[8..].copy_from_slice(&frame.0.to_le_bytes());
        ContextId(xxh3_64(&bytes))
    }

    /// The ids of all nodes of a tree; the root has [`ContextId::ROOT`]. `frames` are the ids of
    /// the tree's methods; one that is missing counts as 0.
    pub fn of_tree(tree: &Tree, frames: &[FrameId]) -> Vec<ContextId> {
        let nodes = tree.nodes();
        let mut ids = vec![ContextId::ROOT; nodes.len()];
        // The callers of the current node, each with the end of its subtree.
        let mut callers: Vec<(u32, ContextId)> = Vec::new();
        for index in 1..nodes.len() as u32 {
            while callers.pop_if(|(end, _)| *end <= index).is_some() {}
            let caller = callers.last().map_or(ContextId::ROOT, |(_, id)| *id);
            let frame = frames.get(nodes[index as usize].method as usize).copied();
            let id = caller.callee(frame.unwrap_or(FrameId(0)));
            ids[index as usize] = id;
            callers.push((tree.subtree(index).end, id));
        }
        ids
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// A text that is no [`ContextId`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the id of a context, 16 hexadecimal digits (`report --ids` shows them)")]
pub struct NoContextId;

impl FromStr for ContextId {
    type Err = NoContextId;

    fn from_str(text: &str) -> Result<ContextId, NoContextId> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let is_id = digits.len() == 16 && digits.bytes().all(|b| b.is_ascii_hexdigit());
        let id = u64::from_str_radix(digits, 16).ok().filter(|_| is_id);
        id.map(ContextId).ok_or(NoContextId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::NameStyle;
    use crate::testing::{method, tree};

    #[test]
    fn equal_paths_have_equal_ids() {
        let methods = ["a", "b", "c"].map(|name| method("A", name, "()V"));
        let ids = |methods: &[crate::Method], tree: &Tree| {
            let table = FrameTable::new(methods, NameStyle::Normalised);
            let frames = FrameId::of_table(&table);
            let of_method: Vec<FrameId> =
                table.of_method().iter().map(|&frame| frames[frame as usize]).collect();
            ContextId::of_tree(tree, &of_method)
        };
        // a, b and c: a { b { c } } c
        let first = ids(&methods, &tree(&[(1, 0, 1, 0), (2, 1, 1, 0), (3, 2, 1, 0), (1, 2, 1, 0)]));
        // c, b and a: c a { c b { c } }
        let reversed: Vec<_> = methods.iter().rev().cloned().collect();
        let second =
            ids(&reversed, &tree(&[(1, 0, 1, 0), (1, 2, 1, 0), (2, 0, 1, 0), (2, 1, 1, 0), (3, 0, 1, 0)]));
        assert_eq!(first[0], ContextId::ROOT);
        assert_eq!([first[1], first[2], first[3], first[4]], [second[2], second[4], second[5], second[1]]);
        let mut all = second.clone();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), second.len());
    }

    #[test]
    fn an_id_is_16_digits() {
        let id = ContextId::ROOT.callee(FrameId::of_text("A.a()V"));
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(format!("#{id}").parse(), Ok(id));
        assert_eq!(ContextId(1).to_string(), "0000000000000001");
        for wrong in ["", "1", "+000000000000001", "000000000000000g", "00000000000000001"] {
            assert_eq!(wrong.parse::<ContextId>(), Err(NoContextId), "{wrong}");
        }
    }

    /// Ids that other implementations of XXH3 compute (the package `xxhash` of Python). Tables of
    /// earlier exports stay comparable.
    #[test]
    fn the_hash_is_the_documented_one() {
        let outer = ContextId::ROOT.callee(FrameId::of_text("app.Main.main([Ljava/lang/String,)V"));
        let inner = outer.callee(FrameId::of_text("app.Main.run()V"));
        assert_eq!([outer, inner].map(|id| id.to_string()), ["87b2db9777415f63", "5016110d06466c0a"]);
    }
}
