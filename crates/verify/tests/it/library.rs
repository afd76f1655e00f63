//! Classes of the class library in which documents name locations: replaced answers of clocks, and
//! calls of the runtime. Each must be there in the documented way, and nowhere else.

use std::collections::BTreeMap;

use cct_classfile::{ClassFile, opcode};
use cct_jdk::pins::PINS;
use cct_jdk::{Mode, body_hooks, native_hooks};
use cct_settings::Settings;
use cct_verify::{Expectation, Finding, Problem, check};

use super::alterations::{Place, at_instructions, instead};
use super::mutations::Change;
use super::support::{classes_of, expectation, rewriter, step, verify};

/// Whether documents name locations in a class (docs/ci/reproducible.md,
/// docs/internals/runtime.md): it has a hook or a pin.
fn is_named(class: &[u8]) -> bool {
    let natives = native_hooks::usual().chain(native_hooks::REPRODUCIBLE).map(|row| row.native.class);
    let replaced = native_hooks::REPLACED.iter().map(|row| row.class);
    let bodies = body_hooks::usual(Mode::default()).chain(body_hooks::REPRODUCIBLE);
    let bodies = bodies.map(|hook| hook.method.class);
    let pins = PINS.iter().map(|pin| pin.method.class);
    natives.chain(replaced).chain(bodies).chain(pins).any(|named| named == class)
}

/// The named classes of a JDK.
fn named(feature: u32) -> Vec<Vec<u8>> {
    let Some(mut all) = classes_of(feature) else {
        println!("skipped: no JDK {feature} was found");
        return Vec::new();
    };
    all.retain(|bytes| {
        let class = ClassFile::parse(bytes).unwrap();
        is_named(class.name())
    });
    all
}

fn settings(reproducible: bool) -> Settings {
    Settings { reproducible, ..Settings::default() }
}

/// Every documented location has its code, whether or not the checker knows the options of the
/// output, and everything is checked.
fn all_places(feature: u32, pinned: u64, hooks: [u64; 2]) {
    let named = named(feature);
    for (reproducible, hooks) in [(false, hooks[0]), (true, hooks[1])] {
        let settings = settings(reproducible);
        for expectation in [expectation(&settings), Expectation::default()] {
            let (findings, tally, _) = verify(&named, &rewriter(&named, settings), expectation);
            assert!(findings.is_empty(), "JDK {feature}, {settings:?}: {findings:?}");
            assert!(tally.unchecked.is_empty(), "{:?}", tally.unchecked);
            if !named.is_empty() {
                assert_eq!(tally.hooks, hooks, "JDK {feature}, {settings:?}");
                assert_eq!(tally.pinned, if reproducible { pinned } else { 0 }, "JDK {feature}");
            }
        }
    }
}

/// For each release the number of pinned clocks, and of hooks without and with `--reproducible`.
const PLACES: [(u32, u64, [u64; 2]); cct_jdk::TESTED.len()] = [
    (8, 9, [29, 33]),
    (11, 10, [32, 36]),
    (17, 10, [33, 37]),
    (21, 10, [40, 44]),
    (25, 10, [39, 43]),
    (26, 10, [39, 43]),
    (27, 10, [39, 43]),
];

#[test]
fn places_of_each_jdk() {
    assert_eq!(PLACES.map(|(feature, ..)| feature), cct_jdk::TESTED);
    for (feature, pinned, hooks) in PLACES {
        all_places(feature, pinned, hooks);
    }
}

/// Descriptor of the runtime's method that an instruction calls. Helpers of `Object` forward to
/// others.
fn runtime<'a>(place: &Place<'_, 'a>) -> Option<&'a [u8]> {
    let call = Some(&place.instruction).filter(|i| i.opcode == opcode::INVOKESTATIC)?;
    let member = place.class.pool.member_ref(call.pool_index()?).ok()?;
    let is_helper = member.class == b"java/lang/CctRuntime";
    (member.class.starts_with(b"java/lang/Cct") && !is_helper).then_some(member.descriptor)
}

/// A call of the runtime is removed, if three bytes can replace it.
fn left_out(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match runtime(place) {
        Some(b"()V" | b"(I)I") => instead(place, Vec::new()),
        Some(b"(Ljava/lang/Object;)V" | b"(ILjava/lang/Throwable;)I") => instead(place, vec![opcode::POP]),
        Some(descriptor) => {
            let (given, taken) = descriptor[1..].split_at(descriptor.len() / 2 - 1);
            if given == &taken[1..] && given.first() == Some(&b'[') {
                instead(place, Vec::new())
            } else {
                Vec::new()
            }
        }
        None => Vec::new(),
    })
}

/// Another method is called instead.
fn another(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let (Some(_), Some(index)) = (runtime(place), place.instruction.pool_index()) else {
            return Vec::new();
        };
        let pool = &place.class.pool;
        let same = |other: &u16| *other != index && pool.tag(*other) == pool.tag(index);
        let other = pool.indices().find(same);
        other.map_or(Vec::new(), |other| vec![(place.at + 1..place.at + 3, other.to_be_bytes().to_vec())])
    })
}

/// The index of the constant that replaces a clock's answer.
fn constant(place: &Place<'_, '_>) -> Option<u16> {
    let is_pop = place.instruction.opcode == opcode::POP2;
    let next = place.next.filter(|next| is_pop && next.opcode == opcode::LDC2_W)?;
    let index = next.pool_index()?;
    let value = place.class.pool.long(index).ok()?;
    [123_456_789_012_345, 1_000_000_000_000, 0].contains(&value).then_some(index)
}

/// A clock's answer stays.
fn unpinned(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| match constant(place) {
        Some(_) => vec![(place.at..place.at + 4, vec![opcode::NOP; 4])],
        None => Vec::new(),
    })
}

/// A clock's answer is not the documented one.
fn pinned_otherwise(class: &ClassFile<'_>) -> Vec<Change> {
    at_instructions(class, |place| {
        let Some(index) = constant(place) else { return Vec::new() };
        let is_other = |other: &u16| *other != index && place.class.pool.long(*other).is_ok();
        let other = place.class.pool.indices().find(is_other);
        other.map_or(Vec::new(), |other| vec![(place.at + 2..place.at + 4, other.to_be_bytes().to_vec())])
    })
}

type Kinds = [(&'static str, fn(&ClassFile<'_>) -> Vec<Change>); 4];

const KINDS: Kinds = [
    ("the runtime is not called", left_out),
    ("the runtime is called otherwise", another),
    ("a clock keeps its answer", unpinned),
    ("a clock gets another answer", pinned_otherwise),
];

#[test]
fn alterations_at_these_places_are_found() {
    for feature in [8, 17] {
        let named = named(feature);
        let settings = settings(true);
        let rewriter = rewriter(&named, settings);
        let mut made: BTreeMap<&str, u32> = BTreeMap::new();
        for original in &named {
            let rewritten = rewriter.rewrite(original).unwrap().bytes.unwrap();
            let class = ClassFile::parse(&rewritten).unwrap();
            for (name, kind) in KINDS {
                for (range, bytes) in kind(&class).into_iter().step_by(step(3)) {
                    let mut broken = rewritten.clone();
                    broken[range.clone()].copy_from_slice(&bytes);
                    // With or without knowledge of the output: the other locations in the class
                    // show it, unless there is only one.
                    let (findings, _) = check(original, &broken, expectation(&settings));
                    let class = String::from_utf8_lossy(class.name());
                    assert!(!findings.is_empty(), "JDK {feature}, {class}, byte {}: {name}", range.start);
                    *made.entry(name).or_default() += 1;
                }
            }
        }
        println!("JDK {feature}: {made:?}");
        assert!(named.is_empty() || made.len() == KINDS.len(), "JDK {feature}: {made:?}");
    }
}

/// Each kind of output must lack what the other kind has.
#[test]
fn outputs_of_the_other_kind_are_found() {
    let named = named(17);
    for made in [false, true] {
        let rewriter = rewriter(&named, settings(made));
        let mut found = Vec::new();
        for original in &named {
            let rewritten = rewriter.rewrite(original).unwrap().bytes.unwrap();
            let mut expectation = expectation(&settings(!made));
            // The hash alone would show it.
            expectation.provenance = None;
            let (findings, _) = check(original, &rewritten, expectation);
            if !findings.is_empty() {
                let class = ClassFile::parse(original).unwrap();
                found.push(String::from_utf8_lossy(class.name()).into_owned());
            }
        }
        found.sort();
        let expected = [
            "java/lang/Class",
            "java/lang/invoke/CallSite",
            "java/lang/invoke/MethodHandleNatives",
            "java/lang/invoke/MethodTypeForm",
            "java/lang/ref/SoftReference",
            "java/util/ImmutableCollections",
            "java/util/Random",
            "java/util/concurrent/ThreadLocalRandom",
            "jdk/internal/util/random/RandomSupport",
        ];
        assert!(named.is_empty() || found == expected, "{found:?}");
    }
}

/// A method in its original form lacks the code that belongs in it. The test takes methods without
/// an extended form: for others there would be a second fault.
#[test]
fn methods_that_were_left_as_they_are_are_found() {
    for (feature, name, method) in [
        (8, "sun/reflect/Reflection", "getCallerClass"),
        (11, "java/util/SplittableRandom", "<clinit>"),
        (17, "java/lang/invoke/MemberName", "expandFromVM"),
        (17, "java/lang/invoke/MethodTypeForm", "findForm"),
    ] {
        let is_named =
            |bytes: &Vec<u8>| ClassFile::parse(bytes).is_ok_and(|class| class.name() == name.as_bytes());
        let Some(original) = named(feature).into_iter().find(is_named) else { continue };
        let settings = settings(true);
        let rewritten = rewriter(std::slice::from_ref(&original), settings).rewrite(&original).unwrap();
        let rewritten = rewritten.bytes.unwrap();
        let (before, after) = (ClassFile::parse(&original).unwrap(), ClassFile::parse(&rewritten).unwrap());
        let mut file = rewritten.clone();
        for (was, is) in before.methods.iter().zip(&after.methods).rev() {
            if was.name == method.as_bytes() {
                let at = is.raw.as_ptr() as usize - rewritten.as_ptr() as usize;
                file.splice(at..at + is.raw.len(), was.raw.to_vec());
            }
        }
        let (findings, _) = check(&original, &file, expectation(&settings));
        let is_left = |f: &Finding| matches!(f.problem, Problem::Runtime(_) | Problem::Clock(_));
        assert!(findings.iter().any(is_left), "JDK {feature}, {name}: {findings:?}");
    }
}
