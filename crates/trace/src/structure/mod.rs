//! Writers of the static data: XML and CSV in the shape of Caserta and Zendra (2012, 3.2.1), JSON,
//! and Parquet.

mod parquet;

use std::io::{self, Write};

use cct_events::structure::{CallSite, Handler, METRICS};
use cct_events::{Block, Class, Method};
use cct_profile::csv::{Field, Reader, Writer};
use cct_profile::escape;

use crate::file::Trace;
pub use parquet::parquet;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A block's number in the whole program: the method's, and its own in the eleven bits that events
/// reserve for it.
fn block_id(method: u32, block: usize) -> u64 {
    u64::from(method) << 11 | block as u64
}

/// The parts of a block.
struct Part<'m> {
    block: &'m Block,
    calls: &'m [CallSite],
    handlers: Vec<&'m Handler>,
    code: &'m [u8],
}

fn part(method: &Method, place: usize) -> Part<'_> {
    let block = &method.blocks[place];
    let end = method.blocks.get(place + 1).map_or(method.code.len() as u32, |next| next.start);
    // A damaged file may have blocks beyond the end of the code.
    let end = end.max(block.start);
    let from = method.calls.partition_point(|call| call.bci < block.start);
    let to = method.calls.partition_point(|call| call.bci < end);
    let covers = |handler: &&Handler| handler.start < end && handler.end > block.start;
    let code = method.code.get(block.start as usize..end as usize).unwrap_or_default();
    Part {
        block,
        calls: &method.calls[from..to],
        handlers: method.handlers.iter().filter(covers).collect(),
        code,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn metrics(block: &Block, separator: &str) -> String {
    block.metrics.map(|metric| metric.to_string()).join(separator)
}

fn opcode(call: &CallSite) -> &'static str {
    match call.opcode {
        182 => "INVOKEVIRTUAL",
        183 => "INVOKESPECIAL",
        184 => "INVOKESTATIC",
        185 => "INVOKEINTERFACE",
        _ => "INVOKEDYNAMIC",
    }
}

fn callee(call: &CallSite) -> String {
    format!("{}:{}{}", text(&call.class), text(&call.name), text(&call.descriptor))
}

fn caught(handler: &Handler) -> String {
    if handler.catches.is_empty() { "any".to_owned() } else { text(&handler.catches) }
}

/// Writes XML.
///
/// # Errors
/// Fails if the output fails.
pub fn xml(trace: &Trace, wanted: &dyn Fn(&Class) -> bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<program>")?;
    for class in trace.program.classes().iter().filter(|class| wanted(class)) {
        let superclass = class.super_name.as_deref().map(text).unwrap_or_default();
        writeln!(
            out,
            "<class id=\"{}\" name=\"{}\" super=\"{}\">",
            class.number,
            escape::xml(&text(&class.name)),
            escape::xml(&superclass)
        )?;
        for (method, number) in class.methods.iter().zip(class.first_method..) {
            writeln!(
                out,
                "<method id=\"{number}\" name=\"{}\" descriptor=\"{}\" recorded=\"{}\">",
                escape::xml(&text(&method.name)),
                escape::xml(&text(&method.descriptor)),
                method.recording.name()
            )?;
            for place in 0..method.blocks.len() {
                let part = part(method, place);
                writeln!(
                    out,
                    "<basic_block id=\"{}\" metrics=\"{}\" start=\"{}\" code=\"{}\">",
                    block_id(number, place),
                    metrics(part.block, " "),
                    part.block.start,
                    hex(part.code)
                )?;
                if !part.calls.is_empty() {
                    writeln!(out, "<call_site_list>")?;
                    for call in part.calls {
                        writeln!(
                            out,
                            "<call_site call=\"{}\" type=\"{}\"/>",
                            escape::xml(&callee(call)),
                            opcode(call)
                        )?;
                    }
                    writeln!(out, "</call_site_list>")?;
                }
                if !part.handlers.is_empty() {
                    writeln!(out, "<exception_handler_list>")?;
                    for handler in &part.handlers {
                        writeln!(
                            out,
                            "<exception_handler basic_block_id=\"{}\" type=\"{}\"/>",
                            block_id(number, handler.block as usize),
                            escape::xml(&caught(handler))
                        )?;
                    }
                    writeln!(out, "</exception_handler_list>")?;
                }
                writeln!(out, "</basic_block>")?;
            }
            writeln!(out, "</method>")?;
        }
        writeln!(out, "</class>")?;
    }
    writeln!(out, "</program>")
}

/// Writes CSV: a row for each block; spaces separate call sites and handlers.
///
/// # Errors
/// If the output fails.
pub fn csv(
    trace: &Trace,
    wanted: &dyn Fn(&Class) -> bool,
    reader: Reader,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = Writer::with_crlf(out, reader);
    let before = ["class_id", "class", "method_id", "method", "descriptor", "block_id", "block", "start"];
    out.header(before.iter().chain(&METRICS).chain(&["call_sites", "handlers", "code"]).copied())?;
    for class in trace.program.classes().iter().filter(|class| wanted(class)) {
        for (method, number) in class.methods.iter().zip(class.first_method..) {
            for place in 0..method.blocks.len() {
                let part = part(method, place);
                let calls: Vec<String> =
                    part.calls.iter().map(|call| format!("{}={}", opcode(call), callee(call))).collect();
                let handlers: Vec<String> =
                    part.handlers.iter().map(|h| format!("{}={}", h.block, caught(h))).collect();
                let numbers = [class.number.to_string(), number.to_string(), place.to_string()];
                let [of_class, of_method, of_place] = numbers.each_ref().map(|text| Field::Number(text));
                let names = [&class.name, &method.name, &method.descriptor].map(|name| text(name));
                let [name, method_name, descriptor] = names.each_ref().map(|text| Field::Text(text));
                let (block, start) = (block_id(number, place).to_string(), part.block.start.to_string());
                let [block, start] = [&block, &start].map(|text| Field::Number(text));
                let metrics = metrics(part.block, ",");
                let (calls, handlers, code) = (calls.join(" "), handlers.join(" "), hex(part.code));
                let before = [of_class, name, of_method, method_name, descriptor, block, of_place, start];
                let behind = [Field::Text(&calls), Field::Text(&handlers), Field::Number(&code)];
                out.record(before.into_iter().chain(metrics.split(',').map(Field::Number)).chain(behind))?;
            }
        }
    }
    Ok(())
}

/// Writes JSON: a line for each class.
///
/// # Errors
/// Fails if the output fails.
pub fn json(trace: &Trace, wanted: &dyn Fn(&Class) -> bool, out: &mut dyn Write) -> io::Result<()> {
    use serde_json::json;
    for class in trace.program.classes().iter().filter(|class| wanted(class)) {
        let methods: Vec<_> = class
            .methods
            .iter()
            .zip(class.first_method..)
            .map(|(method, number)| {
                let blocks: Vec<_> = (0..method.blocks.len())
                    .map(|place| {
                        let part = part(method, place);
                        let calls: Vec<_> = part
                            .calls
                            .iter()
                            .map(|call| json!({"bci": call.bci, "call": callee(call), "type": opcode(call)}))
                            .collect();
                        let handlers: Vec<_> = part
                            .handlers
                            .iter()
                            .map(|handler| json!({"block": handler.block, "type": caught(handler)}))
                            .collect();
                        json!({
                            "id": block_id(number, place), "start": part.block.start, "metrics": part.block.metrics,
                            "call_sites": calls, "exception_handlers": handlers, "code": hex(part.code),
                        })
                    })
                    .collect();
                json!({
                    "id": number, "name": text(&method.name), "descriptor": text(&method.descriptor),
                    "access": method.access, "recorded": method.recording.name(), "basic_blocks": blocks,
                    "lines": method.lines,
                })
            })
            .collect();
        let line = json!({
            "id": class.number, "name": text(&class.name), "super": class.super_name.as_deref().map(text),
            "interfaces": class.interfaces.iter().map(|name| text(name)).collect::<Vec<_>>(),
            "source": class.source.as_deref().map(text), "methods": methods,
        });
        writeln!(out, "{line}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Found by fuzzing: the call sites of such a block began after their end.
    #[test]
    fn a_block_beyond_the_end_of_the_code_has_no_parts() {
        let call = |bci| CallSite { bci, ..CallSite::default() };
        let block = |start| Block { start, ..Block::default() };
        let method = Method {
            blocks: vec![block(0), block(2), block(9)],
            calls: vec![call(0), call(1), call(7)],
            code: [0u8; 4].into(),
            ..Method::default()
        };
        let sites = |place| part(&method, place).calls.len();
        assert_eq!((sites(0), sites(1), sites(2)), (2, 1, 0));
        assert_eq!((part(&method, 0).code.len(), part(&method, 2).code.len()), (2, 0));
    }
}
