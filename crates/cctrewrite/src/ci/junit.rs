//! Test reports in JUnit's XML, which CI servers read.

use std::io::{self, Write};

use cct_profile::escape::xml;

/// A report.
#[derive(Debug, Default)]
pub struct Suite {
    /// The name of the command, such as `cctrewrite diff`.
    pub name: String,
    /// Its tests.
    pub cases: Vec<Case>,
    /// The text output of the command.
    pub output: String,
    /// What is wrong with the report itself.
    pub trouble: Option<String>,
}

/// A test.
#[derive(Debug)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Why it failed, if it did.
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
