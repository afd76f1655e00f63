//! The last events of threads, in a memory-mapped file next to the trace: they survive any end of
//! the JVM.
//!
//! A page with the properties of the file precedes areas of one size, one for each record of a
//! thread. An area starts with the record itself, of which readers use the fields in [`Area`],
//! followed by two halves. Events go to one half until it is full, then to the other: both together
//! contain the last ones.

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"CCTRING1";

/// Size of the part before the first area, and alignment of areas, in bytes.
pub const PAGE: usize = 4096;

/// Size of the part of an area before its first half, in bytes.
pub const HEAD: usize = 256;

/// Suffix of the file's name, after the trace's.
pub const SUFFIX: &str = ".last";

/// Offsets of the fields of a record that readers use, in bytes.
pub mod offset {
    /// The place of the next event, as an address.
    pub const PLACE: usize = 0;
    /// Start of the half that is being written, as an address.
    pub const START: usize = 40;
    /// Start of the area, as an address.
    pub const BASE: usize = 48;
    /// Bytes of events in the other half.
    pub const BEHIND: usize = 56;
    /// Not 0 while recording is paused.
    pub const PAUSED: usize = 64;
    /// The place of the next event after the pause, as an address.
    pub const KEPT: usize = 72;
    /// The thread's number (32 bits).
    pub const THREAD: usize = 80;
    /// Number of halves that the thread has filled (32 bits).
    pub const SEQUENCE: usize = 84;
}

/// Size in bytes of an area with halves of this size.
pub fn area_size(half: usize) -> usize {
    (HEAD + 2 * half).next_multiple_of(PAGE)
}

/// The first page: the size of halves, and the path of the class library's static data.
pub fn head(half: usize, structure: &str) -> Option<Vec<u8>> {
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(&(half as u64).to_le_bytes());
    head.extend_from_slice(&(structure.len() as u64).to_le_bytes());
    head.extend_from_slice(structure.as_bytes());
    (head.len() <= PAGE).then(|| {
        head.resize(PAGE, 0);
        head
    })
}

/// The last events of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Area {
    /// The thread's number.
    pub thread: u32,
    /// The number of the older half, among all halves of the thread.
    pub sequence: u32,
    /// The older half's events; empty if there is none.
    pub older: Vec<u8>,
    /// The newer half's events.
    pub newer: Vec<u8>,
}

/// The contents of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// The path of the class library's static data.
    pub structure: String,
    /// The areas that were in use.
    pub areas: Vec<Area>,
}

/// Reads a file; `None` if it is invalid.
pub fn read(bytes: &[u8]) -> Option<Ring> {
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    if bytes.get(..8)? != MAGIC {
        return None;
    }
    let half = usize::try_from(number(8)?).ok().filter(|&half| half > 0 && half < 1 << 40)?;
    let length = usize::try_from(number(16)?).ok().filter(|&length| length <= PAGE)?;
    let structure = String::from_utf8_lossy(bytes.get(24..24 + length)?).into_owned();
    let areas = bytes.get(PAGE..).unwrap_or_default().chunks_exact(area_size(half));
    Some(Ring { structure, areas: areas.filter_map(|area| self::area(area, half)).collect() })
}

fn area(bytes: &[u8], half: usize) -> Option<Area> {
    let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let short = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
    let (base, start) = (number(offset::BASE)?, number(offset::START)?);
    let place = number(if number(offset::PAUSED)? == 0 { offset::PLACE } else { offset::KEPT })?;
    let start_in_area = usize::try_from(start.checked_sub(base)?).ok()?;
    let other = match start_in_area {
        HEAD => HEAD + half,
        second if second == HEAD + half => HEAD,
        // Not in use yet.
        _ => return None,
    };
    let filled = usize::try_from(place.checked_sub(start)?).ok()?.min(half);
    let behind = usize::try_from(number(offset::BEHIND)?).ok()?.min(half);
    let events = |at: usize, length: usize| Some(bytes.get(at..at + length)?.to_vec());
    Some(Area {
        thread: short(offset::THREAD)?,
        sequence: short(offset::SEQUENCE)?.saturating_sub(u32::from(behind > 0)),
        older: events(other, behind)?,
        newer: events(start_in_area, filled)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One area in use, with `behind` bytes in the half that is not being written, and an unused
    /// one.
    fn file(second_half: bool, behind: u64) -> Vec<u8> {
        let half = 64;
        let mut bytes = head(half, "/jdk/structure").unwrap();
        let mut area = vec![0; area_size(half)];
        let base = 0x7F00_0000_0000_u64;
        let start = base + HEAD as u64 + if second_half { half as u64 } else { 0 };
        let mut put = |at: usize, value: u64| area[at..at + 8].copy_from_slice(&value.to_le_bytes());
        put(offset::PLACE, start + 8);
        put(offset::START, start);
        put(offset::BASE, base);
        put(offset::BEHIND, behind);
        put(offset::THREAD, 7 | 5 << 32);
        area[HEAD..HEAD + half].fill(1);
        area[HEAD + half..HEAD + 2 * half].fill(2);
        bytes.extend_from_slice(&area);
        bytes.extend_from_slice(&vec![0; area_size(half)]);
        bytes
    }

    #[test]
    fn the_halves_come_in_their_order() {
        let ring = read(&file(true, 16)).unwrap();
        assert_eq!(ring.structure, "/jdk/structure");
        let expected = Area { thread: 7, sequence: 4, older: vec![1; 16], newer: vec![2; 8] };
        assert_eq!(ring.areas, [expected]);
        let first = &read(&file(false, 0)).unwrap().areas[0];
        assert_eq!((first.sequence, &*first.older, &*first.newer), (5, &[][..], &[1; 8][..]));
    }

    #[test]
    fn no_file_causes_a_panic() {
        assert_eq!(read(b"CCTRACE"), None);
        let whole = file(true, 16);
        for length in 0..whole.len() {
            let _ = read(&whole[..length]);
        }
        arbtest::arbtest(|u| {
            let mut altered = whole.clone();
            for _ in 0..u.int_in_range(1..=4)? {
                let at =
                    if u.arbitrary()? { u.int_in_range(0..=100)? } else { PAGE + u.int_in_range(0..=120)? };
                altered[at] = u.arbitrary()?;
            }
            let _ = read(&altered);
            Ok(())
        });
    }
}
