//! Methods by which programs talk to the runtime. They are the program's own; they do nothing until
//! they are rewritten.

/// The class by which a program says what is recorded.
const RECORDING: &[u8] = b"cctrewrite/api/Recording";

/// Its methods, and the number by which the runtime (`Regions`) knows what each of them asks for.
const SWITCHES: &[(&[u8], &[u8], i16)] = &[
    (b"start", b"()V", 0),
    (b"start", b"(Ljava/lang/String;)V", 0),
    (b"stop", b"()V", 1),
    (b"startAll", b"()V", 2),
    (b"startAll", b"(Ljava/lang/String;)V", 2),
    (b"stopAll", b"()V", 3),
    (b"active", b"()Z", 4),
];

/// What a method asks for, if it is one that switches the recording.
pub fn switch(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<i16> {
    let row = SWITCHES.iter().find(|row| class == RECORDING && (row.0, row.1) == (name, descriptor));
    row.map(|(.., what)| *what)
}

/// The method by which a program asks for the value of its context: class, name and descriptor.
pub const QUESTION: (&[u8], &[u8], &[u8]) = (b"cctrewrite/api/Pcc", b"current", b"()J");
