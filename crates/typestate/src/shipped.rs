//! Built-in properties.

/// Built-in files by name.
const FILES: &[(&str, &str)] = &[
    ("connection", include_str!("../properties/connection.toml")),
    ("file-api", include_str!("../properties/file-api.toml")),
    ("iterator", include_str!("../properties/iterator.toml")),
    ("iterator-of-collection", include_str!("../properties/iterator-of-collection.toml")),
    ("iterator-once", include_str!("../properties/iterator-once.toml")),
    ("lock", include_str!("../properties/lock.toml")),
    ("streams", include_str!("../properties/streams.toml")),
];

/// The text of a built-in file.
pub fn text(name: &str) -> Option<&'static str> {
    FILES.iter().find(|(n, _)| *n == name).map(|(_, text)| *text)
}

/// The names of the built-in files.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_properties_are_valid() {
        let mut all = Vec::new();
        for name in names() {
            let properties =
                crate::file::parse(text(name).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(!properties.is_empty(), "{name}");
            all.extend(properties.into_iter().map(|property| property.name));
        }
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count, "two of one name");
        let page = include_str!("../../../docs/research/typestate.md");
        for name in all {
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/research/typestate.md does not explain {name}"
            );
        }
    }
}
