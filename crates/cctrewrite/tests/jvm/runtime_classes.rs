//! A program may reflect on the runtime's classes, as on any others.

use crate::support::{Blocks, Image, Java, Jdk, fixture, jdks, profiled};

/// A class that JDK 8 lacks.
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

/// The runtime names no class that this release lacks.
fn reflects(jdk: &'static Jdk) {
    reflect(profiled(jdk, Blocks::Exact, "reflect"), jdk);
}

/// Nor one of another module than `java.base`.
fn reflects_in_the_smallest_image(jdk: &'static Jdk) {
    let mut java = Image::of(jdk, Blocks::Exact).java("reflect-base");
    java.option("--limit-modules").option("java.base");
    reflect(java, jdk);
}

jdks!(reflects, reflects, 8..);
jdks!(reflects_in_the_smallest_image, reflects_in_the_smallest_image, [11, 17, 25, 27]);
