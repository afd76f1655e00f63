//! A method with markers: without the pieces it is the original, each marker is where its
//! descriptor says, and each entered region is left.

use std::collections::BTreeMap;

use cct_classfile::{Bci, Code, Instruction, Member, opcode};

use super::helpers::Helper;
use super::order;
use super::pieces::Pieces;
use super::places;
use super::skipped_pieces::SkippedPieces;
use crate::align::alignment::{Alignment, AppendedHandler};
use crate::align::mnemonic;
use crate::align::same::{is_same, jumps};
use crate::body::{argument_slots, rewritten_code};
use crate::faults::HandlerFault;
use crate::finding::{Check, Finding, Problem};
use crate::limits::MethodCode;
use crate::marked::method::Method;
use crate::op::Op;
use crate::probe::{Carries, Locals, Reader};
use crate::tables::{TRAMPOLINE, Tables};
use crate::{frames, limits};

/// Results of the check of a correct method.
#[derive(Debug, Default)]
pub struct Body {
    /// The helpers that it calls, each for one of its markers.
    pub called: BTreeMap<Helper, u16>,
    /// Number of pieces.
    pub pieces: u64,
    /// Attributes of the code that the rewriter omitted.
    pub dropped: Vec<String>,
}

impl<'a> Method<'_, 'a> {
    /// Checks a method.
    pub fn body(&self, rewritten: &Member<'a>) -> Check<Body> {
        let code = rewritten_code(self.after, rewritten)?;
        let arguments = argument_slots(self.before, self.original)?;
        let reader = Reader::new(self.after, &code);
        let mut first = None;
        // The tokens follow the arguments, or all locals if one of two slots lies across the end of
        // the arguments.
        let behind_all = self.code.max_locals.max(arguments);
        let places = if behind_all == arguments { vec![arguments] } else { vec![arguments, behind_all] };
        for at in places {
            match self.under(at, rewritten, &code, &reader) {
                Ok(body) => return Ok(body),
                Err(finding) => first = Some(first.unwrap_or(finding)),
            }
        }
        Err(first.unwrap_or_else(|| Finding::of(Problem::Prologue)))
    }

    fn under(
        &self,
        at: u16,
        rewritten: &Member<'a>,
        code: &Code<'a>,
        reader: &Reader<'_, 'a>,
    ) -> Check<Body> {
        let by = self.tokens(at, reader)?;
        let locals =
            Locals { at, by, node: at, pending: None, thread: None, carries: Carries::Tokens, tokens: by };
        let scratch = self.code.max_locals.max(at).saturating_add(by);
        let pieces = Pieces {
            class: self.after,
            code: reader,
            locals,
            scratch,
            gate: self.gate,
            markers: self.markers,
            node: None,
        };
        let told = SkippedPieces::new(self, &pieces);
        let walk = Walk { method: self, pieces: &pieces, at: 0, told, aligned: Alignment::empty() };
        let (aligned, told) = walk.all()?;
        let SkippedPieces { walked, count, .. } = told;
        let tables = Tables {
            before: self.before,
            after: self.after,
            original: self.code,
            rewritten: code,
            aligned: &aligned,
            locals,
        };
        let added = tables.exception_table()?;
        // They cover the pieces too: from label to label, apart from intermediate jumps.
        let is_label = |at: Bci| {
            let trampolines = &aligned.trampolines;
            let is_beside = |place: Bci| trampolines.binary_search_by_key(&place, |(at, _)| *at).is_ok();
            aligned.labels.binary_search(&at).is_ok()
                || is_beside(at)
                || is_beside(at.wrapping_sub(TRAMPOLINE))
        };
        if !added.iter().all(|handler| is_label(handler.start) && is_label(handler.end)) {
            return Err(Finding::of(Problem::Handlers(HandlerFault::WithinPiece)));
        }
        let ways_out = tables.ways_out(&added);
        let dropped = tables.attributes()?;
        frames::check(&tables, self.original, rewritten)?;
        limits::check(
            MethodCode { class: self.before, method: self.original, code: self.code },
            MethodCode { class: self.after, method: rewritten, code },
        )?;
        order::check(self, &walked, &aligned, scratch)?;
        if by > 0 && places::can_throw(self.before, self.original, &aligned.originals) {
            let reached = places::initialised(self.before, self.original, self.code, &aligned.originals);
            let otherwise = HandlerFault::Region;
            let name = self.original.name;
            tables.deals_with_exceptions(name, &ways_out, &reached, |way| way.tells, otherwise)?;
        }
        Ok(Body { called: walked.called_helpers(), pieces: count, dropped })
    }
}

struct Walk<'w, 'p, 'a> {
    method: &'w Method<'w, 'a>,
    pieces: &'p Pieces<'p, 'a>,
    /// Number of the next instruction of the marked code.
    at: usize,
    told: SkippedPieces<'w, 'p, 'a>,
    aligned: Alignment<'a>,
}

impl<'w, 'p, 'a> Walk<'w, 'p, 'a> {
    fn bci(&self) -> Bci {
        self.pieces.code.bci(self.at)
    }

    fn all(mut self) -> Check<(Alignment<'a>, SkippedPieces<'w, 'p, 'a>)> {
        let originals: Vec<Instruction<'a>> = self.method.code.instructions().collect();
        self.at = self.told.prologue(self.at)?;
        for (number, original) in originals.iter().enumerate() {
            let before = number.checked_sub(1).map(|n| originals[n]);
            self.trampolines(before.as_ref(), Some(original));
            self.aligned.labels.push(self.bci());
            self.at = self.told.before(self.at, number, original)?;
            let Some(rewritten) = self.pieces.code.steps.get(self.at) else {
                let problem = Problem::Instruction("the end of the code", mnemonic(original));
                return Err(Finding::at(problem, original.bci, self.bci()));
            };
            let locals = self.pieces.locals;
            if !is_same(original, rewritten, locals.at, locals.by) {
                let problem = Problem::Instruction(mnemonic(rewritten), mnemonic(original));
                return Err(Finding::at(problem, original.bci, self.bci()));
            }
            self.aligned.places.push(self.bci());
            self.at = self.told.behind(self.at + 1, number, original)?;
        }
        self.trampolines(originals.last(), None);
        self.aligned.labels.push(self.bci());
        self.handler()?;
        self.aligned.originals = originals;
        jumps(&self.aligned, self.pieces.code)?;
        Ok((self.aligned, self.told))
    }

    /// Skips intermediate jumps of far jumps, which control cannot fall into.
    fn trampolines(&mut self, before: Option<&Instruction<'a>>, next: Option<&Instruction<'a>>) {
        if !before.is_some_and(|i| opcode::ends_flow(i.opcode)) {
            return;
        }
        let code = self.pieces.code;
        let is_jump = |op: u8| matches!(op, opcode::GOTO | opcode::GOTO_W);
        while code.steps.get(self.at).is_some_and(|i| i.opcode == opcode::GOTO_W) {
            // It may be the original's own jump; then no intermediate one follows.
            if next.is_some_and(|i| is_jump(i.opcode)) {
                let behind = self.told.skip(self.at + 1);
                if !code.steps.get(behind).is_some_and(|i| is_jump(i.opcode)) {
                    return;
                }
            }
            let Some(target) = code.steps[self.at].target() else { return };
            self.aligned.trampolines.push((self.bci(), target));
            self.at += 1;
        }
    }

    /// Checks the handler after the code: it reports all exits by an exception, and rethrows.
    fn handler(&mut self) -> Check {
        if self.at == self.pieces.code.steps.len() {
            return Ok(());
        }
        let begin = self.bci();
        let tail = || Finding::at(Problem::Tail, None, begin);
        self.at = self.told.thrown(self.at).ok_or_else(tail)?;
        if self.pieces.code.op(self.at) != Op::Throw || self.at + 1 != self.pieces.code.steps.len() {
            return Err(tail());
        }
        self.aligned.appended.push(AppendedHandler {
            at: begin,
            counts: false,
            restores: false,
            ends: false,
            tells: true,
        });
        Ok(())
    }
}
