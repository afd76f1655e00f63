//! Documented locations in methods of the class library: calls of the runtime, and constants that
//! replace the answers of clocks.

use cct_classfile::{Code, Member, access};
use cct_jdk::body_hooks::BodyHook;

use crate::class::Class;
use crate::faults::{ClockFault, RuntimeFault};
use crate::finding::{Finding, Problem};
use crate::hooks;
use crate::native_hooks::{self, NativeHook};
use crate::pins;

impl<'c, 'a> Class<'c, 'a> {
    /// Checks that a method that stayed unchanged has no location where documents require inserted
    /// code.
    pub(crate) fn left_out(&mut self, method: &'c Member<'a>, code: &Code<'a>) {
        let (class, reproducible) = (self.before, self.expectation.reproducible);
        let is_wanted =
            |(hook, is_certain): (&BodyHook, bool)| is_certain && hooks::has_place(hook, class, code);
        if hooks::of_body(method.of_class(class.name()), &self.expectation).any(is_wanted) {
            self.find(Problem::Runtime(RuntimeFault::Missing));
        }
        let clocks = pins::clocks(class, method.name);
        let read = code.instructions().find(|i| pins::read(&clocks, class, i).is_some());
        if let (Some(read), Some(true)) = (read, reproducible) {
            let problem = Problem::Clock(ClockFault::LeftAsItIs);
            self.findings.push(Finding::at(problem, read.bci, None));
        }
    }

    /// The possible sets of calls of the runtime in a native's wrapper. One of them is empty if the
    /// native need not call it.
    pub(crate) fn native_hooks(&mut self, native: &Member<'a>) -> Vec<Vec<&'static NativeHook>> {
        let (native, is_static) = (native.of_class(self.before.name()), native.is(access::STATIC));
        let reproducible = self.expectation.reproducible;
        let ways = native_hooks::of_native(native, is_static, reproducible);
        if !ways.is_empty() {
            return ways;
        }
        if native_hooks::is_known(native.member_name()) {
            let what = "natives whose parameters have no known call of the runtime";
            self.tally.not_checked(what, native.member_name());
        }
        vec![Vec::new()]
    }
}
