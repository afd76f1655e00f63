//! The class hierarchy, and a walk over it that knows what each class inherits without climbing up
//! again.
//!
//! A class has one superclass, so classes form trees. The walk starts at the roots. A table holds
//! the methods of the classes on the path, with those of the nearest class on top. Interfaces, and
//! names with several classes, are searched class by class, each once for all questions about it.

use std::collections::{HashMap, HashSet};

use cct_classfile::{NameAndType, access};

use crate::links::{DeclaredMethod, Links};

/// A name, with all its classes.
pub type Node = usize;

/// Maximum number of steps of all walks over interfaces; a hostile file could ask for trillions.
/// Questions beyond the limit count as unknown.
const MOST_STEPS: u64 = 1 << 28;

/// A method, and the class that declares it.
#[derive(Debug, Clone, Copy)]
pub struct ResolvedMethod<'l> {
    /// The class.
    pub class: &'l Links,
    /// The method.
    pub method: &'l DeclaredMethod,
}

impl ResolvedMethod<'_> {
    /// Whether a subclass that declares this method overrides a final one (JVMS 4.10, 5.4.5).
    fn is_final_for(&self, subclass: &Links, method: &DeclaredMethod) -> bool {
        let package = |name: &[u8]| name.iter().rposition(|&b| b == b'/').map(|end| name[..end].to_vec());
        let (above, below) = (self.method.flags, method.flags);
        let is_accessible = above & (access::PUBLIC | access::PROTECTED) != 0
            || package(&self.class.name) == package(&subclass.name);
        above & access::FINAL != 0
            && (above | below) & (access::PRIVATE | access::STATIC) == 0
            && !method.name.starts_with(b"<")
            && is_accessible
    }
}

/// All classes.
#[derive(Debug)]
pub struct Hierarchy<'l> {
    nodes: HashMap<&'l [u8], Node>,
    classes: Vec<Vec<&'l Links>>,
    /// The superclass of the first class of each name.
    parents: Vec<Option<Node>>,
    /// Interfaces, and superclasses of other classes of each name.
    others: Vec<Vec<Node>>,
    /// Whether a direct superclass or superinterface is missing.
    is_open: Vec<bool>,
    /// Classes by the extended or original signature of a method, except those in one tree with the
    /// asking class.
    definers: HashMap<NameAndType<'l>, Vec<Node>>,
}

impl<'l> Hierarchy<'l> {
    /// The hierarchy of these classes.
    pub fn of(classes: &'l [Links]) -> Self {
        let mut nodes: HashMap<&[u8], Node> = HashMap::new();
        let mut of_node: Vec<Vec<&Links>> = Vec::new();
        for class in classes {
            let node = *nodes.entry(&class.name).or_insert(of_node.len());
            if node == of_node.len() {
                of_node.push(Vec::new());
            }
            of_node[node].push(class);
        }
        let count = of_node.len();
        let (mut parents, mut others) = (vec![None; count], vec![Vec::new(); count]);
        let mut is_open = vec![false; count];
        for (node, classes) in of_node.iter().enumerate() {
            for (number, class) in classes.iter().enumerate() {
                let mut above = |name: &[u8], is_first: bool| match nodes.get(name) {
                    Some(&parent) if is_first => parents[node] = Some(parent),
                    Some(&other) => others[node].push(other),
                    None => is_open[node] = true,
                };
                if let Some(superclass) = &class.superclass {
                    above(superclass, number == 0);
                }
                class.interfaces.iter().for_each(|interface| above(interface, false));
            }
        }
        let mut definers: HashMap<NameAndType<'l>, Vec<Node>> = HashMap::new();
        for (node, classes) in of_node.iter().enumerate() {
            for method in classes.iter().flat_map(|class| &class.declared) {
                let found = definers.entry(method.name_and_type()).or_default();
                if found.last() != Some(&node) {
                    found.push(node);
                }
            }
        }
        Hierarchy { nodes, classes: of_node, parents, others, is_open, definers }
    }

    /// The classes of a name.
    pub fn node(&self, name: &[u8]) -> Option<Node> {
        self.nodes.get(name).copied()
    }

    /// The name of a node.
    pub fn name(&self, node: Node) -> &'l [u8] {
        self.classes[node].first().map_or(&[], |class| &class.name)
    }

    /// Whether the class of a name is final.
    pub fn is_final(&self, name: &[u8]) -> bool {
        self.node(name).is_some_and(|node| self.classes[node].iter().all(|class| class.is_final))
    }

    /// Visits each class once, superclasses before subclasses.
    pub fn visit(&self, mut look: impl FnMut(&mut View<'_, 'l>)) {
        let count = self.classes.len();
        let mut children: Vec<Vec<Node>> = vec![Vec::new(); count];
        let mut roots = Vec::new();
        for (node, parent) in self.parents.iter().enumerate() {
            match parent {
                Some(parent) => children[*parent].push(node),
                None => roots.push(node),
            }
        }
        let mut view = View {
            hierarchy: self,
            node: 0,
            above: vec![Above::default(); count],
            seen: vec![false; count],
            active: HashMap::new(),
            closure: None,
            steps: MOST_STEPS,
        };
        for root in roots {
            view.tree(root, &children, &mut look);
        }
        // The rest is on cycles, which no JVM loads: open each one somewhere.
        for node in 0..count {
            if !view.seen[node] {
                view.tree(node, &children, &mut look);
            }
        }
    }
}

/// The facts about the superclasses of a class, itself included.
#[derive(Debug, Clone, Copy, Default)]
struct Above {
    /// One of them is missing.
    is_open: bool,
    /// One of them has interfaces, or several classes.
    has_others: bool,
    /// One of them has several classes, of which the JVM would load one.
    is_ambiguous: bool,
}

/// A class on the walk.
pub struct View<'v, 'l> {
    hierarchy: &'v Hierarchy<'l>,
    node: Node,
    above: Vec<Above>,
    seen: Vec<bool>,
    /// The methods of the class and its superclasses, the nearest last.
    active: HashMap<NameAndType<'l>, Vec<ResolvedMethod<'l>>>,
    /// All supertypes of this class, and whether one of them is missing.
    closure: Option<(HashSet<Node>, bool)>,
    steps: u64,
}

impl<'l> View<'_, 'l> {
    /// The node of this class.
    pub fn node(&self) -> Node {
        self.node
    }

    /// Visits the classes below one that was not visited yet.
    fn tree(&mut self, root: Node, children: &[Vec<Node>], look: &mut impl FnMut(&mut Self)) {
        let hierarchy = self.hierarchy;
        // Each class twice: on entry and on exit.
        let mut due = vec![(root, true)];
        while let Some((node, is_entered)) = due.pop() {
            if !is_entered {
                self.leave(node);
                continue;
            }
            if std::mem::replace(&mut self.seen[node], true) {
                continue;
            }
            let above = hierarchy.parents[node].filter(|_| node != root).map(|parent| self.above[parent]);
            let above = above.unwrap_or_default();
            self.above[node] = Above {
                // The root of a tree that is not one has a superclass, which is on its cycle.
                is_open: above.is_open || hierarchy.is_open[node],
                has_others: above.has_others
                    || !hierarchy.others[node].is_empty()
                    || node == root && hierarchy.parents[node].is_some(),
                is_ambiguous: above.is_ambiguous || hierarchy.classes[node].len() > 1,
            };
            for class in &hierarchy.classes[node] {
                for method in &class.declared {
                    let resolved = ResolvedMethod { class, method };
                    self.active.entry(method.name_and_type()).or_default().push(resolved);
                }
            }
            self.node = node;
            self.closure = None;
            look(self);
            due.push((node, false));
            due.extend(children[node].iter().map(|child| (*child, true)));
        }
    }

    fn leave(&mut self, node: Node) {
        for method in self.hierarchy.classes[node].iter().flat_map(|class| &class.declared) {
            if let Some(methods) = self.active.get_mut(&method.name_and_type()) {
                methods.pop();
            }
        }
    }

    /// The method that the class or the nearest of its superclasses declares; `None` if unknown.
    pub fn nearest(&self, method: NameAndType<'_>) -> Option<ResolvedMethod<'l>> {
        let found = self.active.get(&method).and_then(|methods| methods.last()).copied();
        found.filter(|_| !self.above[self.node].is_ambiguous)
    }

    /// Methods of this class that override a final method of the nearest superclass with that name
    /// and descriptor. Names with several classes are skipped.
    pub fn overridden_finals(&self) -> impl Iterator<Item = &'l DeclaredMethod> + '_ {
        let is_known = !self.above[self.node].is_ambiguous;
        let classes = self.hierarchy.classes[self.node].iter().filter(move |_| is_known);
        let methods = classes.flat_map(|class| class.declared.iter().map(move |method| (*class, method)));
        methods.filter_map(|(class, method)| {
            let active = self.active.get(&method.name_and_type())?;
            let above = active.get(active.len().checked_sub(2)?)?;
            above.is_final_for(class, method).then_some(method)
        })
    }

    /// Whether the class has a method, or inherits it from a superclass or an interface; `None` if
    /// unknown.
    pub fn inherits(&mut self, method: NameAndType<'_>) -> Option<bool> {
        if self.active.get(&method).is_some_and(|methods| !methods.is_empty()) {
            return Some(true);
        }
        let above = self.above[self.node];
        if !above.has_others {
            return if above.is_open { None } else { Some(false) };
        }
        let (node, hierarchy) = (self.node, self.hierarchy);
        let steps = &mut self.steps;
        let (closure, is_open) = self.closure.get_or_insert_with(|| hierarchy.closure(node, steps));
        let definers = hierarchy.definers.get(&method).map_or(&[][..], Vec::as_slice);
        self.steps = self.steps.saturating_sub(definers.len() as u64);
        if definers.iter().any(|definer| closure.contains(definer)) {
            Some(true)
        } else if *is_open || self.steps == 0 {
            None
        } else {
            Some(false)
        }
    }
}

impl Hierarchy<'_> {
    /// All supertypes of a class, itself included, and whether one of them is missing. Without
    /// remaining steps nothing is known.
    fn closure(&self, node: Node, steps: &mut u64) -> (HashSet<Node>, bool) {
        let (mut seen, mut is_open) = (HashSet::new(), false);
        let mut due = vec![node];
        while let Some(next) = due.pop() {
            if *steps == 0 {
                return (seen, true);
            }
            *steps -= 1;
            if seen.insert(next) {
                is_open |= self.is_open[next];
                due.extend(self.parents[next].into_iter().chain(self.others[next].iter().copied()));
            }
        }
        (seen, is_open)
    }
}
