//! Archives whose bytes depend only on their contents and on one time: entries are sorted, and
//! belong to owner 0 without user names.

use std::io::Write as _;

use anyhow::Result;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

use super::date::SourceDate;
use super::tree::{PROGRAM, Tree};

/// A tar archive (ustar) of a tree, in a folder `top`; without such a folder if `top` is empty.
///
/// # Errors
/// Fails if a path is too long for the format.
pub fn tar(tree: &Tree, top: &str, date: SourceDate) -> Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let name = |path: &str| if top.is_empty() { path.to_owned() } else { format!("{top}/{path}") };
    if !top.is_empty() {
        append(
            &mut archive,
            &Entry { name: format!("{top}/"), kind: EntryType::Directory, mode: PROGRAM, bytes: &[] },
            date,
        )?;
    }
    for folder in tree.folders() {
        let entry = Entry {
            name: format!("{}/", name(folder)),
            kind: EntryType::Directory,
            mode: PROGRAM,
            bytes: &[],
        };
        append(&mut archive, &entry, date)?;
    }
    for (path, file) in tree.files() {
        let entry = Entry { name: name(path), kind: EntryType::Regular, mode: file.mode, bytes: &file.bytes };
        append(&mut archive, &entry, date)?;
    }
    Ok(archive.into_inner()?)
}

/// A file or folder of an archive.
struct Entry<'a> {
    name: String,
    kind: EntryType,
    mode: u32,
    bytes: &'a [u8],
}

fn append(archive: &mut Builder<Vec<u8>>, entry: &Entry<'_>, date: SourceDate) -> Result<()> {
    let mut header = Header::new_ustar();
    header.set_path(&entry.name)?;
    header.set_entry_type(entry.kind);
    header.set_mode(entry.mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(date.seconds());
    header.set_size(entry.bytes.len() as u64);
    header.set_cksum();
    Ok(archive.append(&header, entry.bytes)?)
}

/// Compresses bytes as gzip, without time and file name in the header.
///
/// # Errors
/// Never fails in practice: it writes to memory.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut out = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    out.write_all(bytes)?;
    Ok(out.finish()?)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::tree::DATA;
    use super::*;

    fn tree() -> Tree {
        let mut tree = Tree::default();
        tree.add("share/doc/b.txt", DATA, b"text".to_vec());
        tree.add("bin/tool", PROGRAM, b"program".to_vec());
        tree
    }

    #[test]
    fn an_archive_is_sorted_and_names_nobody() {
        let date = SourceDate::get().unwrap();
        let bytes = tar(&tree(), "tool-1", date).unwrap();
        let mut archive = tar::Archive::new(&bytes[..]);
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header();
            let owner = (header.uid().unwrap(), header.gid().unwrap(), header.username().unwrap());
            assert_eq!((owner, header.mtime().unwrap()), ((0, 0, Some("")), date.seconds()));
            let mode = header.mode().unwrap();
            let name = entry.path().unwrap().to_str().unwrap().to_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            seen.push(format!("{name} {mode:o} {text}"));
        }
        let expected = [
            "tool-1/ 755 ",
            "tool-1/bin/ 755 ",
            "tool-1/share/ 755 ",
            "tool-1/share/doc/ 755 ",
            "tool-1/bin/tool 755 program",
            "tool-1/share/doc/b.txt 644 text",
        ];
        assert_eq!(seen, expected);
        assert_eq!(gzip(&bytes).unwrap(), gzip(&tar(&tree(), "tool-1", date).unwrap()).unwrap());
    }

    #[test]
    fn gzip_has_no_time_in_it() {
        let packed = gzip(b"text").unwrap();
        // RFC 1952: magic, method, flags, then four bytes of time.
        assert_eq!((packed[..3].to_vec(), packed[3..8].to_vec()), (vec![0x1f, 0x8b, 8], vec![0; 5]));
    }
}
