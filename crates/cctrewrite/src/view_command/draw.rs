//! The screen of a state: head, rows, and the line of searches and messages.

use std::cmp::Ordering;

use cct_build::text::harmless;
use cct_profile::diff::{Change, signed};
use cct_profile::report::{
    Indentation, Layout, calls_column, counted, cut, grouped, has_own_column, shortened,
};
use ratatui::Frame;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use crate::view_command::outline::Row;
use crate::view_command::state::{Screen, State};

/// Keys and what they do.
const HELP: [(&str, &str); 17] = [
    ("Up, Down, PgUp, PgDn", "move"),
    ("Home, End", "go to the first or last row"),
    ("Enter", "open or close; in the list of methods: show callers"),
    ("Right", "open; if open, go to the first row below"),
    ("Left", "close; if closed, go to the row above it in the tree"),
    ("*", "open the heaviest path below the row"),
    ("+", "open three levels below the row"),
    ("c", "callers of the method"),
    ("m", "all methods"),
    ("t", "back to the tree of contexts"),
    ("s", "next sort order: inclusive, own, calls, name"),
    ("M", "next metric"),
    ("l", "collapse the library, and back"),
    ("f", "fold recursion, and back"),
    ("/", "search names of methods, whatever the case"),
    ("n, N, Esc", "next match, previous match, end the search"),
    ("q, Ctrl-C", "quit"),
];

/// The keys at the bottom of the screen.
const HINT: &str = "? help  q quit";

/// From this share on, in percent, a number is hot; as in reports.
const HOT: f64 = 20.0;

/// From this share on, in percent, a number is warm.
const WARM: f64 = 5.0;

/// Draws the state.
pub fn draw(state: &mut State, has_colours: bool, frame: &mut Frame<'_>) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let screen = Lines { width, has_colours };
    let mut lines = screen.head(state, height);
    let height_of_rows = height.saturating_sub(lines.len() + 2);
    if state.has_help() {
        lines.extend(HELP.iter().map(|(keys, what)| Line::raw(cut(&format!("{keys:<22}{what}"), width))));
        lines.truncate(height.saturating_sub(1));
    } else {
        let first = state.first_of(height_of_rows);
        lines.extend(screen.rows(state, first, height_of_rows));
    }
    lines.resize(height.saturating_sub(1), Line::default());
    lines.push(screen.bottom(state));
    for (line, y) in lines.iter().zip(area.y..area.bottom()) {
        frame.buffer_mut().set_line(area.x, y, line, area.width);
    }
}

/// Lines of a screen.
#[derive(Clone, Copy)]
struct Lines {
    width: usize,
    has_colours: bool,
}

impl Lines {
    /// The lines about the profiles, in at most a third of the screen, and the title of the rows.
    fn head(self, state: &State, height: usize) -> Vec<Line<'static>> {
        let layout = Layout { width: Some(self.width), colour: false };
        let wrapped: Vec<String> = state.head().iter().map(|line| layout.wrapped(line)).collect();
        let all: Vec<&str> = wrapped.iter().flat_map(|line| line.split('\n')).collect();
        let most = (height / 3).max(1);
        let shown = if all.len() > most { most - 1 } else { all.len() };
        let mut lines: Vec<Line<'static>> =
            all[..shown].iter().map(|line| Line::raw(cut(line, self.width))).collect();
        if shown < all.len() {
            let more = counted((all.len() - shown) as u128, "more line");
            lines.push(Line::raw(cut(&format!("... {more}: cctrewrite info"), self.width)));
        }
        let title = cut(&harmless(&title(state)), self.width);
        lines.push(Line::styled(title, Style::new().add_modifier(Modifier::BOLD)));
        lines
    }

    /// The head of the columns, and the visible rows.
    fn rows(self, state: &State, first: usize, height: usize) -> Vec<Line<'static>> {
        let metric = state.contexts().metric;
        let own = if has_own_column(metric) { "own" } else { "" };
        let head = ["inclusive", own, "%", calls_column(metric)].map(str::to_owned);
        let outline = state.outline();
        let shown: Vec<Row> = outline.rows().iter().skip(first).take(height).copied().collect();
        let cells: Vec<[String; 4]> = shown.iter().map(|row| cells(state, *row)).collect();
        let most = cell(state, state.contexts().total()).chars().count();
        let mut widths: [usize; 4] = std::array::from_fn(|column| {
            let all = cells.iter().chain([&head]).map(|cells| cells[column].chars().count());
            all.max().unwrap_or(0)
        });
        // Wide enough for all rows of a profile, so that these columns do not move.
        widths[0] = widths[0].max(most);
        widths[2] = widths[2].max("100.00".len());
        let numbers = |cells: &[String; 4]| -> String {
            let columns = cells.iter().zip(widths).filter(|(_, width)| *width > 0);
            columns.map(|(cell, width)| format!("{cell:>width$}  ")).collect()
        };
        let before: usize = widths.iter().filter(|width| **width > 0).map(|width| width + 2).sum();
        let room = self.width.saturating_sub(before);
        let deepest = outline.rows().iter().map(|row| row.depth).max().unwrap_or(0);
        let indentation = Indentation::of(Some(room.saturating_sub(2)), deepest);
        let word = match state.screen() {
            Screen::Contexts => "context",
            Screen::Callers(..) => "caller",
            Screen::Methods(..) => "method",
        };
        let mut lines = vec![Line::raw(cut(&format!("{}  {word}", numbers(&head)), self.width))];
        for ((row, cells), at) in shown.iter().zip(&cells).zip(first..) {
            let mark = match state.openness(*row) {
                None => "  ",
                Some(false) => "▸ ",
                Some(true) => "▾ ",
            };
            let indent = format!("{}{mark}", indentation.at(row.depth));
            let left = room.saturating_sub(indent.chars().count());
            let name = state.name(*row);
            let is_match = state.query().is_some_and(|query| query.matches(name));
            let name = shortened(&harmless(name), left);
            let share = state.contexts().share(state.numbers(*row).inclusive);
            let text = if at == outline.cursor() {
                let line = format!("{}{indent}{name}", numbers(cells));
                let filled = format!("{:<width$}", cut(&line, self.width), width = self.width);
                Line::styled(filled, Style::new().add_modifier(Modifier::REVERSED))
            } else {
                let of_match = if is_match { self.style_of_match() } else { Style::new() };
                Line::from(vec![
                    Span::styled(numbers(cells), self.style_of_share(share)),
                    Span::raw(indent),
                    Span::styled(name, of_match),
                ])
            };
            lines.push(text);
        }
        lines
    }

    fn style_of_share(self, share: f64) -> Style {
        match share {
            _ if !self.has_colours => Style::new(),
            _ if share >= HOT => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            _ if share >= WARM => Style::new().fg(Color::Yellow),
            _ => Style::new(),
        }
    }

    fn style_of_match(self) -> Style {
        let style = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
        if self.has_colours { style.fg(Color::Cyan) } else { style }
    }

    /// The line of the search, or of a message, with a hint.
    fn bottom(self, state: &State) -> Line<'static> {
        let left = match (state.prompt(), state.message(), state.query()) {
            (Some(text), ..) => format!("/{text}_"),
            (None, Some(message), _) => message.to_owned(),
            (None, None, Some(query)) => format!("{}: {}", query.text, matches_in_words(state)),
            (None, None, None) => String::new(),
        };
        let room = self.width.saturating_sub(HINT.len() + 1);
        let left = cut(&harmless(&left), room);
        let text =
            format!("{left}{}{HINT}", " ".repeat(self.width.saturating_sub(columns(&left) + HINT.len())));
        Line::raw(cut(&text, self.width))
    }
}

/// The terminal columns of a text.
fn columns(text: &str) -> usize {
    Line::raw(text).width()
}

/// Where the cursor is among the matches.
fn matches_in_words(state: &State) -> String {
    match state.matches() {
        None | Some((_, 0)) => "no match".to_owned(),
        Some((Some(at), all)) => {
            format!("match {} of {}", grouped(at as u128), grouped(all as u128))
        }
        Some((None, 1)) => "1 match".to_owned(),
        Some((None, all)) => format!("{} matches", grouped(all as u128)),
    }
}

/// What rows are, with the metric's total.
fn title(state: &State) -> String {
    let contexts = state.contexts();
    let what = match state.screen() {
        Screen::Contexts => "Contexts".to_owned(),
        Screen::Callers(callers, _) => format!("Callers of {}", contexts.method_name(callers.method)),
        Screen::Methods(..) => "Methods".to_owned(),
    };
    let total = contexts.total();
    let total = if contexts.are_of_difference() {
        format!("change from {} to {}", grouped(total.base), grouped(total.new))
    } else {
        format!("{} in all", grouped(total.new))
    };
    let choice = state.choice();
    let library = if choice.collapses_library { "; library collapsed" } else { "" };
    let recursion = if choice.folds_recursion { "; recursion folded" } else { "" };
    let (metric, sort) = (contexts.metric.name(), state.sort().name());
    format!("{what}: {metric}, {total}; by {sort}{library}{recursion}")
}

/// The cells of a row: inclusive, own, share and calls.
fn cells(state: &State, row: Row) -> [String; 4] {
    let numbers = state.numbers(row);
    let contexts = state.contexts();
    let own = if has_own_column(contexts.metric) { cell(state, numbers.own) } else { String::new() };
    let share = contexts.share(numbers.inclusive);
    let sign = match numbers.inclusive.direction() {
        _ if !contexts.are_of_difference() => "",
        Ordering::Greater => "+",
        Ordering::Less => "-",
        Ordering::Equal => "",
    };
    [cell(state, numbers.inclusive), own, format!("{sign}{share:.2}"), cell(state, numbers.calls)]
}

/// A count, or a change with its sign.
fn cell(state: &State, change: Change) -> String {
    if state.contexts().are_of_difference() { signed(change) } else { grouped(change.new) }
}
