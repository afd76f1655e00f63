//! `cctrewrite completions` and `cctrewrite man`: files for shells and man(1), made from the
//! description of the command line.

use std::io::{self, Write};

use anyhow::{Context, Result};
use cct_build::inputs::TOOL;
use cct_build::pending_file::PendingFile;
use clap_mangen::Man;

use crate::args;
use crate::exit;
use crate::exit_codes;

/// Runs `completions`.
pub fn completions(arguments: &args::Completions) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut args::command(), NAME, &mut script);
    exit::to_stdout(|out| out.write_all(&script))
}

/// Runs `man`.
pub fn man(arguments: &args::Man) -> Result<()> {
    let pages = pages()?;
    if let Some(folder) = &arguments.output {
        let files = pages.iter().map(|(name, page)| {
            PendingFile::write(&folder.join(format!("{name}.1")), |out| out.write_all(page))
        });
        // All pages are written before any is put in place, so that either all or none change if
        // possible.
        let files = files.collect::<Result<Vec<_>, _>>()?;
        return Ok(files.into_iter().try_for_each(PendingFile::commit)?);
    }
    let (name, part) = match &arguments.command {
        Some(part) => (format!("{NAME}-{part}"), &**part),
        None => (NAME.to_owned(), ""),
    };
    let page = pages.iter().find(|(page, _)| *page == name);
    let (_, page) =
        page.with_context(|| format!("there is no command {}", cct_build::text::readable(part.as_bytes())))?;
    exit::to_stdout(|out| out.write_all(page))
}

const NAME: &str = "cctrewrite";

/// The names and contents of all pages.
fn pages() -> Result<Vec<(String, Vec<u8>)>> {
    let mut whole = args::command().disable_help_subcommand(true);
    // Gives each part its full name.
    whole.build();
    let mut pages = vec![(NAME.to_owned(), page(whole.clone())?)];
    for part in whole.get_subcommands() {
        let name = format!("{NAME}-{}", part.get_name());
        pages.push((name.clone(), page(part.clone().display_name(&name))?));
    }
    Ok(pages)
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let after = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let has_parts = command.has_subcommands();
    let man = Man::new(command).source(TOOL).manual("cctrewrite");
    let mut page = Vec::new();
    let render = || -> io::Result<()> {
        man.render_title(&mut page)?;
        man.render_name_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_description_section(&mut page)?;
        man.render_options_section(&mut page)?;
        if has_parts {
            man.render_subcommands_section(&mut page)?;
        }
        page.write_all(as_it_is(&after.unwrap_or_default()).as_bytes())
    };
    render().context("cannot write a manual page")?;
    Ok(page)
}

/// Exit codes and examples, as sections that keep their lines: man(7) would fill them like prose.
fn as_it_is(text: &str) -> String {
    let mut roff = String::new();
    let (before, rest) = text.split_once(exit_codes::HEAD).unwrap_or((text, ""));
    let (codes, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let examples = format!("{before}{after}").replacen("Examples:\n", "", 1);
    for (title, lines) in [("EXAMPLES", &*examples), ("EXIT STATUS", codes)] {
        if lines.trim().is_empty() {
            continue;
        }
        roff.push_str(&format!(".SH {title}\n.nf\n"));
        for line in lines.trim_matches('\n').lines() {
            let line =
                line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq").replace('`', "\\(ga");
            // A dot at the start of a line would begin a request of roff.
            roff.push_str(if line.starts_with('.') { "\\&" } else { "" });
            roff.push_str(&line);
            roff.push('\n');
        }
        roff.push_str(".fi\n");
    }
    roff
}
