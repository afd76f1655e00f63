//! Checks of classes against their originals that found something.

use crate::text::counted;

/// A check of transformed classes found something. That is a fault of this program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the check of {classes} classes against their originals found something, which is a fault of cctrewrite: {first} ({} in all)",
    counted(*.count as u64, "finding")
)]
pub struct CheckFailed {
    /// What was done to the classes: `marked` or `rewritten`.
    classes: &'static str,
    /// The first finding, with its location.
    first: String,
    /// Number of findings.
    count: usize,
}

impl CheckFailed {
    /// Fails if there are findings.
    ///
    /// # Errors
    /// The first finding, with the number of all.
    pub(crate) fn unless_empty(classes: &'static str, findings: &[String]) -> Result<(), CheckFailed> {
        match findings {
            [] => Ok(()),
            [first, ..] => Err(CheckFailed { classes, first: first.clone(), count: findings.len() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_finding_is_named_and_all_are_counted() {
        assert_eq!(CheckFailed::unless_empty("marked", &[]), Ok(()));
        let findings = ["A.m: stack".to_owned(), "B.m: frame".to_owned()];
        let message = CheckFailed::unless_empty("marked", &findings).unwrap_err().to_string();
        assert!(message.starts_with("the check of marked classes"), "{message}");
        assert!(message.ends_with("A.m: stack (2 findings in all)"), "{message}");
    }
}
