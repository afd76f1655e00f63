//! The instrumented class library boots, and every class of it loads, links and verifies.

use crate::support::{ALL_BLOCKS, Blocks, Jdk, Library, fixture};

#[test]
fn a_program_says_what_it_said_before() {
    let Some(jdk) = Jdk::find() else { return };
    for blocks in ALL_BLOCKS {
        for record in ["on", "off"] {
            let mut java = Library::whole(jdk, blocks).java("hello");
            let run = java.option(format!("-Dcctrewrite.record={record}")).succeed("Hello", &["a", "b"]);
            assert_eq!((run.out.as_str(), run.err.as_str()), ("Hello 2\n", ""));
            assert_eq!(run.profile_path().exists(), record == "on");
        }
    }
}

/// `cctrewrite instrument rt.jar -o inst_rt.jar`, without the rest of the JDK.
#[test]
fn rt_jar_alone_boots() {
    let Some(jdk) = Jdk::find() else { return };
    let library = Library::rt_alone(jdk);
    let run = library.java("hello-alone").succeed("Hello", &[]);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("Hello 0\n", ""));
}

#[test]
fn every_class_links_and_verifies() {
    let Some(jdk) = Jdk::find() else { return };
    let jars = [jdk.boot_jars(), jdk.extension_jars(), vec![jdk.tools_jar()]].concat();
    let jars: Vec<String> = jars.iter().map(|jar| jar.display().to_string()).collect();
    let jars: Vec<&str> = jars.iter().map(String::as_str).collect();
    let mut plain = jdk.java("link-plain");
    plain.verify().class_path([&fixture("link/classes"), &jdk.tools_jar()]);
    let expected = plain.succeed("LinkAll", &jars);
    for blocks in Library::LINKED {
        for record in ["on", "off"] {
            // Recording does not affect class files: once is enough.
            if record == "off" && blocks != Blocks::Default {
                continue;
            }
            let library = Library::whole(jdk, blocks);
            let mut java = library.java("link");
            java.option(format!("-Dcctrewrite.record={record}")).class_path(&library.tools);
            let run = java.verify().succeed("LinkAll", &jars);
            assert_eq!(run.out, expected.out, "{blocks:?}, record={record}: {}", run.err);
            assert!(run.out.ends_with(" bad 0\n"), "{}", run.out);
            eprintln!("{blocks:?}, record={record}: {}", run.out.trim_end());
        }
    }
}
