//! Labels of contexts: methods, or groups of methods.

use crate::escape::terminal;
use crate::names::{Frame, FrameTable, NameStyle, normalised_class};
use crate::origin::{Origins, package_of};
use crate::{Fold, FrameId, MergeError, Method, Site, ThreadTree, Tree, TreeBuilder};

/// The kind of label, one for each row of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// A method.
    #[default]
    Method,
    /// A class.
    Class,
    /// A package.
    Package,
    /// A jar, image or folder.
    Jar,
    /// A module.
    Module,
    /// All threads of one name.
    Thread,
}

impl By {
    /// The word for one label.
    pub fn name(self) -> &'static str {
        match self {
            By::Method => "method",
            By::Class => "class",
            By::Package => "package",
            By::Jar => "jar",
            By::Module => "module",
            By::Thread => "thread",
        }
    }

    /// Whether the origins of classes must be known.
    pub fn needs_origins(self) -> bool {
        matches!(self, By::Jar | By::Module)
    }

    /// The group of a method, for all kinds but methods and threads.
    pub(crate) fn group(self, method: &Method, names: NameStyle, origins: &Origins) -> String {
        if method.flags & Method::MARKER != 0 {
            return format!("{}{}{}", method.class, method.name, method.descriptor);
        }
        if method.flags & Method::UNKNOWN != 0 {
            return "(unknown methods)".to_owned();
        }
        let class = match names {
            NameStyle::Normalised => normalised_class(&method.class),
            NameStyle::Raw => &method.class,
        };
        let unknown = || "(not found)".to_owned();
        let origin = || origins.of(&method.class);
        match self {
            By::Method | By::Thread | By::Class => class.replace('/', "."),
            By::Package => match package_of(class) {
                "" => "(unnamed package)".to_owned(),
                package => package.replace('/', "."),
            },
            By::Jar => origin().map_or_else(unknown, |origin| origin.container.clone()),
            By::Module => origin().map_or_else(unknown, |origin| {
                origin.module.clone().unwrap_or_else(|| format!("(unnamed module) {}", origin.container))
            }),
        }
    }
}

/// The labels of methods: their frames, or the names of their groups. Sorted by name, so that equal
/// labels of two profiles sort alike.
#[derive(Debug)]
pub struct Labels<'a> {
    by: By,
    of_method: Vec<u32>,
    names: Names<'a>,
    /// The methods of the labels, where call sites have labels of their own.
    sites: Option<OfSites<'a>>,
}

/// Methods whose call sites are the labels.
#[derive(Debug)]
struct OfSites<'a> {
    methods: FrameTable<'a>,
    /// The method of each label.
    of_label: Vec<u32>,
}

#[derive(Debug)]
enum Names<'a> {
    Frames(FrameTable<'a>),
    Groups(Vec<String>),
}

impl<'a> Labels<'a> {
    /// The labels of `methods`, for sums: a method has one label, for all places that call it.
    /// There are none where contexts are shown by threads; see [`threads`].
    pub fn new(methods: &'a [Method], by: By, names: NameStyle, origins: &Origins) -> Labels<'a> {
        if by == By::Method {
            let frames = methods.iter().map(|method| Frame::method(method, names).without_call_site());
            return Labels::of_frames(FrameTable::of(frames.collect()));
        }
        let (groups, of_method) = numbered(methods.iter().map(|method| by.group(method, names, origins)));
        Labels { by, of_method, names: Names::Groups(groups), sites: None }
    }

    /// The labels of `methods`, for trees: where call sites are distinguished, each has its own.
    pub fn of_contexts(methods: &'a [Method], by: By, names: NameStyle, origins: &Origins) -> Labels<'a> {
        if by != By::Method || methods.iter().all(|method| method.site.is_none()) {
            return Labels::new(methods, by, names, origins);
        }
        let table = FrameTable::new(methods, names);
        let (of_methods, of_label) = table.without_call_sites();
        let sites = Some(OfSites { methods: of_methods, of_label });
        Labels { sites, ..Labels::of_frames(table) }
    }

    fn of_frames(table: FrameTable<'a>) -> Labels<'a> {
        let of_method = table.of_method().to_vec();
        Labels { by: By::Method, of_method, names: Names::Frames(table), sites: None }
    }

    /// The kind of label.
    pub fn by(&self) -> By {
        self.by
    }

    /// Number of labels.
    pub fn len(&self) -> usize {
        match &self.names {
            Names::Frames(table) => table.frames().len(),
            Names::Groups(groups) => groups.len(),
        }
    }

    /// Whether there are no labels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label of each method.
    pub fn of_method(&self) -> &[u32] {
        &self.of_method
    }

    /// Whether call sites have labels of their own.
    pub fn have_call_sites(&self) -> bool {
        self.sites.is_some()
    }

    /// The method of each label: the label itself, or the method of the call site. Also the number
    /// of methods.
    pub fn methods(&self) -> (Vec<u32>, usize) {
        match &self.sites {
            Some(sites) => (sites.of_label.clone(), sites.methods.frames().len()),
            None => ((0..u32::MAX).take(self.len()).collect(), self.len()),
        }
    }

    /// The ids of the labels; `None` if they are groups.
    pub fn frame_ids(&self) -> Option<Vec<FrameId>> {
        match &self.names {
            Names::Frames(table) => Some(FrameId::of_table(table)),
            Names::Groups(_) => None,
        }
    }

    /// The call site of a label.
    pub fn site(&self, label: u32) -> Option<Site> {
        match &self.names {
            Names::Frames(table) => table.frames().get(label as usize).and_then(Frame::site),
            Names::Groups(_) => None,
        }
    }

    /// [`Labels::exact`] without the call site.
    pub fn exact_method(&self, label: u32) -> String {
        match &self.names {
            Names::Frames(table) => {
                table.frames().get(label as usize).map_or(String::new(), |f| text(&f.without_call_site()))
            }
            Names::Groups(_) => self.exact(label),
        }
    }

    /// Short names for people that distinguish the [`Labels::methods`].
    pub fn readable_methods(&self) -> Vec<String> {
        self.sites.as_ref().map_or_else(|| self.readable(), |sites| sites.methods.readable())
    }

    /// Short names for people that distinguish the labels.
    pub fn readable(&self) -> Vec<String> {
        match &self.names {
            Names::Frames(table) => table.readable(),
            Names::Groups(groups) => groups.iter().map(|group| terminal(group)).collect(),
        }
    }

    /// The exact name for programs: the frame as in a list of contexts, or the group's name.
    pub fn exact(&self, label: u32) -> String {
        match &self.names {
            Names::Frames(table) => table.frames().get(label as usize).map_or(String::new(), text),
            Names::Groups(groups) => groups.get(label as usize).cloned().unwrap_or_default(),
        }
    }

    /// The tree of some threads, with these labels. With `recursion`, calls of methods on the stack
    /// are folded, from any call site.
    ///
    /// # Errors
    /// Fails if counts overflow.
    pub fn tree(&self, threads: &[ThreadTree], recursion: bool) -> Result<Tree, MergeError> {
        let trees: Vec<(&Tree, &[u32])> = threads.iter().map(|t| (&t.tree, &*self.of_method)).collect();
        match (recursion, self.by) {
            (true, _) => crate::fold::folded_as(&trees, Fold::Recursion, &self.methods().0),
            (false, By::Method) => crate::tree_sum::joined(&trees),
            (false, _) => crate::fold::folded(&trees, Fold::Within),
        }
    }
}

/// Labels for threads, and a tree in which each thread is a context with all of its counts.
///
/// # Errors
/// Fails if counts overflow.
pub fn threads(threads: &[ThreadTree]) -> Result<(Labels<'static>, Tree), MergeError> {
    let (names, of_thread) = numbered(threads.iter().map(|thread| thread.name.to_string()));
    let mut sums = vec![(0u64, 0u64); names.len()];
    for (thread, &label) in threads.iter().zip(&of_thread) {
        let (calls, bytecodes) = &mut sums[label as usize];
        for node in &thread.tree.nodes()[1..] {
            *calls = calls.checked_add(node.calls).ok_or(MergeError::Overflow)?;
            *bytecodes = bytecodes.checked_add(node.bytecodes).ok_or(MergeError::Overflow)?;
        }
    }
    let mut tree = TreeBuilder::new();
    for (label, (calls, bytecodes)) in (0..).zip(sums) {
        tree.enter(label, calls, bytecodes)?;
        tree.leave();
    }
    let of_method = (0..names.len() as u32).collect();
    Ok((Labels { by: By::Thread, of_method, names: Names::Groups(names), sites: None }, tree.finish()))
}

/// The distinct names, sorted, and the index of each name.
pub(crate) fn numbered(all: impl Iterator<Item = String>) -> (Vec<String>, Vec<u32>) {
    let all: Vec<String> = all.collect();
    let mut names = all.clone();
    names.sort_unstable();
    names.dedup();
    let number = |name: &String| names.partition_point(|other| other < name) as u32;
    let numbers = all.iter().map(number).collect();
    (names, numbers)
}

/// A frame's text.
fn text(frame: &Frame<'_>) -> String {
    String::from_utf8_lossy(&frame.bytes().collect::<Vec<u8>>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::Origin;
    use crate::testing::{method, profile, thread, tree};

    fn methods() -> Vec<Method> {
        vec![
            method("app/Main", "main", "()V"),
            method("app/Main$$Lambda$3", "run", "()V"),
            method("java/lang/String", "length", "()I"),
            Method { flags: Method::UNKNOWN, ..method("?", "12ab", "") },
            Method { flags: Method::MARKER, ..method("[contexts merged]", "", "") },
            method("Top", "f", "()V"),
        ]
    }

    fn groups(by: By, origins: &Origins) -> Vec<String> {
        let methods = methods();
        let labels = Labels::new(&methods, by, NameStyle::Normalised, origins);
        labels.of_method().iter().map(|&label| labels.exact(label)).collect()
    }

    #[test]
    fn methods_are_grouped_by_what_they_belong_to() {
        let mut origins = Origins::default();
        let app = Origin { container: "app.jar".to_owned(), module: None, is_jdk: false };
        let base =
            Origin { container: "modules".to_owned(), module: Some("java.base".to_owned()), is_jdk: true };
        origins.add("app/Main", &app);
        origins.add("java/lang/String", &base);
        let (unknown, marker) = ("(unknown methods)", "[contexts merged]");
        assert_eq!(
            groups(By::Class, &origins),
            ["app.Main", "app.Main$$Lambda", "java.lang.String", unknown, marker, "Top"]
        );
        assert_eq!(
            groups(By::Package, &origins),
            ["app", "app", "java.lang", unknown, marker, "(unnamed package)"]
        );
        assert_eq!(
            groups(By::Jar, &origins),
            ["app.jar", "app.jar", "modules", unknown, marker, "(not found)"]
        );
        let unnamed = "(unnamed module) app.jar";
        assert_eq!(
            groups(By::Module, &origins),
            [unnamed, unnamed, "java.base", unknown, marker, "(not found)"]
        );
    }

    #[test]
    fn threads_of_one_name_are_one_row() {
        let t = |calls| tree(&[(1, 0, calls, 10), (2, 1, 1, 5)]);
        let p = profile(methods(), vec![thread("w", t(1)), thread("main", t(2)), thread("w", t(4))]);
        let (labels, tree_of_threads) = threads(&p.threads).expect("small");
        assert_eq!(labels.readable(), ["main", "w"]);
        assert_eq!(tree_of_threads, tree(&[(1, 0, 3, 15), (1, 1, 7, 30)]));
    }
}
