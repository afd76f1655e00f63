//! One method's treatment, analyses and call sites in words.

use std::io::Write;

use anyhow::{Result, anyhow};
use cct_build::instrument::treatments;
use cct_build::text::counted;
use cct_classfile::{ClassFile, Code, Instruction, Member, opcode};
use cct_flow::{ActivationPlan, Blocks, CountPlanner, OwnMembers, Update, UpdateKind};
use cct_index::method_flags;
use cct_index::mid::ClassHash;
use cct_rewrite::Rewriter;
use cct_rewrite::passes::counts;
use cct_rewrite::plan::CallTarget;
use cct_rewrite::planned_treatment::PlannedTreatment;
use cct_tables::BlockRule;
use cct_tables::CostModel;

use super::constants::Constants;
use super::listing;
use crate::explain::explained_class::ExplainedClass;

/// Maximum length of a line of blocks, in columns.
const LINE: usize = 100;

/// Writes everything about the method at `index` except its code.
pub fn write(
    explained: &ExplainedClass<'_>,
    class: &ClassFile<'_>,
    index: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let method = &class.methods[index];
    writeln!(out, "{}", listing::signature(method))?;
    write_treatment(explained, method, index, out)?;
    let Some(code) = Code::of(class, method)? else { return Ok(()) };
    let custom = match explained.settings.blocks {
        rule @ BlockRule::Custom(ends) => Some((rule, ends.id())),
        _ => None,
    };
    let rules = [(BlockRule::Default, "default".to_owned()), (BlockRule::Precise, "precise".to_owned())];
    for (rule, name) in rules.into_iter().chain(custom) {
        let model = explained.settings.cost_model;
        write_blocks(&name, &counts::weighed(&code, &class.pool, rule, model), model, out)?;
    }
    write_exact(explained, class, method, &code, out)?;
    write_activation(&code, class, out)?;
    write_calls(explained, class, &code, out)
}

fn write_treatment(
    explained: &ExplainedClass<'_>,
    method: &Member<'_>,
    index: usize,
    out: &mut dyn Write,
) -> Result<()> {
    let planned = explained.rewriter.plan().of_class(explained.id).get(index).copied();
    if let Some(PlannedTreatment { treatment, reason }) = planned {
        writeln!(out, "  treatment   {}: {}", treatment.name(), treatments::in_brief(treatment))?;
        if !reason.is_empty() {
            writeln!(out, "  reason      {reason}")?;
        }
    }
    let full = method.name_and_type().to_string();
    for (_, fallback) in explained.rewritten.report.fallbacks.iter().filter(|(of, _)| *of == full) {
        writeln!(out, "  fallback    {}", fallback.describe())?;
    }
    let record =
        explained.rewritten.record.as_ref().and_then(|class| Some((class, class.methods.get(index)?)));
    if let Some((class, record)) = record {
        let has_body = record.flags & method_flags::NOT_RECORDED == 0;
        if has_body && !method.is(cct_classfile::access::ABSTRACT) && planned.is_some_and(has_id) {
            let id = class.hash.method(index, record.shape).0;
            let slots = counted(record.shape.slots.into(), "call-site slot");
            writeln!(out, "  id          {id:#018x} ({slots}, each entry counts {})", record.shape.on_entry)?;
        }
        if !has_body {
            writeln!(out, "  recorded    no")?;
        }
    }
    Ok(())
}

/// Whether nodes of the method carry an id made from its own class.
fn has_id(planned: PlannedTreatment) -> bool {
    use cct_index::treatment::Treatment as T;
    !matches!(planned.treatment, T::CallerCounted | T::Untouched | T::AbstractRedispatched)
}

fn write_blocks(rule: &str, blocks: &Blocks, model: Option<&CostModel>, out: &mut dyn Write) -> Result<()> {
    let total: u64 = blocks.iter().map(|block| u64::from(block.bytecodes)).sum();
    let total = counted(total, "bytecode");
    let number = counted(blocks.len() as u64, "block");
    let unit = model.map_or("bytecodes", CostModel::unit);
    writeln!(out, "  blocks      {rule}: {total} in {number} (first bci: {unit})")?;
    let texts: Vec<String> = blocks.iter().map(|block| format!("{}: {}", block.start, block.cost)).collect();
    write_wrapped(&texts, out)
}

/// Writes what `--blocks exact` does, and before which instruction.
fn write_exact(
    explained: &ExplainedClass<'_>,
    class: &ClassFile<'_>,
    method: &Member<'_>,
    code: &Code<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    let own = OwnMembers::of(class);
    let activation =
        explained.settings.activation.then(|| ActivationPlan::of(code, &class.pool).ok()).flatten();
    let planner = &mut CountPlanner::default();
    let model = explained.settings.cost_model;
    let Some(plan) = counts::exact_plan(class, &own, method, code, activation.as_ref(), model, planner)
    else {
        writeln!(out, "  exact       no plan: by precise blocks")?;
        return Ok(());
    };
    writeln!(
        out,
        "  exact       {} on entry (bci: what is done before it with what is pending)",
        plan.entry
    )?;
    let mut texts: Vec<String> = plan
        .updates
        .iter()
        .map(|(bci, update)| match update {
            Update::Set(n) => format!("{bci}: = {n}"),
            Update::Add(n) => format!("{bci}: + {n}"),
            Update::Count(n) => format!("{bci}: count {n}"),
            Update::CountLocal(n) => format!("{bci}: count it + {n}"),
            Update::Drain(n) => format!("{bci}: + {n}, drain"),
        })
        .collect();
    texts.extend(plan.guarded.iter().map(|(start, end)| format!("{start} to {end}: counted if thrown")));
    write_wrapped(&texts, out)
}

/// Writes texts, as many on a line as fit.
fn write_wrapped(texts: &[String], out: &mut dyn Write) -> Result<()> {
    let mut line = String::new();
    for text in texts {
        if line.len() + text.len() + 2 > LINE - 12 && !line.is_empty() {
            writeln!(out, "            {line}")?;
            line.clear();
        }
        line += "  ";
        line += text;
    }
    if !line.is_empty() {
        writeln!(out, "            {line}")?;
    }
    Ok(())
}

fn write_activation(code: &Code<'_>, class: &ClassFile<'_>, out: &mut dyn Write) -> Result<()> {
    let Ok(plan) = ActivationPlan::of(code, &class.pool) else {
        writeln!(out, "  activation  not analysed: too many exception edges")?;
        return Ok(());
    };
    for (i, point) in plan.points.iter().enumerate() {
        let title = if i == 0 { "activation" } else { "" };
        let kind = match point.kind {
            UpdateKind::Entry => "entry",
            UpdateKind::Handler => "handler",
            UpdateKind::Subroutine => "subroutine",
            UpdateKind::Loop => "loop",
        };
        let tested = if point.test { ", then tested" } else { "" };
        writeln!(out, "  {title:<10}  {kind} at {}: counter -{}{tested}", point.bci, point.decrement)?;
    }
    Ok(())
}

fn write_calls(
    explained: &ExplainedClass<'_>,
    class: &ClassFile<'_>,
    code: &Code<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    let constants = Constants::of(class)?;
    let sites = code.instructions().filter(|instruction| opcode::is_invoke(instruction.opcode));
    for (site, instruction) in sites.enumerate() {
        let title = if site == 0 { "calls" } else { "" };
        let mnemonic = opcode::MNEMONICS[usize::from(instruction.opcode)];
        let callee = instruction.pool_index().map_or(Ok(String::new()), |index| constants.text(index))?;
        let how = call(explained.rewriter, class, &instruction)?;
        writeln!(out, "  {title:<10}  {}: {mnemonic} {callee}", instruction.bci)?;
        writeln!(out, "                {how}")?;
    }
    Ok(())
}

/// How a call site calls its callee in rewritten code, in words.
fn call(rewriter: &Rewriter, class: &ClassFile<'_>, instruction: &Instruction<'_>) -> Result<String> {
    let not_surveyed = || anyhow!("class {} was not read", class.pool.utf8_lossy(class.this_class));
    let caller = rewriter.world().class_hashed(ClassHash::of(class.bytes)).ok_or_else(not_surveyed)?;
    let target = rewriter.call_target(caller, class, instruction)?;
    Ok(match target {
        CallTarget::Extended => "extended signature: the context is an argument".to_owned(),
        CallTarget::Counted(callee) => {
            let then = if callee.calls_back { ", its context put into the thread" } else { "" };
            let bytecodes = counted(callee.bytecodes.into(), "bytecode");
            format!("counted here ({bytecodes}){then}, original signature")
        }
        CallTarget::Dispatched(_) => {
            "original signature, context put into the thread; counted here if it calls Object's native"
                .to_owned()
        }
        CallTarget::Linked | CallTarget::LinkedToHashCode => {
            "original signature, context put into the thread; counted here if it calls a native".to_owned()
        }
        CallTarget::Stored { known: false } => {
            "original signature, context put into the thread (the callee's class was not found)".to_owned()
        }
        CallTarget::Rooted => {
            "original signature, the thread gets the root: natives have no contexts".to_owned()
        }
        CallTarget::Stored { known: true } => "original signature, context put into the thread".to_owned(),
    })
}
