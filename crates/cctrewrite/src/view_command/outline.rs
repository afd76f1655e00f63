//! The rows of a tree of which some nodes are open.

use std::collections::BTreeSet;

use crate::view_command::numbers::Sort;

/// A tree whose nodes have numbers. 0 is its root, which has no row.
pub trait Forest {
    /// The children of a node, sorted.
    fn children(&mut self, of: u32, sort: Sort) -> Vec<u32>;

    /// Whether a node has children.
    fn has_children(&self, node: u32) -> bool;

    /// The inclusive count or change of a node, without its direction.
    fn weight(&self, node: u32) -> u128;
}

/// A visible node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    pub node: u32,
    /// The outermost nodes have depth 1.
    pub depth: usize,
}

/// Levels that [`Outline::open_levels`] opens.
const LEVELS: usize = 3;

/// Rows that [`Outline::open_levels`] adds at most, up to the children of one node.
const MOST_ROWS: usize = 10_000;

/// The hot path ends where less than this part of its first node is left: 0.5%, as in reports.
const COLD: u128 = 200;

/// The visible rows, and the selected one.
#[derive(Debug, Default)]
pub struct Outline {
    open: BTreeSet<u32>,
    rows: Vec<Row>,
    cursor: usize,
    /// The first row on the screen.
    first: usize,
}

impl Outline {
    /// The rows with these open nodes. The cursor is at the deepest node of a path that is visible.
    pub fn new(forest: &mut dyn Forest, sort: Sort, open: BTreeSet<u32>, path: &[u32]) -> Outline {
        let mut outline = Outline { open, ..Outline::default() };
        outline.rows = outline.below(forest, sort, 0, 1);
        outline.select(path);
        outline
    }

    /// Sorts the rows; the cursor stays at its node.
    pub fn sort(&mut self, forest: &mut dyn Forest, sort: Sort) {
        let path = self.path();
        self.rows = self.below(forest, sort, 0, 1);
        self.select(&path);
    }

    /// The rows below a node.
    fn below(&self, forest: &mut dyn Forest, sort: Sort, node: u32, depth: usize) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut due: Vec<Row> = Vec::new();
        let wait = |due: &mut Vec<Row>, forest: &mut dyn Forest, node, depth| {
            let children = forest.children(node, sort).into_iter().rev();
            due.extend(children.map(|node| Row { node, depth }));
        };
        wait(&mut due, forest, node, depth);
        while let Some(row) = due.pop() {
            rows.push(row);
            if self.open.contains(&row.node) {
                wait(&mut due, forest, row.node, row.depth + 1);
            }
        }
        rows
    }

    /// Moves the cursor to the deepest visible node of a path, whose nodes begin at the outermost
    /// one.
    fn select(&mut self, path: &[u32]) {
        let (mut at, mut found) = (0, 0);
        for (&node, depth) in path.iter().zip(1..) {
            let rows = self.rows.iter().enumerate().skip(at).take_while(|(_, row)| row.depth >= depth);
            let Some((row, _)) = rows.into_iter().find(|(_, row)| (row.node, row.depth) == (node, depth))
            else {
                break;
            };
            (at, found) = (row + 1, row);
        }
        self.cursor = found;
    }

    /// The visible rows.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Open nodes, seen or not.
    pub fn open_nodes(&self) -> &BTreeSet<u32> {
        &self.open
    }

    /// Whether a node is open.
    pub fn is_open(&self, node: u32) -> bool {
        self.open.contains(&node)
    }

    /// The position of the cursor.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// The selected row; `None` if there is no row.
    pub fn selected(&self) -> Option<Row> {
        self.rows.get(self.cursor).copied()
    }

    /// The nodes from the outermost one to the selected one.
    pub fn path(&self) -> Vec<u32> {
        let Some(selected) = self.selected() else { return Vec::new() };
        let mut depth = selected.depth + 1;
        let above = self.rows[..=self.cursor].iter().rev();
        let mut path: Vec<u32> = above
            .filter(|row| {
                let is_above = row.depth < depth;
                depth = depth.min(row.depth);
                is_above
            })
            .map(|row| row.node)
            .collect();
        path.reverse();
        path
    }

    /// Moves the cursor by some rows.
    pub fn go_by(&mut self, rows: isize) {
        self.go_to(self.cursor.saturating_add_signed(rows));
    }

    /// Moves the cursor to a row, or to the last one.
    pub fn go_to(&mut self, row: usize) {
        self.cursor = row.min(self.rows.len().saturating_sub(1));
    }

    /// The first of so many rows on the screen; the cursor is among them.
    pub fn first_of(&mut self, height: usize) -> usize {
        let last_first = self.rows.len().saturating_sub(height);
        let least = (self.cursor + 1).saturating_sub(height).min(self.cursor);
        // Within a page before or after the screen it scrolls. After a jump there are rows above
        // and below the cursor.
        let is_near = (self.first..=self.first + 3 * height).contains(&(self.cursor + height));
        let first = if is_near { self.first } else { self.cursor.saturating_sub(height / 3) };
        self.first = first.clamp(least, self.cursor).min(last_first);
        self.first
    }

    /// Opens the selected node. If it is open, goes to its first child.
    pub fn open(&mut self, forest: &mut dyn Forest, sort: Sort) {
        let Some(row) = self.selected().filter(|row| forest.has_children(row.node)) else { return };
        if self.is_open(row.node) {
            self.go_by(1);
        } else {
            self.open_row(forest, sort, self.cursor);
        }
    }

    /// Opens the selected node, or closes it.
    pub fn toggle(&mut self, forest: &mut dyn Forest, sort: Sort) {
        match self.selected() {
            Some(row) if self.is_open(row.node) => self.close(),
            _ => self.open(forest, sort),
        }
    }

    /// Opens the node of a row.
    fn open_row(&mut self, forest: &mut dyn Forest, sort: Sort, at: usize) {
        let Some(&row) = self.rows.get(at).filter(|row| forest.has_children(row.node)) else { return };
        if self.open.insert(row.node) {
            let below = self.below(forest, sort, row.node, row.depth + 1);
            self.rows.splice(at + 1..at + 1, below);
        }
    }

    /// Closes the selected node. If it is closed, goes to its parent.
    pub fn close(&mut self) {
        let Some(row) = self.selected() else { return };
        if self.open.remove(&row.node) {
            let below = self.rows[self.cursor + 1..].iter().take_while(|below| below.depth > row.depth);
            let end = self.cursor + 1 + below.count();
            self.rows.drain(self.cursor + 1..end);
        } else if let Some(parent) =
            self.rows[..self.cursor].iter().rposition(|above| above.depth < row.depth)
        {
            self.cursor = parent;
        }
    }

    /// Opens the selected node and some levels below it.
    pub fn open_levels(&mut self, forest: &mut dyn Forest, sort: Sort) {
        let Some(top) = self.selected() else { return };
        let mut level = vec![top.node];
        let mut added = 0;
        for _ in 0..LEVELS {
            let mut next = Vec::new();
            for node in level {
                if added >= MOST_ROWS {
                    break;
                }
                if forest.has_children(node) {
                    self.open.insert(node);
                    let children = forest.children(node, sort);
                    added += children.len();
                    next.extend(children);
                }
            }
            level = next;
        }
        self.sort(forest, sort);
    }

    /// Opens the heaviest child of the selected node, its heaviest child, and so on, and goes to
    /// the last one.
    pub fn open_hot_path(&mut self, forest: &mut dyn Forest, sort: Sort) {
        let Some(top) = self.selected() else { return };
        let mut path = self.path();
        let least = forest.weight(top.node).div_ceil(COLD).max(1);
        let mut node = top.node;
        while let Some(&heaviest) = forest.children(node, Sort::Inclusive).first()
            && forest.weight(heaviest) >= least
        {
            path.push(heaviest);
            node = heaviest;
        }
        self.show(forest, sort, &path);
    }

    /// Opens the nodes of a path but the last one, and goes to that.
    pub fn show(&mut self, forest: &mut dyn Forest, sort: Sort, path: &[u32]) {
        self.open.extend(path.iter().take(path.len().saturating_sub(1)));
        self.rows = self.below(forest, sort, 0, 1);
        self.select(path);
    }
}
