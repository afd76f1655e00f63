//! Natives of the class library that the runtime must know. Their parameters and results change
//! between releases, and a hook that does not fit is ignored silently.

use cct_archive::{Input, Limits};
use cct_classfile::{ClassFile, access};
use cct_jdk::native_hooks;
use cct_rewrite::hooks;

use crate::support::{Jdk, jdks};

/// Every native for whose name there is a hook has one that fits.
fn fit(jdk: &'static Jdk) {
    let library = if jdk.version == 8 { jdk.rt_jar() } else { jdk.path("lib/modules") };
    let input = Input::open(&library, &Limits::default()).unwrap();
    let survey = input.survey(|_, bytes| {
        let class = ClassFile::parse(bytes)?;
        let name = class.name();
        let natives = class.methods.iter().filter(|method| method.is(access::NATIVE));
        let hooked = natives.filter(|method| native_hooks::is_hooked(method.of_class(name).member_name()));
        let natives = hooked.map(|method| {
            let native = method.of_class(name);
            let hook = hooks::native_hook(native, method.is(access::STATIC), false);
            (native.to_string(), hook.is_some())
        });
        Ok::<_, cct_classfile::Error>(natives.collect::<Vec<_>>())
    });
    let natives: Vec<(String, bool)> = survey.unwrap().classes.into_iter().flatten().collect();
    let misfits: Vec<&str> =
        natives.iter().filter(|(_, fits)| !fits).map(|(name, _)| name.as_str()).collect();
    assert!(misfits.is_empty(), "JDK {}: {misfits:?}", jdk.version);
    assert!(natives.len() >= 15, "{natives:?}");
}

jdks!(fit, fit, 8..);
