//! Differences with known causes.

use super::link::{Difference, MISSING};

/// The verifier loads the classes that it needs, method by method. The order depends on addresses
/// of names in memory; it reports the first missing one.
const ANOTHER_IS_MISSING: &str = "several classes are not there, and the verifier names the first that it looks for: its order of methods follows from addresses in memory";

/// The cause of a difference, if known. `exists` says whether a class is among the jars.
pub fn cause(difference: &Difference, exists: impl Fn(&str) -> bool) -> Option<&'static str> {
    let missing = |end: &str| {
        let name = end.strip_prefix(MISSING)?.strip_prefix(": ")?;
        // With a space it is another complaint, such as about a name in different case.
        let is_name = !name.contains(' ');
        is_name.then(|| name.replace('/', "."))
    };
    let both = (missing(&difference.before)?, missing(&difference.now)?);
    (!exists(&both.0) && !exists(&both.1)).then_some(ANOTHER_IS_MISSING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_class_that_is_not_there_may_be_named_and_no_other() {
        let difference = |before: &str, now: &str| Difference {
            place: "a.jar: A".to_owned(),
            before: before.to_owned(),
            now: now.to_owned(),
        };
        let (one, two) = (format!("{MISSING}: x/One"), format!("{MISSING}: x/Two"));
        assert!(cause(&difference(&one, &two), |_| false).is_some());
        assert_eq!(cause(&difference(&one, &two), |name| name == "x.Two"), None);
        assert_eq!(cause(&difference("linked", &two), |_| false), None);
        assert_eq!(cause(&difference(&one, "linked"), |_| false), None);
        assert_eq!(cause(&difference(&one, "java.lang.VerifyError: x"), |_| false), None);
    }
}
