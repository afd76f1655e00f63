//! Dynamic metrics of programs (Dufour, Driesen, Hendren and Verbrugge 2003), from what was executed and what the blocks have in them. Densities are per 1000
//! executed bytecodes.

use cct_events::structure::{METRICS, Recording};

use crate::executions::Executions;
use crate::file::Trace;

/// A metric with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// Its name, as in the literature where it is there.
    pub name: &'static str,
    /// What it is.
    pub meaning: &'static str,
    /// The value.
    pub value: f64,
}

const SYNCHRONIZED: u16 = 0x20;
const MONITORENTER: u8 = 194;
/// The share of all executed bytecodes that the hottest code has (Dufour et al.).
const HOT: f64 = 0.9;

/// The metrics of a trace.
pub fn of(trace: &Trace, executions: &Executions) -> Vec<Value> {
    let mut sums = [0_u64; METRICS.len()];
    let (mut loaded, mut run, mut locks, mut calls) = (0_u64, 0_u64, 0_u64, 0_u64);
    let (mut methods, mut polymorphic, mut with_receivers) = (0_u64, 0_u64, 0_u64);
    let mut executed: Vec<(u64, u64)> = Vec::new();
    for class in trace.program.classes() {
        for (method, number) in class.methods.iter().zip(class.first_method..) {
            loaded += method.blocks.iter().map(|block| u64::from(block.bytecodes())).sum::<u64>();
            let Some(counts) = executions.of_method(number) else { continue };
            methods += 1;
            calls += counts.calls;
            let classes = executions.receivers(number).len();
            with_receivers += u64::from(classes > 0);
            polymorphic += u64::from(classes > 1);
            if method.access & SYNCHRONIZED != 0 {
                locks += counts.calls;
            }
            if method.recording == Recording::Leaf {
                continue;
            }
            for (place, (block, &times)) in method.blocks.iter().zip(&counts.blocks).enumerate() {
                if times == 0 {
                    continue;
                }
                let size = u64::from(block.bytecodes());
                run += size;
                executed.push((times, size));
                for (sum, metric) in sums.iter_mut().zip(block.metrics) {
                    *sum += u64::from(metric) * times;
                }
                locks += times * monitors(method, place);
            }
        }
    }
    let all = sums[0].saturating_sub(executions.taken_back());
    let per_1000 = |count: u64| if all == 0 { 0.0 } else { 1000.0 * count as f64 / all as f64 };
    executed.sort_unstable_by(|a, b| b.cmp(a));
    let (mut covered, mut hot) = (0.0, 0_u64);
    for (times, size) in executed {
        if covered >= HOT * all as f64 {
            break;
        }
        covered += (times * size) as f64;
        hot += size;
    }
    let share = |part: u64, of: u64| if of == 0 { 0.0 } else { part as f64 / of as f64 };
    let fields: u64 = sums[7..=14].iter().sum();
    let value = |name, meaning, value| Value { name, meaning, value };
    vec![
        value("executed", "executed bytecodes", all as f64),
        value("calls", "entries of methods that have events of their own", calls as f64),
        value("size.methods", "methods that were entered", methods as f64),
        value("size.load", "bytecodes of the classes that are in the trace", loaded as f64),
        value("size.run", "bytecodes that were executed at least once", run as f64),
        value("size.hot", "bytecodes that 90 % of the execution is in", hot as f64),
        value("size.hot.share", "the same as a share of size.run", share(hot, run)),
        value("structure.controlDensity", "conditional jumps and switches per 1000", per_1000(sums[5])),
        value("structure.jumpDensity", "unconditional jumps per 1000", per_1000(sums[6])),
        value("data.arrayDensity", "array reads and writes per 1000", per_1000(sums[1] + sums[2])),
        value("data.floatDensity", "operations on floating-point numbers per 1000", per_1000(sums[3])),
        value("pointer.fieldAccessDensity", "field reads and writes per 1000", per_1000(fields)),
        value(
            "pointer.refFieldAccessDensity",
            "those of fields with references per 1000",
            per_1000(sums[7] + sums[8] + sums[11] + sums[12]),
        ),
        value("polymorphism.invokeDensity", "virtual and interface calls per 1000", per_1000(sums[17])),
        value("polymorphism.staticDensity", "static calls per 1000", per_1000(sums[18])),
        value(
            "polymorphism.receivers",
            "of methods whose receivers were recorded, the share that had several classes of them",
            share(polymorphic, with_receivers),
        ),
        value("memory.newDensity", "objects and arrays made by bytecodes per 1000", per_1000(sums[16])),
        value(
            "concurrency.lockDensity",
            "monitors entered, by bytecodes and methods, per 1000",
            per_1000(locks),
        ),
    ]
}

/// How many monitors a block enters.
fn monitors(method: &cct_events::Method, block: usize) -> u64 {
    let start = method.blocks[block].start as usize;
    let end = method.blocks.get(block + 1).map_or(method.code.len(), |next| next.start as usize);
    let mut at = start;
    let mut monitors = 0;
    while let Some(&opcode) = method.code.get(at).filter(|_| at < end) {
        monitors += u64::from(opcode == MONITORENTER);
        match crate::position::length(opcode, method.code.get(at + 1).copied()) {
            Some(length) => at += length,
            // A switch ends its block.
            None => break,
        }
    }
    monitors
}
