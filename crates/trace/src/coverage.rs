//! Coverage, in the formats of LCOV and of JaCoCo: what was executed of the classes that are in the trace, by line and by bytecode.

use std::collections::BTreeMap;
use std::io::{self, Write};

use cct_events::structure::Recording;
use cct_events::{Class, Method};

use crate::executions::Executions;
use crate::file::Trace;

/// What is known of a source line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Line {
    /// Executions of its block that ran most often.
    times: u64,
    covered: u64,
    missed: u64,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Classes with code that are wanted, by source file.
fn files<'t>(trace: &'t Trace, wanted: &dyn Fn(&str) -> bool) -> BTreeMap<(String, String), Vec<&'t Class>> {
    let mut files: BTreeMap<(String, String), Vec<&Class>> = BTreeMap::new();
    for class in trace.program.classes() {
        let name = text(&class.name);
        let Some(source) = class.source.as_deref().filter(|_| wanted(&name)) else { continue };
        let package = name.rsplit_once('/').map_or("", |(package, _)| package).to_owned();
        files.entry((package, text(source))).or_default().push(class);
    }
    files
}

fn has_blocks(method: &Method) -> bool {
    matches!(method.recording, Recording::Full | Recording::Blocks)
}

/// Adds the lines of a method.
fn lines_of(method: &Method, times: &[u64], lines: &mut BTreeMap<u32, Line>) {
    for (place, block) in method.blocks.iter().enumerate() {
        let times = times.get(place).copied().unwrap_or(0);
        let end = method.blocks.get(place + 1).map_or(method.code.len() as u32, |next| next.start);
        let mut at = block.start;
        while at < end {
            let line = method.lines.partition_point(|(bci, _)| *bci <= at).checked_sub(1);
            if let Some(&(_, line)) = line.and_then(|line| method.lines.get(line)) {
                let line = lines.entry(line).or_default();
                line.times = line.times.max(times);
                *(if times > 0 { &mut line.covered } else { &mut line.missed }) += 1;
            }
            let operand = method.code.get(at as usize + 1).copied();
            let length = method.code.get(at as usize).and_then(|&op| crate::position::length(op, operand));
            at = length.map_or(end, |length| at + length as u32);
        }
    }
}

/// LCOV's tracefile (geninfo(1)).
///
/// # Errors
/// When the output fails.
pub fn lcov(
    trace: &Trace,
    executions: &Executions,
    wanted: &dyn Fn(&str) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for ((package, source), classes) in files(trace, wanted) {
        let folder = if package.is_empty() { String::new() } else { format!("{package}/") };
        writeln!(out, "TN:\nSF:{folder}{source}")?;
        let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
        let (mut found, mut hit) = (0, 0);
        for class in classes {
            for (method, number) in
                class.methods.iter().zip(class.first_method..).filter(|(m, _)| has_blocks(m))
            {
                let counts = executions.of_method(number).cloned().unwrap_or_default();
                lines_of(method, &counts.blocks, &mut lines);
                let name =
                    format!("{}.{}{}", text(&class.name), text(&method.name), text(&method.descriptor));
                if let Some((_, line)) = method.lines.first() {
                    writeln!(out, "FN:{line},{name}\nFNDA:{},{name}", counts.calls)?;
                    found += 1;
                    hit += u32::from(counts.calls > 0);
                }
            }
        }
        writeln!(out, "FNF:{found}\nFNH:{hit}")?;
        for (number, line) in &lines {
            writeln!(out, "DA:{number},{}", line.times)?;
        }
        let hit = lines.values().filter(|line| line.times > 0).count();
        writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len())?;
    }
    Ok(())
}

/// A counter of JaCoCo's.
#[derive(Debug, Clone, Copy, Default)]
struct Counter {
    missed: u64,
    covered: u64,
}

impl Counter {
    fn count(&mut self, is_covered: bool, what: u64) {
        *(if is_covered { &mut self.covered } else { &mut self.missed }) += what;
    }

    fn write(self, kind: &str, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "<counter type=\"{kind}\" missed=\"{}\" covered=\"{}\"/>", self.missed, self.covered)
    }
}

pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// JaCoCo's XML report (`report.dtd` 1.1). Branches are not told apart.
///
/// # Errors
/// When the output fails.
pub fn jacoco(
    trace: &Trace,
    executions: &Executions,
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
        writeln!(out, "<package name=\"{}\">", escaped(&package))?;
        for (source, classes) in &files {
            for class in classes {
                jacoco_class(class, source, executions, out)?;
            }
        }
        for (source, classes) in &files {
            let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
            for class in classes {
                for (method, number) in
                    class.methods.iter().zip(class.first_method..).filter(|(m, _)| has_blocks(m))
                {
                    let counts = executions.of_method(number).map_or(&[][..], |counts| &counts.blocks);
                    lines_of(method, counts, &mut lines);
                }
            }
            writeln!(out, "<sourcefile name=\"{}\">", escaped(source))?;
            for (number, line) in lines {
                writeln!(
                    out,
                    "<line nr=\"{number}\" mi=\"{}\" ci=\"{}\" mb=\"0\" cb=\"0\"/>",
                    line.missed, line.covered
                )?;
            }
            writeln!(out, "</sourcefile>")?;
        }
        writeln!(out, "</package>")?;
    }
    writeln!(out, "</report>")
}

fn jacoco_class(class: &Class, source: &str, executions: &Executions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<class name=\"{}\" sourcefilename=\"{}\">", escaped(&text(&class.name)), escaped(source))?;
    let (mut instructions, mut methods) = (Counter::default(), Counter::default());
    for (method, number) in class.methods.iter().zip(class.first_method..).filter(|(m, _)| has_blocks(m)) {
        let counts = executions.of_method(number).cloned().unwrap_or_default();
        let mut own = Counter::default();
        for (place, block) in method.blocks.iter().enumerate() {
            let is_covered = counts.blocks.get(place).is_some_and(|&times| times > 0);
            own.count(is_covered, block.bytecodes().into());
        }
        instructions.missed += own.missed;
        instructions.covered += own.covered;
        methods.count(counts.calls > 0, 1);
        let line = method.lines.first().map_or(String::new(), |(_, line)| format!(" line=\"{line}\""));
        let (name, descriptor) = (escaped(&text(&method.name)), escaped(&text(&method.descriptor)));
        write!(out, "<method name=\"{name}\" desc=\"{descriptor}\"{line}>")?;
        own.write("INSTRUCTION", out)?;
        writeln!(out, "</method>")?;
    }
    instructions.write("INSTRUCTION", out)?;
    methods.write("METHOD", out)?;
    writeln!(out, "</class>")
}
