//! Renamed natives (`--natives prefix`, docs/reference/natives.md), and the methods that replace
//! them.

use cct_classfile::{Member, MemberRef, access, opcode};
use cct_jdk::convention::{NATIVE_PREFIX, SLOTS_OFFSET};
use cct_jdk::helpers::Helper;
use cct_jdk::native_hooks::REPLACED;

use crate::class::Class;
use crate::faults::RuntimeFault;
use crate::finding::Problem;
use crate::forwarder::{Straight, Target};
use crate::op::{Callee, Kind, Op};

/// The replacement of a native.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenamedNative {
    /// Slots of its node; `None` if it has none, since it is not recorded.
    pub slots: Option<usize>,
}

impl<'c, 'a> Class<'c, 'a> {
    /// The replacement of a renamed native; `None` if this method is none.
    pub(crate) fn in_place_of_native(
        &mut self,
        original: &'c Member<'a>,
        rewritten: &'c Member<'a>,
        target: &Target<'a>,
        id: impl Fn(usize) -> i64,
    ) -> Option<RenamedNative> {
        if self.expectation.renames_natives == Some(false)
            || !original.is(access::NATIVE)
            || rewritten.access_flags != original.access_flags & !(access::NATIVE | access::SYNCHRONIZED)
        {
            return None;
        }
        let name = renamed(original.name);
        let is = |straight: Straight<'_>| straight.is(self.after, rewritten);
        let slots = if is(target.in_place(&name, Some((id(1), true)))) {
            Some(1)
        } else if is(target.in_place(&name, Some((id(0), false)))) {
            Some(0)
        } else if is(target.in_place(&name, None)) {
            None
        } else {
            return None;
        };
        self.recorded(slots.is_some());
        if self.native_hooks(original).iter().any(|way| !way.is_empty()) {
            self.find(Problem::Runtime(RuntimeFault::Missing));
        }
        Some(RenamedNative { slots })
    }

    /// The renamed natives that must exist: names, descriptors and flags.
    pub(crate) fn renamed_natives(&self) -> impl Iterator<Item = (Vec<u8>, &'a [u8], u16)> + use<'_, 'c, 'a> {
        let pairs = self.before.methods.iter().zip(&self.after.methods);
        let taken = pairs.filter(|(before, after)| {
            before.is(access::NATIVE)
                && !after.is(access::NATIVE)
                && self.expectation.renames_natives != Some(false)
                && !REPLACED.contains(&before.of_class(self.before.name()))
        });
        taken.map(|(before, _)| {
            let kept = before.access_flags & (access::STATIC | access::SYNCHRONIZED);
            let flags = kept | access::PRIVATE | access::NATIVE | access::SYNTHETIC;
            (renamed(before.name), before.descriptor, flags)
        })
    }
}

fn renamed(name: &[u8]) -> Vec<u8> {
    [NATIVE_PREFIX, name].concat()
}

impl<'a> Target<'a> {
    /// The code of a native's replacement. It counts the native with an id, if at all, and calls it
    /// by its new name. Callees appear below the native, unless it is a leaf.
    fn in_place<'s>(&'s self, name: &'s [u8], counted: Option<(i64, bool)>) -> Straight<'s> {
        let op = if self.is_static { opcode::INVOKESTATIC } else { opcode::INVOKESPECIAL };
        let callee = self.own_callee();
        let renamed = Callee { method: MemberRef { name, ..callee.method }, ..callee };
        let call = Op::Invoke(op, renamed, 0);
        let (thread, saved, node) = (self.slots, self.slots + 1, self.slots + 3);
        let mut ops = Vec::new();
        let mut start = None;
        match counted {
            None => {}
            Some((id, false)) => {
                ops.extend([Op::Helper(Helper::Thread), Op::Helper(Helper::Context)]);
                ops.extend([Op::Long(id), Op::Int(0), Op::Helper(Helper::Leaf)]);
            }
            Some((id, true)) => {
                ops.extend(crate::forwarder::read_thread(thread, saved));
                ops.extend([
                    Op::Load(Kind::Long, saved),
                    Op::Long(id),
                    Op::Int(0),
                    Op::Helper(Helper::Enter),
                ]);
                ops.push(Op::Store(Kind::Long, node));
                start = Some(ops.len());
                ops.extend([Op::Load(Kind::Reference, thread), Op::Load(Kind::Long, node)]);
                ops.extend([
                    Op::Int(SLOTS_OFFSET.into()),
                    Op::IntToLong,
                    Op::LongAdd,
                    Op::Helper(Helper::Carry),
                ]);
            }
        }
        ops.extend(self.arguments());
        ops.push(call);
        match start {
            None => self.plain(ops, cct_jdk::convention::NATIVE_FORWARDER_LINE),
            Some(start) => {
                let end = ops.len();
                let restore = crate::forwarder::restore(thread, saved);
                ops.extend(&restore);
                let ours = vec![(thread, true), (saved, false), (node, false)];
                self.restoring_to(ops, start, end, restore, ours)
            }
        }
    }
}
