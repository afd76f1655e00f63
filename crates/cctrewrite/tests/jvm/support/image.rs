//! Whole profiled JDKs, made once for all tests of the process.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use super::{Blocks, Java, Jdk, assert_succeeded, scratch};

/// A JDK of 9 or later whose class library is rewritten. Its `bin/java` profiles without options.
#[derive(Debug)]
pub struct Image {
    jdk: Jdk,
}

impl Image {
    /// The image of a JDK, by a rule for blocks.
    pub fn of(jdk: &'static Jdk, blocks: Blocks) -> Option<&'static Image> {
        type Made = Arc<OnceLock<Option<&'static Image>>>;
        static IMAGES: Mutex<BTreeMap<(u32, &str), Made>> = Mutex::new(BTreeMap::new());
        // The map is not locked while an image is made, so that those of several JDKs are made at once.
        let key = (jdk.version, blocks.name());
        let cell = IMAGES.lock().unwrap().entry(key).or_default().clone();
        let image = *cell.get_or_init(|| {
            let home = scratch().join(format!("jdk-{}-{}", jdk.version, blocks.name()));
            make(jdk, blocks, &home)
                .then(|| &*Box::leak(Box::new(Image { jdk: Jdk::made(jdk.version, home) })))
        });
        if image.is_none() {
            eprintln!("skipped: cctrewrite has no command that makes an image");
        }
        image
    }

    /// A JVM of the image, with the verifier on for all classes.
    pub fn java(&self, name: &str) -> Java {
        let mut java = Java::new(&self.jdk, name);
        java.verify();
        java
    }
}

/// Runs `cctrewrite jdk`, which must succeed; false if the command is not there.
fn make(jdk: &Jdk, blocks: Blocks, home: &Path) -> bool {
    let cctrewrite = || Command::new(env!("CARGO_BIN_EXE_cctrewrite"));
    if !cctrewrite().args(["jdk", "--help"]).output().unwrap().status.success() {
        return false;
    }
    let mut command = cctrewrite();
    command.arg("jdk").arg(jdk.home()).arg("-o").arg(home).args(["--blocks", blocks.name()]);
    assert_succeeded(&mut command);
    true
}
