//! The tables of the literature, one row for each profile.
//!
//! Numbers of contexts are those of one tree, the sum of the trees of all threads, as in CCCP
//! (section 5.1). Methods are distinguished by class, name and descriptor. Where call sites are
//! distinguished, they distinguish contexts, but not methods.

use crate::names::{FrameTable, NameStyle};
use crate::summary::Extent;
use crate::{MergeError, Method, Profile, Tree};

/// The share of native methods in a profile (CCCP, section 6.1, table 1, columns "Native Methods in
/// CCT").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NativeShare {
    /// Contexts of native methods.
    pub native_contexts: u64,
    /// All contexts.
    pub contexts: u64,
    /// Calls of native methods.
    pub native_calls: u128,
    /// All calls.
    pub calls: u128,
}

impl NativeShare {
    /// Computes the row of a profile.
    ///
    /// # Errors
    /// Fails if counts overflow when threads are added up.
    pub fn of(profile: &Profile, names: NameStyle) -> Result<NativeShare, MergeError> {
        let (table, tree) = one_tree(profile, names)?;
        let mut is_native = vec![false; table.frames().len()];
        for (method, &frame) in profile.methods.iter().zip(table.of_method()) {
            is_native[frame as usize] |= method.flags & Method::NATIVE != 0;
        }
        let mut share = NativeShare::default();
        for node in &tree.nodes()[1..] {
            share.contexts += 1;
            share.calls += u128::from(node.calls);
            if is_native[node.method as usize] {
                share.native_contexts += 1;
                share.native_calls += u128::from(node.calls);
            }
        }
        Ok(share)
    }
}

/// The owner of a method's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The application, with its libraries.
    Application,
    /// The JDK.
    Jdk,
    /// Unknown.
    Unknown,
}

/// Calls within and between the application and the JDK (CCCP, section 6.2, table 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LibraryCalls {
    /// From the application to itself.
    pub app_to_app: u128,
    /// From the JDK to the application.
    pub jdk_to_app: u128,
    /// From the application to the JDK.
    pub app_to_jdk: u128,
    /// From the JDK to itself.
    pub jdk_to_jdk: u128,
    /// From or to methods with unknown owners.
    pub unknown: u128,
    /// Calls without a caller: entries into threads. They are not among the others.
    pub entries: u128,
}

impl LibraryCalls {
    /// Computes the row of a profile. `owner` returns the owner of a method.
    ///
    /// # Errors
    /// Fails if a tree refers to a missing method.
    pub fn of(profile: &Profile, owner: impl Fn(&Method) -> Owner) -> Result<LibraryCalls, MergeError> {
        let owners: Vec<Owner> = profile.methods.iter().map(owner).collect();
        let mut calls = LibraryCalls::default();
        for thread in &profile.threads {
            calls.add(&thread.tree, &owners)?;
        }
        Ok(calls)
    }

    fn add(&mut self, tree: &Tree, owners: &[Owner]) -> Result<(), MergeError> {
        use Owner::{Application, Jdk};
        let mut open: Vec<(u32, Owner)> = Vec::new();
        for (index, node) in (0u32..).zip(tree.nodes()).skip(1) {
            while open.pop_if(|(end, _)| *end <= index).is_some() {}
            let callee = owners.get(node.method as usize).copied();
            let callee =
                callee.ok_or(MergeError::NoSuchMethod { method: node.method, count: owners.len() })?;
            let calls = match open.last().map(|&(_, caller)| (caller, callee)) {
                None => &mut self.entries,
                Some((Application, Application)) => &mut self.app_to_app,
                Some((Jdk, Application)) => &mut self.jdk_to_app,
                Some((Application, Jdk)) => &mut self.app_to_jdk,
                Some((Jdk, Jdk)) => &mut self.jdk_to_jdk,
                Some(_) => &mut self.unknown,
            };
            *calls += u128::from(node.calls);
            open.push((tree.subtree(index).end, callee));
        }
        Ok(())
    }

    /// All calls between methods with known owners: the base of the table's percentages.
    pub fn total(&self) -> u128 {
        self.app_to_app + self.jdk_to_app + self.app_to_jdk + self.jdk_to_jdk
    }
}

/// The size of a calling-context tree (JP2, section 4, figure 9: called methods and nodes; depths
/// besides).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Number of different methods in the tree.
    pub methods: u64,
    /// The size of the tree.
    pub extent: Extent,
}

impl Shape {
    /// Computes the row of a profile.
    ///
    /// # Errors
    /// Fails if counts overflow when threads are added up.
    pub fn of(profile: &Profile, names: NameStyle) -> Result<Shape, MergeError> {
        let (table, tree) = one_tree(profile, names)?;
        let (methods_table, of_frame) = table.without_call_sites();
        let mut is_there = vec![false; methods_table.frames().len()];
        tree.nodes()[1..].iter().for_each(|node| is_there[of_frame[node.method as usize] as usize] = true);
        let methods = is_there.into_iter().filter(|&is_there| is_there).count() as u64;
        Ok(Shape { methods, extent: Extent::of(&tree) })
    }
}

/// The sum of all threads' trees, labelled by frames.
fn one_tree(profile: &Profile, names: NameStyle) -> Result<(FrameTable<'_>, Tree), MergeError> {
    let table = FrameTable::new(&profile.methods, names);
    let trees: Vec<_> = profile.threads.iter().map(|thread| (&thread.tree, table.of_method())).collect();
    let tree = crate::tree_sum::joined(&trees)?;
    Ok((table, tree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::is_jdk_by_name;
    use crate::testing::{method, profile, random, thread, tree};

    fn by_name(method: &Method) -> Owner {
        match &*method.class {
            "?" => Owner::Unknown,
            class if is_jdk_by_name(class) => Owner::Jdk,
            _ => Owner::Application,
        }
    }

    /// main -> step -> charAt, main -> sort -> compare -> hash (native), main -> ?.
    fn example() -> Profile {
        let methods = vec![
            method("app/Main", "main", "()V"),
            method("app/Main", "step", "()V"),
            method("java/lang/String", "charAt", "(I)C"),
            method("java/util/List", "sort", "()V"),
            method("app/Order", "compare", "()I"),
            Method { flags: Method::NATIVE, ..method("java/lang/Object", "hashCode", "()I") },
            method("?", "00ff", ""),
        ];
        let main = tree(&[
            (1, 0, 1, 10),
            (2, 1, 5, 20),
            (3, 2, 100, 0),
            (2, 3, 2, 30),
            (3, 4, 40, 0),
            (4, 5, 80, 0),
            (2, 6, 3, 0),
        ]);
        let worker = tree(&[(1, 1, 1, 4), (2, 2, 7, 0), (2, 5, 20, 0)]);
        profile(methods, vec![thread("main", main), thread("w", worker)])
    }

    #[test]
    fn natives_have_their_share() {
        // One tree: main's seven contexts, and step, charAt and hashCode of the other thread.
        let share = NativeShare::of(&example(), NameStyle::Raw).expect("small");
        let expected = NativeShare { native_contexts: 2, contexts: 10, native_calls: 100, calls: 259 };
        assert_eq!(share, expected);
    }

    #[test]
    fn calls_go_between_application_and_jdk() {
        let calls = LibraryCalls::of(&example(), by_name).expect("small");
        let expected = LibraryCalls {
            app_to_app: 5,
            jdk_to_app: 40,
            // charAt of both threads, sort, and hashCode of compare and of step.
            app_to_jdk: 100 + 7 + 2 + 80 + 20,
            jdk_to_jdk: 0,
            unknown: 3,
            entries: 2,
        };
        assert_eq!(calls, expected);
        assert_eq!(calls.total(), 254);
    }

    #[test]
    fn trees_have_a_shape() {
        let shape = Shape::of(&example(), NameStyle::Raw).expect("small");
        // Depths: 1 2 3 2 3 4 2, and 1 2 2.
        let extent = Extent { contexts: 10, calls: 259, bytecodes: 64, depth: 4, depths: 22, leaves: 5 };
        assert_eq!(shape, Shape { methods: 7, extent });
    }

    #[test]
    fn every_call_is_in_one_place() {
        arbtest::arbtest(|u| {
            let p = random(u)?;
            let total = crate::Summary::of(&p).all.calls;
            let owner =
                |method: &Method| [Owner::Jdk, Owner::Application, Owner::Unknown][method.mid as usize % 3];
            let calls = LibraryCalls::of(&p, owner).expect("small");
            assert_eq!(calls.total() + calls.unknown + calls.entries, total);
            assert_eq!(NativeShare::of(&p, NameStyle::Normalised).expect("small").calls, total);
            assert_eq!(Shape::of(&p, NameStyle::Normalised).expect("small").extent.calls, total);
            Ok(())
        });
    }
}
