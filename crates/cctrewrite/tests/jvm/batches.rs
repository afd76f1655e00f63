//! Outputs of one run and of several, and classes of one name in several loaders.

use std::fs;
use std::path::PathBuf;

use crate::support::{
    Blocks, Jdk, Library, Run, assert_same_lines, fixture, folder, instrument, plain_programs,
};

/// The jars of the batch fixture: each depends on those before it.
fn jars(jdk: &Jdk) -> Vec<PathBuf> {
    let to = folder("batch-jars");
    let jar = |name: &&str| {
        let jar = to.join(format!("{name}.jar"));
        jdk.pack(&jar, &[fixture(&format!("batch/{name}/classes"))]);
        jar
    };
    ["base", "middle", "app"].iter().map(jar).collect()
}

fn run(jdk: &'static Jdk, boot: Vec<PathBuf>) -> Run {
    Library::of(jdk, boot, folder("nothing")).java("batch").succeed("app.Batch", &[])
}

/// All contexts below the program's entry.
fn below_main(run: &Run) -> Vec<String> {
    let mut lines = run.contexts(true);
    lines.retain(|line| line.contains(" [main];app.Batch.main("));
    lines
}

#[test]
fn one_run_and_separate_runs_give_the_same_contexts() {
    let Some(jdk) = Jdk::find() else { return };
    let jars = jars(jdk);
    let plain = jdk.java("batch-plain").class_path(&jars).succeed("app.Batch", &[]);

    let together = folder("batch-together");
    instrument(&[vec![jdk.rt_jar()], jars.clone()].concat(), &[], &together, &[]);
    let names = ["rt.jar", "base.jar", "middle.jar", "app.jar"];
    let batch = run(jdk, names.map(|name| together.join(name)).to_vec());
    assert_eq!(batch.out, plain.out);
    let expected = below_main(&batch);
    assert!(expected.len() > 50, "{expected:#?}");
    for callee in [
        "base.Shape.sum(",
        "middle.Square.doubled()I;base.Shape.doubled()I",
        "middle.Counted.put(",
        "app.Batch$1.compare(",
    ] {
        assert!(expected.iter().any(|line| line.contains(callee)), "{callee}: {expected:#?}");
    }

    // Each by itself, with everything that it refers to as libraries: unchanged, or instrumented
    // already.
    for instrumented in [false, true] {
        let apart = folder("batch-apart");
        let mut outputs = vec![apart.join("rt.jar")];
        instrument(&[jdk.rt_jar()], &[], &outputs[0], &[]);
        for (i, jar) in jars.iter().enumerate() {
            let output = apart.join(jar.file_name().unwrap());
            let mut libraries = vec![jdk.rt_jar()];
            libraries.extend_from_slice(if instrumented { &outputs[1..] } else { &jars[..i] });
            instrument(std::slice::from_ref(jar), &libraries, &output, &[]);
            outputs.push(output);
        }
        let separate = run(jdk, outputs);
        assert_eq!(separate.out, plain.out);
        assert_same_lines(
            &expected,
            &below_main(&separate),
            &format!("separate runs, libraries instrumented: {instrumented}"),
        );
    }
}

/// The output does not depend on the number of threads, nor on the run.
#[test]
fn outputs_are_the_same_bytes_every_time() {
    let Some(jdk) = Jdk::find() else { return };
    let jars = jars(jdk);
    let outputs = ["1", "2", "7"].map(|threads| {
        let to = folder("batch-again");
        instrument(&jars, &[jdk.rt_jar()], &to, &["--threads", threads]);
        ["base.jar", "middle.jar", "app.jar"].map(|name| fs::read(to.join(name)).unwrap())
    });
    assert!(outputs[0] == outputs[1] && outputs[0] == outputs[2]);
}

/// One has one call site, the other seventy: a shared method id would write beyond a node.
#[test]
fn classes_of_one_name_in_two_loaders_are_apart() {
    let Some(jdk) = Jdk::find() else { return };
    let to = folder("twins");
    let jars = ["one", "two"].map(|name| {
        let (plain, jar) = (to.join(format!("plain-{name}.jar")), to.join(format!("{name}.jar")));
        jdk.pack(&plain, &[fixture(&format!("loaders/{name}/classes"))]);
        instrument(&[plain], &[jdk.rt_jar(), plain_programs().to_owned()], &jar, &[]);
        jar.display().to_string()
    });
    for order in [[0, 1], [1, 0]] {
        let arguments = order.map(|i| jars[i].as_str());
        let run = Library::whole(jdk, Blocks::Exact).java("twins").succeed("Loaders", &arguments);
        let profile = run.profile();
        let mut runs = Vec::new();
        let main = profile.threads.iter().find(|t| &*t.name == "main").unwrap();
        for node in 1..main.tree.nodes().len() as u32 {
            let of = |n: u32| &profile.methods[main.tree.nodes()[n as usize].method as usize];
            let method = of(node);
            if &*method.class == "Twin" && &*method.name == "run" {
                let counts = main.tree.nodes()[node as usize];
                let mut callees: Vec<(String, u64)> = main
                    .tree
                    .children(node)
                    .map(|child| (of(child).name.to_string(), main.tree.nodes()[child as usize].calls))
                    .collect();
                callees.sort();
                runs.push((counts.calls, counts.bytecodes, callees));
            }
        }
        // run() of one: aload_0, invokevirtual, return; of two: seventy-one times two, and return.
        let one = (100, 300, vec![("twin".to_owned(), 100)]);
        let mut callees: Vec<(String, u64)> = (0..70).map(|i| (format!("m{i}"), 100)).collect();
        callees.push(("twin".to_owned(), 100));
        callees.sort();
        let two = (100, 100 * (71 * 2 + 1), callees);
        runs.sort();
        assert_eq!(runs, [one, two]);
    }
}
