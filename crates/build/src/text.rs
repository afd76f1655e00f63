//! Names from class files, paths and errors as text for people.

use std::error::Error;
use std::iter::successors;
use std::path::Path;

/// An error and its causes in one line, as the command prints failures.
pub fn with_causes(error: &dyn Error) -> String {
    let causes = successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |line, cause| format!("{line}: {cause}"))
}

/// Modified UTF-8 as text that cannot harm a terminal.
pub fn readable(bytes: &[u8]) -> String {
    harmless(&cct_classfile::mutf8::decode_lossy(bytes))
}

pub use cct_profile::escape::terminal as harmless;

/// What a program said, line by line, as text that cannot harm a terminal.
pub fn readable_lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(|line| harmless(&line.replace('\t', "    "))).collect::<Vec<_>>().join("\n")
}

/// A size for people: `412 MB`, `10.4 GB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes.div_ceil(1_000_000)),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// A number of things: `1 block`, `2 blocks`, with thousands separators.
pub fn counted(n: u64, thing: &str) -> String {
    cct_profile::report::counted(u128::from(n), thing)
}

/// A string constant of a class file, in quotes, as text that cannot harm a terminal.
pub fn string_constant(bytes: &[u8]) -> String {
    let text = cct_classfile::mutf8::decode_lossy(bytes);
    let escaped: String =
        text.chars().map(|c| if c == '"' || c == '\\' { format!("\\{c}") } else { c.to_string() }).collect();
    format!("\"{}\"", readable(escaped.as_bytes()))
}

/// A path as one word of a POSIX shell.
pub fn shell_word(path: &Path) -> String {
    shell_quoted(path.display().to_string(), |c| c.is_alphanumeric() || "/._-+:,@".contains(c))
}

/// An option as one word of a POSIX shell.
pub fn shell_option(option: &str) -> String {
    shell_quoted(option.to_owned(), |c| c.is_ascii_alphanumeric() || "-_+=:,./@%".contains(c))
}

/// Quotes a text unless all its characters are plain.
fn shell_quoted(text: String, is_plain: impl Fn(char) -> bool) -> String {
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_error::Operation;
    use crate::image::home::{HomeError, UnsupportedJdk};

    #[test]
    fn causes_follow_their_error() {
        let missing = || std::io::Error::other("disk is gone");
        let inner = Operation::Read.failed_on(Path::new("jre/lib"))(missing());
        let middle = UnsupportedJdk::from(inner);
        let outer = HomeError::Unsupported { path: "jdk".into(), source: middle };
        assert_eq!(with_causes(&outer), "jdk: cannot read jre/lib: disk is gone");
        assert_eq!(with_causes(&missing()), "disk is gone");
    }

    #[test]
    fn paths_are_quoted_for_shells() {
        assert_eq!(shell_word(Path::new("a/b.cct")), "a/b.cct");
        assert_eq!(shell_word(Path::new("it's here")), r"'it'\''s here'");
    }

    #[test]
    fn options_are_quoted_for_shells() {
        assert_eq!(shell_option("-Xbootclasspath/p:/a/b-1.jar:/c"), "-Xbootclasspath/p:/a/b-1.jar:/c");
        assert_eq!(shell_option("-X:/my jars/it's"), r"'-X:/my jars/it'\''s'");
        assert_eq!(shell_option("-X:$HOME"), "'-X:$HOME'");
    }

    #[test]
    fn one_is_no_plural() {
        let texts = [counted(0, "call"), counted(1, "class"), counted(1234, "class")];
        assert_eq!(texts, ["0 calls", "1 class", "1,234 classes"]);
    }

    #[test]
    fn nothing_reaches_the_terminal_unescaped() {
        assert_eq!(readable(b"java/lang/String"), "java/lang/String");
        assert_eq!(readable("a\u{1b}[2J\u{202e}é".as_bytes()), "a\\u{1b}[2J\\u{202e}é");
        assert_eq!(string_constant(b"a\n\"b\\"), r#""a\n\"b\\""#);
        assert_eq!(harmless("a\r\nb\u{9b}m \u{1F600}"), "a\\r\\nb\\u{9b}m \u{1F600}");
    }
}
