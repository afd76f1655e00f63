//! Intrinsics with a Java body: methods that HotSpot may replace with its own code
//! (`vmIntrinsics`), and the treatments that the user can choose for them
//! (docs/internals/treatments.md, *Intrinsics*).
//!
//! From JDK 9 on, such methods are annotated. In JDK 8 the VM has a list (`VM_INTRINSICS_DO` in
//! `vmSymbols.hpp`), of which [`TABLE`] has the methods that are not native. Methods that compilers
//! only recognise as part of a pattern, and those whose body they do not replace, count as ordinary
//! in both ([`is_ordinary`]).

use cct_classfile::{ClassFile, Member, MemberName, MemberRef, access};

/// Annotations of methods that HotSpot may replace (9 to 15; 16 and later).
const CANDIDATE: &[&[u8]] =
    &[b"Ljdk/internal/HotSpotIntrinsicCandidate;", b"Ljdk/internal/vm/annotation/IntrinsicCandidate;"];

/// The last version of class files that have no such annotation: that of JDK 8.
const LAST_VERSION_WITHOUT_ANNOTATION: u16 = 52;

/// Name and descriptor of the methods of one class.
type Methods = &'static [(&'static str, &'static str)];

/// Intrinsics of JDK 8 with a Java body: class and methods. The list is that of 8u504. Older
/// updates have some of the cryptographic ones under other names; those stay ordinary methods
/// there.
const TABLE: &[(&[u8], Methods)] = &[
    (
        b"com/sun/crypto/provider/AESCrypt",
        &[("implDecryptBlock", "([BI[BI)V"), ("implEncryptBlock", "([BI[BI)V")],
    ),
    (
        b"com/sun/crypto/provider/CipherBlockChaining",
        &[("implDecrypt", "([BII[BI)I"), ("implEncrypt", "([BII[BI)I")],
    ),
    (b"com/sun/crypto/provider/GHASH", &[("processBlocks", "([BII[J[J)V")]),
    (b"java/lang/Character", &[("reverseBytes", "(C)C")]),
    (b"java/lang/Double", &[("doubleToLongBits", "(D)J")]),
    (b"java/lang/Float", &[("floatToIntBits", "(F)I")]),
    (
        b"java/lang/Integer",
        &[
            ("bitCount", "(I)I"),
            ("numberOfLeadingZeros", "(I)I"),
            ("numberOfTrailingZeros", "(I)I"),
            ("reverseBytes", "(I)I"),
        ],
    ),
    (
        b"java/lang/Long",
        &[
            ("bitCount", "(J)I"),
            ("numberOfLeadingZeros", "(J)I"),
            ("numberOfTrailingZeros", "(J)I"),
            ("reverseBytes", "(J)J"),
        ],
    ),
    (
        b"java/lang/Math",
        &[
            ("abs", "(D)D"),
            ("addExact", "(II)I"),
            ("addExact", "(JJ)J"),
            ("atan2", "(DD)D"),
            ("cos", "(D)D"),
            ("decrementExact", "(I)I"),
            ("decrementExact", "(J)J"),
            ("exp", "(D)D"),
            ("incrementExact", "(I)I"),
            ("incrementExact", "(J)J"),
            ("log", "(D)D"),
            ("log10", "(D)D"),
            ("max", "(II)I"),
            ("min", "(II)I"),
            ("multiplyExact", "(II)I"),
            ("multiplyExact", "(JJ)J"),
            ("negateExact", "(I)I"),
            ("negateExact", "(J)J"),
            ("pow", "(DD)D"),
            ("sin", "(D)D"),
            ("sqrt", "(D)D"),
            ("subtractExact", "(II)I"),
            ("subtractExact", "(JJ)J"),
            ("tan", "(D)D"),
        ],
    ),
    (b"java/lang/Short", &[("reverseBytes", "(S)S")]),
    (
        b"java/lang/String",
        &[
            ("compareTo", "(Ljava/lang/String;)I"),
            ("equals", "(Ljava/lang/Object;)Z"),
            ("indexOf", "(Ljava/lang/String;)I"),
        ],
    ),
    (b"java/lang/invoke/MethodHandleImpl", &[("profileBoolean", "(Z[I)Z")]),
    (
        b"java/math/BigInteger",
        &[
            ("implMontgomeryMultiply", "([I[I[IIJ[I)[I"),
            ("implMontgomerySquare", "([I[IIJ[I)[I"),
            ("implMulAdd", "([I[IIII)I"),
            ("implSquareToLen", "([II[II)[I"),
            ("multiplyToLen", "([II[II[I)[I"),
        ],
    ),
    (b"java/nio/Buffer", &[("checkIndex", "(I)I")]),
    (
        b"java/util/Arrays",
        &[
            ("copyOf", "([Ljava/lang/Object;ILjava/lang/Class;)[Ljava/lang/Object;"),
            ("copyOfRange", "([Ljava/lang/Object;IILjava/lang/Class;)[Ljava/lang/Object;"),
            ("equals", "([C[C)Z"),
        ],
    ),
    (
        b"sun/misc/Unsafe",
        &[
            ("getAndAddInt", "(Ljava/lang/Object;JI)I"),
            ("getAndAddLong", "(Ljava/lang/Object;JJ)J"),
            ("getAndSetInt", "(Ljava/lang/Object;JI)I"),
            ("getAndSetLong", "(Ljava/lang/Object;JJ)J"),
            ("getAndSetObject", "(Ljava/lang/Object;JLjava/lang/Object;)Ljava/lang/Object;"),
        ],
    ),
    (b"sun/nio/cs/ISO_8859_1$Encoder", &[("encodeISOArray", "([CI[BII)I")]),
    (b"sun/security/provider/DigestBase", &[("implCompressMultiBlock0", "([BII)I")]),
    (b"sun/security/provider/SHA", &[("implCompress0", "([BI)V")]),
    (b"sun/security/provider/SHA2", &[("implCompress0", "([BI)V")]),
    (b"sun/security/provider/SHA5", &[("implCompress0", "([BI)V")]),
];

/// Whether an intrinsic is one instruction of the processor, while its Java body computes for long:
/// `Math.fma` by `BigDecimal`, a few thousand bytecodes instead of one instruction. A HotSpot whose
/// processor has the instruction uses it in its interpreter, too, so the body runs nearly nowhere.
/// Such an intrinsic is left to HotSpot whatever `--intrinsics` says.
pub fn is_one_instruction(method: MemberName<'_>) -> bool {
    method == MemberName::new(b"java/lang/Math", b"fma")
}

/// Annotated methods that count as ordinary: class, and names of methods; `*` for all.
const ORDINARY: &[(&[u8], &[&str])] = &[
    // HotSpot recognises them only in chains that begin with a constructor, as javac compiles
    // string concatenation.
    (b"java/lang/StringBuffer", &["*"]),
    (b"java/lang/StringBuilder", &["*"]),
    // HotSpot recognises them only to omit the object along with its constructor, and `toString`
    // only as part of the chains above.
    (b"java/lang/Boolean", &["booleanValue", "valueOf"]),
    (b"java/lang/Byte", &["byteValue", "valueOf"]),
    (b"java/lang/Character", &["charValue", "valueOf"]),
    (b"java/lang/Double", &["doubleValue", "valueOf"]),
    (b"java/lang/Float", &["floatValue", "valueOf"]),
    (b"java/lang/Integer", &["intValue", "toString", "valueOf"]),
    (b"java/lang/Long", &["longValue", "valueOf"]),
    (b"java/lang/Short", &["shortValue", "valueOf"]),
    // The body is the program's code, or calls an argument.
    (b"jdk/internal/util/Preconditions", &["*"]),
    (b"jdk/internal/vm/Continuation", &["*"]),
    (b"jdk/internal/vm/vector/VectorSupport", &["*"]),
    // Compiled code gets a different answer than interpreted code.
    (b"java/lang/invoke/MethodHandleImpl", &["isCompileConstant"]),
];

/// All intrinsics of JDK 8 with a Java body.
pub fn of_jdk_8() -> impl Iterator<Item = MemberRef<'static>> {
    TABLE.iter().flat_map(|(class, methods)| {
        methods.iter().map(|(name, of)| MemberRef::new(class, name.as_bytes(), of.as_bytes()))
    })
}

/// Whether HotSpot may run other code instead of this method's body. `annotations` are the
/// descriptors of the method's annotations.
pub fn is_candidate(class: &ClassFile<'_>, method: &Member<'_>, annotations: &[&[u8]]) -> bool {
    let has_body = method.access_flags & (access::NATIVE | access::ABSTRACT) == 0;
    if !has_body || method.name.starts_with(b"<") || is_ordinary(MemberName::new(class.name(), method.name)) {
        return false;
    }
    if class.major_version > LAST_VERSION_WITHOUT_ANNOTATION {
        return annotations.iter().any(|a| CANDIDATE.contains(a));
    }
    let Ok(row) = TABLE.binary_search_by_key(&class.name(), |(name, _)| name) else { return false };
    TABLE[row].1.iter().any(|(n, d)| (n.as_bytes(), d.as_bytes()) == (method.name, method.descriptor))
}

/// Whether HotSpot may run other code instead of this native, if its class file says so.
pub fn is_native_candidate(method: &Member<'_>, annotations: &[&[u8]]) -> bool {
    method.is(access::NATIVE) && annotations.iter().any(|a| CANDIDATE.contains(a))
}

/// Whether HotSpot's compilers know this method by its original signature, to replace it or to
/// recognise a pattern. Then probes in a body under that signature may not run. Every
/// [candidate](is_candidate) is recognised, and so are other methods.
pub fn is_recognised(
    class: &ClassFile<'_>,
    method: &Member<'_>,
    annotations: &[&[u8]],
    is_candidate: bool,
) -> bool {
    let has_body = method.access_flags & (access::NATIVE | access::ABSTRACT) == 0;
    let is_annotated = annotations.iter().any(|a| CANDIDATE.contains(a));
    let says_nothing = class.major_version <= LAST_VERSION_WITHOUT_ANNOTATION;
    let is_pattern =
        is_ordinary(MemberName::new(class.name(), method.name)) && (is_annotated || says_nothing);
    is_candidate || has_body && (is_annotated || is_pattern)
}

/// Whether a method counts as ordinary although it is annotated.
fn is_ordinary(method: MemberName<'_>) -> bool {
    let has_name = |names: &[&str]| names.iter().any(|n| *n == "*" || n.as_bytes() == method.name);
    ORDINARY.iter().any(|(class, names)| *class == method.class && has_name(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(TABLE.is_sorted_by_key(|(class, _)| class));
        assert!(TABLE.iter().all(|(_, methods)| methods.is_sorted()));
    }

    #[test]
    fn the_table_is_for_jdk_8_and_the_annotation_for_later_ones() {
        let math = cct_test_classes::class("java/lang/Math")
            .method(access::PUBLIC | access::STATIC, "max", "(II)I")
            .method(access::PUBLIC | access::STATIC, "max", "(FF)F")
            .method(access::PUBLIC | access::STATIC | access::NATIVE, "min", "(II)I");
        let candidates = |version: u16, annotations: &[&[u8]]| {
            let mut bytes = math.bytes();
            bytes[6..8].copy_from_slice(&version.to_be_bytes());
            let class = ClassFile::parse(&bytes).unwrap();
            class.methods.iter().map(|m| is_candidate(&class, m, annotations)).collect::<Vec<_>>()
        };
        let annotated: &[&[u8]] = &[b"Ljdk/internal/vm/annotation/IntrinsicCandidate;"];
        assert_eq!(candidates(52, &[]), [true, false, false]);
        assert_eq!(candidates(52, annotated), [true, false, false]);
        assert_eq!(candidates(53, &[]), [false; 3]);
        assert_eq!(candidates(53, &[b"Ljdk/internal/HotSpotIntrinsicCandidate;"]), [true, true, false]);
        assert_eq!(candidates(61, annotated), [true, true, false]);
    }

    #[test]
    fn patterns_are_recognised_too() {
        let class = cct_test_classes::class("java/lang/StringBuilder")
            .method(access::PUBLIC, "<init>", "()V")
            .method(access::PUBLIC, "append", "(I)Ljava/lang/StringBuilder;");
        let recognised = |version: u16, annotations: &[&[u8]]| {
            let mut bytes = class.bytes();
            bytes[6..8].copy_from_slice(&version.to_be_bytes());
            let class = ClassFile::parse(&bytes).unwrap();
            let is_recognised =
                |m| is_recognised(&class, m, annotations, is_candidate(&class, m, annotations));
            class.methods.iter().map(is_recognised).collect::<Vec<_>>()
        };
        assert_eq!(recognised(52, &[]), [true, true]);
        assert_eq!(recognised(61, &[]), [false, false]);
        assert_eq!(recognised(61, &[b"Ljdk/internal/vm/annotation/IntrinsicCandidate;"]), [true, true]);
    }

    #[test]
    fn patterns_are_no_replacements() {
        assert!(is_ordinary(MemberName::new(b"java/lang/StringBuilder", b"append")));
        assert!(is_ordinary(MemberName::new(b"java/lang/Integer", b"valueOf")));
        assert!(!is_ordinary(MemberName::new(b"java/lang/Integer", b"bitCount")));
    }
}
