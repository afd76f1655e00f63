//! Profiles without the contexts of classes that nobody wants to see.

use crate::fold::{LeftOut, without};
use crate::merge::MergeError;
use crate::report::counted;
use crate::{Method, Profile};

/// `META` key that says what of everything is in a profile.
pub(crate) const SELECTION: &str = "selection";

impl Profile {
    /// Leaves out the contexts of methods that are not `wanted`; what they called is called by their nearest caller that stays. Markers, which are no
    /// methods, always stay. A note says how much was left out, and the header by what rule: `rule`, in words.
    ///
    /// # Errors
    /// When counts overflow.
    pub fn wanted(mut self, wanted: impl Fn(&Method) -> bool, rule: &str) -> Result<Profile, MergeError> {
        let mut stay = 0;
        let labels: Vec<Option<u32>> = self
            .methods
            .iter()
            .map(|method| {
                let stays = method.flags & Method::MARKER != 0 || wanted(method);
                stays.then(|| {
                    stay += 1;
                    stay - 1
                })
            })
            .collect();
        let mut total = LeftOut::default();
        for thread in &mut self.threads {
            let (tree, left_out) = without(&thread.tree, &labels)?;
            thread.tree = tree;
            total.contexts += left_out.contexts;
            total.calls += left_out.calls;
            total.bytecodes += left_out.bytecodes;
        }
        let mut at = labels.iter();
        self.methods.retain(|_| at.next().is_some_and(Option::is_some));
        let LeftOut { contexts, calls, bytecodes } = total;
        self.notes.push(format!(
            "classes that were not wanted are left out ({rule}): {} with {} and {} of their own; what they called hangs under the nearest caller that was",
            counted(contexts, "context"),
            counted(calls, "call"),
            counted(bytecodes, "bytecode")
        ));
        self.notes.sort();
        let selection = self.meta.entry(SELECTION.to_owned()).or_default();
        if !selection.is_empty() {
            selection.push_str("; ");
        }
        selection.push_str(rule);
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
        assert!(only.notes[0].starts_with(
            "classes that were not wanted are left out (only [ac]): 1 context with 2 calls and 20 bytecodes of"
        ));
        let twice = only.wanted(|_| true, "all").expect("sound");
        assert_eq!(twice.meta[SELECTION], "only [ac]; all");
    }
}
