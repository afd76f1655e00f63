//! Writer of an archive, front to back: copied entries, entries with new contents, new entries.

use std::borrow::Cow;
use std::io::{self, Write};

use super::Jar;
use super::format::{
    DEFLATED, DESCRIPTOR_FOLLOWS, DOS_EPOCH, IN_ZIP64_16, IN_ZIP64_32, NAME_IS_UTF8, STORED, VERSION_PLAIN,
    VERSION_ZIP64, central, end, end64, extra, local, locator64, put, u16_at, u32_at,
};

/// Contents ready to be written.
#[derive(Debug)]
pub(super) struct PackedEntry<'a> {
    pub(super) method: u16,
    pub(super) crc: u32,
    /// Size before compression, bytes.
    pub(super) size: u64,
    pub(super) bytes: Cow<'a, [u8]>,
}

/// The values of a central header that go to its zip64 field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Those that were there, and those that must be.
    AsRecorded,
    /// Only those that must be.
    Narrowest,
}

/// Writes an archive. New layouts follow the source's habits where it has any.
pub(super) struct JarWriter<W> {
    out: W,
    /// Number of bytes written so far.
    position: u64,
    /// The base of recorded offsets.
    base: u64,
    directory: Vec<u8>,
    count: u64,
}

impl<W: Write> JarWriter<W> {
    /// Starts with the bytes before the first entry of `source`.
    pub(super) fn new(mut out: W, source: &Jar<'_>) -> io::Result<JarWriter<W>> {
        let prefix = &source.bytes[source.directory.prefix.clone()];
        out.write_all(prefix)?;
        let base = source.directory.base as u64;
        Ok(JarWriter { out, position: prefix.len() as u64, base, directory: Vec::new(), count: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Copies an entry of `source` verbatim.
    pub(super) fn copy(&mut self, source: &Jar<'_>, index: usize) -> io::Result<()> {
        let record = source.record(index);
        let Some(span_end) = record.span_end else {
            // The announced data descriptor is missing: write the entry without one.
            let packed = PackedEntry {
                method: record.method,
                crc: record.crc,
                size: source.directory.entries[index].size,
                bytes: Cow::Borrowed(source.packed(index)),
            };
            return self.replace(source, index, &packed);
        };
        let mut header = source.bytes[record.central.clone()].to_vec();
        let offset = self.position - self.base;
        self.write(&source.bytes[record.local.start..span_end])?;
        if offset == record.local.start as u64 - self.base {
            // The header is unchanged, and this writer does not know every valid form of it.
            self.directory.append(&mut header);
            self.count += 1;
            return Ok(());
        }
        let sizes = [record.data.len() as u64, source.directory.entries[index].size];
        self.list(&mut header, sizes, offset, Layout::AsRecorded)
    }

    /// Writes an entry of `source` with new contents. Its sizes are known, so it needs no data
    /// descriptor.
    pub(super) fn replace(
        &mut self,
        source: &Jar<'_>,
        index: usize,
        packed: &PackedEntry<'_>,
    ) -> io::Result<()> {
        let record = source.record(index);
        let mut header = source.bytes[record.central.clone()].to_vec();
        let old = &source.bytes[record.local.clone()];
        let (old, old_extra) =
            old.split_at(local::SIZE + usize::from(u16_at(old, local::NAME_LEN).unwrap_or(0)));
        let mut local = old.to_vec();
        put(&mut local, local::CRC, &packed.crc.to_le_bytes());
        put(&mut header, central::CRC, &packed.crc.to_le_bytes());
        put(&mut local, local::METHOD, &packed.method.to_le_bytes());
        put(&mut header, central::METHOD, &packed.method.to_le_bytes());
        clear(&mut local, local::FLAGS, DESCRIPTOR_FOLLOWS);
        clear(&mut header, central::FLAGS, DESCRIPTOR_FOLLOWS);
        self.entry(local, old_extra, header, packed)
    }

    /// Writes an entry that the source does not have, dated 1980-01-01.
    pub(super) fn add(&mut self, name: &str, packed: &PackedEntry<'_>) -> io::Result<()> {
        let name_len = u16::try_from(name.len())
            .map_err(|_| io::Error::other("an entry name is longer than 65535 bytes"))?;
        let flags = if name.is_ascii() { 0 } else { NAME_IS_UTF8 };
        let mut local = vec![0; local::SIZE];
        put(&mut local, 0, &local::SIGNATURE.to_le_bytes());
        put(&mut local, local::VERSION, &VERSION_PLAIN.to_le_bytes());
        put(&mut local, local::FLAGS, &flags.to_le_bytes());
        put(&mut local, local::METHOD, &packed.method.to_le_bytes());
        put(&mut local, local::TIME, &0u16.to_le_bytes());
        put(&mut local, local::DATE, &DOS_EPOCH.to_le_bytes());
        put(&mut local, local::CRC, &packed.crc.to_le_bytes());
        put(&mut local, local::NAME_LEN, &name_len.to_le_bytes());
        local.extend_from_slice(name.as_bytes());
        let mut header = vec![0; central::SIZE];
        put(&mut header, 0, &central::SIGNATURE.to_le_bytes());
        put(&mut header, central::MADE_BY, &VERSION_PLAIN.to_le_bytes());
        put(&mut header, central::VERSION, &VERSION_PLAIN.to_le_bytes());
        put(&mut header, central::FLAGS, &flags.to_le_bytes());
        put(&mut header, central::METHOD, &packed.method.to_le_bytes());
        put(&mut header, central::TIME, &0u16.to_le_bytes());
        put(&mut header, central::DATE, &DOS_EPOCH.to_le_bytes());
        put(&mut header, central::CRC, &packed.crc.to_le_bytes());
        put(&mut header, central::NAME_LEN, &name_len.to_le_bytes());
        header.extend_from_slice(name.as_bytes());
        self.entry(local, &[], header, packed)
    }

    /// Writes a local header (with name, without extra fields), its contents, and lists it in the
    /// directory.
    fn entry(
        &mut self,
        mut local: Vec<u8>,
        local_extra: &[u8],
        mut header: Vec<u8>,
        packed: &PackedEntry<'_>,
    ) -> io::Result<()> {
        let offset = self.position - self.base;
        let sizes = [packed.bytes.len() as u64, packed.size];
        // In a local header either both sizes are in the zip64 field or neither (APPNOTE 4.5.3).
        let wide = sizes.iter().any(|&size| size >= u64::from(IN_ZIP64_32));
        let values = [sizes[1], sizes[0]];
        let local_extra = extra::with_zip64(local_extra, if wide { &values } else { &[] });
        put(&mut local, local::PACKED_SIZE, &narrow(sizes[0], wide));
        put(&mut local, local::FULL_SIZE, &narrow(sizes[1], wide));
        put(&mut local, local::EXTRA_LEN, &extra_len(&local_extra)?);
        if wide {
            raise(&mut local, local::VERSION);
        }
        self.write(&local)?;
        self.write(&local_extra)?;
        self.write(&packed.bytes)?;
        self.list(&mut header, sizes, offset, Layout::Narrowest)
    }

    /// Appends a central header to the directory, with packed and full size and offset filled in.
    fn list(
        &mut self,
        header: &mut [u8],
        [packed_size, size]: [u64; 2],
        offset: u64,
        layout: Layout,
    ) -> io::Result<()> {
        let name_end = central::SIZE + usize::from(u16_at(header, central::NAME_LEN).unwrap_or(0));
        let extra_end = name_end + usize::from(u16_at(header, central::EXTRA_LEN).unwrap_or(0));
        let had_zip64 = extra::zip64(&header[name_end..extra_end]).is_some();
        let mut zip64 = Vec::new();
        // The order of the values in the zip64 field.
        for (value, field) in
            [(size, central::FULL_SIZE), (packed_size, central::PACKED_SIZE), (offset, central::OFFSET)]
        {
            let was_wide = had_zip64 && u32_at(header, field) == Some(IN_ZIP64_32);
            let wide = value >= u64::from(IN_ZIP64_32) || layout == Layout::AsRecorded && was_wide;
            if wide {
                zip64.push(value);
            }
            put(header, field, &narrow(value, wide));
        }
        let extra = if zip64.is_empty() && layout == Layout::AsRecorded {
            Cow::Borrowed(&header[name_end..extra_end])
        } else {
            Cow::Owned(extra::with_zip64(&header[name_end..extra_end], &zip64))
        };
        let len = extra_len(&extra)?;
        self.directory.extend_from_slice(&header[..name_end]);
        self.directory.extend_from_slice(&extra);
        self.directory.extend_from_slice(&header[extra_end..]);
        let start = self.directory.len() - extra.len() - (header.len() - extra_end) - name_end;
        let listed = &mut self.directory[start..];
        put(listed, central::EXTRA_LEN, &len);
        if !zip64.is_empty() && !had_zip64 {
            raise(listed, central::VERSION);
        }
        self.count += 1;
        Ok(())
    }

    /// Writes the directory and the end records, with the comment of `source`.
    pub(super) fn finish(mut self, source: &Jar<'_>) -> io::Result<W> {
        let start = self.position - self.base;
        let directory = std::mem::take(&mut self.directory);
        self.write(&directory)?;
        let size = directory.len() as u64;
        let old = &source.directory.end;
        let mut plain = source.bytes[old.plain.clone()].to_vec();

        let had_zip64 = old.zip64.is_some();
        let wide = |value: u64, field: usize| {
            value >= u64::from(IN_ZIP64_32) || had_zip64 && u32_at(&plain, field) == Some(IN_ZIP64_32)
        };
        let (wide_size, wide_start) = (wide(size, end::DIRECTORY_SIZE), wide(start, end::DIRECTORY_OFFSET));
        let wide_count = self.count >= u64::from(IN_ZIP64_16)
            || had_zip64 && u16_at(&plain, end::COUNT) == Some(IN_ZIP64_16);
        if had_zip64 || wide_size || wide_start || wide_count {
            let at = self.position - self.base;
            let mut record = match &old.zip64 {
                Some(old) => source.bytes[old.clone()].to_vec(),
                None => new_end64(),
            };
            put(&mut record, end64::COUNT_HERE, &self.count.to_le_bytes());
            put(&mut record, end64::COUNT, &self.count.to_le_bytes());
            put(&mut record, end64::DIRECTORY_SIZE, &size.to_le_bytes());
            put(&mut record, end64::DIRECTORY_OFFSET, &start.to_le_bytes());
            self.write(&record)?;
            let mut locator = [0; locator64::SIZE];
            put(&mut locator, 0, &locator64::SIGNATURE.to_le_bytes());
            put(&mut locator, locator64::OFFSET, &at.to_le_bytes());
            put(&mut locator, locator64::DISKS, &1u32.to_le_bytes());
            self.write(&locator)?;
        }
        let count = if wide_count { IN_ZIP64_16 } else { self.count as u16 };
        put(&mut plain, end::COUNT_HERE, &count.to_le_bytes());
        put(&mut plain, end::COUNT, &count.to_le_bytes());
        put(&mut plain, end::DIRECTORY_SIZE, &narrow(size, wide_size));
        put(&mut plain, end::DIRECTORY_OFFSET, &narrow(start, wide_start));
        self.write(&plain)?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A zip64 end record whose totals are filled in later.
fn new_end64() -> Vec<u8> {
    let mut record = vec![0; end64::SIZE];
    put(&mut record, 0, &end64::SIGNATURE.to_le_bytes());
    put(&mut record, end64::REST_SIZE, &(end64::SIZE as u64 - 12).to_le_bytes());
    put(&mut record, end64::MADE_BY, &VERSION_ZIP64.to_le_bytes());
    put(&mut record, end64::VERSION, &VERSION_ZIP64.to_le_bytes());
    record
}

/// A 32-bit field for a value that fits, or the reference to the zip64 record.
fn narrow(value: u64, wide: bool) -> [u8; 4] {
    if wide { IN_ZIP64_32 } else { value as u32 }.to_le_bytes()
}

fn extra_len(extra: &[u8]) -> io::Result<[u8; 2]> {
    let len =
        u16::try_from(extra.len()).map_err(|_| io::Error::other("its extra fields exceed 65535 bytes"))?;
    Ok(len.to_le_bytes())
}

fn clear(header: &mut [u8], at: usize, flag: u16) {
    let flags = u16_at(header, at).unwrap_or(0) & !flag;
    put(header, at, &flags.to_le_bytes());
}

/// Zip64 fields need version 4.5 to extract.
fn raise(header: &mut [u8], at: usize) {
    let version = u16_at(header, at).unwrap_or(0).max(VERSION_ZIP64);
    put(header, at, &version.to_le_bytes());
}

impl<'a> PackedEntry<'a> {
    /// Contents that are stored uncompressed.
    pub(super) fn stored(bytes: impl Into<Cow<'a, [u8]>>) -> PackedEntry<'a> {
        let bytes = bytes.into();
        PackedEntry { method: STORED, crc: crc32fast::hash(&bytes), size: bytes.len() as u64, bytes }
    }

    /// Contents deflated from `full` to `packed`.
    pub(super) fn deflated(full: &[u8], packed: Vec<u8>) -> PackedEntry<'a> {
        PackedEntry {
            method: DEFLATED,
            crc: crc32fast::hash(full),
            size: full.len() as u64,
            bytes: Cow::Owned(packed),
        }
    }
}
