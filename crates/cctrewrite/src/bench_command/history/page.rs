//! A history as a static page: no scripts, and nothing from elsewhere.

use std::io::{self, Write};

use cct_build::text::counted;
use cct_export::html::policy_hash;
use cct_profile::diff::Change;
use cct_profile::escape::{terminal, xml};
use cct_profile::report::grouped;

use super::super::numbers::{counted_entries, with_percent};
use super::super::verdict::Status;
use super::file::HistoryLine;
use super::trend::{Trend, failing, label};

const STYLE: &str = include_str!("page.css");

/// Writes a page with a table of entries, and a section with a curve and a table of runs for each.
pub fn write(trends: &[Trend<'_>], out: &mut dyn Write) -> io::Result<()> {
    let style = format!("\n{STYLE}");
    writeln!(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">")?;
    writeln!(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '{}'\">",
        policy_hash(&style)
    )?;
    writeln!(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
    writeln!(out, "<title>Counts over time - cctrewrite</title>\n<style>{style}</style>\n</head>")?;
    writeln!(out, "<body>\n<main>\n<h1>Counts over time</h1>")?;
    let failing = failing(trends);
    let entries = counted_entries(trends.len());
    match failing {
        0 => writeln!(out, "<p>{entries}: none failed in the last run.</p>")?,
        _ => writeln!(
            out,
            "<p class=\"bad\">{entries}: {} failed in the last run.</p>",
            grouped(failing as u128)
        )?,
    }
    overview(trends, out)?;
    for (number, trend) in (1..).zip(trends) {
        section(number, trend, out)?;
    }
    writeln!(out, "</main>\n</body>\n</html>")
}

/// Text from elsewhere, on one line, for HTML.
fn text(text: &str) -> String {
    xml(&terminal(text))
}

fn overview(trends: &[Trend<'_>], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<section>\n<h2 id=\"entries\">Entries</h2>")?;
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-labelledby=\"entries\" tabindex=\"0\">\n<table>"
    )?;
    heads(&[("entry", ""), ("trend", ""), ("count", NUMBER), ("change", NUMBER), ("last run", "")], out)?;
    for (number, trend) in (1..).zip(trends) {
        let Some(latest) = trend.latest() else { continue };
        let row = if latest.status.fails() { " class=\"bad\"" } else { "" };
        writeln!(
            out,
            "<tr{row}><td class=\"name\"><a href=\"#entry-{number}\"><code>{}</code></a></td><td>{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"result\">{}</td></tr>",
            text(&latest.entry),
            svg(trend, Size { class: "spark", width: 120.0, height: 30.0, radius: 3.0 }),
            grouped(latest.value.into()),
            with_percent(trend.change()),
            result(latest.status)
        )?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>\n</section>")
}

const NUMBER: &str = " class=\"number\"";

fn heads(heads: &[(&str, &str)], out: &mut dyn Write) -> io::Result<()> {
    write!(out, "<thead><tr>")?;
    for (head, class) in heads {
        write!(out, "<th scope=\"col\"{class}>{head}</th>")?;
    }
    writeln!(out, "</tr></thead>\n<tbody>")
}

fn section(number: usize, trend: &Trend<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(latest) = trend.latest() else { return Ok(()) };
    writeln!(out, "<section>\n<h2 id=\"entry-{number}\"><code>{}</code></h2>", text(&latest.entry))?;
    writeln!(out, "{}", svg(trend, Size { class: "curve", width: 640.0, height: 120.0, radius: 4.0 }))?;
    writeln!(
        out,
        "<div class=\"wide\" role=\"region\" aria-labelledby=\"entry-{number}\" tabindex=\"0\">\n<table>"
    )?;
    writeln!(out, "<caption>{}</caption>", text(&caption(trend, latest)))?;
    heads(
        &[
            ("run", ""),
            ("time", ""),
            ("count", NUMBER),
            ("change", NUMBER),
            ("calls", NUMBER),
            ("result", ""),
        ],
        out,
    )?;
    for (at, run) in trend.runs.iter().enumerate().rev() {
        let before = at.checked_sub(1).and_then(|before| trend.runs.get(before));
        row(run, before.copied(), out)?;
    }
    writeln!(out, "</tbody>\n</table>\n</div>\n</section>")
}

fn caption(trend: &Trend<'_>, latest: &HistoryLine) -> String {
    let runs = counted(trend.runs.len() as u64, "run");
    let mut caption = format!(
        "{} in {runs}, the latest first. Java {}, {}",
        latest.metric, latest.conditions.java, latest.conditions.settings
    );
    if trend.older > 0 {
        caption += &format!(". {} not shown", counted(trend.older as u64, "older run"));
    }
    if trend.others > 0 {
        let others = counted(trend.others as u64, "run");
        caption += &format!(". {others} with another JDK, metric or settings not shown");
    }
    caption
}

fn row(run: &HistoryLine, before: Option<&HistoryLine>, out: &mut dyn Write) -> io::Result<()> {
    let class = if run.status.fails() { " class=\"bad\"" } else { "" };
    let change =
        before.map(|before| with_percent(Change { base: before.value.into(), new: run.value.into() }));
    let range = run.range.filter(|[least, most]| least < most).map_or(String::new(), |[least, most]| {
        format!(" <span class=\"faint\">({} to {})</span>", grouped(least.into()), grouped(most.into()))
    });
    writeln!(
        out,
        "<tr{class}><td class=\"name\"><code>{}</code></td><td>{}</td><td class=\"number\">{}{range}</td>\
         <td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"result\">{}</td></tr>",
        text(run.revision.as_deref().unwrap_or("")),
        text(run.time.as_deref().unwrap_or("")),
        grouped(run.value.into()),
        change.unwrap_or_default(),
        grouped(run.calls.into()),
        result(run.status)
    )
}

fn result(status: Status) -> String {
    let word = match status {
        Status::Exceeds => "regression: exceeds the limit",
        other => other.name(),
    };
    if status.fails() { format!("&#9650; {word}") } else { word.to_owned() }
}

/// The size of a picture, in its own units.
#[derive(Clone, Copy)]
struct Size {
    class: &'static str,
    width: f64,
    height: f64,
    /// The radius of a mark.
    radius: f64,
}

/// The curve of an entry. Runs that failed are marked.
fn svg(trend: &Trend<'_>, size: Size) -> String {
    let Size { class, width, height, radius } = size;
    let margin = radius + 2.0;
    let steps = trend.runs.len().saturating_sub(1).max(1) as f64;
    let place = |(at, run): (usize, &&HistoryLine)| {
        let x = margin + (width - 2.0 * margin) * at as f64 / steps;
        let y = height - margin - (height - 2.0 * margin) * trend.height(run.value);
        (x, y)
    };
    let points: Vec<(f64, f64)> = trend.runs.iter().enumerate().map(place).collect();
    let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let mut marks = String::new();
    for (run, (x, y)) in trend.runs.iter().zip(&points) {
        if run.status.fails() || trend.runs.len() == 1 {
            let mark = if run.status.fails() { " class=\"mark\"" } else { "" };
            let title = format!("{}: {}, {}", label(run), grouped(run.value.into()), run.status.name());
            marks += &format!(
                "<circle{mark} cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{}</title></circle>",
                text(&title)
            );
        }
    }
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\
         <polyline points=\"{}\"/>{marks}</svg>",
        text(&in_words(trend)),
        line.join(" ")
    )
}

/// What the curve shows, for people who cannot see it.
fn in_words(trend: &Trend<'_>) -> String {
    let change = trend.change();
    let failed = trend.runs.iter().filter(|run| run.status.fails()).count();
    let failed =
        if failed == 0 { String::new() } else { format!("; {} failed", counted(failed as u64, "run")) };
    format!(
        "{} to {} {} over {}{failed}",
        grouped(change.base),
        grouped(change.new),
        trend.latest().map_or("", |run| &run.metric),
        counted(trend.runs.len() as u64, "run")
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::history;
    use super::*;

    fn page(last: usize) -> String {
        let mut out = Vec::new();
        write(&Trend::of_all(&history(), last), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn regressions_are_marked_in_the_curve_and_in_the_table() {
        let page = page(4);
        assert_eq!(page.matches("<tr class=\"bad\">").count(), 3, "two runs, and the entry\n{page}");
        assert_eq!(page.matches("class=\"mark\"").count(), 4, "in both pictures\n{page}");
        assert!(page.contains("<title>r4: 2,000, exceeds</title>"), "{page}");
        assert!(
            page.contains("aria-label=\"1,100 to 1,850 bytecodes over 4 runs; 2 runs failed\""),
            "{page}"
        );
        assert!(page.contains("<p class=\"bad\">2 entries: 1 failed in the last run.</p>"), "{page}");
        assert!(page.contains("1 older run not shown. 1 run with another JDK"), "{page}");
        // The lowest of four runs is first and at the bottom, the highest third and at the top.
        assert!(page.contains("points=\"5.0,25.0 41.7,22.8 78.3,5.0 115.0,8.3\""), "{page}");
    }

    #[test]
    fn nothing_on_the_page_comes_from_elsewhere_or_is_markup() {
        let page = page(10);
        assert!(page.contains("<code>app.A.&lt;b&gt;(&quot;|&quot;)</code>"), "{page}");
        for fetched in ["http:", "https:", "<script", "<link", "url(", "src=", "@import"] {
            assert!(!page.contains(fetched), "{fetched}: {page}");
        }
        // Each element that is opened is closed: the page without its first line is XML, apart from
        // elements without an end.
        for element in ["section", "table", "svg", "tr", "td", "th", "div", "code", "main", "body"] {
            let (opened, closed) = (format!("<{element}"), format!("</{element}>"));
            let opened = page
                .match_indices(&opened)
                .filter(|(at, text)| page[at + text.len()..].starts_with([' ', '>']));
            assert_eq!(opened.count(), page.matches(&closed).count(), "{element}");
        }
    }
}
