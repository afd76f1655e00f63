//! Flame graphs: a picture (SVG) in which each context is a box above its caller's, as wide as its
//! inclusive count; as icicles, below it. Drawn by inferno, with the script that searches and zooms
//! in a browser.
//!
//! A picture of a difference ([`Difference`]) has the widths of the second profile. A box is red if
//! the context's own count is larger than in the first, and blue if it is smaller. Contexts that
//! are only in the first have no width; the subtitle gives their sum.

use crate::collapsed::Path;
use crate::difference::{AFTER, BEFORE};
use crate::walk::heaviest_first;
use crate::{Difference, ExportError, Format, Metric, Name, PRUNED, Source};
use cct_profile::Node;
use cct_profile::escape::{xml, xml_characters};
use cct_profile::report::{grouped, percent};
use inferno::flamegraph::color::{BackgroundColor, Color, PaletteMap};
use inferno::flamegraph::{Direction, Options, TextTruncateDirection, from_lines};
use std::io::Write;

/// Direction in which stacks grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Up: a flame graph.
    Flames,
    /// Down: an icicle graph.
    Icicles,
}

/// The row of flame graphs in the table of formats.
pub const SVG: Format = Format {
    write_difference: Some(|difference, out| write_difference(difference, Growth::Flames, out)),
    ..Format::text("svg", "A flame graph, for browsers", |source, out| write(source, Growth::Flames, out))
};

/// The row of icicles in the table of formats.
pub const ICICLE: Format = Format {
    write_difference: Some(|difference, out| write_difference(difference, Growth::Icicles, out)),
    ..Format::text("icicle", "A flame graph that grows downward", |source, out| {
        write(source, Growth::Icicles, out)
    })
};

/// Draws the contexts of a source.
///
/// # Errors
/// Fails if the output fails.
pub fn write(source: &Source, growth: Growth, out: &mut dyn Write) -> Result<(), ExportError> {
    let title = format!("{}: {}", source.program(), source.metric.name());
    let weight = |node: &Node| source.metric.of_node(node);
    let counts = |node: &Node| (weight(node) > 0).then(|| weight(node).to_string());
    let lines = Lines::of(source, source.total(), weight, counts)?;
    let (metric, total) = (source.metric, source.total());
    Picture { source, metric, growth, total, facts: facts(source) }.draw(
        &title,
        lines,
        Some(&mut palette(source)),
        out,
    )
}

/// Draws a difference.
///
/// # Errors
/// Fails if the output fails.
pub fn write_difference(
    difference: &Difference,
    growth: Growth,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let Difference { metric, source, .. } = difference;
    let title = format!("{}: difference of the {}", source.program(), metric.name());
    let (before, after) = (source.total_of(BEFORE), source.total_of(AFTER));
    let counts = |node: &Node| {
        let (before, after) = (BEFORE.of_node(node), AFTER.of_node(node));
        (before > 0 || after > 0).then(|| format!("{before} {after}"))
    };
    let lines = Lines::of(source, after, |node| AFTER.of_node(node), counts)?;
    let mut facts = vec![format!("{} before, {} after", grouped(before.into()), grouped(after.into()))];
    facts.extend(gone(source));
    facts.extend(pruning(source, *metric, source.pruned.bytecodes, after));
    Picture { source, metric: *metric, growth, total: after, facts }.draw(&title, lines, None, out)
}

/// The sum of the first profile of a difference over contexts that are not in the second.
fn gone(source: &Source) -> Option<String> {
    let nodes = source.stacks.iter().flat_map(|stacks| &stacks.tree.nodes()[1..]);
    let gone = nodes.filter(|node| BEFORE.of_node(node) > 0 && AFTER.of_node(node) == 0);
    let (contexts, lost) =
        gone.fold((0u64, 0u64), |(contexts, lost), node| (contexts + 1, lost + BEFORE.of_node(node)));
    (lost > 0).then(|| {
        let (contexts, lost) = (grouped(contexts.into()), grouped(lost.into()));
        format!("{lost} in {contexts} contexts that are gone and not drawn")
    })
}

/// The subtitle of a plain picture.
fn facts(source: &Source) -> Vec<String> {
    let total = grouped(source.total().into());
    let whole = format!("{total} {} in {} contexts", source.metric.name(), grouped(source.contexts.into()));
    let weight = match source.metric {
        Metric::Calls | Metric::Allocations => source.pruned.calls,
        Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => source.pruned.bytecodes,
    };
    std::iter::once(whole).chain(pruning(source, source.metric, weight, source.total())).collect()
}

/// How much was pruned: `weight` of the `total`.
fn pruning(source: &Source, metric: Metric, weight: u64, total: u64) -> Option<String> {
    let contexts = source.pruned.contexts;
    (contexts > 0).then(|| {
        format!(
            "{} contexts pruned{}: {:.2} %",
            grouped(contexts.into()),
            source.threshold.reasons(metric),
            percent(weight.into(), total.into())
        )
    })
}

/// Maximum size of [`Lines`], in bytes. Each box repeats its stack.
const LARGEST: usize = 1 << 30;

/// The lines for inferno, in one piece.
struct Lines {
    text: String,
    ends: Vec<usize>,
}

impl Lines {
    /// A line for each context with counts. Pruned contexts that are too narrow for a box of their
    /// own belong to the caller's box.
    fn of(
        source: &Source,
        total: u64,
        weight: impl Fn(&Node) -> u64,
        counts: impl Fn(&Node) -> Option<String>,
    ) -> Result<Lines, ExportError> {
        let least = source.threshold.least(total);
        let mut lines = Lines { text: String::new(), ends: Vec::new() };
        for stacks in &source.stacks {
            let mut path = Path::of(source, stacks);
            let is_pruned = |node: &Node| source.names[node.method as usize].text == PRUNED;
            for step in heaviest_first(&stacks.tree, &weight, is_pruned) {
                let Some((node, counts)) = path.step(step).and_then(|node| Some((node, counts(node)?)))
                else {
                    continue;
                };
                let narrow = weight(node) < least && is_pruned(node);
                let text = match path.callers() {
                    callers if narrow && !callers.is_empty() => callers,
                    _ => path.text(),
                };
                lines.text.push_str(text);
                lines.text.push(' ');
                lines.text.push_str(&counts);
                lines.ends.push(lines.text.len());
                if lines.text.len() > LARGEST {
                    return Err(ExportError::PictureTooLarge);
                }
            }
        }
        Ok(lines)
    }

    /// The lines, the last one first.
    fn reversed(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let ranges: Vec<_> = starts.zip(self.ends.iter().copied()).collect();
        ranges.into_iter().rev().map(|(start, end)| &self.text[start..end])
    }
}

struct Picture<'s> {
    source: &'s Source,
    metric: Metric,
    growth: Growth,
    total: u64,
    /// Facts for the subtitle, after the missing parts.
    facts: Vec<String>,
}

impl Picture<'_> {
    fn draw(
        &self,
        title: &str,
        lines: Lines,
        palette: Option<&mut PaletteMap>,
        out: &mut dyn Write,
    ) -> Result<(), ExportError> {
        let incomplete = self.source.incomplete.iter().map(|what| format!("INCOMPLETE: {what}"));
        let subtitle = incomplete.chain(self.facts.iter().cloned()).collect::<Vec<_>>().join("; ");
        if self.total == 0 {
            return Ok(empty(title, &subtitle, out)?);
        }
        let mut options = Options::default();
        // Inferno escapes markup, and nothing else.
        options.title = xml_characters(title);
        options.subtitle = Some(xml_characters(&subtitle));
        options.count_name = self.metric.name().to_owned();
        options.name_type = "Method:".to_owned();
        options.direction = match self.growth {
            Growth::Flames => Direction::Straight,
            Growth::Icicles => Direction::Inverted,
        };
        options.text_truncate_direction = TextTruncateDirection::Right;
        options.bgcolors = Some(BackgroundColor::Grey);
        options.palette_map = palette;
        // Colours of names that the palette lacks come from a hash instead of random numbers.
        options.deterministic = true;
        // Hides only boxes without any width: narrow ones were pruned before, and counted.
        options.min_width = 50.0 / self.total as f64;
        // The heaviest of siblings comes first, as on pages. Only for charts does inferno keep the
        // given order, from the last line to the first.
        options.flame_chart = true;
        Ok(from_lines(&mut options, lines.reversed(), out)?)
    }
}

/// The picture of an empty profile, which inferno does not draw.
fn empty(title: &str, subtitle: &str, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, r#"<?xml version="1.0" standalone="no"?>"#)?;
    writeln!(out, r#"<svg version="1.1" width="1200" height="80" xmlns="http://www.w3.org/2000/svg">"#)?;
    writeln!(
        out,
        r#"<text x="600" y="30" text-anchor="middle" font-family="monospace">{}</text>"#,
        xml(title)
    )?;
    let nothing = format!("nothing to draw: {subtitle}");
    writeln!(
        out,
        r#"<text x="600" y="60" text-anchor="middle" font-family="monospace">{}</text>"#,
        xml(&nothing)
    )?;
    writeln!(out, "</svg>")
}

/// Packages of the class library.
const CLASS_LIBRARY: [&str; 6] = ["java/", "javax/", "jdk/", "sun/", "com/sun/", "org/w3c/dom/"];

/// The colours of the names: green for the class library, orange for others, grey for names that
/// are no methods. Methods of a class have one shade.
fn palette(source: &Source) -> PaletteMap {
    let mut palette = PaletteMap::default();
    for name in &source.names {
        palette.insert(&name.text, colour(name));
    }
    for frame in source.stacks.iter().filter_map(|stacks| stacks.frame()) {
        palette.insert(frame, GREY);
    }
    palette.insert("", GREY);
    palette
}

const GREY: Color = Color { r: 200, g: 200, b: 200 };

fn colour(name: &Name) -> Color {
    let Some(class) = &name.class else { return GREY };
    // FNV-1a: one byte of a hash that is the same on all machines.
    let hash =
        class.bytes().fold(0x811C_9DC5u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    let shade = (hash ^ hash >> 16) as u8;
    if CLASS_LIBRARY.iter().any(|package| class.starts_with(package)) {
        Color { r: 110 + shade / 4, g: 190 + shade / 8, b: 110 + shade / 4 }
    } else {
        Color { r: 240, g: 130 + shade / 3, b: 60 + shade / 6 }
    }
}
