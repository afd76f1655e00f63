//! A difference as a test report.
//!
//! A limit is a test: `total`, and one for each method that exceeds its limit (`methods` if none
//! does). Without limits there is one test, which passes.

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::diff::{Difference, Excess, verdict, write_text};
use cct_profile::pair::TextOptions;

use crate::args::Diff;
use crate::ci::junit::{Case, Suite};
use crate::diff_command::sentence::sentence;

/// Writes the report; the difference as text is the suite's output.
pub fn write(
    found: &Difference,
    options: &TextOptions,
    arguments: &Diff,
    excesses: &[Excess<'_>],
    out: &mut dyn Write,
) -> Result<(), ReportError> {
    let limited = arguments.fail_above.is_some() || arguments.fail_method_above.is_some();
    let judged = limited.then_some(excesses);
    let case = |name: &str, excess: Option<&Excess<'_>>| Case {
        name: name.to_owned(),
        failure: excess.map(|excess| sentence(excess, found)),
    };
    let mut cases = Vec::new();
    if arguments.fail_above.is_some() {
        cases.push(case("total", excesses.iter().find(|excess| excess.method.is_none())));
    }
    if arguments.fail_method_above.is_some() {
        let before = cases.len();
        cases.extend(
            excesses.iter().filter_map(|excess| Some(case(&excess.method.as_ref()?.exact, Some(excess)))),
        );
        if cases.len() == before {
            cases.push(case("methods", None));
        }
    }
    if cases.is_empty() {
        cases.push(case("difference", None));
    }
    let mut text = Vec::new();
    write_text(found, options, arguments.limit, judged, &mut text)?;
    let suite = Suite {
        name: "cctrewrite diff".to_owned(),
        cases,
        output: String::from_utf8_lossy(&text).into_owned(),
        trouble: found.is_incomplete().then(|| verdict(found, judged)),
    };
    Ok(suite.write(out)?)
}
