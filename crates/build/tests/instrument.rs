//! Outputs, and what is heard while they are made.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::Mutex;

use cct_archive::Limits;
use cct_build::inputs::BadClasses;
use cct_build::instrument::{InstrumentRequest, instrument};
use cct_build::observer::{Observer, Steps};
use cct_build::user_module::ModuleOptions;
use cct_classfile::{access, opcode};
use cct_settings::Choices;
use cct_test_classes::class;

/// Remembers all that it hears.
#[derive(Default)]
struct Memory {
    warnings: Mutex<Vec<String>>,
    begun: Mutex<Vec<&'static str>>,
}

impl Observer for Memory {
    fn warn(&self, line: &str) {
        self.warnings.lock().unwrap().push(line.to_owned());
    }

    fn note(&self, _line: &str) {}

    fn begin(&self, work: &'static str, _steps: Option<u64>) -> Box<dyn Steps> {
        self.begun.lock().unwrap().push(work);
        Box::new(NoProgress)
    }
}

struct NoProgress;

impl Steps for NoProgress {
    fn step(&self) {}
}

/// A class that turns out not to be rewritable has all others planned anew. What was read of them
/// stays.
#[test]
fn one_unfit_class_repeats_no_survey() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("classes"), folder.path().join("out"));
    fs::create_dir(&input).unwrap();
    let method = |name| class(name).method(access::PUBLIC | access::STATIC, "m", "()V");
    // Its code ends without a return, for which JVMs refuse it.
    let refused = method("Refused").with_code(vec![opcode::NOP]).bytes();
    fs::write(input.join("Refused.class"), &refused).unwrap();
    let sound = method("Sound").bytes();
    fs::write(input.join("Sound.class"), &sound).unwrap();
    let request = InstrumentRequest {
        inputs: vec![input],
        output: output.clone(),
        choices: Choices::default(),
        module: ModuleOptions::default(),
        patches: false,
        class_path: false,
        if_changed: false,
        manifest: false,
        verify: true,
        report: None,
        bad: BadClasses::Refuse,
        level: 6,
        limits: Limits::default(),
    };
    let memory = Memory::default();
    instrument(&request, &memory).unwrap();
    assert_eq!(*memory.begun.lock().unwrap(), ["reading classes", "rewriting", "rewriting"]);
    let warnings = memory.warnings.lock().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].starts_with("warning: class Refused"), "{warnings:?}");
    assert!(warnings[0].ends_with("the class stays as it is, and is missing from the tree"), "{warnings:?}");
    assert_eq!(fs::read(output.join("Refused.class")).unwrap(), refused);
    assert_ne!(fs::read(output.join("Sound.class")).unwrap(), sound);
}
