//! Target for the memory of a JVM's trees as a file.

use std::fs::File;
use std::io::Write;

use cct_arena::{Memory, State, recover};

use super::profile::downstream;

/// Reads it as `recover` does. For any content this ends, and gives a profile that can be written
/// and analysed.
pub fn arena(bytes: &[u8]) {
    let mut file: File = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let Ok(memory) = Memory::open(file) else { return };
    let recovered = recover(&memory, State::Killed, &|_| Err("none".to_owned())).unwrap();
    let written = recovered.profile.to_bytes().unwrap();
    let read = cct_profile::Profile::read(&written).unwrap();
    assert!(read.damage.is_empty() && read.contexts() == recovered.profile.contexts());
    downstream(&read, &mut super::dice(bytes));
}
