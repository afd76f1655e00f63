//! The members that a replacement of a class must keep.

use std::collections::BTreeSet;

use cct_jdk::convention::without_extension;
use cct_rewrite::kept::{Kept, KeptMembers};

use crate::known::Known;

/// The members to keep of a library class that is not loaded yet: its callers were rewritten for
/// them.
pub fn of_callers(known: &Known) -> KeptMembers {
    let mut kept = KeptMembers::of_callers();
    for (method, row) in known.summary.methods.iter().zip(&known.rows) {
        let (name, descriptor) = (known.summary.method_name(method), known.summary.method_descriptor(method));
        kept.add(name, descriptor, Kept::Treatment(row.treatment));
    }
    kept
}

/// The members to keep of a loaded class with these methods, by name and descriptor: JVMs reject a
/// redefinition with more or fewer.
pub fn of_loaded(methods: &[(Vec<u8>, Vec<u8>)], known: Option<&Known>) -> KeptMembers {
    let all: BTreeSet<(&[u8], &[u8])> =
        methods.iter().map(|(name, descriptor)| (&**name, &**descriptor)).collect();
    let extended: BTreeSet<(&[u8], Vec<u8>)> =
        all.iter().filter_map(|&(name, descriptor)| Some((name, without_extension(descriptor)?))).collect();
    let ties = extended.iter().filter(|(name, original)| !all.contains(&(*name, original)));
    let mut kept =
        KeptMembers::of_loaded(ties.map(|(name, original)| ((*name).into(), (**original).into())).collect());
    for &(name, descriptor) in all.iter().filter(|(_, descriptor)| without_extension(descriptor).is_none()) {
        let has_extended_form = extended.contains(&(name, descriptor.to_vec()));
        let settled = known.and_then(|known| {
            let row = &known.rows[known.summary.find(name, descriptor)?];
            (row.treatment.has_extended_form() == has_extended_form).then_some(row.treatment)
        });
        kept.add(name, descriptor, settled.map_or(Kept::ExtendedForm(has_extended_form), Kept::Treatment));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_forms_without_an_original_are_tie_breaks() {
        let method =
            |name: &str, descriptor: &str| (name.as_bytes().to_vec(), descriptor.as_bytes().to_vec());
        let methods = [
            method("m", "()V"),
            method("m", "(J[[[[J)V"),
            method("tie", "(IJ[[[[J)I"),
            method("own", "(J)V"),
        ];
        let kept = of_loaded(&methods, None);
        assert!(kept.is_loaded());
        let ties: Vec<_> = kept.tie_breaks().to_vec();
        assert_eq!(ties, [(b"tie"[..].into(), b"(I)I"[..].into())]);
    }
}
