//! Deflate (RFC 1951) of single entries: raw in jars, with a zlib header (RFC 1950) in images. Each
//! thread keeps one compressor and one decompressor.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use crate::error::EntryProblem;

/// No deflate stream expands further than this: a block of the longest matches spends two bits on
/// 258 bytes.
const MAX_EXPANSION: u64 = 1032;

thread_local! {
    // Their tables (some 300 KB) cost more to set up than a small class costs to deflate.
    static DEFLATER: RefCell<Option<(u32, Compress)>> = const { RefCell::new(None) };
    static INFLATER: RefCell<Option<Decompress>> = const { RefCell::new(None) };
}

/// Inflates an entry that must come to exactly `size` bytes. The size has been checked against the
/// limits.
pub(crate) fn inflate(packed: &[u8], size: u64) -> Result<Vec<u8>, EntryProblem> {
    inflate_as(packed, size, false)
}

/// Inflates an entry that has a zlib header and checksum, as [`inflate`].
pub(crate) fn inflate_zlib(packed: &[u8], size: u64) -> Result<Vec<u8>, EntryProblem> {
    inflate_as(packed, size, true)
}

fn inflate_as(packed: &[u8], size: u64, zlib: bool) -> Result<Vec<u8>, EntryProblem> {
    if size > (packed.len() as u64 + 1).saturating_mul(MAX_EXPANSION) {
        // An impossible size: fail before reserving the memory.
        return Err(EntryProblem::Size { declared: size, actual: 0 });
    }
    let capacity =
        usize::try_from(size).map_err(|_| EntryProblem::TooLarge { size, limit: usize::MAX as u64 })?;
    INFLATER.with_borrow_mut(|slot| {
        let inflater = slot.get_or_insert_with(|| Decompress::new(zlib));
        inflater.reset(zlib);
        let mut out = Vec::with_capacity(capacity);
        let status = inflater
            .decompress_vec(packed, &mut out, FlushDecompress::Finish)
            .map_err(|cause| EntryProblem::Inflate(cause.to_string()))?;
        let ended = match status {
            Status::StreamEnd => true,
            // A full buffer may hide a stream that ends right here, or one that goes on.
            _ => out.len() == capacity && ends_here(inflater, packed)?,
        };
        let (read, actual) = (inflater.total_in(), out.len() as u64);
        if actual != size || !ended {
            let more = u64::from(actual == size);
            if actual < size && !ended {
                return Err(EntryProblem::Inflate("it ends too early".to_owned()));
            }
            return Err(EntryProblem::Size { declared: size, actual: actual + more });
        }
        if read != packed.len() as u64 {
            return Err(EntryProblem::Inflate("bytes follow its end".to_owned()));
        }
        Ok(out)
    })
}

/// Whether the stream ends without producing another byte, after all declared bytes.
fn ends_here(inflater: &mut Decompress, packed: &[u8]) -> Result<bool, EntryProblem> {
    let rest =
        usize::try_from(inflater.total_in()).ok().and_then(|read| packed.get(read..)).unwrap_or_default();
    let before = inflater.total_out();
    let status = inflater
        .decompress(rest, &mut [0; 1], FlushDecompress::Finish)
        .map_err(|cause| EntryProblem::Inflate(cause.to_string()))?;
    Ok(status == Status::StreamEnd && inflater.total_out() == before)
}

/// Deflates at a level from 0 (fastest) to 9 (smallest). Depends on bytes and level alone.
pub(crate) fn deflate(bytes: &[u8], level: u32) -> Result<Vec<u8>, EntryProblem> {
    let level = level.min(9);
    DEFLATER.with_borrow_mut(|slot| {
        let deflater = match slot {
            Some((at, deflater)) if *at == level => {
                deflater.reset();
                deflater
            }
            _ => &mut slot.insert((level, Compress::new(Compression::new(level), false))).1,
        };
        // Deflate never adds more than 5 bytes per stored block of at least 4 KB, and a few.
        let mut out = Vec::with_capacity(bytes.len() / 2 + 128);
        loop {
            let read = usize::try_from(deflater.total_in())
                .ok()
                .and_then(|read| bytes.get(read..))
                .unwrap_or_default();
            let status = deflater
                .compress_vec(read, &mut out, FlushCompress::Finish)
                .map_err(|cause| EntryProblem::Deflate(cause.to_string()))?;
            if status == Status::StreamEnd {
                return Ok(out);
            }
            out.reserve(bytes.len() / 2 + 1024);
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(len: usize) -> Vec<u8> {
        (0..len as u32).map(|i| (i.wrapping_mul(i) >> 7) as u8).collect()
    }

    #[test]
    fn round_trip_of_all_sizes_and_levels() {
        for level in 0..=9 {
            for len in [0, 1, 2, 100, 4096, 70_000] {
                let bytes = sample(len);
                let packed = deflate(&bytes, level).unwrap();
                assert_eq!(inflate(&packed, len as u64).unwrap(), bytes, "level {level}, {len} bytes");
            }
        }
    }

    #[test]
    fn a_reused_deflater_gives_the_same_bytes_as_a_new_one() {
        let bytes = sample(50_000);
        let first = deflate(&bytes, 6).unwrap();
        deflate(&sample(333), 6).unwrap();
        assert_eq!(deflate(&bytes, 6).unwrap(), first);
        let other = bytes.clone();
        assert_eq!(std::thread::spawn(move || deflate(&other, 6).unwrap()).join().unwrap(), first);
    }

    #[test]
    fn false_sizes_and_damage_are_reported() {
        let bytes = sample(10_000);
        let packed = deflate(&bytes, 6).unwrap();
        assert!(matches!(
            inflate(&packed, 9_999),
            Err(EntryProblem::Size { declared: 9_999, actual: 10_000 })
        ));
        assert!(matches!(
            inflate(&packed, 10_001),
            Err(EntryProblem::Size { declared: 10_001, actual: 10_000 })
        ));
        assert!(matches!(inflate(&packed, u64::MAX), Err(EntryProblem::Size { actual: 0, .. })));
        assert!(matches!(inflate(&packed[..packed.len() / 2], 10_000), Err(EntryProblem::Inflate(_))));
        assert!(matches!(inflate(&[0xFF; 40], 100), Err(EntryProblem::Inflate(_))));
        assert!(matches!(inflate(&[], 0), Err(EntryProblem::Size { .. } | EntryProblem::Inflate(_))));
        let mut longer = packed.clone();
        longer.push(0);
        assert!(matches!(inflate(&longer, 10_000), Err(EntryProblem::Inflate(_))));
    }
}
