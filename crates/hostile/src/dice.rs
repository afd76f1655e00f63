//! Pseudo-random choices that follow from a seed alone.

/// A source of choices: the same seed gives the same choices on every machine.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Dice with a seed.
    pub fn new(seed: u64) -> Dice {
        // Similar seeds must not give similar choices (the finaliser of splitmix64).
        let mut state = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        Dice((state ^ state >> 31) | 1)
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `n`; 0 if `n` is.
    pub fn below(&mut self, n: usize) -> usize {
        (self.any() >> 16) as usize % n.max(1)
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of several.
    pub fn pick<'t, T>(&mut self, of: &'t [T]) -> &'t T {
        &of[self.below(of.len())]
    }

    /// One of several, mutable. Panics if there is none, as [`Dice::pick`] does.
    pub fn pick_mut<'t, T>(&mut self, of: &'t mut [T]) -> &'t mut T {
        let at = self.below(of.len());
        &mut of[at]
    }

    /// A number that counts or points to something: small, at one of its limits, or any.
    pub fn number(&mut self) -> u16 {
        match self.below(4) {
            0 => self.below(4) as u16,
            1 => *self.pick(&[0x7F, 0x80, 0xFE, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFE, 0xFFFF]),
            2 => self.below(64) as u16,
            _ => self.any() as u16,
        }
    }
}
