//! Real programs when they are warm: `fixtures/programs/bench/Warm.java` repeats the same work in
//! one JVM, and the last half of the rounds counts.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use xtask_programs::packages::ProgramFiles;
use xtask_programs::place::{self, Place, Start};
use xtask_programs::program::{Before, JAVAC, Program, TOOLS};
use xtask_tools::watch::Limits;

use super::super::measure::Spread;
use super::super::ways::Way;
use super::columns::Column;
use super::programs::Bench;
use super::tables::geometric;

/// The usual columns; the first one is what the others refer to.
pub const COLUMNS: [Column; 5] = [
    Column::Of(Way::Plain),
    Column::Fast,
    Column::Of(Way::Off),
    Column::Of(Way::Calls),
    Column::Of(Way::Exact),
];

/// Longer than any run takes beyond its seconds: it ends the round that it has begun, and at least
/// five rounds.
const GRACE: Duration = Duration::from_secs(300);

/// A program that can be repeated in one JVM, and what each round does.
pub struct WarmWork {
    program: Program,
    /// The class and the static method that takes the arguments.
    target: [&'static str; 2],
    arguments: &'static [&'static str],
}

impl WarmWork {
    /// The program's name.
    pub fn name(&self) -> &'static str {
        self.program.name
    }

    /// What each round does.
    pub fn about(&self) -> &'static str {
        self.program.about
    }

    /// The program whose files it needs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Whether the catalogue has it for a JDK of `version`.
    pub fn runs_on(&self, version: u32) -> bool {
        self.program.jdks.contains(&version)
    }
}

/// The programs. `base` is the same work as a whole process, or a program of the catalogue.
///
/// # Errors
/// Fails if `base` does not know one of them.
pub fn warm_works(base: impl Fn(&str) -> Option<Program>) -> Result<Vec<WarmWork>> {
    let named = |name: &str| base(name).with_context(|| format!("{name} is not in the catalogue"));
    let sql = |name: &str, url: &'static [&'static str]| -> Result<WarmWork> {
        Ok(WarmWork {
            program: Program {
                input: &["sql/Sql.java", "bench/work.sql", "bench/Warm.java"],
                before: Some(compiled(&["-nowarn", "-g", "-d", "{classes}", "Sql.java", "Warm.java"])),
                ..named(name)?
            },
            target: ["Sql", "main"],
            arguments: url,
        })
    };
    Ok(vec![
        WarmWork {
            program: Program {
                about: "compiles the script of the table above and runs it 8 times",
                input: &["rhino/program.js", "bench/again.js", "bench/Script.java", "bench/Warm.java"],
                before: Some(compiled(&["-nowarn", "-g", "-d", "{classes}", "Script.java", "Warm.java"])),
                ..named("rhino")?
            },
            target: ["Script", "main"],
            arguments: &["again.js"],
        },
        WarmWork {
            program: Program {
                about: "one transformation of the stylesheet",
                input: &["fop/orchard.xml", "xalan/harvest.xsl", "bench/Warm.java"],
                before: Some(compiled(&["-nowarn", "-g", "-d", "{classes}", "Warm.java"])),
                ..named("xalan")?
            },
            target: ["org.apache.xalan.xslt.Process", "main"],
            arguments: &["-IN", "orchard.xml", "-XSL", "harvest.xsl", "-OUT", "harvest.html"],
        },
        sql("hsqldb", &["jdbc:hsqldb:mem:shop{round}", "work.sql"])?,
        sql("h2", &["jdbc:h2:mem:shop{round};DB_CLOSE_DELAY=0", "work.sql"])?,
        WarmWork {
            program: Program {
                about: "indexes 300 documents and answers 140 queries",
                input: &["bench/Search.java", "bench/Warm.java"],
                before: Some(compiled(&["-nowarn", "-g", "-d", "{classes}", "Search.java", "Warm.java"])),
                ..named("lucene")?
            },
            target: ["Search", "main"],
            arguments: &["300", "140"],
        },
        WarmWork {
            program: Program {
                input: &["bench/Ecj.java", "bench/Warm.java"],
                before: Some(compiled(&["-nowarn", "-g", "-d", "{classes}", "Ecj.java", "Warm.java"])),
                ..named("ecj")?
            },
            target: ["Ecj", "compile"],
            arguments: &["-nowarn", "-encoding", "UTF-8", "-1.8", "-d", ".", "source/src/main/java"],
        },
        WarmWork {
            program: Program {
                jars: &[TOOLS],
                input: &["bench/Warm.java"],
                before: Some(compiled(&["-nowarn", "-g", "-d", "{classes}", "Warm.java"])),
                ..named("javac")?
            },
            target: [JAVAC, "compile"],
            arguments: named("javac")?.arguments,
        },
    ])
}

const fn compiled(arguments: &'static [&'static str]) -> Before {
    Before { main: JAVAC, arguments }
}

/// A program in the columns: for each JVM the median of the processor times of its last rounds, in
/// seconds.
pub struct WarmRow {
    /// The program's name.
    pub name: &'static str,
    cells: Vec<(Column, Vec<f64>)>,
    /// The least number of rounds that a JVM ran.
    rounds: usize,
}

impl WarmRow {
    fn spread(&self, column: Column) -> Option<Spread> {
        let (_, times) = self.cells.iter().find(|(of, _)| *of == column)?;
        Spread::of(times)
    }

    /// The median over that of the plain program.
    fn ratio(&self, column: Column) -> Option<f64> {
        Some(self.spread(column)?.median / self.spread(COLUMNS[0])?.median)
    }
}

/// Runs a program in the columns for so many seconds each, in turns; each round of JVMs starts with
/// another column.
///
/// # Errors
/// Fails if a run fails.
pub fn measure(
    bench: &Bench,
    work: &WarmWork,
    fetched: &ProgramFiles,
    columns: &[Column],
    seconds: u64,
) -> Result<WarmRow> {
    let name = work.name();
    let mut arguments = vec![seconds.to_string()];
    arguments.extend(work.target.iter().chain(work.arguments).map(|&argument| argument.to_owned()));
    // Programs are constants; a handful of these lives as long as the process.
    let arguments: Vec<&'static str> =
        arguments.into_iter().map(|argument| &*Box::leak(argument.into_boxed_str())).collect();
    let program =
        Program { main: "Warm", arguments: Box::leak(arguments.into_boxed_slice()), ..work.program };
    let folder = bench.folder.join(format!("warm-{name}"));
    let place = Place::prepare(program, bench.version, bench.jdk, &folder, fetched)?;
    let mut row = WarmRow {
        name,
        cells: columns.iter().map(|&column| (column, Vec::new())).collect(),
        rounds: usize::MAX,
    };
    for turn in 0..bench.rounds as usize {
        for step in 0..columns.len() {
            let at = (turn + step) % columns.len();
            let column = columns[at];
            let run = place.run(&Start {
                name: &column.word(),
                home: bench.homes.home(column.way())?,
                through: &[],
                options: &column.options(bench.homes, None),
                jars: place::RAW,
                limits: Limits::of(GRACE + Duration::from_secs(seconds)),
            })?;
            if run.exit != Some(0) {
                bail!("{}: ended with {}: {}", column.name(), run.end(), run.last_words());
            }
            let times = rounds_of(&String::from_utf8_lossy(&run.stdout))
                .with_context(|| format!("{}: {}", column.name(), run.last_words()))?;
            row.rounds = row.rounds.min(times.len());
            let median = settled(&times).context("no rounds")?;
            bench.clock.say(&format!(
                "{name}, warm, {}: {median:.3} s, {} rounds",
                column.name(),
                times.len()
            ));
            row.cells[at].1.push(median);
        }
    }
    Ok(row)
}

/// The times that `Warm` printed, in seconds.
fn rounds_of(printed: &str) -> Result<Vec<f64>> {
    let times: Vec<f64> =
        printed.split_whitespace().map(|time| Ok(time.parse::<f64>()? / 1e9)).collect::<Result<_>>()?;
    ensure!(times.len() > 1, "no rounds");
    Ok(times)
}

/// The median of the last half of the rounds.
fn settled(times: &[f64]) -> Option<f64> {
    Spread::of(&times[times.len() / 2..]).map(|spread| spread.median)
}

/// The table, with geometric means and the worst program.
pub fn table(rows: &[WarmRow], columns: &[Column]) -> String {
    let heads: Vec<String> = columns[1..].iter().map(|column| format!(" {} |", column.name())).collect();
    let mut text =
        format!("| | plain ms |{} rounds |\n|---|---|{}---|\n", heads.concat(), "---|".repeat(heads.len()));
    for row in rows {
        let Some(plain) = row.spread(COLUMNS[0]) else { continue };
        // Writing to a String cannot fail.
        let _ = write!(text, "| {} | {} |", row.name, spread_of(plain, |time| format!("{:.0}", 1e3 * time)));
        for column in &columns[1..] {
            let Some(spread) = row.spread(*column) else { continue };
            let _ = write!(text, " x {} |", spread_of(spread, |time| format!("{:.2}", time / plain.median)));
        }
        let _ = writeln!(text, " {} |", row.rounds);
    }
    text += "| *geometric mean* | |";
    for column in &columns[1..] {
        let ratios: Vec<f64> = rows.iter().filter_map(|row| row.ratio(*column)).collect();
        let _ = write!(text, " **x {:.2}** |", geometric(&ratios));
    }
    text + " |\n"
}

/// A median with least and most, if there are several.
fn spread_of(Spread { median, least, most }: Spread, shown: impl Fn(f64) -> String) -> String {
    if least < most {
        format!("{} ({} to {})", shown(median), shown(least), shown(most))
    } else {
        shown(median)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_half_of_the_rounds_counts() {
        let times = rounds_of("9000000000 5000000000 1000000000 3000000000 2000000000\n").unwrap();
        assert_eq!(settled(&times), Some(2.0));
        assert!(rounds_of("").is_err() && rounds_of("1 x").is_err());
    }

    #[test]
    fn ratios_refer_to_the_plain_program() {
        let cells = [vec![1.0, 3.0], vec![1.0], vec![2.0], vec![3.0], vec![4.0, 6.0]];
        let row = WarmRow { name: "it", cells: COLUMNS.into_iter().zip(cells).collect(), rounds: 7 };
        assert_eq!(
            table(&[row], &COLUMNS),
            "| | plain ms | plain, --fast | recording off | calls | exact | rounds |\n|---|---|---|---|---|---|---|\n\
             | it | 2000 (1000 to 3000) | x 0.50 | x 1.00 | x 1.50 | x 2.50 (2.00 to 3.00) | 7 |\n\
             | *geometric mean* | | **x 0.50** | **x 1.00** | **x 1.50** | **x 2.50** | |\n"
        );
    }

    #[test]
    fn every_program_has_its_inputs() {
        let fixtures = xtask_tools::workspace::root().join("fixtures/programs");
        let works = super::super::works::works().unwrap();
        let base = |name: &str| works.iter().map(|work| work.program).find(|program| program.name == name);
        for work in warm_works(base).unwrap() {
            for input in work.program.input {
                assert!(fixtures.join(input).is_file(), "{}: {input}", work.name());
            }
        }
        assert!(warm_works(|_| None).is_err());
    }
}
