//! Methods through which programs talk to the runtime. They are part of the program, and do nothing
//! until they are rewritten.

use cct_classfile::{MemberRef, NameAndType};

/// The class through which a program switches recording.
const RECORDING: &[u8] = b"cctrewrite/api/Recording";

/// The methods of that class, and the number of each in the runtime (`Regions`).
const SWITCHES: &[(NameAndType<'_>, i16)] = &[
    (NameAndType::new(b"start", b"()V"), 0),
    (NameAndType::new(b"start", b"(Ljava/lang/String;)V"), 0),
    (NameAndType::new(b"stop", b"()V"), 1),
    (NameAndType::new(b"startAll", b"()V"), 2),
    (NameAndType::new(b"startAll", b"(Ljava/lang/String;)V"), 2),
    (NameAndType::new(b"stopAll", b"()V"), 3),
    (NameAndType::new(b"active", b"()Z"), 4),
];

/// The number of a method's request if the method switches the recording; `None` for others.
pub fn switch(method: MemberRef<'_>) -> Option<i16> {
    if method.class != RECORDING {
        return None;
    }
    SWITCHES.iter().find(|(switch, _)| *switch == method.name_and_type()).map(|(_, what)| *what)
}

/// The method through which a program queries the value of its context.
pub const QUESTION: MemberRef<'_> = MemberRef::new(b"cctrewrite/api/Pcc", b"current", b"()J");
