//! OpenTelemetry's profiles signal.

use super::*;
use crate::otlp;

/// A sample of a file of OpenTelemetry: metric, thread, functions with the outermost first, value.
type Sample = (String, Option<String>, Vec<String>, u64);

/// All samples, by the numbers of the fields in the protocol's own description. Checks that each
/// index has its entry.
fn samples(source: &Source) -> Vec<Sample> {
    let file = exported(source, otlp::write);
    let file = fields(&file);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let of = |message: &[u8], number: u64| {
        fields(message).into_iter().find(|field| field.0 == number).map(|field| (field.1, field.2.to_vec()))
    };
    let index = |message: &[u8], number: u64| of(message, number).map_or(0, |field| field.0) as usize;
    let packed =
        |message: &[u8], number: u64| of(message, number).map_or(Vec::new(), |field| integers(&field.1));
    let parts: Vec<_> = file.iter().filter(|field| field.0 == 2).flat_map(|field| fields(field.2)).collect();
    let table = |number: u64| -> Vec<&[u8]> {
        parts.iter().filter(|field| field.0 == number).map(|field| field.2).collect()
    };
    for number in [1, 2, 3, 5, 6, 7] {
        assert_eq!(table(number)[0], b"", "table {number} begins with the empty entry");
    }
    assert_eq!((table(1).len(), table(4).len()), (1, 1));
    let (locations, functions, strings) = (table(2), table(3), table(5));
    let (attributes, stacks) = (table(6), table(7));
    let attribute = |index: u64| {
        let entry = attributes[index as usize];
        let value = of(&of(entry, 2).unwrap().1, 1).unwrap().1;
        (text(strings[self::fields(entry)[0].1 as usize]), text(&value))
    };
    let frame = |location: u64| {
        let location = locations[location as usize];
        let types: Vec<_> = packed(location, 4).into_iter().map(attribute).collect();
        assert_eq!(types, [("profile.frame.type".to_owned(), "jvm".to_owned())]);
        let line = of(location, 3).unwrap().1;
        text(strings[index(functions[index(&line, 1)], 1)])
    };
    let resources: Vec<_> = file.iter().filter(|field| field.0 == 1).collect();
    assert_eq!(resources.len(), 1);
    let scope_profiles = of(resources[0].2, 2).unwrap().1;
    let mut samples = Vec::new();
    for profile in fields(&scope_profiles).into_iter().filter(|field| field.0 == 2) {
        let metric = text(strings[index(&of(profile.2, 1).unwrap().1, 1)]);
        for sample in fields(profile.2).into_iter().filter(|field| field.0 == 2) {
            let stack = index(sample.2, 1);
            assert!(stack > 0);
            let mut names: Vec<String> = packed(stacks[stack], 1).into_iter().map(frame).collect();
            names.reverse();
            let threads: Vec<_> = packed(sample.2, 2).into_iter().map(attribute).collect();
            assert!(threads.iter().all(|(key, _)| key == "thread.name") && threads.len() < 2, "{threads:?}");
            let thread = threads.into_iter().next().map(|(_, name)| name);
            let values = packed(sample.2, 4);
            assert_eq!(values.len(), 1);
            samples.push((metric.clone(), thread, names, values[0]));
        }
    }
    samples
}

pub(super) fn totals(source: &Source) -> Counts {
    let samples = samples(source);
    let total =
        |metric: &str| samples.iter().filter(|sample| sample.0 == metric).map(|sample| sample.3).sum();
    (total("calls"), total("bytecodes"))
}

/// Also of profiles whose dictionary is written in several parts.
#[test]
fn stacks_of_otlp_are_those_of_collapsed_lines() {
    arbtest::arbtest(|u| {
        let options = Options { per_thread: u.arbitrary()?, ..Options::default() };
        let source = source(random(u)?, &options);
        let of_metric = samples(&source);
        let lines = of_metric.into_iter().filter(|sample| sample.0 == source.metric.name());
        let mut lines: Vec<String> = lines
            .map(|(_, thread, mut names, value)| {
                let of_thread = |stacks: &&crate::Stacks| stacks.thread.as_deref() == thread.as_deref();
                names.splice(0..0, source.stacks.iter().find(of_thread).unwrap().frame());
                format!("{} {value}", names.join(";"))
            })
            .collect();
        let collapsed = text(&source, collapsed::write);
        let mut collapsed: Vec<&str> = collapsed.lines().collect();
        lines.sort();
        collapsed.sort_unstable();
        assert_eq!(lines, collapsed);
        Ok(())
    });
}

#[test]
fn the_dictionary_of_otlp_may_have_several_parts() {
    let methods: Vec<Method> =
        (0..5_000).map(|number| method("a/A", &format!("m{number:04}"), "()V")).collect();
    let nodes: Vec<_> = (0..5_000).map(|number| (1, number, 1, 10)).collect();
    let meta = [("metrics", "calls+bytecodes")];
    let source = source(profile(&meta, methods, vec![thread("main", tree(&nodes))]), &Options::default());
    let parts = exported(&source, otlp::write);
    assert!(fields(&parts).iter().filter(|field| field.0 == 2).count() > 2);
    assert_totals(&source, (5_000, 50_000));
}
