//! The static data as a Parquet file: a row for each basic block, in the columns of the CSV.

use std::io::Write;
use std::sync::Arc;

use cct_events::Class;
use cct_events::structure::METRICS;
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{PrimitiveTypeBuilder, Type};

use super::{block_id, callee, caught, opcode, part, text};
use crate::file::Trace;

/// Approximate maximum number of rows of a row group: classes are not split.
const ROWS: usize = 1 << 17;

/// The rows of a row group, column by column.
#[derive(Debug, Default)]
struct Columns {
    class_id: Vec<i64>,
    class: Vec<ByteArray>,
    method_id: Vec<i64>,
    method: Vec<ByteArray>,
    descriptor: Vec<ByteArray>,
    block_id: Vec<i64>,
    block: Vec<i32>,
    start: Vec<i32>,
    metrics: [Vec<i32>; METRICS.len()],
    call_sites: Vec<ByteArray>,
    handlers: Vec<ByteArray>,
    code: Vec<ByteArray>,
}

/// Writes the file.
///
/// # Errors
/// Fails if the output fails.
pub fn parquet(
    trace: &Trace,
    wanted: &dyn Fn(&Class) -> bool,
    out: &mut (dyn Write + Send),
) -> Result<(), ParquetError> {
    // Texts repeat often, and numbers are small: both have dictionaries, which is the default.
    let properties = WriterProperties::builder()
        .set_created_by("cctrewrite".to_owned())
        .set_compression(Compression::SNAPPY)
        .build();
    let mut file = SerializedFileWriter::new(out, Arc::new(schema()?), Arc::new(properties))?;
    let mut columns = Columns::default();
    for class in trace.program.classes().iter().filter(|class| wanted(class)) {
        columns.add(class);
        if columns.class.len() >= ROWS {
            std::mem::take(&mut columns).write(file.next_row_group()?)?;
        }
    }
    columns.write(file.next_row_group()?)?;
    file.close()?;
    Ok(())
}

fn schema() -> Result<Type, ParquetError> {
    fn number(name: &str, physical: Physical) -> PrimitiveTypeBuilder<'_> {
        Type::primitive_type_builder(name, physical).with_repetition(Repetition::REQUIRED)
    }
    fn text(name: &str) -> PrimitiveTypeBuilder<'_> {
        number(name, Physical::BYTE_ARRAY).with_logical_type(Some(LogicalType::String))
    }
    let (long, int) = (Physical::INT64, Physical::INT32);
    // In the order in which `Columns` writes them.
    let front = [
        number("class_id", long),
        text("class"),
        number("method_id", long),
        text("method"),
        text("descriptor"),
        number("block_id", long),
        number("block", int),
        number("start", int),
    ];
    let names = METRICS.map(|name| name.replace('-', "_"));
    let metrics = names.iter().map(|name| number(name, int));
    let back = [text("call_sites"), text("handlers"), number("code", Physical::BYTE_ARRAY)];
    let columns = front.into_iter().chain(metrics).chain(back).map(|column| Ok(Arc::new(column.build()?)));
    let columns = columns.collect::<Result<Vec<_>, ParquetError>>()?;
    Type::group_type_builder("blocks").with_fields(columns).build()
}

impl Columns {
    fn add(&mut self, class: &Class) {
        let bytes = |text: String| ByteArray::from(text.into_bytes());
        let class_name = bytes(text(&class.name));
        for (method, number) in class.methods.iter().zip(class.first_method..) {
            let (name, descriptor) = (bytes(text(&method.name)), bytes(text(&method.descriptor)));
            for place in 0..method.blocks.len() {
                let part = part(method, place);
                self.class_id.push(class.number.into());
                self.class.push(class_name.clone());
                self.method_id.push(number.into());
                self.method.push(name.clone());
                self.descriptor.push(descriptor.clone());
                self.block_id.push(block_id(number, place) as i64);
                self.block.push(place as i32);
                self.start.push(part.block.start as i32);
                for (column, metric) in self.metrics.iter_mut().zip(part.block.metrics) {
                    column.push(metric as i32);
                }
                let calls: Vec<String> =
                    part.calls.iter().map(|call| format!("{}={}", opcode(call), callee(call))).collect();
                self.call_sites.push(bytes(calls.join(" ")));
                let handlers: Vec<String> = part
                    .handlers
                    .iter()
                    .map(|handler| format!("{}={}", handler.block, caught(handler)))
                    .collect();
                self.handlers.push(bytes(handlers.join(" ")));
                self.code.push(ByteArray::from(part.code.to_vec()));
            }
        }
    }

    fn write<W: Write + Send>(self, mut group: SerializedRowGroupWriter<'_, W>) -> Result<(), ParquetError> {
        let group_of = &mut group;
        column::<Int64Type, W>(group_of, &self.class_id)?;
        column::<ByteArrayType, W>(group_of, &self.class)?;
        column::<Int64Type, W>(group_of, &self.method_id)?;
        column::<ByteArrayType, W>(group_of, &self.method)?;
        column::<ByteArrayType, W>(group_of, &self.descriptor)?;
        column::<Int64Type, W>(group_of, &self.block_id)?;
        column::<Int32Type, W>(group_of, &self.block)?;
        column::<Int32Type, W>(group_of, &self.start)?;
        for metric in &self.metrics {
            column::<Int32Type, W>(group_of, metric)?;
        }
        for texts in [&self.call_sites, &self.handlers, &self.code] {
            column::<ByteArrayType, W>(group_of, texts)?;
        }
        group.close()?;
        Ok(())
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, None, None)?;
        column.close()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cct_events::{Block, Frame, FrameKind, FrameWriter, Method};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    #[test]
    fn each_block_is_a_row() {
        let mut block = Block { start: 2, ..Block::default() };
        (block.metrics[0], block.metrics[18]) = (3, 1);
        let blocks = vec![Block::default(), block];
        let method =
            Method { name: (*b"m").into(), blocks, code: (*b"\x01\x02\x03\x04").into(), ..Method::default() };
        let class = Class {
            number: 7,
            first_method: 9,
            name: (*b"a/B").into(),
            methods: vec![method],
            ..Class::default()
        };
        let mut packed = Vec::new();
        class.pack(&mut packed);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.trace");
        let mut writer = FrameWriter::new(Vec::new(), "").unwrap();
        writer.frame(&Frame::new(FrameKind::Structure, 0, 0, &packed)).unwrap();
        std::fs::write(&path, writer.into_inner()).unwrap();
        let trace = Trace::open(&path).unwrap();
        let table = folder.path().join("t.parquet");
        parquet(&trace, &|_| true, &mut std::fs::File::create(&table).unwrap()).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&table).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        let row = &rows[1];
        assert_eq!((row.get_string(1).unwrap().as_str(), row.get_long(5).unwrap()), ("a/B", 9 << 11 | 1));
        assert_eq!(
            (row.get_int(7).unwrap(), row.get_int(8).unwrap(), row.get_int(8 + 18).unwrap()),
            (2, 3, 1)
        );
        assert_eq!(row.get_bytes(29).unwrap().data(), b"\x03\x04");
    }
}
