//! The trees of the screens: contexts, callers, methods.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use anyhow::Result;
use cct_profile::caller_levels::{CallerLevels, Occurrence};

use crate::view_command::contexts::Contexts;
use crate::view_command::numbers::{Numbers, Sort, sum};
use crate::view_command::outline::Forest;

impl Forest for &Contexts {
    fn children(&mut self, of: u32, sort: Sort) -> Vec<u32> {
        Contexts::children(self, of, sort)
    }

    fn has_children(&self, node: u32) -> bool {
        self.tree().subtree(node).len() > 1
    }

    fn weight(&self, node: u32) -> u128 {
        self.numbers(node).inclusive.size()
    }
}

/// The callers of a method, as far as the user has opened them.
pub struct CallerTree {
    /// The method.
    pub method: u32,
    levels: CallerLevels,
    /// The first one is the root, whose child is the method.
    chains: Vec<Chain>,
}

/// A chain of callers.
struct Chain {
    /// The last caller.
    method: u32,
    occurrences: Vec<Occurrence>,
    numbers: Numbers,
    /// Positions of the chains that are longer by one caller; `None` until they are asked for.
    callers: Option<Vec<u32>>,
}

impl CallerTree {
    /// The callers of a method.
    pub fn of(contexts: &Contexts, method: u32) -> CallerTree {
        let occurrences = CallerLevels::occurrences(contexts.tree(), contexts.methods(), method);
        let numbers = numbers(contexts, &occurrences);
        let root =
            Chain { method, occurrences: Vec::new(), numbers: Numbers::default(), callers: Some(vec![1]) };
        let chains = vec![root, Chain { method, occurrences, numbers, callers: None }];
        CallerTree { method, levels: CallerLevels::of(contexts.tree()), chains }
    }

    /// The last method of a chain.
    pub fn method_of(&self, chain: u32) -> u32 {
        self.chains[chain as usize].method
    }

    /// Whether a chain is followed by longer ones.
    pub fn has_callers(&self, chain: u32) -> bool {
        let chain = &self.chains[chain as usize];
        match &chain.callers {
            Some(callers) => !callers.is_empty(),
            None => self.levels.have_callers(&chain.occurrences),
        }
    }

    /// The numbers of a chain.
    pub fn numbers(&self, chain: u32) -> Numbers {
        self.chains[chain as usize].numbers
    }
}

/// The numbers of a method in some contexts.
fn numbers(contexts: &Contexts, occurrences: &[Occurrence]) -> Numbers {
    let all = || occurrences.iter().map(|occurrence| contexts.numbers(occurrence.context));
    let outermost = occurrences.iter().filter(|occurrence| occurrence.is_outermost);
    Numbers {
        inclusive: sum(outermost.map(|occurrence| contexts.numbers(occurrence.context).inclusive)),
        own: sum(all().map(|numbers| numbers.own)),
        calls: sum(all().map(|numbers| numbers.calls)),
    }
}

/// [`CallerTree`] with the contexts that it is about.
pub struct CallersOf<'c> {
    pub contexts: &'c Contexts,
    pub callers: &'c mut CallerTree,
}

impl Forest for CallersOf<'_> {
    fn children(&mut self, of: u32, sort: Sort) -> Vec<u32> {
        let CallerTree { levels, chains, .. } = &mut *self.callers;
        let chain = &chains[of as usize];
        let mut callers = match &chain.callers {
            Some(callers) => callers.clone(),
            None => {
                let found = levels.callers(self.contexts.tree(), self.contexts.methods(), &chain.occurrences);
                let first = chains.len() as u32;
                chains.extend(found.into_iter().map(|(method, occurrences)| Chain {
                    method,
                    numbers: numbers(self.contexts, &occurrences),
                    occurrences,
                    callers: None,
                }));
                let callers: Vec<u32> = (first..chains.len() as u32).collect();
                chains[of as usize].callers = Some(callers.clone());
                callers
            }
        };
        // They are made in the order of the methods, whose order is that of their names.
        callers.sort_by_cached_key(|&caller| Reverse(sort.size(chains[caller as usize].numbers)));
        callers
    }

    fn has_children(&self, chain: u32) -> bool {
        self.callers.has_callers(chain)
    }

    fn weight(&self, chain: u32) -> u128 {
        self.callers.numbers(chain).inclusive.size()
    }
}

/// The list of all methods. A node is a method's number, plus one.
pub struct MethodList {
    sums: BTreeMap<u32, Numbers>,
}

impl MethodList {
    /// The methods with counts.
    pub fn of(contexts: &Contexts) -> Result<MethodList> {
        Ok(MethodList { sums: contexts.sums_of_methods()? })
    }

    /// The method of a node.
    pub fn method_of(node: u32) -> u32 {
        node.saturating_sub(1)
    }

    /// The numbers of a node.
    pub fn numbers(&self, node: u32) -> Numbers {
        self.sums.get(&MethodList::method_of(node)).copied().unwrap_or_default()
    }
}

impl Forest for &MethodList {
    fn children(&mut self, of: u32, sort: Sort) -> Vec<u32> {
        if of > 0 {
            return Vec::new();
        }
        let mut methods: Vec<u32> = self.sums.keys().map(|method| method + 1).collect();
        methods.sort_by_cached_key(|&node| Reverse(sort.size(self.numbers(node))));
        methods
    }

    fn has_children(&self, _: u32) -> bool {
        false
    }

    fn weight(&self, node: u32) -> u128 {
        self.numbers(node).inclusive.size()
    }
}
