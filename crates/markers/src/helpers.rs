//! Members that a class with markers gains: its guards, and methods that read them. The marked
//! methods call these, and so need no added jumps and frames.

use std::collections::BTreeSet;

use cct_classfile::bytes::PutBytes;
use cct_classfile::constant_pool::{Index, tag};
use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::class_edit::MemberBuilder;
use cct_classfile::edit::{Asm, ClassEdit};
use cct_classfile::{NameAndType, Result, access, opcode};

use crate::branching::BranchingCode;
use crate::gate::{Call, Exit, Gate};

/// Prefix of the names of added members.
pub(crate) const PREFIX: &[u8] = b"cct$";
/// Fields with one bit for each marker, on while the marker has a client.
const GUARD: &str = "cct$markers";
/// Field of objects, with the bits of markers that ignore the object.
const SKIPPED: NameAndType<'_> = NameAndType::new(b"cct$skipped", b"I");
/// Field with the class's table, once the class has registered.
const TABLE: NameAndType<'_> = NameAndType::new(b"cct$table", OBJECT);
/// Method that returns the table.
const TABLE_METHOD: NameAndType<'_> = NameAndType::new(b"cct$table", b"()Ljava/lang/Object;");
/// Method that registers the class and returns the table.
const REGISTER: NameAndType<'_> = NameAndType::new(b"cct$register", b"()Ljava/lang/Object;");

const OBJECT: &[u8] = b"Ljava/lang/Object;";

/// The method that code calls at a marker.
#[derive(Debug, Clone)]
pub(crate) struct Helper {
    /// The marker's index in the class.
    pub(crate) index: u16,
    /// Whether its result is kept for the exit. It is not for regions in which nothing happens,
    /// which are reported at once.
    pub(crate) pair: bool,
    /// Whether it gets its earlier result, which says whether the region was entered.
    pub(crate) again: bool,
    /// Whether it checks if the object is ignored.
    pub(crate) per_object: bool,
    /// Descriptors of the arguments that it passes, joined.
    pub(crate) arguments: Option<Vec<u8>>,
}

impl Helper {
    /// Whether it serves 32 markers, which its callers distinguish. Then there are few helpers,
    /// which are soon compiled.
    fn is_shared(&self) -> bool {
        !self.again && !self.per_object && self.arguments.is_none()
    }

    /// The name, the same for all markers that share it.
    fn name(&self) -> Vec<u8> {
        let name = match (self.is_shared(), self.pair) {
            (true, true) => format!("cct$enter{}", self.index / 32),
            (true, false) => format!("cct$pass{}", self.index / 32),
            (false, true) => format!("cct$enter${}", self.index),
            (false, false) => format!("cct$pass${}", self.index),
        };
        name.into_bytes()
    }

    /// The descriptor. If the program is also counted, the last parameter is the position in its
    /// tree.
    fn descriptor(&self, has_slot: bool) -> Vec<u8> {
        let again = if self.again { OBJECT } else { b"" };
        let index = if self.is_shared() { &b"I"[..] } else { b"" };
        let slot = if has_slot { &b"J"[..] } else { b"" };
        let arguments = self.arguments.as_deref().unwrap_or_default();
        [b"(", again, OBJECT, arguments, index, slot, self.result()].concat()
    }

    /// Number of stack slots of the passed arguments.
    pub(crate) fn argument_slots(&self) -> Result<u16> {
        let Some(arguments) = &self.arguments else { return Ok(0) };
        let descriptor = [b"(", &arguments[..], b")V"].concat();
        Ok(MethodDescriptor::parse(&descriptor)?.argument_slots())
    }

    fn result(&self) -> &'static [u8] {
        if self.pair { b")Ljava/lang/Object;" } else { b")V" }
    }
}

/// A slot of the node of the calling-context tree in which a method runs. Its address is the sum of
/// a local and a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The local, of two slots.
    pub local: u16,
    /// The constant to add to the local.
    pub offset: u16,
}

/// The helpers of a class.
pub(crate) struct Helpers {
    gate: Gate,
    by_class: bool,
    is_interface: bool,
    has_frames: bool,
    own: Index,
}

impl Helpers {
    pub(crate) fn new(edit: &ClassEdit<'_, '_>, gate: Gate, by_class: bool) -> Self {
        let class = edit.class();
        Helpers {
            gate,
            by_class,
            is_interface: class.is_interface(),
            has_frames: class.major_version >= 50,
            own: class.this_class,
        }
    }

    fn own_method(&self, edit: &mut ClassEdit<'_, '_>, method: NameAndType<'_>) -> Result<Index> {
        let kind = if self.is_interface { tag::INTERFACE_METHODREF } else { tag::METHODREF };
        edit.additions.member_of(kind, self.own, method)
    }

    fn own_field(&self, edit: &mut ClassEdit<'_, '_>, field: NameAndType<'_>) -> Result<Index> {
        edit.additions.member_of(tag::FIELDREF, self.own, field)
    }

    /// Whether helpers get the thread's position in its tree.
    fn has_slot(&self) -> bool {
        matches!(self.gate, Gate::Helpers(_))
    }

    /// Adds the call of a marker's helper.
    pub(crate) fn call(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        helper: &Helper,
        slot: Option<Slot>,
        asm: &mut Asm,
    ) -> Result<()> {
        if helper.is_shared() {
            asm.int(helper.index as i16);
        }
        if let Some(Slot { local, offset }) = slot {
            asm.load(Kind::Long, local);
            if offset > 0 {
                asm.int(offset as i16).op(opcode::I2L).op(opcode::LADD);
            }
        }
        let (name, descriptor) = (helper.name(), helper.descriptor(slot.is_some()));
        let index = self.own_method(edit, NameAndType::new(&name, &descriptor))?;
        asm.indexed(opcode::INVOKESTATIC, index);
        Ok(())
    }

    fn gate(&self, edit: &mut ClassEdit<'_, '_>, call: Call, asm: &mut Asm) -> Result<()> {
        let index = self.gate.method(edit, call)?;
        asm.indexed(opcode::INVOKESTATIC, index);
        Ok(())
    }

    /// Adds the call that reports an exit; the token is on the stack, with the reported value.
    pub(crate) fn exit(&self, edit: &mut ClassEdit<'_, '_>, how: Exit, asm: &mut Asm) -> Result<()> {
        self.gate(edit, Call::Exit(how), asm)
    }

    /// Adds the guards, the class's table, and the helpers of its markers.
    pub(crate) fn add(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        helpers: &[Helper],
        texts: &[Vec<u8>],
    ) -> Result<()> {
        if !self.is_interface {
            let flags = access::PRIVATE | access::STATIC | access::SYNTHETIC;
            let words = helpers.len().div_ceil(32);
            for name in (0..words).map(|word| guard(GUARD, word)) {
                let (name, descriptor) = (edit.additions.utf8(&name)?, edit.additions.utf8(b"I")?);
                let mut field = MemberBuilder::new(flags, name, descriptor);
                // All bits are on until the class has registered, which its first marker does; that
                // needs no initialiser.
                let (constant, value) = (edit.additions.utf8(b"ConstantValue")?, edit.additions.integer(-1)?);
                field.attribute(constant, |out| {
                    out.put2(value);
                    Ok(())
                })?;
                edit.add_field(field.finish());
            }
            let (name, descriptor) =
                (edit.additions.utf8(TABLE.name)?, edit.additions.utf8(TABLE.descriptor)?);
            edit.add_field(MemberBuilder::new(flags, name, descriptor).finish());
            if helpers.iter().any(|helper| helper.per_object) {
                let (name, descriptor) =
                    (edit.additions.utf8(SKIPPED.name)?, edit.additions.utf8(SKIPPED.descriptor)?);
                let flags = access::PRIVATE | access::TRANSIENT | access::SYNTHETIC;
                edit.add_field(MemberBuilder::new(flags, name, descriptor).finish());
            }
        }
        self.table(edit)?;
        self.register(edit, helpers.len().div_ceil(32), texts)?;
        let mut names = BTreeSet::new();
        for helper in helpers {
            if names.insert(helper.name()) {
                self.helper(edit, helper)?;
            }
        }
        Ok(())
    }

    /// Adds `if (guard) return Gate.enter(table, index, receiver, arguments); return null;`
    fn helper(&self, edit: &mut ClassEdit<'_, '_>, helper: &Helper) -> Result<()> {
        let receiver = u16::from(helper.again);
        let mut code = BranchingCode::new();
        let nothing = |asm: &mut Asm| {
            if helper.pair {
                asm.op(opcode::ACONST_NULL).ret(Some(Kind::Reference))
            } else {
                asm.ret(None)
            };
        };
        if helper.again {
            code.asm.load(Kind::Reference, 0);
            code.unless(opcode::IFNULL, |asm| {
                asm.load(Kind::Reference, 0).ret(Some(Kind::Reference));
            });
        }
        let index = |asm: &mut Asm| {
            if helper.is_shared() {
                asm.load(Kind::Int, receiver + 1)
            } else {
                asm.int(helper.index as i16)
            };
        };
        if self.is_interface {
            let table = self.own_method(edit, TABLE_METHOD)?;
            code.asm.indexed(opcode::INVOKESTATIC, table);
            index(&mut code.asm);
            self.gate(edit, Call::IsOn, &mut code.asm)?;
        } else {
            let word = usize::from(helper.index / 32);
            let field = self.own_field(edit, NameAndType::new(&guard(GUARD, word), b"I"))?;
            code.asm.indexed(opcode::GETSTATIC, field);
            if helper.per_object {
                let skipped = self.own_field(edit, SKIPPED)?;
                code.asm.load(Kind::Reference, receiver).indexed(opcode::CHECKCAST, self.own);
                code.asm.indexed(opcode::GETFIELD, skipped);
                code.asm.int(-1).op(opcode::IXOR).op(opcode::IAND);
            }
            // Only the lowest five bits of a number count (JVMS 6.5.ishl): the bit within its word.
            code.asm.int(1);
            index(&mut code.asm);
            code.asm.op(opcode::ISHL).op(opcode::IAND);
        }
        code.unless(opcode::IFNE, nothing);
        let table = self.own_method(edit, TABLE_METHOD)?;
        code.asm.indexed(opcode::INVOKESTATIC, table);
        index(&mut code.asm);
        code.asm.load(Kind::Reference, receiver);
        let mut slots = if helper.is_shared() {
            receiver + 2
        } else {
            self.arguments(edit, helper, receiver + 1, &mut code.asm)?
        };
        if self.has_slot() {
            if helper.arguments.is_none() {
                code.asm.op(opcode::ACONST_NULL);
            }
            code.asm.load(Kind::Long, slots);
            slots += 2;
        }
        let call = Call::At { pair: helper.pair, has_arguments: helper.arguments.is_some() };
        self.gate(edit, call, &mut code.asm)?;
        code.asm.ret(helper.pair.then_some(Kind::Reference));
        let (name, descriptor) = (helper.name(), helper.descriptor(self.has_slot()));
        self.method(edit, NameAndType::new(&name, &descriptor), &code, slots)
    }

    /// Pushes the array of arguments, if there is one. Returns the first slot after them.
    fn arguments(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        helper: &Helper,
        first: u16,
        asm: &mut Asm,
    ) -> Result<u16> {
        let Some(arguments) = &helper.arguments else { return Ok(first) };
        let descriptor = [b"(", &arguments[..], b")V"].concat();
        let parsed = MethodDescriptor::parse(&descriptor)?;
        if self.has_slot() {
            return self.arguments_by_helpers(edit, &parsed, first, asm);
        }
        let object = edit.additions.class_named(b"java/lang/Object")?;
        asm.int(parsed.arguments().count() as i16).indexed(opcode::ANEWARRAY, object);
        let mut local = first;
        for (position, argument) in parsed.arguments().enumerate() {
            asm.op(opcode::DUP).int(position as i16);
            if let Some(kind) = Kind::of(argument) {
                asm.load(kind, local);
            }
            if let cct_classfile::descriptor::FieldType::Base(base) = argument {
                let boxed: &[u8] = match base {
                    b'Z' => b"java/lang/Boolean",
                    b'B' => b"java/lang/Byte",
                    b'C' => b"java/lang/Character",
                    b'S' => b"java/lang/Short",
                    b'I' => b"java/lang/Integer",
                    b'J' => b"java/lang/Long",
                    b'F' => b"java/lang/Float",
                    _ => b"java/lang/Double",
                };
                let class = edit.additions.class_named(boxed)?;
                let descriptor = [b"(", &[base][..], b")L", boxed, b";"].concat();
                let value_of = NameAndType::new(b"valueOf", &descriptor);
                let value_of = edit.additions.member_of(tag::METHODREF, class, value_of)?;
                asm.indexed(opcode::INVOKESTATIC, value_of);
            }
            asm.op(opcode::AASTORE);
            local += argument.slots();
        }
        Ok(local)
    }

    /// Pushes the array of arguments through helpers, where boxing would be a call of the
    /// program's.
    fn arguments_by_helpers(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        arguments: &MethodDescriptor<'_>,
        first: u16,
        asm: &mut Asm,
    ) -> Result<u16> {
        asm.int(arguments.arguments().count() as i16);
        self.gate(edit, Call::Array, asm)?;
        let mut local = first;
        for (position, argument) in arguments.arguments().enumerate() {
            asm.op(opcode::DUP).int(position as i16);
            if let Some(kind) = Kind::of(argument) {
                asm.load(kind, local);
            }
            let base = match argument {
                cct_classfile::descriptor::FieldType::Base(base) => Some(base),
                _ => None,
            };
            self.gate(edit, Call::Put(base), asm)?;
            local += argument.slots();
        }
        Ok(local)
    }

    /// Adds the method that returns the class's table and registers the class if needed. It is
    /// small, so that callers inline it.
    fn table(&self, edit: &mut ClassEdit<'_, '_>) -> Result<()> {
        let register = self.own_method(edit, REGISTER)?;
        let mut code = BranchingCode::new();
        if self.is_interface {
            code.asm.ldc(self.own);
            self.gate(edit, Call::TableOf, &mut code.asm)?;
        } else {
            let field = self.own_field(edit, TABLE)?;
            code.asm.indexed(opcode::GETSTATIC, field);
        }
        code.asm.store(Kind::Reference, 0).load(Kind::Reference, 0);
        code.unless(opcode::IFNULL, |asm| {
            asm.load(Kind::Reference, 0).ret(Some(Kind::Reference));
        });
        code.asm.indexed(opcode::INVOKESTATIC, register).ret(Some(Kind::Reference));
        self.method(edit, TABLE_METHOD, &code, 1)
    }

    /// Adds the method that registers the class: it passes the class, by a lookup, and the texts of
    /// its attribute, and gets the table and the initial guards.
    fn register(&self, edit: &mut ClassEdit<'_, '_>, words: usize, texts: &[Vec<u8>]) -> Result<()> {
        let own = self.own;
        let mut code = BranchingCode::new();
        self.gate(edit, Call::IsReady, &mut code.asm)?;
        code.unless(opcode::IFNE, |asm| {
            asm.op(opcode::ACONST_NULL).ret(Some(Kind::Reference));
        });
        let from = code.asm.bytes.len() as u16;
        match self.gate {
            Gate::Class(gate) => self.say(edit, gate, texts, &mut code.asm)?,
            Gate::Helpers(_) => {
                code.asm.op(opcode::ACONST_NULL);
                for text in texts {
                    let text = edit.additions.utf8(text)?;
                    code.asm.ldc(edit.additions.string(text)?);
                    self.gate(edit, Call::Row, &mut code.asm)?;
                }
                code.asm.ldc(own);
                self.gate(edit, Call::Register, &mut code.asm)?;
            }
        }
        if !self.is_interface {
            let field = self.own_field(edit, TABLE)?;
            code.asm.op(opcode::DUP).indexed(opcode::PUTSTATIC, field);
            for word in 0..words {
                let field = self.own_field(edit, NameAndType::new(&guard(GUARD, word), b"I"))?;
                code.asm.op(opcode::DUP).int(word as i16);
                self.gate(edit, Call::Bits, &mut code.asm)?;
                code.asm.indexed(opcode::PUTSTATIC, field);
            }
        }
        code.asm.op(opcode::DUP);
        self.gate(edit, Call::Settled, &mut code.asm)?;
        code.asm.ret(Some(Kind::Reference));
        // Until registration ends, the thread's markers are not reported.
        code.handler = Some((from, code.asm.bytes.len() as u16));
        self.gate(edit, Call::Abandoned, &mut code.asm)?;
        code.asm.op(opcode::ATHROW);
        self.method(edit, REGISTER, &code, 0)
    }

    /// Passes the class, by a lookup, and its texts in an array; pushes the table.
    fn say(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        gate: &'static [u8],
        texts: &[Vec<u8>],
        asm: &mut Asm,
    ) -> Result<()> {
        // JDK 8 gives its own classes no lookup.
        let register: &[u8] = if self.by_class {
            asm.ldc(self.own);
            b"(Ljava/lang/Class;[Ljava/lang/String;)Ljava/lang/Object;"
        } else {
            let handles = edit.additions.class_named(b"java/lang/invoke/MethodHandles")?;
            let lookup = NameAndType::new(b"lookup", b"()Ljava/lang/invoke/MethodHandles$Lookup;");
            let lookup = edit.additions.member_of(tag::METHODREF, handles, lookup)?;
            asm.indexed(opcode::INVOKESTATIC, lookup);
            b"(Ljava/lang/invoke/MethodHandles$Lookup;[Ljava/lang/String;)Ljava/lang/Object;"
        };
        let string = edit.additions.class_named(b"java/lang/String")?;
        asm.int(texts.len() as i16).indexed(opcode::ANEWARRAY, string);
        for (position, text) in texts.iter().enumerate() {
            let text = edit.additions.utf8(text)?;
            let text = edit.additions.string(text)?;
            asm.op(opcode::DUP).int(position as i16).ldc(text).op(opcode::AASTORE);
        }
        let gate = edit.additions.class_named(gate)?;
        let register = NameAndType::new(b"register", register);
        let register = edit.additions.member_of(tag::METHODREF, gate, register)?;
        asm.indexed(opcode::INVOKESTATIC, register);
        Ok(())
    }

    fn method(
        &self,
        edit: &mut ClassEdit<'_, '_>,
        method: NameAndType<'_>,
        code: &BranchingCode,
        locals: u16,
    ) -> Result<()> {
        let (name, descriptor) = (edit.additions.utf8(method.name)?, edit.additions.utf8(method.descriptor)?);
        let flags = access::PRIVATE | access::STATIC | access::SYNTHETIC;
        let mut method = MemberBuilder::new(flags, name, descriptor);
        let mut names = std::mem::take(&mut edit.names);
        let code_name = names.code(&mut edit.additions)?;
        let frames = if self.has_frames { Some(names.stack_map_table(&mut edit.additions)?) } else { None };
        let version = names.version;
        edit.names = names;
        let throwable = match (code.handler, self.has_frames) {
            (Some(_), true) => Some(edit.additions.class_named(b"java/lang/Throwable")?),
            _ => None,
        };
        method.attribute(code_name, |out| {
            // The table, the index, the receiver, the array twice, a position, a value.
            version.put_code_head(8, locals, code.asm.bytes.len() as u32, out)?;
            out.extend_from_slice(&code.asm.bytes);
            out.put2(u16::from(code.handler.is_some()));
            if let Some((from, at)) = code.handler {
                [from, at, at, 0].iter().for_each(|&n| out.put2(n));
            }
            let Some(frames) = frames else {
                out.put2(0);
                return Ok(());
            };
            out.put2(1);
            out.put2(frames);
            let mut table = Vec::new();
            table.put2(code.targets.len() as u16 + u16::from(code.handler.is_some()));
            let mut next = 0;
            for &target in &code.targets {
                // Every target has the state of the method's entry.
                match target - next {
                    delta @ 0..=63 => table.put1(delta as u8),
                    delta => {
                        table.put1(251);
                        table.put2(delta);
                    }
                }
                next = target + 1;
            }
            if let (Some((_, at)), Some(throwable)) = (code.handler, throwable) {
                // The state of the entry, with the exception on the stack.
                table.put1(247);
                table.put2(at - next);
                table.put1(7);
                table.put2(throwable);
            }
            out.put4(table.len() as u32);
            out.extend_from_slice(&table);
            Ok(())
        })?;
        edit.add_method(method.finish());
        Ok(())
    }
}

fn guard(name: &str, word: usize) -> Vec<u8> {
    format!("{name}{word}").into_bytes()
}
