//! One side of a comparison: a profile, or a list of contexts.

use crate::contexts::{ListError, read_contexts};
use crate::meta_keys::SELECTION;
use crate::{Damage, MergeError, Metric, Profile, ReadError};
use std::io::{self, BufRead, BufReader, Read};

/// The kind of a side's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A `.cct` file.
    Profile,
    /// A list of contexts ([`crate::contexts`]).
    List,
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Input {
    /// The kind of its file.
    pub kind: Kind,
    /// The contexts. Trees may have siblings of the same method, which count as one context.
    pub profile: Profile,
    /// Whether the trees are those of threads. Otherwise there is one, the sum over all threads.
    pub per_thread: bool,
    /// Whether frames have call sites.
    pub call_sites: bool,
    /// Missing parts, in sentences.
    pub incomplete: Vec<String>,
    /// The counts before classes were dropped from the profile; `None` if none were.
    pub whole: Option<WholeCounts>,
}

/// The counts of a whole profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WholeCounts {
    calls: u128,
    bytecodes: u128,
}

impl WholeCounts {
    /// The counts of all trees.
    pub fn of(profile: &Profile) -> WholeCounts {
        let mut whole = WholeCounts::default();
        for node in profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]) {
            whole.calls += u128::from(node.calls);
            whole.bytecodes += u128::from(node.bytecodes);
        }
        whole
    }

    pub(super) fn count(self, metric: Metric) -> u128 {
        match metric {
            Metric::Calls | Metric::Allocations => self.calls,
            Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => self.bytecodes,
        }
    }
}

/// Why a file cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The input failed.
    #[error("reading failed")]
    Io(#[from] io::Error),
    /// It starts like a profile, but is invalid.
    #[error(transparent)]
    Profile(#[from] ReadError),
    /// It is no profile, and no list.
    #[error("this is neither a profile (.cct) file nor a readable list of contexts")]
    List(#[from] ListError),
}

impl From<Profile> for Input {
    fn from(profile: Profile) -> Input {
        let incomplete = profile.damage.iter().map(Damage::to_string).collect();
        let call_sites = profile.tells_call_sites();
        let profile = profile.with_native_callers();
        Input { kind: Kind::Profile, profile, per_thread: true, call_sites, incomplete, whole: None }
    }
}

impl Input {
    /// The rule by which classes had been dropped from the profile before it was read; `None` if it
    /// has all.
    pub fn dropped_classes(&self) -> Option<String> {
        let recorded = self.profile.meta.get(SELECTION).map_or("", |selection| selection);
        let rules = recorded.split(" | ").flat_map(|one| one.split("; "));
        let mut rules: Vec<&str> =
            rules.filter(|rule| rule.starts_with("only ") || rule.starts_with("without ")).collect();
        // The last rule is that of this command.
        rules.truncate(rules.len().saturating_sub(usize::from(self.whole.is_some())));
        (!rules.is_empty()).then(|| rules.join("; "))
    }

    /// The input without call sites.
    ///
    /// # Errors
    /// Fails if counts overflow when contexts are added up.
    pub fn without_call_sites(self) -> Result<Input, MergeError> {
        Ok(Input { profile: self.profile.without_call_sites()?, call_sites: false, ..self })
    }

    /// Reads a profile or a list of contexts, as the first byte shows. The stream need not be
    /// buffered. A truncated input is no error, see [`Input::incomplete`].
    ///
    /// # Errors
    /// Fails if the stream fails, or holds neither.
    pub fn read_from(input: impl Read) -> Result<Input, InputError> {
        let mut input = BufReader::with_capacity(1 << 16, input);
        // The first byte of a profile's magic, whole or stripped of its high bit; no list starts
        // with either.
        if matches!(input.fill_buf()?.first(), Some(0x89 | 0x09)) {
            return Ok(Profile::read_from(input)?.into());
        }
        let list = read_contexts(input)?;
        let (profile, per_thread, call_sites) = (list.profile, list.per_thread, list.call_sites);
        let incomplete = list.incomplete;
        Ok(Input { kind: Kind::List, profile, per_thread, call_sites, incomplete, whole: None })
    }
}
