//! The context carrier: how a body gets its node and passes contexts to its callees. Passes ask it
//! for code and know nothing else of it.
//!
//! The node arrives as a parameter or from the thread and stays in a local variable. Callees get
//! the address of a call-site slot: as an argument if they can take one (JP, CCCP), in the thread
//! otherwise. Where the thread carries all contexts (JP2), no callee takes an argument, and bodies
//! keep the thread that they have read on entry.

use cct_classfile::constant_pool::tag;
use cct_classfile::edit::asm::Kind;
use cct_classfile::edit::{Asm, ClassEdit};
use cct_classfile::{Bci, Index, MemberConstant, Result, opcode};
use cct_events::Event;
use cct_flow::UpdatePoint;
use cct_index::mid::{MAX_SLOTS, Mid};
use cct_jdk::convention::with_extension;
use cct_jdk::convention::{self, SLOTS_OFFSET};
use cct_jdk::helpers::Helper;
use cct_jdk::method_handles;
use cct_jdk::runtime_method::RuntimeMethod;

/// Constants of one class for inserted code, added on demand.
#[derive(Debug)]
pub struct Constants {
    object: Option<Index>,
    throwable: Option<Index>,
    helpers: [Option<Index>; Helper::COUNT],
    /// Extended descriptors and references to extended forms, by the index of the original; 0 if
    /// not added yet.
    extended: Vec<Index>,
}

impl Default for Constants {
    fn default() -> Self {
        Constants { object: None, throwable: None, helpers: [None; Helper::COUNT], extended: Vec::new() }
    }
}

impl Constants {
    /// `CONSTANT_Class` of `java/lang/Object`.
    pub fn object(&mut self, edit: &mut ClassEdit<'_, '_>) -> Result<Index> {
        cached(&mut self.object, || {
            let class = edit.class();
            // The superclass's constant will do, if that is Object: one constant fewer.
            if class.super_name() == Some(convention::OBJECT) {
                return Ok(class.super_class);
            }
            edit.additions.class_named(convention::OBJECT)
        })
    }

    /// `CONSTANT_Class` of `java/lang/Throwable`, which only frames name.
    pub fn throwable(&mut self, edit: &mut ClassEdit<'_, '_>) -> Result<Index> {
        cached(&mut self.throwable, || edit.additions.class_named(b"java/lang/Throwable"))
    }

    /// `CONSTANT_Class` of the superclass, through which the class calls helpers: it inherits them
    /// from `Object`. Naming a class makes the JVM ask the loader for it. The loader may never have
    /// been asked for `Object`, but it supplied the superclass when the class was defined.
    pub fn helpers_owner(&mut self, edit: &mut ClassEdit<'_, '_>) -> Result<Index> {
        let class = edit.class();
        match class.super_name() {
            Some(_) if !method_handles::is_generated_accessor(class.name()) => Ok(class.super_class),
            _ => self.object(edit),
        }
    }

    /// `CONSTANT_Methodref` of a helper.
    pub fn helper(&mut self, helper: Helper, edit: &mut ClassEdit<'_, '_>) -> Result<Index> {
        if let Some(known) = self.helpers[helper as usize] {
            return Ok(known);
        }
        let owner = self.helpers_owner(edit)?;
        let index = edit.additions.member_of(tag::METHODREF, owner, helper.name_and_type())?;
        self.helpers[helper as usize] = Some(index);
        Ok(index)
    }

    /// The extended form of the descriptor at this index of the class's constant pool.
    pub fn extended_descriptor(&mut self, of: Index, edit: &mut ClassEdit<'_, '_>) -> Result<Index> {
        self.extended_once(of, edit, |_, edit| {
            let longer = with_extension(edit.class().pool.utf8(of)?);
            edit.additions.utf8(&longer)
        })
    }

    /// The reference to the extended form of the method that the class's reference `of` names.
    pub fn extended_reference(&mut self, of: Index, edit: &mut ClassEdit<'_, '_>) -> Result<Index> {
        self.extended_once(of, edit, |this, edit| {
            let MemberConstant { tag, class_index, name_index, descriptor_index, .. } =
                edit.class().pool.member_constant(of)?;
            let descriptor = this.extended_descriptor(descriptor_index, edit)?;
            edit.additions.member_ref(tag, class_index, name_index, descriptor)
        })
    }

    fn extended_once<'c, 'a>(
        &mut self,
        of: Index,
        edit: &mut ClassEdit<'c, 'a>,
        make: impl FnOnce(&mut Self, &mut ClassEdit<'c, 'a>) -> Result<Index>,
    ) -> Result<Index> {
        let place = usize::from(of);
        if let Some(&known) = self.extended.get(place).filter(|known| **known != 0) {
            return Ok(known);
        }
        let index = make(self, edit)?;
        if self.extended.is_empty() {
            self.extended.resize(usize::from(edit.class().pool.count()), 0);
        }
        if let Some(known) = self.extended.get_mut(place) {
            *known = index;
        }
        Ok(index)
    }

    /// `CONSTANT_Methodref` of a method of the runtime; for classes of the boot class path only.
    pub fn runtime_method(&mut self, method: RuntimeMethod, edit: &mut ClassEdit<'_, '_>) -> Result<Index> {
        let class = edit.additions.class_named(method.member.class)?;
        edit.additions.member_of(tag::METHODREF, class, method.member.name_and_type())
    }
}

fn cached(slot: &mut Option<Index>, make: impl FnOnce() -> Result<Index>) -> Result<Index> {
    match *slot {
        Some(index) => Ok(index),
        None => Ok(*slot.insert(make()?)),
    }
}

/// Writes the code that handles contexts, for one class.
#[derive(Debug)]
pub struct Emitter<'e, 'c, 'a> {
    /// The class being edited.
    pub edit: &'e mut ClassEdit<'c, 'a>,
    /// The constants of the class.
    pub constants: &'e mut Constants,
}

impl Emitter<'_, '_, '_> {
    /// `invokestatic` of a helper.
    pub fn helper(&mut self, asm: &mut Asm, helper: Helper) -> Result<()> {
        let index = self.constants.helper(helper, self.edit)?;
        asm.indexed(opcode::INVOKESTATIC, index);
        Ok(())
    }

    /// `invokestatic` of a runtime method.
    pub fn runtime(&mut self, asm: &mut Asm, method: RuntimeMethod) -> Result<()> {
        let index = self.constants.runtime_method(method, self.edit)?;
        asm.indexed(opcode::INVOKESTATIC, index);
        Ok(())
    }

    /// Pushes an `int` that is a count or a position.
    pub fn int(&mut self, asm: &mut Asm, value: u32) -> Result<()> {
        self.signed(asm, value as i32)
    }

    /// Pushes an `int`.
    pub fn signed(&mut self, asm: &mut Asm, value: i32) -> Result<()> {
        match i16::try_from(value) {
            Ok(small) => asm.int(small),
            Err(_) => asm.ldc(self.edit.additions.integer(value)?),
        };
        Ok(())
    }

    /// Pushes a MID.
    pub fn mid(&mut self, asm: &mut Asm, mid: Mid) -> Result<()> {
        self.long(asm, mid.0)
    }

    /// Pushes a `long`.
    pub fn long(&mut self, asm: &mut Asm, value: u64) -> Result<()> {
        asm.indexed(opcode::LDC2_W, self.edit.additions.long(value as i64)?);
        Ok(())
    }

    /// Pushes the first word of an event.
    pub fn word(&mut self, asm: &mut Asm, event: Event) -> Result<()> {
        asm.ldc(self.edit.additions.integer(event.words()[0] as i32)?);
        Ok(())
    }

    /// Writes an event of the thread whose record is in local `record`. In a handler, local
    /// `partial` says how far the running block came.
    pub fn event(&mut self, asm: &mut Asm, record: u16, partial: Option<u16>, event: Event) -> Result<()> {
        let words = event.words();
        asm.load(Kind::Long, record);
        if let Some(local) = partial {
            asm.load(Kind::Int, local);
        }
        match *words {
            [_] => self.word(asm, event)?,
            _ => {
                // Both words in one store: a reader must never see one without the other.
                let both = u64::from(words[1]) << 32 | u64::from(words[0]);
                asm.indexed(opcode::LDC2_W, self.edit.additions.long(both as i64)?);
            }
        }
        self.helper(
            asm,
            match (partial, words.len()) {
                (None, 1) => Helper::Event,
                (None, _) => Helper::Wide,
                (Some(_), 1) => Helper::Caught,
                (Some(_), _) => Helper::CaughtWide,
            },
        )
    }

    /// Enters the callee: reads the slot from local `slot`, stores the node in local `node`, and
    /// counts the call with its bytecodes. `activation` is the update of the activation counter on
    /// entry, if there are such counters.
    pub fn enter(
        &mut self,
        asm: &mut Asm,
        slot: u16,
        node: u16,
        mid: Mid,
        count: u32,
        activation: Option<&UpdatePoint>,
    ) -> Result<()> {
        asm.load(Kind::Long, slot);
        self.mid(asm, mid)?;
        let helper = match activation {
            None => Helper::Enter,
            Some(UpdatePoint { decrement: 0, test: false, .. }) => Helper::Enter,
            Some(update) => {
                self.int(asm, update.decrement)?;
                if update.test { Helper::EnterAndPoll } else { Helper::EnterAndTick }
            }
        };
        self.int(asm, count)?;
        self.helper(asm, helper)?;
        asm.store(Kind::Long, node);
        Ok(())
    }

    /// Pushes the context for the callee of the call at `bci`. `site` is the position of this call
    /// among the call sites of the body.
    pub fn push_context(
        &mut self,
        asm: &mut Asm,
        context: Context,
        sites: Sites,
        site: usize,
        bci: Bci,
    ) -> Result<()> {
        asm.load(Kind::Long, context.local());
        let offset = sites.offset(site);
        match (context, sites) {
            (Context::PassedThrough(_), _) => {}
            (Context::Node(_), Sites::Merged(_)) => push_offset(asm, offset),
            (Context::Node(_), Sites::Apart(_)) => {
                let place = (u64::from(bci) + 1) << convention::SITE_SHIFT | u64::from(offset);
                asm.indexed(opcode::LDC2_W, self.edit.additions.long(place as i64)?).op(opcode::LADD);
                if sites.are_shared() {
                    self.helper(asm, Helper::Site)?;
                }
            }
        }
        Ok(())
    }

    /// Pushes the slot that a site has in the body's node, without naming the site.
    pub fn push_slot(&mut self, asm: &mut Asm, context: Context, sites: Sites, site: usize) {
        asm.load(Kind::Long, context.local());
        push_offset(asm, sites.offset(site));
    }

    /// Pushes what the helper needs below the context on the stack. Returns the helper that takes
    /// both and gives the current thread the context for the next callee. A body that keeps its
    /// `thread` in a local need not ask for it again.
    pub fn push_thread(asm: &mut Asm, thread: Option<u16>) -> Helper {
        match thread {
            Some(thread) => {
                asm.load(Kind::Reference, thread);
                Helper::Carry
            }
            None => Helper::Store,
        }
    }

    /// Reads the current thread into local `thread` and its context into local `context`.
    pub fn read_thread(&mut self, asm: &mut Asm, thread: u16, context: u16) -> Result<()> {
        self.helper(asm, Helper::Thread)?;
        asm.store(Kind::Reference, thread);
        asm.load(Kind::Reference, thread);
        self.helper(asm, Helper::Context)?;
        asm.store(Kind::Long, context);
        Ok(())
    }

    /// Stores the context under which the VM called into local `slot`, whatever context the thread
    /// carries in local `context`.
    pub fn replay(&mut self, asm: &mut Asm, thread: u16, context: u16, slot: u16) -> Result<()> {
        asm.load(Kind::Reference, thread).load(Kind::Long, context);
        self.helper(asm, Helper::Replay)?;
        asm.store(Kind::Long, slot);
        Ok(())
    }

    /// Copies the context in local `from` into local `slot`. If it says that recording begins with
    /// an extent, local `slot` gets the root's context, since this method is one.
    pub fn begin(&mut self, asm: &mut Asm, thread: u16, from: u16, slot: u16) -> Result<()> {
        asm.load(Kind::Reference, thread).load(Kind::Long, from);
        self.helper(asm, Helper::Begin)?;
        asm.store(Kind::Long, slot);
        Ok(())
    }

    /// Gives the thread in local `thread` back the context in local `context`.
    pub fn restore_thread(&mut self, asm: &mut Asm, thread: u16, context: u16) -> Result<()> {
        asm.load(Kind::Reference, thread).load(Kind::Long, context);
        self.helper(asm, Helper::Restore)
    }
}

/// The context that a body passes to its callees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// The body's own node, in this local.
    Node(u16),
    /// The slot that the body got from its caller, in this local. The body is not recorded and
    /// passes the slot on.
    PassedThrough(u16),
}

impl Context {
    /// The local that holds the context.
    pub fn local(self) -> u16 {
        match self {
            Context::Node(local) | Context::PassedThrough(local) => local,
        }
    }
}

/// Adds the offset of a node's first slot to the node on the stack.
pub fn push_first_slot_offset(asm: &mut Asm) {
    push_offset(asm, SLOTS_OFFSET);
}

fn push_offset(asm: &mut Asm, offset: u16) {
    // At most 40 + 63 * 8: fits.
    asm.int(offset as i16).op(opcode::I2L).op(opcode::LADD);
}

/// The way in which the call sites of a body share the slots of its nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sites {
    /// Slots are caches of callees. This many call sites share them round-robin (site %
    /// `MAX_SLOTS`).
    Merged(usize),
    /// Each slot serves one site. The first slot is reserved for calls that the VM makes within
    /// other bytecodes. Where there are more sites than slots, the slot forgets another site's
    /// child when a context is added.
    Apart(usize),
}

impl Sites {
    /// Number of a node's slots.
    pub fn slots(self) -> u8 {
        let wanted = match self {
            Sites::Merged(sites) => sites,
            Sites::Apart(sites) => sites + 1,
        };
        wanted.min(usize::from(MAX_SLOTS)) as u8
    }

    /// The offset of a site's slot in a node.
    fn offset(self, site: usize) -> u16 {
        let most = usize::from(MAX_SLOTS);
        let slot = match self {
            Sites::Merged(_) => site % most,
            Sites::Apart(_) => 1 + site % (most - 1),
        };
        SLOTS_OFFSET + 8 * slot as u16
    }

    fn are_shared(self) -> bool {
        matches!(self, Sites::Apart(sites) if sites >= usize::from(MAX_SLOTS))
    }
}
