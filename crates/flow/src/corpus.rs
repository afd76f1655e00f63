//! Tests on every method of a real class library: `rt.jar` of the JDK 8 that `JAVA8_HOME` names.
//! With `--release -- --nocapture corpus` they also print the cost of the analyses.

use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use cct_classfile::{ClassFile, Code};
use cct_tables::BlockRule;

use crate::testing::{Dice, run, update_at};
use crate::*;

fn class_files() -> Option<Vec<Vec<u8>>> {
    let home = PathBuf::from(std::env::var_os("JAVA8_HOME")?);
    let jar =
        [home.join("jre/lib/rt.jar"), home.join("lib/rt.jar")].into_iter().find(|path| path.is_file())?;
    let mut archive = zip::ZipArchive::new(std::fs::File::open(jar).unwrap()).unwrap();
    let mut files = Vec::new();
    for i in 0..archive.len() {
        let mut entry = archive.by_index(i).unwrap();
        if entry.name().unwrap().ends_with(".class") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push(bytes);
        }
    }
    Some(files)
}

/// Numbers of the test, for people.
#[derive(Debug, Default)]
struct Counts {
    methods: usize,
    instructions: u64,
    default_blocks: usize,
    precise_blocks: usize,
    largest_graph: usize,
    most_edges: usize,
    unreachable_blocks: usize,
    loops: usize,
    irreducible: usize,
    updates: usize,
    loops_at_handlers: usize,
    entry_tests: usize,
    largest_decrement: u32,
}

fn timed<R>(total: &mut Duration, f: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = f();
    *total += start.elapsed();
    result
}

fn check_blocks(code: &Code<'_>, blocks: &Blocks) {
    assert_eq!(blocks[0].start, 0);
    assert!(blocks.windows(2).all(|w| w[0].end == w[1].start && w[0].start < w[0].end));
    assert_eq!(blocks[blocks.len() - 1].end, code.length());
    let total: usize = blocks.iter().map(|b| b.bytecodes as usize).sum();
    assert_eq!(total, code.instructions().count());
    let is_start = |bci| blocks.containing(bci).is_some_and(|b| blocks[b as usize].start == bci);
    for i in code.instructions() {
        i.for_each_target(|target| assert!(is_start(target)));
    }
    assert!(code.handlers.iter().all(|h| is_start(h.handler)));
}

/// Removes blocks without a predecessor until none is left; edges to updates do not count.
fn check_acyclic_between_updates(blocks: &Blocks, graph: &Graph, plan: &ActivationPlan) {
    let within = |&to: &BlockId| update_at(plan, blocks[to as usize].start).is_none();
    let mut incoming = vec![0; blocks.len()];
    for (_, to) in graph.edges().filter(|(_, to)| within(to)) {
        incoming[to as usize] += 1;
    }
    let mut free: Vec<BlockId> =
        (0..blocks.len() as BlockId).filter(|&b| incoming[b as usize] == 0).collect();
    let mut struck = 0;
    while let Some(block) = free.pop() {
        struck += 1;
        for to in graph.successors(block).filter(within) {
            incoming[to as usize] -= 1;
            if incoming[to as usize] == 0 {
                free.push(to);
            }
        }
    }
    assert_eq!(struck, blocks.len(), "a cycle without an update");
}

#[test]
fn corpus() {
    let Some(files) = class_files() else {
        eprintln!("skipped: JAVA8_HOME does not name a JDK 8 with an rt.jar");
        return;
    };
    let mut counts = Counts::default();
    let mut dice = Dice::new(2005);
    let (mut default, mut precise) = (Blocks::default(), Blocks::default());
    let (mut graph, mut order, mut dominators) =
        (Graph::default(), DepthFirst::default(), Dominators::default());
    let mut planner = ActivationPlanner::default();
    let [mut decoding, mut cutting, mut cutting_finely, mut structure, mut planning] = [Duration::ZERO; 5];
    for file in &files {
        let class = ClassFile::parse(file).unwrap();
        for method in &class.methods {
            let Some(code) = timed(&mut decoding, || Code::of(&class, method).unwrap()) else { continue };
            timed(&mut cutting, || default.compute(&code, &class.pool, BlockRule::Default));
            timed(&mut cutting_finely, || precise.compute(&code, &class.pool, BlockRule::Precise));
            let loops = timed(&mut structure, || {
                graph.compute(&code, &class.pool, &default).unwrap();
                order.compute(&graph);
                dominators.compute(&graph, &order);
                Loops::of(&graph, &order, &dominators)
            });
            let plan = timed(&mut planning, || planner.plan(&code, &class.pool)).unwrap();

            check_blocks(&code, &default);
            check_blocks(&code, &precise);
            check_acyclic_between_updates(&default, &graph, &plan);
            run(&code, &class.pool, &plan, &mut dice);
            for (id, l) in (0..).zip(loops.iter()).filter(|(_, l)| l.reducible) {
                assert!(loops.body(id).all(|b| dominators.dominates(l.head, b)));
            }
            let loop_heads: Vec<_> = loops.iter().map(|l| default[l.head as usize].start).collect();
            let tested: Vec<_> = plan.points[1..].iter().filter(|p| p.test).collect();
            assert_eq!(tested.len(), loop_heads.len());
            assert!(tested.iter().all(|p| loop_heads.contains(&p.bci)));

            counts.methods += 1;
            counts.instructions += default.iter().map(|b| u64::from(b.bytecodes)).sum::<u64>();
            counts.default_blocks += default.len();
            counts.precise_blocks += precise.len();
            counts.largest_graph = counts.largest_graph.max(graph.len());
            counts.most_edges = counts.most_edges.max(graph.edges().count());
            counts.unreachable_blocks +=
                (0..graph.len() as BlockId).filter(|&b| !order.is_reachable(b)).count();
            counts.loops += loops.len();
            counts.irreducible += loops.iter().filter(|l| !l.reducible).count();
            counts.updates += plan.points.len();
            counts.loops_at_handlers +=
                graph.handler_entries().iter().filter(|&b| order.heads().contains(b)).count();
            counts.entry_tests += usize::from(plan.points[0].test);
            let largest = plan.points.iter().map(|p| p.decrement).max().unwrap_or(0);
            counts.largest_decrement = counts.largest_decrement.max(largest);
        }
    }
    eprintln!("{} classes, {counts:#?}", files.len());
    eprintln!("decoding {decoding:?}, default blocks {cutting:?}, precise blocks {cutting_finely:?},");
    eprintln!(
        "graph + order + dominators + loops {structure:?}, activation plans (blocks included) {planning:?}"
    );
}
