//! JaCoCo's XML report.

use std::collections::BTreeMap;
use std::io::{self, Write};

use cct_events::Class;
use cct_profile::escape::xml;

use super::branches::Ways;
use super::{Line, files, has_blocks, lines_of, text};
use crate::file::Trace;

/// A counter of JaCoCo.
#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    missed: u64,
    covered: u64,
}

impl Counter {
    fn count(&mut self, is_covered: bool, what: u64) {
        *(if is_covered { &mut self.covered } else { &mut self.missed }) += what;
    }

    /// Writes the counter, or nothing if it is zero, like JaCoCo.
    fn write(self, kind: &str, out: &mut dyn Write) -> io::Result<()> {
        if self.missed + self.covered == 0 {
            return Ok(());
        }
        write!(out, "<counter type=\"{kind}\" missed=\"{}\" covered=\"{}\"/>", self.missed, self.covered)
    }
}

/// JaCoCo's XML report (`report.dtd` 1.1).
///
/// # Errors
/// Fails if the output fails.
pub fn jacoco(
    trace: &Trace,
    ways: &Ways,
    wanted: &dyn Fn(&str) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\"><report name=\"cctrewrite\">"
    )?;
    let mut packages: BTreeMap<String, Vec<(String, Vec<&Class>)>> = BTreeMap::new();
    for ((package, source), classes) in files(trace, wanted) {
        packages.entry(package).or_default().push((source, classes));
    }
    for (package, files) in packages {
        writeln!(out, "<package name=\"{}\">", xml(&package))?;
        for (source, classes) in &files {
            for class in classes {
                jacoco_class(class, source, ways, out)?;
            }
        }
        for (source, classes) in &files {
            let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
            for class in classes {
                for (method, number) in
                    class.methods.iter().zip(class.first_method..).filter(|(m, _)| has_blocks(m))
                {
                    lines_of(method, number, ways, &mut lines);
                }
            }
            writeln!(out, "<sourcefile name=\"{}\">", xml(source))?;
            for (number, line) in lines {
                writeln!(
                    out,
                    "<line nr=\"{number}\" mi=\"{}\" ci=\"{}\" mb=\"{}\" cb=\"{}\"/>",
                    line.missed, line.covered, line.not_taken, line.taken
                )?;
            }
            writeln!(out, "</sourcefile>")?;
        }
        writeln!(out, "</package>")?;
    }
    writeln!(out, "</report>")
}

fn jacoco_class(class: &Class, source: &str, ways: &Ways, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<class name=\"{}\" sourcefilename=\"{}\">", xml(&text(&class.name)), xml(source))?;
    let (mut instructions, mut branches, mut methods) = <(Counter, Counter, Counter)>::default();
    for (method, number) in class.methods.iter().zip(class.first_method..).filter(|(m, _)| has_blocks(m)) {
        let calls = ways.executions.of_method(number).map_or(0, |counts| counts.calls);
        let (mut own, mut own_branches) = <(Counter, Counter)>::default();
        for (place, block) in method.blocks.iter().enumerate() {
            let reached = ways.reached(number, place, block.bytecodes());
            own.covered += u64::from(reached);
            own.missed += u64::from(block.bytecodes() - reached);
            let (all, taken) = ways.of_block(number, method, place);
            own_branches.covered += taken;
            own_branches.missed += all - taken;
        }
        instructions.missed += own.missed;
        instructions.covered += own.covered;
        branches.missed += own_branches.missed;
        branches.covered += own_branches.covered;
        methods.count(calls > 0, 1);
        let line = method.lines.first().map_or(String::new(), |(_, line)| format!(" line=\"{line}\""));
        let (name, descriptor) = (xml(&text(&method.name)), xml(&text(&method.descriptor)));
        write!(out, "<method name=\"{name}\" desc=\"{descriptor}\"{line}>")?;
        own.write("INSTRUCTION", out)?;
        own_branches.write("BRANCH", out)?;
        writeln!(out, "</method>")?;
    }
    instructions.write("INSTRUCTION", out)?;
    branches.write("BRANCH", out)?;
    methods.write("METHOD", out)?;
    writeln!(out, "</class>")
}
