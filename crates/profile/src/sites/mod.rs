//! Call sites: profiles that distinguish contexts by the place of the call in the caller, and their
//! form without call sites. (JP2, "Complete and platform-independent calling context profiling for
//! the JVM", section 2.)
//!
//! Such a profile has an entry of [`Profile::methods`] for each method, body and site
//! ([`crate::Site`]). So trees have the same form as elsewhere, and code that works by methods must
//! request them without their sites ([`crate::labels::Labels::new`],
//! [`FrameTable::without_call_sites`](crate::names::FrameTable::without_call_sites)).

use crate::meta_keys::CALL_SITES;
use crate::tree_sum::joined;
use crate::united_methods::{Bodies, united_methods};
use crate::{MergeError, Method, Profile, ROOT, Site, Tree};

#[cfg(test)]
mod tests;

impl Profile {
    /// Whether call sites are distinguished.
    pub fn tells_call_sites(&self) -> bool {
        self.meta.get(CALL_SITES).is_some_and(|value| value == "yes") || self.has_call_sites()
    }

    /// Whether there is any call site. A tiny program may have none even where they are
    /// distinguished.
    pub(crate) fn has_call_sites(&self) -> bool {
        self.methods.iter().any(|method| method.site.is_some())
    }

    /// The profile without call sites: contexts that differ by them alone are added up.
    ///
    /// # Errors
    /// Fails if counts overflow, or if a tree refers to a missing method.
    pub fn without_call_sites(mut self) -> Result<Profile, MergeError> {
        self.meta.remove(CALL_SITES);
        if !self.has_call_sites() {
            return Ok(self);
        }
        let (methods, labels) = united_methods(&[&self], Bodies::Apart, true);
        for thread in &mut self.threads {
            let parts: Vec<(&Tree, &[u32])> = labels.iter().map(|labels| (&thread.tree, &**labels)).collect();
            thread.tree = joined(&parts)?;
        }
        self.methods = methods;
        Ok(self)
    }

    /// The profile in which methods that native code calls have the site [`Site::NATIVE`], for
    /// display. In files they have no site, like outermost frames. Its methods, and siblings in its
    /// trees, are out of order. A profile that does not distinguish call sites stays unchanged.
    #[must_use]
    pub fn with_native_callers(mut self) -> Profile {
        if !self.tells_call_sites() {
            return self;
        }
        // For each method without a site, its counterpart that native code calls, once there is
        // one.
        let mut called: Vec<Option<u32>> = vec![None; self.methods.len()];
        let Profile { methods, threads, .. } = &mut self;
        for thread in threads {
            thread.tree.relabel(|method, is_outermost| {
                let Some(place) = called.get_mut(method as usize) else { return method };
                if is_outermost || !may_be_called(&methods[method as usize]) {
                    return method;
                }
                *place.get_or_insert_with(|| {
                    // At most twice as many as before: 32-bit numbers suffice for any table that
                    // fits in memory.
                    let new = u32::try_from(methods.len()).unwrap_or(ROOT);
                    methods.push(Method { site: Some(Site::NATIVE), ..methods[method as usize].clone() });
                    new
                })
            });
        }
        self
    }

    /// Whether [`Profile::with_native_callers`] would change anything.
    pub(crate) fn lacks_native_callers(&self) -> bool {
        let lacks = |method: u32| self.methods.get(method as usize).is_some_and(may_be_called);
        let in_tree = |tree: &Tree| {
            let mut next_outermost = 1;
            (0u32..).zip(tree.nodes()).skip(1).any(|(index, node)| {
                if index == next_outermost {
                    next_outermost = tree.subtree(index).end;
                    return false;
                }
                lacks(node.method)
            })
        };
        self.tells_call_sites() && self.threads.iter().any(|thread| in_tree(&thread.tree))
    }
}

/// Whether native code may have called a method without a site: markers are no methods.
fn may_be_called(method: &Method) -> bool {
    method.site.is_none() && method.flags & Method::MARKER == 0
}
