//! The world: the class hierarchy of all inputs and libraries, and method resolution in it (JVMS
//! 5.4.3.3, 5.4.3.4).

use std::sync::Arc;

use cct_classfile::{MemberRef, NameAndType, access};
use cct_index::mid::ClassHash;
use cct_jdk::convention;
use rustc_hash::FxHashMap;

use crate::survey::{ClassSummary, MethodSummary, method_key};

/// Position of a class in the [`World`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

/// A method: class, and position in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MethodId {
    /// The class that declares it.
    pub class: ClassId,
    /// Position among the class's methods.
    pub index: u16,
}

/// The fate of a class in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is rewritten in this run.
    Input,
    /// It is, or will be, rewritten in another run, as part of the class library that holds
    /// `java/lang/Object`. Without that rewritten library no rewritten class runs at all, so its
    /// extended forms are certain to exist. Only which of them redispatch is not certain.
    Companion,
    /// It stays unchanged: part of a library, of the JDK around the inputs, or of an earlier run's
    /// output (then its treatments are settled).
    Library,
}

/// A class of the world.
#[derive(Debug)]
pub struct Class {
    /// Summary of the class.
    pub summary: Arc<ClassSummary>,
    /// Role of the class.
    pub role: Role,
    /// The superclass, if known.
    pub superclass: Option<ClassId>,
    /// The known direct superinterfaces.
    pub interfaces: Vec<ClassId>,
    /// Whether some superclass or superinterface, however far up, is unknown.
    pub has_unknown_ancestor: bool,
}

/// The method to which a reference leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResolvedMethod {
    /// This method.
    Method(MethodId),
    /// Unknown: the owner or an ancestor is not in the world, or the reference is broken, which the
    /// JVM will report.
    Unknown,
}

/// All classes of inputs and libraries.
#[derive(Debug, Default)]
pub struct World {
    classes: Vec<Class>,
    by_name: FxHashMap<Box<[u8]>, ClassId>,
    by_hash: FxHashMap<ClassHash, ClassId>,
    /// Names that occur with different contents; the first class of a name represents it.
    pub duplicates: Vec<(ClassId, ClassId)>,
}

impl World {
    /// Builds the world. The first class of a name represents it in the hierarchy, as on a class
    /// path; later ones are planned nevertheless.
    pub fn new<S: Into<Arc<ClassSummary>>>(summaries: impl IntoIterator<Item = (Role, S)>) -> Self {
        let mut world = World::default();
        for (role, summary) in summaries {
            let summary: Arc<ClassSummary> = summary.into();
            if world.by_hash.contains_key(&summary.hash) {
                continue;
            }
            let id = ClassId(world.classes.len() as u32);
            world.by_hash.insert(summary.hash, id);
            match world.by_name.get(&summary.name) {
                Some(&first) => world.duplicates.push((first, id)),
                None => {
                    world.by_name.insert(summary.name.clone(), id);
                }
            }
            world.classes.push(Class {
                summary,
                role,
                superclass: None,
                interfaces: Vec::new(),
                has_unknown_ancestor: false,
            });
        }
        world.link();
        world
    }

    fn link(&mut self) {
        for i in 0..self.classes.len() {
            let summary = &self.classes[i].summary;
            let superclass = summary.super_name.as_deref().and_then(|n| self.by_name.get(n).copied());
            let mut unknown = superclass.is_none() && summary.super_name.is_some();
            let mut interfaces = Vec::with_capacity(summary.interfaces.len());
            for name in &summary.interfaces {
                match self.by_name.get(name) {
                    Some(&id) => interfaces.push(id),
                    None => unknown = true,
                }
            }
            let class = &mut self.classes[i];
            class.superclass = superclass;
            class.interfaces = interfaces;
            class.has_unknown_ancestor = unknown;
        }
        // Subtypes inherit unknown ancestors. The hierarchy may be cyclic in hostile inputs, so
        // each class is visited once.
        let mut descendants: Vec<Vec<ClassId>> = vec![Vec::new(); self.classes.len()];
        for (id, class) in (0..).map(ClassId).zip(&self.classes) {
            for ancestor in class.superclass.iter().chain(&class.interfaces) {
                descendants[ancestor.0 as usize].push(id);
            }
        }
        let mut told: Vec<ClassId> = self.ids().filter(|&id| self[id].has_unknown_ancestor).collect();
        while let Some(id) = told.pop() {
            for &descendant in &descendants[id.0 as usize] {
                let class = &mut self.classes[descendant.0 as usize];
                if !std::mem::replace(&mut class.has_unknown_ancestor, true) {
                    told.push(descendant);
                }
            }
        }
    }

    /// The class that represents a name.
    pub fn class_named(&self, name: &[u8]) -> Option<ClassId> {
        self.by_name.get(name).copied()
    }

    /// The class with these contents.
    pub fn class_hashed(&self, hash: ClassHash) -> Option<ClassId> {
        self.by_hash.get(&hash).copied()
    }

    /// All classes, in the order of construction.
    pub fn ids(&self) -> impl Iterator<Item = ClassId> + use<> {
        (0..self.classes.len() as u32).map(ClassId)
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// A method's class and summary.
    pub fn method(&self, id: MethodId) -> (&ClassSummary, &MethodSummary) {
        let summary = &self[id.class].summary;
        (summary, &summary.methods[usize::from(id.index)])
    }

    /// `class` and its superclasses, nearest first. Ends on cycles.
    pub fn superclasses(&self, class: ClassId) -> impl Iterator<Item = ClassId> + '_ {
        let mut left = self.classes.len();
        std::iter::successors(Some(class), move |&c| {
            left = left.checked_sub(1)?;
            self[c].superclass
        })
    }

    /// All superinterfaces of `class`, from superclasses and superinterfaces, each once, in a fixed
    /// order.
    pub fn superinterfaces(&self, class: ClassId) -> Vec<ClassId> {
        let mut found: Vec<ClassId> = Vec::new();
        let mut next = 0;
        for c in self.superclasses(class) {
            for &i in &self[c].interfaces {
                if !found.contains(&i) {
                    found.push(i);
                }
            }
        }
        while let Some(&i) = found.get(next) {
            next += 1;
            for &s in &self[i].interfaces {
                if !found.contains(&s) {
                    found.push(s);
                }
            }
        }
        found
    }

    /// Whether `a` is `b` or a subtype of it.
    pub fn is_subtype(&self, a: ClassId, b: ClassId) -> bool {
        self.superclasses(a).any(|c| c == b) || self.superinterfaces(a).contains(&b)
    }

    /// Resolves a method reference: in the class, its superclasses, then its superinterfaces, where
    /// a default method takes precedence over abstract ones.
    pub fn resolve(&self, method: MemberRef<'_>) -> ResolvedMethod {
        match self.class_named(method.class) {
            Some(class) => self.resolve_in(class, method.name_and_type()),
            // Arrays have the methods of Object (JVMS 5.4.3.3 with JLS 10.7).
            None if method.class.first() == Some(&b'[') => match self.class_named(convention::OBJECT) {
                Some(object) => self.resolve_in(object, method.name_and_type()),
                None => ResolvedMethod::Unknown,
            },
            None => ResolvedMethod::Unknown,
        }
    }

    /// Resolves a method reference from a known class.
    pub fn resolve_in(&self, class: ClassId, method: NameAndType<'_>) -> ResolvedMethod {
        let key = method_key(method);
        let declared = |c: ClassId| {
            let index = self[c].summary.find_keyed(key, method)? as u16;
            Some(MethodId { class: c, index })
        };
        let mut last = class;
        for c in self.superclasses(class) {
            if let Some(m) = declared(c) {
                return ResolvedMethod::Method(m);
            }
            last = c;
        }
        // A superclass outside the world might have declared it.
        if self[last].summary.super_name.is_some() {
            return ResolvedMethod::Unknown;
        }
        let mut found: Option<MethodId> = None;
        for i in self.superinterfaces(class) {
            let Some(m) = declared(i) else { continue };
            let better = match found {
                None => true,
                Some(old) => {
                    let abstract_now = self.method(old).1.is(access::ABSTRACT);
                    abstract_now && !self.method(m).1.is(access::ABSTRACT) || self.is_subtype(i, old.class)
                }
            };
            if better {
                found = Some(m);
            }
        }
        if let Some(m) = found {
            return ResolvedMethod::Method(m);
        }
        // Interfaces inherit Object's public methods by way of resolution (JVMS 5.4.3.4).
        match self.class_named(convention::OBJECT) {
            Some(object) if object != class && !self[class].has_unknown_ancestor => {
                declared(object).map_or(ResolvedMethod::Unknown, ResolvedMethod::Method)
            }
            _ => ResolvedMethod::Unknown,
        }
    }
}

impl std::ops::Index<ClassId> for World {
    type Output = Class;

    fn index(&self, id: ClassId) -> &Class {
        &self.classes[id.0 as usize]
    }
}
