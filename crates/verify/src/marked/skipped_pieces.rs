//! The pieces of a body as they are skipped: where each may be, the report that it makes, and the
//! code that remains.

use std::collections::BTreeMap;

use cct_classfile::{Bci, Instruction, opcode};

use super::attribute::Descriptor;
use super::pieces::{Enter, ExitKind, Piece, Pieces};
use super::places;
use crate::faults::MarkerFault;
use crate::finding::{Check, Finding, Problem};
use crate::marked::method::Method;
use crate::marked::piece_index::{EntryLocation, PieceIndex};

/// The record of skipped pieces.
pub struct SkippedPieces<'m, 'p, 'a> {
    method: &'m Method<'m, 'a>,
    pieces: &'p Pieces<'p, 'a>,
    /// Number of calls that are regions, by bytecode index.
    calls: BTreeMap<Bci, usize>,
    /// Number of pieces.
    pub count: u64,
    /// The reports that the pieces make.
    pub walked: PieceIndex,
}

impl<'m, 'p, 'a> SkippedPieces<'m, 'p, 'a> {
    /// An empty record.
    pub fn new(method: &'m Method<'m, 'a>, pieces: &'p Pieces<'p, 'a>) -> Self {
        SkippedPieces { method, pieces, calls: method.calls(), count: 0, walked: PieceIndex::default() }
    }

    fn wrong<T>(&self, at: usize, original: impl Into<Option<Bci>>, what: MarkerFault) -> Check<T> {
        Err(Finding::at(Problem::Marker(what), original, self.pieces.code.bci(at)))
    }

    fn marker(&self, at: usize, enter: &Enter) -> Check<&Descriptor<'a>> {
        match self.method.markers.get(usize::from(enter.index)) {
            Some(marker) if self.method.has(marker) => Ok(marker),
            _ => self.wrong(at, None, MarkerFault::Number),
        }
    }

    /// The number of the first instruction after all pieces at `at`.
    pub fn skip(&self, mut at: usize) -> usize {
        while let Some((_, next)) = self.pieces.piece(at) {
            at = next;
        }
        at
    }

    /// Skips the code that runs once, before the label of the first instruction. Returns the number
    /// of the instruction after it.
    pub fn prologue(&mut self, mut at: usize) -> Check<usize> {
        while let Some((piece, next)) = self.pieces.piece(at) {
            match piece {
                Piece::Init(token) if self.walked.entered.is_empty() => self.walked.nulls.push(token),
                Piece::Enter(enter)
                    if self.marker(at, &enter)?.place == b"method"
                        && self.method.original.name != b"<init>" =>
                {
                    self.walked.entered.push((EntryLocation::Entry, enter));
                }
                _ => return Ok(at),
            }
            at = self.pass(next);
        }
        Ok(at)
    }

    fn pass(&mut self, next: usize) -> usize {
        self.count += 1;
        next
    }

    /// Skips the code that runs before an instruction each time: exits of regions that may have
    /// been left, entries, and before returns the exits of all regions. Returns the number of the
    /// instruction after it.
    pub fn before(&mut self, mut at: usize, number: usize, original: &Instruction<'a>) -> Check<usize> {
        let (mut has_entries, mut is_left) = (false, false);
        while let Some((piece, next)) = self.pieces.piece(at) {
            match piece {
                Piece::Exit(token, how, true) if !has_entries && !is_left => {
                    self.walked.left.push((number, token, how));
                }
                Piece::Exit(token, how, false) if opcode::is_return(original.opcode) => {
                    is_left = true;
                    self.walked.returns.push((number, token, how));
                }
                Piece::Enter(enter) if !is_left => {
                    has_entries = true;
                    self.walked.entered.push((EntryLocation::Before(number), enter));
                }
                _ => return self.wrong(at, original.bci, MarkerFault::Nowhere),
            }
            at = self.pass(next);
        }
        Ok(at)
    }

    /// Skips the code that runs when an instruction has completed: exits of a call, and entries of
    /// new objects. Returns the number of the instruction after it.
    pub fn behind(&mut self, mut at: usize, number: usize, original: &Instruction<'a>) -> Check<usize> {
        let mut calls = self.calls.get(&original.bci).copied().unwrap_or_default();
        while let Some((piece, next)) = self.pieces.piece(at) {
            match piece {
                Piece::Exit(token, how, true) if calls > 0 => {
                    calls -= 1;
                    self.walked.called.push((number, token, how));
                }
                Piece::Enter(enter) if self.is_behind(at, &enter, original)? => {
                    self.walked.entered.push((EntryLocation::Behind(number), enter));
                }
                _ => break,
            }
            at = self.pass(next);
        }
        match calls {
            0 => Ok(at),
            _ => self.wrong(at, original.bci, MarkerFault::NoExit),
        }
    }

    /// Whether an entry reports the object of this instruction, and not the next location.
    fn is_behind(&self, at: usize, enter: &Enter, original: &Instruction<'a>) -> Check<bool> {
        let marker = self.marker(at, enter)?;
        Ok(match marker.place {
            b"method" => original.opcode == opcode::INVOKESPECIAL && self.method.original.name == b"<init>",
            b"allocation" => places::is_made(self.method, marker, original),
            _ => false,
        })
    }

    /// Skips all exits by an exception in a handler after the code. Returns the number of the
    /// instruction after them.
    pub fn thrown(&mut self, mut at: usize) -> Option<usize> {
        let locals = self.pieces.locals;
        for token in (locals.at..locals.at + locals.by).rev() {
            match self.pieces.piece(at) {
                Some((Piece::Exit(told, ExitKind::Thrown, false), next)) if told == token => {
                    at = self.pass(next)
                }
                _ => return None,
            }
        }
        (locals.by > 0).then_some(at)
    }
}
