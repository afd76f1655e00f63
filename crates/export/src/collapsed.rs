//! Collapsed stacks: for each context a line with its stack, outermost frame first, and its count,
//! as FlameGraph's `flamegraph.pl`, inferno and speedscope read them:
//! ```text
//! app.Main.main(String[]);app.Main.step(int) 9000
//! ```
//!
//! Lines are in the order of the tree. Contexts whose count is 0 have no line.

use crate::walk::{Step, Walk};
use crate::{ExportError, Format, Source, Stacks};
use cct_profile::Node;
use std::io::{BufWriter, Write};

/// The format's row in the table.
pub const FORMAT: Format = Format {
    size: Some(size),
    ..Format::text(
        "collapsed",
        "Collapsed stacks: a line `frame;frame;... count` for each context, for FlameGraph, inferno, \
     speedscope",
        |source, out| write(source, out),
    )
};

/// Writes the lines, with the source's metric.
///
/// # Errors
/// Fails if the output fails.
pub fn write(source: &Source, out: &mut dyn Write) -> Result<(), ExportError> {
    let mut out = BufWriter::with_capacity(1 << 18, out);
    for stacks in &source.stacks {
        let mut path = Path::of(source, stacks);
        for step in Walk::new(&stacks.tree) {
            let Some(node) = path.step(step) else { continue };
            let count = source.metric.of_node(node);
            if count > 0 {
                writeln!(out, "{} {count}", path.text())?;
            }
        }
    }
    Ok(out.flush()?)
}

/// How many bytes [`write`] writes. Stacks repeat their outer frames, so these may be thousands of
/// times as many as a profile has.
pub fn size(source: &Source) -> u128 {
    let mut size = 0;
    for stacks in &source.stacks {
        let nodes = stacks.tree.nodes();
        // The lengths of the stacks from the outermost one to the current one.
        let mut lengths = vec![stacks.frame().map_or(0, |frame| frame.len())];
        for step in Walk::new(&stacks.tree) {
            let Step::Enter(context) = step else {
                lengths.pop();
                continue;
            };
            let node = &nodes[context as usize];
            let callers = lengths.last().copied().unwrap_or(0);
            let length = callers + usize::from(callers > 0) + source.names[node.method as usize].text.len();
            lengths.push(length);
            let count = source.metric.of_node(node);
            if let Some(digits) = count.checked_ilog10() {
                // A space, the digits, and the end of the line.
                size += length as u128 + u128::from(digits) + 3;
            }
        }
    }
    size
}

/// The current stack of a walk, as text.
pub(crate) struct Path<'s> {
    source: &'s Source,
    stacks: &'s Stacks,
    text: String,
    /// Where the frames start, with the `;` before them.
    starts: Vec<usize>,
}

impl<'s> Path<'s> {
    /// The empty path, or the path of the thread, whose frame is outermost.
    pub(crate) fn of(source: &'s Source, stacks: &'s Stacks) -> Path<'s> {
        Path { source, stacks, text: stacks.frame().unwrap_or_default(), starts: Vec::new() }
    }

    /// Takes the step; returns the context, if the step enters one.
    pub(crate) fn step(&mut self, step: Step) -> Option<&'s Node> {
        match step {
            Step::Enter(context) => {
                let node = &self.stacks.tree.nodes()[context as usize];
                self.starts.push(self.text.len());
                if !self.text.is_empty() {
                    self.text.push(';');
                }
                self.text.push_str(&self.source.names[node.method as usize].text);
                Some(node)
            }
            Step::Leave(_) => {
                self.text.truncate(self.starts.pop().unwrap_or(0));
                None
            }
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The text without its innermost frame.
    pub(crate) fn callers(&self) -> &str {
        &self.text[..self.starts.last().copied().unwrap_or(0)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{exported, recursion, single, source};
    use crate::{Metric, Options};

    #[test]
    fn each_context_is_a_line() {
        let all = source(single(), &Options::default());
        let written = exported(&all, write);
        assert_eq!(size(&all), written.len() as u128);
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "a.A.main(String[]) 100\n\
             a.A.main(String[]);a.A.f(int) 20\n\
             a.A.main(String[]);a.A.f(int);a.A.f(int) 7\n\
             a.A.main(String[]);a.A.f(int);a.A.f(int);a.A.g(B) 5\n\
             a.A.main(String[]);a.A.g(B) 4\n\
             a.A.main(String[]);a.A.g(B);a.A.f(int) 30\n"
        );
    }

    #[test]
    fn threads_are_frames_and_calls_a_metric() {
        let options = Options { per_thread: true, metric: Some(Metric::Calls), ..Options::default() };
        let all = source(recursion(), &options);
        let written = exported(&all, write);
        assert_eq!(size(&all), written.len() as u128);
        assert_eq!(
            String::from_utf8(written).unwrap(),
            "[main];a.A.main(String[]) 1\n\
             [main];a.A.main(String[]);a.A.f(int) 2\n\
             [main];a.A.main(String[]);a.A.f(int);a.A.f(int) 3\n\
             [main];a.A.main(String[]);a.A.f(int);a.A.f(int);a.A.g(B) 1\n\
             [main];a.A.main(String[]);a.A.g(B) 2\n\
             [main];a.A.main(String[]);a.A.g(B);a.A.f(int) 1\n\
             [work,er];a.A.g(B) 6\n\
             [work,er];a.A.g(B);a.A.n() 9\n"
        );
    }
}
