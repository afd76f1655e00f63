//! The measured real programs: those of the catalogue, with more work.

use anyhow::{Context as _, Result};
use xtask_programs::catalogue::programs;
use xtask_programs::program::{Before, JAVAC, Mask, MaskedParts, NOTHING, Program};

/// A program that is measured.
#[derive(Clone)]
pub struct Work {
    /// The program with its work.
    pub program: Program,
    /// Whether it repeats its work, so that most of its time is spent in compiled code; otherwise
    /// it runs once through much code.
    pub is_repeated: bool,
    /// Whether it represents all programs where time does not allow all.
    pub is_sample: bool,
    /// JDKs that cannot run it, and why.
    pub not_on: &'static [(u32, &'static str)],
}

const NONE_BEFORE_9: &[(u32, &str)] = &[(8, "there is none before JDK 9")];
const SQL: Before = Before { main: JAVAC, arguments: &["-nowarn", "-g", "-d", "{classes}", "Sql.java"] };
const SQL_INPUT: &[&str] = &["sql/Sql.java", "bench/work.sql"];
const LUCENE_JARS: &[&str] =
    &["lucene-core-8.7.0.jar", "lucene-analyzers-common-8.7.0.jar", xtask_programs::program::TOOLS];

/// All measured programs.
///
/// # Errors
/// Fails if the catalogue lacks one.
pub fn works() -> Result<Vec<Work>> {
    let fop = named("fop")?;
    Ok(vec![
        repeated(Program {
            name: "rhino",
            about: "Rhino compiling JavaScript to classes with all optimisations; its program (lexer, parser, queens, closures, exceptions) runs 8 times",
            input: &["rhino/program.js", "bench/again.js"],
            arguments: &["-opt", "9", "again.js"],
            ..named("rhino-9")?
        })
        .sample(),
        repeated(Program {
            name: "jython",
            about: "Jython running a Python program (classes, generators, json, re) 12 times",
            input: &["jython/program.py", "bench/again.py"],
            arguments: &["again.py"],
            ..named("jython")?
        }),
        repeated(Program {
            name: "fop",
            about: "FOP making a PDF of 80 pages",
            input: &["fop/orchard.xml", "fop/orchard.xsl", "fop/fop.xconf", "bench/long.xsl"],
            before: Some(Before {
                main: fop.main,
                arguments: &["-q", "-xml", "orchard.xml", "-xsl", "long.xsl", "-foout", "{input}/orchard.fo"],
            }),
            ..fop
        })
        .sample(),
        repeated(Program {
            name: "xalan",
            about: "Xalan interpreting a stylesheet (keys, sorting, recursion) 1,500 times",
            input: &["fop/orchard.xml", "xalan/harvest.xsl", "bench/again.xsl"],
            arguments: &["-IN", "orchard.xml", "-XSL", "again.xsl", "-OUT", "harvest.html"],
            ..named("xalan")?
        }),
        repeated(Program {
            name: "hsqldb",
            about: "HSQLDB in memory: joins, groups and updates over 32,000 rows",
            input: SQL_INPUT,
            before: Some(SQL),
            options: &[],
            arguments: &["jdbc:hsqldb:mem:shop", "work.sql"],
            ..named("hsqldb-memory")?
        }),
        repeated(Program {
            name: "h2",
            about: "H2 with the same statements",
            input: SQL_INPUT,
            before: Some(SQL),
            arguments: &["jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1", "work.sql"],
            ..named("h2")?
        })
        .not_on(&[(8, "Debian's H2 has class files of Java 11")]),
        repeated(Program {
            name: "lucene",
            about: "Lucene indexing 1,500 documents in memory and answering 700 queries",
            packages: &["liblucene8-java"],
            jars: LUCENE_JARS,
            input: &["bench/Search.java"],
            before: Some(Before { main: JAVAC, arguments: &["-nowarn", "-g", "-d", "{classes}", "Search.java"] }),
            main: "Search",
            arguments: &["1500", "700"],
            ..NOTHING
        })
        .sample(),
        once(Program { name: "ant", ..named("ant")? }),
        once(Program {
            name: "ecj",
            about: "the compiler of Eclipse (3.16, which still runs on JDK 8) compiling commons-lang3",
            packages: &["libecj-java"],
            source: Some("libcommons-lang3-java"),
            jars: &["ecj.jar"],
            main: "org.eclipse.jdt.internal.compiler.batch.Main",
            arguments: &["-nowarn", "-encoding", "UTF-8", "-1.8", "-d", ".", "source/src/main/java"],
            ..NOTHING
        }),
        once(Program { name: "javac", ..named("javac")? }).sample(),
        once(Program {
            name: "jshell",
            about: "jshell with a script of 28 snippets, run in its own JVM",
            jdks: &[17, 21, 25],
            input: &["bench/work.jsh"],
            options: &[
                // Its preferences stay in the folder of the run.
                "-Djava.util.prefs.userRoot=.",
                "-Djava.util.prefs.systemRoot=.",
                "-Djava.util.logging.SimpleFormatter.format=%4$s %5$s%n",
            ],
            main: "jdk.internal.jshell.tool.JShellToolProvider",
            arguments: &["--execution", "local", "work.jsh"],
            masks: &[Mask { file: ".java/", what: MaskedParts::Content }],
            ..NOTHING
        })
        .not_on(NONE_BEFORE_9),
    ])
}

impl Work {
    fn sample(self) -> Work {
        Work { is_sample: true, ..self }
    }

    fn not_on(self, not_on: &'static [(u32, &'static str)]) -> Work {
        Work { not_on, ..self }
    }

    /// Why it does not run on a JDK of `version`, if so.
    pub fn why_not_on(&self, version: u32) -> Option<&'static str> {
        let known = self.not_on.iter().find(|(of, _)| *of == version).map(|(_, why)| *why);
        let other = (!self.program.jdks.contains(&version)).then_some("the catalogue does not name this JDK");
        known.or(other)
    }
}

fn repeated(program: Program) -> Work {
    Work { program, is_repeated: true, is_sample: false, not_on: &[] }
}

fn once(program: Program) -> Work {
    Work { is_repeated: false, ..repeated(program) }
}

fn named(name: &str) -> Result<Program> {
    programs()
        .find(|program| program.name == name)
        .copied()
        .with_context(|| format!("{name} is not in the catalogue"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_work_has_what_it_needs() {
        let fixtures = xtask_tools::workspace::root().join("fixtures/programs");
        let works = works().unwrap();
        for work in &works {
            let Program { name, input, .. } = work.program;
            for input in input {
                assert!(fixtures.join(input).is_file(), "{name}: {input}");
            }
            assert_eq!(works.iter().filter(|other| other.program.name == name).count(), 1, "{name}");
            // A user who asks for a JDK learns why a program is missing.
            for version in [8, 17, 25] {
                let why = work.not_on.iter().find(|(of, _)| *of == version);
                assert_eq!(why.is_none(), work.program.jdks.contains(&version), "{name} on {version}");
            }
        }
        assert!(works.iter().any(|work| work.is_sample));
    }
}
