//! Moves profiles to their places, and writes a summary to standard error.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use cct_build::pending_file::PendingFile;
use cct_build::text::{counted, shell_option, shell_word};
use cct_profile::charges::Charges;
use cct_profile::labels::{By, Labels};
use cct_profile::library::is_own_code_alone;
use cct_profile::merge::MergeOptions;
use cct_profile::merger::Merger;
use cct_profile::names::NameStyle;
use cct_profile::origin::{Origins, is_jdk_by_name};
use cct_profile::report::grouped;
use cct_profile::sums::sums;
use cct_profile::{Method, Metric, Profile, Summary, Tree};

use super::files::move_file;
use super::own_classes::{OwnClasses, own_classes};
use super::run_markers;
use crate::args::{ContextFilter, Library};
use crate::exit::say;
use crate::profile_file::{CANNOT, read};
use crate::run_command::files::{UNKNOWN, file_name};
use crate::run_folder::Jvm;

/// Maximum number of methods in the summary.
const TOP: usize = 5;

/// The part of each recorded profile that is written.
#[derive(Default)]
pub struct WrittenParts {
    /// The classes that are kept; `None` for all.
    pub wanted: Option<ContextFilter>,
    /// The library that is collapsed.
    pub library: Option<Library>,
}

impl WrittenParts {
    /// Whether profiles are written as they were recorded.
    fn are_all(&self) -> bool {
        self.wanted.is_none() && self.library.is_none()
    }

    fn of(&self, mut profile: Profile) -> Result<Profile> {
        if let Some(wanted) = &self.wanted {
            profile = wanted.of(profile)?;
        }
        match &self.library {
            Some(library) => library.collapsed_for_good(profile),
            None => Ok(profile),
        }
    }
}

/// Where profiles go.
pub struct Places {
    /// The profile of the only JVM, or the sum of all.
    pub sum: PathBuf,
    /// The folder of the profiles of several JVMs.
    pub each: PathBuf,
}

impl Places {
    /// Determines the places. Fails, before anything runs, if profiles cannot go there.
    pub fn of(output: &Path) -> Result<Places> {
        if output.is_dir() {
            bail!("{} is a folder; name a file", output.display());
        }
        let places = Places { sum: output.to_path_buf(), each: output.with_extension("jvms") };
        let Ok(entries) = fs::read_dir(&places.each) else { return Ok(places) };
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read {}", places.each.display()))?.path();
            let is_ours = |extension: &OsStr| {
                extension == "cct" || run_markers::EXTENSIONS.iter().any(|other| extension == *other)
            };
            if !path.extension().is_some_and(is_ours) {
                bail!("{}: not a folder of profiles: it contains {}", places.each.display(), path.display());
            }
        }
        Ok(places)
    }
}

/// Moves profiles to their places, and reports their contents. `put` then moves a JVM's other files
/// beside its profile.
pub fn deliver(
    places: &Places,
    parts: &WrittenParts,
    jvms: Vec<Jvm>,
    quiet: bool,
    mut put: impl FnMut(&Jvm, &Path) -> Result<()>,
) -> Result<()> {
    let mut profiles = Vec::new();
    for jvm in jvms {
        if let Some(path) = &jvm.profile {
            let mut profile = read(path)?;
            if !parts.are_all() {
                profile = parts.of(profile)?;
                PendingFile::write_profile(path, |out| profile.write(out))?.commit()?;
            }
            profiles.push((jvm, profile));
        }
    }
    // Profiles of an earlier run in this folder would pass for profiles of this run.
    if places.each.is_dir() {
        fs::remove_dir_all(&places.each)
            .with_context(|| format!("cannot remove {}", places.each.display()))?;
    }
    match &profiles[..] {
        [] => {}
        [(jvm, profile)] => {
            take(jvm, &places.sum)?;
            if !quiet {
                say(&format!("cctrewrite: {}: {}", places.sum.display(), totals(&Summary::of(profile))));
                say_top(profile.clone().without_allocations()?, &places.sum)?;
            }
            put(jvm, &places.sum)?;
        }
        _ => {
            cct_private::create_folders(&places.each)
                .with_context(|| format!("cannot make {}", places.each.display()))?;
            let mut merger = Merger::new(MergeOptions::default());
            let count = profiles.len();
            for (jvm, profile) in profiles {
                let name =
                    file_name(jvm.number, count, profile.meta.get("main").map_or(UNKNOWN, |main| main));
                let path = places.each.join(&name);
                take(&jvm, &path)?;
                if !quiet {
                    say(&format!("cctrewrite: {}: {}", path.display(), totals(&Summary::of(&profile))));
                }
                put(&jvm, &path)?;
                merger.add(&name, profile).context(CANNOT)?;
            }
            let sum = merger.finish().context(CANNOT)?;
            PendingFile::write_profile(&places.sum, |out| sum.write(out))?.commit()?;
            if !quiet {
                let jvms = counted(count as u64, "JVM");
                say(&format!("cctrewrite: {}: {jvms}, {}", places.sum.display(), totals(&Summary::of(&sum))));
                say_top(sum.without_allocations()?, &places.sum)?;
            }
        }
    }
    if parts.wanted.is_some() && !quiet {
        say("--only and --except drop the counts of other classes; --mine adds them to your methods instead");
    }
    Ok(())
}

/// Moves a JVM's profile to its place.
fn take(jvm: &Jvm, to: &Path) -> Result<()> {
    jvm.profile.as_deref().map_or(Ok(()), |from| move_file(from, to))
}

fn totals(summary: &Summary) -> String {
    let plural = |number: u128, what: &str| counted(u64::try_from(number).unwrap_or(u64::MAX), what);
    let calls = plural(summary.all.total(Metric::Calls), "call");
    let contexts = plural(summary.all.contexts, "context");
    let all = match summary.metric() {
        Metric::Calls | Metric::Allocations => format!("{calls} in {contexts}"),
        metric => format!("{calls} and {} in {contexts}", plural(summary.all.total(metric), metric.one())),
    };
    let objects = summary.objects.map(|totals| format!("; {}", plural(totals.objects, "object")));
    let columns = summary
        .columns
        .iter()
        .map(|&(column, sum)| format!("; {}", plural(sum, Metric::Column(column).one())));
    [all].into_iter().chain(objects).chain(columns).collect()
}

/// Reports the methods with the largest numbers, and how to see more.
fn say_top(profile: Profile, path: &Path) -> Result<()> {
    top_methods(&profile, path)?.iter().for_each(|line| say(line));
    for note in &profile.notes {
        say(&format!("note: {note}"));
    }
    say(&format!("the whole tree: cctrewrite report {}", shell_word(path)));
    Ok(())
}

/// The methods that cause the most work: those of the program, with the JDK's methods that they
/// call; or all methods by their own numbers, if the program has none.
fn top_methods(profile: &Profile, path: &Path) -> Result<Vec<String>> {
    let metric = Metric::of_profile(profile);
    let labels = Labels::new(&profile.methods, By::Method, NameStyle::default(), &Origins::default());
    let trees: Vec<(&Tree, &[u32])> = profile.threads.iter().map(|t| (&t.tree, labels.of_method())).collect();
    let sums = sums(&trees, labels.len(), metric)?;
    // Placeholders, such as that of merged contexts, are no methods of the program.
    let mut is_library = vec![true; labels.len()];
    let is_own = is_own_code_alone(&profile.meta);
    for (method, label) in profile.methods.iter().zip(labels.of_method()) {
        let is_jdk = !is_own && is_jdk_by_name(&method.class);
        is_library[*label as usize] = is_jdk || method.flags & Method::MARKER != 0;
    }
    let charges = Charges::of(&trees, &is_library, metric)?;
    let total: u128 = sums.iter().map(|sums| sums.own).sum();
    let is_jdk_alone = charges.library_alone == total;
    let numbers = if is_jdk_alone { sums.iter().map(|sums| sums.own).collect() } else { charges.charged };
    let mut order: Vec<usize> = (0..numbers.len()).filter(|&label| numbers[label] > 0).collect();
    order.sort_by_key(|&label| (std::cmp::Reverse(numbers[label]), label));
    order.truncate(TOP);
    if order.is_empty() {
        return Ok(Vec::new());
    }
    let names = labels.readable();
    let calls: Vec<String> = order.iter().map(|&label| grouped(sums[label].calls)).collect();
    let width = calls.iter().map(String::len).max().unwrap_or_default();
    let lines = order.iter().zip(&calls).map(|(&label, calls)| {
        let share = 100.0 * numbers[label] as f64 / total as f64;
        let noun = if sums[label].calls == 1 { "call " } else { "calls" };
        format!("  {share:5.1} %  {calls:>width$} {noun}  {}", names[label])
    });
    let (whose, parts) = match (is_jdk_alone, is_own) {
        (true, _) => ("methods", "own"),
        (false, false) => ("methods outside the JDK", "own, plus the JDK's methods that each calls"),
        (false, true) => ("methods in your code", "own, plus the library's methods that each calls"),
    };
    let head = format!("heaviest {whose}, by {} ({parts}):", metric.name());
    let file = shell_word(path);
    // Names come from class files: in a command they must be one word of the shell.
    let first = shell_option(&names[order[0]]);
    let callers = format!("who calls the first: cctrewrite report {file} --callers {first}");
    let callees = format!("what it calls: cctrewrite report {file} --root {first} --depth 2");
    let own = own_classes(profile).map(|own| match own {
        OwnClasses::Glob(glob) => shell_option(&glob),
        OwnClasses::Unknown => "PATTERN, such as 'com.acme.**'".to_owned(),
    });
    let own = own.map(|glob| format!("your code only: cctrewrite report {file} --mine {glob}"));
    Ok(std::iter::once(head).chain(lines).chain([callers, callees]).chain(own).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use cct_profile::{ThreadTree, TreeBuilder};

    use super::*;
    use crate::args::LibraryArguments;

    fn method(class: &str, name: &str, flags: u64) -> Method {
        let (class, name) = (class.into(), name.into());
        Method { class, name, descriptor: "()V".into(), site: None, flags, mid: 0 }
    }

    /// A profile with one thread, of these contexts: depth, method, bytecodes.
    fn profile(methods: Vec<Method>, contexts: &[(usize, u32, u64)]) -> Profile {
        let mut tree = TreeBuilder::new();
        let mut open = 0;
        for &(depth, method, bytecodes) in contexts {
            (depth..=open).for_each(|_| tree.leave());
            tree.enter(method, 1, bytecodes).unwrap();
            open = depth;
        }
        let threads = vec![ThreadTree { name: "main".into(), threads: 1, flags: 0, tree: tree.finish() }];
        let meta = BTreeMap::from([("metrics".to_owned(), "calls+bytecodes".to_owned())]);
        Profile { methods, threads, meta, ..Profile::default() }
    }

    #[test]
    fn the_summary_charges_the_jdk_to_the_program() {
        let methods = vec![
            method("app/Main", "main", 0),
            method("java/util/Map", "get", 0),
            method("app/It's", "$run", 0),
            method("[contexts merged: out of memory]", "", Method::MARKER),
        ];
        let contexts = [(1, 0, 10), (2, 1, 20), (3, 2, 5), (4, 1, 60), (1, 3, 900), (1, 1, 5)];
        let lines = top_methods(&profile(methods, &contexts), Path::new("run.cct")).unwrap();
        assert_eq!(
            lines,
            [
                "heaviest methods outside the JDK, by bytecodes (own, plus the JDK's methods that each calls):",
                "    6.5 %  1 call   app.It's.$run()",
                "    3.0 %  1 call   app.Main.main()",
                r"who calls the first: cctrewrite report run.cct --callers 'app.It'\''s.$run()'",
                r"what it calls: cctrewrite report run.cct --root 'app.It'\''s.$run()' --depth 2",
            ]
        );
    }

    /// Without --mine the first line is a library's, and a line says how to see the program's own
    /// methods. With it, they have the library's work.
    #[test]
    fn the_summary_says_how_to_see_ones_own_code() {
        let methods = vec![
            Method { descriptor: "([Ljava/lang/String;)V".into(), ..method("com/acme/Main", "main", 0) },
            method("org/lib/Parser", "parse", 0),
        ];
        let with_main = |main: &str| {
            let mut profile = profile(methods.clone(), &[(1, 0, 10), (2, 1, 90)]);
            profile.meta.insert("main".to_owned(), main.to_owned());
            profile
        };
        let last = |profile: &Profile| {
            top_methods(profile, Path::new("run.cct")).unwrap().last().cloned().unwrap_or_default()
        };
        let hint = "your code only: cctrewrite report run.cct --mine 'com.acme.**'";
        assert_eq!(last(&with_main("com.acme.Main")), hint);
        let mine = LibraryArguments {
            collapse_library: false,
            mine: vec!["com.acme.**".to_owned()],
            mine_from: Vec::new(),
        };
        let collapsed = mine.library().unwrap().unwrap().collapsed(with_main("com.acme.Main")).unwrap();
        let lines = top_methods(&collapsed, Path::new("run.cct")).unwrap();
        assert_eq!(
            lines[..2],
            [
                "heaviest methods in your code, by bytecodes (own, plus the library's methods that each calls):",
                "  100.0 %  1 call   com.acme.Main.main(String[])",
            ]
        );
        assert!(lines.iter().all(|line| !line.contains("--mine")), "{lines:?}");
    }

    #[test]
    fn the_summary_of_a_tool_of_the_jdk_has_its_own_methods() {
        let methods = vec![method("java/util/Map", "get", 0), method("sun/misc/Launcher", "run", 0)];
        let lines = top_methods(&profile(methods, &[(1, 1, 10), (2, 0, 30)]), Path::new("x.cct")).unwrap();
        assert_eq!(
            lines[..2],
            ["heaviest methods, by bytecodes (own):", "   75.0 %  1 call   java.util.Map.get()"]
        );
        assert_eq!(top_methods(&profile(Vec::new(), &[]), Path::new("x.cct")).unwrap(), [""; 0]);
    }

    #[test]
    fn files_are_named_after_main_classes() {
        assert_eq!(file_name(3, 12, "org/apache/maven/Main"), "03-Main.cct");
        assert_eq!(file_name(3, 9, "surefirebooter-3.jar"), "3-surefirebooter-3.cct");
        assert_eq!(file_name(1, 9, "unknown"), "1.cct");
        assert_eq!(file_name(1, 9, "a b\u{e9}"), "1-a_b_.cct");
    }

    #[test]
    fn a_folder_with_other_files_is_not_touched() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("run.cct");
        assert_eq!(Places::of(&output).unwrap().each, folder.path().join("run.jvms"));
        fs::create_dir(folder.path().join("run.jvms")).unwrap();
        fs::write(folder.path().join("run.jvms/1-Main.cct"), b"").unwrap();
        assert!(Places::of(&output).is_ok());
        fs::write(folder.path().join("run.jvms/thesis.tex"), b"").unwrap();
        assert!(Places::of(&output).is_err());
        assert!(Places::of(folder.path()).is_err());
    }
}
