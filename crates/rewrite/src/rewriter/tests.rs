use cct_classfile::access::PUBLIC;
use cct_classfile::{ClassFile, Code, Instruction, access, opcode};
use cct_columns::{Column, Columns};
use cct_index::method_flags;
use cct_index::record::ForeignRecord;
use cct_jdk::pins::Clock;
use cct_test_classes::class;

use super::*;
use crate::marks::Marks;
use crate::report::Fallback;
use crate::world::World;
use cct_settings::Settings;

fn rewriter_of(bytes: &[u8]) -> Rewriter {
    rewriter_with(Settings::default(), bytes)
}

fn rewriter_with(settings: Settings, bytes: &[u8]) -> Rewriter {
    let summary = crate::ClassSummary::parse(bytes).unwrap();
    let provenance = crate::provenance(&settings, "test", None);
    Rewriter::new(World::new([(crate::Role::Input, summary)]), settings, provenance, |_| true).unwrap()
}

/// A super call reaches the extended form. A virtual one would come back forever.
#[test]
fn a_method_too_large_to_instrument_is_called_without_dispatch() {
    // Each `iload_1` grows by a byte, as the locals move up: 44,001 bytes exceed the maximum size
    // of a method.
    let mut code = [opcode::ILOAD_0 + 1, opcode::POP].repeat(22_000);
    code.push(opcode::RETURN);
    let large = class("A").method(PUBLIC, "m", "()V").with_code(code).bytes();
    let rewritten = rewriter_of(&large).rewrite(&large).unwrap();
    assert_eq!(rewritten.report.fallbacks[0].1, Fallback::NotInstrumented);

    let bytes = rewritten.bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let extended = class.methods.iter().find(|m| m.descriptor == b"(J[[[[J)V").unwrap();
    let code = Code::of(&class, extended).unwrap().unwrap();
    let calls: Vec<_> = code.instructions().map(|i| i.opcode).filter(|&op| opcode::is_invoke(op)).collect();
    assert_eq!(calls, [opcode::INVOKESTATIC, opcode::INVOKESPECIAL]);
}

/// A class without a known superclass may get a tie break for a method that is final there.
#[test]
fn no_extended_form_is_final() {
    use cct_classfile::access::{FINAL, NATIVE, STATIC};
    let bytes = class("A")
        .method(PUBLIC | FINAL, "m", "()V")
        .method(PUBLIC | FINAL | NATIVE, "n", "()V")
        .method(PUBLIC | FINAL | STATIC, "s", "()V")
        .bytes();
    let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let (originals, extended) = class.methods.split_at(3);
    assert!(originals.iter().all(|m| m.is(FINAL)), "the program's own stay final");
    assert_eq!(extended.len(), 3);
    assert!(extended.iter().all(|m| m.descriptor == b"(J[[[[J)V" && !m.is(FINAL)));
}

/// The runtime recognises forwarders by the line.
#[test]
fn forwarders_and_nothing_else_have_the_lines_of_forwarders() {
    use cct_classfile::access::{ABSTRACT, NATIVE};
    let bytes = class("A")
        .flags(ABSTRACT)
        .method(PUBLIC, "m", "()V")
        .method(PUBLIC | NATIVE, "n", "()V")
        .method(PUBLIC | ABSTRACT, "a", "()V")
        .method(PUBLIC, "toString", "()Ljava/lang/String;")
        .bytes();
    let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let mut lines = Vec::new();
    for method in &class.methods {
        let Some(code) = Code::of(&class, method).unwrap() else { continue };
        let table = code.attributes.find(b"LineNumberTable").map(|a| a.data.to_vec());
        lines.push(([method.name, method.descriptor].concat(), table));
    }
    let line = |number: u16| [&[0, 1, 0, 0][..], &number.to_be_bytes()].concat();
    let (forwarder, to_native) = (Some(line(65535)), Some(line(65534)));
    assert_eq!(
        lines,
        [
            (b"m()V".to_vec(), forwarder.clone()),
            (b"toString()Ljava/lang/String;".to_vec(), None),
            (b"m(J[[[[J)V".to_vec(), None),
            (b"n(J[[[[J)V".to_vec(), to_native),
            (b"a(J[[[[J)V".to_vec(), forwarder),
        ]
    );
}

/// Readers of instructions see only the original's line. Frames have the mark, except those that
/// have called nothing yet.
#[test]
fn a_wrapper_has_the_tables_of_its_parameters() {
    let of = class("A").method(PUBLIC, "m", "(I)V").with_table("LineNumberTable", &[[0, 7], [1, 8]]);
    let of = of.with_table("LocalVariableTable", &[[0, 2, 2, 3, 0], [0, 2, 3, 3, 1], [1, 1, 2, 3, 1]]);
    let bytes = of.with_table("LocalVariableTypeTable", &[[0, 2, 3, 2, 1]]).bytes();
    let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
    let table = |name: &[u8]| {
        let [_, _, numbers @ ..] = code.attributes.find(name).unwrap().data else { panic!() };
        numbers.as_chunks::<2>().0.iter().map(|bytes| u16::from_be_bytes(*bytes)).collect::<Vec<_>>()
    };
    assert_eq!(table(b"LineNumberTable"), [0, 7, 1, 65_535]);
    let second = code.instructions().nth(1).unwrap();
    assert!(second.bci > 1, "no instruction begins where the mark does");
    let length = code.length() as u16;
    assert_eq!(table(b"LocalVariableTable"), [0, length, 2, 3, 0, 0, length, 3, 3, 1]);
    assert_eq!(table(b"LocalVariableTypeTable"), [0, length, 3, 2, 1]);
}

/// The clock is called and counted as before, and only its answer is replaced. This holds for every
/// form of the body.
#[test]
fn a_pinned_call_is_made_and_its_result_replaced() {
    let code = vec![opcode::INVOKESTATIC, 0, 6, opcode::POP2, opcode::RETURN];
    let random = class("java/util/Random").reference("java/lang/System", "nanoTime", "()J");
    let random = random.method(access::STATIC, "<init>", "()V").with_code(code).bytes();
    let rewritten = |reproducible| {
        let settings = Settings { reproducible, ..Settings::default() };
        rewriter_with(settings, &random).rewrite(&random).unwrap()
    };
    let constants = |rewritten: &RewrittenClass| {
        let class = ClassFile::parse(rewritten.bytes.as_ref().unwrap()).unwrap();
        let extended = class.methods.iter().find(|m| m.descriptor == b"(J[[[[J)V").unwrap();
        let code = Code::of(&class, extended).unwrap().unwrap();
        let code: Vec<_> = code.instructions().collect();
        let is_clock = |i: &Instruction<'_>| {
            i.opcode == opcode::INVOKESTATIC
                && class.pool.member_ref(i.pool_index().unwrap()).unwrap().name == b"nanoTime"
        };
        let at = code.iter().position(is_clock).unwrap();
        let [discarded, pushed] = [&code[at + 1], &code[at + 2]];
        assert_eq!(discarded.opcode, opcode::POP2);
        let is_constant = pushed.opcode == opcode::LDC2_W;
        is_constant.then(|| class.pool.long(pushed.pool_index().unwrap()).unwrap())
    };
    let (pinned, plain) = (rewritten(true), rewritten(false));
    assert_eq!(constants(&pinned), Some(Clock::Nanos.constant()));
    assert_eq!((pinned.report.pinned, &*pinned.report.unpinned), (1, &[][..]));
    assert_eq!(constants(&plain), None);
    assert_eq!(plain.report.pinned, 0);
}

#[test]
fn what_should_be_pinned_and_is_not_there_is_reported() {
    let random = class("java/util/Random").method(PUBLIC, "<init>", "()V").bytes();
    let settings = Settings { reproducible: true, ..Settings::default() };
    let report = rewriter_with(settings, &random).rewrite(&random).unwrap().report;
    assert_eq!((report.pinned, report.unpinned), (0, vec!["<init>: System.nanoTime".to_owned()]));
    let report = rewriter_of(&random).rewrite(&random).unwrap().report;
    assert!(report.unpinned.is_empty());
}

#[test]
fn reflection_finds_a_replaced_native_too() {
    use cct_classfile::access::{NATIVE, STATIC};
    let bytes = class("sun/reflect/Reflection")
        .method(PUBLIC | STATIC | NATIVE, "getCallerClass", "()Ljava/lang/Class;")
        .method(PUBLIC | STATIC | NATIVE, "getCallerClass", "(I)Ljava/lang/Class;")
        .bytes();
    let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let natives: Vec<_> = class.methods.iter().map(|m| m.is(NATIVE)).collect();
    assert_eq!(natives, [true, false]);
}

/// Versions below 49 let an interface have `ACC_SUPER` and lack `ACC_ABSTRACT`; version 52 does
/// not.
#[test]
fn an_interface_raised_to_version_52_has_the_flags_of_one() {
    let old =
        cct_test_classes::interface("I").flags(access::SUPER).method(PUBLIC | access::ABSTRACT, "m", "()V");
    let mut bytes = old.bytes();
    bytes[6..8].copy_from_slice(&46u16.to_be_bytes());
    let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    assert_eq!(class.major_version, 52);
    assert!(class.is(access::INTERFACE | access::ABSTRACT) && !class.is(access::SUPER));
}

/// JVMs refuse an interface of version 46 with a method that is not abstract, and accept one of
/// version 52.
#[test]
fn an_interface_that_its_version_forbids_is_not_raised_to_one_that_allows_it() {
    let raised = |flags: u16, version: u16| {
        let interface = cct_test_classes::interface("I").method(PUBLIC | access::ABSTRACT, "m", "()V");
        let mut bytes = interface.method(flags, "n", "()V").bytes();
        bytes[6..8].copy_from_slice(&version.to_be_bytes());
        let bytes = rewriter_of(&bytes).rewrite(&bytes).unwrap().bytes.unwrap();
        ClassFile::parse(&bytes).unwrap().major_version
    };
    let usual = PUBLIC | access::ABSTRACT;
    assert_eq!(raised(usual, 46), 52);
    assert_eq!(raised(usual | access::STRICT, 46), 52);
    assert_eq!(raised(usual | access::STRICT, 49), 49);
    for flags in [PUBLIC, PUBLIC | access::STATIC, access::ABSTRACT, usual | access::NATIVE] {
        assert_eq!(raised(flags, 46), 46, "{flags:#x}");
    }
}

/// The class, rewritten with these columns.
fn with_columns(bytes: &[u8], columns: Columns, recorded: bool) -> RewrittenClass {
    let settings = Settings { columns, ..Settings::default() };
    let summary = crate::ClassSummary::parse(bytes).unwrap();
    let world = World::new([(crate::Role::Input, summary)]);
    let rewriter =
        Rewriter::new(world, settings, crate::provenance(&settings, "test", None), move |_| recorded);
    rewriter.unwrap().rewrite(bytes).unwrap()
}

/// Number of column probes. Each must come right before an instruction with this opcode.
fn probes_before(opcode: u8, rewritten: &RewrittenClass) -> usize {
    let class = ClassFile::parse(rewritten.bytes.as_ref().unwrap()).unwrap();
    let is_probe = |i: &Instruction<'_>| {
        let member = i.pool_index().and_then(|index| class.pool.member_ref(index).ok());
        member.is_some_and(|member| member.name == b"cct$column")
    };
    let mut probes = 0;
    for method in &class.methods {
        let Some(code) = Code::of(&class, method).unwrap() else { continue };
        let all: Vec<_> = code.instructions().collect();
        for pair in all.windows(2).filter(|pair| is_probe(&pair[0])) {
            assert_eq!(pair[1].opcode, opcode);
            probes += 1;
        }
    }
    probes
}

/// The probe comes before the instruction: no inserted code can throw between it and the range that
/// guarantees its `monitorexit`.
#[test]
fn a_monitor_is_counted_before_it_is_entered() {
    let code =
        vec![opcode::ALOAD_0, opcode::MONITORENTER, opcode::ALOAD_0, opcode::MONITOREXIT, opcode::RETURN];
    let bytes = class("A").method(PUBLIC, "m", "()V").method(PUBLIC | access::SYNCHRONIZED, "s", "()V");
    let bytes = bytes.with_code(code).bytes();
    let rewritten = |columns, recorded| with_columns(&bytes, columns, recorded);
    let monitors = Columns::NONE.with(Column::Monitors);
    let counted = rewritten(monitors, true);
    assert_eq!(probes_before(opcode::MONITORENTER, &counted), 2);
    let record = counted.record.unwrap();
    let is_synchronized = |m: &cct_index::record::MethodRecord| m.flags & method_flags::SYNCHRONIZED != 0;
    assert_eq!(record.methods.iter().map(is_synchronized).collect::<Vec<_>>(), [false, true]);
    assert_eq!(record.foreign, [ForeignRecord::of_column(b"monitors")]);
    // One slot more than without the column, recorded or not: slots follow from the code.
    let slots = |rewritten: RewrittenClass| rewritten.record.unwrap().methods[0].shape.slots;
    assert_eq!(record.methods[0].shape.slots, 1);
    assert_eq!((slots(rewritten(Columns::NONE, true)), slots(rewritten(monitors, false))), (0, 1));
    let plain = rewritten(Columns::NONE, true);
    assert!(!plain.record.unwrap().methods.iter().any(is_synchronized));
}

/// No code runs after `athrow`, so the probe comes before it. The `athrow` in a handler that the
/// rewriter adds has none.
#[test]
fn a_throw_is_counted_before_it_runs() {
    let code = vec![opcode::ACONST_NULL, opcode::ATHROW];
    let bytes = class("A").method(PUBLIC, "m", "()V").with_code(code).bytes();
    let counted = with_columns(&bytes, Columns::NONE.with(Column::Throws), true);
    assert_eq!(probes_before(opcode::ATHROW, &counted), 1);
    let record = counted.record.unwrap();
    assert_eq!(record.foreign, [ForeignRecord::of_column(b"throws")]);
    assert_eq!(record.methods[0].shape.slots, 1);
}

/// The helpers that the bodies of a method call, by the method's descriptor.
fn helpers(class: &ClassFile<'_>, name: &[u8]) -> Vec<(String, Vec<String>)> {
    let methods = class.methods.iter().filter(|m| m.name == name);
    let called = |method| {
        let code = Code::of(class, method).unwrap().unwrap();
        let calls: Vec<String> = code
            .instructions()
            .filter(|i| i.opcode == opcode::INVOKESTATIC)
            .map(|i| {
                cct_classfile::mutf8::lossy(class.pool.member_ref(i.pool_index().unwrap()).unwrap().name)
            })
            .collect();
        calls
    };
    methods.map(|m| (cct_classfile::mutf8::lossy(m.descriptor), called(m))).collect()
}

fn marked(bytes: &[u8], extents: &[&str], starts: &[&str]) -> RewrittenClass {
    let names = |texts: &[&str]| texts.iter().map(|t| crate::marks::MethodName::parse(t).unwrap()).collect();
    let marks = Marks { extents: names(extents), starts: names(starts) };
    let (settings, summary) = (Settings::default(), crate::ClassSummary::parse(bytes).unwrap());
    let provenance = crate::provenance(&settings, "test", None);
    let world = World::new([(crate::Role::Input, summary)]);
    Rewriter::marked(world, settings, marks, provenance, |_| true).unwrap().rewrite(bytes).unwrap()
}

/// Calls by the extended signature must reach extents too, with any override.
#[test]
fn extents_take_their_context_from_the_thread() {
    let class = class("a/A").method(PUBLIC, "m", "()V").method(access::STATIC, "s", "()V");
    let bytes = class.with_code(vec![opcode::RETURN]).bytes();
    let rewritten = marked(&bytes, &["a.A.m", "a.A.s()V", "a.A.s(I)V"], &[]);
    let bytes = rewritten.bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let body = ["cct$thread", "cct$context", "cct$begin", "cct$enter", "cct$restore", "cct$restore"];
    let [m, forwarder] = &*helpers(&class, b"m") else { panic!() };
    assert_eq!((&*m.0, &*m.1), ("()V", &body.map(str::to_owned)[..]));
    assert_eq!((&*forwarder.0, &*forwarder.1), ("(J[[[[J)V", &["cct$store".to_owned()][..]));
    let [s] = &*helpers(&class, b"s") else { panic!("a static method cannot be overridden") };
    assert_eq!((&*s.0, &*s.1), ("()V", &body.map(str::to_owned)[..]));
    let found: Vec<usize> = rewritten.report.extents.iter().map(|(extent, _)| *extent).collect();
    assert_eq!(found, [0, 1]);
}

#[test]
fn what_has_no_body_of_its_own_is_no_extent() {
    use cct_classfile::access::{ABSTRACT, NATIVE};
    let bytes = class("A")
        .flags(ABSTRACT)
        .method(PUBLIC, "<init>", "()V")
        .method(PUBLIC | NATIVE, "n", "()V")
        .method(PUBLIC | ABSTRACT, "a", "()V")
        .bytes();
    let report = marked(&bytes, &["A.<init>", "A.n", "A.a"], &[]).report;
    assert!(report.extents.is_empty());
    let refused: Vec<&str> = report.refused_extents.iter().map(|(_, method, _)| &**method).collect();
    assert_eq!(refused, ["A.<init>()V", "A.n()V", "A.a()V"]);
}

#[test]
fn a_start_is_announced_before_it_is_entered() {
    let bytes = class("A").method(PUBLIC, "m", "()V").bytes();
    let rewritten = marked(&bytes, &[], &["A.m"]);
    assert_eq!(rewritten.report.starts, [0]);
    let bytes = rewritten.bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    let [_, (descriptor, calls)] = &*helpers(&class, b"m") else { panic!() };
    assert_eq!((&**descriptor, &*calls[0], calls.len()), ("(J[[[[J)V", "cct$startAt", 2));
}

/// Bytecodes after a switch belong to the recording state that it switches to, with default blocks
/// too.
#[test]
fn blocks_end_after_switches() {
    let code = vec![opcode::INVOKESTATIC, 0, 6, opcode::RETURN];
    let of = |name| {
        let class = class("A").reference("cctrewrite/api/Recording", name, "()V");
        let bytes = class.method(access::STATIC, "m", "()V").with_code(code.clone()).bytes();
        let class = ClassFile::parse(&bytes).unwrap();
        let code = Code::of(&class, &class.methods[0]).unwrap().unwrap();
        crate::passes::counts::weighed(&code, &class.pool, cct_tables::BlockRule::Default, None).len()
    };
    assert_eq!([of("start"), of("other")], [2, 1]);
}

#[test]
fn the_programs_switches_call_the_runtime() {
    let recording = class("cctrewrite/api/Recording")
        .method(PUBLIC | access::STATIC, "startAll", "(Ljava/lang/String;)V")
        .method(PUBLIC | access::STATIC, "active", "()Z")
        .method(PUBLIC | access::STATIC, "other", "()V")
        .bytes();
    let bytes = rewriter_of(&recording).rewrite(&recording).unwrap().bytes.unwrap();
    let class = ClassFile::parse(&bytes).unwrap();
    for (name, is_switch) in [(&b"startAll"[..], true), (b"active", true), (b"other", false)] {
        let forms = helpers(&class, name);
        let calls_runtime = forms.len() == 1 && forms[0].1 == ["cct$record"];
        assert_eq!(calls_runtime, is_switch, "{forms:?}");
    }
}
