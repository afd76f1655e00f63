//! The sets of jars, and their origins.

/// The suite of Debian for the packages.
pub const SUITE: &str = "bookworm";

/// Jars that belong together: they are on one class path.
pub struct Set {
    /// The set's name on the command line.
    pub name: &'static str,
    /// The set's description for the page.
    pub about: &'static str,
    /// The origin of its jars.
    pub origin: Origin,
    /// The JDKs that link them; the first is the one that they were compiled for.
    pub jdks: &'static [u32],
}

/// The origin of jars.
pub enum Origin {
    /// A package of PyPI and its version.
    Pypi(&'static str, &'static str),
    /// All jars of these packages of Debian.
    Debian(&'static [&'static str]),
    /// ProGuard's output for some jars of these packages of Debian.
    ProGuard { packages: &'static [&'static str], jars: &'static [&'static str] },
}

/// ProGuard in Debian: package and jar.
pub const PROGUARD: (&str, &str) = ("libproguard-java", "proguard.jar");

/// All sets.
pub const SETS: &[Set] = &[
    Set {
        name: "pyspark-3",
        about: "Spark 3.1, Hadoop, Hive, Scala 2.12 and what they need: pyspark 3.1.3 of PyPI",
        origin: Origin::Pypi("pyspark", "3.1.3"),
        jdks: &[8, 17],
    },
    Set {
        name: "pyspark-4",
        about: "Spark 4.0, Scala 2.13 and what they need: pyspark 4.0.1 of PyPI",
        origin: Origin::Pypi("pyspark", "4.0.1"),
        jdks: &[17, 25],
    },
    Set {
        name: "languages",
        about: "compilers and libraries of Kotlin, Scala, Groovy, Clojure, JRuby, Jython and AspectJ, and the assembler Jasmin: packages of Debian",
        origin: Origin::Debian(&[
            "kotlin",
            "libkotlinx-coroutines-java",
            "libkotlinx-atomicfu-java",
            "libintellij-core-java",
            "scala",
            "scala-library",
            "scala-parser-combinators",
            "scala-xml",
            "groovy",
            "libclojure-java",
            "libcore-async-clojure",
            "libcore-specs-alpha-clojure",
            "libspec-alpha-clojure",
            "libdata-json-clojure",
            "jruby",
            "jython",
            "libaspectj-java",
            "jasmin-sable",
        ]),
        jdks: &[8, 17],
    },
    Set {
        name: "obfuscated",
        about: "what ProGuard makes, by aggressive options, of Rhino, BCEL and ASM: packages of Debian",
        origin: Origin::ProGuard {
            packages: &["librhino-java", "libbcel-java", "libasm-java"],
            jars: &["js.jar", "bcel.jar", "asm-all.jar"],
        },
        jdks: &[8, 17],
    },
];
