//! Methods through which programs talk to the runtime. They are part of the program, and do nothing
//! until they are rewritten.

use cct_classfile::{MemberRef, NameAndType, access};

use crate::Mode;
use crate::helpers::Helper;

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

/// The class through which a program reads its counts.
const COUNTS: &[u8] = b"cctrewrite/api/Counts";

/// The methods through which a program queries the runtime. Each has the descriptor of the helper
/// that answers.
const QUERIES: &[(MemberRef<'_>, Helper)] = &[
    (MemberRef::new(b"cctrewrite/api/Pcc", b"current", b"()J"), Helper::Value),
    (MemberRef::new(COUNTS, b"read", b"(Ljava/lang/Object;I)Ljava/lang/Object;"), Helper::Counts),
    (MemberRef::new(COUNTS, b"name", b"(J)Ljava/lang/Object;"), Helper::Name),
];

/// The helper that answers a query of the program; `None` for other methods, and if this mode has
/// no such helper. Queries are static methods with a body.
pub fn query(method: MemberRef<'_>, flags: u16, mode: Mode) -> Option<Helper> {
    if flags & (access::STATIC | access::NATIVE | access::ABSTRACT) != access::STATIC {
        return None;
    }
    let (_, helper) = QUERIES.iter().find(|(query, _)| *query == method)?;
    helper.target(mode).map(|_| *helper)
}

/// Whether a class reads counts, so that its own methods are not counted.
pub fn reads_counts(class: &[u8]) -> bool {
    class.strip_prefix(COUNTS).is_some_and(|nested| nested.is_empty() || nested[0] == b'$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_have_the_descriptors_of_their_helpers() {
        for (query, helper) in QUERIES {
            assert_eq!(query.descriptor, helper.name_and_type().descriptor);
        }
    }

    #[test]
    fn classes_that_read_counts_are_not_counted() {
        assert!(reads_counts(COUNTS) && reads_counts(b"cctrewrite/api/Counts$Method"));
        assert!(!reads_counts(b"cctrewrite/api/CountsOfMine") && !reads_counts(RECORDING));
    }
}
