//! Checks of combinations of options.

use crate::choices::Choices;
use crate::options::{ChoiceOption, OPTIONS};
use crate::refusal::RefusedOptions;

impl ChoiceOption {
    fn refusal(&self, choices: &Choices) -> Option<String> {
        if !self.is_given(choices) {
            return None;
        }
        let refusal = self.refused.iter().find(|refusal| refusal.tool == choices.tool);
        let refused = refusal.map(|refusal| refusal.message(self.flag));
        refused.or_else(|| (self.conflict)(choices).map(str::to_owned))
    }
}

impl Choices {
    /// Fails if options cannot be combined.
    ///
    /// # Errors
    /// The first such option of [`OPTIONS`], with the option to omit.
    pub fn check(&self) -> Result<(), RefusedOptions> {
        match OPTIONS.iter().find_map(|row| row.refusal(self)) {
            None => Ok(()),
            Some(message) => Err(RefusedOptions::new(message)),
        }
    }

    /// Fails if options cannot be combined, or do not produce a profile, a trace or values.
    ///
    /// # Errors
    /// The errors of [`Choices::check`], and one for markers alone.
    pub fn check_recording(&self) -> Result<(), RefusedOptions> {
        if self.marks_alone() {
            let message = "--tool markers writes no profile; leave it out to record markers and a \
                 calling-context tree together";
            return Err(RefusedOptions::new(message.to_owned()));
        }
        self.check()
    }

    /// Fails if options cannot be combined, or if nothing is to be marked.
    ///
    /// # Errors
    /// The errors of [`Choices::check`], and one for neither rules nor properties.
    pub fn check_marking(&self) -> Result<(), RefusedOptions> {
        if !self.has_rules() {
            let message = "--tool markers needs rules: add --markers FILE.toml \
                           (docs/research/markers.md), or properties with --typestate \
                           (docs/research/typestate.md)";
            return Err(RefusedOptions::new(message.to_owned()));
        }
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use crate::choices::ToolName;
    use crate::tables::NO_FILES;
    use crate::word::NamedValues;

    /// Choices with one tool and one option whose value is not its default.
    fn with(tool: ToolName, row: &ChoiceOption) -> Choices {
        let mut choices = Choices { tool, ..Choices::default() };
        match row.access {
            Access::Switch { set, .. } => set(&mut choices),
            Access::OneOf { words, get, set } => {
                let other = words.len() - 1 - get(&choices);
                set(&mut choices, other);
            }
            Access::Table { set, .. } => {
                let given = ["precise", "jop"].iter().any(|name| set(&mut choices, name, NO_FILES).is_ok());
                assert!(given, "{}", row.flag);
            }
            Access::List { push, .. } => push(&mut choices, "a.B.m").unwrap(),
        }
        choices
    }

    #[test]
    fn each_refusal_names_the_option_and_what_to_leave_out() {
        for row in OPTIONS {
            for refusal in row.refused {
                let message = with(refusal.tool, row).check().unwrap_err().to_string();
                assert!(message.contains(&format!("--{}", row.flag)), "{message}");
                assert!(message.to_lowercase().contains("leave"), "{message}");
            }
        }
    }

    #[test]
    fn defaults_go_with_each_tool() {
        for &tool in ToolName::VALUES {
            assert_eq!(Choices { tool, ..Choices::default() }.check(), Ok(()));
        }
    }
}
