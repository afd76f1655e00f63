//! A report as text: the header, the heaviest methods, then the tree, the hot path or the callers.

use std::io::Write;

use cct_profile::callers::Callers;
use cct_profile::labels::{self, By, Labels};
use cct_profile::library::is_own_code_alone;
use cct_profile::origin::is_jdk_by_name;
use cct_profile::recursion::is_recursive;
use cct_profile::report::{
    CallersOptions, Layout, Order, Rows, TableOptions, TableRow, grouped, percent, thread_title,
    write_callers, write_header, write_headlines, write_hot_path, write_table, write_tree,
};
use cct_profile::{Method, Metric, Pattern, ReportError, ThreadTree, Tree};

use crate::args::HeaderArgument;
use crate::report_command::report_contents::{ReportContents, names};

/// How many callers a chain has at most, unless the user says how many.
const CALLERS: usize = 20;

/// How many lines a tree has at most, unless the user says what to show.
const LINES: usize = 60;

/// How many methods each of the tables has that are shown by default.
const TOP: usize = 5;

/// Writes the report.
pub fn write(report: &ReportContents<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    let text = Text { report, layout: report.arguments.layout.of_stdout() };
    text.header(out)?;
    if let Some(method) = &report.arguments.callers {
        return text.callers(&Pattern::new(method), out);
    }
    match report.arguments.top {
        Some(0) => {}
        Some(limit) => text.table(limit, out)?,
        None if report.arguments.hot_path => {}
        None => text.heaviest(out)?,
    }
    if report.arguments.depth == Some(0) { Ok(()) } else { text.trees(out) }
}

struct Text<'r, 'a> {
    report: &'r ReportContents<'a>,
    layout: Layout,
}

impl Text<'_, '_> {
    fn header(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        let summary = &self.report.summary;
        let selected = self.selection();
        match self.report.arguments.header {
            HeaderArgument::Short => {
                let selected = selected.map(|(words, size, share)| format!("{share} ({size}): {words}"));
                write_headlines(summary, selected.as_deref(), self.layout, out)
            }
            HeaderArgument::Full => {
                let selected =
                    selected.map(|(words, size, share)| format!("{words}: {size}, {share} of all"));
                let facts: Vec<_> = selected.into_iter().map(|words| ("Selected", words)).collect();
                write_header(summary, &facts, out)
            }
        }
    }

    /// The selection in words, the size of the selected part, and its share.
    fn selection(&self) -> Option<(String, String, String)> {
        let ReportContents { arguments, selected, summary, metric, .. } = self.report;
        let selected = (*selected)?;
        let thread = arguments.selection.thread.iter().map(|thread| format!("threads '{thread}'"));
        let through = arguments.callers.iter().map(|method| format!("through '{method}'"));
        let words: Vec<String> = thread.chain(arguments.selection.in_words()).chain(through).collect();
        let (part, whole) = (selected.total(*metric), summary.all.total(*metric));
        let size = format!("{} {}", grouped(part), metric.name());
        Some((words.join(", "), size, format!("{:.2} %", percent(part, whole))))
    }

    /// The callers of the methods that match.
    fn callers(&self, asked_for: &Pattern, out: &mut dyn Write) -> Result<(), ReportError> {
        let ReportContents { arguments, profile, summary, metric, .. } = self.report;
        let labels = self.report.labels()?;
        let tree = labels.tree(&profile.threads, false)?;
        let mut matches = vec![false; labels.len()];
        for (method, &label) in profile.methods.iter().zip(labels.of_method()) {
            matches[label as usize] |= asked_for.matches_method(method, names(arguments));
        }
        let depth = arguments.depth.unwrap_or(CALLERS);
        let callers = Callers::of(&tree, |label| matches[label as usize], *metric, depth)?;
        let options = CallersOptions {
            metric: *metric,
            total: summary.all.total(*metric),
            min_percent: arguments.min_percent(),
            lines: self.lines(),
            depth,
            layout: self.layout,
        };
        write_callers(&callers, &labels.readable(), &options, out)
    }

    /// The table that the user asks for.
    fn table(&self, limit: usize, out: &mut dyn Write) -> Result<(), ReportError> {
        let labels = self.report.labels()?;
        let order = self.report.order(Order::Own);
        let title = format!("{}, {}", self.plural(&labels), self.by(order));
        let options = TableOptions { title: &title, limit, layout: self.layout };
        write_table(&self.report.table(&labels)?, &labels, &options, out)
    }

    /// The heaviest methods or groups of the user's code, by their own and by their inclusive
    /// numbers: those outside the JDK, or those left if more than the JDK is collapsed. The
    /// heaviest of all, if there are none.
    fn heaviest(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        let labels = self.report.labels()?;
        if labels.by() == By::Thread {
            // The tree has these rows.
            return Ok(());
        }
        let mut table = self.report.table(&labels)?;
        let mut what = self.plural(&labels);
        if self.report.metric != Metric::Allocations {
            let is_library = self.library(&labels);
            let is_own = |row: &TableRow| !is_library[row.label as usize];
            if table.rows.iter().any(is_own) {
                table.rows.retain(is_own);
                let own: u128 = table.rows.iter().map(|row| row.sums.own).sum();
                let share = percent(own, table.total);
                let whose = if self.is_own_code_alone() { "in your code" } else { "outside the JDK" };
                what += &format!(" {whose} (own {share:.2} % of all)");
            }
        }
        let orders = match self.report.arguments.sort {
            Some(_) => vec![self.report.order(Order::Own)],
            None if table.rows.len() <= TOP || self.report.metric == Metric::Allocations => {
                vec![Order::Inclusive]
            }
            None => vec![Order::Own, Order::Inclusive],
        };
        for order in orders {
            table = table.sorted(order);
            let title = format!("{what}, {}", self.by(order));
            let options = TableOptions { title: &title, limit: TOP, layout: self.layout };
            write_table(&table, &labels, &options, out)?;
        }
        Ok(())
    }

    /// Whether the user chose which classes are the program's own, and all others are collapsed.
    fn is_own_code_alone(&self) -> bool {
        is_own_code_alone(&self.report.profile.meta)
    }

    /// Whether all methods of a label are of the JDK, unless it is collapsed. Placeholders, such as
    /// that of merged contexts, are no methods of the program.
    fn library(&self, labels: &Labels<'_>) -> Vec<bool> {
        let (origins, is_own) = (&self.report.origins, self.is_own_code_alone());
        let mut is_library = vec![true; labels.len()];
        for (method, &label) in self.report.profile.methods.iter().zip(labels.of_method()) {
            let is_jdk = match origins.of(&method.class) {
                Some(origin) if origins.have_jdk() => origin.is_jdk,
                _ => is_jdk_by_name(&method.class),
            };
            is_library[label as usize] &= (is_jdk && !is_own) || method.flags & Method::MARKER != 0;
        }
        is_library
    }

    fn plural(&self, labels: &Labels<'_>) -> String {
        match (self.report.metric, labels.by()) {
            (Metric::Allocations, By::Method) => "Types, and methods that allocate",
            (_, By::Method) => "Methods",
            (_, By::Class) => "Classes",
            (_, By::Package) => "Packages",
            (_, By::Jar) => "Jars",
            (_, By::Module) => "Modules",
            (_, By::Thread) => "Threads",
        }
        .to_owned()
    }

    /// The order of a table in words.
    fn by(&self, order: Order) -> String {
        let metric = self.unit();
        match order {
            Order::Calls => "by calls".to_owned(),
            _ if self.report.metric == Metric::Allocations => format!("by {metric}"),
            Order::Own if self.report.metric == Metric::Calls => format!("by {metric}"),
            Order::Own => format!("by own {metric}"),
            Order::Inclusive => format!("by inclusive {metric}"),
        }
    }

    /// The word for what is summed.
    fn unit(&self) -> &'static str {
        match self.report.metric {
            Metric::Allocations => "objects",
            metric => metric.name(),
        }
    }

    /// The trees, or their hot paths.
    fn trees(&self, out: &mut dyn Write) -> Result<(), ReportError> {
        let labels = self.report.labels_of_contexts()?;
        let names = labels.readable();
        let threads = &self.report.profile.threads;
        if labels.by() == By::Thread {
            let tree = labels::threads(threads)?.1;
            return self.tree("Threads", &tree, (&labels, &names), false, out);
        }
        if self.report.arguments.per_thread {
            return threads.iter().try_for_each(|thread| {
                let title = thread_title(thread);
                self.fitting_tree(&title, std::slice::from_ref(thread), &labels, &names, out)
            });
        }
        self.fitting_tree("All threads", threads, &labels, &names, out)
    }

    /// The tree of some threads; with recursion folded if the user wants that, or if it would not
    /// fit otherwise.
    fn fitting_tree(
        &self,
        title: &str,
        threads: &[ThreadTree],
        labels: &Labels<'_>,
        names: &[String],
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        let arguments = self.report.arguments;
        let mut tree = labels.tree(threads, arguments.fold_recursion)?;
        // A folded path has no id.
        let is_free = !arguments.fold_recursion
            && !arguments.ids
            && arguments.depth.is_none()
            && arguments.min_percent.is_none();
        let folds = is_free && !self.fits(&tree, labels)? && is_recursive(&tree, &labels.methods().0);
        if folds {
            // One of the two is in memory at a time.
            drop(tree);
            tree = labels.tree(threads, true)?;
        }
        self.tree(title, &tree, (labels, names), folds, out)
    }

    /// Whether all rows fit the lines.
    fn fits(&self, tree: &Tree, labels: &Labels<'_>) -> Result<bool, ReportError> {
        let Some(lines) = self.lines() else { return Ok(true) };
        let rows = self.report.rows(tree, labels, false)?;
        Ok(if self.report.arguments.hot_path {
            rows.hot_path().len() <= lines
        } else {
            rows.limited(lines).limit().is_none()
        })
    }

    fn tree(
        &self,
        title: &str,
        tree: &Tree,
        (labels, names): (&Labels<'_>, &[String]),
        folds: bool,
        out: &mut dyn Write,
    ) -> Result<(), ReportError> {
        let folded = match (folds, self.report.arguments.fold_recursion) {
            (true, _) => "; recursion folded (--lines 0 unfolds it)",
            (false, true) => "; recursion folded",
            (false, false) => "",
        };
        let is_folded = folds || self.report.arguments.fold_recursion;
        let rows: Rows<'_> = self.report.rows(tree, labels, is_folded)?;
        if self.report.arguments.hot_path {
            let title = format!("{title}: hot path, in {}{folded}", self.unit());
            return write_hot_path(&title, &rows, names, self.lines(), self.layout, out);
        }
        let rows = match self.lines() {
            Some(lines) => rows.limited(lines),
            None => rows,
        };
        write_tree(&format!("{title}: contexts, in {}{folded}", self.unit()), &rows, names, self.layout, out)
    }

    /// How many lines a tree has at most; `None` for no limit.
    fn lines(&self) -> Option<usize> {
        let arguments = self.report.arguments;
        match arguments.lines {
            Some(0) => None,
            Some(lines) => Some(lines),
            None if arguments.depth.is_some() || arguments.min_percent.is_some() => None,
            None => Some(LINES),
        }
    }
}
