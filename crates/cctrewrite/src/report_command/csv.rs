//! The table of methods, or groups, as comma-separated values (docs/formats/json.md).

use std::io::Write;

use cct_profile::ReportError;

use super::Shown;
use crate::csv::record;

/// Writes the table, after a line that names the columns.
pub fn write(report: &Shown<'_>, out: &mut dyn Write) -> Result<(), ReportError> {
    let labels = report.labels()?;
    let table = report.table(&labels)?;
    let limit = report.arguments.top.unwrap_or(usize::MAX);
    record(out, ["calls", "self", "self_percent", "inclusive", "inclusive_percent", labels.by().name()])?;
    let share = |part| format!("{:.6}", cct_profile::report::percent(part, table.total));
    for row in table.rows.iter().take(limit) {
        let sums = row.sums;
        let fields = [
            sums.calls.to_string(),
            sums.own.to_string(),
            share(sums.own),
            sums.inclusive.to_string(),
            share(sums.inclusive),
            labels.exact(row.label),
        ];
        record(out, fields.iter().map(String::as_str))?;
    }
    Ok(())
}
