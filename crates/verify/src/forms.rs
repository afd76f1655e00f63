//! The two forms of a method, and which forwarder an extended form is that is no body.

use cct_classfile::{Member, access};
use cct_jdk::convention::{FORWARDER_LINE, NATIVE_FORWARDER_LINE};

use crate::body::Body;
use crate::class::Class;
use crate::convention::method_id;
use crate::expectation::Tool;
use crate::faults::{ForwarderKind, RuntimeFault};
use crate::finding::{Finding, Problem};
use crate::forwarder::{Entry, Straight, Target};
use crate::native_hooks::NativeHook;
use crate::renamed::Renamed;

/// What stands under the original signature.
#[derive(Debug)]
pub(crate) enum Original {
    /// What always stood there.
    Same,
    /// A forwarder to the extended form.
    Wrapper,
    /// The body.
    Body(Box<Body>),
    /// A call of the runtime, in one of the places where that is known.
    Runtime,
    /// A method in the place of a native that was renamed.
    Renamed(Renamed),
}

/// What stands under the extended one.
#[derive(Debug)]
pub(crate) enum Extended {
    Absent,
    Body(Box<Body>),
    Redispatch,
    Stored,
    /// Counted, with so many bytecodes.
    Counted(i32),
    Bypassed,
    /// A native's wrapper, which may call the runtime.
    ToNative,
}

impl Original {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Original::Same => "as it was",
            Original::Wrapper => "a wrapper",
            Original::Body(_) => "the body",
            Original::Runtime => "a call of the runtime",
            Original::Renamed(_) => "a method in a native's place",
        }
    }
}

impl Extended {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Extended::Absent => "no extended form",
            Extended::Body(_) => "the body",
            Extended::Redispatch => "a redispatching form",
            Extended::Stored => "a call of the original",
            Extended::Counted(_) => "a counting call of the original",
            Extended::Bypassed => "a call of the original that records nothing",
            Extended::ToNative => "a native's wrapper",
        }
    }
}

/// What is looked at to tell which forwarder an extended form is.
pub(crate) struct Asked<'q, 'a> {
    /// The method's number, and the method.
    pub(crate) number: usize,
    pub(crate) original: &'q Member<'a>,
    /// What forwarders of it look like.
    pub(crate) target: &'q Target<'a>,
    /// What a native's wrapper has the runtime do, in each way that may be.
    pub(crate) ways: &'q [Vec<&'static NativeHook>],
    /// The lines that it may have.
    pub(crate) lines: &'q [u16],
    /// Whether it is one of these.
    pub(crate) is: &'q dyn Fn(Straight<'_>) -> bool,
}

/// A forwarder, and whether its method is recorded, if that can be told.
pub(crate) type Found = Option<(Extended, Option<bool>)>;

impl<'c, 'a> Class<'c, 'a> {
    /// Which forwarder an extended form is; `None` where something is wrong with it. `length` is
    /// what a straight original counts.
    pub(crate) fn forwarder(
        &mut self,
        number: usize,
        original: &'c Member<'a>,
        twin: &'c Member<'a>,
        target: &Target<'a>,
        length: i32,
    ) -> Option<Extended> {
        let is_native = original.is(access::NATIVE);
        // What the wrapper of a native has the runtime do.
        let ways = if is_native { self.native_hooks(original) } else { Vec::new() };
        let after = self.after;
        let is = |straight: Straight<'_>| straight.is(after, twin);
        let lines: &[u16] =
            if is_native { &[NATIVE_FORWARDER_LINE, FORWARDER_LINE] } else { &[FORWARDER_LINE] };
        let asked = Asked { number, original, target, ways: &ways, lines, is: &is };
        let (mut form, recorded) = if is(target.redispatch()) {
            (Some(Extended::Redispatch), None)
        } else if is(target.stored()) {
            (Some(Extended::Stored), None)
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
            && (matches!(form, Some(Extended::Counted(_) | Extended::Stored | Extended::Redispatch))
                || self.is_without_hooks(&asked));
        if is_without {
            form = None;
        }
        if form.is_none() {
            let finding = Finding::of(if is_without {
                Problem::Runtime(RuntimeFault::Missing)
            } else {
                Problem::Forwarder(ForwarderKind::Extended)
            });
            self.findings.push(finding.in_member(twin.name, twin.descriptor));
        }
        if let (true, Some(Extended::ToNative)) = (is_hooked, &form) {
            self.tally.hooks += ways[0].len() as u64;
        }
        // Where natives are left out, of recorded classes, too.
        let is_left_out = is_native && self.expectation.no_natives == Some(true);
        if let Some(recorded) = recorded.filter(|recorded| *recorded || !is_left_out) {
            self.recorded(recorded);
        }
        form
    }

    /// Whether a native's wrapper is one that does not call the runtime.
    fn is_without_hooks(&self, asked: &Asked<'_, 'a>) -> bool {
        let below_root = self.expectation.no_natives == Some(true);
        let counts_objects = self.expectation.allocations == Some(true);
        let id = method_id(self.hash, asked.number, 1);
        let is = |entry| (asked.is)(asked.target.to_native(entry, below_root, &[], counts_objects));
        is(Entry::Node(id, 0)) || is(Entry::None)
    }

    /// The forwarder that an extended form is where a tree is made.
    fn forwarder_of_profiles(&self, asked: &Asked<'_, 'a>, length: i32) -> Found {
        let Asked { number, original, target, ways, lines, is } = *asked;
        let is_native = original.is(access::NATIVE);
        let id = |slots| method_id(self.hash, number, slots);
        // A copy of `Reference.get` would be a plain field read, so the original runs, and its
        // bytecodes are counted by the caller (docs/internals/treatments.md). Since JDK 21.0.13 and
        // 26 it is no field read: it calls a native, and is a method like others.
        let has_native = || self.before.methods.iter().any(|method| method.name == b"get0");
        let is_magic =
            (self.before.name(), original.name) == (b"java/lang/ref/Reference", b"get") && !has_native();
        let lengths = if is_native || !is_magic { &[0][..] } else { &[0, length] };
        let counts_objects = self.expectation.allocations == Some(true);
        // Where natives are left out, of recorded classes, too.
        let below_root = self.expectation.no_natives == Some(true);
        let entered = |id: Option<i64>, n| id.map_or(Entry::None, |id| Entry::Node(id, n));
        let is_to_native = |id, below_root| {
            ways.iter().any(|way| is(target.to_native(entered(id, 0), below_root, way, counts_objects)))
        };
        let makes = target.counted_with_result(id(0)).filter(|_| counts_objects && is_native);
        let must_make = makes.is_some();
        if is_to_native((!below_root).then(|| id(1)), below_root) {
            Some((Extended::ToNative, Some(true)))
        } else if is_to_native(None, false) {
            Some((Extended::ToNative, Some(false)))
        } else if makes.is_some_and(is) {
            Some((Extended::Counted(0), Some(true)))
        } else if let Some(n) = lengths
            .iter()
            .copied()
            .filter(|_| !must_make)
            .find(|n| lines.iter().any(|line| is(target.counted(Entry::Node(id(0), *n), *line))))
        {
            Some((Extended::Counted(n), Some(true)))
        } else if lines.iter().any(|line| is(target.counted(Entry::None, *line))) {
            // Where nothing is known of the output natives may be left out.
            let recorded = (!is_native || self.expectation.no_natives.is_some()).then_some(false);
            Some((Extended::Counted(0), recorded))
        } else if is(target.bypassed(Entry::Node(id(0), 0))) {
            Some((Extended::Bypassed, Some(true)))
        } else if is(target.bypassed(Entry::None)) {
            Some((Extended::Bypassed, Some(false)))
        } else {
            None
        }
    }
}
