//! Arguments that decide how classes are rewritten, shared by the commands that do it or talk about it.

use std::path::PathBuf;

use anyhow::{Result, bail};
use cct_columns::Column;
use cct_pcc::{Chosen, MethodPattern};
use cct_rewrite::{BlockRule, ContextCarrier, Intrinsics, Metrics, Natives, Settings, Tool};
use cct_tables::CostModel;
use clap::{Args, ValueEnum};

use super::tables;
use cct_rewrite::filter::Filter;

/// Libraries, filters, metrics, block rule, intrinsics and reproducibility.
#[derive(Debug, Clone, Args)]
pub struct Choices {
    /// Classes that the inputs refer to and that are not rewritten now: a jar, folder, image or the home
    /// of a JDK, original or already instrumented (repeatable)
    #[arg(long, value_name = "PATH")]
    pub library: Vec<PathBuf>,

    /// Record only classes that match: a glob over names with slashes or dots, such as `java/util/**` (repeatable). What is not
    /// recorded hands contexts through
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,

    /// Do not record classes that match (repeatable); goes before --include
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// What the program leaves behind
    #[arg(long, value_enum, default_value_t = ToolArgument::Profile)]
    pub tool: ToolArgument,

    /// Where clients hear that a thread is there: a file of rules (docs/markers.md; repeatable). With --tool markers nothing else is done; without, markers stand beside
    /// what counts
    #[arg(long, value_name = "FILE.toml")]
    pub markers: Vec<PathBuf>,

    /// What may be done with objects in which order: a file of properties, or the name of one that comes along (docs/typestate.md; repeatable). As --markers
    #[arg(long, value_name = "FILE.toml")]
    pub typestate: Vec<PathBuf>,

    /// At the entry of these methods the values of contexts are recorded: a glob over classes, as of --include, a dot, a glob over methods, and perhaps a
    /// descriptor, such as `java.util.HashMap.resize` or `com.acme.**.*` (repeatable). For --tool pcc
    #[arg(long, value_name = "METHODS", value_parser = methods)]
    pcc_at: Vec<MethodPattern>,

    /// Only these methods take part in values; others hand on the value that they got (repeatable). For --tool pcc
    #[arg(long, value_name = "METHODS", value_parser = methods)]
    pcc_only: Vec<MethodPattern>,

    /// How a method is told its calling context
    #[arg(long, value_enum, default_value_t = ContextArgument::Argument)]
    context: ContextArgument,

    /// What is counted
    #[arg(long, value_enum, default_value_t = MetricsArgument::Bytecodes)]
    metrics: MetricsArgument,

    /// How bytecodes are counted. `exact`: one that did not start is never counted; added up in a local variable and written into the tree where somebody may
    /// look. `precise`: the same numbers, written into the tree block by block, as in the papers; slower. `default`, that of the papers: a block counts whole when
    /// it begins, even if an exception leaves it half-way. Or a table that says where blocks end, a file NAME.toml (docs/blocks.md) or one of those that come
    /// along: `calls`, `like-default`, `like-precise`
    #[arg(long, value_name = "RULE|FILE.toml", default_value = "exact", value_parser = tables::block_rule)]
    blocks: BlockRule,

    /// What becomes of methods whose Java body HotSpot may replace by code of its own, such as `Math.max`
    #[arg(long, value_enum, default_value_t = IntrinsicsArgument::Bytecode)]
    intrinsics: IntrinsicsArgument,

    /// How native methods are represented
    #[arg(long, value_enum, default_value_t = NativesArgument::Wrap)]
    natives: NativesArgument,

    /// Pin what differs from run to run, such as the seeds of random numbers, so that a deterministic program gives the same profile
    /// each time. The class library must be rewritten with it; `flags` then prints the JVM options that belong to it
    #[arg(long)]
    reproducible: bool,

    /// Keep activation counters, by which a profiling agent (-Dcctrewrite.agent=...) reports while the program runs; slower
    #[arg(long)]
    activation_counters: bool,

    /// Tell contexts apart by the call sites in their callers: a method that another one calls from two places has two contexts there. All
    /// outputs that run together must agree in it
    #[arg(long)]
    call_sites: bool,

    /// Count what bytecodes cost by this model instead of their number: `jop` (cycles of the Java processor JOP) or `unit` (1 each), which come along,
    /// or a file NAME.toml (docs/cost-models.md). Threads of the JVM's own are left out; `run --system-threads` keeps them
    #[arg(long, value_name = "NAME|FILE.toml", value_parser = tables::cost_model)]
    cost_model: Option<&'static CostModel>,

    /// Count objects and arrays by type, below the context that makes them: a metric of its own, shown by reports and exports with
    /// `--metric allocations`. With `--tool trace`: events of objects and arrays that are made, with types and lengths, and of monitors, with whose they are.
    /// All outputs that run together must agree in it
    #[arg(long)]
    allocations: bool,

    /// Count entries into monitors in each context: executed `monitorenter`, and calls of synchronized methods (docs/monitors.md). Shown by
    /// reports and exports with `--metric monitors`. All outputs that run together must agree in it
    #[arg(long)]
    monitors: bool,
}

/// What is left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ToolArgument {
    /// Its calling-context tree
    Profile,
    /// Its events in order: methods, basic blocks, classes (docs/trace.md)
    Trace,
    /// Nothing of its own: what clients of markers print (docs/markers.md)
    Markers,
    /// With which values of calling contexts chosen methods were entered (docs/pcc.md)
    Pcc,
}

/// How contexts travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ContextArgument {
    /// By an argument of its own, in a copy of the method with a longer signature; faster
    Argument,
    /// By a field of the thread: signatures stay
    Thread,
}

/// Metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MetricsArgument {
    /// Calls only
    Calls,
    /// Calls and executed bytecodes
    Bytecodes,
}

/// What becomes of intrinsics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum IntrinsicsArgument {
    /// The body is executed and counted: the same numbers on every JVM
    Bytecode,
    /// HotSpot's own code is used where it has some, counted as a call without bytecodes; faster
    Native,
}

/// How natives are represented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NativesArgument {
    /// By contexts of their own; what they call back hangs below them
    Wrap,
    /// The same, with natives renamed and methods in their place, as in JP2 (2011); with --context thread, and an agent in the JVM (docs/natives.md)
    Prefix,
    /// Not at all, as in JP (2005): what they call back hangs below the thread's root
    None,
}

/// Some methods.
fn methods(text: &str) -> Result<MethodPattern, String> {
    MethodPattern::parse(text).map_err(|e| e.to_string())
}

/// A value as it is given on a command line.
fn name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned())
}

impl Choices {
    /// The settings of the rewriter.
    pub fn settings(&self) -> Settings {
        let settings = Settings {
            tool: match self.tool {
                ToolArgument::Profile | ToolArgument::Pcc => Tool::Profile,
                ToolArgument::Trace => Tool::Trace,
                // Classes do not come to the rewriter.
                ToolArgument::Markers => Tool::Profile,
            },
            context: match self.context {
                ContextArgument::Argument => ContextCarrier::Argument,
                ContextArgument::Thread => ContextCarrier::Thread,
            },
            metrics: match self.metrics {
                MetricsArgument::Calls => Metrics::Calls,
                MetricsArgument::Bytecodes => Metrics::CallsAndBytecodes,
            },
            blocks: self.blocks,
            intrinsics: match self.intrinsics {
                IntrinsicsArgument::Bytecode => Intrinsics::Bytecode,
                IntrinsicsArgument::Native => Intrinsics::Native,
            },
            natives: match self.natives {
                NativesArgument::Wrap => Natives::Wrap,
                NativesArgument::Prefix => Natives::Prefix,
                NativesArgument::None => Natives::None,
            },
            reproducible: self.reproducible,
            activation: self.activation_counters,
            call_sites: self.call_sites,
            cost_model: self.cost_model,
            allocations: self.allocations,
            columns: self.monitors.then_some(Column::Monitors).into_iter().collect(),
            markers: self.marks_beside(),
        };
        match self.tool {
            ToolArgument::Pcc => settings.of_values(self.chosen().interned()),
            _ => settings,
        }
    }

    /// Of which methods values are recorded, and which take part in them.
    fn chosen(&self) -> Chosen {
        Chosen { at: self.pcc_at.clone(), only: self.pcc_only.clone() }
    }

    /// What of that was said, as it is spelled.
    pub fn spelled_chosen(&self) -> Vec<String> {
        let at = self.pcc_at.iter().map(|pattern| format!("--pcc-at={}", pattern.text()));
        at.chain(self.pcc_only.iter().map(|pattern| format!("--pcc-only={}", pattern.text()))).collect()
    }

    /// The same with what differs from run to run pinned.
    pub fn reproducibly(self) -> Choices {
        Choices { reproducible: true, ..self }
    }

    /// Whether rules or properties were given.
    pub fn has_rules(&self) -> bool {
        !self.markers.is_empty() || !self.typestate.is_empty()
    }

    /// The choices as they are given on a command line, libraries apart, each where it has its default too.
    pub fn spelled(&self) -> Vec<String> {
        let Choices {
            library: _,
            include,
            exclude,
            tool,
            markers: _,
            typestate: _,
            pcc_at: _,
            pcc_only: _,
            context,
            metrics,
            blocks,
            intrinsics,
            natives,
            reproducible,
            activation_counters,
            call_sites,
            cost_model,
            allocations,
            monitors,
        } = self;
        let mut words = vec![];
        if *tool == ToolArgument::Trace {
            words.push("--tool=trace".to_owned());
        }
        if *tool == ToolArgument::Pcc {
            words.push("--tool=pcc".to_owned());
            words.extend(self.spelled_chosen());
        }
        words.extend([
            format!("--context={}", name(context)),
            format!("--metrics={}", name(metrics)),
            format!("--blocks={}", tables::name_of_rule(*blocks)),
            format!("--intrinsics={}", name(intrinsics)),
            format!("--natives={}", name(natives)),
        ]);
        if *reproducible {
            words.push("--reproducible".to_owned());
        }
        if *activation_counters {
            words.push("--activation-counters".to_owned());
        }
        if *call_sites {
            words.push("--call-sites".to_owned());
        }
        // What the file has, not where it is.
        words.extend(cost_model.map(|model| format!("--cost-model={}", model.id())));
        if *allocations {
            words.push("--allocations".to_owned());
        }
        if *monitors {
            words.push("--monitors".to_owned());
        }
        words.extend(include.iter().map(|glob| format!("--include={glob}")));
        words.extend(exclude.iter().map(|glob| format!("--exclude={glob}")));
        words
    }

    /// Which classes are recorded.
    pub fn filter(&self) -> Result<Filter> {
        if self.cost_model.is_some() && self.metrics == MetricsArgument::Calls {
            bail!(
                "--cost-model says what bytecodes cost, and --metrics calls does not count them; give one of the two"
            );
        }
        if self.natives == NativesArgument::Prefix && self.context == ContextArgument::Argument {
            bail!(
                "--natives prefix puts a method under a native's own signature, which gets its context from the thread; it goes with --context \
                 thread. With --context argument callers call a native's wrapper by its extended signature, and nothing needs another name"
            );
        }
        if self.tool == ToolArgument::Markers {
            bail!("--tool markers leaves no profile; leave it out for markers beside a calling-context tree");
        }
        if self.has_rules() && !self.marks_beside() {
            bail!(
                "markers stand beside a calling-context tree, or alone with --tool markers, and not beside --tool {}; leave one of the two out",
                name(&self.tool)
            );
        }
        self.check_trace()?;
        self.check_pcc()?;
        Ok(Filter::new(&self.include, &self.exclude)?)
    }

    /// Whether there are to be markers, and no property says who hears of them.
    pub fn counts_markers(&self) -> bool {
        (self.marks_alone() || self.marks_beside()) && self.typestate.is_empty()
    }

    /// Whether there are to be markers beside a calling-context tree.
    pub fn marks_beside(&self) -> bool {
        self.tool == ToolArgument::Profile && self.has_rules()
    }

    /// Whether there are to be markers, and nothing else.
    pub fn marks_alone(&self) -> bool {
        self.tool == ToolArgument::Markers
    }

    /// Refuses what is about profiles, where there is to be none.
    pub fn check_markers(&self) -> Result<()> {
        if self.markers.is_empty() && self.typestate.is_empty() {
            bail!(
                "--tool markers needs rules: give a file of them by --markers FILE.toml (docs/markers.md), or properties by --typestate (docs/typestate.md)"
            );
        }
        let counting = [
            (self.context != ContextArgument::Argument, "--context"),
            (self.metrics != MetricsArgument::Bytecodes, "--metrics"),
            (self.blocks != BlockRule::Exact, "--blocks"),
            (self.intrinsics != IntrinsicsArgument::Bytecode, "--intrinsics"),
            (self.activation_counters, "--activation-counters"),
            (self.call_sites, "--call-sites"),
            (self.cost_model.is_some(), "--cost-model"),
            (self.allocations, "--allocations"),
            (self.monitors, "--monitors"),
            (self.natives != NativesArgument::Wrap, "--natives"),
            (self.reproducible, "--reproducible"),
            (!self.include.is_empty(), "--include"),
            (!self.exclude.is_empty(), "--exclude"),
            (!self.pcc_at.is_empty(), "--pcc-at"),
            (!self.pcc_only.is_empty(), "--pcc-only"),
        ];
        match counting.iter().find(|(given, _)| *given) {
            None => Ok(()),
            Some((_, option)) => bail!(
                "--tool markers does not go together with {option}, which is about what a profile has; leave {option} out: the rules say what is marked"
            ),
        }
    }

    /// Refuses what a trace does not know: it has all events, and counting is for who reads it.
    fn check_trace(&self) -> Result<()> {
        if self.tool != ToolArgument::Trace {
            return Ok(());
        }
        let counting = [
            (self.context != ContextArgument::Argument, "--context"),
            (self.metrics != MetricsArgument::Bytecodes, "--metrics"),
            (self.blocks != BlockRule::Exact, "--blocks"),
            (self.activation_counters, "--activation-counters"),
            (self.call_sites, "--call-sites"),
            (self.cost_model.is_some(), "--cost-model"),
            (self.monitors, "--monitors"),
            (self.natives != NativesArgument::Wrap, "--natives"),
        ];
        match counting.iter().find(|(given, _)| *given) {
            None => Ok(()),
            Some((_, "--context")) => bail!(
                "--tool trace does not go together with --context thread: what travels is the thread's buffer, by arguments; leave --context out"
            ),
            Some((_, option)) => bail!(
                "--tool trace does not go together with {option}, which is about what a profile counts; leave {option} out, and count with `cctrewrite trace contexts`"
            ),
        }
    }

    /// Refuses what values of contexts do not know: nothing is counted on the way.
    fn check_pcc(&self) -> Result<()> {
        if self.tool != ToolArgument::Pcc {
            return match self.spelled_chosen().first() {
                None => Ok(()),
                Some(option) => {
                    let name = option.split('=').next().unwrap_or_default();
                    bail!(
                        "{name} is about values of calling contexts; give --tool pcc with it, or leave it out"
                    )
                }
            };
        }
        let counting = [
            (self.context != ContextArgument::Argument, "--context"),
            (self.metrics != MetricsArgument::Bytecodes, "--metrics"),
            (self.blocks != BlockRule::Exact, "--blocks"),
            (self.activation_counters, "--activation-counters"),
            (self.cost_model.is_some(), "--cost-model"),
            (self.natives != NativesArgument::Wrap, "--natives"),
            (self.allocations, "--allocations"),
            (self.monitors, "--monitors"),
        ];
        if let Some((_, option)) = counting.iter().find(|(given, _)| *given) {
            bail!(
                "--tool pcc does not go together with {option}, which is about trees and what is counted in them; leave {option} out"
            );
        }
        match self.call_sites {
            true => bail!("--tool pcc makes values of call sites anyway; leave --call-sites out"),
            false => Ok(()),
        }
    }

    /// What the runtime is told for the classes that are rewritten at load time: properties, with values.
    pub fn filter_properties(&self) -> Vec<String> {
        let property = |name, globs: &[String]| {
            (!globs.is_empty()).then(|| format!("-Dcctrewrite.{name}={}", globs.join(",")))
        };
        [property("include", &self.include), property("exclude", &self.exclude)]
            .into_iter()
            .flatten()
            .collect()
    }
}
