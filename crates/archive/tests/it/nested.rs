//! Archives within archives.

use std::convert::Infallible;
use std::io::Cursor;

use cct_archive::{ArchiveProblem, EntryProblem, Error, Failure, Input, Limits, Notice, RewriteOptions};

use crate::builder::{Item, deflated, jar, stored};
use crate::jars::text;
use crate::support::*;

fn innermost() -> Vec<u8> {
    jar(vec![deflated("deep/D.class", &text(700)), stored("deep/r.txt", b"resource")])
}

fn fat_jar() -> Vec<u8> {
    let middle = jar(vec![
        stored("META-INF/MANIFEST.MF", b"A: b\n\n"),
        deflated("m/M.class", &text(500)),
        deflated("m/inner.jar", &innermost()),
    ]);
    jar(vec![
        stored("first/A.class", &text(100)),
        stored("lib/middle.jar", &middle),
        deflated("lib/resources.jar", &jar(vec![deflated("only.txt", &text(2000))])),
        deflated("last/Z.class", &text(200)),
    ])
}

#[test]
fn classes_are_shown_in_place_with_their_whole_path() {
    let bench = Bench::with(&fat_jar());
    let input = bench.open().unwrap();
    let survey =
        input.survey(|at, bytes| Ok::<_, Infallible>((at.to_string(), at.id(), bytes.len()))).unwrap();
    let root = bench.input().display().to_string();
    let expected = [
        (format!("{root}!/first/A.class"), 100),
        (format!("{root}!/lib/middle.jar!/m/M.class"), 500),
        (format!("{root}!/lib/middle.jar!/m/inner.jar!/deep/D.class"), 700),
        (format!("{root}!/last/Z.class"), 200),
    ];
    let seen: Vec<_> = survey.classes.iter().map(|(path, _, len)| (path.clone(), *len)).collect();
    assert_eq!(seen, expected);
    assert!(survey.classes.is_sorted_by_key(|(_, id, _)| id.clone()));
    assert_eq!(survey.classes[2].1.indices(), [1, 2, 0]);
    assert!(survey.notices.is_empty());
}

#[test]
fn nested_archives_are_rewritten_and_keep_their_method() {
    let bench = Bench::with(&fat_jar());
    let account = bench.rewrite(&double).unwrap();
    assert_eq!((account.tally.replaced, account.tally.nested), (4, 3));
    let (old, new) = (contents(&fat_jar()), contents(&bench.written()));
    assert_eq!(new[0].1, text(100).repeat(2));
    assert_eq!(new[2], old[2], "an archive in which nothing changes is kept");
    let middle = contents(&new[1].1);
    assert_eq!(middle[1].1, text(500).repeat(2));
    assert_eq!(contents(&middle[2].1)[0].1, text(700).repeat(2));
    let mut archive = zip::ZipArchive::new(Cursor::new(bench.written())).unwrap();
    assert_eq!(archive.by_index(1).unwrap().compression(), zip::CompressionMethod::Stored);
    assert_eq!(archive.by_index(2).unwrap().compression(), zip::CompressionMethod::Deflated);
}

#[test]
fn unchanged_nested_archives_come_out_byte_for_byte() {
    let bench = Bench::with(&fat_jar());
    bench.rewrite(&keep).unwrap();
    assert_eq!(bench.written(), fat_jar());
}

#[test]
fn each_archive_can_be_added_to_once_it_is_complete() {
    let bench = Bench::with(&fat_jar());
    let account = bench.rewrite(&AddingRewriter(keep)).unwrap();
    assert_eq!(account.tally.added, 8);
    let all = ["first/A.class", "m/M.class", "deep/D.class", "last/Z.class"];
    assert_eq!(account.records, all);
    let outer = contents(&bench.written());
    assert_eq!(outer.last().unwrap().1, all.join("\n").into_bytes());
    let middle = contents(&outer.iter().find(|(name, _)| name == "lib/middle.jar").unwrap().1);
    assert_eq!(middle[1].0, "added/First1.class");
    assert_eq!(middle.last().unwrap().1, b"m/M.class\ndeep/D.class");
    assert_eq!(contents(&middle[3].1).last().unwrap().1, b"deep/D.class");
}

#[test]
fn what_only_bears_the_name_is_kept_with_a_notice() {
    let bench = Bench::with(&jar(vec![
        stored("empty.jar", b""),
        deflated("broken.jar", &innermost()[..100]),
        deflated("text.war", b"not an archive"),
        stored("A.class", b"a"),
    ]));
    let account = bench.rewrite(&double).unwrap();
    let problems = [ArchiveProblem::Empty, ArchiveProblem::Truncated, ArchiveProblem::NotZip];
    let seen: Vec<_> = account
        .notices
        .iter()
        .map(|notice| match notice {
            Notice::NotAnArchive { problem, .. } => problem.clone(),
            other => panic!("{other}"),
        })
        .collect();
    assert_eq!(seen, problems);
    assert!(account.notices[1].to_string().contains("in.jar!/broken.jar: kept as it is: truncated"));
    assert_eq!(
        bench.open().unwrap().survey(|_, _| Ok::<_, Infallible>(())).unwrap().notices,
        account.notices
    );
    assert_eq!(contents(&bench.written())[3].1, b"aa");
}

fn limited(bytes: &[u8], limits: &Limits) -> Vec<Failure<Infallible>> {
    let bench = Bench::with(bytes);
    let input = Input::open(&bench.input(), limits).unwrap();
    let survey = input.survey(|_, _| Ok(())).map(drop);
    let rewritten = rewrite_to(
        &input,
        &bench.output(),
        &RewriteOptions::default(),
        &|_: &cct_archive::Location<'_>, _: &[u8]| Ok::<_, Infallible>(cct_archive::Action::Keep),
    );
    assert_eq!(bench.files(), ["in.jar"]);
    vec![survey.unwrap_err(), rewritten.unwrap_err()]
}

#[test]
fn depth_is_limited() {
    for error in limited(&fat_jar(), &Limits { max_depth: 1, ..Limits::default() }) {
        let Failure::Archive(Error::Archive { archive, problem: ArchiveProblem::TooDeep { limit: 1 } }) =
            &error
        else {
            panic!("{error}")
        };
        assert!(archive.ends_with("!/lib/middle.jar!/m/inner.jar"), "{archive}");
    }
    let bench = Bench::with(&fat_jar());
    let input = Input::open(&bench.input(), &Limits { max_depth: 2, ..Limits::default() }).unwrap();
    assert_eq!(input.survey(|_, _| Ok::<_, Infallible>(())).unwrap().classes.len(), 4);
}

#[test]
fn sizes_and_ratios_are_limited() {
    let bomb = jar(vec![deflated("Bomb.class", &vec![0; 4 << 20])]);
    for error in limited(&bomb, &Limits::default()) {
        let Failure::Archive(Error::Entry {
            problem: EntryProblem::Ratio { size: 0x40_0000, limit: 250, .. },
            ..
        }) = error
        else {
            panic!("{error}")
        };
    }
    for error in limited(&bomb, &Limits { max_entry_bytes: 1000, ..Limits::default() }) {
        assert!(
            matches!(error, Failure::Archive(Error::Entry { problem: EntryProblem::TooLarge { .. }, .. })),
            "{error}"
        );
    }
    for error in limited(&fat_jar(), &Limits { max_total_bytes: 1500, ..Limits::default() }) {
        let expected = EntryProblem::TotalTooLarge { limit: 1500 }.to_string();
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
    let stored_large = jar(vec![stored("A.class", &[0; 2000])]);
    for error in limited(&stored_large, &Limits { max_entry_bytes: 1000, ..Limits::default() }) {
        assert!(
            matches!(error, Failure::Archive(Error::Entry { problem: EntryProblem::TooLarge { .. }, .. })),
            "{error}"
        );
    }
    // Entries that nobody inflates are not limited.
    let bench = Bench::with(&jar(vec![deflated("zeros.bin", &vec![0; 4 << 20])]));
    bench.rewrite(&keep).unwrap();
}

#[test]
fn an_archive_that_contains_itself_ends_at_the_limit() {
    // Levels by the dozen, each claiming to be a jar.
    let mut bytes = jar(vec![stored("A.class", b"a")]);
    for _ in 0..20 {
        bytes = jar(vec![Item { ..stored("again.jar", &bytes) }]);
    }
    for error in limited(&bytes, &Limits::default()) {
        assert!(error.to_string().contains("more than 8 archives deep"), "{error}");
    }
}
