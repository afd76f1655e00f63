//! Test reports in JUnit's XML, which CI servers read.

use std::io::{self, Write};

use cct_profile::escape::xml;

/// A test suite: the report on one run of a command.
#[derive(Debug, Default)]
pub struct Suite {
    /// The name of the command, such as `cctrewrite diff`.
    pub name: String,
    /// The tests: for `bench` one for each entry, for `diff` those of its limits.
    pub cases: Vec<Case>,
    /// The text output of the command.
    pub output: String,
    /// Why the results are incomplete; `None` if they are complete.
    pub trouble: Option<String>,
}

/// One test of a suite.
#[derive(Debug)]
pub struct Case {
    /// The name of the test, such as an entry or a method.
    pub name: String,
    /// Why the test failed; `None` if it passed.
    pub failure: Option<String>,
}

impl Suite {
    /// Writes the report.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let count = self.cases.len();
        let failures = self.cases.iter().filter(|case| case.failure.is_some()).count();
        let name = xml(&self.name);
        let class = xml(&self.name.replace(' ', "."));
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<testsuites tests=\"{count}\" failures=\"{failures}\">")?;
        writeln!(out, "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\">")?;
        for Case { name, failure } in &self.cases {
            let start = format!("    <testcase classname=\"{class}\" name=\"{}\"", xml(name));
            match failure {
                None => writeln!(out, "{start}/>")?,
                Some(failure) => {
                    writeln!(out, "{start}>")?;
                    writeln!(out, "      <failure message=\"{}\"/>", xml(failure))?;
                    writeln!(out, "    </testcase>")?;
                }
            }
        }
        writeln!(out, "    <system-out>{}</system-out>", xml(&self.output))?;
        if let Some(trouble) = &self.trouble {
            writeln!(out, "    <system-err>{}</system-err>", xml(trouble))?;
        }
        writeln!(out, "  </testsuite>")?;
        writeln!(out, "</testsuites>")
    }
}
