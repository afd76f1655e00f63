//! The programs that JDK 8 can run, and the list of all. Those that need a newer JDK are in
//! [`super::today`].

use super::program::{Before, JAVAC, Mask, MaskedParts, NOTHING, Program, SOURCES, STANDARD_OUTPUT, TOOLS};
use super::today::TODAY;

const RHINO: &[&str] = &["librhino-java"];
const RHINO_MAIN: &str = "org.mozilla.javascript.tools.shell.Main";
/// FOP 2.8 of bookworm was compiled against a newer class library: NoSuchMethodError
/// CharBuffer.limit on Java 8.
const FOP_SUITE: &str = "trixie";
const FOP: &[&str] = &[
    "libfop-java",
    "libbatik-java",
    "libcommons-io-java",
    "libcommons-logging-java",
    "libfontbox-java",
    "libxml-commons-external-java",
    "libxmlgraphics-commons-java",
];
const FOP_JARS: &[&str] = &[
    "fop-core.jar",
    "fop-events.jar",
    "fop-util.jar",
    "commons-io.jar",
    "batik-all.jar",
    "commons-logging.jar",
    "xmlgraphics-commons.jar",
    "xml-apis-ext.jar",
    "fontbox.jar",
];
const FOP_INPUT: &[&str] = &["fop/orchard.xml", "fop/orchard.xsl", "fop/fop.xconf"];
const FOP_OPTIONS: &[&str] = &[
    "-Djava.awt.headless=true",
    // Debian's JDK names one that is in no package of a headless JDK.
    "-Djavax.accessibility.assistive_technologies=",
    "-Dorg.apache.commons.logging.Log=org.apache.commons.logging.impl.SimpleLog",
];
const FOP_MAIN: &str = "org.apache.fop.cli.Main";
/// Masks for times and values derived from them. The streams of the PDF are not compressed
/// (`fop.xconf`), so lines can be compared.
const PDF: &[Mask] = &[Mask {
    file: "orchard.pdf",
    what: MaskedParts::Lines(&[
        "/CreationDate ",
        "<dc:date>",
        "<xmp:MetadataDate>",
        "<xmp:CreateDate>",
        "/ID ",
    ]),
}];
const XALAN: &[&str] = &["libxalan2-java", "libxsltc-java", "libxerces2-java"];
const XALAN_JARS: &[&str] = &["xalan2.jar", "serializer.jar", "xercesImpl.jar", "xsltc.jar"];
const XALAN_INPUT: &[&str] = &["fop/orchard.xml", "xalan/harvest.xsl"];
const XALAN_MAIN: &str = "org.apache.xalan.xslt.Process";
const SCALA: &[&str] = &["scala", "scala-library", "scala-parser-combinators", "scala-xml"];
const SCALA_JARS: &[&str] = &[
    "scala-library.jar",
    "scala-reflect.jar",
    "scala-compiler.jar",
    "scala-parser-combinators_2.11.jar",
    "scala-xml_2.11.jar",
];
const GROOVY: &[&str] = &["groovy"];
const GROOVY_JARS: &[&str] = &["groovy-all.jar"];
const GROOVYC: &str = "org.codehaus.groovy.tools.FileSystemCompiler";
/// The interpreter and its dependencies for a script, without gems and native code.
const JRUBY: &[&str] = &[
    "jruby",
    "libasm-java",
    "libbackport9-java",
    "libdirgra-java",
    "libheadius-options-java",
    "libinvokebinder-java",
    "libjcodings-java",
    "libjffi-java",
    "libjitescript-java",
    "libjnr-constants-java",
    "libjnr-enxio-java",
    "libjnr-ffi-java",
    "libjnr-netdb-java",
    "libjnr-posix-java",
    "libjnr-unixsocket-java",
    "libjnr-x86asm-java",
    "libjoda-time-java",
    "libjruby-joni-java",
    "libjzlib-java",
];
const JRUBY_JARS: &[&str] = &[
    "jruby-core.jar",
    "asm-all.jar",
    "backport9.jar",
    "dirgra.jar",
    "headius-options.jar",
    "invokebinder.jar",
    "jcodings.jar",
    "jffi.jar",
    "jitescript.jar",
    "jnr-constants.jar",
    "jnr-enxio.jar",
    "jnr-ffi.jar",
    "jnr-netdb.jar",
    "jnr-posix.jar",
    "jnr-unixsocket.jar",
    "jnr-x86asm.jar",
    "joda-time.jar",
    "joni.jar",
    "jzlib.jar",
];
const JRUBY_INPUT: &[&str] = &["jruby/program.rb"];
const JRUBY_MAIN: &str = "org.jruby.Main";
const JRUBY_ARGUMENTS: &[&str] = &["--disable-gems", "program.rb"];
const SQL: Before = Before { main: JAVAC, arguments: &["-g", "-d", "{classes}", "Sql.java"] };

/// A few that take seconds, of different kinds: an interpreter, compiled Scala, XML.
pub const SMOKE: &[&str] = &["rhino-interpreted", "xalan", "scala"];

/// All programs.
pub fn programs() -> impl Iterator<Item = &'static Program> {
    FROM_8_ON.iter().chain(TODAY)
}

/// Programs that run on JDK 8, and often on later ones.
const FROM_8_ON: &[Program] = &[
    Program {
        name: "rhino-9",
        about: "Rhino compiling JavaScript to classes with all optimisations, and running them",
        packages: RHINO,
        jars: &["js.jar"],
        input: &["rhino/program.js"],
        main: RHINO_MAIN,
        arguments: &["-opt", "9", "program.js"],
        ..NOTHING
    },
    Program {
        name: "rhino-0",
        about: "the same without optimisations",
        packages: RHINO,
        jars: &["js.jar"],
        input: &["rhino/program.js"],
        main: RHINO_MAIN,
        arguments: &["-opt", "0", "program.js"],
        ..NOTHING
    },
    Program {
        name: "rhino-interpreted",
        about: "the same by Rhino's interpreter",
        packages: RHINO,
        jars: &["js.jar"],
        input: &["rhino/program.js"],
        main: RHINO_MAIN,
        arguments: &["-opt", "-1", "program.js"],
        ..NOTHING
    },
    Program {
        name: "jython",
        about: "Jython running a Python program: classes, generators, json, re, itertools",
        packages: &[
            "jython",
            "antlr3",
            "libantlr3-runtime-java",
            "libasm-java",
            "libcommons-compress-java",
            "libguava-java",
            "libicu4j-java",
            "libjaxb-api-java",
            "libjffi-java",
            "libjline2-java",
            "libjnr-constants-java",
            "libjnr-ffi-java",
            "libjnr-netdb-java",
            "libjnr-posix-java",
            "libnetty-java",
            "libservlet-api-java",
            "libstringtemplate4-java",
        ],
        jars: &[
            "jython.jar",
            "servlet-api.jar",
            "antlr3-runtime.jar",
            "stringtemplate4.jar",
            "asm.jar",
            "asm-commons.jar",
            "asm-util.jar",
            "asm-tree.jar",
            "asm-analysis.jar",
            "commons-compress.jar",
            "guava.jar",
            "icu4j.jar",
            "jffi.jar",
            "jnr-constants.jar",
            "jnr-ffi.jar",
            "jnr-netdb.jar",
            "jnr-posix.jar",
            "jline2.jar",
            "jaxb-api.jar",
            "netty-buffer.jar",
            "netty-codec.jar",
            "netty-common.jar",
            "netty-handler.jar",
            "netty-resolver.jar",
            "netty-transport.jar",
        ],
        input: &["jython/program.py"],
        // Otherwise it would scan all jars of the class path and write an index of them.
        options: &["-Dpython.home=.", "-Dpython.cachedir.skip=true"],
        main: "org.python.util.jython",
        arguments: &["program.py"],
        ..NOTHING
    },
    Program {
        name: "fop",
        about: "FOP making a PDF of six pages: tables, lists, footnotes, SVG",
        suite: FOP_SUITE,
        packages: FOP,
        jars: FOP_JARS,
        input: FOP_INPUT,
        before: Some(Before {
            main: FOP_MAIN,
            arguments: &["-q", "-xml", "orchard.xml", "-xsl", "orchard.xsl", "-foout", "{input}/orchard.fo"],
        }),
        options: FOP_OPTIONS,
        main: FOP_MAIN,
        arguments: &["-c", "fop.xconf", "-fo", "orchard.fo", "-pdf", "orchard.pdf"],
        masks: PDF,
        ..NOTHING
    },
    Program {
        name: "fop-xslt",
        about: "the same from XML by a stylesheet, which the JDK compiles to a class",
        suite: FOP_SUITE,
        packages: FOP,
        jars: FOP_JARS,
        input: FOP_INPUT,
        options: FOP_OPTIONS,
        main: FOP_MAIN,
        arguments: &["-c", "fop.xconf", "-xml", "orchard.xml", "-xsl", "orchard.xsl", "-pdf", "orchard.pdf"],
        masks: PDF,
        ..NOTHING
    },
    Program {
        name: "xalan",
        about: "Xalan interpreting a stylesheet: keys, modes, sorting, recursion, number formats",
        packages: XALAN,
        jars: XALAN_JARS,
        input: XALAN_INPUT,
        main: XALAN_MAIN,
        arguments: &["-IN", "orchard.xml", "-XSL", "harvest.xsl", "-OUT", "harvest.html"],
        ..NOTHING
    },
    Program {
        name: "xsltc",
        about: "Xalan compiling the same stylesheet to a class",
        packages: XALAN,
        jars: XALAN_JARS,
        input: XALAN_INPUT,
        main: XALAN_MAIN,
        arguments: &["-IN", "orchard.xml", "-XSL", "harvest.xsl", "-OUT", "harvest.html", "-XSLTC"],
        ..NOTHING
    },
    Program {
        name: "hsqldb-memory",
        about: "HSQLDB in memory: joins, views, indexes, procedures in SQL and Java, triggers, recursive queries",
        // 2.7 of bookworm has class files of Java 17.
        suite: "bullseye",
        packages: &["libhsqldb-java"],
        jars: &["hsqldb.jar", TOOLS],
        input: &["sql/Sql.java", "sql/hsqldb.sql"],
        before: Some(SQL),
        options: &["-Dhsqldb.method_class_names=Sql.*"],
        main: "Sql",
        arguments: &["jdbc:hsqldb:mem:shop", "hsqldb.sql"],
        ..NOTHING
    },
    Program {
        name: "hsqldb-file",
        about: "the same on file, closed and opened again",
        suite: "bullseye",
        packages: &["libhsqldb-java"],
        jars: &["hsqldb.jar", TOOLS],
        input: &["sql/Sql.java", "sql/hsqldb.sql"],
        before: Some(SQL),
        // From JDK 9 on it logs to standard error, with the time.
        options: &[
            "-Dhsqldb.method_class_names=Sql.*",
            "-Djava.util.logging.SimpleFormatter.format=%4$s %2$s: %5$s%n",
        ],
        main: "Sql",
        arguments: &["jdbc:hsqldb:file:shop;shutdown=true", "hsqldb.sql"],
        masks: &[
            Mask { file: "shop.properties", what: MaskedParts::Lines(&["#"]) },
            Mask { file: "shop.script", what: MaskedParts::Lines(&["SET DATABASE UNIQUE NAME "]) },
        ],
        ..NOTHING
    },
    Program {
        name: "derby-memory",
        about: "Derby in memory, with about the same statements; it compiles each to a class",
        packages: &["libderby-java"],
        jars: &["derby.jar", TOOLS],
        input: &["sql/Sql.java", "sql/derby.sql"],
        before: Some(SQL),
        main: "Sql",
        arguments: &["jdbc:derby:memory:shop;create=true", "derby.sql", "jdbc:derby:;shutdown=true"],
        masks: &[Mask { file: "derby.log", what: MaskedParts::Content }],
        ..NOTHING
    },
    Program {
        name: "derby-file",
        about: "the same on file, closed and opened again",
        packages: &["libderby-java"],
        jars: &["derby.jar", TOOLS],
        input: &["sql/Sql.java", "sql/derby.sql"],
        before: Some(SQL),
        main: "Sql",
        arguments: &["jdbc:derby:shop;create=true", "derby.sql", "jdbc:derby:;shutdown=true"],
        masks: &[
            Mask { file: "derby.log", what: MaskedParts::Content },
            // Pages of a database contain log positions, times and unique ids; SQL reads their
            // contents back.
            Mask { file: "shop/", what: MaskedParts::Content },
        ],
        ..NOTHING
    },
    Program {
        name: "ant",
        about: "Ant building a jar from sources of commons-lang3: javac, filters, copies, checksums, unzip",
        packages: &["ant"],
        source: Some("libcommons-lang3-java"),
        jars: &["ant.jar", "ant-launcher.jar", TOOLS],
        input: &["ant/build.xml", "ant/about.properties"],
        options: &["-Dant.home=."],
        main: "org.apache.tools.ant.Main",
        arguments: &["-f", "build.xml"],
        masks: &[Mask { file: STANDARD_OUTPUT, what: MaskedParts::Lines(&["Total time: "]) }],
        ..NOTHING
    },
    Program {
        name: "scalac",
        about: "the Scala compiler compiling a program against the original class files",
        jdks: &[8],
        packages: SCALA,
        jars: SCALA_JARS,
        input: &["scala/Program.scala"],
        main: "scala.tools.nsc.Main",
        // It reads the classes to compile against from class files. In rewritten ones it would see
        // the added methods, which it does not skip.
        arguments: &[
            "-javabootclasspath",
            "{jdk}/jre/lib/rt.jar",
            "-classpath",
            "{original}/scala-library.jar:{original}/scala-parser-combinators_2.11.jar",
            "-d",
            ".",
            "Program.scala",
        ],
        ..NOTHING
    },
    Program {
        name: "scala",
        about: "that program: parser combinators, implicits, streams, parallel collections",
        packages: SCALA,
        jars: SCALA_JARS,
        input: &["scala/Program.scala"],
        before: Some(Before {
            main: "scala.tools.nsc.Main",
            arguments: &["-usejavacp", "-d", "{classes}", "Program.scala"],
        }),
        main: "Program",
        ..NOTHING
    },
    Program {
        name: "groovyc",
        about: "the Groovy compiler compiling a program",
        packages: GROOVY,
        jars: GROOVY_JARS,
        input: &["groovy/Program.groovy"],
        main: GROOVYC,
        arguments: &["-d", ".", "Program.groovy"],
        ..NOTHING
    },
    Program {
        name: "groovy",
        about: "that program: closures, dynamic dispatch, metaclasses, builders, traits",
        packages: GROOVY,
        jars: GROOVY_JARS,
        input: &["groovy/Program.groovy"],
        before: Some(Before { main: GROOVYC, arguments: &["-d", "{classes}", "Program.groovy"] }),
        main: "Program",
        ..NOTHING
    },
    Program {
        name: "groovy-script",
        about: "the same compiled and run in one JVM",
        packages: GROOVY,
        jars: GROOVY_JARS,
        input: &["groovy/Program.groovy"],
        main: "groovy.ui.GroovyMain",
        arguments: &["Program.groovy"],
        ..NOTHING
    },
    Program {
        name: "jruby",
        about: "JRuby running a script, compiling what is called often: blocks, exceptions, patterns, fibers, threads",
        // On later ones it prints, with the time, what it may not open.
        jdks: &[8],
        packages: JRUBY,
        jars: JRUBY_JARS,
        input: JRUBY_INPUT,
        options: &["-Djruby.native.enabled=false"],
        main: JRUBY_MAIN,
        arguments: JRUBY_ARGUMENTS,
        ..NOTHING
    },
    Program {
        name: "jruby-compiled",
        about: "the same, compiling all of it before it runs, its own kernel too, with invokedynamic for calls",
        jdks: &[8],
        packages: JRUBY,
        jars: JRUBY_JARS,
        input: JRUBY_INPUT,
        options: &[
            "-Djruby.native.enabled=false",
            "-Djruby.compile.mode=FORCE",
            "-Djruby.compile.invokedynamic=true",
        ],
        main: JRUBY_MAIN,
        arguments: JRUBY_ARGUMENTS,
        ..NOTHING
    },
    Program {
        name: "javac",
        about: "the JDK's javac compiling commons-lang3",
        source: Some("libcommons-lang3-java"),
        jars: &[TOOLS],
        main: JAVAC,
        arguments: &[
            "-encoding",
            "UTF-8",
            "-nowarn",
            "-sourcepath",
            "source/src/main/java",
            "-d",
            ".",
            SOURCES,
        ],
        ..NOTHING
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_has_what_it_needs() {
        let fixtures = xtask_tools::workspace::root().join("fixtures/programs");
        for name in SMOKE {
            assert!(programs().any(|program| program.name == *name), "{name}");
        }
        for program in programs() {
            assert!(
                !program.jdks.is_empty()
                    && !program.name.is_empty()
                    && !program.about.is_empty()
                    && !program.main.is_empty()
            );
            assert_eq!(programs().filter(|other| other.name == program.name).count(), 1, "{}", program.name);
            for input in program.input {
                assert!(fixtures.join(input).is_file(), "{}: {input}", program.name);
            }
        }
    }
}
