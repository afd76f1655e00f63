//! The contents of a page: the trees of one or two profiles, thread by thread, with labels instead
//! of methods.

use super::sided_tree::{Measure, Side, SidedTree};
use crate::ExportError;
use crate::name::all_methods;
use cct_profile::fold::{Fold, folded};
use cct_profile::labels::{By, Labels};
use cct_profile::library::{LIBRARY_LINE, Role};
use cct_profile::names::NameStyle;
use cct_profile::origin::Origins;
use cct_profile::tree_sum::joined;
use cct_profile::{Method, Metric, Profile, Tree};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum number of threads that a page keeps separate by name. A program may have a million.
pub(super) const MOST_THREADS: usize = 256;

/// The contents of a page.
pub(super) struct PageContents {
    /// The text of each label. Where call sites are distinguished, methods come first, then the
    /// labels of contexts.
    pub(super) labels: Vec<String>,
    /// For each label its method, or the label itself.
    pub(super) methods: Vec<u32>,
    /// The kind of each label.
    pub(super) kinds: Vec<Kind>,
    /// The numbers that every context has.
    pub(super) measures: Vec<Measure>,
    /// The counted metrics.
    pub(super) metrics: Vec<Metric>,
    /// The sum of each measure over all contexts.
    pub(super) sums: Vec<u64>,
    /// The threads, sorted by name; those of one name share an entry.
    pub(super) threads: Vec<Thread>,
    /// The role of each label if the library can be collapsed. The last label is then that of its
    /// lines.
    pub(super) roles: Vec<Role>,
}

/// The threads of one name.
pub(super) struct Thread {
    /// The name.
    pub(super) name: Arc<str>,
    /// Number of names, if these are the threads that share one entry for lack of room.
    pub(super) others: Option<u64>,
    /// The sum of each measure over all contexts.
    pub(super) sums: Vec<u64>,
    /// The contexts.
    pub(super) sided: SidedTree,
}

/// The kind of a label, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// No method.
    Other = 0,
    /// A class of the class library, judged by its name.
    Library = 1,
    /// A class of the program.
    Program = 2,
}

/// Packages of the class library.
const CLASS_LIBRARY: [&str; 6] = ["java.", "javax.", "jdk.", "sun.", "com.sun.", "org.w3c.dom."];

impl Kind {
    fn of(label: &str) -> Kind {
        // A type whose objects are counted has the owner of its class.
        let label = label.strip_prefix("new ").unwrap_or(label);
        match label.as_bytes().first() {
            None | Some(b'[' | b'(') => Kind::Other,
            _ if CLASS_LIBRARY.iter().any(|package| label.starts_with(package)) => Kind::Library,
            _ => Kind::Program,
        }
    }
}

impl PageContents {
    /// The contents for a profile, optionally compared with a base. Takes the trees out of both.
    pub(super) fn of(
        new: &mut Profile,
        mut base: Option<&mut Profile>,
        by: By,
        names: NameStyle,
        origins: &Origins,
        is_library: &dyn Fn(&Method) -> bool,
    ) -> Result<PageContents, ExportError> {
        let executed = Metric::of_profile(new);
        let is_in_both = base.as_ref().is_none_or(|base| {
            Metric::of_profile(base) == executed && base.meta.get("cost-model") == new.meta.get("cost-model")
        });
        let mut metrics: Vec<Metric> = match executed {
            Metric::Allocations | Metric::Calls => vec![executed],
            _ if is_in_both => vec![executed, Metric::Calls],
            _ => vec![Metric::Calls],
        };
        let mut columns = new.columns();
        if base.as_ref().is_some_and(|base| base.columns() != columns) {
            columns.clear();
            let both = std::iter::once(&mut *new).chain(base.as_deref_mut());
            both.for_each(|profile| *profile = std::mem::take(profile).without_columns());
        }
        metrics.extend(columns.iter().map(|column| Metric::Column(*column)));
        let sides: &[Side] = if base.is_some() { &[Side::New, Side::Base] } else { &[Side::New] };
        let measures: Vec<Measure> = sides
            .iter()
            .flat_map(|&side| metrics.iter().map(move |&metric| Measure { side, metric }))
            .collect();
        let methods = match &base {
            Some(base) => all_methods(&[new, base]),
            None => all_methods(&[new]),
        };
        let mut named = LabelTexts::of(&Labels::of_contexts(&methods, by, names, origins));
        let roles = named.with_library(&methods, is_library);
        let identity: Vec<u32> = (0..u32::MAX).take(named.labels.len()).collect();
        let (of_new, of_base) = named.of_method.split_at(new.methods.len());
        let mut trees: BTreeMap<Arc<str>, [Option<Tree>; 2]> = BTreeMap::new();
        for (name, tree) in trees_by_name(new, of_new, by)? {
            trees.entry(name).or_default()[0] = Some(tree);
        }
        let has_base = base.is_some();
        if let Some(base) = base {
            for (name, tree) in trees_by_name(base, of_base, by)? {
                trees.entry(name).or_default()[1] = Some(tree);
            }
        }
        let mut threads = Vec::with_capacity(trees.len());
        for (name, [new, base]) in trees {
            let no_tree = || cct_profile::TreeBuilder::new().with_columns(columns.len()).finish();
            let sided = match (new.unwrap_or_else(no_tree), has_base) {
                (new, false) => SidedTree::one(new),
                (new, true) => SidedTree::two(&base.unwrap_or_else(no_tree), &new, &identity)?,
            };
            let sided = sided.with_columns(&columns);
            let sums = measures.iter().map(|&measure| sum(&sided, measure)).collect::<Result<_, _>>()?;
            threads.push(Thread { name, others: None, sums, sided });
        }
        let sums = totals(&threads, &measures)?;
        let threads = joined_beyond(threads, MOST_THREADS, &sums, &identity)?;
        let LabelTexts { labels, methods, .. } = named;
        let mut kinds: Vec<Kind> = labels.iter().map(|label| Kind::of(label)).collect();
        if let Some(line) = kinds.last_mut().filter(|_| !roles.is_empty()) {
            *line = Kind::Library;
        }
        Ok(PageContents { labels, methods, kinds, measures, metrics, sums, threads, roles })
    }
}

/// Labels and their texts.
struct LabelTexts {
    labels: Vec<String>,
    methods: Vec<u32>,
    /// For each method of the profiles its label.
    of_method: Vec<u32>,
}

impl LabelTexts {
    fn of(labels: &Labels<'_>) -> LabelTexts {
        let of_method = labels.of_method().to_vec();
        let (of_label, count) = labels.methods();
        if !labels.have_call_sites() {
            return LabelTexts { labels: labels.readable(), methods: of_label, of_method };
        }
        // Labels are 32-bit numbers, for methods and for their call sites, of which there are at
        // least as many.
        let first = count as u32;
        let mut names = labels.readable_methods();
        names.extend(labels.readable());
        LabelTexts {
            labels: names,
            methods: (0..first).chain(of_label).collect(),
            of_method: of_method.into_iter().map(|label| first + label).collect(),
        }
    }

    /// Adds the label of a collapsed library's lines, and returns the role of each label. Empty if
    /// there is no library, or if a label stands for methods of both.
    fn with_library(&mut self, methods: &[Method], is_library: &dyn Fn(&Method) -> bool) -> Vec<Role> {
        let mut roles: Vec<Option<Role>> = vec![None; self.labels.len()];
        for (method, &label) in methods.iter().zip(&self.of_method) {
            let role = Role::of(method, is_library);
            for label in [label, self.methods[label as usize]] {
                if *roles[label as usize].get_or_insert(role) != role {
                    return Vec::new();
                }
            }
        }
        let is_line = |at: usize| self.labels[at] == LIBRARY_LINE;
        if !roles.iter().enumerate().any(|(at, role)| *role == Some(Role::Library) && !is_line(at)) {
            return Vec::new();
        }
        // Labels are 32-bit numbers.
        self.methods.push(self.labels.len() as u32);
        self.labels.push(LIBRARY_LINE.to_owned());
        roles.push(Some(Role::Library));
        roles.into_iter().map(|role| role.unwrap_or(Role::Program)).collect()
    }
}

/// The trees of the threads of each name, added up.
fn trees_by_name(
    profile: &mut Profile,
    labels: &[u32],
    by: By,
) -> Result<Vec<(Arc<str>, Tree)>, ExportError> {
    let mut threads = std::mem::take(&mut profile.threads);
    threads.sort_by(|a, b| a.name.cmp(&b.name));
    let mut trees = Vec::new();
    for of_name in threads.chunk_by(|a, b| a.name == b.name) {
        let parts: Vec<(&Tree, &[u32])> = of_name.iter().map(|thread| (&thread.tree, labels)).collect();
        let tree = match by {
            By::Method => joined(&parts)?,
            _ => folded(&parts, Fold::Within)?,
        };
        trees.push((of_name[0].name.clone(), tree));
    }
    Ok(trees)
}

/// The sum over all contexts.
fn sum(sided: &SidedTree, measure: Measure) -> Result<u64, ExportError> {
    let mut counts = sided.contexts().map(|node| sided.own(node, measure));
    let sum = counts.try_fold(0u64, u64::checked_add);
    sum.ok_or(ExportError::TooMany(measure.metric.name()))
}

fn totals(threads: &[Thread], measures: &[Measure]) -> Result<Vec<u64>, ExportError> {
    let total = |(at, measure): (usize, &Measure)| {
        let sum = threads.iter().map(|thread| thread.sums[at]).try_fold(0u64, u64::checked_add);
        // Changes of contexts add up to at most the sum of both sides.
        sum.filter(|&sum| i64::try_from(sum).is_ok()).ok_or(ExportError::TooMany(measure.metric.name()))
    };
    measures.iter().enumerate().map(total).collect()
}

/// Up to this many threads with the largest shares of any sum, and those of all other names as one,
/// the last.
fn joined_beyond(
    threads: Vec<Thread>,
    most: usize,
    totals: &[u64],
    labels: &[u32],
) -> Result<Vec<Thread>, ExportError> {
    if threads.len() <= most {
        return Ok(threads);
    }
    let weight = |thread: &Thread| {
        let shares = thread.sums.iter().zip(totals).filter(|(_, total)| **total > 0);
        shares.map(|(&sum, &total)| sum as f64 / total as f64).fold(0.0, f64::max)
    };
    let weights: Vec<f64> = threads.iter().map(weight).collect();
    let mut order: Vec<usize> = (0..threads.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    let mut is_kept = vec![false; threads.len()];
    order.iter().take(most).for_each(|&thread| is_kept[thread] = true);
    let (kept, others): (Vec<_>, Vec<_>) =
        threads.into_iter().zip(is_kept).partition(|(_, is_kept)| *is_kept);
    let mut kept: Vec<Thread> = kept.into_iter().map(|(thread, _)| thread).collect();
    let count = others.len() as u64;
    let mut sums = vec![0; totals.len()];
    let mut parts = Vec::with_capacity(others.len());
    for (thread, _) in others {
        sums.iter_mut().zip(&thread.sums).for_each(|(sum, more)| *sum += more);
        parts.push(thread.sided);
    }
    let sided = SidedTree::sum(&parts, labels)?;
    kept.push(Thread { name: "".into(), others: Some(count), sums, sided });
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{method, profile, recursion, thread, tree};

    fn gathered(mut new: Profile, base: Option<Profile>) -> PageContents {
        let mut base = base;
        let (by, names) = (By::Method, NameStyle::Normalised);
        PageContents::of(&mut new, base.as_mut(), by, names, &Origins::default(), &|_| false).unwrap()
    }

    #[test]
    fn threads_of_a_name_are_added_up() {
        let mut twice = recursion();
        twice.threads.push(twice.threads[0].clone());
        let found = gathered(twice, None);
        let threads: Vec<_> = found.threads.iter().map(|thread| (&*thread.name, &*thread.sums)).collect();
        assert_eq!(threads, [("main", &[332, 20][..]), ("work;er", &[11, 15][..])]);
        assert_eq!(found.sums, [343, 35]);
        assert_eq!(found.labels.len(), 4);
    }

    #[test]
    fn a_thread_may_be_in_one_profile_only() {
        let mut base = recursion();
        base.threads.remove(0);
        let found = gathered(recursion(), Some(base));
        assert_eq!(found.threads[0].sums, [166, 10, 0, 0]);
        assert_eq!(found.threads[1].sums, [11, 15, 11, 15]);
    }

    #[test]
    fn threads_beyond_the_limit_are_one() {
        let methods = vec![method("a/A", "f", "()V")];
        let threads = (0..9).map(|n| thread(&format!("t{n}"), tree(&[(1, 0, 1, (n * 7) % 9)]))).collect();
        let all = gathered(profile(&[], methods, threads), None);
        let few = joined_beyond(all.threads, 3, &all.sums, &[0]).unwrap();
        // Calls weigh the same for all; of 7 n mod 9 the largest are 8, 7 and 6.
        let names: Vec<&str> = few.iter().map(|thread| &*thread.name).collect();
        assert_eq!(names, ["t1", "t5", "t6", ""]);
        assert_eq!((few[3].others, &few[3].sums[..]), (Some(6), &[36 - 21, 6][..]));
        assert_eq!(few[3].sided.tree().contexts(), 1);
    }

    #[test]
    fn names_tell_the_class_library_from_programs() {
        let kinds = ["java.lang.Object.<init>()", "javafx.A.f()", "[x]", "", "(not found)"].map(Kind::of);
        use Kind::{Library, Other, Program};
        assert_eq!(kinds, [Library, Program, Other, Other, Other]);
    }
}
