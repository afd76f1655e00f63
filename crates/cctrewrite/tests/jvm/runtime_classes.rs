//! A program may reflect over the runtime's classes, as over any others.

use crate::support::{Blocks, Image, Java, Jdk, fixture, jdks, profiled};

/// What JDK 8 has no classes for.
const WALKS: &str = "java/lang/CctWalks";

fn reflect(mut java: Java, jdk: &Jdk) {
    let classes = jdk_wrap::classes().iter().map(|(name, _)| *name);
    let names = classes.filter(|name| jdk.version > 8 || !name.starts_with(WALKS));
    let names: Vec<String> = names.map(|name| name.replace('/', ".")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(names.contains(&"java.lang.CctStacks"));
    let run = java.class_path([fixture("runtime/classes")]).succeed("Reflect", &names);
    assert_eq!(run.out, format!("{} classes, members: true\n", names.len()));
}

/// No class is named that this release does not have.
fn reflects(jdk: &'static Jdk) {
    reflect(profiled(jdk, Blocks::Exact, "reflect"), jdk);
}

/// Nor one that is in another module than `java.base`.
fn reflects_in_the_smallest_image(jdk: &'static Jdk) {
    let mut java = Image::of(jdk, Blocks::Exact).java("reflect-base");
    java.option("--limit-modules").option("java.base");
    reflect(java, jdk);
}

jdks!(reflects, reflects, 8..);
jdks!(reflects_in_the_smallest_image, reflects_in_the_smallest_image, [11, 17, 25, 27]);
