//! The effect of an instruction on control, in the method at hand.
//!
//! The class and the method are known, so fewer instructions throw than by the table of
//! [`crate::throws`]. Harmless are: a field of the class itself, read or written through `this`, if
//! `this` stays in its local throughout; a static field of the class itself, in code that runs only
//! after the class's initialisation has begun in the same thread; and `Object.<init>`, which
//! returns. A class loader may run code when a class is resolved for `checkcast`, `instanceof` or
//! an array's creation; that counts as an exception only.

use cct_classfile::constant_pool::tag;
use cct_classfile::opcode::Opcode;
use cct_classfile::{ClassFile, Index, Instruction, Member, access, opcode};

use crate::throws::may_throw;

/// References of a class to members of its own, by index in the constant pool.
#[derive(Debug, Clone, Default)]
pub struct OwnMembers {
    /// One bit per index: instance fields that the class declares.
    instance_fields: Vec<u64>,
    /// One bit per index: static fields that the class declares.
    static_fields: Vec<u64>,
    /// One bit per index: final fields of either kind, which not every method may assign.
    final_fields: Vec<u64>,
    /// One bit per index: references to `Object.<init>`.
    object_init: Vec<u64>,
}

impl OwnMembers {
    /// The references of a class.
    pub fn of(class: &ClassFile<'_>) -> Self {
        let mut declared: Vec<&Member<'_>> = class.fields.iter().collect();
        declared.sort_unstable_by_key(|field| field.name_and_type());
        let mut own = OwnMembers::default();
        for (index, tag) in class.pool.tags() {
            // Most references lead to other classes: their names and descriptors are not read.
            let is_field = match tag {
                tag::FIELDREF => true,
                tag::METHODREF | tag::INTERFACE_METHODREF => false,
                _ => continue,
            };
            let owner = if is_field { class.name() } else { b"java/lang/Object" };
            if class.pool.member_class(index) != Ok(owner) {
                continue;
            }
            let Ok(member) = class.pool.member_ref(index) else { continue };
            if is_field {
                let key = member.name_and_type();
                let Ok(found) = declared.binary_search_by_key(&key, |field| field.name_and_type()) else {
                    continue;
                };
                let field = declared[found];
                insert(
                    if field.is(access::STATIC) { &mut own.static_fields } else { &mut own.instance_fields },
                    index,
                );
                if field.is(access::FINAL) {
                    insert(&mut own.final_fields, index);
                }
            } else if member.name == b"<init>" {
                insert(&mut own.object_init, index);
            }
        }
        own
    }

    /// Whether a reference names an instance field that the class declares itself.
    pub fn is_instance_field(&self, index: Index) -> bool {
        contains(&self.instance_fields, index)
    }
}

fn insert(set: &mut Vec<u64>, index: Index) {
    let word = usize::from(index) / 64;
    if set.len() <= word {
        set.resize(word + 1, 0);
    }
    set[word] |= 1 << (index % 64);
}

fn contains(set: &[u64], index: Index) -> bool {
    set.get(usize::from(index) / 64).is_some_and(|word| word >> (index % 64) & 1 != 0)
}

/// The effect of an instruction on control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// It completes.
    None,
    /// It may throw, and nobody reads the node meanwhile.
    Throws,
    /// Other code may run that never comes back, or waits.
    Leaves,
    /// The method ends, by a return or by `athrow`.
    Ends,
}

/// The effect as far as the opcode alone decides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByOpcode {
    Is(Effect),
    /// It depends on the member that it names, and on the method.
    Depends,
}

static BY_OPCODE: [ByOpcode; 256] = {
    let mut table = [ByOpcode::Is(Effect::None); 256];
    let mut op = 0;
    while op < table.len() {
        table[op] = match op as Opcode {
            opcode::LDC | opcode::LDC_W | opcode::LDC2_W | opcode::INVOKESPECIAL => ByOpcode::Depends,
            opcode::GETSTATIC..=opcode::PUTFIELD => ByOpcode::Depends,
            opcode::INVOKEVIRTUAL..=opcode::NEW | opcode::MONITORENTER => ByOpcode::Is(Effect::Leaves),
            opcode::IRETURN..=opcode::RETURN | opcode::ATHROW => ByOpcode::Is(Effect::Ends),
            op if opcode::may_throw(op) => ByOpcode::Is(Effect::Throws),
            _ => ByOpcode::Is(Effect::None),
        };
        op += 1;
    }
    table
};

/// The facts about the method besides its code.
pub(super) struct MethodFacts<'k, 'a> {
    pub(super) class: &'k ClassFile<'a>,
    pub(super) own: &'k OwnMembers,
    /// Whether local 0 is `this` throughout.
    pub(super) this_stays: bool,
    /// Whether it is a constructor or class initialiser, which may assign final fields.
    pub(super) initialises: bool,
    /// Whether the method runs only in threads for which the class is initialised or being
    /// initialised (JVMS 5.5): a static method, a constructor.
    pub(super) in_initialised: bool,
}

impl MethodFacts<'_, '_> {
    /// Whether the method may assign this field of its class (JVMS 6.5, `putfield`).
    fn may_assign(&self, index: Index) -> bool {
        self.initialises || !contains(&self.own.final_fields, index)
    }

    /// The effect of an instruction, given the opcodes of the two before it, the nearer one first;
    /// `nop` if a jump may lead in between.
    #[inline]
    pub(super) fn effect(&self, instruction: &Instruction<'_>, before: [Opcode; 2]) -> Effect {
        match BY_OPCODE[usize::from(instruction.opcode)] {
            ByOpcode::Is(effect) => effect,
            ByOpcode::Depends => self.depending(instruction, before),
        }
    }

    fn depending(&self, instruction: &Instruction<'_>, before: [Opcode; 2]) -> Effect {
        let index = instruction.pool_index().unwrap_or_default();
        let is_this = |op: Opcode| self.this_stays && op == opcode::ALOAD_0;
        match instruction.opcode {
            opcode::INVOKESPECIAL if contains(&self.own.object_init, index) => Effect::None,
            opcode::INVOKESPECIAL => Effect::Leaves,
            opcode::GETSTATIC if self.in_initialised && contains(&self.own.static_fields, index) => {
                Effect::None
            }
            opcode::PUTSTATIC
                if self.in_initialised
                    && contains(&self.own.static_fields, index)
                    && self.may_assign(index) =>
            {
                Effect::None
            }
            opcode::GETSTATIC | opcode::PUTSTATIC => Effect::Leaves,
            opcode::GETFIELD if contains(&self.own.instance_fields, index) && is_this(before[0]) => {
                Effect::None
            }
            opcode::PUTFIELD
                if contains(&self.own.instance_fields, index)
                    && self.may_assign(index)
                    && is_this(before[1])
                    && pushes(before[0]) =>
            {
                Effect::None
            }
            opcode::GETFIELD | opcode::PUTFIELD => Effect::Throws,
            // Constants that must be resolved.
            _ if may_throw(instruction, &self.class.pool) => Effect::Leaves,
            _ => Effect::None,
        }
    }
}

/// Whether an instruction only pushes one value.
fn pushes(op: Opcode) -> bool {
    matches!(op, opcode::ACONST_NULL..=opcode::ALOAD_3)
}
