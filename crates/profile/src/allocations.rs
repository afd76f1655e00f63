//! Objects and arrays by type, per context (CCCP 5.1).
//!
//! A profile with objects has more in its trees than calling contexts. Below a context that
//! allocated objects there is a node for each type. Its method is that type ([`Method::TYPE`]), and
//! its calls are the number of objects. Such a node is no context, and its count is no count of
//! calls. So a reader uses one of two views. The profile [without
//! them](Profile::without_allocations) equals a profile of the same program without counted
//! objects. In [its objects](Profile::allocations) objects are the only counts.

use crate::meta_keys::{ALLOCATIONS, METRICS, METRICS_OF_OBJECTS};
use crate::tree::TreeTooLarge;
use crate::{MergeError, Method, Node, Profile, Tree, TreeBuilder};

impl Profile {
    /// Whether objects were counted, by type. Such a profile is viewed through
    /// [`Profile::without_allocations`] or [`Profile::allocations`].
    pub fn counts_objects(&self) -> bool {
        self.meta.get(ALLOCATIONS).is_some_and(|value| value == "yes")
            || self.methods.iter().any(|method| method.flags & Method::TYPE != 0)
    }

    /// Whether objects are the only counts, as in the result of [`Profile::allocations`].
    pub fn is_of_objects(&self) -> bool {
        self.meta.get(METRICS).is_some_and(|value| value == METRICS_OF_OBJECTS)
    }

    /// Number of objects of each type, in the order of the methods; types alone.
    pub fn objects(&self) -> Vec<(&Method, u128)> {
        let mut sums = vec![0u128; self.methods.len()];
        for node in self.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]) {
            if let Some(sum) = sums.get_mut(node.method as usize) {
                *sum += u128::from(node.calls);
            }
        }
        let types = self.methods.iter().zip(sums);
        types.filter(|(method, _)| method.flags & Method::TYPE != 0).collect()
    }

    /// Number of objects and of their types; `None` where they were not counted.
    pub fn object_totals(&self) -> Option<ObjectTotals> {
        self.counts_objects().then(|| {
            let objects = self.objects();
            let mut types: Vec<&str> = objects.iter().map(|(of, _)| &*of.class).collect();
            types.sort_unstable();
            types.dedup();
            ObjectTotals { objects: objects.iter().map(|(_, count)| count).sum(), types: types.len() as u64 }
        })
    }

    /// The profile without its objects: contexts, calls and bytecodes are those of a run without
    /// counted objects.
    ///
    /// # Errors
    /// Fails if a tree has too many contexts, which cannot happen by removing some.
    pub fn without_allocations(self) -> Result<Profile, MergeError> {
        if !self.counts_objects() || self.is_of_objects() {
            return Ok(self);
        }
        let is_type = self.types();
        self.rebuilt(|tree| {
            let node = |node: &Node| (!is_type[node.method as usize]).then_some((node.calls, node.bytecodes));
            tree.nodes()[1..].iter().map(node).collect()
        })
    }

    /// The profile of objects: the contexts that allocated any, with those that lead to them, and
    /// below each its types. The counts of calls are numbers of objects; methods have none
    /// themselves.
    ///
    /// # Errors
    /// Fails as [`Profile::without_allocations`].
    pub fn allocations(self) -> Result<Profile, MergeError> {
        self.by_objects(|is_type, _, count| Some(if is_type { count } else { 0 }))
    }

    /// The profile of allocating contexts, as [`Profile::allocations`] but without the types: a
    /// context's count is the number of objects that it allocated.
    ///
    /// # Errors
    /// Fails as [`Profile::without_allocations`].
    pub fn makers(self) -> Result<Profile, MergeError> {
        self.by_objects(|is_type, made, _| (!is_type).then_some(made))
    }

    /// Keeps the nodes for which `show` returns a number of objects. Its arguments: whether the
    /// node is a type, the objects of the node's types, and the node's own.
    fn by_objects(self, show: impl Fn(bool, u64, u64) -> Option<u64>) -> Result<Profile, MergeError> {
        let is_type = self.types();
        let is_type = |node: &Node| is_type[node.method as usize];
        let mut profile = self.without_columns().rebuilt(|tree| {
            let nodes = tree.nodes();
            let mut shown = vec![None; nodes.len() - 1];
            // Backwards: the nodes below a node follow it, so the last node that was found to lead
            // to objects says whether this one does.
            let mut leads = u32::MAX;
            for index in (1..nodes.len() as u32).rev() {
                let node = &nodes[index as usize];
                if (is_type(node) && node.calls > 0) || leads < tree.subtree(index).end {
                    leads = index;
                    let children = tree.children(index).map(|child| &nodes[child as usize]);
                    let made = children.filter(|child| is_type(child)).map(|child| child.calls);
                    // No JVM has allocated more than 64 bits can count.
                    let made = made.fold(0, u64::saturating_add);
                    shown[index as usize - 1] = show(is_type(node), made, node.calls).map(|count| (count, 0));
                }
            }
            shown
        })?;
        profile.meta.insert(METRICS.to_owned(), METRICS_OF_OBJECTS.to_owned());
        Ok(profile)
    }

    /// The profile without the objects of contexts whose methods are removed: otherwise these would
    /// end up under other contexts, which did not allocate them.
    pub(crate) fn without_objects_of(self, stays: impl Fn(&Method) -> bool) -> Result<Profile, MergeError> {
        if !self.counts_objects() {
            return Ok(self);
        }
        let meta = self.meta.clone();
        let is_type = self.types();
        let stays: Vec<bool> = self.methods.iter().map(stays).collect();
        let profile = self.rebuilt(|tree| {
            let mut shown = Vec::with_capacity(tree.nodes().len() - 1);
            let mut open: Vec<(u32, bool)> = Vec::new();
            for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
                while open.pop_if(|(end, _)| *end <= index).is_some() {}
                let method = node.method as usize;
                let made_by_one_that_stays = open.last().is_some_and(|(_, stays)| *stays);
                let is_shown = !is_type[method] || made_by_one_that_stays;
                shown.push(is_shown.then_some((node.calls, node.bytecodes)));
                open.push((tree.subtree(index).end, stays[method]));
            }
            shown
        })?;
        Ok(Profile { meta, ..profile })
    }

    /// For each method, whether it is a type.
    fn types(&self) -> Vec<bool> {
        self.methods.iter().map(|method| method.flags & Method::TYPE != 0).collect()
    }

    /// The profile with other nodes: `shown` returns the counts of each node but the root, or
    /// `None` to remove it. Methods without nodes are removed, too.
    fn rebuilt(mut self, shown: impl Fn(&Tree) -> Vec<Option<(u64, u64)>>) -> Result<Profile, MergeError> {
        let count = self.methods.len();
        let strange = |node: &&Node| node.method as usize >= count;
        if let Some(node) = self.threads.iter().flat_map(|t| &t.tree.nodes()[1..]).find(strange) {
            return Err(MergeError::NoSuchMethod { method: node.method, count });
        }
        let mut used = vec![false; count];
        let mut all = Vec::with_capacity(self.threads.len());
        for thread in &self.threads {
            let shown = shown(&thread.tree);
            for (node, _) in thread.tree.nodes()[1..].iter().zip(&shown).filter(|(_, shown)| shown.is_some())
            {
                used[node.method as usize] = true;
            }
            all.push(shown);
        }
        let mut next = 0;
        let mut places = Vec::with_capacity(count);
        for &used in &used {
            places.push(next);
            next += u32::from(used);
        }
        for (thread, shown) in self.threads.iter_mut().zip(all) {
            thread.tree = pruned(&thread.tree, &shown, &places)?;
        }
        let mut used = used.into_iter();
        self.methods.retain(|_| used.next().unwrap_or_default());
        self.meta.remove(ALLOCATIONS);
        Ok(self)
    }
}

/// Number of objects and of their types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectTotals {
    /// Objects and arrays.
    pub objects: u128,
    /// The objects' types.
    pub types: u64,
}

/// The tree of the shown nodes and their ancestors.
fn pruned(tree: &Tree, shown: &[Option<(u64, u64)>], places: &[u32]) -> Result<Tree, TreeTooLarge> {
    let root = &tree.nodes()[0];
    let mut builder = TreeBuilder::with_root(root.calls, root.bytecodes).with_columns(tree.columns());
    let mut open: Vec<u32> = Vec::new();
    for ((index, node), shown) in (1u32..).zip(&tree.nodes()[1..]).zip(shown) {
        while open.pop_if(|end| *end <= index).is_some() {
            builder.leave();
        }
        if let Some((calls, bytecodes)) = *shown {
            builder.enter(places[node.method as usize], calls, bytecodes)?;
            builder.numbers().copy_from_slice(tree.values(index));
            open.push(tree.subtree(index).end);
        }
    }
    Ok(builder.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Summary;
    use crate::merge::{MergeOptions, merge};
    use crate::testing::{method, profile, thread, tree};

    fn of_type(name: &str) -> Method {
        Method { flags: Method::TYPE, ..method(name, "<new>", "") }
    }

    /// f allocates 3 A, and calls g, which allocates 4 A and 5 [I, and h, which allocates nothing.
    fn example() -> Profile {
        let methods = vec![
            of_type("A"),
            method("P", "f", "()V"),
            method("P", "g", "()V"),
            method("P", "h", "()V"),
            of_type("[I"),
        ];
        let main =
            tree(&[(1, 1, 1, 10), (2, 0, 3, 0), (2, 2, 2, 20), (3, 0, 4, 0), (3, 4, 5, 0), (2, 3, 7, 70)]);
        let mut p = profile(methods, vec![thread("main", main)]);
        p.meta.insert(ALLOCATIONS.to_owned(), "yes".to_owned());
        p
    }

    #[test]
    fn without_objects_it_is_the_profile_of_a_run_that_counts_none() {
        let p = example().without_allocations().expect("small");
        let names: Vec<&str> = p.methods.iter().map(|m| &*m.name).collect();
        assert_eq!(names, ["f", "g", "h"]);
        assert_eq!(p.threads[0].tree, tree(&[(1, 0, 1, 10), (2, 1, 2, 20), (2, 2, 7, 70)]));
        assert!(!p.counts_objects() && !p.meta.contains_key(ALLOCATIONS));
        let all = Summary::of(&p).all;
        assert_eq!((all.contexts, all.calls, all.bytecodes), (3, 10, 100));
        assert_eq!(p.clone().without_allocations().expect("small"), p, "and again");
    }

    #[test]
    fn by_its_objects_it_has_the_contexts_that_made_some() {
        let p = example().allocations().expect("small");
        let names: Vec<(&str, &str)> = p.methods.iter().map(|m| (&*m.class, &*m.name)).collect();
        assert_eq!(names, [("A", "<new>"), ("P", "f"), ("P", "g"), ("[I", "<new>")]);
        let expected = tree(&[(1, 1, 0, 0), (2, 0, 3, 0), (2, 2, 0, 0), (3, 0, 4, 0), (3, 3, 5, 0)]);
        assert_eq!(p.threads[0].tree, expected);
        assert_eq!(Summary::of(&p).all.calls, 12);
        assert!(p.is_of_objects() && !p.counts_bytecodes());
        assert_eq!(p.clone().allocations().expect("small"), p, "and again");
    }

    #[test]
    fn without_types_objects_are_their_makers() {
        let p = example().makers().expect("small");
        assert_eq!(p.threads[0].tree, tree(&[(1, 0, 3, 0), (2, 1, 9, 0)]));
        assert_eq!(example().allocations().expect("small").makers().expect("small"), p);
    }

    #[test]
    fn objects_go_with_the_contexts_that_made_them() {
        let p = example().wanted(|m| &*m.name != "g", "without g").expect("small");
        let sums: Vec<(&str, u128)> = p.objects().into_iter().map(|(of, n)| (&*of.class, n)).collect();
        assert_eq!(sums, [("A", 3)], "what g made is not f's");
        assert_eq!(p.object_totals(), Some(ObjectTotals { objects: 3, types: 1 }));
    }

    #[test]
    fn objects_are_summed_by_type() {
        let p = example();
        let sums: Vec<(&str, u128)> = p.objects().into_iter().map(|(of, n)| (&*of.class, n)).collect();
        assert_eq!(sums, [("A", 7), ("[I", 5)]);
        let twice = merge(&[&p, &p], MergeOptions::default()).expect("small");
        let sums: Vec<(&str, u128)> = twice.objects().into_iter().map(|(of, n)| (&*of.class, n)).collect();
        assert_eq!(sums, [("A", 14), ("[I", 10)]);
    }

    #[test]
    fn files_have_types_from_version_4_on() {
        let p = merge(&[&example()], MergeOptions::default()).expect("small");
        let mut bytes = p.to_bytes().expect("in order");
        assert_eq!(bytes[8..12], [0, 0, 0, 4]);
        assert_eq!(Profile::read(&bytes).expect("sound"), p);
        bytes[11] = 2;
        assert!(Profile::read(&bytes).is_err(), "an older reader must not take types for methods");
    }

    #[test]
    fn a_sum_is_of_profiles_that_all_count_objects() {
        let (with, without) = (example(), example().without_allocations().expect("small"));
        assert!(matches!(
            merge(&[&with, &without], MergeOptions::default()),
            Err(MergeError::Incompatible { key: ALLOCATIONS, .. })
        ));
    }
}
