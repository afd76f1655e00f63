//! Arguments about running JVMs: which one, and how often.

use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// A running JVM, as the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JvmArgument {
    /// By its process id.
    Process(u32),
    /// By its main class or jar.
    Name(String),
}

impl FromStr for JvmArgument {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<JvmArgument> {
        ensure!(!text.is_empty(), "a process id or a name is missing");
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(JvmArgument::Process(text.parse().context("no process has this id")?));
        }
        Ok(JvmArgument::Name(text.to_owned()))
    }
}

/// The time between two looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period(Duration);

impl Period {
    /// The longest period: a day.
    const LONGEST: Duration = Duration::from_secs(86_400);

    /// Sleeps until a period after `last`, or not at all if that is past. Returns when this look
    /// is due.
    pub fn sleep_until_next(self, last: Instant) -> Instant {
        let now = Instant::now();
        let due = (last + self.0).max(now);
        thread::sleep(due - now);
        due
    }
}

impl FromStr for Period {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Period> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let milliseconds = match unit {
            "ms" => 1,
            "" | "s" => 1_000,
            "m" => 60_000,
            _ => anyhow::bail!("expected a number and ms, s or m, such as 10s"),
        };
        let number: u64 = number.parse().context("expected a number and ms, s or m, such as 10s")?;
        let period = Duration::from_millis(number.saturating_mul(milliseconds));
        ensure!(!period.is_zero() && period <= Period::LONGEST, "expected 1ms to 1440m");
        Ok(Period(period))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_have_units() {
        let of = |text: &str| text.parse::<Period>().ok().map(|period| period.0.as_millis());
        assert_eq!(
            (of("500ms"), of("10s"), of("2m"), of("3")),
            (Some(500), Some(10_000), Some(120_000), Some(3_000))
        );
        for wrong in
            ["", "s", "0s", "-1s", "1h", "1.5s", "2000m", "99999999999999999999s", "18446744073709551615m"]
        {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn jvms_have_numbers_or_names() {
        let of = |text: &str| text.parse::<JvmArgument>().ok();
        assert_eq!(of("4711"), Some(JvmArgument::Process(4711)));
        assert_eq!(of("com.acme.Main2"), Some(JvmArgument::Name("com.acme.Main2".to_owned())));
        assert_eq!((of(""), of("99999999999")), (None, None));
    }
}
