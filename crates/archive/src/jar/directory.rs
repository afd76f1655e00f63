//! Reader of the central directory, with checks against the local headers.

use std::ops::Range;

use super::format::{
    DESCRIPTOR_FOLLOWS, DESCRIPTOR_SIGNATURE, IN_ZIP64_16, IN_ZIP64_32, central, end, end64, extra, local,
    locator64, u16_at, u32_at, u64_at,
};
use crate::entry::{Entry, EntryKind};
use crate::error::ArchiveProblem;

/// Offsets of all parts of an archive. They count from the start of its bytes, not from `base`.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) entries: Vec<Entry>,
    /// Parallel to `entries`.
    pub(super) records: Vec<Record>,
    /// Bytes before the first entry: a launcher script, or the magic number of a jmod.
    pub(super) prefix: Range<usize>,
    /// Base of the offsets recorded in the archive: 0, or the end of something prepended
    /// afterwards.
    pub(super) base: usize,
    pub(super) end: EndRecords,
}

/// The parts of one entry.
#[derive(Debug)]
pub(super) struct Record {
    /// The entry's header in the central directory, with name, extra fields and comment.
    pub(super) central: Range<usize>,
    /// The entry's local header, with name and extra fields.
    pub(super) local: Range<usize>,
    /// The entry's bytes, as stored in the archive.
    pub(super) data: Range<usize>,
    /// The end of its data descriptor, or of its data if none is announced. `None` if one is
    /// announced and missing: then the entry cannot be copied verbatim.
    pub(super) span_end: Option<usize>,
    pub(super) flags: u16,
    pub(super) method: u16,
    pub(super) crc: u32,
}

/// The records after the directory.
#[derive(Debug)]
pub(super) struct EndRecords {
    /// The end record, with the archive's comment.
    pub(super) plain: Range<usize>,
    /// The zip64 end record, if there is one.
    pub(super) zip64: Option<Range<usize>>,
}

fn damaged(offset: usize, what: &'static str) -> ArchiveProblem {
    ArchiveProblem::Directory { offset, what }
}

impl Directory {
    pub(super) fn read(bytes: &[u8]) -> Result<Directory, ArchiveProblem> {
        let plain = find_end(bytes)?;
        let zip64 = find_end64(bytes, plain.start)?;
        let total = Totals::read(bytes, &plain, zip64.as_ref())?;

        let stop = zip64.as_ref().map_or(plain.start, |record| record.start);
        let start = usize::try_from(total.size).ok().and_then(|size| stop.checked_sub(size));
        let start = start.ok_or(damaged(plain.start, "the directory claims to be larger than the file"))?;
        // The directory ends right before the end records, whatever its recorded start: the JDK
        // finds it in the same way.
        let base = usize::try_from(total.offset).ok().and_then(|offset| start.checked_sub(offset));
        let base = base.ok_or(damaged(plain.start, "the directory claims to start after its place"))?;

        // The count is not trusted for the allocation: a record takes 46 bytes at least.
        let room = usize::try_from(total.count).unwrap_or(usize::MAX).min((stop - start) / central::SIZE);
        let (mut entries, mut records) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut at = start;
        while at < stop {
            let (entry, record) = read_record(bytes, at, start..stop, base)?;
            at = record.central.end;
            entries.push(entry);
            records.push(record);
        }
        // Writers without zip64 let the count wrap at 65536; the JDK reads such archives.
        let count = records.len() as u64;
        if count != total.count && !(zip64.is_none() && count % 0x1_0000 == total.count) {
            return Err(damaged(plain.start, "the number of entries is not the one it declares"));
        }
        let first = check_overlaps(&entries, &records)?;
        Ok(Directory {
            entries,
            records,
            prefix: 0..first.unwrap_or(base),
            base,
            end: EndRecords { plain, zip64 },
        })
    }
}

/// The end record precedes a comment of at most 64 KB that ends with the file. Nothing may follow:
/// otherwise a truncated archive could be taken for a complete archive nested in it.
fn find_end(bytes: &[u8]) -> Result<Range<usize>, ArchiveProblem> {
    if bytes.is_empty() {
        return Err(ArchiveProblem::Empty);
    }
    let last = bytes.len().checked_sub(end::SIZE);
    let mut trailing = None;
    if let Some(last) = last {
        for at in (last.saturating_sub(usize::from(u16::MAX))..=last).rev() {
            if u32_at(bytes, at) != Some(end::SIGNATURE) {
                continue;
            }
            let stop = at + end::SIZE + usize::from(u16_at(bytes, at + end::COMMENT_LEN).unwrap_or(0));
            if stop == bytes.len() {
                return Ok(at..stop);
            }
            if stop < bytes.len() && trailing.is_none() {
                trailing = Some(bytes.len() - stop);
            }
        }
    }
    let starts_as_zip = matches!(u32_at(bytes, 0), Some(local::SIGNATURE | end::SIGNATURE));
    Err(match trailing {
        Some(count) => ArchiveProblem::TrailingBytes { count },
        None if starts_as_zip => ArchiveProblem::Truncated,
        None => ArchiveProblem::NotZip,
    })
}

/// The zip64 end record, if there is a locator right before the end record.
fn find_end64(bytes: &[u8], plain: usize) -> Result<Option<Range<usize>>, ArchiveProblem> {
    let Some(locator) = plain.checked_sub(locator64::SIZE) else { return Ok(None) };
    if u32_at(bytes, locator) != Some(locator64::SIGNATURE) {
        return Ok(None);
    }
    // Searched backwards instead of by the locator's offset, which is wrong if something was
    // prepended: the record's own size must lead exactly to the locator. Most records have no
    // extensible data, so the first try succeeds.
    let mut at =
        locator.checked_sub(end64::SIZE).ok_or(damaged(locator, "a zip64 locator without a record"))?;
    let recorded = u64_at(bytes, locator + locator64::OFFSET).and_then(|offset| usize::try_from(offset).ok());
    let fits = |at: usize| {
        u32_at(bytes, at) == Some(end64::SIGNATURE)
            && u64_at(bytes, at + end64::REST_SIZE)
                .and_then(|rest| rest.checked_add(12))
                .is_some_and(|size| size == (locator - at) as u64)
    };
    if !fits(at) {
        at = recorded
            .filter(|&offset| offset <= at && fits(offset))
            .ok_or(damaged(locator, "the zip64 locator points to no zip64 end record"))?;
    }
    if u32_at(bytes, locator + locator64::DISKS).is_some_and(|disks| disks > 1) {
        return Err(ArchiveProblem::Split);
    }
    Ok(Some(at..locator))
}

/// The totals of the directory, from the end records.
struct Totals {
    count: u64,
    size: u64,
    /// Counted from `base`.
    offset: u64,
}

impl Totals {
    fn read(
        bytes: &[u8],
        plain: &Range<usize>,
        zip64: Option<&Range<usize>>,
    ) -> Result<Totals, ArchiveProblem> {
        let cut = || damaged(plain.start, "the end record is cut off");
        let half = |field: usize| u16_at(bytes, plain.start + field).ok_or_else(cut);
        let word = |field: usize| u32_at(bytes, plain.start + field).ok_or_else(cut);
        let long = |field: usize| zip64.and_then(|record| u64_at(bytes, record.start + field));

        let single = |disk: u16| disk == 0 || (disk == IN_ZIP64_16 && zip64.is_some());
        let whole = half(end::COUNT)? == half(end::COUNT_HERE)?;
        if !single(half(end::DISK)?) || !single(half(end::DIRECTORY_DISK)?) || !whole {
            return Err(ArchiveProblem::Split);
        }
        // Each value of the plain record is valid, unless it is the one that refers to the zip64
        // record.
        let wide = |value: u32, field: usize| match long(field) {
            Some(long) if value == IN_ZIP64_32 => long,
            _ => u64::from(value),
        };
        let count = match (half(end::COUNT)?, long(end64::COUNT)) {
            (IN_ZIP64_16, Some(count)) => count,
            (count, _) => u64::from(count),
        };
        Ok(Totals {
            count,
            size: wide(word(end::DIRECTORY_SIZE)?, end64::DIRECTORY_SIZE),
            offset: wide(word(end::DIRECTORY_OFFSET)?, end64::DIRECTORY_OFFSET),
        })
    }
}

/// Reads the central header at `at` and finds the parts that it refers to.
fn read_record(
    bytes: &[u8],
    at: usize,
    directory: Range<usize>,
    base: usize,
) -> Result<(Entry, Record), ArchiveProblem> {
    let cut = damaged(at, "an entry is cut off by the end of the directory");
    let header = bytes.get(at..directory.end).ok_or(cut.clone())?;
    if header.len() < central::SIZE {
        return Err(cut);
    }
    if u32_at(header, 0) != Some(central::SIGNATURE) {
        return Err(damaged(at, "no entry starts here"));
    }
    // The fixed part was checked; the defaults are never used.
    let half = |field: usize| u16_at(header, field).unwrap_or_default();
    let word = |field: usize| u32_at(header, field).unwrap_or_default();
    let name_end = central::SIZE + usize::from(half(central::NAME_LEN));
    let extra_end = name_end + usize::from(half(central::EXTRA_LEN));
    let record_end = extra_end + usize::from(half(central::COMMENT_LEN));
    let name_bytes = header.get(central::SIZE..name_end).ok_or(cut.clone())?;
    let extra_bytes = header.get(name_end..extra_end).ok_or(cut.clone())?;
    if header.len() < record_end {
        return Err(cut);
    }
    if half(central::DISK) != 0 {
        return Err(ArchiveProblem::Split);
    }

    // The zip64 field contains, in this order, those of the three values that do not fit (APPNOTE
    // 4.5.3).
    let mut zip64 = extra::zip64(extra_bytes).unwrap_or_default();
    let mut wide = |field: usize| match (word(field), zip64.split_first_chunk()) {
        (IN_ZIP64_32, Some((value, rest))) => {
            zip64 = rest;
            u64::from_le_bytes(*value)
        }
        (value, _) => u64::from(value),
    };
    let size = wide(central::FULL_SIZE);
    let packed_size = wide(central::PACKED_SIZE);
    let offset = wide(central::OFFSET);

    let name = String::from_utf8_lossy(name_bytes);
    let flags = half(central::FLAGS);
    let crc = word(central::CRC);
    let start =
        usize::try_from(offset).ok().and_then(|offset| offset.checked_add(base)).unwrap_or(usize::MAX);
    let bad = |what| ArchiveProblem::EntryHeader { name: name.as_ref().into(), offset: start, what };
    let head = bytes[..directory.start].get(start..).filter(|head| head.len() >= local::SIZE);
    let head = head.ok_or_else(|| bad("its local header would lie outside the file"))?;
    if u32_at(head, 0) != Some(local::SIGNATURE) {
        return Err(bad("no local header here"));
    }
    let local_name_end = local::SIZE + usize::from(u16_at(head, local::NAME_LEN).unwrap_or_default());
    let local_end = local_name_end + usize::from(u16_at(head, local::EXTRA_LEN).unwrap_or_default());
    if head.get(local::SIZE..local_name_end) != Some(name_bytes) {
        return Err(bad("its local header has another name"));
    }
    let data_end = usize::try_from(packed_size).ok().and_then(|packed| local_end.checked_add(packed));
    let data_end =
        data_end.filter(|&end| end <= head.len()).ok_or_else(|| bad("its data extend beyond the file"))?;

    let data = start + local_end..start + data_end;
    let announced = flags & DESCRIPTOR_FOLLOWS != 0
        || u16_at(head, local::FLAGS).is_some_and(|flags| flags & DESCRIPTOR_FOLLOWS != 0);
    let span_end = if announced {
        descriptor_len(&head[data_end..], crc, packed_size, size).map(|len| data.end + len)
    } else {
        Some(data.end)
    };
    let kind = EntryKind::of(&name);
    let record = Record {
        central: at..at + record_end,
        local: start..start + local_end,
        data,
        span_end,
        flags,
        method: half(central::METHOD),
        crc,
    };
    Ok((Entry { name: name.into(), kind, size }, record))
}

/// The length of the data descriptor at the start of `bytes`; `None` if there is none. It may have
/// a signature, and sizes of 4 or 8 bytes (nothing says which, APPNOTE 4.3.9), but its values are
/// known.
fn descriptor_len(bytes: &[u8], crc: u32, packed_size: u64, size: u64) -> Option<usize> {
    [Some(DESCRIPTOR_SIGNATURE), None].into_iter().find_map(|signature| {
        let at = if signature.is_some() { 4 } else { 0 };
        if signature.is_some() && u32_at(bytes, 0) != signature || u32_at(bytes, at) != Some(crc) {
            return None;
        }
        let word = |at: usize| u32_at(bytes, at).map(u64::from);
        if (word(at + 4), word(at + 8)) == (Some(packed_size), Some(size)) {
            Some(at + 12)
        } else if (u64_at(bytes, at + 4), u64_at(bytes, at + 12)) == (Some(packed_size), Some(size)) {
            Some(at + 20)
        } else {
            None
        }
    })
}

/// Checks for entries that share bytes: such archives unfold to the square of their size, and no
/// tool writes them. Returns the start of the first entry.
fn check_overlaps(entries: &[Entry], records: &[Record]) -> Result<Option<usize>, ArchiveProblem> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    // Nearly always sorted already.
    order.sort_by_key(|&index| (records[index].local.start, index));
    for pair in order.windows(2) {
        let (record, next) = (&records[pair[0]], &records[pair[1]]);
        if next.local.start < record.span_end.unwrap_or(record.data.end) {
            return Err(ArchiveProblem::EntryHeader {
                name: entries[pair[1]].name.clone(),
                offset: next.local.start,
                what: "it shares bytes with another entry",
            });
        }
    }
    Ok(order.first().map(|&index| records[index].local.start))
}
