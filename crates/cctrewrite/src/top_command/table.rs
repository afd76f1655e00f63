//! The table of `top` as text.

use std::io;
use std::time::Duration;

use cct_build::text::harmless;
use cct_profile::diff::{Change, ChangedContext, ChangedMethod, Difference};
use cct_profile::origin::is_jdk_by_name;
use cct_profile::report::{Layout, aligned, counted, cut, grouped, shortened};

use crate::args::Top;

/// How many lines there are for methods and contexts, and how long these are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub methods: usize,
    pub contexts: usize,
    /// Columns of a line; `None` for no limit.
    pub columns: Option<usize>,
}

impl Room {
    /// Lines where no terminal limits them.
    const ELSEWHERE: usize = 10;

    /// Columns where no terminal limits them: paths of contexts would have hundreds.
    const COLUMNS: usize = 160;

    /// Lines that are no methods and no contexts, and a line for the cursor.
    const OTHERS: usize = 10;

    /// The room that is asked for, or that of the terminal.
    pub fn of(arguments: &Top, is_live: bool) -> Room {
        let height =
            || terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0));
        let (methods, contexts) = match (arguments.lines, is_live.then(height).flatten()) {
            (Some(lines), _) => (lines, lines),
            (None, Some(height)) => {
                let lines = height.saturating_sub(Room::OTHERS).max(2);
                (lines - lines / 3, lines / 3)
            }
            (None, None) => (Room::ELSEWHERE, Room::ELSEWHERE),
        };
        let layout = &arguments.layout;
        let columns = if layout.wide { None } else { layout.of_stdout().width.or(Some(Room::COLUMNS)) };
        Room { methods, contexts, columns }
    }
}

/// How to see the program's own methods.
const YOUR_CODE: &str = ". Your code only: --collapse-library, or --mine 'com.acme.**'";

/// What a table says besides the difference.
#[derive(Debug)]
pub struct Rates {
    pub jvm: String,
    pub program: String,
    pub threads: usize,
    pub elapsed: Duration,
    /// Whether the counts are exact, and what is missing from them: a line each.
    pub verdicts: Vec<String>,
    /// Whether no library is collapsed.
    pub is_whole: bool,
}

impl Rates {
    /// The table.
    pub fn table(&self, found: &Difference, room: Room, layout: Layout) -> String {
        let total = found.total();
        let metric = found.metric.name();
        let program = if self.program.is_empty() { "(not yet at its program)" } else { &self.program };
        let mut lines = vec![
            format!(
                "{program} ({}): {} {metric}/s, {} calls/s in {:.1} s",
                self.jvm,
                self.rate(total),
                self.rate(found.calls),
                self.elapsed.as_secs_f64()
            ),
            format!(
                "since the start: {} {metric}, {} calls, {} contexts (+{}), {}",
                grouped(total.new),
                grouped(found.calls.new),
                grouped(found.contexts.new),
                grouped(growth(found.contexts)),
                counted(self.threads as u128, "thread")
            ),
        ];
        lines.extend(self.verdicts.iter().cloned());
        let share = |change: Change| match growth(total) {
            0 => String::new(),
            all => format!("{:.2}", growth(change) as f64 * 100.0 / all as f64),
        };
        let name = |at: u32| found.names.get(at as usize).map_or("?", |name| &*name.readable);
        let methods = found.methods.iter().filter(|method| method.inclusive.new > method.inclusive.base);
        let of_method = |method: &ChangedMethod| {
            [
                self.rate(method.own),
                share(method.own),
                self.rate(method.inclusive),
                self.rate(method.calls),
                grouped(method.own.new),
                name(method.name).to_owned(),
            ]
        };
        let head = ["own/s", "%", "inclusive/s", "calls/s", "own since start", "method"].map(str::to_owned);
        let shown = || methods.clone().take(room.methods);
        let rows: Vec<_> = std::iter::once(head).chain(shown().map(of_method)).collect();
        let hidden = (methods.clone().count() + 1).saturating_sub(rows.len());
        let is_of_jdk = |method: &ChangedMethod| {
            let exact = found.names.get(method.name as usize).map_or("", |name| &*name.exact);
            let class = exact.split('(').next().unwrap_or_default().replace('.', "/");
            is_jdk_by_name(&class)
        };
        let hint = if self.is_whole && shown().any(is_of_jdk) { YOUR_CODE } else { "" };
        lines.push(String::new());
        lines.extend(with_short_names(&rows, room.columns));
        lines.extend((hidden > 0).then(|| format!("... {}{hint}", counted(hidden as u128, "more method"))));
        let of_context = |context: &ChangedContext| {
            let path: Vec<&str> = context.path.iter().rev().map(|&at| name(at)).collect();
            [self.rate(context.own), share(context.own), self.rate(context.calls), path.join(" < ")]
        };
        let head = ["own/s", "%", "calls/s", "context, innermost frame first"].map(str::to_owned);
        let rows: Vec<_> =
            std::iter::once(head).chain(found.largest_contexts.iter().map(of_context)).collect();
        let hidden = found.changed_contexts.saturating_sub(found.largest_contexts.len() as u64);
        lines.push(String::new());
        lines.extend(aligned(&rows).map(|line| cut(&harmless(&line), room.columns.unwrap_or(usize::MAX))));
        lines.extend((hidden > 0).then(|| format!("... {}", counted(hidden.into(), "more context"))));
        let fitted = |line: &String| cut(&harmless(line), layout.width.unwrap_or(usize::MAX));
        lines.iter().map(|line| fitted(line) + "\n").collect()
    }

    /// Growth per second. Counts only grow.
    fn rate(&self, change: Change) -> String {
        let nanoseconds = self.elapsed.as_nanos().max(1);
        grouped((growth(change).saturating_mul(1_000_000_000) + nanoseconds / 2) / nanoseconds)
    }
}

/// Lines of a table whose names are shortened to fit into so many columns.
fn with_short_names<const N: usize>(rows: &[[String; N]], columns: Option<usize>) -> Vec<String> {
    let short = |(line, row): (String, &[String; N])| {
        let name = &row[N - 1];
        let numbers = &line[..line.len() - name.len()];
        match columns.and_then(|columns| columns.checked_sub(numbers.chars().count())) {
            Some(room) => format!("{numbers}{}", shortened(&harmless(name), room)),
            None => line,
        }
    };
    aligned(rows).zip(rows).map(short).collect()
}

fn growth(change: Change) -> u128 {
    change.new.saturating_sub(change.base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_profile::diff::{DiffOptions, diff};
    use cct_profile::origin::Origins;
    use cct_profile::{Method, Profile, ThreadTree, TreeBuilder};

    fn profile(work: u64) -> Profile {
        let method = |name: &str| Method {
            class: "app/Main".into(),
            name: name.into(),
            descriptor: "()V".into(),
            site: None,
            flags: 0,
            mid: 1,
        };
        let mut tree = TreeBuilder::new();
        tree.enter(0, 1, 10).unwrap();
        tree.enter(1, work / 10, work).unwrap();
        let thread = ThreadTree { name: "main".into(), threads: 1, flags: 0, tree: tree.finish() };
        Profile { methods: vec![method("main"), method("work")], threads: vec![thread], ..Profile::default() }
    }

    fn rates() -> Rates {
        Rates {
            jvm: "process 7".to_owned(),
            program: "app.Main".to_owned(),
            threads: 1,
            elapsed: Duration::from_millis(500),
            verdicts: vec!["Exact: yes".to_owned()],
            is_whole: true,
        }
    }

    fn found(base: Profile, new: Profile) -> Difference {
        diff(base.into(), new.into(), &DiffOptions::default(), &Origins::default()).unwrap()
    }

    #[test]
    fn counts_are_divided_by_the_time_between_looks() {
        let found = found(profile(1_000), profile(4_000));
        let room = Room { methods: 1, contexts: 1, columns: Some(66) };
        let text = rates().table(&found, room, Layout { width: Some(66), colour: false });
        let expected = "\
app.Main (process 7): 6,000 bytecodes/s, 600 calls/s in 0.5 s
since the start: 4,010 bytecodes, 401 calls, 2 contexts (+0), 1 t…
Exact: yes

own/s       %  inclusive/s  calls/s  own since start  method
6,000  100.00        6,000      600            4,000  …Main.work()
... 1 more method

own/s       %  calls/s  context, innermost frame first
6,000  100.00      600  app.Main.work() < app.Main.main()
";
        assert_eq!(text, expected);
    }

    /// In a pipe no terminal limits the lines, but their names are shortened all the same.
    #[test]
    fn lines_of_the_tables_end_after_so_many_columns() {
        let long = |work: u64| {
            let mut profile = profile(work);
            profile.methods[1].class = format!("com/acme/{}/Work", "long".repeat(50)).into();
            profile
        };
        let found = found(long(1_000), long(4_000));
        let lengths = |columns| {
            let room = Room { methods: 1, contexts: 1, columns };
            let text = rates().table(&found, room, Layout::default());
            let (head, tables) = text.split_once("\n\n").unwrap();
            assert!(head.ends_with(" 1 thread\nExact: yes"), "the head is whole: {head}");
            let rows = tables.lines().filter(|line| line.starts_with("6,000 "));
            rows.map(|line| line.chars().count()).collect::<Vec<_>>()
        };
        assert!(lengths(None).iter().all(|&length| length > 200));
        let short = lengths(Some(100));
        assert!(short.len() == 2 && short.iter().all(|&length| length <= 100), "{short:?}");
    }

    #[test]
    fn a_table_with_methods_of_the_jdk_says_how_to_see_ones_own() {
        let of_jdk = |work: u64| {
            let mut profile = profile(work);
            profile.methods[1].class = "java/util/Map".into();
            profile
        };
        let layout = Layout::default();
        let room = Room { methods: 1, contexts: 1, columns: None };
        let found = found(of_jdk(1_000), of_jdk(4_000));
        let more = |rates: Rates| {
            let text = rates.table(&found, room, layout);
            text.lines().find(|line| line.contains(" more method")).map(str::to_owned)
        };
        let hint = "... 1 more method. Your code only: --collapse-library, or --mine 'com.acme.**'";
        assert_eq!(more(rates()).as_deref(), Some(hint));
        let collapsed = Rates { is_whole: false, ..rates() };
        assert_eq!(more(collapsed).as_deref(), Some("... 1 more method"));
    }
}
