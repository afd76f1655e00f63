//! Taking digests out of a manifest (JAR File Specification, "JAR Manifest" and "Signed JAR File").

use std::ops::Range;

/// A manifest without its digest attributes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stripped {
    pub(super) bytes: Vec<u8>,
    /// How many attributes were removed.
    pub(super) digests: usize,
}

/// Removes the attributes `x-Digest` and `x-Digest-y` from all sections but the main one, and the sections that have
/// nothing but their name left. All other bytes stay.
pub(super) fn strip_digests(manifest: &[u8]) -> Stripped {
    let mut sections = Sections { bytes: manifest, at: 0 };
    let main = sections.next().unwrap_or(0..0);
    let mut out = Stripped { bytes: manifest[main].to_vec(), digests: 0 };
    for section in sections {
        let mut kept = Vec::with_capacity(section.len());
        let (mut digests, mut others) = (0, 0);
        for attribute in (Attributes { bytes: &manifest[section.clone()], at: 0 }) {
            let text = &manifest[section.start + attribute.start..section.start + attribute.end];
            match name(text) {
                Some(name) if is_digest(name) => {
                    digests += 1;
                    continue;
                }
                Some(name) if !name.eq_ignore_ascii_case(b"Name") => others += 1,
                _ => {}
            }
            kept.extend_from_slice(text);
        }
        out.digests += digests;
        if digests == 0 || others > 0 {
            out.bytes.extend_from_slice(&kept);
        }
    }
    out
}

/// The length of the line at the start of `bytes`, with its end: CR LF, LF or CR, or the end of the file.
fn line_len(bytes: &[u8]) -> usize {
    match bytes.iter().position(|&byte| byte == b'\n' || byte == b'\r') {
        Some(end) if bytes[end..].starts_with(b"\r\n") => end + 2,
        Some(end) => end + 1,
        None => bytes.len(),
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b'\n' || byte == b'\r')
}

/// Sections, each with the blank lines that follow it.
struct Sections<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Sections<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let mut ended = false;
        while self.at < self.bytes.len() {
            let len = line_len(&self.bytes[self.at..]);
            let blank = is_blank(&self.bytes[self.at..self.at + len]);
            if ended && !blank {
                break;
            }
            ended |= blank;
            self.at += len;
        }
        (start < self.at).then_some(start..self.at)
    }
}

/// Attributes of a section, each with its continuation lines (a value goes on after a line end and a space; lines
/// have at most 72 bytes). Blank lines come as items of their own.
struct Attributes<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Attributes<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        if start == self.bytes.len() {
            return None;
        }
        let len = line_len(&self.bytes[start..]);
        self.at += len;
        if !is_blank(&self.bytes[start..self.at]) {
            while self.bytes.get(self.at) == Some(&b' ') {
                self.at += line_len(&self.bytes[self.at..]);
            }
        }
        Some(start..self.at)
    }
}

/// An attribute's name. Names are never continued: they have at most 70 bytes.
fn name(attribute: &[u8]) -> Option<&[u8]> {
    attribute.iter().position(|&byte| byte == b':').map(|end| &attribute[..end])
}

/// `x-Digest`, or `x-Digest-y` with a language y; in any case.
fn is_digest(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    lower.ends_with(b"-digest") || lower.windows(8).any(|part| part == b"-digest-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(manifest: &str) -> (String, usize) {
        let stripped = strip_digests(manifest.as_bytes());
        (String::from_utf8(stripped.bytes).unwrap(), stripped.digests)
    }

    #[test]
    fn digests_go_and_everything_else_stays() {
        let main = "Manifest-Version: 1.0\r\nSHA-256-Digest: in the main section\r\nClass-Path: a.jar very-long-\r\n  b\r\n\r\n";
        let plain = "Name: com/\r\nSealed: true\r\n\r\n";
        let only_name = "Name: kept/as/it/was.class\r\n\r\n";
        let digest = "SHA-256-Digest: 0123456789012345678901234567890123456789012345678901234\r\n 5678=\r\n";
        let localised = "MD5-Digest-de: x\r\n";
        assert_eq!(
            strip(&format!(
                "{main}Name: a/B.class\r\n{digest}\r\n{plain}{only_name}Name: c/\r\n{digest}Sealed: \r\n true\r\n{localised}\r\n"
            )),
            (format!("{main}{plain}{only_name}Name: c/\r\nSealed: \r\n true\r\n\r\n"), 3)
        );
    }

    #[test]
    fn names_are_compared_in_any_case_and_whole() {
        let (out, digests) =
            strip("A: 1\n\nname: x\nsha1-DIGEST: y\n\nName: z\nDigest-Algorithm: q\nDigest: 1\n\n");
        assert_eq!((out.as_str(), digests), ("A: 1\n\nName: z\nDigest-Algorithm: q\nDigest: 1\n\n", 1));
    }

    #[test]
    fn continued_names_and_unusual_line_ends() {
        assert_eq!(
            strip("A: 1\r\rName: very/\r long\rSHA1-Digest: x\r y\r\rName: b\rC: d\r"),
            ("A: 1\r\rName: b\rC: d\r".into(), 1)
        );
        assert_eq!(strip("A: 1\n\n\n\nName: a\nSHA1-Digest: x"), ("A: 1\n\n\n\n".into(), 1));
        assert_eq!(strip(""), (String::new(), 0));
        assert_eq!(strip("\n\n"), ("\n\n".into(), 0));
        assert_eq!(strip("A: 1"), ("A: 1".into(), 0));
    }

    #[test]
    fn any_bytes_without_digests_come_back_as_they_are() {
        arbtest::arbtest(|u| {
            let lines: Vec<&str> = u
                .arbitrary_iter::<u8>()?
                .flatten()
                .map(|i| ["\r", "\n", "\r\n", " x", "A: b", "Name: c", ":"][i as usize % 7])
                .collect();
            let text = lines.concat();
            assert_eq!(strip(&text), (text, 0));
            Ok(())
        });
    }
}
