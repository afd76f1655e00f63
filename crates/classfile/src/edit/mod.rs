//! Editing: code first ([`code_edit`]), then the class around it ([`class_edit`]).

pub mod asm;
pub mod class_edit;
pub mod code_edit;
pub mod frames;
mod layout;
pub mod moves;
mod near;
mod tables;

pub use asm::Asm;
pub use class_edit::ClassEdit;
pub use code_edit::{CodeEdit, Finished, HandlerId, Version};
pub use frames::VerificationType;
