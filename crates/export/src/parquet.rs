//! A Parquet file: a table with a row for each context, for DuckDB, Spark, pandas and their like.
//!
//! Rows are in preorder, over all trees, and `id` counts them. So the contexts below a context are
//! those with ids from its own to `last_id`. These numbers are valid in one file only; `context`
//! and `method_id` are hashes, which are valid in all ([`ContextId`], [`cct_profile::FrameId`]).
//!
//! Texts have dictionaries, numbers are stored as differences, both compressed by Snappy. Row
//! groups have at most [`ROWS`] rows, so that memory does not grow with the table.

use crate::name::Functions;
use crate::paths::{Path, Paths};
use crate::prune::Inclusive;
use crate::walk::{Place, Places};
use crate::{CREATOR, ExportError, Format, Metric, Name, Source, Stacks};
use cct_columns::Column;
use cct_profile::ContextId;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::{ColumnPath, PrimitiveTypeBuilder, Type};
use std::io::Write;
use std::sync::Arc;

/// Maximum number of rows of a row group.
pub const ROWS: usize = 1 << 18;

/// Size in bytes at which a dictionary gives way to plain texts; those of a row group are far below
/// it.
const DICTIONARY: usize = 64 << 20;

/// Columns of hashes, of which differences would be no smaller.
const HASHES: [&str; 2] = ["context", "caller"];

/// Columns whose values repeat: those of texts, and ids of methods.
const REPEATED: [&str; 6] = ["thread", "method_id", "text", "class", "method", "descriptor"];

/// The format's row in the table.
pub const FORMAT: Format = Format {
    is_binary: true,
    ..Format::text(
        "parquet",
        "A table with a row for each context, for DuckDB, Spark, pandas",
        |source, out| write(source, out),
    )
};

/// Writes the table.
///
/// # Errors
/// Fails if the output fails.
pub fn write(source: &Source, out: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    let counted = match source.metric {
        Metric::Allocations => ["objects", "inclusive_objects"],
        Metric::Calls | Metric::Bytecodes | Metric::Cost(_) | Metric::Column(_) => {
            ["calls", "inclusive_calls"]
        }
    };
    let metrics = source.metrics().into_iter();
    let columns: Vec<Metric> = metrics.filter(|metric| matches!(metric, Metric::Column(_))).collect();
    let mut file = SerializedFileWriter::new(
        out,
        Arc::new(schema(source, counted, &columns)?),
        Arc::new(properties(source)),
    )?;
    let texts = Texts::of(source);
    let functions = Functions::of(&source.names);
    let mut first = 0;
    for stacks in &source.stacks {
        let calls = Inclusive::of(&stacks.tree, Metric::Calls);
        let bytecodes = source.bytecodes.map(|_| Inclusive::of(&stacks.tree, Metric::Bytecodes));
        // A column that replaces bytecodes is one of those below.
        let bytecodes = bytecodes.filter(|_| !source.is_by_column());
        let inclusive = |column| Inclusive::by(&stacks.tree, |node| source.value(&stacks.tree, node, column));
        let columns: Vec<(Metric, Inclusive)> =
            columns.iter().map(|&column| (column, inclusive(column))).collect();
        let thread = stacks.thread.as_deref().map(ByteArray::from);
        let mut places = Places::new(&stacks.tree);
        let mut paths = Paths::new(&source.names, &functions);
        loop {
            let places: Vec<Place> = places.by_ref().take(ROWS).collect();
            if places.is_empty() {
                break;
            }
            let bytecodes = bytecodes.as_ref();
            let paths = places.iter().map(|place| paths.next(&stacks.tree, place)).collect();
            let rows =
                Rows { source, stacks, places, paths, first, calls: &calls, bytecodes, columns: &columns };
            let mut group = file.next_row_group()?;
            rows.write(&texts, thread.as_ref(), &mut group)?;
            group.close()?;
        }
        first += stacks.tree.contexts() as i64;
    }
    file.close()?;
    Ok(())
}

/// Whether some table has a column of this name, so that no label may have it.
pub fn is_reserved(name: &str) -> bool {
    let fixed = [
        "id",
        "parent_id",
        "last_id",
        "depth",
        "is_outermost",
        "objects",
        "calls",
        "bytecodes",
        "bci",
        "line",
    ];
    let is_metric = |name: &str| fixed.contains(&name) || Column::all().any(|column| column.name() == name);
    HASHES.contains(&name)
        || REPEATED.contains(&name)
        || is_metric(name.strip_prefix("inclusive_").unwrap_or(name))
}

/// The table's schema. `counted` names the counts (calls or objects); `metrics` are columns of
/// nodes.
fn schema(source: &Source, counted: [&str; 2], metrics: &[Metric]) -> Result<Type, ExportError> {
    const REQUIRED: Repetition = Repetition::REQUIRED;
    const OPTIONAL: Repetition = Repetition::OPTIONAL;
    fn number(name: &str, physical: Physical, repetition: Repetition) -> PrimitiveTypeBuilder<'_> {
        Type::primitive_type_builder(name, physical).with_repetition(repetition)
    }
    fn text(name: &str, repetition: Repetition) -> PrimitiveTypeBuilder<'_> {
        number(name, Physical::BYTE_ARRAY, repetition).with_logical_type(Some(LogicalType::String))
    }
    // In the order in which `Rows` writes them.
    let columns = [
        number("id", Physical::INT64, REQUIRED),
        number("parent_id", Physical::INT64, OPTIONAL),
        number("last_id", Physical::INT64, REQUIRED),
        number("depth", Physical::INT32, REQUIRED),
        number("context", Physical::INT64, REQUIRED),
        number("caller", Physical::INT64, OPTIONAL),
        number("is_outermost", Physical::BOOLEAN, REQUIRED),
        text("thread", OPTIONAL),
        number("method_id", Physical::INT64, REQUIRED),
        text("text", REQUIRED),
        text("class", OPTIONAL),
        text("method", OPTIONAL),
        text("descriptor", OPTIONAL),
        number(counted[0], Physical::INT64, REQUIRED),
        number(counted[1], Physical::INT64, REQUIRED),
        number("bytecodes", Physical::INT64, OPTIONAL),
        number("inclusive_bytecodes", Physical::INT64, OPTIONAL),
    ];
    let of_sites = [number("bci", Physical::INT32, OPTIONAL), number("line", Physical::INT64, OPTIONAL)];
    let inclusive: Vec<String> =
        metrics.iter().map(|metric| format!("inclusive_{}", metric.name())).collect();
    let of_metrics = metrics.iter().zip(&inclusive).flat_map(|(metric, inclusive)| {
        [number(metric.name(), Physical::INT64, REQUIRED), number(inclusive, Physical::INT64, REQUIRED)]
    });
    let of_sites = of_sites.into_iter().filter(|_| source.has_call_sites());
    let labels = source.labels.keys().map(|key| text(key, REQUIRED));
    let columns = columns.into_iter().chain(of_sites).chain(of_metrics).chain(labels);
    let columns = columns.map(|column| Ok(Arc::new(column.build()?)));
    let columns = columns.collect::<Result<Vec<_>, parquet::errors::ParquetError>>()?;
    Ok(Type::group_type_builder("contexts").with_fields(columns).build()?)
}

fn properties(source: &Source) -> WriterProperties {
    let meta = source.meta.iter().map(|(key, value)| (key.clone(), value.clone()));
    let remarks = source.remarks().join("\n");
    let remarks = (!remarks.is_empty()).then(|| ("remarks".to_owned(), remarks));
    let pairs = meta.chain(remarks).map(|(key, value)| KeyValue::new(format!("cctrewrite.{key}"), value));
    let mut properties = WriterProperties::builder()
        .set_created_by(CREATOR.to_owned())
        .set_key_value_metadata(Some(pairs.collect()))
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BINARY_PACKED);
    let hashes = HASHES.map(ColumnPath::from);
    for column in hashes.into_iter().chain([ColumnPath::from("is_outermost")]) {
        properties = properties.set_column_encoding(column, Encoding::PLAIN);
    }
    for repeated in REPEATED.into_iter().chain(source.labels.keys().map(String::as_str)) {
        let column = ColumnPath::from(repeated);
        properties = properties
            .set_column_dictionary_enabled(column.clone(), true)
            .set_column_dictionary_page_size_limit(column.clone(), DICTIONARY)
            .set_column_encoding(column, Encoding::PLAIN);
    }
    properties.build()
}

/// The texts of the names.
struct Texts {
    text: Vec<ByteArray>,
    class: Vec<Option<ByteArray>>,
    method: Vec<Option<ByteArray>>,
    descriptor: Vec<Option<ByteArray>>,
    /// Bytecode indices and lines, where call sites are distinguished.
    sites: Option<Vec<(Option<i32>, Option<u32>)>>,
}

impl Texts {
    fn of(source: &Source) -> Texts {
        let all = |text: fn(&Name) -> Option<&str>| {
            source.names.iter().map(|name| text(name).map(ByteArray::from)).collect()
        };
        Texts {
            text: source.names.iter().map(|name| ByteArray::from(name.method_text())).collect(),
            class: all(|name| name.class.as_deref()),
            method: all(|name| name.method.as_deref()),
            descriptor: all(|name| name.descriptor.as_deref()),
            sites: source
                .has_call_sites()
                .then(|| source.names.iter().map(|name| (name.bci, name.line)).collect()),
        }
    }
}

/// The rows of a row group.
struct Rows<'s> {
    source: &'s Source,
    stacks: &'s Stacks,
    places: Vec<Place>,
    /// The path of each place.
    paths: Vec<Path>,
    /// The id of the tree's first context.
    first: i64,
    calls: &'s Inclusive,
    bytecodes: Option<&'s Inclusive>,
    columns: &'s [(Metric, Inclusive)],
}

impl Rows<'_> {
    fn write<W: Write + Send>(
        &self,
        texts: &Texts,
        thread: Option<&ByteArray>,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ExportError> {
        let tree = &self.stacks.tree;
        let node = |place: &Place| &tree.nodes()[place.context as usize];
        // The tree's root, at index 0, is no context.
        let id = |context: u32| self.first + i64::from(context) - 1;
        // A source's sums are at most 2^63 - 1.
        let inclusive = |of: &Inclusive, place: &Place| of.of_subtree(&tree.subtree(place.context)) as i64;
        let name = |place: &Place| node(place).method as usize;

        self.required::<Int64Type, _>(group, |place| id(place.context))?;
        self.optional::<Int64Type, _>(group, |place| place.caller.map(id))?;
        self.required::<Int64Type, _>(group, |place| id(tree.subtree(place.context).end - 1))?;
        self.required::<Int32Type, _>(group, |place| i32::try_from(place.depth).unwrap_or(i32::MAX))?;
        self.hashes(group, |path| Some(path.id), false)?;
        self.hashes(group, |path| path.caller, true)?;
        let outermost: Vec<bool> = self.paths.iter().map(|path| path.is_outermost).collect();
        column::<BoolType, W>(group, &outermost, None)?;
        self.optional::<ByteArrayType, _>(group, |_| thread.cloned())?;
        self.required::<Int64Type, _>(group, |place| {
            self.source.names[name(place)].method_id.0.cast_signed()
        })?;
        self.required::<ByteArrayType, _>(group, |place| texts.text[name(place)].clone())?;
        self.optional::<ByteArrayType, _>(group, |place| texts.class[name(place)].clone())?;
        self.optional::<ByteArrayType, _>(group, |place| texts.method[name(place)].clone())?;
        self.optional::<ByteArrayType, _>(group, |place| texts.descriptor[name(place)].clone())?;
        self.required::<Int64Type, _>(group, |place| node(place).calls as i64)?;
        self.required::<Int64Type, _>(group, |place| inclusive(self.calls, place))?;
        self.optional::<Int64Type, _>(group, |place| self.bytecodes.map(|_| node(place).bytecodes as i64))?;
        self.optional::<Int64Type, _>(group, |place| self.bytecodes.map(|of| inclusive(of, place)))?;
        if let Some(sites) = &texts.sites {
            self.optional::<Int32Type, _>(group, |place| sites[name(place)].0)?;
            self.optional::<Int64Type, _>(group, |place| sites[name(place)].1.map(i64::from))?;
        }
        for (metric, of) in self.columns {
            let own = |place: &Place| self.source.value(tree, place.context, *metric) as i64;
            self.required::<Int64Type, _>(group, own)?;
            self.required::<Int64Type, _>(group, |place| inclusive(of, place))?;
        }
        for value in self.source.labels.values() {
            let value = ByteArray::from(value.as_str());
            self.required::<ByteArrayType, _>(group, |_| value.clone())?;
        }
        Ok(())
    }

    /// Writes the next column, with ids of contexts, some of which may be missing.
    fn hashes<W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        id: impl Fn(&Path) -> Option<ContextId>,
        is_optional: bool,
    ) -> Result<(), ExportError> {
        let levels: Vec<i16> = self.paths.iter().map(|path| i16::from(id(path).is_some())).collect();
        let ids: Vec<i64> = self.paths.iter().filter_map(id).map(|id| id.0.cast_signed()).collect();
        column::<Int64Type, W>(group, &ids, is_optional.then_some(&levels))
    }

    /// Writes the next column, which has a value in each row.
    fn required<T: DataType, W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        value: impl Fn(&Place) -> T::T,
    ) -> Result<(), ExportError> {
        let values: Vec<T::T> = self.places.iter().map(value).collect();
        column::<T, W>(group, &values, None)
    }

    /// Writes the next column, in which rows may have no value.
    fn optional<T: DataType, W: Write + Send>(
        &self,
        group: &mut SerializedRowGroupWriter<'_, W>,
        value: impl Fn(&Place) -> Option<T::T>,
    ) -> Result<(), ExportError> {
        let values: Vec<Option<T::T>> = self.places.iter().map(value).collect();
        let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
        let values: Vec<T::T> = values.into_iter().flatten().collect();
        column::<T, W>(group, &values, Some(&levels))
    }
}

fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    levels: Option<&[i16]>,
) -> Result<(), ExportError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()?;
    }
    Ok(())
}
