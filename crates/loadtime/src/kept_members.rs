//! The members that a replacement of a class must keep.

use std::collections::BTreeSet;

use cct_classfile::{NameAndType, NameAndTypeBuf};
use cct_jdk::convention::without_extension;
use cct_rewrite::kept_members::{KeptMembers, KeptProperty};

use crate::known_class::KnownClass;

/// The members to keep of a library class that is not loaded yet: its callers were rewritten for
/// them.
pub fn of_callers(known: &KnownClass) -> KeptMembers {
    let mut kept = KeptMembers::of_callers();
    for (method, row) in known.summary.methods.iter().zip(&known.rows) {
        kept.add(known.summary.name_and_type(method), KeptProperty::Treatment(row.treatment));
    }
    kept
}

/// The members to keep of a loaded class with these methods: JVMs reject a redefinition with more
/// or fewer.
pub fn of_loaded(methods: &[NameAndTypeBuf], known: Option<&KnownClass>) -> KeptMembers {
    let all: BTreeSet<NameAndType<'_>> = methods.iter().map(NameAndTypeBuf::name_and_type).collect();
    let original = |method: &NameAndTypeBuf| {
        let descriptor = without_extension(&method.descriptor)?.into();
        Some(NameAndTypeBuf { name: method.name.clone(), descriptor })
    };
    let extended: BTreeSet<NameAndTypeBuf> = methods.iter().filter_map(original).collect();
    let ties = extended.iter().filter(|original| !all.contains(&original.name_and_type()));
    let mut kept = KeptMembers::of_loaded(ties.cloned().collect());
    for &method in all.iter().filter(|method| without_extension(method.descriptor).is_none()) {
        let has_extended_form = extended.contains(&NameAndTypeBuf::from(method));
        let settled = known.and_then(|known| {
            let row = &known.rows[known.summary.find(method)?];
            (row.treatment.has_extended_form() == has_extended_form).then_some(row.treatment)
        });
        kept.add(
            method,
            settled.map_or(KeptProperty::ExtendedForm(has_extended_form), KeptProperty::Treatment),
        );
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extended_forms_without_an_original_are_tie_breaks() {
        let methods = [
            NameAndType::new(b"m", b"()V"),
            NameAndType::new(b"m", b"(J[[[[J)V"),
            NameAndType::new(b"tie", b"(IJ[[[[J)I"),
            NameAndType::new(b"own", b"(J)V"),
        ];
        let kept = of_loaded(&methods.map(NameAndTypeBuf::from), None);
        assert!(kept.is_loaded());
        assert_eq!(kept.tie_breaks(), [NameAndType::new(b"tie", b"(I)I").into()]);
    }
}
