//! The columns of the tables of real programs: a way to run them, and further differences.

use std::path::PathBuf;

use super::super::ways::{Homes, Way};

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// A way; classes outside the image are rewritten at load time.
    Of(Way),
    /// The plain program with the options for speed that images have. Programs that run for seconds
    /// spend much of their time in HotSpot's second compiler, which these options relieve.
    Fast,
    /// Exact, with the program's jars rewritten beforehand.
    Offline,
    /// With HotSpot's quick compiler alone.
    Quick(Way),
    /// With its thorough compiler alone.
    Thorough(Way),
    /// The JDK's own profiler, as the papers ran it.
    Hprof,
    /// Coverage.
    Jacoco,
    /// Exact, with further options for the JVM.
    Tuned(&'static Tuning),
}

/// Options for the JVM to try: `NAME=OPTIONS`, with spaces between options.
#[derive(Debug, PartialEq, Eq)]
pub struct Tuning {
    name: String,
    options: Vec<String>,
}

impl Tuning {
    /// Parses an argument. The result lives as long as the process, so that columns can be copied.
    ///
    /// # Errors
    /// Fails if there is no name.
    pub fn parse(text: &str) -> Result<&'static Tuning, String> {
        let (name, options) = text.split_once('=').ok_or("expected NAME=OPTIONS")?;
        let options = options.split_whitespace().map(str::to_owned).collect();
        Ok(Box::leak(Box::new(Tuning { name: name.to_owned(), options })))
    }
}

/// Options that `cctrewrite flags --fast` adds, and that images have built in.
pub const FOR_SPEED: [&str; 7] = [
    "-XX:-DontCompileHugeMethods",
    "-XX:Tier4InvocationThreshold=150000",
    "-XX:Tier4MinInvocationThreshold=18000",
    "-XX:Tier4CompileThreshold=450000",
    "-XX:Tier4BackEdgeThreshold=1200000",
    "-XX:MaxNodeLimit=30000",
    "-XX:LiveNodeCountInliningCutoff=15000",
];

/// The columns of every program.
pub const USUAL: [Column; 8] = [
    Column::Of(Way::Plain),
    Column::Fast,
    Column::Of(Way::Off),
    Column::Of(Way::Calls),
    Column::Of(Way::Exact),
    Column::Of(Way::Precise),
    Column::Of(Way::Thread),
    Column::Offline,
];

/// The columns of samples.
pub const COMPILERS: [Column; 4] = [
    Column::Quick(Way::Plain),
    Column::Quick(Way::Exact),
    Column::Thorough(Way::Plain),
    Column::Thorough(Way::Exact),
];

impl Column {
    /// The heading.
    pub fn name(self) -> &'static str {
        match self {
            Column::Of(way) => way.name(),
            Column::Fast => "plain, --fast",
            Column::Offline => "exact, offline",
            Column::Quick(Way::Plain) => "plain, C1",
            Column::Quick(_) => "exact, C1",
            Column::Thorough(Way::Plain) => "plain, C2",
            Column::Thorough(_) => "exact, C2",
            Column::Hprof => "hprof",
            Column::Jacoco => "JaCoCo",
            Column::Tuned(tuning) => &tuning.name,
        }
    }

    /// A name for files.
    pub fn word(self) -> String {
        self.name().replace(", --", "-").replace(", ", "-").replace(' ', "-").replace('\'', "").to_lowercase()
    }

    /// The way whose image it runs on.
    pub fn way(self) -> Way {
        match self {
            Column::Of(way) | Column::Quick(way) | Column::Thorough(way) => way,
            Column::Offline | Column::Tuned(_) => Way::Exact,
            Column::Fast | Column::Hprof | Column::Jacoco => Way::Plain,
        }
    }

    /// The column that its ratios refer to; the column itself where times are shown.
    pub fn base(self) -> Column {
        match self {
            Column::Quick(_) => Column::Quick(Way::Plain),
            Column::Thorough(_) => Column::Thorough(Way::Plain),
            _ => Column::Of(Way::Plain),
        }
    }

    /// Whether one run must do, so that the benchmark ends in time: for all but plain and exact,
    /// whose ratios matter, and options to try.
    pub fn is_once(self) -> bool {
        !matches!(self, Column::Of(Way::Plain | Way::Exact) | Column::Fast | Column::Tuned(_))
    }

    /// Whether it is a foreign profiler.
    pub fn is_foreign(self) -> bool {
        matches!(self, Column::Hprof | Column::Jacoco)
    }

    /// The JVM's options. A foreign profiler writes to the file next to the profile.
    pub fn options(self, homes: &Homes, jacoco: Option<&PathBuf>) -> Vec<String> {
        let mut options = homes.options(self.way());
        let written = homes.profile().with_extension("foreign");
        match self {
            Column::Of(_) | Column::Offline => {}
            Column::Fast => options.extend(FOR_SPEED.map(str::to_owned)),
            Column::Tuned(tuning) => options.extend_from_slice(&tuning.options),
            Column::Quick(_) => options.push("-XX:TieredStopAtLevel=1".to_owned()),
            Column::Thorough(_) => options.push("-XX:-TieredCompilation".to_owned()),
            Column::Hprof => options.push(format!("-agentlib:hprof=cpu=times,file={}", written.display())),
            Column::Jacoco => {
                options.extend(jacoco.map(|jar| {
                    format!("-javaagent:{}=destfile={},append=false", jar.display(), written.display())
                }));
            }
        }
        options
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compared_runs_with_the_same_compilers() {
        for column in USUAL.into_iter().chain(COMPILERS).chain([Column::Hprof, Column::Jacoco]) {
            let base = column.base();
            assert_eq!(base.way(), Way::Plain, "{column:?}");
            assert_eq!(base.base(), base, "{column:?}");
        }
        assert_eq!(Column::Offline.word(), "exact-offline");
        assert_eq!(Column::Of(Way::Default).word(), "papers-default");
        assert_eq!(Column::Fast.word(), "plain-fast");
    }

    #[test]
    fn the_plain_program_gets_the_options_that_images_have() {
        let source = xtask_tools::workspace::root().join("crates/build/src/jvm_options/exactness.rs");
        let source = std::fs::read_to_string(source).unwrap();
        let list = source.split("pub const FAST: &[&str] = &[").nth(1).unwrap().split(']').next().unwrap();
        let images: Vec<&str> = list.split('"').filter(|word| word.starts_with("-XX:")).collect();
        assert_eq!(images, FOR_SPEED);
    }
}
