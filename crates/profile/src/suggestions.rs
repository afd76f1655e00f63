//! Suggests names that are similar to one that was not found.

use std::collections::BTreeSet;
use std::fmt;

/// Maximum number of suggested names.
const MAX: usize = 3;

/// Maximum number of edits per 100 characters of the given name.
const EDITS: usize = 34;

/// The names that a user may have meant. They are displayed as the end of a sentence,
/// `; did you mean a or b?`. Without names nothing is displayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    names: Vec<String>,
    /// Whether a shell may have taken a part with `$` out of what was given.
    lacks_quotes: bool,
}

impl Suggestions {
    /// The names that are closest to a pattern. A pattern of two parts, such as `LruCache.get`, is
    /// compared with the last two parts of each name. Case, `*`, `@` and descriptors are ignored.
    pub fn of<'a>(given: &str, names: impl IntoIterator<Item = &'a str>) -> Suggestions {
        let wanted = simplified(given);
        let parts = wanted.split(SEPARATORS).count();
        let names: BTreeSet<&str> = names.into_iter().map(without_descriptor).collect();
        let edits_of = |name: &str| strsim::damerau_levenshtein(&wanted, &simplified(end(name, parts)));
        // A shell takes `$Inner` out of `"Outer$Inner.run"`.
        let edits = |name: &str| edits_of(name).min(edits_of(&without_nested(name)));
        let most = wanted.chars().count() * EDITS / 100;
        let close = names.into_iter().map(|name| (edits(name), name)).filter(|(edits, _)| *edits <= most);
        let close: Vec<(usize, &str)> = close.collect();
        let least = close.iter().map(|(edits, _)| *edits).min();
        let close = close.into_iter().filter(|(edits, _)| Some(*edits) == least);
        let names: Vec<String> = close.take(MAX).map(|(_, name)| name.to_owned()).collect();
        let lacks_quotes = !given.contains('$') && names.iter().any(|name| name.contains('$'));
        Suggestions { names, lacks_quotes }
    }
}

impl fmt::Display for Suggestions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.names {
            [] => return Ok(()),
            [one] => write!(f, "; did you mean {one}?"),
            [several @ .., last] => write!(f, "; did you mean {} or {last}?", several.join(", ")),
        }?;
        if self.lacks_quotes {
            f.write_str(" (in a shell, put names with $ in single quotes)")
        } else {
            Ok(())
        }
    }
}

/// Separators between the parts of a name.
const SEPARATORS: [char; 3] = ['.', '/', '$'];

fn without_descriptor(name: &str) -> &str {
    name.split_once('(').map_or(name, |(name, _)| name)
}

/// A method's name without the nested part of its class.
fn without_nested(name: &str) -> String {
    match (name.find('$'), name.rfind('.')) {
        (Some(nested), Some(method)) if nested < method => [&name[..nested], &name[method..]].concat(),
        _ => name.to_owned(),
    }
}

fn simplified(name: &str) -> String {
    let name = without_descriptor(name).replace(['*', '@'], "").replace('/', ".");
    name.to_lowercase()
}

/// The last `parts` parts of a name.
fn end(name: &str, parts: usize) -> &str {
    let mut separators = name.rmatch_indices(SEPARATORS);
    separators.nth(parts.saturating_sub(1)).map_or(name, |(at, _)| &name[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = [
        "com.acme.LruCache.get(Ljava/lang/Object,)Ljava/lang/Object,",
        "com.acme.LruCache.put(I)V",
        "com.acme.LruCache.put(J)V",
        "com.acme.Outer$Inner.run()V",
        "java.util.HashMap.get(I)I",
    ];

    fn suggested(given: &str) -> String {
        Suggestions::of(given, NAMES).to_string()
    }

    #[test]
    fn close_names_are_suggested_and_others_not() {
        assert_eq!(suggested("LruCach.get"), "; did you mean com.acme.LruCache.get?");
        assert_eq!(
            suggested("lrucache.gut"),
            "; did you mean com.acme.LruCache.get or com.acme.LruCache.put?"
        );
        assert_eq!(suggested("com.acme.Outer$Iner.run()V"), "; did you mean com.acme.Outer$Inner.run?");
        assert_eq!(suggested("com/acme/LruCache.gett"), "; did you mean com.acme.LruCache.get?");
        assert_eq!(suggested("org.other.Thing.doIt"), "");
        assert_eq!(suggested("*"), "");
        assert_eq!(suggested(""), "");
    }

    #[test]
    fn a_part_that_a_shell_took_out_is_suggested_with_quotes() {
        let suggested = Suggestions::of("com.acme.Outer.run", NAMES).to_string();
        let expected =
            "; did you mean com.acme.Outer$Inner.run? (in a shell, put names with $ in single quotes)";
        assert_eq!(suggested, expected);
    }
}
