//! Static data of a traced class library, which each trace of the image refers to.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use cct_events::{Class, Frame, FrameKind, FrameWriter};
use cct_index::provenance::Provenance;
use rayon::prelude::*;

/// Size of a frame in bytes before compression. A trace copies only the classes that it needs, and
/// reads a frame for each.
const FRAME: usize = 1 << 16;

/// Writes the classes, in the order of their numbers.
pub fn write(path: &Path, provenance: &Provenance, classes: &[Vec<u8>]) -> io::Result<()> {
    let mut numbered: Vec<(u32, u32, &[u8])> = Vec::with_capacity(classes.len());
    let (mut next_class, mut next_method) = (0, 0);
    for packed in classes {
        let mut rest = &packed[..];
        let head = Class::split(&mut rest).and_then(Class::head);
        let head =
            head.ok_or_else(|| io::Error::other("a class was packed in a way that is not understood"))?;
        next_class = next_class.max(head.number + 1);
        next_method = next_method.max(head.first_method + head.methods);
        numbered.push((head.number, head.first_method, packed));
    }
    numbered.sort_unstable();
    // A duplicate class file is one class.
    numbered.dedup_by_key(|(number, ..)| *number);
    // A frame's numbers are those of its first class and first method.
    let mut contents: Vec<(u32, u32, Vec<u8>)> = Vec::new();
    for (class, method, packed) in numbered {
        match contents.last_mut() {
            Some((.., last)) if last.len() + packed.len() <= FRAME => last.extend_from_slice(packed),
            _ => contents.push((class, method, packed.to_vec())),
        }
    }
    let frames: Vec<Frame> = contents
        .par_iter()
        .map(|(class, method, content)| Frame::new(FrameKind::Structure, *class, *method, content))
        .collect();
    let lines = format!("classes={next_class}\nmethods={next_method}\n{}", provenance.lines());
    let mut writer = FrameWriter::new(BufWriter::new(File::create(path)?), &lines)?;
    for frame in &frames {
        writer.frame(frame)?;
    }
    writer.flush()
}
