//! The time of all files in packages. It is the time of the sources, so the same sources give the
//! same packages.

use std::env;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use xtask_tools::process;
use xtask_tools::workspace::root;

/// The environment variable that sets the time (reproducible-builds.org).
pub const VARIABLE: &str = "SOURCE_DATE_EPOCH";

/// The time that `.cargo/config.toml` sets for compilers unless the user sets one: 1980. lintian
/// calls earlier files ancient.
pub const OF_COMPILERS: u64 = 315_532_800;

/// Seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceDate(u64);

impl SourceDate {
    /// `SOURCE_DATE_EPOCH`, else the time of the last commit.
    ///
    /// # Errors
    /// Fails if the variable is not a number, or if there is neither variable nor commit.
    pub fn get() -> Result<SourceDate> {
        if let Some(given) = env::var_os(VARIABLE) {
            let given = given.to_string_lossy();
            let seconds = given.parse().with_context(|| format!("{VARIABLE}={given}: not a number"))?;
            if seconds != OF_COMPILERS {
                return Ok(SourceDate(seconds));
            }
        }
        let mut git = Command::new("git");
        git.current_dir(root()).args(["log", "-1", "--format=%ct"]);
        let text =
            process::output(&mut git).with_context(|| format!("no time of the sources; set {VARIABLE}"))?;
        let seconds = text.trim().parse().context("git log: a time expected")?;
        ensure!(seconds > OF_COMPILERS, "the last commit is from before 1980; set {VARIABLE}");
        Ok(SourceDate(seconds))
    }

    /// Seconds since 1970.
    pub fn seconds(self) -> u64 {
        self.0
    }

    /// The date as in RFC 3339, in UTC: `2026-11-26T21:01:15Z`.
    pub fn rfc_3339(self) -> String {
        let (days, seconds) = (self.0 / 86_400, self.0 % 86_400);
        let Civil { year, month, day } = Civil::of_days(days);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// The date as in RFC 5322, in UTC, for Debian's changelog: `Thu, 26 Nov 2026 21:01:15 +0000`.
    pub fn rfc_5322(self) -> String {
        const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (days, seconds) = (self.0 / 86_400, self.0 % 86_400);
        let Civil { year, month, day } = Civil::of_days(days);
        let (weekday, month) = (DAYS[(days % 7) as usize], MONTHS[(month - 1) as usize]);
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        format!("{weekday}, {day:02} {month} {year} {hour:02}:{minute:02}:{second:02} +0000")
    }
}

/// A day of the Gregorian calendar.
struct Civil {
    year: u64,
    month: u64,
    day: u64,
}

impl Civil {
    /// The day with this number since 1970-01-01.
    fn of_days(mut days: u64) -> Civil {
        let mut year = 1970;
        loop {
            let length = if is_leap(year) { 366 } else { 365 };
            if days < length {
                break;
            }
            (year, days) = (year + 1, days - length);
        }
        let february = if is_leap(year) { 29 } else { 28 };
        let mut month = 1;
        for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
            if days < length {
                break;
            }
            (month, days) = (month + 1, days - length);
        }
        Civil { year, month, day: days + 1 }
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_date_1() {
        // `date -u -d @1795730475 -R`, and so on.
        let written = |seconds| (SourceDate(seconds).rfc_3339(), SourceDate(seconds).rfc_5322());
        let expected = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(
            written(1_795_730_475),
            expected("2026-11-26T22:01:15Z", "Thu, 26 Nov 2026 22:01:15 +0000")
        );
        assert_eq!(written(951_782_400), expected("2000-02-29T00:00:00Z", "Tue, 29 Feb 2000 00:00:00 +0000"));
        assert_eq!(
            written(1_735_689_599),
            expected("2024-12-31T23:59:59Z", "Tue, 31 Dec 2024 23:59:59 +0000")
        );
        assert_eq!(written(0), expected("1970-01-01T00:00:00Z", "Thu, 01 Jan 1970 00:00:00 +0000"));
    }
}
