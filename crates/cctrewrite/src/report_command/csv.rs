//! The table of methods, or groups, as comma-separated values (docs/reference/formats/json.md).

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::csv::{Field, Writer};

use crate::report_command::report_contents::ReportContents;

/// Writes the table, after a line that names the columns.
pub fn write(report: &ReportContents<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    let labels = report.labels()?;
    let table = report.table(&labels)?;
    let limit = report.arguments.top.unwrap_or(usize::MAX);
    let mut out = Writer::new(out, report.arguments.csv.reader());
    out.header(["calls", "self", "self_percent", "inclusive", "inclusive_percent", labels.by().name()])?;
    let share = |part| format!("{:.6}", cct_profile::report::percent(part, table.total));
    for row in table.rows.iter().take(limit) {
        let sums = row.sums;
        let numbers = [
            sums.calls.to_string(),
            sums.own.to_string(),
            share(sums.own),
            sums.inclusive.to_string(),
            share(sums.inclusive),
        ];
        let name = labels.exact(row.label);
        out.record(numbers.iter().map(|number| Field::Number(number)).chain([Field::Text(&name)]))?;
    }
    Ok(())
}
