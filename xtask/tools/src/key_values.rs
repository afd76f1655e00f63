//! Files of lines with keys and values.

/// The value of `key` in lines of the form `KEY="value"` or `KEY=value`, as in a JDK's `release`
/// and in `os-release`.
pub fn entry<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let value = line.trim().strip_prefix(key)?.strip_prefix('=')?;
        Some(value.trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_removed() {
        let release = "IMPLEMENTOR=\"Debian\"\nJAVA_VERSION_DATE=\"2025-04-15\"\nJAVA_VERSION=\"17.0.15\"\n";
        assert_eq!(entry(release, "JAVA_VERSION"), Some("17.0.15"));
        assert_eq!(entry(release, "IMPLEMENTOR"), Some("Debian"));
        assert_eq!(entry(release, "JAVA"), None);
        assert_eq!(entry("ID=debian\nVERSION_CODENAME=bookworm\n", "VERSION_CODENAME"), Some("bookworm"));
    }
}
