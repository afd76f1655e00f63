//! Keys and the screens that they lead to.

use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;

use crate::args::MetricArgument;
use crate::profile_file::ReadOptions;
use crate::view_command::draw::draw;
use crate::view_command::numbers::Sort;
use crate::view_command::source::{Choice, Source};
use crate::view_command::state::{Key, State};

const MAIN: u32 = 0;
const STEP: u32 = 1;
const WALK: u32 = 2;
const GET: u32 = 3;
const HASH: u32 = 4;

fn method(class: &str, name: &str) -> Method {
    let (class, name, descriptor) = (class.into(), name.into(), "()V".into());
    Method { class, name, descriptor, site: None, flags: 0, mid: 0 }
}

/// A profile with contexts as depth, method, calls and own bytecodes.
fn profile(contexts: &[(usize, u32, u64, u64)]) -> Profile {
    let mut tree = TreeBuilder::new();
    let mut open = 0;
    for &(depth, method, calls, bytecodes) in contexts {
        while open >= depth {
            tree.leave();
            open -= 1;
        }
        tree.enter(method, calls, bytecodes).unwrap();
        open = depth;
    }
    Profile {
        meta: [("main".to_owned(), "app.Main".to_owned())].into(),
        methods: vec![
            method("app/Main", "main"),
            method("app/Main", "step"),
            method("app/Tree", "walk"),
            method("java/util/HashMap", "get"),
            method("java/lang/String", "hashCode"),
        ],
        threads: vec![ThreadTree { name: "main".into(), threads: 1, flags: 0, tree: tree.finish() }],
        ..Profile::default()
    }
}

/// `main` calls `step` and `walk`, which calls itself once; both call `get`.
fn usual() -> Profile {
    profile(&[
        (1, MAIN, 1, 10),
        (2, STEP, 2, 20),
        (3, GET, 4, 100),
        (4, HASH, 4, 40),
        (2, WALK, 3, 30),
        (3, WALK, 6, 60),
        (4, GET, 5, 50),
        (5, HASH, 5, 50),
    ])
}

fn reading() -> ReadOptions {
    ReadOptions::everything()
}

fn viewed(source: Source) -> State {
    let choice = Choice { metric: None, collapses_library: false, folds_recursion: false };
    State::new(source, choice, Sort::Inclusive).unwrap()
}

fn state() -> State {
    viewed(Source::of_profile(usual(), reading()))
}

/// Presses the keys of a text; arrows and others are `<>^v` and control characters.
fn press(state: &mut State, keys: &str) {
    for key in keys.chars() {
        state.press(match key {
            '>' => Key::Right,
            '<' => Key::Left,
            '^' => Key::Up,
            'v' => Key::Down,
            '\n' => Key::Enter,
            '\u{1b}' => Key::Escape,
            '\u{8}' => Key::Backspace,
            key => Key::Char(key),
        });
    }
}

/// The lines of the screen, without spaces at their ends.
fn screen_of(state: &mut State, width: u16, height: u16) -> Vec<String> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(state, true, frame)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| line(y).trim_end().to_owned()).collect()
}

fn screen(state: &mut State) -> Vec<String> {
    screen_of(state, 70, 16)
}

/// The rows of the screen: the columns from the numbers on, until the empty lines.
fn rows(state: &mut State) -> Vec<String> {
    let lines = screen(state);
    let head = lines.iter().position(|line| line.trim_start().starts_with("inclusive")).unwrap();
    let rows = lines[head + 1..lines.len() - 1].iter().filter(|line| !line.is_empty());
    rows.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

/// The name in the selected row.
fn selected(state: &State) -> String {
    let row = state.outline().selected().unwrap();
    format!("{} {}", row.depth, state.name(row))
}

fn last(state: &mut State) -> String {
    screen(state).pop().unwrap().replace("? help  q quit", "").trim().to_owned()
}

#[test]
fn the_screen_has_a_head_rows_and_a_hint() {
    let mut state = state();
    press(&mut state, "\n");
    let expected = "\
app.Main: 30 calls, 360 bytecodes, 8 contexts
Exact: unknown: the profile does not say how it was recorded
Contexts: bytecodes, 360 in all; by inclusive
inclusive  own       %  calls    context
      360   10  100.00      1  ▾ app.Main.main()
      190   30   52.78      3    ▸ app.Tree.walk()
      160   20   44.44      2    ▸ app.Main.step()";
    let lines = screen_of(&mut state, 70, 9);
    assert_eq!(lines[..7].join("\n"), expected);
    assert_eq!((&*lines[7], &*lines[8]), ("", &*format!("{:>70}", "? help  q quit")));
}

#[test]
fn rows_open_and_close() {
    let mut state = state();
    press(&mut state, "<");
    assert_eq!(rows(&mut state).len(), 1);
    // Opens, then goes to the first child, which opens, too.
    press(&mut state, ">>>");
    assert_eq!(selected(&state), "2 app.Tree.walk()");
    assert_eq!(rows(&mut state)[2], "160 60 44.44 6 ▸ app.Tree.walk()");
    press(&mut state, "v<");
    assert_eq!(selected(&state), "2 app.Tree.walk()");
    press(&mut state, "<");
    assert_eq!(rows(&mut state).len(), 3);
    press(&mut state, "<<");
    assert_eq!((rows(&mut state).len(), &*selected(&state)), (1, "1 app.Main.main()"));
    // What was open below is open again after it is closed and opened.
    press(&mut state, ">>><<^<>");
    assert_eq!(rows(&mut state).len(), 3);
    state.press(Key::End);
    assert_eq!(selected(&state), "2 app.Main.step()");
    state.press(Key::Home);
    assert_eq!(selected(&state), "1 app.Main.main()");
}

#[test]
fn the_hot_path_and_several_levels_open_at_once() {
    let mut hot = state();
    press(&mut hot, "*");
    assert_eq!(selected(&hot), "5 java.lang.String.hashCode()");
    assert_eq!(rows(&mut hot).len(), 6);
    let mut levels = state();
    press(&mut levels, "+");
    let depths: Vec<usize> = levels.outline().rows().iter().map(|row| row.depth).collect();
    assert_eq!(depths, [1, 2, 3, 4, 2, 3, 4]);
    assert_eq!(selected(&levels), "1 app.Main.main()");
}

#[test]
fn callers_are_a_tree_of_their_own() {
    let mut state = state();
    press(&mut state, "*c");
    let expected = ["90 90 25.00 9 ▾ java.lang.String.hashCode()", "90 90 25.00 9 ▸ java.util.HashMap.get()"];
    assert_eq!(rows(&mut state), expected);
    press(&mut state, "v>");
    assert_eq!(rows(&mut state)[2..], ["50 50 13.89 5 ▸ app.Tree.walk()", "40 40 11.11 4 ▸ app.Main.step()"]);
    assert!(screen(&mut state)[2].starts_with("Callers of java.lang.String.hashCode(): bytecodes, 360"));
    // The inner call of `walk` is part of the outer one.
    press(&mut state, "vc");
    let of_walk = [
        "190 90 52.78 9 ▾ app.Tree.walk()",
        "190 30 52.78 3 app.Main.main()",
        "0 60 0.00 6 ▸ app.Tree.walk()",
    ];
    assert_eq!(rows(&mut state), of_walk);
    press(&mut state, "t");
    assert_eq!(selected(&state), "5 java.lang.String.hashCode()");
}

#[test]
fn methods_are_a_list_that_leads_to_callers() {
    let mut state = state();
    press(&mut state, "ms");
    let by_own = [
        "240 150 66.67 9 java.util.HashMap.get()",
        "190 90 52.78 9 app.Tree.walk()",
        "90 90 25.00 9 java.lang.String.hashCode()",
        "160 20 44.44 2 app.Main.step()",
        "360 10 100.00 1 app.Main.main()",
    ];
    assert_eq!(rows(&mut state), by_own);
    press(&mut state, "vv\n");
    assert!(screen(&mut state)[2].starts_with("Callers of java.lang.String.hashCode()"));
}

#[test]
fn rows_are_sorted_by_what_the_user_chooses() {
    let mut state = state();
    let order = |state: &mut State| -> Vec<String> {
        rows(state).iter().skip(1).map(|row| row.rsplit(' ').next().unwrap().to_owned()).collect()
    };
    press(&mut state, ">vv");
    let (step, walk) = ("app.Main.step()".to_owned(), "app.Tree.walk()".to_owned());
    assert_eq!(order(&mut state), [walk.clone(), step.clone()]);
    press(&mut state, "sss");
    assert_eq!(order(&mut state), [step.clone(), walk.clone()]);
    assert_eq!(selected(&state), "2 app.Main.step()", "the cursor stays at its row");
    assert!(screen(&mut state)[2].ends_with("by name"));
    press(&mut state, "s");
    assert_eq!(order(&mut state), [walk, step]);
}

#[test]
fn the_metric_changes_and_rows_stay_open() {
    let mut state = state();
    press(&mut state, ">vM");
    assert_eq!(
        rows(&mut state),
        ["30 100.00 1 ▾ app.Main.main()", "19 63.33 3 ▸ app.Tree.walk()", "10 33.33 2 ▸ app.Main.step()"]
    );
    assert_eq!(selected(&state), "2 app.Tree.walk()");
    assert!(screen(&mut state)[2].starts_with("Contexts: calls, 30 in all"));
    press(&mut state, "M");
    assert!(screen(&mut state)[2].starts_with("Contexts: bytecodes, 360 in all"));
    let one = Profile { meta: [("metrics".to_owned(), "calls".to_owned())].into(), ..usual() };
    let mut state = viewed(Source::of_profile(one, reading()));
    press(&mut state, "M");
    assert_eq!(last(&mut state), "there is no other metric");
    let choice = Choice {
        metric: Some(MetricArgument::Allocations),
        collapses_library: false,
        folds_recursion: false,
    };
    assert!(State::new(Source::of_profile(usual(), reading()), choice, Sort::Own).is_err());
}

#[test]
fn the_library_collapses_and_comes_back() {
    let mut state = state();
    press(&mut state, ">v>l");
    let expected = [
        "360 10 100.00 1 ▾ app.Main.main()",
        "190 30 52.78 3 ▾ app.Tree.walk()",
        "160 60 44.44 6 ▸ app.Tree.walk()",
        "160 20 44.44 2 ▸ app.Main.step()",
    ];
    assert_eq!(rows(&mut state), expected);
    let title =
        |state: &mut State| screen(state).into_iter().find(|line| line.starts_with("Contexts: ")).unwrap();
    assert!(title(&mut state).contains("; library collapsed"));
    press(&mut state, "v>");
    assert_eq!(rows(&mut state)[3], "100 100 27.78 10 (library)");
    press(&mut state, "l");
    assert!(!title(&mut state).contains("library"));
    assert_eq!(rows(&mut state)[3], "100 50 27.78 5 ▸ java.util.HashMap.get()");
    // Callers of a method that is collapsed.
    press(&mut state, "vcl");
    assert_eq!(last(&mut state), "the method is not in these contexts");
}

#[test]
fn recursion_folds() {
    let mut state = state();
    press(&mut state, ">f");
    assert_eq!(rows(&mut state)[1], "190 90 52.78 9 ▸ app.Tree.walk()");
    press(&mut state, "v>v");
    assert_eq!(selected(&state), "3 java.util.HashMap.get()");
    press(&mut state, "f");
    assert_eq!(rows(&mut state)[1], "190 30 52.78 3 ▾ app.Tree.walk()");
}

#[test]
fn a_search_opens_what_is_above_its_matches() {
    let mut state = state();
    press(&mut state, "/HASHx");
    assert_eq!(last(&mut state), "/HASHx_");
    press(&mut state, "\u{8}c\n");
    // In the order of the rows: below `walk` first.
    assert_eq!(
        (&*selected(&state), &*last(&mut state)),
        ("5 java.lang.String.hashCode()", "HASHc: match 1 of 2")
    );
    press(&mut state, "n");
    assert_eq!(
        (&*selected(&state), &*last(&mut state)),
        ("4 java.lang.String.hashCode()", "HASHc: match 2 of 2")
    );
    press(&mut state, "n");
    assert_eq!(last(&mut state), "HASHc: match 1 of 2");
    press(&mut state, "N");
    assert_eq!(last(&mut state), "HASHc: match 2 of 2");
    press(&mut state, "^");
    assert_eq!(last(&mut state), "HASHc: 2 matches");
    press(&mut state, "sssN");
    assert_eq!(last(&mut state), "HASHc: match 2 of 2", "by name `step` is first");
    press(&mut state, "\u{1b}");
    assert_eq!(last(&mut state), "");
    press(&mut state, "/nowhere\n");
    assert_eq!(last(&mut state), "nowhere: no match");
    press(&mut state, "/walk\n");
    assert_eq!(last(&mut state), "walk: match 1 of 2");
    press(&mut state, "m/main\n");
    assert_eq!((&*selected(&state), &*last(&mut state)), ("1 app.Main.main()", "main: match 1 of 2"));
    press(&mut state, "/\u{8}q");
    assert!(state.has_ended(), "the prompt was left");
}

#[test]
fn two_profiles_are_a_difference() {
    let new = profile(&[
        (1, MAIN, 1, 10),
        (2, STEP, 2, 20),
        (3, GET, 8, 200),
        (3, HASH, 1, 7),
        (2, WALK, 3, 20),
        (3, WALK, 6, 60),
        (4, GET, 5, 50),
        (5, HASH, 5, 50),
    ]);
    let mut state = viewed(Source::of_difference(usual(), new, reading()));
    press(&mut state, ">v+");
    let expected = [
        "+57 0 +15.83 0 ▾ app.Main.main()",
        "+67 0 +18.61 0 ▾ app.Main.step()",
        "+60 +100 +16.67 +4 ▾ java.util.HashMap.get()",
        "-40 -40 -11.11 -4 java.lang.String.hashCode()",
        "+7 +7 +1.94 +1 java.lang.String.hashCode()",
        "-10 -10 -2.78 0 ▸ app.Tree.walk()",
    ];
    assert_eq!(rows(&mut state), expected);
    let lines = screen(&mut state);
    assert_eq!((&*lines[0], &*lines[1]), ("BASE: old.cct", "NEW: new.cct"));
    assert!(
        lines.contains(&"Contexts: bytecodes, change from 360 to 417; by inclusive".to_owned()),
        "{lines:?}"
    );
    press(&mut state, "m");
    assert_eq!(rows(&mut state)[1], "+60 +100 +16.67 +4 java.util.HashMap.get()");
    press(&mut state, "v\n");
    assert_eq!(
        rows(&mut state),
        [
            "+60 +100 +16.67 +4 ▾ java.util.HashMap.get()",
            "+60 +100 +16.67 +4 ▸ app.Main.step()",
            "0 0 0.00 0 ▸ app.Tree.walk()"
        ]
    );
    press(&mut state, "tM");
    assert!(screen(&mut state).contains(&"Contexts: calls, change from 30 to 31; by inclusive".to_owned()));
}

#[test]
fn names_cannot_harm_the_terminal() {
    let mut hostile = usual();
    hostile.methods[1].name = "a\u{1b}[2Jb\u{202e}".into();
    hostile.meta.insert("main".to_owned(), "x\u{1b}]0;y\u{7}".to_owned());
    let mut state = viewed(Source::of_profile(hostile, reading()));
    press(&mut state, ">/\u{1b}");
    let lines = screen(&mut state);
    assert!(lines[0].starts_with("x\\u{1b}]0;y\\u{7}: 30 calls"), "{lines:?}");
    assert!(lines.iter().any(|line| line.ends_with("app.Main.a\\u{1b}[2Jb\\u{202e}()")), "{lines:?}");
}

#[test]
fn small_screens_and_long_lists_are_drawn() {
    let contexts: Vec<(usize, u32, u64, u64)> = (0..3000).map(|at| (at + 1, (at % 5) as u32, 1, 1)).collect();
    let mut state = viewed(Source::of_profile(profile(&contexts), reading()));
    press(&mut state, "/walk\n");
    state.press(Key::End);
    press(&mut state, "N");
    assert_eq!(last(&mut state), "walk: match 600 of 600");
    for (width, height) in [(1, 1), (3, 2), (10, 5), (20, 3), (200, 60)] {
        assert_eq!(screen_of(&mut state, width, height).len(), usize::from(height));
        press(&mut state, "?");
        screen_of(&mut state, width, height);
        press(&mut state, "?");
    }
    assert_eq!(selected(&state), "2998 app.Tree.walk()");
    let lines = screen(&mut state);
    assert!(lines.iter().any(|line| line.contains("[2998] ▸ app.Tree.walk()")), "{lines:?}");
    // A page has 11 rows, one of which stays.
    state.press(Key::PageUp);
    assert_eq!(selected(&state), "2988 app.Tree.walk()");
    let empty = Profile { threads: Vec::new(), ..usual() };
    let mut state = viewed(Source::of_profile(empty, reading()));
    press(&mut state, "\n><*+cmt/x\nnNsMlfq");
    assert!(state.has_ended());
}

#[test]
fn pages_follow_each_other_and_jumps_show_what_is_around() {
    let label = |at: usize| if at == 1500 { HASH } else { at as u32 % 4 };
    let contexts: Vec<(usize, u32, u64, u64)> = (0..3000).map(|at| (at + 1, label(at), 1, 1)).collect();
    let mut state = viewed(Source::of_profile(profile(&contexts), reading()));
    // Opens everything.
    press(&mut state, "/walk\nN");
    state.press(Key::Home);
    let before = rows(&mut state);
    assert_eq!(before.len(), 11);
    for _ in 0..10 {
        state.press(Key::Down);
    }
    assert_eq!(rows(&mut state), before);
    state.press(Key::PageDown);
    assert_eq!(rows(&mut state)[0], before[10]);
    press(&mut state, "/hashcode\n");
    assert!(rows(&mut state)[3].contains("[1501] ▾ java…String.hashCode()"), "{:?}", rows(&mut state));
}

#[test]
fn colours_are_left_out_on_request() {
    let mut state = state();
    press(&mut state, ">/step\n");
    for has_colours in [true, false] {
        let mut terminal = Terminal::new(TestBackend::new(70, 16)).unwrap();
        terminal.draw(|frame| draw(&mut state, has_colours, frame)).unwrap();
        let is_coloured = terminal.backend().buffer().content.iter().any(|cell| cell.fg != Color::Reset);
        assert_eq!(is_coloured, has_colours);
    }
}

#[test]
fn help_lists_the_keys() {
    let mut state = state();
    press(&mut state, "?");
    let lines = screen_of(&mut state, 80, 24);
    for key in
        ["Enter ", "Left ", "* ", "+ ", "c ", "m ", "t ", "s ", "M ", "l ", "f ", "/ ", "n, N, Esc ", "q, "]
    {
        assert!(lines.iter().any(|line| line.starts_with(key)), "{key}: {lines:?}");
    }
    press(&mut state, "x");
    assert!(rows(&mut state).len() == 1 && !state.has_ended());
    press(&mut state, "?q");
    assert!(state.has_ended());
}
