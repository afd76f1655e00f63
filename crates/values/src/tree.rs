//! The values of a tree's contexts, computed as calls compute them from the methods and call sites
//! of a profile (docs/research/pcc.md).

use std::collections::HashMap;

use cct_pcc::value::caller;
use cct_pcc::{MethodChoice, Site, Value};
use cct_profile::{Method, Profile, ROOT};

use crate::Error;

/// The trees of a profile, and the contributions of their methods to values.
#[derive(Debug)]
pub struct Values<'p> {
    profile: &'p Profile,
    /// For each method in the profile (one for each call site) the first one of that name.
    same: Vec<u32>,
    /// The prefix of the names of its call sites; `None` if it takes no part.
    callers: Vec<Option<String>>,
    sites: HashMap<(u32, Option<u16>), Site>,
}

/// A context during a visit.
#[derive(Debug)]
pub struct ContextVisit<'v> {
    /// Methods from the outermost one to its own, by their indices in the profile.
    pub path: &'v [u32],
    /// The number of the context's caller among the contexts of its tree; 0 for an outermost one.
    pub parent: u32,
    /// The context's value.
    pub value: Value,
}

impl<'p> Values<'p> {
    /// Prepares a profile that distinguishes call sites; `chosen` says which methods take part in
    /// values.
    pub fn of(profile: &'p Profile, chosen: &MethodChoice) -> Result<Values<'p>, Error> {
        if !profile.tells_call_sites() {
            return Err(Error::NoCallSites);
        }
        let mut first: HashMap<(&str, &str, &str), u32> = HashMap::new();
        let mut same = Vec::with_capacity(profile.methods.len());
        let mut callers = Vec::with_capacity(profile.methods.len());
        for (number, method) in (0u32..).zip(&profile.methods) {
            let Method { class, name, descriptor, .. } = method;
            let number = *first.entry((class, name, descriptor)).or_insert(number);
            same.push(number);
            let takes_part = chosen.takes_part(class, name, descriptor);
            callers.push(takes_part.then(|| caller(class, name, descriptor)));
        }
        Ok(Values { profile, same, callers, sites: HashMap::new() })
    }

    /// The first method in the profile with the name of this one.
    pub fn same(&self, method: u32) -> u32 {
        self.same.get(method as usize).copied().unwrap_or(method)
    }

    /// Visits all contexts, callers before callees, except those below methods with unknown names.
    /// Returns the number of these.
    pub fn visit(&mut self, mut visit: impl FnMut(&ContextVisit<'_>)) -> u64 {
        let profile = self.profile;
        let mut unknown = 0;
        for thread in &profile.threads {
            let tree = &thread.tree;
            // The path: ends of the subtrees, the contexts' numbers, and their values.
            let mut open: Vec<(u32, u32, Value)> = Vec::new();
            let mut path: Vec<u32> = Vec::new();
            let mut left_out = 0;
            for (node, number) in tree.nodes().iter().zip(0u32..).skip(1) {
                if number < left_out {
                    unknown += 1;
                    continue;
                }
                while open.last().is_some_and(|&(end, ..)| number >= end) {
                    open.pop();
                    path.pop();
                }
                let Some(method) = profile.methods.get(node.method as usize) else { continue };
                let end = tree.subtree(number).end;
                if method.flags & (Method::MARKER | Method::TYPE) != 0 {
                    left_out = end.max(left_out);
                    continue;
                }
                let (value, parent) = match (open.last(), path.last()) {
                    (Some(&(_, parent, value)), Some(&above)) => {
                        (self.called(value, above, method.site.map(|site| site.bci)), parent)
                    }
                    _ => (Value::ROOT, 0),
                };
                path.push(node.method);
                open.push((end, number, value));
                visit(&ContextVisit { path: &path, parent, value });
                if method.flags & Method::UNKNOWN != 0 {
                    left_out = end;
                }
            }
        }
        unknown
    }

    /// The value of a callee at this call site of a method.
    fn called(&mut self, value: Value, method: u32, bci: Option<u16>) -> Value {
        debug_assert_ne!(method, ROOT);
        let same = self.same(method);
        let Some(Some(caller)) = self.callers.get(same as usize) else { return value };
        let site = self.sites.entry((same, bci)).or_insert_with(|| Site::of_caller(caller, bci));
        value.call(*site)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use cct_profile::{Site as ProfileSite, ThreadTree, TreeBuilder};

    /// A profile of one thread: lines of depth, class, method and call site, in preorder.
    pub(crate) fn profile(contexts: &[(usize, &str, &str, Option<u16>)]) -> Profile {
        let mut profile = Profile::default();
        profile.meta.insert("call-sites".to_owned(), "yes".to_owned());
        let mut builder = TreeBuilder::new();
        let mut deep = 0;
        for &(depth, class, name, bci) in contexts {
            let method = Method {
                class: class.into(),
                name: name.into(),
                descriptor: "()V".into(),
                site: bci.map(|bci| ProfileSite { bci, line: 0 }),
                mid: 0,
                flags: 0,
            };
            let known = profile.methods.iter().position(|other| *other == method);
            let number = known.unwrap_or_else(|| {
                profile.methods.push(method);
                profile.methods.len() - 1
            });
            while deep > depth {
                builder.leave();
                deep -= 1;
            }
            builder.enter(number as u32, 1, 0).unwrap();
            deep += 1;
        }
        let tree = builder.finish();
        profile.threads.push(ThreadTree { name: "main".into(), threads: 1, flags: 0, tree });
        profile
    }

    pub(crate) fn all(profile: &Profile, chosen: &MethodChoice) -> Vec<Value> {
        let mut values = Vec::new();
        let left_out = Values::of(profile, chosen).unwrap().visit(|context| values.push(context.value));
        assert_eq!(left_out, 0);
        values
    }

    #[test]
    fn values_are_what_calls_compute() {
        let profile = profile(&[
            (0, "A", "main", None),
            (1, "A", "f", Some(3)),
            (2, "B", "g", Some(0)),
            (1, "A", "f", Some(7)),
            (1, "N", "native", Some(9)),
            (2, "B", "g", None),
            (0, "C", "run", None),
        ]);
        let main = |bci| Site::of("A", "main", "()V", Some(bci));
        let f = Value::ROOT.call(main(3));
        let expected = [
            Value::ROOT,
            f,
            f.call(Site::of("A", "f", "()V", Some(0))),
            Value::ROOT.call(main(7)),
            Value::ROOT.call(main(9)),
            Value::ROOT.call(main(9)).call(Site::of("N", "native", "()V", None)),
            Value::ROOT,
        ];
        assert_eq!(all(&profile, &MethodChoice::default()), expected);
    }

    #[test]
    fn methods_without_values_pass_them_on() {
        let profile = profile(&[(0, "A", "main", None), (1, "A", "f", Some(3)), (2, "B", "g", Some(0))]);
        let chosen = MethodChoice::parse([], ["A.main"]).unwrap();
        let f = Value::ROOT.call(Site::of("A", "main", "()V", Some(3)));
        assert_eq!(all(&profile, &chosen), [Value::ROOT, f, f]);
    }

    #[test]
    fn below_what_has_no_name_nothing_is_known() {
        let mut profile = profile(&[(0, "?", "123", None), (1, "A", "f", Some(3)), (0, "A", "main", None)]);
        profile.methods[0].flags = Method::UNKNOWN;
        let mut seen: Vec<u32> = Vec::new();
        let mut values = Values::of(&profile, &MethodChoice::default()).unwrap();
        assert_eq!(values.visit(|context| seen.extend(context.path)), 1);
        assert_eq!(seen, [0, 2]);
    }

    #[test]
    fn without_call_sites_there_are_no_values() {
        let error = Values::of(&Profile::default(), &MethodChoice::default()).unwrap_err();
        assert!(error.to_string().contains("--call-sites"), "{error}");
    }
}
