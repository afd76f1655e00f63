//! Patterns: globs over names with slashes or dots, and over texts with neither.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// A glob over class names, or over a class and a member of it.
#[derive(Debug, Clone)]
pub(crate) struct NamePattern(GlobSet);

impl NamePattern {
    /// Compiles a glob. Dots stand for slashes, `*` for text without a slash, `**` for anything.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        // An array's brackets are not a set of characters.
        let text = text.replace('.', "/").replace("[]", "\\[\\]");
        let glob = GlobBuilder::new(&text).literal_separator(true).backslash_escape(true).build();
        // A set of one: unlike a single matcher, it reports why a glob that is too deep or too long
        // cannot be compiled.
        let set = glob.and_then(|glob| GlobSetBuilder::new().add(glob).build());
        set.map(NamePattern).map_err(|e| e.kind().to_string())
    }

    pub(crate) fn matches(&self, name: &[u8]) -> bool {
        self.0.is_match(&*cct_classfile::mutf8::decode_lossy(name))
    }
}

/// Whether a text matches a pattern in which `*` stands for anything; for descriptors and method
/// names.
pub(crate) fn matches(pattern: &str, text: &[u8]) -> bool {
    let mut parts = pattern.as_bytes().split(|&b| b == b'*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let parts: Vec<&[u8]> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let at = (0..=rest.len()).find(|&at| rest[at..].starts_with(part));
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_anything() {
        for (pattern, text, expected) in [
            ("next", "next", true),
            ("next", "nextInt", false),
            ("next*", "nextInt", true),
            ("*", "", true),
            ("(*)V", "([Ljava/lang/String;)V", true),
            ("(*)V", "()I", false),
            ("a*b*a", "aba", true),
            ("a*b*a", "aa", false),
            ("ab*ba", "aba", false),
        ] {
            assert_eq!(matches(pattern, text.as_bytes()), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_glob_too_deep_for_a_matcher_is_refused() {
        assert!(NamePattern::new(&format!("{}m{}", "{".repeat(1000), "}".repeat(1000))).is_err());
        assert!(NamePattern::new(&"{?,??}".repeat(200_000)).is_err());
    }

    #[test]
    fn names_have_dots_or_slashes_and_brackets() {
        let is = |pattern: &str, name: &str| NamePattern::new(pattern).unwrap().matches(name.as_bytes());
        assert!(is("com.acme.**", "com/acme/a/B") && is("com/acme/*", "com/acme/B"));
        assert!(!is("com.acme.*", "com/acme/a/B"));
        assert!(is("java.io.*.close", "java/io/Reader/close"));
        assert!(
            is("java.lang.String[]", "java/lang/String[]") && is("int[]", "int[]") && !is("int[]", "int")
        );
        assert!(NamePattern::new("a{").is_err());
    }
}
