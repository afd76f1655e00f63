//! Edits of class files: [`code_edit`] edits the code of a method, [`class_edit`] the class around
//! it.

pub mod asm;
pub mod attribute_names;
pub mod class_edit;
pub mod code_edit;
mod edits;
mod far;
pub mod frames;
mod layout;
mod locals;
pub mod moves;
mod near;
mod tables;

pub use asm::Asm;
pub use attribute_names::{AttributeNames, Version};
pub use class_edit::ClassEdit;
pub use code_edit::{CodeChanges, CodeEdit, HandlerId};
pub use frames::VerificationType;
