//! Calls of the runtime from inserted code: static methods of a class, or, if the program is also
//! counted, helpers of `java.lang.Object`. Every loader knows these helpers, and they keep the work
//! of clients out of the tree (docs/research/markers.md, *With a calling-context tree*).

use cct_classfile::constant_pool::{Index, tag};
use cct_classfile::edit::ClassEdit;
use cct_classfile::{NameAndType, Result};

/// The way in which a region is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Normal,
    Thrown,
    /// With the current object.
    With,
    /// With the object that is returned.
    Result,
    /// With the boolean that is returned.
    Answer,
}

/// A call from inserted code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// Whether the class may register.
    IsReady,
    /// The bits of a word of guards that are on.
    Bits,
    /// The class has registered.
    Settled,
    /// The class could not register.
    Abandoned,
    /// The table of an interface.
    TableOf,
    /// Whether a marker of an interface has a client.
    IsOn,
    /// A thread reaches a marker: whether it is a region, and whether it passes arguments.
    At { pair: bool, has_arguments: bool },
    /// A thread leaves a region.
    Exit(Exit),
    /// Helpers only: adds a text of the class's attribute.
    Row,
    /// Helpers only: registers the class with these texts.
    Register,
    /// Helpers only: creates an array for arguments.
    Array,
    /// Helpers only: stores an argument in the array, of the primitive type with this letter, or an
    /// object.
    Put(Option<u8>),
}

/// The route from code to the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// A class of this name.
    Class(&'static [u8]),
    /// Helpers that are inherited from `java.lang.Object`, named by this class constant.
    Helpers(Index),
}

impl Gate {
    /// The constant for a call.
    pub(crate) fn method(self, edit: &mut ClassEdit<'_, '_>, call: Call) -> Result<Index> {
        match self {
            Gate::Class(name) => {
                let class = edit.additions.class_named(name)?;
                edit.additions.member_of(tag::METHODREF, class, call.of_class())
            }
            Gate::Helpers(owner) => edit.additions.member_of(tag::METHODREF, owner, call.of_helpers()),
        }
    }
}

impl Call {
    fn of_class(self) -> NameAndType<'static> {
        let (name, descriptor): (&[u8], &[u8]) = match self {
            Call::IsReady => (b"isReady", b"()Z"),
            Call::Bits => (b"bits", b"(Ljava/lang/Object;I)I"),
            Call::Settled => (b"settled", b"(Ljava/lang/Object;)V"),
            Call::Abandoned => (b"abandoned", b"()V"),
            Call::TableOf => (b"tableOf", b"(Ljava/lang/Class;)Ljava/lang/Object;"),
            Call::IsOn => (b"isOn", b"(Ljava/lang/Object;I)Z"),
            Call::At { pair: true, has_arguments: false } => {
                (b"enter", b"(Ljava/lang/Object;ILjava/lang/Object;)Ljava/lang/Object;")
            }
            Call::At { pair: true, has_arguments: true } => {
                (b"enter", b"(Ljava/lang/Object;ILjava/lang/Object;[Ljava/lang/Object;)Ljava/lang/Object;")
            }
            Call::At { pair: false, has_arguments: false } => {
                (b"at", b"(Ljava/lang/Object;ILjava/lang/Object;)V")
            }
            Call::At { pair: false, has_arguments: true } => {
                (b"at", b"(Ljava/lang/Object;ILjava/lang/Object;[Ljava/lang/Object;)V")
            }
            Call::Exit(Exit::Normal) => (b"exit", b"(Ljava/lang/Object;)V"),
            Call::Exit(Exit::With) => (b"exit", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Call::Exit(Exit::Thrown) => (b"thrown", b"(Ljava/lang/Object;)V"),
            Call::Exit(Exit::Result) => (b"returned", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Call::Exit(Exit::Answer) => (b"answered", b"(Ljava/lang/Object;Z)V"),
            // Code that calls a class does these in other ways.
            Call::Register | Call::Row | Call::Array | Call::Put(_) => (b"", b""),
        };
        NameAndType::new(name, descriptor)
    }

    fn of_helpers(self) -> NameAndType<'static> {
        let (name, descriptor): (&[u8], &[u8]) = match self {
            Call::IsReady => (b"cct$markerReady", b"()Z"),
            Call::Bits => (b"cct$markerBits", b"(Ljava/lang/Object;I)I"),
            Call::Settled => (b"cct$markerSettled", b"(Ljava/lang/Object;)V"),
            Call::Abandoned => (b"cct$markerAbandoned", b"()V"),
            Call::TableOf => (b"cct$markerTable", b"(Ljava/lang/Object;)Ljava/lang/Object;"),
            Call::IsOn => (b"cct$markerIsOn", b"(Ljava/lang/Object;I)Z"),
            Call::At { pair: true, .. } => (
                b"cct$markerEnter",
                b"(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/Object;J)Ljava/lang/Object;",
            ),
            Call::At { pair: false, .. } => {
                (b"cct$markerAt", b"(Ljava/lang/Object;ILjava/lang/Object;Ljava/lang/Object;J)V")
            }
            Call::Exit(Exit::Normal) => (b"cct$markerExit", b"(Ljava/lang/Object;)V"),
            Call::Exit(Exit::With) => (b"cct$markerMade", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Call::Exit(Exit::Thrown) => (b"cct$markerThrown", b"(Ljava/lang/Object;)V"),
            Call::Exit(Exit::Result) => (b"cct$markerReturned", b"(Ljava/lang/Object;Ljava/lang/Object;)V"),
            Call::Exit(Exit::Answer) => (b"cct$markerAnswered", b"(Ljava/lang/Object;Z)V"),
            Call::Row => (b"cct$markerRow", b"(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"),
            Call::Register => {
                (b"cct$markerRegister", b"(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;")
            }
            Call::Array => (b"cct$markerArray", b"(I)Ljava/lang/Object;"),
            Call::Put(of) => (
                b"cct$markerPut",
                match of {
                    None => b"(Ljava/lang/Object;ILjava/lang/Object;)V",
                    Some(b'Z') => b"(Ljava/lang/Object;IZ)V",
                    Some(b'B') => b"(Ljava/lang/Object;IB)V",
                    Some(b'C') => b"(Ljava/lang/Object;IC)V",
                    Some(b'S') => b"(Ljava/lang/Object;IS)V",
                    Some(b'I') => b"(Ljava/lang/Object;II)V",
                    Some(b'J') => b"(Ljava/lang/Object;IJ)V",
                    Some(b'F') => b"(Ljava/lang/Object;IF)V",
                    Some(_) => b"(Ljava/lang/Object;ID)V",
                },
            ),
        };
        NameAndType::new(name, descriptor)
    }
}

/// The helpers of `java.lang.Object`. The runtime's methods have the same names without `cct$`, in
/// `java.lang.CctMarkers`.
pub fn helpers() -> Vec<NameAndType<'static>> {
    let simple = [
        Call::IsReady,
        Call::Bits,
        Call::Settled,
        Call::Abandoned,
        Call::TableOf,
        Call::IsOn,
        Call::At { pair: true, has_arguments: true },
        Call::At { pair: false, has_arguments: true },
        Call::Exit(Exit::Normal),
        Call::Exit(Exit::With),
        Call::Exit(Exit::Thrown),
        Call::Exit(Exit::Result),
        Call::Exit(Exit::Answer),
        Call::Row,
        Call::Register,
        Call::Array,
    ];
    let puts = b"ZBCSIJFD".iter().map(|&base| Call::Put(Some(base)));
    simple.into_iter().chain([Call::Put(None)]).chain(puts).map(Call::of_helpers).collect()
}
