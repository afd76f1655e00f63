//! Coverage in the formats of LCOV and JaCoCo: the executed lines, bytecodes and branches of the
//! classes in the trace.

mod branches;
mod jacoco;

use std::collections::BTreeMap;
use std::io::{self, Write};

use cct_events::structure::Recording;
use cct_events::{Class, Method};
use rayon::prelude::*;

use crate::contexts::of_thread;
use crate::executions::Executions;
use crate::file::{Error, Trace};
use crate::replay::Oddities;
pub use branches::Ways;
pub use jacoco::jacoco;

/// Counts executions and branches of a trace; also returns its oddities.
///
/// # Errors
/// Fails if it cannot be read.
pub fn ways(trace: &Trace) -> Result<(Ways, Oddities), Error> {
    let threads = trace.threads.par_iter().map(|thread| {
        let (ways, oddities, _) = of_thread(trace, thread, Ways::default())?;
        Ok((ways, oddities))
    });
    threads.try_reduce(Default::default, |mut a, b: (Ways, Oddities)| {
        a.0.add(b.0);
        a.1.add(b.1);
        Ok(a)
    })
}

/// Writes a line for each basic block: number of executions, index of its first bytecode, method.
///
/// # Errors
/// Fails if the output fails.
pub fn counts(
    trace: &Trace,
    executions: &Executions,
    wanted: &dyn Fn(&str) -> bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    for class in trace.program.classes().iter().filter(|class| wanted(&text(&class.name))) {
        for (method, number) in class.methods.iter().zip(class.first_method..).filter(|(m, _)| has_blocks(m))
        {
            let Some(counts) = executions.of_method(number) else { continue };
            let name = text(&class.name).replace('/', ".");
            let method_name = format!("{name}.{}{}", text(&method.name), text(&method.descriptor));
            for (place, block) in method.blocks.iter().enumerate() {
                let times = counts.blocks.get(place).copied().unwrap_or(0);
                writeln!(out, "{times} {} {method_name}", block.start)?;
            }
        }
    }
    Ok(())
}

/// The coverage of a source line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Line {
    /// Maximum of the executions of its bytecodes.
    times: u64,
    covered: u64,
    missed: u64,
    /// Branches taken.
    taken: u64,
    not_taken: u64,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Wanted classes with code, by source file.
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
fn lines_of(method: &Method, number: u32, ways: &Ways, lines: &mut BTreeMap<u32, Line>) {
    for (place, block) in method.blocks.iter().enumerate() {
        let (mut last, mut bytecode) = (None, 0);
        let end = method.blocks.get(place + 1).map_or(method.code.len() as u32, |next| next.start);
        let mut at = block.start;
        while at < end {
            let times = ways.times(number, place, bytecode);
            bytecode += 1;
            let line = method.lines.partition_point(|(bci, _)| *bci <= at).checked_sub(1);
            if let Some(&(_, line)) = line.and_then(|line| method.lines.get(line)) {
                last = Some(line);
                let line = lines.entry(line).or_default();
                line.times = line.times.max(times);
                *(if times > 0 { &mut line.covered } else { &mut line.missed }) += 1;
            }
            let operand = method.code.get(at as usize + 1).copied();
            let length = method.code.get(at as usize).and_then(|&op| crate::position::length(op, operand));
            at = length.map_or(end, |length| at + length as u32);
        }
        let (all, taken) = ways.of_block(number, method, place);
        if let Some(line) = last.and_then(|line| lines.get_mut(&line)) {
            line.taken += taken;
            line.not_taken += all - taken;
        }
    }
}

/// LCOV's tracefile (geninfo(1)).
///
/// # Errors
/// Fails if the output fails.
pub fn lcov(
    trace: &Trace,
    ways: &Ways,
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
                let calls = ways.executions.of_method(number).map_or(0, |counts| counts.calls);
                lines_of(method, number, ways, &mut lines);
                let name =
                    format!("{}.{}{}", text(&class.name), text(&method.name), text(&method.descriptor));
                if let Some((_, line)) = method.lines.first() {
                    writeln!(out, "FN:{line},{name}\nFNDA:{calls},{name}")?;
                    found += 1;
                    hit += u32::from(calls > 0);
                }
            }
        }
        writeln!(out, "FNF:{found}\nFNH:{hit}")?;
        for (number, line) in &lines {
            writeln!(out, "DA:{number},{}", line.times)?;
            for branch in 0..line.taken + line.not_taken {
                // No number says which of a line's branches were taken: LCOV gets the first ones.
                let taken = match line.times {
                    0 => "-".to_owned(),
                    _ => u32::from(branch < line.taken).to_string(),
                };
                writeln!(out, "BRDA:{number},0,{branch},{taken}")?;
            }
        }
        let hit = lines.values().filter(|line| line.times > 0).count();
        writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", lines.len())?;
    }
    Ok(())
}
