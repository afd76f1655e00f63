//! Fuzz target for the rewriter: any class file, with any settings.

use cct_classfile::{ClassFile, wellformed};
use cct_columns::Column;
use cct_rewrite::marks::{Marks, MethodName};
use cct_rewrite::rewriter::RewrittenClass;
use cct_rewrite::{ClassSummary, Result, Rewriter, Role, World};
use cct_settings::{ContextCarrier, Intrinsics, Metrics, Natives, Settings, Tool};
use cct_tables::BlockRule;

use cct_tables::{BlockEnds, CostModel};

use super::walk::walk;
use crate::Dice;

/// Rewrites a class that is the only one in its world. Checks that the result is as valid as the
/// original. Rewrites one input in four twice, and checks that both results are equal.
pub fn rewrite(bytes: &[u8]) {
    let mut dice = super::dice(bytes);
    let Ok(rewritten) = rewritten(bytes, &mut dice) else { return };
    if let Some(record) = &rewritten.record {
        let provenance = cct_rewrite::provenance(&Settings::default(), "test", None);
        if let Ok(index) = cct_index::write(&provenance, std::slice::from_ref(record)) {
            let index = cct_index::read::Index::new(index).unwrap();
            assert_eq!(index.classes_named(&record.name).count(), 1);
        }
    }
    let Some(new) = &rewritten.bytes else { return };
    // Check only classes that JVMs accept: callers of the rewriter skip the others.
    if ClassFile::parse(bytes).is_ok_and(|class| wellformed::check(&class).is_ok()) {
        check(bytes, new);
    }
    if dice.once_in(4) {
        let again = self::rewritten(bytes, &mut super::dice(bytes)).unwrap();
        assert!(again.bytes.as_ref() == Some(new), "rewritten twice, it is not the same");
    }
}

/// Checks a rewritten class against the original.
pub(super) fn check(old: &[u8], new: &[u8]) {
    let class = ClassFile::parse(new).unwrap();
    let original = ClassFile::parse(old).unwrap();
    assert_eq!(class.name(), original.name());
    assert!(class.methods.len() >= original.methods.len());
    // The original methods come first, in order and with their names. So method tables of the VM
    // and of the program stay valid.
    for (old, new) in original.methods.iter().zip(&class.methods) {
        assert_eq!(old.name_and_type(), new.name_and_type());
    }
    // Errors of the original may remain, and occur twice if a method has two bodies. So check only
    // originals without errors.
    if walk(old).errors.is_empty() {
        let errors = walk(new).errors;
        assert!(errors.is_empty(), "sound before: {errors:#?}");
    }
}

/// A cost model with the highest allowed costs, to check that sums do not overflow.
fn dearest() -> CostModel {
    let text =
        "name = \"x\"\nunit = \"x\"\ndefault = 30000\n[caller]\nfixed = 60000\n[callee]\nfixed = 60000\n";
    CostModel::parse(text).unwrap()
}

/// Rewrites the class with settings that are derived from its bytes.
fn rewritten(bytes: &[u8], dice: &mut Dice) -> Result<RewrittenClass> {
    let settings = Settings {
        tool: Tool::Profile,
        context: *dice.pick(&[ContextCarrier::Argument, ContextCarrier::Thread]),
        metrics: *dice.pick(&[Metrics::Calls, Metrics::CallsAndBytecodes, Metrics::CallsAndBytecodes]),
        blocks: if dice.once_in(6) {
            BlockRule::Custom(
                BlockEnds::parse("name = \"x\"\nends = [\"calls\", \"idiv\"]").unwrap().interned(),
            )
        } else {
            *dice.pick(&[BlockRule::Default, BlockRule::Precise, BlockRule::Exact, BlockRule::Exact])
        },
        intrinsics: *dice.pick(&[Intrinsics::Bytecode, Intrinsics::Native]),
        natives: *dice.pick(&[Natives::Wrap, Natives::Prefix, Natives::None]),
        reproducible: dice.once_in(3),
        activation: dice.once_in(3),
        call_sites: dice.once_in(3),
        cost_model: dice.once_in(4).then(|| dearest().interned()),
        allocations: dice.once_in(3),
        columns: Column::all().filter(|_| dice.once_in(3)).collect(),
        markers: false,
    };
    // Traces do not have the settings that only profiles have.
    let settings = if !dice.once_in(4) {
        settings
    } else {
        Settings {
            tool: Tool::Trace,
            context: ContextCarrier::Argument,
            metrics: Metrics::CallsAndBytecodes,
            blocks: BlockRule::Exact,
            natives: Natives::Wrap,
            activation: false,
            call_sites: false,
            cost_model: None,
            ..settings
        }
    };
    let summary = ClassSummary::parse(bytes)?;
    let methods =
        summary.methods.iter().map(|method| [&*summary.name, b".", summary.method_name(method)].concat());
    let names: Vec<MethodName> = methods
        .filter_map(|name| MethodName::parse(&String::from_utf8(name).ok()?.replace('/', ".")))
        .collect();
    let mut marks = Marks::default();
    if dice.once_in(3) {
        marks.extents.extend(names.first().cloned());
        marks.starts.extend(names.last().cloned());
    }
    let provenance = cct_rewrite::provenance(&settings, "test", None);
    let (names_locals, records) = (dice.once_in(2), !dice.once_in(5));
    let rewriter =
        Rewriter::marked(World::new([(Role::Input, summary)]), settings, marks, provenance, move |_| {
            records
        })?;
    rewriter.with_local_names(names_locals).rewrite(bytes)
}
