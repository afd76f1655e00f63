//! Mutator for traces: it changes frames and corrects their checksums.

use cct_events::file::FrameReader;
use cct_events::{Frame, FrameKind, FrameWriter};

use super::damage;
use crate::Dice;

const KINDS: [FrameKind; 8] = [
    FrameKind::Structure,
    FrameKind::Class,
    FrameKind::Thread,
    FrameKind::Events,
    FrameKind::ClassName,
    FrameKind::Meta,
    FrameKind::Notes,
    FrameKind::End,
];

/// Changes a trace in one to three places.
pub fn trace(input: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Some((provenance, mut frames)) = parse(input).filter(|(_, frames)| !frames.is_empty()) else {
        return super::bytes(input, dice);
    };
    for _ in 0..=dice.below(3) {
        let (at, other) = (dice.below(frames.len()), dice.below(frames.len()));
        match dice.below(10) {
            0 => frames.swap(at, other),
            1 => {
                let copy = frames[at].clone();
                frames.insert(other, copy);
            }
            2 if frames.len() > 1 => drop(frames.remove(at)),
            3 => {
                let (kind, thread) = (*dice.pick(&KINDS), u32::from(dice.number()));
                let content = frames[at].content().unwrap_or_default();
                frames[at] = Frame::new(kind, thread, u32::from(dice.number()), &content);
            }
            4..=6 => change(&mut frames[at], dice, words),
            _ => change(&mut frames[at], dice, damage),
        }
    }
    let mut file = FrameWriter::new(Vec::new(), &provenance).unwrap();
    frames.iter().for_each(|frame| file.frame(frame).unwrap());
    let mut bytes = file.into_inner();
    if dice.once_in(10) {
        damage(&mut bytes, dice);
    }
    bytes.truncate(super::MAX_BYTES);
    bytes
}

fn change(frame: &mut Frame, dice: &mut Dice, how: fn(&mut Vec<u8>, &mut Dice)) {
    let mut content = frame.content().unwrap_or_default();
    how(&mut content, dice);
    let head = frame.head;
    *frame = Frame::new(head.kind, head.thread, head.sequence, &content);
}

/// Changes events: a word becomes another one, moves, is repeated or removed.
fn words(content: &mut Vec<u8>, dice: &mut Dice) {
    let words = content.len() / 4;
    let (at, other) = (4 * dice.below(words.max(1)), 4 * dice.below(words.max(1)));
    let Some(&word) = content.get(at..).and_then(|rest| rest.first_chunk::<4>()) else {
        return damage(content, dice);
    };
    match dice.below(5) {
        0 => drop(content.drain(at..at + 4)),
        1 => drop(content.splice(other..other, word)),
        // A different kind, for the same method or payload.
        2 => content[at + 3] ^= (dice.any() as u8) & 0xFE,
        3 => content[at..at + 4].copy_from_slice(&u32::from(dice.number()).to_le_bytes()),
        _ => content[at..at + 2].copy_from_slice(&dice.number().to_le_bytes()),
    }
}

fn parse(input: &[u8]) -> Option<(String, Vec<Frame>)> {
    let mut reader = FrameReader::new(input).ok()?;
    let provenance = reader.provenance().to_owned();
    let mut frames = Vec::new();
    while let Some(frame) = reader.next_frame().ok()? {
        frames.push(frame);
    }
    Some((provenance, frames))
}
