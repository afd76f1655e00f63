//! The helpers: static methods that the rewriter adds to `java/lang/Object`. Inserted code in every
//! class calls them, and they forward to the runtime.

use cct_classfile::NameAndType;

use crate::Mode;
use crate::runtime_method::RuntimeMethod;

/// The runtime's class for everything without a class of its own.
pub const RUNTIME: &[u8] = b"java/lang/CctRuntime";

/// The runtime's class for helpers that take a call site's context, if call sites are kept
/// separate.
pub const SITES_RUNTIME: &[u8] = b"java/lang/CctSites";

/// The runtime's class for counts of objects.
pub const ALLOCATIONS_RUNTIME: &[u8] = b"java/lang/CctAllocations";

/// The runtime's class for columns.
pub const COLUMNS_RUNTIME: &[u8] = b"java/lang/CctColumns";

/// The runtime's class for events.
pub const TRACE_RUNTIME: &[u8] = b"java/lang/CctTrace";

/// The runtime's class for helpers that take contexts, if values represent contexts.
pub const VALUES_RUNTIME: &[u8] = b"java/lang/CctPcc";

/// The runtime's class for markers.
pub const MARKERS_RUNTIME: &[u8] = b"java/lang/CctMarkers";

/// Number of `nop` instructions at the start of a helper. With the call after them it exceeds the
/// 35 bytes that HotSpot's first compiler inlines.
pub const PADDING: usize = 35;

/// The modes in which a helper exists, and the class of the runtime to which it forwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Always, to [`RUNTIME`].
    Common,
    /// Always, to [`RUNTIME`], or to [`VALUES_RUNTIME`].
    Contexts,
    /// Always, to [`RUNTIME`], or to [`SITES_RUNTIME`].
    Sites,
    /// Always, to [`RUNTIME`], to [`SITES_RUNTIME`], or to [`VALUES_RUNTIME`].
    ContextsAndSites,
    /// Always, to [`SITES_RUNTIME`]. No code calls it unless call sites are kept separate.
    Sharing,
    /// If objects are counted, but not in traces: to [`ALLOCATIONS_RUNTIME`].
    Objects,
    /// If there are columns: to [`COLUMNS_RUNTIME`].
    Columns,
    /// If objects are counted: to [`ALLOCATIONS_RUNTIME`], in traces to [`TRACE_RUNTIME`].
    MadeAnywhere,
    /// In traces: to [`TRACE_RUNTIME`].
    Traces,
    /// In traces with objects and monitors: to [`TRACE_RUNTIME`].
    TracedObjects,
    /// If values represent contexts: to [`VALUES_RUNTIME`].
    Values,
    /// If contexts are counted: to [`RUNTIME`].
    Counts,
}

macro_rules! helpers {
    ($($(#[$doc:meta])* $id:ident = $name:literal $descriptor:literal in $group:ident;)*) => {
        /// A helper.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Helper {
            $($(#[$doc])* $id,)*
        }

        const ROWS: &[(Helper, NameAndType<'_>, Group)] =
            &[$((Helper::$id, NameAndType::new($name, $descriptor), Group::$group)),*];
    };
}

helpers! {
    /// Enters a callee: turns slot, id and bytecodes of the entry into its node.
    Enter = b"cct$enter" b"(JJI)J" in Sites;
    /// Enters a callee as [`Helper::Enter`] does, and updates the activation counter.
    EnterAndTick = b"cct$enterAndTick" b"(JJII)J" in Sites;
    /// Enters a callee as [`Helper::EnterAndTick`] does, and tests the counter.
    EnterAndPoll = b"cct$enterAndPoll" b"(JJII)J" in Sites;
    /// Adds bytecodes to a node.
    Count = b"cct$count" b"(JI)V" in Common;
    /// Adds bytecodes to a node, and returns 0 for the local that held them.
    Drain = b"cct$drain" b"(JI)I" in Common;
    /// Updates the activation counter, in handlers and subroutines.
    Tick = b"cct$tick" b"(JI)V" in Common;
    /// Updates and tests the activation counter at a loop head, and counts the block there.
    Loop = b"cct$loop" b"(JII)V" in Common;
    /// Gives the current thread the context for the next callee.
    Store = b"cct$store" b"(J)V" in ContextsAndSites;
    /// Counts a callee that calls nothing, on its behalf.
    Leaf = b"cct$leaf" b"(JJI)V" in Sites;
    /// Counts a callee that may call back, on its behalf, and stores its context.
    Call = b"cct$call" b"(JJI)V" in Sites;
    /// The current thread.
    Thread = b"cct$thread" b"()Ljava/lang/Object;" in Common;
    /// The context that a thread carries.
    Context = b"cct$context" b"(Ljava/lang/Object;)J" in Contexts;
    /// Before a virtual call of `hashCode`: counts `Object.hashCode` if it leads there, and stores
    /// the context.
    HashCode = b"cct$hashCode" b"(Ljava/lang/Object;JJ)V" in Sites;
    /// Before `MethodHandle.linkToStatic` and `linkToSpecial`: stores the context for a method
    /// handle's last step, and counts the method if it is a native.
    Link = b"cct$link" b"(Ljava/lang/Object;J)V" in ContextsAndSites;
    /// Before a `linkToVirtual` that may lead to `Object.hashCode`: does the work of
    /// [`Helper::Link`].
    LinkHashCode = b"cct$linkHashCode" b"(Ljava/lang/Object;Ljava/lang/Object;J)V" in Sites;
    /// Gives a thread back the context that it carried.
    Restore = b"cct$restore" b"(Ljava/lang/Object;J)V" in Common;
    /// The context under which the JVM called, which the thread may not carry.
    Replay = b"cct$replay" b"(Ljava/lang/Object;J)J" in Contexts;
    /// Gives a thread that the body keeps in a local the context for the next callee. In the
    /// wrapper of a native (B2N), before the native.
    Carry = b"cct$carry" b"(Ljava/lang/Object;J)V" in Contexts;
    /// The context of an extent: the root's if recording begins with it. Then the thread carries
    /// it.
    Begin = b"cct$begin" b"(Ljava/lang/Object;J)J" in Contexts;
    /// Switches recording on for all threads, at the first entry of the method of `--start-at`.
    StartAt = b"cct$startAt" b"()V" in Contexts;
    /// Switches recording on or off, as a program requests by `cctrewrite.api.Recording`.
    Record = b"cct$record" b"(Ljava/lang/Object;I)Z" in Contexts;
    /// Turns a slot that call sites share into that of one of them: it forgets a child of another
    /// site.
    Site = b"cct$site" b"(J)J" in Sharing;
    /// The root of a context's tree. With `--natives none`, before natives that may call back.
    RootOf = b"cct$rootOf" b"(J)J" in Common;
    /// Counts an object by its type.
    Object = b"cct$object" b"(JJ)V" in Objects;
    /// Counts the arrays of one level of an array of arrays.
    Arrays = b"cct$arrays" b"(Ljava/lang/Object;JJI)V" in Objects;
    /// Counts a copy by the type of its original.
    Copy = b"cct$copy" b"(Ljava/lang/Object;J)V" in MadeAnywhere;
    /// Counts the object that a native returned.
    Result = b"cct$result" b"(Ljava/lang/Object;J)V" in MadeAnywhere;
    /// Writes an event of one word.
    Event = b"cct$event" b"(JI)V" in Traces;
    /// Writes the start of a method, with the class of its receiver.
    Receiver = b"cct$receiver" b"(Ljava/lang/Object;JI)V" in Traces;
    /// Writes an event of two words.
    Wide = b"cct$wide" b"(JJ)V" in Traces;
    /// Writes an event of one word after an exception, with the progress of its block.
    Caught = b"cct$caught" b"(JII)V" in Traces;
    /// Writes an event of two words after an exception, with the progress of its block.
    CaughtWide = b"cct$caughtWide" b"(JIJ)V" in Traces;
    /// Writes the call of a callee that returns at once, by its id.
    LeafById = b"cct$leafById" b"(JJ)V" in Traces;
    /// Writes the call of `Object.hashCode` if a virtual call leads there.
    TraceHashCode = b"cct$traceHashCode" b"(Ljava/lang/Object;JIJ)V" in Traces;
    /// Writes the call of a method handle's last step.
    TraceLink = b"cct$traceLink" b"(Ljava/lang/Object;J)V" in Traces;
    /// Writes the call of a method handle's last step that may lead to `Object.hashCode`.
    TraceLinkHashCode = b"cct$traceLinkHashCode" b"(Ljava/lang/Object;Ljava/lang/Object;J)V" in Traces;
    /// Writes that the thread has entered or left an extent.
    Extent = b"cct$extent" b"(JI)V" in Traces;
    /// Writes the event of an array, with its length.
    Array = b"cct$array" b"(IJI)V" in TracedObjects;
    /// Writes the events of one level of an array of arrays.
    TraceArrays = b"cct$traceArrays" b"(Ljava/lang/Object;JI)V" in TracedObjects;
    /// Writes the event of a monitor that is locked or unlocked.
    Monitor = b"cct$monitor" b"(Ljava/lang/Object;JI)V" in TracedObjects;
    /// Counts the array of arrays that a native returned.
    ResultArrays = b"cct$resultArrays" b"(Ljava/lang/Object;Ljava/lang/Object;J)V" in MadeAnywhere;
    /// Records the value of a context at a method.
    At = b"cct$at" b"(JJ)V" in Values;
    /// Records the value of a context if a virtual call leads to `Object.hashCode`.
    AtHashCode = b"cct$atHashCode" b"(Ljava/lang/Object;JJ)V" in Values;
    /// The value of the current context.
    Value = b"cct$value" b"()J" in Values;
    /// The numbers of threads, as a program requests by `cctrewrite.api.Counts`.
    Counts = b"cct$counts" b"(Ljava/lang/Object;I)Ljava/lang/Object;" in Counts;
    /// The name of a method's id, for `cctrewrite.api.Counts`.
    Name = b"cct$name" b"(J)Ljava/lang/Object;" in Counts;
    /// Adds one to a column of a node.
    Column = b"cct$column" b"(JJ)V" in Columns;
}

impl Helper {
    /// Number of helpers.
    pub const COUNT: usize = ROWS.len();

    /// All helpers, in the order in which `java/lang/Object` gets them.
    pub fn all() -> impl Iterator<Item = Helper> {
        ROWS.iter().map(|row| row.0)
    }

    /// The name of the helper in `java/lang/Object`, and its descriptor. The runtime's method has
    /// the same name without `cct$`, and the same descriptor.
    pub fn name_and_type(self) -> NameAndType<'static> {
        ROWS[self as usize].1
    }

    /// The name of the helper in `java/lang/Object`.
    pub fn name(self) -> &'static [u8] {
        self.name_and_type().name
    }

    /// The method of the runtime to which the helper forwards; `None` if this mode has no such
    /// helper.
    pub fn target(self, mode: Mode) -> Option<RuntimeMethod> {
        let Mode { allocations, columns, call_sites, traces, values } = mode;
        let class = match ROWS[self as usize].2 {
            Group::Contexts | Group::ContextsAndSites if values => VALUES_RUNTIME,
            Group::Sites | Group::ContextsAndSites if call_sites => SITES_RUNTIME,
            Group::Common | Group::Contexts | Group::Sites | Group::ContextsAndSites => RUNTIME,
            Group::Sharing => SITES_RUNTIME,
            Group::MadeAnywhere if allocations && traces => TRACE_RUNTIME,
            Group::Objects | Group::MadeAnywhere if allocations && !traces => ALLOCATIONS_RUNTIME,
            Group::Columns if columns => COLUMNS_RUNTIME,
            Group::Traces if traces => TRACE_RUNTIME,
            Group::TracedObjects if traces && allocations => TRACE_RUNTIME,
            Group::Values if values => VALUES_RUNTIME,
            Group::Counts if !values && !traces => RUNTIME,
            _ => return None,
        };
        Some(runtime_method(class, self.name_and_type()))
    }
}

/// The runtime's method to which a helper of this name forwards.
pub fn runtime_method(class: &'static [u8], helper: NameAndType<'static>) -> RuntimeMethod {
    let name = helper.name.strip_prefix(crate::convention::PREFIX).unwrap_or(helper.name);
    RuntimeMethod::of(class, name, helper.descriptor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_helpers() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.0 as usize, place);
            assert!(row.1.name.starts_with(crate::convention::PREFIX));
        }
    }

    #[test]
    fn helpers_forward_to_the_class_of_their_mode() {
        let usual = Mode::default();
        let class = |helper: Helper, mode: Mode| helper.target(mode).map(|method| method.member.class);
        assert_eq!(class(Helper::Store, usual), Some(RUNTIME));
        assert_eq!(class(Helper::Store, Mode { call_sites: true, ..usual }), Some(SITES_RUNTIME));
        // Values have call sites, too.
        let values = Mode { call_sites: true, values: true, ..usual };
        assert_eq!(class(Helper::Store, values), Some(VALUES_RUNTIME));
        assert_eq!(class(Helper::Enter, values), Some(SITES_RUNTIME));
        assert_eq!(class(Helper::Copy, usual), None);
        let objects = Mode { allocations: true, ..usual };
        assert_eq!(class(Helper::Copy, objects), Some(ALLOCATIONS_RUNTIME));
        assert_eq!(class(Helper::Column, objects), None);
        assert_eq!(class(Helper::Column, Mode { columns: true, ..usual }), Some(COLUMNS_RUNTIME));
        let traced = Mode { traces: true, ..objects };
        assert_eq!((class(Helper::Copy, traced), class(Helper::Object, traced)), (Some(TRACE_RUNTIME), None));
        assert_eq!(Helper::Enter.target(usual).map(|method| method.member.name), Some(&b"enter"[..]));
    }
}
