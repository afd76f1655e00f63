//! Target for the output of a user's module on its pipe.

use cct_udi::wire::{read_answer, read_greeting, write_answer};

/// Reads a greeting and answers, until one is invalid. Accepted ones are written back unchanged.
pub fn module(bytes: &[u8]) {
    let mut input = bytes;
    let Ok(classes) = read_greeting(&mut input) else { return };
    assert!(classes.len() <= bytes.len(), "more classes than bytes");
    loop {
        let before = input;
        let Ok(answer) = read_answer(&mut input) else { return };
        let mut written = Vec::new();
        write_answer(&mut written, &answer).unwrap();
        let read = &before[..before.len() - input.len()];
        // After its kind and length, a reason that is not valid text is shown as well as possible.
        let is_no_text = read.get(5..).is_some_and(|reason| std::str::from_utf8(reason).is_err());
        assert!(written == read || is_no_text, "an answer is written as another one");
    }
}
