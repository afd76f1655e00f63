//! The last events of threads, in a file beside the trace's that is mapped into memory: whatever
//! ends the JVM, what was written there is there.
//!
//! Behind a page that says what it is stand areas of one size, one for each record of a thread. An
//! area begins with the record itself, of which readers know what [`Area`] names, and then has two
//! halves. Events go to one until it is full, then to the other: what is in both are the last ones.

/// The first bytes.
pub const MAGIC: [u8; 8] = *b"CCTRING1";

/// Bytes in front of the first area, and what areas are aligned to.
pub const PAGE: usize = 4096;

/// Bytes of an area in front of its first half.
pub const HEAD: usize = 256;

/// What is appended to a trace's name.
pub const SUFFIX: &str = ".last";

/// Where a record has what readers must know, in bytes.
pub mod offset {
    /// Where the next event goes, as an address.
    pub const PLACE: usize = 0;
    /// Where the half begins that is written to, as an address.
    pub const START: usize = 40;
    /// Where the area begins, as an address.
    pub const BASE: usize = 48;
    /// Bytes of events in the other half.
    pub const BEHIND: usize = 56;
    /// Not 0 while nothing is recorded.
    pub const PAUSED: usize = 64;
    /// Where the next event will go then, as an address.
    pub const KEPT: usize = 72;
    /// The thread's number (32 bits).
    pub const THREAD: usize = 80;
    /// How many halves the thread has filled (32 bits).
    pub const SEQUENCE: usize = 84;
}

/// Bytes of an area with halves of this size.
pub fn area_size(half: usize) -> usize {
    (HEAD + 2 * half).next_multiple_of(PAGE)
}

/// The first page: the size of halves, and the file that has the static side of the class library.
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
    /// Its number.
    pub thread: u32,
    /// The number of the older half among all that it has filled.
    pub sequence: u32,
    /// The older half's events; empty if there is none.
    pub older: Vec<u8>,
    /// The newer half's.
    pub newer: Vec<u8>,
}

/// What a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    /// The file that has the static side of the class library.
    pub structure: String,
    /// The areas that were in use.
    pub areas: Vec<Area>,
}

/// Reads a file; `None` if it is none, or what it says of itself cannot be.
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

    /// One area in use, with `behind` bytes in the half that is not written to, and one that is
    /// not.
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
    fn whatever_is_in_a_file_there_is_no_panic() {
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
