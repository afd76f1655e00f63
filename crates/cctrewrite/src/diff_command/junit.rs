//! A difference as a test report in JUnit's XML, which servers that run tests read.
//!
//! A limit is a test: `total`, and one for each method that exceeds its limit (`methods` if none does). Without limits there is one
//! test, which passes.

use std::io::Write;

use cct_profile::ReportError;
use cct_profile::diff::{Difference, Excess, verdict, write_text};
use cct_profile::pair::TextOptions;

use super::sentence;
use crate::args::Diff;

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
    let of = |is_wanted: fn(&Excess<'_>) -> bool| excesses.iter().filter(move |excess| is_wanted(excess));
    let mut tests: Vec<(String, Option<&Excess<'_>>)> = Vec::new();
    if arguments.fail_above.is_some() {
        tests.push(("total".to_owned(), of(|excess| excess.method.is_none()).next()));
    }
    if arguments.fail_method_above.is_some() {
        let failed = of(|excess| excess.method.is_some());
        let name = |excess: &Excess<'_>| excess.method.map_or(String::new(), |name| name.exact.clone());
        let before = tests.len();
        tests.extend(failed.map(|excess| (name(excess), Some(excess))));
        if tests.len() == before {
            tests.push(("methods".to_owned(), None));
        }
    }
    if tests.is_empty() {
        tests.push(("difference".to_owned(), None));
    }

    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    let (count, failures) = (tests.len(), excesses.len());
    writeln!(out, "<testsuites tests=\"{count}\" failures=\"{failures}\">")?;
    writeln!(out, "  <testsuite name=\"cctrewrite diff\" tests=\"{count}\" failures=\"{failures}\">")?;
    for (name, excess) in &tests {
        let start = format!("    <testcase classname=\"cctrewrite.diff\" name=\"{}\"", escaped(name));
        match excess {
            None => writeln!(out, "{start}/>")?,
            Some(excess) => {
                writeln!(out, "{start}>")?;
                writeln!(out, "      <failure message=\"{}\"/>", escaped(&sentence(excess, found)))?;
                writeln!(out, "    </testcase>")?;
            }
        }
    }
    let mut text = Vec::new();
    write_text(found, options, arguments.limit, judged, &mut text)?;
    writeln!(out, "    <system-out>{}</system-out>", escaped(&String::from_utf8_lossy(&text)))?;
    if found.is_incomplete() {
        writeln!(out, "    <system-err>{}</system-err>", escaped(&verdict(found, judged)))?;
    }
    writeln!(out, "  </testsuite>")?;
    Ok(writeln!(out, "</testsuites>")?)
}

/// Text for an element or an attribute. What XML 1.0 has no character for becomes a question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(escaped("A.<init>(\"&\")\u{1b}\n"), "A.&lt;init&gt;(&quot;&amp;&quot;)?\n");
    }
}
