//! The tables of code: the exception table, lines, variables, type annotations.

use cct_classfile::attributes::{AttributeInfo, LocalRange, LocalVariable, Target, TypeAnnotation};
use cct_classfile::{Attribute, Bci, ClassFile, Code, Handler, access, mutf8, opcode};

use crate::align::alignment::{Alignment, AppendedHandler};
use crate::faults::HandlerFault;
use crate::finding::{Check, Finding, Problem};
use crate::handlers::FreeNumbers;
use crate::probe::Locals;

/// Length in bytes of an intermediate jump.
pub(crate) const TRAMPOLINE: Bci = 5;

/// An original and its rewritten code, aligned.
pub struct Tables<'t, 'a> {
    /// The original class.
    pub before: &'t ClassFile<'a>,
    /// The rewritten one.
    pub after: &'t ClassFile<'a>,
    /// The original's code.
    pub original: &'t Code<'a>,
    /// The rewritten one.
    pub rewritten: &'t Code<'a>,
    /// The positions of instructions.
    pub aligned: &'t Alignment<'a>,
    /// The locals that were added.
    pub locals: Locals,
}

impl<'a> Tables<'_, 'a> {
    /// Rewritten position of a label of the original.
    fn label(&self, bci: Bci) -> Option<Bci> {
        self.aligned.label(bci, self.original.length())
    }

    /// Checks the exception table: the original's entries in their order, then catch-alls that lead
    /// to appended code. Returns the catch-alls.
    pub fn exception_table(&self) -> Check<Vec<Handler>> {
        let wrong = |what, at: Option<Bci>| Finding::at(Problem::Handlers(what), at, None);
        let mut rest = self.rewritten.handlers.iter();
        for handler in &self.original.handlers {
            let [start, end, at] =
                [handler.start, handler.end, handler.handler].map(|bci| self.label(bci).unwrap_or(Bci::MAX));
            let parts = match self.resumed(handler) {
                Some(behind) => vec![(start, at, at), (at, behind, behind), (behind, end, at)],
                None => vec![(start, end, at)],
            };
            for (start, end, at) in parts {
                for (start, end) in self.without_trampolines(start, end) {
                    let wanted = Handler { start, end, handler: at, catch_type: handler.catch_type };
                    if rest.next() != Some(&wanted) {
                        return Err(wrong(HandlerFault::Own, Some(handler.start)));
                    }
                }
            }
        }
        let added: Vec<Handler> = rest.copied().collect();
        let end = self.aligned.labels.last().copied().unwrap_or_default();
        for handler in &added {
            let is_appended = self.aligned.handler(handler.handler).is_some();
            if handler.catch_type != 0 || !is_appended {
                return Err(wrong(HandlerFault::Unknown, None));
            }
            if handler.end > end || handler.start < self.aligned.labels[0] {
                return Err(wrong(HandlerFault::CoversOther, None));
            }
            if !self.trampolines(handler.start, handler.end).is_empty() {
                return Err(wrong(HandlerFault::CoversJump, None));
            }
        }
        Ok(added)
    }

    /// The position where an entry's handler resumes if code inserted before it throws: after that
    /// code, if the entry covers it. Otherwise the handler would run forever.
    fn resumed(&self, entry: &Handler) -> Option<Bci> {
        let number = self.aligned.number(entry.handler)?;
        let covers_itself = (entry.start..entry.end).contains(&entry.handler);
        let behind = self.aligned.places[number];
        (covers_itself && self.aligned.labels[number] < behind).then_some(behind)
    }

    /// The resume positions of handlers with inserted code before them, with their labels,
    /// ascending.
    pub fn all_resumed(&self) -> Vec<(Bci, Bci)> {
        let of = |entry: &Handler| Some((self.resumed(entry)?, self.label(entry.handler)?));
        let mut all: Vec<(Bci, Bci)> = self.original.handlers.iter().filter_map(of).collect();
        all.sort_unstable();
        all
    }

    /// The intermediate jumps in a range.
    fn trampolines(&self, start: Bci, end: Bci) -> &[(Bci, Bci)] {
        let all = &self.aligned.trampolines;
        let from = all.partition_point(|(at, _)| *at < start);
        let to = all.partition_point(|(at, _)| *at < end);
        &all[from..to.max(from)]
    }

    fn without_trampolines(&self, start: Bci, end: Bci) -> Vec<(Bci, Bci)> {
        let mut ranges = Vec::new();
        let mut from = start;
        for &(at, _) in self.trampolines(start, end) {
            if from < at {
                ranges.push((from, at));
            }
            from = at + TRAMPOLINE;
        }
        if from < end {
            ranges.push((from, end));
        }
        ranges
    }

    /// For each instruction of the original, the appended handler of exceptions that no handler of
    /// the method catches: the first entry that covers it wins (JVMS 2.10).
    pub fn ways_out(&self, added: &[Handler]) -> Vec<Option<AppendedHandler>> {
        let places = &self.aligned.places;
        let mut ways = vec![None; places.len()];
        let mut open = FreeNumbers::new(places.len());
        for entry in added {
            let appended = self.aligned.handler(entry.handler);
            let end = places.partition_point(|place| *place < entry.end);
            let mut at = open.next(places.partition_point(|place| *place < entry.start));
            while at < end {
                ways[at] = appended;
                open.assign(at);
                at = open.next(at + 1);
            }
        }
        ways
    }

    /// Checks that each exception that leaves a body reaches an appended handler, even one that may
    /// occur anywhere. The handler gives the thread back its context under the original signature,
    /// or writes the method's end. No handler may cover the call of `this(..)` or `super(..)`.
    pub fn deals_with_exceptions(
        &self,
        method: &[u8],
        ways_out: &[Option<AppendedHandler>],
        reached: &[bool],
        does: impl Fn(&AppendedHandler) -> bool,
        otherwise: HandlerFault,
    ) -> Check {
        for (number, (i, &place)) in self.aligned.originals.iter().zip(&self.aligned.places).enumerate() {
            if !reached[number] {
                continue;
            }
            let callee = i.pool_index().and_then(|index| self.before.pool.member_ref(index).ok());
            let is_own =
                |class: &[u8]| class == self.before.name() || Some(class) == self.before.super_name();
            let initialises = method == b"<init>"
                && i.opcode == opcode::INVOKESPECIAL
                && callee.is_some_and(|c| c.name == b"<init>" && is_own(c.class));
            match ways_out[number] {
                Some(handler) if does(&handler) => {}
                None if initialises => {}
                _ => {
                    return Err(Finding::at(Problem::Handlers(otherwise), i.bci, place));
                }
            }
        }
        Ok(())
    }

    /// Checks the attributes of the code, except frames. Returns the names of omitted ones, whose
    /// content is unknown.
    pub fn attributes(&self) -> Check<Vec<String>> {
        let is_frames = |a: &&Attribute<'a>| a.name == b"StackMapTable";
        let mut after = self.rewritten.attributes.iter().filter(|a| !is_frames(a));
        let mut dropped = Vec::new();
        for attribute in self.original.attributes.iter().filter(|a| !is_frames(a)) {
            let name = mutf8::lossy(attribute.name);
            let is_known = matches!(
                attribute.name,
                b"LineNumberTable"
                    | b"LocalVariableTable"
                    | b"LocalVariableTypeTable"
                    | b"RuntimeVisibleTypeAnnotations"
                    | b"RuntimeInvisibleTypeAnnotations"
            );
            if !is_known {
                dropped.push(name);
                continue;
            }
            let same = after.next().is_some_and(|twin| {
                twin.name == attribute.name && self.same(attribute, twin).unwrap_or(false)
            });
            if !same {
                return Err(Finding::of(Problem::Attribute(name)));
            }
        }
        // Names for locals without a name, by their original numbers.
        let named = after.next();
        if after.next().is_some() || named.is_some_and(|a| !self.names_locals(a).unwrap_or(false)) {
            return Err(Finding::of(Problem::Attribute("after the original ones of the code".to_owned())));
        }
        Ok(dropped)
    }

    /// Rewritten position of an index in a table. An entry that holds from the beginning also holds
    /// in the prologue, and an index inside an instruction counts as that instruction.
    fn around(&self, bci: Bci) -> Option<Bci> {
        if bci == 0 {
            return Some(0);
        }
        if bci >= self.original.length() {
            return (bci == self.original.length()).then(|| self.label(bci))?;
        }
        let number = self.aligned.originals.partition_point(|i| i.bci <= bci).checked_sub(1)?;
        Some(self.aligned.labels[number])
    }

    fn range(&self, start: u16, length: u16) -> Option<(Bci, Bci)> {
        let from = self.around(Bci::from(start))?;
        Some((from, self.around(Bci::from(start) + Bci::from(length))?.wrapping_sub(from)))
    }

    fn slot(&self, slot: u16) -> Option<u16> {
        if slot >= self.locals.at { slot.checked_add(self.locals.by) } else { Some(slot) }
    }

    /// Whether two attributes mean the same, each for its own code.
    fn same(&self, before: &Attribute<'a>, after: &Attribute<'a>) -> Option<bool> {
        use AttributeInfo as A;
        let parse = |a, class: &ClassFile<'a>| AttributeInfo::parse(a, &class.pool).ok();
        Some(match (parse(before, self.before)?, parse(after, self.after)?) {
            (A::LineNumberTable(a), A::LineNumberTable(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .zip(&b)
                        .all(|(a, b)| a.line == b.line && self.around(a.start.into()) == Some(b.start.into()))
            }
            (A::LocalVariableTable(a), A::LocalVariableTable(b))
            | (A::LocalVariableTypeTable(a), A::LocalVariableTypeTable(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.same_variable(a, b))
            }
            (A::RuntimeVisibleTypeAnnotations(a), A::RuntimeVisibleTypeAnnotations(b))
            | (A::RuntimeInvisibleTypeAnnotations(a), A::RuntimeInvisibleTypeAnnotations(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| self.same_annotation(a, b))
            }
            _ => false,
        })
    }

    fn same_variable(&self, a: &LocalVariable, b: &LocalVariable) -> bool {
        (a.name, a.descriptor) == (b.name, b.descriptor)
            && self.slot(a.slot) == Some(b.slot)
            && self.range(a.start, a.length) == Some((b.start.into(), b.length.into()))
    }

    fn same_annotation(&self, a: &TypeAnnotation<'a>, b: &TypeAnnotation<'a>) -> bool {
        // A replaced invocation begins where its context is pushed.
        let is_at = |a: u16, b: u16| {
            self.aligned.number(a.into()).is_some_and(|number| {
                (self.aligned.labels[number]..=self.aligned.places[number]).contains(&Bci::from(b))
            })
        };
        let same_range = |(a, b): (&LocalRange, &LocalRange)| {
            self.slot(a.slot) == Some(b.slot)
                && self.range(a.start, a.length) == Some((b.start.into(), b.length.into()))
        };
        let same_target = match (&a.target, &b.target) {
            (Target::LocalVariable(a), Target::LocalVariable(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(same_range)
            }
            (Target::Instruction(a), Target::Instruction(b)) => is_at(*a, *b),
            (Target::TypeArgument { bci: a, argument: x }, Target::TypeArgument { bci: b, argument: y }) => {
                x == y && is_at(*a, *b)
            }
            (a, b) => a == b,
        };
        same_target && (a.target_type, a.path, &a.annotation) == (b.target_type, b.path, &b.annotation)
    }

    /// Whether an added table names locals after their original numbers, for the whole code.
    fn names_locals(&self, attribute: &Attribute<'a>) -> Option<bool> {
        let AttributeInfo::LocalVariableTable(entries) =
            AttributeInfo::parse(attribute, &self.after.pool).ok()?
        else {
            return Some(false);
        };
        Some(entries.iter().all(|v| {
            let old = if v.slot >= self.locals.at { v.slot.wrapping_sub(self.locals.by) } else { v.slot };
            let name = format!("<local{old}>");
            v.start == 0
                && Bci::from(v.length) == self.rewritten.length()
                && self.after.pool.utf8(v.name) == Ok(name.as_bytes())
                && self.after.pool.utf8(v.descriptor) == Ok(b"I")
        }))
    }
}

/// Whether a method is static. A constructor has `this`, which it has yet to initialise.
pub fn is_static(flags: u16) -> bool {
    flags & access::STATIC != 0
}
