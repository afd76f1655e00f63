//! Every shape of method body, including those that no compiler produces: it verifies, behaves as
//! before, and is counted correctly.

use std::fmt::Write as _;
use std::fs;

use cct_classfile::opcode as op;

use crate::support::assembler::flags::{PUBLIC, STATIC};
use crate::support::assembler::{ClassAssembler, CodeAssembler, Type};
use crate::support::golden::flat;
use crate::support::{ALL_BLOCKS, Blocks, Jdk, Library, fixture, folder, instrument};

const OBJECT: &str = "java/lang/Object";

/// Calls and bytecodes of a method, by default and by precise blocks.
type Counts = (&'static str, u64, [u64; 2]);

/// Classes with `run()`, and the expected results.
struct Shapes {
    classes: Vec<ClassAssembler>,
    /// Names of the classes to run, and their outputs.
    says: Vec<(&'static str, String)>,
    counts: Vec<Counts>,
    /// Parts of the completeness report.
    reported: Vec<&'static str>,
}

impl Shapes {
    fn new(classes: Vec<ClassAssembler>, says: &[(&'static str, &str)], counts: Vec<Counts>) -> Shapes {
        let says = says.iter().map(|(class, text)| (*class, (*text).to_owned())).collect();
        Shapes { classes, says, counts, reported: Vec::new() }
    }

    fn check(self) {
        let Some(jdk) = Jdk::find() else { return };
        let plain = folder("shapes-plain").join("shapes");
        fs::create_dir(&plain).unwrap();
        for class in self.classes {
            fs::write(plain.join(format!("{}.class", class.name)), class.finish()).unwrap();
        }
        let names: Vec<&str> = self.says.iter().map(|(name, _)| *name).collect();
        let says = self.says.iter().fold(String::new(), |mut all, (name, text)| {
            for line in text.lines() {
                writeln!(all, "{name} {line}").unwrap();
            }
            all
        });
        let mut java = jdk.java("shapes-plain");
        let before =
            java.verify().class_path([&plain, &fixture("shapes/classes")]).succeed("ShapeMain", &names);
        assert_eq!(before.out, says, "the plain program");
        for blocks in ALL_BLOCKS {
            let output = folder("shapes").join("shapes");
            let report = output.with_extension("json");
            let report_path = report.display().to_string();
            let options = [blocks.options(), &["--report", &report_path]].concat();
            instrument(std::slice::from_ref(&plain), &[jdk.rt_jar()], &output, &options);
            let mut java = Library::whole(jdk, blocks).java("shapes");
            let run = java.class_path([&output]).succeed("ShapeMain", &names);
            assert_eq!(run.out, says, "{blocks:?}");
            let flat = flat(&run);
            for (method, calls, bytecodes) in &self.counts {
                let expected = if *calls == 0 {
                    None
                } else {
                    Some((*calls, bytecodes[usize::from(blocks != Blocks::Default)]))
                };
                assert_eq!(flat.get(*method).copied(), expected, "{method}, {blocks:?} blocks");
            }
            let report = fs::read_to_string(report).unwrap();
            for part in &self.reported {
                assert!(report.contains(part), "{blocks:?}: the report lacks {part}");
            }
        }
    }
}

/// Adds a plain constructor.
fn plain_constructor(class: &mut ClassAssembler) {
    class.method(PUBLIC, "<init>()V", 1, 1, |code| {
        code.ops(&[op::ALOAD_0]).call(op::INVOKESPECIAL, "java/lang/Object.<init>:()V").ops(&[op::RETURN]);
    });
}

/// Branches, a handler, and a division that may throw, all before `super()`.
fn early_constructor(version: u16, name: &'static str) -> ClassAssembler {
    let mut class = ClassAssembler::new(version, name, OBJECT);
    let field = format!("{name}.field:I");
    class.field(PUBLIC, "field", "I");
    class.method(PUBLIC, "<init>(I)V", 2, 3, |code| {
        let (not_zero, joined, caught, done) = (code.label(), code.label(), code.label(), code.label());
        let frame = |code: &mut CodeAssembler<'_>, ints: usize, stack: &[Type]| {
            if version >= 50 {
                let mut locals = vec![Type::UninitializedThis];
                locals.resize(1 + ints, Type::Int);
                code.frame(&locals, stack);
            }
        };
        code.ops(&[op::ILOAD_1]).jump(op::IFNE, not_zero).ops(&[op::ICONST_1]).jump(op::GOTO, joined);
        code.place(not_zero);
        frame(code, 1, &[]);
        code.ops(&[op::ICONST_2]).place(joined);
        frame(code, 1, &[Type::Int]);
        code.ops(&[op::ISTORE_2]);
        let start = code.here();
        code.with(op::BIPUSH, 10).ops(&[op::ILOAD_1, op::IDIV, op::ISTORE_2]);
        let end = code.here();
        code.jump(op::GOTO, done).place(caught);
        frame(code, 2, &[Type::Object("java/lang/ArithmeticException")]);
        code.ops(&[op::POP]).with(op::BIPUSH, 9).ops(&[op::ISTORE_2]).place(done);
        frame(code, 2, &[]);
        code.ops(&[op::ALOAD_0]).call(op::INVOKESPECIAL, "java/lang/Object.<init>:()V");
        code.ops(&[op::ALOAD_0, op::ILOAD_2]).field(op::PUTFIELD, &field).ops(&[op::RETURN]);
        code.handler(start, end, caught, Some("java/lang/ArithmeticException"));
    });
    class.run(4, 0, |code| {
        let constructor = format!("{name}.<init>:(I)V");
        code.class(op::NEW, name)
            .ops(&[op::DUP, op::ICONST_5])
            .call(op::INVOKESPECIAL, &constructor)
            .field(op::GETFIELD, &field);
        code.class(op::NEW, name)
            .ops(&[op::DUP, op::ICONST_0])
            .call(op::INVOKESPECIAL, &constructor)
            .field(op::GETFIELD, &field);
        code.ops(&[op::IADD, op::IRETURN]);
    });
    class
}

#[test]
fn constructors_with_branches_and_handlers_before_super() {
    // With 5: test 2, iconst_2 1, division 6, rest 6. With 0, twice: 2, 2, up to the division 4 (by
    // default 6), handler 3, rest 6.
    let counts = [15 + 2 * 19, 15 + 2 * 17];
    let classes = vec![early_constructor(49, "Early49"), early_constructor(52, "Early52")];
    let says = [("Early49", "11\nmade 9"), ("Early52", "11\nmade 9")];
    let all = vec![
        ("Early49.<init>(I)V", 3, counts),
        ("Early52.<init>(I)V", 3, counts),
        ("Early49.run()I", 1, [12, 12]),
        ("Early52.run()I", 1, [12, 12]),
    ];
    Shapes::new(classes, &says, all).check();
}

#[test]
fn constructors_that_make_objects_for_the_call_of_this() {
    let mut class = ClassAssembler::new(52, "Nested", OBJECT);
    class.field(PUBLIC, "field", "I");
    class.method(PUBLIC, "<init>(Ljava/lang/Object;)V", 1, 2, |code| {
        code.ops(&[op::ALOAD_0]).call(op::INVOKESPECIAL, "java/lang/Object.<init>:()V").ops(&[op::RETURN]);
    });
    class.method(PUBLIC, "<init>(I)V", 3, 2, |code| {
        code.ops(&[op::ALOAD_0])
            .class(op::NEW, OBJECT)
            .ops(&[op::DUP])
            .call(op::INVOKESPECIAL, "java/lang/Object.<init>:()V");
        code.call(op::INVOKESPECIAL, "Nested.<init>:(Ljava/lang/Object;)V");
        code.ops(&[op::ALOAD_0, op::ILOAD_1]).field(op::PUTFIELD, "Nested.field:I").ops(&[op::RETURN]);
    });
    class.run(3, 0, |code| {
        code.class(op::NEW, "Nested")
            .ops(&[op::DUP, op::ICONST_4])
            .call(op::INVOKESPECIAL, "Nested.<init>:(I)V");
        code.field(op::GETFIELD, "Nested.field:I").ops(&[op::IRETURN]);
    });
    let counts = vec![("Nested.<init>(I)V", 2, [18, 18]), ("Nested.<init>(Ljava/lang/Object,)V", 2, [6, 6])];
    Shapes::new(vec![class], &[("Nested", "4\nmade 0")], counts).check();
}

/// An interface whose initialiser branches and notifies the implementor, and the implementor.
fn quiet_interface(version: u16, interface: &'static str, name: &'static str) -> [ClassAssembler; 2] {
    let mut quiet = ClassAssembler::interface(version, interface);
    quiet.field(PUBLIC | STATIC | 0x10, "VALUE", "I");
    quiet.abstract_method("m", "()I");
    quiet.method(STATIC, "<clinit>()V", 1, 0, |code| {
        let skip = code.label();
        code.ops(&[op::ICONST_0]).jump(op::IFEQ, skip).ops(&[op::NOP]).place(skip);
        if version >= 50 {
            code.frame(&[], &[]);
        }
        code.call(op::INVOKESTATIC, &format!("{name}.tick:()V"));
        code.ops(&[op::ICONST_3]).field(op::PUTSTATIC, &format!("{interface}.VALUE:I")).ops(&[op::RETURN]);
    });
    let mut class = ClassAssembler::new(49, name, OBJECT);
    let ticks = format!("{name}.ticks:I");
    class.implement(interface);
    class.field(PUBLIC | STATIC, "ticks", "I");
    plain_constructor(&mut class);
    class.method(PUBLIC | STATIC, "tick()V", 2, 0, |code| {
        code.field(op::GETSTATIC, &ticks)
            .ops(&[op::ICONST_1, op::IADD])
            .field(op::PUTSTATIC, &ticks)
            .ops(&[op::RETURN]);
    });
    class.method(PUBLIC, "m()I", 1, 1, |code| {
        code.with(op::BIPUSH, 7).ops(&[op::IRETURN]);
    });
    // m() * 10, and the number of initialisations of the interface before and after its field was
    // read.
    class.run(3, 0, |code| {
        code.class(op::NEW, name).ops(&[op::DUP]).call(op::INVOKESPECIAL, &format!("{name}.<init>:()V"));
        code.call_interface(&format!("{interface}.m:()I"), 1).with(op::BIPUSH, 10).ops(&[op::IMUL]);
        code.field(op::GETSTATIC, &ticks).ops(&[op::IADD]);
        code.field(op::GETSTATIC, &format!("{interface}.VALUE:I")).ops(&[op::POP]);
        code.field(op::GETSTATIC, &ticks).ops(&[op::IADD, op::IRETURN]);
    });
    [quiet, class]
}

#[test]
fn interfaces_with_an_initialiser_are_initialised_when_they_were() {
    let classes = [(48, "Quiet48", "Impl48"), (50, "Quiet50", "Impl50"), (52, "Quiet52", "Impl52")];
    let classes = classes.into_iter().flat_map(|(v, i, c)| quiet_interface(v, i, c)).collect();
    let mut counts: Vec<Counts> = Vec::new();
    for interface in ["Quiet48.<clinit>()V", "Quiet50.<clinit>()V", "Quiet52.<clinit>()V"] {
        counts.push((interface, 1, [6, 6]));
    }
    for tick in ["Impl48.tick()V", "Impl50.tick()V", "Impl52.tick()V"] {
        counts.push((tick, 1, [5, 5]));
    }
    counts.extend([("Impl48.m()I", 1, [2, 2]), ("Impl52.m()I", 1, [2, 2])]);
    Shapes::new(classes, &[("Impl48", "71"), ("Impl50", "71"), ("Impl52", "71")], counts).check();
}

#[test]
fn interfaces_below_version_52() {
    let mut interface = ClassAssembler::interface(46, "Old");
    interface.abstract_method("m", "(JD)I");
    let mut class = ClassAssembler::new(46, "OldImpl", OBJECT);
    class.implement("Old");
    plain_constructor(&mut class);
    class.method(PUBLIC, "m(JD)I", 2, 5, |code| {
        code.ops(&[op::LLOAD_1, op::L2I, op::IRETURN]);
    });
    class.run(5, 0, |code| {
        code.class(op::NEW, "OldImpl").ops(&[op::DUP]).call(op::INVOKESPECIAL, "OldImpl.<init>:()V");
        code.ops(&[op::LCONST_1, op::DCONST_0]).call_interface("Old.m:(JD)I", 5).ops(&[op::IRETURN]);
    });
    Shapes::new(
        vec![interface, class],
        &[("OldImpl", "1")],
        vec![("OldImpl.m(JD)I", 1, [3, 3]), ("OldImpl.run()I", 1, [7, 7])],
    )
    .check();
}

/// Up to 252 slots leave room for the context, more do not.
#[test]
fn methods_with_as_many_arguments_as_there_can_be() {
    let mut class = ClassAssembler::new(52, "Many", OBJECT);
    plain_constructor(&mut class);
    let mut counts: Vec<Counts> = Vec::new();
    for slots in 252..=255_u16 {
        for (access, name, arguments) in [(PUBLIC | STATIC, "s", slots), (PUBLIC, "v", slots - 1)] {
            let signature = format!("{name}({})I", "I".repeat(arguments.into()));
            class.method(access, &signature, 1, slots, |code| {
                code.with(op::ILOAD, (slots - 1) as u8).ops(&[op::IRETURN]);
            });
            // The names live as long as the tests.
            counts.push((format!("Many.{signature}").leak(), 1, [2, 2]));
        }
    }
    let longs = format!("l({}I)I", "J".repeat(126));
    class.method(PUBLIC | STATIC, &longs, 1, 253, |code| {
        code.with(op::ILOAD, 252).ops(&[op::IRETURN]);
    });
    counts.push((format!("Many.{longs}").leak(), 1, [2, 2]));
    class.run(256, 0, |code| {
        code.ops(&[op::ICONST_0]);
        for slots in 252..=255_u16 {
            code.ops(&vec![op::ICONST_1; usize::from(slots) - 1]).ops(&[op::ICONST_3]);
            code.call(op::INVOKESTATIC, &format!("Many.s:({})I", "I".repeat(slots.into()))).ops(&[op::IADD]);
            code.class(op::NEW, "Many").ops(&[op::DUP]).call(op::INVOKESPECIAL, "Many.<init>:()V");
            code.ops(&vec![op::ICONST_1; usize::from(slots) - 2]).ops(&[op::ICONST_5]);
            code.call(op::INVOKEVIRTUAL, &format!("Many.v:({})I", "I".repeat(usize::from(slots) - 1)))
                .ops(&[op::IADD]);
        }
        code.ops(&[op::LCONST_0; 126]).ops(&[op::ICONST_2]);
        code.call(op::INVOKESTATIC, &format!("Many.l:({}I)I", "J".repeat(126))).ops(&[op::IADD, op::IRETURN]);
    });
    let mut shapes = Shapes::new(vec![class], &[("Many", "34")], counts);
    shapes.reported = vec!["no room for three more argument slots"];
    shapes.check();
}

#[test]
fn overloads_that_differ_in_a_long() {
    let mut class = ClassAssembler::new(52, "Over", OBJECT);
    plain_constructor(&mut class);
    let names = ["s(I)I", "s(IJ)I", "v()I", "v(J)I", "v(J[[[J)I"];
    for (i, name) in names.into_iter().enumerate() {
        let access = if name.starts_with('s') { PUBLIC | STATIC } else { PUBLIC };
        class.method(access, name, 1, 4, |code| {
            code.with(op::BIPUSH, 1 << i).ops(&[op::IRETURN]);
        });
    }
    class.run(5, 0, |code| {
        let new = |code: &mut CodeAssembler<'_>| {
            code.class(op::NEW, "Over").ops(&[op::DUP]).call(op::INVOKESPECIAL, "Over.<init>:()V");
        };
        code.ops(&[op::ICONST_1]).call(op::INVOKESTATIC, "Over.s:(I)I");
        code.ops(&[op::ICONST_1, op::LCONST_1]).call(op::INVOKESTATIC, "Over.s:(IJ)I").ops(&[op::IADD]);
        new(code);
        code.call(op::INVOKEVIRTUAL, "Over.v:()I").ops(&[op::IADD]);
        new(code);
        code.ops(&[op::LCONST_1]).call(op::INVOKEVIRTUAL, "Over.v:(J)I").ops(&[op::IADD]);
        new(code);
        code.ops(&[op::LCONST_1, op::ACONST_NULL])
            .call(op::INVOKEVIRTUAL, "Over.v:(J[[[J)I")
            .ops(&[op::IADD, op::IRETURN]);
    });
    let methods = ["Over.s(I)I", "Over.s(IJ)I", "Over.v()I", "Over.v(J)I", "Over.v(J[[[J)I"];
    let counts = methods.into_iter().map(|method| (method, 1, [2, 2])).collect();
    Shapes::new(vec![class], &[("Over", "31")], counts).check();
}

#[test]
fn subroutines() {
    let mut class = ClassAssembler::new(48, "Subroutine", OBJECT);
    class.method(PUBLIC | STATIC, "twice(I)I", 1, 3, |code| {
        let (once, subroutine) = (code.label(), code.label());
        code.ops(&[op::ICONST_0, op::ISTORE_1, op::ILOAD_0]).jump(op::IFEQ, once).jump(op::JSR, subroutine);
        code.place(once).jump(op::JSR, subroutine).ops(&[op::ILOAD_1, op::IRETURN]);
        code.place(subroutine).ops(&[op::ASTORE_2, op::IINC, 1, 1]).with(op::RET, 2);
    });
    class.run(3, 0, |code| {
        code.ops(&[op::ICONST_0])
            .call(op::INVOKESTATIC, "Subroutine.twice:(I)I")
            .with(op::BIPUSH, 10)
            .ops(&[op::IMUL]);
        code.ops(&[op::ICONST_1])
            .call(op::INVOKESTATIC, "Subroutine.twice:(I)I")
            .ops(&[op::IADD, op::IRETURN]);
    });
    // 4, once: jsr, 3 in the subroutine, 2; the other time one more jsr and 3.
    let counts = vec![("Subroutine.twice(I)I", 2, [10 + 14, 10 + 14])];
    Shapes::new(vec![class], &[("Subroutine", "12")], counts).check();
}

/// The local 0 to 1 overlaps the argument and the first local after it.
#[test]
fn a_long_across_the_end_of_the_arguments() {
    let make = |version: u16, name: &'static str| {
        let mut class = ClassAssembler::new(version, name, OBJECT);
        class.method(PUBLIC | STATIC, "across(I)I", 2, 3, |code| {
            let zero = code.label();
            code.ops(&[op::ILOAD_0, op::ISTORE_2, op::LCONST_1, op::LSTORE_0, op::ILOAD_2])
                .jump(op::IFEQ, zero);
            code.ops(&[op::LLOAD_0, op::L2I, op::IRETURN]).place(zero);
            if version >= 50 {
                code.frame(&[Type::Long, Type::Int], &[]);
            }
            code.ops(&[op::LLOAD_0, op::L2I, op::ICONST_1, op::IADD, op::IRETURN]);
        });
        class.run(3, 0, |code| {
            let across = format!("{name}.across:(I)I");
            code.ops(&[op::ICONST_0]).call(op::INVOKESTATIC, &across).with(op::BIPUSH, 10).ops(&[op::IMUL]);
            code.ops(&[op::ICONST_1]).call(op::INVOKESTATIC, &across).ops(&[op::IADD, op::IRETURN]);
        });
        class
    };
    let counts =
        vec![("Across49.across(I)I", 2, [11 + 9, 11 + 9]), ("Across52.across(I)I", 2, [11 + 9, 11 + 9])];
    let says = [("Across49", "21"), ("Across52", "21")];
    Shapes::new(vec![make(49, "Across49"), make(52, "Across52")], &says, counts).check();
}

/// Methods that exceed 64 KB are counted less precisely, and the report lists them.
#[test]
fn methods_that_outgrow_their_limit() {
    let mut class = ClassAssembler::new(49, "Large", OBJECT);
    class.field(PUBLIC | STATIC, "field", "I");
    class.method(PUBLIC | STATIC, "fields()I", 1, 0, |code| {
        for _ in 0..8000 {
            code.field(op::GETSTATIC, "Large.field:I").ops(&[op::POP]);
        }
        code.ops(&[op::ICONST_1, op::IRETURN]);
    });
    class.method(PUBLIC | STATIC, "branches()I", 1, 0, |code| {
        for _ in 0..12_000 {
            let next = code.label();
            code.ops(&[op::ICONST_0]).jump(op::IFEQ, next).ops(&[op::NOP]).place(next);
        }
        code.ops(&[op::ICONST_2]).call(op::INVOKESTATIC, "Large.same:(I)I").ops(&[op::IRETURN]);
    });
    class.method(PUBLIC | STATIC, "full()I", 1, 0, |code| {
        code.ops(&vec![op::NOP; 65_530 - 3])
            .ops(&[op::ICONST_4])
            .call(op::INVOKESTATIC, "Large.same:(I)I")
            .ops(&[op::IRETURN]);
    });
    class.method(PUBLIC | STATIC, "same(I)I", 1, 1, |code| {
        code.ops(&[op::ILOAD_0, op::IRETURN]);
    });
    class.run(2, 0, |code| {
        code.call(op::INVOKESTATIC, "Large.fields:()I")
            .call(op::INVOKESTATIC, "Large.branches:()I")
            .ops(&[op::IADD]);
        code.call(op::INVOKESTATIC, "Large.full:()I").ops(&[op::IADD, op::IRETURN]);
    });
    let fields = 2 * 8000 + 2;
    let counts = vec![
        ("Large.fields()I", 1, [fields, fields]),
        ("Large.branches()I", 1, [0, 0]),
        ("Large.full()I", 0, [0, 0]),
        ("Large.same(I)I", 2, [4, 4]),
        ("Large.run()I", 1, [6, 6]),
    ];
    let mut shapes = Shapes::new(vec![class], &[("Large", "7")], counts);
    shapes.reported = vec!["branches", "its bytecodes are not", "full", "missing from the tree"];
    shapes.check();
}

/// Conditional jumps that no longer reach their targets when the code in between has grown, and a
/// jump back. A conditional jump has no wide form: it needs a `goto_w` nearby that control cannot
/// fall into, such as after a `goto`.
fn far_jumps(version: u16, name: &'static str, with_gaps: bool) -> ClassAssembler {
    let mut class = ClassAssembler::new(version, name, OBJECT);
    class.method(PUBLIC | STATIC, "far(I)I", 1, 3, |code| {
        let frame = |code: &mut CodeAssembler<'_>| {
            if version >= 50 {
                code.frame(&[Type::Int; 3], &[]);
            }
        };
        code.ops(&[op::ICONST_0, op::ISTORE_1, op::ICONST_0, op::ISTORE_2]);
        let start = code.here();
        let far = code.label();
        frame(code);
        code.ops(&[op::ILOAD_0]).jump(op::IFEQ, far);
        for round in 0..2600 {
            let next = code.label();
            code.ops(&[op::ILOAD_0]).jump(op::IFEQ, next).ops(&[op::IINC, 1, 1]);
            if with_gaps && round % 400 == 0 {
                code.jump(op::GOTO, next);
            }
            code.place(next);
            frame(code);
        }
        code.ops(&[op::ILOAD_2]).jump(op::IFNE, far).ops(&[op::IINC, 2, 1]).jump(op::GOTO, start);
        code.place(far);
        frame(code);
        code.ops(&[op::ILOAD_1, op::IRETURN]);
    });
    class.run(2, 0, |code| {
        let far = format!("{name}.far:(I)I");
        code.ops(&[op::ICONST_0])
            .call(op::INVOKESTATIC, &far)
            .ops(&[op::ICONST_1])
            .call(op::INVOKESTATIC, &far);
        code.ops(&[op::IADD, op::IRETURN]);
    });
    class
}

#[test]
fn jumps_that_grow_past_32_kb() {
    // 0: start, test, end. 1: twice the test, 2600 rounds of three, seven gotos and the last test,
    // once back.
    let counts = (4 + 2 + 2) + (4 + 2 * (2 + 2600 * 3 + 7 + 2) + 2 + 2);
    let all = vec![("Far49.far(I)I", 2, [counts, counts]), ("Far52.far(I)I", 2, [counts, counts])];
    let classes = vec![far_jumps(49, "Far49", true), far_jumps(52, "Far52", true)];
    Shapes::new(classes, &[("Far49", "5200"), ("Far52", "5200")], all).check();
}

#[test]
fn jumps_out_of_reach_of_any_gap_are_reported() {
    let all = vec![("Far49.far(I)I", 2, [0, 0]), ("Far52.far(I)I", 2, [0, 0])];
    let classes = vec![far_jumps(49, "Far49", false), far_jumps(52, "Far52", false)];
    let mut shapes = Shapes::new(classes, &[("Far49", "5200"), ("Far52", "5200")], all);
    shapes.reported = vec!["its bytecodes are not"];
    shapes.check();
}

/// The other tests mean nothing unless classes are verified.
#[test]
fn the_verifier_is_on() {
    let Some(jdk) = Jdk::find() else { return };
    let to = folder("wrong");
    let mut class = ClassAssembler::new(52, "Wrong", OBJECT);
    class.run(1, 0, |code| {
        code.ops(&[op::ACONST_NULL, op::IRETURN]);
    });
    fs::write(to.join("Wrong.class"), class.finish()).unwrap();
    let run = Library::whole(jdk, Blocks::Exact).java("wrong").class_path([&to]).run("ShapeMain", &["Wrong"]);
    run.assert_code(1);
    assert!(run.err.contains("VerifyError"), "{}", run.err);
}
