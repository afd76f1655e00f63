//! Seeds for the text files in an image, and for those that `run` and its JVMs write for each
//! other.

use cct_image::record::HAS_MANIFEST;
use cct_image::{CoveredFile, Manifest, Record};

/// A manifest with files, an empty one, and the record of an image's options.
pub fn manifests() -> Vec<Vec<u8>> {
    let file = |path: &str, size, hash| CoveredFile { path: path.into(), size, hash };
    let files = vec![
        file("bin/java", 12_345, 7),
        file("lib/a b.so", 0, u128::MAX),
        file("lib/cctrewrite/index", u64::MAX, 1 << 100),
        file("lib/modules", 130_000_000, 42),
    ];
    let lines = vec![
        ("tool", "cctrewrite 0.1.0".to_owned()),
        ("key", "0123456789abcdef0123456789abcdef".to_owned()),
        ("options", "--metrics=bytecodes --blocks=exact".to_owned()),
        (HAS_MANIFEST, "1".to_owned()),
        ("jvm-option", "-XX:MaxJavaStackTraceDepth=4096".to_owned()),
        ("jvm-option", "-Da=b=c".to_owned()),
    ];
    vec![
        Manifest { files }.bytes(),
        Manifest { files: Vec::new() }.bytes(),
        Record::new(lines).text().into_bytes(),
    ]
}

/// Three files: the options that `run` leaves for its JVMs, the entry of a JVM that has started,
/// and the built-in options of a JDK 8 image.
pub fn options() -> Vec<Vec<u8>> {
    vec![
        b"record=regions\nstart-at=a.A.run\nmax-contexts=1000\nmarkers.clients=Client,Other\nmarkers.client-path=/a b:/c\ntrace-last=5000\n"
            .to_vec(),
        b"4711\0java\0-cp\0a b\0Main\0-Dpassword=x\n\0".to_vec(),
        b"-XX:-OmitStackTraceInFastThrow\n-XX:MaxJavaStackTraceDepth=4096\n-Dcctrewrite.depth=10\n -XX:+OmitStackTraceInFastThrow -Xmx1g\t-Dcctrewrite.depth=2\n"
            .to_vec(),
    ]
}
