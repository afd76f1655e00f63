//! Programs of today, which no longer run on JDK 8: they run unchanged, on profiled JDKs.

use super::npm;
use super::program::{Before, JAVAC, Mask, MaskedParts, NOTHING, Program};

const TOMCAT: &[&str] =
    &["libtomcat11-java", "libeclipse-jdt-core-java", "libeclipse-jdt-core-compiler-batch-java"];
const TOMCAT_JARS: &[&str] = &[
    "tomcat11-annotations-api.jar",
    "tomcat11-api.jar",
    "tomcat11-catalina.jar",
    "tomcat11-coyote.jar",
    "tomcat11-el-api.jar",
    "tomcat11-jasper-el.jar",
    "tomcat11-jasper.jar",
    "tomcat11-jaspic-api.jar",
    "tomcat11-jni.jar",
    "tomcat11-jsp-api.jar",
    "tomcat11-juli.jar",
    "tomcat11-servlet-api.jar",
    "tomcat11-util-scan.jar",
    "tomcat11-util.jar",
    "eclipse-jdt-core.jar",
    "eclipse-jdt-core-compiler-batch.jar",
];
/// It logs to standard error, otherwise with the time.
const TOMCAT_OPTIONS: &[&str] = &[
    "-Dtomcat.util.scan.StandardJarScanFilter.jarsToSkip=*",
    "-Djava.util.logging.SimpleFormatter.format=%4$s %2$s: %5$s%6$s%n",
];
const SHOP: Before = Before { main: JAVAC, arguments: &["-g", "-d", "{classes}", "Shop.java"] };
const SHOP_INPUT: &[&str] = &["tomcat/Shop.java", "tomcat/shop.jsp"];
/// Tomcat's output for the page contains the time.
const PAGE: &[Mask] = &[Mask {
    file: "tomcat/work/Tomcat/localhost/ROOT/org/apache/jsp/shop_jsp.java",
    what: MaskedParts::Lines(&["* Generated at: "]),
}];
const SQL: Before = Before { main: JAVAC, arguments: &["-g", "-d", "{classes}", "Sql.java"] };

/// The programs.
pub const TODAY: &[Program] = &[
    Program {
        name: "tomcat",
        about: "Tomcat 11 with a servlet, an asynchronous one and a page that it compiles, asked over HTTP",
        jdks: &[17, 21, 25],
        suite: "trixie",
        packages: TOMCAT,
        jars: TOMCAT_JARS,
        input: SHOP_INPUT,
        before: Some(SHOP),
        options: TOMCAT_OPTIONS,
        main: "Shop",
        masks: PAGE,
        ..NOTHING
    },
    Program {
        name: "tomcat-virtual",
        about: "the same with virtual threads",
        jdks: &[21, 25],
        suite: "trixie",
        packages: TOMCAT,
        jars: TOMCAT_JARS,
        input: SHOP_INPUT,
        before: Some(SHOP),
        options: TOMCAT_OPTIONS,
        main: "Shop",
        arguments: &["virtual"],
        masks: PAGE,
        ..NOTHING
    },
    Program {
        name: "h2",
        about: "H2 in memory: joins, windows, recursive queries, JSON, and a function in Java that it compiles by javac",
        jdks: &[17, 21, 25],
        suite: "trixie",
        packages: &["libh2-java"],
        jars: &["h2.jar"],
        input: &["sql/Sql.java", "h2/h2.sql"],
        before: Some(SQL),
        main: "Sql",
        arguments: &["jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1", "h2.sql"],
        ..NOTHING
    },
    Program {
        name: "hsqldb-2.7",
        about: "HSQLDB in memory, the version of today",
        jdks: &[21, 25],
        suite: "trixie",
        packages: &["libhsqldb-java"],
        jars: &["hsqldb.jar"],
        input: &["sql/Sql.java", "sql/hsqldb.sql"],
        before: Some(SQL),
        options: &["-Dhsqldb.method_class_names=Sql.*"],
        main: "Sql",
        arguments: &["jdbc:hsqldb:mem:shop", "hsqldb.sql"],
        ..NOTHING
    },
    Program {
        name: "clojure",
        about: "Clojure compiling and running a script: macros, protocols, transactions, agents, spec, eval",
        jdks: &[17, 21, 25],
        suite: "trixie",
        packages: &["libclojure-java", "libspec-alpha-clojure", "libcore-specs-alpha-clojure"],
        jars: &["clojure-1.12.0.jar", "spec.alpha.jar", "core.specs.alpha.jar"],
        input: &["clojure/program.clj"],
        main: "clojure.main",
        arguments: &["program.clj"],
        ..NOTHING
    },
    Program {
        name: "ecj",
        about: "the compiler of Eclipse compiling commons-lang3",
        jdks: &[17, 21, 25],
        suite: "trixie",
        packages: &["libeclipse-jdt-core-compiler-batch-java"],
        source: Some("libcommons-lang3-java"),
        jars: &["eclipse-jdt-core-compiler-batch.jar"],
        main: "org.eclipse.jdt.internal.compiler.batch.Main",
        arguments: &["-nowarn", "-encoding", "UTF-8", "-17", "-d", ".", "source/src/main/java"],
        ..NOTHING
    },
    Program {
        name: "plantuml",
        about: "PlantUML drawing a sequence diagram in letters",
        jdks: &[17, 21, 25],
        suite: "trixie",
        packages: &["plantuml"],
        jars: &["plantuml.jar"],
        input: &["plantuml/orchard.puml"],
        options: &["-Djava.awt.headless=true"],
        main: "net.sourceforge.plantuml.Run",
        arguments: &["-ttxt", "orchard.puml"],
        ..NOTHING
    },
    Program {
        name: "closure-compiler",
        about: "Closure Compiler turning JavaScript of today into small JavaScript of yesterday",
        jdks: &[21, 25],
        suite: npm::REGISTRY,
        packages: &["google-closure-compiler-java"],
        jars: &["compiler.jar"],
        input: &["closure/program.js"],
        main: "com.google.javascript.jscomp.CommandLineRunner",
        arguments: &[
            "-O",
            "ADVANCED",
            "--language_out",
            "ECMASCRIPT5",
            "--formatting",
            "PRETTY_PRINT",
            "--create_source_map",
            "out.map",
            "--js_output_file",
            "out.js",
            "program.js",
        ],
        ..NOTHING
    },
    Program {
        name: "vnu",
        about: "the Nu checker finding what is wrong with a page: HTML, CSS, SVG, MathML",
        jdks: &[17, 21, 25],
        suite: npm::REGISTRY,
        packages: &["vnu-jar"],
        jars: &["vnu.jar"],
        input: &["vnu/page.html"],
        // Its grammars nest deeply: with a thread's default stack it is near the limit on a plain
        // JDK, and exceeds it on a profiled one.
        options: &["-Xss4m"],
        main: "nu.validator.client.SimpleCommandLineValidator",
        arguments: &["--format", "json", "--exit-zero-always", "--stdout", "page.html"],
        ..NOTHING
    },
];
