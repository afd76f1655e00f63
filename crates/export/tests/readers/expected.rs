//! The numbers that readers must find, from the list of contexts
//! (`cctrewrite report --format contexts`).

use std::collections::{BTreeMap, BTreeSet};

use cct_profile::contexts::{ContextsOptions, write_contexts};
use cct_profile::names::NameStyle;

use crate::programs::Case;

/// Calls and bytecodes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    pub calls: u64,
    pub bytecodes: u64,
}

impl Counts {
    pub fn add(&mut self, other: Counts) {
        self.calls += other.calls;
        self.bytecodes += other.bytecodes;
    }
}

/// A profile's numbers. Where threads are separate, a stack's first frame is the thread, `[main]`,
/// without counts of its own.
pub struct ExpectedNumbers {
    pub total: Counts,
    /// The counts of each stack, whose frames are separated by `;`.
    pub stacks: BTreeMap<String, Counts>,
    /// The own and inclusive counts of each method, nested calls counted once.
    pub methods: BTreeMap<String, (Counts, Counts)>,
}

impl ExpectedNumbers {
    pub fn of(case: &Case) -> ExpectedNumbers {
        let mut list = Vec::new();
        let per_thread = case.options.per_thread;
        let options = ContextsOptions { per_thread, names: NameStyle::Normalised };
        write_contexts(&case.profile, options, &mut list).unwrap();
        let (mut total, mut stacks) = (Counts::default(), BTreeMap::new());
        let mut methods: BTreeMap<String, (Counts, Counts)> = BTreeMap::new();
        for line in String::from_utf8(list).unwrap().lines().filter(|line| !line.starts_with('#')) {
            let mut columns = line.splitn(3, ' ');
            let mut number = || columns.next().unwrap().parse().unwrap();
            let counts = Counts { calls: number(), bytecodes: number() };
            let stack = columns.next().unwrap();
            total.add(counts);
            assert_eq!(stacks.insert(stack.to_owned(), counts), None);
            let frames: Vec<&str> = stack.split(';').skip(usize::from(per_thread)).collect();
            let innermost = (*frames.last().unwrap()).to_owned();
            methods.entry(innermost).or_default().0.add(counts);
            for frame in frames.into_iter().collect::<BTreeSet<_>>() {
                methods.entry(frame.to_owned()).or_default().1.add(counts);
            }
        }
        ExpectedNumbers { total, stacks, methods }
    }
}
