//! Origins of classes. A profile does not record them; a program that has the class path looks them
//! up by name.

use std::collections::BTreeMap;

/// The place where a class was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The jar, image or folder, as users name it.
    pub container: String,
    /// The module, where containers have modules.
    pub module: Option<String>,
    /// Whether it is part of a JDK.
    pub is_jdk: bool,
}

/// The origins of classes, by their names.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    origins: Vec<Origin>,
    numbers: BTreeMap<Origin, u32>,
    classes: BTreeMap<Box<str>, u32>,
    /// `None` for packages with several origins.
    packages: BTreeMap<Box<str>, Option<u32>>,
}

impl Origins {
    /// Whether nothing has been added.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// Whether part of a JDK has been added, so that classes of the JDK can be recognised.
    pub fn have_jdk(&self) -> bool {
        self.origins.iter().any(|origin| origin.is_jdk)
    }

    /// Adds a class by its binary name with slashes. The first of several origins is kept, as on a
    /// class path.
    pub fn add(&mut self, class: &str, origin: &Origin) {
        let next = self.origins.len() as u32;
        let number = *self.numbers.entry(origin.clone()).or_insert(next);
        if number == next {
            self.origins.push(origin.clone());
        }
        if self.classes.contains_key(class) {
            return;
        }
        self.classes.insert(class.into(), number);
        let package = self.packages.entry(package_of(class).into()).or_insert(Some(number));
        if *package != Some(number) {
            *package = None;
        }
    }

    /// The origin of a class. A class that was generated while the program ran has the origin of
    /// the class that it was generated for, whose name it begins with, up to a `$`. Otherwise it
    /// has the origin of its package, if that is in one place only.
    pub fn of(&self, class: &str) -> Option<&Origin> {
        // The loader, where it is part of the name (docs/use/identity.md).
        let class = class.rsplit_once('~').map_or(class, |(stem, _)| stem);
        let mut name = class.rsplit_once('.').map_or(class, |(stem, _)| stem);
        let number = loop {
            if let Some(&number) = self.classes.get(name) {
                break number;
            }
            // `a/B$$Lambda/1234`: the part after a slash is no class then.
            match name.rsplit_once('$') {
                Some((outer, _)) if !outer.is_empty() && !outer.ends_with('/') => name = outer,
                _ => break (*self.packages.get(package_of(class))?)?,
            }
        };
        self.origins.get(number as usize)
    }
}

/// The package of a class, with slashes; empty for the unnamed one.
pub fn package_of(class: &str) -> &str {
    let class = class.split_once("$$Lambda").map_or(class, |(host, _)| host);
    class.rsplit_once('/').map_or("", |(package, _)| package)
}

/// Packages of JDKs, with all subpackages. Those of `javax` are in every JDK from 8 on: many other
/// `javax` packages belong to applications.
const JDK_PACKAGES: [&str; 39] = [
    "com/sun",
    "java",
    "javax/accessibility",
    "javax/activation",
    "javax/activity",
    "javax/annotation",
    "javax/crypto",
    "javax/imageio",
    "javax/jws",
    "javax/lang",
    "javax/management",
    "javax/naming",
    "javax/net",
    "javax/print",
    "javax/rmi",
    "javax/script",
    "javax/security",
    "javax/smartcardio",
    "javax/sound",
    "javax/sql",
    "javax/swing",
    "javax/tools",
    "javax/transaction/xa",
    "javax/xml/catalog",
    "javax/xml/crypto",
    "javax/xml/datatype",
    "javax/xml/namespace",
    "javax/xml/parsers",
    "javax/xml/stream",
    "javax/xml/transform",
    "javax/xml/validation",
    "javax/xml/xpath",
    "jdk",
    "netscape/javascript",
    "org/ietf/jgss",
    "org/jcp/xml/dsig/internal",
    "org/w3c/dom",
    "org/xml/sax",
    "sun",
];

/// Whether a class belongs to a JDK, judged by its name alone: a library with classes in `com.sun`
/// or `org.w3c.dom` is taken for the JDK. [`Origins`] are accurate.
pub fn is_jdk_by_name(class: &str) -> bool {
    let below = |package: &&str| class.strip_prefix(*package).is_some_and(|rest| rest.starts_with('/'));
    JDK_PACKAGES.iter().any(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(container: &str, module: Option<&str>) -> Origin {
        Origin {
            container: container.to_owned(),
            module: module.map(str::to_owned),
            is_jdk: module.is_some(),
        }
    }

    #[test]
    fn classes_made_at_run_time_belong_to_those_they_were_made_for() {
        let mut origins = Origins::default();
        assert!(origins.is_empty() && origins.of("a/B").is_none());
        let (app, base) = (origin("app.jar", None), origin("modules", Some("java.base")));
        for class in ["a/B", "a/B$C", "a/D"] {
            origins.add(class, &app);
        }
        for class in ["java/lang/invoke/LambdaForm", "jdk/internal/reflect/Reflection", "a/B"] {
            origins.add(class, &base);
        }
        origins.add("b/E", &app);
        origins.add("b/F", &base);
        assert!(origins.have_jdk());
        for (class, expected) in [
            ("a/B", Some(&app)),
            ("a/B$C", Some(&app)),
            ("a/B$C$1", Some(&app)),
            ("a/B~PluginLoader#2", Some(&app)),
            ("a/B$C~Plugins$Loader#1", Some(&app)),
            ("a/B$$Lambda$12/1804094807", Some(&app)),
            ("a/B$$Lambda.0x0000000800c03000", Some(&app)),
            ("a/B$$Lambda", Some(&app)),
            ("a/X", Some(&app)),
            ("java/lang/invoke/LambdaForm$MH/865113938", Some(&base)),
            ("java/lang/invoke/LambdaForm$DMH.0x0000000800001000", Some(&base)),
            ("jdk/internal/reflect/GeneratedMethodAccessor3", Some(&base)),
            ("b/E", Some(&app)),
            ("b/F", Some(&base)),
            ("b/G", None),
            ("com/sun/proxy/$Proxy3", None),
            ("$", None),
            ("", None),
        ] {
            assert_eq!(origins.of(class), expected, "{class}");
        }
    }

    #[test]
    fn names_of_the_jdk_are_known() {
        for class in ["java/lang/Object", "javax/sql/DataSource", "sun/misc/Unsafe", "jdk/internal/misc/VM"] {
            assert!(is_jdk_by_name(class), "{class}");
        }
        for class in ["javax/servlet/Servlet", "javafx/stage/Stage", "app/Main", "sunny/Day", "Main", "java"]
        {
            assert!(!is_jdk_by_name(class), "{class}");
        }
        assert!(JDK_PACKAGES.is_sorted());
    }

    #[test]
    fn packages_are_what_stands_before_the_class() {
        let cases = [("a/b/C", "a/b"), ("C", ""), ("a/B$$Lambda/0x12", "a"), ("a/B$$Lambda$1/12", "a")];
        for (class, package) in cases {
            assert_eq!(package_of(class), package, "{class}");
        }
    }
}
