//! Handmade images: shares no code with the crate.

/// An image under construction. It has the resources that the JVM needs, without listings of
/// folders.
pub struct Builder {
    pub big: bool,
    pub minor_version: u32,
    /// Full name and contents.
    pub resources: Vec<(&'static str, Vec<u8>)>,
}

pub struct BuiltImage {
    pub bytes: Vec<u8>,
    pub slots: usize,
    /// Offset of the first byte of contents.
    pub contents: usize,
}

fn hash(seed: u32, name: &str) -> u32 {
    name.bytes().fold(seed, |h, b| h.wrapping_mul(0x0100_0193) ^ u32::from(b)) & 0x7FFF_FFFF
}

impl Builder {
    fn word(&self, value: u32) -> [u8; 4] {
        if self.big { value.to_be_bytes() } else { value.to_le_bytes() }
    }

    /// All names are base strings, so that locations are simple; there are enough slots for every
    /// name to have a first hash of its own.
    pub fn build(&self) -> BuiltImage {
        let count = self.resources.len() as u32;
        let first = |name: &str, slots: u32| hash(0x0100_0193, name) % slots;
        let slots = (count.max(1)..).find(|&slots| {
            let mut seen: Vec<u32> = self.resources.iter().map(|(name, _)| first(name, slots)).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len() == self.resources.len()
        });
        let slots = slots.unwrap();
        let (mut redirect, mut offsets) = (vec![0u32; slots as usize], vec![0u32; slots as usize]);
        let (mut locations, mut strings, mut contents) = (vec![0u8], vec![0u8], Vec::<u8>::new());
        for (index, (name, bytes)) in self.resources.iter().enumerate() {
            redirect[first(name, slots) as usize] = (-1 - index as i32) as u32;
            offsets[index] = locations.len() as u32;
            for (kind, value) in [(3u8, strings.len()), (5, contents.len()), (7, bytes.len())] {
                locations.push(kind << 3 | 3);
                locations.extend((value as u32).to_be_bytes());
            }
            locations.push(0);
            strings.extend(name.bytes());
            strings.push(0);
            contents.extend(bytes);
        }
        let mut bytes = Vec::new();
        let header = [0xCAFE_DADA, 0x1_0000 | self.minor_version, 0, count, slots];
        let header = header.into_iter().chain([locations.len() as u32, strings.len() as u32]);
        for word in header.chain(redirect).chain(offsets) {
            bytes.extend(self.word(word));
        }
        bytes.extend(locations);
        bytes.extend(strings);
        let start = bytes.len();
        bytes.extend(contents);
        BuiltImage { bytes, slots: slots as usize, contents: start }
    }
}
