//! Records of rewritten classes: enough to call them, to find their nodes, and to name these.

use std::sync::Arc;

use cct_classfile::NameAndType;
use cct_index::class_attribute::MethodRow;
use cct_index::positions::{Form, PackedPositions};
use cct_index::record::{ClassRecord, MethodRecord};
use cct_index::treatment::Treatment;
use cct_rewrite::ClassSummary;
use cct_rewrite::planned_treatment::PlannedTreatment;

/// A rewritten class.
#[derive(Debug, Clone)]
pub struct KnownClass {
    /// The class as others see it.
    pub summary: Arc<ClassSummary>,
    /// The treatment of each method.
    pub rows: Box<[MethodRow]>,
}

/// How a frame of a method shows in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Appearance {
    /// No node: a wrapper, or code that is not recorded.
    None,
    /// A node.
    Node(Body),
    /// A native without an inserted body: its caller counts it, if the caller is rewritten.
    CountedByCaller,
}

/// The body that a node stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The node's method id.
    pub mid: u64,
    /// The bytecodes that the body executes.
    pub code: Bytecodes,
}

/// The bytecodes that a node executes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bytecodes {
    /// None: a native.
    Native,
    /// Those of the original method.
    Original,
    /// Those of one of the method's bodies, with the original positions of its bytecodes; empty if
    /// these are unknown.
    Rewritten(Form, PackedPositions),
}

impl KnownClass {
    /// The record of a class that has just been rewritten, as others see it from now on.
    pub fn rewritten(mut summary: ClassSummary, rows: Box<[MethodRow]>) -> Self {
        summary.settled = Some(rows.iter().map(|row| PlannedTreatment::settled(row.treatment)).collect());
        KnownClass { summary: Arc::new(summary), rows }
    }

    /// Reads the record from a row of an index. `None` if a descriptor in it is damaged.
    pub fn of_record(record: &ClassRecord) -> Option<Self> {
        let rows = record.methods.iter().map(MethodRow::from).collect();
        Some(KnownClass { summary: Arc::new(ClassSummary::of_record(record).ok()?), rows })
    }

    /// The class's row in an index, under the name that reports show.
    pub fn record(&self, name: &[u8]) -> ClassRecord {
        let summary = &self.summary;
        let method = |(m, row): (&cct_rewrite::survey::MethodSummary, &MethodRow)| MethodRecord {
            name: summary.method_name(m).into(),
            descriptor: summary.method_descriptor(m).into(),
            access: m.access,
            shape: row.shape,
            flags: row.flags,
            treatment: row.treatment,
            positions: row.positions.clone(),
        };
        ClassRecord {
            name: name.into(),
            super_name: summary.super_name.clone(),
            interfaces: summary.interfaces.clone(),
            access: summary.access,
            major_version: summary.major_version,
            hash: summary.hash,
            methods: summary.methods.iter().zip(&self.rows).map(method).collect(),
            foreign: Vec::new(),
        }
    }

    /// How a frame of this method appears, by its name and its descriptor in the rewritten class.
    pub fn appearance(&self, method: NameAndType<'_>) -> Appearance {
        use Treatment as T;
        let original = cct_jdk::convention::without_extension(method.descriptor);
        let descriptor = original.as_deref().unwrap_or(method.descriptor);
        let Some(k) = self.summary.find(NameAndType::new(method.name, descriptor)) else {
            return Appearance::None;
        };
        let row = &self.rows[k];
        let shows = match (row.treatment, original.is_some()) {
            (T::CallerCounted, false) => return Appearance::CountedByCaller,
            // The body has the extended signature; the other method is a wrapper.
            (T::Wrapped, extended) => extended,
            // The body has both signatures.
            (T::Duplicated, _) => true,
            // The body has the original signature.
            (T::Redispatched | T::OriginalOnly | T::Prefixed, extended) => !extended,
            // The wrapper has the node, the native below it has none.
            (T::Native | T::LeafNative | T::Magic | T::Intrinsic, extended) => extended,
            (T::AbstractRedispatched | T::CallerCounted | T::Untouched, _) => false,
        };
        let recorded = row.flags & cct_index::method_flags::NOT_RECORDED == 0;
        if !shows || !recorded {
            return Appearance::None;
        }
        let form = if original.is_some() { Form::Extended } else { Form::Original };
        let is_native =
            matches!(row.treatment, T::Native | T::LeafNative | T::Magic | T::Intrinsic | T::Prefixed);
        Appearance::Node(Body {
            mid: self.summary.hash.method(k, row.shape).0,
            code: if is_native {
                Bytecodes::Native
            } else {
                Bytecodes::Rewritten(form, row.positions.clone())
            },
        })
    }
}
