//! The rows of a profile's table of methods: one for each method or, where call sites are
//! distinguished, one for each place that calls it.

use std::collections::BTreeSet;

use cct_index::positions::Lines;
use cct_profile::{Method, Site};
use rustc_hash::{FxHashMap, FxHashSet};

/// The callees in some trees, by call site.
#[derive(Debug, Default)]
pub struct Callees {
    /// Methods called without a call site.
    called: FxHashSet<u64>,
    at_sites: FxHashSet<AtSite>,
}

/// A method as it is called from one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct AtSite {
    caller: u64,
    bci: u16,
    mid: u64,
}

impl Callees {
    /// Adds a method by the ids of its caller and itself, and the bytecode index of the call if
    /// call sites are distinguished.
    pub fn add(&mut self, caller: u64, mid: u64, site: Option<u16>) {
        match site {
            None => self.called.insert(mid),
            Some(bci) => self.at_sites.insert(AtSite { caller, bci, mid }),
        };
    }

    /// The ids of all methods that are called.
    pub fn mids(&self) -> BTreeSet<u64> {
        self.called.iter().copied().chain(self.at_sites.iter().map(|call| call.mid)).collect()
    }

    /// The ids of all methods whose call sites occur.
    pub fn callers(&self) -> BTreeSet<u64> {
        self.at_sites.iter().map(|call| call.caller).collect()
    }

    /// The table. `method` returns the method with an id, without a call site, and `packed` the
    /// original positions of a caller's bytecodes, if known.
    pub fn rows<'p>(
        &self,
        mut method: impl FnMut(u64) -> Method,
        packed: impl Fn(u64) -> Option<&'p [u8]>,
    ) -> Rows {
        let mut lines: FxHashMap<u64, Lines> = FxHashMap::default();
        let mut line = |caller, bci| {
            let of_caller = || Lines::of(packed(caller).unwrap_or_default());
            lines.entry(caller).or_insert_with(of_caller).at(bci)
        };
        let site_of = |call: &AtSite, line: u16| Site { bci: call.bci, line: u32::from(line) };
        let sites: FxHashMap<AtSite, Site> =
            self.at_sites.iter().map(|call| (*call, site_of(call, line(call.caller, call.bci)))).collect();
        let plain = self.called.iter().map(|&mid| (mid, None));
        let keys: BTreeSet<(u64, Option<Site>)> =
            plain.chain(sites.iter().map(|(call, &site)| (call.mid, Some(site)))).collect();
        let mut known: FxHashMap<u64, Method> = FxHashMap::default();
        let mut methods: Vec<Method> = keys
            .into_iter()
            .map(|(mid, site)| Method { site, ..known.entry(mid).or_insert_with(|| method(mid)).clone() })
            .collect();
        methods.sort_unstable();
        let places: FxHashMap<(u64, Option<Site>), u32> =
            methods.iter().map(|row| (row.mid, row.site)).zip(0..).collect();
        let place = |mid, site| places.get(&(mid, site)).copied();
        Rows {
            called: self.called.iter().filter_map(|&mid| Some((mid, place(mid, None)?))).collect(),
            at_sites: sites
                .iter()
                .filter_map(|(&call, &site)| Some((call, place(call.mid, Some(site))?)))
                .collect(),
            methods,
        }
    }
}

/// The table of methods, with an index.
#[derive(Debug)]
pub struct Rows {
    /// In the profile's order.
    pub methods: Vec<Method>,
    called: FxHashMap<u64, u32>,
    at_sites: FxHashMap<AtSite, u32>,
}

impl Rows {
    /// The row of a method that is called in this way; `None` if the method was unknown when the
    /// table was built.
    pub fn place(&self, caller: u64, mid: u64, site: Option<u16>) -> Option<u32> {
        match site {
            None => self.called.get(&mid).copied(),
            Some(bci) => self.at_sites.get(&AtSite { caller, bci, mid }).copied(),
        }
    }
}
