//! What hears of work while it is done. The command shows it on a terminal.

/// Hears of work while it is done.
pub trait Observer: Sync {
    /// A line that the user must hear, at once: a warning.
    fn warn(&self, line: &str);

    /// A line that the user may want to hear, at once.
    fn note(&self, line: &str);

    /// A line that only a curious user wants to hear, at once: what was chosen, and why.
    fn detail(&self, _line: &str) {}

    /// Work begins, of so many steps if that is known. It ends when the result is dropped.
    fn begin(&self, work: &'static str, steps: Option<u64>) -> Box<dyn Steps>;
}

/// Work that goes on.
pub trait Steps: Sync {
    /// One more step is done.
    fn step(&self);
}
