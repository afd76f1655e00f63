//! Test reports in JUnit's XML, which servers that run tests read.

use std::io::{self, Write};

/// A report.
#[derive(Debug, Default)]
pub struct Suite {
    /// The command that reports: `cctrewrite diff`.
    pub name: String,
    /// Its tests.
    pub cases: Vec<Case>,
    /// What the command shows as text.
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
        let name = escaped(&self.name);
        let class = escaped(&self.name.replace(' ', "."));
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<testsuites tests=\"{count}\" failures=\"{failures}\">")?;
        writeln!(out, "  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\">")?;
        for Case { name, failure } in &self.cases {
            let start = format!("    <testcase classname=\"{class}\" name=\"{}\"", escaped(name));
            match failure {
                None => writeln!(out, "{start}/>")?,
                Some(failure) => {
                    writeln!(out, "{start}>")?;
                    writeln!(out, "      <failure message=\"{}\"/>", escaped(failure))?;
                    writeln!(out, "    </testcase>")?;
                }
            }
        }
        writeln!(out, "    <system-out>{}</system-out>", escaped(&self.output))?;
        if let Some(trouble) = &self.trouble {
            writeln!(out, "    <system-err>{}</system-err>", escaped(trouble))?;
        }
        writeln!(out, "  </testsuite>")?;
        writeln!(out, "</testsuites>")
    }
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
