//! All formats, read by small decoders that share no code with the writers.

use crate::testing::{exported, method, profile, random, recursion, single, source, thread, tree};
use crate::{
    Difference, ExportError, Metric, NameForm, Options, PRUNED, Source, Threshold, callgrind, collapsed,
    flame, json, parquet, pprof, speedscope,
};
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::RowAccessor;
use cct_profile::names::NameStyle;
use cct_profile::{ContextId, FrameId, Method, Pattern, Profile, Selection};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;

mod otlp;
mod pictures;
mod protobuf;
mod sites;

use protobuf::{fields, integers};

/// Calls and bytecodes.
type Counts = (u64, u64);

fn text(source: &Source, write: fn(&Source, &mut dyn std::io::Write) -> Result<(), ExportError>) -> String {
    String::from_utf8(exported(source, write)).unwrap()
}

/// The sum over the lines of a list of stacks.
fn collapsed_total(source: &Source) -> u64 {
    text(source, collapsed::write)
        .lines()
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
        .sum()
}

/// The width of the picture; that of an empty profile has none.
fn flame_total(source: &Source) -> u64 {
    let picture = text(source, |source, out| flame::write(source, flame::Growth::Flames, out));
    let Some((_, width)) = picture.split_once("total_samples=\"") else {
        assert!(picture.contains("nothing to draw"), "{picture}");
        return 0;
    };
    width.split_once('"').unwrap().0.parse().unwrap()
}

/// For each profile the sum of the durations in which its frames are innermost.
fn speedscope_totals(source: &Source) -> Counts {
    let file: Value = serde_json::from_str(&text(source, speedscope::write)).unwrap();
    let mut totals = BTreeMap::new();
    for profile in file["profiles"].as_array().unwrap() {
        let metric = profile["name"].as_str().unwrap().rsplit_once(' ').unwrap().1.to_owned();
        let (mut open, mut last) = (Vec::new(), profile["startValue"].as_u64().unwrap());
        for event in profile["events"].as_array().unwrap() {
            let at = event["at"].as_u64().unwrap();
            assert!(at >= last);
            assert!(at == last || !open.is_empty(), "time that belongs to no frame");
            *totals.entry(metric.clone()).or_insert(0) += at - last;
            last = at;
            match event["type"].as_str().unwrap() {
                "O" => open.push(event["frame"].clone()),
                _ => assert_eq!(open.pop().as_ref(), Some(&event["frame"])),
            }
        }
        assert_eq!((open.len(), last), (0, profile["endValue"].as_u64().unwrap()));
    }
    let total = |metric: &str| totals.get(metric).copied().unwrap_or(0);
    (total("calls"), total("bytecodes"))
}

fn pprof_totals(source: &Source) -> Counts {
    let mut message = Vec::new();
    flate2::read::GzDecoder::new(&*exported(source, pprof::write)).read_to_end(&mut message).unwrap();
    let strings: Vec<&[u8]> = fields(&message).into_iter().filter(|f| f.0 == 6).map(|f| f.2).collect();
    assert_eq!(strings[0], b"");
    let types = fields(&message).into_iter().filter(|f| f.0 == 1).map(|f| strings[fields(f.2)[0].1 as usize]);
    let types: Vec<&[u8]> = types.collect();
    let mut totals = [0, 0];
    for sample in fields(&message).into_iter().filter(|field| field.0 == 2) {
        // One message field for each value would also be valid; a run of integers looks like a
        // message's keys, too.
        let values = integers(fields(sample.2).into_iter().find(|field| field.0 == 2).unwrap().2);
        assert_eq!(values.len(), types.len());
        for (kind, value) in types.iter().zip(values) {
            totals[usize::from(*kind == b"bytecodes")] += value;
        }
    }
    (totals[0], totals[1])
}

/// The functions' own costs, in the order of the events.
fn callgrind_totals(source: &Source) -> Counts {
    let file = text(source, callgrind::write);
    let bytecodes = file.contains("\nevents: Bytecodes Calls\n");
    let mut totals = (0, 0);
    let mut is_call = false;
    for line in file.lines() {
        if let (Some(costs), false) = (line.strip_prefix("0 "), is_call) {
            let costs: Vec<u64> = costs.split(' ').map(|cost| cost.parse().unwrap()).collect();
            assert_eq!(costs.len(), 1 + usize::from(bytecodes));
            totals.0 += costs[costs.len() - 1];
            totals.1 += if bytecodes { costs[0] } else { 0 };
        }
        is_call = line.starts_with("calls=");
    }
    totals
}

fn parquet_reader(source: &Source) -> SerializedFileReader<std::fs::File> {
    let mut bytes = Vec::new();
    parquet::write(source, &mut bytes).unwrap();
    let file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut &file, &bytes).unwrap();
    SerializedFileReader::new(file).unwrap()
}

fn parquet_totals(source: &Source) -> Counts {
    let reader = parquet_reader(source);
    let columns = reader.metadata().file_metadata().schema_descr().columns();
    let column = |name: &str| columns.iter().position(|column| column.name() == name).unwrap();
    let mut totals = (0, 0);
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        totals.0 += row.get_long(column("calls")).unwrap() as u64;
        totals.1 += row.get_long(column("bytecodes")).unwrap_or(0) as u64;
    }
    totals
}

fn json_totals(source: &Source) -> Counts {
    let file: Value = serde_json::from_str(&text(source, json::write)).unwrap();
    let sum = |column: &str| {
        let trees = file["trees"].as_array().unwrap().iter();
        let columns = trees.filter_map(|tree| tree["contexts"][column].as_array());
        columns.flatten().map(|count| count.as_u64().unwrap()).sum()
    };
    let totals = (sum("calls"), sum("bytecodes"));
    assert_eq!(file["totals"]["calls"], totals.0);
    assert_eq!(file["totals"]["bytecodes"].as_u64().unwrap_or(0), totals.1);
    totals
}

fn assert_totals(source: &Source, expected: Counts) {
    let of_metric = if source.metric == Metric::Calls { expected.0 } else { expected.1 };
    assert_eq!(collapsed_total(source), of_metric);
    assert_eq!(flame_total(source), of_metric);
    assert_eq!(speedscope_totals(source), expected);
    assert_eq!(pprof_totals(source), expected);
    assert_eq!(otlp::totals(source), expected);
    assert_eq!(callgrind_totals(source), expected);
    assert_eq!(parquet_totals(source), expected);
    assert_eq!(json_totals(source), expected);
}

#[test]
fn the_total_of_each_format_is_that_of_the_profile() {
    arbtest::arbtest(|u| {
        let profile = random(u)?;
        let nodes = || profile.threads.iter().flat_map(|thread| &thread.tree.nodes()[1..]);
        let expected = (nodes().map(|node| node.calls).sum(), nodes().map(|node| node.bytecodes).sum());
        let options = Options {
            per_thread: u.arbitrary()?,
            form: *u.choose(&[NameForm::Readable, NameForm::Exact, NameForm::Short])?,
            style: *u.choose(&[NameStyle::Normalised, NameStyle::Raw])?,
            metric: *u.choose(&[None, Some(Metric::Calls)])?,
            threshold: Threshold {
                min_percent: *u.choose(&[0.0, 0.0, 1.0, 20.0])?,
                depth: *u.choose(&[None, Some(3)])?,
            },
            ..Options::default()
        };
        let source = source(profile, &options);
        assert_eq!((source.calls, source.bytecodes.unwrap_or(0)), expected);
        assert_totals(&source, expected);
        Ok(())
    });
}

#[test]
fn a_profile_of_nothing_is_exported_too() {
    for per_thread in [false, true] {
        let options = Options { per_thread, ..Options::default() };
        let source = source(Profile::default(), &options);
        assert_totals(&source, (0, 0));
        assert_eq!(text(&source, collapsed::write), "");
    }
}

#[test]
fn callgrind_adds_up_pairs_and_counts_nested_calls_once() {
    let written = text(&source(recursion(), &Options::default()), callgrind::write);
    let (_, functions) = written.split_once("\nsummary: 177 25\n").unwrap();
    // The inclusive cost of f is 20 + 7 + 5 below main and 30 below g. Nothing is added for f's own
    // calls, as f is active.
    assert_eq!(
        functions,
        "\nfl=(2) a/A.class\nfn=(1) a.A.f(int)\n0 57 6\n\
         cfi=(2)\ncfn=(1)\ncalls=3 0\n0 0 0\n\
         cfi=(2)\ncfn=(2) a.A.g(B)\ncalls=1 0\n0 5 1\n\
         \nfl=(2)\nfn=(2)\n0 20 9\n\
         cfi=(2)\ncfn=(1)\ncalls=1 0\n0 30 1\n\
         cfi=(2)\ncfn=(4) a.A.n()\ncalls=9 0\n0 0 9\n\
         \nfl=(2)\nfn=(3) a.A.main(String[])\n0 100 1\n\
         cfi=(2)\ncfn=(1)\ncalls=2 0\n0 32 6\n\
         cfi=(2)\ncfn=(2)\ncalls=2 0\n0 34 3\n\
         \nfl=(2)\nfn=(4)\n0 0 9\n\
         \nfl=(1) ???\nfn=(5) (all threads)\n0 0 0\n\
         cfi=(2)\ncfn=(2)\ncalls=6 0\n0 11 15\n\
         cfi=(2)\ncfn=(3)\ncalls=1 0\n0 166 10\n\
         \ntotals: 177 25\n"
    );
}

#[test]
fn speedscope_opens_and_closes() {
    let file: Value =
        serde_json::from_str(&text(&source(single(), &Options::default()), speedscope::write)).unwrap();
    let profiles = file["profiles"].as_array().unwrap();
    assert_eq!(profiles.len(), 2);
    assert_eq!(
        (&profiles[0]["name"], &profiles[0]["endValue"]),
        (&"all threads: bytecodes".into(), &166.into())
    );
    let events = profiles[0]["events"].as_array().unwrap().iter().map(|event| {
        (event["type"].as_str().unwrap(), event["frame"].as_u64().unwrap(), event["at"].as_u64().unwrap())
    });
    let (f, g, main) = (0, 1, 2);
    let expected = [
        ("O", main, 0),
        ("O", f, 100),
        ("O", f, 120),
        ("O", g, 127),
        ("C", g, 132),
        ("C", f, 132),
        ("C", f, 132),
        ("O", g, 132),
        ("O", f, 136),
        ("C", f, 166),
        ("C", g, 166),
        ("C", main, 166),
    ];
    assert_eq!(events.collect::<Vec<_>>(), expected);
}

#[test]
fn speedscope_opens_on_the_heaviest_thread() {
    let methods = vec![method("a/A", "f", "()V")];
    let of = |name: &str, bytecodes| thread(name, tree(&[(1, 0, 1, bytecodes)]));
    let threads = vec![of("a", 5), of("b", 70), of("c", 6), of("d", 70)];
    let options = Options { per_thread: true, ..Options::default() };
    let written = text(&source(profile(&[], methods, threads), &options), speedscope::write);
    let file: Value = serde_json::from_str(&written).unwrap();
    // Each thread has a profile of bytecodes and one of calls; of equal threads the first.
    let active = &file["profiles"][file["activeProfileIndex"].as_u64().unwrap() as usize];
    assert_eq!(active["name"], "[b]: bytecodes");
}

#[test]
fn json_is_what_its_page_shows_and_its_schema_says() {
    let documents = [
        include_str!("../../../../docs/reference/formats/export.schema.json"),
        include_str!("../../../../docs/reference/formats/export.md"),
    ];
    let schema: Value = serde_json::from_str(documents[0]).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let problems = |written: &Value| -> Vec<String> {
        schema.iter_errors(written).map(|error| error.to_string()).collect()
    };
    arbtest::arbtest(|u| {
        let options = Options {
            per_thread: u.arbitrary()?,
            threshold: Threshold { min_percent: *u.choose(&[0.0, 20.0])?, depth: None },
            ..Options::default()
        };
        let mut profile = random(u)?;
        profile.notes.push("a note".to_owned());
        let written: Value = serde_json::from_str(&text(&source(profile, &options), json::write)).unwrap();
        assert_eq!(problems(&written), [""; 0]);
        for tree in written["trees"].as_array().unwrap() {
            let length = |column: &str| tree["contexts"][column].as_array().map(Vec::len);
            assert!(length("parent") == length("method") && length("method") == length("calls"));
            assert!(length("bytecodes").is_none_or(|bytecodes| Some(bytecodes) == length("calls")));
        }
        Ok(())
    });
    let main = [(1, 1, 1, 100), (2, 0, 2, 20), (3, 0, 3, 7)];
    let methods = vec![method("a/A", "f", "(I)V"), method("a/A", "main", "([Ljava/lang/String;)V")];
    let meta = [("main", "a.A"), ("metrics", "calls+bytecodes")];
    let profile = profile(&meta, methods, vec![thread("main", tree(&main))]);
    let written: Value =
        serde_json::from_str(&text(&source(profile, &Options::default()), json::write)).unwrap();
    let shown: String = documents[1].lines().filter(|line| line.starts_with("    ")).collect();
    assert_eq!(written, serde_json::from_str::<Value>(&shown).unwrap());
    // The schema rejects something.
    for (pointer, wrong) in
        [("/version", 2.into()), ("/totals/calls", (-1).into()), ("/trees/0/thread", 1.into())]
    {
        let mut broken = written.clone();
        *broken.pointer_mut(pointer).unwrap() = wrong;
        assert_eq!(problems(&broken).len(), 1, "{pointer}");
    }
}

fn difference(difference: &Difference) -> String {
    let mut picture = Vec::new();
    flame::write_difference(difference, flame::Growth::Flames, &mut picture).unwrap();
    String::from_utf8(picture).unwrap()
}

#[test]
fn a_difference_shows_what_is_more_and_says_what_is_gone() {
    let changed = |f: u64, gone: bool| {
        let mut nodes = vec![(1, 2, 1, 100), (2, 0, 2, f)];
        nodes.extend(gone.then_some((2, 1, 1, 8)));
        let methods =
            vec![method("a/A", "f", "()V"), method("a/A", "g", "()V"), method("a/A", "main", "()V")];
        profile(&[("main", "a.A")], methods, vec![thread("main", tree(&nodes))])
    };
    let source = Difference::new(changed(20, true), changed(50, false), &Options::default()).unwrap();
    let picture = difference(&source);
    assert!(
        picture.contains("128 before, 150 after; 8 in 1 contexts that are gone and not drawn"),
        "{picture}"
    );
    // f has 50 of 150, which is 30 more, 20 % of the whole: red.
    assert!(picture.contains("<title>a.A.f() (50 bytecodes, 33.33%; +20.00%)</title>"), "{picture}");
    assert!(picture.contains("fill=\"rgb(255,100,100)\""), "{picture}");
    let back = Difference::new(changed(50, false), changed(20, true), &Options::default()).unwrap();
    let picture = difference(&back);
    assert!(picture.contains("<title>a.A.f() (20 bytecodes, 15.62%; -23.44%)</title>"), "{picture}");
    assert!(!picture.contains("gone"), "{picture}");

    let threshold = Threshold { min_percent: 20.0, depth: None };
    let options = Options { threshold, per_thread: true, ..Options::default() };
    let cut = Difference::new(changed(50, false), changed(20, true), &options).unwrap();
    assert_eq!(
        cut.pruning().as_deref(),
        Some(
            "2 contexts with 50 bytecodes before and 28 after pruned (below 20 % of the \
             bytecodes), and added up as [pruned]"
        )
    );
    let selection = Selection { root: Some(Pattern::new("a.A.g")), ..Selection::default() };
    let options = Options { selection, ..Options::default() };
    let one = Difference::new(changed(20, true), changed(50, false), &options).unwrap();
    assert_eq!(one.differing, ["after, no context has the method 'a.A.g'"]);
    let neither = Difference::new(changed(50, false), changed(50, false), &options).unwrap_err();
    assert_eq!(neither.to_string(), "no context has the method 'a.A.g'");
    let picture = difference(&cut);
    assert!(picture.contains("<title>[pruned] (28 bytecodes, 21.88%; -17.19%)</title>"), "{picture}");
    assert!(picture.contains("<title>[main] (128 bytecodes, 100.00%; 0.00%)</title>"), "{picture}");
}

#[test]
fn roots_and_dropped_methods_are_those_of_comparisons() {
    let options = |root: Option<&str>, ignore: &[&str]| Options {
        selection: Selection {
            root: root.map(Pattern::new),
            drop: ignore.iter().map(|pattern| Pattern::new(pattern)).collect(),
            ..Selection::default()
        },
        ..Options::default()
    };
    let rooted = source(recursion(), &options(Some("a.A.g"), &[]));
    assert_eq!(
        text(&rooted, collapsed::write),
        // Below main twice, and in the worker.
        "a.A.g(B) 20\na.A.g(B);a.A.f(int) 30\n"
    );
    let ignored = source(recursion(), &options(None, &["*.g", "nobody"]));
    assert_eq!(ignored.bytecodes, Some(127));
    assert_eq!(ignored.unmatched, ["nobody"]);
    let error = Source::new(recursion(), &options(Some("a.A.nobody"), &[])).unwrap_err();
    assert_eq!(error.to_string(), "no context has the method 'a.A.nobody'");
}

#[test]
fn uncounted_metrics_are_not_exported() {
    let calls = || {
        profile(
            &[("metrics", "calls")],
            vec![method("A", "f", "()V")],
            vec![thread("main", tree(&[(1, 0, 3, 0)]))],
        )
    };
    let source = source(calls(), &Options::default());
    assert_eq!(text(&source, collapsed::write), "A.f() 3\n");
    assert!(text(&source, callgrind::write).contains("\nevents: Calls\n"));
    let options = Options { metric: Some(Metric::Bytecodes), ..Options::default() };
    assert!(matches!(Source::new(calls(), &options), Err(ExportError::NoBytecodes)));
}

#[test]
fn counts_that_the_formats_cannot_hold_are_refused() {
    let huge = |count| {
        profile(
            &[],
            vec![method("A", "f", "()V")],
            vec![thread("main", tree(&[(1, 0, 1, count), (2, 0, 1, 1)]))],
        )
    };
    let largest = i64::MAX as u64;
    assert_totals(&source(huge(largest - 1), &Options::default()), (2, largest));
    for count in [largest, u64::MAX] {
        let error = Source::new(huge(count), &Options::default()).unwrap_err();
        assert!(matches!(error, ExportError::TooMany("bytecodes")), "{error}");
    }
}

#[test]
fn deep_stacks_are_no_difficulty() {
    let mut builder = cct_profile::TreeBuilder::new();
    let depth = 100_000;
    (0..depth).for_each(|_| builder.enter(0, 1, 2).unwrap());
    let deep = profile(&[], vec![method("A", "f", "()V")], vec![thread("main", builder.finish())]);
    let whole = source(deep.clone(), &Options::default());
    assert_eq!(callgrind_totals(&whole), (depth, 2 * depth));
    assert_eq!(parquet_totals(&whole), (depth, 2 * depth));
    assert_eq!(json_totals(&whole), (depth, 2 * depth));
    assert_eq!(speedscope_totals(&whole), (depth, 2 * depth));
    // The other formats repeat the stack of each context: five billion frames here.
    let threshold = Threshold { min_percent: 0.0, depth: Some(500) };
    let cut = source(deep, &Options { threshold, ..Options::default() });
    assert_totals(&cut, (depth, 2 * depth));
}

#[test]
fn missing_parts_are_reported_in_each_format_with_a_place_for_it() {
    let mut methods = vec![method("A", "f", "()V")];
    methods[0].flags = Method::NATIVE;
    let whole = profile(&[("main", "A")], methods, vec![thread("main", tree(&[(1, 0, 3, 4), (2, 0, 1, 1)]))]);
    let mut bytes = whole.to_bytes().unwrap();
    bytes.truncate(bytes.len() - 20);
    let cut = Profile::read(&bytes).unwrap();
    assert_eq!(cut.damage.len(), 1);
    let source = source(cut, &Options::default());
    for written in [
        text(&source, |source, out| flame::write(source, flame::Growth::Flames, out)),
        text(&source, speedscope::write),
        text(&source, callgrind::write),
    ] {
        assert!(written.contains("INCOMPLETE: the profile is truncated"), "{written}");
    }
    let json: Value = serde_json::from_str(&text(&source, json::write)).unwrap();
    assert_eq!(json["incomplete"].as_array().unwrap().len(), 1);
    let mut message = Vec::new();
    flate2::read::GzDecoder::new(&*exported(&source, pprof::write)).read_to_end(&mut message).unwrap();
    assert!(fields(&message).iter().any(|field| field.2.starts_with(b"INCOMPLETE")));
    let mut table = Vec::new();
    parquet::write(&source, &mut table).unwrap();
    assert!(table.windows(10).any(|window| window == b"INCOMPLETE"));
}

/// Ids are hashes of paths, so the rows of two files can be joined.
#[test]
fn tables_have_ids_of_paths_and_methods() {
    let id = |path: &[&str]| {
        path.iter().fold(ContextId::ROOT, |caller, frame| caller.callee(FrameId::of_text(frame)))
    };
    let labels = [("host", "a"), ("run", "17")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let options = Options { form: NameForm::Exact, labels: labels.into(), ..Options::default() };
    let reader = parquet_reader(&source(recursion(), &options));
    let column = |row: &::parquet::record::Row, name: &str| {
        row.get_column_iter().position(|(column, _)| column == name).unwrap()
    };
    let mut ids = BTreeMap::new();
    for row in reader.get_row_iter(None).unwrap() {
        let row = row.unwrap();
        let number = |name: &str| row.get_long(column(&row, name)).ok().map(|id| id.cast_unsigned());
        let text = row.get_string(column(&row, "text")).unwrap().clone();
        let path = match number("caller") {
            Some(caller) => format!("{};{text}", ids[&caller]),
            None => text.clone(),
        };
        let frames: Vec<&str> = path.split(';').collect();
        assert_eq!(number("context"), Some(id(&frames).0), "{path}");
        assert_eq!(number("method_id"), Some(FrameId::of_text(frames[frames.len() - 1]).0), "{path}");
        let callers = &frames[..frames.len() - 1];
        let is_outermost = !callers.contains(&frames[frames.len() - 1]);
        assert_eq!(row.get_bool(column(&row, "is_outermost")).unwrap(), is_outermost, "{path}");
        assert_eq!(row.get_string(column(&row, "host")).unwrap(), "a");
        assert_eq!(row.get_string(column(&row, "run")).unwrap(), "17");
        ids.insert(number("context").unwrap(), path);
    }
    assert!(ids.len() > 4, "{ids:?}");
}

/// A label must not have the name of a column, so the list of these must be complete.
#[test]
fn all_columns_of_tables_are_reserved() {
    let labels = [("host".to_owned(), "a".to_owned())];
    let options = Options { labels: labels.into(), ..Options::default() };
    let profiles = [recursion(), crate::testing::split()];
    let mut columns: Vec<String> = Vec::new();
    for profile in profiles {
        let reader = parquet_reader(&source(profile, &options));
        let all = reader.metadata().file_metadata().schema_descr().columns();
        columns.extend(all.iter().map(|column| column.name().to_owned()));
    }
    let free: Vec<&String> = columns.iter().filter(|column| !parquet::is_reserved(column)).collect();
    assert_eq!(free, ["host", "host"]);
    for objects in ["objects", "inclusive_objects"] {
        assert!(parquet::is_reserved(objects));
    }
}
