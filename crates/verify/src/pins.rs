//! Clocks whose answers `--reproducible` replaces (docs/ci/reproducible.md, *In the class
//! library*): every read that the page names, and no other.

use cct_classfile::{ClassFile, Instruction, MemberName};
use cct_jdk::pins::{Clock, PINS};

/// The class-file version of JDK 0: classes of a class library have the version of their JDK.
const FIRST_VERSION: u16 = 44;

/// The clocks that a method of this class asks for a seed rather than for the time.
pub fn clocks(class: &ClassFile<'_>, method: &[u8]) -> Vec<Clock> {
    let jdk = class.major_version.saturating_sub(FIRST_VERSION);
    let of_method = PINS.iter().filter(|pin| pin.method == MemberName::new(class.name(), method));
    of_method.filter(|pin| (pin.since..=pin.until).contains(&jdk)).map(|pin| pin.clock).collect()
}

/// Which of these clocks an instruction reads.
pub fn read(clocks: &[Clock], class: &ClassFile<'_>, i: &Instruction<'_>) -> Option<Clock> {
    let of_its_kind = clocks.iter().any(|clock| clock.opcode() == i.opcode);
    let member =
        i.pool_index().filter(|_| of_its_kind).and_then(|index| class.pool.member_ref(index).ok())?;
    let is_read = |clock: &&Clock| clock.opcode() == i.opcode && clock.member() == member;
    clocks.iter().find(is_read).copied()
}
