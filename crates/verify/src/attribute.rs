//! The attribute `cctrewrite` (docs/reference/formats/index.md): its statements about the class and
//! each method, checked as far as the class itself shows.

use cct_classfile::{Member, access};
use cct_columns::Column;
use cct_jdk::convention::OBJECT;
use cct_jdk::method_handles::is_signature_polymorphic;

use crate::class::Class;
use crate::convention::ATTRIBUTE;
use crate::faults::OwnAttributeFault;
use crate::finding::{Finding, Problem};

/// The attribute's row of a method.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Slots of its node.
    pub slots: u8,
    /// Number of bytecodes that an entry counts by the method's id.
    pub on_entry: u8,
    /// Flags of the method, see [`flag`].
    pub flags: u8,
    /// Code of its treatment.
    pub treatment: u8,
}

/// Flags of methods.
pub mod flag {
    /// It is a native.
    pub const NATIVE: u8 = 1;
    /// Its extended form would bypass an override in a class that is not rewritten.
    pub const OVERRIDE_WOULD_MISS: u8 = 2;
    /// It would have something to record, and is not recorded.
    pub const NOT_RECORDED: u8 = 4;
    /// Only its own package can override it.
    pub const PACKAGE_PRIVATE: u8 = 8;
    /// It is synchronized, in an output that counts monitors.
    pub const SYNCHRONIZED: u8 = 16;
}

/// Codes of treatments.
pub mod treatment {
    /// Redispatched, with a body or without.
    pub const REDISPATCHED: [u8; 2] = [2, 3];
    /// Without an extended form: original only, caller-counted, untouched, prefixed.
    pub const WITHOUT_EXTENDED_FORM: [u8; 4] = [4, CALLER_COUNTED, UNTOUCHED, 11];
    /// Callers count it.
    pub const CALLER_COUNTED: u8 = 8;
    /// Nothing counts it.
    pub const UNTOUCHED: u8 = 9;
}

/// Whether a row says that calls of its method enter monitors.
pub(crate) fn enters_monitors(row: &Row) -> bool {
    row.flags & flag::SYNCHRONIZED != 0
}

impl<'a> Class<'_, 'a> {
    /// The rows of the attribute.
    pub(crate) fn own_attribute(&mut self) -> Vec<Row> {
        let Some(attribute) = self.after.attributes.find(ATTRIBUTE) else { return Vec::new() };
        let data = attribute.data;
        let methods = self.before.methods.len();
        let rows = data.get(20..20 + 4 * methods).unwrap_or_default();
        let positions = data.get(20 + 4 * methods..).and_then(|data| positions(data, methods));
        let Some(positions) =
            positions.filter(|_| data[..2] == [0, 4] && data[18..20] == (methods as u16).to_be_bytes())
        else {
            self.find(Problem::OwnAttribute(OwnAttributeFault::Form));
            return Vec::new();
        };
        self.positions = positions;
        if data[2..10] != self.hash.to_be_bytes() {
            self.find(Problem::OwnAttribute(OwnAttributeFault::Original));
        }
        if self.expectation.provenance.is_some_and(|hash| data[10..18] != hash.to_be_bytes()) {
            self.find(Problem::OwnAttribute(OwnAttributeFault::Provenance));
        }
        let row = |row: &[u8]| Row { slots: row[0], on_entry: row[1], flags: row[2], treatment: row[3] };
        rows.chunks_exact(4).map(row).collect()
    }

    /// Checks that the flags of a method follow from the class and the treatment. `is_left` is
    /// whether the method stayed unchanged although it has code.
    pub(crate) fn flags(&mut self, number: usize, method: &Member<'a>, row: Row, is_left: bool) {
        let class = self.before;
        let may_be_overridden = !method.is(access::STATIC)
            && !method.is(access::PRIVATE)
            && !method.is(access::FINAL)
            && !method.name.starts_with(b"<")
            && !class.is(access::FINAL);
        let is_package_private =
            may_be_overridden && method.access_flags & (access::PUBLIC | access::PROTECTED) == 0;
        let would_miss = may_be_overridden
            && !treatment::WITHOUT_EXTENDED_FORM.contains(&row.treatment)
            && !treatment::REDISPATCHED.contains(&row.treatment);
        let mut wanted = 0;
        for (flag, is_set) in [
            (flag::NATIVE, method.is(access::NATIVE)),
            (flag::OVERRIDE_WOULD_MISS, would_miss),
            (flag::PACKAGE_PRIVATE, is_package_private),
            (
                flag::SYNCHRONIZED,
                method.is(access::SYNCHRONIZED) && self.expectation.counts(Column::Monitors),
            ),
        ] {
            wanted |= if is_set { flag } else { 0 };
        }
        if row.flags & !flag::NOT_RECORDED != wanted {
            self.find(Problem::OwnAttribute(OwnAttributeFault::Flags));
        }
        let says_not = row.flags & flag::NOT_RECORDED != 0;
        let no_natives = self.expectation.no_natives;
        if method.is(access::NATIVE) && no_natives.is_none() {
            return;
        }
        let is_left_out = method.is(access::NATIVE) && no_natives == Some(true);
        let is_never = is_left || is_left_out || row.treatment == treatment::UNTOUCHED;
        match (method.is(access::ABSTRACT), is_never) {
            (true, _) if says_not => {
                self.find(Problem::OwnAttribute(OwnAttributeFault::BodilessNotRecorded));
            }
            (false, true) if !says_not => {
                self.find(Problem::OwnAttribute(OwnAttributeFault::LeftRecorded));
            }
            (false, false) => self.may_be_recorded.push((number, says_not)),
            _ => {}
        }
    }

    /// The possible treatments of a method without extended form or probes, as far as they follow
    /// from the class. Callers count natives, except those of polymorphic signature, which they
    /// cannot know.
    pub(crate) fn without_forms(&self, method: &Member<'a>) -> &'static [u8] {
        use treatment::{CALLER_COUNTED, UNTOUCHED};
        let class = self.before.name();
        let is_polymorphic = is_signature_polymorphic(method.of_class(class), method.access_flags);
        match (method.is(access::NATIVE), method.is(access::ABSTRACT)) {
            (true, _) if is_polymorphic => &[UNTOUCHED],
            (true, _) => &[CALLER_COUNTED],
            (_, true) => &[UNTOUCHED],
            _ if (class, method.name) == (OBJECT, b"<init>") => &[CALLER_COUNTED],
            // With `--intrinsics native` callers count some.
            _ => &[CALLER_COUNTED, UNTOUCHED],
        }
    }

    /// Checks that the attribute says of all methods that they are recorded, or of none, in
    /// agreement with their forms.
    pub(crate) fn recorded_rows(&mut self) {
        let Some(&(_, first)) = self.may_be_recorded.first() else { return };
        let says_not = self.is_recorded.map_or(first, |is_recorded| !is_recorded);
        for (number, says) in std::mem::take(&mut self.may_be_recorded) {
            if says != says_not {
                let method = &self.before.methods[number];
                let problem = Problem::OwnAttribute(OwnAttributeFault::Recorded);
                self.findings.push(Finding::of(problem).in_member(method.name_and_type()));
            }
        }
    }
}

/// The positions after the rows: none, or for each method their length in four bytes, followed by
/// the positions.
fn positions(mut data: &[u8], methods: usize) -> Option<Vec<&[u8]>> {
    if data.is_empty() {
        return Some(Vec::new());
    }
    let mut all = Vec::with_capacity(methods);
    for _ in 0..methods {
        let (length, behind) = data.split_first_chunk()?;
        let (positions, behind) = behind.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        all.push(positions);
        data = behind;
    }
    data.is_empty().then_some(all)
}
