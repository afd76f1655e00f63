//! Contexts that the thread carries (JP2): the same trees as where they are arguments, and signatures as they were.

use crate::sites::by_the_thread;
use crate::support::{Blocks, Jdk, jdks};
use crate::{counts, modern_counts};

/// All fixtures whose trees were derived by hand, with what the JVM calls by itself, natives, threads and virtual threads.
fn trees(jdk: &'static Jdk) {
    if jdk.version > 8 {
        return modern_counts::trees_by(jdk, &[Blocks::Thread]);
    }
    for name in [
        "calls",
        "recursion",
        "exceptions",
        "control",
        "natives",
        "lambdas",
        "threads",
        "turns",
        "initialisers",
        "causes",
        "types",
    ] {
        counts::check_by(name, &[Blocks::Thread]);
    }
}

jdks!(trees, trees, 8: jdk_8, 11: jdk_11, 17: jdk_17, 21: jdk_21, 25: jdk_25);
jdks!(call_sites, by_the_thread, 8: jdk_8, 17: jdk_17, 25: jdk_25);
