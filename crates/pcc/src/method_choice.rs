//! The user's choice of methods: those at whose entry values are recorded (`--pcc-at`), and those
//! that take part in values (`--pcc-only`).

use std::fmt;
use std::sync::Mutex;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Maximum number of patterns, of both kinds together: each method of a program is compared with
/// all, and each takes memory.
const MOST: usize = 4096;

/// Maximum number of shown characters of a pattern.
const SHOWN: usize = 200;

/// An invalid pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{pattern:?} is not a pattern of methods: {why}; expected a class and a method, as in \
     com.acme.Main.run, com.acme.**.* or com.acme.Main.run(I)V"
)]
pub struct BadPattern {
    pattern: String,
    why: String,
}

impl BadPattern {
    fn new(text: &str, why: &str) -> BadPattern {
        let mut pattern: String = text.chars().take(SHOWN).collect();
        if pattern.len() < text.len() {
            pattern.push_str("...");
        }
        BadPattern { pattern, why: why.to_owned() }
    }
}

/// A pattern of methods: a glob over class names, as for `--include`, a dot, a glob over method
/// names, and optionally a descriptor.
#[derive(Clone)]
pub struct MethodPattern {
    text: String,
    class: GlobSet,
    name: GlobSet,
    descriptor: Option<String>,
}

impl MethodPattern {
    /// `java.util.HashMap.put`, `java/util/*Map.put`, `com.acme.**.*`, `com.acme.Main.run(I)V`.
    pub fn parse(text: &str) -> Result<MethodPattern, BadPattern> {
        let bad = |why: &str| BadPattern::new(text, why);
        let (head, descriptor) = match text.find('(') {
            Some(at) => (&text[..at], Some(text[at..].to_owned())),
            None => (text, None),
        };
        // Patterns are kept in lines, separated by spaces.
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(bad("it has a space"));
        }
        let (class, name) = head.rsplit_once('.').ok_or_else(|| bad("it has no dot before a method"))?;
        if class.is_empty() || name.is_empty() || name.contains('/') {
            return Err(bad("it has no class or no method"));
        }
        let compile = |glob: &str| {
            // A set of one glob: unlike a single matcher it reports an error for a glob that is too
            // deep or too long.
            let glob = GlobBuilder::new(glob).literal_separator(true).build();
            let set = glob.and_then(|glob| GlobSetBuilder::new().add(glob).build());
            set.map_err(|e| bad(&e.kind().to_string()))
        };
        let class = compile(&class.replace('.', "/"))?;
        Ok(MethodPattern { text: text.to_owned(), class, name: compile(name)?, descriptor })
    }

    /// The text as given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it matches a method: by its class's name with slashes, its name and its descriptor.
    pub fn matches(&self, class: &str, name: &str, descriptor: &str) -> bool {
        self.descriptor.as_deref().is_none_or(|d| d == descriptor)
            && self.name.is_match(name)
            && self.class.is_match(class)
    }

    /// Whether it may match methods of a class.
    pub fn may_match(&self, class: &str) -> bool {
        self.class.is_match(class)
    }
}

impl PartialEq for MethodPattern {
    fn eq(&self, other: &MethodPattern) -> bool {
        self.text == other.text
    }
}

impl Eq for MethodPattern {}

impl fmt::Debug for MethodPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.text)
    }
}

/// The user's choice of methods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodChoice {
    /// Methods at whose entry values are recorded.
    pub at: Vec<MethodPattern>,
    /// Methods that take part in values; all methods if empty. Others pass on the value that they
    /// got.
    pub only: Vec<MethodPattern>,
}

impl MethodChoice {
    /// Parses both lists of patterns.
    pub fn parse<'t>(
        at: impl IntoIterator<Item = &'t str>,
        only: impl IntoIterator<Item = &'t str>,
    ) -> Result<MethodChoice, BadPattern> {
        let mut known = 0;
        let mut parse = |text| {
            known += 1;
            if known > MOST {
                Err(BadPattern::new(text, &format!("{MOST} patterns is the limit, and this is one more")))
            } else {
                MethodPattern::parse(text)
            }
        };
        Ok(MethodChoice {
            at: at.into_iter().map(&mut parse).collect::<Result<_, _>>()?,
            only: only.into_iter().map(&mut parse).collect::<Result<_, _>>()?,
        })
    }

    /// Whether values are recorded at a method's entry.
    pub fn records_at(&self, class: &str, name: &str, descriptor: &str) -> bool {
        self.at.iter().any(|pattern| pattern.matches(class, name, descriptor))
    }

    /// Whether a method's calls change values.
    pub fn takes_part(&self, class: &str, name: &str, descriptor: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|pattern| pattern.matches(class, name, descriptor))
    }

    /// Keeps the choice as long as the process lives; equal choices share one.
    pub fn interned(self) -> &'static MethodChoice {
        static ALL: Mutex<Vec<&'static MethodChoice>> = Mutex::new(Vec::new());
        let mut all = ALL.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match all.iter().find(|chosen| ***chosen == self) {
            Some(chosen) => chosen,
            None => {
                let chosen: &'static MethodChoice = Box::leak(Box::new(self));
                all.push(chosen);
                chosen
            }
        }
    }
}

/// Patterns in one line, which [`separated`] splits.
pub fn joined(patterns: &[MethodPattern]) -> String {
    patterns.iter().map(MethodPattern::text).collect::<Vec<_>>().join(" ")
}

/// The texts of patterns in a line.
pub fn separated(line: &str) -> impl Iterator<Item = &str> {
    line.split(' ').filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, class: &str, name: &str, descriptor: &str) -> bool {
        MethodPattern::parse(pattern).unwrap().matches(class, name, descriptor)
    }

    #[test]
    fn classes_and_methods_are_globs_and_descriptors_are_not() {
        for pattern in
            ["a.b.C.m", "a/b/C.m", "a.**.m", "**.m", "a.b.*.*", "a.b.C.m(I)V", "a.b.{C,D}.m", "a.b.C.[mn]"]
        {
            assert!(matches(pattern, "a/b/C", "m", "(I)V"), "{pattern}");
        }
        for pattern in ["a.b.D.m", "a.*.m", "a.b.C.n", "a.b.C.m(J)V", "b.C.m"] {
            assert!(!matches(pattern, "a/b/C", "m", "(I)V"), "{pattern}");
        }
        assert!(matches("C.<init>", "C", "<init>", "()V"));
        assert!(matches("C$1.lambda$m$0", "C$1", "lambda$m$0", "()V"));
    }

    #[test]
    fn patterns_without_a_method_are_refused() {
        for text in ["", "m", ".m", "C.", "a.b/m", "C.m n", "C.[m", "C.m\n"] {
            assert!(MethodPattern::parse(text).is_err(), "{text:?}");
        }
    }

    /// Well-formed globs for which no matcher can be built: too deep, too long. Files of values
    /// contain patterns, too.
    #[test]
    fn invalid_globs_are_refused() {
        let deep = format!("C.{}m{}", "{".repeat(1000), "}".repeat(1000));
        let long = format!("{}.m", "{?,??}".repeat(200_000));
        for text in [deep, long] {
            let error = MethodPattern::parse(&text).unwrap_err().to_string();
            assert!(error.len() < 1000, "{} characters", error.len());
        }
    }

    #[test]
    fn more_patterns_than_anyone_writes_are_refused() {
        let (half, one) = (["C.m"; MOST / 2], ["D.n"]);
        assert!(MethodChoice::parse(half, half).is_ok());
        let error = MethodChoice::parse(half, half.into_iter().chain(one)).unwrap_err().to_string();
        assert!(
            error.starts_with("\"D.n\" is not a pattern of methods: 4096 patterns is the limit"),
            "{error}"
        );
    }

    #[test]
    fn without_a_choice_all_methods_take_part_and_none_is_recorded_at() {
        let all = MethodChoice::default();
        assert!(all.takes_part("C", "m", "()V") && !all.records_at("C", "m", "()V"));
        let some = MethodChoice::parse(["C.m"], ["D.*"]).unwrap();
        assert!(some.records_at("C", "m", "()V") && !some.takes_part("C", "m", "()V"));
        assert!(some.takes_part("D", "x", "()V"));
    }

    #[test]
    fn choices_come_back_from_their_lines_and_have_one_place() {
        let chosen = MethodChoice::parse(["a.{B,C}.m", "D.n(I)V"], ["a.**.*"]).unwrap();
        let (at, only) = (joined(&chosen.at), joined(&chosen.only));
        assert_eq!(MethodChoice::parse(separated(&at), separated(&only)).unwrap(), chosen);
        assert!(std::ptr::eq(chosen.clone().interned(), chosen.interned()));
        assert_eq!(separated("").count(), 0);
    }
}
