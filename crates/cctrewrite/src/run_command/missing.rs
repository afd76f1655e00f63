//! JVMs that started and wrote no profile: how they ended, and what can be recovered.

use std::path::Path;

use anyhow::Result;
use cct_build::pending_file::PendingFile;

use super::execution::CommandEnd;
use crate::exit::say;
use crate::recover_command::file;
use crate::run_folder::Jvm;

/// Prefix of the JVM option that names a profiling agent.
const AGENT: &str = "-Dcctrewrite.agent=";

/// JVM options that end a JVM without its shutdown sequence.
const ENDING: [&str; 2] = ["-XX:+ExitOnOutOfMemoryError", "-XX:+CrashOnOutOfMemoryError"];

/// Exit code of a JVM that the runtime stops.
const REFUSED: u8 = 70;

/// Names the JVMs that have written no profile, and recovers profiles from their memory. Returns
/// whether there was such a JVM, or no JVM at all.
pub fn recover_missing(jvms: &mut [Jvm], ended: &CommandEnd) -> bool {
    let mut missing = jvms.is_empty();
    for jvm in jvms.iter_mut().filter(|jvm| jvm.profile.is_none()) {
        if jvm.place.is_file() {
            // The JVM has written its profile after the JVMs were listed.
            jvm.profile = Some(jvm.place.clone());
            continue;
        }
        missing = true;
        let runs = jvm.is_running();
        let recovered = jvm.arena.as_deref().map(|arena| recover(arena, &jvm.place));
        let code = ended.code_of(jvm.process);
        let how = how_it_ended(jvm, code);
        let why = match (runs, &recovered) {
            (true, Some(Ok(()))) => {
                "still runs; its profile has its counts so far: make it end before the command does"
                    .to_owned()
            }
            (false, Some(Ok(()))) => {
                format!("{how}; its profile was recovered from its memory as of then")
            }
            (true, _) => {
                "still runs; make it end before the command does, or stop it and run again".to_owned()
            }
            (false, None) => format!("left no profile; {}", why_nothing_is_left(jvm, code, &how)),
            (false, Some(Err(e))) => {
                format!("left no profile; it {how}, and nothing can be recovered from its memory ({e:#})")
            }
        };
        if let Some(Ok(())) = recovered {
            jvm.profile = Some(jvm.place.clone());
        }
        say(&format!("cctrewrite: the JVM of process {} {why}: {}", jvm.process, jvm.command()));
    }
    missing
}

/// How a JVM ended that wrote no profile. `code` is its exit code, known only if the JVM is the
/// command itself.
fn how_it_ended(jvm: &Jvm, code: Option<u8>) -> String {
    const KILLED: u8 = 128 + 9;
    const ABORTED: u8 = 128 + 6;
    let option = ENDING.into_iter().find(|option| jvm.arguments.iter().any(|word| word == option));
    match (code, option) {
        (Some(KILLED), _) => "was killed (SIGKILL)".to_owned(),
        (Some(code), Some(option)) => format!("was ended by {option} (exit code {code})"),
        (Some(ABORTED), None) => "crashed (SIGABRT)".to_owned(),
        (Some(code), None) if code > 128 => format!("was killed by signal {}", code - 128),
        (Some(code), None) => format!("was ended by native code (exit code {code})"),
        (None, Some(option)) => format!("was killed, crashed, or was ended by {option}"),
        (None, None) => "was killed, crashed, or was ended by native code".to_owned(),
    }
}

/// Why a JVM has left neither a profile nor memory.
fn why_nothing_is_left(jvm: &Jvm, code: Option<u8>, how: &str) -> String {
    match jvm.arguments.iter().find_map(|word| word.strip_prefix(AGENT)) {
        _ if code == Some(REFUSED) => {
            format!("it refused to run (exit code {REFUSED}) and printed the reason")
        }
        Some(agent) => format!("its profiling agent {agent} wrote none, or it {how}"),
        None => format!("it refused to run and printed the reason, or {how}"),
    }
}

/// Makes a profile of a JVM's memory.
fn recover(arena: &Path, place: &Path) -> Result<()> {
    let recovered = file::of_file(arena);
    if place.is_file() {
        // The JVM has written the profile in the meantime.
        return Ok(());
    }
    let recovered = recovered?;
    // The profile's notes say what is wrong with it, and the summary shows them.
    Ok(PendingFile::write_profile(place, |out| recovered.profile.write(out))?.commit()?)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn jvm(arguments: &[&str]) -> Jvm {
        let arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        Jvm { number: 1, process: 7, arguments, profile: None, place: PathBuf::new(), arena: None }
    }

    #[test]
    fn the_cause_of_an_end_is_reported() {
        let exits = jvm(&["java", "-XX:+ExitOnOutOfMemoryError", "Main"]);
        let plain = jvm(&["java", "Main"]);
        assert_eq!(how_it_ended(&exits, Some(3)), "was ended by -XX:+ExitOnOutOfMemoryError (exit code 3)");
        assert_eq!(how_it_ended(&exits, Some(137)), "was killed (SIGKILL)");
        assert_eq!(how_it_ended(&plain, Some(134)), "crashed (SIGABRT)");
        assert_eq!(how_it_ended(&plain, Some(139)), "was killed by signal 11");
        assert_eq!(how_it_ended(&plain, Some(4)), "was ended by native code (exit code 4)");
        assert_eq!(how_it_ended(&plain, None), "was killed, crashed, or was ended by native code");
        let with_agent = jvm(&["java", "-Dcctrewrite.agent=app.Agent", "Main"]);
        assert!(
            why_nothing_is_left(&with_agent, None, "x")
                .starts_with("its profiling agent app.Agent wrote none")
        );
    }
}
