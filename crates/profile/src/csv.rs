//! Comma-separated values (RFC 4180), for spreadsheets or for programs.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula. A formula can
//! start programs and send the contents of other cells. Names come from strangers, so texts are
//! escaped as OWASP recommends ("CSV Injection"). A `'` precedes such a sign, also after a `,` or
//! `;` inside a text, since some spreadsheets separate cells there. Control characters are in
//! Rust's notation.

use std::io::{self, Write};

/// The reader of the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A spreadsheet: no text must be a formula, and no text has control characters.
    Spreadsheet,
    /// A program: texts stay unchanged.
    Program,
}

/// A field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'f> {
    /// Digits, which stay unchanged: a number may be negative.
    Number(&'f str),
    /// Anything that may come from strangers.
    Text(&'f str),
}

/// Writes records, each with a line end.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    reader: Reader,
    line_end: &'static str,
}

impl<W: Write> Writer<W> {
    /// Creates a writer for a reader, with the line ends of Unix.
    pub fn new(out: W, reader: Reader) -> Writer<W> {
        Writer { out, reader, line_end: "\n" }
    }

    /// Creates a writer with the line ends of RFC 4180.
    pub fn with_crlf(out: W, reader: Reader) -> Writer<W> {
        Writer { out, reader, line_end: "\r\n" }
    }

    /// Writes a record of column names.
    ///
    /// # Errors
    /// Fails if the output fails.
    pub fn header<'f>(&mut self, names: impl IntoIterator<Item = &'f str>) -> io::Result<()> {
        self.record(names.into_iter().map(Field::Text))
    }

    /// Writes a record. Quotes the fields that need it.
    ///
    /// # Errors
    /// If the output fails.
    pub fn record<'f>(&mut self, fields: impl IntoIterator<Item = Field<'f>>) -> io::Result<()> {
        for (at, field) in fields.into_iter().enumerate() {
            if at > 0 {
                self.out.write_all(b",")?;
            }
            match field {
                Field::Number(number) => self.out.write_all(number.as_bytes())?,
                Field::Text(text) if self.reader == Reader::Program => self.text(text)?,
                Field::Text(text) => self.text(&without_formulas(text))?,
            }
        }
        self.out.write_all(self.line_end.as_bytes())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if text.contains([',', ';', '"', '\'', '\n', '\r']) {
            write!(self.out, "\"{}\"", text.replace('"', "\"\""))
        } else {
            self.out.write_all(text.as_bytes())
        }
    }
}

/// The text, escaped so that a spreadsheet does not take it for a formula.
fn without_formulas(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut begins_cell = true;
    for c in text.chars() {
        // Some spreadsheets treat the wide forms like the others.
        let is_sign = matches!(c, '=' | '+' | '-' | '@' | '\u{FF1D}' | '\u{FF0B}' | '\u{FF0D}' | '\u{FF20}');
        if begins_cell && (is_sign || matches!(c, '\t' | '\r' | '\n')) {
            out.push('\'');
        }
        // Spaces and quotes before a sign do not always hide it.
        begins_cell = matches!(c, ',' | ';') || begins_cell && matches!(c, ' ' | '"');
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

#[cfg(test)]
// A test that cannot set itself up has failed.
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn written(reader: Reader, fields: &[Field<'_>]) -> String {
        let mut out = Vec::new();
        Writer::new(&mut out, reader).record(fields.iter().copied()).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let fields = [
            Field::Number("-1.5"),
            Field::Text("A.f(Ljava/lang/String,I)V"),
            Field::Text("a\"b"),
            Field::Text(""),
        ];
        for reader in [Reader::Spreadsheet, Reader::Program] {
            let expected = "-1.5,\"A.f(Ljava/lang/String,I)V\",\"a\"\"b\",\n";
            assert_eq!(written(reader, &fields), expected);
        }
    }

    #[test]
    fn no_text_is_a_formula() {
        for (text, expected) in [
            ("=1+1", "\"'=1+1\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("\u{FF1D}1", "\"'\u{FF1D}1\""),
            ("\t=1", "\"'\\t=1\""),
            ("\r=1", "\"'\\r=1\""),
            ("\n=1", "\"'\\n=1\""),
            (" =1", "\" '=1\""),
            ("\"=1", "\"\"\"'=1\""),
            ("a;=1", "\"a;'=1\""),
            ("a, =1", "\"a, '=1\""),
            ("a=b-c", "a=b-c"),
            ("a\u{1b}[2J\u{7}", "a\\u{1b}[2J\\u{7}"),
        ] {
            let field = [Field::Text(text)];
            assert_eq!(written(Reader::Spreadsheet, &field), format!("{expected}\n"), "{text:?}");
        }
    }

    #[test]
    fn programs_read_texts_as_they_are() {
        assert_eq!(written(Reader::Program, &[Field::Text("=1+1"), Field::Text("a\rb")]), "=1+1,\"a\rb\"\n");
    }

    #[test]
    fn lines_end_as_asked_for() {
        let mut out = Vec::new();
        Writer::with_crlf(&mut out, Reader::Program).header(["a", "b"]).unwrap();
        assert_eq!(out, b"a,b\r\n");
    }
}
