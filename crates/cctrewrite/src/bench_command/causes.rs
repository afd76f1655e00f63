//! Causes of counts that differ between JVMs: calls whose results differ between JVMs.

use std::collections::BTreeMap;

use cct_profile::names::normalised_class;
use cct_profile::origin::is_jdk_by_name;
use cct_profile::{Method, Profile};

/// What a method's result depends on, besides its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The clock.
    Clock,
    /// Random numbers from the operating system.
    Random,
    /// `Object.hashCode`.
    IdentityHash,
    /// Environment variables, the process id, the host.
    Environment,
    /// Files and their order in folders.
    Files,
    /// Other threads.
    Threads,
    /// The garbage collector, by cleared references.
    Collector,
}

/// The methods of the class library that read a source: most are natives.
const READERS: &[(&str, &[&str], Source)] = &[
    ("java/lang/System", &["currentTimeMillis", "nanoTime"], Source::Clock),
    ("sun/misc/VM", &["getNanoTimeAdjustment"], Source::Clock),
    ("jdk/internal/misc/VM", &["getNanoTimeAdjustment"], Source::Clock),
    ("java/security/SecureRandom", &["nextBytes", "generateSeed", "getSeed"], Source::Random),
    ("sun/security/provider/NativePRNG", &["engineNextBytes", "engineGenerateSeed"], Source::Random),
    ("java/lang/Object", &["hashCode"], Source::IdentityHash),
    ("java/lang/System", &["identityHashCode"], Source::IdentityHash),
    ("java/lang/System", &["getenv"], Source::Environment),
    ("java/lang/ProcessHandleImpl", &["getCurrentPid0", "current"], Source::Environment),
    ("java/net/InetAddress", &["getLocalHost"], Source::Environment),
    (
        "java/io/UnixFileSystem",
        &["list", "list0", "getLastModifiedTime", "getLastModifiedTime0"],
        Source::Files,
    ),
    ("sun/nio/fs/UnixNativeDispatcher", &["readdir", "stat", "stat0", "stat1"], Source::Files),
    ("java/lang/Object", &["wait"], Source::Threads),
    ("java/lang/Thread", &["start", "join", "sleep", "yield"], Source::Threads),
    ("sun/misc/Unsafe", &["park"], Source::Threads),
    ("jdk/internal/misc/Unsafe", &["park"], Source::Threads),
    ("java/lang/ref/ReferenceQueue", &["poll", "reallyPoll"], Source::Collector),
];

impl Source {
    fn of(method: &Method) -> Option<Source> {
        let is_of = |(class, names, _): &&(&str, &[&str], Source)| {
            **class == *method.class && names.contains(&&*method.name)
        };
        READERS.iter().find(is_of).map(|&(.., source)| source)
    }

    /// The word for it in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Source::Clock => "clock",
            Source::Random => "random",
            Source::IdentityHash => "identity hash code",
            Source::Environment => "environment",
            Source::Files => "files",
            Source::Threads => "threads",
            Source::Collector => "garbage collector",
        }
    }

    /// What the program does with it.
    pub fn in_words(self) -> &'static str {
        match self {
            Source::Clock => "reads the clock",
            Source::Random => "reads random numbers of the operating system",
            Source::IdentityHash => "asks for an identity hash code",
            Source::Environment => "reads the environment",
            Source::Files => "reads a folder or the times of files",
            Source::Threads => "starts, or waits for, another thread",
            Source::Collector => "asks for references that the garbage collector cleared",
        }
    }

    /// How to make the counts the same.
    pub fn remedy(self) -> &'static str {
        match self {
            Source::Clock => "pass the time in, as an argument or a fixed java.time.Clock",
            Source::Random => "use java.util.Random, whose seeds are fixed here",
            Source::IdentityHash => "override hashCode, or do not order by hash codes",
            Source::Environment => "pass the value in as an argument",
            Source::Files => "sort the names, and keep times of files out of the measured part",
            Source::Threads => "measure the work of one thread",
            Source::Collector => "give the JVM so much memory that it does not collect: -J-Xmn1g",
        }
    }
}

/// A call that reads a source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cause {
    /// The source.
    pub source: Source,
    /// The nearest caller outside of the JDK, or the outermost caller if all are in the JDK.
    pub caller: String,
    /// The called method.
    pub reader: String,
}

/// The calls in a profile that read a source, with the number of calls: by source, then the most
/// frequent first.
pub fn causes(profile: &Profile) -> Vec<(Cause, u128)> {
    let mut found: BTreeMap<Cause, u128> = BTreeMap::new();
    for thread in &profile.threads {
        let tree = &thread.tree;
        // The open contexts: end, method.
        let mut open: Vec<(u32, &Method)> = Vec::new();
        for (index, node) in (1u32..).zip(&tree.nodes()[1..]) {
            while open.last().is_some_and(|&(end, _)| end <= index) {
                open.pop();
            }
            let Some(method) = profile.methods.get(node.method as usize) else { continue };
            if let Some(source) = Source::of(method).filter(|_| node.calls > 0) {
                let mut callers = open.iter().rev().map(|&(_, method)| method);
                let own = callers.find(|method| !is_jdk_by_name(&method.class));
                let caller = own.or(open.first().map(|&(_, method)| method));
                let cause =
                    Cause { source, caller: caller.map_or_else(String::new, name), reader: name(method) };
                *found.entry(cause).or_default() += u128::from(node.calls);
            }
            open.push((tree.subtree(index).end, method));
        }
    }
    let mut all: Vec<(Cause, u128)> = found.into_iter().collect();
    all.sort_by(|(a, calls_a), (b, calls_b)| (a.source, calls_b, a).cmp(&(b.source, calls_a, b)));
    all
}

/// A method as `class.method`.
fn name(method: &Method) -> String {
    format!("{}.{}", normalised_class(&method.class).replace('/', "."), method.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_profile::contexts::read_contexts;

    #[test]
    fn the_nearest_caller_of_the_program_is_named() {
        let list = "1 5 app.A.run()V\n\
                    1 5 app.A.run()V;app.A.seed()J\n\
                    3 0 app.A.run()V;app.A.seed()J;java.lang.System.nanoTime()J\n\
                    1 5 app.A.run()V;java.time.Instant.now()Ljava/time/Instant,\n\
                    1 0 app.A.run()V;java.time.Instant.now()Ljava/time/Instant,;jdk.internal.misc.VM.getNanoTimeAdjustment(J)J\n\
                    1 0 app.A.run()V;java.lang.Object.hashCode()I\n\
                    1 0 app.A.run()V;app.A.hashCode()I\n";
        let profile = read_contexts(list.as_bytes()).unwrap().profile;
        let found: Vec<_> = causes(&profile)
            .into_iter()
            .map(|(cause, calls)| (cause.source, cause.caller, cause.reader, calls))
            .collect();
        let expected = [
            (Source::Clock, "app.A.seed", "java.lang.System.nanoTime", 3),
            (Source::Clock, "app.A.run", "jdk.internal.misc.VM.getNanoTimeAdjustment", 1),
            (Source::IdentityHash, "app.A.run", "java.lang.Object.hashCode", 1),
        ];
        assert_eq!(
            found,
            expected.map(|(s, caller, reader, n)| (s, caller.to_owned(), reader.to_owned(), n))
        );
    }
}
