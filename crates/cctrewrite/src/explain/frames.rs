//! Frames of a `StackMapTable` (JVMS 4.7.4) as text.

use cct_build::text::readable;
use cct_classfile::attributes::frames::{FrameKind, VerificationType, bcis};
use cct_classfile::attributes::{AttributeInfo, Frame};
use cct_classfile::{Bci, ClassFile, Code, Result};

/// The frames of a method with their bytecode indices, in order.
pub fn of(class: &ClassFile<'_>, code: &Code<'_>) -> Result<Vec<(Bci, String)>> {
    let Some(attribute) = code.attributes.find(b"StackMapTable") else { return Ok(Vec::new()) };
    let AttributeInfo::StackMapTable(frames) = AttributeInfo::parse(attribute, &class.pool)? else {
        return Ok(Vec::new());
    };
    Ok(bcis(&frames).zip(frames.iter().map(|frame| text(class, frame))).collect())
}

fn text(class: &ClassFile<'_>, frame: &Frame) -> String {
    let list = |types: &[VerificationType]| {
        let names: Vec<String> = types.iter().map(|t| type_name(class, *t)).collect();
        format!("[{}]", names.join(", "))
    };
    match &frame.kind {
        FrameKind::Same | FrameKind::SameExtended => "same".to_owned(),
        FrameKind::SameLocals1(item) | FrameKind::SameLocals1Extended(item) => {
            format!("same, stack {}", list(&[*item]))
        }
        FrameKind::Chop(count) => format!("chop {count}"),
        FrameKind::Append(locals) => format!("append {}", list(locals)),
        FrameKind::Full { locals, stack } => format!("full {}, stack {}", list(locals), list(stack)),
    }
}

fn type_name(class: &ClassFile<'_>, of: VerificationType) -> String {
    match of {
        VerificationType::Top => "top".to_owned(),
        VerificationType::Integer => "int".to_owned(),
        VerificationType::Float => "float".to_owned(),
        VerificationType::Double => "double".to_owned(),
        VerificationType::Long => "long".to_owned(),
        VerificationType::Null => "null".to_owned(),
        VerificationType::UninitializedThis => "uninitializedThis".to_owned(),
        VerificationType::Object(index) => class.pool.class(index).map_or("?".to_owned(), readable),
        VerificationType::Uninitialized(bci) => format!("new@{bci}"),
    }
}
