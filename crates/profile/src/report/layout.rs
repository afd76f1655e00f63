//! The layout of lines for people: columns of numbers, colours, and names that fit the width.

use super::numbers::{columns_of, cut};
use super::short_name::shortened;
use anstyle::{AnsiColor, Style};

/// Terminal columns that names have at least, where the width allows it; indentation takes the
/// rest.
const NAME: usize = 32;

/// Indentation in terminal columns beyond which a line has its depth as a number instead, where no
/// width is given.
const DEEPEST_INDENT: usize = 80;

/// From this share on, in percent, a number is hot.
const HOT: f64 = 20.0;

/// From this share on, in percent, a number is warm.
const WARM: f64 = 5.0;

/// How lines fit their medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Fit lines into this many terminal columns: names are shortened.
    pub width: Option<usize>,
    /// Whether titles and large shares have colours.
    pub colour: bool,
}

impl Layout {
    /// The title of a table or tree.
    pub(super) fn title(self, text: &str) -> String {
        self.painted(&self.wrapped(text), Style::new().bold())
    }

    /// A sentence, which continues on further lines where the width ends.
    pub fn wrapped(self, text: &str) -> String {
        const INDENT: &str = "  ";
        let Some(width) = self.width else { return text.to_owned() };
        let (mut lines, mut column) = (String::new(), 0);
        for word in text.split(' ') {
            let columns: usize = word.chars().map(columns_of).sum();
            if column > INDENT.len() && column + 1 + columns > width {
                lines += "\n";
                lines += INDENT;
                column = INDENT.len();
            } else if !lines.is_empty() {
                lines += " ";
                column += 1;
            }
            lines += word;
            column += columns;
        }
        lines
    }

    fn painted(self, text: &str, style: Style) -> String {
        if self.colour && style != Style::new() && !text.trim().is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

/// A number in a column.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    /// A number whose size is not coloured, or the head of a column.
    pub(super) fn plain(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), style: Style::new() }
    }

    /// A number with the colour of its share in percent.
    pub(super) fn of_share(text: impl Into<String>, percent: f64) -> Cell {
        let style = match percent {
            _ if percent >= HOT => Style::new().bold().fg_color(Some(AnsiColor::Red.into())),
            _ if percent >= WARM => Style::new().fg_color(Some(AnsiColor::Yellow.into())),
            _ => Style::new(),
        };
        Cell { text: text.into(), style }
    }

    pub(super) fn width(&self) -> usize {
        self.text.chars().count()
    }
}

/// Columns of numbers in front of names. A column of width 0 is omitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<const N: usize> {
    pub(super) widths: [usize; N],
    pub(super) layout: Layout,
}

impl<const N: usize> Columns<N> {
    /// The columns of these rows.
    pub(super) fn of<'r>(rows: impl Iterator<Item = &'r [Cell; N]>, layout: Layout) -> Columns<N> {
        let mut widths = [0; N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        Columns { widths, layout }
    }

    /// Terminal columns in front of the names.
    fn before_names(&self) -> usize {
        self.widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum()
    }

    /// The indentation of trees whose deepest context has this depth.
    pub(super) fn indentation(&self, deepest: usize) -> Indentation {
        Indentation::of(self.layout.width.map(|width| width.saturating_sub(self.before_names())), deepest)
    }

    /// A line: numbers, then text at an indentation, then a name that is shortened to fit.
    pub(super) fn line(&self, cells: &[Cell; N], indent: &str, name: &str) -> String {
        let mut numbers = String::new();
        for (cell, &width) in cells.iter().zip(&self.widths).filter(|(_, width)| **width > 0) {
            let text = format!("{:>width$}", cell.text);
            numbers += &self.layout.painted(&text, cell.style);
            numbers += "  ";
        }
        let Some(width) = self.layout.width else { return numbers + indent + name };
        let before = self.before_names() + indent.chars().map(columns_of).sum::<usize>();
        if before < width {
            return numbers + indent + &shortened(name, width - before);
        }
        // Too narrow for names: numbers alone, uncoloured, since a cut could split an escape.
        let plain = Columns { layout: Layout { width: None, colour: false }, ..*self };
        cut(&plain.line(cells, indent, name), width)
    }
}

/// The indentation of names in a tree.
#[derive(Clone, Copy, Debug)]
pub struct Indentation {
    /// Terminal columns for each level.
    step: usize,
    /// Terminal columns at most.
    most: usize,
}

impl Indentation {
    /// The indentation of trees whose deepest context has this depth. `room` is the number of
    /// terminal columns for indentation and names; `None` for no limit.
    pub fn of(room: Option<usize>, deepest: usize) -> Indentation {
        let Some(room) = room else { return Indentation { step: 2, most: DEEPEST_INDENT } };
        let most = room.saturating_sub(NAME).min(DEEPEST_INDENT);
        Indentation { step: if 2 * deepest.saturating_sub(1) > most { 1 } else { 2 }, most }
    }

    /// The text in front of a name at this depth; the outermost frame has depth 1. Where there is
    /// no room, it has the depth as a number.
    pub fn at(self, depth: usize) -> String {
        let columns = self.step * depth.saturating_sub(1);
        if columns <= self.most {
            " ".repeat(columns)
        } else {
            format!("{}[{depth}] ", " ".repeat(self.most - self.most % self.step))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(width: Option<usize>, colour: bool) -> Columns<2> {
        Columns { widths: [5, 0], layout: Layout { width, colour } }
    }

    #[test]
    fn names_are_shortened_to_the_width() {
        let cells = [Cell::plain("1,234"), Cell::default()];
        let line = |width| columns(width, false).line(&cells, "  ", "app.Main.main(String[])");
        assert_eq!(line(None), "1,234    app.Main.main(String[])");
        assert_eq!(line(Some(32)), "1,234    app.Main.main(String[])");
        assert_eq!(line(Some(28)), "1,234    app.Main.main(…)");
        assert_eq!(line(Some(4)), "1,2…");
    }

    #[test]
    fn large_shares_have_colours_on_request() {
        let line = |colour, percent| {
            columns(None, colour).line(&[Cell::of_share("9", percent), Cell::default()], "", "f()")
        };
        assert_eq!(line(false, 99.0), "    9  f()");
        assert_eq!(line(true, 4.9), "    9  f()");
        assert_eq!(line(true, 5.0), "\u{1b}[33m    9\u{1b}[0m  f()");
        assert_eq!(line(true, 20.0), "\u{1b}[1m\u{1b}[31m    9\u{1b}[0m  f()");
    }

    #[test]
    fn sentences_continue_on_the_next_line() {
        let wrapped = |width| Layout { width, colour: false }.wrapped("one two: three four");
        assert_eq!(wrapped(None), "one two: three four");
        assert_eq!(wrapped(Some(19)), "one two: three four");
        assert_eq!(wrapped(Some(15)), "one two: three\n  four");
        assert_eq!(wrapped(Some(8)), "one two:\n  three\n  four");
        assert_eq!(wrapped(Some(1)), "one\n  two:\n  three\n  four");
        let title = Layout { width: Some(8), colour: true }.title("one two: three");
        assert_eq!(title, "\u{1b}[1mone two:\n  three\u{1b}[0m");
    }

    #[test]
    fn deep_contexts_stay_within_the_width() {
        let at = |width, deepest, depth| columns(width, false).indentation(deepest).at(depth);
        assert_eq!(at(None, 50, 3), "    ");
        assert_eq!(at(None, 50, 42), format!("{}[42] ", " ".repeat(80)));
        assert_eq!(at(Some(49), 6, 6), " ".repeat(10));
        assert_eq!(at(Some(49), 7, 6), " ".repeat(5));
        assert_eq!(at(Some(49), 20, 11), " ".repeat(10));
        assert_eq!(at(Some(49), 20, 12), format!("{}[12] ", " ".repeat(10)));
        assert_eq!(at(Some(10), 20, 2), "[2] ");
    }
}
