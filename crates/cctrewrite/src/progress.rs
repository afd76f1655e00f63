//! Messages and progress on standard error. Progress is shown only on a terminal.

use std::time::{Duration, Instant};

use cct_build::observer::{Observer, Steps};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::exit::say;

/// Shows messages and the progress of work on standard error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Terminal {
    /// Whether only warnings are shown.
    pub quiet: bool,
    /// Whether details are shown, and the duration of each work.
    pub verbose: bool,
}

impl Observer for Terminal {
    fn warn(&self, line: &str) {
        say(line);
    }

    fn note(&self, line: &str) {
        if !self.quiet {
            say(line);
        }
    }

    fn detail(&self, line: &str) {
        if self.verbose {
            say(&format!("cctrewrite: {line}"));
        }
    }

    fn begin(&self, work: &'static str, steps: Option<u64>) -> Box<dyn Steps> {
        let progress = match steps {
            Some(total) => Progress::of(work, total, !self.quiet),
            None => Progress::counting(work, !self.quiet),
        };
        Box::new(Work { progress, work, started: Instant::now(), terminal: *self })
    }
}

/// Work whose duration is a detail.
struct Work {
    progress: Progress,
    work: &'static str,
    started: Instant,
    terminal: Terminal,
}

impl Steps for Work {
    fn step(&self) {
        self.progress.step();
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // Messages start on an empty line.
        self.progress.clear();
        self.terminal.detail(&format!("{}: {:.2} s", self.work, self.started.elapsed().as_secs_f64()));
    }
}

/// The progress of work, shown on standard error as long as the work lasts.
#[derive(Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Shows work of unknown length, as a number that grows.
    pub fn counting(what: &'static str, wanted: bool) -> Progress {
        let bar = Progress::bar(None, wanted);
        bar.set_style(style("{spinner} {msg} {human_pos}"));
        bar.set_message(what);
        Progress(bar)
    }

    /// Shows how much of `total` is done.
    pub fn of(what: &'static str, total: u64, wanted: bool) -> Progress {
        let bar = Progress::bar(Some(total), wanted);
        bar.set_style(style("{msg} {wide_bar} {human_pos}/{human_len} {eta}"));
        bar.set_message(what);
        Progress(bar)
    }

    fn bar(total: Option<u64>, wanted: bool) -> ProgressBar {
        // `stderr` draws only on a terminal.
        let target =
            if wanted { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(total, target);
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }

    /// Adds a step.
    pub fn step(&self) {
        self.0.inc(1);
    }

    fn clear(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    /// Clears the progress, so that messages start on an empty line.
    fn drop(&mut self) {
        self.clear();
    }
}

/// The style of a template, or the library's default if the template is wrong.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[cfg(test)]
mod tests {
    #[test]
    fn templates_are_well_formed() {
        for template in ["{spinner} {msg} {human_pos}", "{msg} {wide_bar} {human_pos}/{human_len} {eta}"] {
            assert!(indicatif::ProgressStyle::with_template(template).is_ok());
        }
    }
}
