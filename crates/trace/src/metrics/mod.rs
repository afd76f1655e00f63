//! Dynamic metrics of programs (Dufour, Driesen, Hendren and Verbrugge 2003) in their five
//! families: size and structure, data structures, polymorphism, memory use, concurrency.
//! docs/research/trace-metrics.md defines each; densities are per 1000 executed bytecodes.

mod contention;
mod measures;
mod opcodes;

use cct_events::Class;
use cct_events::structure::{METRICS, Recording};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::contexts::of_thread;
use crate::file::{Error, Trace};
use crate::replay::Oddities;
use measures::{Measures, Site};

/// A metric with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// The metric's name, from the literature if there is one.
    pub name: &'static str,
    /// The metric's meaning.
    pub meaning: &'static str,
    /// The value; `None` if the trace lacks the necessary events.
    pub value: Option<f64>,
}

const SYNCHRONIZED: u16 = 0x20;
const INVOKEVIRTUAL: u8 = 182;
const INVOKEINTERFACE: u8 = 185;

/// The share of executed bytecodes that defines the hottest code, and of monitor acquisitions that
/// defines the most wanted monitors (Dufour et al.).
const HOT: f64 = 0.9;

/// Size metrics of a set of classes.
#[derive(Debug, Default)]
struct Size {
    classes: u64,
    methods: u64,
    load: u64,
    run: u64,
    hot: u64,
    /// For each executed block: executed bytecodes, and its number of bytecodes.
    blocks: Vec<(u64, u64)>,
}

impl Size {
    /// Computes how many bytecodes account for most of the execution.
    fn complete(&mut self) {
        let all: u64 = self.blocks.iter().map(|(executed, _)| executed).sum();
        self.blocks.sort_unstable_by_key(|&(executed, size)| std::cmp::Reverse(executed / size.max(1)));
        let mut covered = 0;
        for &(executed, size) in &self.blocks {
            if covered as f64 >= HOT * all as f64 {
                break;
            }
            covered += executed;
            self.hot += size;
        }
    }
}

/// Sums over all executed code.
#[derive(Debug, Default)]
struct Sums {
    of_blocks: [u64; METRICS.len()],
    opcodes: opcodes::Counts,
    calls: u64,
    synchronized: u64,
    all: Size,
    app: Size,
}

impl Sums {
    /// Adds a class; `is_app` is false for one of the class library.
    fn add(&mut self, class: &Class, is_app: bool, measures: &Measures) {
        let mut has_run = false;
        let mut own = Size::default();
        for (method, number) in class.methods.iter().zip(class.first_method..) {
            own.load += method.blocks.iter().map(|block| u64::from(block.bytecodes())).sum::<u64>();
            let Some(counts) = measures.executions.of_method(number) else { continue };
            has_run = true;
            own.methods += 1;
            self.calls += counts.calls;
            if method.access & SYNCHRONIZED != 0 {
                self.synchronized += counts.calls;
            }
            if method.recording == Recording::Leaf {
                continue;
            }
            for (place, (block, &times)) in method.blocks.iter().zip(&counts.blocks).enumerate() {
                if times == 0 {
                    continue;
                }
                let size = u64::from(block.bytecodes());
                own.run += size;
                own.blocks.push((size * times, size));
                for (sum, metric) in self.of_blocks.iter_mut().zip(block.metrics) {
                    *sum += u64::from(metric) * times;
                }
                let of = opcodes::of(method, place);
                self.opcodes.monitors += of.monitors * times;
                self.opcodes.chars += of.chars * times;
                self.opcodes.numbers += of.numbers * times;
                self.opcodes.references += of.references * times;
            }
        }
        own.classes = u64::from(has_run);
        for size in [Some(&mut self.all), is_app.then_some(&mut self.app)].into_iter().flatten() {
            size.classes += own.classes;
            size.methods += own.methods;
            size.load += own.load;
            size.run += own.run;
            size.blocks.extend_from_slice(&own.blocks);
        }
    }
}

/// Computes the metrics of a trace; also returns its oddities.
///
/// # Errors
/// Fails if it cannot be read.
pub fn of(trace: &Trace) -> Result<(Vec<Value>, Oddities), Error> {
    let threads = trace.threads.par_iter().map(|thread| {
        let (measures, oddities, _) = of_thread(trace, thread, Measures::default())?;
        Ok((measures, oddities))
    });
    let (measures, oddities) = threads.try_reduce(Default::default, |mut a, b: (Measures, Oddities)| {
        a.0.add(b.0);
        a.1.add(b.1);
        Ok::<_, Error>(a)
    })?;
    let library = trace.said("classes").and_then(|classes| classes.parse().ok()).unwrap_or(u32::MAX);
    let mut sums = Sums::default();
    for class in trace.program.classes() {
        sums.add(class, class.number >= library, &measures);
    }
    sums.all.complete();
    sums.app.complete();
    let executed = sums.of_blocks[0].saturating_sub(measures.executions.taken_back());
    let mut table = Table { values: Vec::new(), executed };
    size(&mut table, &sums, &measures);
    data(&mut table, &sums);
    polymorphism(&mut table, trace, &sums, &measures);
    memory(&mut table, trace, &measures);
    concurrency(&mut table, trace, &sums, &measures)?;
    Ok((table.values, oddities))
}

struct Table {
    values: Vec<Value>,
    executed: u64,
}

impl Table {
    fn add(&mut self, name: &'static str, meaning: &'static str, value: Option<f64>) {
        self.values.push(Value { name, meaning, value });
    }

    fn count(&mut self, name: &'static str, meaning: &'static str, value: u64) {
        self.add(name, meaning, Some(value as f64));
    }

    /// Adds a density per 1000 executed bytecodes.
    fn density(&mut self, name: &'static str, meaning: &'static str, count: u64) {
        let density = ratio(count, self.executed).map(|ratio| 1000.0 * ratio);
        self.add(name, meaning, density);
    }
}

fn ratio(part: impl Into<u128>, of: u64) -> Option<f64> {
    (of > 0).then(|| part.into() as f64 / of as f64)
}

fn size(table: &mut Table, sums: &Sums, measures: &Measures) {
    let (all, app) = (&sums.all, &sums.app);
    table.count("executed", "bytecodes executed", table.executed);
    table.count("calls", "entries of methods that have events of their own", sums.calls);
    table.count("size.classes", "classes of which a method was entered", all.classes);
    table.count("size.appClasses", "those that are not of the class library", app.classes);
    table.count("size.methods", "methods entered", all.methods);
    table.count("size.load", "bytecodes of the classes that are in the trace", all.load);
    table.count("size.appLoad", "those that are not of the class library", app.load);
    table.count("size.run", "bytecodes executed at least once", all.run);
    table.count("size.appRun", "those that are not of the class library", app.run);
    table.count("size.hot", "bytecodes that have 90 % of the execution", all.hot);
    table.count("size.appHot", "the same of what is not of the class library", app.hot);
    table.add("size.hot.percentile", "size.hot as a share of size.run", ratio(all.hot, all.run));
    table.density("structure.controlDensity", "conditional jumps and switches per 1000", sums.of_blocks[5]);
    let changes = measures.changes;
    table.density(
        "structure.changingControlDensity",
        "those that went elsewhere than the last time, per 1000",
        changes,
    );
    let rate = ratio(changes, sums.of_blocks[5]);
    table.add("structure.changingControlRate", "the same as a share of all of them", rate);
    table.density("structure.jumpDensity", "unconditional jumps per 1000", sums.of_blocks[6]);
}

fn data(table: &mut Table, sums: &Sums) {
    let of = &sums.of_blocks;
    table.density("data.arrayDensity", "array reads and writes per 1000", of[1] + of[2]);
    table.density("data.charArrayDensity", "those of arrays of char", sums.opcodes.chars);
    table.density(
        "data.numArrayDensity",
        "those of arrays of other numbers and of booleans",
        sums.opcodes.numbers,
    );
    table.density("data.refArrayDensity", "those of arrays of references", sums.opcodes.references);
    table.density("data.floatDensity", "operations on floating-point numbers per 1000", of[3]);
    table.density("pointer.fieldAccessDensity", "field reads and writes per 1000", of[7..=14].iter().sum());
    let references = of[7] + of[8] + of[11] + of[12];
    table.density("pointer.refFieldAccessDensity", "those of fields with references", references);
}

fn polymorphism(table: &mut Table, trace: &Trace, sums: &Sums, measures: &Measures) {
    let is_virtual = |(method, place): (u32, u32)| {
        let found = trace.program.method(method);
        let site = found.and_then(|found| found.method.calls.get(place as usize));
        site.is_some_and(|site| matches!(site.opcode, INVOKEVIRTUAL | INVOKEINTERFACE))
    };
    let sites: Vec<&Site> =
        measures.sites.iter().filter(|(place, _)| is_virtual(**place)).map(|(_, site)| site).collect();
    let sum = |of: &dyn Fn(&Site) -> u64| sites.iter().map(|site| of(site)).sum::<u64>();
    let calls = sum(&|site| site.calls);
    table.density("polymorphism.invokeDensity", "virtual and interface calls per 1000", sums.of_blocks[17]);
    table.density("polymorphism.staticDensity", "static calls per 1000", sums.of_blocks[18]);
    table.count("polymorphism.callSites", "virtual and interface call sites that called", sites.len() as u64);
    let poly = |targets: usize| u64::from(targets > 1);
    let share = ratio(sum(&|site| poly(site.targets.len())), sites.len() as u64);
    table.add("polymorphism.targetArity.poly", "the share of them that called several methods", share);
    let share = ratio(sum(&|site| site.calls * poly(site.targets.len())), calls);
    table.add("polymorphism.targetArityCalls.poly", "the share of calls that are from these", share);
    let rate = ratio(sum(&|site| site.target_changes), calls);
    table.add("polymorphism.targetCacheMissRate", "the share of calls of another method than the last", rate);
    let received = sum(&|site| site.received);
    let with = sum(&|site| u64::from(site.received > 0));
    let share = ratio(sum(&|site| poly(site.receivers.len())), with);
    table.add(
        "polymorphism.receiverArity.poly",
        "the share of call sites that had several classes of receivers",
        share,
    );
    let share = ratio(sum(&|site| site.received * poly(site.receivers.len())), received);
    table.add("polymorphism.receiverArityCalls.poly", "the share of calls that are from these", share);
    let rate = ratio(sum(&|site| site.receiver_changes), received);
    table.add(
        "polymorphism.receiverCacheMissRate",
        "the share of calls with another class than the last",
        rate,
    );
}

/// Sizes of headers in bytes: of an object, and of an array with its length (HotSpot, 64 bits, with
/// 32-bit classes and references).
const OBJECT: u64 = 12;
const ARRAY: u64 = 16;

/// Upper bounds of the bins of sizes, in bytes.
const BINS: [(u64, &str); 6] = [
    (16, "memory.objectSize.bin.16"),
    (32, "memory.objectSize.bin.32"),
    (64, "memory.objectSize.bin.64"),
    (128, "memory.objectSize.bin.128"),
    (512, "memory.objectSize.bin.512"),
    (u64::MAX, "memory.objectSize.bin.more"),
];

/// Sums over allocated objects.
#[derive(Default)]
struct Sizes {
    objects: u64,
    /// Events of arrays of arrays have their number, up to 2^32 - 1, and their length. So one event
    /// may stand for more bytes than 64 bits can count.
    bytes: u128,
    bins: [u64; BINS.len()],
}

impl Sizes {
    fn add(&mut self, size: u64, count: u64) {
        self.objects += count;
        self.bytes += u128::from(size) * u128::from(count);
        if let Some(bin) = BINS.iter().position(|(most, _)| size <= *most) {
            self.bins[bin] += count;
        }
    }
}

fn memory(table: &mut Table, trace: &Trace, measures: &Measures) {
    table.density(
        "memory.newDensity",
        "objects and arrays by bytecodes per 1000",
        instructions(trace, measures),
    );
    let classes: FxHashMap<&[u8], &Class> =
        trace.program.classes().iter().map(|class| (&*class.name, class)).collect();
    let mut sizes = Sizes::default();
    for (of, length, count) in measures.made.named() {
        sizes.add(size_of(of, length, &classes), count);
    }
    #[allow(clippy::iter_over_hash_type)] // Sums.
    for ((class, length), count) in &measures.made.numbered {
        let name = trace.class_names.get(class).map_or(&[][..], |name| name.as_bytes());
        sizes.add(size_of(name, *length, &classes), *count);
    }
    let Sizes { objects, bytes, bins } = sizes;
    let is_recorded = trace.has_objects();
    let density =
        |count: u128| ratio(count, table.executed).filter(|_| is_recorded).map(|ratio| 1000.0 * ratio);
    let (of_bytes, of_objects) = (density(bytes), density(objects.into()));
    table.add("memory.byteAllocationDensity", "bytes allocated per 1000 bytecodes", of_bytes);
    table.add(
        "memory.objectAllocationDensity",
        "objects and arrays allocated per 1000 bytecodes",
        of_objects,
    );
    table.add("memory.averageObjectSize", "bytes of one", ratio(bytes, objects));
    for ((_, name), count) in BINS.iter().zip(bins) {
        table.add(
            name,
            "the share of them of up to so many bytes, and more than the bin before",
            ratio(count, objects),
        );
    }
}

/// Number of objects and arrays that the executed instructions allocated.
fn instructions(trace: &Trace, measures: &Measures) -> u64 {
    let of_class = |class: &Class| {
        let methods = class.methods.iter().zip(class.first_method..);
        let of_method = |(method, number): (&cct_events::Method, u32)| {
            let counts = measures.executions.of_method(number)?;
            let blocks = method.blocks.iter().zip(&counts.blocks);
            Some(blocks.map(|(block, times)| u64::from(block.metrics[16]) * times).sum::<u64>())
        };
        methods.filter_map(of_method).sum::<u64>()
    };
    trace.program.classes().iter().map(of_class).sum()
}

/// Size of an object or an array in bytes, rounded up to 8.
fn size_of(of: &[u8], length: u32, classes: &FxHashMap<&[u8], &Class>) -> u64 {
    if let Some(element) = of.strip_prefix(b"[") {
        let bytes = match element.first() {
            Some(b'J' | b'D') => 8,
            Some(b'S' | b'C') => 2,
            Some(b'B' | b'Z') => 1,
            _ => 4,
        };
        return (ARRAY + bytes * u64::from(length)).next_multiple_of(8);
    }
    let mut size = OBJECT;
    let mut seen = FxHashSet::default();
    let mut next = Some(of);
    while let Some(class) = next.filter(|name| seen.insert(*name)).and_then(|name| classes.get(name)) {
        size += u64::from(class.field_bytes);
        next = class.super_name.as_deref();
    }
    size.next_multiple_of(8)
}

fn concurrency(table: &mut Table, trace: &Trace, sums: &Sums, measures: &Measures) -> Result<(), Error> {
    table.count("concurrency.threads", "threads", trace.threads.len() as u64);
    table.density(
        "concurrency.lockDensity",
        "monitors taken, by bytecodes and by synchronized methods, per 1000",
        sums.opcodes.monitors + sums.synchronized,
    );
    let percentile = percentile(&measures.locks);
    table.add(
        "concurrency.lock.percentile",
        "the share of monitors that 90 % of the taking is of",
        percentile,
    );
    let contended = if trace.is_ordered && trace.has_objects() { Some(contention::of(trace)?) } else { None };
    let count = contended.as_ref().map(|contended| contended.values().sum::<u64>());
    let density = count.and_then(|count| ratio(count, table.executed)).map(|ratio| 1000.0 * ratio);
    table.add(
        "concurrency.lockContendedDensity",
        "those by bytecodes that another thread had, per 1000",
        density,
    );
    let percentile = contended.as_ref().and_then(self::percentile);
    table.add(
        "concurrency.lockContended.percentile",
        "the share of monitors that 90 % of these are of",
        percentile,
    );
    Ok(())
}

/// The share of all keys that accounts for 90 % of the counts.
fn percentile(counts: &FxHashMap<u32, u64>) -> Option<f64> {
    let mut sorted: Vec<u64> = counts.values().copied().collect();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let all: u64 = sorted.iter().sum();
    let (mut covered, mut hot) = (0, 0_u64);
    for count in sorted {
        if covered as f64 >= HOT * all as f64 {
            break;
        }
        covered += count;
        hot += 1;
    }
    ratio(hot, counts.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_superclasses_and_end_in_circles() {
        let class = |name: &str, above: &str, field_bytes| Class {
            name: name.as_bytes().into(),
            super_name: Some(above.as_bytes().into()),
            field_bytes,
            ..Class::default()
        };
        let all = [class("A", "B", 5), class("B", "java/lang/Object", 8), class("X", "X", 1)];
        let classes: FxHashMap<&[u8], &Class> = all.iter().map(|class| (&*class.name, class)).collect();
        let size = |of: &str, length| size_of(of.as_bytes(), length, &classes);
        assert_eq!((size("A", 0), size("B", 0), size("X", 0), size("Unknown", 0)), (32, 24, 16, 16));
        assert_eq!((size("[B", 1), size("[[I", 3), size("[J", 2), size("[C", 4)), (24, 32, 32, 24));
    }

    /// One event with the maximum number of arrays of maximum length: their bytes used to be added
    /// up in 64 bits.
    #[test]
    fn as_many_arrays_as_can_be_and_as_long() {
        let (mut sizes, most) = (Sizes::default(), u64::from(u32::MAX));
        let size = size_of(b"[J", u32::MAX, &FxHashMap::default());
        sizes.add(size, most);
        assert_eq!(sizes.bytes, u128::from(size) * u128::from(most));
        assert_eq!(sizes.bins, [0, 0, 0, 0, 0, most]);
    }

    #[test]
    fn the_hottest_have_nine_tenths() {
        let counts: FxHashMap<u32, u64> = (0..10).map(|key| (key, if key == 3 { 91 } else { 1 })).collect();
        assert_eq!(percentile(&counts), Some(0.1));
        assert_eq!(percentile(&FxHashMap::default()), None);
        let mut size = Size { blocks: vec![(90, 9), (5, 5), (5, 1)], ..Size::default() };
        size.complete();
        assert_eq!(size.hot, 9);
    }
}
