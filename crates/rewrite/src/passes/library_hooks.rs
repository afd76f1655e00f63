//! Hooks: calls of the runtime in single methods of the class library ([`crate::hooks`]).

use cct_classfile::descriptor::MethodDescriptor;
use cct_classfile::edit::Asm;
use cct_classfile::edit::asm::Kind;
use cct_classfile::{Result, opcode};
use cct_jdk::body_hooks::{BodyHook, Place};

use crate::hooks;
use crate::pass::{BodyWriter, Level, MethodContext, MethodPass, Pass};

/// The pass that inserts hooks.
pub struct LibraryHooks;

impl Pass for LibraryHooks {
    fn plan<'m>(
        &self,
        method: &'m MethodContext<'m, '_>,
        _level: &Level,
    ) -> Result<Option<Box<dyn MethodPass + 'm>>> {
        let MethodContext { class, member, settings, .. } = *method;
        let hooks: Vec<_> = hooks::body_hooks(member.of_class(class.name()), settings).collect();
        Ok((!hooks.is_empty()).then(|| Box::new(MethodHooks(hooks)) as _))
    }
}

/// The hooks of one method.
struct MethodHooks(Vec<&'static BodyHook>);

impl MethodPass for MethodHooks {
    fn prologue(&self, body: &mut BodyWriter<'_, '_, '_>, prologue: &mut Asm) -> Result<()> {
        self.0.iter().try_for_each(|hook| insert(body, prologue, hook))
    }
}

fn insert(body: &mut BodyWriter<'_, '_, '_>, prologue: &mut Asm, hook: &BodyHook) -> Result<()> {
    let mut call = Asm::new();
    push_arguments(body, &mut call, hook.place);
    body.emitter.runtime(&mut call, hook.call)?;
    match hook.place {
        Place::Entry | Place::EntryWith(_) => prologue.bytes.extend_from_slice(&call.bytes),
        Place::Argument(local) => {
            if let Some(kind) = Kind::of(MethodDescriptor::parse(hook.call.member.descriptor)?.result) {
                call.store(kind, local);
            }
            prologue.bytes.extend_from_slice(&call.bytes);
        }
        Place::Return | Place::ReturnWithThis => body.before_returns(&call),
        Place::Read(field) => after_reads(body, &call, field)?,
    }
    Ok(())
}

fn push_arguments(body: &mut BodyWriter<'_, '_, '_>, call: &mut Asm, place: Place) {
    match place {
        Place::Entry | Place::Return => {}
        Place::EntryWith(local) => {
            call.load(Kind::Reference, local);
        }
        Place::ReturnWithThis | Place::Read(_) => {
            call.load(Kind::Reference, 0);
        }
        Place::Argument(_) => {
            call.load(Kind::Reference, 0);
            let mut local = 1;
            for t in body.method.signature.descriptor.arguments() {
                if let Some(kind) = Kind::of(t) {
                    call.load(kind, local);
                }
                local += t.slots();
            }
            body.edit.need_stack(local);
        }
    }
}

/// Inserts the call after each read of this field of the class itself.
fn after_reads(body: &mut BodyWriter<'_, '_, '_>, call: &Asm, field: &[u8]) -> Result<()> {
    let class = body.method.class;
    for read in body.method.code.instructions().filter(|i| i.opcode == opcode::GETFIELD) {
        let Some(index) = read.pool_index() else { continue };
        let read_field = class.pool.member_ref(index)?;
        if read_field.class == class.name() && read_field.name == field {
            body.edit.after(&read, call);
        }
    }
    Ok(())
}
