//! The table of `top` as text.

use std::io;
use std::time::Duration;

use cct_build::text::harmless;
use cct_profile::diff::{Change, ChangedContext, ChangedMethod, Difference};
use cct_profile::report::{Layout, aligned, counted, cut, grouped};

use crate::args::Top;

/// How many lines there are for methods and contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub methods: usize,
    pub contexts: usize,
}

impl Room {
    /// Lines where no terminal limits them.
    const ELSEWHERE: usize = 10;

    /// Lines that are no methods and no contexts, and a line for the cursor.
    const OTHERS: usize = 10;

    /// The room that is asked for, or that of the terminal.
    pub fn of(arguments: &Top, is_live: bool) -> Room {
        let height =
            || terminal_size::terminal_size_of(io::stdout()).map(|(_, height)| usize::from(height.0));
        match (arguments.lines, is_live.then(height).flatten()) {
            (Some(lines), _) => Room { methods: lines, contexts: lines },
            (None, Some(height)) => {
                let lines = height.saturating_sub(Room::OTHERS).max(2);
                Room { methods: lines - lines / 3, contexts: lines / 3 }
            }
            (None, None) => Room { methods: Room::ELSEWHERE, contexts: Room::ELSEWHERE },
        }
    }
}

/// What a table says besides the difference.
#[derive(Debug)]
pub struct Rates {
    pub jvm: String,
    pub program: String,
    pub threads: usize,
    pub elapsed: Duration,
    /// Whether the counts are exact, and what is missing from them: a line each.
    pub verdicts: Vec<String>,
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
        let head = ["own/s", "%", "inclusive/s", "calls/s", "own in all", "method"].map(str::to_owned);
        let rows: Vec<_> =
            std::iter::once(head).chain(methods.clone().take(room.methods).map(of_method)).collect();
        let hidden = (methods.count() + 1).saturating_sub(rows.len());
        lines.push(String::new());
        lines.extend(aligned(&rows));
        lines.extend((hidden > 0).then(|| format!("... {}", counted(hidden as u128, "more method"))));
        let of_context = |context: &ChangedContext| {
            let path: Vec<&str> = context.path.iter().rev().map(|&at| name(at)).collect();
            [self.rate(context.own), share(context.own), self.rate(context.calls), path.join(" < ")]
        };
        let head = ["own/s", "%", "calls/s", "context, innermost frame first"].map(str::to_owned);
        let rows: Vec<_> =
            std::iter::once(head).chain(found.largest_contexts.iter().map(of_context)).collect();
        let hidden = found.changed_contexts.saturating_sub(found.largest_contexts.len() as u64);
        lines.push(String::new());
        lines.extend(aligned(&rows));
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

    #[test]
    fn counts_are_divided_by_the_time_between_looks() {
        let found =
            diff(profile(1_000).into(), profile(4_000).into(), &DiffOptions::default(), &Origins::default());
        let rates = Rates {
            jvm: "process 7".to_owned(),
            program: "app.Main".to_owned(),
            threads: 1,
            elapsed: Duration::from_millis(500),
            verdicts: vec!["Exact: yes".to_owned()],
        };
        let room = Room { methods: 1, contexts: 1 };
        let text = rates.table(&found.unwrap(), room, Layout { width: Some(60), colour: false });
        let expected = "\
app.Main (process 7): 6,000 bytecodes/s, 600 calls/s in 0.5…
since the start: 4,010 bytecodes, 401 calls, 2 contexts (+0…
Exact: yes

own/s       %  inclusive/s  calls/s  own in all  method
6,000  100.00        6,000      600       4,000  app.Main.w…
... 1 more method

own/s       %  calls/s  context, innermost frame first
6,000  100.00      600  app.Main.work() < app.Main.main()
";
        assert_eq!(text, expected);
    }
}
