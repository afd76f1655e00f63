//! Classes of all kinds, whole and damaged, with rules for every kind of location.

use super::*;

/// Rules for every kind of location, with everything that handlers can get.
fn everywhere() -> Rules {
    let mut rules = Rules::default();
    for at in [
        "method",
        "loop",
        "loop-header",
        "block",
        "call",
        "handler",
        "allocation",
        "field-read",
        "field-write",
    ] {
        let context =
            if matches!(at, "method" | "call") { "\"receiver\", \"arguments\"" } else { "\"receiver\"" };
        let rule = format!("[[marker]]\ntoken = \"t\"\nat = \"{at}\"\ncontext = [{context}]\n");
        rules.add(&rule).unwrap();
    }
    rules.add("[[marker]]\ntoken = \"o\"\nat = \"method\"\nmethod = \"a*\"\nper-object = true\n").unwrap();
    rules.add("[[marker]]\ntoken = \"l\"\nat = \"line\"\nlines = [1, 10, 20]\n").unwrap();
    rules
}

fn class_files() -> Vec<Vec<u8>> {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let folders = ["semantics", "modern", "foreign", "markers", "loadtime"].map(|name| fixtures.join(name));
    let entries = folders.into_iter().flat_map(walkdir::WalkDir::new);
    let files = entries.map(|entry| entry.unwrap().into_path());
    let mut found: Vec<_> =
        files.filter(|path| path.extension().is_some_and(|extension| extension == "class")).collect();
    found.sort();
    found.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

#[test]
fn marked_classes_say_what_they_have_and_are_not_marked_again() {
    let (rules, world) = (everywhere(), World::default());
    let mut markers = 0;
    for bytes in class_files() {
        let Ok(marked) = mark(&bytes, &Way::new(&rules, &world)) else { continue };
        let class = ClassFile::parse(&bytes).unwrap();
        assert!(matches(&class, &Way::new(&rules, &world)).unwrap().rules.len() >= marked.rules.len());
        let Some(written) = marked.bytes else { continue };
        let class = ClassFile::parse(&written).unwrap();
        assert_eq!(attribute::read(&class).as_ref(), Some(&marked.descriptors));
        for member in &class.methods {
            Code::of(&class, member).unwrap();
        }
        assert!(matches!(mark(&written, &Way::new(&rules, &world)), Err(Error::AlreadyMarked(_))));
        markers += marked.descriptors.len();
    }
    assert!(markers > 10_000, "{markers}");
}

/// A class without matches stays unchanged.
#[test]
fn classes_without_places_stay() {
    let mut rules = Rules::default();
    rules.add("[[marker]]\ntoken = \"t\"\nat = \"method\"\nclass = \"nowhere.**\"\n").unwrap();
    for bytes in class_files() {
        let marked = mark(&bytes, &Way::new(&rules, &World::default())).unwrap();
        assert!(marked.bytes.is_none() && marked.refused.is_empty());
    }
}

/// Whether a class is part of the class library depends on where it was added from.
#[test]
fn calls_of_the_program_are_outside_the_class_library() {
    let mut rules = Rules::default();
    rules.add("[[marker]]\ntoken = \"t\"\nat = \"call\"\ncallers = \"program\"\n").unwrap();
    rules.add("[[marker]]\ntoken = \"a\"\nat = \"call\"\n").unwrap();
    let mut seen = 0;
    for bytes in class_files() {
        let class = ClassFile::parse(&bytes).unwrap();
        if mark(&bytes, &Way::new(&rules, &World::default())).is_err() {
            continue;
        }
        let (mut program, mut library) = (World::default(), World::default());
        program.add(&class);
        library.insert_of_library(class.name(), class.super_name().into_iter());
        // The first class of a name stays.
        program.insert_of_library(class.name(), class.super_name().into_iter());
        let tokens = |world: &World, token: &str| {
            let marked = matches(&class, &Way::new(&rules, world)).unwrap();
            marked.descriptors.iter().filter(|descriptor| descriptor.token == token).count()
        };
        let calls = tokens(&program, "a");
        assert_eq!((tokens(&program, "t"), tokens(&library, "t"), tokens(&library, "a")), (calls, 0, calls));
        seen += calls;
    }
    assert!(seen > 1000, "{seen}");
}

#[test]
fn damaged_classes_are_marked_or_refused() {
    let (rules, world, files) = (everywhere(), World::default(), class_files());
    arbtest::arbtest(|u| {
        let mut bytes = u.choose(&files)?.clone();
        for _ in 0..u.int_in_range(1..=8)? {
            let at = u.choose_index(bytes.len())?;
            bytes[at] = u.arbitrary()?;
        }
        if let Ok(MarkedClass { bytes: Some(written), .. }) = mark(&bytes, &Way::new(&rules, &world)) {
            ClassFile::parse(&written).unwrap();
        }
        Ok(())
    })
    .budget_ms(5_000);
}
