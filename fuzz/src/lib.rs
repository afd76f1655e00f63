//! A target of `cct_hostile` for libFuzzer, with its mutator.

pub use {cct_hostile, libfuzzer_sys};

/// Runs a target, a constant of `cct_hostile`. Three inputs of four are changed by who knows the
/// format, the others by libFuzzer.
#[macro_export]
macro_rules! target {
    ($target:ident) => {
        use $crate::cct_hostile::{Dice, Target, on_this_thread};
        use $crate::libfuzzer_sys::{self, fuzz_mutator, fuzz_target, fuzzer_mutate};

        const TARGET: Target = $crate::cct_hostile::$target;

        fuzz_target!(init: on_this_thread(), |data: &[u8]| (TARGET.run)(data));

        fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            let mut dice = Dice::new(seed.into());
            if dice.once_in(4) {
                return fuzzer_mutate(data, size, max_size);
            }
            let changed = (TARGET.mutate)(&data[..size], &mut dice);
            // What does not fit would be cut off, and with it most of what made it sound.
            if changed.is_empty() || changed.len() > max_size {
                return fuzzer_mutate(data, size, max_size);
            }
            data[..changed.len()].copy_from_slice(&changed);
            changed.len()
        });
    };
}
