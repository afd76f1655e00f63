//! Removal of the contexts of unwanted classes from profiles.

use crate::fold::{LeftOut, without};
use crate::meta_keys::SELECTION;
use crate::report::counted;
use crate::tree_sum::joined;
use crate::united_methods::{Bodies, united_methods};
use crate::{MergeError, Method, Metric, Profile, Site, Tree};
use rustc_hash::FxHashMap;

/// The beginning of the note that has the numbers of the dropped classes.
pub(crate) const DROPPED: &str = "classes were dropped";

impl Profile {
    /// Removes the contexts of methods that are not `wanted`; their callees hang below the nearest
    /// caller that stays. Markers, which are no methods, always stay. A note says how much was
    /// removed, and the header by which rule: `rule`, in words.
    ///
    /// # Errors
    /// Fails if counts overflow.
    pub fn wanted(self, wanted: impl Fn(&Method) -> bool, rule: &str) -> Result<Profile, MergeError> {
        let stays = |method: &Method| method.flags & (Method::MARKER | Method::TYPE) != 0 || wanted(method);
        let this = self.without_objects_of(stays)?;
        let mut this = if this.has_call_sites() { this.called_from_those_that_stay(&stays)? } else { this };
        let mut stay = 0;
        let labels: Vec<Option<u32>> = this
            .methods
            .iter()
            .map(|method| {
                stays(method).then(|| {
                    stay += 1;
                    stay - 1
                })
            })
            .collect();
        // Profiles of calls alone lose no bytecodes.
        let executed = match Metric::of_profile(&this) {
            Metric::Calls => Metric::Bytecodes,
            metric => metric,
        };
        let mut total = LeftOut::default();
        for thread in &mut this.threads {
            let (tree, left_out) = without(&thread.tree, &labels)?;
            thread.tree = tree;
            total.contexts += left_out.contexts;
            total.calls += left_out.calls;
            total.bytecodes += left_out.bytecodes;
        }
        let mut at = labels.iter();
        this.methods.retain(|_| at.next().is_some_and(Option::is_some));
        let LeftOut { contexts, calls, bytecodes } = total;
        this.notes.push(format!(
            "{DROPPED} ({rule}): {} with {} and {} of their own; their callees are \
             below the nearest kept caller",
            counted(contexts, "context"),
            counted(calls, "call"),
            counted(bytecodes, executed.one())
        ));
        this.notes.sort();
        let selection = this.meta.entry(SELECTION.to_owned()).or_default();
        if !selection.is_empty() {
            selection.push_str("; ");
        }
        selection.push_str(rule);
        Ok(this)
    }

    /// The profile in which methods have the call sites of their nearest callers that stay. A
    /// bytecode index in a removed method's code means nothing in another's. There is no site if no
    /// caller stays, or if native code is between.
    pub(crate) fn called_from_those_that_stay(
        mut self,
        stays: &impl Fn(&Method) -> bool,
    ) -> Result<Profile, MergeError> {
        struct Open {
            end: u32,
            stays: bool,
            /// The call site in its nearest caller that stays.
            site: Option<Site>,
        }
        let is_there: Vec<bool> = self.methods.iter().map(stays).collect();
        let mut places: FxHashMap<(u32, Option<Site>), u32> = FxHashMap::default();
        let Profile { methods, threads, .. } = &mut self;
        let mut called: Vec<Method> = Vec::new();
        for thread in threads {
            let ends: Vec<u32> =
                (0u32..).zip(thread.tree.nodes()).map(|(index, _)| thread.tree.subtree(index).end).collect();
            let mut open: Vec<Open> = Vec::new();
            let mut index = 0;
            thread.tree.relabel(|method, _| {
                index += 1;
                while open.pop_if(|caller| caller.end <= index).is_some() {}
                let Some(row) = methods.get(method as usize) else { return method };
                let stays = is_there[method as usize];
                // Outermost frames have no site, and so neither do methods without a caller that
                // stays.
                let site = match open.last() {
                    Some(caller) if !caller.stays => caller.site,
                    _ => row.site,
                };
                open.push(Open { end: ends[index as usize], stays, site });
                *places.entry((method, site)).or_insert_with(|| {
                    called.push(Method { site, ..row.clone() });
                    // At most as many as there are contexts, which have 32-bit numbers.
                    (called.len() - 1) as u32
                })
            });
        }
        self.methods = called;
        // Rows of one method that now have the same site are united, and all are sorted.
        let (methods, labels) = united_methods(&[&self], Bodies::Apart, false);
        for thread in &mut self.threads {
            let parts: Vec<(&Tree, &[u32])> = labels.iter().map(|labels| (&thread.tree, &**labels)).collect();
            thread.tree = joined(&parts)?;
        }
        self.methods = methods;
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{method, profile, thread, tree};

    #[test]
    fn methods_contexts_and_words_follow() {
        let methods = vec![method("a/A", "m", "()V"), method("b/B", "m", "()V"), method("c/C", "m", "()V")];
        let t = tree(&[(1, 0, 1, 10), (2, 1, 2, 20), (3, 2, 3, 30)]);
        let all = profile(methods.clone(), vec![thread("main", t)]);
        let only = all.wanted(|m| !m.class.starts_with("b/"), "only [ac]").expect("sound");
        assert_eq!(only.methods, [methods[0].clone(), methods[2].clone()]);
        assert_eq!(only.threads[0].tree, tree(&[(1, 0, 1, 10), (2, 1, 3, 30)]));
        assert_eq!(only.meta[SELECTION], "only [ac]");
        assert!(
            only.notes[0]
                .starts_with("classes were dropped (only [ac]): 1 context with 2 calls and 20 bytecodes of")
        );
        let twice = only.wanted(|_| true, "all").expect("sound");
        assert_eq!(twice.meta[SELECTION], "only [ac]; all");
    }
}
