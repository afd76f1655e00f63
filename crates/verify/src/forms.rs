//! The two forms of a method, and the kinds of forwarders that an extended form without a body can
//! be.

use cct_classfile::{Member, access};
use cct_jdk::convention::{FORWARDER_LINE, NATIVE_FORWARDER_LINE};
use cct_jdk::original_signatures::{MAGIC, has_native_for_magic};

use crate::body::Body;
use crate::class::Class;
use crate::convention::method_id;
use crate::expectation::Tool;
use crate::faults::{ForwarderKind, RuntimeFault};
use crate::finding::{Finding, Problem};
use crate::forwarder::{Entry, Straight, Target};
use crate::native_hooks::NativeHook;
use crate::renamed_native::RenamedNative;

/// The code under the original signature.
#[derive(Debug)]
pub(crate) enum OriginalForm {
    /// The original code.
    Same,
    /// A forwarder to the extended form.
    Wrapper,
    /// The body.
    Body(Box<Body>),
    /// A call of the runtime, in one of the methods for which that is known.
    Runtime,
    /// The replacement of a renamed native.
    Renamed(RenamedNative),
}

/// The code under the extended signature.
#[derive(Debug)]
pub(crate) enum ExtendedForm {
    Absent,
    Body(Box<Body>),
    Redispatch,
    Stored,
    /// A forwarder that counts this many bytecodes.
    Counted(i32),
    Bypassed,
    /// A native's wrapper, which may call the runtime.
    ToNative,
}

impl OriginalForm {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            OriginalForm::Same => "unchanged",
            OriginalForm::Wrapper => "a wrapper",
            OriginalForm::Body(_) => "the body",
            OriginalForm::Runtime => "a call of the runtime",
            OriginalForm::Renamed(_) => "a method under a native's name",
        }
    }
}

impl ExtendedForm {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            ExtendedForm::Absent => "no extended form",
            ExtendedForm::Body(_) => "the body",
            ExtendedForm::Redispatch => "a redispatching form",
            ExtendedForm::Stored => "a call of the original",
            ExtendedForm::Counted(_) => "a counting call of the original",
            ExtendedForm::Bypassed => "a call of the original that records nothing",
            ExtendedForm::ToNative => "a native's wrapper",
        }
    }
}

/// The inputs for recognising which forwarder an extended form is.
pub(crate) struct ForwarderQuery<'q, 'a> {
    /// The method's number, and the method.
    pub(crate) number: usize,
    pub(crate) original: &'q Member<'a>,
    /// The description from which its forwarders follow.
    pub(crate) target: &'q Target<'a>,
    /// The possible sets of calls of the runtime in a native's wrapper.
    pub(crate) ways: &'q [Vec<&'static NativeHook>],
    /// The lines that the forwarder may have.
    pub(crate) lines: &'q [u16],
    /// Whether it equals this code.
    pub(crate) is: &'q dyn Fn(Straight<'_>) -> bool,
}

/// A forwarder, and whether its method is recorded, if the forwarder shows that.
pub(crate) type ForwarderForm = Option<(ExtendedForm, Option<bool>)>;

impl<'c, 'a> Class<'c, 'a> {
    /// The forwarder that an extended form is; `None` if it is faulty. `length` is the count of a
    /// straight original.
    pub(crate) fn forwarder(
        &mut self,
        number: usize,
        original: &'c Member<'a>,
        twin: &'c Member<'a>,
        target: &Target<'a>,
        length: i32,
    ) -> Option<ExtendedForm> {
        let is_native = original.is(access::NATIVE);
        // The calls of the runtime in the wrapper of a native.
        let ways = if is_native { self.native_hooks(original) } else { Vec::new() };
        let after = self.after;
        let is = |straight: Straight<'_>| straight.is(after, twin);
        let lines: &[u16] =
            if is_native { &[NATIVE_FORWARDER_LINE, FORWARDER_LINE] } else { &[FORWARDER_LINE] };
        let asked = ForwarderQuery { number, original, target, ways: &ways, lines, is: &is };
        let (mut form, recorded) = if is(target.redispatch()) {
            (Some(ExtendedForm::Redispatch), None)
        } else if is(target.stored()) {
            (Some(ExtendedForm::Stored), None)
        } else {
            let found = match (self.expectation.tool, self.expectation.chosen()) {
                (_, Some(chosen)) => self.forwarder_of_values(chosen, &asked),
                (Some(Tool::Trace), _) => self.forwarder_of_traces(&asked),
                _ => self.forwarder_of_profiles(&asked, length),
            };
            found.map_or((None, None), |(form, recorded)| (Some(form), recorded))
        };
        let is_hooked = ways.first().is_some_and(|way| !way.is_empty());
        let is_without = is_hooked
            && (matches!(
                form,
                Some(ExtendedForm::Counted(_) | ExtendedForm::Stored | ExtendedForm::Redispatch)
            ) || self.is_without_hooks(&asked));
        if is_without {
            form = None;
        }
        if form.is_none() {
            let finding = Finding::of(if is_without {
                Problem::Runtime(RuntimeFault::Missing)
            } else {
                Problem::Forwarder(ForwarderKind::Extended)
            });
            self.findings.push(finding.in_member(twin.name_and_type()));
        }
        if let (true, Some(ExtendedForm::ToNative)) = (is_hooked, &form) {
            self.tally.hooks += ways[0].len() as u64;
        }
        // Where natives are not represented, those of recorded classes are not recorded either.
        let is_left_out = is_native && self.expectation.no_natives == Some(true);
        if let Some(recorded) = recorded.filter(|recorded| *recorded || !is_left_out) {
            self.recorded(recorded);
        }
        form
    }

    /// Whether a native's wrapper calls no hooks of the runtime.
    fn is_without_hooks(&self, asked: &ForwarderQuery<'_, 'a>) -> bool {
        let below_root = self.expectation.no_natives == Some(true);
        let counts_objects = self.expectation.allocations == Some(true);
        let id = method_id(self.hash, asked.number, 1);
        let is = |entry| (asked.is)(asked.target.to_native(entry, below_root, &[], counts_objects));
        is(Entry::Node(id, 0)) || is(Entry::None)
    }

    /// The forwarder that an extended form is in an output that builds a tree.
    fn forwarder_of_profiles(&self, asked: &ForwarderQuery<'_, 'a>, length: i32) -> ForwarderForm {
        let ForwarderQuery { number, original, target, ways, lines, is } = *asked;
        let is_native = original.is(access::NATIVE);
        let id = |slots| method_id(self.hash, number, slots);
        // A copy of `Reference.get` would be a plain field read, so the original runs, and the
        // caller counts its bytecodes (docs/internals/treatments.md). Since JDK 21.0.13 and 26 it
        // is no field read: it calls a native, and is an ordinary method.
        let is_magic = MAGIC.contains(&original.of_class(self.before.name()).member_name())
            && !has_native_for_magic(|native| {
                self.before.methods.iter().any(|method| method.name_and_type() == native)
            });
        let lengths = if is_native || !is_magic { &[0][..] } else { &[0, length] };
        let counts_objects = self.expectation.allocations == Some(true);
        // Where natives are not represented, those of recorded classes are not recorded either.
        let below_root = self.expectation.no_natives == Some(true);
        let entered = |id: Option<i64>, n| id.map_or(Entry::None, |id| Entry::Node(id, n));
        let is_to_native = |id, below_root| {
            ways.iter().any(|way| is(target.to_native(entered(id, 0), below_root, way, counts_objects)))
        };
        let makes = target.counted_with_result(id(0)).filter(|_| counts_objects && is_native);
        let must_make = makes.is_some();
        if is_to_native((!below_root).then(|| id(1)), below_root) {
            Some((ExtendedForm::ToNative, Some(true)))
        } else if is_to_native(None, false) {
            Some((ExtendedForm::ToNative, Some(false)))
        } else if makes.is_some_and(is) {
            Some((ExtendedForm::Counted(0), Some(true)))
        } else if let Some(n) = lengths
            .iter()
            .copied()
            .filter(|_| !must_make)
            .find(|n| lines.iter().any(|line| is(target.counted(Entry::Node(id(0), *n), *line))))
        {
            Some((ExtendedForm::Counted(n), Some(true)))
        } else if lines.iter().any(|line| is(target.counted(Entry::None, *line))) {
            // If nothing is known of the output, natives may not be represented.
            let recorded = (!is_native || self.expectation.no_natives.is_some()).then_some(false);
            Some((ExtendedForm::Counted(0), recorded))
        } else if is(target.bypassed(Entry::Node(id(0), 0))) {
            Some((ExtendedForm::Bypassed, Some(true)))
        } else if is(target.bypassed(Entry::None)) {
            Some((ExtendedForm::Bypassed, Some(false)))
        } else {
            None
        }
    }
}
