//! A report as one JSON object (docs/reference/formats/json.md). Each row is written as soon as it
//! is known, so memory does not grow with the number of rows.

use std::io::Write;

use cct_profile::labels::Labels;
use cct_profile::report::Row;
use cct_profile::{ReportError, Site};
use serde::Serialize;

use crate::json::{self, Head};
use crate::profile_file::shown;
use crate::report_command::report_contents::{ReportContents, View};

#[derive(Serialize)]
struct SelectionShare<'a> {
    thread: Option<&'a str>,
    root: Option<&'a str>,
    focus: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    ignore: Vec<&'a String>,
    contexts: u128,
    calls: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytecodes: Option<u128>,
}

#[derive(Serialize)]
struct TableRow<'a> {
    name: &'a str,
    calls: u128,
    #[serde(rename = "self")]
    own: u128,
    inclusive: u128,
}

#[derive(Serialize)]
struct Thread<'a> {
    name: &'a str,
    threads: u64,
}

/// A row of a tree: a context, or what the thresholds hide.
#[derive(Serialize)]
#[serde(untagged)]
enum TreeRow<'a> {
    Context {
        /// `None` if recursion is folded, and for groups.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        depth: usize,
        name: &'a str,
        /// `None` unless call sites are kept separate.
        #[serde(skip_serializing_if = "Option::is_none")]
        bci: Option<i32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u32>,
        calls: u64,
        #[serde(rename = "self")]
        own: u64,
        inclusive: u64,
    },
    Hidden {
        depth: usize,
        hidden: u64,
        inclusive: u64,
    },
}

/// Writes the object, and a line end.
pub fn write(report: &ReportContents<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    let arguments = report.arguments;
    let files: Vec<String> = arguments.profiles.iter().map(|path| shown(path)).collect();
    let mut object = json::Object::new(out, "cctrewrite report", 1)?;
    object.member("files", &files)?;
    Head::of(&report.summary).write(&mut object)?;
    let selection = &arguments.selection;
    let selected = report.selected.map(|extent| SelectionShare {
        thread: selection.thread.as_deref(),
        root: selection.root.as_deref(),
        focus: &selection.focus,
        context: selection.context.map(|id| id.to_string()),
        ignore: selection.dropped().collect(),
        contexts: extent.contexts,
        calls: extent.calls,
        bytecodes: report.summary.counts_bytecodes.then_some(extent.bytecodes),
    });
    object.member("selected", &selected)?;
    let labels = report.labels()?;
    let names: Vec<String> = (0..labels.len() as u32).map(|label| labels.exact(label)).collect();
    let contexts = report.labels_of_contexts()?;
    let of_contexts: Vec<String> =
        (0..contexts.len() as u32).map(|label| contexts.exact_method(label)).collect();
    object.member("by", labels.by().name())?;
    object.member("metric", report.metric.name())?;

    let table = report.table(&labels)?;
    object.member("total", &table.total)?;
    object.member("table_rows", &table.rows.len())?;
    object.list("table", |list| -> Result<(), ReportError> {
        for row in table.rows.iter().take(arguments.top.unwrap_or(usize::MAX)) {
            let sums = row.sums;
            let (name, calls) = (names[row.label as usize].as_str(), sums.calls);
            list.item(&TableRow { name, calls, own: sums.own, inclusive: sums.inclusive })?;
        }
        Ok(())
    })?;
    object.list("trees", |list| {
        report.for_each_view(&contexts, |view| {
            let mut tree = list.object()?;
            write_tree(report, view, &contexts, &of_contexts, &mut tree)?;
            Ok(tree.end()?)
        })
    })?;
    object.end()?;
    Ok(writeln!(out)?)
}

fn write_tree(
    report: &ReportContents<'_>,
    view: &View<'_>,
    labels: &Labels<'_>,
    names: &[String],
    object: &mut json::Object<'_>,
) -> Result<(), ReportError> {
    let rows = report.rows(&view.tree, labels, report.arguments.fold_recursion)?;
    let thread = view.thread.map(|thread| Thread { name: &thread.name, threads: thread.threads });
    object.member("thread", &thread)?;
    object.member("total", &rows.total())?;
    object.list("contexts", |list| {
        rows.for_each(|row| {
            let row = match row {
                Row::Context { node, depth, inclusive } => {
                    let counts = &view.tree.nodes()[node as usize];
                    let name = names.get(counts.method as usize).map_or("?", String::as_str);
                    let own = report.metric.of_node(counts);
                    let site = labels.site(counts.method);
                    let (bci, line) = (site.map(Site::index), site.and_then(Site::known_line));
                    let id = rows.id(node).map(|id| id.to_string());
                    TreeRow::Context { id, depth, name, bci, line, calls: counts.calls, own, inclusive }
                }
                Row::Hidden { contexts, inclusive, depth } => {
                    TreeRow::Hidden { depth, hidden: contexts, inclusive }
                }
            };
            Ok(list.item(&row)?)
        })
    })
}
