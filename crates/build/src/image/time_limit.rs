//! Time limits for an image whose JVM hangs.

use std::env::VarError;
use std::fmt;
use std::time::{Duration, Instant};

/// The environment variable with another limit.
const VARIABLE: &str = "CCTREWRITE_JVM_LIMIT";

/// The default in seconds. On an idle machine the slowest of these JVMs, which creates an archive
/// of classes, takes less than twenty.
const DEFAULT: u64 = 600;

/// Maximum number of such JVMs of an image: one that starts, and one for each archive.
const JVMS: u32 = 7;

/// A time limit in the environment that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadLimit {
    /// The variable is not Unicode.
    #[error("{VARIABLE}: {0}; give a number of seconds, or none")]
    NotUnicode(VarError),
    /// The variable is neither a number of seconds nor `none`.
    #[error("{VARIABLE}={0}: not a number of seconds, from 1, or none")]
    NotSeconds(String),
}

/// The time limit of a JVM of an image under construction, by a monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimit(Option<Duration>);

impl TimeLimit {
    /// How to change the limit, for messages.
    pub const HOW_TO_CHANGE: &str = "CCTREWRITE_JVM_LIMIT=SECONDS, or none";

    /// Polling interval of waits.
    pub const POLL: Duration = Duration::from_millis(20);

    /// The limit from `CCTREWRITE_JVM_LIMIT`, or the default of 600 seconds.
    ///
    /// # Errors
    /// Fails if the variable is neither a number of seconds nor `none`.
    pub fn of_environment() -> Result<TimeLimit, BadLimit> {
        match std::env::var(VARIABLE) {
            Ok(text) => TimeLimit::of(&text),
            Err(VarError::NotPresent) => TimeLimit::of(""),
            Err(error) => Err(BadLimit::NotUnicode(error)),
        }
    }

    /// Parses a limit; an empty text means the default.
    ///
    /// # Errors
    /// Fails if the text is neither a number of seconds nor `none`.
    pub fn of(text: &str) -> Result<TimeLimit, BadLimit> {
        let seconds = match text {
            "" => return Ok(TimeLimit::default()),
            "none" => return Ok(TimeLimit(None)),
            text => text
                .parse()
                .ok()
                .filter(|seconds| *seconds > 0)
                .ok_or_else(|| BadLimit::NotSeconds(text.to_owned()))?,
        };
        Ok(TimeLimit(Some(Duration::from_secs(seconds))))
    }

    /// The time limit of a wait for another process that builds an image: twice the time of all its
    /// JVMs, half of it for the rest.
    pub fn of_image(self) -> TimeLimit {
        TimeLimit(self.0.map(|limit| limit.saturating_mul(2 * JVMS)))
    }

    /// Whether the time since `started` exceeds the limit.
    pub fn is_exceeded_since(self, started: Instant) -> bool {
        self.0.is_some_and(|limit| started.elapsed() > limit)
    }
}

impl Default for TimeLimit {
    fn default() -> TimeLimit {
        TimeLimit(Some(Duration::from_secs(DEFAULT)))
    }
}

impl fmt::Display for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(limit) => write!(f, "{} s", limit.as_secs()),
            None => write!(f, "any time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_seconds_or_none() {
        let limit =
            |text| TimeLimit::of(text).map(|limit| limit.to_string()).map_err(|error| error.to_string());
        assert_eq!(limit(""), Ok("600 s".to_owned()));
        assert_eq!(limit("5"), Ok("5 s".to_owned()));
        assert_eq!(limit("none"), Ok("any time".to_owned()));
        for text in ["0", "-1", "1m", "1.5", " 1"] {
            assert!(
                limit(text).unwrap_err().contains(&format!("{VARIABLE}={text}: not a number of seconds"))
            );
        }
        assert_eq!(TimeLimit::of("5").unwrap().of_image().to_string(), "70 s");
    }

    #[test]
    fn nothing_exceeds_no_limit() {
        let long_ago = Instant::now() - Duration::from_secs(2);
        assert!(TimeLimit::of("1").unwrap().is_exceeded_since(long_ago));
        assert!(!TimeLimit::of("60").unwrap().is_exceeded_since(long_ago));
        for none in ["none", "18446744073709551615"] {
            assert!(!TimeLimit::of(none).unwrap().is_exceeded_since(long_ago));
            assert!(!TimeLimit::of(none).unwrap().of_image().is_exceeded_since(long_ago));
        }
    }
}
