//! The user's own classes in a profile, as a glob for `--mine`.

use std::collections::BTreeSet;

use cct_profile::library::is_own_code_alone;
use cct_profile::names::normalised_class;
use cct_profile::origin::{is_jdk_by_name, package_of};
use cct_profile::{Method, Profile};

/// The descriptor of a main method.
const OF_MAIN: &str = "([Ljava/lang/String;)V";

/// The user's own classes, among those of libraries.
#[derive(Debug, PartialEq, Eq)]
pub enum OwnClasses {
    /// Those that match this glob.
    Glob(String),
    /// The profile does not say which.
    Unknown,
}

/// The classes in the package of the main class, and below it. `None` if the profile has no classes
/// of libraries besides the JDK, or if they are collapsed.
pub fn own_classes(profile: &Profile) -> Option<OwnClasses> {
    if is_own_code_alone(&profile.meta) {
        return None;
    }
    let classes: BTreeSet<&str> = profile.methods.iter().filter_map(class_of_program).collect();
    let Some(package) = main_class(profile, &classes).map(package_of).filter(|package| is_plain(package))
    else {
        let packages: BTreeSet<&str> = classes.iter().map(|class| package_of(class)).collect();
        return (packages.len() > 1).then_some(OwnClasses::Unknown);
    };
    // A glob without a separator matches the classes of the unnamed package.
    let (glob, below) = if package.is_empty() {
        ("*".to_owned(), None)
    } else {
        (format!("{}.**", package.replace('/', ".")), Some(format!("{package}/")))
    };
    let is_inside = |class: &&str| match &below {
        Some(below) => class.starts_with(below),
        None => !class.contains('/'),
    };
    (!classes.iter().all(is_inside)).then_some(OwnClasses::Glob(glob))
}

/// The class of a method of the program or of a library, not of the JDK.
fn class_of_program(method: &Method) -> Option<&str> {
    let class = normalised_class(&method.class);
    let is_code = method.flags & (Method::MARKER | Method::UNKNOWN | Method::TYPE) == 0;
    (is_code && !is_jdk_by_name(class)).then_some(class)
}

/// The main class: that of the command line, or that of the only main method that no other method
/// calls, if the command line names a jar.
fn main_class<'p>(profile: &'p Profile, classes: &BTreeSet<&'p str>) -> Option<&'p str> {
    let named = profile.meta.get("main").and_then(|main| {
        // With a module, its name and a slash come first; then the class has dots.
        let class =
            main.rsplit_once('/').filter(|(_, class)| class.contains('.')).map_or(&**main, |(_, c)| c);
        classes.get(&*class.replace('.', "/")).copied()
    });
    let outermost = || {
        let nodes = profile.threads.iter().flat_map(|thread| {
            thread.tree.children(0).filter_map(move |child| thread.tree.nodes().get(child as usize))
        });
        let methods = nodes.filter_map(|node| profile.methods.get(node.method as usize));
        let is_main = |method: &&Method| &*method.name == "main" && &*method.descriptor == OF_MAIN;
        let mains: BTreeSet<&str> = methods.filter(is_main).filter_map(class_of_program).collect();
        if mains.len() == 1 { mains.first().copied() } else { None }
    };
    named.or_else(outermost)
}

/// Whether a package can be written as a glob.
fn is_plain(package: &str) -> bool {
    package.chars().all(|c| c.is_alphanumeric() || "/_$-".contains(c))
}

#[cfg(test)]
mod tests {
    use cct_profile::{ThreadTree, TreeBuilder};

    use super::*;

    /// The own classes of a profile with this main class, and a method `main` of each of these
    /// classes. Only those with a star have the descriptor of a main method.
    fn found(main: &str, classes: &[&str]) -> Option<OwnClasses> {
        let method = |class: &&str| Method {
            class: class.trim_start_matches('*').into(),
            name: "main".into(),
            descriptor: if class.starts_with('*') { OF_MAIN } else { "()V" }.into(),
            site: None,
            flags: 0,
            mid: 0,
        };
        let mut tree = TreeBuilder::new();
        for at in 0..classes.len() {
            tree.enter(u32::try_from(at).unwrap(), 1, 1).unwrap();
            tree.leave();
        }
        let thread = ThreadTree { name: "main".into(), threads: 1, flags: 0, tree: tree.finish() };
        let mut profile = Profile {
            methods: classes.iter().map(method).collect(),
            threads: vec![thread],
            ..Profile::default()
        };
        profile.meta.insert("main".to_owned(), main.to_owned());
        own_classes(&profile)
    }

    #[test]
    fn the_package_of_the_main_class_is_the_users() {
        let glob = |text: &str| Some(OwnClasses::Glob(text.to_owned()));
        let both = ["com/acme/Main", "com/acme/x/Y", "org/lib/Z", "java/util/Map"];
        assert_eq!(found("com.acme.Main", &both), glob("com.acme.**"));
        assert_eq!(found("com/acme/Main", &both), glob("com.acme.**"));
        assert_eq!(found("module/com.acme.Main", &both), glob("com.acme.**"));
        assert_eq!(found("Main", &["Main", "org/lib/Z"]), glob("*"));
        // A package whose name only begins alike is another one.
        assert_eq!(found("com.acme.Main", &["com/acme/Main", "com/acmeother/Z"]), glob("com.acme.**"));
        // Nothing but the user's own classes, and the JDK's.
        assert_eq!(found("com.acme.Main", &["com/acme/Main", "com/acme/x/Y", "java/util/Map"]), None);
        assert_eq!(found("com.sun.tools.javac.Main", &["com/sun/tools/javac/Main"]), None);
    }

    #[test]
    fn without_a_main_class_the_outermost_main_method_decides() {
        let jar = "lib/app-1.0.jar";
        let both = ["*com/acme/Main", "org/lib/Z"];
        assert_eq!(found(jar, &both), Some(OwnClasses::Glob("com.acme.**".to_owned())));
        // Two of them, none, or one whose package a glob cannot say.
        assert_eq!(found(jar, &["*com/acme/Main", "*org/lib/Z"]), Some(OwnClasses::Unknown));
        assert_eq!(found(jar, &["com/acme/Main", "org/lib/Z"]), Some(OwnClasses::Unknown));
        assert_eq!(found("", &["*com/[/Main", "org/lib/Z"]), Some(OwnClasses::Unknown));
        // One package needs no glob.
        assert_eq!(found(jar, &["com/acme/Main", "com/acme/Y"]), None);
    }
}
