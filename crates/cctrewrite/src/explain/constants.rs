//! Constants of a class file (JVMS 4.4) as text.

use cct_build::text::{readable, string_constant};
use cct_classfile::attributes::{AttributeInfo, BootstrapMethod};
use cct_classfile::constant_pool::tag;
use cct_classfile::{ClassFile, ConstantPool, Index, NameAndType, Result};

/// Names of the kinds of method handles (JVMS table 5.4.3.5-A). The first has number 1.
const HANDLE_KINDS: [&str; 9] = [
    "getField",
    "getStatic",
    "putField",
    "putStatic",
    "invokeVirtual",
    "invokeStatic",
    "invokeSpecial",
    "newInvokeSpecial",
    "invokeInterface",
];

/// The constants of a class, and the bootstrap methods that some of them refer to.
pub struct Constants<'a> {
    pool: ConstantPool<'a>,
    bootstraps: Vec<BootstrapMethod>,
}

impl<'a> Constants<'a> {
    /// The constants of a class.
    pub fn of(class: &ClassFile<'a>) -> Result<Self> {
        let bootstraps = match class.attributes.find(b"BootstrapMethods") {
            Some(attribute) => match AttributeInfo::parse(attribute, &class.pool)? {
                AttributeInfo::BootstrapMethods(methods) => methods,
                _ => Vec::new(),
            },
            None => Vec::new(),
        };
        Ok(Constants { pool: class.pool.clone(), bootstraps })
    }

    /// A constant as the text of an instruction's operand.
    pub fn text(&self, index: Index) -> Result<String> {
        let pool = &self.pool;
        Ok(match pool.tag(index) {
            Some(tag::INTEGER) => format!("int {}", pool.integer(index)?),
            Some(tag::FLOAT) => format!("float {:?}", pool.float(index)?),
            Some(tag::LONG) => format!("long {}", pool.long(index)?),
            Some(tag::DOUBLE) => format!("double {:?}", pool.double(index)?),
            Some(tag::STRING) => format!("String {}", string_constant(pool.string(index)?)),
            Some(tag::METHOD_TYPE) => format!("MethodType {}", readable(pool.method_type(index)?)),
            Some(tag::METHOD_HANDLE) => self.handle(index)?,
            Some(tag::DYNAMIC | tag::INVOKE_DYNAMIC) => {
                let (bootstrap, NameAndType { name, descriptor }) = pool.dynamic(index)?;
                format!("{}:{} by {}", readable(name), readable(descriptor), self.bootstrap(bootstrap)?)
            }
            Some(tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF) => {
                let member = pool.member_ref(index)?;
                format!(
                    "{}.{}:{}",
                    readable(member.class),
                    readable(member.name),
                    readable(member.descriptor)
                )
            }
            // All other constants in code are classes. For anything else `class` returns an error.
            _ => readable(pool.class(index)?),
        })
    }

    fn handle(&self, index: Index) -> Result<String> {
        let (kind, reference) = self.pool.method_handle(index)?;
        let kind = usize::from(kind).checked_sub(1).and_then(|kind| HANDLE_KINDS.get(kind)).unwrap_or(&"?");
        Ok(format!("{kind} {}", self.text(reference)?))
    }

    /// A bootstrap method without its arguments. These may be dynamic constants, which have such
    /// arguments in turn, to any depth.
    fn bootstrap(&self, number: u16) -> Result<String> {
        match self.bootstraps.get(usize::from(number)) {
            Some(bootstrap) => self.handle(bootstrap.method),
            None => Ok(format!("missing bootstrap method {number}")),
        }
    }
}
