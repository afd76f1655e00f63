//! Manifests: reading and adding attributes of the main section, removing digests from the others
//! (JAR File Specification, "JAR Manifest" and "Signed JAR File").

use std::ops::Range;

/// The usual name of a jar's manifest.
pub const NAME: &str = "META-INF/MANIFEST.MF";

/// Maximum length of a line in bytes, without its end. "No line may be longer than 72 bytes";
/// `java.util.jar` includes the line end.
const LINE: usize = 70;

/// The value of an attribute of the main section; of several the last, as in
/// `java.util.jar.Attributes`.
pub fn main_attribute(manifest: &[u8], wanted: &str) -> Option<String> {
    let main = Sections { bytes: manifest, at: 0 }.next()?;
    let mut value = None;
    for attribute in (Attributes { bytes: &manifest[..main.end], at: 0 }) {
        let text = &manifest[attribute];
        if let Some(name) = name(text).filter(|name| name.eq_ignore_ascii_case(wanted.as_bytes())) {
            value = Some(unfolded(&text[name.len() + 1..]));
        }
    }
    value
}

/// A value without its line ends, the space that begins each continuation line, and the space after
/// the colon.
fn unfolded(mut text: &[u8]) -> String {
    let mut value = Vec::with_capacity(text.len());
    while !text.is_empty() {
        let (line, rest) = text.split_at(line_len(text));
        // The first line follows the colon and a space; every other one starts with the space of a
        // continuation.
        let line = line.strip_prefix(b" ").unwrap_or(line);
        value.extend(line.iter().filter(|&&byte| !matches!(byte, b'\n' | b'\r')));
        text = rest;
    }
    String::from_utf8_lossy(&value).into_owned()
}

/// The manifest with attributes added to its main section, replacing those of the same names.
/// Everything else stays. An empty manifest gets its version first, which it must have.
pub fn with_main_attributes(manifest: &[u8], new: &[(String, String)]) -> Vec<u8> {
    let main = Sections { bytes: manifest, at: 0 }.next().unwrap_or(0..0);
    let mut out = Vec::with_capacity(manifest.len() + 256);
    let mut rest = manifest[main.end..].to_vec();
    for attribute in (Attributes { bytes: &manifest[..main.end], at: 0 }) {
        let text = &manifest[attribute.clone()];
        if is_blank(text) {
            // The end of the section.
            rest = manifest[attribute.start..].to_vec();
            break;
        }
        let is_replaced = |name: &[u8]| new.iter().any(|(n, _)| name.eq_ignore_ascii_case(n.as_bytes()));
        if !name(text).is_some_and(is_replaced) {
            out.extend_from_slice(text);
        }
    }
    if out.is_empty() {
        out.extend_from_slice(b"Manifest-Version: 1.0\r\n");
    } else if !out.ends_with(b"\n") && !out.ends_with(b"\r") {
        out.extend_from_slice(b"\r\n");
    }
    for (name, value) in new {
        fold(&format!("{name}: {value}"), &mut out);
    }
    if rest.is_empty() {
        rest.extend_from_slice(b"\r\n");
    }
    out.append(&mut rest);
    out
}

/// Writes an attribute in lines of valid length, none of which ends within a character.
fn fold(attribute: &str, out: &mut Vec<u8>) {
    let mut length = 0;
    for c in attribute.chars().filter(|c| !matches!(c, '\n' | '\r' | '\0')) {
        if length + c.len_utf8() > LINE {
            out.extend_from_slice(b"\r\n ");
            length = 1;
        }
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        length += c.len_utf8();
    }
    out.extend_from_slice(b"\r\n");
}

/// A manifest without its digest attributes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct StrippedManifest {
    pub(crate) bytes: Vec<u8>,
    /// Number of removed attributes.
    pub(crate) digests: usize,
}

/// Removes the attributes `x-Digest` and `x-Digest-y` from all sections but the main one, and
/// sections with only a name left. All other bytes stay.
pub(crate) fn strip_digests(manifest: &[u8]) -> StrippedManifest {
    let mut sections = Sections { bytes: manifest, at: 0 };
    let main = sections.next().unwrap_or(0..0);
    let mut out = StrippedManifest { bytes: manifest[main].to_vec(), digests: 0 };
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

/// The length of the line at the start of `bytes`, with its end: CR LF, LF or CR, or the end of the
/// file.
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

/// Attributes of a section, each with its continuation lines. A value goes on after a line end and
/// a space; lines have at most 72 bytes. Blank lines are separate items.
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
    fn an_attribute_of_the_main_section_is_found() {
        let manifest =
            b"Manifest-Version: 1.0\r\nclass-path: lib/a.jar lib/very-\r\n long.jar  \r\n\r\nName: x\r\nOther: y\r\n\r\n";
        assert_eq!(main_attribute(manifest, "Class-Path").as_deref(), Some("lib/a.jar lib/very-long.jar  "));
        assert_eq!(main_attribute(manifest, "Other"), None);
        assert_eq!(main_attribute(b"A:b\nA: c", "a").as_deref(), Some("c"));
        assert_eq!(main_attribute(b"", "A"), None);
    }

    #[test]
    fn attributes_are_added_to_the_main_section() {
        let add = |manifest: &str, value: &str| {
            let out = with_main_attributes(manifest.as_bytes(), &[("Made-By".into(), value.into())]);
            assert_eq!(main_attribute(&out, "made-by").as_deref(), Some(value));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(add("", "x"), "Manifest-Version: 1.0\r\nMade-By: x\r\n\r\n");
        assert_eq!(
            add("A: 1\n continued\nMADE-BY: old\n er\nB: 2\n\nName: c\nMade-By: z\n", "x"),
            "A: 1\n continued\nB: 2\nMade-By: x\r\n\nName: c\nMade-By: z\n"
        );
        assert_eq!(add("A: 1", "x"), "A: 1\r\nMade-By: x\r\n\r\n");
        let long = add("A: 1\r\n\r\n", &"\u{e9}".repeat(100));
        assert!(long.lines().all(|line| line.len() <= LINE), "{long}");
    }

    #[test]
    fn whatever_stands_in_a_manifest_an_added_attribute_is_found() {
        arbtest::arbtest(|u| {
            let pieces = ["\r", "\n", "\r\n", " x", "A: b", "Name: c", ":", "Made: y", "\u{e9}"];
            let text: Vec<&str> =
                u.arbitrary_iter::<u8>()?.flatten().map(|i| pieces[i as usize % 9]).collect();
            let value: String = u.arbitrary::<String>()?.replace(['\n', '\r', '\0'], "");
            let out = with_main_attributes(text.concat().as_bytes(), &[("Made".into(), value.clone())]);
            assert_eq!(main_attribute(&out, "Made"), Some(value), "{:?}", text.concat());
            Ok(())
        });
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
