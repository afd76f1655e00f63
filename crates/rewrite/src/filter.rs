//! The classes to record: `--include` and `--exclude`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("bad glob {pattern:?}: {why}")]
pub struct BadGlob {
    pattern: String,
    why: String,
}

impl BadGlob {
    fn of(pattern: &str, error: &globset::Error) -> BadGlob {
        BadGlob { pattern: pattern.to_owned(), why: error.kind().to_string() }
    }
}

/// Include and exclude globs over internal class names.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Filter {
    /// Compiles globs. Without includes, everything is included. Dots in patterns stand for
    /// slashes.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self, BadGlob> {
        let include = if include.is_empty() { None } else { Some(compile(include)?) };
        Ok(Filter { include, exclude: compile(exclude)? })
    }

    /// Whether a class is recorded.
    pub fn records(&self, class: &[u8]) -> bool {
        let name = cct_classfile::mutf8::decode_lossy(class);
        self.include.as_ref().is_none_or(|set| set.is_match(&*name)) && !self.exclude.is_match(&*name)
    }
}

/// Splits a list of globs at its commas, except commas within braces.
pub fn separated(text: &str) -> Vec<String> {
    let (mut globs, mut depth) = (vec![String::new()], 0u32);
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        match globs.last_mut() {
            Some(last) if c != ',' || depth > 0 => last.push(c),
            _ => globs.push(String::new()),
        }
    }
    globs.retain(|glob| !glob.is_empty());
    globs
}

fn compile(patterns: &[String]) -> Result<GlobSet, BadGlob> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(&pattern.replace('.', "/")).literal_separator(true).build();
        set.add(glob.map_err(|e| BadGlob::of(pattern, &e))?);
    }
    set.build().map_err(|e| BadGlob::of(&patterns.join(","), &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_separated_by_commas() {
        assert_eq!(separated("a.**,b.{C,D}.*,"), ["a.**", "b.{C,D}.*"]);
        assert!(separated("").is_empty());
    }

    #[test]
    fn excludes_win_and_dots_are_slashes() {
        let owned = |p: &[&str]| p.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let filter = Filter::new(&owned(&["java.util.**"]), &owned(&["java/util/regex/*"])).unwrap();
        assert!(filter.records(b"java/util/HashMap"));
        assert!(filter.records(b"java/util/concurrent/Future"));
        assert!(!filter.records(b"java/util/regex/Pattern"));
        assert!(!filter.records(b"java/lang/String"));
        assert!(Filter::new(&[], &[]).unwrap().records(b"anything"));
    }
}
