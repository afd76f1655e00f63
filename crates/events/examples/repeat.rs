//! Makes a long trace from a short one, as if its threads had repeated their actions:
//! `repeat FROM TIMES TO`.
//!
//! For measuring readers of long traces (docs/research/trace.md): a program would have to run for
//! that long. It repeats the chunks of threads that do mostly one thing, except for the first and
//! the last ones. Where repetitions meet, a running method may have begun in another chunk.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};

use cct_events::FrameKind;
use cct_events::file::Places;
use xxhash_rust::xxh3::Xxh3;

/// Size of a frame's head in bytes, and offset of the checksum in it.
const HEAD: usize = 28;
const SUMMED: usize = 20;

/// Maximum number of chunks of threads that are not repeated. These do various things, on stacks
/// that differ between the start and the end of a repetition.
const FEW: u32 = 50;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, times, to] = &arguments[..] else {
        return Err(io::Error::other("give FROM, TIMES and TO"));
    };
    let times: u32 = times.parse().map_err(io::Error::other)?;
    let bytes = fs::read(from)?;
    let places = Places::of(io::Cursor::new(&bytes)).map_err(io::Error::other)?;
    let mut chunks: BTreeMap<u32, u32> = BTreeMap::new();
    for place in places.list.iter().filter(|place| place.head.kind == FrameKind::Events) {
        *chunks.entry(place.head.thread).or_default() += 1;
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create(to)?);
    let frames = places.list.first().map_or(bytes.len(), |first| first.at as usize);
    out.write_all(&bytes[..frames])?;
    for round in 0..times {
        for place in &places.list {
            let at = place.at as usize;
            let frame = &bytes[at..at + HEAD + place.head.stored as usize];
            let (of, all) =
                (place.head.sequence, chunks.get(&place.head.thread).copied().unwrap_or_default());
            // All but those at the beginning and at the end are repeated each time.
            let is_inner = place.head.kind == FrameKind::Events && all > FEW && of > 0 && of < all - 1;
            let is_now = is_inner || round == if is_early(place.head.kind, of, all) { 0 } else { times - 1 };
            if !is_now {
                continue;
            }
            if place.head.kind != FrameKind::Events || all <= FEW || of == 0 {
                out.write_all(frame)?;
                continue;
            }
            let inner = all - 2;
            let number = if is_inner { of + round * inner } else { 1 + times * inner };
            let mut head: [u8; HEAD] = frame[..HEAD].try_into().map_err(io::Error::other)?;
            head[8..12].copy_from_slice(&number.to_le_bytes());
            let mut hasher = Xxh3::new();
            hasher.update(&head[..SUMMED]);
            hasher.update(&frame[HEAD..]);
            head[SUMMED..].copy_from_slice(&hasher.digest().to_le_bytes());
            out.write_all(&head)?;
            out.write_all(&frame[HEAD..])?;
        }
    }
    out.flush()
}

/// Whether a frame precedes the repeated part: classes, threads, names, and the first events.
fn is_early(kind: FrameKind, sequence: u32, chunks: u32) -> bool {
    match kind {
        FrameKind::End | FrameKind::Notes => false,
        FrameKind::Events => chunks <= FEW || sequence == 0,
        _ => true,
    }
}
