//! The state of the view, and what keys do to it. It knows no terminal.

use std::collections::{BTreeSet, HashMap};

use anyhow::Result;
use cct_profile::report::has_own_column;

use crate::args::MetricArgument;
use crate::view_command::contexts::Contexts;
use crate::view_command::numbers::{Numbers, Sort};
use crate::view_command::outline::{Forest, Outline, Row};
use crate::view_command::search::{Matches, Query};
use crate::view_command::source::{Choice, ChosenContexts, Source};
use crate::view_command::trees::{CallerTree, CallersOf, MethodList};

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Char(char),
    Enter,
    Escape,
    Backspace,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// Ctrl-C.
    Interrupt,
}

/// The screen that is shown.
pub enum Screen {
    Contexts,
    Callers(CallerTree, Outline),
    Methods(MethodList, Outline),
}

/// A search, and its result on the screen of contexts.
struct Search {
    query: Query,
    matches: Matches,
}

/// The view.
pub struct State {
    source: Source,
    metrics: Vec<MetricArgument>,
    choice: Choice,
    head: Vec<String>,
    contexts: Contexts,
    outline: Outline,
    screen: Screen,
    sort: Sort,
    search: Option<Search>,
    /// The text of a search that the user is typing.
    prompt: Option<String>,
    /// A message until the next key.
    message: Option<String>,
    has_help: bool,
    /// Rows on the screen.
    height: usize,
    has_ended: bool,
}

impl State {
    /// The view of profiles.
    ///
    /// # Errors
    /// Fails if the profiles do not have what is chosen.
    pub fn new(mut source: Source, choice: Choice, sort: Sort) -> Result<State> {
        let ChosenContexts { contexts, head } = source.choose(choice)?;
        let outline = Outline::new(&mut &contexts, sort, BTreeSet::new(), &[]);
        Ok(State {
            metrics: source.metrics(),
            source,
            choice,
            head,
            contexts,
            outline,
            screen: Screen::Contexts,
            sort,
            search: None,
            prompt: None,
            message: None,
            has_help: false,
            height: 1,
            has_ended: false,
        })
    }

    /// Whether the user has ended the view.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Lines about the profiles.
    pub fn head(&self) -> &[String] {
        &self.head
    }

    pub fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    pub fn choice(&self) -> Choice {
        self.choice
    }

    pub fn sort(&self) -> Sort {
        self.sort
    }

    pub fn has_help(&self) -> bool {
        self.has_help
    }

    pub fn prompt(&self) -> Option<&str> {
        self.prompt.as_deref()
    }

    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }

    /// The text that is searched for.
    pub fn query(&self) -> Option<&Query> {
        self.search.as_ref().map(|search| &search.query)
    }

    /// The rows of the screen.
    pub fn outline(&self) -> &Outline {
        match &self.screen {
            Screen::Contexts => &self.outline,
            Screen::Callers(_, outline) | Screen::Methods(_, outline) => outline,
        }
    }

    /// The first row on the screen, which has room for `height` rows.
    pub fn first_of(&mut self, height: usize) -> usize {
        self.height = height.max(1);
        let height = self.height;
        self.act(|outline, _, _| outline.first_of(height))
    }

    /// The numbers of a row.
    pub fn numbers(&self, row: Row) -> Numbers {
        match &self.screen {
            Screen::Contexts => self.contexts.numbers(row.node),
            Screen::Callers(callers, _) => callers.numbers(row.node),
            Screen::Methods(methods, _) => methods.numbers(row.node),
        }
    }

    /// The name of a row.
    pub fn name(&self, row: Row) -> &str {
        match &self.screen {
            Screen::Contexts => self.contexts.name(row.node),
            Screen::Callers(callers, _) => self.contexts.method_name(callers.method_of(row.node)),
            Screen::Methods(..) => self.contexts.method_name(MethodList::method_of(row.node)),
        }
    }

    /// Whether a row is open; `None` if there is nothing below it.
    pub fn openness(&self, row: Row) -> Option<bool> {
        let has_children = match &self.screen {
            Screen::Contexts => (&&self.contexts).has_children(row.node),
            Screen::Callers(callers, _) => callers.has_callers(row.node),
            Screen::Methods(..) => false,
        };
        has_children.then(|| self.outline().is_open(row.node))
    }

    /// The method of the selected row.
    fn selected_method(&self) -> Option<u32> {
        let row = self.outline().selected()?;
        match &self.screen {
            Screen::Contexts => self.contexts.method(row.node),
            Screen::Callers(callers, _) => Some(callers.method_of(row.node)),
            Screen::Methods(..) => Some(MethodList::method_of(row.node)),
        }
    }

    /// Does something to the rows of the screen.
    fn act<T>(&mut self, action: impl FnOnce(&mut Outline, &mut dyn Forest, Sort) -> T) -> T {
        let State { contexts, outline, screen, sort, .. } = self;
        match screen {
            Screen::Contexts => action(outline, &mut &*contexts, *sort),
            Screen::Callers(callers, outline) => action(outline, &mut CallersOf { contexts, callers }, *sort),
            Screen::Methods(methods, outline) => action(outline, &mut &*methods, *sort),
        }
    }

    /// Does what a key asks for.
    pub fn press(&mut self, key: Key) {
        self.message = None;
        if key == Key::Interrupt {
            self.has_ended = true;
        } else if let Some(text) = self.prompt.take() {
            self.type_in(text, key);
        } else if self.has_help {
            self.has_help = false;
            self.has_ended = key == Key::Char('q');
        } else {
            let done = self.press_in_rows(key);
            if let Err(error) = done {
                self.message = Some(format!("{error:#}"));
            }
        }
    }

    /// A key while the user types a search.
    fn type_in(&mut self, mut text: String, key: Key) {
        match key {
            Key::Enter => return self.search_for(&text),
            Key::Escape => return,
            // Deleting beyond the start ends the search, as in less.
            Key::Backspace if text.pop().is_none() => return,
            Key::Char(c) => text.push(c),
            _ => {}
        }
        self.prompt = Some(text);
    }

    fn press_in_rows(&mut self, key: Key) -> Result<()> {
        let page = self.height.saturating_sub(1).max(1) as isize;
        match key {
            Key::Up => self.act(|outline, _, _| outline.go_by(-1)),
            Key::Down => self.act(|outline, _, _| outline.go_by(1)),
            Key::PageUp => self.act(|outline, _, _| outline.go_by(-page)),
            Key::PageDown => self.act(|outline, _, _| outline.go_by(page)),
            Key::Home => self.act(|outline, _, _| outline.go_to(0)),
            Key::End => self.act(|outline, _, _| outline.go_to(usize::MAX)),
            Key::Left => self.act(|outline, _, _| outline.close()),
            Key::Enter | Key::Right if matches!(self.screen, Screen::Methods(..)) => self.show_callers(),
            Key::Right => self.act(Outline::open),
            Key::Enter => self.act(Outline::toggle),
            Key::Char('*') => self.act(Outline::open_hot_path),
            Key::Char('+') => self.act(Outline::open_levels),
            Key::Char('c') => self.show_callers(),
            Key::Char('t') => self.screen = Screen::Contexts,
            Key::Char('m') => self.show_methods(None)?,
            Key::Char('s') => {
                self.sort = self.sort.next();
                if self.sort == Sort::Own && !has_own_column(self.contexts.metric) {
                    self.sort = self.sort.next();
                }
                self.act(Outline::sort);
                if matches!(self.screen, Screen::Methods(..)) {
                    self.act(|outline, _, _| outline.go_to(0));
                }
                if !matches!(self.screen, Screen::Contexts) {
                    self.outline.sort(&mut &self.contexts, self.sort);
                }
            }
            Key::Char('M') => self.next_metric()?,
            Key::Char('l') => {
                let collapses_library = !self.choice.collapses_library;
                self.choose(Choice { collapses_library, ..self.choice })?;
            }
            Key::Char('f') => {
                let folds_recursion = !self.choice.folds_recursion;
                self.choose(Choice { folds_recursion, ..self.choice })?;
            }
            Key::Char('/') => self.prompt = Some(String::new()),
            Key::Char('n') => self.go_to_match(Step::Next),
            Key::Char('N') => self.go_to_match(Step::Previous),
            Key::Escape => self.search = None,
            Key::Char('?') => self.has_help = true,
            Key::Char('q') => self.has_ended = true,
            Key::Char(_) | Key::Backspace | Key::Interrupt => {}
        }
        Ok(())
    }

    fn show_callers(&mut self) {
        let Some(method) = self.selected_method() else { return };
        self.show_callers_of(method);
    }

    fn show_callers_of(&mut self, method: u32) {
        let mut callers = CallerTree::of(&self.contexts, method);
        let mut forest = CallersOf { contexts: &self.contexts, callers: &mut callers };
        // The method itself is open: its row alone says nothing new.
        let outline = Outline::new(&mut forest, self.sort, BTreeSet::from([1]), &[]);
        self.screen = Screen::Callers(callers, outline);
    }

    /// Shows the methods; the cursor is at this one, or at the first one.
    fn show_methods(&mut self, method: Option<u32>) -> Result<()> {
        let methods = MethodList::of(&self.contexts)?;
        let selected = method.map(|method| method + 1);
        let outline = Outline::new(&mut &methods, self.sort, BTreeSet::new(), selected.as_slice());
        self.screen = Screen::Methods(methods, outline);
        Ok(())
    }

    fn next_metric(&mut self) -> Result<()> {
        // Without a choice it is the first one.
        let metric = self.choice.metric.or(self.metrics.first().copied());
        let at = self.metrics.iter().position(|other| Some(*other) == metric).unwrap_or(0);
        match self.metrics.get((at + 1) % self.metrics.len().max(1)) {
            Some(&next) if self.metrics.len() > 1 => {
                self.choose(Choice { metric: Some(next), ..self.choice })
            }
            _ => {
                self.message = Some("there is no other metric".to_owned());
                Ok(())
            }
        }
    }

    /// Shows the profiles in another way. Nodes of the same names stay open, and the cursor where
    /// it is, as far as they are there.
    fn choose(&mut self, choice: Choice) -> Result<()> {
        let ChosenContexts { contexts, head } = self.source.choose(choice)?;
        let method = self.selected_method().map(|method| self.contexts.method_name(method).to_owned());
        let (open, path) = carried(&self.contexts, &self.outline, &contexts);
        self.outline = Outline::new(&mut &contexts, self.sort, open, &path);
        (self.contexts, self.head, self.choice) = (contexts, head, choice);
        if let Some(search) = &mut self.search {
            search.matches = Matches::of(&self.contexts, &search.query);
        }
        let of_callers = match &self.screen {
            Screen::Callers(..) => true,
            Screen::Methods(..) => false,
            Screen::Contexts => return Ok(()),
        };
        let method = method.and_then(|name| self.contexts.method_named(&name));
        self.screen = Screen::Contexts;
        match (of_callers, method) {
            (true, Some(method)) => self.show_callers_of(method),
            (true, None) => self.message = Some("the method is not in these contexts".to_owned()),
            (false, method) => self.show_methods(method)?,
        }
        Ok(())
    }

    fn search_for(&mut self, text: &str) {
        self.search =
            Query::of(text).map(|query| Search { matches: Matches::of(&self.contexts, &query), query });
        self.go_to_match(Step::Here);
    }

    /// The number of the selected match, if it is one, and the number of all.
    pub fn matches(&self) -> Option<(Option<usize>, usize)> {
        let search = self.search.as_ref()?;
        let outline = self.outline();
        if let Screen::Contexts = self.screen {
            let path = outline.path();
            let (before, is_match) = search.matches.before(&self.contexts, self.sort, &path);
            return Some((is_match.then_some(before + 1), search.matches.len()));
        }
        let found = self.matching_rows(&search.query);
        let at = found.binary_search(&outline.cursor());
        Some((at.ok().map(|at| at + 1), found.len()))
    }

    /// The visible rows that match.
    fn matching_rows(&self, query: &Query) -> Vec<usize> {
        let rows = self.outline().rows().iter().enumerate();
        rows.filter(|(_, row)| query.matches(self.name(**row))).map(|(at, _)| at).collect()
    }

    /// Goes to a match. In contexts, opens those above it.
    fn go_to_match(&mut self, step: Step) {
        let Some(search) = &self.search else { return };
        if let Screen::Contexts = self.screen {
            let path = self.outline.path();
            let (before, is_match) = search.matches.before(&self.contexts, self.sort, &path);
            if let Some(number) = step.from(before, is_match, search.matches.len())
                && let Some(path) = search.matches.path(&self.contexts, self.sort, number)
            {
                self.outline.show(&mut &self.contexts, self.sort, &path);
            }
            return;
        }
        let found = self.matching_rows(&search.query);
        let cursor = self.outline().cursor();
        let before = found.partition_point(|&row| row < cursor);
        let is_match = found.get(before) == Some(&cursor);
        if let Some(number) = step.from(before, is_match, found.len()) {
            self.act(|outline, _, _| outline.go_to(found[number]));
        }
    }
}

/// A step to a match.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// To the selected row if it matches, else to the next match.
    Here,
    Next,
    Previous,
}

impl Step {
    /// The match to go to, given how many are before the cursor, and whether the cursor is at one.
    fn from(self, before: usize, is_match: bool, matches: usize) -> Option<usize> {
        let last = matches.checked_sub(1)?;
        Some(match self {
            Step::Here if before < matches => before,
            Step::Next if before + usize::from(is_match) < matches => before + usize::from(is_match),
            Step::Here | Step::Next => 0,
            Step::Previous => before.checked_sub(1).unwrap_or(last),
        })
    }
}

/// The open nodes and the path of the cursor in other contexts, by the names of nodes.
fn carried(from: &Contexts, outline: &Outline, to: &Contexts) -> (BTreeSet<u32>, Vec<u32>) {
    let labels: HashMap<&str, u32> = to.exact_names().zip(0..).collect();
    let other = |node: u32, below: u32| {
        let label = *labels.get(from.exact_name(node))?;
        to.tree().children(below).find(|&child| to.label(child) == label)
    };
    let mut open = BTreeSet::new();
    // Open nodes whose callers are open or not: numbers grow with the depth, callers first.
    let mut same: Vec<(u32, u32)> = vec![(0, 0)];
    for &node in outline.open_nodes() {
        while same.last().is_some_and(|&(above, _)| !from.tree().subtree(above).contains(&node)) {
            same.pop();
        }
        let Some(&(above, below)) = same.last() else { break };
        if from.tree().children(above).any(|child| child == node)
            && let Some(found) = other(node, below)
        {
            open.insert(found);
            same.push((node, found));
        }
    }
    let mut path: Vec<u32> = Vec::new();
    for node in outline.path() {
        let Some(found) = other(node, path.last().copied().unwrap_or(0)) else { break };
        path.push(found);
    }
    (open, path)
}
