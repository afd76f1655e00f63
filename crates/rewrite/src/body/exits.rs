//! Exits of a body: they restore the thread's context and run the exit code of passes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Included};

use cct_classfile::edit::frames::{Frame, VerificationType};
use cct_classfile::edit::{Asm, HandlerId};
use cct_classfile::{Bci, Result, opcode};
use cct_flow::initialisation::{self, Region};
use cct_index::positions::Form;

use super::plans::Plans;
use crate::pass::{BodyWriter, Guard};

/// Restores the thread's context before each return. A body under the original signature restores
/// the context that the thread carried on entry, on every exit path.
pub(super) fn restore_on_returns(body: &mut BodyWriter<'_, '_, '_>) -> Result<()> {
    let mut restore = Asm::new();
    restore_thread(body, &mut restore)?;
    body.before_returns(&restore);
    Ok(())
}

fn restore_thread(body: &mut BodyWriter<'_, '_, '_>, asm: &mut Asm) -> Result<()> {
    match body.form {
        Form::Original => body.emitter.restore_thread(asm, body.locals.thread, body.locals.saved),
        Form::Extended => Ok(()),
    }
}

/// Guards a body against exceptions that leave it. The entries of passes that guard ranges come
/// first, as the JVM takes the first entry that matches (JVMS 2.10). The entry of the whole body
/// follows.
pub(super) fn catch_all(body: &mut BodyWriter<'_, '_, '_>, plans: &Plans<'_>) -> Result<()> {
    if body.form == Form::Extended && plans.passes().all(|pass| pass.guard(body) == Guard::Nowhere) {
        return Ok(());
    }
    let guards: Vec<Guard<'_>> = plans.passes().map(|pass| pass.guard(body)).collect();
    let states = states(body)?;
    let mut restore = Asm::default();
    restore_thread(body, &mut restore)?;
    let mut codes = Vec::with_capacity(guards.len());
    for (pass, guard) in plans.passes().zip(&guards) {
        let mut code = Asm::default();
        if *guard != Guard::Nowhere {
            pass.leave(body, &mut code)?;
        }
        codes.push(code);
    }
    let exits = Exits { form: body.form, guards: &guards, codes: &codes, restore: &restore };
    let pieces = pieces(&guards);
    let mut handlers = Handlers::default();
    for (region, frame) in &states {
        for &Piece { start, end, passes } in &pieces {
            let (start, end) = (start.max(region.start), end.min(region.end));
            if start < end {
                let handler = handlers
                    .of(region, passes, || body.edit.handler(exits.handler(region, passes), frame.clone()));
                body.edit.catch_all(start, end, handler);
            }
        }
    }
    for (region, frame) in states.iter().filter(|(region, _)| exits.covers(region)) {
        let nobody = PassSet::default();
        let handler =
            handlers.of(region, nobody, || body.edit.handler(exits.handler(region, nobody), frame.clone()));
        body.edit.catch_all(region.start, region.end, handler);
    }
    Ok(())
}

/// A set of passes, by their positions among the passes of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct PassSet(u64);

impl PassSet {
    fn of(place: usize) -> PassSet {
        PassSet(1 << place)
    }

    fn contains(self, place: usize) -> bool {
        self.0 & PassSet::of(place).0 != 0
    }
}

/// A range of the code that these passes guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece {
    start: Bci,
    end: Bci,
    passes: PassSet,
}

/// The handlers of a body: one for each set of passes and each state of `this`, initialised or not.
#[derive(Default)]
struct Handlers(Vec<(bool, PassSet, HandlerId)>);

impl Handlers {
    fn of(&mut self, region: &Region, passes: PassSet, make: impl FnOnce() -> HandlerId) -> HandlerId {
        let is_this = |(initialised, of, _): &&(bool, PassSet, HandlerId)| {
            (*initialised, *of) == (region.initialised, passes)
        };
        if let Some(&(.., handler)) = self.0.iter().find(is_this) {
            return handler;
        }
        let handler = make();
        self.0.push((region.initialised, passes, handler));
        handler
    }
}

/// The code that runs when an exception leaves a body.
struct Exits<'e> {
    form: Form,
    /// The part of the body from which each pass runs its exit code.
    guards: &'e [Guard<'e>],
    /// The exit code of the passes, in the same order as the guards.
    codes: &'e [Asm],
    /// Restores the context that the thread carried.
    restore: &'e Asm,
}

impl Exits<'_> {
    /// Whether a handler covers the whole region.
    fn covers(&self, region: &Region) -> bool {
        self.form == Form::Original || self.guards.iter().any(|guard| runs_in(guard, region))
    }

    /// A handler for a region, or for a range in it that these passes guard. It rethrows the
    /// exception.
    fn handler(&self, region: &Region, ranged: PassSet) -> Asm {
        let mut asm = Asm::new();
        let mut outermost = Asm::default();
        for (place, (guard, code)) in self.guards.iter().zip(self.codes).enumerate() {
            let runs = ranged.contains(place) || runs_in(guard, region);
            let to = if *guard == Guard::Outermost { &mut outermost } else { &mut asm };
            if runs {
                to.bytes.extend_from_slice(&code.bytes);
            }
        }
        asm.bytes.extend_from_slice(&self.restore.bytes);
        asm.bytes.extend_from_slice(&outermost.bytes);
        asm.op(opcode::ATHROW);
        asm
    }
}

/// Whether a guard covers a whole region.
fn runs_in(guard: &Guard<'_>, region: &Region) -> bool {
    *guard == Guard::Body || *guard == Guard::Outermost && region.initialised
}

/// The guarded ranges in code order, cut where a range of another pass begins or ends.
fn pieces(guards: &[Guard<'_>]) -> Vec<Piece> {
    let ranged = guards.iter().enumerate().filter_map(|(place, guard)| match guard {
        Guard::Ranges(ranges) => Some((PassSet::of(place), *ranges)),
        _ => None,
    });
    let mut pieces: Vec<Piece> = Vec::new();
    for (pass, ranges) in ranged {
        let ranges = ranges.iter().filter(|(start, end)| start < end);
        let added = ranges.map(|&(start, end)| Piece { start, end, passes: pass });
        pieces =
            if pieces.is_empty() { added.collect() } else { overlaid(&pieces, &added.collect::<Vec<_>>()) };
    }
    pieces
}

/// The overlay of two lists of ranges.
fn overlaid(below: &[Piece], above: &[Piece]) -> Vec<Piece> {
    let all = || below.iter().chain(above);
    let bounds: BTreeSet<Bci> = all().flat_map(|piece| [piece.start, piece.end]).collect();
    let mut cut: BTreeMap<(Bci, Bci), PassSet> = BTreeMap::new();
    for piece in all() {
        let mut start = piece.start;
        for &end in bounds.range((Excluded(piece.start), Included(piece.end))) {
            cut.entry((start, end)).or_default().0 |= piece.passes.0;
            start = end;
        }
    }
    cut.into_iter().map(|((start, end), passes)| Piece { start, end, passes }).collect()
}

/// The parts of a body that one handler can cover, each with the types of its locals.
fn states(body: &mut BodyWriter<'_, '_, '_>) -> Result<Vec<(Region, Frame)>> {
    use VerificationType as V;
    let signature = body.method.signature;
    let is_constructor = !signature.is_static && signature.is_constructor;
    // In a constructor `this` is uninitialised up to the call of this() or super(), and a frame
    // must say which. So each handler exists twice.
    let regions = if is_constructor {
        initialisation::regions(body.method.code, &body.emitter.edit.class().pool)
    } else {
        vec![Region { start: 0, end: body.method.code.length(), initialised: true }]
    };
    let throwable = body.emitter.constants.throwable(body.emitter.edit)?;
    let locals = body.locals;
    let object = match body.form {
        Form::Extended if locals.tokens == 0 => 0,
        _ => body.emitter.constants.object(body.emitter.edit)?,
    };
    let frame = |region: &Region| {
        let is_new = is_constructor && !region.initialised;
        let mut types = if is_new { vec![V::UninitializedThis] } else { Vec::new() };
        types.resize(usize::from(locals.at), V::Top);
        types.push(V::Long);
        // The locals between the node and the optional ones: none, the parameter that is always
        // null, or the saved context and the thread.
        match (body.form, locals.optional()) {
            (Form::Original, _) => types.extend([V::Long, V::Object(object)]),
            (Form::Extended, Some(next)) if next > locals.node + 2 => types.push(V::Top),
            (Form::Extended, _) => {}
        }
        if locals.pending.is_some() {
            types.push(V::Integer);
        }
        types.extend((0..locals.tokens).map(|_| V::Object(object)));
        Frame { locals: types, stack: vec![V::Object(throwable)] }
    };
    Ok(regions.into_iter().map(|region| (region, frame(&region))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_where_those_of_another_pass_begin_or_end() {
        let (a, b) = ([(0, 10), (20, 30)], [(5, 25)]);
        let guards = [Guard::Ranges(&a), Guard::Body, Guard::Ranges(&b)];
        let expected = [(0, 5, 1), (5, 10, 5), (10, 20, 4), (20, 25, 5), (25, 30, 1)];
        let expected = expected.map(|(start, end, passes)| Piece { start, end, passes: PassSet(passes) });
        assert_eq!(pieces(&guards), expected);
        // Adjacent ranges of one pass stay separate.
        let c = [(0, 5), (5, 9)];
        assert_eq!(pieces(&[Guard::Ranges(&c)]).iter().map(|p| (p.start, p.end)).collect::<Vec<_>>(), c);
    }
}
