//! Contexts carried by the thread (JP2): the trees equal those with contexts as arguments, and
//! signatures are unchanged.

use crate::sites::by_the_thread;
use crate::support::golden::flat;
use crate::support::{Blocks, Image, Jdk, Library, fixture, jdks};
use crate::{counts, modern_counts};

/// All fixtures whose trees were derived by hand, with calls by the JVM itself, natives, threads
/// and virtual threads.
fn trees(jdk: &'static Jdk) {
    if jdk.version > 8 {
        return modern_counts::trees_by(jdk, &[Blocks::Thread]);
    }
    for name in counts::PROGRAMS {
        counts::check_by(name, &[Blocks::Thread]);
    }
}

jdks!(trees, trees, [8, 17, 25], all [11, 21]);
jdks!(call_sites, by_the_thread, feature);

/// `File.lastModified`, which opening a jar calls, calls a method of `FileSystem` that a native
/// overrides: it calls the extended form, which counts it.
#[test]
fn natives_that_override_are_counted() {
    let Some(jdk) = Jdk::find() else { return };
    let library = Library::whole(jdk, Blocks::Thread);
    let mut java = library.java("thread-natives");
    java.forget_class_path().class_path(&library.tools).class_path([&library.programs]);
    let lines = java.succeed("Calls", &[]).contexts(false);
    let native = ";java.io.File.lastModified()J;java.io.UnixFileSystem.getLastModifiedTime(Ljava/io/File,)J";
    assert!(lines.iter().any(|line| line.ends_with(native)), "{native}");
}

/// A profiled JDK that records a single class boots, and records that one: omitted bodies once made
/// it fail.
fn little_is_recorded(jdk: &'static Jdk) {
    let mut java = Image::of_one_class(jdk, "Types$Plain").java("thread-included");
    let run = java.class_path([fixture("types/classes")]).succeed("Types", &[]);
    let methods = flat(&run);
    let found: Vec<(&str, (u64, u64))> = methods.iter().map(|(m, counts)| (m.as_str(), *counts)).collect();
    let own: Vec<_> = found.iter().filter(|(m, _)| m.starts_with("Types")).copied().collect();
    assert_eq!(own, [("Types$Plain.<init>()V", (2, 6)), ("Types$Plain.name(I)I", (4, 8))]);
}

jdks!(included, little_is_recorded, [17]);
