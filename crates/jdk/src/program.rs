//! Methods through which programs talk to the runtime. They are part of the program, and do nothing
//! until they are rewritten.

/// The class through which a program switches recording.
const RECORDING: &[u8] = b"cctrewrite/api/Recording";

/// The methods of that class, and the number of each in the runtime (`Regions`).
const SWITCHES: &[(&[u8], &[u8], i16)] = &[
    (b"start", b"()V", 0),
    (b"start", b"(Ljava/lang/String;)V", 0),
    (b"stop", b"()V", 1),
    (b"startAll", b"()V", 2),
    (b"startAll", b"(Ljava/lang/String;)V", 2),
    (b"stopAll", b"()V", 3),
    (b"active", b"()Z", 4),
];

/// The number of a method's request if the method switches the recording; `None` for others.
pub fn switch(class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<i16> {
    let row = SWITCHES.iter().find(|row| class == RECORDING && (row.0, row.1) == (name, descriptor));
    row.map(|(.., what)| *what)
}

/// The method through which a program queries the value of its context: class, name and descriptor.
pub const QUESTION: (&[u8], &[u8], &[u8]) = (b"cctrewrite/api/Pcc", b"current", b"()J");
