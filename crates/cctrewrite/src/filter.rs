//! Which classes are recorded: `--include` and `--exclude`.

use anyhow::{Context, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Include and exclude globs over internal class names.
#[derive(Debug, Clone)]
pub struct Filter {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Filter {
    /// Compiles globs. Without includes everything is included. Dots in patterns stand for slashes.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self> {
        let include = if include.is_empty() { None } else { Some(compile(include)?) };
        Ok(Filter { include, exclude: compile(exclude)? })
    }

    /// Whether a class is recorded.
    pub fn records(&self, class: &[u8]) -> bool {
        let name = cct_classfile::mutf8::decode_lossy(class);
        self.include.as_ref().is_none_or(|set| set.is_match(&*name)) && !self.exclude.is_match(&*name)
    }
}

fn compile(patterns: &[String]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(&pattern.replace('.', "/"))
            .literal_separator(true)
            .build()
            .with_context(|| format!("bad glob {pattern:?}"))?;
        set.add(glob);
    }
    Ok(set.build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

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
