//! Comma-separated values (RFC 4180, with the line ends of Unix).

use std::io::{self, Write};

/// Writes a record. Fields are quoted where they must be.
pub fn record<'f>(out: &mut dyn Write, fields: impl IntoIterator<Item = &'f str>) -> io::Result<()> {
    for (at, field) in fields.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        if field.contains([',', '"', '\n', '\r']) {
            write!(out, "\"{}\"", field.replace('"', "\"\""))?;
        } else {
            out.write_all(field.as_bytes())?;
        }
    }
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_must_be() {
        let mut out = Vec::new();
        record(&mut out, ["1", "A.f(Ljava/lang/String,I)V", "a\"b", ""]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "1,\"A.f(Ljava/lang/String,I)V\",\"a\"\"b\",\n");
    }
}
