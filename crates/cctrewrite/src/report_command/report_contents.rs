//! The part of a profile that a report shows, and how it shows it.

use anyhow::{Result, anyhow};
use cct_profile::labels::{By, Labels};
use cct_profile::library::collapsed;
use cct_profile::names::NameStyle;
use cct_profile::origin::Origins;
use cct_profile::report::{Order, Rows, RowsOptions, Table};
use cct_profile::summary::Extent;
use cct_profile::{
    ContextId, Method, Metric, Pattern, Profile, ReportError, SelectionError, Summary, ThreadTree, Tree,
    labels,
};

use crate::args::{OrderArgument, Report, ReportFormat};
use crate::exit;
use crate::profile_file::View as Part;

/// The contents of a report.
pub(crate) struct ReportContents<'a> {
    pub(crate) arguments: &'a Report,
    /// Summary of the whole profile.
    pub(crate) summary: Summary,
    /// The selected part of the profile.
    pub(crate) profile: Profile,
    /// The size of this part; `None` if it is the whole profile.
    pub(crate) selected: Option<Extent>,
    pub(crate) metric: Metric,
    pub(crate) origins: Origins,
}

/// The style of names that the command line asks for.
pub fn names(arguments: &Report) -> NameStyle {
    if arguments.raw_names { NameStyle::Raw } else { NameStyle::Normalised }
}

pub(crate) fn by(arguments: &Report) -> By {
    arguments.by.into()
}

/// The part of the profile to look at. Types are visible only if rows are methods or threads.
pub fn view(arguments: &Report) -> Part {
    match (Part::of(arguments.metric), by(arguments)) {
        (Part::Objects, By::Method | By::Thread) => Part::Objects,
        (Part::Objects, _) => Part::Makers,
        (view, _) => view,
    }
}

/// The selected part of a profile, and its size unless it is everything.
pub fn select(arguments: &Report, profile: Profile) -> Result<(Profile, Option<Extent>)> {
    let mut selection = arguments.selection.selection();
    selection.focus.extend(arguments.callers.as_deref().map(Pattern::new));
    if selection.is_everything() {
        return Ok((profile, None));
    }
    // The user may ask for a method that was collapsed when the file was written.
    let collapsed = if arguments.parts.library.is_none() { collapsed(&profile.meta) } else { None };
    let collapsed = collapsed.map(str::to_owned);
    let selected = selection.of_profile(profile, names(arguments)).map_err(|error| {
        let is_of_method = matches!(error, SelectionError::Root { .. } | SelectionError::Focus { .. });
        match collapsed.filter(|_| is_of_method) {
            Some(which) => anyhow!("{error}; the file lacks the methods of the library: {which}"),
            None => error.into(),
        }
    })?;
    for pattern in &selected.unmatched {
        exit::say(&format!(
            "cctrewrite: no method matches --drop '{}'",
            cct_build::text::readable(pattern.as_bytes())
        ));
    }
    let trees = selected.profile.threads.iter().map(|thread| Extent::of(&thread.tree));
    let extent = trees.fold(Extent::default(), Extent::and);
    Ok((selected.profile, Some(extent)))
}

/// A tree that is shown. Its methods are labels.
pub(crate) struct View<'v> {
    /// The thread; `None` for all threads.
    pub(crate) thread: Option<&'v ThreadTree>,
    pub(crate) tree: Tree,
}

impl ReportContents<'_> {
    pub(crate) fn order(&self, otherwise: Order) -> Order {
        match self.arguments.sort {
            None => otherwise,
            Some(OrderArgument::Own) => Order::Own,
            Some(OrderArgument::Inclusive) => Order::Inclusive,
            Some(OrderArgument::Calls) => Order::Calls,
        }
    }

    /// The rows of a tree with these labels; `folded` if its recursion is folded.
    pub(crate) fn rows<'t>(
        &self,
        tree: &'t Tree,
        labels: &Labels<'_>,
        folded: bool,
    ) -> Result<Rows<'t>, ReportError> {
        let options = RowsOptions {
            metric: self.metric,
            order: self.order(Order::Inclusive),
            min_percent: self.arguments.min_percent(),
            depth: self.arguments.depth,
        };
        let rows = Rows::new(tree, options)?;
        let shows_ids = self.arguments.ids || self.arguments.format == ReportFormat::Json;
        let frames = if shows_ids && !folded { labels.frame_ids() } else { None };
        Ok(match frames {
            Some(frames) => rows.with_ids(ContextId::of_tree(tree, &frames)),
            None => rows,
        })
    }

    /// Builds and shows one tree after the other. Only one is in memory.
    pub(crate) fn for_each_view(
        &self,
        labels: &Labels<'_>,
        mut show: impl FnMut(&View<'_>) -> Result<(), ReportError>,
    ) -> Result<(), ReportError> {
        let recursion = self.arguments.fold_recursion;
        let threads = &self.profile.threads;
        if labels.by() == By::Thread {
            return show(&View { thread: None, tree: labels::threads(threads)?.1 });
        }
        if !self.arguments.per_thread {
            return show(&View { thread: None, tree: labels.tree(threads, recursion)? });
        }
        threads.iter().try_for_each(|thread| {
            let tree = labels.tree(std::slice::from_ref(thread), recursion)?;
            show(&View { thread: Some(thread), tree })
        })
    }

    /// The labels of the table.
    pub(crate) fn labels(&self) -> Result<Labels<'_>, ReportError> {
        self.labelled(Labels::new)
    }

    /// The labels of trees, in which call sites may be kept separate.
    pub(crate) fn labels_of_contexts(&self) -> Result<Labels<'_>, ReportError> {
        self.labelled(Labels::of_contexts)
    }

    fn labelled<'s>(
        &'s self,
        label: fn(&'s [Method], By, NameStyle, &Origins) -> Labels<'s>,
    ) -> Result<Labels<'s>, ReportError> {
        match by(self.arguments) {
            By::Thread => Ok(labels::threads(&self.profile.threads)?.0),
            by => Ok(label(&self.profile.methods, by, names(self.arguments), &self.origins)),
        }
    }

    /// The table over all threads.
    pub(crate) fn table(&self, labels: &Labels<'_>) -> Result<Table, ReportError> {
        let order = self.order(Order::Own);
        if labels.by() == By::Thread {
            let (of_threads, tree) = labels::threads(&self.profile.threads)?;
            let trees = [(&tree, of_threads.of_method())];
            return Ok(Table::of(&trees, of_threads.len(), self.metric, order)?);
        }
        let trees = self.profile.threads.iter().map(|thread| (&thread.tree, labels.of_method()));
        let trees = trees.collect::<Vec<_>>();
        if view(self.arguments) == Part::Objects {
            return Ok(Table::of_objects(&trees, labels.len(), order)?);
        }
        Ok(Table::of(&trees, labels.len(), self.metric, order)?)
    }
}
